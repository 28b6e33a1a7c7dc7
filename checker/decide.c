/* SPDX-License-Identifier: Apache-2.0 */
#include "decide.h"

#include <limits.h>
#include <string.h>

#include "solver.h"
#include "states.h"

struct refinement {
    struct ordeal *o;
    const struct graph *g;
    const struct execution *x;
    struct decision *d;
    struct solver *solver;
    VEC(struct knot_literal) variables;  /* variable v is literal v - 1 being true */
    uint32_t *table;                     /* open addressing: variable, 0 empty */
    size_t table_size;
    VEC(struct knot_literal) assumptions;
    uint32_t *read_variable;             /* by load of several candidates: that of its first */
    uint32_t *last;                      /* by final value; NULL: each has one store */
    size_t knots_given;                  /* of the log */
    uint64_t seed;
    bool failed;                         /* the solver's call-back ran out of memory */
    uint64_t patience;                   /* how often the solver may go on; 0: always */
    struct turns {
        bool ready, exact; /* there is a machine to be tried, the model's own */
        bool exhausted;    /* it has no way to the end */
        uint64_t count, budget;
    } turns; /* of the search by states */
};

/* ---- variables ---------------------------------------------------------------------- */

static size_t slot_of(const struct refinement *r, struct knot_literal l)
{
    uint32_t low = l.reads || l.a < l.b ? l.a : l.b, high = low == l.a ? l.b : l.a;
    uint64_t h = (uint64_t)low << 33 ^ (uint64_t)high << 1 ^ l.reads;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    assert_hot(r->table_size > r->variables.count && !(r->table_size & (r->table_size - 1)));
    size_t mask = r->table_size - 1, i = (size_t)(h >> 24) & mask;
    for (; r->table[i]; i = (i + 1) & mask) {
        struct knot_literal v = r->variables.data[r->table[i] - 1];
        if (v.reads == l.reads
            && ((v.a == l.a && v.b == l.b) || (!l.reads && v.a == l.b && v.b == l.a)))
            break;
    }
    return i;
}

static bool grow_table(struct refinement *r)
{
    size_t size = r->table_size ? 2 * r->table_size : 256;
    uint32_t *table = mem_zero(r->o, size, sizeof *table);
    if (!table)
        return false;
    mem_free(r->o, r->table, r->table_size * sizeof *table);
    r->table = table;
    r->table_size = size;
    for (uint32_t v = 0; v < r->variables.count; v++)
        r->table[slot_of(r, r->variables.data[v])] = v + 1;
    return true;
}

/* The solver's literal; 0: out of memory. The solver tries `true` first, so a variable is created
 * the way round the weave had decided it. */
static int solver_literal(struct refinement *r, struct knot_literal l)
{
    if (2 * r->variables.count >= r->table_size && !grow_table(r))
        return 0;
    bool negated = l.negated;
    l.negated = false;
    size_t slot = slot_of(r, l);
    if (!r->table[slot]) {
        if (!VEC_PUSH(r->o, &r->variables, l))
            return 0;
        r->table[slot] = (uint32_t)r->variables.count;
    }
    int v = (int)r->table[slot];
    bool turned = !l.reads && r->variables.data[v - 1].a != l.a;
    return negated != turned ? -v : v;
}

static struct knot_literal knot_literal_of(const struct refinement *r, int literal)
{
    size_t variable = (size_t)(literal < 0 ? -literal : literal);
    assert(variable >= 1 && variable <= r->variables.count);
    struct knot_literal l = r->variables.data[variable - 1];
    if (literal > 0)
        return l;
    if (l.reads)
        l.negated = true;
    else
        l = (struct knot_literal){ .a = l.b, .b = l.a };
    return l;
}

/* ---- the solver --------------------------------------------------------------------- */

static int solver_stop(void *state)
{
    struct refinement *r = state;
    if (r->patience && --r->patience == 0)
        return true;
    return r->failed || limit_hit(r->o, "the solver", -1);
}

