/* SPDX-License-Identifier: Apache-2.0 */
#include "random_execution.h"

#include <string.h>

/* Each word has a region of its own, so that wide accesses to it stay inside. */
enum { REGION = ORACLE_WIDEST, MAX_DEPTH = 2 };

struct draft {
    struct oracle_execution *x;
    const struct random_shape *shape;
    unsigned features, words, stores;
    unsigned depth[ORACLE_THREADS];
    uint64_t random;
};

static unsigned below(struct draft *d, unsigned bound)
{
    return (unsigned)oracle_random(&d->random, bound);
}

static unsigned between(struct draft *d, unsigned least, unsigned most)
{
    return least >= most ? most : least + below(d, most - least + 1);
}

static bool percent(struct draft *d, unsigned chance) { return below(d, 100) < chance; }

static bool has(const struct draft *d, enum random_feature f) { return (d->features & f) != 0; }

/* ---- the operations ---------------------------------------------------------------------- */

static struct oracle_op *add_op(struct draft *d, unsigned thread, enum oracle_kind kind)
{
    struct oracle_op *op = &d->x->op[d->x->ops++];
    *op = (struct oracle_op){ .kind = kind, .thread = thread };
    return op;
}

static void choose_location(struct draft *d, struct oracle_op *op)
{
    static const unsigned sizes[] = { 1, 1, 2, 2, 4, 4, 4, 8, 8, 16 };
    bool crowded = has(d, RANDOM_CROWDED);
    unsigned word = below(d, d->words), choices = sizeof sizes / sizeof *sizes - crowded;
    op->size = has(d, RANDOM_MIXED) ? sizes[below(d, choices)] : 4;
    op->address = word * REGION;
    if (has(d, RANDOM_MIXED) && op->size < 8 && percent(d, 60)) /* crowd the first bytes */
        op->address += below(d, 8 / op->size) * op->size;
    else if (has(d, RANDOM_MIXED) && op->size == 8 && !crowded && percent(d, 20))
        op->address += 8;
}

/* A store's bytes: its number, and with mixed sizes the byte's place too, so that bytes of
 * different places differ; unique in each word unless duplicates are wanted. */
static void choose_value(struct draft *d, const struct oracle_op *op, uint8_t *bytes)
{
    unsigned number = has(d, RANDOM_DUPLICATES) ? below(d, 3) : ++d->stores;
    for (unsigned i = 0; i < op->size; i++) {
        unsigned place = (op->address + i) % 8;
        bytes[i] = has(d, RANDOM_MIXED) ? (uint8_t)(number + (place << 5)) : i == 0 ? number : 0;
        if (number == 0)
            bytes[i] = 0;
    }
}

static void choose_function(struct draft *d, struct oracle_op *op)
{
    op->function = (enum oracle_function)below(d, ORACLE_FUNCTIONS);
    op->size = op->size > 8 ? 8 : op->size;
}

static void choose_registers(struct draft *d, struct oracle_op *op)
{
    if (!has(d, RANDOM_REGISTERS))
        return;
    if (percent(d, 50))
        op->registers_read = 1u << below(d, 3);
    if (op->kind != ORACLE_STORE && percent(d, 60))
        op->registers_written = 1u << below(d, 3);
}

static void add_access(struct draft *d, unsigned thread)
{
    unsigned loads = has(d, RANDOM_CROWDED) ? 25 : 55;
    enum oracle_kind kind = percent(d, loads) ? ORACLE_LOAD : ORACLE_STORE;
    if (has(d, RANDOM_SWAPS) && percent(d, 20))
        kind = ORACLE_SWAP;
    if (has(d, RANDOM_CAS) && percent(d, 20))
        kind = ORACLE_CAS;
    if (has(d, RANDOM_AMOS) && percent(d, 20))
        kind = ORACLE_AMO;
    struct oracle_op *op = add_op(d, thread, kind);
    choose_location(d, op);
    if (kind == ORACLE_AMO)
        choose_function(d, op);
    if (kind != ORACLE_LOAD)
        choose_value(d, op, op->write);
    choose_registers(d, op);
}

static void add_membar(struct draft *d, unsigned thread)
{
    struct oracle_op *op = add_op(d, thread, ORACLE_MEMBAR);
    unsigned full = ORACLE_LL | ORACLE_LS | ORACLE_SL | ORACLE_SS;
    op->barrier = percent(d, 40) ? full : percent(d, 60) ? 1u << below(d, 4) : 1 + below(d, full);
}

