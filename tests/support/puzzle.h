/* SPDX-License-Identifier: Apache-2.0 */
/* Executions with unique values that need a real search (the problem is NP-complete: thesis 4.1).
 *
 * Of each variable's two literals exactly one is active, and the active ones must not run in a circle
 * along the arcs. As an execution: variable x is a word with two stores, in threads of their
 * own, and their order says which literal is active; an arc is a thread with two loads. A clause of
 * SAT is a circle through its negated literals. The execution is legal for SC, TSO, PSO and
 * RMO exactly when the puzzle has a solution. */
#ifndef TESTS_PUZZLE_H
#define TESTS_PUZZLE_H

#include "ordeal.h"

struct puzzle {
    uint32_t variables;
    uint32_t arcs;
    struct { uint32_t from, to; } *arc;  /* literals: 2 x is active when x is true, 2 x + 1 otherwise */
};

void puzzle_free(struct puzzle *p);
/* Circles through three random literals; `solvable`: all false would be a solution, in disguise. */
struct puzzle puzzle_random(uint32_t variables, uint32_t circles, bool solvable, uint64_t seed);
/* So many pigeons do not fit into one hole less. */
struct puzzle puzzle_pigeons(uint32_t holes);
/* By trying everything; at most 20 variables. */
bool puzzle_solvable(const struct puzzle *p);
struct ordeal_trace *puzzle_trace(struct ordeal *o, const struct puzzle *p);

#endif
