/* SPDX-License-Identifier: Apache-2.0 */
#include "bug_list.h"

#include <cJSON.h>
#include <string.h>

#include "base/nearest.h"

_Static_assert(ORDEAL_MODELS == 7, "a new model is to be told here, too");
bool bug_is_in(const struct bug_entry *e, enum ordeal_model model)
{
    static const char letters[] = {
        [ORDEAL_SC] = 'S',  [ORDEAL_TSO] = 'T',   [ORDEAL_PSO] = 'P',  [ORDEAL_PC] = 'C',
        [ORDEAL_RMO] = 'R', [ORDEAL_RVWMO] = 'V', [ORDEAL_RVTSO] = 'Z'
    };
    return e->models && strchr(e->models, letters[model]);
}

int bug_models(const struct bug_entry *e, char *text, size_t size)
{
    int length = 0;
    if (size)
        *text = '\0';
    for (int m = 0; m < ORDEAL_MODELS; m++)
        if (bug_is_in(e, (enum ordeal_model)m) && (size_t)length < size)
            length += snprintf(text + length, size - (size_t)length, "%s%s", length ? ", " : "",
                               ordeal_model_name((enum ordeal_model)m));
    return length;
}

/* ---- choosing one --------------------------------------------------------------------------- */

enum { MOST_BUGS = 127 };

static bool unknown(const struct bug_list *l, const char *name, struct why *why)
{
    const char *names[MOST_BUGS + 2] = { "list" }; /* which prints them all */
    for (int b = 1; b < l->count && b <= MOST_BUGS; b++)
        names[b] = l->entry[b].name;
    const char *near = nearest_name(name, names);
    why_say(why, "there is no bug '%s'%s%s%s; there are", name, near ? ", did you mean '" : "",
            near ? near : "", near ? "'?" : "");
    for (int b = 1; b < l->count; b++)
        why_add(why, "%s %s", b > 1 ? "," : "", l->entry[b].name);
    return false;
}

bool bug_parse(const struct bug_list *l, const char *name, enum ordeal_model model, int *number,
               struct why *why)
{
    int b = 1;
    while (b < l->count && strcmp(l->entry[b].name, name) != 0)
        b++;
    if (b == l->count)
        return unknown(l, name, why);
    *number = b;
    const struct bug_entry *e = &l->entry[b];
    if (bug_is_in(e, model))
        return true;
    char models[64];
    bug_models(e, models, sizeof models);
    return why_say(why, "the bug '%s' cannot be in the machine of %s%s%s; it can be in: %s", name,
                   ordeal_model_name(model), e->pointless ? ": " : "",
                   e->pointless ? e->pointless : "", models);
    return false;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void print_text(const struct bug_entry *e, FILE *out)
{
    char models[64];
    bug_models(e, models, sizeof models);
    fprintf(out, "  %-28s%s\n", e->name, e->wrong);
    fprintf(out, "  %-28smodels: %s\n", "", models);
    fprintf(out, "  %-28sshown by: %s\n", "", e->exposed);
    if (e->resembles)
        fprintf(out, "  %-28slike: %s\n", "", e->resembles);
    if (!e->bias)
        return;
    fprintf(out, "  %-28scaught within %u tests of:", "", e->tests);
    for (const char *at = e->bias; *at; at += strspn(at, " ")) {
        int length = (int)strcspn(at, " ");
        fprintf(out, " --set %.*s", length, at);
        at += length;
    }
    fputc('\n', out);
}

static void print_object(cJSON *object, FILE *out)
{
    char *text = cJSON_PrintUnformatted(object);
    fprintf(out, "%s\n", text ? text : "{}");
    cJSON_free(text);
    cJSON_Delete(object);
}

static void print_json(const struct bug_entry *e, int number, FILE *out)
{
    const struct { const char *key, *value; } texts[] = {
        { "bug", e->name }, { "area", e->area }, { "wrong", e->wrong }, { "exposed", e->exposed },
        { "resembles", e->resembles }, { "bias", e->bias },
    };
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "number", number);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value)
            cJSON_AddStringToObject(object, texts[i].key, texts[i].value);
    if (e->bias)
        cJSON_AddNumberToObject(object, "tests", e->tests);
    cJSON *models = cJSON_AddArrayToObject(object, "models");
    for (int m = 0; m < ORDEAL_MODELS; m++)
        if (bug_is_in(e, (enum ordeal_model)m))
            cJSON_AddItemToArray(models,
                                 cJSON_CreateString(ordeal_model_name((enum ordeal_model)m)));
    print_object(object, out);
}

static void print_area(const struct bug_area *a, bool first, bool json, FILE *out)
{
    if (!json) {
        fprintf(out, "%s%s%s%s\n", first ? "" : "\n", a->name, a->note ? ": " : "",
                a->note ? a->note : "");
    } else if (a->note) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "area", a->name);
        cJSON_AddStringToObject(object, "note", a->note);
        print_object(object, out);
    }
}

void bugs_print(const struct bug_list *l, bool json, FILE *out)
{
    for (const struct bug_area *a = l->areas; a->name; a++) {
        print_area(a, a == l->areas, json, out);
        for (int b = 1; b < l->count; b++) {
            if (strcmp(l->entry[b].area, a->name) != 0)
                continue;
            if (json)
                print_json(&l->entry[b], b, out);
            else
                print_text(&l->entry[b], out);
        }
    }
}
