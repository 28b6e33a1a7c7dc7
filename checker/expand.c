/* SPDX-License-Identifier: Apache-2.0 */
/* The expansion, three walks: in file order to copy what counts to its thread's steps, over the
 * steps to count what they become, and over the steps again to emit it. */
#include "expand.h"

#include <string.h>

enum role { NO_EFFECT, ACCESS, BARRIER, BRACKET };

static const uint8_t role_of[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOAD] = ACCESS,
    [ORDEAL_STORE] = ACCESS,
    [ORDEAL_SWAP] = ACCESS,
    [ORDEAL_CAS] = ACCESS,
    [ORDEAL_AMO] = ACCESS,
    [ORDEAL_MEMBAR] = BARRIER,
    [ORDEAL_TX_BEGIN] = BRACKET,
    [ORDEAL_TX_END] = BRACKET,
    [ORDEAL_TX_ABORT] = BRACKET,
    [ORDEAL_LOAD_RESERVED] = ACCESS,
    [ORDEAL_STORE_CONDITIONAL] = ACCESS,
};

/* A complaint about operation `op`, with its line, or its number if it has none. */
static enum ordeal_status refuse(const struct expansion *e, uint32_t op, const char *reason)
{
    uint32_t line = e->t->ops.data[op].line;
    if (line)
        return fail_at(e->o, e->t->file, line, 0, "%s", reason);
    return fail_at(e->o, e->t->file, 0, 0, "operation %u: %s", op + 1, reason);
}

static bool kept(const struct expansion *e, size_t op)
{
    return !e->keep || e->keep[op];
}

/* An SC that did not store only writes registers and ends a reservation. */
static bool stored_nothing(const struct ordeal_op *op)
{
    return op->kind == ORDEAL_STORE_CONDITIONAL && op->flags & ORDEAL_HAS_VALUE && op->read != 0;
}

/* ---- selection ----------------------------------------------------------------------- */

/* Of an operation that is left out, registers it wrote are still to be reckoned with, and that it
 * reserved or used a reservation. */
static bool leaves_traces(const struct expansion *e, size_t op)
{
    uint8_t kind = e->t->ops.data[op].kind;
    if (kind == ORDEAL_LOAD_RESERVED || kind == ORDEAL_STORE_CONDITIONAL)
        return true;
    size_t k = TRACE_FIND(&e->t->registers, op);
    return k < e->t->registers.count && e->t->registers.data[k].op == op;
}

/* Brackets stay whatever `keep` says: they come and go with what they enclose. */
static bool selectable(const struct expansion *e, size_t op)
{
    uint8_t role = role_of[e->t->ops.data[op].kind];
    return role == BRACKET || (role != NO_EFFECT && (kept(e, op) || leaves_traces(e, op)));
}

/* What a run would have unrolled or decided. Values that are missing, as of a CAS that compares
 * with a register, are found later: inside an aborted transaction nothing was observed. */
static enum ordeal_status refuse_tests(const struct expansion *e)
{
    const struct ordeal_trace *t = e->t;
    for (uint32_t i = 0; i < t->ops.count; i++)
        if (trace_op_traits[t->ops.data[i].kind] & OP_UNRUN) {
            char reason[64];
            snprintf(reason, sizeof reason, "%s: this is a test, run it first",
                     trace_op_names[t->ops.data[i].kind]);
            return refuse(e, i, reason);
        }
    if (t->steps.count)
        return refuse(e, t->steps.data[0].op,
                      "it writes another value each time round: this is a test, run it first");
    return ORDEAL_OK;
}

static enum ordeal_status allot_threads(struct expansion *e)
{
    e->threads = (uint32_t)e->t->threads.count;
    e->first = mem_zero(e->o, e->threads + 1, sizeof *e->first);
    e->end = mem_array(e->o, e->threads, sizeof *e->end);
    if (!e->first || !e->end)
        return e->o->error.status;
    for (size_t i = 0; i < e->t->ops.count; i++)
        if (selectable(e, i))
            e->first[e->t->ops.data[i].thread + 1]++;
    for (uint32_t t = 0; t < e->threads; t++) {
        e->end[t] = e->first[t];
        e->first[t + 1] += e->first[t];
    }
    e->steps = e->first[e->threads];
    e->step = mem_array(e->o, e->steps, sizeof *e->step);
    return e->step ? ORDEAL_OK : e->o->error.status;
}

