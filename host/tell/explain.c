/* SPDX-License-Identifier: Apache-2.0 */
#include "explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- wording ------------------------------------------------------------------------- */

/* @f, @t, @v: the edge's from, to and via; @F, @T: the same with the memory they land in, where
 * that matters (PC); @m: the model. */
static const char *const edge_wording[ORDEAL_RULE_COUNT] = {
    [ORDEAL_RULE_R1] = "@t follows @f in the program, and a load is performed before what follows "
                       "it, so @F is before @T",
    [ORDEAL_RULE_R2] = "@t follows @f in the program, and stores are performed in that order, so "
                       "@F is before @T",
    [ORDEAL_RULE_R3] = "@t follows @f in the program with a membar between, so @F is before @T",
    [ORDEAL_RULE_PO] = "@t follows @f in the program, and @m keeps this order, so @F is before @T",
    [ORDEAL_RULE_SAME] = "@t follows @f in the program and accesses the same word, so @F is "
                         "before @T",
    [ORDEAL_RULE_DEP] = "@t depends on @f, so @F is before @T",
    [ORDEAL_RULE_T2] = "@t is in a transaction, which comes after all that its thread did before "
                       "it, so @F is before @T",
    [ORDEAL_RULE_T3] = "@f is in a transaction, which comes before all that its thread does after "
                       "it, so @F is before @T",
    [ORDEAL_RULE_R4] = "@t saw @f, so @F is before it",
    [ORDEAL_RULE_R5] = "@v follows @f in the program but saw @t, so @F is before @T",
    [ORDEAL_RULE_R7] = "@f saw @v, which @t overwrites, so @F is before @T",
    [ORDEAL_RULE_INIT] = "@f is there from the start, so it is before @T",
    [ORDEAL_RULE_ORDER] = "the trace says that @F is before @T",
    [ORDEAL_RULE_TIME] = "@f ended before @t began, so @F is before @T",
    [ORDEAL_RULE_CO] = "@F is before @T",
    [ORDEAL_RULE_FINAL] = "in the end memory holds the value of @t, so @F is before @T",
    [ORDEAL_RULE_ATOMIC] = "no store comes between the halves of a swap, so @F is before @T",
};

static const char *fill_in(const struct ordeal_edge *e, char which, struct naming *n,
                           enum ordeal_model model)
{
    switch (which) {
    case 'f': return name_event(n, e->from, ORDEAL_NONE);
    case 't': return name_event(n, e->to, ORDEAL_NONE);
    case 'F': return name_event(n, e->from, e->from_view);
    case 'T': return name_event(n, e->to, e->to_view);
    case 'v': return name_event(n, e->via, ORDEAL_NONE);
    default: return ordeal_model_name(model);
    }
}

void explain_edge(const struct ordeal_edge *e, struct naming *n, enum ordeal_model model,
                  char *buffer, size_t size)
{
    const char *wording = edge_wording[e->rule];
    char fallback[256];
    if (!wording) {
        snprintf(fallback, sizeof fallback, "@F is before @T: %s", ordeal_rule_text(e->rule));
        wording = fallback;
    }
    size_t used = 0;
    for (const char *p = wording; *p && used < size; p++)
        if (*p == '@')
            used += (size_t)snprintf(buffer + used, size - used, "%s", fill_in(e, *++p, n, model));
        else
            used += (size_t)snprintf(buffer + used, size - used, "%c", *p);
}

static int word_literal(struct ordeal_literal l, struct naming *n, char *buffer, size_t size)
{
    l = literal_plain(l);
    const char *a = name_event(n, l.a, ORDEAL_NONE), *b = name_event(n, l.b, ORDEAL_NONE);
    if (!l.reads)
        return snprintf(buffer, size, "%s is before %s", a, b);
    return snprintf(buffer, size, l.negated ? "%s did not see %s" : "%s saw %s", a, b);
}

/* ---- building steps ------------------------------------------------------------------ */

