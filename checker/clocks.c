/* SPDX-License-Identifier: Apache-2.0 */
#include "clocks.h"

#include <string.h>

#define NEVER INT32_MAX
#define CLOCK_BYTES_MAX ((size_t)16 << 30)

/* Four clocks at a time; rows are a whole number of these. */
typedef int32_t lanes __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint32_t sets __attribute__((vector_size(16), aligned(4), may_alias));
enum { LANES = 4 };

static int32_t *row_of(const struct clocks *c, uint32_t node)
{
    return c->clock + (size_t)c->position[node] * c->stride;
}

static bool is_done(const struct clocks *c, uint32_t node) { return c->done && c->done[node]; }

/* ---- memory -------------------------------------------------------------------------- */

void *clocks_array(struct clocks *c, size_t count, size_t size)
{
    if (!VEC_RESERVE(c->o, &c->blocks, c->blocks.count + 1))
        return NULL;
    void *data = mem_array(c->o, count, size);
    if (data) {
        c->blocks.data[c->blocks.count].data = data;
        c->blocks.data[c->blocks.count++].bytes = count * size;
    }
    return data;
}

static void *zeroed(struct clocks *c, size_t count, size_t size)
{
    void *data = clocks_array(c, count, size);
    return data ? memset(data, 0, count * size) : NULL;
}

static void *all_none(struct clocks *c, size_t count)
{
    void *data = clocks_array(c, count, sizeof(uint32_t));
    return data ? memset(data, 0xff, count * sizeof(uint32_t)) : NULL;
}

static bool bits_make(struct clocks *c, struct bits *b, size_t size)
{
    do {
        size = size / 64 + 1;
        assert(b->levels < BITS_LEVELS);
        b->level[b->levels] = zeroed(c, size, sizeof(uint64_t));
        if (!b->level[b->levels++])
            return false;
    } while (size > 1);
    return true;
}

static void bits_set(struct bits *b, uint32_t i)
{
    for (unsigned l = 0; l < b->levels; l++, i /= 64) {
        uint64_t *word = &b->level[l][i / 64], old = *word;
        *word = old | (uint64_t)1 << i % 64;
        if (old)
            return;
    }
}

static bool bits_pop(struct bits *b, uint32_t *largest)
{
    uint32_t i = 0;
    if (b->level[b->levels - 1][0] == 0)
        return false;
    for (unsigned l = b->levels; l-- > 0;) {
        assert_hot(b->level[l][i]); /* what a level marks is there below */
        i = i * 64 + 63 - (uint32_t)__builtin_clzll(b->level[l][i]);
    }
    *largest = i;
    for (unsigned l = 0; l < b->levels; l++, i /= 64)
        if (b->level[l][i / 64] &= ~((uint64_t)1 << i % 64))
            break;
    return true;
}

/* Counts at [i + 1] become offsets at [i]. */
static void sum_up(uint32_t *first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        first[i + 1] += first[i];
}

/* ---- topological order --------------------------------------------------------------- */

/* Kahn's sort; a cycle is there when not all nodes come out. */
static bool sort_nodes(struct clocks *c)
{
    const struct graph *g = c->g;
    c->at = clocks_array(c, g->nodes, sizeof *c->at);
    c->position = zeroed(c, g->nodes, sizeof *c->position);
    if (!c->at || !c->position)
        return false;
    c->cyclic = g->pred_first[0] < g->pred_first[1]; /* nothing is before the root */
    if (c->cyclic)
        return true;
    uint32_t *indegree = c->position, count = 0;
    for (uint32_t n = 1; n < g->nodes; n++)
        for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++)
            indegree[g->succ[i]]++;
    for (uint32_t n = 1; n < g->nodes; n++)
        if (indegree[n] == 0)
            c->at[count++] = n;
    for (uint32_t done = 0; done < count; done++) {
        uint32_t n = c->at[done];
        for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++) {
            assert(indegree[g->succ[i]] > 0);
            if (--indegree[g->succ[i]] == 0)
                c->at[count++] = g->succ[i];
        }
    }
    assert(count < g->nodes);
    c->cyclic = count + 1 < g->nodes;
    for (uint32_t i = 0; i < count && !c->cyclic; i++)
        c->position[c->at[i]] = i;
    check_hot(clocks_check_order(c));
    return true;
}

