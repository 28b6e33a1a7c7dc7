/* SPDX-License-Identifier: Apache-2.0 */
#include "states.h"

#include <string.h>

/* A store that waits in its thread's buffer, or was performed. */
struct buffered {
    uint32_t group;
    uint32_t floor; /* earlier stores of the thread below this are performed before it */
};

struct thread_state {
    uint32_t end;
    uint32_t next; /* group */
    uint32_t low;  /* its stores below this are performed */
    uint32_t store_first, store_end;
};

enum change_kind { CHANGE_NEXT, CHANGE_LOW, CHANGE_DONE, CHANGE_MEMORY };
struct change {
    uint32_t kind, what, old;
};

/* A place where there was a choice; those left are the choices from choice_first on. */
struct level {
    uint32_t changes, order, choice_first;
};
struct choice {
    uint32_t group;
    uint32_t store; /* NONE: an atomic access */
    int64_t score;
};

struct key {
    uint64_t a, b;
};

struct machine {
    struct ordeal *o;
    struct states *s;
    const struct execution *x;
    bool in_order; /* a thread's stores are performed first in, first out */

    /* Fixed. */
    uint32_t *value; /* by event: number of its word's value */
    uint32_t values;
    uint32_t *need;    /* by group: own stores below this are performed before it */
    uint32_t *own;     /* by event: own store to the word before it, or NONE */
    uint32_t *ordered; /* by event: store known to be before it, or NONE; NULL: no orders */
    bool strange;      /* what is known of the order of stores is more than that */
    struct buffered *store;
    uint32_t stores;
    uint32_t *source_first; /* by value and thread: own stores of it, in program order */
    uint32_t *source;

    /* The state. */
    struct thread_state *thread;
    uint32_t *memory;        /* by word: a value */
    bool *done;              /* by group: of those that store */
    uint32_t *wanted, *left; /* by value: loads and stores of it to come */
    uint32_t *gone;          /* by value and thread: its stores of it that were performed */
    uint32_t unfinished;
    bool dead; /* a value is gone that somebody wants */
    struct key key;

    VEC(struct change) changes;
    VEC(struct level) levels;
    VEC(struct choice) choices;
    struct key *table;
    size_t table_size, kept;

    /* For a while. */
    uint32_t round;
    uint32_t *given;      /* by value: the round in which it was given */
    uint32_t *reach;      /* by thread: how far it would come */
    uint32_t *asked;      /* by thread: the round in which it was asked */
    uint32_t *share;      /* by thread: of its run, what is behind it */
    VEC(uint32_t) wishes; /* groups asked for, most urgent first */
    uint64_t chance;
};

static uint64_t mixed(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void flip(struct machine *m, uint64_t what)
{
    m->key.a ^= mixed(what * UINT64_C(0x9e3779b97f4a7c15) + 1);
    m->key.b ^= mixed(what * UINT64_C(0xd1342543de82ef95) + 7);
}

enum { KEY_DONE = 1, KEY_MEMORY = 2, KEY_NEXT = 3 };
static uint64_t part(uint64_t kind, uint64_t a, uint64_t b) { return kind << 62 | a << 32 | b; }

/* ---- doing and undoing ---------------------------------------------------------------- */

static bool note(struct machine *m, uint32_t kind, uint32_t what, uint32_t old)
{
    return VEC_PUSH(m->o, &m->changes, ((struct change){ kind, what, old }));
}

static void set_memory(struct machine *m, uint32_t loc, uint32_t value)
{
    flip(m, part(KEY_MEMORY, loc, m->memory[loc]));
    m->memory[loc] = value;
    flip(m, part(KEY_MEMORY, loc, value));
}

static void set_next(struct machine *m, uint32_t t, uint32_t next)
{
    struct thread_state *th = &m->thread[t];
    flip(m, part(KEY_NEXT, t, th->next));
    m->unfinished += (th->next == th->end) - (next == th->end);
    th->next = next;
    flip(m, part(KEY_NEXT, t, next));
}

static void count(struct machine *m, uint32_t group, uint32_t by)
{
    const struct execution *x = m->x;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        uint32_t v = m->value[e];
        if (!x->is_store[e]) {
            m->wanted[v] += by;
        } else {
            m->left[v] += by;
            m->gone[(size_t)v * x->threads + x->thread_of[group]] -= by;
        }
    }
}

