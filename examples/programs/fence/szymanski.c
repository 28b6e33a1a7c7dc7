/* SPDX-License-Identifier: Apache-2.0 */
/* Szymanski's mutual exclusion (1988): a waiting room with an entry and an exit door. 0 is outside, 1 at
 * the entry, 2 waits for others, 3 is within, 4 has closed the door behind.
 *
 * expect: mfences<=6 sfences=0 */
#include "table.h"

static shared flag0, flag1;

static void *zero(void *nothing)
{
    int last;
    for (;;) {
        STORE(flag0, 1);
        WAIT_WHILE(LOAD(flag1) > 2);
        STORE(flag0, 3);
        if (LOAD(flag1) == 1) {
            STORE(flag0, 2);
            WAIT_WHILE(LOAD(flag1) != 4);
        }
        STORE(flag0, 4);
        CRITICAL();
        do
            last = LOAD(flag1);
        while (last == 2 || last == 3);
        STORE(flag0, 0);
    }
    return nothing;
}

static void *one(void *nothing)
{
    for (;;) {
        STORE(flag1, 1);
        WAIT_WHILE(LOAD(flag0) > 2);
        STORE(flag1, 3);
        if (LOAD(flag0) == 1) {
            STORE(flag1, 2);
            WAIT_WHILE(LOAD(flag0) != 4);
        }
        STORE(flag1, 4);
        WAIT_WHILE(LOAD(flag0) > 1);
        CRITICAL();
        STORE(flag1, 0);
    }
    return nothing;
}

RUN(zero, one)