/* ---- chains: virtual SC processors --------------------------------------------------- */

struct tail { uint32_t length, mark; bool writes; };
struct reach { uint32_t chain, length; };   /* after that node of the thread's chain */

struct chaining {
    struct clocks *c;
    uint32_t *thread;                       /* by node; NONE: of none or several */
    uint32_t *by_thread;                    /* nodes, in topological order for each thread */
    uint32_t *reach_first, *reach_count;    /* by node, into `reach` */
    VEC(struct reach) reach;
    VEC(struct tail) tails;                 /* of the current thread */
};

/* A node that is not real belongs where all its predecessors do. */
static uint32_t thread_of_node(const struct chaining *k, uint32_t node)
{
    const struct graph *g = k->c->g;
    if (g->kind.data[node] == NODE_REAL)
        return event_thread(g->x, g->access[g->access_first[node]].event);
    uint32_t i = g->pred_first[node], end = g->pred_first[node + 1];
    uint32_t thread = i < end ? k->thread[g->pred[i]] : NONE;
    for (; i < end; i++)
        if (k->thread[g->pred[i]] != thread)
            return NONE;
    return thread;
}

static bool node_writes(const struct graph *g, uint32_t node)
{
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++)
        if (g->x->is_store[g->access[i].event])
            return true;
    return false;
}

/* The chains whose last node is before this one. */
static bool find_tails(struct chaining *k, uint32_t node)
{
    const struct graph *g = k->c->g;
    k->reach_first[node] = (uint32_t)k->reach.count;
    for (uint32_t i = g->pred_first[node]; i < g->pred_first[node + 1]; i++) {
        uint32_t p = g->pred[i];
        if (p == 0 || k->thread[p] != k->thread[node])
            continue;
        for (uint32_t j = 0; j < k->reach_count[p]; j++) {
            struct reach r = k->reach.data[k->reach_first[p] + j];
            struct tail *tail = &k->tails.data[r.chain];
            assert(r.chain < k->tails.count && r.length <= tail->length);
            if (tail->length != r.length || tail->mark == node)
                continue;
            tail->mark = node;
            if (!VEC_PUSH(k->c->o, &k->reach, r))
                return false;
        }
    }
    k->reach_count[node] = (uint32_t)(k->reach.count - k->reach_first[node]);
    return true;
}

static bool new_chain(struct chaining *k, uint32_t node)
{
    struct clocks *c = k->c;
    c->chains++;
    if (c->chains > CLOCK_BYTES_MAX / sizeof *c->clock / c->g->nodes) {
        fail(c->o, ORDEAL_LIMIT, "vector clocks would need more than %zu GB: over %u chains for %u "
             "nodes", CLOCK_BYTES_MAX >> 30, c->chains, c->g->nodes);
        return false;
    }
    k->reach_count[node]++;
    return VEC_PUSH(c->o, &k->reach, ((struct reach){ (uint32_t)k->tails.count, 0 }))
        && VEC_PUSH(c->o, &k->tails, ((struct tail){ 0, NONE, false }));
}

/* Loads follow loads and stores stores where there is a choice, so that a load is not put behind a
 * store that the next load may overtake. */
static bool extend_chain(struct chaining *k, uint32_t node, uint32_t first_chain)
{
    struct clocks *c = k->c;
    bool writes = node_writes(c->g, node);
    if (k->reach_count[node] == 0 && !new_chain(k, node))
        return false;
    struct reach *reach = &k->reach.data[k->reach_first[node]];
    uint32_t best = 0;
    while (best < k->reach_count[node] && k->tails.data[reach[best].chain].writes != writes)
        best++;
    if (best == k->reach_count[node])
        best = 0;
    struct tail *tail = &k->tails.data[reach[best].chain];
    assert(reach[best].length == tail->length); /* the node before it is the last there */
    c->chain[node] = first_chain + reach[best].chain;
    c->index[node] = tail->length++;
    tail->writes = writes;
    reach[best].length = tail->length;
    return true;
}

