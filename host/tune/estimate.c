/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate.h"

#include <math.h>
#include <stdlib.h>

/* How much the usual weighs: as if the arm had reached each point so often, at the usual rate. Among
 * profiles rates differ widely, a child is much like its parent. */
static const double USUAL = 0.3, INHERITED = 1.5;
static const double USUAL_TESTS = 4; /* the same for what a test costs */

/* ---- all of them together ---------------------------------------------------------------------- */

static void add_up(struct estimate_pool *pool, const struct search *s, uint32_t *all)
{
    for (size_t i = 0; i < s->arms.count; i++) {
        const struct arm *a = s->arms.data[i];
        pool->cost += a->paid.cost;
        pool->tests += (double)a->tests;
        for (uint32_t p = 0; p < COVER_POINTS; p++)
            all[p] += a->reached[p];
    }
}

/* Chao: as many are hidden as the square of what was reached once, by twice what was reached twice,
 * but not more than were reached. Together they are as likely as what was reached once. */
static void estimate_hidden(struct estimate_pool *pool)
{
    double once = 0, twice = 0, all = (double)pool->points;
    for (size_t i = 0; i < pool->points; i++) {
        once += pool->times[i] == 1;
        twice += pool->times[i] == 2;
    }
    double hidden = fmin(once * once / (2 * fmax(twice, 1)), all);
    pool->worth[pool->points] = hidden;
    pool->times[pool->points] = hidden > 0 ? once / hidden : 1;
    pool->point[pool->points++] = COVER_POINTS;
}

static void fill(struct estimate_pool *pool, const uint32_t *all)
{
    for (uint32_t p = 0; p < COVER_POINTS; p++)
        if (all[p]) {
            pool->point[pool->points] = p;
            pool->once[pool->points] = all[p] == 1;
            pool->worth[pool->points] = 1;
            pool->times[pool->points++] = all[p];
        }
    estimate_hidden(pool);
}

bool estimate_pool_new(struct estimate_pool *pool, const struct search *s)
{
    size_t most = COVER_POINTS + 1;
    uint32_t *all = calloc(most, sizeof *all);
    *pool = (struct estimate_pool){ .point = calloc(most, sizeof *pool->point),
                                    .once = calloc(most, sizeof *pool->once),
                                    .worth = calloc(most, sizeof *pool->worth),
                                    .times = calloc(most, sizeof *pool->times) };
    bool good = all && pool->point && pool->once && pool->worth && pool->times;
    if (good) {
        add_up(pool, s, all);
        fill(pool, all);
    }
    free(all);
    return good;
}

void estimate_pool_free(struct estimate_pool *pool)
{
    free(pool->point);
    free(pool->once);
    free(pool->worth);
    free(pool->times);
    *pool = (struct estimate_pool){ 0 };
}

/* ---- one of them ------------------------------------------------------------------------------- */

/* Tests of the arm that reached a point; of the hidden ones, each in place of those that no other
 * arm's test reached. */
static double times_of(const struct estimate_pool *pool, const struct arm *a, size_t i)
{
    size_t last = pool->points - 1;
    double once = 0;
    if (i < last)
        return a->reached[pool->point[i]];
    for (size_t k = 0; k < last; k++)
        once += pool->once[k] && a->reached[pool->point[k]];
    return pool->worth[last] > 0 ? once / pool->worth[last] : 0;
}

/* Where nothing was run, what is usual is all that there is. */
void estimate_arm(const struct estimate_pool *pool, const struct arm *a,
                  struct estimate_rate *rates)
{
    if (a->parent)
        estimate_arm(pool, a->parent, rates);
    if (a->parent && !a->tests)
        return;
    double weight = a->parent ? INHERITED : USUAL;
    for (size_t i = 0; i < pool->points; i++) {
        double usual = a->parent ? (double)rates[i].shape / (double)rates[i].cost
                                 : pool->times[i] / fmax(pool->cost, 1);
        rates[i] = (struct estimate_rate){ (float)(weight + times_of(pool, a, i)),
                                           (float)(weight / usual + a->paid.cost) };
    }
}

double estimate_cost(const struct estimate_pool *pool, const struct arm *a)
{
    double usual = a->parent ? estimate_cost(pool, a->parent) : pool->cost / fmax(pool->tests, 1);
    return (fmax(usual, 1) * USUAL_TESTS + a->paid.cost) / (USUAL_TESTS + (double)a->tests);
}
