/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "gate.h"
#include "report/example.h"
#include "report/failure_page.h"
#include "report/failures_page.h"
#include "report/query.h"

/* The assembler takes them in, from the root of the sources, where make runs. */
__asm__(".section .rodata\n"
        "serve_style:\n.incbin \"host/serve/live.css\"\n.byte 0\n"
        "serve_script:\n.incbin \"host/serve/live.js\"\n.byte 0\n.previous\n");
extern const char serve_style[], serve_script[];

/* The Makefile knows the hashes. */
const char source_policy[] =
    "default-src 'none'; style-src 'sha256-" REPORT_STYLE_HASH "' 'sha256-" SERVE_STYLE_HASH
    "'; script-src 'sha256-" REPORT_SCRIPT_HASH "' 'sha256-" SERVE_SCRIPT_HASH
    "'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

/* ---- what it is ------------------------------------------------------------------------------ */

static char *without_slash(const char *path)
{
    char *copy = strdup(path);
    for (size_t n = copy ? strlen(copy) : 0; n > 1 && copy[n - 1] == '/'; n--)
        copy[n - 1] = '\0';
    return copy;
}

static bool can_be_read(const char *database, struct why *why)
{
    struct query q;
    bool good = query_read_counts(&q, database, why);
    query_free(&q);
    return good;
}

bool source_open(struct source *s, const char *name, bool no_waves, struct why *why)
{
    *s = (struct source){ .name = without_slash(name), .no_waves = no_waves };
    live_open(&s->live, s->name);
    if (!s->name)
        return why_say(why, "out of memory");
    s->kind = subject_kind(s->name, why);
    return s->kind != SUBJECT_NONE && (s->kind != SUBJECT_DATABASE || can_be_read(s->name, why));
}

void source_close(struct source *s)
{
    live_close(&s->live);
    free(s->name);
    s->name = NULL;
}

/* ---- pages ----------------------------------------------------------------------------------- */

char *source_page(struct source *s, const char *page, size_t *size, struct why *why)
{
    const struct assets_live live = { .style = serve_style, .script = serve_script };
    struct site site;
    char *text = NULL;
    FILE *out = text_stream(&text, size);
    why->text[0] = '\0';
    if (out)
        site_open_page(&site, page, &live, out, why);
    bool good = out && subject_write(&site, s->kind, &s->name, 1, s->no_waves, why);
    bool whole = out && fclose(out) == 0;
    if (!whole)
        why_say(why, "out of memory");
    if (good && whole && site.pages)
        return text;
    free(text);
    return NULL;
}

/* ---- traces ---------------------------------------------------------------------------------- */

static bool find_folder(const struct source *s, const char *page, char path[PATH_MAX],
                        struct why *why)
{
    int64_t number;
    char folder[PATH_MAX];
    if (s->kind == SUBJECT_FAILURE && strcmp(page, "index") == 0)
        return snprintf(path, PATH_MAX, "%s", s->name) < PATH_MAX;
    if (s->kind == SUBJECT_FAILURES && gate_number(page, "failure-", &number)
        && failures_page_folder(s->name, (size_t)number, path, PATH_MAX))
        return true;
    if (s->kind == SUBJECT_DATABASE && gate_number(page, "bucket-", &number))
        return query_folder(s->name, number, folder, sizeof folder, why)
            && (example_folder(s->name, folder, path, PATH_MAX)
                || why_say(why, "the example that was kept is not there"));
    return why_say(why, "there is no such page");
}

char *source_trace(void *source, const char *page, const char *part, enum ordeal_model *model,
                   bool *known, struct why *why)
{
    char path[PATH_MAX];
    return find_folder(source, page, path, why) ? failure_page_trace(path, part, model, known, why)
                                                : NULL;
}
