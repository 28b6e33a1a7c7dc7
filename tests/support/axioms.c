/* SPDX-License-Identifier: Apache-2.0 */
#include "axioms.h"
#include "oracle.h"

#include <string.h>

enum { MAX_EVENTS = 32, MAX_THREADS = 8, MAX_GROUPS = 32 };

struct world {
    const struct execution *x;
    enum ordeal_model m;
    int at[MAX_EVENTS][MAX_THREADS];       /* place of each event in each view; 0: initial */
    bool depends[MAX_GROUPS][MAX_GROUPS];
};

static bool pc(const struct world *w) { return w->m == ORDEAL_PC; }
static bool store(const struct world *w, uint32_t e) { return w->x->is_store[e]; }
static bool same_word(const struct world *w, uint32_t a, uint32_t b)
{
    return w->x->loc[a] == w->x->loc[b];
}
static bool swap_halves(const struct world *w, uint32_t load, uint32_t s)
{
    return w->x->group[load] == w->x->group[s] && !store(w, load) && store(w, s)
        && same_word(w, load, s);
}

/* Does the event have a sub-operation in the view? */
static bool lands(const struct execution *x, enum ordeal_model m, uint32_t e, uint32_t view)
{
    bool loaded = false;
    if (m != ORDEAL_PC)
        return view == 0;
    if (!x->is_store[e])
        return view == event_thread(x, e);
    for (uint32_t l = 0; l < x->events; l++)
        if (!x->is_store[l] && x->loc[l] == x->loc[e]) {
            loaded = true;
            if (event_thread(x, l) == view)
                return true;
        }
    return !loaded && view == 0;
}

static bool before(const struct world *w, uint32_t a, uint32_t p, uint32_t b, uint32_t q)
{
    if (w->at[a][p] != w->at[b][q])
        return w->at[a][p] < w->at[b][q];
    return !pc(w) && a < b; /* inside of a group */
}

/* `a; b` across instructions. */
static bool follows(const struct world *w, uint32_t a, uint32_t b)
{
    const struct execution *x = w->x;
    uint32_t g = x->group[a], h = x->group[b];
    return g != 0 && h != 0 && x->thread_of[g] == x->thread_of[h] && g < h
        && x->instruction[g] != x->instruction[h];
}

static bool membar_between(const struct world *w, uint32_t a, uint32_t b)
{
    const struct execution *x = w->x;
    int flavour = store(w, a) ? store(w, b) ? ORDEAL_SS : ORDEAL_SL
                              : store(w, b) ? ORDEAL_LS : ORDEAL_LL;
    for (uint32_t i = 0; i < x->barriers; i++)
        if (x->group[a] < x->barrier[i].group && x->barrier[i].group <= x->group[b]
            && (x->barrier[i].mask & flavour))
            return true;
    return false;
}

static void find_dependences(struct world *w)
{
    const struct execution *x = w->x;
    for (uint32_t i = 0; i < x->dependences; i++)
        if (x->dependence[i].use != ORDEAL_REGISTER_CONTROL
            || (x->group_flags[x->dependence[i].to] & GROUP_STORES))
            w->depends[x->dependence[i].from][x->dependence[i].to] = true;
    for (uint32_t a = 0; a < x->events; a++)
        for (uint32_t b = 0; b < x->events; b++)
            if (follows(w, a, b) && same_word(w, a, b) && (store(w, a) || store(w, b)))
                w->depends[x->group[a]][x->group[b]] = true;
    for (uint32_t k = 0; k < x->groups; k++)
        for (uint32_t i = 0; i < x->groups; i++)
            for (uint32_t j = 0; j < x->groups; j++)
                w->depends[i][j] |= w->depends[i][k] && w->depends[k][j];
}

