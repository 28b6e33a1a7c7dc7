/* SPDX-License-Identifier: Apache-2.0 */
/* All states of a program under TSO or PSO and what happens between them, found once, in which many cycles are
 * looked for (beyond Relaxer, where a cycle that no trial makes is left open). */
#ifndef PROGRAM_RELAX_GRAPH_H
#define PROGRAM_RELAX_GRAPH_H

#include "relax.h"

/* An access, or a store that leaves its buffer (kind 0). */
struct relax_event {
    uint32_t label, address;
    uint8_t kind, size, thread;
    bool reads, writes;
    uint8_t
        waits; /* the store that it is, or that it sees, waits in the buffer: the how-manieth of its
                      place there; 0: it does not */
};
struct relax_edge {
    uint32_t to; /* 0: an error of the program */
    uint32_t event, events;
    uint32_t choice, choices;
    uint16_t thread, flush;
};
struct relax_graph {
    uint32_t states; /* from 1, the first */
    uint32_t *first; /* edges of state s: first[s] up to first[s + 1] */
    struct relax_edge *edge;
    size_t edges, edge_capacity;
    struct relax_event *event;
    size_t events, event_capacity;
    uint32_t *choice;
    size_t choices, choice_capacity;
    char why[300]; /* it is not whole, or not exact; "": it is */
    struct explore_options how;
    bool failed; /* no memory */
};

/* False: no memory, or `stop` said so. To be freed in either case. */
bool relax_graph_make(struct relax_graph *g, const struct image *image,
                      const struct relax_options *options, uint32_t buffers, uint32_t most_states,
                      bool (*stop)(void *user), void *user);
void relax_graph_free(struct relax_graph *g);

enum relax_answer { RELAX_FEASIBLE, RELAX_INFEASIBLE, RELAX_OPEN };
/* Does some execution have the cycle? FEASIBLE with the path of one, for explore_follow() with g->how, to be freed;
 * INFEASIBLE: none has, with these buffers. False: no memory. */
bool relax_graph_search(const struct relax_graph *g, const struct relax_cycle *c, size_t most_nodes,
                        enum relax_answer *answer, struct explore_path *path);

#endif
