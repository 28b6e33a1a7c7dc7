/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of points: their names, what is new, merging, and the file, which is the same again and is
 * refused when it is damaged. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cover/cover.h"
#include "cover/cover_event.h"
#include "unity.h"

static struct cover *a, *b;

void setUp(void)
{
    a = cover_new();
    b = cover_new();
}

void tearDown(void)
{
    cover_free(a);
    cover_free(b);
}

static uint32_t point(const char *name)
{
    uint32_t found = cover_point_find(name, strlen(name));
    TEST_ASSERT_LESS_THAN_MESSAGE(COVER_POINTS, found, name);
    return found;
}

static void add(struct cover *c, const char *name, uint64_t seed, uint64_t number,
                const char *label)
{
    struct cover_hits h = { { 0 } };
    cover_hit(&h, point(name));
    TEST_ASSERT_TRUE(cover_add(c, &h, &(struct cover_origin){ seed, number, label }));
}

static char *written(struct cover *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    TEST_ASSERT_EQUAL(0, cover_write(c, f));
    fclose(f);
    return text;
}

static bool read_back(struct cover *c, const char *text, size_t length, struct ordeal_error *e)
{
    FILE *f = fmemopen((void *)(uintptr_t)text, length, "r");
    bool good = cover_read(c, f, "x.cover", e);
    fclose(f);
    return good;
}

/* ---- points ---------------------------------------------------------------------------------- */

static void test_every_point_has_a_name_of_its_own(void)
{
    uint32_t known = 0;
    for (uint32_t p = 0; p < COVER_POINTS; p++) {
        char name[COVER_NAME_SIZE];
        if (!cover_point_exists(p))
            continue;
        known++;
        cover_point_name(p, name);
        TEST_ASSERT_EQUAL_MESSAGE(p, cover_point_find(name, strlen(name)), name);
        for (const char *t = name; *t; t++)
            TEST_ASSERT_TRUE_MESSAGE(*t > ' ' && *t <= '~' && *t != '%', name);
    }
    TEST_ASSERT_EQUAL(known, cover_known(a, COVER_EXEC) + cover_known(a, COVER_EVENT));
}

