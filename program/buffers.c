/* SPDX-License-Identifier: Apache-2.0 */
#include "buffers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

bool buffers_make(struct buffers *b, uint32_t capacity)
{
    struct buffer_entry *all = calloc((size_t)EXPLORE_THREADS * capacity, sizeof *all);
    b->capacity = capacity;
    for (uint32_t t = 0; t < EXPLORE_THREADS; t++)
        b->of[t] = (struct buffer){ .entry = all ? all + (size_t)t * capacity : NULL };
    return all != NULL;
}

void buffers_free(struct buffers *b) { free(b->of[0].entry); }

void buffers_copy(struct buffers *to, const struct buffers *from)
{
    uint32_t threads = to->threads > from->threads ? to->threads : from->threads;
    to->threads = from->threads;
    for (uint32_t t = 0; t < threads; t++) {
        const struct buffer *f = &from->of[t];
        to->of[t].count = f->count;
        to->of[t].fenced = f->fenced;
        if (f->count)
            memcpy(to->of[t].entry, f->entry, f->count * sizeof *f->entry);
    }
}

void buffers_reset(struct buffers *b)
{
    b->threads = 0;
    for (uint32_t t = 0; t < EXPLORE_THREADS; t++) {
        b->of[t].count = 0;
        b->of[t].fenced = false;
    }
}

bool buffers_empty(const struct buffers *b)
{
    for (uint32_t t = 0; t < b->threads; t++)
        if (b->of[t].count)
            return false;
    return true;
}

struct buffer_entry *buffer_push(struct state *s, const struct access *a, uint32_t value)
{
    struct buffers *all = buffers_of(s);
    struct buffer *b = &all->of[a->thread];
    state_touch_buffers(s);
    assert(b->count < all->capacity);
    if (all->threads <= a->thread)
        all->threads = a->thread + 1;
    struct buffer_entry *e = &b->entry[b->count++];
    uint32_t mask = a->size == 4 ? UINT32_MAX : (1u << a->size * 8) - 1;
    *e = (struct buffer_entry){ .address = a->address, .size = a->size, .value = value & mask };
    if (s->follows) {
        e->pc = a->pc;
        e->cause = record_next(s) - 1; /* the event of the store is there already */
    }
    return e;
}

void buffer_remove(struct buffer *b, uint32_t k)
{
    assert(k < b->count);
    b->count--;
    memmove(&b->entry[k], &b->entry[k + 1], (b->count - k) * sizeof *b->entry);
}

void buffer_leave(struct buffer *b, uint32_t k)
{
    bool mark = b->entry[k].mark;
    buffer_remove(b, k);
    if (mark && k == b->count)
        b->fenced = true;
    else if (mark)
        b->entry[k].mark = true;
    if (b->count)
        b->entry[0].mark = false;
    else
        b->fenced = false;
}

uint32_t buffer_overlay(const struct state *s, uint32_t thread, uint32_t address, uint32_t size,
                        bool *forwarded)
{
    const struct buffer *b = &buffers_of(s)->of[thread];
    uint32_t value = state_get(state_peek(s, address, size, false), size);
    *forwarded = false;
    for (uint32_t k = 0; k < b->count; k++) {
        const struct buffer_entry *e = &b->entry[k];
        if (!entries_overlap(address, size, e->address, e->size))
            continue;
        *forwarded = true;
        for (uint32_t i = 0; i < size; i++)
            if (entry_covers(e, address + i))
                value = (value & ~(0xffu << i * 8)) | (uint32_t)entry_byte(e, address + i) << i * 8;
    }
    return value;
}

uint8_t buffer_peek(const struct state *s, uint32_t thread, uint32_t address)
{
    bool forwarded;
    if (!state_peek(s, address, 1, false))
        return 0;
    return (uint8_t)buffer_overlay(s, thread, address, 1, &forwarded);
}

bool buffer_view(const struct state *s, uint32_t thread, size_t k, struct explore_entry *entry)
{
    const struct buffer *b = &buffers_of(s)->of[thread];
    if (k >= b->count)
        return false;
    const struct buffer_entry *e = &b->entry[k];
    *entry = (struct explore_entry){ e->address, e->size, e->value, e->pc, e->mark };
    return true;
}

void buffer_commit(struct state *s, uint32_t thread, uint32_t k)
{
    struct buffer *b = &buffers_of(s)->of[thread];
    state_touch_buffers(s);
    const struct buffer_entry *e = &b->entry[k];
    uint8_t *place = state_peek(s, e->address, e->size, true);
    record_commit(s, thread, e);
    assert(place);
    state_put(s, place, e->size, e->value);
    buffer_leave(b, k);
}

void buffer_commit_all(struct state *s, uint32_t thread)
{
    struct buffer *b = &buffers_of(s)->of[thread];
    while (b->count)
        buffer_commit(s, thread, 0);
}

