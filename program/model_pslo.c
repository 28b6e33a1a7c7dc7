/* SPDX-License-Identifier: Apache-2.0 */
/* PSLO (Relaxer, Figure 6): as PSO, and a load that is not forwarded may see any value that its
 * word has had since the thread looked there last, or since its last fence that orders loads. What
 * a thread may still see besides what memory holds is its history: values of words, by address,
 * oldest first. As in the figure it is a set: of a value that a word had twice, the later time
 * counts. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "record.h"

enum { HISTORY = 1024 }; /* values of a thread, at most */

struct old_value {
    uint32_t address, value;
};
struct history {
    uint32_t count;
    struct old_value old[HISTORY];
};
struct pslo {
    struct buffers buffers; /* first */
    struct history of[EXPLORE_THREADS];
};

static struct history *history_of(const struct state *s, uint32_t thread)
{
    struct pslo *p = s->buffers;
    return &p->of[thread];
}

static void *pslo_make(const struct state *s)
{
    struct pslo *p = calloc(1, sizeof *p);
    if (p && buffers_make(&p->buffers, buffers_capacity(s->options)))
        return p;
    free(p);
    return NULL;
}

static void pslo_copy(const struct state *s, void *to, const void *from)
{
    (void)s;
    struct pslo *t = to;
    const struct pslo *f = from;
    buffers_copy(&t->buffers, &f->buffers);
    for (uint32_t i = 0; i < EXPLORE_THREADS; i++) {
        t->of[i].count = f->of[i].count;
        memcpy(t->of[i].old, f->of[i].old, f->of[i].count * sizeof *f->of[i].old);
    }
}

static void pslo_reset(struct state *s)
{
    plain_reset(s);
    for (uint32_t t = 0; t < EXPLORE_THREADS; t++)
        history_of(s, t)->count = 0;
}

/* ---- histories ---------------------------------------------------------------------------- */

/* Where values of the word begin, or would, and how many there are. */
static uint32_t find(const struct history *h, uint32_t word, uint32_t *count)
{
    uint32_t at = 0, end;
    while (at < h->count && h->old[at].address < word)
        at++;
    for (end = at; end < h->count && h->old[end].address == word;)
        end++;
    *count = end - at;
    return at;
}

static void forget(struct state *s, struct history *h, uint32_t from, uint32_t count)
{
    if (!count)
        return;
    state_touch_buffers(s);
    h->count -= count;
    memmove(&h->old[from], &h->old[from + count], (h->count - from) * sizeof *h->old);
}

static void forget_all(struct state *s, uint32_t thread)
{
    struct history *h = history_of(s, thread);
    forget(s, h, 0, h->count);
}

static void forget_word(struct state *s, uint32_t thread, uint32_t word)
{
    uint32_t count, at = find(history_of(s, thread), word, &count);
    forget(s, history_of(s, thread), at, count);
}

/* The word becomes `new`, which is the newest of its values then wherever it was before. */
static void remember(struct state *s, uint32_t thread, uint32_t word, uint32_t old, uint32_t new)
{
    struct history *h = history_of(s, thread);
    uint32_t count, at = find(h, word, &count);
    for (uint32_t k = 0; k < count; k++)
        if (h->old[at + k].value == new) {
            forget(s, h, at + k, 1);
            count--;
            break;
        }
    if (h->count == HISTORY) {
        state_too_long(s, "a thread may still see more than 1024 old values");
        return;
    }
    at += count;
    state_touch_buffers(s);
    memmove(&h->old[at + 1], &h->old[at], (h->count - at) * sizeof *h->old);
    h->old[at] = (struct old_value){ word, old };
    h->count++;
}

static void write_word(struct state *s, uint32_t thread, uint32_t address, uint32_t size,
                       uint32_t value)
{
    uint32_t word = address & ~3u;
    uint8_t *place = state_peek(s, address, size, true);
    const uint8_t *whole = place - (address & 3);
    uint32_t old = state_get(whole, 4);
    state_put(s, place, size, value);
    uint32_t new = state_get(whole, 4);
    forget_word(s, thread, word);
    for (uint32_t t = 0; t < s->threads && old != new; t++)
        if (t != thread && s->thread[t].status != THREAD_FREE
            && s->thread[t].status != THREAD_ENDED)
            remember(s, t, word, old, new);
}

/* ---- accesses ----------------------------------------------------------------------------- */

static bool forwards_all(const struct buffer *b, const struct access *a)
{
    uint32_t missing = (1u << a->size) - 1;
    for (uint32_t k = 0; k < b->count; k++)
        for (uint32_t i = 0; i < a->size; i++)
            if (entry_covers(&b->entry[k], a->address + i))
                missing &= ~(1u << i);
    return !missing;
}

/* The word as it is seen: as one of its old values, after which older ones are not seen any more,
 * or as memory has it. */
