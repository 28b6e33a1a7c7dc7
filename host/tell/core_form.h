/* SPDX-License-Identifier: Apache-2.0 */
/* The core of a FAIL in a canonical form, "S a#1; MEMBAR; L b=0 | S b#1; MEMBAR; L a=0": threads,
 * locations and values have no names of their own, so two cores have the same form if and only if
 * one is the other with these renamed. Lines of memory are letters, further words of a line a.1,
 * a.2; uncached ones have a ~. A value is 0 if the word began with it, else 1, 2, … by word. Behind
 * the threads stand those steps of the proof that operations alone do not tell: what the trace says
 * of final values, of the order of stores, of time and dependence. */
#ifndef HOST_CORE_FORM_H
#define HOST_CORE_FORM_H

#include <stdbool.h>

#include "ordeal.h"

struct core_form {
    char *text; /* "" of a verdict that is about no operation */
    uint64_t hash;
    bool exact; /* false: too many threads are alike; cores that differ may have this form, too */
};

/* False: out of memory. */
bool core_form_make(struct core_form *f, const struct ordeal_trace *t,
                    const struct ordeal_verdict *v);
void core_form_free(struct core_form *f);

/* FNV-1a. */
uint64_t core_form_hash(const char *text);

#endif
