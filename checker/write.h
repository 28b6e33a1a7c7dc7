/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the writers: what they share. */
#ifndef ORDEAL_WRITE_H
#define ORDEAL_WRITE_H

#include "trace.h"

/* ORDEAL_IO when anything written to the stream so far was lost. */
enum ordeal_status written(struct ordeal *o, FILE *stream);

#endif
