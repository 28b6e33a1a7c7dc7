/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `ordeal tune` that decide: the bandit on arms whose rates are known, moves of the
 * bias, the search over a made-up machine, and the mix of arms that comes of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/generate.h"
#include "tune/tuning.h"
#include "unity.h"

static struct bias *b;
static struct ordeal_error e;

void setUp(void) { b = bias_new(); }
void tearDown(void) { bias_free(b); }

static const struct abilities can_all = { .threads = 4,
                                          .registers = 64,
                                          .load_sizes = 0x7F,
                                          .store_sizes = 0x7F,
                                          .swap_sizes = 0xC,
                                          .cas_sizes = 0xC,
                                          .amo_sizes = 0xF,
                                          .transactions = true,
                                          .interrupts = true,
                                          .flush = true,
                                          .uncached = true,
                                          .nonfaulting = true,
                                          .memory = UINT64_MAX };

/* ---- chance ------------------------------------------------------------------------------------ */

static void test_gamma_has_its_mean_and_variance(void)
{
    static const double shapes[] = { 0.3, 1, 2.5, 40 };
    enum { DRAWS = 200000 };
    struct random r;
    random_seed(&r, 1, 0);
    for (int i = 0; i < 4; i++) {
        double sum = 0, squares = 0, shape = shapes[i];
        for (int k = 0; k < DRAWS; k++) {
            double x = bandit_gamma(shape, &r);
            TEST_ASSERT_TRUE(x >= 0 && isfinite(x));
            sum += x;
            squares += x * x;
        }
        double mean = sum / DRAWS, variance = squares / DRAWS - mean * mean;
        TEST_ASSERT_TRUE(fabs(mean - shape) < 5 * sqrt(shape / DRAWS));
        TEST_ASSERT_TRUE(fabs(variance - shape) < 0.05 * shape);
    }
}

/* Knuth's, which shares nothing with the bandit's own chance. */
static uint32_t poisson(double mean, struct random *r)
{
    uint32_t n = 0;
    for (double p = exp(-mean), u = 1;; n++) {
        u *= (double)random_next(r) * 0x1p-64;
        if (u <= p)
            return n;
    }
}

enum { ARMS = 10 };

/* Pulls of each arm, out of so many; after half of them the rates are turned round. */
static void play(uint64_t seed, int rounds, double keep, bool change, int *pulls_before,
                 int *pulls_after)
{
    struct bandit_arm arms[ARMS] = { { 0, 0 } }, all = { 0, 0 };
    struct random r, world;
    random_seed(&r, seed, 0);
    random_seed(&world, seed, 1);
    for (int i = 0; i < rounds; i++) {
        bool late = i >= rounds / 2;
        struct bandit_prior prior = bandit_prior(all.points, all.cost);
        int best = 0;
        double most = -1;
        for (int k = 0; k < ARMS; k++) {
            double rate = bandit_draw(&arms[k], &prior, &r);
            if (rate > most) {
                most = rate;
                best = k;
            }
            bandit_fade(&arms[k], keep);
        }
        bandit_fade(&all, keep);
        double rate = 0.001 * (1 + (late && change ? ARMS - 1 - best : best)), cost = 1000;
        double points = poisson(rate * cost, &world);
        bandit_pay(&arms[best], points, cost);
        bandit_pay(&all, points, cost);
        (late ? pulls_after : pulls_before)[best]++;
    }
}

static void test_the_best_arm_is_found_and_a_change_is_followed(void)
{
    int steady[ARMS] = { 0 }, before[ARMS] = { 0 }, after[ARMS] = { 0 }, ignored[ARMS] = { 0 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        play(seed, 1000, 0.99, false, ignored, steady);
        play(seed, 1000, 0.95, true, before, after);
    }
    /* of 10000 pulls each; by chance an arm has 1000 */
    TEST_ASSERT_GREATER_THAN_INT(5000, steady[9] + steady[8] + steady[7]);
    TEST_ASSERT_GREATER_THAN_INT(3000, before[9]);
    TEST_ASSERT_GREATER_THAN_INT(before[0] * 5, after[0]);
    TEST_ASSERT_GREATER_THAN_INT(2000, after[0]);
}

/* ---- moves ------------------------------------------------------------------------------------- */

static void read_bias(const char *file)
{
    TEST_ASSERT_TRUE_MESSAGE(bias_read(b, file, &e), e.reason);
    TEST_ASSERT_TRUE_MESSAGE(bias_check(b, &e), e.reason);
}

