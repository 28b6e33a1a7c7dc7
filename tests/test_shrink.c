/* SPDX-License-Identifier: Apache-2.0 */
/* Shrinking with judges that know what they look for: what is left is exactly that, every candidate
 * can be run, and a judge that stops, errs or never agrees gets a good answer all the same. */
#include <stdlib.h>
#include <string.h>

#include "targets/model/model_bugs.h"
#include "checking.h"
#include "test/generate.h"
#include "trial/judge.h"
#include "test/program.h"
#include "base/random.h"
#include "same_trace.h"
#include "trial/shrink.h"
#include "targets/target.h"
#include "unity.h"

static struct ordeal *o;

void setUp(void) { o = ordeal_new(NULL); }
void tearDown(void) { ordeal_free(o); }

/* ---- judges ------------------------------------------------------------------------------ */

typedef bool wanted(const struct ordeal_trace *t);

struct court {
    wanted *wanted;
    unsigned percent;            /* how often a test that is wanted fails; 0: always */
    struct random random;
    uint64_t judged, stop_after; /* 0: never */
};

/* Whatever is asked about must be a test that could be run. */
static bool court_fails(void *user, const struct ordeal_trace *t)
{
    struct court *c = user;
    struct program p;
    struct ordeal_error e;
    c->judged++;
    bool runs = program_compile(&p, t, "candidate", &e);
    if (!runs)
        ordeal_write_text(t, stderr);
    TEST_ASSERT_TRUE_MESSAGE(runs, e.reason);
    program_free(&p);
    return c->wanted(t) && (!c->percent || random_chance(&c->random, c->percent));
}

static bool court_stops(void *user)
{
    const struct court *c = user;
    return c->stop_after && c->judged >= c->stop_after;
}

static struct shrink_report report;
static struct why why;

static struct ordeal_trace *shrink_with(struct court *c, const struct ordeal_trace *test,
                                        const struct shrink_hint *hint)
{
    struct shrink_judge judge = { court_fails, court_stops, c };
    struct ordeal_trace *smaller;
    TEST_ASSERT_TRUE(c->percent || c->wanted(test));
    TEST_ASSERT_EQUAL(ORDEAL_OK, shrink_test(test, hint, o, &judge, &smaller, &report));
    TEST_ASSERT_EQUAL_UINT64(c->judged, report.tried);
    return smaller;
}

static void expect_text(const struct ordeal_trace *t, const char *lines)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_write_text(t, out));
    fclose(out);
    TEST_ASSERT_EQUAL_STRING(lines, text + strlen("ordeal 1\n"));
    free(text);
}

static void shrinks_to(wanted *wanted, const char *lines, const char *small)
{
    struct court c = { .wanted = wanted };
    struct ordeal_trace *test = trace_of_lines(o, lines);
    struct ordeal_trace *smaller = shrink_with(&c, test, NULL);
    expect_text(smaller, small);
    TEST_ASSERT_FALSE(report.stopped);
    ordeal_trace_free(smaller);
    ordeal_trace_free(test);
}

/* ---- what they look for ------------------------------------------------------------------ */

#define EACH(i, t) for (size_t i = 0; i < ordeal_trace_length(t); i++)

static const struct ordeal_op *op_at(const struct ordeal_trace *t, size_t i)
{
    return ordeal_trace_op(t, i);
}

static bool at_one_word(const struct ordeal_op *a, const struct ordeal_op *b)
{
    return a->base == b->base && a->address == b->address;
}

static bool is_kind(const struct ordeal_trace *t, size_t i, int kind)
{
    return op_at(t, i)->kind == kind;
}

/* The next operation of the same thread that is of the kind, from `i` on. */
static size_t next_of(const struct ordeal_trace *t, size_t i, uint32_t thread, int kind)
{
    for (; i < ordeal_trace_length(t); i++)
        if (op_at(t, i)->thread == thread && is_kind(t, i, kind))
            return i;
    return SIZE_MAX;
}

static bool crosses(const struct ordeal_trace *t, size_t store, size_t load)
{
    EACH(i, t)
        if (is_kind(t, i, ORDEAL_STORE) && op_at(t, i)->thread != op_at(t, store)->thread
            && at_one_word(op_at(t, i), op_at(t, load)))
            for (size_t k = i; (k = next_of(t, k, op_at(t, i)->thread, ORDEAL_LOAD)) != SIZE_MAX;
                 k++)
                if (at_one_word(op_at(t, k), op_at(t, store)))
                    return true;
    return false;
}

/* Two threads, each stores to one word and later loads the other's. */
static bool store_buffer(const struct ordeal_trace *t)
{
    EACH(i, t)
        if (is_kind(t, i, ORDEAL_STORE))
            for (size_t k = i; (k = next_of(t, k, op_at(t, i)->thread, ORDEAL_LOAD)) != SIZE_MAX;
                 k++)
                if (!at_one_word(op_at(t, i), op_at(t, k)) && crosses(t, i, k))
                    return true;
    return false;
}

static const char store_buffer_lines[] =
    "P0 S[A]#1\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\n";

static bool anything(const struct ordeal_trace *t) { return ordeal_trace_length(t) > 0; }

