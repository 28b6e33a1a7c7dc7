/* SPDX-License-Identifier: Apache-2.0 */
#include "traces.h"

#include <inttypes.h>
#include <stdlib.h>

enum ordeal_status trace_from(struct ordeal *o, const void *bytes, size_t length,
                              enum ordeal_format format, struct ordeal_trace **trace)
{
    static char empty[1];
    FILE *f = length ? fmemopen((void *)bytes, length, "rb") : fmemopen(empty, 0, "rb");
    enum ordeal_status status = ORDEAL_NO_MEMORY;
    struct ordeal_reader *r = f ? ordeal_reader_new(o, f, "x", format) : NULL;
    *trace = NULL;
    if (r)
        status = ordeal_reader_next(r, trace);
    ordeal_reader_free(r);
    if (f)
        fclose(f);
    return status;
}

struct written trace_to(const struct ordeal_trace *t, enum out out)
{
    struct written w = { 0 };
    FILE *f = open_memstream(&w.bytes, &w.length);
    if (!f) {
        w.status = ORDEAL_NO_MEMORY;
        return w;
    }
    switch (out) {
    case OUT_TEXT: w.status = ordeal_write_text(t, f); break;
    case OUT_BINARY: w.status = ordeal_write_binary(t, f, false); break;
    case OUT_PACKED: w.status = ordeal_write_binary(t, f, true); break;
    case OUT_AXE: w.status = ordeal_write_axe(t, f); break;
    }
    fclose(f);
    return w;
}

/* ---- random traces --------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13; /* xorshift64 */
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static uint64_t below(uint64_t *state, uint64_t n) { return (draw(state) >> 16) % n; }

/* Values of every length, so that every length of number is written. */
static uint64_t any_value(uint64_t *state, uint8_t size_log2)
{
    unsigned bits = 8u << size_log2;
    uint64_t v = draw(state) >> below(state, 64);
    return bits < 64 ? v & ((UINT64_C(1) << bits) - 1) : v;
}

