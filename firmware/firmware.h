/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware as a whole: its layers, and one turn of its loop. */
#ifndef FIRMWARE_FIRMWARE_H
#define FIRMWARE_FIRMWARE_H

#include "messages.h"
#include "runner.h"
#include "usb_device.h"

/* A checksum of the sources, from the Makefile; 0 where firmware is built to be tested. */
#ifndef FIRMWARE_BUILD
#define FIRMWARE_BUILD 0
#endif

struct firmware {
    uint32_t watchdog;          /* its period, cycles */
    struct usb_device usb;
    struct runner runner;
    struct messages messages;
};

/* f is all 0. The ring keeps window words of the stream. */
void firmware_start(struct firmware *f, uint32_t *ring, uint32_t window);
void firmware_poll(struct firmware *f);

#endif