static bool stepping_store_in_three_rounds(const struct ordeal_trace *t)
{
    EACH(i, t)
        if (is_kind(t, i, ORDEAL_LOOP_BEGIN) && op_at(t, i)->write >= 3) {
            size_t end = next_of(t, i, op_at(t, i)->thread, ORDEAL_LOOP_END);
            size_t store = next_of(t, i, op_at(t, i)->thread, ORDEAL_STORE);
            if (store < end && ordeal_trace_step_of(t, store))
                return true;
        }
    return false;
}

static bool store_in_a_transaction(const struct ordeal_trace *t)
{
    EACH(i, t)
        if (is_kind(t, i, ORDEAL_TX_BEGIN)
            && next_of(t, i, op_at(t, i)->thread, ORDEAL_STORE)
               < next_of(t, i, op_at(t, i)->thread, ORDEAL_TX_END))
            return true;
    return false;
}

static bool two_swaps_of_a_word(const struct ordeal_trace *t)
{
    EACH(i, t)
        EACH(k, t)
            if (is_kind(t, i, ORDEAL_SWAP) && is_kind(t, k, ORDEAL_SWAP)
                && op_at(t, i)->thread != op_at(t, k)->thread
                && at_one_word(op_at(t, i), op_at(t, k)))
                return true;
    return false;
}

static bool an_unsigned_max(const struct ordeal_trace *t)
{
    EACH(i, t)
    if (is_kind(t, i, ORDEAL_AMO) && op_at(t, i)->function == ORDEAL_AMO_MAXU)
        return true;
    return false;
}

static bool two_amos_of_a_word(const struct ordeal_trace *t)
{
    EACH(i, t)
    EACH(k, t)
    if (is_kind(t, i, ORDEAL_AMO) && is_kind(t, k, ORDEAL_AMO)
        && op_at(t, i)->thread != op_at(t, k)->thread && at_one_word(op_at(t, i), op_at(t, k)))
        return true;
    return false;
}

static bool a_flush(const struct ordeal_trace *t)
{
    return next_of(t, 0, 0, ORDEAL_FLUSH) != SIZE_MAX;
}

static bool cas_of_what_was_loaded(const struct ordeal_trace *t)
{
    EACH(i, t) {
        uint32_t reg;
        bool written;
        if (is_kind(t, i, ORDEAL_CAS) && op_at(t, i)->flags & ORDEAL_COMPARE_REGISTER)
            EACH(k, t)
                if (is_kind(t, k, ORDEAL_LOAD) && at_one_word(op_at(t, i), op_at(t, k))
                    && ordeal_trace_register_of(t, k, 0, &reg, &written) && written
                    && reg == ordeal_trace_compare_of(t, i))
                    return true;
    }
    return false;
}

static bool constant_cas_that_can_succeed(const struct ordeal_trace *t)
{
    EACH(i, t)
        EACH(k, t)
            if (is_kind(t, i, ORDEAL_CAS) && is_kind(t, k, ORDEAL_STORE)
                && at_one_word(op_at(t, i), op_at(t, k))
                && ordeal_trace_compare_of(t, i) == op_at(t, k)->write)
                return true;
    return false;
}

static bool a_dependence(const struct ordeal_trace *t)
{
    uint32_t reg;
    bool written;
    EACH(i, t)
        if (is_kind(t, i, ORDEAL_STORE) && ordeal_trace_register_of(t, i, 0, &reg, &written))
            return true;
    return false;
}

static bool false_sharing(const struct ordeal_trace *t)
{
    EACH(i, t)
        EACH(k, t)
            if (is_kind(t, i, ORDEAL_STORE) && is_kind(t, k, ORDEAL_STORE)
                && op_at(t, i)->thread != op_at(t, k)->thread
                && op_at(t, i)->base == op_at(t, k)->base
                && op_at(t, i)->address != op_at(t, k)->address)
                return true;
    return false;
}

/* Two lines of one set of a cache of 4 KB a way. */
static bool conflicting_stores(const struct ordeal_trace *t)
{
    uint64_t a, b;
    EACH(i, t)
        EACH(k, t)
            if (is_kind(t, i, ORDEAL_STORE) && is_kind(t, k, ORDEAL_STORE)
                && op_at(t, i)->base != op_at(t, k)->base
                && ordeal_trace_place_of(t, op_at(t, i)->base, &a)
                && ordeal_trace_place_of(t, op_at(t, k)->base, &b) && a % 4096 == b % 4096)
                return true;
    return false;
}

static bool load_of_nothing(const struct ordeal_trace *t)
{
    EACH(i, t)
        if (is_kind(t, i, ORDEAL_LOAD) && op_at(t, i)->flags & ORDEAL_NONFAULTING
            && ordeal_trace_memory_of(t, op_at(t, i)->base) & ORDEAL_FAULTING)
            return true;
    return false;
}

static bool three_stores_of_different_values(const struct ordeal_trace *t)
{
    size_t stores = 0;
    EACH(i, t) {
        stores += is_kind(t, i, ORDEAL_STORE);
        for (size_t k = 0; k < i; k++)
            if (is_kind(t, i, ORDEAL_STORE) && is_kind(t, k, ORDEAL_STORE)
                && at_one_word(op_at(t, i), op_at(t, k))
                && op_at(t, i)->write == op_at(t, k)->write)
                return false;
    }
    return stores >= 3;
}