static void undo(struct machine *m, uint32_t changes, uint32_t order)
{
    while (m->changes.count > changes) {
        struct change c = m->changes.data[--m->changes.count];
        switch (c.kind) {
        case CHANGE_NEXT: set_next(m, c.what, c.old); break;
        case CHANGE_LOW: m->thread[c.what].low = c.old; break;
        case CHANGE_DONE:
            m->done[c.what] = false;
            m->unfinished++;
            flip(m, part(KEY_DONE, 0, c.what));
            break;
        case CHANGE_MEMORY: set_memory(m, c.what, c.old); break;
        }
    }
    while (m->s->order.count > order)
        count(m, m->s->order.data[--m->s->order.count], 1);
    m->dead = false;
}

/* Its loads are done and its stores performed, at once. */
/* What the location of store `e` holds when its group, which ends at `end`, is performed. */
static uint32_t left_by_group(const struct machine *m, uint32_t e, uint32_t end)
{
    uint32_t last = e;
    for (uint32_t f = e + 1; f < end; f++)
        if (m->x->is_store[f] && m->x->loc[f] == m->x->loc[e])
            last = f;
    return m->value[last];
}

static bool perform(struct machine *m, uint32_t group)
{
    const struct execution *x = m->x;
    bool stores = x->group_flags[group] & GROUP_STORES;
    uint32_t first = x->group_first[group], end = x->group_first[group + 1];
    if (!VEC_PUSH(m->o, &m->s->order, group))
        return false;
    count(m, group, UINT32_MAX);
    if (!stores)
        return true;
    for (uint32_t e = first; e < end; e++) {
        uint32_t loc = x->loc[e], old = m->memory[loc];
        if (!x->is_store[e])
            continue;
        if (!note(m, CHANGE_MEMORY, loc, old))
            return false;
        set_memory(m, loc, m->value[e]);
        if (old != m->value[e] && m->wanted[old] && !m->left[old]
            && old != left_by_group(m, e, end))
            m->dead = true;
    }
    m->done[group] = true;
    m->unfinished--;
    flip(m, part(KEY_DONE, 0, group));
    m->s->performed++;
    return note(m, CHANGE_DONE, group, 0);
}

static bool move_low(struct machine *m, uint32_t t)
{
    struct thread_state *th = &m->thread[t];
    uint32_t low = th->low;
    while (low < th->store_end && m->done[m->store[low].group])
        low++;
    if (low == th->low)
        return true;
    bool ok = note(m, CHANGE_LOW, t, th->low);
    th->low = low;
    return ok;
}

/* ---- what can be done ----------------------------------------------------------------- */

/* The loads of the group would see their values now. */
static bool values_there(const struct machine *m, uint32_t group)
{
    const struct execution *x = m->x;
    uint32_t first = x->group_first[group], end = x->group_first[group + 1];
    for (uint32_t e = first; e < end; e++) {
        uint32_t own = m->own[e];
        if (x->is_store[e])
            continue;
        bool forwarded = own != NONE && !m->done[x->group[own]];
        if ((forwarded ? m->value[own] : m->memory[x->loc[e]]) != m->value[e])
            return false;
    }
    return true;
}

static bool in_known_order(const struct machine *m, uint32_t group)
{
    const struct execution *x = m->x;
    for (uint32_t e = x->group_first[group]; m->ordered && e < x->group_first[group + 1]; e++) {
        uint32_t before = m->ordered[e];
        if (before == NONE)
            continue;
        if (x->group[before] == group ? before > e : !m->done[x->group[before]])
            return false;
    }
    return true;
}

/* Own stores to its words are performed. */
static bool words_free(const struct machine *m, uint32_t group)
{
    const struct execution *x = m->x;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        uint32_t own = m->own[e];
        if (own != NONE && x->group[own] != group && !m->done[x->group[own]])
            return false;
    }
    return true;
}

