/* SPDX-License-Identifier: Apache-2.0 */
/* The axioms of the models, evaluated word for word over one total order: every quantifier is a
 * loop. Written from thesis 2.2, 2.4 and 5.3 alone; for executions of a few operations. */
#ifndef TESTS_AXIOMS_H
#define TESTS_AXIOMS_H

#include "execution.h"

/* `order` has every place exactly once. */
bool axioms_hold(const struct execution *x, enum ordeal_model m, bool time_order,
                 const struct ordeal_place *order, size_t count);

/* The statement of a proof's literal in that order (which must be legal). */
bool axioms_literal(const struct execution *x, enum ordeal_model m,
                    const struct ordeal_place *order, size_t count,
                    const struct ordeal_literal *literal);

/* Is `a` performed in view p before `b` in view q? Views count under PC alone, and a load has one;
 * there must be such copies, see axioms_lands. */
bool axioms_before(const struct execution *x, enum ordeal_model m,
                   const struct ordeal_place *order, size_t count, uint32_t a, uint32_t p,
                   uint32_t b, uint32_t q);
bool axioms_lands(const struct execution *x, enum ordeal_model m, uint32_t event, uint32_t view);
/* Does an axiom keep the program order from `a` to `b`? */
bool axioms_keep(const struct execution *x, enum ordeal_model m, uint32_t a, uint32_t b);

/* The places an order must have, in some sequence; returns their number. */
size_t axioms_places(const struct execution *x, enum ordeal_model m, struct ordeal_place *places,
                     size_t capacity);

#endif
