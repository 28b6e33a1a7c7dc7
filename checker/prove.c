/* SPDX-License-Identifier: Apache-2.0 */
#include "prove.h"

#include <string.h>

struct prover {
    struct ordeal *o;
    const struct graph *g;
    const struct execution *x;
    const struct weave_log *log;
    struct proof *proof;
    bool *needed;                          /* by knot */
    uint32_t *unit;                        /* hash: a < b established by one knot, knot + 1 */
    size_t unit_mask;
    VEC(struct knot_literal) stated;       /* certain orders that have their own step already */
};

/* ---- which knots are needed --------------------------------------------------------- */

static struct knot_literal *literals_of(const struct prover *p, const struct knot *k)
{
    return p->log->literals.data + k->literal_first;
}

static size_t unit_slot(const struct prover *p, uint32_t a, uint32_t b)
{
    uint64_t h = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(h >> 24) & p->unit_mask;
    for (; p->unit[i]; i = (i + 1) & p->unit_mask) {
        const struct knot_literal *l = literals_of(p, &p->log->knots.data[p->unit[i] - 1]);
        if (l->b == a && l->a == b) /* the knot refutes b < a */
            break;
    }
    return i;
}

/* Several knots may establish the same: of those in the proof, the first. */
static bool index_units(struct prover *p)
{
    size_t size = 64;
    while (size < 4 * p->log->knots.count)
        size *= 2;
    p->unit_mask = size - 1;
    p->unit = mem_zero(p->o, size, sizeof *p->unit);
    if (!p->unit)
        return false;
    for (uint32_t k = 0; k < p->log->knots.count; k++) {
        const struct knot *knot = &p->log->knots.data[k];
        if (!p->needed[k] || knot->literal_count != 1 || literals_of(p, knot)->reads)
            continue;
        size_t slot = unit_slot(p, literals_of(p, knot)->b, literals_of(p, knot)->a);
        if (!p->unit[slot])
            p->unit[slot] = k + 1;
    }
    return true;
}

static bool among_literals(const struct prover *p, const struct knot *k, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < k->literal_count; i++) {
        struct knot_literal l = literals_of(p, k)[i];
        if (!l.reads && l.a == a && l.b == b)
            return true;
    }
    return false;
}

/* Mark backwards from the contradiction. */
static bool mark_needed(struct prover *p)
{
    uint32_t count = (uint32_t)p->log->knots.count;
    assert(count && p->log->knots.data[count - 1].literal_count == 0); /* the contradiction */
    p->needed = mem_zero(p->o, count, sizeof *p->needed);
    if (!p->needed)
        return false;
    bool all = false;
    for (uint32_t k = count; k-- > 0;) {
        const struct knot *knot = &p->log->knots.data[k];
        p->needed[k] |= k == count - 1 || all;
        if (!p->needed[k])
            continue;
        all |= knot->grounds_unknown;
        for (uint32_t i = 0; i < knot->ground_count; i++) {
            uint32_t ground = p->log->grounds.data[knot->ground_first + i];
            assert(ground < k);
            p->needed[ground] = true;
        }
    }
    return index_units(p);
}

static void free_prover(struct prover *p)
{
    mem_free(p->o, p->needed, p->log->knots.count * sizeof *p->needed);
    mem_free(p->o, p->unit, (p->unit_mask + 1) * sizeof *p->unit);
    VEC_FREE(p->o, &p->stated);
}

/* ---- nodes and their events --------------------------------------------------------- */

/* The i-th access that the node stands for as an operation; false past the last. A swap's store
 * under views, and an SC, only read to be atomic. */
static bool own_access(const struct prover *p, uint32_t node, uint32_t i, struct access *out)
{
    const struct graph *g = p->g;
    uint32_t first = g->access_first[node], end = g->access_first[node + 1];
    bool writes = false;
    for (uint32_t k = first; g->slot_thread && k < end; k++)
        writes |= p->x->is_store[g->access[k].event];
    for (uint32_t k = first; k < end; k++) {
        uint32_t event = g->access[k].event;
        if ((writes && !p->x->is_store[event]) || (!g->slot_thread && p->x->group[event] != node))
            continue;
        if (i-- == 0) {
            *out = g->access[k];
            return true;
        }
    }
    return false;
}