/* `size` bytes at `offset` of the value of an access, of which op.read or op.write is `held`. */
static uint64_t slice(const struct ordeal_trace *t, uint8_t access_log2, uint64_t held,
                      uint64_t offset, unsigned size)
{
    uint64_t value = 0;
    assert(offset + size <= UINT64_C(1) << access_log2);
    if (access_log2 > 3) {
        assert(held + offset + size <= t->bytes.count);
        for (unsigned i = size; i-- > 0;)
            value = value << 8 | t->bytes.data[held + offset + i];
        return value;
    }
    value = held >> 8 * offset;
    return size < 8 ? value & ((UINT64_C(1) << 8 * size) - 1) : value;
}

static bool same_value(const struct ordeal_trace *t, uint8_t size_log2, uint64_t a, uint64_t b)
{
    if (size_log2 <= 3)
        return a == b;
    size_t size = (size_t)1 << size_log2;
    assert(a + size <= t->bytes.count && b + size <= t->bytes.count);
    return !memcmp(t->bytes.data + a, t->bytes.data + b, size);
}

/* *compare is the place of the next CAS in the trace's compares. */
static struct step step_of(const struct ordeal_trace *t, uint32_t i, size_t *compare)
{
    const struct ordeal_op *op = &t->ops.data[i];
    struct step step = { .read = op->read, .write = op->write, .op = i, .word = NONE,
                         .kind = op->kind, .flags = op->flags, .size_log2 = op->size_log2,
                         .writes = trace_op_traits[op->kind] & OP_WRITES };
    if (op->kind == ORDEAL_AMO)
        step.write = ordeal_op_written(op);
    if (stored_nothing(op))
        step.writes = false;
    if (op->kind == ORDEAL_CAS) {
        while (t->compares.data[*compare].op < i)
            ++*compare;
        /* every CAS has one */
        assert(*compare < t->compares.count && t->compares.data[*compare].op == i);
        step.writes = same_value(t, op->size_log2, op->read, t->compares.data[*compare].value);
    }
    return step;
}

/* Put a step behind its thread's others. *open is the place of the innermost TX.BEGIN not yet
 * ended, and the `word` of such a step is that of the one around it. An abort takes back all since
 * its TX.BEGIN; an inner TX.END has no effect, as nested transactions are one. */
static enum ordeal_status place(struct expansion *e, struct step step, uint32_t *end,
                                uint32_t *open)
{
    switch (step.kind) {
    case ORDEAL_TX_END:
    case ORDEAL_TX_ABORT: {
        if (*open == NONE)
            return refuse(e, step.op, "a transaction ends that has not begun");
        uint32_t begin = *open;
        *open = e->step[begin].word;
        if (step.kind == ORDEAL_TX_ABORT)
            *end = begin;
        else if (*open == NONE)
            e->step[(*end)++] = step;
        return ORDEAL_OK;
    }
    case ORDEAL_TX_BEGIN:
        step.word = *open;
        *open = *end;
        break;
    case ORDEAL_MEMBAR:
        if (*open != NONE) /* TransOpOp already orders everything inside */
            return ORDEAL_OK;
        break;
    default: {
        const struct ordeal_op *op = &e->t->ops.data[step.op];
        step.left_out = !kept(e, step.op) || stored_nothing(op);
        if (step.left_out)
            break;
        step.word = words_enter(e->o, &e->words, op->base, op->address, op->size_log2);
        if (step.word == NONE)
            return e->o->error.status;
    }
    }
    e->step[(*end)++] = step;
    return ORDEAL_OK;
}

