/* SPDX-License-Identifier: Apache-2.0 */
/* Control transfers: standard requests of USB 2.0, chapter 9, and the vendor requests of
 * protocol.h.
 *
 * A SETUP may come at any moment, and the core forgets what was armed before it; so each begins
 * from nothing here, and an event of an older transfer finds a stage that does not care. No
 * request has data from the host; one that wants to send some is stalled, like all that is not
 * known. */
#include <stddef.h>

#include "trial_driver.h"
#include "protocol.h"
#include "registers.h"
#include "usb_descriptors.h"
#include "usb_device.h"

enum { STAGE_IDLE, STAGE_DATA, STAGE_STATUS, STAGE_ADDRESS };
enum { STALL = -1 };

/* Type and code of a request in one, as they lie on the wire. */
#define REQUEST(type, code) ((code) << 8 | (type))
enum {
    GET_STATUS_DEVICE      = REQUEST(0x80, 0),
    GET_STATUS_INTERFACE   = REQUEST(0x81, 0),
    GET_STATUS_ENDPOINT    = REQUEST(0x82, 0),
    CLEAR_FEATURE_ENDPOINT = REQUEST(0x02, 1),
    SET_FEATURE_ENDPOINT   = REQUEST(0x02, 3),
    SET_ADDRESS            = REQUEST(0x00, 5),
    GET_DESCRIPTOR         = REQUEST(0x80, 6),
    GET_CONFIGURATION      = REQUEST(0x80, 8),
    SET_CONFIGURATION      = REQUEST(0x00, 9),
    GET_INTERFACE          = REQUEST(0x81, 10),
    SET_INTERFACE          = REQUEST(0x01, 11),
    GET_VERSION            = REQUEST(0xc0, VENDOR_VERSION),
    GET_MICROSOFT          = REQUEST(0xc0, VENDOR_MICROSOFT)
};
enum { FEATURE_HALT = 0, MICROSOFT_SET = 7 };

static void reset_bulk(struct usb_device *u, uint32_t which)
{
    if (which & USB_BULK_OUT)
        usb_out_reset();
    if (which & USB_BULK_IN)
        usb_in_reset();
    u->halted &= ~which;
    u->reset |= which;
}

/* USB_BULK_* of an endpoint's address, 0: that of requests; STALL: there is none, or not now. */
static int endpoint(const struct usb_device *u, uint32_t address)
{
    if ((address & 0x7f) == 0)
        return 0;
    if (!u->configuration)
        return STALL;
    return address == BOARD_BULK_OUT ? USB_BULK_OUT
        : address == BOARD_BULK_IN ? USB_BULK_IN : STALL;
}

static int reply(struct usb_device *u, uint32_t value, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        u->reply[i] = value >> 8 * i;
    return length;
}

static int get_descriptor(struct usb_device *u, const struct usb_setup *s)
{
    uint32_t length = 0, type = s->value >> 8, index = s->value & 0xff;
    if (type == DESCRIPTOR_STRING)
        length = usb_string(index, u->serial, u->reply);
    else
        u->data = usb_descriptor(type, index, &length);
    return length ? (int)length : STALL;
}

static int halt(struct usb_device *u, const struct usb_setup *s, bool on)
{
    int which = endpoint(u, s->index);
    if (which < 0 || s->value != FEATURE_HALT || (on && which == 0))
        return STALL;
    if (!on)
        reset_bulk(u, which);
    else {
        u->halted |= which;
        if (which == USB_BULK_OUT)
            usb_out_stall();
        else
            usb_in_stall();
    }
    return 0;
}

