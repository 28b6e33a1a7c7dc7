/* SPDX-License-Identifier: Apache-2.0 */
#include "explain.h"

#include <stdio.h>
#include <string.h>

#include "story.h"
#include "teller.h"

static const char *const kind_names[] = {
    [STEP_ORDER] = "order",           [STEP_SAW] = "saw",         [STEP_VALUE] = "value",
    [STEP_GROUP] = "group",           [STEP_SUPPOSE] = "suppose", [STEP_CASE] = "case",
    [STEP_IMPOSSIBLE] = "impossible", [STEP_SO] = "so",           [STEP_END] = "end",
};

const char *step_kind_name(enum step_kind kind) { return kind_names[kind]; }

/* ---- looking into the proof --------------------------------------------------------------- */

static const struct inference *inference_at(const struct teller *t, size_t i)
{
    return &t->proof->inferences.data[i];
}

static const struct proof_edge *edge_at(const struct teller *t, struct range circle, size_t k)
{
    return &t->proof->edges.data[circle.first + k % circle.count];
}

static const char *name_from(struct teller *t, const struct ordeal_edge *e)
{
    return name_event(t->names, e->from, e->from_view);
}

static const char *name_to(struct teller *t, const struct ordeal_edge *e)
{
    return name_event(t->names, e->to, e->to_view);
}

static uint32_t op_of(const struct teller *t, uint32_t event)
{
    struct ordeal_event e;
    ordeal_verdict_event(t->names->verdict, event, &e);
    return e.op;
}

static bool needs(const struct teller *t, const struct proof_edge *e, struct ordeal_literal l)
{
    for (size_t k = 0; k < e->needs.count; k++)
        if (literal_equal(t->proof->literals.data[e->needs.first + k], l))
            return true;
    return false;
}

/* The only edge that needs the literal, as an index; circle.count: none or several. */
static size_t only_edge_with(const struct teller *t, struct range circle, struct ordeal_literal l)
{
    size_t found = circle.count;
    for (size_t k = 0; k < circle.count; k++) {
        if (!needs(t, edge_at(t, circle, k), l))
            continue;
        if (found != circle.count)
            return circle.count;
        found = k;
    }
    return found;
}

/* ---- saying edges ---------------------------------------------------------------------- */

/* How deep the edge stands by what it needs, all of which holds. */
static unsigned depth_of(const struct teller *t, const struct proof_edge *e)
{
    unsigned depth = 0;
    for (size_t k = 0; k < e->needs.count; k++) {
        const struct holding *h = teller_holds(t, t->proof->literals.data[e->needs.first + k]);
        assert(h);
        depth = h->depth > depth ? h->depth : depth;
    }
    return depth;
}

static unsigned say_edge(struct teller *t, const struct proof_edge *e)
{
    char sentence[SENTENCE];
    unsigned depth = depth_of(t, e);
    explain_edge(&e->edge, t->names, t->model, sentence, sizeof sentence);
    if (!teller_say(t, STEP_ORDER, depth, "%s", sentence))
        return 0;
    teller_rule(t, e->edge.rule);
    teller_mentions(t, e->edge.from);
    teller_mentions(t, e->edge.to);
    if (e->edge.via != ORDEAL_NONE)
        teller_mentions(t, e->edge.via);
    for (size_t k = 0; k < e->needs.count; k++)
        teller_because(t, teller_holds(t, t->proof->literals.data[e->needs.first + k])->step);
    return teller_says(t, &e->edge, depth);
}

/* The number of this edge, which is said now if it was not before. */
static unsigned state_edge(struct teller *t, const struct proof_edge *e)
{
    struct ordeal_edge order = e->edge;
    if (order.rule == ORDEAL_RULE_CO) /* of stores, in every memory */
        order.from_view = order.to_view = ORDEAL_NONE;
    unsigned number = teller_find(t, &order);
    return number ? number : say_edge(t, e);
}

