/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts between harts that were lost, or taken too often, are findings; those that may have
 * come too late, or together, are none. Records are made up here, one case each, and machines that
 * take no interrupts are run. */
#include <stdio.h>

#include "sim_running.h"
#include "targets/soc/soc_records.h"

static struct soc_records records;

void setUp(void) { running_open(); }
void tearDown(void)
{
    soc_records_free(&records);
    records = (struct soc_records){ 0 };
    running_close();
}

/* ---- records -------------------------------------------------------------------------------- */

static void does(uint32_t hart, uint8_t kind, uint32_t address, uint32_t issue, uint32_t completion)
{
    struct soc_record one = {
        .kind = kind, .address = address, .issue = issue, .completion = completion
    };
    TEST_ASSERT_TRUE(LIST_PUSH(&records.hart[hart].list, one));
}

static void ends(uint32_t hart, uint32_t issue, uint32_t completion)
{
    does(hart, SOC_REC_DONE, 0, issue, completion);
}

static void sends(uint32_t from, uint32_t to, uint32_t cycle)
{
    struct soc_ipi ipi = { from, to, cycle, records.hart[from].list.count };
    TEST_ASSERT_TRUE(soc_interrupts_add(&records, &ipi));
    does(from, SOC_REC_STORE, SOC_MAP_IPI + 4 * to, cycle, cycle);
}

static void takes(uint32_t hart, uint32_t cycle)
{
    TEST_ASSERT_TRUE(LIST_PUSH(&records.hart[hart].interrupts, cycle));
}

static void found(const char *said)
{
    TEST_ASSERT_FALSE(soc_interrupts_check(&records, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, said), why.text);
}

static void test_taken(void)
{
    sends(0, 1, 100);
    takes(1, 150);
    ends(0, 110, 120);
    ends(1, 500, 510);
    TEST_ASSERT_TRUE(soc_interrupts_check(&records, &why));
}

static void test_lost(void)
{
    sends(0, 1, 100);
    ends(0, 110, 120);
    ends(1, 500, 510);
    found(
        "hart 1 never took an interrupt that hart 0 sent at cycle 100: that was done at cycle 120, "
        "it went on at 500");
}

/* The one before it does not count. */
static void test_second_lost(void)
{
    sends(0, 1, 100);
    sends(2, 1, 200);
    takes(1, 150);
    ends(0, 110, 120);
    ends(2, 210, 220);
    ends(1, 500, 510);
    found("hart 2 sent at cycle 200");
}

static void test_two_taken_as_one(void)
{
    sends(0, 1, 100);
    sends(2, 1, 110);
    takes(1, 150);
    ends(0, 110, 120);
    ends(2, 210, 220);
    ends(1, 500, 510);
    TEST_ASSERT_TRUE(soc_interrupts_check(&records, &why));
}

/* The receiver was at its end, or may have been. */
static void test_too_late(void)
{
    sends(0, 1, 100);
    ends(0, 110, 480);
    ends(1, 500, 510);
    TEST_ASSERT_TRUE(soc_interrupts_check(&records, &why));
    sends(0, 2, 100);
    ends(2, 1000, 1000 + 0xfff);
    TEST_ASSERT_TRUE(soc_interrupts_check(&records, &why));
}

/* A later one does not make up for it: the receiver went on between the two. */
static void test_lost_in_the_middle(void)
{
    sends(0, 1, 100);
    does(0, SOC_REC_ATOMIC, 0, 110, 150);
    does(1, SOC_REC_LOAD, 0, 200, 205);
    does(1, SOC_REC_LOAD, 0, 300, 305);
    takes(1, 430);
    sends(2, 1, 400);
    ends(0, 910, 920);
    ends(2, 410, 420);
    ends(1, 500, 510);
    found("that hart 0 sent at cycle 100: that was done at cycle 150, it went on at 300");
}

/* Only what waits for stores says that they are done. */
static void test_may_be_on_its_way(void)
{
    enum { FULL = 0x33, STORES = 0x11, LOADS = 0x22 };
    sends(0, 1, 100);
    does(0, SOC_REC_LOAD, 0, 110, 112);
    does(0, SOC_REC_FENCE, STORES, 113, 114);
    does(0, SOC_REC_FENCE, LOADS, 115, 116);
    does(1, SOC_REC_LOAD, 0, 300, 305);
    takes(1, 430);
    TEST_ASSERT_TRUE(soc_interrupts_check(&records, &why));
    does(0, SOC_REC_FENCE, FULL, 117, 118);
    found("that was done at cycle 118, it went on at 300");
}

static void test_more_than_were_sent(void)
{
    sends(0, 1, 100);
    takes(1, 150);
    takes(1, 170);
    ends(0, 110, 120);
    ends(1, 500, 510);
    found("hart 1 took 2 interrupts, but 1 were sent to it; the last at cycle 170");
}

/* ---- machines ------------------------------------------------------------------------------- */

static uint32_t forgotten; /* an instruction that the harts do not do */

static bool forget_one(struct soc *s, uint32_t hart, uint32_t address, const uint32_t *words,
                       uint32_t count)
{
    uint32_t *copy = malloc(count * sizeof *copy);
    TEST_ASSERT_NOT_NULL(copy);
    for (uint32_t i = 0; i < count; i++)
        copy[i] = words[i] == forgotten ? 0x13 : words[i];
    bool good = iss_interface(HARTS)->write_code(s, hart, address, copy, count);
    free(copy);
    return good;
}

static enum target_result run_without(uint32_t instruction)
{
    struct soc_runner_plan plan = plan_of(1);
    struct outcomes o;
    forgotten = instruction;
    machine.write_code = forget_one;
    compile("P0 IPI#1\nP0 S[A]#1\nP0 L[A]\nP1 DELAY#3000\nP1 L[B]\nP1 DELAY#3000\nP1 L[B]\n");
    enum target_result result = run(&plan, 3, &o);
    free(o.values);
    return result;
}

enum { CSRRSI_MSTATUS_8 = 0x30046073, CSRRWI_MARK_31 = 0x7c1fd073 };

static void test_a_machine_that_takes_them(void)
{
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run_without(0), why.text);
}

static void test_a_machine_that_takes_none(void)
{
    TEST_ASSERT_EQUAL(TARGET_BROKE, run_without(CSRRSI_MSTATUS_8));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "hart 1 never took an interrupt that hart 0"),
                                 why.text);
}

static void test_the_mark_is_the_handlers(void)
{
    TEST_ASSERT_EQUAL(TARGET_BROKE, run_without(CSRRWI_MARK_31));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_taken);
    RUN_TEST(test_lost);
    RUN_TEST(test_second_lost);
    RUN_TEST(test_two_taken_as_one);
    RUN_TEST(test_too_late);
    RUN_TEST(test_lost_in_the_middle);
    RUN_TEST(test_may_be_on_its_way);
    RUN_TEST(test_more_than_were_sent);
    RUN_TEST(test_a_machine_that_takes_them);
    RUN_TEST(test_a_machine_that_takes_none);
    RUN_TEST(test_the_mark_is_the_handlers);
    return UNITY_END();
}
