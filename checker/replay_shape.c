/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a test: its execution with all values read blank, and every CAS a swap; what AMOs
 * write comes with the values. */
#include "replay.h"

#include <string.h>

#include "model.h"

enum { MOST_THREADS = 64 };        /* a bit for each, see `fresh` */

struct shaping {
    struct ordeal_replay *r;
    const struct ordeal_trace *t;
    struct ordeal_trace blank;
    const struct execution *x;
    bool in_order;                 /* the model keeps stores before later loads */
    uint32_t *slot;                /* by operation: its first value, or NONE */
    uint32_t *last_store;          /* by word: the thread's last one, or NONE */
    uint32_t *last_load;
    uint32_t *number;              /* by event: of the load or store */
    uint32_t slots;
    uint32_t load, store, barrier, cas; /* next ones */
    uint32_t drain;                /* what barriers ask of the loads to come */
};

static bool reads(const struct ordeal_op *op) { return trace_op_traits[op->kind] & OP_READS; }

static enum ordeal_status refuse(const struct ordeal_trace *t, size_t op, const char *reason)
{
    fail_at(t->o, t->file, t->ops.data[op].line, 0, "%s", reason);
    return t->o->error.status = ORDEAL_BAD_USAGE;
}

/* ---- the blank trace ------------------------------------------------------------------- */

static enum ordeal_status check_ops(const struct ordeal_trace *t)
{
    if (t->orders.count)
        return fail(t->o, ORDEAL_BAD_USAGE, "orders cannot be replayed");
    for (size_t i = 0; i < t->ops.count; i++) {
        const struct ordeal_op *op = &t->ops.data[i];
        if (op->kind >= ORDEAL_LOOP_BEGIN && op->kind <= ORDEAL_BRANCH_END)
            return refuse(t, i, "loops and branches cannot be replayed: unroll them first");
        if (op->kind == ORDEAL_LOAD_RESERVED || op->kind == ORDEAL_STORE_CONDITIONAL)
            return refuse(t, i, "LR and SC cannot be replayed");
        /* A machine of TSO does whatever else is marked as it should. */
        if ((op->kind == ORDEAL_LOAD && op->flags & ORDEAL_RELEASES)
            || (op->kind == ORDEAL_STORE && op->flags & ORDEAL_ACQUIRES))
            return refuse(t, i, "a load that releases or a store that acquires cannot be replayed");
        if (op->kind == ORDEAL_CAS && op->size_log2 > 3)
            return refuse(t, i, "a CAS of more than 8 bytes cannot be replayed");
    }
    return ORDEAL_OK;
}

static enum ordeal_status blank_trace(struct shaping *s)
{
    const struct ordeal_trace *t = s->t;
    size_t bytes = t->bytes.count + TRACE_LINE_BYTES;
    s->blank = *t;
    s->blank.ops.data = mem_array(t->o, t->ops.count, sizeof *t->ops.data);
    s->blank.bytes.data = mem_zero(t->o, bytes, 1);
    s->blank.bytes.count = bytes; /* the last ones are what wide loads are taken to have seen */
    s->blank.times.count = s->blank.registers.count = 0;
    if (!s->blank.ops.data || !s->blank.bytes.data)
        return t->o->error.status;
    if (t->bytes.count)
        memcpy(s->blank.bytes.data, t->bytes.data, t->bytes.count);
    for (size_t i = 0; i < t->ops.count; i++) {
        struct ordeal_op op = t->ops.data[i];
        if (reads(&op)) {
            op.flags |= ORDEAL_HAS_VALUE;
            op.read = op.size_log2 > 3 ? t->bytes.count : 0;
        }
        if (op.kind == ORDEAL_CAS)
            op.kind = ORDEAL_SWAP;
        s->blank.ops.data[i] = op;
    }
    return ORDEAL_OK;
}

static void free_blank(struct shaping *s)
{
    mem_free(s->t->o, s->blank.ops.data, s->t->ops.count * sizeof *s->t->ops.data);
    mem_free(s->t->o, s->blank.bytes.data, s->t->bytes.count + TRACE_LINE_BYTES);
}

/* ---- slots and compares ---------------------------------------------------------------- */

/* What has no events, as in an aborted transaction, was not observed. */
static void number_slots(struct shaping *s)
{
    const struct execution *x = s->x;
    uint32_t next = 0;
    for (uint32_t e = x->locations; e < x->events; e++)
        if (!x->is_store[e])
            s->slot[x->op[e]] = 0;
    for (size_t i = 0; i < s->t->ops.count; i++)
        if (s->slot[i] != NONE) {
            uint8_t size_log2 = s->t->ops.data[i].size_log2;
            s->slot[i] = next;
            next += size_log2 > 3 ? 1u << (size_log2 - 3) : 1;
        }
    s->slots = next;
}

