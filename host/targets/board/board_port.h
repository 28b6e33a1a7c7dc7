/* SPDX-License-Identifier: Apache-2.0 */
/* The way that messages (firmware/protocol.h) take to a board and back: over USB (board_usb.h),
 * or to firmware in the same process, for tests. */
#ifndef HOST_BOARD_PORT_H
#define HOST_BOARD_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/target.h"

enum port_result {
    PORT_MESSAGE,
    PORT_NOTHING,               /* in the time given */
    PORT_LOST                   /* the board is gone, until reopen() */
};

struct board_port {
    /* Hands one message over; it need not be there yet. False: the board is gone. */
    bool (*send)(struct board_port *port, const uint32_t *words, size_t count);
    /* The next message, whatever the board calls so: at most `room` bytes are stored, `*bytes`
     * tells how many there were. */
    enum port_result (*receive)(struct board_port *port, void *message, size_t room, size_t *bytes,
                                int milliseconds);
    /* Waits for the same board to come back. False: it did not, or ^C; `why`. */
    bool (*reopen)(struct board_port *port, double seconds, struct why *why);
    void (*close)(struct board_port *port);
};

#endif
