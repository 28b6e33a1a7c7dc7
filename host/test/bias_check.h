/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOST_BIAS_CHECK_H
#define HOST_BIAS_CHECK_H

#include "draw.h"

/* Can tests be made of these values, as they are? The idioms are those in use. `profile` is for the
 * message; without `e` there is none. */
bool bias_goes_together(const struct bias *b, const struct idiom_list *idioms,
                        const struct bias_profile *profile, struct ordeal_error *e);
/* Can tests of a profile be made, with all extremes of its values? */
bool bias_check_profile(struct draw *d, uint32_t profile, struct ordeal_error *e);

#endif
