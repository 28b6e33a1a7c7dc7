/* SPDX-License-Identifier: Apache-2.0 */
// An interrupt in a transaction: it aborts first, then the interrupt is taken at its target.
// tm
// count INTERRUPT 10
// count TX_ABORTED 10
#include "test.h"
BEGIN
    la a0, handler
    csrw mtvec, a0
    li s7, MAP_IPI
    slli a0, s11, 2
    add s7, s7, a0
    li s6, 1
    li a4, 10
    csrsi mie, 8
    la a5, target
    li a1, 0x77
    sw a1, 0(s10)
again:
    li s5, 0
    sw s6, 0(s7)
1:  csrr a0, mip
    beqz a0, 1b
    li a0, 0
    TX_BEGIN(a0, target)
    sw s6, 0(s10)
    csrsi mstatus, 8
    nop
    nop
    nop
    TX_COMMIT
    FAIL
target:
    nop
    nop
    csrci mstatus, 8
    EXPECT(s5, 1)
    EXPECT(s4, TX_INTERRUPT)
    EXPECT(a0, TX_INTERRUPT)
    EXPECT_EQUAL(s1, a5)
    EXPECT(s0, 0x80000003)
    lw a0, 0(s10)
    EXPECT(a0, 0x77)
    addi a4, a4, -1
    bnez a4, again
    PASS

    .balign 4
handler:
    csrr s0, mcause
    csrr s1, mepc
    csrci mip, 8
    mv s4, a0
    addi s5, s5, 1
    mret
