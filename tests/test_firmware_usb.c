/* SPDX-License-Identifier: Apache-2.0 */
/* The board as a USB device, by packets of a host: descriptors field by field, every standard
 * request and how each may be wrong, transfers that are cut short or overtaken, reset, suspend
 * and halt at any moment. */
#include <stdlib.h>
#include <string.h>

#include "firmware_talk.h"
#include "firmware_twice.h"
#include "unity.h"

static struct firmware_device *d;
static uint8_t data[1024];

void setUp(void)
{
    d = firmware_device_new(NULL);
}

void tearDown(void)
{
    firmware_device_free(d);
}

static int ask(uint32_t type, uint32_t request, uint32_t value, uint32_t index, uint32_t length)
{
    memset(data, 0xee, sizeof data);
    return firmware_device_request(d, type, request, value, index, length, data);
}

static int descriptor(uint32_t type, uint32_t index, uint32_t length)
{
    return ask(0x80, 6, type << 8 | index, 0, length);
}

static uint32_t half(const uint8_t *p) { return p[0] | p[1] << 8; }

static void stalls(uint32_t type, uint32_t request, uint32_t value, uint32_t index, uint32_t length)
{
    char message[80];
    snprintf(message, sizeof message, "%02x %02x value %04x index %04x length %u", (unsigned)type,
             (unsigned)request, (unsigned)value, (unsigned)index, (unsigned)length);
    TEST_ASSERT_EQUAL_INT_MESSAGE(DEVICE_STALL, ask(type, request, value, index, length), message);
}

/* ---- descriptors ---------------------------------------------------------------------------- */

static void test_device_descriptor(void)
{
    TEST_ASSERT_EQUAL_INT(18, descriptor(1, 0, 255));
    TEST_ASSERT_EQUAL_UINT8(18, data[0]);
    TEST_ASSERT_EQUAL_UINT8(1, data[1]);
    TEST_ASSERT_EQUAL_HEX16(0x0201, half(data + 2)); /* from 2.1 on hosts ask for the BOS */
    TEST_ASSERT_EQUAL_UINT8(0, data[4]);
    TEST_ASSERT_EQUAL_UINT8(0, data[5]);
    TEST_ASSERT_EQUAL_UINT8(0, data[6]);
    TEST_ASSERT_EQUAL_UINT8(64, data[7]);
    TEST_ASSERT_EQUAL_HEX16(BOARD_VENDOR, half(data + 8));
    TEST_ASSERT_EQUAL_HEX16(BOARD_PRODUCT, half(data + 10));
    TEST_ASSERT_EQUAL_HEX16(PROTOCOL_VERSION << 8, half(data + 12));
    TEST_ASSERT_EQUAL_UINT8(1, data[14]);
    TEST_ASSERT_EQUAL_UINT8(2, data[15]);
    TEST_ASSERT_EQUAL_UINT8(3, data[16]);
    TEST_ASSERT_EQUAL_UINT8(1, data[17]);
}