/* Whether the one edge goes on where the other arrives, by name as well. */
static bool joins(struct teller *t, const struct ordeal_edge *arrives,
                  const struct ordeal_edge *leaves)
{
    return op_of(t, arrives->to) == op_of(t, leaves->from)
        && strcmp(name_to(t, arrives), name_from(t, leaves)) == 0;
}

/* Where an edge arrives at one operation and the next leaves from another of the same transaction,
 * say so: what is before one is before all of it. The number of that edge, 0: no need. */
static unsigned state_group(struct teller *t, const struct ordeal_edge *arrives,
                            const struct ordeal_edge *leaves)
{
    if (op_of(t, arrives->to) == op_of(t, leaves->from))
        return 0;
    struct ordeal_edge group = { .rule = RULE_GROUP,
                                 .from = arrives->to,
                                 .to = leaves->from,
                                 .via = ORDEAL_NONE,
                                 .from_view = arrives->to_view,
                                 .to_view = leaves->from_view };
    unsigned number = teller_find(t, &group);
    if (number)
        return number;
    char sentence[SENTENCE];
    explain_edge(&group, t->names, t->model, sentence, sizeof sentence);
    if (!teller_say(t, STEP_GROUP, 0, "%s", sentence))
        return 0;
    teller_mentions(t, group.from);
    teller_mentions(t, group.to);
    return teller_says(t, &group, 0);
}

/* ---- chains: what needs no more than a rule ------------------------------------------------ */

enum { MOST_IN_CHAIN = 8 };

static bool fit_for_chain(const struct teller *t, const struct proof_edge *e)
{
    return rule_is_plain(e->edge.rule) && e->needs.count == 0 && !teller_find(t, &e->edge);
}

static bool linked(struct teller *t, struct range circle, size_t k)
{
    return fit_for_chain(t, edge_at(t, circle, k)) && fit_for_chain(t, edge_at(t, circle, k + 1))
        && joins(t, &edge_at(t, circle, k)->edge, &edge_at(t, circle, k + 1)->edge);
}

/* How many edges from the k-th on are one chain, of at most `most`; 1 is none. */
static size_t chain_length(struct teller *t, struct range circle, size_t k, size_t most)
{
    size_t length = 1;
    most = most < MOST_IN_CHAIN ? most : MOST_IN_CHAIN;
    while (length < most && linked(t, circle, k + length - 1))
        length++;
    return length;
}

/* "a < b (R2) < c (R4)" */
static void say_chain(struct teller *t, struct range circle, size_t k, size_t length,
                      struct numbers *said)
{
    char words[SENTENCE];
    size_t used = (size_t)snprintf(words, sizeof words, "%s",
                                   name_from(t, &edge_at(t, circle, k)->edge));
    for (size_t i = 0; i < length && used < sizeof words; i++) {
        const struct ordeal_edge *e = &edge_at(t, circle, k + i)->edge;
        used += (size_t)snprintf(words + used, sizeof words - used, " < %s (%s)", name_to(t, e),
                                 ordeal_rule_name(e->rule));
    }
    if (!teller_say(t, STEP_ORDER, 0, "%s", words))
        return;
    teller_mentions(t, edge_at(t, circle, k)->edge.from);
    for (size_t i = 0; i < length && !t->out_of_memory; i++) {
        const struct ordeal_edge *e = &edge_at(t, circle, k + i)->edge;
        teller_mentions(t, e->to);
        TELLER_PUSH(t, said, teller_says(t, e, 0));
    }
}

/* States `count` edges of the circle from the k-th on, and gives their numbers. */
static void state_path(struct teller *t, struct range circle, size_t k, size_t count,
                       struct numbers *said)
{
    for (size_t i = 0, length; i < count && !t->out_of_memory; i += length) {
        length = chain_length(t, circle, k + i, count - i);
        if (length > 1)
            say_chain(t, circle, k + i, length, said);
        else
            TELLER_PUSH(t, said, state_edge(t, edge_at(t, circle, k + i)));
        size_t last = k + i + length - 1;
        unsigned group = i + length == count && count < circle.count
                           ? 0
                           : state_group(t, &edge_at(t, circle, last)->edge,
                                         &edge_at(t, circle, last + 1)->edge);
        if (group)
            TELLER_PUSH(t, said, group);
    }
}

