/* SPDX-License-Identifier: Apache-2.0 */
#include "proof.h"

#include <string.h>

/* ---- literals ------------------------------------------------------------------------ */

struct ordeal_literal literal_plain(struct ordeal_literal l)
{
    if (l.negated && !l.reads)
        return (struct ordeal_literal){ .a = l.b, .b = l.a };
    return l;
}

struct ordeal_literal literal_negate(struct ordeal_literal l)
{
    l.negated = !l.negated;
    return literal_plain(l);
}

bool literal_equal(struct ordeal_literal a, struct ordeal_literal b)
{
    a = literal_plain(a);
    b = literal_plain(b);
    return a.reads == b.reads && a.negated == b.negated && a.a == b.a && a.b == b.b;
}

/* The literals that an edge may rest on, at most MOST_NEEDS of them. */
enum { MOST_NEEDS = 2 };

static struct ordeal_literal before(uint32_t a, uint32_t b)
{
    return (struct ordeal_literal){ .a = a, .b = b };
}

static struct ordeal_literal reads(uint32_t load, uint32_t store)
{
    return (struct ordeal_literal){ .reads = true, .a = load, .b = store };
}

static bool is_store(const struct ordeal_verdict *v, uint32_t event)
{
    struct ordeal_event e;
    ordeal_verdict_event(v, event, &e);
    return e.store;
}

static size_t edge_needs(const struct ordeal_verdict *v, const struct ordeal_edge *e,
                         struct ordeal_literal needs[MOST_NEEDS])
{
    switch (e->rule) {
    case ORDEAL_RULE_R4:
        needs[0] = reads(e->to, e->from);
        return 1;
    case ORDEAL_RULE_R5:
        needs[0] = reads(e->via, e->to);
        return 1;
    case ORDEAL_RULE_R7:
        needs[0] = before(e->via, e->to);
        needs[1] = reads(e->from, e->via);
        return 2;
    case ORDEAL_RULE_CO:
        needs[0] = before(e->from, e->to);
        return 1;
    case ORDEAL_RULE_ATOMIC:
        needs[0] = is_store(v, e->to) ? before(e->via, e->to) : before(e->from, e->via);
        return 1;
    default:
        return 0;
    }
}

/* A final value puts one store behind another when further ones with that value are known to be
 * before either of the two. */
static bool final_rests_on(const struct ordeal_edge *e, struct ordeal_literal l)
{
    l = literal_plain(l);
    return e->rule == ORDEAL_RULE_FINAL && !l.reads && (l.b == e->from || l.b == e->to);
}

/* ---- variables: a literal without its sign ------------------------------------------- */

enum { OPEN, FALSE, TRUE };

static const size_t NOWHERE = SIZE_MAX; /* no such variable; or a fact that needs no inference */

struct variable {
    struct ordeal_literal positive;   /* a < b for store orders */
    uint8_t value, tried;             /* known for good; within a case distinction */
    size_t reason, tried_reason;      /* the inference of the fact (NOWHERE: it needs none); the
                                         clause that forced it */
    LIST(size_t) clauses;             /* inferences whose conclusion speaks of it */
};

struct reader {
    const struct ordeal_verdict *verdict;
    struct proof *proof;
    size_t variables;
    struct variable *variable;
    LIST(size_t) trail;               /* variables set within a case distinction */
    bool out_of_memory;
};

static struct ordeal_literal unsigned_form(struct ordeal_literal l)
{
    l = literal_plain(l);
    if (!l.reads && l.a > l.b)
        return (struct ordeal_literal){ .a = l.b, .b = l.a };
    l.negated = false;
    return l;
}

