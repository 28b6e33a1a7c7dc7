/* SPDX-License-Identifier: Apache-2.0 */
/* The machines of the memory models: legal ones show what their model allows and nothing else,
 * broken ones are caught, and every run can be repeated exactly. */
#include "targets/target.h"

#include <stdlib.h>
#include <string.h>

#include "targets/model/model_bugs.h"
#include "checking.h"
#include "test/generate.h"
#include "targets/model/model_machine.h"
#include "unity.h"

/* What the sanitizers slow down is done with fewer tests there. */
#ifdef __SANITIZE_ADDRESS__
enum { SHARE = 8 };
#else
enum { SHARE = 1 };
#endif

enum {
    SC = 1 << ORDEAL_SC,
    TSO = 1 << ORDEAL_TSO,
    PSO = 1 << ORDEAL_PSO,
    PC = 1 << ORDEAL_PC,
    RMO = 1 << ORDEAL_RMO,
    RVWMO = 1 << ORDEAL_RVWMO,
    RVTSO = 1 << ORDEAL_RVTSO,
    ALL = SC | TSO | PSO | PC | RMO | RVWMO | RVTSO,
    MACHINES = ORDEAL_MODELS
};

/* The model itself and each weaker one. PC and PSO each allow what the other forbids; and PC shows
 * a store to some before others, which even RMO forbids. */
static const uint32_t not_stronger[MACHINES] = {
    [ORDEAL_SC] = ALL,          [ORDEAL_TSO] = ALL & ~SC, [ORDEAL_PSO] = PSO | RMO | RVWMO,
    [ORDEAL_PC] = PC,           [ORDEAL_RMO] = RMO,       [ORDEAL_RVWMO] = RVWMO,
    [ORDEAL_RVTSO] = ALL & ~SC, /* but for what depends on SCs, which these tests have none of */
};

/* PC knows none, RISC-V has none. */
static bool has_transactions(uint32_t model)
{
    return model != ORDEAL_PC && model != ORDEAL_RVWMO && model != ORDEAL_RVTSO;
}

static struct ordeal *o;
static void *machine;
static struct why why;
static struct ordeal_trace *test;
static struct program p;

void setUp(void)
{
    struct ordeal_limits limits = { .seconds = 30 };
    o = ordeal_new(NULL);
    ordeal_set_limits(o, &limits);
}

static void close_machine(void)
{
    target_model.close(machine);
    machine = NULL;
}

static void drop_test(void)
{
    program_free(&p);
    ordeal_trace_free(test);
    p = (struct program){ 0 };
    test = NULL;
}

void tearDown(void)
{
    close_machine();
    drop_test();
    ordeal_free(o);
}

static bool try_open(enum ordeal_model model, const char *tm, const char *bug, uint64_t seed)
{
    struct target_options options = { .model = model, .model_given = true, .seed = seed,
                                      .timeout = 60, .tm = tm, .bug = bug };
    close_machine();
    why.text[0] = '\0';
    return target_model.open(&options, &machine, &why);
}

static void open_machine(enum ordeal_model model, const char *tm, const char *bug, uint64_t seed)
{
    TEST_ASSERT_TRUE_MESSAGE(try_open(model, tm, bug, seed), why.text);
}

static void compile(struct ordeal_trace *from)
{
    struct ordeal_error e;
    drop_test();
    test = from;
    TEST_ASSERT_TRUE_MESSAGE(program_compile(&p, test, "test", &e), e.reason);
}

static void run(uint64_t first, uint64_t count,
                bool (*outcome)(void *, uint64_t, const uint64_t *), void *user)
{
    struct target_sink sink = { outcome, user };
    enum target_result result = target_model.run(machine, &p, first, count, &sink, &why);
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, result, why.text);
}

/* ---- outcomes that tell the models apart ---------------------------------------------------- */

