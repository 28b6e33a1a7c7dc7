/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual USB host against a small device of its own kind (support/usb_bench.h): enumeration,
 * transfers of all lengths, NAK and STALL, frames, devices that misbehave. */
#include <stdlib.h>
#include <string.h>

#include "unity.h"
#include "usb_bench.h"

void setUp(void)
{
    bench_set_up();
}

void tearDown(void)
{
    bench_tear_down();
}

/* ---- enumeration and transfers ----------------------------------------------------------- */

static void test_a_device_is_enumerated(void)
{
    bench_start();
    TEST_ASSERT_EQUAL_HEX8_ARRAY(usb_device_descriptor, bench.bus.device, 18);
    TEST_ASSERT_EQUAL(sizeof usb_device_config, bench.bus.config_length);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(usb_device_config, bench.bus.config, sizeof usb_device_config);
    TEST_ASSERT_EQUAL_STRING("ordeal", bench.bus.strings[0]);
    TEST_ASSERT_EQUAL_STRING("test device", bench.bus.strings[1]);
    TEST_ASSERT_EQUAL_STRING("T-1", bench.bus.strings[2]);
    TEST_ASSERT_EQUAL(1, bench.bus.number);
    TEST_ASSERT_EQUAL(1, bench.device.configuration);
    TEST_ASSERT_NOT_EQUAL(0, bench.device.address);
    TEST_ASSERT_EQUAL(1, bench.device.resets);
    TEST_ASSERT_EQUAL(0, bench.device.dropped);
    const struct usb_host_statistics *s = usb_host_statistics(bench.host);
    TEST_ASSERT_EQUAL(12, s->turnaround_min); /* three bit times, as the device has it */
    TEST_ASSERT_EQUAL(12, s->turnaround_max);
    TEST_ASSERT_EQUAL(0, s->timeouts + s->damaged + s->flaws + s->given_up);
}

static void test_the_times_of_the_specification(void)
{
    bench.options.real_time = true;
    bench_plug_in();
    bench_milliseconds(99);
    TEST_ASSERT_EQUAL(USB_BUS_EMPTY, bench.bus.state);
    bench_milliseconds(50);
    TEST_ASSERT_TRUE(bench.device.in_reset);
    TEST_ASSERT_EQUAL(0, bench.device.sofs);
    bench_milliseconds(5);
    TEST_ASSERT_FALSE(bench.device.in_reset);
    TEST_ASSERT_INT_WITHIN(2, 4, bench.device.sofs);
    TEST_ASSERT_EQUAL(0, bench.device.setups);
    bench_wait_ready();
}

static void test_nothing_there(void)
{
    bench.device.attach = false;
    bench_plug_in();
    bench_milliseconds(20);
    struct usb_transfer t = { .endpoint = 1 };
    TEST_ASSERT_EQUAL(USB_BUS_EMPTY, bench.bus.state);
    TEST_ASSERT_FALSE(usb_bus_submit(&bench.bus, &t));
    TEST_ASSERT_FALSE(usb_host_submit(bench.host, &t));
    bench.device.attach = true;
    bench_wait_ready();
}

static void test_strings_and_status(void)
{
    static const uint8_t serial[] = { 8, 3, 'T', 0, '-', 0, '1', 0 };
    uint8_t bytes[255];
    uint32_t actual;
    bench_start();
    TEST_ASSERT_EQUAL(USB_OK, bench_control(0x80, 6, 0x0303, 0x0409, bytes, 255, &actual));
    TEST_ASSERT_EQUAL(sizeof serial, actual);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(serial, bytes, sizeof serial);
    TEST_ASSERT_EQUAL(USB_STALLED, bench_control(0x80, 6, 0x0304, 0x0409, bytes, 255, &actual));
    /* After a stall, too. */
    TEST_ASSERT_EQUAL(USB_OK, bench_control(0x80, 8, 0, 0, bytes, 1, &actual));
    TEST_ASSERT_EQUAL(1, bytes[0]);
}

