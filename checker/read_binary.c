/* SPDX-License-Identifier: Apache-2.0 */
/* The binary format (FORMAT.md): block after block, each verified before it is believed.
 *
 * Lengths are checked against the format's limits before they are used, so a damaged or hostile
 * file costs one block of memory and no more. What a bad block added to the trace is taken back. */
#define ZSTD_STATIC_LINKING_ONLY /* contexts in memory of our own */
#include "binary.h"
#include "read.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

struct unpacking {
    uint8_t *raw;              /* BLOCK_MAX bytes; NULL until a packed block comes */
    void *workspace;
    size_t workspace_size;
    ZSTD_DCtx *zstd;           /* lives in workspace */
};

struct block {
    uint32_t stored, raw, ops;
    uint8_t kind, packing;
    const uint8_t *payload;
};

/* Records of a block being read. `fault` is the first thing wrong, NULL while all is well. */
struct records {
    struct ordeal_trace *t;
    const uint8_t *p, *end;
    const char *fault;
    enum ordeal_status status; /* of the trace, when it failed */
    uint32_t ops;
    struct binary_state state;
};

/* ---- fields -------------------------------------------------------------------------------- */

static uint64_t wrong(struct records *x, const char *fault)
{
    if (!x->fault)
        x->fault = fault;
    x->p = x->end;
    return 0;
}

static const uint8_t *get_bytes(struct records *x, size_t count)
{
    assert(x->p <= x->end);
    if ((size_t)(x->end - x->p) < count) {
        wrong(x, "a record is cut off");
        return NULL;
    }
    const uint8_t *bytes = x->p;
    x->p += count;
    return bytes;
}

static uint8_t get_byte(struct records *x)
{
    const uint8_t *byte = get_bytes(x, 1);
    return byte ? *byte : 0;
}

static uint64_t get_varint(struct records *x)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t byte = get_byte(x);
        if (shift == 63 && byte > 1)
            break;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
    return wrong(x, "a number is too long");
}

static uint32_t get_number(struct records *x)
{
    uint64_t v = get_varint(x);
    return (uint32_t)(v > UINT32_MAX ? wrong(x, "a number is too large") : v);
}

static uint64_t get_signed(struct records *x, unsigned length, uint8_t size_log2)
{
    assert(size_log2 <= 3);
    if (length > 1u << size_log2)
        return wrong(x, "a value is longer than its access");
    const uint8_t *bytes = get_bytes(x, length);
    if (!bytes)
        return 0;
    uint64_t v = little_get(bytes, (int)length);
    return truncate_to((uint64_t)sign_extend(v, (int)length), size_log2);
}

/* ---- records ------------------------------------------------------------------------------- */

static bool accepted(struct records *x, enum ordeal_status status)
{
    if (status != ORDEAL_OK && x->status == ORDEAL_OK) {
        x->status = status;
        wrong(x, "");
    }
    return status == ORDEAL_OK;
}

static void get_thread(struct records *x)
{
    size_t known = x->t->threads.count;
    uint32_t index, number = get_number(x);
    if (!x->fault && accepted(x, ordeal_trace_thread(x->t, number, &index)) && index != known)
        wrong(x, "a thread is told twice");
}

static void get_name(struct records *x)
{
    size_t known = x->t->names.count, length = get_byte(x);
    const char *name = (const char *)get_bytes(x, length);
    uint32_t base;
    if (name && accepted(x, ordeal_trace_name(x->t, name, length, &base)) && base != known + 1)
        wrong(x, "a name is told twice");
}

static void get_register(struct records *x)
{
    uint64_t v = get_varint(x);
    if (v >> 33)
        wrong(x, "a number is too large");
    if (!x->fault)
        accepted(x, ordeal_trace_uses_register(x->t, (uint32_t)(v >> 1),
                                               v & 1 ? ORDEAL_REGISTER_WRITTEN
                                                     : ORDEAL_REGISTER_READ));
}

static void get_register_use(struct records *x)
{
    uint32_t reg = get_number(x);
    uint8_t use = get_byte(x);
    if (use <= ORDEAL_REGISTER_WRITTEN || use >= ORDEAL_REGISTER_USES)
        wrong(x, "the use of a register is not known");
    if (!x->fault)
        accepted(x, ordeal_trace_uses_register(x->t, reg, (enum ordeal_register_use)use));
}

