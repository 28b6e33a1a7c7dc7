/* SPDX-License-Identifier: Apache-2.0 */
/* Tests as machine code of the multiprocessor and its records as values again, on the reference
 * machine: what every operation does, races, transactions and their fates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/generate.h"
#include "targets/soc/soc_code.h"
#include "sim_running.h"

void setUp(void) { running_open(); }
void tearDown(void) { running_close(); }

/* One hart, or several that have nothing to do with each other: the values are certain. Seeds of
 * the test choose how operations are made. */
static void expect(const char *lines, const uint64_t *values, uint32_t count)
{
    for (uint32_t seed = 0; seed < 24; seed++) {
        struct soc_runner_plan plan = plan_of(seed);
        struct outcomes o;
        char text[4096];
        snprintf(text, sizeof text, "seed %u\n%s", seed, lines);
        compile(text);
        TEST_ASSERT_EQUAL(count, program.slots);
        TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 2, &o), why.text);
        for (uint32_t i = 0; i < 2; i++)
            TEST_ASSERT_EQUAL_HEX64_ARRAY(values, values_of(&o, i), count);
        free(o.values);
        forget();
    }
}

#define EXPECT(LINES, ...) \
    do { \
        static const uint64_t values[] = { __VA_ARGS__ }; \
        expect(LINES, values, sizeof values / sizeof *values); \
    } while (0)

/* ---- every kind of operation ---------------------------------------------------------------- */

static void test_loads_and_stores_of_every_size(void)
{
    EXPECT("init A=0x11223344 A+4=0x85667788 A+8=0x99aabbcc A+12=0xfeedf00d\n"
           "place A=0x40 B=0x30080\n"
           "P0 L[A/1]\nP0 L[A+7/1]\nP0 L[A+2/2]\nP0 L[A+4/2]\nP0 L[A+4]\nP0 L[A/8]\nP0 L[A/16]\n"
           "P0 S[B+3/1]#0x99\nP0 S[B+4/2]#0xabcd\nP0 S[B+8]#0x80000001\n"
           "P0 S[B+16/8]#0x8877665544332211\nP0 L[B/8]\nP0 L[B+8/8]\nP0 L[B+16/8]\n"
           "P0 S[B/16]#0xffeeddccbbaa99887766554433221100\nP0 L[B/16]\n",
           0x44, 0x85, 0x1122, 0x7788, 0x85667788, 0x8566778811223344,
           0x8566778811223344, 0xfeedf00d99aabbcc,
           0x0000abcd99000000, 0x80000001, 0x8877665544332211,
           0x7766554433221100, 0xffeeddccbbaa9988);
}

static void test_blocks(void)
{
    EXPECT("uncached B\nP0 S[A/64]#0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e"
           "1f20212223242526272829" "2a2b2c2d2e2f303132333435363738393a3b3c3d3e3f\n"
           "P0 L[A/64]\nP0 L[A/32]\nP0 L[A]\nP0 S[B/16]#0x11111111222222223333333344444444\n"
           "P0 L[B+4/1]\nP0 L[B/16]\n",
           0x38393a3b3c3d3e3f, 0x3031323334353637, 0x28292a2b2c2d2e2f, 0x2021222324252627,
           0x18191a1b1c1d1e1f, 0x1011121314151617, 0x08090a0b0c0d0e0f, 0x0001020304050607,
           0x38393a3b3c3d3e3f, 0x3031323334353637, 0x28292a2b2c2d2e2f, 0x2021222324252627,
           0x3c3d3e3f, 0x33, 0x3333333344444444, 0x1111111122222222);
}

/* With 24 seeds each of them is made in every way. */
static void test_swap_and_cas(void)
{
    EXPECT("init A=3\nplace A=0x1000 B=0x20000\nuncached B\n"
           "P0 SWAP[A]#0xfffffff0\nP0 SWAP[A]#5 >r1\nP0 CAS[A]?0xfffffff0#6\n"
           "P0 L[A] >r2\nP0 CAS[A]?r2#0xf0000006\nP0 CAS[A]?0xf0000006#8 >r3\n"
           "P0 SWAP[A]#9 <r3\nP0 CAS[A]?r3#10\nP0 CAS[A]?9#11\nP0 L[A]\n"
           "P0 CAS[A]?0#12\nP0 CAS[A]?11#0\nP0 CAS[A]?0#13 <r3 <r2 >r2\nP0 CAS[A]?r2#14 >r2\n"
           "P0 SWAP[B]#1\nP0 CAS[B]?1#2 >r3\nP0 CAS[B]?r3#3\nP0 L[B]\n",
           3, 0xfffffff0, 5, 5, 5, 0xf0000006, 8, 9, 9, 11,
           11, 11, 0, 13, 0, 1, 2, 2);
}

