/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual USB host when things go wrong on the bus: faults of packets, resets, suspends and
 * unplugs at any moment, and how it gets over them; and the log of it all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- faults ------------------------------------------------------------------------------ */

static uint64_t injected(void)
{
    uint64_t all = 0;
    for (unsigned k = 0; k < USB_FAULT_KINDS; k++)
        all += bench.fault.count[k];
    return all;
}

static void test_each_fault_is_survived(void)
{
    const struct usb_host_statistics *s;
    for (enum usb_fault_kind k = 0; k < USB_FAULT_reset; k++) {
        setUp();
        bench.options.fault = &bench.fault;
        bench.options.strikes = 20;
        bench_start();
        bench.fault.rate[k] = 0.1;
        bench_loop_back(2000, 20);
        s = usb_host_statistics(bench.host);
        TEST_ASSERT_GREATER_THAN_MESSAGE(20, bench.fault.count[k], usb_fault_name(k));
        TEST_ASSERT_EQUAL(bench.fault.count[k], injected());
        if (k != USB_FAULT_lose_handshake && k != USB_FAULT_reset - 1)
            TEST_ASSERT_GREATER_THAN(0, bench.device.dropped + s->damaged + s->timeouts);
        if (k < USB_FAULT_reset - 1)
            tearDown();
    }
}

static void test_faults_of_all_kinds_together(void)
{
    char why[200];
    TEST_ASSERT_TRUE(usb_fault_parse(&bench.fault, "all=0.02", why, sizeof why));
    bench.options.fault = &bench.fault;
    bench.options.strikes = 20;
    bench.options.jitter = 0.4;
    usb_device_init(&bench.device, 1000, 0.4, 9);
    bench_start();
    bench.device.nak_percent = 20;
    bench_loop_back(3000, 60);
    uint8_t out[500], in[500];
    for (unsigned i = 0; i < 20; i++) {
        bench_fill(out, 500);
        TEST_ASSERT_EQUAL(USB_OK, bench_control(0x40, DEVICE_VENDOR_OUT, 0, 0, out, 500, NULL));
        TEST_ASSERT_EQUAL(USB_OK, bench_control(0xc0, DEVICE_VENDOR_IN, 0, 0, in, 500, NULL));
        TEST_ASSERT_EQUAL_HEX8_ARRAY(out, in, 500);
    }
    TEST_ASSERT_GREATER_THAN(0, bench.device.duplicates);
    TEST_ASSERT_GREATER_THAN(0, usb_host_statistics(bench.host)->duplicates);
    TEST_ASSERT_EQUAL(0, usb_host_statistics(bench.host)->given_up);
}

/* As an operating system does it, requests go again, and then the port is reset and all begins
 * anew. */
static void test_enumeration_goes_on_until_it_is_done(void)
{
    static const char *const faults[] = { "shorten=0.2", "lengthen=0.2", "all=0.05" };
    for (uint64_t i = 0; i < 15; i++) {
        char why[200];
        setUp();
        usb_fault_init(&bench.fault, i);
        TEST_ASSERT_TRUE(usb_fault_parse(&bench.fault, faults[i % 3], why, sizeof why));
        bench.options.fault = &bench.fault;
        bench_start();
        if (i < 14)
            tearDown();
    }
}

/* When nothing helps it says what was tried, and when the cable is pulled that. */
static void test_enumeration_in_vain(void)
{
    char why[200];
    TEST_ASSERT_TRUE(usb_fault_parse(&bench.fault, "lose_in=1", why, sizeof why));
    bench.options.fault = &bench.fault;
    bench_plug_in();
    bench_milliseconds(200);
    TEST_ASSERT_TRUE(bench.bus.given_up);
    TEST_ASSERT_NULL(usb_bus_waits_for(&bench.bus));
    TEST_ASSERT_EQUAL_STRING(
        "enumeration, first 8 bytes of the device descriptor: failed; given up "
        "after 16 resets and 80 requests that failed: 240 packets without an "
        "answer, 0 damaged answers, 0 too long",
        bench.bus.why);
    usb_host_plug(bench.host, false);
    bench_milliseconds(1);
    TEST_ASSERT_FALSE(bench.bus.given_up);
    usb_host_plug(bench.host, true);
    for (int i = 0; i < 1000000 && !usb_bus_waits_for(&bench.bus); i++)
        bench_sample();
    usb_host_plug(bench.host, false);
    bench_milliseconds(1);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(bench.bus.why, "unplugged meanwhile"), bench.bus.why);
}

