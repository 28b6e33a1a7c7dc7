/* SPDX-License-Identifier: Apache-2.0 */
/* The USB device core of rtl/board/ on bad wires: damaged, cut off and endless packets, garbage,
 * clocks that are off, edges that jitter. After each of them it answers as if nothing had been. */
#include <string.h>

#include "usb_core_fixture.h"
#include "usb_random.h"

enum { ACK = USB_PID_ACK, NAK = USB_PID_NAK, DATA0 = USB_PID_DATA0, DATA1 = USB_PID_DATA1,
       BIT = USB_SAMPLES_BIT };

static uint64_t dice;

void setUp(void)
{
    dice = 2026;
    fixture_set_up();
}

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(usb_random(&dice) % limit);
}

static uint32_t damaged(void)
{
    return usb_rig_read(r, BOARD_USB_ERRORS) & 0xffff;
}

/* ---- damage ------------------------------------------------------------------------------ */

/* Token and data of a bulk OUT. */
struct victim { struct usb_packet token, data; };

static void make_victim(struct victim *v, uint32_t length)
{
    usb_packet_token(&v->token, USB_PID_OUT, 0, 1);
    usb_packet_data(&v->data, false, bytes, length);
}

static void start(const struct usb_packet *p)
{
    usb_sender_start(&r->sender, p->bytes, p->length);
}

static void untouched(void)
{
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_OUT));
    TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
}

/* Every bit of a packet inverted before it was stuffed: PID, check, address, data, CRC. */
static void test_every_bit_of_a_packet(void)
{
    struct victim v;
    make_victim(&v, 5);
    for (unsigned bit = 0; bit < 8 * v.token.length; bit++) {
        struct usb_packet p = v.token;
        p.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        usb_rig_send(r, &p);
        usb_rig_step(r, 8);
        usb_rig_send(r, &v.data);
        expect(NOTHING, usb_rig_answer(r));
        TEST_ASSERT_EQUAL(bit + 1, damaged());
    }
    for (unsigned bit = 0; bit < 8 * v.data.length; bit++) {
        struct usb_packet p = v.data;
        p.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        usb_rig_send(r, &v.token);
        usb_rig_step(r, 8);
        usb_rig_send(r, &p);
        expect(NOTHING, usb_rig_answer(r));
        TEST_ASSERT_EQUAL(8 * v.token.length + bit + 1, damaged());
    }
    untouched();
    usb_rig_still_works(r);
}

/* Every bit on the wires: one level is wrong, which is two bits, or stuffing, or EOP. */
static void test_every_level_of_a_packet(void)
{
    struct victim v;
    make_victim(&v, 9);
    memset(v.data.bytes + 1, 0xff, 4); /* some stuffing */
    usb_packet_data(&v.data, false, v.data.bytes + 1, 9);
    start(&v.data);
    unsigned count = r->sender.count;
    r->sender.count = 0;
    for (unsigned level = 8; level < count - 3; level++) {
        usb_rig_send(r, &v.token);
        usb_rig_step(r, 8);
        start(&v.data);
        r->sender.levels[level] ^= USB_J | USB_K;
        usb_rig_finish(r);
        expect(NOTHING, usb_rig_answer(r));
        usb_rig_step(r, 8);
        TEST_ASSERT_EQUAL(level - 7, damaged());
    }
    untouched();
    usb_rig_still_works(r);
}

/* A stuffed bit that is a one, of which the checksum knows nothing: at J and at K. */
static void test_stuffing(void)
{
    for (uint8_t first = 0; first < 4; first++) {
        struct victim v;
        uint8_t data[4] = { first, 0x3f, 0x55, 0x2a };
        make_victim(&v, 4);
        usb_packet_data(&v.data, false, data, 4);
        usb_rig_send(r, &v.token);
        usb_rig_step(r, 8);
        start(&v.data);
        uint8_t *levels = r->sender.levels;
        unsigned ones = 0, at = 8;
        for (; ones < 6; at++)
            ones = levels[at] == levels[at - 1] ? ones + 1 : 0;
        for (; at < r->sender.count - 3; at++)
            levels[at] ^= USB_J | USB_K;
        usb_rig_finish(r);
        expect(NOTHING, usb_rig_answer(r));
        usb_rig_step(r, 8);
        TEST_ASSERT_GREATER_THAN(first, damaged());
    }
    untouched();
    usb_rig_still_works(r);
}

