/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads on a queue: one puts two in, takes two out and puts one in, the other takes two, puts two and
 * takes one. Of the program: enqueue(), dequeue(), prepare(). */
#ifndef QUEUE_SCRIPT_H
#define QUEUE_SCRIPT_H

#include "harness.h"

enum { ENQUEUE = 1, DEQUEUE, NOT_FOUND = -1 };
struct operation {
    int what, value;
};
static const int threads = 2;
static const struct operation script[2][5] = {
    { { ENQUEUE, 11 }, { ENQUEUE, 12 }, { DEQUEUE, 0 }, { DEQUEUE, 0 }, { ENQUEUE, 13 } },
    { { DEQUEUE, 0 }, { DEQUEUE, 0 }, { ENQUEUE, 21 }, { ENQUEUE, 22 }, { DEQUEUE, 0 } },
};

struct object {
    int first, last, value[6];
};

static int perform(struct object *o, struct operation op)
{
    if (op.what == ENQUEUE)
        return o->value[o->last++] = op.value, 0;
    return o->first < o->last ? o->value[o->first++] : NOT_FOUND;
}

#include "atomically.h"

static void prepare(void);
static void enqueue(int thread, int value);
static int dequeue(int thread);

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    for (int i = 0; i < 5; i++) {
        struct operation op = script[me][i];
        if (op.what == ENQUEUE)
            enqueue(me, op.value);
        else
            result[me][i] = dequeue(me);
    }
    return NULL;
}

int main(void)
{
    static const struct object empty;
    pthread_t other;
    prepare();
    pthread_create(&other, NULL, work, (void *)(intptr_t)1);
    work((void *)(intptr_t)0);
    pthread_join(other, NULL);
    check_results(&empty);
}

#endif