/* The operation whose value the register holds before operation `op`; NONE: it holds 0. */
static uint32_t writer_of(const struct ordeal_trace *t, uint32_t op, uint64_t reg)
{
    size_t low = 0, high = t->registers.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->registers.data[middle].op < op)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0) {
        const struct trace_register *r = &t->registers.data[low];
        if (r->use == ORDEAL_REGISTER_WRITTEN && r->reg == reg
            && t->ops.data[r->op].thread == t->ops.data[op].thread)
            return r->op;
    }
    return NONE;
}

static uint64_t size_mask(uint8_t size_log2)
{
    return size_log2 < 3 ? (UINT64_C(1) << (8u << size_log2)) - 1 : UINT64_MAX;
}

static enum ordeal_status shape_cas(struct shaping *s, uint32_t op, struct replay_cas *cas)
{
    const struct ordeal_op *a = &s->t->ops.data[op];
    cas->slot = s->slot[op];
    cas->mask = size_mask(a->size_log2);
    cas->compare = ordeal_trace_compare_of(s->t, op);
    cas->compare_slot = NONE;
    if (!(a->flags & ORDEAL_COMPARE_REGISTER))
        return ORDEAL_OK;
    uint32_t writer = writer_of(s->t, op, cas->compare);
    cas->compare = 0;
    if (writer == NONE)
        return ORDEAL_OK;
    if (s->slot[writer] == NONE || s->t->ops.data[writer].size_log2 > 3)
        return refuse(s->t, op, "what this CAS compares with is not among the values");
    cas->compare_slot = s->slot[writer];
    return ORDEAL_OK;
}

/* ---- loads and stores ------------------------------------------------------------------ */

/* Bits of its slot above a word that are other words of the access. Above the access there is
 * nothing: a value that is too large for it is nobody's. */
static uint8_t bits_above(uint8_t size_log2, uint32_t offset, uint8_t word_log2)
{
    uint32_t slot_bytes = size_log2 < 3 ? 1u << size_log2 : 8;
    uint32_t end = offset % 8 + (1u << word_log2);
    return end == slot_bytes ? 0 : (uint8_t)(64 - 8 * end);
}

static void shape_load(struct shaping *s, uint32_t e, uint32_t group)
{
    const struct execution *x = s->x;
    const struct location *at = &x->location[x->loc[e]];
    const struct ordeal_op *op = &s->t->ops.data[x->op[e]];
    uint32_t word = x->loc[e], offset = (uint32_t)(at->address - op->address);
    uint8_t above = bits_above(op->size_log2, offset, at->size_log2);
    uint32_t drain = s->in_order || op->kind == ORDEAL_AMO ? s->r->group[group].store : s->drain;
    assert(s->load < s->r->loads && s->slot[x->op[e]] != NONE && offset < TRACE_LINE_BYTES);
    s->number[e] = s->load;
    s->r->load[s->load] = (struct replay_load){ .slot = s->slot[x->op[e]] + offset / 8,
                                                .above = above,
                                                .shift = (uint8_t)(above + offset % 8 * 8),
                                                .word = word,
                                                .own = s->last_store[word],
                                                .younger = s->store,
                                                .drain = drain };
    s->r->group_of[s->load] = group;
    s->last_load[word] = s->load++;
}

/* What the next store, of a word of an AMO, will be. */
static void shape_amo(struct shaping *s, const struct ordeal_op *op, const struct location *at,
                      uint32_t slot)
{
    assert(s->r->amo_count < s->r->stores && slot != NONE);
    s->r->amo[s->r->amo_count++] = (struct replay_amo){
        .slot = slot,
        .store = s->store,
        .function = op->function,
        .size_log2 = op->size_log2,
        .shift = (uint8_t)(8 * (at->address - op->address)),
        .mask = size_mask(at->size_log2),
        .operand = op->write
    };
}

static void shape_store(struct shaping *s, uint32_t e, uint32_t group)
{
    const struct execution *x = s->x;
    uint32_t word = x->loc[e];
    bool alone = !(x->group_flags[group] & GROUP_LOADS);
    const struct ordeal_op *op = &s->t->ops.data[x->op[e]];
    bool swap = reads(op);
    assert(s->store < s->r->stores && s->r->swap_count < s->r->stores);
    s->number[e] = s->store;
    s->r->store[s->store] = (struct replay_store){
        .word = word, .issue = alone ? s->load : NONE, .end = s->r->group[group].store_end,
        .own = s->last_store[word], .swapped = swap ? s->last_load[word] : NONE, .group = group };
    if (swap)
        s->r->swap[s->r->swap_count++] = s->store;
    s->r->thread_of[s->store] = x->thread_of[group];
    s->r->value[s->store] = x->value[e];
    if (op->kind == ORDEAL_AMO)
        shape_amo(s, op, &x->location[word], s->slot[x->op[e]]);
    s->last_store[word] = s->store++;
}