static void test_the_same_seed_gives_the_same_bus(void)
{
    struct usb_host_statistics first;
    uint64_t when = 0;
    for (unsigned round = 0; round < 2; round++) {
        setUp();
        char why[200];
        TEST_ASSERT_TRUE(usb_fault_parse(&bench.fault, "all=0.05,lose_out=0", why, sizeof why));
        bench.options.fault = &bench.fault;
        bench.options.strikes = 20;
        bench_start();
        bench_loop_back(1000, 10);
        TEST_ASSERT_EQUAL(0, bench.fault.count[USB_FAULT_lose_out]);
        if (round == 0) {
            first = *usb_host_statistics(bench.host);
            when = usb_host_now(bench.host);
            tearDown();
        }
    }
    TEST_ASSERT_EQUAL(when, usb_host_now(bench.host));
    TEST_ASSERT_EQUAL_MEMORY(&first, usb_host_statistics(bench.host), sizeof first);
}

static void test_faults_are_named_by_people(void)
{
    char why[300] = "";
    TEST_ASSERT_TRUE(usb_fault_parse(&bench.fault, "damage_in=0.25,unplug=1", why, sizeof why));
    TEST_ASSERT_TRUE(bench.fault.rate[USB_FAULT_damage_in] == 0.25);
    TEST_ASSERT_TRUE(bench.fault.rate[USB_FAULT_unplug] == 1);
    TEST_ASSERT_TRUE(bench.fault.rate[USB_FAULT_lose_in] == 0);
    TEST_ASSERT_FALSE(usb_fault_parse(&bench.fault, "lose_in=0.5,damage=0.5", why, sizeof why));
    TEST_ASSERT_EQUAL_STRING("'damage' is no kind of fault; there are: all, damage_out, damage_in, "
                             "lose_out, lose_in, lose_handshake, shorten, lengthen, reset, "
                             "suspend, unplug", why);
    TEST_ASSERT_TRUE(bench.fault.rate[USB_FAULT_lose_in] == 0); /* all of it, or nothing */
    static const char *const bad[] = {
        "", "unplug", "unplug=", "unplug=2", "unplug=-1", "unplug=nan", "unplug=0.1x",
        "unplug=0.1,", "=1"
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        TEST_ASSERT_FALSE_MESSAGE(usb_fault_parse(&bench.fault, bad[i], why, sizeof why), bad[i]);
}

/* ---- the port ---------------------------------------------------------------------------- */

static void test_reset_while_transfers_wait(void)
{
    uint8_t in[64], out[64];
    bench_start();
    struct usb_transfer t = { .endpoint = 0x81, .buffer = in, .length = 64 }, late = t;
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t));
    bench_milliseconds(1);
    usb_bus_reset(&bench.bus);
    bench_sample();
    TEST_ASSERT_EQUAL(USB_ABORTED, t.status);
    TEST_ASSERT_EQUAL(USB_BUS_AGAIN, bench.bus.state);
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &late)); /* waits */
    struct usb_transfer cancelled = { .endpoint = 1, .buffer = out, .length = 64 };
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &cancelled));
    usb_bus_cancel(&bench.bus, &cancelled);
    bench_wait_ready();
    TEST_ASSERT_EQUAL(2, bench.device.resets);
    TEST_ASSERT_EQUAL(1, bench.bus.number); /* the same device */
    TEST_ASSERT_EQUAL(1, bench.device.configuration);
    TEST_ASSERT_EQUAL(USB_CANCELLED, cancelled.status);
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(1, out, 64, NULL));
    TEST_ASSERT_EQUAL(USB_OK, bench_finish(&late));
}

