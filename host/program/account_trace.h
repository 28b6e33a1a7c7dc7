/* SPDX-License-Identifier: Apache-2.0 */
/* An execution of a program as an ordeal trace, which the certified checker judges: the accesses to
 * memory that several threads touch, fences as MEMBARs, calls as what they order. */
#ifndef HOST_PROGRAM_ACCOUNT_TRACE_H
#define HOST_PROGRAM_ACCOUNT_TRACE_H

#include "account.h"
#include "ordeal.h"

struct account_trace {
    struct ordeal *o;
    struct ordeal_trace *trace;
    LIST(uint32_t) event; /* of each operation; ACCOUNT_NONE: of none */
};

enum ordeal_model account_trace_model(enum explore_model m);

/* False: out of memory; account_trace_free either way. */
bool account_trace_make(struct account_trace *t, const struct account *a);
void account_trace_free(struct account_trace *t);

/* What the checker says of it: under the model it must PASS, anything else is in `why` and a defect
 * of ours, unless it was `undecided` within its limits. Under SC it passes or fails, which becomes
 * a->relaxed and a->core; where that stays undecided, `why` has the reason. */
enum account_judgement { ACCOUNT_CONFIRMED, ACCOUNT_REFUSED, ACCOUNT_NO_VERDICT };
enum account_judgement account_trace_judge(const struct account_trace *t, struct account *a,
                                           double seconds, struct ordeal_error *why);

#endif
