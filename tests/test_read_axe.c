/* SPDX-License-Identifier: Apache-2.0 */
/* Axe traces: what is read, what is refused and where, several traces in a file, writing. */
#include <stdlib.h>
#include "traces.h"
#include "unity.h"

static struct ordeal *o;

void setUp(void) { o = ordeal_new(NULL); }

void tearDown(void)
{
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(o));
    ordeal_free(o);
}

static void becomes(const char *axe, const char *text)
{
    struct ordeal_trace *t;
    enum ordeal_status status = trace_from(o, axe, strlen(axe), ORDEAL_FORMAT_AXE, &t);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
    struct written w = trace_to(t, OUT_TEXT);
    TEST_ASSERT_EQUAL_STRING(text, w.bytes);
    free(w.bytes);
    ordeal_trace_free(t);
}

static void every_construct_is_read(void)
{
#define T "ordeal 1\n"
    becomes("0: M[0] := 1\n", T "P0 S[v0]#1\n");
    becomes("1: M[12] == 3", T "P1 L[v12]=3\n");
    becomes("1: v12 == 0", T "P1 L[v12]=0\n");
    becomes("3: { M[1] == 2 ; M[1] := 3 }\n", T "P3 SWAP[v1]=2#3\n");
    becomes("3: { v1 == 2; M[01] := 3} @ 10:20\n", T "P3 SWAP[v1]=2#3 @10:20\n");
    becomes("0: sync\n", T "P0 MEMBAR\n");
    becomes("0: sync @ 5:6\n", T "P0 MEMBAR @5:6\n");
    becomes("0: M[0] := 1 @ 5:\n", T "P0 S[v0]#1 @5:\n");
    becomes("0: M[0] == 1 @ :7\n", T "P0 L[v0]=1 @:7\n");
    becomes("0: M[0] == 1 @ :\n", T "P0 L[v0]=1\n");
    becomes("0: M[0] == 0xff\n", T "P0 L[v0]=255\n");
    becomes("0: M[0] := 1\nfinal M[0] == 1\nfinal v3 == 0\n",
            T "final v0=1\nfinal v3=0\nP0 S[v0]#1\n");
}

static void tokens_are_free_form(void)
{
    becomes("# head\r\n0:M[0]:=1 1 : M[ 0 ]==1\r\n2:\n # in between\n{v0==1;v0:=2}@3:4 2:sync",
            T "P0 S[v0]#1\nP1 L[v0]=1\nP2 SWAP[v0]=1#2 @3:4\nP2 MEMBAR\n");
    becomes("0: M[0] := 1 @ 5:\n6: M[1] := 2\n", T "P0 S[v0]#1 @5:\nP6 S[v1]#2\n");
    becomes("0: M[0] == 1 @ 5: 6: M[1] := 2\n", T "P0 L[v0]=1 @5:\nP6 S[v1]#2\n");
}

static void lines_are_kept(void)
{
    static const char axe[] = "# c\n0: M[0]\n := 1\n\n1: sync\nfinal v0 == 1\n";
    struct ordeal_trace *t;
    TEST_ASSERT_EQUAL(ORDEAL_OK, trace_from(o, axe, strlen(axe), ORDEAL_FORMAT_GUESS, &t));
    TEST_ASSERT_EQUAL_UINT32(2, t->ops.data[0].line);
    TEST_ASSERT_EQUAL_UINT32(5, t->ops.data[1].line);
    TEST_ASSERT_EQUAL_UINT32(6, t->finals.data[0].word.line);
    ordeal_trace_free(t);
}

