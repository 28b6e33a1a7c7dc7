/* SPDX-License-Identifier: Apache-2.0 */
#include "regression_page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "chart.h"
#include "example.h"
#include "failure_page.h"
#include "history.h"
#include "html.h"
#include "trial/saved.h"

static const char *run_name(const struct query *q, int64_t id)
{
    const struct query_run *r = query_run_of(q, id);
    return r ? r->name : "";
}

/* ---- the head ---------------------------------------------------------------------------------- */

/* How the last session ended, in words. */
static const struct {
    const char *end, *words;
} ends[] = {
    { "done", "It is done." },
    { "budget", "It ended with its budget." },
    { "interrupted", "It was interrupted; the same command goes on." },
    { "error", "It ended with an error." },
};

static const char *words_of_end(const struct query *q)
{
    const char *end = q->sessions.count ? q->sessions.data[q->sessions.count - 1].end : "";
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(end, ends[i].end) == 0)
            return ends[i].words;
    return q->sessions.count ? "It runs, or was killed." : "It has not begun.";
}

static void write_head(const struct query *q, FILE *out)
{
    struct query_sums s = query_sums(q);
    char begun[HTML_WORDS], ended[HTML_WORDS], took[HTML_WORDS];
    html(out, "<header><p class=\"kicker\">Regression</p><h1>%s</h1>\n", site_base(q->file));
    html(out, "<p class=\"lead\">%s Begun %s, last heard of %s (UTC); %s.", words_of_end(q),
         html_time(s.started, begun), html_time(s.ended, ended), html_span(s.seconds, took));
    if (q->sessions.count) {
        const struct query_session *last = &q->sessions.data[q->sessions.count - 1];
        html(out, " ordeal %s on %s.", last->program, last->host);
    }
    fputs("</p></header>\n", out);
}

/* `count`: of which number of live.json it is, for a page that moves. */
static void write_tile(const char *name, const char *count, int64_t number, const char *class,
                       const char *note, FILE *out)
{
    char text[HTML_WORDS];
    html(
        out,
        "<div><dt>%s</dt><dd class=\"%s\" data-count=\"%s\"><span>%s</span><small>%s</small></dd></div>\n",
        name, number ? class : "", count, html_count((uint64_t)number, text), note);
}

static void write_tiles(const struct query *q, FILE *out)
{
    struct query_sums s = query_sums(q);
    char note[HTML_WORDS * 2], text[HTML_WORDS];
    fputs("<dl class=\"tiles\">\n", out);
    snprintf(note, sizeof note, "in %zu run%s", q->runs.count, q->runs.count == 1 ? "" : "s");
    write_tile("Tests", "tests", s.tests, "", note, out);
    write_tile("Passed", "pass", s.pass, "good", "", out);
    snprintf(note, sizeof note, "%zu cause%s", q->buckets.count, q->buckets.count == 1 ? "" : "s");
    write_tile("Failed", "fail", s.fail, "bad", s.fail ? note : "", out);
    write_tile("Undecided", "undecided", s.undecided, "warn", "", out);
    write_tile("Lost", "lost", s.lost, "warn", "", out);
    snprintf(note, sizeof note, "%s%s points%s", s.known ? "of " : "",
             s.known ? html_count((uint64_t)s.known, text) : "",
             q->runs.count > 1 ? ", run by run" : "");
    write_tile("Coverage", "points", s.points, "", note, out);
    fputs("</dl>\n", out);
}

/* ---- causes ------------------------------------------------------------------------------------ */

static const struct {
    const char *kind, *words;
} kinds[] = {
    { "violation", "violates the model" },
    { "standstill", "stands still" },
    { "assertion", "fails its own checks" },
    { "value", "saw what nobody wrote" },
};

static const char *words_of_kind(const char *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i].kind) == 0)
            return kinds[i].words;
    return kind;
}

static void write_word(const struct history *h, const struct cause *c, FILE *out)
{
    const char *word = history_word(h, c);
    const char *class = strcmp(word, "new") == 0  ? "bad"
                      : strcmp(word, "gone") == 0 ? "good"
                                                  : "quiet";
    if (*word)
        html(out, " <span class=\"pill %s\">%s</span>", class, word);
}

enum { SIGNATURE = 128 };

/* A violation's title is words and the core in its canonical form: where that begins, or NULL. */
static const char *core_of(const struct query_bucket *b)
{
    const char *colon = strcmp(b->kind, "violation") == 0 ? strstr(b->title, ": ") : NULL;
    return colon ? colon + 2 : NULL;
}

