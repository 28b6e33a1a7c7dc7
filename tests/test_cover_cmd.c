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

/* What the file has are the tests before next=, none left out, and the command that is told does the
 * rest. Failing tests take different times, so that some behind one that ^C cuts off are known. */
static void test_what_was_settled_is_kept_after_an_interruption(void)
{
    static const char command[] = MODEL
        "--bug forward-oldest --keep-going --no-save --iterations 30 --check --jobs 3 "
        "--cover a --count=100000000";
    EXPECT(
        0,
        "for t in 1 2 3; do rm -f a; %s > said 2> more & pid=$!; until [ -e a.ordeal-tmp-locked ] || ! kill -0 $pid; do :; done; sleep 0.$t; kill -INT $pid; wait "
        "$pid; [ $? = 130 ] || exit 1; n=$(sed -n 's/.*next=\\([0-9]*\\).*/\\1/p' said); "
        "grep -qx \"tests $n\" a || exit 2; runs=$(grep -c '^run ' a); [ $n = 0 ] || grep -q "
        "\"^run model 1 [0-9]* 0 $n$\" a || exit 3; [ $n = 0 ] || [ $runs = 1 ] || exit 4; grep -q "
        "\"the rest: ordeal run .* --cover a --first $n --count $((100000000 - n))$\" more || "
        "exit 5; done",
        command);
}

/* After every end before the end the command that is told goes on, until all is done. */
static void test_the_command_that_goes_on_is_told(void)
{
    static const char bug[] = MODEL "--bug forward-oldest --no-save --check ";
    EXPECT(1, "%s --count 40 --keep-going --cover all", bug);
    TEST_ASSERT_EQUAL_STRING("", err);
    EXPECT(
        0,
        "set -- %s -n 40 --stop-after 2 --cover 'in parts'; \"$@\" > said 2> more; n=1; while "
        "next=$(sed -n 's/.*the rest: ordeal/$ORDEAL/p' more) && [ \"$next\" ]; do eval \"$next\" "
        "> said 2> more; n=$((n + 1)); done; cat more said; cmp 'in parts' all && [ $n -gt 3 ]",
        bug);
}

/* A run that is killed leaves what was settled a while before, and the number to go on with. */
static void test_a_run_that_was_killed_is_gone_on_with(void)
{
    EXPECT(0, MODEL "--count 100000000 --check --cover a > /dev/null & pid=$!; n=0; until [ -s a ] "
                    "|| [ $n -ge 300 ]; do sleep 0.1; n=$((n + 1)); done; kill -9 $pid; wait $pid; "
                    "grep '^run model 1 [0-9]* 0 [0-9]*$' a");
    EXPECT(0,
           "next=$(awk '/^run / { print $6 }' a) && [ $next -gt 0 ] && grep -qx \"tests $next\" a "
           "&& " MODEL "--first $next --count 30 --check --cover a && " MODEL
           "--count $((next + 30)) --check --cover b && cmp a b");
}

/* Two runs on one file: the second waits a little, then says who has it, and nothing is lost. */
static void test_a_file_has_one_run_at_a_time(void)
{
    EXPECT(0, "(" MODEL "--count 100000000 --check --cover a > /dev/null 2>&1 & echo $! > pid); "
              "n=0; until [ -s a ] || [ $n -ge 300 ]; do sleep 0.1; n=$((n + 1)); done");
    EXPECT(2, MODEL "--seed 2 --count 20 --check --cover a 2> said || { s=$?; cat said >&2; "
                    "grep -q \"'a': in use by process $(cat pid);\" said && exit $s; }");
    ERR("let it end, or name another file");
    EXPECT(2, MODEL "--seed 2 --count 1 --check --cover b && $ORDEAL cover b -o a");
    ERR("'a': in use by process ");
    EXPECT(0, "kill -9 $(cat pid); while kill -0 $(cat pid); do sleep 0.05; done");
    EXPECT(0,
           MODEL "--seed 2 --count 20 --check --cover a && grep -q '^run model 2 [0-9]* 0 20$' a "
                 "&& ! ls | grep ordeal-tmp");
    EXPECT(0, ": > b.ordeal-tmp-locked; flock b.ordeal-tmp-locked sleep 0.3 & " MODEL
              "--first 1 --count 9 --seed 2 --check --cover b && ! ls | grep ordeal-tmp && wait");
}

