/* SPDX-License-Identifier: Apache-2.0 */
/* Replays: whether the values of an execution come out of one schedule of the machine.
 *
 * A load is done as soon as it would see its value, which takes nothing from anybody. To perform a
 * store is a guess, as it may have to come behind another one; so that is only done when somebody
 * waits for it, when every load of the value it overwrites is done, and every store known to be
 * before it is performed. When nothing goes on, the latest guess in the way is turned round.
 *
 * What is known of the order of stores only guides; it can make a replay fail, but not pass. */
#include "replay.h"

#define INLINE static inline __attribute__((always_inline))

/* ---- waiting --------------------------------------------------------------------------- */

static void start(struct ordeal_replay *r)
{
    for (uint32_t w = 0; w < r->words; w++)
        r->memory[w] = w;
    r->memory[r->words] = NONE;
    r->trail_count = 0;
    for (uint32_t t = 0; t < r->threads; t++) {
        struct replay_thread *th = &r->thread[t];
        th->load = th->load_first;
        th->store = th->wanted = th->store_first;
    }
}

/* These return whether it is new. */
INLINE bool want_below(struct replay_thread *th, uint32_t end)
{
    if (th->wanted >= end)
        return false;
    th->wanted = end;
    return true;
}

INLINE bool want(struct ordeal_replay *r, uint32_t s)
{
    return s >= r->words && want_below(&r->thread[r->thread_of[s]], s + 1);
}

INLINE bool want_for(struct ordeal_replay *r, struct replay_thread *th, const struct replay_act *a)
{
    uint32_t drain = a->drain & ~SPECIAL;
    return th->store < drain ? want_below(th, drain) : want(r, a->source);
}

INLINE bool performed(const struct ordeal_replay *r, uint32_t s)
{
    return s < r->thread[r->thread_of[s]].store;
}

/* The first of those known to be before it that is not yet performed, or 0. */
INLINE uint32_t missing(const struct ordeal_replay *r, uint32_t s)
{
    const struct replay_state *state = &r->state[s];
    if (state->earlier && !performed(r, state->earlier))
        return state->earlier;
    for (uint32_t i = state->more; i; i = r->more[i].next)
        if (!performed(r, r->more[i].earlier))
            return r->more[i].earlier;
    return 0;
}

/* ---- doing ----------------------------------------------------------------------------- */

/* `position`: where the trail is cut to take this back, with all that is done at once. */
INLINE void perform(struct ordeal_replay *r, uint32_t s, uint32_t *cell, uint32_t position)
{
    assert_hot(r->trail_count < r->stores + r->loads && r->store[*cell].word == r->store[s].word);
    r->state[s].position = position;
    r->trail[r->trail_count++] = (struct replay_done){ s, *cell };
    *cell = s;
}

INLINE void note_loads(struct ordeal_replay *r, uint32_t t, uint32_t load)
{
    struct replay_thread *th = &r->thread[t];
    assert_hot(th->load <= load && load <= th->load_end);
    if (th->load != load)
        r->trail[r->trail_count++] = (struct replay_done){ t | SPECIAL, th->load };
    th->load = load;
}

/* Take back what was done from this place of the trail on. */
static void undo(struct ordeal_replay *r, uint32_t position)
{
    assert(position <= r->trail_count);
    while (r->trail_count > position) {
        struct replay_done done = r->trail[--r->trail_count];
        if (done.what & SPECIAL) {
            struct replay_thread *th = &r->thread[done.what & ~SPECIAL];
            while (th->load > done.before)
                r->state[r->act[--th->load].source].pending++;
        } else {
            assert_hot(r->memory[r->store[done.what].word] == done.what);
            r->memory[r->store[done.what].word] = done.before;
            r->thread[r->thread_of[done.what]].store = done.what;
        }
    }
}

