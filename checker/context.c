/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include <string.h>
#include <stdlib.h>
#include <time.h>

static void *default_resize(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    (void)user, (void)old_bytes;
    if (new_bytes == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, new_bytes);
}

struct ordeal *ordeal_new(const struct ordeal_memory *memory)
{
    struct ordeal_memory m = memory ? *memory : (struct ordeal_memory){ default_resize, NULL };
    struct ordeal *o = m.resize(m.user, NULL, 0, sizeof *o);
    if (!o)
        return NULL;
    *o = (struct ordeal){ .memory = m };
    return o;
}

void ordeal_free(struct ordeal *o)
{
    if (o)
        o->memory.resize(o->memory.user, o, sizeof *o, 0);
}

void ordeal_set_limits(struct ordeal *o, const struct ordeal_limits *limits)
{
    o->limits = *limits;
}

const struct ordeal_error *ordeal_last_error(const struct ordeal *o) { return &o->error; }
size_t ordeal_memory_used(const struct ordeal *o) { return o->used; }
size_t ordeal_memory_peak(const struct ordeal *o) { return o->peak; }

static const char *how_far(const struct ordeal *o, char text[64]);

void *mem_resize(struct ordeal *o, void *pointer, size_t old_bytes, size_t new_bytes)
{
    assert(pointer || old_bytes == 0);
    assert(old_bytes <= o->used); /* nobody gives back more than was taken */
    if (new_bytes == 0) {
        if (pointer)
            o->memory.resize(o->memory.user, pointer, old_bytes, 0);
        o->used -= pointer ? old_bytes : 0;
        return NULL;
    }
    if (new_bytes > old_bytes && o->limits.bytes
        && o->used + (new_bytes - old_bytes) > o->limits.bytes) {
        char text[64];
        fail(o, ORDEAL_LIMIT, "memory limit of %zu bytes reached%s", o->limits.bytes,
             how_far(o, text));
        return NULL;
    }
    void *fresh = o->memory.resize(o->memory.user, pointer, old_bytes, new_bytes);
    if (!fresh) {
        fail(o, ORDEAL_NO_MEMORY, "out of memory: %zu bytes asked for, %zu in use", new_bytes,
             o->used);
        return NULL;
    }
    o->used += new_bytes - (pointer ? old_bytes : 0);
    if (o->used > o->peak)
        o->peak = o->used;
    return fresh;
}

void *mem_array(struct ordeal *o, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        fail(o, ORDEAL_NO_MEMORY, "out of memory: %zu items of %zu bytes asked for", count, size);
        return NULL;
    }
    /* An empty array is still a block, so that NULL always means failure; mem_free agrees. */
    size_t bytes = count * size;
    return mem_resize(o, NULL, 0, bytes ? bytes : 1);
}

void *mem_zero(struct ordeal *o, size_t count, size_t size)
{
    void *p = mem_array(o, count, size);
    if (p)
        memset(p, 0, count * size);
    return p;
}

void mem_free(struct ordeal *o, void *pointer, size_t bytes)
{
    if (pointer)
        mem_resize(o, pointer, bytes ? bytes : 1, 0);
}

bool mem_grow(struct ordeal *o, void **data, size_t *capacity, size_t item, size_t need)
{
    assert(need > *capacity && item > 0 && (*data || !*capacity));
    size_t fresh = *capacity ? *capacity : 16;
    while (fresh < need) {
        if (fresh > SIZE_MAX / 2 / item) {
            fail(o, ORDEAL_NO_MEMORY, "out of memory: %zu items of %zu bytes asked for", need,
                 item);
            return false;
        }
        fresh += fresh < 1 << 20 ? fresh : fresh / 2;
    }
    assert(fresh >= need);
    void *p = mem_resize(o, *data, *capacity * item, fresh * item);
    if (!p)
        return false;
    *data = p;
    *capacity = fresh;
    return true;
}

bool mem_fit(struct ordeal *o, void **data, size_t *capacity, size_t item, size_t count)
{
    assert(count <= *capacity);
    if (*capacity == count)
        return true;
    void *p = mem_resize(o, *data, *capacity * item, count * item);
    if (!p && count)
        return false;
    *data = p;
    *capacity = count;
    return true;
}

static enum ordeal_status vfail(struct ordeal *o, enum ordeal_status status, const char *file,
                                uint64_t line, uint64_t column, const char *format, va_list args)
{
    assert(status != ORDEAL_OK && status != ORDEAL_END);
    o->error.status = status;
    o->error.line = line;
    o->error.column = column;
    snprintf(o->error.file, sizeof o->error.file, "%s", file);
    vsnprintf(o->error.reason, sizeof o->error.reason, format, args);
    return status;
}

enum ordeal_status fail(struct ordeal *o, enum ordeal_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfail(o, status, "", 0, 0, format, args);
    va_end(args);
    return status;
}

enum ordeal_status fail_at(struct ordeal *o, const char *file, uint64_t line, uint64_t column,
                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfail(o, ORDEAL_BAD_INPUT, file, line, column, format, args);
    va_end(args);
    return ORDEAL_BAD_INPUT;
}

double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void limit_start(struct ordeal *o)
{
    o->deadline = o->limits.seconds > 0 ? clock_seconds() + o->limits.seconds : 0;
    o->ticks = 0;
    o->phase = NULL;
}

/* " in search, 40 % done", as far as that is known. */
static const char *how_far(const struct ordeal *o, char text[64])
{
    text[0] = 0;
    if (o->phase && o->share >= 0)
        snprintf(text, 64, " in %s, %d %% done", o->phase, (int)(100 * o->share));
    else if (o->phase)
        snprintf(text, 64, " in %s", o->phase);
    return text;
}

bool limit_hit(struct ordeal *o, const char *phase, double share)
{
    if (++o->ticks & 4095)
        return false;
    assert(phase && share <= 1);
    char text[64];
    o->phase = phase;
    o->share = share;
    if (o->deadline > 0 && clock_seconds() > o->deadline) {
        fail(o, ORDEAL_LIMIT, "time limit of %g s reached%s", o->limits.seconds, how_far(o, text));
        return true;
    }
    if (o->limits.progress && o->limits.progress(o->limits.user, phase, share)) {
        fail(o, ORDEAL_LIMIT, "interrupted%s", how_far(o, text));
        return true;
    }
    return false;
}
