/* SPDX-License-Identifier: Apache-2.0 */
// Prefetches and flushes: no value changes, none faults, a flushed line is in memory.
#include "test.h"
#define PREFETCH_R(offset, base) .word 0x00006013 | 1 << 20 | (offset) << 20 | base << 15
#define PREFETCH_W(offset, base) .word 0x00006013 | 3 << 20 | (offset) << 20 | base << 15
#define FLUSH(base) .word 0x0000200f | 2 << 20 | base << 15
#define S10 26
#define A4 14
BEGIN
    li a1, 0x1234
    sw a1, 0(s10)
    sw a1, 64(s10)
    PREFETCH_R(0, S10)
    PREFETCH_W(32, S10)
    PREFETCH_R(64, S10)
    PREFETCH_W(64, S10)
    lw a0, 0(s10)
    EXPECT(a0, 0x1234)
    lw a0, 64(s10)
    EXPECT(a0, 0x1234)
    // A dirty line flushed is soon seen past the cache.
    li a1, 0x5678
    sw a1, 0(s10)
    FLUSH(S10)
    fence
    lw a0, 0(s10)
    EXPECT(a0, 0x5678)
    sw a1, 4(s10)
    FLUSH(S10)
    fence
    li a3, 200
1:  addi a3, a3, -1
    beqz a3, never
    lw a0, 4(s9)
    bne a0, a1, 1b
    // Clean, absent and unaligned ones.
    FLUSH(S10)
    FLUSH(S10)
    lw a0, 4(s10)
    FLUSH(S10)
    addi a4, s10, 7
    FLUSH(A4)
    PREFETCH_R(0, A4)
    PREFETCH_W(0, A4)
    lw a0, 4(s10)
    EXPECT(a0, 0x5678)
    // Outside of memory nothing happens.
    li a4, 0x10000000
    PREFETCH_R(0, A4)
    PREFETCH_W(0, A4)
    FLUSH(A4)
    mv a4, s9
    PREFETCH_R(0, A4)
    FLUSH(A4)
    lw a0, 0(s10)
    EXPECT(a0, 0x5678)
    // Stores and flushes in turn lose nothing.
    li a4, 64
    mv a5, s10
2:  sw a4, 0(a5)
    .word 0x0000200f | 2 << 20 | 15 << 15    // flush a5
    sw a4, 4(a5)
    lw a0, 0(a5)
    EXPECT_EQUAL(a0, a4)
    lw a0, 4(a5)
    EXPECT_EQUAL(a0, a4)
    addi a5, a5, 16
    addi a4, a4, -1
    bnez a4, 2b
    // ori with x0 as its destination is a hint, with another it is an ori.
    ori a0, zero, 1
    EXPECT(a0, 1)
    ori a0, a0, 3
    EXPECT(a0, 3)
    PASS
never:
    FAIL
