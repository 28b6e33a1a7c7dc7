/* SPDX-License-Identifier: Apache-2.0 */
/* A few arms and how often each is to be run, chosen so that together they reach the most.
 *
 * Of a mix of arms that shares out a cost the number of points reached can be expected from what is
 * known of each (estimate.h). It is concave in the shares, so the best mix is found by steps towards
 * the arm that adds the most (Frank and Wolfe, 1956), no matter where it begins. What many arms reach
 * counts once: the mix has arms that complete one another; and where little is known it has many.
 *
 * A child is in it only where less would be expected if any of those it comes from had its place.
 *
 * A share of the cost is not chosen: it stays with the bias as it was, so that what only that finds
 * is found, if later. As long as not every profile was run, nothing is chosen. */
#ifndef HOST_PORTFOLIO_H
#define HOST_PORTFOLIO_H

#include "search.h"

enum { PORTFOLIO_MOST = 12 };

struct portfolio_plan {
    double horizon; /* the cost that is shared out */
    double keep;    /* share of it that stays: 0 to 1 */
    int most;       /* arms that are chosen: 1 to PORTFOLIO_MOST */
};

struct portfolio {
    LIST(const struct arm *) arms; /* those chosen, the greatest share first, then those kept */
    LIST(struct bias_profile) profiles; /* of each, with its weight; made of what is the arm's */
    int chosen;
    double horizon, expected; /* points that all of it is expected to reach by then */
    /* Of each that was chosen: the same if its parent had its place, its grandparent, … */
    LIST(double) instead[PORTFOLIO_MOST];
    struct bias bias; /* of these */
};

/* False: out of memory. Free it either way. */
bool portfolio_choose(struct portfolio *p, const struct search *s,
                      const struct portfolio_plan *plan);
void portfolio_free(struct portfolio *p);

#endif