static void add_bracket(struct draft *d, unsigned thread)
{
    unsigned *depth = &d->depth[thread];
    if (*depth > 0 && percent(d, 35)) {
        add_op(d, thread, percent(d, 75) ? ORACLE_TX_END : ORACLE_TX_ABORT);
        --*depth;
    }
    if (*depth < MAX_DEPTH && percent(d, 15)) {
        add_op(d, thread, ORACLE_TX_BEGIN);
        ++*depth;
    }
}

static void add_ops(struct draft *d)
{
    const struct random_shape *s = d->shape;
    bool few = has(d, RANDOM_MIXED) && !has(d, RANDOM_CROWDED);
    unsigned most = few && s->ops_most > 8 ? 8 : s->ops_most;
    unsigned count = between(d, between(d, s->ops_least, most), most);
    for (unsigned i = 0; i < count; i++) {
        unsigned thread = below(d, d->x->threads);
        if (has(d, RANDOM_TRANSACTIONS))
            add_bracket(d, thread);
        if (has(d, RANDOM_NO_EFFECT) && percent(d, 10))
            choose_location(d, add_op(d, thread, ORACLE_NOTHING));
        if (has(d, RANDOM_MEMBARS) && percent(d, 20))
            add_membar(d, thread);
        else
            add_access(d, thread);
    }
    for (unsigned t = 0; t < d->x->threads; t++)
        for (; d->depth[t] > 0; d->depth[t]--)
            add_op(d, t, percent(d, 80) ? ORACLE_TX_END : ORACLE_TX_ABORT);
}

/* ---- the values --------------------------------------------------------------------------- */

static bool writes(const struct oracle_op *op)
{
    return op->kind <= ORACLE_AMO && op->kind != ORACLE_LOAD;
}

/* What the bytes may have held: initially, then changed by stores to them. */
static void plausible_value(struct draft *d, unsigned address, unsigned size, uint8_t *bytes)
{
    unsigned changes = below(d, 4);
    memcpy(bytes, d->x->initial + address, size);
    for (unsigned tries = 0; changes > 0 && tries < 20; tries++) {
        const struct oracle_op *s = &d->x->op[below(d, d->x->ops)];
        if (!writes(s) || s->address + s->size <= address || address + size <= s->address)
            continue;
        uint8_t written[ORACLE_WIDEST];
        oracle_written(s, written);
        for (unsigned i = 0; i < size; i++)
            if (address + i - s->address < s->size)
                bytes[i] = written[address + i - s->address];
        changes--;
    }
}

static bool reads(const struct oracle_op *op)
{
    return op->kind <= ORACLE_AMO && op->kind != ORACLE_STORE;
}

static void choose_reads(struct draft *d)
{
    for (unsigned i = 0; i < d->x->ops; i++) {
        struct oracle_op *op = &d->x->op[i];
        if (reads(op))
            plausible_value(d, op->address, op->size, op->read);
        if (op->kind == ORACLE_CAS)
            plausible_value(d, op->address, op->size, op->compare);
    }
}

static void spoil_reads(struct draft *d)
{
    unsigned spoilt = 1 + below(d, 3);
    for (unsigned tries = 0; spoilt > 0 && tries < 50; tries++) {
        struct oracle_op *op = &d->x->op[below(d, d->x->ops)];
        if (!reads(op))
            continue;
        plausible_value(d, op->address, op->size, op->read);
        spoilt--;
    }
}

/* The final values of a few places that are accessed. */
static void choose_finals(struct draft *d)
{
    for (unsigned i = 0; i < d->x->ops; i++) {
        const struct oracle_op *op = &d->x->op[i];
        if (op->kind > ORACLE_AMO || op->size > 8 || !percent(d, 30))
            continue;
        for (unsigned k = 0; k < op->size; k++)
            d->x->final_known[op->address + k] = true;
        if (percent(d, 20))
            plausible_value(d, op->address, op->size, d->x->final + op->address);
    }
}

static bool takes_place(const struct oracle_op *op)
{
    return op->kind != ORACLE_CAS || memcmp(op->read, op->compare, op->size) == 0;
}

static void swap_ranks(struct oracle_op *a, struct oracle_op *b)
{
    unsigned rank = a->rank;
    if (a->address != b->address || a->rank == 0 || b->rank == 0)
        return;
    a->rank = b->rank;
    b->rank = rank;
}

