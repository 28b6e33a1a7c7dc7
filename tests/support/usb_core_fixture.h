/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the USB core at its pins: a rig and some bytes, one of each for the whole program. */
#ifndef TESTS_USB_CORE_FIXTURE_H
#define TESTS_USB_CORE_FIXTURE_H

#include "unity.h"
#include "usb_rig.h"

static struct usb_rig rig, *r = &rig;
static uint8_t bytes[256];

static inline void fixture_set_up(void)
{
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i ^ 0x5a);
    usb_rig_open(r, 12000000, 0.3, 0, 0, 1);
}

void tearDown(void) { usb_rig_close(r); }

static inline void expect(int expected, int got) { TEST_ASSERT_EQUAL_HEX8(expected, got); }

#endif
