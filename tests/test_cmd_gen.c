/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal gen`: where tests are written, what it says about the bias, and how it refuses. */
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command.h"
#include "test/generate.h"
#include "unity.h"

static char directory[32], out[1 << 16], err[1 << 12];

void setUp(void)
{
    strcpy(directory, "/tmp/test-gen-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
}

static char *path(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *p = paths[next++ % 4];
    snprintf(p, sizeof paths[0], "%s/%s", directory, name);
    return p;
}

void tearDown(void)
{
    glob_t found;
    for (int deep = 1; deep >= 0; deep--)
        if (glob(path(deep ? "*/*" : "*"), 0, NULL, &found) == 0) {
            for (size_t i = 0; i < found.gl_pathc; i++)
                remove(found.gl_pathv[i]);
            globfree(&found);
        }
    rmdir(directory);
}

static void slurp(const char *file, char *text, size_t size)
{
    FILE *f = fopen(file, "r");
    TEST_ASSERT_NOT_NULL_MESSAGE(f, file);
    text[fread(text, 1, size - 1, f)] = '\0';
    fclose(f);
}

/* Standard output or error goes to a file until it is given back. */
static int divert(int descriptor, const char *file)
{
    int kept = dup(descriptor), to = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(to, descriptor);
    close(to);
    return kept;
}

static void give_back(int descriptor, int kept)
{
    dup2(kept, descriptor);
    close(kept);
}

/* Runs the command; what it printed is in `out` and `err`. */
static int gen(const char *first, ...)
{
    char *argv[32] = { "gen" };
    int argc = 1;
    va_list args;
    va_start(args, first);
    for (const char *a = first; a; a = va_arg(args, const char *))
        argv[argc++] = (char *)a;
    va_end(args);
    fflush(stdout);
    int kept_out = divert(STDOUT_FILENO, path("out"));
    int kept_err = divert(STDERR_FILENO, path("err"));
    int status = command_gen.run(&command_gen, argc, argv);
    fflush(stdout);
    give_back(STDOUT_FILENO, kept_out);
    give_back(STDERR_FILENO, kept_err);
    slurp(path("out"), out, sizeof out);
    slurp(path("err"), err, sizeof err);
    return status;
}

static int count_of(const char *part)
{
    int n = 0;
    for (const char *p = out; (p = strstr(p, part)) != NULL; p++)
        n++;
    return n;
}

static void has(const char *text, const char *part)
{
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, part), text);
}

static void tests_go_to_standard_output_one_after_the_other(void)
{
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("-n", "3", "--set", "operations=5", NULL));
    TEST_ASSERT_EQUAL(3, count_of("ordeal 1\n"));
    TEST_ASSERT_EQUAL(15, count_of("\nP1 "));
    TEST_ASSERT_EQUAL_STRING("", err);
}

static void the_seed_and_the_number_tell_the_test(void)
{
    static char three[sizeof out];
    gen("-n", "3", "--seed", "9", NULL);
    strcpy(three, out);
    gen("--first", "2", "--seed", "9", NULL);
    TEST_ASSERT_EQUAL_STRING(out, three + strlen(three) - strlen(out));
    gen("--first", "2", "--seed", "10", NULL);
    TEST_ASSERT_NULL(strstr(three, out));
}

static void a_directory_gets_a_file_a_test(void)
{
    static char whole[sizeof out], one[sizeof out];
    gen("-n", "12", NULL);
    strcpy(whole, out);
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("-n", "12", "-o", path("tests/"), NULL));
    TEST_ASSERT_EQUAL_STRING("", out);
    size_t at = 0;
    for (int i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "tests/%02d.test", i);
        slurp(path(name), one, sizeof one);
        TEST_ASSERT_EQUAL_INT(0, strncmp(whole + at, one, strlen(one)));
        at += strlen(one);
    }
    TEST_ASSERT_EQUAL_size_t(strlen(whole), at);
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("-o", path("tests/"), "--format", "binary", NULL));
    TEST_ASSERT_EQUAL(0, access(path("tests/0.otr"), F_OK));
}

static int traces_in(const char *file)
{
    int n = 0;
    FILE *f = fopen(file, "r");
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_reader *r = ordeal_reader_new(o, f, file, ORDEAL_FORMAT_GUESS);
    struct ordeal_trace *t;
    enum ordeal_status status;
    for (; (status = ordeal_reader_next(r, &t)) == ORDEAL_OK; n++) {
        TEST_ASSERT_EQUAL_size_t(10, ordeal_trace_length(t));
        ordeal_trace_free(t);
    }
    TEST_ASSERT_EQUAL(ORDEAL_END, status);
    ordeal_reader_free(r);
    fclose(f);
    ordeal_free(o);
    return n;
}

static void a_file_gets_all_in_the_format_of_its_ending(void)
{
    const char *set = "operations=5", *no_cas = "cas=0";
    static char bytes[16];
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("-n7", "-s", set, "-s", no_cas, "-o", path("x.test"), NULL));
    TEST_ASSERT_EQUAL(7, traces_in(path("x.test")));
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("-n7", "-s", set, "-s", no_cas, "-o", path("x.otr"), NULL));
    TEST_ASSERT_EQUAL(7, traces_in(path("x.otr")));
    slurp(path("x.otr"), bytes, sizeof bytes);
    has(bytes, "OTR");
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("-n7", "-s", set, "-s", no_cas, "-o", path("y.test"), "-z",
                                     "--format=binary", NULL));
    TEST_ASSERT_EQUAL(7, traces_in(path("y.test")));
}

static void the_bias_is_printed_as_a_file_that_says_the_same(void)
{
    static char test[sizeof out], printed[sizeof out];
    gen("--set", "idioms.sb=50", "--set", "threads=3", "-s", "idiom a.weight=3", "-s",
        "idiom a.test=P0 S[x]#1", NULL);
    strcpy(test, out);
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("--set", "idioms.sb=50", "--set", "threads=3", "-s",
                                     "idiom a.weight=3", "-s", "idiom a.test=P0 S[x]#1",
                                     "--print-bias", NULL));
    strcpy(printed, out);
    has(printed, "threads = 3\n");
    has(printed, "# threads of a test (1 to 256; default 2)\n");
    FILE *f = fopen(path("p.bias"), "w");
    fputs(printed, f);
    fclose(f);
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("--bias", path("p.bias"), NULL));
    TEST_ASSERT_EQUAL_STRING(test, out);
}

static void every_key_is_listed(void)
{
    static const char *const ways[] = { "--keys", "--help" };
    for (int way = 0; way < 2; way++) {
        TEST_ASSERT_EQUAL(EXIT_FINE, gen(ways[way], NULL));
        for (int i = 0; i < BIAS_KEY_COUNT; i++) {
            char line[64];
            snprintf(line, sizeof line, "\n  %s = ", bias_keys[i].name);
            has(out, line);
        }
        has(out, "[idiom NAME]");
    }
}

static void what_is_wrong_is_said_in_one_line(void)
{
    FILE *f = fopen(path("bad.bias"), "w");
    fputs("[test]\nthreads = 2\n[idioms]\niriw = 4\n", f);
    fclose(f);
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("-b", path("bad.bias"), NULL));
    has(err, "bad.bias:4: idioms.iriw = 4: the idiom has 4 threads");
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("-b", path("bad.bias"), "-s", "threads=4", NULL));
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("-b", path("none.bias"), NULL));
    has(err, "none.bias: No such file");
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("-s", "threads=999", NULL));
    has(err, "--set: test.threads = 999: allowed is 1 to 256\n");
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("bad.bias", NULL));
    has(err, "A bias file is given with --bias");
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("--format", "axe", NULL));
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("-z", NULL));
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("-n", "0", NULL));
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("-n", "2", "--first", "18446744073709551615", NULL));
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("-o", path("no/such/"), NULL));
    has(err, "No such file");
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("-o", path("no/such.test"), NULL));
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("-o", "/dev/full", NULL));
    has(err, "/dev/full: No space left");
    TEST_ASSERT_EQUAL_STRING("", out);
}

static void every_example_makes_tests(void)
{
    glob_t found;
    TEST_ASSERT_EQUAL(0, glob("examples/*.bias", 0, NULL, &found));
    TEST_ASSERT_GREATER_THAN_size_t(5, found.gl_pathc);
    for (size_t i = 0; i < found.gl_pathc; i++)
        TEST_ASSERT_EQUAL_MESSAGE(EXIT_FINE, gen("-b", found.gl_pathv[i], "-n", "20", "-o",
                                                 path("x.otr"), NULL), err);
    globfree(&found);
}

static void the_bias_of_a_target(void)
{
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("--target", "model", "--print-bias", NULL));
    has(out, "\n[profile loads-and-stores]\n");
    has(out, "\n# Store buffers that are full.\n[profile stores]\n");
    TEST_ASSERT_NULL(strstr(out, "loads and stores alone --")); /* which is a heading */
    has(out, "\nthreads = 4\n");
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("--target", "model", "-n", "30", "-s", "operations=4", NULL));
    TEST_ASSERT_EQUAL(30, count_of("# profile "));
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("--target", "model", "--harts", "2", NULL));
    has(err, "--harts is for --target sim; the target 'model' does not know it");
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("--harts", "2", NULL));
    has(err, "are of a --target");
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("--target", "model", "--model", "TSO", "--print-bias", NULL));
    has(out, "[profile transactions-short]");
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("--target", "model", "--model", "PC", "--print-bias", NULL));
    TEST_ASSERT_NULL(strstr(out, "[profile transactions-short]")); /* PC's machine has none */
    TEST_ASSERT_EQUAL_MESSAGE(EXIT_FINE,
                              gen("--target", "sim", "--harts", "2", "--print-bias", NULL), err);
    has(out, "\nthreads = 2\n");
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("-t", "sim", "--sizes", "h2-s1-w2-l4-b8-q4", "-n", "9", NULL));
    TEST_ASSERT_EQUAL(0, count_of("\nP2 "));
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("--target", "nonsense", NULL));
    has(err, "--target takes one of model, native, elf, sim, board, not 'nonsense'");
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("--target", "model", "--bias", "x", NULL));
    has(err, "--target has a bias of its own");
    TEST_ASSERT_EQUAL(EXIT_BAD, gen("--target", "model", "-s", "delays.cycles_min=200", NULL));
    has(err, "delays.cycles_min = 200: it is more than cycles_max = 100");
}

/* In one line, and in a file that can be read again. */
static void profiles_that_do_not_fit_are_named(void)
{
    const char *set = "test.operations=200";
    TEST_ASSERT_EQUAL(EXIT_FINE, gen("-t", "model", "-s", "threads=8", "-s", set, "-n", "1", NULL));
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, strncmp(err, "ordeal gen: ", 12), err);
    has(err, " profiles do not fit and are left out: ");
    has(err, "narrow, ");
    TEST_ASSERT_EQUAL_size_t(strlen(err) - 1, strcspn(err, "\n"));
    gen("-t", "model", "-s", "threads=8", "-s", set, "--print-bias", NULL);
    has(out, " profiles do not fit and are left out: ");
    FILE *f = fopen(path("p.bias"), "w");
    fputs(out, f);
    fclose(f);
    TEST_ASSERT_EQUAL_MESSAGE(EXIT_FINE, gen("-b", path("p.bias"), "-n", "9", NULL), err);
    TEST_ASSERT_EQUAL_STRING("", err);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(tests_go_to_standard_output_one_after_the_other);
    RUN_TEST(the_seed_and_the_number_tell_the_test);
    RUN_TEST(a_directory_gets_a_file_a_test);
    RUN_TEST(a_file_gets_all_in_the_format_of_its_ending);
    RUN_TEST(the_bias_is_printed_as_a_file_that_says_the_same);
    RUN_TEST(every_key_is_listed);
    RUN_TEST(what_is_wrong_is_said_in_one_line);
    RUN_TEST(every_example_makes_tests);
    RUN_TEST(the_bias_of_a_target);
    RUN_TEST(profiles_that_do_not_fit_are_named);
    return UNITY_END();
}
