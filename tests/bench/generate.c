/* SPDX-License-Identifier: Apache-2.0 */
/* The generator: operations put into tests a second, in the fastest of some stretches. */
#include "bench.h"

#include <stdlib.h>

#include "test/generate.h"

/* clang-format off */
static const struct bias_kind { const char *name, *file, *assignments[12]; } bias_kinds[] = {
    { "defaults", NULL, { NULL } },
    { "long", NULL, { "operations=10000", "threads=8", "locations=256", NULL } },
    { "mixed sizes", NULL, { "operations=1000", "sizes.1=1", "sizes.2=1", "sizes.8=1",
                             "locations=64", "words_per_line=4", NULL } },
    { "blocks", NULL, { "operations=1000", "loops.share=30", "branches.share=30",
                        "transactions.share=30", NULL } },
    { "idioms", NULL, { "operations=1000", "threads=4", "sb=20", "mp=20", "iriw=20", "2+2w=20",
                        NULL } },
    { "litmus", NULL, { "operations=4", "threads=2", "locations=2", "load=0", "store=0", "swap=0",
                        "cas=0", "full=0", "2+2w=1", NULL } },
    { "omit", "examples/zoo.bias", { NULL } },
    { "profiles", "examples/profiles.bias", { NULL } },
    { "default of run", "host/test/default.bias", { "threads=4", NULL } },
};
/* clang-format on */

static struct bias *bias_of_kind(const struct bias_kind *kind)
{
    struct ordeal_error e;
    struct bias *b = bias_new();
    if (kind->file && !bias_read(b, kind->file, &e))
        abort();
    for (int i = 0; kind->assignments[i]; i++)
        if (!bias_set(b, kind->assignments[i], &e))
            abort();
    if (!bias_check(b, &e))
        abort();
    return b;
}

struct made { uint64_t tests, operations; double seconds; };

/* Tests from number `first` on, of at least so many operations in all. */
static struct made make_some(struct generator *g, struct ordeal *o, uint64_t first,
                             uint64_t operations)
{
    struct made made = { 0 };
    double start = bench_clock();
    for (; made.operations < operations; made.tests++) {
        struct ordeal_trace *t;
        if (generator_make(g, first + made.tests, o, &t) != ORDEAL_OK)
            abort();
        made.operations += ordeal_trace_length(t);
        ordeal_trace_free(t);
    }
    made.seconds = bench_clock() - start;
    return made;
}

static double rate(const struct made *m) { return 1e-6 * (double)m->operations / m->seconds; }

static void generate_row(struct bench *b, const struct bias_kind *kind)
{
    struct bias *bias = bias_of_kind(kind);
    struct generator *g = generator_new(bias, b->seed);
    struct ordeal *o = ordeal_new(NULL);
    if (!g || !o)
        abort();
    struct made best = { .seconds = 1 };
    uint64_t tests = 0;
    for (int i = 0; i < (b->quick ? 10 : 50); i++) {
        struct made made = make_some(g, o, tests, 200000);
        tests += made.tests;
        best = rate(&made) > rate(&best) ? made : best;
    }
    cJSON *row = row_new();
    row_text(row, "bias", kind->name);
    row_number(row, "ops/test", (double)best.operations / (double)best.tests);
    row_number(row, "Ktests/s", 1e-3 * (double)best.tests / best.seconds);
    row_number(row, "Mop/s", rate(&best));
    row_target(row, ">= 5 Mop/s", rate(&best) >= 5);
    row_end(&b->report, row);
    ordeal_free(o);
    generator_free(g);
    bias_free(bias);
}

void table_generate(struct bench *b)
{
    for (size_t i = 0; i < sizeof bias_kinds / sizeof *bias_kinds; i++)
        generate_row(b, &bias_kinds[i]);
}
