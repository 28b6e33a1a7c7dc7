/* SPDX-License-Identifier: Apache-2.0 */
/* Peterson's mutual exclusion of any number of threads (1981), also known as the filter lock: at each
 * of THREADS - 1 levels one thread at least is held back.
 *
 * expect: sc PASS; tso pso pslo FAIL exclusion
 * expect FENCED: sc tso pso PASS
 * expect FENCED THREADS=2 ROUNDS=2: sc tso pso pslo PASS */
#include "shared.h"

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

static shared level[THREADS], last[THREADS]; /* to arrive at a level; threads are told from 1 */

static void pass(int me, int at)
{
    STORE(level[me], at);
    FENCE();
    STORE(last[at], me + 1);
    FENCE();
    for (int other = 0; other < THREADS; other++)
        WAIT_WHILE(other != me && LOAD(level[other]) >= at && LOAD(last[at]) == me + 1);
}

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        for (int at = 1; at < THREADS; at++)
            pass(me, at);
        __ordeal_critical_begin();
        __ordeal_critical_end();
        STORE(level[me], 0);
    }
    return NULL;
}

int main(void) { all_do(THREADS, work); }
