/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: the engine's outcomes are those of the plain machines of tests/support, with
 * delayed and with plain flushing, for all --local, with and without reduction, one and two jobs,
 * breadth and depth first, and buffers of 1, 2, 4 and any number of entries.
 *
 * SEEDS and FIRST in the environment say how many programs, and from which. Every program runs under
 * each model and flush, with buffers that have no bound and such that have one; the rest of the
 * setting is drawn by its seed, or with SETTINGS=all in the environment, is everything. A program
 * that differs is shrunk and printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explore.h"
#include "oracle.h"
#include "program/compile.h"
#include "tiny_explore.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

enum { MOST_STATES = 4000, WAYS = 32, COMPILED = 40 };

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : usual;
}

static struct tiny_setting with(struct tiny_setting s, unsigned way)
{
    s.local = way & 3;
    s.no_reduction = way >> 2 & 1;
    s.jobs = 1 + (way >> 3 & 1);
    s.depth_first = way >> 4 & 1;
    return s;
}

static void compare(const struct tiny_program *p, const struct tiny_setting *s,
                    const struct tiny_outcomes *right, uint64_t seed)
{
    struct tiny_outcomes engine;
    tiny_explore(p, s, &engine);
    bool same = tiny_same(right, &engine);
    tiny_outcomes_free(&engine);
    if (same)
        return;
    char *text = tiny_difference(p, s);
    fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, text ? text : "not the same every time");
    free(text);
    TEST_FAIL_MESSAGE("the engine's outcomes are not the machine's");
}

/* One machine's outcomes against the ways in which the engine can come to them. */
static void all_ways(const struct tiny_program *p, struct tiny_setting s, uint64_t seed,
                     uint64_t *random, bool everything)
{
    struct tiny_outcomes right;
    if (tiny_outcomes(p, s.model, (struct tiny_limits){ s.buffers, false, MOST_STATES }, &right))
        for (unsigned plain = 0; plain < 2; plain++) {
            s.plain = plain;
            unsigned drawn = (unsigned)oracle_random(random, WAYS);
            for (unsigned way = 0, found = 0; way < WAYS && (everything || !found); way++) {
                struct tiny_setting full = with(s, (way + drawn) % WAYS);
                found = tiny_setting_sensible(&full);
                if (found)
                    compare(p, &full, &right, seed);
            }
        }
    tiny_outcomes_free(&right);
}

static void one_program(uint64_t seed, bool sections, bool everything)
{
    static const unsigned buffers[] = { 0, 1, 2, 4 };
    struct tiny_program p;
    uint64_t random = seed;
    tiny_random(&p, seed);
    if (sections)
        tiny_add_sections(&p, seed);
    for (unsigned m = 0; m < TINY_MODELS; m++)
        for (unsigned b = 0; b < (m == TINY_SC ? 1 : 4); b++)
            all_ways(&p,
                     (struct tiny_setting){ .model = (enum tiny_model)m, .buffers = buffers[b] },
                     seed, &random, everything);
}

static void programs(uint64_t count, bool sections)
{
    uint64_t first = number("FIRST", 1);
    const char *settings = getenv("SETTINGS");
    for (uint64_t i = 0; i < count; i++)
        one_program(first + i, sections, settings && strcmp(settings, "all") == 0);
}

static void test_same_outcomes(void) { programs(number("SEEDS", 1000), false); }

/* Between __VERIFIER_atomic_begin() and _end() accesses are as one. */
static void test_sections(void) { programs(number("SEEDS", 1000) / 4, true); }

/* ---- compiled -------------------------------------------------------------------------------- */

struct compiled_programs {
    struct tiny_program program[COMPILED];
    struct compiled elf;
    uint32_t which, address[TINY_COLUMNS];
};

static struct image *load(const struct compiled *c)
{
    struct image *image = NULL;
    struct ordeal_error error = { 0 };
    TEST_ASSERT_TRUE_MESSAGE(image_load("tiny.c", c->elf, c->size, &image, &error), error.reason);
    return image;
}

static uint32_t address_of(const struct image *image, const char *name)
{
    const struct symbol *s = image_symbol_named(image, name);
    TEST_ASSERT_NOT_NULL_MESSAGE(s, name);
    return s->address;
}

static void compile(struct compiled_programs *c, uint64_t first, bool optimise)
{
    char path[] = "/tmp/tiny-XXXXXX.c";
    const char *source = path;
    struct why why = { 0 };
    struct compile_request request = { .source = &source, .sources = 1, .optimise = optimise };
    for (unsigned i = 0; i < COMPILED; i++)
        tiny_random(&c->program[i], first + i);
    int fd = mkstemps(path, 2);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
    TEST_ASSERT_NOT_NULL(stream);
    tiny_c(c->program, COMPILED, stream);
    fclose(stream);
    bool good = compile_program(&request, &c->elf, &why);
    unlink(path);
    TEST_ASSERT_TRUE_MESSAGE(good, why.text);
    struct image *image = load(&c->elf);
    c->which = address_of(image, "which");
    for (unsigned k = 0; k < TINY_COLUMNS; k++)
        c->address[k] = k < TINY_THREADS ? address_of(image, "result") + 4 * k
                                         : address_of(image, "final") + 4 * (k - TINY_THREADS);
    image_free(image);
}

static void compare_compiled(const struct compiled_programs *c, unsigned i,
                             const struct tiny_setting *s, const struct image *image)
{
    struct tiny_outcomes right, engine;
    if (tiny_outcomes(&c->program[i], s->model, (struct tiny_limits){ 0, false, 500 }, &right)) {
        tiny_explore_image(image, c->address, s, &engine);
        if (!tiny_same(&right, &engine)) {
            fprintf(stderr, "compiled program %u: ", i);
            tiny_setting_print(s, stderr);
            tiny_print(&c->program[i], stderr);
            TEST_FAIL_MESSAGE("the engine's outcomes are not the machine's");
        }
        tiny_outcomes_free(&engine);
    }
    tiny_outcomes_free(&right);
}

/* Buffers have no bound, as frames go through them where nothing is taken for local. */
static void test_compiled(void)
{
    static struct compiled_programs c;
    compile(&c, number("FIRST", 1) + 1000000, false);
    for (unsigned i = 0; i < COMPILED; i++) {
        TEST_ASSERT_TRUE(tiny_patch(c.elf.elf, c.which, i));
        struct image *image = load(&c.elf);
        for (unsigned m = 0; m < TINY_MODELS; m++)
            for (unsigned local = EXPLORE_LOCAL_STATIC; local <= 3; local++) {
                struct tiny_setting s = { .model = (enum tiny_model)m,
                                          .local = (uint8_t)local,
                                          .plain = m == TINY_TSO && i % 2,
                                          .jobs = 1 + i % 2 };
                if (tiny_setting_sensible(&s))
                    compare_compiled(&c, i, &s, image);
            }
        image_free(image);
    }
    compiled_free(&c.elf);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_same_outcomes);
    RUN_TEST(test_sections);
    RUN_TEST(test_compiled);
    return UNITY_END();
}
