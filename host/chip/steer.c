/* SPDX-License-Identifier: Apache-2.0 */
#include "steer.h"

#include <stdlib.h>
#include <string.h>

#include "targets/soc/rv32.h"
#include "targets/soc/soc_numbers.h"

enum { MSCRATCH = 0x340, T0 = 5, FENCE_ALL = 0x33, FENCE_STORES = 0x11, MOST_OF_PLACE = 12 };

/* All that is wanted of one place on one hart. */
static struct steer_point at_place(const struct steer_point *point, size_t points, size_t first)
{
    struct steer_point p = point[first];
    for (size_t i = first + 1; i < points; i++)
        if (point[i].hart == p.hart && point[i].pc == p.pc) {
            p.pause = p.pause ? p.pause : point[i].pause;
            p.hold = p.hold ? p.hold : point[i].hold;
            p.mfence |= point[i].mfence;
            p.sfence |= point[i].sfence;
        }
    return p;
}

static bool was_before(const struct steer_point *point, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (point[k].hart == point[i].hart && point[k].pc == point[i].pc)
            return true;
    return false;
}

/* A loop; mscratch is the run-time's alone in its traps, and nobody's here. */
static uint32_t put_pause(uint32_t *to, uint16_t rounds)
{
    uint32_t n = rounds < STEER_MOST_PAUSE ? rounds : STEER_MOST_PAUSE;
    if (!n)
        return 0;
    to[0] = rv32(RV_CSRRW, 0, T0, 0, MSCRATCH);
    to[1] = rv32(RV_ADDI, T0, 0, 0, (int32_t)n);
    to[2] = rv32(RV_ADDI, T0, T0, 0, -1);
    to[3] = rv32(RV_BNE, 0, T0, 0, -4);
    to[4] = rv32(RV_CSRRS, T0, 0, 0, MSCRATCH);
    return 5;
}

static uint32_t fence_of_ours(int32_t kind)
{
    return rv32(RV_FENCE, 0, 0, 0, kind) | STEER_FENCE << 20;
}

/* How many words it takes. */
static uint32_t put_place(uint32_t *to, uint32_t at, const struct steer_point *p,
                          uint32_t instruction)
{
    uint32_t n = put_pause(to, p->pause);
    if (p->sfence)
        to[n++] = fence_of_ours(FENCE_STORES);
    if (p->hold)
        to[n++] = SOC_INSN_HOLD
                | (uint32_t)(p->hold < STEER_MOST_HOLD ? p->hold : STEER_MOST_HOLD) << 20;
    to[n++] = instruction;
    if (p->mfence)
        to[n++] = fence_of_ours(FENCE_ALL);
    to[n] = rv32(RV_JAL, 0, 0, 0, (int32_t)(p->pc + 4 - (at + 4 * n)));
    return n + 1;
}

static uint64_t hash_words(uint64_t hash, const uint32_t *word, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        hash = (hash ^ word[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

/* Puts the places of one hart behind its code. Returns where that ends. */
static uint32_t put_hart(uint32_t *code, uint32_t words, uint32_t room, uint32_t hart,
                         const struct steer_point *point, size_t points)
{
    for (size_t i = 0; i < points; i++) {
        if (point[i].hart != hart || point[i].pc / 4 >= words || was_before(point, i))
            continue;
        struct steer_point p = at_place(point, points, i);
        uint32_t next[MOST_OF_PLACE], at = p.pc / 4;
        uint32_t n = put_place(next, 4 * words, &p, code[at]);
        if (words + n > room)
            return 0;
        memcpy(code + words, next, n * sizeof *code);
        code[at] = rv32(RV_JAL, 0, 0, 0, (int32_t)(4 * words - p.pc));
        words += n;
    }
    return words;
}

bool steer_code(struct steered *s, const uint32_t *code, uint32_t words, uint32_t most_words,
                uint32_t harts, const struct steer_point *point, size_t points)
{
    *s = (struct steered){ .words = words, .identity = UINT64_C(0xcbf29ce484222325) };
    for (uint32_t h = 0; h < harts; h++) {
        s->code[h] = calloc(most_words + 1, sizeof *s->code[h]);
        if (!s->code[h])
            return false;
        memcpy(s->code[h], code, words * sizeof *code);
        uint32_t end = put_hart(s->code[h], words, most_words, h, point, points);
        if (!end)
            return false;
        s->words = end > s->words ? end : s->words;
    }
    for (uint32_t h = 0; h < harts; h++)
        s->identity = hash_words(s->identity, s->code[h], s->words);
    s->identity |= 1;
    return true;
}

void steered_free(struct steered *s)
{
    for (uint32_t h = 0; h < STEER_HARTS; h++)
        free(s->code[h]);
    *s = (struct steered){ .words = 0 };
}
