/* SPDX-License-Identifier: Apache-2.0 */
/* The topological sorts of thesis 4.5: heu, deriv, and both with backtracking.
 *
 * Nodes are picked one by one after their predecessors, loads as soon as they can be, a store when
 * every reader of the store it overwrites has been picked. Most stores are picked without regret:
 * if an order exists at all, one exists that picks this store now. What is left is a decision
 * between stores of which each has a reader and a rival. Only decisions are taken back, and the
 * search is complete all the same. deriv closes the clocks under R6 and R7 after each decision. */
#include "classic.h"
#include "clocks.h"

#include <string.h>

/* What may become of a node that writes. */
enum prospect { BLOCKED, RIVALLED, SAFE };

struct level {
    size_t trail;
    size_t alternatives, next;          /* its first; the first of them that is untried */
    struct clocks_mark mark;
};

struct topo {
    struct ordeal *o;
    const struct graph *g;
    struct clocks *c;
    struct topo_options options;
    struct classic_result *r;

    bool *done;
    uint32_t *indegree;                 /* unpicked predecessors */
    uint32_t *pending;                  /* by store id: unpicked readers */
    uint32_t *cell_of_id;               /* by store id */
    uint32_t *active;                   /* by cell: id of the store last picked */
    uint32_t *run_of, *next_write;      /* by site; by run: first unpicked write, or NONE */
    uint32_t *replaced;                 /* by site: what was active before it */
    uint32_t *rival_hint;               /* by site: the run where a rival was found last */

    /* A blocked or rivalled node waits, by one of its sites, for its cell to change. */
    uint32_t *waiter, *next_waiter;     /* by cell, by site; NONE ends */
    bool *waits;                        /* by site */

    /* Under views the stores of a word are picked in one order in all its cells. */
    uint32_t *listed_first, *listed;    /* by location, + 1: stores as far as ordered */
    uint32_t *listed_count;             /* by location */
    uint32_t *progress;                 /* by cell: how many of them are picked there */
    bool *lists;                        /* by site: its pick put the store on the list */

    VEC(uint32_t) trail, loads, tests;  /* picked; to be picked; to be looked at */
    VEC(uint32_t) writers;              /* nodes that write and had no predecessor left */
    bool *is_writer;                    /* by node: is on that list */
    VEC(struct level) levels;
    VEC(uint32_t) alternatives;
};

static uint32_t id_of_site(const struct topo *t, uint32_t s)
{
    const struct site *site = &t->c->site[s];
    const struct graph *g = t->g;
    return g->store_first[site->event] + site->cell - g->cell_first[g->x->loc[site->event]];
}

/* ---- prospects ----------------------------------------------------------------------- */

static bool reads_id(const struct topo *t, uint32_t node, uint32_t id)
{
    for (uint32_t i = t->c->read_first[node]; i < t->c->read_first[node + 1]; i++)
        if (t->c->read[i] == id)
            return true;
    return false;
}

/* Has everybody else seen what the node overwrites, and is it the store's turn? */
static bool is_free(const struct topo *t, uint32_t s)
{
    const struct site *site = &t->c->site[s];
    uint32_t active = t->active[site->cell];
    if (t->pending[active] > 1 || (t->pending[active] == 1 && !reads_id(t, site->node, active)))
        return false;
    if (!t->listed)
        return true;
    uint32_t loc = t->g->x->loc[site->event], at = t->progress[site->cell];
    return at == t->listed_count[loc] || t->listed[t->listed_first[loc] + at] == site->event;
}

static bool is_rival(const struct topo *t, uint32_t node, uint32_t run)
{
    uint32_t w = t->next_write[run];
    return w != NONE && t->c->site[w].node != node
        && !clocks_before(t->c, node, t->c->site[w].node);
}

/* Nobody reads it, or it is before all others of its cell: any order in which it comes later can be
 * changed to have it now. Under views other cells matter as well, so nobody reading it is no
 * reason, but the order settled in another cell is. */
static bool is_safe(const struct topo *t, uint32_t s)
{
    const struct site *site = &t->c->site[s];
    if (!t->listed && t->pending[id_of_site(t, s)] == 0)
        return true;
    if (t->listed && t->progress[site->cell] < t->listed_count[t->g->x->loc[site->event]])
        return true;
    if (is_rival(t, site->node, t->rival_hint[s]))
        return false;
    for (uint32_t r = t->c->run_first[site->cell]; r < t->c->run_first[site->cell + 1]; r++)
        if (is_rival(t, site->node, r)) {
            t->rival_hint[s] = r;
            return false;
        }
    return true;
}

