/* SPDX-License-Identifier: Apache-2.0 */
/* The execution that a trace becomes: words, groups, transactions, candidates, orders, subsets.
 *
 * Most tests compare a picture of the whole execution, written by `describe`:
 *     A=0 B=7; P0: (S A 1) |15| (L B 7)~(L B+4 0); P1: {L A 1, S A 2}
 * first the words with their initial values, then the groups of each thread: () a plain one, {} a
 * transaction, ~ between the parts of one wide access, |mask| a barrier. */
#include <stdlib.h>
#include <string.h>

#include "execution.h"
#include "unity.h"

/* ---- a context that counts and can fail ---------------------------------------------- */

struct accounts { size_t held; long until_failure; /* negative: never */ };

static void *counting_resize(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    struct accounts *a = user;
    if (new_bytes == 0) {
        a->held -= old_bytes;
        free(pointer);
        return NULL;
    }
    if (a->until_failure == 0)
        return NULL;
    if (a->until_failure > 0)
        a->until_failure--;
    void *fresh = realloc(pointer, new_bytes);
    a->held += new_bytes - (pointer ? old_bytes : 0);
    return fresh;
}

static struct accounts accounts;
static struct ordeal *o;
static struct ordeal_trace *t;
static struct execution *x;

void setUp(void)
{
    accounts = (struct accounts){ 0, -1 };
    o = ordeal_new(&(struct ordeal_memory){ counting_resize, &accounts });
    t = NULL;
    x = NULL;
}

void tearDown(void)
{
    execution_free(x);
    ordeal_trace_free(t);
    ordeal_free(o);
    TEST_ASSERT_EQUAL_size_t(0, accounts.held);
}

/* ---- reading and describing ---------------------------------------------------------- */

static void read_trace(const char *lines)
{
    char text[8192];
    int length = snprintf(text, sizeof text, "ordeal 1\n%s\n", lines);
    FILE *stream = fmemopen(text, (size_t)length, "r");
    struct ordeal_reader *r = ordeal_reader_new(o, stream, "test.trace", ORDEAL_FORMAT_TEXT);
    enum ordeal_status status = ordeal_reader_next(r, &t);
    ordeal_reader_free(r);
    fclose(stream);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
}

static void build(const char *lines)
{
    read_trace(lines);
    enum ordeal_status status = execution_build(t, &x);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
}

/* Only operations whose digit in `keep` is '1' stay. */
static void build_subset(const char *lines, const char *keep)
{
    bool kept[64];
    read_trace(lines);
    TEST_ASSERT_EQUAL_size_t(strlen(keep), ordeal_trace_length(t));
    for (size_t i = 0; keep[i]; i++)
        kept[i] = keep[i] == '1';
    enum ordeal_status status = execution_build_subset(t, kept, NULL, &x);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
}

/* `line` is that of the text after the version line, counted from 2. */
static void refused(const char *lines, uint64_t line, const char *reason)
{
    read_trace(lines);
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, execution_build(t, &x));
    TEST_ASSERT_NULL(x);
    TEST_ASSERT_EQUAL_STRING(reason, ordeal_last_error(o)->reason);
    TEST_ASSERT_EQUAL_UINT64(line, ordeal_last_error(o)->line);
    TEST_ASSERT_EQUAL_STRING("test.trace", ordeal_last_error(o)->file);
    ordeal_trace_free(t);
    t = NULL;
}

static char picture[8192];
static size_t drawn;

__attribute__((format(printf, 1, 2))) static void draw(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    drawn += (size_t)vsnprintf(picture + drawn, sizeof picture - drawn, format, args);
    va_end(args);
    TEST_ASSERT_TRUE(drawn < sizeof picture);
}

static const char *name_of(uint32_t loc)
{
    static char name[300];
    execution_location_name(x, loc, name, sizeof name);
    return name;
}

static void draw_group(uint32_t g)
{
    bool tx = x->group_flags[g] & GROUP_TX;
    bool parted = g > 1 && x->instruction[g - 1] == x->instruction[g];
    draw("%s%c", parted ? "~" : " ", tx ? '{' : '(');
    for (uint32_t e = x->group_first[g]; e < x->group_first[g + 1]; e++)
        draw("%s%c %s %llu", e > x->group_first[g] ? ", " : "", x->is_store[e] ? 'S' : 'L',
             name_of(x->loc[e]), (unsigned long long)x->value[e]);
    draw("%c", tx ? '}' : ')');
}

static const char *describe(void)
{
    drawn = 0;
    draw("%s", "");
    for (uint32_t l = 0; l < x->locations; l++)
        draw("%s%s=%llu", l ? " " : "", name_of(l), (unsigned long long)x->value[l]);
    uint32_t b = 0;
    for (uint32_t i = 0; i < x->threads; i++) {
        draw("; P%u:", t->threads.data[i]);
        for (uint32_t g = x->thread_first[i]; g <= x->thread_first[i + 1]; g++) {
            for (; b < x->barriers && x->barrier[b].group == g
                 && t->ops.data[x->barrier[b].op].thread == i; b++)
                draw(" |%u|", x->barrier[b].mask);
            if (g < x->thread_first[i + 1])
                draw_group(g);
        }
    }
    TEST_ASSERT_EQUAL_UINT32(x->barriers, b);
    return picture;
}

/* ---- what an execution always is ----------------------------------------------------- */

