/* SPDX-License-Identifier: Apache-2.0 */
/* A machine that runs an image with one thread and plain memory, instruction by instruction: an oracle
 * for what is said of instructions. Calls of the engine are EXIT, ALLOCATE and FREE; others give 0. */
#ifndef TESTS_ONE_THREAD_H
#define TESTS_ONE_THREAD_H

#include "image.h"

enum one_thread_end {
    ONE_THREAD_RUNS,
    ONE_THREAD_EXIT,  /* with status a0 */
    ONE_THREAD_ERROR, /* no instruction, or an access to nothing */
    ONE_THREAD_ASTRAY /* a JALR to where image_may_jump does not let it */
};

/* An access, or an ECALL: all that the world sees of an instruction. */
struct one_thread_effect {
    uint32_t pc, address, value, size;
    bool writes;
};

struct one_thread {
    const struct image *image;
    uint32_t pc, x[32];
    uint32_t heap;
    uint8_t *memory; /* of segments, heap and stack, each at its place */
    enum one_thread_end end;
    struct one_thread_effect last; /* of the instruction before; size 0: none */
};

enum { ONE_THREAD_STACK = 0x80100000 };

void one_thread_open(struct one_thread *m, const struct image *image);
void one_thread_close(struct one_thread *m);
void one_thread_step(struct one_thread *m);
/* A byte of memory, to be changed from outside; NULL: there is none. */
uint8_t *one_thread_byte(struct one_thread *m, uint32_t address);

#endif
