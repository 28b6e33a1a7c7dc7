/* SPDX-License-Identifier: Apache-2.0 */
// A transaction of more lines than any of our caches has aborts for capacity and leaves nothing.
// tm
// count TX_CAPACITIES 2
#include "test.h"
BEGIN
    mv a2, s10
    li a3, 240
    li a1, 7
1:  sw a1, 0(a2)
    addi a2, a2, 16
    addi a3, a3, -1
    bnez a3, 1b
    // Written.
    TX_BEGIN(a0, 3f)
    mv a2, s10
    li a3, 240
2:  sw a3, 0(a2)
    addi a2, a2, 16
    addi a3, a3, -1
    bnez a3, 2b
    TX_COMMIT
    FAIL
3:  EXPECT(a0, TX_CAPACITY)
    mv a2, s10
    li a3, 240
4:  lw a0, 0(a2)
    EXPECT_EQUAL(a0, a1)
    addi a2, a2, 16
    addi a3, a3, -1
    bnez a3, 4b
    // Read.
    TX_BEGIN(a0, 6f)
    mv a2, s10
    li a3, 240
5:  lw a4, 0(a2)
    addi a2, a2, 16
    addi a3, a3, -1
    bnez a3, 5b
    TX_COMMIT
    FAIL
6:  EXPECT(a0, TX_CAPACITY)
    PASS
