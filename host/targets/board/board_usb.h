/* SPDX-License-Identifier: Apache-2.0 */
/* Boards on USB, by libusb. */
#ifndef HOST_BOARD_USB_H
#define HOST_BOARD_USB_H

#include "board_port.h"

enum { BOARD_SERIAL = 64 };

struct board_found {
    char serial[BOARD_SERIAL];  /* "": it cannot be opened */
    char place[32];             /* bus and ports: "1-4.2" */
    char problem[512];          /* why it cannot be used, and what to do about it; "": it can */
};

/* What is connected; `*found` is the caller's to free. False: `why`. */
bool board_usb_list(struct board_found **found, size_t *count, struct why *why);

/* How many are connected, in use or not: asks the computer, not the boards. */
int board_usb_present(void);

/* The board with this serial number, or any that nobody uses or waits for (NULL). NULL: `why`. */
struct board_port *board_usb_open(const char *serial, struct why *why);
const char *board_usb_serial(const struct board_port *port);

#endif
