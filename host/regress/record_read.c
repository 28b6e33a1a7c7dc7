/* SPDX-License-Identifier: Apache-2.0 */
/* A record, read back and checked. */
#include <cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "record.h"

static const double most_number = 9007199254740992.0; /* of which every whole one is a double */

struct reading {
    struct record *r;
    const char *name;
    uint64_t line;
    bool ended;
    struct why *why;
};

static bool refuse(struct reading *g, const char *reason)
{
    return why_say(g->why, "%.300s:%llu: %s", g->name, (unsigned long long)g->line, reason);
}

/* ---- members ----------------------------------------------------------------------------------- */

static bool is_whole(const cJSON *item)
{
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= most_number
        && item->valuedouble == floor(item->valuedouble);
}

static bool take_number(struct reading *g, const cJSON *from, const char *name, uint64_t *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(from, name);
    if (!is_whole(item))
        return why_say(g->why, "%.300s:%llu: '%s' is to be a whole number", g->name,
                       (unsigned long long)g->line, name);
    *value = (uint64_t)item->valuedouble;
    return true;
}

static bool take_seconds(struct reading *g, const cJSON *from, double *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(from, "seconds");
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || !(item->valuedouble < 1e12))
        return refuse(g, "'seconds' is to be a number");
    *value = item->valuedouble;
    return true;
}

/* Its own copy; NULL where it may be missing and is. */
static bool take_text(struct reading *g, const cJSON *from, const char *name, bool must,
                      char **text)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(from, name));
    *text = value ? strdup(value) : NULL;
    if (value && !*text)
        return refuse(g, "out of memory");
    return *text || !must
        || why_say(g->why, "%.300s:%llu: '%s' is missing", g->name, (unsigned long long)g->line,
                   name);
}

static bool copy_text(struct reading *g, const cJSON *from, const char *name, char *to, size_t size)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(from, name));
    if (!value || strlen(value) >= size)
        return why_say(g->why, "%.300s:%llu: '%s' is missing or too long", g->name,
                       (unsigned long long)g->line, name);
    strcpy(to, value);
    return true;
}

/* The entry of a table of names; -1: none. */
static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; name && i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* ---- lines ------------------------------------------------------------------------------------- */

static bool take_head(struct reading *g, const cJSON *line)
{
    struct record *r = g->r;
    uint64_t version;
    const cJSON *machine = cJSON_GetObjectItemCaseSensitive(line, "machine");
    if (!take_number(g, line, "ordeal-record", &version))
        return refuse(g, "this is no record");
    if (version != RECORD_VERSION)
        return why_say(g->why, "%.300s: a record of version %llu; this program knows %d", g->name,
                       (unsigned long long)version, RECORD_VERSION);
    return take_text(g, line, "program", true, &r->program)
        && take_text(g, line, "target", true, &r->target)
        && take_text(g, line, "how", true, &r->how) && take_number(g, line, "seed", &r->seed)
        && take_number(g, line, "first", &r->first)
        && copy_text(g, machine, "description", r->machine.description,
                     sizeof r->machine.description)
        && copy_text(g, machine, "identity", r->machine.identity, sizeof r->machine.identity)
        && copy_text(g, machine, "sources", r->machine.sources, sizeof r->machine.sources)
        && copy_text(g, machine, "configuration", r->machine.configuration,
                     sizeof r->machine.configuration)
        && copy_text(g, machine, "revision", r->machine.revision, sizeof r->machine.revision);
}

/* It is one in --save, and nothing else. */
static bool is_name(const char *folder)
{
    return *folder && *folder != '.' && !strchr(folder, '/') && strlen(folder) < 200;
}

