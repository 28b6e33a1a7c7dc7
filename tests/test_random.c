/* SPDX-License-Identifier: Apache-2.0 */
/* The checker against the oracle on random small executions, under every model and algorithm.
 *
 * test_random [--crowded] [--count N] [--seed S]: N executions from seed S on, of all sorts or
 * of crowded stores alone. A difference is printed with its trace and the command that replays it
 * alone; a single execution is always printed. */
#include "random_execution.h"
#include "unity.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t first_seed = 1, asked, count, current_seed;
static const char *program;

void setUp(void) {}
void tearDown(void) {}

static const struct random_shape all_sorts = { .threads = 4, .words = 4, .ops_least = 3,
                                               .ops_most = 14, .features = RANDOM_ALL };
static const struct random_shape crowded = { .threads = 4, .words = 1, .ops_least = 8,
                                             .ops_most = 12, .features = RANDOM_CROWDED };
static const struct random_shape crowded_run = { .threads = 4, .words = 1, .ops_least = 12,
                                                 .ops_most = 24, .features = RANDOM_CROWDED };
static const struct random_shape *shape;

static const struct { enum oracle_model oracle; enum ordeal_model ordeal; } models[] = {
    { ORACLE_SC, ORDEAL_SC }, { ORACLE_TSO, ORDEAL_TSO }, { ORACLE_PSO, ORDEAL_PSO },
    { ORACLE_PC, ORDEAL_PC }, { ORACLE_RMO, ORDEAL_RMO },
};

/* What is expected of an algorithm: whether it always decides, and what it may ask for. */
enum need { NOTHING, UNIQUE_SOURCES, STORE_ORDER };
static const struct { enum ordeal_algorithm algorithm; bool complete; enum need need; }
algorithms[] = {
    { ORDEAL_AUTO, true, NOTHING }, { ORDEAL_CONFLICT, true, STORE_ORDER },
    { ORDEAL_BASELINE, false, UNIQUE_SOURCES }, { ORDEAL_HEU, false, UNIQUE_SOURCES },
    { ORDEAL_DERIV, false, UNIQUE_SOURCES }, { ORDEAL_HEU_BACK, true, UNIQUE_SOURCES },
    { ORDEAL_DERIV_BACK, true, UNIQUE_SOURCES },
};

enum { MODELS = sizeof models / sizeof *models,
       ALGORITHMS = sizeof algorithms / sizeof *algorithms,
       AUTO = 0, PC = 3 };                /* places in the tables */

struct subject {
    struct oracle_execution x;
    struct ordeal *o;
    struct ordeal_trace *trace;
    struct oracle_sources sources;
    bool uniform, ordered;                /* one size of access; all stores in a known order */
    bool legal[ORACLE_MODELS];
};

static void say_how_to_replay(const char *what)
{
    printf("\n%s\nreplay: %s%s --seed %" PRIu64 " --count 1\n", what, program,
           shape->features & RANDOM_CROWDED ? " --crowded" : "", current_seed);
    fflush(stdout);
}

/* The process is lost already: a line that may be garbled is better than none. */
static void crash(int number)
{
    say_how_to_replay("crashed");
    signal(number, SIG_DFL);
    raise(number);
}

static void print_trace(const struct subject *s)
{
    ordeal_write_text(s->trace, stdout);
    fflush(stdout);
}

static void fail(const struct subject *s, const char *what)
{
    say_how_to_replay(what);
    if (count > 1)
        print_trace(s);
    TEST_FAIL_MESSAGE(what);
}

static bool uniform(const struct oracle_execution *x)
{
    for (unsigned i = 0; i < x->ops; i++)
        if (x->op[i].size != 0 && x->op[i].size != 4)
            return false;
    return true;
}

static bool has_finals(const struct oracle_execution *x)
{
    for (unsigned i = 0; i < ORACLE_MEMORY; i++)
        if (x->final_known[i])
            return true;
    return false;
}

static bool wants_more(const struct subject *s, enum need need)
{
    /* A final value may come from several stores too. */
    return need != NOTHING
        && (s->sources.several || has_finals(&s->x) || (need == STORE_ORDER && !s->ordered));
}

/* NULL, or what is wrong with the answer. */
static const char *fault(const struct subject *s, int m, int a, enum ordeal_status status,
                         const struct ordeal_verdict *v)
{
    bool legal = s->legal[models[m].oracle];
    bool refused = status == ORDEAL_BAD_USAGE || status == ORDEAL_BAD_INPUT;
    bool may_refuse = wants_more(s, algorithms[a].need);
    if (status != ORDEAL_OK)
        return refused && may_refuse ? NULL : ordeal_last_error(s->o)->reason;
    switch (ordeal_verdict_result(v)) {
    case ORDEAL_PASS:
        if (!legal)
            return "PASS, but the machine cannot do this";
        break;
    case ORDEAL_FAIL:
        if (legal)
            return "FAIL, but the machine can do this";
        break;
    case ORDEAL_UNDECIDED:
        if (algorithms[a].complete)
            return "UNDECIDED by a complete algorithm";
    }
    if (algorithms[a].complete && may_refuse && s->uniform && s->sources.several
        && !s->sources.none)
        return "no complaint about store values that are not unique";
    return NULL;
}

