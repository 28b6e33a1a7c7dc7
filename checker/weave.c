#include "weave.h"

#include <assert.h>
#include <string.h>

enum { IDLE, QUEUED, PARKED, DONE };

/* Not all of its literals hold. The first `decisions` of them come and go with the order; the first
 * two are watched: it is looked at when one of them comes to hold. */
struct clause { uint32_t first, count, decisions, knot, watch_next[2]; };

struct fact {
    uint32_t before, after;               /* stores of one word */
    uint32_t level;                       /* holds while at least this many nodes are performed */
    uint32_t clause;                      /* why: the other literals hold. NONE: taken for granted */
    uint32_t link_first;                  /* its links, one a cell; NONE: no longer holds */
};

struct link {
    uint32_t from, to, next_out, next_in;
    uint8_t reason;
    uint32_t a, b, slot;
    uint32_t fact;                        /* NONE for KNOT_READS */
};

struct step { uint32_t from, to, a, b, slot, fact; uint8_t reason; bool decision; };

struct loom {
    struct ordeal *o;
    struct weave *w;
    const struct graph *g;
    const struct execution *x;

    /* Nodes. */
    uint32_t *wait;                       /* predecessors not yet performed */
    uint32_t *position;                   /* in the trail, NONE: not performed */
    uint8_t *state;
    uint32_t *out, *in;                   /* heads of the lists of links */
    uint32_t *park_next;
    uint64_t *key;

    /* Store ids: readers still to come. The sum (xor) of their nodes names the last one. */
    uint32_t *pending, *pending_sum;
    uint32_t *overwrote;                  /* the store it overwrote when performed */
    uint32_t *reader_first, *reader;      /* nodes that read it */
    bool *counted;                        /* by access: the node's first read of that store */

    /* Cells. */
    uint32_t *active;                     /* the store last performed (event) */
    uint32_t *park;
    /* Under views, by word: the order of stores so far, followed by every view. */
    struct { uint32_t *data; size_t count, capacity; } *line;
    uint32_t *line_index;                 /* by cell: how far the view has followed */
    uint32_t *lead;                       /* by event: the node that decided its place */

    VEC(uint32_t) trail, stack;
    VEC(uint32_t) heap;
    VEC(struct link) links;
    VEC(struct fact) facts;
    VEC(uint32_t) tentative;              /* facts that rest on decisions */
    VEC(struct clause) clauses;
    VEC(struct knot_literal) literals;    /* of the clauses */
    uint32_t *watch;                      /* by event a: clauses that watch a literal a < b */
    uint32_t reads_links;                 /* links that stay for the whole run */
    uint32_t chosen;                      /* tentative facts that are guesses of their own */
    uint32_t real, performed;

    /* Conflict analysis. */
    uint32_t *stamp;                      /* by node */
    uint32_t now;
    uint32_t *parent;                     /* by node: index of the step that reached it */
    VEC(struct step) steps, cycle;
    VEC(uint32_t) queue, later;
    VEC(struct knot_literal) conflict;
    VEC(uint32_t) choice;
    struct step walk;
    VEC(struct step) way;                 /* steps walked in this standstill */
    uint32_t *walked;                     /* by node: its step in the way, or NONE */
    uint32_t undo_to;
    uint64_t split;                       /* circles that had several decisions */
    bool refuted;
};

static bool is_write(const struct loom *m, struct access a) { return m->x->is_store[a.event]; }
static uint32_t store_id(const struct loom *m, uint32_t event, uint32_t slot)
{
    return m->g->store_first[event] + slot;
}
static bool has_views(const struct loom *m) { return m->g->slot_thread != NULL; }

/* ---- links --------------------------------------------------------------------------- */

static bool add_link(struct loom *m, struct link l)
{
    uint32_t id = (uint32_t)m->links.count;
    l.next_out = m->out[l.from];
    l.next_in = m->in[l.to];
    if (!VEC_PUSH(m->o, &m->links, l))
        return false;
    m->out[l.from] = id;
    m->in[l.to] = id;
    if (m->position[l.from] == NONE)
        m->wait[l.to]++;
    return true;
}

static void drop_link(struct loom *m, uint32_t id)
{
    struct link *l = &m->links.data[id];
    uint32_t *p = &m->out[l->from];
    while (*p != id)
        p = &m->links.data[*p].next_out;
    *p = l->next_out;
    p = &m->in[l->to];
    while (*p != id)
        p = &m->links.data[*p].next_in;
    *p = l->next_in;
}

static bool link_fact(struct loom *m, uint32_t f)
{
    struct fact fact = m->facts.data[f];
    m->facts.data[f].link_first = (uint32_t)m->links.count;
    m->chosen += fact.level && fact.clause == NONE;
    if (fact.level && !VEC_PUSH(m->o, &m->tentative, f))
        return false;
    for (uint32_t s = 0; s < cells_of(m->g, m->x->loc[fact.before]); s++)
        if (!add_link(m, (struct link){ .from = node_of_store(m->g, fact.before, s),
                                        .to = node_of_store(m->g, fact.after, s),
                                        .reason = KNOT_ORDER, .a = fact.before, .b = fact.after,
                                        .slot = s, .fact = f }))
            return false;
    return true;
}

/* ---- the queue of stores that may be performed ----------------------------------------- */

static bool earlier(const struct loom *m, uint32_t a, uint32_t b)
{
    return m->key[a] < m->key[b];
}

static bool heap_push(struct loom *m, uint32_t node)
{
    if (!VEC_PUSH(m->o, &m->heap, node))
        return false;
    uint32_t *h = m->heap.data;
    size_t i = m->heap.count - 1;
    for (; i && earlier(m, node, h[(i - 1) / 2]); i = (i - 1) / 2)
        h[i] = h[(i - 1) / 2];
    h[i] = node;
    return true;
}

static uint32_t heap_pop(struct loom *m)
{
    uint32_t *h = m->heap.data, top = h[0], last = h[--m->heap.count];
    size_t i = 0, n = m->heap.count;
    for (size_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && earlier(m, h[c + 1], h[c]))
            c++;
        if (!earlier(m, h[c], last))
            break;
        h[i] = h[c];
    }
    h[i] = last;
    return top;
}

