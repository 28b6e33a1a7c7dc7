/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same on every machine: xoshiro256**, seeded by splitmix64.
 * Everything that draws takes a `struct random`; nobody shares one between two purposes. */
#ifndef HOST_RANDOM_H
#define HOST_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random { uint64_t s[4]; };

static inline uint64_t random_mix(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* `sequence` makes independent sequences of one seed: the number of the test, of the iteration. */
static inline void random_seed(struct random *r, uint64_t seed, uint64_t sequence)
{
    uint64_t state = seed, other = sequence ^ UINT64_C(0x6A09E667F3BCC909);
    state = random_mix(&state) ^ random_mix(&other);
    for (int i = 0; i < 4; i++)
        r->s[i] = random_mix(&state);
}

static inline uint64_t random_next(struct random *r)
{
    uint64_t *s = r->s, x = s[1] * 5, result = (x << 7 | x >> 57) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

/* Below `bound`, which is at least 1; the bias of the product is below bound / 2^32. */
static inline uint32_t random_below(struct random *r, uint32_t bound)
{
    return (uint32_t)((random_next(r) >> 32) * bound >> 32);
}

static inline bool random_chance(struct random *r, uint32_t percent)
{
    return random_below(r, 100) < percent;
}

#endif
