/* SPDX-License-Identifier: Apache-2.0 */
#include "soc_final.h"

#include <assert.h>
#include <stdlib.h>

/* To ask once more takes as long as so many words do. */
enum { WORTH = 64, FINAL_WORDS = FINAL_BYTES / 4 };

struct placed {
    uint32_t offset, final;
};

static int by_offset(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The place of the next final among the words, in a piece of its own if the last one is far. */
static bool add(struct soc_final *f, uint32_t offset, uint32_t *words, uint32_t *place)
{
    struct soc_final_piece *last = f->pieces.count ? &f->pieces.data[f->pieces.count - 1] : NULL;
    uint32_t gap = last ? (offset - last->offset) / 4 - last->words : 0;
    if (!last || gap > WORTH) {
        *place = *words;
        *words += FINAL_WORDS;
        return LIST_PUSH(&f->pieces, ((struct soc_final_piece){ offset, FINAL_WORDS }));
    }
    *place = *words + gap;
    *words += gap + FINAL_WORDS;
    last->words += gap + FINAL_WORDS;
    return true;
}

bool soc_final_plan(struct soc_final *f, const struct program *p)
{
    struct placed *placed = malloc((p->finals + 1) * sizeof *placed);
    uint32_t words = 0;
    soc_final_free(f);
    f->place = malloc((p->finals + 1) * sizeof *f->place);
    bool good = placed && f->place;
    for (uint32_t k = 0; good && k < p->finals; k++) {
        const struct program_final *at = &p->final[k];
        placed[k] = (struct placed){ (uint32_t)p->line[at->line].place + at->offset, k };
    }
    if (good)
        qsort(placed, p->finals, sizeof *placed, by_offset);
    for (uint32_t k = 0; good && k < p->finals; k++)
        good = add(f, placed[k].offset, &words, &f->place[placed[k].final]);
    free(placed);
    f->words = good ? calloc((size_t)words + 1, sizeof *f->words) : NULL;
    return f->words != NULL;
}

bool soc_final_read(struct soc_final *f, const struct program *p, const struct soc_interface *soc,
                    struct soc *s, uint64_t *values)
{
    uint32_t *words = f->words;
    for (size_t i = 0; i < f->pieces.count; i++) {
        const struct soc_final_piece *piece = &f->pieces.data[i];
        if (!soc->read_memory(s, piece->offset, words, piece->words))
            return false;
        words += piece->words;
    }
    for (uint32_t k = 0; k < p->finals; k++) {
        const uint32_t *at = &f->words[f->place[k]];
        assert(at + FINAL_WORDS <= words);
        values[k] = at[0] | (uint64_t)at[1] << 32;
    }
    return true;
}

void soc_final_free(struct soc_final *f)
{
    LIST_FREE(&f->pieces);
    free(f->words);
    free(f->place);
    *f = (struct soc_final){ 0 };
}