/* ---- what keeps a node from being performed ---------------------------------------------- */

/* The store that access i of the node would overwrite: an earlier one of its own, or the cell's. */
static uint32_t overwritten(const struct loom *m, uint32_t node, uint32_t i)
{
    const struct graph *g = m->g;
    uint32_t cell = cell_of(g, g->access[i]);
    for (uint32_t j = i; j-- > g->access_first[node];)
        if (is_write(m, g->access[j]) && cell_of(g, g->access[j]) == cell)
            return g->access[j].event;
    return m->active[cell];
}

/* Under views: the store that the cell must take next, NONE when it may choose. */
static uint32_t next_in_line(const struct loom *m, uint32_t event, uint32_t slot)
{
    uint32_t loc = m->x->loc[event];
    uint32_t index = m->line_index[m->g->cell_first[loc] + slot];
    return index < m->line[loc].count ? m->line[loc].data[index] : NONE;
}

/* The first cell that keeps the node from being performed, or NONE. */
static uint32_t blocking_cell(const struct loom *m, uint32_t node)
{
    const struct graph *g = m->g;
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++) {
        struct access a = g->access[i];
        if (!is_write(m, a))
            continue;
        uint32_t id = store_id(m, overwritten(m, node, i), a.slot);
        bool free = m->pending[id] == 0 || (m->pending[id] == 1 && m->pending_sum[id] == node);
        if (free && has_views(m)) {
            uint32_t next = next_in_line(m, a.event, a.slot);
            free = next == NONE || next == a.event;
        }
        if (!free)
            return cell_of(g, a);
    }
    return NONE;
}

static bool push_ready(struct loom *m, uint32_t node)
{
    m->state[node] = QUEUED;
    return VEC_PUSH(m->o, &m->stack, node);
}

static bool wake(struct loom *m, uint32_t cell)
{
    uint32_t node = m->park[cell];
    m->park[cell] = NONE;
    for (uint32_t next; node != NONE; node = next) {
        next = m->park_next[node];
        if (!push_ready(m, node))
            return false;
    }
    return true;
}

static bool release(struct loom *m, uint32_t node)
{
    return --m->wait[node] != 0 || m->state[node] != IDLE || push_ready(m, node);
}

/* ---- clauses --------------------------------------------------------------------------- */

/* When the store found its place in the order of its word; NONE: not yet. */
static uint32_t place(const struct loom *m, uint32_t store)
{
    if (!has_views(m))
        return m->position[m->x->group[store]];
    return m->lead[store] == NONE ? NONE : m->position[m->lead[store]];
}

static bool holds(const struct loom *m, struct knot_literal l)
{
    return place(m, l.a) < place(m, l.b);
}

static bool fails(const struct loom *m, struct knot_literal l)
{
    return place(m, l.b) < place(m, l.a);
}

static void watch_literal(struct loom *m, uint32_t clause, uint32_t k)
{
    struct clause *c = &m->clauses.data[clause];
    uint32_t *head = &m->watch[m->literals.data[c->first + k].a];
    c->watch_next[k] = *head;
    *head = clause << 1 | k;
}

static uint32_t fact_between(const struct loom *m, uint32_t a, uint32_t b)
{
    uint32_t to = node_of_store(m->g, b, 0);
    for (uint32_t l = m->in[to]; l != NONE; l = m->links.data[l].next_in)
        if (m->links.data[l].reason == KNOT_ORDER && m->links.data[l].a == a
            && m->links.data[l].b == b)
            return m->links.data[l].fact;
    return NONE;
}

static bool imply(struct loom *m, struct knot_literal not, uint32_t clause)
{
    if (fails(m, not) || holds(m, not) || fact_between(m, not.b, not.a) != NONE)
        return true;
    struct fact f = { .before = not.b, .after = not.a, .clause = clause,
                      .level = (uint32_t)m->trail.count, .link_first = NONE };
    return VEC_PUSH(m->o, &m->facts, f) && link_fact(m, (uint32_t)m->facts.count - 1);
}

/* The store has found its place: clauses may now have one literal left, which must not hold. */
static bool propagate(struct loom *m, uint32_t store)
{
    uint32_t w = m->watch[store], next;
    m->watch[store] = NONE;
    for (; w != NONE; w = next) {
        uint32_t id = w >> 1, k = w & 1;
        struct clause *c = &m->clauses.data[id];
        struct knot_literal *l = &m->literals.data[c->first];
        next = c->watch_next[k];
        uint32_t j = c->decisions;
        if (holds(m, l[k]))
            for (j = 2; j < c->decisions && holds(m, l[j]); j++)
                ;
        bool last = holds(m, l[k]) && j == c->decisions;
        if (holds(m, l[k]) && !last) {
            struct knot_literal swap = l[k];
            l[k] = l[j];
            l[j] = swap;
        }
        watch_literal(m, id, k);
        if (last && !imply(m, l[1 - k], id))
            return false;
    }
    return true;
}

/* ---- performing and taking back -------------------------------------------------------- */

static bool perform_access(struct loom *m, uint32_t node, uint32_t i)
{
    struct access a = m->g->access[i];
    uint32_t cell = cell_of(m->g, a);
    if (!is_write(m, a)) {
        if (!m->counted[i])
            return true;
        uint32_t id = store_id(m, m->w->source[a.event], a.slot);
        m->pending[id]--;
        m->pending_sum[id] ^= node;
        return m->pending[id] > 1 || m->active[cell] != m->w->source[a.event] || wake(m, cell);
    }
    m->overwrote[store_id(m, a.event, a.slot)] = m->active[cell];
    m->active[cell] = a.event;
    bool placed = true;
    if (has_views(m)) {
        uint32_t loc = m->x->loc[a.event];
        placed = m->line_index[cell]++ == m->line[loc].count;
        if (placed) {
            if (!VEC_PUSH(m->o, &m->line[loc], a.event))
                return false;
            m->lead[a.event] = node;
        }
    }
    return wake(m, cell) && (!placed || m->watch[a.event] == NONE || propagate(m, a.event));
}