static bool three_stores_over_an_initial_two(const struct ordeal_trace *t)
{
    uint32_t base;
    uint64_t address, value;
    uint8_t size_log2;
    if (!ordeal_trace_init_at(t, 0, &base, &address, &size_log2, &value) || value != 2)
        return false;
    EACH(i, t)
        if (op_at(t, i)->base != base || op_at(t, i)->write == 2)
            return false;
    return three_stores_of_different_values(t);
}

static bool eight_bytes_and_half_of_them(const struct ordeal_trace *t)
{
    EACH(i, t)
        EACH(k, t)
            if (is_kind(t, i, ORDEAL_STORE) && op_at(t, i)->size_log2 == 3
                && is_kind(t, k, ORDEAL_STORE) && op_at(t, k)->size_log2 == 2
                && op_at(t, k)->base == op_at(t, i)->base
                && op_at(t, k)->address == op_at(t, i)->address + 4)
                return true;
    return false;
}

static bool interrupt_between_threads(const struct ordeal_trace *t)
{
    EACH(i, t)
        if (is_kind(t, i, ORDEAL_INTERRUPT)
            && ordeal_trace_thread_number(t, op_at(t, i)->thread) != op_at(t, i)->write)
            return true;
    return false;
}

/* ---- exact results ----------------------------------------------------------------------- */

static const char crowd[] =
    "model TSO\nseed 5\nplace Q=0x1000 W=0x2040 E=0x3080 R=0x40c0\nuncached E\ninit W=9\n"
    "P2 S[Q]#11\nP3 S[E]#5\nP5 L[R]\nP2 DELAY#20\nP2 S[E]#77\nP2 LOOP.BEGIN#4\nP2 L[W+4] >r3\n"
    "P2 S[R]#100+1 <r3\nP2 LOOP.END\nP5 BRANCH.BEGIN\nP5 S[W+4]#3\nP5 BRANCH.ELSE\nP5 S[R]#4\n"
    "P5 BRANCH.END\nP5 TX.BEGIN#3\nP5 L[Q]\nP5 L[E]\nP5 TX.END\nP7 MEMBAR\nP7 PREFETCH[Q]\n"
    "P7 CAS[Q]?11#12\nP7 IPI#2\nP3 EVICT[Q]\nP3 L[W] >r1\nP3 CAS[W]?r1#13\nP3 FLUSH[E]\n";

static void test_only_what_matters_is_left(void)
{
    shrinks_to(store_buffer, crowd, "model TSO\nP0 S[A]#1\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\n");
    TEST_ASSERT_EQUAL(4, report.before.threads);
    TEST_ASSERT_EQUAL(5, report.before.locations);
    TEST_ASSERT_EQUAL(19, report.before.operations);
    TEST_ASSERT_EQUAL(2, report.after.threads);
    TEST_ASSERT_EQUAL(2, report.after.locations);
    TEST_ASSERT_EQUAL(4, report.after.operations);
}

static void test_a_test_that_always_fails_ends_with_one_operation(void)
{
    struct court c = { .wanted = anything };
    struct ordeal_trace *test = trace_of_lines(o, crowd);
    struct ordeal_trace *smaller = shrink_with(&c, test, NULL);
    TEST_ASSERT_EQUAL(1, ordeal_trace_length(smaller));
    TEST_ASSERT_EQUAL(0, ordeal_trace_seed_of(smaller));
    ordeal_trace_free(smaller);
    ordeal_trace_free(test);
}

static void test_loops_keep_the_rounds_they_need(void)
{
    shrinks_to(stepping_store_in_three_rounds,
               "P4 LOOP.BEGIN#40\nP4 L[B]\nP4 S[B]#7+5\nP4 S[C]#7+5\nP4 LOOP.END\n"
               "P1 LOOP.BEGIN#2\nP1 S[B]#1000+2\nP1 LOOP.END\n",
               "P0 LOOP.BEGIN#3\nP0 S[A]#1+1\nP0 LOOP.END\n");
}

static void test_loops_become_their_body(void)
{
    shrinks_to(store_buffer,
               "P0 LOOP.BEGIN#40\nP0 S[A]#1+1\nP0 L[B]\nP0 LOOP.END\n"
               "P1 TX.BEGIN\nP1 S[B]#1\nP1 LOOP.BEGIN#3\nP1 L[A]\nP1 LOOP.END\nP1 TX.END\n",
               store_buffer_lines);
}

static void test_transactions_stay_only_where_needed(void)
{
    shrinks_to(store_in_a_transaction,
               "P0 TX.BEGIN#2\nP0 L[A]\nP0 S[A]#1\nP0 TX.END\nP1 TX.BEGIN\nP1 L[A]\nP1 TX.END\n",
               "P0 TX.BEGIN#2\nP0 S[A]#1\nP0 TX.END\n");
    shrinks_to(store_buffer, "P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\nP0 L[B]\n"
                             "P1 S[B]#1\nP1 TX.BEGIN\nP1 L[A]\nP1 TX.ABORT\n", store_buffer_lines);
}

static void test_either_side_of_a_branch_can_be_what_matters(void)
{
    shrinks_to(store_buffer, "seed 3\nP0 BRANCH.BEGIN\nP0 MEMBAR\nP0 BRANCH.ELSE\nP0 S[A]#1\n"
                             "P0 BRANCH.END\nP0 L[B]\nP1 S[B]#1\nP1 BRANCH.BEGIN\nP1 L[A]\n"
                             "P1 BRANCH.ELSE\nP1 MEMBAR\nP1 BRANCH.END\n", store_buffer_lines);
}

