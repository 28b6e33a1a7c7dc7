/* SPDX-License-Identifier: Apache-2.0 */
/* The text reader: every construct, every kind of error with its place, what it must survive. */
#include <stdlib.h>
#include <sys/types.h>
#include "read.h"
#include "traces.h"
#include "unity.h"

static struct ordeal *o;
static struct ordeal_trace *t;

void setUp(void)
{
    o = ordeal_new(NULL);
    t = NULL;
}

void tearDown(void)
{
    ordeal_trace_free(t);
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(o));
    ordeal_free(o);
}

static void reads(const char *text)
{
    ordeal_trace_free(t);
    enum ordeal_status status = trace_from(o, text, strlen(text), ORDEAL_FORMAT_TEXT, &t);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
}

/* The line, in a trace of its own, becomes this operation in canonical notation. */
static void becomes(const char *line, const char *canonical)
{
    char text[2048];
    snprintf(text, sizeof text, "ordeal 1\n%s\n", line);
    reads(text);
    TEST_ASSERT_EQUAL_size_t(1, t->ops.count);
    TEST_ASSERT_EQUAL_UINT32(2, t->ops.data[0].line);
    struct written w = trace_to(t, OUT_TEXT);
    TEST_ASSERT_EQUAL(ORDEAL_OK, w.status);
    snprintf(text, sizeof text, "ordeal 1\n%s\n", canonical);
    TEST_ASSERT_EQUAL_STRING(text, w.bytes);
    free(w.bytes);
}

