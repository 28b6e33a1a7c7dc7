/* SPDX-License-Identifier: Apache-2.0 */
/* How the words of a test lie in memory, as its bias says.
 *
 * Location i is word i % words_per_line of line i / words_per_line. Operations outside and inside
 * of transactions draw from pools of locations, which are the same unless they are to be disjoint.
 * Values of a location come from a counter, repeated in each grain: so what a word of the checker
 * holds is unique, whichever part of an access it is. */
#ifndef HOST_LAYOUT_H
#define HOST_LAYOUT_H

#include "bias.h"

struct pool { uint32_t first, count; }; /* locations */

struct layout {
    uint32_t grain_log2;          /* of the smallest access */
    uint32_t word_log2;           /* of a location: 4 bytes, or 8 */
    uint32_t words;               /* in a line */
    uint32_t lines, locations;
    uint64_t most;                /* values of a location are 1 .. most */
    struct pool plain, transactional;
};

void layout_of_bias(struct layout *l, const struct bias *b, const struct idiom_list *idioms);

/* The value of that number, for an access of that size. */
static inline uint64_t layout_value(const struct layout *l, uint64_t number, uint32_t size_log2)
{
    for (uint32_t log2 = l->grain_log2; log2 < size_log2; log2++)
        number |= number << (8u << log2);
    return number;
}

/* Where line i lies in the test's memory. */
static inline uint64_t layout_place(const struct bias *b, uint32_t line)
{
    return (uint64_t)(line / b->placement_lines_per_set) * 64
         + (uint64_t)(line % b->placement_lines_per_set) * b->placement_set_stride;
}

/* Bytes from the first to the last line. */
static inline uint64_t layout_memory(const struct layout *l, const struct bias *b)
{
    uint64_t most = 0;
    for (uint32_t line = 0; line < l->lines; line++)
        most = layout_place(b, line) > most ? layout_place(b, line) : most;
    return most + 64;
}

#endif
