/* SPDX-License-Identifier: Apache-2.0 */
/* Lamport's bakery (A new solution of Dijkstra's concurrent programming problem, 1974): who enters
 * takes a number larger than all others', and the smallest is served.
 *
 * Where loads are reordered, a number must not be read before its owner was seen to have chosen.
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

static shared choosing[THREADS], number[THREADS];

static int choose(int me)
{
    int most = 0;
    STORE(choosing[me], 1);
    FENCE();
    for (int i = 0; i < THREADS; i++) {
        int n = LOAD(number[i]);
        most = n > most ? n : most;
    }
    STORE(number[me], most + 1);
    FENCE();
    SETTLE(choosing[me], 0);
    return most + 1;
}

static int is_before(int other, int me, int mine)
{
    int n = LOAD(number[other]);
    return n != 0 && (n < mine || (n == mine && other < me));
}

static void *work(void *argument)
{
    int me = (int)(intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        int mine = choose(me);
        for (int other = 0; other < THREADS; other++) {
            if (other == me)
                continue;
            WAIT_WHILE(LOAD(choosing[other]));
            FENCE();
            WAIT_WHILE(is_before(other, me, mine));
        }
        __ordeal_critical_begin();
        __ordeal_critical_end();
        STORE(number[me], 0);
    }
    return NULL;
}

int main(void) { all_do(THREADS, work); }
