/* SPDX-License-Identifier: Apache-2.0 */
/* PSO: as plain TSO, but an entry waits only for older ones of its thread that share a byte with
 * it, and for those before a fence that orders stores: entries between two such fences are a group,
 * of which all but the first begin with a marked entry. Entries of a group that share nothing are
 * kept by address, so that the order in which they came makes no difference. */
#include <assert.h>

#include "buffers.h"

static bool waits_for_overlap(const struct buffer *b, const struct access *a)
{
    for (uint32_t k = 0; k < b->count; k++)
        if (entries_overlap(b->entry[k].address, b->entry[k].size, a->address, a->size))
            return true;
    return false;
}

enum readiness pso_look(const struct state *s, const struct access *a)
{
    const struct buffers *all = buffers_of(s);
    const struct buffer *b = &all->of[a->thread];
    switch (a->kind) {
    case ACCESS_LOAD: return READY;
    case ACCESS_STORE: return b->count < all->capacity ? READY_QUIET : READY_NOT;
    case ACCESS_FENCE: return !fence_drains(a->order) || !b->count ? READY_QUIET : READY_NOT;
    default:
        return waits_for_overlap(b, a) || (a->order & ORDER_RELEASE && b->count) ? READY_NOT
                                                                                 : READY;
    }
}

void pso_store(struct state *s, const struct access *a, uint32_t value)
{
    struct buffer *b = &buffers_of(s)->of[a->thread];
    struct buffer_entry e = *buffer_push(s, a, value);
    uint32_t at = b->count - 1;
    e.mark = b->fenced;
    b->fenced = false;
    while (at && !e.mark) {
        struct buffer_entry *before = &b->entry[at - 1];
        bool stays = before->address < e.address
                  || entries_overlap(before->address, before->size, e.address, e.size);
        if (stays)
            break;
        e.mark = before->mark;
        before->mark = false;
        b->entry[at--] = *before;
    }
    b->entry[at] = e;
}

void pso_fence(struct state *s, const struct access *a)
{
    struct buffer *b = &buffers_of(s)->of[a->thread];
    if (!fence_orders(a->order, 1, 1) || !b->count || b->fenced)
        return;
    state_touch_buffers(s);
    b->fenced = true;
}

/* A write goes to memory at once, and is a store for fences and entries before it. */
bool pso_write_waits(const struct state *s, const struct access *a)
{
    const struct buffer *b = &buffers_of(s)->of[a->thread];
    bool fenced = b->fenced;
    for (uint32_t k = 1; k < b->count; k++)
        fenced |= b->entry[k].mark;
    return waits_for_overlap(b, a) || (b->count && (fenced || a->order & ORDER_RELEASE));
}

static void pso_atomic_write(struct state *s, const struct access *a, uint32_t value)
{
    if (pso_write_waits(s, a))
        state_block(s);
    else
        plain_atomic_write(s, a, value);
}

/* ---- flushers ----------------------------------------------------------------------------- */

static bool may_leave(const struct buffer *b, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++)
        if (entries_overlap(b->entry[i].address, b->entry[i].size, b->entry[k].address,
                            b->entry[k].size))
            return false;
    return true;
}

/* Entries before the first fence. */
static uint32_t first_group(const struct buffer *b)
{
    uint32_t k = 0;
    while (k < b->count && !b->entry[k].mark)
        k++;
    return k;
}

uint32_t pso_moves(const struct state *s, uint32_t thread)
{
    const struct buffer *b = &buffers_of(s)->of[thread];
    uint32_t n = 0;
    for (uint32_t k = 0; k < first_group(b); k++)
        n += may_leave(b, k);
    return n;
}

uint32_t pso_entry_of_move(const struct state *s, uint32_t thread, uint32_t k)
{
    const struct buffer *b = &buffers_of(s)->of[thread];
    for (uint32_t i = 0;; i++) {
        assert(i < b->count);
        if (may_leave(b, i) && !k--)
            return i;
    }
}

static void pso_move(struct state *s, uint32_t thread, uint32_t k)
{
    buffer_commit(s, thread, pso_entry_of_move(s, thread, k));
}

/* clang-format off */
const struct memory_model pso_model = {
    .make = plain_make, .drop_made = plain_drop_made, .copy = plain_copy, .reset = plain_reset,
    .look = pso_look, .load = plain_load, .store = pso_store, .fence = pso_fence,
    .atomic_read = plain_atomic_read, .atomic_write = pso_atomic_write, .section = plain_section,
    .moves = pso_moves, .move = pso_move, .drop = plain_drop, .alone = plain_alone,
    .drain = buffers_drain, .start = plain_start,
    .most_words = buffer_most_words, .pack = buffer_pack, .unpack = buffer_unpack,
    .peek = buffer_peek, .entry = buffer_view,
};
/* clang-format on */
