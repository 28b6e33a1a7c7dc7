/* SPDX-License-Identifier: Apache-2.0 */
/* The campaign of `make zoo`, with a stand-in for ordeal that says at once what it is told to say:
 * the tables, what is taken from the file of results, and the end by ^C or worse. ORDEAL in the
 * environment names the program, beside which zoo lies. */
#include <stdlib.h>
#include <unistd.h>

#include "shell.h"

/* It finds every bug but one, counts its runs, and when there is a file `slow` takes its time. The
 * run of the first bug waits for that of the second where there is a file `together`. */
static const char stand_in[] =
    "#!/bin/sh\n"
    "echo \"$@\" >> calls\n"
    "echo $$ >> child\n"
    "case \"$(ls slow 2>&1)$*\" in\n"
    "slow*--shrink*) trap : INT; sleep 100 & wait $!;;\n"
    "slow*) exec sleep 100;;\n"
    "esac\n"
    "case \"$(ls together 2>&1)$*\" in\n"
    "together*branch-shadow-store*) for i in $(seq 200); do\n"
    "    [ -e second ] && break; sleep 0.05; done; ls second || exit 2;;\n"
    "together*interrupt-repeats-store*) : > second;;\n"
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
}

/* A file beside, or before, the program, that its machine is made of. */
static void depends_on(const char *file)
{
    calls(0);
    EXPECT(0, "mkdir -p p/bin/$(dirname %s); touch p/bin/%s; mv stand-in p/bin/ordeal", file, file);
    EXPECT(0, "ORDEAL=p/bin/ordeal \"$BUILD_OF_TESTS/zoo\" r.json clean=0 bug=coalesce");
    EXPECT(0, "ORDEAL=p/bin/ordeal \"$BUILD_OF_TESTS/zoo\" r.json clean=0 bug=coalesce");
    calls(1);
    EXPECT(0, "echo another > p/bin/%s", file);
    EXPECT(0, "ORDEAL=p/bin/ordeal \"$BUILD_OF_TESTS/zoo\" r.json clean=0 bug=coalesce");
    calls(2);
    EXPECT(0, "mv p/bin/ordeal stand-in; rm -r p; : > calls");
}

static void results_depend_on_the_machine(void)
{
    static const char *const files[] = {
        "sim/h4-s16-w2-l4-b8-q4.so",
        "../sim/soc.cpp",
        "../lib/ordeal/lean.so",
        "../share/ordeal/sim/build",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        depends_on(files[i]);
    /* the script may be a link to where the sources are */
    static const char *const sources[] = { "rtl/cache.v", "rtl/lean/lean.v", "rtl/zoo.def",
                                           "sim/soc.cpp" };
    EXPECT(0, "mkdir sources sources/sim sources/rtl sources/rtl/lean sim; : > sources/sim/build\n"
              "ln -s ../sources/sim/build sim/build");
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        EXPECT(0, "echo %zu > sources/%s; " ZOO "clean=0 bug=coalesce", i, sources[i]);
        calls((int)i + 1);
        EXPECT(0, ZOO "clean=0 bug=coalesce");
        calls((int)i + 1);
    }
}

/* Neither that it found a bug nor that a machine is clean. */
static void a_program_that_does_nothing_found_nothing(void)
{
    EXPECT(0, ZOO "clean=20 bug=coalesce");
    EXPECT(0, "cp r.json before; printf '#!/bin/sh\\necho nothing >&2' > stand-in");
    EXPECT(2, ZOO "clean=20 bug=coalesce");
    ERR("ended with status 0 and did not say what came of its tests: nothing\n");
    TEST_ASSERT_NULL(strstr(out, "FAIL"));
    TEST_ASSERT_NULL(strstr(out, "clean  "));
    EXPECT(0, "cmp r.json before");
}

static void not_results(const char *text, const char *complaint)
{
    EXPECT(0, "printf '%s' > r.json; cp r.json before", text);
    EXPECT(2, ZOO "clean=0 bug=coalesce");
    ERR(complaint);
    EXPECT(0, "cmp r.json before");
    calls(0);
}

static void what_is_no_results_is_left_as_it_is(void)
{
    not_results("damaged", "r.json is not a file of results (no JSON at byte 0)");
    not_results("[{\"name\": \"a\"", "r.json is not a file of results (no JSON at byte 13)");
    not_results("[] []", "r.json is not a file of results (no JSON at byte 3)");
    not_results("[]\\000[]", "r.json is not a file of results (no JSON at byte 3)");
    not_results("{\"runs\": []}", "r.json is not a file of results (no array at byte 0)");
    not_results("[{\"name\": \"mine\"}]",
                "r.json is not a file of results (no run is its element 1)");
    EXPECT(0, "rm r.json; mkdir r.json");
    EXPECT(2, ZOO "clean=0 bug=coalesce");
    ERR("r.json: Is a directory");
    EXPECT(0, "rmdir r.json; : > r.json; " ZOO "clean=0 bug=coalesce");
    calls(1);
}

