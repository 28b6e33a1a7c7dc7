/* SPDX-License-Identifier: Apache-2.0 */
/* Whole checks, from trace to certified verdict: memory that runs out, limits, cycles as order, known
 * store orders, and what every model and algorithm must agree on. */
#include "checking.h"
#include "random_execution.h"

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

/* ---- every allocation may fail ----------------------------------------------------------- */

struct starving {
    struct one_failure memory;
    struct ordeal *o;
    struct ordeal_trace *t;
    struct ordeal_options options;
    enum ordeal_result result;           /* what is to come out in the end */
};

/* A check, its witness written to a file and verified from it. */
static enum ordeal_status check_and_verify(const struct starving *s)
{
    struct ordeal_verdict *v = NULL, *again = NULL;
    enum ordeal_status status = ordeal_check(s->t, &s->options, &v);
    if (status != ORDEAL_OK) {
        TEST_ASSERT_NULL(v);
        return status;
    }
    TEST_ASSERT_EQUAL_MESSAGE(s->result, ordeal_verdict_result(v), ordeal_verdict_note(v));
    if (s->result != ORDEAL_UNDECIDED) {
        char *text = NULL;
        size_t length;
        FILE *f = open_memstream(&text, &length);
        status = ordeal_witness_write(v, f);
        fclose(f);
        f = fmemopen(text, length, "r");
        if (status == ORDEAL_OK)
            status = ordeal_witness_verify(s->t, f, "witness", &again);
        fclose(f);
        free(text);
        TEST_ASSERT_EQUAL(status == ORDEAL_OK, again != NULL);
        if (again)
            TEST_ASSERT_EQUAL(s->result, ordeal_verdict_result(again));
    }
    ordeal_verdict_free(again);
    ordeal_verdict_free(v);
    return status;
}

/* One context lives through every failure; in the last round nothing fails. */
static void starve(const char *lines, struct ordeal_options options, enum ordeal_result result)
{
    struct starving s = { .options = options, .result = result };
    struct ordeal_memory memory = one_failure_memory(&s.memory);
    s.o = ordeal_new(&memory);
    s.t = trace_of_lines(s.o, lines);
    size_t bytes = s.memory.bytes, used = ordeal_memory_used(s.o);
    enum ordeal_status status;
    size_t k = 0;
    do {
        s.memory.calls = 0;
        s.memory.fail_at = ++k;
        status = check_and_verify(&s);
        if (status != ORDEAL_OK)
            TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_NO_MEMORY, status, ordeal_last_error(s.o)->reason);
        else
            TEST_ASSERT_LESS_THAN_MESSAGE(k, s.memory.calls, "a failure went unnoticed");
        TEST_ASSERT_EQUAL_size_t(bytes, s.memory.bytes);
        TEST_ASSERT_EQUAL_size_t(used, ordeal_memory_used(s.o));
        TEST_ASSERT_FALSE(s.memory.wrong_size);
    } while (status != ORDEAL_OK);
    TEST_ASSERT_GREATER_THAN(10, k);
    ordeal_trace_free(s.t);
    ordeal_free(s.o);
    TEST_ASSERT_EQUAL_size_t(0, s.memory.bytes);
}

static const char mirror[] = /* Figure 4.6(c) with its mirror image */
    "P1 S[B]#11\nP1 MEMBAR\nP1 L[A]=2\nP2 S[B]#12\nP2 MEMBAR\nP2 L[A]=2\nP3 S[A]#1\nP3 MEMBAR\n"
    "P3 L[B]=11\nP4 S[A]#2\nP4 MEMBAR\nP4 L[D]=31\nP5 L[A]=1\nP5 MEMBAR\nP5 L[B]=12\nP6 S[D]#31\n"
    "P6 MEMBAR\nP6 L[A]=1\nP7 S[D]#32\nP7 MEMBAR\nP7 L[A]=1\nP8 L[A]=2\nP8 MEMBAR\nP8 L[D]=32\n";

/* Everything a trace can hold, legal under every model that has transactions. */
static const char rich[] =
    "init A=9\natomic 8\nfinal D=4\n"
    "P0 S[A]#1 @0:4\nP0 MEMBAR\nP0 L[B]=0 >r1\nP0 S[D]#3 <r1\n"
    "P1 SWAP[A]=1#2\nP1 CAS[B]=0?0#5\nP1 CAS[B]=5?7#6\nP1 S[D]#4\n"
    "P2 TX.BEGIN\nP2 L[A]=9\nP2 S[C/8]#0x700000006\nP2 TX.END\nP2 L[C+4]=7\nP2 PREFETCH[A]\n"
    "P2 TX.BEGIN\nP2 S[A]#8\nP2 TX.ABORT\n";

