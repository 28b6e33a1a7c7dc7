/* SPDX-License-Identifier: Apache-2.0 */
/* How the run-time asks the engine: numbers of calls.def, for assembly, and a function for each
 * number of arguments, for C. */
#ifndef RUNTIME_CALLS_H
#define RUNTIME_CALLS_H

enum {
#define CALL(number, name, barrier, arguments) ORDEAL_##name = number,
#include "../calls.def"
#undef CALL
};

/* A program's own function of the same name takes its place. */
#define WEAK __attribute__((weak))

static inline int ordeal_call3(int number, long a, long b, long c)
{
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return (int)a0;
}
static inline int ordeal_call2(int number, long a, long b) { return ordeal_call3(number, a, b, 0); }
static inline int ordeal_call1(int number, long a) { return ordeal_call3(number, a, 0, 0); }
static inline int ordeal_call0(int number) { return ordeal_call3(number, 0, 0, 0); }

#endif
