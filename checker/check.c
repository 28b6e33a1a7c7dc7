/* SPDX-License-Identifier: Apache-2.0 */
/* One check from trace to certified verdict. */
#include "classic.h"
#include "core.h"
#include "decide.h"
#include "prove.h"
#include "verdict.h"

#include <string.h>
#include <strings.h>

static const char *const algorithm_names[ORDEAL_ALGORITHMS] = {
    [ORDEAL_AUTO] = "auto", [ORDEAL_CONFLICT] = "conflict", [ORDEAL_BASELINE] = "baseline",
    [ORDEAL_HEU] = "heu", [ORDEAL_DERIV] = "deriv", [ORDEAL_HEU_BACK] = "heu+back",
    [ORDEAL_DERIV_BACK] = "deriv+back",
};

const char *ordeal_algorithm_name(enum ordeal_algorithm a)
{
    assert((unsigned)a < ORDEAL_ALGORITHMS);
    return algorithm_names[a];
}

bool ordeal_algorithm_parse(const char *name, enum ordeal_algorithm *a)
{
    for (int i = 0; i < ORDEAL_ALGORITHMS; i++)
        if (strcasecmp(name, algorithm_names[i]) == 0) {
            *a = (enum ordeal_algorithm)i;
            return true;
        }
    return false;
}

static enum ordeal_status check_usage(const struct execution *x,
                                      const struct ordeal_options *options)
{
    struct ordeal *o = x->o;
    if ((unsigned)options->model >= ORDEAL_MODELS
        || (unsigned)options->algorithm >= ORDEAL_ALGORITHMS)
        return fail(o, ORDEAL_BAD_USAGE, "no such model or algorithm");
    const struct model *m = &models[options->model];
    for (uint32_t h = 1; !m->transactions && h < x->groups; h++)
        if (x->group_flags[h] & GROUP_TX) {
            uint32_t op = x->op[x->group_first[h]];
            return fail_at(o, x->trace->file, x->trace->ops.data[op].line, 0,
                           "%s has no transactions: use another model", m->name);
        }
    for (uint32_t h = 1; m->views && h < x->groups; h++)
        if (x->group_flags[h] & (GROUP_ACQUIRE | GROUP_RELEASE | GROUP_CONDITIONAL)) {
            uint32_t op = x->op[x->group_first[h]];
            return fail_at(o, x->trace->file, x->trace->ops.data[op].line, 0,
                           "%s has no acquire, release or SC: use another model", m->name);
        }
    if (options->algorithm != ORDEAL_AUTO && (!x->unique || open_finals(x))) {
        uint32_t second = x->duplicate[1], op = x->op[second];
        char word[64];
        execution_location_name(x, x->loc[second], word, sizeof word);
        return fail_at(o, x->trace->file, op == NONE ? 0 : x->trace->ops.data[op].line, 0,
                       "%s is given the value 0x%llx twice, and it was seen: algorithm %s needs "
                       "unique store values, use auto", word, (unsigned long long)x->value[second],
                       algorithm_names[options->algorithm]);
    }
    return ORDEAL_OK;
}

/* One place a group; under views one for each load and each store of the node. The node of a swap's
 * store reads only to be atomic: its load has its place already. */
static bool take_node(struct ordeal_verdict *v, const struct graph *g, uint32_t node)
{
    uint32_t first = g->access_first[node], end = g->access_first[node + 1];
    assert(g->kind.data[node] == NODE_REAL && node && first < end);
    if (!g->slot_thread)
        return VEC_PUSH(v->o, &v->order, ((struct ordeal_place){ v->x->group_first[node], 0 }));
    bool writes = false;
    for (uint32_t i = first; i < end; i++)
        writes |= v->x->is_store[g->access[i].event];
    for (uint32_t i = first; i < end; i++) {
        struct access a = g->access[i];
        struct ordeal_place place = { a.event, g->slot_thread[cell_of(g, a)] };
        if (v->x->is_store[place.event] == writes && !VEC_PUSH(v->o, &v->order, place))
            return false;
    }
    return true;
}

