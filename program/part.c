/* SPDX-License-Identifier: Apache-2.0 */
#include "part.h"

#include "reserve.h"

static size_t words_of(uint32_t most) { return (size_t)most * 3 + 4 * PART_LEVELS; }

bool part_new(struct part *p, uint32_t most)
{
    uint32_t room = most < 2 ? 2 : most;
    *p = (struct part){ .most = room };
    uint32_t *at = reserve(words_of(room) * 4);
    if (!at)
        return false;
    for (uint32_t l = 0; l < PART_LEVELS; l++) {
        p->level[l] = at;
        at += (room >> l) + 3;
    }
    p->stamp = at;
    return true;
}

void part_free(struct part *p) { reserve_free(p->level[0], words_of(p->most) * 4); }

uint32_t part_height(uint32_t count)
{
    return count < 2 ? 0 : 32 - (uint32_t)__builtin_clz(count - 1);
}
