/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a set of points, for the file that keeps it and those that read and write it. */
#ifndef HOST_COVER_PARTS_H
#define HOST_COVER_PARTS_H

#include "base/list.h"
#include "cover.h"

struct cover_mark {
    uint64_t count;
    struct cover_origin first; /* its label is one of the set's */
};

struct cover_rtl_point {
    char *name;
    struct cover_mark mark;
};

struct cover {
    uint64_t tests;
    struct cover_hits reached; /* those of `points` with a count */
    struct cover_mark points[COVER_POINTS];
    LIST(struct cover_rtl_point) rtl;
    uint64_t rtl_reached;
    uint32_t *slots;   /* of a hash table of these by name: index + 1; 0: free */
    size_t slot_count; /* a power of two, twice as many as points at least */
    LIST(char *) labels;
    struct cover_can can;
    LIST(struct cover_run) runs; /* sorted, none touches another; targets are of the labels */
    LIST(const char *) folders;  /* sorted; of the labels */
};

static inline uint32_t cover_group_end(const struct cover_group *g)
{
    return g + 1 < cover_groups + COVER_GROUP_COUNT ? g[1].first : COVER_POINTS;
}

/* As cover_add_rtl(), of the others. */
bool cover_count(struct cover *c, uint32_t point, uint64_t count, const struct cover_origin *test);

#endif
