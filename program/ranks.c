/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#include "reserve.h"

bool ranks_new(struct ranks *r, uint32_t first, uint64_t most)
{
    *r = (struct ranks){ .low = first, .count = 1, .most = most };
    r->way = reserve((size_t)most * 8);
    r->rank = calloc(1, sizeof *r->rank);
    r->state = malloc(sizeof *r->state);
    if (r->state)
        r->state[0] = first;
    return r->way && r->rank && r->state;
}

void ranks_free(struct ranks *r)
{
    reserve_free((void *)r->way, (size_t)r->most * 8);
    free(r->rank);
    free(r->state);
}

void ranks_note(struct ranks *r, uint32_t state, uint32_t parent, uint32_t step)
{
    uint64_t way = ((uint64_t)ranks_of(r, parent) << 32 | step) + 1;
    uint64_t known = atomic_load_explicit(&r->way[state], memory_order_relaxed);
    while ((!known || way < known)
           && !atomic_compare_exchange_weak_explicit(&r->way[state], &known, way,
                                                     memory_order_relaxed, memory_order_relaxed)) {
    }
}

static uint64_t way_to(const struct ranks *r, uint32_t state)
{
    return atomic_load_explicit(&r->way[state], memory_order_relaxed);
}

static uint32_t parent_rank(const struct ranks *r, uint32_t state)
{
    return (uint32_t)((way_to(r, state) - 1) >> 32);
}

/* Behind those of the same parent that are there already, which are few, by step. */
static void insert(const struct ranks *r, uint32_t *state, uint32_t first, uint32_t at,
                   uint32_t new)
{
    for (; at > first && way_to(r, state[at - 1]) > way_to(r, new); at--)
        state[at] = state[at - 1];
    state[at] = new;
}

/* Sorts the states of the next level into `state`. Of each parent, `first` is where its states
 * begin, and `next` where the next one goes. How many there are. */
static uint32_t sort_states(const struct ranks *r, uint32_t low, uint32_t high, uint32_t *first,
                            uint32_t *next, uint32_t *state)
{
    uint32_t count = 0;
    for (uint32_t n = low; n < high; n++)
        if (way_to(r, n))
            next[parent_rank(r, n)]++;
    for (uint32_t p = 0; p < r->count; p++) {
        first[p] = count;
        count += next[p];
        next[p] = first[p];
    }
    for (uint32_t n = low; n < high; n++) {
        if (!way_to(r, n))
            continue; /* a number that nobody used */
        uint32_t p = parent_rank(r, n);
        insert(r, state, first[p], next[p]++, n);
    }
    return count;
}

/* Pages of ways that are known are given back. */
static void forget_ways(struct ranks *r, uint32_t low, uint32_t high)
{
    uintptr_t from = (uintptr_t)&r->way[low] & ~(uintptr_t)4095, to = (uintptr_t)&r->way[high];
    madvise((void *)from, (to - from) & ~(uintptr_t)4095, MADV_DONTNEED);
}

bool ranks_next_level(struct ranks *r, uint32_t low, uint32_t high, uint32_t *parent)
{
    uint32_t *first = calloc(2 * (size_t)r->count + 1, sizeof *first);
    uint32_t *state = malloc(((size_t)(high - low) + 1) * sizeof *state);
    uint32_t *rank = malloc(((size_t)(high - low) + 1) * sizeof *rank);
    bool made = first && state && rank;
    if (made) {
        uint32_t count = sort_states(r, low, high, first, first + r->count, state);
        for (uint32_t k = 0; k < count; k++) {
            parent[state[k]] = r->state[parent_rank(r, state[k])];
            rank[state[k] - low] = k;
        }
        forget_ways(r, r->low, low);
        free(r->state);
        free(r->rank);
        *r = (struct ranks){ low, rank, state, count, r->way, r->most };
    } else {
        free(state);
        free(rank);
    }
    free(first);
    return made;
}

bool ranks_restore(struct ranks *r, uint32_t low, uint32_t high, const uint32_t *state,
                   uint32_t count)
{
    uint32_t *by_rank = malloc(((size_t)count + 1) * sizeof *by_rank);
    uint32_t *rank = calloc((size_t)(high - low) + 1, sizeof *rank);
    bool good = by_rank && rank;
    for (uint32_t k = 0; good && k < count; k++) {
        good = state[k] >= low && state[k] < high;
        if (!good)
            break;
        by_rank[k] = state[k];
        rank[state[k] - low] = k;
    }
    if (!good) {
        free(by_rank);
        free(rank);
        return false;
    }
    free(r->state);
    free(r->rank);
    *r = (struct ranks){ low, rank, by_rank, count, r->way, r->most };
    return true;
}