static void test_configuration_descriptor(void)
{
    int length = descriptor(2, 0, 255);
    TEST_ASSERT_EQUAL_INT(32, length);
    TEST_ASSERT_EQUAL_UINT8(9, data[0]);
    TEST_ASSERT_EQUAL_UINT8(2, data[1]);
    TEST_ASSERT_EQUAL_UINT16(length, half(data + 2));
    TEST_ASSERT_EQUAL_UINT8(1, data[4]);            /* interfaces */
    TEST_ASSERT_EQUAL_UINT8(1, data[5]);            /* the value to set */
    TEST_ASSERT_EQUAL_HEX8(0x80, data[7] & 0x9f);   /* reserved bits of the attributes */
    TEST_ASSERT_TRUE(data[8] * 2 <= 500);
    const uint8_t *interface = data + 9;
    TEST_ASSERT_EQUAL_UINT8(9, interface[0]);
    TEST_ASSERT_EQUAL_UINT8(4, interface[1]);
    TEST_ASSERT_EQUAL_UINT8(0, interface[2]);
    TEST_ASSERT_EQUAL_UINT8(0, interface[3]);
    TEST_ASSERT_EQUAL_UINT8(2, interface[4]);
    TEST_ASSERT_EQUAL_HEX8(0xff, interface[5]);
    static const uint8_t addresses[] = { BOARD_BULK_OUT, BOARD_BULK_IN };
    for (int i = 0; i < 2; i++) {
        const uint8_t *endpoint = data + 18 + 7 * i;
        TEST_ASSERT_EQUAL_UINT8(7, endpoint[0]);
        TEST_ASSERT_EQUAL_UINT8(5, endpoint[1]);
        TEST_ASSERT_EQUAL_HEX8(addresses[i], endpoint[2]);
        TEST_ASSERT_EQUAL_UINT8(2, endpoint[3]);    /* bulk */
        TEST_ASSERT_EQUAL_UINT16(64, half(endpoint + 4));
    }
}

static void is_string(uint32_t index, const char *text)
{
    int length = ask(0x80, 6, 3 << 8 | index, 0x0409, 255);
    TEST_ASSERT_EQUAL_INT(2 + 2 * strlen(text), length);
    TEST_ASSERT_EQUAL_UINT8(length, data[0]);
    TEST_ASSERT_EQUAL_UINT8(3, data[1]);
    for (size_t i = 0; text[i]; i++)
        TEST_ASSERT_EQUAL_HEX16(text[i], half(data + 2 + 2 * i));
}

static void test_strings(void)
{
    TEST_ASSERT_EQUAL_INT(4, descriptor(3, 0, 255));
    TEST_ASSERT_EQUAL_HEX16(0x0409, half(data + 2));
    is_string(1, "ordeal");
    is_string(2, "ordeal, multiprocessor on trial");
    is_string(3, "b0a2d001"); /* PARAM_SERIAL */
    stalls(0x80, 6, 3 << 8 | 4, 0x0409, 255);
    stalls(0x80, 6, 3 << 8 | 0xee, 0, 18);
}

static const char registered[21] = "DeviceInterfaceGUIDs";
static const uint8_t platform[16] = { 0xdf, 0x60, 0xdd, 0xd8, 0x89, 0x45, 0xc7, 0x4c, 0x9c, 0xd2,
                                      0x65, 0x9d, 0x9e, 0x64, 0x8a, 0x9f };

