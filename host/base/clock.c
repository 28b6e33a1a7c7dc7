/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#include <time.h>

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void pause_for(double seconds)
{
    time_t whole = (time_t)seconds;
    struct timespec time = { whole, (long)((seconds - (double)whole) * 1e9) };
    nanosleep(&time, NULL);
}
