/* SPDX-License-Identifier: Apache-2.0 */
/* What a litmus test can do, in the words of herd7, in one line, as JSON. */
#ifndef LITMUS_TELL_H
#define LITMUS_TELL_H

#include <stdio.h>

#include <cJSON.h>

#include "litmus/litmus_run.h"

/* Does what the test says of its final states hold: "Ok", or "No"? */
bool litmus_holds(const struct litmus *test, const struct litmus_result *result);
/* "Always", "Sometimes", "Never": of the condition without its quantifier. */
const char *litmus_observation(const struct litmus_result *result);

void litmus_tell(const struct litmus *test, const struct litmus_result *result, FILE *out);
/* Fields of a line that begins with the verdict and the file. */
void litmus_line(cJSON *line, const struct litmus *test, const struct litmus_result *result,
                 enum ordeal_model model, bool states);

#endif
