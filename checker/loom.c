/* SPDX-License-Identifier: Apache-2.0 */
/* Performing nodes and taking them back. */
#include "loom.h"

/* ---- links -------------------------------------------------------------------------- */

bool loom_add_link(struct loom *m, struct link l)
{
    uint32_t id = (uint32_t)m->links.count;
    assert(l.from < m->g->nodes && l.to < m->g->nodes);
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
    while (*p != id) {
        assert(*p != NONE);
        p = &m->links.data[*p].next_out;
    }
    *p = l->next_out;
    p = &m->in[l->to];
    while (*p != id) {
        assert(*p != NONE);
        p = &m->links.data[*p].next_in;
    }
    *p = l->next_in;
}

/* ---- nodes to try ------------------------------------------------------------------- */

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
    assert(m->heap.count > 0);
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

static bool push_ready(struct loom *m, uint32_t node)
{
    assert(m->state[node] != QUEUED);
    m->state[node] = QUEUED;
    return VEC_PUSH(m->o, &m->stack, node);
}

static bool wake(struct loom *m, uint32_t cell)
{
    uint32_t node = m->park[cell];
    m->park[cell] = NONE;
    for (uint32_t next; node != NONE; node = next) {
        next = m->park_next[node];
        assert(m->state[node] == PARKED);
        if (!push_ready(m, node))
            return false;
    }
    return true;
}

static bool release(struct loom *m, uint32_t node)
{
    assert(m->wait[node] > 0);
    return --m->wait[node] != 0 || m->state[node] != IDLE || push_ready(m, node);
}

/* ---- what keeps a node from being performed ----------------------------------------- */

/* An earlier store of the node's own, or the cell's. */
uint32_t loom_overwritten(const struct loom *m, uint32_t node, uint32_t i)
{
    const struct graph *g = m->g;
    uint32_t cell = cell_of(g, g->access[i]);
    for (uint32_t j = i; j-- > g->access_first[node];)
        if (is_write(m, g->access[j]) && cell_of(g, g->access[j]) == cell)
            return g->access[j].event;
    return m->active[cell];
}

uint32_t loom_next_in_line(const struct loom *m, uint32_t event, uint32_t slot)
{
    uint32_t loc = m->x->loc[event];
    uint32_t index = m->line_index[m->g->cell_first[loc] + slot];
    return index < m->line[loc].count ? m->line[loc].data[index] : NONE;
}

static bool only_reader(const struct loom *m, uint32_t id, uint32_t node)
{
    return m->pending[id].count == 1 && m->pending[id].sum == node;
}

/* The first cell in the way, or NONE. *forced: a store that reads what it overwrites, or follows
 * another view, is next for its word in any order; to perform it is no decision. */
static uint32_t blocking_cell(const struct loom *m, uint32_t node, bool *forced)
{
    const struct graph *g = m->g;
    *forced = true;
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++) {
        struct access a = g->access[i];
        if (!is_write(m, a))
            continue;
        uint32_t id = store_id(m, loom_overwritten(m, node, i), a.slot);
        uint32_t next = has_views(m) ? loom_next_in_line(m, a.event, a.slot) : NONE;
        bool own = only_reader(m, id, node);
        if ((m->pending[id].count && !own) || (next != NONE && next != a.event))
            return cell_of(g, a);
        *forced &= own || next == a.event;
    }
    return NONE;
}

/* Would the load see its value now: in its thread's own buffer, or in memory? */
static bool value_is_there(const struct loom *m, struct access a)
{
    const struct execution *x = m->x;
    uint32_t own = m->own[a.event];
    bool buffered = own != NONE && m->position[node_of_store(m->g, own, a.slot)] == NONE;
    return x->value[buffered ? own : m->active[cell_of(m->g, a)]] == x->value[a.event];
}

/* The first cell that does not have what the node saw, or NONE. */
static uint32_t lacking_cell(const struct loom *m, uint32_t node)
{
    const struct graph *g = m->g;
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++)
        if (source_of(m->x, g->access[i].event) == NONE && !value_is_there(m, g->access[i]))
            return cell_of(g, g->access[i]);
    return NONE;
}

/* ---- facts -------------------------------------------------------------------------- */

