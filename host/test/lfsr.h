/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic random bits of a thread: a 32-bit Galois LFSR, cheap in generated code.
 *
 * Branches of a test follow it. It starts from the test's seed, the thread's number and the number
 * of the iteration, and nothing else steps it; so what a thread did can be told afterwards without
 * having been recorded. A transaction that is tried again starts with the state it had. */
#ifndef HOST_LFSR_H
#define HOST_LFSR_H

#include <stdint.h>

#define LFSR_TAPS UINT32_C(0xA3000000) /* x^32 + x^30 + x^26 + x^25 + 1 */

static inline uint32_t lfsr_start(uint64_t seed, uint32_t thread_number, uint64_t iteration)
{
    uint64_t z = seed + UINT64_C(0x9E3779B97F4A7C15) * (iteration + 1)
                 + UINT64_C(0xD1B54A32D192ED03) * ((uint64_t)thread_number + 1);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    uint32_t state = (uint32_t)(z ^ z >> 31);
    return state ? state : 1;
}

/* The bit that decides a branch: 1 takes the lines up to BRANCH.ELSE, 0 those after it. */
static inline uint32_t lfsr_step(uint32_t *state)
{
    uint32_t bit = *state & 1;
    *state = *state >> 1 ^ (bit ? LFSR_TAPS : 0);
    return bit;
}

#endif
