/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of calls.def by name. */
#ifndef PROGRAM_CALLS_H
#define PROGRAM_CALLS_H

enum program_call {
#define CALL(NUMBER, NAME, BARRIER, ARGUMENTS) PROGRAM_CALL_##NAME = NUMBER,
#include "calls.def"
#undef CALL
    PROGRAM_CALLS
};

#endif
