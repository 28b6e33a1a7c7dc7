/* SPDX-License-Identifier: Apache-2.0 */
/* Setting a weave up, and running it to its end. */
#include "loom.h"

#include <string.h>

/* ---- setting up --------------------------------------------------------------------- */

/* Sources lie anywhere in memory: ask for those of coming accesses while working on this one. */
enum { AHEAD = 12 };
static void expect_reader(const struct loom *m, uint32_t i)
{
    const struct graph *g = m->g;
    uint32_t source = i < g->accesses ? m->w->source[g->access[i].event] : NONE;
    if (source == NONE || has_views(m))
        return;
    __builtin_prefetch(&m->pending[source]);
    __builtin_prefetch(&m->reader_first[source + 1]);
}

static bool count_readers(struct loom *m)
{
    const struct graph *g = m->g;
    size_t ids = store_ids(m);
    uint32_t *last = mem_array(m->o, ids, sizeof *last);
    m->reader_first = mem_zero(m->o, ids + 2, sizeof *m->reader_first);
    if (!last || !m->reader_first)
        goto out;
    memset(last, 0xff, ids * sizeof *last);
    for (uint32_t n = 0; n < g->nodes; n++)
        for (uint32_t i = g->access_first[n]; i < g->access_first[n + 1]; i++) {
            struct access a = g->access[i];
            expect_reader(m, i + AHEAD);
            if (is_write(m, a))
                continue;
            assert(m->w->source[a.event] != NONE);
            uint32_t id = store_id(m, m->w->source[a.event], a.slot);
            m->counted[i] = last[id] != n;
            if (!m->counted[i])
                continue;
            last[id] = n;
            m->pending[id].count++;
            m->pending[id].sum ^= n;
            m->reader_first[id + 2]++;
        }
    for (size_t id = 0; id < ids; id++)
        m->reader_first[id + 2] += m->reader_first[id + 1];
    m->reader = mem_array(m->o, m->reader_first[ids + 1], sizeof *m->reader);
    if (!m->reader)
        goto out;
    for (uint32_t n = 0; n < g->nodes; n++)
        for (uint32_t i = g->access_first[n]; i < g->access_first[n + 1]; i++)
            if (m->counted[i]) {
                struct access a = g->access[i];
                uint32_t id = store_id(m, m->w->source[a.event], a.slot);
                m->reader[m->reader_first[id + 1]++] = n;
            }
out:
    mem_free(m->o, last, ids * sizeof *last);
    return m->reader != NULL;
}

/* A walk over all nodes along `first`/`next`, each after those that lead to it; depth is the length of
 * the longest way to it. */
struct longest {
    const struct graph *g;
    const uint32_t *first, *next;
    bool backwards;
    uint32_t *degree, *order,
        *depth; /* degree: ways to the node that are still to come; 0: there */
    uint32_t tail, deepest;
    uint32_t *gone; /* by thread: how many of its groups are known to be there */
};

/* The nodes left lie behind circles: the thread that has come least far goes on all the same. */
static uint32_t least_far(struct longest *w)
{
    const struct execution *x = w->g->x;
    uint32_t best = NONE;
    uint64_t best_share = UINT64_MAX;
    for (uint32_t t = 0; t < x->threads; t++) {
        uint32_t length = x->thread_first[t + 1] - x->thread_first[t], node = NONE;
        for (; w->gone[t] < length; w->gone[t]++) {
            node = w->backwards ? x->thread_first[t + 1] - 1 - w->gone[t]
                                : x->thread_first[t] + w->gone[t];
            if (w->degree[node])
                break;
        }
        uint64_t share = w->gone[t] < length ? ((uint64_t)w->gone[t] << 20) / length : UINT64_MAX;
        if (share < best_share) {
            best_share = share;
            best = node;
        }
    }
    return best;
}

