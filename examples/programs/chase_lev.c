/* SPDX-License-Identifier: Apache-2.0 */
/* The work-stealing deque of Chase and Lev (2005), in an array that is large enough: the owner puts
 * and takes at the bottom, a thief steals at the top. No item is had twice, and none is lost.
 *
 * The owner's new bottom must be seen before it reads the top.
 *
 * expect: sc PASS; tso pso pslo FAIL assertion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#ifndef ITEMS
#define ITEMS 2
#endif
#ifndef STEALS
#define STEALS 2
#endif

static shared item[ITEMS], top, bottom, had[ITEMS + 1];

static void put(int value)
{
    int b = LOAD(bottom);
    STORE(item[b], value);
    FENCE();
    STORE(bottom, b + 1);
}

/* 0: there is nothing, or somebody else was faster. */
static int take(void)
{
    int b = LOAD(bottom) - 1;
    STORE(bottom, b);
    FENCE();
    int t = LOAD(top);
    int value = t <= b ? LOAD(item[b]) : 0;
    if (t < b)
        return value;
    if (t == b && !CAS(top, t, t + 1))
        value = 0;
    STORE(bottom, b + 1);
    return value;
}

static int steal(void)
{
    int t = LOAD(top);
    FENCE();
    int b = LOAD(bottom);
    if (t >= b)
        return 0;
    FENCE();
    int value = LOAD(item[t]);
    return CAS(top, t, t + 1) ? value : 0;
}

static int have(int value)
{
    assert(value == 0 || ADD(had[value], 1) == 0);
    return value != 0;
}

static void *own(void *unused)
{
    (void)unused;
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    for (int more = 1; more;)
        more = have(take());
    return NULL;
}

static void *thief(void *unused)
{
    (void)unused;
    for (int i = 0; i < STEALS; i++)
        have(steal());
    return NULL;
}

int main(void)
{
    both_do(own, thief);
    for (int i = 1; i <= ITEMS; i++)
        assert(LOAD(had[i]) == 1);
}
