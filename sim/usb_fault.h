/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong on the simulated bus, by chance and with a seed, and how often it did.
 *
 * Rates are chances: of each packet, or of each frame. A damaged packet has the level of one bit
 * time inverted, which every receiver can notice; what a packet's own checks cannot see is never
 * made. What happens to the port can be placed as well: it comes once, in the frame that follows
 * so many bytes of data from the device. */
#ifndef SIM_USB_FAULT_H
#define SIM_USB_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "usb_packet.h"

/* FAULT(name, what it is): one table for rates, counters, options. */
#define USB_FAULTS(FAULT) \
    FAULT(damage_out,     "packets from the host with a bit error") \
    FAULT(damage_in,      "packets from the device with a bit error") \
    FAULT(lose_out,       "tokens and data from the host that never arrive") \
    FAULT(lose_in,        "data from the device that never arrives") \
    FAULT(lose_handshake, "handshakes, of either side, that never arrive") \
    FAULT(shorten,        "packets, of either side, that end too early") \
    FAULT(lengthen,       "packets, of either side, that go on for too long") \
    FAULT(reset,          "frames in which the port is reset") \
    FAULT(suspend,        "frames in which the bus is suspended for a while") \
    FAULT(unplug,         "frames in which the cable is pulled for a while")

enum usb_fault_kind {
#define FAULT(name, text) USB_FAULT_##name,
    USB_FAULTS(FAULT)
#undef FAULT
    USB_FAULT_KINDS,
    USB_FAULT_NONE = USB_FAULT_KINDS
};

enum { USB_FAULT_LONGER = 16 };      /* bytes at most by which a packet is lengthened */

struct usb_fault {
    double rate[USB_FAULT_KINDS];    /* 0 to 1 */
    uint64_t place[USB_FAULT_KINDS]; /* once `received` is as much; 0: not, or no longer */
    uint64_t received;               /* bytes of data from the device, those sent again, too */
    uint64_t count[USB_FAULT_KINDS]; /* what was injected */
    uint64_t random;
    uint32_t pause;                  /* how long suspend and unplug last, in samples; 0: 4 ms */
};

void usb_fault_init(struct usb_fault *f, uint64_t seed);

/* "damage_in=0.01,unplug=0.001", "all=0.01" for everything that happens to packets, "unplug@5000"
 * for a place. False: *why says what is wrong with it, f is as it was. */
bool usb_fault_parse(struct usb_fault *f, const char *text, char *why, size_t size);

/* "damage_in", and what it is. */
const char *usb_fault_name(enum usb_fault_kind kind);
const char *usb_fault_text(enum usb_fault_kind kind);

/* ---- for the host ------------------------------------------------------------------------ */

/* Which fault this packet suffers, if any; it is counted. */
enum usb_fault_kind usb_fault_packet(struct usb_fault *f, const struct usb_packet *p,
                                     bool from_device);

/* Which thing happens in this frame, if any: reset, suspend or unplug; it is counted. */
enum usb_fault_kind usb_fault_frame(struct usb_fault *f);

/* A number below `below`, which is not 0. */
uint32_t usb_fault_random(struct usb_fault *f, uint32_t below);

/* A packet that shall be shorter or longer becomes so. */
void usb_fault_resize(struct usb_fault *f, enum usb_fault_kind kind, struct usb_packet *p);

#endif
