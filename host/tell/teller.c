/* SPDX-License-Identifier: Apache-2.0 */
#include "teller.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PUSH TELLER_PUSH

/* ---- steps --------------------------------------------------------------------------- */

static struct explained *last_step(struct teller *t) { return &t->made.data[t->made.count - 1]; }

unsigned teller_say(struct teller *t, enum step_kind kind, unsigned depth, const char *format, ...)
{
    bool header = kind == STEP_SUPPOSE || kind == STEP_CASE;
    struct explained step = { .kind = kind,
                              .depth = depth - header,
                              .branch = depth ? t->branch : 0 };
    va_list args;
    va_start(args, format);
    if (vasprintf(&step.text, format, args) < 0)
        step.text = NULL;
    va_end(args);
    if (!step.text || !LIST_PUSH(&t->made, step)) {
        free(step.text);
        t->out_of_memory = true;
        return 0;
    }
    unsigned number = (unsigned)t->made.count;
    PUSH(t, &t->pending[depth], number);
    return number;
}

void teller_rule(struct teller *t, unsigned rule)
{
    if (!t->out_of_memory)
        last_step(t)->rule = ordeal_rule_name(rule);
}

void teller_because(struct teller *t, unsigned step)
{
    if (t->out_of_memory || !step)
        return;
    struct numbers *because = &last_step(t)->because;
    for (size_t i = 0; i < because->count; i++)
        if (because->data[i] == step)
            return;
    PUSH(t, because, step);
}

void teller_mentions(struct teller *t, uint32_t event)
{
    uint32_t line = event == ORDEAL_NONE ? 0 : line_of_event(t->names, event);
    if (t->out_of_memory || line == 0)
        return;
    struct explained *s = last_step(t);
    for (size_t i = 0; i < s->lines.count; i++)
        if (s->lines.data[i] == line)
            return;
    PUSH(t, &s->lines, line);
}

/* ---- edges --------------------------------------------------------------------------- */

static unsigned add_edge(struct teller *t, const struct explained_edge *edge)
{
    PUSH(t, &t->out->edges, *edge);
    if (t->out_of_memory)
        return 0;
    PUSH(t, &t->made.data[edge->step - 1].edges, (unsigned)t->out->edges.count);
    return (unsigned)t->out->edges.count;
}

unsigned teller_says(struct teller *t, const struct ordeal_edge *e, unsigned depth)
{
    const char *rule = e->rule == RULE_GROUP ? NULL : ordeal_rule_name(e->rule);
    return add_edge(t, &(struct explained_edge){ .edge = *e,
                                                 .rule = rule,
                                                 .depth = depth,
                                                 .step = (unsigned)t->made.count,
                                                 .holds = true });
}

void teller_because_edges(struct teller *t, const struct numbers *edges)
{
    for (size_t i = 0; i < edges->count && !t->out_of_memory; i++)
        teller_because(t, t->out->edges.data[edges->data[i] - 1].step);
}

void teller_circle(struct teller *t, const struct numbers *edges)
{
    for (size_t i = 0; i < edges->count && !t->out_of_memory; i++)
        PUSH(t, &last_step(t)->circle, edges->data[i]);
    teller_because_edges(t, edges);
}

/* The halves of a swap are one, but where stores land in each memory on their own. */
static bool same_place(const struct teller *t, uint32_t a, uint32_t b)
{
    struct ordeal_event x, y;
    if (a == b || t->names->views)
        return a == b;
    ordeal_verdict_event(t->names->verdict, a, &x);
    ordeal_verdict_event(t->names->verdict, b, &y);
    return x.op != ORDEAL_NONE && x.op == y.op && strcmp(x.location, y.location) == 0;
}

static bool same_order(const struct teller *t, const struct ordeal_edge *a,
                       const struct ordeal_edge *b)
{
    if ((a->rule == RULE_GROUP) != (b->rule == RULE_GROUP))
        return false;
    if (a->rule == RULE_GROUP && same_place(t, a->from, b->to) && same_place(t, a->to, b->from))
        return true;
    if (!same_place(t, a->from, b->from) || !same_place(t, a->to, b->to))
        return false;
    return !t->names->views || (a->from_view == b->from_view && a->to_view == b->to_view);
}

unsigned teller_find(const struct teller *t, const struct ordeal_edge *e)
{
    for (size_t i = t->out->edges.count; i-- > 0;)
        if (t->out->edges.data[i].holds && same_order(t, &t->out->edges.data[i].edge, e))
            return (unsigned)(i + 1);
    return 0;
}

