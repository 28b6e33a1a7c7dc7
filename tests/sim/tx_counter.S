/* SPDX-License-Identifier: Apache-2.0 */
// All harts count on two words in transactions, trying again after a while that grows: no step is
// lost, and the words are never seen apart.
// tm
// harts 2
// count TX_COMMITTED 20
#include "test.h"
BEGIN
    li s6, 20
    addi s5, s11, 3
    li s4, 0                // tries in vain
again:
    TX_BEGIN(a0, lost)
    lw a1, 0(s8)
    lw a2, 64(s8)
    addi a3, a1, 1
    addi a4, a2, 1
    sw a4, 64(s8)
    sw a3, 0(s8)
    TX_COMMIT
    EXPECT_EQUAL(a1, a2)
    addi s6, s6, -1
    bnez s6, again
    lw a2, 0x7f8(s8)
    li a3, 20
    mul a2, a2, a3
    // Looking is in the way of those who still count: seldom.
1:  li a3, 400
3:  addi a3, a3, -1
    bnez a3, 3b
    lw a0, 0(s8)
    bne a0, a2, 1b
    lw a1, 64(s8)
    EXPECT_EQUAL(a1, a2)
    PASS
lost:
    EXPECT(a0, TX_CONFLICT) // two lines fit everywhere
    addi s4, s4, 1
    mul a1, s4, s5
    andi a1, a1, 1023
2:  addi a1, a1, -1
    bgtz a1, 2b
    j again
