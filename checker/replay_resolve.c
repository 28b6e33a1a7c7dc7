/* SPDX-License-Identifier: Apache-2.0 */
/* From values to stores, and what they say about the order of stores.
 *
 * Each thread is walked in program order with what it knows by then to be performed: the stores of
 * another thread up to the last one it saw; if it is done thoroughly, and for three threads or
 * more, also what that thread knew when it made that store. Of these, the last to a word is before
 * whatever the thread sees there, or stores there, next (R4 to R6 of the thesis, as far as the past
 * of a load tells: not all that can be known, but most of what guessing would get wrong). */
#include "replay.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Whether the store of a CAS or AMO is one. */
static void stand(struct ordeal_replay *r, uint32_t s, bool stands)
{
    uint32_t own = r->store[s].own;
    assert(own == NONE || own < s); /* whether that one stands is known */
    r->standing[s] = stands ? s : own == NONE ? NONE : r->standing[own];
    r->target[s] = stands ? r->store[s].word : r->words;
}

static void resolve_cas(struct ordeal_replay *r, const struct replay_cas *cas,
                        const uint64_t *values)
{
    uint64_t compare = cas->compare_slot == NONE ? cas->compare : values[cas->compare_slot];
    bool swaps = ((values[cas->slot] ^ compare) & cas->mask) == 0;
    for (uint32_t s = cas->store; s < cas->store_end; s++)
        stand(r, s, swaps);
}

/* An AMO that leaves what it found needs no store: its load is done when its queue is empty, and
 * who reads the word cannot tell. False: the value is too large. */
static bool resolve_amo(struct ordeal_replay *r, const struct replay_amo *amo,
                        const uint64_t *values)
{
    uint64_t read = values[amo->slot];
    if (!trace_value_fits(read, amo->size_log2))
        return false;
    uint64_t result = ordeal_amo_result((enum ordeal_amo_function)amo->function, amo->size_log2,
                                        read, amo->operand);
    r->value[amo->store] = result >> amo->shift & amo->mask;
    stand(r, amo->store, r->value[amo->store] != (read >> amo->shift & amo->mask));
    return true;
}

/* In the order of their stores, each of which may ask whether one before it stands. */
static bool resolve_writes(struct ordeal_replay *r, const uint64_t *values)
{
    uint32_t a = 0;
    for (uint32_t c = 0; c <= r->cas_count; c++) {
        uint32_t end = c < r->cas_count ? r->cas[c].store : r->stores;
        for (; a < r->amo_count && r->amo[a].store < end; a++)
            if (!resolve_amo(r, &r->amo[a], values))
                return false;
        if (c < r->cas_count)
            resolve_cas(r, &r->cas[c], values);
    }
    assert(a == r->amo_count);
    if (a)
        replay_table_renew(r);
    return true;
}

/* ---- sources --------------------------------------------------------------------------- */

INLINE uint32_t source_of_value(const struct ordeal_replay *r, const struct replay_word *w,
                                uint64_t value)
{
    const uint32_t *table = r->table + w->first;
    uint32_t i = replay_hash(w, value), s;
    assert_hot(i <= w->last);
    while ((s = table[i]) != NONE && r->value[s] != value)
        i = (i + 1) & w->last;
    return s;
}

static bool find_sources(const struct ordeal_replay *r, const uint64_t *values)
{
    struct replay_act *act = r->act;
    struct replay_state *state = r->state;
    for (uint32_t l = 0; l < r->loads; l++) {
        const struct replay_load *q = &r->load[l];
        const struct replay_word *w = &r->word[q->word];
        uint32_t s = source_of_value(r, w, values[q->slot] << q->above >> q->shift);
        if (s == NONE)
            return false;
        assert_hot(r->store[s].word == q->word);
        act[l].source = s;
        state[s].pending++;
    }
    return true;
}

