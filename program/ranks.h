/* SPDX-License-Identifier: Apache-2.0 */
/* The order of states within their level, the same with any number of workers: by the rank of the
 * parent that comes first, and by which of its steps leads there. With one worker that is the order
 * of their numbers. With several, who stores a state first is chance: each way to a new state is
 * noted, and at the end of a level the first way decides about parent and rank. */
#ifndef PROGRAM_RANKS_H
#define PROGRAM_RANKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ranks {
    uint32_t low;    /* the level's first number */
    uint32_t *rank;  /* by number - low */
    uint32_t *state; /* by rank */
    uint32_t count;
    _Atomic uint64_t *way; /* by number: rank of a parent and step, plus one; 0: none is known */
    uint64_t most;
};

bool ranks_new(struct ranks *r, uint32_t first, uint64_t most); /* states, at most */
void ranks_free(struct ranks *r);
static inline uint32_t ranks_of(const struct ranks *r, uint32_t state)
{
    return r->rank[state - r->low];
}
void ranks_note(struct ranks *r, uint32_t state, uint32_t parent, uint32_t step);
/* The level is done, and the states from `low` up to `high` are the next one: their parents become
 * known. False: no memory. */
bool ranks_next_level(struct ranks *r, uint32_t low, uint32_t high, uint32_t *parent);

/* Of a level that was stored: its states by rank. False: no memory, or they are none of it. */
bool ranks_restore(struct ranks *r, uint32_t low, uint32_t high, const uint32_t *state,
                   uint32_t count);

#endif
