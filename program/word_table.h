/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of words, each of which is kept once and has a number, from 0 in the order in which they came.
 * Where there is no memory, words_without_memory says where it goes on. */
#ifndef PROGRAM_WORD_TABLE_H
#define PROGRAM_WORD_TABLE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct word_table {
    uint32_t **word; /* by number: how many, and they */
    size_t count, capacity;
    uint32_t *slot; /* by hash: number + 1 */
    size_t slots;
    size_t bytes;
};

void word_table_new(struct word_table *t);
void word_table_free(struct word_table *t);
uint32_t word_table_add(struct word_table *t, const uint32_t *words, uint32_t count);
static inline const uint32_t *word_table_get(const struct word_table *t, uint32_t number,
                                             uint32_t *count)
{
    *count = t->word[number][0];
    return t->word[number] + 1;
}

/* Of this thread: who has no use for a search that is not complete waits there, and gives up what it had;
 * NULL: nobody does, and the process ends. */
extern _Thread_local jmp_buf *words_without_memory;

/* realloc() that does not return where it fails, and the same for one more of `bytes`. */
void *words_resize(void *old, size_t bytes);
void *words_room(void *items, size_t count, size_t *capacity, size_t bytes);
uint64_t words_mix(uint64_t hash, uint64_t value);

#endif
