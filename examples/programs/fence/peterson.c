/* SPDX-License-Identifier: Apache-2.0 */
/* Peterson's mutual exclusion of two threads (1981).
 *
 * expect: mfences=2 sfences=2 */
#include "table.h"

static shared flag0, flag1, turn;

static void *first(void *nothing)
{
    for (;;) {
        STORE(flag0, 1);
        STORE(turn, 1);
        WAIT_WHILE(LOAD(flag1) && LOAD(turn) == 1);
        CRITICAL();
        STORE(flag0, 0);
    }
    return nothing;
}

static void *second(void *nothing)
{
    for (;;) {
        STORE(flag1, 1);
        STORE(turn, 0);
        WAIT_WHILE(LOAD(flag0) && LOAD(turn) == 0);
        CRITICAL();
        STORE(flag1, 0);
    }
    return nothing;
}

RUN(first, second)
