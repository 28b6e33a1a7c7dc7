/* SPDX-License-Identifier: Apache-2.0 */
/* The host's port, its queues of transfers, and its clock. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "usb_host_parts.h"

/* ---- transfers --------------------------------------------------------------------------- */

static uint32_t pipe_of(const struct usb_transfer *t)
{
    uint32_t number = t->endpoint & 15;
    return number && t->endpoint & USB_ENDPOINT_IN ? 16 + number : number;
}

static void put_done(struct usb_host *h, struct usb_transfer *t, enum usb_status status)
{
    t->status = status;
    t->next = NULL;
    *h->done_end = t;
    h->done_end = &t->next;
    h->wake = 0;
}

static void unlink_at(struct usb_pipe *p, struct usb_transfer **link)
{
    struct usb_transfer *t = *link;
    *link = t->next;
    if (p->tail == &t->next)
        p->tail = link;
}

/* Requests after which the device begins with DATA0 (9.1.1.5, 9.4.5). */
static void follow_toggles(struct usb_host *h, const uint8_t *setup)
{
    bool configuration = setup[0] == 0 && setup[1] == 9;
    bool interface = setup[0] == 1 && setup[1] == 11;
    bool halt = setup[0] == 2 && setup[1] == 1 && !setup[2] && !setup[3];
    for (uint32_t i = 1; i < PIPES; i++)
        if (configuration || interface
            || (halt && i == ((uint32_t)(setup[4] & 15) | (setup[4] & USB_ENDPOINT_IN ? 16 : 0))))
            h->pipes[i].toggle = false;
}

void usb_host_finish(struct usb_host *h, uint32_t pipe, enum usb_status status)
{
    struct usb_pipe *p = &h->pipes[pipe];
    struct usb_transfer *t = p->head;
    unlink_at(p, &p->head);
    p->strikes = 0;
    if (pipe == 0 && status == USB_OK)
        follow_toggles(h, t->setup);
    put_done(h, t, status);
}

static void finish_all(struct usb_host *h, enum usb_status status)
{
    for (uint32_t i = 0; i < PIPES; i++)
        while (h->pipes[i].head)
            usb_host_finish(h, i, status);
}

static void call_back(struct usb_host *h)
{
    while (h->done) {
        struct usb_transfer *t = h->done;
        h->done = t->next;
        if (!h->done)
            h->done_end = &h->done;
        if (t->complete)
            t->complete(t);
    }
}

bool usb_host_enabled(const struct usb_host *h)
{
    return h->port >= PORT_ENABLED;  /* suspended or not */
}

bool usb_host_submit(struct usb_host *h, struct usb_transfer *t)
{
    uint32_t pipe = pipe_of(t);
    struct usb_pipe *p = &h->pipes[pipe];
    if (!usb_host_enabled(h))
        return false;
    if ((pipe == 0 && t->length != (t->setup[6] | (uint32_t)t->setup[7] << 8))
        || (t->length && !t->buffer))
        return false;
    t->actual = 0;
    t->status = USB_PENDING;
    t->stage = pipe == 0 ? STAGE_SETUP : STAGE_DATA;
    t->cancelled = false;
    t->next = NULL;
    *p->tail = t;
    p->tail = &t->next;
    h->wake = 0;
    return true;
}

void usb_host_cancel(struct usb_host *h, struct usb_transfer *t)
{
    uint32_t pipe = pipe_of(t);
    struct usb_pipe *p = &h->pipes[pipe];
    for (struct usb_transfer **link = &p->head; *link; link = &(*link)->next) {
        if (*link != t)
            continue;
        if (t == p->head && h->current == pipe) {
            t->cancelled = true;
            return;
        }
        unlink_at(p, link);
        put_done(h, t, USB_CANCELLED);
        return;
    }
}

const char *usb_status_name(enum usb_status status)
{
    static const char *const names[] = {
        "pending", "done", "short", "stalled", "failed", "overflow", "cancelled", "aborted", "gone"
    };
    return names[status];
}

int usb_status_errno(enum usb_status status)
{
    static const int errors[] = {
        -EINPROGRESS, 0, -EREMOTEIO, -EPIPE, -EPROTO, -EOVERFLOW, -ECONNRESET, -EPROTO, -ESHUTDOWN
    };
    return errors[status];
}

/* ---- the port ---------------------------------------------------------------------------- */

static void tell(struct usb_host *h, enum usb_port_event event)
{
    static const char *const texts[] = {
        "connected", "disconnected", "reset", "enabled", "disabled", "suspended", "resumed", NULL
    };
    if (h->options.log && texts[event])
        usb_log_event(h->options.log, h->now, texts[event]);
    call_back(h);                    /* the transfers that it ended come first */
    if (h->event)
        h->event(h->user, event);
}

static bool frames_go(const struct usb_host *h)
{
    return h->port == PORT_ENABLED || h->port == PORT_RECOVERY;
}