static int compare_variables(const void *x, const void *y)
{
    const struct ordeal_literal *a = &((const struct variable *)x)->positive;
    const struct ordeal_literal *b = &((const struct variable *)y)->positive;
    if (a->reads != b->reads)
        return a->reads ? 1 : -1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

static size_t variable_of(const struct reader *r, struct ordeal_literal l)
{
    struct variable key = { .positive = unsigned_form(l) };
    struct variable *found = bsearch(&key, r->variable, r->variables, sizeof key,
                                     compare_variables);
    return found ? (size_t)(found - r->variable) : NOWHERE;
}

static uint8_t sign_of(const struct reader *r, size_t variable, struct ordeal_literal l)
{
    return literal_equal(l, r->variable[variable].positive) ? TRUE : FALSE;
}

static bool collect_variables(struct reader *r, const struct ordeal_verdict *v)
{
    size_t total = 0, steps = ordeal_verdict_steps(v);
    struct ordeal_step step;
    for (size_t i = 0; i < steps; i++) {
        ordeal_verdict_step(v, i, &step);
        total += step.literal_count;
    }
    r->variable = calloc(total + 1, sizeof *r->variable);
    if (!r->variable)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < steps; i++) {
        ordeal_verdict_step(v, i, &step);
        for (size_t k = 0; k < step.literal_count; k++)
            r->variable[n++].positive = unsigned_form(step.literals[k]);
    }
    qsort(r->variable, n, sizeof *r->variable, compare_variables);
    for (size_t i = 0; i < n; i++) {
        if (r->variables && compare_variables(&r->variable[r->variables - 1], &r->variable[i]) == 0)
            continue;
        r->variable[r->variables++] = r->variable[i];
    }
    return true;
}

/* ---- inferences ---------------------------------------------------------------------- */

#define PUSH(r, list, item) ((void)(LIST_PUSH(list, item) || ((r)->out_of_memory = true)))

static struct inference *current(const struct reader *r)
{
    return &r->proof->inferences.data[r->proof->inferences.count - 1];
}

static void rest_on_fact(struct reader *r, const struct variable *x)
{
    if (x->reason != NOWHERE)
        PUSH(r, &r->proof->facts, x->reason);
}

/* `l` holds from now on, by the inference that was made last. */
static void establish(struct reader *r, struct ordeal_literal l)
{
    size_t x = variable_of(r, l);
    if (r->variable[x].value == OPEN) {
        r->variable[x].value = sign_of(r, x, l);
        r->variable[x].reason = r->proof->inferences.count - 1;
    }
}

static struct inference *begin_inference(struct reader *r, enum inference_kind kind)
{
    struct proof *p = r->proof;
    struct inference fresh = { .kind = kind, .conclusion.first = p->literals.count,
                               .edges.first = p->edges.count, .trail.first = p->moves.count,
                               .facts.first = p->facts.count };
    if (!LIST_PUSH(&p->inferences, fresh)) {
        r->out_of_memory = true;
        return NULL;
    }
    return current(r);
}

/* The clause less what is known to be false; the facts that say so are noted. */
static void conclude(struct reader *r, const struct ordeal_literal *literals, size_t count)
{
    struct proof *p = r->proof;
    for (size_t k = 0; k < count; k++) {
        size_t x = variable_of(r, literals[k]);
        if (r->variable[x].value == OPEN || r->variable[x].value == sign_of(r, x, literals[k]))
            PUSH(r, &p->literals, literal_plain(literals[k]));
        else
            rest_on_fact(r, &r->variable[x]);
    }
    current(r)->conclusion.count = p->literals.count - current(r)->conclusion.first;
    current(r)->facts.count = p->facts.count - current(r)->facts.first;
}

static bool is_supposed(const struct reader *r, struct ordeal_literal l)
{
    const struct range *c = &current(r)->conclusion;
    for (size_t k = 0; k < c->count; k++)
        if (literal_equal(r->proof->literals.data[c->first + k], literal_negate(l)))
            return true;
    return false;
}

static bool is_known(const struct reader *r, struct ordeal_literal l, size_t *variable)
{
    *variable = variable_of(r, l);
    return *variable != NOWHERE && r->variable[*variable].value == sign_of(r, *variable, l);
}

