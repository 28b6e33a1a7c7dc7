/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle against the axioms: tiny executions, all total orders, each axiom evaluated as it
 * is written in chapters 2 and 5.3 of the thesis (PSO as Linden and Wolper write it). */
#include "random_execution.h"
#include "unity.h"

#include <stdio.h>
#include <string.h>

void setUp(void) {}
void tearDown(void) {}

/* ---- the axioms ------------------------------------------------------------------------- */

enum { MAX_EVENTS = 8, NO_TRANSACTION = -1 };

/* A memory operation, or under PC a sub-operation: Op(view). */
struct event {
    unsigned thread, op;                  /* op: its place in program order */
    bool store;
    unsigned address, size, view;
    int transaction;
};

struct problem {
    enum oracle_model model;
    const struct oracle_execution *x;
    bool gone[ORACLE_OPS];                /* in an aborted transaction, or without effect */
    unsigned events;
    struct event event[MAX_EVENTS];
    bool before[MAX_EVENTS][MAX_EVENTS];  /* what the axioms of program order ask for */
    bool depends[MAX_EVENTS][MAX_EVENTS]; /* RMO: <_d */
    unsigned place[MAX_EVENTS];           /* in the memory order that is being tried */
};

static const struct oracle_op *op_of(const struct problem *p, const struct event *e)
{
    return &p->x->op[e->op];
}

static bool program_order(const struct event *a, const struct event *b)
{
    if (a->thread != b->thread)
        return false;
    return a->op < b->op || (a->op == b->op && !a->store && b->store);
}

