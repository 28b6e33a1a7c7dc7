/* SPDX-License-Identifier: Apache-2.0 */
/* The algorithms of the thesis, chapters 4 and 5: conflict, baseline, heu, deriv, with and without
 * backtracking. They work on the analysis graph alone; every load has exactly one candidate.
 *
 * PASS comes with an order. FAIL is said only when it is certain, a cycle under the rules or an
 * exhausted search; the proof is the caller's to make. Else UNDECIDED, and `note` says why. */
#ifndef ORDEAL_CLASSIC_H
#define ORDEAL_CLASSIC_H

#include "graph.h"

struct classic_result {
    enum ordeal_result result;
    VEC(uint32_t) order;             /* PASS: the real nodes without the root, in a legal order */
    uint64_t decisions, backtracks;  /* stores picked among unordered rivals; picks taken back */
    char note[128];
};

/* Any algorithm but ORDEAL_AUTO. `r` needs no preparation; r->order is the caller's to VEC_FREE,
 * also after an error. ORDEAL_BAD_USAGE: conflict without the complete store order of a word. */
enum ordeal_status classic_check(const struct graph *g, enum ordeal_algorithm a,
                                 struct classic_result *r);

/* Its parts. */
enum ordeal_status conflict_check(const struct graph *g, struct classic_result *r);
struct topo_options { bool derive, backtrack; };
struct clocks;
enum ordeal_status topo_sort(struct clocks *c, struct topo_options options,
                             struct classic_result *r);

#endif
