/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a test that is being made: which location a thread goes to, what its lines are
 * called, and values that nobody wrote there before. Lines enter the test when first used. */
#ifndef HOST_MEMORY_H
#define HOST_MEMORY_H

#include "layout.h"
#include "base/random.h"

struct memory {
    const struct bias *b; /* of the test at hand, as is the layout */
    const struct layout *layout;
    uint32_t lines, words;       /* those that the last test had, words of a line */
    bool mixed;                  /* some lines of it were uncached */
    uint32_t *base;              /* of a line: its name in the test; 0: not used yet */
    uint64_t *last;              /* of a location: number of the last value given out */
    bool *uncached;              /* of a line */
    uint32_t *used;              /* lines that have a name */
    uint32_t used_count;
    uint32_t *order;             /* of lines, to draw some of them */
    struct ordeal_trace *test;
    enum ordeal_status status;   /* of the test: the first that was not ORDEAL_OK */
};

/* Bias and layout may change before each start, up to that many locations. */
bool memory_new(struct memory *m, const struct bias *b, const struct layout *layout,
                uint32_t most_locations);
void memory_free(struct memory *m);
/* For the next test: all lines are unused. */
void memory_start(struct memory *m, struct ordeal_trace *test, struct random *r);

/* The name of a line in the test. Line number `lines` is the one where there is no memory. */
uint32_t memory_name_line(struct memory *m, uint32_t line);
static inline uint32_t memory_line(struct memory *m, uint32_t line)
{
    return m->base[line] ? m->base[line] : memory_name_line(m, line);
}

/* Where a thread goes that has done `position` operations. */
uint32_t memory_choose(const struct memory *m, struct random *r, const struct pool *pool,
                       uint32_t thread, uint32_t position, bool writes);

/* `count` fresh numbers of a location: the first of them. When the location has no more, it is
 * changed to the next of the pool that has. */
uint64_t memory_numbers(struct memory *m, const struct pool *pool, uint32_t *location,
                        uint32_t count);
/* One that is fresh in every word of the location's line, or of the next with such a one. */
uint64_t memory_line_number(struct memory *m, const struct pool *pool, uint32_t *location);
/* Have words location .. location + words - 1, all in one line, `count` numbers that are fresh in
 * each? And the first of these numbers, now given out. */
bool memory_has_numbers(const struct memory *m, uint32_t location, uint32_t words, uint32_t count);
uint64_t memory_take_numbers(struct memory *m, uint32_t location, uint32_t words, uint32_t count);

#endif
