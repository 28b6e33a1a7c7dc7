/* SPDX-License-Identifier: Apache-2.0 */
/* The queue lock of Mellor-Crummey and Scott (1991) around a counter: each thread spins on a word of
 * its own, which the one before it in the queue resets.
 *
 * Stores that are reordered let the next one in before the counter is written.
 *
 * expect: sc tso PASS; pso pslo FAIL assertion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

static shared next[THREADS + 1], wait[THREADS + 1], tail; /* threads are told from 1 */
static shared count;

static void enter(int me)
{
    STORE(next[me], 0);
    int before = EXCHANGE(tail, me);
    if (before) {
        STORE(wait[me], 1);
        FENCE();
        STORE(next[before], me);
        WAIT_WHILE(LOAD(wait[me]));
    }
    FENCE();
}

static void leave(int me)
{
    int last = me;
    FENCE();
    if (LOAD(next[me]) == 0 && CAS(tail, last, 0))
        return;
    WAIT_WHILE(LOAD(next[me]) == 0);
    STORE(wait[LOAD(next[me])], 0);
}

static void *work(void *number)
{
    int me = 1 + (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        enter(me);
        STORE(count, LOAD(count) + 1);
        leave(me);
    }
    return NULL;
}

int main(void)
{
    all_do(THREADS, work);
    assert(LOAD(count) == THREADS * ROUNDS);
}
