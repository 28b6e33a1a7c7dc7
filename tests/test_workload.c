/* SPDX-License-Identifier: Apache-2.0 */
/* The workload generator is trusted by every benchmark: its executions are legal TSO (replayed here
 * from the axioms, and checked by the library), repeatable, in the stated mix. */
#include "bench/workload.h"

#include <stdlib.h>
#include <string.h>
#include "unity.h"

enum { OPS = 4000 };
static const struct workload_spec specs[] = {
    { .ops = OPS, .threads = 4, .words = 8, .seed = 1 },
    { .ops = OPS, .threads = 1, .words = 3, .seed = 2 },
    { .ops = OPS, .threads = 16, .words = 256, .mix = WORKLOAD_LOAD, .seed = 3 },
    { .ops = OPS, .threads = 7, .words = 1, .mix = WORKLOAD_STORE, .seed = 4 },
    { .ops = OPS, .threads = 3, .words = 16, .transaction = 1, .seed = 5 },
    { .ops = OPS, .threads = 5, .words = 16, .transaction = 16, .seed = 6, .addresses = true },
    { .ops = 3, .threads = 5, .words = 2, .seed = 7 },
};
enum { SPECS = sizeof specs / sizeof *specs };

static struct workload *w;
static uint32_t *position; /* by operation: its place in memory order */

void setUp(void) { w = NULL, position = NULL; }
void tearDown(void)
{
    workload_free(w);
    free(position);
}

static void start(const struct workload_spec *spec)
{
    tearDown();
    w = workload_run(spec);
    TEST_ASSERT_NOT_NULL(w);
    position = malloc(spec->ops * sizeof *position);
    TEST_ASSERT_NOT_NULL(position);
    memset(position, 0xff, spec->ops * sizeof *position);
    for (uint32_t k = 0; k < spec->ops; k++) {
        TEST_ASSERT_LESS_THAN(spec->ops, w->performed[k]);
        TEST_ASSERT_EQUAL_HEX32(UINT32_MAX, position[w->performed[k]]);
        position[w->performed[k]] = k;
    }
}

static bool reads(const struct workload_op *op)
{
    return op->kind == ORDEAL_LOAD || op->kind == ORDEAL_SWAP;
}

static bool writes(const struct workload_op *op)
{
    return op->kind == ORDEAL_STORE || op->kind == ORDEAL_SWAP;
}

/* LoadOp, StoreStore, Membar: places count from 1 so that 0 is before everything. */
static void assert_program_order_kept(uint32_t thread)
{
    uint32_t load = 0, store = 0;
    for (uint32_t i = w->first[thread]; i < w->first[thread + 1]; i++) {
        const struct workload_op *op = &w->op[i];
        uint32_t place = position[i] + 1;
        if (op->kind == ORDEAL_PREFETCH)
            continue;
        TEST_ASSERT_GREATER_THAN(load, place);
        if (op->kind != ORDEAL_LOAD)
            TEST_ASSERT_GREATER_THAN(store, place);
        if (op->kind == ORDEAL_MEMBAR || reads(op))
            load = place;
        if (op->kind == ORDEAL_MEMBAR || writes(op))
            store = place;
    }
}

static uint32_t own_store_before(uint32_t i)
{
    for (uint32_t k = i; k-- > w->first[w->op[i].thread];)
        if (writes(&w->op[k]) && w->op[k].word == w->op[i].word)
            return k;
    return ORDEAL_NONE;
}

/* Value: the latest of the stores before it in memory order or in its own thread. */
static void assert_values_seen(void)
{
    uint32_t *memory = calloc(w->spec.words, sizeof *memory);
    TEST_ASSERT_NOT_NULL(memory);
    for (uint32_t k = 0; k < w->spec.ops; k++) {
        uint32_t i = w->performed[k];
        const struct workload_op *op = &w->op[i];
        if (reads(op)) {
            uint32_t own = own_store_before(i);
            bool forwarded = own != ORDEAL_NONE && position[own] > k;
            TEST_ASSERT_EQUAL_UINT32(forwarded ? w->op[own].write : memory[op->word], op->read);
        }
        if (writes(op))
            memory[op->word] = op->write;
    }
    free(memory);
}

