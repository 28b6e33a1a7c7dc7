/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of `ordeal regress`: what they become, and what is said of wrong ones, with the line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "regress/plan.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static bool take(struct plan *p, const char *text, struct ordeal_error *e)
{
    FILE *in = fmemopen((void *)text, strlen(text), "r");
    TEST_ASSERT_NOT_NULL(in);
    bool good = plan_read_stream(p, in, "tests/p.plan", e);
    fclose(in);
    return good;
}

static void words_are(const struct plan_run *run, const char *wanted)
{
    char words[1024] = "";
    for (size_t i = 0; i < run->words.count; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i ? " " : "",
                 run->words.data[i]);
    TEST_ASSERT_EQUAL_STRING(wanted, words);
}

static void good(struct plan *p, const char *text)
{
    struct ordeal_error e = { 0 };
    bool taken = take(p, text, &e);
    TEST_ASSERT_TRUE_MESSAGE(taken, e.reason);
}

static void values_make_runs(void)
{
    struct plan p;
    good(&p,
         "[regression]\ntests = 100 # of all\n[all]\nmodel = TSO\nset = test.threads=2\n"
         "[run a]\ntarget = sim | model\nseeds = 3 | 5..6\nweight = 2\n"
         "[run b]\ntarget = sim\nmodel = SC\nset = test.operations=9\nvisible = yes\nharts = 2\n");
    TEST_ASSERT_EQUAL(7, p.runs.count);
    TEST_ASSERT_EQUAL_STRING("a/target=sim,seed=3", p.runs.data[0].name);
    TEST_ASSERT_EQUAL_STRING("a/target=model,seed=6", p.runs.data[5].name);
    words_are(&p.runs.data[1], "run --model TSO --set test.threads=2 --target sim --seed 5");
    words_are(&p.runs.data[6], "run --set test.threads=2 --target sim --model SC "
                               "--set test.operations=9 --visible --harts 2");
    TEST_ASSERT_EQUAL(6, p.runs.data[5].seed);
    TEST_ASSERT_EQUAL_STRING("SC", p.runs.data[6].model);
    uint64_t sum = 0;
    for (size_t i = 0; i < p.runs.count; i++)
        sum += p.runs.data[i].budget.tests;
    TEST_ASSERT_EQUAL(100, sum);
    TEST_ASSERT_EQUAL(33, p.runs.data[6].budget.tests);
    plan_free(&p);
}

static void what_editors_leave_does_not_matter(void)
{
    struct plan p;
    good(&p, "\xef\xbb\xbf[regression]\r\ntests = 7\r\n[run a]\r\ntarget = model\r\n");
    TEST_ASSERT_EQUAL(1, p.runs.count);
    TEST_ASSERT_EQUAL(7, p.runs.data[0].budget.tests);
    words_are(&p.runs.data[0], "run --target model");
    plan_free(&p);
}

static void budgets_are_shared(void)
{
    struct plan p;
    good(&p, "[regression]\ntests = 100\ncycles = 5000\nseconds = 7.5\n"
             "[run own]\ntarget = sim\nseeds = 1..4\ntests = 10\ncycles = 1000\n"
             "[run a]\ntarget = sim\nweight = 3\n[run b]\ntarget = model\n");
    static const uint64_t tests[] = { 3, 3, 2, 2, 68, 22 };
    static const uint64_t cycles[] = { 250, 250, 250, 250, 4000, 0 };
    for (int i = 0; i < 6; i++) {
        TEST_ASSERT_EQUAL(tests[i], p.runs.data[i].budget.tests);
        TEST_ASSERT_EQUAL(cycles[i], p.runs.data[i].budget.cycles);
    }
    TEST_ASSERT_TRUE(p.budget.seconds == 7.5);
    plan_free(&p);
}

static void files_are_beside_the_plan(void)
{
    struct plan p;
    good(&p, "[regression]\ntests = 1\n[run a]\ntarget = model\nbias = ../examples/swaps.bias\n");
    words_are(&p.runs.data[0], "run --target model --bias tests/../examples/swaps.bias");
    TEST_ASSERT_TRUE(p.runs.data[0].is_file.data[4]);
    plan_free(&p);
}

static void the_plan_to_begin_with_is_good(void)
{
    struct plan p;
    good(&p, plan_to_begin_with);
    TEST_ASSERT_EQUAL(6, p.runs.count);
    plan_free(&p);
}

#define HEAD "[regression]\ntests = 9\n"
#define RUN HEAD "[run a]\ntarget = sim\n"