static void get_model(struct records *x)
{
    char text[16] = "";
    size_t length = get_byte(x);
    const uint8_t *name = get_bytes(x, length);
    enum ordeal_model model;
    if (name && length < sizeof text)
        memcpy(text, name, length);
    if (ordeal_model_parse(text, &model))
        ordeal_trace_claim(x->t, model);
    else
        wrong(x, "a model is not known");
}

static void get_more(struct records *x)
{
    uint64_t count = get_varint(x);
    if (x->t->orders.count == 0)
        wrong(x, "values come before their order");
    for (; count > 0 && !x->fault; count--) {
        uint64_t v = get_varint(x);
        if (!x->fault)
            accepted(x, trace_order_more(x->t, &v, 1));
    }
}

static void get_word_fact(struct records *x, uint8_t fact)
{
    uint8_t size_log2 = get_byte(x);
    uint32_t base = get_number(x);
    uint64_t address = get_varint(x), v = fact == FACT_ORDER ? 0 : get_varint(x);
    if (x->fault)
        return;
    if (fact == FACT_INIT)
        accepted(x, ordeal_trace_init(x->t, base, address, size_log2, v));
    else if (fact == FACT_FINAL)
        accepted(x, ordeal_trace_final(x->t, base, address, size_log2, v));
    else
        accepted(x, ordeal_trace_order(x->t, base, address, size_log2, NULL, 0));
}

static void get_line(struct records *x, uint8_t fact)
{
    uint32_t base = get_number(x);
    if (fact == FACT_PLACE) {
        uint64_t address = get_varint(x);
        if (!x->fault)
            accepted(x, ordeal_trace_place(x->t, base, address));
    } else {
        uint8_t marks = get_byte(x);
        if (!x->fault)
            accepted(x, ordeal_trace_memory(x->t, base, marks));
    }
}

static void get_fact(struct records *x)
{
    uint8_t fact = get_byte(x);
    switch (fact) {
    case FACT_MODEL: get_model(x); break;
    case FACT_ATOMIC: {
        uint32_t bytes = get_number(x);
        if (!x->fault)
            accepted(x, ordeal_trace_atomic(x->t, bytes));
        break;
    }
    case FACT_SEED: {
        uint64_t seed = get_varint(x);
        if (!x->fault)
            ordeal_trace_seed(x->t, seed);
        break;
    }
    case FACT_PLACE: case FACT_MEMORY: get_line(x, fact); break;
    case FACT_MORE: get_more(x); break;
    case FACT_INIT: case FACT_ORDER: case FACT_FINAL: get_word_fact(x, fact); break;
    default: wrong(x, "a record is of no known kind");
    }
}

static void get_location(struct records *x, struct ordeal_op *op, bool sized)
{
    op->size_log2 = sized ? get_byte(x) : 2;
    if (op->size_log2 > 6)
        wrong(x, "an access is 1, 2, 4, 8, 16, 32 or 64 bytes");
    op->base = get_number(x);
    op->address = get_varint(x);
    if (op->base == 0)
        x->state.address = op->address = x->state.address + unzigzag(op->address);
}

static void get_small_values(struct records *x, struct ordeal_op *op, uint64_t *compare)
{
    uint8_t traits = trace_op_traits[op->kind], lengths = get_byte(x), size = op->size_log2;
    op->read = get_signed(x, lengths & 15, size);
    op->write = truncate_to(op->read + get_signed(x, lengths >> 4, size), size);
    if (op->flags & ORDEAL_COMPARE_REGISTER)
        *compare = get_number(x);
    else if (traits & OP_COMPARES)
        *compare = truncate_to(op->read + get_signed(x, get_byte(x), size), size);
}

static uint64_t get_wide(struct records *x, uint8_t size_log2)
{
    size_t size = (size_t)1 << size_log2;
    const uint8_t *bytes = get_bytes(x, size);
    uint64_t offset = 0;
    if (bytes)
        accepted(x, ordeal_trace_bytes(x->t, bytes, size, &offset));
    return offset;
}

