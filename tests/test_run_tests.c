/* SPDX-License-Identifier: Apache-2.0 */
/* tests/run, which runs all tests, this one too, with stand-ins for test programs: what it counts,
 * in which order it tells, that it waits for nobody for ever and leaves nobody behind. */
#include "shell.h"

/* A program NAME of the test's directory: a shell script. */
static void program(const char *name, const char *script)
{
    FILE *f = fopen(name, "w");
    TEST_ASSERT_NOT_NULL(f);
    fprintf(f, "#!/bin/bash\n%s\n", script);
    fclose(f);
    EXPECT(0, "chmod +x %s", name);
}

#define TOTALS(ran, bad, ignored) "echo '" #ran " Tests " #bad " Failures " #ignored " Ignored '\n"
#define RUN "\"$HOME_OF_TESTS/tests/run\" "

void setUp(void)
{
    shell_enter();
    program("test_fine",
            "echo 'a.c:1:test_a:PASS'\necho 'a.c:2:test_b:IGNORE'\n" TOTALS(3, 0, 1) "echo OK");
    program("test_bad", "echo 'b.c:1:test_c:FAIL: no'\n" TOTALS(5, 2, 0) "echo FAIL; exit 2");
    program("test_hangs", "echo so far\n"
                          "(trap '' TERM; echo $BASHPID > child; exec sleep 100) &\n"
                          "wait");
}

void tearDown(void) { shell_leave(); }

static void is(const char *wanted) { TEST_ASSERT_EQUAL_STRING_MESSAGE(wanted, out, err); }

/* ---- what is counted ------------------------------------------------------------------------- */

static void test_totals_add_up(void)
{
    EXPECT(0, RUN "./test_fine ./test_fine");
    is("== test_fine\na.c:2:test_b:IGNORE\n3 Tests 0 Failures 1 Ignored \nOK\n"
       "== test_fine\na.c:2:test_b:IGNORE\n3 Tests 0 Failures 1 Ignored \nOK\n"
       "4 passed, 0 failed\n");
}

static void test_what_cannot_be_is_refused(void)
{
    EXPECT(2, RUN);
    ERR("which test programs?");
    EXPECT(2, "JOBS=0 " RUN "./test_fine");
    ERR("JOBS=0: expected a number above 0");
    EXPECT(2, "TEST_SECONDS=soon " RUN "./test_fine");
    ERR("TEST_SECONDS=soon: expected a number above 0");
}

static void test_a_failure_is_told(void)
{
    EXPECT(1, RUN "./test_bad ./test_fine");
    OUT("b.c:1:test_c:FAIL: no\n");
    OUT("\n5 passed, 2 failed\n");
}

static void test_a_crash_is_a_failure(void)
{
    program("test_crash", "echo before\nkill -SEGV $$");
    EXPECT(1, RUN "./test_crash ./test_fine");
    OUT("== test_crash\nbefore\ntest_crash: ended with status 139\n== test_fine\n");
    OUT("\n2 passed, 1 failed\n");
    TEST_ASSERT_EQUAL_STRING("", err);
    program("test_suicide", "kill -TERM 0; sleep 100"); /* the whole group */
    EXPECT(1, RUN "./test_suicide");
    OUT("test_suicide: ended with status 143\n0 passed, 1 failed\n");
    program("test_suicide", "kill -KILL 0");
    EXPECT(1, "TEST_SECONDS=100 " RUN "./test_suicide");
    OUT("test_suicide: ended with status 137\n0 passed, 1 failed\n");
    EXPECT(1, RUN "./not_there");
    OUT("not_there: ended with status 127\n0 passed, 1 failed\n");
}

/* As a sanitizer that finds a leak when all tests have passed. */
static void test_totals_that_lie_are_a_failure(void)
{
    program("test_leak", TOTALS(4, 0, 0) "exit 23");
    EXPECT(1, RUN "./test_leak");
    OUT("test_leak: ended with status 23\n4 passed, 1 failed\n");
    program("test_quiet", "echo nothing wrong here");
    EXPECT(1, RUN "./test_quiet");
    OUT("test_quiet: printed no totals\n0 passed, 1 failed\n");
    program("test_denies", TOTALS(4, 1, 0));
    EXPECT(1, RUN "./test_denies");
    OUT("\n3 passed, 1 failed\n");
}

static void test_the_last_totals_count(void)
{
    program("test_quotes",
            TOTALS(9, 9, 0) "echo 'it said 7 Tests 7 Failures 0 Ignored'\n" TOTALS(1, 0, 0));
    EXPECT(0, RUN "./test_quotes");
    OUT("\n1 passed, 0 failed\n");
}

