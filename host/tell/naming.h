/* SPDX-License-Identifier: Apache-2.0 */
/* Operations, events and places of a verdict in words, as the trace writes them. */
#ifndef HOST_NAMING_H
#define HOST_NAMING_H

#include "ordeal.h"

enum { NAME_SIZE = 256, NAMES_AT_ONCE = 8 };

struct naming {
    const struct ordeal_trace *trace;
    const struct ordeal_verdict *verdict;
    bool views;            /* PC: stores land in each thread's memory on their own */
    char buffer[NAMES_AT_ONCE][NAME_SIZE];
    unsigned next;
};

/* The answers live until NAMES_AT_ONCE more have been asked for. */
const char *name_op(struct naming *n, size_t op);                 /* "P1 L[A]=2" */
const char *name_op_bare(struct naming *n, size_t op);            /* "L[A]=2" */
const char *name_thread(struct naming *n, uint32_t thread);       /* "P1" */
uint32_t thread_number(struct naming *n, uint32_t thread);        /* the 1 of "P1" */
/* "P1 L[A]=2", "the initial A=0"; a store under PC adds "in P2's memory", a word of a wide access
 * "(word A+4)". */
const char *name_event(struct naming *n, uint32_t event, uint32_t view);
uint32_t line_of_op(const struct naming *n, size_t op);
uint32_t line_of_event(const struct naming *n, uint32_t event);   /* 0: none */

#endif
