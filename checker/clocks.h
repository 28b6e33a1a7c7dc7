/* SPDX-License-Identifier: Apache-2.0 */
/* Reachability by reverse time vector clocks, closed under R6 and R7 (thesis 4.3, Fig. 4.5).
 *
 * The nodes of each thread are covered by chains, paths of the graph: the thesis's virtual SC
 * processors. clock[x][k] is the smallest index in chain k of a node that x is before. Edges are
 * added with clocks_add and inferred by clocks_fixpoint; both can be taken back. */
#ifndef ORDEAL_CLOCKS_H
#define ORDEAL_CLOCKS_H

#include "graph.h"

/* A set of small numbers that gives up its largest first; level i + 1 marks the non-zero words of
 * level i. */
enum { BITS_LEVELS = 6 };
struct bits { uint64_t *level[BITS_LEVELS]; unsigned levels; };

/* Some of the chains, or more: chain k is bit k / 4 % 32 of part k % 4. */
struct chain_set { uint32_t part[4]; };

/* A place where a cell is read, `event` being the store seen, or written, `event` being the store.
 * A node has one write a cell, the last; reads of its own writes are left out. */
struct site {
    uint32_t node, event, cell;
    uint32_t skip;                 /* next site of the run that does not read `event`; 0: a write */
    uint32_t chain, index;         /* of the node that wrote `event`; NONE for the root */
};
/* The sites of one cell in one chain: ascending by index, in a node the reads before the write. */
struct run { uint32_t chain, first, end; };

struct link { uint32_t from, to, next_out, next_in; };
struct change { uint32_t node, chain; int32_t old; };
struct clocks_mark { size_t links, changes; };

struct clocks {
    struct ordeal *o;
    const struct graph *g;
    bool cyclic;                   /* an edge closed a cycle; nothing else holds then */

    uint32_t *at, *position;       /* a topological order of the graph, without the root */
    uint32_t chains, stride;
    uint32_t *chain, *index;       /* by node; NONE for those that are not real */
    int32_t *clock;                /* rows of `stride`, by position: neighbours in time are near */

    uint32_t cells, runs, sites;
    uint32_t *run_first;           /* by cell, + 1 */
    struct run *run;
    uint32_t *cursor;              /* by run: the site found last */
    int32_t *site_index;           /* apart from `site`, to be searched */
    struct site *site;
    uint32_t *write_first, *write; /* by node, + 1: its write sites */
    uint32_t *read_first, *read;   /* by node, + 1: store ids it saw, each once */
    uint32_t *reader_first, *reader; /* by store id, + 1: who saw it, the last of each chain */

    uint32_t *out, *in;            /* by node: first of its links, or NONE */
    VEC(struct link) links;        /* edges that the graph does not have */

    const bool *done;              /* by node: before all that are not; NULL: none is */
    struct chain_set *changed;     /* by node: since the node was last taken from `dirty` */
    struct chain_set *unruled;     /* by site: since the rules were last applied to the write */
    uint32_t *cover;               /* by site of a write: a later write of its cell, see rules */
    int32_t *no_cover;             /* a row of no clocks, for where there is none */
    bool recording;                /* keep changes, for clocks_undo */
    VEC(struct change) changes;
    struct bits dirty;             /* by position: clock changed, predecessors do not know */
    struct bits stale;             /* by site: writes with chains in `unruled` */
    VEC(struct { void *data; size_t bytes; }) blocks;
};

enum ordeal_status clocks_build(const struct graph *g, struct clocks **out);
void clocks_free(struct clocks *c);
/* An array that lives as long as the clocks; NULL when out of memory. */
void *clocks_array(struct clocks *c, size_t count, size_t size);

/* The clocks of the graph, closed under all rules. */
enum ordeal_status clocks_baseline(struct clocks *c);
/* Add an edge unless it is implied; false when out of memory. Then close again. */
bool clocks_add(struct clocks *c, uint32_t from, uint32_t to);
enum ordeal_status clocks_fixpoint(struct clocks *c);
struct clocks_mark clocks_mark(const struct clocks *c);
void clocks_undo(struct clocks *c, struct clocks_mark mark);

/* Is `from` before `to`, a real node? Exact after clocks_fixpoint. */
static inline bool clocks_before(const struct clocks *c, uint32_t from, uint32_t to)
{
    assert_hot(from != 0 && c->chain[to] < c->chains); /* the root has no row */
    return c->clock[(size_t)c->position[from] * c->stride + c->chain[to]] <= (int32_t)c->index[to];
}
static inline bool site_writes(const struct site *s) { return s->skip == 0; }

#endif
