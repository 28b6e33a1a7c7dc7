/* SPDX-License-Identifier: Apache-2.0 */
/* A board in memory: the firmware, and the registers of rtl/board/board.def under it as BOARD.md
 * has them behave.
 *
 * The caller is the host at the other end of the cable, one packet at a time, and supplies the
 * machine on trial: what its capture gives. Nothing happens but in firmware_device_poll(), one
 * turn of the firmware's loop, and in those calls that say they poll. What firmware must never do
 * to a register aborts.
 *
 * Where a field of a register of devices.v lies is written here once more, on purpose: the
 * firmware has it from the table, and is held against this. */
#ifndef SUPPORT_FIRMWARE_DEVICE_H
#define SUPPORT_FIRMWARE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICE_PACKET = 64 };
enum { DEVICE_NAK = -1, DEVICE_STALL = -2, DEVICE_SILENT = -3 /* not within many polls */ };

/* What the board is made of. */
struct firmware_board {
    uint32_t window;                /* words of the ring */
    uint32_t cycles;                /* that the machine does in a poll */
    uint32_t parameters[16];        /* PARAM_* */
    const char *elf;                /* the board's firmware; NULL: that which is linked here */
};
extern struct firmware_board firmware_board_usual;

struct firmware_device;
/* Powered, its pull-up on; not enumerated. board: NULL for the usual one. Never NULL. */
struct firmware_device *firmware_device_new(const struct firmware_board *board);
void firmware_device_free(struct firmware_device *d);
void firmware_device_poll(struct firmware_device *d);

/* ---- the bus ------------------------------------------------------------------------------ */

void firmware_device_bus_reset(struct firmware_device *d);
/* Bus reset, address, configuration 1. Polls. */
void firmware_device_plug(struct firmware_device *d);
/* A whole control transfer: length of its data, DEVICE_STALL or DEVICE_SILENT. data is what a data
 * stage brings or takes, and has room for wLength bytes. Polls. */
int firmware_device_control(struct firmware_device *d, const uint8_t setup[8], uint8_t *data);
/* The same request in numbers. */
int firmware_device_request(struct firmware_device *d, uint32_t type, uint32_t request,
                            uint32_t value, uint32_t index, uint32_t length, uint8_t *data);
/* Bulk packets. Out: its length when it was taken; in: the length of what came. */
int firmware_device_out(struct firmware_device *d, const void *packet, size_t length);
int firmware_device_in(struct firmware_device *d, void *packet);
/* Steps of a control transfer. */
void firmware_device_setup(struct firmware_device *d, const uint8_t setup[8]);
int firmware_device_ep0_out(struct firmware_device *d, const void *packet, size_t length);
int firmware_device_ep0_in(struct firmware_device *d, void *packet, bool *data1);
void firmware_device_suspend(struct firmware_device *d, bool suspended);
uint32_t firmware_device_address(const struct firmware_device *d);
bool firmware_device_attached(const struct firmware_device *d);

/* ---- whole messages: transfers that end with a short packet -------------------------------- */

/* Sends bytes as one transfer, polls until all is taken. False: the board does not take it. */
bool firmware_device_send(struct firmware_device *d, const void *bytes, size_t length);
/* The next transfer; polls at most so often. Its length, or DEVICE_NAK: none came whole. */
int firmware_device_receive(struct firmware_device *d, void *bytes, size_t room, int polls);

/* ---- the machine on trial ----------------------------------------------------------------- */

/* Words that its capture gives, after those before them. In reset they are thrown away. */
void firmware_device_captures(struct firmware_device *d, const uint32_t *words, size_t count);
/* Harts that are done. When all are, and the words are gone, DEV_DONE says so. */
void firmware_device_done(struct firmware_device *d, uint32_t harts);
/* Called when it starts to run, to supply the above; and once in each poll while it runs. */
typedef void firmware_device_hook(void *context, struct firmware_device *d);
void firmware_device_machine(struct firmware_device *d, firmware_device_hook *starts,
                             firmware_device_hook *runs, void *context);
/* What it was given. */
bool firmware_device_runs(const struct firmware_device *d);
uint32_t firmware_device_model(const struct firmware_device *d);    /* DEV_SETUP */
uint32_t firmware_device_seed(const struct firmware_device *d);
uint32_t *firmware_device_memory(struct firmware_device *d);
uint32_t *firmware_device_code(struct firmware_device *d, uint32_t hart);
void firmware_device_set_cycle(struct firmware_device *d, uint32_t cycle);

/* ---- the rest ----------------------------------------------------------------------------- */

/* The monitor is reset, for the cause CAUSE_*: firmware begins anew, the core stays as it is. */
void firmware_device_restart(struct firmware_device *d, uint32_t cause);
/* Cycles until the watchdog would do that, as written since the last call; 0: it was not. */
uint32_t firmware_device_watchdog(struct firmware_device *d);
/* Called before every access to a register. */
void firmware_device_watch(struct firmware_device *d, firmware_device_hook *watch, void *context);
/* Who runs the firmware, if it is not linked here. */
const struct firmware_hart *firmware_device_hart(const struct firmware_device *d);
/* Register accesses so far. */
uint64_t firmware_device_accesses(const struct firmware_device *d);

#endif
