/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of `ordeal report` over HTTP, on loopback alone, until the end is asked for.
 * Everything has a bound: headers, bodies, connections, how long one may take to ask and to
 * listen, checks at a time and their time and memory. */
#ifndef HOST_SERVER_H
#define HOST_SERVER_H

#include "gate.h"
#include "source.h"

struct server_plan {
    unsigned port;   /* 0: any that is free */
    double patience; /* seconds that somebody may take to ask, or to take the answer */
    double seconds;  /* of a check that answers what if */
    void (*ready)(const struct gate *gate); /* it listens now */
};

/* Returns after ^C. False: `why`. */
bool server_run(struct source *source, const struct server_plan *plan, struct why *why);

#endif
