/* SPDX-License-Identifier: Apache-2.0 */
/* Machines of the memory models: they run a program and bring back what its loads saw.
 *
 * Each is an operational machine: harts that execute in order in front of a store buffer (SC, TSO,
 * PSO), of copies of memory in which stores land one after the other (PC), or that perform a window
 * of operations out of order (RMO); with transactions on top (all but PC). Chance decides who moves
 * and what leaves a buffer when; the same seed and iteration make the same moves. What they do is
 * legal under their model, unless a bug was asked for. */
#ifndef HOST_MODEL_MACHINE_H
#define HOST_MODEL_MACHINE_H

#include "model_bugs.h"
#include "test/program.h"

enum { MOST_HARTS = 256 };

struct machine_setup {
    enum ordeal_model model;
    bool eager;              /* conflicts of transactions are found at once, not at the commit */
    enum bug bug;
    uint64_t seed;
};

struct machine;
struct machine *machine_new(const struct machine_setup *setup); /* NULL: out of memory */
void machine_free(struct machine *m);

/* Make room for the program, which must stay. False: out of memory. */
bool machine_load(struct machine *m, const struct program *p);
/* Start an iteration; `values` are filled as it goes (program.h). */
void machine_start(struct machine *m, uint64_t iteration, uint64_t *values);
/* At most so many turns; true: all harts are done. */
bool machine_go(struct machine *m, uint64_t turns);
/* A hart that is not done and the operation of the test it is at. */
struct machine_place { uint32_t thread, op; };
struct machine_place machine_unfinished(const struct machine *m);

#endif
