/* SPDX-License-Identifier: Apache-2.0 */
/* What the capture unit saw, made values of the program again (program.h).
 *
 * Records say what a hart did but not by which instruction: the program is walked as the hart went,
 * and each instruction takes the records it must have left (sim_code.h says how it was made). Those
 * of transactions that aborted are passed over. Only what reads must be there as it should: a
 * store more or less is the checker's to find. */
#ifndef HOST_SOC_RECORDS_H
#define HOST_SOC_RECORDS_H

#include "base/list.h"
#include "soc_code.h"
#include "targets/target.h"

struct sim_record {
    uint64_t sequence;
    uint8_t kind, size_log2;    /* SOC_REC_* */
    uint32_t issue, completion; /* cycles */
    uint32_t address, read, written;
};

/* A store when it was there for all. */
struct sim_visible {
    uint32_t cycle, arrival;    /* arrival: among the hart's */
    uint32_t address, written;
    uint8_t size_log2;
    bool in_transaction, taken;
};

struct sim_records {
    struct sim_hart_records {
        LIST(struct sim_record) list;   /* in program order */
        LIST(struct sim_visible) visible;
    } hart[SIM_HARTS];
    LIST(struct sim_write) writes;      /* of all harts, see sim_order.c */
    uint64_t lost;                      /* so many are missing */
};

void sim_records_clear(struct sim_records *r);
void sim_records_free(struct sim_records *r);
/* Words of the stream, whole records. False: that is no stream, or memory is out. */
bool sim_records_take(struct sim_records *r, const uint32_t *words, size_t count,
                      struct why *why);
/* Fills what program_words() says. False: no execution of the program leaves such records. */
bool sim_records_values(struct sim_records *r, const struct sim_code *c, uint64_t iteration,
                        const struct machine_claims *claims, uint64_t *values, struct why *why);

/* ---- sim_order.c: which store became visible when ------------------------------------------- */

struct sim_write {
    uint64_t operation;         /* its number in the program */
    uint32_t hart, address, value;
    uint8_t size_log2;
    uint32_t cycle;             /* of an atomic operation: when it was done; else 0 */
};

bool sim_order_add(struct sim_records *r, const struct sim_write *w);
/* Gives each operation that wrote its rank. */
void sim_order_rank(struct sim_records *r, uint64_t *ranks);

#endif
