/* SPDX-License-Identifier: Apache-2.0 */
/* The USB device core of rtl/board/ at its pins: transactions, toggles, and what firmware sees of
 * them. What goes wrong on the wires is in test_usb_core_noise.c. */
#include <string.h>

#include "usb_core_fixture.h"

enum { ACK = USB_PID_ACK, NAK = USB_PID_NAK, STALL = USB_PID_STALL, DATA0 = USB_PID_DATA0,
       DATA1 = USB_PID_DATA1 };

static const uint8_t get_device[8] = { 0x80, 6, 0, 1, 0, 0, 64, 0 };

void setUp(void) { fixture_set_up(); }

/* A SETUP that firmware has seen. */
static void begin_control(void)
{
    expect(ACK, usb_rig_setup(r, get_device));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_SETUP, usb_rig_events(r) & BOARD_USB_EVENT_SETUP);
}

static void give_control(const uint8_t *data, uint32_t length, bool toggle)
{
    usb_rig_fill(r, BOARD_USB_EP0_IN_BUFFER, data, length);
    usb_rig_write(r, BOARD_USB_EP0_IN, length | (toggle ? BOARD_USB_TOGGLE : 0) | BOARD_USB_ARM);
}

/* The oldest packet is this; done with it. */
static void take_bulk(const uint8_t *data, uint32_t length)
{
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_FULL | length, usb_rig_read(r, BOARD_USB_OUT));
    usb_rig_compare(r, BOARD_USB_OUT_BUFFER, data, length);
    usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_ARM);
}

/* ---- clocks and registers ---------------------------------------------------------------- */

static void test_any_clock_of_firmware(void)
{
    static const uint32_t clocks[] = {
        3000000, 12000000, 16000001, 24000000, 47999000, 48000000, 60000000, 133000000
    };
    for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++)
        for (double phase = 0; phase < 1; phase += 0.2) {
            usb_rig_close(r);
            usb_rig_open(r, clocks[i], phase, 0, 0, 1);
            usb_rig_still_works(r);
            TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_ERRORS));
        }
}

static void test_accesses_take_few_cycles(void)
{
    usb_rig_read(r, BOARD_USB_OUT_BUFFER);
    TEST_ASSERT_EQUAL(2, usb_core_cycles(r->core));
    usb_rig_write(r, BOARD_USB_IN_BUFFER, 1);
    TEST_ASSERT_EQUAL(2, usb_core_cycles(r->core));
    for (unsigned i = 0; i < 50; i++) {
        usb_rig_read(r, BOARD_USB_EVENTS);
        TEST_ASSERT_LESS_OR_EQUAL(6, usb_core_cycles(r->core));
        usb_rig_step(r, 1);
    }
}

static void test_what_is_not_there_reads_as_0(void)
{
    usb_rig_still_works(r); /* the RAMs are full */
    for (uint32_t offset = 0; offset < 0x1000; offset += 4) {
        bool there = offset <= BOARD_USB_STATUS
            || (offset >= BOARD_USB_SETUP0 && offset <= BOARD_USB_IN)
            || (offset >= BOARD_USB_EP0_OUT_BUFFER && offset < BOARD_USB_EP0_IN_BUFFER)
            || (offset >= BOARD_USB_OUT_BUFFER && offset < BOARD_USB_IN_BUFFER);
        if (!there) {
            usb_rig_write(r, offset, 0xffffffff);
            TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, offset));
        }
    }
    TEST_ASSERT_EQUAL_HEX32(1, usb_rig_read(r, BOARD_USB_CONTROL));
    TEST_ASSERT_EQUAL_HEX32(1, usb_rig_read(r, BOARD_USB_STATUS) & 7);
    usb_rig_write(r, BOARD_USB_ADDRESS, 0);
    usb_rig_still_works(r);
}

/* ---- addresses --------------------------------------------------------------------------- */

