/* SPDX-License-Identifier: Apache-2.0 */
/* A strict partial order, transitively closed, over up to 1024 slots: which entries of buffers
 * reach memory before which others. */
#ifndef PROGRAM_ORDER_H
#define PROGRAM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { ORDER_SLOTS = 1024, ORDER_WORDS = ORDER_SLOTS / 64, ORDER_NONE = 0xffff };

struct slot_set {
    uint64_t word[ORDER_WORDS];
};

struct order {
    uint32_t words; /* of sets; those behind are not looked at */
    struct slot_set used;
    struct slot_set before[ORDER_SLOTS]; /* the slots that precede each one */
};

static inline bool set_has(const struct slot_set *s, uint32_t slot)
{
    return s->word[slot / 64] >> slot % 64 & 1;
}
static inline void set_put(struct slot_set *s, uint32_t slot)
{
    s->word[slot / 64] |= 1ull << slot % 64;
}
static inline void set_take(struct slot_set *s, uint32_t slot)
{
    s->word[slot / 64] &= ~(1ull << slot % 64);
}

void order_reset(struct order *o);
void order_copy(struct order *to, const struct order *from);
/* A free slot, which nothing precedes; ORDER_NONE: there is none. */
uint32_t order_take(struct order *o);
void order_release(struct order *o, uint32_t slot);
struct slot_set order_empty(void);
/* Adds a slot and all that precede it. */
void order_close(const struct order *o, struct slot_set *s, uint32_t slot);
bool order_meets(const struct order *o, const struct slot_set *a, const struct slot_set *b);
static inline bool order_precedes(const struct order *o, uint32_t a, uint32_t b)
{
    return set_has(&o->before[b], a);
}
/* All of a set that has what precedes its members comes before `slot`, which is none of them. */
void order_set_before(struct order *o, const struct slot_set *s, uint32_t slot);

#endif
