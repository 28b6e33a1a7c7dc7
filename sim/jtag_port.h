/* SPDX-License-Identifier: Apache-2.0 */
/* The JTAG pins of a simulated board as a server of OpenOCD's remote_bitbang protocol, on loopback.
 *
 * Nothing blocks: the simulation asks, again and again, whether the pins change, and lets the
 * board run for some cycles after every change (TCK may have a quarter of the clock: two at least).
 * One client at a time; when it goes the next is taken. While another waits, a client that neither
 * says anything nor takes its answers for JTAG_PORT_PATIENCE loses its place. */
#ifndef JTAG_PORT_H
#define JTAG_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JTAG_PORT_PATIENCE = 10 }; /* seconds */

struct jtag_pins {
    bool tck, tms, tdi;
    bool trst, srst; /* 1: asserted */
};

struct jtag_port;

/* Listens on 127.0.0.1; port 0: any that is free. NULL: why not is in error. */
struct jtag_port *jtag_port_open(uint16_t port, char *error, size_t size);
void jtag_port_close(struct jtag_port *p);

/* Where it listens. */
uint16_t jtag_port_number(const struct jtag_port *p);

/* Is somebody there? */
bool jtag_port_connected(const struct jtag_port *p);

/* True: a command set *pins; let the board run, then ask again. False: do something else first.
 * tdo is the pin as it is at this moment: what the client reads. */
bool jtag_port_poll(struct jtag_port *p, struct jtag_pins *pins, bool tdo);

/* Another clock for the deadline, in seconds. */
void jtag_port_clock(struct jtag_port *p, double (*now)(void));

/* Returns when there may be something to poll for, or after so many milliseconds. */
void jtag_port_wait(const struct jtag_port *p, int milliseconds);

#endif
