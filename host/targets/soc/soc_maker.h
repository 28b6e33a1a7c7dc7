/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of soc_code: one thread on its way to machine code. soc_code.c shares the registers
 * out and frames the code, soc_emit.c writes operations, soc_flow.c loops, branches, transactions,
 * soc_end.c what comes behind them all.
 *
 *   x1 LFSR of the branches     x3 what it was when the transaction began
 *   x2 times round the loop     x4 how often the transaction aborted
 *   then: registers of the test; copies of those that an abort must give back; bases of addresses;
 *   what loads without a register bring, in turn; all others are operands (soc_text.h). */
#ifndef HOST_SOC_MAKER_H
#define HOST_SOC_MAKER_H

#include "base/random.h"
#include "soc_code.h"
#include "soc_text.h"

enum {
    X_LFSR = 1,
    X_ROUND,
    X_LFSR_BEFORE,
    X_ABORTS,
    X_FIRST = SOC_FIRST_REGISTER,
    X_TRAP = 31,
    MOST_BASES = 4,
    MOST_RESULTS = 6,
    LEAST_OPERANDS = 8, /* a CAS by LR and SC may take so many */
    CSR_MSTATUS = 0x300,
    CSR_MIE = 0x304,
    CSR_MTVEC = 0x305,
    CSR_MSCRATCH = 0x340,
    CSR_MEPC = 0x341,
    CSR_MCAUSE = 0x342,
    CSR_MIP = 0x344,
    CSR_MCYCLE = 0xb00,
};

struct maker {
    const struct program *p;
    const struct program_thread *t;
    struct soc_made *made;           /* of the thread's instructions */
    uint32_t way;                    /* bytes from a line to the next of its set */
    uint32_t line_bytes;             /* of lines to be flushed at the end; 0: none are */
    uint32_t end_loads;              /* then, see soc_end.c */
    uint32_t thread, index;          /* the index is of the instruction at hand */
    struct soc_text text;
    uint32_t saved;                  /* registers of the test that have a copy, a bit each */
    uint32_t first_copy, first_base, bases, first_result, results, result;
    uint32_t result_before;          /* the transaction */
    uint32_t base[MOST_BASES];       /* what the base registers hold */
    uint32_t loop;                   /* the first word of the loop */
    struct text_mark branch, begin;  /* the branch that is open; the first try's TX.BEGIN */
    bool first_try;                  /* the body is written for it */
    uint32_t from_abort, from_skip;  /* jumps behind a transaction, see emit_aborted() */
};

#define PUT(...) text_put(&m->text, rv32(__VA_ARGS__))
#define ADD(...) text_add(&m->text, rv32(__VA_ARGS__))

static inline uint32_t test_register(uint32_t r) { return X_FIRST + r; }

/* An address is one offset away from this. */
static inline uint32_t window(uint32_t address) { return (address & ~UINT32_C(4095)) + 2048; }

/* What chance decides about an instruction, or about the thread (WHOLE_THREAD). Many tests have no
 * seed of their own: what the instruction is takes part. */
enum { WHOLE_THREAD = -1 };
static inline uint64_t hash_of(const struct program *p, uint32_t thread, uint32_t index)
{
    const struct program_thread *t = &p->thread[thread];
    uint64_t state = p->seed ^ (uint64_t)(t->number + 1) << 32 ^ index;
    uint64_t hash = random_mix(&state);
    const struct instruction *i = &t->code[index < t->length ? index : 0];
    if (t->length)
        state = hash ^ i->write ^ (uint64_t)i->line << 40 ^ (uint64_t)i->offset << 32;
    return random_mix(&state);
}

static inline bool prefetches_to_write(const struct program *p, uint32_t thread, uint32_t index)
{
    return hash_of(p, thread, index) & 1;
}

/* A constant in an operand; 0 is in x0. */
uint32_t constant(struct maker *m, uint32_t value);
/* A jump whose target is not there yet; returns its word. */
uint32_t jump_ahead(struct maker *m);

void emit_operation(struct maker *m, const struct instruction *i);
void emit_flow(struct maker *m, const struct instruction *i);
/* Behind all operations: what is dirty goes to memory. */
void emit_end(struct maker *m);
/* The thread's instructions from..to-1. */
void emit_range(struct maker *m, uint32_t from, uint32_t to);

#endif
