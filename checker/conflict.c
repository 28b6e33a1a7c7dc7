/* SPDX-License-Identifier: Apache-2.0 */
/* VTSO-conflict, thesis 4.2.1: with the order of all stores to each word given, one topological
 * sort decides, in linear time (Theorem 4.1). A1 to A5 are the graph's edges. A6 and A7 are not
 * stored: whatever wrote or read a store comes before the next store, which a table gives. */
#include "classic.h"

#include <string.h>

struct conflict {
    const struct graph *g;
    uint32_t *next;      /* by store id: the id that follows it in its cell, or NONE */
    uint32_t *stores_of; /* by location */
    uint32_t *indegree;  /* by node */
};

/* Every word has a list of all its stores, or an error names the first that has not. */
static enum ordeal_status need_orders(const struct graph *g)
{
    const struct execution *x = g->x;
    for (uint32_t l = 0; l < x->locations; l++) {
        if (x->order_complete[l])
            continue;
        char name[64];
        execution_location_name(x, l, name, sizeof name);
        return fail(g->o, ORDEAL_BAD_USAGE, "algorithm conflict needs the order of all stores to "
                    "%s: give an `order %s` line or use another algorithm", name, name);
    }
    return ORDEAL_OK;
}

static void follow_store(struct conflict *c, uint32_t from, uint32_t to)
{
    const struct graph *g = c->g;
    assert(g->x->is_store[from] && g->x->is_store[to] && g->x->loc[from] == g->x->loc[to]);
    for (uint32_t s = 0; s < cells_of(g, g->x->loc[from]); s++)
        c->next[g->store_first[from] + s] = g->store_first[to] + s;
}

/* A6. The initial store is followed by the first one; a word with one store needs no list. */
static void chain_stores(struct conflict *c)
{
    const struct execution *x = c->g->x;
    memset(c->next, 0xff, c->g->stores * sizeof *c->next);
    for (uint32_t e = x->locations; e < x->events; e++) {
        c->stores_of[x->loc[e]] += x->is_store[e];
        if (x->is_store[e] && c->stores_of[x->loc[e]] == 1)
            follow_store(c, x->loc[e], e);
    }
    for (uint32_t k = 0; k < x->orders; k++) {
        uint32_t first = x->order_first[k], end = x->order_first[k + 1];
        if (first == end || end - first < c->stores_of[x->loc[x->order[first]]])
            continue; /* an incomplete list beside a complete one: the graph has its edges */
        uint32_t before = x->loc[x->order[first]];
        for (uint32_t i = first; i < end; before = x->order[i++])
            follow_store(c, before, x->order[i]);
    }
}

/* Of the access: the node that its A6 or A7 edge goes to, or NONE. */
static uint32_t edge_of(const struct conflict *c, uint32_t node, struct access a)
{
    const struct graph *g = c->g;
    uint32_t store = g->x->is_store[a.event] ? a.event : source_of(g->x, a.event);
    assert(store != NONE); /* values are unique, and each was written */
    uint32_t next = c->next[g->store_first[store] + a.slot];
    if (next == NONE || g->store_node[next] == node)
        return NONE;
    return g->store_node[next];
}

static bool release(struct conflict *c, uint32_t node, struct classic_result *r)
{
    assert(node == NONE || c->indegree[node] > 0);
    return node == NONE || --c->indegree[node] > 0 || VEC_PUSH(c->g->o, &r->order, node);
}

/* Kahn's sort; r->order is its queue. */
static bool sort(struct conflict *c, struct classic_result *r)
{
    const struct graph *g = c->g;
    if (g->pred_first[0] < g->pred_first[1])
        return true; /* nothing is before the root: no order, as conclude() will say */
    for (uint32_t n = 1; n < g->nodes; n++) {
        for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++)
            c->indegree[g->succ[i]]++;
        for (uint32_t i = g->access_first[n]; i < g->access_first[n + 1]; i++) {
            uint32_t to = edge_of(c, n, g->access[i]);
            if (to != NONE)
                c->indegree[to]++;
        }
    }
    for (uint32_t n = 1; n < g->nodes; n++)
        if (c->indegree[n] == 0 && !VEC_PUSH(g->o, &r->order, n))
            return false;
    for (size_t done = 0; done < r->order.count; done++) {
        uint32_t n = r->order.data[done];
        for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++)
            if (!release(c, g->succ[i], r))
                return false;
        for (uint32_t i = g->access_first[n]; i < g->access_first[n + 1]; i++)
            if (!release(c, edge_of(c, n, g->access[i]), r))
                return false;
        if (limit_hit(g->o, "topological sort", (double)done / g->nodes))
            return false;
    }
    return true;
}

static void conclude(const struct graph *g, struct classic_result *r)
{
    assert(r->order.count < g->nodes);
    bool pass = r->order.count == (size_t)g->nodes - 1 && g->pred_first[0] == g->pred_first[1];
    size_t kept = 0;
    for (size_t i = 0; pass && i < r->order.count; i++)
        if (g->kind.data[r->order.data[i]] == NODE_REAL)
            r->order.data[kept++] = r->order.data[i];
    r->order.count = kept;
    r->result = pass ? ORDEAL_PASS : ORDEAL_FAIL;
}

enum ordeal_status conflict_check(const struct graph *g, struct classic_result *r)
{
    struct ordeal *o = g->o;
    enum ordeal_status status = need_orders(g);
    if (status != ORDEAL_OK)
        return status;
    struct conflict c = { .g = g, .next = mem_array(o, g->stores, sizeof *c.next),
                          .stores_of = mem_zero(o, g->x->locations, sizeof *c.stores_of),
                          .indegree = mem_zero(o, g->nodes, sizeof *c.indegree) };
    bool ok = c.next && c.stores_of && c.indegree;
    if (ok) {
        chain_stores(&c);
        ok = sort(&c, r);
    }
    if (ok)
        conclude(g, r);
    mem_free(o, c.next, g->stores * sizeof *c.next);
    mem_free(o, c.stores_of, g->x->locations * sizeof *c.stores_of);
    mem_free(o, c.indegree, g->nodes * sizeof *c.indegree);
    return ok ? ORDEAL_OK : o->error.status;
}