static bool perform(struct loom *m, uint32_t node)
{
    const struct graph *g = m->g;
    m->state[node] = DONE;
    m->position[node] = (uint32_t)m->trail.count;
    m->performed += g->kind.data[node] == NODE_REAL;
    if (!VEC_PUSH(m->o, &m->trail, node))
        return false;
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++)
        if (!perform_access(m, node, i))
            return false;
    for (uint32_t i = g->succ_first[node]; i < g->succ_first[node + 1]; i++)
        if (!release(m, g->succ[i]))
            return false;
    for (uint32_t l = m->out[node]; l != NONE; l = m->links.data[l].next_out)
        if (!release(m, m->links.data[l].to))
            return false;
    return true;
}

static bool take_back(struct loom *m, uint32_t node)
{
    const struct graph *g = m->g;
    for (uint32_t l = m->out[node]; l != NONE; l = m->links.data[l].next_out)
        m->wait[m->links.data[l].to]++;
    for (uint32_t i = g->succ_first[node]; i < g->succ_first[node + 1]; i++)
        m->wait[g->succ[i]]++;
    for (uint32_t i = g->access_first[node + 1]; i-- > g->access_first[node];) {
        struct access a = g->access[i];
        uint32_t cell = cell_of(g, a);
        if (!is_write(m, a)) {
            if (!m->counted[i])
                continue;
            uint32_t id = store_id(m, m->w->source[a.event], a.slot);
            m->pending[id]++;
            m->pending_sum[id] ^= node;
            continue;
        }
        m->active[cell] = m->overwrote[store_id(m, a.event, a.slot)];
        if (has_views(m)) {
            uint32_t loc = m->x->loc[a.event];
            m->line_index[cell]--;
            if (m->lead[a.event] == node) { /* other views need not follow it any more */
                m->line[loc].count--;
                m->lead[a.event] = NONE;
                for (uint32_t c = g->cell_first[loc]; c < g->cell_first[loc + 1]; c++)
                    if (!wake(m, c))
                        return false;
            }
        }
        if (!wake(m, cell))
            return false;
    }
    m->position[node] = NONE;
    m->performed -= g->kind.data[node] == NODE_REAL;
    m->w->stats.undone++;
    return push_ready(m, node);
}

static bool unlink_fact(struct loom *m, uint32_t f)
{
    struct fact *fact = &m->facts.data[f];
    uint32_t end = fact->link_first + cells_of(m->g, m->x->loc[fact->before]);
    for (uint32_t l = fact->link_first; l < end; l++) {
        drop_link(m, l);
        if (m->position[m->links.data[l].from] == NONE && !release(m, m->links.data[l].to))
            return false;
    }
    m->chosen -= fact->clause == NONE;
    fact->link_first = NONE;
    return true;
}

/* Facts and links that no longer hold are given up as soon as nothing stands behind them. */
static void trim(struct loom *m)
{
    while (m->facts.count && m->facts.data[m->facts.count - 1].link_first == NONE)
        m->facts.count--;
    size_t links = m->reads_links;
    if (m->facts.count) {
        struct fact *f = &m->facts.data[m->facts.count - 1];
        links = f->link_first + cells_of(m->g, m->x->loc[f->before]);
    }
    m->links.count = links;
}

static bool take_back_to(struct loom *m, uint32_t count)
{
    while (m->trail.count > count)
        if (!take_back(m, m->trail.data[--m->trail.count]))
            return false;
    size_t kept = 0;
    for (size_t i = 0; i < m->tentative.count; i++) {
        uint32_t f = m->tentative.data[i];
        if (m->facts.data[f].level <= count)
            m->tentative.data[kept++] = f;
        else if (!unlink_fact(m, f))
            return false;
    }
    m->tentative.count = kept;
    trim(m);
    return true;
}

/* A store that reads what it overwrites is next for its word in any order: no decision. */
static bool forced(const struct loom *m, uint32_t node)
{
    const struct graph *g = m->g;
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++) {
        struct access a = g->access[i];
        if (!is_write(m, a))
            continue;
        uint32_t id = store_id(m, m->active[cell_of(g, a)], a.slot);
        bool follows = has_views(m) && next_in_line(m, a.event, a.slot) == a.event;
        if (!follows && !(m->pending[id] == 1 && m->pending_sum[id] == node))
            return false;
    }
    return true;
}

/* Perform all that is possible; false when out of memory or time. */
static bool advance(struct loom *m)
{
    for (;;) {
        bool chosen = m->stack.count == 0;
        if (chosen && m->heap.count == 0)
            return true;
        uint32_t node = chosen ? heap_pop(m) : m->stack.data[--m->stack.count];
        if (m->state[node] != QUEUED)
            continue;
        if (m->wait[node]) {
            m->state[node] = IDLE;
            continue;
        }
        uint32_t cell = blocking_cell(m, node);
        if (cell != NONE) {
            m->state[node] = PARKED;
            m->park_next[node] = m->park[cell];
            m->park[cell] = node;
            continue;
        }
        if (!chosen && !forced(m, node)) {
            if (!heap_push(m, node))
                return false;
            continue;
        }
        m->w->stats.decisions += chosen;
        if (!perform(m, node)
            || limit_hit(m->o, "search", (double)m->performed / (m->real ? m->real : 1)))
            return false;
    }
}

/* ---- conflict analysis ---------------------------------------------------------------- */

/* Is a < b certain, without any decision? Such certainties are program order on one word, and
 * b's own group having seen a; others become facts when they matter. */
static bool certain(const struct loom *m, uint32_t a, uint32_t b)
{
    const struct execution *x = m->x;
    if (is_initial(x, a) || program_order(x, a, b))
        return true;
    uint32_t h = x->group[b];
    for (uint32_t e = x->group_first[h]; (x->group_flags[h] & GROUP_LOADS)
                                         && e < x->group_first[h + 1]; e++)
        if (!x->is_store[e] && x->loc[e] == x->loc[b] && source_of(x, e) == a)
            return true;
    return false;
}

typedef bool (*step_visitor)(struct loom *m, struct step s);

static bool visit_order(struct loom *m, struct step s, step_visitor visit)
{
    s.fact = fact_between(m, s.a, s.b);
    s.decision = s.fact == NONE && !certain(m, s.a, s.b);
    return visit(m, s);
}