static void test_swaps_stay_swaps_when_they_must(void)
{
    shrinks_to(two_swaps_of_a_word, "P0 L[A] >r1\nP0 SWAP[A]#5 <r1\nP1 SWAP[A]#6\nP1 CAS[B]?0#1\n",
               "P0 SWAP[A]#1\nP1 SWAP[A]#2\n");
}

static void test_amos_stay_amos_when_they_must(void)
{
    shrinks_to(two_amos_of_a_word,
               "P0 L[A] >r1\nP0 AMOMAX[A/8]#5 <r1\nP1 AMOADD[A/8]#6\nP1 AMOOR[B]#1\n",
               "P0 AMOADD[A]#1\nP1 AMOADD[A]#1\n");
    shrinks_to(an_unsigned_max,
               "P0 LOOP.BEGIN#3\nP0 AMOMAXU[A]#5+7 >r1\nP0 LOOP.END\nP1 AMOADD[A]#6",
               "P0 AMOMAXU[A]#5\n");
    shrinks_to(two_swaps_of_a_word, "P0 AMOXOR[A]#7\nP0 SWAP[A]#5\nP1 SWAP[A]#6\nP1 AMOOR[A]#1\n",
               "P0 SWAP[A]#1\nP1 SWAP[A]#2\n");
}

static bool wants_sc(const struct ordeal_trace *t)
{
    EACH(i, t)
    if (is_kind(t, i, ORDEAL_STORE_CONDITIONAL))
        return true;
    return false;
}

static bool wants_lr(const struct ordeal_trace *t)
{
    EACH(i, t)
    if (is_kind(t, i, ORDEAL_LOAD_RESERVED) && op_at(t, i)->flags & ORDEAL_ACQUIRES)
        return true;
    return false;
}

static bool wants_data(const struct ordeal_trace *t)
{
    enum ordeal_register_use use;
    uint32_t number;
    EACH(i, t)
    for (size_t k = 0; ordeal_trace_register_use(t, i, k, &number, &use); k++)
        if (use == ORDEAL_REGISTER_DATA)
            return true;
    return false;
}

#define RISCV \
    "P0 L[B] >r3\nP0 LR.aq[A] >r1\nP0 L[B] <ctrl:r3\nP0 SC.rl[A]#5 >r2\nP0 S[B]#1 <data:r2\n" \
    "P1 LR[A]\nP1 SC[A]#7\nP1 SWAP.aqrl[B]#2\n"

static void test_what_riscv_has_goes_unless_needed(void)
{
    shrinks_to(wants_sc, RISCV, "P0 LR[A]\nP0 SC[A]#1\n");
    shrinks_to(wants_lr, RISCV, "P0 LR.aq[A]\n");
    shrinks_to(wants_data, RISCV, "P0 LR[A]\nP0 SC[A]#1 >r0\nP0 S[A]#2 <data:r0\n");
}

static void test_operations_become_simpler(void)
{
    shrinks_to(three_stores_of_different_values,
               "P0 S[A]#5\nP0 S[B/8]#0x500000005\nP1 S[C]#5 <r1\nP1 NFL[C]\n",
               "P0 S[A]#1\nP0 S[A]#2\nP0 S[A]#3\n");
}

static void test_a_cas_keeps_the_load_it_compares_with(void)
{
    shrinks_to(cas_of_what_was_loaded,
               "P0 L[B] >r7\nP0 L[A] >r9\nP0 S[A]#3 <r7\nP0 CAS[A]?r9#5\nP0 CAS[B]?r7#5\n",
               "P0 L[A] >r0\nP0 CAS[A]?r0#1\n");
}

static void test_a_cas_with_a_constant_follows_its_store(void)
{
    shrinks_to(constant_cas_that_can_succeed, "P0 S[A]#40\nP0 S[A]#41\nP1 CAS[A]?41#42\nP1 L[A]\n",
               "P0 S[A]#1\nP0 CAS[A]?1#2\n");
}

static void test_dependences_go_unless_needed(void)
{
    shrinks_to(a_dependence, "P0 L[A] >r4\nP0 L[B] >r5\nP0 L[C] <r4 >r6\nP0 S[C]#1 <r5 <r6\n",
               "P0 L[A] >r0\nP0 S[A]#1 <r0\n");
    shrinks_to(store_buffer, "P0 L[C] >r1\nP0 S[A]#1 <r1\nP0 L[B] <r1\nP1 S[B]#1\nP1 L[A]\n",
               store_buffer_lines);
}

static void test_words_leave_a_shared_line_unless_it_matters(void)
{
    shrinks_to(store_buffer, "P0 S[A+8]#1\nP0 L[A+12]\nP1 S[A+12]#1\nP1 L[A+8]\n",
               store_buffer_lines);
    shrinks_to(false_sharing, "P0 S[A+8]#7\nP0 L[B]\nP1 S[A+12]#8\nP2 S[B+16]#1\n",
               "P0 S[A]#1\nP1 S[A+4]#1\n");
}

