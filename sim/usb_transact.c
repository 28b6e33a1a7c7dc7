/* SPDX-License-Identifier: Apache-2.0 */
/* The host controller within a frame: which transaction comes next, its packets, what their answers
 * mean for the transfer (USB 2.0, chapter 8). */
#include <assert.h>
#include <string.h>

#include "usb_host_parts.h"

enum {
    TURNAROUND_MAX = 18 * USB_SAMPLES_BIT,  /* an answer that has not begun by then will not come */
    MARGIN = 4 * USB_SAMPLES_BIT,
    FIRST_SOF = 8 * USB_SAMPLES_BIT         /* after a reset or a resume */
};

static bool is_in(const struct usb_host *h)
{
    return h->token == USB_PID_IN;
}

static struct usb_transfer *head(const struct usb_host *h)
{
    return h->pipes[h->current].head;
}

static uint32_t limit(const struct usb_host *h, uint32_t pipe)
{
    return pipe ? USB_DATA_MAX : h->packet_size;
}

/* ---- packets ----------------------------------------------------------------------------- */

static void put_line(struct usb_host *h, enum usb_line line)
{
    h->pins = (struct usb_pins){ .dp = line & 1, .dn = line >> 1 & 1, .oe = !h->lost };
}

/* The level of the next sample. */
static void continue_sending(struct usb_host *h, uint64_t now)
{
    enum usb_line line = USB_J;
    if (usb_sender_step(&h->sender, &line)) {
        put_line(h, line);
        return;
    }
    h->pins = (struct usb_pins){ .oe = false };
    h->asked = now + 1 - USB_SAMPLES_BIT;
    if (h->turn) {
        h->engine = ENGINE_TURN;
        h->due = h->asked + h->options.gap;
    } else if (h->answer) {
        h->engine = ENGINE_LISTENING;
        h->due = h->asked + h->options.timeout;
        usb_receiver_init(&h->receiver);
    } else {
        h->engine = ENGINE_IDLE;
        h->due = h->asked + h->options.gap;
    }
}

/* Its first level is on the wires in the next sample. */
static void transmit(struct usb_host *h, const struct usb_packet *packet, uint64_t now)
{
    struct usb_fault *f = h->options.fault;
    enum usb_fault_kind kind = f ? usb_fault_packet(f, packet, false) : USB_FAULT_NONE;
    struct usb_packet sent = *packet;
    if (kind != USB_FAULT_NONE)
        usb_fault_resize(f, kind, &sent);
    usb_sender_start(&h->sender, sent.bytes, sent.length);
    if (kind == USB_FAULT_damage_out) {
        uint8_t *level = &h->sender.levels[8 + usb_fault_random(f, h->sender.count - 11)];
        *level = *level == USB_J ? USB_K : USB_J;
    }
    h->lost = kind == USB_FAULT_lose_out || kind == USB_FAULT_lose_handshake;
    h->statistics.sent++;
    if (h->options.log)
        usb_log_packet(h->options.log, now + 1, false, &sent,
                       kind == USB_FAULT_NONE ? NULL : usb_fault_name(kind));
    h->engine = ENGINE_SENDING;
    continue_sending(h, now);
}

static void send_ack(struct usb_host *h, uint64_t end)
{
    usb_packet_handshake(&h->next, USB_PID_ACK);
    h->turn = h->answer = false;
    h->engine = ENGINE_TURN;
    h->due = end + h->options.gap;
}

/* ---- transfers --------------------------------------------------------------------------- */

static void strike(struct usb_host *h)
{
    struct usb_pipe *p = &h->pipes[h->current];
    if (++p->strikes < h->options.strikes)
        return;
    h->statistics.given_up++;
    usb_host_finish(h, h->current, USB_FAILED);
}