/* The literal is what the edge being taken needs, unless it holds by itself. */
static void need(struct reader *r, struct ordeal_literal l, const struct variable *x)
{
    if (x->value == OPEN || x->reason != NOWHERE)
        PUSH(r, &r->proof->literals, literal_plain(l));
}

static void take_final_edge(struct reader *r, struct proof_edge *e)
{
    for (size_t x = 0; x < r->variables; x++) {
        struct ordeal_literal l = r->variable[x].positive;
        for (int side = 0; side < 2; side++, l = literal_negate(l)) {
            size_t same;
            if (!final_rests_on(&e->edge, l))
                continue;
            if (is_known(r, l, &same))
                rest_on_fact(r, &r->variable[x]);
            else if (is_supposed(r, l))
                e->support = SUPPOSED;
            else
                continue;
            need(r, l, &r->variable[x]);
        }
    }
}

static struct proof_edge take_edge(struct reader *r, const struct ordeal_edge *edge)
{
    struct proof_edge e = { .edge = *edge,
                            .support = GIVEN,
                            .facts.first = r->proof->facts.count,
                            .needs.first = r->proof->literals.count };
    struct ordeal_literal needs[MOST_NEEDS];
    size_t count = edge_needs(r->verdict, edge, needs);
    for (size_t k = 0; k < count; k++) {
        size_t x;
        bool known = is_known(r, needs[k], &x);
        if (is_supposed(r, needs[k]))
            e.support = SUPPOSED;
        else if (known)
            rest_on_fact(r, &r->variable[x]);
        else
            continue;
        need(r, needs[k], &r->variable[x]);
    }
    if (edge->rule == ORDEAL_RULE_FINAL)
        take_final_edge(r, &e);
    e.facts.count = r->proof->facts.count - e.facts.first;
    e.needs.count = r->proof->literals.count - e.needs.first;
    if (e.support == GIVEN && e.facts.count)
        e.support = KNOWN;
    return e;
}

static void take_edges(struct reader *r, const struct ordeal_edge *edges, size_t count)
{
    for (size_t k = 0; k < count; k++)
        PUSH(r, &r->proof->edges, take_edge(r, &edges[k]));
    current(r)->edges.count = count;
}

/* ---- unit propagation ---------------------------------------------------------------- */

static uint8_t value_now(const struct variable *x) { return x->value ? x->value : x->tried; }

static void suppose(struct reader *r, struct ordeal_literal l, size_t clause)
{
    size_t x = variable_of(r, l);
    if (value_now(&r->variable[x]) != OPEN)
        return;
    r->variable[x].tried = sign_of(r, x, l);
    r->variable[x].tried_reason = clause;
    PUSH(r, &r->trail, x);
}

enum clause_state { CLAUSE_QUIET, CLAUSE_FORCES, CLAUSE_FALSE };

static enum clause_state look_at(const struct reader *r, const struct inference *clause,
                                 struct ordeal_literal *forced)
{
    size_t open = 0;
    for (size_t k = 0; k < clause->conclusion.count; k++) {
        struct ordeal_literal l = r->proof->literals.data[clause->conclusion.first + k];
        size_t x = variable_of(r, l);
        uint8_t value = value_now(&r->variable[x]);
        if (value == sign_of(r, x, l))
            return CLAUSE_QUIET;
        if (value == OPEN) {
            *forced = l;
            if (++open > 1)
                return CLAUSE_QUIET;
        }
    }
    return open ? CLAUSE_FORCES : CLAUSE_FALSE;
}

/* Follows the consequences of what is on the trail from `next` on; true: clause *refuted is
 * false. */