/* As Windows goes about it: the BOS tells request and length of the set, whose parts add up. */
static void test_microsoft_descriptors(void)
{
    int length = descriptor(15, 0, 5);
    TEST_ASSERT_EQUAL_INT(5, length);
    length = descriptor(15, 0, half(data + 2));
    TEST_ASSERT_EQUAL_INT(33, length);
    TEST_ASSERT_EQUAL_UINT8(5, data[0]);
    TEST_ASSERT_EQUAL_UINT8(15, data[1]);
    TEST_ASSERT_EQUAL_UINT8(1, data[4]);
    const uint8_t *capability = data + 5;
    TEST_ASSERT_EQUAL_UINT8(28, capability[0]);
    TEST_ASSERT_EQUAL_UINT8(16, capability[1]);
    TEST_ASSERT_EQUAL_UINT8(5, capability[2]);
    TEST_ASSERT_EQUAL_UINT8(0, capability[3]);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(platform, capability + 4, 16);
    TEST_ASSERT_EQUAL_HEX16(0x0000, half(capability + 20));
    TEST_ASSERT_EQUAL_HEX16(0x0603, half(capability + 22));
    uint32_t total = half(capability + 24), code = capability[26];
    TEST_ASSERT_EQUAL_UINT8(VENDOR_MICROSOFT, code);
    TEST_ASSERT_EQUAL_UINT8(0, capability[27]);

    TEST_ASSERT_EQUAL_INT(total, ask(0xc0, code, 0, 7, total));
    TEST_ASSERT_EQUAL_UINT16(10, half(data));
    TEST_ASSERT_EQUAL_UINT16(0, half(data + 2));
    TEST_ASSERT_EQUAL_HEX16(0x0603, half(data + 6));
    TEST_ASSERT_EQUAL_UINT16(total, half(data + 8));
    uint32_t at = 10, features = 0;
    for (; at < total; at += half(data + at)) {
        uint32_t size = half(data + at), type = half(data + at + 2);
        TEST_ASSERT_TRUE(size >= 4 && at + size <= total);
        if (type == 3) {
            TEST_ASSERT_EQUAL_UINT32(20, size);
            TEST_ASSERT_EQUAL_MEMORY("WINUSB\0\0\0\0\0\0\0\0\0\0", data + at + 4, 16);
            features |= 1;
        } else {
            TEST_ASSERT_EQUAL_UINT32(4, type);
            TEST_ASSERT_EQUAL_UINT32(7, half(data + at + 4));   /* REG_MULTI_SZ */
            uint32_t name = half(data + at + 6), value = half(data + at + 8 + name);
            TEST_ASSERT_EQUAL_UINT32(size, 10 + name + value);
            TEST_ASSERT_EQUAL_UINT32(42, name);
            for (uint32_t i = 0; i < sizeof registered; i++)
                TEST_ASSERT_EQUAL_UINT32(registered[i], half(data + at + 8 + 2 * i));
            const uint8_t *guid = data + at + 10 + name;
            TEST_ASSERT_EQUAL_UINT32(2 * (38 + 2), value);
            TEST_ASSERT_EQUAL_UINT8('{', guid[0]);
            TEST_ASSERT_EQUAL_UINT8('}', guid[2 * 37]);
            TEST_ASSERT_EQUAL_UINT32(0, half(guid + 2 * 38) | half(guid + 2 * 39));
            features |= 2;
        }
    }
    TEST_ASSERT_EQUAL_UINT32(total, at);
    TEST_ASSERT_EQUAL_UINT32(3, features);
    stalls(0xc0, code, 0, 8, 64);
    stalls(0xc0, code, 1, 7, 64);
    stalls(0x40, code, 0, 7, 0);
}

static void test_version(void)
{
    TEST_ASSERT_EQUAL_INT(4, ask(0xc0, VENDOR_VERSION, 0, 0, 4));
    TEST_ASSERT_EQUAL_UINT32(PROTOCOL_VERSION, half(data));
    stalls(0xc0, 99, 0, 0, 4);
}

static void test_no_such_descriptor(void)
{
    stalls(0x80, 6, 6 << 8, 0, 10);     /* device qualifier: this is all the speed there is */
    stalls(0x80, 6, 7 << 8, 0, 9);      /* other speed */
    stalls(0x80, 6, 2 << 8 | 1, 0, 9);
    stalls(0x80, 6, 1 << 8 | 1, 0, 18);
    stalls(0x80, 6, 0, 0, 18);
    stalls(0x80, 6, 0xff00, 0, 18);
    stalls(0x81, 6, 1 << 8, 0, 18);     /* not of an interface */
}

/* ---- lengths -------------------------------------------------------------------------------- */

static void test_no_more_than_asked_for(void)
{
    for (uint32_t length = 0; length <= 18; length++)
        TEST_ASSERT_EQUAL_INT(length, descriptor(1, 0, length));
    TEST_ASSERT_EQUAL_INT(8, descriptor(1, 0, 8)); /* the first of all, by many hosts */
    for (uint32_t length = 1; length < 200; length++) {
        int total = length < 162 ? (int)length : 162;
        TEST_ASSERT_EQUAL_INT(total, ask(0xc0, VENDOR_MICROSOFT, 0, 7, length));
        TEST_ASSERT_EQUAL_HEX8(0xee, data[total]);
    }
}

