/* SPDX-License-Identifier: Apache-2.0 */
#include "search.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    ALIVE = 48,    /* arms at most, unless the bias has more profiles */
    BORN = 4,      /* in a round, at most */
    CROSSED = 20,  /* percent of them */
    SURVIVORS = 6, /* of a beginning again */
    PULLS = 2,     /* before an arm is given up */
};
static const double GIVEN_UP = 0.7; /* below this share of what arms pay on average */

/* ---- life -------------------------------------------------------------------------------------- */

static bool add_arm(struct search *s, struct arm *a)
{
    if (a && LIST_PUSH(&s->arms, a))
        return true;
    if (a)
        arm_free(a);
    return false;
}

/* A bias without profiles is one. */
static bool add_profiles(struct search *s)
{
    static const struct bias_profile whole = { .name = (char *)"base", .weight = 1 };
    const struct bias *b = s->plan.base;
    bool good = true;
    for (size_t i = 0; good && i < b->profiles.count; i++)
        if (b->profiles.data[i].weight)
            good = add_arm(s, arm_new(b, &b->profiles.data[i]));
    if (!b->profiles.count)
        good = add_arm(s, arm_new(b, &whole));
    s->roots = s->arms.count;
    return good;
}

bool search_new(struct search *s, const struct search_plan *plan)
{
    *s = (struct search){ .plan = *plan, .knobs = plan->knobs };
    random_seed(&s->random, plan->seed, UINT64_C(0x74756E65)); /* another sequence than tests' */
    return add_profiles(s)
        && mutate_plan_new(&s->mutate, plan->base, &s->arms.data[0]->setting, &plan->can,
                           plan->seed);
}

void search_free(struct search *s)
{
    for (size_t i = 0; i < s->arms.count; i++)
        arm_free(s->arms.data[i]);
    LIST_FREE(&s->arms);
    mutate_plan_free(&s->mutate);
}

/* ---- choosing ---------------------------------------------------------------------------------- */

/* The arm with the best of the rates drawn. */
static struct arm *draw_arm(struct search *s)
{
    struct bandit_prior prior = bandit_prior(s->all.points, s->all.cost);
    struct arm *best = NULL;
    double best_rate = -1;
    for (size_t i = 0; i < s->arms.count; i++) {
        struct arm *a = s->arms.data[i];
        double rate = a->alive ? bandit_draw(&a->score, &prior, &s->random) : -1;
        if (rate > best_rate) {
            best = a;
            best_rate = rate;
        }
    }
    assert(best); /* the profiles live for ever */
    return best;
}

static size_t count_alive(const struct search *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->arms.count; i++)
        n += s->arms.data[i]->alive;
    return n;
}

static bool breed(struct search *s)
{
    size_t room = ALIVE > s->roots + BORN ? ALIVE : s->roots + BORN, alive = count_alive(s);
    for (int i = 0; s->plan.ways.mutate && i < BORN && alive < room; i++) {
        const struct arm *parent = draw_arm(s), *other = NULL;
        if (random_chance(&s->random, CROSSED))
            other = draw_arm(s);
        struct arm *child = arm_child(&s->mutate, parent, other == parent ? NULL : other,
                                      s->arms.count, &s->random);
        if (child && !add_arm(s, child))
            return false;
        alive += child != NULL;
    }
    return true;
}

/* An arm whose tests the machine runs; profiles are not asked, since whoever runs them refuses. */
static struct arm *choose_fitting(struct search *s, uint64_t first)
{
    for (;;) {
        struct arm *a = draw_arm(s);
        if (!a->parent
            || setting_fits(s->plan.base, &a->setting, &s->plan.can, s->plan.seed, first,
                            s->plan.ways.tests))
            return a;
        a->alive = false;
    }
}

/* At first every profile has its turn. */
static struct arm *choose(struct search *s, uint64_t first)
{
    return s->turns < s->roots ? s->arms.data[s->turns++] : choose_fitting(s, first);
}

/* The first round has all profiles, or those that come late would find less that is new. */
static int round_size(const struct search *s)
{
    uint64_t waiting = s->roots - s->turns, batches = s->plan.ways.batches;
    uint64_t size = waiting > batches ? waiting : batches;
    return size < MOST_BATCHES ? (int)size : MOST_BATCHES;
}

int search_choose(struct search *s, struct batch batches[MOST_BATCHES])
{
    const struct search_ways *ways = &s->plan.ways;
    assert(ways->batches <= MOST_BATCHES);
    if (s->turns == s->roots && !breed(s))
        return 0;
    int count = round_size(s);
    for (int i = 0; i < count; i++) {
        uint64_t first = s->tests + (uint64_t)i * ways->tests;
        struct arm *a = choose(s, first);
        batches[i] = (struct batch){ &a->bias, first, ways->tests, a,
                                     knobs_draw(&s->knobs, &s->random) };
    }
    return count;
}

/* ---- results ----------------------------------------------------------------------------------- */

struct reward {
    double points, fresh;
};

/* Of a test: points that no round before reached are shared among the tests of this one that did,
 * so that nobody gains by being first; by rarity others count, too, one divided by the tests that
 * reached them. */
