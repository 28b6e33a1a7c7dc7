/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `ordeal tune` that decide: the bandit on arms whose rates are known, moves of the
 * bias, the search over a made-up machine, and the mix of arms that comes of it. */
#include <limits.h>
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
                                          .reserve_sizes = 0xC,
                                          .marks = true,
                                          .plain_marks = true,
                                          .data = true,
                                          .control = true,
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

/* All profiles have run, and reached nothing. */
static void pretend_all(struct search *s, uint64_t tests)
{
    for (size_t i = 0; i < s->roots; i++)
        pretend(s->arms.data[i], tests, (double)tests * 1000, 0, 0, 0);
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
    pretend_all(s, 20);
    pretend(s->arms.data[0], 20, 2e4, 0, 100, 20);
    pretend(s->arms.data[1], 20, 2e4, 100, 200, 1);
    choose_mix(&p, s, 0, 1);
    TEST_ASSERT_EQUAL_PTR(s->arms.data[1], p.arms.data[0]);
    portfolio_free(&p);
    search_free(s);
    free(s);
}

/* One arm was run often because it came first, the others hardly: that is no reason to run it. */
static void test_a_mix_does_not_ask_who_was_run_often(void)
{
    struct search *s = malloc(sizeof *s);
    struct portfolio p = { 0 };
    read_bias("examples/profiles.bias");
    start_search(s, 3);
    for (uint32_t i = 0; i < s->roots; i++)
        pretend(s->arms.data[i], 4, 4e3, i * 100, i * 100 + 100, 2);
    pretend(s->arms.data[3], 16, 1.6e4, 300, 400, 8);
    choose_mix(&p, s, 0, 8);
    TEST_ASSERT_EQUAL_INT(s->roots, p.chosen);
    for (int i = 0; i < p.chosen; i++)
        TEST_ASSERT_LESS_THAN_UINT32(250, p.profiles.data[i].weight);
    portfolio_free(&p);
    search_free(s);
    free(s);
}

/* While some profile has not been run, all stays as it was. */
static void test_nothing_is_chosen_before_every_profile_was_run(void)
{
    struct search *s = malloc(sizeof *s);
    struct portfolio p = { 0 };
    read_bias("examples/profiles.bias");
    start_search(s, 3);
    pretend_all(s, 20);
    pretend(s->arms.data[0], 20, 2e4, 0, 100, 20);
    pretend(s->arms.data[1], 0, 0, 0, 0, 0);
    choose_mix(&p, s, 0, 8);
    TEST_ASSERT_EQUAL_INT(0, p.chosen);
    TEST_ASSERT_EQUAL_size_t(s->roots, p.profiles.count);
    portfolio_free(&p);
    search_free(s);
    free(s);
}

/* A child of the first profile that reaches so many points. */
static struct arm *add_child(struct search *s, const struct arm *parent, uint32_t to)
{
    struct arm *a = NULL;
    while (!a)
        a = arm_child(&s->mutate, parent, NULL, s->arms.count, &s->random);
    TEST_ASSERT_TRUE(LIST_PUSH(&s->arms, a));
    pretend(a, 40, 4e4, 0, to, 20);
    return a;
}

/* A child has a place only where its parent, or the parent's parent, would reach less in it; what
 * these would reach is told. */
static void test_a_move_is_kept_only_where_something_speaks_for_it(void)
{
    struct search *s = malloc(sizeof *s);
    struct portfolio p = { 0 };
    read_bias("examples/profiles.bias");
    start_search(s, 3);
    pretend_all(s, 40);
    pretend(s->arms.data[0], 40, 4e4, 0, 100, 20);
    struct arm *same = add_child(s, s->arms.data[0], 100);
    choose_mix(&p, s, 0.5, 1);
    TEST_ASSERT_EQUAL_PTR(s->arms.data[0], p.arms.data[0]); /* it reaches the same */
    struct arm *better = add_child(s, same, 150);
    choose_mix(&p, s, 0.5, 1);
    TEST_ASSERT_EQUAL_PTR(better, p.arms.data[0]);
    TEST_ASSERT_EQUAL_size_t(2, p.instead[0].count);
    TEST_ASSERT_TRUE(p.expected > p.instead[0].data[0] + 10);
    TEST_ASSERT_TRUE(p.expected > p.instead[0].data[1] + 10);
    portfolio_free(&p);
    search_free(s);
    free(s);
}

