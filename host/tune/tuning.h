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

/* What is known of the mix that was chosen. */
enum tuning_verdict {
    TUNING_GAIN,         /* it reaches more than the bias as it was, more than by chance */
    TUNING_NO_GAIN,      /* it does not */
    TUNING_TOO_LITTLE,   /* the budget was too small to choose, or to compare */
    TUNING_NOT_COMPARED, /* nobody asked */
    TUNING_UNFINISHED,   /* it goes on */
    TUNING_UNCHOSEN,     /* it goes on, and nothing was chosen yet */
    TUNING_VERDICTS
};

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
    double chance; /* that the tuned bias is ahead by chance alone; 1 while nothing was compared */
    uint64_t tests, milliseconds, results[TUNE_RESULTS];
};

bool tuning_new(struct tuning *t, const struct tuning_plan *plan); /* false: out of memory */
void tuning_free(struct tuning *t);
/* The batches of the next round; how many. 0: it is done; -1: out of memory. */
int tuning_choose(struct tuning *t, struct batch batches[MOST_BATCHES]);
/* What the round brought; of the last batches some tests may be missing. False: out of memory. */
bool tuning_take(struct tuning *t, const struct batch *batches, int count,
                 const struct tune_round *round);
/* Whether a test more of the round at hand is wanted, after those that it has. It ends early where
 * the search has used up its part of what it may take. */
bool tuning_wants(const struct tuning *t, const struct batch *batches, int count,
                  const struct tune_round *round);
/* How much of what it may take is used up: 0 to 1. */
double tuning_share(const struct tuning *t);
/* With fewer tests than these it can hardly learn, or tell, anything. */
uint64_t tuning_least_tests(const struct tuning *t);
enum tuning_verdict tuning_verdict(const struct tuning *t);
/* Whether the mix that was chosen is what comes out, and not the bias as it was. */
bool tuning_keeps_tuned(const struct tuning *t);
/* The portfolio as of now, if the search is not over. False: out of memory. */
bool tuning_conclude(struct tuning *t);

/* `count` profiles of uniform random settings, whose tests the machine runs; false: none were found,
 * or memory is out. */
bool tuning_uniform(const struct mutate_plan *plan, const struct abilities *can, uint64_t seed,
                    struct bias_profile *profiles, size_t count);

#endif
