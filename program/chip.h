/* SPDX-License-Identifier: Apache-2.0 */
/* What a program on the multiprocessor of rtl/, the run-time that is with it there
 * (program/runtime/chip/), and the host agree on (PROGRAM.md, "On the machine"). Read by C, by the
 * assembler and by the linker's script, so there are plain numbers alone. */
#ifndef PROGRAM_CHIP_H
#define PROGRAM_CHIP_H

#define CHIP_HARTS 16          /* at most */
#define CHIP_CODE 0x1000       /* the program's; below it the run-time's */
#define CHIP_MEMORY 0x80000000 /* struct chip, */
#define CHIP_FRAMES 0x80000600 /* for each hart, where its calls run, */
#define CHIP_FRAME_LOG 9
#define CHIP_DATA 0x80002600 /* constants and data of the program */

/* Marks for the capture unit. What a call did is between its instruction and CHIP_RETURN. */
#define CHIP_BEGIN 0x0c419001   /* a thread begins: its function, its argument */
#define CHIP_RETURN 0x0c419002  /* from a call: its result */
#define CHIP_POINT 0x0c419003   /* in a call: now it happened */
#define CHIP_END 0x0c419004     /* the thread has ended: its value */
#define CHIP_STOP 0x0c419005    /* the program has, by the call that it is in */
#define CHIP_TRAP 0x0c419006    /* an exception: mcause, mepc, mtval */
#define CHIP_FULL 0x0c419007    /* more threads than harts */
#define CHIP_UNKNOWN 0x0c419008 /* a call that is not there */
#define CHIP_BAD_FREE 0x0c419009
#define CHIP_BAD_UNLOCK 0x0c41900a
#define CHIP_NO_MEMORY 0x0c41900b

#ifndef __ASSEMBLER__
#include <stdint.h>

/* At CHIP_MEMORY. What comes before `lock` is the host's to write. */
struct chip {
    uint32_t harts, seed;
    int32_t low, high; /* of nondeterministic values */
    uint32_t lock, random, gate;
    uint32_t unused;
    struct chip_thread {
        uint32_t heap, heap_end, stack_end; /* the host's, too */
        uint32_t state, value, detached, function, argument, condition;
        uint32_t unused[7];
    } thread[CHIP_HARTS];
};
#endif
#endif