static const char *words_of_title(const struct query_bucket *b, char *words, size_t size)
{
    const char *core = core_of(b), *title = *b->title ? b->title : b->signature;
    snprintf(words, size, "%.*s", core ? (int)(core - b->title - 2) : (int)size, title);
    return words;
}

static void write_core(const struct query_bucket *b, FILE *out)
{
    const char *core = core_of(b);
    if (core)
        html(out, "<code class=\"core\" title=\"%s\">%s</code>", core, core);
}

/* The signature of its example made small, or its own. */
static void find_signature(const struct cause *c, char *signature)
{
    char path[PATH_MAX];
    *signature = '\0';
    if (example_folder(c->in->file, c->newest->folder, path, sizeof path))
        saved_words(path, true, "signature", signature, SIGNATURE);
    if (!*signature)
        snprintf(signature, SIGNATURE, "%s", c->newest->signature);
}

/* What was made small may be another violation, and one that others were made small to, too. */
static void write_small(const struct history *h, char (*all)[SIGNATURE], size_t number, FILE *out)
{
    size_t first = 0;
    while (strcmp(all[first], all[number]) != 0)
        first++;
    bool other = strcmp(all[number], h->causes.data[number].newest->signature) != 0;
    if (first == number && !other)
        return;
    html(out, "<span class=\"soft\">Its example made small is <code>%s</code>", all[number]);
    if (first < number)
        html(out, ", as that of number %zu is: maybe one cause", first + 1);
    fputs(".</span>", out);
}

static void write_card(const struct site *s, const struct history *h, const struct cause *c,
                       FILE *out)
{
    char link[SITE_NAME + 8], count[HTML_WORDS], all[HTML_WORDS * 2] = "", words[512];
    const struct query_bucket *b = c->newest;
    if (c->failures > b->failures)
        snprintf(all, sizeof all, ", %s in all databases",
                 html_count((uint64_t)c->failures, count));
    html(out, "<li><a class=\"card\" href=\"%s\"><b>%s</b>", site_link(s, c->page, link),
         words_of_title(b, words, sizeof words));
    write_word(h, c, out);
    write_core(b, out);
    html(out, "<span class=\"soft\">%s \u00b7 %s failing test%s in %jd run%s%s \u00b7 ",
         words_of_kind(b->kind), html_count((uint64_t)b->failures, count),
         b->failures == 1 ? "" : "s", (intmax_t)b->runs, b->runs == 1 ? "" : "s", all);
    html(out, "%jd operations%s</span>", (intmax_t)b->operations,
         strcmp(b->state, "small") == 0 ? ", made small" : "");
}

static void write_causes(const struct site *s, const struct history *h, FILE *out)
{
    fputs("<h2>Failures by cause</h2>\n", out);
    if (!h->causes.count) {
        fputs("<p class=\"all-good\">No test failed.</p>\n", out);
        return;
    }
    char(*signatures)[SIGNATURE] = calloc(h->causes.count, sizeof *signatures);
    fputs("<ol class=\"cards\">\n", out);
    for (size_t i = 0; i < h->causes.count; i++) {
        write_card(s, h, &h->causes.data[i], out);
        if (signatures) {
            find_signature(&h->causes.data[i], signatures[i]);
            write_small(h, signatures, i, out);
        }
        fputs("</a></li>\n", out);
    }
    fputs("</ol>\n", out);
    free(signatures);
}

/* ---- over time --------------------------------------------------------------------------------- */

enum { BINS = 60, MOST_POINTS = 300 };

/* The runs with most tests get a curve each. */
static int by_tests(const void *a, const void *b)
{
    const struct query_run *x = *(const struct query_run *const *)a,
                           *y = *(const struct query_run *const *)b;
    return x->tests != y->tests ? (x->tests < y->tests ? 1 : -1)
                                : (x->id > y->id) - (x->id < y->id);
}

static void cover_curve(const struct query *q, const struct query_run *r, double start,
                        struct plot_curve *curve)
{
    size_t units = 0, seen = 0;
    for (size_t i = 0; i < q->units.count; i++)
        units += q->units.data[i].run == r->id;
    size_t every = units / MOST_POINTS + 1;
    for (size_t i = 0; i < q->units.count; i++) {
        const struct query_unit *u = &q->units.data[i];
        if (u->run != r->id || (++seen % every && seen != units))
            continue;
        double x = u->finished > start ? u->finished - start : 0;
        if (!LIST_PUSH(&curve->points, ((struct plot_point){ x, (double)u->points })))
            return;
    }
}

