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
        TEST_ASSERT_TRUE(soc_code_make(&code, &program, &machine.parameters));
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
    RUN_TEST(test_lost_records);
    RUN_TEST(test_code_that_does_not_fit);
    return UNITY_END();
}
