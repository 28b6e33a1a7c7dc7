/* SPDX-License-Identifier: Apache-2.0 */
/* The analysis graph: what must be before what, known before any search (thesis 4.2).
 *
 * Node 0 is the root: the initial stores, before all others without an edge saying so. Nodes
 * 0 .. groups-1 are the groups of the execution; behind them stand auxiliary nodes for barriers,
 * issue of RMO stores and cycles. Under a model with views, nodes are numbered as they come:
 * the loads of a group are one node, its stores one node in each view.
 * Edges are program order (R1 to R3 and their kin), observed values (R4, R5) where a load
 * has a single candidate, known store orders and final values. Rules R6 and R7 are the search's. */
#ifndef ORDEAL_GRAPH_H
#define ORDEAL_GRAPH_H

#include "execution.h"
#include "model.h"

enum node_kind { NODE_REAL, NODE_BARRIER, NODE_ISSUE, NODE_TICK, NODE_BEGIN, NODE_END };

/* A node reads or writes a cell: a word, or under views a word as one thread sees it. */
struct access { uint32_t event, slot; };

struct graph {
    struct ordeal *o;
    const struct execution *x;
    const struct model *model;
    bool time_order;

    uint32_t nodes;
    VEC(uint8_t) kind;

    /* Edges both ways. */
    uint32_t edges;
    uint32_t *succ_first, *succ;          /* nodes + 1 offsets */
    uint32_t *pred_first, *pred;

    /* Accesses of each node, in program order. Under views a swap's store also reads, in every
     * view, what the swap's load saw: nothing may come between (PC's Atomicity axiom). So does an
     * SC what its LR saw. */
    uint32_t *access_first;               /* nodes + 1 offsets */
    struct access *access;
    uint32_t accesses;

    /* Cells: slot s of word l is cell_first[l] + s. Without views every word has one. */
    uint32_t *cell_first;                 /* locations + 1 */
    uint32_t *slot_thread;                /* by cell: the thread whose view it is; NULL: no views */

    /* Stores by word and cell: the node of store event e in slot s is
     * store_node[store_first[e] + s]; loads have an empty range. "store id" below. */
    uint32_t *store_first;                /* events + 1 */
    uint32_t *store_node;
    uint32_t stores;                      /* number of store ids */
    uint32_t *load_node;                  /* by event under views; NULL: the group */
};

enum ordeal_status graph_build(const struct execution *x, enum ordeal_model model, bool time_order,
                               struct graph **out);
void graph_free(struct graph *g);

static inline uint32_t node_of_load(const struct graph *g, uint32_t event)
{
    return g->load_node ? g->load_node[event] : g->x->group[event];
}
static inline uint32_t node_of_store(const struct graph *g, uint32_t event, uint32_t slot)
{
    assert_hot(g->x->is_store[event] && slot < g->store_first[event + 1] - g->store_first[event]);
    return g->slot_thread ? g->store_node[g->store_first[event] + slot] : g->x->group[event];
}
static inline uint32_t cells_of(const struct graph *g, uint32_t loc)
{
    assert_hot(loc < g->x->locations);
    return g->cell_first[loc + 1] - g->cell_first[loc];
}
static inline uint32_t cell_of(const struct graph *g, struct access a)
{
    return g->cell_first[g->x->loc[a.event]] + a.slot;
}

#endif