static void check_shape(void)
{
    TEST_ASSERT_EQUAL_UINT32(0, x->group_first[0]);
    TEST_ASSERT_EQUAL_UINT32(x->locations, x->group_first[1]);
    TEST_ASSERT_EQUAL_UINT32(x->events, x->group_first[x->groups]);
    TEST_ASSERT_EQUAL_UINT32(1, x->thread_first[0]);
    TEST_ASSERT_EQUAL_UINT32(x->groups, x->thread_first[x->threads]);
    TEST_ASSERT_EQUAL_UINT32(NONE, x->thread_of[0]);
    for (uint32_t e = 0; e < x->locations; e++) {
        TEST_ASSERT_TRUE(x->is_store[e] && x->loc[e] == e && x->op[e] == NONE && x->group[e] == 0);
        TEST_ASSERT_TRUE(is_initial(x, e));
    }
    for (uint32_t i = 0; i < x->threads; i++)
        for (uint32_t g = x->thread_first[i]; g < x->thread_first[i + 1]; g++) {
            uint8_t flags = x->group_flags[g] & GROUP_TX;
            TEST_ASSERT_EQUAL_UINT32(i, x->thread_of[g]);
            TEST_ASSERT_TRUE(x->group_first[g] < x->group_first[g + 1]);
            for (uint32_t e = x->group_first[g]; e < x->group_first[g + 1]; e++) {
                flags |= x->is_store[e] ? GROUP_STORES : GROUP_LOADS;
                TEST_ASSERT_EQUAL_UINT32(g, x->group[e]);
                TEST_ASSERT_EQUAL_UINT32(i, t->ops.data[x->op[e]].thread);
            }
            TEST_ASSERT_EQUAL_UINT8(flags, x->group_flags[g]);
        }
    for (uint32_t b = 1; b < x->barriers; b++)
        TEST_ASSERT_TRUE(x->barrier[b - 1].group <= x->barrier[b].group);
    for (uint32_t d = 0; d < x->dependences; d++) {
        const struct dependence *at = &x->dependence[d];
        TEST_ASSERT_TRUE(at->from < at->to && x->thread_of[at->from] == x->thread_of[at->to]);
        TEST_ASSERT_TRUE(d == 0 || x->dependence[d - 1].to <= at->to);
    }
}

static void becomes(const char *lines, const char *expected)
{
    build(lines);
    check_shape();
    TEST_ASSERT_EQUAL_STRING(expected, describe());
    execution_free(x);
    ordeal_trace_free(t);
    x = NULL;
    t = NULL;
}

static void subset_becomes(const char *lines, const char *keep, const char *expected)
{
    build_subset(lines, keep);
    check_shape();
    TEST_ASSERT_EQUAL_STRING(expected, describe());
    execution_free(x);
    ordeal_trace_free(t);
    x = NULL;
    t = NULL;
}

/* The event of the given operation, its n-th. */
static uint32_t event_of(uint32_t op, uint32_t n)
{
    for (uint32_t e = 0; e < x->events; e++)
        if (x->op[e] == op && n-- == 0)
            return e;
    TEST_FAIL_MESSAGE("no such event");
    return NONE;
}

/* ---- operations ---------------------------------------------------------------------- */

static void test_plain_accesses_are_groups_in_thread_order(void)
{
    becomes("init A=7\nP1 L[A]=7\nP0 S[B]#1\nP1 S[A]#2\nP0 MEMBAR.SL\nP0 L[A]=2",
            "A=7 B=0; P1: (L A 7) (S A 2); P0: (S B 1) |4| (L A 2)");
    becomes("", "");
    becomes("P0 MEMBAR", "; P0: |15|");
    becomes("P0 S[A]#1\nP0 MEMBAR\nP1 MEMBAR.LL.SS\nP1 L[A]=1",
            "A=0; P0: (S A 1) |15|; P1: |9| (L A 1)");
    becomes("P0 S[0x80001040]#1\nP0 S[0x1040]#1", "0x1040=0 0x80001040=0; P0: (S 0x80001040 1) "
            "(S 0x1040 1)");
}

static void test_swap_and_cas(void)
{
    becomes("P0 SWAP[A]=0#1\nP0 CAS[A]=1?1#2\nP0 CAS[A]=2?1#3\nP0 CAS[A/8]=2?2#5",
            "A=0 A+4=0; P0: (L A 0, S A 1) (L A 1, S A 2) (L A 2) "
            "(L A 2, L A+4 0, S A 5, S A+4 0)");
    build("P0 CAS[A]=2?1#3");
    TEST_ASSERT_EQUAL_UINT8(GROUP_LOADS, x->group_flags[1]);
}

/* The function is of the whole access, and its words are cut from the result. */
static void test_amos(void)
{
    becomes("P0 AMOADD[A]=1#5\nP1 AMOMIN[A]=6#0xffffffff\nP1 AMOMINU[A]=1#0xffffffff",
            "A=0; P0: (L A 1, S A 6); P1: (L A 6, S A 4294967295) (L A 1, S A 1)");
    becomes("P0 AMOADD[A/8]=0xffffffff#1\nP0 S[A]#1",
            "A=0 A+4=0; P0: (L A 4294967295, L A+4 0, S A 0, S A+4 1) (S A 1)");
    becomes("P0 AMOMAX[A/2]=0x80ff#1\nP0 AMOMAXU[A/2]=0x80ff#1\nP0 L[A/1]=0",
            "A=0 A+1=0; P0: (L A 255, L A+1 128, S A 1, S A+1 0) "
            "(L A 255, L A+1 128, S A 255, S A+1 128) (L A 0)");
    becomes("P0 TX.BEGIN\nP0 AMOOR[A]=1#2\nP0 AMOAND[A]=3#6\nP0 AMOXOR[A]=2#7\nP0 TX.END\n"
            "P0 TX.BEGIN\nP0 AMOADD[A]#2\nP0 TX.ABORT",
            "A=0; P0: {L A 1, S A 3, L A 3, S A 2, L A 2, S A 5}");
    refused("P0 AMOADD[A]#1", 2, "the load has no value: this is a test, run it first");
}

static void test_wide_cas_compares_all_its_bytes(void)
{
    becomes("P0 CAS[A/16]=0x1000000000000000002?0x1000000000000000002#3",
            "A=0 A+8=0; P0: (L A 2, L A+8 256, S A 3, S A+8 0)");
    becomes("P0 CAS[A/16]=0x1000000000000000002?0x2000000000000000002#3",
            "A=0 A+8=0; P0: (L A 2, L A+8 256)");
}

static void test_hints_have_no_effect(void)
{
    becomes("P0 PREFETCH[A]\nP0 S[B]#1\nP0 FLUSH[C]\nP0 EVICT[B]", "B=0; P0: (S B 1)");
    becomes("seed 3\nplace B=0x40 C=0x80\nuncached B\nfault C\nP0 DELAY#20\nP0 S[B]#1\nP0 IPI#1",
            "B=0; P0: (S B 1)");
    becomes("P0 TX.BEGIN#3\nP0 S[B]#1\nP0 TX.END", "B=0; P0: {S B 1}");
}

static void test_a_load_without_value_is_refused(void)
{
    const char *reason = "the load has no value: this is a test, run it first";
    refused("P0 S[A]#1\nP0 L[A]", 3, reason);
    refused("P0 SWAP[A]#1", 2, reason);
    becomes("P0 TX.BEGIN\nP0 L[A]\nP0 TX.ABORT", "; P0:");
}

