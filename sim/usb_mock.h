/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated board for programs of this computer: umockdev makes the unmodified libusb of a
 * child process see devices whose transfers go through a usb_bus, and from there over the
 * simulated wires.
 *
 *     m = usb_mock_new(...);                     before other threads are started
 *     p = usb_mock_plug(m, &bus, ...);           one for each bus; up to USB_MOCK_PORTS
 *     usb_mock_environment(m); fork and exec     the child sees what is plugged in
 *     for (;;) { usb_host_sample(...); every USB_MOCK_SAMPLES: usb_mock_poll(p); }
 *
 * Requests of the child come in a thread of umockdev's and wait for usb_mock_poll(), which is
 * called by the thread that drives the bus, and is cheap when there is nothing to do. A device
 * appears when the bus has enumerated it, with the descriptors that it told, and disappears when
 * it is unplugged.
 *
 * The program must be linked with -Wl,--no-as-needed -lumockdev-preload. From usb_mock_new() on
 * its own /dev and /sys are the mocked ones, too. */
#ifndef SIM_USB_MOCK_H
#define SIM_USB_MOCK_H

#include "usb_bus.h"

enum { USB_MOCK_SAMPLES = 480, USB_MOCK_PORTS = 8 };

struct usb_mock;
struct usb_mock_port;

/* Once in a process. NULL: `why` says why not. */
struct usb_mock *usb_mock_new(char *why, size_t size);

/* The bus outlives the port. NULL: `why`. The device is /dev/bus/usb/001/NNN, and another one
 * after each plug. */
struct usb_mock_port *usb_mock_plug(struct usb_mock *m, struct usb_bus *bus, char *why,
                                    size_t size);

void usb_mock_poll(struct usb_mock_port *p);

/* Sleeps until a program asks for something, or so many milliseconds: for a loop that need not go
 * on while nothing is open. */
void usb_mock_wait(struct usb_mock_port *p, int milliseconds);

/* A program has the device open. */
bool usb_mock_opened(const struct usb_mock_port *p);

/* Sets LD_PRELOAD and what else a child needs, in the environment of the caller: before fork. */
void usb_mock_environment(const struct usb_mock *m);

/* The device is unplugged for good. Programs that had it open should have ended or closed it; else
 * a little memory is left to them. */
void usb_mock_unplug(struct usb_mock_port *p);
void usb_mock_free(struct usb_mock *m); /* unplugs them all */

#endif
