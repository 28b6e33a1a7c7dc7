/* SPDX-License-Identifier: Apache-2.0 */
/* The device of tests: packets in, packets out, a turnaround later. */
#include "wire_device.h"

#include <string.h>

#include "usb_random.h"

const uint8_t usb_device_descriptor[18] = {
    18, 1, 0x00, 0x02, 0xff, 0, 0, 64, 0x09, 0x12, 0x01, 0x00, 0x00, 0x01, 1, 2, 3, 1
};
const uint8_t usb_device_config[32] = {
    9, 2, 32, 0, 1, 1, 0, 0x80, 50,
    9, 4, 0, 0, 2, 0xff, 0, 0, 0,
    7, 5, 0x01, 2, 64, 0, 0,
    7, 5, 0x81, 2, 64, 0, 0
};
static const uint8_t languages[] = { 4, 3, 0x09, 0x04 };
static const char *const strings[] = { NULL, "ordeal", "test device", "T-1" };

void usb_device_init(struct usb_device *d, double ppm, double jitter, uint64_t seed)
{
    memset(d, 0, sizeof *d);
    d->attach = true;
    d->turnaround = 3 * USB_SAMPLES_BIT;
    d->random = seed;
    d->sent = -1;
    usb_sender_init(&d->sender, ppm, jitter, seed + 1);
    usb_receiver_init(&d->receiver);
}

static void reset(struct usb_device *d)
{
    d->resets++;
    d->address = d->configuration = 0;
    d->new_address = d->control_halted = false;
    d->answer_left = d->expected = 0;
    d->in = d->out = (struct usb_device_endpoint){ .halted = false };
    d->fifo_head = d->fifo_tail = d->in_size = 0;
    d->token = 0;
    d->sent = -1;
    d->reply_at = 0;
}

/* ---- answers ----------------------------------------------------------------------------- */

static void reply(struct usb_device *d)
{
    if (d->damage)
        d->reply.bytes[d->reply.length - 1] ^= 0x11;
    d->reply_at = d->silent ? 0 : d->receiver.end + d->turnaround;
}

static void handshake(struct usb_device *d, enum usb_pid pid)
{
    usb_packet_handshake(&d->reply, pid);
    reply(d);
}

static void send_data(struct usb_device *d, int endpoint, bool toggle, const void *bytes,
                      uint32_t size)
{
    usb_packet_data(&d->reply, toggle && !d->wrong_toggle, bytes, size);
    d->sent = endpoint;
    d->sent_size = size;
    reply(d);
}

static bool busy(struct usb_device *d)
{
    return usb_random(&d->random) % 100 < d->nak_percent;
}

/* ---- endpoint 0 -------------------------------------------------------------------------- */

static void give(struct usb_device *d, const void *bytes, uint32_t size)
{
    uint32_t wanted = d->setup[6] | (uint32_t)d->setup[7] << 8;
    d->answer = bytes;
    d->answer_left = size < wanted ? size : wanted;
}

static void give_string(struct usb_device *d, uint32_t index)
{
    if (index == 0) {
        give(d, languages, sizeof languages);
    } else if (index < sizeof strings / sizeof *strings) {
        uint32_t length = (uint32_t)strlen(strings[index]);
        d->room[0] = (uint8_t)(2 + 2 * length);
        d->room[1] = 3;
        for (uint32_t i = 0; i < length; i++) {
            d->room[2 + 2 * i] = (uint8_t)strings[index][i];
            d->room[3 + 2 * i] = 0;
        }
        give(d, d->room, d->room[0]);
    } else {
        d->control_halted = true;
    }
}

static void get_descriptor(struct usb_device *d)
{
    if (d->setup[3] == 1 && !d->deaf_descriptor)
        give(d, usb_device_descriptor, sizeof usb_device_descriptor);
    else if (d->setup[3] == 2)
        give(d, usb_device_config, sizeof usb_device_config);
    else if (d->setup[3] == 3)
        give_string(d, d->setup[2]);
    else
        d->control_halted = true;
}

