/* SPDX-License-Identifier: Apache-2.0 */
/* The built program from outside: exit statuses, lines, formats, explanations, pictures.
 * ORDEAL in the environment names the program, GOLDEN (default tests/golden) the traces. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cJSON.h>
#include <cgraph.h>

#include "unity.h"

static char directory[64];     /* of this test, removed after it */

/* ---- running the program --------------------------------------------------------------- */

struct run { int status; char *out, *err; };
static struct run last;

static void forget(void)
{
    free(last.out);
    free(last.err);
    last = (struct run){ 0 };
}

struct pipe_end { int fd; char *text; size_t length; };

static void drain(struct pipe_end *p)
{
    char chunk[65536];
    ssize_t got = read(p->fd, chunk, sizeof chunk);
    if (got <= 0) {
        close(p->fd);
        p->fd = -1;
        return;
    }
    p->text = realloc(p->text, p->length + (size_t)got + 1);
    memcpy(p->text + p->length, chunk, (size_t)got);
    p->length += (size_t)got;
    p->text[p->length] = '\0';
}

static void start(char **argv, int input, int output, int error)
{
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    execv(argv[0], argv);
    _exit(127);
}

/* Runs with `input` (a file, NULL: nothing) and `output` (NULL: kept in last.out). */
static void run_with(const char *input, const char *output, const char *const *arguments)
{
    char *argv[40] = { getenv("ORDEAL") };
    int out[2], err[2];
    TEST_ASSERT_NOT_NULL_MESSAGE(argv[0], "ORDEAL must name the program");
    for (int i = 0; i < 38 && arguments[i]; i++)
        argv[i + 1] = (char *)arguments[i];
    forget();
    TEST_ASSERT_EQUAL(0, pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC));
    int in = open(input ? input : "/dev/null", O_RDONLY | O_CLOEXEC);
    int sink = output ? open(output, O_WRONLY | O_CLOEXEC) : out[1];
    TEST_ASSERT_TRUE(in >= 0 && sink >= 0);
    pid_t child = fork();
    if (child == 0)
        start(argv, in, sink, err[1]);
    close(in);
    close(out[1]);
    close(err[1]);
    if (output)
        close(sink);
    struct pipe_end ends[2] = { { out[0], calloc(1, 1), 0 }, { err[0], calloc(1, 1), 0 } };
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        struct pollfd wait[2] = { { ends[0].fd, POLLIN, 0 }, { ends[1].fd, POLLIN, 0 } };
        poll(wait, 2, -1);
        for (int i = 0; i < 2; i++)
            if (wait[i].revents)
                drain(&ends[i]);
    }
    int status;
    waitpid(child, &status, 0);
    last = (struct run){ WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status),
                         ends[0].text, ends[1].text };
}

#define RUN(...) run_with(NULL, NULL, (const char *[]){ __VA_ARGS__, NULL })

static void expect_status(int status, int line)
{
    char message[4096];
    snprintf(message, sizeof message, "line %d: out: %.1500s err: %.1500s", line, last.out,
             last.err);
    TEST_ASSERT_EQUAL_INT_MESSAGE(status, last.status, message);
}
#define STATUS(n) expect_status(n, __LINE__)

static void expect_text(const char *text, const char *part, int line)
{
    char message[4096];
    snprintf(message, sizeof message, "line %d: '%s' is not in: %.3000s", line, part, text);
    TEST_ASSERT_TRUE_MESSAGE(strstr(text, part) != NULL, message);
}
#define OUT(part) expect_text(last.out, part, __LINE__)
#define ERR(part) expect_text(last.err, part, __LINE__)