static void test_a_pass_survives_starvation(void)
{
    for (int m = 0; m < ORDEAL_MODELS; m++)
        if (m != ORDEAL_PC)
            starve(rich, (struct ordeal_options){ .model = (enum ordeal_model)m }, ORDEAL_PASS);
    starve("init A=9\nP0 S[A]#1\nP0 L[A]=1\nP0 L[B]=0\nP1 S[B]#1\nP1 L[B]=1\nP1 SWAP[A]=9#2\n",
           (struct ordeal_options){ .model = ORDEAL_PC }, ORDEAL_PASS);
}

static void test_a_fail_survives_starvation(void)
{
    for (int m = 0; m < ORDEAL_MODELS; m++)
        starve(mirror, (struct ordeal_options){ .model = (enum ordeal_model)m },
               m == ORDEAL_PC ? ORDEAL_PASS : ORDEAL_FAIL);
    starve(mirror, (struct ordeal_options){ .model = ORDEAL_TSO, .no_core = true }, ORDEAL_FAIL);
    starve("P0 S[A]#1\nP0 S[A]#2\nP1 L[A]=2\nP1 L[A]=1\n",
           (struct ordeal_options){ .model = ORDEAL_PC }, ORDEAL_FAIL);
    starve("P0 S[A]#1\nP1 L[A]=2\n", (struct ordeal_options){ .model = ORDEAL_SC }, ORDEAL_FAIL);
}

static void test_the_solver_survives_starvation(void)
{
    static const char legal[] = "final A=1\nP0 S[A]#1\nP0 L[A]=1\nP0 S[A]#2\nP1 S[A]#1\n"
                                "P2 L[A]=2\nP2 L[A]=1\n";
    static const char illegal[] = "P0 S[A]#1\nP0 S[A]#1\nP1 L[A]=1\nP1 MEMBAR\nP1 L[A]=0\n";
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        struct ordeal_options options = { .model = (enum ordeal_model)m };
        starve(legal, options, ORDEAL_PASS);
        starve(illegal, options, ORDEAL_FAIL);
    }
}

static void test_every_algorithm_survives_starvation(void)
{
    static const char ordered_legal[] = "order A 1 2\nP0 S[A]#1\nP1 L[A]=1\nP1 S[A]#2\nP2 L[A]=2\n"
                                        "P2 S[B]#1\nP0 L[B]=1\n";
    static const char ordered_illegal[] = "order A 2 1\nP0 S[A]#1\nP1 L[A]=1\nP1 S[A]#2\n";
    for (int a = 0; a < ORDEAL_ALGORITHMS; a++) {
        struct ordeal_options options = { .model = ORDEAL_TSO,
                                          .algorithm = (enum ordeal_algorithm)a };
        bool rules_alone = a == ORDEAL_BASELINE;
        bool complete = a != ORDEAL_BASELINE && a != ORDEAL_HEU && a != ORDEAL_DERIV;
        starve(ordered_legal, options, rules_alone ? ORDEAL_UNDECIDED : ORDEAL_PASS);
        starve(ordered_illegal, options, ORDEAL_FAIL);
        if (a != ORDEAL_CONFLICT)
            starve(mirror, options, complete ? ORDEAL_FAIL : ORDEAL_UNDECIDED);
    }
}

/* ---- limits ------------------------------------------------------------------------------ */

static struct ordeal_trace *large_trace(uint32_t ops, bool spoilt)
{
    struct workload *w = workload_run(&(struct workload_spec){ .ops = ops, .threads = 8,
                                                               .words = 32, .seed = 5 });
    uint64_t chance = 1;
    if (spoilt)
        spoil_workload(w, 2, &chance);
    struct ordeal_trace *t = trace_of_workload(o, w);
    workload_free(w);
    return t;
}