static enum ordeal_status take_order(struct ordeal_verdict *v, const struct graph *g,
                                     const uint32_t *nodes, size_t count)
{
    v->order.count = 0;
    bool ok = VEC_RESERVE(v->o, &v->order, count);
    for (size_t i = 0; ok && i < count; i++)
        ok = take_node(v, g, nodes[i]);
    assert(!ok || v->order.count >= count); /* with views a node may have several places */
    return ok ? ORDEAL_OK : v->o->error.status;
}

static void free_proof(struct ordeal *o, struct proof *p)
{
    VEC_FREE(o, &p->steps);
    VEC_FREE(o, &p->literals);
    VEC_FREE(o, &p->edges);
}

static enum ordeal_status prove_once(const struct graph *g, uint64_t seed, struct proof *proof)
{
    struct decision d;
    *proof = (struct proof){ 0 };
    enum ordeal_status status = decide(g, seed, &d);
    if (status == ORDEAL_OK && d.result != ORDEAL_FAIL)
        status = fail(g->o, ORDEAL_INTERNAL, "the core of the violation is legal by itself");
    if (status == ORDEAL_OK)
        status = prove(g, &d.log, proof);
    decision_free(g, &d);
    return status;
}

/* A small core is worth some attempts at a short proof. */
enum { SMALL_CORE = 300, ATTEMPTS = 12 };

static enum ordeal_status prove_briefly(const struct graph *g, struct proof *best)
{
    bool small = g->nodes <= SMALL_CORE;
    enum ordeal_status status = prove_once(g, small ? 1 : 0, best);
    for (uint64_t seed = 2; status == ORDEAL_OK && small && seed <= ATTEMPTS; seed++) {
        struct proof other;
        status = prove_once(g, seed, &other);
        if (status == ORDEAL_OK && other.edges.count < best->edges.count) {
            free_proof(g->o, best);
            *best = other;
        } else {
            free_proof(g->o, &other);
        }
    }
    return status;
}

/* Let the core speak for the whole: the verdict goes over to its execution, with a proof over it.
 * The whole stays the caller's. */
static enum ordeal_status prove_core(struct ordeal_verdict *v, const bool *keep)
{
    size_t ops = v->x->trace->ops.count;
    struct execution *x;
    enum ordeal_status status = execution_build_part(v->x, keep, &x);
    if (status != ORDEAL_OK)
        return status;
    v->unwritten = x->unwritten;
    if (!refuted_by_value(x)) {
        struct graph *g;
        status = graph_build(x, v->model, v->time_order, &g);
        if (status == ORDEAL_OK) {
            status = prove_briefly(g, &v->proof);
            graph_free(g);
        }
    }
    if (status != ORDEAL_OK) {
        execution_free(x);
        return status;
    }
    v->x = x;
    for (uint32_t op = 0; op < ops; op++)
        if (keep[op] && !VEC_PUSH(v->o, &v->core, op))
            return v->o->error.status;
    v->counters.core = v->core.count;
    return ORDEAL_OK;
}

static enum ordeal_status explain_refutation(struct ordeal_verdict *v, const struct graph *g,
                                             const struct decision *d, bool minimise)
{
    size_t ops = v->x->trace->ops.count;
    bool *keep = mem_zero(v->o, ops, sizeof *keep);
    if (!keep)
        return v->o->error.status;
    bool minimal;
    enum ordeal_status status = core_find(g, d, minimise, keep, &minimal);
    if (status == ORDEAL_OK && minimise && !minimal) {
        snprintf(v->note, sizeof v->note, "the core is not minimal: limit reached");
        v->o->deadline = 0; /* the violation is certain: say so with its proof */
    }
    if (status == ORDEAL_OK)
        status = prove_core(v, keep);
    mem_free(v->o, keep, ops * sizeof *keep);
    return status;
}

static enum ordeal_status check_auto(struct ordeal_verdict *v, const struct graph *g, bool minimise)
{
    struct decision d;
    enum ordeal_status status = decide(g, 0, &d);
    v->counters.decisions = d.stats.decisions;
    v->counters.conflicts = d.stats.knots;
    v->counters.clauses = d.clauses;
    if (status == ORDEAL_OK) {
        v->result = d.result;
        status = d.result == ORDEAL_PASS ? take_order(v, g, d.order.data, d.order.count)
                                         : explain_refutation(v, g, &d, minimise);
    }
    decision_free(g, &d);
    return status;
}

