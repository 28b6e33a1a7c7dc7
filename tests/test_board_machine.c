/* SPDX-License-Identifier: Apache-2.0 */
/* A board as a machine of sim/soc.h: tests run on it over the real firmware bring what the same
 * machine brings without a board; what is unplugged is lost or goes on; what hangs is found. */
#include <signal.h>

#include "base/interrupt.h"
#include "test/bias.h"
#include "targets/board/board_machine.h"
#include "board_rig.h"
#include "test/generate.h"
#include "targets/soc/soc_numbers.h"
#include "sim_running.h"

static struct board_rig *rig;
static struct board_machine *board;

void setUp(void)
{
    running_open();
    machine.parameters = board_rig_parameters();
    rig = board_rig_new(500);
    struct board_link *link = link_new(&rig->port);
    link_patience(link, 1);
    board = board_machine_new(link, &why);
    TEST_ASSERT_NOT_NULL_MESSAGE(board, why.text);
}

void tearDown(void)
{
    board_machine_free(board);
    board_rig_free(rig);
    running_close();
}

static struct soc_runner_plan board_plan(uint64_t seed)
{
    struct soc_runner_plan plan = plan_of(seed);
    plan.soc = board_machine_interface(board);
    return plan;
}

/* Twice, on the machine and on the board. */
static void same(uint64_t seed, uint32_t iterations)
{
    struct soc_runner_plan direct = plan_of(seed), over = board_plan(seed);
    struct outcomes one, other;
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&direct, iterations, &one), why.text);
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&over, iterations, &other), why.text);
    TEST_ASSERT_EQUAL_UINT32(iterations, other.count);
    TEST_ASSERT_EQUAL_UINT64_ARRAY(one.values, other.values,
                                   iterations * program_words(&program, &one.claims));
    free(one.values);
    free(other.values);
}

static void test_parameters(void)
{
    const struct soc_parameters *has = &board_machine_interface(board)->parameters;
    TEST_ASSERT_EQUAL_UINT32(4, has->harts);
    TEST_ASSERT_EQUAL_UINT32(65536, has->memory_bytes);
    TEST_ASSERT_TRUE(has->transactions);
}

/* The rig shows what it was asked for. */
static void test_looks_at_harts(void)
{
    const struct soc_interface *i = board_machine_interface(board);
    struct soc *s = i->create(i);
    struct soc_hart state;
    i->reset(s, &(struct soc_setup){ .model = SOC_SC });
    TEST_ASSERT_EQUAL_HEX32(0x5eed0000, i->counter(s, 0, 0));
    TEST_ASSERT_EQUAL_HEX32(0x5eed032d, i->counter(s, 3, 45));
    i->hart(s, 2, &state);
    TEST_ASSERT_EQUAL_HEX32(0x5eed0200 + SOC_PEEK_PC, state.pc);
    TEST_ASSERT_EQUAL_HEX32(0x5eed0200 + SOC_PEEK_WAIT, state.waits);
    TEST_ASSERT_EQUAL_HEX32(0x5eed0200 + SOC_PEEK_WAIT_ADDRESS, state.address);
    TEST_ASSERT_EQUAL_HEX32(0x5eed0200 + SOC_PEEK_INSTRUCTIONS, state.instructions);
    i->destroy(s);
}

static void test_small_programs(void)
{
    compile("P0 S[A]#1\nP0 L[B]\nP1 S[B]#2\nP1 L[A]\n");
    same(1, 20);
    forget();
    compile("P0 TX.BEGIN\nP0 L[A]\nP0 S[A]#1\nP0 TX.END\nP1 SWAP[A]#2\nP2 MEMBAR\nP3 CAS[A]?1#7\n");
    same(2, 20);
}

/* Many words of a stream: more than the window. */
static void test_long_programs(void)
{
    char text[20000] = "";
    for (int i = 1; i <= 300; i++)
        sprintf(text + strlen(text), "P0 S[A]#%d\nP1 L[A]\n", i);
    compile(text);
    same(3, 3);
}

static void generated(uint32_t count, struct rig_faults faults)
{
    static const char *const settings[] = { "test.threads=4", "test.operations=30",
                                            "transactions.share=20" };
    struct bias *b = bias_new();
    struct ordeal_error e;
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_TRUE_MESSAGE(bias_set(b, settings[i], &e), e.reason);
    TEST_ASSERT_TRUE_MESSAGE(bias_check(b, &e), e.reason);
    struct generator *g = generator_new(b, 7);
    rig->faults = faults;
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        sprintf(name, "test-%u", i);
        TEST_ASSERT_EQUAL(ORDEAL_OK, generator_make(g, i, context, &test));
        TEST_ASSERT_TRUE_MESSAGE(program_compile(&program, test, name, &e), e.reason);
        same(i, 2);
        forget();
    }
    generator_free(g);
    bias_free(b);
}

static void test_generated_programs(void) { generated(30, (struct rig_faults){ 0 }); }

static void test_generated_programs_over_a_bad_cable(void)
{
    board_machine_free(board);
    struct board_link *link = link_new(&rig->port);
    link_patience(link, 5);
    board = board_machine_new(link, &why);
    generated(10, (struct rig_faults){ 3, 3, 3, 3, 30, 3 });
}

/* ---- unplugged ------------------------------------------------------------------------------- */

