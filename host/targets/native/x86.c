/* SPDX-License-Identifier: Apache-2.0 */
#include "x86.h"

#include <assert.h>
#include <string.h>

static void put(struct x86 *x, uint64_t value, unsigned bytes)
{
    assert(x->length <= x->capacity);
    if (x->capacity - x->length < bytes) {
        x->full = true;
        return;
    }
    for (unsigned i = 0; i < bytes; i++)
        x->code[x->length++] = (uint8_t)(value >> 8 * i);
}

/* What is told of an instruction: prefix (0: none), opcode (its bytes from the highest that is not
 * 0 down), the W bit, and whether its register is a byte, of which 4 to 7 need an empty REX. */
struct form {
    uint8_t prefix;
    uint32_t opcode;
    bool wide, byte_register;
};

static void put_opcode(struct x86 *x, struct form f, unsigned reg, unsigned index, unsigned base)
{
    unsigned rex = (f.wide ? 8u : 0) | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3;
    if (f.prefix)
        put(x, f.prefix, 1);
    if (rex || (f.byte_register && reg >= RSP && reg <= RDI))
        put(x, 0x40 | rex, 1);
    for (int shift = 24; shift >= 0; shift -= 8)
        if (f.opcode >> shift)
            put(x, f.opcode >> shift, 1);
}

static void with_register(struct x86 *x, struct form f, unsigned reg, unsigned other)
{
    put_opcode(x, f, reg, 0, other);
    put(x, 0xC0 | (reg & 7) << 3 | (other & 7), 1);
}

static void with_memory(struct x86 *x, struct form f, unsigned reg, struct x86_place m)
{
    put_opcode(x, f, reg, m.index, m.base);
    bool small = m.displacement >= -128 && m.displacement <= 127;
    unsigned mode = m.displacement == 0 && (m.base & 7) != RBP ? 0 : small ? 1 : 2;
    bool indexed = m.index != RSP || (m.base & 7) == RSP;
    put(x, mode << 6 | (reg & 7) << 3 | (indexed ? RSP : (m.base & 7)), 1);
    if (indexed)
        put(x, (m.index & 7) << 3 | (m.base & 7), 1);
    if (mode)
        put(x, (uint32_t)m.displacement, mode == 1 ? 1 : 4);
}

/* The usual way sizes are told: the lowest bit of the opcode, prefix 66, and W. */
static struct form sized(uint32_t opcode, unsigned size_log2)
{
    return (struct form){ .prefix = size_log2 == 1 ? 0x66 : 0, .opcode = opcode | (size_log2 > 0),
                          .wide = size_log2 == 3, .byte_register = size_log2 == 0 };
}

/* ---- memory ------------------------------------------------------------------------------ */

void x86_load(struct x86 *x, unsigned size_log2, enum x86_register to, struct x86_place from)
{
    with_memory(x, size_log2 < 2 ? (struct form){ .opcode = 0x0FB6 | size_log2 }
                                 : sized(0x8A, size_log2), to, from);
}

void x86_load_signed(struct x86 *x, unsigned size_log2, enum x86_register to, struct x86_place from)
{
    assert(size_log2 < 3);
    with_memory(x,
                (struct form){ .opcode = size_log2 < 2 ? 0x0FBE | size_log2 : 0x63, .wide = true },
                to, from);
}

void x86_store(struct x86 *x, unsigned size_log2, struct x86_place to, enum x86_register from)
{
    with_memory(x, sized(0x88, size_log2), from, to);
}

void x86_store_immediate(struct x86 *x, unsigned size_log2, struct x86_place to, int32_t value)
{
    with_memory(x, sized(0xC6, size_log2), 0, to);
    put(x, (uint32_t)value, size_log2 < 2 ? 1u << size_log2 : 4);
}

void x86_exchange(struct x86 *x, unsigned size_log2, struct x86_place at, enum x86_register with)
{
    with_memory(x, sized(0x86, size_log2), with, at);
}

void x86_compare_exchange(struct x86 *x, unsigned size_log2, struct x86_place at,
                          enum x86_register desired)
{
    put(x, 0xF0, 1);
    with_memory(x, sized(0x0FB0, size_log2), desired, at);
}