static void take_setup(struct usb_device *d)
{
    const uint8_t *s = d->setup;
    uint32_t request = (uint32_t)s[0] << 8 | s[1], length = s[6] | (uint32_t)s[7] << 8;
    struct usb_device_endpoint *ep = s[4] == 0x81 ? &d->in : &d->out;
    d->setups++;
    d->control_halted = d->new_address = false;
    d->control_toggle = true;
    d->answer_left = d->expected = d->got = 0;
    switch (request) {
    case 0x8006: get_descriptor(d); return;
    case 0x0005: d->new_address = true; d->pending_address = s[2]; return;
    case 0x0009:
        d->configuration = s[2];
        d->in = d->out = (struct usb_device_endpoint){ .halted = false };
        return;
    case 0x8008: d->room[0] = (uint8_t)d->configuration; give(d, d->room, 1); return;
    case 0x8000: d->room[0] = d->room[1] = 0; give(d, d->room, 2); return;
    case 0x8200: d->room[0] = ep->halted; d->room[1] = 0; give(d, d->room, 2); return;
    case 0x0201: *ep = (struct usb_device_endpoint){ .halted = false }; return;
    case 0x0203: ep->halted = true; return;
    case 0x010b: d->in.toggle = d->out.toggle = false; return;
    case 0x4000 | DEVICE_VENDOR_OUT:
        d->expected = length;
        d->control_halted = length > DEVICE_MEMORY;
        return;
    case 0xc000 | DEVICE_VENDOR_IN: give(d, d->memory, DEVICE_MEMORY); return;
    default: d->control_halted = true; return;
    }
}

static void control_in(struct usb_device *d)
{
    uint32_t size = d->answer_left < 64 ? d->answer_left : 64;
    if (d->control_halted)
        handshake(d, USB_PID_STALL);
    else if (busy(d))
        handshake(d, USB_PID_NAK);
    else if (d->setup[0] & 0x80)
        send_data(d, 0, d->control_toggle, d->answer, size);
    else
        send_data(d, 0, true, NULL, 0); /* status */
}

static void control_out(struct usb_device *d, bool toggle, const uint8_t *bytes, uint32_t size)
{
    if (d->control_halted) {
        handshake(d, USB_PID_STALL);
    } else if (busy(d)) {
        handshake(d, USB_PID_NAK);
    } else {
        if (toggle != d->control_toggle && d->got < d->expected) {
            d->duplicates++;
        } else if (d->got + size <= d->expected) {
            memcpy(d->memory + d->got, bytes, size);
            d->got += size;
            d->control_toggle = !d->control_toggle;
        }
        handshake(d, USB_PID_ACK);
    }
}

static void control_sent(struct usb_device *d)
{
    if (d->setup[0] & 0x80) {
        d->answer += d->sent_size;
        d->answer_left -= d->sent_size;
        d->control_toggle = !d->control_toggle;
    } else if (d->new_address) {
        d->address = d->pending_address;
        d->new_address = false;
    }
}

/* ---- endpoint 1 -------------------------------------------------------------------------- */

static void bulk_out(struct usb_device *d, bool toggle, const uint8_t *bytes, uint32_t size)
{
    uint32_t used = d->fifo_head - d->fifo_tail;
    if (d->out.halted) {
        handshake(d, USB_PID_STALL);
        return;
    }
    if (toggle != d->out.toggle) {
        d->duplicates++;
        handshake(d, USB_PID_ACK);
        return;
    }
    if (busy(d) || used + size > DEVICE_FIFO) {
        handshake(d, USB_PID_NAK);
        return;
    }
    for (uint32_t i = 0; i < size && !d->sink; i++)
        d->fifo[d->fifo_head++ % DEVICE_FIFO] = bytes[i];
    d->out.toggle = !d->out.toggle;
    d->out_bytes += size;
    handshake(d, USB_PID_ACK);
}

static void bulk_in(struct usb_device *d)
{
    uint8_t bytes[128] = { 0 };
    uint32_t used = d->fifo_head - d->fifo_tail, size = used < 64 ? used : 64;
    if (d->in_size)                  /* the same once more, until it is acknowledged */
        size = d->in_size;
    if (d->in.halted) {
        handshake(d, USB_PID_STALL);
        return;
    }
    if (busy(d) || (!size && !d->source)) {
        handshake(d, USB_PID_NAK);
        return;
    }
    if (d->source) {
        size = 64;
        for (uint32_t i = 0; i < 16; i++) {
            uint32_t word = d->number + i;
            memcpy(bytes + 4 * i, &word, 4);
        }
    } else {
        for (uint32_t i = 0; i < size; i++)
            bytes[i] = d->fifo[(d->fifo_tail + i) % DEVICE_FIFO];
    }
    d->in_size = size;
    send_data(d, 1, d->in.toggle, bytes, size + d->extra);
}