/* All of the circle but the k-th edge, with the ends of that. */
static void state_way_around(struct teller *t, struct range circle, size_t k, struct numbers *said)
{
    size_t last = k + circle.count - 1;
    const struct ordeal_edge *left_out = &edge_at(t, circle, k)->edge;
    unsigned group = state_group(t, left_out, &edge_at(t, circle, k + 1)->edge);
    if (group)
        TELLER_PUSH(t, said, group);
    state_path(t, circle, k + 1, circle.count - 1, said);
    group = state_group(t, &edge_at(t, circle, last)->edge, left_out);
    if (group)
        TELLER_PUSH(t, said, group);
}

static void state_circle(struct teller *t, struct range circle, struct numbers *said)
{
    size_t first = 0; /* where no chain is cut */
    while (first + 1 < circle.count && linked(t, circle, first + circle.count - 1))
        first++;
    state_path(t, circle, first, circle.count, said);
}

/* ---- what makes something impossible -------------------------------------------------------- */

/* A circle, or steps that do not go together. */
struct refutation {
    struct numbers circle, steps;
};

static void refutation_free(struct refutation *r)
{
    LIST_FREE(&r->circle);
    LIST_FREE(&r->steps);
}

/* The step said last rests on this. */
static void because_refuted(struct teller *t, const struct refutation *r)
{
    teller_circle(t, &r->circle);
    for (size_t i = 0; i < r->steps.count && !t->out_of_memory; i++)
        teller_because(t, r->steps.data[i]);
}

/* "P1 S[A]#1 would have to be before itself", or what else cannot be. */
static void word_refutation(struct teller *t, const struct refutation *r, char *buffer, size_t size)
{
    if (r->circle.count && !t->out_of_memory)
        snprintf(buffer, size, "%s would have to be before itself",
                 name_from(t, &t->out->edges.data[r->circle.data[0] - 1].edge));
    else
        snprintf(buffer, size, "what was said would not go together");
}

/* ---- conclusions --------------------------------------------------------------------- */

static const struct ordeal_literal *conclusion_of(const struct teller *t, const struct inference *n)
{
    return &t->proof->literals.data[n->conclusion.first];
}

static void mention_literals(struct teller *t, const struct ordeal_literal *literals, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        teller_mentions(t, literals[k].a);
        teller_mentions(t, literals[k].b);
    }
}

/* Opens a supposition: none of the literals holds. */
static unsigned suppose(struct teller *t, enum step_kind kind,
                        const struct ordeal_literal *literals, size_t count, bool negate)
{
    char words[SENTENCE];
    teller_open(t);
    word_literals(literals, count, negate, " and ", t->names, words, sizeof words);
    unsigned step = teller_say(t, kind, t->depth, "%s%s",
                               kind == STEP_CASE ? CASE_WORDS : "Suppose ", words);
    for (size_t k = 0; k < count; k++) {
        struct ordeal_literal l = negate ? literal_negate(literals[k]) : literals[k];
        mention_literals(t, &l, 1);
        teller_hold(t, l, step, t->depth, NULL);
    }
    return step;
}

/* "if P1 S[A]#1 is before P2 S[A]#2, then ..." */
static void word_clause(struct teller *t, const struct ordeal_literal *literals, size_t count,
                        char *buffer, size_t size)
{
    char condition[SENTENCE / 4], words[SENTENCE / 4];
    if (count != 2) {
        word_literals(literals, count, false, ", or ", t->names, buffer, size);
        return;
    }
    word_literals(literals, 1, true, "", t->names, condition, sizeof condition);
    word_literals(literals + 1, 1, false, "", t->names, words, sizeof words);
    snprintf(buffer, size, "if %s, then %s", condition, words);
}

