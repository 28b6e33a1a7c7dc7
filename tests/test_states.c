/* SPDX-License-Identifier: Apache-2.0 */
/* The search by states. On small executions its machines do exactly what the oracle's do, repeated
 * values and every kind of operation included; on large ones whose values repeat the check ends,
 * for every model that allows them, and the order of lines in the trace changes nothing. */
#include "states.h"

#include <stdio.h>
#include <string.h>

#include "checking.h"
#include "random_execution.h"
#include "unity.h"

static struct ordeal *o;
void setUp(void) { o = ordeal_new(NULL); }
void tearDown(void) { ordeal_free(o); }

/* ---- against the oracle ------------------------------------------------------------------- */

enum { WANTED = 400, ENOUGH = 1000000 };

static const struct {
    enum ordeal_model model;
    enum oracle_model oracle;
} machines[] = {
    { ORDEAL_SC, ORACLE_SC },
    { ORDEAL_TSO, ORACLE_TSO },
    { ORDEAL_PSO, ORACLE_PSO },
};

/* The outcome, and that an order is one of all groups. False: there is no such machine. */
static bool run_states(const struct execution *x, enum ordeal_model model, uint64_t seed,
                       bool *exact, enum states_outcome *outcome)
{
    if (refuted_by_value(x) || !states_suit(x, model, false, exact))
        return false;
    struct states s = { .x = x,
                        .model = states_machine(model),
                        .budget = ENOUGH,
                        .seed = seed,
                        .urge = seed % 2 ? 64 : 1 };
    TEST_ASSERT_EQUAL(ORDEAL_OK, states_run(&s, outcome));
    if (*outcome == STATES_ORDER)
        TEST_ASSERT_EQUAL_UINT32(x->groups - 1, s.order.count);
    VEC_FREE(o, &s.order);
    return true;
}

static void agree(unsigned machine, const struct random_shape *shape)
{
    unsigned compared = 0, seen[2] = { 0 };
    for (uint64_t seed = 1; compared < WANTED; seed++) {
        struct oracle_execution small;
        struct ordeal_trace *t;
        struct execution *x;
        char message[64];
        random_execution(shape, seed, &small);
        if (!oracle_fits(&small))
            continue;
        TEST_ASSERT_EQUAL(ORDEAL_OK, execution_trace(o, &small, seed, &t));
        TEST_ASSERT_EQUAL(ORDEAL_OK, execution_build(t, &x));
        bool exact = false;
        enum states_outcome outcome = STATES_BUDGET;
        snprintf(message, sizeof message, "%s, seed %llu",
                 ordeal_model_name(machines[machine].model), (unsigned long long)seed);
        if (run_states(x, machines[machine].model, seed % 3, &exact, &outcome)
            && outcome != STATES_BUDGET) {
            bool legal = oracle_legal(machines[machine].oracle, &small);
            TEST_ASSERT_TRUE_MESSAGE(legal || outcome == STATES_EXHAUSTED, message);
            TEST_ASSERT_TRUE_MESSAGE(!exact || !legal || outcome == STATES_ORDER, message);
            seen[legal]++;
            compared++;
        }
        execution_free(x);
        ordeal_trace_free(t);
    }
    TEST_ASSERT_GREATER_THAN_UINT(WANTED / 8, seen[0]);
    TEST_ASSERT_GREATER_THAN_UINT(WANTED / 8, seen[1]);
}

static void test_machines_do_what_the_oracles_do(void)
{
    const struct random_shape shape = { 3, 3, 3, 12, RANDOM_ALL };
    for (unsigned m = 0; m < sizeof machines / sizeof *machines; m++)
        agree(m, &shape);
}

static void test_so_they_do_where_values_repeat(void)
{
    const struct random_shape shape = { 3, 2, 4, 12, RANDOM_ALL & ~RANDOM_MIXED };
    for (unsigned m = 0; m < sizeof machines / sizeof *machines; m++)
        agree(m, &shape);
}

/* ---- large executions --------------------------------------------------------------------- */

static struct ordeal_trace *hard_trace(const struct workload_spec *spec, enum workload_shape shape)
{
    struct workload *w = workload_run(spec);
    struct ordeal_trace *t = ordeal_trace_new(o);
    TEST_ASSERT_NOT_NULL(w);
    TEST_ASSERT_NOT_NULL(t);
    TEST_ASSERT_EQUAL(ORDEAL_OK, workload_trace(w, shape, 0, t));
    workload_free(w);
    return t;
}

