/* SPDX-License-Identifier: Apache-2.0 */
/* A program as machine code for the harts of the multiprocessor: thread n is hart n's.
 *
 * Nothing is there but the test: what it reads is seen by the capture unit, and sim_records.h makes
 * values of its records again. For that both must know how each operation was made: struct
 * sim_made. The code is the same for all iterations but for its first words, sim_code_start().
 *
 * A transaction that aborts is tried again after a few cycles, as often as the test says; for
 * ever is SIM_MOST_TRIES times; then, and at once when it tries what no transaction can do, its
 * operations are done plainly. One that aborts itself is given a few tries to come to that. */
#ifndef HOST_SOC_CODE_H
#define HOST_SOC_CODE_H

#include "test/program.h"
#include "soc_numbers.h"
#include "soc.h"

enum {
    SIM_HARTS = 16,
    SIM_REGISTERS = 8,          /* of the test, in a thread */
    SIM_START_WORDS = 3,
    SIM_MOST_TRIES = 64, SIM_TRIES_TO_ABORT = 4,
    SIM_NO_ORIGIN = -1,
};
#define SIM_FAULT UINT32_C(0xf0000000)      /* there is no memory */

enum sim_way {
    SIM_PLAIN,                  /* the instruction of its name; if it is wide one for each word */
    SIM_NOTHING,                /* it leaves no record */
    SIM_LR_SC,                  /* SWAP, CAS: a loop of LR and SC */
    SIM_LR_SC_SC,               /* and a second SC when it has succeeded, which must fail */
};

struct sim_made {
    uint8_t way;                /* enum sim_way */
    uint8_t loads;              /* EVICT: how many, each a way further on */
    uint32_t first_load;        /* EVICT: the address of the first */
    uint32_t foreign;           /* SIM_LR_SC_SC: what the second SC would write; nobody else does */
};

struct sim_hart_code {
    uint32_t *words, count;
    int32_t *origin;            /* of each word: index in the thread, or SIM_NO_ORIGIN */
};

struct sim_code {
    const struct program *p;
    struct sim_made *made;      /* by the instruction's place in p->code */
    struct sim_hart_code hart[SIM_HARTS];
};

/* False: out of memory. `soc` says of which size lines and caches are. */
bool sim_code_make(struct sim_code *c, const struct program *p, const struct soc_parameters *soc);
void sim_code_free(struct sim_code *c);
/* What the first words of a thread are in an iteration: the start of its LFSR, and a few cycles by
 * which it starts late. */
void sim_code_start(const struct program *p, uint32_t thread, uint64_t iteration, uint32_t skew,
                    uint32_t words[SIM_START_WORDS]);
/* Of a hart without a thread. */
extern const uint32_t sim_code_idle[2];

/* How often a transaction that begins with this instruction is tried. */
static inline uint32_t sim_tries(const struct program_thread *t, const struct instruction *begin)
{
    if (t->code[begin->match].kind == ORDEAL_TX_ABORT)
        return SIM_TRIES_TO_ABORT;
    return begin->count >= SIM_MOST_TRIES ? SIM_MOST_TRIES : begin->count + 1;
}

static inline uint32_t sim_address(const struct program *p, const struct instruction *i)
{
    const struct program_line *l = &p->line[i->line];
    if (l->faulting)
        return SIM_FAULT + i->offset;
    return (l->uncached ? SOC_MAP_UNCACHED : SOC_MAP_MEMORY) + (uint32_t)l->place + i->offset;
}

#endif
