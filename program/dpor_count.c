/* SPDX-License-Identifier: Apache-2.0 */
/* How many orders of the same accesses are the same trace: linear extensions, by how far each thread is.
 * Counted are atomics, fences, calls that order threads, and accesses to memory that several threads touch
 * here and one writes. */
#include <stdio.h>
#include <string.h>

#include "dpor_parts.h"

void dpor_number_add(struct dpor_number *to, const struct dpor_number *n)
{
    unsigned __int128 carry = 0;
    to->too_large |= n->too_large;
    for (int i = 0; i < DPOR_DIGITS; i++) {
        carry += (unsigned __int128)to->digit[i] + n->digit[i];
        to->digit[i] = (uint64_t)carry;
        carry >>= 64;
    }
    to->too_large |= carry != 0;
}

void dpor_number_print(const struct dpor_number *n, char text[160])
{
    struct dpor_number left = *n;
    char reversed[160];
    size_t length = 0;
    bool more = true;
    while (more && length < sizeof reversed - 1) {
        unsigned __int128 rest = 0;
        more = false;
        for (int i = DPOR_DIGITS; i--;) {
            rest = rest << 64 | left.digit[i];
            left.digit[i] = (uint64_t)(rest / 10);
            rest %= 10;
            more |= left.digit[i] != 0;
        }
        reversed[length++] = (char)('0' + (int)rest);
    }
    for (size_t i = 0; i < length; i++)
        text[i] = reversed[length - 1 - i];
    text[length] = '\0';
}

/* ---- what is counted ----------------------------------------------------------------------- */

struct user { /* of a location */
    uint32_t threads;
    bool written;
};
struct counting {
    const struct walk *w;
    struct user *user;
    uint32_t *event;  /* counted steps, in the order of the execution */
    uint32_t *before; /* by counted step and thread: how many of it come before */
    uint32_t count, threads;
    uint32_t length[EXPLORE_THREADS]; /* counted steps of each thread */
};

static void find_users(struct counting *c)
{
    for (size_t i = 0; i < c->w->stack.count - 1; i++) {
        const struct frame *f = &c->w->stack.data[i];
        for (uint32_t k = 0; k < f->step.touches; k++) {
            const struct sc_touch *touch = &sc_touches(c->w->g)[f->step.touch + k];
            c->user[touch->location].threads |= 1u << f->thread;
            c->user[touch->location].written |= touch->how & TOUCH_WRITE;
        }
        if (c->threads <= f->thread)
            c->threads = f->thread + 1;
    }
}

static bool is_counted(const struct counting *c, const struct frame *f)
{
    bool shared = false;
    for (uint32_t k = 0; k < f->step.touches; k++) {
        const struct user *u = &c->user[sc_touches(c->w->g)[f->step.touch + k].location];
        shared |= u->written && (u->threads & (u->threads - 1));
    }
    return f->step.access && (f->step.always || shared);
}

static void find_counted(struct counting *c)
{
    for (uint32_t i = 0; i + 1 < c->w->stack.count; i++) {
        const struct frame *f = &c->w->stack.data[i];
        if (!is_counted(c, f))
            continue;
        uint32_t *before = c->before + (size_t)c->count * EXPLORE_THREADS;
        memset(before, 0, EXPLORE_THREADS * sizeof *before);
        for (uint32_t k = 0; k < c->count; k++) {
            const struct frame *e = &c->w->stack.data[c->event[k]];
            before[e->thread] += knows(f->clock, e, c->event[k]);
        }
        c->event[c->count++] = i;
        c->length[f->thread]++;
    }
}

/* ---- counting ------------------------------------------------------------------------------ */

enum { MOST_CUTS = 1 << 20 };

static bool measure(const struct counting *c, size_t stride[EXPLORE_THREADS], size_t *cuts)
{
    *cuts = 1;
    for (uint32_t t = 0; t < c->threads; t++) {
        stride[t] = *cuts;
        *cuts *= c->length[t] + 1;
        if (*cuts > MOST_CUTS)
            return false;
    }
    return true;
}

/* The number of the thread's n-th counted step. */
static uint32_t nth(const struct counting *c, uint32_t thread, uint32_t n)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->w->stack.data[c->event[i]].thread == thread && !n--)
            return i;
    return 0;
}

static bool may_be_last(const struct counting *c, const uint32_t *step, const size_t *stride,
                        size_t cut, uint32_t thread)
{
    uint32_t done = (uint32_t)(cut / stride[thread] % (c->length[thread] + 1));
    if (!done)
        return false;
    const uint32_t *before = c->before
                           + (size_t)step[thread * (c->count + 1) + done - 1] * EXPLORE_THREADS;
    for (uint32_t t = 0; t < c->threads; t++)
        if (t != thread && before[t] > cut / stride[t] % (c->length[t] + 1))
            return false;
    return true;
}

static bool count_cuts(const struct counting *c, struct dpor_number *orders)
{
    size_t stride[EXPLORE_THREADS], cuts;
    if (!measure(c, stride, &cuts))
        return false;
    struct dpor_number *ways = calloc(cuts, sizeof *ways);
    uint32_t *step = calloc((size_t)c->threads * (c->count + 1) + 1, sizeof *step);
    for (uint32_t t = 0; step && t < c->threads; t++)
        for (uint32_t n = 0; n < c->length[t]; n++)
            step[t * (c->count + 1) + n] = nth(c, t, n);
    if (ways && step) {
        ways[0].digit[0] = 1;
        for (size_t cut = 1; cut < cuts; cut++)
            for (uint32_t t = 0; t < c->threads; t++)
                if (may_be_last(c, step, stride, cut, t))
                    dpor_number_add(&ways[cut], &ways[cut - stride[t]]);
        *orders = ways[cuts - 1];
    }
    bool fine = ways && step;
    free(ways);
    free(step);
    return fine;
}

bool dpor_count_orders(struct walk *w, struct dpor_number *orders)
{
    struct counting c = { .w = w };
    size_t steps = w->stack.count;
    c.user = calloc(w->places.count + 1, sizeof *c.user);
    c.event = calloc(steps + 1, sizeof *c.event);
    c.before = calloc((steps + 1) * EXPLORE_THREADS, sizeof *c.before);
    bool fine = c.user && c.event && c.before;
    *orders = (struct dpor_number){ .too_large = false };
    if (fine) {
        find_users(&c);
        find_counted(&c);
        fine = count_cuts(&c, orders);
    }
    free(c.user);
    free(c.event);
    free(c.before);
    return fine;
}
