/* SPDX-License-Identifier: Apache-2.0 */
#include "call.h"

#include <string.h>

#include "calls.h"
#include "contention.h"
#include "record.h"

enum { BARRIER_PLAIN, BARRIER_FULL, BARRIER_ENDS };

void call_blocks(struct run *r)
{
    if (r->alone && r->count)
        r->stops = true; /* before the call, with what came before it done */
    else
        state_block(r->s);
}

void call_string(struct run *r, call_byte *byte, uint32_t address, char *buffer, size_t size)
{
    size_t k = 0;
    for (; k + 1 < size && state_peek(r->s, address + (uint32_t)k, 1, false); k++) {
        buffer[k] = (char)byte(r, address + (uint32_t)k);
        if (!buffer[k])
            return;
    }
    buffer[k] = 0;
}

/* It is read first, as that tells which stores of others were there before. */
void call_store(struct run *r, uint32_t address, uint8_t size, uint32_t value)
{
    struct access a = { ACCESS_STORE, r->number, r->t->pc, address, size, 0 };
    uint32_t old;
    record_access(r->s, EVENT_STORE, &a, 0, value);
    if (run_read(r, address, size, &old))
        run_write(r, address, size, value);
}

static void call_exit(struct run *r)
{
    r->s->exited = (r->t->x[10] & 0xff) + 1;
    record(r->s, EVENT_EXIT, r->number);
    r->stops = true;
}

static void call_thread_self(struct run *r) { r->t->x[10] = r->number; }
static void call_thread_yield(struct run *r) { r->t->x[10] = 0; }

static void call_allocate(struct run *r)
{
    uint32_t bytes = r->t->x[10], place = heap_allocate(r->s, r->number, bytes, r->t->x[11]);
    if (!place)
        state_too_long(r->s, "a thread allocates more than 1 MB, which is all that it has");
    r->t->x[10] = place;
}

static void call_free(struct run *r)
{
    struct state *s = r->s;
    uint32_t address = r->t->x[10], thread = (address - STATE_HEAPS) / STATE_PART;
    r->t->x[10] = 0;
    if (!address)
        return;
    int o = thread < EXPLORE_THREADS ? heap_find(s, thread, address) : -1;
    if (o < 0 || s->heap[thread].object[o].place != address) {
        state_fail(s, EXPLORE_DOUBLE_FREE, "free of 0x%08x, which is no allocation", address);
        return;
    }
    if (s->options->local & EXPLORE_LOCAL_DYNAMIC && state_is_strange(s, r->number, address))
        state_strange(s);
    uint32_t size = s->heap[thread].object[o].size & ~(uint32_t)HEAP_SHARED;
    if (s->contention && !r->alone)
        contention_frees(s->contention, r->number, address, size);
    s->model->drop(s, r->number, address, address + size);
    heap_remove(s, thread, (uint32_t)o);
}

static void call_size_of(struct run *r)
{
    uint32_t address = r->t->x[10], thread = (address - STATE_HEAPS) / STATE_PART;
    int o = thread < EXPLORE_THREADS ? heap_find(r->s, thread, address) : -1;
    r->t->x[10] = o < 0 ? 0 : r->s->heap[thread].object[o].size & ~(uint32_t)HEAP_SHARED;
}

static void call_assert_failed(struct run *r)
{
    char text[200];
    call_string(r, run_peek, r->t->x[10], text, sizeof text);
    state_fail(r->s, EXPLORE_ASSERTION, "%s", text);
}

static void call_reach_error(struct run *r) { state_fail(r->s, EXPLORE_REACHED, "reach_error"); }
static void call_abort(struct run *r) { state_fail(r->s, EXPLORE_ABORT, "abort"); }

static void call_not_there(struct run *r)
{
    char name[100];
    call_string(r, run_peek, r->t->x[10], name, sizeof name);
    state_fail(r->s, EXPLORE_NOT_THERE, "%s", name);
}

static void call_assume(struct run *r)
{
    if (!r->t->x[10])
        state_discard(r->s);
    r->t->x[10] = 0;
}

static void call_nondet(struct run *r)
{
    const struct explore_options *o = r->s->options;
    int32_t low = (int32_t)r->t->x[10], high = (int32_t)r->t->x[11];
    if (o->nondet_low > low && o->nondet_low <= high)
        low = o->nondet_low;
    if (o->nondet_high < high)
        high = o->nondet_high >= low ? o->nondet_high : low;
    uint32_t n = (uint32_t)high - (uint32_t)low + 1;
    r->t->x[10] = (uint32_t)low + (n ? state_choose(r->s, n) : 0);
    r->drawn++;
    struct program_event *e = record(r->s, EVENT_CHOICE, r->number);
    if (e)
        e->read = r->t->x[10];
}

static void call_atomic_begin(struct run *r)
{
    if (!r->alone && !r->atomic)
        r->s->model->section(r->s, r->number, true);
    r->atomic++;
    r->t->x[10] = 0;
}

static void call_atomic_end(struct run *r)
{
    if (r->atomic)
        run_section_end(r);
    r->t->x[10] = 0;
}

static void call_critical_begin(struct run *r)
{
    for (uint32_t t = 0; t < r->s->threads; t++)
        if (t != r->number && r->s->thread[t].flags & THREAD_CRITICAL) {
            state_fail(r->s, EXPLORE_EXCLUSION, "thread %u is in its critical section, too", t);
            return;
        }
    r->t->flags |= THREAD_CRITICAL;
    r->t->x[10] = 0;
    r->acted = true; /* others may enter before this thread's next action */
}