static void assert_transactions_whole(uint32_t thread)
{
    for (uint32_t i = w->first[thread] + 1; i < w->first[thread + 1]; i++)
        if ((i - w->first[thread]) % w->spec.transaction != 0)
            TEST_ASSERT_EQUAL_UINT32(position[i - 1] + 1, position[i]);
}

static void test_executions_are_legal(void)
{
    for (int s = 0; s < SPECS; s++) {
        start(&specs[s]);
        for (uint32_t t = 0; t < w->spec.threads; t++) {
            assert_program_order_kept(t);
            if (w->spec.transaction)
                assert_transactions_whole(t);
        }
        assert_values_seen();
    }
}

/* Without stores that wait there would be nothing of TSO in it. */
static void test_store_buffers_are_used(void)
{
    start(&specs[0]);
    uint32_t late = 0;
    for (uint32_t i = 1; i < OPS; i++)
        late += w->op[i - 1].thread == w->op[i].thread && w->op[i - 1].kind == ORDEAL_STORE
             && w->op[i].kind == ORDEAL_LOAD && position[i] < position[i - 1];
    TEST_ASSERT_GREATER_THAN(OPS / 50, late);
}

static void test_threads_interleave(void)
{
    start(&specs[0]);
    uint32_t changes = 0;
    for (uint32_t k = 1; k < OPS; k++)
        changes += w->op[w->issued[k - 1]].thread != w->op[w->issued[k]].thread;
    TEST_ASSERT_GREATER_THAN(OPS / 10, changes);
}

static void test_issue_order_is_program_order(void)
{
    for (int s = 0; s < SPECS; s++) {
        start(&specs[s]);
        uint32_t next[16];
        for (uint32_t t = 0; t < w->spec.threads; t++)
            next[t] = w->first[t];
        for (uint32_t k = 0; k < w->spec.ops; k++)
            TEST_ASSERT_EQUAL_UINT32(next[w->op[w->issued[k]].thread]++, w->issued[k]);
    }
}

static int by_word_and_value(const void *a, const void *b)
{
    const struct workload_op *x = a, *y = b;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    return (x->write > y->write) - (x->write < y->write);
}

static void test_store_values_are_unique_per_word(void)
{
    for (int s = 0; s < SPECS; s++) {
        start(&specs[s]);
        uint32_t stores = 0;
        for (uint32_t i = 0; i < w->spec.ops; i++)
            if (writes(&w->op[i]))
                w->op[stores++] = w->op[i];
        qsort(w->op, stores, sizeof *w->op, by_word_and_value);
        for (uint32_t i = 0; i < stores; i++) {
            TEST_ASSERT_NOT_EQUAL(0, w->op[i].write);
            if (i > 0)
                TEST_ASSERT_NOT_EQUAL(0, by_word_and_value(&w->op[i - 1], &w->op[i]));
        }
    }
}

static void test_same_seed_same_execution(void)
{
    start(&specs[0]);
    struct workload *again = workload_run(&specs[0]);
    TEST_ASSERT_NOT_NULL(again);
    for (uint32_t i = 0; i < OPS; i++) {
        TEST_ASSERT_EQUAL_UINT32(w->performed[i], again->performed[i]);
        TEST_ASSERT_EQUAL_UINT32(w->op[i].kind, again->op[i].kind);
        TEST_ASSERT_EQUAL_UINT32(w->op[i].read, again->op[i].read);
    }
    workload_free(again);

    struct workload_spec other = specs[0];
    other.seed++;
    again = workload_run(&other);
    TEST_ASSERT_NOT_NULL(again);
    TEST_ASSERT_NOT_EQUAL(0, memcmp(w->performed, again->performed, OPS * sizeof *w->performed));
    workload_free(again);
}

