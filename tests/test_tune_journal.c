/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of `ordeal tune`: what was written is read back; whatever is cut off its end, the
 * tests before are there; what was damaged, or begun otherwise, is refused, but for a budget that
 * has grown. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "tune/journal_text.h"
#include "unity.h"

static char directory[64], file[80];
static struct why why;

void setUp(void)
{
    snprintf(directory, sizeof directory, "/tmp/test-journal-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/journal", directory);
}

void tearDown(void)
{
    unlink(file);
    rmdir(directory);
}

static const struct journal_fact facts[] = { { "version", "1", false },
                                             { "machine", "--harts 2", false },
                                             { "tests", "800", true },
                                             { NULL, NULL, false } };
static const char bias[] = "[test]\nthreads = 4\n\n[operations]\nload = 40\nswap = 9\n";
static const struct journal_head head = { facts, bias };

/* Any test, the same for the same number. */
static struct tune_test make_test(uint64_t number)
{
    struct random r;
    random_seed(&r, 4, number);
    struct tune_test t = { (enum tune_result)random_below(&r, TUNE_RESULTS),
                           random_next(&r),
                           random_next(&r),
                           { { 0 } } };
    for (uint32_t n = random_below(&r, 400); n > 0; n--)
        cover_hit(&t.hits, random_below(&r, COVER_POINTS));
    if (random_chance(&r, 50)) { /* the first and the last of all points */
        cover_hit(&t.hits, 0);
        cover_hit(&t.hits, COVER_POINTS - 1);
    }
    return t;
}

/* Rounds are of three tests; the fourth and all after it compare. */
enum { ROUND = 3 };
static enum tune_phase phase_of(uint64_t round) { return round < 3 ? TUNE_SEARCH : TUNE_COMPARE; }

static void is_test(uint64_t number, const struct tune_test *got)
{
    struct tune_test wanted = make_test(number);
    TEST_ASSERT_EQUAL_INT(wanted.result, got->result);
    TEST_ASSERT_EQUAL_UINT64(wanted.cost, got->cost);
    TEST_ASSERT_EQUAL_UINT64(wanted.milliseconds, got->milliseconds);
    TEST_ASSERT_EQUAL_MEMORY(&wanted.hits, &got->hits, sizeof(struct cover_hits));
}

/* How many of these tests are kept, and are right; those that are not are added. */
static uint64_t run_tests(struct journal *j, uint64_t tests)
{
    uint64_t kept = 0;
    struct tune_test t;
    for (uint64_t i = 0; i < tests; i++) {
        if (i % ROUND == 0)
            TEST_ASSERT_TRUE_MESSAGE(journal_round(j, phase_of(i / ROUND), &why), why.text);
        if (journal_next(j, &t)) {
            is_test(i, &t);
            TEST_ASSERT_EQUAL_UINT64(i, kept++); /* none after the first that is missing */
            continue;
        }
        t = make_test(i);
        TEST_ASSERT_TRUE_MESSAGE(journal_add(j, &t, &why), why.text);
    }
    return kept;
}

static struct journal *open_it(void)
{
    struct journal *j = journal_open(file, &head, &why);
    TEST_ASSERT_NOT_NULL_MESSAGE(j, why.text);
    return j;
}

/* Opens it, runs, and closes it. */
static uint64_t run_again(uint64_t tests)
{
    struct journal *j = open_it();
    uint64_t kept = run_tests(j, tests);
    journal_close(j);
    return kept;
}

static void test_what_was_added_is_there_again(void)
{
    TEST_ASSERT_EQUAL_UINT64(0, run_again(5)); /* ends in the middle of a round */
    TEST_ASSERT_EQUAL_UINT64(5, run_again(9));
    TEST_ASSERT_EQUAL_UINT64(9, run_again(17));
    TEST_ASSERT_EQUAL_UINT64(17, run_again(17));
}

static off_t size_of(void)
{
    struct stat s;
    TEST_ASSERT_EQUAL_INT(0, stat(file, &s));
    return s.st_size;
}

/* Wherever a kill or a loss of power cut it, and whatever is left in place of the end: at most the
 * test that was cut is lost. */
static void test_a_torn_end_is_cut_off(void)
{
    off_t ends[9];
    for (uint64_t i = 0; i < 9; i++) {
        run_again(i + 1);
        ends[i] = size_of();
    }
    for (off_t size = ends[8] - 1; size >= ends[6]; size -= size > ends[6] + 300 ? 97 : 1) {
        TEST_ASSERT_EQUAL_INT(0, truncate(file, size));
        journal_close(open_it());
        TEST_ASSERT_EQUAL_UINT64(size >= ends[7] ? 8 : 7, run_again(7 + (size >= ends[7])));
    }
    TEST_ASSERT_EQUAL_INT(0, truncate(file, ends[6] + 4096)); /* zeros */
    TEST_ASSERT_EQUAL_UINT64(7, run_again(9));
    TEST_ASSERT_EQUAL_INT64(ends[8], size_of());
}

