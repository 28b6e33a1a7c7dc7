/* SPDX-License-Identifier: Apache-2.0 */
/* Dekker's mutual exclusion in the form of Burnim, Sen and Stergiou (Testing concurrent programs on
 * relaxed memory models, 2011, Figure 11). Who gives way raises its flag again in another place, which
 * needs a fence as well.
 *
 * expect: mfences=4 sfences=0 */
#include "table.h"

static shared flag0, flag1, turn;

static void *first(void *nothing)
{
    for (;;) {
        STORE(flag0, 1);
        while (LOAD(flag1))
            if (LOAD(turn) != 0) {
                STORE(flag0, 0);
                WAIT_WHILE(LOAD(turn) != 0);
                STORE(flag0, 1);
            }
        CRITICAL();
        STORE(turn, 1);
        STORE(flag0, 0);
    }
    return nothing;
}

static void *second(void *nothing)
{
    for (;;) {
        STORE(flag1, 1);
        while (LOAD(flag0))
            if (LOAD(turn) != 1) {
                STORE(flag1, 0);
                WAIT_WHILE(LOAD(turn) != 1);
                STORE(flag1, 1);
            }
        CRITICAL();
        STORE(turn, 0);
        STORE(flag1, 0);
    }
    return nothing;
}

RUN(first, second)