static int lines(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* ---- files ------------------------------------------------------------------------------- */

/* Names in the test's directory; good until eight more were asked for. */
static const char *path(const char *name)
{
    static char buffer[8][256];
    static unsigned next;
    char *p = buffer[next++ % 8];
    snprintf(p, sizeof buffer[0], "%s/%s", directory, name);
    return p;
}

static const char *write_file(const char *name, const char *text)
{
    const char *p = path(name);
    FILE *f = fopen(p, "w");
    TEST_ASSERT_NOT_NULL(f);
    fputs(text, f);
    fclose(f);
    return p;
}

static char *read_bytes(const char *file, size_t *length)
{
    FILE *f = fopen(file, "r");
    TEST_ASSERT_NOT_NULL_MESSAGE(f, file);
    char *text = calloc(1, 1 << 20);
    *length = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

static const char *golden(const char *name)
{
    static char buffer[8][256];
    static unsigned next;
    char *p = buffer[next++ % 8];
    snprintf(p, sizeof buffer[0], "%s/%s", getenv("GOLDEN") ? getenv("GOLDEN") : "tests/golden",
             name);
    return p;
}

static int files_in_directory(void)
{
    char command[256];
    snprintf(command, sizeof command, "ls -A %s | wc -l", directory);
    FILE *f = popen(command, "r");
    int n = -1;
    TEST_ASSERT_EQUAL(1, fscanf(f, "%d", &n));
    pclose(f);
    return n;
}

void setUp(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%.40s/ordeal-cli-XXXXXX", base ? base : "/tmp");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
}

void tearDown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    TEST_ASSERT_EQUAL(0, system(command));
    forget();
}

static const char *legal(void)
{
    return write_file("legal.trace", "ordeal 1\nP0 S[A]#1\nP0 L[B]=0\nP1 S[B]#1\nP1 L[A]=0\n");
}

static const char *illegal(void)
{
    return write_file("illegal.trace", "ordeal 1\nP0 S[A]#1\nP0 S[B]#1\nP1 L[B]=1\nP1 L[A]=0\n");
}

static const char *broken(void)
{
    return write_file("broken.trace", "ordeal 1\nP0 S[A]#1\nP0 S(B)#1\n");
}

/* ---- the program as a whole ---------------------------------------------------------------- */

static const char *const commands[] = { "gen", "run", "check", "show", "convert" };

static void test_help_lists_every_command(void)
{
    RUN("--help");
    STATUS(0);
    OUT("exit status");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        OUT(commands[i]);
}

static void test_every_command_has_help_with_an_example(void)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        RUN(commands[i], "--help");
        STATUS(0);
        OUT("usage: ordeal ");
        OUT("example:\n  $ ordeal ");
        OUT("--help");
        char *first = strdup(last.out);
        RUN("help", commands[i]);
        STATUS(0);
        TEST_ASSERT_EQUAL_STRING(first, last.out);
        free(first);
    }
}

static void test_help_names_choices_and_defaults(void)
{
    RUN("check", "--help");
    OUT("SC, TSO, PSO, PC, RMO, RVWMO, RVTSO");
    OUT("(default: auto)");
    OUT("deriv+back");
}

static void test_version(void)
{
    RUN("--version");
    STATUS(0);
    TEST_ASSERT_EQUAL_STRING_LEN("ordeal ", last.out, 7);
}

static void test_no_command_is_bad_usage(void)
{
    run_with(NULL, NULL, (const char *[]){ NULL });
    STATUS(2);
    TEST_ASSERT_EQUAL_STRING("", last.out);
    ERR("usage:");
}

static void test_unknown_command_suggests_the_nearest(void)
{
    RUN("chekc", "x");
    STATUS(2);
    ERR("did you mean 'check'");
    RUN("zzzzzzzz");
    STATUS(2);
    ERR("ordeal --help");
    RUN("help", "shwo");
    STATUS(2);
    ERR("did you mean 'show'");
}

static void test_unknown_option_suggests_the_nearest(void)
{
    RUN("check", "--modle", "TSO", legal());
    STATUS(2);
    ERR("did you mean '--model'");
    RUN("check", "-Q", legal());
    STATUS(2);
    ERR("'-Q'");
    RUN("convert", "--xyzzyxyzzy");
    STATUS(2);
    ERR("ordeal convert --help");
}

static void test_bad_arguments_say_what_is_expected(void)
{
    RUN("check", "--model", "XYZ", legal());
    STATUS(2);
    ERR("SC, TSO, PSO, PC, RMO, RVWMO, RVTSO");
    RUN("check", "--limit", "soon", legal());
    STATUS(2);
    ERR("seconds above 0");
    RUN("check", "--limit", "-1", legal());
    STATUS(2);
    RUN("check", legal(), "--model");
    STATUS(2);
    ERR("needs an argument");
    RUN("check", "--json=yes", legal());
    STATUS(2);
    ERR("takes no argument");
    RUN("check");
    STATUS(2);
    ERR("which traces?");
}

static void test_standard_output_that_is_full_is_noticed(void)
{
    const char *const arguments[] = { "check", legal(), NULL };
    run_with(NULL, "/dev/full", arguments);
    STATUS(2);
    ERR("standard output");
}

