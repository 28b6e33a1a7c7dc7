/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of measurements: printed row by row as they come in, and kept for the JSON file.
 *
 * A row is a JSON object; what is printed is what is written. Its keys are the columns, and the
 * rows of a table have the same ones. */
#ifndef ORDEAL_BENCH_REPORT_H
#define ORDEAL_BENCH_REPORT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

struct report {
    cJSON *root, *tables;
    cJSON *rows;            /* of the table begun last */
    FILE *out;
    unsigned met, missed;   /* targets */
};

bool report_new(struct report *r, FILE *out);
void report_free(struct report *r);
bool report_write(const struct report *r, const char *path);

void report_table(struct report *r, const char *name, const char *title);

cJSON *row_new(void);
void row_number(cJSON *row, const char *column, double value);   /* NAN: nothing measured, "-" */
void row_text(cJSON *row, const char *column, const char *text);
/* What is asked of this row, in words, and whether it holds; `asked` NULL: nothing. */
void row_target(cJSON *row, const char *asked, bool met);
void row_end(struct report *r, cJSON *row);

#endif
