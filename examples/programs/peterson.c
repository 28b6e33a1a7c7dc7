/* SPDX-License-Identifier: Apache-2.0 */
/* Peterson's mutual exclusion of two threads (Myths about the mutual exclusion problem, 1981).
 *
 * Both stores must be seen before the other's flag is read, and where stores are reordered, the flag
 * before the turn: the other way round is a well-known mistake.
 *
 * expect: sc PASS; tso pso pslo FAIL exclusion
 * expect FENCED: sc tso pso pslo PASS
 * expect FENCED UNORDERED: sc tso PASS; pso pslo FAIL exclusion */
#include "shared.h"

#ifndef ROUNDS
#define ROUNDS 2
#endif

static shared wants[2], turn;

static void *work(void *number)
{
    int me = (int)(intptr_t)number, other = 1 - me;
    for (int round = 0; round < ROUNDS; round++) {
        STORE(wants[me], 1);
#ifndef UNORDERED
        FENCE();
#endif
        STORE(turn, other);
        FENCE();
        WAIT_WHILE(LOAD(wants[other]) && LOAD(turn) == other);
        __ordeal_critical_begin();
        __ordeal_critical_end();
        STORE(wants[me], 0);
    }
    return NULL;
}

int main(void) { all_do(2, work); }