/* Does what is asked. Returns how many bytes of u->data answer it, or STALL. */
static int request(struct usb_device *u, const struct usb_setup *s)
{
    int which;
    uint32_t length;
    switch (REQUEST(s->type, s->request)) {
    case GET_DESCRIPTOR:
        return get_descriptor(u, s);
    case SET_ADDRESS:
        if (s->value > 127 || s->index || s->length)
            return STALL;
        u->address = s->value;
        u->stage = STAGE_ADDRESS;
        return 0;
    case SET_CONFIGURATION:
        if (s->value > 1 || s->index || s->length)
            return STALL;
        u->configuration = s->value;
        reset_bulk(u, USB_BULK_OUT | USB_BULK_IN);
        return 0;
    case GET_CONFIGURATION:
        return s->value || s->index ? STALL : reply(u, u->configuration, 1);
    case SET_INTERFACE:
        if (!u->configuration || s->value || s->index || s->length)
            return STALL;
        reset_bulk(u, USB_BULK_OUT | USB_BULK_IN);
        return 0;
    case GET_INTERFACE:
        return !u->configuration || s->value || s->index ? STALL : reply(u, 0, 1);
    case GET_STATUS_DEVICE:
        return s->value || s->index ? STALL : reply(u, 0, 2);
    case GET_STATUS_INTERFACE:
        return !u->configuration || s->value || s->index ? STALL : reply(u, 0, 2);
    case GET_STATUS_ENDPOINT:
        which = endpoint(u, s->index);
        return which < 0 || s->value ? STALL : reply(u, (u->halted & which) != 0, 2);
    case CLEAR_FEATURE_ENDPOINT:
        return s->length ? STALL : halt(u, s, false);
    case SET_FEATURE_ENDPOINT:
        return s->length ? STALL : halt(u, s, true);
    case GET_VERSION:
        return reply(u, PROTOCOL_VERSION, 4);
    case GET_MICROSOFT:
        if (s->index != MICROSOFT_SET || s->value)
            return STALL;
        u->data = usb_microsoft(&length);
        return length;
    default:
        return STALL;
    }
}

static void give(struct usb_device *u)
{
    uint32_t length = u->left < USB_PACKET ? u->left : USB_PACKET;
    usb_ep0_give(u->data, length, u->data1);
    u->data += length;
    u->left -= length;
    u->data1 = !u->data1;
    if (length < USB_PACKET)
        u->short_ends = false;
}

static void setup(struct usb_device *u)
{
    struct usb_setup s;
    u->stage = STAGE_IDLE;
    u->data = u->reply;
    if (!usb_read_setup(&s))
        return;
    int length = request(u, &s);
    if (length < 0) {
        usb_ep0_stall();
        return;
    }
    /* An answer that is shorter than asked for ends with a short packet, though it be an empty one;
     * nothing asked for: the same empty packet is the status stage. */
    u->left = (uint32_t)length < s.length ? (uint32_t)length : s.length;
    u->short_ends = u->left < s.length;
    u->data1 = true;
    if (s.length) {
        u->stage = STAGE_DATA;
        usb_ep0_take(); /* the status stage: the host may have enough at any time */
    } else if (u->stage == STAGE_IDLE)
        u->stage = STAGE_STATUS;
    give(u);
}

void usb_device_start(struct usb_device *u, uint32_t serial)
{
    u->serial = serial;
    if (usb_attached()) {
        uint32_t start = trial_timer(), wait = trial_clock() >> 7; /* 8 ms */
        usb_attach(false);
        while (trial_timer() - start < wait)
            ;
    }
    usb_attach(true);
}

uint32_t usb_device_poll(struct usb_device *u)
{
    uint32_t events = usb_events();
    if (events & USB_EVENT_RESET) {
        u->stage = STAGE_IDLE;
        u->configuration = 0;
        u->reset = USB_BULK_OUT | USB_BULK_IN;
    } else if (events & USB_EVENT_EP0_IN) {
        if (u->stage == STAGE_ADDRESS)
            usb_set_address(u->address);
        if (u->stage == STAGE_DATA && (u->left || u->short_ends))
            give(u);
        else if (u->stage != STAGE_DATA)
            u->stage = STAGE_IDLE;
    }
    if (events & USB_EVENT_EP0_OUT)
        u->stage = STAGE_IDLE;
    if (events & USB_EVENT_SETUP)
        setup(u);
    uint32_t reset = u->reset;
    u->reset = 0;
    return reset;
}

uint32_t usb_device_open(const struct usb_device *u)
{
    return u->configuration ? (USB_BULK_OUT | USB_BULK_IN) & ~u->halted : 0;
}
