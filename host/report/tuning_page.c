/* SPDX-License-Identifier: Apache-2.0 */
#include "tuning_page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "trial/saved.h"
#include "tune/report.h"

enum { MOST_BYTES = 8 << 20, LINE = 4096, NAME = 256 };

bool tuning_page_is(const char *folder)
{
    struct why why;
    return saved_is_there(folder, REPORT_BIAS, &why) == SAVED_THERE;
}

/* ---- the head of the bias ---------------------------------------------------------------------- */

/* Without the mark of a comment and the line's end; NULL: it is no comment. */
static char *comment_of(char *line)
{
    line[strcspn(line, "\n")] = '\0';
    if (*line != '#')
        return NULL;
    return line + 1 + (line[1] == ' ');
}

/* The comments before the first profile say how it was made; indented ones are commands and figures. */
static void write_head(FILE *in, FILE *out)
{
    char line[LINE], *text;
    bool figures = false, words = false;
    while (fgets(line, sizeof line, in) && (text = comment_of(line))) {
        bool now = text[0] == ' ' && text[1] == ' ';
        if (figures != now || (!*text && words))
            fputs(figures ? "</pre>\n" : words ? "</p>\n" : "", out);
        if (figures != now || !*text)
            words = false;
        if (now && !figures)
            fputs("<pre>", out);
        else if (!now && *text && !words)
            fputs("<p>", out);
        if (*text)
            html(out, now ? "%s\n" : "%s ", now ? text + 2 : text);
        words = words || (!now && *text);
        figures = now;
    }
    fputs(figures ? "</pre>\n" : words ? "</p>\n" : "", out);
}

/* ---- what moved ---------------------------------------------------------------------------------- */

struct moves {
    char profile[NAME], weight[NAME], origin[LINE];
    LIST(char *) notes; /* of the key that comes next */
    bool table;
    FILE *out;
};

static void drop_notes(struct moves *m)
{
    for (size_t i = 0; i < m->notes.count; i++)
        free(m->notes.data[i]);
    m->notes.count = 0;
}

static void begin_profile(struct moves *m)
{
    if (m->table)
        return;
    m->table = true;
    html(m->out, "<h3>%s</h3>\n<p class=\"note\">%s</p>\n", m->profile, m->origin);
    fputs(
        "<div class=\"wide\"><table class=\"moved folding\">\n<thead><tr><th>Key</th><th>From</th><th>To</th>"
        "<th>What it brought</th></tr></thead>\n<tbody>\n",
        m->out);
}

static void end_profile(struct moves *m)
{
    if (m->table)
        fputs("</tbody></table></div>\n", m->out);
    m->table = false;
    drop_notes(m);
}

/* "FROM -> TO: what it brought", or with something between. */
static void write_move(struct moves *m, const char *key, char *note)
{
    char *arrow = strstr(note, " -> "), *end = arrow ? arrow + 4 + strcspn(arrow + 4, ":,") : NULL;
    if (!arrow)
        return;
    begin_profile(m);
    const char *rest = *end ? end + 1 : end;
    *arrow = *end = '\0';
    html(m->out,
         "<tr><td><code>%s</code></td><td>%s</td><td>%s</td><td class=\"words\">%s</td></tr>\n",
         key, note, arrow + 4, rest + strspn(rest, " "));
}

static void take_key(struct moves *m, char *line)
{
    line[strcspn(line, "=\n")] = '\0';
    size_t length = strlen(line);
    while (length && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
    for (size_t i = 0; i < m->notes.count; i++)
        write_move(m, line, m->notes.data[i]);
    drop_notes(m);
}

static void take_line(struct moves *m, char *line)
{
    char *text = comment_of(line), *copy;
    if (text && strstr(text, " -> ")) {
        if (!(copy = strdup(text)) || !LIST_PUSH(&m->notes, copy))
            free(copy);
    } else if (text) {
        snprintf(m->origin, sizeof m->origin, "%s", text);
    } else if (strncmp(line, "[profile ", 9) == 0) {
        end_profile(m);
        snprintf(m->profile, sizeof m->profile, "%.*s", (int)strcspn(line + 9, "]"), line + 9);
    } else if (*line) {
        take_key(m, line);
    }
}

static void write_moves(FILE *in, FILE *out)
{
    struct moves m = { .out = out };
    char line[LINE];
    fputs("<h2>What moved</h2>\n", out);
    long before = ftell(out);
    while (fgets(line, sizeof line, in))
        take_line(&m, line);
    end_profile(&m);
    LIST_FREE(&m.notes);
    if (ftell(out) == before)
        fputs("<p class=\"all-good\">Nothing moved: this is the bias as it was.</p>\n", out);
}

/* ---- all of it --------------------------------------------------------------------------------- */

static void write_plot(const char *folder, FILE *out)
{
    struct why why;
    FILE *in;
    char *svg = malloc(MOST_BYTES);
    fputs("<h2>What it brought</h2>\n", out);
    if (saved_open(folder, REPORT_PLOT, &in, &why) != SAVED_THERE || !svg) {
        html(out, "<p class=\"note\">%s</p>\n", why.text);
    } else {
        size_t size = fread(svg, 1, MOST_BYTES, in);
        fputs("<figure class=\"large\">", out);
        html_image(out, svg, size, "Coverage over cost");
        fputs("</figure>\n", out);
        fclose(in);
    }
    free(svg);
}

bool tuning_page_write(struct site *s, const char *folder, struct why *why)
{
    FILE *in;
    if (saved_open(folder, REPORT_BIAS, &in, why) != SAVED_THERE)
        return false;
    FILE *out = site_begin(s, "index", site_base(folder), NULL);
    if (out) {
        html(out, "<header><p class=\"kicker\">Tuning</p><h1>%s</h1></header>\n",
             site_base(folder));
        write_head(in, out);
        write_plot(folder, out);
        write_moves(in, out);
        site_end(s);
    }
    fclose(in);
    return out != NULL;
}
