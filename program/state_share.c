/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory others can know (the DIVINE paper, 3.4, "dynamic"). An allocation or a stack belongs to its
 * thread alone until a word that may point there is stored where others can read it; then it and
 * all that it points to are known, for good. Any word counts as a pointer. */
#include <string.h>

#include "state.h"

bool state_private(const struct state *s, uint32_t thread, uint32_t address)
{
    if (address - (stack_top(thread) - STATE_PART) < STATE_PART)
        return address < s->thread[thread].shared_from;
    uint32_t heap = STATE_HEAPS + thread * STATE_PART;
    if (address - heap >= STATE_PART)
        return false;
    int o = heap_find(s, thread, address);
    return o >= 0 && !(s->heap[thread].object[o].size & (uint32_t)HEAP_SHARED);
}

bool state_is_strange(const struct state *s, uint32_t thread, uint32_t address)
{
    if (address >= (uint32_t)STATE_STACKS) {
        uint32_t owner = (address - (uint32_t)STATE_STACKS) / STATE_PART;
        return owner != thread && owner < s->threads && address < s->thread[owner].shared_from;
    }
    uint32_t owner = (address - STATE_HEAPS) / STATE_PART;
    return address >= STATE_HEAPS && owner < EXPLORE_THREADS && owner != thread
        && state_private(s, owner, address);
}

static void publish_words(struct state *s, uint32_t by, const uint8_t *from, uint32_t bytes)
{
    for (uint32_t i = 0; i + 4 <= bytes; i++) {
        uint32_t word;
        memcpy(&word, from + i, 4);
        state_publish(s, by, word);
    }
}

/* All of the stack at this moment: where the variable ends that is pointed to is not known, and
 * what is called later lies below. */
static void publish_stack(struct state *s, uint32_t thread, uint32_t address)
{
    const struct thread *now = &s->thread[thread];
    bool runs = now->status != THREAD_FREE && now->status != THREAD_ENDED;
    if (!runs || address < now->x[2] || address > now->shared_from)
        return;
    struct thread *t = state_touch(s, thread);
    uint32_t from = t->x[2] & ~3u, to = t->shared_from;
    t->shared_from = from;
    publish_words(s, thread, s->stacks + (from - (uint32_t)STATE_STACKS), to - from);
}

static void publish_object(struct state *s, uint32_t thread, uint32_t address)
{
    int o = heap_find(s, thread, address);
    if (o < 0)
        o = heap_find(s, thread, address - 1); /* the end of it */
    if (o < 0)
        return;
    struct heap_object *object = &s->heap[thread].object[o];
    if (object->size & (uint32_t)HEAP_SHARED)
        return;
    uint32_t size = object->size;
    state_set(s, &object->size, size | (uint32_t)HEAP_SHARED);
    s->heap_touched |= 1u << thread;
    publish_words(s, thread, s->heaps + (object->place - STATE_HEAPS), size);
}

void state_publish(struct state *s, uint32_t by, uint32_t value)
{
    if (!(s->options->local & EXPLORE_LOCAL_DYNAMIC) || value < STATE_HEAPS)
        return;
    if (state_is_strange(s, by, value) && state_peek(s, value, 1, false))
        state_strange(s);
    if (value >= (uint32_t)STATE_STACKS) {
        uint32_t thread = (value - (uint32_t)STATE_STACKS) / STATE_PART;
        if (thread < s->threads)
            publish_stack(s, thread, value);
        return;
    }
    uint32_t thread = (value - STATE_HEAPS) / STATE_PART;
    if (thread < EXPLORE_THREADS)
        publish_object(s, thread, value);
}
