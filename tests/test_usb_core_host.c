/* SPDX-License-Identifier: Apache-2.0 */
/* The USB device core of rtl/board/ at the wires of the virtual host: enumeration, control and
 * bulk transfers, faults, resets, suspends and unplugs, a full bus. The firmware is here, and
 * speaks to the core's registers; each access takes the time that it takes on the bus. */
#include <stdlib.h>
#include <string.h>

#include "unity.h"
#include "usb_bus.h"
#include "wire_device.h"
#include "usb_random.h"
#include "usb_rig.h"

static struct usb_host *host;
static struct usb_bus bus;
static struct usb_core *core;
static struct usb_pins pins;
static struct usb_host_options options;
static struct usb_fault fault;
static uint64_t dice;

/* ---- firmware ---------------------------------------------------------------------------- */

static bool source;                  /* bulk IN counts up; else what came out goes in again */
static uint32_t number;
static uint8_t memory[2048];         /* of the vendor requests */
static uint8_t setup[8];
static const uint8_t *in_data;
static uint32_t in_left, out_expected, out_got, resets, suspends, resumes;
static bool in_toggle, new_address;

static void sample(void)
{
    pins = usb_core_sample(core, usb_host_sample(host, pins));
}

static uint32_t reg(bool write, uint32_t offset, uint32_t data)
{
    usb_core_access(core, write, offset, data);
    do
        sample();
    while (usb_core_busy(core));
    return usb_core_data(core);
}

static uint32_t get(uint32_t offset)
{
    return reg(false, offset, 0);
}

static void put(uint32_t offset, uint32_t data)
{
    reg(true, offset, data);
}

static void put_buffer(uint32_t offset, const uint8_t *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i += 4) {
        uint32_t word = 0;
        memcpy(&word, bytes + i, length - i < 4 ? length - i : 4);
        put(offset + i, word);
    }
}

static void get_buffer(uint32_t offset, uint8_t *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i += 4) {
        uint32_t word = get(offset + i);
        memcpy(bytes + i, &word, length - i < 4 ? length - i : 4);
    }
}

static void send_next(void)
{
    uint32_t size = in_left < 64 ? in_left : 64;
    put_buffer(BOARD_USB_EP0_IN_BUFFER, in_data, size);
    put(BOARD_USB_EP0_IN, size | BOARD_USB_ARM | (in_toggle ? BOARD_USB_TOGGLE : 0));
    in_data += size;
    in_left -= size;
    in_toggle = !in_toggle;
}

static void give(const void *bytes, uint32_t length)
{
    uint32_t wanted = setup[6] | (uint32_t)setup[7] << 8;
    in_data = bytes;
    in_left = length < wanted ? length : wanted;
    put(BOARD_USB_EP0_OUT, BOARD_USB_ARM); /* the status stage may come at any time */
    send_next();
}

static void accept(void)
{
    put(BOARD_USB_EP0_IN, BOARD_USB_ARM | BOARD_USB_TOGGLE); /* an empty packet */
}

static void take_setup(void)
{
    uint32_t words[2] = { get(BOARD_USB_SETUP0), get(BOARD_USB_SETUP1) };
    if (get(BOARD_USB_EVENTS) & BOARD_USB_EVENT_SETUP)
        return;                      /* there is a newer one */
    memcpy(setup, words, 8);
    in_toggle = true;
    in_left = out_expected = out_got = 0;
    new_address = false;
    switch (setup[0] << 8 | setup[1]) {
    case 0x8006:
        if (setup[3] == 1)
            give(usb_device_descriptor, sizeof usb_device_descriptor);
        else if (setup[3] == 2)
            give(usb_device_config, sizeof usb_device_config);
        else
            break;
        return;
    case 0x0005:
        new_address = true;
        accept();
        return;
    case 0x0009: case 0x0201:
        if (setup[1] == 9 || setup[4] == 0x01)
            put(BOARD_USB_OUT, BOARD_USB_CLEAR);
        if (setup[1] == 9 || setup[4] == 0x81)
            put(BOARD_USB_IN, BOARD_USB_CLEAR);
        accept();
        return;
    case 0x0203:
        put(setup[4] == 0x81 ? BOARD_USB_IN : BOARD_USB_OUT, BOARD_USB_STALL);
        accept();
        return;
    case 0x4000 | DEVICE_VENDOR_OUT:
        out_expected = setup[6] | (uint32_t)setup[7] << 8;
        if (out_expected > sizeof memory)
            break;
        if (out_expected)
            put(BOARD_USB_EP0_OUT, BOARD_USB_ARM);
        else
            accept();
        return;
    case 0xc000 | DEVICE_VENDOR_IN:
        give(memory, sizeof memory);
        return;
    }
    put(BOARD_USB_EP0_OUT, BOARD_USB_STALL);
    put(BOARD_USB_EP0_IN, BOARD_USB_STALL);
}

