/* SPDX-License-Identifier: Apache-2.0 */
#include "relax_labels.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A line of a source, while labels are found. */
struct seen_line {
    const char *file; /* of the image */
    uint32_t line, number;
};

struct finding_labels {
    struct statement_labels *to;
    struct lines lines;
    const char *first;
    LIST(struct seen_line) seen;
    bool any_named;
};

/* ---- what a line says -------------------------------------------------------------------- */

static bool of_label(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* "12" of "x = 1; // @12"; false: it says none. */
static bool says_label(const char *text, char *name, size_t size)
{
    for (const char *at = text; (at = strchr(at, '/')); at++) {
        if (at[1] != '/' && at[1] != '*')
            continue;
        const char *p = at + 2 + strspn(at + 2, " \t");
        size_t n = 0;
        while (*p == '@' && of_label(p[1 + n]))
            n++;
        if (!n || n >= size)
            continue;
        memcpy(name, p + 1, n);
        name[n] = '\0';
        return true;
    }
    return false;
}

static bool is_first(const struct finding_labels *f, const char *file)
{
    return strcmp(lines_short_name(file), lines_short_name(f->first)) == 0;
}

static void name_line(struct finding_labels *f, const struct seen_line *s, char name[128])
{
    const struct source_place place = { .file = s->file, .line = s->line };
    if (says_label(lines_text(&f->lines, &place), name, 64))
        return;
    if (is_first(f, s->file) && !f->any_named)
        snprintf(name, 128, "%" PRIu32, s->line);
    else
        snprintf(name, 128, "%.100s:%" PRIu32, lines_short_name(s->file), s->line);
}

/* ---- all lines --------------------------------------------------------------------------- */

static uint32_t *line_of(struct finding_labels *f, const struct source_place *at)
{
    for (size_t i = f->seen.count; i-- > 0;)
        if (f->seen.data[i].line == at->line && strcmp(f->seen.data[i].file, at->file) == 0)
            return &f->seen.data[i].number;
    struct seen_line s = { at->file, at->line, 0 };
    return LIST_PUSH(&f->seen, s) ? &f->seen.data[f->seen.count - 1].number : NULL;
}

/* Each instruction's line, by its number in `seen` from 1. */
static bool find_lines(struct finding_labels *f)
{
    struct statement_labels *l = f->to;
    for (uint32_t k = 0; k < l->of.count; k++) {
        struct source_place at;
        uint32_t pc = l->of.base + 4 * k;
        if (!image_instruction(f->lines.image, pc) || !lines_own(&f->lines, pc, &at))
            continue;
        uint32_t *number = line_of(f, &at);
        if (!number)
            return false;
        l->number[k] = (uint32_t)((const char *)number - (const char *)f->seen.data)
                         / (uint32_t)sizeof *f->seen.data
                     + 1;
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct statement_label *x = a, *y = b;
    return strverscmp(x->name, y->name);
}

uint32_t statement_label_named(const struct statement_labels *l, const char *name)
{
    for (uint32_t i = 0; i < l->label.count; i++)
        if (strcmp(l->label.data[i].name, name) == 0)
            return i + 1;
    return 0;
}

static bool add_label(struct finding_labels *f, const struct seen_line *s)
{
    char name[128];
    name_line(f, s, name);
    if (statement_label_named(f->to, name))
        return true;
    struct statement_label label = { strdup(name), strdup(s->file), s->line };
    if (label.name && label.file && LIST_PUSH(&f->to->label, label))
        return true;
    free(label.name);
    free(label.file);
    return false;
}

/* Names to all lines, sorted; then numbers to instructions. */
static bool number_labels(struct finding_labels *f)
{
    struct statement_labels *l = f->to;
    char name[128];
    for (size_t i = 0; i < f->seen.count; i++) {
        const struct source_place place = { .file = f->seen.data[i].file,
                                            .line = f->seen.data[i].line };
        f->any_named |= says_label(lines_text(&f->lines, &place), name, sizeof name);
    }
    for (size_t i = 0; i < f->seen.count; i++)
        if (!add_label(f, &f->seen.data[i]))
            return false;
    LIST_SORT(&l->label, by_name);
    for (size_t i = 0; i < f->seen.count; i++) {
        name_line(f, &f->seen.data[i], name);
        f->seen.data[i].number = statement_label_named(l, name);
    }
    for (uint32_t k = 0; k < l->of.count; k++)
        if (l->number[k])
            l->number[k] = f->seen.data[l->number[k] - 1].number;
    return true;
}

static void find_code(struct relax_labels *of, const struct image *image)
{
    const struct segment *s;
    size_t n = image_segments(image, &s);
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i].writable || !image_instruction(image, s[i].address & ~3u)) /* or constants */
            continue;
        low = s[i].address < low ? s[i].address : low;
        high = s[i].address + s[i].size > high ? s[i].address + s[i].size : high;
    }
    of->base = low & ~3u;
    of->count = high > low ? (high - of->base) / 4 : 0;
}

bool statement_labels_find(struct statement_labels *l, const struct image *image, const char *first)
{
    struct finding_labels f = { .to = l, .first = first, .lines = { .image = image } };
    *l = (struct statement_labels){ 0 };
    find_code(&l->of, image);
    l->number = calloc(l->of.count + 1, sizeof *l->number);
    l->of.of = l->number;
    bool fine = l->number && find_lines(&f) && number_labels(&f);
    lines_free(&f.lines);
    LIST_FREE(&f.seen);
    return fine;
}

void statement_labels_free(struct statement_labels *l)
{
    for (size_t i = 0; i < l->label.count; i++) {
        free(l->label.data[i].name);
        free(l->label.data[i].file);
    }
    LIST_FREE(&l->label);
    free(l->number);
    *l = (struct statement_labels){ 0 };
}

/* ---- cycles ------------------------------------------------------------------------------ */

void statement_cycle_name(const struct statement_labels *l, const struct relax_cycle *c,
                          char name[CYCLE_NAME])
{
    size_t n = 0;
    name[0] = '\0';
    for (uint32_t i = 0; i < c->length && n < CYCLE_NAME; i++)
        n += (size_t)snprintf(name + n, CYCLE_NAME - n, "%s%s", i ? "," : "",
                              l->label.data[c->label[i] - 1].name);
}

bool statement_cycle_parse(const struct statement_labels *l, const char *text,
                           struct relax_cycle *c, char *reason, size_t size)
{
    char copy[CYCLE_NAME], *rest = copy;
    *c = (struct relax_cycle){ .stores_first = true };
    snprintf(copy, sizeof copy, "%s", text);
    for (char *name; (name = strsep(&rest, ","));) {
        uint32_t label = statement_label_named(l, name);
        if (c->length == RELAX_LONGEST || !label) {
            snprintf(reason, size,
                     label ? "a cycle has at most 8 labels" : "no statement has the label '%s'",
                     name);
            return false;
        }
        c->kind[c->length] = RELAX_KINDS;
        c->label[c->length++] = label;
    }
    snprintf(reason, size, "a cycle has 4, 6 or 8 labels with commas between them");
    return c->length >= 4 && c->length % 2 == 0;
}
