/* SPDX-License-Identifier: Apache-2.0 */
/* Sequential consistency: every access is to memory, at once. */
#include <stdlib.h>

#include "memory_model.h"

static void *sc_make(const struct state *s)
{
    (void)s;
    return malloc(1);
}

static void sc_copy(const struct state *s, void *to, const void *from)
{
    (void)s, (void)to, (void)from;
}

static void sc_reset(struct state *s) { (void)s; }

static enum readiness sc_look(const struct state *s, const struct access *a)
{
    (void)s;
    return a->kind == ACCESS_FENCE ? READY_QUIET : READY;
}

static uint32_t sc_load(struct state *s, const struct access *a)
{
    return state_get(state_peek(s, a->address, a->size, false), a->size);
}

static void sc_store(struct state *s, const struct access *a, uint32_t value)
{
    state_put(s, state_peek(s, a->address, a->size, true), a->size, value);
}

static void sc_fence(struct state *s, const struct access *a) { (void)s, (void)a; }
static void sc_section(struct state *s, uint32_t t, bool begins) { (void)s, (void)t, (void)begins; }

static uint32_t sc_moves(const struct state *s, uint32_t t)
{
    (void)s, (void)t;
    return 0;
}

static void sc_move(struct state *s, uint32_t t, uint32_t k) { (void)s, (void)t, (void)k; }

static void sc_drop(struct state *s, uint32_t t, uint32_t from, uint32_t to)
{
    (void)s, (void)t, (void)from, (void)to;
}

static bool sc_alone(struct state *s, uint32_t t)
{
    (void)s, (void)t;
    return true;
}

static void sc_start(struct state *s, uint32_t t) { (void)s, (void)t; }

static uint32_t sc_most_words(const struct state *s)
{
    (void)s;
    return 0;
}

static uint32_t sc_pack(const struct state *s, uint32_t part, uint32_t *words)
{
    (void)s, (void)part, (void)words;
    return 0;
}

static void sc_unpack(struct state *s, uint32_t part, const uint32_t *words, uint32_t count)
{
    (void)s, (void)part, (void)words, (void)count;
}

static uint8_t sc_peek(const struct state *s, uint32_t t, uint32_t address)
{
    (void)t;
    const uint8_t *place = state_peek(s, address, 1, false);
    return place ? *place : 0;
}

static bool sc_entry(const struct state *s, uint32_t t, size_t k, struct explore_entry *entry)
{
    (void)s, (void)t, (void)k, (void)entry;
    return false;
}

/* clang-format off */
const struct memory_model sc_model = {
    .make = sc_make, .drop_made = free, .copy = sc_copy, .reset = sc_reset,
    .look = sc_look, .load = sc_load, .store = sc_store, .fence = sc_fence,
    .atomic_read = sc_load, .atomic_write = sc_store, .section = sc_section,
    .moves = sc_moves, .move = sc_move, .drop = sc_drop, .alone = sc_alone, .drain = sc_reset,
    .start = sc_start, .most_words = sc_most_words, .pack = sc_pack, .unpack = sc_unpack,
    .peek = sc_peek, .entry = sc_entry,
};
/* clang-format on */
