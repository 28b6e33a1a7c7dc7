/* SPDX-License-Identifier: Apache-2.0 */
/* Settings made from others: one key of the bias moved, two settings crossed, or all keys drawn.
 *
 * Every key of the table can move (bias_keys.h), and the weights of the user's own idioms, but for
 * what --set holds and what the machine cannot do: numbers within their ranges, as far as a test of that kind makes sense (the
 * table `limits`), words to other words, and what a profile leaves to chance wider or narrower.
 * Whatever comes out has passed bias_check(). */
#ifndef HOST_MUTATE_H
#define HOST_MUTATE_H

#include "base/random.h"
#include "setting.h"

struct mutate_plan {
    const struct bias *base;
    uint32_t threads; /* at most, of a test: as many as the machine has harts */
    bool *still;      /* by slot: those that do not move */
};

/* Finds the slots that must stay as they are: those that --set holds, and those that make tests of
 * `from` into some that the machine refuses. False: out of memory. */
bool mutate_plan_new(struct mutate_plan *plan, const struct bias *base,
                     const struct bias_profile *from, const struct abilities *can, uint64_t seed);
void mutate_plan_free(struct mutate_plan *plan);

/* What was moved, from where to where. */
struct move {
    struct bias_vary before, after;
};

/* A copy of `from` under this name with one key moved. False: none was found, or memory is out. */
bool mutate_one(const struct mutate_plan *plan, const struct bias_profile *from, const char *name,
                struct random *r, struct bias_profile *to, struct move *move);
/* A copy of `from` that takes some of what `other` says. */
bool mutate_cross(const struct mutate_plan *plan, const struct bias_profile *from,
                  const struct bias_profile *other, const char *name, struct random *r,
                  struct bias_profile *to);
/* A copy of `from` in which every key is drawn uniformly from its range, one after the other in a
 * random order; those that do not go with what was drawn before are left. */
bool mutate_uniform(const struct mutate_plan *plan, const struct bias_profile *from,
                    const char *name, struct random *r, struct bias_profile *to);

#endif