static uint32_t view_of(const struct prover *p, struct access a)
{
    return p->g->slot_thread ? p->g->slot_thread[cell_of(p->g, a)] : 0;
}

static struct ordeal_edge edge_between(const struct prover *p, enum ordeal_rule rule,
                                       struct access a, struct access b, uint32_t via)
{
    return (struct ordeal_edge){ .rule = (uint8_t)rule, .from = a.event, .to = b.event, .via = via,
                                 .from_view = view_of(p, a), .to_view = view_of(p, b) };
}

/* ---- rules for edges of the graph --------------------------------------------------- */

/* The operation of a barrier of this flavour between the two, or NONE. */
static uint32_t barrier_between(const struct execution *x, uint32_t from, uint32_t to,
                                uint8_t flavour)
{
    uint32_t low = 0, high = x->barriers;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->barrier[middle].group <= x->group[from])
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < x->barriers && x->barrier[low].group <= x->group[to]; low++)
        if (x->barrier[low].mask & flavour)
            return x->barrier[low].op;
    return NONE;
}

/* By kind of the earlier and of the later operation. */
static const uint8_t flavour_of[2][2] = { { ORDEAL_LL, ORDEAL_LS }, { ORDEAL_SL, ORDEAL_SS } };

enum { RANK_KEPT, RANK_BARRIER, RANK_MARK, RANK_WORD, RANK_DEPENDENCE, RANKS };

/* That of two groups of a thread the first is before the second by what they are marked with. */
static enum ordeal_rule marked_rule(const struct execution *x, uint32_t g, uint32_t h)
{
    const struct reservation *r = reservation_of(x, h);
    if (r && x->group[r->first] == g)
        return ORDEAL_RULE_PAIR;
    if (x->group_flags[g] & GROUP_ACQUIRE)
        return ORDEAL_RULE_ACQUIRE;
    if (x->group_flags[h] & GROUP_RELEASE)
        return ORDEAL_RULE_RELEASE;
    return x->group_flags[g] & x->group_flags[h] & GROUP_RCSC ? ORDEAL_RULE_MARKED
                                                              : ORDEAL_RULE_COUNT;
}

/* Two loads of a word, known to have seen different stores, and none of their thread between. */
static bool apart(const struct prover *p, uint32_t a, uint32_t b)
{
    const struct execution *x = p->x;
    uint32_t s = source_of(x, a), t = source_of(x, b);
    bool differ = x->value[a] != x->value[b] || (s != NONE && t != NONE && s != t);
    if (x->is_store[a] || x->is_store[b] || x->loc[a] != x->loc[b] || !differ)
        return false;
    for (uint32_t e = a + 1; e < b; e++)
        if (x->is_store[e] && x->loc[e] == x->loc[a])
            return false;
    return true;
}

/* Why a is before b by program order, at the given rank of plainness; RULE_COUNT: not so. */
static enum ordeal_rule program_rule(const struct prover *p, uint32_t a, uint32_t b, int rank)
{
    const struct execution *x = p->x;
    const struct model *m = p->g->model;
    uint32_t g = x->group[a], h = x->group[b];
    bool in_swap = m->views && g == h && !x->is_store[a] && x->is_store[b];
    if (!in_swap && (g == h || !program_order(x, a, b)))
        return ORDEAL_RULE_COUNT;
    int k = x->is_store[a], j = x->is_store[b];
    switch (rank) {
    case RANK_KEPT:
        if (x->group_flags[h] & GROUP_TX)
            return ORDEAL_RULE_T2;
        if (x->group_flags[g] & GROUP_TX)
            return ORDEAL_RULE_T3;
        if (m->keep[k][j] != KEEP_ALL)
            break;
        return m->keep[STORE][LOAD] == KEEP_ALL ? ORDEAL_RULE_PO
             : k == LOAD ? ORDEAL_RULE_R1 : ORDEAL_RULE_R2;
    case RANK_BARRIER:
        if (barrier_between(x, a, b, flavour_of[k][j]) != NONE)
            return ORDEAL_RULE_R3;
        break;
    case RANK_MARK: return marked_rule(x, g, h);
    case RANK_WORD:
        if (m->keep[k][j] == KEEP_SAME_WORD && x->loc[a] == x->loc[b])
            return ORDEAL_RULE_SAME;
        if (k == STORE && j == LOAD && x->loc[a] == x->loc[b] && is_atomic(x, g) && !m->views)
            return ORDEAL_RULE_MEMORY;
        if (m->apart && apart(p, a, b))
            return ORDEAL_RULE_APART;
        break;
    case RANK_DEPENDENCE:
        if (m->dependence == DEPENDENCE_RISCV
            || (m->dependence && (x->group_flags[g] & GROUP_LOADS)))
            return ORDEAL_RULE_DEP;
    }
    return ORDEAL_RULE_COUNT;
}

