/* SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <string.h>

#include "bias_check.h"
#include "program.h"
#include "swarm.h"

/* ---- values -------------------------------------------------------------------------------- */

static const struct bias_profile *profile_at(const struct draw *d, uint32_t i)
{
    return &d->given->profiles.data[i];
}

/* Makes the values drawn those of the test at hand. */
static void put(struct draw *d)
{
    memcpy(d->now.values, d->drawn, sizeof d->now.values);
    for (uint32_t i = 0; i < d->now.idioms.count; i++)
        d->now.idioms.data[i].weight = d->drawn[BIAS_KEY_COUNT + i];
    idioms_weigh(&d->idioms, &d->now);
}

static void set(struct draw *d, const struct bias_vary *v, uint32_t value)
{
    d->drawn[v->slot] = value;
    if (v->slot < BIAS_KEY_COUNT)
        d->now.origins[v->slot] = v->at;
    else
        d->now.idioms.data[v->slot - BIAS_KEY_COUNT].weight_at = v->at;
}

static void start(struct draw *d, uint32_t profile)
{
    uint32_t slots = bias_slots(d->given);
    memcpy(d->drawn, d->starts + (size_t)profile * slots, slots * sizeof *d->drawn);
}

/* What it varies, but for what --set holds: NULL after the last. */
static const struct bias_vary *next_vary(const struct draw *d, const struct bias_profile *p,
                                         size_t *i)
{
    while (*i < p->varies.count && bias_held(d->given, p->varies.data[*i].slot))
        ++*i;
    return *i < p->varies.count ? &p->varies.data[(*i)++] : NULL;
}

uint32_t draw_extremes(const struct draw *d, uint32_t profile)
{
    uint64_t product = 1;
    size_t i = 0;
    for (const struct bias_vary *v; (v = next_vary(d, profile_at(d, profile), &i)) != NULL;)
        product = product * v->count < UINT32_MAX ? product * v->count : UINT32_MAX;
    return (uint32_t)product;
}

void draw_extreme(struct draw *d, uint32_t profile, uint32_t which)
{
    size_t i = 0;
    start(d, profile);
    for (const struct bias_vary *v; (v = next_vary(d, profile_at(d, profile), &i)) != NULL;) {
        set(d, v, v->value[which % v->count]);
        which /= v->count;
    }
    put(d);
}

static void draw_values(struct draw *d, uint32_t profile, struct random *r)
{
    size_t i = 0;
    start(d, profile);
    for (const struct bias_vary *v; (v = next_vary(d, profile_at(d, profile), &i)) != NULL;) {
        uint32_t value = v->value[0];
        if (v->range)
            value += random_below(r, v->value[1] - v->value[0] + 1);
        else if (v->count > 1)
            value = v->value[random_below(r, v->count)];
        if (v->slot == BIAS_placement_set_stride) /* in whole lines, as its extremes are */
            value -= value % LINE_BYTES;
        set(d, v, value);
    }
    put(d);
}

/* ---- tests --------------------------------------------------------------------------------- */

/* So that it is another sequence than those of the generator and of what is omitted. */
static void seed_profiles(struct random *r, uint64_t seed, uint64_t number)
{
    random_seed(r, seed ^ UINT64_C(0x70726F66696C65), number);
}

uint32_t draw_profile(const struct draw *d, uint64_t seed, uint64_t number)
{
    struct random r;
    seed_profiles(&r, seed, number);
    return d->profiles.count ? choose(&d->profiles, &r) : UINT32_MAX;
}

/* Between extremes that go together there could be values that do not: they are drawn again. */
static void draw_from_profile(struct draw *d, uint64_t seed, uint64_t number)
{
    enum { TRIES = 16 };
    struct random r;
    seed_profiles(&r, seed, number);
    uint32_t profile = choose(&d->profiles, &r);
    bool varies = draw_extremes(d, profile) > 1;
    draw_values(d, profile, &r);
    for (int i = 1; varies && !bias_goes_together(&d->now, &d->idioms, NULL, NULL); i++) {
        if (i == TRIES) {
            draw_extreme(d, profile, 0);
            return;
        }
        draw_values(d, profile, &r);
    }
}

