/* SPDX-License-Identifier: Apache-2.0 */
/* Random small programs for harts of RISC-V, as the text of a litmus test, and all that they may
 * leave by the axioms of rvwmo.h: an oracle that knows neither the reader of litmus files nor
 * the checker. It tries every way of branches and SCs, every global memory order of each, and
 * what values come of it. */
#ifndef LITMUS_PROGRAM_H
#define LITMUS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { PROGRAM_OPS = 8, PROGRAM_HARTS = 3, PROGRAM_STATES = 4096, PROGRAM_LINE = 256 };

enum program_kind {
    PROGRAM_LOAD,
    PROGRAM_STORE,
    PROGRAM_AMO,
    PROGRAM_LR,
    PROGRAM_SC,
    PROGRAM_FENCE
};

/* Registers are numbered by hart, in order of what writes them; -1: none. */
struct program_op {
    enum program_kind kind;
    unsigned hart, location, offset, size, function, before, after;
    bool aq, rl, tso;
    int result;          /* register that takes what is read, or how an SC ended */
    int address, branch; /* registers that the address, and a branch before it, need */
    bool skipped;        /* the branch goes around it if its register is not 0 */
    int data;            /* what is stored needs this register: its value is added, ... */
    bool masked;         /* ... or not */
    uint64_t constant;
};

struct program {
    unsigned harts, ops, locations, spacing;
    bool typed;
    struct program_op op[PROGRAM_OPS + 4];
};

struct program_states {
    unsigned count;
    char line[PROGRAM_STATES][PROGRAM_LINE]; /* "0:x10=0; [a]=1;", each once */
};

void program_draw(struct program *p, uint64_t seed);
void program_write(const struct program *p, FILE *out);
void program_states(const struct program *p, bool ztso, struct program_states *states);

#endif
