/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a cycle came about in a run (Relaxer, 4.3): events with its labels, each pair of one thread in
 * program order, and the second of each before the first of the next one at their place. */
#include <stdlib.h>

#include "relax.h"

/* c(e) of the paper, 3.2: an atomic is its load, and its store. */
bool relax_before(const struct relax_access *a, const struct relax_access *b)
{
    if (!relax_overlap(a, b))
        return false;
    if (a->writes && b->reads && a->done <= b->seen)
        return true;
    if (a->writes && b->writes && a->done < b->done)
        return true;
    return a->reads && b->writes && a->seen_last < b->done;
}

/* Those with one label of the cycle, and from which of the position before they were come to. */
struct position {
    uint32_t *access, *from;
    size_t count;
};

/* False: no memory. */
static bool fill(const struct relax_run *run, const struct relax_cycle *c, uint32_t i,
                 struct position *p)
{
    size_t n = 0;
    for (size_t k = 0; k < run->accesses; k++)
        n += run->access[k].label == c->label[i];
    p->access = n ? malloc(2 * n * sizeof *p->access) : NULL;
    p->from = p->access ? p->access + n : NULL;
    for (size_t k = 0; p->access && k < run->accesses; k++)
        if (run->access[k].label == c->label[i])
            p->access[p->count++] = (uint32_t)k;
    return !n || p->access;
}

enum { NOWHERE = -1 };

/* Which of one position lead to `to` of the next. */
static bool follows(const struct relax_run *run, uint32_t odd, uint32_t from, uint32_t to)
{
    const struct relax_access *a = &run->access[from], *b = &run->access[to];
    if (!odd)
        return a->thread == b->thread && from <= to;
    return a->thread != b->thread && relax_before(a, b);
}

static void reach(const struct relax_run *run, uint32_t i, const struct position *before,
                  struct position *p)
{
    for (size_t k = 0; k < p->count; k++) {
        p->from[k] = (uint32_t)NOWHERE;
        for (size_t m = 0; m < before->count && p->from[k] == (uint32_t)NOWHERE; m++)
            if (before->from[m] != (uint32_t)NOWHERE
                && follows(run, (i + 1) % 2, before->access[m], p->access[k]))
                p->from[k] = (uint32_t)m;
    }
}

/* From one event of the first label around and back. */
static bool around(const struct relax_run *run, const struct relax_cycle *c, struct position *p,
                   size_t start, uint32_t access[RELAX_LONGEST])
{
    uint32_t last = c->length - 1;
    for (size_t k = 0; k < p[0].count; k++)
        p[0].from[k] = k == start ? 0 : (uint32_t)NOWHERE;
    for (uint32_t i = 1; i <= last; i++)
        reach(run, i, &p[i - 1], &p[i]);
    for (size_t k = 0; k < p[last].count; k++) {
        if (p[last].from[k] == (uint32_t)NOWHERE
            || !follows(run, 1, p[last].access[k], p[0].access[start]))
            continue;
        size_t at = k;
        for (uint32_t i = last + 1; i-- > 0; at = p[i].from[at])
            access[i] = p[i].access[at];
        return true;
    }
    return false;
}

bool relax_created(const struct relax_run *run, const struct relax_cycle *c,
                   uint32_t access[RELAX_LONGEST], bool *created)
{
    struct position p[RELAX_LONGEST] = { { 0 } };
    bool fine = true, all = true;
    for (uint32_t i = 0; i < c->length && fine && all; i++) {
        fine = fill(run, c, i, &p[i]);
        all = p[i].count;
    }
    *created = false;
    for (size_t k = 0; fine && all && k < p[0].count && !*created; k++)
        *created = around(run, c, p, k, access);
    for (uint32_t i = 0; i < c->length; i++)
        free(p[i].access);
    return fine;
}
