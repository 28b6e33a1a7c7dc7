/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <assert.h>
#include <string.h>

#include "program.h"

enum { NAME_MOST = 8 };

bool memory_new(struct memory *m, const struct bias *b, const struct layout *layout,
                uint32_t most_locations)
{
    size_t lines = most_locations;
    *m = (struct memory){ .b = b, .layout = layout };
    m->base = calloc(lines + 1, sizeof *m->base);
    m->last = calloc(lines + LINE_BYTES, sizeof *m->last); /* the last line may have more words */
    m->uncached = calloc(lines + 1, sizeof *m->uncached);
    m->used = calloc(lines + 1, sizeof *m->used);
    m->order = calloc(lines, sizeof *m->order);
    return m->base && m->last && m->uncached && m->used && m->order;
}

void memory_free(struct memory *m)
{
    free(m->base);
    free(m->last);
    free(m->uncached);
    free(m->used);
    free(m->order);
}

/* Some lines are uncached: the first of an order that is partly shuffled. */
static void draw_uncached(struct memory *m, struct random *r)
{
    uint32_t lines = m->layout->lines;
    uint32_t count = (uint32_t)(((uint64_t)lines * m->b->placement_uncached + 99) / 100);
    for (uint32_t i = 0; count && i < lines; i++)
        m->order[i] = i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = i + random_below(r, lines - i), line = m->order[k];
        m->order[k] = m->order[i];
        m->uncached[line] = true;
    }
}

/* What the last test left. */
static void clear(struct memory *m)
{
    for (uint32_t i = 0; i < m->used_count; i++) {
        uint32_t line = m->used[i];
        m->base[line] = 0;
        if (line < m->lines)
            memset(m->last + (size_t)line * m->words, 0, m->words * sizeof *m->last);
    }
    if (m->mixed)
        memset(m->uncached, 0, m->lines * sizeof *m->uncached);
    m->used_count = 0;
}

void memory_start(struct memory *m, struct ordeal_trace *test, struct random *r)
{
    clear(m);
    m->lines = m->layout->lines;
    m->words = m->layout->words;
    m->mixed = m->b->placement_uncached > 0;
    m->test = test;
    m->status = ORDEAL_OK;
    if (m->mixed)
        draw_uncached(m, r);
}

/* ---- lines --------------------------------------------------------------------------------- */

/* A .. Z, AA .. ZZ, AAA …; returns the length. */
static size_t spell(uint32_t line, char name[NAME_MOST])
{
    size_t length = 0;
    for (uint64_t n = (uint64_t)line + 1; n; n = (n - 1) / 26)
        name[length++] = (char)('A' + (n - 1) % 26);
    for (size_t i = 0; i < length / 2; i++) {
        char c = name[i];
        name[i] = name[length - 1 - i];
        name[length - 1 - i] = c;
    }
    return length;
}

uint32_t memory_name_line(struct memory *m, uint32_t line)
{
    char name[NAME_MOST];
    size_t length = spell(line, name);
    bool faulting = line == m->layout->lines;
    if (m->status == ORDEAL_OK)
        m->status = ordeal_trace_name(m->test, name, length, &m->base[line]);
    if (m->status != ORDEAL_OK)
        return 0;
    m->used[m->used_count++] = line;
    if (faulting || m->uncached[line])
        m->status = ordeal_trace_memory(m->test, m->base[line],
                                        faulting ? ORDEAL_FAULTING : ORDEAL_UNCACHED);
    if (m->status == ORDEAL_OK && !faulting && m->b->placement_lines_per_set > 1)
        m->status = ordeal_trace_place(m->test, m->base[line], layout_place(m->b, line));
    return m->base[line];
}

/* ---- who goes where ------------------------------------------------------------------------ */

static uint32_t any(struct random *r, const struct pool *pool)
{
    return pool->first + random_below(r, pool->count);
}

/* One of every `owners`-th location of the pool, from the owner's first. */
static uint32_t owned(struct random *r, const struct pool *pool, uint32_t owner, uint32_t owners)
{
    uint32_t count = (pool->count - owner + owners - 1) / owners;
    return pool->first + owner + random_below(r, count) * owners;
}

static uint32_t by_pattern(const struct bias *b, struct random *r, const struct pool *pool,
                           uint32_t thread, uint32_t position, bool writes)
{
    uint32_t threads = b->test_threads, hot = b->sharing_hot_locations;
    switch (b->sharing_pattern) {
    case SHARING_HOT:
        if (random_chance(r, b->sharing_hot_percent))
            return pool->first + random_below(r, hot);
        return pool->first + hot + random_below(r, pool->count - hot);
    case SHARING_PRODUCER:
        if (!writes)
            thread = (thread + 1 + random_below(r, threads - 1)) % threads;
        return owned(r, pool, thread, threads);
    case SHARING_MIGRATING:
        return owned(r, pool, (thread + position / b->sharing_migrating_every) % threads, threads);
    case SHARING_PRIVATE:
        if (!random_chance(r, b->sharing_private_shared))
            return owned(r, pool, thread, threads);
        return any(r, pool);
    default:
        return any(r, pool);
    }
}

uint32_t memory_choose(const struct memory *m, struct random *r, const struct pool *pool,
                       uint32_t thread, uint32_t position, bool writes)
{
    uint32_t words = m->layout->words;
    uint32_t location = by_pattern(m->b, r, pool, thread, position, writes);
    if (m->b->placement_false_sharing && random_chance(r, m->b->placement_false_sharing)) {
        uint32_t own = location - location % words + thread % words;
        if (own < pool->first + pool->count)
            return own;
    }
    return location;
}

/* ---- values -------------------------------------------------------------------------------- */

static uint32_t next_of(const struct pool *pool, uint32_t location)
{
    return location + 1 < pool->first + pool->count ? location + 1 : pool->first;
}

static uint64_t last_number(const struct memory *m, uint32_t location, uint32_t words)
{
    uint64_t last = 0;
    for (uint32_t i = location; i < location + words; i++)
        last = m->last[i] > last ? m->last[i] : last;
    return last;
}

bool memory_has_numbers(const struct memory *m, uint32_t location, uint32_t words, uint32_t count)
{
    return count <= m->layout->most - last_number(m, location, words);
}

uint64_t memory_take_numbers(struct memory *m, uint32_t location, uint32_t words, uint32_t count)
{
    uint64_t last = last_number(m, location, words);
    for (uint32_t i = location; i < location + words; i++)
        m->last[i] = last + count;
    return last + 1;
}

uint64_t memory_numbers(struct memory *m, const struct pool *pool, uint32_t *location,
                        uint32_t count)
{
    uint32_t tries = 0;
    for (; !memory_has_numbers(m, *location, 1, count); tries++) {
        assert(tries < pool->count && "bias_check() sees to it that there is room");
        *location = next_of(pool, *location);
    }
    return memory_take_numbers(m, *location, 1, count);
}

uint64_t memory_line_number(struct memory *m, const struct pool *pool, uint32_t *location)
{
    uint32_t words = m->layout->words, tries = 0;
    for (; !memory_has_numbers(m, *location - *location % words, words, 1); tries++) {
        assert(tries < pool->count && "bias_check() sees to it that there is room");
        *location = next_of(pool, *location);
    }
    return memory_take_numbers(m, *location - *location % words, words, 1);
}
