/* SPDX-License-Identifier: Apache-2.0 */
/* See usb_rig.h. */
#include "usb_rig.h"

#include <stdio.h>
#include <string.h>

#include "unity.h"

enum {
    BIT = USB_SAMPLES_BIT,
    TURNAROUND_MIN = 2 * BIT, TURNAROUND_MAX = 13 * BIT / 2, /* USB 2.0, 7.1.18 */
    PATIENCE = 18 * BIT,
    ACCESS_MAX = 200                 /* samples for an access to a register */
};

static void step(struct usb_rig *r)
{
    enum usb_line was = r->line;
    enum usb_line level;
    if (!r->forced && usb_sender_step(&r->sender, &level))
        r->host = (struct usb_pins){ .oe = true, .dp = level & USB_J, .dn = (level & USB_K) != 0 };
    else if (!r->forced)
        r->host = (struct usb_pins){ 0 };
    r->line = usb_line(r->host, r->device);
    if (r->host.oe && r->device.oe)
        r->collisions++;
    enum usb_line seen = r->line;
    if (r->late_dn)
        seen = (enum usb_line)((r->line & USB_J) | (was & USB_K));
    r->device = usb_core_sample(r->core, seen);
    r->now++;
    bool from_device = r->device.oe && !r->host.oe;
    if (usb_receiver_step(&r->receiver, r->line, r->now) && !from_device && r->host.oe)
        r->host_end = r->now;
}

void usb_rig_step(struct usb_rig *r, uint32_t samples)
{
    while (samples--)
        step(r);
}

static void wait_access(struct usb_rig *r, uint32_t offset)
{
    char message[64];
    snprintf(message, sizeof message, "no end of an access to %03x", (unsigned)offset);
    for (unsigned i = 0; usb_core_busy(r->core); i++) {
        if (i == ACCESS_MAX)
            TEST_FAIL_MESSAGE(message);
        step(r);
    }
}

uint32_t usb_rig_read(struct usb_rig *r, uint32_t offset)
{
    usb_core_access(r->core, false, offset, 0);
    wait_access(r, offset);
    return usb_core_data(r->core);
}

void usb_rig_write(struct usb_rig *r, uint32_t offset, uint32_t data)
{
    usb_core_access(r->core, true, offset, data);
    wait_access(r, offset);
}

uint32_t usb_rig_events(struct usb_rig *r)
{
    uint32_t events = usb_rig_read(r, BOARD_USB_EVENTS);
    usb_rig_write(r, BOARD_USB_EVENTS, events);
    return events;
}

void usb_rig_fill(struct usb_rig *r, uint32_t offset, const uint8_t *bytes, uint32_t length)
{
    for (uint32_t at = 0; at < length; at += 4) {
        uint32_t word = 0;
        memcpy(&word, bytes + at, length - at < 4 ? length - at : 4);
        usb_rig_write(r, offset + at, word);
    }
}

void usb_rig_compare(struct usb_rig *r, uint32_t offset, const uint8_t *bytes, uint32_t length)
{
    uint8_t got[68];
    for (uint32_t at = 0; at < length; at += 4) {
        uint32_t word = usb_rig_read(r, offset + at);
        memcpy(got + at, &word, 4);
    }
    if (length)
        TEST_ASSERT_EQUAL_HEX8_ARRAY(bytes, got, length);
}

void usb_rig_give(struct usb_rig *r, const uint8_t *bytes, uint32_t length)
{
    usb_rig_fill(r, BOARD_USB_IN_BUFFER, bytes, length);
    usb_rig_write(r, BOARD_USB_IN, length | BOARD_USB_ARM);
}

/* ---- wires ------------------------------------------------------------------------------- */

void usb_rig_drive(struct usb_rig *r, enum usb_line line, uint32_t samples)
{
    r->sender.count = 0;
    r->forced = true;
    r->host = (struct usb_pins){ .oe = true, .dp = line & USB_J, .dn = (line & USB_K) != 0 };
    usb_rig_step(r, samples);
    r->forced = false;
    r->host = (struct usb_pins){ 0 };
}

void usb_rig_bus_reset(struct usb_rig *r)
{
    usb_rig_drive(r, USB_SE0, 1000);
    usb_rig_step(r, 100);
    r->address = 0;
}

