/* SPDX-License-Identifier: Apache-2.0 */
/* The USB device core of rtl/board/usb.v alone, in simulation, up to its pins and its register bus:
 * for tests.
 *
 * One sample is one period of its 48 MHz clock; firmware's clock has any frequency and phase beside
 * it. The shared object that Verilator makes of it (sim/build_usb) exports these functions. */
#ifndef SIM_USB_CORE_H
#define SIM_USB_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "usb_wire.h"

#ifdef __cplusplus
extern "C" {
#endif

struct usb_core;

/* In reset, from which it comes within the first samples. clock: of firmware, in Hz; phase: when
 * its first edge comes, in parts of its period, 0 to 1. NULL: out of memory. */
struct usb_core *usb_core_new(uint32_t clock, double phase);
void usb_core_free(struct usb_core *c);

/* One sample: the wires as the core sees them in it; its pins after it. */
struct usb_pins usb_core_sample(struct usb_core *c, enum usb_line line);

/* Begins an access to a register (offsets of rtl/board/board.def). It is done when usb_core_busy()
 * is false; then usb_core_data() is what was read. */
void usb_core_access(struct usb_core *c, bool write, uint32_t offset, uint32_t data);
void usb_core_give_up(struct usb_core *c); /* as a master does that is reset */
bool usb_core_busy(const struct usb_core *c);
uint32_t usb_core_data(const struct usb_core *c);
uint32_t usb_core_cycles(const struct usb_core *c); /* of firmware's clock that it took */

/* Pulls rst_i for some samples from now on. */
void usb_core_reset(struct usb_core *c, uint32_t samples);

/* The first assertion that failed: its name and place; NULL: none. */
const char *usb_core_assertion(const struct usb_core *c);

/* Writes which cover points it has reached to a file for verilator_coverage. False: it was not
 * built for it. */
bool usb_core_coverage(struct usb_core *c, const char *file);

#ifdef __cplusplus
}
#endif
#endif
