/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that break: a copy of the reference machine that hangs, fails an assertion, or leaves
 * records that are not of the test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/soc/soc_code.h"
#include "sim_running.h"

void setUp(void) { running_open(); }
void tearDown(void) { running_close(); }

static void asleep(struct soc *s, uint32_t hart, struct soc_hart *state)
{
    iss_interface(HARTS)->hart(s, hart, state);
    if (hart == 1)
        *state = (struct soc_hart){ .waits = 5, .address = SOC_MAP_MEMORY + 0x44,
                                    .pc = state->pc };
}

static bool never(const struct soc *s)
{
    (void)s;
    return false;
}

static uint64_t only_time_passes(struct soc *s, uint64_t cycles)
{
    iss_interface(HARTS)->step(s, cycles);
    return cycles;
}

static uint64_t clock_now;
static uint64_t clock_of(const struct soc *s)
{
    (void)s;
    return clock_now += 1000;
}

static void test_hang_names_the_hart(void)
{
    struct soc_runner_plan plan = plan_of(1);
    struct outcomes o;
    machine.hart = asleep;
    machine.done = never;
    machine.step = only_time_passes;
    machine.cycle = clock_of;
    clock_now = 0;
    compile("place A=0x40\nP0 L[A]\nP1 S[A+4]#1\n");
    TEST_ASSERT_EQUAL(TARGET_BROKE, run(&plan, 1, &o));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "all harts hang"), why.text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "hart 1 is at"), why.text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "waits for its store buffer to empty, A+4 at "
                                                  "0x80000044"), why.text);
    free(o.values);
}

static const char *broken(const struct soc *s)
{
    (void)s;
    return "single_writer at rtl/cache.v:7";
}

static void test_assertions_are_findings(void)
{
    struct soc_runner_plan plan = plan_of(1);
    struct outcomes o;
    machine.assertion = broken;
    compile("P0 L[A]\n");
    TEST_ASSERT_EQUAL(TARGET_BROKE, run(&plan, 1, &o));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "assertion single_writer"), why.text);
    free(o.values);
    plan.setup.bug = 1; /* it was asked to break */
    TEST_ASSERT_EQUAL(TARGET_DONE, run(&plan, 1, &o));
    free(o.values);
}

/* Changes each record of a kind. */
static uint32_t changed_kind, changed_word, changed_value;
static size_t change(struct soc *s, uint32_t *words, size_t room)
{
    static const uint8_t length[16] = { 0, 4, 4, 5, 4, 5, 3, 3, 2, 2, 3, 3, 2, 4, 3 };
    size_t count = iss_interface(HARTS)->read_capture(s, words, room);
    for (size_t i = 0; i < count; i += length[words[i] & 15])
        if ((words[i] & 15) == changed_kind) {
            uint32_t mask = changed_word ? UINT32_MAX : 15;
            words[i + changed_word] = (words[i + changed_word] & ~mask) | changed_value;
        }
    return count;
}

static enum target_result run_changed(uint32_t kind, uint32_t word, uint32_t value,
                                      struct outcomes *o)
{
    struct soc_runner_plan plan = plan_of(1);
    changed_kind = kind;
    changed_word = word;
    changed_value = value;
    machine.read_capture = change;
    return run(&plan, 1, o);
}

static void test_records_of_another_test(void)
{
    struct outcomes o;
    compile("P0 S[A]#1\nP0 L[A]\nP0 S[A]#2\n");
    TEST_ASSERT_EQUAL(TARGET_BROKE, run_changed(SOC_REC_LOAD, 2, 0x80000100, &o));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "in place of P0 L[A]"), why.text);
    free(o.values);
    TEST_ASSERT_EQUAL(TARGET_BROKE, run_changed(SOC_REC_LOAD, 0, SOC_REC_LR, &o));
    free(o.values);
    TEST_ASSERT_EQUAL(TARGET_DONE, run_changed(SOC_REC_STORE, 2, 0x80000100, &o));
    free(o.values);
}

static bool note_value(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)iteration;
    *(uint64_t *)user = values[0];
    return true;
}

