/* SPDX-License-Identifier: Apache-2.0 */
/* Biases against each other at equal cost, with tests that none of them has seen: what each reaches,
 * over what it cost. */
#ifndef HOST_CONTEST_H
#define HOST_CONTEST_H

#include "plot.h"
#include "search.h"

enum { CONTESTANTS = 3 };

struct contestant {
    const struct bias *bias;
    double cost;
    uint64_t tests, reached;
    struct cover_hits seen;
    struct plot_curve curve; /* its name, and points reached over cost */
};

struct contest {
    struct contestant who[CONTESTANTS];
    int count;
    double cost;    /* that each may cause, at most */
    uint64_t batch; /* tests of one in a round */
};

void contest_add(struct contest *c, const char *name, const struct bias *bias);
void contest_free(struct contest *c);
/* The batches of the next round; how many, 0: all are done. */
int contest_choose(struct contest *c, struct batch batches[MOST_BATCHES]);
bool contest_take(struct contest *c, const struct batch *batches, int count,
                  const struct tune_round *round); /* false: out of memory */
/* The cost that all of them had, and the points that one had reached by then. */
double contest_cost(const struct contest *c);
uint64_t contest_reached(const struct contest *c, const struct contestant *who);

#endif
