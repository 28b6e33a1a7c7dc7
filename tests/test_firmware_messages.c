/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers on the wire: numbers, repetitions, whatever can be wrong with a message,
 * and that nothing a host sends keeps the next HELLO from being answered. */
#include <string.h>
#include <zlib.h>

#include "firmware_talk.h"
#include "firmware_twice.h"
#include "unity.h"

static struct firmware_device *d;
static struct firmware_message m;

static void hello(uint32_t number)
{
    uint32_t version = PROTOCOL_VERSION;
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_HELLO, number, &version, 1));
    TEST_ASSERT_EQUAL_HEX32(PROTOCOL_HELLO | PROTOCOL_ANSWER, m.type);
    TEST_ASSERT_EQUAL_UINT32(STATUS_OK, m.status);
    TEST_ASSERT_EQUAL_UINT32(number, m.number);
    TEST_ASSERT_EQUAL_UINT32(sizeof(struct protocol_hello) / 4, m.count);
}

void setUp(void)
{
    d = firmware_device_new(NULL);
    firmware_device_plug(d);
}

void tearDown(void)
{
    firmware_device_free(d);
}

static void ask(uint32_t type, uint32_t number, const uint32_t *payload, size_t count)
{
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, type, number, payload, count));
}

static uint32_t refused(uint32_t number)
{
    struct protocol_state state;
    ask(PROTOCOL_STATE, number, NULL, 0);
    TEST_ASSERT_EQUAL_UINT32(STATUS_OK, m.status);
    memcpy(&state, m.payload, sizeof state);
    return state.refused;
}

static void is_refusal(uint32_t type, uint32_t status, uint32_t number, uint32_t expected)
{
    TEST_ASSERT_EQUAL_HEX32(type | PROTOCOL_ANSWER, m.type);
    TEST_ASSERT_EQUAL_UINT32(status, m.status);
    TEST_ASSERT_EQUAL_UINT32(number, m.number);
    TEST_ASSERT_EQUAL_UINT32(1, m.count);
    TEST_ASSERT_EQUAL_UINT32(expected, m.payload[0]);
}

static void test_hello(void)
{
    struct protocol_hello h;
    hello(1000);
    memcpy(&h, m.payload, sizeof h);
    TEST_ASSERT_EQUAL_UINT32(PROTOCOL_VERSION, h.version);
    TEST_ASSERT_EQUAL_HEX32(0x20261116, h.bitstream);
    TEST_ASSERT_EQUAL_UINT32(12000000, h.clock);
    TEST_ASSERT_EQUAL_UINT32(0, h.run);
    TEST_ASSERT_EQUAL_UINT32(PHASE_RESET, h.phase);
    TEST_ASSERT_EQUAL_UINT32(firmware_board_usual.window, h.window);
    TEST_ASSERT_EQUAL_UINT32(0, h.cause);
    TEST_ASSERT_EQUAL_UINT32(0, h.last);
    if (firmware_board_usual.elf) /* its RAM is as large as the window makes it */
        h.parameters[11] = firmware_board_usual.parameters[11];
    TEST_ASSERT_EQUAL_HEX32_ARRAY(firmware_board_usual.parameters, h.parameters, 16);
    TEST_ASSERT_EQUAL_UINT32(0, refused(1001));
    hello(5); /* any number will do, and sets what follows; it tells the last one done */
    memcpy(&h, m.payload, sizeof h);
    TEST_ASSERT_EQUAL_UINT32(1001, h.last);
    TEST_ASSERT_EQUAL_UINT32(0, refused(6));
    hello(UINT32_MAX);
    TEST_ASSERT_EQUAL_UINT32(0, refused(0));
}

static void test_order(void)
{
    static const uint32_t wrong[] = { 11, 13, 12 + 0x80000000, 0, 1 };
    ask(PROTOCOL_STATE, 1, NULL, 0); /* nobody said hello */
    is_refusal(PROTOCOL_STATE, STATUS_ORDER, 1, 0);
    ask(PROTOCOL_STATE, 0, NULL, 0);
    is_refusal(PROTOCOL_STATE, STATUS_ORDER, 0, 0);
    hello(10);
    ask(PROTOCOL_STATE, 11, NULL, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ask(PROTOCOL_ECHO, wrong[i], NULL, 0);
        is_refusal(PROTOCOL_ECHO, STATUS_ORDER, wrong[i], 12);
    }
    TEST_ASSERT_EQUAL_UINT32(2 + 5, refused(12));
}

