/* SPDX-License-Identifier: Apache-2.0 */
/* In which order the stores of a cell were, as far as that is sure.
 *
 * Facts are what no coherent machine can have done otherwise: what a thread made or saw one after
 * the other was in that order (under RMO loads may be swapped, but not with the thread's own
 * stores); the store that memory holds at the end was the last; a line of the trace may tell the
 * order; and nothing comes between an atomic access and the store it read. The latter makes blocks:
 * what is before or after one of a block is before or after all of it. So every fact is a fact of
 * the order that the machine had, whatever else that was, and no cycle is seen that it did not close.
 *
 * Where facts contradict each other the cell was not coherent. Its stores are then put in some order
 * that agrees with what it can; if the trace tells of the order, what threads saw does not count. */
#include <assert.h>
#include <string.h>

#include "exec_parts.h"

enum { MOST_LANES = 64 }; /* threads that store to a cell; where there are more no order is known */

/* The stores of a cell by number, from 0 here, which is thread by thread. */
struct stores {
    struct cover_exec *x;
    const struct cell *cell;
    uint32_t count, lanes;
    uint32_t *visit, *lane;        /* lanes are threads that store here */
    uint32_t *follower;            /* atomic access that read it; NOBODY */
    uint32_t *head, *tail, *depth; /* of its block; how many are before it there */
    uint32_t *waits;               /* facts that are before it */
    uint32_t *order;               /* all of them in an order of the facts */
    uint32_t *first_fact;          /* of each, in the list that is sorted; and the end */
    uint32_t *after;               /* of each, by lane: the first that is sure to be after it */
    uint32_t from_initial;         /* atomic access that read what was there at first; NOBODY */
    bool broken, good;             /* facts contradict each other; there is memory */
    bool blind;                    /* what threads saw does not count */
};