/* Cut off after any number of bits, with an EOP and without. */
static void test_truncated(void)
{
    struct victim v;
    make_victim(&v, 9);
    start(&v.data);
    unsigned count = r->sender.count;
    for (unsigned with_eop = 0; with_eop < 2; with_eop++)
        for (unsigned levels = 1; levels < count - 4; levels++) {
            r->sender.count = 0;
            usb_rig_send(r, &v.token);
            usb_rig_step(r, 8);
            start(&v.data);
            if (with_eop)
                memmove(r->sender.levels + levels, r->sender.levels + count - 3, 3);
            r->sender.count = levels + (with_eop ? 3 : 0);
            usb_rig_finish(r);
            expect(NOTHING, usb_rig_answer(r));
            usb_rig_step(r, 20 * BIT);
        }
    untouched();
    usb_rig_still_works(r);
}

/* All is there, and then some bits more, though not a byte. One would be dribble. */
static void test_ragged(void)
{
    struct victim v;
    make_victim(&v, 9);
    for (unsigned extra = 2; extra < 8; extra++) {
        usb_rig_send(r, &v.token);
        usb_rig_step(r, 8);
        start(&v.data);
        unsigned end = r->sender.count - 3;
        memmove(r->sender.levels + end + extra, r->sender.levels + end, 3);
        for (unsigned i = end; i < end + extra; i++)
            r->sender.levels[i] = r->sender.levels[i - 1] ^ (USB_J | USB_K);
        r->sender.count += extra;
        usb_rig_finish(r);
        expect(NOTHING, usb_rig_answer(r));
        TEST_ASSERT_EQUAL(extra - 1, damaged());
    }
    untouched();
    usb_rig_still_works(r);
}

static void test_too_long(void)
{
    struct victim v;
    for (uint32_t length = 65; length < USB_PACKET_MAX - 3; length++) {
        usb_packet_token(&v.token, USB_PID_OUT, 0, 1);
        v.data.length = 0;
        v.data.bytes[0] = DATA0;
        for (unsigned i = 0; i < length; i++)
            v.data.bytes[1 + i] = bytes[i];
        uint32_t crc = usb_crc16(bytes, length);
        v.data.bytes[1 + length] = (uint8_t)crc;
        v.data.bytes[2 + length] = (uint8_t)(crc >> 8);
        v.data.length = length + 3;
        uint32_t before = damaged();
        usb_rig_send(r, &v.token);
        usb_rig_step(r, 8);
        usb_rig_send(r, &v.data);
        expect(NOTHING, usb_rig_answer(r));
        TEST_ASSERT_EQUAL(before + 1, damaged());
    }
    untouched();
    usb_rig_still_works(r);
}

/* Tokens and handshakes of a wrong length with all else right. */
static void test_lengths_of_tokens_and_handshakes(void)
{
    struct usb_packet p;
    usb_rig_give(r, bytes, 4);
    for (unsigned extra = 1; extra < 40; extra++) {
        usb_packet_token(&p, USB_PID_IN, 0, 1);
        for (unsigned i = 0; i < extra; i++)
            p.bytes[p.length++] = (uint8_t)below(256);
        usb_rig_send(r, &p);
        expect(NOTHING, usb_rig_answer(r));
        expect(DATA0, usb_rig_in(r, 1));
        usb_packet_handshake(&p, USB_PID_ACK);
        for (unsigned i = 0; i < extra; i++)
            p.bytes[p.length++] = (uint8_t)below(256);
        usb_rig_send(r, &p);
        usb_rig_step(r, 8);
        TEST_ASSERT_EQUAL_HEX32(0, usb_rig_events(r));
    }
    TEST_ASSERT_EQUAL(2 * 39, damaged());
}

/* Babble: for far longer than any packet there are good bits. */
static void test_babble(void)
{
    uint32_t before = damaged();
    for (unsigned kind = 0; kind < 3; kind++) {
        struct victim v;
        make_victim(&v, 8);
        usb_rig_send(r, &v.token);
        usb_rig_step(r, 8);
        start(&v.data);
        r->sender.count -= 3; /* no EOP */
        usb_rig_finish(r);
        for (unsigned bit = 0; bit < 20000; bit++)
            usb_rig_drive(r, bit & 1 && kind < 1 + below(2) ? USB_J : USB_K, BIT);
        usb_rig_step(r, 30 * BIT);
        TEST_ASSERT_GREATER_THAN(before, damaged());
        before = damaged();
        usb_rig_still_works(r);
    }
}

/* ---- what is unusual, but right ---------------------------------------------------------- */

