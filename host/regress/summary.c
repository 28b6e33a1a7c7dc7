/* SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/escape.h"
#include "tell/output_line.h"
#include "trial/saved.h"

struct telling {
    struct store *store;
    struct summary *all;
    bool json, good;
};

static void add(cJSON *line, const char *name, uint64_t value)
{
    cJSON_AddNumberToObject(line, name, (double)value);
}

static void add_seconds(cJSON *line, double seconds)
{
    char text[40];
    snprintf(text, sizeof text, "%.3f", seconds);
    cJSON_AddRawToObject(line, "seconds", text);
}

static void add_results(cJSON *line, uint64_t tests, const uint64_t *results)
{
    static const char *const names[] = { "pass", "fail", "undecided", "lost" };
    add(line, "tests", tests);
    for (int i = 0; i < RECORD_VERDICTS; i++)
        add(line, names[i], results[i]);
}

static bool print_run(void *user, const struct store_sum *sum)
{
    struct telling *t = user;
    cJSON *line = output_line_new("RUN", &(struct input){ .name = sum->name });
    add_results(line, sum->tests, sum->results);
    add(line, "incidents", sum->incidents);
    if (sum->skipped)
        add(line, "skipped", sum->skipped);
    if (sum->known) {
        add(line, "points", sum->points);
        add(line, "known", sum->known);
    }
    if (sum->cycles)
        add(line, "cycles", sum->cycles);
    add_seconds(line, sum->seconds);
    t->all->tests += sum->tests;
    t->all->incidents += sum->incidents;
    for (int i = 0; i < RECORD_VERDICTS; i++)
        t->all->results[i] += sum->results[i];
    return t->good = output_line_print(line, t->json);
}

static bool print_bucket(void *user, const struct store_bucket *b)
{
    struct telling *t = user;
    char path[512], small[sizeof b->signature];
    cJSON *line = output_line_new("BUCKET", &(struct input){ .name = b->signature });
    cJSON_AddStringToObject(line, "kind", b->kind);
    add(line, "failures", b->failures);
    cJSON_AddStringToObject(line, "example", b->run_name);
    add(line, "number", b->number);
    add(line, "operations", b->operations);
    cJSON_AddStringToObject(line, "state", b->state);
    snprintf(path, sizeof path, "%s/%s", store_folder(t->store), b->folder);
    saved_words(path, true, "signature", small, sizeof small);
    if (*b->folder && *small)
        cJSON_AddStringToObject(line, "small", small);
    cJSON_AddStringToObject(line, "title", b->title);
    if (*b->folder)
        cJSON_AddStringToObject(line, "saved", path);
    t->all->buckets++;
    return t->good = output_line_print(line, t->json);
}

static bool count_incident(void *user, const struct store_incident *i)
{
    struct telling *t = user;
    t->all->incidents += i->count;
    return true;
}

bool summary_print(struct store *s, const char *name, const char *end, bool json,
                   struct summary *all)
{
    struct telling t = { s, all, json, true };
    *all = (struct summary){ 0 };
    if (!store_each_run(s, print_run, &t) || !store_each_bucket(s, print_bucket, &t)
        || !store_each_incident(s, 0, count_incident, &t))
        return false;
    cJSON *line = output_line_new("REGRESSION", &(struct input){ .name = name });
    add_results(line, all->tests, all->results);
    add(line, "buckets", all->buckets);
    add(line, "incidents", all->incidents);
    cJSON_AddStringToObject(line, "end", end);
    return output_line_print(line, json);
}

static bool print_difference(void *user, const struct store_difference *d)
{
    struct telling *t = user;
    cJSON *line = output_line_new(store_changes[d->change], &(struct input){ .name = d->name });
    static const char *const words[] = { "title", "title", "verdict", "of", "first" };
    cJSON_AddStringToObject(line, words[d->change], d->what);
    if (d->change != STORE_FLAKY) {
        cJSON_AddNumberToObject(line, "before", d->before);
        cJSON_AddNumberToObject(line, "after", d->after);
    }
    return t->good = output_line_print(line, t->json);
}

bool summary_compare(struct store *s, const char *old, bool json, struct why *why)
{
    struct telling t = { .store = s, .json = json, .good = true };
    why->text[0] = '\0';
    return store_compare(s, old, print_difference, &t, why) && t.good;
}

/* ---- JUnit --------------------------------------------------------------------------------------- */

