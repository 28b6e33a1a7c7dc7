/* SPDX-License-Identifier: Apache-2.0 */
/* A generated test, compiled, for tables that run it. */
#ifndef ORDEAL_BENCH_PROGRAM_H
#define ORDEAL_BENCH_PROGRAM_H

#include "bench.h"
#include "test/program.h"

/* The first test of the defaults with these settings ("key=value", ends with NULL). False: it said
 * why. */
bool bench_program(const struct bench *b, const char *const *settings, struct ordeal *o,
                   struct ordeal_trace **test, struct program *p);

#endif
