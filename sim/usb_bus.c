/* SPDX-License-Identifier: Apache-2.0 */
/* Enumeration, step by step, and transfers that wait while it is done again. */
#include "usb_bus.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ADDRESS = 5, ADDRESS_PAUSE = 2 * USB_SAMPLES_FRAME }; /* 9.2.6.3: a device may take 2 ms */

enum request { GET_DESCRIPTOR = 6, SET_ADDRESS = 5, SET_CONFIGURATION = 9 };
enum descriptor { DEVICE = 1, CONFIGURATION = 2, STRING = 3 };
enum { ENGLISH = 0x0409 };           /* of the strings */

/* In order. DEVICE_8 tells the packet size of endpoint 0, CONFIG_9 the whole length. */
enum step {
    DEVICE_8, GIVE_ADDRESS, DEVICE_18, CONFIG_9, CONFIG_ALL, MANUFACTURER, PRODUCT, SERIAL,
    CONFIGURE, READY
};

static void run_step(struct usb_bus *b);

/* ---- transfers that wait ----------------------------------------------------------------- */

static void put_waiting(struct usb_bus *b, struct usb_transfer *t)
{
    t->status = USB_PENDING;
    t->cancelled = false;
    t->actual = 0;
    t->next = NULL;
    *b->waiting_end = t;
    b->waiting_end = &t->next;
}

static struct usb_transfer *take_waiting(struct usb_bus *b)
{
    struct usb_transfer *all = b->waiting;
    b->waiting = NULL;
    b->waiting_end = &b->waiting;
    return all;
}

static void complete(struct usb_transfer *t, enum usb_status status)
{
    t->status = status;
    if (t->complete)
        t->complete(t);
}

static void let_go(struct usb_bus *b)
{
    for (struct usb_transfer *t = take_waiting(b), *next; t; t = next) {
        next = t->next;
        if (t->cancelled)
            complete(t, USB_CANCELLED);
        else if (b->state != USB_BUS_READY || !usb_host_submit(b->host, t))
            complete(t, USB_GONE);
    }
}

/* ---- enumeration ------------------------------------------------------------------------- */

static void set_state(struct usb_bus *b, enum usb_bus_state state)
{
    bool had = b->state == USB_BUS_READY || b->state == USB_BUS_AGAIN;
    bool has = state == USB_BUS_READY || state == USB_BUS_AGAIN;
    b->given_up &= state == USB_BUS_EMPTY;
    b->state = state;
    if (had != has && b->changed)
        b->changed(b->user, has);
    if (state == USB_BUS_READY || state == USB_BUS_EMPTY)
        let_go(b);
}

/* What happened on the wires follows where it is given up. */
static void give_up(struct usb_bus *b)
{
    const struct usb_host_statistics *s = usb_host_statistics(b->host);
    size_t used = strlen(b->why);
    snprintf(b->why + used, sizeof b->why - used,
             "; given up after %" PRIu32 " resets and %" PRIu32 " requests that failed: %" PRIu64
             " packets without an answer, %" PRIu64 " damaged answers, %" PRIu64 " too long",
             b->tries, b->failures, s->timeouts, s->damaged, s->overflows);
    b->given_up = true;
    set_state(b, USB_BUS_EMPTY);
}

static void failed(struct usb_bus *b, const char *what, const char *how)
{
    snprintf(b->why, sizeof b->why, "enumeration, %s: %s", what, how);
    b->failures++;
    if (++b->tries < USB_BUS_TRIES)
        usb_host_reset(b->host);
    else
        give_up(b);
}

/* A request goes again before the port is reset. */
static void request_failed(struct usb_bus *b, const char *what, const char *how)
{
    if (++b->requests >= USB_BUS_REQUESTS) {
        failed(b, what, how);
    } else {
        b->failures++;
        run_step(b);
    }
}

static const char *const step_names[] = {
    [DEVICE_8] = "first 8 bytes of the device descriptor", [GIVE_ADDRESS] = "SET_ADDRESS",
    [DEVICE_18] = "device descriptor", [CONFIG_9] = "configuration descriptor",
    [CONFIG_ALL] = "whole configuration", [MANUFACTURER] = "manufacturer",
    [PRODUCT] = "product", [SERIAL] = "serial number", [CONFIGURE] = "SET_CONFIGURATION"
};

