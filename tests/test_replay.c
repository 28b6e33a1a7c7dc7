/* SPDX-License-Identifier: Apache-2.0 */
/* Replays: what passes is legal, by the oracle, by the checker, and by the certifier that is given
 * the schedule; and what is legal nearly always passes. */
#include "checking.h"
#include "random_execution.h"
#include "replay.h"
#include "verdict.h"

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

/* ---- an execution and its values ------------------------------------------------------------ */

/* What a target would bring back: for each operation that reads and was observed its values, and
 * then the final ones. */
struct subject {
    struct ordeal_trace *trace;
    uint64_t *values;
    size_t count;
};

/* Operations of aborted transactions are not observed. */
static bool *observed_ops(const struct ordeal_trace *t)
{
    size_t length = ordeal_trace_length(t);
    bool *observed = calloc(length + 1, sizeof *observed);
    for (size_t i = 0; i < length; i++) {
        const struct ordeal_op *op = ordeal_trace_op(t, i);
        uint32_t depth = 1;
        observed[i] = true;
        for (size_t k = i; op->kind == ORDEAL_TX_ABORT && depth > 0; ) {
            const struct ordeal_op *other = ordeal_trace_op(t, --k);
            if (other->thread != op->thread)
                continue;
            depth += observed[k] && (other->kind == ORDEAL_TX_END);
            depth -= observed[k] && (other->kind == ORDEAL_TX_BEGIN);
            observed[k] = false;
        }
        if (op->kind == ORDEAL_TX_ABORT)
            observed[i] = false;
    }
    return observed;
}

static struct subject subject_of(struct ordeal_trace *t)
{
    struct subject s = { .trace = t };
    bool *observed = observed_ops(t);
    s.values = calloc(ordeal_trace_length(t) * 8 + t->finals.count + 1, sizeof *s.values);
    for (size_t i = 0; i < ordeal_trace_length(t); i++) {
        const struct ordeal_op *op = ordeal_trace_op(t, i);
        if (!observed[i] || !(trace_op_traits[op->kind] & OP_READS))
            continue;
        if (op->size_log2 <= 3) {
            s.values[s.count++] = op->read;
        } else {
            size_t bytes = (size_t)1 << op->size_log2;
            memcpy(s.values + s.count, ordeal_trace_bytes_at(t, op->read), bytes);
            s.count += bytes / 8;
        }
    }
    for (size_t k = 0; k < t->finals.count; k++)
        s.values[s.count++] = t->finals.data[k].value;
    free(observed);
    return s;
}

static void free_subject(struct subject *s)
{
    ordeal_trace_free(s->trace);
    free(s->values);
}

static struct ordeal_replay *replay_of(const struct ordeal_trace *t, enum ordeal_model model)
{
    struct ordeal_replay *r = NULL;
    enum ordeal_status status = ordeal_replay_new(t, model, &r);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
    return r;
}

/* The schedule of a replay that passed, as the order of a verdict; TSO's is good for PC, too. */
static void certify_schedule(const struct ordeal_replay *r, const struct ordeal_trace *t,
                             enum ordeal_model model)
{
    struct ordeal_verdict v = { .o = o, .model = model == ORDEAL_PC ? ORDEAL_TSO : model,
                                .result = ORDEAL_PASS };
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, execution_build(t, &v.x), ordeal_last_error(o)->reason);
    TEST_ASSERT_EQUAL_UINT32(v.x->groups, r->groups);
    uint32_t *order = calloc(r->groups, sizeof *order);
    struct ordeal_place *places = calloc(r->groups, sizeof *places);
    replay_order(r, order);
    for (uint32_t i = 0; i + 1 < r->groups; i++) {
        TEST_ASSERT_LESS_THAN_UINT32(r->groups, order[i]);
        places[i].event = v.x->group_first[order[i]];
    }
    v.order.data = places;
    v.order.count = r->groups - 1;
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, certify(&v), ordeal_last_error(o)->reason);
    free(order);
    free(places);
    execution_free(v.x);
}

