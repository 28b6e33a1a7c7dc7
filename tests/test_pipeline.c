/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline alone, on machines that do what a script says: what is told, in which order and how
 * often, is a function of the script, whatever the number of machines and however they are delayed.
 *
 * Every test is `P0 S[A]#n; P1 L[A]; P1 L[A]`, its number n - 1: so a machine knows which one it
 * runs, and there are three outcomes that every model allows, and one that none does. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/random.h"
#include "test/bias.h"
#include "trial/pipeline.h"
#include "trial/pipeline_parts.h"
#include "unity.h"

enum { MOST_TESTS = 2000, MACHINES = 8, CYCLES = 7 /* of an iteration */, MOST_SLOTS = 6000 };

static const int machine_counts[] = { 1, 2, MACHINES };
enum { COUNTS = sizeof machine_counts / sizeof *machine_counts };

/* ---- the script ---------------------------------------------------------------------------- */

enum event { NOTHING, VIOLATES, IMPOSSIBLE /* values */, BREAKS, LOSES, FAILS, HANGS, PRESSES_C };

static struct script {
    uint64_t tests, iterations;
    struct happening {
        enum event event;
        uint64_t iteration;
    } at[MOST_TESTS],
        then[MOST_TESTS]; /* what happens in a test, and what does later, if it gets there */
    uint64_t longer, longer_iterations; /* a test that has more; 0: none */
    uint64_t most_iterations;
    bool delays;
    bool hesitates; /* in tests where something happens: so long that all it brought is checked */
    bool wait_for_all; /* of `machines`, before a second test is run */
    int machines;
} script;

static uint64_t iterations_of(uint64_t number)
{
    return script.longer && number == script.longer ? script.longer_iterations : script.iterations;
}

/* ---- machines ------------------------------------------------------------------------------ */

static struct machine {
    atomic_int users; /* must be one at a time */
    struct random random;
    atomic_uint_fast64_t served, cycles;
} machines[MACHINES];

static atomic_uint_fast64_t begun[MOST_TESTS]; /* how often a test was run, the caller's left out */
static atomic_uint_fast64_t tests_begun, outcomes_made, pauses;
static atomic_int wrong; /* what must not happen; asserts are the main thread's */
static pthread_t caller;
static uint32_t threads_there;

static struct abilities can(const void *machine)
{
    (void)machine;
    return (struct abilities){ .threads = threads_there,
                               .registers = 64,
                               .load_sizes = 0x7f,
                               .store_sizes = 0x7f,
                               .swap_sizes = 0x7f,
                               .cas_sizes = 0x7f,
                               .memory = 1 << 20 };
}

static struct machine_claims claims(const void *machine)
{
    (void)machine;
    return (struct machine_claims){ .model = ORDEAL_SC, .atomic = 4 };
}

static uint64_t cycles(const void *machine) { return ((const struct machine *)machine)->cycles; }

static void dawdle(struct machine *m)
{
    if (script.delays && random_below(&m->random, 4) == 0)
        usleep(random_below(&m->random, 200));
}

static enum event event_at(uint64_t number, uint64_t iteration)
{
    return script.at[number].iteration == iteration   ? script.at[number].event
         : script.then[number].iteration == iteration ? script.then[number].event
                                                      : NOTHING;
}

/* Legal ones come again and again: (0, 0), (0, n), (n, n). */
static void outcome_of(uint64_t number, uint64_t iteration, uint64_t values[2])
{
    enum event now = event_at(number, iteration);
    uint64_t n = number + 1, kind = iteration % 3;
    values[0] = kind == 2 ? n : 0;
    values[1] = kind >= 1 ? n : 0;
    if (now == VIOLATES)
        values[0] = n, values[1] = 0;
    if (now == IMPOSSIBLE)
        values[0] = UINT64_C(5) << 30; /* more than a word */
}

static enum target_result happen(enum event event, struct why *why)
{
    static const struct {
        enum target_result result;
        const char *why;
    } ends[] = {
        [BREAKS] = { TARGET_BROKE, "it broke" },  [LOSES] = { TARGET_LOST, "it was unplugged" },
        [FAILS] = { TARGET_FAILED, "it failed" }, [HANGS] = { TARGET_HUNG, "it hung" },
        [PRESSES_C] = { TARGET_DONE, "" },
    };
    if (event < BREAKS)
        return TARGET_DONE;
    if (event == PRESSES_C)
        for (kill(getpid(), SIGINT); !interrupted();)
            sched_yield();
    strcpy(why->text, ends[event].why);
    return ends[event].result;
}

/* From `i` to `end`; that of a test which does not have so many is done sooner. */
static enum target_result iterate(struct machine *m, const struct program *p, uint64_t i,
                                  uint64_t end, const struct target_sink *sink, struct why *why)
{
    uint64_t values[MOST_SLOTS], number = p->thread[0].code[0].write - 1;
    for (; i < end && i < iterations_of(number); i++) {
        enum target_result happened = happen(event_at(number, i), why);
        if (happened != TARGET_DONE)
            return happened;
        outcome_of(number, i, values);
        for (uint32_t k = 2; k < p->slots; k++)
            values[k] = values[1];
        m->cycles += CYCLES;
        outcomes_made++;
        if (!sink->outcome(sink->user, i, values) || interrupted())
            return TARGET_STOPPED;
        if (i % 16 == 0)
            dawdle(m);
        if (script.hesitates && script.at[number].event && i % 64 == 63)
            usleep(12000);
    }
    return TARGET_DONE;
}

