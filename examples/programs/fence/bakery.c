/* SPDX-License-Identifier: Apache-2.0 */
/* Lamport's bakery (1974). Each thread enters ENTRIES times: numbers grow without a bound else. With a
 * single entry four mfences and two sfences are put in, of which two and one are needed: where both
 * begin with nothing, it is the second thread that waits when numbers are equal.
 *
 * expect: mfences=4 sfences=2
 * expect ENTRIES=1: mfences=2 sfences=1 */
#include "table.h"

#ifndef ENTRIES
#define ENTRIES 2
#endif

static shared choosing0, choosing1, number0, number1;

static void *zero(void *nothing)
{
    int mine, other;
    for (int entry = 0; entry < ENTRIES; entry++) {
        STORE(choosing0, 1);
        mine = LOAD(number1) + 1;
        STORE(number0, mine);
        STORE(choosing0, 0);
        WAIT_WHILE(LOAD(choosing1));
        do
            other = LOAD(number1);
        while (other && (other < mine || (other == mine && 1 < 0)));
        CRITICAL();
        STORE(number0, 0);
    }
    return nothing;
}

static void *one(void *nothing)
{
    int mine, other;
    for (int entry = 0; entry < ENTRIES; entry++) {
        STORE(choosing1, 1);
        mine = LOAD(number0) + 1;
        STORE(number1, mine);
        STORE(choosing1, 0);
        WAIT_WHILE(LOAD(choosing0));
        do
            other = LOAD(number0);
        while (other && (other < mine || (other == mine && 0 < 1)));
        CRITICAL();
        STORE(number1, 0);
    }
    return nothing;
}

RUN(zero, one)