/* ---- as words ----------------------------------------------------------------------------- */

/* Bits of an address that none has (state.h) tell the size and the mark. */
enum { SIZE_SHIFT = 28, MARK_BIT = 1 << 27, EXTRA_BITS = 0x38000000 };

uint32_t buffer_most_words(const struct state *s) { return 1 + 2 * buffers_of(s)->capacity; }

uint32_t buffer_pack(const struct state *s, uint32_t part, uint32_t *words)
{
    if (part == EXPLORE_THREADS)
        return 0;
    const struct buffer *b = &buffers_of(s)->of[part];
    if (!b->count)
        return 0;
    uint32_t *w = words;
    *w++ = b->count | (uint32_t)b->fenced << 16;
    for (uint32_t k = 0; k < b->count; k++) {
        const struct buffer_entry *e = &b->entry[k];
        *w++ = e->address | (uint32_t)(e->size >> 1) << SIZE_SHIFT | (e->mark ? MARK_BIT : 0);
        *w++ = e->value;
    }
    return (uint32_t)(w - words);
}

void buffer_unpack(struct state *s, uint32_t part, const uint32_t *words, uint32_t count)
{
    if (part == EXPLORE_THREADS)
        return;
    struct buffer *b = &buffers_of(s)->of[part];
    b->count = count ? words[0] & 0xffff : 0;
    if (b->count && buffers_of(s)->threads <= part)
        buffers_of(s)->threads = part + 1;
    b->fenced = count && words[0] >> 16;
    for (uint32_t k = 0; k < b->count; k++) {
        uint32_t address = words[1 + 2 * k], log2 = address >> SIZE_SHIFT & 3;
        b->entry[k] = (struct buffer_entry){ .address = address & ~(uint32_t)EXTRA_BITS,
                                             .value = words[2 + 2 * k],
                                             .size = (uint8_t)(1u << log2),
                                             .mark = address & MARK_BIT };
    }
}

/* ---- what models with plain buffers have in common ---------------------------------------- */

void *plain_make(const struct state *s)
{
    struct buffers *b = calloc(1, sizeof *b);
    if (b && buffers_make(b, buffers_capacity(s->options)))
        return b;
    free(b);
    return NULL;
}

void plain_drop_made(void *buffers)
{
    if (buffers)
        buffers_free(buffers);
    free(buffers);
}

void plain_copy(const struct state *s, void *to, const void *from)
{
    (void)s;
    buffers_copy(to, from);
}

void plain_reset(struct state *s) { buffers_reset(s->buffers); }

uint32_t plain_load(struct state *s, const struct access *a)
{
    bool forwarded;
    uint32_t value = buffer_overlay(s, a->thread, a->address, a->size, &forwarded);
    if (forwarded)
        record_forwarded(s);
    return value;
}

uint32_t plain_atomic_read(struct state *s, const struct access *a)
{
    return state_get(state_peek(s, a->address, a->size, false), a->size);
}

void plain_atomic_write(struct state *s, const struct access *a, uint32_t value)
{
    state_put(s, state_peek(s, a->address, a->size, true), a->size, value);
}

void plain_fence(struct state *s, const struct access *a) { (void)s, (void)a; }

void plain_section(struct state *s, uint32_t thread, bool begins)
{
    (void)s, (void)thread, (void)begins;
}

/* Seed 001, 3.2. */
void plain_drop(struct state *s, uint32_t thread, uint32_t from, uint32_t to)
{
    struct buffers *all = buffers_of(s);
    for (uint32_t t = 0; t < all->threads; t++)
        for (uint32_t k = all->of[t].count; k--;) {
            const struct buffer_entry *e = &all->of[t].entry[k];
            if (!entries_overlap(from, to - from, e->address, e->size))
                continue;
            if (t != thread) {
                state_fail(s, EXPLORE_LATE_STORE,
                           "thread %u's store to 0x%08x still waits in its buffer", t, e->address);
                return;
            }
            state_touch_buffers(s);
            record_drop(s, t, e);
            buffer_leave(&all->of[t], k);
        }
}

/* Nobody can see in which order that happens. */
bool plain_alone(struct state *s, uint32_t thread)
{
    buffer_commit_all(s, thread);
    return buffers_empty(s->buffers);
}

void plain_start(struct state *s, uint32_t thread) { (void)s, (void)thread; }

void buffers_drain(struct state *s)
{
    for (;;) {
        uint32_t moves = 0, t = 0;
        for (uint32_t u = 0; u < s->threads; u++)
            moves += s->model->moves(s, u);
        if (!moves)
            return;
        uint32_t n = state_choose(s, moves);
        for (; n >= s->model->moves(s, t); t++)
            n -= s->model->moves(s, t);
        s->model->move(s, t, n);
    }
}
