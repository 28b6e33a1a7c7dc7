/* SPDX-License-Identifier: Apache-2.0 */
/* Dekker's mutual exclusion (as told by Dijkstra, 1965). For four threads it is a tournament: each
 * pair has a lock, and so have the two winners.
 *
 * A flag still in the store buffer when the other's is read lets both in.
 *
 * expect: sc PASS; tso pso pslo FAIL exclusion
 * expect FENCED: sc tso pso pslo PASS
 * expect FENCED THREADS=4 ROUNDS=1: sc PASS */
#include "shared.h"

#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

struct lock {
    shared wants[2], turn;
};
static struct lock lock[THREADS]; /* from 1: the last; lock n decides between 2n and 2n + 1 */

static void enter(struct lock *l, int me)
{
    int other = 1 - me;
    STORE(l->wants[me], 1);
    FENCE();
    while (LOAD(l->wants[other])) {
        if (LOAD(l->turn) == me)
            continue;
        SETTLE(l->wants[me], 0);
        WAIT_WHILE(LOAD(l->turn) != me);
        STORE(l->wants[me], 1);
        FENCE();
    }
}

static void leave(struct lock *l, int me)
{
    STORE(l->turn, 1 - me);
    STORE(l->wants[me], 0);
}

static void *work(void *number)
{
    int me = THREADS + (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        for (int n = me; n > 1; n /= 2)
            enter(&lock[n / 2], n % 2);
        __ordeal_critical_begin();
        __ordeal_critical_end();
        for (int depth = THREADS / 2; depth > 0; depth /= 2) {
            FENCE();
            leave(&lock[me / depth / 2], me / depth % 2);
        }
    }
    return NULL;
}

int main(void) { all_do(THREADS, work); }