static enum ordeal_status check_classic(struct ordeal_verdict *v, const struct graph *g,
                                        enum ordeal_algorithm algorithm, bool minimise)
{
    struct classic_result r;
    enum ordeal_status status = classic_check(g, algorithm, &r);
    if (status == ORDEAL_OK) {
        v->result = r.result;
        v->counters.decisions = r.decisions;
        v->counters.conflicts = r.backtracks;
        snprintf(v->note, sizeof v->note, "%s", r.note);
        if (r.result == ORDEAL_PASS)
            status = take_order(v, g, r.order.data, r.order.count);
        if (r.result == ORDEAL_FAIL) {
            status = check_auto(v, g, minimise);
            if (status == ORDEAL_OK && v->result != ORDEAL_FAIL)
                status = fail(v->o, ORDEAL_INTERNAL, "%s calls illegal what has a legal order",
                              algorithm_names[algorithm]);
        }
    }
    VEC_FREE(v->o, &r.order);
    return status;
}

static enum ordeal_status decide_verdict(struct ordeal_verdict *v,
                                         const struct ordeal_options *options)
{
    const struct execution *x = v->x;
    if (refuted_by_value(x)) {
        v->result = ORDEAL_FAIL;
        v->unwritten = x->unwritten;
        if (v->unwritten != NONE && !VEC_PUSH(v->o, &v->core, x->op[v->unwritten]))
            return v->o->error.status;
        v->counters.core = v->core.count;
        return ORDEAL_OK;
    }
    struct graph *g;
    enum ordeal_status status = graph_build(x, options->model, options->time_order, &g);
    if (status != ORDEAL_OK)
        return status;
    v->counters.nodes = g->nodes;
    v->counters.edges = g->edges;
    if (!x->unique)
        snprintf(v->note, sizeof v->note, "store values are not unique");
    status = options->algorithm == ORDEAL_AUTO
           ? check_auto(v, g, !options->no_core)
           : check_classic(v, g, options->algorithm, !options->no_core);
    graph_free(g);
    return status;
}

static enum ordeal_status run_check(struct ordeal_verdict *v, const struct execution *whole,
                                    const struct ordeal_options *options)
{
    enum ordeal_status status = check_usage(whole, options);
    if (status == ORDEAL_OK)
        status = decide_verdict(v, options);
    if (status != ORDEAL_OK || options->no_certify)
        return status;
    status = certify(v);
    if (status == ORDEAL_OK && v->x != whole)
        status = certify_core(v, whole);
    return status;
}

/* A limit was reached: what there is of an order or a proof proves nothing. */
static void leave_undecided(struct ordeal_verdict *v)
{
    v->result = ORDEAL_UNDECIDED;
    v->unwritten = NONE;
    v->order.count = v->core.count = v->counters.core = 0;
    v->proof.steps.count = v->proof.literals.count = v->proof.edges.count = 0;
    snprintf(v->note, sizeof v->note, "%s", v->o->error.reason);
}

enum ordeal_status ordeal_check(const struct ordeal_trace *t, const struct ordeal_options *options,
                                struct ordeal_verdict **verdict)
{
    struct ordeal *o = t->o;
    struct execution *whole = NULL;
    size_t used = o->used;
    *verdict = NULL;
    limit_start(o);
    check_hot(trace_check(t));
    struct ordeal_verdict *v = mem_zero(o, 1, sizeof *v);
    if (!v)
        return o->error.status;
    *v = (struct ordeal_verdict){
        .o = o, .model = options->model, .time_order = options->time_order,
        .result = ORDEAL_UNDECIDED, .unwritten = NONE, .counters = { .ops = t->ops.count },
    };
    enum ordeal_status status = execution_build(t, &whole);
    if (status == ORDEAL_OK) {
        v->x = whole;
        v->counters.threads = whole->threads;
        v->counters.locations = whole->locations;
        status = run_check(v, whole, options);
    }
    if (status == ORDEAL_LIMIT) {
        leave_undecided(v);
        status = ORDEAL_OK;
    }
    if (v->x != whole)
        execution_free(whole);
    if (status != ORDEAL_OK) {
        ordeal_verdict_free(v);
        assert(o->used == used);
        return status;
    }
    *verdict = v;
    return ORDEAL_OK;
}
