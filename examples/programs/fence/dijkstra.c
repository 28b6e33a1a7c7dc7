/* SPDX-License-Identifier: Apache-2.0 */
/* Dijkstra's mutual exclusion (1965).
 *
 * expect: mfences=2 sfences=0 */
#include "table.h"

static shared flag0, flag1, turn; /* 0 outside, 1 wants to enter, 2 is about to */

static void *zero(void *nothing)
{
    for (;;) {
        do {
            STORE(flag0, 1);
            while (LOAD(turn) != 0)
                if (!LOAD(flag1))
                    STORE(turn, 0);
            STORE(flag0, 2);
        } while (LOAD(flag1) == 2);
        CRITICAL();
        STORE(flag0, 0);
    }
    return nothing;
}

static void *one(void *nothing)
{
    for (;;) {
        do {
            STORE(flag1, 1);
            while (LOAD(turn) != 1)
                if (!LOAD(flag0))
                    STORE(turn, 1);
            STORE(flag1, 2);
        } while (LOAD(flag0) == 2);
        CRITICAL();
        STORE(flag1, 0);
    }
    return nothing;
}

RUN(zero, one)
