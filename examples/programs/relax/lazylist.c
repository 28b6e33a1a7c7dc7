/* SPDX-License-Identifier: Apache-2.0 */
/* The lazy set (Heller, Herlihy, Luchangco, Moir, Scherer, Shavit: A lazy concurrent list-based set
 * algorithm, 2005): a sorted list, in which a node is marked before it is unlinked, both under locks,
 * and nobody locks to look. Its nodes are used once. */
#include "set_script.h"

struct node {
    shared key, marked, lock;
    struct node *_Atomic next;
};
static struct node first, last, pool[3][POOL];
static int used[3];

#define RUBBISH ((struct node *)0x13) /* what memory holds before anybody wrote it */

static void prepare(void)
{
    for (int i = 0; i < 3 * POOL; i++) {
        STORE(pool[i / POOL][i % POOL].next, RUBBISH);
        STORE(pool[i / POOL][i % POOL].key, -99);
    }
    STORE(first.key, LOWEST);
    STORE(last.key, HIGHEST);
    STORE(first.next, &last);
}

#define VALID(pred, curr) \
    (!LOAD((pred)->marked) && !LOAD((curr)->marked) && LOAD((pred)->next) == (curr))

static bool insert(int thread, int key)
{
    for (;;) {
        struct node *pred = &first;
        struct node *curr = LOAD(pred->next);
        while (LOAD(curr->key) < key) {
            pred = curr;
            curr = LOAD(pred->next);
        }
        LOCK(pred->lock);
        LOCK(curr->lock);
        bool valid = VALID(pred, curr);
        bool there = valid && LOAD(curr->key) == key;
        if (valid && !there) {
            struct node *n = &pool[thread][used[thread]++];
            STORE(n->key, key);
            STORE(n->next, curr);
            STORE(pred->next, n);
        }
        UNLOCK(curr->lock);
        UNLOCK(pred->lock);
        if (valid)
            return !there;
    }
}

static bool erase(int thread, int key)
{
    (void)thread;
    for (;;) {
        struct node *pred = &first;
        struct node *curr = LOAD(pred->next);
        while (LOAD(curr->key) < key) {
            pred = curr;
            curr = LOAD(pred->next);
        }
        LOCK(pred->lock);
        LOCK(curr->lock);
        bool valid = VALID(pred, curr);
        bool there = valid && LOAD(curr->key) == key;
        if (there) {
            STORE(curr->marked, 1);
            STORE(pred->next, LOAD(curr->next));
        }
        UNLOCK(curr->lock);
        UNLOCK(pred->lock);
        if (valid)
            return there;
    }
}

static bool contains(int key)
{
    struct node *curr = &first;
    while (LOAD(curr->key) < key)
        curr = LOAD(curr->next);
    return LOAD(curr->key) == key && !LOAD(curr->marked);
}
