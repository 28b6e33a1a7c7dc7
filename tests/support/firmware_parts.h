/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the board in memory (firmware_device.h). */
#ifndef SUPPORT_FIRMWARE_PARTS_H
#define SUPPORT_FIRMWARE_PARTS_H

#include "firmware.h"
#include "firmware_device.h"
#include "firmware_hart.h"
#include "registers.h"

enum { CODE_HARTS = 16, DEPTH = 2 };

struct packet {
    uint8_t bytes[DEVICE_PACKET];
    uint32_t length;
};

/* A bulk endpoint: packets that wait, the oldest first. */
struct bulk {
    struct packet packets[DEPTH];
    uint32_t count;
    bool stalled;
};

struct core {
    uint32_t control, events, address;
    bool suspended;
    uint8_t setup[8];
    struct { bool armed, full, stalled; struct packet packet; } ep0_out;
    struct { bool armed, data1, stalled; struct packet packet; } ep0_in;
    struct bulk out, in;
    uint8_t in_buffer[DEVICE_PACKET];
    bool disturbed;             /* by a reset since the poll began: firmware cannot know yet */
};

struct trial {
    uint32_t setup, seed, cycle, done, load_address, peek, crc, watchdog, cause, timer;
    bool runs;
    uint32_t *memory, *code;
    uint32_t *stream;           /* words that the capture gives, */
    size_t count, taken, room;  /* of which some are gone */
};

struct firmware_device {
    struct firmware_board board;
    struct firmware_hart *hart; /* that runs the firmware; NULL: it runs here, */
    struct firmware firmware;
    uint32_t *ring;
    struct core core;
    struct trial trial;
    firmware_device_hook *starts, *runs;
    void *machine;
    firmware_device_hook *watch;
    void *watcher;
    uint64_t accesses;
};

/* Registers, by their offset. */
uint32_t core_read(struct core *c, uint32_t offset);
void core_write(struct core *c, uint32_t offset, uint32_t value);
void core_reset(struct core *c);
uint32_t trial_read_register(struct firmware_device *d, uint32_t offset);
void trial_write_register(struct firmware_device *d, uint32_t offset, uint32_t value);

/* Firmware did what it must not. */
_Noreturn void firmware_wrong(const char *what, uint32_t offset);

#endif