/* Perform a store if it may be; *moved: or something else was asked for first. */
INLINE bool try_store(struct ordeal_replay *r, uint32_t s, uint32_t position, bool *moved)
{
    uint32_t *cell = &r->memory[r->store[s].word], first = missing(r, s);
    if (first)
        *moved |= want(r, first);
    if (first || r->state[*cell].pending)
        return false;
    perform(r, s, cell, position);
    return true;
}

/* All at once, those that stand. */
static bool try_stores(struct ordeal_replay *r, uint32_t s, uint32_t end, bool *moved)
{
    uint32_t position = r->trail_count;
    for (; s < end; s++)
        if (r->standing[s] == s && !try_store(r, s, position, moved)) {
            undo(r, position);
            return false;
        }
    return true;
}

INLINE bool may_load(const struct ordeal_replay *r, const struct replay_thread *th,
                     const struct replay_act *a)
{
    return th->store >= (a->drain & ~SPECIAL) && r->memory[a->cell] == a->expect;
}

static bool do_group(struct ordeal_replay *r, struct replay_thread *th,
                     const struct replay_group *g, bool *moved)
{
    bool writes = false;
    for (uint32_t s = g->store; s < g->store_end; s++)
        writes |= r->standing[s] == s;
    if (writes && th->store < g->store) {
        *moved |= want_below(th, g->store);
        return false;
    }
    for (uint32_t l = g->load; l < g->load_end; l++)
        if (!may_load(r, th, &r->act[l])) {
            *moved |= want_for(r, th, &r->act[l]);
            return false;
        }
    for (uint32_t l = g->load; l < g->load_end; l++) {
        assert_hot(r->state[r->act[l].source].pending > 0);
        r->state[r->act[l].source].pending--;
    }
    if (writes && !try_stores(r, g->store, g->store_end, moved)) {
        for (uint32_t l = g->load; l < g->load_end; l++)
            r->state[r->act[l].source].pending++;
        return false;
    }
    if (writes)
        th->store = g->store_end;
    return true;
}

INLINE bool do_loads(struct ordeal_replay *r, uint32_t t)
{
    struct replay_thread *th = &r->thread[t];
    const struct replay_act *act = r->act, *a = act + th->load, *end = act + th->load_end;
    uint32_t first = th->load;
    bool moved = false;
    for (;;) {
        for (; a < end && th->store >= a->drain && r->memory[a->cell] == a->expect; a++) {
            assert_hot(r->state[a->source].pending > 0);
            r->state[a->source].pending--;
        }
        note_loads(r, t, (uint32_t)(a - act));
        if (a == end)
            break;
        if (!(a->drain & SPECIAL)) {
            moved = want_for(r, th, a);
            break;
        }
        const struct replay_group *g = &r->group[r->group_of[a - act]];
        assert_hot(g->load == (uint32_t)(a - act)); /* the first of its group */
        if (!do_group(r, th, g, &moved))
            break;
        a = act + g->load_end;
    }
    return moved || th->load != first;
}

/* Those that are wanted. */
INLINE bool do_stores(struct ordeal_replay *r, struct replay_thread *th)
{
    uint32_t first = th->store;
    bool moved = false;
    while (th->store < th->wanted) {
        uint32_t s = th->store;
        const struct replay_store *q = &r->store[s];
        assert_hot(s < th->store_end && q->end > s && q->end <= th->store_end);
        if (q->issue == NONE && r->standing[s] != s) { /* not one, see its load */
            th->store++;
            continue;
        }
        if (q->issue > th->load
            || !(q->end == s + 1 ? try_store(r, s, r->trail_count, &moved)
                                 : try_stores(r, s, q->end, &moved)))
            break;
        th->store = q->end;
    }
    return moved || th->store != first;
}

/* As far as it goes. True: all loads are done; of stores that still wait only the last ones can
 * matter. */
static bool go_on(struct ordeal_replay *r)
{
    for (bool moved = true; moved;) {
        uint32_t left = 0;
        moved = false;
        for (uint32_t t = 0; t < r->threads; t++) {
            moved |= do_loads(r, t);
            left += r->thread[t].load_end - r->thread[t].load;
        }
        if (left == 0)
            return true;
        for (uint32_t t = 0; t < r->threads; t++)
            moved |= do_stores(r, &r->thread[t]);
    }
    return false;
}