/* Memory need not be looked at for an own store: it is forwarded, or not yet overwritten. */
INLINE void set_act(struct replay_act *act, const struct replay_load *q, uint32_t nowhere,
                    uint32_t own, bool forwarded)
{
    uint32_t drain = !forwarded && own + 1 > q->drain ? own + 1 : q->drain; /* NONE + 1 is 0 */
    act->cell = forwarded ? nowhere : q->word;
    act->expect = forwarded ? NONE : act->source;
    act->drain = drain | (q->special ? SPECIAL : 0);
}

/* ---- what a thread knows --------------------------------------------------------------- */

/* How to walk; constants, so that the compiler makes a walk for each case. */
struct manner {
    bool many;                 /* knowledge is handed on from thread to thread */
    bool thorough;             /* draining the own queue tells something, too */
};

/* The thread on its way. The arrays are those of the replay, its own part of them: stated here, a
 * store to one of them is seen not to change the others' whereabouts. */
struct walk {
    struct ordeal_replay *r;
    uint32_t thread, threads, words;
    uint32_t drained;          /* own stores below this are performed */
    uint32_t *seen, *latest, *last;
    uint64_t *fresh;
    const uint32_t *target, *thread_of, *standing;
    struct replay_state *state;
};

/* Stores of the thread below `end` are performed. */
INLINE void learn_below(struct walk *k, uint32_t thread, uint32_t end, bool many)
{
    uint32_t i = k->seen[thread];
    if (i >= end)
        return;
    for (; i < end; i++) {
        uint32_t word = k->target[i];
        if (many) {
            k->latest[(size_t)word * k->threads + thread] = i;
            k->fresh[word] |= UINT64_C(1) << thread;
        } else {
            k->latest[word] = i;
        }
    }
    k->seen[thread] = end;
}

/* Store `s` of another thread, or an initial one, is performed. */
INLINE void learn(struct walk *k, uint32_t s, bool many)
{
    uint32_t thread = k->thread_of[s];
    if (many && s >= k->seen[thread]) {
        const uint32_t *known = &k->r->known[(size_t)s * k->threads];
        for (uint32_t u = 0; u < k->threads; u++)
            learn_below(k, u, known[u], true);
    }
    learn_below(k, thread, s + 1, many);
}

/* Own stores below `drain` are performed, and so are those known to be before them. */
INLINE void learn_by_drain(struct walk *k, uint32_t drain, bool many)
{
    for (; k->drained < drain; k->drained++) {
        const struct replay_state *state = &k->state[k->drained];
        if (state->earlier)
            learn(k, state->earlier, many);
        for (uint32_t i = state->more; i; i = k->r->more[i].next)
            learn(k, k->r->more[i].earlier, many);
    }
}

/* What is known to be performed on the word is before store `s`, or that itself. False: that cannot
 * be. */
INLINE bool put_behind(struct walk *k, uint32_t word, uint32_t s, bool many)
{
    struct ordeal_replay *r = k->r;
    if (!many) {
        uint32_t from = k->latest[word];
        return from == 0 || from == s || replay_before(r, from, k->thread_of[from], s);
    }
    for (; k->fresh[word]; k->fresh[word] &= k->fresh[word] - 1) {
        uint32_t thread = (uint32_t)__builtin_ctzll(k->fresh[word]);
        uint32_t from = k->latest[(size_t)word * k->threads + thread];
        if (from != s && !replay_before(r, from, thread, s))
            return false;
    }
    uint32_t last = k->last[word];
    k->last[word] = s;
    return last < k->words || last == s || replay_before(r, last, k->thread_of[last], s);
}

/* The same for an own store. */
INLINE bool put_own_behind(struct walk *k, uint32_t word, uint32_t s, bool many)
{
    if (many || k->state[s].earlier)
        return put_behind(k, word, s, many);
    k->state[s].earlier = k->latest[word];
    return true;
}

