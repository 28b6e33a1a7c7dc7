/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the bus: when they come, and what they do to a packet's bytes. */
#include "usb_fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "usb_random.h"

static const struct { const char *name, *text; } kinds[] = {
#define FAULT(name, text) { #name, text },
    USB_FAULTS(FAULT)
#undef FAULT
};

void usb_fault_init(struct usb_fault *f, uint64_t seed)
{
    memset(f, 0, sizeof *f);
    f->random = seed;
}

const char *usb_fault_name(enum usb_fault_kind kind)
{
    return kinds[kind].name;
}

const char *usb_fault_text(enum usb_fault_kind kind)
{
    return kinds[kind].text;
}

static bool happens_to_packets(enum usb_fault_kind kind)
{
    return kind < USB_FAULT_reset;
}

/* One KIND=CHANCE or KIND@BYTES. Returns what follows; NULL: `why`. */
static const char *parse_one(struct usb_fault *f, const char *at, char *why, size_t size)
{
    size_t name = strcspn(at, "=@,");
    bool placed = at[name] == '@', all = name == 3 && !memcmp(at, "all", 3), known = false;
    char *end = NULL;
    double value = at[name] == '=' || placed ? strtod(at + name + 1, &end) : -1;
    bool fits = placed ? value >= 1 && value < 1e15 && value == (double)(uint64_t)value
                       : value >= 0 && value <= 1;
    if (!end || end == at + name + 1 || (*end && *end != ',') || !fits) {
        snprintf(why, size, "'%s': expected KIND=CHANCE, a chance from 0 to 1, or KIND@BYTES, a "
                 "whole number", at);
        return NULL;
    }
    for (enum usb_fault_kind k = 0; k < USB_FAULT_KINDS; k++) {
        if (!(all && happens_to_packets(k))
            && (strlen(kinds[k].name) != name || memcmp(at, kinds[k].name, name) != 0))
            continue;
        if (placed && happens_to_packets(k)) {
            snprintf(why, size, "'%s': what happens to packets has a chance and no place", at);
            return NULL;
        }
        if (placed)
            f->place[k] = (uint64_t)value;
        else
            f->rate[k] = value;
        known = true;
    }
    if (known)
        return end;
    int n = snprintf(why, size, "'%.*s' is no kind of fault; there are: all", (int)name, at);
    for (enum usb_fault_kind k = 0; k < USB_FAULT_KINDS && n >= 0 && (size_t)n < size; k++)
        n += snprintf(why + n, size - (size_t)n, ", %s", kinds[k].name);
    return NULL;
}

bool usb_fault_parse(struct usb_fault *f, const char *text, char *why, size_t size)
{
    struct usb_fault parsed = *f;
    const char *end = parse_one(&parsed, text, why, size);
    while (end && *end)
        end = parse_one(&parsed, end + 1, why, size);
    if (end)
        *f = parsed;
    return end;
}

uint32_t usb_fault_random(struct usb_fault *f, uint32_t below)
{
    return (uint32_t)(usb_random(&f->random) % below);
}

static bool comes(struct usb_fault *f, enum usb_fault_kind kind)
{
    double rate = f->rate[kind];
    if (f->place[kind] && f->received >= f->place[kind]) {
        f->place[kind] = 0;
        return true;
    }
    return rate > 0 && (double)(usb_random(&f->random) >> 11) / 9007199254740992.0 < rate;
}

/* The first of the kinds that comes; at most one hits. */
static enum usb_fault_kind first(struct usb_fault *f, const enum usb_fault_kind *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (comes(f, of[i])) {
            f->count[of[i]]++;
            return of[i];
        }
    return USB_FAULT_NONE;
}

enum usb_fault_kind usb_fault_packet(struct usb_fault *f, const struct usb_packet *p,
                                     bool from_device)
{
    if (!p->length)
        return USB_FAULT_NONE;
    uint8_t pid = p->bytes[0];
    bool handshake = pid == USB_PID_ACK || pid == USB_PID_NAK || pid == USB_PID_STALL;
    if (from_device && usb_packet_is_data(p) && p->length > 3)
        f->received += p->length - 3;  /* without PID and CRC */
    const enum usb_fault_kind of[] = {
        from_device ? USB_FAULT_damage_in : USB_FAULT_damage_out,
        handshake ? USB_FAULT_lose_handshake : from_device ? USB_FAULT_lose_in : USB_FAULT_lose_out,
        USB_FAULT_shorten, USB_FAULT_lengthen
    };
    return first(f, of, sizeof of / sizeof *of);
}

enum usb_fault_kind usb_fault_frame(struct usb_fault *f)
{
    static const enum usb_fault_kind of[] = {
        USB_FAULT_reset, USB_FAULT_suspend, USB_FAULT_unplug
    };
    return first(f, of, sizeof of / sizeof *of);
}

void usb_fault_resize(struct usb_fault *f, enum usb_fault_kind kind, struct usb_packet *p)
{
    if (kind == USB_FAULT_shorten)
        p->length = usb_fault_random(f, p->length); /* possibly SYNC and EOP alone */
    uint32_t more = kind == USB_FAULT_lengthen ? 1 + usb_fault_random(f, USB_FAULT_LONGER) : 0;
    while (more-- && p->length < USB_PACKET_MAX)
        p->bytes[p->length++] = (uint8_t)usb_random(&f->random);
}
