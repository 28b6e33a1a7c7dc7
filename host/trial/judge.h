/* SPDX-License-Identifier: Apache-2.0 */
/* Does an execution obey a model? Many executions of one test after another, on one thread.
 *
 * Most that pass are proved by a replay (ordeal_replay_*), which costs a fraction of a check; what
 * it cannot prove is checked. */
#ifndef HOST_JUDGE_H
#define HOST_JUDGE_H

#include "test/program.h"

struct judge;
/* NULL: out of memory. The limits are those of each check. */
struct judge *judge_new(enum ordeal_model model, const struct machine_claims *claims,
                        const struct ordeal_limits *limits);
void judge_free(struct judge *j);
/* The program of the executions to come; it must stay until another one begins. NULL: none. */
void judge_begin(struct judge *j, const struct program *p);
/* ORDEAL_OK and the result, or the reason in judge_error(); ORDEAL_BAD_INPUT: no execution of the
 * program has such values. */
enum ordeal_status judge_outcome(struct judge *j, uint64_t iteration, const uint64_t *values,
                                 enum ordeal_result *result);
const struct ordeal_error *judge_error(const struct judge *j);

#endif
