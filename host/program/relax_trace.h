/* SPDX-License-Identifier: Apache-2.0 */
/* A run with a cycle as a trace that proves it. That an execution is not sequentially consistent is, in
 * Relaxer, said of which store each load saw and in which order stores reached memory, not of values, of
 * which two may be the same. So here the value of a store is its number among those to its word, a load has
 * the number of the store that it saw, and the trace gives the order of stores; the checker then decides
 * Definition 1. Where accesses of different sizes meet in a word, values are those of the program. */
#ifndef HOST_PROGRAM_RELAX_TRACE_H
#define HOST_PROGRAM_RELAX_TRACE_H

#include "account_trace.h"

struct relax_trace {
    struct event_list events; /* with numbers for values */
    struct account account;
    struct account_trace trace;
    bool numbered; /* false: the program's values */
};

/* False: out of memory; relax_trace_free either way. `events` stay the caller's, and outlive it. */
bool relax_trace_make(struct relax_trace *t, const struct image *image,
                      const struct event_list *events, enum explore_model model);
void relax_trace_free(struct relax_trace *t);
/* The checker passes it under the model and refuses it under SC; `why` says what it did instead. */
enum account_judgement relax_trace_judge(struct relax_trace *t, double seconds,
                                         struct ordeal_error *why);

#endif