static uint64_t any_operand(struct ordeal_trace *t, uint64_t *state, uint8_t size_log2)
{
    if (size_log2 <= 3)
        return any_value(state, size_log2);
    uint8_t bytes[64];
    size_t size = (size_t)1 << size_log2, zeros = below(state, size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = i + zeros < size ? (uint8_t)draw(state) : 0;
    uint64_t offset = 0;
    if (ordeal_trace_bytes(t, bytes, size, &offset) != ORDEAL_OK)
        abort();
    return offset;
}

static uint32_t any_base(struct ordeal_trace *t, uint64_t *state, bool axe)
{
    char name[32];
    uint64_t n = below(state, 40);
    uint32_t base = 0;
    if (!axe && n < 8)
        return 0;
    int length = snprintf(name, sizeof name, axe || n < 20 ? "v%" PRIu64 : "_A.%" PRIu64 "x", n);
    if (ordeal_trace_name(t, name, (size_t)length, &base) != ORDEAL_OK)
        abort();
    return base;
}

static uint64_t any_address(uint64_t *state, uint32_t base, uint8_t size_log2)
{
    uint64_t address = draw(state) >> below(state, 64);
    if (base && below(state, 2))
        address = 0;
    return address & ~((UINT64_C(1) << size_log2) - 1);
}

static void must(enum ordeal_status status)
{
    if (status != ORDEAL_OK)
        abort();
}

/* Where lines lie and what they are; sometimes the same is said twice. */
static void add_lines(struct ordeal_trace *t, uint64_t *state)
{
    for (uint64_t n = below(state, 20); n > 0; n--) {
        uint32_t base = any_base(t, state, false);
        uint64_t place;
        if (base && !ordeal_trace_place_of(t, base, &place) && below(state, 3))
            must(ordeal_trace_place(t, base, (draw(state) >> below(state, 64)) & ~UINT64_C(63)));
        if (base)
            must(ordeal_trace_memory(t, base, (uint8_t)below(state, 4)));
    }
}

static void add_facts(struct ordeal_trace *t, uint64_t *state)
{
    if (below(state, 2))
        ordeal_trace_claim(t, (enum ordeal_model)below(state, ORDEAL_MODELS));
    must(ordeal_trace_atomic(t, 1u << below(state, 7)));
    if (below(state, 2)) {
        ordeal_trace_seed(t, draw(state) >> below(state, 64));
        add_lines(t, state);
    }
    for (uint64_t n = below(state, 4); n > 0; n--) {
        uint8_t size = (uint8_t)below(state, 4);
        uint32_t base = any_base(t, state, false);
        uint64_t address = any_address(state, base, size), values[3000];
        must(ordeal_trace_init(t, base, address, size, any_value(state, size)));
        must(ordeal_trace_final(t, base, address, size, any_value(state, size)));
        size_t count = below(state, below(state, 8) ? 5 : 3000);
        for (size_t i = 0; i < count; i++)
            values[i] = any_value(state, size);
        must(ordeal_trace_order(t, base, address, size, values, count));
    }
}

static void add_op(struct ordeal_trace *t, uint64_t *state, bool axe)
{
    struct ordeal_op op = { 0 };
    uint64_t compare = 0;
    uint32_t number = (uint32_t)below(state, below(state, 9) ? 5 : 4000000000);
    must(ordeal_trace_thread(t, number, &op.thread));
    op.kind = (uint8_t)below(state, axe ? ORDEAL_CAS : ORDEAL_OP_KINDS);
    if (axe && below(state, 9) == 0)
        op.kind = ORDEAL_MEMBAR;
    op.barrier = axe ? ORDEAL_FULL : (uint8_t)(1 + below(state, 15));
    op.size_log2 = axe || below(state, 2) ? 2 : (uint8_t)below(state, 7);
    op.flags = (uint8_t)below(state, axe ? 64 : 256);
    if (op.kind == ORDEAL_AMO)
        op.function = (uint8_t)below(state, ORDEAL_AMO_FUNCTIONS);
    if (op.kind >= ORDEAL_AMO)
        op.size_log2 &= 3;
    if (axe) {
        op.flags |= ORDEAL_HAS_VALUE;
        op.flags &= (uint8_t)~(ORDEAL_NONFAULTING | (op.kind == ORDEAL_STORE ? ORDEAL_HAS_END : 0));
    }
    if (op.kind == ORDEAL_CAS && op.size_log2 <= 3 && op.flags & ORDEAL_COMPARE_REGISTER)
        op.flags &= (uint8_t)~ORDEAL_HAS_VALUE;
    else
        op.flags &= (uint8_t)~ORDEAL_COMPARE_REGISTER;
    uint8_t traits = trace_op_traits[op.kind];
    if (traits & OP_LOCATION) {
        op.base = any_base(t, state, axe);
        op.address = axe ? 0 : any_address(state, op.base, op.size_log2);
    }
    if (traits & OP_READS && op.flags & ORDEAL_HAS_VALUE)
        op.read = any_operand(t, state, op.size_log2);
    if (op.kind == ORDEAL_STORE_CONDITIONAL && op.flags & ORDEAL_HAS_VALUE)
        op.read = below(state, 2);
    if (traits & OP_WRITES)
        op.write = any_operand(t, state, op.size_log2);
    else if (traits & OP_COUNT || op.kind == ORDEAL_TX_BEGIN)
        op.write = 1 + below(state, TRACE_COUNT_MAX) / (1 + any_value(state, 2));
    if (traits & OP_COMPARES)
        compare = any_operand(t, state, op.flags & ORDEAL_COMPARE_REGISTER ? 2 : op.size_log2);
    must(ordeal_trace_add(t, &op, compare));
    bool may_step = traits & OP_WRITES && op.size_log2 <= 3
                 && !(ordeal_trace_op(t, ordeal_trace_length(t) - 1)->flags & ORDEAL_HAS_VALUE);
    if (!axe && may_step && below(state, 2))
        must(ordeal_trace_step(t, any_value(state, op.size_log2)));
    if (op.flags & (ORDEAL_HAS_BEGIN | ORDEAL_HAS_END)) {
        uint64_t begin = draw(state) >> (1 + below(state, 63));
        must(ordeal_trace_times(t, begin, begin + below(state, 1000)));
    }
    while (!axe && traits & (OP_READS | OP_WRITES) && below(state, 3) == 0) {
        uint32_t reg = (uint32_t)(draw(state) >> (32 + below(state, 32)));
        enum ordeal_register_use use = below(state, ORDEAL_REGISTER_USES);
        bool has = use == ORDEAL_REGISTER_WRITTEN
                     ? traits & (OP_READS | OP_RESULT)
                     : use != ORDEAL_REGISTER_DATA || traits & OP_WRITES;
        must(ordeal_trace_uses_register(t, reg, has ? use : ORDEAL_REGISTER_READ));
    }
}

struct ordeal_trace *random_trace(struct ordeal *o, uint64_t seed, size_t ops, bool axe)
{
    uint64_t state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    struct ordeal_trace *t = ordeal_trace_new(o);
    if (!t)
        abort();
    if (!axe)
        add_facts(t, &state);
    for (size_t i = 0; i < ops; i++)
        add_op(t, &state, axe);
    return t;
}

/* ---- memory that fails --------------------------------------------------------------------- */

static void *failing_resize(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    struct failing *f = user;
    (void)old_bytes;
    if (new_bytes == 0) {
        f->blocks -= pointer != NULL;
        free(pointer);
        return NULL;
    }
    if (++f->calls >= f->fail_at && f->fail_at)
        return NULL;
    void *fresh = realloc(pointer, new_bytes);
    f->blocks += fresh && !pointer;
    return fresh;
}

struct ordeal_memory failing_memory(struct failing *f)
{
    return (struct ordeal_memory){ failing_resize, f };
}

const char *starve_reader(const void *bytes, size_t length, enum ordeal_format format)
{
    for (size_t k = 2; ; k++) { /* the first is the context itself */
        struct failing f = { .fail_at = k };
        struct ordeal_memory memory = failing_memory(&f);
        struct ordeal *o = ordeal_new(&memory);
        struct ordeal_trace *t;
        if (!o)
            return "no context";
        enum ordeal_status status = trace_from(o, bytes, length, format, &t);
        ordeal_trace_free(t);
        size_t used = ordeal_memory_used(o);
        ordeal_free(o);
        if (f.blocks || used)
            return "memory is left behind";
        if (status == ORDEAL_OK)
            return f.calls < k ? NULL : "a failed allocation went unnoticed";
        if (status != ORDEAL_NO_MEMORY)
            return "the status is not ORDEAL_NO_MEMORY";
    }
}
