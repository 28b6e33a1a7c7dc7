/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated board held by its JTAG pins: what a debugger does, bit by bit, from TMS up to the
 * registers and the memory of a hart. Every function checks that it was answered. Fields of registers
 * are written here once more, on purpose: the hardware has them from board.def. */
#ifndef SUPPORT_JTAG_RIG_H
#define SUPPORT_JTAG_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "board.h"

enum { JTAG_IDCODE = 0x01, JTAG_DTMCS = 0x10, JTAG_DMI = 0x11, JTAG_BYPASS = 0x1f };
enum {
    DM_DATA0 = 0x04, DM_DATA1 = 0x05, DM_CONTROL = 0x10, DM_STATUS = 0x11, DM_HARTINFO = 0x12,
    DM_ABSTRACTCS = 0x16, DM_COMMAND = 0x17, DM_SBCS = 0x38, DM_SBADDRESS = 0x39, DM_SBDATA = 0x3c,
    DM_HALTSUM = 0x40
};
enum {
    DM_HALTREQ = 1 << 31, DM_RESUMEREQ = 1 << 30, DM_ACKHAVERESET = 1 << 28, DM_NDMRESET = 2,
    DM_ACTIVE = 1, DM_HALTED = 3 << 8, DM_RUNNING = 3 << 10, DM_NONEXISTENT = 3 << 14,
    DM_RESUMEACK = 3 << 16, DM_HAVERESET = 3 << 18
};
enum { CMDERR_SUPPORT = 2, CMDERR_EXCEPTION = 3, CMDERR_STATE = 4 };
enum { RIG_HARTS = 2, RIG_MONITOR = RIG_HARTS }; /* of the machine; the monitor is the last */
enum { CSR_MISA = 0x301, CSR_DCSR = 0x7b0, CSR_DPC = 0x7b1 };

struct jtag_rig {
    const struct board_interface *model;
    struct board *board;
    struct board_jtag pins;
    bool tdo;
    uint32_t hart;   /* that is selected */
};

/* A board as after power-on, its debug module active; the smallest one. */
void jtag_rig_open(struct jtag_rig *r);
void jtag_rig_open_lean(struct jtag_rig *r);
void jtag_rig_close(struct jtag_rig *r);
/* Time passes; no assertion of the hardware may fail. */
void jtag_cycles(struct jtag_rig *r, uint32_t cycles);

/* One period of TCK, two cycles of the board's clock up and down each; TDO before it rose. */
bool jtag_tck(struct jtag_rig *r, bool tms, bool tdi);
/* From Run-Test/Idle and back: what came out. */
uint64_t jtag_ir(struct jtag_rig *r, uint32_t value);
uint64_t jtag_dr(struct jtag_rig *r, uint32_t bits, uint64_t value);

uint32_t dmi_read(struct jtag_rig *r, uint32_t address);
void dmi_write(struct jtag_rig *r, uint32_t address, uint32_t value);

/* dmcontrol with these bits for a hart, which is then selected. */
void dm_control(struct jtag_rig *r, uint32_t hart, uint32_t bits);
void dm_halt(struct jtag_rig *r, uint32_t hart);
void dm_resume(struct jtag_rig *r, uint32_t hart);
bool dm_halted(struct jtag_rig *r, uint32_t hart);
/* An abstract command to the end; its cmderr, cleared again. */
uint32_t dm_command(struct jtag_rig *r, uint32_t command);

/* Of the hart that is selected, which must be halted. */
uint32_t hart_gpr(struct jtag_rig *r, uint32_t number);
void hart_set_gpr(struct jtag_rig *r, uint32_t number, uint32_t value);
uint32_t hart_csr(struct jtag_rig *r, uint32_t number);
void hart_set_csr(struct jtag_rig *r, uint32_t number, uint32_t value);
/* size: log2 of the bytes. cmderr. */
uint32_t hart_load(struct jtag_rig *r, uint32_t address, uint32_t size, uint32_t *value);
uint32_t hart_store(struct jtag_rig *r, uint32_t address, uint32_t size, uint32_t value);
/* One instruction. */
void hart_step(struct jtag_rig *r);

/* Words over the system bus. */
uint32_t bus_read(struct jtag_rig *r, uint32_t address);
void bus_write(struct jtag_rig *r, uint32_t address, uint32_t value);
/* The machine: code of a hart (which puts it into reset), on and off. */
void machine_code(struct jtag_rig *r, uint32_t hart, const uint32_t *words, uint32_t count);
void machine_run(struct jtag_rig *r, bool run);

#endif
