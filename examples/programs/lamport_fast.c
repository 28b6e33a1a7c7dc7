/* SPDX-License-Identifier: Apache-2.0 */
/* Lamport's fast mutual exclusion (1987): seven accesses when nobody else wants to enter.
 *
 * Where stores are reordered, a late `second = 0` of who leaves would let a third thread in.
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

static shared busy[THREADS + 1], first, second; /* threads are told from 1, 0 is nobody */

static void wait_for(shared *what) { WAIT_WHILE(LOAD(*what)); }

/* Not the first: it may enter when all others are out of the way and it is still the second. */
static int slow_way(int me)
{
    STORE(busy[me], 0);
    FENCE();
    for (int i = 1; i <= THREADS; i++)
        wait_for(&busy[i]);
    FENCE();
    if (LOAD(second) == me)
        return 1;
    wait_for(&second);
    return 0;
}

static int try_to_enter(int me)
{
    STORE(busy[me], 1);
    FENCE();
    STORE(first, me);
    FENCE();
    if (LOAD(second)) {
        STORE(busy[me], 0);
        wait_for(&second);
        return 0;
    }
    STORE(second, me);
    FENCE();
    return LOAD(first) == me || slow_way(me);
}

static void *work(void *number)
{
    int me = 1 + (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        for (int entered = 0; !entered;)
            entered = try_to_enter(me);
        __ordeal_critical_begin();
        __ordeal_critical_end();
        STORE(second, 0);
        FENCE();
        STORE(busy[me], 0);
    }
    return NULL;
}

int main(void) { all_do(THREADS, work); }
