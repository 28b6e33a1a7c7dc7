/* SPDX-License-Identifier: Apache-2.0 */
/* Treiber's stack (1986). One thread takes a node; the other takes two and puts back the first. The
 * top has a number beside the node that every change makes larger. Without it (-DABA) the stack is
 * wrong even under SC: the top is the same node again, but what is below it is not.
 *
 * expect: sc tso PASS; pso pslo FAIL assertion
 * expect FENCED: sc tso pso pslo PASS
 * expect ABA: sc tso pso pslo FAIL assertion
 * expect ABA FENCED: sc tso pso pslo FAIL assertion */
#include "shared.h"

#ifndef ROUNDS
#define ROUNDS 1
#endif

enum { NODES = 3, VERSION = 16 };
static shared below[NODES + 1] = { 0, 2, 3, 0 }; /* node 0 is none */
static shared top = 1;
static shared owned[NODES + 1];

static int changed(int old, int node)
{
#ifdef ABA
    (void)old;
    return node;
#else
    return old / VERSION * VERSION + VERSION + node;
#endif
}

static int pop(void)
{
    for (;;) {
        int old = LOAD(top), node = old % VERSION;
        if (!node)
            return 0;
        FENCE();
        int next = LOAD(below[node]);
        if (CAS(top, old, changed(old, next)))
            return node;
    }
}

static void push(int node)
{
    for (;;) {
        int old = LOAD(top);
        STORE(below[node], old % VERSION);
        FENCE();
        if (CAS(top, old, changed(old, node)))
            return;
    }
}

static void own(int node)
{
    if (node)
        assert(ADD(owned[node], 1) == 0);
}

static void *one(void *unused)
{
    (void)unused;
    own(pop());
    return NULL;
}

static void *other(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        int first = pop();
        own(first);
        own(pop());
        if (first) {
            ADD(owned[first], -1);
            push(first);
        }
    }
    return NULL;
}

int main(void)
{
    both_do(one, other);
    for (int node = pop(); node; node = pop())
        own(node);
    for (int node = 1; node <= NODES; node++)
        assert(LOAD(owned[node]) == 1);
}