static void test_amos(void)
{
    EXPECT(
        "init A=0xfffffffe B=9\nplace A=0x1000 B=0x20000\nuncached B\n"
        "P0 AMOADD[A]#5\nP0 AMOXOR[A]#0xff >r1\nP0 AMOAND[A]#0xf3 <r1\nP0 AMOOR[A]#0x80000000\n"
        "P0 AMOMAX[A]#7\nP0 AMOMIN[A]#0xfffffff0\nP0 AMOMAXU[A]#1\nP0 AMOMINU[A]#2\n"
        "P0 AMOMAX[A]#1 >r2\nP0 AMOMIN[A]#5\nP0 AMOMINU[A]#0x80000000\nP0 AMOMAXU[A]#0x80000000\n"
        "P0 CAS[A]?r2#4\nP0 AMOADD[B]#0xfffffff7\nP0 AMOMAX[B]#3\nP0 L[B]\n",
        0xfffffffe, 3, 0xfc, 0xf0, 0x800000f0, 7, 0xfffffff0, 0xfffffff0, 2, 2, 2, 2, 0x80000000, 9,
        0, 3);
    EXPECT("P0 LOOP.BEGIN#3\nP0 AMOADD[A]#10+1\nP0 TX.BEGIN\nP0 AMOXOR[B]#1+1\nP0 TX.END\n"
           "P0 LOOP.END\nP0 L[A]\nP0 L[B]\n",
           0, 0, 1, 10, 1, 1, 21, 3, 1, 33, 0);
}

static void test_registers(void)
{
    EXPECT("init A=1 A+8=2 A+16=3 A+24/8=0x700000004\nP0 CAS[B]?r7#77\nP0 CAS[B+4]?r3#78\n"
           "P0 L[A] >r1\nP0 L[A+8] >r2\nP0 L[A+16] >r3\nP0 L[A+24/8] >r4\nP0 L[A+8/1] >r5 <r1\n"
           "P0 CAS[A]?r1#10 <r2 <r3 <r4\nP0 CAS[A+8]?r5#11 >r6\nP0 CAS[A+8]?r6#12\n"
           "P0 CAS[A+24]?r4#13 >r7\nP0 CAS[A+16]?r7#14\nP0 S[B+8]#5 <r7 <r1\nP0 L[B+8] <r2\n",
           0, 0, 1, 2, 3, 0x700000004, 2, 1, 2, 11, 4, 3, 5);
}

static void test_loops_and_steps(void)
{
    EXPECT("P0 LOOP.BEGIN#4\nP0 S[A]#100+7\nP0 S[A+8/8]#0xffffffff+0x100000001\n"
           "P0 SWAP[A+16]#9+1\nP0 CAS[A+20]?0#5+1\nP0 S[A+24/1]#240+3\n"
           "P0 L[A]\nP0 L[A+8/8]\nP0 L[A+24/1]\nP0 LOOP.END\nP0 L[A]\n",
           0, 0, 100, 0xffffffff, 240, 9, 5, 107, 0x200000000, 243,
           10, 5, 114, 0x300000001, 246, 11, 5, 121, 0x400000002, 249, 121);
}

static void test_nonfaulting_loads_and_what_has_no_effect(void)
{
    EXPECT("fault Z\ninit A=7\n"
           "P0 NFL[A]\nP0 NFL[Z] >r1\nP0 CAS[A]?r1#1\nP0 NFL[Z+8/8]\nP0 NFL[Z+63/1]\nP0 NFL[Z/64]\n"
           "P0 NFL[A]\nP0 MEMBAR\nP0 MEMBAR.LL\nP0 MEMBAR.LS.SL\nP0 MEMBAR.SS\nP0 MEMBAR.LL.SS.SL\n"
           "P0 PREFETCH[A]\nP0 FLUSH[A+4]\nP0 EVICT[A]\nP0 DELAY#100\nP0 DELAY#0\nP0 DELAY#1\n"
           "P0 IPI#0\nP0 IPI#0\nP0 L[A]\n",
           7, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7);
}

