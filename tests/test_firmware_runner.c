/* SPDX-License-Identifier: Apache-2.0 */
/* The test runner on a machine of the test's own: what is loaded and read, what is refused, and how
 * a run goes from phase to phase. */
#include "firmware_session.h"
#include "firmware_twice.h"

static void is_bad(uint32_t which, uint32_t why)
{
    TEST_ASSERT_EQUAL_UINT32(2, m.count);
    TEST_ASSERT_EQUAL_UINT32(which, m.payload[0]);
    TEST_ASSERT_EQUAL_UINT32(why, m.payload[1]);
}

/* ---- requests ------------------------------------------------------------------------------- */

static void test_reset_sets_the_machine_up(void)
{
    ASK(STATUS_OK, PROTOCOL_RESET, 0x03077f02, 0xdeadbeef);
    TEST_ASSERT_EQUAL_HEX32(0x03077f02, firmware_device_model(d));
    TEST_ASSERT_EQUAL_HEX32(0xdeadbeef, firmware_device_seed(d));
    uint32_t first = m.payload[0];
    ASK(STATUS_OK, PROTOCOL_RESET, 0, 0);
    TEST_ASSERT_EQUAL_UINT32(first + 1, m.payload[0]);
    ASK(STATUS_ARGUMENT, PROTOCOL_RESET, 4, 0);
    is_bad(0, PROTOCOL_BAD_VALUE);
    ASK(STATUS_ARGUMENT, PROTOCOL_RESET, 0x80000000, 0);
    TEST_ASSERT_EQUAL_UINT32(first + 1, state().run);
}

/* A machine that was built without something says so. */
static void test_reset_refuses_what_the_machine_lacks(void)
{
    static const struct { uint32_t flag, setup; } lacks[] = {
        { 2, 0x100 }, { 2, 0x7f00 }, { 32, 0x10000 }, { 16, 0x02000000 }
    };
    struct firmware_board board = firmware_board_usual;
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
        struct firmware_board less = board;
        less.parameters[9] &= ~lacks[i].flag;
        firmware_device_free(d);
        d = firmware_device_new(&less);
        firmware_device_plug(d);
        uint32_t version = 1;
        TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_HELLO, number, &version, 1));
        ASK(STATUS_ARGUMENT, PROTOCOL_RESET, lacks[i].setup, 0);
        is_bad(0, PROTOCOL_BAD_VALUE);
        ASK(STATUS_OK, PROTOCOL_RESET, 0x01000000, 0);
    }
    board.parameters[10] = MODEL_TSO; /* PARAM_MODEL */
    firmware_device_free(d);
    d = firmware_device_new(&board);
    firmware_device_plug(d);
    uint32_t version = 1;
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_HELLO, number, &version, 1));
    ASK(STATUS_OK, PROTOCOL_RESET, MODEL_TSO, 0);
    ASK(STATUS_ARGUMENT, PROTOCOL_RESET, 0, 0);
}

static void test_load_and_read(void)
{
    uint32_t payload[PROTOCOL_PAYLOAD], bytes = 65536, code_bytes = 16384;
    reset();
    for (uint32_t i = 0; i < PROTOCOL_PAYLOAD; i++)
        payload[i] = value(i);
    payload[0] = 0x100;
    ask(STATUS_OK, PROTOCOL_LOAD, payload, PROTOCOL_PAYLOAD);
    TEST_ASSERT_EQUAL_UINT32(0, m.count);
    TEST_ASSERT_EQUAL_HEX32_ARRAY(payload + 1, firmware_device_memory(d) + 0x100 / 4,
                                  PROTOCOL_PAYLOAD - 1);
    ASK(STATUS_OK, PROTOCOL_READ, 0x100, PROTOCOL_PAYLOAD);
    TEST_ASSERT_EQUAL_UINT32(PROTOCOL_PAYLOAD, m.count);
    TEST_ASSERT_EQUAL_HEX32_ARRAY(payload + 1, m.payload, PROTOCOL_PAYLOAD - 1);
    TEST_ASSERT_EQUAL_HEX32(0, m.payload[PROTOCOL_PAYLOAD - 1]);

    uint32_t code = 0x80000000 | 3u << 27 | (code_bytes - 8); /* of hart 3 */
    ASK(STATUS_OK, PROTOCOL_LOAD, code, 11, 22);
    TEST_ASSERT_EQUAL_UINT32(22, firmware_device_code(d, 3)[code_bytes / 4 - 1]);
    ASK(STATUS_OK, PROTOCOL_READ, code, 2);
    TEST_ASSERT_EQUAL_UINT32(11, m.payload[0]);
    ASK(STATUS_OK, PROTOCOL_LOAD, bytes - 4, 1);
    ASK(STATUS_OK, PROTOCOL_LOAD, bytes); /* nothing, at the end */
    ASK(STATUS_OK, PROTOCOL_READ, 0, 0);
    TEST_ASSERT_EQUAL_UINT32(0, m.count);
}