/* Of RISC-V's preserved program order the rules 1 and 4 to 11, and 13. */
static bool kept_by_register(const struct world *w, uint32_t a, uint32_t b)
{
    const struct execution *x = w->x;
    uint32_t g = x->group[a], h = x->group[b];
    for (uint32_t i = 0; i < x->dependences; i++) {
        struct dependence d = x->dependence[i];
        if (d.from != g || d.to > h || x->thread_of[d.to] != x->thread_of[h])
            continue;
        if (d.to == h && d.use != ORDEAL_REGISTER_CONTROL)
            return true;
        if ((x->group_flags[h] & GROUP_STORES)
            && (d.use == ORDEAL_REGISTER_CONTROL || d.use == ORDEAL_REGISTER_ADDRESS))
            return true;
    }
    return false;
}

static bool kept_by_marks(const struct world *w, uint32_t a, uint32_t b)
{
    const struct execution *x = w->x;
    uint8_t first = x->group_flags[x->group[a]], second = x->group_flags[x->group[b]];
    const struct reservation *r = reservation_of(x, x->group[b]);
    return first & GROUP_ACQUIRE || second & GROUP_RELEASE || first & second & GROUP_RCSC
        || (r && x->group[r->first] == x->group[a]);
}

_Static_assert(ORDEAL_MODELS == 7, "a new model is to be told here, too");
static bool kept(const struct world *w, uint32_t a, uint32_t b)
{
    const struct execution *x = w->x;
    if ((x->group_flags[x->group[a]] | x->group_flags[x->group[b]]) & GROUP_TX)
        return true; /* TransMembar */
    if (membar_between(w, a, b) || kept_by_marks(w, a, b))
        return true;
    switch (w->m) {
    case ORDEAL_SC: return true;
    case ORDEAL_RVWMO: return (store(w, b) && same_word(w, a, b)) || kept_by_register(w, a, b);
    case ORDEAL_RVTSO: return !store(w, a) || store(w, b) || kept_by_register(w, a, b);
    case ORDEAL_TSO:
    case ORDEAL_PC: return !store(w, a) || store(w, b);
    case ORDEAL_PSO: return !store(w, a) || (store(w, b) && same_word(w, a, b));
    default:
        return w->depends[x->group[a]][x->group[b]]
            && (!store(w, a) || (store(w, b) && same_word(w, a, b)));
    }
}

static bool program_order_holds(const struct world *w)
{
    const struct execution *x = w->x;
    for (uint32_t a = 0; a < x->events; a++)
        for (uint32_t b = 0; b < x->events; b++)
            for (uint32_t p = 0; p < x->threads; p++)
                for (uint32_t q = 0; q < x->threads; q++)
                    if (follows(w, a, b) && kept(w, a, b) && lands(x, w->m, a, p)
                        && lands(x, w->m, b, q) && !before(w, a, p, b, q))
                        return false;
    return true;
}

/* The store whose value the load returns. */
static uint32_t source(const struct world *w, uint32_t load)
{
    const struct execution *x = w->x;
    uint32_t view = pc(w) ? event_thread(x, load) : 0, best = x->loc[load];
    for (uint32_t s = x->locations; s < x->events; s++) {
        bool own = follows(w, s, load) || (x->group[s] == x->group[load] && s < load);
        if (store(w, s) && same_word(w, s, load) && (own || before(w, s, view, load, view))
            && before(w, best, view, s, view))
            best = s;
    }
    return best;
}

static bool values_hold(const struct world *w)
{
    const struct execution *x = w->x;
    for (uint32_t e = x->locations; e < x->events; e++)
        if (!store(w, e) && x->value[source(w, e)] != x->value[e])
            return false;
    return true;
}

/* Rules 3, 12 and 2 of RISC-V: a load of what its own thread's atomic stored, or a store that
 * depends on something, and two loads of a word that saw different stores. */