/* A loop, a branch and a transaction too long for a branch instruction. */
static void test_long_ways(void)
{
    static const char *const frames[][3] = {
        { "P0 LOOP.BEGIN#3\nP0 BRANCH.BEGIN\n", "P0 BRANCH.ELSE\n",
          "P0 BRANCH.END\nP0 L[A]\nP0 SWAP[B]#1+1\nP0 LOOP.END\n" },
        { "P0 LOOP.BEGIN#3\nP0 TX.BEGIN#2\nP0 BRANCH.BEGIN\n", "P0 BRANCH.END\n",
          "P0 TX.END\nP0 L[A]\nP0 SWAP[B]#1+1\nP0 LOOP.END\n" },
        { "P0 TX.BEGIN\nP0 BRANCH.BEGIN\n", "P0 BRANCH.END\n",
          "P0 TX.ABORT\nP0 L[A]\nP0 BRANCH.BEGIN\nP0 SWAP[B]#1\nP0 BRANCH.END\n" },
    };
    for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
        static char lines[100000];
        struct soc_runner_plan plan = plan_of(1);
        struct outcomes o;
        char *end = stpcpy(lines, frames[f][0]);
        for (unsigned i = 0; i < 700; i++)
            end += sprintf(end, "P0 S[A+%u]#0x%x\n", i % 8 * 4, 0x1234567 * (i + 1));
        end = stpcpy(end, frames[f][1]);
        for (unsigned i = 0; i < 700; i++)
            end += sprintf(end, "P0 S[B+%u]#0x%x\n", i % 8 * 4, 0x1234567 * (i + 1));
        strcpy(end, frames[f][2]);
        compile(lines);
        TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 8, &o), why.text);
        free(o.values);
        forget();
    }
}

static void test_branches_go_both_ways(void)
{
    struct soc_runner_plan plan = plan_of(3);
    struct outcomes o;
    uint32_t others = 0;
    compile("seed 9\nP0 LOOP.BEGIN#9\nP0 BRANCH.BEGIN\nP0 SWAP[A]#1+1\nP0 BRANCH.ELSE\n"
            "P0 SWAP[B]#1+1\nP0 SWAP[B]#1001+1\nP0 BRANCH.END\nP0 LOOP.END\n"
            "P0 BRANCH.BEGIN\nP0 LOOP.BEGIN#3\nP0 L[A]\nP0 LOOP.END\nP0 BRANCH.END\nP0 L[B]\n");
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 40, &o), why.text);
    for (uint32_t i = 0; i < 40; i++)
        others += program_slots_used(&program, 0, i) != program_slots_used(&program, 0, 0);
    TEST_ASSERT_TRUE(others > 0);
    free(o.values);
}

/* ---- transactions --------------------------------------------------------------------------- */

static void test_transactions_of_one_hart(void)
{
    EXPECT("init A=1 B=5\nP0 L[A] >r1\n"
           "P0 TX.BEGIN\nP0 S[A]#2\nP0 L[A] >r1\nP0 SWAP[B]#6\nP0 TX.END\nP0 CAS[A]?r1#3\n"
           "P0 TX.BEGIN\nP0 L[B] >r1\nP0 S[A]#9\nP0 BRANCH.BEGIN\nP0 L[A] >r1\nP0 BRANCH.END\n"
           "P0 TX.ABORT\nP0 L[A]\nP0 CAS[A]?r1#4\nP0 L[A]\n",
           1, 2, 5, 1, 2, 3, 3, 3);
    EXPECT("init A=1 B=5\nP0 L[B] >r1\nP0 LOOP.BEGIN#2\nP0 TX.BEGIN#2\nP0 L[A] >r1\n"
           "P0 S[B]#10+1\nP0 CAS[B]?r1#3\nP0 TX.ABORT\nP0 LOOP.END\nP0 CAS[B]?r1#4\nP0 L[A]\n",
           5, 5, 1);
}

