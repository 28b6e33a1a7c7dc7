/* SPDX-License-Identifier: Apache-2.0 */
/* The binary format: exact round trips, and damage of every kind at every place. */
#include <stdlib.h>
#include <zlib.h>
#include "binary.h"
#include "checking.h"
#include "traces.h"
#include "unity.h"

static struct ordeal *o;

void setUp(void) { o = ordeal_new(NULL); }

void tearDown(void)
{
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(o));
    ordeal_free(o);
}

static struct written binary_of(struct ordeal_trace *t, bool packed)
{
    struct written w = trace_to(t, packed ? OUT_PACKED : OUT_BINARY);
    TEST_ASSERT_EQUAL(ORDEAL_OK, w.status);
    return w;
}

/* Names and threads keep their numbers too. */
static void same_numbers(const struct ordeal_trace *a, const struct ordeal_trace *b)
{
    TEST_ASSERT_EQUAL_size_t(a->threads.count, b->threads.count);
    TEST_ASSERT_EQUAL_size_t(a->names.count, b->names.count);
    for (size_t i = 0; i < a->threads.count; i++)
        TEST_ASSERT_EQUAL_UINT32(a->threads.data[i], b->threads.data[i]);
    for (uint32_t i = 1; i <= a->names.count; i++)
        TEST_ASSERT_EQUAL_STRING(ordeal_trace_name_text(a, i), ordeal_trace_name_text(b, i));
}

static void survives(struct ordeal_trace *before, bool packed)
{
    struct ordeal_trace *after;
    struct written w = binary_of(before, packed);
    enum ordeal_status status = trace_from(o, w.bytes, w.length, ORDEAL_FORMAT_GUESS, &after);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
    const char *difference = same_trace(before, after);
    TEST_ASSERT_NULL_MESSAGE(difference, difference);
    same_numbers(before, after);
    for (size_t i = 0; i < after->ops.count; i++)
        TEST_ASSERT_EQUAL_UINT32(i + 1, after->ops.data[i].line);
    free(w.bytes);
    ordeal_trace_free(after);
}

static void random_traces_survive_the_round_trip(void)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct ordeal_trace *t = random_trace(o, seed, seed % 80, false);
        survives(t, seed & 1);
        ordeal_trace_free(t);
    }
}

static void many_blocks_survive_the_round_trip(void)
{
    struct ordeal_trace *t = random_trace(o, 12, 60000, false);
    survives(t, false);
    survives(t, true);
    ordeal_trace_free(t);
}

static void threads_and_names_without_use_survive(void)
{
    struct ordeal_trace *t = ordeal_trace_new(o);
    uint32_t n;
    survives(t, true);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, 77, &n));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_name(t, "unused", 6, &n));
    survives(t, false);
    ordeal_trace_free(t);
}

static void long_orders_survive(void)
{
    struct ordeal_trace *t = ordeal_trace_new(o);
    enum { COUNT = 100000 };
    uint64_t *values = malloc(COUNT * sizeof *values);
    for (uint64_t i = 0; i < COUNT; i++)
        values[i] = i * UINT64_C(0x9E3779B97F4A7C15);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_order(t, 0, 64, 3, values, COUNT));
    free(values);
    survives(t, false);
    ordeal_trace_free(t);
}