static void errors_name_their_place(void)
{
    static const struct { const char *text; uint64_t line, column; const char *reason; } all[] = {
        { "", 1, 1, "expected an operation (0: M[0] := 1), final or check, found the end of" },
        { "# c\n", 2, 1, "found the end of the file" },
        { "x\n", 1, 1, "expected an operation (0: M[0] := 1), final or check, found 'x'" },
        { "0 M[0] := 1\n", 1, 3, "expected ':', found 'M[0]'" },
        { "4294967295: sync\n", 1, 1, "expected the number of a thread up to 4294967294" },
        { "0:\n", 2, 1, "expected a location (M[0] or v0), found the end of the file" },
        { "0: N[0] := 1\n", 1, 4, "expected a location (M[0] or v0), found 'N[0]'" },
        { "0: M(0) := 1\n", 1, 5, "expected '[', found '(0)'" },
        { "0: M[x] := 1\n", 1, 6, "expected the number of a location" },
        { "0: M[0 := 1\n", 1, 8, "expected ']', found ':='" },
        { "0: v := 1\n", 1, 5, "expected the number of a location" },
        { "0: M[0]\n = 1\n", 2, 2, "expected '==', found '='" },
        { "0: M[0] : 1\n", 1, 9, "expected ':=', found ':'" },
        { "0: M[0] 1\n", 1, 9, "expected '==' (a load) or ':=' (a store), found '1'" },
        { "0: M[0] == \n\n", 3, 1, "expected a value, found the end of the file" },
        { "0: M[0] == -1\n", 1, 12, "expected a value, found '-1'" },
        { "0: M[0] == 4294967296\n", 1, 12, "expected a value up to 4294967295" },
        { "0: M[0] == 99999999999999999999\n", 1, 12, "expected a number of at most 64 bits" },
        { "0: { M[0] := 1 }\n", 1, 11, "expected '==', found ':='" },
        { "0: { M[0] == 1 }\n", 1, 16, "expected ';', found '}'" },
        { "0: { M[0] == 1;\n M[1] := 2 }\n", 2, 2, "expected the location read (v0), found v1: a "
                                                    "read-modify-write is of one location" },
        { "0: { M[0] == 1; M[0] := 2\n1: sync\n", 2, 1, "expected '}', found '1:'" },
        { "0: synch\n", 1, 8, "expected an operation" },
        { "0: sink\n", 1, 4, "expected 'sync', found 'sink'" },
        { "0: sync @ 5\n", 1, 12, "expected ':', found the end of the line" },
        { "0: sync @ x\n", 1, 11, "expected the cycle of issue" },
        { "0: sync @ 6:5\n", 1, 9, "cannot complete before it is issued" },
        { "0: M[0] := 1 @ 5:6\n", 1, 18, "a store has none in Axe" },
        { "final M[0] := 1\n", 1, 12, "expected '=='" },
        { "finish\n", 1, 1, "expected 'final', found 'finish'" },
        { "chuck\n", 1, 1, "expected 'check', found 'chuck'" },
        { "0: sync # \x01\n", 1, 11, "control character 0x01" },
        { "0: sync \x0b\n", 1, 9, "control character 0x0b" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct ordeal_trace *t;
        enum ordeal_status status =
            trace_from(o, all[i].text, strlen(all[i].text), ORDEAL_FORMAT_AXE, &t);
        const struct ordeal_error *e = ordeal_last_error(o);
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_BAD_INPUT, status, all[i].text);
        TEST_ASSERT_NULL(t);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(all[i].line, e->line, all[i].text);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(all[i].column, e->column, all[i].text);
        if (!strstr(e->reason, all[i].reason))
            TEST_ASSERT_EQUAL_STRING_MESSAGE(all[i].reason, e->reason, all[i].text);
    }
}

/* The numbers of operations of the traces of a file, then how it ended. */
static void holds(const char *axe, const size_t *ops, size_t traces, enum ordeal_status end)
{
    FILE *f = fmemopen((void *)axe, strlen(axe), "rb");
    struct ordeal_reader *r = ordeal_reader_new(o, f, "x", ORDEAL_FORMAT_GUESS);
    struct ordeal_trace *t;
    for (size_t i = 0; i < traces; i++) {
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, ordeal_reader_next(r, &t), axe);
        TEST_ASSERT_EQUAL_size_t_MESSAGE(ops[i], t->ops.count, axe);
        ordeal_trace_free(t);
    }
    TEST_ASSERT_EQUAL_MESSAGE(end, ordeal_reader_next(r, &t), axe);
    TEST_ASSERT_NULL(t);
    TEST_ASSERT_EQUAL(ORDEAL_END, ordeal_reader_next(r, &t));
    ordeal_reader_free(r);
    fclose(f);
}