/* What needs something that was left out is taken whole. */
static void omit(struct draw *d, uint64_t seed, uint64_t number)
{
    struct random r;
    random_seed(&r, ~seed, number);
    swarm_omit(&d->now, &r);
    idioms_weigh(&d->idioms, &d->now);
    if (!bias_goes_together(&d->now, &d->idioms, NULL, NULL))
        put(d);
}

bool draw_varies(const struct draw *d) { return d->profiles.count || d->given->test_omit; }

void draw_test(struct draw *d, uint64_t seed, uint64_t number)
{
    if (d->profiles.count)
        draw_from_profile(d, seed, number);
    else
        put(d);
    if (d->now.test_omit)
        omit(d, seed, number);
}

/* ---- making ready -------------------------------------------------------------------------- */

/* The largest value that a slot can have. */
static uint32_t most_of(const struct bias *b, uint32_t slot)
{
    uint32_t most = b->values[slot];
    for (size_t i = 0; i < b->profiles.count; i++)
        for (size_t k = 0; k < b->profiles.data[i].varies.count; k++) {
            const struct bias_vary *v = &b->profiles.data[i].varies.data[k];
            for (uint32_t n = 0; n < v->count; n++)
                if (v->slot == slot && v->value[n] > most)
                    most = v->value[n];
        }
    return most;
}

static bool start_profile(struct draw *d, uint32_t i, bool *kept, struct ordeal_error *e)
{
    const struct bias *b = d->given;
    uint32_t slots = bias_slots(b);
    if (!bias_kept(b, profile_at(d, i), kept, e))
        return false;
    for (uint32_t slot = 0; slot < slots; slot++)
        d->starts[(size_t)i * slots + slot] = kept[slot] ? bias_value(b, slot) : 0;
    choices_add(&d->profiles, i, profile_at(d, i)->weight);
    return true;
}

static bool start_profiles(struct draw *d, struct ordeal_error *e)
{
    bool *kept = calloc(bias_slots(d->given), sizeof *kept), good = kept != NULL;
    if (!good)
        bias_refuse(e, NULL, "out of memory");
    for (uint32_t i = 0; good && i < d->given->profiles.count; i++)
        good = start_profile(d, i, kept, e);
    free(kept);
    return good;
}

bool draw_new(struct draw *d, const struct bias *b, struct ordeal_error *e)
{
    uint32_t slots = bias_slots(b);
    *d = (struct draw){ .given = b, .now = *b };
    d->now.idioms.data = calloc(b->idioms.count + 1, sizeof *d->now.idioms.data);
    d->starts = calloc((size_t)slots * b->profiles.count + 1, sizeof *d->starts);
    d->drawn = calloc(slots, sizeof *d->drawn);
    if (!choices_new(&d->profiles, b->profiles.count) || !d->now.idioms.data || !d->starts
        || !d->drawn)
        return bias_refuse(e, NULL, "out of memory");
    for (size_t i = 0; i < b->idioms.count; i++)
        d->now.idioms.data[i] = b->idioms.data[i];
    for (uint32_t slot = 0; slot < slots; slot++)
        d->drawn[slot] = bias_value(b, slot);
    d->most_locations = most_of(b, BIAS_test_locations);
    d->most_threads = most_of(b, BIAS_test_threads);
    if (!idioms_of_bias(&d->idioms, b, e) || !start_profiles(d, e))
        return false;
    put(d);
    return true;
}

void draw_free(struct draw *d)
{
    choices_free(&d->profiles);
    idioms_free(&d->idioms);
    free(d->now.idioms.data);
    free(d->starts);
    free(d->drawn);
}