static void test_closed_pipe_is_noticed(void)
{
    const char *fifo = path("fifo");
    TEST_ASSERT_EQUAL(0, mkfifo(fifo, 0600));
    int reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int writer = open(fifo, O_WRONLY | O_CLOEXEC);
    TEST_ASSERT_TRUE(reader >= 0 && writer >= 0);
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", writer);
    const char *const arguments[] = { "check", legal(), NULL };
    int fd = open(link, O_WRONLY | O_CLOEXEC);
    TEST_ASSERT_TRUE(fd >= 0);
    close(reader);
    pid_t child = fork();
    if (child == 0) {
        char *argv[] = { getenv("ORDEAL"), (char *)arguments[0], (char *)arguments[1], NULL };
        int nothing = open("/dev/null", O_RDWR);
        start(argv, nothing, fd, nothing);
    }
    close(fd);
    close(writer);
    int status;
    waitpid(child, &status, 0);
    TEST_ASSERT_TRUE(WIFEXITED(status));
    TEST_ASSERT_EQUAL(2, WEXITSTATUS(status));
}

/* ---- check ------------------------------------------------------------------------------- */

static void test_check_passes_and_fails(void)
{
    RUN("check", legal());
    STATUS(0);
    TEST_ASSERT_EQUAL_STRING_LEN("PASS ", last.out, 5);
    TEST_ASSERT_EQUAL(1, lines(last.out));
    OUT("legal.trace model=TSO algorithm=auto ops=4 threads=2 locations=2 ");
    OUT(" certified=yes");
    OUT(" seconds=");
    OUT(" memory_mb=");
    RUN("check", illegal());
    STATUS(1);
    TEST_ASSERT_EQUAL_STRING_LEN("FAIL ", last.out, 5);
    OUT(" core=4 ");
    OUT(" reason=\"");
    TEST_ASSERT_EQUAL_STRING("", last.err);
}

static void test_model_comes_from_option_then_trace(void)
{
    RUN("check", "--model", "sc", legal());
    STATUS(1);
    OUT("model=SC");
    const char *claims = write_file("claims.trace", "ordeal 1\nmodel PSO\nP0 S[A]#1\nP0 S[B]#1\n"
                                                    "P1 L[B]=1\nP1 L[A]=0\n");
    RUN("check", claims);
    STATUS(0);
    OUT("model=PSO");
    RUN("check", "-m", "TSO", claims);
    STATUS(1);
    OUT("model=TSO");
}

static void test_files_in_order_and_one_broken(void)
{
    const char *one = legal(), *two = broken(), *three = illegal();
    RUN("check", one, two, three, "no/such/file", one);
    STATUS(1);
    TEST_ASSERT_EQUAL(5, lines(last.out));
    char expected[1024];
    snprintf(expected, sizeof expected, "\nERROR %s:3:", two);
    OUT(expected);
    OUT("\nERROR no/such/file: No such file or directory\n");
    TEST_ASSERT_EQUAL_STRING_LEN("PASS", last.out, 4);
    TEST_ASSERT_TRUE(strstr(last.out, "\nERROR") < strstr(last.out, "\nFAIL"));
    RUN("check", one, two);
    STATUS(2);
}

static void test_a_directory_is_no_trace(void)
{
    RUN("check", directory);
    STATUS(2);
    OUT("ERROR ");
    OUT("Is a directory");
}

static void test_standard_input(void)
{
    const char *const arguments[] = { "check", "-", NULL };
    run_with(illegal(), NULL, arguments);
    STATUS(1);
    TEST_ASSERT_EQUAL_STRING_LEN("FAIL - ", last.out, 7);
    run_with(NULL, NULL, arguments);
    STATUS(2);
    TEST_ASSERT_EQUAL_STRING_LEN("ERROR -:1:1: ", last.out, 13);
}

static void test_several_traces_in_one_file(void)
{
    const char *file = write_file("two.axe", "0: M[0] := 1\n1: M[0] == 1\ncheck\n"
                                             "0: M[0] := 1\n1: M[0] == 1\n1: M[0] == 0\ncheck\n");
    RUN("check", file);
    STATUS(1);
    TEST_ASSERT_EQUAL(2, lines(last.out));
    OUT("PASS ");
    OUT("two.axe#2 ");
}

static void test_unwritten_value_is_named_with_its_line(void)
{
    const char *file = write_file("ghost.trace", "ordeal 1\nP0 S[A]#1\nP1 L[A]=77\n");
    char at[512];
    RUN("check", file);
    STATUS(1);
    OUT("reason=\"P1 L[A]=77 saw a value nobody wrote there\"");
    snprintf(at, sizeof at, " at=%s:3", file);
    OUT(at);
    RUN("show", file);
    STATUS(1);
    snprintf(at, sizeof at, "P1 L[A]=77 [%s:3] saw 77 in A, but nobody ever wrote that there",
             file);
    OUT(at);
    OUT("  the initial A=0\n");
    OUT("  P0 S[A]#1 [");
}

