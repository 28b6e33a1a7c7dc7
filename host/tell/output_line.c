/* SPDX-License-Identifier: Apache-2.0 */
#include "output_line.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "explain.h"

const char *const verdict_words[] = {
    [ORDEAL_PASS] = "PASS", [ORDEAL_FAIL] = "FAIL", [ORDEAL_UNDECIDED] = "UNDECIDED",
};

cJSON *output_line_new(const char *verdict, const struct input *in)
{
    cJSON *line = cJSON_CreateObject();
    char name[4096];
    if (in->number > 1)
        snprintf(name, sizeof name, "%s#%u", in->name, in->number);
    else
        snprintf(name, sizeof name, "%s", in->name);
    cJSON_AddStringToObject(line, "verdict", verdict);
    cJSON_AddStringToObject(line, "file", name);
    return line;
}

cJSON *output_line_error(const struct ordeal_error *e)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "verdict", "ERROR");
    cJSON_AddStringToObject(line, "file", e->file);
    if (e->line)
        cJSON_AddNumberToObject(line, "line", (double)e->line);
    if (e->column)
        cJSON_AddNumberToObject(line, "column", (double)e->column);
    cJSON_AddStringToObject(line, "reason", e->reason);
    return line;
}

void output_line_machine(cJSON *line, const char *machine)
{
    if (machine)
        cJSON_AddStringToObject(line, "machine", machine);
}

void output_line_profile(cJSON *line, const char *profile)
{
    if (profile)
        cJSON_AddStringToObject(line, "profile", profile);
}

void output_line_from(cJSON *line, const char *file)
{
    if (file)
        cJSON_AddStringToObject(line, "from", file);
}

void output_line_counters(cJSON *line, const struct ordeal_verdict *v)
{
    const char *name;
    uint64_t value;
    for (size_t i = 0; ordeal_verdict_counter(v, i, &name, &value); i++)
        if (strcmp(name, "core") != 0)
            cJSON_AddNumberToObject(line, name, (double)value);
}

void output_line_core(cJSON *line, const struct ordeal_trace *t, const struct ordeal_verdict *v)
{
    const uint32_t *ops;
    size_t count = ordeal_verdict_core(v, &ops);
    cJSON *core = count ? cJSON_AddArrayToObject(line, "core") : NULL;
    for (size_t i = 0; i < count && core; i++) {
        char text[256];
        ordeal_trace_format(t, ops[i], text, sizeof text);
        cJSON *op = cJSON_CreateObject();
        cJSON_AddStringToObject(op, "op", text);
        cJSON_AddNumberToObject(op, "line", ordeal_trace_op(t, ops[i])->line);
        cJSON_AddItemToArray(core, op);
    }
}

/* A place to begin reading: the first operation of the circle that closes the proof. */
static uint32_t first_of_circle(const struct ordeal_verdict *v)
{
    size_t steps = ordeal_verdict_steps(v);
    while (steps-- > 0) {
        struct ordeal_step step;
        ordeal_verdict_step(v, steps, &step);
        for (size_t i = 0; i < step.edge_count; i++) {
            struct ordeal_event e;
            ordeal_verdict_event(v, step.edges[i].from, &e);
            if (e.op != ORDEAL_NONE)
                return step.edges[i].from;
        }
    }
    return ORDEAL_NONE;
}

static void add_place(cJSON *line, const struct input *in, const struct naming *names,
                      uint32_t event)
{
    char text[1024];
    if (event == ORDEAL_NONE)
        return;
    snprintf(text, sizeof text, "%s:%u", in->name, line_of_event(names, event));
    cJSON_AddStringToObject(line, "at", text);
}

void output_line_reason(cJSON *line, const struct input *in, const struct ordeal_verdict *v)
{
    struct naming names = { .trace = in->trace, .verdict = v,
                            .views = ordeal_verdict_model(v) == ORDEAL_PC };
    char text[1024];
    uint32_t unwritten = ordeal_verdict_unwritten(v);
    if (unwritten != ORDEAL_NONE) {
        snprintf(text, sizeof text, "%s saw a value nobody wrote there",
                 name_event(&names, unwritten, ORDEAL_NONE));
        cJSON_AddStringToObject(line, "reason", text);
        add_place(line, in, &names, unwritten);
        return;
    }
    uint64_t value;
    uint32_t unwritten_final = ordeal_verdict_unwritten_final(v, &value);
    if (unwritten_final != ORDEAL_NONE) {
        struct ordeal_event word;
        ordeal_verdict_event(v, unwritten_final, &word);
        snprintf(text, sizeof text, "memory ends with %s=%" PRIu64 ", which nobody wrote there",
                 word.location, value);
        cJSON_AddStringToObject(line, "reason", text);
        return;
    }
    struct proof proof;
    if (!proof_read(&proof, v)) {
        json_fail();
    } else if (proof.inferences.count) {
        explain_shortly(&proof, &names, text, sizeof text);
        cJSON_AddStringToObject(line, "reason", text);
        add_place(line, in, &names, first_of_circle(v));
    }
    proof_free(&proof);
}