static void every_operation_is_read(void)
{
    /* clang-format off */
    static const char *const same[] = {
        "P0 L[A]=1", "P0 L[A]", "P0 S[A]#1", "P1 SWAP[A]=1#2", "P1 SWAP[A]#2", "P1 CAS[A]=1?1#2",
        "P1 AMOADD[A]=1#5", "P1 AMOAND[A]#5", "P1 AMOOR[A/1]=1#255 >r1 <r2 @1:2",
        "P1 AMOXOR[A]=1#5", "P1 AMOMIN[A/8]=1#0xffffffffffffffff", "P1 AMOMAX[A/2]#1+3",
        "P1 AMOMINU[A]=1#5", "P1 AMOMAXU[A+4]=1#5",
        "P1 CAS[A]?1#2", "P0 MEMBAR", "P0 MEMBAR.SL", "P0 MEMBAR.LL.LS.SS", "P0 TX.BEGIN",
        "P0 TX.END", "P0 TX.ABORT", "P0 PREFETCH[A]", "P0 FLUSH[0x40/64]", "P0 EVICT[A+4]",
        "P4294967294 L[_a.B9]=4294967295", "P0 S[0x80001040/8]#0x1122334455667788",
        "P0 S[A/1]#255", "P0 S[A+2/2]#65535", "P0 L[A]=0 >r1", "P0 S[A]#1 <r1 <r2 @12:14",
        "P0 L[A]=0 @120:134", "P0 L[A]=0 @120:", "P0 L[A]=0 @:134", "P0 MEMBAR @0:0",
        "P0 CAS[A]=1?1#2 >r4294967295 <r0 >r1 @1:2",
        "P0 NFL[A]", "P0 NFL[A+8/8]=0 >r1 @1:2", "P1 CAS[A]?r1#5", "P1 CAS[A/1]?r4294967295#5+250",
        "P0 DELAY#20", "P0 DELAY#0 @1:2", "P0 IPI#4294967294", "P0 LOOP.BEGIN#4294967294",
        "P0 LOOP.END", "P0 BRANCH.BEGIN", "P0 BRANCH.ELSE", "P0 BRANCH.END", "P0 TX.BEGIN#0",
        "P0 TX.BEGIN#3", "P0 S[A]#7+3", "P0 S[A/8]#0+0x8000000000000000 <r1", "P0 SWAP[A/2]#1+2",
        "P0 CAS[A]?1#2+4294967295",
        "P0 SWAP[A/16]=0x123456789abcdef0123456789abcdef#0x1",
        "P0 CAS[A/64]=0x0?0xff#0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        becomes(same[i], same[i]);
}

static void other_spellings_become_canonical(void)
{
    becomes(" \tP007\t S[A+0x4/4]#0xff  ", "P7 S[A+4]#255");
    becomes("P0 L[4096]=00", "P0 L[0x1000]=0");
    becomes("P0 L[A+0]=0xAbCdEf # x", "P0 L[A]=11259375");
    becomes("P0 MEMBAR.SS.SL.SS.LL.LS\t#", "P0 MEMBAR");
    becomes("P0 L[A]=0 @1:2 >r1 #c", "P0 L[A]=0 >r1 @1:2");
    becomes("P0 S[A/32]#0x000000000000000000000000000000000000000000000000000000000000000000001",
            "P0 S[A/32]#0x1");
    becomes("P0 S[A/16]#18446744073709551615", "P0 S[A/16]#0xffffffffffffffff");
    becomes("P0 S[A/8]#18446744073709551615", "P0 S[A/8]#0xffffffffffffffff");
    becomes("P0 DELAY#0x14 # x", "P0 DELAY#20");
    becomes("P0 S[A]#0x7+0x3", "P0 S[A]#7+3");
    becomes("P0 S[A]#7+0", "P0 S[A]#7");
    becomes("P0 CAS[A]?r0x10#5", "P0 CAS[A]?r16#5");
    becomes("P0 S[18446744073709551612]#1", "P0 S[0xfffffffffffffffc]#1");
}

static void values_are_kept_as_on_the_machine(void)
{
    reads("ordeal 1\nP5 S[A/16]#0x0f0e0d0c0b0a09080706050403020100\n"
          "P5 CAS[A]=5?6#7 @3:9\nP2 L[X]\n");
    for (size_t i = 0; i < 16; i++)
        TEST_ASSERT_EQUAL_UINT8(i, t->bytes.data[t->ops.data[0].write + i]);
    TEST_ASSERT_EQUAL_UINT64(5, t->ops.data[1].read);
    TEST_ASSERT_EQUAL_UINT64(6, ordeal_trace_compare_of(t, 1));
    TEST_ASSERT_EQUAL_UINT64(7, t->ops.data[1].write);
    TEST_ASSERT_EQUAL_UINT64(3, trace_time_of(t, 1)->begin);
    TEST_ASSERT_EQUAL_UINT64(9, trace_time_of(t, 1)->end);
    TEST_ASSERT_EQUAL_UINT8(0, t->ops.data[2].flags);
    TEST_ASSERT_EQUAL_UINT32(5, t->threads.data[t->ops.data[1].thread]);
    TEST_ASSERT_EQUAL_STRING("x", t->file);
}

static void facts_are_read(void)
{
    reads("# first a comment\n\n  ordeal 1 # version\nmodel tso\natomic 8\ninit A=7 B/8=9\n"
          "order A 1 5 3\n# between\n\nmore 0x10 17\norder B/8\nfinal A=3 0x40=1 # c\n");
    TEST_ASSERT_TRUE(t->claimed);
    TEST_ASSERT_EQUAL(ORDEAL_TSO, t->claim);
    TEST_ASSERT_EQUAL_UINT32(8, t->atomic);
    TEST_ASSERT_EQUAL_size_t(2, t->inits.count);
    TEST_ASSERT_EQUAL_UINT64(7, t->inits.data[0].value);
    TEST_ASSERT_EQUAL_UINT8(3, t->inits.data[1].word.size_log2);
    TEST_ASSERT_EQUAL_UINT32(6, t->inits.data[1].word.line);
    TEST_ASSERT_EQUAL_size_t(2, t->orders.count);
    TEST_ASSERT_EQUAL_size_t(5, t->orders.data[0].count);
    TEST_ASSERT_EQUAL_UINT64(16, t->order_values.data[3]);
    TEST_ASSERT_EQUAL_UINT32(7, t->orders.data[0].word.line);
    TEST_ASSERT_EQUAL_size_t(0, t->orders.data[1].count);
    TEST_ASSERT_EQUAL_size_t(2, t->finals.count);
    TEST_ASSERT_EQUAL_UINT64(0x40, t->finals.data[1].word.address);
    TEST_ASSERT_EQUAL_UINT32(12, t->finals.data[1].word.line);
}

static void operations_of_tests_are_kept(void)
{
    reads("ordeal 1\nP3 LOOP.BEGIN#5\nP3 NFL[A]\nP3 CAS[A]?r7#5+2\nP3 TX.BEGIN#3\nP3 TX.BEGIN\n"
          "P3 IPI#9\n");
    static const uint8_t kinds[] = { ORDEAL_LOOP_BEGIN, ORDEAL_LOAD, ORDEAL_CAS, ORDEAL_TX_BEGIN,
                                     ORDEAL_TX_BEGIN, ORDEAL_INTERRUPT };
    static const uint8_t flags[] = { 0, ORDEAL_NONFAULTING, ORDEAL_COMPARE_REGISTER,
                                     ORDEAL_HAS_LIMIT, 0, 0 };
    static const uint64_t writes[] = { 5, 0, 5, 3, 0, 9 };
    TEST_ASSERT_EQUAL_size_t(6, t->ops.count);
    for (size_t i = 0; i < 6; i++) {
        TEST_ASSERT_EQUAL_UINT8(kinds[i], t->ops.data[i].kind);
        TEST_ASSERT_EQUAL_UINT8(flags[i], t->ops.data[i].flags);
        TEST_ASSERT_EQUAL_UINT64(writes[i], t->ops.data[i].write);
        TEST_ASSERT_EQUAL_UINT64(i == 2 ? 2 : 0, ordeal_trace_step_of(t, i));
    }
    TEST_ASSERT_EQUAL_UINT64(7, ordeal_trace_compare_of(t, 2));
    TEST_ASSERT_EQUAL_UINT32(1, ordeal_trace_threads(t)); /* P9 is only named */
}

static void facts_of_tests_are_read(void)
{
    reads("ordeal 1\nseed 0xffffffffffffffff\nplace A=0x1040 B=64\nuncached B Z # both\n"
          "fault Z\nfault Z\nP0 L[C]\nplace C=0\n");
    static const struct { const char *name; bool placed; uint64_t place; uint8_t marks; } all[] = {
        { "A", true, 0x1040, 0 }, { "B", true, 64, ORDEAL_UNCACHED }, { "C", true, 0, 0 },
        { "Z", false, 0, ORDEAL_UNCACHED | ORDEAL_FAULTING },
    };
    TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, ordeal_trace_seed_of(t));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint32_t base;
        uint64_t place = 0;
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_name(t, all[i].name, 1, &base));
        TEST_ASSERT_EQUAL(all[i].placed, ordeal_trace_place_of(t, base, &place));
        TEST_ASSERT_EQUAL_UINT64(all[i].place, place);
        TEST_ASSERT_EQUAL_UINT8(all[i].marks, ordeal_trace_memory_of(t, base));
    }
    struct written w = trace_to(t, OUT_TEXT);
    TEST_ASSERT_EQUAL_STRING("ordeal 1\nseed 18446744073709551615\nplace A=0x1040 B=0x40 C=0x0\n"
                             "uncached B Z\nfault Z\nP0 L[C]\n", w.bytes);
    free(w.bytes);
}