static bool visit_write(struct loom *m, uint32_t node, uint32_t i, step_visitor visit)
{
    struct access a = m->g->access[i];
    uint32_t old = overwritten(m, node, i), id = store_id(m, old, a.slot);
    for (uint32_t k = m->reader_first[id]; m->pending[id] && k < m->reader_first[id + 1]; k++)
        if (m->reader[k] != node && m->position[m->reader[k]] == NONE
            && !visit_order(m, (struct step){ .from = m->reader[k], .to = node, .a = old,
                                              .b = a.event, .slot = a.slot,
                                              .reason = KNOT_OVERWRITE }, visit))
            return false;
    if (!has_views(m))
        return true;
    uint32_t next = next_in_line(m, a.event, a.slot);
    return next == NONE || next == a.event
        || visit_order(m, (struct step){ .from = node_of_store(m->g, next, a.slot), .to = node,
                                         .a = next, .b = a.event, .slot = a.slot,
                                         .reason = KNOT_ORDER }, visit);
}

/* Everything the node waits for; the visitor returns false to stop. */
static bool visit_waits(struct loom *m, uint32_t node, step_visitor visit)
{
    const struct graph *g = m->g;
    if (node && m->position[0] == NONE
        && !visit(m, (struct step){ .from = 0, .to = node, .reason = KNOT_ROOT, .fact = NONE }))
        return false;
    for (uint32_t i = g->pred_first[node]; i < g->pred_first[node + 1]; i++)
        if (m->position[g->pred[i]] == NONE
            && !visit(m, (struct step){ .from = g->pred[i], .to = node, .reason = KNOT_STATIC,
                                        .fact = NONE }))
            return false;
    for (uint32_t l = m->in[node]; l != NONE; l = m->links.data[l].next_in) {
        struct link k = m->links.data[l];
        if (m->position[k.from] == NONE
            && !visit(m, (struct step){ .from = k.from, .to = node, .reason = k.reason, .a = k.a,
                                        .b = k.b, .slot = k.slot, .fact = k.fact }))
            return false;
    }
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++)
        if (is_write(m, g->access[i]) && !visit_write(m, node, i, visit))
            return false;
    return true;
}

/* Steps that cost a decision wait in `later`, the others are followed at once: the first way
 * found to any node has the fewest decisions. */
static bool reach(struct loom *m, struct step s)
{
    if (m->stamp[s.from] == m->now)
        return true;
    if (!VEC_PUSH(m->o, &m->steps, s))
        return false;
    uint32_t id = (uint32_t)m->steps.count - 1;
    if (s.decision)
        return VEC_PUSH(m->o, &m->later, id);
    m->stamp[s.from] = m->now;
    m->parent[s.from] = id;
    return VEC_PUSH(m->o, &m->queue, s.from);
}

static bool next_layer(struct loom *m)
{
    m->queue.count = 0;
    for (size_t i = 0; i < m->later.count; i++) {
        struct step s = m->steps.data[m->later.data[i]];
        if (m->stamp[s.from] == m->now)
            continue;
        m->stamp[s.from] = m->now;
        m->parent[s.from] = m->later.data[i];
        if (!VEC_PUSH(m->o, &m->queue, s.from))
            return false;
    }
    m->later.count = 0;
    return true;
}

/* The circle through `node` with the fewest decisions, at most `most` of them, into m->cycle (empty:
 * none). False when out of memory. */
static bool find_cycle(struct loom *m, uint32_t node, uint32_t most)
{
    m->now++;
    m->steps.count = m->queue.count = m->later.count = m->cycle.count = 0;
    if (!visit_waits(m, node, reach))
        return false;
    for (uint32_t layer = 0;; layer++) {
        for (size_t i = 0; i < m->queue.count && m->stamp[node] != m->now; i++)
            if (!visit_waits(m, m->queue.data[i], reach))
                return false;
        if (m->stamp[node] == m->now)
            break;
        if (layer == most || m->later.count == 0)
            return true;
        if (!next_layer(m))
            return false;
    }
    uint32_t at = node;
    do {
        struct step s = m->steps.data[m->parent[at]];
        if (!VEC_PUSH(m->o, &m->cycle, s))
            return false;
        at = s.to;
    } while (at != node);
    return true;
}

static bool same_literal(struct knot_literal p, struct knot_literal q)
{
    return p.a == q.a && p.b == q.b && p.reads == q.reads && p.negated == q.negated;
}

static bool add_literal(struct loom *m, struct knot_literal l)
{
    for (size_t i = 0; i < m->conflict.count; i++)
        if (same_literal(m->conflict.data[i], l))
            return true;
    return VEC_PUSH(m->o, &m->conflict, l);
}

/* When the literal was decided, in half steps of the trail (guesses come between nodes); 0: it was
 * given from the start. */
static uint64_t decided_at(const struct loom *m, struct knot_literal l)
{
    if (l.reads)
        return 0;
    uint32_t f = fact_between(m, l.a, l.b);
    if (f != NONE && m->facts.data[f].clause == NONE)
        return 2 * (uint64_t)m->facts.data[f].level;
    return 2 * (uint64_t)place(m, l.a) + 1;
}

static bool log_literal(struct loom *m, struct knot_literal l, uint32_t first)
{
    struct weave_log *log = m->w->log;
    for (size_t i = first; i < log->literals.count; i++)
        if (same_literal(log->literals.data[i], l))
            return true;
    return VEC_PUSH(m->o, &log->literals, l);
}

static bool ambiguous(const struct loom *m, uint32_t load)
{
    return source_of(m->x, load) == NONE;
}

/* The load of the node that sees the store, one that can have seen no other if there is. */
static uint32_t load_seeing(const struct loom *m, uint32_t node, uint32_t store)
{
    const struct graph *g = m->g;
    uint32_t found = NONE;
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++) {
        uint32_t e = g->access[i].event;
        if (!m->x->is_store[e] && m->w->source[e] == store && (found == NONE || !ambiguous(m, e)))
            found = e;
    }
    return found;
}

/* What a load was assumed to see, if the step rests on it. */
static bool log_reads(struct loom *m, struct step s, uint32_t load, uint32_t first)
{
    bool assumed = s.reason == KNOT_READS || (s.reason == KNOT_OVERWRITE && ambiguous(m, load));
    struct knot_literal l = { load, s.reason == KNOT_READS ? s.b : s.a, true, false };
    return !assumed || (log_literal(m, l, first) && add_literal(m, l));
}

