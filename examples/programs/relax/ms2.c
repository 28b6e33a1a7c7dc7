/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of Michael and Scott (Simple, fast, and practical non-blocking and blocking concurrent
 * queue algorithms, 1996) with two locks, as in Figure 10 of the paper, whose labels are those after the
 * @. Its nodes are used once. */
#include "queue_script.h"

struct node {
    struct node *_Atomic next;
    shared data;
};
static struct {
    shared head_lock, tail_lock;
    struct node *_Atomic head, *_Atomic tail;
} q;

static struct node dummy, pool[2][3];
static int used[2];

#define RUBBISH ((struct node *)0x13) /* what memory holds before anybody wrote it */

static void prepare(void)
{
    for (int i = 0; i < 6; i++) {
        STORE(pool[i / 3][i % 3].next, RUBBISH);
        STORE(pool[i / 3][i % 3].data, -99);
    }
    STORE(q.head, &dummy);
    STORE(q.tail, &dummy);
}

static void enqueue(int thread, int data)
{
    struct node *n = &pool[thread][used[thread]++]; /* @1 */
    STORE(n->data, data);                           /* @2 */
    STORE(n->next, NULL);                           /* @3 */
    LOCK(q.tail_lock);                              /* @4 */
    STORE(LOAD(q.tail)->next, n);                   /* @5 */
    STORE(q.tail, n);                               /* @6 */
    UNLOCK(q.tail_lock);                            /* @7 */
}

static int dequeue(int thread)
{
    (void)thread;
    LOCK(q.head_lock);                 /* @8 */
    struct node *n = LOAD(q.head);     /* @9 */
    struct node *next = LOAD(n->next); /* @10 */
    if (next) {                        /* @11 */
        STORE(q.head, next);           /* @12 */
        UNLOCK(q.head_lock);           /* @13 */
        return LOAD(next->data);       /* @14 */
    }
    UNLOCK(q.head_lock); /* @16 */
    return NOT_FOUND;
}
