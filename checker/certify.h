/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two halves of the certifier: what both read straight from the axioms.
 *
 * Nothing here knows the search, its graph or its table of models: the models are written down a
 * second time, so that a mistake in one place is found by the other. */
#ifndef ORDEAL_CERTIFY_H
#define ORDEAL_CERTIFY_H

#include "verdict.h"

/* Program order that a model keeps everywhere, as the membar flavours that are assumed between any
 * two instructions (the last sentence of thesis 2.4.3). Order of accesses to one word and RMO's
 * dependence order come on top. */
uint8_t certify_assumed_membar(enum ordeal_model m);

/* Under PC a store lands in each thread's memory on its own (thesis 2.4.2). */
static inline bool certify_has_views(enum ordeal_model m) { return m == ORDEAL_PC; }

/* Arrays that are freed together. */
enum { SCRATCH_BLOCKS = 16 };
struct scratch {
    struct ordeal *o;
    size_t count;
    struct { void *pointer; size_t bytes; } block[SCRATCH_BLOCKS];
};
void *scratch_zero(struct scratch *s, size_t count, size_t size); /* cleared; NULL: no memory */
void *scratch_none(struct scratch *s, size_t count);              /* of uint32_t, all NONE */
void scratch_free(struct scratch *s);
/* After NULL: ORDEAL_NO_MEMORY, or ORDEAL_LIMIT where that is what stood in the way. */
enum ordeal_status scratch_status(const struct scratch *s);

/* An event in words: "P1 SWAP[A]=1#2", "initial A"; fits any line. */
enum { EVENT_TEXT = 96 };
const char *certify_event_text(const struct execution *x, uint32_t event, char text[EVENT_TEXT]);

/* Every AMO left in memory what its function makes of the value read and the operand. */
enum ordeal_status certify_amos(const struct execution *x);

/* It has RISC-V's rules of registers: 9 to 13. */
static inline bool certify_is_riscv(enum ordeal_model m)
{
    return m == ORDEAL_RVWMO || m == ORDEAL_RVTSO;
}
/* at: by group, its place in the order, from 1; saw: by load, the store that decided its value. */
enum ordeal_status certify_riscv(const struct ordeal_verdict *v, const uint32_t *at,
                                 const uint32_t *saw);
/* The execution has marks of acquire or release, or an SC that used a reservation. */
bool certify_has_marks(const struct execution *x);

bool certify_in_core(const struct ordeal_verdict *v, uint32_t op);

enum ordeal_status certify_order(const struct ordeal_verdict *v);
enum ordeal_status certify_proof(const struct ordeal_verdict *v);

#endif
