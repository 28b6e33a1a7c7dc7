/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which stores became visible, from a machine that shows it, as `order` facts of the
 * trace: with them a check takes linear time.
 *
 * They are given for words that are stored to as a whole and one at a time, each value once; of
 * others one number a store does not tell the order, and the checker finds one without. */
#ifndef HOST_PROGRAM_ORDER_H
#define HOST_PROGRAM_ORDER_H

#include "base/list.h"
#include "program.h"

struct visible_store {
    uint32_t line, word;         /* of the program; number of the word in it */
    uint64_t rank, value;
    uint32_t base;               /* the location, as the trace calls it */
    uint64_t address;
};

struct program_order {
    const struct program *p;
    uint32_t atomic;             /* bytes of a word */
    LIST(struct visible_store) stores;
};

/* A store of the trace and which one of all it was. False: out of memory. */
bool program_order_add(struct program_order *o, const struct instruction *i,
                       const struct ordeal_op *op, uint64_t rank);
enum ordeal_status program_order_tell(struct program_order *o, struct ordeal_trace *t);
void program_order_free(struct program_order *o);

#endif