static void take_control_out(void)
{
    uint32_t size = get(BOARD_USB_EP0_OUT) & BOARD_USB_LENGTH;
    if (!out_expected)
        return;                      /* status */
    if (out_got + size <= out_expected)
        get_buffer(BOARD_USB_EP0_OUT_BUFFER, memory + out_got, size);
    out_got += size;
    if (out_got < out_expected)
        put(BOARD_USB_EP0_OUT, BOARD_USB_ARM);
    else
        accept();
}

static void control_sent(void)
{
    if (new_address) {
        put(BOARD_USB_ADDRESS, setup[2]);
        new_address = false;
    } else if (setup[0] & 0x80 && in_left) {
        send_next();
    }
}

static void move_bulk(void)
{
    uint8_t bytes[64];
    if (get(BOARD_USB_IN) & BOARD_USB_FULL)
        return;
    if (source) {
        for (uint32_t i = 0; i < 64; i += 4)
            put(BOARD_USB_IN_BUFFER + i, number++);
        put(BOARD_USB_IN, 64 | BOARD_USB_ARM);
        return;
    }
    uint32_t out = get(BOARD_USB_OUT), size = out & BOARD_USB_LENGTH;
    if (!(out & BOARD_USB_FULL))
        return;
    get_buffer(BOARD_USB_OUT_BUFFER, bytes, size);
    put(BOARD_USB_OUT, BOARD_USB_ARM);
    put_buffer(BOARD_USB_IN_BUFFER, bytes, size);
    put(BOARD_USB_IN, size | BOARD_USB_ARM);
}

static void firmware(void)
{
    uint32_t events = get(BOARD_USB_EVENTS);
    if (events)
        put(BOARD_USB_EVENTS, events);
    resets += events & BOARD_USB_EVENT_RESET ? 1 : 0;
    suspends += events & BOARD_USB_EVENT_SUSPEND ? 1 : 0;
    resumes += events & BOARD_USB_EVENT_RESUME ? 1 : 0;
    if (events & BOARD_USB_EVENT_RESET)
        number = 0;
    if (events & BOARD_USB_EVENT_SETUP) {
        take_setup();
    } else {
        if (events & BOARD_USB_EVENT_EP0_OUT)
            take_control_out();
        if (events & BOARD_USB_EVENT_EP0_IN)
            control_sent();
    }
    move_bulk();
}

/* ---- the host ---------------------------------------------------------------------------- */

static void milliseconds(unsigned count)
{
    uint64_t until = usb_host_now(host) + count * USB_SAMPLES_FRAME;
    while (usb_host_now(host) < until)
        firmware();
}

static void wait_ready(void)
{
    for (unsigned i = 0; i < 200 && bus.state != USB_BUS_READY; i++)
        milliseconds(1);
    TEST_ASSERT_EQUAL_MESSAGE(USB_BUS_READY, bus.state, bus.why);
}

static void start_at(uint32_t clock, double phase)
{
    host = usb_host_new(&options);
    usb_bus_init(&bus, host);
    core = usb_core_new(clock, phase);
    TEST_ASSERT_NOT_NULL(core);
    for (unsigned i = 0; i < 100; i++)
        sample();
    put(BOARD_USB_CONTROL, 1);
    wait_ready();
}

void setUp(void)
{
    options = (struct usb_host_options){ .gap = 0 };
    usb_fault_init(&fault, 5);
    pins = (struct usb_pins){ .oe = false };
    source = false;
    number = resets = suspends = resumes = 0;
    dice = 8;
    host = NULL;
    core = NULL;
}

void tearDown(void)
{
    if (core)
        TEST_ASSERT_NULL_MESSAGE(usb_core_assertion(core), usb_core_assertion(core));
    usb_host_free(host);
    usb_core_free(core);
}

static enum usb_status finish(struct usb_transfer *t)
{
    for (uint64_t until = usb_host_now(host) + 500 * USB_SAMPLES_FRAME;
         t->status == USB_PENDING && usb_host_now(host) < until; )
        firmware();
    TEST_ASSERT_NOT_EQUAL_MESSAGE(USB_PENDING, t->status, "no end within half a second");
    return t->status;
}

static enum usb_status bulk(uint8_t endpoint, uint8_t *bytes, uint32_t length, uint32_t *actual)
{
    struct usb_transfer t = { .endpoint = endpoint, .buffer = bytes, .length = length };
    TEST_ASSERT_TRUE(usb_bus_submit(&bus, &t));
    finish(&t);
    if (actual)
        *actual = t.actual;
    return t.status;
}

