/* SPDX-License-Identifier: Apache-2.0 */
/* How a run on the host's CPU is cut into jobs (native.h). */
#ifndef HOST_NATIVE_PLAN_H
#define HOST_NATIVE_PLAN_H

#include "test/program.h"

struct native_plan {
    uint32_t count;            /* iterations of a job: some milliseconds, few megabytes */
    uint32_t instances;        /* copies of the memory: they stay in the caches */
    uint32_t group;            /* iterations between two meetings: some microseconds */
    uint64_t stride;           /* bytes from copy to copy */
    bool gathered;             /* each thread's values in one piece, so that they share no lines */
};

enum { NATIVE_GATHERED = 64 }; /* words, at most, of an outcome that is gathered */

struct native_plan native_plan(const struct program *p, uint32_t cores);

#endif
