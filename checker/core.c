/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include "prove.h"

#include <string.h>

struct final_op {
    uint32_t source, op;
};

struct core {
    struct ordeal *o;
    const struct execution *x;
    const struct ordeal_trace *t;
    enum ordeal_model model;
    bool time_order;
    uint32_t *op_first;             /* by op: its first event, NONE: it has none */
    VEC(uint32_t) work;
    /* Who may have left each final value of the whole, as numbered in the part at hand, NONE: it is
     * not in it. While they stay the value is asked for, else nothing is said of it. */
    VEC(struct final_op) final_ops;
    bool *finals;         /* by final value, for a while: it is asked for */
    bool *joint, several; /* by final value: several may have left it; some are such */
};

/* ---- closing: a load keeps what it may have seen ------------------------------------ */

static bool keep_op(struct core *c, bool *keep, uint32_t op)
{
    if (op == NONE || keep[op])
        return true;
    keep[op] = true;
    return VEC_PUSH(c->o, &c->work, op);
}

/* small[op]: the number in the part of an op of the whole; NULL: the part is all. */
static bool note_finals(struct core *c, const struct execution *whole, const uint32_t *small)
{
    size_t count = c->t->finals.count;
    c->finals = mem_array(c->o, count, sizeof *c->finals);
    c->joint = mem_zero(c->o, count, sizeof *c->joint);
    if (!c->finals || !c->joint)
        return false;
    for (uint32_t k = 0; k < whole->finals; k++) {
        const struct final *f = &whole->final[k];
        if (f->count > 1 || (k && whole->final[k - 1].source == f->source))
            c->joint[f->source] = c->several = true;
        for (uint32_t i = f->first; i < f->first + f->count; i++) {
            uint32_t op = whole->op[whole->final_store[i]];
            struct final_op left = { f->source, op == NONE || !small ? op : small[op] };
            if (op != NONE && !VEC_PUSH(c->o, &c->final_ops, left))
                return false;
        }
    }
    return true;
}

static void free_finals(struct core *c)
{
    mem_free(c->o, c->finals, c->t->finals.count * sizeof *c->finals);
    mem_free(c->o, c->joint, c->t->finals.count * sizeof *c->joint);
    VEC_FREE(c->o, &c->final_ops);
}

static const bool *finals_kept(const struct core *c, const bool *keep)
{
    memset(c->finals, true, c->t->finals.count * sizeof *c->finals);
    for (size_t i = 0; i < c->final_ops.count; i++) {
        struct final_op f = c->final_ops.data[i];
        c->finals[f.source] &= f.op != NONE && keep[f.op];
    }
    return c->finals;
}

/* A final value that several may have left, as a whole or in pieces, holds for what is kept only if
 * all of them are: so they are, once something is kept that it may be about. */
static bool keep_finals(struct core *c, bool *keep)
{
    const struct execution *x = c->x;
    bool *asked = c->finals;
    if (!c->several)
        return true;
    memset(asked, false, c->t->finals.count * sizeof *asked);
    for (uint32_t e = x->locations; e < x->events; e++) {
        uint32_t k = x->is_store[e] && keep[x->op[e]] ? x->final_of[x->loc[e]] : NONE;
        for (; k != NONE; k = x->final[k].next)
            asked[x->final[k].source] = c->joint[x->final[k].source];
    }
    for (size_t i = 0; i < c->final_ops.count; i++)
        if (asked[c->final_ops.data[i].source] && !keep_op(c, keep, c->final_ops.data[i].op))
            return false;
    return true;
}

/* Does a transaction of the part take less time than it did, for want of its first or last
 * access? */
static bool hurries(const struct core *c, const struct execution *part)
{
    const struct execution *x = c->x;
    for (uint32_t e = part->locations; c->time_order && part->begin && e < part->events; e++)
        for (uint32_t f = x->locations; f < x->events; f++)
            if (x->op[f] == part->op[e]
                && (part->begin[part->group[e]] > x->begin[x->group[f]]
                    || part->end[part->group[e]] < x->end[x->group[f]]))
                return true;
    return false;
}

