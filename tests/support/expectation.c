/* SPDX-License-Identifier: Apache-2.0 */
#include "expectation.h"

#include <stdio.h>
#include <string.h>

static int model_named(const char *word)
{
    for (int m = 0; m < EXPLORE_MODELS; m++)
        if (strcmp(word, explore_model_names[m]) == 0)
            return m;
    return -1;
}

/* "tso pso FAIL exclusion" */
static bool read_clause(char *text, struct expectation *e)
{
    struct expected x = { .told = true, .errors = " " };
    unsigned models = 0;
    bool verdict = false;
    for (char *word; (word = strsep(&text, " "));) {
        int m = model_named(word);
        if (*word == '\0')
            continue;
        if (!verdict && m >= 0) {
            models |= 1u << m;
        } else if (!verdict && (strcmp(word, "PASS") == 0 || strcmp(word, "FAIL") == 0)) {
            verdict = true;
            x.pass = *word == 'P';
        } else if (!verdict || x.pass || strlen(x.errors) + strlen(word) + 2 > sizeof x.errors) {
            return false;
        } else {
            strcat(strcat(x.errors, word), " ");
        }
    }
    for (unsigned m = 0; m < EXPLORE_MODELS; m++)
        if (models >> m & 1)
            e->model[m] = x;
    return verdict && models;
}

static void read_defines(char *text, struct expectation *e)
{
    for (char *word; e->defines < EXPECTED_DEFINES && (word = strsep(&text, " "));)
        if (*word)
            e->define[e->defines++] = word;
}

/* What is between "expect" and the end of the line. */
static bool read_line(const char *text, struct expectation *e)
{
    char clauses[EXPECTED_LENGTH], *rest = clauses;
    const char *colon = strchr(text, ':');
    memset(e, 0, sizeof *e);
    if (!colon || strlen(text) >= EXPECTED_LENGTH)
        return false;
    snprintf(e->text, sizeof e->text, "%.*s", (int)strcspn(text, "*"), text); /* not its end */
    snprintf(e->defines_text, sizeof e->defines_text, "%.*s", (int)(colon - text), text);
    snprintf(clauses, sizeof clauses, "%s", e->text + (colon + 1 - text));
    read_defines(e->defines_text, e);
    for (char *clause; (clause = strsep(&rest, ";"));)
        if (!read_clause(clause, e))
            return false;
    return true;
}

const char *expectations_read(const char *path, struct expectations *e)
{
    char line[512];
    bool good = true;
    FILE *f = fopen(path, "r");
    e->lines = 0;
    if (!f)
        return "cannot be read";
    while (good && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, " * expect", 9) == 0 || strncmp(line, "// expect", 9) == 0)
            good = e->lines < EXPECTED_LINES && read_line(line + 9, &e->line[e->lines++]);
    }
    fclose(f);
    return !good ? "has an expectation that is none" : e->lines ? NULL : "expects nothing";
}

bool expected_error(const struct expected *e, const char *error)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", error);
    return strstr(e->errors, word) != NULL;
}
