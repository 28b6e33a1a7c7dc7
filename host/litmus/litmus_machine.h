/* SPDX-License-Identifier: Apache-2.0 */
/* One thread of a litmus test as it goes: registers with the accesses that their values depend
 * on, and what was accessed so far. Where there is a choice, of the value a load sees, or
 * whether an SC stores, a script says what was chosen, and grows by the first choice where it
 * ends. */
#ifndef LITMUS_MACHINE_H
#define LITMUS_MACHINE_H

#include "litmus/litmus_lex.h"

enum { LITMUS_EVENTS = 64, LITMUS_CHOICES = 2 * LITMUS_EVENTS };

/* An access or a fence. What it needs are sets of accesses of its thread: bit n is event n. */
struct litmus_event {
    uint8_t kind, size_log2, flags; /* as in struct ordeal_op */
    uint8_t extra;                  /* a fence's flavours, an AMO's function */
    bool reads, writes, computed;   /* computed: what it writes comes of what it reads */
    uint32_t location, offset, line;
    uint64_t read, operand, written;
    uint64_t address_of, data_of, control_of;
};

/* That somebody may store this value there. */
struct litmus_store {
    uint32_t location;
    uint8_t offset, size_log2;
    uint64_t value;
};

struct litmus_known {
    LIST(struct litmus_store) store[LITMUS_THREADS];
};

struct litmus_script {
    uint32_t count, at;
    struct {
        uint32_t chosen, of;
    } choice[LITMUS_CHOICES];
};

struct litmus_machine {
    const struct litmus *test;
    const struct litmus_known *known;
    struct litmus_script *script;
    struct litmus_lexer *where; /* for what is refused */
    uint32_t thread, next;      /* next: number of an instruction */
    struct {
        uint64_t value, needs;
    } reg[LITMUS_REGISTERS];
    struct {
        uint64_t left, right, result, needs;
        bool inexact; /* only whether they are equal is known, and the sign of the result */
    } compared;
    uint64_t control; /* needed by branches since the last access */
    int reserved;     /* event of the last LR; -1: none, or used up */
    uint32_t events;
    struct litmus_event event[LITMUS_EVENTS];
};

/* ---- what an architecture brings ----------------------------------------------------------- */

/* Number of a register, LITMUS_NO_REGISTER: there is no such; its size where the name says it. */
uint32_t litmus_register_find(enum litmus_arch arch, const struct litmus_token *t,
                              uint8_t *size_log2);

/* At an instruction: reads it up to what ends its cell. Of a branch `label` is set. */
bool litmus_riscv_read(struct litmus_lexer *l, struct litmus *test, struct litmus_instruction *i,
                       struct litmus_token *label);
bool litmus_x86_read(struct litmus_lexer *l, struct litmus *test, struct litmus_instruction *i,
                     struct litmus_token *label);
/* Does it, and moves on. */
bool litmus_riscv_step(struct litmus_machine *m, const struct litmus_instruction *i);
bool litmus_x86_step(struct litmus_machine *m, const struct litmus_instruction *i);

uint32_t litmus_riscv_register(const struct litmus_token *t);
uint32_t litmus_x86_register(const struct litmus_token *t, enum litmus_arch arch,
                             uint8_t *size_log2);
const char *litmus_x86_register_name(uint32_t number, enum litmus_arch arch, bool narrow);

/* ---- what they do it with ------------------------------------------------------------------ */

/* All return false with the reason told, or true. */
uint32_t litmus_choose(struct litmus_machine *m, uint32_t of);
/* The place that a memory operand means, and what its address needs. */
bool litmus_locate(struct litmus_machine *m, const struct litmus_instruction *i,
                   const struct litmus_operand *operand, uint8_t size_log2, struct litmus_event *e);
/* Chooses what it reads. */
bool litmus_choose_value(struct litmus_machine *m, const struct litmus_instruction *i,
                         struct litmus_event *e);
/* Appends it; returns its set, 0: refused. */
uint64_t litmus_add_event(struct litmus_machine *m, const struct litmus_instruction *i,
                          const struct litmus_event *e);
bool litmus_add_fence(struct litmus_machine *m, const struct litmus_instruction *i,
                      uint8_t barrier);
bool litmus_relation_holds(enum litmus_relation relation, uint64_t a, uint64_t b);

static inline uint64_t litmus_cut(uint64_t value, uint8_t size_log2)
{
    return size_log2 >= 3 ? value : value & ((UINT64_C(1) << (8u << size_log2)) - 1);
}
static inline uint64_t litmus_extend(uint64_t value, uint8_t size_log2)
{
    unsigned shift = size_log2 >= 3 ? 0 : 64 - (8u << size_log2);
    return (uint64_t)((int64_t)(value << shift) >> shift);
}

/* `store` over what memory holds at the place. */
uint64_t litmus_overlay(uint64_t value, uint32_t offset, uint8_t size_log2,
                        const struct litmus_store *store);
static inline bool litmus_overlap(uint32_t a, uint8_t a_log2, uint32_t b, uint8_t b_log2)
{
    return a < b + (1u << b_log2) && b < a + (1u << a_log2);
}
uint64_t litmus_initial(const struct litmus *test, uint32_t location, uint32_t offset,
                        uint8_t size_log2);

/* All values that come from `values` by any of `stores`, in any order, any number of times; false:
 * there are more than `most`. */
enum { LITMUS_VALUES = 1024 };
struct litmus_values {
    uint32_t count;
    uint64_t value[LITMUS_VALUES];
};
bool litmus_close(struct litmus_values *values, uint32_t offset, uint8_t size_log2,
                  const struct litmus_store *store, size_t stores);

#endif