static void wait_for_all(void)
{
    for (int patience = 0, there = 0; there < script.machines && patience < 20000; patience++) {
        usleep(500);
        there = 0;
        for (int i = 0; i < script.machines; i++)
            there += machines[i].served > 0;
    }
}

static enum target_result run(void *machine, const struct program *p, uint64_t first,
                              uint64_t count, const struct target_sink *sink, struct why *why)
{
    struct machine *m = machine;
    uint64_t number = p->thread[0].code[0].write - 1;
    wrong += number >= MOST_TESTS || first + count > script.most_iterations || p->slots > MOST_SLOTS
          || ++m->users != 1;
    if (!pthread_equal(pthread_self(), caller) && first) {
        pauses++;
    } else if (!pthread_equal(pthread_self(), caller)) {
        begun[number]++;
        tests_begun++;
        m->served++;
    }
    dawdle(m);
    if (script.wait_for_all)
        wait_for_all();
    enum target_result result = iterate(m, p, first, first + count, sink, why);
    m->users--;
    return result;
}

static int present(void) { return 0; }

static const struct target fixed = {
    .name = "script", .can = can, .claims = claims, .exact = true, .run = run, .cycles = cycles
};
static const struct target things = { .name = "script",
                                      .can = can,
                                      .claims = claims,
                                      .exact = true,
                                      .run = run,
                                      .cycles = cycles,
                                      .present = present };

/* ---- tests in memory ----------------------------------------------------------------------- */

static char path[64];

/* `odd` takes the place of test number `at`. */
static void write_tests(uint64_t at, const char *odd)
{
    int file = memfd_create("tests", MFD_CLOEXEC);
    FILE *f = fdopen(dup(file), "w");
    for (uint64_t i = 0; i < script.tests; i++)
        if (odd && i == at)
            fprintf(f, "ordeal 1\n%s", odd);
        else
            fprintf(f, "ordeal 1\nP0 S[A]#%" PRIu64 "\nP1 L[A]\nP1 L[A]\n", i + 1);
    fclose(f);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
}

static void close_tests(void)
{
    int file;
    if (sscanf(path, "/proc/self/fd/%d", &file) == 1)
        close(file);
    path[0] = '\0';
}

/* ---- what is told -------------------------------------------------------------------------- */

static struct told {
    uint64_t settled, outcomes;             /* calls */
    uint64_t next_test, next_iteration;     /* of outcomes: what must come */
    uint64_t stop_at_test, stop_at_outcome; /* number of the call */
    uint64_t iterations, distinct, operations, cycles, lost, results[3]; /* sums of what was told */
    uint64_t most_unsettled;
    bool press; /* ^C when the first is told and others have run */
    bool again; /* a test that fails is run again, on the first machine */
    bool stopped;
    struct {
        uint64_t number, iteration;
        enum ordeal_result result;
        bool lost, broke;
        struct sums {
            uint64_t iterations, distinct, cycles;
        } sums;
    } of[MOST_TESTS];
} told;

static bool outcome(void *user, const struct pipeline_test *t, uint64_t iteration,
                    const uint64_t *values)
{
    uint64_t expected[2];
    (void)user;
    TEST_ASSERT_TRUE(pthread_equal(pthread_self(), caller));
    TEST_ASSERT_FALSE(told.stopped);
    if (t->number != told.next_test) { /* the one before came to an early end */
        TEST_ASSERT_GREATER_THAN_UINT64(told.next_test, t->number);
        told.next_test = t->number;
        told.next_iteration = 0;
    }
    TEST_ASSERT_EQUAL_UINT64(told.next_iteration, iteration);
    outcome_of(t->number, iteration, expected);
    TEST_ASSERT_EQUAL_UINT64_ARRAY(expected, values, 2);
    told.next_iteration++;
    if (told.press && !told.outcomes) {
        for (int patience = 0; tests_begun < 50 && patience < 20000; patience++)
            usleep(500);
        kill(getpid(), SIGINT);
    }
    told.stopped = ++told.outcomes == told.stop_at_outcome;
    return !told.stopped;
}

static bool any(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)user, (void)iteration, (void)values;
    return true;
}

static void note_values(const struct pipeline_test *t)
{
    uint64_t expected[2];
    if (t->result == ORDEAL_PASS || t->broke || t->lost)
        return;
    TEST_ASSERT_NOT_NULL(t->values);
    outcome_of(t->number, t->iteration, expected);
    TEST_ASSERT_EQUAL_UINT64_ARRAY(expected, t->values, 2);
}

static bool settled(void *user, const struct pipeline_test *t)
{
    (void)user;
    uint64_t unsettled = tests_begun - told.settled;
    told.most_unsettled = unsettled > told.most_unsettled ? unsettled : told.most_unsettled;
    TEST_ASSERT_TRUE(pthread_equal(pthread_self(), caller));
    TEST_ASSERT_FALSE(told.stopped);
    TEST_ASSERT_LESS_THAN_UINT64(MOST_TESTS, told.settled);
    TEST_ASSERT_TRUE(!told.settled || t->number > told.of[told.settled - 1].number);
    told.of[told.settled].number = t->number;
    told.of[told.settled].result = t->result;
    told.of[told.settled].iteration = t->iteration;
    told.of[told.settled].lost = t->lost;
    told.of[told.settled].broke = t->broke;
    told.of[told.settled].sums = (struct sums){ t->iterations, t->outcomes, t->cycles };
    note_values(t);
    told.iterations += t->iterations;
    told.distinct += t->outcomes;
    told.operations += t->operations;
    told.cycles += t->cycles;
    ++*(t->lost ? &told.lost : &told.results[t->result]);
    if (told.again && t->result != ORDEAL_PASS) {
        struct target_sink sink = { .outcome = any };
        struct why why;
        fixed.run(&machines[0], t->program, 0, 1, &sink, &why);
    }
    told.stopped = ++told.settled == told.stop_at_test;
    return !told.stopped;
}