static bool atomic_ready(const struct machine *m, uint32_t t)
{
    uint32_t group = m->thread[t].next;
    return m->thread[t].low >= m->need[group] && words_free(m, group) && values_there(m, group)
        && in_known_order(m, group);
}

static bool is_plain_store(const struct machine *m, uint32_t group)
{
    uint8_t flags = m->x->group_flags[group];
    return (flags & GROUP_STORES) && !(flags & (GROUP_LOADS | GROUP_TX));
}

static bool store_ready(const struct machine *m, uint32_t t, uint32_t s)
{
    uint32_t group = m->store[s].group;
    return !m->done[group] && m->thread[t].low >= m->store[s].floor && words_free(m, group)
        && in_known_order(m, group);
}

/* Loads whose values are there, and stores into their buffers. */
static bool advance(struct machine *m, uint32_t t)
{
    struct thread_state *th = &m->thread[t];
    uint32_t before = th->next, next = before;
    for (; next < th->end; next++) {
        uint8_t flags = m->x->group_flags[next];
        if (is_plain_store(m, next))
            continue;
        if ((flags & GROUP_STORES) || th->low < m->need[next] || !values_there(m, next))
            break;
        if (!perform(m, next))
            return false;
    }
    if (next == before)
        return true;
    set_next(m, t, next);
    return note(m, CHANGE_NEXT, t, before);
}

static bool advance_all(struct machine *m)
{
    for (uint32_t t = 0; t < m->x->threads; t++)
        if (!advance(m, t))
            return false;
    return true;
}

static bool take(struct machine *m, struct choice c)
{
    uint32_t t = m->x->thread_of[c.group];
    if (!perform(m, c.group))
        return false;
    if (c.store != NONE)
        return move_low(m, t) && advance_all(m);
    if (!note(m, CHANGE_NEXT, t, c.group))
        return false;
    set_next(m, t, c.group + 1);
    return advance_all(m);
}

/* ---- dead ends ------------------------------------------------------------------------ */

/* What would be if nothing were ever overwritten. A thread that cannot go on then never can. */
static bool would_see(const struct machine *m, uint32_t group)
{
    const struct execution *x = m->x;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        uint32_t own = m->own[e];
        if (x->is_store[e] || (own != NONE && m->value[own] == m->value[e]))
            continue;
        if (m->memory[x->loc[e]] != m->value[e] && m->given[m->value[e]] != m->round)
            return false;
    }
    return true;
}

static void give(struct machine *m, uint32_t group)
{
    for (uint32_t e = m->x->group_first[group]; e < m->x->group_first[group + 1]; e++)
        if (m->x->is_store[e])
            m->given[m->value[e]] = m->round;
}

enum { STRIDE = 8 };

static bool go_further(struct machine *m, uint32_t t)
{
    uint32_t first = m->reach[t], end = m->thread[t].end, g;
    end = end - first > STRIDE ? first + STRIDE : end;
    for (g = first; g < end && would_see(m, g); g++)
        if (m->x->group_flags[g] & GROUP_STORES)
            give(m, g);
    m->reach[t] = g;
    return g > first;
}

/* Some thread waits for what nobody can give before it goes on. */
static bool stands_still(struct machine *m)
{
    uint32_t threads = m->x->threads, waiting = 0;
    m->round++;
    for (uint32_t t = 0; t < threads; t++) {
        const struct thread_state *th = &m->thread[t];
        m->reach[t] = th->next;
        waiting += th->next < th->end;
        for (uint32_t s = th->low; s < th->store_end && m->store[s].group < th->next; s++)
            if (!m->done[m->store[s].group])
                give(m, m->store[s].group);
    }
    for (bool changed = true; changed && waiting;) {
        changed = false;
        for (uint32_t t = 0; t < threads; t++) {
            bool waited = m->reach[t] == m->thread[t].next && m->reach[t] < m->thread[t].end;
            if (!go_further(m, t))
                continue;
            changed = true;
            waiting -= waited;
        }
    }
    return waiting > 0;
}