/* Three packets, and one that is empty where the answer ends with a full one before its time: the
 * host would wait for more. */
static void test_empty_packet_ends_an_answer(void)
{
    static const uint8_t setup[2][8] = {
        { 0xc0, VENDOR_MICROSOFT, 0, 0, 7, 0, 128, 0 }, { 0x80, 6, 2, 3, 9, 4, 255, 0 }
    };
    uint8_t packet[64];
    bool data1;
    firmware_device_setup(d, setup[0]);
    firmware_device_poll(d);
    for (int i = 0; i < 2; i++) { /* exactly what was asked for: nothing follows */
        TEST_ASSERT_EQUAL_INT(64, firmware_device_ep0_in(d, packet, &data1));
        TEST_ASSERT_EQUAL(i == 0, data1);
        firmware_device_poll(d);
    }
    TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_ep0_in(d, packet, &data1));
    TEST_ASSERT_EQUAL_INT(0, firmware_device_ep0_out(d, NULL, 0));

    firmware_device_setup(d, setup[1]); /* the product's name has 64 bytes: less than that */
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(64, firmware_device_ep0_in(d, packet, &data1));
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(0, firmware_device_ep0_in(d, packet, &data1));
    TEST_ASSERT_FALSE(data1);
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_ep0_in(d, packet, &data1));
}

static void test_toggles_and_status_of_a_long_answer(void)
{
    static const uint8_t setup[8] = { 0xc0, VENDOR_MICROSOFT, 0, 0, 7, 0, 255, 0 };
    static const int lengths[] = { 64, 64, 34 };
    uint8_t packet[64];
    bool data1;
    firmware_device_setup(d, setup);
    TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_ep0_in(d, packet, &data1));
    for (int i = 0; i < 3; i++) {
        firmware_device_poll(d);
        TEST_ASSERT_EQUAL_INT(lengths[i], firmware_device_ep0_in(d, packet, &data1));
        TEST_ASSERT_EQUAL(i % 2 == 0, data1);
    }
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(0, firmware_device_ep0_out(d, NULL, 0));
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_ep0_in(d, packet, &data1));
}

static void test_host_may_have_enough_at_any_time(void)
{
    static const uint8_t setup[8] = { 0xc0, VENDOR_MICROSOFT, 0, 0, 7, 0, 255, 0 };
    uint8_t packet[64];
    bool data1;
    firmware_device_setup(d, setup);
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(64, firmware_device_ep0_in(d, packet, &data1));
    TEST_ASSERT_EQUAL_INT(0, firmware_device_ep0_out(d, NULL, 0));
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(18, descriptor(1, 0, 18));
}

/* ---- states --------------------------------------------------------------------------------- */

static void test_address_after_the_status_stage(void)
{
    static const uint8_t setup[8] = { 0, 5, 42, 0, 0, 0, 0, 0 };
    uint8_t packet[64];
    bool data1;
    firmware_device_bus_reset(d);
    firmware_device_setup(d, setup);
    for (int i = 0; i < 5; i++)
        firmware_device_poll(d);
    TEST_ASSERT_EQUAL_UINT32(0, firmware_device_address(d));
    TEST_ASSERT_EQUAL_INT(0, firmware_device_ep0_in(d, packet, &data1));
    TEST_ASSERT_TRUE(data1);
    TEST_ASSERT_EQUAL_UINT32(0, firmware_device_address(d));
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_UINT32(42, firmware_device_address(d));
    firmware_device_bus_reset(d);
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_UINT32(0, firmware_device_address(d));
    stalls(0, 5, 128, 0, 0);
    stalls(0, 5, 1, 1, 0);
    stalls(0, 5, 1, 0, 1);
}

