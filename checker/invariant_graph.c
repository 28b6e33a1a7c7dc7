/* SPDX-License-Identifier: Apache-2.0 */
/* Checkers of an execution and of its analysis graph: what execution.h and graph.h say of their
 * arrays, once they are built. */
#undef NDEBUG
#include "graph.h"

/* ---- executions ---------------------------------------------------------------------- */

static void check_locations(const struct execution *x)
{
    for (uint32_t l = 0; l < x->locations; l++) {
        const struct location *here = &x->location[l], *before = l ? here - 1 : NULL;
        uint64_t size = UINT64_C(1) << here->size_log2;
        assert(here->size_log2 <= 3 && here->address % size == 0);
        if (before && before->base == here->base) /* they ascend, and do not overlap */
            assert(before->address + ((UINT64_C(1) << before->size_log2) - 1) < here->address);
        else
            assert(!before || before->base < here->base);
    }
}

static void check_events(const struct execution *x)
{
    size_t ops = x->trace->ops.count;
    for (uint32_t e = 0; e < x->events; e++) {
        assert(x->loc[e] < x->locations && x->group[e] < x->groups);
        if (is_initial(x, e))
            assert(x->is_store[e] && x->loc[e] == e && x->group[e] == 0 && x->op[e] == NONE);
        else
            assert(x->group[e] > 0 && x->op[e] < ops);
    }
}

static void check_groups(const struct execution *x)
{
    assert(x->group_first[0] == 0 && x->group_first[x->groups] == x->events);
    assert(x->thread_first[0] == 1 && x->thread_first[x->threads] == x->groups);
    for (uint32_t t = 0, g = 0; g < x->groups; g++) {
        uint8_t flags = x->group_flags[g] & (uint8_t) ~(GROUP_LOADS | GROUP_STORES);
        assert(g == 0 || x->group_first[g] < x->group_first[g + 1]);
        for (uint32_t e = x->group_first[g]; e < x->group_first[g + 1]; e++) {
            assert(x->group[e] == g);
            flags |= x->is_store[e] ? GROUP_STORES : GROUP_LOADS;
        }
        assert(x->group_flags[g] == (g ? flags : GROUP_STORES));
        while (g && g >= x->thread_first[t + 1])
            t++;
        assert(x->thread_of[g] == (g ? t : NONE));
        assert(g < 2 || x->instruction[g - 1] <= x->instruction[g]);
    }
}

/* What stands between and across groups. */
static void check_relations(const struct execution *x)
{
    for (uint32_t i = 0; i < x->barriers; i++) {
        assert(x->barrier[i].group >= 1 && x->barrier[i].group <= x->groups);
        assert(i == 0 || x->barrier[i - 1].group <= x->barrier[i].group);
        assert(x->barrier[i].mask && x->barrier[i].mask <= ORDEAL_FULL);
    }
    for (uint32_t i = 0; i < x->dependences; i++) {
        struct dependence d = x->dependence[i];
        assert(d.from && d.from < d.to && d.to < x->groups);
        assert(x->thread_of[d.from] == x->thread_of[d.to]);
        assert(i == 0 || x->dependence[i - 1].to <= d.to);
        assert(d.use < ORDEAL_REGISTER_USES && d.use != ORDEAL_REGISTER_WRITTEN);
    }
    for (uint32_t i = 0; i < x->reservations; i++) {
        struct reservation r = x->reservation[i];
        assert(r.first < r.end && x->group[r.end - 1] < r.group && r.group < x->groups);
        assert(x->thread_of[x->group[r.first]] == x->thread_of[r.group]);
        assert(i == 0 || x->reservation[i - 1].group < r.group);
    }
}

static void check_candidates(const struct execution *x)
{
    uint32_t most = 0;
    assert(x->candidate_first[0] == 0 && x->candidate_first[x->events] == x->candidates);
    for (uint32_t e = 0; e < x->events; e++) {
        uint32_t first = x->candidate_first[e], end = x->candidate_first[e + 1];
        assert(first <= end && (!x->is_store[e] || first == end));
        assert(x->is_store[e] || first < end || x->unwritten <= e);
        most = end - first > most ? end - first : most;
        for (uint32_t i = first; i < end; i++) {
            uint32_t store = x->candidate[i];
            assert(store < x->events && x->is_store[store]);
            assert(x->loc[store] == x->loc[e] && x->value[store] == x->value[e]);
        }
    }
    assert(x->unique == (most <= 1));
    assert(x->unwritten == NONE || !x->is_store[x->unwritten]);
}

