/* SPDX-License-Identifier: Apache-2.0 */
/* Reverse unit propagation: does a clause follow from the clauses before it?
 *
 * A clause follows when setting all its literals false, and then whatever the other clauses force,
 * ends in a contradiction. Clauses are only ever added; each is found through two of its literals
 * that are not false, so that a step costs what it touches. Literal 2v is variable v, 2v + 1 its
 * negation. */
#ifndef ORDEAL_RUP_H
#define ORDEAL_RUP_H

#include "context.h"

struct rup_clause { uint32_t first, count, next[2]; };

struct rup {
    struct ordeal *o;
    uint32_t variables;
    int8_t *value;                  /* by literal: 1 true, -1 false, 0 open */
    uint32_t *watchers;             /* by literal: clause * 2 + which of its first two, or NONE */
    uint32_t *rival;                /* by variable: circle of those of which only one can be true */
    uint32_t *trail;                /* true literals, in the order they became so */
    size_t trail_count, propagated;
    VEC(struct rup_clause) clauses;
    VEC(uint32_t) literals;         /* of all clauses; the watched ones first in each */
    bool refuted;                   /* the clauses contradict each other */
};

/* False: out of memory; then rup_free as ever. */
bool rup_init(struct rup *r, struct ordeal *o, uint32_t variables);
void rup_free(struct rup *r);
/* From now on at most one of the two variables' circles is true. */
void rup_rivals(struct rup *r, uint32_t a, uint32_t b);
/* Add a clause without repetitions, and all that it forces. False: out of memory. */
bool rup_add(struct rup *r, const uint32_t *literals, size_t count);
bool rup_follows(struct rup *r, const uint32_t *literals, size_t count);
/* The clauses so far force this literal. */
static inline bool rup_forced(const struct rup *r, uint32_t literal)
{
    return r->value[literal] > 0;
}

#endif
