/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "html.h"

/* ---- causes ------------------------------------------------------------------------------------ */

static struct cause *cause_of(struct history *h, const char *signature)
{
    for (size_t i = 0; i < h->causes.count; i++)
        if (strcmp(h->causes.data[i].newest->signature, signature) == 0)
            return &h->causes.data[i];
    return NULL;
}

static bool note_bucket(struct history *h, int number, const struct query_bucket *b)
{
    struct cause *c = cause_of(h, b->signature);
    if (!c
        && !LIST_PUSH(&h->causes, ((struct cause){ .newest = b,
                                                   .in = &h->databases[number],
                                                   .first = number,
                                                   .last = number })))
        return false;
    c = c ? c : &h->causes.data[h->causes.count - 1];
    c->failures += b->failures;
    c->first = number < c->first ? number : c->first;
    if (!*c->newest->folder && *b->folder) {
        c->newest = b;
        c->in = &h->databases[number];
    }
    return true;
}

static bool find_causes(struct history *h)
{
    for (int i = h->count - 1; i >= 0; i--)
        for (size_t k = 0; k < h->databases[i].buckets.count; k++)
            if (!note_bucket(h, i, &h->databases[i].buckets.data[k]))
                return false;
    /* Of one database its own number stays what it is while others come. */
    for (size_t i = 0; i < h->causes.count; i++)
        snprintf(h->causes.data[i].page, SITE_NAME, "bucket-%jd",
                 h->count == 1 ? (intmax_t)h->causes.data[i].newest->id : (intmax_t)i + 1);
    return true;
}

const char *history_word(const struct history *h, const struct cause *c)
{
    if (h->count < 2)
        return "";
    if (c->last < h->count - 1)
        return "gone";
    return c->first == h->count - 1 ? "new" : "still there";
}

/* ---- databases --------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    double x = query_sums(a).started, y = query_sums(b).started;
    return (x > y) - (x < y);
}

bool history_read(struct history *h, char **files, int count, struct why *why)
{
    *h = (struct history){ .databases = calloc((size_t)count, sizeof *h->databases) };
    if (!h->databases)
        return why_say(why, "out of memory");
    for (; h->count < count; h->count++)
        if (!query_read(&h->databases[h->count], files[h->count], why)) {
            h->count++;
            return false;
        }
    qsort(h->databases, (size_t)count, sizeof *h->databases, by_start);
    return find_causes(h) || why_say(why, "out of memory");
}

void history_free(struct history *h)
{
    for (int i = 0; i < h->count; i++)
        query_free(&h->databases[i]);
    free(h->databases);
    LIST_FREE(&h->causes);
}

/* ---- as plots ---------------------------------------------------------------------------------- */

static double failing_share(const struct query *q)
{
    struct query_sums s = query_sums(q);
    return s.tests ? 100.0 * (double)s.fail / (double)s.tests : 0;
}
static double cause_count(const struct query *q) { return (double)q->buckets.count; }
static double covered_share(const struct query *q)
{
    struct query_sums s = query_sums(q);
    return s.known ? 100.0 * (double)s.points / (double)s.known : 0;
}
static double tests_a_second(const struct query *q)
{
    struct query_sums s = query_sums(q);
    return s.seconds > 0 ? (double)s.tests / s.seconds : 0;
}

static const struct measure {
    const char *title, *note;
    double (*of)(const struct query *q);
    bool percent;
} measures[] = {
    { "Failing tests", "percent of all tests", failing_share, false },
    { "Causes of failures", "signatures that differ", cause_count, false },
    { "Coverage", "percent of the points there are", covered_share, true },
    { "Speed", "tests a second", tests_a_second, false },
};

static void write_measure(const struct history *h, const struct measure *m,
                          const char *const *names, FILE *out)
{
    struct plot_curve curve = { .name = m->title };
    for (int i = 0; i < h->count; i++)
        if (!LIST_PUSH(&curve.points, ((struct plot_point){ i, m->of(&h->databases[i]) })))
            break;
    struct chart chart = { .title = m->title,
                           .note = m->note,
                           .curves = { &curve },
                           .count = 1,
                           .names = names,
                           .name_count = h->count,
                           .percent = m->percent };
    chart_write(&chart, out);
    LIST_FREE(&curve.points);
}

static double begun(const struct history *h, int i) { return query_sums(&h->databases[i]).started; }

/* The day without its year, or the time of day if all are of one: "MM-DD" or "HH:MM" of html_time(). */
static const char *short_time(const struct history *h, int i, char text[HTML_WORDS])
{
    enum { DAY = 86400, YEAR_AND_DASH = 5, DATE = 10 };
    bool one_day = floor(begun(h, 0) / DAY) == floor(begun(h, h->count - 1) / DAY);
    html_time(begun(h, i), text);
    if (strlen(text) <= DATE)
        return text;
    text[DATE] = '\0';
    return text + (one_day ? DATE + 1 : YEAR_AND_DASH);
}

static void write_plots(const struct history *h, FILE *out)
{
    char(*text)[HTML_WORDS] = calloc((size_t)h->count, sizeof *text);
    const char **names = calloc((size_t)h->count, sizeof *names);
    for (int i = 0; text && names && i < h->count; i++)
        names[i] = short_time(h, i, text[i]);
    fputs("<div class=\"plots\">\n", out);
    for (size_t i = 0; text && names && i < sizeof measures / sizeof *measures; i++)
        write_measure(h, &measures[i], names, out);
    fputs("</div>\n", out);
    free(text);
    free(names);
}

static void write_row(const struct query *q, FILE *out)
{
    struct query_sums s = query_sums(q);
    char when[HTML_WORDS], tests[HTML_WORDS], fail[HTML_WORDS];
    html(out, "<tr><td><code>%s</code></td><td class=\"when\">%s</td><td class=\"n\">%s</td>",
         site_base(q->file), html_time(s.started, when), html_count((uint64_t)s.tests, tests));
    html(out,
         "<td class=\"n\">%s</td><td class=\"n\">%zu</td><td class=\"n\">%.1f %%</td>"
         "<td class=\"n\">%.1f</td></tr>\n",
         html_count((uint64_t)s.fail, fail), q->buckets.count, covered_share(q), tests_a_second(q));
}

void history_write(const struct history *h, FILE *out)
{
    if (h->count < 2)
        return;
    fputs("<h2>History</h2>\n", out);
    write_plots(h, out);
    fputs(
        "<details><summary>The same as a table</summary>\n<div class=\"wide\"><table>\n<thead><tr>"
        "<th>Database</th><th>Begun</th><th class=\"n\">Tests</th><th class=\"n\">Failed</th>"
        "<th class=\"n\">Causes</th><th class=\"n\">Coverage</th><th class=\"n\">Tests/s</th></tr></thead>\n"
        "<tbody>\n",
        out);
    for (int i = h->count - 1; i >= 0; i--)
        write_row(&h->databases[i], out);
    fputs("</tbody></table></div></details>\n", out);
}
