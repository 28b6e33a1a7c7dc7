/* SPDX-License-Identifier: Apache-2.0 */
/* A board in the same process: the real firmware on a board made of memory (firmware_device.h),
 * the reference machine (iss.h) as its machine on trial, and a cable (board_port.h) that loses,
 * damages, repeats and swaps messages, and can be unplugged. The fields of DEV_SETUP are written
 * here once more, on purpose: the host has them from board.def, and is held against this. */
#ifndef SUPPORT_BOARD_RIG_H
#define SUPPORT_BOARD_RIG_H

#include "targets/board/board_port.h"
#include "firmware_device.h"
#include "soc.h"

struct rig_faults {                  /* chances in 1000, of each message */
    uint32_t lose_out, damage_out, lose_in, damage_in, repeat_in, swap_in;
};

struct board_rig {
    struct board_port port;          /* of the host; closing it leaves the rig alone */
    struct firmware_device *device;
    const struct soc_interface *reference;
    struct soc *soc;                 /* the machine on trial */
    struct rig_faults faults;
    uint64_t chance;
    uint32_t messages, cut_after;    /* to the host so far; unplugged after so many, 0: never */
    uint32_t cut_again;              /* after so many more when it is plugged in again, likewise */
    bool unplugged, forgets;         /* the firmware begins anew at the next plug */
    bool gone;                       /* it is not plugged in again */
    bool hangs;                      /* the machine on trial gets nowhere */
    bool mute;                       /* nothing comes of it any more */
    uint32_t opened, closed;
    struct rig_queue { struct rig_message *first, **end; } out, in;
    size_t at;                       /* of the message that goes out, what went already */
    uint8_t coming[4096];
    size_t came;
};

/* window: words of the firmware's ring. */
struct board_rig *board_rig_new(uint32_t window);
void board_rig_free(struct board_rig *r);
/* The parameters of the board's machine, as soc.h has them. */
struct soc_parameters board_rig_parameters(void);

#endif
