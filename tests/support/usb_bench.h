/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual USB host with the small device of tests plugged in: one for each test program. */
#ifndef TESTS_USB_BENCH_H
#define TESTS_USB_BENCH_H

#include "usb_bus.h"
#include "wire_device.h"

struct usb_bench {
    struct usb_host_options options; /* for bench_plug_in() */
    struct usb_fault fault;          /* not used unless options say so */
    struct usb_host *host;
    struct usb_bus bus;
    struct usb_device device;
    struct usb_pins pins;
    uint64_t dice;
};

extern struct usb_bench bench;

void bench_set_up(void);
void bench_tear_down(void);

void bench_plug_in(void);            /* makes host and bus */
void bench_wait_ready(void);         /* until the device is enumerated */
void bench_start(void);              /* both */
void bench_sample(void);
void bench_milliseconds(unsigned count);

/* All of these come back when it is done, within four seconds of the bus. */
enum usb_status bench_finish(struct usb_transfer *t);
enum usb_status bench_bulk(uint8_t endpoint, void *bytes, uint32_t length, uint32_t *actual);
enum usb_status bench_control(uint8_t type, uint8_t request, uint16_t value, uint16_t index,
                              void *bytes, uint16_t length, uint32_t *actual);

void bench_fill(uint8_t *bytes, uint32_t length); /* with chance */

/* So many transfers of up to `most` bytes through the device and back; all must be well. */
void bench_loop_back(uint32_t most, unsigned count);

#endif
