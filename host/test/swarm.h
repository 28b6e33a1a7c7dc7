/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that each go without some of what their bias has (`test.omit`): what one kind of operation
 * hides from another then shows in some of them (Groce et al., "Swarm testing", ISSTA 2012). */
#ifndef HOST_SWARM_H
#define HOST_SWARM_H

#include "bias.h"
#include "base/random.h"

/* Leaves some of it out, also weights of its idioms; what is left may not go together. */
void swarm_omit(struct bias *b, struct random *r);

#endif
