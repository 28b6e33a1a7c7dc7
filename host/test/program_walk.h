/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a thread through its code in one iteration: round its loops, and at branches as the
 * LFSR says. */
#ifndef HOST_PROGRAM_WALK_H
#define HOST_PROGRAM_WALK_H

#include <assert.h>

#include "lfsr.h"
#include "program.h"

struct walker {
    const struct program_thread *thread;
    uint32_t at, round, lfsr;
};

static inline struct walker program_walk(const struct program *p, uint32_t thread,
                                         uint64_t iteration)
{
    const struct program_thread *t = &p->thread[thread];
    return (struct walker){ .thread = t, .lfsr = lfsr_start(p->seed, t->number, iteration) };
}

/* The next instruction that is not about the way; NULL at the end. */
static inline const struct instruction *program_step(struct walker *w)
{
    while (w->at < w->thread->length) {
        const struct instruction *code = w->thread->code, *i = &code[w->at++];
        assert(i->match < w->thread->length);
        switch (i->kind) {
        case ORDEAL_LOOP_BEGIN:
            w->round = 0;
            break;
        case ORDEAL_LOOP_END:
            if (++w->round < code[i->match].count)
                w->at = i->match + 1;
            break;
        case ORDEAL_BRANCH_BEGIN:
            if (!lfsr_step(&w->lfsr))
                w->at = i->match + 1;
            break;
        case ORDEAL_BRANCH_ELSE:
            w->at = i->match + 1;
            break;
        case ORDEAL_BRANCH_END:
            break;
        default:
            return i;
        }
    }
    return NULL;
}

#endif
