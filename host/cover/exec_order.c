/* SPDX-License-Identifier: Apache-2.0 */
/* Who read from whom, and the order of the stores to each cell; the edges that follow. */
#include <assert.h>
#include <string.h>

#include "exec_parts.h"

static struct visit *visit_of(const struct cover_exec *x, const struct cell *c, uint32_t i)
{
    return &x->visits.data[x->by_cell.data[c->first + i]];
}

static struct access *access_of(const struct cover_exec *x, const struct visit *v)
{
    return &x->accesses.data[v->access];
}

/* ---- who read from whom ---------------------------------------------------------------------- */

/* The one store of the value; of several the last of the own thread before it, if that is one;
 * else nobody knows. An atomic access did not see its own store. */
static uint32_t source_of(const struct cover_exec *x, const struct cell *c, const struct visit *v)
{
    const struct access *reader = access_of(x, v);
    uint32_t found = v->read == c->initial ? INITIAL : NOBODY, own = NOBODY;
    uint32_t candidates = found == INITIAL;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct visit *w = visit_of(x, c, i);
        const struct access *writer = access_of(x, w);
        bool before = writer->thread == reader->thread && writer->position < reader->position;
        if (w == v || !writer->writes || (writer->thread == reader->thread && !before))
            continue;
        bool same = w->written == v->read;
        if (before)
            own = same ? (uint32_t)(w - x->visits.data) : NOBODY;
        if (same)
            found = (uint32_t)(w - x->visits.data);
        candidates += same;
    }
    return candidates == 1 ? found : own;
}

static void find_sources(struct cover_exec *x)
{
    for (size_t i = 0; i < x->visits.count; i++) {
        struct visit *v = &x->visits.data[i];
        if (access_of(x, v)->reads)
            v->source = source_of(x, &x->cells.data[v->cell], v);
    }
}

/* ---- the order of stores --------------------------------------------------------------------- */

/* The stores of a cell: `scratch` has their visits, and then how many that are before each of them
 * are not placed yet. */
struct stores {
    struct cover_exec *x;
    const struct cell *cell;
    uint32_t *visit, *waits;
    uint32_t count;
};

static bool end_of(const struct cover_exec *x, uint32_t visit, uint64_t *end)
{
    uint32_t op = access_of(x, &x->visits.data[visit])->op;
    uint64_t begin;
    return ordeal_trace_op(x->trace, op)->flags & ORDEAL_HAS_END
        && ordeal_trace_times_of(x->trace, op, &begin, end);
}

/* False: not all of their cycles are known. */
static bool order_by_time(struct stores *s)
{
    uint64_t mine, other;
    for (uint32_t i = 0; i < s->count; i++)
        if (!end_of(s->x, s->visit[i], &mine))
            return false;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t rank = 1;
        end_of(s->x, s->visit[i], &mine);
        for (uint32_t k = 0; k < s->count; k++)
            rank += end_of(s->x, s->visit[k], &other) && (other < mine || (other == mine && k < i));
        s->x->visits.data[s->visit[i]].rank = rank;
    }
    return true;
}

/* What a thread saw one after the other is in that order: calls for the stores of which it made or
 * saw the second after the first. */
static void each_sequence(struct stores *s,
                          void (*each)(struct stores *s, uint32_t before, uint32_t after,
                                       uint32_t user),
                          uint32_t user)
{
    struct cover_exec *x = s->x;
    uint32_t last = NOBODY, thread = NOBODY;
    for (uint32_t i = 0; i < s->cell->count; i++) {
        const struct visit *v = visit_of(x, s->cell, i);
        const struct access *a = access_of(x, v);
        uint32_t seen[2] = { v->source, a->writes ? (uint32_t)(v - x->visits.data) : NOBODY };
        if (a->thread != thread)
            last = NOBODY;
        thread = a->thread;
        for (int k = 0; k < 2; k++) {
            if (seen[k] == NOBODY || seen[k] == INITIAL || seen[k] == last)
                continue;
            if (last != NOBODY)
                each(s, last, seen[k], user);
            last = seen[k];
        }
    }
}

static uint32_t index_of(const struct stores *s, uint32_t visit)
{
    uint32_t low = 0, high = s->count; /* they are in the order of visits */
    while (low + 1 < high) {
        uint32_t middle = (low + high) / 2;
        *(s->visit[middle] <= visit ? &low : &high) = middle;
    }
    assert(s->visit[low] == visit);
    return low;
}

static void count_wait(struct stores *s, uint32_t before, uint32_t after, uint32_t user)
{
    (void)before, (void)user;
    s->waits[index_of(s, after)]++;
}

static void end_wait(struct stores *s, uint32_t before, uint32_t after, uint32_t placed)
{
    if (before == placed)
        s->waits[index_of(s, after)]--;
}

/* Which is next: an atomic access that read the last one; one that waits for none, of those the one
 * that is nearest to the begin of its thread. Where all wait the machine was incoherent. */
