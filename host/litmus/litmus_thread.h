/* SPDX-License-Identifier: Apache-2.0 */
/* All ways that one thread of a litmus test can go, when its loads may see what is known to be
 * stored. */
#ifndef LITMUS_THREAD_H
#define LITMUS_THREAD_H

#include "litmus/litmus_machine.h"

/* A way: its accesses, and what registers that somebody asks for hold at its end. */
struct litmus_way {
    size_t event, value; /* the first of each, in the lists of all ways */
    uint32_t events;
};

struct litmus_ways {
    LIST(struct litmus_way) way;
    LIST(struct litmus_event) event;
    LIST(uint64_t) value; /* of a way one for each variable of the thread, in their order */
    bool cut;             /* ways that jump back more often than the bound were left out */
};

struct litmus_thread_options {
    uint32_t unroll; /* how often a way may jump back to the same instruction */
    uint64_t most;   /* ways */
};

/* False: the reason is in the error of `where`, its status ORDEAL_LIMIT if there are too many. */
bool litmus_thread_ways(const struct litmus *test, uint32_t thread,
                        const struct litmus_known *known, const struct litmus_thread_options *how,
                        struct litmus_lexer *where, struct litmus_ways *ways);
void litmus_ways_clear(struct litmus_ways *ways);
void litmus_ways_free(struct litmus_ways *ways);

/* How many stores one of its ways can have, at most, whose values, or which at all, depend on
 * what the thread reads. `ways` are some of them: where there are no branches, all have the same
 * stores. */
uint64_t litmus_thread_stores(const struct litmus *test, uint32_t thread, uint32_t unroll,
                              const struct litmus_ways *ways);

#endif