/* A second SC that succeeds is a finding of its own. */
static void test_second_sc(void)
{
    struct soc_code code;
    uint32_t seen = 0;
    machine.read_capture = change;
    changed_kind = SOC_REC_SC;
    changed_word = 3;
    changed_value = 0;
    for (int seed = 0; seed < 60; seed++) {
        struct soc_runner_plan plan = plan_of(1);
        struct soc_runner *m = soc_runner_new(&plan);
        uint64_t value = 0;
        struct target_sink sink = { note_value, &value };
        char text[64];
        sprintf(text, "seed %d\nP0 SWAP[A]#1\n", seed);
        compile(text);
        TEST_ASSERT_TRUE(soc_code_make(&code, &program, &machine.parameters, true));
        bool twice = code.made[0].way == SOC_LR_SC_SC;
        TEST_ASSERT_EQUAL_MESSAGE(twice ? TARGET_BROKE : TARGET_DONE,
                                  soc_runner_run(m, &program, 0, 1, &sink, &why), why.text);
        if (twice)
            TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "two SC"), why.text);
        seen += twice;
        soc_runner_free(m);
        soc_code_free(&code);
        forget();
    }
    TEST_ASSERT_TRUE(seen > 0);
}

/* So is an AMO that wrote something else, whichever way it was made; a swap's record says nothing
 * that is not known. */
static void test_wrong_result_of_an_amo(void)
{
    struct outcomes o;
    compile("uncached A\nP0 AMOADD[A]#5\n");
    TEST_ASSERT_EQUAL(TARGET_DONE, run_changed(SOC_REC_ATOMIC, 4, 5, &o));
    free(o.values);
    TEST_ASSERT_EQUAL(TARGET_BROKE, run_changed(SOC_REC_ATOMIC, 4, 6, &o));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "wrote 0x6, not 0x5"), why.text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "P0 AMOADD[A]#5"), why.text);
    free(o.values);
    for (int seed = 0; seed < 8; seed++) {
        char text[64];
        forget();
        sprintf(text, "seed %d\nP0 AMOMAX[A]#0xffffffff\n", seed);
        compile(text);
        enum target_result atomic = run_changed(SOC_REC_ATOMIC, 4, 1, &o);
        free(o.values);
        enum target_result conditional = run_changed(SOC_REC_SC, 4, 1, &o);
        free(o.values);
        TEST_ASSERT_EQUAL_MESSAGE(1, (atomic == TARGET_BROKE) + (conditional == TARGET_BROKE),
                                  why.text);
    }
    forget();
    compile("uncached A\nP0 SWAP[A]#5\n");
    TEST_ASSERT_EQUAL(TARGET_DONE, run_changed(SOC_REC_ATOMIC, 4, 6, &o));
    free(o.values);
}

/* ---- registers ------------------------------------------------------------------------------- */

/* What is read is right, but it is not what comes to the registers: as if the hart's instructions
 * of one kind were of another. */
static uint32_t takes_mask, takes_bits, takes_flip;

static bool misunderstand(struct soc *s, uint32_t hart, uint32_t address, const uint32_t *words,
                          uint32_t count)
{
    uint32_t *copy = malloc(count * sizeof *copy);
    TEST_ASSERT_NOT_NULL(copy);
    for (uint32_t i = 0; i < count; i++)
        copy[i] = words[i] ^ ((words[i] & takes_mask) == takes_bits ? takes_flip : 0);
    bool good = iss_interface(HARTS)->write_code(s, hart, address, copy, count);
    free(copy);
    return good;
}

/* How many of 24 seeds of the test are found broken. */
static int count_broken(const char *lines, uint32_t mask, uint32_t bits, uint32_t flip)
{
    int broken = 0;
    takes_mask = mask;
    takes_bits = bits;
    takes_flip = flip;
    machine.write_code = misunderstand;
    for (int seed = 0; seed < 24; seed++) {
        struct soc_runner_plan plan = plan_of(1);
        struct outcomes o;
        char text[256];
        snprintf(text, sizeof text, "seed %d\n%s", seed, lines);
        compile(text);
        enum target_result result = run(&plan, 1, &o);
        TEST_ASSERT_TRUE_MESSAGE(result == TARGET_DONE || result == TARGET_BROKE, why.text);
        if (result == TARGET_BROKE)
            TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "in its registers"), why.text);
        broken += result == TARGET_BROKE;
        free(o.values);
        forget();
    }
    return broken;
}