static void expect_pass(const struct workload_spec *spec, enum ordeal_model model)
{
    struct ordeal_trace *t = hard_trace(spec, WORKLOAD_BY_THREAD);
    TEST_ASSERT_EQUAL(ORDEAL_PASS, result_of(o, t, model, ORDEAL_AUTO));
    ordeal_trace_free(t);
}

/* A machine's execution is legal for its model and all weaker ones. */
static void test_repeated_values_pass(void)
{
    static const enum ordeal_model weaker[] = { ORDEAL_TSO, ORDEAL_PSO,   ORDEAL_PC,
                                                ORDEAL_RMO, ORDEAL_RVWMO, ORDEAL_RVTSO };
    static const struct workload_spec specs[] = {
        { .ops = 250, .threads = 2, .words = 1, .values = 2, .seed = 1 },
        { .ops = 10000, .threads = 2, .words = 1, .values = 2, .seed = 1, .cas = true },
        { .ops = 10000, .threads = 2, .words = 64, .values = 16, .seed = 2, .cas = true },
        { .ops = 4000, .threads = 8, .words = 1, .values = 2, .seed = 3, .cas = true },
        { .ops = 2000, .threads = 3, .words = 16, .values = 8, .seed = 3, .cas = true, .slow = 8 },
        { .ops = 3000, .threads = 2, .words = 8, .values = 3, .seed = 4, .transaction = 4 },
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (size_t m = 0; m < sizeof weaker / sizeof *weaker; m++)
            if (!specs[i].transaction || weaker[m] != ORDEAL_PC)
                expect_pass(&specs[i], weaker[m]);
}

/* Values do not repeat here; an order of TSO is one of PC. */
static void test_pc_is_tried_under_tso(void)
{
    const struct workload_spec spec = { .ops = 8000, .threads = 60, .words = 2, .seed = 1 };
    expect_pass(&spec, ORDEAL_PC);
}

static void test_repeated_values_out_of_order_pass(void)
{
    const struct workload_spec spec = {
        .ops = 150, .threads = 2, .words = 4, .values = 3, .seed = 1, .by_word = true
    };
    expect_pass(&spec, ORDEAL_PSO);
}

/* Values repeat, one of them is not what the machine gave: some of these are legal all the same. */
static void test_verdicts_do_not_depend_on_the_order_of_lines(void)
{
    unsigned seen[2] = { 0 };
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct workload_spec spec = { .ops = 40 + 10 * (seed % 5),
                                      .threads = 2 + seed % 3,
                                      .words = 1 + seed % 4,
                                      .values = 2 + seed % 3,
                                      .seed = seed,
                                      .cas = true };
        struct workload *w = workload_run(&spec);
        TEST_ASSERT_NOT_NULL(w);
        uint32_t spoilt = (uint32_t)(seed * 7 % spec.ops);
        if (w->op[spoilt].kind == ORDEAL_LOAD)
            w->op[spoilt].read = (w->op[spoilt].read + 1) % spec.values;
        enum ordeal_result result[2];
        for (int shape = 0; shape < 2; shape++) {
            struct ordeal_trace *t = ordeal_trace_new(o);
            TEST_ASSERT_EQUAL(ORDEAL_OK, workload_trace(w, (enum workload_shape)shape, 0, t));
            result[shape] = result_of(o, t, ORDEAL_TSO, ORDEAL_AUTO);
            ordeal_trace_free(t);
        }
        TEST_ASSERT_EQUAL(result[0], result[1]);
        seen[result[0] == ORDEAL_FAIL]++;
        workload_free(w);
    }
    TEST_ASSERT_GREATER_THAN_UINT(5, seen[0]);
    TEST_ASSERT_GREATER_THAN_UINT(2, seen[1]);
}

/* ---- orders and final values -------------------------------------------------------------- */

static void expect(const char *lines, enum ordeal_result result)
{
    struct ordeal_trace *t = trace_of_lines(o, lines);
    for (int m = 0; m < ORDEAL_MODELS; m++)
        TEST_ASSERT_EQUAL_MESSAGE(result, result_of(o, t, (enum ordeal_model)m, ORDEAL_AUTO),
                                  ordeal_model_name((enum ordeal_model)m));
    ordeal_trace_free(t);
}

