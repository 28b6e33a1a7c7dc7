/* SPDX-License-Identifier: Apache-2.0 */
/* Who read from whom, and the edges that follow from that and from the order of stores. */
#include <string.h>

#include "exec_parts.h"

/* ---- who read from whom ---------------------------------------------------------------------- */

/* The one store of the value. Of several the last of the own thread before it is a guess, if it is
 * one of them; else nobody knows. An atomic access did not see its own store. */
static void find_source(const struct cover_exec *x, const struct cell *c, struct visit *v)
{
    const struct access *reader = exec_access(x, v);
    uint32_t found = v->read == c->initial ? INITIAL : NOBODY, own = NOBODY;
    uint32_t candidates = found == INITIAL;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct visit *w = exec_visit(x, c, i);
        const struct access *writer = exec_access(x, w);
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
    v->sure = candidates == 1;
    v->source = v->sure ? found : own;
}

static void find_sources(struct cover_exec *x)
{
    for (size_t i = 0; i < x->visits.count; i++) {
        struct visit *v = &x->visits.data[i];
        if (exec_access(x, v)->reads && !x->cells.data[v->cell].open)
            find_source(x, &x->cells.data[v->cell], v);
    }
}

/* ---- edges ----------------------------------------------------------------------------------- */

static bool add_edge(struct cover_exec *x, uint32_t from, uint32_t to, uint8_t kind)
{
    const struct visit *v = &x->visits.data[from];
    struct edge e = { .from = v->access, .to = x->visits.data[to].access, .kind = kind };
    if (x->accesses.data[e.from].thread == x->accesses.data[e.to].thread)
        return true;
    e.cells = UINT64_C(1) << (v->cell - x->accesses.data[e.from].cell);
    return LIST_PUSH(&x->edges, e);
}

/* To all that come next after a store by number, or after what was there at the start: 0. */
static bool add_next(struct cover_exec *x, uint32_t from, uint32_t store, uint8_t kind)
{
    bool good = true;
    for (uint32_t i = x->next_at.data[store]; good && i < x->next_at.data[store + 1]; i++)
        good = add_edge(x, from, x->next.data[i], kind);
    return good;
}

static bool add_edges(struct cover_exec *x, const struct cell *c)
{
    bool good = true;
    for (uint32_t i = 0; good && i < c->count; i++) {
        uint32_t visit = x->by_cell.data[c->first + i];
        const struct visit *v = &x->visits.data[visit];
        if (v->store)
            good = add_next(x, visit, v->store, EDGE_CO);
        if (!good || !v->sure)
            continue;
        bool initial = v->source == INITIAL;
        good = (initial || add_edge(x, v->source, visit, EDGE_RF))
            && add_next(x, visit, initial ? 0 : x->visits.data[v->source].store, EDGE_FR);
    }
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
        else
            x->edges.data[kept - 1].cells |= x->edges.data[i].cells;
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

bool exec_edges(struct cover_exec *x)
{
    bool good = true;
    find_sources(x);
    x->edges.count = 0;
    for (size_t i = 0; good && i < x->cells.count; i++)
        good = exec_order(x, &x->cells.data[i]) && add_edges(x, &x->cells.data[i]);
    if (good)
        sort_edges(x);
    return good && index_edges(x);
}
