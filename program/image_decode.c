/* SPDX-License-Identifier: Apache-2.0 */
/* Words to instructions, by the table image_ops.def. */
#include "image_parts.h"

/* clang-format off */
enum format { UPPER, UPPER_PC, JUMP, IMMEDIATE, BRANCH, LOAD, STORE, SHIFT, REGISTER,
              FENCE, NOTHING, ATOMIC };
/* clang-format on */

struct row {
    uint32_t match, mask;
    uint8_t format;
};

/* clang-format off */
static const struct row rows[OPERATIONS] = {
#define OPERATION(name, text, match, mask, format) [OPERATION_##name] = { match, mask, format },
#include "image_ops.def"
#undef OPERATION
};

const char *const operation_names[OPERATIONS] = {
    "",
#define OPERATION(name, text, match, mask, format) text,
#include "image_ops.def"
#undef OPERATION
};
/* clang-format on */

static int32_t bits(uint32_t word, int high, int low)
{
    return (int32_t)(word << (31 - high)) >> (31 - high + low); /* with the sign of the highest */
}

static uint32_t field(uint32_t word, int high, int low)
{
    return word << (31 - high) >> (31 - high + low);
}

static uint8_t operation_of(uint32_t word)
{
    for (uint8_t o = OPERATION_NONE + 1; o < OPERATIONS; o++)
        if ((word & rows[o].mask) == rows[o].match)
            return o;
    return OPERATION_NONE;
}

/* Two bits of FENCE, of its four that also know devices. */
static uint8_t fence_orders(uint32_t word)
{
    enum { MODE_TSO = 8 };
    uint8_t orders = (uint8_t)(field(word, 25, 24) << 4 | field(word, 21, 20));
    return field(word, 31, 28) == MODE_TSO && orders == 0x33 ? orders | FENCE_TSO : orders;
}

static int32_t jump_offset(uint32_t word)
{
    return (int32_t)((uint32_t)bits(word, 31, 31) << 20 | field(word, 19, 12) << 12
                     | field(word, 20, 20) << 11 | field(word, 30, 21) << 1);
}

static int32_t branch_offset(uint32_t word)
{
    return (int32_t)((uint32_t)bits(word, 31, 31) << 12 | field(word, 7, 7) << 11
                     | field(word, 30, 25) << 5 | field(word, 11, 8) << 1);
}

static void set_immediate(struct instruction *in, enum format format, uint32_t word, uint32_t pc)
{
    switch (format) {
    case UPPER: in->immediate = (int32_t)(word & 0xfffff000); break;
    case UPPER_PC: in->immediate = (int32_t)((word & 0xfffff000) + pc); break;
    case JUMP: in->immediate = (int32_t)(pc + (uint32_t)jump_offset(word)); break;
    case BRANCH: in->immediate = (int32_t)(pc + (uint32_t)branch_offset(word)); break;
    case IMMEDIATE:
    case LOAD: in->immediate = bits(word, 31, 20); break;
    case STORE:
        in->immediate = (int32_t)((uint32_t)bits(word, 31, 25) << 5 | field(word, 11, 7));
        break;
    case SHIFT: in->immediate = (int32_t)field(word, 24, 20); break;
    default: break;
    }
}

/* Registers that a format does not have are x0, which is neither read nor written. */
static void set_registers(struct instruction *in, enum format format, uint32_t word)
{
    static const uint8_t has_rd = 1, has_rs1 = 2, has_rs2 = 4;
    static const uint8_t has[] = {
        [UPPER] = 1, [UPPER_PC] = 1, [JUMP] = 1,  [IMMEDIATE] = 3, [BRANCH] = 6,  [LOAD] = 3,
        [STORE] = 6, [SHIFT] = 3,    [FENCE] = 0, [REGISTER] = 7,  [NOTHING] = 0, [ATOMIC] = 7,
    };
    if (has[format] & has_rd)
        in->rd = (uint8_t)field(word, 11, 7);
    if (has[format] & has_rs1)
        in->rs1 = (uint8_t)field(word, 19, 15);
    if (has[format] & has_rs2)
        in->rs2 = (uint8_t)field(word, 24, 20);
}

struct instruction image_decode(uint32_t word, uint32_t pc)
{
    struct instruction in = { .operation = operation_of(word), .size = 4 };
    if (in.operation == OPERATION_NONE) {
        in.immediate = (int32_t)word;
        return in;
    }
    enum format format = rows[in.operation].format;
    set_registers(&in, format, word);
    set_immediate(&in, format, word, pc);
    if (format == LOAD || format == STORE)
        in.size = (uint8_t)(1 << field(word, 13, 12));
    if (format == FENCE)
        in.fence = fence_orders(word);
    if (format == ATOMIC)
        in.aq_rl = (uint8_t)field(word, 26, 25);
    return in;
}
