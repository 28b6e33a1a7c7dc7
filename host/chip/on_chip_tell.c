/* SPDX-License-Identifier: Apache-2.0 */
/* What a program did on the machine, told. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "on_chip_parts.h"
#include "tell/input.h"
#include "tell/output_line.h"
#include "tell/tell.h"

static const char still[] = "standstill";

static bool is_still(const struct on_chip_verdict *v)
{
    return v->run.how == ON_CHIP_STILL && !v->past.finding.error && !*v->past.broke.text;
}

static bool breaks_model(const struct on_chip_verdict *v)
{
    return ordeal_verdict_result(v->check) == ORDEAL_FAIL;
}

static const char *error_word(const struct on_chip_verdict *v)
{
    return v->past.finding.error ? explore_error_text(v->past.finding.error)
         : is_still(v)           ? still
                                 : NULL;
}

static const char *machine_words(const struct on_chip_verdict *v)
{
    return *v->past.broke.text ? v->past.broke.text : v->run.broke;
}

/* The line of the source of the program's own error. */
static void add_place(const struct on_chip_verdict *v, cJSON *line)
{
    const struct explore_finding *f = &v->past.finding;
    struct source_place at;
    char text[1024];
    if (!f->error || !v->past.shown)
        return;
    cJSON_AddNumberToObject(line, "thread", f->thread);
    if (lines_place(&v->account.lines, &v->past.events.event[v->past.shown - 1], &at)) {
        snprintf(text, sizeof text, "%s:%" PRIu32, lines_near_name(at.file), at.line);
        cJSON_AddStringToObject(line, "at", text);
    }
    if (*f->text)
        cJSON_AddStringToObject(line, "what", f->text);
    if (v->account.relaxed == ACCOUNT_SC || v->account.relaxed == ACCOUNT_RELAXED)
        cJSON_AddBoolToObject(line, "relaxed", v->account.relaxed == ACCOUNT_RELAXED);
}

static void add_reason(const struct on_chip_verdict *v, cJSON *line)
{
    struct input in = { .name = "", .trace = v->trace.trace };
    if (breaks_model(v)) {
        cJSON_AddBoolToObject(line, "certified", true);
        if (v->timed)
            cJSON_AddBoolToObject(line, "time_order", true);
        output_line_core(line, v->trace.trace, v->check);
        output_line_reason(line, &in, v->check);
        cJSON_DeleteItemFromObject(line, "at"); /* its lines are of no file */
    } else if (machine_words(v)) {
        cJSON_AddStringToObject(line, "reason", machine_words(v));
    }
}

void on_chip_line(const struct on_chip_verdict *v, cJSON *line)
{
    bool judged = v->result != ON_CHIP_BAD && v->result != ON_CHIP_FULL;
    if (judged)
        cJSON_AddStringToObject(line, "trace", verdict_words[ordeal_verdict_result(v->check)]);
    add_reason(v, line);
    if (error_word(v))
        cJSON_AddStringToObject(line, "error", error_word(v));
    add_place(v, line);
    output_line_counters(line, v->check);
    if (*v->why)
        cJSON_AddStringToObject(line, "why", v->why);
}

/* ---- for people ------------------------------------------------------------------------------- */

/* The operations that violate the model, and where each of them comes from. */
static void put_core(struct on_chip_verdict *v, FILE *out)
{
    const uint32_t *ops;
    size_t count = ordeal_verdict_core(v->check, &ops);
    fputs("The machine broke its memory model: no order explains these", out);
    fputs(v->timed ? ", with their cycles (ordeal check --time-order).\n" : ".\n", out);
    for (size_t i = 0; i < count; i++) {
        char text[256];
        uint32_t event = v->trace.event.data[ops[i]];
        struct source_place at;
        ordeal_trace_format(v->trace.trace, ops[i], text, sizeof text);
        fprintf(out, "  %s", text);
        if (event != ACCOUNT_NONE
            && lines_place(&v->whole.lines, &v->past.events.event[event], &at)) {
            fputs("    ", out);
            lines_put(&v->whole.lines, lines_short_name(at.file), &at, "    ", out);
        }
        if (event != ACCOUNT_NONE)
            fprintf(out, "    cycle %" PRIu32, v->past.time[event]);
        fputc('\n', out);
    }
    fputc('\n', out);
}

static void put_rests(struct on_chip_verdict *v, FILE *out)
{
    fputs(v->run.how == ON_CHIP_LONG ? "It came to no end within the cycles given.\n"
                                     : "Harts run, but nothing changes any more.\n",
          out);
    for (size_t i = 0; i < v->past.events.count; i++) {
        const struct program_event *e = &v->past.events.event[i];
        struct source_place at;
        if (e->kind != EVENT_BLOCK)
            continue;
        fprintf(out, "  thread %" PRIu32 " waits ", e->thread);
        escape_write(e->text, false, out);
        if (lines_place(&v->account.lines, e, &at)) {
            fputs(" at ", out);
            lines_put(&v->account.lines, lines_short_name(at.file), &at, "    ", out);
        }
        fputc('\n', out);
    }
    fputc('\n', out);
}

bool on_chip_text(struct on_chip_verdict *v, FILE *out)
{
    if (machine_words(v)) {
        escape_write("The machine broke: ", false, out);
        escape_write(machine_words(v), false, out);
        fputs(".\n\n", out);
    }
    if (breaks_model(v))
        put_core(v, out);
    if (is_still(v) || v->run.how == ON_CHIP_LONG)
        put_rests(v, out);
    return !v->past.finding.error || account_text(&v->account, &v->past.finding, out);
}

bool on_chip_picture(struct on_chip_verdict *v, FILE *out)
{
    return account_svg(&v->account, &v->past.finding, out);
}
