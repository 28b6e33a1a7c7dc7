/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_rtl.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/error.h"
#include "base/list.h"
#include "base/text.h"
#include "cover_text.h"

/* ---- from Verilator -------------------------------------------------------------------------- */

/* A line: its keys and its count. */
struct counted {
    char *keys;
    uint64_t count;
};

struct reading {
    struct cover *c;
    const char *name;
    const struct cover_origin *test;
    struct ordeal_error *e;
    uint64_t line;
    LIST(struct counted) counted;
    char *folder;  /* that all files are in, NULL before the first */
    size_t length; /* of its name, with the slash behind it */
};

#define BAD(r, ...) error_bad((r)->e, (r)->name, (r)->line, __VA_ARGS__)

/* A line is C 'KEYS' COUNT; KEYS are \001key\002value. Where the value of a key begins; its length
 * in `length`. */
static const char *value_of(const char *keys, const char *key, size_t *length)
{
    size_t wanted = strlen(key);
    for (const char *at = strchr(keys, '\1'); at; at = strchr(at + 1, '\1'))
        if (strncmp(at + 1, key, wanted) == 0 && at[1 + wanted] == '\2') {
            const char *value = at + wanted + 2;
            *length = strcspn(value, "\1");
            return value;
        }
    return NULL;
}

/* "v_toggle/module": the kind alone. */
static size_t kind_of(const char **page, size_t length)
{
    if (length > 2 && strncmp(*page, "v_", 2) == 0) {
        *page += 2;
        length -= 2;
    }
    const char *slash = memchr(*page, '/', length);
    return slash ? (size_t)(slash - *page) : length;
}

static bool is_number(const char *text, size_t length)
{
    return length > 0 && length < 10 && strspn(text, "0123456789") == length;
}

/* Where a point is and what it is, as Verilator says. */
struct spot {
    const char *file, *line, *column, *page, *object;
    size_t file_length, line_length, column_length, page_length, object_length;
};

static bool find_spot(const char *keys, struct spot *s)
{
    s->file = value_of(keys, "f", &s->file_length);
    s->line = value_of(keys, "l", &s->line_length);
    s->column = value_of(keys, "n", &s->column_length);
    s->page = value_of(keys, "page", &s->page_length);
    s->object = value_of(keys, "o", &s->object_length);
    if (!s->column) {
        s->column = "0";
        s->column_length = 1;
    }
    if (!s->object) {
        s->object = "";
        s->object_length = 0;
    }
    return s->file && s->page && s->line && is_number(s->line, s->line_length)
        && is_number(s->column, s->column_length);
}

/* Makes the folder one that this file is in, too. */
static bool share_folder(struct reading *r, const struct spot *s)
{
    if (!r->folder) {
        r->folder = strndup(s->file, s->file_length);
        r->length = s->file_length;
    }
    size_t same = 0, most = r->length < s->file_length ? r->length : s->file_length;
    while (r->folder && same < most && r->folder[same] == s->file[same])
        same++;
    while (same > 0 && s->file[same - 1] != '/')
        same--;
    r->length = same;
    return r->folder;
}

static bool add_point(struct reading *r, const struct counted *p)
{
    struct spot s;
    char *name = NULL;
    size_t size;
    FILE *out = text_stream(&name, &size);
    if (!out || !find_spot(p->keys, &s))
        return false;
    size_t kind = kind_of(&s.page, s.page_length);
    fputs("rtl.", out);
    cover_text_write(out, s.page, kind);
    fputc('.', out);
    cover_text_write(out, s.file + r->length, s.file_length - r->length);
    fprintf(out, ":%.*s:%.*s.", (int)s.line_length, s.line, (int)s.column_length, s.column);
    cover_text_write(out, s.object, s.object_length);
    bool good = fclose(out) == 0 && cover_add_rtl(r->c, name, p->count, r->test);
    free(name);
    return good;
}

/* When all lines are known, and with them the folder. */
static bool add_points(struct reading *r)
{
    bool good = true;
    for (size_t i = 0; good && i < r->counted.count; i++)
        good = add_point(r, &r->counted.data[i]);
    if (good && r->length > 0) {
        r->folder[r->length - (r->length > 1)] = '\0'; /* the root keeps its slash */
        good = cover_add_folder(r->c, r->folder);
    }
    return good ? true : error_out_of_memory(r->e, r->name);
}

static bool take_line(struct reading *r, char *line)
{
    static const char first[] = "# SystemC::Coverage-3";
    if (r->line == 1)
        return strcmp(line, first) == 0
                 ? true
                 : BAD(r, "the first line of Verilator's coverage is '%s'", first);
    char *end = strrchr(line, '\''), *after;
    if (strncmp(line, "C '", 3) != 0 || end <= line + 2 || end[1] != ' '
        || !isdigit((unsigned char)end[2]))
        return BAD(r, "a line of Verilator's coverage is C 'KEYS' COUNT");
    errno = 0;
    uint64_t count = strtoull(end + 2, &after, 10);
    if (*after || errno)
        return BAD(r, "a line of Verilator's coverage ends with a count");
    *end = '\0';
    struct spot spot;
    if (!find_spot(line + 3, &spot))
        return BAD(r, "a point of Verilator's has a file 'f', a line 'l' and a 'page'; line and "
                      "column 'n' are numbers");
    struct counted p = { strdup(line + 3), count };
    if (p.keys && share_folder(r, &spot) && LIST_PUSH(&r->counted, p))
        return true;
    free(p.keys);
    return error_out_of_memory(r->e, r->name);
}

