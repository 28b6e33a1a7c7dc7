/* SPDX-License-Identifier: Apache-2.0 */
// Integer instructions: register and immediate forms, signs, shifts by 0 and 31, x0.
#include "test.h"
#define OP(op, a, b, want) li a1, a; li a2, b; op a0, a1, a2; EXPECT(a0, want)
#define OPI(op, a, i, want) li a1, a; op a0, a1, i; EXPECT(a0, want)
BEGIN
    OP(add, 0x7fffffff, 1, 0x80000000)
    OP(add, 0xffffffff, 0xffffffff, 0xfffffffe)
    OP(sub, 0, 1, 0xffffffff)
    OP(sub, 0x80000000, 1, 0x7fffffff)
    OP(sll, 0x12345678, 0, 0x12345678)
    OP(sll, 1, 31, 0x80000000)
    OP(sll, 1, 33, 2)
    OP(slt, 0x80000000, 0x7fffffff, 1)
    OP(slt, 0x7fffffff, 0x80000000, 0)
    OP(slt, 5, 5, 0)
    OP(sltu, 0x80000000, 0x7fffffff, 0)
    OP(sltu, 0, 0xffffffff, 1)
    OP(xor, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0)
    OP(srl, 0x80000000, 31, 1)
    OP(srl, 0xffffffff, 32, 0xffffffff)
    OP(sra, 0x80000000, 31, 0xffffffff)
    OP(sra, 0x7fffffff, 30, 1)
    OP(or, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0)
    OP(and, 0xff00ff00, 0x0ff00ff0, 0x0f000f00)
    OPI(addi, 0x7fffffff, 2047, 0x800007fe)
    OPI(addi, 0, -2048, 0xfffff800)
    OPI(slti, -1, 0, 1)
    OPI(slti, 0, -1, 0)
    OPI(sltiu, 0, -1, 1)
    OPI(sltiu, 1, 1, 0)
    OPI(xori, 0x00ff00ff, -1, 0xff00ff00)
    OPI(ori, 0x00ff0000, -256, 0xffffff00)
    OPI(andi, 0xffffffff, 0x7ff, 0x7ff)
    OPI(andi, 0x12345678, -16, 0x12345670)
    OPI(slli, 0xffffffff, 31, 0x80000000)
    OPI(slli, 0x12345678, 4, 0x23456780)
    OPI(srli, 0xffffffff, 31, 1)
    OPI(srai, 0x87654321, 4, 0xf8765432)
    OPI(srai, 0x80000000, 31, 0xffffffff)
    lui a0, 0xfffff
    EXPECT(a0, 0xfffff000)
    lui a0, 0x80000
    EXPECT(a0, 0x80000000)
here:
    auipc a0, 0x12345
    la a1, here
    sub a0, a0, a1
    EXPECT(a0, 0x12345000)
    // x0 stays 0 whatever is written to it, and results are there for the next instruction.
    li a1, 77
    add zero, a1, a1
    addi zero, zero, 5
    lui zero, 0x12345
    mv a0, zero
    EXPECT(a0, 0)
    li a0, 1
    add a0, a0, a0
    add a0, a0, a0
    add a0, a0, a0
    add a1, a0, a0
    sub a2, a1, a0
    EXPECT(a2, 8)
    PASS