static bool chain_nodes(struct chaining *k)
{
    struct clocks *c = k->c;
    const struct graph *g = c->g;
    uint32_t threads = g->x->threads;
    uint32_t *first = zeroed(c, (size_t)threads + 2, sizeof *first);
    if (!first)
        return false;
    for (uint32_t i = 0; i + 1 < g->nodes; i++) {
        uint32_t n = c->at[i];
        k->thread[n] = thread_of_node(k, n);
        if (k->thread[n] != NONE)
            first[k->thread[n] + 2]++;
    }
    sum_up(first, (size_t)threads + 1);
    for (uint32_t i = 0; i + 1 < g->nodes; i++)
        if (k->thread[c->at[i]] != NONE)
            k->by_thread[first[k->thread[c->at[i]] + 1]++] = c->at[i];
    for (uint32_t t = 0; t < threads; t++) {
        uint32_t first_chain = c->chains;
        k->tails.count = k->reach.count = 0;
        for (uint32_t i = first[t]; i < first[t + 1]; i++) {
            uint32_t n = k->by_thread[i];
            if (!find_tails(k, n)
                || (g->kind.data[n] == NODE_REAL && !extend_chain(k, n, first_chain))
                || limit_hit(c->o, "finding chains", -1))
                return false;
        }
    }
    return true;
}

static bool make_chains(struct clocks *c)
{
    uint32_t nodes = c->g->nodes;
    size_t bytes = nodes * sizeof(uint32_t);
    c->chain = all_none(c, nodes);
    c->index = all_none(c, nodes);
    struct chaining k = { .c = c, .thread = mem_array(c->o, nodes, sizeof(uint32_t)),
                          .by_thread = mem_array(c->o, nodes, sizeof(uint32_t)),
                          .reach_first = mem_array(c->o, nodes, sizeof(uint32_t)),
                          .reach_count = mem_zero(c->o, nodes, sizeof(uint32_t)) };
    bool ok = c->chain && c->index && k.thread && k.by_thread && k.reach_first && k.reach_count;
    if (ok) {
        k.thread[0] = NONE;
        ok = chain_nodes(&k);
    }
    mem_free(c->o, k.thread, bytes);
    mem_free(c->o, k.by_thread, bytes);
    mem_free(c->o, k.reach_first, bytes);
    mem_free(c->o, k.reach_count, bytes);
    VEC_FREE(c->o, &k.reach);
    VEC_FREE(c->o, &k.tails);
    return ok;
}

/* ---- sites --------------------------------------------------------------------------- */

static uint32_t store_id(const struct graph *g, uint32_t store, uint32_t slot)
{
    return g->store_first[store] + slot;
}

/* The store that the access writes or, from another node, saw; NONE where nobody else can tell: a
 * write that its own node overwrites, a read of such a write. */
static uint32_t seen_or_written(const struct clocks *c, const bool *overwritten, uint32_t node,
                                struct access a)
{
    const struct graph *g = c->g;
    uint32_t store = g->x->is_store[a.event] ? a.event : source_of(g->x, a.event);
    uint32_t id = store_id(g, store, a.slot);
    bool own = g->store_node[id] == node;
    return g->x->is_store[a.event] ? (overwritten[id] ? NONE : store) : (own ? NONE : store);
}

/* By store id: a later write of its own node hides it. To see it from outside breaks R6. */
static bool *find_overwritten(struct clocks *c)
{
    const struct graph *g = c->g;
    bool *overwritten = zeroed(c, g->stores, sizeof *overwritten);
    uint32_t *last = all_none(c, c->cells);
    if (!overwritten || !last)
        return NULL;
    for (uint32_t n = 1; n < g->nodes; n++)
        for (uint32_t i = g->access_first[n]; i < g->access_first[n + 1]; i++) {
            struct access a = g->access[i];
            if (!g->x->is_store[a.event])
                continue;
            uint32_t *id = &last[cell_of(g, a)];
            if (*id != NONE && g->store_node[*id] == n)
                overwritten[*id] = true;
            *id = store_id(g, a.event, a.slot);
        }
    return overwritten;
}

/* Nodes chain by chain in order of index. */
static uint32_t *nodes_by_chain(struct clocks *c)
{
    uint32_t nodes = c->g->nodes;
    uint32_t *first = zeroed(c, (size_t)c->chains + 2, sizeof *first);
    uint32_t *sorted = clocks_array(c, nodes, sizeof *sorted);
    if (!first || !sorted)
        return NULL;
    for (uint32_t n = 1; n < nodes; n++)
        if (c->chain[n] != NONE)
            first[c->chain[n] + 1]++;
    sum_up(first, c->chains);
    memset(sorted, 0xff, nodes * sizeof *sorted);
    for (uint32_t n = 1; n < nodes; n++)
        if (c->chain[n] != NONE)
            sorted[first[c->chain[n]] + c->index[n]] = n;
    check_hot(clocks_check_chains(c, sorted));
    return sorted;
}