static uint32_t total_length(const struct usb_bus *b)
{
    return b->new_config[2] | (uint32_t)b->new_config[3] << 8;
}

static bool packet_size_good(uint8_t size)
{
    return size == 8 || size == 16 || size == 32 || size == 64;
}

/* What is wrong with what has come, if anything. */
static const char *wrong(const struct usb_bus *b, uint32_t actual)
{
    const uint8_t *device = b->new_device, *config = b->new_config;
    switch (b->step) {
    case DEVICE_8: case DEVICE_18:
        return actual != b->control.length ? "too short"
             : device[0] != 18 || device[1] != DEVICE ? "not a device descriptor"
             : !packet_size_good(device[7]) ? "endpoint 0 has packets of a strange size"
             : NULL;
    case CONFIG_9: case CONFIG_ALL:
        return actual != b->control.length ? "too short"
             : config[0] != 9 || config[1] != CONFIGURATION ? "not a configuration descriptor"
             : total_length(b) < 9 || total_length(b) > USB_CONFIG_MAX ? "its length makes no sense"
             : NULL;
    }
    return NULL;
}

static bool is_string(uint32_t step)
{
    return step >= MANUFACTURER && step <= SERIAL;
}

/* Of the string that this step is about; 0: the device has none. */
static uint32_t string_number(const struct usb_bus *b)
{
    return b->new_device[14 + b->step - MANUFACTURER];
}

/* As much of a string as came, and as ASCII has of it. */
static void take_string(struct usb_bus *b, uint32_t actual)
{
    char *text = b->strings[b->step - MANUFACTURER];
    uint32_t length = actual < b->string[0] ? actual : b->string[0], at = 0;
    for (uint32_t i = 2; i + 1 < length && at + 1 < USB_STRING_MAX; i += 2) {
        bool plain = !b->string[i + 1] && b->string[i] >= ' ' && b->string[i] <= '~';
        text[at++] = plain ? (char)b->string[i] : '?';
    }
    text[at] = 0;
}

static void ready(struct usb_bus *b)
{
    uint32_t length = total_length(b);
    bool same = b->config_length == length && !memcmp(b->device, b->new_device, sizeof b->device)
             && !memcmp(b->config, b->new_config, length);
    if (b->state == USB_BUS_AGAIN && !same)
        set_state(b, USB_BUS_EMPTY); /* it came back as another one */
    if (b->state != USB_BUS_AGAIN)
        b->number++;
    memcpy(b->device, b->new_device, sizeof b->device);
    memcpy(b->config, b->new_config, length);
    b->config_length = length;
    b->tries = b->failures = 0;
    b->why[0] = 0;
    set_state(b, USB_BUS_READY);
}

static void step_done(struct usb_transfer *t)
{
    struct usb_bus *b = t->user;
    if (t->status == USB_ABORTED || t->status == USB_GONE || t->status == USB_CANCELLED)
        return;                      /* an event says the same */
    const char *how = t->status == USB_OK ? wrong(b, t->actual) : usb_status_name(t->status);
    if (is_string(b->step) && (t->status == USB_STALLED || b->requests + 1 >= USB_BUS_REQUESTS))
        how = NULL; /* a device need not have them, as Linux has it */
    if (how) {
        request_failed(b, step_names[b->step], how);
        return;
    }
    b->requests = 0;
    if (b->step == DEVICE_8)
        usb_host_set_packet_size(b->host, b->new_device[7]);
    else if (is_string(b->step) && t->status == USB_OK)
        take_string(b, t->actual);
    b->step++;
    if (b->step == GIVE_ADDRESS + 1) {
        usb_host_set_address(b->host, ADDRESS);
        usb_host_alarm(b->host, ADDRESS_PAUSE);
    } else if (b->step == READY) {
        ready(b);
    } else {
        run_step(b);
    }
}

static void request(struct usb_bus *b, uint8_t type, enum request request, uint32_t value,
                    uint32_t index, void *buffer, uint32_t length)
{
    b->control = (struct usb_transfer){
        .setup = { type, request, value & 0xff, value >> 8, index & 0xff, index >> 8, length & 0xff,
                   length >> 8 },
        .buffer = buffer, .length = length, .complete = step_done, .user = b
    };
    if (!usb_host_submit(b->host, &b->control))
        failed(b, step_names[b->step], "the port is not enabled");
}

