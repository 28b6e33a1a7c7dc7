/* SPDX-License-Identifier: Apache-2.0 */
#include "portfolio.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 400, CANDIDATES = 96, LEAST_TESTS = 8, ALL_WEIGHTS = 1000 };

/* As if each arm had run so many tests more that reached nothing: a point that was reached once in
 * a few tests may have been luck. */
static const double DOUBT = 4;

/* ---- candidates -------------------------------------------------------------------------------- */

struct candidate {
    const struct arm *arm;
    double alone; /* points it is expected to reach by itself */
    double share;
    double hidden, hidden_rate; /* points that it has not reached yet, and the rate of each */
    float *rate;                /* of each point, for the whole horizon */
};

struct mix {
    struct candidate *candidates;
    size_t count;
    double *kept;     /* of each point: how often what is kept reaches it */
    double *expected; /* how often all of it does */
};

static double cost_of_test(const struct arm *a) { return a->paid.cost / (double)a->tests; }

static bool has_run(const struct arm *a) { return a->tests > 0 && a->paid.cost > 0; }

/* Tests that a cost pays for, for each test that is known. */
static double scale_of(const struct arm *a, double cost)
{
    return cost / cost_of_test(a) / ((double)a->tests + DOUBT);
}

/* Chao: as many are hidden as the square of what was reached once, by twice what was reached twice,
 * but not more than were reached. Together they are as likely as what was reached once. */
static void estimate_hidden(struct candidate *c, double scale)
{
    double once = 0, twice = 0, all = 0;
    for (uint32_t p = 0; p < COVER_POINTS; p++) {
        once += c->arm->reached[p] == 1;
        twice += c->arm->reached[p] == 2;
        all += c->arm->reached[p] > 0;
    }
    c->hidden = fmin(once * once / (2 * fmax(twice, 1)), all);
    c->hidden_rate = c->hidden > 0 ? scale * once / c->hidden : 0;
}

