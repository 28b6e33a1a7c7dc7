/* SPDX-License-Identifier: Apache-2.0 */
/* The exploration of `ordeal monitor` against plain enumeration, on random small programs: as many traces,
 * interleavings and borderline ones as there are among all interleavings; and a borderline execution
 * exactly where a machine with store buffers, of which all is tried, does what SC cannot.
 *
 * PROGRAMS in the environment says how many, and FIRST from which seed on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpor.h"
#include "oracle.h"
#include "tiny.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : usual;
}

/* ---- programs ------------------------------------------------------------------------------ */

static struct tiny_op random_op(uint64_t *random, unsigned left)
{
    static const enum tiny_kind kinds[] = { TINY_LOAD,  TINY_LOAD,  TINY_LOAD,  TINY_STORE,
                                            TINY_STORE, TINY_STORE, TINY_STORE, TINY_FENCE,
                                            TINY_SWAP,  TINY_SKIP };
    struct tiny_op op = { .kind = kinds[oracle_random(random, sizeof kinds / sizeof *kinds)],
                          .size = 4,
                          .source = TINY_REGISTERS };
    op.address = (uint8_t)(4 * oracle_random(random, TINY_WORDS));
    op.target = (uint8_t)oracle_random(random, 2);
    op.value = 1 + (uint32_t)oracle_random(random, 3);
    if (op.kind == TINY_FENCE)
        op.order = TINY_FULL;
    if (op.kind == TINY_SWAP)
        op.order = TINY_RL | TINY_AQ;
    if (op.kind == TINY_SKIP) {
        op.source = (uint8_t)oracle_random(random, 2);
        op.value = (uint32_t)oracle_random(random, 2);
        op.distance = left ? 1 : 0;
    }
    return op;
}

static void draw(struct tiny_program *p, uint64_t seed)
{
    uint64_t random = seed;
    memset(p, 0, sizeof *p);
    p->threads = 2 + (unsigned)oracle_random(&random, 2);
    for (unsigned t = 0; t < p->threads; t++) {
        unsigned most = p->threads == 2 ? 4 : 2;
        p->ops[t] = 1 + (unsigned)oracle_random(&random, most);
        for (unsigned k = 0; k < p->ops[t]; k++)
            p->op[t][k] = random_op(&random, p->ops[t] - k - 1);
    }
}

/* ---- all interleavings --------------------------------------------------------------------- */

enum { EVENTS = TINY_THREADS * TINY_OPS };

struct event {
    unsigned thread;
    enum tiny_kind kind;
    unsigned word;
    int from;       /* of a read: the event that wrote; -1: nobody */
    unsigned place; /* of a write: how many were there before */
};

/* What a machine has done, and where it is. With no buffers it is SC. */
struct machine {
    const struct tiny_program *p;
    unsigned pc[TINY_THREADS], events;
    uint32_t reg[TINY_THREADS][TINY_REGISTERS];
    struct event event[EVENTS];
    uint32_t value[EVENTS];
    int memory[TINY_WORDS]; /* the event that wrote it; -1 */
    unsigned written[TINY_WORDS];
    int buffer[TINY_THREADS][TINY_OPS]; /* events */
    unsigned buffered[TINY_THREADS];
};

static const struct tiny_op *next_op(struct machine *m, unsigned t)
{
    while (m->pc[t] < m->p->ops[t] && m->p->op[t][m->pc[t]].kind == TINY_SKIP) {
        const struct tiny_op *op = &m->p->op[t][m->pc[t]];
        m->pc[t] += 1 + (m->reg[t][op->source] == op->value ? op->distance : 0);
    }
    return m->pc[t] < m->p->ops[t] ? &m->p->op[t][m->pc[t]] : NULL;
}

static void write_memory(struct machine *m, int event)
{
    struct event *e = &m->event[event];
    e->place = m->written[e->word]++;
    m->memory[e->word] = event;
}

static int seen_by(const struct machine *m, unsigned t, unsigned word)
{
    for (unsigned k = m->buffered[t]; k--;)
        if (m->event[m->buffer[t][k]].word == word)
            return m->buffer[t][k];
    return m->memory[word];
}

