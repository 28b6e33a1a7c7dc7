/* SPDX-License-Identifier: Apache-2.0 */
/* Cores of violations: each is a violation by itself, and none of its operations can be dropped; it
 * does not grow with what stands beside it. Small ones are put to the oracle as well. */
#include "checking.h"
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

/* What a failing test should say: how to make the execution again. */
static char context[160];

static void print_trace(const struct ordeal_trace *t)
{
    ordeal_write_text(t, stdout);
    fflush(stdout);
}

static bool reads(const struct ordeal_op *op)
{
    return op->kind == ORDEAL_LOAD || op->kind == ORDEAL_SWAP || op->kind == ORDEAL_AMO;
}

static bool writes(const struct ordeal_op *op)
{
    return op->kind == ORDEAL_STORE || op->kind == ORDEAL_SWAP || op->kind == ORDEAL_AMO;
}

static uint64_t written(const struct ordeal_op *op)
{
    uint64_t value = op->kind == ORDEAL_AMO ? op->read : op->write;
    if (op->kind == ORDEAL_AMO) /* the oracle's functions have the same numbers */
        oracle_amo((enum oracle_function)op->function, 1u << op->size_log2, (uint8_t *)&value,
                   (const uint8_t *)&op->write);
    return value;
}

static bool may_have_seen(const struct ordeal_op *load, const struct ordeal_op *store)
{
    return reads(load) && writes(store) && load->base == store->base
        && load->address == store->address && load->read == written(store);
}

/* Without the operation, the loads that may have seen it, and so on. */
static void drop(const struct ordeal_trace *t, bool *keep, size_t op)
{
    keep[op] = false;
    for (size_t i = 0; i < ordeal_trace_length(t); i++)
        if (keep[i] && may_have_seen(ordeal_trace_op(t, i), ordeal_trace_op(t, op)))
            drop(t, keep, i);
}

/* The bracket that ends a transaction with nothing in it, or 0. */
static size_t end_of_empty(const struct ordeal_trace *t, size_t begin)
{
    for (size_t i = begin + 1; i < ordeal_trace_length(t); i++)
        if (ordeal_trace_op(t, i)->thread == ordeal_trace_op(t, begin)->thread)
            return ordeal_trace_op(t, i)->kind == ORDEAL_TX_END ? i : 0;
    return 0;
}

/* The part of the trace as the oracle knows it; false where it is too large for it. */
static bool oracle_part(const struct oracle_execution *whole, const bool *keep,
                        struct oracle_execution *part)
{
    *part = *whole;
    part->ops = 0;
    for (unsigned i = 0; i < whole->ops; i++)
        if (keep[i])
            part->op[part->ops++] = whole->op[i];
    return oracle_fits(part);
}

struct violation {
    const struct ordeal_trace *t;
    const struct oracle_execution *x;    /* the same, or NULL */
    enum ordeal_model model;
};

static const enum oracle_model oracle_of[] = {
    [ORDEAL_SC] = ORACLE_SC, [ORDEAL_TSO] = ORACLE_TSO, [ORDEAL_PSO] = ORACLE_PSO,
    [ORDEAL_PC] = ORACLE_PC, [ORDEAL_RMO] = ORACLE_RMO,
};

static void expect_part(const struct violation *f, const bool *keep, enum ordeal_result expected,
                        const char *what)
{
    struct ordeal_trace *part = trace_part(o, f->t, keep);
    enum ordeal_result result = result_of(o, part, f->model, ORDEAL_AUTO);
    struct oracle_execution small;
    char message[256];
    snprintf(message, sizeof message, "%s %s: %s", context, ordeal_model_name(f->model), what);
    if (result != expected)
        print_trace(part);
    ordeal_trace_free(part);
    TEST_ASSERT_EQUAL_MESSAGE(expected, result, message);
    bool has_oracle = f->model < sizeof oracle_of / sizeof *oracle_of;
    if (f->x && has_oracle && oracle_part(f->x, keep, &small))
        TEST_ASSERT_EQUAL_MESSAGE(expected == ORDEAL_PASS,
                                  oracle_legal(oracle_of[f->model], &small), message);
}