static void test_first_bits_of_sync_lost(void)
{
    struct victim v;
    make_victim(&v, 7);
    for (unsigned lost = 0; lost <= 2; lost += 2) {
        bool toggle = lost / 2;
        usb_packet_data(&v.data, toggle, bytes, 7);
        start(&v.token);
        r->sender.index = lost;
        r->sender.clock = (int64_t)lost * BIT << 32;
        r->sender.edge = (int64_t)(lost + 1) * BIT << 32;
        usb_rig_finish(r);
        usb_rig_step(r, 8);
        usb_rig_send(r, &v.data);
        expect(ACK, usb_rig_answer(r));
    }
}

/* A hub may make the bit before EOP longer: up to one bit too many, which is no part of the packet
 * (7.1.9.1). */
static void test_dribble(void)
{
    struct victim v;
    make_victim(&v, 7);
    for (unsigned n = 0; n < 2; n++) {
        usb_rig_send(r, &v.token);
        usb_rig_step(r, 8);
        usb_packet_data(&v.data, n, bytes, 7);
        start(&v.data);
        unsigned count = r->sender.count;
        memmove(r->sender.levels + count - 2, r->sender.levels + count - 3, 3);
        r->sender.levels[count - 3] = r->sender.levels[count - 4];
        r->sender.count++;
        usb_rig_finish(r);
        expect(ACK, usb_rig_answer(r));
    }
    usb_rig_compare(r, BOARD_USB_OUT_BUFFER, bytes, 7);
}

/* SE0 of an EOP may be down to one bit at a device, and D- may be slower than D+. */
static void test_short_eop_and_skew(void)
{
    struct victim v;
    make_victim(&v, 7);
    usb_rig_send(r, &v.token);
    usb_rig_step(r, 8);
    start(&v.data);
    r->sender.levels[r->sender.count - 2] = USB_J;
    r->sender.count--;
    usb_rig_finish(r);
    expect(ACK, usb_rig_answer(r));
    r->late_dn = true;
    for (unsigned i = 0; i < 5; i++)
        usb_rig_still_works(r);
}

static void test_clocks_and_jitter(void)
{
    static const double ppm[] = { -5000, -2500, -100, 0, 100, 2500, 5000 };
    for (unsigned i = 0; i < sizeof ppm / sizeof *ppm; i++)
        for (double jitter = 0; jitter < 0.5; jitter += 0.22) {
            usb_rig_close(r);
            usb_rig_open(r, 12000000 + 7000000 * i, 0.07 * i, ppm[i], jitter, i);
            for (unsigned again = 0; again < 4; again++) {
                usb_rig_step(r, again);
                usb_rig_still_works(r);
            }
            TEST_ASSERT_EQUAL_HEX32(0, usb_rig_read(r, BOARD_USB_ERRORS));
        }
}

/* ---- all at once ------------------------------------------------------------------------- */

/* Two streams of numbers, with packets and handshakes lost on the way: each arrives whole, once, in
 * order, while firmware is sometimes slow and control transfers come in between. */
static void streams(uint64_t seed, unsigned transactions)
{
    uint64_t dice = seed;
    uint8_t sent = 0, taken = 0, given = 0, got = 0, chunk[64];
    bool out_toggle = false, in_toggle = false;
    uint32_t length = 0;             /* of the packet that is to be sent; 0: make a new one */
    unsigned moved = 0;
    for (unsigned n = 0; n < transactions; n++) {
        unsigned what = usb_random(&dice) % 8, fate = usb_random(&dice) % 8;
        if (what < 3) {
            if (!length)
                length = 1 + usb_random(&dice) % 64;
            for (unsigned i = 0; i < length; i++)
                chunk[i] = (uint8_t)(sent + i);
            usb_rig_token(r, USB_PID_OUT, 1);
            usb_rig_step(r, 8);
            struct usb_packet p;
            usb_packet_data(&p, out_toggle, chunk, length);
            if (fate == 0)
                p.bytes[1 + usb_random(&dice) % length] ^= 1 << fate;
            usb_rig_send(r, &p);
            int answer = usb_rig_answer(r);
            if (fate == 0)
                expect(NOTHING, answer);
            if (answer == ACK && fate != 1) { /* 1: the host did not get it */
                sent = (uint8_t)(sent + length);
                length = 0;
                out_toggle = !out_toggle;
                moved++;
            }
        } else if (what < 6) {
            if (usb_rig_in(r, 1) == NAK)
                continue;
            uint32_t size = r->answer.length - 3;
            if (fate == 0)
                continue;            /* it did not arrive */
            if ((r->answer.bytes[0] == DATA1) == in_toggle) {
                for (unsigned i = 0; i < size; i++)
                    TEST_ASSERT_EQUAL_HEX8(got++, r->answer.bytes[1 + i]);
                in_toggle = !in_toggle;
                moved++;
            }
            if (fate == 1)
                usb_rig_step(r, 20 * 4); /* the ACK is lost */
            else
                usb_rig_ack(r);
        } else if (what == 6 && fate == 0) {
            static const uint8_t setup[8] = { 0x80, 6, 0, 1, 0, 0, 64, 0 };
            expect(ACK, usb_rig_setup(r, setup));
            usb_rig_events(r);
        }
        if (fate & 1) {
            uint32_t out = usb_rig_read(r, BOARD_USB_OUT);
            if (out & BOARD_USB_FULL) {
                uint32_t size = out & BOARD_USB_LENGTH;
                for (unsigned i = 0; i < size; i++)
                    chunk[i] = taken++;
                usb_rig_compare(r, BOARD_USB_OUT_BUFFER, chunk, size);
                usb_rig_write(r, BOARD_USB_OUT, BOARD_USB_ARM);
            }
        }
        if ((fate & 2) && !(usb_rig_read(r, BOARD_USB_IN) & BOARD_USB_FULL)) {
            uint32_t size = usb_random(&dice) % 65;
            for (unsigned i = 0; i < size; i++)
                chunk[i] = given++;
            usb_rig_give(r, chunk, size);
        }
    }
    TEST_ASSERT_GREATER_THAN(transactions / 5, moved);
}

