/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of ways to make tests: its statistics, its table with a stand-in for ordeal that
 * says at once what it is told to say, and the mistakes of tests/mistakes, each of which must still
 * be one of the machine as it is. ORDEAL in the environment names the program, beside which compare
 * lies. */
#include <math.h>

#include "shell.h"
#include "zoo/statistics.h"

/* Finds every bug with the option --new, after 1000 cycles; without it after 4000, and those of
 * transactions never. */
static const char stand_in[] =
    "#!/bin/sh\n"
    "echo \"$@\" >> calls\n"
    "case \"$(cat stop 2>&1) $*\" in 3*--seed\\ 3*) kill -INT $PPID; exec sleep 9;; esac\n"
    "end='\"seconds\":1.5,\"undecided\":0,\"end\":\"done\"}'\n"
    "case \"$*\" in\n"
    "*--new*) echo '{\"verdict\":\"FAIL\"}'\n"
    "    echo '{\"tests\":2,\"cycles\":1000,\"fail\":1,'\"$end\"; exit 1;;\n"
    "*tx-*|*hard*) echo '{\"tests\":50,\"cycles\":8100,\"fail\":0,'\"$end\"; exit 0;;\n"
    "*) echo '{\"verdict\":\"FAIL\"}'\n"
    "    echo '{\"tests\":7,\"cycles\":4000,\"fail\":1,'\"$end\"; exit 1;;\n"
    "esac\n";

void setUp(void)
{
    shell_enter();
    FILE *f = fopen("stand-in", "w");
    TEST_ASSERT_NOT_NULL(f);
    fputs(stand_in, f);
    fclose(f);
    EXPECT(0, "chmod +x stand-in; : > calls");
}

void tearDown(void) { shell_leave(); }

#define COMPARE "ORDEAL=./stand-in \"$BUILD_OF_TESTS/compare\" r.json way=old: way=new:--new "