/* Core operations as marks; how many they are. */
static size_t core_of(const struct violation *f, bool *keep)
{
    const uint32_t *ops;
    struct ordeal_verdict *v = check_trace(o, f->t, &(struct ordeal_options){ .model = f->model });
    size_t count = ordeal_verdict_result(v) == ORDEAL_FAIL ? ordeal_verdict_core(v, &ops) : 0;
    memset(keep, 0, ordeal_trace_length(f->t) * sizeof *keep);
    for (size_t i = 0; i < count; i++)
        keep[ops[i]] = true;
    ordeal_verdict_free(v);
    return count;
}

/* Operations that orders speak of are not dropped one at a time: brackets go in pairs, when empty. */
static void expect_minimal(const struct violation *f, const bool *core)
{
    size_t length = ordeal_trace_length(f->t);
    struct ordeal_trace *alone = trace_part(o, f->t, core);
    bool *rest = malloc(length * sizeof *rest);
    for (size_t i = 0, at = 0; i < length; i++) {
        if (!core[i])
            continue;
        uint8_t kind = ordeal_trace_op(f->t, i)->kind;
        size_t end = kind == ORDEAL_TX_BEGIN ? end_of_empty(alone, at) : 0;
        at++;
        if (kind == ORDEAL_TX_END || (kind == ORDEAL_TX_BEGIN && !end))
            continue;
        memcpy(rest, core, length * sizeof *rest);
        drop(f->t, rest, i);
        for (size_t k = i, skip = end ? end - (at - 1) : 0; skip > 0; ) /* its place in the whole */
            if (core[++k] && --skip == 0)
                rest[k] = false;
        expect_part(f, rest, ORDEAL_PASS, "the core is legal without one of its operations, "
                    "as it is not");
    }
    free(rest);
    ordeal_trace_free(alone);
}

/* Returns the size of the core; 0: no violation. */
static size_t expect_core(const struct violation *f, bool minimal)
{
    bool *core = malloc((ordeal_trace_length(f->t) + 1) * sizeof *core);
    size_t count = core_of(f, core);
    if (count) {
        expect_part(f, core, ORDEAL_FAIL, "the core is a violation by itself");
        if (minimal)
            expect_minimal(f, core);
    }
    free(core);
    return count;
}

/* ---- random small executions ------------------------------------------------------------- */

static void cores_of_random_executions(unsigned features, uint64_t first, uint64_t count,
                                       bool minimal)
{
    const struct random_shape shape = { .threads = 4, .words = 3, .ops_least = 6, .ops_most = 14,
                                        .features = features };
    unsigned violations = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct oracle_execution x;
        struct ordeal_trace *t;
        random_execution(&shape, seed, &x);
        snprintf(context, sizeof context, "features %u seed %" PRIu64, features, seed);
        TEST_ASSERT_EQUAL(ORDEAL_OK, execution_trace(o, &x, seed, &t));
        for (int m = 0; m < ORDEAL_MODELS; m++)
            if (m != ORDEAL_PC || !oracle_has_transactions(&x))
                violations += expect_core(&(struct violation){ t, &x, (enum ordeal_model)m },
                                          minimal) > 0;
        ordeal_trace_free(t);
    }
    TEST_ASSERT_GREATER_THAN(count, violations); /* of five models, at least one in five */
}

static void test_cores_of_small_executions_are_minimal(void)
{
    cores_of_random_executions(RANDOM_MEMBARS | RANDOM_SWAPS, 1, 250, true);
    cores_of_random_executions(RANDOM_MEMBARS | RANDOM_TRANSACTIONS | RANDOM_INITIAL, 1, 250, true);
    cores_of_random_executions(RANDOM_ALL & ~(RANDOM_REGISTERS | RANDOM_FINAL | RANDOM_ORDER
                                              | RANDOM_MIXED | RANDOM_CAS), 1, 500, true);
}

/* Words may be divided less and CAS may do less in a part: it is still a violation. */
static void test_cores_of_small_executions_stand_alone(void)
{
    cores_of_random_executions(RANDOM_ALL & ~(RANDOM_REGISTERS | RANDOM_FINAL | RANDOM_ORDER),
                               10000, 1500, false);
}

