/* SPDX-License-Identifier: Apache-2.0 */
/* The events of all harts in one order, and what only all of them together show. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "retrace_parts.h"

static int by_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->time != y->time)
        return (int32_t)(x->time - y->time) < 0 ? -1 : 1;
    bool first = x->e.kind == EVENT_COMMIT, second = y->e.kind == EVENT_COMMIT;
    if (first != second)
        return first ? -1 : 1;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* COMMITs name their stores by where those are now. */
static bool renumber(struct all *all)
{
    uint32_t *place = malloc((all->events.count + 1) * sizeof *place);
    for (size_t i = 0; place && i < all->events.count; i++)
        place[all->events.data[i].serial] = (uint32_t)i;
    for (size_t i = 0; place && i < all->events.count; i++) {
        struct timed *t = &all->events.data[i];
        if (t->e.kind == EVENT_COMMIT)
            t->e.cause = place[t->cause];
    }
    free(place);
    return place;
}

/* Loads whose own store still was in the buffer. */
static void find_forwarded(struct all *all)
{
    const struct timed *t = all->events.data;
    for (size_t i = 0; i < all->events.count; i++) {
        struct program_event *e = &all->events.data[i].e;
        if (e->kind != EVENT_LOAD)
            continue;
        for (size_t k = i; k-- > 0;) {
            const struct program_event *s = &t[k].e;
            bool same = s->address < e->address + e->size && e->address < s->address + s->size;
            if (s->kind == EVENT_COMMIT && s->thread == e->thread && same)
                break;
            if (s->thread == e->thread && same && s->kind == EVENT_STORE) {
                e->forwarded = s->buffered;
                break;
            }
            if (t[i].time - t[k].time > 4096)
                break;
        }
    }
}

/* ---- the first error -------------------------------------------------------------------------- */

static void find(struct all *all, size_t event, enum explore_error error, const char *text)
{
    struct retrace *to = all->to;
    const struct program_event *e = &all->events.data[event].e;
    to->finding = (struct explore_finding){ .error = error, .thread = e->thread, .pc = e->pc };
    if (e->caller[0] && (e->kind == EVENT_ERROR || e->kind == EVENT_CALL))
        to->finding.pc = e->caller[0] - 4;
    snprintf(to->finding.text, sizeof to->finding.text, "%s", text);
    to->shown = event + 1;
}

/* Two between the marks of a critical section. */
static bool overlap(struct all *all, size_t event, uint32_t *inside)
{
    const struct program_event *e = &all->events.data[event].e;
    char text[80];
    if (e->kind != EVENT_CALL)
        return false;
    if (e->call == PROGRAM_CALL_CRITICAL_END)
        *inside &= ~(1u << e->thread);
    if (e->call != PROGRAM_CALL_CRITICAL_BEGIN)
        return false;
    uint32_t others = *inside & ~(1u << e->thread);
    *inside |= 1u << e->thread;
    if (!others)
        return false;
    snprintf(text, sizeof text, "thread %d is in its critical section, too", __builtin_ctz(others));
    find(all, event, EXPLORE_EXCLUSION, text);
    return true;
}

static void find_error(struct all *all)
{
    uint32_t inside = 0;
    all->to->shown = all->events.count;
    for (size_t i = 0; i < all->events.count; i++) {
        const struct timed *t = &all->events.data[i];
        if (t->e.kind == EVENT_ERROR) {
            find(all, i, (enum explore_error)t->error, t->e.text ? t->e.text : "");
            return;
        }
        if (overlap(all, i, &inside))
            return;
    }
}

static void count_threads(struct all *all)
{
    uint32_t there = 1;
    for (size_t i = 0; i < all->events.count; i++) {
        const struct program_event *e = &all->events.data[i].e;
        if (e->kind == EVENT_CREATE && e->other < RETRACE_HARTS && e->other + 1 > there)
            there = e->other + 1;
    }
    all->to->threads = there;
}

/* The capture unit sees some things a cycle or two after they were. */
static struct account_time times_of(const struct timed *t)
{
    enum { SLACK = 4 };
    return (struct account_time){ t->begin > SLACK ? t->begin - SLACK : 0,
                                  t->end == UINT32_MAX ? UINT32_MAX : (uint64_t)t->end + SLACK };
}

bool retrace_merge(struct all *all)
{
    struct retrace *to = all->to;
    LIST_SORT(&all->events, by_time);
    if (!renumber(all))
        return false;
    if (all->visible)
        find_forwarded(all);
    find_error(all);
    count_threads(all);
    to->events.event = calloc(all->events.count + 1, sizeof *to->events.event);
    to->time = calloc(all->events.count + 1, sizeof *to->time);
    to->times = calloc(all->events.count + 1, sizeof *to->times);
    if (!to->events.event || !to->time || !to->times)
        return false;
    to->events.count = all->events.count;
    for (size_t i = 0; i < all->events.count; i++) {
        to->events.event[i] = all->events.data[i].e;
        to->time[i] = all->events.data[i].time;
        to->times[i] = times_of(&all->events.data[i]);
    }
    return true;
}