struct teller {
    struct explanation *out;
    const struct proof *proof;
    struct naming *names;
    enum ordeal_model model;
    unsigned *told;               /* by inference: the step that concludes it; 0: not yet */
    LIST(struct ordeal_edge) stated; /* edges that need no supposition, and their steps */
    LIST(unsigned) stated_step;
    bool out_of_memory;
};

#define PUSH(t, list, item) ((void)(LIST_PUSH(list, item) || ((t)->out_of_memory = true)))

static struct explained *last_step(struct teller *t)
{
    return &t->out->steps.data[t->out->steps.count - 1];
}

static unsigned say(struct teller *t, unsigned depth, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a step and returns its number; 0 when memory is out. */
static unsigned say(struct teller *t, unsigned depth, const char *format, ...)
{
    struct explained step = { .depth = depth };
    va_list args;
    va_start(args, format);
    if (vasprintf(&step.text, format, args) < 0)
        step.text = NULL;
    va_end(args);
    if (!step.text || !LIST_PUSH(&t->out->steps, step)) {
        free(step.text);
        t->out_of_memory = true;
        return 0;
    }
    return (unsigned)t->out->steps.count;
}

static void because(struct teller *t, unsigned number)
{
    struct explained *s = last_step(t);
    for (size_t i = 0; i < s->because.count; i++)
        if (s->because.data[i] == number)
            return;
    if (number)
        PUSH(t, &s->because, number);
}

static void mentions(struct teller *t, uint32_t event)
{
    uint32_t line = event == ORDEAL_NONE ? 0 : line_of_event(t->names, event);
    struct explained *s = last_step(t);
    size_t place = 0;
    while (place < s->lines.count && s->lines.data[place] < line)
        place++;
    if (line == 0 || (place < s->lines.count && s->lines.data[place] == line))
        return;
    PUSH(t, &s->lines, line);
    if (t->out_of_memory)
        return;
    memmove(s->lines.data + place + 1, s->lines.data + place,
            (s->lines.count - 1 - place) * sizeof *s->lines.data);
    s->lines.data[place] = line;
}

static void mentions_literals(struct teller *t, struct range r)
{
    for (size_t k = 0; k < r.count; k++) {
        mentions(t, t->proof->literals.data[r.first + k].a);
        mentions(t, t->proof->literals.data[r.first + k].b);
    }
}

/* ---- edges --------------------------------------------------------------------------- */

static bool same_edge(const struct ordeal_edge *a, const struct ordeal_edge *b)
{
    return a->rule == b->rule && a->from == b->from && a->to == b->to && a->via == b->via
        && a->from_view == b->from_view && a->to_view == b->to_view;
}

static unsigned stated_at(const struct teller *t, const struct ordeal_edge *e)
{
    for (size_t i = t->stated.count; i-- > 0;)
        if (same_edge(&t->stated.data[i], e))
            return t->stated_step.data[i];
    return 0;
}

static unsigned say_edge(struct teller *t, unsigned depth, const struct proof_edge *e,
                         unsigned supposition)
{
    char sentence[8 * NAME_SIZE];
    explain_edge(&e->edge, t->names, t->model, sentence, sizeof sentence);
    unsigned number = say(t, depth, "%s", sentence);
    if (!number)
        return 0;
    last_step(t)->rule = ordeal_rule_name(e->edge.rule);
    mentions(t, e->edge.from);
    mentions(t, e->edge.to);
    mentions(t, e->edge.via);
    for (size_t k = 0; k < e->facts.count; k++)
        because(t, t->told[t->proof->facts.data[e->facts.first + k]]);
    if (e->support == SUPPOSED)
        because(t, supposition);
    return number;
}

/* An order of two stores that an earlier step concluded needs no step of its own. */
static unsigned earlier_fact(const struct teller *t, const struct proof_edge *e)
{
    return e->support == KNOWN && e->edge.rule == ORDEAL_RULE_CO
         ? t->told[t->proof->facts.data[e->facts.first]] : 0;
}

/* The step that says this edge, said now if it was not before. */
static unsigned state_edge(struct teller *t, unsigned depth, const struct proof_edge *e,
                           unsigned supposition)
{
    if (earlier_fact(t, e))
        return earlier_fact(t, e);
    if (e->support == SUPPOSED)
        return say_edge(t, depth, e, supposition);
    unsigned number = stated_at(t, &e->edge);
    if (!number) {
        number = say_edge(t, depth, e, 0);
        PUSH(t, &t->stated, e->edge);
        PUSH(t, &t->stated_step, number);
    }
    return number;
}

static const struct proof_edge *edge_at(const struct teller *t, const struct inference *n, size_t k)
{
    return &t->proof->edges.data[n->edges.first + k % n->edges.count];
}

/* Where an edge arrives at one operation and the next leaves from another of the same atomic
 * group, say so: what is before one is before all of it. */
static unsigned state_atomic(struct teller *t, unsigned depth, const struct ordeal_edge *arrives,
                             const struct ordeal_edge *leaves)
{
    struct ordeal_event a, b;
    ordeal_verdict_event(t->names->verdict, arrives->to, &a);
    ordeal_verdict_event(t->names->verdict, leaves->from, &b);
    if (a.op == b.op)
        return 0;
    struct ordeal_edge group = { .rule = ORDEAL_RULE_COUNT, .from = arrives->to,
                                 .to = leaves->from, .via = ORDEAL_NONE };
    unsigned number = stated_at(t, &group);
    if (number)
        return number;
    number = say(t, depth, "%s and %s are in one transaction, so what is before the one is before "
                           "the other", name_event(t->names, arrives->to, arrives->to_view),
                 name_event(t->names, leaves->from, leaves->from_view));
    if (!number)
        return 0;
    mentions(t, arrives->to);
    mentions(t, leaves->from);
    PUSH(t, &t->stated, group);
    PUSH(t, &t->stated_step, number);
    return number;
}

struct numbers { LIST(unsigned) list; };

/* States `count` edges of the circle from the k-th on, those that need the supposition at `depth`;
 * collects the numbers of their steps. */
static void state_path(struct teller *t, const struct inference *n, size_t k, size_t count,
                       unsigned depth, unsigned supposition, struct numbers *steps)
{
    for (size_t i = 0; i < count && !t->out_of_memory; i++) {
        const struct proof_edge *e = edge_at(t, n, k + i);
        unsigned number = state_edge(t, e->support == SUPPOSED ? depth : 0, e, supposition);
        PUSH(t, &steps->list, number);
        number = i + 1 == count && count < n->edges.count
               ? 0 : state_atomic(t, 0, &e->edge, &edge_at(t, n, k + i + 1)->edge);
        if (number)
            PUSH(t, &steps->list, number);
    }
}

static void because_all(struct teller *t, struct numbers *steps)
{
    for (size_t i = 0; i < steps->list.count && !t->out_of_memory; i++)
        because(t, steps->list.data[i]);
    LIST_FREE(&steps->list);
}

/* ---- conclusions --------------------------------------------------------------------- */

static struct ordeal_literal literal_at(const struct teller *t, const struct inference *n, size_t k)
{
    return t->proof->literals.data[n->conclusion.first + k];
}

/* "a is before b, c is before d": the conclusion, or (`negate`) its opposite. */
static void word_literals(const struct teller *t, const struct inference *n, size_t first,
                          size_t count, bool negate, const char *joint, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t k = first; k < first + count && used < size; k++) {
        struct ordeal_literal l = literal_at(t, n, k);
        if (k > first)
            used += (size_t)snprintf(buffer + used, size - used, "%s", joint);
        if (used < size)
            used += (size_t)word_literal(negate ? literal_negate(l) : l, t->names, buffer + used,
                                         size - used);
    }
}

