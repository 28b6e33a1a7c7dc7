/* SPDX-License-Identifier: Apache-2.0 */
#include "execution.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <zlib.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "html.h"
#include "tell/explain_json.h"
#include "tell/output_line.h"
#include "tell/picture.h"
#include "tell/tell.h"

enum { MOST_SECONDS = 60, MOST_LINES = 1500, NEAR = 12, MOST_OPERATIONS = 4000, AROUND = 60 };
static const size_t most_memory = (size_t)2 << 30;

/* ---- data for the script ----------------------------------------------------------------------- */

static const char *const kinds[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOAD] = "load",          [ORDEAL_STORE] = "store",
    [ORDEAL_SWAP] = "atomic",        [ORDEAL_CAS] = "atomic",
    [ORDEAL_AMO] = "atomic",         [ORDEAL_MEMBAR] = "membar",
    [ORDEAL_LOAD_RESERVED] = "load", [ORDEAL_STORE_CONDITIONAL] = "store",
};

static bool in_core(const struct execution *x, uint32_t op)
{
    const uint32_t *core;
    size_t count = ordeal_verdict_core(x->verdict, &core);
    for (size_t i = 0; i < count; i++)
        if (core[i] == op)
            return true;
    return false;
}

/* Does it touch the cycles around the violation? */
static bool is_near(const struct execution *x, uint64_t begin, uint64_t end)
{
    return end + AROUND >= x->view.first && begin <= x->view.last + AROUND;
}

static void add_operation(struct execution *x, cJSON *list, uint32_t i)
{
    const struct ordeal_op *op = ordeal_trace_op(x->in.trace, i);
    uint64_t begin = 0, end = 0;
    if (!ordeal_trace_times_of(x->in.trace, i, &begin, &end))
        return;
    begin = op->flags & ORDEAL_HAS_BEGIN ? begin : end;
    end = op->flags & ORDEAL_HAS_END ? end : begin;
    if (!is_near(x, begin, end))
        return;
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "op", i);
    cJSON_AddNumberToObject(item, "hart", thread_number(&x->names, op->thread));
    cJSON_AddStringToObject(item, "text", name_op_bare(&x->names, i));
    cJSON_AddStringToObject(item, "kind", kinds[op->kind] ? kinds[op->kind] : "other");
    cJSON_AddNumberToObject(item, "line", op->line);
    cJSON_AddNumberToObject(item, "begin", (double)begin);
    cJSON_AddNumberToObject(item, "end", (double)end);
    if (in_core(x, i))
        cJSON_AddTrueToObject(item, "core");
    cJSON_AddItemToArray(list, item);
}

static void add_operations(struct execution *x)
{
    cJSON *list = cJSON_AddArrayToObject(x->data, "operations");
    size_t count = ordeal_trace_length(x->in.trace);
    for (size_t i = 0; x->view.last && i < count && cJSON_GetArraySize(list) < MOST_OPERATIONS; i++)
        add_operation(x, list, (uint32_t)i);
}

static const char *rule_text(const char *name)
{
    for (int r = 0; r < ORDEAL_RULE_COUNT; r++)
        if (strcmp(ordeal_rule_name((enum ordeal_rule)r), name) == 0)
            return ordeal_rule_text((enum ordeal_rule)r);
    return NULL;
}

/* What the rules of a list say. */
static void add_rule_texts(cJSON *list)
{
    cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const char *rule = cJSON_GetStringValue(cJSON_GetObjectItem(item, "rule"));
        const char *text = rule ? rule_text(rule) : NULL;
        if (text)
            cJSON_AddStringToObject(item, "rule_text", text);
    }
}

/* Each edge with the arrow of the picture that shows it; of several that look the same, the first has one. */
static void add_arrows(const struct execution *x, cJSON *graph)
{
    for (size_t i = 0; i < x->why.edges.count; i++) {
        const struct ordeal_edge *e = &x->why.edges.data[i].edge;
        char arrow[40];
        snprintf(arrow, sizeof arrow, "edge_%" PRIu32 "_%" PRIu32, e->from, e->to);
        cJSON_AddStringToObject(cJSON_GetArrayItem(graph, (int)i), "arrow", arrow);
    }
}

static void add_explanation(struct execution *x)
{
    explain_json(x->data, &x->why, &x->names, ordeal_verdict_model(x->verdict));
    add_arrows(x, cJSON_GetObjectItem(x->data, "graph"));
    add_rule_texts(cJSON_GetObjectItem(x->data, "graph"));
    add_rule_texts(cJSON_GetObjectItem(x->data, "steps"));
}

