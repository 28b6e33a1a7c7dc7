/* SPDX-License-Identifier: Apache-2.0 */
/* Points of an execution itself, which any target can give: who read from whom, which accesses met
 * on a word, which critical cycles were there or nearly, how the threads were interleaved.
 *
 * They come from the trace alone. A read saw the store of its value, where there is one such; of the
 * order of the stores to a word what no coherent machine can have done otherwise is used, nothing
 * else (exec_order.c). So a cycle that is closed was closed on the machine. Points are a measure of
 * tests, not a judgement: no verdict rests on them. docs/coverage.md says more. */
#ifndef HOST_COVER_EXEC_H
#define HOST_COVER_EXEC_H

#include "cover.h"

/* Its memory is used again from one execution to the next; one thread uses it at a time. */
struct cover_exec;
struct cover_exec *cover_exec_new(void); /* NULL: out of memory */
void cover_exec_free(struct cover_exec *x);
/* Adds the points of a straight trace, without loops and branches, and without transactions in one
 * another (of those the inner end is the end of both); false: out of memory, and some
 * of them may be missing. */
bool cover_exec_look(struct cover_exec *x, const struct ordeal_trace *t, struct cover_hits *hits);

#endif