static void test_final_values_are_explained(void)
{
    const char *ghost = write_file("ghost.trace", "ordeal 1\nfinal A+4/8=0x500000001\n"
                                                  "P0 S[A+4]#1\nP1 S[A+8]#2\n");
    const char *lost = write_file("lost.trace", "ordeal 1\nfinal A=0\nP0 S[A]#1\n");
    RUN("check", ghost);
    STATUS(2); /* it is not aligned */
    ghost = write_file("ghost.trace", "ordeal 1\nfinal A/8=0x500000001\nP0 S[A]#1\nP1 S[A+4]#2\n");
    RUN("check", ghost);
    STATUS(1);
    OUT("reason=\"memory ends with A+4=5, which nobody wrote there\"");
    RUN("show", ghost);
    STATUS(1);
    OUT("In the end memory holds 5 in A+4, but nobody ever wrote that there.");
    OUT("  the initial A+4=0\n  P1 S[A+4]#2 [");
    RUN("show", lost);
    STATUS(1);
    OUT("This operation alone already violates it");
    OUT("P0 S[A]#1 is before the initial A=0: in the end memory holds the value of the initial A=0");
}

static void test_file_names_do_not_break_the_line(void)
{
    const char *file = write_file("a b\n\"c\".trace", "ordeal 1\nP0 S[A]#1\n");
    RUN("check", file);
    STATUS(0);
    TEST_ASSERT_EQUAL(1, lines(last.out));
    OUT("a b\\x0a\\\"c\\\".trace\" model=TSO");
}

static void test_memory_limit_is_undecided(void)
{
    RUN("check", "--memory", "0.01", legal());
    STATUS(4);
    TEST_ASSERT_EQUAL_STRING_LEN("UNDECIDED ", last.out, 10);
    OUT(" note=\"memory limit");
}

static void test_violation_outranks_error_outranks_undecided(void)
{
    const char *hard = golden("fig4_6a_mirror.trace"), *bad = broken();
    RUN("check", "--algorithm", "baseline", hard);
    STATUS(4);
    OUT("UNDECIDED");
    RUN("check", "--algorithm", "baseline", hard, bad);
    STATUS(2);
    RUN("check", "--algorithm", "baseline", hard, bad, golden("fig4_3.trace"));
    STATUS(1);
    RUN("check", hard);
    STATUS(1);
}

static cJSON *json_line(char **text)
{
    char *end = strchr(*text, '\n');
    TEST_ASSERT_NOT_NULL(end);
    *end = '\0';
    cJSON *object = cJSON_Parse(*text);
    TEST_ASSERT_NOT_NULL_MESSAGE(object, *text);
    *text = end + 1;
    return object;
}

static const char *string_of(const cJSON *object, const char *key)
{
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
    return s ? s : "";
}

static void test_json_lines(void)
{
    const char *one = legal(), *two = broken(), *three = illegal();
    RUN("check", "--json", one, two, three);
    STATUS(1);
    TEST_ASSERT_EQUAL(3, lines(last.out));
    char *rest = last.out;
    cJSON *pass = json_line(&rest), *error = json_line(&rest), *fail = json_line(&rest);
    TEST_ASSERT_EQUAL_STRING("PASS", string_of(pass, "verdict"));
    TEST_ASSERT_EQUAL_STRING(one, string_of(pass, "file"));
    TEST_ASSERT_EQUAL(4, cJSON_GetObjectItem(pass, "ops")->valueint);
    TEST_ASSERT_TRUE(cJSON_IsTrue(cJSON_GetObjectItem(pass, "certified")));
    TEST_ASSERT_EQUAL_STRING("ERROR", string_of(error, "verdict"));
    TEST_ASSERT_EQUAL(3, cJSON_GetObjectItem(error, "line")->valueint);
    TEST_ASSERT_EQUAL_STRING("FAIL", string_of(fail, "verdict"));
    cJSON *core = cJSON_GetObjectItem(fail, "core");
    TEST_ASSERT_EQUAL(4, cJSON_GetArraySize(core));
    TEST_ASSERT_EQUAL_STRING("P0 S[A]#1", string_of(cJSON_GetArrayItem(core, 0), "op"));
    TEST_ASSERT_EQUAL(2, cJSON_GetObjectItem(cJSON_GetArrayItem(core, 0), "line")->valueint);
    cJSON_Delete(pass);
    cJSON_Delete(error);
    cJSON_Delete(fail);
}