static void test_what_the_trace_says_beyond_values_is_kept(void)
{
    static const char repeated[] = "P2 S[B]#5\nP3 S[B]#5\nP2 L[B]=5\nP3 MEMBAR\nP3 L[B]=5\n";
    char lines[256];
    snprintf(lines, sizeof lines, "order A 2 1\n%sP0 S[A]#1\nP0 MEMBAR\nP0 S[A]#2\n", repeated);
    expect(lines, ORDEAL_FAIL);
    snprintf(lines, sizeof lines, "order A 1 2\n%sP0 S[A]#1\nP1 S[A]#2\nP1 MEMBAR\nP1 L[A]=1\n",
             repeated);
    expect(lines, ORDEAL_FAIL);
    snprintf(lines, sizeof lines, "final A=1\n%sP0 S[A]#1\nP0 MEMBAR\nP0 S[A]#2\n", repeated);
    expect(lines, ORDEAL_FAIL);
    snprintf(lines, sizeof lines, "final A=1\n%sP0 S[A]#1\nP1 S[A]#2\nP1 S[A]#1\n", repeated);
    expect(lines, ORDEAL_PASS);
}

/* A transaction writes a word several times, of which others see the last. */
static void test_what_a_transaction_writes_in_between(void)
{
    static const char twice[] = "P0 TX.BEGIN\nP0 S[A]#1\nP0 S[A]#2\nP0 S[A]#1\nP0 TX.END\n"
                                "P1 L[A]=1\nP2 L[A]=1\n";
    static const char against[] = "order B 1 2\nP0 TX.BEGIN\nP0 S[B]#2\nP0 S[B]#1\nP0 TX.END\n"
                                  "P0 S[C]#1\nP1 S[C]#1\nP1 L[C]=1\n";
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        struct ordeal_trace *t = trace_of_lines(o, twice);
        struct execution *x;
        bool exact;
        enum states_outcome outcome;
        TEST_ASSERT_EQUAL(ORDEAL_OK, execution_build(t, &x));
        TEST_ASSERT_TRUE(run_states(x, machines[m].model, 0, &exact, &outcome));
        TEST_ASSERT_EQUAL(STATES_ORDER, outcome);
        execution_free(x);
        ordeal_trace_free(t);
        t = trace_of_lines(o, against);
        TEST_ASSERT_EQUAL(ORDEAL_FAIL, result_of(o, t, machines[m].model, ORDEAL_AUTO));
        ordeal_trace_free(t);
    }
}

static void test_a_budget_holds(void)
{
    const struct workload_spec spec = {
        .ops = 3000, .threads = 4, .words = 8, .values = 4, .seed = 1, .cas = true
    };
    struct ordeal_trace *t = hard_trace(&spec, WORKLOAD_BY_THREAD);
    struct execution *x;
    bool exact;
    TEST_ASSERT_EQUAL(ORDEAL_OK, execution_build(t, &x));
    TEST_ASSERT_TRUE(states_suit(x, ORDEAL_TSO, false, &exact));
    TEST_ASSERT_TRUE(exact);
    struct states s = { .x = x, .model = ORDEAL_TSO, .budget = 100 };
    enum states_outcome outcome;
    TEST_ASSERT_EQUAL(ORDEAL_OK, states_run(&s, &outcome));
    TEST_ASSERT_EQUAL(STATES_BUDGET, outcome);
    VEC_FREE(o, &s.order);
    execution_free(x);
    ordeal_trace_free(t);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_machines_do_what_the_oracles_do);
    RUN_TEST(test_so_they_do_where_values_repeat);
    RUN_TEST(test_repeated_values_pass);
    RUN_TEST(test_pc_is_tried_under_tso);
    RUN_TEST(test_repeated_values_out_of_order_pass);
    RUN_TEST(test_verdicts_do_not_depend_on_the_order_of_lines);
    RUN_TEST(test_what_the_trace_says_beyond_values_is_kept);
    RUN_TEST(test_what_a_transaction_writes_in_between);
    RUN_TEST(test_a_budget_holds);
    return UNITY_END();
}