/* ---- a run --------------------------------------------------------------------------------- */

static struct pipeline_report report;

void setUp(void)
{
    memset(&script, 0, sizeof script);
    memset(&told, 0, sizeof told);
    script.tests = 100;
    script.iterations = 10;
    caller = pthread_self();
    threads_there = 2;
}

void tearDown(void) { close_tests(); }

static struct pipeline_plan plan_of(const struct target *target, int count, void **addresses)
{
    static char *files[2];
    for (int i = 0; i < MACHINES; i++) {
        addresses[i] = &machines[i];
        machines[i].users = 0;
        machines[i].served = machines[i].cycles = 0;
        random_seed(&machines[i].random, 1, (uint64_t)i);
    }
    for (int i = 0; i < MOST_TESTS; i++)
        begun[i] = 0;
    tests_begun = outcomes_made = pauses = 0;
    wrong = 0;
    script.machines = count;
    script.most_iterations = script.iterations > script.longer_iterations
                               ? script.iterations
                               : script.longer_iterations;
    struct told fresh = { .stop_at_test = told.stop_at_test,
                          .again = told.again,
                          .stop_at_outcome = told.stop_at_outcome };
    told = fresh;
    if (!*path)
        write_tests(0, NULL);
    files[0] = path;
    return (struct pipeline_plan){
        .target = target,
        .machines = addresses,
        .machine_count = count,
        .source = { .files = files },
        .iterations = script.most_iterations,
        .check = true,
        .model = ORDEAL_SC,
        .limit = 60,
        .settled = settled,
    };
}

/* What holds of every run, however it ends. */
static void check_sums(const struct pipeline_plan *plan)
{
    const struct pipeline_totals *t = &report.totals;
    TEST_ASSERT_EQUAL(0, wrong);
    TEST_ASSERT_EQUAL_UINT64(told.settled, t->tests);
    TEST_ASSERT_EQUAL_UINT64(told.lost, t->lost);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL_UINT64(told.results[i], t->results[i]);
    TEST_ASSERT_EQUAL_UINT64(t->tests, t->lost + t->results[0] + t->results[1] + t->results[2]);
    TEST_ASSERT_EQUAL_UINT64(t->iterations * 3, t->operations);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(told.iterations, t->iterations);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(told.cycles, t->cycles);
    uint64_t next = 0;
    while (next < told.settled && told.of[next].number == next)
        next++;
    TEST_ASSERT_EQUAL_UINT64(next, t->next);
    for (int i = 0; i < MOST_TESTS; i++)
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(1, begun[i]);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(FLIGHT_TESTS + 1 + (uint64_t)plan->machine_count,
                                     told.most_unsettled);
}

static void go(struct pipeline_plan *plan, enum pipeline_end end)
{
    enum pipeline_end is = pipeline_run(plan, &report);
    TEST_ASSERT_EQUAL_MESSAGE(end, is, report.error.reason);
    check_sums(plan);
}

static void run_on(const struct target *target, int count, enum pipeline_end end)
{
    void *addresses[MACHINES];
    struct pipeline_plan plan = plan_of(target, count, addresses);
    go(&plan, end);
}

static void run_and_tell(const struct target *target, int count, bool check, enum pipeline_end end)
{
    void *addresses[MACHINES];
    struct pipeline_plan plan = plan_of(target, count, addresses);
    plan.check = check;
    plan.outcome = outcome;
    go(&plan, end);
}

/* 0 to n - 1, none left out or told twice. */
static void check_settled(uint64_t n)
{
    TEST_ASSERT_EQUAL_UINT64(n, told.settled);
    for (uint64_t i = 0; i < n; i++)
        TEST_ASSERT_EQUAL_UINT64(i, told.of[i].number);
}

static void set(uint64_t number, enum event event, uint64_t iteration)
{
    script.at[number].event = event;
    script.at[number].iteration = iteration;
}

/* ---- order, and nothing lost or doubled ----------------------------------------------------- */

static void test_settled_in_order(void)
{
    script.delays = true;
    script.tests = 300;
    for (int i = 0; i < COUNTS; i++) {
        run_on(&fixed, machine_counts[i], PIPELINE_DONE);
        check_settled(300);
        TEST_ASSERT_EQUAL_UINT64(300, report.totals.results[ORDEAL_PASS]);
        TEST_ASSERT_EQUAL_UINT64(300 * 10, report.totals.iterations);
        TEST_ASSERT_EQUAL_UINT64(300 * 10 * CYCLES, report.totals.cycles);
        TEST_ASSERT_EQUAL_UINT64(300, tests_begun);
    }
}

/* Of ten iterations three differ. */
static void test_repeated_outcomes_count_once(void)
{
    run_on(&fixed, 2, PIPELINE_DONE);
    TEST_ASSERT_EQUAL_UINT64(100 * 3, report.totals.outcomes);
    TEST_ASSERT_EQUAL_UINT64(told.distinct, report.totals.outcomes);
    setUp();
    script.iterations = 2;
    run_on(&fixed, 2, PIPELINE_DONE);
    TEST_ASSERT_EQUAL_UINT64(100 * 2, report.totals.outcomes);
}

