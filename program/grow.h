/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow at their end. */
#ifndef PROGRAM_GROW_H
#define PROGRAM_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define ROW(T) \
    struct { \
        T *data; \
        size_t count, room; \
    }

static inline bool row_grow(void *data, size_t *room, size_t item)
{
    size_t more = 2 * *room + 64;
    void *moved = realloc(*(void **)data, more * item);
    if (moved) {
        *(void **)data = moved;
        *room = more;
    }
    return moved;
}

/* False: no memory; the row is as it was. */
#define ROW_ADD(row, item) \
    (((row)->count < (row)->room || row_grow(&(row)->data, &(row)->room, sizeof *(row)->data)) \
     && ((row)->data[(row)->count++] = (item), true))
#define ROW_FREE(row) (free((row)->data), (row)->data = NULL, (row)->count = (row)->room = 0)

#endif
