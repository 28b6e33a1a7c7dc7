/* SPDX-License-Identifier: Apache-2.0 */
/* Burns's mutual exclusion with one bit a thread (Burns and Lynch 1993): the first thread goes first.
 *
 * expect: mfences=2 sfences=0 */
#include "table.h"

static shared flag0, flag1;

static void *zero(void *nothing)
{
    for (;;) {
        STORE(flag0, 1);
        WAIT_WHILE(LOAD(flag1));
        CRITICAL();
        STORE(flag0, 0);
    }
    return nothing;
}

static void *one(void *nothing)
{
    for (;;) {
        do {
            STORE(flag1, 0);
            WAIT_WHILE(LOAD(flag0));
            STORE(flag1, 1);
        } while (LOAD(flag0));
        CRITICAL();
        STORE(flag1, 0);
    }
    return nothing;
}

RUN(zero, one)
