/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of USB as bytes (USB 2.0, chapter 8): packet identifiers, checksums, and how each kind is
 * put together and taken apart. SYNC, stuffing and EOP are of usb_wire.h. */
#ifndef SIM_USB_PACKET_H
#define SIM_USB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    USB_DATA_MAX   = 64,             /* bytes of data in a packet: full speed, control and bulk */
    USB_PACKET_MAX = 160             /* bytes that are kept of any packet, babble too */
};

/* With the check: the upper four bits are the lower ones inverted. */
enum usb_pid {
    USB_PID_OUT   = 0xe1, USB_PID_IN    = 0x69, USB_PID_SOF   = 0xa5, USB_PID_SETUP = 0x2d,
    USB_PID_DATA0 = 0xc3, USB_PID_DATA1 = 0x4b,
    USB_PID_ACK   = 0xd2, USB_PID_NAK   = 0x5a, USB_PID_STALL = 0x1e
};

struct usb_packet {
    uint32_t length;
    uint8_t bytes[USB_PACKET_MAX];   /* PID first, checksum last */
};

/* As they are sent: of 11 bits, and of bytes. */
uint32_t usb_crc5(uint32_t bits);
uint32_t usb_crc16(const uint8_t *bytes, size_t length);

void usb_packet_token(struct usb_packet *p, enum usb_pid pid, uint32_t address, uint32_t endpoint);
void usb_packet_sof(struct usb_packet *p, uint32_t frame);
void usb_packet_data(struct usb_packet *p, bool toggle, const void *data, uint32_t length);
void usb_packet_handshake(struct usb_packet *p, enum usb_pid pid);

/* PID, length and checksum are those of a packet that full speed knows. */
bool usb_packet_good(const struct usb_packet *p);

static inline bool usb_packet_is_data(const struct usb_packet *p)
{
    return p->bytes[0] == USB_PID_DATA0 || p->bytes[0] == USB_PID_DATA1;
}

/* Of a good token: its 11 bits; address and endpoint are 6:0 and 10:7. */
static inline uint32_t usb_packet_bits(const struct usb_packet *p)
{
    return (p->bytes[1] | (uint32_t)p->bytes[2] << 8) & 0x7ff;
}

/* "DATA0"; "PID 17" if there is no such thing. `room` is for the latter, at least 8 bytes. */
const char *usb_pid_name(uint8_t pid, char room[8]);

#endif
