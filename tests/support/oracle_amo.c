/* SPDX-License-Identifier: Apache-2.0 */
/* What is written, as C's own numbers of each size have it; the checker is not asked. */
#include "oracle.h"

#include <string.h>

/* The function of the numbers at a and b, of a type that is signed and one that is not. */
/* clang-format off */
#define FUNCTION(SIGNED, UNSIGNED) \
    do { \
        SIGNED s, t; \
        UNSIGNED u, v; \
        memcpy(&s, a, sizeof s); \
        memcpy(&t, b, sizeof t); \
        memcpy(&u, a, sizeof u); \
        memcpy(&v, b, sizeof v); \
        switch (function) { \
        case ORACLE_ADD: u = (UNSIGNED)(u + v); break; \
        case ORACLE_AND: u = (UNSIGNED)(u & v); break; \
        case ORACLE_OR: u = (UNSIGNED)(u | v); break; \
        case ORACLE_XOR: u = (UNSIGNED)(u ^ v); break; \
        case ORACLE_MIN: u = t < s ? v : u; break; \
        case ORACLE_MAX: u = t > s ? v : u; break; \
        case ORACLE_MINU: u = v < u ? v : u; break; \
        case ORACLE_MAXU: u = v > u ? v : u; break; \
        } \
        memcpy(a, &u, sizeof u); \
    } while (0)
/* clang-format on */

void oracle_amo(enum oracle_function function, unsigned size, uint8_t *a, const uint8_t *b)
{
    switch (size) {
    case 1: FUNCTION(int8_t, uint8_t); break;
    case 2: FUNCTION(int16_t, uint16_t); break;
    case 4: FUNCTION(int32_t, uint32_t); break;
    case 8: FUNCTION(int64_t, uint64_t); break;
    }
}

void oracle_written(const struct oracle_op *op, uint8_t bytes[ORACLE_WIDEST])
{
    memcpy(bytes, op->kind == ORACLE_AMO ? op->read : op->write, ORACLE_WIDEST);
    if (op->kind == ORACLE_AMO)
        oracle_amo(op->function, op->size, bytes, op->write);
}