static void get_wide_values(struct records *x, struct ordeal_op *op, uint64_t *compare)
{
    uint8_t traits = trace_op_traits[op->kind];
    if (op->flags & ORDEAL_HAS_VALUE)
        op->read = get_wide(x, op->size_log2);
    if (traits & OP_WRITES)
        op->write = get_wide(x, op->size_log2);
    if (traits & OP_COMPARES)
        *compare = get_wide(x, op->size_log2);
}

static void get_cycles(struct records *x, struct ordeal_op *op, uint64_t *begin, uint64_t *end)
{
    uint8_t which = get_byte(x);
    if (which == 0 || which > 3)
        wrong(x, "cycles are neither of issue nor of completion");
    if (which & 1) {
        op->flags |= ORDEAL_HAS_BEGIN;
        x->state.begin = *begin = x->state.begin + unzigzag(get_varint(x));
    }
    if (which & 2) {
        op->flags |= ORDEAL_HAS_END;
        *end = x->state.begin + unzigzag(get_varint(x));
    }
}

/* The kind, which a byte of its own tells when the tag cannot; that byte, or 0. */
static uint8_t get_kind(struct records *x, uint8_t tag, struct ordeal_op *op)
{
    op->kind = tag & RECORD_KIND;
    if (op->kind != RECORD_EXTENDED)
        return 0;
    uint8_t extended = get_byte(x);
    op->kind = extended & EXTENDED_KIND;
    if (op->kind >= ORDEAL_OP_KINDS || (extended & EXTENDED_FLAG && !binary_flag[op->kind])
        || (extended & EXTENDED_MARKS && !(trace_op_traits[op->kind] & (OP_READS | OP_WRITES)))) {
        wrong(x, "an operation is of no known kind");
        op->kind = ORDEAL_MEMBAR;
    } else if (extended & EXTENDED_FLAG)
        op->flags |= binary_flag[op->kind];
    return extended;
}

static void get_marks(struct records *x, struct ordeal_op *op)
{
    uint8_t marks = get_byte(x);
    if (marks == 0 || marks > 3)
        wrong(x, "marks are neither of acquire nor of release");
    op->flags |= (uint8_t)((marks & 3) * ORDEAL_ACQUIRES);
}

static void get_op(struct records *x, uint8_t tag)
{
    struct ordeal_op op = { 0 };
    uint64_t compare = 0, step = 0, begin = 0, end = 0;
    uint8_t extended = get_kind(x, tag, &op), traits = trace_op_traits[op.kind];
    bool stepped = extended & EXTENDED_STEP;
    if (tag & RECORD_VALUE && traits & (OP_READS | OP_RESULT))
        op.flags |= ORDEAL_HAS_VALUE;
    if (!(tag & RECORD_SAME_THREAD))
        x->state.thread = get_number(x);
    op.thread = x->state.thread;
    if (op.kind == ORDEAL_MEMBAR)
        op.barrier = get_byte(x);
    if (op.kind == ORDEAL_AMO)
        op.function = get_byte(x);
    if (extended & EXTENDED_MARKS)
        get_marks(x, &op);
    if (traits & OP_LOCATION)
        get_location(x, &op, tag & RECORD_SIZE);
    if (!x->fault && (traits & OP_WRITES || op.flags & ORDEAL_HAS_VALUE)) {
        if (op.size_log2 <= 3)
            get_small_values(x, &op, &compare);
        else
            get_wide_values(x, &op, &compare);
    }
    if (trace_has_count(&op))
        op.write = get_varint(x);
    if (stepped)
        step = get_varint(x);
    if (tag & RECORD_CYCLES)
        get_cycles(x, &op, &begin, &end);
    op.line = (uint32_t)x->t->ops.count + 1; /* lines a binary file has none; its count it has */
    if (x->fault || !accepted(x, ordeal_trace_add(x->t, &op, compare)))
        return;
    if (tag & RECORD_CYCLES)
        accepted(x, ordeal_trace_times(x->t, begin, end));
    if (stepped)
        accepted(x, ordeal_trace_step(x->t, step));
    x->ops++;
}

