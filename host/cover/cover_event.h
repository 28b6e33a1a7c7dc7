/* SPDX-License-Identifier: Apache-2.0 */
/* Points of the events that a machine counted while it ran a test: EVENT of rtl/soc.def. */
#ifndef HOST_COVER_EVENT_H
#define HOST_COVER_EVENT_H

#include "cover.h"

/* By the number of the event: how many there were in all, and the most that a hart counted in one
 * iteration. Both have COVER_AXIS_EVENT entries. */
void cover_event_look(const uint64_t *sum, const uint32_t *most, struct cover_hits *hits);

#endif
