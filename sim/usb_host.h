/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual USB host at wire level: one full-speed root port, a host controller, and time.
 *
 * usb_host_sample() is one period of 48 MHz: it takes what the device does with its pins and
 * gives the level of the wires, which the device sees at its next clock edge. The host sends SOF
 * every 48,000 samples, keeps the turnaround of the bus, never lets a transaction cross the next
 * SOF, keeps the data toggles of all endpoints, tries again what is damaged or unanswered, up to
 * three times, and what was refused by NAK for ever.
 *
 * Transfers are asynchronous: submit as many as you like, they are done in order for each
 * endpoint and in turn among endpoints. Callbacks (complete, event) come out of usb_host_sample()
 * alone, and may submit, cancel, reset, and so on. A host is used by one thread at a time.
 *
 * What an operating system does on top of it (addresses, descriptors) is in usb_bus.h. */
#ifndef SIM_USB_HOST_H
#define SIM_USB_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "usb_fault.h"
#include "usb_log.h"
#include "usb_wire.h"

enum { USB_ENDPOINT_IN = 0x80 };     /* in an endpoint's address: from device to host */

enum usb_status {
    USB_PENDING,                     /* it is the host's */
    USB_OK,
    USB_SHORT,                       /* less than `length` came, and short_not_ok was set */
    USB_STALLED,
    USB_FAILED,                      /* three times in a row damaged or not answered; the toggles of
                                      * a bulk endpoint may now differ: clear its halt */
    USB_OVERFLOW,                    /* more came than was asked for, or than a packet may hold */
    USB_CANCELLED,
    USB_ABORTED,                     /* the port was reset or disabled meanwhile */
    USB_GONE                         /* the device was, or the port is off */
};

struct usb_transfer {
    uint8_t endpoint;                /* number, and USB_ENDPOINT_IN; control: 0 */
    uint8_t setup[8];                /* control only; its wLength must be `length` */
    uint8_t *buffer;                 /* stays the caller's, and must live until completion */
    uint32_t length;
    bool zero_packet;                /* bulk OUT: an empty packet follows a full last one */
    bool short_not_ok;               /* bulk IN */
    void (*complete)(struct usb_transfer *); /* it may free it or submit it again */
    void *user;

    uint32_t actual;                 /* bytes moved so far; of the data stage, if control */
    enum usb_status status;

    /* The host's own. */
    struct usb_transfer *next;
    uint8_t stage;
    bool cancelled;
};

/* Times in samples. 0 anywhere: the usual value. */
struct usb_host_options {
    double ppm;                      /* the host's clock is too fast by this; SOFs are then, too */
    double jitter;                   /* of its edges, in samples, below 0.5 */
    uint64_t seed;                   /* of jitter */
    uint32_t gap;                    /* J before each of its packets: 2 bits */
    uint32_t timeout;                /* wait for an answer: 17 bit times, of the 16 to 18 allowed */
    uint32_t strikes;                /* tries of a transaction: 3 */
    uint32_t out_pause;              /* an OUT that got NAK waits before it goes again: 1/8 ms */
    bool real_time;                  /* debounce 100 ms, reset 50 ms, recovery 10 ms, resume 20 ms;
                                      * without it each lasts USB_BRISK samples, the only times that
                                      * are not those of a real host */
    struct usb_fault *fault;         /* NULL: nothing goes wrong */
    struct usb_log *log;             /* NULL: none */
};
enum { USB_BRISK = USB_SAMPLES_FRAME / 2 };

enum usb_port_event {
    USB_PORT_CONNECTED,              /* a pull-up has stopped bouncing: now reset the port */
    USB_PORT_DISCONNECTED,           /* by the device or usb_host_plug(): transfers were USB_GONE */
    USB_PORT_RESET,                  /* a reset has begun: transfers were USB_ABORTED */
    USB_PORT_ENABLED,                /* it is over: SOFs go, address 0 may be talked to */
    USB_PORT_DISABLED,               /* the device babbled into a SOF: transfers were USB_ABORTED;
                                      * only a reset helps */
    USB_PORT_SUSPENDED,
    USB_PORT_RESUMED,
    USB_PORT_ALARM                   /* see usb_host_alarm() */
};

struct usb_host_statistics {
    uint64_t frames;
    uint64_t sent, received;         /* packets */
    uint64_t bytes_out, bytes_in;    /* of data that was acknowledged */
    uint64_t naks, stalls;
    uint64_t timeouts;               /* no answer */
    uint64_t damaged;                /* answers */
    uint64_t duplicates;             /* data that came twice, as our ACK was lost */
    uint64_t overflows, babbles;     /* packets that were too long; ports disabled for it */
    uint64_t given_up;               /* transfers, after so many strikes */
    uint64_t flaws;                  /* packets that were taken, if not quite right: USB_FLAW_EOP */
    uint32_t turnaround_min;         /* of the device, in samples, from J of our EOP to its K */
    uint32_t turnaround_max;
    uint32_t frame_packets;          /* the most data packets acknowledged in one frame */
};

struct usb_host;

struct usb_host *usb_host_new(const struct usb_host_options *options);
void usb_host_free(struct usb_host *h);    /* transfers that are left complete as USB_GONE */

void usb_host_on_event(struct usb_host *h, void (*event)(void *user, enum usb_port_event),
                       void *user);

/* One sample. The device's pins of this period in, the wires of this period out. Of a port that is
 * unplugged the device sees its own pins alone. */
enum usb_line usb_host_sample(struct usb_host *h, struct usb_pins device);

uint64_t usb_host_now(const struct usb_host *h);   /* samples since it was made */
const struct usb_host_statistics *usb_host_statistics(const struct usb_host *h);

bool usb_host_enabled(const struct usb_host *h);

/* False: the port is not enabled, or the transfer makes no sense; nothing happens, complete is
 * not called. */
bool usb_host_submit(struct usb_host *h, struct usb_transfer *t);

/* It completes as USB_CANCELLED as soon as the transaction under way is over, or with what that
 * led to. One that is not in the queue is left alone. */
void usb_host_cancel(struct usb_host *h, struct usb_transfer *t);

/* The device's address, and the size of the packets of its endpoint 0: 8, 16, 32 or 64. A reset
 * of the port makes them 0 and 8. All other endpoints have packets of 64 bytes. */
void usb_host_set_address(struct usb_host *h, uint32_t address);
void usb_host_set_packet_size(struct usb_host *h, uint32_t bytes);

/* Toggles of bulk endpoints go back to DATA0 by themselves when SET_CONFIGURATION, SET_INTERFACE or
 * CLEAR_FEATURE(ENDPOINT_HALT) has succeeded. */

/* The port. A reset begins at once, whatever is on the wires; a suspend when the transaction
 * under way is over, and transfers wait until the resume. All are told by events. */
void usb_host_reset(struct usb_host *h);
void usb_host_suspend(struct usb_host *h);
void usb_host_resume(struct usb_host *h);

/* The cable. It is in at the begin. */
void usb_host_plug(struct usb_host *h, bool in);
bool usb_host_plugged(const struct usb_host *h);

/* USB_PORT_ALARM after so many samples; a new alarm replaces the old one, 0 takes it away. */
void usb_host_alarm(struct usb_host *h, uint64_t samples);

const char *usb_status_name(enum usb_status status);

/* What Linux says of a transfer that ended so: 0, -EPIPE, and the like. */
int usb_status_errno(enum usb_status status);

#endif
