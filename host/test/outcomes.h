/* SPDX-License-Identifier: Apache-2.0 */
/* Which outcomes of a test were seen before.
 *
 * An outcome is what tells executions apart: the values, the order of stores if the machine shows
 * it, and where there are branches, the way that was taken. It is looked up by a 64-bit hash
 * and then compared in full, so that no execution is ever taken for another one: what is not
 * checked again is equal to what was. Memory is bounded: when it is used up everything is
 * forgotten, and the worst is that something is checked twice. */
#ifndef HOST_OUTCOMES_H
#define HOST_OUTCOMES_H

#include "program.h"

struct outcomes;
/* NULL: out of memory. What the machine claims says which words of an outcome tell it apart. */
struct outcomes *outcomes_new(size_t most_bytes, const struct machine_claims *claims);
void outcomes_free(struct outcomes *s);
/* Forget all; what comes is of this program, which must stay. */
void outcomes_begin(struct outcomes *s, const struct program *p);
/* True: it is new, as far as is remembered. */
bool outcomes_add(struct outcomes *s, uint64_t iteration, const uint64_t *values);

#endif
