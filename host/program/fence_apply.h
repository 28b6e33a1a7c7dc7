/* SPDX-License-Identifier: Apache-2.0 */
/* Sources with fences, written, compiled and explored again: without a bound on buffers, and with small
 * ones by the search of `ordeal explore`, which shares nothing with the automata. */
#ifndef HOST_PROGRAM_FENCE_APPLY_H
#define HOST_PROGRAM_FENCE_APPLY_H

#include "base/why.h"
#include "compile.h"
#include "fence.h"

/* One exploration of what was written. */
struct fence_again {
    const char *file;
    enum explore_verdict verdict;
    uint64_t states;
    uint32_t buffers; /* 0: no bound */
    const char *note;
};

struct fence_application {
    const char *to; /* a file for one source, a folder for several */
    const struct image *image;
    const struct fence_set *set;
    const struct explore_options *explore;
    struct compile_request request; /* of the sources as they are */
    void (*tell)(void *user, const struct fence_again *again);
    void *user;
};

/* False: it could not be done, and why. */
bool fence_apply(struct fence_application *a, struct why *why);

#endif
