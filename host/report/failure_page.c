/* SPDX-License-Identifier: Apache-2.0 */
#include "failure_page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "execution.h"
#include "html.h"
#include "trial/saved.h"
#include "waves_data.h"

enum { MOST_TEXT = 64 << 20, MOST_SHOWN_TEXT = 1 << 16 };

/* ---- files of the folder ----------------------------------------------------------------------- */

/* Its text, or NULL: there is none, and `why` says more. A file that is longer is refused. */
static char *text_of(const char *folder, const char *name, struct why *why)
{
    FILE *in;
    if (saved_open(folder, name, &in, why) != SAVED_THERE)
        return NULL;
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room), *grown;
    for (size_t got;
         text && size < MOST_TEXT && (got = fread(text + size, 1, room - size - 1, in));) {
        size += got;
        if (room - size < 2 && (grown = realloc(text, room *= 2)))
            text = grown;
        else if (room - size < 2)
            break;
    }
    bool whole = text && feof(in);
    fclose(in);
    if (whole && strnlen(text, size) == size) {
        text[size] = '\0';
        return text;
    }
    free(text);
    why_say(why, "%.800s/%s: it is too long, or is no text", folder, name);
    return NULL;
}

static cJSON *verdict_of(const char *folder, const char *prefix)
{
    char name[64];
    struct why why;
    snprintf(name, sizeof name, "%s%s", prefix, SAVED_VERDICT);
    char *text = text_of(folder, name, &why);
    cJSON *verdict = text ? cJSON_Parse(text) : NULL;
    free(text);
    return verdict;
}

static const char *field(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
    return text ? text : "";
}

bool failure_page_is(const char *folder)
{
    struct why why;
    return saved_is_there(folder, SAVED_TEST, &why) == SAVED_THERE
        && saved_is_there(folder, SAVED_VERDICT, &why) == SAVED_THERE;
}

void failure_page_line(const char *folder, struct failure_page_line *line)
{
    cJSON *verdict = verdict_of(folder, "");
    snprintf(line->reason, sizeof line->reason, "%s", field(verdict, "reason"));
    snprintf(line->cause, sizeof line->cause, "%s", field(verdict, "signature"));
    cJSON_Delete(verdict);
}

/* ---- how it is run again ----------------------------------------------------------------------- */

static bool read_run(const char *folder, const char *prefix, struct saved_run *run, struct why *why)
{
    char name[64];
    FILE *in;
    struct ordeal_error e;
    snprintf(name, sizeof name, "%s%s", prefix, SAVED_RUN);
    if (saved_open(folder, name, &in, why) != SAVED_THERE)
        return false;
    bool good = saved_run_read(run, in, name, &e);
    fclose(in);
    return good || why_say(why, "%.100s:%ju: %.700s", name, (uintmax_t)e.line, e.reason);
}

static void put_word(const char *folder, const char *test, const char *word, FILE *out)
{
    char path[PATH_MAX], *quoted = NULL;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, test);
    FILE *f = text_stream(&quoted, &size);
    if (f)
        saved_run_quote(strcmp(word, SAVED_TEST) == 0 ? path : word, f);
    if (f && fclose(f) == 0)
        html(out, " %s", quoted);
    free(quoted);
}

static void write_words(const char *folder, const char *test, const struct saved_run *run,
                        FILE *out)
{
    struct saved_run_words words;
    saved_run_words(run, &words);
    fputs("<div class=\"command\"><span>Run it again</span><code>ordeal", out);
    for (size_t i = 0; i < words.count; i++)
        put_word(folder, test, words.word[i], out);
    fputs("</code><button type=\"button\" class=\"copy\" hidden=\"hidden\">Copy</button></div>\n",
          out);
}