static void line_ends_may_be_of_windows_or_missing(void)
{
    reads("ordeal 1\r\n\r\n# c\r\nP0 S[A]#1\r\nP0 L[A]=1 # d\r\nP0 MEMBAR\r");
    TEST_ASSERT_EQUAL_size_t(3, t->ops.count);
    TEST_ASSERT_EQUAL_UINT32(6, t->ops.data[2].line);
    reads("ordeal 1\nP0 S[A]#1");
    TEST_ASSERT_EQUAL_size_t(1, t->ops.count);
    reads("ordeal 1");
    TEST_ASSERT_EQUAL_size_t(0, t->ops.count);
}

/* ---- errors ---------------------------------------------------------------------------------- */

struct wrong { const char *text; uint64_t line, column; const char *reason; };

static void refuses(const struct wrong *w, size_t length, enum ordeal_format format)
{
    struct ordeal_trace *none;
    enum ordeal_status status = trace_from(o, w->text, length, format, &none);
    const struct ordeal_error *e = ordeal_last_error(o);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_BAD_INPUT, status, w->text);
    TEST_ASSERT_NULL(none);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_BAD_INPUT, e->status, w->text);
    TEST_ASSERT_EQUAL_STRING("x", e->file);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(w->line, e->line, w->text);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(w->column, e->column, w->text);
    if (!strstr(e->reason, w->reason))
        TEST_ASSERT_EQUAL_STRING_MESSAGE(w->reason, e->reason, w->text);
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(o));
}