/* Perform the stores that still wait. Are the final values there? */
static bool ends_well(struct ordeal_replay *r)
{
    for (uint32_t t = 0; t < r->threads; t++)
        r->thread[t].wanted = r->thread[t].store_end;
    for (bool moved = r->finals > 0; moved;) {
        moved = false;
        for (uint32_t t = 0; t < r->threads; t++)
            moved |= do_stores(r, &r->thread[t]);
    }
    for (uint32_t t = 0; r->finals && t < r->threads; t++)
        if (r->thread[t].store < r->thread[t].store_end)
            return false;
    for (uint32_t k = 0; k < r->finals; k++)
        if (r->value[r->memory[r->final[k].word]] != r->ends[k])
            return false;
    return true;
}

/* ---- guessing again -------------------------------------------------------------------- */

/* A swap and what it saw cannot be parted: the ends of a chain of them. */
static uint32_t begin_of_swaps(const struct ordeal_replay *r, uint32_t s)
{
    while (replay_is_swap(r, s))
        s = replay_swapped(r, s);
    return s;
}

static uint32_t end_of_swaps(const struct ordeal_replay *r, uint32_t s)
{
    while (r->taken[s])
        s = r->taken[s];
    return s;
}

static bool need(struct ordeal_replay *r, uint32_t s)
{
    uint32_t *below = &r->need[r->thread_of[s]];
    bool more = s >= *below;
    *below = more ? s + 1 : *below;
    return more;
}

static bool ask(struct ordeal_replay *r, uint32_t s)
{
    const struct replay_state *state = &r->state[s];
    bool more = state->earlier && need(r, state->earlier);
    for (uint32_t i = state->more; i; i = r->more[i].next)
        more |= need(r, r->more[i].earlier);
    return more;
}

/* Must store `from` be before store `to`, by what is known, if all that was done since `from` is
 * taken back? */
static bool leads_to(struct ordeal_replay *r, uint32_t from, uint32_t to)
{
    uint32_t since = r->state[from].position, thread = r->thread_of[from];
    for (uint32_t t = 0; t < r->threads; t++) {
        uint32_t s = r->thread[t].store;
        while (s > r->thread[t].store_first
               && (r->state[s - 1].position >= since || r->standing[s - 1] != s - 1))
            s--;
        r->need[t] = r->asked[t] = s;
    }
    for (bool more = need(r, to); more && r->need[thread] <= from;) {
        more = false;
        for (uint32_t t = 0; t < r->threads; t++)
            for (; r->asked[t] < r->need[t]; r->asked[t]++)
                more |= ask(r, r->asked[t]);
    }
    return r->need[thread] > from;
}

/* A guess to be turned round: `first` was performed, and `second` waits to overwrite it. */
struct guess { uint32_t first, second; };

static bool can_turn(struct ordeal_replay *r, struct guess *g)
{
    g->first = begin_of_swaps(r, g->first);
    g->second = end_of_swaps(r, g->second);
    return g->first >= r->words && r->thread_of[g->first] != r->thread_of[g->second]
        && !leads_to(r, g->first, g->second);
}

/* Of the guesses in the way of stores s .. end the one made last, or first. */
static void find_guess(struct ordeal_replay *r, uint32_t s, uint32_t end, bool last,
                       struct guess *found)
{
    for (; s < end; s++) {
        struct guess g = { r->memory[r->store[s].word], s };
        if (r->standing[s] == s && r->state[g.first].pending && !missing(r, s) && can_turn(r, &g)
            && (!found->first || (r->state[g.first].position
                                  > r->state[found->first].position) == last))
            *found = g;
    }
}

/* Nothing goes on: one guess is turned round, and what rests on it taken back. False: there is
 * none. */
