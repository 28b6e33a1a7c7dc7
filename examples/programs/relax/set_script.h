/* SPDX-License-Identifier: Apache-2.0 */
/* A set with 3 and 7 in it, and three threads: one inserts -1 and removes 2, one removes 3, inserts 1 and
 * looks for 7, one looks for 3 and inserts -5. Of the program: insert(), erase(), contains(),
 * prepare(). */
#ifndef SET_SCRIPT_H
#define SET_SCRIPT_H

#include "harness.h"

enum { INSERT = 1, REMOVE, CONTAINS, LOWEST = -100, HIGHEST = 100, POOL = 4 };
struct operation {
    int what, value;
};
static const int threads = 3;
static const struct operation script[3][5] = {
    { { INSERT, -1 }, { REMOVE, 2 } },
    { { REMOVE, 3 }, { INSERT, 1 }, { CONTAINS, 7 } },
    { { CONTAINS, 3 }, { INSERT, -5 } },
};

struct object {
    bool has[16]; /* from -8 on */
};

static int perform(struct object *o, struct operation op)
{
    bool *has = &o->has[op.value + 8], had = *has;
    if (op.what == CONTAINS)
        return had;
    *has = op.what == INSERT;
    return had != *has;
}

#include "atomically.h"

static void prepare(void);
static bool insert(int thread, int key);
static bool erase(int thread, int key);
static bool contains(int key);

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    for (int i = 0; i < operations(me); i++) {
        struct operation op = script[me][i];
        result[me][i] = op.what == INSERT ? insert(me, op.value)
                      : op.what == REMOVE ? erase(me, op.value)
                                          : contains(op.value);
    }
    return NULL;
}

int main(void)
{
    static struct object first;
    pthread_t other[2];
    prepare();
    insert(0, 3);
    insert(0, 7);
    first.has[3 + 8] = first.has[7 + 8] = true;
    pthread_create(&other[0], NULL, work, (void *)(intptr_t)1);
    pthread_create(&other[1], NULL, work, (void *)(intptr_t)2);
    work((void *)(intptr_t)0);
    pthread_join(other[0], NULL);
    pthread_join(other[1], NULL);
    check_results(&first);
}

#endif
