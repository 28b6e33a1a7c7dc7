/* SPDX-License-Identifier: Apache-2.0 */
/* The machine code of a test's threads for the host's CPU.
 *
 * Each thread becomes one function that makes one iteration (native_entry, native.h). What loads
 * bring is kept in registers and goes to the thread's slots only when the registers are full, at
 * the ends of blocks that load, and at the end: so that what is recorded disturbs little. Loops,
 * branches and transactions are real ones. */
#ifndef HOST_NATIVE_CODE_H
#define HOST_NATIVE_CODE_H

#include "base/list.h"
#include "test/program.h"

/* Code from `offset` on is that of the instruction, up to the next mark. */
struct native_mark { uint32_t offset, thread, instruction; };
/* A load where there is no memory: what faults at `fault` goes on at `resume`, having read 0. */
struct native_fixup { uint32_t fault, resume; };

struct native_code {
    uint8_t *bytes;
    size_t capacity, length;
    bool flush_weakly;                 /* the CPU has clflushopt */
    uint32_t *entry;                   /* of each thread */
    LIST(struct native_mark) marks;    /* both ascending */
    LIST(struct native_fixup) fixups;
};

/* `place`: where each line lies, from the base of the memory. False: the code does not fit, or
 * memory is out. */
bool native_emit(struct native_code *c, const struct program *p, const uint32_t *place);
void native_code_free(struct native_code *c);
/* The last mark at or before the offset; NULL: none, or the offset is outside of the code. */
const struct native_mark *native_find(const struct native_code *c, uint64_t offset);

#endif