static bool waits(const struct machine *m, unsigned t, const struct tiny_op *op)
{
    return m->buffered[t] && (op->kind == TINY_FENCE || op->kind == TINY_SWAP);
}

static void perform(struct machine *m, unsigned t, const struct tiny_op *op, bool buffers)
{
    int number = (int)m->events++;
    struct event *e = &m->event[number];
    *e = (struct event){ t, op->kind, op->address / 4u, -1, 0 };
    if (op->kind == TINY_LOAD || op->kind == TINY_SWAP) {
        e->from = seen_by(m, t, e->word);
        m->reg[t][op->target] = e->from < 0 ? 0 : m->value[e->from];
    }
    m->value[number] = op->value;
    if (op->kind == TINY_STORE && buffers)
        m->buffer[t][m->buffered[t]++] = number;
    else if (op->kind == TINY_STORE || op->kind == TINY_SWAP)
        write_memory(m, number);
    m->pc[t]++;
}

/* ---- SC: counting -------------------------------------------------------------------------- */

struct keys {
    uint64_t *key;
    size_t count, room;
};
struct counts {
    struct keys traces, orders, bad_traces, bad_orders;
    enum monitor_model model;
};

static void add_key(struct keys *k, uint64_t key)
{
    for (size_t i = 0; i < k->count; i++)
        if (k->key[i] == key)
            return;
    if (k->count == k->room) {
        k->room = 2 * k->room + 64;
        k->key = realloc(k->key, k->room * sizeof *k->key);
        TEST_ASSERT_NOT_NULL(k->key);
    }
    k->key[k->count++] = key;
}

static uint64_t hash(uint64_t h, uint64_t value)
{
    h = (h ^ value) * 0x100000001b3u;
    return h ^ h >> 31;
}

/* How many of its thread came before. */
static unsigned index_of(const struct machine *m, int event)
{
    unsigned n = 0;
    for (int i = 0; i < event; i++)
        n += m->event[i].thread == m->event[event].thread;
    return n;
}

static uint64_t name_of(const struct machine *m, int event)
{
    return event < 0 ? 0 : 1 + m->event[event].thread * 100 + index_of(m, event);
}

/* Who read from whom and who wrote when, thread by thread. */
static uint64_t trace_of(const struct machine *m)
{
    uint64_t h = 14695981039346656037u;
    for (unsigned t = 0; t < m->p->threads; t++)
        for (int i = 0; i < (int)m->events; i++)
            if (m->event[i].thread == t)
                h = hash(hash(hash(h, name_of(m, i)), name_of(m, m->event[i].from)),
                         m->event[i].place);
    return h;
}

static bool is_write(const struct event *e)
{
    return e->kind == TINY_STORE || e->kind == TINY_SWAP;
}

static bool is_counted(const struct machine *m, unsigned event)
{
    const struct event *e = &m->event[event];
    bool written = false, others = false;
    if (e->kind == TINY_FENCE || e->kind == TINY_SWAP)
        return true;
    for (unsigned i = 0; i < m->events; i++)
        if (m->event[i].kind != TINY_FENCE && m->event[i].word == e->word) {
            written |= is_write(&m->event[i]);
            others |= m->event[i].thread != e->thread;
        }
    return written && others;
}

static bool is_borderline(const struct machine *m, enum monitor_model model)
{
    static const uint8_t kinds[TINY_KINDS] = { [TINY_LOAD] = MONITOR_LOAD,
                                               [TINY_STORE] = MONITOR_STORE,
                                               [TINY_FENCE] = MONITOR_FENCE,
                                               [TINY_SWAP] = MONITOR_LOCKED };
    struct monitor *monitor = monitor_new(model, m->p->threads, TINY_WORDS);
    struct monitor_finding f;
    bool found = false;
    for (unsigned i = 0; i < m->events; i++) {
        uint32_t word = m->event[i].word;
        struct monitor_access a = { kinds[m->event[i].kind], m->event[i].thread,
                                    m->event[i].kind != TINY_FENCE, &word };
        found |= monitor_add(monitor, &a, &f);
    }
    monitor_free(monitor);
    return found;
}

