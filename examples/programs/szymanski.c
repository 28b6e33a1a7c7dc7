/* SPDX-License-Identifier: Apache-2.0 */
/* Szymanski's mutual exclusion (A simple solution to Lamport's concurrent programming problem with
 * linear wait, 1988): a waiting room with an entry and an exit door.
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

/* Outside, at the entry door, waiting for others, within it, the door behind closed. */
enum { OUTSIDE, ASKING, WAITING, WITHIN, CLOSED };
static shared place[THREADS];

static void go(int me, int where)
{
    STORE(place[me], where);
    FENCE();
}

/* Is somebody of these threads at one of the places? A set of bits. */
static int somebody(int from, int to, int me, int places)
{
    for (int i = from; i < to; i++)
        if (i != me && places >> LOAD(place[i]) & 1)
            return 1;
    return 0;
}

static void enter(int me)
{
    go(me, ASKING);
    WAIT_WHILE(somebody(0, THREADS, me, 1 << WITHIN | 1 << CLOSED));
    go(me, WITHIN);
    if (somebody(0, THREADS, me, 1 << ASKING)) {
        go(me, WAITING);
        WAIT_WHILE(!somebody(0, THREADS, me, 1 << CLOSED));
    }
    go(me, CLOSED);
    WAIT_WHILE(somebody(0, me, me, 1 << WAITING | 1 << WITHIN | 1 << CLOSED));
}

static void leave(int me)
{
    WAIT_WHILE(somebody(me + 1, THREADS, me, 1 << WAITING | 1 << WITHIN));
    go(me, OUTSIDE);
}

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        enter(me);
        __ordeal_critical_begin();
        __ordeal_critical_end();
        leave(me);
    }
    return NULL;
}

int main(void) { all_do(THREADS, work); }