static void holds_no_harm(const struct mutate_plan *plan, const struct bias_profile *s, uint64_t n)
{
    struct bias with = setting_bias(plan->base, s);
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *t = NULL;
    TEST_ASSERT_TRUE_MESSAGE(bias_check(&with, &e), e.reason);
    struct generator *g = generator_new(&with, 7);
    TEST_ASSERT_NOT_NULL(g);
    TEST_ASSERT_EQUAL(ORDEAL_OK, generator_make(g, n, o, &t));
    ordeal_trace_free(t);
    generator_free(g);
    ordeal_free(o);
}

static const char *const files[] = { "examples/profiles.bias", "examples/zoo.bias",
                                     "examples/transactions.bias" };
enum { FILES = sizeof files / sizeof *files };

static void start_plan(struct mutate_plan *plan)
{
    static const struct bias_profile empty = { .name = (char *)"base",
                                               .weight = 1,
                                               .weight_at = { "", 0, 1 } };
    const struct bias_profile *from = b->profiles.count ? b->profiles.data : &empty;
    TEST_ASSERT_TRUE(mutate_plan_new(plan, b, from, &can_all, 1));
}

/* Chains of moves, and crossings of what comes of them. */
static void test_whatever_is_moved_stays_valid(void)
{
    enum { MOVES = 10000, CHAIN = 6 };
    int crossed = 0, moved[BIAS_KEY_COUNT] = { 0 };
    for (int f = 0; f < FILES; f++) {
        struct bias_profile now = { 0 }, next, other = { 0 };
        struct mutate_plan plan;
        struct random r;
        random_seed(&r, 5, (uint64_t)f);
        bias_free(b);
        b = bias_new();
        read_bias(files[f]);
        start_plan(&plan);
        for (uint64_t i = 0; i < MOVES / FILES + 1; i++) {
            struct move move;
            if (i % CHAIN == 0) {
                setting_free(&other);
                other = now;
                struct bias_profile fresh = { .name = (char *)"p",
                                              .weight = 1,
                                              .weight_at = { "", 0, 1 } };
                TEST_ASSERT_TRUE(setting_copy(&now, b->profiles.count ? b->profiles.data : &fresh,
                                              "x"));
            }
            bool cross = other.name && i % 7 == 0;
            bool done = cross ? mutate_cross(&plan, &now, &other, "x", &r, &next)
                              : mutate_one(&plan, &now, "x", &r, &next, &move);
            if (!done)
                continue;
            crossed += cross;
            if (!cross && move.after.slot < BIAS_KEY_COUNT)
                moved[move.after.slot]++;
            holds_no_harm(&plan, &next, i);
            setting_free(&now);
            now = next;
        }
        setting_free(&now);
        setting_free(&other);
        mutate_plan_free(&plan);
    }
    TEST_ASSERT_GREATER_THAN_INT(100, crossed);
    for (int k = 0; k < BIAS_KEY_COUNT; k++) /* all keys of the one table */
        TEST_ASSERT_GREATER_THAN_INT_MESSAGE(0, moved[k], bias_keys[k].name);
}

static void test_uniform_settings_are_valid_and_differ(void)
{
    struct mutate_plan plan;
    struct bias_profile s[2] = { { 0 }, { 0 } };
    read_bias("examples/zoo.bias");
    start_plan(&plan);
    for (uint64_t seed = 0; seed < 10; seed++) {
        TEST_ASSERT_TRUE(tuning_uniform(&plan, &can_all, seed, s, 2));
        for (int i = 0; i < 2; i++)
            holds_no_harm(&plan, &s[i], seed);
        TEST_ASSERT_GREATER_THAN(40, s[0].varies.count);
        TEST_ASSERT_TRUE(memcmp(s[0].varies.data, s[1].varies.data, 40 * sizeof *s[0].varies.data)
                         != 0);
    }
    setting_free(&s[0]);
    setting_free(&s[1]);
    mutate_plan_free(&plan);
}