static void write_cover_chart(const struct query *q, FILE *out)
{
    struct plot_curve curves[CHART_CURVES] = { 0 };
    struct chart chart = { .title = "Coverage", .note = "points reached, over time" };
    const struct query_run **runs = calloc(q->runs.count + 1, sizeof *runs);
    for (size_t i = 0; runs && i < q->runs.count; i++)
        runs[i] = &q->runs.data[i];
    if (runs)
        qsort(runs, q->runs.count, sizeof *runs, by_tests);
    double start = query_sums(q).started;
    for (size_t i = 0; runs && i < q->runs.count && chart.count < CHART_CURVES; i++) {
        struct plot_curve *c = &curves[chart.count];
        c->name = runs[i]->name;
        cover_curve(q, runs[i], start, c);
        chart.curves[chart.count++] = c;
    }
    if (q->runs.count > CHART_CURVES)
        chart.note = "points reached, over time, of the runs with most tests";
    chart_write(&chart, out);
    for (int i = 0; i < CHART_CURVES; i++)
        LIST_FREE(&curves[i].points);
    free(runs);
}

/* How many parts of the time: each with some units in it, or the curve is all gaps. */
static int speed_bins(const struct query *q)
{
    size_t some = q->units.count / 2;
    return some < 1 ? 1 : some > BINS ? BINS : (int)some;
}

