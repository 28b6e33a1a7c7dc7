/* SPDX-License-Identifier: Apache-2.0 */
/* Learning from a standstill: circles of nodes that wait for one another, the decisions they
 * speak against, and what follows. */
#include "loom.h"

/* ---- what waits for what ------------------------------------------------------------ */

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
    s.fact = loom_fact(m, s.a, s.b);
    s.decision = s.fact == NONE && !certain(m, s.a, s.b);
    return visit(m, s);
}

static bool visit_write(struct loom *m, uint32_t node, uint32_t i, step_visitor visit)
{
    struct access a = m->g->access[i];
    uint32_t old = loom_overwritten(m, node, i), id = store_id(m, old, a.slot);
    for (uint32_t k = m->reader_first[id]; m->pending[id].count && k < m->reader_first[id + 1]; k++)
        if (m->reader[k] != node && m->position[m->reader[k]] == NONE
            && !visit_order(m, (struct step){ .from = m->reader[k], .to = node, .a = old,
                                              .b = a.event, .slot = a.slot,
                                              .reason = KNOT_OVERWRITE }, visit))
            return false;
    if (!has_views(m))
        return true;
    uint32_t next = loom_next_in_line(m, a.event, a.slot);
    return next == NONE || next == a.event
        || visit_order(m, (struct step){ .from = node_of_store(m->g, next, a.slot), .to = node,
                                         .a = next, .b = a.event, .slot = a.slot,
                                         .reason = KNOT_ORDER }, visit);
}

/* A flexible load waits for the store it is assumed to see; for one of its own thread only if
 * others stand in the way, and then those are in a circle of their own. */
static bool visit_read(struct loom *m, uint32_t node, struct access a, step_visitor visit)
{
    uint32_t source = m->w->source[a.event], from = node_of_store(m->g, source, a.slot);
    return source_of(m->x, a.event) != NONE || m->position[from] != NONE
        || program_order(m->x, source, a.event)
        || visit(m, (struct step){ .from = from, .to = node, .reason = KNOT_READS, .a = a.event,
                                   .b = source, .slot = a.slot, .fact = NONE });
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
    bool flexible = m->flexible && m->flexible[node];
    for (uint32_t i = g->access_first[node]; i < g->access_first[node + 1]; i++)
        if ((is_write(m, g->access[i]) && !visit_write(m, node, i, visit))
            || (flexible && !visit_read(m, node, g->access[i], visit)))
            return false;
    return true;
}

/* ---- circles ------------------------------------------------------------------------ */

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

/* The circle through `node` with the fewest decisions, at most `most` of them, into m->cycle
 * (empty: none). False when out of memory. */
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
        assert(m->stamp[at] == m->now && m->parent[at] < m->steps.count);
        struct step s = m->steps.data[m->parent[at]];
        assert(s.from == at);
        if (!VEC_PUSH(m->o, &m->cycle, s))
            return false;
        at = s.to;
    } while (at != node);
    return true;
}

static bool prefer_certain(struct loom *m, struct step s)
{
    m->walk = s;
    return s.decision;
}

/* Follow what waits for what until it closes, and put the circle into m->cycle; nothing, when the
 * way joins one taken before or ends. */
