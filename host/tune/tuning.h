/* SPDX-License-Identifier: Apache-2.0 */
/* A run of `ordeal tune` from round to round: the search (search.h), the portfolio that comes of it
 * (portfolio.h), and that against the bias as it was, at equal cost (contest.h).
 *
 * It runs nothing itself. Whoever does asks for batches, runs them, and hands in what they brought;
 * all that it decides follows from its plan and from that. */
#ifndef HOST_TUNING_H
#define HOST_TUNING_H

#include "contest.h"
#include "portfolio.h"

/* What it may take; 0: no limit. At least one is given. */
struct tuning_budget {
    uint64_t cost, tests, milliseconds;
};

enum { UNIFORM_PROFILES = 16 };

struct tuning_plan {
    struct search_plan search;
    struct tuning_budget budget;
    int profiles;          /* that are chosen, at most */
    double keep;           /* share that stays with the bias as it was */
    bool compare, uniform; /* with the bias as it was; with uniform random settings, too */
};

enum tuning_phase { TUNING_SEARCH, TUNING_CONTEST, TUNING_DONE };

struct tuning {
    struct tuning_plan plan;
    enum tuning_phase phase;
    struct search search;
    struct portfolio portfolio; /* when the search is over */
    struct contest contest;
    struct bias uniform; /* a bias of uniform random settings, if asked for */
    struct bias_profile uniform_profiles[UNIFORM_PROFILES];
    struct cover *cover;     /* of all tests */
    struct plot_curve curve; /* points reached over cost, while it searches */
    double cost;             /* so far; of these the search: */
    double search_cost;
    uint64_t tests, milliseconds, results[TUNE_RESULTS];
};

bool tuning_new(struct tuning *t, const struct tuning_plan *plan); /* false: out of memory */
void tuning_free(struct tuning *t);
/* The batches of the next round; how many. 0: it is done; -1: out of memory. */
int tuning_choose(struct tuning *t, struct batch batches[MOST_BATCHES]);
bool tuning_take(struct tuning *t, const struct batch *batches, int count,
                 const struct tune_round *round); /* false: out of memory */
/* How much of what it may take is used up: 0 to 1. */
double tuning_share(const struct tuning *t);
/* The portfolio as of now, if the search is not over. False: out of memory. */
bool tuning_conclude(struct tuning *t);

/* `count` profiles of uniform random settings, whose tests the machine runs; false: none were found,
 * or memory is out. */
bool tuning_uniform(const struct mutate_plan *plan, const struct abilities *can, uint64_t seed,
                    struct bias_profile *profiles, size_t count);

#endif