/* What --set holds never moves, nor what the machine cannot do. */
static void test_what_must_stay_stays(void)
{
    struct abilities few = can_all;
    struct mutate_plan plan;
    struct random r;
    few.transactions = few.interrupts = few.uncached = false;
    few.threads = 3;
    random_seed(&r, 3, 0);
    TEST_ASSERT_TRUE(bias_set(b, "operations.load=33", &e));
    struct bias_profile from = { .name = (char *)"p", .weight = 1, .weight_at = { "", 0, 1 } };
    TEST_ASSERT_TRUE(mutate_plan_new(&plan, b, &from, &few, 1));
    TEST_ASSERT_TRUE(plan.still[BIAS_operations_load]);
    TEST_ASSERT_TRUE(plan.still[BIAS_transactions_share]);
    TEST_ASSERT_TRUE(plan.still[BIAS_operations_interrupt]);
    TEST_ASSERT_TRUE(plan.still[BIAS_placement_uncached]);
    TEST_ASSERT_FALSE(plan.still[BIAS_operations_store]);
    TEST_ASSERT_FALSE(plan.still[BIAS_membar_ss]);
    for (int i = 0; i < 1000; i++) {
        struct bias_profile to;
        struct move move;
        TEST_ASSERT_TRUE(mutate_one(&plan, &from, "x", &r, &to, &move));
        TEST_ASSERT_FALSE(plan.still[move.after.slot]);
        if (move.after.slot == BIAS_test_threads)
            for (uint32_t k = 0; k < move.after.count; k++)
                TEST_ASSERT_LESS_OR_EQUAL_UINT32(3, move.after.value[k]);
        setting_free(&to);
    }
    mutate_plan_free(&plan);
}

/* ---- the search over a made-up machine --------------------------------------------------------- */

/* Each root profile reaches points of its own range, by chance; all tests cost the same. */
static void bring(const struct search *s, const struct batch *batches, int count, uint64_t salt,
                  struct tune_round *round)
{
    round->tests.count = 0;
    for (int i = 0; i < count; i++) {
        const struct arm *root = arm_root(batches[i].owner);
        uint32_t which = 0;
        while (s->arms.data[which] != root)
            which++;
        for (uint64_t k = 0; k < batches[i].count; k++) {
            struct tune_test t = { .cost = 1000 };
            struct random r;
            random_seed(&r, salt, batches[i].first + k);
            for (int n = 0; n < 20; n++) /* some reach from few points, others from many */
                cover_hit(&t.hits, which * 300 + random_below(&r, 10 + 90 * which % 280));
            TEST_ASSERT_TRUE(LIST_PUSH(&round->tests, t));
        }
    }
}

static void start_search(struct search *s, uint64_t patience)
{
    struct search_plan plan = {
        .base = b,
        .can = can_all,
        .seed = 1,
        .ways = { .batches = 8, .tests = 8, .keep = 0.9, .mutate = true, .patience = patience }
    };
    TEST_ASSERT_TRUE(search_new(s, &plan));
}

static void search_some(struct search *s, int rounds)
{
    struct tune_round round = { 0 };
    struct batch batches[MOST_BATCHES];
    for (int i = 0; i < rounds; i++) {
        int count = search_choose(s, batches);
        TEST_ASSERT_EQUAL_INT(8, count);
        bring(s, batches, count, 9, &round);
        search_take(s, batches, count, &round);
    }
    LIST_FREE(&round.tests);
}

static void test_the_search_repeats_itself_and_begins_again(void)
{
    struct search *one = malloc(sizeof *one), *two = malloc(sizeof *two);
    read_bias("examples/profiles.bias");
    start_search(one, 3);
    start_search(two, 3);
    search_some(one, 60);
    search_some(two, 60);
    TEST_ASSERT_EQUAL_size_t(b->profiles.count, one->roots);
    TEST_ASSERT_GREATER_THAN(20, one->arms.count);
    TEST_ASSERT_GREATER_THAN_UINT64(0, one->restarts); /* there are few points in that world */
    TEST_ASSERT_EQUAL_UINT64(one->restarts, two->restarts);
    TEST_ASSERT_EQUAL_size_t(one->arms.count, two->arms.count);
    for (size_t i = 0; i < one->arms.count; i++) {
        TEST_ASSERT_EQUAL_STRING(one->arms.data[i]->setting.name, two->arms.data[i]->setting.name);
        TEST_ASSERT_EQUAL_UINT64(one->arms.data[i]->tests, two->arms.data[i]->tests);
        TEST_ASSERT_TRUE(i >= one->roots || one->arms.data[i]->alive);
    }
    search_free(one);
    search_free(two);
    free(one);
    free(two);
}

/* ---- the mix ----------------------------------------------------------------------------------- */

static void pretend(struct arm *a, uint64_t tests, double cost, uint32_t from, uint32_t to,
                    uint16_t reached)
{
    a->tests = tests;
    a->paid.cost = cost;
    memset(a->reached, 0, sizeof a->reached);
    for (uint32_t p = from; p < to; p++)
        a->reached[p] = reached;
}