static enum ordeal_status place_all(struct expansion *e, uint32_t *open)
{
    size_t compare = 0;
    for (size_t i = 0; i < e->t->ops.count; i++) {
        uint32_t thread = e->t->ops.data[i].thread;
        if (!selectable(e, i))
            continue;
        enum ordeal_status status = place(e, step_of(e->t, (uint32_t)i, &compare), &e->end[thread],
                                          &open[thread]);
        if (status)
            return status;
        assert(e->end[thread] <= e->first[thread + 1]);
        if (limit_hit(e->o, "expansion", (double)i / (double)e->t->ops.count))
            return e->o->error.status;
    }
    for (uint32_t t = 0; t < e->threads; t++) {
        uint32_t begin = open[t];
        if (begin == NONE)
            continue;
        while (e->step[begin].word != NONE)
            begin = e->step[begin].word;
        return refuse(e, e->step[begin].op, "the transaction begun here never ends");
    }
    return ORDEAL_OK;
}

enum ordeal_status expand_select(struct expansion *e)
{
    enum ordeal_status status = refuse_tests(e);
    if (!status)
        status = allot_threads(e);
    if (status)
        return status;
    size_t bytes = e->threads * sizeof(uint32_t);
    uint32_t *open = mem_array(e->o, e->threads, sizeof *open);
    if (!open)
        return e->o->error.status;
    memset(open, 0xff, bytes); /* NONE */
    status = place_all(e, open);
    mem_free(e->o, open, bytes);
    return status;
}

/* ---- words --------------------------------------------------------------------------- */

/* Plain accesses wider than the machine's atomic size are made in parts. */
static bool in_parts(const struct expansion *e, const struct step *step)
{
    return step->size_log2 > e->part_log2
        && (step->kind == ORDEAL_LOAD || step->kind == ORDEAL_STORE);
}

static bool reads(const struct step *step) { return trace_op_traits[step->kind] & OP_READS; }

static enum ordeal_status count_access(struct expansion *e, const struct step *step, bool in_tx)
{
    assert(step->word < e->words.list.count);
    struct word *word = &e->words.list.data[step->word];
    bool answers = reads(step) || step->kind == ORDEAL_STORE_CONDITIONAL;
    if (answers && !(step->flags & ORDEAL_HAS_VALUE))
        return refuse(e, step->op,
                      step->kind == ORDEAL_STORE_CONDITIONAL
                          ? "the SC does not say whether it stored: this is a test, run it first"
                          : "the load has no value: this is a test, run it first");
    word->counts = word->accessed = true;
    word->events += reads(step) + step->writes;
    if (!in_tx && in_parts(e, step)) {
        word->divided = true;
        e->groups += UINT64_C(1) << (step->size_log2 - e->part_log2);
    } else {
        e->groups += !in_tx;
    }
    return ORDEAL_OK;
}

/* The same states as in emit_thread: a transaction is a group, or when empty a barrier. */
static enum ordeal_status count_thread(struct expansion *e, uint32_t thread)
{
    bool in_tx = false, empty = true;
    for (uint32_t at = e->first[thread]; at < e->end[thread]; at++) {
        const struct step *step = &e->step[at];
        switch (step->kind) {
        case ORDEAL_TX_BEGIN:
            empty = empty || !in_tx;
            in_tx = true;
            break;
        case ORDEAL_TX_END:
            in_tx = false;
            e->groups += !empty;
            e->barriers += empty && kept(e, step->op);
            break;
        case ORDEAL_MEMBAR:
            e->barriers++;
            break;
        default: {
            if (step->left_out)
                break;
            enum ordeal_status status = count_access(e, step, in_tx);
            if (status)
                return status;
            empty = false;
        }
        }
    }
    return ORDEAL_OK;
}

/* Words of orders and finals divide memory too, so that each speaks of whole locations. A final
 * also makes the word exist, except among a subset of the operations. */