static struct ordeal_verdict *check_undecided(const struct ordeal_trace *t, const char *note)
{
    size_t used = ordeal_memory_used(o);
    struct ordeal_verdict *v = check_trace(o, t, &(struct ordeal_options){ .model = ORDEAL_TSO });
    if (ordeal_verdict_result(v) == ORDEAL_UNDECIDED) {
        const struct ordeal_place *places;
        const uint32_t *ops;
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(ordeal_verdict_note(v), note), ordeal_verdict_note(v));
        TEST_ASSERT_EQUAL(0, ordeal_verdict_order(v, &places));
        TEST_ASSERT_EQUAL(0, ordeal_verdict_core(v, &ops));
        TEST_ASSERT_EQUAL(0, ordeal_verdict_steps(v));
        ordeal_verdict_free(v);
        v = NULL;
        TEST_ASSERT_EQUAL_size_t(used, ordeal_memory_used(o));
    }
    return v;
}

static void test_a_time_limit_leaves_it_undecided(void)
{
    for (int spoilt = 0; spoilt < 2; spoilt++) {
        struct ordeal_trace *t = large_trace(100000, spoilt);
        ordeal_set_limits(o, &(struct ordeal_limits){ .seconds = 1e-9 });
        TEST_ASSERT_NULL(check_undecided(t, "time limit of 1e-09 s reached in "));
        ordeal_set_limits(o, &(struct ordeal_limits){ 0 });
        TEST_ASSERT_EQUAL(spoilt ? ORDEAL_FAIL : ORDEAL_PASS,
                          result_of(o, t, ORDEAL_TSO, ORDEAL_AUTO));
        ordeal_trace_free(t);
    }
}

struct patience { unsigned left; };

static bool run_out(void *user, const char *phase, double share)
{
    struct patience *p = user;
    TEST_ASSERT_NOT_NULL(phase);
    TEST_ASSERT_TRUE(share <= 1);
    return p->left-- == 0;
}

/* Stopped at the first call, at the second, and so on until it is not stopped any more. */
static void test_an_interrupt_at_any_moment_leaves_it_undecided(void)
{
    for (int spoilt = 0; spoilt < 2; spoilt++) {
        struct ordeal_trace *t = large_trace(8000, spoilt);
        struct ordeal_verdict *v = NULL;
        unsigned calls = 0;
        for (; !v; calls++) {
            struct patience p = { calls };
            ordeal_set_limits(o, &(struct ordeal_limits){ .progress = run_out, .user = &p });
            v = check_undecided(t, "interrupted in ");
        }
        TEST_ASSERT_EQUAL(spoilt ? ORDEAL_FAIL : ORDEAL_PASS, ordeal_verdict_result(v));
        TEST_ASSERT_GREATER_THAN(5, calls);
        ordeal_verdict_free(v);
        ordeal_trace_free(t);
    }
}

static void test_any_memory_limit_leaves_it_undecided(void)
{
    for (int spoilt = 0; spoilt < 2; spoilt++) {
        struct ordeal_trace *t = large_trace(2000, spoilt);
        struct ordeal_verdict *v = NULL;
        size_t limit = ordeal_memory_used(o) + 2048; /* the verdict itself has room */
        for (; !v; limit += 997) {
            ordeal_set_limits(o, &(struct ordeal_limits){ .bytes = limit });
            v = check_undecided(t, "memory limit of ");
        }
        TEST_ASSERT_EQUAL(spoilt ? ORDEAL_FAIL : ORDEAL_PASS, ordeal_verdict_result(v));
        ordeal_verdict_free(v);
        ordeal_trace_free(t);
    }
}

/* ---- cycles as order ----------------------------------------------------------------------- */

static void expect(const char *lines, struct ordeal_options options, enum ordeal_result result)
{
    struct ordeal_trace *t = trace_of_lines(o, lines);
    struct ordeal_verdict *v = check_trace(o, t, &options);
    TEST_ASSERT_EQUAL_MESSAGE(result, ordeal_verdict_result(v), lines);
    ordeal_verdict_free(v);
    ordeal_trace_free(t);
}

/* With and without cycles as order, under every model and both complete ways. */
static void expect_in_time(const char *lines, enum ordeal_result in_time)
{
    for (int m = 0; m < ORDEAL_MODELS; m++)
        for (int classic = 0; classic < 2; classic++) {
            struct ordeal_options options = { .model = (enum ordeal_model)m };
            options.algorithm = classic ? ORDEAL_DERIV_BACK : ORDEAL_AUTO;
            expect(lines, options, ORDEAL_PASS);
            options.time_order = true;
            expect(lines, options, in_time);
        }
}

