/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that each go without some of what their bias has (`test.omit`): what one kind of operation
 * hides from another then shows in some of them (Groce et al., "Swarm testing", ISSTA 2012). */
#ifndef HOST_SWARM_H
#define HOST_SWARM_H

#include "bias.h"

/* As generator_make() of a generator of the bias and the seed, but for what test `number` omits. */
enum ordeal_status swarm_make(const struct bias *b, uint64_t seed, uint64_t number,
                              struct ordeal *o, struct ordeal_trace **test);

#endif
