/* SPDX-License-Identifier: Apache-2.0 */
// Software interrupts: raised, masked, taken between two instructions, taken back; nothing is lost
// or done twice where they come.
// count INTERRUPT 40
#include "test.h"
BEGIN
    la a0, handler
    csrw mtvec, a0
    li s7, MAP_IPI
    slli a0, s11, 2
    add s7, s7, a0          // the hart's own
    li s6, 1
    li s5, 0                // interrupts so far
    // Masked in mie, then in mstatus.
    lw a0, 0(s7)
    EXPECT(a0, 0)
    csrsi mstatus, 8
    sw s6, 0(s7)
1:  csrr a0, mip
    beqz a0, 1b
    EXPECT(a0, 8)
    lw a0, 0(s7)
    EXPECT(a0, 1)
    EXPECT(s5, 0)
    csrci mstatus, 8
    csrsi mie, 8
    nop
    nop
    EXPECT(s5, 0)
    // Taken back by a store; a pending one can be taken back by mip.
    sw zero, 0(s7)
1:  csrr a0, mip
    bnez a0, 1b
    sw s6, 0(s7)
1:  csrr a0, mip
    beqz a0, 1b
    csrci mip, 8
1:  csrr a0, mip
    bnez a0, 1b
    lw a0, 0(s7)
    EXPECT(a0, 0)
    // Taken as soon as it may be: at the instruction after the one that enables it, or one later.
    sw s6, 0(s7)
1:  csrr a0, mip
    beqz a0, 1b
    li a0, 0
    csrsi mstatus, 8
    nop
    nop
    csrci mstatus, 8
    EXPECT(s5, 1)
    EXPECT(s0, 0x80000003)
    EXPECT(s2, 0)
    EXPECT(s4, 0x80)
    // Interrupts among additions, stores, loads and jumps: each is done once.
    csrsi mstatus, 8
    li a4, 40
    li s5, 0
    sw zero, 0(s10)
    sw zero, 16(s10)
    li a1, 0
2:  sw s6, 0(s7)
    addi a1, a1, 1
    sw a1, 0(s10)
    lw a2, 0(s10)
    addi a1, a1, 1
    amoadd.w a3, s6, (s10)
    sw a1, 4(s10)
    lw a5, 0(s10)
    addi a3, a3, 1
    EXPECT_EQUAL(a5, a3)
    addi a2, a2, 1
    EXPECT_EQUAL(a2, a1)
    lw a5, 4(s10)
    EXPECT_EQUAL(a5, a1)
#ifdef LEAN
    mul a5, a1, s6
#else
    div a5, a1, s6
#endif
    EXPECT_EQUAL(a5, a1)
    j 3f
    FAIL
3:  addi a4, a4, -1
    li t3, 40
    sub t3, t3, a4
4:  blt s5, t3, 4b
    bnez a4, 2b
    EXPECT(a1, 80)
    EXPECT(s5, 40)
    PASS

    .balign 4
handler:
    csrw mscratch, t3
    csrr s0, mcause
    csrr s2, mtval
    csrr s4, mstatus
    andi s4, s4, 0x88
    csrci mip, 8
    addi s5, s5, 1
    csrr t3, mscratch
    mret
