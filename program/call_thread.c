/* SPDX-License-Identifier: Apache-2.0 */
#include "call.h"
#include "contention.h"
#include "record.h"

static uint32_t free_number(struct state *s)
{
    uint32_t t = 0;
    while (t < s->threads && s->thread[t].status != THREAD_FREE)
        t++;
    return t;
}

static void begin_thread(struct state *s, uint32_t by, uint32_t number, uint32_t function,
                         uint32_t argument)
{
    struct thread *t = state_touch(s, number);
    *t = (struct thread){ .status = THREAD_RUNS, .pc = function };
    t->x[1] = s->code->thread_end;
    t->x[2] = t->shared_from = stack_top(number);
    t->x[10] = argument;
    if (number == s->threads)
        s->threads++;
    s->model->start(s, number);
    state_publish(s, by, argument);
}

void call_thread_create(struct run *r)
{
    struct state *s = r->s;
    uint32_t word = r->t->x[10], number = free_number(s);
    if (number == EXPLORE_THREADS) {
        state_too_long(s, "the program has more than 32 threads at a time");
        return;
    }
    call_store(r, word, 4, number);
    if (s->end != STEP_DONE)
        return;
    begin_thread(s, r->number, number, r->t->x[11], r->t->x[12]);
    struct program_event *e = record(s, EVENT_CREATE, r->number);
    if (e)
        e->other = number;
    r->t->x[10] = 0;
    r->acted = true; /* it was alone perhaps */
    r->alone = false;
    if (r->atomic)
        r->made |= 1u << number;
    else
        run_begin(s, number);
}

static void release(struct state *s, uint32_t number)
{
    *state_touch(s, number) = (struct thread){ .status = THREAD_FREE };
    while (s->threads > 1 && s->thread[s->threads - 1].status == THREAD_FREE)
        s->threads--;
}

void call_thread_exit(struct run *r)
{
    struct state *s = r->s;
    uint32_t value = r->t->x[10];
    if (r->atomic) {
        r->atomic = 1;
        run_section_end(r);
    }
    bool detached = r->t->flags & THREAD_DETACHED;
    state_publish(s, r->number, value);
    if (s->contention)
        contention_leaves(s->contention, r->number, stack_top(r->number));
    if (s->end == STEP_DONE)
        s->model->drop(s, r->number, r->t->x[2], stack_top(r->number));
    if (s->end != STEP_DONE)
        return;
    record(s, EVENT_EXIT, r->number);
    *r->t = (struct thread){ .status = THREAD_ENDED, .value = value };
    if (detached)
        release(s, r->number);
    r->stops = true;
}

void call_thread_join(struct run *r)
{
    struct state *s = r->s;
    uint32_t number = r->t->x[10], word = r->t->x[11];
    bool known = number < s->threads && s->thread[number].status != THREAD_FREE;
    if (!known || s->thread[number].flags & THREAD_DETACHED) {
        r->t->x[10] = CALL_SEARCH;
        return;
    }
    if (number == r->number) {
        r->t->x[10] = CALL_DEADLOCK;
        return;
    }
    if (s->thread[number].status != THREAD_ENDED) {
        call_blocks(r);
        return;
    }
    if (word)
        call_store(r, word, 4, s->thread[number].value);
    struct program_event *e = record(s, EVENT_JOIN, r->number);
    if (e)
        e->other = number;
    release(s, number);
    r->t->x[10] = 0;
}

void call_thread_detach(struct run *r)
{
    struct state *s = r->s;
    uint32_t number = r->t->x[10];
    bool known = number < s->threads && s->thread[number].status != THREAD_FREE;
    r->t->x[10] = known ? 0 : CALL_SEARCH;
    if (!known)
        return;
    if (s->thread[number].status == THREAD_ENDED)
        release(s, number);
    else
        state_touch(s, number)->flags |= THREAD_DETACHED;
}