/* Sites by cell, chain, index and, in a node, program order. */
static bool make_sites(struct clocks *c)
{
    const struct graph *g = c->g;
    const bool *overwritten = find_overwritten(c);
    const uint32_t *sorted = overwritten ? nodes_by_chain(c) : NULL;
    uint32_t *first = zeroed(c, (size_t)c->cells + 2, sizeof *first);
    if (!sorted || !first)
        return false;
    for (uint32_t n = 1; n < g->nodes; n++)
        for (uint32_t i = g->access_first[n]; i < g->access_first[n + 1]; i++)
            if (seen_or_written(c, overwritten, n, g->access[i]) != NONE)
                first[cell_of(g, g->access[i]) + 2]++;
    sum_up(first, (size_t)c->cells + 1);
    c->sites = first[c->cells + 1];
    c->site = clocks_array(c, c->sites, sizeof *c->site);
    c->site_index = clocks_array(c, c->sites, sizeof *c->site_index);
    if (!c->site || !c->site_index)
        return false;
    for (uint32_t j = 0; j < g->nodes && sorted[j] != NONE; j++) {
        uint32_t n = sorted[j];
        for (uint32_t i = g->access_first[n]; i < g->access_first[n + 1]; i++) {
            struct access a = g->access[i];
            uint32_t store = seen_or_written(c, overwritten, n, a), cell = cell_of(g, a);
            if (store == NONE)
                continue;
            uint32_t s = first[cell + 1]++;
            assert(s < first[cell + 2]);
            uint32_t writer = node_of_store(g, store, a.slot);
            c->site[s] = (struct site){ n, store, cell, !g->x->is_store[a.event], c->chain[writer],
                                        c->index[writer] };
            c->site_index[s] = (int32_t)c->index[n];
        }
    }
    return true;
}

static bool starts_run(const struct clocks *c, uint32_t s)
{
    return s == 0 || c->site[s - 1].cell != c->site[s].cell
        || c->chain[c->site[s - 1].node] != c->chain[c->site[s].node];
}

static bool make_runs(struct clocks *c)
{
    for (uint32_t s = 0; s < c->sites; s++)
        c->runs += starts_run(c, s);
    c->run = clocks_array(c, c->runs, sizeof *c->run);
    c->cursor = clocks_array(c, c->runs, sizeof *c->cursor);
    c->run_first = zeroed(c, (size_t)c->cells + 1, sizeof *c->run_first);
    if (!c->run || !c->cursor || !c->run_first)
        return false;
    uint32_t r = 0;
    for (uint32_t s = 0; s < c->sites; s++)
        if (starts_run(c, s)) {
            c->run_first[c->site[s].cell + 1]++;
            c->run[r] = (struct run){ c->chain[c->site[s].node], s, c->sites };
            c->cursor[r] = s;
            if (r++ > 0)
                c->run[r - 2].end = s;
        }
    assert(r == c->runs);
    sum_up(c->run_first, c->cells);
    for (r = 0; r < c->runs; r++)
        for (uint32_t s = c->run[r].end; s-- > c->run[r].first;) {
            struct site *site = &c->site[s];
            if (site_writes(site))
                continue;
            bool again = s + 1 < c->run[r].end && !site_writes(site + 1)
                      && site[1].event == site->event;
            site->skip = again ? site[1].skip : s + 1;
        }
    return true;
}