/* A clause the solver has derived: it follows by unit propagation from those before. */
static void solver_learnt(void *state, int *clause)
{
    struct refinement *r = state;
    struct weave_log *log = &r->d->log;
    struct knot k = { .literal_first = (uint32_t)log->literals.count, .grounds_unknown = true };
    for (; *clause && !r->failed; clause++)
        r->failed = !VEC_PUSH(r->o, &log->literals, knot_literal_of(r, -*clause));
    k.literal_count = (uint32_t)log->literals.count - k.literal_first;
    r->failed = r->failed || !VEC_PUSH(r->o, &log->knots, k);
}

static bool start_solver(struct refinement *r)
{
    /* Only what leaves a clause that follows by unit propagation: the log is the proof. */
    static const char *const off[] = { "elim", "probe", "vivify", "subsume", "ternary", "decompose",
                                       "transred", "block", "cover", "condition", "walk", "lucky",
                                       "compact" };
    r->solver = solver_new();
    if (!r->solver) {
        fail(r->o, ORDEAL_NO_MEMORY, "out of memory: the solver could not start");
        return false;
    }
    solver_option(r->solver, "quiet", 1);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        solver_option(r->solver, off[i], 0);
    solver_on_terminate(r->solver, r, solver_stop);
    solver_on_learn(r->solver, r, INT_MAX, solver_learnt);
    return true;
}

static bool give_clause(struct refinement *r, const struct knot *k)
{
    for (uint32_t i = 0; i < k->literal_count; i++) {
        int l = solver_literal(r, r->d->log.literals.data[k->literal_first + i]);
        if (!l)
            return false;
        solver_add(r->solver, -l);
    }
    solver_add(r->solver, 0);
    r->d->clauses++;
    return true;
}

/* All that the weave has learnt since the last time. */
static bool give_knots(struct refinement *r)
{
    for (; r->knots_given < r->d->log.knots.count; r->knots_given++)
        if (!give_clause(r, &r->d->log.knots.data[r->knots_given]))
            return false;
    return true;
}

static uint32_t slot_seen(const struct refinement *r, uint32_t load)
{
    const struct graph *g = r->g;
    uint32_t cell = g->cell_first[r->x->loc[load]], slot = 0;
    while (g->slot_thread && g->slot_thread[cell + slot] != event_thread(r->x, load))
        slot++;
    assert(slot < cells_of(g, r->x->loc[load])); /* whoever loads a word has a view of it */
    return slot;
}

/* That the load did not see this candidate, because of the two stores' or accesses' program order:
 * the store comes later, or another one of the thread (`own`) comes between. */
static bool rule_out(struct refinement *r, uint32_t load, uint32_t store, uint32_t own)
{
    struct weave_log *log = &r->d->log;
    uint32_t slot = slot_seen(r, load), from = node_of_store(r->g, store, slot);
    bool later = own == NONE;
    uint32_t between = later ? node_of_load(r->g, load) : node_of_store(r->g, own, slot);
    bool at_once = between == from; /* in one transaction: a circle by itself */
    struct knot k = { .edge_first = (uint32_t)log->edges.count, .edge_count = at_once ? 1 : 2,
                      .literal_first = (uint32_t)log->literals.count, .literal_count = 1 };
    struct knot_edge seen = { later ? from : between, later ? between : from, KNOT_READS, load,
                              store, slot, load };
    struct knot_edge order = { seen.to, seen.from, KNOT_STATIC, 0, 0, slot, NONE };
    return VEC_PUSH(r->o, &log->edges, seen)
        && (at_once || VEC_PUSH(r->o, &log->edges, order))
        && VEC_PUSH(r->o, &log->literals, ((struct knot_literal){ load, store, true, false }))
        && VEC_PUSH(r->o, &log->knots, k);
}

