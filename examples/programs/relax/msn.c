/* SPDX-License-Identifier: Apache-2.0 */
/* The non-blocking queue of Michael and Scott (Simple, fast, and practical non-blocking and blocking
 * concurrent queue algorithms, 1996). Its nodes are used once, so that pointers need no counters. */
#include "queue_script.h"

struct node {
    shared value;
    struct node *_Atomic next;
};
static struct node *_Atomic head, *_Atomic tail;

static struct node dummy, pool[2][3];
static int used[2];

#define RUBBISH ((struct node *)0x13) /* what memory holds before anybody wrote it */

static void prepare(void)
{
    for (int i = 0; i < 6; i++) {
        STORE(pool[i / 3][i % 3].next, RUBBISH);
        STORE(pool[i / 3][i % 3].value, -99);
    }
    STORE(head, &dummy);
    STORE(tail, &dummy);
}

static void enqueue(int thread, int value)
{
    struct node *node = &pool[thread][used[thread]++], *last, *next;
    STORE(node->value, value);
    STORE(node->next, NULL);
    for (;;) {
        last = LOAD(tail);
        next = LOAD(last->next);
        if (last != LOAD(tail))
            continue;
        if (next)
            CAS(tail, last, next);
        else if (CAS(last->next, next, node))
            break;
    }
    CAS(tail, last, node);
}

static int dequeue(int thread)
{
    (void)thread;
    for (;;) {
        struct node *first = LOAD(head);
        struct node *last = LOAD(tail);
        struct node *next = LOAD(first->next);
        if (first != LOAD(head))
            continue;
        if (first == last) {
            if (!next)
                return NOT_FOUND;
            CAS(tail, last, next);
            continue;
        }
        int value = LOAD(next->value);
        if (CAS(head, first, next))
            return value;
    }
}
