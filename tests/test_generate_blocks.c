/* SPDX-License-Identifier: Apache-2.0 */
/* Loops, branches, transactions and idioms in generated tests: as long, as many and of such shapes
 * as the bias asks for. */
#include "making.h"

void setUp(void) { making_open(); }
void tearDown(void) { making_close(); }

/* ---- [loops], [branches], [transactions] --------------------------------------------------- */

static void shares_of_blocks_are_as_asked(void)
{
    static const struct { const char *key; size_t offset; } blocks[] = {
        { "loops.share", offsetof(struct tally, in_loops) },
        { "branches.share", offsetof(struct tally, in_branches) },
        { "transactions.share", offsetof(struct tally, in_transactions) },
    };
    set("operations=20000");
    for (int i = 0; i < 3; i++)
        for (uint32_t share = 0; share <= 100; share += 20) {
            char text[64];
            struct tally c = { 0 };
            snprintf(text, sizeof text, "%s=%u", blocks[i].key, share);
            make_only(text);
            tally(&c);
            about((double)c.all * share / 100, (double)*(uint64_t *)((char *)&c + blocks[i].offset),
                  (double)c.all, share % 100 ? 30 : 1, text);
            snprintf(text, sizeof text, "%s=0", blocks[i].key);
            set(text);
        }
}

/* Lengths of blocks of one kind, as written. */
struct lengths { uint64_t count, least, most, sum; };

static struct lengths lengths_of(uint8_t begin, uint8_t end, uint8_t other_end)
{
    struct lengths l = { 0, UINT64_MAX, 0, 0 };
    uint64_t since[256] = { 0 };
    for (size_t i = 0; i < length(); i++) {
        const struct ordeal_op *p = op(i);
        if (p->kind == begin)
            since[p->thread] = 0;
        if (!is_bracket(p))
            since[p->thread]++;
        if (p->kind != end && p->kind != other_end)
            continue;
        l.count++;
        l.sum += since[p->thread];
        l.least = since[p->thread] < l.least ? since[p->thread] : l.least;
        l.most = since[p->thread] > l.most ? since[p->thread] : l.most;
        since[p->thread] = 0;
    }
    return l;
}

static void loops_are_as_long_and_as_many_times_round_as_asked(void)
{
    uint64_t rounds_seen = 0;
    make_only("operations=20000 loops.share=50 loops.length_min=3 loops.length_max=9 "
              "loops.count_min=2 loops.count_max=7");
    struct lengths l = lengths_of(ORDEAL_LOOP_BEGIN, ORDEAL_LOOP_END, ORDEAL_LOOP_END);
    TEST_ASSERT_EQUAL_UINT64(3, l.least);
    TEST_ASSERT_EQUAL_UINT64(9, l.most);
    about(6 * (double)l.count, (double)l.sum, 6 * (double)l.count, 40, "length of loops");
    for (size_t i = 0; i < length(); i++)
        if (op(i)->kind == ORDEAL_LOOP_BEGIN)
            rounds_seen |= UINT64_C(1) << op(i)->write;
    TEST_ASSERT_EQUAL_HEX64(0xfc, rounds_seen);
    is_sound(true);
}

static void branches_are_as_long_as_asked_and_some_have_two_sides(void)
{
    uint64_t begins = 0, sides = 0;
    make_only("operations=20000 branches.share=50 branches.length_min=2 branches.length_max=5 "
              "else=30");
    for (size_t i = 0; i < length(); i++) {
        begins += op(i)->kind == ORDEAL_BRANCH_BEGIN;
        sides += op(i)->kind == ORDEAL_BRANCH_ELSE;
    }
    about(0.3 * (double)begins, (double)sides, (double)begins, 25, "else");
    TEST_ASSERT_TRUE(ordeal_trace_seed_of(t) != 0);
    is_sound(true);
    make_only("else=0");
    struct lengths l = lengths_of(ORDEAL_BRANCH_BEGIN, ORDEAL_BRANCH_END, ORDEAL_BRANCH_END);
    TEST_ASSERT_EQUAL_UINT64(2, l.least);
    TEST_ASSERT_EQUAL_UINT64(5, l.most);
    about(3.5 * (double)l.count, (double)l.sum, 3.5 * (double)l.count, 40, "length of branches");
    make_only("branches.share=0");
    TEST_ASSERT_EQUAL_UINT64(0, ordeal_trace_seed_of(t));
}

