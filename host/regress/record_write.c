/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a record, made. */
#include <cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "record.h"

const char *const record_verdicts[] = { "PASS", "FAIL", "UNDECIDED", "LOST" };
const char *const incident_kinds[] = { "build", "target", "lost", "undecided", "worker", "input" };

/* Numbers of cJSON are doubles. */
static void add_number(cJSON *to, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    cJSON_AddRawToObject(to, name, text);
}

static void add_seconds(cJSON *to, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.6f", value > 0 ? value : 0);
    cJSON_AddRawToObject(to, "seconds", text);
}

static void add_text(cJSON *to, const char *name, const char *text)
{
    if (text)
        cJSON_AddStringToObject(to, name, text);
}

static cJSON *head_line(const struct record *r)
{
    cJSON *line = cJSON_CreateObject();
    add_number(line, "ordeal-record", RECORD_VERSION);
    add_text(line, "program", r->program);
    add_text(line, "target", r->target);
    add_number(line, "seed", r->seed);
    add_number(line, "first", r->first);
    add_text(line, "how", r->how);
    cJSON *machine = cJSON_AddObjectToObject(line, "machine");
    add_text(machine, "description", r->machine.description);
    add_text(machine, "identity", r->machine.identity);
    add_text(machine, "sources", r->machine.sources);
    add_text(machine, "configuration", r->machine.configuration);
    add_text(machine, "revision", r->machine.revision);
    return line;
}

static void add_failure(cJSON *line, const struct record_failure *f)
{
    cJSON *to = cJSON_AddObjectToObject(line, "failure");
    add_number(to, "iteration", f->iteration);
    add_text(to, "model", f->model);
    add_text(to, "signature", f->signature);
    add_text(to, "kind", f->kind);
    add_text(to, "title", f->title);
    add_text(to, "reason", f->reason);
    add_number(to, "operations", f->operations);
    add_text(to, "folder", f->folder);
    if (f->shrunk)
        add_number(to, "small", f->small);
}

static cJSON *test_line(const struct record_test *t, bool cover)
{
    cJSON *line = cJSON_CreateObject();
    add_number(line, "test", t->number);
    add_text(line, "verdict", record_verdicts[t->verdict]);
    add_text(line, "profile", t->profile);
    add_text(line, "configuration", t->configuration);
    add_number(line, "iterations", t->iterations);
    add_number(line, "outcomes", t->outcomes);
    add_number(line, "operations", t->operations);
    add_number(line, "cycles", t->cycles);
    add_seconds(line, t->seconds);
    if (cover) {
        add_number(line, "points", t->points);
        cJSON *news = cJSON_AddArrayToObject(line, "news");
        for (size_t i = 0; i < t->news.count; i++)
            cJSON_AddItemToArray(news, cJSON_CreateNumber(t->news.data[i]));
    }
    if (t->failure)
        add_failure(line, t->failure);
    return line;
}

static cJSON *incident_line(const struct record_incident *i)
{
    cJSON *line = cJSON_CreateObject();
    add_text(line, "incident", incident_kinds[i->kind]);
    add_number(line, "test", i->test);
    add_text(line, "text", i->text);
    return line;
}

static cJSON *reached_line(uint64_t known)
{
    cJSON *line = cJSON_CreateObject();
    add_number(line, "known", known);
    add_number(line, "of", COVER_POINTS);
    cJSON_AddArrayToObject(line, "reached");
    return line;
}

static void add_reached(cJSON *line, uint32_t point, uint64_t count)
{
    cJSON *pair = cJSON_CreateArray();
    cJSON_AddItemToArray(pair, cJSON_CreateNumber(point));
    cJSON_AddItemToArray(pair, cJSON_CreateNumber((double)count));
    cJSON_AddItemToArray(cJSON_GetObjectItem(line, "reached"), pair);
}

static cJSON *end_line(const struct record *r, uint64_t lines)
{
    cJSON *line = cJSON_CreateObject();
    add_text(line, "end", r->end);
    add_text(line, "reason", r->reason ? r->reason : "");
    add_seconds(line, r->seconds);
    add_number(line, "lines", lines);
    return line;
}

/* Frees it. 0 or an errno. */
static int write_line(cJSON *line, FILE *out)
{
    char *text = cJSON_PrintUnformatted(line);
    bool whole = text && !json_failed();
    int error = !whole ? ENOMEM : fprintf(out, "%s\n", text) < 0 ? (errno ? errno : EIO) : 0;
    cJSON_free(text);
    cJSON_Delete(line);
    return error;
}

static void put(struct record_writer *w, cJSON *line)
{
    if (w->error)
        cJSON_Delete(line);
    else
        w->error = write_line(line, w->out.file);
    w->lines++;
}

int record_begin(struct record_writer *w, const char *file, const struct record *head)
{
    *w = (struct record_writer){ 0 };
    w->error = output_open(&w->out, file);
    if (!w->error && head->cover && !(w->counts = calloc(COVER_POINTS, sizeof *w->counts)))
        w->error = ENOMEM;
    if (!w->error)
        put(w, head_line(head));
    return w->error;
}

static void note_hits(struct record_writer *w, struct record_test *t, const struct cover_hits *hits)
{
    t->points = 0;
    for (uint32_t i = 0; i < COVER_WORDS; i++)
        for (uint64_t bits = hits->bits[i]; bits; bits &= bits - 1) {
            uint32_t point = i * 64 + (uint32_t)__builtin_ctzll(bits);
            t->points++;
            w->counts[point]++;
            if (!cover_is_hit(&w->before, point) && !LIST_PUSH(&t->news, point))
                w->error = ENOMEM;
        }
    cover_hits_add(&w->before, hits);
}

void record_add_test(struct record_writer *w, const struct record_test *t,
                     const struct cover_hits *hits)
{
    struct record_test with = *t;
    if (w->counts && hits)
        note_hits(w, &with, hits);
    put(w, test_line(&with, w->counts));
    if (with.news.data != t->news.data)
        LIST_FREE(&with.news);
}

void record_add_incident(struct record_writer *w, const struct record_incident *i)
{
    put(w, incident_line(i));
}

static void put_reached(struct record_writer *w, uint64_t known)
{
    cJSON *line = reached_line(known);
    for (uint32_t i = 0; i < COVER_POINTS; i++)
        if (w->counts[i])
            add_reached(line, i, w->counts[i]);
    put(w, line);
}

int record_end(struct record_writer *w, const struct record *tail)
{
    if (w->counts)
        put_reached(w, tail->known);
    put(w, end_line(tail, w->lines));
    int error = w->error;
    if (!error)
        error = output_commit(&w->out);
    record_abandon(w);
    return error;
}

void record_abandon(struct record_writer *w)
{
    output_abandon(&w->out);
    free(w->counts);
    w->counts = NULL;
}

bool record_write(const struct record *r, FILE *out)
{
    uint64_t lines = 1;
    bool good = write_line(head_line(r), out) == 0;
    for (size_t i = 0; good && i < r->tests.count; i++, lines++)
        good = write_line(test_line(&r->tests.data[i], r->cover), out) == 0;
    for (size_t i = 0; good && i < r->incidents.count; i++, lines++)
        good = write_line(incident_line(&r->incidents.data[i]), out) == 0;
    if (good && r->cover) {
        cJSON *line = reached_line(r->known);
        for (size_t i = 0; i < r->reached.count; i++)
            add_reached(line, r->reached.data[i].point, r->reached.data[i].count);
        good = write_line(line, out) == 0;
        lines++;
    }
    return good && write_line(end_line(r, lines), out) == 0;
}
