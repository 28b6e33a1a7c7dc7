/* SPDX-License-Identifier: Apache-2.0 */
/* Peterson's mutual exclusion of three threads (1981): a thread passes two levels, at each of which one
 * is held back.
 *
 * expect: mfences=3 sfences=3 */
#include "table.h"

static shared level[3], last[3];

static int held_back(int me, int at)
{
    int one = (me + 1) % 3, other = (me + 2) % 3;
    return (LOAD(level[one]) >= at || LOAD(level[other]) >= at) && LOAD(last[at]) == me;
}

static void *zero(void *nothing)
{
    for (;;) {
        for (int at = 1; at < 3; at++) {
            STORE(level[0], at);
            STORE(last[at], 0);
            WAIT_WHILE(held_back(0, at));
        }
        CRITICAL();
        STORE(level[0], 0);
    }
    return nothing;
}

static void *one(void *nothing)
{
    for (;;) {
        for (int at = 1; at < 3; at++) {
            STORE(level[1], at);
            STORE(last[at], 1);
            WAIT_WHILE(held_back(1, at));
        }
        CRITICAL();
        STORE(level[1], 0);
    }
    return nothing;
}

static void *two(void *nothing)
{
    for (;;) {
        for (int at = 1; at < 3; at++) {
            STORE(level[2], at);
            STORE(last[at], 2);
            WAIT_WHILE(held_back(2, at));
        }
        CRITICAL();
        STORE(level[2], 0);
    }
    return nothing;
}

int main(void)
{
    pthread_t thread[2];
    pthread_create(&thread[0], 0, one, 0);
    pthread_create(&thread[1], 0, two, 0);
    zero(0);
}
