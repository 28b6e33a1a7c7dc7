/* SPDX-License-Identifier: Apache-2.0 */
/* Certifies a PASS: the total order obeys every axiom of the model (thesis 2.2, 2.4, 5.3).
 *
 * Linear: the places are numbered from 1 along the order (0 is the root, where the initial stores
 * are); then each thread is walked once with running maxima of the numbers it has passed, and the
 * order is walked once with the memory in hand. Atomic groups stand in the order as one place,
 * which is all of Atomicity, TransOpOp and TransAtomicity.
 *
 * Under PC a place is a load, or a store in one view. The axioms give every word a copy for every
 * thread; here it has one only for the threads that load it, or a word that some access joins
 * with it (if there are none, one called 0). That loses nothing: put each missing copy of a store
 * right behind one that is there, words that are written at once together. Copies then keep the
 * order of the views that are there (Coherence, StoreStore), precede and follow the same loads
 * (LoadOp, Membar, Atomicity), and no load looks at them (Value). */
#include "certify.h"

/* What the thread has done to a word so far, by the numbers of its places. */
struct word_past {
    uint32_t thread;               /* whose past it is; others' does not count */
    uint32_t store;                /* latest store in program order, or NONE */
    uint32_t last_access;          /* the highest place of any access */
    uint32_t store_reach, reach;   /* RMO: the highest place of a load that its stores, or any of
                                      its accesses, depend on or are themselves */
};

struct order_check {
    const struct ordeal_verdict *v;
    const struct execution *x;
    struct scratch scratch;
    bool views;
    uint32_t *at;                  /* by slot: number of the place, 0 while there is none */
    uint32_t *own_store;           /* by load: own store before it in program order, or NONE */
    struct word_past *past;        /* by word */
    uint32_t *reach;               /* by group, RMO: see word_past */
    uint32_t *memory;              /* by cell: the store it holds */
    uint32_t *saw;                 /* by load: the store that decided its value; not with views */
    /* With views only. Slots: see slot_of. Cells: a word as one thread sees it. */
    uint32_t *cell_first;          /* by word, and one more */
    uint32_t *cell_thread;
    uint32_t *slot_first;          /* by event, and one more */
    uint32_t *first, *last;        /* by event: its lowest and highest place */
    uint32_t *rank;                /* by store: its number in the word's coherence order */
    uint32_t *filled;              /* by cell: stores that have landed there */
};

static enum ordeal_status refuse_place(const struct order_check *c, uint32_t place, uint32_t other,
                                       const char *why)
{
    char here[EVENT_TEXT], there[EVENT_TEXT];
    const struct ordeal_place *order = c->v->order.data;
    assert(place >= 1 && place <= c->v->order.count && other <= c->v->order.count);
    certify_event_text(c->x, order[place - 1].event, here);
    if (other == 0)
        return fail(c->v->o, ORDEAL_INTERNAL, "place %u (%s): %s", place, here, why);
    certify_event_text(c->x, order[other - 1].event, there);
    return fail(c->v->o, ORDEAL_INTERNAL, "place %u (%s): %s, see place %u (%s)", place, here, why,
                other, there);
}

static enum ordeal_status out_of_memory(const struct order_check *c)
{
    return scratch_status(&c->scratch);
}

/* ---- where everything stands -------------------------------------------------------- */