static void pass(struct longest *w, uint32_t node)
{
    uint32_t d = w->depth[node] + 1;
    w->deepest = d > w->deepest ? d : w->deepest;
    for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++) {
        uint32_t to = w->next[i];
        if (w->degree[to] == 0)
            continue; /* it went on before its time */
        w->depth[to] = d > w->depth[to] ? d : w->depth[to];
        if (--w->degree[to] == 0)
            w->order[w->tail++] = to;
    }
}

static uint32_t longest_ways(struct longest *w)
{
    uint32_t n = w->g->nodes, head = 0, stuck = 0;
    for (uint32_t i = 0; i < n; i++)
        if (w->degree[i] == 0)
            w->order[w->tail++] = i;
    for (; stuck != NONE; stuck = w->tail < n ? least_far(w) : NONE) {
        if (stuck && w->degree[stuck]) {
            w->degree[stuck] = 0;
            w->order[w->tail++] = stuck;
        }
        while (head < w->tail)
            pass(w, w->order[head++]);
    }
    return w->deepest;
}

static bool walk_longest(struct loom *m, const struct graph *g, bool backwards, uint32_t *depth,
                         uint32_t *deepest)
{
    size_t n = g->nodes, threads = g->x->threads;
    const uint32_t *from = backwards ? g->succ_first : g->pred_first;
    struct longest w = { .g = g,
                         .backwards = backwards,
                         .depth = depth,
                         .first = backwards ? g->pred_first : g->succ_first,
                         .next = backwards ? g->pred : g->succ };
    w.degree = mem_array(m->o, n, sizeof *w.degree);
    w.order = mem_array(m->o, n, sizeof *w.order);
    w.gone = mem_zero(m->o, threads, sizeof *w.gone);
    bool ok = w.degree && w.order && w.gone;
    for (uint32_t i = 0; ok && i < n; i++)
        w.degree[i] = from[i + 1] - from[i];
    if (ok)
        *deepest = longest_ways(&w);
    mem_free(m->o, w.degree, n * sizeof *w.degree);
    mem_free(m->o, w.order, n * sizeof *w.order);
    mem_free(m->o, w.gone, threads * sizeof *w.gone);
    return ok;
}

/* A node's time is guessed as the mean of the earliest and the latest place it can have in the
 * graph: values seen across threads tie the threads' speeds together. */
static bool guess_from_graph(struct loom *m, const struct graph *g)
{
    size_t n = g->nodes;
    uint32_t *early = mem_zero(m->o, n, sizeof *early), *late = mem_zero(m->o, n, sizeof *late);
    uint32_t deepest;
    bool ok = early && late && walk_longest(m, g, false, early, &deepest)
           && walk_longest(m, g, true, late, &deepest);
    for (uint32_t i = 0; ok && i < n && i < m->g->nodes; i++)
        m->key[i] = (uint64_t)early[i] + deepest - late[i];
    mem_free(m->o, early, n * sizeof *early);
    mem_free(m->o, late, n * sizeof *late);
    return ok;
}

/* Machines that need not keep loads in order still do most of them so: the graph of TSO tells more
 * of when things happened than the model's own. Groups have the same nodes in both. */
static bool guess_times(struct loom *m)
{
    if (m->g->model->keep[LOAD][LOAD] == KEEP_ALL)
        return guess_from_graph(m, m->g);
    struct graph *in_order;
    if (graph_build(m->x, ORDEAL_TSO, m->g->time_order, &in_order))
        return false;
    bool ok = guess_from_graph(m, in_order);
    graph_free(in_order);
    return ok;
}

static uint64_t time_by_cycles(const struct execution *x, uint32_t event)
{
    uint32_t h = x->group[event];
    return x->end[h] != UINT64_MAX ? x->end[h] : x->begin[h];
}

static uint64_t time_by_file(const struct execution *x, uint32_t event) { return x->op[event]; }

/* A guess is worth taking when hardly any load comes before what it saw in another thread. Some ten
 * thousand loads tell. */
