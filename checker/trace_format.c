/* SPDX-License-Identifier: Apache-2.0 */
/* An operation or a location said in the text notation (FORMAT.md): for files and messages. */
#include "trace.h"

#include <inttypes.h>

/* Text that counts what it could not hold, as snprintf does. */
struct text { char *buffer; size_t size, length; };

static void put(struct text *x, const char *s)
{
    for (; *s; s++, x->length++)
        if (x->length + 1 < x->size)
            x->buffer[x->length] = *s;
}

static void put_decimal(struct text *x, uint64_t value)
{
    char digits[24], *p = digits + sizeof digits;
    *--p = '\0';
    do
        *--p = (char)('0' + value % 10);
    while (value /= 10);
    put(x, p);
}

static void put_hex(struct text *x, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "0x%" PRIx64, value);
    put(x, digits);
}

/* Small numbers are counted, large ones are patterns. */
static void put_number(struct text *x, uint64_t value)
{
    if (value <= UINT32_MAX)
        put_decimal(x, value);
    else
        put_hex(x, value);
}

static void put_value(struct text *x, const struct ordeal_trace *t, uint8_t size_log2,
                      uint64_t value)
{
    if (size_log2 <= 3) {
        put_number(x, value);
        return;
    }
    const uint8_t *bytes = t->bytes.data + value;
    size_t top = (size_t)1 << size_log2;
    assert(value + top <= t->bytes.count);
    while (top > 1 && bytes[top - 1] == 0)
        top--;
    char pair[8];
    put(x, "0x");
    for (size_t i = top; i-- > 0; ) {
        snprintf(pair, sizeof pair, i + 1 == top ? "%x" : "%02x", bytes[i]);
        put(x, pair);
    }
}

static void put_location(struct text *x, const struct ordeal_trace *t, uint32_t base,
                         uint64_t address, uint8_t size_log2)
{
    if (base) {
        put(x, ordeal_trace_name_text(t, base));
        if (address) {
            put(x, "+");
            put_number(x, address);
        }
    } else
        put_hex(x, address);
    if (size_log2 != 2) {
        put(x, "/");
        put_decimal(x, UINT64_C(1) << size_log2);
    }
}

static int text_end(struct text *x)
{
    if (x->size)
        x->buffer[x->length < x->size ? x->length : x->size - 1] = '\0';
    return (int)x->length;
}

int trace_format_location(const struct ordeal_trace *t, uint32_t base, uint64_t address,
                          uint8_t size_log2, char *buffer, size_t size)
{
    struct text x = { buffer, size, 0 };
    put_location(&x, t, base, address, size_log2);
    return text_end(&x);
}

static void put_barrier(struct text *x, uint8_t barrier)
{
    if (barrier == ORDEAL_FULL)
        return;
    for (int bit = 0; bit < 4; bit++)
        if (barrier >> bit & 1) {
            put(x, ".");
            put(x, trace_barrier_names[bit]);
        }
}

/* `?5#7` compares with 5 and writes 7; in a test `?r1` with a register, `#7+3` adds each time. */
static void put_operands(struct text *x, const struct ordeal_trace *t, size_t i)
{
    const struct ordeal_op *op = &t->ops.data[i];
    uint8_t traits = trace_op_traits[op->kind];
    if (traits & OP_COMPARES) {
        bool from_register = op->flags & ORDEAL_COMPARE_REGISTER;
        put(x, from_register ? "?r" : "?");
        put_value(x, t, from_register ? 2 : op->size_log2, ordeal_trace_compare_of(t, i));
    }
    if (traits & OP_WRITES) {
        uint64_t step = ordeal_trace_step_of(t, i);
        put(x, "#");
        put_value(x, t, op->size_log2, op->write);
        if (step) {
            put(x, "+");
            put_number(x, step);
        }
    }
    if (trace_has_count(op)) {
        put(x, "#");
        put_decimal(x, op->write);
    }
}

int ordeal_trace_format(const struct ordeal_trace *t, size_t i, char *buffer, size_t size)
{
    const struct ordeal_op *op = ordeal_trace_op(t, i);
    struct text x = { buffer, size, 0 };
    put(&x, "P");
    put_decimal(&x, t->threads.data[op->thread]);
    put(&x, " ");
    put(&x, op->flags & ORDEAL_NONFAULTING ? TRACE_NONFAULTING_NAME : trace_op_names[op->kind]);
    if (op->kind == ORDEAL_MEMBAR)
        put_barrier(&x, op->barrier);
    if (op->kind == ORDEAL_AMO)
        put(&x, trace_amo_names[op->function]);
    put(&x, trace_mark_names[trace_marks(op)]);
    if (trace_op_traits[op->kind] & OP_LOCATION) {
        put(&x, "[");
        put_location(&x, t, op->base, op->address, op->size_log2);
        put(&x, "]");
    }
    if (op->flags & ORDEAL_HAS_VALUE) {
        put(&x, "=");
        put_value(&x, t, op->size_log2, op->read);
    }
    put_operands(&x, t, i);
    return text_end(&x);
}
