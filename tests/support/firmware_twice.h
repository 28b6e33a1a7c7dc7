/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the firmware, all of them twice: on the firmware as part of the test program, and as it
 * is compiled for the board. */
#ifndef SUPPORT_FIRMWARE_TWICE_H
#define SUPPORT_FIRMWARE_TWICE_H

#include "firmware_talk.h"
#include "unity.h"

/* `run_all` runs the tests; returns what main() does. */
static inline int firmware_twice(void (*run_all)(void))
{
    UNITY_BEGIN();
    run_all();
    firmware_board_usual.elf = firmware_talk_elf();
    run_all();
    return UNITY_END();
}

#endif