static void test_suspend_and_resume(void)
{
    uint8_t byte = 0;
    bench_start();
    usb_host_suspend(bench.host);
    bench_milliseconds(2);
    TEST_ASSERT_FALSE(bench.device.suspended);
    bench_milliseconds(3);
    TEST_ASSERT_TRUE(bench.device.suspended);
    uint32_t sofs = bench.device.sofs;
    struct usb_transfer t = { .endpoint = 1, .buffer = &byte, .length = 1 };
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t));
    bench_milliseconds(20);
    TEST_ASSERT_EQUAL(USB_PENDING, t.status);
    TEST_ASSERT_EQUAL(sofs, bench.device.sofs);
    usb_host_resume(bench.host);
    bench_milliseconds(3);
    TEST_ASSERT_EQUAL(USB_OK, t.status);
    TEST_ASSERT_EQUAL(1, bench.device.suspends);
    TEST_ASSERT_EQUAL(1, bench.device.resumes);
    TEST_ASSERT_EQUAL(1, bench.device.resets); /* SE0 at its end is no reset */
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(0x81, &byte, 1, NULL));
}

static unsigned told, told_ready;

static void changed(void *user, bool ready)
{
    TEST_ASSERT_EQUAL_PTR(&bench.bus, user);
    told++;
    told_ready += ready;
}

static void test_unplug_and_plug(void)
{
    uint8_t byte;
    bench_plug_in();
    told = told_ready = 0;
    bench.bus.changed = changed;
    bench.bus.user = &bench.bus;
    bench_wait_ready();
    TEST_ASSERT_EQUAL(1, told_ready);
    struct usb_transfer t = { .endpoint = 0x81, .buffer = &byte, .length = 1 };
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t));
    usb_host_plug(bench.host, false);
    bench_milliseconds(4);
    TEST_ASSERT_EQUAL(USB_GONE, t.status);
    TEST_ASSERT_EQUAL(2, told);
    TEST_ASSERT_EQUAL(USB_BUS_EMPTY, bench.bus.state);
    TEST_ASSERT_FALSE(usb_bus_submit(&bench.bus, &t));
    TEST_ASSERT_TRUE(bench.device.suspended); /* an idle line is all that it sees */
    usb_host_plug(bench.host, true);
    bench_wait_ready();
    TEST_ASSERT_EQUAL(2, bench.bus.number);
    TEST_ASSERT_EQUAL(2, told_ready);
    bench.device.attach = false; /* the device goes by itself */
    bench_milliseconds(1);
    TEST_ASSERT_EQUAL(USB_BUS_EMPTY, bench.bus.state);
    TEST_ASSERT_EQUAL(4, told);
    bench.device.attach = true;
    bench_wait_ready();
    TEST_ASSERT_EQUAL(3, bench.bus.number);
}

/* At any moment of a transfer. */
static void test_troubles_of_the_port(void)
{
    char why[200];
    uint8_t bytes[640];
    bench.options.fault = &bench.fault;
    bench.fault.pause = USB_SAMPLES_FRAME;
    bench_start();
    TEST_ASSERT_TRUE(usb_fault_parse(&bench.fault, "reset=0.05,suspend=0.05,unplug=0.02", why,
                                     sizeof why));
    bench.device.source = true;
    unsigned good = 0;
    for (unsigned i = 0; i < 400; i++) {
        struct usb_transfer t = { .endpoint = 0x81, .buffer = bytes, .length = 640 };
        bench_wait_ready();
        if (!usb_bus_submit(&bench.bus, &t))
            continue;
        enum usb_status status = bench_finish(&t);
        TEST_ASSERT_TRUE(status == USB_OK || status == USB_ABORTED || status == USB_GONE
                         || status == USB_FAILED);
        good += status == USB_OK;
        bench_milliseconds(1);
    }
    TEST_ASSERT_GREATER_THAN(200, good);
    TEST_ASSERT_GREATER_THAN(5, bench.fault.count[USB_FAULT_reset]);
    TEST_ASSERT_GREATER_THAN(5, bench.fault.count[USB_FAULT_suspend]);
    TEST_ASSERT_GREATER_THAN(2, bench.fault.count[USB_FAULT_unplug]);
    memset(bench.fault.rate, 0, sizeof bench.fault.rate);
    bench_milliseconds(20);
    bench_wait_ready();
    TEST_ASSERT_EQUAL(USB_OK, bench_bulk(0x81, bytes, 640, NULL));
}

