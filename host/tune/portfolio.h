/* SPDX-License-Identifier: Apache-2.0 */
/* A few arms and how often each is to be run, chosen so that together they reach the most.
 *
 * An arm reaches a point at a rate of its own, known from its tests. Of a mix of arms that shares
 * out a cost C the number of points reached can then be expected: the sum over all points of
 * 1 - exp(-C x (sum over the arms of share x rate)). It is concave in the shares, so the best mix is
 * found by steps towards the arm that adds the most (Frank and Wolfe, 1956), no matter where it
 * begins. What many arms reach counts once: the mix has arms that complete one another. */
#ifndef HOST_PORTFOLIO_H
#define HOST_PORTFOLIO_H

#include "search.h"

enum { PORTFOLIO_MOST = 12 };

struct portfolio {
    struct {
        const struct arm *arm;
        double share; /* of the cost */
    } entry[PORTFOLIO_MOST];
    int count; /* the greatest share first */
    struct bias_profile profiles[PORTFOLIO_MOST];
    struct bias bias; /* of these, with weights; what they are made of is the arms' */
};

/* At most `most` arms of the search, for a cost of `horizon`. False: out of memory. */
bool portfolio_choose(struct portfolio *p, const struct search *s, double horizon, int most);

#endif