static void transactions_are_as_long_as_asked(void)
{
    make_only("operations=40000 transactions.share=50 transactions.length_min=2 "
              "transactions.length_mean=5 transactions.length_max=30 abort=0 locations=64");
    struct lengths l = lengths_of(ORDEAL_TX_BEGIN, ORDEAL_TX_END, ORDEAL_TX_ABORT);
    TEST_ASSERT_EQUAL_UINT64(2, l.least);
    TEST_ASSERT_EQUAL_UINT64(30, l.most);
    about(5 * (double)l.count, (double)l.sum, 5 * (double)l.count, 40, "length");
    make_only("transactions.length_min=4 transactions.length_mean=4 transactions.length_max=4 "
              "operations=4000");
    l = lengths_of(ORDEAL_TX_BEGIN, ORDEAL_TX_END, ORDEAL_TX_ABORT);
    TEST_ASSERT_TRUE(l.least == 4 && l.most == 4);
}

static void transactions_abort_and_retry_as_asked(void)
{
    uint64_t begins = 0, aborts = 0;
    make_only("operations=20000 transactions.share=60 abort=30 retries=7");
    for (size_t i = 0; i < length(); i++) {
        begins += op(i)->kind == ORDEAL_TX_BEGIN;
        aborts += op(i)->kind == ORDEAL_TX_ABORT;
        if (op(i)->kind == ORDEAL_TX_BEGIN)
            TEST_ASSERT_TRUE(op(i)->flags & ORDEAL_HAS_LIMIT && op(i)->write == 7);
    }
    about(0.3 * (double)begins, (double)aborts, (double)begins, 20, "aborts");
    is_sound(true);
    make_only("retries=forever abort=0");
    for (size_t i = 0; i < length(); i++) {
        TEST_ASSERT_FALSE(op(i)->flags & ORDEAL_HAS_LIMIT);
        TEST_ASSERT_TRUE(op(i)->kind != ORDEAL_TX_ABORT);
    }
    is_sound(true);
}

static void disjoint_one(size_t i, const struct place *at, void *user)
{
    (void)user;
    if (has_location(op(i)) && !(ordeal_trace_memory_of(t, op(i)->base) & ORDEAL_FAULTING))
        TEST_ASSERT_TRUE(at->transaction == (line_of(op(i)) >= 3));
    if (at->transaction)
        TEST_ASSERT_TRUE(op(i)->kind != ORDEAL_FLUSH && op(i)->kind != ORDEAL_EVICT
                         && op(i)->kind != ORDEAL_INTERRUPT);
}

static void transactions_can_have_lines_of_their_own(void)
{
    for (uint32_t pattern = SHARING_UNIFORM; pattern <= SHARING_PRIVATE; pattern++) {
        make_only("operations=3000 locations=15 words_per_line=3 transactions.share=50 "
                  "disjoint=yes loops.share=20 branches.share=20 flush=2 evict=2 interrupt=2 "
                  "nonfaulting=2 false_sharing=10 sb=5 sizes.64=1");
        b->sharing_pattern = pattern;
        start(1);
        make(0);
        walk(disjoint_one, NULL);
        is_sound(true);
    }
}

/* ---- [idioms] ------------------------------------------------------------------------------ */

/* The test with threads, names and values renamed in the order in which they come. */
static void canonical(char *text, size_t size)
{
    uint32_t threads[8], names[8], thread_count = 0, name_count = 0, value_count[8] = { 0 };
    uint64_t values[8][8];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < length(); i++) {
        const struct ordeal_op *p = op(i);
        uint32_t thread = 0, name = 0, value = 0;
        while (thread < thread_count && threads[thread] != p->thread)
            thread++;
        thread_count += thread == thread_count;
        threads[thread] = p->thread;
        if (p->kind == ORDEAL_MEMBAR) {
            used += (size_t)snprintf(text + used, size - used, "%uM ", thread);
            continue;
        }
        while (name < name_count && names[name] != p->base)
            name++;
        name_count += name == name_count;
        names[name] = p->base;
        used += (size_t)snprintf(text + used, size - used, "%u%s%c", thread,
                                 trace_op_names[p->kind], "xyzw"[name]);
        if (is_write(p)) {
            while (value < value_count[name] && values[name][value] != p->write)
                value++;
            TEST_ASSERT_TRUE(value == value_count[name]);
            values[name][value_count[name]++] = p->write;
            used += (size_t)snprintf(text + used, size - used, "%u", value + 1);
        }
        used += (size_t)snprintf(text + used, size - used, " ");
    }
}