/* The test, the values of its loads, and the machines that show them; the others never do. */
static const struct litmus {
    const char *name, *lines;
    uint32_t allowed;
    uint64_t values[8];
} litmus[] = {
    { "SB", "P0 S[A]#1\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\n", ALL & ~SC, { 0, 0 } },
    { "SB with membars",
      "P0 S[A]#1\nP0 MEMBAR.SL\nP0 L[B]\nP1 S[B]#1\nP1 MEMBAR.SL\nP1 L[A]\n",
      0,
      { 0, 0 } },
    { "SB with swaps",
      "P0 SWAP[A]#1\nP0 L[B]\nP1 SWAP[B]#1\nP1 L[A]\n",
      PC | RMO | RVWMO,
      { 0, 0, 0, 0 } },
    { "SB in transactions",
      "P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\nP0 L[B]\n"
      "P1 TX.BEGIN\nP1 S[B]#1\nP1 TX.END\nP1 L[A]\n",
      0,
      { 1, 0, 1, 0 } },
    { "SB, own stores seen",
      "P0 S[A]#1\nP0 L[A]\nP0 L[B]\nP1 S[B]#1\nP1 L[B]\nP1 L[A]\n",
      ALL & ~SC,
      { 1, 0, 1, 0 } },
    { "MP", "P0 S[A]#1\nP0 S[B]#1\nP1 L[B]\nP1 L[A]\n", PSO | RMO | RVWMO, { 1, 0 } },
    { "MP, stores in order",
      "P0 S[A]#1\nP0 MEMBAR.SS\nP0 S[B]#1\nP1 L[B]\nP1 L[A]\n",
      RMO | RVWMO,
      { 1, 0 } },
    { "MP, loads in order",
      "P0 S[A]#1\nP0 S[B]#1\nP1 L[B]\nP1 MEMBAR.LL\nP1 L[A]\n",
      PSO | RMO | RVWMO,
      { 1, 0 } },
    { "MP with dependence",
      "P0 S[A]#1\nP0 MEMBAR.SS\nP0 S[B]#1\nP1 L[B] >r1\nP1 L[A] <r1\n",
      0,
      { 1, 0 } },
    { "LB", "P0 L[A]\nP0 S[B]#1\nP1 L[B]\nP1 S[A]#1\n", RMO | RVWMO, { 1, 1 } },
    { "LB with dependence",
      "P0 L[A] >r1\nP0 S[B]#1 <r1\nP1 L[B] >r1\nP1 S[A]#1 <r1\n",
      0,
      { 1, 1 } },
    { "LB, a membar on one side",
      "P0 L[A]\nP0 MEMBAR.LS\nP0 S[B]#1\nP1 L[B]\nP1 S[A]#1\n",
      RMO | RVWMO,
      { 1, 1 } },
    { "IRIW",
      "P0 S[A]#1\nP1 S[B]#1\nP2 L[A]\nP2 L[B]\nP3 L[B]\nP3 L[A]\n",
      PC | RMO | RVWMO,
      { 1, 0, 1, 0 } },
    { "IRIW, loads in order",
      "P0 S[A]#1\nP1 S[B]#1\nP2 L[A]\nP2 MEMBAR.LL\nP2 L[B]\n"
      "P3 L[B]\nP3 MEMBAR.LL\nP3 L[A]\n",
      PC,
      { 1, 0, 1, 0 } },
    { "WRC", "P0 S[A]#1\nP1 L[A]\nP1 S[B]#1\nP2 L[B]\nP2 L[A]\n", PC | RMO | RVWMO, { 1, 1, 0 } },
    { "WRC with dependence",
      "P0 S[A]#1\nP1 L[A] >r1\nP1 S[B]#1 <r1\nP2 L[B] >r1\nP2 L[A] <r1\n",
      PC,
      { 1, 1, 0 } },
    { "RWC",
      "P0 S[A]#1\nP1 L[A]\nP1 L[B]\nP2 S[B]#1\nP2 MEMBAR.SL\nP2 L[A]\n",
      PC | RMO | RVWMO,
      { 1, 0, 0 } },
    { "2+2W",
      "P0 S[A]#1\nP0 S[B]#2\nP1 S[B]#1\nP1 S[A]#2\nP2 L[A]\nP2 MEMBAR.LL\nP2 L[A]\n"
      "P3 L[B]\nP3 MEMBAR.LL\nP3 L[B]\n",
      PSO | RMO | RVWMO,
      { 2, 1, 2, 1 } },
    { "CoRR", "P0 S[A]#1\nP1 L[A]\nP1 L[A]\n", RMO, { 1, 0 } },
    { "CoWR", "P0 S[A]#1\nP0 L[A]\n", 0, { 0 } },
    { "CoWW", "P0 S[A]#1\nP0 S[A]#2\nP1 L[A]\nP1 MEMBAR.LL\nP1 L[A]\n", 0, { 2, 1 } },
    { "CoRW", "P0 L[A]\nP0 S[A]#1\n", 0, { 1 } },
    { "coherence",
      "P0 S[A]#1\nP1 S[A]#2\nP2 L[A]\nP2 MEMBAR.LL\nP2 L[A]\n"
      "P3 L[A]\nP3 MEMBAR.LL\nP3 L[A]\n",
      0,
      { 1, 2, 2, 1 } },
    { "two swaps", "P0 SWAP[A]#1\nP1 SWAP[A]#2\n", 0, { 0, 0 } },
    { "CAS compares", "P0 CAS[A]?0#1\nP1 CAS[A]?0#2\nP1 L[A]\n", 0, { 0, 1, 2 } },
    { "mixed sizes",
      "P0 S[A]#1\nP0 L[A/8]\nP1 S[A+4]#1\nP1 L[A/8]\n",
      ALL & ~SC,
      { 1, 0x100000000 } },
    { "8 bytes at once", "P0 S[A/8]#0x100000001\nP1 L[A/8]\n", 0, { 1 } },
    { "16 bytes in parts", "P0 S[A/16]#0x10000000000000001\nP1 L[A/16]\n", ALL, { 1, 0 } },
    { "16 bytes in a transaction",
      "P0 TX.BEGIN\nP0 S[A/16]#0x10000000000000001\nP0 TX.END\n"
      "P1 TX.BEGIN\nP1 L[A/16]\nP1 TX.END\n",
      0,
      { 1, 1, 0, 1 } },
    { "an abort leaves nothing", "P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.ABORT\nP1 L[A]\n", 0, { 1 } },
    { "no memory", "fault Z\nP0 NFL[Z]\nP0 L[A]\n", ALL, { 0, 0 } },
};

