/* SPDX-License-Identifier: Apache-2.0 */
#include "tuning.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES = 8 }; /* of the budget each contestant has one */
/* With less there is no use in it: of each profile, and of each contestant. */
enum { LEAST_OF_PROFILE = 8, LEAST_OF_CONTESTANT = 32 };
static const double BEYOND_CHANCE = 0.05;

/* ---- life -------------------------------------------------------------------------------------- */

bool tuning_uniform(const struct mutate_plan *plan, const struct abilities *can, uint64_t seed,
                    struct bias_profile *profiles, size_t count)
{
    enum { TRIES = 100, TESTS = 1000 }; /* as many as a run may well make of each */
    static const struct bias_profile empty = { .name = (char *)"",
                                               .weight = 1,
                                               .weight_at = { "", 0, 1 } };
    struct random r;
    bool good = true;
    random_seed(&r, seed, UINT64_C(0x756E69666F726D)); /* a sequence of its own */
    for (size_t i = 0; good && i < count; i++) {
        char name[32];
        bool fits = false;
        snprintf(name, sizeof name, "uniform-%zu", i);
        for (int k = 0; good && !fits && k < TRIES; k++) {
            setting_free(&profiles[i]);
            good = mutate_uniform(plan, &empty, name, &r, &profiles[i]);
            fits = good && setting_fits(plan->base, &profiles[i], can, seed, 0, TESTS);
        }
        good = good && fits;
    }
    return good;
}

static int contestants(const struct tuning_plan *p) { return p->compare ? 2 + p->uniform : 0; }

bool tuning_new(struct tuning *t, const struct tuning_plan *plan)
{
    *t = (struct tuning){ .plan = *plan, .cover = cover_new(), .chance = 1 };
    t->curve.name = "while tuning";
    t->uniform = *plan->search.base;
    t->uniform.profiles.data = t->uniform_profiles;
    t->uniform.profiles.count = UNIFORM_PROFILES;
    return search_new(&t->search, &plan->search) && t->cover
        && (!plan->uniform
            || tuning_uniform(&t->search.mutate, &plan->search.can, plan->search.seed,
                              t->uniform_profiles, UNIFORM_PROFILES));
}

void tuning_free(struct tuning *t)
{
    search_free(&t->search);
    contest_free(&t->contest);
    portfolio_free(&t->portfolio);
    for (int i = 0; i < UNIFORM_PROFILES; i++)
        setting_free(&t->uniform_profiles[i]);
    LIST_FREE(&t->curve.points);
    cover_free(t->cover);
}

/* ---- the budget -------------------------------------------------------------------------------- */

static double part(double used, uint64_t of) { return of ? used / (double)of : 0; }

double tuning_share(const struct tuning *t)
{
    const struct tuning_budget *b = &t->plan.budget;
    double share = fmax(fmax(part(t->cost, b->cost), part((double)t->tests, b->tests)),
                        part((double)t->milliseconds, b->milliseconds));
    return fmin(share, 1);
}

static uint64_t search_shares(const struct tuning *t)
{
    return (uint64_t)(SHARES - contestants(&t->plan));
}

/* Has the search used up its part of this? It has at least one of it. */
static bool is_over(const struct tuning *t, double used, uint64_t budget)
{
    uint64_t shares = search_shares(t);
    uint64_t most = budget / SHARES * shares + budget % SHARES * shares / SHARES;
    return budget && used >= fmax((double)most, 1);
}

static bool search_over(const struct tuning *t, double cost, uint64_t tests, uint64_t milliseconds)
{
    const struct tuning_budget *b = &t->plan.budget;
    return is_over(t, cost, b->cost) || is_over(t, (double)tests, b->tests)
        || is_over(t, (double)milliseconds, b->milliseconds);
}

static uint64_t count_tests(const struct batch *batches, int count)
{
    uint64_t tests = 0;
    for (int i = 0; i < count; i++)
        tests += batches[i].count;
    return tests;
}

bool tuning_wants(const struct tuning *t, const struct batch *batches, int count,
                  const struct tune_round *round)
{
    size_t tests = round->tests.count;
    double cost = t->cost;
    if (tests >= count_tests(batches, count))
        return false;
    if (t->phase != TUNING_SEARCH || tests == 0)
        return true;
    for (size_t i = 0; i < tests; i++)
        cost += (double)round->tests.data[i].cost;
    return !search_over(t, cost, t->tests + tests, round->tests.data[tests - 1].milliseconds);
}

uint64_t tuning_least_tests(const struct tuning *t)
{
    uint64_t shares = search_shares(t), search = t->search.roots * LEAST_OF_PROFILE;
    uint64_t least = (search * SHARES + shares - 1) / shares;
    uint64_t compare = t->plan.compare ? LEAST_OF_CONTESTANT * SHARES : 0;
    return least > compare ? least : compare;
}

/* ---- phases ------------------------------------------------------------------------------------ */

/* What one contestant may cause, and the cost for which the portfolio is chosen. */
static double share_cost(const struct tuning *t)
{
    return t->plan.budget.cost ? (double)t->plan.budget.cost / SHARES
                               : t->search_cost / (double)search_shares(t);
}

bool tuning_conclude(struct tuning *t)
{
    return t->phase != TUNING_SEARCH
        || portfolio_choose(&t->portfolio, &t->search,
                            &(struct portfolio_plan){ .horizon = fmax(share_cost(t), 1),
                                                      .keep = t->plan.keep,
                                                      .most = t->plan.profiles });
}

