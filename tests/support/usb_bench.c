/* SPDX-License-Identifier: Apache-2.0 */
/* Host, bus and device of the tests, and the usual ways to use them. */
#include "usb_bench.h"

#include <stdlib.h>

#include "unity.h"
#include "usb_random.h"

struct usb_bench bench;

void bench_set_up(void)
{
    bench = (struct usb_bench){ .dice = 4 };
    usb_fault_init(&bench.fault, 1);
    usb_device_init(&bench.device, 0, 0, 1);
}

void bench_tear_down(void)
{
    usb_host_free(bench.host);
    bench.host = NULL;
}

void bench_sample(void)
{
    bench.pins = usb_device_sample(&bench.device, usb_host_sample(bench.host, bench.pins));
}

void bench_milliseconds(unsigned count)
{
    for (unsigned i = 0; i < count * USB_SAMPLES_FRAME; i++)
        bench_sample();
}

void bench_plug_in(void)
{
    bench.host = usb_host_new(&bench.options);
    TEST_ASSERT_NOT_NULL(bench.host);
    usb_bus_init(&bench.bus, bench.host);
}

void bench_wait_ready(void)
{
    for (unsigned i = 0; i < 400 && bench.bus.state != USB_BUS_READY; i++)
        bench_milliseconds(1);
    TEST_ASSERT_EQUAL_MESSAGE(USB_BUS_READY, bench.bus.state, bench.bus.why);
}

void bench_start(void)
{
    bench_plug_in();
    bench_wait_ready();
}

enum usb_status bench_finish(struct usb_transfer *t)
{
    for (unsigned i = 0; i < 4000 * USB_SAMPLES_FRAME && t->status == USB_PENDING; i++)
        bench_sample();
    TEST_ASSERT_NOT_EQUAL_MESSAGE(USB_PENDING, t->status, "no end within four seconds");
    return t->status;
}

enum usb_status bench_bulk(uint8_t endpoint, void *bytes, uint32_t length, uint32_t *actual)
{
    struct usb_transfer t = { .endpoint = endpoint, .buffer = bytes, .length = length };
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t));
    bench_finish(&t);
    if (actual)
        *actual = t.actual;
    return t.status;
}

enum usb_status bench_control(uint8_t type, uint8_t request, uint16_t value, uint16_t index,
                              void *bytes, uint16_t length, uint32_t *actual)
{
    struct usb_transfer t = {
        .setup = { type, request, value & 0xff, value >> 8, index & 0xff, index >> 8,
                   length & 0xff, length >> 8 },
        .buffer = bytes, .length = length
    };
    TEST_ASSERT_TRUE(usb_bus_submit(&bench.bus, &t));
    bench_finish(&t);
    if (actual)
        *actual = t.actual;
    return t.status;
}

void bench_fill(uint8_t *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)usb_random(&bench.dice);
}

/* What goes out comes back; a short packet ends a transfer. */
void bench_loop_back(uint32_t most, unsigned count)
{
    uint8_t *out = malloc(most), *in = malloc(most + 64);
    for (unsigned i = 0; i < count; i++) {
        uint32_t length = 1 + (uint32_t)(usb_random(&bench.dice) % most), actual = 0;
        bench_fill(out, length);
        TEST_ASSERT_EQUAL(USB_OK, bench_bulk(1, out, length, &actual));
        TEST_ASSERT_EQUAL(length, actual);
        uint32_t asked = length % 64 ? (length + 63) / 64 * 64 : length;
        TEST_ASSERT_EQUAL(USB_OK, bench_bulk(0x81, in, asked, &actual));
        TEST_ASSERT_EQUAL(length, actual);
        TEST_ASSERT_EQUAL_HEX8_ARRAY(out, in, length);
    }
    free(out);
    free(in);
}

