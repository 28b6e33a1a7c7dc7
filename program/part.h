/* SPDX-License-Identifier: Apache-2.0 */
/* A row of numbers (of chunks, or of threads) folded into one by pairs: what a packer holds for
 * each part of a state. Number 0 stands for nothing, and a pair of nothings is nothing. */
#ifndef PROGRAM_PART_H
#define PROGRAM_PART_H

#include "pack.h"

enum { PART_LEVELS = 22 };

struct part {
    uint32_t count; /* of the lowest level; the tree is as high as that needs */
    uint32_t most;
    uint32_t *level[PART_LEVELS]; /* level[0] has the numbers, level[n] those of pairs */
    uint32_t *stamp;              /* by place: the pack in which it was noted as changed */
    uint32_t changed[64];         /* places; with more of them the whole tree is done again */
    uint32_t changes;
};

bool part_new(struct part *p, uint32_t most);
void part_free(struct part *p);
/* What lies above the place is to be done again. */
static inline void part_note(struct part *p, uint32_t place)
{
    if (p->changes < 64)
        p->changed[p->changes] = place;
    p->changes++;
}
/* The same, once in a pack, whose number is `now`; false: it was. */
static inline bool part_note_once(struct part *p, uint32_t place, uint32_t now)
{
    if (p->stamp[place] == now)
        return false;
    p->stamp[place] = now;
    part_note(p, place);
    return true;
}
uint32_t part_height(uint32_t count);
static inline uint32_t part_root(const struct part *p)
{
    return p->level[part_height(p->count)][0];
}

#endif
