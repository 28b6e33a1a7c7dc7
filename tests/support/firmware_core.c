/* SPDX-License-Identifier: Apache-2.0 */
/* The USB core of the board in memory: its registers, and the packets of a host (BOARD.md). */
#include <string.h>

#include "firmware_parts.h"

static uint32_t word(const uint8_t *bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool in(uint32_t offset, uint32_t buffer)
{
    return offset >= buffer && offset < buffer + DEVICE_PACKET;
}

void core_reset(struct core *c)
{
    c->address = 0;
    c->suspended = false;
    memset(&c->ep0_out, 0, sizeof c->ep0_out);
    memset(&c->ep0_in, 0, sizeof c->ep0_in);
    memset(&c->out, 0, sizeof c->out);
    memset(&c->in, 0, sizeof c->in);
    c->events = USB_EVENT_RESET;
    c->disturbed = true;
}

uint32_t core_read(struct core *c, uint32_t offset)
{
    switch (offset) {
    case USB_CONTROL: return c->control;
    case USB_STATUS:  return c->control | c->suspended << 1;
    case USB_EVENTS:  return c->events;
    case USB_ERRORS:  return 0x00020001;
    case USB_SETUP0:  return word(c->setup);
    case USB_SETUP1:  return word(c->setup + 4);
    case USB_EP0_OUT:
        return (c->ep0_out.armed ? USB_ARM : 0)
            | (c->ep0_out.full ? USB_FULL | c->ep0_out.packet.length : 0);
    case USB_EP0_IN:  return c->ep0_in.armed ? USB_ARM : 0;
    case USB_OUT:     return c->out.count ? USB_FULL | c->out.packets[0].length : 0;
    case USB_IN:      return c->in.count == DEPTH ? USB_FULL : 0;
    }
    if (in(offset, USB_EP0_OUT_BUFFER))
        return word(c->ep0_out.packet.bytes + (offset - USB_EP0_OUT_BUFFER));
    if (in(offset, USB_OUT_BUFFER)) {
        if (!c->out.count && !c->disturbed)
            firmware_wrong("reads a packet that is not there", offset);
        return word(c->out.packets[0].bytes + (offset - USB_OUT_BUFFER));
    }
    firmware_wrong("reads what cannot be read", offset);
}

static void drop(struct bulk *b)
{
    memmove(b->packets, b->packets + 1, sizeof b->packets - sizeof b->packets[0]);
    b->count--;
}

/* True: there is more to do. */
static bool write_bulk(struct bulk *b, uint32_t value)
{
    b->stalled = value & USB_STALL;
    if (value & USB_CLEAR)
        b->count = 0;
    return value & USB_ARM;
}

static void put(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

void core_write(struct core *c, uint32_t offset, uint32_t value)
{
    uint32_t length = value & USB_LENGTH;
    bool setup = c->events & USB_EVENT_SETUP;
    switch (offset) {
    case USB_CONTROL:
        c->control = value & 1;
        if (!c->control)
            core_reset(c), c->events = 0;
        return;
    case USB_EVENTS:
        c->events &= ~value;
        return;
    case USB_ADDRESS:
        c->address = value & 0x7f;
        return;
    case USB_EP0_OUT:
        if (setup)
            return;
        c->ep0_out.stalled = value & USB_STALL;
        c->ep0_out.armed = value & USB_ARM;
        c->ep0_out.full = false;
        return;
    case USB_EP0_IN:
        if (setup)
            return;
        if (length > DEVICE_PACKET)
            firmware_wrong("sends more than a packet holds", offset);
        c->ep0_in.stalled = value & USB_STALL;
        c->ep0_in.armed = value & USB_ARM;
        c->ep0_in.data1 = value & USB_TOGGLE;
        c->ep0_in.packet.length = length;
        return;
    case USB_OUT:
        if (write_bulk(&c->out, value)) {
            if (c->out.count)
                drop(&c->out);
            else if (!c->disturbed)
                firmware_wrong("is done with a packet that is not there", offset);
        }
        return;
    case USB_IN:
        if (write_bulk(&c->in, value)) {
            if (c->in.count == DEPTH || length > DEVICE_PACKET)
                firmware_wrong("sends a packet where there is no room", offset);
            struct packet *p = &c->in.packets[c->in.count++];
            memcpy(p->bytes, c->in_buffer, length);
            p->length = length;
        }
        return;
    }
    if (in(offset, USB_EP0_IN_BUFFER)) {
        if (c->ep0_in.armed)
            firmware_wrong("changes a packet that may be on its way", offset);
        put(c->ep0_in.packet.bytes + (offset - USB_EP0_IN_BUFFER), value);
    } else if (in(offset, USB_IN_BUFFER)) {
        if (c->in.count == DEPTH)
            firmware_wrong("fills a packet where there is no room", offset);
        put(c->in_buffer + (offset - USB_IN_BUFFER), value);
    } else
        firmware_wrong("writes what cannot be written", offset);
}

/* ---- the host's packets --------------------------------------------------------------------- */

void firmware_device_bus_reset(struct firmware_device *d)
{
    core_reset(&d->core);
}

void firmware_device_suspend(struct firmware_device *d, bool suspended)
{
    d->core.suspended = suspended;
    d->core.events |= suspended ? USB_EVENT_SUSPEND : USB_EVENT_RESUME;
}

void firmware_device_setup(struct firmware_device *d, const uint8_t setup[8])
{
    struct core *c = &d->core;
    memcpy(c->setup, setup, 8);
    c->ep0_out.armed = c->ep0_out.full = c->ep0_out.stalled = false;
    c->ep0_in.armed = c->ep0_in.stalled = false;
    c->events |= USB_EVENT_SETUP;
}

int firmware_device_ep0_out(struct firmware_device *d, const void *packet, size_t length)
{
    struct core *c = &d->core;
    if (c->events & USB_EVENT_SETUP)
        return DEVICE_NAK;
    if (c->ep0_out.stalled)
        return DEVICE_STALL;
    if (!c->ep0_out.armed)
        return DEVICE_NAK;
    if (length)
        memcpy(c->ep0_out.packet.bytes, packet, length);
    c->ep0_out.packet.length = (uint32_t)length;
    c->ep0_out.armed = false;
    c->ep0_out.full = true;
    c->events |= USB_EVENT_EP0_OUT;
    return (int)length;
}

int firmware_device_ep0_in(struct firmware_device *d, void *packet, bool *data1)
{
    struct core *c = &d->core;
    if (c->events & USB_EVENT_SETUP)
        return DEVICE_NAK;
    if (c->ep0_in.stalled)
        return DEVICE_STALL;
    if (!c->ep0_in.armed)
        return DEVICE_NAK;
    memcpy(packet, c->ep0_in.packet.bytes, c->ep0_in.packet.length);
    *data1 = c->ep0_in.data1;
    c->ep0_in.armed = false;
    c->events |= USB_EVENT_EP0_IN;
    return (int)c->ep0_in.packet.length;
}

int firmware_device_out(struct firmware_device *d, const void *packet, size_t length)
{
    struct bulk *b = &d->core.out;
    if (b->stalled)
        return DEVICE_STALL;
    if (b->count == DEPTH)
        return DEVICE_NAK;
    struct packet *p = &b->packets[b->count++];
    if (length)
        memcpy(p->bytes, packet, length);
    p->length = (uint32_t)length;
    d->core.events |= USB_EVENT_OUT;
    return (int)length;
}

int firmware_device_in(struct firmware_device *d, void *packet)
{
    struct bulk *b = &d->core.in;
    if (b->stalled)
        return DEVICE_STALL;
    if (!b->count)
        return DEVICE_NAK;
    int length = (int)b->packets[0].length;
    memcpy(packet, b->packets[0].bytes, (size_t)length);
    drop(b);
    d->core.events |= USB_EVENT_IN;
    return length;
}

uint32_t firmware_device_address(const struct firmware_device *d)
{
    return d->core.address;
}

bool firmware_device_attached(const struct firmware_device *d)
{
    return d->core.control & 1;
}

/* ---- transfers ------------------------------------------------------------------------------ */

enum { PATIENCE = 100 };

int firmware_device_control(struct firmware_device *d, const uint8_t setup[8], uint8_t *data)
{
    uint32_t wanted = setup[6] | setup[7] << 8, moved = 0;
    bool reads = setup[0] & 0x80 && wanted, data1 = false, toggle = true;
    uint8_t packet[DEVICE_PACKET];
    firmware_device_setup(d, setup);
    for (int i = 0; i < PATIENCE; i++) {
        firmware_device_poll(d);
        int length;
        if (wanted && !reads) {         /* data to the board */
            size_t n = wanted - moved < DEVICE_PACKET ? wanted - moved : DEVICE_PACKET;
            length = firmware_device_ep0_out(d, data + moved, n);
            moved += length > 0 ? (uint32_t)length : 0;
            wanted = moved == wanted ? 0 : wanted;
        } else {
            length = firmware_device_ep0_in(d, packet, &data1);
            if (length >= 0 && data1 != toggle)
                continue;               /* a repetition, as it seems to a host */
            toggle ^= length >= 0;
            if (!reads && length >= 0)  /* the status stage */
                return length == 0 ? (firmware_device_poll(d), (int)moved) : DEVICE_SILENT;
            if (length > (int)(wanted - moved))
                return DEVICE_SILENT;   /* babble */
            if (length > 0)
                memcpy(data + moved, packet, (size_t)length);
            moved += length > 0 ? (uint32_t)length : 0;
            if (length >= 0 && (length < DEVICE_PACKET || moved == wanted))
                break;
        }
        if (length == DEVICE_STALL)
            return DEVICE_STALL;
        if (length >= 0)
            i = 0;
    }
    for (int i = 0; i < PATIENCE; i++) {
        int length = firmware_device_ep0_out(d, NULL, 0);
        firmware_device_poll(d);
        if (length != DEVICE_NAK)
            return length < 0 ? length : (int)moved;
    }
    return DEVICE_SILENT;
}

int firmware_device_request(struct firmware_device *d, uint32_t type, uint32_t request,
                            uint32_t value, uint32_t index, uint32_t length, uint8_t *data)
{
    uint8_t setup[8] = { (uint8_t)type, (uint8_t)request, (uint8_t)value, (uint8_t)(value >> 8),
                         (uint8_t)index, (uint8_t)(index >> 8), (uint8_t)length,
                         (uint8_t)(length >> 8) };
    return firmware_device_control(d, setup, data);
}

void firmware_device_plug(struct firmware_device *d)
{
    firmware_device_bus_reset(d);
    firmware_device_request(d, 0x00, 5, 1, 0, 0, NULL);
    firmware_device_request(d, 0x00, 9, 1, 0, 0, NULL);
}

bool firmware_device_send(struct firmware_device *d, const void *bytes, size_t length)
{
    for (size_t at = 0;; at += DEVICE_PACKET) {
        size_t n = length - at < DEVICE_PACKET ? length - at : DEVICE_PACKET;
        int result, polls = 0;
        while ((result = firmware_device_out(d, (const uint8_t *)bytes + at, n)) == DEVICE_NAK
               && polls++ < PATIENCE)
            firmware_device_poll(d);
        if (result < 0)
            return false;
        if (n < DEVICE_PACKET)
            break;
    }
    firmware_device_poll(d);
    return true;
}

int firmware_device_receive(struct firmware_device *d, void *bytes, size_t room, int polls)
{
    uint8_t packet[DEVICE_PACKET];
    size_t at = 0;
    while (polls-- > 0) {
        int length;
        firmware_device_poll(d);
        while ((length = firmware_device_in(d, packet)) >= 0) {
            if (at + (size_t)length > room)
                return DEVICE_SILENT;
            memcpy((uint8_t *)bytes + at, packet, (size_t)length);
            at += (size_t)length;
            if (length < DEVICE_PACKET)
                return (int)at;
        }
    }
    return DEVICE_NAK;
}