static void test_what_is_no_point_is_not_found(void)
{
    static const char *const wrong[] = {
        "",
        ".",
        "exec",
        "exec.",
        "exec.meet",
        "exec.meet.rf.store4",
        "exec.meet.rf.load4.load4",
        "exec.meet.rf.store4.load4.",
        "exec.meet.rf.store4.load4.x",
        "exec.meet.rf..load4",
        "exec.shape.SB.fence.po.near", /* it is the same as SB.po.fence, which there is */
        "exec.tx.abort.4.1",           /* what aborted met nobody */
        "event.pair.STORE.LOAD.few.few",
        "event.MISS.2^12",
        "EXEC.meet.rf.store4.load4",
        "exec.own.load4.load4",
        "rtl.line.x",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        TEST_ASSERT_EQUAL_MESSAGE(COVER_POINTS, cover_point_find(wrong[i], strlen(wrong[i])),
                                  wrong[i]);
    TEST_ASSERT_EQUAL(COVER_POINTS, cover_point_find("exec.meet.rf.store4.load4", 24));
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void test_news_are_what_a_set_does_not_have(void)
{
    struct cover_hits h = { { 0 } };
    add(a, "exec.own.store4.load4", 1, 0, NULL);
    cover_hit(&h, point("exec.own.store4.load4"));
    TEST_ASSERT_EQUAL(0, cover_news(a, &h));
    cover_hit(&h, point("exec.own.store4.load1"));
    cover_hit(&h, point("event.MISS.2^11"));
    TEST_ASSERT_EQUAL(2, cover_news(a, &h));
    TEST_ASSERT_EQUAL(3, cover_hits_count(&h));
    TEST_ASSERT_TRUE(cover_add(b, &h, &(struct cover_origin){ 1, 1, NULL }));
    TEST_ASSERT_EQUAL(1, cover_news_of(a, b, COVER_EXEC));
    TEST_ASSERT_EQUAL(1, cover_news_of(a, b, COVER_EVENT));
    TEST_ASSERT_EQUAL(0, cover_news_of(b, a, COVER_EXEC));
    TEST_ASSERT_EQUAL(2, cover_reached(b, COVER_EXEC));
    TEST_ASSERT_EQUAL(1, cover_reached(b, COVER_EVENT));
}

static void test_merging_adds_and_keeps_the_earlier_test(void)
{
    add(a, "exec.own.store4.load4", 2, 5, "hot");
    add(a, "event.MISS.2^0", 1, 7, NULL);
    TEST_ASSERT_TRUE(cover_add_rtl(a, "rtl.line.lsu.v:1", 3, &(struct cover_origin){ 2, 5, NULL }));
    add(b, "exec.own.store4.load4", 1, 9, NULL);
    add(b, "exec.own.store4.load4", 1, 10, NULL);
    add(b, "event.MISS.2^0", 1, 7, "b");
    TEST_ASSERT_TRUE(cover_add_rtl(b, "rtl.line.lsu.v:1", 4, &(struct cover_origin){ 1, 9, NULL }));
    TEST_ASSERT_TRUE(cover_add_rtl(b, "rtl.line.lsu.v:2", 0, &(struct cover_origin){ 0, 0, NULL }));
    struct cover *ab = cover_new(), *ba = cover_new();
    TEST_ASSERT_TRUE(cover_merge(ab, a) && cover_merge(ab, b));
    TEST_ASSERT_TRUE(cover_merge(ba, b) && cover_merge(ba, a));
    char *x = written(ab), *y = written(ba);
    TEST_ASSERT_EQUAL_STRING(x, y);
    TEST_ASSERT_EQUAL_STRING("ordeal-cover 2\ntests 5\nevent.MISS.2^0 2 1 7 -\n"
                             "exec.own.store4.load4 3 1 9 -\nrtl.line.lsu.v:1 7 1 9 -\n"
                             "rtl.line.lsu.v:2 0\nend 4\n",
                             x);
    TEST_ASSERT_EQUAL(1, cover_reached(ab, COVER_RTL));
    TEST_ASSERT_EQUAL(2, cover_known(ab, COVER_RTL));
    free(x);
    free(y);
    cover_free(ab);
    cover_free(ba);
}

static void ran(struct cover *c, const char *target, uint64_t how, uint64_t first, uint64_t next)
{
    struct cover_run run = {
        .target = target, .seed = 1, .how = how, .first = first, .next = next
    };
    TEST_ASSERT_TRUE(cover_ran(c, &run));
}

/* Runs that touch are one, whatever came first; what is counted again is noticed. */
static void test_runs_are_put_together(void)
{
    ran(a, "sim", 7, 40, 60);
    ran(a, "model", 7, 0, 20);
    ran(a, "sim", 7, 0, 20);
    ran(a, "sim", 8, 20, 40);
    TEST_ASSERT_NULL(cover_run_at(a, 4));
    ran(a, "sim", 7, 20, 40);
    TEST_ASSERT_NULL(cover_run_at(a, 3));
    TEST_ASSERT_EQUAL_STRING("model", cover_run_at(a, 0)->target);
    TEST_ASSERT_EQUAL_UINT64(60, cover_run_at(a, 1)->next);
    TEST_ASSERT_EQUAL_UINT64(0, cover_run_at(a, 1)->first);
    struct cover_run more = { "sim", 1, 7, 50, 70 };
    TEST_ASSERT_EQUAL_UINT64(10, cover_has_run(a, &more));
    for (int i = 0; i < 100; i++)
        add(a, "exec.own.store4.load4", 1, (uint64_t)i, NULL);
    TEST_ASSERT_EQUAL_UINT64(0, cover_repeats(a));
    TEST_ASSERT_TRUE(cover_merge(b, a) && cover_merge(b, a));
    TEST_ASSERT_EQUAL_UINT64(100, cover_repeats(b));
}

/* What machines cannot do is no gap, what they did counts, and two machines can do more than one. */
static void test_only_points_count_that_machines_can_reach(void)
{
    uint64_t all = cover_known(a, COVER_EXEC);
    uint32_t narrow = 1u << 2 | 1u << 7; /* load4, store4 */
    struct cover_can model = { narrow, 0, 1u << ORDEAL_TSO, 2 };
    cover_ran_on(a, &model);
    uint64_t few = cover_known(a, COVER_EXEC);
    TEST_ASSERT_LESS_THAN(all, few);
    TEST_ASSERT_EQUAL_UINT64(0, cover_known(a, COVER_EVENT));
    TEST_ASSERT_TRUE(cover_is_known(a, point("exec.meet.rf.store4.load4")));
    TEST_ASSERT_TRUE(cover_is_known(a, point("exec.shape.SB.po.po.closed")));
    static const char *const beyond[] = {
        "exec.meet.rf.store4.load8",      "exec.meet.rf.swap1.load4",
        "exec.shape.MP.po.po.closed",     "exec.shape.SB.fence.fence.closed",
        "exec.shape.SB.po.rmw.near",      "exec.shape.SB.po.tx.near",
        "exec.shape.IRIW.po.po.near",     "exec.shape3.ISA2.po.po.po.near",
        "exec.coherence.CoRR.po.closed",  "exec.tx.commit.1.alone",
        "exec.per-commit.aborted.none",   "exec.interleave.seen.P2.1",
        "exec.interleave.needed.P3.1",    "exec.torn.load4.cached",
        "exec.initial.load4.uncached",    "event.MISS.2^0",
        "exec.pass.level.into-tx.cached",
    };
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        TEST_ASSERT_FALSE_MESSAGE(cover_is_known(a, point(beyond[i])), beyond[i]);
    add(a, "event.MISS.2^0", 1, 0, NULL);
    TEST_ASSERT_EQUAL_UINT64(1, cover_known(a, COVER_EVENT));
    struct cover_can sim = { narrow, 1u << COVER_CAN_EVENTS, 1u << ORDEAL_PSO, 4 };
    cover_ran_on(b, &sim);
    TEST_ASSERT_TRUE(cover_merge(b, a));
    TEST_ASSERT_TRUE(cover_is_known(b, point("exec.shape.MP.po.po.closed")));
    TEST_ASSERT_TRUE(cover_is_known(b, point("event.STORE_OUT_OF_ORDER.2^0")));
    TEST_ASSERT_FALSE(cover_is_known(b, point("event.LOAD_OUT_OF_ORDER.2^0")));
    TEST_ASSERT_TRUE(cover_is_known(b, point("exec.shape.IRIW.po.po.near")));
}

static void test_counts_stay_at_the_most_there_can_be(void)
{
    struct cover_origin none = { 0, 0, NULL };
    TEST_ASSERT_TRUE(cover_add_rtl(a, "rtl.x", UINT64_MAX - 1, &none));
    TEST_ASSERT_TRUE(cover_add_rtl(a, "rtl.x", 5, &none));
    char *text = written(a);
    TEST_ASSERT_NOT_NULL(strstr(text, "rtl.x 18446744073709551615 "));
    free(text);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void test_events_by_powers_in_pairs_and_for_each_commit(void)
{
    uint64_t sum[64] = { [20] = 4, [21] = 17, [38] = 1, [23] = 30 };
    uint32_t most[64] = { [20] = 4, [21] = 7, [38] = 1, [23] = 5000 };
    struct cover_hits h = { { 0 } };
    cover_event_look(sum, most, &h);
    static const char *const hit[] = {
        "event.TX_COMMITTED.2^2",
        "event.TX_ABORTED.2^2",
        "event.MISS.2^11",
        "event.TX_CONFLICTS.2^0",
        "event.pair.TX_COMMITTED.TX_ABORTED.few.few",
        "event.pair.TX_ABORTED.MISS.few.many",
        "event.per-commit.TX_ABORTED.16",
        "event.per-commit.TX_CONFLICTS.1/4",
        "event.per-commit.TX_CAPACITIES.none",
    };
    for (size_t i = 0; i < sizeof hit / sizeof *hit; i++)
        TEST_ASSERT_TRUE_MESSAGE(cover_is_hit(&h, point(hit[i])), hit[i]);
    TEST_ASSERT_EQUAL(4 + 6 + 3, cover_hits_count(&h));
}

/* ---- files ----------------------------------------------------------------------------------- */

#define ORIGINS \
    "can load4 store4 store8 tx events model=TSO model=PSO threads=4\n" \
    "run model 1 77 0 2\nrun sim 1 77 0 2\nfolder /a%20b/rtl\n"

static const char good[] = "ordeal-cover 2\ntests 2\n" ORIGINS "event.MISS.2^0 1 1 7 a%20b%25%2d\n"
                           "exec.own.store4.load4 2 18446744073709551615 0 %2d\n"
                           "rtl.line.a%20b.v:1 0\nend 3\n";

static void test_a_file_is_read_back_as_it_was_written(void)
{
    struct ordeal_error e;
    TEST_ASSERT_TRUE_MESSAGE(read_back(a, good, strlen(good), &e), e.reason);
    char *text = written(a);
    TEST_ASSERT_EQUAL_STRING("ordeal-cover 2\ntests 2\n" ORIGINS "event.MISS.2^0 1 1 7 a%20b%25-\n"
                             "exec.own.store4.load4 2 18446744073709551615 0 %2d\n"
                             "rtl.line.a%20b.v:1 0\nend 3\n",
                             text);
    TEST_ASSERT_TRUE(read_back(b, text, strlen(text), &e));
    char *again = written(b);
    TEST_ASSERT_EQUAL_STRING(text, again);
    free(text);
    free(again);
}

static void test_a_file_that_was_cut_off_is_refused(void)
{
    for (size_t length = 1; length < strlen(good); length++) {
        struct ordeal_error e = { 0 };
        TEST_ASSERT_FALSE(read_back(a, good, length, &e));
        TEST_ASSERT_TRUE(e.line > 0 && *e.reason);
        TEST_ASSERT_EQUAL_STRING("x.cover", e.file);
    }
    TEST_ASSERT_EQUAL(0, cover_tests(a) + cover_reached(a, COVER_EXEC)
                             + cover_reached(a, COVER_EVENT) + cover_known(a, COVER_RTL));
}

static void test_damage_is_told_with_its_line(void)
{
    static const struct {
        const char *text;
        uint64_t line;
        const char *reason;
    } wrong[] = {
        { "ordeal 1\n", 1, "first line" },
        { "ordeal-cover 1\n", 1, "first line" },
        { "ordeal-cover 3\n", 1, "first line" },
        { "ordeal-cover 2\ntest 1\n", 2, "tests N" },
        { "ordeal-cover 2\ntests -1\n", 2, "tests N" },
        { "ordeal-cover 2\ntests 18446744073709551616\n", 2, "tests N" },
        { "ordeal-cover 2\ntests 1\nend 1\n", 3, "which is 0" },
        { "ordeal-cover 2\ntests 1\nend 0\nend 0\n", 4, "after the line" },
        { "ordeal-cover 2\ntests 1\nexec.own.store4.load4 0\nend 1\n", 3, "0 times" },
        { "ordeal-cover 2\ntests 1\nexec.own.store4.load4 1\nend 1\n", 3, "has 5 words" },
        { "ordeal-cover 2\ntests 1\nexec.own.store4.load4 1 1 x -\nend 1\n", 3, "are numbers" },
        { "ordeal-cover 2\ntests 1\nexec.own.store4.load4 1 1 01 -\nend 1\n", 3, "are numbers" },
        { "ordeal-cover 2\ntests 1\nexec.own.store4.load4 1 1 1 %2\nend 1\n", 3, "hexadecimal" },
        { "ordeal-cover 2\ntests 1\nexec.own.store4.load4 1 1 1 %00\nend 1\n", 3, "hexadecimal" },
        { "ordeal-cover 2\ntests 1\nexec.own.store3.load4 1 1 1 -\nend 1\n", 3, "no point" },
        { "ordeal-cover 2\ntests 1\nexec.own.store4.load4  1 1 1 -\nend 1\n", 3, "one space" },
        { "ordeal-cover 2\ntests 1\nexec.own.store4.load4 1 1 1 - \nend 1\n", 3, "one space" },
        { "ordeal-cover 2\ntests 1\nrtl.b 0\nrtl.a 0\nend 2\n", 4, "sorted" },
        { "ordeal-cover 2\ntests 1\nrtl.a 0\nrtl.a 0\nend 2\n", 4, "each comes once" },
        { "ordeal-cover 2\ntests 1\nexec.own.store4.load4 2 1 1 -\nend 1\n", 3, "more tests" },
        { "ordeal-cover 2\ntests 1\nrun model 1 2 3\nend 0\n", 3, "FIRST below NEXT" },
        { "ordeal-cover 2\ntests 1\nrun model 1 2 3 3\nend 0\n", 3, "FIRST below NEXT" },
        { "ordeal-cover 2\ntests 1\ncan fly model=TSO threads=1\nend 0\n", 3, "no 'fly'" },
        { "ordeal-cover 2\ntests 1\ncan load4 model=TSO\nend 0\n", 3, "threads=" },
        { "ordeal-cover 2\ntests 1\nrtl.a 0\nrun model 1 2 3 4\nend 1\n", 4, "a point" },
        { "ordeal-cover 2\r\ntests 1\r\nend 0\r\n", 1, "first line" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ordeal_error e = { 0 };
        TEST_ASSERT_FALSE_MESSAGE(read_back(a, wrong[i].text, strlen(wrong[i].text), &e),
                                  wrong[i].text);
        TEST_ASSERT_EQUAL_MESSAGE(wrong[i].line, e.line, wrong[i].text);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, wrong[i].reason), e.reason);
    }
}

static void test_saving_leaves_the_old_file_or_the_new_one(void)
{
    char path[] = "/tmp/test_cover_XXXXXX";
    struct ordeal_error e;
    close(mkstemp(path));
    add(a, "exec.own.store4.load4", 1, 0, NULL);
    TEST_ASSERT_EQUAL(0, cover_save(a, path));
    TEST_ASSERT_TRUE(cover_load(b, path, &e));
    TEST_ASSERT_EQUAL(1, cover_reached(b, COVER_EXEC));
    unlink(path);
    TEST_ASSERT_NOT_EQUAL(0, cover_save(a, "/nowhere/at/all"));
    TEST_ASSERT_FALSE(cover_load(b, "/nowhere/at/all", &e));
    TEST_ASSERT_EQUAL(ORDEAL_IO, e.status);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_point_has_a_name_of_its_own);
    RUN_TEST(test_what_is_no_point_is_not_found);
    RUN_TEST(test_news_are_what_a_set_does_not_have);
    RUN_TEST(test_merging_adds_and_keeps_the_earlier_test);
    RUN_TEST(test_runs_are_put_together);
    RUN_TEST(test_only_points_count_that_machines_can_reach);
    RUN_TEST(test_counts_stay_at_the_most_there_can_be);
    RUN_TEST(test_events_by_powers_in_pairs_and_for_each_commit);
    RUN_TEST(test_a_file_is_read_back_as_it_was_written);
    RUN_TEST(test_a_file_that_was_cut_off_is_refused);
    RUN_TEST(test_damage_is_told_with_its_line);
    RUN_TEST(test_saving_leaves_the_old_file_or_the_new_one);
    return UNITY_END();
}
