/* SPDX-License-Identifier: Apache-2.0 */
/* The campaign of `make zoo`, with a stand-in for ordeal that says at once what it is told to say:
 * the tables, what is taken from the file of results, and the end by ^C or worse. ORDEAL in the
 * environment names the program, beside which zoo lies. */
#include <stdlib.h>
#include <unistd.h>

#include "shell.h"

/* It finds every bug but one, counts its runs, and when there is a file `slow` takes its time. */
static const char stand_in[] =
    "#!/bin/sh\n"
    "echo \"$@\" >> calls\n"
    "echo $$ > child\n"
    "case \"$(ls slow 2>&1)$*\" in\n"
    "slow*--shrink*) trap : INT; sleep 100 & wait $!;;\n"
    "slow*) exec sleep 100;;\n"
    "esac\n"
    "end='\"seconds\":1.5,\"undecided\":0,\"end\":\"done\"}'\n"
    "case \"$*\" in\n"
    "*--shrink*) echo '{\"verdict\":\"FAIL\",\"core\":[1,2],\"small\":6}'\n"
    "    echo '{\"tests\":1,\"cycles\":70,\"fail\":1,'\"$end\"; exit 1;;\n"
    "*tx-reads-lost*) echo '{\"tests\":50,\"cycles\":5000,\"fail\":0,'\"$end\"; exit 0;;\n"
    "*deadlock*) echo '{\"broke\":true,\"verdict\":\"FAIL\",\"reason\":\"nobody gets on\"}'\n"
    "    echo '{\"tests\":7,\"cycles\":700,\"fail\":1,'\"$end\"; exit 1;;\n"
    "*--bug*) echo '{\"verdict\":\"FAIL\",\"core\":[1,2,3,4],\"reason\":\"a < b < a\"}'\n"
    "    echo '{\"tests\":3,\"cycles\":300,\"fail\":1,'\"$end\"; exit 1;;\n"
    "*RMO*sets=1,ways=2*dirty*) echo '{\"tests\":9,\"cycles\":90,\"fail\":1,'\"$end\"; exit 1;;\n"
    "*) echo '{\"tests\":20,\"cycles\":200,\"fail\":0,'\"$end\"; exit 0;;\n"
    "esac\n";

void setUp(void)
{
    shell_enter();
    FILE *f = fopen("stand-in", "w");
    TEST_ASSERT_NOT_NULL(f);
    fputs(stand_in, f);
    fclose(f);
    EXPECT(0, "chmod +x stand-in; echo '[test]' > a.bias; echo '[test]' > dirty.bias; : > calls");
}

void tearDown(void)
{
    shell_leave();
}

#define ZOO "ORDEAL=./stand-in \"$BUILD_OF_TESTS/zoo\" r.json bias=a.bias "