/* Of all workers together, in parts of the time that are equally long. */
static void write_speed_chart(const struct query *q, FILE *out)
{
    struct query_sums s = query_sums(q);
    int bins = speed_bins(q);
    double tests[BINS] = { 0 }, width = s.seconds > 0 ? s.seconds / bins : 1;
    struct plot_curve curve = { .name = "tests a second" };
    for (size_t i = 0; i < q->units.count; i++) {
        double place = (q->units.data[i].finished - s.started) / width;
        int bin = place < 0 ? 0 : place >= bins ? bins - 1 : (int)place;
        tests[bin] += (double)q->units.data[i].count;
    }
    bool good = LIST_PUSH(&curve.points, ((struct plot_point){ 0, tests[0] / width }));
    for (int i = 0; good && i < bins; i++)
        good = LIST_PUSH(&curve.points,
                         ((struct plot_point){ (i + 0.5) * width, tests[i] / width }));
    struct chart chart = {
        .title = "Speed", .note = "tests a second, of all workers", .curves = { &curve }, .count = 1
    };
    chart_write(&chart, out);
    LIST_FREE(&curve.points);
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* `class` "folding": with little room a row takes two lines, of which the second is what has the class
 * "words". */
static void begin_table_of(const char *class, const char *title, const char *head, FILE *out)
{
    fprintf(out,
            "<h2>%s</h2>\n<div class=\"wide\"><table class=\"%s\">\n<thead><tr>%s</tr></thead>\n"
            "<tbody>\n",
            title, class, head);
}

static void begin_table(const char *title, const char *head, FILE *out)
{
    begin_table_of("usual", title, head, out);
}

static void end_table(FILE *out) { fputs("</tbody>\n</table></div>\n", out); }

/* Does any row have this text? A column of nothing is not shown. */
static bool has_text(const void *rows, size_t count, size_t size, size_t field)
{
    for (size_t i = 0; i < count; i++)
        if (**(const char *const *)((const char *)rows + i * size + field))
            return true;
    return false;
}
#define HAS(LIST, ROW, FIELD) \
    has_text((LIST)->data, (LIST)->count, sizeof(struct ROW), offsetof(struct ROW, FIELD))

static void write_cell(bool is_there, const char *text, FILE *out)
{
    if (is_there)
        html(out, "<td>%s</td>", *text ? text : "\u2013");
}

static void write_share(int64_t part, int64_t of, FILE *out)
{
    double share = of > 0 ? 100.0 * (double)part / (double)of : 0;
    if (of <= 0) {
        fputs("<td>\u2013</td>", out);
        return;
    }
    html(
        out,
        "<td class=\"when\"><svg class=\"share\" viewBox=\"0 0 100 9\" preserveAspectRatio=\"none\" "
        "aria-hidden=\"true\"><rect width=\"%.1f\" height=\"9\"/></svg>%.1f %%</td>",
        share, share);
}

static void write_runs(const struct query *q, FILE *out)
{
    char tests[HTML_WORDS], fail[HTML_WORDS], head[400];
    bool models = HAS(&q->runs, query_run, model);
    snprintf(head, sizeof head,
             "<th>Run</th><th class=\"n\">Tests</th><th class=\"n\">Failed</th><th>Target</th>%s"
             "<th class=\"n\">Undecided</th><th class=\"n\">Tests/s</th><th>Coverage</th>",
             models ? "<th>Model</th>" : "");
    begin_table("Runs", head, out);
    for (size_t i = 0; i < q->runs.count; i++) {
        const struct query_run *r = &q->runs.data[i];
        html(out, "<tr><td>%s</td><td class=\"n\">%s</td><td class=\"n %s\">%s</td><td>%s</td>",
             r->name, html_count((uint64_t)r->tests, tests), r->fail ? "bad" : "",
             html_count((uint64_t)r->fail, fail), r->target);
        write_cell(models, r->model, out);
        html(out, "<td class=\"n\">%jd</td><td class=\"n\">%.1f</td>", (intmax_t)r->undecided,
             r->seconds > 0 ? (double)r->tests / r->seconds : 0);
        write_share(r->points, r->known, out);
        fputs("</tr>\n", out);
    }
    end_table(out);
}

static void write_slowest(const struct query *q, FILE *out)
{
    char span[HTML_WORDS], cycles[HTML_WORDS], head[400];
    bool profiles = HAS(&q->slowest, query_test, profile);
    if (!q->slowest.count)
        return;
    snprintf(head, sizeof head,
             "<th>Run</th><th class=\"n\">Test</th>%s<th class=\"n\">Operations</th>"
             "<th class=\"n\">Cycles</th><th class=\"n\">Time</th><th>Verdict</th>",
             profiles ? "<th>Profile</th>" : "");
    begin_table("Slowest tests", head, out);
    for (size_t i = 0; i < q->slowest.count; i++) {
        const struct query_test *t = &q->slowest.data[i];
        html(out, "<tr><td>%s</td><td class=\"n\">%jd</td>", run_name(q, t->run),
             (intmax_t)t->number);
        write_cell(profiles, t->profile, out);
        html(out, "<td class=\"n\">%jd</td><td class=\"n\">%s</td>", (intmax_t)t->operations,
             t->cycles ? html_count((uint64_t)t->cycles, cycles) : "\u2013");
        html(out, "<td class=\"n\">%s</td><td class=\"%s\">%s</td></tr>\n",
             html_span(t->seconds, span), strcmp(t->verdict, "FAIL") == 0 ? "bad" : "soft",
             t->verdict);
    }
    end_table(out);
}

static void write_machines(const struct query *q, FILE *out)
{
    char tests[HTML_WORDS];
    begin_table("Machines",
                "<th>Target</th><th>Machine</th><th>Revision</th><th class=\"n\">Tests</th>", out);
    for (size_t i = 0; i < q->machines.count; i++) {
        const struct query_machine *m = &q->machines.data[i];
        html(out, "<tr><td>%s</td><td>%s", m->target, m->description);
        if (*m->configuration && !strstr(m->description, m->configuration))
            html(out, "<div><code>%s</code></div>", m->configuration);
        html(out, "</td><td><code>%s</code></td><td class=\"n\">%s</td></tr>\n",
             *m->revision ? m->revision : "\u2013", html_count((uint64_t)m->tests, tests));
    }
    end_table(out);
}

static void write_incidents(const struct query *q, FILE *out)
{
    char when[HTML_WORDS];
    if (!q->incidents.count) {
        fputs("<h2>Incidents</h2>\n<p class=\"all-good\">There were none.</p>\n", out);
        return;
    }
    begin_table_of("folding", "Incidents", "<th>When</th><th>Kind</th><th>Run</th><th>What</th>",
                   out);
    for (size_t i = 0; i < q->incidents.count; i++) {
        const struct query_incident *n = &q->incidents.data[i];
        html(out,
             "<tr><td class=\"when\">%s</td><td><span class=\"pill warn\">%s</span></td><td>%s</td>"
             "<td class=\"words\">%s</td></tr>\n",
             html_time(n->time, when), n->kind, run_name(q, n->run), n->text);
    }
    end_table(out);
    if ((int64_t)q->incidents.count < q->incident_count)
        html(out, "<p class=\"note\">The newest %zu of %jd.</p>\n", q->incidents.count,
             (intmax_t)q->incident_count);
}

static void write_sessions(const struct query *q, FILE *out)
{
    char begun[HTML_WORDS], ended[HTML_WORDS];
    begin_table("Sessions", "<th>Begun</th><th>Ended</th><th>How</th><th>Program</th><th>Host</th>",
                out);
    for (size_t i = q->sessions.count; i-- > 0;) {
        const struct query_session *n = &q->sessions.data[i];
        html(
            out,
            "<tr><td class=\"when\">%s</td><td class=\"when\">%s</td><td>%s</td><td>%s</td><td>%s</td>"
            "</tr>\n",
            html_time(n->started, begun), html_time(n->ended, ended),
            *n->end                     ? n->end
            : i + 1 < q->sessions.count ? "killed"
                                        : "\u2013",
            n->program, n->host);
    }
    end_table(out);
}

static bool write_overview(struct site *s, const struct history *h)
{
    const struct query *q = history_newest(h);
    FILE *out = site_begin(s, "index", site_base(q->file), NULL);
    if (!out)
        return false;
    write_head(q, out);
    write_tiles(q, out);
    write_causes(s, h, out);
    history_write(h, out);
    fputs("<h2>Over time</h2>\n<div class=\"plots\">\n", out);
    write_cover_chart(q, out);
    write_speed_chart(q, out);
    fputs("</div>\n", out);
    write_runs(q, out);
    write_slowest(q, out);
    write_machines(q, out);
    write_incidents(q, out);
    write_sessions(q, out);
    site_end(s);
    return true;
}

/* ---- the page of a cause ----------------------------------------------------------------------- */

static void write_failures(const struct cause *c, FILE *out)
{
    size_t shown = 0;
    begin_table("Tests that fail so",
                "<th>Run</th><th class=\"n\">Test</th><th>Model</th>"
                "<th class=\"n\">Operations</th><th>Why</th>",
                out);
    for (size_t i = 0; i < c->in->failures.count; i++) {
        const struct query_failure *f = &c->in->failures.data[i];
        if (f->bucket != c->newest->id)
            continue;
        shown++;
        html(out,
             "<tr><td>%s</td><td class=\"n\">%jd</td><td>%s</td><td class=\"n\">%jd</td>"
             "<td class=\"why\"><code>%s</code></td></tr>\n",
             run_name(c->in, f->run), (intmax_t)f->number, f->model, (intmax_t)f->operations,
             f->reason);
    }
    end_table(out);
    if ((int64_t)shown < c->newest->failures)
        html(out, "<p class=\"note\">%zu of %jd.</p>\n", shown, (intmax_t)c->newest->failures);
}

static bool write_example(const struct cause *c, bool no_waves, FILE *out)
{
    char path[PATH_MAX];
    struct failure_page page = { .folder = path, .prefix = c->page, .no_waves = no_waves };
    if (!*c->newest->folder) {
        fputs("<p class=\"note\">No example of it was kept.</p>\n", out);
        return true;
    }
    if (!example_folder(c->in->file, c->newest->folder, path, sizeof path)
        || !failure_page_is(path)) {
        html(out, "<p class=\"note\">The example that was kept is not there: %s</p>\n", path);
        return true;
    }
    return failure_page_write(&page, out);
}

static bool write_cause(struct site *s, const struct history *h, const struct cause *c,
                        bool no_waves)
{
    const struct query_bucket *b = c->newest;
    char first[HTML_WORDS], last[HTML_WORDS], title[512];
    FILE *out = site_begin(s, c->page, words_of_title(b, title, sizeof title), "index");
    if (!out)
        return false;
    html(out, "<header><p class=\"kicker\">A cause of failures: the machine %s",
         words_of_kind(b->kind));
    fputs("</p>", out);
    html(out, "<h1>%s</h1>", title);
    write_core(b, out);
    html(out, "<p class=\"lead\">%jd failing test%s. Signature <code>%s</code>.",
         (intmax_t)c->failures, c->failures == 1 ? "" : "s", b->signature);
    if (h->count > 1)
        html(out, " First in the database of %s, last in that of %s.",
             html_time(query_sums(&h->databases[c->first]).started, first),
             html_time(query_sums(&h->databases[c->last]).started, last));
    write_word(h, c, out);
    fputs("</p></header>\n", out);
    bool good = write_example(c, no_waves, out);
    write_failures(c, out);
    site_end(s);
    return good;
}

bool regression_page_write(struct site *s, char **files, int count, bool no_waves, struct why *why)
{
    struct history h = { 0 };
    bool good = history_read(&h, files, count, why)
             && (!site_wants(s, "index") || write_overview(s, &h));
    for (size_t i = 0; good && i < h.causes.count; i++)
        if (site_wants(s, h.causes.data[i].page))
            good = write_cause(s, &h, &h.causes.data[i], no_waves) || why_say(why, "out of memory");
    history_free(&h);
    return good;
}
