/* SPDX-License-Identifier: Apache-2.0 */
/* The set of Harris (A pragmatic implementation of non-blocking linked-lists, 2001): a sorted list,
 * whose nodes are marked by the lowest bit of their link before they are unlinked, both by
 * compare-and-swap. Its nodes are used once. */
#include "set_script.h"

typedef uintptr_t link; /* a node's address, and its mark */

struct node {
    shared key;
    _Atomic link next;
};
static struct node first, last, pool[3][POOL];
static int used[3];

#define NODE(l) ((struct node *)(l))
#define MARKED(l) ((l)&1)

#define RUBBISH 0x12 /* what memory holds before anybody wrote it */

static void prepare(void)
{
    for (int i = 0; i < 3 * POOL; i++) {
        STORE(pool[i / POOL][i % POOL].next, RUBBISH);
        STORE(pool[i / POOL][i % POOL].key, -99);
    }
    STORE(first.key, LOWEST);
    STORE(last.key, HIGHEST);
    STORE(first.next, (link)&last);
}

/* The first node that is not marked with this key or a higher one, and the one before it; marked ones
 * between are unlinked. */
static struct node *search(int key, struct node **left)
{
    link left_next = 0;
    for (;;) {
        struct node *t = &first;
        link t_next = LOAD(first.next);
        do {
            if (!MARKED(t_next)) {
                *left = t;
                left_next = t_next;
            }
            t = NODE(t_next & ~(link)1);
            if (t == &last)
                break;
            t_next = LOAD(t->next);
        } while (MARKED(t_next) || LOAD(t->key) < key);
        struct node *right = t;
        if (left_next != (link)right)
            if (!CAS((*left)->next, left_next, (link)right))
                continue;
        if (right == &last || !MARKED(LOAD(right->next)))
            return right;
    }
}

static bool insert(int thread, int key)
{
    struct node *n = &pool[thread][used[thread]++], *left;
    STORE(n->key, key);
    for (;;) {
        struct node *right = search(key, &left);
        if (right != &last && LOAD(right->key) == key)
            return false;
        STORE(n->next, (link)right);
        if (CAS(left->next, (link)right, (link)n))
            return true;
    }
}

static bool erase(int thread, int key)
{
    struct node *left;
    (void)thread;
    for (;;) {
        struct node *right = search(key, &left);
        if (right == &last || LOAD(right->key) != key)
            return false;
        link next = LOAD(right->next);
        if (MARKED(next) || !CAS(right->next, next, next | 1))
            continue;
        if (!CAS(left->next, (link)right, next))
            search(key, &left);
        return true;
    }
}

static bool contains(int key)
{
    struct node *left, *right = search(key, &left);
    return right != &last && LOAD(right->key) == key;
}
