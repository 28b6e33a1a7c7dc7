/* SPDX-License-Identifier: Apache-2.0 */
/* A session with a board in memory: what the tests of the test runner begin with. */
#ifndef SUPPORT_FIRMWARE_SESSION_H
#define SUPPORT_FIRMWARE_SESSION_H

#include <string.h>

#include "firmware_talk.h"
#include "unity.h"

enum { MODEL_TSO = 1, WINDOW = 300 };

static struct firmware_device *d;
static struct firmware_message m;
static uint32_t number, run;

static void begin(uint32_t window)
{
    struct firmware_board board = firmware_board_usual;
    uint32_t version = PROTOCOL_VERSION;
    board.window = window;
    firmware_device_free(d);
    d = firmware_device_new(&board);
    firmware_device_plug(d);
    number = 100;
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_HELLO, number, &version, 1));
}

void setUp(void)
{
    begin(WINDOW);
}

void tearDown(void)
{
    firmware_device_free(d);
    d = NULL;
}

/* Asks, and expects this status. */
static void ask(uint32_t status, uint32_t type, const uint32_t *payload, size_t count)
{
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, type, ++number, payload, count));
    TEST_ASSERT_EQUAL_HEX32(type | PROTOCOL_ANSWER, m.type);
    TEST_ASSERT_EQUAL_UINT32(number, m.number);
    TEST_ASSERT_EQUAL_UINT32(status, m.status);
}

#define ASK(status, type, ...) \
    ask(status, type, (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4)

static void reset(void)
{
    ASK(STATUS_OK, PROTOCOL_RESET, MODEL_TSO, 1);
    TEST_ASSERT_EQUAL_UINT32(1, m.count);
    run = m.payload[0];
}

static struct protocol_state state(void)
{
    struct protocol_state s;
    ask(STATUS_OK, PROTOCOL_STATE, NULL, 0);
    TEST_ASSERT_EQUAL_UINT32(sizeof s / 4, m.count);
    memcpy(&s, m.payload, sizeof s);
    return s;
}

static void acknowledge(uint32_t words, uint32_t flags)
{
    uint32_t payload[] = { run, words, flags };
    TEST_ASSERT_TRUE(firmware_talk_send(d, PROTOCOL_ACK, 0, payload, 3));
    firmware_device_poll(d);
}

static uint32_t value(uint32_t place) { return place * 2654435761u ^ 0x5a5a; }

static void capture(uint32_t from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word = value(from + i);
        firmware_device_captures(d, &word, 1);
    }
}

/* The next message is this piece of the stream. */
static void is_stream(uint32_t place, uint32_t words, uint32_t flags)
{
    TEST_ASSERT_TRUE(firmware_talk_receive(d, &m));
    TEST_ASSERT_EQUAL_UINT32(PROTOCOL_CAPTURE, m.type);
    TEST_ASSERT_EQUAL_UINT32(0, m.status);
    TEST_ASSERT_EQUAL_UINT32(3 + words, m.count);
    TEST_ASSERT_EQUAL_UINT32(run, m.payload[0]);
    TEST_ASSERT_EQUAL_UINT32(place, m.payload[1]);
    TEST_ASSERT_EQUAL_UINT32(flags, m.payload[2]);
    for (uint32_t i = 0; i < words; i++)
        TEST_ASSERT_EQUAL_HEX32(value(place + i), m.payload[3 + i]);
}

#endif