enum { SENTENCE = 4096 };

static unsigned say_supposition(struct teller *t, const struct inference *n)
{
    char words[SENTENCE];
    word_literals(t, n, 0, n->conclusion.count, true, " and ", words, sizeof words);
    unsigned number = say(t, 0, "Suppose %s", words);
    if (number)
        mentions_literals(t, n->conclusion);
    return number;
}

static unsigned say_conclusion(struct teller *t, const struct inference *n)
{
    char words[SENTENCE], condition[SENTENCE];
    size_t count = n->conclusion.count;
    unsigned number;
    if (count == 0) {
        number = say(t, 0, "So there is no legal order");
    } else if (count == 2) {
        word_literals(t, n, 0, 1, true, "", condition, sizeof condition);
        word_literals(t, n, 1, 1, false, "", words, sizeof words);
        number = say(t, 0, "So if %s, then %s", condition, words);
    } else {
        word_literals(t, n, 0, count, false, ", or ", words, sizeof words);
        number = say(t, 0, "So %s", words);
    }
    if (number)
        mentions_literals(t, n->conclusion);
    return number;
}

static void because_facts(struct teller *t, const struct inference *n)
{
    for (size_t k = 0; k < n->facts.count && !t->out_of_memory; k++)
        because(t, t->told[t->proof->facts.data[n->facts.first + k]]);
}