static void errors_name_their_place(void)
{
#define V "ordeal 1\n"
    static const struct wrong all[] = {
        { "", 1, 1, "expected 'ordeal 1', the name and version of the format, found the end of" },
        { "# only\n\n", 3, 1, "found the end of the file" },
        { "P0 S[A]#1\n", 1, 1, "expected 'ordeal 1'" },
        { "ordea 1\n", 1, 1, "expected 'ordeal 1'" },
        { "ordeal\n", 1, 7, "expected a blank and the version of the format, found the end of" },
        { "ordeal1\n", 1, 7, "expected a blank and the version" },
        { "ordeal one\n", 1, 8, "expected the version of the format, found 'one'" },
        { "\n ordeal 2\n", 2, 9, "expected version 1 of the format, the only one read, found '2'" },
        { "ordeal 1 2\n", 1, 10, "expected the end of the line, found '2'" },
        { V "ordeals 1\n", 2, 1,
          "expected a thread (P0, P1, …), model, atomic, seed, place, "
          "uncached, fault, init, final, order, more or ordeal" },
        { V "Q0 S[A]#1\n", 2, 1, "expected a thread" },
        { V "p0 S[A]#1\n", 2, 1, "found 'p0'" },
        { V "P S[A]#1\n", 2, 2, "expected the number of a thread, found ' '" },
        { V "P4294967295 S[A]#1\n", 2, 2, "expected the number of a thread up to 4294967294" },
        { V "P0\n", 2, 3, "expected a blank and an operation, found the end of the line" },
        { V "P0:S[A]#1\n", 2, 3, "expected a blank and an operation, found ':S[A]#1'" },
        { V "P0 X[A]=1\n", 2, 4, "expected an operation (L, NFL, S, SWAP, CAS, AMOADD, " },
        { V "P0 l[A]=1\n", 2, 4, "expected an operation" },
        { V "P0 SWAPS[A]=1\n", 2, 4, "expected an operation" },
        { V "P0 # nothing\n", 2, 4, "expected an operation" },
        { V "P0 TX.STOP\n", 2, 4, "found 'TX.STOP'" },
        { V "P0 L A=1\n", 2, 5, "expected '[' and a location, found ' '" },
        { V "P0 L[]=1\n", 2, 6, "expected a location (a name or an address), found ']=1'" },
        { V "P0 L[-4]=1\n", 2, 6, "expected a location" },
        { V "P0 L[A=1\n", 2, 7, "expected ']', found '=1'" },
        { V "P0 L[A\n", 2, 7, "expected ']', found the end of the line" },
        { V "P0 L[A+]=1\n", 2, 8, "expected an offset in bytes" },
        { V "P0 L[A+x]=1\n", 2, 8, "expected an offset in bytes, found 'x]=1'" },
        { V "P0 L[A/3]=1\n", 2, 8, "expected a size of 1, 2, 4, 8, 16, 32 or 64 bytes, found '3" },
        { V "P0 L[A/]=1\n", 2, 8, "expected a size" },
        { V "P0 L[A/128]=1\n", 2, 8, "expected a size" },
        { V "P0 L[A/0]=1\n", 2, 8, "expected a size" },
        { V "P0 L[A+2]=1\n", 2, 6, "expected a location aligned to 4 bytes, found 'A+2]=1'" },
        { V "P0 L[0x1001/2]=1\n", 2, 6, "expected a location aligned to 2 bytes" },
        { V "P0 L[0x10/32]=1\n", 2, 6, "expected a location aligned to 32 bytes" },
        { V "P0 L[0x]=1\n", 2, 6, "expected hexadecimal digits after 0x" },
        { V "P0 L[0x10000000000000000]=1\n", 2, 6, "expected a number of at most 64 bits" },
        { V "P0 L[18446744073709551616]=1\n", 2, 6, "expected a number of at most 64 bits" },
        { V "P0 L[A]=\n", 2, 9, "expected a value, found the end of the line" },
        { V "P0 L[A]=x\n", 2, 9, "expected a value, found 'x'" },
        { V "P0 L[A]=4294967296\n", 2, 9, "expected a value of 4 bytes, found '4294967296'" },
        { V "P0 L[A/1]=256\n", 2, 11, "expected a value of 1 byte, found '256'" },
        { V "P0 L[A/16]=0x100000000000000000000000000000000\n", 2, 12,
          "expected a value of 16 bytes" },
        { V "P0 L[A/16]=\n", 2, 12, "expected a value" },
        { V "P0 L[A]=1#2\n", 2, 10, "expected the end of the line, found '#2'" },
        { V "P0 L[A]=1x\n", 2, 10, "expected the end of the line, found 'x'" },
        { V "P0 S[A]\n", 2, 8, "expected '#' and a value, found the end of the line" },
        { V "P0 S[A]=1\n", 2, 8, "expected '#' and a value, found '=1'" },
        { V "P0 S[A] # 1\n", 2, 8, "expected '#' and a value" },
        { V "P0 SWAP[A]=1\n", 2, 13, "expected '#' and a value" },
        { V "P0 CAS[A]=1#2\n", 2, 12, "expected '?' and a value, found '#2'" },
        { V "P0 CAS[A]=1?2\n", 2, 14, "expected '#' and a value" },
        { V "P0 AMO[A]=1#2\n", 2, 4, "expected an operation" },
        { V "P0 AMOSUB[A]=1#2\n", 2, 4, "AMOXOR, AMOMIN, AMOMAX, AMOMINU, AMOMAXU, MEMBAR" },
        { V "P0 AMOADDS[A]=1#2\n", 2, 4, "expected an operation" },
        { V "P0 AMOADD[A]=1\n", 2, 15, "expected '#' and a value" },
        { V "P0 AMOADD[A/1]#256\n", 2, 16, "expected a value of 1 byte" },
        { V "P0 AMOADD[A]=1?1#2\n", 2, 15, "expected '#' and a value" },
        { V "P0 AMOMIN[A/16]#1\n", 2, 1, "an AMO is of 1, 2, 4 or 8 bytes" },
        { V "P0 AMOMIN[A]=1#1+1\n", 2, 17, "only S, SWAP, CAS and AMOs of a test" },
        { V "P0 MEMBAR.XX\n", 2, 10, "expected .LL, .LS, .SL, .SS or .tso, found '.XX'" },
        { V "P0 MEMBAR.SL.\n", 2, 13, "expected .LL" },
        { V "P0 MEMBARS\n", 2, 4, "expected an operation" },
        { V "P0 MEMBAR[A]\n", 2, 10, "expected the end of the line, found '[A]'" },
        { V "P0 PREFETCH[A]=1\n", 2, 15, "expected the end of the line, found '=1'" },
        { V "P0 L[A]=1 2\n", 2, 11, "expected a register (>r1, <r1), cycles (@120:134) or the" },
        { V "P0 L[A]=1 @\n", 2, 12, "expected the cycle of issue" },
        { V "P0 L[A]=1 @5\n", 2, 13, "expected ':', found the end of the line" },
        { V "P0 L[A]=1 @:\n", 2, 13, "expected the cycle of completion" },
        { V "P0 L[A]=1 @9:8\n", 2, 11, "cannot complete before it is issued" },
        { V "P0 L[A]=1 @1:2 @3:4\n", 2, 16, "expected cycles only once" },
        { V "P0 L[A]=1 @1:2x\n", 2, 15, "expected the end of the line" },
        { V "P0 L[A]=1 >1\n", 2, 12, "expected a register (r0, r1, …), found '1'" },
        { V "P0 L[A]=1 >r\n", 2, 13, "expected the number of a register" },
        { V "P0 L[A]=1 >r4294967296\n", 2, 13, "expected the number of a register up to" },
        { V "P0 S[A]#1 >r1\n", 2, 11, "only L, SWAP, CAS, AMOs, LR and SC write registers" },
        { V "P0 MEMBAR <r1\n", 2, 11, "only L, S, SWAP, CAS, AMOs, LR and SC read registers" },
        { V "P0 NFL\n", 2, 7, "expected '[' and a location" },
        { V "P0 NFL[A]#1\n", 2, 10, "expected the end of the line" },
        { V "P0 CAS[A]?x#1\n", 2, 11, "expected a value, found 'x#1'" },
        { V "P0 CAS[A]?r#1\n", 2, 12, "expected the number of a register" },
        { V "P0 CAS[A]?r4294967296#1\n", 2, 12, "expected the number of a register up to" },
        { V "P0 CAS[A]=1?r1#1\n", 2, 1, "it has no value read" },
        { V "P0 CAS[A/16]?r1#1\n", 2, 1, "is of 1, 2, 4 or 8 bytes" },
        { V "P0 CAS[A]?r1\n", 2, 13, "expected '#' and a value" },
        { V "P0 S[A]#1+\n", 2, 11, "expected what is added each time round" },
        { V "P0 S[A/1]#1+256\n", 2, 12, "a step does not fit the size of the access" },
        { V "P0 S[A/16]#1+1\n", 2, 13, "of 1, 2, 4 or 8 bytes, write another value" },
        { V "P0 SWAP[A]=1#1+1\n", 2, 15, "only S, SWAP, CAS and AMOs of a test" },
        { V "P0 L[A]=1+1\n", 2, 10, "expected the end of the line" },
        { V "P0 DELAY\n", 2, 9, "expected '#' and a number of cycles, found the end of the line" },
        { V "P0 DELAY 20\n", 2, 9, "expected '#' and a number of cycles" },
        { V "P0 DELAY#\n", 2, 10, "expected a number of cycles" },
        { V "P0 DELAY#4294967295\n", 2, 10, "expected a number of cycles, 0 to 4294967294" },
        { V "P0 IPI\n", 2, 7, "expected '#' and the number of a thread" },
        { V "P0 IPI#P1\n", 2, 8, "expected the number of a thread, found 'P1'" },
        { V "P0 LOOP.BEGIN\n", 2, 14, "expected '#' and how many times round" },
        { V "P0 LOOP.BEGIN#0\n", 2, 15, "expected how many times round, 1 to 4294967294" },
        { V "P0 LOOP.END#1\n", 2, 12, "expected the end of the line" },
        { V "P0 LOOP\n", 2, 4, "expected an operation" },
        { V "P0 BRANCH.XX\n", 2, 4, "expected an operation" },
        { V "P0 BRANCH.SL\n", 2, 4, "expected an operation" },
        { V "P0 TX.BEGIN#x\n", 2, 13, "expected how often it is retried" },
        { V "P0 TX.END#1\n", 2, 10, "expected the end of the line" },
        { V "P0 DELAY#1 <r1\n", 2, 12, "only L, S, SWAP, CAS, AMOs, LR and SC read registers" },
        { V "seed\n", 2, 5, "expected a blank and a number" },
        { V "seed x\n", 2, 6, "expected a number, found 'x'" },
        { V "seed 1\nseed 1\n", 3, 1, "expected only one seed" },
        { V "place\n", 2, 6, "expected a blank and a name" },
        { V "place 0x40=64\n", 2, 7, "expected a name, found '0x40=64'" },
        { V "place A\n", 2, 8, "expected '=' and an offset in bytes" },
        { V "place A+64=64\n", 2, 8, "expected '=' and an offset in bytes" },
        { V "place A=x\n", 2, 9, "expected an offset in bytes" },
        { V "place A=64 B=32\n", 2, 12, "a place is a multiple of 64" },
        { V "place A=64\nplace A=64\n", 3, 7, "the name has its place already" },
        { V "uncached A=1\n", 2, 11, "expected the end of the line" },
        { V "uncached A,B\n", 2, 11, "expected the end of the line" },
        { V "fault 7\n", 2, 7, "expected a name, found '7'" },
        { V "model\n", 2, 6, "expected a blank and a model" },
        { V "model XYZ\n", 2, 7,
          "expected a model (SC, TSO, PSO, PC, RMO, RVWMO or RVTSO), found 'XYZ'" },
        { V "model TSOTSOTSO\n", 2, 7, "expected a model" },
        { V "model TSO PSO\n", 2, 11, "expected the end of the line, found 'PSO'" },
        { V "model TSO\n\nmodel TSO\n", 4, 1, "expected only one model" },
        { V "atomic 3\n", 2, 8, "atomic takes 1, 2, 4, 8, 16, 32 or 64 bytes" },
        { V "atomic 4294967300\n", 2, 8, "atomic takes" },
        { V "atomic x\n", 2, 8, "expected a number of bytes, found 'x'" },
        { V "atomic 4\natomic 4\n", 3, 1, "expected only one atomic" },
        { V "init\n", 2, 5, "expected a blank and a location" },
        { V "init A\n", 2, 7, "expected '=' and a value" },
        { V "init A=1,B=2\n", 2, 9, "expected the end of the line, found ',B=2'" },
        { V "init A=1#2\n", 2, 9, "expected the end of the line" },
        { V "init A/16=1\n", 2, 6, "expected a location of 1, 2, 4 or 8 bytes" },
        { V "init B=1 A/2=65536\n", 2, 14, "expected a value of 2 bytes" },
        { V "final A=\n", 2, 9, "expected a value" },
        { V "order A 1 x\n", 2, 11, "expected a value, found 'x'" },
        { V "order A/1 256\n", 2, 11, "expected a value of 1 byte" },
        { V "order A,1\n", 2, 8, "expected the end of the line" },
        { V "more 1\n", 2, 1, "expected an order line before this one" },
        { V "order A 1\nP0 S[A]#1\nmore 1\n", 4, 1, "expected an order line before this one" },
        { V "order A 1\ninit A=1\nmore 1\n", 4, 1, "expected an order line before this one" },
        { V "P0 S[A]#1 # bell \a\n", 2, 18,
          "expected the end of the comment, found control character 0x07" },
        { V "# \x1b[0m\n", 2, 3, "control character 0x1b" },
        { V "\fP0 S[A]#1\n", 2, 1, "control character 0x0c" },
        { V "P0 S[A]#1\r\r\n", 2, 10, "control character 0x0d" },
        { V "P0 S[A]\r#1\n", 2, 8, "control character 0x0d" },
        { V "P0 S[\xc3\xa4]#1\n", 2, 6, "expected a location" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        refuses(&all[i], strlen(all[i].text), ORDEAL_FORMAT_TEXT);
}

static void a_zero_byte_is_an_error_like_others(void)
{
    static const char text[] = "ordeal 1\nP0 S[A]#1\0\n", comment[] = "ordeal 1\n# \0\n";
    refuses(&(struct wrong){ text, 2, 10, "control character 0x00" }, sizeof text - 1,
            ORDEAL_FORMAT_TEXT);
    refuses(&(struct wrong){ comment, 2, 3, "control character 0x00" }, sizeof comment - 1,
            ORDEAL_FORMAT_TEXT);
}

static void names_have_a_bound(void)
{
    char text[600] = "ordeal 1\nP0 S[";
    size_t n = strlen(text);
    memset(text + n, 'n', 256);
    strcpy(text + n + 256, "]#1\n");
    refuses(&(struct wrong){ text, 2, 6, "255 characters at most" }, strlen(text),
            ORDEAL_FORMAT_TEXT);
}

/* ---- guessing -------------------------------------------------------------------------------- */

static void the_format_is_guessed(void)
{
    static const char crlf[] = "# c\r\n\r\nordeal 1\r\nP0 S[A]#1\r\nP0 S[A]#2\r\n";
    TEST_ASSERT_EQUAL(ORDEAL_OK, trace_from(o, crlf, strlen(crlf), ORDEAL_FORMAT_GUESS, &t));
    TEST_ASSERT_EQUAL_size_t(2, t->ops.count);
    TEST_ASSERT_EQUAL_UINT32(5, t->ops.data[1].line);
    static const struct wrong all[] = {
        { "", 1, 1,
          "expected a text trace ('ordeal 1'), an Axe trace ('0: M[0] := 1'), a "
          "commit log ('core   0: 3 0x80000000 (0x00000013)') or a binary trace "
          "(.otr), found the end of the file" },
        { "# x\n", 2, 1, "found the end of the file" },
        { "# x\nP0 S[A]#1\n", 2, 1, "expected a text trace ('ordeal 1'), an Axe trace" },
        { "ordeal 7\n", 1, 8, "expected version 1" },
        { "#\n7: x\n", 2, 4, "expected a location (M[0] or v0)" },
        { "\x28\xb5\x2f\xfd", 1, 1, "zstd" },
        { "# \x01", 1, 3, "control character 0x01" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ordeal_trace_free(t);
        t = NULL;
        refuses(&all[i], strlen(all[i].text), ORDEAL_FORMAT_GUESS);
    }
}

/* Every trace stands alone: facts, names, threads; lines go on counting. */
static void a_further_version_line_begins_the_next_trace(void)
{
    static char text[] = "# one\nordeal 1\nmodel SC\nseed 5\nP7 S[A]#1\n# two\n\n  ordeal 1 # x\n"
                         "model TSO\nseed 6\nP3 S[B]#1\nordeal 1\nordeal 1\nmodel PSO";
    static const struct { size_t ops; bool claimed; uint64_t seed; } all[] = {
        { 1, true, 5 }, { 1, true, 6 }, { 0, false, 0 }, { 0, true, 0 },
    };
    FILE *f = fmemopen(text, strlen(text), "rb");
    struct ordeal_reader *r = ordeal_reader_new(o, f, "x", ORDEAL_FORMAT_GUESS);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_reader_next(r, &t));
        TEST_ASSERT_EQUAL_size_t(all[i].ops, t->ops.count);
        TEST_ASSERT_EQUAL_size_t(all[i].ops, t->threads.count);
        TEST_ASSERT_EQUAL_size_t(all[i].ops, t->names.count);
        TEST_ASSERT_EQUAL(all[i].claimed, t->claimed);
        TEST_ASSERT_EQUAL_UINT64(all[i].seed, t->seed);
        if (i == 1)
            TEST_ASSERT_EQUAL_UINT32(11, t->ops.data[0].line);
        ordeal_trace_free(t);
    }
    TEST_ASSERT_EQUAL(ORDEAL_END, ordeal_reader_next(r, &t));
    TEST_ASSERT_NULL(t);
    TEST_ASSERT_EQUAL(ORDEAL_END, ordeal_reader_next(r, &t));
    ordeal_reader_free(r);
    fclose(f);
}

static void after_an_error_nothing_comes(void)
{
    static char bad[] = "ordeal 1\nP0 MEMBAR\nordeal 1\nP0\nordeal 1\nP0 MEMBAR\n",
                later[] = "ordeal 1\nordeal 2\n";
    FILE *f = fmemopen(bad, strlen(bad), "rb");
    struct ordeal_reader *r = ordeal_reader_new(o, f, "x", ORDEAL_FORMAT_GUESS);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_reader_next(r, &t));
    ordeal_trace_free(t);
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, ordeal_reader_next(r, &t));
    TEST_ASSERT_EQUAL_UINT64(4, ordeal_last_error(o)->line);
    TEST_ASSERT_EQUAL(ORDEAL_END, ordeal_reader_next(r, &t));
    ordeal_reader_free(r);
    fclose(f);
    f = fmemopen(later, strlen(later), "rb");
    r = ordeal_reader_new(o, f, "x", ORDEAL_FORMAT_TEXT);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_reader_next(r, &t));
    ordeal_trace_free(t);
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, ordeal_reader_next(r, &t));
    TEST_ASSERT_EQUAL_UINT64(2, ordeal_last_error(o)->line);
    TEST_ASSERT_EQUAL_UINT64(8, ordeal_last_error(o)->column);
    ordeal_reader_free(r);
    fclose(f);
}

