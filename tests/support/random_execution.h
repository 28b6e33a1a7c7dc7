/* SPDX-License-Identifier: Apache-2.0 */
/* Small random executions, for comparing the checker with the oracle.
 *
 * The same shape and seed give the same execution everywhere. The values of loads come from a
 * run of some model's machine, from such a run spoilt in one or two places, or from anywhere. */
#ifndef RANDOM_EXECUTION_H
#define RANDOM_EXECUTION_H

#include "oracle.h"
#include "ordeal.h"

/* clang-format off */
enum random_feature {
    RANDOM_MEMBARS = 1, RANDOM_SWAPS = 2, RANDOM_CAS = 4, RANDOM_TRANSACTIONS = 8,
    RANDOM_MIXED = 16, RANDOM_DUPLICATES = 32, RANDOM_REGISTERS = 64, RANDOM_INITIAL = 128,
    RANDOM_FINAL = 256, RANDOM_ORDER = 512, RANDOM_NO_EFFECT = 1024,
    RANDOM_AMOS = 2048, RANDOM_ALL = 4095,
    /* Taken always when asked for: stores of 1 to 8 bytes, each at once, fight for a few bytes, so
     * that the orders of many words are decided together. */
    RANDOM_CROWDED = 4096
};
/* clang-format on */

struct random_shape {
    unsigned threads, words;              /* at most */
    unsigned ops_least, ops_most;         /* membars count, brackets of transactions do not */
    unsigned features;                    /* each execution takes some of these */
};

void random_execution(const struct random_shape *shape, uint64_t seed, struct oracle_execution *x);
/* A run of the model's machine, hence legal under it. No search is needed to know that, so it may
 * be larger than what the oracle can judge. */
void random_run(const struct random_shape *shape, uint64_t seed, enum oracle_model model,
                struct oracle_execution *x);
/* As a trace, its locations named or by address as the seed has it. */
enum ordeal_status execution_trace(struct ordeal *o, const struct oracle_execution *x,
                                   uint64_t seed, struct ordeal_trace **trace);

#endif
