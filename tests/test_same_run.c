/* SPDX-License-Identifier: Apache-2.0 */
/* The same command is the same run: what `ordeal run` and `ordeal tune` print and write on targets
 * that are exact is the same each time, byte by byte but for the seconds, however many machines and
 * cores are at work. Most of these runs stop early or have failures, so what was run by then differs
 * from time to time, and must not be seen. */
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

static const char *const ways[] = { "--jobs 1", "--jobs 1", "--jobs 2", "--jobs 3" };
enum { WAYS = sizeof ways / sizeof *ways };

/* Without what depends on the clock, and the way in the command that goes on. */
#define TIMELESS \
    "sed -E 's/\"?(seconds|ops_per_second|running_percent|cycles_per_second)\"?[=:][0-9.]+[ ,]?//g; " \
    "/the rest: /s/--jobs [0-9]* *//'"

/* In a folder of each way's own, which must all be the same in the end; %s is the way. */
static void same(int status, const char *command)
{
    for (int i = 0; i < WAYS; i++) {
        char way[1024];
        snprintf(way, sizeof way, command, ways[i]);
        /* The last of them has one core alone. */
        EXPECT(
            status,
            "rm -rf way-%d; mkdir run; cd run; %s $ORDEAL %s >told 2>said; s=$?; cat said >&2; " TIMELESS
            " -i told said; cd ..; mv run way-%d; exit $s",
            i, i == WAYS - 1 ? "taskset -c 0" : "", way, i);
        if (i > 0)
            EXPECT(0, "diff -r -q way-0 way-%d && test -s way-0/told", i);
    }
}

#define MODEL "run --target model --bug forward-oldest --set threads=3 --count 200 --check "
#define ZOO \
    "run --target sim --sizes h2-s16-w2-l4-b8-q4,h2-s1-w2-l4-b8-q4 --bug upgrade-wins " \
    "--bias $HOME_OF_TESTS/examples/zoo.bias --set threads=2 --check --no-save "

static void test_the_model(void)
{
    same(1, MODEL "--iterations 300 --stop-after 1 --no-save %s");
    same(1, MODEL "--iterations 40 --stop-after 4 --json --cover c -o t.trace --save kept %s");
    same(1, MODEL "--iterations 150 --stop-after 8 --cover c -o t.otr --no-save %s");
    same(1, "run --target model --model TSO --against SC --iterations 20 --count 25 --keep-going "
            "--json --cover c --no-save %s");
    same(0, "run --target model --count 40 --iterations 5 %s");
}

static void test_the_multiprocessor(void)
{
    same(1, ZOO "--count 1000 --stop-after 1 %s");
    same(1, ZOO "--count 1000 --stop-after 2 --json --cover c -o t.trace %s");
    same(1, ZOO "--cycles 150000 --keep-going --cover c %s");
    same(1, ZOO "--count 60 --iterations 12 --keep-going --json %s");
}

/* Its report has its command line. */
static void test_tuning(void)
{
    for (int jobs = 1; jobs < 4; jobs++) {
        EXPECT(
            1,
            "$ORDEAL tune --target model --bug forward-oldest --set threads=2 --batch 4 --tests 40 "
            "--compare none --no-save --jobs %d -o dir >told",
            jobs);
        EXPECT(0,
               TIMELESS
               " -i told; sed -i 's/--jobs [123]//' dir/*.bias; rm -rf way-%d; mkdir way-%d; "
               "mv told dir/tuned.bias dir/coverage.cover way-%d; rm -r dir; diff -r way-1 way-%d",
               jobs, jobs, jobs, jobs);
    }
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_the_model);
    RUN_TEST(test_the_multiprocessor);
    RUN_TEST(test_tuning);
    return UNITY_END();
}
