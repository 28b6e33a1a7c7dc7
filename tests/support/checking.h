/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of whole checks: traces from lines of text, parts of them, verdicts, and memory in which
 * one allocation fails. What goes wrong where nothing should fails the test. */
#ifndef TESTS_CHECKING_H
#define TESTS_CHECKING_H

#include "bench/workload.h"

/* `lines`: those of a text trace without the first. */
struct ordeal_trace *trace_of_lines(struct ordeal *o, const char *lines);
struct ordeal_trace *trace_of_file(struct ordeal *o, const char *path);
struct ordeal_trace *trace_of_workload(struct ordeal *o, const struct workload *w);
/* The operations kept, in a trace of their own; it must say nothing of orders and final values. */
struct ordeal_trace *trace_part(struct ordeal *o, const struct ordeal_trace *t, const bool *keep);

struct ordeal_verdict *check_trace(struct ordeal *o, const struct ordeal_trace *t,
                                   const struct ordeal_options *options);
/* The result alone; limits are not expected, and UNDECIDED only of algorithms that may. */
enum ordeal_result result_of(struct ordeal *o, const struct ordeal_trace *t,
                             enum ordeal_model model, enum ordeal_algorithm algorithm);
uint64_t counter_of(const struct ordeal_verdict *v, const char *name);

/* Two loads or swaps of the workload now show values of other stores to their words. */
void spoil_workload(struct workload *w, unsigned loads, uint64_t *chance);
/* Stores of a word write one of `values` values from 1 on; what was legal stays legal. */
void coarsen_workload(struct workload *w, uint32_t values);

/* Allocation number `fail_at` fails, counted from 1; 0: none does. Sizes given back must be those taken. */
struct one_failure { size_t fail_at, calls, bytes; bool wrong_size; };
struct ordeal_memory one_failure_memory(struct one_failure *f);

#endif
