/* SPDX-License-Identifier: Apache-2.0 */
/* The queue lock of Craig, Landin and Hagersten (1993): each thread spins on a word of the one before
 * it, whose place in memory it has from then on.
 *
 * The swap that joins the queue must not overtake the store that says "wait". A swap waits for all
 * stores under TSO, and where stores are reordered only if it is a release.
 *
 * expect: sc tso PASS; pso pslo FAIL exclusion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

static shared wait[THREADS + 1];
static shared tail = THREADS; /* the index of a word that says "go" */

static void *work(void *number)
{
    int mine = (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        STORE(wait[mine], 1);
        int before = EXCHANGE(tail, mine);
        WAIT_WHILE(LOAD(wait[before]));
        __ordeal_critical_begin();
        __ordeal_critical_end();
        STORE(wait[mine], 0);
        mine = before;
    }
    return NULL;
}

int main(void) { all_do(THREADS, work); }