/* The decisions that the fact rests on, through other facts that were there before it; the
 * knots on the way are grounds. */
static bool add_reasons(struct loom *m, uint32_t fact)
{
    struct fact f = m->facts.data[fact];
    struct clause c = m->clauses.data[f.clause];
    if (!VEC_PUSH(m->o, &m->w->log->grounds, c.knot))
        return false;
    for (uint32_t i = c.first; i < c.first + c.count; i++) {
        struct knot_literal l = m->literals.data[i];
        if (!l.reads && l.a == f.after && l.b == f.before)
            continue;
        uint32_t behind = l.reads ? NONE : fact_between(m, l.a, l.b);
        bool rests = behind != NONE && behind < fact && m->facts.data[behind].clause != NONE;
        if (!(rests ? add_reasons(m, behind) : add_literal(m, l)))
            return false;
    }
    return true;
}

/* That a store is last rests on its being after the others with its value. */
static bool log_final(struct loom *m, struct step s, uint32_t first)
{
    const struct execution *x = m->x;
    const struct final *f = open_final_of(x, s.b);
    for (uint32_t i = f->first; i < f->first + f->count; i++) {
        struct knot_literal l = { x->final_store[i], s.b, false, false };
        if (l.a != s.b && !certain(m, l.a, l.b)
            && (!log_literal(m, l, first) || !add_literal(m, l)))
            return false;
    }
    return true;
}

static bool log_edge(struct loom *m, struct step s, uint32_t first_literal)
{
    struct weave_log *log = m->w->log;
    struct knot_literal l = { s.a, s.b, false, false };
    bool guess = s.fact != NONE && m->facts.data[s.fact].clause == NONE;
    bool unit = s.fact != NONE && !guess
             && m->clauses.data[m->facts.data[s.fact].clause].count == 1;
    uint32_t load = s.reason == KNOT_READS ? s.a
                  : s.reason == KNOT_OVERWRITE ? load_seeing(m, s.from, s.a) : NONE;
    struct knot_edge e = { s.from, s.to, s.reason, s.a, s.b, s.slot, load };
    if (!VEC_PUSH(m->o, &log->edges, e) || !log_reads(m, s, load, first_literal)
        || (s.reason == KNOT_FINAL && !log_final(m, s, first_literal)))
        return false;
    if (s.decision || guess)
        return add_literal(m, l) && log_literal(m, l, first_literal);
    if (unit)
        return VEC_PUSH(m->o, &log->grounds, m->clauses.data[m->facts.data[s.fact].clause].knot);
    return s.fact == NONE || log_literal(m, l, first_literal);
}

/* The same clause over decisions alone: facts in the circle give way to what they rest on. */
static bool log_resolvent(struct loom *m)
{
    struct weave_log *log = m->w->log;
    uint32_t circle = (uint32_t)log->knots.count - 1;
    struct knot k = { .ground_first = (uint32_t)log->grounds.count };
    if (!VEC_PUSH(m->o, &log->grounds, circle))
        return false;
    bool resolved = false;
    for (size_t i = 0; i < m->cycle.count; i++) {
        uint32_t f = m->cycle.data[i].fact;
        if (f == NONE || m->facts.data[f].clause == NONE
            || m->clauses.data[m->facts.data[f].clause].count == 1)
            continue;
        resolved = true;
        if (!add_reasons(m, f))
            return false;
    }
    k.ground_count = (uint32_t)log->grounds.count - k.ground_first;
    k.literal_first = (uint32_t)log->literals.count;
    k.literal_count = (uint32_t)m->conflict.count;
    for (size_t i = 0; resolved && i < m->conflict.count; i++)
        if (!VEC_PUSH(m->o, &log->literals, m->conflict.data[i]))
            return false;
    if (!resolved)
        log->grounds.count--;
    return !resolved || VEC_PUSH(m->o, &log->knots, k);
}

/* Enter the circle in m->cycle into the log; m->conflict becomes the decisions it speaks against. */
static bool log_cycle(struct loom *m)
{
    struct weave_log *log = m->w->log;
    struct knot k = { .edge_first = (uint32_t)log->edges.count,
                      .edge_count = (uint32_t)m->cycle.count,
                      .literal_first = (uint32_t)log->literals.count,
                      .ground_first = (uint32_t)log->grounds.count };
    m->conflict.count = 0;
    for (size_t i = 0; i < m->cycle.count; i++)
        if (!log_edge(m, m->cycle.data[i], k.literal_first))
            return false;
    k.literal_count = (uint32_t)log->literals.count - k.literal_first;
    k.ground_count = (uint32_t)log->grounds.count - k.ground_first;
    return VEC_PUSH(m->o, &log->knots, k) && log_resolvent(m);
}

/* Draw the consequence of the circle in m->cycle: turn round its latest decision. The trail is
 * taken back later, all circles of one standstill together. */
static bool learn(struct loom *m)
{
    m->w->stats.knots++;
    if (!log_cycle(m))
        return false;
    /* Decisions first, the latest of them before all. */
    uint64_t latest = 0, second = 0;
    uint32_t decisions = 0;
    struct knot_literal *l = m->conflict.data;
    for (size_t i = 0; i < m->conflict.count; i++) {
        uint64_t at = decided_at(m, l[i]);
        if (at == 0)
            continue;
        struct knot_literal swap = l[i];
        l[i] = l[decisions];
        l[decisions] = swap;
        uint32_t to = at > latest ? 0 : at > second ? 1 : decisions;
        swap = l[to];
        l[to] = l[decisions];
        l[decisions] = swap;
        if (to == 0 && decisions > 1) { /* the former latest is second now */
            swap = l[1];
            l[1] = l[decisions];
            l[decisions] = swap;
        }
        second = to == 0 ? latest : to == 1 ? at : second;
        latest = to == 0 ? at : latest;
        decisions++;
    }
    if (decisions == 0) {
        m->refuted = true;
        return true;
    }
    m->split += m->conflict.count > 1;
    struct clause c = { .first = (uint32_t)m->literals.count,
                        .count = (uint32_t)m->conflict.count, .decisions = decisions,
                        .knot = (uint32_t)m->w->log->knots.count - 1 };
    for (size_t i = 0; i < m->conflict.count; i++)
        if (!VEC_PUSH(m->o, &m->literals, l[i]))
            return false;
    uint32_t undo_to = (uint32_t)(latest / 2);
    m->undo_to = undo_to < m->undo_to ? undo_to : m->undo_to;
    return VEC_PUSH(m->o, &m->clauses, c);
}