static void test_a_non_faulting_load_is_a_load(void)
{
    becomes("P0 S[A]#1\nP0 NFL[A]=1\nP0 NFL[Z]=0\nfault Z",
            "A=0 Z=0; P0: (S A 1) (L A 1) (L Z 0)");
}

static void test_what_was_not_run_is_refused(void)
{
    static const char reason[] = "this is a test, run it first";
    char text[128];
    static const char *const kinds[] = { "LOOP.BEGIN#2", "LOOP.END", "BRANCH.BEGIN", "BRANCH.ELSE",
                                         "BRANCH.END" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        snprintf(text, sizeof text, "P0 S[A]#1\nP0 %s", kinds[i]);
        int length = (int)strcspn(kinds[i], "#");
        char said[128];
        snprintf(said, sizeof said, "%.*s: %s", length, kinds[i], reason);
        refused(text, 3, said);
    }
    refused("P0 S[A]#1\nP0 S[A]#2+3", 3,
            "it writes another value each time round: this is a test, run it first");
    refused("P0 L[A]=0 >r1\nP0 CAS[A]?r1#2", 3,
            "the load has no value: this is a test, run it first");
    becomes("P0 TX.BEGIN\nP0 L[A] >r1\nP0 CAS[A]?r1#2\nP0 TX.ABORT", "; P0:");
}

static void test_a_program_s_trace_names_the_operation(void)
{
    uint32_t thread;
    t = ordeal_trace_new(o);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, 0, &thread));
    struct ordeal_op load = { .kind = ORDEAL_LOAD, .size_log2 = 2, .thread = thread };
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &load, 0));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, execution_build(t, &x));
    TEST_ASSERT_EQUAL_STRING("operation 1: the load has no value: this is a test, run it first",
                             ordeal_last_error(o)->reason);
}

/* ---- transactions -------------------------------------------------------------------- */

static void test_a_transaction_is_one_group(void)
{
    becomes("P0 S[A]#1\nP0 TX.BEGIN\nP0 L[A]=1\nP1 L[A]=0\nP0 MEMBAR\nP0 S[A]#2\nP0 SWAP[B]=0#3\n"
            "P0 TX.END\nP0 L[B]=3",
            "A=0 B=0; P0: (S A 1) {L A 1, S A 2, L B 0, S B 3} (L B 3); P1: (L A 0)");
}

static void test_nested_transactions_are_one(void)
{
    becomes("P0 TX.BEGIN\nP0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\nP0 S[B]#1\nP0 TX.BEGIN\nP0 TX.END\n"
            "P0 TX.END\nP0 S[C]#1",
            "A=0 B=0 C=0; P0: {S A 1, S B 1} (S C 1)");
}

static void test_aborted_transactions_vanish(void)
{
    becomes("P0 S[A]#1\nP0 TX.BEGIN\nP0 S[B]#1\nP0 TX.ABORT\nP0 S[A]#2",
            "A=0; P0: (S A 1) (S A 2)");
    becomes("P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.BEGIN\nP0 S[B]#1\nP0 TX.ABORT\nP0 S[C]#1\nP0 TX.END",
            "A=0 C=0; P0: {S A 1, S C 1}");
    becomes("P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.BEGIN\nP0 S[B]#1\nP0 TX.END\nP0 TX.ABORT\nP0 S[C]#1",
            "C=0; P0: (S C 1)");
    /* An access of an aborted transaction does not divide a word. */
    becomes("atomic 8\nP0 S[A/8]#1\nP0 TX.BEGIN\nP0 S[A/1]#1\nP0 TX.ABORT", "A=0; P0: (S A 1)");
}

static void test_an_empty_transaction_is_a_barrier(void)
{
    becomes("P0 S[A]#1\nP0 TX.BEGIN\nP0 TX.END\nP0 L[A]=1", "A=0; P0: (S A 1) |15| (L A 1)");
    becomes("P0 S[A]#1\nP0 TX.BEGIN\nP0 TX.BEGIN\nP0 S[B]#1\nP0 TX.ABORT\nP0 PREFETCH[A]\n"
            "P0 TX.END", "A=0; P0: (S A 1) |15|");
    becomes("P0 S[A]#1\nP0 TX.BEGIN\nP0 TX.ABORT\nP0 L[A]=1", "A=0; P0: (S A 1) (L A 1)");
}

static void test_brackets_must_match(void)
{
    const char *never = "the transaction begun here never ends";
    refused("P0 S[A]#1\nP0 TX.BEGIN\nP1 TX.BEGIN\nP1 TX.END\nP0 S[A]#2", 3, never);
    refused("P0 TX.BEGIN\nP0 TX.BEGIN\nP0 TX.END", 2, never);
    refused("P0 TX.BEGIN\nP0 TX.BEGIN", 2, never);
    refused("P0 S[A]#1\nP0 TX.END", 3, "a transaction ends that has not begun");
    refused("P0 TX.BEGIN\nP0 TX.ABORT\nP0 TX.ABORT", 4, "a transaction ends that has not begun");
    refused("P0 TX.BEGIN\nP1 TX.END", 3, "a transaction ends that has not begun");
}

/* ---- words --------------------------------------------------------------------------- */

static void test_words_are_as_coarse_as_the_accesses_allow(void)
{
    becomes("atomic 8\nP0 S[A/8]#0x200000001", "A=0; P0: (S A 8589934593)");
    becomes("atomic 8\nP0 S[A/8]#0x200000001\nP0 L[A+4]=2",
            "A=0 A+4=0; P0: (S A 1, S A+4 2) (L A+4 2)");
    becomes("P0 S[A]#0x04030201\nP0 L[A+1/1]=2",
            "A=0 A+1=0 A+2=0; P0: (S A 1, S A+1 2, S A+2 1027) (L A+1 2)");
    becomes("P0 S[A/2]#0x0201\nP0 S[A+2/2]#0x0403\nP0 S[B/1]#1",
            "A=0 A+2=0 B=0; P0: (S A 513) (S A+2 1027) (S B 1)");
    becomes("P0 S[0xfffffffffffffff8/8]#1\nP0 S[0xfffffffffffffffc]#2",
            "0xfffffffffffffff8=0 0xfffffffffffffffc=0; P0: (S 0xfffffffffffffff8 1)"
            "~(S 0xfffffffffffffffc 0) (S 0xfffffffffffffffc 2)");
}