void x86_exchange_add(struct x86 *x, unsigned size_log2, struct x86_place at,
                      enum x86_register with)
{
    put(x, 0xF0, 1);
    with_memory(x, sized(0x0FC0, size_log2), with, at);
}

/* ---- registers --------------------------------------------------------------------------- */

void x86_move(struct x86 *x, enum x86_register to, enum x86_register from)
{
    with_register(x, sized(0x88, 3), from, to);
}

void x86_zero_extend(struct x86 *x, unsigned size_log2, enum x86_register to,
                     enum x86_register from)
{
    if (size_log2 < 2)  /* here the byte register is the other operand */
        with_register(x, (struct form){ .opcode = 0x0FB6 | size_log2,
                                        .wide = size_log2 == 0 && from >= RSP && from <= RDI },
                      to, from);
    else
        with_register(x, sized(0x88, size_log2), from, to);
}

void x86_immediate(struct x86 *x, enum x86_register to, uint64_t value)
{
    bool wide = value >> 32;
    put_opcode(x, (struct form){ .opcode = 0xB8 | (to & 7), .wide = wide }, 0, 0, to);
    put(x, value, wide ? 8 : 4);
}

void x86_address(struct x86 *x, enum x86_register to, struct x86_place of)
{
    with_memory(x, (struct form){ .opcode = 0x8D, .wide = true }, to, of);
}

void x86_arithmetic(struct x86 *x, enum x86_arithmetic what, enum x86_register to,
                    enum x86_register with)
{
    with_register(x, sized(what << 3, 3), with, to);
}

void x86_arithmetic_immediate(struct x86 *x, bool wide, enum x86_arithmetic what,
                              enum x86_register to, int32_t value)
{
    bool small = value >= -128 && value <= 127;
    with_register(x, (struct form){ .opcode = small ? 0x83 : 0x81, .wide = wide }, what, to);
    put(x, (uint32_t)value, small ? 1 : 4);
}

void x86_arithmetic_memory(struct x86 *x, enum x86_arithmetic what, enum x86_register to,
                           struct x86_place with)
{
    with_memory(x, sized(what << 3 | 2, 3), to, with);
}

void x86_compare(struct x86 *x, unsigned size_log2, enum x86_register of, struct x86_place with)
{
    with_memory(x, sized(X86_CMP << 3 | 2, size_log2), of, with);
}

void x86_load_if(struct x86 *x, enum x86_condition when, enum x86_register to,
                 struct x86_place from)
{
    assert(when < X86_ALWAYS);
    with_memory(x, (struct form){ .opcode = 0x0F40 | when, .wide = true }, to, from);
}

void x86_multiply(struct x86 *x, enum x86_register to, enum x86_register by)
{
    with_register(x, (struct form){ .opcode = 0x0FAF, .wide = true }, to, by);
}

void x86_multiply_immediate(struct x86 *x, enum x86_register to, enum x86_register from,
                            int32_t by)
{
    with_register(x, (struct form){ .opcode = 0x69, .wide = true }, to, from);
    put(x, (uint32_t)by, 4);
}

void x86_shift_right_once(struct x86 *x, enum x86_register of)
{
    with_register(x, (struct form){ .opcode = 0xD1 }, 5, of);
}

void x86_test_byte(struct x86 *x, enum x86_register of, uint8_t bits)
{
    with_register(x, (struct form){ .opcode = 0xF6 }, 0, of);
    put(x, bits, 1);
}

void x86_decrement_memory(struct x86 *x, struct x86_place at)
{
    with_memory(x, (struct form){ .opcode = 0xFF }, 1, at);
}

void x86_compare_memory(struct x86 *x, struct x86_place at, int8_t with)
{
    with_memory(x, (struct form){ .opcode = 0x83 }, X86_CMP, at);
    put(x, (uint8_t)with, 1);
}

void x86_push(struct x86 *x, enum x86_register which)
{
    put_opcode(x, (struct form){ .opcode = 0x50 | (which & 7) }, 0, 0, which);
}

void x86_pop(struct x86 *x, enum x86_register which)
{
    put_opcode(x, (struct form){ .opcode = 0x58 | (which & 7) }, 0, 0, which);
}

