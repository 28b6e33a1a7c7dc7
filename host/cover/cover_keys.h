/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys of a bias make points more likely. */
#ifndef HOST_COVER_KEYS_H
#define HOST_COVER_KEYS_H

#include "cover_points.h"

/* Keys for points of the group with this word in their names, a blank between two; NULL: none is
 * known to help. */
const char *cover_keys(const struct cover_group *g, const char *word);

#endif