static bool rule_out_hopeless(struct refinement *r, uint32_t load, uint32_t own)
{
    const struct execution *x = r->x;
    uint32_t group = x->group[load];
    for (uint32_t c = x->candidate_first[load]; c < x->candidate_first[load + 1]; c++) {
        uint32_t store = x->candidate[c];
        if (x->group[store] == group || (own != NONE && x->group[own] == group))
            continue;
        bool later = program_order(x, load, store);
        bool hidden = own != NONE && store != own && program_order(x, store, own);
        if ((later || hidden) && !rule_out(r, load, store, later ? NONE : own))
            return false;
    }
    return true;
}

/* Every load saw one of its candidates. */
static bool give_candidates(struct refinement *r)
{
    const struct execution *x = r->x;
    uint32_t *own = mem_array(r->o, x->locations, sizeof *own);
    r->read_variable = mem_array(r->o, x->events, sizeof *r->read_variable);
    bool ok = own && r->read_variable;
    for (uint32_t e = x->locations; ok && !x->unique && e < x->events; e++) {
        if (e == x->locations || event_thread(x, e) != event_thread(x, e - 1))
            memset(own, 0xff, x->locations * sizeof *own);
        if (x->is_store[e])
            own[x->loc[e]] = e;
        uint32_t first = x->candidate_first[e], end = x->candidate_first[e + 1];
        if (end < first + 2)
            continue;
        r->read_variable[e] = (uint32_t)r->variables.count + 1;
        for (uint32_t c = first; ok && c < end; c++) {
            int l = solver_literal(r, (struct knot_literal){ e, x->candidate[c], true, false });
            ok = l != 0;
            assert(!ok || l == (int)(r->read_variable[e] + c - first)); /* see pick_source() */
            if (ok)
                solver_add(r->solver, l);
        }
        if (ok)
            solver_add(r->solver, 0);
        ok = ok && rule_out_hopeless(r, e, own[x->loc[e]]);
    }
    mem_free(r->o, own, x->locations * sizeof *own);
    return ok;
}

/* ---- an assignment for the weave ---------------------------------------------------- */

/* Where in its thread's run an event is, as a share of 2^20. */
static int64_t share_of_run(const struct execution *x, uint32_t event)
{
    uint32_t h = x->group[event], t = x->thread_of[h];
    if (t == NONE)
        return 0;
    uint64_t length = x->thread_first[t + 1] - x->thread_first[t];
    return (int64_t)(((uint64_t)(h - x->thread_first[t]) << 20) / length);
}

/* Of the candidates the solver allows, the one taken last time, else the nearest if all threads ran
 * side by side; one from the future is twice as far. */
static uint32_t pick_source(struct refinement *r, uint32_t load)
{
    const struct execution *x = r->x;
    uint32_t pick = NONE, before = r->d->source[load];
    int64_t best = INT64_MAX, now = share_of_run(x, load);
    for (uint32_t c = x->candidate_first[load]; c < x->candidate_first[load + 1]; c++) {
        int v = (int)(r->read_variable[load] + c - x->candidate_first[load]);
        if (solver_value(r->solver, v) < 0)
            continue;
        uint32_t store = x->candidate[c];
        int64_t far = now - share_of_run(x, store);
        far = store == before ? -1 : far < 0 ? -2 * far : far;
        if (far < best) {
            best = far;
            pick = store;
        }
    }
    assert(pick != NONE); /* the solver was told that it is one of them */
    return pick;
}

static bool read_assignment(struct refinement *r)
{
    const struct execution *x = r->x;
    for (uint32_t e = x->locations; !x->unique && e < x->events; e++)
        if (!x->is_store[e] && source_of(x, e) == NONE)
            r->d->source[e] = pick_source(r, e);
    r->assumptions.count = 0;
    for (size_t v = 0; v < r->variables.count; v++) {
        if (r->variables.data[v].reads)
            continue;
        int value = solver_value(r->solver, (int)v + 1);
        if (!VEC_PUSH(r->o, &r->assumptions,
                      knot_literal_of(r, value > 0 ? (int)v + 1 : -(int)v - 1)))
            return false;
    }
    return true;
}

/* ---- final values that several stores may have left --------------------------------- */

