/* SPDX-License-Identifier: Apache-2.0 */
/* A small USB device for tests of the virtual host: it speaks on the wires as real ones do, with
 * the sender and receiver of sim/usb_wire.h in the device's role, and misbehaves on demand.
 *
 * Endpoint 0 has the standard requests, and two of its own: vendor OUT 1 keeps what it gets,
 * vendor IN 2 gives it back. Bulk OUT 1 fills a FIFO; bulk IN 1 empties it, or is an endless
 * source of numbers. */
#ifndef TESTS_WIRE_DEVICE_H
#define TESTS_WIRE_DEVICE_H

#include "usb_wire.h"

enum { DEVICE_FIFO = 1 << 16, DEVICE_MEMORY = 2048, DEVICE_VENDOR_OUT = 1, DEVICE_VENDOR_IN = 2 };

struct usb_device_endpoint {
    bool halted;
    bool toggle;                     /* of the next packet that it takes, or sends */
};

struct usb_device {
    /* May be changed at any time. */
    bool attach;
    bool source;                     /* bulk IN is full packets, whose words count up */
    bool sink;                       /* bulk OUT goes nowhere */
    bool silent;                     /* answers nothing */
    bool wrong_toggle;               /* always DATA0 */
    uint32_t turnaround;             /* samples from J of an EOP to K of its answer; 3 bit times */
    uint32_t nak_percent;
    uint32_t extra;                  /* bytes too many in bulk IN packets, with a good checksum */
    bool endless;                    /* bulk IN packets have no end */
    bool damage;                     /* checksums of what it sends are wrong */
    bool deaf_descriptor;            /* GET_DESCRIPTOR is stalled */

    /* What it saw. */
    uint32_t resets, suspends, resumes, setups, sofs;
    uint32_t dropped;                /* packets that were damaged */
    uint32_t duplicates;
    uint32_t address, configuration;
    uint32_t last_frame;
    uint64_t sof_first, sof_last;    /* samples of their SYNC */
    uint32_t sof_errors;             /* not 48,000 after the last */
    uint64_t out_bytes, in_bytes;    /* bulk, acknowledged */

    /* Its own. */
    struct usb_sender sender;
    struct usb_receiver receiver;
    struct usb_packet reply;
    uint64_t now, reply_at;          /* 0: there is none */
    enum usb_line line;
    uint64_t edge;
    bool suspended, in_reset;
    uint64_t random;
    uint8_t token, token_endpoint;   /* what the next data packet is for */
    int sent;                        /* endpoint whose data waits for ACK; -1: none */
    uint32_t sent_size;
    uint8_t setup[8];
    const uint8_t *answer;           /* control IN: what is left of it */
    uint32_t answer_left, expected;  /* control OUT: how much comes, of which `got` is there */
    uint32_t got;
    bool control_halted, control_toggle, sending_status, new_address;
    uint32_t pending_address;
    uint8_t memory[DEVICE_MEMORY], room[64];
    struct usb_device_endpoint in, out;
    uint8_t fifo[DEVICE_FIFO];
    uint32_t fifo_head, fifo_tail;   /* count up */
    uint32_t in_size;                /* of the bulk IN packet that is not acknowledged yet */
    uint32_t number;                 /* of the source */
};

extern const uint8_t usb_device_descriptor[18], usb_device_config[32];

/* Attached, with a clock that is off by ppm and edges that jitter by parts of a sample. */
void usb_device_init(struct usb_device *d, double ppm, double jitter, uint64_t seed);

/* The wires of the last sample in, the pins for the next one out. */
struct usb_pins usb_device_sample(struct usb_device *d, enum usb_line line);

#endif
