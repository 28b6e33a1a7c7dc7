/* SPDX-License-Identifier: Apache-2.0 */
/* All successors of a state. */
#include <string.h>

#include "exploration.h"

/* One step with all its choices. */
static bool expand_step(struct explorer *e, struct step_taken taken, step_visitor visit, void *user)
{
    struct state *s = e->s;
    s->choices.known = 0;
    do {
        if (taken.flush)
            step_flush(s, taken.thread, taken.flush - 1);
        else
            step_thread(s, taken.thread);
        bool goes_on = visit(e, taken, user);
        state_undo(s);
        e->step++;
        if (!goes_on)
            return false;
    } while (state_next_choices(s));
    return true;
}

bool expand(struct explorer *e, uint32_t state, step_visitor visit, void *user)
{
    struct state *s = e->s;
    packer_unpack(e->k, state);
    e->state = state;
    e->step = 0;
    if (s->exited)
        return true;
    for (uint32_t t = 0; t < s->threads; t++) {
        bool runs = s->thread[t].status == THREAD_RUNS || s->thread[t].status == THREAD_WOKEN;
        if (runs && !expand_step(e, (struct step_taken){ t, 0 }, visit, user))
            return false;
    }
    for (uint32_t t = 0; t < s->threads; t++) {
        uint32_t moves = s->model->moves(s, t);
        for (uint32_t k = 0; k < moves; k++)
            if (!expand_step(e, (struct step_taken){ t, k + 1 }, visit, user))
                return false;
    }
    return true;
}

bool state_has_ended(const struct state *s)
{
    if (s->exited)
        return true;
    for (uint32_t t = 0; t < s->threads; t++)
        if (s->thread[t].status != THREAD_FREE && s->thread[t].status != THREAD_ENDED)
            return false;
    return true;
}

/* Of a state in which nothing can move. */
bool state_is_deadlocked(const struct state *s)
{
    if (state_has_ended(s))
        return false;
    for (uint32_t t = 0; t < s->threads; t++)
        if (s->thread[t].status == THREAD_LOOPS)
            return false;
    return true;
}

/* ---- storing them ------------------------------------------------------------------------- */

struct storing {
    bool moved, full;
    uint64_t transitions;
};

/* One of a checkpoint may have none yet, nor has one that another thread is about to store: whoever comes
 * first then may be it, and nobody later. */
static void note_parent(struct exploration *x, uint32_t number, uint32_t state, bool is_new)
{
    uint32_t none = 0;
    if (is_new)
        __atomic_store_n(&x->parent[number], state, __ATOMIC_RELAXED);
    else if (number >= x->high)
        __atomic_compare_exchange_n(&x->parent[number], &none, state, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

static void note_way(struct explorer *e, uint32_t number, bool is_new)
{
    struct exploration *x = e->x;
    if (x->options->jobs == 1 || x->options->depth_first) {
        note_parent(x, number, e->state, is_new);
        if (is_new && x->options->depth_first)
            explorer_push(e, number);
    } else if (number >= x->high) {
        ranks_note(&x->ranks, number, e->state, e->step);
    }
}

static void store_successor(struct explorer *e, struct storing *g)
{
    bool is_new;
    uint32_t number = packer_pack(e->k, &is_new);
    if (number == PACK_FULL) {
        g->full = true;
        return;
    }
    g->transitions++;
    note_way(e, number, is_new);
}

static bool visit_store(struct explorer *e, struct step_taken taken, void *user)
{
    struct storing *g = user;
    struct state *s = e->s;
    (void)taken;
    if (s->end != STEP_BLOCKED)
        g->moved = true;
    if (s->end == STEP_DONE)
        store_successor(e, g);
    else if (s->end == STEP_ERROR)
        exploration_found(e, s->error, s->error_thread, s->error_pc, s->text);
    else if (s->end == STEP_TOO_LONG)
        exploration_note(e->x, "%s", s->text);
    else if (s->end == STEP_STRANGE) {
        atomic_store(&e->x->strange, true);
        atomic_store(&e->x->stop, true);
    }
    return !g->full;
}

static void tell_deadlock(struct explorer *e)
{
    char text[200];
    size_t length = 0;
    uint32_t waiting = 0;
    const struct state *s = e->s;
    for (uint32_t t = 0; t < s->threads && length < 150; t++) {
        bool ends = s->thread[t].status == THREAD_FREE || s->thread[t].status == THREAD_ENDED;
        if (!ends)
            length += (size_t)snprintf(text + length, 30, "%sthread %u", waiting++ ? ", " : "", t);
    }
    snprintf(text + length, sizeof text - length, " wait%s for ever", waiting == 1 ? "s" : "");
    exploration_found(e, EXPLORE_DEADLOCK, 0, 0, text);
}

static void see_end(struct explorer *e)
{
    uint32_t unjoined = 0;
    atomic_store_explicit(&e->x->ends, true, memory_order_relaxed);
    for (uint32_t t = 1; t < e->s->threads; t++)
        unjoined += e->s->thread[t].status != THREAD_FREE
                 && !(e->s->thread[t].flags & THREAD_DETACHED);
    if (unjoined) {
        pthread_mutex_lock(&e->x->lock);
        if (unjoined > e->x->unjoined)
            e->x->unjoined = unjoined;
        pthread_mutex_unlock(&e->x->lock);
    }
    explorer_outcomes(e);
}

bool explorer_store(struct explorer *e, uint32_t state)
{
    struct storing g = { .moved = false };
    expand(e, state, visit_store, &g);
    if (!(state & (state - 1)) || state < 64)
        packer_check(e->k, state); /* now and then */
    if (g.full)
        return false;
    e->transitions += g.transitions;
    if (state_has_ended(e->s))
        see_end(e);
    else if (!g.moved && state_is_deadlocked(e->s))
        tell_deadlock(e);
    return true;
}

/* ---- the end of a program ----------------------------------------------------------------- */

static void add_outcome(struct explorer *e)
{
    const struct explore_options *o = e->x->options;
    uint32_t row[2 * ((o->outcomes + 1) / 2)];
    bool is_new;
    memset(row, 0, sizeof row);
    for (size_t i = 0; i < o->outcomes; i++) {
        uint8_t *place = state_peek(e->s, o->outcome_address[i], o->outcome_size[i], false);
        row[i] = place ? state_get(place, o->outcome_size[i]) : 0;
    }
    struct exploration *x = e->x;
    pthread_mutex_lock(&x->lock);
    if (intern_wants_to_grow(&x->outcomes) && !intern_grow(&x->outcomes))
        x->no_memory = true;
    intern_add(&x->outcomes, &x->outcome_cursor, row, intern_hash(row, sizeof row), &is_new);
    pthread_mutex_unlock(&x->lock);
}

void explorer_outcomes(struct explorer *e)
{
    struct state *s = e->s;
    if (!e->x->options->outcomes)
        return;
    s->choices.known = 0;
    do {
        s->choices.used = 0;
        s->model->drain(s);
        if (s->end == STEP_DONE)
            add_outcome(e);
        state_undo(s);
    } while (state_next_choices(s));
}