void usb_rig_open(struct usb_rig *r, uint32_t clock, double phase, double ppm, double jitter,
              uint64_t seed)
{
    memset(r, 0, sizeof *r);
    r->core = usb_core_new(clock, phase);
    TEST_ASSERT_NOT_NULL(r->core);
    r->turnaround_min = UINT32_MAX;
    usb_sender_init(&r->sender, ppm, jitter, seed);
    usb_receiver_init(&r->receiver);
    usb_rig_step(r, 50);
    TEST_ASSERT_FALSE(r->device.pullup);
    usb_rig_write(r, BOARD_USB_CONTROL, 1);
    TEST_ASSERT_TRUE(r->device.pullup);
    usb_rig_step(r, 100);
    usb_rig_bus_reset(r);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_RESET, usb_rig_events(r));
}

void usb_rig_close(struct usb_rig *r)
{
    const char *assertion = usb_core_assertion(r->core);
    TEST_ASSERT_NULL_MESSAGE(assertion, assertion);
    if (!r->contention)
        TEST_ASSERT_EQUAL_MESSAGE(0, r->collisions, "samples in which both sides drove");
    usb_core_free(r->core);
    r->core = NULL;
}

/* ---- packets ----------------------------------------------------------------------------- */

void usb_rig_finish(struct usb_rig *r)
{
    if (usb_sender_busy(&r->sender))
        r->host_end = 0;
    while (usb_sender_busy(&r->sender))
        step(r);
    r->host = (struct usb_pins){ 0 };
    if (!r->host_end)
        r->host_end = r->now;
}

void usb_rig_send(struct usb_rig *r, const struct usb_packet *p)
{
    usb_sender_start(&r->sender, p->bytes, p->length);
    usb_rig_finish(r);
}

static void breathe(struct usb_rig *r)
{
    usb_rig_step(r, 2 * BIT);
}

void usb_rig_token(struct usb_rig *r, enum usb_pid pid, uint32_t endpoint)
{
    struct usb_packet p;
    usb_packet_token(&p, pid, r->address, endpoint);
    usb_rig_send(r, &p);
}

void usb_rig_data(struct usb_rig *r, bool toggle, const void *data, uint32_t length)
{
    struct usb_packet p;
    usb_packet_data(&p, toggle, data, length);
    usb_rig_send(r, &p);
}

void usb_rig_handshake(struct usb_rig *r, enum usb_pid pid)
{
    struct usb_packet p;
    usb_packet_handshake(&p, pid);
    usb_rig_send(r, &p);
    breathe(r);
}

int usb_rig_answer(struct usb_rig *r)
{
    uint64_t until = r->now + PATIENCE;
    while (!r->device.oe && r->now < until)
        step(r);
    if (!r->device.oe)
        return NOTHING;
    unsigned j = 0;
    while (r->device.oe) {
        j = usb_pins_line(r->device) == USB_J ? j + 1 : 0;
        step(r);
    }
    step(r);
    TEST_ASSERT_EQUAL_MESSAGE(BIT, j, "samples of J at the end of an answer");
    TEST_ASSERT_FALSE(r->receiver.active);
    TEST_ASSERT_EQUAL_HEX32_MESSAGE(0, r->receiver.flaws, "flaws of an answer");
    uint32_t turnaround = (uint32_t)(r->receiver.begin - r->host_end);
    if (turnaround < TURNAROUND_MIN || turnaround > TURNAROUND_MAX) {
        char message[64];
        snprintf(message, sizeof message, "turnaround is %u samples", (unsigned)turnaround);
        TEST_FAIL_MESSAGE(message);
    }
    r->turnaround_min = turnaround < r->turnaround_min ? turnaround : r->turnaround_min;
    r->turnaround_max = turnaround > r->turnaround_max ? turnaround : r->turnaround_max;
    r->answer = r->receiver.packet;
    TEST_ASSERT_TRUE_MESSAGE(usb_packet_good(&r->answer), "an answer is damaged");
    breathe(r);
    return r->answer.bytes[0];
}

int usb_rig_setup(struct usb_rig *r, const uint8_t setup[8])
{
    usb_rig_token(r, USB_PID_SETUP, 0);
    breathe(r);
    usb_rig_data(r, false, setup, 8);
    return usb_rig_answer(r);
}

int usb_rig_out(struct usb_rig *r, uint32_t endpoint, bool toggle, const void *data,
                uint32_t length)
{
    usb_rig_token(r, USB_PID_OUT, endpoint);
    breathe(r);
    usb_rig_data(r, toggle, data, length);
    return usb_rig_answer(r);
}

int usb_rig_in(struct usb_rig *r, uint32_t endpoint)
{
    usb_rig_token(r, USB_PID_IN, endpoint);
    return usb_rig_answer(r);
}