static bool passes(const struct subject *s, enum ordeal_model model)
{
    struct ordeal_replay *r = replay_of(s->trace, model);
    bool passed = ordeal_replay_passes(r, s->values);
    if (passed)
        certify_schedule(r, s->trace, model);
    ordeal_replay_free(r);
    return passed;
}

static bool lines_pass(const char *lines, enum ordeal_model model)
{
    struct subject s = subject_of(trace_of_lines(o, lines));
    bool passed = passes(&s, model);
    free_subject(&s);
    return passed;
}

/* ---- one at a time -------------------------------------------------------------------------- */

struct expected { const char *what, *lines; bool sc, tso; };
/* clang-format off */
static const struct expected expectations[] = {
    { "nothing", "", true, true },
    { "in order", "P0 S[A]#1\nP0 S[B]#1\nP1 L[B]=1\nP1 L[A]=1\n", true, true },
    { "SB", "P0 S[A]#1\nP0 L[B]=0\nP1 S[B]#1\nP1 L[A]=0\n", false, true },
    { "SB with barriers", "P0 S[A]#1\nP0 MEMBAR\nP0 L[B]=0\nP1 S[B]#1\nP1 MEMBAR\nP1 L[A]=0\n",
      false, false },
    { "SB with barriers of another flavour", "P0 S[A]#1\nP0 MEMBAR.SS.LL.LS\nP0 L[B]=0\n"
      "P1 S[B]#1\nP1 MEMBAR.LS\nP1 L[A]=0\n", false, true },
    { "SB with swaps", "P0 SWAP[A]=0#1\nP0 L[B]=0\nP1 SWAP[B]=0#1\nP1 L[A]=0\n", false, false },
    { "MP", "P0 S[A]#1\nP0 S[B]#1\nP1 L[B]=1\nP1 L[A]=0\n", false, false },
    { "LB", "P0 L[A]=1\nP0 S[B]#1\nP1 L[B]=1\nP1 S[A]#1\n", false, false },
    { "forwarded", "P0 S[A]#1\nP0 L[A]=1\nP0 L[B]=0\nP1 S[B]#1\nP1 L[B]=1\nP1 L[A]=0\n", false,
      true },
    { "not the youngest own store", "P0 S[A]#1\nP0 S[A]#2\nP0 L[A]=1\n", false, false },
    { "an own store to come", "P0 L[A]=1\nP0 S[A]#1\n", false, false },
    { "own store not seen", "P0 S[A]#1\nP0 L[A]=0\n", false, false },
    { "CoRR", "P0 S[A]#1\nP1 L[A]=1\nP1 L[A]=0\n", false, false },
    { "2+2W", "P0 S[A]#1\nP0 S[B]#2\nP1 S[B]#1\nP1 S[A]#2\nP2 L[A]=2\nP2 L[A]=1\nP3 L[B]=2\n"
      "P3 L[B]=1\n", false, false },
    { "IRIW", "P0 S[A]#1\nP1 S[B]#1\nP2 L[A]=1\nP2 L[B]=0\nP3 L[B]=1\nP3 L[A]=0\n", false, false },
    { "two swaps of one value", "P0 SWAP[A]=0#1\nP1 SWAP[A]=0#2\n", false, false },
    { "swaps in a row", "P0 SWAP[A]=2#1\nP1 SWAP[A]=0#2\n", true, true },
    { "a CAS that swaps", "P0 CAS[A]=0?0#1\nP1 L[A]=1\n", true, true },
    { "a CAS that fails", "P0 CAS[A]=0?3#1\nP1 L[A]=0\n", true, true },
    { "seen from a CAS that failed", "P0 CAS[A]=0?3#1\nP1 L[A]=1\n", false, false },
    { "a CAS that fails is no barrier", "P0 S[A]#1\nP0 CAS[C]=0?3#1\nP0 L[B]=0\n"
      "P1 S[B]#1\nP1 CAS[D]=0?3#1\nP1 L[A]=0\n", false, true },
    { "own store before a CAS that failed", "P0 S[A]#1\nP0 CAS[A]=1?3#4\nP0 L[A]=1\n", true,
      true },
    { "halves", "P0 S[A/8]#0x100000001\nP1 L[A]=1\nP1 L[A+4]=1\n", true, true },
    { "a torn read", "atomic 8\nP0 S[A/8]#0x100000001\nP1 L[A/8]=1\n", false, false },
    { "a read in parts", "P0 S[A/8]#0x100000001\nP1 L[A/8]=1\n", true, true },
    { "wide ones", "atomic 8\nP0 S[A/16]#0x20000000000000001\n"
      "P1 L[A/16]=0x00000000000000020000000000000001\nP1 L[A+8/8]=2\n", true, true },
    { "a transaction", "P0 TX.BEGIN\nP0 S[A]#1\nP0 S[B]#1\nP0 TX.END\nP1 L[A]=1\nP1 L[B]=1\n", true,
      true },
    { "half a transaction", "P0 TX.BEGIN\nP0 S[A]#1\nP0 S[B]#1\nP0 TX.END\nP1 TX.BEGIN\nP1 L[A]=1\n"
      "P1 L[B]=0\nP1 TX.END\n", false, false },
    { "a transaction sees its own", "P0 TX.BEGIN\nP0 S[A]#1\nP0 L[A]=1\nP0 S[A]#2\nP0 TX.END\n"
      "P1 L[A]=2\n", true, true },
    { "inside a transaction", "P0 TX.BEGIN\nP0 S[A]#1\nP0 L[A]=1\nP0 S[A]#2\nP0 TX.END\n"
      "P1 L[A]=1\n", false, false },
    { "SB with transactions", "P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\nP0 L[B]=0\nP1 TX.BEGIN\n"
      "P1 S[B]#1\nP1 TX.END\nP1 L[A]=0\n", false, false },
    { "an aborted transaction", "P0 TX.BEGIN\nP0 S[A]#1\nP0 L[B]=9\nP0 TX.ABORT\nP0 L[A]=0\n", true,
      true },
    { "seen from an aborted one", "P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.ABORT\nP0 L[A]=1\n", false,
      false },
    { "initial values", "init A=7\nP0 L[A]=7\nP1 S[A]#1\n", true, true },
    { "from nowhere", "P0 L[A]=7\nP1 S[A]#1\n", false, false },
    { "the last store stays", "final A=2\nP0 S[A]#1\nP0 S[A]#2\n", true, true },
    { "a store that is lost", "final A=1\nP0 S[A]#1\nP0 S[A]#2\n", false, false },
    { "all stores are lost", "final A=0\nP0 S[A]#1\n", false, false },
    { "nobody stores", "final A=0 B=7\ninit B=7\nP0 L[A]=0\n", true, true },
    { "nobody stored that", "final A=1\nP0 L[A]=0\n", false, false },
    { "either is last", "final A=1\nP0 S[A]#1\nP1 S[A]#2\n", true, true },
    { "last though seen overwritten", "final A=1\nP0 S[A]#1\nP1 S[A]#2\nP2 L[A]=1\nP2 L[A]=2\n",
      false, false },
    { "2+2W by what is left", "final A=1 B=1\nP0 S[A]#1\nP0 S[B]#2\nP1 S[B]#1\nP1 S[A]#2\n", false,
      false },
    { "R", "final B=2\nP0 S[A]#1\nP0 S[B]#1\nP1 S[B]#2\nP1 L[A]=0\n", false, true },
    { "left by a swap", "final A=2\nP0 SWAP[A]=2#1\nP1 SWAP[A]=0#2\n", false, false },
    { "left by a CAS that failed", "final A=1\nP0 CAS[A]=0?3#1\n", false, false },
    { "halves of what is left", "final A/8=0x200000001\nP0 S[A]#1\nP0 S[A+4]#3\nP1 S[A+4]#2\n", true,
      true },
    { "half of what is left", "final A/8=0x200000003\nP0 S[A]#1\nP0 S[A+4]#3\nP1 S[A+4]#2\n", false,
      false },
    { "left by an aborted transaction", "final A=1\nP0 TX.BEGIN\nP0 S[A]#1\nP0 TX.ABORT\n", false,
      false },
    { "one value of several stores", "final A=1\nP0 S[A]#1\nP1 S[A]#1\n", true, true },
    { "no effect", "P0 PREFETCH[A]\nP0 S[A]#1\nP0 FLUSH[A]\nP1 EVICT[A]\nP1 L[A]=1\n", true, true },
};
/* clang-format on */

