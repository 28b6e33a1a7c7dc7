/* SPDX-License-Identifier: Apache-2.0 */
#include "swarm.h"

#include <string.h>

/* Loads and stores are what all the rest is about, and swaps need words of 4 or 8 bytes. */
static bool can_go(int key)
{
    static const int shares[] = { BIAS_loops_share, BIAS_branches_share, BIAS_transactions_share,
                                  BIAS_placement_uncached, BIAS_placement_false_sharing,
                                  BIAS_sizes_1, BIAS_sizes_2, BIAS_sizes_64 };
    static const char *const sections[] = { "operations", "membar", "idioms" };
    if (key == BIAS_operations_load || key == BIAS_operations_store)
        return false;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (key == shares[i])
            return true;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(bias_keys[key].section, sections[i]) == 0)
            return true;
    return false;
}

/* Keys that came when files with `omit` were in use: they draw after all others, only where they
 * have weight, so that those files make the tests they made. The last one stands for none. */
static const int later[] = { BIAS_operations_amo, BIAS_operations_lrsc, BIAS_membar_tso,
                             BIAS_membar_sets, BIAS_KEY_COUNT };
enum { LATER = sizeof later / sizeof *later };

static bool came_later(int key)
{
    for (int i = 0; i < LATER; i++)
        if (later[i] == key)
            return true;
    return false;
}

void swarm_omit(struct bias *b, struct random *r)
{
    uint32_t chance = b->test_omit;
    for (int k = 0; k < BIAS_KEY_COUNT; k++)
        if (can_go(k) && !came_later(k) && random_below(r, 100) < chance)
            b->values[k] = 0;
    if (random_below(r, 100) < chance)
        b->test_locations = 1 + random_below(r, b->test_locations);
    if (random_below(r, 100) < chance)
        b->placement_words_per_line = 1 + random_below(r, b->placement_words_per_line);
    for (size_t i = 0; i < b->idioms.count; i++)
        if (random_below(r, 100) < chance)
            b->idioms.data[i].weight = 0;
    for (int i = 0; i < LATER - 1; i++)
        if (b->values[later[i]] && random_below(r, 100) < chance)
            b->values[later[i]] = 0;
    b->test_omit = 0;
}