/* Goes on until the values are seen. */
static bool is_another(void *user, uint64_t iteration, const uint64_t *values)
{
    const uint64_t *wanted = user;
    (void)iteration;
    return memcmp(values, wanted, p.slots * sizeof *values) != 0;
}

static void models_show_their_outcomes_and_no_others(void)
{
    static const char *const tm[] = { "lazy", "eager" };
    for (size_t k = 0; k < sizeof litmus / sizeof *litmus; k++) {
        const struct litmus *l = &litmus[k];
        compile(trace_of_lines(o, l->lines));
        for (uint32_t m = 0; m < MACHINES; m++) {
            char about[128];
            struct target_sink sink = { is_another, (void *)l->values };
            if (!has_transactions(m) && p.asks.transactions)
                continue;
            open_machine((enum ordeal_model)m, tm[k % 2], NULL, 1);
            snprintf(about, sizeof about, "%s under %s", l->name, ordeal_model_name(m));
            enum target_result r = target_model.run(machine, &p, 0, 20000, &sink, &why);
            TEST_ASSERT_EQUAL_MESSAGE(l->allowed >> m & 1 ? TARGET_STOPPED : TARGET_DONE, r, about);
        }
    }
}

/* ---- legal machines ------------------------------------------------------------------------- */

struct making { struct bias *bias; struct generator *generator; };

static struct making start_making(const char *settings, uint64_t seed)
{
    struct making g = { .bias = bias_new() };
    struct ordeal_error e;
    char *copy = strdup(settings);
    TEST_ASSERT_TRUE(g.bias && copy);
    for (char *s = strtok(copy, " "); s; s = strtok(NULL, " "))
        TEST_ASSERT_TRUE_MESSAGE(bias_set(g.bias, s, &e), e.reason);
    TEST_ASSERT_TRUE_MESSAGE(bias_check(g.bias, &e), e.reason);
    free(copy);
    g.generator = generator_new(g.bias, seed);
    TEST_ASSERT_NOT_NULL(g.generator);
    return g;
}

