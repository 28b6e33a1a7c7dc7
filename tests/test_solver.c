/* SPDX-License-Identifier: Apache-2.0 */
/* Executions that ask for a real search: puzzles in disguise with unique values, too hard for the weave
 * alone, and store values that are not unique, where the solver picks what each load saw. */
#include "checking.h"
#include "puzzle.h"
#include "random_execution.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "unity.h"

static struct ordeal *o;

void setUp(void) { o = ordeal_new(NULL); }
void tearDown(void)
{
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(o));
    ordeal_free(o);
}

/* ---- puzzles ----------------------------------------------------------------------------- */

static const enum ordeal_model puzzle_models[] = { ORDEAL_SC, ORDEAL_TSO, ORDEAL_PSO, ORDEAL_RMO };

static void test_small_puzzles_are_solved_as_by_trying_everything(void)
{
    unsigned solvable = 0, count = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t variables = 6 + seed % 6;
        struct puzzle p = puzzle_random(variables, 2 * variables + seed % (variables + 4), false, seed);
        bool solves = puzzle_solvable(&p);
        struct ordeal_trace *t = puzzle_trace(o, &p);
        char message[64];
        snprintf(message, sizeof message, "puzzle of seed %" PRIu64, seed);
        for (size_t m = 0; m < sizeof puzzle_models / sizeof *puzzle_models; m++)
            TEST_ASSERT_EQUAL_MESSAGE(solves ? ORDEAL_PASS : ORDEAL_FAIL,
                                      result_of(o, t, puzzle_models[m], ORDEAL_AUTO), message);
        TEST_ASSERT_EQUAL_MESSAGE(solves ? ORDEAL_PASS : ORDEAL_FAIL,
                                  result_of(o, t, ORDEAL_TSO, ORDEAL_DERIV_BACK), message);
        solvable += solves;
        count++;
        ordeal_trace_free(t);
        puzzle_free(&p);
    }
    TEST_ASSERT_GREATER_THAN(10, solvable);
    TEST_ASSERT_LESS_THAN(count - 10, solvable);
}

/* The verdict comes certified; returns how many clauses the solver was given. */
static uint64_t solve(struct puzzle p, enum ordeal_model model, enum ordeal_result expected)
{
    struct ordeal_trace *t = puzzle_trace(o, &p);
    struct ordeal_options options = { .model = model, .no_core = true };
    struct ordeal_verdict *v = check_trace(o, t, &options), *again;
    uint64_t clauses = counter_of(v, "clauses");
    TEST_ASSERT_EQUAL(expected, ordeal_verdict_result(v));
    char *text = NULL;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_witness_write(v, f));
    fclose(f);
    f = fmemopen(text, length, "r");
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, ordeal_witness_verify(t, f, "witness", &again),
                              ordeal_last_error(o)->reason);
    fclose(f);
    free(text);
    TEST_ASSERT_EQUAL(expected, ordeal_verdict_result(again));
    ordeal_verdict_free(again);
    ordeal_verdict_free(v);
    ordeal_trace_free(t);
    puzzle_free(&p);
    return clauses;
}

/* Most of these are beyond the weave's first attempt: the solver has to take over. */
static void test_large_puzzles_with_a_solution(void)
{
    unsigned taken_over = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        enum ordeal_model m = puzzle_models[seed % 4];
        solve(puzzle_random(100, 200, true, seed), m, ORDEAL_PASS);
        taken_over += solve(puzzle_random(60, 240, true, seed), m, ORDEAL_PASS) > 0;
    }
    TEST_ASSERT_GREATER_THAN(2, taken_over);
}

static void test_large_puzzles_without_a_solution(void)
{
    unsigned taken_over = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        enum ordeal_model m = puzzle_models[seed % 4];
        solve(puzzle_random(30, 200, false, seed), m, ORDEAL_FAIL);
        taken_over += solve(puzzle_random(60, 300, false, seed), m, ORDEAL_FAIL) > 0;
    }
    TEST_ASSERT_GREATER_THAN(2, taken_over);
}

static void test_pigeons_do_not_fit(void)
{
    uint64_t clauses = 0;
    for (uint32_t holes = 2; holes <= 6; holes++)
        clauses = solve(puzzle_pigeons(holes), ORDEAL_TSO, ORDEAL_FAIL);
    TEST_ASSERT_GREATER_THAN(0, clauses);
}

/* ---- store values that are not unique ---------------------------------------------------- */

/* Every store writes 1, every load saw 0 or 1. */
static void all_ones(struct oracle_execution *x, uint64_t *chance)
{
    for (unsigned i = 0; i < x->ops; i++) {
        struct oracle_op *op = &x->op[i];
        memset(op->read, 0, sizeof op->read);
        memset(op->write, 0, sizeof op->write);
        op->read[0] = oracle_random(chance, 4) > 0;
        op->write[0] = 1;
    }
}