static void test_what_counts_twice_is_told(void)
{
    EXPECT(0, MODEL "--count 20 --check --cover a");
    TEST_ASSERT_EQUAL_STRING("", err);
    EXPECT(0, MODEL "--first 15 --count 20 --check --cover a");
    ERR("'a' has 5 of these tests already");
    EXPECT(0, "$ORDEAL cover a");
    OUT("tests=40 repeats=5\n");
    ERR("5 of the tests count more than once");
    EXPECT(0, MODEL "--seed 2 --count 20 --check --cover b && " MODEL
                    "--set operations.cas=9 --count 20 --check --cover b && $ORDEAL cover b");
    TEST_ASSERT_EQUAL_STRING("", err);
    EXPECT(0, "$ORDEAL run --target sim --sizes usual --count 1 --check --cover c && $ORDEAL run "
              "--target sim --count 1 --check --cover c"); /* on other machines it is another */
    TEST_ASSERT_EQUAL_STRING("", err);
    EXPECT(0, "$ORDEAL cover --json b b");
    OUT("{\"tests\":80,\"repeats\":40}\n");
    ERR("40 of the tests");
}

static void test_profiles_are_told_by_what_they_reached_first(void)
{
    EXPECT(0, "printf '[profile calm]\\nweight = 1\\n[profile wild]\\nweight = 1\\noperations.swap "
              "= 90\\n' > p.bias && $ORDEAL run --target model --bias p.bias --count 40 --check "
              "--cover a && $ORDEAL cover --profiles a");
    OUT(" points first: ");
    OUT("  calm\n");
    OUT("  wild\n");
    EXPECT(0, "n=$($ORDEAL cover --profiles a | awk '{ n += $1 } END { print n }'); [ $n -eq "
              "$(grep -c '^exec' a) ]");
    EXPECT(0, "$ORDEAL cover --profiles --json a");
    OUT("{\"profile\":\"");
    EXPECT(2, "$ORDEAL cover --profiles --missing exec a");
    ERR("exclude each other");
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

/* A machine that is SC closes no cycle, none is incoherent; and one that is TSO closes SB. */
static void test_no_cycle_is_closed_that_the_machine_cannot_close(void)
{
    EXPECT(0,
           "printf '[test]\\nthreads = 2\\noperations = 8\\nlocations = 2\\n[operations]\\nswap = "
           "0\\ncas = 0\\n[membar]\\nfull = 0\\n' > tiny.bias");
    EXPECT(0, "$ORDEAL run --target model --model SC --bias tiny.bias --count 300 --iterations 3 "
              "--check --cover a && ! grep closed a && grep -q '^exec.shape.SB.po.po.near' a");
    EXPECT(0, "$ORDEAL run --target model --model SC --count 300 --check --cover b && "
              "! grep closed b && grep -q '^exec.shape.IRIW.*near' b");
    EXPECT(0, "$ORDEAL run --target model --model TSO --count 300 --check --cover c && "
              "! grep 'exec.coherence.*closed' c && ! grep 'exec.shape.MP.*closed' c && "
              "grep -q '^exec.shape.SB.po.po.closed' c");
    EXPECT(0, "$ORDEAL run --target sim --sizes usual --model SC --bias tiny.bias --count 40 "
              "--check --cover d && ! grep closed d && grep -q '^exec.shape.SB.po.po.near' d");
    EXPECT(0, "$ORDEAL run --target sim --sizes usual --count 12 --check --cover e && "
              "! grep 'exec.coherence.*closed' e && grep -q '^exec.shape.SB.po.po.closed' e");
}

static void test_the_table_tells_gaps_and_keys(void)
{
    EXPECT(0, MODEL "--set operations.cas=0 --count 30 --check --cover a; $ORDEAL cover a");
    OUT("tests=30 repeats=0\n");
    OUT("exec.meet");
    OUT("cas4");
    OUT("try:");
    OUT("operations.cas");
    EXPECT(0, "$ORDEAL cover --json a | head -n 5");
    OUT("{\"tests\":30,\"repeats\":0}\n");
    OUT("{\"group\":\"all of exec\",\"reached\":");
    EXPECT(0, "$ORDEAL cover --missing exec.shape.IRIW a");
    OUT("exec.shape.IRIW.po.po.near\n");
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
    ERR("x:1: the first line of a file of coverage is 'ordeal-cover 2'");
    EXPECT(2, MODEL "--cover x -o /dev/null");
    ERR("x:1: ");
    ERR("name another one, or remove 'x'");
    EXPECT(0, "grep -q hello x"); /* it is as it was */
    EXPECT(2, MODEL "--check --cover /nowhere/at/all");
    ERR("--cover '/nowhere/at/all': No such file or directory");
    TEST_ASSERT_EQUAL_STRING("", out); /* before anything was run */
    EXPECT(2, "mkdir folder && " MODEL "--check --cover folder");
    TEST_ASSERT_EQUAL_STRING("", out);
    EXPECT(2, "$ORDEAL run --target elf --emit e --cover y");
    ERR("nothing is reached");
    EXPECT(0, MODEL "--check --cover a");
    EXPECT(2, "$ORDEAL cover --missing nothing a");
    ERR("no point that the machines can reach begins with 'nothing'");
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
    OUT("folder rtl\n");
    OUT("rtl.line.a%20b.v:10:5.block 7 5 0 -\n");
    OUT("rtl.toggle.a%20b.v:12:7.x[0] 0\n");
    EXPECT(0, "$ORDEAL cover --lcov x.info a && cat x.info");
    TEST_ASSERT_EQUAL_STRING("TN:\nSF:rtl/a b.v\nBRDA:10,0,0,0\nDA:10,7\nBRDA:12,0,0,0\nDA:12,0\n"
                             "BRF:2\nBRH:0\nLF:2\nLH:1\nend_of_record\n"
                             "TN:\nSF:rtl/c.v\nDA:1,1\nBRF:0\nBRH:0\nLF:1\nLH:1\nend_of_record\n",
                             out);
    EXPECT(0, "mkdir rtl && seq 20 > 'rtl/a b.v' && seq 9 > rtl/c.v && "
              "genhtml --branch-coverage -o html x.info");
    OUT("lines......: 66.7% (2 of 3 lines)");
}

/* Of two checkouts, or of two copies of a model, files add up; sources are found in either. */
static void test_points_of_two_checkouts_are_the_same(void)
{
    static const char *const folders[] = { "/here/rtl", "/home/of/another/rtl" };
    struct cover *all = cover_new();
    for (int i = 0; i < 2; i++) {
        char text[400];
        struct ordeal_error e;
        snprintf(text, sizeof text,
                 "# SystemC::Coverage-3\n"
                 "C '\1f\2%s/a.v\1l\2"
                 "1\1n\2"
                 "1\1page\2v_line/a\1o\2block' 1\n"
                 "C '\1f\2%s/lean/b.v\1l\2"
                 "2\1n\2"
                 "1\1page\2v_line/b\1o\2block' 1\n",
                 folders[i], folders[i]);
        struct cover *one = verilator(text, &e);
        TEST_ASSERT_NOT_NULL_MESSAGE(one, e.reason);
        TEST_ASSERT_TRUE(cover_merge(all, one));
        cover_free(one);
    }
    TEST_ASSERT_EQUAL(2, cover_known(all, COVER_RTL));
    TEST_ASSERT_EQUAL(0, cover_save(all, "a"));
    cover_free(all);
    EXPECT(0, "cat a");
    OUT("folder /here/rtl\nfolder /home/of/another/rtl\nrtl.line.a.v:1:1.block 2 5 0 -\n"
        "rtl.line.lean/b.v:2:1.block 2 5 0 -\n");
    EXPECT(0, "sed -i 's,/home/of/another/rtl,'$PWD'/there,' a && mkdir -p there && seq 9 > "
              "there/a.v && $ORDEAL cover --lcov x.info a && grep ^SF x.info");
    OUT("/there/a.v\n");
    OUT("SF:/here/rtl/lean/b.v\n"); /* it is nowhere: as it was at first */
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

/* One piece of advice: a key that can be set, with a direction or a value, or an option. */
static void look_at_advice(const char *advice)
{
    char setting[300];
    struct ordeal_error e = { 0 };
    struct bias *b = bias_new();
    const char *key = strncmp(advice, "more ", 5) == 0  ? advice + 5
                    : strncmp(advice, "fewer ", 6) == 0 ? advice + 6
                                                        : NULL;
    const char *value = key && strstr(key, "words_per_line") ? "8" : "64";
    if (key)
        snprintf(setting, sizeof setting, "%s=%s", key, value);
    else
        snprintf(setting, sizeof setting, "%s", advice);
    if (strncmp(advice, "--", 2) == 0)
        TEST_ASSERT_TRUE_MESSAGE(strncmp(advice, "--config ", 9) == 0, advice);
    else
        TEST_ASSERT_TRUE_MESSAGE(strchr(setting, '=') && bias_set(b, setting, &e), advice);
    bias_free(b);
}

/* What is advised is there. Words that nothing is advised for are few, and there is a reason. */
static void test_there_is_advice_for_every_word(void)
{
    static const char *const without[] = { "rf", "co", "fr", "needed", "seen" };
    for (size_t g = 0; g < COVER_GROUP_COUNT; g++)
        for (int axis = 0; axis < COVER_AXES_OF_GROUP; axis++)
            for (int w = 0; w < cover_groups[g].size[axis] && cover_groups[g].size[axis] > 1; w++) {
                const char *word = cover_groups[g].words[axis][w];
                char copy[256], *rest = copy;
                bool excused = false;
                snprintf(copy, sizeof copy, "%s", cover_keys(&cover_groups[g], axis, w));
                for (size_t i = 0; i < sizeof without / sizeof *without; i++)
                    excused |= strcmp(without[i], word) == 0;
                TEST_ASSERT_TRUE_MESSAGE(*copy ? !excused : excused, word);
                while (*copy && rest)
                    look_at_advice(strsep(&rest, ","));
            }
}

/* What a machine cannot do is no advice; what another option brings is told. */
static void test_advice_is_for_the_machine(void)
{
    EXPECT(0,
           "$ORDEAL run --target sim --sizes usual --count 2 --check --cover a && $ORDEAL cover "
           "a > t && ! grep -q 'sizes.8\\|swap8\\|swap1\\|amo16' t && grep -q 'more sizes.64' t && "
           "grep -q 'elsewhere: --model PSO' t && ! grep -q 'elsewhere:.*sim' t");
    EXPECT(0,
           MODEL "--count 20 --check --cover b && $ORDEAL cover b > t && ! grep -q '^event\\|^all "
                 "of event' t && grep -q 'more sizes.8' t");
    EXPECT(0, "$ORDEAL cover a b | grep '^event '");
    EXPECT(0,
           "awk '/^exec.tx/ { tx = 1 } /^exec.shape / { shape = 1 } tx && /try:/ { n++; tx = 0 } "
           "shape && /try:/ { n++; shape = 0 } END { exit n < 2 }' t");
    EXPECT(2, "$ORDEAL cover --missing event b");
    ERR("no point that the machines can reach begins with 'event'");
}

static void test_a_word_is_told_once(void)
{
    EXPECT(0,
           MODEL "--count 300 --check --cover a && $ORDEAL cover a | grep least: > t && grep -q "
                 "'s[ls]:' t && awk '{ split(\"\", seen); for (i = 2; i <= NF; i++) { split($i, w, "
                 "\":\"); if (seen[w[1]]++) { print; exit 1 } } }' t");
}

static void test_a_full_disk_tells_what_the_file_has(void)
{
    EXPECT(2, "ulimit -f 1; " MODEL "--count 20 --check --cover a");
    ERR("--cover 'a': File too large; the file has no test of this run");
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
    RUN_TEST(test_the_command_that_goes_on_is_told);
    RUN_TEST(test_a_run_that_was_killed_is_gone_on_with);
    RUN_TEST(test_a_file_has_one_run_at_a_time);
    RUN_TEST(test_what_counts_twice_is_told);
    RUN_TEST(test_profiles_are_told_by_what_they_reached_first);
    RUN_TEST(test_labels_are_profiles_or_files);
    RUN_TEST(test_the_machine_s_events_are_points);
    RUN_TEST(test_no_cycle_is_closed_that_the_machine_cannot_close);
    RUN_TEST(test_the_table_tells_gaps_and_keys);
    RUN_TEST(test_what_is_wrong_is_told);
    RUN_TEST(test_points_of_verilator_go_to_lcov);
    RUN_TEST(test_points_of_two_checkouts_are_the_same);
    RUN_TEST(test_verilator_s_files_are_not_believed);
    RUN_TEST(test_there_is_advice_for_every_word);
    RUN_TEST(test_advice_is_for_the_machine);
    RUN_TEST(test_a_word_is_told_once);
    RUN_TEST(test_a_full_disk_tells_what_the_file_has);
    return UNITY_END();
}
