/* SPDX-License-Identifier: Apache-2.0 */
#include "explain_json.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- operations: named as in the picture ---------------------------------------------------- */

static void add_id(cJSON *object, const char *field, const struct naming *n, uint32_t event)
{
    char id[32];
    struct ordeal_event e;
    ordeal_verdict_event(n->verdict, event, &e);
    if (e.op == ORDEAL_NONE)
        snprintf(id, sizeof id, "initial%" PRIu32, event);
    else
        snprintf(id, sizeof id, "op%" PRIu32, e.op);
    cJSON_AddStringToObject(object, field, id);
}

static uint32_t index_in_thread(const struct ordeal_trace *t, uint32_t op)
{
    uint32_t index = 0, thread = ordeal_trace_op(t, op)->thread;
    for (uint32_t i = 0; i < op; i++)
        index += ordeal_trace_op(t, i)->thread == thread;
    return index;
}

static void add_cycles(cJSON *object, const struct ordeal_trace *t, uint32_t op)
{
    uint64_t issue, completion;
    uint8_t flags = ordeal_trace_op(t, op)->flags;
    if (!ordeal_trace_times_of(t, op, &issue, &completion))
        return;
    if (flags & ORDEAL_HAS_BEGIN)
        cJSON_AddNumberToObject(object, "issue", (double)issue);
    if (flags & ORDEAL_HAS_END)
        cJSON_AddNumberToObject(object, "completion", (double)completion);
}

static cJSON *op_as_json(struct naming *n, uint32_t op)
{
    cJSON *object = cJSON_CreateObject();
    char id[32];
    snprintf(id, sizeof id, "op%" PRIu32, op);
    cJSON_AddStringToObject(object, "op", name_op(n, op));
    cJSON_AddNumberToObject(object, "line", line_of_op(n, op));
    cJSON_AddStringToObject(object, "id", id);
    cJSON_AddStringToObject(object, "thread",
                            name_thread(n, ordeal_trace_op(n->trace, op)->thread));
    cJSON_AddNumberToObject(object, "index", index_in_thread(n->trace, op));
    add_cycles(object, n->trace, op);
    return object;
}

static void add_core(cJSON *line, struct naming *n)
{
    const uint32_t *ops;
    size_t count = ordeal_verdict_core(n->verdict, &ops);
    cJSON *core = cJSON_AddArrayToObject(line, "core");
    for (size_t i = 0; i < count && core; i++)
        cJSON_AddItemToArray(core, op_as_json(n, ops[i]));
}

static bool names_event(const struct explanation *e, uint32_t event)
{
    for (size_t i = 0; i < e->edges.count; i++) {
        const struct ordeal_edge *edge = &e->edges.data[i].edge;
        if (edge->from == event || edge->to == event || edge->via == event)
            return true;
    }
    return false;
}

/* The initial stores that edges speak of; they are the first of all events. */
static void add_initial(cJSON *line, const struct explanation *e, struct naming *n)
{
    cJSON *initial = cJSON_AddArrayToObject(line, "initial");
    struct ordeal_event event;
    for (uint32_t i = 0; i < ordeal_verdict_events(n->verdict) && initial; i++) {
        ordeal_verdict_event(n->verdict, i, &event);
        if (event.op != ORDEAL_NONE)
            break;
        if (!names_event(e, i))
            continue;
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "op", name_event(n, i, ORDEAL_NONE));
        add_id(object, "id", n, i);
        cJSON_AddItemToArray(initial, object);
    }
}

/* ---- edges and steps ---------------------------------------------------------------------- */

static cJSON *numbers_as_json(const uint32_t *numbers, size_t count)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count && array; i++)
        cJSON_AddItemToArray(array, cJSON_CreateNumber(numbers[i]));
    return array;
}

static void add_numbers(cJSON *object, const char *field, const struct numbers *numbers)
{
    cJSON_AddItemToObject(object, field, numbers_as_json(numbers->data, numbers->count));
}

static cJSON *edge_as_json(const struct explanation *e, size_t i, struct naming *n,
                           enum ordeal_model model)
{
    const struct explained_edge *x = &e->edges.data[i];
    const struct explained *step = &e->steps.data[x->step - 1];
    bool alone = step->edges.count == 1 && step->kind != STEP_SUPPOSE && step->kind != STEP_CASE;
    char sentence[SENTENCE];
    explain_edge(&x->edge, n, model, sentence, sizeof sentence);
    cJSON *edge = cJSON_CreateObject();
    cJSON_AddNumberToObject(edge, "edge", (double)(i + 1));
    add_id(edge, "from", n, x->edge.from);
    add_id(edge, "to", n, x->edge.to);
    if (x->edge.via != ORDEAL_NONE)
        add_id(edge, "via", n, x->edge.via);
    if (x->rule)
        cJSON_AddStringToObject(edge, "rule", x->rule);
    cJSON_AddStringToObject(edge, "sentence", alone ? step->text : sentence);
    add_numbers(edge, "because", alone ? &step->because : &(struct numbers){ 0 });
    cJSON_AddNumberToObject(edge, "step", x->step);
    return edge;
}

static cJSON *step_as_json(const struct explained *x, size_t number)
{
    cJSON *step = cJSON_CreateObject();
    cJSON_AddNumberToObject(step, "step", (double)number);
    cJSON_AddStringToObject(step, "kind", step_kind_name(x->kind));
    cJSON_AddNumberToObject(step, "depth", x->depth);
    if (x->branch)
        cJSON_AddNumberToObject(step, "case", x->branch);
    cJSON_AddStringToObject(step, "text", x->text);
    if (x->rule)
        cJSON_AddStringToObject(step, "rule", x->rule);
    add_numbers(step, "because", &x->because);
    cJSON_AddItemToObject(step, "lines", numbers_as_json(x->lines.data, x->lines.count));
    add_numbers(step, "edges", &x->edges);
    if (x->circle.count)
        add_numbers(step, "cycle", &x->circle);
    return step;
}

/* The circles that are the contradiction: that of the last step, or those of both cases. */
static void add_circles(cJSON *line, const struct explanation *e)
{
    cJSON *cycles = cJSON_AddArrayToObject(line, "cycles");
    for (size_t i = 0; i < e->steps.count && cycles; i++) {
        const struct explained *x = &e->steps.data[i];
        if ((x->kind == STEP_END || x->kind == STEP_IMPOSSIBLE) && x->circle.count)
            cJSON_AddItemToArray(cycles, numbers_as_json(x->circle.data, x->circle.count));
    }
}

void explain_json(cJSON *line, const struct explanation *e, struct naming *n,
                  enum ordeal_model model)
{
    add_core(line, n);
    add_initial(line, e, n);
    cJSON *story = cJSON_AddArrayToObject(line, "story");
    for (size_t i = 0; i < e->story.count && story; i++)
        cJSON_AddItemToArray(story, cJSON_CreateString(e->story.data[i]));
    cJSON *edges = cJSON_AddArrayToObject(line, "graph");
    for (size_t i = 0; i < e->edges.count && edges; i++)
        cJSON_AddItemToArray(edges, edge_as_json(e, i, n, model));
    cJSON *steps = cJSON_AddArrayToObject(line, "steps");
    for (size_t i = 0; i < e->steps.count && steps; i++)
        cJSON_AddItemToArray(steps, step_as_json(&e->steps.data[i], i + 1));
    add_circles(line, e);
}
