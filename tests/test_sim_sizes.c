/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the simulated machine take turns: each iteration runs on one of them exactly as it would
 * on that alone, those with too few harts are left out, and a failure stays with the size it was
 * found on. ORDEAL in the environment names the program. */
#include <stdio.h>
#include <string.h>

#include "shell.h"
#include "unity.h"

#define RUN "$ORDEAL run --target sim "
#define TESTS "--bias '%s/examples/zoo.bias' --set test.operations=12 "

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

static const char *const of_four[] = { "h4-s16-w2-l4-b8-q4", "h4-s2-w2-l4-b4-q4",
                                       "h4-s4-w1-l4-b1-q1", "h4-s1-w4-l16-b16-q8" };
enum { OF_FOUR = sizeof of_four / sizeof *of_four };

/* Cycles are in the traces, so that no two sizes do the same. */
static void an_iteration_is_that_of_one_size(void)
{
    int runs[OF_FOUR] = { 0 };
    for (int i = 0; i < OF_FOUR; i++) {
        EXPECT(0, RUN TESTS "--set threads=4 --first-iteration %d --iterations 1 -o turn", home, i);
        for (int s = 0; s < OF_FOUR; s++) {
            EXPECT(0,
                   RUN TESTS "--set threads=4 --first-iteration %d --iterations 1 --sizes %s "
                             "-o alone",
                   home, i, of_four[s]);
            runs[s] += sh("cmp -s turn alone") == 0;
        }
    }
    for (int s = 0; s < OF_FOUR; s++)
        TEST_ASSERT_EQUAL_MESSAGE(1, runs[s], of_four[s]);
}

static void the_number_of_machines_changes_nothing(void)
{
    EXPECT(0,
           RUN TESTS "--count 12 --jobs 1 -o one && " RUN TESTS "--count 12 --jobs 3 -o three "
                     "&& cmp one three",
           home, home);
}

static void too_few_harts_are_left_out(void)
{
    EXPECT(0,
           RUN TESTS
           "--set threads=3 --count 3 --sizes h2-s1-w2-l4-b8-q4,usual -o both && " RUN TESTS
           "--set threads=3 --count 3 --sizes usual -o one && cmp both one",
           home, home);
    EXPECT(2, RUN TESTS "--set threads=3 --sizes h2-s1-w2-l4-b8-q4", home);
    ERR("--set: test.threads = 3: the machine has 2");
}

/* What follows `before` up to a blank or a quote. */
static void word_after(const char *text, const char *before, char *word, size_t size)
{
    const char *at = strstr(text, before);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, text);
    at += strlen(before);
    snprintf(word, size, "%.*s", (int)strcspn(at, " \"\n"), at);
}

static void a_failure_stays_with_its_size(void)
{
    char size[128], other[128];
    EXPECT(1,
           RUN TESTS "--bug forward-oldest --count 500 --stop-after 1 --shrink --check "
                     "--set threads=2 --set test.operations=8 --iterations 1 --save kept",
           home);
    word_after(out, " machine=", size, sizeof size);
    EXPECT(0, "cat kept/*/replay");
    word_after(out, " --sizes ", other, sizeof other);
    TEST_ASSERT_EQUAL_STRING(size, other);
    EXPECT(0, "cat kept/*/verdict.json");
    word_after(out, "\"machine\":\"", other, sizeof other);
    TEST_ASSERT_EQUAL_STRING(size, other);
    EXPECT(0, "cat kept/*/small/verdict.txt");
    word_after(out, " machine=", other, sizeof other);
    TEST_ASSERT_EQUAL_STRING(size, other);
    EXPECT(1, "sh kept/*/replay --save again");
    word_after(out, " machine=", other, sizeof other);
    TEST_ASSERT_EQUAL_STRING(size, other);
    EXPECT(0, "cmp kept/*/trace.trace again/*/trace.trace");
}

/* Beside a program that finds no model, a script that would have made one, which lies there. */
static void a_model_of_others_is_not_loaded(void)
{
    static const char run[] =
        "env -u ORDEAL_MODELS p/ordeal run --target sim --sizes h2-s16-w2-l4-b8-q4 "
        "--set threads=2 --count 1 --check";
    EXPECT(0, "mkdir -p p/sim; cp $ORDEAL p; cp $BUILD_OF_TESTS/sim/h2-s16-w2-l4-b8-q4.so m.so; "
              "printf '#!/bin/sh\\necho $PWD/m.so\\n' >p/sim/build; chmod +x p/sim/build");
    EXPECT(0, "%s", run);
    EXPECT(0, "chmod o+w m.so");
    EXPECT(3, "%s", run);
    ERR("was made by another user, or anybody may write to it");
    EXPECT(0, "ORDEAL_MODELS=$PWD %s", run + strlen("env -u ORDEAL_MODELS "));
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(an_iteration_is_that_of_one_size);
    RUN_TEST(the_number_of_machines_changes_nothing);
    RUN_TEST(too_few_harts_are_left_out);
    RUN_TEST(a_failure_stays_with_its_size);
    RUN_TEST(a_model_of_others_is_not_loaded);
    return UNITY_END();
}
