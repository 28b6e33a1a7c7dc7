/* SPDX-License-Identifier: Apache-2.0 */
// amocas.w: writes where the values are the same, and not otherwise; always gives what was there.
#include "test.h"
BEGIN
    li a1, 0x1234
    sw a1, 0(s10)
    li a0, 0x1234
    li a2, 0x5678
    AMOCAS(a0, a2, s10)
    EXPECT(a0, 0x1234)
    lw a3, 0(s10)
    EXPECT(a3, 0x5678)
    li a0, 0x1234
    li a2, 0x9999
    AMOCAS(a0, a2, s10)
    EXPECT(a0, 0x5678)
    lw a3, 0(s10)
    EXPECT(a3, 0x5678)
    // One bit apart, at either end.
    li a0, 0x80005678
    AMOCAS(a0, a2, s10)
    EXPECT(a0, 0x5678)
    li a0, 0x5679
    AMOCAS(a0, a2, s10)
    EXPECT(a0, 0x5678)
    lw a3, 0(s10)
    EXPECT(a3, 0x5678)
    // x0 compares with 0 and takes nothing.
    AMOCAS(zero, a2, s10)
    lw a3, 0(s10)
    EXPECT(a3, 0x5678)
    sw zero, 0(s10)
    AMOCAS(zero, a2, s10)
    lw a3, 0(s10)
    EXPECT(a3, 0x9999)
    // The same value written; the compared value comes from a load just before.
    li a0, 0x9999
    AMOCAS(a0, a2, s10)
    EXPECT(a0, 0x9999)
    li a2, 0x77
    lw a0, 0(s10)
    AMOCAS(a0, a2, s10)
    EXPECT(a0, 0x9999)
    lw a3, 0(s10)
    EXPECT(a3, 0x77)
    // Destination and source the same register.
    li a0, 0x77
    AMOCAS(a0, a0, s10)
    EXPECT(a0, 0x77)
    // All harts count on one word.
    li a4, 30
1:  lw a0, 0(s8)
2:  mv a1, a0
    addi a2, a0, 1
    AMOCAS(a0, a2, s8)
    bne a0, a1, 2b
    addi a4, a4, -1
    bnez a4, 1b
    lw a2, 0x7f8(s8)
    li a3, 30
    mul a2, a2, a3
3:  lw a0, 0(s8)
    bne a0, a2, 3b
    PASS
