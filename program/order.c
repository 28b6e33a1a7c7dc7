/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#include <assert.h>
#include <string.h>

void order_reset(struct order *o)
{
    memset(&o->used, 0, sizeof o->used);
    o->words = 1;
}

void order_copy(struct order *to, const struct order *from)
{
    to->words = from->words;
    to->used = from->used;
    for (uint32_t w = 0; w < from->words; w++)
        for (uint64_t left = from->used.word[w]; left; left &= left - 1) {
            uint32_t slot = w * 64 + (uint32_t)__builtin_ctzll(left);
            memcpy(&to->before[slot], &from->before[slot], from->words * 8);
        }
}

static void widen(struct order *o)
{
    uint32_t old = o->words++;
    for (uint32_t slot = 0; slot < old * 64; slot++)
        o->before[slot].word[old] = 0;
}

uint32_t order_take(struct order *o)
{
    uint32_t w = 0;
    while (w < o->words && !~o->used.word[w])
        w++;
    if (w == ORDER_WORDS)
        return ORDER_NONE;
    if (w == o->words)
        widen(o);
    uint32_t slot = w * 64 + (uint32_t)__builtin_ctzll(~o->used.word[w]);
    set_put(&o->used, slot);
    memset(&o->before[slot], 0, o->words * 8);
    return slot;
}

void order_release(struct order *o, uint32_t slot)
{
    set_take(&o->used, slot);
    for (uint32_t w = 0; w < o->words; w++)
        for (uint64_t left = o->used.word[w]; left; left &= left - 1)
            set_take(&o->before[w * 64 + (uint32_t)__builtin_ctzll(left)], slot);
}

struct slot_set order_empty(void) { return (struct slot_set){ { 0 } }; }

void order_close(const struct order *o, struct slot_set *s, uint32_t slot)
{
    for (uint32_t w = 0; w < o->words; w++)
        s->word[w] |= o->before[slot].word[w];
    set_put(s, slot);
}

bool order_meets(const struct order *o, const struct slot_set *a, const struct slot_set *b)
{
    for (uint32_t w = 0; w < o->words; w++)
        if (a->word[w] & b->word[w])
            return true;
    return false;
}

static void join(const struct order *o, struct slot_set *to, const struct slot_set *from)
{
    for (uint32_t w = 0; w < o->words; w++)
        to->word[w] |= from->word[w];
}

/* The slot itself is none of the set, and precedes none of it. */
static bool may_precede(const struct order *o, const struct slot_set *s, uint32_t slot)
{
    for (uint32_t w = 0; w < o->words; w++)
        for (uint64_t left = s->word[w]; left; left &= left - 1)
            if (order_precedes(o, slot, w * 64 + (uint32_t)__builtin_ctzll(left)))
                return false;
    return !set_has(s, slot);
}

void order_set_before(struct order *o, const struct slot_set *s, uint32_t slot)
{
    assert(may_precede(o, s, slot));
    for (uint32_t w = 0; w < o->words; w++)
        for (uint64_t left = o->used.word[w]; left; left &= left - 1) {
            uint32_t after = w * 64 + (uint32_t)__builtin_ctzll(left);
            if (after == slot || order_precedes(o, slot, after))
                join(o, &o->before[after], s);
        }
}
