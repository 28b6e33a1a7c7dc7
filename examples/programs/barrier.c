/* SPDX-License-Identifier: Apache-2.0 */
/* A sense-reversing barrier: who comes last resets the count and reverses the sense that the others
 * wait for. Behind it everybody sees what everybody did before it.
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

static shared missing = THREADS, sense;
static shared done[THREADS];

static void wait_for_all(int mine)
{
    if (ADD(missing, -1) == 1) {
        STORE(missing, THREADS);
        FENCE();
        STORE(sense, mine);
    } else {
        WAIT_WHILE(LOAD(sense) != mine);
    }
    FENCE();
}

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    for (int round = 1; round <= ROUNDS; round++) {
        STORE(done[me], round);
        wait_for_all(round & 1);
        for (int i = 0; i < THREADS; i++)
            assert(LOAD(done[i]) >= round);
    }
    return NULL;
}

int main(void) { all_do(THREADS, work); }
