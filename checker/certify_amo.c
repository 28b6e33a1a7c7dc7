/* SPDX-License-Identifier: Apache-2.0 */
/* Certifies what AMOs wrote: their functions a second time, byte by byte from the lowest, as memory
 * holds them, where amo.c has them in one piece. */
#include "certify.h"

enum { AMO_BYTES = 8 };

/* From the highest byte down; of signed numbers that one's top bit counts the other way round. */
static bool is_below(const uint8_t *a, const uint8_t *b, unsigned size, bool is_signed)
{
    for (unsigned i = size; i-- > 0;) {
        uint8_t flip = is_signed && i == size - 1 ? 0x80 : 0;
        if (a[i] != b[i])
            return (a[i] ^ flip) < (b[i] ^ flip);
    }
    return false;
}

static void add_bytes(uint8_t *memory, const uint8_t *operand, unsigned size)
{
    unsigned carry = 0;
    for (unsigned i = 0; i < size; i++) {
        unsigned sum = memory[i] + operand[i] + carry;
        memory[i] = (uint8_t)sum;
        carry = sum >> 8;
    }
}

/* Bit 2a + b of the table is the function of bits a and b. */
static void combine_bits(uint8_t *memory, const uint8_t *operand, unsigned size, unsigned table)
{
    for (unsigned bit = 0; bit < 8 * size; bit++) {
        unsigned a = memory[bit / 8] >> bit % 8 & 1, b = operand[bit / 8] >> bit % 8 & 1;
        unsigned result = table >> (2 * a + b) & 1;
        memory[bit / 8] = (uint8_t)((memory[bit / 8] & ~(1u << bit % 8)) | result << bit % 8);
    }
}

static void replace_if(uint8_t *memory, const uint8_t *operand, unsigned size, bool replace)
{
    for (unsigned i = 0; replace && i < size; i++)
        memory[i] = operand[i];
}

/* `memory` holds what was read, and then what is written. */
static void apply(uint8_t function, uint8_t *memory, const uint8_t *operand, unsigned size)
{
    bool is_signed = function == ORDEAL_AMO_MIN || function == ORDEAL_AMO_MAX;
    bool below = is_below(operand, memory, size, is_signed);
    bool above = is_below(memory, operand, size, is_signed);
    switch (function) {
    case ORDEAL_AMO_ADD: add_bytes(memory, operand, size); break;
    case ORDEAL_AMO_AND: combine_bits(memory, operand, size, 0x8); break;
    case ORDEAL_AMO_OR: combine_bits(memory, operand, size, 0xe); break;
    case ORDEAL_AMO_XOR: combine_bits(memory, operand, size, 0x6); break;
    case ORDEAL_AMO_MIN:
    case ORDEAL_AMO_MINU: replace_if(memory, operand, size, below); break;
    default: replace_if(memory, operand, size, above);
    }
}

static void to_bytes(uint64_t value, uint8_t *bytes)
{
    for (unsigned i = 0; i < AMO_BYTES; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

/* Is the event's value that part of what the operation wrote? */
static bool wrote(const struct ordeal_op *op, const struct location *at, uint64_t value)
{
    uint8_t memory[AMO_BYTES], operand[AMO_BYTES];
    uint64_t offset = at->address - op->address;
    unsigned size = 1u << op->size_log2, part = 1u << at->size_log2;
    if (size > AMO_BYTES || offset + part > size)
        return false;
    to_bytes(op->read, memory);
    to_bytes(op->write, operand);
    apply(op->function, memory, operand, size);
    for (unsigned i = 0; i < part; i++, value >>= 8)
        if (memory[offset + i] != (value & 0xff))
            return false;
    return value == 0;
}

enum ordeal_status certify_amos(const struct execution *x)
{
    for (uint32_t e = x->locations; e < x->events; e++) {
        const struct ordeal_op *op = &x->trace->ops.data[x->op[e]];
        if (op->kind != ORDEAL_AMO || !x->is_store[e]
            || wrote(op, &x->location[x->loc[e]], x->value[e]))
            continue;
        char text[EVENT_TEXT];
        return fail(x->o, ORDEAL_INTERNAL, "%s: it does not write %llu there",
                    certify_event_text(x, e, text), (unsigned long long)x->value[e]);
    }
    return ORDEAL_OK;
}