/* The cell of a word in the view of a thread; NONE when the word has no such view. */
static uint32_t cell_of_view(const struct order_check *c, uint32_t word, uint32_t thread)
{
    uint32_t low = c->cell_first[word], high = c->cell_first[word + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->cell_thread[middle] == thread)
            return middle;
        if (c->cell_thread[middle] < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return NONE;
}

/* With views a load has one slot, a store one for each cell of its word. */
static uint32_t slot_of(const struct order_check *c, uint32_t event, uint32_t cell)
{
    uint32_t slot = c->slot_first[event], word = c->x->loc[event];
    assert(!is_initial(c->x, event) && cell >= c->cell_first[word]
           && cell < c->cell_first[word + 1]);
    return c->x->is_store[event] ? slot + cell - c->cell_first[word] : slot;
}

static uint32_t first_place(const struct order_check *c, uint32_t event)
{
    return c->views ? c->first[event] : c->at[c->x->group[event]];
}

static uint32_t last_place(const struct order_check *c, uint32_t event)
{
    return c->views ? c->last[event] : c->at[c->x->group[event]];
}

static enum ordeal_status place_groups(struct order_check *c)
{
    const struct execution *x = c->x;
    const struct ordeal_place *order = c->v->order.data;
    size_t count = c->v->order.count;
    c->at = scratch_zero(&c->scratch, x->groups, sizeof *c->at);
    if (!c->at)
        return out_of_memory(c);
    for (size_t i = 0; i < count; i++) {
        uint32_t e = order[i].event;
        if (e >= x->events || is_initial(x, e) || x->group_first[x->group[e]] != e)
            return fail(c->v->o, ORDEAL_INTERNAL, "place %zu: event %u is not the first of a group",
                        i + 1, e);
        if (c->at[x->group[e]])
            return refuse_place(c, (uint32_t)i + 1, c->at[x->group[e]], "it has a place already");
        c->at[x->group[e]] = (uint32_t)i + 1;
    }
    if (count != x->groups - 1)
        return fail(c->v->o, ORDEAL_INTERNAL, "the order has %zu places for %u groups", count,
                    x->groups - 1);
    return ORDEAL_OK;
}

/* By word: the lowest of the words that accesses join it with, directly or through others. */
static uint32_t *join_words(struct order_check *c)
{
    const struct execution *x = c->x;
    uint32_t *lowest = scratch_none(&c->scratch, x->locations);
    for (uint32_t l = 0; lowest && l < x->locations; l++)
        lowest[l] = l;
    for (bool changed = true; lowest && changed;) {
        changed = false;
        for (uint32_t e = x->locations + 1; e < x->events; e++) {
            uint32_t a = x->loc[e - 1], b = x->loc[e];
            if (x->group[e - 1] != x->group[e] || lowest[a] == lowest[b])
                continue;
            lowest[a] = lowest[b] = lowest[a] < lowest[b] ? lowest[a] : lowest[b];
            assert_hot(lowest[a] <= a && lowest[b] <= b);
            changed = true;
        }
    }
    return lowest;
}

/* The cells of each word: one for each thread that loads it or a word joined with it, ascending;
 * else that of thread 0. */
static bool make_cells(struct order_check *c)
{
    const struct execution *x = c->x;
    uint32_t *seen = scratch_none(&c->scratch, x->locations);
    uint32_t *views = scratch_zero(&c->scratch, x->locations, sizeof *views);
    uint32_t *joined = join_words(c);
    c->cell_first = scratch_zero(&c->scratch, (size_t)x->locations + 1, sizeof *c->cell_first);
    if (!seen || !views || !joined || !c->cell_first)
        return false;
    for (uint32_t e = x->locations; e < x->events; e++) {
        uint32_t l = joined[x->loc[e]];
        if (!x->is_store[e] && seen[l] != event_thread(x, e)) {
            seen[l] = event_thread(x, e);
            views[l]++;
        }
    }
    for (uint32_t l = 0; l < x->locations; l++)
        c->cell_first[l + 1] = c->cell_first[l] + (views[joined[l]] ? views[joined[l]] : 1);
    c->cell_thread = scratch_zero(&c->scratch, c->cell_first[x->locations], sizeof *c->cell_thread);
    if (!c->cell_thread)
        return false;
    for (uint32_t l = 0; l < x->locations; l++) {
        seen[l] = NONE;
        views[l] = 0;
    }
    for (uint32_t e = x->locations; e < x->events; e++) {
        uint32_t l = joined[x->loc[e]];
        if (!x->is_store[e] && seen[l] != event_thread(x, e)) {
            uint32_t cell = c->cell_first[l] + views[l]++;
            assert(cell < c->cell_first[l + 1]);
            c->cell_thread[cell] = seen[l] = event_thread(x, e);
        }
    }
    for (uint32_t l = 0; l < x->locations; l++)
        for (uint32_t i = 0; i < views[joined[l]]; i++)
            c->cell_thread[c->cell_first[l] + i] = c->cell_thread[c->cell_first[joined[l]] + i];
    return true;
}

static enum ordeal_status place_views(struct order_check *c)
{
    const struct execution *x = c->x;
    size_t count = c->v->order.count;
    c->slot_first = scratch_zero(&c->scratch, (size_t)x->events + 1, sizeof *c->slot_first);
    c->first = scratch_zero(&c->scratch, x->events, sizeof *c->first);
    c->last = scratch_zero(&c->scratch, x->events, sizeof *c->last);
    if (!c->slot_first || !c->first || !c->last || !make_cells(c))
        return out_of_memory(c);
    uint64_t slots = 0;
    for (uint32_t e = x->locations; e < x->events; e++) {
        uint32_t l = x->loc[e];
        c->slot_first[e] = (uint32_t)slots;
        slots += x->is_store[e] ? c->cell_first[l + 1] - c->cell_first[l] : 1;
    }
    if (count != slots || slots >= NONE)
        return fail(c->v->o, ORDEAL_INTERNAL, "the order has %zu places for %llu loads and copies "
                    "of stores", count, (unsigned long long)slots);
    c->slot_first[x->events] = (uint32_t)slots;
    c->at = scratch_zero(&c->scratch, slots, sizeof *c->at);
    if (!c->at)
        return out_of_memory(c);
    for (uint32_t i = 0; i < count; i++) {
        struct ordeal_place p = c->v->order.data[i];
        if (p.event >= x->events || is_initial(x, p.event))
            return fail(c->v->o, ORDEAL_INTERNAL, "place %u: there is no event %u", i + 1, p.event);
        uint32_t cell = cell_of_view(c, x->loc[p.event], p.view);
        if (cell == NONE || (!x->is_store[p.event] && p.view != event_thread(x, p.event)))
            return refuse_place(c, i + 1, 0, "it has no such view");
        uint32_t *at = &c->at[slot_of(c, p.event, cell)];
        if (*at)
            return refuse_place(c, i + 1, *at, "it has a place already");
        *at = c->last[p.event] = i + 1;
        if (!c->first[p.event])
            c->first[p.event] = i + 1;
    }
    return ORDEAL_OK;
}

/* ---- program order ------------------------------------------------------------------ */

/* A thread being walked: the highest places passed, by kind, and the place that all further
 * loads (stores) must be behind because of what they follow and what stands between. */
struct walk { uint32_t passed[2], floor[2]; };
enum { LOADS, STORES };

static void raise_floor(struct walk *w, uint8_t membar)
{
    static const struct { uint8_t flavour, earlier, later; } flavours[] = {
        { ORDEAL_LL, LOADS, LOADS }, { ORDEAL_LS, LOADS, STORES },
        { ORDEAL_SL, STORES, LOADS }, { ORDEAL_SS, STORES, STORES },
    };
    for (int i = 0; i < 4; i++) {
        uint32_t *floor = &w->floor[flavours[i].later], passed = w->passed[flavours[i].earlier];
        if ((membar & flavours[i].flavour) && *floor < passed)
            *floor = passed;
    }
}

static struct word_past *past_of(struct order_check *c, uint32_t event)
{
    struct word_past *past = &c->past[c->x->loc[event]];
    uint32_t thread = event_thread(c->x, event);
    if (past->thread != thread)
        *past = (struct word_past){ .thread = thread, .store = NONE };
    return past;
}

static enum ordeal_status check_events(struct order_check *c, const struct walk *w, uint32_t group)
{
    const struct execution *x = c->x;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        uint32_t place = first_place(c, e), floor = w->floor[x->is_store[e] ? STORES : LOADS];
        const struct word_past *past = past_of(c, e);
        if (place <= floor)
            return refuse_place(c, place, floor, "program order is not kept");
        /* Whatever the model, an access stays before a later store to its word: OpOp; LoadOp and
         * StoreStore; rules 2 and 3 of PSO; DepOpStoreSameAddr. */
        if (x->is_store[e] && place <= past->last_access)
            return refuse_place(c, place, past->last_access, "an earlier access to its word of its "
                                "own thread is not before it");
        c->own_store[e] = past->store;
    }
    return ORDEAL_OK;
}

