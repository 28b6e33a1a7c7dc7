/* SPDX-License-Identifier: Apache-2.0 */
#include "contest.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { BATCH = 8, SAMPLES = 256, DEALS = 999 };

/* Numbers of tests that the search does not come to. */
static const uint64_t FIRST = UINT64_C(1) << 40;

void contest_add(struct contest *c, const char *name, const struct bias *bias)
{
    assert(c->count < CONTESTANTS);
    c->who[c->count++] = (struct contestant){
        .bias = bias, .curve.name = name, .next = FIRST, .sample_tests = 1
    };
}

void contest_free(struct contest *c)
{
    for (int i = 0; i < c->count; i++) {
        LIST_FREE(&c->who[i].curve.points);
        LIST_FREE(&c->who[i].samples);
    }
    c->count = 0;
}

/* ---- choosing ---------------------------------------------------------------------------------- */

/* Tests of one that fit, by what its tests cost so far: half of them, since some cost much more. */
static uint64_t fitting(const struct contest *c, const struct contestant *who)
{
    double usual = who->tests ? who->cost / (double)who->tests : c->usual;
    double fit = ceil((c->cost - who->cost) / fmax(usual, 1) / 2);
    return fit < BATCH ? (uint64_t)fmax(fit, 0) : BATCH;
}

/* The next of its tests that the machine runs, up to so many. */
static struct batch next_batch(const struct contest *c, struct contestant *who, uint64_t count)
{
    enum { PASSED_OVER = 1000 };
    uint64_t fit = 0;
    for (int i = 0; fit == 0 && i < PASSED_OVER; i++) {
        fit = setting_count_fitting(who->bias, &c->plan->can, c->plan->seed, who->next, count);
        who->next += fit == 0;
    }
    struct batch b = { .bias = who->bias, .first = who->next, .count = fit, .owner = who };
    who->next += fit;
    return b;
}

/* Those that lag behind, so that all have cost about the same whenever it ends. */
int contest_choose(struct contest *c, uint64_t tests, struct batch batches[MOST_BATCHES])
{
    double most = 0;
    int count = 0;
    for (int i = 0; i < c->count; i++)
        most = fmax(most, c->who[i].cost);
    bool level = contest_cost(c) >= fmin(most, c->cost);
    for (int i = 0; i < c->count; i++) {
        struct contestant *who = &c->who[i];
        uint64_t share = tests / (uint64_t)(c->count - i), fit = fitting(c, who);
        uint64_t take = level ? share : tests;
        take = take < fit ? take : fit;
        if (take == 0 || (!level && who->cost >= most))
            continue;
        batches[count] = next_batch(c, who, take);
        tests -= batches[count].count;
        count += batches[count].count > 0;
    }
    return count;
}

/* ---- taking ------------------------------------------------------------------------------------ */

static bool add_point(struct plot_curve *curve, double x, double y)
{
    struct plot_point *last = curve->points.data + curve->points.count;
    if (curve->points.count > 1 && last[-1].y == y && last[-2].y == y) {
        last[-1].x = x; /* level since then: its ends are enough */
        return true;
    }
    return LIST_PUSH(&curve->points, ((struct plot_point){ x, y }));
}

static void add_to_sample(struct contest_sample *to, const struct contest_sample *from)
{
    to->cost += from->cost;
    cover_hits_add(&to->hits, &from->hits);
}

/* Two and two become one. */
static void halve_samples(struct contestant *who)
{
    for (size_t i = 0; i < SAMPLES; i += 2) {
        add_to_sample(&who->samples.data[i], &who->samples.data[i + 1]);
        who->samples.data[i / 2] = who->samples.data[i];
    }
    who->samples.count = SAMPLES / 2;
    who->sample_tests *= 2;
}

static bool add_sample(struct contestant *who, const struct tune_test *t)
{
    struct contest_sample fresh = { (double)t->cost, t->hits };
    if (who->sampled < who->sample_tests && who->samples.count) {
        add_to_sample(&who->samples.data[who->samples.count - 1], &fresh);
        who->sampled++;
        return true;
    }
    if (who->samples.count == SAMPLES)
        halve_samples(who);
    who->sampled = 1;
    return LIST_PUSH(&who->samples, fresh);
}

static bool take_test(struct contestant *who, const struct tune_test *t)
{
    cover_hits_add(&who->seen, &t->hits);
    who->cost += (double)t->cost;
    who->tests++;
    who->reached = cover_hits_count(&who->seen);
    return add_point(&who->curve, who->cost, (double)who->reached) && add_sample(who, t);
}

bool contest_take(struct contest *c, const struct batch *batches, int count,
                  const struct tune_round *round)
{
    (void)c;
    size_t at = 0;
    bool good = true;
    for (int i = 0; i < count; i++)
        for (uint64_t k = 0; good && k < batches[i].count; k++)
            good = take_test(batches[i].owner, &round->tests.data[at++]);
    return good;
}

/* ---- who is ahead ------------------------------------------------------------------------------ */

double contest_cost(const struct contest *c)
{
    double least = c->cost;
    for (int i = 0; i < c->count; i++)
        least = fmin(least, c->who[i].cost);
    return least;
}

uint64_t contest_reached(const struct contest *c, const struct contestant *who)
{
    return (uint64_t)(plot_at(&who->curve, contest_cost(c)) + 0.5);
}

/* Points that samples reach by this cost, taken in order from the first or from the last. */
static double reached_by(const struct contest_sample **samples, size_t count, bool from_last,
                         double cost)
{
    struct cover_hits seen = { { 0 } };
    double before = 0, spent = 0;
    for (size_t i = 0; i < count; i++) {
        const struct contest_sample *s = samples[from_last ? count - 1 - i : i];
        cover_hits_add(&seen, &s->hits);
        double after = cover_hits_count(&seen), left = cost - spent;
        if (s->cost >= left)
            return before + (after - before) * (s->cost > 0 ? left / s->cost : 1);
        before = after;
        spent += s->cost;
    }
    return before;
}

static void shuffle(const struct contest_sample **samples, size_t count, struct random *r)
{
    for (size_t i = count; i > 1; i--) {
        size_t k = random_below(r, (uint32_t)i);
        const struct contest_sample *other = samples[k];
        samples[k] = samples[i - 1];
        samples[i - 1] = other;
    }
}

/* Whoever is dealt to one has the first of them, the other the last. */
double contest_chance(const struct contest *c, uint64_t seed)
{
    const struct contestant *a = &c->who[0], *b = &c->who[1];
    size_t count = a->samples.count + b->samples.count;
    const struct contest_sample **dealt = calloc(count + 1, sizeof *dealt);
    double cost = contest_cost(c);
    int ahead = 0;
    struct random r;
    if (!dealt)
        return -1;
    random_seed(&r, seed, UINT64_C(0x6368616E6365));
    for (size_t i = 0; i < count; i++)
        dealt[i] = i < a->samples.count ? &a->samples.data[i]
                                        : &b->samples.data[i - a->samples.count];
    double lead = reached_by(dealt, a->samples.count, false, cost)
                - reached_by(dealt + a->samples.count, b->samples.count, false, cost);
    for (int i = 0; i < DEALS; i++) {
        shuffle(dealt, count, &r);
        ahead += reached_by(dealt, count, false, cost) - reached_by(dealt, count, true, cost)
              >= lead;
    }
    free(dealt);
    return (1.0 + ahead) / (1 + DEALS);
}
