/* SPDX-License-Identifier: Apache-2.0 */
/* The binary format (FORMAT.md): records gathered into blocks, checksummed and perhaps packed. */
#define ZSTD_STATIC_LINKING_ONLY /* contexts in memory of our own */
#include "binary.h"
#include "write.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { RECORD_ROOM = 1 << 14, ORDER_VALUES = 1024, LEVEL = 3 };
_Static_assert(ORDER_VALUES * 10 + 16 < RECORD_ROOM, "the longest record fits the room kept free");

struct writer {
    const struct ordeal_trace *t;
    FILE *stream;
    uint8_t *raw;              /* BLOCK_MAX bytes: the block being filled */
    size_t length;
    uint32_t ops, block;       /* in this block; blocks written */
    struct binary_state state;
    uint32_t threads, names;   /* told so far */
    size_t time, reg, step;    /* next in the trace's side tables */
    ZSTD_CCtx *zstd;           /* NULL: plain blocks; lives in workspace */
    void *workspace;
    size_t workspace_size;
    uint8_t *packed;
    size_t packed_size;
};

/* ---- blocks -------------------------------------------------------------------------------- */

static void put_block(struct writer *w, uint8_t kind, uint8_t packing, const uint8_t *payload,
                      size_t stored)
{
    uint8_t h[BLOCK_HEADER] = { 0 };
    assert(w->length <= BLOCK_MAX && stored <= w->length);
    little_put(h + BLOCK_STORED, stored, 4);
    little_put(h + BLOCK_RAW, w->length, 4);
    little_put(h + BLOCK_OPS, w->ops, 4);
    h[BLOCK_KIND] = kind;
    h[BLOCK_PACKING] = packing;
    little_put(h + BLOCK_NUMBER, ++w->block, 4);
    uLong crc = crc32(crc32(0, h, BLOCK_CRC), payload, (uInt)stored);
    little_put(h + BLOCK_CRC, crc, 4);
    fwrite(h, 1, sizeof h, w->stream);
    fwrite(payload, 1, stored, w->stream);
    w->length = 0;
    w->ops = 0;
    w->state = (struct binary_state){ 0 };
}

static void flush_records(struct writer *w)
{
    if (w->length == 0)
        return;
    if (w->zstd) {
        size_t packed = ZSTD_compressCCtx(w->zstd, w->packed, w->packed_size, w->raw, w->length,
                                          LEVEL);
        if (!ZSTD_isError(packed) && packed < w->length) {
            put_block(w, BLOCK_RECORDS, PACKING_ZSTD, w->packed, packed);
            return;
        }
    }
    put_block(w, BLOCK_RECORDS, PACKING_PLAIN, w->raw, w->length);
}

static void put_end(struct writer *w)
{
    little_put(w->raw, w->t->ops.count, 8);
    w->length = 8;
    put_block(w, BLOCK_END, PACKING_PLAIN, w->raw, w->length);
}

/* ---- fields -------------------------------------------------------------------------------- */

static void put_byte(struct writer *w, uint8_t v)
{
    assert(w->length < BLOCK_MAX);
    w->raw[w->length++] = v;
}

static void put_bytes(struct writer *w, const void *bytes, size_t count)
{
    assert(count <= BLOCK_MAX - w->length);
    memcpy(w->raw + w->length, bytes, count);
    w->length += count;
}

static void put_varint(struct writer *w, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        put_byte(w, (uint8_t)(v | 0x80));
    put_byte(w, (uint8_t)v);
}

/* How many bytes hold the value as a signed number; 0 has none. */
static int signed_length(uint64_t v, uint8_t size_log2)
{
    int bytes = 1 << size_log2;
    int64_t whole = sign_extend(v, bytes);
    while (bytes > 0 && sign_extend(v, bytes - 1) == whole)
        bytes--;
    return bytes;
}

static void put_little(struct writer *w, uint64_t v, int bytes)
{
    assert(bytes >= 0 && bytes <= 8 && w->length + (size_t)bytes <= BLOCK_MAX);
    little_put(w->raw + w->length, v, bytes);
    w->length += (size_t)bytes;
}

