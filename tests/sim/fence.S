/* SPDX-License-Identifier: Apache-2.0 */
// Fences of all flavours are taken, and change no value; fence.i is no instruction to wait for.
#include "test.h"
BEGIN
    li a4, 20
1:  sw a4, 0(s10)
    sw a4, 1024(s10)
    fence w, r
    lw a0, 0(s10)
    fence r, r
    lw a1, 1024(s10)
    fence r, w
    sw a1, 4(s10)
    fence w, w
    sw a0, 8(s10)
    fence rw, rw
    lw a2, 4(s10)
    fence r, rw
    lw a3, 8(s10)
    fence rw, w
    EXPECT_EQUAL(a0, a4)
    EXPECT_EQUAL(a1, a4)
    EXPECT_EQUAL(a2, a4)
    EXPECT_EQUAL(a3, a4)
    fence iorw, iorw
    fence.tso
    fence.i
    fence i, o
    .word 0x0100000f    // pause: a fence of nothing much
    .word 0x0000000f    // a fence of nothing
    fence
    addi a4, a4, -1
    bnez a4, 1b
    PASS