static void test_streams(void)
{
    static const uint32_t clocks[] = { 12000000, 24000000, 48000000, 60000000 };
    for (unsigned i = 0; i < 4; i++) {
        usb_rig_close(r);
        usb_rig_open(r, clocks[i], 0.1 * i, i % 2 ? 2500 : -2500, 0.1, i);
        streams(i, 1500);
    }
}

/* ---- garbage ----------------------------------------------------------------------------- */

/* Anything on the wires: levels of any length, packets of random bytes, pieces of good ones,
 * firmware's accesses in between. Nothing in it is asked to be answered well; but when it is over,
 * all is well. */
static void garbage(void)
{
    static const enum usb_pid pids[] = {
        USB_PID_OUT, USB_PID_IN, USB_PID_SETUP, USB_PID_DATA0, USB_PID_DATA1, USB_PID_ACK
    };
    struct usb_packet p;
    switch (below(5)) {
    case 0:
        for (unsigned n = below(60); n; n--)
            usb_rig_drive(r, (enum usb_line)below(4), 1 + below(40));
        break;
    case 1:
        p.length = 1 + below(90);
        for (unsigned i = 0; i < p.length; i++)
            p.bytes[i] = (uint8_t)below(256);
        if (below(2))
            p.bytes[0] = (uint8_t)pids[below(6)];
        usb_rig_send(r, &p);
        break;
    case 2:
        usb_rig_token(r, pids[below(3)], below(3));
        break;
    case 3:
        usb_packet_data(&p, below(2), bytes, below(65));
        start(&p);
        usb_rig_step(r, below(usb_sender_samples(&r->sender)));
        r->sender.count = 0;
        break;
    default:
        usb_rig_write(r, 4 * below(16), usb_random(&dice) & 0x381ff & ~1u);
        usb_rig_write(r, BOARD_USB_CONTROL, 1);
        break;
    }
    usb_rig_step(r, below(200));
}

static void test_garbage(void)
{
    static const uint32_t clocks[] = { 12000000, 48000000, 60000000 };
    for (unsigned round = 0; round < 150; round++) {
        usb_rig_close(r);
        usb_rig_open(r, clocks[round % 3], below(100) / 100.0, 0, 0, round);
        r->contention = true;
        for (unsigned n = 0; n < 40; n++)
            garbage();
        while (r->device.oe)
            usb_rig_step(r, 1);
        usb_rig_step(r, 30 * BIT);
        usb_rig_write(r, BOARD_USB_ADDRESS, 0);
        usb_rig_still_works(r);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_bit_of_a_packet);
    RUN_TEST(test_every_level_of_a_packet);
    RUN_TEST(test_stuffing);
    RUN_TEST(test_truncated);
    RUN_TEST(test_ragged);
    RUN_TEST(test_too_long);
    RUN_TEST(test_lengths_of_tokens_and_handshakes);
    RUN_TEST(test_babble);
    RUN_TEST(test_first_bits_of_sync_lost);
    RUN_TEST(test_dribble);
    RUN_TEST(test_short_eop_and_skew);
    RUN_TEST(test_clocks_and_jitter);
    RUN_TEST(test_streams);
    RUN_TEST(test_garbage);
    return UNITY_END();
}
