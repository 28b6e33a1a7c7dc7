/* SPDX-License-Identifier: Apache-2.0 */
/* The short story of an explanation: which order the operations force, and where it breaks. */
#ifndef HOST_STORY_H
#define HOST_STORY_H

#include "explain.h"

/* Fills in out->story. False: out of memory. */
bool story_tell(struct explanation *out, struct naming *n);

#endif
