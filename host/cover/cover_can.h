/* SPDX-License-Identifier: Apache-2.0 */
/* What machines can do, as far as points of coverage depend on it, and which of them can be reached
 * there by tests that the generator makes. What was reached counts all the same. */
#ifndef HOST_COVER_CAN_H
#define HOST_COVER_CAN_H

#include "cover_points.h"
#include "test/program.h"

/* The word in the file, and what it means. */
/* clang-format off */
#define COVER_ABILITIES(ABILITY) \
    ABILITY(TX,       "tx")       /* transactions */ \
    ABILITY(UNCACHED, "uncached") /* uncached memory */ \
    ABILITY(DEP,      "dep")      /* registers, on which later accesses depend */ \
    ABILITY(CYCLES,   "cycles")   /* it tells when accesses ended */ \
    ABILITY(EVENTS,   "events")   /* it counts events */
/* clang-format on */
enum cover_ability {
#define ABILITY(NAME, word) COVER_CAN_##NAME,
    COVER_ABILITIES(ABILITY)
#undef ABILITY
        COVER_ABILITY_COUNT
};
extern const char *const cover_ability_words[COVER_ABILITY_COUNT];

struct cover_can {
    uint32_t
        accesses;     /* by word of the axis ACCESS, a bit each; 0: of the machine nothing is known,
                          and all points count as possible */
    uint32_t has;     /* abilities, a bit each */
    uint32_t models;  /* that such machines obey, a bit each */
    uint32_t threads; /* of a test, at most */
};

struct cover_can cover_can_of(const struct abilities *can, const struct machine_claims *claims,
                              bool events);
void cover_can_add(struct cover_can *to, const struct cover_can *from); /* of several machines */
bool cover_can_reach(const struct cover_can *can, uint32_t point);

#endif