/* The solver orders such stores among themselves. */
static bool give_finals(struct refinement *r)
{
    const struct execution *x = r->x;
    if (!open_finals(x))
        return true;
    r->last = mem_array(r->o, x->finals, sizeof *r->last);
    if (!r->last)
        return false;
    for (uint32_t k = 0; k < x->finals; k++) {
        const uint32_t *store = x->final_store + x->final[k].first;
        for (uint32_t i = 0; last_store(x, k) == NONE && i < x->final[k].count; i++)
            for (uint32_t j = 0; j < i; j++) {
                if (is_initial(x, store[j]) || x->group[store[j]] == x->group[store[i]])
                    continue;
                int v = solver_literal(r, (struct knot_literal){ .a = store[j], .b = store[i] });
                if (!v)
                    return false;
                /* A clause that says nothing, for the solver to know the variable. */
                solver_add(r->solver, v);
                solver_add(r->solver, -v);
                solver_add(r->solver, 0);
            }
    }
    return true;
}

static bool solver_says(struct refinement *r, uint32_t a, uint32_t b)
{
    if (r->x->group[a] == r->x->group[b])
        return a < b;
    int v = solver_literal(r, (struct knot_literal){ .a = a, .b = b });
    return v && solver_value(r->solver, v) > 0;
}

/* Three stores that the solver has in a circle: it must not. */
static bool log_circle_of_stores(struct refinement *r, uint32_t a, uint32_t b, uint32_t c)
{
    struct weave_log *log = &r->d->log;
    const uint32_t store[4] = { a, b, c, a };
    struct knot k = { .edge_first = (uint32_t)log->edges.count,
                      .literal_first = (uint32_t)log->literals.count };
    for (int i = 0; i < 3; i++) {
        if (r->x->group[store[i]] == r->x->group[store[i + 1]])
            continue; /* performed at once */
        struct knot_edge e = { node_of_store(r->g, store[i], 0),
                               node_of_store(r->g, store[i + 1], 0),
                               KNOT_ORDER, store[i], store[i + 1], 0, NONE };
        struct knot_literal l = { .a = store[i], .b = store[i + 1] };
        if (!VEC_PUSH(r->o, &log->edges, e) || !VEC_PUSH(r->o, &log->literals, l))
            return false;
    }
    k.edge_count = (uint32_t)log->edges.count - k.edge_first;
    k.literal_count = (uint32_t)log->literals.count - k.literal_first;
    return VEC_PUSH(r->o, &log->knots, k);
}

/* The store after all others of the final value; NONE with a new knot when they run in a circle. */
static bool find_last(struct refinement *r, uint32_t k)
{
    const struct execution *x = r->x;
    const uint32_t *store = x->final_store + x->final[k].first;
    uint32_t n = x->final[k].count, most = NONE, best = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t before = 0;
        for (uint32_t j = 0; j < n && !is_initial(x, store[i]); j++)
            before += j != i && (is_initial(x, store[j]) || solver_says(r, store[j], store[i]));
        if (!is_initial(x, store[i]) && (most == NONE || before > best)) {
            most = i;
            best = before;
        }
    }
    assert(n >= 2 && most != NONE && best < n);
    r->last[k] = best == n - 1 ? store[most] : NONE;
    if (best == n - 1)
        return true;
    /* Whatever is after the store with the most before it has one of those after itself. */
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            if (i != most && j != most && i != j && !is_initial(x, store[i])
                && !is_initial(x, store[j]) && solver_says(r, store[most], store[i])
                && solver_says(r, store[i], store[j]) && solver_says(r, store[j], store[most]))
                return log_circle_of_stores(r, store[most], store[i], store[j]);
    return true;
}

/* ---- the loop ----------------------------------------------------------------------- */

/* How many circles of several decisions the weave may meet before the solver is asked: more in
 * a first attempt, which most executions need alone. */
enum { FIRST_BUDGET = 2000, LATER_BUDGET = 50 };