static void call_critical_end(struct run *r)
{
    r->t->flags &= ~(uint32_t)THREAD_CRITICAL;
    r->t->x[10] = 0;
}

/* clang-format off */
#define CALL_FUNCTIONS(X) \
    X(EXIT, exit) X(THREAD_CREATE, thread_create) X(THREAD_EXIT, thread_exit) \
    X(THREAD_JOIN, thread_join) X(THREAD_SELF, thread_self) X(THREAD_DETACH, thread_detach) \
    X(THREAD_YIELD, thread_yield) X(MUTEX_LOCK, mutex_lock) X(MUTEX_TRYLOCK, mutex_trylock) \
    X(MUTEX_UNLOCK, mutex_unlock) X(MUTEX_DESTROY, mutex_destroy) X(COND_WAIT, cond_wait) \
    X(COND_SIGNAL, cond_signal) X(COND_BROADCAST, cond_broadcast) X(ALLOCATE, allocate) \
    X(FREE, free) X(SIZE_OF, size_of) X(PRINT, print) X(FORMAT, format) \
    X(ASSERT_FAILED, assert_failed) X(REACH_ERROR, reach_error) X(ABORT, abort) \
    X(ASSUME, assume) X(NONDET, nondet) X(ATOMIC_BEGIN, atomic_begin) X(ATOMIC_END, atomic_end) \
    X(CRITICAL_BEGIN, critical_begin) X(CRITICAL_END, critical_end) X(NOT_THERE, not_there)

static void (*const perform[PROGRAM_CALLS])(struct run *) = {
#define PERFORM(NAME, function) [PROGRAM_CALL_##NAME] = call_##function,
    CALL_FUNCTIONS(PERFORM)
#undef PERFORM
};
static const uint8_t barrier_of[PROGRAM_CALLS] = {
#define CALL(number, name, barrier, arguments) [number] = BARRIER_##barrier,
#include "calls.def"
#undef CALL
};
/* clang-format on */

/* Whether others can notice the call itself. What is allocated is the thread's own unless others
 * free what it allocated. Leaving a critical section is noticed, so that it lasts until somebody
 * has had the chance to enter, too; so is an assumption that does not hold, since others may have
 * seen what the thread did before it. */
static enum readiness noticed(const struct run *r, uint32_t number)
{
    const struct state *s = r->s;
    uint32_t address = r->t->x[10];
    switch (number) {
    case PROGRAM_CALL_CRITICAL_END: return READY;
    case PROGRAM_CALL_ASSUME: return r->t->x[10] ? READY_QUIET : READY;
    case PROGRAM_CALL_FREE:
        return (s->options->local & EXPLORE_LOCAL_DYNAMIC) && state_private(s, r->number, address)
                 ? READY_QUIET
                 : READY;
    case PROGRAM_CALL_ALLOCATE: {
        bool known = !(s->options->local & EXPLORE_LOCAL_DYNAMIC) && *s->heap[r->number].count;
        for (uint32_t o = 0; o < *s->heap[r->number].count; o++)
            known |= s->heap[r->number].object[o].size >> 31;
        return known ? READY : READY_QUIET;
    }
    default: return barrier_of[number] == BARRIER_FULL ? READY : READY_QUIET;
    }
}

/* Whether the call can be done in this step; its barrier is. */
static bool may_call(struct run *r, uint32_t number)
{
    struct state *s = r->s;
    struct access a = { ACCESS_FENCE, r->number, r->t->pc, 0, 0, FENCE_FULL };
    enum readiness ready = noticed(r, number), fence = READY_QUIET;
    bool full = barrier_of[number] == BARRIER_FULL;
    if (!full && s->options->symbolic) { /* the thread may be at a fence that is not in the code */
        full = true;
        a.order = 0;
    }
    if (!full && barrier_of[number] == BARRIER_ENDS)
        return true; /* there, and no step further */
    if (full)
        fence = s->model->look(s, &a);
    if (fence != READY_QUIET)
        ready = fence == READY_NOT ? READY_NOT : READY;
    if (!run_may(r, ready))
        return false;
    if (full && !r->alone && !r->atomic)
        s->model->fence(s, &a);
    return true;
}

static void record_call(struct run *r, uint32_t number)
{
    struct program_event *e = record(r->s, EVENT_CALL, r->number);
    if (!e)
        return;
    e->call = (uint8_t)number;
    memcpy(e->argument, &r->t->x[10], sizeof e->argument);
}

bool run_call(struct run *r)
{
    struct state *s = r->s;
    uint32_t number = r->t->x[17], event = record_next(s);
    if (number >= PROGRAM_CALLS || !perform[number]) {
        state_fail(s, EXPLORE_INSTRUCTION, "ecall with %u in a7, which is no call", number);
        return false;
    }
    r->reserved = 0;
    if (!may_call(r, number))
        return false;
    record_call(r, number);
    perform[number](r);
    if (s->end != STEP_DONE || r->stops)
        return false;
    if (s->recorder && event < s->recorder->list.count)
        s->recorder->list.event[event].read = r->t->x[10];
    r->t->pc += 4;
    return true;
}
