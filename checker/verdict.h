/* SPDX-License-Identifier: Apache-2.0 */
/* A verdict with what proves it: an order or a proof, over the execution it speaks of. */
#ifndef ORDEAL_VERDICT_H
#define ORDEAL_VERDICT_H

#include "execution.h"

struct proof_step { uint32_t literal_first, literal_count, edge_first, edge_count; };

/* See ordeal.h, "walking a verdict". */
struct proof {
    VEC(struct proof_step) steps;
    VEC(struct ordeal_literal) literals;
    VEC(struct ordeal_edge) edges;
};

#define COUNTERS \
    COUNTER(ops) COUNTER(threads) COUNTER(locations) COUNTER(nodes) COUNTER(edges) \
    COUNTER(decisions) COUNTER(conflicts) COUNTER(clauses) COUNTER(core)
struct counters {
#define COUNTER(NAME) uint64_t NAME;
    COUNTERS
#undef COUNTER
};

struct ordeal_verdict {
    struct ordeal *o;
    struct execution *x;                 /* owned; FAIL: of the core's operations alone */
    enum ordeal_model model;
    bool time_order;
    enum ordeal_result result;
    char note[512];
    struct counters counters;
    VEC(struct ordeal_place) order;      /* PASS */
    uint32_t unwritten;                  /* FAIL: event, or NONE */
    struct proof proof;                  /* FAIL */
    VEC(uint32_t) core;                  /* FAIL: trace operations, ascending */
};

/* Re-prove the verdict from the axioms: ORDEAL_OK, or ORDEAL_INTERNAL with the reason (also for a
 * witness from a file that does not hold), ORDEAL_NO_MEMORY, ORDEAL_LIMIT. An UNDECIDED verdict has
 * nothing to prove. Certifies against v->x alone; shares no code with the search. */
enum ordeal_status certify(const struct ordeal_verdict *v);
/* A FAIL over the core's execution, v->x, holds for the whole: what it asks of an order the whole
 * asks too (see certify_core.c). ORDEAL_INTERNAL with the reason where it does not. */
enum ordeal_status certify_core(const struct ordeal_verdict *v, const struct execution *whole);

#endif