static bool propagate(struct reader *r, size_t next, size_t *refuted)
{
    for (; next < r->trail.count; next++) {
        const struct variable *x = &r->variable[r->trail.data[next]];
        for (size_t k = 0; k < x->clauses.count; k++) {
            size_t clause = x->clauses.data[k];
            struct ordeal_literal forced;
            switch (look_at(r, &r->proof->inferences.data[clause], &forced)) {
            case CLAUSE_FALSE: *refuted = clause; return true;
            case CLAUSE_FORCES: suppose(r, forced, clause); break;
            case CLAUSE_QUIET: break;
            }
        }
    }
    return false;
}

/* ---- case distinctions --------------------------------------------------------------- */

/* Marks what the falsity of `clause` (or its forcing a literal) rests on; facts are noted. */
static void rests_on(struct reader *r, size_t clause, bool *needed)
{
    const struct range c = r->proof->inferences.data[clause].conclusion;
    for (size_t k = 0; k < c.count; k++) {
        size_t x = variable_of(r, r->proof->literals.data[c.first + k]);
        if (r->variable[x].value)
            rest_on_fact(r, &r->variable[x]);
        else
            needed[x] = true;
    }
}

/* The moves that lead to the contradiction, without those that do not. */
static void tell_trail(struct reader *r, size_t refuted)
{
    struct proof *p = r->proof;
    bool *needed = calloc(r->variables + 1, sizeof *needed);
    if (!needed) {
        r->out_of_memory = true;
        return;
    }
    rests_on(r, refuted, needed);
    for (size_t i = r->trail.count; i-- > 0;) {
        const struct variable *x = &r->variable[r->trail.data[i]];
        if (needed[r->trail.data[i]] && x->tried_reason != NOWHERE)
            rests_on(r, x->tried_reason, needed);
    }
    for (size_t i = 0; i < r->trail.count; i++) {
        const struct variable *x = &r->variable[r->trail.data[i]];
        if (!needed[r->trail.data[i]] || x->tried_reason == NOWHERE)
            continue;
        struct ordeal_literal l = x->tried == TRUE ? x->positive : literal_negate(x->positive);
        PUSH(r, &p->moves, ((struct proof_move){ .literal = l, .clause = x->tried_reason }));
    }
    PUSH(r, &p->moves, ((struct proof_move){ .contradiction = true, .clause = refuted }));
    free(needed);
}

static void distinguish_cases(struct reader *r)
{
    struct proof *p = r->proof;
    struct range c = current(r)->conclusion;
    r->trail.count = 0;
    for (size_t k = 0; k < c.count; k++)
        suppose(r, literal_negate(p->literals.data[c.first + k]), NOWHERE);
    size_t refuted;
    if (propagate(r, 0, &refuted))
        tell_trail(r, refuted);
    for (size_t i = 0; i < r->trail.count; i++)
        r->variable[r->trail.data[i]].tried = OPEN;
    current(r)->trail.count = p->moves.count - current(r)->trail.first;
    current(r)->facts.count = p->facts.count - current(r)->facts.first;
}

/* ---- the whole ----------------------------------------------------------------------- */

static void remember_clause(struct reader *r)
{
    struct range c = current(r)->conclusion;
    for (size_t k = 0; k < c.count; k++) {
        size_t x = variable_of(r, r->proof->literals.data[c.first + k]);
        PUSH(r, &r->variable[x].clauses, r->proof->inferences.count - 1);
    }
}

/* The facts that make all literals of the clause false but `remaining`. */
static void rest_on_others(struct reader *r, size_t clause, const struct ordeal_literal *remaining)
{
    const struct range c = r->proof->inferences.data[clause].conclusion;
    current(r)->clause = clause;
    for (size_t k = 0; k < c.count; k++) {
        struct ordeal_literal l = r->proof->literals.data[c.first + k];
        if (!remaining || !literal_equal(l, *remaining))
            rest_on_fact(r, &r->variable[variable_of(r, l)]);
    }
    current(r)->facts.count = r->proof->facts.count - current(r)->facts.first;
}

