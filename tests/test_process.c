/* SPDX-License-Identifier: Apache-2.0 */
/* What programs were started with must not change what they do: closed standard streams, limits on
 * files, pipes that nobody reads, children that nobody waits for. */
#include <signal.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

#define FAILING \
    "$ORDEAL run --target model --model TSO --bug forward-oldest --count 20 " \
    "--stop-after 1 --check "

static const struct {
    const char *how;
    int status;
} closed[] = {
    { "<&-", 1 },     { ">&-", 2 },      { "2>&-", 1 },
    { "<&- >&-", 2 }, { ">&- 2>&-", 2 }, { "<&- >&- 2>&-", 2 },
};
enum { CLOSED = sizeof closed / sizeof *closed };

/* With standard output closed the first file that was opened got its number, and the lines. */
static void test_lines_do_not_land_in_a_file(void)
{
    EXPECT(1, FAILING "-o whole.trace --save whole");
    for (int i = 0; i < CLOSED; i++) {
        EXPECT(closed[i].status, FAILING "-o t.trace --save kept %s", closed[i].how);
        EXPECT(0, "! grep -E 'FAIL|tests=' t.trace && diff -r whole kept && rm -r t.trace kept");
    }
}

/* A result that has nowhere to go is an error; where there is none, nothing is wrong. */
static void test_closed_output(void)
{
    EXPECT(0, "printf 'ordeal 1\\nP1 S[A]#1\\nP1 L[A]=1\\n' >t.trace");
    EXPECT(2, "$ORDEAL check t.trace >&-");
    ERR("standard output could not be written: Bad file descriptor");
    EXPECT(2, "$ORDEAL --version >&-");
    EXPECT(0, "$ORDEAL convert --to text -o u.trace t.trace >&- && cmp t.trace u.trace");
    EXPECT(0, "$ORDEAL check t.trace 2>&-");
    EXPECT(2, "$ORDEAL check - <&-");
    OUT("Bad file descriptor");
    EXPECT(2, "$BUILD_OF_TESTS/ordeal-board --help >&-");
    ERR("standard output could not be written");
}

/* Those who run others: what they start sees three streams, whatever is closed. */
static void test_targets_run_without_streams(void)
{
    static const char *const targets[] = { "native", "sim", "elf --machine qemu" };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        EXPECT(0,
               "timeout 500 $ORDEAL run --target %s --timeout 200 --seed 3 --count 1 "
               "--iterations 2 -o t.trace <&- 2>&- >/dev/null",
               targets[i]);
        EXPECT(0, "$ORDEAL check t.trace");
        EXPECT(2,
               "timeout 500 $ORDEAL run --target %s --timeout 200 --seed 3 --count 1 "
               "--iterations 2 -o u.trace <&- >&- 2>&-",
               targets[i]);
        EXPECT(0, "$ORDEAL check u.trace");
    }
}

/* So do those who compile a program, or run it on the machine. */
static void test_programs_without_streams(void)
{
    static const struct {
        const char *words;
        int status;
    } commands[] = { { "explore --model tso --trace t.trace", 1 },
                     { "monitor --trace t.trace", 1 },
                     { "relax --model tso --runs 5 --trials 2 --traces .", 1 },
                     { "fence --model tso --apply t.c", 0 },
                     { "run --target sim --count 1 -o t.trace --no-save --program", 0 } };
    EXPECT(0, "cat >sb.c <<'END'\n#include <assert.h>\n#include <pthread.h>\nint x, y;\n"
              "void *t(void *p) { y = 1; return x ? p : 0; }\nint main(void)\n{\n    pthread_t a;\n"
              "    pthread_create(&a, 0, t, &x);\n    x = 1;\n    int r = y;\n    void *q;\n"
              "    pthread_join(a, &q);\n    assert(r || q);\n}\nEND");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        for (int k = 0; k < CLOSED; k++) {
            int status = closed[k].status == 2 ? 2 : commands[i].status;
            EXPECT(status, "$ORDEAL %s sb.c %s", commands[i].words, closed[k].how);
            EXPECT(
                0,
                "! grep -E 'FAIL|PASS|tests=|runs=' *.trace t.c 2>/dev/null && rm -f *.trace t.c");
        }
}

/* Without a limit of ours the signal would end the program in the middle. */
static void test_file_that_may_not_grow(void)
{
    EXPECT(2, "ulimit -f 8; $ORDEAL run --target model --count 200 -o big.trace");
    ERR("big.trace: File too large");
    EXPECT(0, "! ls | grep big");
    EXPECT(2, "ulimit -f 1; $ORDEAL gen -n 100 >tests");
    ERR("File too large");
}