/* Whatever is asked again is answered again, and done once. */
static void test_repetition(void)
{
    uint32_t setup[] = { 1, 77 }, echo[] = { 1, 2, 3, 4 }, run;
    hello(10);
    ask(PROTOCOL_RESET, 11, setup, 2);
    TEST_ASSERT_EQUAL_UINT32(1, m.count);
    run = m.payload[0];
    for (int i = 0; i < 3; i++) {
        ask(PROTOCOL_RESET, 11, setup, 2);
        TEST_ASSERT_EQUAL_UINT32(STATUS_OK, m.status);
        TEST_ASSERT_EQUAL_UINT32(11, m.number);
        TEST_ASSERT_EQUAL_UINT32(1, m.count);
        TEST_ASSERT_EQUAL_UINT32(run, m.payload[0]);
    }
    for (int i = 0; i < 2; i++) {
        ask(PROTOCOL_ECHO, 12, echo, 4);
        TEST_ASSERT_EQUAL_UINT32(4, m.count);
        TEST_ASSERT_EQUAL_UINT32_ARRAY(echo, m.payload, 4);
    }
    for (int i = 0; i < 2; i++) {
        ask(PROTOCOL_ECHO, 13, echo, 1);
        TEST_ASSERT_EQUAL_UINT32(1, m.count);
    }
    for (int i = 0; i < 2; i++) { /* a refusal, too */
        setup[0] = 0x80000000;
        ask(PROTOCOL_RESET, 14, setup, 2);
        TEST_ASSERT_EQUAL_UINT32(STATUS_ARGUMENT, m.status);
        TEST_ASSERT_EQUAL_UINT32(2, m.count);
    }
    uint32_t hart = 2;
    ask(PROTOCOL_COUNTERS, 15, &hart, 1);
    struct firmware_message before = m;
    ask(PROTOCOL_ECHO, 99, before.payload + 1, 50);
    is_refusal(PROTOCOL_ECHO, STATUS_ORDER, 99, 16);
    ask(PROTOCOL_COUNTERS, 15, &hart, 1); /* too long to be kept */
    TEST_ASSERT_EQUAL_UINT32(51, m.count);
    TEST_ASSERT_EQUAL_HEX32_ARRAY(before.payload, m.payload, 51);
    TEST_ASSERT_EQUAL_UINT32(2, refused(16));
}

/* Several before an answer is read. */
static void test_requests_in_flight(void)
{
    uint32_t echo[4];
    hello(0);
    for (uint32_t i = 1; i <= 2; i++) {
        echo[0] = i;
        TEST_ASSERT_TRUE(firmware_talk_send(d, PROTOCOL_ECHO, i, echo, 1));
    }
    for (uint32_t i = 1; i <= 2; i++) {
        TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
        TEST_ASSERT_EQUAL_UINT32(i, m.number);
        TEST_ASSERT_EQUAL_UINT32(i, m.payload[0]);
    }
}

static void test_every_length(void)
{
    uint32_t echo[PROTOCOL_PAYLOAD];
    for (uint32_t i = 0; i < PROTOCOL_PAYLOAD; i++)
        echo[i] = i * 0x01010101;
    hello(0);
    for (uint32_t i = 0; i <= PROTOCOL_PAYLOAD; i++) {
        ask(PROTOCOL_ECHO, i + 1, echo, i);
        TEST_ASSERT_EQUAL_UINT32(STATUS_OK, m.status);
        TEST_ASSERT_EQUAL_UINT32(i, m.count);
        if (i)
            TEST_ASSERT_EQUAL_HEX32_ARRAY(echo, m.payload, i);
    }
}