/* What the trace says of stores. */
static void check_facts(const struct execution *x)
{
    assert(x->order_first[0] == 0 && x->order_first[x->orders] == x->order_stores);
    for (uint32_t k = 0; k < x->orders; k++)
        for (uint32_t i = x->order_first[k]; i < x->order_first[k + 1]; i++) {
            uint32_t store = x->order[i], first = x->order[x->order_first[k]];
            assert(!is_initial(x, store) && store < x->events && x->is_store[store]);
            assert(x->loc[store] == x->loc[first]);
        }
    for (uint32_t k = 0, stores = 0; k < x->finals; k++) {
        const struct final *f = &x->final[k];
        assert(f->loc < x->locations && f->source < x->trace->finals.count);
        assert(f->first == stores && f->count <= x->final_stores - stores);
        assert(f->count || x->unwritten_final <= k);
        for (; stores < f->first + f->count; stores++)
            assert(x->is_store[x->final_store[stores]]
                   && x->loc[x->final_store[stores]] == f->loc);
    }
}

void execution_check(const struct execution *x)
{
    check_locations(x);
    check_events(x);
    check_groups(x);
    check_relations(x);
    check_candidates(x);
    check_facts(x);
}

/* ---- graphs -------------------------------------------------------------------------- */

static uint64_t edge_hash(uint32_t from, uint32_t to)
{
    uint64_t hash = ((uint64_t)from << 32 | to) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ hash >> 29) * UINT64_C(0xd6e8feb86659fd93);
}

/* Both ways the same edges: a sum over them tells. */
static void check_edges(const struct graph *g)
{
    uint64_t out = 0, in = 0;
    assert(g->succ_first[0] == 0 && g->succ_first[g->nodes] == g->edges);
    assert(g->pred_first[0] == 0 && g->pred_first[g->nodes] == g->edges);
    for (uint32_t n = 0; n < g->nodes; n++) {
        assert(g->succ_first[n] <= g->succ_first[n + 1]);
        assert(g->pred_first[n] <= g->pred_first[n + 1]);
        for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++) {
            assert(g->succ[i] < g->nodes);
            out += edge_hash(n, g->succ[i]);
        }
        for (uint32_t i = g->pred_first[n]; i < g->pred_first[n + 1]; i++) {
            assert(g->pred[i] < g->nodes);
            in += edge_hash(g->pred[i], n);
        }
    }
    assert(out == in);
}

/* Of a node's accesses: their cells, and that the tables lead back to the node. */
static void check_accesses(const struct graph *g)
{
    const struct execution *x = g->x;
    uint32_t writes = 0;
    assert(g->access_first[0] == 0 && g->access_first[g->nodes] == g->accesses);
    for (uint32_t n = 0; n < g->nodes; n++) {
        uint32_t first = g->access_first[n], end = g->access_first[n + 1];
        assert(first <= end && (g->kind.data[n] == NODE_REAL || first == end));
        assert(g->kind.data[n] != NODE_REAL || n == 0 || first < end);
        for (uint32_t i = first; i < end; i++) {
            struct access a = g->access[i];
            assert(a.event < x->events && a.slot < cells_of(g, x->loc[a.event]));
            bool own = g->slot_thread || x->group[a.event] == n;
            assert(i == first || g->access[i - 1].event <= a.event);
            assert(own || (!x->is_store[a.event] && reservation_of(x, n))); /* what an LR saw */
            if (x->is_store[a.event])
                assert(g->store_node[g->store_first[a.event] + a.slot] == n);
            writes += x->is_store[a.event];
        }
    }
    assert(writes == g->stores);
}

static void check_stores(const struct graph *g)
{
    const struct execution *x = g->x;
    assert(g->cell_first[0] == 0 && g->store_first[0] == 0);
    assert(g->store_first[x->events] == g->stores);
    for (uint32_t l = 0; l < x->locations; l++)
        assert(g->slot_thread ? cells_of(g, l) >= 1 : cells_of(g, l) == 1);
    for (uint32_t e = 0; e < x->events; e++) {
        uint32_t ids = g->store_first[e + 1] - g->store_first[e];
        assert(ids == (x->is_store[e] ? cells_of(g, x->loc[e]) : 0));
        assert(x->is_store[e] || node_of_load(g, e) < g->nodes);
    }
}

void graph_check(const struct graph *g)
{
    assert(g->kind.count == g->nodes && g->nodes > 0 && g->kind.data[0] == NODE_REAL);
    assert(!g->slot_thread == !g->load_node && !g->slot_thread == !g->model->views);
    check_edges(g);
    check_stores(g);
    check_accesses(g);
}