static void test_small_ones(void)
{
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        const struct expected *e = &expectations[i];
        TEST_ASSERT_EQUAL_MESSAGE(e->sc, lines_pass(e->lines, ORDEAL_SC), e->what);
        TEST_ASSERT_EQUAL_MESSAGE(e->tso, lines_pass(e->lines, ORDEAL_TSO), e->what);
    }
}

/* What TSO's machine can do, those of weaker models can. */
static void test_weaker_models(void)
{
    const char *sb = "P0 S[A]#1\nP0 L[B]=0\nP1 S[B]#1\nP1 L[A]=0\n";
    TEST_ASSERT_TRUE(lines_pass(sb, ORDEAL_PSO));
    TEST_ASSERT_TRUE(lines_pass(sb, ORDEAL_PC));
    TEST_ASSERT_TRUE(lines_pass(sb, ORDEAL_RMO));
}

static void test_values_that_do_not_tell_their_store(void)
{
    TEST_ASSERT_FALSE(lines_pass("P0 S[A]#1\nP1 S[A]#1\nP2 L[A]=1\n", ORDEAL_TSO));
    TEST_ASSERT_FALSE(lines_pass("P0 S[A]#0\nP2 L[A]=0\n", ORDEAL_TSO));
    TEST_ASSERT_TRUE(lines_pass("P0 S[A]#1\nP1 S[A]#1\nP2 L[A]=0\n", ORDEAL_TSO));
}

