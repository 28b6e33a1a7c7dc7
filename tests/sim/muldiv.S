/* SPDX-License-Identifier: Apache-2.0 */
// Multiplication and division: high halves of all signs, division by zero, overflow.
#include "test.h"
#define OP(op, a, b, want) li a1, a; li a2, b; op a0, a1, a2; EXPECT(a0, want)
BEGIN
    OP(mul, 7, -3, -21)
    OP(mul, 0x12345678, 0x9abcdef0, 0x242d2080)
    OP(mul, 0x80000000, 0x80000000, 0)
#ifndef LEAN // which multiplies, the signs of high halves aside, and no more
    OP(mulh, 0x80000000, 0x80000000, 0x40000000)
    OP(mulh, 0x7fffffff, 0x7fffffff, 0x3fffffff)
    OP(mulh, -1, -1, 0)
    OP(mulh, -1, 1, -1)
    OP(mulh, 0x80000000, 0x7fffffff, 0xc0000000)
    OP(mulhsu, -1, 0xffffffff, 0xffffffff)
    OP(mulhsu, 0x80000000, 0xffffffff, 0x80000000)
    OP(mulhsu, 0x7fffffff, 0xffffffff, 0x7ffffffe)
    OP(mulhsu, -1, 1, 0xffffffff)
#endif
    OP(mulhu, 0xffffffff, 0xffffffff, 0xfffffffe)
    OP(mulhu, 0x80000000, 2, 1)
    OP(mulhu, 0x10000, 0x10000, 1)
    OP(mulhu, 0x12345678, 0x9abcdef0, 0x0b00ea4e)
#ifndef LEAN
    OP(div, 20, 6, 3)
    OP(div, -20, 6, -3)
    OP(div, 20, -6, -3)
    OP(div, -20, -6, 3)
    OP(div, 1, 0, -1)
    OP(div, 0, 0, -1)
    OP(div, 0x80000000, -1, 0x80000000)
    OP(div, 0x80000000, 1, 0x80000000)
    OP(divu, 0xffffffff, 16, 0x0fffffff)
    OP(divu, 0x80000000, 0xffffffff, 0)
    OP(divu, 5, 0, 0xffffffff)
    OP(divu, 0xffffffff, 1, 0xffffffff)
    OP(rem, 20, 6, 2)
    OP(rem, -20, 6, -2)
    OP(rem, 20, -6, 2)
    OP(rem, -20, -6, -2)
    OP(rem, 123, 0, 123)
    OP(rem, -123, 0, -123)
    OP(rem, 0x80000000, -1, 0)
    OP(remu, 0xffffffff, 16, 15)
    OP(remu, 0x80000000, 0xffffffff, 0x80000000)
    OP(remu, 9, 0, 9)
#endif
    // Sources and destination the same register; results one after another; x0 as the destination.
    li a0, -7
    mul a0, a0, a0
    EXPECT(a0, 49)
#ifndef LEAN
    li a1, 100
    li a2, 7
    divu a0, a1, a2
    remu a3, a1, a2
    mul a4, a0, a2
    add a4, a4, a3
    EXPECT(a4, 100)
    div zero, a1, a2
    mv a0, zero
    EXPECT(a0, 0)
    div a1, a1, a1
    EXPECT(a1, 1)
#endif
    PASS