static void count(const struct machine *m, struct counts *c)
{
    uint64_t trace = trace_of(m), order = trace;
    for (unsigned i = 0; i < m->events; i++)
        if (is_counted(m, i))
            order = hash(order, name_of(m, (int)i));
    add_key(&c->traces, trace);
    add_key(&c->orders, order);
    if (!is_borderline(m, c->model))
        return;
    add_key(&c->bad_traces, trace);
    add_key(&c->bad_orders, order);
}

static void all_interleavings(const struct machine *m, struct counts *c)
{
    bool moved = false;
    for (unsigned t = 0; t < m->p->threads; t++) {
        struct machine next = *m;
        const struct tiny_op *op = next_op(&next, t);
        if (!op)
            continue;
        moved = true;
        perform(&next, t, op, false);
        all_interleavings(&next, c);
    }
    if (!moved)
        count(m, c);
}

/* ---- store buffers: is there anything that SC cannot? ---------------------------------------- */

static bool comes_before(const struct machine *m, const struct event *a, const struct event *b)
{
    int ia = (int)(a - m->event), ib = (int)(b - m->event);
    if (a->thread == b->thread && ia < ib)
        return true;
    if (a->kind == TINY_FENCE || b->kind == TINY_FENCE || a->word != b->word || ia == ib)
        return false;
    if (is_write(a) && is_write(b))
        return a->place < b->place;
    if (is_write(a) && b->from == ia)
        return true;
    bool reads = a->kind == TINY_LOAD;
    return reads && is_write(b) && (a->from < 0 || m->event[a->from].place < b->place);
}

static bool is_sc(const struct machine *m)
{
    bool before[EVENTS][EVENTS];
    unsigned n = m->events;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n; k++)
            before[i][k] = comes_before(m, &m->event[i], &m->event[k]);
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < n; i++)
            for (unsigned j = 0; before[i][k] && j < n; j++)
                before[i][j] |= before[k][j];
    for (unsigned i = 0; i < n; i++)
        if (before[i][i])
            return false;
    return true;
}

static bool may_leave(const struct machine *m, unsigned t, unsigned k, enum monitor_model model)
{
    for (unsigned i = 0; i < k; i++)
        if (model == MONITOR_TSO
            || m->event[m->buffer[t][i]].word == m->event[m->buffer[t][k]].word)
            return false;
    return true;
}

static bool is_relaxed(const struct machine *m, enum monitor_model model)
{
    bool moved = false;
    for (unsigned t = 0; t < m->p->threads; t++) {
        struct machine next = *m;
        const struct tiny_op *op = next_op(&next, t);
        if (op && !waits(&next, t, op)) {
            moved = true;
            perform(&next, t, op, true);
            if (is_relaxed(&next, model))
                return true;
        }
        for (unsigned k = 0; k < m->buffered[t]; k++) {
            if (!may_leave(m, t, k, model))
                continue;
            next = *m;
            moved = true;
            write_memory(&next, next.buffer[t][k]);
            memmove(&next.buffer[t][k], &next.buffer[t][k + 1],
                    (--next.buffered[t] - k) * sizeof **next.buffer);
            if (is_relaxed(&next, model))
                return true;
        }
    }
    return !moved && !is_sc(m);
}

/* ---- comparing ----------------------------------------------------------------------------- */

static struct dpor_result *explore_it(const struct tiny_program *p, struct dpor_options *options)
{
    size_t size;
    struct image *image = NULL;
    struct ordeal_error error = { 0 };
    struct dpor_result *r = NULL;
    struct tiny_program alone = *p; /* what main reads would count as shared */
    alone.leaves_memory = true;
    void *elf = tiny_elf(&alone, &size);
    TEST_ASSERT_TRUE_MESSAGE(image_load("tiny.elf", elf, size, &image, &error), error.reason);
    options->program = (struct explore_options){
        .local = EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC, .no_reduction = true, .jobs = 1
    };
    options->most_steps = 1000;
    TEST_ASSERT_EQUAL(ORDEAL_OK, dpor_explore(image, options, &r, &error));
    image_free(image);
    free(elf);
    return r;
}

