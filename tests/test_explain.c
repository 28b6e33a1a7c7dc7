/* SPDX-License-Identifier: Apache-2.0 */
/* Explanations of violations, looked at as programs see them: over the thesis's figures and random
 * executions, under every model. Nothing is said twice, everything is used, and steps are what
 * their rules ask for. The operations are looked up in the trace, not in the proof.
 *
 * test_explain --table prints how many steps each takes. */
#include "ordeal.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "random_execution.h"
#include "tell/explain_json.h"
#include "test/kinds.h"
#include "traces.h"
#include "unity.h"

static struct ordeal *o;
static bool table;

void setUp(void) { o = ordeal_new(NULL); }
void tearDown(void) { ordeal_free(o); }

/* ---- one explanation -------------------------------------------------------------------------- */

struct subject {
    const char *name;
    const struct ordeal_trace *trace;
    bool one_size; /* of accesses */
    cJSON *root, *steps, *graph;
};

static const char *complaint(const struct subject *s, int step, const char *what)
{
    static char text[1024];
    snprintf(text, sizeof text, "%s, step %d: %s", s->name, step, what);
    return text;
}

#define HOLDS(condition, step, what) TEST_ASSERT_TRUE_MESSAGE(condition, complaint(s, step, what))

static int number(const cJSON *object, const char *field)
{
    const cJSON *item = cJSON_GetObjectItem(object, field);
    return item ? item->valueint : -1;
}

static const char *string(const cJSON *object, const char *field)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, field));
    return text ? text : "";
}

static cJSON *step_at(const struct subject *s, int n)
{
    return cJSON_GetArrayItem(s->steps, n - 1);
}
static cJSON *edge_at(const struct subject *s, int n)
{
    return cJSON_GetArrayItem(s->graph, n - 1);
}

static bool has_number(const cJSON *list, int n)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list) if (item->valueint == n) return true;
    return false;
}

static bool is_kind(const cJSON *step, const char *kind)
{
    return strcmp(string(step, "kind"), kind) == 0;
}

/* ---- well founded, and all of it used ------------------------------------------------------------ */

static bool is_used(const struct subject *s, int n)
{
    for (int later = n + 1; later <= cJSON_GetArraySize(s->steps); later++)
        if (has_number(cJSON_GetObjectItem(step_at(s, later), "because"), n))
            return true;
    return false;
}

static void look_at_numbers(const struct subject *s)
{
    int count = cJSON_GetArraySize(s->steps), n = 0;
    cJSON *step, *b;
    HOLDS(count > 0 && is_kind(step_at(s, count), "end"), count, "it does not end");
    cJSON_ArrayForEach(step, s->steps)
    {
        HOLDS(number(step, "step") == ++n, n, "numbers have gaps");
        cJSON_ArrayForEach(b, cJSON_GetObjectItem(step, "because"))
            HOLDS(b->valueint >= 1 && b->valueint < n, n, "rests on a later step");
        HOLDS(n == count || is_used(s, n), n, "nobody uses it");
    }
}

/* ---- nothing twice -------------------------------------------------------------------------- */

/* What is supposed is not said to be so, and may be found later without it. */
static bool supposes(const cJSON *step)
{
    return is_kind(step, "suppose") || is_kind(step, "case");
}

/* How many suppositions what the step says rests on. */
static int inside(const cJSON *step) { return number(step, "depth") + supposes(step); }

/* Whether what step a says still holds at step b: no supposition of it was left meanwhile. */
static bool still_holds(const struct subject *s, int a, int b)
{
    for (int n = a + 1; n <= b; n++)
        if (inside(step_at(s, n)) < inside(step_at(s, a))
            || (inside(step_at(s, n)) == inside(step_at(s, a)) && inside(step_at(s, n)) > 0
                && supposes(step_at(s, n))))
            return false;
    return true;
}

/* The order that a sentence says, without why. */
static size_t fact_length(const char *sentence)
{
    const char *why = strstr(sentence, ": "), *which = strstr(sentence, ", ");
    size_t length = strlen(sentence);
    if (why && (size_t)(why - sentence) < length)
        length = (size_t)(why - sentence);
    if (which && (size_t)(which - sentence) < length)
        length = (size_t)(which - sentence);
    return length;
}