static bool take_failure(struct reading *g, const cJSON *line, struct record_test *t)
{
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(line, "failure");
    if (!from != (t->verdict != RECORD_FAIL))
        return refuse(g, "'failure' is of a FAIL, which has it");
    if (!from)
        return true;
    struct record_failure *f = t->failure = calloc(1, sizeof *f);
    if (!f)
        return refuse(g, "out of memory");
    f->shrunk = cJSON_GetObjectItemCaseSensitive(from, "small");
    if (!take_number(g, from, "iteration", &f->iteration)
        || !take_text(g, from, "model", true, &f->model)
        || !take_text(g, from, "signature", true, &f->signature)
        || !take_text(g, from, "kind", true, &f->kind)
        || !take_text(g, from, "title", true, &f->title)
        || !take_text(g, from, "reason", true, &f->reason)
        || !take_number(g, from, "operations", &f->operations)
        || !take_text(g, from, "folder", false, &f->folder)
        || (f->shrunk && !take_number(g, from, "small", &f->small)))
        return false;
    return !f->folder || is_name(f->folder) || refuse(g, "'folder' is to be a name");
}

static bool take_news(struct reading *g, const cJSON *line, struct record_test *t)
{
    const cJSON *points = cJSON_GetObjectItemCaseSensitive(line, "points");
    const cJSON *news = cJSON_GetObjectItemCaseSensitive(line, "news");
    const cJSON *item;
    uint64_t number;
    if (!points)
        return true;
    if (!take_number(g, line, "points", &number) || number > COVER_POINTS || !cJSON_IsArray(news))
        return *g->why->text ? false : refuse(g, "'points' and 'news' go together");
    g->r->cover = true;
    t->points = (uint32_t)number;
    cJSON_ArrayForEach(item, news)
    {
        double last = t->news.count ? (double)t->news.data[t->news.count - 1] : -1;
        if (!is_whole(item) || item->valuedouble >= COVER_POINTS || item->valuedouble <= last)
            return refuse(g, "'news' are to be numbers of points, ascending");
        if (!LIST_PUSH(&t->news, (uint32_t)item->valuedouble))
            return refuse(g, "out of memory");
    }
    return t->news.count <= t->points || refuse(g, "more 'news' than 'points'");
}

static bool take_test(struct reading *g, const cJSON *line)
{
    struct record *r = g->r;
    struct record_test empty = { 0 };
    const char *verdict = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, "verdict"));
    int which = find_name(record_verdicts, RECORD_VERDICTS, verdict);
    if (!LIST_PUSH(&r->tests, empty))
        return refuse(g, "out of memory");
    struct record_test *t = &r->tests.data[r->tests.count - 1];
    if (which < 0)
        return refuse(g, "'verdict' is to be PASS, FAIL, UNDECIDED or LOST");
    t->verdict = (enum record_verdict)which;
    if (!take_number(g, line, "test", &t->number)
        || !take_text(g, line, "profile", false, &t->profile)
        || !take_text(g, line, "configuration", false, &t->configuration)
        || !take_number(g, line, "iterations", &t->iterations)
        || !take_number(g, line, "outcomes", &t->outcomes)
        || !take_number(g, line, "operations", &t->operations)
        || !take_number(g, line, "cycles", &t->cycles) || !take_seconds(g, line, &t->seconds))
        return false;
    if (t->number < r->first || (r->tests.count > 1 && t->number <= t[-1].number))
        return refuse(g, "tests are to be in order");
    return take_news(g, line, t) && take_failure(g, line, t);
}

static bool take_incident(struct reading *g, const cJSON *line, const char *kind)
{
    struct record *r = g->r;
    struct record_incident i = { 0 };
    int which = find_name(incident_kinds, INCIDENT_KINDS, kind);
    if (which < 0)
        return refuse(g, "there is no incident of this kind");
    i.kind = (enum incident_kind)which;
    if (!take_number(g, line, "test", &i.test) || !take_text(g, line, "text", true, &i.text))
        return false;
    if (LIST_PUSH(&r->incidents, i))
        return true;
    free(i.text);
    return refuse(g, "out of memory");
}

