/* SPDX-License-Identifier: Apache-2.0 */
/* A program as machine code for the harts of the multiprocessor: thread n is hart n's.
 *
 * Nothing is there but the test: what it reads is seen by the capture unit, and soc_records.h makes
 * values of its records again. For that both must know how each operation was made: struct
 * soc_made. The code is the same for all iterations but for its first words, soc_code_start().
 *
 * What a load brought is seen where it left the load queue. That it also came to the register is
 * seen by folds: at the end of a thread, and in some threads in between, registers that loads and
 * atomic operations wrote are folded into a value, which a mark tells; a mark before it tells which
 * fold it is. There is none inside a transaction.
 *
 * The handler marks each interrupt after it has taken it back. In a quarter of the tests threads
 * that others send some linger at their end, so that those that come late are taken, too.
 *
 * A transaction that aborts is tried again after a few cycles, as often as the test says; for
 * ever is SOC_MOST_TRIES times; then, and at once when it tries what no transaction can do, its
 * operations are done plainly. One that aborts itself is given a few tries to come to that. */
#ifndef HOST_SOC_CODE_H
#define HOST_SOC_CODE_H

#include "test/program.h"
#include "soc_numbers.h"
#include "soc.h"

enum {
    SOC_HARTS = 16,
    SOC_REGISTERS = 8, /* of the test, in a thread */
    SOC_START_WORDS = 3,
    SOC_MOST_TRIES = 64,
    SOC_TRIES_TO_ABORT = 4,
    SOC_NO_ORIGIN = -1,
    SOC_FIRST_REGISTER = 5,
    /* of the test: x5 */ SOC_FIRST_FOLD =
        32,                  /* marks from there on name folds; below are causes of traps, */
    SOC_INTERRUPT_MARK = 31, /* and this: an interrupt was taken, and taken back */
    SOC_MOST_FOLDS = 1024,
};
#define SOC_FAULT UINT32_C(0xf0000000) /* there is no memory */

enum soc_way {
    SOC_PLAIN,    /* the instruction of its name; if it is wide one for each word */
    SOC_NOTHING,  /* it leaves no record */
    SOC_LR_SC,    /* SWAP, CAS, AMO: a loop of LR and SC */
    SOC_LR_SC_SC, /* and a second SC when it has succeeded, which must fail */
};

/* What stands between the first LR and its SC, of an AMO beside its function. If that SC fails a plain loop of LR
 * and SC follows, so that it ends even if whatever stood between made it fail. */
enum soc_between {
    SOC_NOTHING_BETWEEN,
    SOC_ALU_BETWEEN,
    SOC_LOAD_BETWEEN, /* of another word of the test, which nobody else sees */
    SOC_FENCE_BETWEEN,
    SOC_PREFETCH_BETWEEN, /* of another line, or another word of the line */
};

/* By what a store, a swap or an AMO depends on registers (`needs`); others do by their address. */
enum soc_dependence {
    SOC_BY_ADDRESS,
    SOC_BY_DATA,    /* of up to a word */
    SOC_BY_CONTROL, /* S: a branch on each register, which goes on either way */
};

struct soc_made {
    uint8_t way;                /* enum soc_way */
    uint8_t dependence;         /* S, SWAP, AMO: enum soc_dependence */
    uint8_t between;            /* enum soc_between */
    uint32_t other;             /* what is loaded or prefetched there */
    bool sign;                  /* L of less than a word: LB or LH, else LBU or LHU */
    uint8_t to;                 /* L, SWAP, CAS, EVICT: the register that takes what it reads first;
                                   0: nobody looks at it */
    uint8_t next;               /* of more than a word: that of the second, others follow in turn;
                                   of SOC_LOAD_BETWEEN: that of the load */
    uint8_t loads;              /* EVICT: how many, each a way further on */
    uint32_t first_load;        /* EVICT: the address of the first */
    uint32_t foreign;           /* SOC_LR_SC_SC: what the second SC would write; nobody else does */
};

struct soc_hart_code {
    uint32_t *words, count;
    int32_t *origin;               /* of each word: index in the thread, or SOC_NO_ORIGIN */
    uint32_t *fold, folds;         /* of each: its registers, a bit each */
    uint8_t first_result, results; /* registers that take turns */
    uint32_t end_loads;            /* behind those of the test, of lines that it flushed */
};

struct soc_code {
    const struct program *p;
    struct soc_made *made; /* by the instruction's place in p->code */
    struct soc_hart_code hart[SOC_HARTS];
};

/* False: out of memory. `soc` says of which size lines and caches are; if its code memory is too
 * small for folds there are none. `settle`: when all harts are done memory holds what they wrote,
 * however long it stayed in their caches. */
bool soc_code_make(struct soc_code *c, const struct program *p, const struct soc_parameters *soc,
                   bool settle);
void soc_code_free(struct soc_code *c);
/* What the first words of a thread are in an iteration: the start of its LFSR, and a few cycles by
 * which it starts late. */
void soc_code_start(const struct program *p, uint32_t thread, uint64_t iteration, uint32_t skew,
                    uint32_t words[SOC_START_WORDS]);
/* Of a hart without a thread. */
extern const uint32_t soc_code_idle[2];

/* How often a transaction that begins with this instruction is tried. */
static inline uint32_t soc_tries(const struct program_thread *t, const struct instruction *begin)
{
    if (t->code[begin->match].kind == ORDEAL_TX_ABORT)
        return SOC_TRIES_TO_ABORT;
    return begin->count >= SOC_MOST_TRIES ? SOC_MOST_TRIES : begin->count + 1;
}

/* The value of a fold with one register more; it begins as the mark that names it. */
static inline uint32_t soc_fold_step(uint32_t fold, uint32_t value) { return fold * 33 + value; }

/* The register after this one among those that take turns. */
static inline uint8_t soc_next_result(const struct soc_hart_code *c, uint8_t reg)
{
    return (uint8_t)(reg + 1 < c->first_result + c->results ? reg + 1 : c->first_result);
}

static inline uint32_t soc_address(const struct program *p, const struct instruction *i)
{
    const struct program_line *l = &p->line[i->line];
    if (l->faulting)
        return SOC_FAULT + i->offset;
    return (l->uncached ? SOC_MAP_UNCACHED : SOC_MAP_MEMORY) + (uint32_t)l->place + i->offset;
}

#endif
