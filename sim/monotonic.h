/* SPDX-License-Identifier: Apache-2.0 */
/* Seconds that pass, whatever the clock on the wall is set to: for deadlines. */
#ifndef SIM_MONOTONIC_H
#define SIM_MONOTONIC_H

#include <time.h>

static inline double monotonic_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
