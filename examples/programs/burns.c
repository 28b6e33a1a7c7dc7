/* SPDX-License-Identifier: Apache-2.0 */
/* Burns's mutual exclusion with one bit a thread (Burns and Lynch, Bounds on shared memory for mutual
 * exclusion, 1993): smaller numbers go first.
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

static shared wants[THREADS];

static int any(int from, int to)
{
    for (int i = from; i < to; i++)
        if (LOAD(wants[i]))
            return 1;
    return 0;
}

static void enter(int me)
{
    do {
        STORE(wants[me], 0);
        WAIT_WHILE(any(0, me));
        STORE(wants[me], 1);
        FENCE();
    } while (any(0, me));
    WAIT_WHILE(any(me + 1, THREADS));
}

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        enter(me);
        __ordeal_critical_begin();
        __ordeal_critical_end();
        STORE(wants[me], 0);
    }
    return NULL;
}

int main(void) { all_do(THREADS, work); }
