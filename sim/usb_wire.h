/* SPDX-License-Identifier: Apache-2.0 */
/* The two wires of full-speed USB, sampled at 48 MHz: four samples a bit (USB 2.0, chapter 7).
 *
 * One sample is one call. A sender turns a packet into levels: SYNC, NRZI, stuffed zeros, EOP;
 * its clock may be off and its edges may jitter. A receiver turns levels into packets, with a
 * clock that it recovers from the edges. Host and device use the same two. Nothing here allocates
 * memory. */
#ifndef SIM_USB_WIRE_H
#define SIM_USB_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "usb_packet.h"

enum {
    USB_SAMPLES_BIT   = 4,
    USB_SAMPLES_FRAME = 48000,
    USB_SAMPLES_RESET = 120          /* 2.5 us of SE0: a reset, or an empty port */
};

/* D+ is bit 0, D- is bit 1. */
enum usb_line { USB_SE0 = 0, USB_J = 1, USB_K = 2, USB_SE1 = 3 };

/* What one side does with the wires. */
struct usb_pins {
    bool dp, dn;
    bool oe;                         /* it drives dp and dn */
    bool pullup;                     /* it pulls D+ up: a full-speed device is there */
};

static inline enum usb_line usb_pins_line(struct usb_pins pins)
{
    return (enum usb_line)(pins.dp | pins.dn << 1);
}

/* The level of the wires. Nobody drives: the pull-up, or the host's pull-downs. Both drive
 * different levels: SE1, which no receiver takes for anything. */
static inline enum usb_line usb_line(struct usb_pins host, struct usb_pins device)
{
    if (host.oe && device.oe)
        return usb_pins_line(host) == usb_pins_line(device) ? usb_pins_line(host) : USB_SE1;
    return host.oe ? usb_pins_line(host) : device.oe ? usb_pins_line(device)
         : device.pullup ? USB_J : USB_SE0;
}

/* ---- sender ------------------------------------------------------------------------------ */

enum {
    /* SYNC, all bits with a stuffed one after every six, EOP. */
    USB_LEVELS_MAX = 8 + (USB_PACKET_MAX * 8 * 7 + 5) / 6 + 3
};

struct usb_sender {
    uint8_t levels[USB_LEVELS_MAX];  /* enum usb_line, one a bit time */
    uint32_t count;                  /* of them; 0: nothing is being sent */
    uint32_t index;                  /* of the level that is on the wires */
    int64_t clock, edge;             /* now, and when the next level begins: 2^32 is a sample */
    int64_t sample;                  /* how far the clock goes in a sample */
    int64_t jitter;                  /* at most that much is an edge early or late */
    uint64_t random;
};

/* ppm: by how much its clock is too fast (negative: too slow), within +-10,000; the USB allows
 * 2,500. jitter: how early or late an edge may be, in samples, below 0.5: more is too much for a
 * receiver that samples four times a bit. */
void usb_sender_init(struct usb_sender *s, double ppm, double jitter, uint64_t seed);

/* Makes the levels of a packet; the first goes with the next usb_sender_step(). */
void usb_sender_start(struct usb_sender *s, const uint8_t *bytes, uint32_t length);

static inline bool usb_sender_busy(const struct usb_sender *s)
{
    return s->count != 0;
}

/* One sample. False: nothing is being sent, and *line is as it was. */
bool usb_sender_step(struct usb_sender *s, enum usb_line *line);

/* The samples that the packet takes, all of EOP with it, if the clock is exact. */
static inline uint32_t usb_sender_samples(const struct usb_sender *s)
{
    return s->count * USB_SAMPLES_BIT;
}

/* ---- receiver ---------------------------------------------------------------------------- */

enum usb_flaw {                      /* of a packet that came */
    USB_FLAW_SYNC   = 1,             /* no SYNC at its begin */
    USB_FLAW_STUFF  = 2,             /* seven ones */
    USB_FLAW_RAGGED = 4,             /* not a whole number of bytes */
    USB_FLAW_END    = 8,             /* no EOP: the wires fell idle */
    USB_FLAW_EOP    = 16,            /* SE0 not of two bit times, or no J after it; still taken */
    USB_FLAW_LONG   = 32             /* more than USB_PACKET_MAX bytes; those beyond are dropped */
};

struct usb_receiver {
    struct usb_packet packet;        /* the last that came, or as much as there is of it */
    uint32_t flaws;                  /* of it: enum usb_flaw */
    uint64_t begin, end;             /* the samples: first K of SYNC, and J after the EOP */
    bool active;                     /* a packet is coming */

    uint64_t edge;                   /* the sample of the last one */
    enum usb_line line, bit;         /* at the last sample, in the middle of the last bit */
    uint8_t ones;                    /* in a row */
    uint8_t shift, bits;             /* the byte that is coming; how many bits of it are there */
    bool synced;
};

/* Nothing is coming, and the wires are idle. */
void usb_receiver_init(struct usb_receiver *r);

/* One sample, the number `now`. True: a packet has ended, good or not. Samples that are as the
 * one before may be left out while no packet is coming. */
bool usb_receiver_step(struct usb_receiver *r, enum usb_line line, uint64_t now);

#endif
