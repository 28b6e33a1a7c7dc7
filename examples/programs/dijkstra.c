/* SPDX-License-Identifier: Apache-2.0 */
/* Dijkstra's mutual exclusion of any number of threads (Solution of a problem in concurrent
 * programming control, 1965).
 *
 * expect: sc PASS; tso pso pslo FAIL exclusion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

static shared wants[THREADS], inside[THREADS], turn;

static int another_inside(int me)
{
    for (int i = 0; i < THREADS; i++)
        if (i != me && LOAD(inside[i]))
            return 1;
    return 0;
}

static void enter(int me)
{
    STORE(wants[me], 1);
    do {
        STORE(inside[me], 0);
        for (int t = LOAD(turn); t != me; t = LOAD(turn))
            if (!LOAD(wants[t]))
                STORE(turn, me);
        STORE(inside[me], 1);
        FENCE();
    } while (another_inside(me));
}

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        enter(me);
        __ordeal_critical_begin();
        __ordeal_critical_end();
        STORE(inside[me], 0);
        STORE(wants[me], 0);
    }
    return NULL;
}

int main(void) { all_do(THREADS, work); }