/* Another request instead of the status stage: the address is not taken. */
static void test_address_is_forgotten_by_the_next_request(void)
{
    static const uint8_t setup[8] = { 0, 5, 42, 0, 0, 0, 0, 0 };
    firmware_device_setup(d, setup);
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(18, descriptor(1, 0, 18));
    firmware_device_setup(d, setup);
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(0, ask(0, 9, 1, 0, 0)); /* this one's status stage is not that one's */
    TEST_ASSERT_EQUAL_UINT32(0, firmware_device_address(d));
}

static void test_configuration(void)
{
    TEST_ASSERT_EQUAL_INT(1, ask(0x80, 8, 0, 0, 1));
    TEST_ASSERT_EQUAL_UINT8(0, data[0]);
    TEST_ASSERT_EQUAL_INT(0, ask(0, 9, 1, 0, 0));
    TEST_ASSERT_EQUAL_INT(1, ask(0x80, 8, 0, 0, 1));
    TEST_ASSERT_EQUAL_UINT8(1, data[0]);
    stalls(0, 9, 2, 0, 0);
    stalls(0, 9, 1, 1, 0);
    stalls(0, 9, 1, 0, 1);
    stalls(0x80, 8, 1, 0, 1);
    TEST_ASSERT_EQUAL_INT(0, ask(0, 9, 0, 0, 0));
    TEST_ASSERT_EQUAL_INT(1, ask(0x80, 8, 0, 0, 1));
    TEST_ASSERT_EQUAL_UINT8(0, data[0]);
    firmware_device_plug(d);
    firmware_device_bus_reset(d);
    TEST_ASSERT_EQUAL_INT(1, ask(0x80, 8, 0, 0, 1));
    TEST_ASSERT_EQUAL_UINT8(0, data[0]);
}

static void test_interface(void)
{
    stalls(0x81, 10, 0, 0, 1);
    stalls(0x01, 11, 0, 0, 0);
    stalls(0x81, 0, 0, 0, 2);
    firmware_device_plug(d);
    TEST_ASSERT_EQUAL_INT(1, ask(0x81, 10, 0, 0, 1));
    TEST_ASSERT_EQUAL_UINT8(0, data[0]);
    TEST_ASSERT_EQUAL_INT(0, ask(0x01, 11, 0, 0, 0));
    TEST_ASSERT_EQUAL_INT(2, ask(0x81, 0, 0, 0, 2));
    TEST_ASSERT_EQUAL_UINT16(0, half(data));
    stalls(0x81, 10, 0, 1, 1);
    stalls(0x01, 11, 1, 0, 0);
    stalls(0x01, 11, 0, 1, 0);
    stalls(0x01, 11, 0, 0, 4);
    stalls(0x81, 0, 0, 1, 2);
    stalls(0x81, 0, 1, 0, 2);
}

static void test_status(void)
{
    TEST_ASSERT_EQUAL_INT(2, ask(0x80, 0, 0, 0, 2));
    TEST_ASSERT_EQUAL_UINT16(0, half(data));
    TEST_ASSERT_EQUAL_INT(2, ask(0x82, 0, 0, 0, 2));
    TEST_ASSERT_EQUAL_INT(2, ask(0x82, 0, 0, 0x80, 2));
    stalls(0x82, 0, 0, BOARD_BULK_IN, 2);  /* not configured */
    stalls(0x80, 0, 1, 0, 2);
    stalls(0x80, 0, 0, 1, 2);
    firmware_device_plug(d);
    TEST_ASSERT_EQUAL_INT(2, ask(0x82, 0, 0, BOARD_BULK_IN, 2));
    TEST_ASSERT_EQUAL_INT(2, ask(0x82, 0, 0, BOARD_BULK_OUT, 2));
    stalls(0x82, 0, 0, 0x02, 2);
    stalls(0x82, 0, 0, 0x82, 2);
    stalls(0x82, 0, 1, BOARD_BULK_IN, 2);
}