static void test_address(void)
{
    static const uint8_t set_address[8] = { 0, 5, 42, 0, 0, 0, 0, 0 };
    expect(ACK, usb_rig_setup(r, set_address));
    usb_rig_events(r);
    give_control(NULL, 0, true);
    expect(DATA1, usb_rig_in(r, 0));
    usb_rig_ack(r);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_EP0_IN, usb_rig_events(r));
    usb_rig_write(r, BOARD_USB_ADDRESS, 42);
    usb_rig_give(r, bytes, 1);

    for (r->address = 0; r->address < 128; r->address++) {
        expect(r->address == 42 ? DATA0 : NOTHING, usb_rig_in(r, 1));
        expect(r->address == 42 ? ACK : NOTHING, usb_rig_setup(r, get_device));
    }
    TEST_ASSERT_EQUAL_HEX32(0x10000, usb_rig_read(r, BOARD_USB_ERRORS)); /* our ACK is missing */
    r->address = 42;
    usb_rig_still_works(r);
    usb_rig_bus_reset(r);
    usb_rig_still_works(r);
}

static void test_other_endpoints_do_not_answer(void)
{
    for (uint32_t endpoint = 2; endpoint < 16; endpoint++) {
        expect(NOTHING, usb_rig_in(r, endpoint));
        expect(NOTHING, usb_rig_out(r, endpoint, false, bytes, 8));
    }
    usb_rig_token(r, USB_PID_SETUP, 1); /* a control endpoint it is not */
    usb_rig_step(r, 8);
    usb_rig_data(r, false, get_device, 8);
    expect(NOTHING, usb_rig_answer(r));
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
    usb_rig_still_works(r);
}

static void test_frames_and_handshakes_of_others_are_not_answered(void)
{
    usb_rig_give(r, bytes, 8);
    for (uint32_t frame = 0; frame < 2048; frame += 89) {
        struct usb_packet p;
        usb_packet_sof(&p, frame);
        usb_rig_send(r, &p);
        expect(NOTHING, usb_rig_answer(r));
    }
    usb_rig_ack(r);
    usb_rig_handshake(r, USB_PID_NAK);
    usb_rig_handshake(r, USB_PID_STALL);
    usb_rig_data(r, false, bytes, 8);
    expect(NOTHING, usb_rig_answer(r));
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
    expect(DATA0, usb_rig_in(r, 1));
}

/* ---- control transfers ------------------------------------------------------------------- */

static void test_control_in(void)
{
    begin_control();
    usb_rig_write(r, BOARD_USB_EP0_OUT, BOARD_USB_ARM);
    static const uint32_t lengths[] = { 64, 64, 17 };
    bool toggle = true;
    for (unsigned i = 0; i < 3; i++, toggle = !toggle) {
        expect(NAK, usb_rig_in(r, 0));
        give_control(bytes + 64 * i, lengths[i], toggle);
        TEST_ASSERT_TRUE(usb_rig_read(r, BOARD_USB_EP0_IN) & BOARD_USB_ARM);
        for (unsigned again = 0; again < 3; again++) { /* the host did not get it */
            usb_rig_in(r, 0);
            usb_rig_expect(r, toggle, bytes + 64 * i, lengths[i]);
            usb_rig_step(r, 200);
            TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
        }
        usb_rig_in(r, 0);
        usb_rig_ack(r);
        TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_EP0_IN, usb_rig_events(r));
        TEST_ASSERT_FALSE(usb_rig_read(r, BOARD_USB_EP0_IN) & BOARD_USB_ARM);
    }
    expect(ACK, usb_rig_out(r, 0, true, NULL, 0));
    /* ACKs that did not come */
    TEST_ASSERT_EQUAL_HEX32(9 << 16, usb_rig_read(r, BOARD_USB_ERRORS));
}

static void test_control_out(void)
{
    begin_control();
    bool toggle = true;
    for (unsigned i = 0; i < 3; i++, toggle = !toggle) {
        uint32_t length = i == 2 ? 13 : 64;
        expect(NAK, usb_rig_out(r, 0, toggle, bytes + 64 * i, length));
        TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
        usb_rig_write(r, BOARD_USB_EP0_OUT, BOARD_USB_ARM);
        expect(ACK, usb_rig_out(r, 0, toggle, bytes + 64 * i, length));
        /* Our ACK was lost: the same packet again. */
        TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_EP0_OUT, usb_rig_events(r));
        expect(ACK, usb_rig_out(r, 0, toggle, bytes + 64 * i, length));
        expect(ACK, usb_rig_out(r, 0, toggle, bytes, 7));
        TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
        TEST_ASSERT_EQUAL_HEX32(BOARD_USB_FULL | length, usb_rig_read(r, BOARD_USB_EP0_OUT));
        usb_rig_compare(r, BOARD_USB_EP0_OUT_BUFFER, bytes + 64 * i, length);
    }
    give_control(NULL, 0, true);
    expect(DATA1, usb_rig_in(r, 0));
    usb_rig_expect(r, true, NULL, 0);
    usb_rig_ack(r);
}