/* What no transaction can do is done plainly, at once. */
/* Hints change nothing, whether the transaction has touched the line or not. */
static void test_hints_inside_transactions(void)
{
    EXPECT(
        "init A=3 B=4\nP0 TX.BEGIN\nP0 PREFETCH[A]\nP0 FLUSH[A]\nP0 S[A]#5\nP0 FLUSH[A]\nP0 L[A]\n"
        "P0 PREFETCH[B]\nP0 L[B]\nP0 FLUSH[B]\nP0 EVICT[A]\nP0 SWAP[B]#6\nP0 FLUSH[B]\nP0 TX.END\n"
        "P0 FLUSH[A]\nP0 L[A]\nP0 L[B]\n",
        5, 4, 4, 1, 5, 6);
}

static void test_unsupported_is_done_plainly(void)
{
    EXPECT("uncached B\nfault Z\ninit A=1 B=2\nP0 TX.BEGIN\nP0 S[A]#3\nP0 SWAP[B]#4\nP0 NFL[Z]\n"
           "P0 IPI#0\nP0 TX.END\nP0 TX.BEGIN#3\nP0 L[A]\nP0 L[B]\nP0 TX.ABORT\nP0 L[A]\n",
           2, 0, 0, 3);
}

static void test_transactions_commit_and_fall_back(void)
{
    struct soc_runner_plan plan = plan_of(7);
    struct outcomes o;
    uint32_t fates[2] = { 0 };
    static const char lines[] = "LOOP.BEGIN#20\nTX.BEGIN#1\nSWAP[A]#1000+1\nDELAY#20\n"
                                "SWAP[B]#2000+1\nTX.END\nLOOP.END\n";
    char text[2048] = "", copy[256], *rest;
    for (int t = 0; t < 4; t++) {
        rest = strcpy(copy, lines);
        for (char *line; (line = strsep(&rest, "\n")) && *line;) {
            char *number = strchr(line, '+');
            sprintf(text + strlen(text), "P%d %.*s", t,
                    number ? (int)(number - line) - 4 : (int)strlen(line), line);
            sprintf(text + strlen(text), number ? "%d+1\n" : "\n", 1000 * (t + 1));
        }
    }
    compile(text);
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 20, &o), why.text);
    for (uint32_t i = 0; i < 20; i++)
        for (uint32_t k = 2; k < program.slots; k += 3) {
            TEST_ASSERT_TRUE(values_of(&o, i)[k] <= 1);
            fates[values_of(&o, i)[k]]++;
        }
    TEST_ASSERT_TRUE_MESSAGE(fates[0] > 10 && fates[1] > 10, "too few of one fate");
    free(o.values);
}

/* ---- memory at the end ---------------------------------------------------------------------- */

/* Whatever was dirty, and wherever: in a small cache, uncached, prefetched, in transactions. */
static void test_memory_at_the_end(void)
{
    static const uint64_t expected[] = { 7, UINT64_C(3) << 32 | 1, 0x5500, 9, 4, 0, 6 };
    for (uint32_t seed = 0; seed < 24; seed++) {
        struct soc_runner_plan plan = plan_of(seed);
        struct outcomes o;
        char text[512];
        snprintf(text, sizeof text,
                 "seed %u\nuncached U\nplace A=0 B=0x4000 C=0x8000\n"
                 "P0 S[A]#5\nP0 SWAP[A]#7\nP0 S[B]#1\nP1 S[B+4]#3\nP1 S[C+1/1]#0x55\n"
                 "P2 PREFETCH[A]\nP2 PREFETCH[B]\nP2 PREFETCH[C]\nP2 CAS[U]?0#9\n"
                 "P3 TX.BEGIN\nP3 S[D]#4\nP3 TX.END\nP3 TX.BEGIN\nP3 S[E]#5\nP3 TX.ABORT\n"
                 "P3 CAS[F]?1#5\nP3 CAS[F]?0#6\n",
                 seed);
        compile(text);
        TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 10, &o), why.text);
        TEST_ASSERT_TRUE(o.claims.final);
        TEST_ASSERT_EQUAL(7, program.finals);
        for (uint32_t i = 0; i < 10; i++)
            TEST_ASSERT_EQUAL_HEX64_ARRAY(expected, values_of(&o, i) + program.slots, 7);
        free(o.values);
        forget();
    }
}

