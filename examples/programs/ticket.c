/* SPDX-License-Identifier: Apache-2.0 */
/* A ticket lock around a counter.
 *
 * Stores that are reordered serve the next one before the counter is written; loads that are, read it
 * before it was one's turn.
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

static shared tickets, serving, count;

static void *work(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        int mine = ADD(tickets, 1);
        WAIT_WHILE(LOAD(serving) != mine);
        FENCE();
        STORE(count, LOAD(count) + 1);
        FENCE();
        STORE(serving, mine + 1);
    }
    return NULL;
}

int main(void)
{
    all_do(THREADS, work);
    assert(LOAD(count) == THREADS * ROUNDS);
}