static void a_file_may_hold_several_traces(void)
{
    holds("0: sync\n0: sync\ncheck\n1: sync\ncheck\n", (size_t[]){ 2, 1 }, 2, ORDEAL_END);
    holds("0: sync check 1: sync 1: sync", (size_t[]){ 1, 2 }, 2, ORDEAL_END);
    holds("check\ncheck # c\n\n", (size_t[]){ 0, 0 }, 2, ORDEAL_END);
    holds("0: sync\n", (size_t[]){ 1 }, 1, ORDEAL_END);
    holds("0: sync\r\ncheck\r\n1: oops\r\n", (size_t[]){ 1 }, 1, ORDEAL_BAD_INPUT);
    TEST_ASSERT_EQUAL_UINT64(3, ordeal_last_error(o)->line);
    TEST_ASSERT_EQUAL_UINT64(4, ordeal_last_error(o)->column);
}

/* ---- writing ------------------------------------------------------------------------------ */

static void random_traces_survive_the_round_trip(void)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct ordeal_trace *before = random_trace(o, seed, seed % 60, true), *after;
        struct written w = trace_to(before, OUT_AXE);
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, w.status, ordeal_last_error(o)->reason);
        enum ordeal_status status = trace_from(o, w.bytes, w.length, ORDEAL_FORMAT_GUESS, &after);
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
        const char *difference = same_trace(before, after);
        TEST_ASSERT_NULL_MESSAGE(difference, difference);
        free(w.bytes);
        ordeal_trace_free(before);
        ordeal_trace_free(after);
    }
}

static struct written axe_of(const char *text)
{
    struct ordeal_trace *t;
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, trace_from(o, text, strlen(text), ORDEAL_FORMAT_TEXT, &t),
                              text);
    struct written w = trace_to(t, OUT_AXE);
    ordeal_trace_free(t);
    return w;
}

static void other_locations_are_numbered_and_named(void)
{
    struct written w = axe_of(T "model TSO\ninit A=0\nfinal A=1\nP1 S[A]#1 @4:\n"
                                "P0 L[0x80001040]=0\nP1 SWAP[A]=1#2 @5:6\nP0 L[v0]=0\nP0 MEMBAR\n");
    TEST_ASSERT_EQUAL_STRING("# model TSO\n# &M[0] == A\n# &M[1] == 0x80001040\n# &M[2] == v0\n"
                             "1: M[0] := 1 @ 4:\n0: M[1] == 0\n1: { M[0] == 1; M[0] := 2 } @ 5:6\n"
                             "0: M[2] == 0\n0: sync\nfinal M[0] == 1\n", w.bytes);
    free(w.bytes);
}

static void amos_are_swaps_of_what_they_left(void)
{
    struct written w = axe_of(T "P1 AMOADD[v0]=1#5\nP1 AMOMAX[v0]=6#0xffffffff @5:6\n"
                                "P1 AMOMAXU[v0]=6#0xffffffff\n");
    TEST_ASSERT_EQUAL_STRING("1: { M[0] == 1; M[0] := 6 }\n1: { M[0] == 6; M[0] := 6 } @ 5:6\n"
                             "1: { M[0] == 6; M[0] := 4294967295 }\n",
                             w.bytes);
    free(w.bytes);
}

static void many_locations_are_told_apart(void)
{
    char *text, *line;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    fputs(T, f);
    for (int i = 0; i < 1000; i++)
        fprintf(f, "P0 S[%d]#%d\nP0 S[A+%d]#%d\nP0 S[B]#7\n", i * 4, i + 1, i * 4, i + 1);
    fclose(f);
    struct written w = axe_of(text);
    free(text);
    TEST_ASSERT_EQUAL(ORDEAL_OK, w.status);
    TEST_ASSERT_NOT_NULL(strstr(w.bytes, "# &M[2000] == A+3996\n"));
    TEST_ASSERT_NULL(strstr(w.bytes, "# &M[2001]"));
    line = strstr(w.bytes, "\n0: M[2000] := 1000\n");
    TEST_ASSERT_NOT_NULL(line);
    TEST_ASSERT_EQUAL_STRING("\n0: M[2000] := 1000\n0: M[2] := 7\n", line);
    free(w.bytes);
}