static void hand_on_earlier(struct walk *k, uint32_t *known, uint32_t earlier)
{
    const uint32_t *other = &k->r->known[(size_t)earlier * k->threads];
    for (uint32_t t = 0; t < k->threads; t++)
        known[t] = other[t] > known[t] ? other[t] : known[t];
    uint32_t *thread = &known[k->thread_of[earlier]];
    *thread = earlier >= *thread ? earlier + 1 : *thread;
}

/* What others learn from seeing the own store `s`: what is performed before it. */
static void hand_on(struct walk *k, uint32_t s)
{
    uint32_t *known = &k->r->known[(size_t)s * k->threads];
    memcpy(known, k->seen, k->threads * sizeof *known);
    known[k->thread] = 0;
    const struct replay_state *state = &k->state[s];
    if (s > k->r->thread[k->thread].store_first)
        hand_on_earlier(k, known, s - 1);
    if (state->earlier)
        hand_on_earlier(k, known, state->earlier);
    for (uint32_t i = state->more; i; i = k->r->more[i].next)
        hand_on_earlier(k, known, k->r->more[i].earlier);
    known[k->thread] = s;
}

/* ---- the walk -------------------------------------------------------------------------- */

enum outcome { IMPOSSIBLE, PAUSED, DONE };

/* Paused: the store that the load saw was not yet met. */
INLINE enum outcome walk_load(struct walk *k, const struct replay_load *q, struct replay_act *act,
                              struct manner how)
{
    uint32_t s = act->source, thread = k->thread_of[s];
    uint32_t own = q->own == NONE ? NONE : k->standing[q->own];
    bool forwarded = s == own;
    if (thread == k->thread && !forwarded)
        return IMPOSSIBLE;
    if (how.many && s >= k->r->thread[thread].store)
        return PAUSED;
    set_act(act, q, k->words, own, forwarded);
    if (how.thorough)
        learn_by_drain(k, act->drain & ~SPECIAL, how.many);
    if (forwarded)
        return put_own_behind(k, q->word, s, how.many) ? DONE : IMPOSSIBLE;
    if (!put_behind(k, q->word, s, how.many))
        return IMPOSSIBLE;
    if (own != NONE && !how.many && !replay_before(k->r, own, k->thread, s))
        return IMPOSSIBLE;
    learn(k, s, how.many);
    return DONE;
}

/* On from where it was left. */
INLINE enum outcome walk_thread(struct ordeal_replay *r, uint32_t t, struct manner how)
{
    struct replay_thread *th = &r->thread[t];
    size_t part = (size_t)t * (r->words + 1);
    struct walk k = { .r = r, .thread = t, .threads = r->threads, .words = r->words,
                      .drained = th->drained, .seen = r->seen + t * (r->threads + 1),
                      .latest = r->latest + (how.many ? part * r->threads : part),
                      .last = how.many ? r->last + part : NULL,
                      .fresh = how.many ? r->fresh + part : NULL, .target = r->target,
                      .thread_of = r->thread_of, .standing = r->standing, .state = r->state };
    const struct replay_load *load = r->load;
    struct replay_act *act = r->act;
    uint32_t l = th->load, s = th->store;
    enum outcome outcome = DONE;
    for (; ; l++) {
        uint32_t end = l < th->load_end ? load[l].younger : th->store_end;
        for (; s < end; s++) {
            if (!put_own_behind(&k, k.target[s], s, how.many))
                return IMPOSSIBLE;
            if (how.many)
                hand_on(&k, s);
        }
        if (l == th->load_end)
            break;
        th->store = s;
        outcome = walk_load(&k, &load[l], &act[l], how);
        if (outcome != DONE)
            break;
        for (uint32_t i = load[l].joined; i > 1; i--) /* what the last one saw counts for all */
            if (!put_behind(&k, load[l + 1 - i].word, act[l + 1 - i].source, how.many))
                return IMPOSSIBLE;
    }
    th->load = l;
    th->store = s;
    th->drained = k.drained;
    return outcome;
}

