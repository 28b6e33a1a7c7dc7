/* SPDX-License-Identifier: Apache-2.0 */
/* From a refuted execution to its core: operations that violate the model by themselves, none of
 * which can be dropped (the thesis's wish, 7.2).
 *
 * A part of an execution is refuted for the whole as long as no load in it has lost a store that
 * it may have seen: leaving operations out of a legal order leaves a legal order. Barriers only
 * ever forbid, so they may go too. */
#ifndef ORDEAL_CORE_H
#define ORDEAL_CORE_H

#include "decide.h"

/* keep[op], for the trace's operations: in, nothing; out, the core. `minimise` asks for the
 * smallest that dropping one at a time can give; *minimal: whether that was reached within the
 * limits. */
enum ordeal_status core_find(const struct graph *g, const struct decision *d, bool minimise,
                             bool *keep, bool *minimal);

#endif
