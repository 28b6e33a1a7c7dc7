/* SPDX-License-Identifier: Apache-2.0 */
#include "tuning.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES = 8, CONTEST_TESTS = 8 }; /* of the budget each contestant has one */

/* ---- life -------------------------------------------------------------------------------------- */

bool tuning_uniform(const struct mutate_plan *plan, const struct abilities *can, uint64_t seed,
                    struct bias_profile *profiles, size_t count)
{
    enum { TRIES = 100, TESTS = 16 };
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
    *t = (struct tuning){ .plan = *plan, .cover = cover_new(), .curve.name = "while tuning" };
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

/* What of all the search may take. */
static double search_share(const struct tuning *t)
{
    return (double)(SHARES - contestants(&t->plan)) / SHARES;
}

/* Of the batches of a round, those for which there are tests left. */
static int fitting(const struct tuning *t, const struct batch *batches, int count)
{
    double most = search_share(t) * (double)t->plan.budget.tests - (double)t->tests;
    int fit = 1;
    if (!t->plan.budget.tests)
        return count;
    for (most -= (double)batches[0].count; fit < count && most > 0; fit++)
        most -= (double)batches[fit].count;
    return fit;
}

/* ---- phases ------------------------------------------------------------------------------------ */

/* What one contestant may cause, and the cost for which the portfolio is chosen. */
static double share_cost(const struct tuning *t)
{
    return t->search_cost / (SHARES - contestants(&t->plan));
}

bool tuning_conclude(struct tuning *t)
{
    return t->phase != TUNING_SEARCH
        || portfolio_choose(&t->portfolio, &t->search,
                            &(struct portfolio_plan){ .horizon = fmax(share_cost(t), 1),
                                                      .keep = t->plan.keep,
                                                      .most = t->plan.profiles });
}

static bool begin_contest(struct tuning *t)
{
    if (!tuning_conclude(t))
        return false;
    t->contest = (struct contest){ .cost = share_cost(t), .batch = CONTEST_TESTS };
    t->phase = t->plan.compare && t->portfolio.chosen && tuning_share(t) < 1 ? TUNING_CONTEST
                                                                             : TUNING_DONE;
    if (t->phase == TUNING_CONTEST) {
        contest_add(&t->contest, "tuned", &t->portfolio.bias);
        contest_add(&t->contest, "untuned", t->plan.search.base);
        if (t->plan.uniform)
            contest_add(&t->contest, "uniform", &t->uniform);
    }
    return true;
}

int tuning_choose(struct tuning *t, struct batch batches[MOST_BATCHES])
{
    int count = 0;
    if (t->phase == TUNING_SEARCH && tuning_share(t) >= search_share(t) && !begin_contest(t))
        return -1;
    if (t->phase == TUNING_SEARCH) {
        count = search_choose(&t->search, batches);
        return count > 0 ? fitting(t, batches, count) : -1;
    }
    if (t->phase == TUNING_CONTEST && tuning_share(t) < 1)
        count = contest_choose(&t->contest, batches);
    if (count == 0)
        t->phase = TUNING_DONE;
    return count;
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

bool tuning_take(struct tuning *t, const struct batch *batches, int count,
                 const struct tune_round *round)
{
    size_t at = 0;
    bool good = true;
    for (int i = 0; i < count; i++)
        for (uint64_t k = 0; good && k < batches[i].count; k++, at++) {
            assert(at < round->tests.count);
            good = take_test(t, &batches[i], batches[i].first + k, &round->tests.data[at]);
        }
    t->milliseconds = round->milliseconds;
    if (t->phase == TUNING_CONTEST)
        return good && contest_take(&t->contest, batches, count, round);
    search_take(&t->search, batches, count, round);
    t->search_cost = t->cost;
    return good
        && LIST_PUSH(&t->curve.points, ((struct plot_point){ t->cost, (double)reached(t) }));
}