static void pass_events(struct order_check *c, struct walk *w, uint32_t group)
{
    const struct execution *x = c->x;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        struct word_past *past = past_of(c, e);
        uint32_t place = last_place(c, e), *passed = &w->passed[x->is_store[e] ? STORES : LOADS];
        if (*passed < place)
            *passed = place;
        if (past->last_access < place)
            past->last_access = place;
        if (x->is_store[e])
            past->store = e;
    }
}

/* RMO, DepLoadOp: a group is behind all loads that it is dependence ordered after. The order is
 * transitive also through stores that are themselves not held back (thesis 2.4.3, rule 4). */
static enum ordeal_status check_dependence(struct order_check *c, uint32_t group, uint32_t *next)
{
    const struct execution *x = c->x;
    uint32_t reach = 0;
    for (; *next < x->dependences && x->dependence[*next].to <= group; ++*next) {
        uint32_t from = x->dependence[*next].from;
        bool branch = x->dependence[*next].use == ORDEAL_REGISTER_CONTROL;
        assert(from < x->dependence[*next].to); /* so its reach is known */
        if (branch && !(x->group_flags[group] & GROUP_STORES))
            continue; /* rule 1 of the dependence order is about stores */
        if (x->dependence[*next].to == group && reach < c->reach[from])
            reach = c->reach[from];
    }
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        const struct word_past *past = past_of(c, e);
        uint32_t other = x->is_store[e] ? past->reach : past->store_reach;
        reach = reach < other ? other : reach;
    }
    if (c->at[group] <= reach)
        return refuse_place(c, c->at[group], reach, "it depends on a load that is not before it");
    c->reach[group] = x->group_flags[group] & GROUP_LOADS ? c->at[group] : reach;
    return ORDEAL_OK;
}