static void test_control_stall(void)
{
    begin_control();
    usb_rig_write(r, BOARD_USB_EP0_OUT, BOARD_USB_STALL);
    usb_rig_write(r, BOARD_USB_EP0_IN, BOARD_USB_STALL);
    for (unsigned i = 0; i < 3; i++) {
        expect(STALL, usb_rig_in(r, 0));
        expect(STALL, usb_rig_out(r, 0, true, bytes, 4));
        expect(STALL, usb_rig_out(r, 0, false, bytes, 4));
    }
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_STALL, usb_rig_read(r, BOARD_USB_EP0_OUT));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_STALL, usb_rig_read(r, BOARD_USB_EP0_IN));
    expect(NAK, usb_rig_in(r, 1)); /* the others go on */

    begin_control();
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_EP0_OUT));
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_EP0_IN));
    expect(NAK, usb_rig_in(r, 0));
    expect(NAK, usb_rig_out(r, 0, true, bytes, 4));

    usb_rig_write(r, BOARD_USB_EP0_IN, BOARD_USB_STALL);
    expect(STALL, usb_rig_in(r, 0));
    usb_rig_write(r, BOARD_USB_EP0_IN, 0);
    expect(NAK, usb_rig_in(r, 0));
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
}

static void test_setup_ends_what_was_before(void)
{
    /* Armed in both directions. */
    begin_control();
    give_control(bytes, 10, true);
    usb_rig_write(r, BOARD_USB_EP0_OUT, BOARD_USB_ARM);
    expect(DATA1, usb_rig_in(r, 0)); /* and the host gives up instead of acknowledging */
    expect(ACK, usb_rig_setup(r, get_device));
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_EP0_OUT));
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_EP0_IN));
    expect(NAK, usb_rig_in(r, 0));
    expect(NAK, usb_rig_out(r, 0, true, bytes, 4));

    /* Firmware has not seen it yet, and arms for the old one. */
    give_control(bytes, 10, true);
    usb_rig_write(r, BOARD_USB_EP0_OUT, BOARD_USB_ARM | BOARD_USB_STALL);
    usb_rig_write(r, BOARD_USB_EP0_IN, BOARD_USB_STALL);
    expect(NAK, usb_rig_in(r, 0));
    expect(NAK, usb_rig_out(r, 0, true, bytes, 4));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_SETUP, usb_rig_events(r));
    expect(NAK, usb_rig_in(r, 0));
    give_control(bytes, 3, true);
    expect(DATA1, usb_rig_in(r, 0));
    usb_rig_expect(r, true, bytes, 3);
    usb_rig_ack(r);

    /* A packet of data waits. */
    begin_control();
    usb_rig_write(r, BOARD_USB_EP0_OUT, BOARD_USB_ARM);
    expect(ACK, usb_rig_out(r, 0, true, bytes, 5));
    begin_control();
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_EP0_OUT) & BOARD_USB_FULL);
    usb_rig_write(r, BOARD_USB_EP0_OUT, BOARD_USB_ARM);
    expect(ACK, usb_rig_out(r, 0, true, bytes + 9, 5)); /* DATA1 again */
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_FULL | 5, usb_rig_read(r, BOARD_USB_EP0_OUT));
    usb_rig_compare(r, BOARD_USB_EP0_OUT_BUFFER, bytes + 9, 5);
}

static void test_setup_must_be_whole(void)
{
    static const uint32_t lengths[] = { 0, 7, 9, 16, 64 };
    begin_control();
    give_control(bytes, 12, true);
    for (unsigned i = 0; i < 5; i++) {
        usb_rig_token(r, USB_PID_SETUP, 0);
        usb_rig_step(r, 8);
        usb_rig_data(r, false, bytes, lengths[i]);
        expect(NOTHING, usb_rig_answer(r));
        TEST_ASSERT_EQUAL_HEX32(i + 1, usb_rig_read(r, BOARD_USB_ERRORS));
    }
    usb_rig_token(r, USB_PID_SETUP, 0);
    usb_rig_step(r, 8);
    usb_rig_data(r, true, bytes, 8);
    expect(NOTHING, usb_rig_answer(r));
    usb_rig_token(r, USB_PID_SETUP, 0);
    usb_rig_step(r, 100 * 4); /* the data comes too late */
    usb_rig_data(r, false, bytes, 8);
    expect(NOTHING, usb_rig_answer(r));

    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
    usb_rig_compare(r, BOARD_USB_SETUP0, get_device, 8);
    expect(DATA1, usb_rig_in(r, 0));
    usb_rig_expect(r, true, bytes, 12);
}