static void what_is_wrong_is_told(void)
{
    static const struct {
        const char *text;
        uint64_t line;
        const char *reason;
    } wrong[] = {
        { "", 0, "there is no [run NAME]: nothing is to be run" },
        { "tests = 1\n", 1, "a key before the first [section]" },
        { "[regresion]\n", 1, "unknown section [regresion]; there are [regression], [all] and" },
        { "[regression]\ntest = 1\n", 2,
          "unknown key 'test' of [regression]; did you mean 'tests'?" },
        { "[regression]\nqqqqqq = 1\n", 2, "there are tests, cycles, seconds, batch, examples," },
        { "[regression]\ntests = 0\n", 2, "tests = 0: allowed is a whole number above 0" },
        { "[regression]\ntests = 1\ntests = 2\n", 3, "tests is given twice, first in line 2" },
        { "[regression]\nseconds = -1\n", 2, "seconds = -1: allowed is a number above 0" },
        { "[regression]\nwaves = 1\n", 2, "waves = 1: allowed is yes or no" },
        { "[regression]\nincidents = 1\n", 2, "incidents = 1: allowed is report or fail" },
        { "[run a]\ntarget = sim\n", 1, "run 'a' has no budget: give tests, seconds or cycles" },
        { HEAD "[run a]\n", 3, "the run has no target" },
        { HEAD "[run]\n", 3, "unknown section [run]" },
        { HEAD "[run a/b]\n", 3, "[run a/b]: the name of a run is a word without '/'" },
        { HEAD "[run a]\ntarget = siim\n", 4,
          "target = siim: allowed is one of model, native, elf, sim, board; did you mean 'sim'?" },
        { RUN "[run a]\n", 5, "[run a] is there twice, first in line 3" },
        { RUN "model = TS\n", 5, "model = TS: allowed is one of SC, TSO" },
        { RUN "hrats = 4\n", 5, "unknown key 'hrats' of a run; did you mean 'harts'?" },
        { RUN "emit = d\n", 5, "unknown key 'emit' of a run" },
        { RUN "harts = four\n", 5, "harts = four: allowed is a whole number above 0" },
        { RUN "bug = a | | b\n", 5, "bug: a value is missing" },
        { RUN "seeds = 5..2\n", 5, "seeds = 5..2: allowed are numbers, and FIRST..LAST" },
        { RUN "seeds = x\n", 5, "seeds = x: allowed are numbers" },
        { RUN "seeds = 1..9999\n", 5, "seeds has more than 1024 values" },
        { RUN "set = x\n", 5, "set = x: allowed is KEY=VALUE" },
        { RUN "bias = none.bias\n", 5, "bias = tests/none.bias: No such file or directory" },
        { RUN "bias = golden\n", 5, "bias = tests/golden/tuned.bias: a folder of 'ordeal tune'" },
        { RUN "tm = lazy\n", 5, "tm is for the target model; 'sim' does not know it" },
        { RUN "[all]\n", 5, "[all] stands before the first [run NAME]" },
        { RUN " model = TSO\n", 5, "the line begins with a blank" },
        { RUN "nonsense\n", 5, "expected '[section]' or 'key = value'" },
        { RUN "tests = 9\n[run b]\ntarget = sim\n", 2,
          "tests = 9: the runs that say their own have" },
        { HEAD "[run a]\ntarget = model\ncycles = 5\n", 5,
          "cycles: the target 'model' counts none" },
        { HEAD "[run a]\ntarget = model\nseeds = 1..3\ntests = 2\n", 6,
          "tests = 2 is too little for 3 runs" },
        { RUN "seeds = 1 | 1\n", 3, "two runs would be called 'a/seed=1'" },
        { RUN "\x01\n", 5, "a control character; a plan is text" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ordeal_error e = { 0 };
        struct plan p;
        char message[1200];
        bool taken = take(&p, *wrong[i].text ? wrong[i].text : "\n", &e);
        snprintf(message, sizeof message, "%s: %llu: %s", wrong[i].text, (unsigned long long)e.line,
                 e.reason);
        TEST_ASSERT_FALSE_MESSAGE(taken, message);
        TEST_ASSERT_EQUAL_MESSAGE(wrong[i].line, e.line, message);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, wrong[i].reason), message);
        TEST_ASSERT_EQUAL_STRING("tests/p.plan", e.file);
        plan_free(&p);
    }
}

/* Nobody waits for who would write into a pipe. */
static void a_plan_is_a_file(void)
{
    char directory[] = "/tmp/test-plan-XXXXXX", path[64];
    struct ordeal_error e = { 0 };
    struct plan p;
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/pipe", directory);
    TEST_ASSERT_EQUAL(0, mkfifo(path, 0600));
    TEST_ASSERT_FALSE(plan_read(&p, path, &e));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, "a pipe or device is not read"), e.reason);
    plan_free(&p);
    TEST_ASSERT_EQUAL(0, unlink(path));
    TEST_ASSERT_EQUAL(0, rmdir(directory));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(values_make_runs);
    RUN_TEST(what_editors_leave_does_not_matter);
    RUN_TEST(budgets_are_shared);
    RUN_TEST(files_are_beside_the_plan);
    RUN_TEST(the_plan_to_begin_with_is_good);
    RUN_TEST(what_is_wrong_is_told);
    RUN_TEST(a_plan_is_a_file);
    return UNITY_END();
}