/* ---- the kinds of inference ------------------------------------------------------------ */

/* The only edge that needs a supposition, as an index; edges.count: none or several. */
static size_t only_supposed(const struct teller *t, const struct inference *n)
{
    size_t found = n->edges.count;
    for (size_t k = 0; k < n->edges.count; k++) {
        if (edge_at(t, n, k)->support != SUPPOSED)
            continue;
        if (found != n->edges.count)
            return n->edges.count;
        found = k;
    }
    return found;
}

/* R6: S is before a load that saw S', so S is before S'. The circle would be closed by the load
 * being before S (R7, supposing that S' is before S). */
static unsigned tell_r6(struct teller *t, const struct inference *n, size_t closing)
{
    const struct ordeal_edge *e = &edge_at(t, n, closing)->edge;
    struct numbers path = { 0 };
    state_path(t, n, closing + 1, n->edges.count - 1, 0, 0, &path);
    /* The path may end at another operation of the load's transaction. */
    unsigned joint = state_atomic(t, 0, &edge_at(t, n, closing + n->edges.count - 1)->edge, e);
    unsigned number = say(t, 0, "%s is before %s, which saw %s, so %s is before %s",
                          name_event(t->names, e->to, e->to_view),
                          name_event(t->names, e->from, e->from_view),
                          name_event(t->names, e->via, e->to_view),
                          name_event(t->names, e->to, ORDEAL_NONE),
                          name_event(t->names, e->via, ORDEAL_NONE));
    if (number) {
        last_step(t)->rule = ordeal_rule_name(ORDEAL_RULE_R6);
        mentions(t, e->to);
        mentions(t, e->from);
        mentions(t, e->via);
        because_all(t, &path);
        because(t, joint);
    }
    LIST_FREE(&path.list);
    return number;
}

/* S is before S' because a path leads from the one to the other; a single edge says it all. */
static unsigned tell_path(struct teller *t, const struct inference *n, size_t closing)
{
    const struct ordeal_edge *e = &edge_at(t, n, closing)->edge;
    const struct proof_edge *back = edge_at(t, n, closing + 1);
    if (n->edges.count == 2 && back->edge.from == e->to && back->edge.to == e->from)
        return state_edge(t, 0, back, 0);
    struct numbers path = { 0 };
    state_path(t, n, closing + 1, n->edges.count - 1, 0, 0, &path);
    unsigned number = say(t, 0, "So %s is before %s", name_event(t->names, e->to, ORDEAL_NONE),
                          name_event(t->names, e->from, ORDEAL_NONE));
    if (number) {
        mentions(t, e->to);
        mentions(t, e->from);
        because_all(t, &path);
    }
    LIST_FREE(&path.list);
    return number;
}

