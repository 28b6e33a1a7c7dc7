/* SPDX-License-Identifier: Apache-2.0 */
#include "bandit.h"

#include <assert.h>
#include <math.h>

/* How much the prior weighs: as if an arm had paid this already. */
static const double PRIOR_POINTS = 1;

/* Above 0 and up to 1. */
static double unit(struct random *r) { return (double)((random_next(r) >> 11) + 1) * 0x1p-53; }

/* Marsaglia's polar method. */
static double normal(struct random *r)
{
    for (;;) {
        double x = 2 * unit(r) - 1, y = 2 * unit(r) - 1, square = x * x + y * y;
        if (square > 0 && square < 1)
            return x * sqrt(-2 * log(square) / square);
    }
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. */
double bandit_gamma(double shape, struct random *r)
{
    assert(shape > 0);
    if (shape < 1)
        return bandit_gamma(shape + 1, r) * pow(unit(r), 1 / shape);
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = normal(r), v = 1 + c * x;
        v = v * v * v;
        if (v > 0 && log(unit(r)) < x * x / 2 + d - d * v + d * log(v))
            return d * v;
    }
}

struct bandit_prior bandit_prior(double points, double cost)
{
    double rate = points > 0 && cost > 0 ? points / cost : 1;
    return (struct bandit_prior){ PRIOR_POINTS, PRIOR_POINTS / rate };
}

double bandit_draw(const struct bandit_arm *a, const struct bandit_prior *prior, struct random *r)
{
    return bandit_gamma(prior->points + a->points, r) / (prior->cost + a->cost);
}