static enum ordeal_status enter_facts(struct expansion *e)
{
    for (size_t k = 0; k < e->t->orders.count; k++) {
        const struct trace_word *w = &e->t->orders.data[k].word;
        uint32_t id = words_enter(e->o, &e->words, w->base, w->address, w->size_log2);
        if (id == NONE)
            return e->o->error.status;
        e->words.list.data[id].counts = true;
    }
    for (size_t k = 0; k < e->t->finals.count; k++) {
        const struct trace_word *w = &e->t->finals.data[k].word;
        if (!expand_asks_final(e, k))
            continue;
        uint32_t id = words_enter(e->o, &e->words, w->base, w->address, w->size_log2);
        if (id == NONE)
            return e->o->error.status;
        e->words.list.data[id].counts = true;
        e->words.list.data[id].accessed |= !e->keep;
    }
    return ORDEAL_OK;
}

enum ordeal_status expand_words(struct expansion *e)
{
    enum ordeal_status status = ORDEAL_OK;
    while (2u << e->part_log2 <= e->t->atomic)
        e->part_log2++;
    assert(1u << e->part_log2 == e->t->atomic && e->t->atomic <= TRACE_LINE_BYTES);
    e->groups = 1; /* the root */
    for (uint32_t t = 0; t < e->threads && !status; t++)
        status = count_thread(e, t);
    if (!status)
        status = enter_facts(e);
    if (!status)
        status = words_divide(e->o, &e->words, e->part_log2, &e->x->location, &e->x->locations);
    if (status)
        return status;
    e->events = e->x->locations;
    for (size_t i = 0; i < e->words.list.count; i++)
        e->events += e->words.list.data[i].events * e->words.list.data[i].count;
    if (e->events >= NONE / 2 || e->groups >= NONE / 2)
        return fail(e->o, ORDEAL_LIMIT, "%llu word accesses: more than this checker can number",
                    (unsigned long long)e->events);
    return ORDEAL_OK;
}

/* ---- emission ------------------------------------------------------------------------ */

/* The first entry for an operation >= op in one of the trace's side tables, which ascend by it
 * and begin with it. Asked for growing op from the last answer on, it only looks a little ahead. */
static size_t seek(const void *table, size_t item, size_t count, size_t hint, uint32_t op)
{
#define OP_AT(k) (*(const uint32_t *)((const char *)table + (k) * item))
    size_t low = hint < count && OP_AT(hint) <= op ? hint : 0, step = 1;
    while (low + step < count && OP_AT(low + step) < op) {
        low += step;
        step *= 2;
    }
    size_t high = low + step < count ? low + step : count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (OP_AT(middle) < op)
            low = middle + 1;
        else
            high = middle;
    }
    assert_hot((low == count || OP_AT(low) >= op) && (low == 0 || OP_AT(low - 1) < op));
    return low;
#undef OP_AT
}
#define SEEK(v, hint, op) seek((v)->data, sizeof *(v)->data, (v)->count, hint, op)

struct emitter {
    struct expansion *e;
    struct execution *x;
    uint32_t thread, instruction;
    uint32_t event, group, barrier;       /* next free */
    size_t time, reg;                     /* hints into the trace's side tables */
    struct words writers;                 /* register as base, thread as address: its last writer's
                                             groups are first and count */
    VEC(struct dependence) dependences;
    VEC(struct dependence) branches; /* those of SCs that did not store, for the next group */
    VEC(struct reservation) reservations;
    struct {
        uint32_t op, first, end;
    } reserved; /* by the last LR; op NONE: none stands */
    struct {
        bool inside, begin_known, end_unknown;
        uint32_t group;                   /* NONE until something is in it */
        uint64_t begin, end;
    } tx;
};

static uint32_t open_group(struct emitter *m, uint8_t flags)
{
    assert(m->group < m->e->groups);
    uint32_t g = m->group++;
    m->x->group_first[g] = m->event;
    m->x->group_flags[g] = flags;
    m->x->instruction[g] = m->instruction;
    m->x->thread_of[g] = m->thread;
    return g;
}