static void links_are_not_written_through(void)
{
    EXPECT(0, "echo mine > a; echo mine > b; ln -s a r.json.new; ln -s b r.json.log");
    EXPECT(0, ZOO "clean=0 bug=coalesce");
    EXPECT(0, "cat a b");
    TEST_ASSERT_EQUAL_STRING("mine\nmine\n", out);
    EXPECT(0, "ln -s a r.json.ordeal-tmp-locked");
    EXPECT(2, ZOO "clean=0 bug=coalesce");
    ERR("r.json: Too many levels of symbolic links");
    EXPECT(0, "cat a");
    TEST_ASSERT_EQUAL_STRING("mine\n", out);
    EXPECT(0, "ls r.json.*");
    TEST_ASSERT_EQUAL_STRING("r.json.log\nr.json.new\nr.json.ordeal-tmp-locked\n", out);
}

static void a_file_has_one_campaign_at_a_time(void)
{
    EXPECT(0, "touch slow; " ZOO "clean=0 bug=coalesce & zoo=$!; echo $zoo > pid\n"
              "until [ -s child ]; do sleep 0.05; done; rm slow\n" ZOO
              "clean=0 bug=deadlock 2> said; echo $? >> said\n"
              "kill -INT $zoo; wait $zoo; [ $? = 130 ] && cat said");
    OUT("r.json: in use by process ");
    OUT("\n2\n");
    EXPECT(0, "grep -w \"process $(cat pid)\" said");
    calls(1);
    EXPECT(0, ZOO "clean=0 bug=deadlock");
    OUT("1 of 1 bugs found");
    calls(2);
}

/* ---- several at a time ----------------------------------------------------------------------- */

static void runs_go_together_and_are_told_in_order(void)
{
    EXPECT(1, "touch together; " ZOO "clean=0 jobs=2");
    const char *first = strstr(out, "\nbranch-shadow-store"),
               *second = strstr(out, "\ninterrupt-rep");
    TEST_ASSERT_TRUE(first && second && first < second);
    OUT("46 of 47 bugs found; 0 machines without bugs failed");
    calls(47);
    EXPECT(0, "grep -c -- '--jobs 1$' calls");
    TEST_ASSERT_EQUAL(47, atoi(out));
    EXPECT(0, "cp r.json before; " ZOO
              "clean=0 jobs=8 bug=coalesce seed=2; grep -- '--jobs 8$' calls");
    EXPECT(1, ZOO "clean=0 jobs=1");
    calls(47 + 1);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Killed in its second and third run: what it started is gone, and the next time only that is done
 * again. */
static void ended_by(const char *signal, int status)
{
    EXPECT(0, ZOO "clean=0 bug=coalesce");
    EXPECT(0,
           "touch slow; rm child; " ZOO "clean=20 bug=coalesce jobs=2 & zoo=$!\n"
           "until [ $(wc -l < child) = 2 ]; do sleep 0.05; done 2> said\n"
           "kill -%s $zoo; wait $zoo; [ $? = %d ] || exit 2\n"
           "for pid in $(cat child); do for i in $(seq 101); do\n"
           "    [ $i -lt 101 ] || exit 1\n"
           "    kill -0 $pid 2>/dev/null || break; sleep 0.05\n"
           "done; done",
           signal, status);
    calls(3);
    EXPECT(0, "rm slow; " ZOO "clean=20 bug=coalesce");
    OUT("r.json has 1 runs");
    calls(3 + 28);
    EXPECT(0, "ls -A | grep r.json");
    TEST_ASSERT_EQUAL_STRING("r.json\n", out);
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
    RUN_TEST(results_depend_on_the_machine);
    RUN_TEST(a_program_that_does_nothing_found_nothing);
    RUN_TEST(what_is_no_results_is_left_as_it_is);
    RUN_TEST(links_are_not_written_through);
    RUN_TEST(a_file_has_one_campaign_at_a_time);
    RUN_TEST(runs_go_together_and_are_told_in_order);
    RUN_TEST(interrupted_it_goes_on);
    RUN_TEST(terminated_it_goes_on);
    RUN_TEST(killed_it_goes_on);
    RUN_TEST(shrinking_takes_no_longer_than_it_may);
    RUN_TEST(what_cannot_be_run_is_told);
    RUN_TEST(what_it_does_not_know_it_refuses);
    return UNITY_END();
}
