/* SPDX-License-Identifier: Apache-2.0 */
#include "rv32.h"

#include <assert.h>

/* N no operand, A an address in rs1, C a CSR, F a fence, H a shift by a constant; others as in the
 * manual. */
enum format { A, B, C, F, H, I, J, N, R, S, U };

static const struct { enum format format; uint32_t bits; } table[RV32_NAMES] = {
#define X(NAME, FORMAT, BITS) { FORMAT, BITS },
    RV32_INSTRUCTIONS(X)
#undef X
};

static bool in_range(int32_t x, int bits) { return x >= -(1 << (bits - 1)) && x < 1 << (bits - 1); }

bool rv32_fits(enum rv32_name name, int32_t x)
{
    switch (table[name].format) {
    case B: return in_range(x, 13) && x % 2 == 0;
    case C: return x >= 0 && x < 4096;
    case F: return x >= 0 && x < 256;
    case H: return x >= 0 && x < 32;
    case I:
    case S: return in_range(x, 12);
    case J: return in_range(x, 21) && x % 2 == 0;
    case U: return x >= 0 && x < 1 << 20;
    default: return x == 0;
    }
}

/* Bits from..from+count-1 of the immediate, at the given place. */
static uint32_t field(int32_t x, int from, int count, int place)
{
    return ((uint32_t)x >> from & ((UINT32_C(1) << count) - 1)) << place;
}

uint32_t rv32(enum rv32_name name, uint32_t rd, uint32_t rs1, uint32_t rs2, int32_t x)
{
    uint32_t bits = table[name].bits;
    assert(rd < 32 && rs1 < 32 && rs2 < 32 && rv32_fits(name, x));
    rd <<= 7;
    rs1 <<= 15;
    rs2 <<= 20;
    switch (table[name].format) {
    case A: return bits | rs1;
    case B: return bits | rs1 | rs2 | field(x, 12, 1, 31) | field(x, 5, 6, 25) | field(x, 1, 4, 8)
                   | field(x, 11, 1, 7);
    case C:
    case H:
    case I: return bits | rd | rs1 | field(x, 0, 12, 20);
    case F: return bits | field(x, 0, 8, 20);
    case J: return bits | rd | field(x, 20, 1, 31) | field(x, 1, 10, 21) | field(x, 11, 1, 20)
                   | field(x, 12, 8, 12);
    case N: return bits;
    case R: return bits | rd | rs1 | rs2;
    case S: return bits | rs1 | rs2 | field(x, 5, 7, 25) | field(x, 0, 5, 7);
    case U: return bits | rd | field(x, 0, 20, 12);
    }
    return 0;
}

uint32_t rv32_constant(uint32_t rd, uint32_t value, uint32_t to[2])
{
    uint32_t upper = rv32_upper(value) & 0xfffff, count = 0;
    int32_t lower = rv32_lower(value);
    if (upper)
        to[count++] = rv32(RV_LUI, rd, 0, 0, (int32_t)upper);
    if (lower || !upper)
        to[count++] = rv32(RV_ADDI, rd, upper ? rd : 0, 0, lower);
    return count;
}
