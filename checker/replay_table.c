/* SPDX-License-Identifier: Apache-2.0 */
/* Stores found by what they wrote. What AMOs write depends on what they read: the words they go to
 * lie at the end of the table, which is filled anew for every execution, with the stores that stand
 * there. */
#include "replay.h"

#include <string.h>

/* The entry of a value: where it is, or would be. */
static uint32_t *entry_of(struct ordeal_replay *r, uint32_t word, uint64_t value)
{
    const struct replay_word *w = &r->word[word];
    uint32_t i = replay_hash(w, value), *entry;
    assert_hot(i <= w->last && w->last < r->table_size - w->first);
    while (*(entry = &r->table[w->first + i]) != NONE && r->value[*entry] != value)
        i = (i + 1) & w->last;
    return entry;
}

/* Enter a store. False: its value is there already, and both are marked in `taken`. */
static bool enter(struct ordeal_replay *r, uint32_t s)
{
    if (r->standing[s] != s)
        return true;
    uint32_t *entry = entry_of(r, r->store[s].word, r->value[s]);
    if (*entry == NONE) {
        *entry = s;
        return true;
    }
    r->taken[s] = r->taken[*entry] = NONE;
    return false;
}

/* Fill the table from `first` on with the stores tabled[begin .. end): a second time without those
 * that write what others write, too, if there are such. */
static void fill(struct ordeal_replay *r, uint32_t first, uint32_t begin, uint32_t end)
{
    size_t bytes = (r->table_size - first) * sizeof *r->table;
    bool apart = true;
    memset(r->table + first, 0xff, bytes);
    for (uint32_t i = begin; i < end; i++)
        apart &= enter(r, r->tabled[i]);
    if (apart)
        return;
    memset(r->table + first, 0xff, bytes);
    for (uint32_t i = begin; i < end; i++)
        if (r->taken[r->tabled[i]] != NONE)
            enter(r, r->tabled[i]);
        else
            r->taken[r->tabled[i]] = 0;
}

/* Room for each word's stores twice, and so never full. */
static void allot_words(struct ordeal_replay *r, bool computed, uint64_t *size)
{
    for (uint32_t l = 0; l < r->words; l++) {
        struct replay_word *w = &r->word[l];
        uint8_t bits = 1;
        if (w->computed != computed)
            continue;
        while (w->last > UINT64_C(1) << (bits - 1))
            bits++;
        w->first = (uint32_t)*size;
        w->last = (UINT32_C(1) << bits) - 1;
        w->shift = (uint8_t)(64 - bits);
        *size += w->last + UINT64_C(1);
    }
}

static enum ordeal_status allot_table(struct ordeal_replay *r)
{
    uint64_t size = 0;
    for (uint32_t s = 0; s < r->stores; s++)
        r->word[r->store[s].word].last++;
    for (uint32_t i = 0; i < r->amo_count; i++)
        r->word[r->store[r->amo[i].store].word].computed = true;
    allot_words(r, false, &size);
    r->table_fixed = (uint32_t)size;
    allot_words(r, true, &size);
    if (size >= SPECIAL)
        return fail(r->o, ORDEAL_LIMIT, "too many stores to replay");
    r->table = mem_array(r->o, size, sizeof *r->table);
    r->table_size = (uint32_t)size;
    return r->table ? ORDEAL_OK : r->o->error.status;
}

enum ordeal_status replay_table_make(struct ordeal_replay *r)
{
    enum ordeal_status status = allot_table(r);
    if (status)
        return status;
    uint32_t fixed = 0, computed = r->stores;
    for (uint32_t s = 0; s < r->stores; s++)
        r->tabled[r->word[r->store[s].word].computed ? --computed : fixed++] = s;
    r->tabled_fixed = fixed;
    fill(r, 0, 0, fixed);
    return ORDEAL_OK;
}

void replay_table_renew(struct ordeal_replay *r)
{
    fill(r, r->table_fixed, r->tabled_fixed, r->stores);
}