static bool same_location(const struct event *a, const struct event *b)
{
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

static bool is_swap(const struct problem *p, const struct event *e)
{
    const struct oracle_op *op = op_of(p, e);
    return op->kind == ORACLE_SWAP || op->kind == ORACLE_AMO
        || (op->kind == ORACLE_CAS && memcmp(op->read, op->compare, op->size) == 0);
}

/* a; M; b. The boundaries of a transaction are membars of all flavours (TransMembar). */
static bool membar_between(const struct problem *p, const struct event *a, const struct event *b,
                           unsigned flavour)
{
    for (unsigned i = a->op + 1; i < b->op; i++) {
        const struct oracle_op *m = &p->x->op[i];
        if (m->thread != a->thread || p->gone[i])
            continue;
        if (m->kind == ORACLE_TX_BEGIN || m->kind == ORACLE_TX_END
            || (m->kind == ORACLE_MEMBAR && m->barrier & flavour))
            return true;
    }
    return false;
}

static bool reads_register_of(const struct problem *p, const struct event *a, const struct event *b)
{
    for (unsigned r = 0; r < ORACLE_REGISTERS; r++) {
        unsigned writer = ORACLE_OPS;
        if (!(op_of(p, b)->registers_read >> r & 1))
            continue;
        for (unsigned i = 0; i < b->op; i++)
            if (p->x->op[i].thread == b->thread && !p->gone[i]
                && p->x->op[i].registers_written >> r & 1)
                writer = i;
        if (writer == a->op && !a->store)
            return true;
    }
    return false;
}

static void find_dependence_order(struct problem *p)
{
    unsigned n = p->events;
    for (unsigned a = 0; a < n; a++)
        for (unsigned b = 0; b < n; b++) {
            const struct event *x = &p->event[a], *y = &p->event[b];
            p->depends[a][b] = program_order(x, y)
                && (reads_register_of(p, x, y)
                    || (same_location(x, y) && (x->store || y->store)));
        }
    for (unsigned k = 0; k < n; k++)
        for (unsigned a = 0; a < n; a++)
            for (unsigned b = 0; b < n; b++)
                p->depends[a][b] |= p->depends[a][k] && p->depends[k][b];
}

static bool kept_by_model(const struct problem *p, unsigned i, unsigned k)
{
    const struct event *a = &p->event[i], *b = &p->event[k];
    bool store_store = a->store && b->store, store_load = a->store && !b->store;
    switch (p->model) {
    case ORACLE_SC: /* OpOp */
        return true;
    case ORACLE_TSO: /* LoadOp, StoreStore, Membar */
    case ORACLE_PC:
        return !a->store || store_store || membar_between(p, a, b, ORACLE_SL);
    case ORACLE_PSO:
        return !a->store || (store_store && same_location(a, b))
            || (store_store && membar_between(p, a, b, ORACLE_SS))
            || (store_load && membar_between(p, a, b, ORACLE_SL));
    default: { /* DepLoadOp, DepOpStoreSameAddr, Membar */
        unsigned flavour = a->store ? b->store ? ORACLE_SS : ORACLE_SL
                                    : b->store ? ORACLE_LS : ORACLE_LL;
        return (p->depends[i][k] && (!a->store || (b->store && same_location(a, b))))
            || membar_between(p, a, b, flavour);
    }
    }
}

static void find_order(struct problem *p)
{
    find_dependence_order(p);
    for (unsigned i = 0; i < p->events; i++)
        for (unsigned k = 0; k < p->events; k++) {
            const struct event *a = &p->event[i], *b = &p->event[k];
            bool together = a->transaction != NO_TRANSACTION && a->transaction == b->transaction;
            p->before[i][k] = program_order(a, b)
                && (together || a->op == b->op /* Atomicity: L < S */ || kept_by_model(p, i, k));
        }
}

static uint8_t byte_written(const struct problem *p, const struct event *store, unsigned address)
{
    uint8_t bytes[ORACLE_WIDEST];
    oracle_written(op_of(p, store), bytes);
    return bytes[address - op_of(p, store)->address];
}

/* Max over { S < L } and { S; L }, byte by byte. */
static uint8_t value_of_byte(const struct problem *p, unsigned load, unsigned address)
{
    const struct event *l = &p->event[load], *latest = NULL;
    unsigned latest_place = 0;
    for (unsigned i = 0; i < p->events; i++) {
        const struct event *s = &p->event[i];
        bool candidate = s->store && address - s->address < s->size && s->view == l->view
            && (p->place[i] < p->place[load] || program_order(s, l));
        if (candidate && (latest == NULL || p->place[i] > latest_place)) {
            latest = s;
            latest_place = p->place[i];
        }
    }
    if (latest == NULL)
        return p->x->initial[address];
    return byte_written(p, latest, address);
}

static bool value_holds(const struct problem *p)
{
    for (unsigned i = 0; i < p->events; i++) {
        const struct event *l = &p->event[i];
        for (unsigned k = 0; !l->store && k < l->size; k++)
            if (value_of_byte(p, i, l->address + k)
                != op_of(p, l)->read[l->address + k - op_of(p, l)->address])
                return false;
    }
    return true;
}

/* The last store to a byte wrote its final value; under PC it is last in every view. */
static bool final_values_hold(const struct problem *p)
{
    for (unsigned at = 0; at < ORACLE_MEMORY; at++) {
        uint8_t value = p->x->initial[at];
        unsigned latest = 0;
        for (unsigned i = 0; i < p->events; i++) {
            const struct event *s = &p->event[i];
            if (s->store && at - s->address < s->size && p->place[i] >= latest) {
                latest = p->place[i];
                value = byte_written(p, s, at);
            }
        }
        if (p->x->final_known[at] && p->x->final[at] != value)
            return false;
    }
    return true;
}

/* No other operation comes between the parts of a swap, or between those of a transaction. */
static bool atomicity_holds(const struct problem *p)
{
    for (unsigned i = 0; i < p->events; i++)
        for (unsigned k = 0; k < p->events; k++) {
            const struct event *a = &p->event[i], *b = &p->event[k];
            bool swap = a->op == b->op && is_swap(p, a);
            bool transaction = a->transaction != NO_TRANSACTION
                && a->transaction == b->transaction;
            if (!swap && !transaction)
                continue;
            for (unsigned m = 0; m < p->events; m++) {
                bool member = p->event[m].op == a->op
                    || (transaction && p->event[m].transaction == a->transaction);
                if (!member && p->place[i] < p->place[m] && p->place[m] < p->place[k])
                    return false;
            }
        }
    return true;
}

/* The index of the sub-operation of e's store in a view. */
static unsigned in_view(const struct problem *p, const struct event *e, unsigned view)
{
    for (unsigned i = 0;; i++)
        if (p->event[i].op == e->op && p->event[i].store && p->event[i].address == e->address
            && p->event[i].view == view)
            return i;
}

static bool coherence_holds(const struct problem *p)
{
    for (unsigned i = 0; i < p->events; i++)
        for (unsigned k = 0; k < p->events; k++) {
            const struct event *a = &p->event[i], *b = &p->event[k];
            if (i == k || !a->store || !b->store || a->view != b->view || !same_location(a, b)
                || p->place[i] > p->place[k])
                continue;
            for (unsigned q = 0; q < p->x->threads; q++)
                if (p->place[in_view(p, a, q)] > p->place[in_view(p, b, q)])
                    return false;
        }
    return true;
}

/* PC: S'(p) < L(i) or S(p) < S'(p), for each swap [L; S] and other store S' to the location. */
static bool pc_atomicity_holds(const struct problem *p)
{
    for (unsigned l = 0; l < p->events; l++) {
        const struct event *load = &p->event[l];
        if (load->store || !is_swap(p, load))
            continue;
        for (unsigned k = 0; k < p->events; k++) {
            const struct event *other = &p->event[k];
            if (other->store && other->op != load->op && same_location(other, load)
                && p->place[k] > p->place[l]
                && p->place[in_view(p, load, other->view)] > p->place[k])
                return false;
        }
    }
    return true;
}

static bool known_order_holds(const struct problem *p)
{
    for (unsigned i = 0; i < p->events; i++)
        for (unsigned k = 0; k < p->events; k++) {
            const struct event *a = &p->event[i], *b = &p->event[k];
            unsigned first = op_of(p, a)->rank, second = op_of(p, b)->rank;
            if (a->store && b->store && a->view == b->view && a->address == b->address
                && 0 < first && first < second && p->place[i] > p->place[k])
                return false;
        }
    return true;
}

static bool order_is_legal(const struct problem *p)
{
    if (!value_holds(p) || !final_values_hold(p) || !known_order_holds(p))
        return false;
    if (p->model == ORACLE_PC)
        return coherence_holds(p) && pc_atomicity_holds(p);
    return atomicity_holds(p);
}

/* Every total order that keeps what must be kept. */
static bool some_order_is_legal(struct problem *p, unsigned placed, bool *taken)
{
    if (placed == p->events)
        return order_is_legal(p);
    for (unsigned i = 0; i < p->events; i++) {
        bool free = !taken[i];
        for (unsigned k = 0; free && k < p->events; k++)
            free = taken[k] || !p->before[k][i];
        if (!free)
            continue;
        taken[i] = true;
        p->place[i] = placed;
        bool legal = some_order_is_legal(p, placed + 1, taken);
        taken[i] = false;
        if (legal)
            return true;
    }
    return false;
}

/* ---- from an execution to its memory operations -------------------------------------------- */

static void find_gone(struct problem *p)
{
    for (unsigned i = 0; i < p->x->ops; i++) {
        const struct oracle_op *op = &p->x->op[i];
        p->gone[i] |= op->kind == ORACLE_NOTHING;
        if (op->kind != ORACLE_TX_BEGIN)
            continue;
        unsigned depth = 0, end = i;
        for (unsigned k = i; k < p->x->ops; k++) {
            const struct oracle_op *o = &p->x->op[k];
            if (o->thread != op->thread)
                continue;
            depth += o->kind == ORACLE_TX_BEGIN;
            depth -= o->kind == ORACLE_TX_END || o->kind == ORACLE_TX_ABORT;
            if (depth == 0) {
                end = k;
                break;
            }
        }
        for (unsigned k = i; k <= end && p->x->op[end].kind == ORACLE_TX_ABORT; k++)
            p->gone[k] |= p->x->op[k].thread == op->thread;
    }
}

static bool add_event(struct problem *p, struct event e)
{
    unsigned views = p->model == ORACLE_PC && e.store ? p->x->threads : 1;
    for (unsigned v = 0; v < views; v++) {
        if (p->events == MAX_EVENTS)
            return false;
        e.view = p->model != ORACLE_PC ? 0 : e.store ? v : e.thread;
        p->event[p->events++] = e;
    }
    return true;
}

static bool add_events(struct problem *p, unsigned i, int transaction)
{
    const struct oracle_op *op = &p->x->op[i];
    bool plain = op->kind == ORACLE_LOAD || op->kind == ORACLE_STORE;
    unsigned part = plain && transaction == NO_TRANSACTION && op->size > p->x->atomic
        ? p->x->atomic : op->size;
    for (unsigned at = op->address; at < op->address + op->size; at += part) {
        struct event e = { op->thread, i, false, at, part, 0, transaction };
        if (op->kind != ORACLE_STORE && !add_event(p, e))
            return false;
        e.store = true;
        if ((op->kind == ORACLE_STORE || is_swap(p, &e)) && !add_event(p, e))
            return false;
    }
    return true;
}

/* False: too large to try all orders. */
static bool pose(struct problem *p, enum oracle_model model, const struct oracle_execution *x)
{
    unsigned depth[ORACLE_THREADS] = { 0 };
    int transactions = 0, open[ORACLE_THREADS];
    *p = (struct problem){ .model = model, .x = x };
    find_gone(p);
    for (unsigned t = 0; t < ORACLE_THREADS; t++)
        open[t] = NO_TRANSACTION;
    for (unsigned i = 0; i < x->ops; i++) {
        const struct oracle_op *op = &x->op[i];
        unsigned t = op->thread;
        if (p->gone[i])
            continue;
        if (op->kind == ORACLE_TX_BEGIN && depth[t]++ == 0)
            open[t] = transactions++;
        if (op->kind == ORACLE_TX_END && --depth[t] == 0)
            open[t] = NO_TRANSACTION;
        if (op->kind <= ORACLE_AMO && !add_events(p, i, open[t]))
            return false;
    }
    find_order(p);
    return true;
}

/* ---- comparison ------------------------------------------------------------------------- */

static const char *const model_names[ORACLE_MODELS] = { "SC", "TSO", "PSO", "PC", "RMO" };

static void print_execution(const struct oracle_execution *x, uint64_t seed)
{
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *t;
    if (execution_trace(o, x, seed, &t) == ORDEAL_OK) {
        ordeal_write_text(t, stdout);
        ordeal_trace_free(t);
    }
    ordeal_free(o);
}

static void agree_on_random_executions(enum oracle_model model)
{
    enum { WANTED = 3000 };
    const struct random_shape shape = {
        .threads = 3, .words = 2, .ops_least = 2, .ops_most = 6,
        .features = model == ORACLE_PC ? RANDOM_ALL & ~RANDOM_TRANSACTIONS : RANDOM_ALL,
    };
    unsigned compared = 0, legal = 0;
    for (uint64_t seed = 1; compared < WANTED; seed++) {
        struct oracle_execution x;
        struct problem p;
        bool taken[MAX_EVENTS] = { false };
        random_execution(&shape, seed, &x);
        if (!pose(&p, model, &x))
            continue;
        bool expected = some_order_is_legal(&p, 0, taken);
        if (oracle_legal(model, &x) != expected) {
            char message[64];
            print_execution(&x, seed);
            snprintf(message, sizeof message, "%s: the axioms say %s, seed %llu",
                     model_names[model], expected ? "legal" : "illegal", (unsigned long long)seed);
            TEST_FAIL_MESSAGE(message);
        }
        compared++;
        legal += expected;
    }
    TEST_ASSERT_GREATER_THAN_UINT(WANTED / 8, legal);
    TEST_ASSERT_LESS_THAN_UINT(WANTED - WANTED / 8, legal);
}

static void test_sc_agrees_with_its_axioms(void) { agree_on_random_executions(ORACLE_SC); }
static void test_tso_agrees_with_its_axioms(void) { agree_on_random_executions(ORACLE_TSO); }
static void test_pso_agrees_with_its_axioms(void) { agree_on_random_executions(ORACLE_PSO); }
static void test_pc_agrees_with_its_axioms(void) { agree_on_random_executions(ORACLE_PC); }
static void test_rmo_agrees_with_its_axioms(void) { agree_on_random_executions(ORACLE_RMO); }

/* What a machine did is legal for that machine. */
static void test_runs_are_legal(void)
{
    const struct random_shape shape = { 4, 4, 3, 14, RANDOM_ALL & ~RANDOM_TRANSACTIONS };
    for (uint64_t seed = 1; seed <= 500; seed++)
        for (int model = 0; model < ORACLE_MODELS; model++) {
            struct oracle_execution x;
            uint64_t random = seed;
            random_execution(&shape, seed, &x);
            oracle_run((enum oracle_model)model, &x, &random);
            TEST_ASSERT_TRUE_MESSAGE(oracle_legal((enum oracle_model)model, &x),
                                     model_names[model]);
        }
}

/* ---- executions whose verdicts are known ---------------------------------------------------- */

enum { A = 0, B = 16, C = 32, R1 = 1, R2 = 2 };
#define LOAD(T, WHERE, VALUE) \
    { .kind = ORACLE_LOAD, .thread = T, .address = WHERE, .size = 4, .read = { VALUE } }
#define STORE(T, WHERE, VALUE) \
    { .kind = ORACLE_STORE, .thread = T, .address = WHERE, .size = 4, .write = { VALUE } }
#define SWAP(T, WHERE, OLD, NEW) \
    { .kind = ORACLE_SWAP, .thread = T, .address = WHERE, .size = 4, .read = { OLD }, \
      .write = { NEW } }
/* clang-format off */
#define AMO(T, FUNCTION, WHERE, OLD, OPERAND) \
    { .kind = ORACLE_AMO, .function = ORACLE_##FUNCTION, .thread = T, .address = WHERE, .size = 4, \
      .read = { OLD }, .write = { OPERAND } }
/* clang-format on */
#define LOAD_REGISTERS(T, WHERE, VALUE, NEEDS, GIVES) \
    { .kind = ORACLE_LOAD, .thread = T, .address = WHERE, .size = 4, .read = { VALUE }, \
      .registers_read = NEEDS, .registers_written = GIVES }
#define STORE_REGISTERS(T, WHERE, VALUE, NEEDS) \
    { .kind = ORACLE_STORE, .thread = T, .address = WHERE, .size = 4, .write = { VALUE }, \
      .registers_read = NEEDS }
#define TX(T, WHAT) { .kind = ORACLE_TX_##WHAT, .thread = T }
#define MEMBAR(T, FLAVOURS) { .kind = ORACLE_MEMBAR, .thread = T, .barrier = FLAVOURS }

struct known { const char *name, *legal; struct oracle_execution x; };

#define X(THREADS, OPS, ...) \
    { .threads = THREADS, .ops = OPS, .atomic = 4, .op = { __VA_ARGS__ } }

/* clang-format off */
static const struct known known[] = {
    { "Figure 2.3(a), write atomicity", "PC RMO",
      X(3, 5, STORE(0, A, 1), LOAD(1, A, 1), STORE(1, B, 2), LOAD(2, B, 2), LOAD(2, A, 0)) },
    { "Figure 2.3(a) with membars on P2 and P3", "PC",
      X(3, 7, STORE(0, A, 1), LOAD(1, A, 1), MEMBAR(1, 15), STORE(1, B, 2), LOAD(2, B, 2),
        MEMBAR(2, 15), LOAD(2, A, 0)) },
    { "Figure 2.3(b), store buffers", "TSO PSO PC RMO",
      X(2, 4, STORE(0, A, 1), LOAD(0, B, 0), STORE(1, B, 2), LOAD(1, A, 0)) },
    { "Figure 2.3(b) with membars", "",
      X(2, 6, STORE(0, A, 1), MEMBAR(0, ORACLE_SL), LOAD(0, B, 0), STORE(1, B, 2),
        MEMBAR(1, ORACLE_SL), LOAD(1, A, 0)) },
    { "Figure 2.3(c), a later load sees an older value", "RMO",
      X(2, 4, STORE(0, A, 1), STORE(0, A, 2), LOAD(1, A, 2), LOAD(1, A, 1)) },
    { "stores to two words seen out of order", "PSO RMO",
      X(2, 4, STORE(0, A, 1), STORE(0, B, 1), LOAD(1, B, 1), LOAD(1, A, 0)) },
    { "the same with a membar between the stores", "RMO",
      X(2, 5, STORE(0, A, 1), MEMBAR(0, ORACLE_SS), STORE(0, B, 1), LOAD(1, B, 1),
        LOAD(1, A, 0)) },
    { "the same with the wrong membar", "PSO RMO",
      X(2, 5, STORE(0, A, 1), MEMBAR(0, ORACLE_SL), STORE(0, B, 1), LOAD(1, B, 1),
        LOAD(1, A, 0)) },
    { "store forwarding", "TSO PSO PC RMO",
      X(2, 6, STORE(0, A, 1), LOAD(0, A, 1), LOAD(0, B, 0), STORE(1, B, 1), LOAD(1, B, 1),
        LOAD(1, A, 0)) },
    { "swaps in place of the stores", "PC RMO",
      X(2, 4, SWAP(0, A, 0, 1), LOAD(0, B, 0), SWAP(1, B, 0, 1), LOAD(1, A, 0)) },
    { "two swaps cannot both see the initial value", "",
      X(2, 2, SWAP(0, A, 0, 1), SWAP(1, A, 0, 2)) },
    { "AMOs in place of the stores", "PC RMO",
      X(2, 4, AMO(0, ADD, A, 0, 1), LOAD(0, B, 0), AMO(1, OR, B, 0, 1), LOAD(1, A, 0)) },
    { "two sums of one value cannot both be there", "",
      X(2, 2, AMO(0, ADD, A, 0, 1), AMO(1, ADD, A, 0, 1)) },
    { "but one of them may see the other", "SC TSO PSO PC RMO",
      X(2, 3, AMO(0, ADD, A, 1, 1), AMO(1, ADD, A, 0, 1), LOAD(1, A, 2)) },
    { "an AMO that changes nothing is a store all the same", "SC TSO PSO PC RMO",
      X(2, 3, AMO(0, MAXU, A, 0, 0), AMO(1, AND, A, 0, 7), LOAD(1, A, 0)) },
    { "transactions that only store let nothing pass", "",
      X(2, 8, TX(0, BEGIN), STORE(0, A, 1), TX(0, END), LOAD(0, B, 0),
        TX(1, BEGIN), STORE(1, B, 1), TX(1, END), LOAD(1, A, 0)) },
    { "and empty ones are membars", "",
      X(2, 8, STORE(0, A, 1), TX(0, BEGIN), TX(0, END), LOAD(0, B, 0),
        STORE(1, B, 1), TX(1, BEGIN), TX(1, END), LOAD(1, A, 0)) },
    { "but aborted ones are nothing", "TSO PSO RMO",
      X(2, 8, STORE(0, A, 1), TX(0, BEGIN), TX(0, ABORT), LOAD(0, B, 0),
        STORE(1, B, 1), TX(1, BEGIN), TX(1, ABORT), LOAD(1, A, 0)) },
    { "dependence passes through a store and its forwarded value", "",
      X(2, 7, LOAD_REGISTERS(0, A, 1, 0, R1), STORE_REGISTERS(0, C, 1, R1),
        LOAD_REGISTERS(0, C, 1, 0, R2), LOAD_REGISTERS(0, B, 0, R2, 0),
        STORE(1, B, 2), MEMBAR(1, ORACLE_SS), STORE(1, A, 1)) },
    { "without the last link it does not", "RMO",
      X(2, 7, LOAD_REGISTERS(0, A, 1, 0, R1), STORE_REGISTERS(0, C, 1, R1),
        LOAD_REGISTERS(0, C, 1, 0, R2), LOAD(0, B, 0),
        STORE(1, B, 2), MEMBAR(1, ORACLE_SS), STORE(1, A, 1)) },
    { "a load sees a later store of its own thread", "",
      X(1, 2, LOAD(0, A, 1), STORE(0, A, 1)) },
};
/* clang-format on */

static void test_known_verdicts(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char legal[32] = "", *end = legal;
        for (int m = 0; m < ORACLE_MODELS; m++)
            if (!(m == ORACLE_PC && oracle_has_transactions(&known[i].x))
                && oracle_legal((enum oracle_model)m, &known[i].x))
                end += sprintf(end, "%s%s", end > legal ? " " : "", model_names[m]);
        TEST_ASSERT_EQUAL_STRING_MESSAGE(known[i].legal, legal, known[i].name);
    }
}

