/* SPDX-License-Identifier: Apache-2.0 */
/* The queue lock of Craig, Landin and Hagersten (1993): each thread spins on a word of the one before it,
 * whose place in memory it has from then on. The exchange is a full barrier for what is before it.
 *
 * expect: mfences=0 sfences=0 */
#include "table.h"

static shared wait[3], tail = 2;

static void *zero(void *nothing)
{
    int mine = 0;
    for (;;) {
        STORE(wait[mine], 1);
        int before = EXCHANGE(tail, mine);
        WAIT_WHILE(LOAD(wait[before]));
        CRITICAL();
        STORE(wait[mine], 0);
        mine = before;
    }
    return nothing;
}

static void *one(void *nothing)
{
    int mine = 1;
    for (;;) {
        STORE(wait[mine], 1);
        int before = EXCHANGE(tail, mine);
        WAIT_WHILE(LOAD(wait[before]));
        CRITICAL();
        STORE(wait[mine], 0);
        mine = before;
    }
    return nothing;
}

RUN(zero, one)