/* ---- choices -------------------------------------------------------------------------- */

enum { AHEAD = 24 };

/* How soon thread u loads the word that the store writes: nearer is more, 0 is far or never; less
 * than 0 when it wants the value that the store brings, more when it wants what is there. */
static int64_t regret(const struct machine *m, uint32_t u, uint32_t store)
{
    const struct execution *x = m->x;
    uint32_t loc = x->loc[store], now = m->memory[loc], first = m->thread[u].next;
    uint32_t end = m->thread[u].end;
    end = end - first > AHEAD ? first + AHEAD : end;
    for (uint32_t h = first; h < end; h++) {
        uint32_t e = x->group_first[h];
        if (x->loc[e] != loc)
            continue;
        int64_t near = (int64_t)AHEAD - (h - first);
        if (x->is_store[e])
            return 0;
        if (m->value[e] == m->value[store])
            return -near;
        return m->value[e] == now ? near : 0;
    }
    return 0;
}

/* When the store should be performed: at its thread's time, but behind loads soon to come that want
 * what is there, and before those that want its value. */
static int64_t score(struct machine *m, uint32_t group)
{
    const struct execution *x = m->x;
    uint32_t t = x->thread_of[group], store = x->group_first[group + 1] - 1;
    uint64_t length = m->thread[t].end - x->thread_first[t];
    int64_t at = (int64_t)(((uint64_t)(group - x->thread_first[t]) << 24) / length), near = 0;
    for (uint32_t u = 0; u < x->threads; u++)
        near += u == t ? 0 : regret(m, u, store);
    if (m->s->seed)
        near += (int64_t)(mixed(m->chance++) % 8);
    return at + near * (1 << 24) / (int64_t)length;
}

/* The thread's store of the value that is next to be performed: its group, or NONE. */
static uint32_t next_source(const struct machine *m, uint32_t t, uint32_t value)
{
    size_t at = (size_t)value * m->x->threads + t;
    uint32_t next = m->source_first[at] + m->gone[at];
    return next < m->source_first[at + 1] ? m->source[next] : NONE;
}

/* The nearest thread that can give the value. */
static uint32_t giver(const struct machine *m, uint32_t t, uint32_t value, bool *issued)
{
    uint32_t best = NONE, best_far = NONE;
    for (uint32_t u = 0; u < m->x->threads; u++) {
        uint32_t g = next_source(m, u, value), next = m->thread[u].next;
        if (g == NONE || (u == t && g >= next) || (g >= next && m->asked[u] == m->round))
            continue;
        uint32_t far = g < next ? g - m->store[m->thread[u].low].group : AHEAD + g - next;
        if (far < best_far) {
            best_far = far;
            best = u;
            *issued = g < next;
        }
    }
    return best;
}

/* What should be performed for the thread to go on: a group, or NONE. */
static uint32_t asked_for(struct machine *m, uint32_t t)
{
    const struct execution *x = m->x;
    m->round++;
    for (;;) {
        const struct thread_state *th = &m->thread[t];
        uint32_t low = th->low < th->store_end ? m->store[th->low].group : NONE;
        m->asked[t] = m->round;
        if (th->next == th->end || th->low < m->need[th->next] || !words_free(m, th->next))
            return low < th->next ? low : NONE;
        uint32_t wanted = NONE;
        for (uint32_t e = x->group_first[th->next]; e < x->group_first[th->next + 1]; e++) {
            uint32_t own = m->own[e];
            bool waits = own != NONE && !m->done[x->group[own]];
            if (!x->is_store[e] && (waits ? m->value[own] : m->memory[x->loc[e]]) != m->value[e])
                wanted = m->value[e];
        }
        if (wanted == NONE)
            return th->next; /* an atomic access that is ready */
        bool issued = false;
        uint32_t u = giver(m, t, wanted, &issued);
        if (u == NONE)
            return NONE;
        if (issued)
            return m->store[m->thread[u].low].group;
        t = u;
    }
}

