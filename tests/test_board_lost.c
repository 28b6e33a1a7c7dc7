/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a machine loses: told and counted, neither passed nor failed, and the run goes on;
 * machines that leave a run, and that come to it. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/bias.h"
#include "targets/machine_pool.h"
#include "trial/pipeline.h"
#include "unity.h"

/* ---- a machine that loses some tests, after one iteration ------------------------------------ */

static atomic_uint_fast64_t runs;         /* tests, of all machines */
static uint64_t lose_from, lose_to;       /* by the order in which they run */
static bool fails;                        /* in the end, instead of losing */
static atomic_int served[2];              /* tests of a machine: it is one of these, or `runs` */
static bool waits;                        /* each, until the other one has a test, too */

static bool open_machine(const struct target_options *o, void **machine, struct why *why)
{
    (void)o, (void)why;
    *machine = &runs;
    return true;
}

static struct abilities can(const void *machine)
{
    (void)machine;
    return (struct abilities){ .threads = 4, .registers = 64, .load_sizes = 0x7f,
                               .store_sizes = 0x7f, .swap_sizes = 0x7f, .cas_sizes = 0x7f,
                               .memory = 1 << 20 };
}

static struct machine_claims claims(const void *machine)
{
    (void)machine;
    return (struct machine_claims){ .model = ORDEAL_SC, .atomic = 4 };
}

/* Memory never changes: nobody stores. */
static enum target_result run(void *machine, const struct program *p, uint64_t first,
                              uint64_t count, const struct target_sink *sink, struct why *why)
{
    uint64_t values[4096] = { 0 }, number = runs++;
    if (machine == &served[0] || machine == &served[1])
        ++*(atomic_int *)machine;
    for (int i = 0; waits && !(served[0] && served[1]) && i < 6000; i++)
        usleep(10000);
    struct machine_claims c = claims(machine);
    TEST_ASSERT_LESS_THAN(4096, program_words(p, &c));
    for (uint64_t i = 0; i < count; i++) {
        if (i == 1 && number >= lose_from && number < lose_to) {
            strcpy(why->text, "it was unplugged");
            return fails ? TARGET_FAILED : TARGET_LOST;
        }
        if (!sink->outcome(sink->user, first + i, values))
            return TARGET_STOPPED;
    }
    return TARGET_DONE;
}

static void close_machine(void *machine) { (void)machine; }

static const struct target target = { .name = "loser", .open = open_machine, .can = can,
                                      .claims = claims, .exact = true, .iterations = 3, .run = run,
                                      .close = close_machine };

/* ---- what the pipeline says of it -------------------------------------------------------------- */

static char told[1024];
static bool settled(void *user, const struct pipeline_test *t)
{
    (void)user;
    size_t used = strlen(told);
    if (t->lost)
        snprintf(told + used, sizeof told - used, "%d#%d %s; ", (int)t->number, (int)t->iteration,
                 t->lost);
    else
        snprintf(told + used, sizeof told - used, "%d; ", (int)t->number);
    return true;
}

static struct bias *bias;
void setUp(void)
{
    struct ordeal_error e;
    runs = 0;
    fails = waits = false;
    served[0] = served[1] = 0;
    told[0] = '\0';
    bias = bias_new();
    TEST_ASSERT_TRUE_MESSAGE(bias_set(bias, "operations.store=0", &e), e.reason);
    TEST_ASSERT_TRUE(bias_set(bias, "operations.swap=0", &e));
    TEST_ASSERT_TRUE(bias_set(bias, "operations.cas=0", &e));
    TEST_ASSERT_TRUE(bias_set(bias, "test.operations=5", &e));
    TEST_ASSERT_TRUE_MESSAGE(bias_check(bias, &e), e.reason);
}

void tearDown(void) { bias_free(bias); }

static struct pipeline_report run_all(uint64_t from, uint64_t to, enum pipeline_end end)
{
    void *machine = &runs;
    struct pipeline_report report;
    lose_from = from;
    lose_to = to;
    struct pipeline_plan plan = {
        .target = &target,
        .machines = &machine,
        .machine_count = 1,
        .source = { .bias = bias, .seed = 1, .count = 6, .files = (char *[]){ NULL } },
        .iterations = 3,
        .check = true,
        .model = ORDEAL_SC,
        .limit = 60,
        .settled = settled
    };
    TEST_ASSERT_EQUAL_MESSAGE(end, pipeline_run(&plan, &report), report.error.reason);
    return report;
}