static bool values_are_ordered(const struct world *w)
{
    const struct execution *x = w->x;
    for (uint32_t b = x->locations; b < x->events; b++)
        for (uint32_t a = x->locations; !store(w, b) && a < b; a++) {
            uint32_t s = source(w, b);
            if (!follows(w, a, b))
                continue;
            bool atomic = a == s && is_atomic(x, x->group[a]);
            bool forwarded = false, apart = !store(w, a) && same_word(w, a, b) && source(w, a) != s;
            for (uint32_t i = 0; i < x->dependences && follows(w, s, b); i++)
                forwarded |= x->dependence[i].to == x->group[s]
                          && x->dependence[i].from == x->group[a]
                          && (x->dependence[i].use == ORDEAL_REGISTER_ADDRESS
                              || x->dependence[i].use == ORDEAL_REGISTER_DATA);
            for (uint32_t m = a; m < b; m++)
                apart &= !store(w, m) || !same_word(w, m, b);
            if ((atomic || (forwarded && (w->m == ORDEAL_RVWMO || w->m == ORDEAL_RVTSO))
                 || (w->m == ORDEAL_RVWMO && apart))
                && !before(w, a, 0, b, 0))
                return false;
        }
    return true;
}

/* What an LR saw is still there when its SC is performed. */
static bool reservations_hold(const struct world *w)
{
    const struct execution *x = w->x;
    for (uint32_t k = 0; k < x->reservations; k++)
        for (uint32_t l = x->reservation[k].first; l < x->reservation[k].end; l++) {
            uint32_t s = source(w, l), sc = x->group_first[x->reservation[k].group];
            for (uint32_t t = x->locations; t < x->events; t++)
                if (store(w, t) && same_word(w, t, l) && event_thread(x, t) != event_thread(x, l)
                    && before(w, s, 0, t, 0) && before(w, t, 0, sc, 0))
                    return false;
        }
    return true;
}

static bool coherence_holds(const struct world *w)
{
    const struct execution *x = w->x;
    for (uint32_t a = x->locations; a < x->events; a++)
        for (uint32_t b = x->locations; b < x->events; b++)
            for (uint32_t p = 0; p < x->threads; p++)
                for (uint32_t q = 0; q < x->threads; q++)
                    if (a != b && store(w, a) && store(w, b) && same_word(w, a, b)
                        && lands(x, w->m, a, p) && lands(x, w->m, a, q)
                        && before(w, a, p, b, p) && !before(w, a, q, b, q))
                        return false;
    return true;
}

static bool atomicity_holds(const struct world *w)
{
    const struct execution *x = w->x;
    for (uint32_t l = x->locations; l < x->events; l++)
        for (uint32_t s = x->locations; s < x->events; s++)
            for (uint32_t p = 0; swap_halves(w, l, s) && p < x->threads; p++) {
                uint32_t i = event_thread(x, l);
                if (!lands(x, w->m, s, p))
                    continue;
                if (!before(w, l, i, s, p))
                    return false;
                for (uint32_t other = x->locations; other < x->events; other++)
                    if (other != s && store(w, other) && same_word(w, other, s)
                        && !before(w, other, p, l, i) && !before(w, s, p, other, p))
                        return false;
            }
    return true;
}

/* An AMO leaves its function of what it read and its operand; functions have the same numbers. */
static bool amos_hold(const struct world *w)
{
    const struct execution *x = w->x;
    for (uint32_t s = x->locations; s < x->events; s++) {
        const struct ordeal_op *op = &x->trace->ops.data[x->op[s]];
        const struct location *at = &x->location[x->loc[s]];
        uint64_t memory = op->read, part = 0;
        if (op->kind != ORDEAL_AMO || !store(w, s))
            continue;
        oracle_amo((enum oracle_function)op->function, 1u << op->size_log2, (uint8_t *)&memory,
                   (const uint8_t *)&op->write);
        memcpy(&part, (uint8_t *)&memory + (at->address - op->address), 1u << at->size_log2);
        if (part != x->value[s])
            return false;
    }
    return true;
}

