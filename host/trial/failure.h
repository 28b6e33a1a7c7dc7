/* SPDX-License-Identifier: Apache-2.0 */
/* What is done about a test that failed: it is judged in full for its line, kept as a folder with
 * the way to run it again, and made small. */
#ifndef HOST_FAILURE_H
#define HOST_FAILURE_H

#include <cJSON.h>

#include "pipeline.h"

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
    /* What else a replay needs to be told of the machine: the model, NULL: none was asked for;
     * "--bug", "no-forward", …, ends with NULL. */
    const char *machine_model;
    const char *const *machine_words;
};

/* "FAIL test-7#12 model=TSO …"; NULL: out of memory. False: `why`; what could be done is in the
 * line all the same. */
bool failure_tell(const struct failure_plan *plan, const struct pipeline_test *t, cJSON **line,
                  struct why *why);

#endif