/* The circle of an earlier clause, with what is known by now. */
static void take_edges_again(struct reader *r, size_t clause)
{
    const struct range edges = r->proof->inferences.data[clause].edges;
    for (size_t k = 0; k < edges.count && !r->out_of_memory; k++) {
        struct ordeal_edge edge = r->proof->edges.data[edges.first + k].edge;
        PUSH(r, &r->proof->edges, take_edge(r, &edge));
    }
    current(r)->edges.count = edges.count;
}

/* A clause of which all but one literal (or, without `remaining`, all) has become known to be
 * false gives a fact (or the contradiction). Its circle says so at once, if it has one. */
static void rule_out(struct reader *r, size_t clause, const struct ordeal_literal *remaining)
{
    bool circle = r->proof->inferences.data[clause].kind == BY_CYCLE;
    if (!begin_inference(r, circle ? BY_CYCLE : BY_RULING_OUT))
        return;
    if (remaining) {
        PUSH(r, &r->proof->literals, *remaining);
        current(r)->conclusion.count = 1;
    }
    if (circle)
        take_edges_again(r, clause);
    else
        rest_on_others(r, clause, remaining);
    if (remaining && !r->out_of_memory)
        establish(r, *remaining);
}

/* What follows for good from the fact found last, and so on; each is an inference of its own. */
static void follow_facts(struct reader *r)
{
    LIST(struct ordeal_literal) fresh = { 0 };
    PUSH(r, &fresh, r->proof->literals.data[current(r)->conclusion.first]);
    for (size_t i = 0; i < fresh.count && !r->out_of_memory; i++) {
        size_t x = variable_of(r, fresh.data[i]);
        for (size_t k = 0; k < r->variable[x].clauses.count; k++) {
            size_t clause = r->variable[x].clauses.data[k];
            struct ordeal_literal forced;
            enum clause_state state = look_at(r, &r->proof->inferences.data[clause], &forced);
            if (state == CLAUSE_QUIET)
                continue;
            rule_out(r, clause, state == CLAUSE_FORCES ? &forced : NULL);
            if (state == CLAUSE_FALSE)
                goto done;
            PUSH(r, &fresh, forced);
        }
    }
done:
    LIST_FREE(&fresh);
}

/* ---- what holds without any step ----------------------------------------------------------- */

static void basic_clause(struct reader *r, const struct ordeal_literal *literals, size_t count)
{
    if (!begin_inference(r, BY_VALUE))
        return;
    for (size_t k = 0; k < count; k++)
        PUSH(r, &r->proof->literals, literals[k]);
    current(r)->conclusion.count = count;
    if (!r->out_of_memory)
        remember_clause(r);
}

/* How many stores a load can have seen: those of its word with its value. */
static size_t candidates(const struct reader *r, uint32_t load)
{
    struct ordeal_event want, e;
    uint32_t events = ordeal_verdict_events(r->verdict);
    size_t count = 0;
    ordeal_verdict_event(r->verdict, load, &want);
    for (uint32_t i = 0; i < events; i++) {
        ordeal_verdict_event(r->verdict, i, &e);
        count += e.store && e.value == want.value && strcmp(e.location, want.location) == 0;
    }
    return count;
}

/* The variables x .. x+count-1 speak of one load: it saw one of the stores, and only one. */
static void read_load(struct reader *r, size_t x, size_t count)
{
    LIST(struct ordeal_literal) all = { 0 };
    for (size_t i = x; i < x + count; i++)
        PUSH(r, &all, r->variable[i].positive);
    size_t possible = candidates(r, r->variable[x].positive.a);
    if (possible == 1)
        r->variable[x].value = TRUE;
    else if (possible == count && !r->out_of_memory)
        basic_clause(r, all.data, count);
    for (size_t i = x; i < x + count; i++)
        for (size_t j = x; j < i && !r->out_of_memory; j++)
            basic_clause(r, (struct ordeal_literal[]){ literal_negate(r->variable[j].positive),
                                                       literal_negate(r->variable[i].positive) },
                         2);
    LIST_FREE(&all);
}