/* Nobody can look: then nothing is claimed, and nothing flushed. */
static void test_a_machine_whose_memory_cannot_be_read(void)
{
    struct soc_interface blind = machine;
    struct soc_runner_plan plan = plan_of(1);
    struct outcomes o;
    blind.read_memory = NULL;
    plan.soc = &blind;
    compile("P0 S[A]#5\nP0 L[A]\n");
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 1, &o), why.text);
    TEST_ASSERT_FALSE(o.claims.final);
    TEST_ASSERT_EQUAL(1, program_words(&program, &o.claims));
    free(o.values);
}

/* ---- several harts -------------------------------------------------------------------------- */

static void test_races_differ(void)
{
    struct soc_runner_plan plan = plan_of(2);
    struct outcomes o;
    uint32_t different = 0;
    compile("P0 S[A]#1\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\nP2 L[A] >r1\nP2 L[B] <r1\nP3 L[B]\nP3 L[A]\n");
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 200, &o), why.text);
    for (uint32_t i = 1; i < 200; i++)
        different += memcmp(o.values, values_of(&o, i), program.slots * 8) != 0;
    TEST_ASSERT_TRUE(different > 20);
    free(o.values);
}

static void test_interrupts_arrive(void)
{
    struct soc_runner_plan plan = plan_of(2);
    struct outcomes o;
    compile("P0 LOOP.BEGIN#10\nP0 IPI#1\nP0 DELAY#20\nP0 LOOP.END\nP0 L[A]\n"
            "P1 LOOP.BEGIN#50\nP1 SWAP[A]#1+1\nP1 S[B]#1+1\nP1 L[B]\nP1 LOOP.END\n");
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 20, &o), why.text);
    free(o.values);
}

static void set(struct bias *b, const char *assignments)
{
    struct ordeal_error e;
    char text[1024], *rest = text;
    snprintf(text, sizeof text, "%s", assignments);
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        TEST_ASSERT_TRUE_MESSAGE(bias_set(b, word, &e), e.reason);
}

static void run_generated(const char *settings, uint32_t tests, bool visible)
{
    struct bias *bias = bias_new();
    struct ordeal_error e;
    set(bias, settings);
    TEST_ASSERT_TRUE_MESSAGE(bias_check(bias, &e), e.reason);
    struct generator *g = generator_new(bias, 11);
    for (uint32_t n = 0; n < tests; n++) {
        struct soc_runner_plan plan = plan_of(n);
        struct outcomes o;
        plan.setup.visible = visible;
        plan.cycles = n % 2;
        TEST_ASSERT_EQUAL(ORDEAL_OK, generator_make(g, n, context, &test));
        TEST_ASSERT_TRUE_MESSAGE(program_compile(&program, test, "test", &e), e.reason);
        TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 1, &o), why.text);
        free(o.values);
        forget();
    }
    generator_free(g);
    bias_free(bias);
}

#define EVERYTHING \
    "test.threads=4 test.operations=60 test.locations=8 loops.share=20 " \
    "branches.share=20 operations.delay=3 operations.prefetch=3 " \
    "operations.flush=3 operations.evict=3 operations.interrupt=3 " \
    "operations.nonfaulting=3 " \
    "operations.swap=10 operations.cas=10 operations.amo=10 membar.mixed=5 " \
    "membar.full=2 "

static void test_generated(void)
{
    run_generated("test.threads=4 test.operations=60", 250, false);
    run_generated(EVERYTHING "placement.uncached=25 placement.words_per_line=2", 250, false);
}

static void test_generated_transactions(void)
{
    run_generated(EVERYTHING "transactions.share=40 transactions.abort=20 transactions.retries=2",
                  250, false);
    run_generated("test.threads=3 transactions.share=60 transactions.retries=forever "
                  "placement.lines_per_set=8 placement.uncached=20", 50, false);
}

static void test_generated_sizes(void)
{
    run_generated("test.threads=4 test.operations=50 operations.swap=0 operations.cas=0 sizes.1=1 "
                  "sizes.2=1 sizes.8=1 sizes.64=1 placement.words_per_line=4 loops.share=20", 200,
                  false);
}

