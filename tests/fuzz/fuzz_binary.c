/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for the binary reader. Checksums would keep the fuzzer out of everything behind
 * them, so a copy of the input with headers and checksums put right is read as well. */
#include <zlib.h>
#include "binary.h"
#include "round_trip.h"

static uint8_t *repair_header(uint8_t *p)
{
    memcpy(p, BINARY_MAGIC, BINARY_MAGIC_SIZE);
    little_put(p + 8, BINARY_VERSION, 4);
    little_put(p + 12, crc32(0, p, 12), 4);
    return p + BINARY_HEADER;
}

static void repair(uint8_t *p, size_t size)
{
    if (size < BINARY_HEADER)
        return;
    uint8_t *end = p + size;
    uint32_t number = 0;
    for (p = repair_header(p); end - p >= BLOCK_HEADER; ) {
        bool last = p[BLOCK_KIND] == BLOCK_END;
        size_t left = (size_t)(end - p) - BLOCK_HEADER, stored = little_get(p + BLOCK_STORED, 4);
        if (stored > left)
            little_put(p + BLOCK_STORED, stored = left, 4);
        if (p[BLOCK_PACKING] == PACKING_PLAIN)
            little_put(p + BLOCK_RAW, stored, 4);
        little_put(p + BLOCK_NUMBER, ++number, 4);
        uLong crc = crc32(crc32(0, p, BLOCK_CRC), p + BLOCK_HEADER, (uInt)stored);
        little_put(p + BLOCK_CRC, crc, 4);
        p += BLOCK_HEADER + stored;
        if (last && end - p >= BINARY_HEADER) {
            p = repair_header(p); /* the next trace */
            number = 0;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (size)
        memcpy(copy, data, size);
    repair(copy, size);
    fuzz_reader(data, size, ORDEAL_FORMAT_BINARY);
    fuzz_reader(copy, size, ORDEAL_FORMAT_BINARY);
    free(copy);
    return 0;
}
