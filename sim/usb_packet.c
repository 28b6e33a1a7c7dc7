/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of USB: checksums and the parts of each kind. */
#include "usb_packet.h"

#include <stdio.h>
#include <string.h>

/* Bits go over the wire lowest first, and so do checksums: both are computed with reflected
 * polynomials, x^5 + x^2 + 1 and x^16 + x^15 + x^2 + 1, preset to ones, and sent inverted. */
static uint32_t divide(uint32_t crc, uint32_t polynomial, uint32_t data, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++) {
        uint32_t odd = (crc ^ data >> i) & 1;
        crc = crc >> 1 ^ (odd ? polynomial : 0);
    }
    return crc;
}

uint32_t usb_crc5(uint32_t bits)
{
    return divide(0x1f, 0x14, bits, 11) ^ 0x1f;
}

uint32_t usb_crc16(const uint8_t *bytes, size_t length)
{
    uint32_t crc = 0xffff;
    for (size_t i = 0; i < length; i++)
        crc = divide(crc, 0xa001, bytes[i], 8);
    return crc ^ 0xffff;
}

static void eleven_bits(struct usb_packet *p, enum usb_pid pid, uint32_t bits)
{
    uint32_t word = bits | usb_crc5(bits) << 11;
    p->length = 3;
    p->bytes[0] = pid;
    p->bytes[1] = word & 0xff;
    p->bytes[2] = word >> 8;
}

void usb_packet_token(struct usb_packet *p, enum usb_pid pid, uint32_t address, uint32_t endpoint)
{
    eleven_bits(p, pid, (address & 0x7f) | (endpoint & 15) << 7);
}

void usb_packet_sof(struct usb_packet *p, uint32_t frame)
{
    eleven_bits(p, USB_PID_SOF, frame & 0x7ff);
}

void usb_packet_data(struct usb_packet *p, bool toggle, const void *data, uint32_t length)
{
    uint32_t crc = usb_crc16(data, length);
    p->length = length + 3;
    p->bytes[0] = toggle ? USB_PID_DATA1 : USB_PID_DATA0;
    if (length)
        memcpy(p->bytes + 1, data, length);
    p->bytes[length + 1] = crc & 0xff;
    p->bytes[length + 2] = crc >> 8;
}

void usb_packet_handshake(struct usb_packet *p, enum usb_pid pid)
{
    p->length = 1;
    p->bytes[0] = pid;
}

bool usb_packet_good(const struct usb_packet *p)
{
    if (p->length == 0)
        return false;
    switch (p->bytes[0]) {
    case USB_PID_OUT: case USB_PID_IN: case USB_PID_SOF: case USB_PID_SETUP:
        return p->length == 3 && usb_crc5(usb_packet_bits(p)) == p->bytes[2] >> 3;
    case USB_PID_DATA0: case USB_PID_DATA1:
        return p->length >= 3
            && usb_crc16(p->bytes + 1, p->length - 3)
                == (p->bytes[p->length - 2] | (uint32_t)p->bytes[p->length - 1] << 8);
    case USB_PID_ACK: case USB_PID_NAK: case USB_PID_STALL:
        return p->length == 1;
    default:
        return false;
    }
}

const char *usb_pid_name(uint8_t pid, char room[8])
{
    switch (pid) {
    case USB_PID_OUT:   return "OUT";
    case USB_PID_IN:    return "IN";
    case USB_PID_SOF:   return "SOF";
    case USB_PID_SETUP: return "SETUP";
    case USB_PID_DATA0: return "DATA0";
    case USB_PID_DATA1: return "DATA1";
    case USB_PID_ACK:   return "ACK";
    case USB_PID_NAK:   return "NAK";
    case USB_PID_STALL: return "STALL";
    }
    snprintf(room, 8, "PID %02x", pid);
    return room;
}