/* With the order of stores known the check takes linear time, and still passes. What AMOs leave
 * does not always tell them apart. */
static void test_store_order(void)
{
    run_generated("test.threads=4 test.operations=60 operations.swap=10 operations.cas=10", 50,
                  true);
    run_generated(EVERYTHING "operations.amo=0 transactions.share=40 transactions.abort=20 "
                             "transactions.retries=2",
                  50, true);
}

/* ---- the same again ------------------------------------------------------------------------- */

static void test_same_seed_same_run(void)
{
    struct soc_runner_plan plan = plan_of(5);
    struct outcomes once, again;
    plan.cycles = true;
    compile("P0 LOOP.BEGIN#9\nP0 S[A]#1+1\nP0 L[B]\nP0 LOOP.END\n"
            "P1 LOOP.BEGIN#9\nP1 SWAP[B]#1+1\nP1 L[A]\nP1 LOOP.END\n");
    TEST_ASSERT_EQUAL(TARGET_DONE, run(&plan, 6, &once));
    TEST_ASSERT_EQUAL(TARGET_DONE, run(&plan, 6, &again));
    size_t words = 6 * program_words(&program, &once.claims);
    TEST_ASSERT_EQUAL_HEX64_ARRAY(once.values, again.values, words);
    free(again.values);
    plan.seed = 6;
    TEST_ASSERT_EQUAL(TARGET_DONE, run(&plan, 6, &again));
    TEST_ASSERT_TRUE(memcmp(once.values, again.values, words * 8) != 0);
    free(once.values);
    free(again.values);
}

/* Issue before completion, and a hart's operations one after the other. */
static void test_cycles(void)
{
    struct soc_runner_plan plan = plan_of(5);
    struct outcomes o;
    plan.cycles = true;
    compile("P0 S[A]#1\nP0 L[A/16]\nP0 SWAP[A]#2\nP0 L[B]\n");
    TEST_ASSERT_EQUAL(TARGET_DONE, run(&plan, 1, &o));
    const uint64_t *cycles = o.values + program_telling_words(&program, &o.claims);
    for (int i = 0; i < 4; i++) {
        TEST_ASSERT_TRUE((uint32_t)cycles[i] <= cycles[i] >> 32);
        if (i)
            TEST_ASSERT_TRUE((uint32_t)cycles[i] >= (uint32_t)cycles[i - 1]);
    }
    TEST_ASSERT_TRUE(cycles[3] >> 32 > 0);
    free(o.values);
}

/* ---- what the code looks like --------------------------------------------------------------- */

static uint32_t longest_row(const struct soc_hart_code *code)
{
    uint32_t longest = 0, row = 0;
    for (uint32_t i = 0; i < code->count; i++) {
        uint32_t opcode = code->words[i] & 0x7f;
        bool memory = opcode == 0x03 || opcode == 0x23 || opcode == 0x0f || opcode == 0x0b;
        row = memory ? row + 1 : 0;
        longest = row > longest ? row : longest;
    }
    return longest;
}

/* All of them in a row where the thread has registers for it, which differs by the seed. */
static void test_operations_stand_closely(void)
{
    uint32_t longest = 0, shortest = UINT32_MAX;
    for (int seed = 0; seed < 20; seed++) {
        struct soc_code code;
        char text[512];
        sprintf(text, "seed %d\nP0 S[A]#1\nP0 S[B]#2\nP0 L[C]\nP0 S[A+4]#3\nP0 L[B]\nP0 S[C]#4\n"
                "P0 MEMBAR\nP0 L[A]\nP0 S[B]#5\nP0 L[B]\nP0 S[A]#2047\nP0 S[B]#4096\n"
                "P0 S[C]#0\nP0 TX.BEGIN#1\nP0 L[A]\nP0 S[C]#8\nP0 TX.END\n", seed);
        compile(text);
        TEST_ASSERT_TRUE(soc_code_make(&code, &program, &machine.parameters, true));
        uint32_t row = longest_row(&code.hart[0]);
        longest = row > longest ? row : longest;
        shortest = row < shortest ? row : shortest;
        soc_code_free(&code);
        forget();
    }
    TEST_ASSERT_EQUAL(17, longest);
    TEST_ASSERT_TRUE(shortest > 6);
}

