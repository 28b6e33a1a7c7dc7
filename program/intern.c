/* SPDX-License-Identifier: Apache-2.0 */
#include "intern.h"

#include <assert.h>
#include <string.h>

#include "reserve.h"

static uint32_t bits_for(uint64_t n)
{
    uint32_t bits = 1;
    while (n >> bits)
        bits++;
    return bits;
}

bool intern_new(struct intern *t, uint32_t entry_bytes, uint32_t slots, uint64_t most, bool shared)
{
    *t = (struct intern){ .entry_bytes = entry_bytes, .slots = slots, .most = most };
    t->block = shared ? INTERN_BLOCK : 1;
    t->number_bits = bits_for(slots);
    t->index = reserve((size_t)slots * 4);
    while (!(t->entries = reserve((size_t)t->most * entry_bytes)) && t->most > 1 << 16)
        t->most /= 2; /* better less than nothing */
    atomic_store(&t->count, 1);
    if (t->index && t->entries)
        return true;
    intern_free(t);
    return false;
}

void intern_free(struct intern *t)
{
    reserve_free((void *)t->index, (size_t)t->slots * 4);
    reserve_free(t->entries, (size_t)t->most * t->entry_bytes);
    t->index = NULL;
    t->entries = NULL;
}

uint64_t intern_hash(const void *entry, uint32_t bytes)
{
    const uint64_t *w = entry;
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < bytes / 8; i++) {
        h = (h ^ w[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

static uint32_t place_of(const struct intern *t, uint64_t hash)
{
    return (uint32_t)((hash >> 32) * t->slots >> 32);
}

static uint32_t tag_of(const struct intern *t, uint64_t hash)
{
    return (uint32_t)hash << t->number_bits; /* 0 if all bits are the number's */
}

/* A number for a new entry, which it keeps until it is used. */
static uint32_t take_number(struct intern *t, struct intern_cursor *c)
{
    if (c->next == c->end) {
        c->next = atomic_fetch_add_explicit(&t->count, t->block, memory_order_relaxed);
        c->end = c->next + t->block;
    }
    return c->next;
}

static bool same(const struct intern *t, uint32_t number, const void *entry)
{
    if (t->entry_bytes == 8)
        return *(const uint64_t *)intern_get(t, number) == *(const uint64_t *)entry;
    return !memcmp(intern_get(t, number), entry, t->entry_bytes);
}

static bool is_full(const struct intern *t)
{
    uint64_t count = atomic_load_explicit(&t->count, memory_order_relaxed);
    return count + 2 * t->block > t->slots - t->slots / 32 || count + 2 * t->block > t->most;
}

uint32_t intern_add(struct intern *t, struct intern_cursor *c, const void *entry, uint64_t hash,
                    bool *is_new)
{
    uint32_t number_mask = (uint32_t)((1ull << t->number_bits) - 1), tag = tag_of(t, hash);
    *is_new = false;
    for (uint32_t at = place_of(t, hash);; at = at + 1 == t->slots ? 0 : at + 1) {
        uint32_t slot = atomic_load_explicit(&t->index[at], memory_order_acquire);
        if (!slot) {
            if (is_full(t))
                return INTERN_FULL;
            uint32_t number = take_number(t, c);
            memcpy(t->entries + (size_t)number * t->entry_bytes, entry, t->entry_bytes);
            if (atomic_compare_exchange_strong_explicit(&t->index[at], &slot, tag | number,
                                                        memory_order_release,
                                                        memory_order_acquire)) {
                c->next++;
                *is_new = true;
                return number;
            }
            memset(t->entries + (size_t)number * t->entry_bytes, 0, t->entry_bytes);
        }
        if ((slot & ~number_mask) == tag && same(t, slot & number_mask, entry))
            return slot & number_mask;
    }
}

bool intern_wants_to_grow(const struct intern *t)
{
    uint64_t count = atomic_load_explicit(&t->count, memory_order_relaxed);
    return count > t->slots - t->slots / 7 || count + 4 * t->block > t->most;
}

/* Puts an entry that is there into an index that nobody else uses. */
static void put_back(struct intern *t, uint32_t number)
{
    uint64_t hash = intern_hash(intern_get(t, number), t->entry_bytes);
    uint32_t at = place_of(t, hash);
    while (atomic_load_explicit(&t->index[at], memory_order_relaxed))
        at = at + 1 == t->slots ? 0 : at + 1;
    atomic_store_explicit(&t->index[at], tag_of(t, hash) | number, memory_order_relaxed);
}

static bool is_used(const struct intern *t, uint32_t number)
{
    const uint8_t *entry = intern_get(t, number);
    for (uint32_t i = 0; i < t->entry_bytes; i++)
        if (entry[i])
            return true;
    return false;
}

bool intern_restore(struct intern *t, uint32_t count)
{
    uint64_t slots = t->slots;
    while (slots - slots / 7 <= count + 4 * INTERN_BLOCK)
        slots += slots / 2;
    _Atomic uint32_t *index = reserve((size_t)slots * 4);
    if (!index)
        return false;
    reserve_free((void *)t->index, (size_t)t->slots * 4);
    t->index = index;
    t->slots = (uint32_t)slots;
    t->number_bits = bits_for(slots);
    atomic_store(&t->count, count);
    for (uint32_t n = 1; n < count; n++)
        if (is_used(t, n))
            put_back(t, n);
    return true;
}

bool intern_grow(struct intern *t)
{
    uint64_t slots = t->slots + (uint64_t)t->slots / (t->slots < 1u << 20 ? 2 : 4);
    if (atomic_load(&t->count) + 4 * t->block > t->most)
        return false;
    if (slots > 0x78000000u)
        return false;
    _Atomic uint32_t *old = t->index, *index = reserve((size_t)slots * 4);
    uint32_t old_slots = t->slots, mask = (uint32_t)((1ull << t->number_bits) - 1);
    if (!index)
        return false;
    t->index = index;
    t->slots = (uint32_t)slots;
    t->number_bits = bits_for(slots);
    for (uint32_t i = 0; i < old_slots; i++) {
        uint32_t slot = atomic_load_explicit(&old[i], memory_order_relaxed);
        if (slot)
            put_back(t, slot & mask);
    }
    reserve_free((void *)old, (size_t)old_slots * 4);
    return true;
}

size_t intern_bytes(const struct intern *t)
{
    return (size_t)t->slots * 4 + (size_t)atomic_load(&t->count) * t->entry_bytes;
}