/* What follows from the supposition, which was closed, because of how it was refuted. */
static unsigned conclude(struct teller *t, const struct ordeal_literal *literals, size_t count,
                         unsigned supposition, const struct refutation *r)
{
    char clause[SENTENCE], otherwise[SENTENCE];
    word_clause(t, literals, count, clause, sizeof clause);
    word_refutation(t, r, otherwise, sizeof otherwise);
    unsigned step = teller_say(t, STEP_SO, t->depth, "So %s, or else %s", clause, otherwise);
    mention_literals(t, literals, count);
    teller_because(t, supposition);
    because_refuted(t, r);
    if (count == 1)
        teller_hold(t, literals[0], step, t->depth, "cases");
    return step;
}

/* ---- facts from circles ------------------------------------------------------------------- */

/* How a circle proves a literal, by the one edge that needs its opposite. */
enum proving { PROVES_R6, PROVES_PATH, PROVES_BY_SUPPOSITION };

static enum proving proving(const struct teller *t, struct range circle, struct ordeal_literal l,
                            size_t *closing)
{
    *closing = only_edge_with(t, circle, literal_negate(l));
    if (*closing == circle.count || l.reads)
        return PROVES_BY_SUPPOSITION;
    switch (edge_at(t, circle, *closing)->edge.rule) {
    case ORDEAL_RULE_R7: return PROVES_R6;
    case ORDEAL_RULE_CO: return PROVES_PATH;
    default: return PROVES_BY_SUPPOSITION;
    }
}

/* R6: S is before a load that saw S', so S is before S'. The circle would be closed by the load
 * being before S (R7, supposing that S' is before S). */
static void tell_r6(struct teller *t, struct range circle, size_t closing, struct ordeal_literal l)
{
    const struct ordeal_edge *e = &edge_at(t, circle, closing)->edge;
    const struct holding *saw = teller_holds(t, (struct ordeal_literal){
                                                    .reads = true, .a = e->from, .b = e->via });
    struct numbers way = { 0 };
    state_way_around(t, circle, closing, &way);
    unsigned depth = teller_deepest(t, &way), saw_step = saw ? saw->step : 0;
    depth = saw && saw->depth > depth ? saw->depth : depth;
    unsigned step = teller_say(t, STEP_ORDER, depth,
                               "%s is before %s: it is before %s, which saw the latter",
                               name_event(t->names, e->to, ORDEAL_NONE),
                               name_event(t->names, e->via, ORDEAL_NONE), name_from(t, e));
    teller_rule(t, ORDEAL_RULE_R6);
    teller_mentions(t, e->to);
    teller_mentions(t, e->via);
    teller_mentions(t, e->from);
    teller_because_edges(t, &way);
    teller_because(t, saw_step);
    teller_hold(t, l, step, depth, ordeal_rule_name(ORDEAL_RULE_R6));
    LIST_FREE(&way);
}

/* S is before S' because a path leads from the one to the other. */
static void tell_path(struct teller *t, struct range circle, size_t closing,
                      struct ordeal_literal l)
{
    struct numbers way = { 0 };
    state_way_around(t, circle, closing, &way);
    unsigned depth = teller_deepest(t, &way);
    struct ordeal_edge order = edge_of_literal(l);
    unsigned found = t->out_of_memory ? 0 : teller_find(t, &order), step = 0;
    if (found) { /* a single edge, which says it all */
        step = t->out->edges.data[found - 1].step;
        depth = t->out->edges.data[found - 1].depth;
    } else if (!t->out_of_memory) {
        step = teller_say(t, STEP_SO, depth, "So %s is before %s",
                          name_event(t->names, order.from, ORDEAL_NONE),
                          name_event(t->names, order.to, ORDEAL_NONE));
        teller_mentions(t, order.from);
        teller_mentions(t, order.to);
        teller_because_edges(t, &way);
    }
    teller_hold(t, l, step, depth, ordeal_rule_name(ORDEAL_RULE_CO));
    LIST_FREE(&way);
}

