/* SPDX-License-Identifier: Apache-2.0 */
/* Races: steps of two threads that touch the same memory, with nothing between that orders them. For each
 * there is an execution in which the second comes before the first, and one of the threads that may begin
 * it must be tried there (source sets). */
#include "dpor_parts.h"

/* Threads whose next step, where `event` is taken, may come first in an execution that goes on as this one
 * did but for what follows `event`, up to the step that races with it. */
static uint32_t beginners(const struct walk *w, uint32_t event, uint32_t thread,
                          const uint32_t *clock)
{
    const struct frame *all = w->stack.data;
    uint32_t first[EXPLORE_THREADS] = { 0 }, set = 0, seen = 0;
    for (uint32_t i = event + 1; i <= w->stack.count - 1; i++) {
        bool last = i == w->stack.count - 1;
        const uint32_t *c = last ? clock : all[i].clock;
        uint32_t t = last ? thread : all[i].thread;
        bool begins = true;
        if (!last && knows(c, &all[event], event))
            continue;
        for (uint32_t left = seen; left; left &= left - 1) {
            uint32_t q = (uint32_t)__builtin_ctz(left);
            begins &= c[q] < first[q];
        }
        if (!(seen >> t & 1)) {
            seen |= 1u << t;
            first[t] = i + 1;
            set |= (uint32_t)begins << t;
        }
    }
    return set;
}

static void reverse(struct walk *w, uint32_t event, uint32_t thread, const uint32_t *clock)
{
    struct frame *f = &w->stack.data[event];
    uint32_t set = beginners(w, event, thread, clock) & f->enabled;
    if (!set || set & (f->backtrack | f->sleep))
        return;
    f->backtrack |= set >> thread & 1 ? 1u << thread : set & -set;
}

static void join(uint32_t *clock, const uint32_t *other)
{
    for (uint32_t q = 0; q < EXPLORE_THREADS; q++)
        if (clock[q] < other[q])
            clock[q] = other[q];
}

/* Records before this one that it conflicts with, the latest first. */
struct candidates {
    uint32_t event[256];
    uint32_t count;
};

static void add_candidate(struct candidates *c, uint32_t event)
{
    uint32_t at = c->count;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->event[i] == event)
            return;
    if (c->count == sizeof c->event / sizeof *c->event)
        return;
    c->count++;
    for (; at && c->event[at - 1] < event; at--)
        c->event[at] = c->event[at - 1];
    c->event[at] = event;
}

static void add_conflicts(const struct walk *w, const struct sc_touch *touch, struct candidates *c)
{
    if (touch->location >= w->places.count)
        return;
    const struct place_now *now = &w->places.data[touch->location];
    if (now->write)
        add_candidate(c, w->records.data[now->write - 1].event);
    if (!(touch->how & TOUCH_WRITE))
        return;
    for (uint32_t r = now->reads; r; r = w->records.data[r - 1].next)
        add_candidate(c, w->records.data[r - 1].event);
}

/* A lock that is taken could have been taken before the last who took it, not before that one gave it. */
static uint32_t taker_before(const struct walk *w, uint32_t thread, const struct sc_step *step)
{
    const struct sc_touch *touch = &sc_touches(w->g)[step->touch];
    uint32_t r = touch->location < w->places.count ? w->places.data[touch->location].write : 0;
    for (; r; r = w->records.data[r - 1].write) {
        const struct frame *f = &w->stack.data[w->records.data[r - 1].event];
        if (f->thread != thread && f->step.role != SC_GIVES)
            return w->records.data[r - 1].event;
    }
    return DPOR_NONE;
}

/* What the loop that the thread waited in looked at: its going on comes after what changed that. */
static void add_watched(const struct walk *w, uint32_t thread, struct candidates *c)
{
    uint32_t at = w->last[thread];
    const struct frame *last = at ? &w->stack.data[at - 1] : NULL;
    if (!last || last->thread != thread || !last->spins_from)
        return;
    for (; at && at >= last->spins_from; at = w->stack.data[at - 1].before) {
        const struct frame *f = &w->stack.data[at - 1];
        for (uint32_t k = 0; k < f->step.touches; k++) {
            struct sc_touch touch = sc_touches(w->g)[f->step.touch + k];
            touch.how &= TOUCH_READ;
            add_conflicts(w, &touch, c);
        }
    }
}

void dpor_races(struct walk *w, uint32_t thread, const struct sc_step *step, uint32_t *clock,
                bool happens)
{
    struct candidates c = { .count = 0 };
    uint32_t before[EXPLORE_THREADS], race[256], races = 0, taker = DPOR_NONE;
    for (uint32_t q = 0; q < EXPLORE_THREADS; q++)
        before[q] = clock[q];
    for (uint32_t k = 0; k < step->touches && (happens || step->role != SC_TAKES); k++)
        add_conflicts(w, &sc_touches(w->g)[step->touch + k], &c);
    if (happens)
        add_watched(w, thread, &c);
    if (step->role == SC_TAKES)
        taker = taker_before(w, thread, step);
    for (uint32_t i = 0; i < c.count; i++) {
        const struct frame *f = &w->stack.data[c.event[i]];
        if (knows(clock, f, c.event[i]))
            continue;
        if (step->role != SC_TAKES && step->role != SC_JOINS && f->thread != thread)
            race[races++] = c.event[i];
        join(clock, f->clock);
    }
    if (taker != DPOR_NONE && !knows(before, &w->stack.data[taker], taker))
        reverse(w, taker, thread, happens ? clock : before);
    for (uint32_t i = 0; i < races && !w->o->bounded; i++)
        reverse(w, race[i], thread, clock);
}