/* By their numbers, whichever machine runs them. */
static void test_early_tests_are_run_less_often(void)
{
    for (int i = 0; i < COUNTS; i++) {
        void *addresses[MACHINES];
        struct pipeline_plan plan = plan_of(&fixed, machine_counts[i], addresses);
        plan.early_tests = 30;
        plan.early_iterations = 4;
        go(&plan, PIPELINE_DONE);
        check_settled(100);
        TEST_ASSERT_EQUAL_UINT64(30 * 4 + 70 * 10, report.totals.iterations);
    }
}

static void test_outcomes_in_order(void)
{
    script.delays = true;
    script.tests = 200;
    for (int i = 0; i < COUNTS; i++)
        for (int check = 0; check < 2; check++) {
            run_and_tell(&fixed, machine_counts[i], check, PIPELINE_DONE);
            check_settled(200);
            TEST_ASSERT_EQUAL_UINT64(200 * 10, told.outcomes);
            TEST_ASSERT_EQUAL_UINT64(check ? 200 * 3 : 0, report.totals.outcomes);
        }
}

static void test_neither_checked_nor_told(void)
{
    void *addresses[MACHINES];
    struct pipeline_plan plan = plan_of(&fixed, 2, addresses);
    plan.check = false;
    go(&plan, PIPELINE_DONE);
    check_settled(100);
    TEST_ASSERT_EQUAL_UINT64(100 * 10, report.totals.iterations);
    TEST_ASSERT_EQUAL_UINT64(0, report.totals.outcomes);
}

/* Nobody stores, so 0 is right everywhere; tests have the numbers that were asked for. */
static enum target_result run_zeros(void *machine, const struct program *p, uint64_t first,
                                    uint64_t count, const struct target_sink *sink, struct why *why)
{
    uint64_t values[4096] = { 0 };
    (void)why;
    dawdle(machine);
    wrong += p->slots > 4096;
    for (uint64_t i = 0; i < count; i++)
        if (!sink->outcome(sink->user, first + i, values))
            return TARGET_STOPPED;
    return TARGET_DONE;
}

static uint64_t next_of_bias;
static bool settled_of_bias(void *user, const struct pipeline_test *t)
{
    (void)user;
    TEST_ASSERT_EQUAL_UINT64(next_of_bias++, t->number);
    TEST_ASSERT_EQUAL(ORDEAL_PASS, t->result);
    TEST_ASSERT_EQUAL_UINT64(1, t->outcomes);
    return true;
}

static void test_tests_of_a_bias(void)
{
    static const char *const settings[] = { "operations.store=0", "operations.swap=0",
                                            "operations.cas=0", "test.operations=5" };
    struct target target = fixed;
    struct ordeal_error e;
    void *addresses[MACHINES];
    struct bias *bias = bias_new();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        TEST_ASSERT_TRUE_MESSAGE(bias_set(bias, settings[i], &e), e.reason);
    TEST_ASSERT_TRUE_MESSAGE(bias_check(bias, &e), e.reason);
    target.run = run_zeros;
    target.cycles = NULL;
    script.delays = true;
    for (int i = 0; i < COUNTS; i++) {
        struct pipeline_plan plan = plan_of(&target, machine_counts[i], addresses);
        plan.source = (struct test_source_plan){
            .bias = bias, .seed = 3, .first = 40, .count = 300
        };
        plan.settled = settled_of_bias;
        next_of_bias = 40;
        TEST_ASSERT_EQUAL(PIPELINE_DONE, pipeline_run(&plan, &report));
        TEST_ASSERT_EQUAL_UINT64(340, next_of_bias);
        TEST_ASSERT_EQUAL_UINT64(340, report.totals.next);
        TEST_ASSERT_EQUAL_UINT64(300, report.totals.results[ORDEAL_PASS]);
        TEST_ASSERT_EQUAL(0, wrong);
    }
    bias_free(bias);
}

/* ---- violations ---------------------------------------------------------------------------- */

/* Of two in one test the first is told, with its values; the run goes on. */
static void test_violations(void)
{
    script.delays = true;
    set(0, VIOLATES, 0);
    set(40, VIOLATES, 7);
    set(99, VIOLATES, 9);
    for (int i = 0; i < COUNTS; i++) {
        run_on(&fixed, machine_counts[i], PIPELINE_DONE);
        check_settled(100);
        TEST_ASSERT_EQUAL_UINT64(3, report.totals.results[ORDEAL_FAIL]);
        TEST_ASSERT_EQUAL_UINT64(0, told.of[0].iteration);
        TEST_ASSERT_EQUAL_UINT64(7, told.of[40].iteration);
        TEST_ASSERT_EQUAL_UINT64(9, told.of[99].iteration);
    }
}

/* Whoever is told may run it again: the machine is then nobody else's (see `users`). Also when the
 * next test has more outcomes than there is room for, and the same thread is to tell them. */
static void test_the_machine_is_lent(void)
{
    told.again = true;
    script.delays = true;
    for (uint64_t i = 0; i < script.tests; i += 3)
        set(i, VIOLATES, i % 10);
    for (int i = 0; i < COUNTS; i++) {
        run_on(&fixed, machine_counts[i], PIPELINE_DONE);
        check_settled(100);
        TEST_ASSERT_EQUAL_UINT64(34, report.totals.results[ORDEAL_FAIL]);
    }
    script.tests = 3;
    script.delays = false;
    script.longer = 1;
    script.longer_iterations = 2 * QUEUE_BYTES / 24;
    close_tests();
    run_and_tell(&fixed, 1, true, PIPELINE_DONE);
    check_settled(3);
    TEST_ASSERT_EQUAL_UINT64(1, report.totals.results[ORDEAL_FAIL]);
    TEST_ASSERT_EQUAL_UINT64(20 - 9 + 2 * QUEUE_BYTES / 24, report.totals.iterations);
}