static void emit_events(struct emitter *m, const struct step *step, uint32_t g, bool store,
                        uint32_t first, uint32_t end)
{
    struct execution *x = m->x;
    uint64_t held = store ? step->write : step->read;
    uint64_t address = m->e->words.list.data[step->word].address;
    assert(first <= end && end <= x->locations && end - first <= m->e->events - m->event);
    x->group_flags[g] |= store ? GROUP_STORES : GROUP_LOADS;
    for (uint32_t l = first; l < end; l++) {
        const struct location *location = &x->location[l];
        uint32_t event = m->event++;
        x->is_store[event] = store;
        x->loc[event] = l;
        x->op[event] = step->op;
        x->group[event] = g;
        x->value[event] = slice(m->e->t, step->size_log2, held, location->address - address,
                                1u << location->size_log2);
    }
}

/* Words [first, end) of an access, all in one group: what is read comes before what is written. */
static void emit_part(struct emitter *m, const struct step *step, uint32_t g, uint32_t first,
                      uint32_t end)
{
    if (reads(step))
        emit_events(m, step, g, false, first, end);
    if (step->writes)
        emit_events(m, step, g, true, first, end);
}

/* What the operation is beside its kind. Inside a transaction it makes no difference. */
static uint8_t marks_of(const struct emitter *m, const struct step *step)
{
    const struct ordeal_op *op = &m->e->t->ops.data[step->op];
    unsigned marks = trace_marks(op);
    if (step->kind == ORDEAL_CAS && !step->writes)
        marks &= 1; /* one that did not store releases nothing */
    bool plain = step->kind == ORDEAL_LOAD || step->kind == ORDEAL_STORE;
    return (uint8_t)((marks & 1 ? GROUP_ACQUIRE : 0) | (marks & 2 ? GROUP_RELEASE : 0)
                     | (marks && !plain ? GROUP_RCSC : 0)
                     | (step->kind == ORDEAL_STORE_CONDITIONAL ? GROUP_CONDITIONAL : 0));
}

static void emit_in_parts(struct emitter *m, const struct step *step, uint32_t first, uint32_t end)
{
    uint8_t part_log2 = m->e->part_log2;
    for (uint32_t last; first < end; first = last) {
        uint64_t part = m->x->location[first].address >> part_log2;
        for (last = first; last < end && m->x->location[last].address >> part_log2 == part; last++)
            ;
        assert(last > first);
        emit_part(m, step, open_group(m, marks_of(m, step)), first, last);
    }
}

/* Cycles of operation i; unknown ones are 0 and UINT64_MAX. */
static struct trace_time times_of(struct emitter *m, uint32_t i)
{
    const struct ordeal_trace *t = m->e->t;
    struct trace_time time = { i, 0, UINT64_MAX };
    uint8_t flags = t->ops.data[i].flags;
    if (!(flags & (ORDEAL_HAS_BEGIN | ORDEAL_HAS_END)))
        return time;
    m->time = SEEK(&t->times, m->time, i);
    if (m->time < t->times.count && t->times.data[m->time].op == i) {
        if (flags & ORDEAL_HAS_BEGIN)
            time.begin = t->times.data[m->time].begin;
        if (flags & ORDEAL_HAS_END)
            time.end = t->times.data[m->time].end;
    }
    return time;
}

/* A transaction's access that does not say when is covered by the cycles of the brackets. */
static void time_in_tx(struct emitter *m, uint32_t i)
{
    struct trace_time time = times_of(m, i);
    uint8_t flags = m->e->t->ops.data[i].flags;
    if (time.begin < m->tx.begin && (flags & ORDEAL_HAS_BEGIN || !m->tx.begin_known))
        m->tx.begin = time.begin;
    if (!(flags & ORDEAL_HAS_END))
        m->tx.end_unknown = true;
    else if (time.end > m->tx.end)
        m->tx.end = time.end;
}

static void time_groups(struct emitter *m, uint32_t i, uint32_t first)
{
    struct trace_time time = times_of(m, i);
    for (uint32_t g = first; g < m->group; g++) {
        m->x->begin[g] = time.begin;
        m->x->end[g] = time.end;
    }
}

