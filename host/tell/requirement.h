/* SPDX-License-Identifier: Apache-2.0 */
/* The weakest requirement that an execution violates. One cause shows in many ways: a store that a
 * cache lost may be missed by its own thread, by a swap, in a transaction, behind a fence. So the
 * whole execution is judged again by less and less: if its words taken one by one already contradict
 * themselves it does not matter in which of these ways that was noticed. */
#ifndef HOST_REQUIREMENT_H
#define HOST_REQUIREMENT_H

#include <stdbool.h>

#include "ordeal.h"

enum requirement {
    REQUIRES_VALUES,       /* what is read was written */
    REQUIRES_COHERENCE,    /* each word by itself has an order of its accesses */
    REQUIRES_ATOMICITY,    /* … and nothing comes between the halves of an atomic operation */
    REQUIRES_ORDER,        /* the program order that the model keeps by itself */
    REQUIRES_BARRIERS,     /* … and that of barriers */
    REQUIRES_TRANSACTIONS, /* … and transactions happen at once */
    REQUIREMENTS
};

/* Of a trace with the verdict FAIL. False: out of memory. A trace that is too long to be judged
 * again so often is looked at by the core of its verdict alone. */
bool requirement_violated(const struct ordeal_trace *t, const struct ordeal_verdict *v,
                          enum requirement *out);

#endif