static void test_words_hold_at_most_eight_bytes(void)
{
    becomes("atomic 16\nP0 L[A/16]=0x00000000000000050000000000000007",
            "A=0 A+8=0; P0: (L A 7, L A+8 5)");
}

static void test_wide_accesses_are_made_in_atomic_parts(void)
{
    becomes("P0 S[A/8]#0x200000001\nP0 L[A/8]=1",
            "A=0 A+4=0; P0: (S A 1)~(S A+4 2) (L A 1)~(L A+4 0)");
    /* Narrow accesses beside it divide the words, not the parts. */
    becomes("P0 S[A/8]#0x0000000300020001\nP0 L[A/2]=1",
            "A=0 A+2=0 A+4=0; P0: (S A 1, S A+2 2)~(S A+4 3) (L A 1)");
    becomes("P0 SWAP[A/8]=0#0x200000001", "A=0; P0: (L A 0, S A 8589934593)");
    becomes("P0 TX.BEGIN\nP0 S[A/8]#0x200000001\nP0 TX.END", "A=0; P0: {S A 8589934593}");
    becomes("atomic 1\nP0 S[A/2]#0x0201", "A=0 A+1=0; P0: (S A 1)~(S A+1 2)");
    build("P0 S[A/8]#1\nP0 L[A/8]=1");
    TEST_ASSERT_EQUAL_UINT32(x->instruction[1], x->instruction[2]);
    TEST_ASSERT_NOT_EQUAL_UINT32(x->instruction[2], x->instruction[3]);
    TEST_ASSERT_FALSE(program_order(x, event_of(0, 0), event_of(0, 1)));
    TEST_ASSERT_TRUE(program_order(x, event_of(0, 1), event_of(1, 0)));
}

static void test_initial_values_fit_any_division(void)
{
    becomes("init A/8=0x0807060504030201\nP0 L[A/2]=0\nP0 L[A+4]=0",
            "A=513 A+4=134678021; P0: (L A 0) (L A+4 0)");
    becomes("atomic 8\ninit A+4=2 A=1 B=3\nP0 L[A/8]=0", "A=8589934593; P0: (L A 0)");
    becomes("init A/8=0x200000001\nP0 L[A+4]=2\nP0 L[A+12]=0",
            "A+4=2 A+12=0; P0: (L A+4 2) (L A+12 0)");
    becomes("init A=1 A/1=1\nP0 L[A]=1", "A=1; P0: (L A 1)");
    refused("init A=1\ninit A=2\nP0 L[A]=1", 3,
            "the initial value was given before, and was another");
}

/* ---- candidates ---------------------------------------------------------------------- */

static void candidates_are(uint32_t load, uint32_t count, const uint32_t *stores)
{
    TEST_ASSERT_FALSE(x->is_store[load]);
    TEST_ASSERT_EQUAL_UINT32(count, x->candidate_first[load + 1] - x->candidate_first[load]);
    if (count)
        TEST_ASSERT_EQUAL_UINT32_ARRAY(stores, x->candidate + x->candidate_first[load], count);
}

static void test_unique_candidates(void)
{
    build("init A=0 B=5\nP0 S[A]#5\nP0 L[B]=5\nP1 L[A]=5\nP1 L[A]=0");
    candidates_are(event_of(1, 0), 1, (uint32_t[]){ 1 });
    candidates_are(event_of(2, 0), 1, (uint32_t[]){ event_of(0, 0) });
    candidates_are(event_of(3, 0), 1, (uint32_t[]){ 0 });
    TEST_ASSERT_EQUAL_UINT32(event_of(0, 0), source_of(x, event_of(2, 0)));
    TEST_ASSERT_TRUE(x->unique);
    TEST_ASSERT_EQUAL_UINT32(NONE, x->duplicate[0]);
    TEST_ASSERT_EQUAL_UINT32(NONE, x->duplicate[1]);
    TEST_ASSERT_EQUAL_UINT32(NONE, x->unwritten);
    TEST_ASSERT_EQUAL_UINT32(3, x->candidates);
}

static void test_several_candidates(void)
{
    build("P0 S[A]#0\nP0 S[A]#1\nP1 S[A]#1\nP1 S[A]#0\nP1 S[B]#1\nP2 L[A]=0\nP2 L[A]=1");
    uint32_t zero = event_of(5, 0), one = event_of(6, 0);
    candidates_are(zero, 3, (uint32_t[]){ 0, event_of(0, 0), event_of(3, 0) });
    candidates_are(one, 2, (uint32_t[]){ event_of(1, 0), event_of(2, 0) });
    TEST_ASSERT_FALSE(x->unique);
    TEST_ASSERT_EQUAL_UINT32(NONE, source_of(x, zero));
    TEST_ASSERT_EQUAL_UINT32(x->loc[x->duplicate[0]], x->loc[x->duplicate[1]]);
    TEST_ASSERT_EQUAL_UINT64(x->value[x->duplicate[0]], x->value[x->duplicate[1]]);
    TEST_ASSERT_TRUE(x->duplicate[0] != x->duplicate[1]);
}

static void test_duplicates_nobody_loads_leave_it_unique(void)
{
    build("P0 S[A]#1\nP1 S[A]#1\nP1 L[A]=0");
    TEST_ASSERT_TRUE(x->unique);
    TEST_ASSERT_EQUAL_UINT32(event_of(0, 0), x->duplicate[0]);
    TEST_ASSERT_EQUAL_UINT32(event_of(1, 0), x->duplicate[1]);
}

static void test_an_unwritten_value_is_named(void)
{
    build("P0 S[A]#1\nP0 L[A]=1\nP1 L[A]=2\nP1 L[B]=1");
    TEST_ASSERT_EQUAL_UINT32(event_of(2, 0), x->unwritten);
    candidates_are(event_of(2, 0), 0, NULL);
    TEST_ASSERT_TRUE(x->unique);
}

static void test_too_many_candidates_are_a_limit(void)
{
    uint32_t thread;
    t = ordeal_trace_new(o);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, 0, &thread));
    for (int i = 0; i < 2 * 46400; i++) { /* 46400 squared is just above 2^31 */
        struct ordeal_op op = { .kind = i % 2 ? ORDEAL_LOAD : ORDEAL_STORE, .size_log2 = 2,
                                .thread = thread, .flags = ORDEAL_HAS_VALUE, .read = 1,
                                .write = 1 };
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &op, 0));
    }
    TEST_ASSERT_EQUAL(ORDEAL_LIMIT, execution_build(t, &x));
    TEST_ASSERT_EQUAL_STRING("store values repeat too often: the loads together have 2152960000 "
                             "stores they may have seen", ordeal_last_error(o)->reason);
}