static void test_type_and_length(void)
{
    static const struct { uint32_t type, right; } requests[] = {
        { PROTOCOL_RESET, 2 }, { PROTOCOL_READ, 2 }, { PROTOCOL_RUN, 2 },
        { PROTOCOL_STATE, 0 }, { PROTOCOL_STOP, 0 }, { PROTOCOL_COUNTERS, 1 },
        { PROTOCOL_SOURCE, 1 }, { PROTOCOL_HELLO, 1 }
    };
    static const uint32_t unknown[] = { 0, 11, 12, 15, PROTOCOL_CAPTURE, 18, 0x7f, 0x80, 0x81,
                                        0xff };
    static const uint32_t nothing[5];
    uint32_t number = 0;
    hello(0);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        ask(unknown[i], ++number, nothing, 1);
        TEST_ASSERT_EQUAL_UINT32(STATUS_TYPE, m.status);
        TEST_ASSERT_EQUAL_UINT32(number, m.number);
        TEST_ASSERT_EQUAL_UINT32(0, m.count);
    }
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        for (uint32_t count = 0; count < 5; count++)
            if (count != requests[i].right) {
                ask(requests[i].type, ++number, nothing, count);
                TEST_ASSERT_EQUAL_UINT32(STATUS_LENGTH, m.status);
                TEST_ASSERT_EQUAL_UINT32(0, m.count);
            }
    ask(PROTOCOL_LOAD, ++number, nothing, 0);
    TEST_ASSERT_EQUAL_UINT32(STATUS_LENGTH, m.status);
    TEST_ASSERT_EQUAL_UINT32(number, refused(number + 1));
}

/* ---- damage --------------------------------------------------------------------------------- */

static void sends(const void *bytes, size_t length)
{
    TEST_ASSERT_TRUE(firmware_device_send(d, bytes, length));
}

static void is_damaged(uint32_t expected)
{
    TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
    is_refusal(0, STATUS_DAMAGED, expected, expected);
}

static void test_every_bit_flipped(void)
{
    uint32_t words[PROTOCOL_WORDS], echo[30] = { 5, 6, 7 }, count = 0;
    size_t length = 4 * firmware_talk_compose(words, PROTOCOL_ECHO, 1, echo, 30);
    hello(0);
    for (size_t i = 0; i < 8 * length; i++) {
        ((uint8_t *)words)[i / 8] ^= 1 << i % 8;
        sends(words, length);
        is_damaged(1);
        ((uint8_t *)words)[i / 8] ^= 1 << i % 8;
        count++;
    }
    sends(words, length);
    TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
    TEST_ASSERT_EQUAL_UINT32(STATUS_OK, m.status);
    TEST_ASSERT_EQUAL_UINT32(30, m.count);
    TEST_ASSERT_EQUAL_UINT32(count, refused(2));
}

static void test_truncated_and_prolonged(void)
{
    uint8_t bytes[PROTOCOL_WORDS * 4 + 64];
    uint32_t echo[30] = { 5, 6, 7 };
    memset(bytes, 0xff, sizeof bytes);
    size_t length = 4 * firmware_talk_compose((uint32_t *)bytes, PROTOCOL_ECHO, 1, echo, 30);
    hello(0);
    sends(bytes, 0); /* an empty transfer is nothing */
    for (size_t i = 1; i < sizeof bytes; i++)
        if (i != length) {
            sends(bytes, i);
            is_damaged(1);
        }
    sends(bytes, length);
    TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
    TEST_ASSERT_EQUAL_UINT32(STATUS_OK, m.status);
    TEST_ASSERT_EQUAL_UINT32(sizeof bytes - 2, refused(2));
}

/* A transfer that goes on and on is thrown away as it comes, and counts once. */
static void test_oversized(void)
{
    uint8_t packet[64] = { 0x4f, 0x44 };
    hello(0);
    for (int i = 0; i < 5000; i++) {
        TEST_ASSERT_EQUAL_INT(64, firmware_device_out(d, packet, 64));
        firmware_device_poll(d);
        TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_in(d, packet));
    }
    sends(packet, 0);
    is_damaged(1);
    TEST_ASSERT_EQUAL_UINT32(1, refused(1));
}

/* Magic, length and status with a right CRC. */
static void test_wrong_header(void)
{
    static const struct { uint32_t word, value; } wrong[] = {
        { 0, PROTOCOL_MAGIC + 1 }, { 0, 1u << 24 }, { 0, 0xff000000 }, { 2, 1 }, { 2, 3 },
        { 2, PROTOCOL_PAYLOAD + 1 }, { 2, UINT32_MAX }, { 2, 0x40000002 }
    };
    uint32_t words[PROTOCOL_WORDS], echo[2] = { 8, 9 };
    hello(0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        firmware_talk_compose(words, PROTOCOL_ECHO, 1, echo, 2);
        words[wrong[i].word] = wrong[i].word ? wrong[i].value : words[0] ^ wrong[i].value;
        words[5] = (uint32_t)crc32(0, (const void *)words, 20);
        sends(words, 24);
        is_damaged(1);
    }
    TEST_ASSERT_EQUAL_UINT32(sizeof wrong / sizeof *wrong, refused(1));
}

