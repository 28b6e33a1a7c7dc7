/* SPDX-License-Identifier: Apache-2.0 */
/* Address space that costs nothing until it is used: zeros where nothing was written. */
#ifndef PROGRAM_RESERVE_H
#define PROGRAM_RESERVE_H

#include <stddef.h>
#include <sys/mman.h>

static inline void *reserve(size_t bytes) /* NULL: there is not so much */
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static inline void reserve_free(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}

#endif
