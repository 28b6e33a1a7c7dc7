/* SPDX-License-Identifier: Apache-2.0 */
/* The search for settings that reach new coverage at the least cost: rounds of batches, each batch
 * tests of one arm, chosen by a bandit from what all rounds before brought (bandit.h).
 *
 * Arms are the profiles of the bias at first. Children of arms that pay come in, with one key moved
 * or crossed with another; those that pay less than others go. When nothing is new any more, what
 * was reached is forgotten for the reward, and the search begins again with the profiles and the
 * best arms so far. All of it follows from the seed and the results. */
#ifndef HOST_SEARCH_H
#define HOST_SEARCH_H

#include "arm.h"
#include "journal.h"
#include "knobs.h"

/* How it goes about it; docs/tuning.md says what was measured. */
struct search_ways {
    uint64_t batches, tests; /* of a round; of a batch */
    double keep;             /* of what was paid, from round to round: 0 to 1 */
    bool rarity;             /* points pay by how few tests reached them, not only the first */
    bool mutate;             /* arms have children */
    uint64_t patience;       /* rounds without anything new before it begins again */
};

struct search_plan {
    const struct bias *base; /* has passed bias_check() */
    struct abilities can;    /* of the machine */
    struct knobs knobs;      /* that it has */
    uint64_t seed;
    struct search_ways ways;
};

struct batch {
    const struct bias *bias;
    uint64_t first, count; /* numbers of its tests */
    void *owner;           /* the arm */
    struct knobs_at knobs; /* how the machine is set */
};
enum { MOST_BATCHES = 64 };

struct search {
    struct search_plan plan;
    struct mutate_plan mutate;
    struct knobs knobs;
    struct random random;
    LIST(struct arm *) arms;                 /* all that there ever were; the profiles first */
    size_t roots, turns;                     /* how many these are; how many had their turn */
    uint32_t reached[COVER_POINTS];          /* tests, since it began again, of whole rounds */
    uint32_t now[COVER_POINTS];              /* and of the round that is taken */
    struct bandit_arm all;                   /* faded sums over all arms */
    uint64_t rounds, tests, quiet, restarts; /* quiet: rounds without anything new */
};

bool search_new(struct search *s, const struct search_plan *plan); /* false: out of memory */
void search_free(struct search *s);
/* The batches of the next round; how many. 0: out of memory. */
int search_choose(struct search *s, struct batch batches[MOST_BATCHES]);
/* What they brought, tests in order. */
void search_take(struct search *s, const struct batch *batches, int count,
                 const struct tune_round *round);

#endif
