/* SPDX-License-Identifier: Apache-2.0 */
/* The complete search: weave the threads into one total order, and learn from every knot.
 *
 * Nodes are performed one after the other, as a machine would: a load as soon as it may, a store
 * only when every load of the value it overwrites is done. Choosing store A while store T of the
 * same word still waits decides A < T. When nothing can go on, the waiting nodes run in a circle;
 * the circle says which decisions cannot stand together. One decision alone is refuted for good
 * (this is R6); of several the latest is turned round for as long as the others stand. That
 * decision and what rests on it are taken back, and the weave goes on.
 *
 * A circle without decisions refutes the execution, or the assumptions it was given. */
#ifndef ORDEAL_WEAVE_H
#define ORDEAL_WEAVE_H

#include "graph.h"

/* What an edge of a circle rests on. `from` is performed before `to`… */
enum knot_reason {
    KNOT_STATIC, /* by an edge of the graph */
    KNOT_ROOT,   /* because initial stores are first */
    KNOT_FINAL,  /* because a did not leave the final value; b did, being after all others that
                     * wrote it */
    KNOT_READS,  /* by R4 or R5, load `a` having been assumed to see store `b` */
    KNOT_ORDER,  /* because store a < store b, both in the nodes */
    KNOT_APART,  /* because loads a and b of a word were assumed to see different stores (RVWMO) */
    KNOT_OVERWRITE, /* because `from`, by `load`, reads a, and a < b, which `to` writes (R7) */
};
struct knot_edge { uint32_t from, to; uint8_t reason; uint32_t a, b, slot, load; };

/* A literal that took part: store a < store b, or load a sees store b. */
struct knot_literal { uint32_t a, b; bool reads, negated; }; /* negated: reads alone */

/* A clause: not all of `literals` hold. From its own circle (edge_count > 0), or, without edges,
 * by resolution with the knots before it. It rests on the knots named in `grounds`, or, when that
 * is not known, on any before it. */
struct knot {
    uint32_t edge_first, edge_count, literal_first, literal_count, ground_first, ground_count;
    bool grounds_unknown;
};

struct weave_log {
    VEC(struct knot) knots;
    VEC(struct knot_edge) edges;
    VEC(struct knot_literal) literals;
    VEC(uint32_t) grounds;
};

struct weave_stats { uint64_t decisions, knots, undone; };

enum weave_outcome {
    WEAVE_ORDER,    /* `order` is a legal total order of the real nodes */
    WEAVE_REFUTED,  /* the last knot of the log speaks of assumptions alone, or of nothing */
    WEAVE_BUDGET,   /* too many knots of several decisions: see the log for what was learnt */
};

struct weave {
    const struct graph *g;
    const uint32_t *source;                      /* by event: the store each load sees */
    const struct knot_literal *assumptions;      /* store orders taken for granted */
    size_t assumption_count;
    const uint32_t *last;                        /* by final value: the store taken to be last,
                                                  * where several may be; NULL: nowhere */
    uint64_t budget;                             /* knots of several decisions */
    uint64_t seed;                               /* 0: fast. Else for a short proof of something
                                                  * small: shortest circles, guesses by chance */
    struct weave_log *log;
    struct weave_stats stats;
    VEC(uint32_t) order;
};

enum ordeal_status weave_run(struct weave *w, enum weave_outcome *outcome);
void weave_log_free(struct ordeal *o, struct weave_log *log);

#endif