/* ---- witnesses ------------------------------------------------------------------------------ */

static void test_witness_round_trip(void)
{
    const char *traces[] = { legal(), illegal(), golden("fig4_6a_mirror.trace") };
    const char *const words[] = { "PASS", "FAIL", "FAIL" };
    for (int i = 0; i < 3; i++) {
        RUN("check", "--witness", path("w"), traces[i]);
        STATUS(i == 0 ? 0 : 1);
        RUN("check", "--verify", path("w"), traces[i]);
        STATUS(i == 0 ? 0 : 1);
        TEST_ASSERT_EQUAL_STRING_LEN(words[i], last.out, 4);
        OUT("model=TSO");
        OUT(" verified=yes");
    }
}

static void test_witness_of_another_trace_is_refused(void)
{
    RUN("check", "--witness", path("w"), legal());
    STATUS(0);
    RUN("check", "--verify", path("w"), illegal());
    STATUS(2);
    TEST_ASSERT_EQUAL_STRING_LEN("ERROR ", last.out, 6);
    TEST_ASSERT_EQUAL(1, lines(last.out));
    RUN("check", "--verify", path("none"), illegal());
    STATUS(2);
    ERR("No such file");
}

static void test_witness_speaks_of_one_trace(void)
{
    const char *one = legal();
    RUN("check", "--witness", path("w"), one, one);
    STATUS(2);
    ERR("one trace");
    const char *axe = write_file("two.axe", "0: M[0] := 1\ncheck\n0: M[0] := 2\ncheck\n");
    RUN("check", "--witness", path("w"), axe);
    STATUS(2);
    ERR("several traces");
    TEST_ASSERT_NOT_EQUAL(0, access(path("w"), F_OK));
    RUN("check", "--verify", path("w"), "--model", "TSO", one);
    STATUS(2);
    ERR("--verify");
}

static void test_witness_that_cannot_be_written(void)
{
    RUN("check", "--witness", "/nonexistent/w", legal());
    STATUS(2);
    ERR("/nonexistent/w");
    RUN("check", "--witness", "/dev/full", legal());
    STATUS(2);
    ERR("/dev/full");
}

/* ---- show --------------------------------------------------------------------------------- */

static void test_show_explains_with_rules_steps_and_lines(void)
{
    const char *file = golden("fig4_3.trace");
    RUN("show", file);
    STATUS(1);
    OUT("violates TSO");
    OUT("P1");
    OUT("\n   1. ");
    OUT("This forces P3 S[B]#92 before P1 S[B]#91 (step 2), and then a circle:\n"
        "  P1 S[B]#91 < P1 S[A]#1 < P2 S[A]#2 < P3 L[A]=2 < P3 L[B]=92 < P1 S[B]#91\n");
    OUT("P2 S[A]#2 < P3 L[A]=2 (R4) < P3 L[B]=92 (R1) [9,11,12]");
    OUT("P1 S[A]#1 is before P2 S[A]#2: P1 L[A]=2, later in the program, saw the latter (R5) [");
    OUT("(R6; step 1) [10,6,14]");
    OUT("there is no legal order (steps ");
}

static void test_show_tells_case_distinctions(void)
{
    RUN("show", golden("fig4_6a_mirror.trace"));
    STATUS(1);
    OUT("This forces a circle in either of two cases:\n  if P1 S[B]#11 is before P2 S[B]#12: P1 ");
    OUT("   9. Case: P1 S[B]#11 is before P2 S[B]#12 [7,14]    "
        "|   14. Case: P2 S[B]#12 is before P1 S[B]#11 [14,7]\n");
    OUT("impossible");
    OUT("  19. Neither case is possible: there is no legal order (steps 9, 13, 14, 18)\n");
}

/* Steps are numbered from 1 without a gap, and rest on earlier ones only. */
static void test_show_json_is_well_founded(void)
{
    static const char *const files[] = { "fig4_3.trace", "fig4_6a_mirror.trace",
                                         "fig4_6c_mirror.trace", "fig4_6d_mirror.trace",
                                         "fig6_3b.trace" };
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        RUN("show", "--json", golden(files[f]));
        STATUS(1);
        char *rest = last.out;
        cJSON *object = json_line(&rest), *steps = cJSON_GetObjectItem(object, "steps"), *step, *b;
        TEST_ASSERT_TRUE(cJSON_GetArraySize(steps) > 2);
        int number = 0;
        cJSON_ArrayForEach(step, steps) {
            TEST_ASSERT_EQUAL(++number, cJSON_GetObjectItem(step, "step")->valueint);
            cJSON_ArrayForEach(b, cJSON_GetObjectItem(step, "because"))
                TEST_ASSERT_TRUE(b->valueint >= 1 && b->valueint < number);
        }
        TEST_ASSERT_NOT_NULL(strstr(string_of(cJSON_GetArrayItem(steps, number - 1), "text"),
                                    "no legal order"));
        cJSON_Delete(object);
    }
}

