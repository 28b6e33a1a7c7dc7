/* SPDX-License-Identifier: Apache-2.0 */
/* A campaign: many runs of ordeal, as many at a time as there are cores for, and what came of them
 * in a file, with which it goes on after an interruption. */
#ifndef ZOO_CAMPAIGN_H
#define ZOO_CAMPAIGN_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "results.h"

struct campaign {
    uint64_t cores; /* machines at a time; 0: as many as there are processors */
    uint64_t jobs;  /* of them in one run */
    struct results results;
    pthread_mutex_t lock; /* of the results */
};

/* One run of `ordeal run --target sim --check`. */
struct run {
    const char *program, *name;
    const char *words; /* of the command line, for the shell */
    uint64_t seed;
    double seconds; /* after these, if not 0, it is asked to come to an end */
};

/* Takes over what the file has. False: a complaint was printed. */
bool campaign_open(struct campaign *c, const char *file);
/* What came of it: if the file has it, of all the same that it depends on, from there, else it is
 * run and what it said is kept. NULL: it could not be run, or ^C. For any thread. */
const cJSON *campaign_run(struct campaign *c, const struct run *run);
/* `work` for each of `count` pieces of the campaign, in threads, several at a time, in order of
 * their start; and for each that is done, in order, `tell`, here. False: `work` was so once, or ^C,
 * and what was not begun was left. */
bool campaign_each(struct campaign *c, size_t count, bool (*work)(void *user, size_t i),
                   void (*tell)(void *user, size_t i), void *user);
void campaign_close(struct campaign *c);

#endif