static void test_the_run_goes_on(void)
{
    struct pipeline_report r = run_all(2, 4, PIPELINE_DONE);
    TEST_ASSERT_EQUAL_STRING("0; 1; 2#1 it was unplugged; 3#1 it was unplugged; 4; 5; ", told);
    TEST_ASSERT_EQUAL_UINT64(6, r.totals.tests);
    TEST_ASSERT_EQUAL_UINT64(2, r.totals.lost);
    TEST_ASSERT_EQUAL_UINT64(4, r.totals.results[ORDEAL_PASS]);
    TEST_ASSERT_EQUAL_UINT64(0, r.totals.results[ORDEAL_FAIL]);
    TEST_ASSERT_EQUAL_UINT64(6, r.totals.next);
    TEST_ASSERT_EQUAL_UINT64(4 * 3 + 2, r.totals.iterations);
}

static void test_the_last_one_lost(void)
{
    TEST_ASSERT_EQUAL_UINT64(1, run_all(5, 6, PIPELINE_DONE).totals.lost);
    TEST_ASSERT_EQUAL_STRING("0; 1; 2; 3; 4; 5#1 it was unplugged; ", told);
}

static void test_gone_for_good_is_an_end(void)
{
    fails = true;
    struct pipeline_report r = run_all(2, 3, PIPELINE_TARGET);
    TEST_ASSERT_EQUAL_STRING("it was unplugged", r.error.reason);
    TEST_ASSERT_EQUAL_UINT64(0, r.totals.lost);
    TEST_ASSERT_EQUAL_UINT64(2, r.totals.next);
}

/* ---- machines that come and go --------------------------------------------------------------- */

static int asked, at_work_then;

static void *another(void *user, int at_work)
{
    at_work_then = at_work;
    return ++asked == 1 ? user : NULL;
}

static int count_none(void) { return 0; }

static struct target things_of(struct target t)
{
    t.present = count_none;
    return t;
}

static struct pipeline_report run_all_on(const struct target *target, int count,
                                         void *(*more)(void *user, int at_work),
                                         enum pipeline_end end)
{
    void *machines[] = { &served[0], &served[1] };
    struct pipeline_report report;
    struct pipeline_plan plan = {
        .target = target,
        .machines = machines,
        .machine_count = count,
        .source = { .bias = bias, .seed = 1, .count = 100, .files = (char *[]){ NULL } },
        .iterations = 3,
        .check = true,
        .model = ORDEAL_SC,
        .limit = 60,
        .settled = settled,
        .another = more,
        .user = &served[1]
    };
    asked = 0;
    TEST_ASSERT_EQUAL_MESSAGE(end, pipeline_run(&plan, &report), report.error.reason);
    return report;
}

/* Of two machines one goes: one test is lost, the other machine does the rest. */
static void test_one_of_two_leaves(void)
{
    fails = true;
    lose_from = 20;
    lose_to = 21;
    struct target thing = things_of(target);
    struct pipeline_report r = run_all_on(&thing, 2, NULL, PIPELINE_DONE);
    TEST_ASSERT_EQUAL_UINT64(100, r.totals.tests);
    TEST_ASSERT_EQUAL_UINT64(1, r.totals.lost);
    TEST_ASSERT_EQUAL_UINT64(99, r.totals.results[ORDEAL_PASS]);
    TEST_ASSERT_EQUAL_UINT64(100, runs);
}

/* When the last one goes, that is the end, and its test is the next to be run. */
static void test_the_last_one_ends_it(void)
{
    fails = true;
    lose_from = 20;
    lose_to = 22;
    struct target thing = things_of(target);
    struct pipeline_report r = run_all_on(&thing, 2, NULL, PIPELINE_TARGET);
    TEST_ASSERT_EQUAL_STRING("it was unplugged", r.error.reason);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(1, r.totals.lost);
    TEST_ASSERT_EQUAL_UINT64(22, runs);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(21, r.totals.next);
}

/* Machines that are no things do not go: they fail. */
static void test_others_fail_the_run(void)
{
    fails = true;
    lose_from = 20;
    lose_to = 21;
    run_all_on(&target, 2, NULL, PIPELINE_TARGET);
}

static void test_one_comes(void)
{
    waits = true;
    lose_from = lose_to = 0;
    struct pipeline_report r = run_all_on(&target, 1, another, PIPELINE_DONE);
    TEST_ASSERT_EQUAL_UINT64(100, r.totals.results[ORDEAL_PASS]);
    TEST_ASSERT_EQUAL(1, at_work_then);
    TEST_ASSERT_GREATER_THAN(0, served[0]);
    TEST_ASSERT_GREATER_THAN(0, served[1]);
    TEST_ASSERT_EQUAL(100, served[0] + served[1]);
    for (int i = 0; i < 99; i++) { /* and all is told in order */
        char next[16];
        snprintf(next, sizeof next, "%d; %d; ", i, i + 1);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(told, next), told);
    }
}

/* ---- machines that are things ---------------------------------------------------------------- */

static int things[3], opened, closed, there;
static bool different;

static bool open_thing(const struct target_options *o, void **machine, struct why *why)
{
    (void)o;
    if (opened == there) {
        strcpy(why->text, "no more");
        return false;
    }
    *machine = &things[opened++];
    return true;
}