/* Those that firmware has not looked at yet are replaced; the one it looks at stays until it clears
 * the next event, whatever comes. */
static void test_setup_after_setup(void)
{
    for (unsigned i = 0; i < 5; i++)
        expect(ACK, usb_rig_setup(r, bytes + 8 * i));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_SETUP, usb_rig_events(r));
    usb_rig_compare(r, BOARD_USB_SETUP0, bytes + 32, 8);
    usb_rig_token(r, USB_PID_SETUP, 0);
    usb_rig_step(r, 8);
    usb_rig_data(r, false, bytes, 12);
    usb_rig_compare(r, BOARD_USB_SETUP0, bytes + 32, 8);
    expect(ACK, usb_rig_setup(r, bytes + 40));
    usb_rig_compare(r, BOARD_USB_SETUP0, bytes + 32, 8);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_SETUP, usb_rig_events(r));
    usb_rig_compare(r, BOARD_USB_SETUP0, bytes + 40, 8);
}

/* Armed at any moment around an IN: either it is too late, or all of it goes, with its own toggle
 * and length. */
static void test_arm_at_any_moment(void)
{
    static const uint32_t clocks[] = { 12000000, 60000000 };
    for (unsigned c = 0; c < 2; c++) {
        usb_rig_close(r);
        usb_rig_open(r, clocks[c], 0.4, 0, 0, 1);
        begin_control();
        unsigned in_time = 0, late = 0;
        for (unsigned when = 0; when < 150; when++) {
            bool toggle = when & 1;
            uint32_t length = when % 5;
            struct usb_packet token;
            usb_packet_token(&token, USB_PID_IN, 0, 0);
            usb_rig_fill(r, BOARD_USB_EP0_IN_BUFFER, bytes + when % 3, 4);
            usb_sender_start(&r->sender, token.bytes, token.length);
            usb_rig_step(r, when);
            usb_core_access(r->core, true, BOARD_USB_EP0_IN,
                            length | (toggle ? BOARD_USB_TOGGLE : 0) | BOARD_USB_ARM);
            usb_rig_finish(r);
            if (usb_rig_answer(r) == NAK) {
                late++;
                usb_rig_in(r, 0);
            } else {
                in_time++;
            }
            usb_rig_expect(r, toggle, bytes + when % 3, length);
            usb_rig_ack(r);
        }
        TEST_ASSERT_GREATER_THAN(80, in_time);
        TEST_ASSERT_GREATER_THAN(5, late);
    }
}

/* ---- bulk -------------------------------------------------------------------------------- */

static void test_bulk_out_two_deep(void)
{
    expect(ACK, usb_rig_out(r, 1, false, bytes, 64));
    expect(ACK, usb_rig_out(r, 1, true, bytes + 64, 3));
    for (unsigned i = 0; i < 3; i++)
        expect(NAK, usb_rig_out(r, 1, false, bytes + 128, 64));
    expect(ACK, usb_rig_out(r, 1, true, bytes + 64, 3)); /* no room, but it is known */
    take_bulk(bytes, 64);
    expect(ACK, usb_rig_out(r, 1, true, bytes + 128, 50));
    expect(ACK, usb_rig_out(r, 1, false, bytes + 128, 64));
    expect(NAK, usb_rig_out(r, 1, true, bytes, 1));
    take_bulk(bytes + 64, 3);
    take_bulk(bytes + 128, 64);
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_OUT) & BOARD_USB_FULL);
    usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_ARM); /* nothing there to be done with */
    expect(ACK, usb_rig_out(r, 1, true, NULL, 0));
    take_bulk(NULL, 0);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_OUT, usb_rig_events(r));
}

