/* SPDX-License-Identifier: Apache-2.0 */
/* The bias of one test: that of its profile, with what the profile leaves to chance drawn, and
 * without what it omits (swarm.h). Nothing is allocated after draw_new(). */
#ifndef HOST_DRAW_H
#define HOST_DRAW_H

#include "choices.h"
#include "idiom.h"
#include "bias.h"

struct draw {
    const struct bias *given;
    struct bias now;          /* of the test at hand; names and files are the given one's */
    struct idiom_list idioms; /* compiled once; in use are those that have weight now */
    struct choices profiles;
    uint32_t *starts; /* of each profile, by slot: the values before it varies them */
    uint32_t *drawn;  /* by slot, before anything is omitted */
    uint32_t most_locations, most_threads; /* of any test */
};

/* False: `e`. Free it either way. */
bool draw_new(struct draw *d, const struct bias *b, struct ordeal_error *e);
void draw_free(struct draw *d);

/* Do tests differ in their bias at all? If not, `now` stays what it is after draw_new(). */
bool draw_varies(const struct draw *d);
/* Sets `now` for test `number` of a seed. The bias must have passed bias_check(). */
void draw_test(struct draw *d, uint64_t seed, uint64_t number);

/* Extreme values of what a profile varies: how many combinations there are (UINT32_MAX: that or
 * more), and `now` set to one of them. */
uint32_t draw_extremes(const struct draw *d, uint32_t profile);
void draw_extreme(struct draw *d, uint32_t profile, uint32_t which);

/* The profile that test `number` of a seed is drawn from, an index into the bias's; UINT32_MAX: it
 * has none. */
uint32_t draw_profile(const struct draw *d, uint64_t seed, uint64_t number);

#endif
