/* SPDX-License-Identifier: Apache-2.0 */
/* The USB core of sim/usb_core.h with a host of the test's own at its pins and the test itself as
 * its firmware. Packets go and come one by one, so that any of them may be wrong, missing, or not
 * expected.
 *
 * Every answer is checked on the way: its turnaround, its levels, that nobody drives against
 * another. */
#ifndef TESTS_USB_RIG_H
#define TESTS_USB_RIG_H

#include "usb_core.h"
#include "usb_packet.h"

/* The numbers of rtl/board/board.def. */
enum {
#define NUMBER(name, bits, value) BOARD_##name = (int)(value),
#include "board/board.def"
#undef NUMBER
};

enum { NOTHING = 0 };                /* no answer */

struct usb_rig {
    struct usb_core *core;
    struct usb_sender sender;
    struct usb_receiver receiver;
    struct usb_pins host, device;
    bool forced;                     /* the host drives a level, and no packet */
    enum usb_line line;
    uint64_t now;
    uint64_t host_end;               /* J after the host's last EOP */
    bool late_dn;                    /* D- reaches the core a sample after D+ */
    bool contention;                 /* is allowed */
    uint32_t collisions;             /* samples in which both drove */
    uint32_t turnaround_min, turnaround_max; /* of the device, in samples */
    uint32_t address;
    struct usb_packet answer;        /* the device's last */
};

/* A core that is attached and was reset by the host, no events left. */
void usb_rig_open(struct usb_rig *r, uint32_t clock, double phase, double ppm, double jitter,
              uint64_t seed);
void usb_rig_close(struct usb_rig *r);   /* and no assertion has failed */

void usb_rig_step(struct usb_rig *r, uint32_t samples);
uint32_t usb_rig_read(struct usb_rig *r, uint32_t offset);
void usb_rig_write(struct usb_rig *r, uint32_t offset, uint32_t data);
uint32_t usb_rig_events(struct usb_rig *r);          /* and clears them */
void usb_rig_fill(struct usb_rig *r, uint32_t offset, const uint8_t *bytes, uint32_t length);
void usb_rig_compare(struct usb_rig *r, uint32_t offset, const uint8_t *bytes, uint32_t length);
/* A packet to bulk IN. */
void usb_rig_give(struct usb_rig *r, const uint8_t *bytes, uint32_t length);

/* The wires: the host drives a level for so long, then lets go. */
void usb_rig_drive(struct usb_rig *r, enum usb_line line, uint32_t samples);
void usb_rig_bus_reset(struct usb_rig *r);

/* What the sender has, to its end. */
void usb_rig_finish(struct usb_rig *r);

/* Packets of the host. */
void usb_rig_send(struct usb_rig *r, const struct usb_packet *p);
void usb_rig_token(struct usb_rig *r, enum usb_pid pid, uint32_t endpoint);
void usb_rig_data(struct usb_rig *r, bool toggle, const void *data, uint32_t length);
void usb_rig_handshake(struct usb_rig *r, enum usb_pid pid); /* and two bits of J */

/* What the device says to the host's last packet: its PID, or NOTHING within 18 bit times. */
int usb_rig_answer(struct usb_rig *r);

/* Transactions. */
int usb_rig_setup(struct usb_rig *r, const uint8_t setup[8]);
int usb_rig_out(struct usb_rig *r, uint32_t endpoint, bool toggle, const void *data,
                uint32_t length);
int usb_rig_in(struct usb_rig *r, uint32_t endpoint); /* data is in r->answer, and waits for: */
void usb_rig_ack(struct usb_rig *r);

/* The data of the answer is this. */
void usb_rig_expect(struct usb_rig *r, bool toggle, const void *data, uint32_t length);

/* It still works: a SETUP, a control transfer in each direction, a packet through either bulk
 * endpoint, after CLEAR of both. */
void usb_rig_still_works(struct usb_rig *r);

#endif
