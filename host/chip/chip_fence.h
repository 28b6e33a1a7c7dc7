/* SPDX-License-Identifier: Apache-2.0 */
/* Fences that a program needs on a machine of rtl/, as its captured executions ask for them: one that goes
 * wrong has a cycle of accesses, in which a store was passed by what the program has behind it; there the
 * fence is put, and the program is run again, until it goes right so many times. */
#ifndef HOST_CHIP_FENCE_H
#define HOST_CHIP_FENCE_H

#include "chip_try.h"
#include "fence.h"

/* One that was asked for. */
struct chip_asked {
    struct fence_place place; /* on the chip */
    uint64_t run;             /* the execution that asked, from 1 */
    enum explore_error error; /* what went wrong in it; EXPLORE_NO_ERROR: it stood still */
};

struct chip_fence {
    struct chip_try *machine;
    const struct image *image; /* on the chip */
    const char *source;        /* the program's first */
    uint64_t runs;             /* in a row that have to go right */
    uint64_t seed;
    bool (*progress)(void *user, uint64_t runs, size_t fences); /* true: stop */
    void *user;
};

struct chip_fenced {
    struct chip_asked *asked;
    size_t count;
    uint64_t runs, wrong; /* executions; those that went wrong */
    bool right;           /* the last `runs` went right */
    bool stopped;
    enum explore_error
        error;               /* of one that no fence between its accesses would have stopped; ... */
    bool no_fence;           /* ... there was such */
    bool machine_wrong, bad; /* as in struct chip_relaxed */
    enum chip_try_end end;
    struct why why;
};

/* Begins with the fences that are in `out` already. False: no memory. */
bool chip_fence(const struct chip_fence *f, struct chip_fenced *out);
void chip_fenced_free(struct chip_fenced *out);

/* The place of the other image that is written where this one is; false: there is none. */
bool chip_fence_place(const struct image *from, const struct fence_place *place,
                      const struct image *to, struct fence_place *other);

#endif