static void get_record(struct records *x)
{
    uint8_t tag = get_byte(x), kind = tag & RECORD_KIND;
    if (kind < RECORD_THREAD || kind == RECORD_EXTENDED)
        get_op(x, tag);
    else if (tag == RECORD_THREAD)
        get_thread(x);
    else if (tag == RECORD_NAME)
        get_name(x);
    else if (tag == RECORD_REGISTER)
        get_register(x);
    else if (tag == (RECORD_REGISTER | RECORD_USE))
        get_register_use(x);
    else if (tag == RECORD_FACT)
        get_fact(x);
    else
        wrong(x, "a record is of no known kind");
}

/* ---- blocks -------------------------------------------------------------------------------- */

static enum ordeal_status damaged(struct ordeal_reader *r, const char *fault)
{
    if (r->traces)
        return fail_at(r->o, r->name, r->line, 0, "trace %" PRIu64 ", block %" PRIu64 ": %s",
                       r->traces + 1, r->line, fault);
    return fail_at(r->o, r->name, r->line, 0, "block %" PRIu64 ": %s", r->line, fault);
}

static enum ordeal_status block_header(struct ordeal_reader *r, struct block *b)
{
    size_t have;
    enum ordeal_status status = reader_need(r, BLOCK_HEADER, &have);
    if (status != ORDEAL_OK)
        return status;
    if (have == 0)
        return damaged(r, "expected a block or the end block, found the end of the file");
    if (have < BLOCK_HEADER)
        return damaged(r, "the file ends inside the block");
    const uint8_t *h = (const uint8_t *)r->buffer + r->begin;
    *b = (struct block){ .stored = (uint32_t)little_get(h + BLOCK_STORED, 4),
                         .raw = (uint32_t)little_get(h + BLOCK_RAW, 4),
                         .ops = (uint32_t)little_get(h + BLOCK_OPS, 4),
                         .kind = h[BLOCK_KIND], .packing = h[BLOCK_PACKING] };
    if (b->stored > BLOCK_MAX || b->raw > BLOCK_MAX)
        return damaged(r, "the length in the block's header is damaged");
    return ORDEAL_OK;
}

/* The next block, whole and with the right checksum; it lives until the next call. */
static enum ordeal_status next_block(struct ordeal_reader *r, struct block *b)
{
    size_t have;
    r->line++;
    enum ordeal_status status = block_header(r, b);
    if (status == ORDEAL_OK)
        status = reader_need(r, BLOCK_HEADER + (size_t)b->stored, &have);
    if (status != ORDEAL_OK)
        return status;
    if (have < BLOCK_HEADER + (size_t)b->stored)
        return damaged(r, "the file ends inside the block");
    const uint8_t *h = (const uint8_t *)r->buffer + r->begin;
    b->payload = h + BLOCK_HEADER;
    if (crc32(crc32(0, h, BLOCK_CRC), b->payload, b->stored) != little_get(h + BLOCK_CRC, 4))
        return damaged(r, "the checksum does not match");
    if (little_get(h + BLOCK_NUMBER, 4) != (uint32_t)r->line)
        return damaged(r, "a block is missing before it");
    if (little_get(h + BLOCK_ZERO, 2) != 0 || b->packing > PACKING_ZSTD
        || (b->kind != BLOCK_RECORDS && b->kind != BLOCK_END)
        || (b->packing == PACKING_PLAIN && b->raw != b->stored))
        return damaged(r, "the block is of no known kind");
    r->begin += BLOCK_HEADER + (size_t)b->stored;
    assert(r->begin <= r->end);
    return ORDEAL_OK;
}

static enum ordeal_status unpack(struct ordeal_reader *r, struct unpacking *u, struct block *b)
{
    if (b->packing == PACKING_PLAIN)
        return ORDEAL_OK;
    if (!u->zstd) {
        u->workspace_size = ZSTD_estimateDCtxSize();
        u->workspace = mem_array(r->o, u->workspace_size, 1);
        u->raw = mem_array(r->o, BLOCK_MAX, 1);
        if (!u->workspace || !u->raw)
            return r->o->error.status;
        u->zstd = ZSTD_initStaticDCtx(u->workspace, u->workspace_size);
    }
    assert(b->raw <= BLOCK_MAX);
    size_t length = ZSTD_decompressDCtx(u->zstd, u->raw, b->raw, b->payload, b->stored);
    if (ZSTD_isError(length) || length != b->raw)
        return damaged(r, "the block does not unpack");
    b->payload = u->raw;
    return ORDEAL_OK;
}

