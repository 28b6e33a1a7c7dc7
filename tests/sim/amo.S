/* SPDX-License-Identifier: Apache-2.0 */
// Atomic operations: what they read, what they leave, acquire and release bits, x0, and order.
// count ATOMIC 20
#include "test.h"
#define AMO(op, memory, b, want) \
    li a1, memory; sw a1, 0(s10); li a2, b; op a0, a2, (s10); EXPECT(a0, memory); \
    lw a3, 0(s10); EXPECT(a3, want)
BEGIN
    AMO(amoswap.w, 0x12345678, 0x9abcdef0, 0x9abcdef0)
    AMO(amoadd.w, 0x7fffffff, 1, 0x80000000)
    AMO(amoadd.w, 5, -6, -1)
    AMO(amoxor.w, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0)
    AMO(amoand.w, 0xff00ff00, 0x0ff00ff0, 0x0f000f00)
    AMO(amoor.w, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0)
    AMO(amomin.w, 0x80000000, 1, 0x80000000)
    AMO(amomin.w, 1, 0x80000000, 0x80000000)
    AMO(amomax.w, 0x80000000, 1, 1)
    AMO(amomax.w, 7, 7, 7)
    AMO(amominu.w, 0x80000000, 1, 1)
    AMO(amominu.w, 1, 0x80000000, 1)
    AMO(amomaxu.w, 0x80000000, 1, 0x80000000)
    AMO(amomaxu.w, 1, 0x80000000, 0x80000000)
    AMO(amoswap.w.aq, 1, 2, 2)
    AMO(amoswap.w.rl, 3, 4, 4)
    AMO(amoadd.w.aqrl, 5, 6, 11)
    // Without a destination; with destination, source and address the same registers.
    li a1, 10
    sw a1, 0(s10)
    li a2, 5
    amoadd.w zero, a2, (s10)
    lw a0, 0(s10)
    EXPECT(a0, 15)
    li a0, 100
    amoadd.w a0, a0, (s10)
    EXPECT(a0, 15)
    lw a0, 0(s10)
    EXPECT(a0, 115)
    mv a2, s10
    amoadd.w a2, a1, (a2)
    EXPECT(a2, 115)
    // Stores before are done, loads after see it; the neighbours keep theirs.
    li a1, 0x11
    sw a1, 4(s10)
    sw a1, 8(s10)
    addi a3, s10, 4
    li a2, 0x22
    amoadd.w a0, a2, (a3)
    lw a4, 4(s10)
    lw a5, 8(s10)
    EXPECT(a0, 0x11)
    EXPECT(a4, 0x33)
    EXPECT(a5, 0x11)
    sb a2, 1(a3)
    amoor.w a0, zero, (a3)
    EXPECT(a0, 0x2233)
    // Adding up in a loop over more lines than a small cache has.
    li a4, 8
1:  mv a3, s10
    li a5, 32
2:  addi a3, a3, 16
    amoadd.w zero, a2, (a3)
    addi a5, a5, -1
    bnez a5, 2b
    addi a4, a4, -1
    bnez a4, 1b
    addi a3, s10, 256
    lw a0, 0(a3)
    EXPECT(a0, 0x110)
    // All harts on one word: the last to come finds all others' additions.
    li a1, 1
    li a4, 50
3:  amoadd.w a0, a1, (s8)
    addi a4, a4, -1
    bnez a4, 3b
    lw a2, 0x7f8(s8)
    li a3, 50
    mul a2, a2, a3
4:  lw a0, 0(s8)
    bne a0, a2, 4b
    PASS
