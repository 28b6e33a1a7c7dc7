/* SPDX-License-Identifier: Apache-2.0 */
/* The search by states: the machine of the model does the execution again, by values alone.
 *
 * A load is done as soon as its value is there, which takes nothing from anybody; what is decided
 * is which store or atomic access reaches memory next. It does not matter which store put a value
 * there, so this is for executions whose values repeat. States from which nothing leads to the end
 * are kept, and met once. The machines are those of SC, TSO and PSO: what they can do a weaker
 * model's can, too.
 */
#ifndef ORDEAL_STATES_H
#define ORDEAL_STATES_H

#include "execution.h"

enum states_outcome {
    STATES_ORDER,     /* `order` is a legal total order */
    STATES_EXHAUSTED, /* no way leads to the end */
    STATES_BUDGET,    /* none was found */
};

struct states {
    const struct execution *x;
    enum ordeal_model model;
    uint64_t budget; /* stores and atomic accesses performed */
    uint64_t seed;   /* 0: no chance */
    uint32_t urge;   /* how much to do first what those wait for that have come least far */
    uint64_t performed, kept; /* out: of these, and the states kept */
    VEC(uint32_t) order;      /* out: groups */
};

/* There is a machine for this. *exact: it is the model's own, so that exhausted means refuted. */
bool states_suit(const struct execution *x, enum ordeal_model model, bool time_order, bool *exact);
/* Whose machine to take: the model's own, or that of a stricter model. */
enum ordeal_model states_machine(enum ordeal_model model);
enum ordeal_status states_run(struct states *s, enum states_outcome *outcome);

#endif