static bool plausible(const struct execution *x,
                      uint64_t (*time)(const struct execution *x, uint32_t event))
{
    uint64_t right = 0, wrong = 0, stride = x->events / 32768 + 1;
    for (uint64_t e = x->locations; e < x->events; e += stride) {
        uint32_t load = (uint32_t)e, s = x->is_store[e] ? NONE : source_of(x, load);
        if (s == NONE || is_initial(x, s) || event_thread(x, s) == event_thread(x, load))
            continue;
        bool before = time(x, s) < time(x, load);
        right += before;
        wrong += !before;
    }
    return wrong * 32 < right;
}

static bool set_keys(struct loom *m)
{
    const struct execution *x = m->x;
    for (uint32_t i = 0; m->w->seed && i < m->g->nodes; i++)
        m->key[i] = ((i + 1) * m->w->seed * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
    if (m->w->seed)
        return true;
    uint64_t (*time)(const struct execution *x, uint32_t event) =
        x->begin && plausible(x, time_by_cycles) ? time_by_cycles
        : plausible(x, time_by_file) ? time_by_file : NULL;
    if (!time)
        return guess_times(m);
    for (uint32_t i = 1; i < m->g->nodes; i++)
        if (m->g->access_first[i] < m->g->access_first[i + 1])
            m->key[i] = time(x, m->g->access[m->g->access_first[i]].event);
    return true;
}

/* R4 and R5 for a load whose source is assumed. */
static bool link_reads(struct loom *m, uint32_t load, uint32_t own)
{
    const struct graph *g = m->g;
    const struct execution *x = m->x;
    uint32_t source = m->w->source[load];
    assert(source != NONE && x->is_store[source] && x->loc[source] == x->loc[load]);
    bool swapped = g->load_node && (x->group_flags[x->group[load]] & GROUP_STORES);
    struct link l = { .reason = KNOT_READS, .a = load, .b = source, .fact = NONE };
    uint32_t node = node_of_load(g, load);
    m->flexible[node] = !swapped && !(x->group_flags[x->group[load]] & GROUP_STORES)
                     && !g->model->apart && !is_reserving(x, load); /* else it matters which store
                                                                     * of several it was */
    m->own[load] = own;
    for (uint32_t s = 0; s < cells_of(g, x->loc[load]); s++) {
        bool seen = !g->slot_thread
                 || g->slot_thread[g->cell_first[x->loc[load]] + s] == event_thread(x, load);
        l.slot = s;
        l.from = node_of_store(g, source, s);
        l.to = node;
        bool before = !is_initial(x, source)
                   && (swapped || (seen && !program_order(x, source, load)));
        if (before && !m->flexible[node] && !loom_add_link(m, l))
            return false;
        l.to = l.from;
        if (own == NONE || own == source)
            continue;
        l.from = node_of_store(g, own, s);
        if (!loom_add_link(m, l))
            return false;
    }
    return true;
}

/* RVWMO, rule 2, where the graph does not know whether two loads saw different stores: the loads of
 * one word and value, with no store of their thread between, in runs that see one store each. */
struct runs {
    VEC(uint32_t) before, now; /* loads of the run before, of this one */
};

static bool link_apart(struct loom *m, struct runs *r, uint32_t load)
{
    const uint32_t *source = m->w->source;
    const struct execution *x = m->x;
    uint32_t last = r->now.count ? r->now.data[r->now.count - 1] : NONE;
    if (last != NONE && x->value[last] != x->value[load])
        r->before.count = r->now.count = 0; /* the graph orders these */
    else if (last != NONE && source[last] != source[load]) {
        r->before.count = 0;
        for (size_t i = 0; i < r->now.count; i++)
            if (!VEC_PUSH(m->o, &r->before, r->now.data[i]))
                return false;
        r->now.count = 0;
    }
    for (size_t i = 0; i < r->before.count; i++) {
        struct link l = { .reason = KNOT_APART,
                          .a = r->before.data[i],
                          .b = load,
                          .fact = NONE,
                          .from = x->group[r->before.data[i]],
                          .to = x->group[load] };
        bool known = source_of(x, l.a) != NONE && source_of(x, load) != NONE;
        if (!known && l.from != l.to && !loom_add_link(m, l))
            return false;
    }
    return VEC_PUSH(m->o, &r->now, load);
}

static bool link_all_apart(struct loom *m)
{
    const struct execution *x = m->x;
    if (x->unique || !m->g->model->apart)
        return true;
    struct runs *runs = mem_zero(m->o, x->locations, sizeof *runs);
    bool ok = runs != NULL;
    for (uint32_t e = x->locations, thread = NONE; ok && e < x->events; e++) {
        if (thread != event_thread(x, e))
            for (uint32_t l = 0; l < x->locations; l++)
                runs[l].before.count = runs[l].now.count = 0;
        thread = event_thread(x, e);
        struct runs *r = &runs[x->loc[e]];
        if (x->is_store[e])
            r->before.count = r->now.count = 0;
        else
            ok = link_apart(m, r, e);
    }
    for (uint32_t l = 0; runs && l < x->locations; l++) {
        VEC_FREE(m->o, &runs[l].before);
        VEC_FREE(m->o, &runs[l].now);
    }
    mem_free(m->o, runs, x->locations * sizeof *runs);
    return ok;
}

static bool link_final(struct loom *m, uint32_t store, uint32_t last)
{
    for (uint32_t s = 0; s < cells_of(m->g, m->x->loc[last]); s++)
        if (!loom_add_link(m, (struct link){ .from = node_of_store(m->g, store, s),
                                             .to = node_of_store(m->g, last, s),
                                             .reason = KNOT_FINAL,
                                             .a = store,
                                             .b = last,
                                             .slot = s,
                                             .fact = NONE }))
            return false;
    return true;
}

/* Stores before the one taken to be last; those of the same value are ordered by assumption. */
static bool link_finals(struct loom *m)
{
    const struct execution *x = m->x;
    for (uint32_t e = x->locations; m->w->last && e < x->events; e++) {
        uint32_t loc = x->loc[e], k = x->is_store[e] ? x->final_of[loc] : NONE;
        for (; k != NONE; k = x->final[k].next) {
            uint32_t last = m->w->last[k];
            if (last != NONE && x->value[e] != x->value[last]
                && !(x->group[e] == x->group[last] && e < last) && !link_final(m, e, last))
                return false;
        }
    }
    return true;
}

static bool link_assumptions(struct loom *m)
{
    for (size_t i = 0; i < m->w->assumption_count; i++) {
        struct knot_literal l = m->w->assumptions[i];
        if (!loom_conclude(m, (struct fact){ l.a, l.b, ASSUMED, NONE, 0, NONE }))
            return false;
    }
    return true;
}

static bool link_all_reads(struct loom *m)
{
    const struct execution *x = m->x;
    if (x->unique)
        return true;
    uint32_t *own = mem_array(m->o, x->locations, sizeof *own);
    uint32_t *thread = mem_array(m->o, x->locations, sizeof *thread);
    m->flexible = mem_zero(m->o, m->g->nodes, sizeof *m->flexible);
    m->own = mem_array(m->o, x->events, sizeof *m->own);
    bool ok = own && thread && m->flexible && m->own;
    if (ok)
        memset(thread, 0xff, x->locations * sizeof *thread);
    for (uint32_t e = x->locations; ok && e < x->events; e++) {
        uint32_t loc = x->loc[e];
        if (thread[loc] != event_thread(x, e))
            own[loc] = NONE;
        thread[loc] = event_thread(x, e);
        if (x->is_store[e])
            own[loc] = e;
        else if (source_of(x, e) == NONE)
            ok = link_reads(m, e, own[loc]);
    }
    mem_free(m->o, own, x->locations * sizeof *own);
    mem_free(m->o, thread, x->locations * sizeof *thread);
    return ok;
}

#define NODE_ARRAYS(DO) DO(wait) DO(position) DO(state) DO(out) DO(in) DO(park_next) DO(key) \
    DO(stamp) DO(parent) DO(walked) DO(tainted)
#define STORE_ARRAYS(DO) DO(pending) DO(overwrote)
#define CELL_ARRAYS(DO) DO(active) DO(park) DO(line_index) DO(cell_taint)
#define VECTORS(DO) DO(trail) DO(stack) DO(heap) DO(links) DO(facts) DO(rests) DO(clauses) \
    DO(literals) DO(steps) DO(cycle) DO(queue) DO(later) DO(conflict) DO(choice) DO(way) \
    DO(undo) DO(best) DO(fresh)

static bool set_up(struct loom *m)
{
    const struct graph *g = m->g;
    const struct execution *x = m->x;
    uint32_t n = g->nodes, cells = g->cell_first[x->locations];
#define NEW(NAME) && (m->NAME = mem_zero(m->o, n, sizeof *m->NAME))
    bool ok = true NODE_ARRAYS(NEW);
#undef NEW
#define NEW(NAME) && (m->NAME = mem_zero(m->o, store_ids(m), sizeof *m->NAME))
    ok = ok STORE_ARRAYS(NEW);
#undef NEW
#define NEW(NAME) && (m->NAME = mem_zero(m->o, cells, sizeof *m->NAME))
    ok = ok CELL_ARRAYS(NEW);
#undef NEW
    ok = ok && (m->counted = mem_zero(m->o, g->accesses, sizeof *m->counted));
    if (ok && has_views(m))
        ok = (m->line = mem_zero(m->o, x->locations, sizeof *m->line))
          && (m->lead = mem_array(m->o, x->events, sizeof *m->lead));
    ok = ok && (m->watch = mem_array(m->o, x->events, sizeof *m->watch))
      && (m->rest_head = mem_array(m->o, x->events, sizeof *m->rest_head));
    if (!ok || !count_readers(m))
        return false;
    memset(m->position, 0xff, n * sizeof *m->position);
    memset(m->watch, 0xff, x->events * sizeof *m->watch);
    memset(m->rest_head, 0xff, x->events * sizeof *m->rest_head);
    m->rest_free = NONE;
    if (has_views(m))
        memset(m->lead, 0xff, x->events * sizeof *m->lead);
    memset(m->walked, 0xff, n * sizeof *m->walked);
    memset(m->out, 0xff, n * sizeof *m->out);
    memset(m->in, 0xff, n * sizeof *m->in);
    memset(m->park, 0xff, cells * sizeof *m->park);
    for (uint32_t l = 0; l < x->locations; l++)
        for (uint32_t s = 0; s < cells_of(g, l); s++)
            m->active[g->cell_first[l] + s] = l;
    for (uint32_t i = 0; i < n; i++) {
        m->wait[i] = g->pred_first[i + 1] - g->pred_first[i];
        m->real += g->kind.data[i] == NODE_REAL;
    }
    if (!set_keys(m) || !link_all_reads(m) || !link_all_apart(m) || !link_finals(m))
        return false;
    m->lasting_links = (uint32_t)m->links.count;
    return link_assumptions(m);
}

/* The root has the initial stores in place already; performing it only says so. */
static bool start(struct loom *m)
{
    const struct graph *g = m->g;
    if (m->wait[0])
        return true;
    m->state[0] = DONE;
    m->position[0] = 0;
    m->performed = 1;
    if (!VEC_PUSH(m->o, &m->trail, 0))
        return false;
    for (uint32_t i = g->succ_first[0]; i < g->succ_first[1]; i++)
        m->wait[g->succ[i]]--;
    for (uint32_t l = m->out[0]; l != NONE; l = m->links.data[l].next_out)
        m->wait[m->links.data[l].to]--;
    for (uint32_t i = g->nodes; i-- > 1;)
        if (m->wait[i] == 0) {
            m->state[i] = QUEUED;
            if (!VEC_PUSH(m->o, &m->stack, i))
                return false;
        }
    return true;
}

static void tear_down(struct loom *m)
{
    const struct graph *g = m->g;
    const struct execution *x = m->x;
    size_t n = g->nodes, ids = store_ids(m), cells = g->cell_first[x->locations];
#define FREE(NAME) mem_free(m->o, m->NAME, n * sizeof *m->NAME);
    NODE_ARRAYS(FREE)
#undef FREE
#define FREE(NAME) mem_free(m->o, m->NAME, ids * sizeof *m->NAME);
    STORE_ARRAYS(FREE)
#undef FREE
#define FREE(NAME) mem_free(m->o, m->NAME, cells * sizeof *m->NAME);
    CELL_ARRAYS(FREE)
#undef FREE
#define FREE(NAME) VEC_FREE(m->o, &m->NAME);
    VECTORS(FREE)
#undef FREE
    mem_free(m->o, m->flexible, n * sizeof *m->flexible);
    mem_free(m->o, m->own, x->events * sizeof *m->own);
    mem_free(m->o, m->counted, g->accesses * sizeof *m->counted);
    if (m->reader)
        mem_free(m->o, m->reader, m->reader_first[ids + 1] * sizeof *m->reader);
    mem_free(m->o, m->reader_first, (ids + 2) * sizeof *m->reader_first);
    for (uint32_t l = 0; m->line && l < x->locations; l++)
        VEC_FREE(m->o, &m->line[l]);
    mem_free(m->o, m->line, x->locations * sizeof *m->line);
    mem_free(m->o, m->watch, x->events * sizeof *m->watch);
    mem_free(m->o, m->rest_head, x->events * sizeof *m->rest_head);
    mem_free(m->o, m->lead, x->events * sizeof *m->lead);
}

static bool run(struct loom *m, enum weave_outcome *outcome)
{
    if (!set_up(m) || !start(m))
        return false;
    for (;;) {
        if (!loom_advance(m))
            return false;
        if (m->performed == m->real)
            break;
        if (!knots_resolve(m))
            return false;
        if (m->refuted) {
            *outcome = WEAVE_REFUTED;
            return true;
        }
        if (m->split > m->w->budget) {
            *outcome = WEAVE_BUDGET;
            return true;
        }
    }
    *outcome = WEAVE_ORDER;
    m->w->order.count = 0;
    if (!VEC_RESERVE(m->o, &m->w->order, m->real))
        return false;
    for (size_t i = 1; i < m->trail.count; i++) {
        uint32_t node = m->trail.data[i];
        if (m->position[node] == i && m->g->kind.data[node] == NODE_REAL)
            m->w->order.data[m->w->order.count++] = node;
    }
    assert(m->w->order.count + 1 == m->real); /* all but the root */
    return true;
}

/* Memory in use but for what the weave leaves to its caller. */
static size_t other_memory(const struct weave *w)
{
    const struct weave_log *log = w->log;
    return w->g->o->used - w->order.capacity * sizeof *w->order.data
         - log->knots.capacity * sizeof *log->knots.data
         - log->edges.capacity * sizeof *log->edges.data
         - log->literals.capacity * sizeof *log->literals.data
         - log->grounds.capacity * sizeof *log->grounds.data;
}

enum ordeal_status weave_run(struct weave *w, enum weave_outcome *outcome)
{
    struct loom m = { .o = w->g->o, .w = w, .g = w->g, .x = w->g->x };
    size_t used = other_memory(w);
    bool ok = run(&m, outcome);
    tear_down(&m);
    assert(other_memory(w) == used);
    return ok ? ORDEAL_OK : m.o->error.status;
}

void weave_log_free(struct ordeal *o, struct weave_log *log)
{
    VEC_FREE(o, &log->knots);
    VEC_FREE(o, &log->edges);
    VEC_FREE(o, &log->literals);
    VEC_FREE(o, &log->grounds);
}
