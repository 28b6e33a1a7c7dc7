/* SPDX-License-Identifier: Apache-2.0 */
/* What the board says of itself on the bus. */
#ifndef FIRMWARE_USB_DESCRIPTORS_H
#define FIRMWARE_USB_DESCRIPTORS_H

#include <stdint.h>

enum { /* of wValue, high byte */
    DESCRIPTOR_DEVICE = 1,
    DESCRIPTOR_CONFIGURATION = 2,
    DESCRIPTOR_STRING = 3,
    DESCRIPTOR_BOS = 15
};

enum { STRING_LANGUAGES, STRING_MANUFACTURER, STRING_PRODUCT, STRING_SERIAL };

/* A descriptor that is the same for all boards; NULL if there is none. */
const void *usb_descriptor(uint32_t type, uint32_t index, uint32_t *length);

/* A string descriptor, written into room of 64 bytes; 0 if there is none. Returns its length. */
uint32_t usb_string(uint32_t index, uint32_t serial, uint8_t *room);

/* The Microsoft OS 2.0 descriptor set: Windows binds WinUSB by it. */
const void *usb_microsoft(uint32_t *length);

#endif
