/* SPDX-License-Identifier: Apache-2.0 */
/* The bias of those who give none: tests of many kinds, as profiles, for a machine of these
 * abilities. What it has is in; what it lacks is left out.
 *
 * The text is host/test/default.bias, as it was when ordeal was built. */
#ifndef HOST_DEFAULT_BIAS_H
#define HOST_DEFAULT_BIAS_H

#include "bias.h"
#include "program.h"

/* Reads it into a fresh bias and limits it; --set may follow. False: `e`. */
bool default_bias_read(struct bias *b, const struct abilities *can, struct ordeal_error *e);
/* Drops profiles that do not go together with what was set, or are beyond the machine's memory.
 * False: none is left, `e` says why not. The bias then passes bias_check(). */
bool default_bias_settle(struct bias *b, const struct abilities *can, struct ordeal_error *e);

#endif