/* While the caller has the machine for the first test it waits, in a later one, for room that is made
 * when those between are settled; each of them has a violation and asks for it again. */
static bool outcome_later(void *user, const struct pipeline_test *t, uint64_t iteration,
                          const uint64_t *values)
{
    for (int patience = 0; tests_begun < 7 && patience < 20000; patience++)
        usleep(500);
    return outcome(user, t, iteration, values);
}

static void test_the_machine_is_lent_in_a_test(void)
{
    void *addresses[MACHINES];
    told.again = true;
    script.tests = 8;
    script.longer = 6;
    script.iterations = 20000;
    script.longer_iterations = 2 * QUEUE_BYTES / 24;
    for (uint64_t i = 0; i < 6; i++)
        set(i, VIOLATES, 15000);
    struct pipeline_plan plan = plan_of(&fixed, 1, addresses);
    plan.outcome = outcome_later;
    go(&plan, PIPELINE_DONE);
    TEST_ASSERT_GREATER_THAN_UINT64(0, pauses);
    check_settled(8);
    TEST_ASSERT_EQUAL_UINT64(6, report.totals.results[ORDEAL_FAIL]);
    TEST_ASSERT_EQUAL_UINT64(6 * 15001 + 20000 + script.longer_iterations, told.outcomes);
    TEST_ASSERT_EQUAL_UINT64(told.outcomes * CYCLES, report.totals.cycles);
}

/* The limit is over before a check has begun, but only in a long one the checker looks at it. */
static void test_undecided(void)
{
    void *addresses[MACHINES];
    char longest[MOST_SLOTS * 8 + 64], *at = longest + sprintf(longest, "P0 S[A]#31\n");
    for (int i = 0; i < MOST_SLOTS; i++)
        at += sprintf(at, "P1 L[A]\n");
    write_tests(30, longest);
    set(30, VIOLATES, 4);
    set(31, VIOLATES, 4);
    struct pipeline_plan plan = plan_of(&fixed, 2, addresses);
    plan.limit = 1e-12;
    enum pipeline_end end = pipeline_run(&plan, &report);
    TEST_ASSERT_EQUAL_MESSAGE(PIPELINE_DONE, end, report.error.reason);
    check_settled(100);
    TEST_ASSERT_EQUAL_UINT64(1, report.totals.results[ORDEAL_UNDECIDED]);
    TEST_ASSERT_EQUAL_UINT64(1, report.totals.results[ORDEAL_FAIL]);
    TEST_ASSERT_EQUAL_UINT64(98, report.totals.results[ORDEAL_PASS]);
    TEST_ASSERT_EQUAL(ORDEAL_UNDECIDED, told.of[30].result);
}

/* The checker does not take what came back. */
static void test_values_that_cannot_be(void)
{
    set(50, IMPOSSIBLE, 3);
    for (int i = 0; i < COUNTS; i++) {
        run_on(&fixed, machine_counts[i], PIPELINE_TARGET);
        TEST_ASSERT_EQUAL_STRING("the target brought back values that this test cannot have",
                                 report.error.reason);
        TEST_ASSERT_NOT_NULL(strstr(report.error.file, "#51"));
        check_settled(50);
        TEST_ASSERT_EQUAL_UINT64(50 * 10 + 3, report.totals.iterations);
    }
}

/* ---- ends ---------------------------------------------------------------------------------- */

static void test_stopped_when_settled(void)
{
    script.delays = true;
    for (int i = 0; i < COUNTS; i++)
        for (uint64_t n = 1; n <= 100; n += 33) {
            told.stop_at_test = n;
            run_on(&fixed, machine_counts[i], PIPELINE_STOPPED);
            check_settled(n);
            TEST_ASSERT_EQUAL_UINT64(n * 10, report.totals.iterations);
        }
}

static void test_stopped_by_an_outcome(void)
{
    script.delays = true;
    for (int i = 0; i < COUNTS; i++)
        for (uint64_t n = 1; n <= 1000; n += 333) {
            told.stop_at_outcome = n;
            run_and_tell(&fixed, machine_counts[i], n % 2, PIPELINE_STOPPED);
            TEST_ASSERT_EQUAL_UINT64(n, told.outcomes);
            TEST_ASSERT_LESS_OR_EQUAL_UINT64((n - 1) / 10, told.settled);
        }
}

/* In a process of its own: there is no way back from ^C. What was not told or not checked by then
 * does not count. */
static void press(int count, bool tell)
{
    void *addresses[MACHINES];
    struct pipeline_plan plan = plan_of(&fixed, count, addresses);
    plan.outcome = tell ? outcome : NULL;
    plan.check = !tell;
    told.press = tell;
    if (!tell)
        set(70, PRESSES_C, 5);
    interrupt_watch();
    go(&plan, PIPELINE_INTERRUPTED);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(70, report.totals.next);
    TEST_ASSERT_LESS_THAN_UINT64(100, report.totals.tests);
    TEST_ASSERT_EQUAL_UINT64(report.totals.next, report.totals.tests); /* nothing is done twice */
    TEST_ASSERT_TRUE(!tell || told.outcomes / script.iterations >= told.settled);
}

static int press_in_child(int count, bool tell)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (TEST_PROTECT())
            press(count, tell);
        fflush(stdout);
        _exit(Unity.CurrentTestFailed != 0);
    }
    return waitpid(child, &status, 0) == child ? status : -1;
}