static void test_halt(void)
{
    uint8_t packet[64];
    stalls(0x02, 3, 0, BOARD_BULK_IN, 0);
    firmware_device_plug(d);
    static const uint32_t endpoints[] = { BOARD_BULK_OUT, BOARD_BULK_IN };
    for (int i = 0; i < 2; i++) {
        TEST_ASSERT_EQUAL_INT(0, ask(0x02, 3, 0, endpoints[i], 0));
        TEST_ASSERT_EQUAL_INT(2, ask(0x82, 0, 0, endpoints[i], 2));
        TEST_ASSERT_EQUAL_UINT16(1, half(data));
        TEST_ASSERT_EQUAL_INT(2, ask(0x82, 0, 0, endpoints[1 - i], 2));
        TEST_ASSERT_EQUAL_UINT16(0, half(data));
        TEST_ASSERT_EQUAL_INT(DEVICE_STALL, i ? firmware_device_in(d, packet)
                                              : firmware_device_out(d, packet, 3));
        TEST_ASSERT_EQUAL_INT(0, ask(0x02, 1, 0, endpoints[i], 0));
        TEST_ASSERT_EQUAL_INT(2, ask(0x82, 0, 0, endpoints[i], 2));
        TEST_ASSERT_EQUAL_UINT16(0, half(data));
        TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_in(d, packet));
    }
    TEST_ASSERT_EQUAL_INT(0, ask(0x02, 1, 0, 0, 0));
    stalls(0x02, 3, 0, 0, 0);
    stalls(0x02, 3, 1, BOARD_BULK_IN, 0);
    stalls(0x02, 1, 1, BOARD_BULK_IN, 0);
    stalls(0x02, 1, 0, 0x03, 0);
    stalls(0x00, 3, 1, 0, 0);   /* remote wake-up */
    stalls(0x00, 3, 2, 0x100, 0); /* test mode */
    stalls(0x00, 1, 1, 0, 0);
}

/* What came, was to go, or was half there when an endpoint is reset is gone; all else goes on. */
static void test_halt_with_messages_on_their_way(void)
{
    struct firmware_message m;
    uint32_t echo[100] = { 1, 2, 3 }, version = PROTOCOL_VERSION;
    firmware_device_plug(d);
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_HELLO, 7, &version, 1));
    TEST_ASSERT_EQUAL_INT(64, firmware_device_out(d, echo, 64));
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(0, ask(0x02, 1, 0, BOARD_BULK_OUT, 0));
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_ECHO, 8, echo, 100));
    TEST_ASSERT_EQUAL_UINT32(100, m.count);

    TEST_ASSERT_TRUE(firmware_talk_send(d, PROTOCOL_ECHO, 9, echo, 100));
    firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(64, firmware_device_in(d, data));
    TEST_ASSERT_EQUAL_INT(0, ask(0x02, 1, 0, BOARD_BULK_IN, 0));
    TEST_ASSERT_FALSE(firmware_talk_receive(d, &m));
    TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_ECHO, 9, echo, 100));
    TEST_ASSERT_EQUAL_UINT32(9, m.number);
}

static void test_everything_else_stalls(void)
{
    firmware_device_plug(d);
    stalls(0x00, 7, 1 << 8, 0, 18); /* SET_DESCRIPTOR */
    stalls(0x82, 12, 0, BOARD_BULK_IN, 2); /* SYNCH_FRAME */
    stalls(0x21, 0x22, 0, 0, 0);
    stalls(0xa1, 0x21, 0, 0, 7);
    stalls(0x40, 1, 0, 0, 100);     /* data that nobody wants */
    uint32_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        uint8_t setup[8];
        for (int k = 0; k < 8; k++)
            setup[k] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
        setup[7] &= 1; /* room in data */
        if (setup[0] == 0x00 && (setup[1] == 5 || setup[1] == 9))
            continue;
        TEST_ASSERT_NOT_EQUAL(DEVICE_SILENT, firmware_device_control(d, setup, data));
    }
    TEST_ASSERT_EQUAL_INT(18, descriptor(1, 0, 18));
}