/* Which sites a node writes at, and which store ids it saw. */
static bool index_nodes(struct clocks *c)
{
    const struct graph *g = c->g;
    uint32_t nodes = g->nodes, writes = 0;
    c->write_first = zeroed(c, (size_t)nodes + 2, sizeof *c->write_first);
    c->read_first = zeroed(c, (size_t)nodes + 2, sizeof *c->read_first);
    for (uint32_t s = 0; s < c->sites; s++)
        writes += site_writes(&c->site[s]);
    c->write = clocks_array(c, writes, sizeof *c->write);
    c->read = clocks_array(c, c->sites - writes, sizeof *c->read);
    if (!c->write_first || !c->read_first || !c->write || !c->read)
        return false;
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t s = 0; s < c->sites; s++) {
            const struct site *site = &c->site[s];
            /* Reads of one cell in one node stand together; they saw the same, or else R4 and
             * R6 close a cycle. */
            bool repeated = !site_writes(site) && !starts_run(c, s) && site[-1].node == site->node;
            uint32_t *first = site_writes(site) ? c->write_first : c->read_first;
            if (repeated)
                continue;
            if (!fill)
                first[site->node + 2]++;
            else if (site_writes(site))
                c->write[first[site->node + 1]++] = s;
            else
                c->read[first[site->node + 1]++] =
                    store_id(g, site->event, site->cell - g->cell_first[g->x->loc[site->event]]);
        }
        if (!fill) {
            sum_up(c->write_first, (size_t)nodes + 1);
            sum_up(c->read_first, (size_t)nodes + 1);
        }
    }
    return true;
}

/* By store id, the last reader in each chain: those before it follow by transitivity. */
static bool find_readers(struct clocks *c)
{
    const struct graph *g = c->g;
    uint32_t *mark = clocks_array(c, g->stores, sizeof *mark);
    c->reader_first = zeroed(c, (size_t)g->stores + 2, sizeof *c->reader_first);
    if (!mark || !c->reader_first)
        return false;
    for (int fill = 0; fill < 2; fill++) {
        memset(mark, 0xff, g->stores * sizeof *mark);
        for (uint32_t r = c->runs; r-- > 0;)
            for (uint32_t s = c->run[r].end; s-- > c->run[r].first;) {
                const struct site *site = &c->site[s];
                if (site_writes(site))
                    continue;
                uint32_t id = store_id(g, site->event,
                                       site->cell - g->cell_first[g->x->loc[site->event]]);
                if (mark[id] == r)
                    continue;
                mark[id] = r;
                if (fill)
                    c->reader[c->reader_first[id + 1]++] = site->node;
                else
                    c->reader_first[id + 2]++;
            }
        if (!fill) {
            sum_up(c->reader_first, (size_t)g->stores + 1);
            c->reader = clocks_array(c, c->reader_first[g->stores + 1], sizeof *c->reader);
            if (!c->reader)
                return false;
        }
    }
    return true;
}

/* ---- clocks -------------------------------------------------------------------------- */

static bool make_clocks(struct clocks *c)
{
    uint32_t nodes = c->g->nodes;
    c->stride = (c->chains + LANES - 1) / LANES * LANES;
    c->clock = clocks_array(c, (size_t)nodes * c->stride, sizeof *c->clock);
    c->out = all_none(c, nodes);
    c->in = all_none(c, nodes);
    if (!c->clock || !c->out || !c->in || !bits_make(c, &c->dirty, nodes)
        || !bits_make(c, &c->stale, c->sites)
        || !(c->changed = zeroed(c, nodes, sizeof *c->changed))
        || !(c->unruled = zeroed(c, c->sites, sizeof *c->unruled))
        || !(c->cover = all_none(c, c->sites))
        || !(c->no_cover = clocks_array(c, c->stride, sizeof *c->no_cover)))
        return false;
    memset(c->unruled, 0xff, c->sites * sizeof *c->unruled);
    size_t size = (size_t)nodes * c->stride;
    for (size_t i = 0; i < size; i++)
        c->clock[i] = NEVER;
    for (uint32_t k = 0; k < c->stride; k++)
        c->no_cover[k] = NEVER;
    for (uint32_t i = 0; i + 1 < nodes; i++)
        bits_set(&c->dirty, i);
    return true;
}

static bool in_set(const struct chain_set *set, uint32_t chain)
{
    return set->part[chain % LANES] >> chain / LANES % 32 & 1;
}

static void add_set(struct chain_set *to, const struct chain_set *from)
{
    for (int i = 0; i < LANES; i++)
        to->part[i] |= from->part[i];
}

/* to = min(to, from); `changed` gains what changed. Did anything? */
static bool merge(int32_t *restrict to, const int32_t *restrict from, uint32_t stride,
                  struct chain_set *changed)
{
    sets news = { 0 }, bit = { 1, 1, 1, 1 };
    for (uint32_t i = 0; i < stride; i += LANES) {
        lanes a = *(const lanes *)(to + i), b = *(const lanes *)(from + i);
        lanes less = b < a;
        *(lanes *)(to + i) = (b & less) | (a & ~less);
        news |= (sets)less & bit;
        bit = bit << 1 | bit >> 31;
    }
    *(sets *)changed->part |= news;
    return (news[0] | news[1] | news[2] | news[3]) != 0;
}

