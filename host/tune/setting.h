/* SPDX-License-Identifier: Apache-2.0 */
/* A way to make tests: a profile of its own on top of the bias that is tuned. */
#ifndef HOST_SETTING_H
#define HOST_SETTING_H

#include "test/bias.h"
#include "test/program.h"

/* False: out of memory, and `to` is empty. */
bool setting_copy(struct bias_profile *to, const struct bias_profile *from, const char *name);
void setting_free(struct bias_profile *s);

/* The bias with this profile alone; it owns nothing, and lives as long as both. */
struct bias setting_bias(const struct bias *base, const struct bias_profile *s);

const struct bias_vary *setting_find(const struct bias_profile *s, uint32_t slot);
/* What tests of the setting have at a slot: what it says, or the bias says, or 0 where it takes that
 * away. `kept` comes from bias_kept(). */
struct bias_vary setting_at(const struct bias *base, const struct bias_profile *s, const bool *kept,
                            uint32_t slot);
bool setting_put(struct bias_profile *s, const struct bias_vary *v); /* false: out of memory */

/* "4", "0 | 10", "2..8"; as snprintf. */
int setting_text(const struct bias_vary *v, char *text, size_t size);

/* Whether a machine runs all of its tests from number `first` on. They are made and compiled. */
bool setting_fits(const struct bias *base, const struct bias_profile *s,
                  const struct abilities *can, uint64_t seed, uint64_t first, uint64_t count);

#endif
