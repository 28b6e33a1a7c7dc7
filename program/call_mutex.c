/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes, which are words of the program (PROGRAM.md), and conditions. */
#include "call.h"
#include "record.h"

enum { RECURSIVE = (int)0x80000000u };

/* Sets the word, which held `old`, and tells so. */
static void set_mutex(struct run *r, uint32_t address, uint32_t old, uint32_t value)
{
    struct access a = { ACCESS_ATOMIC, r->number, r->t->pc, address, 4, 3 };
    struct program_event *e = record_access(r->s, EVENT_ATOMIC, &a, old, value);
    if (e)
        e->wrote = true;
    run_write(r, address, 4, value);
}

static void set_count(struct run *r, uint32_t mutex, int32_t change)
{
    uint32_t count;
    if (run_read(r, mutex + 4, 4, &count))
        run_write(r, mutex + 4, 4, count + (uint32_t)change);
}

/* Takes it for this thread; false: somebody has it, or it is an error. */
static bool take(struct run *r, uint32_t mutex)
{
    uint32_t word, own = r->number + 1;
    if (!run_read(r, mutex, 4, &word))
        return false;
    bool recursive = word & (uint32_t)RECURSIVE;
    uint32_t holder = word & ~(uint32_t)RECURSIVE;
    if (holder && !(recursive && holder == own))
        return false;
    if (recursive)
        set_count(r, mutex, 1);
    if (!holder)
        set_mutex(r, mutex, word, word | own);
    return true;
}

/* Gives it up; of a recursive one, `all` of what it was taken. */
static bool give(struct run *r, uint32_t mutex)
{
    uint32_t word, count = 1;
    if (!run_read(r, mutex, 4, &word))
        return false;
    bool recursive = word & (uint32_t)RECURSIVE;
    if ((word & ~(uint32_t)RECURSIVE) != r->number + 1) {
        state_fail(r->s, EXPLORE_UNLOCK,
                   "unlock of the mutex at 0x%08x, which thread %u does not hold", mutex,
                   r->number);
        return false;
    }
    if (recursive && run_read(r, mutex + 4, 4, &count))
        set_count(r, mutex, -1);
    if (count == 1)
        set_mutex(r, mutex, word, word & (uint32_t)RECURSIVE);
    return r->s->end == STEP_DONE;
}

void call_mutex_lock(struct run *r)
{
    if (take(r, r->t->x[10]))
        r->t->x[10] = 0;
    else if (r->s->end == STEP_DONE)
        call_blocks(r);
}

void call_mutex_trylock(struct run *r) { r->t->x[10] = take(r, r->t->x[10]) ? 0 : CALL_BUSY; }

void call_mutex_unlock(struct run *r)
{
    if (give(r, r->t->x[10]))
        r->t->x[10] = 0;
}

void call_mutex_destroy(struct run *r)
{
    uint32_t word;
    if (!run_read(r, r->t->x[10], 4, &word))
        return;
    if (word & ~(uint32_t)RECURSIVE)
        state_fail(r->s, EXPLORE_UNLOCK, "the mutex at 0x%08x is destroyed while it is held",
                   r->t->x[10]);
    r->t->x[10] = 0;
}

/* Two steps: the first gives the mutex up, and the second, once somebody has woken it, takes it. */
void call_cond_wait(struct run *r)
{
    uint32_t mutex = r->t->x[11];
    if (r->t->status == THREAD_WOKEN) {
        if (!take(r, mutex)) {
            if (r->s->end == STEP_DONE)
                call_blocks(r);
            return;
        }
        r->t->status = THREAD_RUNS;
        r->t->x[10] = 0;
        return;
    }
    if (!give(r, mutex))
        return;
    r->t->status = THREAD_WAITS;
    r->t->condition = r->t->x[10];
    r->stops = true;
    record_text(r->s, record(r->s, EVENT_BLOCK, r->number), "waits for a condition");
}

static uint32_t waiters(const struct run *r)
{
    uint32_t set = 0;
    for (uint32_t t = 0; t < r->s->threads; t++)
        if (r->s->thread[t].status == THREAD_WAITS && r->s->thread[t].condition == r->t->x[10])
            set |= 1u << t;
    return set;
}

static void wake(struct state *s, uint32_t thread)
{
    struct thread *t = state_touch(s, thread);
    t->status = THREAD_WOKEN;
    t->condition = 0;
}

void call_cond_signal(struct run *r)
{
    uint32_t set = waiters(r);
    r->t->x[10] = 0;
    if (!set)
        return;
    uint32_t n = state_choose(r->s, (uint32_t)__builtin_popcount(set));
    while (n--)
        set &= set - 1;
    wake(r->s, (uint32_t)__builtin_ctz(set));
}

void call_cond_broadcast(struct run *r)
{
    for (uint32_t set = waiters(r); set; set &= set - 1)
        wake(r->s, (uint32_t)__builtin_ctz(set));
    r->t->x[10] = 0;
}
