/* The campaign against the zoo: what is to be run, what came of it, and the file that both are kept
 * in, so that a campaign that was interrupted goes on. */
#ifndef ZOO_CAMPAIGN_H
#define ZOO_CAMPAIGN_H

#include <cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "zoo.h"

struct campaign {
    const char *program, *file;      /* ordeal; the results */
    const char *bias, *config;       /* for every bug */
    uint64_t count, clean, seed;     /* tests of a bug at most; of each machine without one */
    bool every_model, shrink;
    const char *only;                /* one bug; NULL: all */
    cJSON *root, *runs;              /* {"settings": …, "runs": [ … ]} */
};

/* Takes over what the file has of the same campaign. False: a complaint was printed. */
bool campaign_open(struct campaign *c);
/* The result under this name; if there is none yet, runs ordeal with the words and keeps what it
 * said. NULL: it could not be run, or ^C. */
const cJSON *campaign_run(struct campaign *c, const char *name, const char *words);
void campaign_close(struct campaign *c);

double result_number(const cJSON *result, const char *key);   /* 0: it has none */
bool result_found(const cJSON *result);                       /* a test failed */
const char *result_verdict(const cJSON *result);              /* FAIL, broke, -, UNDECIDED, error */

#endif
