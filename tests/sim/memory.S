/* SPDX-License-Identifier: Apache-2.0 */
// Loads and stores of all sizes at all places of a word, extension of signs, neighbours untouched.
#include "test.h"
BEGIN
    li a1, 0x81c2e3f4
    sw a1, 0(s10)
    li a1, 0x01020304
    sw a1, 4(s10)
    fence
    lw a0, 0(s10)
    EXPECT(a0, 0x81c2e3f4)
    lb a0, 0(s10)
    EXPECT(a0, 0xfffffff4)
    lb a0, 1(s10)
    EXPECT(a0, 0xffffffe3)
    lb a0, 2(s10)
    EXPECT(a0, 0xffffffc2)
    lb a0, 3(s10)
    EXPECT(a0, 0xffffff81)
    lbu a0, 0(s10)
    EXPECT(a0, 0xf4)
    lbu a0, 1(s10)
    EXPECT(a0, 0xe3)
    lbu a0, 2(s10)
    EXPECT(a0, 0xc2)
    lbu a0, 3(s10)
    EXPECT(a0, 0x81)
    lh a0, 0(s10)
    EXPECT(a0, 0xffffe3f4)
    lh a0, 2(s10)
    EXPECT(a0, 0xffff81c2)
    lhu a0, 0(s10)
    EXPECT(a0, 0xe3f4)
    lhu a0, 2(s10)
    EXPECT(a0, 0x81c2)
    lb a0, 7(s10)
    EXPECT(a0, 1)
    lh a0, 4(s10)
    EXPECT(a0, 0x304)
    // Bytes and halves go where they belong, with upper bits of the register ignored.
    li a1, 0xaabbccdd
    sb a1, 1(s10)
    lw a0, 0(s10)
    EXPECT(a0, 0x81c2ddf4)
    sb a1, 3(s10)
    lw a0, 0(s10)
    EXPECT(a0, 0xddc2ddf4)
    sh a1, 2(s10)
    lw a0, 0(s10)
    EXPECT(a0, 0xccddddf4)
    sh zero, 0(s10)
    fence
    lw a0, 0(s10)
    EXPECT(a0, 0xccdd0000)
    lw a0, 4(s10)
    EXPECT(a0, 0x01020304)
    // 256 words there and back: more than the cache holds where it is small.
    mv a2, s10
    li a3, 256
    li a1, 0x1357
1:  sw a1, 0(a2)
    addi a1, a1, 0x111
    addi a2, a2, 4
    addi a3, a3, -1
    bnez a3, 1b
    mv a2, s10
    li a3, 256
    li a1, 0x1357
2:  lw a0, 0(a2)
    EXPECT_EQUAL(a0, a1)
    addi a1, a1, 0x111
    addi a2, a2, 4
    addi a3, a3, -1
    bnez a3, 2b
    // Negative offsets, and a load whose destination is its base.
    addi a2, s10, 1024
    lw a0, -1024(a2)
    EXPECT(a0, 0x1357)
    addi a2, s10, 4
    sw a2, 0(s10)
    mv a3, s10
    lw a3, 0(a3)
    EXPECT_EQUAL(a3, a2)
    // Many loads in flight; a result that nobody wants; one register loaded twice.
    lw a0, 16(s10)
    lw a1, 20(s10)
    lw a2, 24(s10)
    lw a3, 28(s10)
    lw a4, 32(s10)
    lw a5, 36(s10)
    lw zero, 40(s10)
    sub a1, a1, a0
    sub a3, a3, a2
    sub a5, a5, a4
    EXPECT(a1, 0x111)
    EXPECT(a3, 0x111)
    EXPECT(a5, 0x111)
    lw a0, 16(s10)
    lw a0, 20(s10)
    lw a1, 16(s10)
    sub a0, a0, a1
    EXPECT(a0, 0x111)
    lw a0, 16(s10)
    li a0, 7
    EXPECT(a0, 7)
    PASS
