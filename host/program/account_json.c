/* SPDX-License-Identifier: Apache-2.0 */
/* A counterexample for programs: the same story and the same steps. */
#include "account.h"
#include "base/json.h"

static void add_place(struct account *a, const struct program_event *e, cJSON *step)
{
    struct source_place at;
    if (!lines_place(&a->lines, e, &at))
        return;
    cJSON_AddStringToObject(step, "file", lines_near_name(at.file));
    cJSON_AddNumberToObject(step, "line", at.line);
    char function[PLACE_NAME];
    place_plain_name(at.function ? at.function : "", function);
    if (*function)
        cJSON_AddStringToObject(step, "function", function);
    cJSON_AddStringToObject(step, "source", lines_text(&a->lines, &at));
}

static void add_row(const struct account *a, cJSON *step, const char *name, uint32_t event)
{
    if (event != ACCOUNT_NONE && a->item[event].row)
        cJSON_AddNumberToObject(step, name, a->item[event].row);
}

static void add_access(struct account *a, uint32_t event, cJSON *step)
{
    const struct program_event *e = &a->events->event[event];
    const struct account_item *item = &a->item[event];
    char place[PLACE_NAME];
    places_name(&a->places, e->address, event, place);
    cJSON_AddStringToObject(step, "location", place);
    cJSON_AddNumberToObject(step, "address", e->address);
    cJSON_AddNumberToObject(step, "size", e->size);
    if (e->kind != EVENT_STORE)
        cJSON_AddNumberToObject(step, "read", e->read);
    if (event_writes(e))
        cJSON_AddNumberToObject(step, "written", e->written);
    if (e->kind == EVENT_STORE)
        cJSON_AddBoolToObject(step, "buffered", e->buffered);
    if (e->kind == EVENT_LOAD)
        cJSON_AddBoolToObject(step, "forwarded", e->forwarded);
    add_row(a, step, "from", item->from);
    add_row(a, step, "waiting", item->waiting);
    add_row(a, step, "newer", item->newer);
    add_row(a, step, "left", item->left);
}

static cJSON *step_of(struct account *a, uint32_t event)
{
    const struct program_event *e = &a->events->event[event];
    cJSON *step = cJSON_CreateObject();
    char words[ACCOUNT_WORDS];
    account_words(a, event, words);
    cJSON_AddNumberToObject(step, "step", a->item[event].row);
    cJSON_AddNumberToObject(step, "thread", e->thread);
    cJSON_AddStringToObject(step, "kind", account_kind(e->kind));
    if (e->kind != EVENT_COMMIT && e->kind != EVENT_DROP)
        add_place(a, e, step);
    if (event_is_access(e))
        add_access(a, event, step);
    if (e->kind == EVENT_COMMIT || e->kind == EVENT_DROP)
        add_row(a, step, "store", e->cause);
    if (e->kind == EVENT_CREATE || e->kind == EVENT_JOIN)
        cJSON_AddNumberToObject(step, "other", e->other);
    cJSON_AddStringToObject(step, "text", words);
    return step;
}

void account_json(struct account *a, const struct explore_finding *f, cJSON *line)
{
    struct account_story s;
    if (!account_story(a, f, &s))
        json_fail();
    cJSON *story = cJSON_AddArrayToObject(line, "story");
    for (size_t i = 0; i < s.sentence.count; i++)
        cJSON_AddItemToArray(story, cJSON_CreateString(s.sentence.data[i]));
    account_story_free(&s);
    cJSON *core = cJSON_AddArrayToObject(line, "core");
    for (size_t i = 0; i < a->core.count; i++)
        if (a->core.data[i] != ACCOUNT_NONE && a->item[a->core.data[i]].row)
            cJSON_AddItemToArray(core, cJSON_CreateNumber(a->item[a->core.data[i]].row));
    cJSON *steps = cJSON_AddArrayToObject(line, "path");
    for (uint32_t i = 0; i < a->events->count; i++)
        if (a->item[i].row)
            cJSON_AddItemToArray(steps, step_of(a, i));
}
