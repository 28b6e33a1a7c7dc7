/* SPDX-License-Identifier: Apache-2.0 */
/* A few RV32 instructions as words, for tests that make their programs themselves. */
#ifndef TESTS_RV_H
#define TESTS_RV_H

#include <stdint.h>

enum {
    ZERO, RA, SP, GP, TP, T0, T1, T2, S0, S1, A0, A1, A2, A3, A4, A5, A6, A7,
    S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, T3, T4, T5, T6
};
enum { FENCE_W = 1, FENCE_R = 2, FENCE_RW = 3 };
enum {
    RV_DONE = 0x7c0, RV_MARK = 0x7c1, RV_MSTATUS = 0x300, RV_MIE = 0x304, RV_MTVEC = 0x305,
    RV_MSCRATCH = 0x340, RV_MEPC = 0x341, RV_MCAUSE = 0x342, RV_MTVAL = 0x343, RV_MIP = 0x344,
    RV_MCYCLE = 0xb00
};

/* For this list alone. */
#define u32 uint32_t

static inline u32 rv_r(u32 funct7, u32 rs2, u32 rs1, u32 funct3, u32 rd, u32 opcode)
{
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static inline u32 rv_i(int32_t immediate, u32 rs1, u32 funct3, u32 rd, u32 opcode)
{
    return (u32)immediate << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static inline u32 rv_b(int32_t offset, u32 rs2, u32 rs1, u32 funct3, u32 opcode)
{
    u32 o = (u32)offset;
    return (o >> 12 & 1) << 31 | (o >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 |
           (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7 | opcode;
}

static inline u32 rv_load(u32 funct3, u32 rd, u32 rs1, int32_t i)
{
    return rv_i(i, rs1, funct3, rd, 0x03);
}
static inline u32 rv_store(u32 funct3, u32 rs2, u32 rs1, int32_t i)
{
    return rv_r((u32)i >> 5 & 127, rs2, rs1, funct3, (u32)i & 31, 0x23);
}
static inline u32 rv_amo(u32 funct5, u32 rd, u32 rs2, u32 rs1)
{
    return rv_r(funct5 << 2, rs2, rs1, 2, rd, 0x2f);
}
static inline u32 rv_csrrw(u32 rd, u32 csr, u32 rs1)
{
    return rv_i((int32_t)csr, rs1, 1, rd, 0x73);
}
static inline u32 rv_csrrs(u32 rd, u32 csr, u32 rs1)
{
    return rv_i((int32_t)csr, rs1, 2, rd, 0x73);
}
static inline u32 rv_csrrwi(u32 rd, u32 csr, u32 value)
{
    return rv_i((int32_t)csr, value, 5, rd, 0x73);
}
static inline u32 rv_csrrsi(u32 rd, u32 csr, u32 value)
{
    return rv_i((int32_t)csr, value, 6, rd, 0x73);
}
static inline u32 rv_csrrci(u32 rd, u32 csr, u32 value)
{
    return rv_i((int32_t)csr, value, 7, rd, 0x73);
}
static inline u32 rv_fence(u32 pred, u32 succ)
{
    return rv_i((int32_t)(pred << 4 | succ), 0, 0, 0, 0x0f);
}
static inline u32 rv_addi(u32 rd, u32 rs1, int32_t i) { return rv_i(i, rs1, 0, rd, 0x13); }
static inline u32 rv_nop(void) { return rv_addi(0, 0, 0); }
static inline u32 rv_lui(u32 rd, u32 value) { return (value & 0xfffff000) | rd << 7 | 0x37; }
static inline u32 rv_add(u32 rd, u32 rs1, u32 rs2) { return rv_r(0, rs2, rs1, 0, rd, 0x33); }
static inline u32 rv_sub(u32 rd, u32 rs1, u32 rs2) { return rv_r(0x20, rs2, rs1, 0, rd, 0x33); }
static inline u32 rv_mul(u32 rd, u32 rs1, u32 rs2) { return rv_r(1, rs2, rs1, 0, rd, 0x33); }
static inline u32 rv_lw(u32 rd, u32 rs1, int32_t i) { return rv_load(2, rd, rs1, i); }
static inline u32 rv_sw(u32 rs2, u32 rs1, int32_t i) { return rv_store(2, rs2, rs1, i); }
static inline u32 rv_beq(u32 a, u32 b, int32_t to) { return rv_b(to, b, a, 0, 0x63); }
static inline u32 rv_bne(u32 a, u32 b, int32_t to) { return rv_b(to, b, a, 1, 0x63); }
static inline u32 rv_blt(u32 a, u32 b, int32_t to) { return rv_b(to, b, a, 4, 0x63); }
static inline u32 rv_amoadd(u32 rd, u32 rs2, u32 rs1) { return rv_amo(0, rd, rs2, rs1); }
static inline u32 rv_swap(u32 rd, u32 rs2, u32 rs1) { return rv_amo(1, rd, rs2, rs1); }
static inline u32 rv_lr(u32 rd, u32 rs1) { return rv_amo(2, rd, 0, rs1); }
static inline u32 rv_sc(u32 rd, u32 rs2, u32 rs1) { return rv_amo(3, rd, rs2, rs1); }
static inline u32 rv_cas(u32 rd, u32 rs2, u32 rs1) { return rv_amo(5, rd, rs2, rs1); }
static inline u32 rv_flush(u32 rs1) { return rv_i(2, rs1, 2, 0, 0x0f); }
static inline u32 rv_prefetch_r(u32 rs1) { return rv_i(1, rs1, 6, 0, 0x13); }
static inline u32 rv_prefetch_w(u32 rs1) { return rv_i(3, rs1, 6, 0, 0x13); }
static inline u32 rv_tx_begin(u32 status, int32_t to) { return rv_b(to, 0, status, 0, 0x0b); }
static inline u32 rv_tx_commit(void) { return rv_i(0, 0, 1, 0, 0x0b); }
static inline u32 rv_tx_abort(u32 code) { return rv_i((int32_t)code, 0, 2, 0, 0x0b); }
static inline u32 rv_mark(u32 rs1) { return rv_csrrw(0, RV_MARK, rs1); }
static inline u32 rv_done(void) { return rv_csrrwi(0, RV_DONE, 1); }
static inline u32 rv_ecall(void) { return 0x73; }
static inline u32 rv_mret(void) { return 0x30200073; }

#undef u32
#endif