static void test_interrupted(void)
{
    script.delays = true;
    for (int i = 0; i < 2 * COUNTS; i++)
        TEST_ASSERT_EQUAL(0, press_in_child(machine_counts[i / 2], i % 2));
}

/* A machine that is no thing and fails, or hangs, is the end; what came before it counts. */
static void test_a_machine_fails(void)
{
    static const struct {
        enum event event;
        const char *why;
    } ends[] = { { FAILS, "it failed" }, { HANGS, "it hung" } };
    script.delays = true;
    for (int i = 0; i < COUNTS; i++)
        for (int k = 0; k < 4; k++) {
            script.at[60].event = ends[k % 2].event;
            script.at[60].iteration = k < 2 ? 0 : 6;
            run_and_tell(&fixed, machine_counts[i], true, PIPELINE_TARGET);
            check_settled(60);
            TEST_ASSERT_EQUAL_UINT64(60, report.totals.results[ORDEAL_PASS]);
            TEST_ASSERT_EQUAL_STRING(ends[k % 2].why, report.error.reason);
            TEST_ASSERT_NOT_NULL(strstr(report.error.file, "#61"));
            TEST_ASSERT_EQUAL_UINT64(60 * 10 + (k < 2 ? 0 : 6), report.totals.iterations);
        }
}

/* A finding: of a violation in the same test the earlier is told. */
static void test_a_machine_breaks(void)
{
    script.delays = true;
    set(10, BREAKS, 4);
    set(20, BREAKS, 0);
    for (int i = 0; i < COUNTS; i++)
        for (int check = 0; check < 2; check++) {
            run_and_tell(&fixed, machine_counts[i], check, PIPELINE_DONE);
            check_settled(100);
            TEST_ASSERT_EQUAL_UINT64(2, report.totals.results[ORDEAL_FAIL]);
            TEST_ASSERT_TRUE(told.of[10].broke && told.of[20].broke);
            TEST_ASSERT_EQUAL_UINT64(4, told.of[10].iteration);
            TEST_ASSERT_EQUAL_UINT64(0, told.of[20].iteration);
        }
}

/* ---- machines that come and go ------------------------------------------------------------- */

static void test_tests_are_lost(void)
{
    script.delays = true;
    set(0, LOSES, 1);
    set(55, LOSES, 0);
    set(99, LOSES, 9);
    for (int i = 0; i < COUNTS; i++) {
        run_on(&things, machine_counts[i], PIPELINE_DONE);
        check_settled(100);
        TEST_ASSERT_EQUAL_UINT64(3, report.totals.lost);
        TEST_ASSERT_EQUAL_UINT64(97, report.totals.results[ORDEAL_PASS]);
        TEST_ASSERT_TRUE(told.of[0].lost && told.of[55].lost && told.of[99].lost);
        TEST_ASSERT_EQUAL_UINT64(1, told.of[0].iteration);
        TEST_ASSERT_EQUAL_UINT64(9, told.of[99].iteration);
    }
}

/* All but one: each takes a test along. */
static void test_all_but_one_go(void)
{
    script.delays = true;
    for (uint64_t i = 0; i < MACHINES - 1; i++)
        set(5 + 10 * i, FAILS, i);
    run_on(&things, MACHINES, PIPELINE_DONE);
    check_settled(100);
    TEST_ASSERT_EQUAL_UINT64(MACHINES - 1, report.totals.lost);
    TEST_ASSERT_EQUAL_UINT64(100 - (MACHINES - 1), report.totals.results[ORDEAL_PASS]);
}

/* The last one's failure is the end. The others' tests, lost before it, are told if it is their
 * turn. */
static void test_all_go(void)
{
    script.delays = true;
    for (uint64_t i = 0; i < MACHINES; i++)
        set(5 + 10 * i, FAILS, i);
    run_on(&things, MACHINES, PIPELINE_TARGET);
    TEST_ASSERT_EQUAL_STRING("it failed", report.error.reason);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(MACHINES - 1, report.totals.lost);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(5 + 10 * (MACHINES - 1), report.totals.next);
}

static int asked;
static void *another(void *user, int at_work)
{
    (void)user;
    TEST_ASSERT_TRUE(pthread_equal(pthread_self(), caller));
    TEST_ASSERT_EQUAL(1 + (asked > 0), at_work);
    return asked++ ? NULL : &machines[1];
}

static void test_a_machine_comes(void)
{
    void *addresses[MACHINES];
    struct pipeline_plan plan = plan_of(&things, 1, addresses);
    plan.another = another;
    asked = 0;
    script.machines = 2;
    script.wait_for_all = true;
    go(&plan, PIPELINE_DONE);
    check_settled(100);
    TEST_ASSERT_GREATER_THAN_UINT64(0, machines[0].served);
    TEST_ASSERT_GREATER_THAN_UINT64(0, machines[1].served);
    TEST_ASSERT_EQUAL_UINT64(100, machines[0].served + machines[1].served);
}

/* ---- tests that cannot be run -------------------------------------------------------------- */

static void test_refused(void)
{
    void *addresses[MACHINES];
    for (int i = 0; i < 2 * COUNTS; i++) {
        close_tests();
        write_tests(30, "P0 S[A]#31\nP1 L[A]\nP2 L[A]\n");
        struct pipeline_plan plan = plan_of(&fixed, machine_counts[i / 2], addresses);
        plan.patient = i % 2;
        go(&plan, PIPELINE_BAD);
        check_settled(plan.patient ? 0 : 30);
        TEST_ASSERT_EQUAL_UINT64(plan.patient ? 0 : 30, tests_begun);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(report.error.reason, "the target 'script' cannot run"),
                                     report.error.reason);
        TEST_ASSERT_NOT_NULL(strstr(report.error.file, "#31"));
    }
}

