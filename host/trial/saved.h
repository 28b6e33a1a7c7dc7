/* SPDX-License-Identifier: Apache-2.0 */
/* A failing test kept as a folder, with all that is needed to look into it or run it again.
 *
 * What the folder says of the trace comes from the trace as it lies there: it is read back, judged
 * and explained as `ordeal check` and `ordeal show` would. The folder is there whole or not at all,
 * never takes the place of another, and is on the disk when it is said to be there. */
#ifndef HOST_SAVED_H
#define HOST_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "test/bias.h"
#include "ordeal.h"
#include "saved_run.h"
#include "tell/waves.h"

/* Names in the folder. */
#define SAVED_BIAS "bias.ini"
#define SAVED_TRACE "trace.trace"
#define SAVED_VERDICT "verdict.json"
#define SAVED_EXPLANATION "explanation.txt"
#define SAVED_REPLAY "replay"
#define SAVED_RUN "run.txt"
#define SAVED_WAVES "waves.fst"
#define SAVED_VIEW "waves.gtkw"
#define SAVED_SMALL "small" /* a folder */

struct saved_failure {
    const char *directory;           /* to put the folder in; made when it is not there */
    const char *label;               /* the folder's name: "test-000123"; if taken, "…-2", … */
    const struct bias *bias;         /* the test was made from; NULL: from none, and no bias.ini */
    uint64_t seed;
    const struct ordeal_trace *test;
    const struct ordeal_trace *trace; /* what it did; NULL: it came to no end, see `broke` */
    const char *broke;               /* how the machine stood still or failed its own checks */
    enum ordeal_model model;         /* that the trace violates */
    const char *machine;             /* which of several sizes it ran on; NULL: it has one */
    const char *from;                /* the file that it was read from; NULL: it was made */
    const char *profile;             /* of the bias that it was made from; NULL: none */
    const struct saved_run *run;     /* how it is run again */
};

/* Writes the folder; its name goes to `path`. False: why, and nothing is left behind. In it are
 * bias.ini, seed, test.test, trace.trace, verdict.txt, verdict.json, explanation.txt, picture.svg
 * (unless the violation is a single value), run.txt and the script `replay`; of a machine that broke
 * there is neither trace nor picture. FOLDER.md describes them. */
bool saved_write(const struct saved_failure *f, char *path, size_t size, struct why *why);
/* Adds what the test of the folder `f->directory` was shrunk to: a folder in it, of the same kind and
 * as whole, by the name SAVED_SMALL whatever f->label is. */
bool saved_add_small(const struct saved_failure *f, char *path, size_t size, struct why *why);
/* A folder of another kind, as whole: `fill` puts files into it. */
struct saved_filling {
    const char *directory, *label;
    bool (*fill)(void *user, const char *folder, struct why *why);
    void *user;
};
bool saved_fill(const struct saved_filling *f, char *path, size_t size, struct why *why);
/* A file in it. `write` is false when it was out of memory. */
bool saved_put(const char *folder, const char *name, bool (*write)(void *user, FILE *out),
               void *user, struct why *why);
/* Its script, and its seed. */
bool saved_put_replay(const char *folder, const struct saved_run *run, struct why *why);
/* Adds waves.fst, which `make` writes, and waves.gtkw, which says where to look in it. */
struct saved_waves_maker {
    bool (*make)(void *user, const char *fst, struct why *why);
    void *user;
};
bool saved_add_waves(const char *path, const struct saved_waves_maker *maker,
                     const struct waves_view *view, struct why *why);

/* A folder that is read may come from anywhere. Nothing that lies in it is executed, and of what it
 * names nothing is opened: only files within it, and no links. */
enum saved_there { SAVED_THERE, SAVED_ABSENT, SAVED_REFUSED };
enum saved_there saved_is_there(const char *path, const char *name, struct why *why);
enum saved_there saved_open(const char *path, const char *name, FILE **in, struct why *why);
/* What verdict.json of the folder says of the failure, or of what it was made small to: "signature", or its
 * "title" for people; "" if it says none. */
void saved_words(const char *path, bool small, const char *key, char *words, size_t size);
/* Runs the test of a folder again, for its waves, by this program, as run.txt says; the command goes
 * to `tell`. `soc`: the machine that is to be named again if it was somebody's own; NULL: none.
 * False: why; also when what it does now is not what it did. */
bool saved_make_waves(const char *path, const char *soc, FILE *tell, struct why *why);
/* Where to look in the waves that lie in the folder: a save file of GTKWave. */
bool saved_add_view(const char *path, const struct waves_view *view, struct why *why);

#endif
