/* SPDX-License-Identifier: Apache-2.0 */
/* What an operating system does above the host controller: it watches the port, enumerates the
 * device that is plugged in, gives it an address and its first configuration, keeps its
 * descriptors, and does it all again after a reset.
 *
 * Whoever wants to use the device (usb_mock.h, board_usbip.h, a test) submits transfers here.
 * Callbacks come out of usb_host_sample(). */
#ifndef SIM_USB_BUS_H
#define SIM_USB_BUS_H

#include "usb_host.h"

enum {
    USB_CONFIG_MAX = 1024, /* bytes of a configuration with all that belongs to it */
    USB_STRING_MAX = 127,  /* letters of a string, and a zero */
    USB_BUS_REQUESTS = 5,  /* tries of each request of an enumeration */
    USB_BUS_TRIES = 16     /* enumerations before a device is left alone, a reset before each: Linux
                            * has four rounds of several, and a person who plugs it in again */
};

enum usb_bus_state {
    USB_BUS_EMPTY,                   /* no device, or one that is left alone: see `why` */
    USB_BUS_BUSY,                    /* a new device is being enumerated */
    USB_BUS_READY,                   /* there is one */
    USB_BUS_AGAIN                    /* the known device is being enumerated again, after a reset */
};

struct usb_bus {
    struct usb_host *host;
    enum usb_bus_state state;
    uint8_t device[18];              /* descriptor */
    uint8_t config[USB_CONFIG_MAX];  /* first configuration, and what it holds */
    uint32_t config_length;
    char strings[3][USB_STRING_MAX]; /* manufacturer, product, serial number, in ASCII; "": none */
    uint32_t number;                 /* of the device, from 1 on: another one after each new plug */
    bool given_up;                   /* a device is plugged in and was left alone: `why` */
    char why[256];                   /* what went wrong last, "" if nothing has */

    /* Told when a device becomes ready, or is no more; may be NULL. A reset that finds the same
     * device again tells nothing. */
    void (*changed)(void *user, bool ready);
    void *user;

    /* Its own. */
    struct usb_transfer control;
    uint32_t step, requests, tries;
    uint32_t failures;               /* of requests, since it was plugged in or was ready */
    uint8_t new_device[18];          /* as they come, to be compared with the known ones */
    uint8_t new_config[USB_CONFIG_MAX];
    uint8_t string[255];
    struct usb_transfer *waiting, **waiting_end;
};

/* It takes over the host's events. The bus must stay where it is, and be ended before the host is
 * freed. */
void usb_bus_init(struct usb_bus *b, struct usb_host *host);

/* What an enumeration that is not over waits for: a step of it. NULL: none is under way. */
const char *usb_bus_waits_for(const struct usb_bus *b);

/* As usb_host_submit(); while the device is being enumerated again the transfer waits until that
 * is over. False: there is no device. */
bool usb_bus_submit(struct usb_bus *b, struct usb_transfer *t);
void usb_bus_cancel(struct usb_bus *b, struct usb_transfer *t);

/* Port reset, and the device enumerated again: what libusb_reset_device() asks for. */
void usb_bus_reset(struct usb_bus *b);

#endif