static bool same_fact(const cJSON *a, const cJSON *b)
{
    const char *x = string(a, "sentence"), *y = string(b, "sentence");
    x += strncmp(x, "So ", 3) == 0 ? 3 : 0;
    y += strncmp(y, "So ", 3) == 0 ? 3 : 0;
    return strcmp(string(a, "from"), string(b, "from")) == 0
        && strcmp(string(a, "to"), string(b, "to")) == 0 && fact_length(x) == fact_length(y)
        && strncmp(x, y, fact_length(x)) == 0;
}

static void look_for_repetitions(const struct subject *s)
{
    cJSON *a, *b;
    cJSON_ArrayForEach(a, s->graph) cJSON_ArrayForEach(b, s->graph)
    {
        int first = number(a, "step"), second = number(b, "step");
        if (a != b && first <= second && same_fact(a, b) && !supposes(step_at(s, first))
            && !supposes(step_at(s, second)))
            HOLDS(!still_holds(s, first, second), second, "an order is said twice");
    }
    cJSON_ArrayForEach(a, s->steps) for (b = a->next; b; b = b->next) if (
        strcmp(string(a, "text"), string(b, "text")) == 0
        && cJSON_Compare(cJSON_GetObjectItem(a, "lines"), cJSON_GetObjectItem(b, "lines"),
                         true)) /* two operations may be written alike */
        HOLDS(!still_holds(s, number(a, "step"), number(b, "step")), number(b, "step"),
              "a sentence stands there twice");
}

/* ---- rules: what they ask for, from the trace -------------------------------------------------- */

static const struct ordeal_op *op_of(const struct subject *s, const char *id)
{
    return strncmp(id, "op", 2) == 0 ? ordeal_trace_op(s->trace, strtoul(id + 2, NULL, 10)) : NULL;
}

static bool overlap(const struct ordeal_op *a, const struct ordeal_op *b)
{
    return a->base == b->base && a->address < b->address + (UINT64_C(1) << b->size_log2)
        && b->address < a->address + (UINT64_C(1) << a->size_log2);
}

static bool one_size(const struct ordeal_trace *t)
{
    for (size_t i = 0; i < ordeal_trace_length(t); i++)
        if (kind_is_access(ordeal_trace_op(t, i)->kind) && ordeal_trace_op(t, i)->size_log2 != 2)
            return false;
    return true;
}

/* Whether the load can have seen the store; with several sizes it may have seen a part only, of
 * which no more is asked than that it is there. Initial values can always be seen. */
static bool can_see(const struct subject *s, const struct ordeal_op *load,
                    const struct ordeal_op *store)
{
    if (!load || load->kind == ORDEAL_STORE)
        return false;
    if (!store)
        return true;
    return overlap(load, store) && (!s->one_size || load->read == ordeal_op_written(store));
}

static bool in_program_order(const struct subject *s, const cJSON *edge)
{
    const struct ordeal_op *from = op_of(s, string(edge, "from")),
                           *to = op_of(s, string(edge, "to"));
    return from && to && from->thread == to->thread && from <= to; /* of a swap: halves */
}

/* Whether one of the steps the edge rests on says that a is before b. */
static bool was_said(const struct subject *s, const cJSON *edge, const char *a, const char *b)
{
    const cJSON *other;
    cJSON_ArrayForEach(other, s->graph) if (strcmp(string(other, "from"), a) == 0
                                            && strcmp(string(other, "to"), b) == 0
                                            && has_number(cJSON_GetObjectItem(edge, "because"),
                                                          number(other, "step"))) return true;
    return false;
}

/* The load saw `via`, which is before `to`: from the start, or by an earlier step. */
static bool is_overwritten(const struct subject *s, const cJSON *edge)
{
    const char *via = string(edge, "via"), *to = string(edge, "to");
    return can_see(s, op_of(s, string(edge, "from")), op_of(s, via)) && op_of(s, to)
        && (!op_of(s, via) || was_said(s, edge, via, to));
}

