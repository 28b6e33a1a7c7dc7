/* Faults of the bus: dice, and what they do to a packet's bytes. */
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

bool usb_fault_parse(struct usb_fault *f, const char *text, char *why, size_t size)
{
    double rate[USB_FAULT_KINDS];
    memcpy(rate, f->rate, sizeof rate);
    for (const char *at = text; ; ) {
        size_t name = strcspn(at, "=,");
        bool all = name == 3 && !memcmp(at, "all", 3), known = all;
        char *end = NULL;
        double value = at[name] == '=' ? strtod(at + name + 1, &end) : -1;
        if (!end || end == at + name + 1 || (*end && *end != ',') || !(value >= 0 && value <= 1)) {
            snprintf(why, size, "'%s': expected KIND=CHANCE, a chance from 0 to 1", at);
            return false;
        }
        for (enum usb_fault_kind k = 0; k < USB_FAULT_KINDS; k++)
            if ((all && happens_to_packets(k))
                || (strlen(kinds[k].name) == name && !memcmp(at, kinds[k].name, name))) {
                rate[k] = value;
                known = true;
            }
        if (!known) {
            int n = snprintf(why, size, "'%.*s' is no kind of fault; there are: all", (int)name,
                             at);
            for (enum usb_fault_kind k = 0; k < USB_FAULT_KINDS && n >= 0 && (size_t)n < size; k++)
                n += snprintf(why + n, size - (size_t)n, ", %s", kinds[k].name);
            return false;
        }
        if (!*end)
            break;
        at = end + 1;
    }
    memcpy(f->rate, rate, sizeof rate);
    return true;
}

uint32_t usb_fault_random(struct usb_fault *f, uint32_t below)
{
    return (uint32_t)(usb_random(&f->random) % below);
}

/* The first of the kinds that comes up; at most one hits. */
static enum usb_fault_kind roll(struct usb_fault *f, const enum usb_fault_kind *of, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double rate = f->rate[of[i]];
        if (rate > 0 && (double)(usb_random(&f->random) >> 11) / 9007199254740992.0 < rate) {
            f->count[of[i]]++;
            return of[i];
        }
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
    const enum usb_fault_kind of[] = {
        from_device ? USB_FAULT_damage_in : USB_FAULT_damage_out,
        handshake ? USB_FAULT_lose_handshake : from_device ? USB_FAULT_lose_in : USB_FAULT_lose_out,
        USB_FAULT_shorten, USB_FAULT_lengthen
    };
    return roll(f, of, sizeof of / sizeof *of);
}

enum usb_fault_kind usb_fault_frame(struct usb_fault *f)
{
    static const enum usb_fault_kind of[] = {
        USB_FAULT_reset, USB_FAULT_suspend, USB_FAULT_unplug
    };
    return roll(f, of, sizeof of / sizeof *of);
}

void usb_fault_resize(struct usb_fault *f, enum usb_fault_kind kind, struct usb_packet *p)
{
    if (kind == USB_FAULT_shorten)
        p->length = usb_fault_random(f, p->length); /* possibly SYNC and EOP alone */
    uint32_t more = kind == USB_FAULT_lengthen ? 1 + usb_fault_random(f, USB_FAULT_LONGER) : 0;
    while (more-- && p->length < USB_PACKET_MAX)
        p->bytes[p->length++] = (uint8_t)usb_random(&f->random);
}