/* `at` is the site that stands in the way. */
static enum prospect prospect_of(const struct topo *t, uint32_t node, uint32_t *at)
{
    const uint32_t *first = t->c->write + t->c->write_first[node];
    const uint32_t *end = t->c->write + t->c->write_first[node + 1];
    for (const uint32_t *s = first; s < end; s++)
        if (!is_free(t, *at = *s))
            return BLOCKED;
    for (const uint32_t *s = first; s < end; s++)
        if (!is_safe(t, *at = *s))
            return RIVALLED;
    return SAFE;
}

/* ---- picking and taking back --------------------------------------------------------- */

static bool wake(struct topo *t, uint32_t cell)
{
    uint32_t s = t->waiter[cell];
    t->waiter[cell] = NONE;
    for (; s != NONE; s = t->next_waiter[s]) {
        assert(t->waits[s] && t->c->site[s].cell == cell);
        t->waits[s] = false;
        if (!VEC_PUSH(t->o, &t->tests, t->c->site[s].node))
            return false;
    }
    return true;
}

static void wait_at(struct topo *t, uint32_t s)
{
    if (t->waits[s])
        return;
    uint32_t cell = t->c->site[s].cell;
    t->waits[s] = true;
    t->next_waiter[s] = t->waiter[cell];
    t->waiter[cell] = s;
}

static bool add_writer(struct topo *t, uint32_t node)
{
    if (t->is_writer[node])
        return true;
    t->is_writer[node] = true;
    return VEC_PUSH(t->o, &t->writers, node);
}

static bool become_ready(struct topo *t, uint32_t node)
{
    if (t->c->write_first[node] == t->c->write_first[node + 1])
        return VEC_PUSH(t->o, &t->loads, node);
    return add_writer(t, node) && VEC_PUSH(t->o, &t->tests, node);
}

static bool release(struct topo *t, uint32_t node)
{
    assert(t->indegree[node] > 0);
    return --t->indegree[node] > 0 || become_ready(t, node);
}

static bool list_store(struct topo *t, uint32_t s)
{
    const struct site *site = &t->c->site[s];
    uint32_t loc = t->g->x->loc[site->event];
    t->lists[s] = t->progress[site->cell]++ == t->listed_count[loc];
    assert(t->progress[site->cell] <= t->listed_count[loc] + 1);
    if (!t->lists[s])
        return true;
    assert(t->listed_count[loc] < t->listed_first[loc + 1] - t->listed_first[loc]);
    t->listed[t->listed_first[loc] + t->listed_count[loc]++] = site->event;
    for (uint32_t cell = t->g->cell_first[loc]; cell < t->g->cell_first[loc + 1]; cell++)
        if (!wake(t, cell))
            return false;
    return true;
}

static uint32_t write_after(const struct topo *t, uint32_t s)
{
    uint32_t end = t->c->run[t->run_of[s]].end;
    do
        s++;
    while (s < end && !site_writes(&t->c->site[s]));
    return s < end ? s : NONE;
}

static bool activate(struct topo *t, uint32_t s)
{
    uint32_t cell = t->c->site[s].cell;
    t->replaced[s] = t->active[cell];
    t->active[cell] = id_of_site(t, s);
    t->next_write[t->run_of[s]] = write_after(t, s);
    return (!t->listed || list_store(t, s)) && wake(t, cell);
}

static bool pick(struct topo *t, uint32_t node)
{
    const struct clocks *c = t->c;
    const struct graph *g = t->g;
    assert(!t->done[node] && t->indegree[node] == 0);
    t->done[node] = true;
    if (!VEC_PUSH(t->o, &t->trail, node))
        return false;
    for (uint32_t i = c->read_first[node]; i < c->read_first[node + 1]; i++) {
        uint32_t id = c->read[i];
        assert(t->pending[id] > 0);
        if (--t->pending[id] <= 1 && !wake(t, t->cell_of_id[id]))
            return false;
    }
    for (uint32_t i = c->write_first[node]; i < c->write_first[node + 1]; i++)
        if (!activate(t, c->write[i]))
            return false;
    for (uint32_t i = g->succ_first[node]; i < g->succ_first[node + 1]; i++)
        if (!release(t, g->succ[i]))
            return false;
    for (uint32_t l = c->out[node]; l != NONE; l = c->links.data[l].next_out)
        if (!release(t, c->links.data[l].to))
            return false;
    return true;
}

