/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of the x86-64, one instruction a call, into a buffer of the caller's.
 *
 * Only what tests are made of. Knows nothing of tests and runs on any machine. When the buffer is
 * full the rest is dropped and `full` is set; asked once at the end, that is enough. */
#ifndef HOST_X86_H
#define HOST_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_register {
    RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, X86_REGISTERS
};
/* clang-format off */
enum x86_condition { X86_BELOW = 2, X86_NOT_CARRY = 3, X86_EQUAL = 4, X86_NOT_EQUAL = 5,
                     X86_ABOVE = 7, X86_LESS = 12, X86_GREATER = 15, X86_ALWAYS = 16 };
/* clang-format on */
enum x86_arithmetic { X86_ADD, X86_OR, X86_AND = 4, X86_SUB, X86_XOR, X86_CMP };

struct x86 {
    uint8_t *code;
    size_t length, capacity;
    bool full;
};

/* [base + index + displacement]; index RSP: none, which is also how the machine says it. */
struct x86_place {
    enum x86_register base, index;
    int32_t displacement;
};

/* `size_log2` is that of the access in memory: 0 to 3. A value loaded fills its register with zeros
 * above. Immediates of a store are sign-extended to 8 bytes. */
void x86_load(struct x86 *x, unsigned size_log2, enum x86_register to, struct x86_place from);
/* The same of up to 4 bytes, with copies of their sign above. */
void x86_load_signed(struct x86 *x, unsigned size_log2, enum x86_register to,
                     struct x86_place from);
void x86_store(struct x86 *x, unsigned size_log2, struct x86_place to, enum x86_register from);
void x86_store_immediate(struct x86 *x, unsigned size_log2, struct x86_place to, int32_t value);
void x86_exchange(struct x86 *x, unsigned size_log2, struct x86_place at, enum x86_register with);
/* Compares with RAX, leaves there what it read; the bytes of RAX above the access may stay. */
void x86_compare_exchange(struct x86 *x, unsigned size_log2, struct x86_place at,
                          enum x86_register desired);

/* Adds to memory, and leaves what was there. */
void x86_exchange_add(struct x86 *x, unsigned size_log2, struct x86_place at,
                      enum x86_register with);

void x86_move(struct x86 *x, enum x86_register to, enum x86_register from);
void x86_zero_extend(struct x86 *x, unsigned size_log2, enum x86_register to,
                     enum x86_register from);
void x86_immediate(struct x86 *x, enum x86_register to, uint64_t value);
void x86_address(struct x86 *x, enum x86_register to, struct x86_place of);    /* lea */
void x86_arithmetic(struct x86 *x, enum x86_arithmetic what, enum x86_register to,
                    enum x86_register with);
void x86_arithmetic_immediate(struct x86 *x, bool wide, enum x86_arithmetic what,
                              enum x86_register to, int32_t value);
void x86_arithmetic_memory(struct x86 *x, enum x86_arithmetic what, enum x86_register to,
                           struct x86_place with);
void x86_compare(struct x86 *x, unsigned size_log2, enum x86_register of, struct x86_place with);
void x86_load_if(struct x86 *x, enum x86_condition when, enum x86_register to,
                 struct x86_place from); /* 8 bytes */
void x86_multiply(struct x86 *x, enum x86_register to, enum x86_register by);
void x86_multiply_immediate(struct x86 *x, enum x86_register to, enum x86_register from,
                            int32_t by);
void x86_shift_right_once(struct x86 *x, enum x86_register of);    /* 32 bits; carry: the bit */
void x86_test_byte(struct x86 *x, enum x86_register of, uint8_t bits);    /* RAX to RBX */
void x86_decrement_memory(struct x86 *x, struct x86_place at);     /* 4 bytes */
void x86_compare_memory(struct x86 *x, struct x86_place at, int8_t with); /* 4 bytes */

/* Vector registers, 0 to 15: `size_log2` 2, 3 or 4. */
void x86_vector_load(struct x86 *x, unsigned size_log2, unsigned to, struct x86_place from);
void x86_vector_store(struct x86 *x, unsigned size_log2, struct x86_place to, unsigned from);
void x86_vector_zero(struct x86 *x, unsigned which);
void x86_vector_low(struct x86 *x, unsigned to, enum x86_register from);   /* the rest becomes 0 */
void x86_vector_high(struct x86 *x, unsigned to, enum x86_register from);  /* the rest stays */

void x86_push(struct x86 *x, enum x86_register which);
void x86_pop(struct x86 *x, enum x86_register which);

enum x86_simple { X86_RETURN, X86_LFENCE, X86_SFENCE, X86_MFENCE, X86_SYSCALL, X86_XEND };
void x86_simple(struct x86 *x, enum x86_simple which);
enum x86_cache { X86_PREFETCH, X86_CLFLUSH, X86_CLFLUSHOPT };
void x86_cache(struct x86 *x, enum x86_cache what, struct x86_place at);

/* Forward jumps return where they are; x86_land() lets them go to the next instruction. */
size_t x86_jump(struct x86 *x, enum x86_condition when);
size_t x86_xbegin(struct x86 *x);      /* an abort goes to where it lands */
void x86_land(struct x86 *x, size_t jump);
void x86_jump_back(struct x86 *x, enum x86_condition when, size_t to);
void x86_xabort(struct x86 *x, uint8_t why);

#endif
