/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V's memory model by its axioms, found by trying every global memory order: an oracle written
 * from the chapter on RVWMO of the unprivileged specification (and its Ztso), byte by byte, which
 * shares nothing with the checker. For a handful of operations only. */
#ifndef RVWMO_H
#define RVWMO_H

#include <stdbool.h>
#include <stdint.h>

enum { RVWMO_OPS = 10, RVWMO_BYTES = 16, RVWMO_REGISTERS = 4 };

enum rvwmo_kind { RVWMO_LOAD, RVWMO_STORE, RVWMO_AMO, RVWMO_LR, RVWMO_SC, RVWMO_FENCE };
enum { RVWMO_R = 1, RVWMO_W = 2 };

struct rvwmo_op {
    enum rvwmo_kind kind;
    unsigned hart, address, size;
    bool aq, rl, failed;    /* failed: an SC that did not store */
    unsigned before, after; /* of a fence: sets of RVWMO_R and RVWMO_W ... */
    bool tso;               /* ... or FENCE.TSO */
    unsigned writes, address_of, data_of, control_of; /* registers, as sets: bit r is register r */
    uint8_t read[8], written[8];
};

struct rvwmo_execution {
    unsigned ops;
    struct rvwmo_op op[2 * RVWMO_OPS]; /* those of one hart in program order */
    uint8_t initial[RVWMO_BYTES];
};

/* Is there a global memory order for these values? */
bool rvwmo_legal(const struct rvwmo_execution *x, bool ztso);
/* Fills in what loads read, by a random order that keeps what does not depend on values. */
void rvwmo_run(struct rvwmo_execution *x, bool ztso, uint64_t (*random)(void *user), void *user);

/* Who wrote what a load read, byte by byte, and what memory holds at the end: numbers of operations, -1
 * of the initial value. */
struct rvwmo_sources {
    int load[2 * RVWMO_OPS][8], last[RVWMO_BYTES];
};
/* Calls `found` for every global memory order, whatever values there are. */
void rvwmo_each(const struct rvwmo_execution *x, bool ztso,
                void (*found)(void *user, const struct rvwmo_sources *s), void *user);

#endif
