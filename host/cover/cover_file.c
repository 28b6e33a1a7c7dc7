/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of points as files: COVER.md. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output.h"
#include "base/plain_file.h"
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

static void write_can(FILE *out, const struct cover_can *can)
{
    const char *const *accesses = cover_groups[COVER_GROUP_OWN].words[0];
    if (!can->accesses)
        return;
    fputs("can", out);
    for (uint32_t i = 0; i < COVER_AXIS_ACCESS; i++)
        if (can->accesses >> i & 1)
            fprintf(out, " %s", accesses[i]);
    for (uint32_t i = 0; i < COVER_ABILITY_COUNT; i++)
        if (can->has >> i & 1)
            fprintf(out, " %s", cover_ability_words[i]);
    for (enum ordeal_model m = ORDEAL_SC; m < ORDEAL_MODELS; m++)
        if (can->models >> m & 1)
            fprintf(out, " model=%s", ordeal_model_name(m));
    fprintf(out, " threads=%" PRIu32 "\n", can->threads);
}

static void write_origins(FILE *out, const struct cover *c)
{
    write_can(out, &c->can);
    for (size_t i = 0; i < c->runs.count; i++) {
        const struct cover_run *r = &c->runs.data[i];
        fputs("run ", out);
        write_label(out, r->target);
        fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r->seed, r->how,
                r->first, r->next);
    }
    for (size_t i = 0; i < c->folders.count; i++) {
        fputs("folder ", out);
        write_label(out, c->folders.data[i]);
        fputc('\n', out);
    }
}

int cover_write(struct cover *c, FILE *out)
{
    struct writing w = { .out = out };
    errno = 0;
    fprintf(out, FIRST_LINE "\ntests %" PRIu64 "\n", c->tests);
    write_origins(out, c);
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

int cover_try_save(struct cover *c, const char *file)
{
    struct output out;
    int error = output_open(&out, file);
    if (error)
        return error;
    if (out.temporary.path) /* what is written in place cannot be tried */
        error = cover_write(c, out.file);
    if (!error && fflush(out.file) != 0)
        error = errno;
    output_abandon(&out);
    return error;
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { WORDS = 6, POINT_WORDS = 5 };

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

static bool take_label(struct reading *r, char *word, const char **label)
{
    *label = strcmp(word, "-") == 0 ? "" : word;
    return !**label || cover_text_read(word)
             ? true
             : BAD(r, "'%%' in a label comes with two hexadecimal digits, not both 0");
}

static bool take_run(struct reading *r, char *word[WORDS], int words)
{
    struct cover_run run;
    if (words != 6 || !number(word[2], &run.seed) || !number(word[3], &run.how)
        || !number(word[4], &run.first) || !number(word[5], &run.next) || run.first >= run.next)
        return BAD(r, "a run is 'run TARGET SEED HOW FIRST NEXT', numbers, FIRST below NEXT");
    return take_label(r, word[1], &run.target)
        && (cover_ran(r->c, &run) ? true : error_out_of_memory(r->e, r->name));
}

static bool take_folder(struct reading *r, char *word[WORDS], int words)
{
    const char *folder;
    if (words != 2)
        return BAD(r, "a folder is 'folder NAME'");
    return take_label(r, word[1], &folder)
        && (cover_add_folder(r->c, folder) ? true : error_out_of_memory(r->e, r->name));
}

/* Sets the bit of a word in a list. */
static bool find_word(const char *word, const char *const *list, uint32_t count, uint32_t *bits)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i], word) == 0) {
            *bits |= 1u << i;
            return true;
        }
    return false;
}

static bool take_ability(struct cover_can *can, const char *word)
{
    enum ordeal_model model;
    uint64_t threads;
    if (strncmp(word, "threads=", 8) == 0 && number(word + 8, &threads) && threads
        && threads <= UINT32_MAX) {
        can->threads = (uint32_t)threads;
        return true;
    }
    if (strncmp(word, "model=", 6) == 0 && ordeal_model_parse(word + 6, &model)) {
        can->models |= 1u << model;
        return true;
    }
    return find_word(word, cover_groups[COVER_GROUP_OWN].words[0], COVER_AXIS_ACCESS,
                     &can->accesses)
        || find_word(word, cover_ability_words, COVER_ABILITY_COUNT, &can->has);
}

static bool take_can(struct reading *r, char *words)
{
    struct cover_can can = { 0 };
    for (char *word; (word = strsep(&words, " "));)
        if (!take_ability(&can, word))
            return BAD(r, "machines can do no '%.200s'; a later version may know it", word);
    if (!can.accesses || !can.models || !can.threads)
        return BAD(r, "of a machine accesses, model= and threads= are told");
    cover_ran_on(r->c, &can);
    return true;
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
    if (words != (count ? POINT_WORDS : 2))
        return BAD(r, "a point that was %sreached has %d words, this line has %d",
                   count ? "" : "not ", count ? POINT_WORDS : 2, words);
    if (!rtl && count > r->c->tests)
        return BAD(r, "'%.200s' was reached by more tests than there are", word[0]);
    if (count && (!number(word[2], &first.seed) || !number(word[3], &first.number)))
        return BAD(r, "SEED and NUMBER of 'NAME COUNT SEED NUMBER LABEL' are numbers");
    if (count && !take_label(r, word[4], &first.label))
        return false;
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
    if (strncmp(line, "can ", 4) == 0 && r->line == 3)
        return take_can(r, line + 4);
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
    if (strcmp(word[0], "run") == 0 && !r->points)
        return take_run(r, word, words);
    if (strcmp(word[0], "folder") == 0 && !r->points)
        return take_folder(r, word, words);
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
    const char *reason;
    FILE *stream = plain_file_open(file, &reason);
    if (!stream)
        return error_set(e, ORDEAL_IO, file, reason) == ORDEAL_OK;
    bool good = cover_read(c, stream, file, e);
    fclose(stream);
    return good;
}
