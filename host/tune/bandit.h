/* SPDX-License-Identifier: Apache-2.0 */
/* Which arm to pull: Thompson sampling with discount.
 *
 * An arm pays points at a rate of its own, so many for a cost: what it pays is Poisson of rate times
 * cost, and what is known of the rate is Gamma of what it paid and cost so far. Whoever chooses
 * draws a rate for each arm from that and takes the best: arms that pay are pulled often, those of
 * which little is known now and then. What was paid long ago counts less and less, since new
 * coverage becomes rarer for all of them (Russo et al., "A Tutorial on Thompson Sampling", 2018). */
#ifndef HOST_BANDIT_H
#define HOST_BANDIT_H

#include "base/random.h"

struct bandit_arm {
    double points, cost;
}; /* faded sums */

/* What is believed of an arm that was never pulled: so many points for such a cost. */
struct bandit_prior {
    double points, cost;
};

static inline void bandit_pay(struct bandit_arm *a, double points, double cost)
{
    a->points += points;
    a->cost += cost;
}

static inline void bandit_fade(struct bandit_arm *a, double keep)
{
    a->points *= keep;
    a->cost *= keep;
}

/* An arm like the others together: they paid `points` for `cost`. */
struct bandit_prior bandit_prior(double points, double cost);
/* A rate that the arm may have. */
double bandit_draw(const struct bandit_arm *a, const struct bandit_prior *prior, struct random *r);

/* Gamma of this shape, above 0, and scale 1. */
double bandit_gamma(double shape, struct random *r);

#endif