static bool depends(const struct prover *p, uint32_t a, uint32_t b);

static bool program_edge(const struct prover *p, uint32_t u, uint32_t v, struct ordeal_edge *out)
{
    struct access a, b;
    for (int rank = 0; rank < RANKS; rank++)
        for (uint32_t i = 0; own_access(p, u, i, &a); i++)
            for (uint32_t j = 0; own_access(p, v, j, &b); j++) {
                enum ordeal_rule r = program_rule(p, a.event, b.event, rank);
                if (r == ORDEAL_RULE_COUNT
                    || (r == ORDEAL_RULE_DEP && !depends(p, a.event, b.event)))
                    continue;
                *out = edge_between(p, r, a, b, NONE);
                return true;
            }
    return false;
}

/* Is `to` dependence ordered after `from`? Thesis 2.4.3, rules 2 to 4, over the few groups
 * between. */
static bool dependent(const struct prover *p, uint32_t from, uint32_t to)
{
    const struct execution *x = p->x;
    for (uint32_t i = 0; i < x->dependences; i++)
        if (x->dependence[i].to == to && x->dependence[i].from >= from
            && (x->dependence[i].use != ORDEAL_REGISTER_CONTROL
                || (x->group_flags[to] & GROUP_STORES))
            && (x->dependence[i].from == from || dependent(p, from, x->dependence[i].from)))
            return true;
    for (uint32_t h = to; h-- > from;) {
        bool joined = false;
        for (uint32_t e = x->group_first[h]; e < x->group_first[h + 1]; e++)
            for (uint32_t f = x->group_first[to]; f < x->group_first[to + 1]; f++)
                joined |= x->loc[e] == x->loc[f] && (x->is_store[e] || x->is_store[f])
                       && x->instruction[h] != x->instruction[to];
        if (joined)
            return h == from || dependent(p, from, h);
    }
    return false;
}

