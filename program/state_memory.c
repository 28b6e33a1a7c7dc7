/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a program: what is linked, stacks above their pointers, and what is allocated. */
#include <string.h>

#include "contention.h"
#include "memory_model.h"
#include "state.h"

static uint8_t *linked_place(const struct state *s, uint32_t address, uint32_t size, bool write)
{
    const struct program_code *c = s->code;
    if (address < c->base || address + size > c->end)
        return NULL;
    if (!(c->access[(address - c->base) / 4] >> write & 1))
        return NULL;
    return s->linked + (address - c->base);
}

static uint8_t *stack_place(const struct state *s, uint32_t address, uint32_t size)
{
    uint32_t offset = address - (uint32_t)STATE_STACKS, t = offset / STATE_PART;
    if (t >= s->threads)
        return NULL;
    const struct thread *thread = &s->thread[t];
    if (thread->status == THREAD_FREE || thread->status == THREAD_ENDED)
        return NULL;
    return address >= thread->x[2] && address + size <= stack_top(t) ? s->stacks + offset : NULL;
}

static uint8_t *heap_place(const struct state *s, uint32_t address, uint32_t size)
{
    uint32_t offset = address - STATE_HEAPS, t = offset / STATE_PART;
    if (t >= EXPLORE_THREADS)
        return NULL;
    int o = heap_find(s, t, address);
    if (o < 0)
        return NULL;
    const struct heap_object *object = &s->heap[t].object[o];
    uint32_t end = object->place + (object->size & ~(uint32_t)HEAP_SHARED);
    return address + size <= end ? s->heaps + offset : NULL;
}

uint8_t *state_peek(const struct state *s, uint32_t address, uint32_t size, bool write)
{
    if (address < STATE_LINKED_END)
        return linked_place(s, address, size, write);
    if (address >= (uint32_t)STATE_STACKS)
        return stack_place(s, address, size);
    return address >= STATE_HEAPS ? heap_place(s, address, size) : NULL;
}

static void fail_access(struct state *s, uint32_t address, uint32_t size, bool write)
{
    const char *what = write ? "store to" : "load from";
    bool linked = address < STATE_LINKED_END && state_peek(s, address, size, false);
    bool heap = address >= STATE_HEAPS && address < STATE_HEAPS + EXPLORE_THREADS * STATE_PART;
    if (heap && s->follows)
        heap = address < s->heap_end[(address - STATE_HEAPS) / STATE_PART];
    if (linked)
        state_fail(s, EXPLORE_READ_ONLY, "%s 0x%08x, which may only be read", what, address);
    else if (heap)
        state_fail(s, EXPLORE_FREED, "%s 0x%08x, which is not allocated", what, address);
    else
        state_fail(s, EXPLORE_UNMAPPED, "%s 0x%08x, where there is no memory", what, address);
}

uint8_t *state_place(struct state *s, uint32_t address, uint32_t size, bool write)
{
    if (address & (size - 1)) {
        state_fail(s, EXPLORE_MISALIGNED, "%s of %u bytes at 0x%08x", write ? "store" : "load",
                   size, address);
        return NULL;
    }
    uint8_t *place = state_peek(s, address, size, write);
    if (!place)
        fail_access(s, address, size, write);
    return place;
}

void state_put(struct state *s, uint8_t *place, uint32_t size, uint32_t value)
{
    uint8_t *base = (uint8_t *)((uintptr_t)place & ~(uintptr_t)3);
    uint32_t *word = (uint32_t *)(void *)base;
    if (size == 4) {
        state_set(s, word, value);
        return;
    }
    uint32_t shift = (uint32_t)(place - base) * 8, mask = (size == 2 ? 0xffffu : 0xffu) << shift;
    state_set(s, word, (*word & ~mask) | (value << shift & mask));
}

void state_clear(struct state *s, uint8_t *place, uint32_t size)
{
    for (uint32_t i = 0; i + 4 <= size; i += 4) {
        uint32_t *word = (uint32_t *)(void *)(place + i);
        if (*word)
            state_set(s, word, 0);
    }
}

/* New frames begin as zeros, so that what ran there before makes no difference. */
void state_move_stack(struct state *s, uint32_t thread, uint32_t from, uint32_t to)
{
    uint32_t low = stack_top(thread) - STATE_PART;
    if (to < low || to > stack_top(thread)) {
        state_fail(s, EXPLORE_STACK, "the stack pointer becomes 0x%08x; a stack has 1 MB", to);
        s->thread[thread].x[2] = from;
        return;
    }
    if (to < from) {
        state_clear(s, s->stacks + ((to & ~3u) - (uint32_t)STATE_STACKS), (from - to + 3) & ~3u);
        return;
    }
    if (s->thread[thread].shared_from < to)
        s->thread[thread].shared_from = to;
    if (s->contention)
        contention_leaves(s->contention, thread, to);
    s->model->drop(s, thread, from, to);
}