static void test_an_empty_file_was_not_begun(void)
{
    fclose(fopen(file, "w"));
    TEST_ASSERT_EQUAL_UINT64(0, run_again(5));
    TEST_ASSERT_EQUAL_UINT64(5, run_again(5));
}

static void spoil(off_t at, char with)
{
    FILE *f = fopen(file, "r+");
    TEST_ASSERT_NOT_NULL(f);
    fseeko(f, at, SEEK_SET);
    putc(with, f);
    fclose(f);
}

static void refuses(const struct journal_head *given, const char *reason)
{
    TEST_ASSERT_NULL(journal_open(file, given, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, reason), why.text);
}

static void test_damage_in_the_middle_is_refused(void)
{
    run_again(2);
    off_t end = size_of();
    run_again(9);
    spoil(end + 5, '7'); /* "test 2" says 7 */
    refuses(&head, "it is damaged here");
}

static void test_another_run_is_refused_by_name(void)
{
    static const struct journal_fact size[] = { { "version", "1", false },
                                                { "machine", "--harts 4", false },
                                                { NULL, NULL, false } };
    static const struct journal_fact more[] = { { "version", "1", false },
                                                { "machine", "--harts 2", false },
                                                { "tests", "800", true },
                                                { "seed", "x", false },
                                                { NULL, NULL, false } };
    static const struct journal_fact fewer[] = { { "version", "1", false }, { NULL, NULL, false } };
    journal_close(open_it());
    refuses(&(struct journal_head){ size, bias },
            "another machine: --harts 2, and now it is --harts 4");
    refuses(&(struct journal_head){ more, bias }, "does not tell of seed");
    refuses(&(struct journal_head){ fewer, bias }, "it tells of 'machine'");
    spoil(0, 'x');
    refuses(&head, "line 1: expected 'ordeal-tune 2'");
}

/* The key of a bias that differs, and what it was. */
static void test_another_bias_is_refused_by_its_key(void)
{
    static const struct {
        const char *bias, *reason;
    } others[] = {
        { "[test]\nthreads = 4\n[operations]\nload = 40\nswap = 12\n",
          "after '[operations]': it was 'swap = 9', and now it is 'swap = 12'" },
        { "[test]\nthreads = 4\n[operations]\nload = 40\n",
          "it was 'swap = 9', and now it is 'nothing'" },
        { "[test]\nthreads = 4\n[operations]\nload = 40\nswap = 9\ncas = 1\n",
          "it was 'nothing', and now it is 'cas = 1'" },
    };
    journal_close(open_it());
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refuses(&(struct journal_head){ facts, others[i].bias }, others[i].reason);
}

static struct journal *open_with(const char *tests)
{
    static struct journal_fact grown[4];
    static struct journal_head now = { grown, bias };
    memcpy(grown, facts, sizeof grown);
    grown[2].value = tests;
    return journal_open(file, &now, &why);
}

/* With a greater budget the search is kept, and the comparison after it is not. */
static void test_a_budget_may_grow(void)
{
    run_again(13);
    struct journal *j = open_with("900");
    TEST_ASSERT_NOT_NULL_MESSAGE(j, why.text);
    TEST_ASSERT_EQUAL_UINT64(9, run_tests(j, 9));
    journal_close(j);
    refuses(&head, "begun with another tests: 900, and now it is 800; a budget can only grow");
    j = open_with("0"); /* no limit at all */
    TEST_ASSERT_NOT_NULL_MESSAGE(j, why.text);
    TEST_ASSERT_EQUAL_UINT64(9, run_tests(j, 9));
    journal_close(j);
    TEST_ASSERT_NULL(open_with("1000000"));
    j = open_with("0");
    TEST_ASSERT_EQUAL_UINT64(9, run_tests(j, 9));
    journal_close(j);
}

static void test_two_at_once_are_refused(void)
{
    struct journal *j = open_it();
    refuses(&head, "in use by process ");
    journal_close(j);
}

static void test_a_place_that_cannot_be_written_is_told(void)
{
    TEST_ASSERT_NULL(journal_open("/nowhere/at/all/journal", &head, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "No such file"), why.text);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_what_was_added_is_there_again);
    RUN_TEST(test_a_torn_end_is_cut_off);
    RUN_TEST(test_damage_in_the_middle_is_refused);
    RUN_TEST(test_another_run_is_refused_by_name);
    RUN_TEST(test_an_empty_file_was_not_begun);
    RUN_TEST(test_another_bias_is_refused_by_its_key);
    RUN_TEST(test_a_budget_may_grow);
    RUN_TEST(test_two_at_once_are_refused);
    RUN_TEST(test_a_place_that_cannot_be_written_is_told);
    return UNITY_END();
}
