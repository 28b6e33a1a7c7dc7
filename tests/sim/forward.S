/* SPDX-License-Identifier: Apache-2.0 */
// Loads of what is still in the store buffer: whole, partial, youngest of several, other words.
// count FORWARD 6 TPR
// count PARTIAL_FORWARD 3 TPR
// count LOAD_PASSED_STORE 1 TPR
#include "test.h"
// Lines 1 KB apart miss wherever the cache is small enough, so that stores stay in the buffer.
#define SLOW(n) sw zero, 1024 + 16 * (n)(s10)
BEGIN
    li a1, 0x11223344
    li a2, 0x55667788
    li a3, 0x99aabbcc
    sw a1, 0(s10)
    sw a1, 4(s10)
    sw a1, 256(s10)
    sw a1, 512(s10)
    fence
    // The youngest of three.
    SLOW(0)
    sw a1, 0(s10)
    sw a2, 0(s10)
    sw a3, 0(s10)
    lw a0, 0(s10)
    EXPECT(a0, 0x99aabbcc)
    // A byte of the buffer over a word of it, and over the cache.
    SLOW(1)
    sw a1, 0(s10)
    sb a2, 1(s10)
    lw a0, 0(s10)
    EXPECT(a0, 0x11228844)
    fence
    SLOW(2)
    sb a2, 2(s10)
    lw a0, 0(s10)
    EXPECT(a0, 0x11888844)
    SLOW(3)
    sh a3, 0(s10)
    lw a0, 0(s10)
    EXPECT(a0, 0x1188bbcc)
    lh a0, 2(s10)
    EXPECT(a0, 0x1188)
    lb a0, 3(s10)
    EXPECT(a0, 0x11)
    lbu a0, 1(s10)
    EXPECT(a0, 0xbb)
    // Four bytes from four stores, then the same with one in the cache alone.
    fence
    SLOW(4)
    sb a1, 0(s10)
    sb a2, 1(s10)
    sb a3, 2(s10)
    sb zero, 3(s10)
    lw a0, 0(s10)
    EXPECT(a0, 0x00cc8844)
    fence
    SLOW(5)
    sb a2, 0(s10)
    sb a3, 1(s10)
    sb a1, 3(s10)
    lw a0, 0(s10)
    EXPECT(a0, 0x44cccc88)
    // Words 256 and 512 bytes away, and the neighbour, are others.
    fence
    SLOW(6)
    sw a2, 0(s10)
    lw a0, 256(s10)
    EXPECT(a0, 0x11223344)
    lw a0, 512(s10)
    EXPECT(a0, 0x11223344)
    lw a0, 4(s10)
    EXPECT(a0, 0x11223344)
    lw a0, 0(s10)
    EXPECT(a0, 0x55667788)
    // The buffer full to the brim, with the word that is asked for in it at all ages.
    fence
    SLOW(7)
    sw a3, 0(s10)
    SLOW(8)
    SLOW(9)
    SLOW(10)
    SLOW(11)
    SLOW(12)
    SLOW(13)
    SLOW(14)
    lw a0, 0(s10)
    EXPECT(a0, 0x99aabbcc)
    SLOW(15)
    sw a1, 0(s10)
    SLOW(16)
    SLOW(17)
    sw a2, 0(s10)
    SLOW(18)
    SLOW(19)
    SLOW(20)
    SLOW(21)
    lw a0, 0(s10)
    EXPECT(a0, 0x55667788)
    // A sign from the buffer.
    SLOW(22)
    li a4, 0x80
    sb a4, 3(s10)
    lb a0, 3(s10)
    EXPECT(a0, 0xffffff80)
    lw a0, 0(s10)
    EXPECT(a0, 0x80667788)
    // Store and load in turn, each seeing the last.
    li a4, 64
1:  sw a4, 8(s10)
    lw a0, 8(s10)
    EXPECT_EQUAL(a0, a4)
    addi a4, a4, -1
    bnez a4, 1b
    PASS
