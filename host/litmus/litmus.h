/* SPDX-License-Identifier: Apache-2.0 */
/* A litmus test as it was read from a file of herd7's format: threads of instructions, what
 * registers and memory hold at first, and a condition on what they hold at the end.
 *
 * A location is 64 bytes of memory of its own. Its address is a number that nothing else is
 * likely to be, so that registers and memory hold plain numbers; litmus_is_address() tells. */
#ifndef LITMUS_H
#define LITMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ordeal.h"
#include "base/list.h"

enum litmus_arch { LITMUS_RISCV, LITMUS_X86, LITMUS_X86_64, LITMUS_ARCHS };

enum {
    LITMUS_LINE = 64,            /* bytes of a location */
    LITMUS_ADDRESS = 0x4a110000, /* of the first location */
    LITMUS_REGISTERS = 32,
    LITMUS_NO_REGISTER = 255,
    LITMUS_THREADS = 32,
    LITMUS_LOCATIONS = 256,
};

struct litmus_place {
    uint32_t line, column;
};

/* ---- instructions ------------------------------------------------------------------------ */

enum litmus_operand_kind { LITMUS_NONE, LITMUS_REGISTER, LITMUS_NUMBER, LITMUS_MEMORY };

/* Of memory: the sum of a register, unless it is LITMUS_NO_REGISTER, and a number. */
struct litmus_operand {
    uint8_t kind, reg, size_log2;
    int64_t number;
};

/* clang-format off */
enum litmus_kind {
    LITMUS_COMPUTE, LITMUS_BRANCH, LITMUS_LOAD, LITMUS_STORE, LITMUS_LR, LITMUS_SC, LITMUS_AMO,
    LITMUS_FENCE, LITMUS_MOV, LITMUS_UPDATE, LITMUS_COMPARE, LITMUS_XCHG, LITMUS_XADD,
    LITMUS_CMPXCHG,
};

enum litmus_operator {
    LITMUS_ADD, LITMUS_SUB, LITMUS_AND, LITMUS_OR, LITMUS_XOR, LITMUS_SLL, LITMUS_SRL, LITMUS_SRA,
    LITMUS_SLT, LITMUS_SLTU,
};

enum litmus_relation {
    LITMUS_ALWAYS, LITMUS_EQ, LITMUS_NE, LITMUS_LT, LITMUS_GE, LITMUS_LTU, LITMUS_GEU, LITMUS_LE,
    LITMUS_GT, LITMUS_LEU, LITMUS_GTU, LITMUS_SIGN, LITMUS_NO_SIGN,
};
/* clang-format on */

enum {
    LITMUS_AQ = 1,
    LITMUS_RL = 2,
    LITMUS_UNSIGNED = 4, /* of a load: with zeros above */
    LITMUS_WORD = 8,     /* the result is 32 bits, with its sign above */
    LITMUS_LOCK = 16,
};

struct litmus_instruction {
    uint8_t kind, operation, size_log2, flags;
    uint8_t barrier;                  /* of a fence: the library's flavours */
    struct litmus_operand operand[3]; /* RISC-V: destination first; x86: destination, source */
    uint32_t target;                  /* of a branch: number of an instruction */
    struct litmus_place place;
};

struct litmus_thread {
    LIST(struct litmus_instruction) code;
    uint64_t initial[LITMUS_REGISTERS];
};

/* ---- memory, variables and conditions ----------------------------------------------------- */

struct litmus_location {
    char *name;
    uint64_t initial;
    uint8_t size_log2;
    bool typed, is_unsigned, is_set;
};

/* A register of a thread, or a location. */
struct litmus_variable {
    uint32_t thread; /* LITMUS_THREADS: a location */
    uint32_t number;
    bool shown, is_unsigned, narrow; /* narrow: a register of which 32 bits count */
    bool keyed;                      /* shown, or somebody wants an execution by it */
};

/* clang-format off */
enum litmus_node_kind {
    LITMUS_TRUE, LITMUS_FALSE, LITMUS_EQUALS, LITMUS_SAME, LITMUS_NOT, LITMUS_BOTH, LITMUS_EITHER,
    LITMUS_IMPLIES,
};
/* clang-format on */

struct litmus_node {
    enum litmus_node_kind kind;
    uint32_t left, right; /* nodes; of EQUALS and SAME variables */
    uint64_t value;
};

enum litmus_quantifier { LITMUS_EXISTS, LITMUS_NOT_EXISTS, LITMUS_FORALL };

struct litmus {
    enum litmus_arch arch;
    char *name;
    uint32_t threads;
    struct litmus_thread *thread;
    LIST(struct litmus_location) locations;
    LIST(struct litmus_variable) variables;
    LIST(struct litmus_node) nodes;
    enum litmus_quantifier quantifier;
    uint32_t condition, filter, outcome; /* nodes; UINT32_MAX: none */
};

/* Reads a test; `file` is for messages. False: `e`. litmus_free() either way. */
bool litmus_read(struct litmus *test, const char *text, size_t length, const char *file,
                 struct ordeal_error *e);
/* A condition of its own, as after `exists`, on the variables of a test that was read. */
bool litmus_read_outcome(struct litmus *test, const char *text, struct ordeal_error *e);
void litmus_free(struct litmus *test);

static inline uint64_t litmus_address_of(uint32_t location)
{
    return LITMUS_ADDRESS + (uint64_t)location * LITMUS_LINE;
}
/* The location that an address lies in; UINT32_MAX: none. */
uint32_t litmus_location_at(const struct litmus *test, uint64_t address);
/* `narrow`: of which 32 bits count. */
const char *litmus_register_name(enum litmus_arch arch, uint32_t number, bool narrow);

#endif