static void test_cycles_are_order_when_asked_for(void)
{
    /* A load that ends before its store begins; an old value long after it was overwritten. */
    expect_in_time("P0 S[A]#1 @10:20\nP1 L[A]=1 @1:9\n", ORDEAL_FAIL);
    expect_in_time("P0 S[A]#1 @10:20\nP1 L[A]=0 @21:30\n", ORDEAL_FAIL);
    expect_in_time("P0 S[A]#1 @0:5\nP1 S[A]#2 @6:10\nP2 L[A]=1 @11:12\n", ORDEAL_FAIL);
    expect_in_time("P0 SWAP[A]=2#1 @0:5\nP1 S[A]#2 @6:10\n", ORDEAL_FAIL);
}

static void test_overlapping_cycles_order_nothing(void)
{
    expect_in_time("P0 S[A]#1 @10:20\nP1 L[A]=1 @1:10\n", ORDEAL_PASS);
    expect_in_time("P0 S[A]#1 @10:20\nP1 L[A]=0 @20:30\n", ORDEAL_PASS);
    expect_in_time("P0 S[A]#1 @0:9\nP1 S[A]#2 @6:10\nP2 L[A]=1 @11:12\n", ORDEAL_PASS);
    /* Open ends. */
    expect_in_time("P0 S[A]#1 @10:\nP1 L[A]=1 @9:\n", ORDEAL_PASS);
    expect_in_time("P0 S[A]#1 @:20\nP1 L[A]=1 @:9\n", ORDEAL_PASS);
    expect_in_time("P0 S[A]#1\nP1 L[A]=0 @20:30\n", ORDEAL_PASS);
}

/* The machine's own cycles: legal as order too. Shuffled ones: nothing changes while they are hints. */
static void test_cycles_as_hints_change_no_verdict(void)
{
    uint64_t chance = 77;
    for (unsigned round = 0; round < 40; round++) {
        struct workload *w = workload_run(&(struct workload_spec){
            .ops = 120, .threads = 4, .words = 4, .seed = round, .no_prefetch = true });
        if (round % 2)
            spoil_workload(w, 1, &chance);
        struct ordeal_trace *plain = trace_of_workload(o, w), *timed = ordeal_trace_new(o);
        uint64_t cycle[120];
        for (uint32_t i = 0; i < 120; i++)
            cycle[w->performed[i]] = round % 4 < 2 ? 10 * i : workload_below(&chance, 1000);
        for (uint32_t i = 0; i < 4; i++)
            TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(timed, i, &(uint32_t){ 0 }));
        for (uint32_t i = 0; i < 4; i++) {
            char name[] = "w?";
            name[1] = (char)('0' + i);
            TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_name(timed, name, 2, &(uint32_t){ 0 }));
        }
        for (uint32_t i = 0; i < 120; i++) {
            struct ordeal_op op = *ordeal_trace_op(plain, i);
            op.flags |= ORDEAL_HAS_BEGIN | ORDEAL_HAS_END;
            TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(timed, &op, 0));
            TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_times(timed, cycle[i], cycle[i] + 5));
        }
        for (int m = 0; m < ORDEAL_MODELS; m++)
            TEST_ASSERT_EQUAL(result_of(o, plain, (enum ordeal_model)m, ORDEAL_AUTO),
                              result_of(o, timed, (enum ordeal_model)m, ORDEAL_AUTO));
        if (round % 4 == 0) {
            struct ordeal_verdict *v = check_trace(o, timed, &(struct ordeal_options){
                .model = ORDEAL_TSO, .time_order = true });
            TEST_ASSERT_EQUAL(ORDEAL_PASS, ordeal_verdict_result(v));
            ordeal_verdict_free(v);
        }
        ordeal_trace_free(plain);
        ordeal_trace_free(timed);
        workload_free(w);
    }
}

/* ---- what the trace says of the whole ------------------------------------------------------ */

static void expect_everywhere(const char *lines, bool conflict, enum ordeal_result result)
{
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        struct ordeal_options options = { .model = (enum ordeal_model)m };
        expect(lines, options, result);
        options.algorithm = ORDEAL_DERIV_BACK;
        expect(lines, options, result);
        options.algorithm = ORDEAL_CONFLICT;
        if (conflict)
            expect(lines, options, result);
    }
}

