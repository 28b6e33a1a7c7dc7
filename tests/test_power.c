/* SPDX-License-Identifier: Apache-2.0 */
/* Power may be lost at any moment, and a program be killed. What a command does to its files is written down; then for many
 * moments the directory is made as it may be after a cut there, in the worst case and by chance, and
 * what was said to be there by then must be there, whole, and nothing under its name that is not. */
#include "fault_run.h"
#include "power.h"
#include "regressions.h"

static bool all;
static struct power_log done;

void setUp(void) { shell_enter(); }

void tearDown(void)
{
    power_log_free(&done);
    done = (struct power_log){ 0 };
    shell_leave();
}

static int record(const char *words)
{
    static struct fault_run r;
    TEST_ASSERT_EQUAL(0, system(": >log"));
    r = (struct fault_run){ .words = words, .log = "log" };
    fault_run(&r);
    TEST_ASSERT_TRUE(power_log_read(&done, "log"));
    TEST_ASSERT_TRUE_MESSAGE(done.count > 0, "nothing was written down");
    return r.status;
}

/* So that the last ones, when most is said, are all among them. */
static size_t next_cut(size_t cut)
{
    size_t step = all || done.count - cut < 12 ? 1 : done.count / 20 + 1;
    return cut + step;
}

static void cut_at(size_t cut, uint64_t chance)
{
    EXPECT(0, "rm -rf after");
    TEST_ASSERT_TRUE(power_cut(&done, cut, chance, "after"));
}

static void kill_at(size_t cut)
{
    EXPECT(0, "rm -rf after");
    TEST_ASSERT_TRUE(power_kill(&done, cut, "after"));
}

/* A cut for each moment, each the worst case and some by chance; and the program killed there. */
static void at_each_cut(void (*look)(size_t cut, const char *printed))
{
    static char printed[1 << 16];
    uint32_t cuts = 0;
    for (size_t cut = 0; cut <= done.count; cut = next_cut(cut)) {
        power_printed(&done, cut, printed, sizeof printed);
        for (uint64_t chance = 0; chance < (all ? 6 : 3); chance++, cuts++) {
            cut_at(cut, chance);
            look(cut, printed);
        }
        kill_at(cut);
        look(cut, printed);
    }
    printf("%zu things done to files, %u cuts\n", done.count, cuts);
}

static void look_at_kept(size_t cut, const char *printed)
{
    (void)cut;
    if (strstr(printed, "saved="))
        EXPECT(0, "diff -r -x '*small*' kept/test-000000 after/kept/test-000000");
    if (strstr(printed, "small="))
        EXPECT(0, "diff -r kept/test-000000 after/kept/test-000000");
    /* By its name it is whole, and what it was shrunk to comes to it as a whole. */
    EXPECT(0, "cd after/kept/test-000000 2>/dev/null || exit 0; w=../../../kept/test-000000; "
              "diff -r -x '*small*' $w . && { ! ls -I '*.ordeal-tmp-*' | grep -q small "
              "|| diff -r -x '*.ordeal-tmp-*' $w .; }");
}

static void test_kept_folders(void)
{
    if (!fault_possible())
        TEST_IGNORE_MESSAGE("allocations are the sanitizers'");
    EXPECT(0, PLAIN_BIAS);
    TEST_ASSERT_EQUAL(1,
                      record("run --target model --bug forward-oldest --bias plain.bias --count 3 "
                             "--check --stop-after 1 --shrink --save kept"));
    at_each_cut(look_at_kept);
}

static void look_at_outputs(size_t cut, const char *printed)
{
    (void)printed;
    EXPECT(0, "for f in m.trace c.cover; do test ! -e after/$f || cmp after/$f $f || exit 1; done");
    if (cut == done.count)
        EXPECT(0, "cmp m.trace after/m.trace && cmp c.cover after/c.cover");
}

static void test_outputs(void)
{
    if (!fault_possible())
        TEST_IGNORE_MESSAGE("allocations are the sanitizers'");
    TEST_ASSERT_EQUAL(0, record("run --target model --count 3 --check --cover c.cover -o m.trace"));
    at_each_cut(look_at_outputs);
}

#define TUNE "tune --target model --tests 40 -o t"