static void test_show_pass_gives_the_order(void)
{
    RUN("show", legal());
    STATUS(0);
    OUT("obeys TSO");
    OUT("P0 L[B]=0 [");
    OUT("Statistics: ops=4");
    RUN("show", "--model", "SC", legal());
    STATUS(1);
}

static void test_show_all_gives_the_whole_order(void)
{
    char text[4096] = "ordeal 1\n";
    for (int i = 1; i <= 60; i++)
        sprintf(text + strlen(text), "P0 S[A]#%d\n", i);
    const char *file = write_file("long.trace", text);
    RUN("show", file);
    STATUS(0);
    OUT("shown with --all");
    TEST_ASSERT_NULL(strstr(last.out, "P0 S[A]#30 "));
    RUN("show", "--all", file);
    STATUS(0);
    OUT("P0 S[A]#30 ");
}

static void test_show_wants_one_trace(void)
{
    RUN("show");
    STATUS(2);
    RUN("show", legal(), illegal());
    STATUS(2);
    RUN("show", broken());
    STATUS(2);
    ERR("broken.trace:3:");
}

static void test_dot_is_read_by_graphviz(void)
{
    static const char *const files[] = { "fig4_3.trace", "fig4_6a_mirror.trace",
                                         "fig4_6c_mirror.trace", "fig6_3b.trace" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        RUN("show", "--dot", path("p.dot"), golden(files[i]));
        STATUS(1);
        FILE *f = fopen(path("p.dot"), "r");
        TEST_ASSERT_NOT_NULL(f);
        Agraph_t *graph = agread(f, NULL);
        fclose(f);
        TEST_ASSERT_NOT_NULL(graph);
        TEST_ASSERT_TRUE(agnnodes(graph) >= 4 && agnedges(graph) >= 3);
        int bold = 0;
        for (Agnode_t *n = agfstnode(graph); n; n = agnxtnode(graph, n))
            for (Agedge_t *e = agfstout(graph, n); e; e = agnxtout(graph, e))
                bold += strcmp(agget(e, (char *)"penwidth"), "2.5") == 0;
        TEST_ASSERT_TRUE(bold >= 1);
        agclose(graph);
    }
}

static void test_a_picture_that_cannot_be_written_is_told(void)
{
    RUN("show", "--svg", "/dev/full", golden("fig4_3.trace"));
    TEST_ASSERT_EQUAL(2, last.status);
    OUT("FAIL ");
    ERR("/dev/full: ");
    ERR("No space left on device");
    RUN("show", "--dot", "/dev/full", golden("fig4_3.trace"));
    TEST_ASSERT_EQUAL(2, last.status);
    ERR("/dev/full: ");
}

static void test_svg_is_a_picture_with_rules_and_reasons(void)
{
    RUN("show", "--svg", path("p.svg"), golden("fig4_3.trace"));
    STATUS(1);
    size_t length;
    char *svg = read_bytes(path("p.svg"), &length);
    TEST_ASSERT_NOT_NULL(strstr(svg, "</svg>"));
    TEST_ASSERT_NOT_NULL(strstr(svg, ">R4<"));
    TEST_ASSERT_NOT_NULL(strstr(svg, "S[B]#91"));
    TEST_ASSERT_NOT_NULL(strstr(svg, ", which saw it"));
    free(svg);
}

/* Where memory comes from above and not from below, names lie in another order. */
static void test_pictures_do_not_depend_on_addresses(void)
{
    static const char *const formats[] = { "--svg", "--dot" };
    for (int i = 0; i < 2; i++) {
        size_t length, other_length;
        RUN("show", formats[i], path("p"), golden("fig4_3.trace"));
        setenv("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=1:glibc.malloc.tcache_count=0", 1);
        RUN("show", formats[i], path("q"), golden("fig4_3.trace"));
        unsetenv("GLIBC_TUNABLES");
        char *picture = read_bytes(path("p"), &length);
        char *other = read_bytes(path("q"), &other_length);
        TEST_ASSERT_EQUAL(length, other_length);
        TEST_ASSERT_EQUAL_MEMORY(picture, other, length);
        free(picture);
        free(other);
    }
}