/* Room is made while a packet comes: it is refused, or taken from its first byte on. */
static void test_release_at_any_moment(void)
{
    unsigned refused = 0;
    for (unsigned when = 0; when < 560; when += 5) {
        struct usb_packet token, data;
        usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_CLEAR);
        expect(ACK, usb_rig_out(r, 1, false, bytes, 8));
        expect(ACK, usb_rig_out(r, 1, true, bytes + 8, 8));
        usb_packet_token(&token, USB_PID_OUT, 0, 1);
        usb_packet_data(&data, false, bytes + 16, 10);
        const struct usb_packet *packets[] = { &token, &data };
        uint64_t release = r->now + when;
        for (unsigned i = 0; i < 2; i++) {
            usb_rig_step(r, 8);
            usb_sender_start(&r->sender, packets[i]->bytes, packets[i]->length);
            if (release >= r->now && release < r->now + usb_sender_samples(&r->sender)) {
                usb_rig_step(r, (uint32_t)(release - r->now));
                usb_core_access(r->core, true, BOARD_USB_OUT, BOARD_USB_ARM);
                release = 0;
            }
            usb_rig_finish(r);
        }
        int answer = usb_rig_answer(r);
        if (release)
            usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_ARM);
        if (answer == NAK) {
            refused++;
            answer = usb_rig_out(r, 1, false, bytes + 16, 10);
        }
        expect(ACK, answer);
        take_bulk(bytes + 8, 8);
        take_bulk(bytes + 16, 10);
    }
    TEST_ASSERT_GREATER_THAN(40, refused);
}

static void test_bulk_in_two_deep(void)
{
    expect(NAK, usb_rig_in(r, 1));
    usb_rig_give(r, bytes, 64);
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_IN) & BOARD_USB_FULL);
    usb_rig_give(r, bytes + 64, 5);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_FULL, usb_rig_read(r, BOARD_USB_IN) & BOARD_USB_FULL);
    usb_rig_write(r, BOARD_USB_IN, BOARD_USB_ARM | 64); /* it must not: no third comes of it */
    for (unsigned i = 0; i < 3; i++) {
        usb_rig_in(r, 1);
        usb_rig_expect(r, false, bytes, 64);
    }
    usb_rig_ack(r);
    usb_rig_give(r, bytes + 128, 0);
    for (unsigned i = 0; i < 2; i++) {
        usb_rig_in(r, 1);
        usb_rig_expect(r, true, bytes + 64, 5);
    }
    usb_rig_ack(r);
    usb_rig_in(r, 1);
    usb_rig_expect(r, false, NULL, 0);
    usb_rig_ack(r);
    expect(NAK, usb_rig_in(r, 1));
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_IN, usb_rig_events(r));
}

static void test_all_lengths(void)
{
    for (uint32_t length = 0; length <= 64; length++) {
        bool toggle = length & 1;
        expect(ACK, usb_rig_out(r, 1, toggle, bytes + length, length));
        take_bulk(bytes + length, length);
        usb_rig_give(r, bytes + 64 - length, length);
        usb_rig_in(r, 1);
        usb_rig_expect(r, toggle, bytes + 64 - length, length);
        usb_rig_ack(r);
    }
    usb_rig_give(r, bytes, 127); /* more than there is: 64 go */
    usb_rig_in(r, 1);
    usb_rig_expect(r, true, bytes, 64);
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_ERRORS));
}

static void test_only_an_ack_in_time_acknowledges(void)
{
    usb_rig_give(r, bytes, 9);
    for (unsigned i = 0; i < 4; i++) {
        usb_rig_in(r, 1);
        usb_rig_expect(r, false, bytes, 9);
        if (i == 0)
            usb_rig_handshake(r, USB_PID_NAK);
        else if (i == 1)
            usb_rig_data(r, false, bytes, 4);
        else if (i == 2)
            usb_rig_step(r, 20 * 4); /* too late */
        usb_rig_step(r, 8);
        if (i < 3)
            usb_rig_ack(r);
        TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
    }
    TEST_ASSERT_EQUAL_HEX32(3 << 16, usb_rig_read(r, BOARD_USB_ERRORS));
    usb_rig_in(r, 1);
    /* Late, but in time: 16 bits after the packet, of which SYNC has some. */
    usb_rig_step(r, 11 * 4);
    usb_rig_ack(r);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_IN, usb_rig_events(r));
}