/* Who knows version 1 alone can read all that has no AMO. */
static void versions_are_as_low_as_can_be(void)
{
    static const struct {
        const char *line;
        uint8_t version;
    } all[] = {
        { "P0 S[A]#1\nP0 SWAP[A]#2\nP0 DELAY#4\n", 1 },
        { "P0 S[A]#1\nP0 AMOADD[A]=1#5\n", 2 },
        { "P0 AMOMAXU[A/8]#5+3\n", 2 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct ordeal_trace *t = trace_of_lines(o, all[i].line);
        struct written w = binary_of(t, false);
        TEST_ASSERT_EQUAL_UINT8(all[i].version, ((const uint8_t *)w.bytes)[8]);
        survives(t, true);
        free(w.bytes);
        ordeal_trace_free(t);
    }
}

/* The promise of the format: an ordinary operation takes at most 16 bytes. */
static void ordinary_operations_take_at_most_16_bytes(void)
{
    enum { OPS = 30000 };
    struct ordeal_trace *t = ordeal_trace_new(o);
    uint64_t state = 1;
    uint32_t thread;
    for (uint32_t i = 0; i < 127; i++)
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, i, &thread));
    for (int i = 0; i < OPS; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        struct ordeal_op op = { .kind = ORDEAL_SWAP, .size_log2 = 2, .flags = ORDEAL_HAS_VALUE,
            .thread = (uint32_t)(state >> 33) % 127, .read = state >> 32,
            .address = 0x80000000 + (i % 2 ? (state >> 40 & 0xfff) * 4 : (1 << 27) - 4),
            .write = state << 7 >> 32 };
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &op, 0));
    }
    struct written w = binary_of(t, false);
    size_t blocks = w.length / (BLOCK_MAX / 2) + 2;
    size_t overhead = BINARY_HEADER + 127 * 3 + blocks * (BLOCK_HEADER + 16);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(OPS * 16 + overhead, w.length);
    survives(t, true);
    free(w.bytes);
    ordeal_trace_free(t);
}

/* ---- damage -------------------------------------------------------------------------------- */

/* Everything in `part` is how `whole` begins, and all of it is from whole blocks. */
static void is_a_beginning(const struct ordeal_trace *part, const struct ordeal_trace *whole)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(whole->ops.count, part->ops.count);
    for (size_t i = 0; i < part->ops.count; i++) {
        const char *difference = same_op(part, whole, i);
        TEST_ASSERT_NULL_MESSAGE(difference, difference);
    }
}

static size_t block_at(const struct written *w, size_t number)
{
    size_t at = BINARY_HEADER;
    while (--number > 0)
        at += BLOCK_HEADER + little_get((const uint8_t *)w->bytes + at + BLOCK_STORED, 4);
    return at;
}

static void truncation_at_every_byte_is_noticed(void)
{
    for (int packed = 0; packed < 2; packed++) {
        struct ordeal_trace *whole = random_trace(o, 3, 40, false), *part;
        struct written w = binary_of(whole, packed);
        size_t end_block = block_at(&w, 2);
        for (size_t length = 0; length < w.length; length++) {
            enum ordeal_status status = trace_from(o, w.bytes, length, ORDEAL_FORMAT_BINARY, &part);
            const struct ordeal_error *e = ordeal_last_error(o);
            TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, status);
            TEST_ASSERT_NOT_NULL(part);
            TEST_ASSERT_EQUAL_size_t(length >= end_block ? 40 : 0, part->ops.count);
            uint64_t block = length < BINARY_HEADER ? 0 : length < end_block ? 1 : 2;
            TEST_ASSERT_EQUAL_UINT64(block, e->line);
            TEST_ASSERT_EQUAL_UINT64(0, e->column);
            if (length > BINARY_HEADER && length != end_block)
                TEST_ASSERT_NOT_NULL(strstr(e->reason, "the file ends inside the block"));
            ordeal_trace_free(part);
        }
        free(w.bytes);
        ordeal_trace_free(whole);
    }
}

static void a_flipped_bit_at_every_byte_is_noticed(void)
{
    for (int packed = 0; packed < 2; packed++) {
        struct ordeal_trace *whole = random_trace(o, 4, 40, false), *part;
        struct written w = binary_of(whole, packed);
        for (size_t i = 0; i < w.length; i++) {
            w.bytes[i] ^= (char)(1 << i % 8);
            TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT,
                              trace_from(o, w.bytes, w.length, ORDEAL_FORMAT_BINARY, &part));
            is_a_beginning(part, whole);
            ordeal_trace_free(part);
            w.bytes[i] ^= (char)(1 << i % 8);
        }
        free(w.bytes);
        ordeal_trace_free(whole);
    }
}