static void count_group(struct shaping *s, uint32_t group)
{
    const struct execution *x = s->x;
    struct replay_group *g = &s->r->group[group];
    *g = (struct replay_group){ .load = s->load, .load_end = s->load, .store = s->store,
                                .store_end = s->store };
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        g->load_end += !x->is_store[e];
        g->store_end += x->is_store[e];
    }
}

static enum ordeal_status shape_all_cas(struct shaping *s, uint32_t group)
{
    const struct execution *x = s->x;
    uint32_t end = x->group_first[group + 1];
    for (uint32_t e = x->group_first[group], next; e < end; e = next) {
        uint32_t op = x->op[e];
        for (next = e + 1; next < end && x->op[next] == op; next++)
            ;
        if (s->t->ops.data[op].kind != ORDEAL_CAS)
            continue;
        assert(s->cas < s->r->cas_most && (next - e) % 2 == 0);
        struct replay_cas *cas = &s->r->cas[s->cas++];
        uint32_t store = e + (next - e) / 2; /* as many words are read as are written */
        *cas = (struct replay_cas){ .store = s->number[store],
                                    .store_end = s->number[next - 1] + 1 };
        enum ordeal_status status = shape_cas(s, op, cas);
        if (status)
            return status;
    }
    return ORDEAL_OK;
}

static enum ordeal_status shape_group(struct shaping *s, uint32_t group)
{
    const struct execution *x = s->x;
    const struct replay_group *g = &s->r->group[group];
    count_group(s, group);
    for (; s->barrier < x->barriers && x->barrier[s->barrier].group <= group; s->barrier++)
        if (x->barrier[s->barrier].mask & ORDEAL_SL)
            s->drain = s->store;
    if (x->group_flags[group] & GROUP_TX) /* TransMembar, before */
        s->drain = s->store;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++)
        if (x->is_store[e])
            shape_store(s, e, group);
        else
            shape_load(s, e, group);
    assert(s->load == g->load_end && s->store == g->store_end);
    uint32_t loads = g->load_end - g->load;
    if (loads > 0)
        s->r->load[g->load].special = loads > 1 || g->store < g->store_end;
    if (loads > 1)
        s->r->load[g->load_end - 1].joined = loads > UINT8_MAX ? UINT8_MAX : (uint8_t)loads;
    uint8_t kind = s->t->ops.data[x->op[x->group_first[group]]].kind;
    if (kind == ORDEAL_SWAP || kind == ORDEAL_AMO
        || x->group_flags[group] & GROUP_TX) /* TransMembar, behind */
        s->drain = s->store;
    return shape_all_cas(s, group);
}

static void shape_final(struct shaping *s, uint32_t k)
{
    const struct final *f = &s->x->final[k];
    const struct location *at = &s->x->location[f->loc];
    const struct trace_word *whole = &s->t->finals.data[f->source].word;
    uint32_t offset = (uint32_t)(at->address - whole->address);
    uint8_t above = bits_above(whole->size_log2, offset, at->size_log2);
    s->r->final[k] = (struct replay_final){ .slot = s->slots + f->source,
                                            .word = f->loc,
                                            .above = above,
                                            .shift = (uint8_t)(above + offset * 8),
                                            .still = true };
}

/* What the thread stored last to the words of final values. */
static void shape_endings(struct shaping *s, uint32_t thread)
{
    for (uint32_t k = 0; k < s->r->finals; k++) {
        uint32_t last = s->last_store[s->r->final[k].word];
        s->r->ending[(size_t)k * s->r->threads + thread] = last;
        s->r->final[k].still &= last == NONE;
    }
}