static bool close_over_sources(struct core *c, bool *keep)
{
    const struct execution *x = c->x;
    c->work.count = 0;
    for (uint32_t op = 0; op < c->t->ops.count; op++)
        if (keep[op] && !VEC_PUSH(c->o, &c->work, op))
            return false;
    while (c->work.count) {
        uint32_t op = c->work.data[--c->work.count], e = c->op_first[op];
        const struct reservation *r = e == NONE ? NULL : reservation_of(x, x->group[e]);
        if (r && !keep_op(c, keep, x->op[r->first]))
            return false;
        for (; e != NONE && e < x->events && x->op[e] == op; e++)
            for (uint32_t i = x->candidate_first[e]; i < x->candidate_first[e + 1]; i++)
                if (!keep_op(c, keep, x->op[x->candidate[i]]))
                    return false;
        if (c->work.count == 0 && !keep_finals(c, keep))
            return false;
    }
    return true;
}

/* ---- brackets of transactions ---------------------- */

struct bracket { uint32_t begin, depth; bool holds; };

/* The brackets of what is kept are kept. */
static bool keep_brackets(struct core *c, bool *keep)
{
    const struct ordeal_trace *t = c->t;
    struct bracket *open = mem_zero(c->o, t->threads.count, sizeof *open);
    if (!open)
        return false;
    for (uint32_t op = 0; op < t->ops.count; op++) {
        uint8_t kind = t->ops.data[op].kind;
        struct bracket *b = &open[t->ops.data[op].thread];
        if (kind == ORDEAL_TX_BEGIN && b->depth++ == 0) {
            b->begin = op;
            b->holds = false;
        }
        b->holds |= keep[op];
        assert((kind != ORDEAL_TX_END && kind != ORDEAL_TX_ABORT) || b->depth > 0);
        if ((kind == ORDEAL_TX_END || kind == ORDEAL_TX_ABORT) && --b->depth == 0 && b->holds)
            keep[b->begin] = keep[op] = true;
    }
    mem_free(c->o, open, t->threads.count * sizeof *open);
    return true;
}

/* ---- a trace of the kept operations alone ------------------------------------------- */

/* Registers are named after the operation that writes them, so that leaving one out does not make
 * an older one the writer. Nobody depends on what an SC wrote that did not store. */
static enum ordeal_status copy_register(const struct core *c, struct ordeal_trace *s, size_t entry)
{
    const struct ordeal_trace *t = c->t;
    struct trace_register r = t->registers.data[entry];
    uint32_t thread = t->ops.data[r.op].thread;
    enum ordeal_register_use use = r.use;
    if (use == ORDEAL_REGISTER_WRITTEN)
        return ordeal_trace_uses_register(s, r.op, use);
    while (entry-- > 0) {
        struct trace_register w = t->registers.data[entry];
        bool writes = w.use == ORDEAL_REGISTER_WRITTEN && w.reg == r.reg && w.op != r.op
                   && t->ops.data[w.op].thread == thread;
        if (writes && c->op_first[w.op] != NONE)
            return ordeal_trace_uses_register(s, w.op, use);
        if (writes && t->ops.data[w.op].kind == ORDEAL_STORE_CONDITIONAL)
            return ORDEAL_OK;
    }
    return ORDEAL_OK;
}

