/* SPDX-License-Identifier: Apache-2.0 */
/* Every packet of the bus, for people as lines of text, for Wireshark as a pcap file.
 *
 *     0.001000021  host    SOF    a5 12 40    frame 18
 *     0.001003417  device  DATA0  c3 ... 
 *
 * The time is simulated, in seconds. Errors of writing are kept and told when it is closed. */
#ifndef SIM_USB_LOG_H
#define SIM_USB_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "usb_packet.h"

struct usb_log;

/* A name that ends in ".pcap" is for Wireshark (packets alone, link type 294). NULL: it cannot be
 * written, errno says why. */
struct usb_log *usb_log_open(const char *path);

/* `sofs`: SOF packets, too; 1000 a second. */
void usb_log_sofs(struct usb_log *log, bool sofs);

/* `note`: "lost", and the like; NULL: none. */
void usb_log_packet(struct usb_log *log, uint64_t sample, bool from_device,
                    const struct usb_packet *p, const char *note);
void usb_log_event(struct usb_log *log, uint64_t sample, const char *text);

/* False: not all of it could be written; errno says why. */
bool usb_log_close(struct usb_log *log);

#endif
