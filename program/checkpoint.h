/* SPDX-License-Identifier: Apache-2.0 */
/* A search on disk: its tables and how far it is, written whole to a new file which then takes the
 * place of the old one, so that there is a good one at any moment. It holds for one program and one
 * set of options; how many workers there are may change. */
#ifndef PROGRAM_CHECKPOINT_H
#define PROGRAM_CHECKPOINT_H

#include "exploration.h"

/* While no worker expands. False: it could not be written; `reason` says why. */
bool checkpoint_write(struct exploration *x, char *reason, size_t size);
/* ORDEAL_END: there is none yet. ORDEAL_OK: the search goes on where that one was. */
enum ordeal_status checkpoint_read(struct exploration *x, struct ordeal_error *error);

#endif