static void close_thing(void *machine)
{
    (void)machine;
    closed++;
}

static int count_things(void) { return there; }

static bool right(const struct target_options *o, struct why *why)
{
    strcpy(why->text, "what link?");
    return !o->link;
}

static bool alike(const void *a, const void *b, struct why *why)
{
    strcpy(why->text, a == b ? "the same twice" : "they differ");
    return a != b && !different;
}

static const struct target thing = { .name = "board", .open = open_thing, .close = close_thing,
                                     .usage = right, .connected = count_things, .present = count_things,
                                     .alike = alike };

static bool opens(int jobs, const struct target_options *o, struct machine_pool *m, struct why *why)
{
    opened = closed = 0;
    return machine_pool_open(m, &thing, o, jobs, why);
}

static void test_boards_are_not_opened_twice(void)
{
    struct target_options o = { 0 };
    struct machine_pool m;
    struct why why;
    there = 3;
    different = false;
    TEST_ASSERT_EQUAL(3, machine_pool_usual_jobs(&thing, &o));
    TEST_ASSERT_TRUE(opens(3, &o, &m, &why));
    TEST_ASSERT_EQUAL(3, opened);
    machine_pool_close(&m);
    TEST_ASSERT_EQUAL(3, closed);
    TEST_ASSERT_TRUE(opens(1, &o, &m, &why));
    TEST_ASSERT_EQUAL(1, opened);
    machine_pool_close(&m);
    TEST_ASSERT_EQUAL(1, closed);
}

static void test_too_few_or_unlike_boards(void)
{
    struct target_options o = { 0 };
    struct machine_pool m;
    struct why why;
    there = 2;
    TEST_ASSERT_FALSE(opens(3, &o, &m, &why));
    TEST_ASSERT_EQUAL_STRING("3 were asked for, 2 can be used: no more", why.text);
    TEST_ASSERT_TRUE(m.missing);
    TEST_ASSERT_EQUAL(2, closed);
    different = true;
    TEST_ASSERT_FALSE(opens(2, &o, &m, &why));
    TEST_ASSERT_EQUAL_STRING("they differ", why.text);
    TEST_ASSERT_EQUAL(2, closed);
    there = 0;
    TEST_ASSERT_EQUAL(1, machine_pool_usual_jobs(&thing, &o));
    o.link = "telepathy";
    TEST_ASSERT_FALSE(opens(1, &o, &m, &why));
    TEST_ASSERT_FALSE(m.missing);
}

/* It is tried once, and again only when it has gone and come, or another has. */
static void test_a_board_that_comes(void)
{
    struct target_options o = { 0 };
    struct machine_pool m;
    struct why why;
    for (int jobs = 1; jobs <= 2; jobs++) {
        there = jobs;
        different = false;
        TEST_ASSERT_TRUE(opens(jobs, &o, &m, &why));
        TEST_ASSERT_NULL(machine_pool_another(&m, jobs, &why));
        TEST_ASSERT_EQUAL_STRING("", why.text);
        there = jobs + 1;
        different = true;
        TEST_ASSERT_NULL(machine_pool_another(&m, jobs, &why));
        TEST_ASSERT_EQUAL_STRING("they differ", why.text);
        TEST_ASSERT_EQUAL(1, closed);
        TEST_ASSERT_NULL(machine_pool_another(&m, jobs, &why));
        TEST_ASSERT_EQUAL_STRING("", why.text);
        opened = jobs;
        there = jobs;
        TEST_ASSERT_NULL(machine_pool_another(&m, jobs, &why));
        there = jobs + 1;
        TEST_ASSERT_NULL(machine_pool_another(&m, jobs, &why));
        TEST_ASSERT_EQUAL_STRING("they differ", why.text);
        machine_pool_close(&m);
        TEST_ASSERT_EQUAL(2 + jobs, closed);

        there = jobs;
        different = false;
        TEST_ASSERT_TRUE(opens(jobs, &o, &m, &why));
        there = jobs + 1;
        void *machine = machine_pool_another(&m, jobs, &why);
        TEST_ASSERT_EQUAL_PTR(&things[jobs], machine);
        TEST_ASSERT_NULL(machine_pool_another(&m, jobs + 1, &why));
        machine_pool_close(&m);
        TEST_ASSERT_EQUAL(jobs + 1, closed);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_run_goes_on);
    RUN_TEST(test_the_last_one_lost);
    RUN_TEST(test_gone_for_good_is_an_end);
    RUN_TEST(test_one_of_two_leaves);
    RUN_TEST(test_the_last_one_ends_it);
    RUN_TEST(test_others_fail_the_run);
    RUN_TEST(test_one_comes);
    RUN_TEST(test_boards_are_not_opened_twice);
    RUN_TEST(test_too_few_or_unlike_boards);
    RUN_TEST(test_a_board_that_comes);
    return UNITY_END();
}
