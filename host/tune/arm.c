/* SPDX-License-Identifier: Apache-2.0 */
#include "arm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* So much of what is known of its parent is believed of a child. */
static const double INHERITED = 0.25;

static struct arm *settle(struct arm *a, const struct bias *base)
{
    a->setting.weight = 1;
    a->setting.weight_at = (struct bias_origin){ "", 0, 1 };
    a->bias = setting_bias(base, &a->setting);
    a->alive = true;
    return a;
}

struct arm *arm_new(const struct bias *base, const struct bias_profile *profile)
{
    struct arm *a = calloc(1, sizeof *a);
    if (a && setting_copy(&a->setting, profile, profile->name)) {
        a->usual_weight = profile->weight;
        return settle(a, base);
    }
    free(a);
    return NULL;
}

const struct arm *arm_root(const struct arm *a)
{
    while (a->parent)
        a = a->parent;
    return a;
}

struct arm *arm_child(const struct mutate_plan *plan, const struct arm *parent,
                      const struct arm *other, uint64_t number, struct random *r)
{
    struct arm *a = calloc(1, sizeof *a);
    struct move move;
    char name[40];
    if (!a)
        return NULL;
    snprintf(name, sizeof name, "%.24s-%" PRIu64, arm_root(parent)->setting.name, number);
    bool good = other ? mutate_cross(plan, &parent->setting, &other->setting, name, r, &a->setting)
                      : mutate_one(plan, &parent->setting, name, r, &a->setting, &move);
    if (!good) {
        free(a);
        return NULL;
    }
    a->parent = parent;
    a->other = other;
    a->score = parent->score;
    bandit_fade(&a->score, INHERITED);
    return settle(a, plan->base);
}

void arm_free(struct arm *a)
{
    setting_free(&a->setting);
    free(a);
}

void arm_count(struct arm *a, const struct cover_hits *hits)
{
    a->tests++;
    for (uint32_t p = 0; p < COVER_POINTS; p++)
        if (cover_is_hit(hits, p) && a->reached[p] < UINT16_MAX)
            a->reached[p]++;
}
