/* SPDX-License-Identifier: Apache-2.0 */
#include "document.h"

#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "unity.h"

enum { INDENT = 4 };

static char *copy(const char *from, size_t length)
{
    char *text = strndup(from, length);
    TEST_ASSERT_NOT_NULL(text);
    return text;
}

/* Puts a line behind what is there. */
static void append(char **text, const char *line)
{
    char *longer;
    TEST_ASSERT_TRUE(asprintf(&longer, "%s%s\n", *text, line) >= 0);
    free(*text);
    *text = longer;
}

/* ---- lines --------------------------------------------------------------------------------- */

static bool is_indented(const char *line)
{
    return strncmp(line, "    ", INDENT) == 0 && line[INDENT];
}

/* The command that begins here, or NULL. */
static const char *command_in(const char *line)
{
    const char *text = line + INDENT;
    if (!is_indented(line))
        return NULL;
    return strncmp(text, "$ ", 2) == 0 ? text + 2 : strncmp(text, "make ", 5) == 0 ? text : NULL;
}

static bool goes_on(const char *line)
{
    size_t length = strlen(line);
    return length && line[length - 1] == '\\';
}

/* Blank lines inside of what is shown stay, behind it they go. */
static void trim(char *shown)
{
    size_t length = strlen(shown);
    while (length > 1 && shown[length - 1] == '\n' && shown[length - 2] == '\n')
        shown[--length] = '\0';
    if (length == 1 && shown[0] == '\n')
        shown[0] = '\0';
}

static void take_commands(struct document *d)
{
    struct document_command *open = NULL;
    for (size_t i = 0; i < d->lines.count; i++) {
        const char *line = d->lines.data[i].text, *command = command_in(line);
        if (command) {
            struct document_command c = { d->lines.data[i].line, copy("", 0), copy("", 0) };
            append(&c.text, command);
            while (goes_on(d->lines.data[i].text) && i + 1 < d->lines.count)
                append(&c.text, d->lines.data[++i].text);
            TEST_ASSERT_TRUE(LIST_PUSH(&d->commands, c));
            open = &d->commands.data[d->commands.count - 1];
        } else if (!is_indented(line) && *line) {
            open = NULL;
        } else if (open) {
            append(&open->shown, *line ? line + INDENT : "");
        }
    }
    for (size_t i = 0; i < d->commands.count; i++)
        trim(d->commands.data[i].shown);
}

static void take_room(struct document *d, const struct document_text *line)
{
    const char *word = line->text + INDENT;
    size_t length = is_indented(line->text) ? strcspn(word, " ") : 0;
    struct document_text room = { line->line, NULL };
    if (length < 2 || word[length - 1] != '/' || word[0] == '/' || strchr("$.#", word[0]))
        return;
    room.text = copy(word, length);
    TEST_ASSERT_TRUE(LIST_PUSH(&d->rooms, room));
}

/* ---- inside a line ------------------------------------------------------------------------- */

static void take_codes(struct document *d, const struct document_text *line)
{
    for (const char *p = strchr(line->text, '`'); p; p = strchr(p, '`')) {
        const char *end = strchr(++p, '`');
        TEST_ASSERT_NOT_NULL_MESSAGE(end, line->text); /* code ends in its line */
        struct document_text code = { line->line, copy(p, (size_t)(end - p)) };
        TEST_ASSERT_TRUE(LIST_PUSH(&d->codes, code));
        p = end + 1;
    }
}

static void take_links(struct document *d, const struct document_text *line)
{
    for (const char *p = strstr(line->text, "]("); p; p = strstr(p, "](")) {
        p += 2;
        struct document_text link = { line->line, copy(p, strcspn(p, ")")) };
        TEST_ASSERT_TRUE(LIST_PUSH(&d->links, link));
    }
}

/* ---- the whole ----------------------------------------------------------------------------- */

void document_take(struct document *d, const char *name, const char *text)
{
    *d = (struct document){ .name = copy(name, strlen(name)) };
    for (unsigned number = 1; *text; number++) {
        size_t length = strcspn(text, "\n");
        struct document_text line = { number, copy(text, length) };
        TEST_ASSERT_TRUE(LIST_PUSH(&d->lines, line));
        text += length + (text[length] == '\n');
    }
    take_commands(d);
    for (size_t i = 0; i < d->lines.count; i++) {
        const struct document_text *line = &d->lines.data[i];
        take_room(d, line);
        if (is_indented(line->text))
            continue;
        take_codes(d, line);
        take_links(d, line);
    }
}