static void test_places_go_unless_needed(void)
{
    shrinks_to(conflicting_stores,
               "place A=0x1000 B=0x2040 C=0x3000 D=0x40c0\n"
               "P0 S[A]#4\nP0 S[B]#4\nP1 S[C]#4\nP1 S[D]#9\n",
               "place A=0x1000 B=0x3000\nP0 S[A]#1\nP0 S[B]#1\n");
}

static void test_addresses_become_names_with_their_places(void)
{
    shrinks_to(store_buffer,
               "P0 S[0x80001040]#4\nP0 L[0x80001044]\nP1 S[0x80001044]#4\nP1 L[0x80001040]\n",
               store_buffer_lines);
}

static void test_kinds_of_memory_go_unless_needed(void)
{
    shrinks_to(load_of_nothing, "uncached A\nfault Z\nP0 S[A]#1\nP0 NFL[Z+4]\nP0 NFL[A]\n",
               "fault A\nP0 NFL[A]\n");
    shrinks_to(store_buffer, "uncached A\nfault Z\nP0 S[A]#1\nP0 NFL[B]\nP0 NFL[Z]\n"
                             "P1 S[B]#1\nP1 L[A]\n", store_buffer_lines);
}

static void test_mixed_sizes_keep_their_parts_different(void)
{
    shrinks_to(eight_bytes_and_half_of_them,
               "init A/8=1\nP0 S[A/8]#0x700000007\nP0 S[A+4]#9\nP0 S[A/8]#0x600000006\nP1 L[A/1]\n",
               "P0 S[A/8]#0x100000001\nP0 S[A+4]#2\n");
}

static void test_values_avoid_the_initial_ones(void)
{
    shrinks_to(three_stores_over_an_initial_two,
               "init A=2\nP1 L[A]\nP0 S[A]#7\nP0 S[A]#8\nP0 S[A]#9\n",
               "init A=2\nP0 S[A]#1\nP0 S[A]#3\nP0 S[A]#4\n");
}

static void test_cache_operations_and_interrupts_stay_where_needed(void)
{
    shrinks_to(a_flush, "P0 S[A]#1\nP0 FLUSH[B+4]\nP0 PREFETCH[A]\nP1 L[A]\n", "P0 FLUSH[A]\n");
    shrinks_to(interrupt_between_threads, "P3 IPI#9\nP3 S[A]#1\nP9 L[A]\nP9 IPI#3\nP4 L[A]\n",
               "P0 IPI#1\nP1 IPI#0\n");
}

/* ---- judges of all kinds ----------------------------------------------------------------- */

static bool never_again(const struct ordeal_trace *t) { (void)t; return false; }

static void test_a_judge_that_never_agrees_gets_the_same_test(void)
{
    static const char lines[] = "model RMO\natomic 8\nseed 5\nplace A=0x40 B=0x1000\nuncached B\n"
        "init A/8=5\nP3 L[A/8] >r0\nP3 CAS[A/8]?r0#7\nP3 LOOP.BEGIN#3\nP3 S[B]#8+2 <r0\n"
        "P3 LOOP.END\nP1 BRANCH.BEGIN\nP1 S[B+16/16]#0x1000000000000000000000002\nP1 BRANCH.ELSE\n"
        "P1 DELAY#7\nP1 BRANCH.END\nP1 TX.BEGIN#4\nP1 MEMBAR.SL\nP1 IPI#3\nP1 TX.END\n";
    struct court c = { .wanted = never_again, .percent = 100 };
    struct ordeal_trace *test = trace_of_lines(o, lines);
    struct ordeal_trace *smaller = shrink_with(&c, test, NULL);
    const char *difference = same_trace(test, smaller);
    TEST_ASSERT_NULL_MESSAGE(difference, difference);
    TEST_ASSERT_EQUAL(0, report.kept);
    TEST_ASSERT_GREATER_THAN(10, report.tried);
    ordeal_trace_free(smaller);
    ordeal_trace_free(test);
}

/* Many threads that do this and that; the store buffer is somewhere in it. */
static struct ordeal_trace *haystack(uint64_t seed, uint32_t threads, uint32_t length,
                                     uint32_t hidden[4])
{
    struct random r;
    char *text = NULL;
    size_t bytes, next = 0, at[4];
    FILE *out = open_memstream(&text, &bytes);
    random_seed(&r, seed, 0);
    uint32_t straw = length / 2;
    for (uint32_t t = 0; t < threads; t++)
        for (uint32_t i = 0; i < length; i++) {
            static const char *const lines[] = {
                "L[N%u]", "S[N%u]#%u", "SWAP[N%u]#%u", "L[N%u+4] >r1", "PREFETCH[N%u]",
                "CAS[N%u]?1#%u", "S[N%u/8]#%u", "EVICT[N%u]",
            };
            static const char *const needle[2][2] = { { "S[X]#1", "L[Y]" }, { "S[Y]#1", "L[X]" } };
            if (t < 2 && (i == straw || i == straw + 3)) {
                at[2 * t + (i != straw)] = next;
                fprintf(out, "P%u %s\n", t, needle[t][i != straw]);
            } else {
                fprintf(out, "P%u ", t);
                fprintf(out, lines[random_below(&r, 8)], t * 4 + random_below(&r, 4),
                        100 + t * length + i);
                fputc('\n', out);
            }
            next++;
        }
    fclose(out);
    for (int i = 0; i < 4 && hidden; i++)
        hidden[i] = (uint32_t)at[i];
    struct ordeal_trace *test = trace_of_lines(o, text);
    free(text);
    return test;
}

