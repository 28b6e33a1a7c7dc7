/* SPDX-License-Identifier: Apache-2.0 */
#include "portfolio.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"

enum { STEPS = 300, CHILDREN = 64, ALL_WEIGHTS = 1000 };

static const double LEAST_SHARE = 0.001;
static const double LEAST_GAIN = 0.5; /* points, for which a child is taken in place of another */

/* ---- candidates -------------------------------------------------------------------------------- */

struct candidate {
    const struct arm *arm;
    struct estimate_rate *rates;
    bool open;    /* may be chosen */
    double share; /* of the cost that is shared out */
    double kept;  /* of the cost that stays: of a profile */
    double alone; /* points expected if it had all of the cost */
};

/* The profiles come first. One place more is for whoever is tried in another's. */
struct mix {
    const struct search *search;
    struct estimate_pool pool;
    struct portfolio_plan plan;
    struct candidate *candidates;
    size_t count, roots;
    double *missed; /* of each point: how likely it is not reached */
};

static double cost_for(const struct mix *m, const struct candidate *c)
{
    return m->plan.horizon * (m->plan.keep * c->kept + (1 - m->plan.keep) * c->share);
}

/* That a point is missed by an arm whose rate is Gamma, with what it may cost. */
static double log_missed(const struct estimate_rate *r, double cost)
{
    return -(double)r->shape * log1p(cost / (double)r->cost);
}

static double count_alone(const struct mix *m, const struct candidate *c)
{
    double sum = 0;
    for (size_t i = 0; i < m->pool.points; i++)
        sum += m->pool.worth[i] * (1 - exp(log_missed(&c->rates[i], m->plan.horizon)));
    return sum;
}

static bool add_candidate(struct mix *m, const struct arm *a)
{
    struct candidate *c = &m->candidates[m->count];
    *c = (struct candidate){ .arm = a,
                             .open = true,
                             .rates = calloc(m->pool.points, sizeof *c->rates) };
    if (!c->rates)
        return false;
    estimate_arm(&m->pool, a, c->rates);
    c->alone = count_alone(m, c);
    m->count++;
    return true;
}

static int by_alone(const void *a, const void *b)
{
    double x = ((const struct candidate *)a)->alone, y = ((const struct candidate *)b)->alone;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Leaves so many. */
static void cut_candidates(struct mix *m, size_t count)
{
    for (; m->count > count; m->count--)
        free(m->candidates[m->count - 1].rates);
}

static bool find_candidates(struct mix *m, const struct search *s)
{
    bool good = (m->candidates = calloc(s->arms.count + 1, sizeof *m->candidates));
    for (size_t i = 0; good && i < s->arms.count; i++) {
        if (i >= s->roots && !s->arms.data[i]->tests)
            continue;
        good = add_candidate(m, s->arms.data[i]);
        if (m->count < s->roots + 2 * (size_t)CHILDREN && i + 1 < s->arms.count)
            continue;
        qsort(m->candidates + s->roots, m->count - s->roots, sizeof *m->candidates, by_alone);
        if (m->count > s->roots + CHILDREN)
            cut_candidates(m, s->roots + CHILDREN);
    }
    m->roots = s->roots;
    return good;
}

/* ---- what is kept ------------------------------------------------------------------------------ */

/* Of the cost of the bias as it was each profile has what its weight and its tests make of it. */
static void share_kept(struct mix *m)
{
    double all = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->roots; i++) {
            struct candidate *c = &m->candidates[i];
            double cost = c->arm->usual_weight * estimate_cost(&m->pool, c->arm);
            if (pass == 0)
                all += cost;
            else
                c->kept = cost / all;
        }
}

/* ---- the best mix ------------------------------------------------------------------------------ */

/* Fills in what is missed; the points that are expected. */
static double expect(struct mix *m)
{
    double sum = 0;
    memset(m->missed, 0, m->pool.points * sizeof *m->missed);
    for (size_t k = 0; k < m->count; k++) {
        double cost = cost_for(m, &m->candidates[k]);
        for (size_t i = 0; cost > 0 && i < m->pool.points; i++)
            m->missed[i] += log_missed(&m->candidates[k].rates[i], cost);
    }
    for (size_t i = 0; i < m->pool.points; i++) {
        m->missed[i] = exp(m->missed[i]);
        sum += m->pool.worth[i] * (1 - m->missed[i]);
    }
    return sum;
}

