/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads for benchmarks and tests: legal executions of the thesis's random programs (4.6).
 *
 * A random program is run on an operational TSO machine (FIFO store buffers, a random scheduler),
 * so every execution is legal by construction and `performed` is a valid total order of it. The
 * same specification gives the same execution, on every machine. Store values say nothing about
 * the interleaving: they are numbered per word in the order of the program's text. */
#ifndef ORDEAL_WORKLOAD_H
#define ORDEAL_WORKLOAD_H

#include "ordeal.h"

/* Thesis 4.6; the shares of swap, membar and prefetch are the same in all three. */
enum workload_mix { WORKLOAD_EQUAL, WORKLOAD_LOAD, WORKLOAD_STORE, WORKLOAD_MIXES };
extern const char *const workload_mix_names[WORKLOAD_MIXES];

/* In which order the operations are written: one thread after the other, or as they ran. */
enum workload_shape { WORKLOAD_BY_THREAD, WORKLOAD_AS_RUN };

struct workload_spec {
    uint32_t ops, threads, words;
    enum workload_mix mix;
    uint32_t transaction;  /* loads and stores alone, in transactions of so many; 0: the mix */
    uint64_t seed;
    bool no_prefetch;      /* loads in their place */
    bool addresses;        /* words are called 0x80000000, ... instead of w0, ... */
    /* What makes an execution hard to judge. */
    uint32_t values; /* stores write one of so many values, 0 and up; 0: each its own */
    uint32_t slow;   /* buffers are full, and of 1 + slow chances to drain one is taken */
    bool cas;        /* half of the swaps compare first */
    bool roles;      /* some threads mostly write, some mostly read, others do as the mix */
    bool by_word;    /* PSO: stores to other words may be overtaken in the buffer */
};

struct workload_op {
    uint8_t kind;          /* enum ordeal_op_kind; never a TX bracket, see workload_spec */
    uint32_t thread, word, read, write, compare;
};

struct workload {
    struct workload_spec spec;
    struct workload_op *op;   /* spec.ops of them, thread by thread in program order */
    uint32_t *first;          /* threads + 1 offsets into op */
    uint32_t *issued;         /* all operations, as they were issued */
    uint32_t *performed;      /* all operations, in memory order */
};

/* NULL when out of memory. */
struct workload *workload_run(const struct workload_spec *spec);
void workload_free(struct workload *w);

/* Append the execution to a trace; its threads are numbered from first_thread on. */
enum ordeal_status workload_trace(const struct workload *w, enum workload_shape shape,
                                  uint32_t first_thread, struct ordeal_trace *t);

/* The generator's chance, for others that need it to repeat (splitmix64). */
uint64_t workload_random(uint64_t *state);
static inline uint32_t workload_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((workload_random(state) >> 32) * bound >> 32);
}

#endif
