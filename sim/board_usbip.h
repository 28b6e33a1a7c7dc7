/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated board as a usbip server (protocol 1.1.1, Linux's
 * Documentation/usb/usbip_protocol.rst), on 127.0.0.1 alone: `usbip list -r 127.0.0.1`, and a
 * Linux kernel can attach it through vhci-hcd.
 *
 * It exports the one device of a usb_bus as busid 1-1. Everything happens in board_usbip_poll(),
 * which never waits: the loop that drives usb_host_sample() calls it every BOARD_USBIP_SAMPLES or
 * so. One client can import the device; others may ask for the list meanwhile.
 *
 * Nobody can hold it up, or make it grow. A client that does not fetch its answers is not heard
 * until it does. One whose answers wait, whose message is not finished, or who asks for nothing
 * after it connected, is dropped after BOARD_USBIP_PATIENCE; where there are too many, the oldest
 * that has not imported the device is. URBs for which there is no room are answered -ENOMEM. */
#ifndef SIM_BOARD_USBIP_H
#define SIM_BOARD_USBIP_H

#include "usb_bus.h"

enum { BOARD_USBIP_SAMPLES = 480, BOARD_USBIP_PATIENCE = 10 /* seconds */ };

struct board_usbip;

/* port 0: any that is free. NULL: `why` says why not. The bus is not the server's, and outlives
 * it. */
struct board_usbip *board_usbip_new(struct usb_bus *bus, uint16_t port, char *why, size_t size);

/* The port it listens on. */
uint16_t board_usbip_port(const struct board_usbip *s);

/* Takes connections, requests and what has completed. When the device is unplugged, the
 * connection of the client that imported it is closed, as usbip's own server does. */
void board_usbip_poll(struct board_usbip *s);

/* A client has imported the device: time should go on. */
bool board_usbip_attached(const struct board_usbip *s);

/* Waits until there is something to do for board_usbip_poll(), or so many milliseconds: for a
 * loop that need not go on while nobody is attached. */
void board_usbip_wait(const struct board_usbip *s, int milliseconds);

/* Another clock for the deadlines, in seconds. */
void board_usbip_clock(struct board_usbip *s, double (*now)(void));

/* Why the last connection was closed by the server, "" if none was: a client that speaks
 * something else, say. */
const char *board_usbip_why(const struct board_usbip *s);

/* Closes all connections. Transfers that are under way are cancelled and end without it. */
void board_usbip_free(struct board_usbip *s);

#endif