static void test_mix_is_that_of_the_thesis(void)
{
    static const uint8_t kinds[] = { ORDEAL_LOAD, ORDEAL_STORE, ORDEAL_SWAP, ORDEAL_MEMBAR,
                                     ORDEAL_PREFETCH };
    static const double percent[WORKLOAD_MIXES][5] = { /* thesis 4.6 */
        [WORKLOAD_EQUAL] = { 33.3, 33.3, 30, 1.7, 1.7 },
        [WORKLOAD_LOAD] = { 50, 16, 30, 1.7, 1.7 },
        [WORKLOAD_STORE] = { 16, 50, 30, 1.7, 1.7 },
    };
    for (int mix = 0; mix < WORKLOAD_MIXES; mix++) {
        struct workload_spec spec = { .ops = 100000, .threads = 4, .words = 64, .seed = 9,
                                      .mix = (enum workload_mix)mix };
        start(&spec);
        uint32_t count[ORDEAL_OP_KINDS] = { 0 };
        for (uint32_t i = 0; i < spec.ops; i++)
            count[w->op[i].kind]++;
        for (int k = 0; k < 5; k++)
            TEST_ASSERT_FLOAT_WITHIN(0.7, percent[mix][k], 100.0 * count[kinds[k]] / spec.ops);
    }
}

/* ---- as traces ---------------------------------------------------------------------------- */

static enum ordeal_result check(enum ordeal_model model, enum workload_shape shape, int64_t spoil)
{
    struct ordeal *o = ordeal_new(NULL);
    TEST_ASSERT_NOT_NULL(o);
    struct ordeal_trace *t = ordeal_trace_new(o);
    TEST_ASSERT_NOT_NULL(t);
    if (spoil >= 0)
        w->op[spoil].read = 0;
    TEST_ASSERT_EQUAL(ORDEAL_OK, workload_trace(w, shape, 0, t));
    struct ordeal_options options = { .model = model };
    struct ordeal_verdict *v = NULL;
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, ordeal_check(t, &options, &v),
                              ordeal_last_error(o)->reason);
    enum ordeal_result result = ordeal_verdict_result(v);
    ordeal_verdict_free(v);
    ordeal_trace_free(t);
    ordeal_free(o);
    return result;
}

static void test_library_finds_them_legal(void)
{
    for (int s = 0; s < SPECS; s++) {
        start(&specs[s]);
        TEST_ASSERT_EQUAL(ORDEAL_PASS, check(ORDEAL_TSO, WORKLOAD_BY_THREAD, -1));
        TEST_ASSERT_EQUAL(ORDEAL_PASS, check(ORDEAL_TSO, WORKLOAD_AS_RUN, -1));
    }
}

/* The trace carries the values: a swap that has to see its own thread's store sees nothing. */
static void test_library_finds_a_spoilt_one_illegal(void)
{
    start(&specs[1]);
    uint32_t i = OPS - 1;
    while (w->op[i].kind != ORDEAL_SWAP)
        i--;
    TEST_ASSERT_EQUAL(ORDEAL_FAIL, check(ORDEAL_TSO, WORKLOAD_BY_THREAD, i));
}

static void test_trace_has_every_operation_and_bracket(void)
{
    for (int s = 0; s < SPECS; s++) {
        start(&specs[s]);
        struct ordeal *o = ordeal_new(NULL);
        struct ordeal_trace *t = ordeal_trace_new(o);
        TEST_ASSERT_EQUAL(ORDEAL_OK, workload_trace(w, WORKLOAD_AS_RUN, 100, t));
        size_t brackets = 0, expected = 0;
        for (size_t i = 0; i < ordeal_trace_length(t); i++)
            brackets += ordeal_trace_op(t, i)->kind == ORDEAL_TX_BEGIN
                     || ordeal_trace_op(t, i)->kind == ORDEAL_TX_END;
        for (uint32_t k = 0; w->spec.transaction && k < w->spec.threads; k++)
            expected += 2 * ((w->first[k + 1] - w->first[k] + w->spec.transaction - 1)
                             / w->spec.transaction);
        TEST_ASSERT_EQUAL(expected, brackets);
        TEST_ASSERT_EQUAL(w->spec.ops + brackets, ordeal_trace_length(t));
        ordeal_trace_free(t);
        ordeal_free(o);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_executions_are_legal);
    RUN_TEST(test_store_buffers_are_used);
    RUN_TEST(test_threads_interleave);
    RUN_TEST(test_issue_order_is_program_order);
    RUN_TEST(test_store_values_are_unique_per_word);
    RUN_TEST(test_same_seed_same_execution);
    RUN_TEST(test_mix_is_that_of_the_thesis);
    RUN_TEST(test_trace_has_every_operation_and_bracket);
    RUN_TEST(test_library_finds_them_legal);
    RUN_TEST(test_library_finds_a_spoilt_one_illegal);
    return UNITY_END();
}
