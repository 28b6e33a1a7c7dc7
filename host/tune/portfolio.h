/* SPDX-License-Identifier: Apache-2.0 */
/* A few arms and how often each is to be run, chosen so that together they reach the most.
 *
 * An arm reaches a point at a rate of its own, known from its tests. Of a mix of arms that shares
 * out a cost C the number of points reached can then be expected: the sum over all points of
 * 1 - exp(-C x (sum over the arms of share x rate)). It is concave in the shares, so the best mix is
 * found by steps towards the arm that adds the most (Frank and Wolfe, 1956), no matter where it
 * begins. What many arms reach counts once: the mix has arms that complete one another. What an arm
 * would reach that it has not reached yet is estimated from what it reached once and twice (Chao,
 * 1984), or arms whose tests are all alike would seem as good as those of many kinds.
 *
 * A share of the cost is not chosen: it stays with the bias as it was, so that what only that finds
 * is found, if later. */
#ifndef HOST_PORTFOLIO_H
#define HOST_PORTFOLIO_H

#include "search.h"

enum { PORTFOLIO_MOST = 12 };

struct portfolio_plan {
    double horizon; /* the cost C */
    double keep;    /* share of it that stays: 0 to 1 */
    int most;       /* arms that are chosen: 1 to PORTFOLIO_MOST */
};

struct portfolio {
    LIST(const struct arm *) arms; /* those chosen, the greatest share first, then those kept */
    LIST(struct bias_profile) profiles; /* of each, with its weight; made of what is the arm's */
    int chosen;
    struct bias bias; /* of these */
};

/* False: out of memory. Free it either way. */
bool portfolio_choose(struct portfolio *p, const struct search *s,
                      const struct portfolio_plan *plan);
void portfolio_free(struct portfolio *p);

#endif