static bool take_reached(struct reading *g, const cJSON *line)
{
    struct record *r = g->r;
    uint64_t all;
    const cJSON *pair, *list = cJSON_GetObjectItemCaseSensitive(line, "reached");
    if (!take_number(g, line, "known", &r->known) || !take_number(g, line, "of", &all))
        return false;
    if (all != COVER_POINTS)
        return refuse(g, "it has other points of coverage than this program");
    r->cover = true;
    cJSON_ArrayForEach(pair, list)
    {
        const cJSON *point = cJSON_GetArrayItem(pair, 0), *count = cJSON_GetArrayItem(pair, 1);
        double last = r->reached.count ? (double)r->reached.data[r->reached.count - 1].point : -1;
        if (!is_whole(point) || !is_whole(count) || point->valuedouble >= COVER_POINTS
            || point->valuedouble <= last || count->valuedouble < 1)
            return refuse(g, "'reached' are to be points with counts, ascending");
        struct record_reached one = { (uint32_t)point->valuedouble, (uint64_t)count->valuedouble };
        if (!LIST_PUSH(&r->reached, one))
            return refuse(g, "out of memory");
    }
    return true;
}

static bool take_end(struct reading *g, const cJSON *line)
{
    uint64_t lines;
    if (!take_text(g, line, "end", true, &g->r->end)
        || !take_text(g, line, "reason", true, &g->r->reason)
        || !take_seconds(g, line, &g->r->seconds) || !take_number(g, line, "lines", &lines))
        return false;
    g->ended = true;
    return lines == g->line - 1 || refuse(g, "some lines are missing");
}

static bool take_line(struct reading *g, const cJSON *line)
{
    const char *incident = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, "incident"));
    if (g->ended)
        return refuse(g, "something follows the end");
    if (g->line == 1)
        return take_head(g, line);
    if (incident)
        return take_incident(g, line, incident);
    if (cJSON_GetObjectItemCaseSensitive(line, "end"))
        return take_end(g, line);
    if (cJSON_GetObjectItemCaseSensitive(line, "reached"))
        return g->r->reached.count == 0 ? take_reached(g, line)
                                        : refuse(g, "'reached' is there twice");
    return take_test(g, line);
}

bool record_read(struct record *r, FILE *in, const char *name, struct why *why)
{
    struct reading g = { .r = r, .name = name, .why = why };
    char *text = NULL;
    size_t size = 0;
    bool good = true;
    *r = (struct record){ 0 };
    why->text[0] = '\0';
    while (good && getline(&text, &size, in) > 0) {
        g.line++;
        cJSON *line = cJSON_Parse(text);
        good = cJSON_IsObject(line) ? take_line(&g, line) : refuse(&g, "this is no JSON object");
        cJSON_Delete(line);
    }
    free(text);
    json_failed();
    if (good && !g.ended)
        good = refuse(&g, "it has no end");
    return good;
}

bool record_load(struct record *r, const char *file, struct why *why)
{
    FILE *in = fopen(file, "re");
    *r = (struct record){ 0 };
    if (!in)
        return why_say(why, "%.300s: %s", file, strerror(errno));
    bool good = record_read(r, in, file, why);
    fclose(in);
    return good;
}

static void free_test(struct record_test *t)
{
    struct record_failure *f = t->failure;
    if (f) {
        free(f->model);
        free(f->signature);
        free(f->kind);
        free(f->title);
        free(f->reason);
        free(f->folder);
    }
    free(f);
    free(t->profile);
    free(t->configuration);
    LIST_FREE(&t->news);
}

void record_free(struct record *r)
{
    for (size_t i = 0; i < r->tests.count; i++)
        free_test(&r->tests.data[i]);
    for (size_t i = 0; i < r->incidents.count; i++)
        free(r->incidents.data[i].text);
    LIST_FREE(&r->tests);
    LIST_FREE(&r->incidents);
    LIST_FREE(&r->reached);
    free(r->program);
    free(r->target);
    free(r->how);
    free(r->end);
    free(r->reason);
}
