/* SPDX-License-Identifier: Apache-2.0 */
/* The campaign against the zoo: what is to be run, what came of it, and the file that this is kept
 * in, so that a campaign that was interrupted, even killed, goes on. */
#ifndef ZOO_CAMPAIGN_H
#define ZOO_CAMPAIGN_H

#include <cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "targets/soc/zoo.h"

struct campaign {
    const char *program, *file;      /* ordeal; the results */
    const char *bias, *config;       /* for every bug; NULL: as ordeal likes */
    char tests[512];                 /* the same as words of a command line */
    uint64_t count, clean, seed;     /* tests of a bug at most; of each machine without one */
    uint64_t jobs;                   /* machines at a time; 0: as ordeal likes */
    uint64_t shrink;                 /* seconds to make a failure small; 0: as it is */
    bool every_model;
    const char *only;                /* one bug; NULL: all */
    const char *files[3];            /* what else results depend on; ends with NULL */
    char sources[20];                /* a sum of the machine, the program and these files */
    cJSON *runs;                     /* [ { "name", "command", …, what it said }, … ] */
};

/* Takes over what the file has. False: a complaint was printed. */
bool campaign_open(struct campaign *c);
/* What came of ordeal with these words, for the shell: if the file has it, of the same sources, from
 * there, else it is run and what it said is kept. After `seconds`, if not 0, it is asked to come to an end. NULL: it
 * could not be run, or ^C. */
const cJSON *campaign_run(struct campaign *c, const char *name, const char *words,
                          double seconds);
void campaign_close(struct campaign *c);

double result_number(const cJSON *result, const char *key);   /* 0: it has none */
bool result_found(const cJSON *result);                       /* a test failed */
const char *result_verdict(const cJSON *result);              /* FAIL, broke, -, UNDECIDED, error */

#endif
