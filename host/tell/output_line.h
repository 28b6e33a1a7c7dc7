/* SPDX-License-Identifier: Apache-2.0 */
/* One line of output: fields in order, printed as "VERDICT file key=value ..." or as JSON. */
#ifndef HOST_OUTPUT_LINE_H
#define HOST_OUTPUT_LINE_H

#include <stdbool.h>
#include <stdio.h>

#include <cJSON.h>

#include "failure_signature.h"
#include "input.h"

/* A line starts with the verdict and the file ("file#2" for the second trace of one). NULL: out
 * of memory; every function below takes that in its stride, and output_line_print then says so. */
cJSON *output_line_new(const char *verdict, const struct input *in);
/* "ERROR file:line:column: reason" */
cJSON *output_line_error(const struct ordeal_error *e);
/* The machine it ran on, where there are several kinds; NULL: nothing is said. */
void output_line_machine(cJSON *line, const char *machine);
/* The profile of the bias that the test was made from; NULL: nothing is said. */
void output_line_profile(cJSON *line, const char *profile);
/* The file that a test was read from, and its number there; NULL: none. */
void output_line_from(cJSON *line, const char *file);
void output_line_counters(cJSON *line, const struct ordeal_verdict *v);
/* The core as an array of operations with their lines. */
void output_line_core(cJSON *line, const struct ordeal_trace *t, const struct ordeal_verdict *v);
/* Why it fails, in one sentence, and where to begin reading: reason= and at=. */
void output_line_reason(cJSON *line, const struct input *in, const struct ordeal_verdict *v);
/* What it has in common with other failures of its cause: signature= and shape=. Without a text it
 * is not known, after ^C or for want of memory, which output_line_print() tells. */
void output_line_signature(cJSON *line, const struct failure_signature *s);
void output_line_signature_of(cJSON *line, const struct ordeal_trace *t,
                              const struct ordeal_verdict *v);
void output_line_signature_of_break(cJSON *line, const char *broke);

/* False: out of memory; errors of the file stay in the file. */
bool output_line_write(const cJSON *line, bool json, FILE *out);
/* Prints and frees. False: out of memory or standard output is broken. */
bool output_line_print(cJSON *line, bool json);

extern const char *const verdict_words[]; /* by enum ordeal_result */

#endif
