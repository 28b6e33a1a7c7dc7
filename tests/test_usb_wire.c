/* SPDX-License-Identifier: Apache-2.0 */
/* Packets on the two wires: checksums against published ones, levels against a spelled-out packet,
 * round trips of anything with clocks that are off, and what a receiver makes of garbage. */
#include <stdio.h>
#include <string.h>

#include "unity.h"
#include "usb_random.h"
#include "usb_wire.h"

static uint64_t dice;

void setUp(void)
{
    dice = 2026;
}

void tearDown(void)
{
}

/* As they go over the wire, first bit left. */
static const char *bits_sent(uint32_t value, unsigned count)
{
    static char text[40];
    for (unsigned i = 0; i < count; i++)
        text[i] = value >> i & 1 ? '1' : '0';
    text[count] = 0;
    return text;
}

/* Among them the examples of "Cyclic Redundancy Checks in USB", the USB-IF's own paper. */
static void test_checksums_are_those_that_were_published(void)
{
    TEST_ASSERT_EQUAL_STRING("01101", bits_sent(usb_crc5(0x09 | 0x2 << 7), 5));
    TEST_ASSERT_EQUAL_STRING("11100", bits_sent(usb_crc5(0x3a | 0xa << 7), 5));
    TEST_ASSERT_EQUAL_STRING("01110", bits_sent(usb_crc5(0x70 | 0x4 << 7), 5));
    TEST_ASSERT_EQUAL_STRING("01000", bits_sent(usb_crc5(0), 5));
    TEST_ASSERT_EQUAL_STRING("10111", bits_sent(usb_crc5(1), 5));
    static const uint8_t one[] = { 0, 1, 2, 3 }, two[] = { 0x23, 0x45, 0x67, 0x89 };
    TEST_ASSERT_EQUAL_STRING("1111011101011110", bits_sent(usb_crc16(one, 4), 16));
    TEST_ASSERT_EQUAL_STRING("0111000000111000", bits_sent(usb_crc16(two, 4), 16));
}

/* Packets that every trace of an enumeration has. */
static void test_well_known_packets(void)
{
    static const uint8_t get_device[] = { 0x80, 0x06, 0x00, 0x01, 0x00, 0x00, 0x40, 0x00 };
    static const uint8_t setup[] = { 0x2d, 0x00, 0x10 }, sof[] = { 0xa5, 0x01, 0xe8 };
    static const uint8_t data[] = {
        0xc3, 0x80, 0x06, 0x00, 0x01, 0x00, 0x00, 0x40, 0x00, 0xdd, 0x94
    };
    static const uint8_t empty[] = { 0x4b, 0x00, 0x00 };
    struct usb_packet p;
    usb_packet_token(&p, USB_PID_SETUP, 0, 0);
    TEST_ASSERT_EQUAL(3, p.length);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(setup, p.bytes, 3);
    usb_packet_sof(&p, 1);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(sof, p.bytes, 3);
    usb_packet_data(&p, false, get_device, 8);
    TEST_ASSERT_EQUAL(11, p.length);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(data, p.bytes, 11);
    usb_packet_data(&p, true, NULL, 0);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(empty, p.bytes, 3);
}

static void test_a_packet_is_good_or_not(void)
{
    struct usb_packet p, q;
    usb_packet_data(&p, true, "memory model", 12);
    TEST_ASSERT_TRUE(usb_packet_good(&p));
    for (unsigned bit = 0; bit < p.length * 8; bit++) {
        q = p;
        q.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        TEST_ASSERT_FALSE(usb_packet_good(&q));
    }
    q = p;
    q.length--;
    TEST_ASSERT_FALSE(usb_packet_good(&q));
    q.length = 2;
    TEST_ASSERT_FALSE(usb_packet_good(&q));
    q.length = 0;
    TEST_ASSERT_FALSE(usb_packet_good(&q));
    usb_packet_handshake(&q, USB_PID_ACK);
    TEST_ASSERT_TRUE(usb_packet_good(&q));
    q.length = 2;
    TEST_ASSERT_FALSE(usb_packet_good(&q));
}

/* ---- levels ------------------------------------------------------------------------------ */

static const char *levels_of(const uint8_t *bytes, uint32_t length)
{
    static char text[USB_LEVELS_MAX + 1];
    struct usb_sender s;
    usb_sender_init(&s, 0, 0, 0);
    usb_sender_start(&s, bytes, length);
    for (uint32_t i = 0; i < s.count; i++)
        text[i] = "0JK1"[s.levels[i]];
    text[s.count] = 0;
    return text;
}

/* By hand: SYNC KJKJKJKK; bits lowest first, a zero changes the level; EOP. */
static void test_levels_of_handshakes(void)
{
    static const uint8_t ack = USB_PID_ACK, nak = USB_PID_NAK;
    TEST_ASSERT_EQUAL_STRING("KJKJKJKK" "JJKJJKKK" "00J", levels_of(&ack, 1)); /* 0100 1011 */
    TEST_ASSERT_EQUAL_STRING("KJKJKJKK" "JJKKKJJK" "00J", levels_of(&nak, 1)); /* 0101 1010 */
}

