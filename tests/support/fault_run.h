/* SPDX-License-Identifier: Apache-2.0 */
/* The program with one of its calls failing, or with what it does to files written down:
 * tests/faults/interpose.c is loaded into it. */
#ifndef SUPPORT_FAULT_RUN_H
#define SUPPORT_FAULT_RUN_H

#include <stdbool.h>

#include "faults/state.h"

extern const char *const fault_names[FAULT_COUNT];

struct fault_run {
    /* What is to be done. */
    const char *words; /* of the command, after the program's name, a space between them */
    enum fault_kind kind;
    uint64_t at;     /* which call is to fail; 0: none */
    bool onwards;    /* and all after it, as on a full disk */
    const char *log; /* a file that is there takes what is done to files; NULL: nobody asks */
    /* What it is asked when it has begun to print, which is in fault.out, if it is a server, before it is
     * sent SIGINT; NULL: it ends by itself. */
    void (*ask)(struct fault_run *r);
    /* What came of it. */
    int status;  /* as a shell has it; -1: it did not end, and was killed */
    bool failed; /* a call did */
    uint64_t seen[FAULT_COUNT];
    char out[1 << 16], err[1 << 14];
    char heard[1 << 10]; /* what `ask` has to say */
};

/* Where that is possible: without sanitizers, which have allocations of their own, on x86-64. */
bool fault_possible(void);
/* In the current directory. ORDEAL names the program, BUILD_OF_TESTS its place. */
void fault_run(struct fault_run *r);

/* A bias of which the first test already shows a load that saw too old a store of its own thread. */
#define PLAIN_BIAS \
    "printf '[test]\\nlocations = 2\\n[operations]\\nswap = 0\\ncas = 0\\n[membar]\\nfull = 0\\n' " \
    ">plain.bias"
/* A regression of two such tests, each of which has a worker. */
#define PLAIN_PLAN \
    "printf '[regression]\\ntests = 2\\nbatch = 1\\nshrink = 1\\n[run bad]\\ntarget = model\\n" \
    "bug = forward-oldest\\nbias = plain.bias\\n' >p.plan"

#endif
