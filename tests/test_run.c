/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal run` from outside: tests made, run, checked and kept; pipes, refusals, ^C and hangs.
 * ORDEAL in the environment names the program. Every test works in a directory of its own. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cJSON.h>

#include "shell.h"
#include "unity.h"

/* ---- running ------------------------------------------------------------------------------- */

/* The number of a field of the summary, the last line. */
static double field(const char *text, const char *name)
{
    char key[64], message[1024];
    snprintf(key, sizeof key, "%s=", name);
    const char *summary = strstr(text, "tests="), *at = NULL;
    for (const char *p = summary; p && (p = strstr(p, key)); p++)
        if (p == summary || p[-1] == ' ')
            at = p + strlen(key);
    snprintf(message, sizeof message, "no %s in: %.800s", key, text);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, message);
    return strtod(at, NULL);
}

static int count_of(const char *text, const char *part)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, part)) != NULL; p++)
        n++;
    return n;
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    TEST_ASSERT_NOT_NULL(f);
    fputs(text, f);
    fclose(f);
}

static const char *const sb = "ordeal 1\nP0 S[A]#1\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\n";

void setUp(void)
{
    shell_enter();
    TEST_ASSERT_EQUAL(0, mkdir("tmp", 0700));
    char temporary[128];
    snprintf(temporary, sizeof temporary, "%s/tmp", directory);
    setenv("TMPDIR", temporary, 1);
}

static int left_behind(void)
{
    TEST_ASSERT_EQUAL(0, sh("ls -A tmp | wc -l"));
    return atoi(out);
}

void tearDown(void)
{
    shell_leave();
}

/* ---- verdicts ------------------------------------------------------------------------------ */

static const char *const models[] = { "SC", "TSO", "PSO", "PC", "RMO" };

static void test_legal_machines_pass(void)
{
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        EXPECT(0, "$ORDEAL run --target model --model %s --check --count 40", models[m]);
        TEST_ASSERT_EQUAL(40, field(out, "tests"));
        TEST_ASSERT_EQUAL(40, field(out, "pass"));
        TEST_ASSERT_EQUAL(0, field(out, "fail"));
        TEST_ASSERT_EQUAL(40, field(out, "next"));
        TEST_ASSERT_EQUAL(0, strncmp(out, "tests=", 6));
    }
    TEST_ASSERT_NOT_EQUAL(0, access("ordeal-failures", F_OK));
}

static void test_a_stronger_model_than_the_machines_fails(void)
{
    write_file("sb.test", sb);
    EXPECT(0, "$ORDEAL run --target model --model TSO --check -i 300 sb.test");
    EXPECT(0, "$ORDEAL run --target model --model TSO --against PSO -i 300 sb.test");
    EXPECT(1, "$ORDEAL run --target model --model TSO --against SC -i 300 sb.test");
    OUT("FAIL sb.test#");
    OUT("model=SC");
    OUT("core=4");
    OUT("reason=");
    TEST_ASSERT_EQUAL(1, field(out, "fail"));
    EXPECT(1, "$ORDEAL run --target model --model TSO --against SC -i 300 --save kept sb.test");
    EXPECT(1, "$ORDEAL show kept/test-000000"); /* it is the same that is shown */
    OUT("violates SC");
}

static void test_repeated_outcomes_are_recognised(void)
{
    write_file("sb.test", sb);
    EXPECT(0, "$ORDEAL run --target model --model SC --check -i 2000 sb.test");
    TEST_ASSERT_EQUAL(2000, field(out, "iterations"));
    TEST_ASSERT_EQUAL(8000, field(out, "operations"));
    TEST_ASSERT_EQUAL(3, field(out, "outcomes"));
    EXPECT(0, "$ORDEAL run --target model --model TSO --check -i 2000 sb.test");
    TEST_ASSERT_EQUAL(4, field(out, "outcomes"));
}

/* Branches, loops and transactions go the long way, without the replay. */
static void test_tests_of_every_kind_are_checked(void)
{
    EXPECT(0, "$ORDEAL run --target model --check --count 20 -i 5 --set branches.share=30 "
              "--set loops.share=20 --set transactions.share=20");
    TEST_ASSERT_EQUAL(20, field(out, "pass"));
    TEST_ASSERT_EQUAL(100, field(out, "iterations"));
}

#define BROKEN "$ORDEAL run --target model --model TSO --bug swap-not-atomic --check --count 200 "

static void test_a_bug_is_caught_kept_and_replayed(void)
{
    EXPECT(1, BROKEN "--stop-after 2 --save kept");
    TEST_ASSERT_EQUAL(2, count_of(out, "FAIL test-"));
    TEST_ASSERT_EQUAL(2, field(out, "fail"));
    OUT("saved=kept/test-");
    OUT("certified=yes");
    OUT("end=stopped");
    ERR("--keep-going");
    static const char *const files[] = { "bias.ini", "test.test", "trace.trace", "replay" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        EXPECT(0, "for d in kept/*; do test -s $d/%s || exit 9; done", files[i]);
    EXPECT(0, "for d in kept/*; do sh $d/replay -o again.trace --save other; test $? = 1 || exit 8;"
              " cmp again.trace $d/trace.trace || exit 9; done");
    EXPECT(0, "ls kept | wc -l");
    TEST_ASSERT_EQUAL(2, atoi(out));
    TEST_ASSERT_EQUAL(0, left_behind());
}

static void test_a_failing_test_tells_its_profile(void)
{
    write_file("one.bias", "[profile hot]\nweight = 1\noperations.swap = 60\n");
    EXPECT(1,
           "$ORDEAL run --target model --bug swap-not-atomic --check --bias one.bias --save kept");
    OUT(" profile=hot ");
    EXPECT(0, "grep '\"profile\":[[:space:]]*\"hot\"' kept/test-*/verdict.json");
    EXPECT(1, "$ORDEAL run --target model --bug swap-not-atomic --check --no-save "
              "--set operations.swap=60 --set 'profile hot-word.weight=5000'");
    OUT(" profile=hot-word ");
}

/* And what to type for a replay that shrinks. */
static void test_a_failing_test_tells_its_file(void)
{
    EXPECT(0, "printf 'ordeal 1\\nP0 S[A]#1\\nP0 L[B]\\nP1 S[B]#1\\nP1 L[A]\\n' > \"$(printf "
              "'a\\033b')\"");
    EXPECT(1, "$ORDEAL run --target model --against SC -i 300 --save kept a?b");
    EXPECT(0, "grep 'from=\"a.x1bb\"' kept/test-*/verdict.txt && "
              "grep '\"from\":\"a.u001bb\"' kept/test-*/verdict.json");
    EXPECT(2, "kept/test-*/replay --shrink");
    ERR("--shrink is of what is kept, and nothing is: add --save DIR");
    EXPECT(1, "kept/test-*/replay --shrink --save again");
    OUT(" small=\"as it was\"");
}

/* With files that cannot grow beyond so many blocks of 512 bytes, as on a disk that is full. */
static void run_in_blocks(int blocks)
{
    EXPECT(0,
           "rm -rf kept; { (trap '' XFSZ; ulimit -f %d; $ORDEAL run --target model --model TSO "
           "--bug swap-not-atomic --check --stop-after 1 tests.test "
           "--save kept); echo status=$?; } 2>&1 | cat",
           blocks);
}

/* Whatever of it does not fit: that it failed is told, why it is not kept, and nothing is left. */
static void test_what_cannot_be_kept_is_told_all_the_same(void)
{
    bool picture = false, kept = false;
    EXPECT(0, "$ORDEAL gen --set operations.swap=100 --set test.operations=40 -n 50 -o tests.test");
    for (int blocks = 0; blocks <= 24; blocks += blocks < 12 ? 1 : 6) {
        run_in_blocks(blocks);
        TEST_ASSERT_EQUAL(1, count_of(out, "FAIL tests.test#"));
        TEST_ASSERT_EQUAL(1, field(out, "fail"));
        bool saved = strstr(out, "saved=");
        OUT(saved ? "status=1\n" : "status=2\n");
        picture |= strstr(out, "picture.svg: File too large") != NULL;
        kept |= saved;
        if (!saved)
            OUT(": File too large");
        EXPECT(0, "ls -A kept 2>/dev/null | wc -l; ls -A kept/* 2>/dev/null | wc -l");
        TEST_ASSERT_EQUAL_STRING(saved ? "1\n9\n" : "0\n0\n", out);
    }
    TEST_ASSERT_TRUE(picture);
    TEST_ASSERT_TRUE(kept);
}

static void test_the_same_seed_tells_the_same(void)
{
    EXPECT(0, BROKEN "--keep-going -i 3 --save a | grep FAIL | sed 's/saved.*//' >1\n"
              BROKEN "--keep-going -i 3 --save b | grep FAIL | sed 's/saved.*//' >2\n"
              BROKEN "--keep-going -i 3 --save c --seed 2 | grep FAIL | sed 's/saved.*//' >3\n"
              "test -s 1 && cmp 1 2 && ! cmp 1 3");
}

static void test_keep_going_runs_all(void)
{
    EXPECT(1, BROKEN "--keep-going --save kept");
    TEST_ASSERT_EQUAL(200, field(out, "tests"));
    TEST_ASSERT_GREATER_THAN(10, field(out, "fail"));
    TEST_ASSERT_EQUAL((int)field(out, "fail"), count_of(out, "FAIL test-"));
    OUT("end=done");
    EXPECT(1, BROKEN "--save more");
    TEST_ASSERT_EQUAL(10, field(out, "fail"));
}

static void test_a_failing_test_is_made_small(void)
{
    EXPECT(1, BROKEN "--stop-after 1 --save kept --shrink");
    OUT(" small=");
    const char *first = strstr(out, "FAIL test-"), *second = strstr(out, "\nSMALL test-");
    TEST_ASSERT_TRUE_MESSAGE(first && second && first < second, out);
    TEST_ASSERT_TRUE(strstr(first, " saved=kept/test-") < second);
    EXPECT(0, "test $(grep -c '^P' kept/*/small/test.test) -le 6");
    EXPECT(1, "$ORDEAL run --target model --model TSO --bug swap-not-atomic --check -i 1000 "
              "--save again kept/*/small/test.test");
    EXPECT(1, "$ORDEAL check kept/*/small/trace.trace");
    EXPECT(1, "$ORDEAL show kept/*/small");
    EXPECT(1, "kept/*/small/replay --save once-more");
}

static void test_json_is_an_object_a_line(void)
{
    EXPECT(1, BROKEN "--stop-after 2 --save kept --json");
    int lines = 0;
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        cJSON *o = cJSON_Parse(line);
        TEST_ASSERT_NOT_NULL_MESSAGE(o, line);
        if (lines < 2) {
            TEST_ASSERT_EQUAL_STRING("FAIL", cJSON_GetObjectItem(o, "verdict")->valuestring);
            TEST_ASSERT_TRUE(cJSON_IsArray(cJSON_GetObjectItem(o, "core")));
            TEST_ASSERT_TRUE(cJSON_IsString(cJSON_GetObjectItem(o, "saved")));
        } else {
            TEST_ASSERT_EQUAL(2, cJSON_GetObjectItem(o, "fail")->valueint);
            TEST_ASSERT_TRUE(cJSON_IsNumber(cJSON_GetObjectItem(o, "running_percent")));
            TEST_ASSERT_EQUAL_STRING("stopped", cJSON_GetObjectItem(o, "end")->valuestring);
        }
        cJSON_Delete(o);
    }
    TEST_ASSERT_EQUAL(3, lines);
}

static void test_a_limit_leaves_tests_undecided(void)
{
    EXPECT(4, "$ORDEAL run --target model --check --limit 0.000000001 --set transactions.share=30 "
              "--set test.operations=20000");
    OUT("UNDECIDED test-0#0 ");
    TEST_ASSERT_EQUAL(1, field(out, "undecided"));
}

/* ---- traces -------------------------------------------------------------------------------- */

static void test_a_pipe_from_gen_to_check(void)
{
    EXPECT(0, "$ORDEAL gen -n 12 | $ORDEAL run --target model - 2>summary | $ORDEAL check -");
    TEST_ASSERT_EQUAL(12, count_of(out, "PASS "));
    EXPECT(0, "cat summary");
    TEST_ASSERT_EQUAL(12, field(out, "tests"));
    EXPECT(0, "$ORDEAL gen -n 12 | $ORDEAL run --target model --format binary - 2>summary"
              " | $ORDEAL check -");
    TEST_ASSERT_EQUAL(12, count_of(out, "PASS "));
}

static void test_made_and_read_tests_are_the_same(void)
{
    EXPECT(0, "$ORDEAL run --target model --seed 5 --count 9 -o made.trace\n"
              "$ORDEAL gen --target model --seed 5 -n 9 |\n"
              "$ORDEAL run --target model --seed 5 -o read.trace -\n"
              "test $(grep -c '^ordeal 1' made.trace) = 9\n"
              "cmp made.trace read.trace");
}

static void test_first_goes_on_where_a_run_ended(void)
{
    EXPECT(0, "$ORDEAL run --target model --count 8 -o 1.trace");
    TEST_ASSERT_EQUAL(8, field(out, "next"));
    EXPECT(0, "$ORDEAL run --target model --first 8 --count 12 -o 2.trace");
    TEST_ASSERT_EQUAL(20, field(out, "next"));
    EXPECT(0, "$ORDEAL run --target model --count 20 -o all.trace\n"
              "cat 1.trace 2.trace | cmp - all.trace");
}

static void test_iterations_can_be_run_alone(void)
{
    EXPECT(0, "$ORDEAL run --target model -i 10 -o all.trace\n"
              "for i in 0 1 2 3 4 5 6 7 8 9; do $ORDEAL run --target model -i 1 "
              "--first-iteration $i; done >each.trace\n"
              "cmp all.trace each.trace");
}

/* ---- bounded memory ------------------------------------------------------------------------ */

static long most_kilobytes(const char *count)
{
    char *argv[] = { getenv("ORDEAL"), "run", "--target", "model", "--check", "--count",
                     (char *)count, NULL };
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        /* Freed memory is kept aside by the address sanitizer, which is not what is measured. */
        setenv("ASAN_OPTIONS", "quarantine_size_mb=1", 1);
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        execv(argv[0], argv);
        _exit(127);
    }
    int status;
    struct rusage usage;
    TEST_ASSERT_EQUAL(child, wait4(child, &status, 0, &usage));
    TEST_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return usage.ru_maxrss;
}

/* ThreadSanitizer has four bytes of its own for each of memory. */
#ifdef __SANITIZE_THREAD__
enum { SANITIZED = 5 };
#else
enum { SANITIZED = 1 };
#endif

/* 2500 tests of 200 operations as the program holds them are more than 50 MB. */
static void test_memory_does_not_grow_with_the_count(void)
{
    TEST_ASSERT_LESS_THAN(most_kilobytes("500") + SANITIZED * 24 * 1024, most_kilobytes("3000"));
}

/* ---- several machines ----------------------------------------------------------------------- */

/* What is told is the same, but for what takes time, and for how many iterations of a failing test are
 * run before its failure is known. */
static void test_jobs_change_nothing(void)
{
    static const char *const runs[] = {
        "--check --no-save --count 300 --keep-going --bug swap-not-atomic --iterations 3",
        "--check --no-save --count 300 --stop-after 4 --bug swap-not-atomic",
        "--check --count 200 --model RMO --json",
        "--count 200 --iterations 3 --output -",
        "--check --count 40 --iterations 200 --output traces --set test.operations=200",
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        for (int jobs = 1; jobs <= 3; jobs += 2)
            sh("$ORDEAL run --target model %s --jobs %d >all%d 2>err%d; echo $? >>all%d; "
               "[ ! -e traces ] || mv traces traces%d; "
               "sed -Ei 's/\"?(seconds|ops_per_second|running_percent%s)\"?[=:][0-9.]+//g; "
               "/the rest: /s/--jobs [0-9]//' *%d",
               runs[i], jobs, jobs, jobs, jobs, jobs,
               strstr(runs[i], "--bug") ? "|iterations|outcomes|operations" : "", jobs);
        EXPECT(0, "cmp all1 all3 && cmp err1 err3");
    }
    EXPECT(0, "cmp traces1 traces3");
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void test_usage_is_explained(void)
{
    static const struct {
        const char *arguments, *said;
    } table[] = {
        { "", "--target takes one of model, native, elf" },
        { "--target qemu", "not 'qemu'" },
        { "--target native --bug swap-not-atomic", "--bug is for --target model, sim or board;" },
        { "--target model --visible", "--visible is for --target sim or board;" },
        { "--target model --check --waves", "the target 'model' has no --waves" },
        { "--target native --jobs 2", "one at a time on 'native'" },
        { "--target model --jobs 65", "up to 64" },
        { "--target sim --waves", "--waves is about tests that fail; add --check" },
        { "--target sim --check --no-save --waves", "--waves is of what is kept" },
        { "--target sim --config sets=3", "a power of two" },
        { "--target sim --sizes usuall", "Did you mean 'usual'?" },
        { "--target model --bug lst", "did you mean 'list'?" },
        { "--target model --set idioms.SB=5", "did you mean idioms.sb?" },
        { "--target model --machine qemu", "--machine is for --target elf" },
        { "--target model --save x", "add --check" },
        { "--target model --check --stop-after 1 --keep-going", "exclude each other" },
        { "--target model --check -o -", "name a file for --output" },
        { "--target model --check --format binary", "--format is of traces" },
        { "--target model --count 3 some.test", "--count does not go with 'some.test'" },
        { "--target model --first 18446744073709551615 --count 2", "no test number" },
        { "--target model --count 0", "a whole number above 0, not '0'" },
        { "--target model --seed -1", "a whole number, not '-1'" },
        { "--target model --bug nonsense", "nonsense" },
        { "--target model --model SC --bug buffer-not-fifo", "buffer-not-fifo" },
        { "--target model --set no.such=1", "[no]" },
        { "--target model --bias missing.bias", "missing.bias" },
        { "--target model missing.test", "missing.test: No such file" },
        { "--target elf --emit d --check", "--emit runs nothing" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        EXPECT(2, "$ORDEAL run %s", table[i].arguments);
        ERR(table[i].said);
    }
}

static void test_bugs_are_listed(void)
{
    EXPECT(0, "$ORDEAL run --bug list");
    OUT("--target model\n");
    OUT("swap-not-atomic");
    OUT("membar-ignored");
    OUT("--target sim\n");
    OUT("TLB: translation is not built");
    EXPECT(0, "$ORDEAL run --target model --bug list");
    TEST_ASSERT_NULL(strstr(out, "TLB"));
    EXPECT(0, "$ORDEAL run --target sim --bug list --json");
    TEST_ASSERT_NULL(strstr(out, "membar-ignored"));
    OUT("{\"number\":22,\"bug\":\"upgrade-wins\",\"area\":\"Caches\",");
}

static void test_wrong_tests_are_refused_with_their_line(void)
{
    write_file("empty.test", "");
    EXPECT(2, "$ORDEAL run --target model --check empty.test");
    write_file("bad.test", "ordeal 1\nP0 S[A]#1\nP0 S(B)#1\n");
    EXPECT(2, "$ORDEAL run --target model --check bad.test");
    ERR("bad.test:3");
    write_file("open.test", "ordeal 1\nP0 LOOP.BEGIN#3\nP0 S[A]#1+1\n");
    EXPECT(2, "$ORDEAL run --target model --check open.test");
    ERR("open.test:");
}

/* The second test needs more threads than the machine has: not even the first one is run. */
static void test_what_the_target_cannot_do_is_refused_before_anything_runs(void)
{
    write_file("sb.test", sb);
    FILE *f = fopen("wide.test", "w");
    fputs("ordeal 1\n", f);
    for (int p = 0; p < 300; p++)
        fprintf(f, "P%d L[A]\n", p);
    fclose(f);
    EXPECT(2, "$ORDEAL run --target model --check sb.test wide.test");
    ERR("wide.test: the target 'model' cannot run it: the test takes 300 threads");
    TEST_ASSERT_EQUAL(0, field(out, "iterations"));
    write_file("tx.test", "ordeal 1\nP0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\n");
    EXPECT(2, "$ORDEAL run --target model --model PC --check tx.test");
    ERR("it has no transactions");
    EXPECT(2, "$ORDEAL run --target model --model PC --count 3 "
              "--set transactions.share=30 --check");
    ERR("--set: transactions.share = 30: the machine cannot do that");
    write_file("tx.bias", "[profile often]\nweight = 1\ntransactions.share = 90\n");
    EXPECT(2, "$ORDEAL run --target model --model PC --bias tx.bias --check");
    ERR("tx.bias:3: profile often: the target 'model' cannot run its tests: it has no transactions "
        "(this makes tests that it can run: --set transactions.share=0); --set 'profile "
        "often.weight=0' goes without the profile");
    TEST_ASSERT_EQUAL_STRING("", out); /* nothing was run */
}

static void test_a_place_where_no_model_can_be_kept_is_named(void)
{
    EXPECT(3, "ORDEAL_MODELS=/dev/null/models $ORDEAL run --target sim --sizes usual --harts 3 "
              "--config sets=8 --count 1");
    ERR("models are kept in '/dev/null/models', which ORDEAL_MODELS names, and it cannot be "
        "written: Not a directory; name another directory");
    TEST_ASSERT_NULL(strstr(err, "building"));
}

/* ---- ends ---------------------------------------------------------------------------------- */

static pid_t start(const char *input, const char *const *arguments)
{
    char *argv[16] = { getenv("ORDEAL"), "run" };
    for (int i = 0; i < 12 && arguments[i]; i++)
        argv[i + 2] = (char *)arguments[i];
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        if (!freopen(input, "r+", stdin) || !freopen("out", "w", stdout)
            || !freopen("err", "w", stderr))
            _exit(126);
        execv(argv[0], argv);
        _exit(127);
    }
    return child;
}

static int end_of(pid_t child)
{
    int status = 0;
    for (int i = 0; i < 2000; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
        usleep(10000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

/* Until it listens to the signal, however slow it is to start: before, that would just kill it. */
static void await_listening(pid_t child, int signal)
{
    char path[64], line[256];
    uint64_t caught = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)child);
    for (int i = 0; i < 2000 && !(caught >> (signal - 1) & 1); i++) {
        FILE *f = fopen(path, "r");
        TEST_ASSERT_NOT_NULL(f);
        while (fgets(line, sizeof line, f))
            sscanf(line, "SigCgt: %" SCNx64, &caught);
        fclose(f);
        usleep(10000);
    }
}

/* ^C after a while: 130, the sum of what was done, nobody left of the group, no file. */
static void interrupt(int signal, const char *input, const char *const *arguments)
{
    pid_t child = start(input, arguments);
    await_listening(child, signal);
    usleep(400000);
    kill(child, signal);
    int status = end_of(child);
    slurp("out", out, sizeof out);
    slurp("err", err, sizeof err);
    expect(130, status, __LINE__);
    OUT("end=interrupted");
    TEST_ASSERT_EQUAL(-1, kill(-child, 0));
    TEST_ASSERT_EQUAL(ESRCH, errno);
    TEST_ASSERT_EQUAL(0, left_behind());
    EXPECT(0, "ls -A");
    TEST_ASSERT_EQUAL_STRING("err\nout\ntmp\n", strstr(out, "err"));
}
#define INTERRUPT(signal, input, ...) \
    interrupt(signal, input, (const char *[]){ __VA_ARGS__, NULL })

static void test_interrupts_end_it_cleanly(void)
{
    INTERRUPT(SIGINT, "/dev/null", "--target", "model", "--check", "--count", "1000000000");
    INTERRUPT(SIGTERM, "/dev/null", "--target", "model", "--check", "--count", "1000000000");
    INTERRUPT(SIGINT, "/dev/null", "--target", "model", "--check", "-i", "1000000000");
    INTERRUPT(SIGINT, "/dev/null", "--target", "model", "--count", "1000000000", "-o", "all.trace",
              "--check");
}

static void test_an_interrupt_while_it_waits_for_input(void)
{
    TEST_ASSERT_EQUAL(0, mkfifo("tmp/fifo", 0600));
    pid_t child = start("tmp/fifo", (const char *[]){ "--target", "model", "--check", "-", NULL });
    await_listening(child, SIGINT);
    usleep(300000);
    kill(child, SIGINT);
    int status = end_of(child);
    slurp("out", out, sizeof out);
    expect(130, status, __LINE__);
}

#ifdef __x86_64__
static void test_this_computer_obeys_tso(void)
{
    EXPECT(2, "$ORDEAL run --target native --model SC --check");
    ERR("use --against");
    EXPECT(0, "$ORDEAL run --target native --model TSO --check --count 20 -i 200");
    TEST_ASSERT_EQUAL(20, field(out, "pass"));
    TEST_ASSERT_EQUAL(4000, field(out, "iterations"));
    TEST_ASSERT_EQUAL(0, left_behind());
    remove("out");
    INTERRUPT(SIGINT, "/dev/null", "--target", "native", "--check", "-i", "1000000000");
}
#else
static void test_this_computer_is_not_for_native(void)
{
    EXPECT(2, "$ORDEAL run --target native --check");
    ERR("x86-64");
}
#endif

static void test_a_bare_metal_multiprocessor_obeys_rmo(void)
{
    static const char *const isas[] = { "rv32ima", "rv64ima" };
    for (int i = 0; i < 2; i++) {
        EXPECT(0, "$ORDEAL run --target elf --machine qemu --isa %s --check --count 100 -i 8 "
                  "--set threads=4", isas[i]);
        TEST_ASSERT_EQUAL(100, field(out, "pass"));
        TEST_ASSERT_EQUAL(800, field(out, "iterations"));
    }
    TEST_ASSERT_EQUAL(0, left_behind());
}

/* A simulator that sleeps. */
static void test_a_hang_is_told_with_its_place(void)
{
    write_file("sb.test", sb);
    EXPECT(1, "$ORDEAL run --target elf --command 'sh -c \"sleep 60\" {elf} {signature}' "
              "--timeout 1 --check sb.test");
    OUT("FAIL sb.test#0 ");
    OUT("signature=standstill");
    TEST_ASSERT_EQUAL(0, left_behind());
}

static void test_a_full_disk_is_noticed(void)
{
    EXPECT(2, "$ORDEAL run --target model --count 100 >/dev/full");
    EXPECT(2, "$ORDEAL run --target model --count 100 -o nowhere/x.trace");
    ERR("nowhere/x.trace");
}

/* What cannot be written is 2 in every command, whatever else was found, and told once a file. */
static void test_what_cannot_be_written_is_2_everywhere(void)
{
#define FAILING "run --target model --bug forward-oldest --bias plain.bias --count 3 --check "
    static const char *const commands[] = {
        "check v.trace >/dev/full",
        "check --witness /dev/full v.trace",
        "check --witness nowhere/w v.trace",
        "show v.trace >/dev/full",
        "show --svg /dev/full v.trace",
        "show --dot nowhere/x.dot v.trace",
        "convert --to text -o /dev/full v.trace",
        "convert -o - --to binary v.trace >/dev/full",
        "gen -n 1 -o /dev/full",
        "gen -n 1 >/dev/full",
        "gen --keys >/dev/full",
        "cover c.cover >/dev/full",
        "cover --json c.cover >/dev/full",
        "help >/dev/full",
        "run --target model --count 2 -o /dev/full",
        "run --target model --count 2 --check --cover nowhere/c",
        FAILING ">/dev/full",
        FAILING "-o /dev/full",
        FAILING "-o nowhere/x.trace",
        FAILING "--save /dev/full",
        FAILING "--save /proc/nowhere",
    };
    EXPECT(0, "printf '[test]\\nlocations = 2\\n[operations]\\nswap = 0\\ncas = 0\\n' >plain.bias; "
              "printf 'ordeal 1\\nP0 S[A]#1\\nP0 L[B]=0\\nP1 S[B]#2\\nP1 L[A]=0\\n' >v.trace; "
              "$ORDEAL run --target model --count 1 --check --cover c.cover");
    EXPECT(1, "sed -i '1a model SC' v.trace; $ORDEAL check v.trace");
    EXPECT(1, "$ORDEAL " FAILING);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        int status = sh("$ORDEAL %s", commands[i]);
        TEST_ASSERT_EQUAL_MESSAGE(2, status, commands[i]);
        TEST_ASSERT_NULL_MESSAGE(strstr(err, "Input/output error"), commands[i]);
    }
#undef FAILING
}

/* What has no end, or nobody writes to, is not read where a file is expected: nobody waits. */
static void test_what_is_to_be_a_file_is_one(void)
{
    static const char *const uses[] = {
        "run --target model --bias %s",
        "gen --bias %s",
        "check --verify %s t.trace",
        "check --signature %s t.trace",
        "cover %s",
        "tune --target model --tests 1 --bias %s",
        "run --target model --bias idiom.bias",
    };
    static const char *const names[] = { "pipe", "/dev/zero", "link" };
    EXPECT(0, "mkfifo pipe; ln -s pipe link; $ORDEAL run --target model -o t.trace");
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        EXPECT(0, "printf '[idiom x]\nweight = 1\nfile = %s\n' >idiom.bias", names[n]);
        for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
            char use[128], reason[128];
            snprintf(use, sizeof use, uses[i], names[n]);
            snprintf(reason, sizeof reason, "%s: it is not a file", names[n]);
            EXPECT(2, "timeout 600 $ORDEAL %s 2>&1", use);
            OUT(reason);
        }
    }
}

/* Traces and tests are streams: pipes are read, whoever reads them. */
static void test_streams_come_through_pipes(void)
{
    static const char *const uses[] = { "check", "show", "convert --to text -o new.trace",
                                        "run --target model -o new.trace" };
    EXPECT(0, "mkfifo pipe; $ORDEAL run --target model -o t.trace");
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        EXPECT(0, "cat t.trace >pipe & timeout 600 $ORDEAL %s pipe", uses[i]);
}

/* Nobody writes: the program sleeps until it is asked to end. */
static void test_a_pipe_without_a_writer_can_be_left(void)
{
    static const char *const uses[] = { "check", "show", "convert --to text" };
    EXPECT(0, "mkfifo pipe");
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        EXPECT(130,
               "$ORDEAL %s pipe & pid=$!; listens() { grep -q '^SigCgt.*[4-7c-f]...$' "
               "/proc/$pid/status && grep -q '^State:.S' /proc/$pid/status; }; "
               "while ! listens && [ $((i=i+1)) -lt 3000 ]; do sleep 0.01; done; "
               "kill -TERM $pid; wait $pid",
               uses[i]);
}

static void test_a_cover_file_is_a_file(void)
{
    EXPECT(2, "$ORDEAL cover /dev/zero");
    EXPECT(2, "$ORDEAL run --target model --count 1 --check --cover /dev/full");
    ERR("/dev/full': it is not a file");
}

/* Whoever reads does not read on: ^C ends it all the same, and is no error in writing. */
static void press_in_a_full_pipe(const char *command)
{
    EXPECT(
        130,
        "mkfifo full; exec 9<>full; $ORDEAL %s >full 2>said 9>&- & run=$!; tries=0; "
        "until grep -q '^1 0x1 ' /proc/$run/syscall; do " /* write(1, ...) */
        "  sleep 0.05; tries=$((tries + 1)); [ $tries -lt 600 ] || { kill -9 $run; exit 9; }; done; "
        "sleep 0.1; kill -INT $run; "
        "( sleep 30; kill -9 $run ) 2>/dev/null & late=$!; wait $run; status=$?; kill $late; "
        "rm full; cat said >&2; exit $status",
        command);
    TEST_ASSERT_NULL_MESSAGE(strstr(err, "Interrupted system call"), err);
    TEST_ASSERT_NULL_MESSAGE(strstr(err, "could not be written"), err);
}

static void test_interrupted_while_nobody_reads(void)
{
    press_in_a_full_pipe("run --target model --count 100000");
    press_in_a_full_pipe(
        "run --target model --bug forward-oldest --count 100000 --check --keep-going "
        "--no-save");
    EXPECT(0, "$ORDEAL gen -n 400 -o all.test");
    press_in_a_full_pipe("convert all.test all.test all.test all.test");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_legal_machines_pass);
    RUN_TEST(test_a_stronger_model_than_the_machines_fails);
    RUN_TEST(test_repeated_outcomes_are_recognised);
    RUN_TEST(test_tests_of_every_kind_are_checked);
    RUN_TEST(test_a_bug_is_caught_kept_and_replayed);
    RUN_TEST(test_a_failing_test_tells_its_profile);
    RUN_TEST(test_a_failing_test_tells_its_file);
    RUN_TEST(test_what_cannot_be_kept_is_told_all_the_same);
    RUN_TEST(test_the_same_seed_tells_the_same);
    RUN_TEST(test_keep_going_runs_all);
    RUN_TEST(test_a_failing_test_is_made_small);
    RUN_TEST(test_json_is_an_object_a_line);
    RUN_TEST(test_a_limit_leaves_tests_undecided);
    RUN_TEST(test_a_pipe_from_gen_to_check);
    RUN_TEST(test_made_and_read_tests_are_the_same);
    RUN_TEST(test_first_goes_on_where_a_run_ended);
    RUN_TEST(test_iterations_can_be_run_alone);
    RUN_TEST(test_memory_does_not_grow_with_the_count);
    RUN_TEST(test_usage_is_explained);
    RUN_TEST(test_bugs_are_listed);
    RUN_TEST(test_jobs_change_nothing);
    RUN_TEST(test_wrong_tests_are_refused_with_their_line);
    RUN_TEST(test_what_the_target_cannot_do_is_refused_before_anything_runs);
    RUN_TEST(test_a_place_where_no_model_can_be_kept_is_named);
    RUN_TEST(test_interrupts_end_it_cleanly);
    RUN_TEST(test_an_interrupt_while_it_waits_for_input);
#ifdef __x86_64__
    RUN_TEST(test_this_computer_obeys_tso);
#else
    RUN_TEST(test_this_computer_is_not_for_native);
#endif
    RUN_TEST(test_a_bare_metal_multiprocessor_obeys_rmo);
    RUN_TEST(test_a_hang_is_told_with_its_place);
    RUN_TEST(test_a_full_disk_is_noticed);
    RUN_TEST(test_what_cannot_be_written_is_2_everywhere);
    RUN_TEST(test_a_cover_file_is_a_file);
    RUN_TEST(test_what_is_to_be_a_file_is_one);
    RUN_TEST(test_streams_come_through_pipes);
    RUN_TEST(test_a_pipe_without_a_writer_can_be_left);
    RUN_TEST(test_interrupted_while_nobody_reads);
    return UNITY_END();
}
