/* SPDX-License-Identifier: Apache-2.0 */
/* Chance for the simulated bus: splitmix64, the state is a number. */
#ifndef SIM_USB_RANDOM_H
#define SIM_USB_RANDOM_H

#include <stdint.h>

static inline uint64_t usb_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
