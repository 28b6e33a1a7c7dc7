/* SPDX-License-Identifier: Apache-2.0 */
/* What a few measurements of each of several bugs say, and how sure that is. */
#ifndef ZOO_STATISTICS_H
#define ZOO_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
    double low, high;
};

/* Of `count` numbers, which it puts in order. */
double median(double *numbers, size_t count);

/* What each of `seeds` runs cost for each of `bugs`: cost[bug * seeds + seed], all above 0. With
 * `found`, whether it was for something, a bug costs what all its runs did for each of those that
 * found it, as if the last had where none did: what a bug is expected to cost if chance has no
 * memory. Without, it costs the mean of its runs. */
struct costs {
    const double *cost;
    size_t bugs, seeds;
    const bool *found; /* or NULL */
};

/* The geometric mean over bugs. */
double costs_mean(const struct costs *c);
/* How many times less `b` costs than `a`, and the middle 95 % of that when bugs, and seeds of each,
 * are drawn again with replacement, the same of both, `draws` times. */
double costs_ratio(const struct costs *a, const struct costs *b);
struct interval costs_ratio_interval(const struct costs *a, const struct costs *b, size_t draws,
                                     uint64_t seed);

#endif
