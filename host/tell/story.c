/* SPDX-License-Identifier: Apache-2.0 */
#include "story.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FACTS = 4, MOST_IN_CIRCLE = 12 };

static bool add_line(struct explanation *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool add_line(struct explanation *out, const char *format, ...)
{
    char *line;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&line, format, args);
    va_end(args);
    if (length < 0)
        return false;
    if (LIST_PUSH(&out->story, line))
        return true;
    free(line);
    return false;
}

/* ---- where it breaks ------------------------------------------------------------------------ */

static const struct ordeal_edge *edge_of(const struct explanation *e, unsigned number)
{
    return &e->edges.data[number - 1].edge;
}

/* "a < b < c < a", without the middle of a long one. */
static void word_circle(const struct explanation *e, const struct numbers *circle, struct naming *n,
                        char *buffer, size_t size)
{
    size_t used = 0;
    for (size_t k = 0; k <= circle->count && used < size; k++) {
        const char *joint = k == 0 ? "" : " < ";
        if (k == MOST_IN_CIRCLE && circle->count > MOST_IN_CIRCLE) {
            k = circle->count - 1;
            joint = " < ... < ";
        }
        const struct ordeal_edge *edge = edge_of(e, circle->data[k % circle->count]);
        if (k && edge_of(e, circle->data[k - 1])->rule == RULE_GROUP)
            joint = " = "; /* of one transaction */
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", joint,
                                 name_event(n, edge->from, edge->from_view));
    }
}

/* The circle of a step, if it has one, behind what was supposed. */
static bool add_circle(struct explanation *out, const char *supposed, const struct explained *step,
                       struct naming *n)
{
    char words[SENTENCE] = "nothing goes together";
    if (step->circle.count)
        word_circle(out, &step->circle, n, words, sizeof words);
    return add_line(out, "  %s%s%s%s", *supposed ? "if " : "", supposed, *supposed ? ": " : "",
                    words);
}

/* ---- which order is forced ----------------------------------------------------------------- */

/* The order of two stores that was found, and not only supposed. */
static const struct ordeal_edge *fact_of(const struct explanation *e, const struct explained *step)
{
    if (step->depth || step->branch || !step->because.count || step->edges.count != 1)
        return NULL;
    const struct ordeal_edge *edge = edge_of(e, step->edges.data[0]);
    return edge->rule == ORDEAL_RULE_CO ? edge : NULL;
}

static bool add_number(struct numbers *numbers, unsigned number)
{
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->data[i] == number)
            return true;
    return LIST_PUSH(numbers, number);
}

/* The facts that the step rests on, and those that what it rests on does, `levels` deep. */
static bool collect_facts(const struct explanation *e, const struct explained *step, int levels,
                          struct numbers *facts)
{
    bool whole = true;
    for (size_t i = 0; i < step->because.count && whole && levels; i++) {
        const struct explained *s = &e->steps.data[step->because.data[i] - 1];
        whole = (!fact_of(e, s) || add_number(facts, step->because.data[i]))
             && collect_facts(e, s, levels - 1, facts);
    }
    return whole;
}

static void word_facts(const struct explanation *e, const struct numbers *facts, struct naming *n,
                       char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < facts->count && i < MOST_FACTS && used < size; i++) {
        const struct ordeal_edge *edge = fact_of(e, &e->steps.data[facts->data[i] - 1]);
        used += (size_t)snprintf(buffer + used, size - used, "%s%s before %s (step %u)",
                                 i ? ", " : "", name_event(n, edge->from, ORDEAL_NONE),
                                 name_event(n, edge->to, ORDEAL_NONE), facts->data[i]);
    }
    if (facts->count > MOST_FACTS && used < size)
        snprintf(buffer + used, size - used, ", and %zu more", facts->count - MOST_FACTS);
}

/* ---- the whole --------------------------------------------------------------------------- */

struct case_told {
    const struct explained *supposed, *end;
};

/* The first and the last step of one of the two cases; false: there are none. */
static bool find_case(const struct explanation *e, unsigned branch, struct case_told *c)
{
    *c = (struct case_told){ 0 };
    for (size_t i = 0; i < e->steps.count; i++) {
        const struct explained *step = &e->steps.data[i];
        if (step->branch == branch && step->kind == STEP_CASE)
            c->supposed = step;
        if (step->branch == branch && step->kind == STEP_IMPOSSIBLE)
            c->end = step;
    }
    return c->supposed && c->end;
}

static bool add_forced(struct explanation *out, const struct numbers *facts, struct naming *n,
                       const char *what)
{
    char words[SENTENCE];
    word_facts(out, facts, n, words, sizeof words);
    return add_line(out, "This forces %s%s%s", words, *words ? ", and then " : "", what);
}

static bool tell_cases(struct explanation *out, const struct case_told *cases,
                       const struct numbers *facts, struct naming *n)
{
    bool whole = add_forced(out, facts, n, "a circle in either of two cases:");
    for (int i = 0; i < 2 && whole; i++)
        whole = add_circle(out, cases[i].supposed->text + strlen(CASE_WORDS), cases[i].end, n);
    return whole;
}

bool story_tell(struct explanation *out, struct naming *n)
{
    enum { LEVELS = 2 }; /* the circle's own edges, and what makes them hold */
    const struct explained *end = &out->steps.data[out->steps.count - 1];
    struct case_told cases[2];
    struct numbers facts = { 0 };
    bool whole;
    if (find_case(out, 1, &cases[0]) && find_case(out, 2, &cases[1]))
        whole = collect_facts(out, cases[0].end, LEVELS, &facts)
             && collect_facts(out, cases[1].end, LEVELS, &facts)
             && tell_cases(out, cases, &facts, n);
    else if (end->circle.count)
        whole = collect_facts(out, end, LEVELS, &facts) && add_forced(out, &facts, n, "a circle:")
             && add_circle(out, "", end, n);
    else
        whole = collect_facts(out, end, LEVELS, &facts)
             && add_forced(out, &facts, n, "what no order can keep.");
    LIST_FREE(&facts);
    return whole;
}