static void test_control_of_all_lengths(void)
{
    static const uint16_t lengths[] = { 0, 1, 8, 63, 64, 65, 127, 128, 129, 1000, 2048 };
    uint8_t out[DEVICE_MEMORY], in[DEVICE_MEMORY];
    bench_start();
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint16_t length = lengths[i];
        uint32_t actual;
        bench_fill(out, length);
        TEST_ASSERT_EQUAL(USB_OK,
                          bench_control(0x40, DEVICE_VENDOR_OUT, 0, 0, out, length, &actual));
        TEST_ASSERT_EQUAL(length, actual);
        memset(in, 0, sizeof in);
        TEST_ASSERT_EQUAL(USB_OK, bench_control(0xc0, DEVICE_VENDOR_IN, 0, 0, in, length, &actual));
        TEST_ASSERT_EQUAL(length, actual);
        if (length)
            TEST_ASSERT_EQUAL_HEX8_ARRAY(out, in, length);
    }
    TEST_ASSERT_EQUAL(USB_STALLED, bench_control(0x40, 99, 0, 0, out, 100, NULL));
}

static void test_bulk_of_any_length(void)
{
    bench_start();
    bench_loop_back(3000, 40);
    TEST_ASSERT_EQUAL(0, bench.device.duplicates);
    TEST_ASSERT_EQUAL(0, usb_host_statistics(bench.host)->duplicates);
}

static void test_with_clocks_apart_and_jitter(void)
{
    bench.options.ppm = 2500;
    bench.options.jitter = 0.4;
    usb_device_init(&bench.device, -2500, 0.4, 3);
    bench_start();
    bench_loop_back(2000, 40);
    TEST_ASSERT_EQUAL(0, bench.device.dropped);
    const struct usb_host_statistics *s = usb_host_statistics(bench.host);
    TEST_ASSERT_EQUAL(0, s->timeouts + s->damaged);
}

static void test_nak_is_tried_for_ever(void)
{
    bench_start();
    bench.device.nak_percent = 80;
    bench_loop_back(1000, 10);
    TEST_ASSERT_GREATER_THAN(100, usb_host_statistics(bench.host)->naks);
    uint8_t out[500] = { 1 };
    TEST_ASSERT_EQUAL(USB_OK, bench_control(0x40, DEVICE_VENDOR_OUT, 0, 0, out, 500, NULL));
}

static void test_zero_packets(void)
{
    uint8_t bytes[128] = { 0 };
    bench_start();
    bench.device.sink = true;
    struct usb_transfer t = { .endpoint = 1, .buffer = bytes, .length = 128, .zero_packet = true };
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t));
    TEST_ASSERT_EQUAL(USB_OK, bench_finish(&t));
    TEST_ASSERT_EQUAL(128, t.actual);
    TEST_ASSERT_TRUE(bench.device.out.toggle);  /* three packets */
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(1, bytes, 0, NULL));
    TEST_ASSERT_FALSE(bench.device.out.toggle); /* four */
    t.length = 100;
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t));
    TEST_ASSERT_EQUAL(USB_OK, bench_finish(&t));
    TEST_ASSERT_FALSE(bench.device.out.toggle); /* six: nothing follows the short one */
}

static void test_short_and_too_much(void)
{
    uint8_t bytes[256];
    uint32_t actual;
    bench_start();
    bench_fill(bytes, sizeof bytes);
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(1, bytes, 100, NULL));
    struct usb_transfer t = {
        .endpoint = 0x81, .buffer = bytes, .length = 256, .short_not_ok = true
    };
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t));
    TEST_ASSERT_EQUAL(USB_SHORT, bench_finish(&t));
    TEST_ASSERT_EQUAL(100, t.actual);
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(1, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(USB_OVERFLOW, bench_bulk(0x81, bytes, 10, &actual));
    TEST_ASSERT_EQUAL(10, actual);
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(0x81, bytes, 64, &actual)); /* it was not acknowledged */
    bench.device.extra = 5;
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(1, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(USB_OVERFLOW, bench_bulk(0x81, bytes, 256, &actual));
}