static void test_bad_addresses(void)
{
    static const struct { uint32_t address, words, why; } bad[] = {
        { 1, 1, PROTOCOL_BAD_ALIGNMENT }, { 2, 1, PROTOCOL_BAD_ALIGNMENT },
        { 0x80000003, 1, PROTOCOL_BAD_ALIGNMENT }, { 65536, 1, PROTOCOL_BAD_RANGE },
        { 65532, 2, PROTOCOL_BAD_RANGE }, { 65540, 0, PROTOCOL_BAD_RANGE },
        { 0x07fffffc, 2, PROTOCOL_BAD_RANGE }, { 0x80004000, 1, PROTOCOL_BAD_RANGE },
        { 0x80003ffc, 2, PROTOCOL_BAD_RANGE }, { 0x08000000, 1, PROTOCOL_BAD_VALUE },
        { 0xa0000000, 1, PROTOCOL_BAD_VALUE }, { 0xf8000000, 1, PROTOCOL_BAD_VALUE }
    };
    uint32_t payload[3] = { 0, 1, 2 };
    reset();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        payload[0] = bad[i].address;
        ask(STATUS_ARGUMENT, PROTOCOL_LOAD, payload, 1 + bad[i].words);
        is_bad(0, bad[i].why);
        ASK(STATUS_ARGUMENT, PROTOCOL_READ, bad[i].address, bad[i].words);
        is_bad(0, bad[i].why);
    }
    ASK(STATUS_ARGUMENT, PROTOCOL_READ, 0, PROTOCOL_PAYLOAD + 1);
    is_bad(1, PROTOCOL_BAD_RANGE);
    ASK(STATUS_ARGUMENT, PROTOCOL_READ, 0, UINT32_MAX);
    is_bad(1, PROTOCOL_BAD_RANGE);
}

static void test_counters(void)
{
    for (uint32_t hart = 0; hart < 4; hart++) {
        ASK(STATUS_OK, PROTOCOL_COUNTERS, hart);
        TEST_ASSERT_EQUAL_UINT32(46 + 5, m.count);
        for (uint32_t i = 0; i < 51; i++)
            TEST_ASSERT_EQUAL_HEX32(0x5eed0000 + hart * 256 + (i < 46 ? i : i + 2), m.payload[i]);
    }
    ASK(STATUS_ARGUMENT, PROTOCOL_COUNTERS, 4);
    is_bad(0, PROTOCOL_BAD_VALUE);
}

/* ---- phases --------------------------------------------------------------------------------- */

static void test_a_run(void)
{
    ASK(STATUS_STATE, PROTOCOL_RUN, 0, 0); /* nothing was set up */
    reset();
    TEST_ASSERT_FALSE(firmware_device_runs(d));
    TEST_ASSERT_EQUAL_UINT32(PHASE_RESET, state().phase);
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    TEST_ASSERT_EQUAL_UINT32(0, m.count);
    TEST_ASSERT_TRUE(firmware_device_runs(d));
    ASK(STATUS_STATE, PROTOCOL_LOAD, 0, 1);
    ASK(STATUS_STATE, PROTOCOL_READ, 0, 1);
    capture(0, 10);
    is_stream(0, 10, 0);
    firmware_device_done(d, 7);
    struct protocol_state s = state();
    TEST_ASSERT_EQUAL_UINT32(run, s.run);
    TEST_ASSERT_EQUAL_UINT32(PHASE_RUNNING, s.phase);
    TEST_ASSERT_EQUAL_UINT32(7, s.done);
    TEST_ASSERT_EQUAL_UINT32(10, s.sent);
    TEST_ASSERT_EQUAL_UINT32(0, s.acknowledged);
    TEST_ASSERT_EQUAL_HEX32(0x00020001, s.usb_errors);
    TEST_ASSERT_TRUE(s.cycle_low > 0 && s.cycle_high == 0);
    capture(10, 5);
    firmware_device_done(d, 15);
    is_stream(10, 5, 0);
    is_stream(15, 0, PROTOCOL_CAPTURE_END);
    acknowledge(15, 0);
    s = state();
    TEST_ASSERT_EQUAL_UINT32(PHASE_DONE, s.phase);
    TEST_ASSERT_EQUAL_UINT32(15, s.acknowledged);
    ASK(STATUS_STATE, PROTOCOL_RUN, 0, 0);
    ASK(STATUS_STATE, PROTOCOL_LOAD, 0, 1);
    ask(STATUS_OK, PROTOCOL_STOP, NULL, 0);
    TEST_ASSERT_FALSE(firmware_device_runs(d));
    TEST_ASSERT_FALSE(firmware_talk_receive(d, &m)); /* the end was told before */
    ASK(STATUS_OK, PROTOCOL_LOAD, 0, 1);
    ASK(STATUS_STATE, PROTOCOL_RUN, 0, 0);
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    TEST_ASSERT_TRUE(firmware_device_runs(d));
}

