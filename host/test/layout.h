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
    uint64_t most;          /* numbers of values of a location are 1 .. most */
    uint64_t apart, factor; /* how values are made of them: layout_value() */
    uint32_t turn;
    struct pool plain, transactional;
};

void layout_of_bias(struct layout *l, const struct bias *b, const struct idiom_list *idioms);

/* A number of one grain, in each grain of an access of that size. */
static inline uint64_t layout_repeat(const struct layout *l, uint64_t number, uint32_t size_log2)
{
    for (uint32_t log2 = l->grain_log2; log2 < size_log2; log2++)
        number |= number << (8u << log2);
    return number;
}

/* The value of that number of a location, for an access of that size: of 0 it is 0, of different
 * numbers it differs. Unless values are small, locations begin at numbers `apart` from each other,
 * so that what was meant for one shows in another; times an odd factor, or turned by half of the
 * bits, they reach all of the access. */
static inline uint64_t layout_value(const struct layout *l, uint32_t location, uint64_t number,
                                    uint32_t size_log2)
{
    uint64_t offset = l->apart * location;
    if (number && offset)
        number = number > l->most - offset ? number - (l->most - offset) : number + offset;
    number = number * l->factor & l->most;
    if (l->turn)
        number = (number << l->turn | number >> l->turn) & l->most;
    return layout_repeat(l, number, size_log2);
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
