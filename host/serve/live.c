/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "base/clock.h"
#include "base/json.h"
#include "report/query.h"

enum { SHARE = 10 }; /* of the time goes into reading, at most one part in so many */

void live_open(struct live *l, const char *file)
{
    *l = (struct live){ .file = file };
    pthread_mutex_init(&l->lock, NULL);
}

void live_close(struct live *l)
{
    free(l->text);
    pthread_mutex_destroy(&l->lock);
    *l = (struct live){ 0 };
}

/* Of runs whose budget is a number of tests; 0: of none. */
static int64_t budget_of(const struct query *q)
{
    int64_t sum = 0;
    for (size_t i = 0; i < q->runs.count; i++) {
        int64_t budget = q->runs.data[i].budget;
        if (budget <= 0 || sum > INT64_MAX - budget)
            return 0;
        sum += budget;
    }
    return sum;
}

static void add_buckets(const struct query *q, cJSON *json)
{
    cJSON *list = cJSON_AddArrayToObject(json, "buckets");
    for (size_t i = 0; i < q->buckets.count; i++) {
        cJSON *item = cJSON_CreateObject();
        char id[24]; /* a number of JSON would not hold all of it */
        snprintf(id, sizeof id, "%jd", (intmax_t)q->buckets.data[i].id);
        cJSON_AddStringToObject(item, "id", id);
        cJSON_AddNumberToObject(item, "failures", (double)q->buckets.data[i].failures);
        cJSON_AddStringToObject(item, "state", q->buckets.data[i].state);
        cJSON_AddItemToArray(list, item);
    }
}

static char *print(const struct query *q)
{
    struct query_sums s = query_sums(q);
    const struct {
        const char *name;
        int64_t number;
    } numbers[] = {
        { "tests", s.tests },
        { "pass", s.pass },
        { "fail", s.fail },
        { "undecided", s.undecided },
        { "lost", s.lost },
        { "points", s.points },
        { "known", s.known },
        { "operations", s.operations },
        { "incidents", q->incident_count },
        { "budget", budget_of(q) },
    };
    cJSON *json = cJSON_CreateObject();
    const char *end = q->sessions.count ? q->sessions.data[q->sessions.count - 1].end : "";
    cJSON_AddNumberToObject(json, "ordeal-live", LIVE_VERSION);
    cJSON_AddStringToObject(json, "end", end);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cJSON_AddNumberToObject(json, numbers[i].name, (double)numbers[i].number);
    add_buckets(q, json);
    char *text = json_failed() ? NULL : cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

static bool read_again(struct live *l, struct why *why)
{
    struct query q;
    double begun = now_seconds();
    char *text = query_read_counts(&q, l->file, why) ? print(&q) : NULL;
    query_free(&q);
    if (!text)
        return false;
    free(l->text);
    l->text = text;
    l->made = now_seconds();
    l->took = l->made - begun;
    return true;
}

char *live_answer(struct live *l, struct why *why)
{
    why_say(why, "out of memory");
    pthread_mutex_lock(&l->lock);
    double wait = l->took * SHARE > 1 ? l->took * SHARE : 1;
    bool good = (l->text && now_seconds() - l->made < wait) || read_again(l, why);
    char *copy = good ? strdup(l->text) : NULL;
    pthread_mutex_unlock(&l->lock);
    return copy;
}
