/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of failing tests: what is in them says what it should and is good for running and
 * explaining the test again; they are there whole or not at all, and take nobody's place. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cJSON.h>

#include "test/bias.h"
#include "checking.h"
#include "graphviz_leaks.h"
#include "same_trace.h"
#include "trial/saved.h"
#include "unity.h"

static struct ordeal *o;
static struct ordeal_trace *test, *trace;
static char directory[64], path[4096];
static struct why why;

static const char test_lines[] = "P0 S[A]#1\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\n";
static const char trace_lines[] = "model TSO\nP0 S[A]#1\nP0 L[B]=0\nP1 S[B]#1\nP1 L[A]=0\n";

static void clear(const char *name)
{
    DIR *d = opendir(name);
    for (struct dirent *e; d && (e = readdir(d)); ) {
        char inner[8192];
        snprintf(inner, sizeof inner, "%s/%s", name, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlink(inner) != 0)
            clear(inner);
    }
    if (d)
        closedir(d);
    rmdir(name);
}

void setUp(void)
{
    o = ordeal_new(NULL);
    test = trace_of_lines(o, test_lines);
    trace = trace_of_lines(o, trace_lines);
    snprintf(directory, sizeof directory, "%s", "/tmp/ordeal-saved-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
}

void tearDown(void)
{
    ordeal_trace_free(test);
    ordeal_trace_free(trace);
    ordeal_free(o);
    clear(directory);
}

/* ---- helpers ----------------------------------------------------------------------------- */

static const struct saved_run run = { .target = &target_sim,
                                      .how = { .seed = 7, .bug = "x", .soc = "it's $HOME" },
                                      .against = ORDEAL_SC,
                                      .first_iteration = 4,
                                      .iterations = 1 };

static struct saved_failure failure(void)
{
    return (struct saved_failure){ .directory = directory,
                                   .label = "test-000123",
                                   .seed = 7,
                                   .test = test,
                                   .trace = trace,
                                   .model = ORDEAL_SC,
                                   .run = &run };
}

static void save(const struct saved_failure *f)
{
    why.text[0] = '\0';
    bool saved = saved_write(f, path, sizeof path, &why);
    TEST_ASSERT_TRUE_MESSAGE(saved, why.text);
}

static const char *in_folder(const char *name)
{
    static char full[8192];
    snprintf(full, sizeof full, "%s/%s", path, name);
    return full;
}

/* What the file says; NULL: there is none. */
static const char *contents(const char *name)
{
    static char text[65536];
    FILE *f = fopen(in_folder(name), "r");
    if (!f)
        return NULL;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void expect_part(const char *name, const char *part)
{
    const char *text = contents(name);
    TEST_ASSERT_NOT_NULL_MESSAGE(text, name);
    TEST_ASSERT_TRUE_MESSAGE(strstr(text, part) != NULL, text);
}

static size_t entries(const char *name)
{
    size_t count = 0;
    DIR *d = opendir(name);
    for (struct dirent *e; d && (e = readdir(d)); )
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (d)
        closedir(d);
    return count;
}

static void expect_trace(const char *name, const struct ordeal_trace *expected)
{
    struct ordeal_trace *t = trace_of_file(o, in_folder(name));
    const char *difference = same_trace(expected, t);
    TEST_ASSERT_NULL_MESSAGE(difference, difference);
    ordeal_trace_free(t);
}

/* ---- tests ------------------------------------------------------------------------------- */

static void test_all_of_it_is_there(void)
{
    struct saved_failure f = failure();
    struct bias *bias = bias_new();
    f.bias = bias;
    save(&f);
    TEST_ASSERT_EQUAL(10, entries(path));
    TEST_ASSERT_EQUAL_STRING("7\n", contents("seed"));
    expect_trace("test.test", test);
    expect_trace("trace.trace", trace);
    struct bias *again = bias_new();
    struct ordeal_error e;
    TEST_ASSERT_TRUE_MESSAGE(bias_read(again, in_folder("bias.ini"), &e), e.reason);
    bias_free(again);
    bias_free(bias);
    expect_part("picture.svg", "<svg");
    expect_part("picture.svg", "trace.trace violates SC");
}

static void test_words_speak_of_the_lines_of_the_saved_trace(void)
{
    struct saved_failure f = failure();
    save(&f);
    expect_part("verdict.txt", "FAIL trace.trace model=SC ");
    expect_part("verdict.txt", " core=4 reason=");
    TEST_ASSERT_EQUAL('\n', contents("verdict.txt")[strlen(contents("verdict.txt")) - 1]);
    expect_part("explanation.txt", "FAIL trace.trace violates SC.\n");
    expect_part("explanation.txt", "3: S[A]#1"); /* after `ordeal 1` and `model TSO` */
    expect_part("explanation.txt", "(PO) [3,4]\n");
    cJSON *record = cJSON_Parse(contents("verdict.json"));
    TEST_ASSERT_EQUAL_STRING("FAIL", cJSON_GetObjectItem(record, "verdict")->valuestring);
    TEST_ASSERT_EQUAL(4, cJSON_GetArraySize(cJSON_GetObjectItem(record, "core")));
    cJSON_Delete(record);
}

static void test_without_a_bias_there_is_no_bias_file(void)
{
    struct saved_failure f = failure();
    save(&f);
    TEST_ASSERT_NULL(contents("bias.ini"));
    TEST_ASSERT_EQUAL(9, entries(path));
}

static void test_a_single_value_has_words_but_no_picture(void)
{
    struct ordeal_trace *strange = trace_of_lines(o, "P0 S[A]#1\nP1 L[A]=5\n");
    struct saved_failure f = failure();
    f.trace = strange;
    save(&f);
    expect_part("explanation.txt", "nobody ever wrote that there");
    TEST_ASSERT_NULL(contents("picture.svg"));
    ordeal_trace_free(strange);
}

/* The script is run with a program that prints its words, one a line. */
static void test_the_replay_gives_the_words_back(void)
{
    struct saved_failure f = failure();
    char printer[128], command[16384], got[4096], expected[16384];
    save(&f);
    snprintf(printer, sizeof printer, "%s/printer", directory);
    FILE *script = fopen(printer, "w");
    fputs("#!/bin/sh\nfor word; do echo \"$word\"; done\n", script);
    fclose(script);
    chmod(printer, 0755);
    snprintf(command, sizeof command, "ORDEAL=%s '%s' --json", printer, in_folder("replay"));
    FILE *out = popen(command, "r");
    got[fread(got, 1, sizeof got - 1, out)] = '\0';
    TEST_ASSERT_EQUAL(0, pclose(out));
    snprintf(expected, sizeof expected,
             "run\n--target\nsim\n--bug\nx\n--soc\nit's $HOME\n--seed\n7\n"
             "--first-iteration\n4\n--iterations\n1\n--no-save\n--against\nSC\n"
             "%s/test.test\n--json\n",
             path);
    TEST_ASSERT_EQUAL_STRING(expected, got);
}

static void test_no_folder_takes_the_place_of_another(void)
{
    struct saved_failure f = failure();
    char expected[128], taken[128];
    save(&f);
    snprintf(expected, sizeof expected, "%s/test-000123", directory);
    TEST_ASSERT_EQUAL_STRING(expected, path);
    snprintf(taken, sizeof taken, "%s/test-000123-2", directory);
    TEST_ASSERT_EQUAL(0, mkdir(taken, 0777)); /* also an empty one is somebody's */
    f.seed = 8;
    save(&f);
    snprintf(expected, sizeof expected, "%s/test-000123-3", directory);
    TEST_ASSERT_EQUAL_STRING(expected, path);
    TEST_ASSERT_EQUAL_STRING("8\n", contents("seed"));
    TEST_ASSERT_EQUAL(0, entries(taken));
    snprintf(path, sizeof path, "%s/test-000123", directory);
    TEST_ASSERT_EQUAL_STRING("7\n", contents("seed"));
}

static void test_directories_are_made(void)
{
    struct saved_failure f = failure();
    char deep[128];
    snprintf(deep, sizeof deep, "%s/a/b//c/", directory);
    f.directory = deep;
    save(&f);
    TEST_ASSERT_EQUAL(1, entries(deep));
}

static void refused(const struct saved_failure *f, const char *reason)
{
    why.text[0] = '\0';
    TEST_ASSERT_FALSE(saved_write(f, path, sizeof path, &why));
    TEST_ASSERT_TRUE_MESSAGE(strstr(why.text, reason) != NULL, why.text);
}

static void test_nothing_is_left_of_what_could_not_be_saved(void)
{
    struct saved_failure f = failure();
    f.model = ORDEAL_TSO; /* which it obeys */
    refused(&f, "does not violate TSO");
    TEST_ASSERT_EQUAL(0, entries(directory));

    f = failure();
    char file[128];
    snprintf(file, sizeof file, "%s/file", directory);
    fclose(fopen(file, "w"));
    f.directory = file;
    refused(&f, "not a directory");
    TEST_ASSERT_EQUAL(1, entries(directory));

    f = failure();
    f.directory = "/proc/ordeal";
    refused(&f, "/proc/ordeal: ");

    f = failure();
    char *label = malloc(5000);
    memset(label, 'x', 4999);
    label[4999] = '\0';
    f.label = label;
    refused(&f, "too long");
    label[300] = '\0';
    refused(&f, strerror(ENAMETOOLONG));
    free(label);
    TEST_ASSERT_EQUAL(1, entries(directory));

    f = failure();
    TEST_ASSERT_FALSE(saved_write(&f, path, 10, &why));
    TEST_ASSERT_EQUAL(1, entries(directory));
}

static void test_the_small_test_is_added(void)
{
    char small_path[8192];
    struct saved_failure f = failure();
    struct ordeal_trace *small = trace_of_lines(o, "P0 S[A]#1\nP0 L[A]\n");
    struct ordeal_trace *execution = trace_of_lines(o, "P0 S[A]#1\nP0 L[A]=0\n");
    save(&f);
    f.directory = path;
    f.test = small;
    f.trace = execution;
    TEST_ASSERT_TRUE_MESSAGE(saved_add_small(&f, small_path, sizeof small_path, &why), why.text);
    TEST_ASSERT_EQUAL_STRING(in_folder("small"), small_path);
    TEST_ASSERT_EQUAL(9, entries(small_path));
    expect_trace("small/test.test", small);
    expect_trace("small/trace.trace", execution);
    expect_part("small/explanation.txt", "FAIL trace.trace violates SC.\n");
    expect_part("small/verdict.txt", "FAIL trace.trace model=SC ");
    expect_part("small/picture.svg", "<svg");
    expect_part("small/run.txt", "first-iteration 4\n");
    expect_part("explanation.txt", "FAIL trace.trace");
    ordeal_trace_free(small);
    ordeal_trace_free(execution);
}

static void test_a_small_test_without_its_folder_is_refused(void)
{
    struct saved_failure f = failure();
    char nowhere[128];
    snprintf(nowhere, sizeof nowhere, "%s/nowhere", directory);
    f.directory = nowhere;
    TEST_ASSERT_FALSE(saved_add_small(&f, path, sizeof path, &why));
    TEST_ASSERT_TRUE(strstr(why.text, "nowhere: ") != NULL);
    TEST_ASSERT_EQUAL(0, entries(directory));
}

/* A writer of waves: in two parts, of which the second may fail, with a file of its own beside. */
static bool make_waves(void *user, const char *fst, struct why *reason)
{
    char beside[8192];
    FILE *f = fopen(fst, "w");
    fputs("half of", f);
    TEST_ASSERT_NULL(contents("waves.fst"));
    snprintf(beside, sizeof beside, "%s.hier", fst);
    fclose(fopen(beside, "w"));
    bool *good = user;
    if (*good)
        fputs(" it", f);
    fclose(f);
    return *good || why_say(reason, "the disk is full");
}

static void test_waves_are_added_whole_or_not_at_all(void)
{
    struct saved_failure f = failure();
    struct waves_view view = { .harts = 1 };
    bool good = false;
    save(&f);
    int before = entries(path);
    TEST_ASSERT_FALSE(saved_add_waves(path, &(struct saved_waves_maker){ make_waves, &good }, &view,
                                      &why));
    TEST_ASSERT_EQUAL_STRING("the disk is full", why.text);
    TEST_ASSERT_EQUAL(before, entries(path));
    good = true;
    TEST_ASSERT_TRUE_MESSAGE(saved_add_waves(path, &(struct saved_waves_maker){ make_waves, &good },
                                             &view, &why),
                             why.text);
    TEST_ASSERT_EQUAL_STRING("half of it", contents("waves.fst"));
    expect_part("waves.gtkw", "waves.fst\"");
    TEST_ASSERT_EQUAL(before + 2, entries(path));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_all_of_it_is_there);
    RUN_TEST(test_words_speak_of_the_lines_of_the_saved_trace);
    RUN_TEST(test_without_a_bias_there_is_no_bias_file);
    RUN_TEST(test_a_single_value_has_words_but_no_picture);
    RUN_TEST(test_the_replay_gives_the_words_back);
    RUN_TEST(test_no_folder_takes_the_place_of_another);
    RUN_TEST(test_directories_are_made);
    RUN_TEST(test_nothing_is_left_of_what_could_not_be_saved);
    RUN_TEST(test_the_small_test_is_added);
    RUN_TEST(test_a_small_test_without_its_folder_is_refused);
    RUN_TEST(test_waves_are_added_whole_or_not_at_all);
    return UNITY_END();
}
