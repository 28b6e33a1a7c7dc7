/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways to place fences share. */
#ifndef PROGRAM_FENCE_PARTS_H
#define PROGRAM_FENCE_PARTS_H

#include "fence.h"

struct placing {
    const struct fence_options *options;
    struct explore_options how; /* of the exploration that is next */
    struct program_code code;
    struct fence_machine machine;
    struct fence_result *result;
    double began;
    uint8_t not_local;
    bool no_memory;
};

/* With the fences that are there. The outcome is to be freed. */
enum explore_verdict fence_explore(struct placing *p, struct fence_outcome *o);
void fence_note_undecided(struct placing *p, const struct fence_outcome *o);
void fence_note_failed(struct placing *p, const struct fence_outcome *o);
void fence_put(struct placing *p, struct fence_place place, bool there);
struct fence_set *fence_new_set(struct placing *p);
void fence_set_finish(struct fence_set *set);

void fence_find_all(struct placing *p);

#endif
