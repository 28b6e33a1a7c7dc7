/* SPDX-License-Identifier: Apache-2.0 */
/* Can a machine run the tests of a bias? A profile that it cannot run would else end a run in the
 * middle, when the first test of it is drawn.
 *
 * Of each profile some dozens of tests are made and held against what the machine can do, and some that
 * are as large as its values let them be. What is so rare that none of these has it is not found. */
#ifndef HOST_BIAS_FITS_H
#define HOST_BIAS_FITS_H

#include "targets/target.h"
#include "test/bias.h"

/* False: `e` has the line, the profile, what the machine lacks and what may be done. The bias must have
 * passed bias_check(). */
bool bias_fits(const struct bias *b, const struct target *target, const struct abilities *can,
               uint64_t seed, struct ordeal_error *e);

#endif
