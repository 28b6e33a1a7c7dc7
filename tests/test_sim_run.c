/* SPDX-License-Identifier: Apache-2.0 */
/* The regression of the machine, through the program: random tests under every model, with and
 * without transactions, on all sizes of the machine that have four harts
 * and on one of two with caches of two lines, assertions on,
 * all clean; and bugs of the zoo, one of each area at least, all caught. ORDEAL in the environment
 * names the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unity.h"

enum { TESTS = 1000 }; /* of four threads and of two, under each model, with each setting */

static char directory[64], home[4096], program[4096], text[8192];

static const char *const machines[] = {
    "--set test.threads=4",
    "--sizes h2-s1-w2-l4-b8-q4 --set test.threads=2",
};

void setUp(void)
{
    snprintf(directory, sizeof directory, "/tmp/test-sim-run-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    TEST_ASSERT_EQUAL(0, chdir(directory));
}

void tearDown(void)
{
    char command[128];
    TEST_ASSERT_EQUAL(0, chdir(home));
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    TEST_ASSERT_EQUAL(0, system(command));
}

/* `ordeal run` on the simulated machine: exit status; what it said is in `text`. */
static int run(const char *arguments)
{
    char command[8192 + 256];
    snprintf(command, sizeof command,
             "'%s' run --target sim --bias '%s/examples/zoo.bias' --check --iterations 1 "
             "%s >out 2>&1", program, home, arguments);
    int status = system(command);
    FILE *f = fopen("out", "r");
    TEST_ASSERT_NOT_NULL(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* A test that loads nothing: what goes wrong with its stores shows in memory alone. */
static void test_a_lost_write_back_needs_no_load(void)
{
    static const char *const bugs[] = { "", "--bug flush-loses-dirty" };
    FILE *f = fopen("lost.test", "w");
    TEST_ASSERT_NOT_NULL(f);
    fprintf(f, "ordeal 1\nP0 S[A]#1\nP0 FLUSH[A]\nP1 S[B]#2\nP1 SWAP[C]#3\n");
    fclose(f);
    for (int broken = 0; broken < 2; broken++) {
        char command[8192];
        snprintf(
            command, sizeof command,
            "'%s' run --target sim --sizes usual --check --iterations 4 %s lost.test >out 2>&1",
            program, bugs[broken]);
        int status = system(command);
        TEST_ASSERT_TRUE(WIFEXITED(status));
        TEST_ASSERT_EQUAL(broken, WEXITSTATUS(status));
    }
}

static unsigned long field(const char *name)
{
    char key[32];
    snprintf(key, sizeof key, " %s=", name);
    const char *at = strstr(text, key);
    return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

/* ---- no bug: nothing is found --------------------------------------------------------------- */

static void clean(const char *model)
{
    static const char *const settings[] = {
        "--set transactions.share=0 --set 'idiom sb-transactions.weight=0' "
        "--set 'idiom mp-transaction.weight=0'",
        "--set transactions.share=40"
    };
    for (int m = 0; m < 2; m++)
        for (int s = 0; s < 2; s++) {
            char arguments[512], message[9000];
            snprintf(arguments, sizeof arguments, "--set test.operations=30 --model %s --count %d "
                     "--seed %d %s %s", model, TESTS, 100 + 10 * m + s, machines[m], settings[s]);
            int status = run(arguments);
            snprintf(message, sizeof message, "%s: %s", arguments, text);
            TEST_ASSERT_EQUAL_INT_MESSAGE(0, status, message);
            TEST_ASSERT_EQUAL_UINT_MESSAGE(TESTS, field("pass"), message);
        }
}

static void test_sc(void) { clean("SC"); }
static void test_tso(void) { clean("TSO"); }
static void test_pso(void) { clean("PSO"); }
static void test_rmo(void) { clean("RMO"); }

/* Values of AMOs, which not always tell who wrote them, with the order of stores and without. */
static void test_amos(void)
{
    static const char *const seen[] = { "", "--visible" };
    for (int s = 0; s < 2; s++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments,
                 "--set test.operations=30 --set operations.amo=200 --count %d --seed 7 %s %s",
                 TESTS, machines[0], seen[s]);
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, run(arguments), text);
        TEST_ASSERT_EQUAL_UINT_MESSAGE(TESTS, field("pass"), text);
    }
}

/* ---- a bug: found --------------------------------------------------------------------------- */

struct bug { const char *name, *model; int machine; };

/* Found within some ten tests, mostly. */
static const struct bug bugs[] = {
    { "branch-shadow-store", "TSO", 0 },
    { "forward-oldest", "TSO", 0 },
    { "forward-ignores-bytes", "PSO", 0 },
    { "sc-loads-early", "SC", 0 },
    { "cas-writes-on-mismatch", "RMO", 0 },
    { "upgrade-wins", "TSO", 0 },
    { "victim-dropped", "TSO", 1 },
    { "memory-not-updated", "PSO", 1 },
    { "response-to-wrong-hart", "TSO", 0 },
    { "request-dropped", "TSO", 1 },
    { "tx-visible-early", "TSO", 0 },
    { "tx-abort-leaks", "SC", 0 },
};

static void test_bugs_are_caught(void)
{
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++) {
        char arguments[512], message[9000];
        snprintf(arguments, sizeof arguments,
                 "--bug %s --model %s --count 2000 --stop-after 1 --no-save %s", bugs[i].name,
                 bugs[i].model, machines[bugs[i].machine]);
        int status = run(arguments);
        snprintf(message, sizeof message, "%s: %s", arguments, text);
        TEST_ASSERT_EQUAL_INT_MESSAGE(1, status, message);
    }
}

int main(void)
{
    const char *given = getenv("ORDEAL");
    if (!given || !realpath(given, program) || !getcwd(home, sizeof home)) {
        fputs("ORDEAL must name the program\n", stderr);
        return 1;
    }
    UNITY_BEGIN();
    RUN_TEST(test_a_lost_write_back_needs_no_load);
    RUN_TEST(test_sc);
    RUN_TEST(test_tso);
    RUN_TEST(test_pso);
    RUN_TEST(test_rmo);
    RUN_TEST(test_amos);
    RUN_TEST(test_bugs_are_caught);
    return UNITY_END();
}
