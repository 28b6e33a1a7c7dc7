/* SPDX-License-Identifier: Apache-2.0 */
/* The board's registers, for C: addresses as rtl/board/board.def has them (DEV_RUN, USB_IN, …) and
 * fields as masks, for field.h (DEV_SETUP_BUG, USB_ARM, …); numbers of the machine on trial as
 * rtl/soc.def has them (SOC_PEEK_PC, …); and how to reach a register.
 *
 * On the board an access is a load or a store. Elsewhere, where layers are tested, somebody else
 * answers: register_read and register_write are left to whoever links them. */
#ifndef FIRMWARE_REGISTERS_H
#define FIRMWARE_REGISTERS_H

#include "field.h"

enum board_number {
#define NUMBER(name, bits, value) name = value,
#include "board/board.def"
#undef NUMBER
};

enum soc_number {
#define NUMBER(name, bits, value) SOC_##name = value,
#include "soc.def"
#undef NUMBER
};

enum {
#define EVENT(number, name, text) +1
    SOC_EVENTS = 0
#include "soc.def"
#undef EVENT
};

#ifdef __riscv
static inline uint32_t register_read(uint32_t address)
{
    return *(volatile uint32_t *)address;
}

static inline void register_write(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}
#else
uint32_t register_read(uint32_t address);
void register_write(uint32_t address, uint32_t value);
#endif

#endif