static void swap_literals(struct loom *m, struct clause c, uint32_t i, uint32_t j)
{
    struct knot_literal *l = &m->literals.data[c.first], swap = l[i];
    l[i] = l[j];
    l[j] = swap;
}

static bool guessed(const struct loom *m, struct knot_literal l)
{
    return m->chosen && fact_between(m, l.a, l.b) != NONE;
}

/* Move the literals that do not hold to the front; returns how many they are. *level: how much
 * of the trail the others rest on. */
static uint32_t sort_literals(struct loom *m, struct clause c, uint32_t *level)
{
    uint32_t open = 0;
    *level = 0;
    for (uint32_t i = 0; i < c.decisions; i++) {
        struct knot_literal l = m->literals.data[c.first + i];
        if (!holds(m, l) && !guessed(m, l)) {
            swap_literals(m, c, i, open++);
            continue;
        }
        uint32_t at = (uint32_t)((decided_at(m, l) + 1) / 2);
        if (at > *level) { /* the latest is the one to watch */
            *level = at;
            if (open < 2)
                swap_literals(m, c, i, open);
        }
    }
    return open;
}

/* A clause has turned against a guess: it goes, and what was concluded from it. */
static bool give_up_guess(struct loom *m, struct knot_literal l)
{
    uint32_t guess = m->chosen ? fact_between(m, l.a, l.b) : NONE;
    if (guess == NONE || m->facts.data[guess].clause != NONE || !m->facts.data[guess].level)
        return true;
    size_t kept = 0;
    for (size_t i = 0; i < m->tentative.count; i++) {
        uint32_t f = m->tentative.data[i];
        bool rests = f == guess;
        if (m->facts.data[f].clause != NONE) {
            struct clause c = m->clauses.data[m->facts.data[f].clause];
            for (uint32_t k = c.first; k < c.first + c.count; k++)
                rests |= same_literal(m->literals.data[k], l);
        }
        if (!rests)
            m->tentative.data[kept++] = f;
        else if (!unlink_fact(m, f))
            return false;
    }
    m->tentative.count = kept;
    trim(m);
    return true;
}

static bool conclude(struct loom *m, struct fact f)
{
    if (m->x->group[f.before] == m->x->group[f.after] && f.before < f.after)
        return true; /* they are performed at once, in this order */
    return fact_between(m, f.before, f.after) != NONE
        || (VEC_PUSH(m->o, &m->facts, f) && link_fact(m, (uint32_t)m->facts.count - 1));
}

/* Put the clauses learnt at this standstill to work, now that the order is taken back. */
static bool apply_clauses(struct loom *m, size_t first)
{
    for (uint32_t id = (uint32_t)first; id < m->clauses.count; id++)
        if (!give_up_guess(m, m->literals.data[m->clauses.data[id].first]))
            return false;
    size_t before = m->facts.count;
    for (uint32_t id = (uint32_t)first; id < m->clauses.count; id++) {
        struct clause c = m->clauses.data[id];
        uint32_t level, open = sort_literals(m, c, &level);
        struct knot_literal l = m->literals.data[c.first];
        if (c.decisions > 1) {
            watch_literal(m, id, 0);
            watch_literal(m, id, 1);
        }
        if (open == 1 && !conclude(m, (struct fact){ l.b, l.a, level, id, NONE }))
            return false;
    }
    if (m->facts.count > before)
        return true;
    /* One node decided several literals at once: none is implied, so one is guessed away. */
    struct knot_literal l = m->literals.data[m->clauses.data[first].first];
    return conclude(m, (struct fact){ l.b, l.a, (uint32_t)m->trail.count, NONE, NONE });
}

/* ---- standstill ------------------------------------------------------------------------ */

static bool prefer_certain(struct loom *m, struct step s)
{
    m->walk = s;
    return s.decision;
}

/* Follow what waits for what until it closes, and put the circle into m->cycle; nothing, when the
 * way joins one taken before. */
static bool walk_circle(struct loom *m, uint32_t node)
{
    uint32_t start = (uint32_t)m->way.count;
    m->cycle.count = 0;
    while (m->walked[node] == NONE) {
        m->walked[node] = (uint32_t)m->way.count;
        m->walk = (struct step){ .from = NONE };
        visit_waits(m, node, prefer_certain);
        assert(m->walk.from != NONE);
        if (!VEC_PUSH(m->o, &m->way, m->walk))
            return false;
        node = m->walk.from;
    }
    for (size_t i = m->way.count; m->walked[node] >= start && i-- > m->walked[node];)
        if (!VEC_PUSH(m->o, &m->cycle, m->way.data[i]))
            return false;
    return true;
}

static void forget_ways(struct loom *m)
{
    for (size_t i = 0; i < m->way.count; i++)
        m->walked[m->way.data[i].to] = NONE;
    m->way.count = 0;
}

/* Learn from circles through the nodes that wait for one another around `start`: with at most one
 * decision, found by walking or by searching. The nodes of other circles go to m->choice. */
static bool learn_units(struct loom *m, uint32_t start)
{
    if (m->walked[start] != NONE)
        return true;
    if (!walk_circle(m, start))
        return false;
    size_t decisions = 0, first = m->choice.count;
    for (size_t i = 0; i < m->cycle.count; i++)
        if (m->cycle.data[i].decision) {
            decisions++;
            if (!VEC_PUSH(m->o, &m->choice, m->cycle.data[i].to))
                return false;
        }
    if (m->cycle.count && decisions <= 1)
        return learn(m);
    for (size_t i = first; i < m->choice.count && !m->refuted; i++)
        if (!find_cycle(m, m->choice.data[i], 1) || (m->cycle.count && !learn(m)))
            return false;
    return true;
}