/* What is new in a round is shared among all tests of it that reached it. */
static void test_nobody_gains_by_being_first_in_a_round(void)
{
    struct search *s = malloc(sizeof *s);
    struct tune_round round = { 0 };
    struct batch batches[MOST_BATCHES];
    read_bias("examples/profiles.bias");
    start_search(s, 3);
    s->plan.ways.batches = 1; /* all profiles have their turn in the first round nevertheless */
    int count = search_choose(s, batches);
    TEST_ASSERT_EQUAL_INT(s->roots, count);
    for (int i = 0; i < count * 8; i++) {
        struct tune_test t = { .cost = 1000 };
        for (uint32_t p = 0; p < 56; p++)
            cover_hit(&t.hits, p);
        TEST_ASSERT_TRUE(LIST_PUSH(&round.tests, t));
    }
    search_take(s, batches, count, &round);
    for (size_t i = 0; i < s->roots; i++)
        TEST_ASSERT_TRUE(fabs(s->arms.data[i]->paid.points - 56.0 / (double)s->roots) < 1e-9);
    LIST_FREE(&round.tests);
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
    pretend_all(s, 100);
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
    pretend_all(s, 100);
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

/* ---- advice on knobs ------------------------------------------------------------------------- */

/* Rounds of batches at values 0 to 3, of which `better` brings `times` what the others do; new
 * points come in clumps, and become rarer. */
static int advice(int rounds, int better, double times, double *told)
{
    struct knobs k = { .knob = { { .option = "--delay", .count = 4 },
                                 { .option = "--sizes", .count = 1 } } };
    struct random random;
    random_seed(&random, 7, 0);
    for (int round = 0; round < rounds; round++) {
        double fresh[16], all = 0;
        for (int i = 0; i < 16; i++) {
            fresh[i] = random_chance(&random, 30) ? 400.0 / (round + 1) : 0;
            fresh[i] *= i % 4 == better ? times : 1;
            all += fresh[i];
        }
        for (int i = 0; i < 16; i++)
            knobs_weigh(&k, &(struct knobs_at){ { i % 4, 0 } }, fresh[i] / sqrt(all + 1),
                        all / 16 / sqrt(all + 1));
    }
    TEST_ASSERT_EQUAL(-1, knob_best(&k.knob[1], told)); /* cannot be turned */
    return knob_best(&k.knob[0], told);
}

static void knobs_are_advised_where_the_evidence_is_clear(void)
{
    double times = 0;
    TEST_ASSERT_EQUAL(2, advice(200, 2, 4, &times));
    TEST_ASSERT_TRUE(times > 1.5 && times < 4);
    TEST_ASSERT_EQUAL(0, advice(200, 0, 4, &times));
}

static void knobs_are_not_advised_without_it(void)
{
    double times;
    TEST_ASSERT_EQUAL(-1, advice(0, 0, 1, &times));
    TEST_ASSERT_EQUAL(-1, advice(200, 2, 1, &times));   /* none is better */
    TEST_ASSERT_EQUAL(-1, advice(200, 2, 1.2, &times)); /* by little */
    TEST_ASSERT_EQUAL(-1, advice(4, 2, 4, &times));     /* soon said */
}

/* ---- the comparison, and all of it ------------------------------------------------------------- */

/* Tests that each reach some of so many points, at a cost that is now and then ten times as much. */
static void contend(struct contest *c, int who, uint32_t points, uint64_t tests, struct random *r)
{
    struct tune_round round = { 0 };
    struct batch batch = { .count = tests, .owner = &c->who[who] };
    for (uint64_t i = 0; i < tests; i++) {
        struct tune_test t = { .cost = random_chance(r, 10) ? 10000 : 1000 };
        for (int n = 0; n < 20; n++)
            cover_hit(&t.hits, random_below(r, points));
        TEST_ASSERT_TRUE(LIST_PUSH(&round.tests, t));
    }
    TEST_ASSERT_TRUE(contest_take(c, &batch, 1, &round));
    LIST_FREE(&round.tests);
}

/* Of so many comparisons, those in which the first seems to reach more. */
static int count_gains(uint64_t comparisons, uint32_t points, uint64_t tests)
{
    int gains = 0;
    for (uint64_t seed = 0; seed < comparisons; seed++) {
        struct contest c = { .cost = INFINITY };
        struct random r;
        random_seed(&r, seed, 17);
        contest_add(&c, "tuned", b);
        contest_add(&c, "untuned", b);
        contend(&c, 0, points, tests, &r);
        contend(&c, 1, 1000, tests, &r);
        gains += contest_chance(&c, seed) <= 0.05;
        contest_free(&c);
    }
    return gains;
}

static void test_chance_is_not_taken_for_a_gain(void)
{
    TEST_ASSERT_LESS_OR_EQUAL_INT_MESSAGE(7, count_gains(60, 1000, 30), "3 are expected");
    TEST_ASSERT_LESS_OR_EQUAL_INT(2, count_gains(6, 1000, 600)); /* samples of several tests */
    TEST_ASSERT_GREATER_OR_EQUAL_INT(16, count_gains(20, 4000, 60));
}

/* A test that is under way at the end counts by the part of it that was over. */
static void test_a_long_test_at_the_end_counts_in_part(void)
{
    struct contest c = { .cost = 1000 };
    struct tune_round round = { 0 };
    struct tune_test t = { .cost = 2000 };
    contest_add(&c, "tuned", b);
    for (uint32_t p = 0; p < 100; p++)
        cover_hit(&t.hits, p);
    TEST_ASSERT_TRUE(LIST_PUSH(&round.tests, t));
    struct batch batch = { .count = 1, .owner = &c.who[0] };
    TEST_ASSERT_TRUE(contest_take(&c, &batch, 1, &round));
    TEST_ASSERT_EQUAL_UINT64(50, contest_reached(&c, &c.who[0]));
    LIST_FREE(&round.tests);
    contest_free(&c);
}

/* Of a bias some of whose tests the machine refuses, only the others are run. */
static void test_a_contest_passes_over_what_the_machine_refuses(void)
{
    struct search_plan plan = { .can = can_all, .seed = 1 };
    struct contest c = { .cost = INFINITY, .usual = 1000, .plan = &plan };
    struct batch batches[MOST_BATCHES];
    uint64_t tests = 0;
    plan.can.threads = 3;
    TEST_ASSERT_TRUE(bias_read(b, "examples/profiles.bias", &e));
    TEST_ASSERT_TRUE_MESSAGE(bias_set(b, "test.threads=3", &e), e.reason);
    plan.can.amo_sizes = plan.can.cas_sizes = 0; /* some tests have such */
    plan.can.transactions = false;
    contest_add(&c, "tuned", b);
    for (int i = 0; i < 20; i++) {
        int count = contest_choose(&c, 100, batches);
        TEST_ASSERT_EQUAL_INT(1, count);
        TEST_ASSERT_EQUAL_UINT64(batches[0].count,
                                 setting_count_fitting(b, &plan.can, 1, batches[0].first,
                                                       batches[0].count));
        tests += batches[0].count;
    }
    TEST_ASSERT_GREATER_THAN_UINT64(tests, c.who[0].next - (UINT64_C(1) << 40)); /* not all */
    contest_free(&c);
}

/* What the made-up machine costs, and reaches in the comparison, if it is tuned and if not. */
struct world {
    uint64_t cost;
    uint32_t tuned, untuned;
};

static void bring_round(struct tuning *t, const struct batch *batches, int count,
                        const struct world *w, struct tune_round *round)
{
    int i = 0;
    uint64_t k = 0;
    for (round->tests.count = 0; tuning_wants(t, batches, count, round); k++) {
        for (; k == batches[i].count; k = 0)
            i++;
        struct tune_test test = { .cost = w->cost };
        struct random r;
        random_seed(&r, batches[i].first + k, (uint64_t)i);
        bool tuned = t->phase == TUNING_CONTEST && batches[i].owner == &t->contest.who[0];
        for (int n = 0; n < 20; n++)
            cover_hit(&test.hits, random_below(&r, tuned ? w->tuned : w->untuned));
        TEST_ASSERT_TRUE(LIST_PUSH(&round->tests, test));
    }
}

/* Until it is done, or is interrupted after so many rounds. */
static void tune_rounds(struct tuning *t, const struct tuning_budget *budget, const struct world *w,
                        int rounds)
{
    struct tuning_plan plan = {
        .search = { .base = b,
                    .can = can_all,
                    .seed = 1,
                    .ways = { .batches = 16,
                              .tests = 4,
                              .keep = 0.9,
                              .mutate = true,
                              .patience = 10 } },
        .budget = *budget,
        .profiles = 8,
        .keep = 0.5,
        .compare = true,
    };
    struct tune_round round = { 0 };
    struct batch batches[MOST_BATCHES];
    int count = 0;
    TEST_ASSERT_TRUE(tuning_new(t, &plan));
    while (rounds-- > 0 && (count = tuning_choose(t, batches)) > 0) {
        bring_round(t, batches, count, w, &round);
        TEST_ASSERT_TRUE(tuning_take(t, batches, count, &round));
    }
    TEST_ASSERT_TRUE(tuning_conclude(t));
    LIST_FREE(&round.tests);
}

static void tune(struct tuning *t, const struct tuning_budget *budget, const struct world *w)
{
    tune_rounds(t, budget, w, INT_MAX);
    TEST_ASSERT_EQUAL_INT(TUNING_DONE, t->phase);
}

/* Whether or not tests are dear, it takes what it may take, and each side its eighth. */
static void test_a_budget_is_kept_to_and_shared_out(void)
{
    static const uint64_t costs[] = { 1000, 20000, 60000 };
    read_bias("examples/profiles.bias");
    for (int i = 0; i < 3; i++) {
        struct tuning *t = malloc(sizeof *t);
        double test = (double)costs[i], budget = 3e6;
        tune(t, &(struct tuning_budget){ .cost = 3000000 },
             &(struct world){ costs[i], 1000, 1000 });
        TEST_ASSERT_TRUE(t->cost >= budget && t->cost <= budget + 3 * test);
        for (int k = 0; k < 2; k++) {
            double cost = t->contest.who[k].cost;
            TEST_ASSERT_TRUE(cost >= budget / 8 && cost <= budget / 8 + test);
        }
        tuning_free(t);
        tune(t, &(struct tuning_budget){ .tests = 333 }, &(struct world){ costs[i], 1000, 1000 });
        TEST_ASSERT_EQUAL_UINT64(333, t->tests);
        TEST_ASSERT_EQUAL_UINT64(249, t->search.tests);
        TEST_ASSERT_EQUAL_UINT64(42, t->contest.who[0].tests);
        tuning_free(t);
        free(t);
    }
}

static void test_only_what_is_better_is_kept(void)
{
    static const struct {
        struct world world;
        enum tuning_verdict verdict;
        bool tuned;
    } cases[] = {
        { { 1000, 2000, 1000 }, TUNING_GAIN, true },
        { { 1000, 1000, 1000 }, TUNING_NO_GAIN, false },
        { { 1000, 700, 1000 }, TUNING_NO_GAIN, false },
    };
    struct tuning *t = malloc(sizeof *t);
    read_bias("examples/profiles.bias");
    for (int i = 0; i < 3; i++) {
        tune(t, &(struct tuning_budget){ .tests = 800 }, &cases[i].world);
        TEST_ASSERT_EQUAL_INT(cases[i].verdict, tuning_verdict(t));
        TEST_ASSERT_EQUAL_INT(cases[i].tuned, tuning_keeps_tuned(t));
        tuning_free(t);
    }
    tune(t, &(struct tuning_budget){ .tests = 20 },
         &cases[0].world); /* not every profile was run */
    TEST_ASSERT_EQUAL_INT(TUNING_TOO_LITTLE, tuning_verdict(t));
    TEST_ASSERT_FALSE(tuning_keeps_tuned(t));
    tuning_free(t);
    free(t);
}

/* Before there is a choice, what comes out is not called tuned. */
static void test_interrupted_it_keeps_what_was_chosen(void)
{
    static const struct {
        int rounds;
        enum tuning_verdict verdict;
        bool tuned;
    } cases[] = {
        { 0, TUNING_UNCHOSEN, false },
        { 1, TUNING_UNFINISHED, true },
        { 5, TUNING_UNFINISHED, true },
    };
    struct tuning *t = malloc(sizeof *t);
    read_bias("examples/profiles.bias");
    for (int i = 0; i < 3; i++) {
        tune_rounds(t, &(struct tuning_budget){ .tests = 800 }, &(struct world){ 1000, 1000, 1000 },
                    cases[i].rounds);
        TEST_ASSERT_EQUAL_INT(cases[i].verdict, tuning_verdict(t));
        TEST_ASSERT_EQUAL_INT(cases[i].tuned, tuning_keeps_tuned(t));
        tuning_free(t);
    }
    free(t);
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
    RUN_TEST(test_nobody_gains_by_being_first_in_a_round);
    RUN_TEST(test_a_mix_does_not_ask_who_was_run_often);
    RUN_TEST(test_nothing_is_chosen_before_every_profile_was_run);
    RUN_TEST(test_a_move_is_kept_only_where_something_speaks_for_it);
    RUN_TEST(test_a_mix_counts_on_what_is_still_hidden);
    RUN_TEST(test_a_mix_has_arms_that_complete_one_another);
    RUN_TEST(test_weights_follow_the_cost_of_tests);
    RUN_TEST(knobs_are_advised_where_the_evidence_is_clear);
    RUN_TEST(knobs_are_not_advised_without_it);
    RUN_TEST(test_chance_is_not_taken_for_a_gain);
    RUN_TEST(test_a_long_test_at_the_end_counts_in_part);
    RUN_TEST(test_a_contest_passes_over_what_the_machine_refuses);
    RUN_TEST(test_a_budget_is_kept_to_and_shared_out);
    RUN_TEST(test_only_what_is_better_is_kept);
    RUN_TEST(test_interrupted_it_keeps_what_was_chosen);
    return UNITY_END();
}
