/* SPDX-License-Identifier: Apache-2.0 */
#include "edits.h"

#include <string.h>

#include "base/text.h"

enum { MOST_VALUE = 200, MOST_LINE = 1000 };

const char *const edit_names[EDIT_KINDS] = { "value", "drop", "insert" };

/* ---- is it one? ------------------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t digits(const char *text)
{
    size_t count = 0;
    while (is_digit(text[count]))
        count++;
    return count;
}

static bool is_value(const char *text)
{
    size_t length = strlen(text);
    return length >= 1 && length <= MOST_VALUE && digits(text) == length;
}

static bool is_line(const char *text)
{
    return strlen(text) <= MOST_LINE && !text[strcspn(text, "\r\n")];
}

static bool is_good(const struct edit *e, struct why *why)
{
    if (e->kind == EDIT_VALUE && !is_value(e->text))
        return why_say(why, "line %u: '%.60s' is not a value", e->line, e->text);
    if (e->kind == EDIT_INSERT && !is_line(e->text))
        return why_say(why, "line %u: what is inserted is not one line", e->line);
    return true;
}

/* ---- a line ---------------------------------------------------------------------------------- */

/* In the order of lines; those of one line stay as they came. */
static int by_line(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Of several for one value the last. */
static const struct edit *edit_of(const struct edit *edits, size_t count, uint32_t at)
{
    while (count-- > 0)
        if (edits[count].kind == EDIT_VALUE && edits[count].at == at)
            return &edits[count];
    return NULL;
}

/* Values stand behind '=', '#' or '?' within a word. How many there are. */
static uint32_t write_values(const struct edit *edits, size_t count, const char *line,
                             size_t length, FILE *out)
{
    uint32_t values = 0;
    for (size_t i = 0; i < length; i++) {
        bool first = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
        if (line[i] == '#' && first) { /* a comment */
            fwrite(line + i, 1, length - i, out);
            break;
        }
        putc(line[i], out);
        if (!strchr("=#?", line[i]) || !is_digit(line[i + 1]))
            continue;
        const struct edit *change = edit_of(edits, count, values++);
        if (change) {
            fputs(change->text, out);
            i += digits(line + i + 1);
        }
    }
    return values;
}

static bool write_line(const struct edit *edits, size_t count, const char *line, size_t length,
                       FILE *out, struct why *why)
{
    bool drop = false;
    for (size_t i = 0; i < count; i++)
        drop |= edits[i].kind == EDIT_DROP;
    uint32_t values = drop || !count ? 0 : write_values(edits, count, line, length, out);
    if (!count)
        fwrite(line, 1, length, out);
    putc('\n', out);
    for (size_t i = 0; i < count; i++) {
        if (edits[i].kind == EDIT_INSERT)
            fprintf(out, "%s\n", edits[i].text);
        if (edits[i].kind == EDIT_VALUE && edits[i].at >= values && !drop)
            return why_say(why, "line %u has no such value", edits[i].line);
    }
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool write_text(const struct edits *e, const char *text, FILE *out, struct why *why)
{
    size_t next = 0;
    uint32_t number = 0;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), last = next;
        number++;
        while (last < e->list.count && e->list.data[last].line == number)
            last++;
        const struct edit *mine = last > next ? &e->list.data[next] : NULL;
        if (!write_line(mine, last - next, line, length, out, why))
            return false;
        next = last;
        line += length + (line[length] == '\n');
    }
    return next == e->list.count || why_say(why, "there is no line %u", e->list.data[next].line);
}

bool edits_apply(struct edits *e, const char *text, char **result, struct why *why)
{
    size_t size;
    *result = NULL;
    for (size_t i = 0; i < e->list.count; i++) {
        e->list.data[i].place = i;
        if (!is_good(&e->list.data[i], why))
            return false;
    }
    LIST_SORT(&e->list, by_line);
    FILE *out = text_stream(result, &size);
    bool good = out && write_text(e, text, out, why);
    bool whole = out && fclose(out) == 0;
    if (good && whole)
        return true;
    free(*result);
    *result = NULL;
    return whole ? false : why_say(why, "out of memory");
}
