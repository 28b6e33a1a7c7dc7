/* SPDX-License-Identifier: Apache-2.0 */
/* Biases against each other at equal cost, with tests that none of them has seen: what each reaches,
 * over what it cost, and whether that is more than chance.
 *
 * A test that is under way at the cost that all of them had counts by the part of it that was over:
 * else whoever has few long tests would lose by where they happen to end. */
#ifndef HOST_CONTEST_H
#define HOST_CONTEST_H

#include "plot.h"
#include "search.h"

enum { CONTESTANTS = 3 };

/* What some tests in a row brought: one of them each, unless there are many. */
struct contest_sample {
    double cost;
    struct cover_hits hits;
};

struct contestant {
    const struct bias *bias;
    double cost;
    uint64_t tests, reached;
    uint64_t next; /* number of its next test */
    struct cover_hits seen;
    struct plot_curve curve; /* its name, and points reached over cost */
    LIST(struct contest_sample) samples;
    uint64_t sample_tests, sampled; /* of a sample; of the last one so far */
};

struct contest {
    struct contestant who[CONTESTANTS];
    int count;
    double cost;                    /* that each may cause, at most; INFINITY: no limit */
    double usual;                   /* what a test costs, before any was run */
    const struct search_plan *plan; /* the machine, and the seed of its tests */
};

void contest_add(struct contest *c, const char *name, const struct bias *bias);
void contest_free(struct contest *c);
/* The batches of the next round, of at most so many tests in all; how many, 0: all are done. Tests
 * that the machine cannot run are passed over. */
int contest_choose(struct contest *c, uint64_t tests, struct batch batches[MOST_BATCHES]);
bool contest_take(struct contest *c, const struct batch *batches, int count,
                  const struct tune_round *round); /* false: out of memory */
/* The cost that all of them had, and the points that one had reached by then. */
double contest_cost(const struct contest *c);
uint64_t contest_reached(const struct contest *c, const struct contestant *who);
/* How often the first is ahead of the second by so much, or more, when the tests of both are dealt
 * out by chance: above 0 and up to 1. Negative: out of memory. */
double contest_chance(const struct contest *c, uint64_t seed);

#endif