static void test_stall_and_clear(void)
{
    uint8_t bytes[64] = { 0 };
    uint32_t actual;
    bench_start();
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(1, bytes, 64, NULL)); /* toggles are 1 now */
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(0x81, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(USB_OK, bench_control(2, 3, 0, 1, NULL, 0, NULL));
    TEST_ASSERT_EQUAL(USB_OK, bench_control(2, 3, 0, 0x81, NULL, 0, NULL));
    TEST_ASSERT_EQUAL(USB_STALLED, bench_bulk(1, bytes, 64, &actual));
    TEST_ASSERT_EQUAL(0, actual);
    TEST_ASSERT_EQUAL(USB_STALLED, bench_bulk(0x81, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(USB_OK, bench_control(2, 1, 0, 1, NULL, 0, NULL));
    TEST_ASSERT_EQUAL(USB_OK, bench_control(2, 1, 0, 0x81, NULL, 0, NULL));
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(1, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(0x81, bytes, 64, NULL));
    /* And a new configuration. */
    TEST_ASSERT_EQUAL(USB_OK, bench_control(0, 9, 1, 0, NULL, 0, NULL));
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(1, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(0x81, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(0, bench.device.duplicates);
}

static unsigned completed;
static struct usb_transfer *completed_last;

static void count_completed(struct usb_transfer *t)
{
    completed++;
    completed_last = t;
}

static void test_many_queued_and_some_cancelled(void)
{
    enum { MANY = 20 };
    static uint8_t bytes[MANY][200];
    struct usb_transfer out[MANY], in[MANY];
    bench_start();
    completed = 0;
    for (unsigned i = 0; i < MANY; i++) {
        bench_fill(bytes[i], 200);
        in[i] = (struct usb_transfer){ .endpoint = 0x81, .buffer = malloc(256), .length = 256,
                                       .complete = count_completed };
        TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &in[i]));
    }
    bench_milliseconds(1);
    usb_bus_cancel(&bench.bus, &in[0]); /* under way */
    usb_bus_cancel(&bench.bus, &in[7]);
    usb_bus_cancel(&bench.bus, &in[19]);
    TEST_ASSERT_EQUAL(0, completed); /* not before the next sample */
    bench_milliseconds(1);
    TEST_ASSERT_EQUAL(3, completed);
    usb_bus_cancel(&bench.bus, &in[7]); /* no more in the queue */
    for (unsigned i = 0; i < MANY; i++) {
        out[i] = (struct usb_transfer){ .endpoint = 1, .buffer = bytes[i], .length = 200 };
        TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &out[i]));
    }
    bench_milliseconds(20);
    uint32_t total = 0;
    for (unsigned i = 0; i < MANY; i++) {
        bool gone = i == 0 || i == 7 || i == 19;
        TEST_ASSERT_EQUAL(USB_OK, out[i].status);
        TEST_ASSERT_EQUAL(gone ? USB_CANCELLED : USB_OK, in[i].status == USB_PENDING ? USB_OK
                                                                                    : in[i].status);
        for (uint32_t k = 0; k < in[i].actual; k++, total++)
            TEST_ASSERT_EQUAL_HEX8(((uint8_t *)bytes)[total], in[i].buffer[k]);
    }
    TEST_ASSERT_EQUAL((MANY - 3) * 200, total);
    for (unsigned i = 0; i < MANY; i++)
        usb_bus_cancel(&bench.bus, &in[i]);
    bench_milliseconds(1);
    TEST_ASSERT_EQUAL(MANY, completed);
    for (unsigned i = 0; i < MANY; i++)
        free(in[i].buffer);
}

/* ---- frames ------------------------------------------------------------------------------ */

