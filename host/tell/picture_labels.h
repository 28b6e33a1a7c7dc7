/* SPDX-License-Identifier: Apache-2.0 */
/* Where the labels of edges stand in a picture that Graphviz has laid out: beside their edges, off
 * nodes, names of boxes and each other, and off other edges where there is room. Graphviz puts them as
 * close as the sizes go that it takes for them, and viewers have wider letters. */
#ifndef HOST_PICTURE_LABELS_H
#define HOST_PICTURE_LABELS_H

#include <stdbool.h>

#include <gvc.h>

bool picture_labels_place(Agraph_t *graph); /* false: out of memory */

#endif