static bool walk_circle(struct loom *m, uint32_t node)
{
    uint32_t start = (uint32_t)m->way.count;
    m->cycle.count = 0;
    while (m->walked[node] == NONE) {
        m->walked[node] = (uint32_t)m->way.count;
        m->walk = (struct step){ .from = NONE };
        visit_waits(m, node, prefer_certain);
        bool ends = m->walk.from == NONE;
        if (ends)
            m->walk.to = node;
        if (!VEC_PUSH(m->o, &m->way, m->walk))
            return false;
        if (ends)
            return true;
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

/* ---- the log ------------------------------------------------------------------------ */

static bool add_literal(struct loom *m, struct knot_literal l)
{
    for (size_t i = 0; i < m->conflict.count; i++)
        if (same_literal(m->conflict.data[i], l))
            return true;
    return VEC_PUSH(m->o, &m->conflict, l);
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

/* So does the order of two loads that saw different stores, on both. */
static bool log_apart(struct loom *m, struct step s, uint32_t first)
{
    const uint32_t load[] = { s.a, s.b };
    for (int i = 0; i < 2; i++) {
        struct knot_literal l = { load[i], m->w->source[load[i]], true, false };
        if (ambiguous(m, load[i]) && (!log_literal(m, l, first) || !add_literal(m, l)))
            return false;
    }
    return true;
}

static bool has_reasons(const struct loom *m, uint32_t fact)
{
    return m->facts.data[fact].standing == PROVED || m->facts.data[fact].standing == TENTATIVE;
}

/* The decisions that the fact rests on, through other facts that were there before it; the
 * knots on the way are grounds. */
static bool add_reasons(struct loom *m, uint32_t fact)
{
    struct fact f = m->facts.data[fact];
    assert(has_reasons(m, fact) && f.clause < m->clauses.count);
    struct clause c = m->clauses.data[f.clause];
    if (!VEC_PUSH(m->o, &m->w->log->grounds, c.knot))
        return false;
    for (uint32_t i = c.first; i < c.first + c.count; i++) {
        struct knot_literal l = m->literals.data[i];
        if (!l.reads && l.a == f.after && l.b == f.before)
            continue;
        uint32_t behind = l.reads ? NONE : loom_fact(m, l.a, l.b);
        bool rests = behind != NONE && behind < fact && has_reasons(m, behind);
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
    uint32_t load = s.reason == KNOT_READS ? s.a
                  : s.reason == KNOT_OVERWRITE ? load_seeing(m, s.from, s.a) : NONE;
    struct knot_edge e = { s.from, s.to, s.reason, s.a, s.b, s.slot, load };
    assert(s.reason != KNOT_OVERWRITE || load != NONE);
    if (!VEC_PUSH(m->o, &log->edges, e) || !log_reads(m, s, load, first_literal)
        || (s.reason == KNOT_APART && !log_apart(m, s, first_literal))
        || (s.reason == KNOT_FINAL && !log_final(m, s, first_literal)))
        return false;
    if (s.decision || (s.fact != NONE && !has_reasons(m, s.fact)))
        return add_literal(m, l) && log_literal(m, l, first_literal);
    if (s.fact != NONE && m->facts.data[s.fact].standing == PROVED)
        return VEC_PUSH(m->o, &log->grounds, m->clauses.data[m->facts.data[s.fact].clause].knot);
    return s.fact == NONE || log_literal(m, l, first_literal);
}

/* The same clause over decisions alone: facts in the circle give way to what they rest on. */
static bool log_resolvent(struct loom *m)
{
    struct weave_log *log = m->w->log;
    uint32_t circle = (uint32_t)log->knots.count - 1;
    struct knot k = { .ground_first = (uint32_t)log->grounds.count };
    bool resolved = false;
    for (size_t i = 0; i < m->cycle.count; i++) {
        uint32_t f = m->cycle.data[i].fact;
        if (f == NONE || m->facts.data[f].standing != TENTATIVE)
            continue;
        resolved = true;
        if (!add_reasons(m, f))
            return false;
    }
    if (!resolved)
        return true;
    if (!VEC_PUSH(m->o, &log->grounds, circle))
        return false;
    k.ground_count = (uint32_t)log->grounds.count - k.ground_first;
    k.literal_first = (uint32_t)log->literals.count;
    k.literal_count = (uint32_t)m->conflict.count;
    for (size_t i = 0; i < m->conflict.count; i++)
        if (!VEC_PUSH(m->o, &log->literals, m->conflict.data[i]))
            return false;
    return VEC_PUSH(m->o, &log->knots, k);
}

/* Enter the circle in m->cycle into the log; m->conflict becomes what it speaks against. */
static bool log_cycle(struct loom *m)
{
    struct weave_log *log = m->w->log;
    struct knot k = { .edge_first = (uint32_t)log->edges.count,
                      .edge_count = (uint32_t)m->cycle.count,
                      .literal_first = (uint32_t)log->literals.count,
                      .ground_first = (uint32_t)log->grounds.count };
    m->conflict.count = 0;
    for (size_t i = 0; i < m->cycle.count; i++) {
        assert(m->cycle.data[i].to == m->cycle.data[(i + 1) % m->cycle.count].from);
        if (!log_edge(m, m->cycle.data[i], k.literal_first))
            return false;
    }
    k.literal_count = (uint32_t)log->literals.count - k.literal_first;
    k.ground_count = (uint32_t)log->grounds.count - k.ground_first;
    return VEC_PUSH(m->o, &log->knots, k) && log_resolvent(m);
}

/* ---- consequences ------------------------------------------------------------------- */

/* When the literal was decided, in half steps of the trail (guesses come between nodes); 0: it was
 * given from the start. */
static uint64_t decided_at(const struct loom *m, struct knot_literal l)
{
    uint32_t f = l.reads ? NONE : loom_fact(m, l.a, l.b);
    if (l.reads || (f != NONE && m->facts.data[f].standing == ASSUMED))
        return 0;
    if (f != NONE && m->facts.data[f].standing == GUESSED)
        return 2 * (uint64_t)m->facts.data[f].since;
    uint32_t at = place(m, l.a);
    return at == NONE ? 1 : 2 * (uint64_t)at + 1;
}

static void swap_literals(struct knot_literal *l, size_t i, size_t j)
{
    struct knot_literal swap = l[i];
    l[i] = l[j];
    l[j] = swap;
}

/* Draw the consequence of the circle in m->cycle: a clause, whose latest decision must be taken
 * back. */
static bool learn(struct loom *m)
{
    if (m->cycle.count == 0) {
        fail(m->o, ORDEAL_INTERNAL, "the search stands still, but not in a circle");
        return false;
    }
    m->w->stats.knots++;
    if (!log_cycle(m))
        return false;
    struct clause c = { .first = (uint32_t)m->literals.count,
                        .count = (uint32_t)m->conflict.count,
                        .knot = (uint32_t)m->w->log->knots.count - 1 };
    struct knot_literal *l = m->conflict.data;
    uint64_t latest = 0;
    for (size_t i = 0; i < m->conflict.count; i++) {
        uint64_t at = decided_at(m, l[i]);
        if (at == 0)
            continue;
        swap_literals(l, i, c.decisions++);
        if (at > latest) {
            latest = at;
            swap_literals(l, 0, c.decisions - 1);
        }
    }
    m->refuted = c.decisions == 0;
    if (m->refuted)
        return true;
    m->split += m->conflict.count > 1;
    for (size_t i = 0; i < m->conflict.count; i++)
        if (!VEC_PUSH(m->o, &m->literals, l[i]))
            return false;
    bool guessed = latest % 2 == 0;
    assert(guessed || leading_node(m, l[0].a) != NONE); /* it can be taken back */
    return VEC_PUSH(m->o, &m->clauses, c)
        && (guessed || VEC_PUSH(m->o, &m->undo, leading_node(m, l[0].a)));
}

/* A clause has turned against a guess: it goes, and what was concluded from it. */
static bool give_up_guess(struct loom *m, struct knot_literal l)
{
    uint32_t guess = m->guesses ? loom_fact(m, l.a, l.b) : NONE;
    if (guess == NONE || m->facts.data[guess].standing != GUESSED)
        return true;
    if (!loom_revoke(m, guess))
        return false;
    loom_trim(m);
    return true;
}

/* Move the literals that do not hold to the front; returns how many they are. */
static uint32_t sort_literals(struct loom *m, struct clause c)
{
    struct knot_literal *l = &m->literals.data[c.first];
    uint32_t open = 0;
    for (uint32_t i = 0; i < c.decisions; i++)
        if (!loom_holds(m, l[i]))
            swap_literals(l, i, open++);
    return open;
}

/* Performing one node makes all the open literals hold together: none of them would ever be
 * implied, so one must be guessed away. */
static bool decided_at_once(const struct loom *m, struct clause c, uint32_t open)
{
    const struct knot_literal *l = &m->literals.data[c.first];
    for (uint32_t i = 1; i < open; i++)
        if (m->x->group[l[i].a] != m->x->group[l[0].a])
            return false;
    return true;
}

/* Put the clauses learnt at this standstill to work, now that the mistakes are taken back. */
static bool apply_clauses(struct loom *m, size_t first)
{
    for (size_t id = first; id < m->clauses.count; id++)
        if (!give_up_guess(m, m->literals.data[m->clauses.data[id].first]))
            return false;
    for (uint32_t id = (uint32_t)first; id < m->clauses.count; id++) {
        struct clause c = m->clauses.data[id];
        uint32_t open = sort_literals(m, c);
        struct knot_literal l = m->literals.data[c.first];
        for (uint32_t k = 0; c.decisions > 1 && k < 2; k++)
            loom_watch(m, id, k);
        enum standing standing = c.count == 1 ? PROVED : TENTATIVE;
        if (open == 1 && !loom_conclude(m, (struct fact){ l.b, l.a, standing, id, 0, NONE }))
            return false;
        if (open > 1 && decided_at_once(m, c, open)) {
            uint32_t now = (uint32_t)m->trail.count;
            if (!loom_conclude(m, (struct fact){ l.b, l.a, GUESSED, NONE, now, NONE }))
                return false;
        }
    }
    return true;
}

/* ---- standstill --------------------------------------------------------------------- */

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

/* Learn what can be learnt by walking; the fallback is the circle with the fewest decisions. */
static bool learn_fast(struct loom *m)
{
    size_t first = m->clauses.count;
    m->choice.count = 0;
    for (uint32_t c = 0; c < m->g->cell_first[m->x->locations] && !m->refuted; c++)
        for (uint32_t node = m->park[c]; node != NONE && !m->refuted; node = m->park_next[node])
            if (m->wait[node] == 0 && !learn_units(m, node))
                return false;
    for (uint32_t n = 0; n < m->g->nodes; n++) {
        bool found = m->refuted || m->clauses.count > first || m->choice.count;
        if (found)
            break;
        if (m->position[n] == NONE && !learn_units(m, n))
            return false;
    }
    bool learnt = m->refuted || m->clauses.count > first;
    forget_ways(m);
    if (learnt)
        return true;
    m->cycle.count = 0;
    return (!m->choice.count || find_cycle(m, m->choice.data[0], UINT32_MAX)) && learn(m);
}

static size_t count_decisions(const struct step *cycle, size_t count)
{
    size_t decisions = 0;
    for (size_t i = 0; i < count; i++)
        decisions += cycle[i].decision;
    return decisions;
}

/* The circle with the fewest decisions, and of those the shortest. */
static bool learn_shortest(struct loom *m)
{
    size_t decisions = SIZE_MAX;
    m->best.count = 0;
    for (uint32_t n = 0; n < m->g->nodes; n++) {
        if (m->position[n] != NONE)
            continue;
        if (!find_cycle(m, n, UINT32_MAX))
            return false;
        size_t here = count_decisions(m->cycle.data, m->cycle.count);
        if (m->cycle.count == 0 || here > decisions
            || (here == decisions && m->cycle.count >= m->best.count))
            continue;
        decisions = here;
        m->best.count = 0;
        for (size_t i = 0; i < m->cycle.count; i++)
            if (!VEC_PUSH(m->o, &m->best, m->cycle.data[i]))
                return false;
    }
    m->cycle.count = 0;
    for (size_t i = 0; i < m->best.count; i++)
        if (!VEC_PUSH(m->o, &m->cycle, m->best.data[i]))
            return false;
    return learn(m);
}

bool knots_resolve(struct loom *m)
{
    size_t first = m->clauses.count;
    m->undo.count = 0;
    if (!(m->w->seed ? learn_shortest(m) : learn_fast(m)))
        return false;
    if (m->refuted)
        return true;
    if (!loom_take_back(m) || !apply_clauses(m, first) || !loom_propagate(m))
        return false;
    if (m->g->nodes <= SMALL_ENOUGH)
        check_hot(loom_check(m, false));
    return true;
}