static void test_unplugged_it_goes_on(void)
{
    compile("P0 S[A]#1\nP0 L[B]\nP1 S[B]#2\nP1 L[A]\n");
    for (uint32_t cut = 1; cut < 30; cut++) {
        rig->cut_after = rig->messages + cut;
        same(cut, 2);
    }
    TEST_ASSERT_GREATER_THAN(10, rig->opened);
}

/* Wherever it is cut: a test is lost, or had not begun, or was over; never another outcome. */
static void test_without_power_a_test_is_lost(void)
{
    uint32_t lost = 0, done = 0;
    rig->forgets = true;
    compile("P0 S[A]#1\nP0 L[B]\nP1 S[B]#2\nP1 L[A]\n");
    struct soc_runner_plan plan = board_plan(1);
    struct soc_runner *m = soc_runner_new(&plan);
    for (uint32_t cut = 1; cut < 40; cut++) {
        uint64_t values[64] = { 0 };
        struct outcomes o = { .values = values, .most = 1, .claims = soc_runner_claims(m) };
        struct target_sink sink = { keep, &o };
        rig->cut_after = rig->messages + cut;
        enum target_result result = soc_runner_run(m, &program, 0, 1, &sink, &why);
        lost += result == TARGET_LOST;
        done += result == TARGET_DONE;
        if (result == TARGET_LOST)
            TEST_ASSERT_EQUAL(LINK_LOST, board_machine_trouble(board));
        rig->cut_after = 0;
        o.count = 0;
        TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, soc_runner_run(m, &program, 0, 1, &sink, &why),
                                  why.text);
    }
    soc_runner_free(m);
    TEST_ASSERT_EQUAL_UINT32(39, lost + done);
    TEST_ASSERT_GREATER_THAN(5, lost);
    TEST_ASSERT_GREATER_THAN(5, done);
}

static void test_two_lost_starts_are_enough(void)
{
    struct outcomes o;
    struct soc_runner_plan plan = board_plan(1);
    struct soc_runner *m = soc_runner_new(&plan);
    struct target_sink sink = { keep, &o };
    compile("P0 L[A]\n");
    rig->forgets = rig->unplugged = true;
    rig->cut_again = 1;              /* it says hello, and goes */
    TEST_ASSERT_EQUAL(TARGET_FAILED, soc_runner_run(m, &program, 0, 1, &sink, &why));
    soc_runner_free(m);
}

static void test_gone_for_good(void)
{
    struct outcomes o;
    struct soc_runner_plan plan = board_plan(1);
    compile("P0 L[A]\n");
    rig->gone = true;
    rig->cut_after = rig->messages + 6;
    TEST_ASSERT_EQUAL(TARGET_LOST, run(&plan, 1, &o));
    TEST_ASSERT_EQUAL(LINK_GONE, board_machine_trouble(board));
    TEST_ASSERT_EQUAL_STRING("it does not come back", why.text);
    free(o.values);
    TEST_ASSERT_EQUAL(TARGET_FAILED, run(&plan, 1, &o)); /* it is not waited for again */
    TEST_ASSERT_EQUAL_STRING("it does not come back", why.text);
    TEST_ASSERT_EQUAL_UINT32(0, rig->opened);
    free(o.values);
}

/* ---- standstill ------------------------------------------------------------------------------ */

static void test_a_machine_that_hangs_is_found(void)
{
    struct outcomes o;
    struct soc_runner_plan plan = board_plan(1);
    compile("P0 L[A]\n");
    rig->hangs = true;
    TEST_ASSERT_EQUAL(TARGET_BROKE, run(&plan, 1, &o));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "hang"), why.text);
    free(o.values);
    rig->hangs = false;              /* and the next one runs */
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&plan, 1, &o), why.text);
    free(o.values);
}

static void test_no_end_is_a_time_out(void)
{
    struct outcomes o;
    struct soc_runner_plan plan = board_plan(1);
    compile("P0 L[A]\n");
    rig->hangs = true;
    plan.timeout = 0.01;
    TEST_ASSERT_EQUAL(TARGET_HUNG, run(&plan, 1, &o));
    free(o.values);
}

/* ---- ^C, last of all: there is no way back --------------------------------------------------- */

static void test_interrupted(void)
{
    struct outcomes o;
    struct soc_runner_plan plan = board_plan(1);
    compile("P0 L[A]\n");
    interrupt_watch();
    raise(SIGINT);
    TEST_ASSERT_EQUAL(TARGET_STOPPED, run(&plan, 1, &o));
    TEST_ASSERT_EQUAL(LINK_STOPPED, link_wait(board_machine_link(board), 10000, &why));
    free(o.values);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_parameters);
    RUN_TEST(test_looks_at_harts);
    RUN_TEST(test_small_programs);
    RUN_TEST(test_long_programs);
    RUN_TEST(test_generated_programs);
    RUN_TEST(test_generated_programs_over_a_bad_cable);
    RUN_TEST(test_unplugged_it_goes_on);
    RUN_TEST(test_without_power_a_test_is_lost);
    RUN_TEST(test_two_lost_starts_are_enough);
    RUN_TEST(test_gone_for_good);
    RUN_TEST(test_a_machine_that_hangs_is_found);
    RUN_TEST(test_no_end_is_a_time_out);
    RUN_TEST(test_interrupted);
    return UNITY_END();
}
