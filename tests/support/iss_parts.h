/* SPDX-License-Identifier: Apache-2.0 */
/* What iss.c and iss_hart.c share. */
#ifndef TESTS_ISS_PARTS_H
#define TESTS_ISS_PARTS_H

#include "iss.h"

enum iss_number {
#define NUMBER(name, bits, value) N_##name = value,
#include "soc.def"
#undef NUMBER
};

enum iss_event {
#define EVENT(number, name, what) E_##name = number,
#include "soc.def"
#undef EVENT
    ISS_EVENTS
};

enum iss_wait {
#define WAIT(number, name, what) W_##name = number,
#include "soc.def"
#undef WAIT
};

struct iss_undo { uint32_t index, word; };

struct iss_hart {
    uint32_t pc, x[32];
    uint32_t mstatus, mie, mtvec, mscratch, mepc, mcause, mtval;
    uint64_t retired;
    bool msip, asleep, done;
    uint8_t sequence;
    bool reserved;
    uint32_t reservation;             /* line */
    /* The transaction. `doomed`: why it aborts at the hart's next turn; its stores are undone. */
    bool tx;
    uint32_t doomed, tx_target, tx_register;
    uint32_t read_set[ISS_TX_LINES], reads, write_set[ISS_TX_LINES], writes;
    struct iss_undo *undo;
    uint32_t undos, undo_room;
    uint32_t counter[ISS_EVENTS];
    uint32_t code[ISS_CODE_BYTES / 4];
};

struct iss_record { uint32_t kind, size, address, read, written; };

struct soc {
    uint32_t harts;
    struct soc_setup setup;
    uint64_t random, cycle;
    uint32_t turn, turns;             /* whose turn it is, and how many more it has */
    uint32_t *stream;
    size_t stream_from, stream_to;
    uint32_t memory[ISS_MEMORY_BYTES / 4];
    struct iss_hart hart[];
};

/* The interpreter: one instruction of the hart, or an interrupt, or nothing where it sleeps. */
void iss_turn(struct soc *s, uint32_t hart);

/* Memory as all harts see it: `address` was found valid and aligned; conflicts are settled. False:
 * the transaction of the hart has become too large, nothing was done. */
bool iss_read(struct soc *s, uint32_t hart, uint32_t address, uint32_t *word);
bool iss_write(struct soc *s, uint32_t hart, uint32_t address, uint32_t word, uint32_t mask);

uint32_t iss_line(uint32_t address);
void iss_doom(struct soc *s, uint32_t hart, uint32_t cause);
void iss_record(struct soc *s, uint32_t hart, const struct iss_record *r);

#endif