/* ---- streams made up on the fly ------------------------------------------------------------- */

/* The head, then `left` bytes of the pattern over and over, then the end or a failure. */
struct made_up { const char *head, *pattern; uint64_t left, at; bool fails; };

static ssize_t make_up(void *cookie, char *buffer, size_t size)
{
    struct made_up *m = cookie;
    size_t n = strlen(m->head), pattern = strlen(m->pattern);
    if (n) {
        n = n < size ? n : size;
        memcpy(buffer, m->head, n);
        m->head += n;
        return (ssize_t)n;
    }
    if (m->left == 0)
        return m->fails ? -1 : 0;
    n = m->left < size ? (size_t)m->left : size;
    for (size_t i = 0; i < n; i++)
        buffer[i] = m->pattern[m->at++ % pattern];
    m->left -= n;
    return (ssize_t)n;
}

static enum ordeal_status read_made_up(struct made_up m, enum ordeal_format format)
{
    FILE *f = fopencookie(&m, "rb", (cookie_io_functions_t){ .read = make_up });
    struct ordeal_reader *r = ordeal_reader_new(o, f, "x", format);
    enum ordeal_status status = ordeal_reader_next(r, &t);
    ordeal_reader_free(r);
    fclose(f);
    return status;
}

static void four_gigabytes_of_one_line_are_refused_at_once(void)
{
    static const struct {
        const char *head, *pattern;
        enum ordeal_format format;
        uint64_t line;
    } all[] = {
        { "ordeal 1\n", "x", ORDEAL_FORMAT_TEXT, 2 },
        { "ordeal 1\n#", " ", ORDEAL_FORMAT_TEXT, 2 },
        { "ordeal 1\nP0 L[A]=", "0", ORDEAL_FORMAT_GUESS, 2 },
        { "#", "#", ORDEAL_FORMAT_GUESS, 1 },
        { "", "7", ORDEAL_FORMAT_GUESS, 1 },
        { "0: M[0] := 1\n", " ", ORDEAL_FORMAT_AXE, 2 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct made_up m = { all[i].head, all[i].pattern, UINT64_C(1) << 32, 0, false };
        TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, read_made_up(m, all[i].format));
        const struct ordeal_error *e = ordeal_last_error(o);
        TEST_ASSERT_EQUAL_STRING("expected the end of the line within 1048576 bytes", e->reason);
        TEST_ASSERT_EQUAL_UINT64(all[i].line, e->line);
        TEST_ASSERT_EQUAL_UINT64(1048577, e->column);
        TEST_ASSERT_LESS_THAN_size_t(2 << 20, ordeal_memory_peak(o));
    }
}

