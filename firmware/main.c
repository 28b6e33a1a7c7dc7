/* SPDX-License-Identifier: Apache-2.0 */
/* On the board: the ring takes all of the monitor's RAM that the firmware itself leaves. */
#include "firmware.h"
#include "trial_driver.h"
#include "registers.h"

extern uint32_t firmware_end[]; /* firmware.ld */

int main(void)
{
    static struct firmware firmware;
    uint32_t end = (uint32_t)firmware_end, ram = BOARD_RAM + trial_parameter(PARAM_RAM_BYTES);
    firmware_start(&firmware, firmware_end, ram > end ? (ram - end) / 4 : 0);
    for (;;)
        firmware_poll(&firmware);
}