/* ---- dependences and cycles ---------------------------------------------------------- */

struct pair {
    uint32_t from, to;
};

static void dependences_are(uint32_t count, const struct pair *expected)
{
    TEST_ASSERT_EQUAL_UINT32(count, x->dependences);
    for (uint32_t i = 0; i < count; i++) {
        TEST_ASSERT_EQUAL_UINT32(expected[i].from, x->dependence[i].from);
        TEST_ASSERT_EQUAL_UINT32(expected[i].to, x->dependence[i].to);
    }
}

static void test_dependences_follow_registers(void)
{
    /* Groups 1 to 4 are P0's, 5 is P1's: registers are a thread's own. */
    build("P0 L[A]=0 >r1\nP1 S[B]#9 <r1\nP0 L[B]=0 >r1 >r2\nP0 L[A]=0 <r1 >r1\n"
          "P0 S[A]#1 <r1 <r2 <r3");
    check_shape();
    dependences_are(3, (struct pair[]){ { 2, 3 }, { 3, 4 }, { 2, 4 } });
}

static void test_dependences_of_parts_and_transactions(void)
{
    build("P0 L[A/8]=0 >r1\nP0 S[B/8]#0 <r1");
    dependences_are(4, (struct pair[]){ { 1, 3 }, { 2, 3 }, { 1, 4 }, { 2, 4 } });
    execution_free(x);
    ordeal_trace_free(t);
    build("P0 L[A]=0 >r1\nP0 TX.BEGIN\nP0 L[A]=0 >r1\nP0 TX.ABORT\nP0 TX.BEGIN\nP0 L[B]=0 <r1 >r2\n"
          "P0 S[B]#1 <r2\nP0 TX.END\nP0 S[A]#2 <r2");
    check_shape();
    dependences_are(2, (struct pair[]){ { 1, 2 }, { 2, 3 } });
}

static void times_are(uint32_t g, uint64_t begin, uint64_t end)
{
    TEST_ASSERT_EQUAL_UINT64(begin, x->begin[g]);
    TEST_ASSERT_EQUAL_UINT64(end, x->end[g]);
}

static void test_cycles(void)
{
    build("P0 L[A]=0");
    TEST_ASSERT_NULL(x->begin);
    TEST_ASSERT_NULL(x->end);
    execution_free(x);
    ordeal_trace_free(t);
    build("P0 L[A]=0 @5:9\nP1 L[A]=0 @3:4\nP0 L[A]=0\nP0 S[A]#1 @7:\nP0 L[A]=1 @:8\n"
          "P1 L[A/8]=0 @6:7");
    times_are(0, 0, UINT64_MAX);
    times_are(1, 5, 9);
    times_are(2, 0, UINT64_MAX);
    times_are(3, 7, UINT64_MAX);
    times_are(4, 0, 8);
    times_are(5, 3, 4);
    times_are(6, 6, 7);
    times_are(7, 6, 7);
}

static void test_cycles_of_transactions(void)
{
    build("P0 TX.BEGIN\nP0 L[A]=0 @5:9\nP0 L[B]=0 @4:6\nP0 TX.END\n"
          "P1 TX.BEGIN\nP1 L[A]=0 @5:9\nP1 L[B]=0\nP1 TX.END\n"
          "P2 TX.BEGIN @2:3\nP2 L[A]=0 @5:9\nP2 L[B]=0\nP2 TX.END @11:12\n"
          "P3 TX.BEGIN @2:3\nP3 TX.END @11:12");
    times_are(1, 4, 9);
    times_are(2, 0, UINT64_MAX);
    times_are(3, 2, 12);
    TEST_ASSERT_EQUAL_UINT32(4, x->groups);
    TEST_ASSERT_EQUAL_UINT32(1, x->barriers);
}

/* ---- orders and finals --------------------------------------------------------------- */

static void test_orders_name_stores(void)
{
    build("order A 0 1 5 3\norder B 2\norder C\nP0 S[A]#1\nP0 S[A]#3\nP1 S[A]#5\nP1 S[B]#2\n"
          "P1 S[B]#4\nP1 S[D]#1\nP1 L[C]=0");
    TEST_ASSERT_EQUAL_UINT32(3, x->orders);
    TEST_ASSERT_EQUAL_UINT32_ARRAY(((uint32_t[]){ 0, 3, 4, 4 }), x->order_first, 4);
    TEST_ASSERT_EQUAL_UINT32_ARRAY(((uint32_t[]){ event_of(0, 0), event_of(2, 0), event_of(1, 0),
                                                  event_of(3, 0) }), x->order, 4);
    TEST_ASSERT_TRUE(x->order_complete[x->loc[event_of(0, 0)]]);
    TEST_ASSERT_FALSE(x->order_complete[x->loc[event_of(3, 0)]]);
    TEST_ASSERT_TRUE(x->order_complete[x->loc[event_of(5, 0)]]);
    TEST_ASSERT_TRUE(x->order_complete[x->loc[event_of(6, 0)]]);
}

static void test_two_partial_orders_are_not_complete(void)
{
    build("order A 1 2\norder A 3 2\nP0 S[A]#1\nP0 S[A]#2\nP1 S[A]#3");
    TEST_ASSERT_FALSE(x->order_complete[0]);
    TEST_ASSERT_EQUAL_UINT32(4, x->order_stores);
}

static void test_orders_that_make_no_sense(void)
{
    refused("P0 S[A]#1\norder A 1 2", 3, "order of A: 2 is stored by nobody");
    refused("order A 1\nP0 L[B]=0", 2, "order of A: 1 is stored by nobody");
    refused("order A 1 2 1\nP0 S[A]#1\nP0 S[A]#2", 2, "order of A: 1 is listed twice");
    refused("order A 1\nP0 S[A]#1\nP1 S[A]#1", 2,
            "order of A: 1 has several stores, an order by value cannot tell them apart");
    refused("order A 1 0\nP0 S[A]#1", 2, "order of A: 0 is the initial value and comes first");
    refused("order A/8 1\nP0 S[A/8]#1", 2,
            "order of A/8: it is not one word, the accesses divide it into A, A+4");
    refused("order A/8 1\nP0 S[A+4/1]#1", 2,
            "order of A/8: it is not one word, the accesses divide it into A+4/1");
}

