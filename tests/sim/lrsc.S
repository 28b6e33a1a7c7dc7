/* SPDX-License-Identifier: Apache-2.0 */
// LR and SC: pairs succeed, an SC without a reservation fails, and what takes the reservation away.
#include "test.h"
BEGIN
    li a1, 5
    sw a1, 0(s10)
    // An SC may fail for no reason, but not for ever.
    li a5, 100
1:  addi a5, a5, -1
    beqz a5, never
    lr.w a0, (s10)
    addi a2, a0, 1
    sc.w a3, a2, (s10)
    bnez a3, 1b
    EXPECT(a0, 5)
    lw a0, 0(s10)
    EXPECT(a0, 6)
    // A second SC fails, and writes nothing.
    li a2, 99
    sc.w a3, a2, (s10)
    EXPECT(a3, 1)
    lw a0, 0(s10)
    EXPECT(a0, 6)
    // To another line than that of the LR it fails, and the reservation is gone then.
    addi a4, s10, 512
    sw zero, 0(a4)
    lr.w a0, (s10)
    sc.w a3, a2, (a4)
    EXPECT(a3, 1)
    lw a0, 0(a4)
    EXPECT(a0, 0)
    sc.w a3, a2, (s10)
    EXPECT(a3, 1)
    lw a0, 0(s10)
    EXPECT(a0, 6)
    // An SC whose result nobody wants writes all the same, sooner or later.
    li a5, 100
2:  addi a5, a5, -1
    beqz a5, never
    lr.w a0, (s10)
    sc.w zero, a2, (s10)
    lw a0, 0(s10)
    bne a0, a2, 2b
    // The acquire and release bits.
    li a5, 100
3:  addi a5, a5, -1
    beqz a5, never
    lr.w.aqrl a0, (s10)
    addi a0, a0, 1
    sc.w.aqrl a3, a0, (s10)
    bnez a3, 3b
    lw a0, 0(s10)
    EXPECT(a0, 100)
    // All harts count on one word.
    li a4, 30
4:  lr.w a0, (s8)
    addi a0, a0, 1
    sc.w a1, a0, (s8)
    bnez a1, 4b
    addi a4, a4, -1
    bnez a4, 4b
    lw a2, 0x7f8(s8)
    li a3, 30
    mul a2, a2, a3
5:  lw a0, 0(s8)
    bne a0, a2, 5b
    PASS
never:
    FAIL