/* Initial stores are first. Variables are sorted, so that those about one load stand together. */
static void read_basic_facts(struct reader *r)
{
    for (size_t x = 0; x < r->variables; x++) {
        r->variable[x].reason = NOWHERE;
        struct ordeal_literal l = r->variable[x].positive;
        struct ordeal_event e;
        ordeal_verdict_event(r->verdict, l.a, &e);
        if (!l.reads && e.op == ORDEAL_NONE)
            r->variable[x].value = TRUE;
    }
    for (size_t x = 0, count; x < r->variables && !r->out_of_memory; x += count) {
        for (count = 1; x + count < r->variables && r->variable[x].positive.reads; count++)
            if (r->variable[x + count].positive.a != r->variable[x].positive.a)
                break;
        if (r->variable[x].positive.reads)
            read_load(r, x, count);
    }
}

static void use_facts(struct proof *p, struct range facts)
{
    for (size_t k = 0; k < facts.count; k++)
        p->inferences.data[p->facts.data[facts.first + k]].used = true;
}

static void use_clause(struct proof *p, size_t clause)
{
    p->inferences.data[clause].used = true;
    p->inferences.data[clause].uses++;
}

/* From the contradiction back to what it rests on. */
static void mark_used(struct proof *p)
{
    if (p->inferences.count)
        p->inferences.data[p->inferences.count - 1].used = true;
    for (size_t i = p->inferences.count; i-- > 0;) {
        const struct inference *n = &p->inferences.data[i];
        if (!n->used)
            continue;
        if (n->kind != BY_CYCLE)
            use_facts(p, n->facts);
        for (size_t k = 0; k < n->edges.count; k++)
            use_facts(p, p->edges.data[n->edges.first + k].facts);
        for (size_t k = 0; k < n->trail.count; k++)
            use_clause(p, p->moves.data[n->trail.first + k].clause);
        if (n->kind == BY_RULING_OUT)
            use_clause(p, n->clause);
    }
}

static void read_step(struct reader *r, const struct ordeal_step *step)
{
    if (!begin_inference(r, step->edge_count ? BY_CYCLE : BY_CASES))
        return;
    conclude(r, step->literals, step->literal_count);
    if (step->edge_count)
        take_edges(r, step->edges, step->edge_count);
    else
        distinguish_cases(r);
    remember_clause(r);
    if (current(r)->conclusion.count == 1 && !r->out_of_memory) {
        establish(r, r->proof->literals.data[current(r)->conclusion.first]);
        follow_facts(r);
    }
}

bool proof_read(struct proof *p, const struct ordeal_verdict *v)
{
    *p = (struct proof){ 0 };
    struct reader r = { .proof = p, .verdict = v };
    r.out_of_memory = !collect_variables(&r, v);
    if (!r.out_of_memory)
        read_basic_facts(&r);
    size_t steps = ordeal_verdict_steps(v);
    for (size_t i = 0; i < steps && !r.out_of_memory; i++) {
        struct ordeal_step step;
        ordeal_verdict_step(v, i, &step);
        read_step(&r, &step);
        if (!r.out_of_memory && current(&r)->conclusion.count == 0)
            break; /* the contradiction */
    }
    if (!r.out_of_memory)
        mark_used(p);
    for (size_t x = 0; x < r.variables; x++)
        LIST_FREE(&r.variable[x].clauses);
    free(r.variable);
    LIST_FREE(&r.trail);
    return !r.out_of_memory;
}

void proof_free(struct proof *p)
{
    LIST_FREE(&p->inferences);
    LIST_FREE(&p->literals);
    LIST_FREE(&p->edges);
    LIST_FREE(&p->moves);
    LIST_FREE(&p->facts);
}