unsigned teller_deepest(const struct teller *t, const struct numbers *edges)
{
    unsigned deepest = 0;
    for (size_t i = 0; i < edges->count; i++) {
        unsigned depth = t->out->edges.data[edges->data[i] - 1].depth;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

/* ---- what holds ---------------------------------------------------------------------- */

struct ordeal_edge edge_of_literal(struct ordeal_literal l)
{
    l = literal_plain(l);
    return (struct ordeal_edge){ .rule = ORDEAL_RULE_CO,
                                 .from = l.a,
                                 .to = l.b,
                                 .via = ORDEAL_NONE,
                                 .from_view = ORDEAL_NONE,
                                 .to_view = ORDEAL_NONE };
}

void teller_hold(struct teller *t, struct ordeal_literal l, unsigned step, unsigned depth,
                 const char *rule)
{
    if (t->out_of_memory || !step)
        return;
    PUSH(t, &t->holdings, ((struct holding){ .literal = l, .step = step, .depth = depth }));
    struct explained_edge edge = {
        .edge = edge_of_literal(l), .rule = rule, .step = step, .depth = depth, .holds = true
    };
    if (!l.reads && !teller_find(t, &edge.edge))
        add_edge(t, &edge);
}

const struct holding *teller_holds(const struct teller *t, struct ordeal_literal l)
{
    for (size_t i = 0; i < t->holdings.count; i++)
        if (literal_equal(t->holdings.data[i].literal, l))
            return &t->holdings.data[i];
    return NULL;
}

void teller_open(struct teller *t)
{
    t->depth++;
    assert(t->depth <= DEEPEST);
}

static void forget(struct teller *t)
{
    size_t kept = 0;
    t->depth--;
    for (size_t i = 0; i < t->holdings.count; i++)
        if (t->holdings.data[i].depth <= t->depth)
            t->holdings.data[kept++] = t->holdings.data[i];
    t->holdings.count = kept;
    for (size_t i = 0; i < t->out->edges.count; i++)
        if (t->out->edges.data[i].depth > t->depth)
            t->out->edges.data[i].holds = false;
}

static void append(struct teller *t, struct numbers *to, struct numbers *from)
{
    for (size_t i = 0; i < from->count && !t->out_of_memory; i++)
        PUSH(t, to, from->data[i]);
    from->count = 0;
}

void teller_close(struct teller *t)
{
    append(t, &t->pending[t->depth - 1], &t->pending[t->depth]);
    forget(t);
}

void teller_close_first_case(struct teller *t)
{
    append(t, &t->first_case, &t->pending[t->depth]);
    forget(t);
}

void teller_close_second_case(struct teller *t)
{
    append(t, &t->pending[t->depth - 1], &t->first_case);
    teller_close(t);
}

/* ---- the end ------------------------------------------------------------------------- */

static void step_free(struct explained *e)
{
    free(e->text);
    LIST_FREE(&e->because);
    LIST_FREE(&e->edges);
    LIST_FREE(&e->circle);
    LIST_FREE(&e->lines);
}

/* What the last step rests on, and so on: number[id] becomes 1. A step may have been said for what
 * another then said, too. */
static void mark_needed(const struct teller *t, unsigned *number)
{
    const struct numbers *order = &t->pending[0];
    number[order->data[order->count - 1]] = 1;
    for (size_t i = order->count; i-- > 0;) {
        const struct numbers *because = &t->made.data[order->data[i] - 1].because;
        for (size_t k = 0; number[order->data[i]] && k < because->count; k++)
            number[because->data[k]] = 1;
    }
}

static void renumber(struct numbers *numbers, const unsigned *number)
{
    for (size_t i = 0; i < numbers->count; i++)
        numbers->data[i] = number[numbers->data[i]];
}

/* The steps that are needed become the explanation's, the others go. */
static void take_steps(struct teller *t, unsigned *number)
{
    const struct numbers *order = &t->pending[0];
    for (size_t i = 0; i < order->count && !t->out_of_memory; i++) {
        struct explained *step = &t->made.data[order->data[i] - 1];
        if (!number[order->data[i]])
            continue;
        PUSH(t, &t->out->steps, *step);
        *step = (struct explained){ 0 };
        number[order->data[i]] = (unsigned)t->out->steps.count;
    }
}

/* The same of their edges. */
static void take_edges(struct teller *t, const unsigned *number, unsigned *edge_number)
{
    unsigned kept = 0;
    for (size_t i = 0; i < t->out->edges.count; i++) {
        struct explained_edge edge = t->out->edges.data[i];
        edge.step = number[edge.step];
        if (!edge.step)
            continue;
        t->out->edges.data[kept++] = edge;
        edge_number[i + 1] = kept;
    }
    t->out->edges.count = kept;
}

static void put_in_order(struct teller *t, unsigned *number, unsigned *edge_number)
{
    assert(t->pending[0].count == t->made.count);
    mark_needed(t, number);
    take_steps(t, number);
    take_edges(t, number, edge_number);
    for (size_t i = 0; i < t->out->steps.count; i++) {
        struct explained *step = &t->out->steps.data[i];
        renumber(&step->because, number);
        renumber(&step->edges, edge_number);
        renumber(&step->circle, edge_number);
    }
}

bool teller_finish(struct teller *t)
{
    unsigned *number = calloc(t->made.count + 1, sizeof *number);
    unsigned *edge_number = calloc(t->out->edges.count + 1, sizeof *edge_number);
    t->out_of_memory = t->out_of_memory || !number || !edge_number;
    if (!t->out_of_memory)
        put_in_order(t, number, edge_number);
    free(number);
    free(edge_number);
    for (size_t i = 0; i < t->made.count; i++)
        step_free(&t->made.data[i]);
    for (unsigned depth = 0; depth <= DEEPEST; depth++)
        LIST_FREE(&t->pending[depth]);
    LIST_FREE(&t->made);
    LIST_FREE(&t->first_case);
    LIST_FREE(&t->holdings);
    free(t->told);
    free(t->in_place);
    return !t->out_of_memory;
}

void explanation_free(struct explanation *e)
{
    for (size_t i = 0; i < e->steps.count; i++)
        step_free(&e->steps.data[i]);
    for (size_t i = 0; i < e->story.count; i++)
        free(e->story.data[i]);
    LIST_FREE(&e->steps);
    LIST_FREE(&e->edges);
    LIST_FREE(&e->story);
}