/* ---- vectors ----------------------------------------------------------------------------- */

/* movd, movq, movdqu: of 2, 3 and 4. */
static const struct form vector_loads[] = {
    { .prefix = 0x66, .opcode = 0x0F6E }, { .prefix = 0xF3, .opcode = 0x0F7E },
    { .prefix = 0xF3, .opcode = 0x0F6F },
}, vector_stores[] = {
    { .prefix = 0x66, .opcode = 0x0F7E }, { .prefix = 0x66, .opcode = 0x0FD6 },
    { .prefix = 0xF3, .opcode = 0x0F7F },
};

void x86_vector_load(struct x86 *x, unsigned size_log2, unsigned to, struct x86_place from)
{
    with_memory(x, vector_loads[size_log2 - 2], to, from);
}

void x86_vector_store(struct x86 *x, unsigned size_log2, struct x86_place to, unsigned from)
{
    with_memory(x, vector_stores[size_log2 - 2], from, to);
}

void x86_vector_zero(struct x86 *x, unsigned which)
{
    with_register(x, (struct form){ .prefix = 0x66, .opcode = 0x0FEF }, which, which);
}

void x86_vector_low(struct x86 *x, unsigned to, enum x86_register from)
{
    with_register(x, (struct form){ .prefix = 0x66, .opcode = 0x0F6E, .wide = true }, to, from);
}

void x86_vector_high(struct x86 *x, unsigned to, enum x86_register from)
{
    with_register(x, (struct form){ .prefix = 0x66, .opcode = 0x0F3A22, .wide = true }, to, from);
    put(x, 1, 1);
}

/* ---- all else ---------------------------------------------------------------------------- */

void x86_simple(struct x86 *x, enum x86_simple which)
{
    static const struct { uint32_t code; uint8_t length; } bytes[] = {
        [X86_RETURN] = { 0xC3, 1 },        [X86_LFENCE] = { 0xE8AE0F, 3 },
        [X86_SFENCE] = { 0xF8AE0F, 3 },    [X86_MFENCE] = { 0xF0AE0F, 3 },
        [X86_SYSCALL] = { 0x050F, 2 },     [X86_XEND] = { 0xD5010F, 3 },
    };
    put(x, bytes[which].code, bytes[which].length);
}

void x86_cache(struct x86 *x, enum x86_cache what, struct x86_place at)
{
    static const struct { struct form form; uint8_t reg; } ways[] = {
        [X86_PREFETCH] = { { .opcode = 0x0F18 }, 1 },
        [X86_CLFLUSH] = { { .opcode = 0x0FAE }, 7 },
        [X86_CLFLUSHOPT] = { { .prefix = 0x66, .opcode = 0x0FAE }, 7 },
    };
    with_memory(x, ways[what].form, ways[what].reg, at);
}

static void set_distance(struct x86 *x, size_t field, size_t target)
{
    uint32_t distance = (uint32_t)(target - (field + 4));
    assert(field + 4 <= x->length && target <= x->length);
    for (int i = 0; i < 4; i++)
        x->code[field + i] = (uint8_t)(distance >> 8 * i);
}

/* A jump is named by where its distance stands: its last four bytes. */
static size_t put_jump(struct x86 *x, uint32_t opcode, unsigned bytes)
{
    put(x, opcode, bytes);
    put(x, 0, 4);
    return x->length - 4;
}

size_t x86_jump(struct x86 *x, enum x86_condition when)
{
    return when == X86_ALWAYS ? put_jump(x, 0xE9, 1) : put_jump(x, 0x800F | when << 8, 2);
}

size_t x86_xbegin(struct x86 *x) { return put_jump(x, 0xF8C7, 2); }

void x86_land(struct x86 *x, size_t jump)
{
    if (!x->full)
        set_distance(x, jump, x->length);
}

void x86_jump_back(struct x86 *x, enum x86_condition when, size_t to)
{
    size_t jump = x86_jump(x, when);
    if (!x->full)
        set_distance(x, jump, to);
}

void x86_xabort(struct x86 *x, uint8_t why)
{
    put(x, 0xF8C6, 2);
    put(x, why, 1);
}