static int64_t unit_of(const struct machine *m, uint32_t t)
{
    return (1 << 24) / (int64_t)(m->thread[t].end - m->x->thread_first[t]);
}

static int64_t urgency(const struct machine *m, uint32_t group)
{
    for (size_t k = 0; k < m->wishes.count; k++)
        if (m->wishes.data[k] == group)
            return unit_of(m, m->x->thread_of[group]) * m->s->urge / (int64_t)(k + 1);
    return 0;
}

static bool add_choice(struct machine *m, uint32_t group, uint32_t store)
{
    size_t first = m->levels.data[m->levels.count - 1].choice_first, i;
    struct choice c = { group, store, score(m, group) };
    c.score -= urgency(m, group);
    if (!VEC_PUSH(m->o, &m->choices, c))
        return false;
    for (i = m->choices.count - 1; i > first && m->choices.data[i - 1].score < c.score; i--)
        m->choices.data[i] = m->choices.data[i - 1];
    m->choices.data[i] = c; /* the best is last */
    return true;
}

/* What should be performed for each thread to go on, that which has come least far first. */
static bool list_wishes(struct machine *m)
{
    m->wishes.count = 0;
    for (uint32_t t = 0; t < m->x->threads; t++) {
        const struct thread_state *th = &m->thread[t];
        uint64_t first = m->x->thread_first[t], gone = th->next - first;
        if (th->next == th->end && th->low == th->store_end)
            continue;
        if (!VEC_PUSH(m->o, &m->wishes, t))
            return false;
        m->share[t] = (uint32_t)((gone << 20) / (th->end - first));
        size_t i = m->wishes.count - 1;
        for (; i > 0 && m->share[m->wishes.data[i - 1]] > m->share[t]; i--)
            m->wishes.data[i] = m->wishes.data[i - 1];
        m->wishes.data[i] = t;
    }
    for (size_t i = 0; i < m->wishes.count; i++)
        m->wishes.data[i] = asked_for(m, m->wishes.data[i]);
    return true;
}

static bool list_choices(struct machine *m)
{
    if (!list_wishes(m))
        return false;
    for (uint32_t t = 0; t < m->x->threads; t++) {
        const struct thread_state *th = &m->thread[t];
        for (uint32_t s = th->low; s < th->store_end && m->store[s].group < th->next; s++) {
            if (store_ready(m, t, s) && !add_choice(m, m->store[s].group, s))
                return false;
            if (m->in_order)
                break;
        }
        if (th->next < th->end && atomic_ready(m, t) && (m->x->group_flags[th->next] & GROUP_STORES)
            && !add_choice(m, th->next, NONE))
            return false;
    }
    return true;
}

static bool finals_hold(const struct machine *m)
{
    const struct execution *x = m->x;
    for (uint32_t k = 0; k < x->finals; k++)
        if (m->memory[x->final[k].loc] != m->value[x->final_store[x->final[k].first]])
            return false;
    return true;
}

/* ---- states met before ---------------------------------------------------------------- */

static size_t slot_of(const struct machine *m, struct key k)
{
    size_t mask = m->table_size - 1, i = (size_t)k.a & mask;
    while ((m->table[i].a || m->table[i].b) && (m->table[i].a != k.a || m->table[i].b != k.b))
        i = (i + 1) & mask;
    return i;
}

static bool grow_table(struct machine *m)
{
    size_t old_size = m->table_size, size = old_size ? 2 * old_size : 1024;
    struct key *old = m->table, *table = mem_zero(m->o, size, sizeof *table);
    if (!table)
        return false;
    m->table = table;
    m->table_size = size;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].a || old[i].b)
            m->table[slot_of(m, old[i])] = old[i];
    mem_free(m->o, old, old_size * sizeof *old);
    return true;
}

enum { MOST_SLOTS = 1 << 23 };

static bool is_full(const struct machine *m) { return 2 * m->kept >= MOST_SLOTS; }

/* *fresh: for the first time. */
static bool meet(struct machine *m, bool *fresh)
{
    if (2 * m->kept >= m->table_size && !grow_table(m))
        return false;
    size_t slot = slot_of(m, m->key);
    *fresh = !m->table[slot].a && !m->table[slot].b;
    m->table[slot] = m->key;
    m->kept += *fresh;
    return true;
}