static void calls(int wanted)
{
    EXPECT(0, "wc -l < calls");
    TEST_ASSERT_EQUAL(wanted, atoi(out));
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void near(double wanted, double got) { TEST_ASSERT_TRUE(fabs(wanted - got) < 1e-9); }

static void medians(void)
{
    double odd[] = { 9, 1, 5 }, even[] = { 8, 1, 2, 4 }, one[] = { 7 };
    near(5, median(odd, 3));
    near(3, median(even, 4));
    near(7, median(one, 1));
}

static void means_are_geometric_over_bugs(void)
{
    static const double cost[] = { 1, 3, 8, 8 }, half[] = { 1, 1, 4, 4 };
    struct costs a = { cost, 2, 2, NULL }, b = { half, 2, 2, NULL };
    near(4, costs_mean(&a)); /* of 2 and 8 */
    near(2, costs_ratio(&a, &b));
}

/* Two of four runs found the first bug, none the second. */
static void runs_that_find_nothing_cost_those_that_do(void)
{
    static const double cost[] = { 1, 3, 6, 6, 8, 8, 8, 8 };
    static const bool found[] = { true, true, false, false, false, false, false, false };
    struct costs a = { cost, 2, 4, found };
    near(16, costs_mean(&a)); /* of 16 / 2 and 32 */
    struct interval same = costs_ratio_interval(&a, &a, 100, 1);
    near(1, same.low);
    near(1, same.high);
}

/* Where all bugs agree there is nothing to doubt; where they do not, the interval says so. */
static void intervals_hold_what_could_have_been(void)
{
    static const double cost[] = { 10, 10, 80, 80 }, fifth[] = { 2, 2, 16, 16 };
    static const double mixed[] = { 1, 1, 160, 160 };
    struct costs a = { cost, 2, 2, NULL }, b = { fifth, 2, 2, NULL }, c = { mixed, 2, 2, NULL };
    struct interval sure = costs_ratio_interval(&a, &b, 200, 1);
    near(5, sure.low);
    near(5, sure.high);
    struct interval unsure = costs_ratio_interval(&a, &c, 2000, 1);
    near(0.5, unsure.low);
    near(10, unsure.high);
    struct interval again = costs_ratio_interval(&a, &c, 2000, 1);
    near(unsure.low, again.low);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void ways_are_compared_over_the_zoo(void)
{
    EXPECT(0, COMPARE "seeds=3 seed=5 cycles=8000");
    OUT("\nupgrade-wins                     3      4000     7   3      1000     2\n");
    OUT("\ntx-no-membar                     0      8000    50   3      1000     2\n");
    OUT("\nold                 83.0%          0           4501     1.00   1.00 to  1.00 ");
    OUT("\nnew                100.0%          0           1000     4.50   ");
    OUT("           1000     5.43 ");
    calls(2 * 3 * 47);
    EXPECT(0, "grep -- '--seed 7 --bug sc-loads-early --model SC --new --cycles 8000' calls");
    EXPECT(0, COMPARE "seeds=3 seed=5 cycles=8000");
    calls(2 * 3 * 47);
}

static void the_bound_may_be_one_of_tests(void)
{
    EXPECT(0, COMPARE "seeds=2 tests=50");
    OUT("not found: 50 tests");
    OUT("\ntx-no-membar                     0      8100    50   2      1000     2\n");
    EXPECT(0, "grep -- '--new --count 50 --stop-after 1' calls; ! grep -- --cycles calls");
    EXPECT(2, COMPARE "tests=50 cycles=8000");
    ERR("usage: ");
}

/* The seeds before are told, and are not run again. */
static void interrupted_it_tells_the_seeds_that_are_done(void)
{
    EXPECT(130, "echo 3 > stop; " COMPARE "seeds=4 cycles=8000 jobs=1");
    OUT("seed 2 found, of 47: old 39 new 47\n");
    OUT("Found of 2 seeds");
    OUT("\nupgrade-wins                     2      4000     7   2      1000     2\n");
    OUT("\nold                 83.0%          0           4501     1.00   1.00 to  1.00 ");
    TEST_ASSERT_NULL(strstr(out, "seed 3"));
    ERR("the next time it goes on from r.json");
    calls(2 * 2 * 47 + 1);
    EXPECT(0, "rm stop; " COMPARE "seeds=4 cycles=8000");
    OUT("Found of 4 seeds");
    OUT("\ntx-no-membar                     0      8000    50   4      1000     2\n");
    calls(2 * 4 * 47 + 1);
}

static void what_a_way_loses_is_counted(void)
{
    EXPECT(0,
           "ORDEAL=./stand-in \"$BUILD_OF_TESTS/compare\" r.json way=new:--new way=old: seeds=2");
    OUT("\nold                 83.0%          8 ");
}

static void a_way_is_what_its_files_say(void)
{
    EXPECT(0, "echo 1 > a.bias; echo 1 > b.bias");
    for (int i = 0; i < 2; i++)
        EXPECT(0, "ORDEAL=./stand-in \"$BUILD_OF_TESTS/compare\" r.json seeds=2 bug=coalesce"
                  " way=a:--bias=a.bias way=b:'--bias b.bias'");
    calls(4);
    EXPECT(0, "echo 2 > a.bias; echo 2 > b.bias; ORDEAL=./stand-in \"$BUILD_OF_TESTS/compare\""
              " r.json seeds=2 bug=coalesce way=a:--bias=a.bias way=b:'--bias b.bias'");
    calls(8);
}

static void mistakes_are_machines_of_their_own(void)
{
    EXPECT(0, "mkdir -p m/easy m/hard/sim m/hard/rtl m/none; : > m/hard/sim/build\n"
              "cp stand-in m/easy/ordeal; cp stand-in m/hard/ordeal\n"
              "echo --model RMO > m/easy/words; : > m/hard/words; echo 1 > m/hard/rtl/cache.v\n"
              "sed -i 's/case \"/case \"$0 /' m/*/ordeal");
    EXPECT(0, COMPARE "seeds=2 mistakes=m cycles=16000");
    OUT("\neasy                             2      4000     7   2      1000     2\n");
    OUT("\nhard                             0     16000    50   2      1000     2\n");
    EXPECT(0, "grep -c -- '--seed [12] --model RMO' calls");
    TEST_ASSERT_EQUAL(4, atoi(out));
    calls(8);
    EXPECT(0, "echo 2 > m/hard/rtl/cache.v; " COMPARE "seeds=2 mistakes=m cycles=16000");
    calls(12);
    EXPECT(2, COMPARE "mistakes=m bug=nothing");
    ERR("there is no bug nothing to look for");
    EXPECT(2, COMPARE "mistakes=nowhere");
    ERR("nowhere: No such file or directory");
}

static void what_it_does_not_know_it_refuses(void)
{
    static const char *const words[] = { "seeds=many", "seeds=0",    "cycles=-1", "way=old",
                                         "way=:--x",   "colour=red", "seeds" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        EXPECT(2, COMPARE "%s", words[i]);
        ERR(words[i]);
        ERR("usage: ");
    }
    EXPECT(2, "ORDEAL=./stand-in \"$BUILD_OF_TESTS/compare\" r.json seeds=2");
    ERR("usage: ");
    calls(0);
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(medians);
    RUN_TEST(means_are_geometric_over_bugs);
    RUN_TEST(runs_that_find_nothing_cost_those_that_do);
    RUN_TEST(intervals_hold_what_could_have_been);
    RUN_TEST(ways_are_compared_over_the_zoo);
    RUN_TEST(the_bound_may_be_one_of_tests);
    RUN_TEST(interrupted_it_tells_the_seeds_that_are_done);
    RUN_TEST(what_a_way_loses_is_counted);
    RUN_TEST(a_way_is_what_its_files_say);
    RUN_TEST(mistakes_are_machines_of_their_own);
    RUN_TEST(what_it_does_not_know_it_refuses);
    return UNITY_END();
}
