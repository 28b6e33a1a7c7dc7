/* SPDX-License-Identifier: Apache-2.0 */
/* From what the search has learnt to a proof in the words of the axioms.
 *
 * The search's circles run over nodes of the graph; a proof runs over events, and each edge names
 * the rule it follows from. Circles that the contradiction does not need are left out. */
#ifndef ORDEAL_PROVE_H
#define ORDEAL_PROVE_H

#include "verdict.h"
#include "weave.h"

/* The last knot of the log must be the empty clause. Fills proof->steps, edges and literals. */
enum ordeal_status prove(const struct graph *g, const struct weave_log *log, struct proof *proof);

/* The operations of the trace on which the contradiction rests, before any minimising: those of the
 * knots it needs. keep[op] is set for each. */
enum ordeal_status prove_operations(const struct graph *g, const struct weave_log *log, bool *keep);

#endif