static void what_axe_cannot_say_is_refused(void)
{
    static const struct { const char *text, *reason; } all[] = {
        { T "P0 CAS[A]=1?1#2\n", "no such operation: P0 CAS[A]=1?1#2" },
        { T "P0 TX.BEGIN\n", "no such operation: P0 TX.BEGIN" },
        { T "P0 FLUSH[A]\n", "no such operation" },
        { T "P0 MEMBAR.SL\n", "full barriers only" },
        { T "P0 S[A/8]#1\n", "one word only" },
        { T "P0 L[A]\n", "value of every load" },
        { T "P0 S[A]#1 @1:2\n", "no cycle of completion" },
        { T "P0 L[A]=1 >r1\n", "registers" },
        { T "init A=1\n", "initial values" },
        { T "order A 1 2\n", "store orders" },
        { T "final A/1=1\n", "final values of one word" },
        { T "atomic 2\n", "atomic" },
        { T "P0 NFL[A]=0\n", "no such operation: P0 NFL[A]=0" },
        { T "P0 DELAY#5\n", "no such operation: P0 DELAY#5" },
        { T "P0 LOOP.BEGIN#5\n", "no such operation" },
        { T "P0 S[A]#1+1\n", "no tests" },
        { T "seed 1\n", "no tests" },
        { T "place A=64\n", "no tests" },
        { T "fault A\n", "no tests" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct written w = axe_of(all[i].text);
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_BAD_USAGE, w.status, all[i].text);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(ordeal_last_error(o)->reason, all[i].reason),
                                     ordeal_last_error(o)->reason);
        TEST_ASSERT_EQUAL_size_t(0, w.length);
        free(w.bytes);
    }
}

static void allocation_failure_is_survived(void)
{
    struct ordeal_trace *t = random_trace(o, 5, 200, true);
    struct written w = trace_to(t, OUT_AXE);
    ordeal_trace_free(t);
    const char *wrong = starve_reader(w.bytes, w.length, ORDEAL_FORMAT_GUESS);
    free(w.bytes);
    TEST_ASSERT_NULL_MESSAGE(wrong, wrong);
}

static void the_writer_survives_allocation_failure(void)
{
    enum ordeal_status status = ORDEAL_NO_MEMORY;
    for (size_t k = 1; status != ORDEAL_OK; k++) {
        struct failing f = { 0 };
        struct ordeal_memory memory = failing_memory(&f);
        struct ordeal *starved = ordeal_new(&memory);
        struct ordeal_trace *t = ordeal_trace_new(starved);
        struct ordeal_op op = { .kind = ORDEAL_STORE, .size_log2 = 2 };
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, 0, &op.thread));
        for (int i = 0; i < 200; i++, op.address += 4)
            TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &op, 0));
        f.calls = 0;
        f.fail_at = k;
        struct written w = trace_to(t, OUT_AXE);
        status = w.status;
        TEST_ASSERT_TRUE(status == ORDEAL_OK || status == ORDEAL_NO_MEMORY);
        free(w.bytes);
        ordeal_trace_free(t);
        ordeal_free(starved);
        TEST_ASSERT_EQUAL_size_t(0, f.blocks);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(every_construct_is_read);
    RUN_TEST(tokens_are_free_form);
    RUN_TEST(lines_are_kept);
    RUN_TEST(errors_name_their_place);
    RUN_TEST(a_file_may_hold_several_traces);
    RUN_TEST(random_traces_survive_the_round_trip);
    RUN_TEST(other_locations_are_numbered_and_named);
    RUN_TEST(amos_are_swaps_of_what_they_left);
    RUN_TEST(many_locations_are_told_apart);
    RUN_TEST(what_axe_cannot_say_is_refused);
    RUN_TEST(allocation_failure_is_survived);
    RUN_TEST(the_writer_survives_allocation_failure);
    return UNITY_END();
}
