/* SPDX-License-Identifier: Apache-2.0 */
/* The context behind every call: memory with its account, limits, and the one error object.
 *
 * All memory of the library is taken and returned here, so that a limit holds, a failure is
 * an error code, and a test can fail any allocation it likes. */
#ifndef ORDEAL_CONTEXT_H
#define ORDEAL_CONTEXT_H

#include <stdarg.h>
#include "invariant.h"
#include "ordeal.h"

struct ordeal {
    struct ordeal_memory memory;
    size_t used, peak;
    struct ordeal_limits limits;
    double deadline;            /* monotonic seconds; 0: none */
    uint32_t ticks;
    const char *phase;          /* where limit_hit was last, and how much was done by then */
    double share;
    struct ordeal_error error;
};

/* Resize a block; NULL when out of memory (the error object then says so). Fresh bytes are
 * not cleared. new_bytes == 0 frees and returns NULL. */
void *mem_resize(struct ordeal *o, void *pointer, size_t old_bytes, size_t new_bytes);
void *mem_zero(struct ordeal *o, size_t count, size_t size);      /* cleared; checks overflow */
void *mem_array(struct ordeal *o, size_t count, size_t size);     /* not cleared */
void mem_free(struct ordeal *o, void *pointer, size_t bytes);

/* A growing array: `struct { T *data; size_t count, capacity; }`. VEC_PUSH is false when out of
 * memory. */
#define VEC(T) struct { T *data; size_t count, capacity; }
#define VEC_PUSH(o, v, item) \
    (((v)->count < (v)->capacity || \
      mem_grow((o), (void **)&(v)->data, &(v)->capacity, sizeof *(v)->data, (v)->count + 1)) && \
     ((v)->data[(v)->count++] = (item), true))
#define VEC_RESERVE(o, v, n) \
    ((n) <= (v)->capacity || \
     mem_grow((o), (void **)&(v)->data, &(v)->capacity, sizeof *(v)->data, (n)))
#define VEC_FREE(o, v) \
    (mem_free((o), (v)->data, (v)->capacity * sizeof *(v)->data), \
     (v)->data = NULL, (v)->count = (v)->capacity = 0)
/* Give back the room not used, so that `count` alone says how much to free. */
#define VEC_FIT(o, v) \
    mem_fit((o), (void **)&(v)->data, &(v)->capacity, sizeof *(v)->data, (v)->count)
bool mem_fit(struct ordeal *o, void **data, size_t *capacity, size_t item, size_t count);
bool mem_grow(struct ordeal *o, void **data, size_t *capacity, size_t item, size_t need);

/* Record why, and return the status: `return fail(o, ORDEAL_BAD_INPUT, ...)`. fail_at adds the
 * place. */
enum ordeal_status fail(struct ordeal *o, enum ordeal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum ordeal_status fail_at(struct ordeal *o, const char *file, uint64_t line, uint64_t column,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Start the clock of one check; then ask now and then. `limit_hit` is cheap: it looks at the
 * clock once in a few thousand calls. */
void limit_start(struct ordeal *o);
bool limit_hit(struct ordeal *o, const char *phase, double share);
double clock_seconds(void);

#endif