static void choose_mix(struct portfolio *p, const struct search *s, double keep, int most)
{
    struct portfolio_plan plan = { .horizon = 1e5, .keep = keep, .most = most };
    TEST_ASSERT_TRUE(portfolio_choose(p, s, &plan));
}

/* Of two arms that reached as many points, the one that still finds others is the better. */
static void test_a_mix_counts_on_what_is_still_hidden(void)
{
    struct search *s = malloc(sizeof *s);
    struct portfolio p = { 0 };
    read_bias("examples/profiles.bias");
    start_search(s, 3);
    pretend(s->arms.data[0], 20, 2e4, 0, 100, 20);
    pretend(s->arms.data[1], 20, 2e4, 0, 100, 1);
    choose_mix(&p, s, 0, 1);
    TEST_ASSERT_EQUAL_PTR(s->arms.data[1], p.arms.data[0]);
    portfolio_free(&p);
    search_free(s);
    free(s);
}

/* Two arms that complete one another are taken, and more of the one that needs more; a third that
 * reaches what the first does is not, nor one that reaches the same at twice the cost. */
static void test_a_mix_has_arms_that_complete_one_another(void)
{
    struct search *s = malloc(sizeof *s);
    struct portfolio p = { 0 };
    read_bias("examples/profiles.bias");
    start_search(s, 3);
    pretend(s->arms.data[0], 100, 1e5, 0, 100, 20);
    pretend(s->arms.data[1], 100, 1e5, 100, 200, 2);
    pretend(s->arms.data[2], 100, 1e5, 0, 50, 20);
    pretend(s->arms.data[3], 100, 2e5, 0, 100, 20);
    choose_mix(&p, s, 0, 8);
    TEST_ASSERT_EQUAL_INT(2, p.chosen);
    TEST_ASSERT_EQUAL_size_t(2, p.arms.count);
    TEST_ASSERT_EQUAL_PTR(s->arms.data[1], p.arms.data[0]);
    TEST_ASSERT_EQUAL_PTR(s->arms.data[0], p.arms.data[1]);
    TEST_ASSERT_UINT32_WITHIN(1, 1000, p.profiles.data[0].weight + p.profiles.data[1].weight);
    TEST_ASSERT_TRUE_MESSAGE(bias_check(&p.bias, &e), e.reason);
    choose_mix(&p, s, 0, 1);
    TEST_ASSERT_EQUAL_INT(1, p.chosen);
    choose_mix(&p, s, 0.5, 1); /* all profiles stay in it, with half of the cost */
    TEST_ASSERT_EQUAL_INT(1, p.chosen);
    TEST_ASSERT_EQUAL_size_t(s->roots, p.arms.count);
    TEST_ASSERT_TRUE_MESSAGE(bias_check(&p.bias, &e), e.reason);
    portfolio_free(&p);
    search_free(s);
    free(s);
}

/* Weights are of tests: an arm whose tests cost ten times as much has few of them. */
static void test_weights_follow_the_cost_of_tests(void)
{
    struct search *s = malloc(sizeof *s);
    struct portfolio p = { 0 };
    read_bias("examples/profiles.bias");
    start_search(s, 3);
    pretend(s->arms.data[0], 100, 1e5, 0, 100, 5);
    pretend(s->arms.data[1], 100, 1e6, 100, 200, 50);
    choose_mix(&p, s, 0, 8);
    TEST_ASSERT_EQUAL_INT(2, p.chosen);
    int dear = p.arms.data[0] == s->arms.data[1] ? 0 : 1;
    TEST_ASSERT_UINT32_WITHIN(40, 909, p.profiles.data[1 - dear].weight);
    TEST_ASSERT_UINT32_WITHIN(40, 91, p.profiles.data[dear].weight);
    portfolio_free(&p);
    search_free(s);
    free(s);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_gamma_has_its_mean_and_variance);
    RUN_TEST(test_the_best_arm_is_found_and_a_change_is_followed);
    RUN_TEST(test_whatever_is_moved_stays_valid);
    RUN_TEST(test_uniform_settings_are_valid_and_differ);
    RUN_TEST(test_what_must_stay_stays);
    RUN_TEST(test_the_search_repeats_itself_and_begins_again);
    RUN_TEST(test_a_mix_counts_on_what_is_still_hidden);
    RUN_TEST(test_a_mix_has_arms_that_complete_one_another);
    RUN_TEST(test_weights_follow_the_cost_of_tests);
    return UNITY_END();
}
