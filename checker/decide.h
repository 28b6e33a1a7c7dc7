/* SPDX-License-Identifier: Apache-2.0 */
/* The complete decision: an order that obeys the model, or a log that refutes all of them.
 *
 * The weave does nearly all of it. What it cannot settle goes through a SAT solver: the clauses
 * learnt so far in, an assignment out, which the weave then takes for granted; and so on until it
 * finds an order or no assignment is left. Loads with several candidates are settled the same
 * way: the solver picks what each of them saw. */
#ifndef ORDEAL_DECIDE_H
#define ORDEAL_DECIDE_H

#include "weave.h"

struct decision {
    enum ordeal_result result;       /* PASS or FAIL */
    VEC(uint32_t) order;             /* PASS: nodes */
    uint32_t *source;                /* by event; what the loads are taken to have seen */
    struct weave_log log;            /* FAIL: the last knot is the contradiction */
    struct weave_stats stats;
    uint64_t clauses;                /* that the solver was given */
};

/* seed: 0, or see weave.h. */
enum ordeal_status decide(const struct graph *g, uint64_t seed, struct decision *d);
void decision_free(const struct graph *g, struct decision *d);

#endif