static bool facts_hold(const struct world *w, bool time_order)
{
    const struct execution *x = w->x;
    for (uint32_t p = 0; p < x->threads; p++) {
        for (uint32_t k = 0; k < x->orders; k++)
            for (uint32_t i = x->order_first[k]; i + 1 < x->order_first[k + 1]; i++)
                if (lands(x, w->m, x->order[i], p)
                    && !before(w, x->order[i], p, x->order[i + 1], p))
                    return false;
        for (uint32_t k = 0; k < x->finals; k++) {
            uint32_t last = x->final[k].loc;
            bool good = false;
            if (!lands(x, w->m, last, p))
                continue;
            for (uint32_t s = 0; s < x->events; s++)
                if (store(w, s) && x->loc[s] == x->final[k].loc && before(w, last, p, s, p))
                    last = s;
            for (uint32_t i = 0; i < x->final[k].count; i++)
                good |= x->final_store[x->final[k].first + i] == last;
            if (!good)
                return false;
        }
    }
    for (uint32_t a = x->locations; time_order && x->begin && a < x->events; a++)
        for (uint32_t b = x->locations; b < x->events; b++)
            for (uint32_t p = 0; p < x->threads; p++)
                for (uint32_t q = 0; q < x->threads; q++)
                    if (lands(x, w->m, a, p) && lands(x, w->m, b, q)
                        && x->end[x->group[a]] < x->begin[x->group[b]] && !before(w, a, p, b, q))
                        return false;
    return true;
}

static void make_world(struct world *w, const struct execution *x, enum ordeal_model m,
                       const struct ordeal_place *order, size_t count)
{
    *w = (struct world){ .x = x, .m = m };
    for (size_t i = 0; i < count; i++) {
        uint32_t e = order[i].event;
        if (m == ORDEAL_PC)
            w->at[e][order[i].view] = (int)i + 1;
        for (; m != ORDEAL_PC && e < x->group_first[x->group[order[i].event] + 1]; e++)
            w->at[e][0] = (int)i + 1;
    }
    if (m == ORDEAL_RMO)
        find_dependences(w);
}

bool axioms_hold(const struct execution *x, enum ordeal_model m, bool time_order,
                 const struct ordeal_place *order, size_t count)
{
    struct world w;
    make_world(&w, x, m, order, count);
    return amos_hold(&w) && values_hold(&w) && program_order_holds(&w) && facts_hold(&w, time_order)
        && (m == ORDEAL_PC ? coherence_holds(&w) && atomicity_holds(&w)
                           : values_are_ordered(&w) && reservations_hold(&w));
}

bool axioms_literal(const struct execution *x, enum ordeal_model m,
                    const struct ordeal_place *order, size_t count,
                    const struct ordeal_literal *literal)
{
    struct world w;
    make_world(&w, x, m, order, count);
    uint32_t view = 0;
    while (!lands(x, m, literal->reads ? literal->b : literal->a, view))
        view++;
    bool truth = literal->reads ? source(&w, literal->a) == literal->b
                                : before(&w, literal->a, view, literal->b, view);
    return truth != literal->negated;
}

bool axioms_lands(const struct execution *x, enum ordeal_model m, uint32_t event, uint32_t view)
{
    return m != ORDEAL_PC || lands(x, m, event, view);
}

bool axioms_before(const struct execution *x, enum ordeal_model m,
                   const struct ordeal_place *order, size_t count, uint32_t a, uint32_t p,
                   uint32_t b, uint32_t q)
{
    struct world w;
    make_world(&w, x, m, order, count);
    return m == ORDEAL_PC ? before(&w, a, p, b, q) : before(&w, a, 0, b, 0);
}

bool axioms_keep(const struct execution *x, enum ordeal_model m, uint32_t a, uint32_t b)
{
    struct world w;
    make_world(&w, x, m, NULL, 0);
    return follows(&w, a, b) && kept(&w, a, b);
}

size_t axioms_places(const struct execution *x, enum ordeal_model m, struct ordeal_place *places,
                     size_t capacity)
{
    size_t count = 0;
    for (uint32_t e = x->locations; e < x->events; e++)
        for (uint32_t p = 0; p < x->threads; p++) {
            if (!lands(x, m, e, p) || (m != ORDEAL_PC && x->group_first[x->group[e]] != e))
                continue;
            if (count < capacity)
                places[count] = (struct ordeal_place){ e, p };
            count++;
        }
    return count;
}
