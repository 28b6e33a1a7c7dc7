/* SPDX-License-Identifier: Apache-2.0 */
// Transactions that commit: what they wrote is there, what they read is right, nothing else
// happens.
// tm
// count TX_COMMITTED 5
#include "test.h"
// Until it commits: other harts use other lines, so nothing but chance of replacement is in the
// way.
BEGIN
    li a1, 0x1111
    sw a1, 0(s10)
    sw a1, 16(s10)
    li s7, 100
1:  addi s7, s7, -1
    beqz s7, never
    li a0, 0x55
    TX_BEGIN(a0, 1b)
    lw a2, 0(s10)
    li a3, 0x2222
    sw a3, 0(s10)
    lw a4, 0(s10)
    sb a3, 17(s10)
    lw a5, 16(s10)
    TX_COMMIT
    EXPECT(a0, 0x55)
    EXPECT(a2, 0x1111)
    EXPECT(a4, 0x2222)
    EXPECT(a5, 0x2211)
    lw a0, 0(s10)
    EXPECT(a0, 0x2222)
    lw a0, 16(s10)
    EXPECT(a0, 0x2211)
    // Atomics and fences inside; loads of two lines; an empty one; one right after the other.
    li s7, 100
2:  addi s7, s7, -1
    beqz s7, never
    TX_BEGIN(a0, 2b)
    amoadd.w a2, a3, (s10)
    fence
    lw a4, 0(s10)
    sw a4, 16(s10)
    fence w, w
    TX_COMMIT
    TX_BEGIN(zero, never)
    TX_COMMIT
    EXPECT(a2, 0x2222)
    EXPECT(a4, 0x4444)
    lw a0, 16(s10)
    EXPECT(a0, 0x4444)
    // Outside of a transaction these do nothing.
    TX_COMMIT
    TX_ABORT(9)
    TX_COMMIT
    lw a0, 16(s10)
    EXPECT(a0, 0x4444)
    // Stores before and after.
    li a5, 30
3:  li s7, 100
    sw a5, 32(s10)
4:  addi s7, s7, -1
    beqz s7, never
    TX_BEGIN(a0, 4b)
    lw a2, 32(s10)
    addi a2, a2, 1
    sw a2, 36(s10)
    TX_COMMIT
    sw a2, 40(s10)
    lw a0, 36(s10)
    EXPECT_EQUAL(a0, a2)
    lw a0, 40(s10)
    EXPECT_EQUAL(a0, a2)
    addi a5, a5, -1
    bnez a5, 3b
    EXPECT(a2, 2)
    PASS
never:
    FAIL
