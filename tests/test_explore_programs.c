/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of examples/programs/ under all models, unfenced and fenced: what is found is what
 * their comments say, by delayed and by plain flushing, with and without reduction.
 *
 * PROGRAMS in the environment names some of them; VERBOSE=1 prints a line for each search. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expectation.h"
#include "program/compile.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

/* A search without what makes it small is done where the other one had no more states than this. */
enum { SMALL = 20000 };

struct subject {
    const char *path;
    const struct expectation *expectation;
    struct image *image;
};

static void say(char *message, size_t size, const struct subject *s,
                const struct explore_options *o, const struct explore_result *r)
{
    snprintf(message, size, "%s%s, %s%s%s: %s %s%s, %llu states, %.2f s", s->path,
             s->expectation->text, explore_model_names[o->model], o->plain_flush ? " plain" : "",
             o->no_reduction ? " without reduction" : "",
             r->verdict == EXPLORE_PASS   ? "PASS"
             : r->verdict == EXPLORE_FAIL ? "FAIL"
                                          : "UNDECIDED",
             r->findings ? explore_error_text(r->finding[0].error) : "", r->note,
             (unsigned long long)r->at_end.states, r->at_end.seconds);
}

static bool as_expected(const struct expected *expected, const struct explore_result *r)
{
    if (expected->pass)
        return r->verdict == EXPLORE_PASS && r->findings == 0;
    return r->verdict == EXPLORE_FAIL && r->findings == 1
        && expected_error(expected, explore_error_text(r->finding[0].error));
}

/* All are done, and told, before the test fails. */
static unsigned wrong;

static uint64_t search(const struct subject *s, const struct explore_options *o)
{
    struct explore_result *r = NULL;
    struct ordeal_error error = { 0 };
    char message[1024];
    if (explore(s->image, o, &r, &error) != ORDEAL_OK) {
        printf("%s%s: %s\n", s->path, s->expectation->text, error.reason);
        wrong++;
        return SMALL + 1;
    }
    bool right = as_expected(&s->expectation->model[o->model], r);
    wrong += !right;
    say(message, sizeof message, s, o, r);
    if (!right || getenv("VERBOSE"))
        printf("%s%s\n", right ? "" : "not expected: ", message);
    uint64_t states = r->at_end.states;
    explore_result_free(r);
    return states;
}

static void under(const struct subject *s, enum explore_model model)
{
    struct explore_options o = {
        .model = model,
        .buffers = 32,
        .local = model <= EXPLORE_TSO ? EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC
                                      : EXPLORE_LOCAL_STATIC,
        .jobs = 2,
    };
    if (search(s, &o) > SMALL)
        return;
    o.no_reduction = true;
    o.jobs = 1;
    search(s, &o);
    o.plain_flush = true;
    o.no_reduction = false;
    if (model == EXPLORE_TSO)
        search(s, &o);
}

static void compile(struct subject *s)
{
    struct compiled compiled = { 0 };
    struct why why = { 0 };
    struct ordeal_error error = { 0 };
    struct compile_request request = {
        .source = &s->path,
        .sources = 1,
        .define = s->expectation->define,
        .defines = s->expectation->defines,
    };
    TEST_ASSERT_TRUE_MESSAGE(compile_program(&request, &compiled, &why), why.text);
    TEST_ASSERT_EQUAL_STRING_MESSAGE("", compiled.messages, s->path);
    TEST_ASSERT_TRUE_MESSAGE(image_load(s->path, compiled.elf, compiled.size, &s->image, &error),
                             error.reason);
    compiled_free(&compiled);
}

static void one_file(const char *path)
{
    struct expectations e;
    const char *wrong = expectations_read(path, &e);
    char message[256];
    snprintf(message, sizeof message, "%s %s", path, wrong ? wrong : "");
    TEST_ASSERT_NULL_MESSAGE(wrong, message);
    for (unsigned i = 0; i < e.lines; i++) {
        struct subject s = { path, &e.line[i], NULL };
        compile(&s);
        for (unsigned m = 0; m < EXPLORE_MODELS; m++)
            if (e.line[i].model[m].told)
                under(&s, (enum explore_model)m);
        image_free(s.image);
    }
}

static void test_programs(void)
{
    glob_t found;
    const char *some = getenv("PROGRAMS");
    TEST_ASSERT_EQUAL_INT(0, glob("examples/programs/*.c", 0, NULL, &found));
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (!some || strstr(found.gl_pathv[i], some))
            one_file(found.gl_pathv[i]);
    TEST_ASSERT_TRUE(some || found.gl_pathc >= 24);
    globfree(&found);
    TEST_ASSERT_EQUAL_UINT(0, wrong);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_programs);
    return UNITY_END();
}
