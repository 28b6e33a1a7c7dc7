/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal run --program`: one program many times on a machine that has harts for its threads; each
 * execution is judged, told if something is wrong with it, and kept. */
#ifndef HOST_CHIP_RUN_H
#define HOST_CHIP_RUN_H

#include "program/compile.h"
#include "trial/setup.h"

struct chip_plan {
    struct setup *setup; /* whose machine is open */
    struct compile_request request;
    uint64_t first, count;   /* of executions, by the numbers of their iterations */
    uint64_t stop_after;     /* failures; 0: never */
    uint64_t most_cycles;    /* of an execution */
    int32_t low, high;       /* of nondeterministic values */
    enum ordeal_model model; /* that executions are checked for */
    const char *outcomes;    /* names of variables whose last values are counted; NULL: none */
    const char *output;      /* traces go there; NULL: nowhere */
    bool waves;
    bool visible; /* the order in which stores became visible is part of the traces */
};

/* What the options say that have to do with it is refused in words by the caller. Returns an exit status. */
int chip_run(const struct chip_plan *plan);

#endif