/* Where the edges of the steps that an edge rests on lead from `from`: to a load that saw `to`? */
static bool leads_to_load(const struct subject *s, const cJSON *edge)
{
    enum { MOST = 4096 };
    static const char *reached[MOST];
    int count = 0;
    reached[count++] = string(edge, "from");
    for (int i = 0; i < count; i++) {
        const cJSON *other;
        if (i && can_see(s, op_of(s, reached[i]), op_of(s, string(edge, "to"))))
            return true;
        cJSON_ArrayForEach(other, s->graph)
        {
            if (!has_number(cJSON_GetObjectItem(edge, "because"), number(other, "step")))
                continue;
            bool group = is_kind(step_at(s, number(other, "step")), "group");
            const char *next = strcmp(string(other, "from"), reached[i]) == 0 ? string(other, "to")
                             : group && strcmp(string(other, "to"), reached[i]) == 0
                                 ? string(other, "from")
                                 : NULL;
            for (int k = 0; next && k < count; k++)
                next = strcmp(reached[k], next) == 0 ? NULL : next;
            if (next && count < MOST)
                reached[count++] = next;
        }
    }
    return false;
}

static bool keeps_rule(const struct subject *s, const cJSON *edge)
{
    static const char *const program[] = { "R1", "R2", "R3", "PO", "SA", "DEP", "T2", "T3" };
    const char *rule = string(edge, "rule");
    for (size_t i = 0; i < sizeof program / sizeof *program; i++)
        if (strcmp(rule, program[i]) == 0)
            return in_program_order(s, edge);
    if (strcmp(rule, "R4") == 0)
        return can_see(s, op_of(s, string(edge, "to")), op_of(s, string(edge, "from")));
    if (strcmp(rule, "R7") == 0)
        return is_overwritten(s, edge);
    /* Nothing is before an initial value: that a load did not see it is no order. */
    return strcmp(rule, "R6") != 0 || (op_of(s, string(edge, "to")) && leads_to_load(s, edge));
}

static void look_at_edges(const struct subject *s)
{
    cJSON *edge;
    int n = 0;
    cJSON_ArrayForEach(edge, s->graph)
    {
        int step = number(edge, "step");
        HOLDS(number(edge, "edge") == ++n, step, "edges have gaps");
        HOLDS(has_number(cJSON_GetObjectItem(step_at(s, step), "edges"), n), step, "not its edge");
        HOLDS(keeps_rule(s, edge), step, "the rule does not say so");
    }
}

/* ---- circles -------------------------------------------------------------------------------- */

static void look_at_circle(const struct subject *s, const cJSON *step)
{
    const cJSON *circle = cJSON_GetObjectItem(step, "cycle"), *item;
    const char *at = NULL, *first = NULL;
    int n = number(step, "step");
    cJSON_ArrayForEach(item, circle)
    {
        const cJSON *edge = edge_at(s, item->valueint);
        const char *from = string(edge, "from"), *to = string(edge, "to");
        bool turned = is_kind(step_at(s, number(edge, "step")), "group") && at
                   && strcmp(from, at) != 0;
        HOLDS(has_number(cJSON_GetObjectItem(step, "because"), number(edge, "step")), n,
              "it does not rest on its circle");
        HOLDS(!at || strcmp(turned ? to : from, at) == 0, n, "the circle is broken");
        first = first ? first : from;
        at = turned ? from : to;
    }
    HOLDS(!at || strcmp(at, first) == 0, n, "the circle is not closed");
}

/* Every operation that is named is one of the core, or an initial value. */
static bool is_listed(const struct subject *s, const char *id)
{
    static const char *const lists[] = { "core", "initial" };
    for (int i = 0; i < 2; i++) {
        const cJSON *op;
        cJSON_ArrayForEach(op,
                           cJSON_GetObjectItem(s->root, lists[i])) if (strcmp(string(op, "id"), id)
                                                                       == 0) return true;
    }
    return false;
}

static void look_at_operations(const struct subject *s)
{
    cJSON *edge;
    cJSON_ArrayForEach(edge, s->graph)
    {
        const char *via = string(edge, "via");
        HOLDS(is_listed(s, string(edge, "from")) && is_listed(s, string(edge, "to"))
                  && (!*via || is_listed(s, via)),
              number(edge, "step"), "an operation is not listed");
    }
}

/* ---- making them ------------------------------------------------------------------------------- */

static void look_at(const struct subject *s)
{
    cJSON *step;
    look_at_numbers(s);
    look_for_repetitions(s);
    look_at_edges(s);
    look_at_operations(s);
    cJSON_ArrayForEach(step, s->steps) look_at_circle(s, step);
    HOLDS(cJSON_GetArraySize(cJSON_GetObjectItem(s->root, "story")) > 0, 0, "there is no story");
}