static unsigned tell_by_supposition(struct teller *t, struct range circle,
                                    const struct ordeal_literal *literals, size_t count)
{
    struct refutation r = { 0 };
    unsigned supposition = suppose(t, STEP_SUPPOSE, literals, count, true);
    state_circle(t, circle, &r.circle);
    teller_close(t);
    unsigned step = conclude(t, literals, count, supposition, &r);
    refutation_free(&r);
    return step;
}

/* The literal holds, for otherwise the circle would be closed. */
static void tell_fact(struct teller *t, struct range circle, struct ordeal_literal l)
{
    struct ordeal_edge order = edge_of_literal(l);
    unsigned said = l.reads ? 0 : teller_find(t, &order);
    size_t closing;
    if (teller_holds(t, l))
        return;
    if (said) {
        const struct explained_edge *e = &t->out->edges.data[said - 1];
        teller_hold(t, l, e->step, e->depth, NULL);
        return;
    }
    switch (proving(t, circle, l, &closing)) {
    case PROVES_R6: tell_r6(t, circle, closing, l); break;
    case PROVES_PATH: tell_path(t, circle, closing, l); break;
    case PROVES_BY_SUPPOSITION: tell_by_supposition(t, circle, &l, 1); break;
    }
}

/* ---- clauses --------------------------------------------------------------------------- */

static unsigned tell_value(struct teller *t, const struct inference *n)
{
    char words[SENTENCE];
    const struct ordeal_literal *literals = conclusion_of(t, n);
    word_literals(literals, n->conclusion.count, false, ", or ", t->names, words, sizeof words);
    unsigned step = teller_say(t, STEP_VALUE, 0, "%s: %s",
                               literals[0].negated ? "A load sees one store only"
                                                   : "A load sees what some store wrote",
                               words);
    mention_literals(t, literals, n->conclusion.count);
    return step;
}

/* The step that says the clause; what values alone say is said when it is needed. */
static unsigned clause_step(struct teller *t, size_t clause)
{
    const struct inference *n = inference_at(t, clause);
    if (!t->told[clause] && n->kind == BY_VALUE)
        t->told[clause] = tell_value(t, n);
    return t->told[clause];
}

static bool is_that(const struct ordeal_literal *a, struct ordeal_literal b)
{
    return a && literal_equal(*a, b);
}

/* The steps by which all of the clause is false but `remaining`, the clause's own first. */
static unsigned clause_reasons(struct teller *t, size_t clause,
                               const struct ordeal_literal *remaining, struct numbers *steps)
{
    const struct inference *n = inference_at(t, clause);
    unsigned depth = 0;
    TELLER_PUSH(t, steps, clause_step(t, clause));
    for (size_t k = 0; k < n->conclusion.count && !t->out_of_memory; k++) {
        struct ordeal_literal l = conclusion_of(t, n)[k];
        const struct holding *h = is_that(remaining, l) ? NULL : teller_holds(t, literal_negate(l));
        if (!h)
            continue;
        TELLER_PUSH(t, steps, h->step);
        depth = h->depth > depth ? h->depth : depth;
    }
    return depth;
}

/* The clause leaves nothing else. */
static void tell_choice(struct teller *t, size_t clause, struct ordeal_literal l)
{
    char words[SENTENCE];
    struct numbers steps = { 0 };
    unsigned depth = clause_reasons(t, clause, &l, &steps);
    word_literal(l, t->names, words, sizeof words);
    unsigned step = teller_say(t, l.reads ? STEP_SAW : STEP_SO, depth, "So %s", words);
    mention_literals(t, &l, 1);
    for (size_t i = 0; i < steps.count && !t->out_of_memory; i++)
        teller_because(t, steps.data[i]);
    teller_hold(t, l, step, depth, "cases");
    LIST_FREE(&steps);
}

/* ---- suppositions ------------------------------------------------------------------------ */

static const struct proof_move *move_at(const struct teller *t, const struct inference *n, size_t k)
{
    return &t->proof->moves.data[n->trail.first + k];
}

