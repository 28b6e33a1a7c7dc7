/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction of RISC-V says of memory and of registers: as much of it as a memory model
 * asks for. Those of C, F and D are known as far as they access memory or, of C, use registers of
 * I. What is not known moves nothing. */
#ifndef ORDEAL_RISCV_ACCESS_H
#define ORDEAL_RISCV_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

enum { RISCV_FLOAT = 32, RISCV_REGISTERS = 64 }; /* f0 is register 32; x0 stands for none */

enum riscv_does {
    RISCV_NOTHING,  /* that is known */
    RISCV_COMPUTES, /* `result` from `from` */
    RISCV_BRANCHES, /* depending on `from` */
    RISCV_FENCES,
    RISCV_LOADS,
    RISCV_STORES,
    RISCV_RESERVES,    /* LR */
    RISCV_CONDITIONAL, /* SC */
    RISCV_SWAPS        /* all AMOs: they read and write */
};

struct riscv_access {
    enum riscv_does does;
    uint8_t size_log2;
    bool acquires, releases;
    uint8_t barrier;       /* of a fence: flavours of ORDEAL_FULL */
    uint8_t address, data; /* registers that they come from */
    uint8_t from[2];
};

/* Of an instruction of 16 or 32 bits; `wide`: of RV64. */
struct riscv_access riscv_access(uint32_t instruction, bool wide);

static inline bool riscv_is_memory(enum riscv_does does) { return does >= RISCV_LOADS; }

#endif