static void pass_dependence(struct order_check *c, uint32_t group)
{
    const struct execution *x = c->x;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        struct word_past *past = past_of(c, e);
        if (past->reach < c->reach[group])
            past->reach = c->reach[group];
        if (x->is_store[e] && past->store_reach < c->reach[group])
            past->store_reach = c->reach[group];
    }
}

static enum ordeal_status check_thread(struct order_check *c, uint32_t thread, uint32_t *barrier,
                                       uint32_t *dependence)
{
    const struct execution *x = c->x;
    struct walk w = { { 0 }, { 0 } };
    uint8_t assumed = certify_assumed_membar(c->v->model), transaction = 0;
    enum ordeal_status status = ORDEAL_OK;
    uint32_t end = x->thread_first[thread + 1], next;
    for (uint32_t first = x->thread_first[thread]; first < end; first = next) {
        /* Words of one access are not ordered among themselves: check them all, then pass them. */
        for (next = first + 1; next < end && x->instruction[next] == x->instruction[first]; next++)
            ;
        uint8_t membar = assumed | transaction; /* TransMembar, behind */
        for (; *barrier < x->barriers && x->barrier[*barrier].group <= first; ++*barrier)
            membar |= x->barrier[*barrier].mask;
        transaction = x->group_flags[first] & GROUP_TX ? ORDEAL_FULL : 0;
        raise_floor(&w, membar | transaction); /* TransMembar, before */
        for (uint32_t g = first; status == ORDEAL_OK && g < next; g++) {
            status = check_events(c, &w, g);
            if (status == ORDEAL_OK && c->reach)
                status = check_dependence(c, g, dependence);
        }
        if (status != ORDEAL_OK)
            return status;
        for (uint32_t g = first; g < next; g++) {
            pass_events(c, &w, g);
            if (c->reach)
                pass_dependence(c, g);
        }
        if (limit_hit(c->v->o, "certify", -1))
            return ORDEAL_LIMIT;
    }
    return ORDEAL_OK;
}

