/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_event.h"

enum { MANY = 8 };

enum {
#define EVENT(number, name, text) EVENT_##name = number,
#include "soc.def"
#undef EVENT
};

static uint32_t power_of(uint32_t n)
{
    uint32_t power = 31 - (uint32_t)__builtin_clz(n);
    return power < COVER_AXIS_POWER ? power : COVER_AXIS_POWER - 1;
}

static void look_at_pairs(const uint32_t *most, uint32_t a, struct cover_hits *hits)
{
    for (uint32_t b = a + 1; b < COVER_AXIS_EVENT; b++)
        if (most[b])
            cover_hit(hits,
                      cover_point(COVER_GROUP_PAIR, a, b, most[a] >= MANY, most[b] >= MANY, 0));
}

static void look_at_losses(const uint64_t *sum, struct cover_hits *hits)
{
    static const uint8_t losses[COVER_AXIS_LOSS] = { EVENT_TX_ABORTED, EVENT_TX_CONFLICTS,
                                                     EVENT_TX_CAPACITIES };
    for (uint32_t i = 0; sum[EVENT_TX_COMMITTED] && i < COVER_AXIS_LOSS; i++)
        cover_hit(hits, cover_point(COVER_GROUP_LOSS, i,
                                    cover_rate(sum[losses[i]], sum[EVENT_TX_COMMITTED]), 0, 0, 0));
}

void cover_event_look(const uint64_t *sum, const uint32_t *most, struct cover_hits *hits)
{
    for (uint32_t e = 0; e < COVER_AXIS_EVENT; e++) {
        if (!most[e])
            continue;
        cover_hit(hits, cover_point(COVER_GROUP_EVENT, e, power_of(most[e]), 0, 0, 0));
        look_at_pairs(most, e, hits);
    }
    look_at_losses(sum, hits);
}
