/* SPDX-License-Identifier: Apache-2.0 */
/* Which outcomes were seen before: by all their values, by the way through the branches, and in
 * bounded memory. */
#include <stdlib.h>
#include <string.h>

#include "test/lfsr.h"
#include "test/outcomes.h"
#include "unity.h"

static struct ordeal *o;
static struct ordeal_trace *test;
static struct program program;
static struct outcomes *seen;

void setUp(void) { o = ordeal_new(NULL); }

void tearDown(void)
{
    outcomes_free(seen);
    seen = NULL;
    program_free(&program);
    ordeal_trace_free(test);
    test = NULL;
    ordeal_free(o);
}

/* The program of a test in the text notation, without its first line. */
static void compile(const char *text)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "ordeal 1\n%s", text);
    FILE *f = fmemopen(whole, strlen(whole), "r");
    struct ordeal_reader *r = ordeal_reader_new(o, f, "test", ORDEAL_FORMAT_TEXT);
    struct ordeal_error e;
    program_free(&program);
    ordeal_trace_free(test);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, ordeal_reader_next(r, &test),
                              ordeal_last_error(o)->reason);
    ordeal_reader_free(r);
    fclose(f);
    TEST_ASSERT_TRUE_MESSAGE(program_compile(&program, test, "test", &e), e.reason);
}

static void begin(const char *text, size_t bytes)
{
    compile(text);
    outcomes_free(seen);
    seen = outcomes_new(bytes, &(struct machine_claims){ 0 });
    TEST_ASSERT_NOT_NULL(seen);
    outcomes_begin(seen, &program);
}

static const char *const two_loads = "P0 L[A]\nP0 L[B]\nP1 S[A]#1\nP1 S[B]#2\n";

static void test_same_values_are_seen_once(void)
{
    begin(two_loads, 1 << 20);
    TEST_ASSERT_TRUE(outcomes_add(seen, 0, (uint64_t[]){ 0, 0 }));
    TEST_ASSERT_FALSE(outcomes_add(seen, 1, (uint64_t[]){ 0, 0 }));
    TEST_ASSERT_TRUE(outcomes_add(seen, 2, (uint64_t[]){ 0, 1 }));
    TEST_ASSERT_TRUE(outcomes_add(seen, 3, (uint64_t[]){ 1, 0 }));
    TEST_ASSERT_FALSE(outcomes_add(seen, 4, (uint64_t[]){ 0, 1 }));
}

/* All of them told apart, also when the table grows: none is taken for another. */
static void test_many_outcomes_are_told_apart(void)
{
    enum { SIDE = 300 };
    begin(two_loads, 64 << 20);
    for (int round = 0; round < 2; round++)
        for (uint64_t a = 0; a < SIDE; a++)
            for (uint64_t b = 0; b < SIDE; b++)
                TEST_ASSERT_EQUAL(round == 0, outcomes_add(seen, 0, (uint64_t[]){ a, b }));
}

/* The signature of outcomes.c steps by h = (h ^ word) * K, h ^= h >> 32: a second word that undoes
 * the difference of the first gives the same signature. Only the comparison tells them apart. */
static void test_equal_signatures_are_compared(void)
{
    begin(two_loads, 1 << 20);
    const uint64_t start = UINT64_C(0x9E3779B97F4A7C15), k = UINT64_C(0xD1B54A32D192ED03);
    uint64_t h1 = (start ^ 1) * k, h2 = (start ^ 2) * k;
    h1 ^= h1 >> 32;
    h2 ^= h2 >> 32;
    TEST_ASSERT_TRUE(outcomes_add(seen, 0, (uint64_t[]){ 1, 0 }));
    TEST_ASSERT_TRUE(outcomes_add(seen, 1, (uint64_t[]){ 2, h1 ^ h2 }));
    TEST_ASSERT_FALSE(outcomes_add(seen, 2, (uint64_t[]){ 2, h1 ^ h2 }));
    TEST_ASSERT_FALSE(outcomes_add(seen, 3, (uint64_t[]){ 1, 0 }));
}

static void test_another_program_starts_afresh(void)
{
    begin(two_loads, 1 << 20);
    TEST_ASSERT_TRUE(outcomes_add(seen, 0, (uint64_t[]){ 0, 0 }));
    compile("P0 L[A]\nP0 L[B]\nP0 L[C]\n");
    outcomes_begin(seen, &program);
    TEST_ASSERT_TRUE(outcomes_add(seen, 0, (uint64_t[]){ 0, 0, 0 }));
    TEST_ASSERT_FALSE(outcomes_add(seen, 1, (uint64_t[]){ 0, 0, 0 }));
}

