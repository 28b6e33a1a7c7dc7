/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of a machine of the test's own: complete, in order and only once, whatever is lost,
 * late or unplugged. */
#include "firmware_session.h"
#include "firmware_twice.h"

/* ---- the stream ----------------------------------------------------------------------------- */

enum { MOST = 5000 };

/* A host that takes the stream, acknowledging every so many words. */
struct reader {
    uint32_t next, acknowledged, every;
    bool ended;
};

static void take(struct reader *r)
{
    TEST_ASSERT_EQUAL_UINT32(PROTOCOL_CAPTURE, m.type);
    TEST_ASSERT_EQUAL_UINT32(run, m.payload[0]);
    TEST_ASSERT_FALSE(r->ended);
    TEST_ASSERT_EQUAL_UINT32(r->next, m.payload[1]);
    for (uint32_t i = 3; i < m.count; i++)
        TEST_ASSERT_EQUAL_HEX32(value(r->next++), m.payload[i]);
    r->ended = m.payload[2] & PROTOCOL_CAPTURE_END;
    if (r->next - r->acknowledged >= r->every) {
        r->acknowledged = r->next;
        acknowledge(r->next, 0);
    }
}

static void test_stream_through_a_small_window(void)
{
    static const uint32_t windows[] = { 1, 2, 3, 16, 63, 64, 100, 248, 249, 300, 1000 };
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        struct reader r = { .every = (windows[i] + 1) / 2 };
        begin(windows[i]);
        reset();
        ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
        capture(0, MOST);
        firmware_device_done(d, 15);
        while (!r.ended) {
            TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
            take(&r);
        }
        TEST_ASSERT_EQUAL_UINT32(MOST, r.next);
    }
}

/* Nothing is read from the capture when nothing is acknowledged, and nothing is lost. */
static void test_flow_control(void)
{
    struct reader r = { .every = UINT32_MAX };
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, MOST);
    firmware_device_done(d, 15);
    while (firmware_talk_receive(d, &m))
        take(&r);
    TEST_ASSERT_EQUAL_UINT32(WINDOW, r.next);
    TEST_ASSERT_EQUAL_UINT32(PHASE_RUNNING, state().phase);
    acknowledge(1, 0);
    while (firmware_talk_receive(d, &m))
        take(&r);
    TEST_ASSERT_EQUAL_UINT32(WINDOW + 1, r.next);
    r.every = 50;
    r.acknowledged = 1;
    acknowledge(r.next, 0);
    while (!r.ended) {
        TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
        take(&r);
    }
    TEST_ASSERT_EQUAL_UINT32(MOST, r.next);
}

static void test_answers_come_between_messages_of_the_stream(void)
{
    struct reader r = { .every = 10 };
    uint32_t asked = 0, answered = 0;
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, MOST);
    firmware_device_done(d, 15);
    while (!r.ended || answered < asked) {
        uint32_t echo[] = { asked };
        if (!r.ended && asked == answered) {
            TEST_ASSERT_TRUE(firmware_talk_send(d, PROTOCOL_ECHO, ++number, echo, 1));
            asked++;
        }
        TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
        if (m.type == PROTOCOL_CAPTURE)
            take(&r);
        else {
            TEST_ASSERT_EQUAL_HEX32(PROTOCOL_ECHO | PROTOCOL_ANSWER, m.type);
            TEST_ASSERT_EQUAL_UINT32(answered++, m.payload[0]);
        }
    }
    TEST_ASSERT_TRUE(answered > 10);
}

static void test_again(void)
{
    struct reader r = { .every = UINT32_MAX };
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 200);
    firmware_device_done(d, 15);
    while (!r.ended) {
        TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
        take(&r);
    }
    TEST_ASSERT_FALSE(firmware_talk_receive(d, &m));
    static const uint32_t places[] = { 0, 77, 77, 199, 200, 200 };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        r.next = places[i];
        r.ended = false;
        acknowledge(places[i], PROTOCOL_ACK_AGAIN);
        while (!r.ended) {
            TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
            take(&r);
        }
        TEST_ASSERT_EQUAL_UINT32(200, r.next);
    }
}

/* AGAIN in the middle of a message: it goes on to its end, then all comes again. */
static void test_again_within_a_message(void)
{
    uint8_t packet[64];
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 64);
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(64, firmware_device_in(d, packet));
    uint32_t payload[] = { run, 0, PROTOCOL_ACK_AGAIN };
    uint32_t words[PROTOCOL_WORDS];
    size_t length = 4 * firmware_talk_compose(words, PROTOCOL_ACK, 0, payload, 3);
    TEST_ASSERT_EQUAL_INT(length, firmware_device_out(d, words, length));
    uint8_t rest[1024];
    TEST_ASSERT_EQUAL_INT((3 + 3 + 64 + 1) * 4 - 64,
                          firmware_device_receive(d, rest, sizeof rest, 50));
    is_stream(0, 64, 0);
}