static void unpick(struct topo *t)
{
    const struct clocks *c = t->c;
    const struct graph *g = t->g;
    assert(t->trail.count > 0);
    uint32_t node = t->trail.data[--t->trail.count];
    assert(t->done[node] && t->indegree[node] == 0);
    for (uint32_t l = c->out[node]; l != NONE; l = c->links.data[l].next_out)
        t->indegree[c->links.data[l].to]++;
    for (uint32_t i = g->succ_first[node]; i < g->succ_first[node + 1]; i++)
        t->indegree[g->succ[i]]++;
    for (uint32_t i = c->write_first[node + 1]; i-- > c->write_first[node];) {
        uint32_t s = c->write[i], cell = c->site[s].cell;
        assert(t->active[cell] == id_of_site(t, s));
        t->active[cell] = t->replaced[s];
        t->next_write[t->run_of[s]] = s;
        if (t->listed) {
            t->progress[cell]--;
            t->listed_count[g->x->loc[c->site[s].event]] -= t->lists[s];
        }
    }
    for (uint32_t i = c->read_first[node]; i < c->read_first[node + 1]; i++)
        t->pending[c->read[i]]++;
    t->done[node] = false;
}

/* Pick all that needs no decision. */
static bool advance(struct topo *t)
{
    while (t->loads.count + t->tests.count > 0) {
        if (limit_hit(t->o, "topological sort", (double)t->trail.count / t->g->nodes))
            return false;
        if (t->loads.count > 0) {
            if (!pick(t, t->loads.data[--t->loads.count]))
                return false;
            continue;
        }
        uint32_t node = t->tests.data[--t->tests.count], at;
        if (t->done[node] || t->indegree[node] > 0)
            continue;
        if (prospect_of(t, node, &at) != SAFE)
            wait_at(t, at);
        else if (!pick(t, node))
            return false;
    }
    return true;
}

/* ---- deriving ------------------------------------------------------------------------ */

/* The first write of the run that is neither picked nor ordered before by another view. */
static uint32_t rival_in(const struct topo *t, uint32_t run, uint32_t store)
{
    uint32_t w = t->next_write[run];
    if (!t->listed || w == NONE)
        return w;
    uint32_t loc = t->g->x->loc[store], cell = t->c->site[w].cell;
    for (uint32_t i = t->progress[cell]; i < t->listed_count[loc] && w != NONE; i++)
        if (t->listed[t->listed_first[loc] + i] == t->c->site[w].event)
            w = write_after(t, w);
    return w;
}

/* The store was picked before its rivals: in its cell R7, in other views its order. */
static bool derive_store(struct topo *t, uint32_t store, uint32_t slot)
{
    const struct graph *g = t->g;
    struct clocks *c = t->c;
    uint32_t id = g->store_first[store] + slot, cell = g->cell_first[g->x->loc[store]] + slot;
    for (uint32_t r = c->run_first[cell]; r < c->run_first[cell + 1]; r++) {
        uint32_t w = rival_in(t, r, store);
        if (w == NONE)
            continue;
        uint32_t rival = c->site[w].node;
        if (!clocks_add(c, g->store_node[id], rival))
            return false;
        for (uint32_t i = c->reader_first[id]; i < c->reader_first[id + 1]; i++)
            if (c->reader[i] != rival && !clocks_add(c, c->reader[i], rival))
                return false;
    }
    return true;
}

/* Thesis 4.5.2: what follows from having picked the node. */
static enum ordeal_status derive(struct topo *t, uint32_t node)
{
    struct clocks *c = t->c;
    size_t before = c->links.count;
    for (uint32_t i = c->write_first[node]; i < c->write_first[node + 1]; i++) {
        uint32_t store = c->site[c->write[i]].event;
        for (uint32_t s = 0; s < cells_of(t->g, t->g->x->loc[store]); s++)
            if (!derive_store(t, store, s))
                return t->o->error.status;
    }
    enum ordeal_status status = clocks_fixpoint(c);
    for (size_t l = before; l < c->links.count; l++)
        t->indegree[c->links.data[l].to]++;
    return status;
}

/* ---- deciding ------------------------------------------------------------------------ */

/* `indegree` counts what was not picked, by edges and by links. */
static void check_indegrees(const struct topo *t)
{
    const struct graph *g = t->g;
    const struct clocks *c = t->c;
    for (uint32_t n = 1; n < g->nodes; n++) {
        uint32_t indegree = 0;
        for (uint32_t i = g->pred_first[n]; i < g->pred_first[n + 1]; i++)
            indegree += g->pred[i] != 0 && !t->done[g->pred[i]];
        for (uint32_t l = c->in[n]; l != NONE; l = c->links.data[l].next_in)
            indegree += !t->done[c->links.data[l].from];
        assert(t->indegree[n] == indegree);
    }
}