/* How deep suppositions stand within that of a case distinction, as told. */
static unsigned nesting(const struct teller *t, const struct inference *n, const unsigned *within)
{
    unsigned deepest = 0;
    for (size_t k = 0; k < n->trail.count; k++) {
        const struct proof_move *m = move_at(t, n, k);
        unsigned here = t->in_place[m->clause] ? within[m->clause] + !m->contradiction : 0;
        deepest = here > deepest ? here : deepest;
    }
    return deepest;
}

/* Clauses that circles and cases prove are told where they are used, unless that is often, or too
 * deep within other suppositions. */
static bool choose_in_place(struct teller *t)
{
    enum { CIRCLES_TOLD_AGAIN = 2, CASES_TOLD_AGAIN = 1 };
    size_t count = t->proof->inferences.count;
    unsigned *within = calloc(count, sizeof *within);
    if (!within)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct inference *n = inference_at(t, i);
        within[i] = nesting(t, n, within);
        t->in_place[i] = n->conclusion.count > 1 && within[i] + 1 < DEEPEST
                      && ((n->kind == BY_CYCLE && n->uses <= CIRCLES_TOLD_AGAIN)
                          || (n->kind == BY_CASES && n->uses <= CASES_TOLD_AGAIN));
    }
    free(within);
    return true;
}

static struct refutation refute(struct teller *t, const struct inference *n);

static unsigned tell_cases(struct teller *t, const struct inference *n,
                           const struct ordeal_literal *literals, size_t count)
{
    unsigned supposition = suppose(t, STEP_SUPPOSE, literals, count, true);
    struct refutation r = refute(t, n);
    teller_close(t);
    unsigned step = conclude(t, literals, count, supposition, &r);
    refutation_free(&r);
    return step;
}

/* The literal holds, by the clause, all else of which is false. */
static void use_clause(struct teller *t, size_t clause, struct ordeal_literal l)
{
    const struct inference *n = inference_at(t, clause);
    if (teller_holds(t, l))
        return;
    if (!t->in_place[clause])
        tell_choice(t, clause, l);
    else if (n->kind == BY_CYCLE)
        tell_fact(t, n->edges, l);
    else
        tell_cases(t, n, &l, 1);
}

/* All of the clause is false. */
static struct refutation refute_clause(struct teller *t, size_t clause)
{
    struct refutation r = { 0 };
    if (t->in_place[clause])
        return refute(t, inference_at(t, clause));
    clause_reasons(t, clause, NULL, &r.steps);
    return r;
}

/* How the supposition that the conclusion is false leads to something impossible. */
static struct refutation refute(struct teller *t, const struct inference *n)
{
    struct refutation r = { 0 };
    if (n->kind == BY_CYCLE)
        state_circle(t, n->edges, &r.circle);
    for (size_t k = 0; k < n->trail.count && !t->out_of_memory; k++) {
        const struct proof_move *m = move_at(t, n, k);
        if (m->contradiction)
            r = refute_clause(t, m->clause);
        else
            use_clause(t, m->clause, m->literal);
    }
    return r;
}

/* ---- inferences ------------------------------------------------------------------------ */

static void tell_inference(struct teller *t, size_t i)
{
    const struct inference *n = inference_at(t, i);
    if (n->kind == BY_VALUE || t->in_place[i])
        return;
    const struct ordeal_literal *literals = conclusion_of(t, n);
    if (n->kind == BY_CASES)
        t->told[i] = tell_cases(t, n, literals, n->conclusion.count);
    else if (n->kind == BY_RULING_OUT)
        use_clause(t, n->clause, literals[0]);
    else if (n->conclusion.count == 1)
        tell_fact(t, n->edges, literals[0]);
    else
        t->told[i] = tell_by_supposition(t, n->edges, literals, n->conclusion.count);
}

/* ---- the end ----------------------------------------------------------------------------- */

/* How it cannot be that the conclusion of the i-th inference is false. */
static struct refutation refute_contrary(struct teller *t, size_t i)
{
    const struct inference *n = inference_at(t, i);
    return n->kind == BY_RULING_OUT ? refute_clause(t, n->clause) : refute(t, n);
}