static uint32_t first_dependence_of(const struct execution *x, uint32_t group)
{
    uint32_t low = 0, high = x->dependences;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->dependence[middle].to < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last store to the word of a load in its own thread before it; NONE: there is none. */
static uint32_t own_store_before(const struct execution *x, uint32_t load)
{
    for (uint32_t e = load; e-- > x->locations && event_thread(x, e) == event_thread(x, load);)
        if (x->is_store[e] && x->loc[e] == x->loc[load])
            return e;
    return NONE;
}

/* RISC-V's rules 9 to 13: `to` itself depends on `from`, or is a load that sees a store which does,
 * or a store behind a branch or an address that does. The operation that reads the register, or
 * NONE. */
static uint32_t ordered_by_register(const struct execution *x, uint32_t from, uint32_t to,
                                    uint32_t forwarder)
{
    bool stores = x->group_flags[to] & GROUP_STORES;
    for (uint32_t i = first_dependence_of(x, from + 1); i < x->dependences; i++) {
        struct dependence d = x->dependence[i];
        bool branch = d.use == ORDEAL_REGISTER_CONTROL;
        bool forwards = d.use == ORDEAL_REGISTER_ADDRESS || d.use == ORDEAL_REGISTER_DATA;
        if (d.to > to)
            break;
        if (d.from == from
            && ((d.to == to && !branch) || (d.to == forwarder && forwards)
                || (stores && (branch || (d.to < to && d.use == ORDEAL_REGISTER_ADDRESS)))))
            return d.op;
    }
    return NONE;
}

static uint32_t register_reader(const struct execution *x, uint32_t a, uint32_t b)
{
    uint32_t store = x->is_store[b] ? NONE : own_store_before(x, b);
    return ordered_by_register(x, x->group[a], x->group[b], store == NONE ? NONE : x->group[store]);
}

static bool depends(const struct prover *p, uint32_t a, uint32_t b)
{
    return p->g->model->dependence == DEPENDENCE_SPARC
             ? dependent(p, p->x->group[a], p->x->group[b])
             : register_reader(p->x, a, b) != NONE;
}

static bool sees(const struct prover *p, uint32_t load, uint32_t store)
{
    return !p->x->is_store[load] && source_of(p->x, load) == store;
}

static bool reads_edge(const struct prover *p, uint32_t u, uint32_t v, struct ordeal_edge *out)
{
    struct access a, b;
    for (uint32_t i = 0; own_access(p, u, i, &a); i++)
        for (uint32_t j = 0; own_access(p, v, j, &b); j++) {
            if (!sees(p, b.event, a.event))
                continue;
            *out = edge_between(p, ORDEAL_RULE_R4, a, b, NONE);
            bool own = program_order(p->x, a.event, b.event);
            if (!own || p->g->slot_thread)
                return true;
        }
    return false;
}

/* A load of a's thread, behind a, that saw b; or NONE. */
static uint32_t own_reader(const struct prover *p, uint32_t a, uint32_t b)
{
    const struct execution *x = p->x;
    uint32_t thread = event_thread(x, a);
    uint32_t end = thread == NONE ? 0 : x->group_first[x->thread_first[thread + 1]];
    for (uint32_t e = a + 1; e < end; e++)
        if (sees(p, e, b) && program_order(x, a, e))
            return e;
    return NONE;
}

static bool listed(const struct execution *x, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < x->orders; k++) {
        bool found = false;
        for (uint32_t i = x->order_first[k]; i < x->order_first[k + 1]; i++) {
            if (found && x->order[i] == b)
                return true;
            found |= x->order[i] == a;
        }
    }
    return false;
}

static bool leaves_final(const struct execution *x, uint32_t store)
{
    for (uint32_t k = x->final_of[x->loc[store]]; k != NONE; k = x->final[k].next)
        if (last_store(x, k) == store)
            return true;
    return false;
}

static bool stores_edge(const struct prover *p, uint32_t u, uint32_t v, struct ordeal_edge *out)
{
    const struct execution *x = p->x;
    struct access a, b;
    for (uint32_t i = 0; own_access(p, u, i, &a); i++)
        for (uint32_t j = 0; own_access(p, v, j, &b); j++) {
            bool at_once = x->group[a.event] == x->group[b.event] && a.event <= b.event;
            if (!x->is_store[a.event] || !x->is_store[b.event] || at_once
                || x->loc[a.event] != x->loc[b.event] || a.slot != b.slot)
                continue;
            uint32_t via = own_reader(p, a.event, b.event);
            enum ordeal_rule r = via != NONE ? ORDEAL_RULE_R5
                               : listed(x, a.event, b.event) ? ORDEAL_RULE_ORDER
                               : leaves_final(x, b.event) ? ORDEAL_RULE_FINAL : ORDEAL_RULE_COUNT;
            if (r == ORDEAL_RULE_COUNT)
                continue;
            *out = edge_between(p, r, a, b, via);
            return true;
        }
    return false;
}

static bool time_edge(const struct prover *p, uint32_t u, uint32_t v, struct ordeal_edge *out)
{
    struct access a, b;
    if (!p->g->time_order || !own_access(p, u, 0, &a) || !own_access(p, v, 0, &b))
        return false;
    *out = edge_between(p, ORDEAL_RULE_TIME, a, b, NONE);
    return p->x->end[p->x->group[a.event]] < p->x->begin[p->x->group[b.event]];
}

static bool static_edge(const struct prover *p, uint32_t u, uint32_t v, struct ordeal_edge *out)
{
    return program_edge(p, u, v, out) || reads_edge(p, u, v, out) || stores_edge(p, u, v, out)
        || time_edge(p, u, v, out);
}

/* ---- steps -------------------------------------------------------------------------- */