/* All nodes that could be picked now, the longest ready first. */
static bool find_alternatives(struct topo *t)
{
    size_t kept = 0;
    uint32_t at;
    for (size_t i = 0; i < t->writers.count; i++) {
        uint32_t node = t->writers.data[i];
        t->is_writer[node] = !t->done[node] && t->indegree[node] == 0;
        if (!t->is_writer[node])
            continue;
        t->writers.data[kept++] = node;
        if (prospect_of(t, node, &at) == RIVALLED && !VEC_PUSH(t->o, &t->alternatives, node))
            return false;
    }
    t->writers.count = kept;
    return true;
}

static bool open_level(struct topo *t)
{
    size_t first = t->alternatives.count;
    if (now_and_then(t->r->decisions))
        check_hot(check_indegrees(t));
    return find_alternatives(t)
        && VEC_PUSH(t->o, &t->levels, ((struct level){ t->trail.count, first, first,
                                                       clocks_mark(t->c) }));
}

/* Back to where the level was opened. */
static bool undo_level(struct topo *t, const struct level *level)
{
    size_t picked = t->trail.count;
    assert(t->trail.count > level->trail);
    while (t->trail.count > level->trail + 1)
        unpick(t);
    for (size_t l = level->mark.links; l < t->c->links.count; l++) {
        uint32_t to = t->c->links.data[l].to;
        bool writes = t->c->write_first[to] < t->c->write_first[to + 1];
        assert(t->indegree[to] > 0);
        if (--t->indegree[to] == 0 && writes && !add_writer(t, to))
            return false; /* a derived edge had taken it off the list */
    }
    clocks_undo(t->c, level->mark);
    if (t->trail.count > level->trail)
        unpick(t);
    t->loads.count = t->tests.count = 0;
    for (size_t i = level->trail; i < picked; i++) {
        uint32_t node = t->trail.data[i]; /* still there, behind the end */
        if (t->c->write_first[node] < t->c->write_first[node + 1] && t->indegree[node] == 0
            && !add_writer(t, node))
            return false;
    }
    return true;
}

static bool test_all(struct topo *t)
{
    for (size_t i = 0; i < t->writers.count; i++)
        if (!VEC_PUSH(t->o, &t->tests, t->writers.data[i]))
            return false;
    return true;
}

/* Take the next way that has not been tried, going back as far as needed. */
static enum ordeal_status decide(struct topo *t, bool *exhausted)
{
    while (t->levels.count > 0) {
        struct level *level = &t->levels.data[t->levels.count - 1];
        if (t->trail.count > level->trail) {
            t->r->backtracks++;
            if (!undo_level(t, level))
                return t->o->error.status;
        }
        assert(level->next >= level->alternatives && level->next <= t->alternatives.count);
        if (level->next == t->alternatives.count) {
            t->alternatives.count = level->alternatives;
            t->levels.count--;
            continue;
        }
        uint32_t node = t->alternatives.data[level->next++];
        t->r->decisions++;
        if (!pick(t, node))
            return t->o->error.status;
        enum ordeal_status status = t->options.derive ? derive(t, node) : ORDEAL_OK;
        if (status != ORDEAL_OK)
            return status;
        if (!t->c->cyclic)
            return test_all(t) ? ORDEAL_OK : t->o->error.status;
        if (!t->options.backtrack)
            return ORDEAL_OK;
        if (limit_hit(t->o, "backtracking", -1))
            return t->o->error.status;
    }
    *exhausted = true;
    return ORDEAL_OK;
}

static enum ordeal_status search(struct topo *t)
{
    bool exhausted = false;
    while (!exhausted) {
        if (!advance(t))
            return t->o->error.status;
        if (t->trail.count + 1 == t->g->nodes) {
            t->r->result = ORDEAL_PASS;
            return ORDEAL_OK;
        }
        size_t known = t->alternatives.count;
        if (!open_level(t))
            return t->o->error.status;
        bool stuck = t->alternatives.count == known;
        if (stuck && t->r->decisions > 0 && !t->options.backtrack)
            return ORDEAL_OK;
        enum ordeal_status status = decide(t, &exhausted);
        if (status != ORDEAL_OK || (t->c->cyclic && !t->options.backtrack))
            return status;
    }
    t->r->result = ORDEAL_FAIL;
    return ORDEAL_OK;
}

/* ---- set-up -------------------------------------------------------------------------- */

static void *filled(struct topo *t, size_t count, size_t size, int byte)
{
    void *data = clocks_array(t->c, count, size);
    return data ? memset(data, byte, count * size) : NULL;
}