static uint64_t tests_left(const struct tuning *t)
{
    uint64_t budget = t->plan.budget.tests;
    return !budget ? UINT64_MAX : budget > t->tests ? budget - t->tests : 0;
}

static bool time_is_up(const struct tuning *t)
{
    return t->plan.budget.milliseconds && t->milliseconds >= t->plan.budget.milliseconds;
}

static bool can_compare(const struct tuning *t)
{
    return t->plan.compare && t->portfolio.chosen && !time_is_up(t)
        && tests_left(t) >= (uint64_t)contestants(&t->plan);
}

static bool begin_contest(struct tuning *t)
{
    if (!tuning_conclude(t))
        return false;
    t->contest = (struct contest){ .cost = t->plan.budget.cost ? share_cost(t) : INFINITY,
                                   .plan = &t->plan.search,
                                   .usual = t->cost / fmax((double)t->tests, 1) };
    t->phase = can_compare(t) ? TUNING_CONTEST : TUNING_DONE;
    if (t->phase == TUNING_CONTEST) {
        contest_add(&t->contest, "tuned", &t->portfolio.bias);
        contest_add(&t->contest, "untuned", t->plan.search.base);
        if (t->plan.uniform)
            contest_add(&t->contest, "uniform", &t->uniform);
    }
    return true;
}

static bool end_contest(struct tuning *t)
{
    t->phase = TUNING_DONE;
    t->chance = t->contest.count ? contest_chance(&t->contest, t->plan.search.seed) : 1;
    return t->chance >= 0;
}

int tuning_choose(struct tuning *t, struct batch batches[MOST_BATCHES])
{
    int count = 0;
    if (t->phase == TUNING_SEARCH && search_over(t, t->cost, t->tests, t->milliseconds)
        && !begin_contest(t))
        return -1;
    if (t->phase == TUNING_SEARCH) {
        count = search_choose(&t->search, batches);
        return count > 0 ? count : -1;
    }
    if (t->phase == TUNING_CONTEST && !time_is_up(t))
        count = contest_choose(&t->contest, tests_left(t), batches);
    if (t->phase == TUNING_CONTEST && count == 0 && !end_contest(t))
        return -1;
    return count;
}

enum tuning_verdict tuning_verdict(const struct tuning *t)
{
    if (t->phase != TUNING_DONE)
        return t->portfolio.chosen ? TUNING_UNFINISHED : TUNING_UNCHOSEN;
    if (!t->portfolio.chosen)
        return TUNING_TOO_LITTLE;
    if (!t->plan.compare)
        return TUNING_NOT_COMPARED;
    if (!t->contest.count || contest_cost(&t->contest) <= 0)
        return TUNING_TOO_LITTLE;
    return t->chance <= BEYOND_CHANCE ? TUNING_GAIN : TUNING_NO_GAIN;
}

bool tuning_keeps_tuned(const struct tuning *t)
{
    enum tuning_verdict v = tuning_verdict(t);
    return v != TUNING_NO_GAIN && v != TUNING_TOO_LITTLE && v != TUNING_UNCHOSEN;
}

/* ---- results ----------------------------------------------------------------------------------- */

static const char *label_of(const struct tuning *t, const struct batch *b)
{
    return t->phase == TUNING_SEARCH ? ((const struct arm *)b->owner)->setting.name
                                     : ((const struct contestant *)b->owner)->curve.name;
}

static bool take_test(struct tuning *t, const struct batch *b, uint64_t number,
                      const struct tune_test *test)
{
    struct cover_origin origin = { t->plan.search.seed, number, label_of(t, b) };
    t->cost += (double)test->cost;
    t->tests++;
    t->results[test->result]++;
    return cover_add(t->cover, &test->hits, &origin);
}

static uint64_t reached(const struct tuning *t)
{
    return cover_reached(t->cover, COVER_EXEC) + cover_reached(t->cover, COVER_EVENT);
}

/* Only those batches, and tests of them, that were run. */
static int trim(const struct batch *batches, int count, size_t tests, struct batch *to)
{
    int trimmed = 0;
    for (; trimmed < count && tests > 0; trimmed++) {
        to[trimmed] = batches[trimmed];
        if (to[trimmed].count > tests)
            to[trimmed].count = tests;
        tests -= to[trimmed].count;
    }
    return trimmed;
}

bool tuning_take(struct tuning *t, const struct batch *batches, int count,
                 const struct tune_round *round)
{
    struct batch run[MOST_BATCHES] = { { 0 } };
    size_t at = 0;
    bool good = true;
    count = trim(batches, count, round->tests.count, run);
    for (int i = 0; i < count; i++)
        for (uint64_t k = 0; good && k < run[i].count; k++, at++)
            good = take_test(t, &run[i], run[i].first + k, &round->tests.data[at]);
    t->milliseconds = at ? round->tests.data[at - 1].milliseconds : t->milliseconds;
    if (t->phase == TUNING_CONTEST)
        return good && contest_take(&t->contest, run, count, round);
    search_take(&t->search, run, count, round);
    t->search_cost = t->cost;
    return good
        && LIST_PUSH(&t->curve.points, ((struct plot_point){ t->cost, (double)reached(t) }));
}