/* One replay, many executions: nothing is left of those before. */
static void test_executions_of_one_test(void)
{
    struct ordeal_trace *t = trace_of_lines(o, "P0 L[A] >r1\nP0 CAS[A]?r1#5\nP0 L[B]\n"
                                               "P1 S[B]#1\nP1 SWAP[A]#2\nP1 L[A]\n");
    static const struct { uint64_t values[5]; bool passes; } runs[] = {
        { { 0, 0, 0, 5, 2 }, true },  { { 0, 0, 0, 0, 2 }, false }, { { 0, 2, 1, 0, 2 }, true },
        { { 0, 2, 0, 0, 2 }, false }, { { 2, 2, 1, 0, 5 }, true },  { { 2, 2, 1, 0, 2 }, true },
        { { 2, 2, 1, 5, 2 }, false }, { { 2, 0, 1, 0, 2 }, false }, { { 0, 0, 1, 5, 2 }, true },
        { { 0, 0, 0, 5, 5 }, false }, { { 7, 0, 0, 5, 2 }, false }, { { 0, 0, 0, 5, 2 }, true },
    };
    struct ordeal_replay *r = replay_of(t, ORDEAL_TSO);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char what[16];
        snprintf(what, sizeof what, "run %zu", i);
        TEST_ASSERT_EQUAL_MESSAGE(runs[i].passes, ordeal_replay_passes(r, runs[i].values), what);
    }
    ordeal_replay_free(r);
    ordeal_trace_free(t);
}