/* ---- the search ----------------------------------------------------------------------- */

static bool push_level(struct machine *m)
{
    struct level l = { (uint32_t)m->changes.count, (uint32_t)m->s->order.count,
                       (uint32_t)m->choices.count };
    return VEC_PUSH(m->o, &m->levels, l) && list_choices(m);
}

static bool search(struct machine *m, enum states_outcome *outcome)
{
    bool ok = advance_all(m) && push_level(m);
    *outcome = STATES_BUDGET;
    while (ok && !m->strange) {
        if (m->unfinished == 0 && finals_hold(m)) {
            *outcome = STATES_ORDER;
            return true;
        }
        struct level *l = &m->levels.data[m->levels.count - 1];
        if (m->choices.count == l->choice_first) {
            m->levels.count--;
            if (m->levels.count == 0) {
                *outcome = STATES_EXHAUSTED;
                return true;
            }
            continue;
        }
        if (m->s->performed > m->s->budget || is_full(m)) {
            *outcome = STATES_BUDGET;
            return true;
        }
        if (limit_hit(m->o, "the states", -1))
            return false;
        undo(m, l->changes, l->order);
        bool fresh = false;
        ok = take(m, m->choices.data[--m->choices.count]);
        if (ok && !m->dead && !stands_still(m))
            ok = meet(m, &fresh) && (!fresh || push_level(m));
    }
    return ok;
}

/* ---- setting up ----------------------------------------------------------------------- */

/* Numbers the values of each word. */
static bool number_values(struct machine *m)
{
    const struct execution *x = m->x;
    size_t size = 16;
    while (size < 2 * (size_t)x->events)
        size *= 2;
    uint32_t *first = mem_array(m->o, size, sizeof *first);
    if (first)
        memset(first, 0xff, size * sizeof *first);
    for (uint32_t e = 0; first && e < x->events; e++) {
        size_t i = (size_t)mixed(x->value[e] * 31 + x->loc[e]) & (size - 1);
        while (first[i] != NONE
               && (x->value[first[i]] != x->value[e] || x->loc[first[i]] != x->loc[e]))
            i = (i + 1) & (size - 1);
        if (first[i] == NONE) {
            first[i] = e;
            m->value[e] = m->values++;
        }
        m->value[e] = m->value[first[i]];
    }
    mem_free(m->o, first, size * sizeof *first);
    return first != NULL;
}

/* What of the thread must be performed before a group, and where its stores are. */
struct past {
    uint32_t load_floor, store_floor; /* of coming loads, and stores */
    uint8_t membar;
};

static void set_need(struct machine *m, struct past *past, uint32_t g)
{
    uint32_t so_far = m->stores;
    uint8_t flags = m->x->group_flags[g];
    bool sc = m->s->model == ORDEAL_SC;
    if (flags & GROUP_TX)
        past->membar = ORDEAL_FULL;
    if (past->membar & ORDEAL_SL || sc)
        past->load_floor = so_far;
    if (past->membar & ORDEAL_SS || m->in_order)
        past->store_floor = so_far;
    m->need[g] = flags & GROUP_LOADS ? past->load_floor : 0;
    if ((flags & GROUP_STORES) && m->need[g] < past->store_floor)
        m->need[g] = past->store_floor;
    past->membar = flags & GROUP_TX ? ORDEAL_FULL : 0;
}

