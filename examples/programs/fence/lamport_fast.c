/* SPDX-License-Identifier: Apache-2.0 */
/* Lamport's fast mutual exclusion (1987).
 *
 * expect: mfences<=4 sfences<=4 */
#include "table.h"

static shared busy1, busy2, first, second; /* threads are told from 1, 0 is nobody */

static void *zero(void *nothing)
{
    for (;;) {
    start:
        STORE(busy1, 1);
        STORE(first, 1);
        if (LOAD(second) != 0) {
            STORE(busy1, 0);
            WAIT_WHILE(LOAD(second) != 0);
            goto start;
        }
        STORE(second, 1);
        if (LOAD(first) != 1) {
            STORE(busy1, 0);
            WAIT_WHILE(LOAD(busy2));
            if (LOAD(second) != 1) {
                WAIT_WHILE(LOAD(second) != 0);
                goto start;
            }
        }
        CRITICAL();
        STORE(second, 0);
        STORE(busy1, 0);
    }
    return nothing;
}

static void *one(void *nothing)
{
    for (;;) {
    start:
        STORE(busy2, 1);
        STORE(first, 2);
        if (LOAD(second) != 0) {
            STORE(busy2, 0);
            WAIT_WHILE(LOAD(second) != 0);
            goto start;
        }
        STORE(second, 2);
        if (LOAD(first) != 2) {
            STORE(busy2, 0);
            WAIT_WHILE(LOAD(busy1));
            if (LOAD(second) != 2) {
                WAIT_WHILE(LOAD(second) != 0);
                goto start;
            }
        }
        CRITICAL();
        STORE(second, 0);
        STORE(busy2, 0);
    }
    return nothing;
}

RUN(zero, one)
