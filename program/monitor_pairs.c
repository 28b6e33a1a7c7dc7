/* SPDX-License-Identifier: Apache-2.0 */
/* Which pairs of accesses a finding rests on: a shortest cycle of conflicts and program order through
 * the access and the write that it could have missed, and where it goes through a thread in an order
 * that the model does not keep. */
#include "monitor.h"

#include <stdlib.h>

static bool writes(const struct monitor_access *a)
{
    return a->kind == MONITOR_STORE || a->kind == MONITOR_LOCKED || a->kind == MONITOR_ATOMIC;
}

static bool share(const struct monitor_access *a, const struct monitor_access *b)
{
    for (uint32_t i = 0; i < a->locations; i++)
        for (uint32_t k = 0; k < b->locations; k++)
            if (a->location[i] == b->location[k])
                return true;
    return false;
}

static bool are_ordered(const struct monitor_access *a, const struct monitor_access *b)
{
    return a->thread == b->thread || ((writes(a) || writes(b)) && share(a, b));
}

/* Of one thread: does the model keep their order by itself? */
static bool are_kept(enum monitor_model model, const struct monitor_access *a,
                     const struct monitor_access *b)
{
    if (model == MONITOR_TSO)
        return a->kind != MONITOR_STORE_FENCE && b->kind != MONITOR_STORE_FENCE
            && (a->kind != MONITOR_STORE || b->kind != MONITOR_LOAD);
    if (b->kind == MONITOR_LOAD)
        return a->kind != MONITOR_STORE && a->kind != MONITOR_STORE_FENCE;
    if (a->kind == MONITOR_STORE && (b->kind == MONITOR_STORE || b->kind == MONITOR_ATOMIC))
        return share(a, b);
    return true;
}

/* Or by what stands between them? */
static bool stay_in_order(enum monitor_model model, const struct monitor_access *all,
                          uint32_t first, uint32_t second, bool *after)
{
    for (uint32_t i = first; i <= second; i++) {
        after[i] = i == first;
        for (uint32_t k = first; k < i && !after[i]; k++)
            after[i] = after[k] && all[i].thread == all[first].thread
                    && all[k].thread == all[first].thread && are_kept(model, &all[k], &all[i]);
    }
    return after[second];
}

/* Breadth first, from the write that was missed to one of the thread that could miss it. `from` is one
 * more than the number; which it ends at. */
static uint32_t find_path(const struct monitor_access *all, const struct monitor_finding *f,
                          uint32_t *from, uint32_t *queue)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i <= f->access; i++)
        from[i] = 0;
    queue[0] = f->missed;
    from[f->missed] = f->missed + 1;
    for (uint32_t next = 0; next < count; next++) {
        uint32_t at = queue[next];
        if (all[at].thread == all[f->access].thread)
            return at;
        for (uint32_t i = at + 1; i < f->access; i++)
            if (!from[i] && are_ordered(&all[at], &all[i])) {
                from[i] = at + 1;
                queue[count++] = i;
            }
    }
    return f->missed; /* there is a path, or it was none */
}

uint32_t monitor_pairs(enum monitor_model model, const struct monitor_access *access,
                       const struct monitor_finding *f, struct monitor_pair *pair, uint32_t most)
{
    uint32_t *from = calloc(2 * (size_t)f->access + 2, sizeof *from), count = 0;
    bool *after = calloc((size_t)f->access + 1, sizeof *after);
    if (from && after) {
        uint32_t later = f->access;
        for (uint32_t at = find_path(access, f, from, from + f->access + 1); count < most;) {
            if (access[at].thread == access[later].thread
                && !stay_in_order(model, access, at, later, after))
                pair[count++] = (struct monitor_pair){ at, later };
            if (at == f->missed)
                break;
            later = at;
            at = from[at] - 1;
        }
    }
    free(from);
    free(after);
    return count;
}