static enum ordeal_status weave_once(struct refinement *r, const struct graph *g, uint64_t budget,
                                     enum weave_outcome *outcome)
{
    struct weave w = { .g = g,
                       .source = r->d->source,
                       .assumptions = r->assumptions.data,
                       .assumption_count = r->assumptions.count,
                       .last = r->last,
                       .budget = budget,
                       .seed = r->seed,
                       .log = &r->d->log };
    enum ordeal_status status = weave_run(&w, outcome);
    r->d->stats.decisions += w.stats.decisions;
    r->d->stats.knots += w.stats.knots;
    r->d->stats.undone += w.stats.undone;
    VEC_FREE(r->o, &r->d->order);
    r->d->order.data = w.order.data;
    r->d->order.count = w.order.count;
    r->d->order.capacity = w.order.capacity;
    return status;
}

/* Groups at once, in the order of a machine without views, as nodes of this graph. */
static bool place_in_views(struct refinement *r)
{
    const struct graph *g = r->g;
    const struct execution *x = r->x;
    VEC(uint32_t) nodes = { 0 };
    bool *placed = mem_zero(r->o, g->nodes, sizeof *placed);
    bool ok = placed != NULL;
    for (size_t i = 0; ok && i < r->d->order.count; i++) {
        uint32_t h = r->d->order.data[i];
        for (int stores = 0; stores < 2; stores++)
            for (uint32_t e = x->group_first[h]; e < x->group_first[h + 1]; e++) {
                uint32_t slots = !stores ? 1 : cells_of(g, x->loc[e]);
                for (uint32_t s = 0; ok && x->is_store[e] == stores && s < slots; s++) {
                    uint32_t node = stores ? node_of_store(g, e, s) : node_of_load(g, e);
                    ok = placed[node] || VEC_PUSH(r->o, &nodes, node);
                    placed[node] = true;
                }
            }
    }
    mem_free(r->o, placed, g->nodes * sizeof *placed);
    VEC_FREE(r->o, &r->d->order);
    r->d->order.data = nodes.data;
    r->d->order.count = nodes.count;
    r->d->order.capacity = nodes.capacity;
    return ok;
}

/* Large executions alone are worth the second graph. */
enum { STRICTLY_FROM = 4096 };

/* Most executions of a machine that may do more are such as a stricter one has, too. What is learnt
 * there of one that is not holds for the stricter model alone. */
static enum ordeal_status weave_strictly(struct refinement *r, enum weave_outcome *outcome)
{
    uint8_t stricter = r->g->model->stricter;
    struct graph *g;
    *outcome = WEAVE_BUDGET;
    if (stricter == ORDEAL_SC || r->x->groups < STRICTLY_FROM)
        return ORDEAL_OK;
    enum ordeal_status status = graph_build(r->x, stricter, r->g->time_order, &g);
    if (status != ORDEAL_OK)
        return status;
    status = weave_once(r, g, FIRST_BUDGET + r->x->groups, outcome);
    graph_free(g);
    weave_log_free(r->o, &r->d->log);
    if (status == ORDEAL_OK && *outcome == WEAVE_ORDER && r->g->slot_thread && !place_in_views(r))
        return r->o->error.status;
    return status;
}

/* ---- the search by states, by turns with the solver -------------------------------------- */

/* Stores performed in the first turn; twice as many in each that follows. What the solver and the
 * weave may do meanwhile, which takes about as long, grows alike. */
enum { FIRST_TURN = 20000, TURN_PER_EVENT = 40 };
enum { FIRST_PATIENCE = 5000, WEAVES_BY_EVENTS = 1 << 19 };

/* Few loads leave a doubt: the weave knows the others' sources, a machine has to find them. */
static bool is_nearly_unique(const struct execution *x)
{
    uint32_t loads = 0, open = 0;
    for (uint32_t e = x->locations; e < x->events; e++) {
        loads += !x->is_store[e];
        open += !x->is_store[e] && source_of(x, e) == NONE;
    }
    return open < loads / 16;
}