static bool push_edge(struct prover *p, struct ordeal_edge e)
{
    return VEC_PUSH(p->o, &p->proof->edges, e);
}

static bool push_step(struct prover *p, uint32_t edge_first, uint32_t literal_first)
{
    struct proof_step s = {
        .edge_first = edge_first, .edge_count = (uint32_t)p->proof->edges.count - edge_first,
        .literal_first = literal_first,
        .literal_count = (uint32_t)p->proof->literals.count - literal_first,
    };
    return VEC_PUSH(p->o, &p->proof->steps, s);
}

/* The load of b's own group that saw a, or NONE. */
static uint32_t swap_reader(const struct prover *p, uint32_t a, uint32_t b)
{
    const struct execution *x = p->x;
    uint32_t h = x->group[b];
    for (uint32_t e = x->group_first[h]; e < x->group_first[h + 1]; e++)
        if (x->loc[e] == x->loc[b] && sees(p, e, a))
            return e;
    return NONE;
}

/* a < b holds without any knot: say so in a step of its own, the first time it is used. */
static bool state_certain(struct prover *p, uint32_t a, uint32_t b)
{
    const struct execution *x = p->x;
    for (size_t i = 0; i < p->stated.count; i++)
        if (p->stated.data[i].a == a && p->stated.data[i].b == b)
            return true;
    uint32_t edge_first = (uint32_t)p->proof->edges.count;
    uint32_t literal_first = (uint32_t)p->proof->literals.count;
    struct access from = { a, 0 }, to = { b, 0 };
    struct ordeal_edge e;
    uint32_t u = node_of_store(p->g, a, 0), v = node_of_store(p->g, b, 0);
    bool ok = true;
    if (x->group[a] == x->group[b]) {
        /* Performed at once and in this order: the other one is a circle by itself. */
    } else if (program_order(x, a, b) && program_edge(p, u, v, &e)) {
        ok = push_edge(p, e);
    } else {
        uint32_t load = swap_reader(p, a, b);
        assert(load != NONE);
        struct access seen = { load, 0 };
        ok = push_edge(p, edge_between(p, ORDEAL_RULE_R4, from, seen, NONE))
          && (!p->g->slot_thread
              || push_edge(p, edge_between(p, ORDEAL_RULE_R1, seen, to, NONE)));
    }
    struct ordeal_literal l = { .a = a, .b = b };
    return ok && push_edge(p, edge_between(p, ORDEAL_RULE_CO, to, from, NONE))
        && VEC_PUSH(p->o, &p->proof->literals, l) && push_step(p, edge_first, literal_first)
        && VEC_PUSH(p->o, &p->stated, ((struct knot_literal){ .a = a, .b = b }));
}

static bool needs_statement(const struct prover *p, const struct knot *k, uint32_t a, uint32_t b)
{
    uint32_t unit = p->unit[unit_slot(p, a, b)];
    bool established = unit && &p->log->knots.data[unit - 1] < k;
    return a != b && !is_initial(p->x, a) && !among_literals(p, k, a, b) && !established;
}

static bool state_what_it_needs(struct prover *p, const struct knot *k, struct knot_edge e)
{
    if (e.reason == KNOT_ORDER || e.reason == KNOT_OVERWRITE)
        return !needs_statement(p, k, e.a, e.b) || state_certain(p, e.a, e.b);
    const struct final *f = e.reason == KNOT_FINAL ? open_final_of(p->x, e.b) : NULL;
    for (uint32_t i = 0; f && i < f->count; i++) {
        uint32_t other = p->x->final_store[f->first + i];
        if (needs_statement(p, k, other, e.b) && !state_certain(p, other, e.b))
            return false;
    }
    return true;
}

static struct ordeal_edge overwrite_edge(const struct prover *p, struct knot_edge e)
{
    assert(e.load != NONE);
    struct access a = { e.load, 0 }, to = { e.b, e.slot };
    if (node_of_load(p->g, e.load) == e.from)
        return edge_between(p, ORDEAL_RULE_R7, a, to, e.a);
    for (uint32_t i = 0; own_access(p, e.from, i, &a); i++)
        if (p->x->loc[a.event] == p->x->loc[e.b])
            break;
    assert(p->x->is_store[a.event] && p->x->loc[a.event] == p->x->loc[e.b]);
    return edge_between(p, ORDEAL_RULE_ATOMIC, a, to, e.a);
}

