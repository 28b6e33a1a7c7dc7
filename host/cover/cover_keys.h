/* SPDX-License-Identifier: Apache-2.0 */
/* What makes points more likely: keys of a bias, and options of `ordeal run`. */
#ifndef HOST_COVER_KEYS_H
#define HOST_COVER_KEYS_H

#include "cover_can.h"

/* For points of the group with the word of this number on the axis: advice, a comma between two, each
 * of them "more KEY", "fewer KEY", "KEY=VALUE", or an option that begins with "--"; "": there is
 * nothing to turn for this word. */
const char *cover_keys(const struct cover_group *g, int axis, int word);
/* An option that makes points possible which the machines as they were run cannot reach; NULL: none.
 * `any`: they can reach some with this word. */
const char *cover_elsewhere(const struct cover_group *g, int axis, int word,
                            const struct cover_can *can, bool any);

#endif