static void get(struct usb_bus *b, enum descriptor type, uint32_t number, void *buffer,
                uint32_t length)
{
    request(b, USB_ENDPOINT_IN, GET_DESCRIPTOR, type << 8 | number, type == STRING ? ENGLISH : 0,
            buffer, length);
}

static void run_step(struct usb_bus *b)
{
    while (is_string(b->step) && !string_number(b))
        b->step++;
    switch (b->step) {
    case DEVICE_8:     get(b, DEVICE, 0, b->new_device, 8); return;
    case GIVE_ADDRESS: request(b, 0, SET_ADDRESS, ADDRESS, 0, NULL, 0); return;
    case DEVICE_18:    get(b, DEVICE, 0, b->new_device, 18); return;
    case CONFIG_9:     get(b, CONFIGURATION, 0, b->new_config, 9); return;
    case CONFIG_ALL:   get(b, CONFIGURATION, 0, b->new_config, total_length(b)); return;
    case CONFIGURE:    request(b, 0, SET_CONFIGURATION, b->new_config[5], 0, NULL, 0); return;
    default:           get(b, STRING, string_number(b), b->string, sizeof b->string); return;
    }
}

static void on_event(void *user, enum usb_port_event event)
{
    struct usb_bus *b = user;
    switch (event) {
    case USB_PORT_CONNECTED:
        b->tries = b->failures = 0;
        set_state(b, USB_BUS_BUSY);
        usb_host_reset(b->host);
        return;
    case USB_PORT_DISCONNECTED:
        usb_host_alarm(b->host, 0);
        b->given_up = false;
        if (usb_bus_waits_for(b))
            snprintf(b->why, sizeof b->why, "enumeration, %s: the board was unplugged meanwhile",
                     usb_bus_waits_for(b));
        set_state(b, USB_BUS_EMPTY);
        return;
    case USB_PORT_RESET:
        usb_host_alarm(b->host, 0);
        set_state(b, b->state == USB_BUS_READY || b->state == USB_BUS_AGAIN ? USB_BUS_AGAIN
                                                                            : USB_BUS_BUSY);
        return;
    case USB_PORT_ENABLED:
        b->step = DEVICE_8;
        b->requests = 0;
        memset(b->strings, 0, sizeof b->strings);
        run_step(b);
        return;
    case USB_PORT_DISABLED:
        failed(b, "port", "disabled, as the device sent into the next frame");
        return;
    case USB_PORT_ALARM:
        run_step(b);
        return;
    case USB_PORT_SUSPENDED: case USB_PORT_RESUMED:
        return;
    }
}

/* ---- for users --------------------------------------------------------------------------- */

void usb_bus_init(struct usb_bus *b, struct usb_host *host)
{
    memset(b, 0, sizeof *b);
    b->host = host;
    b->waiting_end = &b->waiting;
    usb_host_on_event(host, on_event, b);
}

const char *usb_bus_waits_for(const struct usb_bus *b)
{
    bool under_way = b->state == USB_BUS_BUSY || b->state == USB_BUS_AGAIN;
    return under_way && b->step < READY ? step_names[b->step] : NULL;
}

bool usb_bus_submit(struct usb_bus *b, struct usb_transfer *t)
{
    if (b->state == USB_BUS_READY && usb_host_enabled(b->host))
        return usb_host_submit(b->host, t);
    if (b->state != USB_BUS_READY && b->state != USB_BUS_AGAIN)
        return false;
    put_waiting(b, t);               /* READY: the event of a reset or an unplug is to come */
    return true;
}

void usb_bus_cancel(struct usb_bus *b, struct usb_transfer *t)
{
    for (struct usb_transfer *w = b->waiting; w; w = w->next)
        if (w == t)
            t->cancelled = true;     /* it completes when the others go on */
    usb_host_cancel(b->host, t);
}

void usb_bus_reset(struct usb_bus *b)
{
    if (b->state == USB_BUS_READY)
        usb_host_reset(b->host);
}
