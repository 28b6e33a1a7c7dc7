/* SPDX-License-Identifier: Apache-2.0 */
/* Depth first: each worker has a stack of states to expand, newest first, and gives from its oldest
 * to a pool when others have nothing to do. */
#include <stdlib.h>
#include <string.h>

#include "exploration.h"

enum { GIVEN = 64 }; /* states to the pool, at most, at a time */

static void *room_for_one(struct depth_item *item, size_t count, size_t *capacity)
{
    if (count < *capacity)
        return item;
    size_t more = *capacity ? 2 * *capacity : 256;
    void *larger = realloc(item, more * sizeof *item);
    if (larger)
        *capacity = more;
    return larger;
}

static void give_up(struct exploration *x)
{
    exploration_note(x, "no memory");
    atomic_store(&x->stop, true);
}

void explorer_push(struct explorer *e, uint32_t state)
{
    void *room = room_for_one(e->stack.item, e->stack.count, &e->stack.capacity);
    if (!room) {
        give_up(e->x);
        return;
    }
    e->stack.item = room;
    e->stack.item[e->stack.count++] = (struct depth_item){ state, e->depth + 1 };
}

/* With the lock held; false: no memory. */
static bool put_into_pool(struct exploration *x, struct depth_item item)
{
    void *room = room_for_one(x->pool.item, x->pool.count, &x->pool.capacity);
    if (!room)
        return false;
    x->pool.item = room;
    x->pool.item[x->pool.count++] = item;
    return true;
}

/* The oldest states, below which there is most to do. */
static void give(struct explorer *e)
{
    struct exploration *x = e->x;
    size_t n = e->stack.count / 2 < GIVEN ? e->stack.count / 2 : GIVEN;
    size_t given = 0;
    pthread_mutex_lock(&x->lock);
    while (given < n && put_into_pool(x, e->stack.item[given]))
        given++;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    e->stack.count -= given;
    memmove(e->stack.item, e->stack.item + given, e->stack.count * sizeof *e->stack.item);
}

/* Waits until the pool has one; false: nobody has anything to do any more. */
static bool take(struct explorer *e, struct depth_item *item)
{
    struct exploration *x = e->x;
    bool taken = false;
    pthread_mutex_lock(&x->lock);
    if (!x->pool.count && --x->active == 0)
        exploration_rest(x);
    else if (x->pool.count)
        taken = true;
    while (!taken && !x->over) {
        pthread_cond_wait(&x->changed, &x->lock);
        if (!x->over && x->pool.count) {
            taken = true;
            x->active++;
        }
    }
    if (taken)
        *item = x->pool.item[--x->pool.count];
    pthread_mutex_unlock(&x->lock);
    return taken;
}

static bool others_wait(const struct exploration *x)
{
    return x->options->jobs > 1 && x->active < x->options->jobs && !x->pool.count;
}

void explorer_depth_first(struct explorer *e)
{
    struct exploration *x = e->x;
    struct depth_item item = { 1, 0 };
    bool first = e == x->explorer;
    while (!x->over) {
        if (first)
            first = false;
        else if (e->stack.count)
            item = e->stack.item[--e->stack.count];
        else if (!take(e, &item))
            return;
        e->depth = item.depth;
        if (item.depth > x->depth)
            x->depth = item.depth;
        if (!explorer_store_one(e, item.state))
            e->stack.count = 0; /* stops */
        if (e->stack.count > 1 && others_wait(x))
            give(e);
    }
}