void document_read(struct document *d, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "r");
    TEST_ASSERT_NOT_NULL_MESSAGE(f, path);
    ssize_t length = getdelim(&text, &size, '\0', f);
    fclose(f);
    TEST_ASSERT_TRUE_MESSAGE(length > 0, path);
    document_take(d, path, text);
    free(text);
}

static void free_texts(struct document_text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i].text);
    free(texts);
}

void document_free(struct document *d)
{
    for (size_t i = 0; i < d->commands.count; i++) {
        free(d->commands.data[i].text);
        free(d->commands.data[i].shown);
    }
    free(d->commands.data);
    free_texts(d->codes.data, d->codes.count);
    free_texts(d->links.data, d->links.count);
    free_texts(d->rooms.data, d->rooms.count);
    free_texts(d->lines.data, d->lines.count);
    free(d->name);
}

/* ---- what is shown ------------------------------------------------------------------------- */

static size_t ellipsis(const char *p)
{
    return strncmp(p, "…", strlen("…")) == 0 ? strlen("…") : strncmp(p, "...", 3) == 0 ? 3 : 0;
}

/* Both to the end of their lines. */
static bool line_agrees(const char *shown, const char *printed)
{
    size_t dots = ellipsis(shown);
    if (dots)
        return line_agrees(shown + dots, printed)
            || (*printed && *printed != '\n' && line_agrees(shown, printed + 1));
    if (*shown == '\n' || !*shown)
        return *printed == '\n' || !*printed;
    return *shown == *printed && line_agrees(shown + 1, printed + 1);
}

static const char *next_line(const char *p)
{
    p += strcspn(p, "\n");
    return *p ? p + 1 : p;
}

static bool lines_agree(const char *shown, const char *printed)
{
    size_t dots = ellipsis(shown);
    if (!*shown)
        return !*printed;
    if (dots && (shown[dots] == '\n' || !shown[dots]))
        return lines_agree(next_line(shown), printed)
            || (*printed && lines_agree(shown, next_line(printed)));
    return *printed && line_agrees(shown, printed)
        && lines_agree(next_line(shown), next_line(printed));
}

bool document_agrees(const char *shown, const char *printed)
{
    return !*shown || lines_agree(shown, printed);
}

int document_status(const char *shown)
{
    static const struct {
        const char *word;
        int status;
    } words[] = {
        { "FAIL", EXIT_VIOLATION },
        { "ERROR", EXIT_BAD },
        { "LOST", EXIT_TARGET },
        { "UNDECIDED", EXIT_UNDECIDED },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (const char *line = shown; *line; line = next_line(line))
            if (strncmp(line, words[i].word, strlen(words[i].word)) == 0)
                return words[i].status;
    return EXIT_FINE;
}

/* ---- the manual ------------------------------------------------------------------------------ */

static char complaints[8192];

void document_complain(const struct document *d, unsigned line, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t used = strlen(complaints);
    snprintf(complaints + used, sizeof complaints - used, "%s:%u: %s\n", d->name, line, text);
}

void documents_check(void (*check)(const struct document *d))
{
    static const char *const patterns[] = { "README.md", "CONTRIBUTING.md", "CHANGELOG.md",
                                            "docs/*.md" };
    glob_t found;
    complaints[0] = '\0';
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        TEST_ASSERT_EQUAL_MESSAGE(0, glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found),
                                  patterns[i]);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct document d;
        document_read(&d, found.gl_pathv[i]);
        check(&d);
        document_free(&d);
    }
    globfree(&found);
    TEST_ASSERT_EQUAL_STRING("", complaints);
}

void document_plant(const char *text, void (*check)(const struct document *d), const char *of)
{
    struct document d;
    complaints[0] = '\0';
    document_take(&d, "docs/planted.md", text);
    check(&d);
    document_free(&d);
    if (*of)
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(complaints, of), of);
    else
        TEST_ASSERT_EQUAL_STRING("", complaints);
}