static bool depend(struct emitter *m, const struct word *writer, uint32_t to,
                   const struct trace_register *r)
{
    for (uint32_t from = writer->first; from < writer->first + writer->count; from++)
        if (from < to
            && !VEC_PUSH(m->e->o, &m->dependences,
                         ((struct dependence){ from, to, r->op, r->use })))
            return false;
    return true;
}

/* Operation i is an SC that did not store: a branch before it stands before the next access, too. */
static bool note_branches(struct emitter *m, uint32_t i)
{
    const struct ordeal_trace *t = m->e->t;
    for (size_t k = SEEK(&t->registers, 0, i); k < t->registers.count; k++) {
        const struct trace_register *r = &t->registers.data[k];
        if (r->op != i)
            break;
        bool branch = r->use == ORDEAL_REGISTER_CONTROL;
        uint32_t id = branch ? words_find(&m->writers, r->reg, m->thread, 0) : NONE;
        const struct word *w = id == NONE ? NULL : &m->writers.list.data[id];
        for (uint32_t n = 0; w && n < w->count; n++)
            if (!VEC_PUSH(m->e->o, &m->branches,
                          ((struct dependence){ w->first + n, NONE, i, ORDEAL_REGISTER_CONTROL })))
                return false;
    }
    return true;
}

/* The group is the next access behind them. */
static bool take_branches(struct emitter *m, uint32_t group)
{
    for (size_t k = 0; k < m->branches.count; k++) {
        struct dependence d = m->branches.data[k];
        d.to = group;
        if (d.from < group && !VEC_PUSH(m->e->o, &m->dependences, d))
            return false;
    }
    m->branches.count = 0;
    return true;
}

/* An operation that is left out has written its registers all the same: what reads them depends on
 * nobody, rather than on an older writer. */
static void forget_registers(struct emitter *m, uint32_t i)
{
    const struct ordeal_trace *t = m->e->t;
    for (size_t k = SEEK(&t->registers, 0, i); k < t->registers.count; k++) {
        const struct trace_register *r = &t->registers.data[k];
        if (r->op != i)
            break;
        bool written = r->use == ORDEAL_REGISTER_WRITTEN;
        uint32_t id = written ? words_find(&m->writers, r->reg, m->thread, 0) : NONE;
        if (id != NONE)
            m->writers.list.data[id].count = 0;
    }
}

/* What is left of an operation that is no access, or of no account. */
static bool leave_out(struct emitter *m, uint32_t i)
{
    bool failed = stored_nothing(&m->e->t->ops.data[i]) && kept(m->e, i);
    bool ok = !failed || note_branches(m, i);
    forget_registers(m, i);
    return ok;
}

/* The groups [first, end) of operation i: first they read its registers, then they write them. */
static enum ordeal_status emit_registers(struct emitter *m, uint32_t i, uint32_t first,
                                         uint32_t end)
{
    const struct ordeal_trace *t = m->e->t;
    m->reg = SEEK(&t->registers, m->reg, i);
    const struct trace_register *r = t->registers.data + m->reg;
    const struct trace_register *all = t->registers.data + t->registers.count;
    for (uint32_t to = first; to < end; to++)
        for (const struct trace_register *p = r; p < all && p->op == i; p++) {
            bool written = p->use == ORDEAL_REGISTER_WRITTEN;
            uint32_t id = written ? NONE : words_find(&m->writers, p->reg, m->thread, 0);
            if (id != NONE && !depend(m, &m->writers.list.data[id], to, p))
                return m->e->o->error.status;
        }
    for (; r < all && r->op == i; r++) {
        if (r->use != ORDEAL_REGISTER_WRITTEN)
            continue;
        uint32_t id = words_enter(m->e->o, &m->writers, r->reg, m->thread, 0);
        if (id == NONE)
            return m->e->o->error.status;
        m->writers.list.data[id].first = first;
        m->writers.list.data[id].count = end - first;
    }
    return ORDEAL_OK;
}

/* A store of the thread itself to a word that it reserved would come between. */
static bool overwrote_own(const struct emitter *m, uint32_t before)
{
    const struct execution *x = m->x;
    for (uint32_t e = m->reserved.end; e < before; e++)
        for (uint32_t l = m->reserved.first; x->is_store[e] && l < m->reserved.end; l++)
            if (x->loc[e] == x->loc[l])
                return true;
    return false;
}