static void every_idiom_has_its_shape(void)
{
    static const struct { int key; uint32_t threads, operations; const char *shape; } idioms[] = {
        { BIAS_idioms_sb, 2, 2, "0Sx1 0Ly 1Sy1 1Lx " },
        { BIAS_idioms_mp, 2, 2, "0Sx1 0Sy1 1Ly 1Lx " },
        { BIAS_idioms_lb, 2, 2, "0Lx 0Sy1 1Ly 1Sx1 " },
        { BIAS_idioms_s, 2, 4, "0Sx1 0Sy1 1Ly 1Sx2 1M 1Lx " },
        { BIAS_idioms_r, 2, 4, "0Sx1 0Sy1 0M 0Ly 1Sy2 1Lx " },
        { BIAS_idioms_two_plus_two_w, 2, 4, "0Sx1 0Sy1 0M 0Ly 1Sy2 1Sx2 1M 1Lx " },
        { BIAS_idioms_iriw, 4, 2, "0Sx1 1Sy1 2Lx 2Ly 3Ly 3Lx " },
        { BIAS_idioms_wrc, 3, 2, "0Sx1 1Lx 1Sy1 2Ly 2Lx " },
        { BIAS_idioms_rwc, 3, 2, "0Sx1 1Lx 1Ly 2Sy1 2Lx " },
        { BIAS_idioms_isa2, 3, 2, "0Sx1 0Sy1 1Ly 1Sz1 2Lz 2Lx " },
        { BIAS_idioms_corr, 2, 2, "0Sx1 1Lx 1Lx " },
        { BIAS_idioms_coww, 2, 2, "0Sx1 0Sx2 1Lx 1Lx " },
        { BIAS_idioms_corw, 2, 3, "0Lx 0Sx1 0Lx 1Sx2 " },
        { BIAS_idioms_dekker, 2, 2, "0SWAPx1 0Ly 1SWAPy1 1Lx " },
    };
    set(NOTHING);
    for (size_t i = 0; i < sizeof idioms / sizeof *idioms; i++) {
        char shape[256];
        bool other_threads = false, other_lines = false;
        b->test_threads = idioms[i].threads;
        b->test_operations = idioms[i].operations;
        b->values[idioms[i].key] = 1;
        start(1);
        for (uint64_t n = 0; n < 50; n++) {
            make(n);
            canonical(shape, sizeof shape);
            TEST_ASSERT_EQUAL_STRING(idioms[i].shape, shape);
            other_threads |= op(0)->thread != 0;
            other_lines |= line_of(op(0)) > 3;
            is_sound(false);
        }
        TEST_ASSERT_TRUE(other_threads && other_lines);
        b->values[idioms[i].key] = 0;
    }
    TEST_ASSERT_EQUAL_size_t(sizeof idioms / sizeof *idioms, BIAS_KEY_COUNT - BIAS_idioms_sb);
}

/* Of single operations and idioms: dekker is the only one with swaps here, sb and others count by
 * what is left. */
static void idioms_are_as_frequent_as_their_weights(void)
{
    uint64_t swaps = 0, cas = 0, delays = 0;
    make_only(NOTHING " operations=30000 threads=4 delay=30 dekker=20");
    TEST_ASSERT_TRUE(bias_set(b, "idiom own.test=P0 L[x] >r5\nP0 CAS[x]?r5#1", &e));
    TEST_ASSERT_TRUE(bias_set(b, "idiom own.weight=10", &e));
    start(2);
    make(0);
    for (size_t i = 0; i < length(); i++) {
        swaps += op(i)->kind == ORDEAL_SWAP;
        cas += op(i)->kind == ORDEAL_CAS;
        delays += op(i)->kind == ORDEAL_DELAY;
    }
    double all = (double)swaps / 2 + (double)cas + (double)delays;
    about(all * 2 / 6, (double)swaps / 2, all, 10, "dekker");
    about(all * 1 / 6, (double)cas, all, 10, "own");
    is_sound(true);
}