static uint32_t any_waiting(const struct loom *m)
{
    for (uint32_t n = 0; n < m->g->nodes; n++)
        if (m->position[n] == NONE)
            return n;
    return NONE;
}

/* Nothing can go on: learn why, and take the order back to before the mistake. */
static bool resolve(struct loom *m)
{
    size_t first = m->clauses.count;
    m->undo_to = NONE;
    m->choice.count = 0;
    for (uint32_t c = 0; c < m->g->cell_first[m->x->locations] && !m->refuted; c++)
        for (uint32_t node = m->park[c]; node != NONE && !m->refuted; node = m->park_next[node])
            if (m->wait[node] == 0 && !learn_units(m, node))
                return false;
    if (m->undo_to == NONE && !m->refuted && m->choice.count == 0 && !learn_units(m, any_waiting(m)))
        return false;
    forget_ways(m);
    if (m->undo_to == NONE && !m->refuted
        && (!find_cycle(m, m->choice.data[0], UINT32_MAX) || !learn(m)))
        return false;
    if (m->refuted)
        return true;
    return take_back_to(m, m->undo_to) && apply_clauses(m, first);
}

/* ---- setting up ------------------------------------------------------------------------ */

static bool count_readers(struct loom *m)
{
    const struct graph *g = m->g;
    uint32_t *last = mem_array(m->o, g->stores, sizeof *last);
    m->reader_first = mem_zero(m->o, (size_t)g->stores + 2, sizeof *m->reader_first);
    if (!last || !m->reader_first)
        goto out;
    memset(last, 0xff, g->stores * sizeof *last);
    for (uint32_t n = 0; n < g->nodes; n++)
        for (uint32_t i = g->access_first[n]; i < g->access_first[n + 1]; i++) {
            struct access a = g->access[i];
            if (is_write(m, a))
                continue;
            uint32_t id = store_id(m, m->w->source[a.event], a.slot);
            m->counted[i] = last[id] != n;
            if (!m->counted[i])
                continue;
            last[id] = n;
            m->pending[id]++;
            m->pending_sum[id] ^= n;
            m->reader_first[id + 2]++;
        }
    for (uint32_t id = 0; id < g->stores; id++)
        m->reader_first[id + 2] += m->reader_first[id + 1];
    m->reader = mem_array(m->o, m->reader_first[g->stores + 1], sizeof *m->reader);
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
    mem_free(m->o, last, g->stores * sizeof *last);
    return m->reader != NULL;
}

/* Nodes in an order that respects the graph, as far as it has no cycle; depth is the length of
 * the longest way to each, along `first`/`next`. */
static uint32_t longest_ways(struct loom *m, const uint32_t *first, const uint32_t *next,
                             uint32_t *degree, uint32_t *order, uint32_t *depth)
{
    uint32_t n = m->g->nodes, tail = 0, deepest = 0;
    for (uint32_t i = 0; i < n; i++)
        if (degree[i] == 0)
            order[tail++] = i;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t node = order[head], d = depth[node] + 1;
        deepest = d > deepest ? d : deepest;
        for (uint32_t i = first[node]; i < first[node + 1]; i++) {
            uint32_t to = next[i];
            depth[to] = d > depth[to] ? d : depth[to];
            if (--degree[to] == 0)
                order[tail++] = to;
        }
    }
    return deepest;
}

/* Without a better guess, a node's time is the mean of the earliest and the latest place it
 * can have: values seen across threads tie the threads' speeds together. */
static bool set_keys(struct loom *m)
{
    const struct graph *g = m->g;
    size_t n = g->nodes;
    uint32_t *degree = mem_array(m->o, n, sizeof *degree), *order = mem_array(m->o, n, sizeof *order);
    uint32_t *early = mem_zero(m->o, n, sizeof *early), *late = mem_zero(m->o, n, sizeof *late);
    bool ok = degree && order && early && late;
    if (ok) {
        for (uint32_t i = 0; i < n; i++)
            degree[i] = g->pred_first[i + 1] - g->pred_first[i];
        longest_ways(m, g->succ_first, g->succ, degree, order, early);
        for (uint32_t i = 0; i < n; i++)
            degree[i] = g->succ_first[i + 1] - g->succ_first[i];
        uint32_t deepest = longest_ways(m, g->pred_first, g->pred, degree, order, late);
        for (uint32_t i = 0; i < n; i++)
            m->key[i] = (uint64_t)early[i] + deepest - late[i];
    }
    mem_free(m->o, degree, n * sizeof *degree);
    mem_free(m->o, order, n * sizeof *order);
    mem_free(m->o, early, n * sizeof *early);
    mem_free(m->o, late, n * sizeof *late);
    return ok;
}

/* R4 and R5 for a load whose source is assumed. */
static bool link_reads(struct loom *m, uint32_t load, uint32_t own)
{
    const struct graph *g = m->g;
    const struct execution *x = m->x;
    uint32_t source = m->w->source[load];
    bool swapped = g->load_node && (x->group_flags[x->group[load]] & GROUP_STORES);
    struct link l = { .reason = KNOT_READS, .a = load, .b = source, .fact = NONE };
    for (uint32_t s = 0; s < cells_of(g, x->loc[load]); s++) {
        bool seen = !g->slot_thread
                 || g->slot_thread[g->cell_first[x->loc[load]] + s] == event_thread(x, load);
        l.slot = s;
        l.from = node_of_store(g, source, s);
        l.to = node_of_load(g, load);
        if (!is_initial(x, source) && (swapped || (seen && !program_order(x, source, load)))
            && !add_link(m, l))
            return false;
        l.to = l.from;
        if (own == NONE || own == source)
            continue;
        l.from = node_of_store(g, own, s);
        if (!add_link(m, l))
            return false;
    }
    return true;
}