/* ---- the log ----------------------------------------------------------------------------- */

static char *logged(const char *suffix, size_t *length)
{
    char path[] = "/tmp/test-usb-XXXXXX.....";
    char *text = calloc(1, 1 << 20);
    strcpy(path + 20, suffix);
    close(mkstemps(path, (int)strlen(suffix)));
    bench.options.log = usb_log_open(path);
    TEST_ASSERT_NOT_NULL(bench.options.log);
    usb_log_sofs(bench.options.log, true);
    bench_start();
    TEST_ASSERT_TRUE(usb_log_close(bench.options.log));
    FILE *f = fopen(path, "r");
    *length = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    unlink(path);
    usb_host_free(bench.host);
    bench.host = NULL;
    return text;
}

static void test_a_log_for_people(void)
{
    size_t length;
    char *text = logged(".log", &length);
    TEST_ASSERT_NOT_NULL(strstr(text, "  # connected\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "  host    SETUP  address 0 endpoint 0\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "  host    DATA0  8 bytes  80 06 00 01  00 00 08 00\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "  device  DATA1  8 bytes  12 01 00 02  ff 00 00 40\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "  device  ACK\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "  host    SOF  frame 2\n"));
    free(text);
}

static void test_a_log_for_wireshark(void)
{
    static const uint8_t head[24] = {
        0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0x26, 1, 0, 0
    };
    size_t length, at = 24, packets = 0;
    char *bytes = logged(".pcap", &length);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(head, bytes, 24);
    while (at < length) {
        uint32_t record[4];
        struct usb_packet p;
        memcpy(record, bytes + at, 16);
        TEST_ASSERT_TRUE(record[1] < 1000000000 && record[2] == record[3]);
        TEST_ASSERT_TRUE(record[2] <= USB_PACKET_MAX && at + 16 + record[2] <= length);
        p.length = record[2];
        memcpy(p.bytes, bytes + at + 16, p.length);
        TEST_ASSERT_TRUE(usb_packet_good(&p));
        at += 16 + record[2];
        packets++;
    }
    TEST_ASSERT_GREATER_THAN(40, packets);
    free(bytes);
}

static void test_a_log_that_cannot_be_written(void)
{
    TEST_ASSERT_NULL(usb_log_open("/no/such/directory/usb.log"));
    struct usb_log *log = usb_log_open("/dev/full");
    TEST_ASSERT_NOT_NULL(log);
    usb_log_event(log, 1, "something");
    TEST_ASSERT_FALSE(usb_log_close(log));
    char folder[] = "/tmp/test-usb-log-XXXXXX", pipe[64];
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    TEST_ASSERT_EQUAL(0, mkfifo(pipe, 0600));
    log = usb_log_open(pipe); /* nobody reads it */
    int error = errno;
    unlink(pipe);
    rmdir(folder);
    TEST_ASSERT_NULL(log);
    TEST_ASSERT_EQUAL(ENXIO, error);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_each_fault_is_survived);
    RUN_TEST(test_faults_of_all_kinds_together);
    RUN_TEST(test_enumeration_goes_on_until_it_is_done);
    RUN_TEST(test_enumeration_in_vain);
    RUN_TEST(test_the_same_seed_gives_the_same_bus);
    RUN_TEST(test_faults_are_named_by_people);
    RUN_TEST(test_reset_while_transfers_wait);
    RUN_TEST(test_suspend_and_resume);
    RUN_TEST(test_unplug_and_plug);
    RUN_TEST(test_troubles_of_the_port);
    RUN_TEST(test_a_log_for_people);
    RUN_TEST(test_a_log_for_wireshark);
    RUN_TEST(test_a_log_that_cannot_be_written);
    return UNITY_END();
}