bool cover_rtl_read(struct cover *c, FILE *stream, const char *name,
                    const struct cover_origin *test, struct ordeal_error *e)
{
    struct reading r = { .c = c, .name = name, .test = test, .e = e };
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = true;
    while (good && (length = getline(&line, &room, stream)) > 0) {
        r.line++;
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        good = take_line(&r, line);
    }
    free(line);
    if (good && ferror(stream))
        good = error_set(e, ORDEAL_IO, name, strerror(errno)) == ORDEAL_OK;
    else if (good && r.line == 0)
        good = error_bad(e, name, 1, "the file is empty");
    good = good && add_points(&r);
    for (size_t i = 0; i < r.counted.count; i++)
        free(r.counted.data[i].keys);
    LIST_FREE(&r.counted);
    free(r.folder);
    return good;
}

/* ---- to LCOV --------------------------------------------------------------------------------- */

struct rtl_point {
    char *file;
    uint64_t line, count;
    size_t number; /* in the order of their names */
    bool branch;   /* or a toggle: one of several things that a line does */
};

struct rtl_points {
    LIST(struct rtl_point) all;
};

/* rtl.KIND.FILE:LINE:COLUMN.OBJECT */
static bool parse_name(const char *name, struct rtl_point *p)
{
    const char *kind = name + strlen("rtl."), *file = strchr(kind, '.');
    for (const char *colon = file; colon && (colon = strchr(colon + 1, ':'));) {
        char *end;
        p->line = strtoull(colon + 1, &end, 10);
        if (end == colon + 1 || *end != ':' || !isdigit((unsigned char)end[1]))
            continue;
        p->branch = strncmp(kind, "branch.", 7) == 0 || strncmp(kind, "toggle.", 7) == 0;
        p->file = strndup(file + 1, (size_t)(colon - file - 1));
        return p->file;
    }
    return false;
}

static bool take_point(void *user, const struct cover_entry *e)
{
    struct rtl_points *points = user;
    struct rtl_point p = { .count = e->count, .number = points->all.count };
    if (strncmp(e->name, "rtl.", 4) != 0 || !parse_name(e->name, &p))
        return true;
    if (LIST_PUSH(&points->all, p))
        return true;
    free(p.file);
    return false;
}

/* Points of a file and of a line come together. */
static int by_place(const void *a, const void *b)
{
    const struct rtl_point *p = a, *q = b;
    int files = strcmp(p->file, q->file);
    if (files || p->line != q->line)
        return files ? files : p->line < q->line ? -1 : 1;
    return p->number < q->number ? -1 : 1;
}

/* One line of a source; returns the points of it. */
static size_t write_line(FILE *out, const struct rtl_point *p, size_t left, uint64_t totals[4])
{
    size_t count = 0;
    uint64_t most = 0, branch = 0;
    for (; count < left && strcmp(p[count].file, p->file) == 0 && p[count].line == p->line;
         count++) {
        most = p[count].count > most ? p[count].count : most;
        if (!p[count].branch)
            continue;
        fprintf(out, "BRDA:%" PRIu64 ",0,%" PRIu64 ",%" PRIu64 "\n", p->line, branch++,
                p[count].count);
        totals[0]++;
        totals[1] += p[count].count > 0;
    }
    fprintf(out, "DA:%" PRIu64 ",%" PRIu64 "\n", p->line, most);
    totals[2]++;
    totals[3] += most > 0;
    return count;
}

/* Of the folders that files were in, one that has this; else the first; "": none is known. */
static const char *folder_of(const struct cover *c, const char *file)
{
    const char *folder;
    for (size_t i = 0; (folder = cover_folder_at(c, i)); i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, file);
        if (access(path, F_OK) == 0)
            return folder;
    }
    folder = cover_folder_at(c, 0);
    return folder ? folder : "";
}

/* The name as it is on disk, unless it would break the file. */
static void write_source_name(const struct cover *c, FILE *out, const char *file)
{
    char *plain = strdup(file);
    bool fit = plain && cover_text_read(plain) && !strpbrk(plain, "\n\r");
    const char *folder = folder_of(c, fit ? plain : file);
    fit = fit && !strpbrk(folder, "\n\r");
    fprintf(out, "TN:\nSF:%s%s%s\n", fit ? folder : "", fit && *folder ? "/" : "",
            fit ? plain : file);
    free(plain);
}

/* One source; returns the points of it. */
static size_t write_source(const struct cover *c, FILE *out, const struct rtl_point *p, size_t left)
{
    uint64_t totals[4] = { 0 };
    size_t count = 0;
    write_source_name(c, out, p->file);
    while (count < left && strcmp(p[count].file, p->file) == 0)
        count += write_line(out, p + count, left - count, totals);
    fprintf(out,
            "BRF:%" PRIu64 "\nBRH:%" PRIu64 "\nLF:%" PRIu64 "\nLH:%" PRIu64 "\nend_of_record\n",
            totals[0], totals[1], totals[2], totals[3]);
    return count;
}

int cover_rtl_lcov(struct cover *c, FILE *out)
{
    struct rtl_points points = { { NULL, 0, 0 } };
    errno = 0;
    bool good = cover_walk(c, take_point, &points);
    if (good && points.all.count)
        LIST_SORT(&points.all, by_place);
    for (size_t i = 0; good && i < points.all.count;)
        i += write_source(c, out, points.all.data + i, points.all.count - i);
    for (size_t i = 0; i < points.all.count; i++)
        free(points.all.data[i].file);
    LIST_FREE(&points.all);
    return !good ? ENOMEM : ferror(out) ? (errno ? errno : EIO) : 0;
}