static void put_fact(const char *name, const char *value, FILE *out)
{
    if (value && *value)
        html(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

static void write_facts(const cJSON *verdict, const struct saved_run *run, FILE *out)
{
    char seed[32] = "";
    if (run)
        snprintf(seed, sizeof seed, "%ju", (uintmax_t)run->how.seed);
    fputs("<dl class=\"facts\">\n", out);
    if (!cJSON_IsTrue(cJSON_GetObjectItem(verdict, "broke")))
        put_fact("Violates", run ? ordeal_model_name(run->against) : field(verdict, "model"), out);
    put_fact("Cause", field(verdict, "signature"), out);
    put_fact("Target", run ? run->target->name : "", out);
    put_fact("Machine", field(verdict, "machine"), out);
    put_fact("Bug switched on", run ? run->how.bug : "", out);
    put_fact("Profile", field(verdict, "profile"), out);
    put_fact("Seed", seed, out);
    fputs("</dl>\n", out);
}

/* ---- one execution, as it ran or made small ------------------------------------------------------ */

/* NULL: there are none, or they are told of. */
static cJSON *read_waves(const struct failure_page *p, const char *prefix,
                         const struct waves_view *view, FILE *out)
{
    char name[64];
    struct why why;
    FILE *in;
    snprintf(name, sizeof name, "%s%s", prefix, SAVED_WAVES);
    if (p->no_waves || !view->last)
        return NULL;
    enum saved_there there = saved_open(p->folder, name, &in, &why);
    cJSON *waves = there == SAVED_THERE ? waves_data(fileno(in), view, &why) : NULL;
    if (in)
        fclose(in);
    if (!waves && there != SAVED_ABSENT)
        html(out, "<p class=\"note\">%s: %s</p>\n", name, why.text);
    return waves;
}

struct part {
    const char *prefix, *trace, *test, *id, *title;
};
static const struct part parts[] = {
    { SAVED_SMALL "/", SAVED_SMALL "/" SAVED_TRACE, SAVED_SMALL "/" SAVED_TEST, "small",
      "Made small" },
    { "", SAVED_TRACE, SAVED_TEST, "whole", "As it ran" },
};
enum { PARTS = sizeof parts / sizeof *parts };

/* How it is run again: the small test is another, in another iteration. */
static void write_replay(const struct failure_page *p, const struct part *part, FILE *out)
{
    struct why why = { "out of memory" };
    struct saved_run *run = calloc(1, sizeof *run);
    if (run && read_run(p->folder, part->prefix, run, &why))
        write_words(p->folder, part->test, run, out);
    else
        html(out, "<p class=\"note\">The folder does not say how to run it again: %s</p>\n",
             why.text);
    free(run);
}

static void write_test(const struct failure_page *p, const struct part *part, FILE *out)
{
    struct why why;
    char *text = text_of(p->folder, part->test, &why);
    if (text && strlen(text) > MOST_SHOWN_TEXT)
        text[MOST_SHOWN_TEXT] = '\0';
    if (text)
        html(
            out,
            "<details class=\"listing\"><summary>The test, %s</summary>\n<pre>%s</pre></details>\n",
            part->test, text);
    free(text);
}

/* A machine that broke leaves no trace but words; a trace that cannot be read is told of. */
static bool write_broke(const struct failure_page *p, const struct part *part, const char *prefix,
                        struct why *why, FILE *out)
{
    char name[64];
    struct why none;
    struct waves_view view;
    snprintf(name, sizeof name, "%s%s", part->prefix, SAVED_EXPLANATION);
    char *text = text_of(p->folder, name, &none);
    bool broke = text && saved_is_there(p->folder, part->trace, &none) == SAVED_ABSENT;
    cJSON *verdict = verdict_of(p->folder, part->prefix);
    const char *reason = field(verdict, "reason");
    if (*reason)
        html(out, "<p class=\"reason\"><code>%s</code></p>\n", reason);
    if (!broke)
        html(out, "<p class=\"note\">%s</p>\n", why->text);
    if (text && !(*reason && strstr(text, reason)))
        html(out, "<pre class=\"told\">%s</pre>\n", text);
    cJSON_Delete(verdict);
    if (broke)
        waves_of_words(&view, text);
    cJSON *waves = broke ? read_waves(p, part->prefix, &view, out) : NULL;
    free(text);
    return !waves || execution_write_waves(waves, prefix, out);
}

static bool write_execution(const struct failure_page *p, const struct part *part,
                            const enum ordeal_model *model, FILE *out)
{
    struct execution x = { 0 };
    struct why why;
    char prefix[128];
    char *text = text_of(p->folder, part->trace, &why);
    snprintf(prefix, sizeof prefix, "%s-%s-", p->prefix, part->id);
    bool good;
    if (text && execution_open(&x, text, part->trace, model, &why)) {
        cJSON *waves = read_waves(p, part->prefix, &x.view, out);
        if (waves)
            execution_add_waves(&x, waves);
        good = execution_write(&x, prefix, out);
    } else {
        good = write_broke(p, part, prefix, &why, out);
    }
    execution_close(&x);
    free(text);
    return good;
}

static bool write_part(const struct failure_page *p, const struct part *part,
                       const enum ordeal_model *model, FILE *out)
{
    html(out,
         "<section class=\"part\" id=\"%s-%s\" data-part=\"%s\" data-tab=\"%s\">\n<h2>%s</h2>\n",
         p->prefix, part->id, part->id, part->title, part->title);
    write_replay(p, part, out);
    bool good = write_execution(p, part, model, out);
    write_test(p, part, out);
    fputs("</section>\n", out);
    return good;
}

static void write_what_if(const char *prefix, FILE *out)
{
    html(
        out,
        "<section class=\"what-if\" id=\"%s-what-if\" data-page=\"%s\" hidden=\"hidden\">\n<h2>What if</h2>\n"
        "<p>Change a value, drop an operation or add a fence, and see the verdict again.</p>\n"
        "</section>\n",
        prefix, prefix);
}

/* What it was judged by: run.txt knows, or the verdict does. False: nobody. */
static bool model_of(const cJSON *verdict, const struct saved_run *run, enum ordeal_model *model)
{
    if (run)
        *model = run->against;
    return run || ordeal_model_parse(field(verdict, "model"), model);
}

bool failure_page_write(const struct failure_page *p, FILE *out)
{
    struct saved_run *run = calloc(1, sizeof *run);
    struct why why;
    enum ordeal_model model;
    cJSON *verdict = verdict_of(p->folder, "");
    bool good = run != NULL, replays = good && read_run(p->folder, "", run, &why);
    write_facts(verdict, replays ? run : NULL, out);
    bool known = model_of(verdict, replays ? run : NULL, &model);
    for (int i = 0; i < PARTS; i++)
        if (i == PARTS - 1 || saved_is_there(p->folder, parts[i].test, &why) == SAVED_THERE)
            good = write_part(p, &parts[i], known ? &model : NULL, out) && good;
    write_what_if(p->prefix, out);
    cJSON_Delete(verdict);
    free(run);
    return good;
}

char *failure_page_trace(const char *folder, const char *part, enum ordeal_model *model,
                         bool *known, struct why *why)
{
    struct saved_run *run = calloc(1, sizeof *run);
    struct why none;
    cJSON *verdict = verdict_of(folder, "");
    char *text = NULL;
    *known = run && model_of(verdict, read_run(folder, "", run, &none) ? run : NULL, model);
    why_say(why, "there is no such part");
    for (int i = 0; i < PARTS; i++)
        if (strcmp(part, parts[i].id) == 0)
            text = text_of(folder, parts[i].trace, why);
    cJSON_Delete(verdict);
    free(run);
    return text;
}
