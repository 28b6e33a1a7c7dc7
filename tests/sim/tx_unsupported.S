/* SPDX-License-Identifier: Apache-2.0 */
// What a transaction cannot do aborts it, and no trap is taken: nesting, exceptions, accesses past
// the cache, LR, SC.
// tm
// count TX_ABORTED 11
#include "test.h"
#define UNSUPPORTED(...) \
    li a0, 0; TX_BEGIN(a0, 7f); sw a1, 0(s10); __VA_ARGS__; TX_COMMIT; FAIL; \
    7: EXPECT(a0, TX_UNSUPPORTED); lw a0, 0(s10); EXPECT(a0, 0)
BEGIN
    li a1, 0x1234
    li a4, 0x10000000
    li a5, MAP_IPI
    sw zero, 0(s10)
    UNSUPPORTED(TX_BEGIN(zero, 7f))
    UNSUPPORTED(ecall)
    UNSUPPORTED(ebreak)
    UNSUPPORTED(.word 0)
    UNSUPPORTED(lw a2, 1(s10))
    UNSUPPORTED(sh a2, 1(s10))
    UNSUPPORTED(lw a2, 0(a4))
    UNSUPPORTED(sw a2, 0(a4))
    UNSUPPORTED(lw a2, 0(s9))
    UNSUPPORTED(sw a2, 64(s9))
    UNSUPPORTED(lw a2, 0(a5))
    UNSUPPORTED(lr.w a2, (s10))
    UNSUPPORTED(sc.w a2, a1, (s10))
    lw a0, 64(s9)
    EXPECT(a0, 0)
    csrr a0, mcause
    EXPECT(a0, 0)
    // And afterwards all of it works again.
    li s7, 100
1:  addi s7, s7, -1
    beqz s7, never
    TX_BEGIN(a0, 1b)
    sw a1, 0(s10)
    TX_COMMIT
    lw a0, 0(s10)
    EXPECT(a0, 0x1234)
    PASS
never:
    FAIL