/* AMOs may write what others write, too, or what was there at first. */
static bool writes_alone(const struct draft *d, const struct oracle_op *op)
{
    uint8_t bytes[ORACLE_WIDEST], other[ORACLE_WIDEST];
    oracle_written(op, bytes);
    if (!memcmp(bytes, d->x->initial + op->address, op->size))
        return false;
    for (const struct oracle_op *o = d->x->op; o < d->x->op + d->x->ops; o++) {
        oracle_written(o, other);
        if (o != op && writes(o) && o->address == op->address && !memcmp(bytes, other, op->size))
            return false;
    }
    return true;
}

/* Keep the store order of some words whole, of others in part, and spoil it now and then. Orders
 * are told by value, so only values that are unique can be spoken of. */
static void choose_ranks(struct draft *d)
{
    bool any = has(d, RANDOM_ORDER) && !has(d, RANDOM_DUPLICATES) && !has(d, RANDOM_MIXED);
    unsigned chance[ORACLE_MEMORY / REGION];
    for (unsigned w = 0; w < ORACLE_MEMORY / REGION; w++)
        chance[w] = !any || percent(d, 20) ? 0 : percent(d, 70) ? 100 : 60;
    for (unsigned i = 0; i < d->x->ops; i++) {
        struct oracle_op *op = &d->x->op[i];
        if (!takes_place(op) || !writes_alone(d, op) || !percent(d, chance[op->address / REGION]))
            op->rank = 0;
    }
    if (any && percent(d, 25))
        swap_ranks(&d->x->op[below(d, d->x->ops)], &d->x->op[below(d, d->x->ops)]);
}

static void run_some_machine(struct draft *d)
{
    enum oracle_model model = (enum oracle_model)below(d, ORACLE_MODELS);
    if (model == ORACLE_PC && oracle_has_transactions(d->x))
        model = ORACLE_TSO;
    oracle_run(model, d->x, &d->random);
}

static void choose_initial(struct draft *d)
{
    for (unsigned w = 0; w < d->words; w++) {
        struct oracle_op whole = { .address = w * REGION };
        whole.size = has(d, RANDOM_MIXED) ? REGION : 4;
        if (percent(d, 60))
            choose_value(d, &whole, d->x->initial + whole.address);
    }
}

static void crowd(struct draft *d)
{
    d->features |= RANDOM_MIXED | RANDOM_CROWDED;
    d->x->threads = between(d, 3, d->shape->threads);
    d->x->atomic = 8;
    d->words = between(d, 1, d->shape->words);
}

static void attempt(struct draft *d)
{
    memset(d->x, 0, sizeof *d->x);
    memset(d->depth, 0, sizeof d->depth);
    d->stores = 0;
    d->features = 0;
    for (unsigned f = 1; f <= RANDOM_AMOS; f *= 2)
        if (percent(d, f == RANDOM_MIXED || f == RANDOM_TRANSACTIONS ? 25 : 50))
            d->features |= f & d->shape->features;
    d->x->threads = between(d, percent(d, 95) ? 2 : 1, d->shape->threads);
    d->x->atomic = has(d, RANDOM_MIXED) ? 4u << (percent(d, 30) ? 1 + below(d, 2) : 0) : 4;
    d->words = between(d, percent(d, 80) ? 2 : 1, percent(d, 70) ? 2 : d->shape->words);
    if (d->shape->features & RANDOM_CROWDED)
        crowd(d);
    if (has(d, RANDOM_INITIAL))
        choose_initial(d);
    memcpy(d->x->final, d->x->initial, ORACLE_MEMORY);
    add_ops(d);
}

static void draw(struct draft *d)
{
    do
        attempt(d);
    while (!oracle_fits(d->x));
}

static void fill(struct draft *d)
{
    draw(d);
    choose_reads(d);
    unsigned way = below(d, 10);
    if (way < 9)
        run_some_machine(d);
    if (way >= 3 && way < 9)
        spoil_reads(d);
    if (has(d, RANDOM_FINAL))
        choose_finals(d);
    choose_ranks(d);
}

static bool tells_models_apart(const struct oracle_execution *x)
{
    bool sc = oracle_legal(ORACLE_SC, x);
    return sc != oracle_legal(ORACLE_RMO, x)
        || (!oracle_has_transactions(x) && sc != oracle_legal(ORACLE_PC, x));
}