static void test_bad_acknowledgements(void)
{
    struct reader r = { .every = UINT32_MAX };
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 100);
    while (r.next < 100) {
        TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
        take(&r);
    }
    acknowledge(50, 0);
    uint32_t before = state().refused;
    uint32_t bad[][3] = { { run, 101, 0 }, { run, 49, 0 }, { run, 0, 0 }, { run + 1, 60, 0 },
                          { run - 1, 60, 0 }, { run, 60, 2 }, { run, UINT32_MAX, 1 } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        TEST_ASSERT_TRUE(firmware_talk_send(d, PROTOCOL_ACK, 0, bad[i], 3));
    TEST_ASSERT_TRUE(firmware_talk_send(d, PROTOCOL_ACK, 0, bad[0], 2));
    struct protocol_state s = state();
    TEST_ASSERT_EQUAL_UINT32(before + 8, s.refused);
    TEST_ASSERT_EQUAL_UINT32(50, s.acknowledged);
    capture(100, 1);
    is_stream(100, 1, 0);
}

/* Acknowledged after AGAIN and before it has been sent again: what comes next is what follows. */
static void test_acknowledged_ahead(void)
{
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 64);
    for (int i = 0; i < 5; i++)
        firmware_device_poll(d);
    acknowledge(0, PROTOCOL_ACK_AGAIN); /* in the middle of the message */
    acknowledge(64, 0);
    is_stream(0, 64, 0);
    capture(64, 3);
    is_stream(64, 3, 0);
}

/* The same words once more, and in the middle of it they are acknowledged: they are not replaced by
 * new ones before they have gone. */
static void test_acknowledged_while_it_goes(void)
{
    uint8_t packet[64], rest[1024];
    begin(60);
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 500);
    is_stream(0, 60, 0);
    acknowledge(0, PROTOCOL_ACK_AGAIN);
    TEST_ASSERT_EQUAL_INT(64, firmware_device_in(d, packet));
    acknowledge(60, 0);
    for (int i = 0; i < 5; i++)
        firmware_device_poll(d);
    memcpy(rest, packet, 64);
    int length = firmware_device_receive(d, rest + 64, sizeof rest - 64, 50);
    TEST_ASSERT_TRUE(firmware_talk_parse(&m, rest, 64 + (size_t)length));
    for (uint32_t i = 0; i < 60; i++)
        TEST_ASSERT_EQUAL_HEX32(value(i), m.payload[3 + i]);
    is_stream(60, 60, 0);
}

/* ---- source --------------------------------------------------------------------------------- */

static void test_source(void)
{
    static const uint32_t counts[] = { 0, 1, 300, 2000 };
    for (size_t i = 0; i < 4; i++) {
        ASK(STATUS_OK, PROTOCOL_SOURCE, counts[i]);
        TEST_ASSERT_TRUE(i == 0 || m.payload[0] == run + 1);
        run = m.payload[0];
        uint32_t next = 0, flags = 0;
        while (!flags) {
            TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
            TEST_ASSERT_EQUAL_UINT32(next, m.payload[1]);
            for (uint32_t k = 3; k < m.count; k++)
                TEST_ASSERT_EQUAL_UINT32(next++, m.payload[k]);
            flags = m.payload[2];
            TEST_ASSERT_EQUAL_UINT32(run, m.payload[0]);
            acknowledge(next, 0);
        }
        TEST_ASSERT_EQUAL_UINT32(counts[i], next);
        TEST_ASSERT_EQUAL_UINT32(PROTOCOL_CAPTURE_END, flags);
        TEST_ASSERT_EQUAL_UINT32(PHASE_DONE, state().phase);
        ASK(STATUS_STATE, PROTOCOL_RUN, 0, 0);
        TEST_ASSERT_FALSE(firmware_device_runs(d));
    }
}

/* ---- what goes wrong ------------------------------------------------------------------------ */

/* Unplugged after so many packets and plugged in again: HELLO finds the run, the stream goes on. */
static void test_replug_in_a_run(void)
{
    for (int packets = 0; packets < 40; packets++) {
        struct reader r = { .every = UINT32_MAX };
        uint8_t packet[64];
        begin(WINDOW);
        reset();
        ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
        capture(0, 900);
        firmware_device_done(d, 15);
        for (int i = 0; i < packets; i++) {
            firmware_device_poll(d);
            firmware_device_in(d, packet);
        }
        firmware_device_bus_reset(d);
        firmware_device_poll(d);
        TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_in(d, packet));
        firmware_device_plug(d);
        uint32_t version = PROTOCOL_VERSION;
        TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_HELLO, 7, &version, 1));
        struct protocol_hello h;
        memcpy(&h, m.payload, sizeof h);
        TEST_ASSERT_EQUAL_UINT32(run, h.run);
        TEST_ASSERT_EQUAL_UINT32(number, h.last);
        TEST_ASSERT_EQUAL_UINT32(PHASE_RUNNING, h.phase);
        number = 7;
        acknowledge(0, PROTOCOL_ACK_AGAIN);
        r.every = 100;
        while (!r.ended) {
            TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
            if (m.payload[1] == r.next) /* else it was on its way when AGAIN came */
                take(&r);
        }
        TEST_ASSERT_EQUAL_UINT32(900, r.next);
    }
}