static void set_thread(struct machine *m, uint32_t t, uint32_t *barrier, uint32_t *own)
{
    const struct execution *x = m->x;
    struct past past = { m->stores, m->stores, 0 };
    struct thread_state *th = &m->thread[t];
    *th = (struct thread_state){ .end = x->thread_first[t + 1],
                                 .next = x->thread_first[t],
                                 .low = m->stores,
                                 .store_first = m->stores };
    m->unfinished += th->next < th->end;
    memset(own, 0xff, x->locations * sizeof *own);
    for (uint32_t g = th->next; g < th->end; g++) {
        for (; *barrier < x->barriers && x->barrier[*barrier].group <= g; ++*barrier)
            past.membar |= x->barrier[*barrier].mask;
        set_need(m, &past, g);
        for (uint32_t e = x->group_first[g]; e < x->group_first[g + 1]; e++) {
            m->own[e] = own[x->loc[e]];
            if (x->is_store[e])
                own[x->loc[e]] = e;
        }
        m->unfinished += (x->group_flags[g] & GROUP_STORES) != 0;
        if (is_plain_store(m, g))
            m->store[m->stores++] = (struct buffered){ g, m->need[g] };
    }
    for (; *barrier < x->barriers && x->barrier[*barrier].group <= th->end; ++*barrier)
        ;
    th->store_end = m->stores;
}

static bool list_sources(struct machine *m)
{
    const struct execution *x = m->x;
    size_t cells = (size_t)m->values * x->threads;
    m->source_first = mem_zero(m->o, cells + 2, sizeof *m->source_first);
    m->source = mem_array(m->o, x->events, sizeof *m->source);
    if (!m->source_first || !m->source)
        return false;
    for (uint32_t e = x->locations; e < x->events; e++)
        if (x->is_store[e])
            m->source_first[(size_t)m->value[e] * x->threads + event_thread(x, e) + 2]++;
    for (size_t i = 2; i < cells + 2; i++)
        m->source_first[i] += m->source_first[i - 1];
    for (uint32_t e = x->locations; e < x->events; e++)
        if (x->is_store[e])
            m->source[m->source_first[(size_t)m->value[e] * x->threads + event_thread(x, e)
                                      + 1]++] = x->group[e];
    return true;
}

static bool set_orders(struct machine *m)
{
    const struct execution *x = m->x;
    if (!x->orders)
        return true;
    m->ordered = mem_array(m->o, x->events, sizeof *m->ordered);
    if (!m->ordered)
        return false;
    memset(m->ordered, 0xff, x->events * sizeof *m->ordered);
    for (uint32_t k = 0; k < x->orders; k++)
        for (uint32_t i = x->order_first[k] + 1; i < x->order_first[k + 1]; i++) {
            uint32_t before = x->order[i - 1], *ordered = &m->ordered[x->order[i]];
            m->strange |= is_initial(x, x->order[i]) || (*ordered != NONE && *ordered != before);
            *ordered = is_initial(x, before) ? NONE : before;
        }
    return true;
}

#define EVENT_ARRAYS(DO) DO(value) DO(own)
#define GROUP_ARRAYS(DO) DO(need) DO(store) DO(done)

static bool set_up(struct machine *m)
{
    const struct execution *x = m->x;
    bool ok = true;
#define NEW(NAME) ok = ok && (m->NAME = mem_zero(m->o, x->events, sizeof *m->NAME));
    EVENT_ARRAYS(NEW)
#undef NEW
#define NEW(NAME) ok = ok && (m->NAME = mem_zero(m->o, x->groups, sizeof *m->NAME));
    GROUP_ARRAYS(NEW)
#undef NEW
    uint32_t *own = mem_array(m->o, x->locations, sizeof *own);
    m->thread = mem_zero(m->o, x->threads, sizeof *m->thread);
    m->reach = mem_zero(m->o, x->threads, sizeof *m->reach);
    m->asked = mem_zero(m->o, x->threads, sizeof *m->asked);
    m->share = mem_zero(m->o, x->threads, sizeof *m->share);
    m->memory = mem_array(m->o, x->locations, sizeof *m->memory);
    ok = ok && own && m->thread && m->reach && m->asked && m->share && m->memory;
    ok = ok && number_values(m) && list_sources(m) && set_orders(m);
    if (ok) {
        m->wanted = mem_zero(m->o, m->values, sizeof *m->wanted);
        m->left = mem_zero(m->o, m->values, sizeof *m->left);
        m->given = mem_zero(m->o, m->values, sizeof *m->given);
        m->gone = mem_zero(m->o, (size_t)m->values * x->threads, sizeof *m->gone);
        ok = m->wanted && m->left && m->given && m->gone;
    }
    uint32_t barrier = 0;
    for (uint32_t t = 0; ok && t < x->threads; t++)
        set_thread(m, t, &barrier, own);
    for (uint32_t l = 0; ok && l < x->locations; l++)
        m->memory[l] = m->value[l];
    for (uint32_t e = x->locations; ok && e < x->events; e++)
        (x->is_store[e] ? m->left : m->wanted)[m->value[e]]++;
    mem_free(m->o, own, x->locations * sizeof *own);
    return ok;
}