/* Whoever reads ends first: that is an error, told, and the end. */
static void test_pipe_that_nobody_reads(void)
{
    EXPECT(2, "{ $ORDEAL run --target model --count 100000000; echo $? >status; } | head -n 1; "
              "exit $(cat status)");
    ERR("Broken pipe");
    EXPECT(2, "{ $ORDEAL gen -n 100000000; echo $? >status; } | head -n 1; exit $(cat status)");
    ERR("Broken pipe");
    EXPECT(2, "{ ORDEAL=$ORDEAL $BUILD_OF_TESTS/zoo zoo.json count=1 clean=1; echo $? >status; } | "
              ":; exit $(cat status)");
    ERR("zoo: standard output could not be written: Broken pipe");
}

/* What is started gets the usual signals back, SIGPIPE and SIGXFSZ: bits 12 and 24. */
static void test_children_have_usual_signals(void)
{
    EXPECT(3, "$ORDEAL run --target elf --command 'sh -c \"grep Sig /proc/self/status >$PWD/seen; "
              "exit 1\" {elf} {signature}' --count 1");
    EXPECT(0,
           "grep 'SigIgn:.*[0-9a-f][02468ace][0-9a-f][0-9a-f][02468ace][0-9a-f][0-9a-f][0-9a-f]$' "
           "seen || { cat seen; false; }");
}

/* Who ignores the ends of children leaves us children that cannot be waited for. */
static void test_children_are_waited_for(void)
{
    EXPECT(
        0,
        "timeout 500 env --ignore-signal=CHLD $ORDEAL run --target elf --machine qemu --timeout 200 "
        "--count 1 --iterations 1 --check");
}

/* What a command left where its words were is no reason to read for ever. */
static void test_words_of_a_command_have_an_end(void)
{
    EXPECT(0,
           "printf 'cd $(dirname $1)\\nrm run.log\\nln -s /dev/zero run.log\\nexit 1\\n' >zero.sh");
    EXPECT(
        3,
        "timeout 500 $ORDEAL run --target elf --command 'sh zero.sh {elf} {signature}' --count 1");
    ERR("ended with status 1");
}

static void test_names_that_are_removed_are_text(void)
{
    EXPECT(0,
           "d=$(printf 'z\\033[31m'); mkdir \"$d.ordeal-tmp-abcdef\" && $ORDEAL clean --dry-run .");
    OUT("z\\x1b[31m.ordeal-tmp-abcdef");
}

static void test_hangup_ends_in_order(void)
{
    EXPECT(130, "$ORDEAL run --target model --count 100000000 -o t.trace & pid=$!; "
                "while ! ls | grep -q t.trace && [ $((i=i+1)) -lt 3000 ]; do sleep 0.01; done; "
                "kill -HUP $pid; wait $pid");
    EXPECT(0, "! ls | grep t.trace");
}

/* Signalled twice, the second time after `gap` seconds; it takes three to end in order. */
static int end_of_signalled(int number, double gap)
{
    int ready[2], status;
    char c;
    TEST_ASSERT_EQUAL(0, pipe(ready));
    pid_t pid = fork();
    if (pid == 0) {
        interrupt_watch();
        if (write(ready[1], "", 1) != 1)
            _exit(8);
        while (!interrupted())
            pause_for(0.005);
        for (double end = now_seconds() + 3; now_seconds() < end;)
            pause_for(0.005);
        _exit(7);
    }
    TEST_ASSERT_EQUAL(1, read(ready[0], &c, 1));
    kill(pid, number);
    pause_for(gap);
    kill(pid, number);
    TEST_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
    close(ready[0]);
    close(ready[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* timeout(1) signals the program, then its group: that is one request, and the sum is still told. A
 * second one ends it at once. */
static void test_signals_that_come_together_are_one(void)
{
    TEST_ASSERT_EQUAL(7, end_of_signalled(SIGTERM, 0.05));
    TEST_ASSERT_EQUAL(7, end_of_signalled(SIGINT, 0.05));
    TEST_ASSERT_EQUAL(-SIGTERM, end_of_signalled(SIGTERM, 1.5));
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_lines_do_not_land_in_a_file);
    RUN_TEST(test_closed_output);
    RUN_TEST(test_targets_run_without_streams);
    RUN_TEST(test_programs_without_streams);
    RUN_TEST(test_file_that_may_not_grow);
    RUN_TEST(test_pipe_that_nobody_reads);
    RUN_TEST(test_children_have_usual_signals);
    RUN_TEST(test_children_are_waited_for);
    RUN_TEST(test_words_of_a_command_have_an_end);
    RUN_TEST(test_names_that_are_removed_are_text);
    RUN_TEST(test_hangup_ends_in_order);
    RUN_TEST(test_signals_that_come_together_are_one);
    return UNITY_END();
}