void random_execution(const struct random_shape *shape, uint64_t seed, struct oracle_execution *x)
{
    struct draft d = { .x = x, .shape = shape, .random = seed };
    unsigned tries = percent(&d, 50) ? 12 : 1;
    do
        fill(&d);
    while (--tries > 0 && !tells_models_apart(x));
}

void random_run(const struct random_shape *shape, uint64_t seed, enum oracle_model model,
                struct oracle_execution *x)
{
    struct draft d = { .x = x, .shape = shape, .random = seed };
    draw(&d);
    choose_reads(&d); /* and what CAS compares with */
    oracle_run(model, x, &d.random);
    for (unsigned i = 0; i < x->ops; i++)
        x->op[i].rank = 0;
}

/* ---- as a trace ---------------------------------------------------------------------------- */

struct writer {
    struct ordeal_trace *t;
    const struct oracle_execution *x;
    bool named;
    uint32_t thread[ORACLE_THREADS];
};

static enum ordeal_status locate(const struct writer *w, unsigned address, uint32_t *base,
                                 uint64_t *place)
{
    char name = (char)('A' + address / REGION);
    *base = 0;
    *place = w->named ? address % REGION : 0x1000 + address;
    return w->named ? ordeal_trace_name(w->t, &name, 1, base) : ORDEAL_OK;
}

static uint8_t log2_of(unsigned size) { return (uint8_t)__builtin_ctz(size); }

static enum ordeal_status hold(const struct writer *w, const uint8_t *bytes, unsigned size,
                               uint64_t *value)
{
    if (size > 8)
        return ordeal_trace_bytes(w->t, bytes, size, value);
    *value = 0;
    for (unsigned i = 0; i < size; i++)
        *value |= (uint64_t)bytes[i] << 8 * i;
    return ORDEAL_OK;
}

static enum ordeal_status write_registers(const struct writer *w, const struct oracle_op *op)
{
    enum ordeal_status status = ORDEAL_OK;
    for (unsigned r = 0; r < ORACLE_REGISTERS && !status; r++) {
        if (op->registers_read >> r & 1)
            status = ordeal_trace_reads_register(w->t, r);
        if (op->registers_written >> r & 1 && !status)
            status = ordeal_trace_writes_register(w->t, r);
    }
    return status;
}

static enum ordeal_status write_op(const struct writer *w, const struct oracle_op *op)
{
    static const uint8_t kinds[] = {
        [ORACLE_LOAD] = ORDEAL_LOAD,         [ORACLE_STORE] = ORDEAL_STORE,
        [ORACLE_SWAP] = ORDEAL_SWAP,         [ORACLE_CAS] = ORDEAL_CAS,
        [ORACLE_AMO] = ORDEAL_AMO,           [ORACLE_MEMBAR] = ORDEAL_MEMBAR,
        [ORACLE_TX_BEGIN] = ORDEAL_TX_BEGIN, [ORACLE_TX_END] = ORDEAL_TX_END,
        [ORACLE_TX_ABORT] = ORDEAL_TX_ABORT, [ORACLE_NOTHING] = ORDEAL_PREFETCH,
    };
    static const struct { unsigned is, becomes; } flavours[] = {
        { ORACLE_LL, ORDEAL_LL }, { ORACLE_LS, ORDEAL_LS },
        { ORACLE_SL, ORDEAL_SL }, { ORACLE_SS, ORDEAL_SS },
    };
    static const uint8_t functions[] = {
        [ORACLE_ADD] = ORDEAL_AMO_ADD,   [ORACLE_AND] = ORDEAL_AMO_AND,
        [ORACLE_OR] = ORDEAL_AMO_OR,     [ORACLE_XOR] = ORDEAL_AMO_XOR,
        [ORACLE_MIN] = ORDEAL_AMO_MIN,   [ORACLE_MAX] = ORDEAL_AMO_MAX,
        [ORACLE_MINU] = ORDEAL_AMO_MINU, [ORACLE_MAXU] = ORDEAL_AMO_MAXU,
    };
    struct ordeal_op out = { .kind = kinds[op->kind], .thread = w->thread[op->thread] };
    uint64_t compare = 0;
    enum ordeal_status status = ORDEAL_OK;
    for (int f = 0; f < 4; f++)
        if (op->barrier & flavours[f].is)
            out.barrier |= (uint8_t)flavours[f].becomes;
    if (op->kind == ORACLE_AMO)
        out.function = functions[op->function];
    if (op->size > 0) {
        out.size_log2 = log2_of(op->size);
        out.flags = reads(op) ? ORDEAL_HAS_VALUE : 0;
        status = locate(w, op->address, &out.base, &out.address);
        if (!status)
            status = hold(w, op->read, op->size, &out.read);
        if (!status)
            status = hold(w, op->write, op->size, &out.write);
        if (!status)
            status = hold(w, op->compare, op->size, &compare);
    }
    if (!status)
        status = ordeal_trace_add(w->t, &out, compare);
    return status ? status : write_registers(w, op);
}