static bool turn_round(struct ordeal_replay *r, bool last)
{
    struct guess g = { 0, 0 };
    for (uint32_t t = 0; t < r->threads; t++) {
        const struct replay_thread *th = &r->thread[t];
        uint32_t s = th->store;
        if (s < th->wanted && r->store[s].issue <= th->load)
            find_guess(r, s, r->store[s].end, last, &g);
        else if (s < th->store_end && r->store[s].issue == NONE && th->load < th->load_end
                 && r->group_of[th->load] == r->store[s].group)
            find_guess(r, s, r->store[s].end, last, &g);
    }
    if (!g.first)
        return false;
    undo(r, r->state[g.first].position);
    for (uint32_t t = 0; t < r->threads; t++)
        r->thread[t].wanted = r->thread[t].store;
    return replay_before(r, g.second, r->thread_of[g.second], g.first);
}

static bool run(struct ordeal_replay *r, bool last)
{
    uint32_t turns = 0, most = 16 + r->stores / 16;
    start(r);
    while (!go_on(r)) {
        if (now_and_then(turns))
            check_hot(replay_check(r));
        if (turns++ == most || !turn_round(r, last))
            return false;
    }
    return ends_well(r);
}

bool ordeal_replay_passes(struct ordeal_replay *r, const uint64_t *values)
{
    return replay_resolve(r, values, false)
        && (run(r, true) || (replay_resolve(r, values, true) && run(r, false)));
}

/* ---- the order ------------------------------------------------------------------------- */

/* Its loads are done before its stores, which stand on the trail before the loads do. */
static bool writes(const struct ordeal_replay *r, const struct replay_group *g)
{
    for (uint32_t s = g->store; s < g->store_end; s++)
        if (r->standing[s] == s)
            return true;
    return false;
}

void replay_order(const struct ordeal_replay *r, uint32_t *order)
{
    const uint32_t *end_of_order = order + r->groups - 1;
    uint32_t last = 0;
    for (uint32_t i = 0; i < r->trail_count; i++) {
        struct replay_done done = r->trail[i];
        if (!(done.what & SPECIAL)) {
            if (r->store[done.what].group != last)
                *order++ = last = r->store[done.what].group;
            continue;
        }
        uint32_t end = r->thread[done.what & ~SPECIAL].load_end;
        for (uint32_t k = i + 1; k < r->trail_count; k++)
            if (r->trail[k].what == done.what) {
                end = r->trail[k].before;
                break;
            }
        for (uint32_t l = done.before; l < end; l++) {
            const struct replay_group *g = &r->group[r->group_of[l]];
            if (l == g->load && !writes(r, g))
                *order++ = r->group_of[l];
        }
    }
    for (uint32_t t = 0; t < r->threads; t++)
        for (uint32_t s = r->thread[t].store; s < r->thread[t].store_end; s = r->store[s].end)
            if (r->store[s].issue != NONE)
                *order++ = r->store[s].group;
    assert(order == end_of_order);
}

/* ---- making ---------------------------------------------------------------------------- */

void ordeal_replay_free(struct ordeal_replay *r)
{
    if (!r)
        return;
#define ARRAY(NAME, COUNT) mem_free(r->o, r->NAME, (COUNT) * sizeof *r->NAME);
    REPLAY_ARRAYS(r)
    ARRAY(table, r->table_size)
#undef ARRAY
    mem_free(r->o, r, sizeof *r);
}

enum ordeal_status ordeal_replay_new(const struct ordeal_trace *t, enum ordeal_model model,
                                     struct ordeal_replay **replay)
{
    *replay = NULL;
    if ((unsigned)model >= ORDEAL_MODELS)
        return fail(t->o, ORDEAL_BAD_USAGE, "no such model");
    struct ordeal_replay *r = mem_zero(t->o, 1, sizeof *r);
    if (!r)
        return t->o->error.status;
    r->o = t->o;
    size_t used = t->o->used - sizeof *r;
    enum ordeal_status status = replay_shape(r, t, model);
    if (!status) {
        *replay = r;
        return status;
    }
    ordeal_replay_free(r);
    assert(t->o->used == used);
    return status;
}