static void test_a_source_that_fails(void)
{
    void *addresses[MACHINES];
    for (int i = 0; i < COUNTS; i++) {
        close_tests();
        write_tests(80, "P0 S[A]#81\nP1 NONSENSE\n");
        struct pipeline_plan plan = plan_of(&fixed, machine_counts[i], addresses);
        plan.patient = true; /* of 80 tests it looks at fewer */
        go(&plan, PIPELINE_BAD);
        check_settled(80);
        TEST_ASSERT_EQUAL_UINT(80 * 4 + 3, report.error.line);
    }
}

/* ---- bounded memory ------------------------------------------------------------------------ */

/* Who has test 0 waits until the others have run as many as they may, and a little longer. */
static enum target_result run_late(void *machine, const struct program *p, uint64_t first,
                                   uint64_t count, const struct target_sink *sink, struct why *why)
{
    if (p->thread[0].code[0].write == 1) {
        for (int patience = 0; tests_begun < FLIGHT_TESTS && patience < 20000; patience++)
            usleep(500);
        usleep(20000);
    }
    return run(machine, p, first, count, sink, why);
}

static void test_tests_in_flight_are_bounded(void)
{
    struct target target = fixed;
    target.run = run_late;
    script.tests = MOST_TESTS;
    script.iterations = 1;
    for (int i = 1; i < COUNTS; i++) {
        run_on(&target, machine_counts[i], PIPELINE_DONE);
        check_settled(MOST_TESTS);
        TEST_ASSERT_GREATER_OR_EQUAL_UINT64(FLIGHT_TESTS, told.most_unsettled);
    }
}

/* Whoever is told first waits until the machine has filled its part of the room. */
static uint64_t most_untold;
static bool outcome_late(void *user, const struct pipeline_test *t, uint64_t iteration,
                         const uint64_t *values)
{
    if (!told.outcomes) {
        for (int patience = 0; outcomes_made < QUEUE_BYTES / 4 / 24 && patience < 200000;
             patience++)
            usleep(500);
        usleep(20000);
    }
    uint64_t untold = outcomes_made - told.outcomes;
    most_untold = untold > most_untold ? untold : most_untold;
    return outcome(user, t, iteration, values);
}

static void test_outcomes_in_memory_are_bounded(void)
{
    void *addresses[MACHINES];
    script.tests = 2;
    script.iterations = 2 * QUEUE_BYTES / 24;
    for (int i = 0; i < 2; i++) {
        struct pipeline_plan plan = plan_of(&fixed, machine_counts[i], addresses);
        plan.outcome = outcome_late;
        plan.check = false;
        most_untold = 0;
        go(&plan, PIPELINE_DONE);
        check_settled(2);
        TEST_ASSERT_EQUAL_UINT64(2 * script.iterations, told.outcomes);
        /* What the first test may have, and the other, and a chunk that each is filling. */
        uint64_t most = QUEUE_BYTES / 2 + QUEUE_BYTES + 4 * CHUNK_BYTES;
        TEST_ASSERT_GREATER_OR_EQUAL_UINT64(QUEUE_BYTES / 4 / 24, most_untold);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(most / 24, most_untold);
    }
}

/* One after the other, without a pipeline: what decides a test, and what counts of it. */
static struct happening deciding(uint64_t number, bool check)
{
    struct happening h = script.at[number];
    bool decides = h.event > IMPOSSIBLE || (h.event && check);
    if (!decides)
        h = script.then[number];
    decides = h.event > IMPOSSIBLE || (h.event && check);
    return decides ? h : (struct happening){ NOTHING, iterations_of(number) };
}

static struct sums expected_sums(uint64_t number, bool check)
{
    struct happening h = deciding(number, check);
    uint64_t run = h.iteration + (h.event == VIOLATES), kinds = 0, odd = 0;
    for (uint64_t i = 0; i < run; i++) {
        enum event now = event_at(number, i);
        odd += now == VIOLATES;
        kinds |= now == NOTHING ? 1U << i % 3 : 0;
    }
    return (struct sums){ run, check ? odd + (uint64_t)__builtin_popcountll(kinds) : 0,
                          (run + (check && h.event == IMPOSSIBLE)) * CYCLES };
}

static void check_test(uint64_t number, bool check)
{
    static const enum ordeal_result results[] = {
        [VIOLATES] = ORDEAL_FAIL, [BREAKS] = ORDEAL_FAIL, [LOSES] = ORDEAL_PASS
    };
    struct happening h = deciding(number, check);
    struct sums expected = expected_sums(number, check), *is = &told.of[number].sums;
    TEST_ASSERT_EQUAL(h.event == NOTHING ? ORDEAL_PASS : results[h.event], told.of[number].result);
    TEST_ASSERT_EQUAL(h.event == LOSES, told.of[number].lost);
    TEST_ASSERT_EQUAL(h.event == BREAKS, told.of[number].broke);
    if (h.event != NOTHING)
        TEST_ASSERT_EQUAL_UINT64(h.iteration, told.of[number].iteration);
    TEST_ASSERT_EQUAL_UINT64(expected.iterations, is->iterations);
    TEST_ASSERT_EQUAL_UINT64(expected.distinct, is->distinct);
    TEST_ASSERT_EQUAL_UINT64(expected.cycles, is->cycles);
}