static void fill(struct candidate *c, double cost)
{
    double scale = scale_of(c->arm, cost);
    estimate_hidden(c, scale);
    c->alone = c->hidden * (1 - exp(-c->hidden_rate));
    for (uint32_t p = 0; p < COVER_POINTS; p++) {
        c->rate[p] = (float)(scale * c->arm->reached[p]);
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
static bool find_candidates(struct mix *m, const struct search *s, double cost)
{
    size_t count = 0;
    m->candidates = calloc(s->arms.count, sizeof *m->candidates);
    bool good = m->candidates;
    for (size_t i = 0; good && i < s->arms.count; i++) {
        if (!has_run(s->arms.data[i]) || s->arms.data[i]->tests < LEAST_TESTS)
            continue;
        struct candidate c = { .arm = s->arms.data[i],
                               .rate = calloc(COVER_POINTS, sizeof *c.rate) };
        good = c.rate;
        if (good)
            fill(&c, cost);
        m->candidates[count++] = c;
    }
    if (count)
        qsort(m->candidates, count, sizeof *m->candidates, by_alone);
    m->count = count < CANDIDATES ? count : CANDIDATES;
    if (good)
        free_candidates(m->candidates, m->count, count);
    return good;
}

static void mix_free(struct mix *m)
{
    if (m->candidates)
        free_candidates(m->candidates, 0, m->count);
    free(m->candidates);
    free(m->kept);
    free(m->expected);
}

/* ---- what is kept ------------------------------------------------------------------------------ */

/* Of the tests of the bias as it was, how many are of this profile: 0 to 1. */
static double usual_share(const struct search *s, size_t root)
{
    double all = 0;
    for (size_t i = 0; i < s->roots; i++)
        all += s->arms.data[i]->usual_weight;
    return s->arms.data[root]->usual_weight / all;
}

/* What such a test costs on average, by those profiles that were run. */
static double usual_cost(const struct search *s)
{
    double cost = 0, share = 0;
    for (size_t i = 0; i < s->roots; i++)
        if (has_run(s->arms.data[i])) {
            cost += usual_share(s, i) * cost_of_test(s->arms.data[i]);
            share += usual_share(s, i);
        }
    return share > 0 ? cost / share : 1;
}

static void fill_kept(struct mix *m, const struct search *s, double cost)
{
    double tests = cost / usual_cost(s);
    for (size_t i = 0; i < s->roots; i++) {
        const struct arm *a = s->arms.data[i];
        for (uint32_t p = 0; has_run(a) && p < COVER_POINTS; p++)
            m->kept[p] += tests * usual_share(s, i) * a->reached[p] / ((double)a->tests + DOUBT);
    }
}

/* ---- the best mix ------------------------------------------------------------------------------ */

/* Points more for a little more of this arm. */
static double gain(const struct mix *m, const struct candidate *c)
{
    double sum = c->hidden * c->hidden_rate * exp(-c->share * c->hidden_rate);
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
        m->expected[p] += by * (m->kept[p] + m->candidates[towards].rate[p] - m->expected[p]);
}

static void find_best(struct mix *m)
{
    memcpy(m->expected, m->kept, COVER_POINTS * sizeof *m->expected);
    for (size_t i = 0; i < m->count; i++)
        m->candidates[i].share = 0;
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

/* Leaves those with the greatest shares, and shares out again. */
static void leave_few(struct mix *m, size_t most)
{
    qsort(m->candidates, m->count, sizeof *m->candidates, by_share);
    size_t count = m->count < most ? m->count : most;
    free_candidates(m->candidates, count, m->count);
    m->count = count;
    find_best(m);
    qsort(m->candidates, m->count, sizeof *m->candidates, by_share);
}

/* ---- the portfolio ----------------------------------------------------------------------------- */

/* Weights are of tests, shares of cost: for a cost of 1, so many tests. */
static bool add(struct portfolio *p, const struct arm *a, double tests, double *weights)
{
    for (size_t i = 0; i < p->arms.count; i++)
        if (p->arms.data[i] == a) {
            weights[i] += tests;
            return true;
        }
    weights[p->arms.count] = tests;
    return LIST_PUSH(&p->arms, a) && LIST_PUSH(&p->profiles, a->setting);
}

static bool add_all(struct portfolio *p, const struct mix *m, const struct search *s, double keep,
                    double *weights)
{
    bool good = true;
    double usual = usual_cost(s);
    for (size_t i = 0; good && i < m->count && m->candidates[i].share > 0.001; i++) {
        const struct candidate *c = &m->candidates[i];
        good = add(p, c->arm, (1 - keep) * c->share / cost_of_test(c->arm), weights);
    }
    p->chosen = (int)p->arms.count;
    for (size_t i = 0; good && keep > 0 && i < s->roots; i++)
        good = add(p, s->arms.data[i], keep * usual_share(s, i) / usual, weights);
    return good;
}

static bool make_bias(struct portfolio *p, const struct mix *m, const struct search *s, double keep)
{
    double *weights = calloc(s->arms.count + 1, sizeof *weights), all = 0;
    bool good = weights && add_all(p, m, s, keep, weights);
    for (size_t i = 0; good && i < p->arms.count; i++)
        all += weights[i];
    for (size_t i = 0; good && i < p->arms.count; i++)
        p->profiles.data[i].weight = (uint32_t)fmax(1, floor(weights[i] / all * ALL_WEIGHTS + 0.5));
    p->bias = *s->plan.base;
    p->bias.profiles.data = p->profiles.data;
    p->bias.profiles.count = p->profiles.count;
    p->bias.profiles.capacity = 0;
    free(weights);
    return good;
}

bool portfolio_choose(struct portfolio *p, const struct search *s,
                      const struct portfolio_plan *plan)
{
    struct mix m = { .kept = calloc(COVER_POINTS, sizeof *m.kept),
                     .expected = calloc(COVER_POINTS, sizeof *m.expected) };
    assert(plan->most > 0 && plan->most <= PORTFOLIO_MOST && plan->keep >= 0 && plan->keep <= 1);
    portfolio_free(p);
    bool good = m.kept && m.expected && find_candidates(&m, s, (1 - plan->keep) * plan->horizon);
    if (good && m.count) {
        fill_kept(&m, s, plan->keep * plan->horizon);
        find_best(&m);
        leave_few(&m, (size_t)plan->most);
    }
    good = good && make_bias(p, &m, s, m.count ? plan->keep : 1); /* all of it stays */
    mix_free(&m);
    return good;
}

void portfolio_free(struct portfolio *p)
{
    LIST_FREE(&p->arms);
    LIST_FREE(&p->profiles);
    *p = (struct portfolio){ 0 };
}