static bool same_location(const struct ordeal_trace *t, uint32_t a, uint32_t b)
{
    const struct ordeal_op *p = &t->ops.data[a], *q = &t->ops.data[b];
    return p->base == q->base && p->address == q->address && p->size_log2 == q->size_log2;
}

/* Whatever an SC does, the reservation is used up; `event` is where its own events begin. */
static enum ordeal_status emit_conditional(struct emitter *m, const struct step *step,
                                           uint32_t group, uint32_t event)
{
    uint32_t lr = m->reserved.op, first = m->reserved.first, end = m->reserved.end;
    m->reserved.op = NONE;
    if (step->left_out)
        return ORDEAL_OK;
    if (lr == NONE)
        return refuse(m->e, step->op,
                      "the SC stored, but no LR of its thread stands before it "
                      "without another SC between");
    if (first == end || m->x->group[first] == group)
        return ORDEAL_OK; /* its LR is left out, or all of it happens at once */
    if (!same_location(m->e->t, lr, step->op))
        return refuse(m->e, step->op,
                      "the SC stored elsewhere than its LR reserved: that cannot "
                      "be judged");
    if (overwrote_own(m, event))
        return refuse(m->e, step->op,
                      "its own thread stores to the word between LR and SC: that "
                      "cannot be judged");
    struct reservation r = { first, end, group };
    return VEC_PUSH(m->e->o, &m->reservations, r) ? ORDEAL_OK : m->e->o->error.status;
}

/* LR and SC, when their events, [event, m->event), are there. */
static enum ordeal_status reserve(struct emitter *m, const struct step *step, uint32_t group,
                                  uint32_t event)
{
    if (step->kind == ORDEAL_STORE_CONDITIONAL)
        return emit_conditional(m, step, group, event);
    if (step->kind == ORDEAL_LOAD_RESERVED) {
        m->reserved.op = step->op;
        m->reserved.first = event;
        m->reserved.end = m->event;
    }
    return ORDEAL_OK;
}

static enum ordeal_status emit_access(struct emitter *m, const struct step *step)
{
    const struct word *word = &m->e->words.list.data[step->word];
    assert(word->accessed && word->count);
    uint32_t i = step->op, group = m->group, first = word->first, end = first + word->count;
    uint32_t event = m->event;
    if (m->tx.inside) {
        if (m->tx.group == NONE) {
            m->instruction++;
            m->tx.group = open_group(m, GROUP_TX);
        }
        group = m->tx.group;
        emit_part(m, step, group, first, end);
        if (m->x->begin)
            time_in_tx(m, i);
    } else {
        m->instruction++;
        if (in_parts(m->e, step))
            emit_in_parts(m, step, first, end);
        else
            emit_part(m, step, open_group(m, marks_of(m, step)), first, end);
        if (m->x->begin)
            time_groups(m, i, group);
    }
    enum ordeal_status status = reserve(m, step, group, event);
    if (!status && !take_branches(m, group))
        status = m->e->o->error.status;
    if (status)
        return status;
    return m->e->t->registers.count ? emit_registers(m, i, group, m->group) : ORDEAL_OK;
}

static void emit_barrier(struct emitter *m, uint32_t i, uint8_t mask)
{
    assert(m->barrier < m->e->barriers);
    m->x->barrier[m->barrier++] = (struct barrier){ m->group, i, mask };
}

static void begin_tx(struct emitter *m, uint32_t i)
{
    if (m->tx.inside)
        return;
    m->tx.inside = true;
    m->tx.group = NONE;
    m->tx.begin_known = m->e->t->ops.data[i].flags & ORDEAL_HAS_BEGIN;
    m->tx.begin = m->tx.begin_known ? times_of(m, i).begin : UINT64_MAX;
    m->tx.end_unknown = false;
    m->tx.end = 0;
}