static enum ordeal_status check_program_order(struct order_check *c)
{
    const struct execution *x = c->x;
    c->own_store = scratch_none(&c->scratch, x->events);
    c->past = scratch_zero(&c->scratch, x->locations, sizeof *c->past);
    if (c->v->model == ORDEAL_RMO)
        c->reach = scratch_zero(&c->scratch, x->groups, sizeof *c->reach);
    if (!c->own_store || !c->past || (c->v->model == ORDEAL_RMO && !c->reach))
        return out_of_memory(c);
    for (uint32_t l = 0; l < x->locations; l++)
        c->past[l].thread = NONE;
    enum ordeal_status status = ORDEAL_OK;
    uint32_t barrier = 0, dependence = 0;
    for (uint32_t t = 0; status == ORDEAL_OK && t < x->threads; t++)
        status = check_thread(c, t, &barrier, &dependence);
    assert(status != ORDEAL_OK || !c->reach || dependence == x->dependences);
    return status;
}

/* ---- values ------------------------------------------------------------------------- */

static enum ordeal_status check_value(const struct order_check *c, uint32_t load, uint32_t place,
                                      uint32_t source)
{
    if (c->x->value[load] == c->x->value[source])
        return ORDEAL_OK;
    char here[EVENT_TEXT], there[EVENT_TEXT];
    return fail(c->v->o, ORDEAL_INTERNAL, "place %u (%s): the latest store it can see is %s", place,
                certify_event_text(c->x, load, here), certify_event_text(c->x, source, there));
}

/* What an LR saw is still there when its SC is performed: nobody's store came between. */
static enum ordeal_status check_reservation(const struct order_check *c, uint32_t group,
                                            uint32_t place)
{
    const struct execution *x = c->x;
    const struct reservation *r = reservation_of(x, group);
    for (uint32_t e = r ? r->first : 0; r && e < r->end; e++) {
        uint32_t last = c->memory[x->loc[e]];
        uint32_t at = is_initial(x, last) ? 0 : c->at[x->group[last]];
        if (c->saw[e] == NONE)
            return refuse_place(c, place, 0, "an SC is performed before its LR");
        if (last != c->saw[e])
            return refuse_place(c, place, at, "a store came between an LR and its SC");
    }
    return ORDEAL_OK;
}

/* Value: a load sees the latest, in memory order, of the stores before it and of those of its own
 * thread before it in program order. The latter come in program order (they are of one word), so
 * the last of them decides whether one is still on its way. */
static enum ordeal_status check_values(struct order_check *c)
{
    const struct execution *x = c->x;
    c->memory = scratch_zero(&c->scratch, x->locations, sizeof *c->memory);
    c->saw = scratch_none(&c->scratch, x->events);
    if (!c->memory || !c->saw)
        return out_of_memory(c);
    for (uint32_t l = 0; l < x->locations; l++)
        c->memory[l] = l;
    enum ordeal_status status = ORDEAL_OK;
    for (uint32_t i = 0; status == ORDEAL_OK && i < c->v->order.count; i++) {
        uint32_t group = x->group[c->v->order.data[i].event];
        if (x->reservations)
            status = check_reservation(c, group, i + 1);
        for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
            uint32_t own = c->own_store[e];
            assert_hot(own == NONE || (x->is_store[own] && x->loc[own] == x->loc[e]));
            if (x->is_store[e]) {
                c->memory[x->loc[e]] = e;
            } else if (status == ORDEAL_OK) {
                c->saw[e] = own != NONE && c->at[x->group[own]] > i + 1 ? own
                                                                        : c->memory[x->loc[e]];
                status = check_value(c, e, i + 1, c->saw[e]);
            }
        }
        if (limit_hit(c->v->o, "certify", -1))
            return ORDEAL_LIMIT;
    }
    return status;
}

