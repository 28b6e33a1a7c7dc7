/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of RV32IMA, as the unprivileged manual defines it. */
#include "step.h"

static uint32_t divide(uint32_t a, uint32_t b)
{
    if (!b)
        return UINT32_MAX;
    if (a == 0x80000000u && b == UINT32_MAX)
        return a;
    return (uint32_t)((int32_t)a / (int32_t)b);
}

static uint32_t remainder_of(uint32_t a, uint32_t b)
{
    if (!b)
        return a;
    if (a == 0x80000000u && b == UINT32_MAX)
        return 0;
    return (uint32_t)((int32_t)a % (int32_t)b);
}

static uint32_t high(int64_t product) { return (uint32_t)((uint64_t)product >> 32); }
static uint32_t shift_signed(uint32_t a, uint32_t by)
{
    return (uint32_t)((int32_t)a >> (by & 31));
}

static uint32_t multiply_or_divide(uint8_t operation, uint32_t a, uint32_t b)
{
    switch (operation) {
    case OPERATION_MUL: return a * b;
    case OPERATION_MULH: return high((int64_t)(int32_t)a * (int32_t)b);
    case OPERATION_MULHSU: return high((int64_t)(int32_t)a * b);
    case OPERATION_MULHU: return (uint32_t)((uint64_t)a * b >> 32);
    case OPERATION_DIV: return divide(a, b);
    case OPERATION_DIVU: return b ? a / b : UINT32_MAX;
    case OPERATION_REM: return remainder_of(a, b);
    default: return b ? a % b : a;
    }
}

uint32_t alu(const struct instruction *i, uint32_t a, uint32_t b)
{
    uint32_t immediate = (uint32_t)i->immediate;
    switch (i->operation) {
    case OPERATION_LUI:
    case OPERATION_AUIPC: return immediate;
    case OPERATION_ADDI: return a + immediate;
    case OPERATION_SLTI: return (int32_t)a < i->immediate;
    case OPERATION_SLTIU: return a < immediate;
    case OPERATION_XORI: return a ^ immediate;
    case OPERATION_ORI: return a | immediate;
    case OPERATION_ANDI: return a & immediate;
    case OPERATION_SLLI: return a << (immediate & 31);
    case OPERATION_SRLI: return a >> (immediate & 31);
    case OPERATION_SRAI: return shift_signed(a, immediate);
    case OPERATION_ADD: return a + b;
    case OPERATION_SUB: return a - b;
    case OPERATION_SLL: return a << (b & 31);
    case OPERATION_SLT: return (int32_t)a < (int32_t)b;
    case OPERATION_SLTU: return a < b;
    case OPERATION_XOR: return a ^ b;
    case OPERATION_SRL: return a >> (b & 31);
    case OPERATION_SRA: return shift_signed(a, b);
    case OPERATION_OR: return a | b;
    case OPERATION_AND: return a & b;
    default: return multiply_or_divide(i->operation, a, b);
    }
}

uint32_t alu_amo(uint8_t operation, uint32_t memory, uint32_t operand)
{
    int32_t m = (int32_t)memory, o = (int32_t)operand;
    switch (operation) {
    case OPERATION_AMOSWAP: return operand;
    case OPERATION_AMOADD: return memory + operand;
    case OPERATION_AMOXOR: return memory ^ operand;
    case OPERATION_AMOAND: return memory & operand;
    case OPERATION_AMOOR: return memory | operand;
    case OPERATION_AMOMIN: return m < o ? memory : operand;
    case OPERATION_AMOMAX: return m > o ? memory : operand;
    case OPERATION_AMOMINU: return memory < operand ? memory : operand;
    default: return memory > operand ? memory : operand;
    }
}

bool alu_branches(uint8_t operation, uint32_t a, uint32_t b)
{
    switch (operation) {
    case OPERATION_BEQ: return a == b;
    case OPERATION_BNE: return a != b;
    case OPERATION_BLT: return (int32_t)a < (int32_t)b;
    case OPERATION_BGE: return (int32_t)a >= (int32_t)b;
    case OPERATION_BLTU: return a < b;
    default: return a >= b;
    }
}