/* Where the code memory is too small for folds they are left out. */
static void test_folds_make_room(void)
{
    struct soc_parameters small = machine.parameters;
    struct soc_code code;
    compile("P0 L[A]\nP0 L[B]\nP0 SWAP[C]#1\n");
    TEST_ASSERT_TRUE(soc_code_make(&code, &program, &small, false));
    TEST_ASSERT_TRUE(code.hart[0].folds > 0);
    small.code_bytes = code.hart[0].count * 4;
    soc_code_free(&code);
    TEST_ASSERT_TRUE(soc_code_make(&code, &program, &small, false));
    TEST_ASSERT_TRUE(code.hart[0].folds > 0);
    soc_code_free(&code);
    small.code_bytes -= 4;
    TEST_ASSERT_TRUE(soc_code_make(&code, &program, &small, false));
    TEST_ASSERT_EQUAL(0, code.hart[0].folds);
    TEST_ASSERT_TRUE(code.hart[0].count <= small.code_bytes / 4);
    soc_code_free(&code);
}

static void test_swaps_are_made_in_every_way(void)
{
    uint32_t ways[4] = { 0 }, between[3][5] = { { 0 } };
    struct soc_code code;
    for (int seed = 0; seed < 80; seed++) {
        char text[128];
        sprintf(text, "seed %d\nP0 SWAP[A]#1\nP0 CAS[A]?1#2\nP0 AMOMIN[A]#1\nP0 L[A+8/1]\n", seed);
        compile(text);
        TEST_ASSERT_TRUE(soc_code_make(&code, &program, &machine.parameters, true));
        ways[code.made[0].way]++;
        ways[code.made[1].way]++;
        ways[code.made[2].way]++;
        for (int i = 0; i < 3; i++) {
            between[i][code.made[i].between]++;
            TEST_ASSERT_TRUE(code.made[i].way != SOC_PLAIN || !code.made[i].between);
            if (code.made[i].between == SOC_LOAD_BETWEEN)
                TEST_ASSERT_EQUAL_HEX32(SOC_MAP_MEMORY + 8, code.made[i].other);
        }
        soc_code_free(&code);
        forget();
    }
    TEST_ASSERT_TRUE(ways[SOC_PLAIN] > 60 && ways[SOC_LR_SC] > 44 && ways[SOC_LR_SC_SC] > 6);
    for (int i = 0; i < 3 * 5; i++)
        TEST_ASSERT_TRUE_MESSAGE(between[i / 5][i % 5] > 0,
                                 "something never stands between LR and SC");
}

/* Whatever stands between, a loop ends, and swaps are swaps: four harts count together. */
static void test_contended_swaps_end(void)
{
    for (int seed = 0; seed < 40; seed++) {
        struct soc_runner_plan plan = plan_of((uint64_t)seed);
        struct outcomes o;
        char text[512], *end = text + sprintf(text, "seed %d\n", seed);
        for (int p = 0; p < 4; p++)
            end += sprintf(end, "P%d SWAP[A]#%d\nP%d L[B] >r1\nP%d CAS[A]?r1#%d\nP%d S[B]#%d <r1\n",
                           p, p + 1, p, p, p + 11, p, p + 21);
        compile(text);
        TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 4, &o), why.text);
        free(o.values);
        forget();
    }
}

/* The same of every function of AMOs, whose sum is known where it loses nothing. */
static void test_contended_amos_end(void)
{
    static const char *const names[] = { "ADD", "XOR", "AND", "OR", "MIN", "MAX", "MINU", "MAXU" };
    for (int seed = 0; seed < 64; seed++) {
        struct soc_runner_plan plan = plan_of((uint64_t)seed);
        struct outcomes o;
        char text[512], *end = text + sprintf(text, "seed %d\ninit A=0x80000005\n", seed);
        for (int p = 0; p < 4; p++)
            end += sprintf(end, "P%d L[B] >r1\nP%d AMO%s[A]#%d <r1\nP%d SWAP[B]#%d <r1\n", p, p,
                           names[seed % 8], 7 * p + 3, p, p + 1);
        compile(text);
        TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 4, &o), why.text);
        free(o.values);
        forget();
    }
}