static cJSON *new_data(void)
{
    cJSON *data = cJSON_CreateObject();
    cJSON_AddNumberToObject(data, "ordeal-execution", EXECUTION_VERSION);
    return data;
}

static void make_data(struct execution *x)
{
    enum ordeal_result result = ordeal_verdict_result(x->verdict);
    x->data = new_data();
    cJSON *line = output_line_new(verdict_words[result], &x->in);
    cJSON_AddStringToObject(line, "model", ordeal_model_name(ordeal_verdict_model(x->verdict)));
    output_line_counters(line, x->verdict);
    if (result == ORDEAL_FAIL) {
        output_line_core(line, x->in.trace, x->verdict);
        output_line_reason(line, &x->in, x->verdict);
    }
    cJSON_AddItemToObject(x->data, "verdict", line);
    add_explanation(x);
    add_operations(x);
}

void execution_add_waves(struct execution *x, cJSON *waves)
{
    cJSON_AddItemToObject(x->data, "waves", waves);
}

/* ---- judging ----------------------------------------------------------------------------------- */

static bool read_text(struct execution *x, const char *text, const char *name,
                      const struct ordeal_limits *limits, struct why *why)
{
    FILE *file = *text ? fmemopen((void *)text, strlen(text), "r") : NULL;
    if (!*text)
        return why_say(why, "%.200s: it is empty", name);
    enum ordeal_status status = input_take(&x->in, file, name, ORDEAL_FORMAT_TEXT, limits);
    if (status == ORDEAL_OK)
        status = input_next(&x->in);
    if (status == ORDEAL_OK)
        return true;
    if (status == ORDEAL_END)
        return why_say(why, "%.200s: there is no trace in it", name);
    char reason[800];
    error_format(&x->in.error, reason, sizeof reason);
    return why_say(why, "%s", reason);
}

static bool judge(struct execution *x, const enum ordeal_model *model, struct why *why)
{
    struct ordeal_options how = { .model = ORDEAL_TSO };
    ordeal_trace_claimed(x->in.trace, &how.model);
    how.model = model ? *model : how.model;
    enum ordeal_status status = ordeal_check(x->in.trace, &how, &x->verdict);
    if (status != ORDEAL_OK) {
        char reason[800];
        error_format(ordeal_last_error(x->in.o), reason, sizeof reason);
        return why_say(why, "%s", reason);
    }
    x->names = (struct naming){ .trace = x->in.trace,
                                .verdict = x->verdict,
                                .views = how.model == ORDEAL_PC };
    if (ordeal_verdict_result(x->verdict) != ORDEAL_FAIL)
        return true;
    return (proof_read(&x->proof, x->verdict) && explain(&x->why, &x->proof, &x->names, how.model))
        || why_say(why, "out of memory");
}

bool execution_open_within(struct execution *x, const char *text, const char *name,
                           const enum ordeal_model *model, const struct ordeal_limits *limits,
                           struct why *why)
{
    *x = (struct execution){ .text = text };
    if (!read_text(x, text, name, limits, why) || !judge(x, model, why))
        return false;
    if (ordeal_verdict_result(x->verdict) == ORDEAL_FAIL)
        waves_of_verdict(&x->view, x->in.trace, x->verdict);
    make_data(x);
    return !json_failed() || why_say(why, "out of memory");
}

bool execution_open(struct execution *x, const char *text, const char *name,
                    const enum ordeal_model *model, struct why *why)
{
    struct ordeal_limits limits = { .seconds = MOST_SECONDS, .bytes = most_memory };
    return execution_open_within(x, text, name, model, &limits, why);
}

uint32_t execution_sum(const char *text)
{
    return (uint32_t)crc32_z(0, (const unsigned char *)text, strlen(text));
}

void execution_close(struct execution *x)
{
    cJSON_Delete(x->data);
    explanation_free(&x->why);
    proof_free(&x->proof);
    ordeal_verdict_free(x->verdict);
    input_close(&x->in);
    *x = (struct execution){ 0 };
}

/* ---- the graph and its reasons ----------------------------------------------------------------- */

static char *draw(struct execution *x)
{
    char *svg = NULL;
    size_t size;
    FILE *f = text_stream(&svg, &size);
    bool good = f
             && picture_write(&x->proof, &x->names, ordeal_verdict_model(x->verdict), "",
                              PICTURE_SVG, f);
    good = f && fclose(f) == 0 && good;
    if (good)
        return svg;
    free(svg);
    return NULL;
}