uint32_t loom_fact(const struct loom *m, uint32_t a, uint32_t b)
{
    for (uint32_t l = m->in[node_of_store(m->g, b, 0)]; l != NONE; l = m->links.data[l].next_in)
        if (m->links.data[l].a == a && m->links.data[l].b == b
            && m->links.data[l].reason == KNOT_ORDER)
            return m->links.data[l].fact;
    return NONE;
}

bool loom_holds(const struct loom *m, struct knot_literal l)
{
    return holds(m, l) || loom_fact(m, l.a, l.b) != NONE;
}

static bool note_rests(struct loom *m, uint32_t fact)
{
    struct fact f = m->facts.data[fact];
    struct clause c = m->clauses.data[f.clause];
    assert(f.standing == TENTATIVE && f.clause < m->clauses.count);
    for (uint32_t i = c.first; i < c.first + c.decisions; i++) {
        struct knot_literal l = m->literals.data[i];
        if (l.a == f.after && l.b == f.before)
            continue;
        uint32_t entry = m->rest_free;
        if (entry != NONE)
            m->rest_free = m->rests.data[entry].next;
        else if (entry = (uint32_t)m->rests.count, !VEC_PUSH(m->o, &m->rests, (struct rest){ 0 }))
            return false;
        m->rests.data[entry] = (struct rest){ fact, f.clause, m->rest_head[l.a] };
        m->rest_head[l.a] = entry;
    }
    return true;
}

bool loom_conclude(struct loom *m, struct fact f)
{
    const struct execution *x = m->x;
    assert(f.before != f.after && x->is_store[f.before] && x->is_store[f.after]
           && x->loc[f.before] == x->loc[f.after]);
    if (x->group[f.before] == x->group[f.after] && f.before < f.after)
        return true; /* they are performed at once, in this order */
    uint32_t id = loom_fact(m, f.before, f.after);
    if (id != NONE && (f.standing != PROVED || m->facts.data[id].standing == PROVED))
        return true;
    id = (uint32_t)m->facts.count;
    f.link_first = (uint32_t)m->links.count;
    m->guesses += f.standing == GUESSED;
    if (!VEC_PUSH(m->o, &m->facts, f) || (f.standing == TENTATIVE && !note_rests(m, id)))
        return false;
    for (uint32_t s = 0; s < cells_of(m->g, x->loc[f.before]); s++)
        if (!loom_add_link(m, (struct link){ .from = node_of_store(m->g, f.before, s),
                                             .to = node_of_store(m->g, f.after, s),
                                             .reason = KNOT_ORDER, .a = f.before, .b = f.after,
                                             .slot = s, .fact = id }))
            return false;
    return m->watch[f.before] == NONE || VEC_PUSH(m->o, &m->fresh, f.before);
}

bool loom_revoke(struct loom *m, uint32_t id)
{
    struct fact *f = &m->facts.data[id];
    assert(id < m->facts.count && f->link_first != NONE);
    uint32_t end = f->link_first + cells_of(m->g, m->x->loc[f->before]);
    for (uint32_t l = f->link_first; l < end; l++) {
        drop_link(m, l);
        if (m->position[m->links.data[l].from] == NONE && !release(m, m->links.data[l].to))
            return false;
    }
    assert(f->standing != GUESSED || m->guesses > 0);
    m->guesses -= f->standing == GUESSED;
    f->link_first = NONE;
    return m->rest_head[f->before] == NONE || loom_recheck(m, f->before);
}

void loom_trim(struct loom *m)
{
    while (m->facts.count && m->facts.data[m->facts.count - 1].link_first == NONE)
        m->facts.count--;
    m->links.count = m->lasting_links;
    if (m->facts.count) {
        struct fact *f = &m->facts.data[m->facts.count - 1];
        m->links.count = f->link_first + cells_of(m->g, m->x->loc[f->before]);
    }
}

/* ---- clauses at work ---------------------------------------------------------------- */

void loom_watch(struct loom *m, uint32_t clause, uint32_t k)
{
    struct clause *c = &m->clauses.data[clause];
    assert(k < 2 && c->decisions > 1); /* else there is nothing to wait for */
    uint32_t *head = &m->watch[m->literals.data[c->first + k].a];
    c->watch_next[k] = *head;
    *head = clause << 1 | k;
}

void loom_unwatch(struct loom *m, uint32_t clause, uint32_t k)
{
    struct clause *c = &m->clauses.data[clause];
    uint32_t *p = &m->watch[m->literals.data[c->first + k].a];
    while (*p != (clause << 1 | k)) {
        assert(*p != NONE);
        p = &m->clauses.data[*p >> 1].watch_next[*p & 1];
    }
    *p = c->watch_next[k];
}