static void end_making(struct making *g)
{
    generator_free(g->generator);
    bias_free(g->bias);
}

static void make_test(const struct making *g, uint64_t number)
{
    struct ordeal_trace *made;
    TEST_ASSERT_EQUAL(ORDEAL_OK, generator_make(g->generator, number, o, &made));
    compile(made);
}

struct judged { uint32_t models; enum ordeal_result worst; };

/* Check the execution under each of the models. */
static bool judge(void *user, uint64_t iteration, const uint64_t *values)
{
    struct judged *j = user;
    struct machine_claims claims = target_model.claims(machine);
    struct ordeal_trace *trace;
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, program_trace(&p, iteration, values, &claims, o, &trace),
                              ordeal_last_error(o)->reason);
    for (int m = 0; m < MACHINES; m++) {
        if (!(j->models >> m & 1) || (!has_transactions((uint32_t)m) && p.asks.transactions))
            continue;
        struct ordeal_options options = { .model = (enum ordeal_model)m, .no_core = true };
        struct ordeal_verdict *v = check_trace(o, trace, &options);
        if (ordeal_verdict_result(v) != ORDEAL_PASS)
            j->worst = ordeal_verdict_result(v);
        ordeal_verdict_free(v);
    }
    ordeal_trace_free(trace);
    return true;
}

static enum ordeal_result judge_iteration(uint64_t iteration, uint32_t models)
{
    struct judged j = { models, ORDEAL_PASS };
    run(iteration, 1, judge, &j);
    return j.worst;
}

#define SMALL "test.operations=12 "
#define EVERYTHING "operations.swap=10 operations.cas=10 operations.prefetch=3 " \
    "operations.flush=3 operations.evict=3 operations.nonfaulting=3 operations.interrupt=3 " \
    "operations.delay=3 membar.full=3 membar.sl=2 membar.ss=2 membar.ll=2 membar.ls=2 " \
    "membar.mixed=2 "
#define SIZES "sizes.1=1 sizes.2=1 sizes.4=2 sizes.8=2 sizes.64=1 "
#define TRANSACTIONS "transactions.share=40 transactions.abort=15 transactions.retries=2 "
#define WAYS "loops.share=30 loops.count_max=3 branches.share=30 "
#define IDIOMS "idioms.sb=5 idioms.mp=5 idioms.lb=5 idioms.iriw=5 idioms.wrc=5 idioms.corr=5 "

static const struct { const char *settings; bool transactions; } mixtures[] = {
    { SMALL "test.threads=2 test.locations=2", false },
    { SMALL "test.threads=3 test.locations=3 " EVERYTHING, false },
    { SMALL "test.threads=3 test.locations=4 placement.words_per_line=4 " EVERYTHING SIZES, false },
    { SMALL "test.threads=4 test.locations=3 " EVERYTHING WAYS, false },
    { SMALL "test.threads=4 test.locations=6 " EVERYTHING IDIOMS, false },
    { SMALL "test.threads=2 test.locations=2 " TRANSACTIONS, true },
    { SMALL "test.threads=3 test.locations=3 " EVERYTHING TRANSACTIONS WAYS, true },
    { SMALL "test.threads=4 test.locations=4 placement.words_per_line=2 " EVERYTHING SIZES
      TRANSACTIONS, true },
    { "test.operations=60 test.threads=4 test.locations=4 " EVERYTHING, false },
    { "test.operations=60 test.threads=4 test.locations=4 " TRANSACTIONS, true },
};
enum { MIXTURES = sizeof mixtures / sizeof *mixtures };

static void pass_all(enum ordeal_model model, uint32_t tests)
{
    uint32_t kinds = has_transactions(model) ? MIXTURES : MIXTURES / 2, done = 0;
    for (int k = 0; k < MIXTURES; k++) {
        if (mixtures[k].transactions && !has_transactions(model))
            continue;
        struct making g = start_making(mixtures[k].settings, 5);
        open_machine(model, k % 2 ? "eager" : "lazy", NULL, 3);
        for (uint32_t n = 0; n < tests / kinds; n++, done++) {
            char about[64];
            snprintf(about, sizeof about, "%s, mixture %d, test %u", ordeal_model_name(model), k,
                     n);
            make_test(&g, n);
            TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_PASS, judge_iteration(n, not_stronger[model]), about);
        }
        end_making(&g);
    }
    TEST_ASSERT_GREATER_OR_EQUAL_UINT32(tests * 9 / 10, done);
}

