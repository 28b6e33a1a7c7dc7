#include "record.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *const verdict_words[] = {
    [ORDEAL_PASS] = "PASS", [ORDEAL_FAIL] = "FAIL", [ORDEAL_UNDECIDED] = "UNDECIDED",
};

cJSON *record_new(const char *verdict, const struct input *in)
{
    cJSON *record = cJSON_CreateObject();
    char name[4096];
    if (in->number > 1)
        snprintf(name, sizeof name, "%s#%u", in->name, in->number);
    else
        snprintf(name, sizeof name, "%s", in->name);
    cJSON_AddStringToObject(record, "verdict", verdict);
    cJSON_AddStringToObject(record, "file", name);
    return record;
}

cJSON *record_error(const struct ordeal_error *e)
{
    cJSON *record = cJSON_CreateObject();
    cJSON_AddStringToObject(record, "verdict", "ERROR");
    cJSON_AddStringToObject(record, "file", e->file);
    if (e->line)
        cJSON_AddNumberToObject(record, "line", (double)e->line);
    if (e->column)
        cJSON_AddNumberToObject(record, "column", (double)e->column);
    cJSON_AddStringToObject(record, "reason", e->reason);
    return record;
}

void record_counters(cJSON *record, const struct ordeal_verdict *v)
{
    const char *name;
    uint64_t value;
    for (size_t i = 0; ordeal_verdict_counter(v, i, &name, &value); i++)
        if (strcmp(name, "core") != 0)
            cJSON_AddNumberToObject(record, name, (double)value);
}

void record_core(cJSON *record, const struct ordeal_trace *t, const struct ordeal_verdict *v)
{
    const uint32_t *ops;
    size_t count = ordeal_verdict_core(v, &ops);
    cJSON *core = count ? cJSON_AddArrayToObject(record, "core") : NULL;
    for (size_t i = 0; i < count && core; i++) {
        char text[256];
        ordeal_trace_format(t, ops[i], text, sizeof text);
        cJSON *op = cJSON_CreateObject();
        cJSON_AddStringToObject(op, "op", text);
        cJSON_AddNumberToObject(op, "line", ordeal_trace_op(t, ops[i])->line);
        cJSON_AddItemToArray(core, op);
    }
}

/* ---- text ---------------------------------------------------------------------------- */

/* Bare where it is one word, else in quotes with backslashes, so that a line stays a line. */
static void print_word(const char *word)
{
    bool plain = *word != '\0';
    for (const char *p = word; *p && plain; p++)
        plain = isgraph((unsigned char)*p) ? *p != '"' : (unsigned char)*p >= 0x80;
    if (plain) {
        fputs(word, stdout);
        return;
    }
    putchar('"');
    for (const char *p = word; *p; p++) {
        if (*p == '"' || *p == '\\')
            printf("\\%c", *p);
        else if (iscntrl((unsigned char)*p))
            printf("\\x%02x", (unsigned char)*p);
        else
            putchar(*p);
    }
    putchar('"');
}

static void print_value(const cJSON *item)
{
    if (cJSON_IsArray(item))
        printf("%d", cJSON_GetArraySize(item));
    else if (cJSON_IsBool(item))
        fputs(cJSON_IsTrue(item) ? "yes" : "no", stdout);
    else if (cJSON_IsNumber(item) && floor(item->valuedouble) == item->valuedouble)
        printf("%.0f", item->valuedouble);
    else if (cJSON_IsNumber(item))
        printf("%.3f", item->valuedouble);
    else
        print_word(item->valuestring);
}

/* A reason may quote what stood in the file; it must not break the line. */
static void print_line_safe(const char *text)
{
    for (; *text; text++)
        putchar(iscntrl((unsigned char)*text) ? '?' : *text);
}

static void print_text(const cJSON *record)
{
    const cJSON *verdict = record->child, *file = verdict->next, *field = file->next;
    printf("%s ", verdict->valuestring);
    if (strcmp(verdict->valuestring, "ERROR") == 0) {
        print_line_safe(file->valuestring);
        for (; field && cJSON_IsNumber(field); field = field->next)
            printf(":%.0f", field->valuedouble);
        fputs(": ", stdout);
        print_line_safe(field->valuestring);
    } else {
        print_word(file->valuestring);
        for (; field; field = field->next) {
            printf(" %s=", field->string);
            print_value(field);
        }
    }
    putchar('\n');
}

/* ---- either -------------------------------------------------------------------------- */

static bool complete(const cJSON *record)
{
    return record && record->child && record->child->next;
}

bool record_print(cJSON *record, bool json)
{
    char *text = json && complete(record) ? cJSON_PrintUnformatted(record) : NULL;
    bool whole = json ? text != NULL : complete(record);
    if (!whole)
        fputs("ordeal: out of memory\n", stderr);
    else if (json)
        puts(text);
    else
        print_text(record);
    cJSON_free(text);
    cJSON_Delete(record);
    return whole && !ferror(stdout);
}
