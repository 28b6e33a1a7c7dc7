/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations, each thread's in a part of its own, at the lowest place with room. Between two of
 * them are at least 4 bytes that nobody may touch. */
#include "state.h"

int heap_find(const struct state *s, uint32_t thread, uint32_t address)
{
    const struct heap *h = &s->heap[thread];
    uint32_t low = 0,
             high = *h->count; /* the last that begins at or before it lies in [low, high) - 1 */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (h->object[middle].place <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return -1;
    const struct heap_object *o = &h->object[low - 1];
    uint32_t size = o->size & ~(uint32_t)HEAP_SHARED;
    return address - o->place < size || (!size && address == o->place) ? (int)low - 1 : -1;
}

/* The number that a new object gets, and where. */
static uint32_t first_fit(const struct heap *h, uint32_t base, uint32_t bytes, uint32_t alignment,
                          uint32_t *place)
{
    uint32_t at = base;
    for (uint32_t i = 0;; i++) {
        at = (at + alignment - 1) & ~(alignment - 1);
        if (i == *h->count || h->object[i].place - at >= (uint64_t)bytes + 4) {
            if (i == *h->count || h->object[i].place > at) {
                *place = at;
                return i;
            }
        }
        at = h->object[i].place + (h->object[i].size & ~(uint32_t)HEAP_SHARED) + 4;
    }
}

uint32_t heap_allocate(struct state *s, uint32_t thread, uint32_t bytes, uint32_t alignment)
{
    struct heap *h = &s->heap[thread];
    uint32_t base = STATE_HEAPS + thread * STATE_PART, place;
    if (alignment < 8 || (alignment & (alignment - 1)))
        alignment = 8;
    if (bytes > STATE_PART || alignment > STATE_PART || *h->count == STATE_OBJECTS)
        return 0;
    uint32_t number = first_fit(h, base, bytes, alignment, &place);
    if (place + bytes > base + STATE_PART)
        return 0;
    for (uint32_t i = *h->count; i > number; i--) {
        state_set(s, &h->object[i].place, h->object[i - 1].place);
        state_set(s, &h->object[i].size, h->object[i - 1].size);
    }
    state_clear(s, s->heaps + (place - STATE_HEAPS), (bytes + 3) & ~3u);
    state_set(s, &h->object[number].place, place);
    state_set(s, &h->object[number].size, bytes);
    state_set(s, h->count, *h->count + 1);
    s->heap_touched |= 1u << thread;
    if (s->heap_end[thread] < place + bytes)
        s->heap_end[thread] = place + bytes;
    return place;
}

void heap_remove(struct state *s, uint32_t thread, uint32_t object)
{
    struct heap *h = &s->heap[thread];
    uint32_t place = h->object[object].place,
             size = h->object[object].size & ~(uint32_t)HEAP_SHARED;
    state_clear(s, s->heaps + (place - STATE_HEAPS), (size + 3) & ~3u);
    state_set(s, h->count, *h->count - 1);
    for (uint32_t i = object; i < *h->count; i++) {
        state_set(s, &h->object[i].place, h->object[i + 1].place);
        state_set(s, &h->object[i].size, h->object[i + 1].size);
    }
    s->heap_touched |= 1u << thread;
}