static void sc_is_legal(void) { pass_all(ORDEAL_SC, 10000 / SHARE); }
static void tso_is_legal(void) { pass_all(ORDEAL_TSO, 10000 / SHARE); }
static void pso_is_legal(void) { pass_all(ORDEAL_PSO, 10000 / SHARE); }
static void pc_is_legal(void) { pass_all(ORDEAL_PC, 10000 / SHARE); }
static void rmo_is_legal(void) { pass_all(ORDEAL_RMO, 10000 / SHARE); }
static void rvwmo_is_legal(void) { pass_all(ORDEAL_RVWMO, 5000 / SHARE); }
static void rvtso_is_legal(void) { pass_all(ORDEAL_RVTSO, 2000 / SHARE); }

/* ---- broken machines ------------------------------------------------------------------------ */

/* A test without a load: only memory at its end tells. */
static void what_is_lost_shows_in_memory(void)
{
    for (int broken = 0; broken < 2; broken++) {
        compile(trace_of_lines(o, "P0 S[A]#1\nP0 EVICT[A]\nP1 S[B]#1\nP1 TX.BEGIN\nP1 S[C]#1\n"
                                  "P1 TX.ABORT\n"));
        TEST_ASSERT_EQUAL(3, p.finals);
        open_machine(ORDEAL_SC, NULL, broken ? "evict-loses-dirty" : NULL, 1);
        enum ordeal_result worst = ORDEAL_PASS;
        for (uint64_t i = 0; i < 50 && worst == ORDEAL_PASS; i++)
            worst = judge_iteration(i, 1u << ORDEAL_SC);
        TEST_ASSERT_EQUAL(broken ? ORDEAL_FAIL : ORDEAL_PASS, worst);
    }
}

/* The number of tests of the bug's bias till one fails; 0: none of them does. */
static uint32_t tests_to_catch(enum bug bug, enum ordeal_model model, const char *tm,
                               uint64_t seed)
{
    const struct bug_entry *e = &model_bugs.entry[bug];
    struct making g = start_making(e->bias, seed);
    uint32_t n = 0;
    enum ordeal_result result = ORDEAL_PASS;
    open_machine(model, tm, e->name, seed);
    while (result == ORDEAL_PASS && n < e->tests) {
        make_test(&g, n++);
        result = judge_iteration(0, 1u << model);
    }
    if (result == ORDEAL_FAIL) { /* and the machine is to blame, not the test */
        open_machine(model, tm, NULL, seed);
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_PASS, judge_iteration(0, 1u << model), e->name);
    }
    end_making(&g);
    return result == ORDEAL_FAIL ? n : 0;
}

static void every_bug_is_caught_within_the_tests_it_states(void)
{
    for (int b = 1; b < BUGS; b++)
        for (int m = 0; m < MACHINES; m++)
            if (bug_is_in(&model_bugs.entry[b], (enum ordeal_model)m)) {
                char about[96];
                snprintf(about, sizeof about, "%s under %s", model_bugs.entry[b].name,
                         ordeal_model_name((enum ordeal_model)m));
                for (uint64_t seed = 1; seed <= 4; seed++)
                    TEST_ASSERT_NOT_EQUAL_MESSAGE(
                        0, tests_to_catch((enum bug)b, (enum ordeal_model)m,
                                          seed % 2 ? "lazy" : "eager", seed), about);
            }
}

