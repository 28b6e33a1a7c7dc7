/* SPDX-License-Identifier: Apache-2.0 */
/* What is done about a test that failed: it is judged in full for its line, kept as a folder with
 * the way to run it again, and made small. */
#ifndef HOST_FAILURE_H
#define HOST_FAILURE_H

#include <cJSON.h>
#include <limits.h>

#include "base/progress.h"
#include "pipeline.h"
#include "tell/failure_signature.h"

/* What programs want to know of a failure; "" and 0: nothing. */
struct failure_note {
    const char *kind; /* of its signature */
    char signature[32], title[256];
    char reason[512];
    char folder[PATH_MAX]; /* where it was kept */
    uint64_t operations;   /* of the test */
    uint64_t small;        /* of what it was shrunk to */
    bool shrunk;           /* it was tried; `small` 0: it stays as it was */
    bool cut;              /* ^C came before all was known: of another run it is to be had again */
};

struct failure_plan {
    const struct target *target;
    void *machine;
    enum ordeal_model model;     /* that was checked */
    const struct bias *bias;     /* of the tests; NULL: they were read */
    uint64_t seed;
    uint64_t first_iteration, iterations;
    double limit;                /* seconds of one check; 0: none */
    const char *directory;       /* to keep it in; NULL: it is not kept */
    bool shrink, waves;
    double shrink_seconds; /* for one test */
    /* Prints and frees the line of a test that is about to be made small. False: it cannot. */
    bool (*tell)(void *teller, cJSON *line);
    void *teller;
    struct progress *progress;        /* of that; NULL: nobody looks */
    const struct target_options *how; /* the machine was opened with, for a replay */
    struct failure_note *note;        /* is filled; NULL: nobody asks */
    /* With a note: is it to be kept? NULL: all are. */
    bool (*wanted)(void *user, const struct failure_note *note);
    void *user;
};

struct failure_told {
    cJSON *line; /* "FAIL test-7#12 model=TSO …", or, when that was told because it was made small,
                       "SMALL test-7#12 small=4 …"; NULL: out of memory */
    struct why why; /* not all that was asked for could be done */
    bool saved;     /* the line that is told, or was, names its folder */
    bool unwritten; /* for that reason something that was to be kept is not */
};

/* False: told->why; what could be done is in the line all the same. */
bool failure_tell(const struct failure_plan *plan, const struct pipeline_test *t,
                  struct failure_told *told);

#endif
