/* SPDX-License-Identifier: Apache-2.0 */
// Exceptions: cause, where, value; precise: nothing after the instruction is done, all before it
// is.
// count EXCEPTION 20
#include "test.h"
// The handler gives cause, pc and value in s0, s1 and s2 and goes on after the instruction.
#define TRAPS(cause, value, ...) \
    li s0, -1; li s2, -1; la a5, 7f; 7: __VA_ARGS__; EXPECT(s0, cause); \
    EXPECT_EQUAL(s1, a5); li t3, value; EXPECT_EQUAL(s2, t3)
// The value is some address relative to the hart's memory.
#define TRAPS_AT(cause, base, offset, ...) \
    li s0, -1; la a5, 7f; 7: __VA_ARGS__; EXPECT(s0, cause); \
    EXPECT_EQUAL(s1, a5); li t3, offset; add t3, t3, base; EXPECT_EQUAL(s2, t3)
// What it was that is illegal; lean harts do not tell.
#ifdef LEAN
#define ILLEGAL(value, ...) TRAPS(2, 0, __VA_ARGS__)
#else
#define ILLEGAL(value, ...) TRAPS(2, value, __VA_ARGS__)
#endif
BEGIN
    la a0, handler
    csrw mtvec, a0
    csrr a0, mtvec
    la a1, handler
    EXPECT_EQUAL(a0, a1)
    li a1, 0x11223344
    sw a1, 0(s10)

    TRAPS(11, 0, ecall)
    li s0, -1
    la a5, 7f
7:  ebreak
    EXPECT(s0, 3)
    EXPECT_EQUAL(s1, a5)
    ILLEGAL(0, .word 0)
    ILLEGAL(0xffffffff, .word 0xffffffff)
    ILLEGAL(0x0000000b | 7 << 12, .word 0x0000000b | 7 << 12)
    ILLEGAL(0x00003003, .word 0x00003003)             // ld
    ILLEGAL(0x00003023, .word 0x00003023)             // sd
    ILLEGAL(0x0000602f, .word 0x0000602f)             // amo of another size
    ILLEGAL(0x02002063, .word 0x02002063)             // branch of funct3 2
    ILLEGAL(0x40001013, .word 0x40001013)             // slli with bit 30
    ILLEGAL(0x04000033, .word 0x04000033)             // funct7 2
    ILLEGAL(0xf1401073, csrw mhartid, zero)           // read only
    ILLEGAL(0x5c0022f3, csrr t0, 0x5c0)               // no such CSR
    ILLEGAL(0x7c111573, csrrw a0, CSR_MARK, sp)       // it has nothing to give

    TRAPS_AT(4, s10, 1, lw a0, 1(s10))
    TRAPS_AT(4, s10, 2, lw a0, 2(s10))
    TRAPS_AT(4, s10, 3, lh a0, 3(s10))
    TRAPS_AT(4, s10, 1, lhu a0, 1(s10))
    TRAPS_AT(6, s10, 1, sw a0, 1(s10))
    TRAPS_AT(6, s10, 3, sh a0, 3(s10))
    addi a4, s10, 2
    TRAPS_AT(4, s10, 2, lr.w a0, (a4))
    TRAPS_AT(6, s10, 2, sc.w a0, a0, (a4))
    TRAPS_AT(6, s10, 2, amoadd.w a0, a0, (a4))
    li a4, 0x10000000
    TRAPS(5, 0x10000000, lw a0, 0(a4))
    TRAPS(5, 0x10000001, lb a0, 1(a4))
    TRAPS(7, 0x10000000, sw a0, 0(a4))
    TRAPS(7, 0x10000003, sb a0, 3(a4))
    TRAPS(5, 0x10000000, lr.w a0, (a4))
    TRAPS(7, 0x10000000, sc.w a0, a0, (a4))
    TRAPS(7, 0x10000000, amoswap.w a0, a0, (a4))
    TRAPS(5, 0, lw a0, 0(zero))                        // code is not data
    TRAPS(7, 0, sw a0, 0(zero))
    li a4, MAP_IPI
    TRAPS(5, MAP_IPI, lh a0, 0(a4))
    TRAPS(7, MAP_IPI, sb a0, 0(a4))
    TRAPS(7, MAP_IPI, amoadd.w a0, a0, (a4))
    TRAPS(5, MAP_IPI + 64, lw a0, 64(a4))
    TRAPS(5, 0xfffffffc, lw a0, -4(zero))
    TRAPS(5, 0x7ffffffc, lw a0, -4(s8))

    // The destination keeps its value, the store after is not done before the handler looks.
    li a0, 42
    lw a0, 1(s10)
    EXPECT(a0, 42)
    lw a0, 0(s10)
    EXPECT(a0, 0x11223344)

    // Loads and stores before the trap are done; what the load brings is seen by the handler.
    li a1, 5
    sw a1, 4(s10)
    lw a3, 4(s10)
    ecall
    EXPECT(a6, 5)

    // mstatus: MIE goes to MPIE and back.
    csrsi mstatus, 8
    ecall
    andi a7, a7, 0x88
    EXPECT(a7, 0x80)
    csrr a0, mstatus
    andi a0, a0, 0x88
    EXPECT(a0, 0x88)
    csrci mstatus, 8
    ecall
    andi a7, a7, 0x88
    EXPECT(a7, 0)
    csrr a0, mstatus
    andi a0, a0, 0x88
    EXPECT(a0, 0x80)

    // A jump that would go to half an instruction.
    li s0, -1
    la a4, handler
    addi a4, a4, 2
    la a5, 7f
7:  jalr a3, 0(a4)
    EXPECT(s0, 0)
    EXPECT_EQUAL(s1, a5)
    EXPECT_EQUAL(s2, a4)

    // Two traps in succession, and one right after a taken branch.
    ecall
    ecall
    j 1f
    FAIL
1:  ecall
    EXPECT(s0, 11)
    PASS

    .balign 4
handler:
    csrr s0, mcause
    csrr s1, mepc
    csrr s2, mtval
    csrr a7, mstatus
    mv a6, a3
    addi t3, s1, 4
    csrw mepc, t3
    mret