static void the_longest_line_is_read(void)
{
    struct made_up m = { "ordeal 1\n#", " ", READ_LINE_MAX - 1, 0, false };
    TEST_ASSERT_EQUAL(ORDEAL_OK, read_made_up(m, ORDEAL_FORMAT_TEXT));
    ordeal_trace_free(t);
    m = (struct made_up){ "ordeal 1\n#", " ", READ_LINE_MAX, 0, false };
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, read_made_up(m, ORDEAL_FORMAT_TEXT));
}

static void lines_across_the_buffer_s_end_are_whole(void)
{
    static const char pattern[] = "P12 SWAP[A17]=123456#123457 # seventeen\r\n";
    uint64_t lines = 100000;
    struct made_up m = { "ordeal 1\n", pattern, lines * strlen(pattern), 0, false };
    TEST_ASSERT_EQUAL(ORDEAL_OK, read_made_up(m, ORDEAL_FORMAT_TEXT));
    TEST_ASSERT_EQUAL_size_t(lines, t->ops.count);
    for (size_t i = 0; i < lines; i++) {
        TEST_ASSERT_EQUAL_UINT64(123457, t->ops.data[i].write);
        TEST_ASSERT_EQUAL_UINT32(i + 2, t->ops.data[i].line);
    }
}

static void a_stream_that_fails_is_an_io_error(void)
{
    struct made_up m = { "ordeal 1\nP0 S[A]#1\n", "#", 0, 0, true };
    TEST_ASSERT_EQUAL(ORDEAL_IO, read_made_up(m, ORDEAL_FORMAT_TEXT));
    TEST_ASSERT_NULL(t);
    TEST_ASSERT_EQUAL(ORDEAL_IO, ordeal_last_error(o)->status);
}

