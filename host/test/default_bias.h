/* SPDX-License-Identifier: Apache-2.0 */
/* The bias of those who give none: tests of many kinds, as profiles, for a machine of these
 * abilities. What it has is in; what it lacks is left out.
 *
 * The text is host/test/default.bias, as it was when ordeal was built. */
#ifndef HOST_DEFAULT_BIAS_H
#define HOST_DEFAULT_BIAS_H

#include "base/why.h"
#include "bias.h"
#include "program.h"

/* Reads it as it is for a machine that can do all. False: `e`. */
bool default_bias_read_whole(struct bias *b, struct ordeal_error *e);
/* Reads it into a fresh bias and limits it; --set may follow. False: `e`. */
bool default_bias_read(struct bias *b, const struct abilities *can, struct ordeal_error *e);
/* Can the machine do what a key is about, whatever the others are? */
bool default_bias_can(const struct abilities *can, uint32_t key);
/* Can the machine do what --set gave? Of any bias. False: `e` names the key. */
bool bias_set_fits(const struct bias *b, const struct abilities *can, struct ordeal_error *e);
/* Where a profile (NULL: the bias, which has none) asks for what the machine lacks; NULL: it is not one
 * key that does. */
const struct bias_origin *bias_beyond(const struct bias *b, const struct bias_profile *p,
                                      const struct abilities *can);
/* Drops profiles that are about what the machine lacks, and those that do not go
 * together with what was set, or are beyond the machine's memory: `left_out` names these and why the
 * first of them, and is "" if there are none. False: none is left, or what --set asks for is beyond
 * the machine; `e`. The bias then passes bias_check(). */
bool default_bias_settle(struct bias *b, const struct abilities *can, struct why *left_out,
                         struct ordeal_error *e);

#endif
