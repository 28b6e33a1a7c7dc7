/* SPDX-License-Identifier: Apache-2.0 */
/* TSO, plain: a first-in first-out buffer for each thread, and a flusher that writes its oldest
 * entry whenever it likes. */
#include "buffers.h"

static enum readiness tso_look(const struct state *s, const struct access *a)
{
    const struct buffers *all = buffers_of(s);
    const struct buffer *b = &all->of[a->thread];
    switch (a->kind) {
    case ACCESS_LOAD: return READY;
    case ACCESS_STORE: return b->count < all->capacity ? READY_QUIET : READY_NOT;
    case ACCESS_FENCE: return !fence_drains(a->order) || !b->count ? READY_QUIET : READY_NOT;
    default: return b->count ? READY_NOT : READY;
    }
}

static void tso_store(struct state *s, const struct access *a, uint32_t value)
{
    buffer_push(s, a, value);
}

static uint32_t tso_moves(const struct state *s, uint32_t thread)
{
    return buffers_of(s)->of[thread].count > 0;
}

static void tso_move(struct state *s, uint32_t thread, uint32_t k)
{
    (void)k;
    buffer_commit(s, thread, 0);
}

/* clang-format off */
const struct memory_model tso_model = {
    .make = plain_make, .drop_made = plain_drop_made, .copy = plain_copy, .reset = plain_reset,
    .look = tso_look, .load = plain_load, .store = tso_store, .fence = plain_fence,
    .atomic_read = plain_atomic_read, .atomic_write = plain_atomic_write, .section = plain_section,
    .moves = tso_moves, .move = tso_move, .drop = plain_drop, .alone = plain_alone,
    .drain = buffers_drain, .start = plain_start,
    .most_words = buffer_most_words, .pack = buffer_pack, .unpack = buffer_unpack,
    .peek = buffer_peek, .entry = buffer_view,
};
/* clang-format on */