static enum ordeal_status shape_thread(struct shaping *s, uint32_t thread)
{
    const struct execution *x = s->x;
    struct replay_thread *th = &s->r->thread[thread];
    enum ordeal_status status = ORDEAL_OK;
    th->load_first = s->load;
    th->store_first = s->drain = s->store;
    for (uint32_t w = 0; w < s->r->words; w++) {
        s->last_store[w] = NONE;
    }
    /* A barrier at the very end of the thread before stands before this one's first group. */
    for (uint32_t g = x->thread_first[thread]; g < x->thread_first[thread + 1] && !status; g++)
        status = shape_group(s, g);
    th->load_end = s->load;
    th->store_end = s->store;
    shape_endings(s, thread);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------- */

static enum ordeal_status make_arrays(struct ordeal_replay *r, const struct ordeal_trace *t,
                                      const struct execution *x)
{
    r->words = x->locations;
    r->threads = x->threads;
    r->groups = x->groups;
    r->finals = x->finals;
    for (uint32_t e = 0; e < x->events; e++)
        *(x->is_store[e] ? &r->stores : &r->loads) += 1;
    for (size_t i = 0; i < t->ops.count; i++)
        r->cas_most += t->ops.data[i].kind == ORDEAL_CAS;
    size_t many = r->threads > 2 ? r->threads : 0, cells = (size_t)r->words + 1;
    r->latest_size = (many ? many : 1) * r->threads * cells;
    r->last_size = many * cells;
    r->known_size = many * r->stores;
    r->more_most = 2 * r->loads + r->finals * r->threads;
    if (r->threads > MOST_THREADS)
        return fail(r->o, ORDEAL_BAD_USAGE, "%u threads: %u can be replayed", r->threads,
                    MOST_THREADS);
    if (r->stores >= SPECIAL || r->loads >= SPECIAL / 2 || r->finals >= SPECIAL / MOST_THREADS)
        return fail(r->o, ORDEAL_LIMIT, "too many operations to replay");
#define ARRAY(NAME, COUNT) \
    if (!(r->NAME = mem_zero(r->o, (COUNT), sizeof *r->NAME))) \
        return r->o->error.status;
    REPLAY_ARRAYS(r)
#undef ARRAY
    return ORDEAL_OK;
}

static enum ordeal_status shape_all(struct shaping *s)
{
    struct ordeal_replay *r = s->r;
    const struct execution *x = s->x;
    enum ordeal_status status = ORDEAL_OK;
    number_slots(s);
    for (; s->store < r->words; s->store++) {
        r->store[s->store] = (struct replay_store){ .word = s->store, .end = s->store + 1,
                                                    .own = NONE, .swapped = NONE };
        r->thread_of[s->store] = r->threads;
        r->value[s->store] = x->value[s->store];
    }
    for (uint32_t k = 0; k < r->finals; k++)
        shape_final(s, k);
    for (uint32_t t = 0; t < r->threads && !status; t++)
        status = shape_thread(s, t);
    assert(status || (s->load == r->loads && s->store == r->stores));
    r->cas_count = s->cas;
    for (uint32_t i = 0; i < r->stores; i++) {
        r->standing[i] = i;
        r->target[i] = r->store[i].word;
    }
    if (!status)
        status = replay_table_make(r);
    r->thread[r->threads].store = NONE; /* of the initial ones: all are there */
    return status;
}

static enum ordeal_status shape_execution(struct shaping *s)
{
    struct ordeal *o = s->r->o;
    size_t ops = s->t->ops.count, events = s->x->events, words = s->x->locations;
    s->slot = mem_array(o, ops, sizeof *s->slot);
    s->number = mem_array(o, events, sizeof *s->number);
    s->last_store = mem_array(o, words, sizeof *s->last_store);
    s->last_load = mem_array(o, words, sizeof *s->last_load);
    enum ordeal_status status = o->error.status;
    if (s->slot && s->number && s->last_store && s->last_load) {
        memset(s->slot, 0xff, ops * sizeof *s->slot);
        status = make_arrays(s->r, s->t, s->x);
        status = status ? status : shape_all(s);
    }
    mem_free(o, s->slot, ops * sizeof *s->slot);
    mem_free(o, s->number, events * sizeof *s->number);
    mem_free(o, s->last_store, words * sizeof *s->last_store);
    mem_free(o, s->last_load, words * sizeof *s->last_load);
    return status;
}

enum ordeal_status replay_shape(struct ordeal_replay *r, const struct ordeal_trace *t,
                                enum ordeal_model model)
{
    struct shaping s = { .r = r, .t = t };
    struct execution *x = NULL;
    enum ordeal_status status = check_ops(t);
    if (status)
        return status;
    s.in_order = models[model].keep[STORE][LOAD] == KEEP_ALL;
    limit_start(t->o);
    status = blank_trace(&s);
    if (!status)
        status = execution_build(&s.blank, &x);
    s.x = x;
    for (uint32_t g = 1; !status && !models[model].transactions && g < x->groups; g++)
        if (x->group_flags[g] & GROUP_TX)
            status = refuse(t, x->op[x->group_first[g]], "the model has no transactions");
    if (!status)
        status = shape_execution(&s);
    execution_free(x);
    free_blank(&s);
    return status;
}