static void test_an_example_passes_by_its_status(void)
{
    program("example_fine", "echo hello");
    program("example_bad", "exit 1");
    EXPECT(1, RUN "./example_fine ./example_bad");
    is("== example_fine\nhello\n"
       "== example_bad\nexample_bad: ended with status 1\n"
       "1 passed, 1 failed\n");
}

/* ---- side by side ---------------------------------------------------------------------------- */

static void test_the_order_is_that_given(void)
{
    program("test_slow", "until [ -e quick ]; do sleep 0.05; done\n" TOTALS(1, 0, 0));
    program("test_quick", ": > quick\n" TOTALS(2, 0, 0));
    EXPECT(0, "JOBS=2 " RUN "./test_slow ./test_quick"); /* the first ends only after the second */
    is("== test_slow\n1 Tests 0 Failures 0 Ignored \n== test_quick\n2 Tests 0 Failures 0 Ignored \n"
       "3 passed, 0 failed\n");
}

static void test_no_more_than_jobs_run(void)
{
    program("test_alone", "mkdir lock || exit 1\nsleep 0.1\nrmdir lock\n" TOTALS(1, 0, 0));
    EXPECT(0, "JOBS=1 " RUN "./test_alone ./test_alone ./test_alone");
    OUT("\n3 passed, 0 failed\n");
}

static void test_none_of_many_is_lost(void)
{
    EXPECT(0, "JOBS=8 TEST_SECONDS=60 " RUN "$(yes ./test_fine | head -n 300)");
    OUT("\n600 passed, 0 failed\n");
}

static void test_it_takes_down_how_long_each_took(void)
{
    EXPECT(0, "TIMES=times " RUN "./test_fine; grep -cx '[0-9]* test_fine' times");
    OUT("\n1\n");
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Nobody is left, not even a child that does not listen. One that is dead may wait to be buried. */
static void nobody_is_left(void)
{
    EXPECT(0, "for i in $(seq 200); do\n"
              "    case $(sed 's/.*) //' /proc/$(cat child)/stat) in Z* | '') exit 0;; esac\n"
              "    sleep 0.05\n"
              "done\n"
              "exit 1");
}

static void test_one_that_hangs_is_named_and_killed(void)
{
    EXPECT(1, "TEST_SECONDS=1 " RUN "./test_hangs ./test_fine");
    is("== test_hangs\nso far\ntest_hangs: did not end within 1 s\n"
       "== test_fine\na.c:2:test_b:IGNORE\n3 Tests 0 Failures 1 Ignored \nOK\n"
       "2 passed, 1 failed\n");
    nobody_is_left();
}

static void test_what_is_left_behind_is_killed(void)
{
    program("test_leaves", "sleep 100 &\necho $! > child\n" TOTALS(1, 0, 0));
    EXPECT(0, RUN "./test_leaves");
    nobody_is_left();
}

static void test_an_interrupt_ends_all(void)
{
    static const char *const signals[] = { "INT", "TERM", "HUP" };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        EXPECT(130,
               "rm -f child\n"
               "TMPDIR=$PWD env --default-signal=INT " RUN "./test_fine ./test_hangs &\n"
               "until [ -s child ]; do sleep 0.05; done; kill -%s $!; wait $!",
               signals[i]);
        nobody_is_left();
        EXPECT(2, "ls -d ordeal-tests-*"); /* its temporary files */
    }
}

/* A test may be of ^C itself. */
static void test_programs_can_be_interrupted(void)
{
    program("test_interrupt", "trap 'echo 1 Tests 0 Failures 0 Ignored; exit 0' INT\nkill -INT $$");
    EXPECT(0, "env --default-signal=INT " RUN
              "./test_interrupt"); /* what is ignored cannot be trapped */
    OUT("\n1 passed, 0 failed\n");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_totals_add_up);
    RUN_TEST(test_what_cannot_be_is_refused);
    RUN_TEST(test_a_failure_is_told);
    RUN_TEST(test_a_crash_is_a_failure);
    RUN_TEST(test_totals_that_lie_are_a_failure);
    RUN_TEST(test_the_last_totals_count);
    RUN_TEST(test_an_example_passes_by_its_status);
    RUN_TEST(test_the_order_is_that_given);
    RUN_TEST(test_no_more_than_jobs_run);
    RUN_TEST(test_none_of_many_is_lost);
    RUN_TEST(test_it_takes_down_how_long_each_took);
    RUN_TEST(test_one_that_hangs_is_named_and_killed);
    RUN_TEST(test_what_is_left_behind_is_killed);
    RUN_TEST(test_an_interrupt_ends_all);
    RUN_TEST(test_programs_can_be_interrupted);
    return UNITY_END();
}
