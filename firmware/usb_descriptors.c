/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: USB 2.0, chapter 9; BOS of USB 2.1; Microsoft OS 2.0 descriptors of Windows 8.1
 * and later. */
#include <stddef.h>

#include "protocol.h"
#include "usb_descriptors.h"

#define PACKED __attribute__((packed))
#define BYTES(word) (word) & 0xff, (word) >> 8

enum { VENDOR_CLASS = 0xff, BULK = 2, POWER = 250 / 2 /* mA */ };

/* clang-format off */
static const uint8_t device[18] = {
    sizeof device, DESCRIPTOR_DEVICE, BYTES(0x0201),
    0, 0, 0, 64, BYTES(BOARD_VENDOR), BYTES(BOARD_PRODUCT), BYTES(PROTOCOL_VERSION << 8),
    STRING_MANUFACTURER, STRING_PRODUCT, STRING_SERIAL, 1
};
/* clang-format on */

/* clang-format off */
static const uint8_t configuration[32] = {
    9, DESCRIPTOR_CONFIGURATION, BYTES(sizeof configuration), 1, 1, 0, 0x80, POWER,
    9, 4, 0, 0, 2, VENDOR_CLASS, 0, 0, 0,
    7, 5, BOARD_BULK_OUT, BULK, BYTES(64), 0,
    7, 5, BOARD_BULK_IN, BULK, BYTES(64), 0
};
/* clang-format on */

/* The set: a header, the compatible id, and the GUID by which programs find the interface. */
#define GUID u"{5e1f2c90-43b7-4a0e-8d6b-0d7a1c95e3f4}\0" /* a list: ends with one more NUL */

static const struct PACKED {
    uint16_t length, type;
    uint32_t windows;
    uint16_t total;
    struct PACKED {
        uint16_t length, type;
        char id[16];
    } compatible;
    struct PACKED {
        uint16_t length, type, data_type;
        uint16_t name_length;
        uint16_t name[sizeof u"DeviceInterfaceGUIDs" / 2];
        uint16_t data_length;
        uint16_t data[sizeof GUID / 2];
    } property;
} microsoft = {
    10, 0, 0x06030000, sizeof microsoft,
    { sizeof microsoft.compatible, 3, "WINUSB" },
    { sizeof microsoft.property, 4, 7, sizeof microsoft.property.name, u"DeviceInterfaceGUIDs",
      sizeof microsoft.property.data, GUID }
};

/* clang-format off */
static const uint8_t bos[33] = {
    5, DESCRIPTOR_BOS, BYTES(sizeof bos), 1,
    28, 16, 5, 0, /* a capability of the platform D8DD60DF-4589-4CC7-9CD2-659D9E648A9F */
    0xdf, 0x60, 0xdd, 0xd8, 0x89, 0x45, 0xc7, 0x4c, 0x9c, 0xd2, 0x65, 0x9d, 0x9e, 0x64, 0x8a, 0x9f,
    0x00, 0x00, 0x03, 0x06, BYTES(sizeof microsoft), VENDOR_MICROSOFT, 0
};
/* clang-format on */

const void *usb_descriptor(uint32_t type, uint32_t index, uint32_t *length)
{
    const uint8_t *d = type == DESCRIPTOR_DEVICE ? device
        : type == DESCRIPTOR_CONFIGURATION ? configuration
        : type == DESCRIPTOR_BOS ? bos : NULL;
    if (!d || index != 0)
        return NULL;
    *length = type == DESCRIPTOR_DEVICE ? d[0] : d[2];
    return d;
}

const void *usb_microsoft(uint32_t *length)
{
    *length = sizeof microsoft;
    return &microsoft;
}

uint32_t usb_string(uint32_t index, uint32_t serial, uint8_t *room)
{
    char digits[9];
    const char *text = index == STRING_LANGUAGES ? "\x09" /* and 4: English */
        : index == STRING_MANUFACTURER ? "ordeal"
        : index == STRING_PRODUCT ? "ordeal, multiprocessor on trial" /* 64 bytes */ : digits;
    if (index > STRING_SERIAL)
        return 0;
    for (int i = 0; i < 8; i++) {
        uint32_t digit = serial >> (28 - 4 * i) & 15;
        digits[i] = digit < 10 ? '0' + digit : 'a' - 10 + digit;
    }
    digits[8] = 0;

    uint32_t length = 2;
    for (; *text; text++) {
        room[length++] = *text;
        room[length++] = index == STRING_LANGUAGES ? 4 : 0;
    }
    room[0] = length;
    room[1] = DESCRIPTOR_STRING;
    return length;
}
