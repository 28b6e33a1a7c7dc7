/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of Michael and Scott (1996) with a lock at each end, on nodes that are allocated and
 * freed. The ends meet where the queue is empty, and there nothing but the link is between them.
 *
 * A node is filled in before the lock of the tail is taken, so that nobody sees it half made, unless
 * loads are reordered: then its value may be read before the link to it.
 *
 * expect: sc tso pso PASS; pslo FAIL assertion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#include <stdlib.h>

#ifndef ITEMS
#define ITEMS 2
#endif

struct node {
    shared value;
    struct node *_Atomic next;
};
static struct node *_Atomic head, *_Atomic tail;
static pthread_mutex_t head_lock = PTHREAD_MUTEX_INITIALIZER, tail_lock = PTHREAD_MUTEX_INITIALIZER;

static struct node *new_node(int value)
{
    struct node *n = malloc(sizeof *n);
    STORE(n->value, value);
    STORE(n->next, NULL);
    return n;
}

static void put(int value)
{
    struct node *n = new_node(value);
    pthread_mutex_lock(&tail_lock);
    STORE(LOAD(tail)->next, n);
    STORE(tail, n);
    pthread_mutex_unlock(&tail_lock);
}

enum { NOTHING = -1 };

static int take(void)
{
    int value = NOTHING;
    pthread_mutex_lock(&head_lock);
    struct node *dummy = LOAD(head), *next = LOAD(dummy->next);
    if (next) {
        FENCE();
        value = LOAD(next->value);
        STORE(head, next);
    }
    pthread_mutex_unlock(&head_lock);
    if (next)
        free(dummy);
    return value;
}

static void *produce(void *unused)
{
    (void)unused;
    for (int i = 1; i <= ITEMS; i++)
        put(i);
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

int main(void)
{
    struct node *dummy = new_node(0);
    STORE(head, dummy);
    STORE(tail, dummy);
    both_do(produce, consume);
}