static void tear_down(struct machine *m)
{
    const struct execution *x = m->x;
#define FREE(NAME) mem_free(m->o, m->NAME, x->events * sizeof *m->NAME);
    EVENT_ARRAYS(FREE)
#undef FREE
#define FREE(NAME) mem_free(m->o, m->NAME, x->groups * sizeof *m->NAME);
    GROUP_ARRAYS(FREE)
#undef FREE
    size_t cells = (size_t)m->values * x->threads;
    mem_free(m->o, m->thread, x->threads * sizeof *m->thread);
    mem_free(m->o, m->asked, x->threads * sizeof *m->asked);
    mem_free(m->o, m->share, x->threads * sizeof *m->share);
    VEC_FREE(m->o, &m->wishes);
    mem_free(m->o, m->memory, x->locations * sizeof *m->memory);
    mem_free(m->o, m->ordered, x->events * sizeof *m->ordered);
    mem_free(m->o, m->source_first, (cells + 2) * sizeof *m->source_first);
    mem_free(m->o, m->source, x->events * sizeof *m->source);
    mem_free(m->o, m->wanted, m->values * sizeof *m->wanted);
    mem_free(m->o, m->left, m->values * sizeof *m->left);
    mem_free(m->o, m->given, m->values * sizeof *m->given);
    mem_free(m->o, m->reach, x->threads * sizeof *m->reach);
    mem_free(m->o, m->gone, cells * sizeof *m->gone);
    mem_free(m->o, m->table, m->table_size * sizeof *m->table);
    VEC_FREE(m->o, &m->changes);
    VEC_FREE(m->o, &m->levels);
    VEC_FREE(m->o, &m->choices);
}

enum { MOST_THREADS = 64, MOST_CELLS = 1 << 24 };

static bool has_machine(const struct execution *x)
{
    uint8_t marks = 0;
    for (uint32_t g = 1; g < x->groups; g++)
        marks |= x->group_flags[g];
    return x->threads <= MOST_THREADS && (uint64_t)x->threads * x->events <= MOST_CELLS
        && !x->reservations
        && !(marks & (GROUP_ACQUIRE | GROUP_RELEASE | GROUP_RCSC | GROUP_CONDITIONAL));
}

enum ordeal_model states_machine(enum ordeal_model model)
{
    return model == ORDEAL_SC || model == ORDEAL_PSO ? model : ORDEAL_TSO;
}

bool states_suit(const struct execution *x, enum ordeal_model model, bool time_order, bool *exact)
{
    *exact = states_machine(model) == model || model == ORDEAL_RVTSO;
    for (uint32_t g = 2; g < x->groups; g++)
        if (x->instruction[g] == x->instruction[g - 1])
            *exact = false; /* parts of one access go in any order, here in one */
    return has_machine(x) && !(time_order && x->begin);
}

enum ordeal_status states_run(struct states *s, enum states_outcome *outcome)
{
    struct machine m = {
        .o = s->x->o, .s = s, .x = s->x, .chance = s->seed << 32, .in_order = s->model != ORDEAL_PSO
    };
    size_t used = m.o->used - s->order.capacity * sizeof *s->order.data;
    s->order.count = 0;
    s->performed = 0;
    bool ok = set_up(&m) && search(&m, outcome);
    s->kept = m.kept;
    tear_down(&m);
    assert(m.o->used == used + s->order.capacity * sizeof *s->order.data);
    return ok ? ORDEAL_OK : m.o->error.status;
}