static void test_known_store_orders_are_kept(void)
{
    expect_everywhere("order A 1 2\nP0 S[A]#1\nP1 S[A]#2\nP2 L[A]=1\nP2 MEMBAR\nP2 L[A]=2\n", true,
                      ORDEAL_PASS);
    expect_everywhere("order A 2 1\nP0 S[A]#1\nP1 S[A]#2\nP2 L[A]=1\nP2 MEMBAR\nP2 L[A]=2\n", true,
                      ORDEAL_FAIL);
    expect_everywhere("P0 S[A]#1\nP1 S[A]#2\nP2 L[A]=1\nP2 MEMBAR\nP2 L[A]=2\n", false, ORDEAL_PASS);
    expect_everywhere("order A 2 1\nP0 S[A]#1\nP0 MEMBAR\nP0 S[A]#2\n", true, ORDEAL_FAIL);
    /* Stores that are not named stay free; the order of the others runs through them. */
    expect_everywhere("order A 3 1\nP0 S[A]#1\nP0 MEMBAR\nP0 S[A]#2\nP1 S[A]#3\nP1 MEMBAR\n"
                      "P1 L[A]=2\n", false, ORDEAL_PASS);
    expect_everywhere("order A 2 3\nP0 S[A]#1\nP0 MEMBAR\nP0 S[A]#2\nP1 S[A]#3\nP1 MEMBAR\n"
                      "P1 L[A]=1\n", false, ORDEAL_FAIL);
}

/* Two words stored together may be seen one by one only where they are not atomic. */
static void test_accesses_are_as_atomic_as_the_trace_says(void)
{
    static const char torn[] = "P0 S[A/8]#0x200000001\nP1 L[A]=1\nP1 MEMBAR\nP1 L[A+4]=0\n";
    char lines[256];
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        struct ordeal_options options = { .model = (enum ordeal_model)m };
        expect(torn, options, ORDEAL_PASS);
        snprintf(lines, sizeof lines, "atomic 8\n%s", torn);
        expect(lines, options, ORDEAL_FAIL);
    }
    static const char bytes[] = "P0 S[A]#0x00020001\nP1 L[A/2]=1\nP1 MEMBAR\nP1 L[A+2/2]=0\n";
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        struct ordeal_options options = { .model = (enum ordeal_model)m };
        expect(bytes, options, ORDEAL_FAIL);
        snprintf(lines, sizeof lines, "atomic 2\n%s", bytes);
        expect(lines, options, ORDEAL_PASS);
    }
}

/* A wide store takes its place in the orders of seven words at once: what follows for one of them
 * must not be concluded while another still seems to be free. */
static void test_wide_stores_fight_under_pc(void)
{
    expect("atomic 8\n"
           "P0 S[A+6/1]#1\nP0 S[A+5/1]#3\nP0 L[A/8]=0x901032110171e25\n"
           "P1 S[A/1]#7\nP1 S[A/8]#0x80f161d242b3239\nP1 S[A+6/2]#2320\n"
           "P2 S[A/8]#0xc131a21282f363d\nP2 L[A]=674182717\nP2 S[A]#269950501\n"
           "P3 S[A/8]#0x11181f262d343b42\n",
           (struct ordeal_options){ .model = ORDEAL_PC }, ORDEAL_PASS);
}

static void test_a_load_sees_no_later_store_of_its_thread(void)
{
    expect_everywhere("P0 L[A]=1\nP0 S[A]#1\n", true, ORDEAL_FAIL);
    expect_everywhere("P0 SWAP[A]=1#2\nP0 S[A]#1\n", false, ORDEAL_FAIL);
    expect_everywhere("P0 L[A]=2\nP0 SWAP[A]=0#2\n", true, ORDEAL_FAIL);
    expect_everywhere("P0 SWAP[A]=1#1\n", true, ORDEAL_FAIL);
    expect_everywhere("P0 L[A]=1\nP1 S[B]#7\nP0 S[B]#5\nP0 S[A]#1\nP1 L[B]=5\n", false, ORDEAL_FAIL);
}

static void test_a_value_nobody_wrote_is_named(void)
{
    for (int m = 0; m < ORDEAL_MODELS; m++)
        for (int a = 0; a < ORDEAL_ALGORITHMS; a++) {
            struct ordeal_trace *t = trace_of_lines(o, "P0 S[A]#1\nP0 S[B]#2\nP1 L[A]=1\nP1 L[A]=2\n");
            struct ordeal_verdict *v = check_trace(o, t, &(struct ordeal_options){
                .model = (enum ordeal_model)m, .algorithm = (enum ordeal_algorithm)a });
            TEST_ASSERT_EQUAL(ORDEAL_FAIL, ordeal_verdict_result(v));
            uint32_t event = ordeal_verdict_unwritten(v);
            TEST_ASSERT_NOT_EQUAL(ORDEAL_NONE, event);
            struct ordeal_event e;
            ordeal_verdict_event(v, event, &e);
            TEST_ASSERT_FALSE(e.store);
            TEST_ASSERT_EQUAL(3, e.op);
            TEST_ASSERT_EQUAL_STRING("A", e.location);
            const uint32_t *core;
            TEST_ASSERT_EQUAL(1, ordeal_verdict_core(v, &core));
            TEST_ASSERT_EQUAL(3, core[0]);
            ordeal_verdict_free(v);
            ordeal_trace_free(t);
        }
}

