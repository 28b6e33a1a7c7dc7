/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware as it was compiled for the board: an interpreter of RV32I for the monitor of the
 * board in memory, with the cycles that rtl/board/ would take, roughly. */
#ifndef SUPPORT_FIRMWARE_HART_H
#define SUPPORT_FIRMWARE_HART_H

#include <stdint.h>

struct firmware_hart {
    uint8_t *ram;
    uint32_t bytes;                 /* of it */
    uint32_t end;                   /* where the ring begins */
    uint32_t registers[32], pc;
    uint64_t instructions, cycles;
    uint64_t crc_free;              /* cycle from which on the CRC unit takes another word */
    uint32_t stack;                 /* the lowest address that it may reach */
    uint32_t pending;               /* register that a load sets one cycle late */
};

/* Loads an ELF file. The RAM is as large as the firmware with so many words of ring behind it. */
struct firmware_hart *firmware_hart_new(const char *path, uint32_t window);
void firmware_hart_free(struct firmware_hart *h);
void firmware_hart_reset(struct firmware_hart *h);
/* Runs until the watchdog is put off: one turn of the loop. */
void firmware_hart_turn(struct firmware_hart *h);

#endif
