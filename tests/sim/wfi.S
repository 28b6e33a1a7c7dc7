/* SPDX-License-Identifier: Apache-2.0 */
// wfi waits for an interrupt that is pending and enabled in mie, whether it may be taken or not.
#include "test.h"
BEGIN
    la a0, handler
    csrw mtvec, a0
    li s7, MAP_IPI
    slli a0, s11, 2
    add s7, s7, a0
    li s6, 1
    li s5, 0
    // MIE clear: it goes on after the wfi, and nothing is taken.
    csrsi mie, 8
    sw s6, 0(s7)
    wfi
    csrr a0, mip
    EXPECT(a0, 8)
    EXPECT(s5, 0)
    wfi                     // still pending: no wait
    csrci mip, 8
1:  csrr a0, mip
    bnez a0, 1b
    // It is taken as soon as MIE allows.
    li a4, 10
2:  sw s6, 0(s7)
    wfi
    EXPECT(s5, 0)
    csrsi mstatus, 8
    nop
    nop
    csrci mstatus, 8
    EXPECT(s5, 1)
    li s5, 0
    addi a4, a4, -1
    bnez a4, 2b
    PASS

    .balign 4
handler:
    csrci mip, 8
    addi s5, s5, 1
    mret
