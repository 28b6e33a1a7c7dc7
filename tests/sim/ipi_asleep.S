/* SPDX-License-Identifier: Apache-2.0 */
// An interrupt that comes to a sleeping hart with MIE set returns to the instruction after the wfi.
// harts 2
#include "test.h"
BEGIN
    la a0, handler
    csrw mtvec, a0
    li a1, 1
    bnez s11, waker
    li s5, 0
    la a5, after
    csrsi mie, 8
    li a4, 10
again:
    csrsi mstatus, 8
    amoadd.w zero, a1, (s8) // tells hart 1 that it may
    // An interrupt before the wfi is as good; then the handler goes behind it itself.
asleep:
    wfi
after:
    csrci mstatus, 8
    EXPECT(s5, 1)
    li s5, 0
    addi a4, a4, -1
    bnez a4, again
    PASS
waker:
    addi a0, s11, -1
    bnez a0, idle
    li a2, 1
    li a3, MAP_IPI
1:  lw a0, 0(s8)
    blt a0, a2, 1b
    slli a4, a2, 5          // later and later
2:  addi a4, a4, -1
    bnez a4, 2b
    sw a1, 0(a3)
    addi a2, a2, 1
    li a0, 11
    bne a2, a0, 1b
idle:
    PASS

    .balign 4
handler:
    csrr a0, mepc
    beq a0, a5, 3f
    la a2, asleep
    bgtu a0, a2, wrong
    csrw mepc, a5
3:  csrci mip, 8
    addi s5, s5, 1
    mret
wrong:
    FAIL
