/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory_model.h"
#include "pack.h"
#include "reserve.h"

enum { PARTS = EXPLORE_THREADS * STATE_PART, HEAP_BYTES = (STATE_OBJECTS + 1) * 8 };

static bool has_heaps(struct state *s)
{
    uint8_t *all = reserve((size_t)EXPLORE_THREADS * HEAP_BYTES);
    if (!all)
        return false;
    for (uint32_t t = 0; t < EXPLORE_THREADS; t++) {
        s->heap[t].count = (uint32_t *)(void *)(all + (size_t)t * HEAP_BYTES);
        s->heap[t].object = (struct heap_object *)(void *)(all + (size_t)t * HEAP_BYTES + 8);
    }
    return true;
}

struct state *state_new(const struct program_code *c, const struct explore_options *options)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->code = c;
    s->options = options;
    s->model = memory_model_of(options);
    s->linked = malloc(c->end - c->base);
    s->stacks = reserve(PARTS);
    s->heaps = reserve(PARTS);
    s->undo_capacity = 1024;
    s->undo = malloc(s->undo_capacity * sizeof *s->undo);
    s->buffers = s->model->make(s);
    s->buffers_before = s->model->make(s);
    if (has_heaps(s) && s->linked && s->stacks && s->heaps && s->undo && s->buffers
        && s->buffers_before)
        return s;
    state_free(s);
    return NULL;
}

void state_free(struct state *s)
{
    if (!s)
        return;
    reserve_free(s->stacks, PARTS);
    reserve_free(s->heaps, PARTS);
    reserve_free(s->heap[0].count, (size_t)EXPLORE_THREADS * HEAP_BYTES);
    s->model->drop_made(s->buffers);
    s->model->drop_made(s->buffers_before);
    free(s->linked);
    free(s->undo);
    free(s);
}

void state_begin(struct state *s)
{
    memcpy(s->linked, s->code->memory, s->code->end - s->code->base);
    for (uint32_t t = 0; t < EXPLORE_THREADS; t++) {
        s->thread[t] = (struct thread){ .status = THREAD_FREE };
        *s->heap[t].count = s->heap_end[t] = 0;
    }
    s->thread[0].status = THREAD_RUNS;
    s->thread[0].pc = image_entry(s->code->image);
    s->thread[0].x[2] = s->thread[0].shared_from = stack_top(0);
    s->threads = 1;
    s->exited = 0;
    s->model->reset(s);
    state_mark(s);
}

void state_mark(struct state *s)
{
    s->undone = 0;
    s->touched = s->heap_touched = 0;
    s->buffers_changed = false;
    s->threads_before = s->threads;
    s->exited_before = s->exited;
    s->end = STEP_DONE;
    s->error = EXPLORE_NO_ERROR;
    s->error_pc = 0;
}

void state_undo(struct state *s)
{
    while (s->undone) {
        s->undone--;
        *s->undo[s->undone].where = s->undo[s->undone].old;
    }
    for (uint32_t left = s->touched; left; left &= left - 1) {
        uint32_t t = (uint32_t)__builtin_ctz(left);
        s->thread[t] = s->before[t];
    }
    if (s->buffers_changed)
        s->model->copy(s, s->buffers, s->buffers_before);
    s->threads = s->threads_before;
    s->exited = s->exited_before;
    state_mark(s);
}

/* Where there is no memory for it the process ends: a step that cannot be taken back is lost, and
 * the log is small. */
void state_grow_undo(struct state *s)
{
    s->undo_capacity *= 2;
    s->undo = realloc(s->undo, s->undo_capacity * sizeof *s->undo);
    if (!s->undo)
        abort();
}

struct thread *state_touch(struct state *s, uint32_t thread)
{
    assert(thread < EXPLORE_THREADS);
    if (!(s->touched >> thread & 1)) {
        s->touched |= 1u << thread;
        s->before[thread] = s->thread[thread];
    }
    return &s->thread[thread];
}

void state_touch_buffers(struct state *s)
{
    if (s->buffers_changed)
        return;
    s->buffers_changed = true;
    s->model->copy(s, s->buffers_before, s->buffers);
}

uint32_t state_choose(struct state *s, uint32_t n)
{
    struct choices *c = &s->choices;
    assert(n > 0);
    if (n == 1)
        return 0;
    if (c->used == CHOICES) {
        state_too_long(s, "a step draws more than 4096 numbers");
        return 0;
    }
    if (c->used == c->known) {
        c->drawn[c->known] = 0;
        c->of[c->known++] = n;
    }
    assert(c->of[c->used] == n || s->follows);
    return c->drawn[c->used++] % n;
}

bool state_next_choices(struct state *s)
{
    struct choices *c = &s->choices;
    c->known = c->used;
    c->used = 0;
    while (c->known && c->drawn[c->known - 1] + 1 == c->of[c->known - 1])
        c->known--;
    if (!c->known)
        return false;
    c->drawn[c->known - 1]++;
    return true;
}

void state_discard(struct state *s)
{
    if (s->end == STEP_DONE)
        s->end = STEP_DISCARDED;
}

void state_block(struct state *s)
{
    if (s->end == STEP_DONE)
        s->end = STEP_BLOCKED;
}

void state_fail(struct state *s, enum explore_error e, const char *format, ...)
{
    if (s->end != STEP_DONE)
        return;
    s->end = STEP_ERROR;
    s->error = e;
    va_list list;
    va_start(list, format);
    vsnprintf(s->text, sizeof s->text, format, list);
    va_end(list);
}

void state_strange(struct state *s)
{
    if (s->end == STEP_DONE)
        s->end = STEP_STRANGE;
}

void state_too_long(struct state *s, const char *what)
{
    if (s->end != STEP_DONE)
        return;
    s->end = STEP_TOO_LONG;
    snprintf(s->text, sizeof s->text, "%s", what);
}

uint32_t state_others(const struct state *s, uint32_t thread)
{
    uint32_t others = 0;
    for (uint32_t t = 0; t < s->threads; t++)
        if (t != thread && s->thread[t].status != THREAD_FREE
            && s->thread[t].status != THREAD_ENDED)
            others |= 1u << t;
    return others;
}