static void what_is_before_a_damaged_block_is_kept(void)
{
    struct ordeal_trace *whole = random_trace(o, 12, 60000, false), *part;
    struct written w = binary_of(whole, false);
    size_t third = block_at(&w, 3);
    uint64_t kept = little_get((uint8_t *)w.bytes + block_at(&w, 1) + BLOCK_OPS, 4)
                  + little_get((uint8_t *)w.bytes + block_at(&w, 2) + BLOCK_OPS, 4);
    w.bytes[third + BLOCK_HEADER + 1000] ^= 1;
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT,
                      trace_from(o, w.bytes, w.length, ORDEAL_FORMAT_GUESS, &part));
    TEST_ASSERT_EQUAL_STRING("block 3: the checksum does not match", ordeal_last_error(o)->reason);
    TEST_ASSERT_EQUAL_UINT64(3, ordeal_last_error(o)->line);
    TEST_ASSERT_EQUAL_size_t(kept, part->ops.count);
    is_a_beginning(part, whole);
    struct written text = trace_to(part, OUT_TEXT); /* it is a trace like any other */
    TEST_ASSERT_EQUAL(ORDEAL_OK, text.status);
    free(text.bytes);
    ordeal_trace_free(part);
    free(w.bytes);
    ordeal_trace_free(whole);
}

static void a_lost_block_is_noticed(void)
{
    struct ordeal_trace *whole = random_trace(o, 12, 60000, false), *part;
    struct written w = binary_of(whole, false);
    size_t second = block_at(&w, 2), third = block_at(&w, 3);
    memmove(w.bytes + second, w.bytes + third, w.length - third);
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, trace_from(o, w.bytes, w.length - (third - second),
                                                   ORDEAL_FORMAT_GUESS, &part));
    TEST_ASSERT_EQUAL_STRING("block 2: a block is missing before it", ordeal_last_error(o)->reason);
    ordeal_trace_free(part);
    free(w.bytes);
    ordeal_trace_free(whole);
}

/* ---- files with good checksums and bad contents ------------------------------------------- */

struct file { uint8_t bytes[4096]; size_t length; uint32_t blocks; };

static void start(struct file *f, uint16_t version)
{
    *f = (struct file){ .length = BINARY_HEADER };
    memcpy(f->bytes, BINARY_MAGIC, BINARY_MAGIC_SIZE);
    little_put(f->bytes + 8, version, 2);
    little_put(f->bytes + 12, crc32(0, f->bytes, 12), 4);
}

static void block(struct file *f, uint8_t kind, uint8_t packing, uint32_t raw, uint32_t ops,
                  const void *payload, size_t stored)
{
    uint8_t *h = f->bytes + f->length;
    memset(h, 0, BLOCK_HEADER);
    little_put(h + BLOCK_STORED, stored, 4);
    little_put(h + BLOCK_RAW, raw, 4);
    little_put(h + BLOCK_OPS, ops, 4);
    h[BLOCK_KIND] = kind;
    h[BLOCK_PACKING] = packing;
    little_put(h + BLOCK_NUMBER, ++f->blocks, 4);
    memcpy(h + BLOCK_HEADER, payload, stored);
    little_put(h + BLOCK_CRC, crc32(crc32(0, h, BLOCK_CRC), h + BLOCK_HEADER, (uInt)stored), 4);
    f->length += BLOCK_HEADER + stored;
}

static void refuses(const struct file *f, uint64_t where, size_t ops, const char *reason)
{
    struct ordeal_trace *t;
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_BAD_INPUT,
                              trace_from(o, f->bytes, f->length, ORDEAL_FORMAT_BINARY, &t), reason);
    const struct ordeal_error *e = ordeal_last_error(o);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e->reason, reason), e->reason);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(where, e->line, e->reason);
    TEST_ASSERT_NOT_NULL(t);
    TEST_ASSERT_EQUAL_size_t_MESSAGE(ops, t->ops.count, e->reason);
    ordeal_trace_free(t);
}