/* ---- values, coherence and atomicity with views ------------------------------------- */

static enum ordeal_status land(struct order_check *c, uint32_t store, uint32_t place, uint32_t cell)
{
    const struct execution *x = c->x;
    uint32_t rank = ++c->filled[cell];
    if (!c->rank[store])
        c->rank[store] = rank;
    if (c->rank[store] != rank) /* Coherence */
        return refuse_place(c, place, c->first[store], "the views differ in the order of stores");
    uint32_t before = c->memory[cell];
    assert(x->loc[before] == x->loc[store]);
    uint32_t landed = is_initial(x, before) ? 0 : c->at[slot_of(c, before, cell)];
    uint32_t group = x->group[store];
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        if (x->is_store[e])
            continue;
        assert(c->first[e]); /* place_views() has seen every event */
        if (c->first[e] >= place)
            return refuse_place(c, place, c->first[e], "a swap stores before it loads");
        if (x->loc[e] == x->loc[store] && landed > c->first[e]) /* Atomicity */
            return refuse_place(c, place, landed, "a store comes between the halves of a swap");
    }
    c->memory[cell] = store;
    return ORDEAL_OK;
}

/* An access of several words that is atomic all the same reads them at once, and writes them at
 * once in each view: only words of the same access stand between two of its places. */
static enum ordeal_status check_together(const struct order_check *c, uint32_t place)
{
    const struct execution *x = c->x;
    struct ordeal_place p = c->v->order.data[place - 1];
    uint32_t group = x->group[p.event], lowest = place, count = 0;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        uint32_t cell = cell_of_view(c, x->loc[e], p.view);
        if (x->is_store[e] != x->is_store[p.event] || cell == NONE)
            continue;
        uint32_t at = c->at[slot_of(c, e, cell)];
        lowest = at < lowest ? at : lowest;
        count++;
    }
    assert(lowest >= 1 && count >= 1); /* itself */
    if (place - lowest >= count)
        return refuse_place(c, place, lowest, "the words of an atomic access are not together");
    return ORDEAL_OK;
}

static enum ordeal_status check_view_place(struct order_check *c, uint32_t place)
{
    const struct execution *x = c->x;
    struct ordeal_place p = c->v->order.data[place - 1];
    uint32_t cell = cell_of_view(c, x->loc[p.event], p.view), own = c->own_store[p.event];
    enum ordeal_status status;
    assert(cell != NONE); /* or place_views() would have refused it */
    if (x->is_store[p.event])
        status = land(c, p.event, place, cell);
    else
        status = check_value(c, p.event, place, own != NONE && c->at[slot_of(c, own, cell)] > place
                                                ? own : c->memory[cell]);
    return status == ORDEAL_OK ? check_together(c, place) : status;
}

static enum ordeal_status check_views(struct order_check *c)
{
    const struct execution *x = c->x;
    uint32_t cells = c->cell_first[x->locations];
    c->memory = scratch_zero(&c->scratch, cells, sizeof *c->memory);
    c->filled = scratch_zero(&c->scratch, cells, sizeof *c->filled);
    c->rank = scratch_zero(&c->scratch, x->events, sizeof *c->rank);
    if (!c->memory || !c->filled || !c->rank)
        return out_of_memory(c);
    for (uint32_t l = 0; l < x->locations; l++)
        for (uint32_t cell = c->cell_first[l]; cell < c->cell_first[l + 1]; cell++)
            c->memory[cell] = l;
    enum ordeal_status status = ORDEAL_OK;
    for (uint32_t i = 0; status == ORDEAL_OK && i < c->v->order.count; i++) {
        status = check_view_place(c, i + 1);
        if (limit_hit(c->v->o, "certify", -1))
            return ORDEAL_LIMIT;
    }
    return status;
}

