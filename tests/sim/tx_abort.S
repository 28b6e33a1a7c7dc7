/* SPDX-License-Identifier: Apache-2.0 */
// Explicit aborts: memory is as before, clean and dirty lines alike; the status has the code;
// targets before and behind.
// tm
// count TX_ABORTED 4
#include "test.h"
BEGIN
    // Dirty, clean, and never seen lines; forwards.
    li a1, 0x1111
    sw a1, 0(s10)
    fence
    lw a2, 16(s10)
    li a0, 0x55
    li a3, 0x3333
    TX_BEGIN(a0, 1f)
    sw a3, 0(s10)
    sw a3, 4(s10)
    sw a3, 16(s10)
    sw a3, 512(s10)
    sb a3, 1(s10)
    lw a4, 0(s10)
    TX_ABORT(0x5a)
    FAIL
1:  andi a2, a0, 0xf
    li a5, TX_EXPLICIT
    beq a2, a5, 2f
    EXPECT(a0, TX_CAPACITY) // a cache of two lines
    j small
2:  EXPECT(a0, 0x5a00 | TX_EXPLICIT)
small:
    lw a0, 0(s10)
    EXPECT(a0, 0x1111)
    lw a0, 4(s10)
    EXPECT(a0, 0)
    lw a0, 16(s10)
    EXPECT(a0, 0)
    lw a0, 512(s10)
    EXPECT(a0, 0)
    // Backwards; a loop of aborts with growing codes, one line each.
    li a4, 0
    li s7, 100
    j 4f
3:  andi a2, a0, 0xf
    addi s7, s7, -1
    beqz s7, never
    addi a2, a2, -TX_EXPLICIT
    bnez a2, 4f             // that was another reason
    EXPECT(a0, 0x100 | TX_EXPLICIT)
    lw a2, 0(s10)
    EXPECT(a2, 0x1111)
    addi a4, a4, 1
    li a2, 10
    beq a4, a2, 5f
4:  TX_BEGIN(a0, 3b)
    sw a4, 0(s10)
    amoadd.w zero, a3, (s10)
    TX_ABORT(1)
    FAIL
    // After an abort the next transaction commits; stores and loads go on as always.
5:  li s7, 100
6:  addi s7, s7, -1
    beqz s7, never
    TX_BEGIN(zero, 6b)
    lw a2, 0(s10)
    addi a2, a2, 1
    sw a2, 0(s10)
    TX_COMMIT
    lw a0, 0(s10)
    EXPECT(a0, 0x1112)
    // An abort with a load on its way: its register can be used at once.
    TX_BEGIN(a0, 7f)
    lw a2, 1024(s10)
    TX_ABORT(2)
    FAIL
7:  li a2, 5
    add a2, a2, a2
    EXPECT(a2, 10)
    // The status is not wanted.
    TX_BEGIN(zero, unwanted)
    TX_ABORT(255)
    FAIL
unwanted: mv a0, zero
    EXPECT(a0, 0)
    PASS
never:
    FAIL