/* A packet of `size` bytes was moved and is acknowledged. */
static void moved(struct usb_host *h, uint32_t size)
{
    struct usb_pipe *p = &h->pipes[h->current];
    struct usb_transfer *t = p->head;
    bool last = size < limit(h, h->current);
    p->strikes = 0;
    p->toggle = !p->toggle;
    if (t->stage == STAGE_SETUP) {
        t->stage = t->length ? STAGE_DATA : STAGE_STATUS;
        p->toggle = true;
        return;
    }
    if (t->stage == STAGE_STATUS) {
        usb_host_finish(h, h->current, USB_OK);
        return;
    }
    t->actual += size;
    *(is_in(h) ? &h->statistics.bytes_in : &h->statistics.bytes_out) += size;
    if (size && ++h->frame_packets > h->statistics.frame_packets)
        h->statistics.frame_packets = h->frame_packets;
    bool whole = t->actual == t->length;
    if (h->current == 0) {
        if (whole || (is_in(h) && last)) {
            t->stage = STAGE_STATUS;
            p->toggle = true;
        }
    } else if (is_in(h)) {
        if (whole || last)
            usb_host_finish(h, h->current, whole || !t->short_not_ok ? USB_OK : USB_SHORT);
    } else if (whole && (last || !t->zero_packet)) {
        usb_host_finish(h, h->current, USB_OK);
    }
}

static void take_data(struct usb_host *h, const struct usb_packet *packet, uint64_t end)
{
    struct usb_pipe *p = &h->pipes[h->current];
    struct usb_transfer *t = p->head;
    uint32_t size = packet->length - 3, room = t->stage == STAGE_DATA ? t->length - t->actual : 0;
    if ((packet->bytes[0] == USB_PID_DATA1) != p->toggle) {
        h->statistics.duplicates++;
        if (h->current == 0 && t->stage == STAGE_STATUS)
            strike(h);               /* there is nothing that it could be a repetition of */
        else
            send_ack(h, end);
        return;
    }
    if (size > room || size > limit(h, h->current)) { /* not acknowledged: the device knows, too */
        h->statistics.overflows++;
        if (room)
            memcpy(t->buffer + t->actual, packet->bytes + 1, size < room ? size : room);
        t->actual += size < room ? size : room;
        usb_host_finish(h, h->current, USB_OVERFLOW);
        return;
    }
    if (size)
        memcpy(t->buffer + t->actual, packet->bytes + 1, size);
    send_ack(h, end);
    moved(h, size);
}

static void take_handshake(struct usb_host *h, uint8_t pid)
{
    struct usb_pipe *p = &h->pipes[h->current];
    bool setup = h->token == USB_PID_SETUP;
    if (pid == USB_PID_ACK && !is_in(h)) {
        moved(h, h->size);
    } else if (pid == USB_PID_NAK && !setup) {
        h->statistics.naks++;
        p->strikes = 0;
        p->pause = is_in(h) ? 0 : h->now + h->options.out_pause;
    } else if (pid == USB_PID_STALL && !setup) {
        h->statistics.stalls++;
        usb_host_finish(h, h->current, USB_STALLED);
    } else {
        h->statistics.damaged++;
        strike(h);
    }
}

/* The transaction is over: with `packet`, or without an answer. The next may begin a gap after
 * `end`. */
static void answered(struct usb_host *h, const struct usb_packet *packet, bool good, uint64_t end)
{
    struct usb_transfer *t = head(h);
    uint32_t pipe = h->current;
    h->engine = ENGINE_IDLE;
    h->due = end + h->options.gap;
    if (!packet) {
        h->statistics.timeouts++;
        strike(h);
    } else if (!good) {
        h->statistics.damaged++;
        strike(h);
    } else if (usb_packet_is_data(packet) && is_in(h)) {
        take_data(h, packet, end);
    } else if (packet->length == 1) {
        take_handshake(h, packet->bytes[0]);
    } else {                         /* tokens, or data that we did not ask for */
        h->statistics.damaged++;
        strike(h);
    }
    h->current = PIPES;
    if (h->pipes[pipe].head == t && t->cancelled)
        usb_host_finish(h, pipe, USB_CANCELLED);
}

