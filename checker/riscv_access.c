/* SPDX-License-Identifier: Apache-2.0 */
#include "riscv_access.h"

#include "ordeal.h"

static uint32_t bits(uint32_t instruction, int low, int count)
{
    return instruction >> low & ((1u << count) - 1);
}

static struct riscv_access computes(uint32_t a, uint32_t b)
{
    return (struct riscv_access){ RISCV_COMPUTES, .from = { (uint8_t)a, (uint8_t)b } };
}

static struct riscv_access branches(uint32_t a, uint32_t b)
{
    return (struct riscv_access){ RISCV_BRANCHES, .from = { (uint8_t)a, (uint8_t)b } };
}

static struct riscv_access loads(uint32_t size_log2, uint32_t address)
{
    return (struct riscv_access){ RISCV_LOADS, (uint8_t)size_log2, .address = (uint8_t)address };
}

static struct riscv_access stores(uint32_t size_log2, uint32_t address, uint32_t data)
{
    return (struct riscv_access){ RISCV_STORES, (uint8_t)size_log2, .address = (uint8_t)address,
                                  .data = (uint8_t)data };
}

/* ---- of 32 bits -------------------------------------------------------------------------- */

static struct riscv_access fence(uint32_t i)
{
    enum { WRITE = 1, READ = 2, TSO = 8 };
    uint32_t before = bits(i, 24, 4), after = bits(i, 20, 4);
    unsigned barrier = (before & READ && after & READ ? ORDEAL_LL : 0u)
                     | (before & READ && after & WRITE ? ORDEAL_LS : 0u)
                     | (before & WRITE && after & READ ? ORDEAL_SL : 0u)
                     | (before & WRITE && after & WRITE ? ORDEAL_SS : 0u);
    if (bits(i, 28, 4) == TSO)
        barrier &= ~(unsigned)ORDEAL_SL;
    return (struct riscv_access){ barrier ? RISCV_FENCES : RISCV_NOTHING,
                                  .barrier = (uint8_t)barrier };
}

enum { LR = 2, SC = 3, AMOCAS = 5 };

static struct riscv_access atomic(uint32_t i)
{
    uint32_t function = bits(i, 27, 5);
    return (struct riscv_access){
        .does = function == LR ? RISCV_RESERVES
              : function == SC ? RISCV_CONDITIONAL
                               : RISCV_SWAPS,
        .size_log2 = (uint8_t)bits(i, 12, 2),
        .acquires = bits(i, 26, 1),
        .releases = bits(i, 25, 1),
        .address = (uint8_t)bits(i, 15, 5),
        .data = (uint8_t)bits(i, 20, 5),
    };
}

/* RV32 has none of 8 bytes, but for pairs of registers; what those do is not known. */
static struct riscv_access of_32_bits(uint32_t i, bool wide)
{
    static const struct riscv_access nothing;
    uint32_t function = bits(i, 12, 3), rs1 = bits(i, 15, 5), rs2 = bits(i, 20, 5);
    bool of_float = function >= 1 && function <= 3;
    switch (i & 0x7f) {
    case 0x03:
        return function == 7 || (!wide && function == 3) ? nothing : loads(function & 3, rs1);
    case 0x07: return of_float ? loads(function, rs1) : nothing;
    case 0x23: return function <= (wide ? 3u : 2u) ? stores(function, rs1, rs2) : nothing;
    case 0x27: return of_float ? stores(function, rs1, rs2 + RISCV_FLOAT) : nothing;
    case 0x0f: return function == 0 ? fence(i) : nothing;
    case 0x2f:
        return function <= (wide ? 3u : 2u) && bits(i, 27, 5) != AMOCAS ? atomic(i) : nothing;
    case 0x13:
    case 0x1b: return computes(rs1, 0);
    case 0x33:
    case 0x3b: return computes(rs1, rs2);
    case 0x63: return branches(rs1, rs2);
    case 0x67: return branches(rs1, 0);
    default: return nothing;
    }
}

/* ---- of 16 bits -------------------------------------------------------------------------- */

enum { STACK = 2 };

/* The registers that three bits name, and the accesses by them or by the stack pointer. */
static uint32_t popular(uint32_t i, int low) { return 8 + bits(i, low, 3); }

static struct riscv_access of_bytes(uint32_t i)
{
    uint32_t base = popular(i, 7), other = popular(i, 2);
    switch (bits(i, 10, 3)) {
    case 0: return loads(0, base);
    case 1: return loads(1, base);
    case 2: return stores(0, base, other);
    case 3: return stores(1, base, other);
    default: return (struct riscv_access){ .does = RISCV_NOTHING };
    }
}

static struct riscv_access quadrant_0(uint32_t i, bool wide)
{
    uint32_t base = popular(i, 7), other = popular(i, 2);
    switch (bits(i, 13, 3)) {
    case 0: return computes(STACK, 0);
    case 1: return loads(3, base);
    case 2: return loads(2, base);
    case 3: return loads(wide ? 3 : 2, base);
    case 4: return of_bytes(i);
    case 5: return stores(3, base, other + RISCV_FLOAT);
    case 6: return stores(2, base, other);
    default: return wide ? stores(3, base, other) : stores(2, base, other + RISCV_FLOAT);
    }
}

static struct riscv_access quadrant_1(uint32_t i, bool wide)
{
    uint32_t rd = bits(i, 7, 5);
    bool two_registers = bits(i, 10, 2) == 3 && !(bits(i, 12, 1) && bits(i, 5, 2) == 3);
    switch (bits(i, 13, 3)) {
    case 0: return computes(rd, 0);
    case 1: return computes(wide ? rd : 0, 0);
    case 3: return computes(rd == STACK ? STACK : 0, 0);
    case 4: return computes(popular(i, 7), two_registers ? popular(i, 2) : 0);
    case 6:
    case 7: return branches(popular(i, 7), 0);
    default: return computes(0, 0);
    }
}

static struct riscv_access quadrant_2(uint32_t i, bool wide)
{
    uint32_t rd = bits(i, 7, 5), rs2 = bits(i, 2, 5);
    switch (bits(i, 13, 3)) {
    case 0: return computes(rd, 0);
    case 1: return loads(3, STACK);
    case 2: return loads(2, STACK);
    case 3: return loads(wide ? 3 : 2, STACK);
    case 4:
        if (rs2 == 0)
            return branches(rd, 0);
        return computes(rs2, bits(i, 12, 1) ? rd : 0);
    case 5: return stores(3, STACK, rs2 + RISCV_FLOAT);
    case 6: return stores(2, STACK, rs2);
    default: return wide ? stores(3, STACK, rs2) : stores(2, STACK, rs2 + RISCV_FLOAT);
    }
}

struct riscv_access riscv_access(uint32_t instruction, bool wide)
{
    switch (instruction & 3) {
    case 0: return quadrant_0(instruction & 0xffff, wide);
    case 1: return quadrant_1(instruction & 0xffff, wide);
    case 2: return quadrant_2(instruction & 0xffff, wide);
    default: return of_32_bits(instruction, wide);
    }
}
