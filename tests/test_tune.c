/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal tune` from outside: what comes out, that it is the same again, with any number of machines
 * and after any kill, what it refuses, and how it ends. On the software model, which is fast. */
#include <sys/stat.h>

#include <cJSON.h>

#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

#define TUNE \
    "$ORDEAL tune --target model --bias $HOME_OF_TESTS/examples/profiles.bias " \
    "--batches 4 --batch 4 "
#define FILES "tuned.bias coverage.cover coverage.svg"

/* Files of two folders, but for the names of the folders in them. */
static void same_files(const char *a, const char *b)
{
    EXPECT(0,
           "for f in " FILES "; do sed 's|%s|DIR|g' %s/$f >a; sed 's|%s|DIR|g' %s/$f >b; "
           "cmp a b || exit 1; done",
           a, a, b, b);
}

static void test_what_comes_out_can_be_used(void)
{
    EXPECT(0, TUNE "--tests 1200 -o dir");
    OUT("TUNED dir tests=1200 ");
    OUT(" tuned=");
    OUT(" untuned=");
    OUT(" kept=tuned because=gain ");
    OUT("end=done");
    EXPECT(0, "grep -c '^\\[profile' dir/tuned.bias");
    TEST_ASSERT_TRUE(atoi(out) >= 7 && atoi(out) <= 7 + 8); /* all that there were, some others */
    EXPECT(0, TUNE "--tests 100 --keep 0 --profiles 3 --compare none -o few");
    OUT(" kept=tuned because=not-asked ");
    EXPECT(0, "grep -c '^\\[profile' few/tuned.bias");
    TEST_ASSERT_TRUE(atoi(out) >= 1 && atoi(out) <= 3);
    EXPECT(0, "grep 'ordeal run --target model --bias dir/tuned.bias' dir/tuned.bias");
    EXPECT(0, "$ORDEAL run --target model --bias dir/tuned.bias --check --count 50");
    OUT("fail=0");
    EXPECT(1, "test -e dir/candidate.bias");
}

static void test_one_round_is_no_rounds(void)
{
    EXPECT(0, TUNE "--tests 16 --compare none -o one && grep ': 1 round, ' one/tuned.bias");
}

/* Is the bias of a folder the one that it began with, but for comments? */
#define SAME_BIAS(DIR) \
    "$ORDEAL gen --bias " DIR "/tuned.bias --print-bias >a && $ORDEAL gen --print-bias --bias " \
    "$HOME_OF_TESTS/examples/profiles.bias >b && sed -i /^#/d a b && cmp a b"

/* What is not shown to be better does not come out as if it were. */
static void test_without_a_gain_the_bias_stays_as_it_was(void)
{
    EXPECT(0, TUNE "--seed 5 --tests 64 -o dir");
    OUT(" kept=untuned because=no-gain ");
    EXPECT(0, SAME_BIAS("dir"));
    EXPECT(0, "head -1 dir/tuned.bias");
    OUT("# The bias as it was: tuning brought nothing better.");
    EXPECT(0, "$ORDEAL gen --bias dir/candidate.bias -n 3 -o /dev/null");
    EXPECT(0, TUNE "--seed 5 --tests 1200 -o dir"); /* more of it, and there is a gain */
    OUT(" kept=tuned because=gain ");
    EXPECT(1, "test -e dir/candidate.bias");
}

/* Whatever the budget, it is kept to; and either there is a comparison, or it is said why not. */
static void test_small_budgets_are_kept_to_and_told_of(void)
{
    static const int budgets[] = { 1, 7, 20, 33, 64, 128 };
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        EXPECT(0, TUNE "--tests %d -o dir-%d", budgets[i], budgets[i]);
        ERR("is little for 7 profiles: with fewer than 256");
        int tests = atoi(strstr(out, "tests=") + 6);
        bool compared = strstr(out, " tuned=") && strstr(out, " untuned=");
        TEST_ASSERT_TRUE_MESSAGE(compared != (strstr(out, "because=too-little") != NULL), out);
        TEST_ASSERT_TRUE_MESSAGE(compared ? tests == budgets[i] : tests <= budgets[i], out);
        TEST_ASSERT_TRUE_MESSAGE(compared || strstr(out, "kept=untuned"), out);
        TEST_ASSERT_TRUE_MESSAGE(compared || budgets[i] < 40, out);
    }
    EXPECT(0, "grep 'The budget was too small' dir-20/tuned.bias");
    EXPECT(0, TUNE "--tests 256 -o enough");
    TEST_ASSERT_NULL(strstr(err, "is little"));
}

/* Of every profile that is new: each key that is not as in the profile it comes from has a comment
 * before it, and what that and its head say speaks for it. */
static void test_every_move_has_its_evidence(void)
{
    EXPECT(0, TUNE "--tests 600 --keep 0 --compare none --seed 2 -o dir");
    EXPECT(0, "$ORDEAL gen --bias $HOME_OF_TESTS/examples/profiles.bias --print-bias >before");
    EXPECT(
        0,
        "awk '/^\\[profile/ { p = $2; sub(\"]\", \"\", p); root = p; sub(/-[0-9]+$/, \"\", root) }\n"
        "     /^\\[/ && !/^\\[profile/ { p = \"\" }\n"
        "     FNR == NR { if (p != \"\") was[p, $1] = $0 }\n"
        "     FNR != NR && / expected, .* if that had/ {\n"
        "         match($0, /[0-9.]+ expected, [0-9.]+/); split(substr($0, RSTART), n, / expected, | if/)\n"
        "         if (n[1] <= n[2]) { print; exit 1 } children++ }\n"
        "     FNR != NR && /^# .* -> .*: [0-9.]+ expected, without/ {\n"
        "         split($0, n, /: | expected, without /); if (n[2] <= n[3]) { print; exit 1 } }\n"
        "     FNR != NR && p != \"\" && p != root && $2 == \"=\" && $1 != \"weight\" &&\n"
        "         was[root, $1] != $0 && last !~ /^# .* -> / { print p, $0; exit 1 }\n"
        "     { last = $0 }\n"
        "     END { exit children < 2 }' before dir/tuned.bias");
    EXPECT(0, "grep ', .*taken from ' dir/tuned.bias"); /* such are among them */
}

static void test_the_picture_says_what_it_is(void)
{
    EXPECT(0, TUNE "--tests 100 --seed 3 --compare uniform -o dir");
    EXPECT(0, "cat dir/coverage.svg");
    OUT(">equal cost: ");
    OUT("seed 3; one sample");
    OUT(">tuned, ");
    OUT(" tests</text>");
    OUT("the tuned bias against the bias as it was");
    EXPECT(0, TUNE "--tests 100 --compare none -o none && cat none/coverage.svg");
    OUT("Coverage of model while tuning");
    OUT("nothing was compared");
    TEST_ASSERT_NULL(strstr(out, "equal cost"));
}

static void test_a_bias_that_was_written_makes_the_same_tests(void)
{
    EXPECT(0, TUNE "--tests 150 -o dir");
    EXPECT(0, "$ORDEAL gen --bias dir/tuned.bias --print-bias >again.bias");
    EXPECT(
        0,
        "$ORDEAL gen --bias dir/tuned.bias -n 30 -o - >a; $ORDEAL gen --bias again.bias -n 30 -o - "
        ">b; cmp a b");
}

static void test_machines_side_by_side_find_the_same(void)
{
    EXPECT(0, TUNE "--tests 200 --jobs 1 -o dir-A");
    EXPECT(0, TUNE "--tests 200 --jobs 1 -o dir-B");
    EXPECT(0, TUNE "--tests 200 --jobs 3 -o dir-C");
    same_files("dir-A", "dir-B");
    EXPECT(0, "sed -i 's/--jobs [13]//' dir-A/tuned.bias dir-C/tuned.bias");
    same_files("dir-A", "dir-C");
    EXPECT(0, TUNE "--tests 200 --seed 2 -o other");
    EXPECT(1, "cmp dir-A/tuned.bias other/tuned.bias");
}

/* Twenty kills in all, each at another moment, then to the end. */
static void test_killed_at_any_moment_it_comes_to_the_same_end(void)
{
    EXPECT(0, TUNE "--tests 300 -o dir-A");
    EXPECT(0, "for s in .11 .23 .35 .17 .41  .19 .07 .29 .37 .13  .31 .43 .05 .21 .27  .47 .09 .33 "
              ".15 .39; do\n"
              "  case $s in .19|.31|.47) rm -rf dir-B ;; esac\n"
              "  " TUNE "--tests 300 -o dir-B >/dev/null 2>&1 & tune=$!\n"
              "  sleep $s; kill -9 $tune 2>/dev/null; wait $tune 2>/dev/null\n"
              "done; true");
    EXPECT(0, TUNE "--tests 300 -o dir-B");
    OUT("end=done");
    same_files("dir-A", "dir-B");
    EXPECT(0, TUNE "--tests 300 -o dir-B"); /* once more: there is nothing left to run */
    same_files("dir-A", "dir-B");
}

static void test_interrupted_it_sums_up_and_goes_on(void)
{
    EXPECT(0, TUNE "--tests 2000 --compare none -o dir-A");
    EXPECT(130, TUNE "--tests 2000 --compare none -o dir-B & tune=$!; sleep 0.7; kill -INT $tune; "
                     "wait $tune");
    OUT("end=interrupted");
    ERR("the same command goes on from here");
    EXPECT(0, "grep 'it was interrupted' dir-B/tuned.bias");
    EXPECT(0, "for s in .21 .33 .25 .37 .29 .23 .35 .27 .31; do\n" /* tests at hand are cut off */
              "  " TUNE "--tests 2000 --compare none -o dir-B >/dev/null 2>&1 & tune=$!\n"
              "  sleep $s; kill -INT $tune 2>/dev/null; wait $tune 2>/dev/null\n"
              "done; true");
    EXPECT(0, TUNE "--tests 2000 --compare none -o dir-B");
    same_files("dir-A", "dir-B");
}

/* A greater budget goes on with what was done, and comes to what it would have come to. */
static void test_more_budget_goes_on(void)
{
    EXPECT(0, TUNE "--tests 300 -o dir-A");
    EXPECT(0, TUNE "--tests 100 -o dir-B"); /* with its comparison, which is done again */
    EXPECT(0, "grep -c ^test dir-B/journal");
    OUT("100\n");
    EXPECT(0, TUNE "--tests 300 -o dir-B");
    same_files("dir-A", "dir-B");
    EXPECT(0, "for d in A B; do sed 's/^\\(test [0-9]* [a-z]* [0-9]*\\) [0-9]*/\\1/; s/ #.*//' "
              "dir-$d/journal >$d; done; cmp A B"); /* but for the time, and checksums of that */
    EXPECT(2, TUNE "--tests 299 -o dir-B");
    ERR("begun with another tests: 300, and now it is 299; a budget can only grow");
}

static void test_a_foreign_journal_is_refused(void)
{
    EXPECT(0, TUNE "--tests 60 --compare none -o dir");
    EXPECT(2, TUNE "--tests 60 --compare none --seed 2 -o dir");
    ERR("begun with another seed: 1, and now it is 2");
    ERR("The same command goes on with it; remove it to begin again, or name another --output");
    EXPECT(2, TUNE "--tests 60 --compare none --set operations.swap=9 -o dir");
    ERR("begun with another bias; the first difference, after '[operations]': it was 'swap = ");
    ERR("and now it is 'swap = 9'");
    EXPECT(2, TUNE "--tests 60 --compare none --model SC -o dir");
    ERR("begun with another machine: usual, and now it is --model SC");
    EXPECT(0, "echo nonsense >dir/journal");
    EXPECT(2, TUNE "--tests 60 --compare none -o dir");
    ERR("dir/journal: line 1: expected 'ordeal-tune 2'");
    EXPECT(0, ": >dir/journal"); /* that is not begun */
    EXPECT(0, TUNE "--tests 60 --compare none -o dir");
}

static void test_a_full_disk_is_told_and_can_be_gone_on_from(void)
{
    EXPECT(0, TUNE "--tests 200 -o dir-A");
    EXPECT(2, "trap '' XFSZ; ulimit -f 40; " TUNE "--tests 200 -o dir-B");
    ERR("dir-B/journal: File too large");
    EXPECT(0, TUNE "--tests 200 -o dir-B");
    same_files("dir-A", "dir-B");
    EXPECT(0, "echo >file");
    EXPECT(2, TUNE "--tests 60 -o file/dir");
    ERR("--output file/dir: Not a directory");
    EXPECT(2, TUNE "--tests 60 -o file");
    ERR("--output file: it is a file");
    TEST_ASSERT_NULL(strstr(err, "same command"));
}

/* What was run before it stopped is not run again, also of a round that is not whole. */
static void test_every_test_is_kept_as_it_is_settled(void)
{
    EXPECT(2, "trap '' XFSZ; ulimit -f 40; " TUNE "--batch 40 --tests 200 -o dir");
    EXPECT(0, "grep ^test dir/journal | sed '$d' >before; wc -l <before"); /* the last was torn */
    int kept = atoi(out);
    TEST_ASSERT_TRUE_MESSAGE(kept > 5 && kept < 160, out); /* of a round of 280 tests */
    EXPECT(0, TUNE "--batch 40 --tests 200 -o dir");
    EXPECT(0, "grep ^test dir/journal | head -%d | cmp - before", kept);
}

/* What fails on the way is told, kept and replays; tuning goes on. */
static void test_failing_tests_are_kept(void)
{
    EXPECT(1, TUNE "--tests 60 --compare none --bug forward-oldest -o dir");
    OUT("FAIL test-");
    OUT("saved=ordeal-failures/");
    OUT("end=done");
    EXPECT(1, "sh \"$(ls -d ordeal-failures/*/ | head -1)/replay\"");
    OUT("FAIL");
    EXPECT(1,
           TUNE "--tests 60 --compare none --bug forward-oldest -o dir"); /* nothing runs again */
    EXPECT(1, TUNE "--tests 60 --compare none --bug forward-oldest --no-save -o other");
    EXPECT(0, "cmp dir/coverage.cover other/coverage.cover");
}

/* The head of the bias is comments, whatever is in names, and its commands are for a shell. */
static void test_names_stay_within_the_head(void)
{
    EXPECT(0, "printf 'a b\n[profile x]' >name; " TUNE
              "--tests 16 --set 'idioms.sb = 0' -o \"$(cat name)\"");
    EXPECT(0, "$ORDEAL gen --bias \"$(cat name)/tuned.bias\" -n 3 -o /dev/null");
    EXPECT(0, "cat \"$(cat name)/tuned.bias\"");
    OUT("#   ordeal run --target model --bias 'a b\\x0a[profile x]'/tuned.bias --check ");
    OUT(" --set 'idioms.sb = 0' -o 'a b\\x0a[profile x]'\n");
}

static void test_bugs_are_listed(void)
{
    EXPECT(0, "$ORDEAL run --target model --bug list >run; $ORDEAL tune --target model --bug list "
              ">tune; cmp run tune");
    EXPECT(0, "grep membar-ignored tune");
}

static void test_uniform_settings_are_a_bias(void)
{
    EXPECT(0, TUNE "--uniform 5 -o uniform.bias");
    EXPECT(0, "grep -c '^\\[profile uniform-' uniform.bias");
    TEST_ASSERT_EQUAL_INT(5, atoi(out));
    EXPECT(0, "$ORDEAL run --target model --bias uniform.bias --check --count 20");
    EXPECT(0, TUNE "--uniform 5 -o again.bias && cmp uniform.bias again.bias");
    EXPECT(0, TUNE "--uniform 5 --seed 2 -o other.bias");
    EXPECT(1, "cmp uniform.bias other.bias");
}

static void test_the_summary_as_json(void)
{
    EXPECT(0, TUNE "--tests 60 --json --compare uniform -o dir");
    cJSON *line = cJSON_Parse(out);
    TEST_ASSERT_NOT_NULL(line);
    static const char *const fields[] = { "tests",    "operations", "rounds", "settings",
                                          "restarts", "profiles",   "fail",   "tuned",
                                          "untuned",  "uniform",    "chance" };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        TEST_ASSERT_TRUE_MESSAGE(cJSON_IsNumber(cJSON_GetObjectItem(line, fields[i])), fields[i]);
    cJSON_Delete(line);
}

static void test_wrong_options_are_told(void)
{
    static const struct {
        const char *options, *reason;
    } wrong[] = {
        { "", "for how long? --cycles, --tests or --seconds" },
        { "--uniform 8 --tests 100", "--uniform runs nothing, so it takes no --cycles" },
        { "--cycles 10", "the target 'model' does not count cycles" },
        { "--tests 10 --compare all", "--compare takes untuned, uniform or none, not 'all'" },
        { "--tests 10 --reward much", "--reward takes novelty or rarity, not 'much'" },
        { "--tests 10 --profiles 13", "--profiles takes a number up to 12" },
        { "--tests 10 --keep 100", "--keep takes a number up to 99" },
        { "--tests 10 --batches 65", "--batches takes a number up to 64" },
        { "--tests 10 --discount 100", "--discount takes a number up to 99" },
        { "--tests 10 file.test", "it takes no files" },
        { "--tests 10 --set operations.load=x", "operations.load" },
        { "--tests 10 --delay 3", "--delay" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        EXPECT(2, TUNE "%s", wrong[i].options);
        ERR(wrong[i].reason);
    }
    EXPECT(2, "$ORDEAL tune --tests 10");
    ERR("on which target?");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_what_comes_out_can_be_used);
    RUN_TEST(test_one_round_is_no_rounds);
    RUN_TEST(test_without_a_gain_the_bias_stays_as_it_was);
    RUN_TEST(test_small_budgets_are_kept_to_and_told_of);
    RUN_TEST(test_every_move_has_its_evidence);
    RUN_TEST(test_the_picture_says_what_it_is);
    RUN_TEST(test_more_budget_goes_on);
    RUN_TEST(test_every_test_is_kept_as_it_is_settled);
    RUN_TEST(test_a_bias_that_was_written_makes_the_same_tests);
    RUN_TEST(test_machines_side_by_side_find_the_same);
    RUN_TEST(test_killed_at_any_moment_it_comes_to_the_same_end);
    RUN_TEST(test_interrupted_it_sums_up_and_goes_on);
    RUN_TEST(test_a_foreign_journal_is_refused);
    RUN_TEST(test_a_full_disk_is_told_and_can_be_gone_on_from);
    RUN_TEST(test_failing_tests_are_kept);
    RUN_TEST(test_names_stay_within_the_head);
    RUN_TEST(test_bugs_are_listed);
    RUN_TEST(test_uniform_settings_are_a_bias);
    RUN_TEST(test_the_summary_as_json);
    RUN_TEST(test_wrong_options_are_told);
    return UNITY_END();
}
