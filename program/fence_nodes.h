/* SPDX-License-Identifier: Apache-2.0 */
/* What a search with languages in buffers has found, as its parts share it. */
#ifndef PROGRAM_FENCE_NODES_H
#define PROGRAM_FENCE_NODES_H

#include "fence_search.h"
#include "pack.h"
#include "step.h"

#define NO_NODE UINT32_MAX

struct fence_step {
    uint16_t thread, flush; /* as in struct explore_step */
    uint32_t choices, choice_count;
};

struct fence_node {
    uint32_t place;   /* control and memory, as a packer's number */
    uint32_t buffers; /* their number */
    uint32_t parent, depth;
    uint32_t next; /* of the same place */
    bool covered;  /* another one of the same place has all that this one has, and more */
    bool accelerated;
    struct fence_step step; /* that led here from the parent */
};

struct fence_searching {
    const struct explore_options *options;
    struct fence_machine *machine;
    struct pieces pieces;
    struct state *s;
    struct packer *k;
    struct fence_node *node;
    size_t nodes, capacity;
    uint32_t *first; /* node of a place */
    size_t firsts, first_capacity;
    uint32_t *choice;
    size_t choices, choice_capacity;
    uint32_t *stack; /* depth first: nodes to expand */
    size_t stacked, stack_capacity;
    uint32_t at; /* which is expanded */
    bool moved, full;
    uint64_t covered;
    struct fence_buffers *ancestor;
    struct fence_step
        failed; /* the step that leads from `at` to the error; thread UINT16_MAX: it is
                                 that there is none */
    struct fence_outcome *outcome;
};

/* The state as it was when this node was found. */
void fence_restore(struct fence_searching *x, uint32_t node);
void fence_draw(struct fence_searching *x, const struct fence_step *step);
/* What relaxations the way to the error has; fills latest and cover of the outcome. */
void fence_path_look(struct fence_searching *x);

#endif
