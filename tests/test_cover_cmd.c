/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal run --cover` and `ordeal cover` from outside: the same command makes the same file whatever
 * runs at the same time, files add up, and what is wrong is told. */
#include "cover/cover_keys.h"
#include "cover/cover_rtl.h"
#include "shell.h"
#include "test/bias.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

#define MODEL "$ORDEAL run --target model --set threads=3 --set operations=30 "

static void test_the_same_command_makes_the_same_file(void)
{
    EXPECT(0, MODEL "--count 60 --check --cover a");
    EXPECT(0, MODEL "--count 60 --check --cover b --jobs 4");
    EXPECT(0, "cmp a b && grep -q '^tests 60$' a && grep -q '^exec.shape.SB.po.po.near ' a");
    EXPECT(0, MODEL "--count 60 --cover c -o /dev/null"); /* nothing is judged */
    EXPECT(0, "cmp a c");
}

static void test_a_file_that_is_there_is_added_to(void)
{
    EXPECT(0, MODEL "--count 60 --check --cover all");
    EXPECT(0, MODEL "--count 20 --check --cover parts");
    EXPECT(0, MODEL "--first 20 --count 40 --check --cover parts");
    EXPECT(0, "cmp all parts");
    EXPECT(0, MODEL "--count 20 --check --cover x && " MODEL
                    "--first 20 --count 40 --check --cover y");
    EXPECT(0, "$ORDEAL cover y x -o both && cmp all both");
    EXPECT(0, "$ORDEAL cover -o - x y | cmp - all");
}

/* How much of a failing test was looked at when it failed is a matter of time, but not what counts
 * of it. */
static void test_failing_tests_count_the_same_whatever_the_jobs(void)
{
    EXPECT(1,
           MODEL "--bug forward-oldest --count 40 --iterations 30 --check --keep-going --no-save "
                 "--cover a");
    EXPECT(1,
           MODEL "--bug forward-oldest --count 40 --iterations 30 --check --keep-going --no-save "
                 "--cover b --jobs 3");
    EXPECT(0, "cmp a b && grep -q '^tests 40$' a");
}

static void test_what_was_settled_is_kept_after_an_interruption(void)
{
    EXPECT(130, MODEL "--count 100000000 --check --cover a & pid=$!; sleep 1; kill -INT $pid; "
                      "wait $pid");
    EXPECT(0, "$ORDEAL cover a && awk '/^tests/ && $2 > 0 { found = 1 } END { exit !found }' a");
}

static void test_labels_are_profiles_or_files(void)
{
    EXPECT(0, "printf '[profile calm]\\nweight = 1\\n' > p.bias && $ORDEAL run --target model "
              "--bias p.bias --count 3 --check --cover a && grep -q ' 1 0 calm$' a");
    EXPECT(0, "$ORDEAL gen -n 1 -o x.test && $ORDEAL run --target model x.test --check --cover b "
              "&& grep -q ' x.test$' b");
}

static void test_the_machine_s_events_are_points(void)
{
    EXPECT(0, "$ORDEAL run --target sim --sizes usual --count 3 --check --cover a");
    EXPECT(0, "$ORDEAL run --target sim --sizes usual --count 3 --check --cover b --jobs 1");
    EXPECT(0, "cmp a b && grep -q '^event.INSTRUCTION.2^' a && grep -q '^event.pair.' a");
    EXPECT(0, "grep -q '^exec.interleave.seen.' a");
}

static void test_the_table_tells_gaps_and_keys(void)
{
    EXPECT(0, MODEL "--set operations.cas=0 --count 30 --check --cover a; $ORDEAL cover a");
    OUT("tests=30\n");
    OUT("exec.meet");
    OUT("cas4");
    OUT("try:");
    OUT("operations.cas");
    EXPECT(0, "$ORDEAL cover --json a | head -n 5");
    OUT("{\"group\":\"all of exec\",\"reached\":");
    EXPECT(0, "$ORDEAL cover --missing exec.shape.IRIW a");
    OUT("exec.shape.IRIW.po.po.closed\n");
    EXPECT(0, MODEL "--first 30 --count 300 --check --cover b; $ORDEAL cover --against a b");
    OUT("+ exec.");
    EXPECT(0, "$ORDEAL cover --against a a");
    TEST_ASSERT_EQUAL_STRING("", out);
}

static void test_what_is_wrong_is_told(void)
{
    EXPECT(2, "$ORDEAL cover");
    ERR("of which file?");
    EXPECT(2, "$ORDEAL cover nowhere");
    ERR("nowhere: No such file or directory; 'ordeal run --cover FILE' makes such a file");
    EXPECT(2, "echo hello > x && $ORDEAL cover x");
    ERR("x:1: the first line of a file of coverage is 'ordeal-cover 1'");
    EXPECT(2, MODEL "--cover x -o /dev/null");
    ERR("x:1: ");
    ERR("name another one, or remove 'x'");
    EXPECT(0, "grep -q hello x"); /* it is as it was */
    EXPECT(2, MODEL "--check --cover /nowhere/at/all");
    ERR("--cover '/nowhere/at/all': No such file or directory");
    EXPECT(2, "$ORDEAL run --target elf --emit e --cover y");
    ERR("nothing is reached");
    EXPECT(0, MODEL "--check --cover a");
    EXPECT(2, "$ORDEAL cover --missing nothing a");
    ERR("no point begins with 'nothing'");
    EXPECT(2, "$ORDEAL cover --lcov i a");
    ERR("no points of rtl");
    EXPECT(2, "$ORDEAL cover --missing exec --against a a");
    ERR("exclude each other");
}

/* ---- RTL ------------------------------------------------------------------------------------- */

static const char dat[] = "# SystemC::Coverage-3\n"
                          "C '\1f\2rtl/a b.v\1l\2"
                          "10\1n\2"
                          "5\1page\2v_line/a\1o\2block\1h\2.a.*' 3\n"
                          "C '\1f\2rtl/a b.v\1l\2"
                          "10\1n\2"
                          "5\1page\2v_line/a__x\1o\2block\1h\2.a.b' 4\n"
                          "C '\1f\2rtl/a b.v\1l\2"
                          "10\1n\2"
                          "7\1page\2v_branch/a\1o\2if\1h\2.a' 0\n"
                          "C '\1f\2rtl/a b.v\1l\2"
                          "12\1n\2"
                          "7\1page\2v_toggle/a\1o\2x[0]\1h\2.a' 0\n"
                          "C '\1f\2rtl/c.v\1l\2"
                          "1\1n\2"
                          "1\1page\2v_user/c\1o\2seen\1h\2.c' 1\n";

static struct cover *verilator(const char *text, struct ordeal_error *e)
{
    struct cover *c = cover_new();
    FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    bool good = cover_rtl_read(c, f, "x.dat", &(struct cover_origin){ 5, 0, NULL }, e);
    fclose(f);
    if (!good)
        cover_free(c);
    return good ? c : NULL;
}

static void test_points_of_verilator_go_to_lcov(void)
{
    struct ordeal_error e;
    struct cover *c = verilator(dat, &e);
    TEST_ASSERT_NOT_NULL_MESSAGE(c, e.reason);
    TEST_ASSERT_EQUAL(0, cover_save(c, "a"));
    cover_free(c);
    EXPECT(0, "cat a");
    OUT("rtl.line.rtl/a%20b.v:10:5.block 7 5 0 -\n");
    OUT("rtl.toggle.rtl/a%20b.v:12:7.x[0] 0\n");
    EXPECT(0, "$ORDEAL cover --lcov x.info a && cat x.info");
    TEST_ASSERT_EQUAL_STRING("TN:\nSF:rtl/a b.v\nBRDA:10,0,0,0\nDA:10,7\nBRDA:12,0,0,0\nDA:12,0\n"
                             "BRF:2\nBRH:0\nLF:2\nLH:1\nend_of_record\n"
                             "TN:\nSF:rtl/c.v\nDA:1,1\nBRF:0\nBRH:0\nLF:1\nLH:1\nend_of_record\n",
                             out);
    EXPECT(0, "mkdir rtl && seq 20 > 'rtl/a b.v' && seq 9 > rtl/c.v && "
              "genhtml --branch-coverage -o html x.info");
    OUT("lines......: 66.7% (2 of 3 lines)");
}

static void test_verilator_s_files_are_not_believed(void)
{
    static const struct {
        const char *text, *reason;
        uint64_t line;
    } wrong[] = {
        { "hello\n", "first line", 1 },
        { "# SystemC::Coverage-3\nD 'x' 1\n", "C 'KEYS' COUNT", 2 },
        { "# SystemC::Coverage-3\nC 'x' 1\n", "a file 'f'", 2 },
        { "# SystemC::Coverage-3\nC '\1f\2x\1l\2y\1page\2v_line' 1\n", "a file 'f'", 2 },
        { "# SystemC::Coverage-3\nC '\1f\2x\1l\2"
          "1\1n\2\3\1page\2v_line' 1\n",
          "are numbers", 2 },
        { "# SystemC::Coverage-3\nC '\1f\2x\1l\2"
          "1\1page\2v_line' 1x\n",
          "a count", 2 },
        { "# SystemC::Coverage-3\nC '\1f\2x\1l\2"
          "1\1page\2v_line'\n",
          "C 'KEYS' COUNT", 2 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ordeal_error e = { 0 };
        TEST_ASSERT_NULL_MESSAGE(verilator(wrong[i].text, &e), wrong[i].text);
        TEST_ASSERT_EQUAL(wrong[i].line, e.line);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, wrong[i].reason), e.reason);
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* What is advised is there: every key can be set. */
static void test_keys_that_are_advised_are_keys(void)
{
    unsigned advised = 0;
    for (size_t g = 0; g < COVER_GROUP_COUNT; g++)
        for (int axis = 0; axis < COVER_AXES_OF_GROUP; axis++)
            for (int w = 0; w < cover_groups[g].size[axis]; w++) {
                const char *keys = cover_keys(&cover_groups[g], cover_groups[g].words[axis][w]);
                char copy[256], *rest = copy, setting[300];
                snprintf(copy, sizeof copy, "%s", keys ? keys : "");
                for (char *key; *rest && (key = strsep(&rest, " ")); advised++) {
                    struct bias *b = bias_new();
                    struct ordeal_error e = { 0 };
                    const char *value = strstr(key, "disjoint")       ? "yes"
                                      : strstr(key, "words_per_line") ? "8"
                                                                      : "64";
                    snprintf(setting, sizeof setting, "%s=%s", key, value);
                    TEST_ASSERT_TRUE_MESSAGE(bias_set(b, setting, &e), e.reason);
                    bias_free(b);
                    if (!rest)
                        break;
                }
            }
    TEST_ASSERT_GREATER_THAN(100, advised);
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_the_same_command_makes_the_same_file);
    RUN_TEST(test_a_file_that_is_there_is_added_to);
    RUN_TEST(test_failing_tests_count_the_same_whatever_the_jobs);
    RUN_TEST(test_what_was_settled_is_kept_after_an_interruption);
    RUN_TEST(test_labels_are_profiles_or_files);
    RUN_TEST(test_the_machine_s_events_are_points);
    RUN_TEST(test_the_table_tells_gaps_and_keys);
    RUN_TEST(test_what_is_wrong_is_told);
    RUN_TEST(test_points_of_verilator_go_to_lcov);
    RUN_TEST(test_verilator_s_files_are_not_believed);
    RUN_TEST(test_keys_that_are_advised_are_keys);
    return UNITY_END();
}