/* It goes on from what is there, and comes to the same end. */
static void test_tuning_goes_on(void)
{
    if (!fault_possible())
        TEST_IGNORE_MESSAGE("allocations are the sanitizers'");
    TEST_ASSERT_EQUAL(0, record(TUNE));
    size_t step = all ? 1 : done.count / 4 + 1;
    for (size_t cut = 0; cut <= done.count; cut += step)
        for (uint64_t chance = 0; chance < (all ? 3 : 2); chance++) {
            cut_at(cut, chance);
            EXPECT(0, "cd after && $ORDEAL " TUNE);
            EXPECT(0, "cmp t/tuned.bias after/t/tuned.bias");
        }
    cut_at(done.count, 0);
    EXPECT(0, "diff -r -x '*.ordeal-tmp-locked' t after/t"); /* what is removed is not forced */
}

#define REGRESS "regress p.plan --db p --jobs 1"

/* A failure that was told is in the database, and what is not there is run again. */
static void look_at_regression(size_t cut, const char *printed)
{
    (void)cut;
    EXPECT(0, "cp p.plan plain.bias after");
    for (const char *at = printed; (at = strstr(at, "FAIL bad#")); at++) {
        char query[100];
        snprintf(query, sizeof query, "SELECT count(*) FROM failure WHERE number = %lu",
                 strtoul(at + strlen("FAIL bad#"), NULL, 10));
        TEST_ASSERT_EQUAL(1, number_of("after/p", query));
    }
    EXPECT(1, "cd after && $ORDEAL " REGRESS);
    OUT("REGRESSION p tests=2 pass=0 fail=2 undecided=0 lost=0 buckets=1 incidents=0 end=done");
    EXPECT(1, "cd after && $ORDEAL show $($ORDEAL " REGRESS " | sed -n 's/^BUCKET.* saved=//p')");
}

static void test_regressions_go_on(void)
{
    if (!fault_possible())
        TEST_IGNORE_MESSAGE("allocations are the sanitizers'");
    EXPECT(0, PLAIN_BIAS);
    EXPECT(0, PLAIN_PLAN);
    TEST_ASSERT_EQUAL(1, record(REGRESS));
    size_t step = all ? done.count / 200 + 1 : done.count / 8 + 1;
    for (size_t cut = 0; cut <= done.count; cut += step) {
        static char printed[1 << 16];
        power_printed(&done, cut, printed, sizeof printed);
        for (uint64_t chance = 0; chance < (all ? 3 : 2); chance++) {
            cut_at(cut, chance);
            look_at_regression(cut, printed);
        }
        kill_at(cut);
        look_at_regression(cut, printed);
    }
}

/* From some moment on nothing can be renamed or written, by workers either: what they could not do is not
 * left out, but done by the next start. */
static void test_what_a_broken_disk_kept_from_being_done_is_done(void)
{
    static struct fault_run r;
    static const enum fault_kind kinds[] = { FAULT_RENAME, FAULT_WRITE };
    if (!fault_possible())
        TEST_IGNORE_MESSAGE("allocations are the sanitizers'");
    EXPECT(0, PLAIN_BIAS);
    EXPECT(0, PLAIN_PLAN);
    for (int k = 0; k < 2; k++) {
        EXPECT(0, "rm -rf p p-*");
        r = (struct fault_run){ .words = REGRESS };
        fault_run(&r);
        uint64_t calls = r.seen[kinds[k]], step = calls / (all ? 60 : 6) + 1;
        TEST_ASSERT_TRUE(calls > 0);
        for (uint64_t at = 1; at <= calls; at += step) {
            EXPECT(0, "rm -rf p p-*");
            r = (struct fault_run){ .words = REGRESS, .kind = kinds[k], .at = at, .onwards = true };
            fault_run(&r);
            TEST_ASSERT_NULL_MESSAGE(strstr(r.out, "status 2: tests="), "that is no reason");
            EXPECT(1, "$ORDEAL " REGRESS);
            OUT("REGRESSION p tests=2 pass=0 fail=2 ");
            TEST_ASSERT_NULL(strstr(out, "skipped="));
        }
    }
}

int main(void)
{
    const char *wanted = getenv("FAULTS");
    all = wanted && strcmp(wanted, "all") == 0;
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_kept_folders);
    RUN_TEST(test_outputs);
    RUN_TEST(test_tuning_goes_on);
    RUN_TEST(test_regressions_go_on);
    RUN_TEST(test_what_a_broken_disk_kept_from_being_done_is_done);
    return UNITY_END();
}
