/* SPDX-License-Identifier: Apache-2.0 */
#include "portfolio.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 400, CANDIDATES = 96, LEAST_TESTS = 8 };

/* As if each arm had run so many tests more that reached nothing: a point that was reached once in
 * a few tests may have been luck. */
static const double DOUBT = 4;

/* ---- candidates -------------------------------------------------------------------------------- */

struct candidate {
    const struct arm *arm;
    double alone; /* points it is expected to reach by itself */
    double share;
    float *rate; /* of each point, for the whole horizon */
};

struct mix {
    struct candidate *candidates;
    size_t count;
    double *expected; /* of each point: how often it is reached */
};

static double cost_of_test(const struct arm *a) { return a->paid.cost / (double)a->tests; }

static void fill_rates(struct candidate *c, double horizon)
{
    double tests = horizon / cost_of_test(c->arm);
    for (uint32_t p = 0; p < COVER_POINTS; p++) {
        c->rate[p] = (float)(tests * c->arm->reached[p] / ((double)c->arm->tests + DOUBT));
        c->alone += 1 - exp(-c->rate[p]);
    }
}

static int by_alone(const void *a, const void *b)
{
    double x = ((const struct candidate *)a)->alone, y = ((const struct candidate *)b)->alone;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void free_candidates(struct candidate *c, size_t from, size_t count)
{
    for (size_t i = from; i < count; i++)
        free(c[i].rate);
}

/* Those of which enough is known, the best of them first. */
static bool find_candidates(struct mix *m, const struct search *s, double horizon)
{
    size_t count = 0;
    m->candidates = calloc(s->arms.count, sizeof *m->candidates);
    m->expected = calloc(COVER_POINTS, sizeof *m->expected);
    bool good = m->candidates && m->expected;
    for (size_t i = 0; good && i < s->arms.count; i++) {
        const struct arm *a = s->arms.data[i];
        if (a->tests < LEAST_TESTS || a->paid.cost <= 0)
            continue;
        struct candidate c = { .arm = a, .rate = calloc(COVER_POINTS, sizeof *c.rate) };
        good = c.rate;
        if (good)
            fill_rates(&c, horizon);
        m->candidates[count++] = c;
    }
    if (count)
        qsort(m->candidates, count, sizeof *m->candidates, by_alone);
    m->count = count < CANDIDATES ? count : CANDIDATES;
    free_candidates(m->candidates, m->count, count);
    return good;
}

static void mix_free(struct mix *m)
{
    if (m->candidates)
        free_candidates(m->candidates, 0, m->count);
    free(m->candidates);
    free(m->expected);
}

/* ---- the best mix ------------------------------------------------------------------------------ */

/* Points more for a little more of this arm. */
static double gain(const struct mix *m, const struct candidate *c)
{
    double sum = 0;
    for (uint32_t p = 0; p < COVER_POINTS; p++)
        if (c->rate[p] > 0)
            sum += c->rate[p] * exp(-m->expected[p]);
    return sum;
}

static void step(struct mix *m, size_t towards, double by)
{
    for (size_t i = 0; i < m->count; i++)
        m->candidates[i].share *= 1 - by;
    m->candidates[towards].share += by;
    for (uint32_t p = 0; p < COVER_POINTS; p++)
        m->expected[p] += by * (m->candidates[towards].rate[p] - m->expected[p]);
}

static void find_best(struct mix *m)
{
    for (int i = 0; i < STEPS; i++) {
        size_t best = 0;
        double most = -1;
        for (size_t k = 0; k < m->count; k++) {
            double g = gain(m, &m->candidates[k]);
            if (g > most) {
                most = g;
                best = k;
            }
        }
        step(m, best, 2.0 / (i + 2));
    }
}

static int by_share(const void *a, const void *b)
{
    double x = ((const struct candidate *)a)->share, y = ((const struct candidate *)b)->share;
    return x < y ? 1 : x > y ? -1 : by_alone(a, b);
}

/* Leaves those with the greatest shares, which are shared out again. */
static void leave_few(struct mix *m, size_t most)
{
    qsort(m->candidates, m->count, sizeof *m->candidates, by_share);
    size_t count = m->count < most ? m->count : most;
    free_candidates(m->candidates, count, m->count);
    m->count = count;
    memset(m->expected, 0, COVER_POINTS * sizeof *m->expected);
    for (size_t i = 0; i < m->count; i++)
        m->candidates[i].share = 0;
    find_best(m);
    qsort(m->candidates, m->count, sizeof *m->candidates, by_share);
}

/* ---- the portfolio ----------------------------------------------------------------------------- */

/* Weights are of tests, shares of cost. */
static double weight_of(const struct candidate *c) { return c->share / cost_of_test(c->arm); }

static void make_bias(struct portfolio *p, const struct mix *m, const struct bias *base)
{
    enum { GREATEST = 100 };
    double most = 0;
    for (int i = 0; i < p->count; i++)
        most = fmax(most, weight_of(&m->candidates[i]));
    for (int i = 0; i < p->count; i++) {
        const struct candidate *c = &m->candidates[i];
        p->entry[i].arm = c->arm;
        p->entry[i].share = c->share;
        p->profiles[i] = c->arm->setting;
        p->profiles[i].weight = (uint32_t)fmax(1, floor(weight_of(c) / most * GREATEST + 0.5));
    }
    p->bias = *base;
    p->bias.profiles.data = p->profiles;
    p->bias.profiles.count = (size_t)p->count;
    p->bias.profiles.capacity = 0;
}

bool portfolio_choose(struct portfolio *p, const struct search *s, double horizon, int most)
{
    struct mix m = { 0 };
    *p = (struct portfolio){ 0 };
    assert(most > 0 && most <= PORTFOLIO_MOST);
    bool good = find_candidates(&m, s, horizon);
    if (good && m.count) {
        find_best(&m);
        leave_few(&m, (size_t)most);
        while (p->count < (int)m.count && m.candidates[p->count].share > 0.001)
            p->count++;
        make_bias(p, &m, s->plan.base);
    }
    mix_free(&m);
    return good;
}
