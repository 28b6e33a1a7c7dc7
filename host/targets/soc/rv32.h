/* SPDX-License-Identifier: Apache-2.0 */
/* RV32IMA_Zicsr and what the soft-core multiprocessor adds, as machine code.
 *
 * One table: each instruction has its format and the bits that are always the same. Operands that a
 * format does not have are ignored; an immediate must fit (rv32_fits). Of B and J it is the
 * distance from the instruction in bytes, of U the upper 20 bits, of CSR instructions the number
 * of the CSR, with the 5-bit operand of the immediate ones in rs1; of a fence pred << 4 | succ. */
#ifndef HOST_RV32_H
#define HOST_RV32_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define RV32_INSTRUCTIONS(X) \
    X(LUI,    U, 0x00000037) X(AUIPC,  U, 0x00000017) X(JAL,    J, 0x0000006f) \
    X(JALR,   I, 0x00000067) X(BEQ,    B, 0x00000063) X(BNE,    B, 0x00001063) \
    X(BLT,    B, 0x00004063) X(BGE,    B, 0x00005063) X(BLTU,   B, 0x00006063) \
    X(BGEU,   B, 0x00007063) X(LB,     I, 0x00000003) X(LH,     I, 0x00001003) \
    X(LW,     I, 0x00002003) X(LBU,    I, 0x00004003) X(LHU,    I, 0x00005003) \
    X(SB,     S, 0x00000023) X(SH,     S, 0x00001023) X(SW,     S, 0x00002023) \
    X(ADDI,   I, 0x00000013) X(SLTI,   I, 0x00002013) X(SLTIU,  I, 0x00003013) \
    X(XORI,   I, 0x00004013) X(ORI,    I, 0x00006013) X(ANDI,   I, 0x00007013) \
    X(SLLI,   H, 0x00001013) X(SRLI,   H, 0x00005013) X(SRAI,   H, 0x40005013) \
    X(ADD,    R, 0x00000033) X(SUB,    R, 0x40000033) X(SLL,    R, 0x00001033) \
    X(SLT,    R, 0x00002033) X(SLTU,   R, 0x00003033) X(XOR,    R, 0x00004033) \
    X(SRL,    R, 0x00005033) X(SRA,    R, 0x40005033) X(OR,     R, 0x00006033) \
    X(AND,    R, 0x00007033) X(MUL,    R, 0x02000033) X(MULH,   R, 0x02001033) \
    X(MULHSU, R, 0x02002033) X(MULHU,  R, 0x02003033) X(DIV,    R, 0x02004033) \
    X(DIVU,   R, 0x02005033) X(REM,    R, 0x02006033) X(REMU,   R, 0x02007033) \
    X(FENCE,  F, 0x0000000f) X(ECALL,  N, 0x00000073) X(EBREAK, N, 0x00100073) \
    X(MRET,   N, 0x30200073) X(WFI,    N, 0x10500073) X(CSRRW,  C, 0x00001073) \
    X(CSRRS,  C, 0x00002073) X(CSRRC,  C, 0x00003073) X(CSRRWI, C, 0x00005073) \
    X(CSRRSI, C, 0x00006073) X(CSRRCI, C, 0x00007073) X(LR,     R, 0x1000202f) \
    X(SC,     R, 0x1800202f) X(AMOSWAP, R, 0x0800202f) X(AMOADD, R, 0x0000202f) \
    X(AMOXOR, R, 0x2000202f) X(AMOAND, R, 0x6000202f) X(AMOOR,  R, 0x4000202f) \
    X(AMOMIN, R, 0x8000202f) X(AMOMAX, R, 0xa000202f) X(AMOMINU, R, 0xc000202f) \
    X(AMOMAXU, R, 0xe000202f) X(AMOCAS, R, 0x2800202f) \
    X(CBO_FLUSH, A, 0x0020200f) X(PREFETCH_R, A, 0x00106013) X(PREFETCH_W, A, 0x00306013) \
    X(TX_BEGIN, B, 0x0000000b) X(TX_COMMIT, N, 0x0000100b) X(TX_ABORT, I, 0x0000200b)
/* clang-format on */

enum rv32_name {
#define X(NAME, FORMAT, BITS) RV_##NAME,
    RV32_INSTRUCTIONS(X)
#undef X
    RV32_NAMES
};

bool rv32_fits(enum rv32_name name, int32_t immediate);
uint32_t rv32(enum rv32_name name, uint32_t rd, uint32_t rs1, uint32_t rs2, int32_t immediate);

/* What puts a constant into a register: one or two instructions; returns how many. */
uint32_t rv32_constant(uint32_t rd, uint32_t value, uint32_t to[2]);

/* Halves of an address: lui of the first, and an offset of the second, which is signed. */
static inline uint32_t rv32_upper(uint32_t address) { return (address + 0x800) >> 12; }
static inline int32_t rv32_lower(uint32_t address)
{
    return (int32_t)(address - (rv32_upper(address) << 12));
}

#endif
