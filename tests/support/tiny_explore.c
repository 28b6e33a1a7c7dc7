/* SPDX-License-Identifier: Apache-2.0 */
#include "tiny_explore.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"
#include "unity.h"

static const enum explore_model engine_model[TINY_MODELS] = {
    [TINY_SC] = EXPLORE_SC,
    [TINY_TSO] = EXPLORE_TSO,
    [TINY_PSO] = EXPLORE_PSO,
    [TINY_PSLO] = EXPLORE_PSLO,
};

bool tiny_setting_sensible(const struct tiny_setting *s)
{
    return (s->model <= TINY_TSO || !(s->local & EXPLORE_LOCAL_DYNAMIC))
        && (s->model == TINY_TSO || !s->plain) && (s->model != TINY_SC || s->buffers == 0);
}

void tiny_setting_print(const struct tiny_setting *s, FILE *stream)
{
    static const char *const local[] = { "none", "s", "d", "sd" };
    fprintf(stream, "model %s, %s flush, buffers %u%s, local %s, %s reduction, %s first, jobs %u\n",
            explore_model_names[engine_model[s->model]], s->plain ? "plain" : "delayed", s->buffers,
            s->buffers ? "" : " (unbounded)", local[s->local], s->no_reduction ? "no" : "with",
            s->depth_first ? "depth" : "breadth", s->jobs);
}

static struct image *image_of(const struct tiny_program *p)
{
    size_t size;
    struct image *image = NULL;
    struct ordeal_error error = { 0 };
    void *elf = tiny_elf(p, &size);
    bool good = image_load("tiny.elf", elf, size, &image, &error);
    free(elf);
    TEST_ASSERT_TRUE_MESSAGE(good, error.reason);
    return image;
}

static struct explore_result *run(const struct image *image, const uint32_t address[TINY_COLUMNS],
                                  const struct tiny_setting *s)
{
    uint8_t size[TINY_COLUMNS];
    memset(size, 4, sizeof size);
    struct explore_options options = {
        .model = engine_model[s->model],
        .plain_flush = s->plain,
        .buffers = s->buffers,
        .local = s->local,
        .no_reduction = s->no_reduction,
        .depth_first = s->depth_first,
        .jobs = s->jobs,
        .outcome_address = address,
        .outcome_size = size,
        .outcomes = TINY_COLUMNS,
    };
    struct explore_result *result = NULL;
    struct ordeal_error error = { 0 };
    enum ordeal_status status = explore(image, &options, &result, &error);
    TEST_ASSERT_EQUAL_INT_MESSAGE(ORDEAL_OK, status, error.reason);
    return result;
}

void tiny_explore_image(const struct image *image, const uint32_t address[TINY_COLUMNS],
                        const struct tiny_setting *s, struct tiny_outcomes *outcomes)
{
    struct explore_result *r = run(image, address, s);
    TEST_ASSERT_EQUAL_INT_MESSAGE(EXPLORE_PASS, r->verdict,
                                  r->findings ? r->finding[0].text : r->note);
    *outcomes = (struct tiny_outcomes){ .rows = r->outcome_rows, .states = r->at_end.states };
    outcomes->row = calloc(r->outcome_rows + 1, sizeof *outcomes->row);
    TEST_ASSERT_NOT_NULL(outcomes->row);
    if (r->outcome_rows)
        memcpy(outcomes->row, r->outcome, r->outcome_rows * sizeof *outcomes->row);
    explore_result_free(r);
}

void tiny_explore(const struct tiny_program *p, const struct tiny_setting *s,
                  struct tiny_outcomes *outcomes)
{
    uint32_t address[TINY_COLUMNS];
    struct image *image = image_of(p);
    tiny_columns(address);
    tiny_explore_image(image, address, s, outcomes);
    image_free(image);
}

bool tiny_same(const struct tiny_outcomes *a, const struct tiny_outcomes *b)
{
    return a->rows == b->rows
        && (a->rows == 0 || !memcmp(a->row, b->row, a->rows * sizeof *a->row));
}

/* ---- differences ----------------------------------------------------------------------------- */

static void both(const struct tiny_program *p, const struct tiny_setting *s,
                 struct tiny_outcomes *right, struct tiny_outcomes *engine)
{
    tiny_outcomes(p, s->model, (struct tiny_limits){ .buffers = s->buffers }, right);
    tiny_explore(p, s, engine);
}

static bool differs(const struct tiny_program *p, const struct tiny_setting *s)
{
    struct tiny_outcomes right, engine;
    both(p, s, &right, &engine);
    bool same = tiny_same(&right, &engine);
    tiny_outcomes_free(&right);
    tiny_outcomes_free(&engine);
    return !same;
}

/* Ops go one by one as long as the difference stays. */
static void shrink(struct tiny_program *p, const struct tiny_setting *s)
{
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (unsigned t = 0; t < p->threads; t++)
            for (unsigned i = 0; i < p->ops[t]; i++) {
                struct tiny_program less = *p;
                if (tiny_without(&less, t, i) && differs(&less, s)) {
                    *p = less;
                    smaller = true;
                }
            }
    }
}

static bool has(const struct tiny_outcomes *o, const uint32_t *row)
{
    for (size_t i = 0; i < o->rows; i++)
        if (memcmp(o->row[i], row, sizeof *o->row) == 0)
            return true;
    return false;
}

static void print_row(const uint32_t *row, unsigned threads, FILE *stream)
{
    for (unsigned t = 0; t < threads; t++) {
        fprintf(stream, " P%u:", t);
        for (uint32_t rest = row[t], r = 0; r < TINY_REGISTERS; r++, rest /= 251)
            fprintf(stream, "%s%" PRIu32, r ? "," : "", r + 1 < TINY_REGISTERS ? rest % 251 : rest);
    }
    for (unsigned w = 0; w < TINY_WORDS; w++)
        fprintf(stream, " %c=0x%" PRIx32, "xyz"[w], row[TINY_THREADS + w]);
    fputc('\n', stream);
}

static void print_only(const char *whose, const struct tiny_outcomes *a,
                       const struct tiny_outcomes *b, unsigned threads, FILE *stream)
{
    for (size_t i = 0, told = 0; i < a->rows && told < 4; i++)
        if (!has(b, a->row[i])) {
            fprintf(stream, "  only %s:", whose);
            print_row(a->row[i], threads, stream);
            told++;
        }
}

char *tiny_difference(const struct tiny_program *p, const struct tiny_setting *s)
{
    if (!differs(p, s))
        return NULL;
    struct tiny_program small = *p;
    shrink(&small, s);
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    TEST_ASSERT_NOT_NULL(stream);
    tiny_setting_print(s, stream);
    tiny_print(&small, stream);
    struct tiny_outcomes right, engine;
    both(&small, s, &right, &engine);
    print_only("the engine's", &engine, &right, p->threads, stream);
    print_only("the machine's", &right, &engine, p->threads, stream);
    tiny_outcomes_free(&right);
    tiny_outcomes_free(&engine);
    fclose(stream);
    return text;
}