static bool record(struct clocks *c, uint32_t node, uint32_t chain)
{
    return !c->recording
        || VEC_PUSH(c->o, &c->changes,
                    ((struct change){ node, chain, row_of(c, node)[chain] }));
}

static bool record_row(struct clocks *c, uint32_t node, const int32_t *from)
{
    const int32_t *to = row_of(c, node);
    for (uint32_t k = 0; c->recording && k < c->stride; k++)
        if (from[k] < to[k] && !record(c, node, k))
            return false;
    return true;
}

/* `from` is before `to`: take over its clock. */
static bool pull(struct clocks *c, uint32_t from, uint32_t to)
{
    assert(from != 0 && to != 0); /* the root has no clock */
    int32_t *row = row_of(c, from);
    const int32_t *next = row_of(c, to);
    if (!record_row(c, from, next))
        return false;
    bool changed = merge(row, next, c->stride, &c->changed[from]);
    uint32_t k = c->chain[to];
    if (k != NONE && row[k] > (int32_t)c->index[to]) {
        if (!record(c, from, k))
            return false;
        row[k] = (int32_t)c->index[to];
        c->changed[from].part[k % LANES] |= (uint32_t)1 << k / LANES % 32;
        changed = true;
    }
    if (changed) {
        bits_set(&c->dirty, c->position[from]);
        if (c->chain[from] != NONE && row[c->chain[from]] <= (int32_t)c->index[from])
            c->cyclic = true;
    }
    return true;
}

static bool pull_all(struct clocks *c, uint32_t to)
{
    const struct graph *g = c->g;
    for (uint32_t i = g->pred_first[to]; i < g->pred_first[to + 1]; i++)
        if (g->pred[i] != 0 && !is_done(c, g->pred[i]) && !pull(c, g->pred[i], to))
            return false;
    for (uint32_t l = c->in[to]; l != NONE; l = c->links.data[l].next_in)
        if (!is_done(c, c->links.data[l].from) && !pull(c, c->links.data[l].from, to))
            return false;
    return true;
}

/* Let all predecessors know of changes, the last nodes first. */
static bool propagate(struct clocks *c)
{
    uint32_t position;
    while (!c->cyclic && bits_pop(&c->dirty, &position)) {
        uint32_t node = c->at[position];
        for (uint32_t i = c->write_first[node]; i < c->write_first[node + 1]; i++) {
            add_set(&c->unruled[c->write[i]], &c->changed[node]);
            bits_set(&c->stale, c->write[i]);
        }
        c->changed[node] = (struct chain_set){ 0 };
        if (!pull_all(c, node) || limit_hit(c->o, "clocks", -1))
            return false;
    }
    return true;
}

bool clocks_add(struct clocks *c, uint32_t from, uint32_t to)
{
    assert(from != 0 && from < c->g->nodes && to < c->g->nodes);
    bool loop = from == to || to == 0;
    if ((!loop && clocks_before(c, from, to)) || is_done(c, from))
        return true;
    if (loop || is_done(c, to) || clocks_before(c, to, from)) {
        c->cyclic = true;
        return true;
    }
    uint32_t link = (uint32_t)c->links.count;
    if (!VEC_PUSH(c->o, &c->links, ((struct link){ from, to, c->out[from], c->in[to] })))
        return false;
    c->out[from] = c->in[to] = link;
    return pull(c, from, to);
}

/* ---- rules R6 and R7 ----------------------------------------------------------------- */

/* First site of run r with an index of at least `least`; there is one. The search gallops from
 * where the last one ended: the stores of a cell are ruled chain by chain and in order. */