static unsigned say_refuted(struct teller *t, enum step_kind kind, const struct refutation *r)
{
    char words[SENTENCE];
    word_refutation(t, r, words, sizeof words);
    unsigned step = teller_say(t, kind, t->depth, "%s: %s", words,
                               kind == STEP_END ? "there is no legal order" : "impossible");
    because_refuted(t, r);
    return step;
}

static void tell_end(struct teller *t)
{
    struct refutation r = refute_contrary(t, t->proof->inferences.count - 1);
    say_refuted(t, STEP_END, &r);
    refutation_free(&r);
}

/* Whether telling the inference takes a supposition. */
static bool supposes(const struct teller *t, size_t i)
{
    const struct inference *n = inference_at(t, i);
    size_t closing;
    if (!n->used || n->kind == BY_VALUE || t->in_place[i])
        return false;
    if (n->kind == BY_RULING_OUT)
        return t->in_place[n->clause];
    return n->kind == BY_CASES || n->conclusion.count != 1
        || proving(t, n->edges, *conclusion_of(t, n), &closing) == PROVES_BY_SUPPOSITION;
}

/* The last inference but for the end that takes a supposition, when little comes after it: then
 * its fact and the contrary are two cases, side by side. SIZE_MAX: there is none such. */
static size_t where_cases_part(const struct teller *t)
{
    enum { MOST_AFTER = 6 };
    size_t after = 0;
    for (size_t i = t->proof->inferences.count - 1; i-- > 0 && after <= MOST_AFTER;) {
        const struct inference *n = inference_at(t, i);
        if (supposes(t, i))
            return n->conclusion.count == 1 ? i : SIZE_MAX;
        after += n->used;
    }
    return SIZE_MAX;
}

static unsigned tell_case(struct teller *t, struct refutation *r)
{
    unsigned step = say_refuted(t, STEP_IMPOSSIBLE, r);
    refutation_free(r);
    return step;
}

/* The two cases: the conclusion of the inference is false, or it is true. */
static void tell_both_cases(struct teller *t, size_t part)
{
    const struct ordeal_literal *l = conclusion_of(t, inference_at(t, part));
    size_t last = t->proof->inferences.count - 1;
    unsigned first[2], second[2];
    t->branch = 1;
    first[0] = suppose(t, STEP_CASE, l, 1, true);
    struct refutation r = refute_contrary(t, part);
    first[1] = tell_case(t, &r);
    teller_close_first_case(t);
    t->branch = 2;
    second[0] = suppose(t, STEP_CASE, l, 1, false);
    for (size_t i = part + 1; i < last && !t->out_of_memory; i++)
        if (inference_at(t, i)->used)
            tell_inference(t, i);
    r = refute_contrary(t, last);
    second[1] = tell_case(t, &r);
    teller_close_second_case(t);
    t->branch = 0;
    teller_say(t, STEP_END, 0, "Neither case is possible: there is no legal order");
    for (int i = 0; i < 2; i++)
        teller_because(t, first[i]);
    for (int i = 0; i < 2; i++)
        teller_because(t, second[i]);
}

static void tell_all(struct teller *t)
{
    size_t last = t->proof->inferences.count - 1, part = where_cases_part(t);
    for (size_t i = 0; i < last && i < part && !t->out_of_memory; i++)
        if (inference_at(t, i)->used)
            tell_inference(t, i);
    if (part < last)
        tell_both_cases(t, part);
    else
        tell_end(t);
}

bool explain(struct explanation *out, const struct proof *p, struct naming *n,
             enum ordeal_model model)
{
    *out = (struct explanation){ 0 };
    if (p->inferences.count == 0)
        return true;
    struct teller t = { .out = out, .proof = p, .names = n, .model = model };
    t.told = calloc(p->inferences.count, sizeof *t.told);
    t.in_place = calloc(p->inferences.count, sizeof *t.in_place);
    t.out_of_memory = !t.told || !t.in_place || !choose_in_place(&t);
    if (!t.out_of_memory)
        tell_all(&t);
    return teller_finish(&t) && story_tell(out, n);
}
