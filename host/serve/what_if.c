/* SPDX-License-Identifier: Apache-2.0 */
#include "what_if.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cJSON.h>

#include "base/apart.h"
#include "base/json.h"
#include "base/text.h"
#include "edits.h"
#include "report/execution.h"

enum { MOST_ANSWER = 32 << 20, MORE_SECONDS = 3 };
static const rlim_t most_memory = (rlim_t)4 << 30; /* of the process, with all it had before */
static const char file_name[] = "what-if", prefix[] = "what-if-";

/* ---- the question ---------------------------------------------------------------------------- */

static const char *text_in(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* False: it is there and no such number. */
static bool number_in(const cJSON *object, const char *name, uint32_t *number)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
    bool good = value >= 0 && value <= UINT32_MAX && value == (double)(uint32_t)value;
    *number = good ? (uint32_t)value : 0;
    return good || !item;
}

static bool read_edit(const cJSON *item, struct edit *e, struct why *why)
{
    const char *kind = text_in(item, "do"), *text = text_in(item, "text");
    int k = 0;
    while (k < EDIT_KINDS && !(kind && strcmp(kind, edit_names[k]) == 0))
        k++;
    *e = (struct edit){ .kind = (enum edit_kind)k, .text = text };
    if (k == EDIT_KINDS)
        return why_say(why, "an edit says \"do\", which is \"value\", \"drop\" or \"insert\"");
    if (!number_in(item, "line", &e->line) || !e->line || !number_in(item, "at", &e->at))
        return why_say(why, "an edit says \"line\", a number from 1, and perhaps \"at\"");
    return text || k == EDIT_DROP || why_say(why, "this edit needs a \"text\"");
}

static bool read_edits(const cJSON *list, struct edits *e, struct why *why)
{
    const cJSON *item;
    if (list && !cJSON_IsArray(list))
        return why_say(why, "\"edits\" is not an array");
    cJSON_ArrayForEach(item, list)
    {
        struct edit edit;
        if (e->list.count == WHAT_IF_EDITS)
            return why_say(why, "more than %d edits", WHAT_IF_EDITS);
        if (!read_edit(item, &edit, why))
            return false;
        if (!LIST_PUSH(&e->list, edit))
            return why_say(why, "out of memory");
    }
    return true;
}

/* The trace itself, or the page that shows it. */
static enum what_if_read find_text(struct what_if *w, const cJSON *json, char **text,
                                   const struct what_if_source *source, struct why *why)
{
    const char *given = text_in(json, "trace"), *page = text_in(json, "page");
    const char *part = text_in(json, "part");
    uint32_t sum;
    if (!number_in(json, "sum", &sum) || !given == !(page && part)) {
        why_say(why, "a question has a \"trace\", or \"page\", \"part\" and \"sum\"");
        return WHAT_IF_BAD;
    }
    *text = given ? strdup(given)
                  : source->trace(source->user, page, part, &w->model, &w->known, why);
    if (*text && !given && execution_sum(*text) != sum) {
        why_say(why, "the page shows another trace by now: load it again");
        return WHAT_IF_GONE;
    }
    return *text ? WHAT_IF_GOOD : WHAT_IF_GONE;
}

static bool read_model(struct what_if *w, const cJSON *json, struct why *why)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, "model");
    const char *name = cJSON_GetStringValue(item);
    if (!item)
        return true;
    w->known = name && ordeal_model_parse(name, &w->model);
    return w->known || why_say(why, "\"model\" is none that is known");
}

static enum what_if_read read_json(struct what_if *w, const cJSON *json,
                                   const struct what_if_source *source, struct why *why)
{
    struct edits edits = { 0 };
    char *text = NULL;
    enum what_if_read is = WHAT_IF_BAD;
    if (read_edits(cJSON_GetObjectItemCaseSensitive(json, "edits"), &edits, why))
        is = find_text(w, json, &text, source, why);
    if (is == WHAT_IF_GOOD
        && (!read_model(w, json, why) || !edits_apply(&edits, text, &w->text, why)))
        is = WHAT_IF_BAD;
    free(text);
    LIST_FREE(&edits.list);
    return is;
}

static bool is_blank(const char *text, const char *end)
{
    while (text < end && strchr(" \t\r\n", *text) && *text)
        text++;
    return text == end;
}

enum what_if_read what_if_read(struct what_if *w, const char *body, size_t size,
                               const struct what_if_source *source, struct why *why)
{
    *w = (struct what_if){ 0 };
    why_say(why, "out of memory");
    const char *end = body;
    cJSON *json = size <= WHAT_IF_BYTES ? cJSON_ParseWithLengthOpts(body, size, &end, false) : NULL;
    enum what_if_read is = WHAT_IF_BAD;
    if (cJSON_IsObject(json) && is_blank(end, body + size))
        is = read_json(w, json, source, why);
    else
        why_say(why, "it is no JSON object");
    cJSON_Delete(json);
    json_failed(); /* whatever it was, it is told */
    return is;
}

void what_if_free(struct what_if *w)
{
    free(w->text);
    *w = (struct what_if){ 0 };
}

/* ---- the answer ------------------------------------------------------------------------------ */

static char *section_of(struct execution *x)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_stream(&text, &size);
    bool good = out && execution_write(x, prefix, out);
    good = out && fclose(out) == 0 && good && size <= MOST_ANSWER;
    if (good)
        return text;
    free(text);
    return NULL;
}

/* The verdict and its steps stand in the data of the execution. */
static bool add_execution(cJSON *answer, struct execution *x)
{
    char *section = section_of(x);
    bool good = section && cJSON_AddStringToObject(answer, "section", section);
    cJSON_AddItemToObject(answer, "execution", x->data);
    x->data = NULL;
    free(section);
    return good;
}

char *what_if_answer(const struct what_if *w, const struct ordeal_limits *limits, size_t *size)
{
    struct execution x;
    struct why why;
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddNumberToObject(answer, "ordeal-what-if", WHAT_IF_VERSION);
    bool good = true;
    if (execution_open_within(&x, w->text, file_name, w->known ? &w->model : NULL, limits, &why))
        good = add_execution(answer, &x);
    else
        cJSON_AddStringToObject(answer, "error", why.text);
    execution_close(&x);
    char *text = good && !json_failed() ? cJSON_PrintUnformatted(answer) : NULL;
    cJSON_Delete(answer);
    *size = text ? strlen(text) : 0;
    return text;
}

/* ---- apart ----------------------------------------------------------------------------------- */

struct job {
    const struct what_if *question;
    const struct ordeal_limits *limits;
    pid_t parent;
};

static bool do_job(void *user, FILE *out)
{
    const struct job *job = user;
    rlim_t seconds = (rlim_t)job->limits->seconds + MORE_SECONDS;
    size_t size;
    if (getpid() != job->parent) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){ seconds, seconds });
        setrlimit(RLIMIT_AS, &(struct rlimit){ most_memory, most_memory });
    }
    char *text = what_if_answer(job->question, job->limits, &size);
    bool good = text && fwrite(text, 1, size, out) == size;
    free(text);
    return good;
}

char *what_if_answer_apart(const struct what_if *w, const struct ordeal_limits *limits,
                           size_t *size)
{
    struct job job = { w, limits, getpid() };
    char *text = NULL;
    FILE *out = text_stream(&text, size);
    bool good = out && apart_write(do_job, &job, out);
    good = out && fclose(out) == 0 && good;
    if (good)
        return text;
    free(text);
    static const char none[] = "{\"ordeal-what-if\":1,\"error\":\"there is no verdict within the "
                               "limits of time and memory\"}";
    *size = sizeof none - 1;
    return strdup(none);
}