static bool is_better(const struct stores *s, uint32_t i, uint32_t best, uint32_t last)
{
    const struct cover_exec *x = s->x;
    if (best == NOBODY)
        return true;
    const struct visit *a = &x->visits.data[s->visit[i]], *b = &x->visits.data[s->visit[best]];
    if ((s->waits[i] == 0) != (s->waits[best] == 0))
        return s->waits[i] == 0;
    bool follows = a->source == last, other = b->source == last;
    if (last != NOBODY && follows != other)
        return follows;
    return access_of(x, a)->position < access_of(x, b)->position;
}

static void order_by_sight(struct stores *s)
{
    uint32_t last = INITIAL;
    each_sequence(s, count_wait, 0);
    for (uint32_t rank = 1; rank <= s->count; rank++) {
        uint32_t best = NOBODY;
        for (uint32_t i = 0; i < s->count; i++)
            if (!s->x->visits.data[s->visit[i]].rank && is_better(s, i, best, last))
                best = i;
        last = s->visit[best];
        s->x->visits.data[last].rank = rank;
        each_sequence(s, end_wait, last);
    }
}

static bool order_cell(struct cover_exec *x, const struct cell *c)
{
    if (!LIST_CLEAR_TO(&x->scratch, 2 * (size_t)c->count))
        return false;
    struct stores s = {
        .x = x, .cell = c, .visit = x->scratch.data, .waits = x->scratch.data + c->count
    };
    for (uint32_t i = 0; i < c->count; i++)
        if (access_of(x, visit_of(x, c, i))->writes)
            s.visit[s.count++] = x->by_cell.data[c->first + i];
    if (!order_by_time(&s))
        order_by_sight(&s);
    return true;
}

/* ---- edges ----------------------------------------------------------------------------------- */

static bool add_edge(struct cover_exec *x, uint32_t from, uint32_t to, uint8_t kind)
{
    struct edge e = { x->visits.data[from].access, x->visits.data[to].access, kind };
    bool foreign = x->accesses.data[e.from].thread != x->accesses.data[e.to].thread;
    return !foreign || LIST_PUSH(&x->edges, e);
}

/* `scratch` has the stores by their rank, from 1. */
static bool add_read_edges(struct cover_exec *x, uint32_t visit, uint32_t stores)
{
    const struct visit *v = &x->visits.data[visit];
    if (!access_of(x, v)->reads || v->source == NOBODY)
        return true;
    uint32_t rank = v->source == INITIAL ? 0 : x->visits.data[v->source].rank;
    bool good = rank == 0 || add_edge(x, v->source, visit, EDGE_RF);
    return good && (rank == stores || add_edge(x, visit, x->scratch.data[rank + 1], EDGE_FR));
}

static bool add_edges(struct cover_exec *x, const struct cell *c)
{
    uint32_t stores = 0;
    if (!LIST_CLEAR_TO(&x->scratch, (size_t)c->count + 1))
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t rank = visit_of(x, c, i)->rank;
        x->scratch.data[rank] = x->by_cell.data[c->first + i];
        stores += rank > 0;
    }
    bool good = true;
    for (uint32_t rank = 1; good && rank < stores; rank++)
        good = add_edge(x, x->scratch.data[rank], x->scratch.data[rank + 1], EDGE_CO);
    for (uint32_t i = 0; good && i < c->count; i++)
        good = add_read_edges(x, x->by_cell.data[c->first + i], stores);
    return good;
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *e = a, *f = b;
    if (e->from != f->from)
        return e->from < f->from ? -1 : 1;
    if (e->to != f->to)
        return e->to < f->to ? -1 : 1;
    return (int)e->kind - (int)f->kind;
}

/* Two accesses may meet in several cells. */
static void sort_edges(struct cover_exec *x)
{
    size_t kept = 0;
    LIST_SORT(&x->edges, compare_edges);
    for (size_t i = 0; i < x->edges.count; i++)
        if (kept == 0 || compare_edges(&x->edges.data[kept - 1], &x->edges.data[i]) != 0)
            x->edges.data[kept++] = x->edges.data[i];
    x->edges.count = kept;
}

/* Where the edges of each access begin, and the end of the last. */
static bool index_edges(struct cover_exec *x)
{
    size_t accesses = x->accesses.count;
    if (!LIST_CLEAR_TO(&x->out, accesses + 1) || !LIST_CLEAR_TO(&x->in, accesses + 1)
        || !LIST_CLEAR_TO(&x->back, x->edges.count))
        return false;
    for (size_t i = 0; i < x->edges.count; i++) {
        x->out.data[x->edges.data[i].from + 1]++;
        x->in.data[x->edges.data[i].to + 1]++;
    }
    for (size_t a = 0; a < accesses; a++) {
        x->out.data[a + 1] += x->out.data[a];
        x->in.data[a + 1] += x->in.data[a];
    }
    for (uint32_t i = 0; i < x->edges.count; i++)
        x->back.data[x->in.data[x->edges.data[i].to]++] = i;
    memmove(x->in.data + 1, x->in.data, accesses * sizeof *x->in.data);
    x->in.data[0] = 0;
    return true;
}

bool exec_order(struct cover_exec *x)
{
    bool good = true;
    find_sources(x);
    x->edges.count = 0;
    for (size_t i = 0; good && i < x->cells.count; i++)
        good = order_cell(x, &x->cells.data[i]) && add_edges(x, &x->cells.data[i]);
    if (good)
        sort_edges(x);
    return good && index_edges(x);
}