/* The functions, at the edges of each size: 0x7f.., 0x80.., 0xff... */
static void test_functions(void)
{
    static const struct {
        enum oracle_function f;
        uint8_t size, a, b, low, high;
    } cases[] = {
        { ORACLE_ADD, 1, 0xff, 2, 1, 1 },           { ORACLE_ADD, 4, 0xff, 0xff, 0xfe, 0xff },
        { ORACLE_AND, 2, 0x3c, 0x0f, 0x0c, 0x0c },  { ORACLE_OR, 8, 0x30, 0x05, 0x35, 0x35 },
        { ORACLE_XOR, 4, 0xff, 0x0f, 0xf0, 0xf0 },  { ORACLE_MIN, 4, 0x80, 0x7f, 0x80, 0x80 },
        { ORACLE_MAX, 4, 0x80, 0x7f, 0x7f, 0x7f },  { ORACLE_MINU, 8, 0x80, 0x7f, 0x7f, 0x7f },
        { ORACLE_MAXU, 2, 0x80, 0x7f, 0x80, 0x80 }, { ORACLE_MIN, 1, 5, 5, 5, 5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t a[8], b[8], size = cases[i].size;
        memset(a, cases[i].a, sizeof a);
        memset(b, cases[i].b, sizeof b);
        oracle_amo(cases[i].f, size, a, b);
        TEST_ASSERT_EQUAL_HEX8(cases[i].low, a[0]);
        TEST_ASSERT_EQUAL_HEX8(cases[i].high, a[size - 1]);
        if (size < 8)
            TEST_ASSERT_EQUAL_HEX8(cases[i].a, a[size]); /* and nothing above it */
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_functions);
    RUN_TEST(test_known_verdicts);
    RUN_TEST(test_sc_agrees_with_its_axioms);
    RUN_TEST(test_tso_agrees_with_its_axioms);
    RUN_TEST(test_pso_agrees_with_its_axioms);
    RUN_TEST(test_pc_agrees_with_its_axioms);
    RUN_TEST(test_rmo_agrees_with_its_axioms);
    RUN_TEST(test_runs_are_legal);
    return UNITY_END();
}