static uint64_t duration(const struct usb_host *h, uint32_t milliseconds)
{
    return h->options.real_time ? milliseconds * (uint64_t)USB_SAMPLES_FRAME : USB_BRISK;
}

static void drive(struct usb_host *h, enum usb_line line)
{
    h->pins = (struct usb_pins){ .dp = line & 1, .dn = line >> 1 & 1, .oe = true };
}

static void release(struct usb_host *h)
{
    h->pins = (struct usb_pins){ .oe = false };
    h->edge = h->now;                /* SE0 that we drove says nothing about the device */
}

static void enter(struct usb_host *h, enum usb_port port, uint64_t samples)
{
    h->port = port;
    h->deadline = samples ? h->now + samples : 0;
}

static void disconnect(struct usb_host *h)
{
    usb_engine_stop(h);
    release(h);
    h->want_reset = h->want_suspend = h->want_resume = false;
    finish_all(h, USB_GONE);
    bool known = h->port != PORT_DEBOUNCE;
    enter(h, PORT_EMPTY, 0);
    if (known)
        tell(h, USB_PORT_DISCONNECTED);
}

static void start_reset(struct usb_host *h)
{
    usb_engine_stop(h);
    drive(h, USB_SE0);
    h->want_reset = h->want_suspend = h->want_resume = false;
    finish_all(h, USB_ABORTED);
    for (uint32_t i = 0; i < PIPES; i++)
        h->pipes[i] = (struct usb_pipe){ .tail = &h->pipes[i].head };
    h->address = 0;
    h->packet_size = 8;
    enter(h, PORT_RESET, duration(h, 50));
    tell(h, USB_PORT_RESET);
}

void usb_host_babble(struct usb_host *h)
{
    h->statistics.babbles++;
    usb_engine_stop(h);
    release(h);
    finish_all(h, USB_ABORTED);
    enter(h, PORT_OFF, 0);
    tell(h, USB_PORT_DISABLED);
}

/* What `deadline` was for. */
static void deadline(struct usb_host *h)
{
    enum { RESUME_SE0 = 16 * USB_SAMPLES_BIT };
    h->deadline = 0;
    switch (h->port) {
    case PORT_DEBOUNCE:
        enter(h, PORT_OFF, 0);
        tell(h, USB_PORT_CONNECTED);
        return;
    case PORT_RESET:
        release(h);
        enter(h, PORT_RECOVERY, duration(h, 10));
        usb_frame_begin(h, h->now);
        return;
    case PORT_RECOVERY:
        enter(h, PORT_ENABLED, 0);
        tell(h, USB_PORT_ENABLED);
        return;
    case PORT_RESUME:
        drive(h, USB_SE0);
        enter(h, PORT_RESUME_END, RESUME_SE0);
        return;
    case PORT_RESUME_END:
        release(h);
        enter(h, PORT_ENABLED, 0);
        usb_frame_begin(h, h->now);
        tell(h, USB_PORT_RESUMED);
        return;
    default:
        return;
    }
}

static void start_resume(struct usb_host *h)
{
    h->want_resume = false;
    drive(h, USB_K);
    enter(h, PORT_RESUME, duration(h, 20));
}

static void requests(struct usb_host *h)
{
    h->want_reset = h->want_reset && h->port >= PORT_OFF;
    h->want_suspend = h->want_suspend && frames_go(h);
    h->want_resume = h->want_resume && h->port == PORT_SUSPENDED;
    if (h->want_reset) {
        start_reset(h);
    } else if (h->want_suspend && h->port == PORT_ENABLED && h->engine == ENGINE_IDLE) {
        h->want_suspend = false;
        enter(h, PORT_SUSPENDED, 0);
        tell(h, USB_PORT_SUSPENDED);
    } else if (h->port == PORT_SUSPENDED && (h->want_resume || h->line == USB_K)) {
        start_resume(h);             /* K: the device wakes us */
    }
}

/* Troubles of this frame begin at any moment of it, and those that last end after a while. */
static void trouble(struct usb_host *h)
{
    struct usb_fault *f = h->options.fault;
    if (h->trouble == USB_FAULT_NONE || h->now < h->trouble_at)
        return;
    bool ends = h->trouble_on;
    if (h->trouble == USB_FAULT_reset)
        usb_host_reset(h);
    else if (h->trouble == USB_FAULT_suspend)
        (ends ? usb_host_resume : usb_host_suspend)(h);
    else
        h->plugged = ends;
    if (ends || h->trouble == USB_FAULT_reset) {
        h->trouble = USB_FAULT_NONE;
        h->trouble_on = false;
    } else {
        h->trouble_on = true;
        h->trouble_at = h->now + (f->pause ? f->pause : 4 * USB_SAMPLES_FRAME);
    }
}

