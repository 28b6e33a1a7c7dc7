/* SPDX-License-Identifier: Apache-2.0 */
/* A verdict told in words, as `ordeal show` prints it: of a FAIL the operations that already
 * violate the model and why no order of them is legal, of a PASS an order that proves it. */
#ifndef HOST_TELL_H
#define HOST_TELL_H

#include <stdio.h>

#include "explain.h"
#include "input.h"

struct told {
    const struct input *in;              /* the trace, and its name for [name:line] */
    const struct ordeal_verdict *verdict;
    const struct explanation *why;       /* of a FAIL */
    struct naming names;
    bool all;                            /* of a PASS: the whole order, not its ends alone */
    FILE *out;
};

/* False: out of memory; errors of the file stay in the file. */
bool tell_verdict(struct told *t);

#endif
