/* SPDX-License-Identifier: Apache-2.0 */
/* The board as a USB device: what endpoint 0 is asked, and which state it gets into by that. */
#ifndef FIRMWARE_USB_DEVICE_H
#define FIRMWARE_USB_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "usb_driver.h"

enum { USB_BULK_OUT = 1, USB_BULK_IN = 2 };     /* sets of the bulk endpoints */

struct usb_device {
    uint32_t serial;
    const uint8_t *data;        /* what is left of an answer, */
    uint32_t left;
    bool short_ends;            /* whether it has to end with a short packet, */
    bool data1;                 /* and the toggle of its next packet */
    uint8_t stage;
    uint8_t address;            /* to be taken when the status stage is over */
    uint8_t configuration;      /* 0: none */
    uint8_t halted;             /* USB_BULK_* */
    uint8_t reset;              /* USB_BULK_* that have been emptied since the last poll */
    uint8_t reply[USB_PACKET];  /* room for an answer that is made when asked for */
};

/* Attaches, after a while of being away if it was attached already. */
void usb_device_start(struct usb_device *u, uint32_t serial);

/* Serves endpoint 0. Returns which bulk endpoints were reset: what was there before is gone. */
uint32_t usb_device_poll(struct usb_device *u);

/* USB_BULK_*: those over which something may go. */
uint32_t usb_device_open(const struct usb_device *u);

#endif