static void write_step(const struct explained *s, size_t number, const char *prefix, FILE *out)
{
    html(out, "<li id=\"%sstep-%zu\" class=\"depth-%d\" value=\"%zu\">%s", prefix, number,
         s->depth > 2 ? 2 : (int)s->depth, number, s->text);
    if (s->rule)
        html(out, " <abbr class=\"rule\" title=\"%s\">%s</abbr>", rule_text(s->rule), s->rule);
    for (size_t i = 0; i < s->because.count; i++)
        html(out, "%s<a href=\"#%sstep-%u\">%u</a>", i ? ", " : " (from ", prefix,
             s->because.data[i], s->because.data[i]);
    fputs(s->because.count ? ")</li>\n" : "</li>\n", out);
}

/* The two cases stand side by side. */
static void write_steps(const struct execution *x, const char *prefix, FILE *out)
{
    static const char *const turns[3][3] = { { "", "</ol>\n<div class=\"cases\"><ol>\n", "" },
                                             { "</ol></div>\n<ol>\n", "", "</ol>\n<ol>\n" },
                                             { "</ol></div>\n<ol>\n", "", "" } };
    unsigned branch = 0;
    fputs("<details class=\"steps\"><summary>All steps in words</summary>\n<ol>\n", out);
    for (size_t i = 0; i < x->why.steps.count; i++) {
        const struct explained *s = &x->why.steps.data[i];
        fputs(turns[branch][s->branch], out);
        branch = s->branch;
        write_step(s, i + 1, prefix, out);
    }
    fputs(branch ? "</ol></div>\n</details>\n" : "</ol>\n</details>\n", out);
}

/* ---- the short story ---------------------------------------------------------------------------- */

/* "  if ...: a < b < a", or the circle alone. The script lets a case be chosen. */
static void write_circle(const char *line, FILE *out)
{
    line += strspn(line, " ");
    const char *circle = strncmp(line, "if ", 3) == 0 ? strstr(line, ": ") : NULL;
    char supposed[SENTENCE];
    snprintf(supposed, sizeof supposed, "%.*s", circle ? (int)(circle - line) : 0, line);
    if (circle)
        html(out, "<li class=\"case\">%s: <code>%s</code></li>\n", supposed, circle + 2);
    else
        html(out, "<li><code>%s</code></li>\n", line);
}

/* Which operations, which order they force, where it breaks; of a value that nobody wrote, that. */
static void write_story(const struct execution *x, FILE *out)
{
    const cJSON *verdict = cJSON_GetObjectItem(x->data, "verdict");
    const char *reason = cJSON_GetStringValue(cJSON_GetObjectItem(verdict, "reason"));
    const uint32_t *core;
    if (!x->why.story.count) {
        if (reason)
            html(out, "<p class=\"reason\"><code>%s</code></p>\n", reason);
        return;
    }
    size_t count = ordeal_verdict_core(x->verdict, &core);
    const char *model = ordeal_model_name(ordeal_verdict_model(x->verdict)),
               *first = x->why.story.data[0];
    fputs("<div class=\"reason\"><p>", out);
    if (count == 1)
        html(out, "This operation alone violates %s. %s</p>\n<ul>\n", model, first);
    else
        html(out, "These %zu operations alone violate %s. %s</p>\n<ul>\n", count, model, first);
    for (size_t i = 1; i < x->why.story.count; i++)
        write_circle(x->why.story.data[i], out);
    fputs("</ul></div>\n", out);
}

/* A violation that is a single value, or no violation: what `ordeal show` would say. */
static bool write_told(struct execution *x, FILE *out)
{
    char *text = NULL;
    size_t size;
    FILE *f = text_stream(&text, &size);
    struct told told = {
        .in = &x->in, .verdict = x->verdict, .why = &x->why, .names = x->names, .out = f
    };
    bool good = f && tell_verdict(&told);
    good = f && fclose(f) == 0 && good;
    if (good)
        html(out, "<pre class=\"told\">%s</pre>\n", text);
    free(text);
    return good;
}

