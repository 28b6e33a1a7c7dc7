/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases of Relaxer over a program: runs that predict cycles, and for each cycle trials that try to
 * make it happen. A trial is up to `repeat` executions, and ends with the first that has the cycle, as a
 * trial of the Relaxer paper is a test script that runs its harness a hundred times. */
#ifndef HOST_PROGRAM_RELAX_TRIALS_H
#define HOST_PROGRAM_RELAX_TRIALS_H

#include "relax.h"
#include "relax_labels.h"

struct relax_plan {
    const struct image *image;
    const struct statement_labels *labels;
    uint64_t seed;
    uint64_t runs, trials, repeat, steps;
    uint32_t length;
    bool locked_atomics;
    int32_t nondet_low, nondet_high;
    /* After each execution, with how many there were; true: stop. NULL: nobody wants to know. */
    bool (*progress)(void *user, const char *what, uint64_t executions);
    void *user;
};

/* The runner of a plan; NULL: why not. */
struct relax_runner *relax_plan_runner(const struct relax_plan *p, enum explore_model model,
                                       struct ordeal_error *error);

struct relax_predicted {
    struct relax_cycles cycles;
    uint64_t runs, left;   /* left: did not end within the steps */
    uint64_t wrong, first; /* runs in which the program failed; the seed of the first */
    enum explore_error error;
    char broke[256]; /* what the engine could not do; "": nothing */
    bool stopped;
};
/* False: no memory; relax_cycles_free either way. */
bool relax_phase_one(const struct relax_plan *p, struct relax_runner *sc,
                     struct relax_predicted *out);

/* One execution that has the cycle. */
struct relax_witness {
    bool there;
    uint64_t trial, execution, seed; /* trials and executions count from 1 */
    enum explore_error error;
};
struct relax_tried {
    uint64_t trials, confirmed, executions;
    uint64_t buggy;               /* trials whose execution with the cycle went wrong */
    uint64_t others;              /* executions that went wrong without it */
    struct relax_witness witness; /* the first that went wrong, else the first */
    char broke[256];
    bool stopped;
};
uint64_t relax_seed(const struct relax_plan *p, const struct relax_cycle *c,
                    enum explore_model model, uint64_t trial, uint64_t execution);
/* One trial, from 1. False: no memory. */
bool relax_trial(const struct relax_plan *p, struct relax_runner *r, const struct relax_cycle *c,
                 enum explore_model model, uint64_t trial, struct relax_tried *out);
/* All trials of a cycle. */
bool relax_phase_two(const struct relax_plan *p, struct relax_runner *r,
                     const struct relax_cycle *c, enum explore_model model,
                     struct relax_tried *out);

#endif
