/* SPDX-License-Identifier: Apache-2.0 */
/* A failing test kept as a folder, with all that is needed to look into it or run it again.
 *
 * What the folder says of the trace comes from the trace as it lies there: it is read back, judged
 * and explained as `ordeal check` and `ordeal show` would. The folder is there whole or not at all,
 * and never takes the place of another. */
#ifndef HOST_SAVED_H
#define HOST_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/bias.h"
#include "ordeal.h"
#include "targets/target.h"
#include "tell/waves.h"

/* Names in the folder that a replay's words may be. */
#define SAVED_BIAS "bias.ini"
#define SAVED_TEST "test.test"
#define SAVED_SMALL_TEST "small.test"
/* Other names in it; those about a small test begin with SAVED_SMALL. */
#define SAVED_TRACE "trace.trace"
#define SAVED_SMALL_TRACE "small.trace"
#define SAVED_EXPLANATION "explanation.txt"
#define SAVED_REPLAY "replay"
#define SAVED_WAVES "waves.fst"
#define SAVED_VIEW "waves.gtkw"
#define SAVED_SMALL "small-"

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
    /* What to run again, after the program's name: "run", "--target", "model", …; ends with NULL.
     * The words SAVED_BIAS and SAVED_TEST stand for these files of the folder. */
    const char *const *replay;
};

/* Writes the folder; its name goes to `path`. False: why, and nothing is left behind. In it are
 * bias.ini, seed, test.test, trace.trace, verdict.txt, verdict.json, explanation.txt, picture.svg
 * (unless the violation is a single value) and the script `replay`; of a machine that broke there
 * is neither trace nor picture. */
bool saved_write(const struct saved_failure *f, char *path, size_t size, struct why *why);
/* Adds what the test was shrunk to: small.test, small.trace (NULL: it broke the machine, too) and
 * what is said of them, in files whose names begin with "small-". Of `small` test, trace, broke,
 * model and machine matter. */
bool saved_add_small(const char *path, const struct saved_failure *small, struct why *why);
/* Runs the test of a folder again, for its waves. False: why; also when what it does now is not
 * what it did. */
bool saved_make_waves(const char *path, struct why *why);
/* Where to look in the waves that lie in the folder: a save file of GTKWave. */
bool saved_add_view(const char *path, const char *prefix, const struct waves_view *view,
                    struct why *why);

#endif
