/* SPDX-License-Identifier: Apache-2.0 */
/* Tests from a bias: the same seed, number and bias give the same test on every machine. */
#ifndef HOST_GENERATE_H
#define HOST_GENERATE_H

#include "bias.h"

struct generator;
/* The bias must have passed bias_check(), and stay. NULL: out of memory. */
struct generator *generator_new(const struct bias *b, uint64_t seed);
void generator_free(struct generator *g);
/* Test `number` (0, 1, …), in any order, in the caller's context. */
enum ordeal_status generator_make(struct generator *g, uint64_t number, struct ordeal *o,
                                  struct ordeal_trace **test);
/* The profile of the bias that the test comes from; UINT32_MAX: the bias has none. */
uint32_t generator_profile(const struct generator *g, uint64_t number);

#endif