static void test_a_needle_in_a_haystack(void)
{
    struct ordeal_trace *test = haystack(1, 8, 200, NULL);
    struct court c = { .wanted = store_buffer };
    struct ordeal_trace *smaller = shrink_with(&c, test, NULL);
    expect_text(smaller, store_buffer_lines);
    TEST_ASSERT_LESS_THAN(300, report.tried); /* of 1600 operations */
    ordeal_trace_free(smaller);
    ordeal_trace_free(test);
}

static void test_a_hint_saves_most_of_the_work(void)
{
    uint32_t ops[4];
    struct ordeal_trace *test = haystack(2, 8, 200, ops);
    struct shrink_hint hint = { ops, 4 };
    struct court c = { .wanted = store_buffer };
    struct ordeal_trace *smaller = shrink_with(&c, test, &hint);
    expect_text(smaller, store_buffer_lines);
    TEST_ASSERT_LESS_THAN(40, report.tried);
    ordeal_trace_free(smaller);
    ordeal_trace_free(test);
}

static void test_a_wrong_hint_does_no_harm(void)
{
    uint32_t ops[] = { 3, 77, 1599, 4000000 };
    struct ordeal_trace *test = haystack(3, 8, 200, NULL);
    struct shrink_hint hint = { ops, 4 };
    struct court c = { .wanted = store_buffer };
    struct ordeal_trace *smaller = shrink_with(&c, test, &hint);
    expect_text(smaller, store_buffer_lines);
    ordeal_trace_free(smaller);
    ordeal_trace_free(test);
}

static void test_a_target_that_fails_now_and_then(void)
{
    size_t total = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct ordeal_trace *test = haystack(seed, 4, 50, NULL);
        struct court c = { .wanted = store_buffer, .percent = 60 };
        random_seed(&c.random, seed, 1);
        struct ordeal_trace *smaller = shrink_with(&c, test, NULL);
        TEST_ASSERT_TRUE(store_buffer(smaller));
        total += ordeal_trace_length(smaller);
        ordeal_trace_free(smaller);
        ordeal_trace_free(test);
    }
    TEST_ASSERT_LESS_THAN(10 * 8, total); /* of 10 * 200 operations */
}

static void test_the_best_so_far_when_stopped(void)
{
    size_t last = SIZE_MAX;
    for (uint64_t stop = 1; stop < 100; stop += 7) {
        struct ordeal_trace *test = haystack(5, 4, 50, NULL);
        struct court c = { .wanted = store_buffer, .stop_after = stop };
        struct ordeal_trace *smaller = shrink_with(&c, test, NULL);
        TEST_ASSERT_TRUE(store_buffer(smaller));
        TEST_ASSERT_TRUE(report.tried <= stop);
        TEST_ASSERT_TRUE(report.stopped || report.tried < stop);
        TEST_ASSERT_TRUE(ordeal_trace_length(smaller) <= last);
        last = ordeal_trace_length(smaller);
        ordeal_trace_free(smaller);
        ordeal_trace_free(test);
    }
    TEST_ASSERT_LESS_THAN(200, last);
}

static void test_without_memory_there_is_no_test_and_nothing_is_left_behind(void)
{
    bool succeeded = false;
    for (size_t n = 1; !succeeded; n++) {
        struct one_failure failing = { 0 };
        struct ordeal_memory memory = one_failure_memory(&failing);
        struct ordeal *starved = ordeal_new(&memory);
        struct ordeal_trace *test = trace_of_lines(o, crowd), *smaller = NULL;
        struct court c = { .wanted = store_buffer };
        struct shrink_judge judge = { court_fails, NULL, &c };
        failing.fail_at = failing.calls + n;
        enum ordeal_status status = shrink_test(test, NULL, starved, &judge, &smaller, &report);
        succeeded = failing.calls < failing.fail_at;
        if (status == ORDEAL_OK)
            TEST_ASSERT_TRUE(store_buffer(smaller));
        else
            TEST_ASSERT_TRUE(status == ORDEAL_NO_MEMORY && !smaller);
        ordeal_trace_free(smaller);
        ordeal_trace_free(test);
        ordeal_free(starved);
        TEST_ASSERT_EQUAL(0, failing.bytes);
        n += n / 4;
    }
}

/* ---- generated tests ------------------------------------------------------------------------- */

static struct bias *bias_of(const char *settings)
{
    struct bias *bias = bias_new();
    struct ordeal_error e;
    char *words = strdup(settings);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        TEST_ASSERT_TRUE_MESSAGE(bias_set(bias, word, &e), e.reason);
    free(words);
    TEST_ASSERT_TRUE_MESSAGE(bias_check(bias, &e), e.reason);
    return bias;
}