static bool stop(void *user, const char *phase, double share)
{
    (void)phase, (void)share;
    return ++*(int *)user == 3;
}

static void reading_can_be_interrupted(void)
{
    int asked = 0;
    struct ordeal_limits limits = { .progress = stop, .user = &asked };
    ordeal_set_limits(o, &limits);
    struct made_up m = { "ordeal 1\n", "P0 MEMBAR\n", UINT64_C(1) << 40, 0, false };
    TEST_ASSERT_EQUAL(ORDEAL_LIMIT, read_made_up(m, ORDEAL_FORMAT_TEXT));
    TEST_ASSERT_EQUAL_INT(3, asked);
}

/* ---- round trips and memory --------------------------------------------------------------- */

static void random_traces_survive_the_round_trip(void)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct ordeal_trace *before = random_trace(o, seed, seed % 60, false), *after;
        struct written w = trace_to(before, OUT_TEXT);
        TEST_ASSERT_EQUAL(ORDEAL_OK, w.status);
        enum ordeal_status status = trace_from(o, w.bytes, w.length, ORDEAL_FORMAT_GUESS, &after);
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
        const char *difference = same_trace(before, after);
        TEST_ASSERT_NULL_MESSAGE(difference, difference);
        struct written again = trace_to(after, OUT_TEXT);
        TEST_ASSERT_EQUAL_STRING(w.bytes, again.bytes);
        free(w.bytes);
        free(again.bytes);
        ordeal_trace_free(before);
        ordeal_trace_free(after);
    }
}