/* Copies the kept operations with all that is said of them; map[i] is the op that the i-th was. */
static bool copy_kept(struct core *c, const bool *keep, struct ordeal_trace **out, uint32_t **map,
                      size_t *count)
{
    const struct ordeal_trace *t = c->t;
    struct ordeal_trace *s = ordeal_trace_new(c->o);
    *out = s;
    *count = 0;
    for (size_t op = 0; op < t->ops.count; op++)
        *count += keep[op];
    *map = mem_array(c->o, *count, sizeof **map);
    if (!s || !*map)
        return false;
    s->atomic = t->atomic;
    memcpy(s->file, t->file, sizeof s->file);
    uint32_t number;
    uint64_t offset;
    bool ok = t->bytes.count == 0
           || ordeal_trace_bytes(s, t->bytes.data, t->bytes.count, &offset) == ORDEAL_OK;
    for (size_t i = 0; ok && i < t->threads.count; i++)
        ok = ordeal_trace_thread(s, t->threads.data[i], &number) == ORDEAL_OK;
    for (uint32_t i = 1; ok && i <= t->names.count; i++) {
        const char *name = ordeal_trace_name_text(t, i);
        ok = ordeal_trace_name(s, name, strlen(name), &number) == ORDEAL_OK;
    }
    size_t time = 0, reg = 0, compare = 0, n = 0;
    for (uint32_t op = 0; ok && op < t->ops.count; op++) {
        uint64_t compared = 0;
        for (; compare < t->compares.count && t->compares.data[compare].op <= op; compare++)
            compared = t->compares.data[compare].value;
        bool kept = keep[op];
        if (kept) {
            (*map)[n++] = op;
            ok = ordeal_trace_add(s, &t->ops.data[op], compared) == ORDEAL_OK;
        }
        for (; time < t->times.count && t->times.data[time].op <= op; time++)
            if (ok && kept)
                ok = ordeal_trace_times(s, t->times.data[time].begin, t->times.data[time].end)
                  == ORDEAL_OK;
        for (; reg < t->registers.count && t->registers.data[reg].op <= op; reg++)
            if (ok && kept)
                ok = copy_register(c, s, reg) == ORDEAL_OK;
    }
    assert(!ok || (n == *count && s->ops.count == n));
    for (size_t i = 0; ok && i < t->inits.count; i++)
        ok = VEC_PUSH(c->o, &s->inits, t->inits.data[i]);
    for (size_t i = 0; ok && i < t->orders.count; i++)
        ok = VEC_PUSH(c->o, &s->orders, t->orders.data[i]);
    for (size_t i = 0; ok && i < t->order_values.count; i++)
        ok = VEC_PUSH(c->o, &s->order_values, t->order_values.data[i]);
    for (size_t i = 0; ok && i < t->finals.count; i++)
        ok = VEC_PUSH(c->o, &s->finals, t->finals.data[i]);
    return ok;
}

/* ---- minimising --------------------------------------------------------------------- */

/* The bracket that ends an emptied transaction, which is only a barrier now; NONE: not emptied. */
static uint32_t end_of_emptied(const struct ordeal_trace *t, const bool *keep, uint32_t begin)
{
    for (uint32_t op = begin + 1; op < t->ops.count; op++)
        if (keep[op] && t->ops.data[op].thread == t->ops.data[begin].thread)
            return t->ops.data[op].kind == ORDEAL_TX_END ? op : NONE;
    return NONE;
}

/* Ops of the part that go with each: those whose loads may, in the whole, have seen a store of it;
 * or the other way round. small[op]: its number in the part of an op of the whole, NONE: not in it.
 * With fewer accesses words are divided less, and there are fewer
 * candidates than there were, hence the whole. */
struct relation { uint32_t *first, *op; size_t count; };

static bool relate(struct core *c, const struct execution *whole, const uint32_t *small,
                   bool to_sources, struct relation *r)
{
    size_t ops = c->t->ops.count;
    r->first = mem_zero(c->o, ops + 2, sizeof *r->first);
    if (!r->first)
        return false;
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t e = whole->locations; e < whole->events; e++) {
            uint32_t load = small[whole->op[e]];
            uint32_t i = whole->candidate_first[e], end = whole->candidate_first[e + 1];
            for (; load != NONE && i < end; i++) {
                uint32_t store = whole->op[whole->candidate[i]];
                store = store == NONE ? NONE : small[store];
                if (store == NONE || store == load)
                    continue;
                uint32_t of = to_sources ? load : store;
                assert(of < ops);
                if (fill)
                    r->op[r->first[of + 1]++] = to_sources ? store : load;
                else
                    r->first[of + 2]++;
            }
        }
        for (size_t op = 0; !fill && op < ops; op++)
            r->first[op + 2] += r->first[op + 1];
        if (!fill) {
            r->count = r->first[ops + 1];
            r->op = mem_array(c->o, r->count, sizeof *r->op);
            if (!r->op)
                return false;
        }
    }
    return true;
}

static void free_relation(struct core *c, struct relation *r)
{
    mem_free(c->o, r->first, (c->t->ops.count + 2) * sizeof *r->first);
    mem_free(c->o, r->op, r->count * sizeof *r->op);
}

