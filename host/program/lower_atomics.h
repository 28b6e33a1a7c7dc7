/* SPDX-License-Identifier: Apache-2.0 */
/* What clang's back end would get wrong of atomics, put right in LLVM's assembly.
 *
 * A fence for signal handlers is one for the compiler alone, of which clang 14 makes one for the machine.
 * As for x86: a sequentially consistent store becomes an exchange; other stores and all loads become
 * relaxed ones, and fences that are weaker than sequentially consistent are for the compiler alone. */
#ifndef HOST_PROGRAM_LOWER_ATOMICS_H
#define HOST_PROGRAM_LOWER_ATOMICS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/why.h"

/* From one stream to the other, line by line. False: a line that should be an atomic access is not
 * understood. */
bool lower_atomics(FILE *in, FILE *out, bool for_x86, struct why *why);

#endif