static void watch(struct usb_host *h)
{
    if (h->pins.oe)
        return;
    if (h->line == USB_SE0 && h->port != PORT_EMPTY && h->now - h->edge >= USB_SAMPLES_RESET)
        disconnect(h);
    else if (h->line == USB_J && h->port == PORT_EMPTY)
        enter(h, PORT_DEBOUNCE, duration(h, 100));
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
    return b && b < a ? b : a;
}

static void set_wake(struct usb_host *h)
{
    uint64_t wake = frames_go(h) ? usb_engine_wake(h) : UINT64_MAX;
    wake = earliest(wake, h->deadline);
    wake = earliest(wake, h->alarm);
    if (h->trouble != USB_FAULT_NONE)
        wake = earliest(wake, h->trouble_at);
    if (h->line == USB_SE0 && h->port != PORT_EMPTY)
        wake = earliest(wake, h->edge + USB_SAMPLES_RESET);
    if (h->want_reset || h->want_suspend || h->want_resume || h->done)
        wake = 0;
    h->wake = wake;
}

/* All but the quiet samples. */
static void step(struct usb_host *h, enum usb_line line)
{
    uint64_t now = h->now;
    if (line != h->line) {
        h->line = line;
        h->edge = now;
    }
    watch(h);
    trouble(h);
    requests(h);
    if (h->deadline && now >= h->deadline)
        deadline(h);
    if (frames_go(h))
        usb_engine_step(h, now);
    call_back(h);
    if (h->alarm && now >= h->alarm) {
        h->alarm = 0;
        tell(h, USB_PORT_ALARM);
    }
    set_wake(h);
}

enum usb_line usb_host_sample(struct usb_host *h, struct usb_pins device)
{
    enum usb_line line, seen;
    if (h->plugged) {
        line = seen = usb_line(h->pins, device);
    } else {
        line = usb_line((struct usb_pins){ .oe = false }, device);
        seen = h->pins.oe ? usb_pins_line(h->pins) : USB_SE0;
    }
    if (seen != h->line || h->now >= h->wake)
        step(h, seen);
    h->now++;
    return line;
}

/* ---- the rest ---------------------------------------------------------------------------- */

static uint32_t or_else(uint32_t value, uint32_t usual)
{
    return value ? value : usual;
}

struct usb_host *usb_host_new(const struct usb_host_options *options)
{
    struct usb_host *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    if (options)
        h->options = *options;
    struct usb_host_options *o = &h->options;
    o->gap = or_else(o->gap, 2 * USB_SAMPLES_BIT);
    o->timeout = or_else(o->timeout, 17 * USB_SAMPLES_BIT);
    o->strikes = or_else(o->strikes, 3);
    o->out_pause = or_else(o->out_pause, USB_SAMPLES_FRAME / 8);
    usb_sender_init(&h->sender, o->ppm, o->jitter, o->seed);
    usb_receiver_init(&h->receiver);
    h->statistics.turnaround_min = UINT32_MAX;
    h->plugged = true;
    h->trouble = USB_FAULT_NONE;
    h->current = PIPES;
    h->packet_size = 8;
    h->done_end = &h->done;
    for (uint32_t i = 0; i < PIPES; i++)
        h->pipes[i].tail = &h->pipes[i].head;
    return h;
}

void usb_host_free(struct usb_host *h)
{
    if (!h)
        return;
    h->port = PORT_EMPTY;            /* callbacks cannot submit again */
    finish_all(h, USB_GONE);
    call_back(h);
    free(h);
}

void usb_host_on_event(struct usb_host *h, void (*event)(void *user, enum usb_port_event),
                       void *user)
{
    h->event = event;
    h->user = user;
}

uint64_t usb_host_now(const struct usb_host *h)
{
    return h->now;
}

const struct usb_host_statistics *usb_host_statistics(const struct usb_host *h)
{
    return &h->statistics;
}

void usb_host_set_address(struct usb_host *h, uint32_t address)
{
    h->address = address;
}

void usb_host_set_packet_size(struct usb_host *h, uint32_t bytes)
{
    h->packet_size = bytes;
}

void usb_host_reset(struct usb_host *h)
{
    h->want_reset = true;
    h->wake = 0;
}

void usb_host_suspend(struct usb_host *h)
{
    h->want_suspend = true;
    h->want_resume = false;
    h->wake = 0;
}

void usb_host_resume(struct usb_host *h)
{
    h->want_resume = true;
    h->want_suspend = false;
    h->wake = 0;
}

void usb_host_plug(struct usb_host *h, bool in)
{
    h->plugged = in;
    h->trouble = USB_FAULT_NONE;     /* whatever it was, it would undo this */
    h->trouble_on = false;
    h->wake = 0;
}

bool usb_host_plugged(const struct usb_host *h)
{
    return h->plugged;
}

void usb_host_alarm(struct usb_host *h, uint64_t samples)
{
    h->alarm = samples ? h->now + samples : 0;
    h->wake = 0;
}
