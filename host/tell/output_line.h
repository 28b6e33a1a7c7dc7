/* SPDX-License-Identifier: Apache-2.0 */
/* One line of output: fields in order, printed as "VERDICT file key=value ..." or as JSON. */
#ifndef HOST_OUTPUT_LINE_H
#define HOST_OUTPUT_LINE_H

#include <stdbool.h>
#include <stdio.h>

#include <cJSON.h>

#include "input.h"

/* A record starts with the verdict and the file ("file#2" for the second trace of one). NULL: out
 * of memory; every function below takes that in its stride, and record_print then says so. */
cJSON *record_new(const char *verdict, const struct input *in);
/* "ERROR file:line:column: reason" */
cJSON *record_error(const struct ordeal_error *e);
void record_counters(cJSON *record, const struct ordeal_verdict *v);
/* The core as an array of operations with their lines. */
void record_core(cJSON *record, const struct ordeal_trace *t, const struct ordeal_verdict *v);
/* Why it fails, in one sentence, and where to begin reading: reason= and at=. */
void record_reason(cJSON *record, const struct input *in, const struct ordeal_verdict *v);

/* False: out of memory; what the stream says of itself stays there. */
bool record_write(const cJSON *record, bool json, FILE *out);
/* Prints and frees. False: out of memory or standard output is broken. */
bool record_print(cJSON *record, bool json);

extern const char *const verdict_words[]; /* by enum ordeal_result */

#endif