static void test_bulk_stall(void)
{
    usb_rig_give(r, bytes, 4);
    expect(ACK, usb_rig_out(r, 1, false, bytes, 6));
    usb_rig_write(r, BOARD_USB_IN, BOARD_USB_STALL);
    usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_STALL);
    for (unsigned i = 0; i < 2; i++) {
        expect(STALL, usb_rig_in(r, 1));
        expect(STALL, usb_rig_out(r, 1, true, bytes, 6));
        begin_control(); /* which does not end these stalls */
    }
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_STALL | BOARD_USB_FULL | 6, usb_rig_read(r, BOARD_USB_OUT));
    usb_rig_write(r, BOARD_USB_IN, 0);
    usb_rig_write(r, BOARD_USB_OUT, 0);
    usb_rig_in(r, 1);
    usb_rig_expect(r, false, bytes, 4); /* what was there is still */
    usb_rig_ack(r);
    expect(ACK, usb_rig_out(r, 1, true, bytes, 6));
}

static void test_clear_empties_and_begins_with_data0(void)
{
    for (unsigned packets = 0; packets <= 3; packets++) {
        for (unsigned i = 0; i < packets; i++) {
            bool room = i < 2;
            expect(room ? ACK : NAK, usb_rig_out(r, 1, i & 1, bytes, 8));
            usb_rig_give(r, bytes, 8);
        }
        if (packets == 3) {
            usb_rig_in(r, 1);
            usb_rig_ack(r);
        }
        usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_CLEAR);
        usb_rig_write(r, BOARD_USB_IN, BOARD_USB_CLEAR);
        TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_OUT) & BOARD_USB_FULL);
        TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_IN) & BOARD_USB_FULL);
        expect(NAK, usb_rig_in(r, 1));
        usb_rig_still_works(r);
    }
}

/* The packet that was on its way when CLEAR came is not taken for the one that was put in after
 * it. */
static void test_clear_while_a_packet_goes(void)
{
    for (unsigned when = 0; when < 900; when += 7) {
        usb_rig_write(r, BOARD_USB_IN, BOARD_USB_CLEAR);
        usb_rig_give(r, bytes, 64);
        usb_rig_token(r, USB_PID_IN, 1);
        usb_rig_step(r, when);
        usb_rig_write(r, BOARD_USB_IN, BOARD_USB_CLEAR);
        usb_rig_give(r, bytes + 64, 5);
        while (r->device.oe)
            usb_rig_step(r, 1);
        usb_rig_step(r, 8);
        usb_rig_ack(r);
        usb_rig_step(r, 100);
        usb_rig_in(r, 1);
        usb_rig_expect(r, false, bytes + 64, 5);
    }
}

/* Answers begin 2 to 6.5 bit times after the packet: usb_rig.c looks at each of them. This is where
 * they do. */
static void test_turnaround(void)
{
    usb_rig_still_works(r);
    TEST_ASSERT_GREATER_OR_EQUAL(12, r->turnaround_min);
    TEST_ASSERT_LESS_OR_EQUAL(20, r->turnaround_max);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_any_clock_of_firmware);
    RUN_TEST(test_accesses_take_few_cycles);
    RUN_TEST(test_what_is_not_there_reads_as_0);
    RUN_TEST(test_address);
    RUN_TEST(test_other_endpoints_do_not_answer);
    RUN_TEST(test_frames_and_handshakes_of_others_are_not_answered);
    RUN_TEST(test_control_in);
    RUN_TEST(test_control_out);
    RUN_TEST(test_control_stall);
    RUN_TEST(test_setup_ends_what_was_before);
    RUN_TEST(test_setup_must_be_whole);
    RUN_TEST(test_setup_after_setup);
    RUN_TEST(test_arm_at_any_moment);
    RUN_TEST(test_bulk_out_two_deep);
    RUN_TEST(test_release_at_any_moment);
    RUN_TEST(test_bulk_in_two_deep);
    RUN_TEST(test_all_lengths);
    RUN_TEST(test_only_an_ack_in_time_acknowledges);
    RUN_TEST(test_bulk_stall);
    RUN_TEST(test_clear_empties_and_begins_with_data0);
    RUN_TEST(test_clear_while_a_packet_goes);
    RUN_TEST(test_turnaround);
    return UNITY_END();
}