/* ---- larger executions ------------------------------------------------------------------- */

static void test_cores_of_spoilt_workloads_are_minimal(void)
{
    uint64_t chance = 12;
    unsigned violations[ORDEAL_MODELS] = { 0 };
    size_t largest = 0;
    for (unsigned round = 0; round < 60; round++) {
        struct workload_spec spec = { .ops = 200 + 450 * (round % 5), .threads = 2 + round % 7,
                                      .words = 2 + round % 13, .seed = 1000 + round,
                                      .mix = (enum workload_mix)(round % WORKLOAD_MIXES),
                                      .transaction = round % 4 == 3 ? 2 + round % 5 : 0 };
        struct workload *w = workload_run(&spec);
        spoil_workload(w, 1 + round % 2, &chance);
        struct ordeal_trace *t = trace_of_workload(o, w);
        snprintf(context, sizeof context, "round %u", round);
        for (int m = 0; m < ORDEAL_MODELS; m++) {
            if (m == ORDEAL_PC && spec.transaction)
                continue;
            size_t size = expect_core(&(struct violation){ t, NULL, (enum ordeal_model)m }, true);
            violations[m] += size > 0;
            largest = size > largest ? size : largest;
        }
        ordeal_trace_free(t);
        workload_free(w);
    }
    printf("the largest core has %zu operations\n", largest);
    for (int m = 0; m < ORDEAL_MODELS; m++)
        TEST_ASSERT_GREATER_THAN(20, violations[m]);
}

/* ---- beside other things ----------------------------------------------------------------- */

static const char *const mirrors[] = { "tests/golden/fig4_6a_mirror.trace",
                                       "tests/golden/fig4_6c_mirror.trace",
                                       "tests/golden/fig4_6d_mirror.trace" };
enum { MIRRORS = sizeof mirrors / sizeof *mirrors, FAR = 1000 };

struct effort { size_t core; uint64_t decisions, conflicts; };

static struct effort refute(const struct ordeal_trace *t, enum ordeal_model model)
{
    struct ordeal_verdict *v = check_trace(o, t, &(struct ordeal_options){ .model = model });
    const uint32_t *ops;
    TEST_ASSERT_EQUAL(ORDEAL_FAIL, ordeal_verdict_result(v));
    struct effort e = { ordeal_verdict_core(v, &ops), counter_of(v, "decisions"),
                        counter_of(v, "conflicts") };
    ordeal_verdict_free(v);
    return e;
}

static void test_a_core_hidden_in_a_legal_trace_is_found(void)
{
    for (int i = 0; i < MIRRORS; i++) {
        struct ordeal_trace *alone = trace_of_file(o, mirrors[i]);
        size_t core = refute(alone, ORDEAL_TSO).core;
        for (unsigned round = 0; round < 8; round++) {
            struct ordeal_trace *t = trace_of_file(o, mirrors[i]);
            struct workload *w = workload_run(&(struct workload_spec){
                .ops = 5000, .threads = 2 + round, .words = 4 + 8 * round, .seed = round });
            TEST_ASSERT_EQUAL(ORDEAL_OK, workload_trace(w, WORKLOAD_AS_RUN, FAR, t));
            TEST_ASSERT_EQUAL_size_t(core, refute(t, ORDEAL_TSO).core);
            TEST_ASSERT_EQUAL(ORDEAL_UNDECIDED, result_of(o, t, ORDEAL_TSO, ORDEAL_BASELINE));
            workload_free(w);
            ordeal_trace_free(t);
        }
        ordeal_trace_free(alone);
    }
}

/* Pair i stores to a word of its own and loads from it, on two of so many threads. */
static void add_pairs(struct ordeal_trace *t, uint32_t pairs, uint32_t threads)
{
    for (uint32_t i = 0; i < 2 * pairs; i++) {
        bool load = i % 2;
        struct ordeal_op op = { .kind = load ? ORDEAL_LOAD : ORDEAL_STORE, .size_log2 = 2,
                                .flags = load ? ORDEAL_HAS_VALUE : 0,
                                .address = UINT64_C(4) * (i / 2), .read = load, .write = !load };
        uint32_t thread = FAR + (threads ? (i / 2 + load) % threads : i);
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, thread, &op.thread));
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &op, 0));
    }
}