/* Half a message, and then silence: the next one suffers, and then all is well. */
static void test_half_a_message(void)
{
    uint8_t packet[64] = { 1, 2, 3 };
    uint32_t version = PROTOCOL_VERSION;
    hello(0);
    for (int halves = 1; halves < 20; halves++) {
        for (int i = 0; i < halves; i++) {
            TEST_ASSERT_EQUAL_INT(64, firmware_device_out(d, packet, 64));
            firmware_device_poll(d);
        }
        for (int i = 0; i < 50; i++)
            firmware_device_poll(d);
        TEST_ASSERT_TRUE(firmware_talk_send(d, PROTOCOL_HELLO, 0, &version, 1));
        is_damaged(1);
        hello(0);
    }
}

static void test_half_a_message_and_a_reset(void)
{
    uint8_t packet[64] = { 1, 2, 3 };
    hello(0);
    TEST_ASSERT_EQUAL_INT(64, firmware_device_out(d, packet, 64));
    firmware_device_poll(d);
    firmware_device_plug(d);
    hello(1);
    TEST_ASSERT_EQUAL_UINT32(0, refused(2));
}

/* ---- garbage -------------------------------------------------------------------------------- */

static uint32_t seed = 1;

static uint32_t chance(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(seed >> 8) * below >> 24);
}

/* A message that is nearly one, of types and arguments that mean something. */
static size_t nearly(uint32_t *words)
{
    uint32_t payload[PROTOCOL_PAYLOAD];
    size_t count = chance(4) ? chance(5) : chance(PROTOCOL_PAYLOAD + 1);
    for (size_t i = 0; i < count; i++)
        payload[i] = chance(3) ? chance(8) : chance(1 << 24) << 8;
    return firmware_talk_compose(words, chance(20), chance(6), payload, count);
}

static void test_garbage(void)
{
    uint32_t words[PROTOCOL_WORDS];
    uint8_t packet[64], setup[8];
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 60; i++) {
            size_t length;
            switch (chance(8)) {
            case 0:
                for (int k = 0; k < 64; k++)
                    packet[k] = (uint8_t)chance(256);
                firmware_device_out(d, packet, chance(65));
                break;
            case 1:
                firmware_device_bus_reset(d);
                firmware_device_plug(d);
                break;
            case 2:
                for (int k = 0; k < 8; k++)
                    setup[k] = (uint8_t)(chance(2) ? chance(4) : chance(256));
                firmware_device_setup(d, setup);
                break;
            default:
                length = nearly(words) * 4;
                for (size_t at = 0; at <= length; at += 64) {
                    size_t n = length - at < 64 ? length - at : 64;
                    firmware_device_out(d, (uint8_t *)words + at, n);
                    firmware_device_poll(d);
                    if (chance(2))
                        firmware_device_in(d, packet);
                }
            }
            firmware_device_poll(d);
        }
        /* As a host that begins: a plug, or the halt of both endpoints cleared. */
        if (round % 2) {
            firmware_device_plug(d);
        } else {
            firmware_device_request(d, 0, 9, 1, 0, 0, NULL);
            firmware_device_request(d, 0x02, 1, 0, BOARD_BULK_OUT, 0, NULL);
            firmware_device_request(d, 0x02, 1, 0, BOARD_BULK_IN, 0, NULL);
        }
        hello((uint32_t)round);
    }
}

static void run_all(void)
{
    RUN_TEST(test_hello);
    RUN_TEST(test_order);
    RUN_TEST(test_repetition);
    RUN_TEST(test_requests_in_flight);
    RUN_TEST(test_every_length);
    RUN_TEST(test_type_and_length);
    RUN_TEST(test_every_bit_flipped);
    RUN_TEST(test_truncated_and_prolonged);
    RUN_TEST(test_oversized);
    RUN_TEST(test_wrong_header);
    RUN_TEST(test_half_a_message);
    RUN_TEST(test_half_a_message_and_a_reset);
    RUN_TEST(test_garbage);
}

int main(void) { return firmware_twice(run_all); }
