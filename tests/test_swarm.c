/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that go without some of what their bias has: `test.omit`. */
#include "checking.h"
#include "making.h"

void setUp(void) { making_open(); }
void tearDown(void) { making_close(); }

#define RICH "threads=2 operations=200 locations=12 swap=10 prefetch=10 full=10 sizes.1=5 " \
             "dekker=5 loops.share=20 transactions.share=20"

enum { SWAPS, MEMBARS, PREFETCHES, BYTES, LOOPS, TRANSACTIONS, LOADS, STORES, FEATURES };

/* Which of them the test at hand has, a bit each. */
static unsigned features(void)
{
    unsigned seen = 0;
    for (size_t i = 0; i < length(); i++) {
        const struct ordeal_op *p = op(i);
        seen |= (unsigned)(p->kind == ORDEAL_SWAP) << SWAPS
              | (unsigned)(p->kind == ORDEAL_MEMBAR) << MEMBARS
              | (unsigned)(p->kind == ORDEAL_PREFETCH) << PREFETCHES
              | (unsigned)(is_access(p) && p->size_log2 == 0) << BYTES
              | (unsigned)(p->kind == ORDEAL_LOOP_BEGIN) << LOOPS
              | (unsigned)(p->kind == ORDEAL_TX_BEGIN) << TRANSACTIONS
              | (unsigned)(p->kind == ORDEAL_LOAD) << LOADS
              | (unsigned)(p->kind == ORDEAL_STORE) << STORES;
    }
    return seen;
}

static void each_goes_without_something_else(void)
{
    enum { TESTS = 200 };
    int without[FEATURES] = { 0 }, few = 0;
    set(RICH " omit=50");
    start(1);
    for (uint64_t n = 0; n < TESTS; n++) {
        make(n);
        is_sound(true);
        for (int f = 0; f < FEATURES; f++)
            without[f] += !(features() >> f & 1);
        few += ordeal_trace_names(t) < 12;
    }
    TEST_ASSERT_EQUAL(0, without[LOADS]);
    TEST_ASSERT_EQUAL(0, without[STORES]);
    for (int f = MEMBARS; f < LOADS; f++)
        about(TESTS / 2, without[f], TESTS, 150, "goes without");
    about(TESTS / 4, without[SWAPS], TESTS, 150, "goes without swaps and idioms of swaps");
    about(TESTS / 2, few, TESTS, 150, "has fewer locations");
}

static void lines_have_fewer_words(void)
{
    int more = 0;
    set(RICH " words_per_line=4 omit=50");
    start(1);
    for (uint64_t n = 0; n < 100; n++) {
        make(n);
        more += ordeal_trace_names(t) > 12 / 4;
    }
    about(25, more, 100, 150, "has more lines, of fewer words");
}

static void all_or_nothing(void)
{
    set(RICH " omit=100");
    start(1);
    make(0);
    TEST_ASSERT_EQUAL_HEX(1u << LOADS | 1u << STORES, features());
    set("omit=0");
    start(1);
    make(0);
    TEST_ASSERT_EQUAL_HEX((1u << FEATURES) - 1, features());
}

static void a_test_does_not_depend_on_those_made_before(void)
{
    set(RICH " omit=50");
    start(7);
    make(3);
    uint64_t hash = hash_of_test();
    start(7);
    make(2);
    TEST_ASSERT_TRUE(hash != hash_of_test());
    make(3);
    TEST_ASSERT_EQUAL_HEX64(hash, hash_of_test());
}

/* Without its swaps there would be nothing to make tests of. */
static void what_it_needs_it_keeps(void)
{
    set("load=0 store=0 swap=1 cas=0 full=0 omit=100");
    start(1);
    make(0);
    TEST_ASSERT_EQUAL_HEX(1u << SWAPS, features());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(each_goes_without_something_else);
    RUN_TEST(lines_have_fewer_words);
    RUN_TEST(all_or_nothing);
    RUN_TEST(a_test_does_not_depend_on_those_made_before);
    RUN_TEST(what_it_needs_it_keeps);
    return UNITY_END();
}
