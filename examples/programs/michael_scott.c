/* SPDX-License-Identifier: Apache-2.0 */
/* The lock-free queue of Michael and Scott (1996), with nodes that are used once: one thread puts
 * ITEMS numbers in, the other takes as many out as it finds, each in its turn. With SHARED_END both do
 * both, and no number is lost or found twice.
 *
 * A compare-and-swap waits for all earlier stores under TSO. Where it does not, a node may be linked
 * before its value is there.
 *
 * expect: sc tso PASS; pso pslo FAIL assertion
 * expect FENCED: sc tso pso pslo PASS
 * expect SHARED_END: sc tso PASS; pso pslo FAIL assertion
 * expect FENCED SHARED_END: sc tso pso pslo PASS */
#include "shared.h"

#ifndef ITEMS
#ifdef SHARED_END
#define ITEMS 1
#else
#define ITEMS 3
#endif
#endif

enum { NODES = 2 * ITEMS + 1, NOTHING = -1 };
static struct node {
    shared value, next;
} node[NODES + 1]; /* 0 is no node, 1 the first dummy */
static shared head = 1, tail = 1;

static void put(int mine, int value)
{
    STORE(node[mine].value, value);
    STORE(node[mine].next, 0);
    for (;;) {
        int last = LOAD(tail);
        FENCE();
        int next = LOAD(node[last].next);
        int nothing = 0;
        if (next) {
            CAS(tail, last, next);
        } else if (CAS(node[last].next, nothing, mine)) {
            CAS(tail, last, mine);
            return;
        }
    }
}

static int take(void)
{
    for (;;) {
        int first = LOAD(head);
        FENCE();
        int last = LOAD(tail);
        FENCE();
        int next = LOAD(node[first].next);
        FENCE();
        if (LOAD(head) != first)
            continue;
        if (first == last) {
            if (!next)
                return NOTHING;
            CAS(tail, last, next);
            continue;
        }
        int value = LOAD(node[next].value);
        if (CAS(head, first, next))
            return value;
    }
}

#ifdef SHARED_END

static shared taken[2 * ITEMS + 1];

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    for (int i = 1; i <= ITEMS; i++) {
        int mine = me * ITEMS + i;
        put(mine + 1, mine);
        int value = take();
        assert(value > 0);
        assert(ADD(taken[value], 1) == 0);
    }
    return NULL;
}

int main(void)
{
    all_do(2, work);
    assert(take() == NOTHING);
}

#else

static void *produce(void *unused)
{
    (void)unused;
    for (int i = 1; i <= ITEMS; i++)
        put(i + 1, i);
    return NULL;
}

static void *consume(void *unused)
{
    (void)unused;
    for (int next = 1, tries = 0; tries < ITEMS; tries++) {
        int value = take();
        assert(value == NOTHING || value == next);
        next += value != NOTHING;
    }
    return NULL;
}

int main(void) { both_do(produce, consume); }

#endif