static uint32_t number_of(const struct stores *s, uint32_t visit)
{
    return s->x->visits.data[visit].store - 1;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void link_atomics(struct stores *s)
{
    for (uint32_t k = 0; k < s->count; k++) {
        const struct visit *v = &s->x->visits.data[s->visit[k]];
        if (!exec_access(s->x, v)->reads || !v->sure)
            continue;
        uint32_t *follower = v->source == INITIAL ? &s->from_initial
                                                  : &s->follower[number_of(s, v->source)];
        s->broken |= *follower != NOBODY;
        *follower = k;
        s->depth[k] = 1; /* it is not the first, unless it read what was there at first */
    }
    if (s->from_initial != NOBODY)
        s->depth[s->from_initial] = 0;
}

static void walk_block(struct stores *s, uint32_t head)
{
    uint32_t depth = 0, tail = head;
    for (uint32_t k = head; k != NOBODY; k = s->follower[k]) {
        s->head[k] = head;
        s->depth[k] = depth++;
        tail = k;
    }
    for (uint32_t k = head; k != NOBODY; k = s->follower[k])
        s->tail[k] = tail;
}

static void make_blocks(struct stores *s)
{
    link_atomics(s);
    for (uint32_t k = 0; !s->broken && k < s->count; k++)
        if (s->depth[k] == 0)
            walk_block(s, k);
    for (uint32_t k = 0; k < s->count; k++) /* in a circle there is none with nothing before it */
        s->broken |= s->head[k] == NOBODY;
}

static void make_no_blocks(struct stores *s)
{
    s->from_initial = NOBODY;
    for (uint32_t k = 0; k < s->count; k++) {
        s->follower[k] = NOBODY;
        s->head[k] = s->tail[k] = k;
        s->depth[k] = 0;
    }
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void add_fact(struct stores *s, uint32_t before, uint32_t after)
{
    if (before == after)
        return;
    struct fact f = { s->tail[before], s->head[after] };
    if (s->head[before] == f.after)
        s->broken |= s->depth[before] > s->depth[after];
    else
        s->good &= LIST_PUSH(&s->x->facts, f);
}

/* A thread on its way through the cell: its last store, the last that it made or saw, and its first
 * visit after that store. */
struct way {
    uint32_t thread, made, last, since;
};

static void saw(struct stores *s, struct way *w, const struct visit *v, bool loads_in_order)
{
    uint32_t before = loads_in_order ? w->last : w->made;
    if (!v->sure || s->blind)
        return;
    if (v->source == INITIAL) {
        s->broken |= before != NOBODY;
        return;
    }
    uint32_t seen = number_of(s, v->source);
    if (before != NOBODY)
        add_fact(s, before, seen);
    w->last = seen;
}

/* The store at visit `i` of the cell. */
static void made(struct stores *s, struct way *w, uint32_t i, bool loads_in_order)
{
    uint32_t store = exec_visit(s->x, s->cell, i)->store - 1;
    if (w->last != NOBODY)
        add_fact(s, w->last, store);
    if (w->made != NOBODY)
        add_fact(s, w->made, store);
    for (uint32_t k = w->since; !loads_in_order && !s->blind && k <= i; k++) {
        const struct visit *v = exec_visit(s->x, s->cell, k);
        if (v->sure && v->source != INITIAL)
            add_fact(s, number_of(s, v->source), store);
    }
    w->made = w->last = store;
    w->since = i + 1;
}

static void note_threads(struct stores *s)
{
    enum ordeal_model model;
    bool loads_in_order = !ordeal_trace_claimed(s->x->trace, &model) || model != ORDEAL_RMO;
    struct way w = { .thread = NOBODY };
    for (uint32_t i = 0; i < s->cell->count; i++) {
        const struct visit *v = exec_visit(s->x, s->cell, i);
        const struct access *a = exec_access(s->x, v);
        if (a->thread != w.thread)
            w = (struct way){ a->thread, NOBODY, NOBODY, i };
        saw(s, &w, v, loads_in_order);
        if (a->writes)
            made(s, &w, i, loads_in_order);
    }
}

/* The one store of a value; NOBODY: there is none, or several. */
static uint32_t store_of(const struct stores *s, uint64_t print)
{
    uint32_t found = NOBODY;
    for (uint32_t k = 0; k < s->count; k++)
        if (s->x->visits.data[s->visit[k]].written == print) {
            if (found != NOBODY)
                return NOBODY;
            found = k;
        }
    return found;
}

/* The store that memory holds at the end. */
static uint32_t last_of(const struct stores *s)
{
    const struct cell *c = s->cell;
    uint64_t all = c->bytes < MOST_CELL ? (UINT64_C(1) << c->bytes) - 1 : UINT64_MAX;
    return c->final_bytes == all ? store_of(s, c->final) : NOBODY;
}

static void note_ends(struct stores *s)
{
    uint32_t last = last_of(s);
    for (uint32_t k = 0; s->from_initial != NOBODY && k < s->count; k++)
        if (s->head[k] == k)
            add_fact(s, s->from_initial, k);
    for (uint32_t k = 0; last != NOBODY && k < s->count; k++)
        if (s->tail[k] == k)
            add_fact(s, k, last);
}

static void note_order(struct stores *s)
{
    uint32_t base, last = NOBODY;
    uint64_t address;
    uint8_t size_log2;
    const uint64_t *values;
    size_t count = 0;
    if (s->cell->order)
        ordeal_trace_order_at(s->x->trace, s->cell->order - 1, &base, &address, &size_log2, &values,
                              &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t k = store_of(s, values[i]);
        if (k == NOBODY)
            continue;
        if (last != NOBODY)
            add_fact(s, last, k);
        last = k;
    }
}

static int compare_facts(const void *a, const void *b)
{
    const struct fact *f = a, *g = b;
    if (f->before != g->before)
        return f->before < g->before ? -1 : 1;
    return f->after < g->after ? -1 : f->after > g->after;
}

/* Sorts the facts by what is before, and counts. */
static void sort_facts(struct stores *s)
{
    LIST_SORT(&s->x->facts, compare_facts);
    const struct fact *f = s->x->facts.data;
    size_t count = s->x->facts.count, at = 0;
    memset(s->waits, 0, s->count * sizeof *s->waits);
    for (size_t i = 0; i < count; i++)
        s->waits[f[i].after]++;
    for (uint32_t k = 0; k <= s->count; k++) {
        while (at < count && f[at].before < k)
            at++;
        s->first_fact[k] = (uint32_t)at;
    }
}

static void gather_facts(struct stores *s)
{
    s->x->facts.count = 0;
    for (uint32_t k = 0; k < s->count; k++)
        if (s->follower[k] != NOBODY) {
            struct fact f = { k, s->follower[k] };
            s->good &= LIST_PUSH(&s->x->facts, f);
        }
    note_threads(s);
    note_ends(s);
    note_order(s);
    sort_facts(s);
}

/* ---- an order of the facts ------------------------------------------------------------------- */

static void place(struct stores *s, uint32_t k, uint32_t *placed)
{
    s->order[(*placed)++] = k;
    for (uint32_t i = s->first_fact[k]; i < s->first_fact[k + 1]; i++)
        s->waits[s->x->facts.data[i].after]--;
}

/* False: there is none. */
static bool find_order(struct stores *s)
{
    uint32_t placed = 0;
    for (uint32_t k = 0; k < s->count; k++)
        if (!s->waits[k])
            s->order[placed++] = k;
    for (uint32_t done = 0; done < placed; done++) {
        uint32_t k = s->order[done];
        for (uint32_t i = s->first_fact[k]; i < s->first_fact[k + 1]; i++) {
            uint32_t after = s->x->facts.data[i].after;
            if (--s->waits[after] == 0)
                s->order[placed++] = after;
        }
    }
    return placed == s->count;
}

/* Which is next where facts contradict each other: one that waits for none, of those the one that
 * is nearest to the begin of its thread. */
static bool is_better(const struct stores *s, uint32_t k, uint32_t best)
{
    const struct cover_exec *x = s->x;
    if (best == NOBODY || (s->waits[k] == 0) != (s->waits[best] == 0))
        return best == NOBODY || s->waits[k] == 0;
    return exec_access(x, &x->visits.data[s->visit[k]])->position
         < exec_access(x, &x->visits.data[s->visit[best]])->position;
}

/* Makes facts of some order that agrees with what it can. */
static void choose_order(struct stores *s)
{
    uint32_t placed = 0;
    make_no_blocks(s);
    s->blind = s->cell->order || last_of(s) != NOBODY;
    gather_facts(s);
    memset(s->depth, 0, s->count * sizeof *s->depth); /* 1: it is placed */
    while (placed < s->count) {
        uint32_t best = NOBODY;
        for (uint32_t k = 0; k < s->count; k++)
            if (!s->depth[k] && is_better(s, k, best))
                best = k;
        s->depth[best] = 1;
        place(s, best, &placed);
    }
    s->x->facts.count = 0;
    for (uint32_t i = 1; i < s->count; i++) {
        struct fact f = { s->order[i - 1], s->order[i] };
        s->good &= LIST_PUSH(&s->x->facts, f);
    }
    sort_facts(s);
    memset(s->waits, 0, s->count * sizeof *s->waits);
}

/* ---- what comes next ------------------------------------------------------------------------- */

static uint32_t *after_of(const struct stores *s, uint32_t k)
{
    return s->after + (size_t)k * s->lanes;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Stores of a lane are in the order of their numbers, so the first after another tells all. */
static void find_after(struct stores *s)
{
    for (uint32_t i = s->count; i-- > 0;) {
        uint32_t *mine = after_of(s, s->order[i]);
        for (uint32_t l = 0; l < s->lanes; l++)
            mine[l] = NOBODY;
        for (uint32_t f = s->first_fact[s->order[i]]; f < s->first_fact[s->order[i] + 1]; f++) {
            uint32_t next = s->x->facts.data[f].after;
            const uint32_t *its = after_of(s, next);
            mine[s->lane[next]] = least(mine[s->lane[next]], next);
            for (uint32_t l = 0; l < s->lanes; l++)
                mine[l] = least(mine[l], its[l]);
        }
    }
}

/* Of those after it, is another one sure to be before this? */
static bool is_next(const struct stores *s, const uint32_t *after, uint32_t lane)
{
    for (uint32_t l = 0; l < s->lanes; l++)
        if (l != lane && after[l] != NOBODY && after_of(s, after[l])[lane] <= after[lane])
            return false;
    return after[lane] != NOBODY;
}

/* Before all of them are those that no fact puts after another: `waits` is all zero by now. */
static bool list_next(struct stores *s)
{
    struct cover_exec *x = s->x;
    for (size_t i = 0; i < x->facts.count; i++)
        s->waits[x->facts.data[i].after] = 1;
    for (uint32_t k = 0; k < s->count; k++)
        s->good &= s->waits[k] || LIST_PUSH(&x->next, s->visit[k]);
    for (uint32_t k = 0; k < s->count; k++) {
        x->next_at.data[k + 1] = (uint32_t)x->next.count;
        const uint32_t *after = after_of(s, k);
        for (uint32_t l = 0; l < s->lanes; l++)
            s->good &= !is_next(s, after, l) || LIST_PUSH(&x->next, s->visit[after[l]]);
    }
    x->next_at.data[s->count + 1] = (uint32_t)x->next.count;
    return s->good;
}

/* ---- a cell ---------------------------------------------------------------------------------- */

static void count_stores(struct stores *s)
{
    uint32_t thread = NOBODY;
    for (uint32_t i = 0; i < s->cell->count; i++) {
        struct visit *v = exec_visit(s->x, s->cell, i);
        const struct access *a = exec_access(s->x, v);
        if (!a->writes)
            continue;
        v->store = ++s->count;
        s->lanes += a->thread != thread;
        thread = a->thread;
    }
}

static bool make_room(struct stores *s)
{
    enum { LISTS = 8 };
    size_t n = s->count;
    if (!LIST_CLEAR_TO(&s->x->scratch, n * LISTS + n + 1 + n * s->lanes))
        return false;
    uint32_t *room = s->x->scratch.data;
    uint32_t **lists[LISTS] = { &s->visit, &s->lane,  &s->follower, &s->head,
                                &s->tail,  &s->depth, &s->waits,    &s->order };
    for (int i = 0; i < LISTS; i++)
        *lists[i] = room + n * (size_t)i;
    s->first_fact = room + n * LISTS;
    s->after = s->first_fact + n + 1;
    return true;
}

static void number_stores(struct stores *s)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < s->cell->count; i++) {
        if (!exec_visit(s->x, s->cell, i)->store)
            continue;
        s->visit[k] = s->x->by_cell.data[s->cell->first + i];
        s->follower[k] = s->head[k] = NOBODY;
        bool same = k > 0
                 && exec_access(s->x, exec_visit(s->x, s->cell, i))->thread
                        == exec_access(s->x, &s->x->visits.data[s->visit[k - 1]])->thread;
        s->lane[k] = k == 0 ? 0 : s->lane[k - 1] + !same;
        k++;
    }
}

bool exec_order(struct cover_exec *x, struct cell *c)
{
    struct stores s = { .x = x, .cell = c, .from_initial = NOBODY, .good = true };
    x->next.count = 0;
    count_stores(&s);
    if (!LIST_CLEAR_TO(&x->next_at, (size_t)s.count + 2))
        return false;
    if (s.count == 0 || s.lanes > MOST_LANES || c->open)
        return true;
    if (!make_room(&s))
        return false;
    number_stores(&s);
    make_blocks(&s);
    if (!s.broken)
        gather_facts(&s);
    if (s.broken || !find_order(&s))
        choose_order(&s);
    if (!s.good)
        return false;
    find_after(&s);
    return list_next(&s);
}