static void damage(struct usb_fault *f, struct usb_packet *p)
{
    uint32_t at = usb_fault_random(f, p->length * 8);
    for (uint32_t i = at; i < at + 2 && i < p->length * 8; i++)
        p->bytes[i / 8] ^= (uint8_t)(1u << i % 8);
}

static void received(struct usb_host *h)
{
    struct usb_receiver *r = &h->receiver;
    struct usb_fault *f = h->options.fault;
    struct usb_host_statistics *s = &h->statistics;
    enum usb_fault_kind kind = f ? usb_fault_packet(f, &r->packet, true) : USB_FAULT_NONE;
    uint32_t turnaround = (uint32_t)(r->begin - h->asked);
    if (turnaround < s->turnaround_min)
        s->turnaround_min = turnaround;
    if (turnaround > s->turnaround_max)
        s->turnaround_max = turnaround;
    s->received++;
    if (kind == USB_FAULT_damage_in)
        damage(f, &r->packet);
    else if (kind != USB_FAULT_NONE)
        usb_fault_resize(f, kind, &r->packet);
    bool good = !(r->flaws & ~USB_FLAW_EOP) && usb_packet_good(&r->packet);
    if (good && r->flaws)
        s->flaws++;
    if (r->packet.length > USB_DATA_MAX + 3u && !good)
        s->overflows++;
    if (h->options.log)
        usb_log_packet(h->options.log, r->begin, true, &r->packet,
                       kind != USB_FAULT_NONE ? usb_fault_name(kind) : good ? NULL : "damaged");
    bool lost = kind == USB_FAULT_lose_in || kind == USB_FAULT_lose_handshake;
    answered(h, lost ? NULL : &r->packet, good, r->end);
}

/* ---- the frame --------------------------------------------------------------------------- */

static uint64_t sof_time(const struct usb_host *h)
{
    return (uint64_t)h->next_sof;
}

static uint32_t packet_samples(uint32_t bytes)
{
    return (8 + (bytes * 8 * 7 + 5) / 6 + 3) * USB_SAMPLES_BIT; /* as if all bits were ones */
}

/* What a transaction takes at most, with data of so many bytes, and the pause behind it. */
static uint32_t transaction_samples(const struct usb_host *h, uint32_t bytes)
{
    const struct usb_host_options *o = &h->options;
    uint32_t all = packet_samples(3) + packet_samples(bytes + 3) + packet_samples(1)
                 + TURNAROUND_MAX + 2 * o->gap + MARGIN;
    if (o->fault && o->fault->rate[USB_FAULT_lengthen] > 0)
        all += 2 * USB_FAULT_LONGER * 10 * USB_SAMPLES_BIT;
    return o->ppm != 0 ? all + all / 64 : all;
}

/* The token that the transfer needs next, and how many bytes we send with it. */
static uint8_t next_token(const struct usb_host *h, uint32_t pipe, uint32_t *size)
{
    const struct usb_transfer *t = h->pipes[pipe].head;
    uint32_t left = t->length - t->actual;
    bool in = pipe ? pipe >= 16 : t->setup[0] & USB_ENDPOINT_IN;
    *size = 0;
    if (t->stage == STAGE_SETUP) {
        *size = sizeof t->setup;
        return USB_PID_SETUP;
    }
    if (t->stage == STAGE_STATUS)
        return in && t->length ? USB_PID_OUT : USB_PID_IN;
    if (in)
        return USB_PID_IN;
    *size = left < limit(h, pipe) ? left : limit(h, pipe);
    return USB_PID_OUT;
}

static uint32_t needs(const struct usb_host *h, uint32_t pipe)
{
    uint32_t size;
    uint8_t token = next_token(h, pipe, &size);
    return transaction_samples(h, token == USB_PID_IN ? limit(h, pipe) : size);
}