static enum usb_status control(uint8_t type, uint8_t request, uint16_t index, uint8_t *bytes,
                               uint16_t length)
{
    struct usb_transfer t = {
        .setup = { type, request, 0, 0, index & 0xff, index >> 8, length & 0xff, length >> 8 },
        .buffer = bytes, .length = length
    };
    TEST_ASSERT_TRUE(usb_bus_submit(&bus, &t));
    return finish(&t);
}

static void fill(uint8_t *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)usb_random(&dice);
}

/* Through the core and back; both directions at once, as it holds no more than four packets. */
static void loop_back(uint32_t most, unsigned count)
{
    uint8_t *out = malloc(most), *in = malloc(most + 64);
    for (unsigned i = 0; i < count; i++) {
        uint32_t length = 1 + (uint32_t)(usb_random(&dice) % most);
        struct usb_transfer o = { .endpoint = 1, .buffer = out, .length = length };
        uint32_t room = (length + 63) / 64 * 64;
        struct usb_transfer t = { .endpoint = 0x81, .buffer = in, .length = room };
        fill(out, length);
        TEST_ASSERT_TRUE(usb_bus_submit(&bus, &o));
        TEST_ASSERT_TRUE(usb_bus_submit(&bus, &t));
        TEST_ASSERT_EQUAL(USB_OK, finish(&o));
        TEST_ASSERT_EQUAL(USB_OK, finish(&t));
        TEST_ASSERT_EQUAL(length, t.actual);
        TEST_ASSERT_EQUAL_HEX8_ARRAY(out, in, length);
    }
    free(out);
    free(in);
}

static void loop_control(unsigned count)
{
    uint8_t out[300], in[300];
    for (unsigned i = 0; i < count; i++) {
        uint16_t length = (uint16_t)(usb_random(&dice) % sizeof out);
        fill(out, length);
        TEST_ASSERT_EQUAL(USB_OK, control(0x40, DEVICE_VENDOR_OUT, 0, out, length));
        TEST_ASSERT_EQUAL(USB_OK, control(0xc0, DEVICE_VENDOR_IN, 0, in, length));
        if (length)
            TEST_ASSERT_EQUAL_HEX8_ARRAY(out, in, length);
    }
}

/* ---- tests ------------------------------------------------------------------------------- */

static void test_enumeration(void)
{
    start_at(12000000, 0.3);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(usb_device_descriptor, bus.device, 18);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(usb_device_config, bus.config, sizeof usb_device_config);
    TEST_ASSERT_EQUAL(1, resets);
    const struct usb_host_statistics *s = usb_host_statistics(host);
    TEST_ASSERT_EQUAL(0, s->timeouts + s->damaged + s->flaws);
    TEST_ASSERT_TRUE(s->turnaround_min >= 2 * USB_SAMPLES_BIT && s->turnaround_max <= 26);
    TEST_ASSERT_EQUAL_HEX32(0, get(BOARD_USB_ERRORS));
}

static void test_all_transfers_at_several_clocks(void)
{
    static const uint32_t clocks[] = { 6000000, 12000000, 16500000, 48000000, 60000000 };
    for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        setUp();
        start_at(clocks[i], 0.1 * i);
        loop_back(700, 10);
        loop_control(5);
        uint8_t byte;
        TEST_ASSERT_EQUAL(USB_STALLED, control(0xc0, 99, 0, &byte, 1));
        loop_control(1);
        if (i < sizeof clocks / sizeof *clocks - 1)
            tearDown();
    }
}

static void test_clocks_apart_and_jitter(void)
{
    for (int ppm = -2500; ppm <= 2500; ppm += 5000) {
        setUp();
        options.ppm = ppm;
        options.jitter = 0.4;
        start_at(12000000, 0.7);
        loop_back(700, 20);
        loop_control(5);
        TEST_ASSERT_EQUAL_HEX32(0, get(BOARD_USB_ERRORS));
        TEST_ASSERT_EQUAL(0, usb_host_statistics(host)->timeouts);
        if (ppm < 0)
            tearDown();
    }
}