static void test_picture_that_cannot_be_written(void)
{
    RUN("show", "--svg", "/nonexistent/p.svg", golden("fig4_3.trace"));
    STATUS(2);
    ERR("/nonexistent/p.svg");
    RUN("show", "--dot", path("p.dot"), legal());
    STATUS(0);
    ERR("no picture");
    TEST_ASSERT_NOT_EQUAL(0, access(path("p.dot"), F_OK));
}

/* ---- convert --------------------------------------------------------------------------------- */

static void test_convert_round_trips(void)
{
    size_t before, after;
    RUN("convert", "-o", path("a.trace"), golden("fig4_3.trace"));
    STATUS(0);
    char *text = read_bytes(path("a.trace"), &before);
    RUN("convert", "-o", path("b.otr"), path("a.trace"));
    STATUS(0);
    RUN("convert", "-z", "-o", path("c.otr"), path("b.otr"));
    STATUS(0);
    RUN("convert", "-o", path("d.trace"), path("c.otr"));
    STATUS(0);
    char *back = read_bytes(path("d.trace"), &after);
    TEST_ASSERT_EQUAL_STRING(text, back);
    RUN("convert", path("c.otr"));
    STATUS(0);
    TEST_ASSERT_EQUAL_STRING(text, last.out);
    free(text);
    free(back);
    RUN("check", path("a.trace"), path("b.otr"), path("c.otr"));
    STATUS(1);
    TEST_ASSERT_EQUAL(3, lines(last.out));
    TEST_ASSERT_NULL(strstr(last.out, "ERROR"));
}

static void test_convert_axe(void)
{
    const char *axe = write_file("x.axe", "0: M[0] := 1\n1: M[0] == 1\ncheck\n"
                                          "0: M[1] := 1\ncheck\n");
    RUN("convert", "-o", path("y.axe"), axe);
    STATUS(0);
    RUN("check", path("y.axe"));
    STATUS(0);
    TEST_ASSERT_EQUAL(2, lines(last.out));
}

static void test_convert_several_traces(void)
{
    const char *axe = write_file("x.axe", "0: M[0] := 1\n1: M[0] == 1\ncheck\n"
                                          "0: M[1] == 1\ncheck\n");
    RUN("convert", "-o", path("y.trace"), axe, axe);
    STATUS(0);
    RUN("convert", "-z", "-o", path("y.otr"), path("y.trace"));
    STATUS(0);
    for (int binary = 0; binary < 2; binary++) {
        RUN("check", path(binary ? "y.otr" : "y.trace"));
        STATUS(1);
        TEST_ASSERT_EQUAL(4, lines(last.out));
        OUT(binary ? "y.otr#4 " : "y.trace#4 ");
    }
}

static void test_convert_leaves_nothing_half_written(void)
{
    const char *bad = broken(), *out = write_file("out.otr", "as it was");
    int files = files_in_directory();
    RUN("convert", "-o", out, bad);
    STATUS(2);
    ERR("broken.trace:3:");
    TEST_ASSERT_EQUAL(files, files_in_directory());
    size_t length;
    char *text = read_bytes(out, &length);
    TEST_ASSERT_EQUAL_STRING("as it was", text);
    free(text);
    RUN("convert", "-o", "/nonexistent/x.otr", legal());
    STATUS(2);
    ERR("/nonexistent/x.otr");
    RUN("convert", "--to", "text", "-o", "/dev/full", legal());
    STATUS(2);
    ERR("/dev/full");
}

static void test_convert_usage(void)
{
    RUN("convert", "-o", path("x.unknown"), legal());
    STATUS(2);
    ERR("--to");
    RUN("convert", "--compress", "-o", path("x.trace"), legal());
    STATUS(2);
    ERR("--compress");
    RUN("convert", "-o", path("x.trace"));
    STATUS(2);
}

static void test_convert_saves_what_a_damaged_file_still_has(void)
{
    FILE *f = fopen(path("long.trace"), "w");
    fputs("ordeal 1\n", f);
    for (int i = 1; i <= 20000; i++)
        fprintf(f, "P0 S[A]#%d\n", i);
    fclose(f);
    RUN("convert", "-o", path("long.otr"), path("long.trace"));
    STATUS(0);
    struct stat whole;
    TEST_ASSERT_EQUAL(0, stat(path("long.otr"), &whole));
    TEST_ASSERT_EQUAL(0, truncate(path("long.otr"), whole.st_size - 5));
    RUN("convert", "-o", path("saved.trace"), path("long.otr"));
    STATUS(2);
    ERR("operations before it are converted, the rest is lost");
    RUN("check", path("saved.trace"));
    STATUS(0);
    RUN("check", path("long.otr"));
    STATUS(2);
    TEST_ASSERT_EQUAL_STRING_LEN("ERROR ", last.out, 6);
}