/* All other literals of the clause hold, so this one must not. */
static bool imply_not(struct loom *m, struct knot_literal l, uint32_t clause)
{
    if (place(m, l.a) != place(m, l.b) || loom_fact(m, l.a, l.b) != NONE) /* decided already */
        return true;
    return loom_conclude(m, (struct fact){ l.b, l.a, TENTATIVE, clause, 0, NONE });
}

/* Literals with the store in front may hold now: clauses may have one literal left. */
static bool propagate_one(struct loom *m, uint32_t store)
{
    uint32_t w = m->watch[store], next;
    m->watch[store] = NONE;
    for (; w != NONE; w = next) {
        uint32_t id = w >> 1, k = w & 1;
        struct clause *c = &m->clauses.data[id];
        struct knot_literal *l = &m->literals.data[c->first];
        next = c->watch_next[k];
        assert(l[k].a == store);
        bool held = loom_holds(m, l[k]);
        uint32_t j = 2;
        while (held && j < c->decisions && loom_holds(m, l[j]))
            j++;
        if (held && j < c->decisions) {
            struct knot_literal swap = l[k];
            l[k] = l[j];
            l[j] = swap;
        }
        loom_watch(m, id, k);
        if (held && j >= c->decisions && !imply_not(m, l[1 - k], id))
            return false;
    }
    return true;
}

bool loom_propagate(struct loom *m)
{
    while (m->fresh.count)
        if (!propagate_one(m, m->fresh.data[--m->fresh.count]))
            return false;
    return true;
}

static bool propagate(struct loom *m, uint32_t store)
{
    return propagate_one(m, store) && loom_propagate(m);
}

/* ---- performing --------------------------------------------------------------------- */

static bool perform_write(struct loom *m, uint32_t node, struct access a)
{
    uint32_t cell = cell_of(m->g, a), loc = m->x->loc[a.event];
    assert(!has_views(m) || m->line_index[cell] <= m->line[loc].count);
    m->overwrote[store_id(m, a.event, a.slot)] = m->active[cell];
    m->active[cell] = a.event;
    if (has_views(m) && m->line_index[cell]++ == m->line[loc].count) {
        if (!VEC_PUSH(m->o, &m->line[loc], a.event))
            return false;
        m->lead[a.event] = node;
    }
    return wake(m, cell);
}

static bool perform_read(struct loom *m, uint32_t node, uint32_t i)
{
    struct access a = m->g->access[i];
    if (!m->counted[i])
        return true;
    uint32_t source = m->w->source[a.event], id = store_id(m, source, a.slot);
    uint32_t cell = cell_of(m->g, a);
    assert(m->pending[id].count > 0);
    m->pending[id].count--;
    m->pending[id].sum ^= node;
    bool flexible = m->flexible && m->flexible[node]; /* the store may not be performed yet */
    return m->pending[id].count > 1 || (m->active[cell] != source && !flexible) || wake(m, cell);
}

/* What follows from the places that the node has given its stores. Asked when all of them have one:
 * before that, facts might be drawn about stores of the very node. */
static bool propagate_places(struct loom *m, uint32_t node)
{
    const struct graph *g = m->g;
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++) {
        uint32_t e = g->access[i].event;
        if (is_write(m, g->access[i]) && m->watch[e] != NONE && leading_node(m, e) == node
            && !propagate(m, e))
            return false;
    }
    return true;
}

static bool perform(struct loom *m, uint32_t node)
{
    const struct graph *g = m->g;
    assert(m->state[node] == QUEUED && m->wait[node] == 0 && m->position[node] == NONE);
    m->state[node] = DONE;
    m->position[node] = (uint32_t)m->trail.count;
    m->performed += g->kind.data[node] == NODE_REAL;
    if (!VEC_PUSH(m->o, &m->trail, node))
        return false;
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++)
        if (!(is_write(m, g->access[i]) ? perform_write(m, node, g->access[i])
                                        : perform_read(m, node, i)))
            return false;
    if (!propagate_places(m, node))
        return false;
    for (uint32_t i = g->succ_first[node]; i < g->succ_first[node + 1]; i++)
        if (!release(m, g->succ[i]))
            return false;
    for (uint32_t l = m->out[node]; l != NONE; l = m->links.data[l].next_out)
        if (!release(m, m->links.data[l].to))
            return false;
    return true;
}