static void bugs_are_chosen_by_name_and_only_where_they_can_be(void)
{
    TEST_ASSERT_FALSE(try_open(ORDEAL_TSO, NULL, "swap-not-atomik", 1));
    TEST_ASSERT_NOT_NULL(strstr(why.text, "did you mean 'swap-not-atomic'?"));
    TEST_ASSERT_FALSE(try_open(ORDEAL_TSO, NULL, "gremlins", 1));
    for (int b = 1; b < BUGS; b++) {
        const struct bug_entry *e = &model_bugs.entry[b];
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, e->name), e->name);
        for (int m = 0; m < MACHINES; m++) {
            struct why before = why;
            bool can = bug_is_in(e, (enum ordeal_model)m);
            TEST_ASSERT_EQUAL_MESSAGE(can, try_open((enum ordeal_model)m, NULL, e->name, 1),
                                      e->name);
            if (!can)
                TEST_ASSERT_NOT_NULL(strstr(why.text, e->pointless));
            why = before;
        }
    }
    TEST_ASSERT_FALSE(try_open(ORDEAL_SC, NULL, "forward-oldest", 1));
    TEST_ASSERT_EQUAL_STRING("the bug 'forward-oldest' cannot be in the machine of SC: in its "
                             "machine stores wait in no buffer; it can be in: TSO, PSO, PC, RMO, "
                             "RVWMO, RVTSO",
                             why.text);
}

static void the_list_of_bugs_has_them_all(void)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    bugs_print(&model_bugs, false, stream);
    fclose(stream);
    TEST_ASSERT_GREATER_OR_EQUAL(16, BUGS - 1);
    for (int b = 1; b < BUGS; b++) {
        TEST_ASSERT_NOT_NULL(strstr(text, model_bugs.entry[b].name));
        TEST_ASSERT_NOT_NULL(strstr(text, model_bugs.entry[b].wrong));
        TEST_ASSERT_NOT_NULL(strstr(text, model_bugs.entry[b].exposed));
    }
    free(text);
}

/* ---- the target ----------------------------------------------------------------------------- */

struct kept { uint64_t *values; uint64_t first; };

static bool keep(void *user, uint64_t iteration, const uint64_t *values)
{
    const struct kept *k = user;
    memcpy(k->values + (iteration - k->first) * p.slots, values, p.slots * sizeof *values);
    return true;
}

static void the_same_seed_gives_the_same_values(void)
{
    enum { RUNS = 6 };
    struct making g = start_making("test.threads=4 test.locations=4 " TRANSACTIONS WAYS, 2);
    for (int m = 0; m < MACHINES; m++) {
        if (!has_transactions((uint32_t)m))
            continue;
        make_test(&g, (uint64_t)m);
        size_t size = p.slots * RUNS * sizeof(uint64_t);
        uint64_t *all = calloc(1, size), *one = calloc(1, size), *other = calloc(1, size);
        open_machine((enum ordeal_model)m, "eager", NULL, 11);
        run(0, RUNS, keep, &(struct kept){ all, 0 });
        open_machine((enum ordeal_model)m, "eager", NULL, 11);
        for (uint64_t i = RUNS; i-- > 0;) /* each for itself, in another order */
            run(i, 1, keep, &(struct kept){ one + i * p.slots, i });
        TEST_ASSERT_EQUAL_MEMORY(all, one, size);
        open_machine((enum ordeal_model)m, "eager", NULL, 12);
        run(0, RUNS, keep, &(struct kept){ other, 0 });
        TEST_ASSERT_TRUE(memcmp(all, other, size) != 0);
        free(all);
        free(one);
        free(other);
    }
    end_making(&g);
}

/* Under PC the checker has every store once for each thread: fewer operations there. */
static void many_threads_run(void)
{
    for (int m = 0; m < MACHINES; m++) {
        struct making g = start_making(
            m == ORDEAL_PC ? "test.threads=256 test.operations=2 test.locations=20"
                           : "test.threads=256 test.operations=20 test.locations=40", 2);
        make_test(&g, 0);
        open_machine((enum ordeal_model)m, NULL, NULL, 1);
        TEST_ASSERT_EQUAL(ORDEAL_PASS, judge_iteration(0, 1u << m));
        end_making(&g);
    }
}

static bool refuse_more(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)values;
    *(uint64_t *)user = iteration;
    return iteration < 3;
}

static void the_sink_may_stop_it(void)
{
    uint64_t last = 0;
    struct target_sink sink = { refuse_more, &last };
    compile(trace_of_lines(o, "P0 S[A]#1\nP1 L[A]\n"));
    open_machine(ORDEAL_TSO, NULL, NULL, 1);
    TEST_ASSERT_EQUAL(TARGET_STOPPED, target_model.run(machine, &p, 0, 10, &sink, &why));
    TEST_ASSERT_EQUAL_UINT64(3, last);
}