static void bad_records_are_refused_and_taken_back(void)
{
    /* clang-format off */
#define GOOD "\x0b\x05\x84\x0f" /* thread P5; MEMBAR of thread 0 */
    static const struct { const char *records; size_t length; const char *reason; } all[] = {
#define BAD(text, reason) { text, sizeof text - 1, reason }
        BAD("\x84\x0f\x0f", "cut off"),
        BAD("\x84\x0f\x8f\x15", "an operation is of no known kind"),
        BAD("\x84\x0f\x8f\x8b\x01", "an operation is of no known kind"),
        BAD("\x84\x0f\x8f\x80\x00", "marks are neither of acquire nor of release"),
        BAD("\x84\x0f\x8f\x80\x04", "marks are neither of acquire nor of release"),
        BAD("\x84\x0f\x9f\x14\x00\x00\x01\x02", "the result of an SC is 0"),
        BAD("\x84\x0f\x80\x00\x00\x1d\x01\x01", "the use of a register is not known"),
        BAD("\x84\x0f\x80\x00\x00\x1d\x01\x05", "the use of a register is not known"),
        BAD("\x84\x0f\x80\x00\x00\x1d\x01\x03", "have data"),
        BAD("\x84\x0f\x8f\x21\x00\x00\x00", "an operation is of no known kind"),
        BAD("\x84\x0f\x8f\x0b", "cut off"),
        BAD("\x84\x0f\x8f\x0b\xff\xff\xff\xff\x0f", "a count goes up to"),
        BAD("\x84\x0f\x8f\x0d\x00", "at least once"),
        BAD("\x84\x0f\x8f\x40\x00\x00\x01", "write another value each time round"),
        BAD("\x84\x0f\xaf\x41\x00\x00\x00\x00\x80\x02", "a step does not fit"),
        BAD("\x84\x0f\x9f\x23\x00\x00\x00\x00", "it has no value read"),
        BAD("\x84\x0f\x8f\x23\x00\x00\x00\xff\xff\xff\xff\x1f", "a number is too large"),
        BAD("\x84\x0f\x0e\x07\x01\x00", "speak of names"),
        BAD("\x84\x0f\x0c\x01" "A\x0e\x07\x01\x20", "multiple of 64"),
        BAD("\x84\x0f\x0c\x01" "A\x0e\x07\x01\x40\x0e\x07\x01\x40", "its place already"),
        BAD("\x84\x0f\x0c\x01" "A\x0e\x08\x01\x04", "uncached or faulting"),
        BAD("\x84\x0f\x0e\x06", "cut off"),
        BAD("\x84\x0f\x1b\x05", "no known kind"),
        BAD("\x84\x0f\x0e\x09", "no known kind"),
        BAD("\x84\x0f\x84", "cut off"),
        BAD("\x84\x0f\x84\x00", "one or more of LL"),
        BAD("\x84\x0f\x04\x01\x0f", "thread is not known"),
        BAD("\x84\x0f\x0b\x05", "a thread is told twice"),
        BAD("\x84\x0f\x0b\xff\xff\xff\xff\x0f", "thread numbers go up to"),
        BAD("\x84\x0f\x0b\xff\xff\xff\xff\x1f", "a number is too large"),
        BAD("\x84\x0f\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "a number is too long"),
        BAD("\x84\x0f\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "a number is too long"),
        BAD("\x84\x0f\x0c\x01" "A\x0c\x01" "A", "a name is told twice"),
        BAD("\x84\x0f\x0c\x01 ", "a name is"),
        BAD("\x84\x0f\x0c\x00", "a name is"),
        BAD("\x84\x0f\x0c\xff" "A", "cut off"),
        BAD("\x84\x0f\x80\x01\x00", "no such name"),
        BAD("\x84\x0f\xa0\x07\x00\x00", "64 bytes"),
        BAD("\x84\x0f\x80\x00\x02", "not aligned"),
        BAD("\x84\x0f\x90\x00\x00\x05\x01\x02\x03\x04\x05", "longer than its access"),
        BAD("\x84\x0f\xb0\x06\x00\x00\x01", "cut off"),
        BAD("\x84\x0f\xc0\x00\x00\x04", "cycles are neither"),
        BAD("\x84\x0f\xc0\x00\x00\x00", "cycles are neither"),
        BAD("\x84\x0f\xc0\x00\x00\x03\x02\x01", "before it is issued"),
        BAD("\x84\x0f\x0d\x02", "read registers"),
        BAD("\x84\x0f\x8f\x32", "an operation is of no known kind"),
        BAD("\x84\x0f\x8f\x12", "cut off"),
        BAD("\x84\x0f\x8f\x12\x08\x00\x00\x00", "ADD, AND, OR, XOR, MIN, MAX, MINU, MAXU"),
        BAD("\x84\x0f\xaf\x12\x07\x04\x00\x00" "0123456789abcdef", "of 1, 2, 4 or 8 bytes"),
        BAD("\x84\x0f\x0d\x80\x80\x80\x80\x80\x01", "too large"),
        BAD("\x84\x0f\x0e\x00\x03XYZ", "a model is not known"),
        BAD("\x84\x0f\x0e\x00\x20XYZXYZXYZXYZXYZXYZXYZXYZXYZXYZXY", "a model is not known"),
        BAD("\x84\x0f\x0e\x01\x03", "atomic takes"),
        BAD("\x84\x0f\x0e\x02\x02\x00\x01\x00", "not aligned"),
        BAD("\x84\x0f\x0e\x05\x04\x00\x00\x00", "1, 2, 4 or 8 bytes"),
        BAD("\x84\x0f\x0e\x03\x00\x09\x00", "no such name"),
        BAD("\x84\x0f\x0e\x04\x01\x01", "values come before their order"),
        BAD("\x84\x0f\x0e\x03\x00\x00\x00\x0e\x04\x01\x80\x02", "does not fit"),
        BAD("\x84\x0f\x0e\x03\x00\x00\x00\x0e\x04\xff\xff\xff\xff\xff\x01\x01", "cut off"),
        BAD("\x84\x0f\x84\x0f", "the number of operations does not match"),
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct file f;
        start(&f, BINARY_VERSION);
        block(&f, BLOCK_RECORDS, PACKING_PLAIN, 4, 1, GOOD, 4);
        block(&f, BLOCK_RECORDS, PACKING_PLAIN, (uint32_t)all[i].length, 1, all[i].records,
              all[i].length);
        refuses(&f, 2, 1, all[i].reason);
    }
}

static void bad_blocks_are_refused(void)
{
    struct file f;
    uint8_t one[8] = { 1 };
    for (uint16_t version = 0; version <= BINARY_VERSION + 1; version += BINARY_VERSION + 1) {
        start(&f, version);
        refuses(&f, 0, 0,
                "expected version 1 to 3 of the binary format, the only ones read, found");
    }
    start(&f, BINARY_VERSION);
    f.bytes[0] = 'x';
    refuses(&f, 0, 0, "expected a binary trace (.otr)");
    start(&f, BINARY_VERSION);
    refuses(&f, 1, 0, "block 1: expected a block or the end block, found the end of the file");
    block(&f, 3, PACKING_PLAIN, 8, 0, one, 8);
    refuses(&f, 1, 0, "no known kind");
    start(&f, BINARY_VERSION);
    block(&f, BLOCK_RECORDS, 2, 8, 0, one, 8);
    refuses(&f, 1, 0, "no known kind");
    start(&f, BINARY_VERSION);
    block(&f, BLOCK_RECORDS, PACKING_PLAIN, 9, 0, one, 8);
    refuses(&f, 1, 0, "no known kind");
    start(&f, BINARY_VERSION);
    block(&f, BLOCK_RECORDS, PACKING_ZSTD, 8, 0, one, 8);
    refuses(&f, 1, 0, "does not unpack");
    start(&f, BINARY_VERSION);
    block(&f, BLOCK_END, PACKING_PLAIN, 8, 0, one, 8);
    refuses(&f, 1, 0, "number of operations in the end block");
}

static void hostile_lengths_take_no_memory(void)
{
    struct file f;
    start(&f, BINARY_VERSION);
    block(&f, BLOCK_RECORDS, PACKING_ZSTD, UINT32_MAX, UINT32_MAX, "", 0);
    refuses(&f, 1, 0, "the length in the block's header is damaged");
    little_put(f.bytes + BINARY_HEADER + BLOCK_STORED, UINT32_MAX, 4);
    refuses(&f, 1, 0, "the length in the block's header is damaged");
    start(&f, BINARY_VERSION);
    block(&f, BLOCK_RECORDS, PACKING_PLAIN, 0, UINT32_MAX, "", 0);
    refuses(&f, 1, 0, "the number of operations does not match");
    TEST_ASSERT_LESS_THAN_size_t(2 << 20, ordeal_memory_peak(o));
}

static void the_end_block_ends_the_trace(void)
{
    struct file f;
    struct ordeal_trace *t;
    uint8_t one[8] = { 1 };
    start(&f, BINARY_VERSION);
    block(&f, BLOCK_RECORDS, PACKING_PLAIN, 4, 1, GOOD, 4);
    block(&f, BLOCK_END, PACKING_PLAIN, 8, 0, one, 8);
    TEST_ASSERT_EQUAL(ORDEAL_OK, trace_from(o, f.bytes, f.length, ORDEAL_FORMAT_GUESS, &t));
    TEST_ASSERT_EQUAL_size_t(1, t->ops.count);
    TEST_ASSERT_EQUAL_UINT32(5, t->threads.data[0]);
    ordeal_trace_free(t);
}

/* Two random traces in one stream, spoilt or cut off in the second: the first is whole. */
static void damage_of_a_later_trace_is_told(void)
{
    struct ordeal_trace *whole[2] = { random_trace(o, 3, 40, false),
                                      random_trace(o, 4, 50, false) };
    struct written w[2] = { binary_of(whole[0], false), binary_of(whole[1], true) };
    size_t length = w[0].length + w[1].length;
    static const struct { int cut; size_t flip; enum ordeal_status status; const char *reason; }
    all[] = {
        { 0, 0, ORDEAL_OK, "" },
        { 1, 0, ORDEAL_BAD_INPUT, "trace 2, block 2: the file ends inside the block" },
        { 0, BINARY_HEADER + BLOCK_HEADER + 5, ORDEAL_BAD_INPUT,
          "trace 2, block 1: the checksum does not match" },
        { 0, 1, ORDEAL_BAD_INPUT, "expected the end of the file or a further trace after the end "
                                  "block: its first bytes are not there" },
        { 0, 8, ORDEAL_BAD_INPUT, "the checksum of the file's header does not match" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *both = malloc(length);
        memcpy(both, w[0].bytes, w[0].length);
        memcpy(both + w[0].length, w[1].bytes, w[1].length);
        both[w[0].length + all[i].flip] ^= all[i].flip ? 1 : 0;
        FILE *f = fmemopen(both, length - (size_t)all[i].cut, "rb");
        struct ordeal_reader *r = ordeal_reader_new(o, f, "x", ORDEAL_FORMAT_GUESS);
        struct ordeal_trace *t;
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_reader_next(r, &t));
        TEST_ASSERT_NULL(same_trace(whole[0], t));
        ordeal_trace_free(t);
        TEST_ASSERT_EQUAL(all[i].status, ordeal_reader_next(r, &t));
        TEST_ASSERT_NOT_NULL(t);
        if (all[i].status == ORDEAL_OK)
            TEST_ASSERT_NULL(same_trace(whole[1], t));
        else
            TEST_ASSERT_EQUAL_STRING(all[i].reason, ordeal_last_error(o)->reason);
        ordeal_trace_free(t);
        TEST_ASSERT_EQUAL(ORDEAL_END, ordeal_reader_next(r, &t));
        ordeal_reader_free(r);
        fclose(f);
        free(both);
    }
    for (int i = 0; i < 2; i++) {
        free(w[i].bytes);
        ordeal_trace_free(whole[i]);
    }
}

/* As FORMAT.md says, byte by byte. */
static void extended_operations_are_written_as_documented(void)
{
    static const char text[] = "ordeal 1\nseed 7\nplace A=0x80\nfault A\nP0 NFL[A]\n"
                               "P0 CAS[A]?r300#5+2\nP0 DELAY#200\nP0 TX.BEGIN#3\nP0 TX.BEGIN\n"
                               "P0 LOOP.END\n";
    static const uint8_t records[] = {
        0x0e, 6, 7, 0x0c, 1, 'A', 0x0e, 7, 1, 0x80, 0x01, 0x0e, 8, 1, 2, 0x0b, 0,
        0x8f, 0x20, 1, 0, 0x8f, 0x63, 1, 0, 0x10, 5, 0xac, 0x02, 2, 0x8f, 0x0b, 0xc8, 0x01,
        0x8f, 0x25, 3, 0x85, 0x8f, 0x0e,
    };
    struct ordeal_trace *t;
    TEST_ASSERT_EQUAL(ORDEAL_OK, trace_from(o, text, strlen(text), ORDEAL_FORMAT_TEXT, &t));
    struct written w = binary_of(t, false);
    TEST_ASSERT_EQUAL_size_t(sizeof records, little_get((uint8_t *)w.bytes + BINARY_HEADER, 4));
    TEST_ASSERT_EQUAL_MEMORY(records, w.bytes + BINARY_HEADER + BLOCK_HEADER, sizeof records);
    survives(t, false);
    free(w.bytes);
    ordeal_trace_free(t);
}

static void amos_are_written_as_documented(void)
{
    struct ordeal_trace *t = trace_of_lines(o, "P0 AMOADD[A]=1#5\nP0 AMOMAXU[A/8]#7+3\n");
    static const uint8_t records[] = { 0x0b, 0, 0x0c, 1,    'A', 0x9f, 0x12, 0, 1,    0, 0x11,
                                       1,    4, 0xaf, 0x52, 7,   3,    1,    0, 0x10, 7, 3 };
    struct written w = binary_of(t, false);
    TEST_ASSERT_EQUAL_size_t(sizeof records, little_get((uint8_t *)w.bytes + BINARY_HEADER, 4));
    TEST_ASSERT_EQUAL_HEX8_ARRAY(records, w.bytes + BINARY_HEADER + BLOCK_HEADER, sizeof records);
    free(w.bytes);
    ordeal_trace_free(t);
}

static void allocation_failure_is_survived(void)
{
    for (int packed = 0; packed < 2; packed++) {
        struct ordeal_trace *t = random_trace(o, 5, 200, false);
        struct written w = binary_of(t, packed);
        ordeal_trace_free(t);
        const char *wrong = starve_reader(w.bytes, w.length, ORDEAL_FORMAT_GUESS);
        free(w.bytes);
        TEST_ASSERT_NULL_MESSAGE(wrong, wrong);
    }
}

static void the_writer_survives_allocation_failure(void)
{
    for (size_t k = 1; k <= 4; k++) {
        struct failing f = { 0 };
        struct ordeal_memory memory = failing_memory(&f);
        struct ordeal *starved = ordeal_new(&memory);
        struct ordeal_trace *t = random_trace(starved, 1, 10, false);
        size_t blocks = f.blocks;
        f.calls = 0;
        f.fail_at = k;
        struct written w = trace_to(t, OUT_PACKED);
        TEST_ASSERT_EQUAL(k < 4 ? ORDEAL_NO_MEMORY : ORDEAL_OK, w.status);
        TEST_ASSERT_EQUAL_size_t(blocks, f.blocks);
        free(w.bytes);
        ordeal_trace_free(t);
        ordeal_free(starved);
        TEST_ASSERT_EQUAL_size_t(0, f.blocks);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(random_traces_survive_the_round_trip);
    RUN_TEST(many_blocks_survive_the_round_trip);
    RUN_TEST(threads_and_names_without_use_survive);
    RUN_TEST(long_orders_survive);
    RUN_TEST(versions_are_as_low_as_can_be);
    RUN_TEST(ordinary_operations_take_at_most_16_bytes);
    RUN_TEST(truncation_at_every_byte_is_noticed);
    RUN_TEST(a_flipped_bit_at_every_byte_is_noticed);
    RUN_TEST(what_is_before_a_damaged_block_is_kept);
    RUN_TEST(a_lost_block_is_noticed);
    RUN_TEST(bad_records_are_refused_and_taken_back);
    RUN_TEST(bad_blocks_are_refused);
    RUN_TEST(hostile_lengths_take_no_memory);
    RUN_TEST(the_end_block_ends_the_trace);
    RUN_TEST(damage_of_a_later_trace_is_told);
    RUN_TEST(extended_operations_are_written_as_documented);
    RUN_TEST(amos_are_written_as_documented);
    RUN_TEST(allocation_failure_is_survived);
    RUN_TEST(the_writer_survives_allocation_failure);
    return UNITY_END();
}