/* Swaps and AMOs depend by address and by data, never by a branch. */
static void test_swaps_depend_in_two_ways(void)
{
    uint32_t seen[2][3] = { { 0 } };
    for (int seed = 0; seed < 40; seed++) {
        struct soc_code code;
        char text[128];
        sprintf(text, "seed %d\nP0 L[A] >r1\nP0 SWAP[B]#7 <r1\nP0 AMOADD[B]#9 <r1\n", seed);
        compile(text);
        TEST_ASSERT_TRUE(soc_code_make(&code, &program, &machine.parameters, true));
        seen[0][code.made[1].dependence]++;
        seen[1][code.made[2].dependence]++;
        soc_code_free(&code);
        forget();
    }
    for (int i = 0; i < 2; i++) {
        TEST_ASSERT_TRUE(seen[i][SOC_BY_ADDRESS] > 5 && seen[i][SOC_BY_DATA] > 5);
        TEST_ASSERT_EQUAL(0, seen[i][SOC_BY_CONTROL]);
    }
}

/* A store waits for the register in every way: before it stands what reads the register. */
static void test_stores_depend_in_every_way(void)
{
    enum { OPCODE = 0x7f, RD = 0xf80, STORE = 0x23, R1 = SOC_FIRST_REGISTER };
    const uint32_t branch = 0x263 | R1 << 15, xor = 0x4033 | R1 << 15 | R1 << 20;
    uint32_t seen[3] = { 0 };
    for (int seed = 0; seed < 60; seed++) {
        struct soc_code code;
        char text[128];
        sprintf(text, "seed %d\nP0 L[A] >r1\nP0 S[B]#7 <r1\nP0 S[C/8]#9 <r1\n", seed);
        compile(text);
        TEST_ASSERT_TRUE(soc_code_make(&code, &program, &machine.parameters, true));
        uint8_t by = code.made[1].dependence;
        seen[by]++;
        TEST_ASSERT_TRUE(code.made[2].dependence != SOC_BY_DATA);
        int first = 0, x = -1;
        while (code.hart[0].origin[first] != 1 || (code.hart[0].words[first] & OPCODE) != STORE)
            first++;
        for (int i = 0; i < first; i++)
            if (code.hart[0].origin[i] == 1
                && (by == SOC_BY_CONTROL ? code.hart[0].words[i] == branch
                                         : (code.hart[0].words[i] & ~RD) == xor))
                x = i;
        TEST_ASSERT_TRUE_MESSAGE(x >= 0, "nothing reads the register before the store");
        soc_code_free(&code);
        forget();
    }
    TEST_ASSERT_TRUE(seen[SOC_BY_ADDRESS] > 5 && seen[SOC_BY_DATA] > 5 && seen[SOC_BY_CONTROL] > 5);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_loads_and_stores_of_every_size);
    RUN_TEST(test_blocks);
    RUN_TEST(test_swap_and_cas);
    RUN_TEST(test_amos);
    RUN_TEST(test_registers);
    RUN_TEST(test_loops_and_steps);
    RUN_TEST(test_nonfaulting_loads_and_what_has_no_effect);
    RUN_TEST(test_long_ways);
    RUN_TEST(test_branches_go_both_ways);
    RUN_TEST(test_transactions_of_one_hart);
    RUN_TEST(test_hints_inside_transactions);
    RUN_TEST(test_unsupported_is_done_plainly);
    RUN_TEST(test_transactions_commit_and_fall_back);
    RUN_TEST(test_memory_at_the_end);
    RUN_TEST(test_a_machine_whose_memory_cannot_be_read);
    RUN_TEST(test_races_differ);
    RUN_TEST(test_interrupts_arrive);
    RUN_TEST(test_generated);
    RUN_TEST(test_generated_transactions);
    RUN_TEST(test_generated_sizes);
    RUN_TEST(test_store_order);
    RUN_TEST(test_same_seed_same_run);
    RUN_TEST(test_cycles);
    RUN_TEST(test_operations_stand_closely);
    RUN_TEST(test_folds_make_room);
    RUN_TEST(test_swaps_are_made_in_every_way);
    RUN_TEST(test_contended_swaps_end);
    RUN_TEST(test_contended_amos_end);
    RUN_TEST(test_swaps_depend_in_two_ways);
    RUN_TEST(test_stores_depend_in_every_way);
    return UNITY_END();
}