static void fail_with(const struct tiny_program *p, uint64_t seed, const char *what)
{
    fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, what);
    tiny_print(p, stderr);
    TEST_FAIL_MESSAGE(what);
}

static void compare(const struct tiny_program *p, uint64_t seed, enum monitor_model model)
{
    struct counts c = { .model = model };
    struct machine start = { .p = p, .memory = { -1, -1, -1 } };
    all_interleavings(&start, &c);
    struct dpor_options options = { .model = model, .count = true };
    struct dpor_result *r = explore_it(p, &options);
    if (!r->complete || r->total.traces != c.traces.count)
        fail_with(p, seed, "not as many traces");
    if (r->interleavings.digit[0] != c.orders.count)
        fail_with(p, seed, "not as many interleavings");
    if (r->total.borderline_traces != c.bad_traces.count)
        fail_with(p, seed, "not as many borderline traces");
    if (r->borderline_interleavings.digit[0] != c.bad_orders.count)
        fail_with(p, seed, "not as many borderline interleavings");
    if (is_relaxed(&start, model) != (r->total.borderline_traces > 0))
        fail_with(p, seed, "borderline is not what the machine makes of it");
    dpor_result_free(r);
    options = (struct dpor_options){ .model = model, .bounded = true, .context = 100, .all = true };
    r = explore_it(p, &options);
    if (!r->complete || r->total.traces != c.traces.count
        || r->total.borderline_traces != c.bad_traces.count)
        fail_with(p, seed, "a bound that is never reached finds others");
    dpor_result_free(r);
    free(c.traces.key);
    free(c.orders.key);
    free(c.bad_traces.key);
    free(c.bad_orders.key);
}

static void random_programs(void)
{
    uint64_t first = number("FIRST", 1), programs = number("PROGRAMS", 150);
    for (uint64_t seed = first; seed < first + programs; seed++) {
        struct tiny_program p;
        draw(&p, seed);
        compare(&p, seed, MONITOR_TSO);
        compare(&p, seed, MONITOR_PSO);
    }
}

/* Counted by hand: store buffering, with fences, and twice in each thread; messages; three threads. */
static void known_counts(void)
{
    static const struct {
        const char *program;
        uint64_t interleavings, bad, traces, bad_traces;
    } known[] = {
        { "x = 1; r0 = y | y = 1; r0 = x", 6, 2, 3, 2 },
        { "x = 1; fence rr rw wr ww; r0 = y | y = 1; fence rr rw wr ww; r0 = x", 20, 0, 3, 0 },
        { "x = 1; y = 1 | r0 = y; r1 = x", 6, 0, 3, 0 },
        { "x = 1; r0 = y; x = 2; r0 = y | y = 1; r0 = x; y = 2; r0 = x", 70, 38, 19, 14 },
        { "x = 1; r0 = y | y = 1; r0 = z | z = 1; r0 = x", 90, 3, 7, 3 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct tiny_program p;
        struct dpor_options options = { .model = MONITOR_TSO, .count = true };
        TEST_ASSERT_TRUE(tiny_parse(&p, known[i].program));
        struct dpor_result *r = explore_it(&p, &options);
        TEST_ASSERT_EQUAL_UINT64(known[i].interleavings, r->interleavings.digit[0]);
        TEST_ASSERT_EQUAL_UINT64(known[i].bad, r->borderline_interleavings.digit[0]);
        TEST_ASSERT_EQUAL_UINT64(known[i].traces, r->total.traces);
        TEST_ASSERT_EQUAL_UINT64(known[i].bad_traces, r->total.borderline_traces);
        dpor_result_free(r);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(known_counts);
    RUN_TEST(random_programs);
    return UNITY_END();
}
