/* SPDX-License-Identifier: Apache-2.0 */
/* The USB device core of rtl/board/ when the bus or the system is reset, the bus is suspended, or
 * firmware leaves it, at any moment: it forgets what it must, and nothing else. */
#include "usb_core_fixture.h"

enum { ACK = USB_PID_ACK, NAK = USB_PID_NAK, BIT = USB_SAMPLES_BIT };

void setUp(void) { fixture_set_up(); }

/* ---- reset ------------------------------------------------------------------------------- */

static void after_reset(void)
{
    usb_rig_step(r, 100);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_RESET, usb_rig_events(r));
    TEST_ASSERT_EQUAL_HEX32(1, usb_rig_read(r, BOARD_USB_STATUS));
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_OUT) & ~BOARD_USB_LENGTH);
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_IN));
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_EP0_OUT) & ~BOARD_USB_LENGTH);
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_EP0_IN));
    expect(NAK, usb_rig_in(r, 1));
    expect(NAK, usb_rig_in(r, 0));
    usb_rig_still_works(r);
}

static void test_reset_empties_everything(void)
{
    static const uint8_t setup[8] = { 0 };
    for (unsigned kind = 0; kind < 4; kind++) {
        expect(ACK, usb_rig_setup(r, setup));
        if (kind & 1)
            usb_rig_events(r);
        usb_rig_write(r, BOARD_USB_EP0_OUT, kind & 2 ? BOARD_USB_STALL : BOARD_USB_ARM);
        usb_rig_write(r, BOARD_USB_EP0_IN, kind & 2 ? BOARD_USB_STALL : BOARD_USB_ARM);
        expect(ACK, usb_rig_out(r, 1, false, bytes, 64));
        usb_rig_give(r, bytes, 3);
        usb_rig_in(r, 1);
        usb_rig_ack(r);
        usb_rig_give(r, bytes, 4);
        if (kind & 2) {
            usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_STALL);
            usb_rig_write(r, BOARD_USB_IN, BOARD_USB_STALL);
        }
        usb_rig_drive(r, USB_SE0, 120 * 2);
        after_reset();
    }
}

static void test_how_long_a_reset_is(void)
{
    usb_rig_write(r, BOARD_USB_ADDRESS, 3);
    r->address = 3;
    usb_rig_drive(r, USB_SE0, 110); /* 2.3 us */
    usb_rig_step(r, 100);
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
    usb_rig_still_works(r);
    usb_rig_drive(r, USB_SE0, 140); /* 2.9 us */
    usb_rig_step(r, 30);
    r->address = 0;
    after_reset();
    r->forced = true;
    r->host = (struct usb_pins){ .oe = true };
    usb_rig_step(r, 200);
    TEST_ASSERT_EQUAL_HEX32(5, usb_rig_read(r, BOARD_USB_STATUS));
    usb_rig_write(r, BOARD_USB_ADDRESS, 9); /* too late for what it belongs to */
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
    r->forced = false;
    after_reset();
}

static void test_reset_in_a_packet_of_the_host(void)
{
    struct usb_packet data;
    usb_packet_data(&data, false, bytes, 20);
    r->contention = true; /* its answer, if the packet had come to its end */
    for (unsigned when = 1; when < 800; when += 13) {
        usb_rig_give(r, bytes, 64);
        usb_rig_token(r, USB_PID_OUT, 1);
        usb_rig_step(r, 8);
        usb_sender_start(&r->sender, data.bytes, data.length);
        usb_rig_step(r, when);
        usb_rig_drive(r, USB_SE0, 500);
        after_reset();
    }
}

/* The device does not notice before it has sent its packet, which is long before a host ends its
 * reset. */
static void test_reset_in_a_packet_of_the_device(void)
{
    r->contention = true;
    for (unsigned when = 1; when < 2600; when += 37) {
        usb_rig_give(r, bytes, 64);
        usb_rig_token(r, USB_PID_IN, 1);
        usb_rig_step(r, when);
        usb_rig_drive(r, USB_SE0, 3500);
        after_reset();
    }
}

/* ---- reset of firmware's side ------------------------------------------------------------- */

static void test_reset_of_the_system(void)
{
    static const uint8_t setup[8] = { 0x80, 6, 0, 1, 0, 0, 64, 0 };
    expect(ACK, usb_rig_setup(r, setup));
    usb_rig_give(r, bytes, 64);
    usb_rig_write(r, BOARD_USB_ADDRESS, 5);
    usb_core_reset(r->core, 20);
    usb_rig_step(r, 60);
    TEST_ASSERT_FALSE(r->device.pullup);
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_EVENTS));
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_IN));
    usb_rig_write(r, BOARD_USB_CONTROL, 1);
    usb_rig_step(r, 50);
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_EVENTS)); /* attaching is no bus reset */
    usb_rig_still_works(r);
}

