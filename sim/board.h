/* SPDX-License-Identifier: Apache-2.0 */
/* A board in simulation, up to its pins: the multiprocessor, the monitor with its firmware, the USB
 * device core, JTAG (rtl/board/). What plugs into the pins is usb_host.h and jtag_port.h.
 *
 * A model is a shared object that exports one `const struct board_interface board_interface`, made
 * by sim/build. One sample is one period of the 48 MHz clock; the system's clock is slower. The
 * same calls give the same run. */
#ifndef SIM_BOARD_H
#define SIM_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "usb_wire.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BOARD_VERSION = 1 };

struct board_jtag { bool tck, tms, tdi, trst; };

struct board;

struct board_interface {
    uint32_t version;          /* BOARD_VERSION */
    const char *name;          /* of the model, for messages */
    uint32_t ram_words;        /* of the monitor; 0: it is as it is, with firmware in it */
    uint32_t divider;          /* samples in a period of the system's clock */

    struct board *(*create)(uint32_t serial);          /* NULL: out of memory */
    void (*destroy)(struct board *);
    /* Power-on: everything but RAM contents is as new. */
    void (*power)(struct board *);
    /* The monitor's RAM, as a bitstream would have filled it. False: not all of it is there. */
    bool (*write_ram)(struct board *, uint32_t offset, const uint32_t *words, uint32_t count);
    /* One sample: the wires as the board sees them in it; its own pins after it. */
    struct usb_pins (*sample)(struct board *, enum usb_line line);
    /* JTAG's pins, which stay so; TDO. */
    bool (*jtag)(struct board *, struct board_jtag pins);
    uint64_t (*cycle)(const struct board *);           /* of the system's clock, since power-on */
    bool (*running)(const struct board *);             /* a test runs */
    /* The first assertion that failed since power-on, while no bug was chosen: its name and place;
     * NULL: none. */
    const char *(*assertion)(const struct board *);
    /* Waves to an FST file from now on, until NULL is given or destroy. False: it cannot. */
    bool (*waves)(struct board *, const char *file);
};

#ifdef __cplusplus
}
#endif
#endif
