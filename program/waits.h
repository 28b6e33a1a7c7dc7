/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread that goes no further waits for, in words for people. */
#ifndef PROGRAM_WAITS_H
#define PROGRAM_WAITS_H

#include "state.h"

/* False: it has ended, or runs for ever. */
bool thread_waits_for(const struct state *s, uint32_t thread, char *text, size_t size);

#endif