static void test_stop_ends_the_stream(void)
{
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 3);
    is_stream(0, 3, 0);
    ask(STATUS_OK, PROTOCOL_STOP, NULL, 0);
    TEST_ASSERT_FALSE(firmware_device_runs(d));
    is_stream(3, 0, PROTOCOL_CAPTURE_END);
    TEST_ASSERT_EQUAL_UINT32(PHASE_RESET, state().phase);
    ask(STATUS_OK, PROTOCOL_STOP, NULL, 0);
    TEST_ASSERT_FALSE(firmware_talk_receive(d, &m)); /* once is enough */
}

static void test_limit(void)
{
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 1000, 0);
    capture(0, 3);
    is_stream(0, 3, 0);
    is_stream(3, 0, PROTOCOL_CAPTURE_LIMIT);
    struct protocol_state s = state();
    TEST_ASSERT_EQUAL_UINT32(PHASE_LIMIT, s.phase);
    TEST_ASSERT_TRUE(s.cycle_low >= 1000);
    TEST_ASSERT_TRUE(firmware_device_runs(d));
    capture(3, 4);                          /* nothing follows */
    TEST_ASSERT_FALSE(firmware_talk_receive(d, &m));
    ASK(STATUS_OK, PROTOCOL_COUNTERS, 0);   /* where does it hang? */
    ASK(STATUS_OK, PROTOCOL_RUN, 1000, 0);  /* that is over already */
    do
        TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
    while (!(m.payload[2] & PROTOCOL_CAPTURE_LIMIT));
    ASK(STATUS_OK, PROTOCOL_RUN, s.cycle_low + 100000, 0);
    TEST_ASSERT_EQUAL_UINT32(PHASE_RUNNING, state().phase);
    acknowledge(7, 0);
    capture(7, 2);
    is_stream(7, 2, 0);
    firmware_device_done(d, 15);
    is_stream(9, 0, PROTOCOL_CAPTURE_END);
}

/* The machine counts in 32 bits. */
static void test_limit_of_many_cycles(void)
{
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 500, 2);
    for (int i = 0; i < 2; i++) {
        firmware_device_set_cycle(d, 0xffffff00);
        firmware_device_poll(d);
        firmware_device_set_cycle(d, 0);
        firmware_device_poll(d);
        TEST_ASSERT_EQUAL_UINT32(PHASE_RUNNING, state().phase);
        TEST_ASSERT_EQUAL_UINT32(i + 1, state().cycle_high);
    }
    firmware_device_set_cycle(d, 600);
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_UINT32(PHASE_LIMIT, state().phase);
    TEST_ASSERT_EQUAL_UINT32(2, state().cycle_high);
}

static void run_all(void)
{
    RUN_TEST(test_reset_sets_the_machine_up);
    RUN_TEST(test_reset_refuses_what_the_machine_lacks);
    RUN_TEST(test_load_and_read);
    RUN_TEST(test_bad_addresses);
    RUN_TEST(test_counters);
    RUN_TEST(test_a_run);
    RUN_TEST(test_stop_ends_the_stream);
    RUN_TEST(test_limit);
    RUN_TEST(test_limit_of_many_cycles);
}

int main(void) { return firmware_twice(run_all); }