static void threads_of_an_idiom_are_about_as_far(void)
{
    uint32_t position[4] = { 0 };
    make_only(NOTHING " operations=2000 threads=4 load=10 dekker=3 loops.share=50");
    bool in_loop[4] = { false };
    uint32_t rounds[4] = { 1, 1, 1, 1 }, first = 0, pairs = 0;
    for (size_t i = 0; i < length(); i++) {
        const struct ordeal_op *p = op(i);
        uint32_t thread = p->thread;
        if (p->kind == ORDEAL_SWAP && pairs++ % 2 == 0)
            first = position[thread];
        else if (p->kind == ORDEAL_SWAP)
            TEST_ASSERT_UINT32_WITHIN(20, first, position[thread]);
        if (p->kind == ORDEAL_LOOP_BEGIN)
            rounds[thread] = (uint32_t)p->write;
        in_loop[thread] = p->kind == ORDEAL_LOOP_BEGIN
                          || (in_loop[thread] && p->kind != ORDEAL_LOOP_END);
        if (!is_bracket(p))
            position[thread] += in_loop[thread] ? rounds[thread] : 1;
    }
    TEST_ASSERT_GREATER_THAN_UINT32(100, pairs);
}

static void an_own_idiom_with_everything_it_can_have(void)
{
    set(NOTHING " threads=3 operations=12 locations=16 words_per_line=2");
    TEST_ASSERT_TRUE(bias_set(b, "idiom own.weight=1", &e));
    TEST_ASSERT_TRUE(bias_set(b, "idiom own.test="
        "P7 S[x]#5\nP7 S[x+4]#5\nP7 FLUSH[x]\nP7 IPI#9\nP9 NFL[x]\nP9 TX.BEGIN#3\nP9 L[y/2] >r3\n"
        "P9 TX.END\nP9 DELAY#77\nP9 MEMBAR.SS\nP9 CAS[y]?r3#1\nP9 CAS[x]?5#6 <r3\nP9 EVICT[y]\n"
        "P9 PREFETCH[y]\nP9 SWAP[y]#9\nP9 CAS[y]?0#4", &e));
    start(1);
    uint32_t texts = 0;
    for (uint64_t n = 0; n < 20; n++) {
        make(n);
        is_sound(false);
        TEST_ASSERT_EQUAL_size_t(16, length());
        TEST_ASSERT_EQUAL_UINT64(op(4)->thread, op(3)->write);
        TEST_ASSERT_EQUAL_UINT64(0, op(0)->address);
        TEST_ASSERT_EQUAL_UINT64(4, op(1)->address);
        TEST_ASSERT_EQUAL_UINT64(0x00010001, op(0)->write);
        TEST_ASSERT_EQUAL_UINT64(0x00010001, ordeal_trace_compare_of(t, 11));
        TEST_ASSERT_EQUAL_UINT64(3, ordeal_trace_compare_of(t, 10));
        TEST_ASSERT_EQUAL_UINT64(0, ordeal_trace_compare_of(t, 15));
        TEST_ASSERT_EQUAL_UINT64(0x00020002, op(11)->write);
        TEST_ASSERT_EQUAL_UINT64(77, op(8)->write);
        TEST_ASSERT_EQUAL_UINT64(3, op(5)->write);
        TEST_ASSERT_TRUE(op(4)->flags & ORDEAL_NONFAULTING);
        TEST_ASSERT_TRUE(op(6)->base != op(0)->base);
        texts += op(0)->thread;
    }
    TEST_ASSERT_GREATER_THAN_UINT32(0, texts);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(shares_of_blocks_are_as_asked);
    RUN_TEST(loops_are_as_long_and_as_many_times_round_as_asked);
    RUN_TEST(branches_are_as_long_as_asked_and_some_have_two_sides);
    RUN_TEST(transactions_are_as_long_as_asked);
    RUN_TEST(transactions_abort_and_retry_as_asked);
    RUN_TEST(transactions_can_have_lines_of_their_own);
    RUN_TEST(every_idiom_has_its_shape);
    RUN_TEST(idioms_are_as_frequent_as_their_weights);
    RUN_TEST(threads_of_an_idiom_are_about_as_far);
    RUN_TEST(an_own_idiom_with_everything_it_can_have);
    return UNITY_END();
}