/* The one that ends SYNC counts as the first of six; a zero is stuffed at the end, too (7.1.9). */
static void test_zeros_are_stuffed(void)
{
    static const uint8_t ones[] = { 0xff }, after_sync[] = { 0x1f }, at_end[] = { 0x00, 0xfc };
    TEST_ASSERT_EQUAL_STRING("KJKJKJKK" "KKKKK" "J" "JJJ" "00J", levels_of(ones, 1));
    TEST_ASSERT_EQUAL_STRING("KJKJKJKK" "KKKKK" "J" "KJK" "00J", levels_of(after_sync, 1));
    TEST_ASSERT_EQUAL_STRING("KJKJKJKK" "JKJKJKJK" "JKKKKKKK" "J" "00J", levels_of(at_end, 2));
}

static void test_four_samples_a_bit(void)
{
    static const uint8_t ack = USB_PID_ACK;
    struct usb_sender s;
    enum usb_line line;
    usb_sender_init(&s, 0, 0, 0);
    usb_sender_start(&s, &ack, 1);
    const char *levels = levels_of(&ack, 1);
    TEST_ASSERT_EQUAL(19 * 4, usb_sender_samples(&s));
    for (unsigned i = 0; i < 19 * 4; i++) {
        TEST_ASSERT_TRUE(usb_sender_step(&s, &line));
        TEST_ASSERT_EQUAL(levels[i / 4], "0JK1"[line]);
    }
    TEST_ASSERT_FALSE(usb_sender_step(&s, &line));
    TEST_ASSERT_FALSE(usb_sender_busy(&s));
}

/* ---- round trips ------------------------------------------------------------------------- */

static uint64_t now;

/* One packet through the wires, and some idle time; whether one came out. */
static bool pass(struct usb_sender *s, struct usb_receiver *r)
{
    enum usb_line line = USB_J;
    bool came = false;
    for (unsigned idle = 0; idle < 60; ) {
        if (!usb_sender_step(s, &line)) {
            line = USB_J;
            idle++;
        }
        came |= usb_receiver_step(r, line, now++);
    }
    return came;
}

static void round_trips(double ppm, double jitter, unsigned count)
{
    struct usb_sender s;
    struct usb_receiver r;
    usb_sender_init(&s, ppm, jitter, 7);
    usb_receiver_init(&r);
    for (unsigned i = 0; i < count; i++) {
        uint8_t bytes[USB_PACKET_MAX];
        uint32_t length = 1 + (uint32_t)(usb_random(&dice) % USB_PACKET_MAX);
        for (uint32_t k = 0; k < length; k++) { /* many ones, so that much is stuffed */
            uint64_t kind = usb_random(&dice);
            bytes[k] = kind % 3 ? 0xff : (uint8_t)(kind >> 8 | (kind % 5 ? 0 : kind >> 16));
        }
        usb_sender_start(&s, bytes, length);
        TEST_ASSERT_TRUE(pass(&s, &r));
        TEST_ASSERT_EQUAL_HEX32(0, r.flaws);
        TEST_ASSERT_EQUAL(length, r.packet.length);
        TEST_ASSERT_EQUAL_HEX8_ARRAY(bytes, r.packet.bytes, length);
    }
}

static void test_what_goes_in_comes_out(void)
{
    round_trips(0, 0, 3000);
}

/* Four times what full speed allows. */
static void test_with_clocks_that_are_off(void)
{
    for (double ppm = -10000; ppm <= 10000; ppm += 2500)
        round_trips(ppm, 0, 200);
}

static void test_with_edges_that_jitter(void)
{
    round_trips(0, 0.4, 1000);
    round_trips(2500, 0.45, 1000);
    round_trips(-2500, 0.45, 1000);
}

/* ---- what is wrong ----------------------------------------------------------------------- */

static uint32_t flaws_of(const char *levels)
{
    static const char letters[] = "0JK1";
    struct usb_receiver r;
    bool came = false;
    usb_receiver_init(&r);
    for (const char *l = levels; *l; l++)
        for (unsigned i = 0; i < 4; i++) {
            const enum usb_line line = (enum usb_line)(strchr(letters, *l) - letters);
            came |= usb_receiver_step(&r, line, now++);
        }
    TEST_ASSERT_TRUE(came);
    return r.flaws;
}