/* ---- what the trace says beyond the model ------------------------------------------- */

static bool store_before(const struct order_check *c, uint32_t a, uint32_t b)
{
    if (c->views)
        return c->rank[a] < c->rank[b];
    uint32_t here = c->at[c->x->group[a]], there = c->at[c->x->group[b]];
    return here < there || (here == there && a < b);
}

static enum ordeal_status check_known_orders(const struct order_check *c)
{
    const struct execution *x = c->x;
    for (uint32_t k = 0; k < x->orders; k++)
        for (uint32_t i = x->order_first[k]; i + 1 < x->order_first[k + 1]; i++)
            if (!store_before(c, x->order[i], x->order[i + 1])) {
                char a[EVENT_TEXT], b[EVENT_TEXT];
                return fail(c->v->o, ORDEAL_INTERNAL, "%s is not before %s, as the trace's order "
                            "demands", certify_event_text(x, x->order[i], a),
                            certify_event_text(x, x->order[i + 1], b));
            }
    return ORDEAL_OK;
}

static enum ordeal_status check_finals(const struct order_check *c)
{
    const struct execution *x = c->x;
    for (uint32_t k = 0; k < x->finals; k++) {
        const struct final *f = &x->final[k];
        uint32_t last = c->memory[c->views ? c->cell_first[f->loc] : f->loc];
        char text[EVENT_TEXT];
        if (f->count == 0 || x->value[last] != x->value[x->final_store[f->first]])
            return fail(c->v->o, ORDEAL_INTERNAL, "%s is last, against the trace's final value",
                        certify_event_text(x, last, text));
    }
    return ORDEAL_OK;
}

/* What ended before another began is before it: nothing may begin, in an earlier place, after the
 * end of what has a later one. */
static enum ordeal_status check_times(const struct order_check *c)
{
    const struct execution *x = c->x;
    uint64_t latest_begin = 0;
    uint32_t where = 0;
    if (!c->v->time_order || !x->begin)
        return ORDEAL_OK;
    for (uint32_t i = 0; i < c->v->order.count; i++) {
        uint32_t group = x->group[c->v->order.data[i].event];
        if (x->end[group] < latest_begin)
            return refuse_place(c, i + 1, where, "it ended before what stands before it began");
        if (latest_begin < x->begin[group]) {
            latest_begin = x->begin[group];
            where = i + 1;
        }
    }
    return ORDEAL_OK;
}

static enum ordeal_status check_order(struct order_check *c)
{
    enum ordeal_status status = c->views ? place_views(c) : place_groups(c);
    if (status == ORDEAL_OK)
        status = check_program_order(c);
    if (status == ORDEAL_OK)
        status = c->views ? check_views(c) : check_values(c);
    if (status == ORDEAL_OK && !c->views
        && (certify_is_riscv(c->v->model) || certify_has_marks(c->x)))
        status = certify_riscv(c->v, c->at, c->saw);
    if (status == ORDEAL_OK)
        status = check_known_orders(c);
    if (status == ORDEAL_OK)
        status = check_finals(c);
    return status == ORDEAL_OK ? check_times(c) : status;
}

enum ordeal_status certify_order(const struct ordeal_verdict *v)
{
    struct order_check c = {
        .v = v, .x = v->x, .scratch = { .o = v->o }, .views = certify_has_views(v->model),
    };
    enum ordeal_status status = check_order(&c);
    scratch_free(&c.scratch);
    return status;
}
