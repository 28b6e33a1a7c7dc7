/* SPDX-License-Identifier: Apache-2.0 */
/* An explanation for programs: docs/commands.md has its fields. */
#ifndef HOST_EXPLAIN_JSON_H
#define HOST_EXPLAIN_JSON_H

#include <cJSON.h>

#include "explain.h"

/* Adds operations, edges, steps and the story to the line; memory that is out is told by
 * output_line_print(). */
void explain_json(cJSON *line, const struct explanation *e, struct naming *n,
                  enum ordeal_model model);

#endif