static void again(struct usb_transfer *t)
{
    completed++;
    if (t->status == USB_OK && !usb_bus_submit(&bench.bus, t))
        t->user = NULL;
}

/* A whole stream, without a pause: 19 packets a frame, SOFs to the sample, nothing across one. */
static void test_nineteen_packets_a_frame_in(void)
{
    static uint8_t bytes[4][4096];
    static struct usb_transfer t[4];
    bench.device.source = true;
    bench.device.turnaround = 26; /* 6.5 bit times, the most that is allowed */
    bench_start();
    bench_milliseconds(1);
    for (unsigned i = 0; i < 4; i++) {
        t[i] = (struct usb_transfer){ .endpoint = 0x81, .buffer = bytes[i], .length = 4096,
                                      .complete = again };
        TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t[i]));
    }
    bench_milliseconds(2);
    uint64_t before = bench.device.in_bytes, errors = bench.device.sof_errors;
    bench_milliseconds(50);
    TEST_ASSERT_EQUAL(19, usb_host_statistics(bench.host)->frame_packets);
    TEST_ASSERT_EQUAL(50 * 19 * 64, bench.device.in_bytes - before);
    TEST_ASSERT_EQUAL(errors, bench.device.sof_errors);
    TEST_ASSERT_EQUAL(0, bench.device.dropped);
    TEST_ASSERT_EQUAL(26, usb_host_statistics(bench.host)->turnaround_max);
}

static void test_nineteen_packets_a_frame_out(void)
{
    static uint8_t bytes[4][4096];
    static struct usb_transfer t[4];
    bench.device.sink = true;
    bench.device.turnaround = 26;
    bench_start();
    for (unsigned i = 0; i < 4; i++) {
        bench_fill(bytes[i], 4096);
        t[i] = (struct usb_transfer){ .endpoint = 1, .buffer = bytes[i], .length = 4096,
                                      .complete = again };
        TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t[i]));
    }
    bench_milliseconds(2);
    uint64_t before = bench.device.out_bytes, errors = bench.device.sof_errors;
    bench_milliseconds(50);
    TEST_ASSERT_EQUAL(50 * 19 * 64, bench.device.out_bytes - before);
    TEST_ASSERT_EQUAL(errors, bench.device.sof_errors);
}

/* All ones are stuffed most: fewer fit, and still none crosses a SOF. */
static void test_stuffed_packets_do_not_cross_a_frame(void)
{
    static uint8_t ones[4096];
    static struct usb_transfer t;
    t = (struct usb_transfer){ .endpoint = 1, .buffer = ones, .length = 4096, .complete = again };
    memset(ones, 0xff, sizeof ones);
    bench.device.sink = true;
    bench_start();
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t));
    bench_milliseconds(50);
    TEST_ASSERT_EQUAL(0, bench.device.sof_errors);
    TEST_ASSERT_EQUAL(0, bench.device.dropped);
    TEST_ASSERT_EQUAL(17, usb_host_statistics(bench.host)->frame_packets);
}

static void test_frame_numbers(void)
{
    bench_start();
    bench_milliseconds(1);
    uint32_t frame = bench.device.last_frame, count = bench.device.sofs;
    bench_milliseconds(2100);
    TEST_ASSERT_EQUAL(2100, bench.device.sofs - count);
    TEST_ASSERT_EQUAL((frame + 2100) % 2048, bench.device.last_frame);
    TEST_ASSERT_EQUAL(0, bench.device.sof_errors);
    TEST_ASSERT_EQUAL(0, bench.device.suspends);
}

/* ---- misbehaviour ------------------------------------------------------------------------ */