static void test_an_order_divides_wider_accesses(void)
{
    build("atomic 8\norder A+4 2\nP0 S[A/8]#0x200000001");
    TEST_ASSERT_EQUAL_STRING("A=0 A+4=0; P0: (S A 1, S A+4 2)", describe());
    TEST_ASSERT_EQUAL_UINT32(event_of(0, 1), x->order[0]);
    TEST_ASSERT_TRUE(x->order_complete[1]);
}

static void final_is(uint32_t k, uint32_t source, uint32_t loc, uint32_t count,
                     const uint32_t *stores)
{
    TEST_ASSERT_EQUAL_UINT32(source, x->final[k].source);
    TEST_ASSERT_EQUAL_UINT32(loc, x->final[k].loc);
    TEST_ASSERT_EQUAL_UINT32(count, x->final[k].count);
    if (count)
        TEST_ASSERT_EQUAL_UINT32_ARRAY(stores, x->final_store + x->final[k].first, count);
}

static void test_final_values(void)
{
    build("final A=1\nfinal B=0\nfinal C/8=0x200000000\nP0 S[A]#1\nP1 S[A]#2\nP1 S[A]#1\n"
          "P1 S[C+4]#2");
    TEST_ASSERT_EQUAL_UINT32(4, x->finals);
    TEST_ASSERT_EQUAL_UINT32(NONE, x->unwritten_final);
    final_is(0, 0, 0, 2, (uint32_t[]){ event_of(0, 0), event_of(2, 0) });
    final_is(1, 1, 1, 1, (uint32_t[]){ 1 });
    final_is(2, 2, 2, 1, (uint32_t[]){ 2 });
    final_is(3, 2, 3, 1, (uint32_t[]){ event_of(3, 0) });
}

static void test_an_unwritten_final_is_named(void)
{
    build("final A=1\nfinal A=3\nP0 S[A]#1");
    TEST_ASSERT_EQUAL_UINT32(1, x->unwritten_final);
    final_is(1, 1, 0, 0, NULL);
}

/* ---- subsets ------------------------------------------------------------------------- */

static void test_a_subset_is_as_if_the_rest_were_absent(void)
{
    const char *lines = "init A=7 B=8\norder A 1 3\nP0 S[A]#1\nP0 MEMBAR\nP1 S[B]#2\nP0 S[A]#3\n"
                        "P1 L[A]=3";
    subset_becomes(lines, "11111", "A=7 B=8; P0: (S A 1) |15| (S A 3); P1: (S B 2) (L A 3)");
    subset_becomes(lines, "10010", "A=7; P0: (S A 1) (S A 3); P1:");
    subset_becomes(lines, "00101", "A=7 B=8; P0:; P1: (S B 2) (L A 3)");
    subset_becomes(lines, "00000", "; P0:; P1:");
    build_subset(lines, "00011");
    TEST_ASSERT_EQUAL_UINT32(3, x->op[event_of(3, 0)]);
    TEST_ASSERT_EQUAL_UINT32(1, x->order_stores);
    TEST_ASSERT_EQUAL_UINT32(event_of(3, 0), x->order[0]);
    TEST_ASSERT_TRUE(x->order_complete[0]);
}

static void test_brackets_stay_with_what_they_enclose(void)
{
    const char *lines = "P0 TX.BEGIN\nP0 S[A]#1\nP0 S[B]#1\nP0 TX.END\nP0 TX.BEGIN\nP0 S[C]#1\n"
                        "P0 TX.ABORT";
    subset_becomes(lines, "0110010", "A=0 B=0; P0: {S A 1, S B 1}");
    subset_becomes(lines, "0010000", "B=0; P0: {S B 1}");
    subset_becomes(lines, "0000000", "; P0:");
    subset_becomes(lines, "0001000", "; P0: |15|");
}

static void test_a_subset_divides_only_what_it_touches(void)
{
    const char *lines = "atomic 8\norder A+4 2\nP0 S[A/8]#0x200000001\nP0 S[B/8]#1\nP0 L[B/1]=1";
    subset_becomes(lines, "110", "A=0 A+4=0 B=0; P0: (S A 1, S A+4 2) (S B 1)");
    subset_becomes("order A 1\nP0 S[A]#1\nP1 S[B]#1", "01", "B=0; P0:; P1: (S B 1)");
}

static void test_a_subset_forgets_finals_of_what_is_gone(void)
{
    build_subset("final A=1 B=2 C=0\nP0 S[A]#1\nP0 S[B]#2\nP0 L[A]=0", "010");
    TEST_ASSERT_EQUAL_UINT32(1, x->finals);
    final_is(0, 1, 0, 1, (uint32_t[]){ event_of(1, 0) });
    TEST_ASSERT_EQUAL_UINT32(NONE, x->unwritten_final);
}

static void test_a_subset_asks_for_the_finals_of_what_it_touches(void)
{
    build_subset("final A=1 B=2 C=0\nP0 S[A]#1\nP0 S[B]#2\nP0 L[A]=0", "011");
    TEST_ASSERT_EQUAL_UINT32(2, x->finals);
    TEST_ASSERT_EQUAL_UINT32(0, x->unwritten_final);
}

/* ---- random traces against a slow and simple account --------------------------------- */

static uint64_t random_state;

static uint32_t below(uint32_t bound)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % bound;
}

enum { MEMORY = 32 };

static struct ordeal_op random_access(uint32_t thread)
{
    static const uint8_t kinds[] = { ORDEAL_LOAD, ORDEAL_STORE, ORDEAL_SWAP, ORDEAL_LOAD };
    uint8_t size_log2 = (uint8_t)below(4);
    struct ordeal_op op = { .kind = kinds[below(4)], .size_log2 = size_log2, .thread = thread,
                            .flags = ORDEAL_HAS_VALUE,
                            .address = below(MEMORY >> size_log2) << size_log2 };
    for (unsigned i = 0; i < 1u << size_log2; i++) {
        op.read |= (uint64_t)below(3) << 8 * i;
        op.write |= (uint64_t)below(3) << 8 * i;
    }
    return op;
}