/* Points more for a little more of this arm. */
static double gain(const struct mix *m, const struct candidate *c)
{
    double sum = 0, cost = cost_for(m, c);
    for (size_t i = 0; i < m->pool.points; i++)
        sum += m->pool.worth[i] * m->missed[i] * (double)c->rates[i].shape
             / ((double)c->rates[i].cost + cost);
    return sum;
}

static struct candidate *best_step(struct mix *m)
{
    struct candidate *best = NULL;
    double most = -1;
    for (size_t k = 0; k < m->count; k++) {
        double g = m->candidates[k].open ? gain(m, &m->candidates[k]) : -1;
        if (g > most) {
            most = g;
            best = &m->candidates[k];
        }
    }
    assert(best);
    return best;
}

static void find_best(struct mix *m)
{
    for (size_t k = 0; k < m->count; k++)
        m->candidates[k].share = 0;
    for (int i = 0; i < STEPS; i++) {
        expect(m);
        struct candidate *towards = best_step(m);
        double by = 2.0 / (i + 2);
        for (size_t k = 0; k < m->count; k++)
            m->candidates[k].share *= 1 - by;
        towards->share += by;
    }
}

static int by_share(const void *a, const void *b)
{
    double x = ((const struct candidate *)a)->share, y = ((const struct candidate *)b)->share;
    return x < y ? 1 : x > y ? -1 : by_alone(a, b);
}

/* Only those with the greatest shares may still be chosen. */
static void leave_few(struct mix *m, size_t most)
{
    qsort(m->candidates, m->count, sizeof *m->candidates, by_share);
    for (size_t k = most; k < m->count; k++)
        m->candidates[k].open = false;
    find_best(m);
}

/* ---- what the machine runs --------------------------------------------------------------------- */

/* That the search met none of its tests that the machine refuses may be luck. */
static bool is_fit(const struct search *s, const struct arm *a)
{
    enum { TESTS = 128 };
    static const uint64_t first = UINT64_C(1) << 41; /* of tests that nobody runs */
    const struct search_plan *p = &s->plan;
    return !a->parent || setting_fits(p->base, &a->setting, &p->can, p->seed, first, TESTS);
}

/* Children with tests that it refuses are closed, until those chosen have none. */
static void drop_unfit(struct mix *m)
{
    for (size_t k = 0; k < m->count;) {
        struct candidate *c = &m->candidates[k];
        bool unfit = c->share > LEAST_SHARE && !is_fit(m->search, c->arm);
        if (unfit) {
            c->open = false;
            find_best(m);
        }
        k = unfit ? 0 : k + 1;
    }
}

/* ---- children against those they come from ----------------------------------------------------- */

static struct candidate *find(struct mix *m, const struct arm *a)
{
    for (size_t k = 0; k < m->count; k++)
        if (m->candidates[k].arm == a)
            return &m->candidates[k];
    return NULL;
}

/* Gives one's share to another, and takes it back. */
static void hand_over(struct candidate *from, struct candidate *to, double share)
{
    from->share -= share;
    to->share += share;
}

/* Points expected if another arm had its place. NAN: out of memory. */
static double expect_instead(struct mix *m, struct candidate *c, const struct arm *other)
{
    size_t count = m->count;
    struct candidate *there = find(m, other);
    if (!there && !add_candidate(m, other))
        return NAN;
    there = there ? there : &m->candidates[count];
    double share = c->share;
    hand_over(c, there, share);
    double points = expect(m);
    hand_over(there, c, share);
    cut_candidates(m, count);
    return points;
}

/* Of those it comes from, the one with which the most is expected, if that is about as much. */
static const struct arm *better_ancestor(struct mix *m, struct candidate *c)
{
    const struct arm *better = NULL;
    double most = expect(m) - LEAST_GAIN;
    for (const struct arm *a = c->arm->parent; a; a = a->parent) {
        double points = is_fit(m->search, a) ? expect_instead(m, c, a) : 0;
        if (points > most) {
            most = points;
            better = a;
        }
    }
    return better;
}

static bool replace(struct mix *m, struct candidate *c, const struct arm *other)
{
    struct candidate *there = find(m, other);
    c->open = false;
    if (there)
        there->open = true;
    return there || add_candidate(m, other);
}

