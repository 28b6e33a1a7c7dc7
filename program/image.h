/* SPDX-License-Identifier: Apache-2.0 */
/* A program as it was linked: RV32IMA code, decoded once, its memory at the start, and what its
 * debug information says of lines, functions and variables. Never changes after image_load, so
 * that all threads of a search share it. */
#ifndef PROGRAM_IMAGE_H
#define PROGRAM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ordeal.h"

/* clang-format off */
enum operation {
    OPERATION_NONE, /* nothing that RV32IMA knows: an error of the program when it gets there */
#define OPERATION(name, text, match, mask, format) OPERATION_##name,
#include "image_ops.def"
#undef OPERATION
    OPERATIONS
};
/* clang-format on */
extern const char *const operation_names[OPERATIONS]; /* "lw"; of none "" */

/* One instruction. `operation` is one of RV32IMA (image_ops.def); immediates are ready to use,
 * branches and JAL have their target's address, LUI and AUIPC what they give. Of OPERATION_NONE the
 * immediate is its bits. */
/* clang-format off */
struct instruction {
    uint8_t operation, rd, rs1, rs2;
    uint8_t flags;     /* below */
    uint8_t size;      /* bytes of an access; 4 */
    uint8_t aq_rl;     /* of LR, SC, AMOs: 2 aq, 1 rl */
    uint8_t fence;     /* of FENCE: predecessor r 2, w 1 in bits 4 and up; successor in bits 0 and up;
                          FENCE_TSO: what it orders but for w before r */
    int32_t immediate;
    uint32_t live;     /* registers that anybody may still read before they are written, as seen
                          before this instruction; x0 never */
};
/* clang-format on */
enum {
    INSTRUCTION_PRIVATE = 1, /* an access to a place of the own frame whose address nobody takes */
    INSTRUCTION_BACK = 2,    /* control may go backwards from here: every cycle has such a one */
    INSTRUCTION_ATOMIC = 4,  /* first of a function named __VERIFIER_atomic_... */
};

enum { FENCE_TSO = 0x80 };

struct image;
struct ordeal_error;

/* `bytes` are those of an ELF file, which are copied; `name` is for messages. False: `error` says
 * what is wrong with it and what to do (another machine, dynamic, not RV32, an instruction that is
 * none, with function and line). */
bool image_load(const char *name, const void *bytes, size_t size, struct image **image,
                struct ordeal_error *error);
void image_free(struct image *image);

uint32_t image_entry(const struct image *i);
/* Linked for the multiprocessor of rtl/ (chip.h), not for the engine. */
bool image_is_chip(const struct image *i);
/* Where the stacks of threads are: thread n has `part` bytes from `base` + n * `part` on, of which the
 * first `other` are no stack. As PROGRAM.md has it, until a machine says otherwise, once. */
struct image_stacks {
    uint32_t base, part, other;
};
void image_set_stacks(struct image *i, const struct image_stacks *stacks);
bool image_in_stack(const struct image *i, uint32_t address, uint32_t *thread);
/* NULL: nothing is executed there. */
const struct instruction *image_instruction(const struct image *i, uint32_t pc);

/* Whether the JALR at `from` may go to `to`: it is an error of the program if not. What is live is found
 * from that. */
bool image_may_jump(const struct image *i, uint32_t from, uint32_t to);

/* Where the call or jump at `pc` goes, if that is known: of a JAL, or of a JALR right behind its AUIPC; 0:
 * it is none, or nobody knows. */
uint32_t image_call_target(const struct image *i, uint32_t pc);

/* Places of a frame that its thread does not read any more before it writes them, when it is before the
 * instruction at `pc` and `ra` is its return address: those of `slot` whose bit is set in `dead`. What is
 * there may be cleared, so that it does not tell states apart. Only of private places, and of programs
 * that ordeal compiled without optimisation; false: there are none. */
struct frame_slot {
    int16_t offset; /* from s0 */
    uint8_t size;
};
bool image_dead_slots(const struct image *i, uint32_t pc, uint32_t ra,
                      const struct frame_slot **slot, uint64_t *dead);

/* Memory at the start. Code and constants may only be read. */
struct segment {
    uint32_t address, size;
    const uint8_t *bytes;
    bool writable;
};
size_t image_segments(const struct image *i, const struct segment **segments);

/* Names: of the object or function that has this address (NULL: none), how far into it, and back. */
struct symbol {
    const char *name;
    uint32_t address, size;
    bool function;
};
const struct symbol *image_symbol_at(const struct image *i, uint32_t address);
const struct symbol *image_symbol_named(const struct image *i, const char *name);

/* Where an instruction comes from; false: nobody knows. */
struct source_place {
    const char *file, *function;
    uint32_t line, column;
};
bool image_place(const struct image *i, uint32_t pc, struct source_place *place);
/* The same of code that was put into another function, outwards: level 0 is the place itself, 1 the line that
 * called the innermost function, and so on. */
bool image_place_around(const struct image *i, uint32_t pc, int level, struct source_place *place);
/* The first instruction of a line, 0: it has none. `file` may be the end of a path. */
uint32_t image_pc_of(const struct image *i, const char *file, uint32_t line);

/* Goes from a function to the one that called it: *pc becomes the return address, `registers` (32 of
 * them) those of the caller, as far as the debug information tells. `read` gives words of memory as
 * the thread sees them. False: there is none that is known. */
bool image_unwind(const struct image *i, uint32_t *pc, uint32_t *registers,
                  uint32_t (*read)(void *user, uint32_t address), void *user);

/* The variable of the frame that lies at `address` when the function at `pc` runs with this frame
 * base, which is s0 of a function compiled without optimisation; NULL: unknown. For words about what
 * was accessed. */
const char *image_local_at(const struct image *i, uint32_t pc, uint32_t frame, uint32_t address,
                           uint32_t *begin, uint32_t *size);

#endif