/* Without a word from the host: what was on its way when the bus was reset comes once more. */
static void test_reset_of_the_bus_goes_back(void)
{
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 50);
    is_stream(0, 50, 0);
    acknowledge(20, 0);
    firmware_device_plug(d);
    is_stream(20, 30, 0);
}

/* Every n-th message in either direction is lost: all comes in the end. */
static void test_messages_are_lost(void)
{
    uint32_t seed = 7, idle = 0;
    struct reader r = { .every = 50 };
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, MOST);
    firmware_device_done(d, 15);
    while (!r.ended) {
        bool lost = (seed = seed * 1664525 + 1013904223) >> 24 < 40;
        bool came = firmware_talk_receive(d, &m);
        if (came && !lost && m.payload[1] == r.next)
            take(&r);
        else if (!came || !lost)
            acknowledge(r.acknowledged = r.next, PROTOCOL_ACK_AGAIN);
        TEST_ASSERT_TRUE(++idle < 10000);
    }
    TEST_ASSERT_EQUAL_UINT32(MOST, r.next);
}

/* The watchdog: another firmware is there, with no run, and says so; the machine is in reset. */
static void test_restart(void)
{
    uint32_t version = PROTOCOL_VERSION;
    struct protocol_hello h;
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 100);
    firmware_device_poll(d);
    firmware_device_restart(d, 1);
    TEST_ASSERT_FALSE(firmware_device_runs(d));
    TEST_ASSERT_TRUE(firmware_device_attached(d)); /* and it was not, for a while */
    uint8_t packet[64];
    TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_in(d, packet));
    firmware_device_plug(d);
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_HELLO, 1, &version, 1));
    memcpy(&h, m.payload, sizeof h);
    TEST_ASSERT_EQUAL_UINT32(1, h.cause);
    TEST_ASSERT_EQUAL_UINT32(0, h.run);
    TEST_ASSERT_EQUAL_UINT32(PHASE_RESET, h.phase);
    TEST_ASSERT_EQUAL_UINT32(0, h.last);
    TEST_ASSERT_FALSE(firmware_talk_receive(d, &m));
}

/* A new run in the middle of the old one's stream. */
static void test_reset_drops_the_stream(void)
{
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 1000);
    for (int i = 0; i < 5; i++)
        firmware_device_poll(d);
    reset(); /* what was on its way is passed over: it is of another run */
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 5);
    is_stream(0, 5, 0);
    TEST_ASSERT_EQUAL_UINT32(5, state().sent);
}

/* What the state says was sent is what came before it: more waits in the ring. */
static void test_sent_is_what_came_before_the_answer(void)
{
    uint32_t came = 0;
    begin(2000);
    reset();
    ASK(STATUS_OK, PROTOCOL_RUN, 0, 0);
    capture(0, 1900);
    for (int i = 0; i < 100; i++)
        firmware_device_poll(d);
    TEST_ASSERT_TRUE(firmware_talk_send(d, PROTOCOL_STATE, ++number, NULL, 0));
    for (m.type = PROTOCOL_CAPTURE; m.type == PROTOCOL_CAPTURE; ) {
        TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
        if (m.type == PROTOCOL_CAPTURE) {
            TEST_ASSERT_EQUAL_UINT32(came, m.payload[1]);
            came += m.count - 3;
        }
    }
    struct protocol_state s;
    memcpy(&s, m.payload, sizeof s);
    TEST_ASSERT_EQUAL_UINT32(came, s.sent);
    TEST_ASSERT_LESS_THAN_UINT32(1900, came);
    TEST_ASSERT_GREATER_THAN_UINT32(0, came);
}

static void run_all(void)
{
    RUN_TEST(test_stream_through_a_small_window);
    RUN_TEST(test_flow_control);
    RUN_TEST(test_answers_come_between_messages_of_the_stream);
    RUN_TEST(test_again);
    RUN_TEST(test_again_within_a_message);
    RUN_TEST(test_bad_acknowledgements);
    RUN_TEST(test_acknowledged_ahead);
    RUN_TEST(test_acknowledged_while_it_goes);
    RUN_TEST(test_source);
    RUN_TEST(test_replug_in_a_run);
    RUN_TEST(test_reset_of_the_bus_goes_back);
    RUN_TEST(test_messages_are_lost);
    RUN_TEST(test_restart);
    RUN_TEST(test_reset_drops_the_stream);
    RUN_TEST(test_sent_is_what_came_before_the_answer);
}

int main(void) { return firmware_twice(run_all); }