static void test_three_strikes(void)
{
    uint8_t bytes[64] = { 0 };
    bench_start();
    bench.device.silent = true;
    TEST_ASSERT_EQUAL(USB_FAILED, bench_bulk(1, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(3, usb_host_statistics(bench.host)->timeouts);
    TEST_ASSERT_EQUAL(USB_FAILED, bench_bulk(0x81, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(USB_FAILED, bench_control(0x80, 8, 0, 0, bytes, 1, NULL));
    bench.device.silent = false;
    TEST_ASSERT_EQUAL(USB_OK, bench_control(0x80, 8, 0, 0, bytes, 1, NULL));
    bench.device.damage = true;
    TEST_ASSERT_EQUAL(USB_FAILED, bench_control(0x80, 8, 0, 0, bytes, 1, NULL));
    TEST_ASSERT_EQUAL(3, usb_host_statistics(bench.host)->damaged);
    bench.device.damage = false;
    TEST_ASSERT_EQUAL(USB_OK, bench_control(0x80, 8, 0, 0, bytes, 1, NULL));
}

static void test_an_answer_that_is_late_is_none(void)
{
    uint8_t byte;
    bench_start();
    bench.device.turnaround = 19 * 4;
    TEST_ASSERT_EQUAL(USB_FAILED, bench_control(0x80, 8, 0, 0, &byte, 1, NULL));
    bench.device.turnaround = 16 * 4; /* late for a device, but within what a host waits */
    TEST_ASSERT_EQUAL(USB_OK, bench_control(0x80, 8, 0, 0, &byte, 1, NULL));
}

static void test_a_device_that_cannot_be_enumerated_is_left_alone(void)
{
    bench.device.deaf_descriptor = true;
    bench_plug_in();
    bench_milliseconds(100);
    TEST_ASSERT_EQUAL(USB_BUS_EMPTY, bench.bus.state);
    TEST_ASSERT_EQUAL(USB_BUS_TRIES, bench.device.resets);
    TEST_ASSERT_EQUAL_STRING("enumeration, first 8 bytes of the device descriptor: stalled; given "
                             "up after 16 resets and 80 requests that failed: 0 packets without an "
                             "answer, 0 damaged answers, 0 too long",
                             bench.bus.why);
    bench.device.deaf_descriptor = false;
    usb_host_plug(bench.host, false);
    bench_milliseconds(1);
    usb_host_plug(bench.host, true);
    bench_wait_ready();
}

/* The port is disabled when a device sends into a SOF; it is reset and goes on. */
static void test_endless_babble(void)
{
    uint8_t bytes[64];
    bench_start();
    bench.device.source = bench.device.endless = true;
    TEST_ASSERT_EQUAL(USB_ABORTED, bench_bulk(0x81, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(1, usb_host_statistics(bench.host)->babbles);
    bench.device.endless = false;
    bench.device.sender.count = 0;
    bench_wait_ready();
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(0x81, bytes, 64, NULL));
    TEST_ASSERT_EQUAL(1, bench.bus.number);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_device_is_enumerated);
    RUN_TEST(test_the_times_of_the_specification);
    RUN_TEST(test_nothing_there);
    RUN_TEST(test_strings_and_status);
    RUN_TEST(test_control_of_all_lengths);
    RUN_TEST(test_bulk_of_any_length);
    RUN_TEST(test_with_clocks_apart_and_jitter);
    RUN_TEST(test_nak_is_tried_for_ever);
    RUN_TEST(test_zero_packets);
    RUN_TEST(test_short_and_too_much);
    RUN_TEST(test_stall_and_clear);
    RUN_TEST(test_many_queued_and_some_cancelled);
    RUN_TEST(test_nineteen_packets_a_frame_in);
    RUN_TEST(test_nineteen_packets_a_frame_out);
    RUN_TEST(test_stuffed_packets_do_not_cross_a_frame);
    RUN_TEST(test_frame_numbers);
    RUN_TEST(test_three_strikes);
    RUN_TEST(test_an_answer_that_is_late_is_none);
    RUN_TEST(test_a_device_that_cannot_be_enumerated_is_left_alone);
    RUN_TEST(test_endless_babble);
    return UNITY_END();
}