/* At any moment of an access; the next one is still done once, and right. */
static void test_reset_of_the_system_in_an_access(void)
{
    static const uint32_t clocks[] = { 12000000, 60000000 };
    for (unsigned c = 0; c < 2; c++)
        for (unsigned when = 0; when < 40; when++) {
            usb_rig_close(r);
            usb_rig_open(r, clocks[c], when / 40.0, 0, 0, 1);
            usb_core_access(r->core, true, BOARD_USB_OUT, BOARD_USB_STALL);
            usb_rig_step(r, when);
            usb_core_reset(r->core, 10);
            if (usb_core_busy(r->core))
                usb_core_give_up(r->core);
            usb_rig_step(r, when % 13);
            usb_rig_write(r, BOARD_USB_CONTROL, 1);
            usb_rig_step(r, 60);
            usb_rig_write(r, BOARD_USB_CONTROL, 1);
            TEST_ASSERT_EQUAL_HEX32(1, usb_rig_read(r, BOARD_USB_CONTROL));
            TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_OUT));
            usb_rig_still_works(r);
        }
}

/* ---- suspend ----------------------------------------------------------------------------- */

static void test_suspend_and_resume(void)
{
    usb_rig_give(r, bytes, 10);
    usb_rig_step(r, 48 * 2990); /* 2.99 ms */
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
    usb_rig_step(r, 48 * 110);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_SUSPEND, usb_rig_events(r));
    TEST_ASSERT_EQUAL_HEX32(3, usb_rig_read(r, BOARD_USB_STATUS));
    usb_rig_step(r, 48 * 9000); /* it is told once */
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
    usb_rig_drive(r, USB_K, 48 * 1000);
    usb_rig_drive(r, USB_SE0, 2 * 8 * BIT); /* the EOP of low speed that ends it */
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_RESUME, usb_rig_events(r));
    TEST_ASSERT_EQUAL_HEX32(1, usb_rig_read(r, BOARD_USB_STATUS));
    usb_rig_in(r, 1); /* nothing was lost */
    usb_rig_expect(r, false, bytes, 10);
    usb_rig_ack(r);
    usb_rig_still_works(r);

    usb_rig_step(r, 48 * 3100); /* a reset ends it, too */
    usb_rig_bus_reset(r);
    TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_SUSPEND | BOARD_USB_EVENT_RESUME
                            | BOARD_USB_EVENT_RESET, usb_rig_events(r));
    usb_rig_still_works(r);
}

/* A SOF every millisecond keeps it awake. The bus is suspended in the middle of a transaction. */
static void test_suspend_at_any_moment(void)
{
    struct usb_packet p;
    for (unsigned frame = 0; frame < 12; frame++) {
        usb_packet_sof(&p, frame);
        usb_rig_send(r, &p);
        usb_rig_step(r, 47000);
    }
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
    for (unsigned when = 0; when < 400; when += 57) {
        usb_rig_token(r, when & 1 ? USB_PID_OUT : USB_PID_IN, 1);
        usb_rig_step(r, 8);
        if (when & 1)
            usb_packet_data(&p, false, bytes, 64);
        else
            usb_packet_handshake(&p, USB_PID_ACK);
        usb_sender_start(&r->sender, p.bytes, p.length);
        usb_rig_step(r, when < usb_sender_samples(&r->sender) ? when : 1);
        r->sender.count = 0;
        r->host.oe = false;
        usb_rig_step(r, 48 * 3200);
        TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_SUSPEND, usb_rig_events(r));
        usb_rig_drive(r, USB_K, 48 * 20);
        usb_rig_drive(r, USB_SE0, 2 * 8 * BIT);
        TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_RESUME, usb_rig_events(r));
        usb_rig_still_works(r);
    }
}

/* Pulled off the bus by firmware, in the middle of anything: it is silent, and comes back. */
static void test_detach(void)
{
    for (unsigned when = 0; when < 900; when += 61) {
        usb_rig_give(r, bytes, 64);
        usb_rig_token(r, USB_PID_IN, 1);
        usb_rig_step(r, when);
        usb_rig_write(r, BOARD_USB_CONTROL, 0);
        usb_rig_step(r, 4000);
        TEST_ASSERT_FALSE(r->device.pullup);
        TEST_ASSERT_FALSE(r->device.oe);
        TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_STATUS));
        usb_rig_write(r, BOARD_USB_CONTROL, 1);
        usb_rig_step(r, 50);
        TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
        usb_rig_bus_reset(r);
        TEST_ASSERT_EQUAL_HEX32(BOARD_USB_EVENT_RESET, usb_rig_events(r));
        usb_rig_still_works(r);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_reset_empties_everything);
    RUN_TEST(test_how_long_a_reset_is);
    RUN_TEST(test_reset_in_a_packet_of_the_host);
    RUN_TEST(test_reset_in_a_packet_of_the_device);
    RUN_TEST(test_reset_of_the_system);
    RUN_TEST(test_reset_of_the_system_in_an_access);
    RUN_TEST(test_suspend_and_resume);
    RUN_TEST(test_suspend_at_any_moment);
    RUN_TEST(test_detach);
    return UNITY_END();
}
