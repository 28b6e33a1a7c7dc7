/* SPDX-License-Identifier: Apache-2.0 */
/* An arm of the search: a setting, where it comes from, and what its tests brought. */
#ifndef HOST_ARM_H
#define HOST_ARM_H

#include "bandit.h"
#include "cover/cover.h"
#include "mutate.h"

struct arm {
    struct bias_profile setting;
    struct bias bias;         /* with that alone */
    const struct arm *parent; /* NULL: it is a profile of the bias that is tuned */
    const struct arm *other;  /* crossed with; NULL: one key is moved */
    bool alive;               /* may be pulled */
    struct bandit_arm score;  /* what counts now */
    struct bandit_arm paid;   /* new points and cost in all */
    uint32_t usual_weight;    /* of a profile of the bias */
    uint64_t tests, pulls;
    uint16_t reached[COVER_POINTS]; /* tests that reached each point, at most UINT16_MAX */
};

/* Of a profile of the bias; NULL: out of memory. */
struct arm *arm_new(const struct bias *base, const struct bias_profile *profile);
/* Of another arm with one key moved, or crossed with `other` if that is not NULL. NULL: there is none
 * that is valid, or memory is out. */
struct arm *arm_child(const struct mutate_plan *plan, const struct arm *parent,
                      const struct arm *other, uint64_t number, struct random *r);
void arm_free(struct arm *a);

/* A test more. */
void arm_count(struct arm *a, const struct cover_hits *hits);
/* The profile of the bias that it descends from. */
const struct arm *arm_root(const struct arm *a);

#endif
