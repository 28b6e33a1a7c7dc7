/* SPDX-License-Identifier: Apache-2.0 */
/* The machine on a board behind the interface of sim/soc.h, through the Tcl port of an OpenOCD
 * that has tcl/board.cfg: slower than USB by far, and there when USB is not. The firmware is
 * halted meanwhile. */
#ifndef HOST_BOARD_JTAG_H
#define HOST_BOARD_JTAG_H

#include "soc.h"
#include "targets/target.h"

struct board_jtag;
struct tcl_port;
/* "HOST:PORT" of the Tcl port; NULL: 127.0.0.1:6666. `patience`: see tcl_port.h. NULL: `why`. */
struct board_jtag *board_jtag_open(const char *place, double patience, struct why *why);
/* Through a port that is open, and the board's from now on. */
struct board_jtag *board_jtag_new(struct tcl_port *tcl, struct why *why);
void board_jtag_free(struct board_jtag *b);
const uint32_t *board_jtag_parameters(const struct board_jtag *b);      /* DEV_PARAMETERS */
const struct soc_interface *board_jtag_interface(struct board_jtag *b);

#endif
