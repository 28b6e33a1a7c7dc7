/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code as it is written, in bursts: what instructions of a test need in registers is made
 * ready first, then they stand one after the other. So memory operations follow each other as
 * closely as the machine can take them.
 *
 * Registers for operands are taken within a burst and free again after it. Who needs some reserves
 * them first, which may end the burst before.
 *
 * Registers whose contents are to be seen are noted; some bursts end with a fold of those that were
 * (soc_code.h). */
#ifndef HOST_SOC_TEXT_H
#define HOST_SOC_TEXT_H

#include "base/list.h"
#include "rv32.h"

enum { BURST_WORDS = 256, MOST_MARKS = 2 };

struct text_mark { uint32_t at; };  /* a word of the burst and, once that has ended, of the text */

struct soc_text {
    LIST(uint32_t) words;
    LIST(int32_t) origin;       /* of each word */
    int32_t at;                 /* the origin of what is written now */
    uint32_t burst[BURST_WORDS], burst_count;
    int32_t burst_origin[BURST_WORDS];
    uint32_t first_operand, operands, taken; /* registers: the first, how many, so many in use */
    struct text_mark *waits[MOST_MARKS];     /* in the burst */
    LIST(uint32_t) folds;                    /* registers of each, a bit each */
    uint32_t noted;                          /* registers that are not folded yet */
    bool no_folds, inside;                   /* never any; none now: in a transaction */
    uint32_t folds_of_4;                     /* so many bursts of four end with one */
    uint64_t chance;                         /* which ones */
    bool failed;                /* memory is out */
};

/* To the text at once: what an operation of the burst needs, and what is no operation. */
void text_put(struct soc_text *t, uint32_t word);
void text_constant(struct soc_text *t, uint32_t rd, uint32_t value);
/* To the burst: at most 64 words for a reservation. */
void text_add(struct soc_text *t, uint32_t word);
void text_add_constant(struct soc_text *t, uint32_t rd, uint32_t value);
void text_flush(struct soc_text *t); /* ends the burst */

/* What the register holds from now on is to be seen. */
static inline void text_note(struct soc_text *t, uint32_t reg) { t->noted |= UINT32_C(1) << reg; }
/* Ends the burst, and folds what is noted. */
void text_fold(struct soc_text *t);

void text_reserve(struct soc_text *t, uint32_t operands);
static inline uint32_t text_operand(struct soc_text *t)
{
    assert(t->taken < t->operands); /* reserved */
    return t->first_operand + t->taken++;
}

/* Where the next word goes, in words; the burst must have ended. */
static inline uint32_t text_here(const struct soc_text *t) { return (uint32_t)t->words.count; }
/* The branch or jump at a word of the text now goes to another. */
void text_point(struct soc_text *t, uint32_t at, uint32_t to);
static inline int32_t text_distance(uint32_t from, uint32_t to)
{
    return ((int32_t)to - (int32_t)from) * 4;
}

/* Adds a branch or jump whose target is not known yet: after the burst `mark` says where it is. */
void text_add_ahead(struct soc_text *t, uint32_t word, struct text_mark *mark);

void text_free(struct soc_text *t);

#endif