/* What AMOs write is another thing each time. */
static void test_amos_of_one_test(void)
{
    struct ordeal_trace *t = trace_of_lines(o, "P0 AMOADD[A]#5\nP0 AMOXOR[B+2/2]#7\nP0 L[B]\n"
                                               "P1 S[A]#1\nP1 AMOMAX[A]#9\nP1 L[B]\n");
    static const struct {
        uint64_t values[5];
        bool passes;
    } runs[] = {
        { { 0, 0, 0x70000, 1, 0 }, true },        { { 1, 0, 0x70000, 6, 0 }, true },
        { { 9, 0, 0x70000, 1, 0x70000 }, true },  { { 1, 0, 0x70000, 1, 0 }, false },
        { { 0, 0, 0x70000, 5, 0 }, false },       { { 6, 0, 0x70000, 1, 0 }, false },
        { { 0, 7, 0x70000, 1, 0 }, false },       { { 0, 0, 7, 1, 0 }, false },
        { { 0, 0x10000, 0x70000, 1, 0 }, false }, { { 0, 0, 0x70000, 1, 0x70000 }, true },
    };
    struct ordeal_replay *r = replay_of(t, ORDEAL_TSO);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char what[16];
        snprintf(what, sizeof what, "run %zu", i);
        TEST_ASSERT_EQUAL_MESSAGE(runs[i].passes, ordeal_replay_passes(r, runs[i].values), what);
    }
    ordeal_replay_free(r);
    ordeal_trace_free(t);
}

/* ---- what is refused ------------------------------------------------------------------------ */

/* What is above a value of its size is seen: a machine that did that did wrong. */
static void test_values_that_are_too_large(void)
{
    static const uint64_t above[] = { 0, 1, UINT64_C(1) << 31 };
    for (uint32_t log2 = 0; log2 < 3; log2++)
        for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
            char lines[96];
            uint32_t bytes = 1u << log2, value = UINT32_C(0x01010101) >> (32 - 8 * bytes);
            snprintf(lines, sizeof lines, "P0 S[A/%u]#%u\nP1 L[A/%u]=%u\nP1 L[A/1]=1", bytes, value,
                     bytes, value);
            struct subject s = subject_of(trace_of_lines(o, lines));
            s.values[0] |= above[i] << 8 * bytes;
            TEST_ASSERT_EQUAL(above[i] == 0, passes(&s, ORDEAL_TSO));
            free_subject(&s);
        }
}

static void refused(const char *lines, enum ordeal_model model)
{
    struct ordeal_trace *t = trace_of_lines(o, lines);
    struct ordeal_replay *r = NULL;
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_BAD_USAGE, ordeal_replay_new(t, model, &r), lines);
    TEST_ASSERT_NULL(r);
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_last_error(o)->status);
    TEST_ASSERT_NOT_EQUAL(0, ordeal_last_error(o)->reason[0]);
    ordeal_trace_free(t);
}

static void test_refusals(void)
{
    refused("P0 LOOP.BEGIN#2\nP0 S[A]#1+1\nP0 LOOP.END\n", ORDEAL_TSO);
    refused("P0 BRANCH.BEGIN\nP0 S[A]#1\nP0 BRANCH.END\n", ORDEAL_TSO);
    refused("order A 1 2\nP0 S[A]#1\nP1 S[A]#2\n", ORDEAL_TSO);
    refused("P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\n", ORDEAL_PC);
    refused("P0 CAS[A/16]=0?0#1\n", ORDEAL_TSO);
    refused("P0 TX.BEGIN\nP0 L[A] >r1\nP0 TX.ABORT\nP0 CAS[A]?r1#1\n", ORDEAL_TSO);
    refused("P0 S[A]#1\n", ORDEAL_MODELS);
}

