/* SPDX-License-Identifier: Apache-2.0 */
/* What the firmware costs on the board's monitor: cycles of streaming against the time the bus
 * takes for a packet, bytes of code, depth of the stack. Cycles are those of
 * tests/support/firmware_hart.c, not seconds. */
#include <string.h>

#include "firmware_hart.h"
#include "firmware_talk.h"
#include "unity.h"

enum {
    CLOCK = 12000,              /* cycles of a frame */
    PACKETS = 19,               /* that a frame has room for */
    WORDS = 20000
};

void setUp(void) {}
void tearDown(void) {}

static uint32_t words[WORDS];

/* A bus that is never idle: a packet goes when it is its time, or its place is lost and counted.
 * Returns how many hundredths of the bus the words of the stream took. */
static uint32_t stream(uint32_t window, uint32_t *lost)
{
    struct firmware_board board = firmware_board_usual;
    struct firmware_message m;
    uint32_t one = 1, setup[] = { 1, 1 }, limit[] = { 0, 0 }, next = 0, acknowledged = 0;
    uint8_t bytes[PROTOCOL_WORDS * 4], packet[64];
    size_t at = 0;
    board.window = window;
    board.elf = firmware_talk_elf();
    struct firmware_device *d = firmware_device_new(&board);
    const struct firmware_hart *h = firmware_device_hart(d);
    firmware_device_plug(d);
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_HELLO, 1, &one, 1));
    TEST_ASSERT_EQUAL_UINT32(window, m.payload[6]);
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_RESET, 2, setup, 2));
    uint32_t run = m.payload[0];
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_RUN, 3, limit, 2));
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i;
    firmware_device_captures(d, words, WORDS);
    firmware_device_done(d, 15);

    uint64_t start = h->cycles, places = 0;
    *lost = 0;
    for (bool ended = false; !ended;) {
        firmware_device_poll(d);
        while (!ended && start + places * CLOCK / PACKETS <= h->cycles) {
            int length = firmware_device_in(d, packet);
            places++;
            if (length < 0) {
                *lost += next > 0; /* the first is on its way */
                continue;
            }
            memcpy(bytes + at, packet, (size_t)length);
            at += (size_t)length;
            if (length == DEVICE_PACKET)
                continue;
            TEST_ASSERT_TRUE(firmware_talk_parse(&m, bytes, at));
            at = 0;
            TEST_ASSERT_EQUAL_UINT32(next, m.payload[1]);
            for (uint32_t i = 3; i < m.count; i++)
                TEST_ASSERT_EQUAL_UINT32(next++, m.payload[i]);
            ended = m.payload[2] & PROTOCOL_CAPTURE_END;
            if (next - acknowledged >= window / 4) {
                uint32_t payload[] = { run, next, 0 }, ack[8];
                size_t count = firmware_talk_compose(ack, PROTOCOL_ACK, 0, payload, 3);
                if (firmware_device_out(d, ack, count * 4) > 0)
                    acknowledged = next;
                places++;
            }
        }
    }
    firmware_device_free(d);
    TEST_ASSERT_EQUAL_UINT32(WORDS, next);
    return (uint32_t)(WORDS * 4 * 100 / (places * 64));
}

/* At 12 MHz no packet's place on the bus is lost, and 80 % of it carries words of the stream. */
static void test_streaming_fills_the_bus(void)
{
    uint32_t lost, percent = stream(14000, &lost);
    TEST_ASSERT_EQUAL_UINT32(0, lost);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT32(95, percent);
    percent = stream(1000, &lost);
    TEST_ASSERT_EQUAL_UINT32(0, lost);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT32(85, percent);
}

static void test_size(void)
{
    struct firmware_board board = firmware_board_usual;
    board.elf = firmware_talk_elf();
    struct firmware_device *d = firmware_device_new(&board);
    const struct firmware_hart *h = firmware_device_hart(d);
    TEST_ASSERT_LESS_OR_EQUAL_UINT32(7 * 1024 + 512, h->end); /* all but the ring */
    firmware_device_free(d);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_streaming_fills_the_bus);
    RUN_TEST(test_size);
    return UNITY_END();
}
