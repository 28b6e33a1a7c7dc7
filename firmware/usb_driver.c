/* SPDX-License-Identifier: Apache-2.0 */
/* The USB core's registers: see usb_driver.h, and rtl/board/BOARD.md for how they behave. */
#include "registers.h"
#include "usb_driver.h"

static uint32_t get(uint32_t offset)
{
    return register_read(BOARD_USB + offset);
}

static void set(uint32_t offset, uint32_t value)
{
    register_write(BOARD_USB + offset, value);
}

void usb_attach(bool attach)
{
    set(USB_CONTROL, FIELD_PUT(USB_CONTROL_ATTACH, attach));
}

bool usb_attached(void)
{
    return get(USB_CONTROL) & USB_CONTROL_ATTACH;
}

void usb_set_address(uint32_t address)
{
    set(USB_ADDRESS, FIELD_PUT(USB_ADDRESS_DEVICE, address));
}

uint32_t usb_errors(void)
{
    return get(USB_ERRORS);
}

uint32_t usb_events(void)
{
    uint32_t events = get(USB_EVENTS) & ~(uint32_t)(USB_EVENT_OUT | USB_EVENT_IN);
    if (events)
        set(USB_EVENTS, events);
    return events;
}

bool usb_read_setup(struct usb_setup *setup)
{
    uint32_t low = get(USB_SETUP0), high = get(USB_SETUP1);
    setup->type    = FIELD_GET(low, USB_SETUP0_TYPE);
    setup->request = FIELD_GET(low, USB_SETUP0_REQUEST);
    setup->value   = FIELD_GET(low, USB_SETUP0_VALUE);
    setup->index   = FIELD_GET(high, USB_SETUP1_INDEX);
    setup->length  = FIELD_GET(high, USB_SETUP1_LENGTH);
    return !(get(USB_EVENTS) & USB_EVENT_SETUP);
}

void usb_ep0_take(void)
{
    set(USB_EP0_OUT, USB_ARM);
}

void usb_ep0_give(const uint8_t *bytes, uint32_t length, bool data1)
{
    uint32_t word = 0;
    for (uint32_t i = 0; i < length; i++) {
        word |= (uint32_t)bytes[i] << 8 * (i % 4);
        if (i % 4 == 3 || i + 1 == length) {
            set(USB_EP0_IN_BUFFER + (i & ~3u), word);
            word = 0;
        }
    }
    set(USB_EP0_IN, FIELD_PUT(USB_LENGTH, length) | FIELD_PUT(USB_TOGGLE, data1) | USB_ARM);
}

void usb_ep0_stall(void)
{
    set(USB_EP0_OUT, USB_STALL);
    set(USB_EP0_IN, USB_STALL);
}

int usb_out_length(void)
{
    uint32_t out = get(USB_OUT);
    return out & USB_FULL ? (int)FIELD_GET(out, USB_LENGTH) : -1;
}

uint32_t usb_out_copy(uint32_t *to, uint32_t words, uint32_t crc)
{
    uint32_t from = BOARD_USB + USB_OUT_BUFFER;
    register_write(BOARD_DEVICES + DEV_CRC, crc);
    for (; words; words--) {
        uint32_t word = register_read(from);
        register_write(BOARD_DEVICES + DEV_CRC_DATA, word);
        *to++ = word;
        from += 4;
    }
    return register_read(BOARD_DEVICES + DEV_CRC);
}

void usb_out_release(void)
{
    set(USB_OUT, USB_ARM);
}

bool usb_in_room(void)
{
    return !(get(USB_IN) & USB_FULL);
}

/* All of the stream goes through here: four words at a time, loads before stores, so that no store
 * waits for its load. */
uint32_t usb_in_copy(uint32_t at, const uint32_t *from, uint32_t words, uint32_t crc)
{
    uint32_t to = BOARD_USB + USB_IN_BUFFER + 4 * at;
    register_write(BOARD_DEVICES + DEV_CRC, crc);
    for (; words >= 4; words -= 4, from += 4, to += 16) {
        uint32_t a = from[0], b = from[1], c = from[2], d = from[3];
        register_write(to, a);
        register_write(BOARD_DEVICES + DEV_CRC_DATA, a);
        register_write(to + 4, b);
        register_write(BOARD_DEVICES + DEV_CRC_DATA, b);
        register_write(to + 8, c);
        register_write(BOARD_DEVICES + DEV_CRC_DATA, c);
        register_write(to + 12, d);
        register_write(BOARD_DEVICES + DEV_CRC_DATA, d);
    }
    for (; words; words--, from++, to += 4) {
        uint32_t word = *from;
        register_write(to, word);
        register_write(BOARD_DEVICES + DEV_CRC_DATA, word);
    }
    return register_read(BOARD_DEVICES + DEV_CRC);
}

void usb_in_word(uint32_t at, uint32_t word)
{
    set(USB_IN_BUFFER + 4 * at, word);
}

void usb_in_send(uint32_t words)
{
    set(USB_IN, FIELD_PUT(USB_LENGTH, 4 * words) | USB_ARM);
}

void usb_out_reset(void)
{
    set(USB_OUT, USB_CLEAR);
}

void usb_in_reset(void)
{
    set(USB_IN, USB_CLEAR);
}

void usb_out_stall(void)
{
    set(USB_OUT, USB_STALL);
}

void usb_in_stall(void)
{
    set(USB_IN, USB_STALL);
}