static void test_out_of_memory(void)
{
    enum ordeal_status status = ORDEAL_NO_MEMORY;
    for (size_t fail_at = 1; status != ORDEAL_OK; fail_at++) {
        struct one_failure f = { 0 };
        struct ordeal_memory memory = one_failure_memory(&f);
        struct ordeal *own = ordeal_new(&memory);
        struct ordeal_trace *t = trace_of_lines(own,
                                                "final A=2\nP0 S[A]#1\nP0 L[A/8]\nP1 CAS[A]?0#2\n");
        struct ordeal_replay *r = NULL;
        size_t before = ordeal_memory_used(own);
        f.fail_at = f.calls + fail_at;
        status = ordeal_replay_new(t, ORDEAL_TSO, &r);
        TEST_ASSERT_TRUE(status == ORDEAL_OK || status == ORDEAL_NO_MEMORY);
        TEST_ASSERT_TRUE((status == ORDEAL_OK) == (r != NULL));
        ordeal_replay_free(r);
        TEST_ASSERT_EQUAL_size_t(before, ordeal_memory_used(own));
        ordeal_trace_free(t);
        ordeal_free(own);
        TEST_ASSERT_FALSE(f.wrong_size);
        TEST_ASSERT_EQUAL_size_t(0, f.bytes);
    }
}

/* ---- against the oracle --------------------------------------------------------------------- */

static const struct { enum oracle_model oracle; enum ordeal_model ordeal; bool own; } models[] = {
    { ORACLE_SC, ORDEAL_SC, true }, { ORACLE_TSO, ORDEAL_TSO, true },
    { ORACLE_PSO, ORDEAL_PSO, false }, { ORACLE_PC, ORDEAL_PC, false },
    { ORACLE_RMO, ORDEAL_RMO, false },
};
enum { MODELS = sizeof models / sizeof *models };

/* `legal` and `passed` count those whose values tell their stores. */
struct tally { unsigned executions, legal, passed; };

static bool has_wide_cas(const struct oracle_execution *x)
{
    for (unsigned i = 0; i < x->ops; i++)
        if (x->op[i].kind == ORACLE_CAS && x->op[i].size > 8)
            return true;
    return false;
}

static void put_to_oracle(const struct oracle_execution *x, uint64_t seed, int m, struct tally *n)
{
    char context[64];
    struct subject s = { 0 };
    if (has_wide_cas(x) || (models[m].oracle == ORACLE_PC && oracle_has_transactions(x)))
        return; /* these are refused */
    if (execution_trace(o, x, seed, &s.trace) != ORDEAL_OK)
        TEST_FAIL_MESSAGE(ordeal_last_error(o)->reason);
    s = subject_of(s.trace);
    bool legal = oracle_legal(models[m].oracle, x), passed = passes(&s, models[m].ordeal);
    snprintf(context, sizeof context, "%s, seed %llu", ordeal_model_name(models[m].ordeal),
             (unsigned long long)seed);
    TEST_ASSERT_TRUE_MESSAGE(legal || !passed, context);
    bool tells = !oracle_sources(x).several;
    n->executions++;
    n->legal += legal && tells;
    n->passed += passed && tells;
    free_subject(&s);
}

static void test_random_executions(void)
{
    static const struct random_shape shape = { .threads = 4,
                                               .words = 4,
                                               .ops_least = 3,
                                               .ops_most = 14,
                                               .features = RANDOM_ALL & ~RANDOM_ORDER };
    struct tally tally[MODELS] = { 0 };
    for (uint64_t seed = 1; seed <= 8000; seed++) {
        struct oracle_execution x;
        random_execution(&shape, seed, &x);
        for (int m = 0; m < MODELS; m++)
            put_to_oracle(&x, seed, m, &tally[m]);
    }
    for (int m = 0; m < MODELS; m++) {
        printf("%s: %u executions, %u legal, %u of them replayed\n",
               ordeal_model_name(models[m].ordeal), tally[m].executions, tally[m].legal,
               tally[m].passed);
        TEST_ASSERT_GREATER_THAN_UINT(tally[m].executions / 10, tally[m].legal);
        if (models[m].own)
            TEST_ASSERT_GREATER_OR_EQUAL_UINT(tally[m].legal - tally[m].legal / 20,
                                              tally[m].passed);
    }
}