static void random_trace(uint32_t ops)
{
    static const uint32_t atomics[] = { 1, 2, 4, 8 };
    uint32_t thread, threads = 1 + below(3);
    t = ordeal_trace_new(o);
    for (uint32_t i = 0; i < threads; i++)
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, i, &thread));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_atomic(t, atomics[below(4)]));
    while (ops-- > 0) {
        struct ordeal_op op = random_access(below(threads));
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &op, 0));
    }
}

static bool in_parts(const struct ordeal_op *op)
{
    return 1u << op->size_log2 > t->atomic && op->kind != ORDEAL_SWAP;
}

/* No access of the kept operations cuts the block, and it is not wider than what is atomic. */
static bool whole(const bool *keep, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < t->ops.count; i++) {
        const struct ordeal_op *op = &t->ops.data[i];
        uint64_t end = op->address + (1u << op->size_log2);
        if (!keep[i] || end <= address || op->address >= address + size)
            continue;
        if (op->address > address || end < address + size || (in_parts(op) && size > t->atomic))
            return false;
    }
    return true;
}

static bool touched(const bool *keep, uint64_t byte)
{
    for (size_t i = 0; i < t->ops.count; i++)
        if (keep[i] && byte >= t->ops.data[i].address
            && byte - t->ops.data[i].address < 1u << t->ops.data[i].size_log2)
            return true;
    return false;
}

static void check_words(const bool *keep)
{
    uint32_t l = 0;
    for (uint64_t byte = 0; byte < MEMORY;) {
        uint64_t size = 8;
        if (!touched(keep, byte)) {
            byte++;
            continue;
        }
        while (byte % size || !whole(keep, byte, size))
            size /= 2;
        TEST_ASSERT_TRUE(l < x->locations);
        TEST_ASSERT_EQUAL_UINT64(byte, x->location[l].address);
        TEST_ASSERT_EQUAL_UINT64(size, 1u << x->location[l].size_log2);
        byte += size;
        l++;
    }
    TEST_ASSERT_EQUAL_UINT32(l, x->locations);
}

/* The bytes of each operation, gathered from its events, are those it read and wrote. */
static void check_values(const bool *keep)
{
    for (uint32_t i = 0; i < t->ops.count; i++) {
        const struct ordeal_op *op = &t->ops.data[i];
        uint64_t read = 0, write = 0, bytes = 0;
        for (uint32_t e = 0; e < x->events; e++)
            if (x->op[e] == i) {
                const struct location *l = &x->location[x->loc[e]];
                uint64_t shifted = x->value[e] << 8 * (l->address - op->address);
                *(x->is_store[e] ? &write : &read) |= shifted;
                bytes += UINT64_C(1) << l->size_log2;
            }
        TEST_ASSERT_EQUAL_HEX64(keep[i] ? op->read : 0, read);
        TEST_ASSERT_EQUAL_HEX64(keep[i] ? op->write : 0, write);
        uint64_t size = UINT64_C(1) << op->size_log2 << (op->kind == ORDEAL_SWAP);
        TEST_ASSERT_EQUAL_UINT64(keep[i] ? size : 0, bytes);
    }
}

static void check_candidates(void)
{
    bool unique = true, duplicate = false;
    uint32_t unwritten = NONE;
    for (uint32_t e = 0; e < x->events; e++) {
        uint32_t c = x->candidate_first[e], count = 0;
        for (uint32_t s = 0; s < x->events; s++) {
            bool same = x->is_store[s] && x->loc[s] == x->loc[e] && x->value[s] == x->value[e];
            duplicate |= same && x->is_store[e] && s != e;
            if (same && !x->is_store[e]) {
                TEST_ASSERT_EQUAL_UINT32(s, x->candidate[c + count]);
                count++;
            }
        }
        TEST_ASSERT_EQUAL_UINT32(c + count, x->candidate_first[e + 1]);
        unique &= count <= 1;
        if (!x->is_store[e] && !count && unwritten == NONE)
            unwritten = e;
    }
    TEST_ASSERT_EQUAL(unique, x->unique);
    TEST_ASSERT_EQUAL(duplicate, x->duplicate[0] != NONE);
    TEST_ASSERT_EQUAL_UINT32(unwritten, x->unwritten);
    TEST_ASSERT_EQUAL_UINT32(x->candidates, x->candidate_first[x->events]);
}

/* An access is one group, or one for each part of `atomic` bytes. */
static void check_groups(const bool *keep)
{
    uint32_t expected = 1;
    for (uint32_t i = 0; i < t->ops.count; i++) {
        const struct ordeal_op *op = &t->ops.data[i];
        if (keep[i])
            expected += in_parts(op) ? (1u << op->size_log2) / t->atomic : 1;
    }
    TEST_ASSERT_EQUAL_UINT32(expected, x->groups);
    for (uint32_t e = x->locations; e + 1 < x->events; e++) {
        const struct ordeal_op *op = &t->ops.data[x->op[e]];
        uint64_t part = x->location[x->loc[e]].address / t->atomic;
        uint64_t next = x->location[x->loc[e + 1]].address / t->atomic;
        if (x->op[e] == x->op[e + 1])
            TEST_ASSERT_EQUAL(!in_parts(op) || part == next, x->group[e] == x->group[e + 1]);
        else
            TEST_ASSERT_NOT_EQUAL_UINT32(x->group[e], x->group[e + 1]);
        TEST_ASSERT_EQUAL(x->op[e] == x->op[e + 1],
                          x->instruction[x->group[e]] == x->instruction[x->group[e + 1]]);
    }
}

static void test_random_traces(void)
{
    for (uint32_t round = 0; round < 2000; round++) {
        bool keep[64];
        random_state = round;
        random_trace(1 + below(40));
        bool all = below(2);
        for (size_t i = 0; i < t->ops.count; i++)
            keep[i] = all || below(3);
        TEST_ASSERT_EQUAL(ORDEAL_OK,
                          all ? execution_build(t, &x) : execution_build_subset(t, keep, NULL, &x));
        check_shape();
        check_words(keep);
        check_values(keep);
        check_candidates();
        check_groups(keep);
        execution_free(x);
        ordeal_trace_free(t);
        x = NULL;
        t = NULL;
    }
}