static void end_tx(struct emitter *m, uint32_t i)
{
    assert(m->tx.inside);
    m->tx.inside = false;
    if (m->tx.group == NONE) {
        if (kept(m->e, i)) /* nothing in it: what TransMembar says of it remains */
            emit_barrier(m, i, ORDEAL_FULL);
        return;
    }
    if (!m->x->begin)
        return;
    if (m->e->t->ops.data[i].flags & ORDEAL_HAS_END) {
        uint64_t end = times_of(m, i).end;
        if (end > m->tx.end)
            m->tx.end = end;
    } else if (m->tx.end_unknown) {
        m->tx.end = UINT64_MAX;
    }
    m->x->begin[m->tx.group] = m->tx.begin;
    m->x->end[m->tx.group] = m->tx.end;
}

static enum ordeal_status emit_thread(struct emitter *m)
{
    struct expansion *e = m->e;
    m->x->thread_first[m->thread] = m->group;
    m->reserved.op = NONE;
    m->branches.count = 0;
    for (uint32_t at = e->first[m->thread]; at < e->end[m->thread]; at++) {
        const struct step *step = &e->step[at];
        switch (step->kind) {
        case ORDEAL_TX_BEGIN:
            begin_tx(m, step->op);
            break;
        case ORDEAL_TX_END:
            end_tx(m, step->op);
            break;
        case ORDEAL_MEMBAR:
            emit_barrier(m, step->op, e->t->ops.data[step->op].barrier);
            break;
        default: {
            if (step->left_out && !leave_out(m, step->op))
                return e->o->error.status;
            enum ordeal_status status = step->left_out ? reserve(m, step, NONE, m->event)
                                                       : emit_access(m, step);
            if (status)
                return status;
        }
        }
        if (limit_hit(e->o, "expansion", e->events ? (double)m->event / (double)e->events : -1))
            return e->o->error.status;
    }
    assert(!m->tx.inside); /* place_all() refused a transaction that never ends */
    return ORDEAL_OK;
}

static void emit_initial(struct emitter *m)
{
    struct execution *x = m->x;
    m->thread = NONE;
    open_group(m, GROUP_STORES);
    if (x->begin) {
        x->begin[0] = 0;
        x->end[0] = UINT64_MAX;
    }
    for (uint32_t l = 0; l < x->locations; l++) {
        x->is_store[l] = true;
        x->loc[l] = l;
        x->op[l] = NONE;
        x->group[l] = 0;
        x->value[l] = 0;
    }
    m->event = x->locations;
}

enum ordeal_status expand_emit(struct expansion *e)
{
    struct emitter m = { .e = e, .x = e->x };
    enum ordeal_status status = ORDEAL_OK;
    emit_initial(&m);
    for (m.thread = 0; m.thread < e->threads && !status; m.thread++)
        status = emit_thread(&m);
    words_free(e->o, &m.writers);
    VEC_FREE(e->o, &m.branches);
    if (!status && (!VEC_FIT(e->o, &m.dependences) || !VEC_FIT(e->o, &m.reservations)))
        status = e->o->error.status;
    if (status) {
        VEC_FREE(e->o, &m.dependences);
        VEC_FREE(e->o, &m.reservations);
        return status;
    }
    e->x->dependence = m.dependences.data;
    e->x->dependences = (uint32_t)m.dependences.count;
    e->x->reservation = m.reservations.data;
    e->x->reservations = (uint32_t)m.reservations.count;
    assert(m.event == e->events && m.group == e->groups && m.barrier == e->barriers);
    e->x->thread_first[e->threads] = m.group;
    e->x->group_first[m.group] = m.event;
    return ORDEAL_OK;
}

void expand_free_steps(struct expansion *e)
{
    mem_free(e->o, e->step, e->steps * sizeof *e->step);
    mem_free(e->o, e->first, (e->threads + 1) * sizeof *e->first);
    mem_free(e->o, e->end, e->threads * sizeof *e->end);
    e->step = NULL;
    e->first = e->end = NULL;
}

void expand_free(struct expansion *e)
{
    expand_free_steps(e);
    words_free(e->o, &e->words);
}