/* Whatever is cut from a test with everything in it, the rest can be run: the court looks. */
static void test_whims_leave_tests_that_can_be_run(void)
{
    struct bias *bias = bias_of(
        "test.threads=3 test.operations=40 test.locations=8 operations.swap=10 operations.cas=10 "
        "operations.prefetch=3 operations.flush=3 operations.evict=3 operations.nonfaulting=3 "
        "operations.interrupt=3 operations.delay=3 membar.mixed=3 sizes.1=1 sizes.2=1 sizes.8=1 "
        "sizes.64=1 placement.words_per_line=4 placement.lines_per_set=2 placement.uncached=20 "
        "loops.share=30 branches.share=30 transactions.share=30 transactions.abort=20");
    struct generator *g = generator_new(bias, 3);
    for (uint64_t n = 0; n < 100; n++) {
        struct ordeal_trace *test, *smaller;
        struct court c = { .wanted = anything, .percent = 5 + n % 40, .stop_after = 400 };
        random_seed(&c.random, n, 2);
        TEST_ASSERT_EQUAL(ORDEAL_OK, generator_make(g, n, o, &test));
        smaller = shrink_with(&c, test, NULL);
        TEST_ASSERT_TRUE(report.after.threads <= report.before.threads);
        TEST_ASSERT_TRUE(report.after.operations <= report.before.operations);
        ordeal_trace_free(smaller);
        ordeal_trace_free(test);
    }
    generator_free(g);
    bias_free(bias);
}

/* ---- hints ------------------------------------------------------------------------------- */

static void test_the_core_of_a_verdict_is_a_hint(void)
{
    struct ordeal_trace *test = trace_of_lines(o, "P0 L[C]\nP0 S[A]#1\nP0 LOOP.BEGIN#2\nP0 L[B]\n"
                                                  "P0 LOOP.END\nP1 S[C]#1\nP1 S[B]#1\nP1 L[A]\n");
    struct program p;
    struct ordeal_error e;
    struct machine_claims claims = { .model = ORDEAL_SC, .atomic = 4 };
    uint64_t values[] = { 0, 0, 1, 0 };
    struct ordeal_trace *trace;
    uint32_t *ops;
    size_t count;
    TEST_ASSERT_TRUE(program_compile(&p, test, "test", &e));
    TEST_ASSERT_EQUAL(ORDEAL_OK, program_trace(&p, 0, values, &claims, o, &trace));
    struct ordeal_options how = { .model = ORDEAL_SC };
    struct ordeal_verdict *v = check_trace(o, trace, &how);
    TEST_ASSERT_TRUE(shrink_find_hint(test, trace, v, &ops, &count));
    TEST_ASSERT_EQUAL(4, count);
    TEST_ASSERT_EQUAL(1, ops[0]);
    TEST_ASSERT_EQUAL(3, ops[1]);
    TEST_ASSERT_EQUAL(6, ops[2]);
    TEST_ASSERT_EQUAL(7, ops[3]);
    free(ops);
    ordeal_verdict_free(v);
    ordeal_trace_free(trace);
    program_free(&p);
    ordeal_trace_free(test);
}

/* ---- real bugs --------------------------------------------------------------------------- */

enum { ITERATIONS = 200 };

/* A broken machine, and what it did last. */
struct bench {
    void *machine;
    struct judge *judge;
    struct program p;
    uint64_t *values, iteration;
    bool failed;
};

static bool bench_outcome(void *user, uint64_t iteration, const uint64_t *values)
{
    struct bench *b = user;
    enum ordeal_result result;
    TEST_ASSERT_EQUAL(ORDEAL_OK, judge_outcome(b->judge, iteration, values, &result));
    if (result != ORDEAL_FAIL)
        return true;
    b->failed = true;
    b->iteration = iteration;
    struct machine_claims claims = target_model.claims(b->machine);
    size_t words = program_words(&b->p, &claims);
    b->values = realloc(b->values, (words + 1) * sizeof *values);
    memcpy(b->values, values, words * sizeof *values);
    return false;
}

static bool bench_fails(void *user, const struct ordeal_trace *t)
{
    struct bench *b = user;
    struct target_sink sink = { bench_outcome, b };
    struct ordeal_error e;
    program_free(&b->p);
    TEST_ASSERT_TRUE_MESSAGE(program_compile(&b->p, t, "candidate", &e), e.reason);
    b->failed = false;
    judge_begin(b->judge, &b->p);
    target_model.run(b->machine, &b->p, 0, ITERATIONS, &sink, &why);
    judge_begin(b->judge, NULL);
    return b->failed;
}

/* The operations that the failure found last comes from. */
static size_t bench_hint(const struct bench *b, const struct ordeal_trace *test, uint32_t **ops)
{
    struct machine_claims claims = target_model.claims(b->machine);
    struct ordeal_options how = { .model = claims.model, .no_certify = true };
    struct ordeal_trace *trace;
    size_t count;
    TEST_ASSERT_EQUAL(ORDEAL_OK, program_trace(&b->p, b->iteration, b->values, &claims, o, &trace));
    struct ordeal_verdict *v = check_trace(o, trace, &how);
    TEST_ASSERT_EQUAL(ORDEAL_FAIL, ordeal_verdict_result(v));
    TEST_ASSERT_TRUE(shrink_find_hint(test, trace, v, ops, &count));
    TEST_ASSERT_GREATER_THAN(0, count);
    ordeal_verdict_free(v);
    ordeal_trace_free(trace);
    return count;
}