static void what_does_not_end_in_time_is_named(void)
{
    struct target_options options = { .model = ORDEAL_TSO, .model_given = true, .timeout = 1e-9 };
    struct target_sink sink = { .outcome = keep };
    compile(trace_of_lines(o, "P3 LOOP.BEGIN#10000000\nP3 S[A]#1\nP3 LOOP.END\n"));
    TEST_ASSERT_TRUE(target_model.open(&options, &machine, &why));
    TEST_ASSERT_EQUAL(TARGET_HUNG, target_model.run(machine, &p, 0, 1, &sink, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "P3 is at P3 "), why.text);
}

static void a_long_delay_costs_no_time(void)
{
    struct target_sink sink = { .outcome = refuse_more };
    uint64_t last;
    sink.user = &last;
    compile(trace_of_lines(o, "P0 DELAY#4000000000\nP0 S[A]#1\nP1 DELAY#4000000000\nP1 L[A]\n"));
    open_machine(ORDEAL_TSO, NULL, NULL, 1);
    TEST_ASSERT_EQUAL(TARGET_DONE, target_model.run(machine, &p, 0, 3, &sink, &why));
}

static void it_says_what_it_can_do(void)
{
    char text[256];
    open_machine(ORDEAL_PC, NULL, NULL, 1);
    struct abilities can = target_model.can(machine);
    compile(trace_of_lines(o, "P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\n"));
    target_refusal(&can, &p, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("it has no transactions", text);
    open_machine(ORDEAL_RMO, NULL, NULL, 1);
    can = target_model.can(machine);
    TEST_ASSERT_EQUAL(0, target_refusal(&can, &p, text, sizeof text));
    TEST_ASSERT_EQUAL(ORDEAL_RMO, target_model.claims(machine).model);
    TEST_ASSERT_EQUAL(8, target_model.claims(machine).atomic);
    TEST_ASSERT_FALSE(try_open(ORDEAL_TSO, "late", NULL, 1));
    TEST_ASSERT_EQUAL_STRING("'late' is no way to find conflicts of transactions: lazy or eager",
                             why.text);
}

/* Both fates of a transaction with a retry limit are seen: the slot of its end says which. */
static bool note_fate(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)iteration;
    ((bool *)user)[values[2]] = true;
    return true;
}

static void transactions_commit_or_are_done_plainly(void)
{
    for (int eager = 0; eager <= 1; eager++) {
        bool seen[2] = { false, false };
        compile(trace_of_lines(o, "P0 TX.BEGIN#1\nP0 SWAP[A]#1\nP0 SWAP[A]#3\nP0 TX.END\n"
                                  "P1 LOOP.BEGIN#9\nP1 S[A]#10+1\nP1 LOOP.END\n"));
        open_machine(ORDEAL_TSO, eager ? "eager" : "lazy", NULL, 1);
        run(0, 1000, note_fate, seen);
        TEST_ASSERT_TRUE(seen[0] && seen[1]);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(models_show_their_outcomes_and_no_others);
    RUN_TEST(sc_is_legal);
    RUN_TEST(tso_is_legal);
    RUN_TEST(pso_is_legal);
    RUN_TEST(pc_is_legal);
    RUN_TEST(rmo_is_legal);
    RUN_TEST(rvwmo_is_legal);
    RUN_TEST(rvtso_is_legal);
    RUN_TEST(what_is_lost_shows_in_memory);
    RUN_TEST(every_bug_is_caught_within_the_tests_it_states);
    RUN_TEST(bugs_are_chosen_by_name_and_only_where_they_can_be);
    RUN_TEST(the_list_of_bugs_has_them_all);
    RUN_TEST(the_same_seed_gives_the_same_values);
    RUN_TEST(many_threads_run);
    RUN_TEST(the_sink_may_stop_it);
    RUN_TEST(what_does_not_end_in_time_is_named);
    RUN_TEST(a_long_delay_costs_no_time);
    RUN_TEST(it_says_what_it_can_do);
    RUN_TEST(transactions_commit_or_are_done_plainly);
    return UNITY_END();
}
