/* SPDX-License-Identifier: Apache-2.0 */
#include "soc_text.h"

#include "base/random.h"
#include "soc_code.h"

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

static uint32_t operand_mask(const struct soc_text *t)
{
    return (uint32_t)(((UINT64_C(1) << t->operands) - 1) << t->first_operand);
}

/* Two operands that are free at the end of a burst: the fold, which begins as its name, and to
 * multiply it by 33. */
static void put_fold(struct soc_text *t)
{
    uint32_t fold = t->first_operand, x = fold + 1, number = (uint32_t)t->folds.count;
    uint32_t registers = t->noted & ~(UINT32_C(3) << fold);
    if (t->no_folds || t->inside || !registers || number == SOC_MOST_FOLDS)
        return;
    if (!LIST_PUSH(&t->folds, registers))
        t->failed = true;
    text_put(t, rv32(RV_ADDI, fold, 0, 0, (int32_t)(SOC_FIRST_FOLD + number)));
    text_put(t, rv32(RV_CSRRW, 0, fold, 0, SOC_CSR_MARK));
    for (uint32_t r = 1; r < 32; r++) {
        if (!(registers >> r & 1))
            continue;
        text_put(t, rv32(RV_SLLI, x, fold, 0, 5));
        text_put(t, rv32(RV_ADD, fold, fold, x, 0));
        text_put(t, rv32(RV_ADD, fold, fold, r, 0));
    }
    text_put(t, rv32(RV_CSRRW, 0, fold, 0, SOC_CSR_MARK));
    t->noted = 0;
}

static void end_burst(struct soc_text *t)
{
    assert(t->failed || t->words.count == t->origin.count);
    for (int i = 0; i < MOST_MARKS; i++) {
        assert(!t->waits[i] || t->waits[i]->at < t->burst_count);
        if (t->waits[i])
            t->waits[i]->at += text_here(t);
        t->waits[i] = NULL;
    }
    for (uint32_t i = 0; i < t->burst_count; i++)
        push(t, t->burst[i], t->burst_origin[i]);
    t->burst_count = t->taken = 0;
}

void text_flush(struct soc_text *t)
{
    bool folds = t->burst_count && (random_mix(&t->chance) & 3) < t->folds_of_4;
    end_burst(t);
    if (folds)
        put_fold(t);
    t->noted &= ~operand_mask(t); /* they are free now */
}

void text_fold(struct soc_text *t)
{
    end_burst(t);
    put_fold(t);
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
    assert(at < text_here(t) && to <= text_here(t) && t->burst_count == 0);
    uint32_t *word = &t->words.data[at];
    bool jump = (*word & 0x7f) == 0x6f;
    *word |= rv32(jump ? RV_JAL : RV_BEQ, 0, 0, 0, text_distance(at, to))
             & ~UINT32_C(0x7f);                  /* the opcode is there already */
}

void text_free(struct soc_text *t)
{
    LIST_FREE(&t->words);
    LIST_FREE(&t->origin);
    LIST_FREE(&t->folds);
}
