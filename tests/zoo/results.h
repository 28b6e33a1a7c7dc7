/* SPDX-License-Identifier: Apache-2.0 */
/* The file that results of a campaign are kept in, so that one that was interrupted, even killed,
 * goes on. It is an array of objects in JSON, one for each run; it belongs to one process at a time
 * and is replaced as a whole after each run. */
#ifndef ZOO_RESULTS_H
#define ZOO_RESULTS_H

#include <cJSON.h>
#include <stdbool.h>

#include "base/temporary.h"

struct results {
    const char *file;
    cJSON *runs;
    struct temporary held; /* the file */
};

/* Takes over what the file has; if there is none, or an empty one, there are no runs. False:
 * another process has it, or it is not one of results; it is as it was. */
bool results_open(struct results *r, const char *file, struct why *why);
/* The run of this command and limit; NULL: there is none. One of another stamp is forgotten. */
const cJSON *results_find(struct results *r, const char *command, double limit, const char *stamp);
/* Takes the run over and writes the file. */
bool results_add(struct results *r, cJSON *run, struct why *why);
void results_close(struct results *r); /* harmless on one of zeros */

double result_number(const cJSON *result, const char *key); /* 0: it has none */
bool result_found(const cJSON *result);                     /* a test failed */
const char *result_verdict(const cJSON *result);            /* FAIL, broke, -, UNDECIDED, error */

#endif
