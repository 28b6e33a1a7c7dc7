/* SPDX-License-Identifier: Apache-2.0 */
// Control registers: the six instructions, what they read and write, counters, own CSRs.
#include "test.h"
BEGIN
    li a1, 0x12345678
    csrw mscratch, a1
    csrr a0, mscratch
    EXPECT(a0, 0x12345678)
    li a1, 0xf
    csrrs a0, mscratch, a1
    EXPECT(a0, 0x12345678)
    csrrc a0, mscratch, a1
    EXPECT(a0, 0x1234567f)
    csrrwi a0, mscratch, 21
    EXPECT(a0, 0x12345670)
    csrrsi a0, mscratch, 10
    EXPECT(a0, 21)
    csrrci a0, mscratch, 16
    EXPECT(a0, 31)
    csrr a0, mscratch
    EXPECT(a0, 15)
    // The same register read and written.
    li a0, 99
    csrrw a0, mscratch, a0
    EXPECT(a0, 15)
    csrr a0, mscratch
    EXPECT(a0, 99)
    // x0 as the source of csrrs and csrrc writes nothing: read-only registers may be read so.
    csrrs a0, mhartid, zero
    EXPECT_EQUAL(a0, s11)
    csrrc a0, mhartid, zero
    EXPECT_EQUAL(a0, s11)
    csrrsi a0, mvendorid, 0
    EXPECT(a0, 0)
    csrr a0, marchid
    EXPECT(a0, 0)
    csrr a0, mimpid
    EXPECT(a0, 0)
    csrr a0, misa
    EXPECT(a0, 0)
    // mtvec and mepc are aligned; mie has MSIE alone, mstatus MIE and MPIE.
    li a1, 0x1000
    csrw mepc, a1
    csrr a0, mepc
    EXPECT(a0, 0x1000)
    li a1, -1
    csrw mie, a1
    csrr a0, mie
    EXPECT(a0, 8)
    csrwi mie, 0
    csrr a0, mie
    EXPECT(a0, 0)
    csrsi mstatus, 8
    csrr a0, mstatus
    andi a0, a0, 0x88
    EXPECT(a0, 8)
    csrci mstatus, 8
    csrr a0, mstatus
    andi a0, a0, 0x88
    EXPECT(a0, 0)
    csrr a0, mip
    EXPECT(a0, 0)
    // mcause and mtval hold what software writes: causes that exist.
    li a1, 0x80000003
    csrw mcause, a1
    csrr a0, mcause
    EXPECT(a0, 0x80000003)
    csrwi mcause, 7
    csrr a0, mcause
    EXPECT(a0, 7)
    li a1, 0xdeadbeef
    csrw mtval, a1
    csrr a0, mtval
    EXPECT(a0, 0xdeadbeef)
    // Instructions are counted one by one; cycles go on and never back.
#ifndef LEAN // has none of them
    csrr a0, minstret
    nop
    nop
    lw zero, 0(s10)
    csrr a1, minstret
    sub a0, a1, a0
    EXPECT(a0, 4)
#endif
    csrr a0, minstreth
    EXPECT(a0, 0)
    csrr a0, mcycle
    csrr a1, mcycle
    sltu a0, a0, a1
    EXPECT(a0, 1)
    csrr a0, mcycleh
    EXPECT(a0, 0)
    // A mark reads as 0; the test's last one is GOOD.
    csrr a0, CSR_MARK
    EXPECT(a0, 0)
    csrr a0, CSR_DONE
    EXPECT(a0, 0)
    csrwi CSR_DONE, 0
    PASS
