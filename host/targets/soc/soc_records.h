/* SPDX-License-Identifier: Apache-2.0 */
/* What the capture unit saw, made values of the program again (program.h).
 *
 * Records say what a hart did but not by which instruction: the program is walked as the hart went,
 * and each instruction takes the records it must have left (soc_code.h says how it was made). Those
 * of transactions that aborted are passed over. Only what reads must be there as it should: a
 * store more or less is the checker's to find. */
#ifndef HOST_SOC_RECORDS_H
#define HOST_SOC_RECORDS_H

#include "soc_code.h"
#include "soc_record.h"
#include "targets/target.h"

/* An interrupt that a hart sent another one, when its store went into the store buffer. */
struct soc_ipi {
    uint32_t from, to, cycle;
    size_t record; /* that of the store, among the sender's */
};

struct soc_records {
    struct soc_hart_records hart[SOC_HARTS];
    LIST(struct soc_ipi) ipis;
    LIST(struct soc_write) writes;      /* of all harts, see soc_order.c */
    uint64_t lost;                      /* so many are missing */
};

void soc_records_clear(struct soc_records *r);
void soc_records_free(struct soc_records *r);
/* Words of the stream, whole records. False: that is no stream, or memory is out. */
bool soc_records_take(struct soc_records *r, const uint32_t *words, size_t count, struct why *why);
/* Fills what program_words() says. False: no execution of the program leaves such records. Nor does
 * one in which a hart took more interrupts than were sent to it, or went on without taking one that
 * was there: see soc_interrupts.c. */
bool soc_records_values(struct soc_records *r, const struct soc_code *c, uint64_t iteration,
                        const struct machine_claims *claims, uint64_t *values, struct why *why);

/* ---- soc_interrupts.c: whether they arrived --------------------------------------------------- */

bool soc_interrupts_add(struct soc_records *r, const struct soc_ipi *ipi);
/* When all threads have been read. */
bool soc_interrupts_check(const struct soc_records *r, struct why *why);

/* ---- soc_order.c: which store became visible when ------------------------------------------- */

struct soc_write {
    uint64_t operation;         /* its number in the program */
    uint32_t hart, address, value;
    uint8_t size_log2;
    uint32_t cycle;             /* of an atomic operation: when it was done; else 0 */
};

bool soc_order_add(struct soc_records *r, const struct soc_write *w);
/* Gives each operation that wrote its rank. */
void soc_order_rank(struct soc_records *r, uint64_t *ranks);

#endif
