/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal relax` from outside: the cycles of the paper on its own programs, labels, one execution again
 * and its trace, what is refused and with which words. ORDEAL in the environment names the program. */
#include <cJSON.h>

#include "shell.h"
#include "terminal.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

#define RELAX "$ORDEAL relax "
#define PROGRAMS "\"$HOME_OF_TESTS\"/examples/programs/relax/"

static void write_source(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    TEST_ASSERT_NOT_NULL(f);
    TEST_ASSERT_TRUE(fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Store buffering, whose assertion needs SC. */
static const char buffering[] = "#include <pthread.h>\n#include <assert.h>\n"
                                "volatile int x, y, r1, r2;\n"
                                "static void *other(void *p)\n{\n"
                                "    y = 1;\n" /* 6 */
                                "    r2 = x;\n"
                                "    return p;\n}\n"
                                "int main(void)\n{\n"
                                "    pthread_t t;\n"
                                "    pthread_create(&t, 0, other, 0);\n"
                                "    x = 1;\n" /* 14 */
                                "    r1 = y;\n"
                                "    pthread_join(t, 0);\n"
                                "    assert(r1 || r2);\n}\n";

/* ---- what is found ----------------------------------------------------------------------- */

static void store_buffering_is_one_cycle_and_a_bug(void)
{
    write_source("sb.c", buffering);
    EXPECT(1, RELAX "--trials 5 sb.c");
    OUT("PREDICTED sb.c model=sc cycles=3 length=4 runs=100 seed=1");
    OUT("FAIL sb.c model=tso predicted=1 confirmed=1 buggy=1 probability=1 ");
    OUT("BUGGY sb.c model=tso cycle=6,7,14,15 lines=sb.c:6,7,14,15 trials=5 confirmed=5 buggy=");
    OUT("error=assertion certified=yes");
    OUT("FAIL sb.c model=pso predicted=3 confirmed=1 ");
    OUT("INFEASIBLE sb.c model=pso cycle=6,6,15,15 ");
    OUT("infeasible=2 ");
    OUT("FAIL sb.c model=pslo ");
}

/* Each label of Figure 11 with its verdict: "BUGGY ... cycle=1,2,11,12 ". */
static void has_cycle(const char *word, const char *labels)
{
    char part[128];
    bool found = false;
    snprintf(part, sizeof part, " cycle=%s ", labels);
    for (char *line = out, *end; *line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        found |= strncmp(line, word, strlen(word)) == 0 && strstr(line, part)
              && strstr(line, "certified=yes");
        *end = '\n';
    }
    char message[4096];
    snprintf(message, sizeof message, "no %s with%sin: %.3000s", word, part, out);
    TEST_ASSERT_TRUE_MESSAGE(found, message);
}

static void dekker_has_the_cycles_of_the_paper(void)
{
    static const char *const buggy[] = { "1,2,11,12", "1,2,17,12", "7,2,11,12" };
    for (size_t i = 0; i < sizeof buggy / sizeof *buggy; i++) {
        EXPECT(1, RELAX "--model tso --cycle %s " PROGRAMS "dekker.c", buggy[i]);
        has_cycle("BUGGY", buggy[i]);
    }
    EXPECT(0, RELAX "--model tso --cycle 9,2,14,15 " PROGRAMS "dekker.c");
    has_cycle("CONFIRMED", "9,2,14,15");
    EXPECT(0, RELAX "--model pso --cycle 9,10,12,15 " PROGRAMS "dekker.c");
    has_cycle("CONFIRMED", "9,10,12,15");
    EXPECT(0, RELAX "--model tso --trials 2 --explore 100 --cycle 9,10,12,15 " PROGRAMS "dekker.c");
    OUT("UNCONFIRMED ");
}

static void ms2_has_the_cycles_of_the_paper(void)
{
    EXPECT(1, RELAX "--model pso --trials 5 --cycle 2,5,10,14 " PROGRAMS "ms2.c");
    has_cycle("BUGGY", "2,5,10,14");
    EXPECT(1, RELAX "--model pso --trials 5 --cycle 3,5,10,10 " PROGRAMS "ms2.c");
    has_cycle("BUGGY", "3,5,10,10");
}

static void structures_have_none_under_tso(void)
{
    static const char *const structure[] = { "msn", "ms2", "lazylist", "harris", "snark" };
    for (size_t i = 0; i < sizeof structure / sizeof *structure; i++) {
        EXPECT(0,
               RELAX "--model tso --trials 1 --repeat 2 --explore 0 " PROGRAMS
                     "%s.c | grep -v ^UNCONF",
               structure[i]);
        OUT("PREDICTED ");
        OUT(" confirmed=0 buggy=0 trials=1 ");
    }
}

static void what_no_trial_makes_is_explored(void)
{
    write_source("sb.c", buffering);
    EXPECT(0, RELAX "--model tso --trials 1 --repeat 1 --seed 3 --cycle 14,15,6,7 --traces . sb.c "
                    "| grep -e FEASIBLE -e BUGGY -e CONFIRMED");
    OUT("certified=yes");
    EXPECT(1, "$ORDEAL check --model SC tso-14,15,6,7.trace");
    EXPECT(0, RELAX "--model tso --cycle 7,6,15,14 sb.c");
    OUT("INFEASIBLE sb.c model=tso cycle=7,6,15,14 ");
    EXPECT(0, RELAX "--model tso --cycle 7,6,15,14 --explore 0 sb.c");
    OUT("UNCONFIRMED ");
    EXPECT(0, RELAX "--model tso --cycle 7,6,15,14 --explore 5 sb.c");
    OUT("why=\"the limit of states was reached\"");
}

/* ---- labels ------------------------------------------------------------------------------ */

static void comments_name_statements(void)
{
    write_source("sb.c", buffering);
    EXPECT(
        1,
        "sed -i 's|    y = 1;|    y = 1; // @first|; s|    r1 = y;|    r1 = y; /* @b.2 */|' sb.c\n" RELAX
        "--model tso --trials 2 sb.c");
    OUT("cycle=first,sb.c:7,sb.c:14,b.2 ");
    EXPECT(1, RELAX "--model tso --trials 2 --cycle sb.c:14,b.2,first,sb.c:7 sb.c");
    OUT("confirmed=2");
}

static void a_program_that_is_wrong_anyway_is_not_tried(void)
{
    write_source("bad.c", "#include <assert.h>\n#include <pthread.h>\nvolatile int x;\n"
                          "static void *other(void *p) { x = 1; return p; }\n"
                          "int main(void) { pthread_t t; pthread_create(&t, 0, other, 0);\n"
                          "pthread_join(t, 0); assert(!x); }\n");
    EXPECT(1, RELAX "bad.c");
    OUT("FAIL bad.c model=sc runs=100 wrong=100 error=assertion next=");
}

/* ---- one execution again ----------------------------------------------------------------- */

static void a_trial_is_the_same_again(void)
{
    write_source("sb.c", buffering);
    EXPECT(1, RELAX "--model tso --cycle 6,7,14,15 --trial 3 --trace a.trace --replay sb.c");
    OUT("Steps:\n");
    OUT("y = 1 goes into its buffer");
    EXPECT(1, RELAX
           "--model tso --trials 4 --cycle 6,7,14,15 --trial 3 --trace b.trace sb.c && false; cmp "
           "a.trace b.trace && exit 1");
    EXPECT(0, "$ORDEAL check --model TSO a.trace");
    EXPECT(1, "$ORDEAL check --model SC a.trace");
    EXPECT(1, "mkdir t\n" RELAX "--model tso --trials 2 --traces t sb.c");
    EXPECT(1, "$ORDEAL check --model SC t/tso-6,7,14,15.trace");
}

static void seeds_make_the_difference(void)
{
    write_source("sb.c", buffering);
    EXPECT(0, RELAX "--json --seed 7 sb.c | sed 's/\"seconds\":[0-9.e-]*//' > a\n" RELAX
                    "--json --seed 7 sb.c | sed 's/\"seconds\":[0-9.e-]*//' > b\ncmp a b");
    EXPECT(1, RELAX "--json --seed 8 sb.c | sed 's/\"seconds\":[0-9.e-]*//' > b\ncmp -s a b");
}

static void json_is_an_object_a_line(void)
{
    write_source("sb.c", buffering);
    EXPECT(1, RELAX "--json --model tso --trials 2 sb.c");
    unsigned lines = 0;
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        cJSON *o = cJSON_Parse(line);
        TEST_ASSERT_NOT_NULL_MESSAGE(o, line);
        TEST_ASSERT_NOT_NULL(cJSON_GetObjectItem(o, "verdict"));
        TEST_ASSERT_EQUAL_STRING("sb.c", cJSON_GetObjectItem(o, "file")->valuestring);
        cJSON_Delete(o);
    }
    TEST_ASSERT_EQUAL_UINT(3, lines);
}

/* ---- what is refused --------------------------------------------------------------------- */

static void bad_usage_is_told(void)
{
    write_source("sb.c", buffering);
    EXPECT(2, RELAX);
    ERR("which program?");
    EXPECT(2, RELAX "--model sc sb.c");
    ERR("tso");
    EXPECT(2, RELAX "--length 5 sb.c");
    ERR("4, 6 or 8");
    EXPECT(2, RELAX "--cycle 6,7,14 sb.c");
    ERR("4, 6 or 8 labels");
    EXPECT(2, RELAX "--cycle 6,7,14,999 sb.c");
    ERR("no statement has the label '999'");
    EXPECT(2, RELAX "--trial 1 sb.c");
    ERR("--cycle LABELS");
    EXPECT(2, RELAX "--cycle 6,7,14,15 --model tso --trial 31 sb.c");
    ERR("there are 30");
    EXPECT(2, RELAX "--replay sb.c");
    ERR("--trial");
    EXPECT(2, RELAX "nothing.c");
    OUT("ERROR nothing.c: ");
}

static void interruption_sums_up(void)
{
    write_source("sb.c", buffering);
    EXPECT(0, "timeout -s INT 1 $ORDEAL relax --model tso --trials 100000000 --repeat 100000 sb.c; "
              "[ $? = 124 -o $? = 130 -o $? = 1 ]");
    OUT(" model=tso predicted=1 ");
    OUT("why=interrupted");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(store_buffering_is_one_cycle_and_a_bug);
    RUN_TEST(dekker_has_the_cycles_of_the_paper);
    RUN_TEST(ms2_has_the_cycles_of_the_paper);
    RUN_TEST(structures_have_none_under_tso);
    RUN_TEST(what_no_trial_makes_is_explored);
    RUN_TEST(comments_name_statements);
    RUN_TEST(a_program_that_is_wrong_anyway_is_not_tried);
    RUN_TEST(a_trial_is_the_same_again);
    RUN_TEST(seeds_make_the_difference);
    RUN_TEST(json_is_an_object_a_line);
    RUN_TEST(bad_usage_is_told);
    RUN_TEST(interruption_sums_up);
    return UNITY_END();
}