static struct ordeal_edge assumed_reads_edge(const struct prover *p, struct knot_edge e)
{
    struct access source = { e.b, e.slot }, load = { e.a, e.slot }, own;
    if (e.to == node_of_load(p->g, e.a) && e.from == node_of_store(p->g, e.b, e.slot)
        && !is_initial(p->x, e.b) && (p->g->slot_thread || !program_order(p->x, e.b, e.a)))
        return edge_between(p, ORDEAL_RULE_R4, source, load, NONE);
    struct access latest = { NONE, 0 };
    for (uint32_t i = 0; own_access(p, e.from, i, &own); i++)
        if (p->x->is_store[own.event] && p->x->loc[own.event] == p->x->loc[e.b]
            && program_order(p->x, own.event, e.a))
            latest = own;
    assert(latest.event != NONE);
    return edge_between(p, ORDEAL_RULE_R5, latest, source, e.a);
}

static bool real(const struct prover *p, uint32_t node)
{
    return p->g->kind.data[node] == NODE_REAL;
}

static bool convert_edge(struct prover *p, struct knot_edge e)
{
    struct access a, b;
    struct ordeal_edge out = { 0 };
    switch (e.reason) {
    case KNOT_STATIC:
        if (!static_edge(p, e.from, e.to, &out)) {
            fail(p->o, ORDEAL_INTERNAL, "an edge of the graph from node %u to %u has no rule",
                 e.from, e.to);
            return false;
        }
        break;
    case KNOT_ROOT:
        assert(e.from == 0 && real(p, e.to)); /* so that both have an access */
        own_access(p, e.from, 0, &a);
        own_access(p, e.to, 0, &b);
        out = edge_between(p, ORDEAL_RULE_INIT, a, b, NONE);
        break;
    case KNOT_READS:
        out = assumed_reads_edge(p, e);
        break;
    case KNOT_APART:
        a = (struct access){ e.a, e.slot };
        b = (struct access){ e.b, e.slot };
        out = edge_between(p, ORDEAL_RULE_APART, a, b, NONE);
        break;
    case KNOT_FINAL:
    case KNOT_ORDER:
        a = (struct access){ e.a, e.slot };
        b = (struct access){ e.b, e.slot };
        out = edge_between(p, e.reason == KNOT_ORDER ? ORDEAL_RULE_CO : ORDEAL_RULE_FINAL, a, b,
                           NONE);
        break;
    case KNOT_OVERWRITE:
        out = overwrite_edge(p, e);
        break;
    }
    return push_edge(p, out);
}

/* Any initial store is before any other operation: go on from the one that was reached. */
static void start_at_initial(struct prover *p, size_t first)
{
    size_t n = p->proof->edges.count - first;
    struct ordeal_edge *e = p->proof->edges.data + first;
    for (size_t i = 0; i < n; i++)
        if (e[i].rule == ORDEAL_RULE_INIT) {
            e[i].from = e[(i + n - 1) % n].to;
            e[i].from_view = e[(i + n - 1) % n].to_view;
        }
}

/* Edges over auxiliary nodes join into one between real nodes: the next of the knot's, from *i on,
 * counted from a real node. */
static struct knot_edge next_edge(const struct prover *p, const struct knot *k, uint32_t *i)
{
    const struct knot_edge *e = p->log->edges.data + k->edge_first;
    uint32_t n = k->edge_count, start = 0;
    while (!real(p, e[start].from)) {
        start++;
        assert(start < n); /* auxiliary nodes alone are in no circle */
    }
    struct knot_edge whole = e[(start + (*i)++) % n];
    while (!real(p, whole.to))
        whole.to = e[(start + (*i)++) % n].to;
    assert(*i <= n);
    return whole;
}

static bool convert_circle(struct prover *p, const struct knot *k)
{
    size_t edge_first = p->proof->edges.count;
    for (uint32_t i = 0; i < k->edge_count;)
        if (!convert_edge(p, next_edge(p, k, &i)))
            return false;
    start_at_initial(p, edge_first);
    return true;
}