static void bulk_sent(struct usb_device *d)
{
    d->in.toggle = !d->in.toggle;
    d->in_size = 0;
    d->in_bytes += d->sent_size;
    if (d->source)
        d->number += 16;
    else
        d->fifo_tail += d->sent_size;
}

/* ---- packets and wires ------------------------------------------------------------------- */

static void take_sof(struct usb_device *d, const struct usb_packet *p)
{
    uint64_t begin = d->receiver.begin;
    d->sofs++;
    d->last_frame = usb_packet_bits(p);
    if (d->sof_last && begin - d->sof_last != USB_SAMPLES_FRAME)
        d->sof_errors++;
    if (!d->sof_first)
        d->sof_first = begin;
    d->sof_last = begin;
}

static void take_data(struct usb_device *d, const struct usb_packet *p)
{
    bool toggle = p->bytes[0] == USB_PID_DATA1;
    uint32_t size = p->length - 3;
    if (d->token == USB_PID_SETUP && size == 8 && !toggle) {
        memcpy(d->setup, p->bytes + 1, 8);
        take_setup(d);
        handshake(d, USB_PID_ACK);
    } else if (d->token == USB_PID_OUT && size <= USB_DATA_MAX) {
        if (d->token_endpoint == 0)
            control_out(d, toggle, p->bytes + 1, size);
        else
            bulk_out(d, toggle, p->bytes + 1, size);
    }
    d->token = 0;
}

static void take_token(struct usb_device *d, const struct usb_packet *p)
{
    uint32_t bits = usb_packet_bits(p), endpoint = bits >> 7;
    d->token = 0;
    if ((bits & 0x7f) != d->address || endpoint > 1)
        return;
    if (p->bytes[0] != USB_PID_IN) {
        d->token = p->bytes[0];
        d->token_endpoint = (uint8_t)endpoint;
    } else if (endpoint == 0) {
        control_in(d);
    } else {
        bulk_in(d);
    }
}

static void take(struct usb_device *d)
{
    const struct usb_packet *p = &d->receiver.packet;
    int sent = d->sent;
    d->sent = -1;
    if (d->receiver.flaws || !usb_packet_good(p)) {
        d->dropped++;
        d->token = 0;
        return;
    }
    switch (p->bytes[0]) {
    case USB_PID_SOF:
        take_sof(d, p);
        break;
    case USB_PID_OUT: case USB_PID_IN: case USB_PID_SETUP:
        take_token(d, p);
        break;
    case USB_PID_DATA0: case USB_PID_DATA1:
        take_data(d, p);
        break;
    case USB_PID_ACK:
        if (sent == 0)
            control_sent(d);
        else if (sent == 1)
            bulk_sent(d);
        break;
    }
}

static void watch_line(struct usb_device *d, enum usb_line line)
{
    if (line != d->line) {
        d->line = line;
        d->edge = d->now;
        d->in_reset = false;
        d->resumes += d->suspended;
        d->suspended = false;
    } else if (line == USB_SE0 && d->now - d->edge == USB_SAMPLES_RESET) {
        d->in_reset = true;
        d->sof_last = 0;
        reset(d);
    } else if (line == USB_J && d->now - d->edge == 3 * USB_SAMPLES_FRAME) {
        d->suspended = true;
        d->sof_last = 0;
        d->suspends++;
    }
}

static void go_back(struct usb_sender *s, uint32_t bits)
{
    s->index -= bits;
    s->clock -= (int64_t)bits * USB_SAMPLES_BIT << 32;
    s->edge -= (int64_t)bits * USB_SAMPLES_BIT << 32;
}

struct usb_pins usb_device_sample(struct usb_device *d, enum usb_line line)
{
    struct usb_pins pins = { .pullup = d->attach };
    enum usb_line level = USB_J;
    watch_line(d, line);
    if (!usb_sender_busy(&d->sender) && usb_receiver_step(&d->receiver, line, d->now))
        take(d);
    d->now++;
    if (d->reply_at && d->now == d->reply_at && d->attach) {
        usb_receiver_init(&d->receiver); /* it is deaf to what it says itself */
        usb_sender_start(&d->sender, d->reply.bytes, d->reply.length);
        d->reply_at = 0;
    }
    if (d->endless && d->sent == 1 && d->sender.index > 20)
        go_back(&d->sender, 2);
    if (usb_sender_step(&d->sender, &level)) {
        pins.oe = true;
        pins.dp = level & 1;
        pins.dn = level >> 1 & 1;
    }
    return pins;
}