bool loom_advance(struct loom *m)
{
    for (;;) {
        bool chosen = m->stack.count == 0, forced;
        if (chosen && m->heap.count == 0) {
            if (m->g->nodes <= SMALL_ENOUGH || m->performed == m->real)
                check_hot(loom_check(m, true));
            return true;
        }
        uint32_t node = chosen ? heap_pop(m) : m->stack.data[--m->stack.count];
        if (m->state[node] != QUEUED)
            continue;
        if (m->wait[node]) {
            m->state[node] = IDLE;
            continue;
        }
        uint32_t cell = blocking_cell(m, node, &forced);
        if (m->flexible && m->flexible[node])
            cell = lacking_cell(m, node);
        if (cell != NONE) {
            m->state[node] = PARKED;
            m->park_next[node] = m->park[cell];
            m->park[cell] = node;
            continue;
        }
        if (!chosen && !forced) {
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

/* ---- taking back -------------------------------------------------------------------- */

/* Under views the order of a word's stores is one for all its cells. */
static uint32_t *taint_of(struct loom *m, struct access a)
{
    return &m->cell_taint[has_views(m) ? m->x->loc[a.event] : cell_of(m->g, a)];
}

/* Does the performed node rest on one to be taken back: by an edge, by what it overwrote, or by
 * what a flexible load happened to see? */
static bool rests_on_tainted(struct loom *m, uint32_t node)
{
    const struct graph *g = m->g;
    for (uint32_t i = g->pred_first[node]; i < g->pred_first[node + 1]; i++)
        if (m->tainted[g->pred[i]])
            return true;
    for (uint32_t l = m->in[node]; l != NONE; l = m->links.data[l].next_in)
        if (m->tainted[m->links.data[l].from])
            return true;
    bool flexible = m->flexible && m->flexible[node];
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++)
        if ((flexible || is_write(m, g->access[i]))
            && *taint_of(m, g->access[i]) == m->taint_round)
            return true;
    return false;
}

static bool take_back_write(struct loom *m, uint32_t node, struct access a)
{
    const struct graph *g = m->g;
    uint32_t cell = cell_of(g, a), loc = m->x->loc[a.event];
    assert(m->active[cell] == a.event); /* what overwrote it is taken back already */
    m->active[cell] = m->overwrote[store_id(m, a.event, a.slot)];
    if (has_views(m)) {
        assert(m->line_index[cell] > 0);
        m->line_index[cell]--;
        if (m->lead[a.event] == node) { /* other views need not follow it any more */
            assert(m->line[loc].data[m->line[loc].count - 1] == a.event);
            m->line[loc].count--;
            m->lead[a.event] = NONE;
            for (uint32_t c = g->cell_first[loc]; c < g->cell_first[loc + 1]; c++)
                if (!wake(m, c))
                    return false;
        }
    }
    return wake(m, cell);
}

static bool take_back(struct loom *m, uint32_t node)
{
    const struct graph *g = m->g;
    assert(m->tainted[node] && m->position[node] != NONE);
    for (uint32_t l = m->out[node]; l != NONE; l = m->links.data[l].next_out)
        m->wait[m->links.data[l].to]++;
    for (uint32_t i = g->succ_first[node]; i < g->succ_first[node + 1]; i++)
        m->wait[g->succ[i]]++;
    for (uint32_t i = g->access_first[node + 1]; i-- > g->access_first[node];) {
        struct access a = g->access[i];
        if (is_write(m, a)) {
            if (!take_back_write(m, node, a))
                return false;
        } else if (m->counted[i]) {
            uint32_t id = store_id(m, m->w->source[a.event], a.slot);
            m->pending[id].count++;
            m->pending[id].sum ^= node;
        }
    }
    m->position[node] = NONE;
    m->performed -= g->kind.data[node] == NODE_REAL;
    m->w->stats.undone++;
    return push_ready(m, node);
}

/* Mark all that rests on m->undo, in the order it was performed, and put it there. */
static bool collect_tainted(struct loom *m)
{
    const struct graph *g = m->g;
    uint32_t first = NONE;
    for (size_t i = 0; i < m->undo.count; i++) {
        uint32_t at = m->position[m->undo.data[i]];
        first = at < first ? at : first;
        m->tainted[m->undo.data[i]] = at != NONE;
    }
    m->undo.count = 0;
    m->taint_round++;
    for (size_t i = first; i < m->trail.count; i++) {
        uint32_t node = m->trail.data[i];
        if (m->position[node] != i || !(m->tainted[node] || rests_on_tainted(m, node)))
            continue;
        m->tainted[node] = true;
        if (!VEC_PUSH(m->o, &m->undo, node))
            return false;
        for (uint32_t k = g->access_first[node]; k < g->access_first[node + 1]; k++)
            *taint_of(m, g->access[k]) = m->taint_round;
    }
    return true;
}

/* A literal of the fact's clause holds no more: watch that, not the one that still holds. */
static void watch_anew(struct loom *m, uint32_t clause)
{
    struct clause *c = &m->clauses.data[clause];
    struct knot_literal *l = &m->literals.data[c->first];
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t j = 2; j < c->decisions && loom_holds(m, l[k]); j++)
            if (!loom_holds(m, l[j])) {
                loom_unwatch(m, clause, k);
                struct knot_literal swap = l[k];
                l[k] = l[j];
                l[j] = swap;
                loom_watch(m, clause, k);
            }
}

static bool still_stands(const struct loom *m, struct fact f)
{
    struct clause c = m->clauses.data[f.clause];
    for (uint32_t i = c.first; i < c.first + c.decisions; i++) {
        struct knot_literal l = m->literals.data[i];
        bool itself = l.a == f.after && l.b == f.before;
        if (!itself && !loom_holds(m, l))
            return false;
    }
    return true;
}

bool loom_recheck(struct loom *m, uint32_t store)
{
    uint32_t *p = &m->rest_head[store];
    while (*p != NONE) {
        uint32_t entry = *p;
        struct rest r = m->rests.data[entry];
        bool there = r.fact < m->facts.count && m->facts.data[r.fact].link_first != NONE
                  && m->facts.data[r.fact].clause == r.clause
                  && m->facts.data[r.fact].standing == TENTATIVE;
        if (there && still_stands(m, m->facts.data[r.fact])) {
            p = &m->rests.data[entry].next;
            continue;
        }
        *p = r.next;
        m->rests.data[entry].next = m->rest_free;
        m->rest_free = entry;
        if (!there)
            continue;
        watch_anew(m, r.clause);
        if (!loom_revoke(m, r.fact))
            return false;
        p = &m->rest_head[store]; /* others may have fallen with it, of this list too */
    }
    return true;
}

/* What rested on the places of these nodes' stores. */
static bool revoke_fallen(struct loom *m)
{
    const struct graph *g = m->g;
    for (size_t i = 0; i < m->undo.count; i++) {
        uint32_t node = m->undo.data[i];
        for (uint32_t k = g->access_first[node]; k < g->access_first[node + 1]; k++)
            if (is_write(m, g->access[k]) && m->rest_head[g->access[k].event] != NONE
                && !loom_recheck(m, g->access[k].event))
                return false;
    }
    loom_trim(m);
    return true;
}

/* Entries of nodes long taken back would fill memory in a long search. */
static void compact_trail(struct loom *m)
{
    uint32_t kept = 0;
    for (size_t k = 0; m->guesses && k < m->facts.count; k++) {
        struct fact *f = &m->facts.data[k];
        uint32_t before = 0;
        for (uint32_t i = 0; f->standing == GUESSED && i < f->since; i++)
            before += m->position[m->trail.data[i]] == i;
        f->since = before;
    }
    for (uint32_t i = 0; i < m->trail.count; i++) {
        uint32_t node = m->trail.data[i];
        if (m->position[node] != i)
            continue;
        m->position[node] = kept;
        m->trail.data[kept++] = node;
    }
    assert(kept <= m->g->nodes);
    m->trail.count = kept;
}

bool loom_take_back(struct loom *m)
{
    if (!collect_tainted(m))
        return false;
    for (size_t i = m->undo.count; i-- > 0;)
        if (!take_back(m, m->undo.data[i]))
            return false;
    for (size_t i = 0; i < m->undo.count; i++)
        m->tainted[m->undo.data[i]] = false;
    if (!revoke_fallen(m))
        return false;
    m->undo.count = 0;
    if (m->trail.count > 4 * (size_t)m->g->nodes + 65536)
        compact_trail(m);
    return true;
}
