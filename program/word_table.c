/* SPDX-License-Identifier: Apache-2.0 */
#include "word_table.h"

#include <stdlib.h>
#include <string.h>

_Thread_local jmp_buf *words_without_memory;

void *words_resize(void *old, size_t bytes)
{
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p && words_without_memory)
        longjmp(*words_without_memory, 1);
    if (!p)
        abort();
    return p;
}

void *words_room(void *items, size_t count, size_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity ? 2 * *capacity : 16;
    return words_resize(items, *capacity * bytes);
}

uint64_t words_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

void word_table_new(struct word_table *t)
{
    *t = (struct word_table){ .slots = 1024 };
    t->slot = words_resize(NULL, t->slots * sizeof *t->slot);
    memset(t->slot, 0, t->slots * sizeof *t->slot);
}

void word_table_free(struct word_table *t)
{
    for (size_t k = 0; k < t->count; k++)
        free(t->word[k]);
    free(t->word);
    free(t->slot);
}

static size_t slot_of(const struct word_table *t, const uint32_t *words, uint32_t count)
{
    uint64_t h = count;
    for (uint32_t i = 0; i < count; i++)
        h = words_mix(h, words[i]);
    size_t i = (size_t)h & (t->slots - 1);
    for (; t->slot[i]; i = (i + 1) & (t->slots - 1)) {
        const uint32_t *other = t->word[t->slot[i] - 1];
        if (other[0] == count && !memcmp(other + 1, words, count * sizeof *words))
            break;
    }
    return i;
}

static void grow(struct word_table *t)
{
    t->slots *= 2;
    t->slot = words_resize(t->slot, t->slots * sizeof *t->slot);
    memset(t->slot, 0, t->slots * sizeof *t->slot);
    for (size_t k = 0; k < t->count; k++)
        t->slot[slot_of(t, t->word[k] + 1, t->word[k][0])] = (uint32_t)k + 1;
}

uint32_t word_table_add(struct word_table *t, const uint32_t *words, uint32_t count)
{
    size_t i = slot_of(t, words, count);
    if (t->slot[i])
        return t->slot[i] - 1;
    uint32_t *kept = words_resize(NULL, (1 + (size_t)count) * sizeof *kept);
    kept[0] = count;
    if (count)
        memcpy(kept + 1, words, count * sizeof *kept);
    t->word = words_room(t->word, t->count, &t->capacity, sizeof *t->word);
    t->word[t->count++] = kept;
    t->slot[i] = (uint32_t)t->count;
    t->bytes += (1 + (size_t)count) * sizeof *kept;
    if (2 * t->count > t->slots)
        grow(t);
    return (uint32_t)t->count - 1;
}