static void begin_transaction(struct usb_host *h, uint32_t pipe, uint64_t now)
{
    struct usb_pipe *p = &h->pipes[pipe];
    struct usb_transfer *t = p->head;
    struct usb_packet token;
    h->current = h->last_pipe = pipe;
    h->token = next_token(h, pipe, &h->size);
    h->turn = !is_in(h);
    h->answer = true;
    if (t->stage == STAGE_SETUP)
        usb_packet_data(&h->next, false, t->setup, sizeof t->setup);
    else if (!is_in(h))
        usb_packet_data(&h->next, p->toggle, t->buffer + t->actual, h->size);
    usb_packet_token(&token, h->token, h->address, pipe & 15);
    transmit(h, &token, now);
}

static void send_sof(struct usb_host *h, uint64_t now)
{
    struct usb_fault *f = h->options.fault;
    struct usb_packet sof;
    usb_packet_sof(&sof, h->frame);
    h->frame = (h->frame + 1) & 0x7ff;
    h->frame_packets = 0;
    h->statistics.frames++;
    h->next_sof += USB_SAMPLES_FRAME / (1 + h->options.ppm / 1e6);
    h->turn = h->answer = false;
    if (f && h->port == PORT_ENABLED && h->trouble == USB_FAULT_NONE) {
        h->trouble = usb_fault_frame(f);
        h->trouble_at = now + usb_fault_random(f, USB_SAMPLES_FRAME);
    }
    transmit(h, &sof, now);
}

static void idle(struct usb_host *h, uint64_t now)
{
    uint64_t next = now + 1;         /* the sample that we decide about */
    if (next >= sof_time(h)) {
        if (h->line == USB_J)
            send_sof(h, now);
        else if (h->line != USB_SE0) /* SE0: it is being unplugged */
            usb_host_babble(h);
        return;
    }
    if (next < h->due || h->line != USB_J || h->port != PORT_ENABLED || h->want_suspend)
        return;
    for (uint32_t i = 1; i <= PIPES; i++) {
        uint32_t pipe = (h->last_pipe + i) % PIPES;
        const struct usb_pipe *p = &h->pipes[pipe];
        if (p->head && next >= p->pause && next + needs(h, pipe) <= sof_time(h)) {
            begin_transaction(h, pipe, now);
            return;
        }
    }
}

void usb_frame_begin(struct usb_host *h, uint64_t now)
{
    h->next_sof = (double)(now + FIRST_SOF);
    h->due = now;
}

void usb_engine_stop(struct usb_host *h)
{
    h->engine = ENGINE_IDLE;
    h->sender.count = 0;
    h->receiver.active = false;
    h->current = PIPES;
    h->turn = h->answer = false;
}

void usb_engine_step(struct usb_host *h, uint64_t now)
{
    switch (h->engine) {
    case ENGINE_IDLE:
        idle(h, now);
        return;
    case ENGINE_SENDING:
        continue_sending(h, now);
        return;
    case ENGINE_TURN:
        if (now + 1 >= h->due) {
            h->turn = false;
            transmit(h, &h->next, now);
        }
        return;
    case ENGINE_LISTENING:
        usb_receiver_step(&h->receiver, h->line, now);
        if (h->receiver.active)
            h->engine = ENGINE_RECEIVING;
        else if (now >= h->due)
            answered(h, NULL, false, now);
        return;
    case ENGINE_RECEIVING:
        if (usb_receiver_step(&h->receiver, h->line, now))
            received(h);
        else if (now + 1 >= sof_time(h))
            usb_host_babble(h);
        return;
    }
}

uint64_t usb_engine_wake(const struct usb_host *h)
{
    switch (h->engine) {
    case ENGINE_IDLE: {
        uint64_t wake = sof_time(h);
        if (h->port == PORT_ENABLED)
            for (uint32_t i = 0; i < PIPES; i++) {
                const struct usb_pipe *p = &h->pipes[i];
                uint64_t ready = p->pause > h->due ? p->pause : h->due;
                if (ready <= h->now)
                    ready = h->now + 1;
                if (p->head && ready < wake && ready + needs(h, i) <= sof_time(h))
                    wake = ready;
            }
        return wake - 1;
    }
    case ENGINE_TURN:
        return h->due - 1;
    case ENGINE_LISTENING:
        return h->due;
    default:
        return 0;
    }
}
