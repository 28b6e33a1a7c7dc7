/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *numbers, size_t count)
{
    assert(count > 0);
    qsort(numbers, count, sizeof *numbers, by_size);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

/* Of one bug; `seed` says which seeds, NULL: each once. */
static double mean_of(const struct costs *c, size_t bug, const size_t *seed)
{
    double sum = 0;
    size_t finds = 0;
    for (size_t i = 0; i < c->seeds; i++) {
        size_t run = bug * c->seeds + (seed ? seed[i] : i);
        assert(c->cost[run] > 0);
        sum += c->cost[run];
        finds += !c->found || c->found[run];
    }
    return sum / (double)(finds ? finds : 1);
}

double costs_mean(const struct costs *c)
{
    double sum = 0;
    assert(c->bugs > 0 && c->seeds > 0);
    for (size_t b = 0; b < c->bugs; b++)
        sum += log(mean_of(c, b, NULL));
    return exp(sum / (double)c->bugs);
}

double costs_ratio(const struct costs *a, const struct costs *b)
{
    return costs_mean(a) / costs_mean(b);
}

static double draw_ratio(const struct costs *a, const struct costs *b, size_t *seed,
                         struct random *r)
{
    double sum = 0;
    for (size_t i = 0; i < a->bugs; i++) {
        size_t bug = random_below(r, (uint32_t)a->bugs);
        for (size_t k = 0; k < a->seeds; k++)
            seed[k] = random_below(r, (uint32_t)a->seeds);
        sum += log(mean_of(a, bug, seed)) - log(mean_of(b, bug, seed));
    }
    return exp(sum / (double)a->bugs);
}

struct interval costs_ratio_interval(const struct costs *a, const struct costs *b, size_t draws,
                                     uint64_t seed)
{
    struct random r;
    double *ratio = calloc(draws, sizeof *ratio);
    size_t *drawn = calloc(a->seeds, sizeof *drawn);
    struct interval middle = { NAN, NAN };
    assert(a->bugs == b->bugs && a->seeds == b->seeds && draws > 0);
    random_seed(&r, seed, 0);
    for (size_t i = 0; ratio && drawn && i < draws; i++)
        ratio[i] = draw_ratio(a, b, drawn, &r);
    if (ratio && drawn) {
        qsort(ratio, draws, sizeof *ratio, by_size);
        middle = (struct interval){ ratio[draws / 40], ratio[draws - 1 - draws / 40] };
    }
    free(ratio);
    free(drawn);
    return middle;
}
