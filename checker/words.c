/* SPDX-License-Identifier: Apache-2.0 */
/* Words are entered through a hash; to divide them they are sorted, and each outermost one is
 * halved for as long as something smaller is inside. */
#include "words.h"

static size_t slot_of(const struct words *w, uint32_t base, uint64_t address, uint8_t size_log2)
{
    uint64_t hash = (address + size_log2 + base * 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
    assert_hot(w->table_size > w->list.count && !(w->table_size & (w->table_size - 1)));
    size_t mask = w->table_size - 1, slot = hash >> 32 & mask;
    for (; w->table[slot]; slot = (slot + 1) & mask) {
        const struct word *is = &w->list.data[w->table[slot] - 1];
        if (is->address == address && is->base == base && is->size_log2 == size_log2)
            break;
    }
    return slot;
}

static bool grow_table(struct ordeal *o, struct words *w)
{
    size_t size = w->table_size ? 2 * w->table_size : 64;
    uint32_t *fresh = mem_zero(o, size, sizeof *fresh);
    if (!fresh)
        return false;
    mem_free(o, w->table, w->table_size * sizeof *w->table);
    w->table = fresh;
    w->table_size = size;
    for (size_t i = 0; i < w->list.count; i++) {
        const struct word *is = &w->list.data[i];
        w->table[slot_of(w, is->base, is->address, is->size_log2)] = (uint32_t)i + 1;
    }
    return true;
}

uint32_t words_enter(struct ordeal *o, struct words *w, uint32_t base, uint64_t address,
                     uint8_t size_log2)
{
    if (2 * w->list.count >= w->table_size && !grow_table(o, w))
        return NONE;
    size_t slot = slot_of(w, base, address, size_log2);
    if (!w->table[slot]) {
        struct word fresh = { .base = base, .size_log2 = size_log2, .address = address };
        if (!VEC_PUSH(o, &w->list, fresh))
            return NONE;
        w->table[slot] = (uint32_t)w->list.count;
    }
    return w->table[slot] - 1;
}

uint32_t words_find(const struct words *w, uint32_t base, uint64_t address, uint8_t size_log2)
{
    return w->table_size ? w->table[slot_of(w, base, address, size_log2)] - 1 : NONE;
}

/* What words are sorted by: base, address, and the wider first, so that an outer word comes right
 * before those inside it. */
struct key { uint64_t address; uint32_t base, word; uint8_t size_log2; };

static bool precedes(const struct key *a, const struct key *b)
{
    if (a->base != b->base)
        return a->base < b->base;
    if (a->address != b->address)
        return a->address < b->address;
    return a->size_log2 > b->size_log2;
}

static void merge(const struct key *from, struct key *to, size_t low, size_t middle, size_t high)
{
    size_t a = low, b = middle;
    for (size_t k = low; k < high; k++)
        to[k] = a < middle && (b == high || !precedes(&from[b], &from[a])) ? from[a++] : from[b++];
}

/* Merge sort; the result is in `a` or in `b`, whichever is returned. */
static struct key *sort(struct key *a, struct key *b, size_t count)
{
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t low = 0; low < count; low += 2 * run) {
            size_t middle = low + run < count ? low + run : count;
            size_t high = middle + run < count ? middle + run : count;
            merge(a, b, low, middle, high);
        }
        struct key *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

static void check_sorted(const struct key *key, size_t count)
{
    for (size_t i = 1; i < count; i++)
        assert(precedes(&key[i - 1], &key[i])); /* none is there twice */
}

struct division {
    struct ordeal *o;
    struct word *word;
    const struct key *key;             /* sorted */
    uint8_t part_log2;
    VEC(struct location) locations;
};

/* What holds for a block because of the words around it. */
struct surrounding { bool accessed, divided; };

static bool ascends(const struct division *d, uint32_t base, uint64_t address)
{
    if (d->locations.count == 0)
        return true;
    struct location last = d->locations.data[d->locations.count - 1];
    return last.base < base || (last.base == base && last.address < address);
}

static bool emit(struct division *d, uint32_t base, uint64_t address, uint8_t size_log2)
{
    struct location fresh = { .base = base, .size_log2 = size_log2, .address = address };
    assert(ascends(d, base, address));
    return VEC_PUSH(d->o, &d->locations, fresh);
}

/* Divide one aligned block; the words of keys [low, high) are those inside it. */
static bool divide(struct division *d, size_t low, size_t high, uint32_t base, uint64_t address,
                   uint8_t size_log2, struct surrounding around)
{
    struct word *self = NULL;
    size_t first = d->locations.count;
    assert(low == high || (d->key[low].base == base && d->key[low].address >= address
                           && d->key[low].size_log2 <= size_log2));
    if (low < high && d->key[low].size_log2 == size_log2) {
        self = &d->word[d->key[low++].word];
        around.accessed |= self->accessed;
        around.divided |= self->divided;
    }
    uint8_t widest = around.divided && d->part_log2 < 3 ? d->part_log2 : 3;
    if (low < high || (around.accessed && size_log2 > widest)) {
        assert(size_log2 > 0); /* a byte has nothing inside */
        uint64_t half = address + (UINT64_C(1) << (size_log2 - 1));
        size_t middle = low;
        while (middle < high && d->key[middle].address < half)
            middle++;
        if (!divide(d, low, middle, base, address, size_log2 - 1, around)
            || !divide(d, middle, high, base, half, size_log2 - 1, around))
            return false;
    } else if (around.accessed && !emit(d, base, address, size_log2)) {
        return false;
    }
    if (self) {
        self->first = (uint32_t)first;
        self->count = (uint32_t)(d->locations.count - first);
    }
    return true;
}

static bool inside(const struct key *inner, const struct key *outer)
{
    return inner->base == outer->base
        && inner->address - outer->address < UINT64_C(1) << outer->size_log2;
}

static bool divide_all(struct division *d, size_t keys)
{
    for (size_t low = 0, high; low < keys; low = high) {
        const struct key *outer = &d->key[low];
        for (high = low + 1; high < keys && inside(&d->key[high], outer); high++)
            ;
        if (!divide(d, low, high, outer->base, outer->address, outer->size_log2,
                    (struct surrounding){ false, false }))
            return false;
    }
    return true;
}

enum ordeal_status words_divide(struct ordeal *o, struct words *w, uint8_t part_log2,
                                struct location **location, uint32_t *locations)
{
    size_t words = w->list.count, bytes = words * sizeof(struct key), count = 0;
    struct division d = { .o = o, .word = w->list.data, .part_log2 = part_log2 };
    struct key *a = mem_array(o, words, sizeof *a), *b = mem_array(o, words, sizeof *b);
    bool done = a && b;
    if (done) {
        for (size_t i = 0; i < words; i++) {
            const struct word *is = &w->list.data[i];
            if (is->counts)
                a[count++] = (struct key){ is->address, is->base, (uint32_t)i, is->size_log2 };
        }
        d.key = sort(a, b, count);
        check_hot(check_sorted(d.key, count));
        done = divide_all(&d, count);
    }
    mem_free(o, a, bytes);
    mem_free(o, b, bytes);
    done = done && VEC_FIT(o, &d.locations);
    if (!done) {
        VEC_FREE(o, &d.locations);
        return o->error.status;
    }
    *location = d.locations.data;
    *locations = (uint32_t)d.locations.count;
    return ORDEAL_OK;
}

void words_free(struct ordeal *o, struct words *w)
{
    VEC_FREE(o, &w->list);
    mem_free(o, w->table, w->table_size * sizeof *w->table);
    *w = (struct words){ 0 };
}
