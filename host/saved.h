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

#include "bias.h"
#include "ordeal.h"
#include "target.h"

/* Names in the folder that a replay's words may be. */
#define SAVED_BIAS "bias.ini"
#define SAVED_TEST "test.test"
#define SAVED_SMALL_TEST "small.test"

struct saved_failure {
    const char *directory;           /* to put the folder in; made when it is not there */
    const char *label;               /* the folder's name: "test-000123"; if taken, "…-2", … */
    const struct bias *bias;         /* the test was made from; NULL: from none, and no bias.ini */
    uint64_t seed;
    const struct ordeal_trace *test, *trace;
    enum ordeal_model model;         /* that the trace violates */
    /* What to run again, after the program's name: "run", "--target", "model", …; ends with NULL.
     * The words SAVED_BIAS and SAVED_TEST stand for these files of the folder. */
    const char *const *replay;
};

/* Writes the folder; its name goes to `path`. False: why, and nothing is left behind. In it are
 * bias.ini, seed, test.test, trace.trace, verdict.txt, verdict.json, explanation.txt, picture.svg
 * (unless the violation is a single value) and the script `replay`. */
bool saved_write(const struct saved_failure *f, char *path, size_t size, struct why *why);
/* Adds what the test was shrunk to: small.test, small.trace and what is said of them, in files
 * whose names begin with "small-". */
bool saved_add_small(const char *path, const struct ordeal_trace *test,
                     const struct ordeal_trace *trace, enum ordeal_model model, struct why *why);

#endif