static void check(const struct subject *s, int m, int a)
{
    struct ordeal_options options = { .model = models[m].ordeal,
                                      .algorithm = algorithms[a].algorithm };
    struct ordeal_verdict *v = NULL;
    enum ordeal_status status = ordeal_check(s->trace, &options, &v);
    const char *wrong = fault(s, m, a, status, v);
    char message[640] = "";
    if (wrong)
        snprintf(message, sizeof message, "%s %s: %s", ordeal_model_name(options.model),
                 ordeal_algorithm_name(options.algorithm), wrong);
    ordeal_verdict_free(v);
    if (wrong)
        fail(s, message);
}

/* A machine can do what a stricter one can: every order that keeps the axioms of the stricter model
 * keeps those of the weaker one (for PC, with all sub-operations of a store side by side). */
static void check_strength(const struct subject *s)
{
    static const struct { enum oracle_model strict, weak; const char *what; } pairs[] = {
        { ORACLE_SC, ORACLE_TSO, "legal for SC, not for TSO" },
        { ORACLE_TSO, ORACLE_PSO, "legal for TSO, not for PSO" },
        { ORACLE_PSO, ORACLE_RMO, "legal for PSO, not for RMO" },
        { ORACLE_TSO, ORACLE_PC, "legal for TSO, not for PC" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!(pairs[i].weak == ORACLE_PC && oracle_has_transactions(&s->x))
            && s->legal[pairs[i].strict] && !s->legal[pairs[i].weak])
            fail(s, pairs[i].what);
}

static void take_trace(struct subject *s)
{
    if (execution_trace(s->o, &s->x, current_seed, &s->trace) != ORDEAL_OK)
        TEST_FAIL_MESSAGE(ordeal_last_error(s->o)->reason);
    if (count == 1)
        print_trace(s);
}

static void build(struct subject *s, struct ordeal *o, uint64_t seed)
{
    *s = (struct subject){ .o = o };
    current_seed = seed;
    random_execution(shape, seed, &s->x);
    take_trace(s);
    s->sources = oracle_sources(&s->x);
    s->uniform = uniform(&s->x);
    s->ordered = s->uniform && oracle_all_ranked(&s->x);
}

/* A search that does not end runs out of memory, and is UNDECIDED. */
static struct ordeal *new_context(void)
{
    struct ordeal *o = ordeal_new(NULL);
    ordeal_set_limits(o, &(struct ordeal_limits){ .bytes = 1 << 28 });
    return o;
}

static void compare_with_oracle(const struct random_shape *of, uint64_t usual_count)
{
    struct ordeal *o = new_context();
    shape = of;
    count = asked ? asked : usual_count;
    uint64_t compared[MODELS] = { 0 }, legal[MODELS] = { 0 };
    for (uint64_t seed = first_seed; seed < first_seed + count; seed++) {
        struct subject s;
        build(&s, o, seed);
        for (int m = 0; m < MODELS; m++) {
            if (models[m].oracle == ORACLE_PC && oracle_has_transactions(&s.x))
                continue;
            s.legal[models[m].oracle] = oracle_legal(models[m].oracle, &s.x);
            compared[m]++;
            legal[m] += s.legal[models[m].oracle];
            for (int a = 0; a < ALGORITHMS; a++)
                check(&s, m, a);
        }
        check_strength(&s);
        ordeal_trace_free(s.trace);
    }
    TEST_ASSERT_EQUAL_UINT(0, ordeal_memory_used(o));
    ordeal_free(o);
    for (int m = 0; m < MODELS; m++) {
        printf("%s: %" PRIu64 " executions, %" PRIu64 " of them legal\n",
               ordeal_model_name(models[m].ordeal), compared[m], legal[m]);
        if (count >= 1000) { /* both verdicts have been put to the test */
            TEST_ASSERT_GREATER_THAN_UINT64(compared[m] / 10, legal[m]);
            TEST_ASSERT_LESS_THAN_UINT64(compared[m] - compared[m] / 10, legal[m]);
        }
    }
}

static void test_random_executions(void)
{
    compare_with_oracle(&all_sorts, 20000);
}

static void test_crowded_stores(void) { compare_with_oracle(&crowded, 1000); }

/* Under PC a store takes its place in the orders of several words at once, in every view. Runs
 * larger than the oracle can judge find mistakes in that; what the machine did is legal. */
static void test_runs_of_crowded_stores_are_legal(void)
{
    struct ordeal *o = new_context();
    struct subject s = { .o = o, .legal = { [ORACLE_PC] = true } };
    shape = &crowded_run;
    count = asked ? asked : 20000;
    for (current_seed = first_seed; current_seed < first_seed + count; current_seed++) {
        random_run(shape, current_seed, ORACLE_PC, &s.x);
        take_trace(&s);
        check(&s, PC, AUTO);
        ordeal_trace_free(s.trace);
    }
    TEST_ASSERT_EQUAL_UINT(0, ordeal_memory_used(o));
    ordeal_free(o);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "count", required_argument, NULL, 'c' }, { "seed", required_argument, NULL, 's' },
        { "crowded", no_argument, NULL, 'w' }, { 0 },
    };
    bool crowded_alone = false;
    program = argv[0];
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == '?')
            return 2;
        if (c == 'w')
            crowded_alone = true;
        else
            *(c == 'c' ? &asked : &first_seed) = strtoull(optarg, NULL, 0);
    }
    signal(SIGABRT, crash);
    signal(SIGSEGV, crash);
    UNITY_BEGIN();
    if (!crowded_alone)
        RUN_TEST(test_random_executions);
    RUN_TEST(test_crowded_stores);
    RUN_TEST(test_runs_of_crowded_stores_are_legal);
    return UNITY_END();
}