enum { LOAD = 0x03, FUNCT3 = 0x7000, UNSIGNED = 0x4000, TO_BIT_0 = 0x80 };
#define FUNCT5 0xf8000000
#define SWAP 0x0800002f
#define LR 0x1000002f

static void test_extension(void)
{
    static const char bytes[] = "init A=0x80\nP0 L[A/1]\n", halves[] = "init A=0x8000\nP0 L[A/2]\n";
    int as_unsigned = count_broken(bytes, FUNCT3 | 0x7f, LOAD, UNSIGNED);
    int as_signed = count_broken(bytes, FUNCT3 | 0x7f, LOAD | UNSIGNED, UNSIGNED);
    TEST_ASSERT_TRUE(as_unsigned > 4 && as_signed > 4);
    TEST_ASSERT_EQUAL(24, as_unsigned + as_signed);
    TEST_ASSERT_EQUAL(24, count_broken(halves, FUNCT3 | 0x7f, LOAD | 0x1000, UNSIGNED)
                              + count_broken(halves, FUNCT3 | 0x7f, LOAD | 0x5000, UNSIGNED));
    TEST_ASSERT_EQUAL(0, count_broken("init A=0x7f\nP0 L[A/1]\n", FUNCT3 | 0x7f, LOAD, UNSIGNED));
    TEST_ASSERT_EQUAL(0, count_broken("init A=0x80\nP0 L[A/1] >r1\nP0 CAS[A]?r1#1\n", FUNCT3 | 0x7f,
                                      LOAD, UNSIGNED)); /* it is compared with */
}

/* Two loads whose registers are exchanged, an AMO that brings another register. */
static void test_another_register(void)
{
    TEST_ASSERT_EQUAL(24, count_broken("init A=1 B=2\nP0 L[A]\nP0 L[B]\n", FUNCT3 | 0x7f,
                                       LOAD | 0x2000, TO_BIT_0));
    TEST_ASSERT_EQUAL(0, count_broken("init A=1 B=2\nP0 L[A]\nP0 L[B]\n", 0, 1, 0));
    TEST_ASSERT_EQUAL(24,
                      count_broken("init A=5\nP0 SWAP[A]#1\n", FUNCT5 | 0x7f, SWAP, TO_BIT_0)
                          + count_broken("init A=5\nP0 SWAP[A]#1\n", FUNCT5 | 0x7f, LR, TO_BIT_0));
}

static void test_lost_records(void)
{
    struct outcomes o;
    compile("P0 FLUSH[A]\nP0 L[A]\n");
    TEST_ASSERT_EQUAL(TARGET_FAILED, run_changed(SOC_REC_HINT, 0, SOC_REC_LOST, &o));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "records were lost"), why.text);
    free(o.values);
}

static void test_code_that_does_not_fit(void)
{
    static char lines[400000];
    struct soc_runner_plan plan = plan_of(1);
    struct outcomes o;
    for (int i = 0; i < 12000; i++)
        sprintf(lines + strlen(lines), "P0 S[A]#0x%x\n", 0x1234567 + i);
    compile(lines);
    TEST_ASSERT_EQUAL(TARGET_FAILED, run(&plan, 1, &o));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "the code of P0 takes"), why.text);
    free(o.values);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_hang_names_the_hart);
    RUN_TEST(test_assertions_are_findings);
    RUN_TEST(test_records_of_another_test);
    RUN_TEST(test_second_sc);
    RUN_TEST(test_wrong_result_of_an_amo);
    RUN_TEST(test_extension);
    RUN_TEST(test_another_register);
    RUN_TEST(test_lost_records);
    RUN_TEST(test_code_that_does_not_fit);
    return UNITY_END();
}