static void start_turns(struct refinement *r)
{
    bool repeated = !r->x->unique || open_finals(r->x), exact = false;
    r->turns.ready = repeated && r->seed == 0
                  && states_suit(r->x, (enum ordeal_model)(r->g->model - models), r->g->time_order,
                                 &exact);
    r->turns.exact = exact;
    r->turns.budget = FIRST_TURN + TURN_PER_EVENT * (uint64_t)r->x->events;
}

/* *found: an order. What a machine cannot do that is not the model's own, or only after more than
 * its turn allows, says nothing. */
static enum ordeal_status take_turn(struct refinement *r, bool *found)
{
    struct turns *turns = &r->turns;
    uint64_t turn = turns->count++;
    *found = false;
    if (!turns->ready)
        return ORDEAL_OK;
    enum ordeal_model model = (enum ordeal_model)(r->g->model - models);
    bool first_strictly = model == ORDEAL_PSO && turn % 2 == 0;
    bool urgent = (model == ORDEAL_PSO ? turn / 2 : turn) % 2 == 0;
    struct states s = { .x = r->x,
                        .budget = turns->budget,
                        .seed = turn / 4,
                        .urge = urgent ? 64 : 1,
                        .model = first_strictly ? ORDEAL_TSO : states_machine(model) };
    enum states_outcome outcome;
    enum ordeal_status status = states_run(&s, &outcome);
    turns->budget *= 2;
    bool exhausted = status == ORDEAL_OK && outcome == STATES_EXHAUSTED;
    turns->exhausted = exhausted && turns->exact && !first_strictly;
    turns->ready = !exhausted || first_strictly;
    r->d->stats.decisions += s.performed;
    *found = status == ORDEAL_OK && outcome == STATES_ORDER;
    VEC_FREE(r->o, &r->d->order);
    r->d->order.data = s.order.data;
    r->d->order.count = *found ? s.order.count : 0;
    r->d->order.capacity = s.order.capacity;
    if (*found && r->g->slot_thread && !place_in_views(r))
        return r->o->error.status;
    return status;
}

/* Who has waited for the proof should know that there is no order. */
static enum ordeal_status end_of_patience(struct refinement *r)
{
    struct ordeal_error *error = &r->o->error;
    if (error->status == ORDEAL_LIMIT && r->turns.exhausted) {
        char reason[sizeof error->reason];
        snprintf(reason, sizeof reason, "%s", error->reason);
        snprintf(error->reason, sizeof error->reason,
                 "%.300s; there is no legal order, but its proof was not found", reason);
    }
    return error->status;
}

static bool refuted_outright(const struct refinement *r, enum weave_outcome outcome)
{
    const struct weave_log *log = &r->d->log;
    assert(outcome != WEAVE_REFUTED || log->knots.count > 0);
    return outcome == WEAVE_REFUTED && log->knots.data[log->knots.count - 1].literal_count == 0;
}

static enum ordeal_status conclude_refuted(struct refinement *r)
{
    struct weave_log *log = &r->d->log;
    r->d->result = ORDEAL_FAIL;
    struct knot empty = { .literal_first = (uint32_t)log->literals.count, .grounds_unknown = true };
    if ((!log->knots.count || log->knots.data[log->knots.count - 1].literal_count)
        && !VEC_PUSH(r->o, &log->knots, empty))
        return r->o->error.status;
    return ORDEAL_OK;
}

