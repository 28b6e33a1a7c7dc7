/* SPDX-License-Identifier: Apache-2.0 */
/* All executions of a program under TSO or PSO with buffers of any size (Linden and Wolper 2013,
 * section 3): states are control and memory with languages of what waits, and one whose languages are
 * within another's of the same control and memory is that one. A loop in which one thread stores is
 * done any number of times at once. */
#ifndef PROGRAM_FENCE_SEARCH_H
#define PROGRAM_FENCE_SEARCH_H

#include "fence_machine.h"

/* A place for a fence that would have stopped a path to an error, latest relaxation first. */
struct fence_place {
    uint32_t pc;
    uint8_t fence; /* FENCE_AFTER_STORE or FENCE_BEFORE_STORE */
};

struct fence_outcome {
    enum explore_verdict verdict;
    char note[256]; /* why UNDECIDED */
    bool strange;   /* it is to be done again without dynamically found local memory */
    uint64_t states, transitions;
    uint32_t accelerated;   /* states that come from doing a loop any number of times */
    uint32_t longest;       /* steps of a path */
    struct word_table rows; /* of options->outcomes: final values, each combination once */
    /* of a FAIL */
    enum explore_error error;
    uint32_t thread, pc;
    char text[256];
    uint32_t steps;
    struct fence_place *latest; /* of relaxations on the path, each place once */
    size_t latests;
    struct fence_place *cover; /* every safe set of fences has one of these that is not there yet */
    size_t covers;
};

/* options->model is TSO or PSO, options->symbolic the machine with its fences. The caller's
 * progress() is called as by explore(); `before` is what was done before, for it. False: no memory. */
bool fence_search(const struct explore_options *options, const struct explore_progress *before,
                  double began, struct fence_outcome *outcome);
void fence_outcome_free(struct fence_outcome *o);
double fence_now(void);

#endif
