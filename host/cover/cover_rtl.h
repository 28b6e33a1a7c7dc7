/* SPDX-License-Identifier: Apache-2.0 */
/* Points of RTL: from the files in which Verilator keeps them, and to LCOV's, which viewers read.
 *
 * A point is called rtl.KIND.FILE:LINE:COLUMN.OBJECT; the kind is line, branch, toggle or user, as
 * Verilator says, and instances of a module count as one. FILE is relative to the folder that all
 * files of the model are in, so points of two checkouts are the same; the set keeps the folder. */
#ifndef HOST_COVER_RTL_H
#define HOST_COVER_RTL_H

#include "cover.h"

/* Adds what a file of Verilator's ("SystemC::Coverage-3") holds; `test`: the first of the run.
 * False: `e`, and the set may have some of it. */
bool cover_rtl_read(struct cover *c, FILE *stream, const char *name,
                    const struct cover_origin *test, struct ordeal_error *e);
/* Lines and, as branches of them, branches and toggles. 0 or an errno. */
int cover_rtl_lcov(struct cover *c, FILE *out);

#endif