/* ---- interruption ------------------------------------------------------------------------- */

static void test_interrupt_ends_cleanly(void)
{
    int in[2], out[2];
    TEST_ASSERT_EQUAL(0, pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC));
    char *argv[] = { getenv("ORDEAL"), (char *)"check", (char *)"-", NULL };
    pid_t child = fork();
    if (child == 0)
        start(argv, in[0], out[1], open("/dev/null", O_WRONLY));
    close(in[0]);
    close(out[1]);
    /* Far more than the pipe holds: when it is written the program is at work. After the signal it
     * may be waiting for more or between two looks at the flag; feed it until it is gone. */
    static char comments[4096];
    for (size_t i = 0; i < sizeof comments; i += 2)
        memcpy(comments + i, "#\n", 2);
    TEST_ASSERT_EQUAL(9, write(in[1], "ordeal 1\n", 9));
    for (int i = 0; i < 256; i++)
        TEST_ASSERT_EQUAL(sizeof comments, write(in[1], comments, sizeof comments));
    kill(child, SIGINT);
    while (write(in[1], comments, sizeof comments) > 0)
        ;
    struct pipe_end end = { out[0], calloc(1, 1), 0 };
    while (end.fd >= 0)
        drain(&end);
    int status;
    waitpid(child, &status, 0);
    close(in[1]);
    TEST_ASSERT_TRUE(WIFEXITED(status));
    TEST_ASSERT_EQUAL(130, WEXITSTATUS(status));
    TEST_ASSERT_EQUAL_STRING("UNDECIDED - note=\"interrupted in reading\"\n", end.text);
    free(end.text);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    UNITY_BEGIN();
    RUN_TEST(test_help_lists_every_command);
    RUN_TEST(test_every_command_has_help_with_an_example);
    RUN_TEST(test_help_names_choices_and_defaults);
    RUN_TEST(test_version);
    RUN_TEST(test_no_command_is_bad_usage);
    RUN_TEST(test_unknown_command_suggests_the_nearest);
    RUN_TEST(test_unknown_option_suggests_the_nearest);
    RUN_TEST(test_bad_arguments_say_what_is_expected);
    RUN_TEST(test_standard_output_that_is_full_is_noticed);
    RUN_TEST(test_closed_pipe_is_noticed);
    RUN_TEST(test_check_passes_and_fails);
    RUN_TEST(test_model_comes_from_option_then_trace);
    RUN_TEST(test_files_in_order_and_one_broken);
    RUN_TEST(test_a_directory_is_no_trace);
    RUN_TEST(test_standard_input);
    RUN_TEST(test_several_traces_in_one_file);
    RUN_TEST(test_unwritten_value_is_named_with_its_line);
    RUN_TEST(test_final_values_are_explained);
    RUN_TEST(test_file_names_do_not_break_the_line);
    RUN_TEST(test_memory_limit_is_undecided);
    RUN_TEST(test_violation_outranks_error_outranks_undecided);
    RUN_TEST(test_json_lines);
    RUN_TEST(test_witness_round_trip);
    RUN_TEST(test_witness_of_another_trace_is_refused);
    RUN_TEST(test_witness_speaks_of_one_trace);
    RUN_TEST(test_witness_that_cannot_be_written);
    RUN_TEST(test_show_explains_with_rules_steps_and_lines);
    RUN_TEST(test_show_tells_case_distinctions);
    RUN_TEST(test_show_json_is_well_founded);
    RUN_TEST(test_show_pass_gives_the_order);
    RUN_TEST(test_show_all_gives_the_whole_order);
    RUN_TEST(test_show_wants_one_trace);
    RUN_TEST(test_dot_is_read_by_graphviz);
    RUN_TEST(test_a_picture_that_cannot_be_written_is_told);
    RUN_TEST(test_svg_is_a_picture_with_rules_and_reasons);
    RUN_TEST(test_pictures_do_not_depend_on_addresses);
    RUN_TEST(test_picture_that_cannot_be_written);
    RUN_TEST(test_convert_round_trips);
    RUN_TEST(test_convert_axe);
    RUN_TEST(test_convert_several_traces);
    RUN_TEST(test_convert_leaves_nothing_half_written);
    RUN_TEST(test_convert_usage);
    RUN_TEST(test_convert_saves_what_a_damaged_file_still_has);
    RUN_TEST(test_interrupt_ends_cleanly);
    return UNITY_END();
}
