/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of RV32I, for the interpreters of tests. */
#ifndef TESTS_RV_ALU_H
#define TESTS_RV_ALU_H

#include <stdbool.h>
#include <stdint.h>

/* What OP and OP-IMM do, by funct3; `other`: bit 30, SUB and SRA. */
static inline uint32_t rv_compute(uint32_t funct3, bool other, uint32_t a, uint32_t b)
{
    switch (funct3) {
    case 0: return other ? a - b : a + b;
    case 1: return a << (b & 31);
    case 2: return (int32_t)a < (int32_t)b;
    case 3: return a < b;
    case 4: return a ^ b;
    case 5: return other ? (uint32_t)((int32_t)a >> (b & 31)) : a >> (b & 31);
    case 6: return a | b;
    default: return a & b;
    }
}

#endif
