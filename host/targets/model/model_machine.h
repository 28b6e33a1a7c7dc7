/* SPDX-License-Identifier: Apache-2.0 */
/* Machines of the memory models: they run a program and bring back what its loads saw.
 *
 * Each is an operational machine: harts that execute in order in front of a store buffer (SC, TSO,
 * PSO), of copies of memory in which stores land one after the other (PC), or that perform a window
 * of operations out of order (RMO, and by RISC-V's rules RVWMO and RVTSO); with transactions on top
 * (all but PC and RISC-V's). Chance decides who moves
 * and what leaves a buffer when; the same seed and iteration make the same moves. What they do is
 * legal under their model, unless a bug was asked for. */
#ifndef HOST_MODEL_MACHINE_H
#define HOST_MODEL_MACHINE_H

#include "model_bugs.h"
#include "test/program.h"

enum { MOST_HARTS = 256 };

struct model_machine_setup {
    enum ordeal_model model;
    bool eager;              /* conflicts of transactions are found at once, not at the commit */
    enum bug bug;
    uint64_t seed;
};

struct model_machine;
struct model_machine *
model_machine_new(const struct model_machine_setup *setup); /* NULL: out of memory */
void model_machine_free(struct model_machine *m);

/* Make room for the program, which must stay. False: out of memory. */
bool model_machine_load(struct model_machine *m, const struct program *p);
/* Start an iteration; `values` are filled as it goes (program.h). */
void model_machine_start(struct model_machine *m, uint64_t iteration, uint64_t *values);
/* At most so many turns; true: all harts are done. */
bool model_machine_go(struct model_machine *m, uint64_t turns);
/* What memory holds when all are done, buffers and all: a word for each of the program's finals. */
void model_machine_finals(const struct model_machine *m, uint64_t *values);
/* A hart that is not done and the operation of the test it is at. */
struct model_machine_place {
    uint32_t thread, op;
};
struct model_machine_place model_machine_unfinished(const struct model_machine *m);

#endif