/* Long enough that the search for candidates goes range by range. */
static void test_candidates_of_a_long_trace(void)
{
    enum { OPS = 100000, WORDS = 8, VALUES = 20000 };
    uint32_t thread;
    uint32_t *stored = calloc(WORDS * VALUES, sizeof *stored);
    t = ordeal_trace_new(o);
    random_state = 1;
    for (uint32_t i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, i, &thread));
    for (uint32_t i = 0; i < OPS; i++) {
        uint32_t value = below(VALUES), word = below(WORDS);
        struct ordeal_op op = { .kind = below(3) ? ORDEAL_STORE : ORDEAL_LOAD, .size_log2 = 2,
                                .thread = below(3), .flags = ORDEAL_HAS_VALUE, .read = value,
                                .write = value, .address = 4 * word };
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &op, 0));
    }
    TEST_ASSERT_EQUAL(ORDEAL_OK, execution_build(t, &x));
    check_shape();
    for (uint32_t e = 0; e < x->events; e++)
        stored[x->loc[e] * VALUES + x->value[e]] += x->is_store[e];
    uint32_t unwritten = NONE;
    for (uint32_t e = 0; e < x->events; e++) {
        uint32_t first = x->candidate_first[e], end = x->candidate_first[e + 1];
        uint32_t expected = x->is_store[e] ? 0 : stored[x->loc[e] * VALUES + x->value[e]];
        TEST_ASSERT_EQUAL_UINT32(expected, end - first);
        for (uint32_t c = first; c < end; c++) {
            uint32_t s = x->candidate[c];
            TEST_ASSERT_TRUE(x->is_store[s]);
            TEST_ASSERT_TRUE(x->loc[s] == x->loc[e] && x->value[s] == x->value[e]);
            TEST_ASSERT_TRUE(c == first || x->candidate[c - 1] < s);
        }
        if (!x->is_store[e] && first == end && unwritten == NONE)
            unwritten = e;
    }
    TEST_ASSERT_EQUAL_UINT32(unwritten, x->unwritten);
    free(stored);
}

/* ---- memory and limits --------------------------------------------------------------- */

static void test_every_allocation_may_fail(void)
{
    read_trace("init A=7\norder A 1 2\nfinal B=1\nfinal B=1\nP0 L[A/8]=7 >r1 @1:2\nP0 S[A]#1 <r1\n"
               "P1 S[A]#2\nP1 TX.BEGIN\nP1 S[B]#1\nP1 TX.END\nP1 MEMBAR\nP0 S[B]#1\nP0 L[B]=1\n"
               "P0 CAS[C/16]=0?0#1");
    size_t before = accounts.held;
    long failures = 0;
    for (;; failures++) {
        accounts.until_failure = failures;
        enum ordeal_status status = execution_build(t, &x);
        if (status == ORDEAL_OK)
            break;
        TEST_ASSERT_EQUAL(ORDEAL_NO_MEMORY, status);
        TEST_ASSERT_NULL(x);
        TEST_ASSERT_EQUAL_size_t(before, accounts.held);
    }
    accounts.until_failure = -1;
    TEST_ASSERT_TRUE(failures > 30);
}

static bool stop(void *user, const char *phase, double share)
{
    (void)phase, (void)share;
    return ++*(int *)user > 0;
}

static void test_a_limit_ends_the_building(void)
{
    random_state = 1;
    random_trace(20000);
    size_t before = accounts.held;
    int asked = 0;
    ordeal_set_limits(o, &(struct ordeal_limits){ .progress = stop, .user = &asked });
    TEST_ASSERT_EQUAL(ORDEAL_LIMIT, execution_build(t, &x));
    TEST_ASSERT_EQUAL_INT(1, asked);
    ordeal_set_limits(o, &(struct ordeal_limits){ .bytes = before + 100000 });
    TEST_ASSERT_EQUAL(ORDEAL_LIMIT, execution_build(t, &x));
    TEST_ASSERT_EQUAL_size_t(before, accounts.held);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_plain_accesses_are_groups_in_thread_order);
    RUN_TEST(test_swap_and_cas);
    RUN_TEST(test_amos);
    RUN_TEST(test_wide_cas_compares_all_its_bytes);
    RUN_TEST(test_hints_have_no_effect);
    RUN_TEST(test_a_load_without_value_is_refused);
    RUN_TEST(test_a_non_faulting_load_is_a_load);
    RUN_TEST(test_what_was_not_run_is_refused);
    RUN_TEST(test_a_program_s_trace_names_the_operation);
    RUN_TEST(test_a_transaction_is_one_group);
    RUN_TEST(test_nested_transactions_are_one);
    RUN_TEST(test_aborted_transactions_vanish);
    RUN_TEST(test_an_empty_transaction_is_a_barrier);
    RUN_TEST(test_brackets_must_match);
    RUN_TEST(test_words_are_as_coarse_as_the_accesses_allow);
    RUN_TEST(test_words_hold_at_most_eight_bytes);
    RUN_TEST(test_wide_accesses_are_made_in_atomic_parts);
    RUN_TEST(test_initial_values_fit_any_division);
    RUN_TEST(test_unique_candidates);
    RUN_TEST(test_several_candidates);
    RUN_TEST(test_duplicates_nobody_loads_leave_it_unique);
    RUN_TEST(test_an_unwritten_value_is_named);
    RUN_TEST(test_too_many_candidates_are_a_limit);
    RUN_TEST(test_dependences_follow_registers);
    RUN_TEST(test_dependences_of_parts_and_transactions);
    RUN_TEST(test_cycles);
    RUN_TEST(test_cycles_of_transactions);
    RUN_TEST(test_orders_name_stores);
    RUN_TEST(test_two_partial_orders_are_not_complete);
    RUN_TEST(test_orders_that_make_no_sense);
    RUN_TEST(test_an_order_divides_wider_accesses);
    RUN_TEST(test_final_values);
    RUN_TEST(test_an_unwritten_final_is_named);
    RUN_TEST(test_a_subset_is_as_if_the_rest_were_absent);
    RUN_TEST(test_brackets_stay_with_what_they_enclose);
    RUN_TEST(test_a_subset_divides_only_what_it_touches);
    RUN_TEST(test_a_subset_forgets_finals_of_what_is_gone);
    RUN_TEST(test_a_subset_asks_for_the_finals_of_what_it_touches);
    RUN_TEST(test_random_traces);
    RUN_TEST(test_candidates_of_a_long_trace);
    RUN_TEST(test_every_allocation_may_fail);
    RUN_TEST(test_a_limit_ends_the_building);
    return UNITY_END();
}