static void test_flaws_are_told(void)
{
    TEST_ASSERT_EQUAL_HEX32(0, flaws_of("JJ" "KJKJKJKK" "JJKJJKKK" "00JJ"));
    TEST_ASSERT_EQUAL_HEX32(0, flaws_of("JJ" "KJKK" "JJKJJKKK" "00JJ")); /* begin of SYNC lost */
    TEST_ASSERT_EQUAL_HEX32(USB_FLAW_RAGGED, flaws_of("J" "KJKJKJKK" "JJKJJKK" "00JJ"));
    TEST_ASSERT_EQUAL_HEX32(USB_FLAW_EOP, flaws_of("J" "KJKJKJKK" "JJKJJKKK" "0JJ"));
    TEST_ASSERT_EQUAL_HEX32(USB_FLAW_EOP, flaws_of("J" "KJKJKJKK" "JJKJJKKK" "000JJ"));
    TEST_ASSERT_EQUAL_HEX32(USB_FLAW_EOP, flaws_of("J" "KJKJKJKK" "JJKJJKKK" "00KJ"));
    TEST_ASSERT_EQUAL_HEX32(USB_FLAW_SYNC, flaws_of("J" "KJKJKJKJKJKJ" "00JJ"));
    TEST_ASSERT_TRUE(flaws_of("J" "KJKJKJKK" "KKKKKKKKKK" "00JJ") & USB_FLAW_STUFF);
    TEST_ASSERT_TRUE(flaws_of("J" "KJKJKJKK" "JKJJJJJJJJJJJJ") & USB_FLAW_END);
    TEST_ASSERT_TRUE(flaws_of("J" "KJKJKJKK" "JKJ1K1KJ" "00JJ") & USB_FLAW_STUFF);
}

static void test_babble_is_cut(void)
{
    struct usb_sender s;
    struct usb_receiver r;
    uint8_t bytes[USB_PACKET_MAX] = { 0 };
    usb_sender_init(&s, 0, 0, 0);
    usb_receiver_init(&r);
    usb_sender_start(&s, bytes, sizeof bytes);
    bool came = false;
    enum usb_line line;
    for (unsigned i = 0; i < 4 * 100; i++) {
        TEST_ASSERT_TRUE(usb_sender_step(&s, &line));
        came |= usb_receiver_step(&r, line, now++);
    }
    for (unsigned i = 0; i < 4 * 8 * 2 * USB_PACKET_MAX; i++) /* zeros for ever */
        came |= usb_receiver_step(&r, i / 4 % 2 ? USB_J : USB_K, now++);
    TEST_ASSERT_FALSE(came);
    TEST_ASSERT_TRUE(r.active);
    for (unsigned i = 0; i < 40; i++)
        came |= usb_receiver_step(&r, i < 8 ? USB_SE0 : USB_J, now++);
    TEST_ASSERT_TRUE(came);
    TEST_ASSERT_TRUE(r.flaws & USB_FLAW_LONG);
    TEST_ASSERT_EQUAL(USB_PACKET_MAX, r.packet.length);
}

/* Anything at all: it comes back to idle, keeps its bounds, and takes the next packet. */
static void test_garbage_does_no_harm(void)
{
    static const uint8_t nak = USB_PID_NAK;
    struct usb_sender s;
    struct usb_receiver r;
    usb_sender_init(&s, 0, 0, 0);
    usb_receiver_init(&r);
    for (unsigned i = 0; i < 3000; i++) {
        unsigned length = (unsigned)(usb_random(&dice) % 400), hold = 1 + i % 5;
        enum usb_line line = USB_J;
        for (unsigned k = 0; k < length; k++) {
            if (k % hold == 0)
                line = (enum usb_line)(usb_random(&dice) % (i % 2 ? 4 : 3));
            usb_receiver_step(&r, line, now++);
        }
        for (unsigned k = 0; k < 60; k++)
            usb_receiver_step(&r, USB_J, now++);
        TEST_ASSERT_FALSE(r.active);
        usb_sender_start(&s, &nak, 1);
        TEST_ASSERT_TRUE(pass(&s, &r));
        TEST_ASSERT_EQUAL_HEX32(0, r.flaws);
        TEST_ASSERT_EQUAL_HEX8(USB_PID_NAK, r.packet.bytes[0]);
    }
}

static void test_who_drives_wins(void)
{
    struct usb_pins none = { .oe = false }, up = { .pullup = true };
    struct usb_pins k = { .dn = true, .oe = true }, j = { .dp = true, .oe = true };
    struct usb_pins low = { .oe = true };
    TEST_ASSERT_EQUAL(USB_SE0, usb_line(none, none));
    TEST_ASSERT_EQUAL(USB_J, usb_line(none, up));
    TEST_ASSERT_EQUAL(USB_K, usb_line(k, up));
    TEST_ASSERT_EQUAL(USB_SE0, usb_line(low, up));
    TEST_ASSERT_EQUAL(USB_K, usb_line(none, k));
    TEST_ASSERT_EQUAL(USB_J, usb_line(j, j));
    TEST_ASSERT_EQUAL(USB_SE1, usb_line(j, k));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_checksums_are_those_that_were_published);
    RUN_TEST(test_well_known_packets);
    RUN_TEST(test_a_packet_is_good_or_not);
    RUN_TEST(test_levels_of_handshakes);
    RUN_TEST(test_zeros_are_stuffed);
    RUN_TEST(test_four_samples_a_bit);
    RUN_TEST(test_what_goes_in_comes_out);
    RUN_TEST(test_with_clocks_that_are_off);
    RUN_TEST(test_with_edges_that_jitter);
    RUN_TEST(test_flaws_are_told);
    RUN_TEST(test_babble_is_cut);
    RUN_TEST(test_garbage_does_no_harm);
    RUN_TEST(test_who_drives_wins);
    return UNITY_END();
}
