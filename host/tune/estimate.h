/* SPDX-License-Identifier: Apache-2.0 */
/* How often tests of an arm reach each point, as far as is known from few of them.
 *
 * An arm reaches a point at a rate of its own, so many times for a cost; what is known of the rate
 * is a Gamma distribution. It is counted from all tests of the arm that reached the point, so it
 * does not matter who came first. What a few tests tell is little, so of an arm that was hardly run
 * the usual is believed: of a profile, what all arms together do; of a child, what its parent does.
 * A point that all reach often and this one does not is soon known to be none of its own; that a
 * rare one was reached once may have been luck.
 *
 * What no test has reached yet is estimated from what one test of all has reached, and two (Chao,
 * 1984); arms that brought such points are expected to bring more of them. */
#ifndef HOST_ESTIMATE_H
#define HOST_ESTIMATE_H

#include "search.h"

struct estimate_rate { /* Gamma: its mean is shape / cost */
    float shape, cost;
};

/* What all arms brought. The last of the points stands for all that are hidden. */
struct estimate_pool {
    uint32_t *point; /* that some test has reached */
    bool *once;      /* by no other test */
    double *worth;   /* 1; of the last as many as are expected to be hidden */
    double *times;   /* tests that reached it, of the last: each of those hidden */
    size_t points;
    double cost, tests;
};

bool estimate_pool_new(struct estimate_pool *pool, const struct search *s); /* false: no memory */
void estimate_pool_free(struct estimate_pool *pool);
/* For each of the points. */
void estimate_arm(const struct estimate_pool *pool, const struct arm *a,
                  struct estimate_rate *rates);
/* What a test of the arm costs. */
double estimate_cost(const struct estimate_pool *pool, const struct arm *a);

#endif