/* A child is replaced by its ancestor, never the other way, so this ends. */
static bool drop_idle_moves(struct mix *m)
{
    for (size_t k = 0; k < m->count;) {
        struct candidate *c = &m->candidates[k];
        const struct arm *other = c->share > LEAST_SHARE ? better_ancestor(m, c) : NULL;
        if (other && !replace(m, c, other))
            return false;
        if (other)
            find_best(m);
        k = other ? 0 : k + 1;
    }
    qsort(m->candidates, m->count, sizeof *m->candidates, by_share);
    return true;
}

/* ---- the portfolio ----------------------------------------------------------------------------- */

/* Weights are of tests, shares of cost: for a cost of 1, so many tests. */
static bool add(struct portfolio *p, const struct arm *a, double tests, double *weights)
{
    for (size_t i = 0; i < p->arms.count; i++)
        if (p->arms.data[i] == a) {
            weights[i] += tests;
            return true;
        }
    weights[p->arms.count] = tests;
    return LIST_PUSH(&p->arms, a) && LIST_PUSH(&p->profiles, a->setting);
}

static bool add_chosen(struct portfolio *p, struct mix *m, double *weights)
{
    bool good = true;
    for (size_t i = 0; good && i < m->count && m->candidates[i].share > LEAST_SHARE; i++) {
        struct candidate *c = &m->candidates[i];
        double part = (1 - m->plan.keep) * c->share;
        good = add(p, c->arm, part / estimate_cost(&m->pool, c->arm), weights);
        for (const struct arm *a = c->arm->parent; good && a; a = a->parent)
            good = LIST_PUSH(&p->instead[i], expect_instead(m, c, a));
    }
    p->chosen = (int)p->arms.count;
    p->expected = expect(m);
    return good;
}

/* In the order of the bias. */
static bool add_kept(struct portfolio *p, struct mix *m, const struct search *s, double *weights)
{
    bool good = true;
    double keep = p->chosen ? m->plan.keep : 1;
    for (size_t i = 0; good && keep > 0 && i < s->roots; i++) {
        const struct arm *a = s->arms.data[i];
        good = add(p, a, keep * find(m, a)->kept / estimate_cost(&m->pool, a), weights);
    }
    return good;
}

static bool make_bias(struct portfolio *p, struct mix *m, const struct search *s, bool choose)
{
    double *weights = calloc(s->arms.count + 1, sizeof *weights), all = 0;
    bool good = weights && (!choose || add_chosen(p, m, weights)) && add_kept(p, m, s, weights);
    for (size_t i = 0; good && i < p->arms.count; i++)
        all += weights[i];
    for (size_t i = 0; good && i < p->arms.count; i++)
        p->profiles.data[i].weight = (uint32_t)fmax(1, floor(weights[i] / all * ALL_WEIGHTS + 0.5));
    p->bias = *s->plan.base;
    p->bias.profiles.data = p->profiles.data;
    p->bias.profiles.count = p->profiles.count;
    p->bias.profiles.capacity = 0;
    free(weights);
    return good;
}

static bool is_known(const struct search *s)
{
    for (size_t i = 0; i < s->roots; i++)
        if (!s->arms.data[i]->tests)
            return false;
    return true;
}

static bool choose(struct mix *m)
{
    find_best(m);
    drop_unfit(m);
    leave_few(m, (size_t)m->plan.most);
    return drop_idle_moves(m);
}

bool portfolio_choose(struct portfolio *p, const struct search *s,
                      const struct portfolio_plan *plan)
{
    struct mix m = { .search = s, .plan = *plan };
    bool known = is_known(s) && plan->keep < 1;
    assert(plan->most > 0 && plan->most <= PORTFOLIO_MOST && plan->keep >= 0 && plan->keep <= 1);
    portfolio_free(p);
    p->horizon = plan->horizon;
    bool good = estimate_pool_new(&m.pool, s) && find_candidates(&m, s)
             && (m.missed = calloc(m.pool.points, sizeof *m.missed));
    if (good)
        share_kept(&m);
    good = good && (!known || choose(&m)) && make_bias(p, &m, s, known);
    if (m.candidates)
        cut_candidates(&m, 0);
    free(m.candidates);
    free(m.missed);
    estimate_pool_free(&m.pool);
    return good;
}

void portfolio_free(struct portfolio *p)
{
    LIST_FREE(&p->arms);
    LIST_FREE(&p->profiles);
    for (int i = 0; i < PORTFOLIO_MOST; i++)
        LIST_FREE(&p->instead[i]);
    *p = (struct portfolio){ 0 };
}
