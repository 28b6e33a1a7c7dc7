/* SPDX-License-Identifier: Apache-2.0 */
/* A counterexample done again step by step: what happened in each, what the buffers hold after it,
 * what changed in memory. On a terminal somebody goes to and fro and asks for variables. */
#ifndef HOST_PROGRAM_STEPPER_H
#define HOST_PROGRAM_STEPPER_H

#include "account.h"

struct stepper {
    struct account *account;
    const struct explore_options *options;
    const struct explore_path *path;
};

/* All steps. False: out of memory, or the path cannot be followed. */
bool stepper_print(const struct stepper *s, FILE *out);
/* Asks on `in` what to do next until it ends or says "quit". */
bool stepper_interact(const struct stepper *s, FILE *in, FILE *out);

#endif
