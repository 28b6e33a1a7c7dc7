/* SPDX-License-Identifier: Apache-2.0 */
/* The `native` target: outcomes and operations a second, how often a relaxed outcome is seen, and
 * what the first outcome of a test costs that the machine has not seen before. */
#include "bench.h"

#include <math.h>
#include <string.h>

#include "test/generate.h"
#include "targets/target.h"

struct subject_test {
    const char *name;
    const char *lines;            /* NULL: from the generator, threads and operations as below */
    uint32_t threads, operations;
    uint64_t relaxed[4];          /* the outcome to be counted */
    bool has_relaxed;
    double outcomes, operations_asked; /* million a second; 0: nothing is asked */
};

static const struct subject_test tests[] = {
    { "SB", "P0 S[A]#1\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\n", 2, 2, { 0, 0 }, true, 3, 0 },
    { "MP", "P0 S[A]#1\nP0 S[B]#1\nP1 L[B]\nP1 L[A]\n", 2, 2, { 1, 0 }, true, 3, 0 },
    { "LB", "P0 L[A]\nP0 S[B]#1\nP1 L[B]\nP1 S[A]#1\n", 2, 2, { 1, 1 }, true, 3, 0 },
    { "SB, MEMBAR", "P0 S[A]#1\nP0 MEMBAR\nP0 L[B]\nP1 S[B]#1\nP1 MEMBAR\nP1 L[A]\n", 2, 3,
      { 0, 0 }, true, 3, 0 },
    { "IRIW", "P0 S[A]#1\nP1 S[B]#1\nP2 L[A]\nP2 L[B]\nP3 L[B]\nP3 L[A]\n", 4, 2,
      { 1, 0, 1, 0 }, true, 0, 0 },
    { "random", NULL, 2, 100, { 0 }, false, 0, 5 },
    { "random", NULL, 2, 1000, { 0 }, false, 0, 5 },
    { "random", NULL, 8, 1000, { 0 }, false, 0, 0 },
};

struct counted { const struct subject_test *test; uint32_t slots; uint64_t relaxed; };

static bool count_outcome(void *user, uint64_t iteration, const uint64_t *values)
{
    struct counted *c = user;
    (void)iteration;
    if (c->test->has_relaxed)
        c->relaxed += memcmp(values, c->test->relaxed, c->slots * sizeof *values) == 0;
    return true;
}

static struct ordeal_trace *read_lines(struct ordeal *o, const char *lines)
{
    char text[512];
    struct ordeal_trace *t = NULL;
    int length = snprintf(text, sizeof text, "ordeal 1\n%s", lines);
    FILE *f = fmemopen(text, (size_t)length, "r");
    struct ordeal_reader *r = f ? ordeal_reader_new(o, f, "bench", ORDEAL_FORMAT_TEXT) : NULL;
    if (r)
        ordeal_reader_next(r, &t);
    ordeal_reader_free(r);
    if (f)
        fclose(f);
    return t;
}

static struct ordeal_trace *generate(struct ordeal *o, const struct subject_test *s, uint64_t seed)
{
    char threads[32], operations[32];
    struct ordeal_error e;
    struct ordeal_trace *t = NULL;
    struct bias *b = bias_new();
    snprintf(threads, sizeof threads, "test.threads=%u", s->threads);
    snprintf(operations, sizeof operations, "test.operations=%u", s->operations);
    struct generator *g = NULL;
    if (b && bias_set(b, threads, &e) && bias_set(b, operations, &e) && bias_check(b, &e))
        g = generator_new(b, seed);
    if (g && generator_make(g, 0, o, &t) != ORDEAL_OK)
        t = NULL;
    generator_free(g);
    bias_free(b);
    return t;
}

struct speeds { double outcomes, operations, relaxed, first; };

static bool runs(void *machine, const struct program *p, uint64_t count, struct counted *c)
{
    struct why why;
    struct target_sink sink = { count_outcome, c };
    if (target_native.run(machine, p, 0, count, &sink, &why) == TARGET_DONE)
        return true;
    fprintf(stderr, "bench: %s\n", why.text);
    return false;
}

/* The machine sees `other` in between, so that `p` is new to it each time. */
static double first_outcome(void *machine, const struct program *p, const struct program *other)
{
    enum { TIMES = 50 };
    struct counted c = { .test = &tests[0], .slots = 0 };
    double sum = 0;
    for (int i = 0; i < TIMES; i++) {
        if (!runs(machine, other, 1, &c))
            return NAN;
        double start = bench_clock();
        if (!runs(machine, p, 1, &c))
            return NAN;
        sum += bench_clock() - start;
    }
    return sum / TIMES;
}

static struct speeds measure_test(void *machine, const struct subject_test *s,
                                  const struct program *p, const struct program *other, bool quick)
{
    struct speeds best = { NAN, NAN, NAN, first_outcome(machine, p, other) };
    uint64_t count = 1 + (quick ? 2000000 : 8000000) / p->operations;
    for (int i = 0; i < (quick ? 2 : 5); i++) {
        struct counted c = { .test = s, .slots = p->slots };
        double start = bench_clock();
        if (!runs(machine, p, count, &c))
            break;
        double speed = (double)count / (bench_clock() - start);
        if (isnan(best.outcomes) || speed > best.outcomes) {
            best.outcomes = speed;
            best.operations = speed * (double)p->operations;
            best.relaxed = s->has_relaxed ? 100.0 * (double)c.relaxed / (double)count : NAN;
        }
    }
    return best;
}

static void native_row(struct bench *b, struct ordeal *o, void *machine,
                       const struct subject_test *s, const struct program *other)
{
    struct ordeal_error e = { 0 };
    struct program p;
    struct ordeal_trace *t = s->lines ? read_lines(o, s->lines) : generate(o, s, b->seed);
    if (!t || !program_compile(&p, t, "bench", &e)) {
        fprintf(stderr, "bench: %s\n", *e.reason ? e.reason : ordeal_last_error(o)->reason);
        ordeal_trace_free(t);
        return;
    }
    struct speeds speed = measure_test(machine, s, &p, other, b->quick);
    cJSON *row = row_new();
    row_text(row, "test", s->name);
    row_number(row, "threads", s->threads);
    row_number(row, "ops", s->operations);
    row_number(row, "Mout/s", speed.outcomes / 1e6);
    row_number(row, "Mops/s", speed.operations / 1e6);
    row_number(row, "relaxed %", speed.relaxed);
    row_number(row, "first us", speed.first * 1e6);
    if (s->outcomes > 0)
        row_target(row, "3 Mout/s", speed.outcomes >= 1e6 * s->outcomes);
    else
        row_target(row, s->operations_asked > 0 ? "5 Mops/s" : NULL,
                   speed.operations >= 1e6 * s->operations_asked);
    row_end(&b->report, row);
    program_free(&p);
    ordeal_trace_free(t);
}

void table_native(struct bench *b)
{
    struct target_options options = { .seed = b->seed, .timeout = 60, .quiet = true };
    struct ordeal_error e;
    struct why why;
    struct program other;
    void *machine;
    if (!target_native.open(&options, &machine, &why)) {
        fprintf(stderr, "bench: %s\n", why.text);
        return;
    }
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *t = o ? read_lines(o, "P0 S[A]#1\nP1 L[A]\n") : NULL;
    if (t && program_compile(&other, t, "bench", &e)) {
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
            native_row(b, o, machine, &tests[i], &other);
        program_free(&other);
    }
    ordeal_trace_free(t);
    ordeal_free(o);
    target_native.close(machine);
}