/* One round of solver and weave; *done: the decision is made. */
static enum ordeal_status refine_once(struct refinement *r, bool *done)
{
    enum weave_outcome outcome;
    *done = false;
    if (!give_knots(r))
        return r->o->error.status;
    enum solver_answer answer = solver_solve(r->solver);
    if (solver_failed(r->solver))
        return fail(r->o, ORDEAL_NO_MEMORY, "out of memory: the solver gave up");
    r->knots_given = r->d->log.knots.count; /* the solver knows what it has derived itself */
    bool turn_over = r->turns.ready && r->patience == 0;
    if (!r->failed && answer == SOLVER_UNKNOWN && turn_over)
        return ORDEAL_OK;
    if (r->failed || answer == SOLVER_UNKNOWN)
        return r->o->error.status;
    assert(answer == SOLVER_SATISFIED || answer == SOLVER_REFUTED);
    *done = answer == SOLVER_REFUTED;
    if (*done)
        return conclude_refuted(r);
    if (!read_assignment(r))
        return r->o->error.status;
    for (uint32_t k = 0; r->last && k < r->x->finals; k++) {
        r->last[k] = NONE;
        if (last_store(r->x, k) == NONE && !find_last(r, k))
            return r->o->error.status;
    }
    if (r->knots_given < r->d->log.knots.count)
        return ORDEAL_OK;
    enum ordeal_status status = weave_once(r, r->g, LATER_BUDGET, &outcome);
    bool refuted = status == ORDEAL_OK && refuted_outright(r, outcome);
    *done = status == ORDEAL_OK && (outcome == WEAVE_ORDER || refuted);
    return refuted ? conclude_refuted(r) : status;
}

static enum ordeal_status refine_by_turns(struct refinement *r)
{
    uint64_t rounds = 0, weaves = 1 + WEAVES_BY_EVENTS / r->x->events, patience = FIRST_PATIENCE;
    enum ordeal_status status = ORDEAL_OK;
    for (bool done = false; status == ORDEAL_OK && !done; rounds++) {
        if (r->turns.ready && (rounds == weaves || r->patience == 0)) {
            rounds = 0;
            weaves *= 2;
            patience *= 2;
            status = take_turn(r, &done);
            r->patience = patience;
        }
        if (!r->turns.ready)
            r->patience = 0; /* which is without end */
        if (status == ORDEAL_OK && !done)
            status = refine_once(r, &done);
    }
    return status;
}

static enum ordeal_status refine(struct refinement *r)
{
    enum weave_outcome outcome;
    enum ordeal_status status;
    bool found;
    start_turns(r);
    if (r->x->unique && !open_finals(r->x)) {
        status = weave_strictly(r, &outcome);
        if (status != ORDEAL_OK || outcome == WEAVE_ORDER)
            return status;
        status = weave_once(r, r->g, FIRST_BUDGET + r->x->groups, &outcome);
        if (status != ORDEAL_OK || outcome == WEAVE_ORDER)
            return status;
        if (refuted_outright(r, outcome))
            return conclude_refuted(r);
    }
    if (!is_nearly_unique(r->x)) {
        status = take_turn(r, &found);
        if (status != ORDEAL_OK || found)
            return status;
    }
    r->patience = FIRST_PATIENCE;
    if (!start_solver(r) || !give_candidates(r) || !give_finals(r))
        return r->o->error.status;
    status = refine_by_turns(r);
    return status == ORDEAL_LIMIT ? end_of_patience(r) : status;
}

enum ordeal_status decide(const struct graph *g, uint64_t seed, struct decision *d)
{
    const struct execution *x = g->x;
    *d = (struct decision){ .result = ORDEAL_PASS };
    d->source = mem_array(g->o, x->events, sizeof *d->source);
    if (!d->source)
        return g->o->error.status;
    for (uint32_t e = 0; e < x->events; e++)
        d->source[e] = x->is_store[e] ? NONE : source_of(x, e);
    assert(!refuted_by_value(x)); /* every load has a store it may have seen */
    struct refinement r = { .o = g->o, .g = g, .x = x, .d = d, .seed = seed };
    enum ordeal_status status = refine(&r);
    solver_free(r.solver);
    VEC_FREE(r.o, &r.variables);
    VEC_FREE(r.o, &r.assumptions);
    mem_free(r.o, r.read_variable, x->events * sizeof *r.read_variable);
    mem_free(r.o, r.last, x->finals * sizeof *r.last);
    mem_free(r.o, r.table, r.table_size * sizeof *r.table);
    return status;
}

void decision_free(const struct graph *g, struct decision *d)
{
    VEC_FREE(g->o, &d->order);
    mem_free(g->o, d->source, g->x->events * sizeof *d->source);
    weave_log_free(g->o, &d->log);
}
