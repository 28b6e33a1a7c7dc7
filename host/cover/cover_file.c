/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of points as files: COVER.md. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/output.h"
#include "cover_parts.h"
#include "cover_text.h"

#define TEXT(number) #number
#define TEXT_OF(number) TEXT(number)
#define FIRST_LINE "ordeal-cover " TEXT_OF(COVER_VERSION)

/* ---- writing --------------------------------------------------------------------------------- */

/* "-" is no label; one that is called so, is written otherwise. */
static void write_label(FILE *out, const char *label)
{
    if (strcmp(label, "-") == 0)
        fputs("%2d", out);
    else if (*label)
        cover_text_write(out, label, strlen(label));
    else
        fputc('-', out);
}

struct writing {
    FILE *out;
    uint64_t points;
};

static bool write_point(void *user, const struct cover_entry *e)
{
    struct writing *w = user;
    if (!e->count && strncmp(e->name, "rtl.", 4) != 0)
        return true;
    w->points++;
    fprintf(w->out, "%s %" PRIu64, e->name, e->count);
    if (e->count) {
        fprintf(w->out, " %" PRIu64 " %" PRIu64 " ", e->first.seed, e->first.number);
        write_label(w->out, e->first.label);
    }
    fputc('\n', w->out);
    return true;
}

int cover_write(struct cover *c, FILE *out)
{
    struct writing w = { .out = out };
    errno = 0;
    fprintf(out, FIRST_LINE "\ntests %" PRIu64 "\n", c->tests);
    if (!cover_walk(c, write_point, &w))
        return ENOMEM;
    fprintf(out, "end %" PRIu64 "\n", w.points);
    return ferror(out) ? (errno ? errno : EIO) : 0;
}

int cover_save(struct cover *c, const char *file)
{
    struct output out;
    int error = output_open(&out, file);
    if (error)
        return error;
    error = cover_write(c, out.file);
    if (!error)
        return output_commit(&out);
    output_abandon(&out);
    return error;
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { WORDS = 5 };

struct reading {
    struct cover *c;
    const char *name;
    struct ordeal_error *e;
    uint64_t line, points;
    char *before; /* name of the point of the line before */
    bool ended;
};

#define BAD(r, ...) error_bad((r)->e, (r)->name, (r)->line, __VA_ARGS__)

/* Splits the line in place; the words, or 0 where there are none or too many, or space that is not
 * one space between two. */
static int split(char *line, char *word[WORDS])
{
    int count = 0;
    for (char *next = line; next; count++) {
        if (count == WORDS)
            return 0;
        word[count] = strsep(&next, " ");
        for (const char *t = word[count]; *t; t++)
            if (*t <= ' ' || *t > '~')
                return 0;
        if (!*word[count])
            return 0;
    }
    return count;
}

static bool number(const char *text, uint64_t *value)
{
    if (!isdigit((unsigned char)*text) || (*text == '0' && text[1]))
        return false;
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return !*end && !errno;
}

static bool in_order(struct reading *r, const char *name)
{
    if (r->before && strcmp(r->before, name) >= 0)
        return BAD(r, "'%.200s' stands after '%.200s': points are sorted, and each comes once",
                   name, r->before);
    free(r->before);
    r->before = strdup(name);
    return r->before ? true : error_out_of_memory(r->e, r->name);
}

static bool take_point(struct reading *r, char *word[WORDS], int words)
{
    struct cover_origin first = { 0, 0, "" };
    uint64_t count;
    if (words < 2 || !number(word[1], &count))
        return BAD(r, "a point is 'NAME COUNT SEED NUMBER LABEL', COUNT a number");
    bool rtl = strncmp(word[0], "rtl.", 4) == 0;
    uint32_t point = rtl ? COVER_POINTS : cover_point_find(word[0], strlen(word[0]));
    if (!rtl && point == COVER_POINTS)
        return BAD(r, "there is no point '%.200s'; a later version of ordeal may have written this",
                   word[0]);
    if (count == 0 && !rtl)
        return BAD(r, "'%.200s' was reached 0 times: only points of rtl are listed then", word[0]);
    if (words != (count ? WORDS : 2))
        return BAD(r, "a point that was %sreached has %d words, this line has %d",
                   count ? "" : "not ", count ? WORDS : 2, words);
    if (count && (!number(word[2], &first.seed) || !number(word[3], &first.number)))
        return BAD(r, "SEED and NUMBER of 'NAME COUNT SEED NUMBER LABEL' are numbers");
    if (count && strcmp(word[4], "-") == 0)
        word[4] = "";
    else if (count && !cover_text_read(word[4]))
        return BAD(r, "'%%' in a label comes with two hexadecimal digits, not both 0");
    first.label = count ? word[4] : "";
    if (!in_order(r, word[0]))
        return false;
    r->points++;
    bool added = rtl ? cover_add_rtl(r->c, word[0], count, &first)
                     : cover_count(r->c, point, count, &first);
    return added ? true : error_out_of_memory(r->e, r->name);
}

static bool take_line(struct reading *r, char *line)
{
    char *word[WORDS];
    uint64_t n;
    if (r->line == 1)
        return strcmp(line, FIRST_LINE) == 0
                 ? true
                 : BAD(r, "the first line of a file of coverage is '" FIRST_LINE "'");
    int words = split(line, word);
    if (words == 0)
        return BAD(r, "a line has up to %d words of printable characters, one space between two",
                   WORDS);
    if (r->line == 2)
        return words == 2 && strcmp(word[0], "tests") == 0 && number(word[1], &r->c->tests)
                 ? true
                 : BAD(r, "the second line is 'tests N'");
    if (r->ended)
        return BAD(r, "something comes after the line 'end N'");
    if (strcmp(word[0], "end") != 0)
        return take_point(r, word, words);
    r->ended = true;
    if (words != 2 || !number(word[1], &n) || n != r->points)
        return BAD(r, "the last line says 'end N', N the number of points, which is %" PRIu64,
                   r->points);
    return true;
}

static bool take_lines(struct reading *r, FILE *stream)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = true;
    while (good && (length = getline(&line, &room, stream)) > 0) {
        r->line++;
        if (line[length - 1] != '\n' || memchr(line, '\0', (size_t)length)) {
            good = BAD(r, "the line does not end: the file was cut off, or is not text");
        } else {
            line[length - 1] = '\0';
            good = take_line(r, line);
        }
    }
    free(line);
    if (good && ferror(stream))
        return error_set(r->e, ORDEAL_IO, r->name, strerror(errno)) == ORDEAL_OK;
    if (good && !r->ended) {
        r->line++;
        return BAD(r, r->line == 1 ? "the file is empty"
                                   : "there is no line 'end N': the file was cut off");
    }
    return good;
}

bool cover_read(struct cover *c, FILE *stream, const char *name, struct ordeal_error *e)
{
    struct reading r = { .c = cover_new(), .name = name, .e = e };
    bool good = r.c ? take_lines(&r, stream) : error_out_of_memory(e, name);
    if (good && !cover_merge(c, r.c))
        good = error_out_of_memory(e, name);
    cover_free(r.c);
    free(r.before);
    return good;
}

bool cover_load(struct cover *c, const char *file, struct ordeal_error *e)
{
    FILE *stream = fopen(file, "re");
    if (!stream)
        return error_set(e, ORDEAL_IO, file, strerror(errno)) == ORDEAL_OK;
    bool good = cover_read(c, stream, file, e);
    fclose(stream);
    return good;
}
