/* SPDX-License-Identifier: Apache-2.0 */
// Branches and jumps: taken or not, forwards and backwards, nothing of the way not taken is done.
// count BRANCH_TAKEN 30
#include "test.h"
#define TAKEN(op, x, y) li a1, x; li a2, y; li a0, 1; op a1, a2, 7f; li a0, 0; 7: EXPECT(a0, 1)
#define NOT(op, x, y) li a1, x; li a2, y; li a0, 1; op a1, a2, 7f; li a0, 0; 7: EXPECT(a0, 0)
BEGIN
    TAKEN(beq, 5, 5)
    NOT(beq, 5, 6)
    TAKEN(bne, 5, 6)
    NOT(bne, 5, 5)
    TAKEN(blt, -1, 0)
    TAKEN(blt, 0x80000000, 0x7fffffff)
    NOT(blt, 0, -1)
    NOT(blt, 3, 3)
    TAKEN(bge, 0, -1)
    TAKEN(bge, 3, 3)
    NOT(bge, -1, 0)
    TAKEN(bltu, 0, -1)
    NOT(bltu, -1, 0)
    NOT(bltu, 3, 3)
    TAKEN(bgeu, -1, 0)
    TAKEN(bgeu, 3, 3)
    NOT(bgeu, 0, -1)
    // A loop: backwards 20 times.
    li a0, 0
    li a1, 20
1:  addi a0, a0, 3
    addi a1, a1, -1
    bnez a1, 1b
    EXPECT(a0, 60)
    // jal and jalr: links, low bit cleared, the target register may be the link register.
    jal a0, 2f
link1:
    FAIL
2:  la a1, link1
    EXPECT_EQUAL(a0, a1)
    la a0, 3f
    jalr a0, 1(a0)
link2:
    FAIL
3:  la a1, link2
    EXPECT_EQUAL(a0, a1)
    la a1, 4f + 64
    jalr zero, -64(a1)
    FAIL
    // Stores in the shadow of a jump or branch are not done.
4:  sw zero, 0(s10)
    li a1, 1
    j 5f
    sw a1, 0(s10)
    sw a1, 0(s10)
5:  beqz zero, 6f
    sw a1, 0(s10)
    amoadd.w a2, a1, (s10)
6:  lw a0, 0(s10)
    EXPECT(a0, 0)
    bnez zero, 7f
    sw a1, 0(s10)
7:  lw a0, 0(s10)
    EXPECT(a0, 1)
    // A branch on what a load brings.
    lw a0, 0(s10)
    beqz a0, wrong
    lw a0, 0(s10)
    bnez a0, right
wrong:
    FAIL
right:
    // Branch to the next instruction, and over one.
    beq zero, zero, 1f
1:  li a0, 3
    beq zero, zero, 2f
    li a0, 4
2:  EXPECT(a0, 3)
    PASS