/* ---- records ------------------------------------------------------------------------------- */

static void room(struct writer *w)
{
    if (w->length > BLOCK_MAX - RECORD_ROOM)
        flush_records(w);
}

/* Names and threads are told in the block that first needs them, in the order of their numbers. */
static void tell_names(struct writer *w, uint32_t base)
{
    while (w->names < base) {
        const char *name = ordeal_trace_name_text(w->t, ++w->names);
        assert(strlen(name) <= TRACE_NAME_MAX); /* a byte tells the length */
        room(w);
        put_byte(w, RECORD_NAME);
        put_byte(w, (uint8_t)strlen(name));
        put_bytes(w, name, strlen(name));
    }
    room(w);
}

static void tell_threads(struct writer *w, uint32_t count)
{
    while (w->threads < count) {
        room(w);
        put_byte(w, RECORD_THREAD);
        put_varint(w, w->t->threads.data[w->threads++]);
    }
    room(w);
}

static void put_fact(struct writer *w, uint8_t fact, const struct trace_word *word)
{
    tell_names(w, word ? word->base : 0);
    put_byte(w, RECORD_FACT);
    put_byte(w, fact);
    if (word) {
        put_byte(w, word->size_log2);
        put_varint(w, word->base);
        put_varint(w, word->address);
    }
}

static void put_order(struct writer *w, const struct trace_order *order)
{
    put_fact(w, FACT_ORDER, &order->word);
    for (size_t i = 0; i < order->count; ) {
        size_t left = order->count - i, count = left < ORDER_VALUES ? left : ORDER_VALUES;
        put_fact(w, FACT_MORE, NULL);
        put_varint(w, count);
        for (; count > 0; count--, i++)
            put_varint(w, w->t->order_values.data[order->first + i]);
    }
}

static void put_told(struct writer *w, const struct trace_told *told)
{
    tell_names(w, told->base);
    put_fact(w, told->marks ? FACT_MEMORY : FACT_PLACE, NULL);
    put_varint(w, told->base);
    if (told->marks)
        put_byte(w, told->marks);
    else
        put_varint(w, w->t->lines.data[told->base - 1].address);
}

static void put_facts(struct writer *w)
{
    const struct ordeal_trace *t = w->t;
    if (t->claimed) {
        const char *name = ordeal_model_name(t->claim);
        put_fact(w, FACT_MODEL, NULL);
        put_byte(w, (uint8_t)strlen(name));
        put_bytes(w, name, strlen(name));
    }
    if (t->atomic != TRACE_DEFAULT_ATOMIC) {
        put_fact(w, FACT_ATOMIC, NULL);
        put_varint(w, t->atomic);
    }
    if (t->seed) {
        put_fact(w, FACT_SEED, NULL);
        put_varint(w, t->seed);
    }
    for (size_t i = 0; i < t->told.count; i++)
        put_told(w, &t->told.data[i]);
    for (size_t i = 0; i < t->inits.count; i++) {
        put_fact(w, FACT_INIT, &t->inits.data[i].word);
        put_varint(w, t->inits.data[i].value);
    }
    for (size_t i = 0; i < t->orders.count; i++)
        put_order(w, &t->orders.data[i]);
    for (size_t i = 0; i < t->finals.count; i++) {
        put_fact(w, FACT_FINAL, &t->finals.data[i].word);
        put_varint(w, t->finals.data[i].value);
    }
}

static void put_location(struct writer *w, const struct ordeal_op *op)
{
    if (op->size_log2 != 2)
        put_byte(w, op->size_log2);
    put_varint(w, op->base);
    if (op->base) {
        put_varint(w, op->address);
        return;
    }
    put_varint(w, zigzag(op->address - w->state.address));
    w->state.address = op->address;
}