/* Set or clear the op, and all that goes with it, and so on. */
static bool spread(struct core *c, const struct relation *r, bool *keep, uint32_t op, bool value)
{
    c->work.count = 0;
    keep[op] = value;
    if (!VEC_PUSH(c->o, &c->work, op))
        return false;
    while (c->work.count) {
        uint32_t from = c->work.data[--c->work.count];
        for (uint32_t i = r->first[from]; i < r->first[from + 1]; i++)
            if (keep[r->op[i]] != value) {
                keep[r->op[i]] = value;
                if (!VEC_PUSH(c->o, &c->work, r->op[i]))
                    return false;
            }
    }
    return true;
}

/* The operations that the refutation at hand rests on replace those that were kept, if that can be
 * done: cycles, and final values that several may have left, ask for more than sources. */
static enum ordeal_status narrow(struct core *c, const struct graph *g, const struct decision *d,
                                 const struct relation *sources, bool *keep)
{
    size_t ops = c->t->ops.count;
    if (c->several || c->time_order)
        return ORDEAL_OK;
    bool *used = mem_zero(c->o, ops, sizeof *used);
    enum ordeal_status status = used ? prove_operations(g, &d->log, used) : c->o->error.status;
    for (uint32_t op = 0; status == ORDEAL_OK && op < ops; op++) {
        uint8_t kind = c->t->ops.data[op].kind;
        bool bracket = kind == ORDEAL_TX_BEGIN || kind == ORDEAL_TX_END;
        if ((used[op] || (bracket && keep[op])) && !spread(c, sources, used, op, true))
            status = c->o->error.status;
    }
    if (status == ORDEAL_OK)
        memcpy(keep, used, ops * sizeof *keep);
    mem_free(c->o, used, ops * sizeof *used);
    return status;
}

/* Is what is kept illegal? If so, less may be kept afterwards. */
static enum ordeal_status still_refuted(struct core *c, const struct relation *sources, bool *keep,
                                        bool *refuted)
{
    struct execution *x;
    struct graph *g;
    *refuted = false;
    enum ordeal_status status = execution_build_subset(c->t, keep, finals_kept(c, keep), &x);
    if (status != ORDEAL_OK)
        return status;
    if (hurries(c, x)) {
        execution_free(x);
        return ORDEAL_OK;
    }
    *refuted = refuted_by_value(x);
    status = *refuted ? ORDEAL_OK : graph_build(x, c->model, c->time_order, &g);
    if (status == ORDEAL_OK && !*refuted) {
        struct decision d;
        status = decide(g, 0, &d);
        *refuted = status == ORDEAL_OK && d.result == ORDEAL_FAIL;
        if (*refuted)
            status = narrow(c, g, &d, sources, keep);
        decision_free(g, &d);
        graph_free(g);
    }
    execution_free(x);
    return status;
}

struct cutter {
    const struct relation *sources, *readers;
    bool *keep, *trial;
};

/* Try to do without `count` ops that are kept, from `op` downwards. */
static enum ordeal_status try_without(struct core *c, const struct cutter *k, uint32_t op,
                                      size_t count)
{
    const struct ordeal_trace *t = c->t;
    size_t ops = t->ops.count, dropped = 0;
    bool refuted = false;
    memcpy(k->trial, k->keep, ops * sizeof *k->keep);
    for (uint32_t i = op + 1; i-- > 0 && dropped < count;) {
        uint8_t kind = t->ops.data[i].kind;
        uint32_t end = kind == ORDEAL_TX_BEGIN ? end_of_emptied(t, k->trial, i) : NONE;
        bool held = kind == ORDEAL_TX_END || (kind == ORDEAL_TX_BEGIN && end == NONE);
        if (!k->keep[i] || held)
            continue;
        dropped++;
        if (end != NONE)
            k->trial[end] = false;
        if (k->trial[i] && !spread(c, k->readers, k->trial, i, false))
            return c->o->error.status;
    }
    if (dropped == 0)
        return ORDEAL_OK;
    enum ordeal_status status = still_refuted(c, k->sources, k->trial, &refuted);
    if (status == ORDEAL_OK && refuted)
        memcpy(k->keep, k->trial, ops * sizeof *k->keep);
    return status;
}

static size_t count_kept(const bool *keep, size_t ops)
{
    size_t kept = 0;
    for (size_t op = 0; op < ops; op++)
        kept += keep[op];
    return kept;
}

/* Violations survive adding operations, so a pass that tries each op once ends in a set from which
 * none can be dropped. Larger pieces are tried before. */