static void unpacking_free(struct ordeal *o, struct unpacking *u)
{
    mem_free(o, u->workspace, u->workspace_size);
    mem_free(o, u->raw, BLOCK_MAX);
}

static enum ordeal_status block_records(struct ordeal_reader *r, struct ordeal_trace *t,
                                        const struct block *b)
{
    struct trace_mark mark = trace_mark(t);
    struct records x = { .t = t, .p = b->payload, .end = b->payload + b->raw };
    while (x.p < x.end) {
        get_record(&x);
        if (limit_hit(r->o, "reading", -1))
            accepted(&x, r->o->error.status);
    }
    if (!x.fault && x.ops != b->ops)
        wrong(&x, "the number of operations does not match");
    if (!x.fault)
        return ORDEAL_OK;
    trace_rewind(t, &mark);
    if (x.status == ORDEAL_OK)
        return damaged(r, x.fault);
    if (x.status != ORDEAL_BAD_USAGE)
        return x.status;
    char reason[sizeof r->o->error.reason];
    memcpy(reason, r->o->error.reason, sizeof reason);
    return damaged(r, reason);
}

static enum ordeal_status end_block(struct ordeal_reader *r, const struct ordeal_trace *t,
                                    const struct block *b)
{
    if (b->packing != PACKING_PLAIN || b->raw != 8 || b->ops != 0
        || little_get(b->payload, 8) != t->ops.count)
        return damaged(r, "the number of operations in the end block does not match");
    return ORDEAL_OK;
}

/* ORDEAL_END: the file ended with the trace before. */
static enum ordeal_status file_header(struct ordeal_reader *r)
{
    size_t have;
    enum ordeal_status status = reader_need(r, BINARY_HEADER, &have);
    if (status != ORDEAL_OK)
        return status;
    if (have == 0 && r->traces)
        return ORDEAL_END;
    const uint8_t *h = (const uint8_t *)r->buffer + r->begin;
    size_t magic = have < BINARY_MAGIC_SIZE ? have : BINARY_MAGIC_SIZE;
    if (have == 0 || memcmp(h, BINARY_MAGIC, magic) != 0)
        return fail_at(r->o, r->name, 0, 0, "expected %s: its first bytes are not there",
                       r->traces ? "the end of the file or a further trace after the end block"
                                 : "a binary trace (.otr)");
    if (have < BINARY_HEADER)
        return fail_at(r->o, r->name, 0, 0, "the file ends inside its header");
    if (crc32(0, h, 12) != little_get(h + 12, 4))
        return fail_at(r->o, r->name, 0, 0, "the checksum of the file's header does not match");
    uint64_t version = little_get(h + 8, 2), flags = little_get(h + 10, 2);
    if (version < BINARY_OLDEST || version > BINARY_VERSION || flags != 0)
        return fail_at(r->o, r->name, 0, 0,
                       "expected version %d to %d of the binary format, the "
                       "only ones read, found %" PRIu64,
                       BINARY_OLDEST, BINARY_VERSION, version);
    r->begin += BINARY_HEADER;
    return ORDEAL_OK;
}

enum ordeal_status read_binary(struct ordeal_reader *r, struct ordeal_trace *t)
{
    struct unpacking u = { 0 };
    struct block b = { 0 };
    r->line = 0; /* counts blocks */
    enum ordeal_status status = file_header(r);
    while (status == ORDEAL_OK && b.kind != BLOCK_END) {
        status = next_block(r, &b);
        if (status == ORDEAL_OK && b.kind == BLOCK_END)
            status = end_block(r, t, &b);
        else if (status == ORDEAL_OK)
            status = unpack(r, &u, &b);
        if (status == ORDEAL_OK && b.kind == BLOCK_RECORDS)
            status = block_records(r, t, &b);
    }
    unpacking_free(r->o, &u);
    return status;
}
