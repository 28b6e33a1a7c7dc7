/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of `ordeal tune`: what was written is read back; whatever is cut off its end, the
 * rounds before are there; what was damaged, or begun otherwise, is refused. */
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

static const struct journal_fact facts[] = { { "version", "1" },
                                             { "machine", "--harts 2" },
                                             { NULL, NULL } };

/* Any round, the same for the same number. */
static void make_round(uint64_t number, struct tune_round *round)
{
    struct random r;
    random_seed(&r, 4, number);
    round->tests.count = 0;
    round->milliseconds = random_next(&r);
    for (uint32_t i = random_below(&r, 9); i > 0; i--) {
        struct tune_test t = { (enum tune_result)random_below(&r, TUNE_RESULTS),
                               random_next(&r),
                               { { 0 } } };
        for (uint32_t n = random_below(&r, 400); n > 0; n--)
            cover_hit(&t.hits, random_below(&r, COVER_POINTS));
        if (random_chance(&r, 50)) { /* the first and the last of all points */
            cover_hit(&t.hits, 0);
            cover_hit(&t.hits, COVER_POINTS - 1);
        }
        TEST_ASSERT_TRUE(LIST_PUSH(&round->tests, t));
    }
}

static void is_round(uint64_t number, const struct tune_round *got)
{
    struct tune_round wanted = { 0 };
    make_round(number, &wanted);
    TEST_ASSERT_EQUAL_UINT64(wanted.milliseconds, got->milliseconds);
    TEST_ASSERT_EQUAL_size_t(wanted.tests.count, got->tests.count);
    for (size_t i = 0; i < got->tests.count; i++) {
        TEST_ASSERT_EQUAL_INT(wanted.tests.data[i].result, got->tests.data[i].result);
        TEST_ASSERT_EQUAL_UINT64(wanted.tests.data[i].cost, got->tests.data[i].cost);
        TEST_ASSERT_EQUAL_MEMORY(&wanted.tests.data[i].hits, &got->tests.data[i].hits,
                                 sizeof(struct cover_hits));
    }
    LIST_FREE(&wanted.tests);
}

/* How many rounds are kept; those that are, are right. */
static uint64_t count_kept(struct journal *j)
{
    struct tune_round round = { 0 };
    uint64_t n = 0;
    for (; journal_next(j, &round); n++)
        is_round(n, &round);
    LIST_FREE(&round.tests);
    return n;
}

static struct journal *open_it(void)
{
    struct journal *j = journal_open(file, facts, &why);
    TEST_ASSERT_NOT_NULL_MESSAGE(j, why.text);
    return j;
}

static void add_rounds(struct journal *j, uint64_t from, uint64_t to)
{
    struct tune_round round = { 0 };
    for (uint64_t i = from; i < to; i++) {
        make_round(i, &round);
        TEST_ASSERT_TRUE_MESSAGE(journal_add(j, &round, &why), why.text);
    }
    LIST_FREE(&round.tests);
}

static void test_what_was_added_is_there_again(void)
{
    struct journal *j = open_it();
    TEST_ASSERT_EQUAL_UINT64(0, count_kept(j));
    add_rounds(j, 0, 5);
    journal_close(j);
    j = open_it();
    TEST_ASSERT_EQUAL_UINT64(5, count_kept(j));
    add_rounds(j, 5, 9);
    journal_close(j);
    j = open_it();
    TEST_ASSERT_EQUAL_UINT64(9, count_kept(j));
    journal_close(j);
}

static off_t size_of(void)
{
    struct stat s;
    TEST_ASSERT_EQUAL_INT(0, stat(file, &s));
    return s.st_size;
}

/* Wherever a kill or a loss of power cut it, and whatever is left in place of the end. */
static void test_a_torn_end_is_cut_off(void)
{
    struct journal *j = open_it();
    off_t ends[6];
    for (uint64_t i = 0; i < 6; i++) {
        add_rounds(j, i, i + 1);
        ends[i] = size_of();
    }
    journal_close(j);
    for (off_t size = ends[5]; size >= ends[4]; size -= size > ends[4] + 300 ? 97 : 1) {
        TEST_ASSERT_EQUAL_INT(0, truncate(file, size));
        j = open_it();
        TEST_ASSERT_EQUAL_UINT64(size == ends[5] ? 6 : 5, count_kept(j));
        journal_close(j);
    }
    TEST_ASSERT_EQUAL_INT(0, truncate(file, ends[4] + 4096)); /* zeros */
    j = open_it();
    TEST_ASSERT_EQUAL_UINT64(5, count_kept(j));
    add_rounds(j, 5, 6);
    journal_close(j);
    TEST_ASSERT_EQUAL_INT64(ends[5], size_of());
}

static void spoil(off_t at, char with)
{
    FILE *f = fopen(file, "r+");
    TEST_ASSERT_NOT_NULL(f);
    fseeko(f, at, SEEK_SET);
    putc(with, f);
    fclose(f);
}

static void refuses(const struct journal_fact *given, const char *reason)
{
    TEST_ASSERT_NULL(journal_open(file, given, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, reason), why.text);
}

static void test_damage_in_the_middle_is_refused(void)
{
    struct journal *j = open_it();
    add_rounds(j, 0, 1);
    off_t end = size_of();
    add_rounds(j, 1, 4);
    journal_close(j);
    spoil(end + 6, '7'); /* "round 1" says 7 */
    refuses(facts, "round 1 is damaged");
}

static void test_another_run_is_refused_by_name(void)
{
    static const struct journal_fact seed[] = { { "version", "1" },
                                                { "machine", "--harts 4" },
                                                { NULL, NULL } };
    static const struct journal_fact more[] = {
        { "version", "1" }, { "machine", "--harts 2" }, { "bias", "x" }, { NULL, NULL }
    };
    static const struct journal_fact fewer[] = { { "version", "1" }, { NULL, NULL } };
    journal_close(open_it());
    refuses(seed, "another machine: --harts 2, and now it is --harts 4");
    refuses(more, "does not tell of bias");
    refuses(fewer, "it tells of 'machine'");
    spoil(0, 'x');
    refuses(facts, "line 1: expected 'ordeal-tune 1'");
}

static void test_two_at_once_are_refused(void)
{
    struct journal *j = open_it();
    refuses(facts, "another 'ordeal tune' is at work");
    journal_close(j);
}

static void test_a_place_that_cannot_be_written_is_told(void)
{
    TEST_ASSERT_NULL(journal_open("/nowhere/at/all/journal", facts, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "No such file"), why.text);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_what_was_added_is_there_again);
    RUN_TEST(test_a_torn_end_is_cut_off);
    RUN_TEST(test_damage_in_the_middle_is_refused);
    RUN_TEST(test_another_run_is_refused_by_name);
    RUN_TEST(test_two_at_once_are_refused);
    RUN_TEST(test_a_place_that_cannot_be_written_is_told);
    return UNITY_END();
}
