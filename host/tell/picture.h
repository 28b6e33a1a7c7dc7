/* SPDX-License-Identifier: Apache-2.0 */
/* A FAIL as a picture of the few operations that matter: a column a thread, time downwards. */
#ifndef HOST_PICTURE_H
#define HOST_PICTURE_H

#include <stdio.h>

#include "naming.h"
#include "proof.h"

/* In an SVG an operation is the element "op_N", of class load, store, atomic or membar, and what a proof
 * says of two events the element "edge_FROM_TO", of class given, found, supposed or circle. */
enum picture_format { PICTURE_DOT, PICTURE_SVG };

/* False: the picture could not be made (out of memory or a failed write). */
bool picture_write(const struct proof *p, struct naming *n, enum ordeal_model model,
                   const char *title, enum picture_format format, FILE *out);

#endif