/* ---- at any moment -------------------------------------------------------------------------- */

/* A host that gives up a request and begins another one, in whichever stage. */
static void test_setup_overtakes_a_transfer(void)
{
    static const uint8_t first[][8] = {
        { 0xc0, VENDOR_MICROSOFT, 0, 0, 7, 0, 255, 0 }, { 0, 5, 3, 0, 0, 0, 0, 0 },
        { 0, 7, 0, 0, 0, 0, 9, 0 }, { 0, 9, 1, 0, 0, 0, 0, 0 }
    };
    uint8_t packet[64];
    bool data1;
    for (size_t i = 0; i < sizeof first / 8; i++)
        for (int polls = 0; polls < 3; polls++)
            for (int packets = 0; packets < 3; packets++) {
                firmware_device_bus_reset(d);
                firmware_device_setup(d, first[i]);
                for (int k = 0; k < polls; k++)
                    firmware_device_poll(d);
                for (int k = 0; k < packets; k++) {
                    firmware_device_ep0_in(d, packet, &data1);
                    firmware_device_poll(d);
                }
                TEST_ASSERT_EQUAL_INT(18, descriptor(1, 0, 255));
                TEST_ASSERT_EQUAL_UINT8(18, data[0]);
            }
}

/* The same between any two accesses to registers, by a SETUP, a reset, or both. */
struct overtaking {
    uint64_t at;
    const uint8_t *setup;
    bool resets;
};

static void overtake(void *context, struct firmware_device *device)
{
    struct overtaking *o = context;
    if (firmware_device_accesses(device) == o->at) {
        if (o->resets)
            firmware_device_bus_reset(device);
        if (o->setup)
            firmware_device_setup(device, o->setup);
    }
}

static void test_setup_overtakes_between_accesses(void)
{
    static const uint8_t first[][8] = {
        { 0xc0, VENDOR_MICROSOFT, 0, 0, 7, 0, 255, 0 }, { 0, 5, 3, 0, 0, 0, 0, 0 },
        { 0x80, 6, 0, 6, 0, 0, 9, 0 }, { 0, 9, 1, 0, 0, 0, 0, 0 }
    };
    static const uint8_t second[8] = { 0x80, 6, 0, 1, 0, 0, 255, 0 };
    static const uint8_t expected[8] = { 18, 1, 0x01, 0x02, 0, 0, 0, 64 };
    for (size_t i = 0; i < sizeof first / 8; i++)
        for (uint64_t at = 1; at < 60; at++)
            for (int kind = 1; kind < 4; kind++) {
                struct overtaking o = { firmware_device_accesses(d) + at,
                                        kind & 1 ? second : NULL, kind & 2 };
                firmware_device_watch(d, overtake, &o);
                firmware_device_setup(d, first[i]);
                uint8_t packet[64];
                bool data1 = false;
                int length = DEVICE_NAK;
                while (firmware_device_accesses(d) < o.at)
                    firmware_device_poll(d);
                for (int k = 0; k < 3; k++)
                    firmware_device_poll(d);
                if (kind & 1) {
                    length = firmware_device_ep0_in(d, packet, &data1);
                    TEST_ASSERT_EQUAL_INT(18, length);
                    TEST_ASSERT_TRUE(data1);
                    TEST_ASSERT_EQUAL_HEX8_ARRAY(expected, packet, 8);
                }
                firmware_device_watch(d, NULL, NULL);
                TEST_ASSERT_EQUAL_UINT32(0, firmware_device_address(d));
                TEST_ASSERT_EQUAL_INT(18, descriptor(1, 0, 18));
                firmware_device_bus_reset(d);
            }
}