/* Round and round until all threads are through. */
INLINE bool walk_all(struct ordeal_replay *r, struct manner how)
{
    uint32_t left = r->threads, moved = 1;
    for (; left && moved; ) {
        left = moved = 0;
        for (uint32_t t = 0; t < r->threads; t++) {
            uint32_t load = r->thread[t].load;
            enum outcome outcome = walk_thread(r, t, how);
            if (outcome == IMPOSSIBLE)
                return false;
            left += outcome == PAUSED;
            moved += r->thread[t].load != load;
        }
    }
    return left == 0; /* else loads see stores that follow from what they saw */
}

/* ---- the walk of two ------------------------------------------------------------------- */

INLINE uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* The same as walk_thread where there is only one other thread, with few branches, as what they
 * would depend on is random: not thorough, and mistakes are summed up to the end. */
static bool walk_beside(struct ordeal_replay *r, uint32_t t)
{
    const struct replay_thread *th = &r->thread[t];
    const struct replay_load *load = r->load;
    const uint32_t *target = r->target, *thread_of = r->thread_of, *standing = r->standing;
    struct replay_act *act = r->act;
    struct replay_state *state = r->state;
    uint32_t *latest = r->latest + (size_t)t * (r->words + 1), words = r->words;
    uint32_t seen = r->thread[r->threads == 2 ? 1 - t : t].store_first, s = th->store_first;
    bool wrong = false;
    for (uint32_t l = th->load_first; l < th->load_end; l++) {
        const struct replay_load *q = &load[l];
        for (; s < q->younger; s++)
            state[s].earlier = later(state[s].earlier, latest[target[s]]);
        uint32_t source = act[l].source, last = latest[q->word];
        uint32_t own = q->own == NONE ? NONE : standing[q->own], older = own == NONE ? 0 : own;
        bool forwarded = source == own;
        set_act(&act[l], q, words, own, forwarded);
        state[source].earlier = later(state[source].earlier, forwarded ? last : older);
        wrong |= !forwarded
              && (thread_of[source] == t || last > source || (source < words && older));
        for (uint32_t end = forwarded ? 0 : source + 1; seen < end; seen++)
            latest[target[seen]] = seen;
        for (uint32_t i = l + 1 - q->joined; q->joined && i < l; i++) {
            last = latest[load[i].word];
            if (act[i].expect == NONE)
                state[act[i].source].earlier = later(state[act[i].source].earlier, last);
            else
                wrong |= last > act[i].source;
        }
    }
    for (; s < th->store_end; s++)
        state[s].earlier = later(state[s].earlier, latest[target[s]]);
    return !wrong;
}

/* ---- final values ---------------------------------------------------------------------- */

/* All other stores to the word are before the one that left the value. False: that cannot be. */
static bool put_last(struct ordeal_replay *r, const uint32_t *ending, uint32_t s)
{
    for (uint32_t t = 0; t < r->threads; t++) {
        uint32_t last = ending[t] == NONE ? NONE : r->standing[ending[t]];
        if (last != NONE && last != s && !replay_before(r, last, t, s))
            return false;
    }
    return true;
}

