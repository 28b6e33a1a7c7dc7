/* SPDX-License-Identifier: Apache-2.0 */
/* Power may be lost at any moment, and a program be killed. What a command does to its files is written down; then for many
 * moments the directory is made as it may be after a cut there, in the worst case and by chance, and
 * what was said to be there by then must be there, whole, and nothing under its name that is not. */
#include "fault_run.h"
#include "power.h"
#include "shell.h"

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
    if (strstr(printed, "saved=")) /* with its small test */
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
    return UNITY_END();
}