/* What is written and compared is told as the difference from what was read. */
static void put_small_values(struct writer *w, size_t i, const struct ordeal_op *op)
{
    uint8_t traits = trace_op_traits[op->kind], size = op->size_log2;
    uint64_t write = traits & OP_WRITES ? op->write - op->read : 0;
    int read_length = signed_length(op->read, size), write_length = signed_length(write, size);
    put_byte(w, (uint8_t)(read_length | write_length << 4));
    put_little(w, op->read, read_length);
    put_little(w, write, write_length);
    if (op->flags & ORDEAL_COMPARE_REGISTER)
        put_varint(w, ordeal_trace_compare_of(w->t, i));
    else if (traits & OP_COMPARES) {
        uint64_t compare = ordeal_trace_compare_of(w->t, i) - op->read;
        int length = signed_length(compare, size);
        put_byte(w, (uint8_t)length);
        put_little(w, compare, length);
    }
}

static void put_wide_values(struct writer *w, size_t i, const struct ordeal_op *op)
{
    uint8_t traits = trace_op_traits[op->kind];
    const uint8_t *bytes = w->t->bytes.data;
    size_t size = (size_t)1 << op->size_log2;
    if (op->flags & ORDEAL_HAS_VALUE)
        put_bytes(w, bytes + op->read, size);
    if (traits & OP_WRITES)
        put_bytes(w, bytes + op->write, size);
    if (traits & OP_COMPARES)
        put_bytes(w, bytes + ordeal_trace_compare_of(w->t, i), size);
}

static void put_cycles(struct writer *w, size_t i, uint8_t flags)
{
    assert(w->time < w->t->times.count && w->t->times.data[w->time].op == i);
    const struct trace_time *time = &w->t->times.data[w->time++];
    bool begin = flags & ORDEAL_HAS_BEGIN, end = flags & ORDEAL_HAS_END;
    put_byte(w, (uint8_t)(begin | end << 1));
    if (begin) {
        put_varint(w, zigzag(time->begin - w->state.begin));
        w->state.begin = time->begin;
    }
    if (end)
        put_varint(w, zigzag(time->end - w->state.begin));
}

static uint64_t next_step(struct writer *w, size_t i)
{
    const struct ordeal_trace *t = w->t;
    bool here = w->step < t->steps.count && t->steps.data[w->step].op == i;
    return here ? t->steps.data[w->step++].step : 0;
}

static void put_op(struct writer *w, size_t i)
{
    const struct ordeal_op *op = &w->t->ops.data[i];
    uint8_t traits = trace_op_traits[op->kind];
    uint64_t step = next_step(w, i);
    uint8_t extension = (op->flags & binary_flag[op->kind] ? EXTENDED_FLAG : 0)
                      | (step ? EXTENDED_STEP : 0) | (trace_marks(op) ? EXTENDED_MARKS : 0);
    bool extended = extension || op->kind >= RECORD_THREAD;
    uint8_t tag = extended ? RECORD_EXTENDED : op->kind;
    bool cycles = op->flags & (ORDEAL_HAS_BEGIN | ORDEAL_HAS_END);
    tell_threads(w, op->thread + 1);
    tell_names(w, op->base);
    assert(w->length <= BLOCK_MAX - RECORD_ROOM); /* the record fits the block */
    bool same_thread = op->thread == w->state.thread;
    tag |= op->flags & ORDEAL_HAS_VALUE ? RECORD_VALUE : 0;
    tag |= traits & OP_LOCATION && op->size_log2 != 2 ? RECORD_SIZE : 0;
    tag |= cycles ? RECORD_CYCLES : 0;
    tag |= same_thread ? RECORD_SAME_THREAD : 0;
    put_byte(w, tag);
    if (extended)
        put_byte(w, op->kind | extension);
    if (!same_thread)
        put_varint(w, w->state.thread = op->thread);
    if (op->kind == ORDEAL_MEMBAR)
        put_byte(w, op->barrier);
    if (op->kind == ORDEAL_AMO)
        put_byte(w, op->function);
    if (extension & EXTENDED_MARKS)
        put_byte(w, (uint8_t)trace_marks(op));
    if (traits & OP_LOCATION)
        put_location(w, op);
    if (traits & OP_WRITES || op->flags & ORDEAL_HAS_VALUE) {
        if (op->size_log2 <= 3)
            put_small_values(w, i, op);
        else
            put_wide_values(w, i, op);
    }
    if (trace_has_count(op))
        put_varint(w, op->write);
    if (step)
        put_varint(w, step);
    if (cycles)
        put_cycles(w, i, op->flags);
    w->ops++;
}