static bool write_proof(struct execution *x, const char *prefix, FILE *out)
{
    if (x->proof.inferences.count == 0)
        return write_told(x, out);
    char *svg = draw(x);
    fputs("<div class=\"proof\">\n<div class=\"graph\" role=\"group\" "
          "aria-label=\"Operations of the violation, and what must be before what\">\n",
          out);
    if (svg)
        html_svg(out, svg, prefix);
    else
        fputs("<p class=\"note\">The picture could not be made.</p>\n", out);
    fputs("</div>\n<div class=\"reasons\" aria-live=\"polite\">"
          "<p class=\"hint\">Each arrow says that one operation must be before another. "
          "Choose one to see why it is there.</p></div>\n"
          "</div>\n",
          out);
    write_steps(x, prefix, out);
    free(svg);
    return true;
}

/* ---- the trace --------------------------------------------------------------------------------- */

static bool is_core_line(const struct execution *x, uint32_t line)
{
    const uint32_t *core;
    size_t count = x->verdict ? ordeal_verdict_core(x->verdict, &core) : 0;
    for (size_t i = 0; i < count; i++)
        if (ordeal_trace_op(x->in.trace, core[i])->line == line)
            return true;
    return false;
}

static bool is_near_core(const struct execution *x, uint32_t line)
{
    const uint32_t *core;
    size_t count = ordeal_verdict_core(x->verdict, &core);
    for (size_t i = 0; i < count; i++) {
        uint32_t there = ordeal_trace_op(x->in.trace, core[i])->line;
        if (line + NEAR >= there && line <= there + NEAR)
            return true;
    }
    return false;
}

static void write_line(const struct execution *x, const char *prefix, uint32_t number,
                       const char *line, size_t length, FILE *out)
{
    char text[512];
    snprintf(text, sizeof text, "%.*s", (int)(length < 500 ? length : 500), line);
    html(out, "<li id=\"%sline-%u\" value=\"%u\"", prefix, number, number);
    fputs(is_core_line(x, number) ? " class=\"core\">" : ">", out);
    html(out, "<code>%s</code></li>\n", text);
}

/* All of a short one, of a long one what is near the core. */
static void write_trace(const struct execution *x, const char *prefix, FILE *out)
{
    uint32_t lines = 0, number = 0, shown = 0;
    for (const char *c = x->text; *c; c++)
        lines += *c == '\n';
    html(out, "<details class=\"listing\"><summary>The trace, %u lines</summary>\n<ol>\n", lines);
    for (const char *line = x->text; *line;) {
        size_t length = strcspn(line, "\n");
        number++;
        if ((lines <= MOST_LINES || is_near_core(x, number)) && shown < MOST_LINES) {
            write_line(x, prefix, number, line, length, out);
            shown++;
        }
        line += length + (line[length] == '\n');
    }
    fputs("</ol>\n", out);
    if (shown < number)
        html(out, "<p class=\"note\">%u lines of %u are shown, near the violation.</p>\n", shown,
             number);
    fputs("</details>\n", out);
}

/* ---- all of it --------------------------------------------------------------------------------- */

static void begin_section(const char *prefix, const char *trace, FILE *out)
{
    html(out, "<section class=\"execution\" data-prefix=\"%s\" data-sum=\"%u\">\n", prefix,
         execution_sum(trace));
}

/* Where the script draws what happened. */
static void write_time(FILE *out)
{
    fputs("<h3>When it happened</h3>\n<div class=\"time\" tabindex=\"0\" role=\"group\" "
          "aria-label=\"Operations of each hart over cycles, and signals\"></div>\n",
          out);
}

static bool end_section(const cJSON *data, const char *prefix, FILE *out)
{
    char id[128];
    snprintf(id, sizeof id, "%sdata", prefix);
    bool good = html_data(out, id, data);
    fputs("</section>\n", out);
    return good;
}

bool execution_write(struct execution *x, const char *prefix, FILE *out)
{
    begin_section(prefix, x->text, out);
    write_story(x, out);
    bool good = write_proof(x, prefix, out);
    if (cJSON_GetArraySize(cJSON_GetObjectItem(x->data, "operations")))
        write_time(out);
    write_trace(x, prefix, out);
    return end_section(x->data, prefix, out) && good;
}

bool execution_write_waves(cJSON *waves, const char *prefix, FILE *out)
{
    cJSON *data = new_data();
    cJSON_AddArrayToObject(data, "graph");
    cJSON_AddArrayToObject(data, "steps");
    cJSON_AddArrayToObject(data, "operations");
    cJSON_AddItemToObject(data, "waves", waves);
    begin_section(prefix, "", out);
    write_time(out);
    bool good = end_section(data, prefix, out);
    cJSON_Delete(data);
    return good;
}