static void calls(int wanted)
{
    EXPECT(0, "wc -l < calls");
    TEST_ASSERT_EQUAL(wanted, atoi(out));
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void every_bug_has_its_row(void)
{
    EXPECT(1, ZOO "clean=0 shrink=5 seed=9");
    OUT("\nupgrade-wins                 Caches         TSO   FAIL             3          300"
        "      4      6      1.5\n");
    OUT("\ndeadlock                     Inter-connect  TSO   broke            7          700"
        "      -      6      1.5\n");
    OUT("\ntx-reads-lost                Transactions   TSO   -               50         5000"
        "      -      -      1.5\n");
    OUT("\nsc-loads-early               Ld/St Unit     SC    FAIL");
    OUT("\nTSO                3/3         14/14             -         11/11           3/3"
        "           7/7           7/8         45/46\n");
    OUT("\nTotal               45             1             1\n");
    OUT("46 of 47 bugs found; 0 machines without bugs failed");
    calls(47 + 46);
    EXPECT(0, "grep -c -- '--seed 9' calls");
    TEST_ASSERT_EQUAL(93, atoi(out));
    EXPECT(0, "grep -- '--bug deadlock .*--first 6 --count 1 --shrink' calls");
}

static void every_model_that_can_have_a_bug(void)
{
    EXPECT(0, ZOO "clean=0 models=all bug=coalesce");
    calls(1);
    EXPECT(0, ZOO "clean=0 models=all bug=upgrade-wins");
    OUT("\nRMO ");
    calls(1 + 4);
    EXPECT(0, ZOO "clean=0 models=usual bug=upgrade-wins");
    calls(1 + 4);
}

static void machines_without_bugs_are_clean_or_not(void)
{
    EXPECT(0, ZOO "clean=20 bug=coalesce");
    OUT("\nPSO   sets=1,ways=2                              clean           20        0         0");
    OUT("1 of 1 bugs found; 0 machines without bugs failed");
    EXPECT(1, ZOO "bias=dirty.bias clean=20 bug=coalesce");
    OUT("\nRMO   sets=1,ways=2                              FAIL             9        1");
    OUT("1 of 1 bugs found; 1 machine without bugs failed");
}

static void without_a_bias_it_is_the_default(void)
{
    EXPECT(0, "ORDEAL=./stand-in \"$BUILD_OF_TESTS/zoo\" r.json clean=0 bug=coalesce");
    OUT("Bugs: sizes take turns, the default bias, seed 1, at most 1000 tests");
    EXPECT(0, "grep -- '--bug coalesce --model TSO --count 1000' calls");
    EXPECT(0, ZOO "clean=0 bug=coalesce config=sets=2");
    OUT("Bugs: sets=2, a.bias, ");
    EXPECT(0, "grep -- '--model TSO --sizes usual --config sets=2 --bias a.bias --count' calls");
}

/* ---- the file -------------------------------------------------------------------------------- */

static void what_is_done_is_not_done_again(void)
{
    EXPECT(0, ZOO "clean=0 bug=coalesce");
    EXPECT(0, ZOO "clean=0 bug=coalesce");
    OUT("r.json has 1 runs; what was run as now is not run again");
    OUT("\ncoalesce                     Ld/St Unit     TSO   FAIL             3          300");
    calls(1);
    EXPECT(0, ZOO "clean=0 bug=coalesce seed=2");
    calls(2);
    EXPECT(0, "echo '# another' >> a.bias");
    EXPECT(0, ZOO "clean=0 bug=coalesce");
    calls(3);
    EXPECT(0, "echo '# another' >> stand-in");
    EXPECT(0, ZOO "clean=0 bug=coalesce");
    calls(4);
    EXPECT(0, "echo damaged > r.json");
    EXPECT(0, ZOO "clean=0 bug=coalesce");
    calls(5);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Killed in its second run: what it started is gone, and the next time only that is done again. */
static void ended_by(const char *signal, int status)
{
    EXPECT(0, ZOO "clean=0 bug=coalesce");
    EXPECT(0, "touch slow; rm child; " ZOO "clean=20 bug=coalesce & zoo=$!\n"
              "until [ -s child ]; do sleep 0.05; done\n"
              "kill -%s $zoo; wait $zoo; [ $? = %d ] || exit 2\n"
              "for i in $(seq 100); do\n"
              "    kill -0 $(cat child) 2>/dev/null || exit 0; sleep 0.05\n"
              "done; exit 1", signal, status);
    calls(2);
    EXPECT(0, "rm slow; " ZOO "clean=20 bug=coalesce");
    OUT("r.json has 1 runs");
    calls(2 + 28);
}

static void interrupted_it_goes_on(void) { ended_by("INT", 130); }
static void terminated_it_goes_on(void) { ended_by("TERM", 130); }
static void killed_it_goes_on(void) { ended_by("KILL", 128 + 9); }

static void shrinking_takes_no_longer_than_it_may(void)
{
    EXPECT(0, ZOO "clean=0 bug=coalesce");
    EXPECT(0, "touch slow; " ZOO "clean=0 bug=coalesce shrink=1");
    OUT("\ncoalesce                     Ld/St Unit     TSO   FAIL             3          300"
        "      4      6");
}

static void what_cannot_be_run_is_told(void)
{
    EXPECT(2, "ORDEAL=./nothing \"$BUILD_OF_TESTS/zoo\" r.json clean=0 bug=coalesce");
    ERR("./nothing");
    EXPECT(2, "printf '#!/bin/sh\\necho no such bias >&2; exit 2' > stand-in; " ZOO "clean=0");
    ERR("ended with status 2: no such bias");
    EXPECT(0, "cat r.json");
    TEST_ASSERT_EQUAL_STRING("[]\n", out);
}

static void what_it_does_not_know_it_refuses(void)
{
    static const char *const words[] = { "count=many", "count=-1", "bug=none", "models=some",
                                         "shrink=yes", "colour=red", "clean" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        EXPECT(2, ZOO "%s", words[i]);
        ERR(words[i]);
        ERR("usage: ");
    }
    calls(0);
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(every_bug_has_its_row);
    RUN_TEST(every_model_that_can_have_a_bug);
    RUN_TEST(machines_without_bugs_are_clean_or_not);
    RUN_TEST(without_a_bias_it_is_the_default);
    RUN_TEST(what_is_done_is_not_done_again);
    RUN_TEST(interrupted_it_goes_on);
    RUN_TEST(terminated_it_goes_on);
    RUN_TEST(killed_it_goes_on);
    RUN_TEST(shrinking_takes_no_longer_than_it_may);
    RUN_TEST(what_cannot_be_run_is_told);
    RUN_TEST(what_it_does_not_know_it_refuses);
    return UNITY_END();
}
