/* SPDX-License-Identifier: Apache-2.0 */
/* Between a trace and its execution: which operations count, what words they touch, and the
 * events, groups, barriers, dependences and cycles they become (thesis 3.2.3). */
#ifndef ORDEAL_EXPAND_H
#define ORDEAL_EXPAND_H

#include "words.h"

/* An operation with an effect, copied so that a thread's steps lie together. `word` is what an
 * access touches. Of brackets there remain those of committed transactions. */
struct step {
    uint64_t read, write; /* as in struct ordeal_op; of an AMO what it makes of both */
    uint32_t op, word;
    uint8_t kind, flags, size_log2;
    bool writes;                   /* a CAS that did not is a load */
    bool left_out;                 /* not kept: only the registers it wrote matter */
};

struct expansion {
    struct ordeal *o;
    const struct ordeal_trace *t;
    const bool *keep;              /* by operation; NULL: all */
    const bool *finals;            /* by final value of the trace; NULL: all */
    struct execution *x;
    uint8_t part_log2;             /* accesses wider than this are made in parts of this size */

    struct step *step;             /* thread by thread: [first[t], end[t]) */
    uint32_t *first, *end;
    uint32_t threads, steps;

    struct words words;
    uint64_t groups, events;       /* how many there will be; root and initial stores included */
    uint32_t barriers;
};

static inline bool expand_asks_final(const struct expansion *e, size_t k)
{
    return !e->finals || e->finals[k];
}

/* In this order: */
enum ordeal_status expand_select(struct expansion *e);
enum ordeal_status expand_words(struct expansion *e);  /* makes x->location, counts the rest */
enum ordeal_status expand_emit(struct expansion *e);   /* into arrays of x that stand ready */
void expand_free_steps(struct expansion *e);           /* words alone are needed from here on */
void expand_free(struct expansion *e);

#endif
