/* SPDX-License-Identifier: Apache-2.0 */
#include "swarm.h"

#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "base/random.h"

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

/* What is left of it; the idioms, whose weights are changed, are `idioms`. */
static void omit(struct bias *b, struct bias_idiom *idioms, struct random *r)
{
    uint32_t chance = b->test_omit;
    for (int k = 0; k < BIAS_KEY_COUNT; k++)
        if (can_go(k) && random_below(r, 100) < chance)
            b->values[k] = 0;
    if (random_below(r, 100) < chance)
        b->test_locations = 1 + random_below(r, b->test_locations);
    if (random_below(r, 100) < chance)
        b->placement_words_per_line = 1 + random_below(r, b->placement_words_per_line);
    for (size_t i = 0; i < b->idioms.count; i++) {
        idioms[i] = b->idioms.data[i];
        if (random_below(r, 100) < chance)
            idioms[i].weight = 0;
    }
    b->idioms.data = idioms;
    b->test_omit = 0;
}

enum ordeal_status swarm_make(const struct bias *b, uint64_t seed, uint64_t number,
                              struct ordeal *o, struct ordeal_trace **test)
{
    enum ordeal_status status = ORDEAL_NO_MEMORY;
    struct bias_idiom *idioms = calloc(b->idioms.count + 1, sizeof *idioms);
    struct bias part = *b;
    struct random r;
    struct ordeal_error e;
    *test = NULL;
    if (!idioms)
        return status;
    random_seed(&r, ~seed, number);
    omit(&part, idioms, &r);
    if (!bias_check(&part, &e)) {        /* it needs what was left out */
        part = *b;
        part.test_omit = 0;
    }
    struct generator *g = generator_new(&part, seed);
    if (g)
        status = generator_make(g, number, o, test);
    generator_free(g);
    free(idioms);
    return status;
}