/* How many steps the explanation takes; 0: it needs none. */
static int look_at_verdict(const char *name, const struct ordeal_trace *trace,
                           const struct ordeal_verdict *v)
{
    struct proof proof = { 0 };
    struct explanation e = { 0 };
    enum ordeal_model model = ordeal_verdict_model(v);
    struct naming names = { .trace = trace, .verdict = v, .views = model == ORDEAL_PC };
    TEST_ASSERT_TRUE(proof_read(&proof, v) && explain(&e, &proof, &names, model));
    struct subject s = {
        .name = name, .trace = trace, .one_size = one_size(trace), .root = cJSON_CreateObject()
    };
    explain_json(s.root, &e, &names, model);
    s.steps = cJSON_GetObjectItem(s.root, "steps");
    s.graph = cJSON_GetObjectItem(s.root, "graph");
    int steps = (int)e.steps.count;
    if (steps)
        look_at(&s);
    cJSON_Delete(s.root);
    explanation_free(&e);
    proof_free(&proof);
    return steps;
}

/* Under every model; how many violations were explained. */
static int look_at_trace(const char *name, const struct ordeal_trace *trace)
{
    int explained = 0;
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        struct ordeal_options how = { .model = (enum ordeal_model)m };
        struct ordeal_verdict *v = NULL;
        char title[512];
        snprintf(title, sizeof title, "%s under %s", name, ordeal_model_name(how.model));
        if (ordeal_check(trace, &how, &v) == ORDEAL_OK && ordeal_verdict_result(v) == ORDEAL_FAIL) {
            int steps = look_at_verdict(title, trace, v);
            explained += steps > 0;
            if (table)
                printf("%4d %s\n", steps, title);
        }
        ordeal_verdict_free(v);
    }
    return explained;
}

static void test_figures(void)
{
    glob_t files;
    int explained = 0;
    glob("tests/golden/*.trace", 0, NULL, &files);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct ordeal_trace *trace = NULL;
        FILE *file = fopen(files.gl_pathv[i], "r");
        struct ordeal_reader *r = ordeal_reader_new(o, file, files.gl_pathv[i],
                                                    ORDEAL_FORMAT_GUESS);
        TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_reader_next(r, &trace));
        explained += look_at_trace(files.gl_pathv[i], trace);
        ordeal_reader_free(r);
        fclose(file);
        ordeal_trace_free(trace);
    }
    globfree(&files);
    TEST_ASSERT_GREATER_THAN(30, explained);
}

/* As a trace whose operations have lines. */
static struct ordeal_trace *with_lines(const struct oracle_execution *x, uint64_t seed)
{
    struct ordeal_trace *bare = NULL, *trace = NULL;
    TEST_ASSERT_EQUAL(ORDEAL_OK, execution_trace(o, x, seed, &bare));
    struct written text = trace_to(bare, OUT_TEXT);
    TEST_ASSERT_EQUAL(ORDEAL_OK,
                      trace_from(o, text.bytes, text.length, ORDEAL_FORMAT_TEXT, &trace));
    free(text.bytes);
    ordeal_trace_free(bare);
    return trace;
}

static void random_ones(const struct random_shape *shape, uint64_t seeds, int least)
{
    int explained = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        static struct oracle_execution x;
        char name[64];
        snprintf(name, sizeof name, "seed %" PRIu64 " of %u words", seed, shape->words);
        random_execution(shape, seed, &x);
        struct ordeal_trace *trace = with_lines(&x, seed);
        explained += look_at_trace(name, trace);
        ordeal_trace_free(trace);
    }
    TEST_ASSERT_GREATER_THAN(least, explained);
}

static void test_random_executions(void)
{
    random_ones(&(struct random_shape){ .threads = 4,
                                        .words = 4,
                                        .ops_least = 3,
                                        .ops_most = 14,
                                        .features = RANDOM_ALL },
                400, 500);
}

static void test_crowded_executions(void)
{
    random_ones(&(struct random_shape){ .threads = 4,
                                        .words = 1,
                                        .ops_least = 8,
                                        .ops_most = 12,
                                        .features = RANDOM_CROWDED },
                200, 100);
}

int main(int argc, char **argv)
{
    table = argc > 1 && strcmp(argv[1], "--table") == 0;
    UNITY_BEGIN();
    RUN_TEST(test_figures);
    RUN_TEST(test_random_executions);
    RUN_TEST(test_crowded_executions);
    return UNITY_END();
}