struct junit {
    struct store *store;
    FILE *out;
    const struct store_sum *run;
    const char *run_name;
    bool incidents_fail;
};

/* Within an attribute or an element; control characters cannot be said in XML. */
static void put_xml(FILE *out, const char *text)
{
    for (size_t length; *text; text += length) {
        uint32_t c = escape_character(text, &length);
        if (c == '&' || c == '<' || c == '>' || c == '"')
            fprintf(out, "&#%d;", (int)c);
        else if (c == ESCAPE_NONE || !escape_is_shown(c))
            fputc('?', out);
        else
            fwrite(text, 1, length, out);
    }
}

static void open_case(struct junit *j, const char *name, double seconds)
{
    fputs("    <testcase classname=\"", j->out);
    put_xml(j->out, j->run_name);
    fputs("\" name=\"", j->out);
    put_xml(j->out, name);
    fprintf(j->out, "\" time=\"%.3f\"", seconds);
}

static bool junit_bucket(void *user, const struct store_bucket *b)
{
    struct junit *j = user;
    char message[640];
    open_case(j, b->signature, 0);
    snprintf(message, sizeof message, "%s: %" PRIu64 " tests, one is %s#%" PRIu64, b->title,
             b->failures, b->run_name, b->number);
    fprintf(j->out, "><failure type=\"%s\" message=\"", b->kind);
    put_xml(j->out, message);
    fputs("\">", j->out);
    put_xml(j->out, store_folder(j->store));
    fputc('/', j->out);
    put_xml(j->out, b->folder);
    fputs("</failure></testcase>\n", j->out);
    return true;
}

static bool junit_incident(void *user, const struct store_incident *i)
{
    struct junit *j = user;
    char name[64];
    const char *element = j->incidents_fail ? "error" : "skipped";
    snprintf(name, sizeof name, "incident %s at %" PRIu64, i->kind, i->first);
    open_case(j, name, 0);
    fprintf(j->out, "><%s message=\"", element);
    put_xml(j->out, i->text);
    fprintf(j->out, "\"/></testcase>\n");
    return true;
}

static bool count_one(void *user, const struct store_bucket *b)
{
    (void)b;
    ++*(uint64_t *)user;
    return true;
}

static bool count_incidents(void *user, const struct store_incident *i)
{
    (void)i;
    ++*(uint64_t *)user;
    return true;
}

/* A suite, with how many cases of which kind it has. `sum` NULL: what belongs to no run. */
static bool junit_suite(struct junit *j, const char *name, const struct store_sum *sum)
{
    uint64_t buckets = 0, incidents = 0;
    int64_t run = sum ? sum->id : 0;
    j->run_name = name;
    if ((sum && !store_each_bucket_of(j->store, run, count_one, &buckets))
        || !store_each_incident(j->store, run, count_incidents, &incidents))
        return false;
    if (!sum && !incidents)
        return true;
    fputs("  <testsuite name=\"", j->out);
    put_xml(j->out, name);
    fprintf(j->out,
            "\" tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64
            "\" skipped=\"%" PRIu64 "\" time=\"%.3f\">\n",
            buckets + incidents + (sum != NULL), buckets, j->incidents_fail ? incidents : 0,
            j->incidents_fail ? 0 : incidents, sum ? sum->seconds : 0);
    if (sum) {
        char text[64];
        snprintf(text, sizeof text, "%" PRIu64 " tests", sum->tests);
        open_case(j, text, sum->seconds);
        fputs("/>\n", j->out);
    }
    bool good = (!sum || store_each_bucket_of(j->store, run, junit_bucket, j))
             && store_each_incident(j->store, run, junit_incident, j);
    fputs("  </testsuite>\n", j->out);
    return good;
}

static bool junit_run(void *user, const struct store_sum *sum)
{
    return junit_suite(user, sum->name, sum);
}

int summary_junit(struct store *s, const char *plan, bool incidents_fail, const char *file)
{
    struct output out;
    int error = output_open(&out, file);
    if (error)
        return error;
    struct junit j = { .store = s, .out = out.file, .incidents_fail = incidents_fail };
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"", out.file);
    put_xml(out.file, plan);
    fputs("\">\n", out.file);
    bool all = store_each_run(s, junit_run, &j) && junit_suite(&j, "plan", NULL);
    fputs("</testsuites>\n", out.file);
    if (all)
        return output_commit(&out);
    output_abandon(&out);
    return EIO;
}