static void test_a_core_costs_the_same_beside_independent_pairs(void)
{
    static const uint32_t pairs[] = { 1, 46, 500, 20000 };
    for (int i = 0; i < MIRRORS; i++) {
        struct ordeal_trace *alone = trace_of_file(o, mirrors[i]);
        struct effort base = refute(alone, ORDEAL_PSO);
        ordeal_trace_free(alone);
        for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
            for (uint32_t threads = 0; threads < 16; threads += 8) { /* 0: each its own */
                struct ordeal_trace *t = trace_of_file(o, mirrors[i]);
                add_pairs(t, pairs[k], threads);
                struct effort e = refute(t, ORDEAL_PSO);
                TEST_ASSERT_EQUAL_size_t(base.core, e.core);
                /* No conflict is about a pair; after one, each pair may be gone through again. */
                TEST_ASSERT_LESS_OR_EQUAL_UINT64(4 * base.conflicts + 20, e.conflicts);
                TEST_ASSERT_LESS_OR_EQUAL_UINT64((base.conflicts + 10) * 4 * (pairs[k] + 20),
                                                 e.decisions);
                ordeal_trace_free(t);
            }
    }
}

/* Two violations at once: the core is of one of them, with nothing of the other. */
static void test_of_two_violations_one_is_the_core(void)
{
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        struct ordeal_trace *t = trace_of_lines(o,
            "P0 S[A]#1\nP0 MEMBAR\nP0 S[A]#2\nP1 L[A]=2\nP1 MEMBAR\nP1 L[A]=1\n"
            "P2 S[B]#1\nP2 MEMBAR\nP2 S[B]#2\nP3 L[B]=2\nP3 MEMBAR\nP3 L[B]=1\nP4 L[A]=2\n");
        bool core[13];
        TEST_ASSERT_GREATER_THAN(0, core_of(&(struct violation){ t, NULL, (enum ordeal_model)m },
                                            core));
        TEST_ASSERT_NOT_EQUAL(core[0], core[6]);
        for (int i = 0; i < 6; i++)
            TEST_ASSERT_FALSE(core[core[0] ? 6 + i : i]);
        TEST_ASSERT_FALSE(core[12]);
        ordeal_trace_free(t);
    }
}

/* Final values are asked for where they matter: they bring nothing into a core that stands without
 * them, and one of them is enough for a core that rests on it. */
static void test_final_values_of_a_core(void)
{
    static const struct {
        const char *lines, *core;
    } cases[] = {
        { "final A=3 B=4\nP0 S[A]#1\nP0 L[B]=0\nP1 S[B]#2\nP1 L[A]=0\nP0 S[A]#3\nP1 S[B]#4\n",
          "111100" },
        { "final A=1 B=3\nP0 S[A]#1\nP0 S[A]#2\nP1 S[B]#3\nP1 L[A]=2\n", "1100" },
        { "final A=0 B=3\nP0 S[A]#1\nP1 S[B]#3\n", "10" },
        { "final A=1 B=1\nP0 S[A]#1\nP0 S[B]#2\nP0 L[C]=0\nP1 S[B]#1\nP1 S[A]#2\n", "11011" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ordeal_trace *t = trace_of_lines(o, cases[i].lines);
        bool core[8];
        core_of(&(struct violation){ t, NULL, ORDEAL_SC }, core);
        for (size_t op = 0; op < ordeal_trace_length(t); op++)
            TEST_ASSERT_EQUAL_MESSAGE(cases[i].core[op] == '1', core[op], cases[i].lines);
        ordeal_trace_free(t);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_cores_of_small_executions_are_minimal);
    RUN_TEST(test_cores_of_small_executions_stand_alone);
    RUN_TEST(test_cores_of_spoilt_workloads_are_minimal);
    RUN_TEST(test_a_core_hidden_in_a_legal_trace_is_found);
    RUN_TEST(test_a_core_costs_the_same_beside_independent_pairs);
    RUN_TEST(test_of_two_violations_one_is_the_core);
    RUN_TEST(test_final_values_of_a_core);
    return UNITY_END();
}
