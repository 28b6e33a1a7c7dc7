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

/* How many tests of a bias from number `first` on a machine runs, up to the first that it does not,
 * or `count`. They are made and compiled. */
uint64_t setting_count_fitting(const struct bias *b, const struct abilities *can, uint64_t seed,
                               uint64_t first, uint64_t count);
/* Whether that is all of them, with this setting alone. */
bool setting_fits(const struct bias *base, const struct bias_profile *s,
                  const struct abilities *can, uint64_t seed, uint64_t first, uint64_t count);
/* Memory operations of a test of the bias, on average over the first so many. 0: out of memory. */
double setting_operations(const struct bias *b, uint64_t seed, uint64_t count);

#endif
