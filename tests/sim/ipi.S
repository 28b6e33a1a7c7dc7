/* SPDX-License-Identifier: Apache-2.0 */
// Interrupts from hart to hart: a ring. Each sleeps until its neighbour wakes it, three rounds
// long; stores before the interrupt are there for who is woken.
// harts 2
// count INTERRUPT 3
#include "test.h"
BEGIN
    la a0, handler
    csrw mtvec, a0
    lw s7, 0x7f8(s8)        // how many
    addi s6, s11, 1
    bne s6, s7, 1f
    li s6, 0
1:
    slli s6, s6, 2
    li a0, MAP_IPI
    add s6, s6, a0          // the neighbour's
    li s5, 0
    li s4, 3
    li a1, 1
    csrsi mie, 8
    bnez s11, sleep
    // Hart 0 begins, when all others are asleep or soon will be.
    li a3, 50
1:  addi a3, a3, -1
    bnez a3, 1b
round:
    lw a2, 0(s8)
    addi a2, a2, 1
    sw a2, 0(s8)
    fence
    sw a1, 0(s6)
sleep:
    wfi
    csrsi mstatus, 8

    nop
    nop
    csrci mstatus, 8
    EXPECT(s5, 1)
    EXPECT(s0, 0x80000003)
    li s5, 0
    addi s4, s4, -1
    beqz s11, 2f
    // What the neighbour counted is there; count on.
    j next
2:  lw a2, 0(s8)
    li a3, 3
    sub a3, a3, s4
    mul a3, a3, s7
    EXPECT_EQUAL(a2, a3)
    beqz s4, finished
    j round
next:
    lw a2, 0(s8)
    addi a2, a2, 1
    sw a2, 0(s8)
    fence
    sw a1, 0(s6)
    bnez s4, sleep
finished:
    PASS

    .balign 4
handler:
    csrr s0, mcause
    csrci mip, 8
    addi s5, s5, 1
    mret