/* Many traces in one stream, longer than the reader's buffer, by way of both formats. */
static void many_tests_survive_text_to_binary_to_text(void)
{
    enum { TESTS = 300 };
    char *text = NULL, *binary = NULL, *again = NULL;
    size_t lengths[3];
    FILE *f = open_memstream(&text, &lengths[0]);
    for (uint64_t seed = 0; seed < TESTS; seed++) {
        struct ordeal_trace *one = random_trace(o, seed, seed % 90, false);
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_write_text(one, f));
        ordeal_trace_free(one);
    }
    fclose(f);
    TEST_ASSERT_GREATER_THAN_size_t(2 * READ_CHUNK, lengths[0]);
    for (int way = 0; way < 2; way++) {
        FILE *in = fmemopen(way ? binary : text, lengths[way], "rb");
        FILE *out = open_memstream(way ? &again : &binary, &lengths[way + 1]);
        struct ordeal_reader *r = ordeal_reader_new(o, in, "x", ORDEAL_FORMAT_GUESS);
        int traces = 0;
        enum ordeal_status status;
        for (; (status = ordeal_reader_next(r, &t)) == ORDEAL_OK; traces++) {
            TEST_ASSERT_EQUAL(ORDEAL_OK, way ? ordeal_write_text(t, out)
                                             : ordeal_write_binary(t, out, traces % 2));
            ordeal_trace_free(t);
        }
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_END, status, ordeal_last_error(o)->reason);
        TEST_ASSERT_EQUAL_INT(TESTS, traces);
        ordeal_reader_free(r);
        fclose(in);
        fclose(out);
    }
    TEST_ASSERT_EQUAL_size_t(lengths[0], lengths[2]);
    TEST_ASSERT_EQUAL_MEMORY(text, again, lengths[0]);
    free(text);
    free(binary);
    free(again);
}

static void a_full_disk_is_an_io_error(void)
{
    reads("ordeal 1\nP0 S[A]#1\n");
    FILE *f = fopen("/dev/full", "w");
    TEST_ASSERT_NOT_NULL(f); /* every Linux has it */
    TEST_ASSERT_EQUAL(ORDEAL_IO, ordeal_write_text(t, f));
    TEST_ASSERT_EQUAL(ORDEAL_IO, ordeal_write_binary(t, f, true));
    TEST_ASSERT_EQUAL(ORDEAL_IO, ordeal_write_axe(t, f));
    fclose(f);
}

static void allocation_failure_is_survived(void)
{
    struct ordeal_trace *many = random_trace(o, 5, 200, false);
    struct written w = trace_to(many, OUT_TEXT);
    ordeal_trace_free(many);
    const char *wrong = starve_reader(w.bytes, w.length, ORDEAL_FORMAT_GUESS);
    free(w.bytes);
    TEST_ASSERT_NULL_MESSAGE(wrong, wrong);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(every_operation_is_read);
    RUN_TEST(other_spellings_become_canonical);
    RUN_TEST(values_are_kept_as_on_the_machine);
    RUN_TEST(operations_of_tests_are_kept);
    RUN_TEST(facts_are_read);
    RUN_TEST(facts_of_tests_are_read);
    RUN_TEST(line_ends_may_be_of_windows_or_missing);
    RUN_TEST(errors_name_their_place);
    RUN_TEST(a_zero_byte_is_an_error_like_others);
    RUN_TEST(names_have_a_bound);
    RUN_TEST(the_format_is_guessed);
    RUN_TEST(a_further_version_line_begins_the_next_trace);
    RUN_TEST(after_an_error_nothing_comes);
    RUN_TEST(four_gigabytes_of_one_line_are_refused_at_once);
    RUN_TEST(the_longest_line_is_read);
    RUN_TEST(lines_across_the_buffer_s_end_are_whole);
    RUN_TEST(a_stream_that_fails_is_an_io_error);
    RUN_TEST(reading_can_be_interrupted);
    RUN_TEST(random_traces_survive_the_round_trip);
    RUN_TEST(many_tests_survive_text_to_binary_to_text);
    RUN_TEST(a_full_disk_is_an_io_error);
    RUN_TEST(allocation_failure_is_survived);
    return UNITY_END();
}
