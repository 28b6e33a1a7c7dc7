/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of the binary format (FORMAT.md), shared by its reader and its writer. */
#ifndef ORDEAL_BINARY_H
#define ORDEAL_BINARY_H

#include <stddef.h>
#include <stdint.h>
#include "ordeal.h"

/* A file has the lowest version in which it can be said: AMOs came with 2, what RISC-V has beyond
 * them with 3. */
enum { BINARY_OLDEST = 1, BINARY_AMO = 2, BINARY_RISCV = 3, BINARY_VERSION = 3 };

#define BINARY_MAGIC "\x89OTR\r\n\x1a\n"
enum { BINARY_MAGIC_SIZE = 8, BINARY_HEADER = 16 };

enum { BLOCK_HEADER = 24, BLOCK_MAX = 1 << 18 };
enum { BLOCK_STORED = 0, BLOCK_RAW = 4, BLOCK_OPS = 8, BLOCK_KIND = 12, BLOCK_PACKING = 13,
       BLOCK_ZERO = 14, BLOCK_NUMBER = 16, BLOCK_CRC = 20 }; /* offsets in the block header */
enum { BLOCK_RECORDS = 1, BLOCK_END = 2 };
enum { PACKING_PLAIN, PACKING_ZSTD };

/* The first byte of a record: the kind of an operation or of another record, and four flags. */
enum { RECORD_KIND = 15, RECORD_THREAD = 11, RECORD_NAME = 12, RECORD_REGISTER = 13,
       RECORD_FACT = 14, RECORD_EXTENDED = 15 };
enum { RECORD_VALUE = 16, RECORD_SIZE = 32, RECORD_CYCLES = 64, RECORD_SAME_THREAD = 128 };
enum { RECORD_USE = 16 }; /* of a register: what it is used for follows */
/* The second byte of an extended operation: its kind, and what the others cannot have. The flag is
 * of L, CAS and TX.BEGIN the one in binary_flag. */
enum { EXTENDED_KIND = 31, EXTENDED_FLAG = 32, EXTENDED_STEP = 64, EXTENDED_MARKS = 128 };
static const uint8_t binary_flag[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOAD] = ORDEAL_NONFAULTING, [ORDEAL_CAS] = ORDEAL_COMPARE_REGISTER,
    [ORDEAL_TX_BEGIN] = ORDEAL_HAS_LIMIT,
};
_Static_assert(ORDEAL_EVICT + 1 == RECORD_THREAD && ORDEAL_BRANCH_END == 17 && ORDEAL_AMO == 18
                   && ORDEAL_AMO_MAXU == 7 && ORDEAL_STORE_CONDITIONAL == 20
                   && ORDEAL_REGISTER_WRITTEN == 1 && ORDEAL_REGISTER_CONTROL == 4,
               "in files, too, operations and functions keep their numbers");
enum { FACT_MODEL, FACT_ATOMIC, FACT_INIT, FACT_ORDER, FACT_MORE, FACT_FINAL, FACT_SEED,
       FACT_PLACE, FACT_MEMORY };

/* What records of one block are told apart from: zero at the start of each block. */
struct binary_state { uint32_t thread; uint64_t address, begin; };

static inline uint64_t little_get(const uint8_t *p, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

static inline void little_put(uint8_t *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

/* Differences go both ways: small ones of either sign become small numbers. */
static inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t unzigzag(uint64_t z) { return z >> 1 ^ (0 - (z & 1)); }

/* The value of an access of up to 8 bytes as a signed number, and back. */
static inline int64_t sign_extend(uint64_t v, int bytes)
{
    int shift = 64 - 8 * bytes;
    return bytes ? (int64_t)(v << shift) >> shift : 0;
}

static inline uint64_t truncate_to(uint64_t v, uint8_t size_log2)
{
    return size_log2 >= 3 ? v : v & ((UINT64_C(1) << (8u << size_log2)) - 1);
}

#endif
