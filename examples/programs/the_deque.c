/* SPDX-License-Identifier: Apache-2.0 */
/* The deque of Cilk-5 (Frigo, Leiserson and Randall, 1998), named after its Tail, Head and Exception:
 * owner and thief each claim an item first and look for the other afterwards; a lock settles who gets
 * the last one. It is Dekker's idea, and breaks like Dekker's.
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

static shared item[ITEMS], head, tail, had[ITEMS + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put(int value)
{
    int t = LOAD(tail);
    STORE(item[t], value);
    FENCE();
    STORE(tail, t + 1);
}

static int claim(int t)
{
    STORE(tail, t);
    FENCE();
    return LOAD(head) <= t;
}

/* 0: there is nothing. */
static int take(void)
{
    int t = LOAD(tail) - 1;
    if (claim(t))
        return LOAD(item[t]);
    STORE(tail, t + 1);
    pthread_mutex_lock(&lock);
    int got = claim(t);
    if (!got)
        STORE(tail, t + 1);
    pthread_mutex_unlock(&lock);
    return got ? LOAD(item[t]) : 0;
}

static int steal(void)
{
    int value = 0;
    pthread_mutex_lock(&lock);
    int h = LOAD(head);
    STORE(head, h + 1);
    FENCE();
    if (h + 1 > LOAD(tail)) {
        STORE(head, h);
    } else {
        FENCE();
        value = LOAD(item[h]);
    }
    pthread_mutex_unlock(&lock);
    return value;
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