static void test_stores_of_one_value_as_the_machine_has_it(void)
{
    static const enum oracle_model oracles[] = {
        [ORDEAL_SC] = ORACLE_SC, [ORDEAL_TSO] = ORACLE_TSO, [ORDEAL_PSO] = ORACLE_PSO,
        [ORDEAL_PC] = ORACLE_PC, [ORDEAL_RMO] = ORACLE_RMO,
    };
    const struct random_shape shape = { .threads = 4, .words = 3, .ops_least = 8, .ops_most = 14,
                                        .features = RANDOM_MEMBARS | RANDOM_SWAPS };
    enum { MACHINES = sizeof oracles / sizeof *oracles };
    unsigned legal[MACHINES] = { 0 };
    enum { EXECUTIONS = 600 };
    for (uint64_t seed = 1; seed <= EXECUTIONS; seed++) {
        struct oracle_execution x;
        uint64_t chance = seed;
        struct ordeal_trace *t;
        char message[64];
        random_execution(&shape, seed, &x);
        all_ones(&x, &chance);
        TEST_ASSERT_EQUAL(ORDEAL_OK, execution_trace(o, &x, seed, &t));
        for (int m = 0; m < MACHINES; m++) {
            bool may = oracle_legal(oracles[m], &x);
            snprintf(message, sizeof message, "seed %" PRIu64 " %s", seed,
                     ordeal_model_name((enum ordeal_model)m));
            TEST_ASSERT_EQUAL_MESSAGE(may ? ORDEAL_PASS : ORDEAL_FAIL,
                                      result_of(o, t, (enum ordeal_model)m, ORDEAL_AUTO), message);
            legal[m] += may;
        }
        ordeal_trace_free(t);
    }
    for (int m = 0; m < MACHINES; m++) {
        TEST_ASSERT_GREATER_THAN(EXECUTIONS / 10, legal[m]);
        TEST_ASSERT_LESS_THAN(EXECUTIONS - EXECUTIONS / 10, legal[m]);
    }
}

static const uint32_t value_counts[] = { 16, 4, 2, 1 };
enum { VALUE_COUNTS = sizeof value_counts / sizeof *value_counts };

/* Fewer values allow more: legal stays legal, and a machine's run is legal with any. */
static void test_fewer_values_allow_more(void)
{
    uint64_t chance = 9;
    unsigned violations = 0;
    for (unsigned round = 0; round < 60; round++) {
        bool spoilt = round % 2;
        const struct workload_spec spec = { .ops = 30 + round % 3 * 25, .threads = 2 + round % 4,
                                            .words = 2 + round % 5, .seed = round };
        enum ordeal_result before[ORDEAL_MODELS];
        memset(before, 0xff, sizeof before);
        uint64_t spoils = workload_random(&chance);
        for (int i = -1; i < VALUE_COUNTS; i++) {
            struct workload *w = workload_run(&spec);
            uint64_t state = spoils;
            if (spoilt)
                spoil_workload(w, 2, &state);
            if (i >= 0)
                coarsen_workload(w, value_counts[i]);
            struct ordeal_trace *t = trace_of_workload(o, w);
            for (int m = 0; m < ORDEAL_MODELS; m++) {
                enum ordeal_result r = result_of(o, t, (enum ordeal_model)m, ORDEAL_AUTO);
                if (i < 0)
                    before[m] = r;
                char message[64];
                snprintf(message, sizeof message, "round %u, %d values, %s", round,
                         i < 0 ? 0 : (int)value_counts[i], ordeal_model_name((enum ordeal_model)m));
                if (before[m] == ORDEAL_PASS || (!spoilt && m != ORDEAL_SC))
                    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_PASS, r, message);
                violations += i >= 0 && r == ORDEAL_FAIL;
            }
            ordeal_trace_free(t);
            workload_free(w);
        }
    }
    TEST_ASSERT_GREATER_THAN(100, violations);
}

static void test_the_verdict_says_that_values_repeat(void)
{
    struct ordeal_trace *t = trace_of_lines(o, "P0 S[A]#1\nP0 S[A]#1\nP1 L[A]=1\n");
    struct ordeal_verdict *v = check_trace(o, t, &(struct ordeal_options){ .model = ORDEAL_TSO });
    TEST_ASSERT_EQUAL(ORDEAL_PASS, ordeal_verdict_result(v));
    TEST_ASSERT_EQUAL_STRING("store values are not unique", ordeal_verdict_note(v));
    ordeal_verdict_free(v);
    for (int a = ORDEAL_CONFLICT; a < ORDEAL_ALGORITHMS; a++)
        TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, ordeal_check(t, &(struct ordeal_options){
            .model = ORDEAL_TSO, .algorithm = (enum ordeal_algorithm)a }, &v));
    ordeal_trace_free(t);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_small_puzzles_are_solved_as_by_trying_everything);
    RUN_TEST(test_large_puzzles_with_a_solution);
    RUN_TEST(test_large_puzzles_without_a_solution);
    RUN_TEST(test_pigeons_do_not_fit);
    RUN_TEST(test_stores_of_one_value_as_the_machine_has_it);
    RUN_TEST(test_fewer_values_allow_more);
    RUN_TEST(test_the_verdict_says_that_values_repeat);
    return UNITY_END();
}