static enum ordeal_status write_initial(const struct writer *w)
{
    for (unsigned at = 0; at < ORACLE_MEMORY; at += 4) {
        uint32_t base;
        uint64_t place, value;
        enum ordeal_status status = hold(w, w->x->initial + at, 4, &value);
        if (value == 0)
            continue;
        if (!status)
            status = locate(w, at, &base, &place);
        if (!status)
            status = ordeal_trace_init(w->t, base, place, 2, value);
        if (status)
            return status;
    }
    return ORDEAL_OK;
}

/* Known final bytes, in the largest aligned pieces of at most 8. */
static enum ordeal_status write_finals(const struct writer *w)
{
    enum ordeal_status status = ORDEAL_OK;
    unsigned size;
    for (unsigned at = 0; at < ORACLE_MEMORY && !status; at += size) {
        uint32_t base;
        uint64_t place, value;
        for (size = 8; size > 1; size /= 2) {
            bool known = at % size == 0;
            for (unsigned i = 0; i < size && known; i++)
                known = w->x->final_known[at + i];
            if (known)
                break;
        }
        if (!w->x->final_known[at])
            continue;
        status = hold(w, w->x->final + at, size, &value);
        if (!status)
            status = locate(w, at, &base, &place);
        if (!status)
            status = ordeal_trace_final(w->t, base, place, log2_of(size), value);
    }
    return status;
}

static const struct oracle_op *next_in_order(const struct writer *w, unsigned address,
                                             unsigned rank)
{
    const struct oracle_op *next = NULL;
    for (unsigned i = 0; i < w->x->ops; i++) {
        const struct oracle_op *op = &w->x->op[i];
        if (op->address == address && op->rank > rank && (next == NULL || op->rank < next->rank))
            next = op;
    }
    return next;
}

static enum ordeal_status write_orders(const struct writer *w)
{
    enum ordeal_status status = ORDEAL_OK;
    for (unsigned at = 0; at < ORACLE_MEMORY && !status; at += REGION) {
        uint64_t values[ORACLE_OPS], place;
        uint32_t base;
        size_t count = 0;
        const struct oracle_op *op = next_in_order(w, at, 0);
        for (; op != NULL && !status; op = next_in_order(w, at, op->rank)) {
            uint8_t written[ORACLE_WIDEST];
            oracle_written(op, written);
            status = hold(w, written, op->size, &values[count++]);
        }
        if (count == 0)
            continue;
        if (!status)
            status = locate(w, at, &base, &place);
        if (!status)
            status = ordeal_trace_order(w->t, base, place, 2, values, count);
    }
    return status;
}

static enum ordeal_status write_trace(struct writer *w)
{
    enum ordeal_status status = ORDEAL_OK;
    for (uint32_t i = 0; i < w->x->threads && !status; i++)
        status = ordeal_trace_thread(w->t, i, &w->thread[i]);
    if (w->x->atomic != 4)
        ordeal_trace_atomic(w->t, w->x->atomic);
    if (!status)
        status = write_initial(w);
    if (!status)
        status = write_finals(w);
    if (!status)
        status = write_orders(w);
    for (unsigned i = 0; i < w->x->ops && !status; i++)
        status = write_op(w, &w->x->op[i]);
    return status;
}

enum ordeal_status execution_trace(struct ordeal *o, const struct oracle_execution *x,
                                   uint64_t seed, struct ordeal_trace **trace)
{
    struct writer w = { .t = ordeal_trace_new(o), .x = x, .named = seed % 2 };
    if (w.t == NULL)
        return ORDEAL_NO_MEMORY;
    enum ordeal_status status = write_trace(&w);
    if (status)
        ordeal_trace_free(w.t);
    else
        *trace = w.t;
    return status;
}