static uint32_t first_site(struct clocks *c, uint32_t r, int32_t least)
{
    const int32_t *index = c->site_index;
    uint32_t low = c->run[r].first, high = c->run[r].end - 1, at = c->cursor[r], step = 1;
    assert_hot(at >= low && at <= high && index[high] >= least);
    if (index[at] >= least) {
        for (high = at; high - low >= step && index[high - step] >= least; step *= 2)
            high -= step;
        low = high - low >= step ? high - step + 1 : low;
    } else {
        for (low = at + 1; high - low >= step && index[low + step - 1] < least; step *= 2)
            low += step;
        high = high - low >= step ? low + step - 1 : high;
    }
    for (uint32_t count = high - low + 1; count > 1;) {
        uint32_t half = count / 2;
        low += half & -(uint32_t)(index[low + half - 1] < least); /* no branch to mispredict */
        count -= half;
    }
    assert_hot(index[low] >= least && (low == c->run[r].first || index[low - 1] < least));
    return c->cursor[r] = low;
}

/* Store a is before store b, in all views alike (PC's Coherence axiom). */
static bool order_stores(struct clocks *c, uint32_t a, uint32_t b)
{
    const struct graph *g = c->g;
    for (uint32_t s = 0; s < cells_of(g, g->x->loc[a]); s++)
        if (!clocks_add(c, node_of_store(g, a, s), node_of_store(g, b, s)))
            return false;
    return true;
}

/* R7: who saw the store comes before the one that overwrites it, given by chain and index too. */
static bool readers_first(struct clocks *c, uint32_t id, const struct site *overwriter)
{
    for (uint32_t i = c->reader_first[id]; i < c->reader_first[id + 1]; i++) {
        uint32_t reader = c->reader[i];
        if (row_of(c, reader)[overwriter->chain] > (int32_t)overwriter->index
            && reader != overwriter->node && !clocks_add(c, reader, overwriter->node))
            return false;
    }
    return true;
}

/* A write of the cell that is known to be after this one, and its clock: what that one reaches is
 * its own to be ruled, for all the rules say of this one follows. */
static const int32_t *cover_of(const struct clocks *c, uint32_t s)
{
    uint32_t later = c->cover[s];
    if (later == NONE || !clocks_before(c, c->site[s].node, c->site[later].node))
        return c->no_cover;
    return row_of(c, c->site[later].node);
}

static bool is_nearer(const struct clocks *c, uint32_t a, uint32_t b)
{
    return b == NONE || c->position[c->site[a].node] < c->position[c->site[b].node];
}

/* R6 or R7 at a site that the store is before. */
static bool apply_rule(struct clocks *c, const struct site *store, uint32_t id,
                       const struct site *site)
{
    const int32_t *row = row_of(c, store->node);
    bool known = site->chain != NONE && row[site->chain] <= (int32_t)site->index;
    if ((!known || c->g->slot_thread) && !order_stores(c, store->event, site->event)) /* R6 */
        return false;
    return !site_writes(site) || readers_first(c, id, site);
}

/* Fig. 4.5, lines 4 to 23. Of each chain only the first site after the store matters, be it a
 * load or a store, unless it reads the store itself: by Theorem 4.2 the rules at later ones follow
 * from the rules for the store seen or written there. */
static bool apply_rules(struct clocks *c, uint32_t s)
{
    const struct graph *g = c->g;
    const struct site *store = &c->site[s];
    assert(site_writes(store));
    const int32_t *row = row_of(c, store->node), *covered = cover_of(c, s);
    uint32_t id = store_id(g, store->event, store->cell - g->cell_first[g->x->loc[store->event]]);
    struct chain_set changed = c->unruled[s];
    c->unruled[s] = (struct chain_set){ 0 };
    for (uint32_t r = c->run_first[store->cell]; r < c->run_first[store->cell + 1]; r++) {
        const struct run *run = &c->run[r];
        int32_t from = row[run->chain], end = covered[run->chain];
        if (!in_set(&changed, run->chain) || from >= end || from > c->site_index[run->end - 1])
            continue;
        uint32_t found = first_site(c, r, from);
        if (c->site_index[found] >= end)
            continue;
        if (!site_writes(&c->site[found]) && c->site[found].event == store->event)
            found = c->site[found].skip;
        assert(found >= run->first && found <= run->end);
        if (found == run->end)
            continue;
        if (!apply_rule(c, store, id, &c->site[found]))
            return false;
        if (c->cyclic)
            break;
        if (site_writes(&c->site[found]) && is_nearer(c, found, c->cover[s])) {
            c->cover[s] = found;
            covered = row_of(c, c->site[found].node);
        }
    }
    return true;
}

