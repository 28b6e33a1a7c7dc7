/* SPDX-License-Identifier: Apache-2.0 */
/* The USB core's registers as functions: what they do, and not what it is for.
 *
 * Bulk packets are whole words. The two copies of them run a checksum along: the CRC unit is
 * shared, so each takes up where the caller's CRC stands and gives back where it got to. */
#ifndef FIRMWARE_USB_DRIVER_H
#define FIRMWARE_USB_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

enum { USB_PACKET = 64, USB_PACKET_WORDS = USB_PACKET / 4 };

struct usb_setup {
    uint8_t type, request;
    uint16_t value, index, length;
};

void usb_attach(bool attach);
bool usb_attached(void);
void usb_set_address(uint32_t address);
uint32_t usb_errors(void);

/* USB_EVENT_* that came since the last call, but for those of the bulk endpoints. */
uint32_t usb_events(void);

/* Endpoint 0. False: another SETUP came meanwhile, and there will be another event. */
bool usb_read_setup(struct usb_setup *setup);
void usb_ep0_take(void);
void usb_ep0_give(const uint8_t *bytes, uint32_t length, bool data1);
void usb_ep0_stall(void);

/* Bulk OUT: the length of the packet that waits, or -1; its words; done with it. */
int usb_out_length(void);
uint32_t usb_out_copy(uint32_t *to, uint32_t words, uint32_t crc);
void usb_out_release(void);

/* Bulk IN: room for a packet; its words from the at-th on; it goes. */
bool usb_in_room(void);
uint32_t usb_in_copy(uint32_t at, const uint32_t *from, uint32_t words, uint32_t crc);
void usb_in_word(uint32_t at, uint32_t word);
void usb_in_send(uint32_t words);

/* Both: empty it, begin with DATA0; answer STALL until reset. */
void usb_out_reset(void);
void usb_in_reset(void);
void usb_out_stall(void);
void usb_in_stall(void);

#endif