static void put_registers(struct writer *w, size_t i)
{
    const struct ordeal_trace *t = w->t;
    for (; w->reg < t->registers.count && t->registers.data[w->reg].op == i; w->reg++) {
        const struct trace_register *r = &t->registers.data[w->reg];
        room(w);
        bool of_riscv = r->use > ORDEAL_REGISTER_WRITTEN;
        put_byte(w, of_riscv ? RECORD_REGISTER | RECORD_USE : RECORD_REGISTER);
        put_varint(w, of_riscv ? r->reg : (uint64_t)r->reg << 1 | r->use);
        if (of_riscv)
            put_byte(w, r->use);
    }
}

/* ---- the file ------------------------------------------------------------------------------ */

static bool prepare(struct writer *w, bool compress)
{
    struct ordeal *o = w->t->o;
    w->raw = mem_array(o, BLOCK_MAX, 1);
    if (!w->raw || !compress)
        return w->raw;
    w->workspace_size = ZSTD_estimateCCtxSize(LEVEL);
    w->packed_size = ZSTD_compressBound(BLOCK_MAX);
    w->workspace = mem_array(o, w->workspace_size, 1);
    w->packed = mem_array(o, w->packed_size, 1);
    if (!w->workspace || !w->packed)
        return false;
    w->zstd = ZSTD_initStaticCCtx(w->workspace, w->workspace_size);
    return true;
}

static void release(struct writer *w)
{
    struct ordeal *o = w->t->o;
    mem_free(o, w->raw, BLOCK_MAX);
    mem_free(o, w->workspace, w->workspace_size);
    mem_free(o, w->packed, w->packed_size);
}

static int version_of(const struct ordeal_trace *t)
{
    int version = t->claimed && t->claim > ORDEAL_RMO ? BINARY_RISCV : BINARY_OLDEST;
    for (size_t i = 0; i < t->registers.count; i++)
        if (t->registers.data[i].use > ORDEAL_REGISTER_WRITTEN)
            version = BINARY_RISCV;
    for (size_t i = 0; i < t->ops.count && version < BINARY_RISCV; i++) {
        const struct ordeal_op *op = &t->ops.data[i];
        if (op->kind > ORDEAL_AMO || trace_marks(op))
            version = BINARY_RISCV;
        else if (op->kind == ORDEAL_AMO)
            version = BINARY_AMO;
    }
    return version;
}

static void put_header(FILE *stream, int version)
{
    uint8_t h[BINARY_HEADER] = { 0 };
    memcpy(h, BINARY_MAGIC, BINARY_MAGIC_SIZE);
    little_put(h + 8, (uint64_t)version, 2);
    little_put(h + 12, crc32(0, h, 12), 4);
    fwrite(h, 1, sizeof h, stream);
}

enum ordeal_status ordeal_write_binary(const struct ordeal_trace *t, FILE *stream, bool compress)
{
    struct writer w = { .t = t, .stream = stream };
    if (!prepare(&w, compress)) {
        release(&w);
        return t->o->error.status;
    }
    put_header(stream, version_of(t));
    put_facts(&w);
    for (size_t i = 0; i < t->ops.count; i++) {
        put_op(&w, i);
        put_registers(&w, i);
    }
    tell_threads(&w, (uint32_t)t->threads.count);
    tell_names(&w, (uint32_t)t->names.count);
    assert(w.time == t->times.count && w.reg == t->registers.count && w.step == t->steps.count);
    flush_records(&w);
    put_end(&w);
    release(&w);
    return written(t->o, stream);
}