static uint32_t first_write(const struct clocks *c, const struct run *run)
{
    for (uint32_t s = run->first; s < run->end; s++)
        if (site_writes(&c->site[s]))
            return s;
    return NONE;
}

/* R7 for the initial stores: they are before all others, and have no clock to say so. */
static bool apply_root(struct clocks *c)
{
    const struct graph *g = c->g;
    for (uint32_t l = 0; l < g->x->locations; l++)
        for (uint32_t s = 0; s < cells_of(g, l); s++) {
            uint32_t id = store_id(g, l, s), cell = g->cell_first[l] + s;
            if (c->reader_first[id] == c->reader_first[id + 1])
                continue;
            for (uint32_t r = c->run_first[cell]; r < c->run_first[cell + 1]; r++) {
                uint32_t w = first_write(c, &c->run[r]);
                if (w != NONE && !readers_first(c, id, &c->site[w]))
                    return false;
            }
        }
    return true;
}

static void forget_work(struct clocks *c)
{
    uint32_t ignored;
    while (bits_pop(&c->dirty, &ignored))
        ;
    while (bits_pop(&c->stale, &ignored))
        ;
}

enum ordeal_status clocks_fixpoint(struct clocks *c)
{
    uint32_t site;
    for (bool more = true; more && !c->cyclic;) {
        if (!propagate(c))
            return c->o->error.status;
        more = false;
        while (!c->cyclic && bits_pop(&c->stale, &site)) {
            more = true;
            if (!apply_rules(c, site) || limit_hit(c->o, "rules R6 and R7", -1))
                return c->o->error.status;
        }
    }
    if (c->cyclic)
        forget_work(c);
    assert(c->dirty.level[c->dirty.levels - 1][0] == 0);
    assert(c->stale.level[c->stale.levels - 1][0] == 0);
    return ORDEAL_OK;
}

enum ordeal_status clocks_baseline(struct clocks *c)
{
    if (c->cyclic)
        return ORDEAL_OK;
    if (!propagate(c) || !apply_root(c))
        return c->o->error.status;
    enum ordeal_status status = clocks_fixpoint(c);
    if (status == ORDEAL_OK)
        check_hot(clocks_check(c));
    return status;
}

struct clocks_mark clocks_mark(const struct clocks *c)
{
    return (struct clocks_mark){ c->links.count, c->changes.count };
}

void clocks_undo(struct clocks *c, struct clocks_mark mark)
{
    assert(mark.links <= c->links.count && mark.changes <= c->changes.count);
    while (c->links.count > mark.links) {
        const struct link *l = &c->links.data[--c->links.count];
        assert(c->out[l->from] == c->links.count && c->in[l->to] == c->links.count);
        c->out[l->from] = l->next_out;
        c->in[l->to] = l->next_in;
    }
    while (c->changes.count > mark.changes) {
        const struct change *change = &c->changes.data[--c->changes.count];
        assert(row_of(c, change->node)[change->chain] <= change->old); /* clocks only fall */
        row_of(c, change->node)[change->chain] = change->old;
    }
    c->cyclic = false;
}

/* ---- assembly ------------------------------------------------------------------------ */

static bool build(struct clocks *c)
{
    const struct graph *g = c->g;
    c->cells = g->cell_first[g->x->locations];
    if (!sort_nodes(c) || c->cyclic)
        return c->cyclic;
    return make_chains(c) && make_sites(c) && make_runs(c) && index_nodes(c) && find_readers(c)
        && make_clocks(c);
}

enum ordeal_status clocks_build(const struct graph *g, struct clocks **out)
{
    struct clocks *c = mem_zero(g->o, 1, sizeof *c);
    *out = c;
    if (!c)
        return g->o->error.status;
    c->o = g->o;
    c->g = g;
    if (build(c))
        return ORDEAL_OK;
    clocks_free(c);
    *out = NULL;
    return g->o->error.status;
}

void clocks_free(struct clocks *c)
{
    if (!c)
        return;
    struct ordeal *o = c->o;
    for (size_t i = 0; i < c->blocks.count; i++)
        mem_free(o, c->blocks.data[i].data, c->blocks.data[i].bytes);
    VEC_FREE(o, &c->blocks);
    VEC_FREE(o, &c->links);
    VEC_FREE(o, &c->changes);
    mem_free(o, c, sizeof *c);
}
