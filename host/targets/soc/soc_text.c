/* SPDX-License-Identifier: Apache-2.0 */
#include "soc_text.h"

#include <assert.h>

static void push(struct soc_text *t, uint32_t word, int32_t origin)
{
    if (t->failed || !LIST_PUSH(&t->words, word) || !LIST_PUSH(&t->origin, origin))
        t->failed = true;
}

void text_put(struct soc_text *t, uint32_t word) { push(t, word, t->at); }

void text_constant(struct soc_text *t, uint32_t rd, uint32_t value)
{
    uint32_t words[2], count = rv32_constant(rd, value, words);
    for (uint32_t i = 0; i < count; i++)
        text_put(t, words[i]);
}

void text_add(struct soc_text *t, uint32_t word)
{
    assert(t->burst_count < BURST_WORDS);
    t->burst_origin[t->burst_count] = t->at;
    t->burst[t->burst_count++] = word;
}

void text_add_constant(struct soc_text *t, uint32_t rd, uint32_t value)
{
    uint32_t words[2], count = rv32_constant(rd, value, words);
    for (uint32_t i = 0; i < count; i++)
        text_add(t, words[i]);
}

void text_flush(struct soc_text *t)
{
    for (int i = 0; i < MOST_MARKS; i++) {
        if (t->waits[i])
            t->waits[i]->at += text_here(t);
        t->waits[i] = NULL;
    }
    for (uint32_t i = 0; i < t->burst_count; i++)
        push(t, t->burst[i], t->burst_origin[i]);
    t->burst_count = t->taken = 0;
}

void text_reserve(struct soc_text *t, uint32_t operands)
{
    assert(operands <= t->operands);
    if (t->taken + operands > t->operands || t->burst_count + 64 > BURST_WORDS)
        text_flush(t);
}

void text_add_ahead(struct soc_text *t, uint32_t word, struct text_mark *mark)
{
    int i = 0;
    while (i < MOST_MARKS - 1 && t->waits[i])
        i++;
    assert(!t->waits[i]);
    t->waits[i] = mark;
    mark->at = t->burst_count;
    text_add(t, word);
}

void text_point(struct soc_text *t, uint32_t at, uint32_t to)
{
    if (t->failed)
        return;
    uint32_t *word = &t->words.data[at];
    bool jump = (*word & 0x7f) == 0x6f;
    *word |= rv32(jump ? RV_JAL : RV_BEQ, 0, 0, 0, text_distance(at, to))
             & ~UINT32_C(0x7f);                  /* the opcode is there already */
}

void text_free(struct soc_text *t)
{
    LIST_FREE(&t->words);
    LIST_FREE(&t->origin);
}
