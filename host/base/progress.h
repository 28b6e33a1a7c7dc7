/* SPDX-License-Identifier: Apache-2.0 */
/* How far a long piece of work is, on a terminal and after two seconds. */
#ifndef HOST_PROGRESS_H
#define HOST_PROGRESS_H

#include <stdbool.h>

#include "ordeal.h"

struct progress {
    const char *label;     /* what is worked on: the file */
    double started, drawn; /* monotonic seconds */
    bool terminal, visible;
};

void progress_start(struct progress *p, const char *label);
void progress_erase(struct progress *p);   /* before anything else is printed */
/* For struct ordeal_limits; `user` is the struct progress. True: stop, ^C was pressed. */
bool progress_callback(void *user, const char *phase, double share);

#endif