static enum ordeal_status cut(struct core *c, const struct cutter *k)
{
    size_t ops = c->t->ops.count;
    enum ordeal_status status = ORDEAL_OK;
    for (size_t piece = count_kept(k->keep, ops) / 2; status == ORDEAL_OK; piece /= 2) {
        size_t since = piece;
        for (uint32_t op = (uint32_t)ops; status == ORDEAL_OK && op-- > 0;)
            if (k->keep[op] && since++ >= piece) {
                since = 1;
                status = try_without(c, k, op, piece ? piece : 1);
            }
        if (piece <= 1)
            break;
    }
    return status;
}

static enum ordeal_status minimise(struct core *c, const struct execution *whole,
                                   const uint32_t *small, bool *keep)
{
    size_t ops = c->t->ops.count;
    struct execution *x;
    struct relation readers = { 0 }, sources = { 0 };
    bool *trial = mem_array(c->o, ops, sizeof *trial);
    enum ordeal_status status = trial && note_finals(c, whole, small)
                                  ? execution_build_subset(c->t, keep, finals_kept(c, keep), &x)
                                  : c->o->error.status;
    if (status == ORDEAL_OK) {
        c->x = x;
        if (!relate(c, whole, small, false, &readers) || !relate(c, whole, small, true, &sources))
            status = c->o->error.status;
        else
            status = cut(c, &(struct cutter){ &sources, &readers, keep, trial });
        free_relation(c, &readers);
        free_relation(c, &sources);
        execution_free(x);
    }
    mem_free(c->o, trial, ops * sizeof *trial);
    return status;
}

static enum ordeal_status minimise_copy(struct core *c, bool *keep)
{
    struct ordeal_trace *small = NULL;
    uint32_t *map = NULL;
    size_t count = 0;
    enum ordeal_status status = ORDEAL_OK;
    bool *still = NULL;
    size_t ops = c->t->ops.count;
    uint32_t *number = mem_array(c->o, ops, sizeof *number);
    if (!number || !copy_kept(c, keep, &small, &map, &count)
        || !(still = mem_array(c->o, count, sizeof *still))) {
        status = c->o->error.status;
    } else {
        struct core inner = { .o = c->o, .t = small, .model = c->model,
                              .time_order = c->time_order };
        memset(still, true, count * sizeof *still);
        memset(number, 0xff, ops * sizeof *number);
        for (uint32_t i = 0; i < count; i++)
            number[map[i]] = i;
        status = minimise(&inner, c->x, number, still);
        for (size_t i = 0; i < count; i++)
            keep[map[i]] = still[i];
        VEC_FREE(c->o, &inner.work);
        free_finals(&inner);
    }
    mem_free(c->o, number, ops * sizeof *number);
    mem_free(c->o, still, count * sizeof *still);
    mem_free(c->o, map, count * sizeof *map);
    ordeal_trace_free(small);
    return status;
}

enum ordeal_status core_find(const struct graph *g, const struct decision *d, bool minimise,
                             bool *keep, bool *minimal)
{
    const struct execution *x = g->x;
    struct core c = { .o = g->o, .x = x, .t = x->trace,
                      .model = (enum ordeal_model)(g->model - models),
                      .time_order = g->time_order };
    size_t used = g->o->used, ops = c.t->ops.count;
    enum ordeal_status status = prove_operations(g, &d->log, keep);
    c.op_first = status == ORDEAL_OK ? mem_array(c.o, ops, sizeof *c.op_first) : NULL;
    if (!c.op_first)
        return c.o->error.status;
    memset(c.op_first, 0xff, ops * sizeof *c.op_first);
    for (uint32_t e = x->events; e-- > x->locations;)
        c.op_first[x->op[e]] = e;
    if (!note_finals(&c, x, NULL) || !close_over_sources(&c, keep) || !keep_brackets(&c, keep))
        status = c.o->error.status;
    if (status == ORDEAL_OK && minimise)
        status = minimise_copy(&c, keep);
    *minimal = minimise && status == ORDEAL_OK;
    if (status == ORDEAL_LIMIT) /* what is kept is refuted all the same */
        status = ORDEAL_OK;
    VEC_FREE(c.o, &c.work);
    free_finals(&c);
    mem_free(c.o, c.op_first, ops * sizeof *c.op_first);
    assert(c.o->used == used);
    return status;
}