/* ---- larger ones ---------------------------------------------------------------------------- */

/* Of a hundred, so many at least are to be replayed: nearly a third are swaps, which is more than
 * guesses are made for, and they get harder with the number of threads. */
static const struct { struct workload_spec spec; unsigned least; } workloads[] = {
    { { .ops = 200, .threads = 2, .words = 16 }, 99 },
    { { .ops = 2000, .threads = 2, .words = 16 }, 99 },
    { { .ops = 1000, .threads = 2, .words = 4 }, 99 },
    { { .ops = 400, .threads = 4, .words = 16 }, 99 },
    { { .ops = 2000, .threads = 4, .words = 64, .mix = WORKLOAD_LOAD }, 99 },
    { { .ops = 2000, .threads = 4, .words = 8, .mix = WORKLOAD_STORE }, 80 },
    { { .ops = 2000, .threads = 16, .words = 64 }, 0 },
    { { .ops = 200, .threads = 4, .words = 32, .transaction = 5 }, 50 },
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static struct workload *workload_at(int i, uint64_t seed)
{
    struct workload_spec spec = workloads[i].spec;
    spec.seed = seed;
    struct workload *w = workload_run(&spec);
    TEST_ASSERT_NOT_NULL(w);
    return w;
}

static void test_workloads(void)
{
    for (int i = 0; i < WORKLOADS; i++) {
        const struct workload_spec *spec = &workloads[i].spec;
        unsigned passed = 0;
        for (uint64_t seed = 1; seed <= 100; seed++) {
            struct workload *w = workload_at(i, seed);
            struct subject s = subject_of(trace_of_workload(o, w));
            passed += passes(&s, ORDEAL_TSO);
            free_subject(&s);
            workload_free(w);
        }
        printf("%u operations, %u threads, %u words: %u of 100 replayed\n", spec->ops,
               spec->threads, spec->words, passed);
        TEST_ASSERT_GREATER_OR_EQUAL_UINT(workloads[i].least, passed);
    }
}

static bool check_says_pass(const struct ordeal_trace *t)
{
    struct ordeal_options options = { .model = ORDEAL_TSO, .no_core = true };
    struct ordeal_verdict *v = check_trace(o, t, &options);
    bool pass = ordeal_verdict_result(v) == ORDEAL_PASS;
    ordeal_verdict_free(v);
    return pass;
}

/* Some loads or swaps saw another value of their words. */
static void test_spoilt_workloads(void)
{
    uint64_t chance = 1;
    unsigned passed = 0, illegal = 0;
    for (int i = 0; i < WORKLOADS; i++)
        for (uint64_t seed = 1; seed <= 30; seed++) {
            struct workload *w = workload_at(i, seed);
            spoil_workload(w, 1, &chance);
            struct subject s = subject_of(trace_of_workload(o, w));
            bool legal = check_says_pass(s.trace), pass = passes(&s, ORDEAL_TSO);
            TEST_ASSERT_TRUE(legal || !pass);
            passed += pass;
            illegal += !legal;
            free_subject(&s);
            workload_free(w);
        }
    printf("%u illegal, %u replayed\n", illegal, passed);
    TEST_ASSERT_GREATER_THAN_UINT(100, illegal);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_small_ones);
    RUN_TEST(test_weaker_models);
    RUN_TEST(test_values_that_do_not_tell_their_store);
    RUN_TEST(test_values_that_are_too_large);
    RUN_TEST(test_executions_of_one_test);
    RUN_TEST(test_amos_of_one_test);
    RUN_TEST(test_refusals);
    RUN_TEST(test_out_of_memory);
    RUN_TEST(test_random_executions);
    RUN_TEST(test_workloads);
    RUN_TEST(test_spoilt_workloads);
    return UNITY_END();
}
