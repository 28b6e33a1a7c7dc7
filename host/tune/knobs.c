/* SPDX-License-Identifier: Apache-2.0 */
#include "knobs.h"

#include <math.h>

static const char *const levels[] = { "0", "1", "2", "3", "4", "5", "6", "7" };

static void add_value(struct knob *k, const char *value)
{
    if (k->count < KNOB_VALUES)
        k->value[k->count++] = value;
}

struct knobs knobs_of(const struct target *target, void *machine)
{
    struct knobs k = {
        .knob = { [KNOB_DELAY] = { .option = "--delay" }, [KNOB_SIZE] = { .option = "--sizes" } }
    };
    for (int i = 0; i < KNOBS; i++)
        add_value(&k.knob[i], "any");
    if (target->delay && target->delay(machine, -1))
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
            add_value(&k.knob[KNOB_DELAY], levels[i]);
    if (target->sizes && target->sizes(machine, 0) && target->sizes(machine, 1))
        for (int i = 0; target->sizes(machine, i); i++)
            add_value(&k.knob[KNOB_SIZE], target->sizes(machine, i));
    return k;
}

static int draw(const struct knob *k, struct random *r)
{
    struct bandit_arm all = { 0, 0 };
    double most = -1;
    int best = 0;
    for (int i = 0; i < k->count; i++)
        bandit_pay(&all, k->score[i].points, k->score[i].cost);
    struct bandit_prior prior = bandit_prior(all.points, all.cost);
    for (int i = 0; k->count > 1 && i < k->count; i++) {
        double rate = bandit_draw(&k->score[i], &prior, r);
        if (rate > most) {
            most = rate;
            best = i;
        }
    }
    return best;
}

struct knobs_at knobs_draw(const struct knobs *k, struct random *r)
{
    struct knobs_at at;
    for (int i = 0; i < KNOBS; i++)
        at.value[i] = draw(&k->knob[i], r);
    return at;
}

void knobs_pay(struct knobs *k, const struct knobs_at *at, double points, double fresh, double cost)
{
    for (int i = 0; i < KNOBS; i++) {
        bandit_pay(&k->knob[i].score[at->value[i]], points, cost);
        bandit_pay(&k->knob[i].paid[at->value[i]], fresh, cost);
    }
}

void knobs_fade(struct knobs *k, double keep)
{
    for (int i = 0; i < KNOBS; i++)
        for (int n = 0; n < k->knob[i].count; n++)
            bandit_fade(&k->knob[i].score[n], keep);
}

/* ---- advice ---------------------------------------------------------------------------------- */

void knobs_weigh(struct knobs *k, const struct knobs_at *at, double fresh, double expected)
{
    for (int i = 0; i < KNOBS; i++) {
        struct knob_evidence *e = &k->knob[i].evidence[at->value[i]];
        e->fresh += fresh;
        e->expected += expected;
        e->square += (fresh - expected) * (fresh - expected);
        e->batches++;
    }
}

/* As often as it is asked, of some values of some knobs, chance alone should never say so; and it
 * is to be worth it. What batches brought is seen to vary far more than Poisson's counts, so their
 * own squares say how much. */
static bool is_clear(const struct knob_evidence *e)
{
    static const double SURE = 3.5, WORTH = 1.25;
    enum { ENOUGH = 20 };
    return e->batches >= ENOUGH && e->fresh > WORTH * e->expected
        && e->fresh - e->expected > SURE * sqrt(e->square);
}

int knob_best(const struct knob *k, double *times)
{
    int best = -1;
    for (int i = 0; i < k->count; i++) {
        double ratio = k->evidence[i].expected > 0 ? k->evidence[i].fresh / k->evidence[i].expected
                                                   : 0;
        if (is_clear(&k->evidence[i]) && (best < 0 || ratio > *times)) {
            best = i;
            *times = ratio;
        }
    }
    return best;
}

struct test_knobs knobs_setting(const struct knobs *k, const struct knobs_at *at)
{
    int size = at->value[KNOB_SIZE];
    return (struct test_knobs){ .size = size ? k->knob[KNOB_SIZE].value[size] : NULL,
                                .delay = (uint32_t)at->value[KNOB_DELAY] };
}