/* Half of one request and half of another would make a third, which nobody sent. */
static void test_requests_are_not_mixed(void)
{
    static const uint8_t first[8] = { 0, 9, 0, 0, 1, 0, 0, 0 };     /* stalls for its index */
    static const uint8_t second[8] = { 0x80, 8, 0, 0, 0, 0, 0, 0 };
    for (uint64_t at = 1; at < 20; at++) {
        firmware_device_plug(d);
        struct overtaking o = { firmware_device_accesses(d) + at, second, false };
        firmware_device_watch(d, overtake, &o);
        firmware_device_setup(d, first);
        while (firmware_device_accesses(d) < o.at)
            firmware_device_poll(d);
        for (int k = 0; k < 3; k++)
            firmware_device_poll(d);
        firmware_device_watch(d, NULL, NULL);
        TEST_ASSERT_EQUAL_INT(1, ask(0x80, 8, 0, 0, 1));
        TEST_ASSERT_EQUAL_UINT8(1, data[0]);
    }
}

static void test_suspend_and_resume(void)
{
    struct firmware_message m;
    uint32_t version = PROTOCOL_VERSION;
    firmware_device_plug(d);
    for (int i = 0; i < 3; i++) {
        firmware_device_suspend(d, true);
        for (int k = 0; k < 10; k++)
            firmware_device_poll(d);
        firmware_device_suspend(d, false);
        TEST_ASSERT_TRUE(firmware_talk_ask(d, &m, PROTOCOL_HELLO, 7, &version, 1));
        TEST_ASSERT_EQUAL_INT(1, ask(0x80, 8, 0, 0, 1));
        TEST_ASSERT_EQUAL_UINT8(1, data[0]);
    }
}

static void test_nothing_is_taken_before_configuration(void)
{
    uint8_t packet[64] = { 0 };
    firmware_device_bus_reset(d);
    firmware_device_out(d, packet, 4);
    firmware_device_out(d, packet, 4);
    for (int i = 0; i < 10; i++)
        firmware_device_poll(d);
    TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_out(d, packet, 4));
    TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_in(d, packet));
    TEST_ASSERT_EQUAL_INT(0, ask(0, 9, 1, 0, 0));
    TEST_ASSERT_EQUAL_INT(DEVICE_NAK, firmware_device_in(d, packet)); /* they were dropped */
}

static void test_attaches(void)
{
    TEST_ASSERT_TRUE(firmware_device_attached(d));
    for (int i = 0; i < 3; i++) {
        TEST_ASSERT_EQUAL_UINT32(12000000 / 8, firmware_device_watchdog(d));
        firmware_device_poll(d);
    }
}

static void run_all(void)
{
    RUN_TEST(test_device_descriptor);
    RUN_TEST(test_configuration_descriptor);
    RUN_TEST(test_strings);
    RUN_TEST(test_microsoft_descriptors);
    RUN_TEST(test_version);
    RUN_TEST(test_no_such_descriptor);
    RUN_TEST(test_no_more_than_asked_for);
    RUN_TEST(test_empty_packet_ends_an_answer);
    RUN_TEST(test_toggles_and_status_of_a_long_answer);
    RUN_TEST(test_host_may_have_enough_at_any_time);
    RUN_TEST(test_address_after_the_status_stage);
    RUN_TEST(test_address_is_forgotten_by_the_next_request);
    RUN_TEST(test_configuration);
    RUN_TEST(test_interface);
    RUN_TEST(test_status);
    RUN_TEST(test_halt);
    RUN_TEST(test_halt_with_messages_on_their_way);
    RUN_TEST(test_everything_else_stalls);
    RUN_TEST(test_setup_overtakes_a_transfer);
    RUN_TEST(test_setup_overtakes_between_accesses);
    RUN_TEST(test_requests_are_not_mixed);
    RUN_TEST(test_suspend_and_resume);
    RUN_TEST(test_nothing_is_taken_before_configuration);
    RUN_TEST(test_attaches);
}

int main(void) { return firmware_twice(run_all); }