static bool prepare_views(struct topo *t)
{
    const struct execution *x = t->g->x;
    t->listed_first = filled(t, (size_t)x->locations + 1, sizeof(uint32_t), 0);
    t->listed = filled(t, x->events, sizeof(uint32_t), 0);
    t->listed_count = filled(t, x->locations, sizeof(uint32_t), 0);
    t->progress = filled(t, t->c->cells, sizeof(uint32_t), 0);
    t->lists = filled(t, t->c->sites, sizeof(bool), 0);
    if (!t->listed_first || !t->listed || !t->listed_count || !t->progress || !t->lists)
        return false;
    for (uint32_t e = x->locations; e < x->events; e++)
        t->listed_first[x->loc[e] + 1] += x->is_store[e];
    for (uint32_t l = 0; l < x->locations; l++)
        t->listed_first[l + 1] += t->listed_first[l];
    return true;
}

static void fill_tables(struct topo *t)
{
    const struct graph *g = t->g;
    const struct clocks *c = t->c;
    for (uint32_t e = 0; e < g->x->events; e++)
        for (uint32_t id = g->store_first[e]; id < g->store_first[e + 1]; id++)
            t->cell_of_id[id] = g->cell_first[g->x->loc[e]] + id - g->store_first[e];
    for (uint32_t l = 0; l < g->x->locations; l++)
        for (uint32_t s = 0; s < cells_of(g, l); s++)
            t->active[g->cell_first[l] + s] = g->store_first[l] + s;
    for (uint32_t r = 0; r < c->runs; r++) {
        const struct run *run = &c->run[r];
        for (uint32_t s = run->end; s-- > run->first;) {
            t->run_of[s] = r;
            t->rival_hint[s] = r;
            if (site_writes(&c->site[s]))
                t->next_write[r] = s;
        }
    }
    for (uint32_t n = 1; n < g->nodes; n++) {
        for (uint32_t i = c->read_first[n]; i < c->read_first[n + 1]; i++)
            t->pending[c->read[i]]++;
        for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++)
            t->indegree[g->succ[i]]++;
    }
    for (size_t l = 0; l < c->links.count; l++)
        t->indegree[c->links.data[l].to]++;
}

static bool prepare(struct topo *t)
{
    const struct graph *g = t->g;
    const struct clocks *c = t->c;
    size_t word = sizeof(uint32_t);
    if (!(t->done = filled(t, g->nodes, sizeof(bool), 0))
        || !(t->is_writer = filled(t, g->nodes, sizeof(bool), 0))
        || !(t->waits = filled(t, c->sites, sizeof(bool), 0))
        || !(t->indegree = filled(t, g->nodes, word, 0))
        || !(t->pending = filled(t, g->stores, word, 0))
        || !(t->cell_of_id = filled(t, g->stores, word, 0))
        || !(t->active = filled(t, c->cells, word, 0))
        || !(t->run_of = filled(t, c->sites, word, 0))
        || !(t->rival_hint = filled(t, c->sites, word, 0))
        || !(t->replaced = filled(t, c->sites, word, 0))
        || !(t->next_write = filled(t, c->runs, word, 0xff))
        || !(t->waiter = filled(t, c->cells, word, 0xff))
        || !(t->next_waiter = filled(t, c->sites, word, 0xff))
        || (g->slot_thread && !prepare_views(t)))
        return false;
    fill_tables(t);
    t->c->done = t->done;
    t->c->recording = t->options.derive && t->options.backtrack;
    for (uint32_t i = 0; i + 1 < g->nodes; i++)
        if (t->indegree[c->at[i]] == 0 && !become_ready(t, c->at[i]))
            return false;
    return true;
}

static bool keep_order(struct topo *t)
{
    for (size_t i = 0; i < t->trail.count; i++)
        if (t->g->kind.data[t->trail.data[i]] == NODE_REAL
            && !VEC_PUSH(t->o, &t->r->order, t->trail.data[i]))
            return false;
    return true;
}

enum ordeal_status topo_sort(struct clocks *c, struct topo_options options,
                             struct classic_result *r)
{
    struct topo t = { .o = c->o, .g = c->g, .c = c, .options = options, .r = r };
    enum ordeal_status status = prepare(&t) ? search(&t) : c->o->error.status;
    if (status == ORDEAL_OK && r->result == ORDEAL_PASS && !keep_order(&t))
        status = c->o->error.status;
    VEC_FREE(t.o, &t.trail);
    VEC_FREE(t.o, &t.loads);
    VEC_FREE(t.o, &t.tests);
    VEC_FREE(t.o, &t.writers);
    VEC_FREE(t.o, &t.levels);
    VEC_FREE(t.o, &t.alternatives);
    return status;
}