/* A value that several stores left says nothing of their order: it is looked at in the end. */
static bool resolve_finals(struct ordeal_replay *r, const uint64_t *values)
{
    for (uint32_t k = 0; k < r->finals; k++) {
        const struct replay_final *f = &r->final[k];
        r->ends[k] = values[f->slot] << f->above >> f->shift;
        if (f->still && r->ends[k] != r->value[f->word])
            return false;
        uint32_t s = f->still ? NONE : source_of_value(r, &r->word[f->word], r->ends[k]);
        if (s != NONE && !put_last(r, &r->ending[(size_t)k * r->threads], s))
            return false;
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------- */

static void set_out(struct ordeal_replay *r, bool thorough)
{
    if (!thorough || r->threads <= 2)
        memset(r->latest, 0, r->threads * ((size_t)r->words + 1) * sizeof *r->latest);
    memset(r->last, 0, r->last_size * sizeof *r->last);
    memset(r->fresh, 0, r->last_size * sizeof *r->fresh);
    for (uint32_t t = 0; t < r->threads; t++) {
        struct replay_thread *th = &r->thread[t];
        uint32_t *seen = r->seen + t * (r->threads + 1);
        th->load = th->load_first;
        th->store = th->drained = th->store_first;
        for (uint32_t u = 0; u < r->threads; u++)
            seen[u] = r->thread[u].store_first;
        seen[t] = seen[r->threads] = NONE; /* own and initial stores tell nothing */
    }
}

/* False: two swaps saw the same, or swaps saw each other in a circle. */
static bool chain_swaps(struct ordeal_replay *r)
{
    uint32_t swaps = 0, chained = 0;
    memset(r->taken, 0, r->stores * sizeof *r->taken);
    for (uint32_t i = 0; i < r->swap_count; i++) {
        uint32_t s = r->swap[i];
        if (!replay_is_swap(r, s))
            continue;
        if (r->taken[replay_swapped(r, s)])
            return false;
        r->taken[replay_swapped(r, s)] = s;
        swaps++;
    }
    for (uint32_t i = 0; i < r->swap_count; i++)
        if (replay_is_swap(r, r->swap[i]) && !replay_is_swap(r, replay_swapped(r, r->swap[i])))
            for (uint32_t s = r->swap[i]; s; s = r->taken[s]) {
                assert(chained < swaps); /* chains do not meet, nor come back */
                chained++;
            }
    return chained == swaps;
}

/* A swap and what it saw cannot be parted: what is before the one is before the other, and so is
 * what is behind. */
static bool carry_over(struct ordeal_replay *r, uint32_t from, uint32_t to)
{
    uint32_t thread = r->thread_of[from];
    for (uint32_t s = to; replay_is_swap(r, s);) {
        s = replay_swapped(r, s);
        if (from == s)
            return true;
        if (!replay_before(r, from, thread, s))
            return false;
    }
    for (uint32_t s = r->taken[from]; s && s != to; s = r->taken[s])
        if (!replay_before(r, s, r->thread_of[s], to))
            return false;
    return true;
}

static bool resolve_swaps(struct ordeal_replay *r)
{
    if (!r->swap_count)
        return true;
    if (!chain_swaps(r))
        return false;
    for (uint32_t s = r->words; s < r->stores; s++) {
        uint32_t earlier = r->state[s].earlier;
        bool swap = r->store[s].swapped != NONE;
        if (earlier && (swap || r->taken[earlier]) && !carry_over(r, earlier, s))
            return false;
        for (uint32_t i = r->state[s].more; i; i = r->more[i].next)
            if (!carry_over(r, r->more[i].earlier, s))
                return false;
    }
    return true;
}

INLINE bool walk_two(struct ordeal_replay *r)
{
    for (uint32_t t = 0; t < r->threads; t++)
        if (!walk_beside(r, t))
            return false;
    return true;
}

bool replay_resolve(struct ordeal_replay *r, const uint64_t *values, bool thorough)
{
    bool many = r->threads > 2;
    memset(r->state, 0, r->stores * sizeof *r->state);
    r->more_count = 1;
    if (!resolve_writes(r, values) || !find_sources(r, values))
        return false;
    for (int pass = 0; pass <= thorough; pass++) {
        set_out(r, thorough);
        bool walked = !thorough ? many ? walk_all(r, (struct manner){ false, false }) : walk_two(r)
                    : many ? walk_all(r, (struct manner){ true, true })
                    : walk_all(r, (struct manner){ false, true });
        if (!walked || !resolve_finals(r, values) || !resolve_swaps(r))
            return false;
    }
    return true;
}