static struct reward reward(const struct search *s, const struct tune_test *t)
{
    struct reward sum = { 0, 0 };
    for (uint32_t p = 0; p < COVER_POINTS; p++)
        if (cover_is_hit(&t->hits, p)) {
            double fresh = s->reached[p] == 0 ? 1.0 / s->now[p] : 0;
            bool seen = s->plan.ways.rarity && s->reached[p];
            sum.fresh += fresh;
            sum.points += seen ? 1.0 / (1 + s->reached[p]) : fresh;
        }
    return sum;
}

static double cost_of(const struct tune_test *tests, size_t count)
{
    double cost = 0;
    for (size_t i = 0; i < count; i++)
        cost += (double)tests[i].cost;
    return cost;
}

/* What the batches of a round brought is weighed against each other. Divided by the root of what
 * all of them did, the first rounds, which bring most, count more, but do not count alone. */
static void weigh(struct search *s, const struct batch *batches, int count, const double *fresh,
                  const struct tune_round *round)
{
    const struct tune_test *tests = round->tests.data;
    double all = 0, cost = cost_of(tests, round->tests.count);
    for (int i = 0; i < count; i++)
        all += fresh[i];
    for (int i = 0; i < count && all > 0 && cost > 0; tests += batches[i++].count)
        knobs_weigh(&s->knobs, &batches[i].knobs, fresh[i] / sqrt(all),
                    sqrt(all) * cost_of(tests, batches[i].count) / cost);
}

/* Returns how much of what it reached is new. */
static double take_batch(struct search *s, const struct batch *b, const struct tune_test *tests)
{
    struct arm *a = b->owner;
    double fresh = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct reward r = reward(s, &tests[i]);
        bandit_pay(&a->score, r.points, (double)tests[i].cost);
        bandit_pay(&s->all, r.points, (double)tests[i].cost);
        bandit_pay(&a->paid, r.fresh, (double)tests[i].cost);
        knobs_pay(&s->knobs, &b->knobs, r.points, r.fresh, (double)tests[i].cost);
        arm_count(a, &tests[i].hits);
        fresh += r.fresh;
    }
    a->pulls++;
    return fresh;
}

static void count_round(struct search *s, const struct tune_round *round)
{
    memset(s->now, 0, sizeof s->now);
    for (size_t i = 0; i < round->tests.count; i++)
        for (uint32_t p = 0; p < COVER_POINTS; p++)
            s->now[p] += cover_is_hit(&round->tests.data[i].hits, p);
}

/* Whether the round reached something new. */
static bool remember_round(struct search *s)
{
    bool fresh = false;
    for (uint32_t p = 0; p < COVER_POINTS; p++) {
        fresh |= s->now[p] && !s->reached[p];
        s->reached[p] += s->now[p];
    }
    return fresh;
}

static void fade(struct search *s)
{
    bandit_fade(&s->all, s->plan.ways.keep);
    knobs_fade(&s->knobs, s->plan.ways.keep);
    for (size_t i = 0; i < s->arms.count; i++)
        bandit_fade(&s->arms.data[i]->score, s->plan.ways.keep);
}

/* Children that pay too little make room for others. */
static void give_up(struct search *s)
{
    struct bandit_prior prior = bandit_prior(s->all.points, s->all.cost);
    double usual = prior.points / prior.cost;
    for (size_t i = s->roots; i < s->arms.count; i++) {
        struct arm *a = s->arms.data[i];
        double rate = (prior.points + a->score.points) / (prior.cost + a->score.cost);
        if (a->pulls >= PULLS && rate < GIVEN_UP * usual)
            a->alive = false;
    }
}

static double rate_of(const struct arm *a)
{
    return a->paid.cost > 0 ? a->paid.points / a->paid.cost : 0;
}

/* Of all children only those that paid best are left. */
static void keep_best(struct search *s)
{
    for (size_t i = s->roots; i < s->arms.count; i++) {
        struct arm *a = s->arms.data[i];
        size_t better = 0;
        for (size_t k = s->roots; k < s->arms.count; k++)
            better += rate_of(s->arms.data[k]) > rate_of(a);
        a->alive = better < SURVIVORS && rate_of(a) > 0;
    }
}

static void begin_again(struct search *s)
{
    keep_best(s);
    memset(s->reached, 0, sizeof s->reached);
    s->all = (struct bandit_arm){ 0, 0 };
    knobs_fade(&s->knobs, 0);
    for (size_t i = 0; i < s->arms.count; i++)
        s->arms.data[i]->score = (struct bandit_arm){ 0, 0 };
    s->quiet = 0;
    s->restarts++;
}

void search_take(struct search *s, const struct batch *batches, int count,
                 const struct tune_round *round)
{
    double brought[MOST_BATCHES];
    size_t at = 0;
    assert(count <= MOST_BATCHES);
    fade(s);
    count_round(s, round);
    for (int i = 0; i < count; i++) {
        assert(at + batches[i].count <= round->tests.count);
        brought[i] = take_batch(s, &batches[i], round->tests.data + at);
        at += batches[i].count;
    }
    weigh(s, batches, count, brought, round);
    s->tests += at;
    s->rounds++;
    s->quiet = remember_round(s) ? 0 : s->quiet + 1;
    give_up(s);
    if (s->quiet >= s->plan.ways.patience)
        begin_again(s);
}