void usb_rig_ack(struct usb_rig *r)
{
    usb_rig_handshake(r, USB_PID_ACK);
}

void usb_rig_expect(struct usb_rig *r, bool toggle, const void *data, uint32_t length)
{
    TEST_ASSERT_EQUAL_HEX8(toggle ? USB_PID_DATA1 : USB_PID_DATA0, r->answer.bytes[0]);
    TEST_ASSERT_EQUAL(length + 3, r->answer.length);
    if (length)
        TEST_ASSERT_EQUAL_HEX8_ARRAY(data, r->answer.bytes + 1, length);
}

/* ---- all of it --------------------------------------------------------------------------- */

void usb_rig_still_works(struct usb_rig *r)
{
    static const uint8_t request[2][8] = {
        { 0x80, 6, 0, 1, 0, 0, 18, 0 }, { 0x40, 1, 0xff, 0xff, 0xff, 0xff, 3, 0 }
    };
    uint8_t bytes[64];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37 + r->now);

    usb_rig_events(r);
    usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_CLEAR);
    usb_rig_write(r, BOARD_USB_IN, BOARD_USB_CLEAR);

    TEST_ASSERT_EQUAL_HEX8(USB_PID_ACK, usb_rig_setup(r, request[0]));
    TEST_ASSERT_EQUAL_HEX8(USB_PID_NAK, usb_rig_in(r, 0));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_SETUP, usb_rig_events(r));
    usb_rig_compare(r, BOARD_USB_SETUP0, request[0], 8);
    usb_rig_fill(r, BOARD_USB_EP0_IN_BUFFER, bytes, 18);
    usb_rig_write(r, BOARD_USB_EP0_IN, 18 | BOARD_USB_TOGGLE | BOARD_USB_ARM);
    usb_rig_write(r, BOARD_USB_EP0_OUT, BOARD_USB_ARM);
    TEST_ASSERT_EQUAL_HEX8(USB_PID_DATA1, usb_rig_in(r, 0));
    usb_rig_expect(r, true, bytes, 18);
    usb_rig_ack(r);
    TEST_ASSERT_EQUAL_HEX8(USB_PID_ACK, usb_rig_out(r, 0, true, NULL, 0));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_EP0_IN | BOARD_USB_EVENT_EP0_OUT, usb_rig_events(r));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_FULL, usb_rig_read(r, BOARD_USB_EP0_OUT));

    TEST_ASSERT_EQUAL_HEX8(USB_PID_ACK, usb_rig_setup(r, request[1]));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_SETUP, usb_rig_events(r));
    usb_rig_compare(r, BOARD_USB_SETUP0, request[1], 8);
    usb_rig_write(r, BOARD_USB_EP0_OUT, BOARD_USB_ARM);
    TEST_ASSERT_EQUAL_HEX8(USB_PID_ACK, usb_rig_out(r, 0, true, bytes, 3));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_EP0_OUT, usb_rig_events(r));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_FULL | 3, usb_rig_read(r, BOARD_USB_EP0_OUT));
    usb_rig_compare(r, BOARD_USB_EP0_OUT_BUFFER, bytes, 3);
    usb_rig_write(r, BOARD_USB_EP0_IN, BOARD_USB_TOGGLE | BOARD_USB_ARM);
    TEST_ASSERT_EQUAL_HEX8(USB_PID_DATA1, usb_rig_in(r, 0));
    usb_rig_expect(r, true, NULL, 0);
    usb_rig_ack(r);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_EP0_IN, usb_rig_events(r));

    TEST_ASSERT_EQUAL_HEX8(USB_PID_ACK, usb_rig_out(r, 1, false, bytes, 64));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_FULL | 64, usb_rig_read(r, BOARD_USB_OUT));
    usb_rig_compare(r, BOARD_USB_OUT_BUFFER, bytes, 64);
    usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_ARM);
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_OUT) & BOARD_USB_FULL);
    usb_rig_give(r, bytes, 64);
    TEST_ASSERT_EQUAL_HEX8(USB_PID_DATA0, usb_rig_in(r, 1));
    usb_rig_expect(r, false, bytes, 64);
    usb_rig_ack(r);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_OUT | BOARD_USB_EVENT_IN, usb_rig_events(r));

    /* As it was found: toggles of both bulk endpoints at DATA0. */
    usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_CLEAR);
    usb_rig_write(r, BOARD_USB_IN, BOARD_USB_CLEAR);
}
