/* SPDX-License-Identifier: Apache-2.0 */
// Past the cache: all sizes, atomics, and both ways mixed, each on lines of its own.
// count UNCACHED 20
#include "test.h"
BEGIN
    addi s9, s9, 1024
    li a1, 0x81c2e3f4
    sw a1, 0(s9)
    lw a0, 0(s9)
    EXPECT(a0, 0x81c2e3f4)
    lb a0, 3(s9)
    EXPECT(a0, 0xffffff81)
    lbu a0, 1(s9)
    EXPECT(a0, 0xe3)
    lh a0, 2(s9)
    EXPECT(a0, 0xffff81c2)
    lhu a0, 0(s9)
    EXPECT(a0, 0xe3f4)
    li a2, 0xaa
    sb a2, 2(s9)
    lw a0, 0(s9)
    EXPECT(a0, 0x81aae3f4)
    sh zero, 0(s9)
    lw a0, 0(s9)
    EXPECT(a0, 0x81aa0000)
    // Stores one after another, then a load: the last.
    sw a1, 4(s9)
    sw a2, 4(s9)
    sw zero, 4(s9)
    lw a0, 4(s9)
    EXPECT(a0, 0)
    // Atomics.
    li a1, 40
    sw a1, 8(s9)
    addi a3, s9, 8
    amoadd.w a0, a2, (a3)
    EXPECT(a0, 40)
    lw a0, 8(s9)
    EXPECT(a0, 210)
    amoswap.w a0, a1, (a3)
    EXPECT(a0, 210)
    li a0, 41
    AMOCAS(a0, a2, a3)
    EXPECT(a0, 40)
    AMOCAS(a0, a2, a3)
    EXPECT(a0, 40)
    amomaxu.w a0, zero, (a3)
    EXPECT(a0, 170)
    amoadd.w zero, a2, (a3)
    lw a0, 8(s9)
    EXPECT(a0, 340)
    // An LR out here is a load.
    lr.w a0, (a3)
    EXPECT(a0, 340)
    // Cached and uncached, in turn.
    li a4, 32
1:  sw a4, 0(s10)
    sw a4, 16(s9)
    lw a0, 0(s10)
    lw a1, 16(s9)
    EXPECT_EQUAL(a0, a4)
    EXPECT_EQUAL(a1, a4)
    sw a4, 20(s9)
    sw a4, 4(s10)
    lw a1, 20(s9)
    lw a0, 4(s10)
    EXPECT_EQUAL(a0, a4)
    EXPECT_EQUAL(a1, a4)
    addi a4, a4, -1
    bnez a4, 1b
    // All harts add to one word past the cache.
    li a5, MAP_UNCACHED + 0x400
    li a1, 1
    li a4, 20
2:  amoadd.w zero, a1, (a5)
    addi a4, a4, -1
    bnez a4, 2b
    lw a2, 0x7f8(s8)
    li a3, 20
    mul a2, a2, a3
3:  lw a0, 0(a5)
    bne a0, a2, 3b
    PASS