/* "P1 S[A]#1, P2 L[A]=1 and back": the operations of a circle, in order. */
static void word_circle(const struct teller *t, const struct inference *n, char *buffer,
                        size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t k = 0; k < n->edges.count && used < size; k++) {
        const struct ordeal_edge *e = &edge_at(t, n, k)->edge;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", k ? ", then " : "",
                                 name_event(t->names, e->from, e->from_view));
    }
    if (used < size) {
        const struct ordeal_edge *e = &edge_at(t, n, 0)->edge;
        snprintf(buffer + used, size - used, ", then %s again",
                 name_event(t->names, e->from, e->from_view));
    }
}

static unsigned tell_supposed_circle(struct teller *t, const struct inference *n)
{
    struct numbers ignored = { 0 }, circle = { 0 };
    for (size_t k = 0; k < n->edges.count; k++)
        if (edge_at(t, n, k)->support != SUPPOSED)
            state_path(t, n, k, 1, 0, 0, &ignored);
    LIST_FREE(&ignored.list);
    unsigned supposition = say_supposition(t, n);
    state_path(t, n, 0, n->edges.count, 1, supposition, &circle);
    char words[SENTENCE];
    word_circle(t, n, words, sizeof words);
    unsigned impossible = say(t, 1, "Then the order would be %s: impossible", words);
    if (impossible)
        because_all(t, &circle);
    LIST_FREE(&circle.list);
    unsigned number = say_conclusion(t, n);
    if (number) {
        because(t, supposition);
        because(t, impossible);
    }
    return number;
}

/* Every edge of the last circle is repeated, in order, so that it can be read on its own. */
static unsigned tell_last_circle(struct teller *t, const struct inference *n)
{
    struct numbers circle = { 0 };
    for (size_t k = 0; k < n->edges.count && !t->out_of_memory; k++) {
        const struct proof_edge *e = edge_at(t, n, k);
        unsigned before = earlier_fact(t, e), number;
        if (!before)
            before = stated_at(t, &e->edge);
        if (before) {
            number = say(t, 0, "%s is before %s",
                         name_event(t->names, e->edge.from, e->edge.from_view),
                         name_event(t->names, e->edge.to, e->edge.to_view));
            if (number) {
                last_step(t)->rule = t->out->steps.data[before - 1].rule;
                because(t, before);
                mentions(t, e->edge.from);
                mentions(t, e->edge.to);
            }
        } else {
            number = state_edge(t, 0, e, 0);
        }
        PUSH(t, &circle.list, number);
        number = state_atomic(t, 0, &e->edge, &edge_at(t, n, k + 1)->edge);
        if (number)
            PUSH(t, &circle.list, number);
    }
    const struct ordeal_edge *e = &edge_at(t, n, 0)->edge;
    unsigned number = say(t, 0, "So %s would have to be before itself: there is no legal order",
                          name_event(t->names, e->from, e->from_view));
    if (number) {
        mentions(t, e->from);
        because_all(t, &circle);
    }
    LIST_FREE(&circle.list);
    return number;
}

static unsigned tell_cycle(struct teller *t, const struct inference *n)
{
    if (n->conclusion.count == 0)
        return tell_last_circle(t, n);
    size_t closing = n->conclusion.count == 1 ? only_supposed(t, n) : n->edges.count;
    if (closing < n->edges.count) {
        uint8_t rule = edge_at(t, n, closing)->edge.rule;
        if (rule == ORDEAL_RULE_R7)
            return tell_r6(t, n, closing);
        if (rule == ORDEAL_RULE_CO)
            return tell_path(t, n, closing);
    }
    return tell_supposed_circle(t, n);
}