void output_line_signature(cJSON *line, const struct failure_signature *s)
{
    if (*s->text)
        cJSON_AddStringToObject(line, "signature", s->text);
    else if (!interrupted())
        json_fail();
    if (*s->shape)
        cJSON_AddStringToObject(line, "shape", s->shape);
}

void output_line_signature_of(cJSON *line, const struct ordeal_trace *t,
                              const struct ordeal_verdict *v)
{
    struct failure_signature s;
    failure_signature_of_verdict(&s, t, v);
    output_line_signature(line, &s);
    failure_signature_free(&s);
}

void output_line_signature_of_break(cJSON *line, const char *broke)
{
    struct failure_signature s;
    failure_signature_of_break(&s, broke);
    output_line_signature(line, &s);
    failure_signature_free(&s);
}

/* ---- text ---------------------------------------------------------------------------- */

static bool is_bare(const char *word)
{
    size_t length;
    for (const char *p = word; *p; p += length)
        if (*p == ' ' || *p == '"' || !escape_is_shown(escape_character(p, &length)))
            return false;
    return *word;
}

/* Bare where it is one word, else in quotes with backslashes, so that a line stays a line. */
static void write_word(const char *word, FILE *out)
{
    if (is_bare(word)) {
        fputs(word, out);
        return;
    }
    fputc('"', out);
    for (const char *p = word; *p;)
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p++);
        else
            p += escape_put(p, out);
    fputc('"', out);
}

static void write_value(const cJSON *item, FILE *out)
{
    if (cJSON_IsArray(item))
        fprintf(out, "%d", cJSON_GetArraySize(item));
    else if (cJSON_IsBool(item))
        fputs(cJSON_IsTrue(item) ? "yes" : "no", out);
    else if (cJSON_IsNumber(item) && floor(item->valuedouble) == item->valuedouble)
        fprintf(out, "%.0f", item->valuedouble);
    else if (cJSON_IsNumber(item))
        fprintf(out, "%.3f", item->valuedouble);
    else
        write_word(item->valuestring, out);
}

static void write_text(const cJSON *line, FILE *out)
{
    const cJSON *verdict = line->child, *file = verdict->next, *field = file->next;
    fprintf(out, "%s ", verdict->valuestring);
    if (strcmp(verdict->valuestring, "ERROR") == 0) {
        escape_write(file->valuestring, false, out);
        for (; field && cJSON_IsNumber(field); field = field->next)
            fprintf(out, ":%.0f", field->valuedouble);
        fputs(": ", out);
        escape_write(field->valuestring, false, out);
    } else {
        write_word(file->valuestring, out);
        for (; field; field = field->next) {
            fprintf(out, " %s=", field->string);
            write_value(field, out);
        }
    }
    fputc('\n', out);
}

/* ---- JSON ---------------------------------------------------------------------------- */

/* Escaped as JSON does it what a terminal would not show, which only strings can have. */
static void write_json(const char *text, FILE *out)
{
    for (size_t length; *text; text += length) {
        uint32_t character = escape_character(text, &length);
        if (escape_is_shown(character))
            fwrite(text, 1, length, out);
        else if (character > 0xffff) /* no character at all, or one of the hidden tags */
            fputs("\\ufffd", out);
        else
            fprintf(out, "\\u%04x", character);
    }
    fputc('\n', out);
}

/* ---- either -------------------------------------------------------------------------- */

static bool complete(const cJSON *line) { return line && line->child && line->child->next; }

bool output_line_write(const cJSON *line, bool json, FILE *out)
{
    if (json_failed() || !complete(line))
        return false;
    if (!json) {
        write_text(line, out);
        return true;
    }
    char *text = cJSON_PrintUnformatted(line);
    if (text)
        write_json(text, out);
    cJSON_free(text);
    return text != NULL;
}

bool output_line_print(cJSON *line, bool json)
{
    bool whole = output_line_write(line, json, stdout);
    if (!whole)
        fputs("ordeal: out of memory\n", stderr);
    cJSON_Delete(line);
    return whole && !ferror(stdout);
}