static bool convert_knot(struct prover *p, const struct knot *k)
{
    for (uint32_t i = 0; i < k->edge_count; i++)
        if (!state_what_it_needs(p, k, p->log->edges.data[k->edge_first + i]))
            return false;
    uint32_t edge_first = (uint32_t)p->proof->edges.count;
    uint32_t literal_first = (uint32_t)p->proof->literals.count;
    if (k->edge_count && !convert_circle(p, k))
        return false;
    for (uint32_t i = 0; i < k->literal_count; i++) {
        struct knot_literal l = literals_of(p, k)[i];
        struct ordeal_literal not = l.reads
            ? (struct ordeal_literal){ .reads = true, .negated = !l.negated, .a = l.a, .b = l.b }
            : (struct ordeal_literal){ .a = l.b, .b = l.a };
        if (!VEC_PUSH(p->o, &p->proof->literals, not))
            return false;
    }
    return push_step(p, edge_first, literal_first);
}

enum ordeal_status prove(const struct graph *g, const struct weave_log *log, struct proof *proof)
{
    struct prover p = { .o = g->o, .g = g, .x = g->x, .log = log,
                        .proof = proof };
    proof->steps.count = proof->edges.count = proof->literals.count = 0;
    bool ok = mark_needed(&p);
    for (size_t k = 0; ok && k < log->knots.count; k++)
        ok = !p.needed[k] || convert_knot(&p, &log->knots.data[k]);
    free_prover(&p);
    return ok ? ORDEAL_OK : g->o->error.status;
}

static void keep_events(const struct prover *p, uint32_t node, bool *keep)
{
    const struct graph *g = p->g;
    assert(g->kind.data[node] != NODE_ISSUE || g->succ_first[node] < g->succ_first[node + 1]);
    if (g->kind.data[node] == NODE_ISSUE) /* its first edge goes to its store */
        node = g->succ[g->succ_first[node]];
    for (uint32_t a = g->access_first[node]; node && a < g->access_first[node + 1]; a++)
        keep[p->x->op[g->access[a].event]] = true;
}

/* What an edge of the graph rests on besides its ends: the load of R5, the membar of R3. */
static void keep_grounds(const struct prover *p, struct knot_edge e, bool *keep)
{
    const struct execution *x = p->x;
    struct ordeal_edge edge;
    if (e.reason != KNOT_STATIC || !static_edge(p, e.from, e.to, &edge))
        return;
    if (edge.via != NONE)
        keep[x->op[edge.via]] = true;
    if (edge.rule == ORDEAL_RULE_DEP && p->g->model->dependence == DEPENDENCE_RISCV) {
        uint32_t reader = register_reader(x, edge.from, edge.to);
        assert(reader != NONE);
        keep[reader] = true;
    }
    if (edge.rule == ORDEAL_RULE_R3) {
        uint8_t flavour = flavour_of[x->is_store[edge.from]][x->is_store[edge.to]];
        uint32_t barrier = barrier_between(x, edge.from, edge.to, flavour);
        assert(barrier != NONE);
        keep[barrier] = true;
    }
}

enum ordeal_status prove_operations(const struct graph *g, const struct weave_log *log, bool *keep)
{
    struct prover p = { .o = g->o, .g = g, .x = g->x, .log = log };
    bool ok = mark_needed(&p);
    for (size_t k = 0; ok && k < log->knots.count; k++) {
        const struct knot *knot = &log->knots.data[k];
        if (!p.needed[k])
            continue;
        for (uint32_t i = 0; i < knot->edge_count; i++) {
            struct knot_edge e = log->edges.data[knot->edge_first + i];
            const uint32_t named[] = { e.a, e.b, e.load };
            keep_events(&p, e.from, keep);
            keep_events(&p, e.to, keep);
            for (uint32_t n = e.reason >= KNOT_FINAL ? 0 : 2; n < 3; n++)
                if (named[n] != NONE && p.x->op[named[n]] != NONE)
                    keep[p.x->op[named[n]]] = true;
        }
        for (uint32_t i = 0; i < knot->edge_count;)
            keep_grounds(&p, next_edge(&p, knot, &i), keep);
    }
    free_prover(&p);
    return ok ? ORDEAL_OK : g->o->error.status;
}