/* The first `n` are settled, and if `end` is given, the next one is the reason for it. */
static void check_first(uint64_t n, bool check, bool end, bool tell)
{
    struct sums all = { 0, 0, 0 };
    check_settled(n);
    for (uint64_t i = 0; i < n + end; i++) {
        struct sums expected = expected_sums(i, check);
        if (i < n)
            check_test(i, check);
        all.iterations += expected.iterations;
        all.distinct += expected.distinct;
        all.cycles += expected.cycles;
    }
    TEST_ASSERT_EQUAL_UINT64(all.iterations, report.totals.iterations);
    TEST_ASSERT_EQUAL_UINT64(all.distinct, report.totals.outcomes);
    TEST_ASSERT_EQUAL_UINT64(all.cycles, report.totals.cycles);
    TEST_ASSERT_EQUAL_UINT64(tell ? all.iterations : 0, told.outcomes);
}

/* ---- the same, whoever is faster ------------------------------------------------------------ */

enum { LONG_ITERATIONS = 1280 };

/* Two things that may happen in a test, in this order; the machine is done before anything is looked
 * at, or it waits for that, so that it does not come to the second. */
static void check_pair(enum event first, enum event second, bool hesitates, bool tell)
{
    void *addresses[MACHINES];
    script.tests = 6;
    script.iterations = LONG_ITERATIONS;
    script.hesitates = hesitates;
    script.at[2] = (struct happening){ first, 5 };
    script.then[2] = (struct happening){ second, LONG_ITERATIONS - 2 };
    struct pipeline_plan plan = plan_of(&fixed, 1, addresses);
    plan.outcome = tell ? outcome : NULL;
    bool end = first == IMPOSSIBLE || first == FAILS || first == HANGS;
    go(&plan, end ? PIPELINE_TARGET : PIPELINE_DONE);
    check_first(end ? 2 : 6, true, end, tell);
}

static void test_what_decides_a_test(void)
{
    static const enum event events[] = { VIOLATES, IMPOSSIBLE, BREAKS, LOSES, FAILS, HANGS };
    enum { EVENTS = sizeof events / sizeof *events };
    for (int i = 0; i < EVENTS * EVENTS; i++)
        for (int tell = 0; tell < 2; tell++)
            check_pair(events[i / EVENTS], events[i % EVENTS], false, tell);
    for (int i = 0; i < EVENTS; i++)
        check_pair(events[i % 2], events[i], true, i % 2);
}

/* With the last one nothing of those behind it is told, though they have long been run. */
static void test_the_last_one(void)
{
    script.tests = 40;
    set(7, VIOLATES, 3);
    set(8, VIOLATES, 0);
    told.stop_at_test = 8;
    for (int i = 0; i < 2 * COUNTS; i++) {
        script.delays = i % 2;
        run_and_tell(&fixed, machine_counts[i / 2], true, PIPELINE_STOPPED);
        check_first(8, true, false, true);
    }
}

/* ---- anything ------------------------------------------------------------------------------ */

static void draw_script(struct random *r)
{
    static const enum event events[] = { NOTHING, NOTHING,  NOTHING, NOTHING,
                                         NOTHING, VIOLATES, BREAKS,  LOSES };
    memset(script.at, 0, sizeof script.at);
    memset(script.then, 0, sizeof script.then);
    script.tests = 1 + random_below(r, 150);
    script.iterations = 1 + random_below(r, random_below(r, 4) ? 12 : 3000);
    script.delays = random_below(r, 2);
    for (uint64_t i = 0; i < script.tests; i++)
        set(i, events[random_below(r, sizeof events / sizeof *events)],
            random_below(r, (uint32_t)script.iterations));
}

static void test_random_scripts(void)
{
    struct random r;
    random_seed(&r, 5, 0);
    for (int round = 0; round < 60; round++) {
        void *addresses[MACHINES];
        draw_script(&r);
        close_tests();
        int count = 1 + (int)random_below(&r, MACHINES);
        struct pipeline_plan plan = plan_of(&things, count, addresses);
        plan.check = random_below(&r, 4);
        plan.outcome = random_below(&r, 2) ? outcome : NULL;
        plan.patient = random_below(&r, 2);
        told.again = random_below(&r, 2);
        go(&plan, PIPELINE_DONE);
        check_first(script.tests, plan.check, false, plan.outcome);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_settled_in_order);
    RUN_TEST(test_repeated_outcomes_count_once);
    RUN_TEST(test_early_tests_are_run_less_often);
    RUN_TEST(test_outcomes_in_order);
    RUN_TEST(test_neither_checked_nor_told);
    RUN_TEST(test_tests_of_a_bias);
    RUN_TEST(test_violations);
    RUN_TEST(test_the_machine_is_lent);
    RUN_TEST(test_the_machine_is_lent_in_a_test);
    RUN_TEST(test_undecided);
    RUN_TEST(test_values_that_cannot_be);
    RUN_TEST(test_stopped_when_settled);
    RUN_TEST(test_stopped_by_an_outcome);
    RUN_TEST(test_interrupted);
    RUN_TEST(test_a_machine_fails);
    RUN_TEST(test_a_machine_breaks);
    RUN_TEST(test_tests_are_lost);
    RUN_TEST(test_all_but_one_go);
    RUN_TEST(test_all_go);
    RUN_TEST(test_a_machine_comes);
    RUN_TEST(test_refused);
    RUN_TEST(test_a_source_that_fails);
    RUN_TEST(test_tests_in_flight_are_bounded);
    RUN_TEST(test_outcomes_in_memory_are_bounded);
    RUN_TEST(test_what_decides_a_test);
    RUN_TEST(test_the_last_one);
    RUN_TEST(test_random_scripts);
    return UNITY_END();
}
