/* SPDX-License-Identifier: Apache-2.0 */
/* Tables on the screen and in a JSON file; see report.h. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_WIDTH = 8, TEXT_WIDTH = 10 };

bool report_new(struct report *r, FILE *out)
{
    *r = (struct report){ .root = cJSON_CreateObject(), .out = out };
    r->tables = cJSON_AddArrayToObject(r->root, "tables");
    return r->tables != NULL;
}

void report_free(struct report *r)
{
    cJSON_Delete(r->root);
}

bool report_write(const struct report *r, const char *path)
{
    char *text = cJSON_Print(r->root);
    FILE *f = text ? fopen(path, "w") : NULL;
    bool good = f && fputs(text, f) >= 0 && fputc('\n', f) >= 0;
    if (f && fclose(f) != 0)
        good = false;
    free(text);
    return good;
}

void report_table(struct report *r, const char *name, const char *title)
{
    cJSON *table = cJSON_CreateObject();
    cJSON_AddStringToObject(table, "name", name);
    cJSON_AddStringToObject(table, "title", title);
    r->rows = cJSON_AddArrayToObject(table, "rows");
    cJSON_AddItemToArray(r->tables, table);
    fprintf(r->out, "\n%s: %s\n", name, title);
}

cJSON *row_new(void)
{
    return cJSON_CreateObject();
}

void row_number(cJSON *row, const char *column, double value)
{
    if (isnan(value))
        cJSON_AddNullToObject(row, column);
    else
        cJSON_AddNumberToObject(row, column, value);
}

void row_text(cJSON *row, const char *column, const char *text)
{
    cJSON_AddStringToObject(row, column, text);
}

void row_target(cJSON *row, const char *asked, bool met)
{
    if (asked) {
        cJSON_AddStringToObject(row, "target", asked);
        cJSON_AddBoolToObject(row, "met", met);
    } else {
        cJSON_AddNullToObject(row, "target");
        cJSON_AddNullToObject(row, "met");
    }
}

/* Three digits are what a measurement is worth; counts are exact. */
static void format_number(double x, char *buffer, size_t size)
{
    if (x == floor(x) || fabs(x) >= 100)
        snprintf(buffer, size, "%.0f", x);
    else
        snprintf(buffer, size, "%.*f", fabs(x) >= 10 ? 1 : fabs(x) >= 1 ? 2 : 4, x);
}

static void print_cell(FILE *out, const cJSON *cell, int width)
{
    char number[40];
    if (cJSON_IsNumber(cell)) {
        format_number(cell->valuedouble, number, sizeof number);
        fprintf(out, " %*s", width, number);
    } else if (cJSON_IsString(cell)) {
        fprintf(out, " %-*s", width, cell->valuestring);
    } else {
        fprintf(out, " %*s", width, cJSON_IsBool(cell) ? cJSON_IsTrue(cell) ? "yes" : "NO" : "-");
    }
}

/* Columns are as wide as the first row of the table needs. */
static int column_width(const cJSON *cell)
{
    int head = (int)strlen(cell->string);
    int least = cJSON_IsString(cell) ? TEXT_WIDTH : cJSON_IsNumber(cell) ? NUMBER_WIDTH : 4;
    int body = cJSON_IsString(cell) ? (int)strlen(cell->valuestring) : 0;
    int width = head > least ? head : least;
    return body > width ? body : width;
}

void row_end(struct report *r, cJSON *row)
{
    const cJSON *met = cJSON_GetObjectItem(row, "met");
    r->met += cJSON_IsTrue(met);
    r->missed += cJSON_IsFalse(met);

    cJSON_AddItemToArray(r->rows, row);
    const cJSON *first = r->rows->child, *cell;
    if (row == first) {
        cJSON_ArrayForEach(cell, first)
            fprintf(r->out, cJSON_IsString(cell) ? " %-*s" : " %*s", column_width(cell),
                    cell->string);
        fputc('\n', r->out);
    }
    const cJSON *column = first->child;
    cJSON_ArrayForEach(cell, row) {
        print_cell(r->out, cell, column ? column_width(column) : NUMBER_WIDTH);
        column = column ? column->next : NULL;
    }
    fputc('\n', r->out);
    fflush(r->out);
}
