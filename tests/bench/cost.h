/* SPDX-License-Identifier: Apache-2.0 */
/* What the library's assertions cost. The jobs of cost.c are linked three times, each time with a
 * library of its own: with all assertions, as a release has them, and with none. The Makefile gives
 * the one function a name each. */
#ifndef ORDEAL_BENCH_COST_H
#define ORDEAL_BENCH_COST_H

#include <stdbool.h>
#include <stddef.h>

enum cost_job {
    COST_TEXT,
    COST_BINARY,
    COST_CHECK,
    COST_REFUTE,
    COST_CLOCKS,
    COST_REPLAY,
    COST_JOBS
};

/* The seconds of each job on the trace, given as text. False: one of them went wrong. */
typedef bool cost_function(const char *text, size_t length, double seconds[COST_JOBS]);
cost_function cost_of;                           /* as cost.c has it */
cost_function cost_all, cost_release, cost_none; /* as the Makefile calls it */

#endif