/* Stores before the one taken to be last; those of the same value are ordered by assumption. */
static bool link_finals(struct loom *m)
{
    const struct execution *x = m->x;
    for (uint32_t k = 0; m->w->last && k < x->finals; k++) {
        uint32_t last = m->w->last[k], loc = x->final[k].loc;
        for (uint32_t e = x->locations; last != NONE && e < x->events; e++)
            for (uint32_t s = 0; s < cells_of(m->g, loc); s++)
                if (x->is_store[e] && x->loc[e] == loc && x->value[e] != x->value[last]
                    && !(x->group[e] == x->group[last] && e < last)
                    && !add_link(m, (struct link){ .from = node_of_store(m->g, e, s),
                                                   .to = node_of_store(m->g, last, s),
                                                   .reason = KNOT_FINAL, .a = e, .b = last,
                                                   .slot = s, .fact = NONE }))
                    return false;
    }
    return true;
}

static bool link_assumptions(struct loom *m)
{
    for (size_t i = 0; i < m->w->assumption_count; i++) {
        struct knot_literal l = m->w->assumptions[i];
        if (!conclude(m, (struct fact){ l.a, l.b, 0, NONE, NONE }))
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
    bool ok = own && thread;
    if (ok)
        memset(thread, 0xff, x->locations * sizeof *thread);
    for (uint32_t e = x->locations; ok && e < x->events; e++) {
        uint32_t loc = x->loc[e];
        if (thread[loc] != event_thread(x, e))
            own[loc] = NONE;
        thread[loc] = event_thread(x, e);
        if (x->is_store[e])
            own[loc] = e;
        else if (ambiguous(m, e))
            ok = link_reads(m, e, own[loc]);
    }
    mem_free(m->o, own, x->locations * sizeof *own);
    mem_free(m->o, thread, x->locations * sizeof *thread);
    return ok;
}

#define NODE_ARRAYS(DO) DO(wait) DO(position) DO(state) DO(out) DO(in) DO(park_next) DO(key) \
    DO(stamp) DO(parent) DO(walked)
#define STORE_ARRAYS(DO) DO(pending) DO(pending_sum) DO(overwrote)
#define CELL_ARRAYS(DO) DO(active) DO(park) DO(line_index)
#define VECTORS(DO) DO(trail) DO(stack) DO(heap) DO(links) DO(facts) DO(tentative) DO(clauses) DO(literals) \
    DO(steps) DO(cycle) DO(queue) DO(later) DO(conflict) DO(choice) DO(way)

static bool set_up(struct loom *m)
{
    const struct graph *g = m->g;
    const struct execution *x = m->x;
    uint32_t n = g->nodes, cells = g->cell_first[x->locations];
#define NEW(NAME) && (m->NAME = mem_zero(m->o, n, sizeof *m->NAME))
    bool ok = true NODE_ARRAYS(NEW);
#undef NEW
#define NEW(NAME) && (m->NAME = mem_zero(m->o, g->stores, sizeof *m->NAME))
    ok = ok STORE_ARRAYS(NEW);
#undef NEW
#define NEW(NAME) && (m->NAME = mem_zero(m->o, cells, sizeof *m->NAME))
    ok = ok CELL_ARRAYS(NEW);
#undef NEW
    ok = ok && (m->counted = mem_zero(m->o, g->accesses, sizeof *m->counted));
    if (ok && has_views(m))
        ok = (m->line = mem_zero(m->o, x->locations, sizeof *m->line))
          && (m->lead = mem_array(m->o, x->events, sizeof *m->lead));
    ok = ok && (m->watch = mem_array(m->o, x->events, sizeof *m->watch));
    if (!ok || !count_readers(m))
        return false;
    memset(m->position, 0xff, n * sizeof *m->position);
    memset(m->watch, 0xff, x->events * sizeof *m->watch);
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
    if (!set_keys(m) || !link_all_reads(m) || !link_finals(m))
        return false;
    m->reads_links = (uint32_t)m->links.count;
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
        if (m->wait[i] == 0 && !push_ready(m, i))
            return false;
    return true;
}

static void tear_down(struct loom *m)
{
    const struct graph *g = m->g;
    const struct execution *x = m->x;
    size_t n = g->nodes, cells = g->cell_first[x->locations];
#define FREE(NAME) mem_free(m->o, m->NAME, n * sizeof *m->NAME);
    NODE_ARRAYS(FREE)
#undef FREE
#define FREE(NAME) mem_free(m->o, m->NAME, g->stores * sizeof *m->NAME);
    STORE_ARRAYS(FREE)
#undef FREE
#define FREE(NAME) mem_free(m->o, m->NAME, cells * sizeof *m->NAME);
    CELL_ARRAYS(FREE)
#undef FREE
#define FREE(NAME) VEC_FREE(m->o, &m->NAME);
    VECTORS(FREE)
#undef FREE
    mem_free(m->o, m->counted, g->accesses * sizeof *m->counted);
    if (m->reader)
        mem_free(m->o, m->reader, m->reader_first[g->stores + 1] * sizeof *m->reader);
    mem_free(m->o, m->reader_first, ((size_t)g->stores + 2) * sizeof *m->reader_first);
    for (uint32_t l = 0; m->line && l < x->locations; l++)
        VEC_FREE(m->o, &m->line[l]);
    mem_free(m->o, m->line, x->locations * sizeof *m->line);
    mem_free(m->o, m->watch, x->events * sizeof *m->watch);
    mem_free(m->o, m->lead, x->events * sizeof *m->lead);
}

static bool run(struct loom *m, enum weave_outcome *outcome)
{
    if (!set_up(m) || !start(m))
        return false;
    for (;;) {
        if (!advance(m))
            return false;
        if (m->performed == m->real)
            break;
        if (!resolve(m))
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
    for (size_t i = 1; i < m->trail.count; i++)
        if (m->g->kind.data[m->trail.data[i]] == NODE_REAL)
            m->w->order.data[m->w->order.count++] = m->trail.data[i];
    return true;
}

enum ordeal_status weave_run(struct weave *w, enum weave_outcome *outcome)
{
    struct loom m = { .o = w->g->o, .w = w, .g = w->g, .x = w->g->x };
    bool ok = run(&m, outcome);
    tear_down(&m);
    return ok ? ORDEAL_OK : m.o->error.status;
}

void weave_log_free(struct ordeal *o, struct weave_log *log)
{
    VEC_FREE(o, &log->knots);
    VEC_FREE(o, &log->edges);
    VEC_FREE(o, &log->literals);
    VEC_FREE(o, &log->grounds);
}