static uint32_t choose_version(struct state *s, uint32_t thread, uint32_t word)
{
    struct history *h = history_of(s, thread);
    uint32_t count, at = find(h, word, &count), n = state_choose(s, count + 1);
    uint32_t value = n < count ? h->old[at + n].value : state_get(state_peek(s, word, 4, false), 4);
    forget(s, h, at, n);
    return value;
}

static uint32_t pslo_load(struct state *s, const struct access *a)
{
    bool forwarded;
    const struct buffer *b = &buffers_of(s)->of[a->thread];
    uint32_t value = buffer_overlay(s, a->thread, a->address, a->size, &forwarded);
    if (forwarded)
        record_forwarded(s);
    if (forwards_all(b, a))
        return value;
    uint32_t seen = choose_version(s, a->thread, a->address & ~3u) >> (a->address & 3) * 8;
    for (uint32_t i = 0; i < a->size; i++) {
        bool own = false;
        for (uint32_t k = 0; k < b->count; k++)
            own |= entry_covers(&b->entry[k], a->address + i);
        if (!own)
            value = (value & ~(0xffu << i * 8)) | (seen & 0xffu << i * 8);
    }
    return value;
}

static void pslo_fence(struct state *s, const struct access *a)
{
    pso_fence(s, a);
    if (fence_orders(a->order, 2, 2) || fence_drains(a->order))
        forget_all(s, a->thread);
}

static void forget_for(struct state *s, const struct access *a)
{
    if (a->order & ORDER_ACQUIRE)
        forget_all(s, a->thread);
    else
        forget_word(s, a->thread, a->address & ~3u);
}

static uint32_t pslo_atomic_read(struct state *s, const struct access *a)
{
    forget_for(s, a);
    return plain_atomic_read(s, a);
}

static void pslo_atomic_write(struct state *s, const struct access *a, uint32_t value)
{
    if (pso_write_waits(s, a)) {
        state_block(s);
        return;
    }
    forget_for(s, a);
    write_word(s, a->thread, a->address, a->size, value);
}

/* ---- the rest ----------------------------------------------------------------------------- */

static void pslo_move(struct state *s, uint32_t thread, uint32_t k)
{
    struct buffer *b = &buffers_of(s)->of[thread];
    uint32_t i = pso_entry_of_move(s, thread, k);
    struct buffer_entry e = b->entry[i];
    state_touch_buffers(s);
    record_commit(s, thread, &e);
    buffer_leave(b, i);
    write_word(s, thread, e.address, e.size, e.value);
}

static void pslo_drop(struct state *s, uint32_t thread, uint32_t from, uint32_t to)
{
    plain_drop(s, thread, from, to);
    for (uint32_t t = 0; t < s->threads; t++) {
        struct history *h = history_of(s, t);
        for (uint32_t k = h->count; k--;)
            if (h->old[k].address >= (from & ~3u) && h->old[k].address < to)
                forget(s, h, k, 1);
    }
}

static bool pslo_alone(struct state *s, uint32_t thread)
{
    while (pso_moves(s, thread))
        pslo_move(s, thread, 0);
    return !history_of(s, thread)->count && buffers_empty(s->buffers);
}

static void pslo_start(struct state *s, uint32_t thread) { forget_all(s, thread); }

static uint32_t pslo_most_words(const struct state *s)
{
    return buffer_most_words(s) + 2 + 2 * HISTORY;
}

static uint32_t pslo_pack(const struct state *s, uint32_t part, uint32_t *words)
{
    if (part == EXPLORE_THREADS)
        return 0;
    const struct history *h = history_of(s, part);
    uint32_t buffer = buffer_pack(s, part, words + 1);
    if (!buffer && !h->count)
        return 0;
    words[0] = buffer | h->count << 16;
    memcpy(words + 1 + buffer, h->old, h->count * sizeof *h->old);
    return 1 + buffer + 2 * h->count;
}

static void pslo_unpack(struct state *s, uint32_t part, const uint32_t *words, uint32_t count)
{
    if (part == EXPLORE_THREADS)
        return;
    struct history *h = history_of(s, part);
    uint32_t buffer = count ? words[0] & 0xffff : 0;
    buffer_unpack(s, part, words + 1, buffer);
    h->count = count ? words[0] >> 16 : 0;
    if (h->count)
        memcpy(h->old, words + 1 + buffer, h->count * sizeof *h->old);
}

/* clang-format off */
const struct memory_model pslo_model = {
    .make = pslo_make, .drop_made = plain_drop_made, .copy = pslo_copy, .reset = pslo_reset,
    .look = pso_look, .load = pslo_load, .store = pso_store, .fence = pslo_fence,
    .atomic_read = pslo_atomic_read, .atomic_write = pslo_atomic_write, .section = plain_section,
    .moves = pso_moves, .move = pslo_move, .drop = pslo_drop, .alone = pslo_alone,
    .drain = buffers_drain, .start = pslo_start,
    .most_words = pslo_most_words, .pack = pslo_pack, .unpack = pslo_unpack,
    .peek = buffer_peek, .entry = buffer_view,
};
/* clang-format on */