static void test_a_program_that_reads_nothing_has_one_outcome(void)
{
    begin("P0 S[A]#1\nP1 S[A]#2\n", 1 << 20);
    TEST_ASSERT_TRUE(outcomes_add(seen, 0, (uint64_t[]){ 0 }));
    TEST_ASSERT_FALSE(outcomes_add(seen, 1, (uint64_t[]){ 0 }));
}

/* Two iterations whose first branches go the same way, and one that goes the other. */
static void test_the_way_through_branches_counts(void)
{
    begin("seed 7\nP0 BRANCH.BEGIN\nP0 S[A]#1\nP0 BRANCH.ELSE\nP0 S[A]#2\nP0 BRANCH.END\n"
          "P1 L[A]\n", 1 << 20);
    bool taken[2] = { false, false };
    for (uint64_t iteration = 0; iteration < 64; iteration++) {
        uint32_t lfsr = lfsr_start(7, 0, iteration), bit = lfsr_step(&lfsr);
        TEST_ASSERT_EQUAL(!taken[bit], outcomes_add(seen, iteration, (uint64_t[]){ 0 }));
        taken[bit] = true;
    }
    TEST_ASSERT_TRUE(taken[0] && taken[1]);
}

/* What an execution did not fill in may hold anything. */
static void test_slots_that_were_not_filled_do_not_count(void)
{
    begin("seed 7\nP0 BRANCH.BEGIN\nP0 L[A]\nP0 BRANCH.END\nP0 S[B]#1\n", 1 << 20);
    unsigned fresh = 0, short_ones = 0;
    for (uint64_t iteration = 0; iteration < 64; iteration++)
        if (program_slots_used(&program, 0, iteration) == 0) {
            fresh += outcomes_add(seen, iteration, (uint64_t[]){ iteration + 1 });
            short_ones++;
        }
    TEST_ASSERT_EQUAL(1, fresh);
    TEST_ASSERT_GREATER_THAN(10, short_ones);
}

static void test_branches_in_loops_count_each_time_round(void)
{
    begin("seed 9\nP0 LOOP.BEGIN#70\nP0 BRANCH.BEGIN\nP0 S[A]#1+1\nP0 BRANCH.END\nP0 LOOP.END\n"
          "P1 L[A]\n", 1 << 20);
    for (uint64_t iteration = 0; iteration < 200; iteration++)
        TEST_ASSERT_TRUE(outcomes_add(seen, iteration, (uint64_t[]){ 0 }));
    for (uint64_t iteration = 0; iteration < 200; iteration++)
        TEST_ASSERT_FALSE(outcomes_add(seen, iteration, (uint64_t[]){ 0 }));
}

/* With little memory old outcomes are forgotten, and the last ones are still known. */
static void test_memory_is_bounded_and_nothing_is_confused(void)
{
    begin(two_loads, 64 << 10);
    for (uint64_t i = 0; i < 100000; i++) {
        TEST_ASSERT_TRUE(outcomes_add(seen, i, (uint64_t[]){ i, i + 1 }));
        TEST_ASSERT_FALSE(outcomes_add(seen, i, (uint64_t[]){ i, i + 1 }));
    }
}

static void test_what_is_too_large_is_always_new(void)
{
    begin(two_loads, 16);
    TEST_ASSERT_TRUE(outcomes_add(seen, 0, (uint64_t[]){ 0, 0 }));
    TEST_ASSERT_TRUE(outcomes_add(seen, 1, (uint64_t[]){ 0, 0 }));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_same_values_are_seen_once);
    RUN_TEST(test_many_outcomes_are_told_apart);
    RUN_TEST(test_equal_signatures_are_compared);
    RUN_TEST(test_another_program_starts_afresh);
    RUN_TEST(test_a_program_that_reads_nothing_has_one_outcome);
    RUN_TEST(test_the_way_through_branches_counts);
    RUN_TEST(test_slots_that_were_not_filled_do_not_count);
    RUN_TEST(test_branches_in_loops_count_each_time_round);
    RUN_TEST(test_memory_is_bounded_and_nothing_is_confused);
    RUN_TEST(test_what_is_too_large_is_always_new);
    return UNITY_END();
}