static void say_move(struct teller *t, const struct proof_move *m, unsigned depth)
{
    char words[SENTENCE];
    if (m->contradiction) {
        if (say(t, depth, "But that contradicts step %u: impossible", t->told[m->clause]))
            because(t, t->told[m->clause]);
        return;
    }
    word_literal(m->literal, t->names, words, sizeof words);
    if (say(t, depth, "Then %s", words)) {
        because(t, t->told[m->clause]);
        mentions(t, m->literal.a);
        mentions(t, m->literal.b);
    }
}

static unsigned tell_cases(struct teller *t, const struct inference *n)
{
    unsigned supposition = 0, last = 0;
    if (n->conclusion.count)
        supposition = say_supposition(t, n);
    for (size_t k = 0; k < n->trail.count && !t->out_of_memory; k++)
        say_move(t, &t->proof->moves.data[n->trail.first + k], supposition ? 1 : 0);
    last = (unsigned)t->out->steps.count;
    unsigned number = say_conclusion(t, n);
    if (number) {
        because(t, supposition);
        because(t, last);
        because_facts(t, n);
    }
    return number;
}

static unsigned tell_ruling_out(struct teller *t, const struct inference *n)
{
    unsigned number = say_conclusion(t, n);
    if (number) {
        because(t, t->told[n->clause]);
        because_facts(t, n);
    }
    return number;
}

static unsigned tell_value(struct teller *t, const struct inference *n)
{
    char words[SENTENCE];
    bool one_of = !literal_at(t, n, 0).negated;
    word_literals(t, n, 0, n->conclusion.count, false, ", or ", words, sizeof words);
    unsigned number = say(t, 0, "%s: %s", one_of ? "A load sees what some store wrote"
                                                 : "A load sees one store only", words);
    if (number)
        mentions_literals(t, n->conclusion);
    return number;
}

bool explain(struct explanation *out, const struct proof *p, struct naming *n,
             enum ordeal_model model)
{
    static unsigned (*const tell[])(struct teller *, const struct inference *) = {
        [BY_VALUE] = tell_value, [BY_CYCLE] = tell_cycle, [BY_CASES] = tell_cases,
        [BY_RULING_OUT] = tell_ruling_out,
    };
    *out = (struct explanation){ 0 };
    struct teller t = { .out = out, .proof = p, .names = n, .model = model };
    t.told = calloc(p->inferences.count + 1, sizeof *t.told);
    t.out_of_memory = !t.told;
    for (size_t i = 0; i < p->inferences.count && !t.out_of_memory; i++) {
        const struct inference *inference = &p->inferences.data[i];
        if (inference->used)
            t.told[i] = tell[inference->kind](&t, inference);
    }
    free(t.told);
    LIST_FREE(&t.stated);
    LIST_FREE(&t.stated_step);
    return !t.out_of_memory;
}

void explanation_free(struct explanation *e)
{
    for (size_t i = 0; i < e->steps.count; i++) {
        free(e->steps.data[i].text);
        LIST_FREE(&e->steps.data[i].because);
        LIST_FREE(&e->steps.data[i].lines);
    }
    LIST_FREE(&e->steps);
}

/* ---- one sentence -------------------------------------------------------------------- */

void explain_shortly(const struct proof *p, struct naming *n, char *buffer, size_t size)
{
    enum { SHOWN = 6 };
    const struct inference *last = &p->inferences.data[p->inferences.count - 1];
    if (last->kind != BY_CYCLE) {
        snprintf(buffer, size, "every order of the stores leads to a contradiction");
        return;
    }
    size_t used = 0, count = last->edges.count;
    for (size_t k = 0; k <= count && used < size; k++) {
        const char *joint = k == 0 ? "" : " < ";
        if (k == SHOWN && count > SHOWN) {
            k = count - 1;
            joint = " < ... < ";
        }
        const struct ordeal_edge *e = &p->edges.data[last->edges.first + k % count].edge;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", joint,
                                 name_event(n, e->from, e->from_view));
    }
}
