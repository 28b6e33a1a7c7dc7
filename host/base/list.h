/* SPDX-License-Identifier: Apache-2.0 */
/* A growing array. LIST_PUSH is false when memory is out; the list then stays as it was. */
#ifndef HOST_LIST_H
#define HOST_LIST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define LIST(T) struct { T *data; size_t count, capacity; }
#define LIST_PUSH(l, item) \
    (((l)->count < (l)->capacity \
      || list_grow((void **)&(l)->data, &(l)->capacity, sizeof *(l)->data, (l)->count)) \
     && ((l)->data[(l)->count++] = (item), true))
#define LIST_FREE(l) (free((l)->data), (l)->data = NULL, (l)->count = (l)->capacity = 0)

static inline bool list_grow(void **data, size_t *capacity, size_t item, size_t count)
{
    assert(count == *capacity && (*data || count == 0));
    size_t fresh = *capacity ? *capacity * 2 : 16;
    void *moved = fresh > (size_t)-1 / item ? NULL : realloc(*data, fresh * item);
    if (!moved)
        return false;
    *data = moved;
    *capacity = fresh;
    return true;
}

/* qsort() takes no NULL, which the data of an empty list is. */
#define LIST_SORT(list, compare) \
    ((list)->count ? qsort((list)->data, (list)->count, sizeof *(list)->data, compare) : (void)0)

#endif
