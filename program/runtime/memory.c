/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation, which the engine does. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum { ALIGNMENT = 16 }; /* of max_align_t */

WEAK void *aligned_alloc(size_t alignment, size_t size)
{
    return (void *)ordeal_call2(ORDEAL_ALLOCATE, (long)(size ? size : 1), (long)alignment);
}

WEAK void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }

WEAK int posix_memalign(void **to, size_t alignment, size_t size)
{
    *to = aligned_alloc(alignment, size);
    return *to ? 0 : ENOMEM;
}

WEAK void *malloc(size_t size) { return aligned_alloc(ALIGNMENT, size); }

WEAK void *calloc(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    void *p = malloc(count * size);
    return p ? memset(p, 0, count * size) : NULL;
}

WEAK void *realloc(void *old, size_t size)
{
    void *p = malloc(size);
    if (p && old) {
        size_t had = (size_t)ordeal_call1(ORDEAL_SIZE_OF, (long)old);
        memcpy(p, old, had < size ? had : size);
        free(old);
    }
    return p;
}
