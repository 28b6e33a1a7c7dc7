/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a regression while it runs, as JSON (SERVE.md). However many ask, the database
 * is read once in a while: not more than once a second, and a small part of the time where it
 * takes long. */
#ifndef HOST_LIVE_H
#define HOST_LIVE_H

#include <pthread.h>

#include "base/why.h"

enum { LIVE_VERSION = 1 };

struct live {
    const char *file;
    pthread_mutex_t lock;
    char *text;        /* the last answer */
    double made, took; /* when, and how long that took, in seconds */
};

void live_open(struct live *l, const char *file);
void live_close(struct live *l);
/* For the caller to free. NULL: `why`. */
char *live_answer(struct live *l, struct why *why);

#endif