static void test_halt_and_clear(void)
{
    uint8_t bytes[64] = { 1 };
    start_at(12000000, 0);
    loop_back(100, 3);
    TEST_ASSERT_EQUAL(USB_OK, control(2, 3, 0x81, NULL, 0));
    TEST_ASSERT_EQUAL(USB_OK, control(2, 3, 0x01, NULL, 0));
    TEST_ASSERT_EQUAL(USB_STALLED, bulk(0x81, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(USB_STALLED, bulk(1, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(USB_OK, control(2, 1, 0x81, NULL, 0));
    TEST_ASSERT_EQUAL(USB_OK, control(2, 1, 0x01, NULL, 0));
    loop_back(300, 5);
}

static void again(struct usb_transfer *t)
{
    if (t->status == USB_OK)
        usb_bus_submit(&bus, t);
}

/* With a firmware that is fast enough nothing but the bus is the limit. */
static void test_a_full_bus(void)
{
    static uint8_t bytes[4][1024];
    static struct usb_transfer t[4];
    source = true;
    start_at(60000000, 0);
    for (unsigned i = 0; i < 4; i++) {
        t[i] = (struct usb_transfer){ .endpoint = 0x81, .buffer = bytes[i], .length = 1024,
                                      .complete = again };
        TEST_ASSERT_TRUE(usb_bus_submit(&bus, &t[i]));
    }
    milliseconds(2);
    const struct usb_host_statistics *now = usb_host_statistics(host), before = *now;
    milliseconds(10);
    uint64_t frames = now->frames - before.frames;
    TEST_ASSERT_EQUAL(19, now->frame_packets);
    TEST_ASSERT_GREATER_OR_EQUAL(frames * 18 * 64, now->bytes_in - before.bytes_in);
}

static void test_faults_of_packets(void)
{
    char why[200];
    options.fault = &fault;
    options.strikes = 20;
    start_at(12000000, 0.2);
    TEST_ASSERT_TRUE(usb_fault_parse(&fault, "all=0.02", why, sizeof why));
    loop_back(1000, 40);
    loop_control(20);
    TEST_ASSERT_EQUAL(0, usb_host_statistics(host)->given_up);
    TEST_ASSERT_GREATER_THAN(5, get(BOARD_USB_ERRORS) & 0xffff);
}

static void test_suspend_and_resume(void)
{
    start_at(12000000, 0);
    usb_host_suspend(host);
    milliseconds(5);
    TEST_ASSERT_EQUAL(1, suspends);
    TEST_ASSERT_TRUE(get(BOARD_USB_STATUS) & 2);
    usb_host_resume(host);
    milliseconds(3);
    TEST_ASSERT_EQUAL(1, resumes);
    TEST_ASSERT_EQUAL(1, resets);
    loop_back(300, 3);
}

static void test_unplug_and_plug(void)
{
    start_at(12000000, 0);
    for (unsigned i = 0; i < 3; i++) {
        usb_host_plug(host, false);
        milliseconds(4);
        TEST_ASSERT_EQUAL(USB_BUS_EMPTY, bus.state);
        usb_host_plug(host, true);
        wait_ready();
        loop_back(300, 2);
    }
    put(BOARD_USB_CONTROL, 0);       /* the device goes */
    milliseconds(1);
    TEST_ASSERT_EQUAL(USB_BUS_EMPTY, bus.state);
    put(BOARD_USB_CONTROL, 1);
    wait_ready();
    loop_control(2);
}

/* At any moment, also in the middle of a packet of either side. */
static void test_troubles_of_the_port(void)
{
    char why[200];
    uint8_t bytes[640];
    options.fault = &fault;
    fault.pause = USB_SAMPLES_FRAME / 2;
    source = true;
    start_at(12000000, 0.4);
    TEST_ASSERT_TRUE(usb_fault_parse(&fault, "reset=0.2,suspend=0.2,unplug=0.2,all=0.002", why,
                                     sizeof why));
    unsigned good = 0;
    for (unsigned i = 0; i < 150; i++) {
        wait_ready();
        struct usb_transfer t = { .endpoint = 0x81, .buffer = bytes, .length = sizeof bytes };
        if (usb_bus_submit(&bus, &t))
            good += finish(&t) == USB_OK;
    }
    TEST_ASSERT_GREATER_THAN(50, good);
    TEST_ASSERT_GREATER_THAN(3, fault.count[USB_FAULT_reset]);
    TEST_ASSERT_GREATER_THAN(3, fault.count[USB_FAULT_unplug]);
    memset(fault.rate, 0, sizeof fault.rate);
    milliseconds(10);
    wait_ready();
    source = false;
    TEST_ASSERT_EQUAL(USB_OK, control(0, 9, 0, NULL, 0)); /* what waits is dropped */
    loop_back(300, 5);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_enumeration);
    RUN_TEST(test_all_transfers_at_several_clocks);
    RUN_TEST(test_clocks_apart_and_jitter);
    RUN_TEST(test_halt_and_clear);
    RUN_TEST(test_a_full_bus);
    RUN_TEST(test_faults_of_packets);
    RUN_TEST(test_suspend_and_resume);
    RUN_TEST(test_unplug_and_plug);
    RUN_TEST(test_troubles_of_the_port);
    return UNITY_END();
}