static struct ordeal_trace *failing_test(struct bench *b, const char *settings, uint32_t most)
{
    struct bias *bias = bias_of(settings);
    struct ordeal_trace *test = NULL;
    struct generator *g = generator_new(bias, 1);
    for (uint32_t n = 0; n < most; n++) {
        TEST_ASSERT_EQUAL(ORDEAL_OK, generator_make(g, n, o, &test));
        if (bench_fails(b, test))
            break;
        ordeal_trace_free(test);
        test = NULL;
    }
    generator_free(g);
    bias_free(bias);
    TEST_ASSERT_NOT_NULL_MESSAGE(test, "no test of the bias shows the bug");
    return test;
}

static void bug_becomes_small(const char *name, const char *settings, uint32_t tests)
{
    enum { OPERATIONS_LEFT = 8, THREADS_LEFT = 2 }; /* at most; of 200 at first */
    struct ordeal_limits limits = { 0 };
    struct target_options options = { .model = ORDEAL_TSO, .model_given = true, .bug = name,
                                      .seed = 1 };
    struct bench b = { 0 };
    TEST_ASSERT_TRUE_MESSAGE(target_model.open(&options, &b.machine, &why), why.text);
    struct machine_claims claims = target_model.claims(b.machine);
    b.judge = judge_new(claims.model, &claims, &limits);
    struct ordeal_trace *test = failing_test(&b, settings, tests);
    uint32_t *ops;
    struct shrink_hint hint = { .count = bench_hint(&b, test, &ops) };
    hint.ops = ops;
    struct shrink_judge judge = { bench_fails, NULL, &b };
    struct ordeal_trace *smaller;
    TEST_ASSERT_EQUAL(ORDEAL_OK, shrink_test(test, &hint, o, &judge, &smaller, &report));
    TEST_ASSERT_TRUE_MESSAGE(bench_fails(&b, smaller), name);
    TEST_ASSERT_TRUE_MESSAGE(report.after.operations <= OPERATIONS_LEFT, name);
    TEST_ASSERT_TRUE_MESSAGE(report.after.threads <= THREADS_LEFT, name);
    ordeal_trace_free(smaller);
    ordeal_trace_free(test);
    free(ops);
    judge_free(b.judge);
    target_model.close(b.machine);
    program_free(&b.p);
    free(b.values);
}

static void bug_becomes_litmus_test(const char *name)
{
    size_t entry = 1;
    while (strcmp(model_bugs.entry[entry].name, name) != 0)
        entry++;
    bug_becomes_small(name, model_bugs.entry[entry].bias, model_bugs.entry[entry].tests);
}

/* It loads nothing: memory in the end is all that tells. */
static void test_what_only_memory_tells_becomes_small(void)
{
    bug_becomes_small("evict-loses-dirty",
                      "operations.load=0 operations.store=50 "
                      "operations.evict=10",
                      20);
}

static void test_bugs_of_a_machine_become_litmus_tests(void)
{
    bug_becomes_litmus_test("membar-ignored");
    bug_becomes_litmus_test("swap-not-atomic");
    bug_becomes_litmus_test("amo-unsigned");
    bug_becomes_litmus_test("amo-writes-operand");
    bug_becomes_litmus_test("lost-invalidation");
    bug_becomes_litmus_test("tx-commit-not-atomic");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_only_what_matters_is_left);
    RUN_TEST(test_a_test_that_always_fails_ends_with_one_operation);
    RUN_TEST(test_loops_keep_the_rounds_they_need);
    RUN_TEST(test_loops_become_their_body);
    RUN_TEST(test_transactions_stay_only_where_needed);
    RUN_TEST(test_either_side_of_a_branch_can_be_what_matters);
    RUN_TEST(test_swaps_stay_swaps_when_they_must);
    RUN_TEST(test_amos_stay_amos_when_they_must);
    RUN_TEST(test_what_riscv_has_goes_unless_needed);
    RUN_TEST(test_operations_become_simpler);
    RUN_TEST(test_a_cas_keeps_the_load_it_compares_with);
    RUN_TEST(test_a_cas_with_a_constant_follows_its_store);
    RUN_TEST(test_dependences_go_unless_needed);
    RUN_TEST(test_words_leave_a_shared_line_unless_it_matters);
    RUN_TEST(test_places_go_unless_needed);
    RUN_TEST(test_addresses_become_names_with_their_places);
    RUN_TEST(test_kinds_of_memory_go_unless_needed);
    RUN_TEST(test_mixed_sizes_keep_their_parts_different);
    RUN_TEST(test_values_avoid_the_initial_ones);
    RUN_TEST(test_cache_operations_and_interrupts_stay_where_needed);
    RUN_TEST(test_a_judge_that_never_agrees_gets_the_same_test);
    RUN_TEST(test_a_needle_in_a_haystack);
    RUN_TEST(test_a_hint_saves_most_of_the_work);
    RUN_TEST(test_a_wrong_hint_does_no_harm);
    RUN_TEST(test_a_target_that_fails_now_and_then);
    RUN_TEST(test_the_best_so_far_when_stopped);
    RUN_TEST(test_without_memory_there_is_no_test_and_nothing_is_left_behind);
    RUN_TEST(test_whims_leave_tests_that_can_be_run);
    RUN_TEST(test_the_core_of_a_verdict_is_a_hint);
    RUN_TEST(test_bugs_of_a_machine_become_litmus_tests);
    RUN_TEST(test_what_only_memory_tells_becomes_small);
    return UNITY_END();
}