/* ---- models and algorithms agree ----------------------------------------------------------- */

static const struct { enum ordeal_model strict, weak; } weaker[] = {
    { ORDEAL_SC, ORDEAL_TSO }, { ORDEAL_TSO, ORDEAL_PSO }, { ORDEAL_PSO, ORDEAL_RMO },
    { ORDEAL_TSO, ORDEAL_PC },
};

/* Hundreds of operations, of a TSO machine or spoilt in one place; deriv+back searches by itself. */
static void test_models_and_algorithms_agree_on_larger_executions(void)
{
    uint64_t chance = 3;
    unsigned seen[ORDEAL_MODELS][2] = { { 0 } };
    for (unsigned round = 0; round < 60; round++) {
        struct workload_spec spec = { .ops = 100 + 100 * (round % 5), .threads = 2 + round % 7,
                                      .words = 2 + round % 11, .seed = round,
                                      .mix = (enum workload_mix)(round % WORKLOAD_MIXES),
                                      .transaction = round % 3 == 2 ? 1 + round % 6 : 0 };
        struct workload *w = workload_run(&spec);
        if (round % 4)
            spoil_workload(w, 1, &chance);
        struct ordeal_trace *t = trace_of_workload(o, w);
        enum ordeal_result result[ORDEAL_MODELS] = { ORDEAL_PASS };
        for (int m = 0; m < ORDEAL_MODELS; m++) {
            if (m == ORDEAL_PC && spec.transaction)
                continue;
            result[m] = result_of(o, t, (enum ordeal_model)m, ORDEAL_AUTO);
            seen[m][result[m] == ORDEAL_FAIL]++;
            TEST_ASSERT_EQUAL(result[m], result_of(o, t, (enum ordeal_model)m, ORDEAL_DERIV_BACK));
            TEST_ASSERT_NOT_EQUAL(result[m] == ORDEAL_PASS ? ORDEAL_FAIL : ORDEAL_PASS,
                                  result_of(o, t, (enum ordeal_model)m, ORDEAL_BASELINE));
        }
        for (size_t i = 0; i < sizeof weaker / sizeof *weaker; i++)
            if (result[weaker[i].strict] == ORDEAL_PASS)
                TEST_ASSERT_EQUAL(ORDEAL_PASS, result[weaker[i].weak]);
        if (round % 4 == 0)
            TEST_ASSERT_EQUAL(ORDEAL_PASS, result[ORDEAL_TSO]);
        ordeal_trace_free(t);
        workload_free(w);
    }
    for (int m = 0; m < ORDEAL_MODELS; m++) { /* both verdicts have been put to the test */
        TEST_ASSERT_GREATER_THAN(5, seen[m][0]);
        TEST_ASSERT_GREATER_THAN(5, seen[m][1]);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_pass_survives_starvation);
    RUN_TEST(test_a_fail_survives_starvation);
    RUN_TEST(test_the_solver_survives_starvation);
    RUN_TEST(test_every_algorithm_survives_starvation);
    RUN_TEST(test_a_time_limit_leaves_it_undecided);
    RUN_TEST(test_an_interrupt_at_any_moment_leaves_it_undecided);
    RUN_TEST(test_any_memory_limit_leaves_it_undecided);
    RUN_TEST(test_cycles_are_order_when_asked_for);
    RUN_TEST(test_overlapping_cycles_order_nothing);
    RUN_TEST(test_cycles_as_hints_change_no_verdict);
    RUN_TEST(test_known_store_orders_are_kept);
    RUN_TEST(test_accesses_are_as_atomic_as_the_trace_says);
    RUN_TEST(test_wide_stores_fight_under_pc);
    RUN_TEST(test_a_load_sees_no_later_store_of_its_thread);
    RUN_TEST(test_a_value_nobody_wrote_is_named);
    RUN_TEST(test_models_and_algorithms_agree_on_larger_executions);
    return UNITY_END();
}
