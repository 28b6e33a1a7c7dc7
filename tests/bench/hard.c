/* SPDX-License-Identifier: Apache-2.0 */
/* Legal executions that are hard to judge: values that repeat. Of each family several seeds, with
 * the time at the median and the worst, and how many were left undecided. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

enum { SEEDS = 20, QUICK_SEEDS = 5 };
static const double longest = 60, longest_quick = 4;

static const struct family {
    const char *name;
    struct workload_spec spec;
} families[] = {
    { "flag", { .ops = 250, .threads = 2, .words = 1, .values = 2 } },
    { "2 threads", { .ops = 10000, .threads = 2, .words = 1, .values = 2, .cas = true } },
    { "2 threads", { .ops = 10000, .threads = 2, .words = 64, .values = 16, .cas = true } },
    { "2 threads", { .ops = 100000, .threads = 2, .words = 8, .values = 4, .cas = true } },
    { "slow, roles",
      { .ops = 10000,
        .threads = 2,
        .words = 8,
        .values = 4,
        .cas = true,
        .slow = 8,
        .roles = true } },
    { "3 threads", { .ops = 2000, .threads = 3, .words = 4, .values = 4, .cas = true } },
    { "3 threads", { .ops = 10000, .threads = 3, .words = 16, .values = 8, .cas = true } },
    { "4 threads", { .ops = 2000, .threads = 4, .words = 4, .values = 2, .cas = true } },
    { "4 threads", { .ops = 10000, .threads = 4, .words = 8, .values = 4, .cas = true } },
    { "8 threads", { .ops = 10000, .threads = 8, .words = 1, .values = 2, .cas = true } },
    { "8 threads", { .ops = 10000, .threads = 8, .words = 64, .values = 16, .cas = true } },
};

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void family_row(struct bench *b, const struct family *f)
{
    double seconds[SEEDS], limit = b->quick ? longest_quick : longest;
    int seeds = b->quick ? QUICK_SEEDS : SEEDS, undecided = 0, wrong = 0;
    for (int i = 0; i < seeds; i++) {
        struct workload_spec spec = f->spec;
        spec.seed = b->seed + (uint64_t)i;
        struct workload *w = workload_run(&spec);
        if (!w)
            abort();
        struct measurement m = measure(measure_threads(w), ORDEAL_AUTO, limit, 1);
        bool late = m.limited || m.result == ORDEAL_UNDECIDED;
        seconds[i] = late ? limit : m.seconds;
        undecided += late;
        wrong += m.status != ORDEAL_OK || m.result == ORDEAL_FAIL;
        workload_free(w);
    }
    qsort(seconds, (size_t)seeds, sizeof *seconds, by_time);
    cJSON *row = row_new();
    row_text(row, "family", f->name);
    row_number(row, "n", f->spec.ops);
    row_number(row, "p", f->spec.threads);
    row_number(row, "a", f->spec.words);
    row_number(row, "values", f->spec.values);
    row_number(row, "median s", seconds[seeds / 2]);
    row_number(row, "worst s", seconds[seeds - 1]);
    row_number(row, "undecided %", 100.0 * undecided / seeds);
    row_target(row, "none undecided", undecided == 0 && wrong == 0);
    row_end(&b->report, row);
}

void table_repeated(struct bench *b)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        family_row(b, &families[i]);
}
