/* SPDX-License-Identifier: Apache-2.0 */
/* Relaxer's two phases on random tiny programs, each instruction a label of its own, held to oracles that
 * share nothing with them: Algorithm 1 event by event, happens-before edge by edge from the events of a
 * run, the plain machines of tiny.h for what a model allows, and the certified checker. */
#include <stdlib.h>
#include <string.h>

#include "program/relax_trace.h"
#include "relax_graph.h"
#include "tiny.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

enum { MOST = 400, PROGRAMS = 150, SEEDS = 12 };

/* ---- subjects ---------------------------------------------------------------------------- */

struct subject {
    struct tiny_program program;
    struct image *image;
    uint32_t *label;
    struct relax_labels labels;
};

static void open_subject(struct subject *s, uint64_t seed)
{
    const struct segment *segment;
    struct ordeal_error error = { 0 };
    size_t size;
    tiny_random(&s->program, seed);
    void *elf = tiny_elf(&s->program, &size);
    bool good = image_load("tiny.elf", elf, size, &s->image, &error);
    free(elf);
    TEST_ASSERT_TRUE_MESSAGE(good, error.reason);
    size_t n = image_segments(s->image, &segment);
    for (size_t i = 0; i < n; i++)
        if (!segment[i].writable)
            s->labels = (struct relax_labels){ segment[i].address, segment[i].size / 4, NULL };
    s->label = malloc((s->labels.count + 1) * sizeof *s->label);
    for (uint32_t k = 0; k < s->labels.count; k++)
        s->label[k] = k + 1;
    s->labels.of = s->label;
}

static void close_subject(struct subject *s)
{
    image_free(s->image);
    free(s->label);
}

static struct relax_runner *runner(const struct subject *s, enum explore_model model)
{
    struct ordeal_error error = { 0 };
    struct relax_options o = { .model = model, .labels = &s->labels, .most_steps = 5000 };
    struct relax_runner *r = relax_runner_new(s->image, &o, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(r, error.reason);
    return r;
}

/* ---- Algorithm 1, event by event --------------------------------------------------------- */

struct naive {
    const struct relax_run *run;
    uint32_t (*found)[RELAX_LONGEST + 1]; /* the last is the length */
    size_t count, capacity;
    uint32_t length, chain[RELAX_LONGEST];
};

static bool naive_race(const struct relax_access *a, const struct relax_access *b)
{
    bool meet = false;
    for (uint32_t k = 0; k < a->size; k++)
        meet |= a->address + k >= b->address && a->address + k < b->address + b->size;
    return meet && a->thread != b->thread && (a->writes || b->writes);
}

/* Definition 2, of the whole chain anew. */
static bool naive_chain(const struct naive *n, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        const struct relax_access *e = &n->run->access[n->chain[i]];
        if (i % 2) {
            if (n->run->access[n->chain[i - 1]].thread != e->thread
                || n->chain[i - 1] > n->chain[i])
                return false;
        } else if (i && !naive_race(&n->run->access[n->chain[i - 1]], e)) {
            return false;
        }
        for (uint32_t k = 0; k < i - i % 2; k += 2)
            if (n->run->access[n->chain[k]].thread == e->thread)
                return false;
    }
    return true;
}

static bool naive_cycle(const struct naive *n, uint32_t length)
{
    return length >= 4
        && naive_race(&n->run->access[n->chain[length - 1]], &n->run->access[n->chain[0]]);
}

static void naive_report(struct naive *n, uint32_t length)
{
    uint32_t row[RELAX_LONGEST + 1] = { 0 }, turned[RELAX_LONGEST + 1] = { 0 };
    for (uint32_t by = 0; by < length; by += 2) {
        for (uint32_t i = 0; i < length; i++)
            turned[i] = n->run->access[n->chain[(i + by) % length]].label;
        turned[RELAX_LONGEST] = length;
        bool less = false;
        for (uint32_t i = 0; i < length && !less && turned[i] <= row[i]; i++)
            less = turned[i] < row[i];
        if (!by || less)
            memcpy(row, turned, sizeof row);
    }
    for (size_t i = 0; i < n->count; i++)
        if (!memcmp(n->found[i], row, sizeof row))
            return;
    if (n->count == n->capacity) {
        n->capacity = n->capacity ? 2 * n->capacity : 64;
        n->found = realloc(n->found, n->capacity * sizeof *n->found);
        TEST_ASSERT_NOT_NULL(n->found);
    }
    memcpy(n->found[n->count++], row, sizeof row);
}

static void naive_grow(struct naive *n, uint32_t length)
{
    for (uint32_t e = 0; e < n->run->accesses; e++) {
        n->chain[length] = e;
        if (!naive_chain(n, length + 1))
            continue;
        if ((length + 1) % 2 == 0 && naive_cycle(n, length + 1))
            naive_report(n, length + 1);
        else if (length + 1 < n->length)
            naive_grow(n, length + 1);
    }
}

static void same_cycles(const struct naive *n, const struct relax_cycles *c)
{
    TEST_ASSERT_EQUAL_size_t(n->count, c->count);
    for (size_t i = 0; i < n->count; i++) {
        bool there = false;
        for (size_t k = 0; k < c->count && !there; k++)
            there = c->cycle[k].length == n->found[i][RELAX_LONGEST]
                 && !memcmp(c->cycle[k].label, n->found[i], 4 * c->cycle[k].length);
        TEST_ASSERT_TRUE(there);
    }
}

static size_t predict_both_ways(const struct relax_run *run, uint32_t length)
{
    struct relax_cycles c = { 0 };
    struct naive n = { .run = run, .length = length };
    TEST_ASSERT_TRUE(relax_predict(run, length, &c));
    naive_grow(&n, 0);
    same_cycles(&n, &c);
    free(n.found);
    relax_cycles_free(&c);
    return n.count;
}

static void prediction_is_algorithm_1_on_runs_of_programs(void)
{
    size_t cycles = 0, longer = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct subject s;
        const struct relax_run *run;
        open_subject(&s, seed);
        struct relax_runner *sc = runner(&s, EXPLORE_SC);
        for (uint64_t i = 0; i < 3; i++) {
            TEST_ASSERT_TRUE(relax_execute(sc, NULL, seed * 100 + i, &run));
            TEST_ASSERT_TRUE(run->ended);
            if (run->accesses > 40)
                continue;
            cycles += predict_both_ways(run, 4);
            if (run->accesses < 16)
                longer += predict_both_ways(run, 6);
        }
        relax_runner_free(sc);
        close_subject(&s);
    }
    TEST_ASSERT_GREATER_THAN_size_t(500, cycles);
    TEST_ASSERT_GREATER_THAN_size_t(50, longer);
}

/* Runs that no program has: all kinds of accesses, few places and labels. */
static void prediction_is_algorithm_1_on_any_run(void)
{
    uint32_t random = 1;
#define DRAW(n) ((random = random * 1664525u + 1013904223u) >> 16) % (n)
    for (unsigned i = 0; i < 300; i++) {
        struct relax_access access[14];
        struct relax_run run = { .access = access, .accesses = 4 + DRAW(11) };
        for (size_t k = 0; k < run.accesses; k++) {
            uint32_t kind = 1u << DRAW(3);
            access[k] = (struct relax_access){ .thread = DRAW(4),
                                               .label = 1 + DRAW(9),
                                               .address = 100 + 2 * DRAW(4),
                                               .size = (uint8_t)(1u << DRAW(3)),
                                               .kind = (uint8_t)kind };
            access[k].reads = kind != RELAX_STORE;
            access[k].writes = kind == RELAX_STORE || (kind == RELAX_ATOMIC && DRAW(2));
        }
        predict_both_ways(&run, 4 + 2 * DRAW(3));
    }
}

/* ---- happens-before, edge by edge -------------------------------------------------------- */

/* What the events of a run say of one word: stores in the order in which they reached memory. */
struct history {
    uint32_t event[MOST];
    size_t count;
};

static bool event_is(const struct program_event *e, bool writes)
{
    bool store = e->kind == EVENT_STORE || (e->kind == EVENT_ATOMIC && e->wrote);
    return writes ? store : e->kind == EVENT_LOAD || e->kind == EVENT_ATOMIC;
}

static bool covers(const struct program_event *e, uint32_t byte)
{
    return byte - e->address < e->size;
}

/* Of one byte. Stores that never left come last. */
static void history_of(const struct event_list *l, uint32_t byte, struct history *h)
{
    h->count = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct program_event *e = &l->event[i];
        bool now = event_is(e, true) && !e->buffered && covers(e, byte);
        if (e->kind == EVENT_COMMIT && covers(e, byte))
            h->event[h->count++] = e->cause;
        else if (now)
            h->event[h->count++] = i;
        TEST_ASSERT_LESS_THAN_size_t(MOST, h->count);
    }
}

static int place_in(const struct history *h, uint32_t event)
{
    for (size_t k = 0; k < h->count; k++)
        if (h->event[k] == event)
            return (int)k;
    return MOST;
}

/* How many stores had reached memory before event `at`. */
static int stores_before(const struct event_list *l, uint32_t byte, uint32_t at)
{
    int n = 0;
    for (uint32_t i = 0; i < at; i++) {
        const struct program_event *e = &l->event[i];
        n += (event_is(e, true) && !e->buffered && covers(e, byte))
          || (e->kind == EVENT_COMMIT && covers(e, byte));
    }
    return n;
}

/* The place of the store that a load saw; -1: the initial value. Own stores that wait, then memory, then,
 * where the value is another, the newest that was the same (PSLO). */
static int seen_place(const struct event_list *l, const struct history *h, uint32_t load,
                      uint32_t byte)
{
    const struct program_event *e = &l->event[load];
    uint8_t value = (uint8_t)(e->read >> 8 * (byte - e->address));
    for (uint32_t i = load; e->forwarded && i-- > 0;) {
        const struct program_event *s = &l->event[i];
        if (s->kind == EVENT_STORE && s->thread == e->thread && s->buffered && covers(s, byte)) {
            bool left = false;
            for (uint32_t k = i; k < load; k++)
                left |= l->event[k].kind == EVENT_COMMIT && l->event[k].cause == i;
            if (!left)
                return place_in(h, i);
            break;
        }
    }
    for (int k = stores_before(l, byte, load); k-- > 0;) {
        const struct program_event *s = &l->event[h->event[k]];
        bool whole = s->address == e->address && s->size == e->size;
        if (whole ? s->written == e->read
                  : (uint8_t)(s->written >> 8 * (byte - s->address)) == value)
            return k;
    }
    return -1;
}

/* e ->c f of the paper, 3.2, by bytes. */
static bool naive_before(const struct event_list *l, uint32_t e, uint32_t f)
{
    const struct program_event *a = &l->event[e], *b = &l->event[f];
    for (uint32_t byte = a->address; byte < a->address + a->size; byte++) {
        struct history h;
        if (!covers(b, byte))
            continue;
        history_of(l, byte, &h);
        int a_store = place_in(&h, e), b_store = place_in(&h, f);
        if (event_is(a, true) && event_is(b, true) && a_store < b_store)
            return true;
        if (event_is(a, true) && event_is(b, false) && a_store <= seen_place(l, &h, f, byte))
            return true;
        if (event_is(a, false) && event_is(b, true) && seen_place(l, &h, e, byte) < b_store)
            return true;
    }
    return false;
}

static bool naive_created(const struct relax_run *run, const struct event_list *l,
                          const struct relax_cycle *c, uint32_t *chain, uint32_t length)
{
    for (uint32_t k = 0; k < run->accesses; k++) {
        const struct relax_access *a = &run->access[k];
        if (a->label != c->label[length])
            continue;
        const struct relax_access *before = length ? &run->access[chain[length - 1]] : NULL;
        if (length % 2 && (before->thread != a->thread || chain[length - 1] > k))
            continue;
        if (length && length % 2 == 0
            && (before->thread == a->thread || !naive_before(l, before->event, a->event)))
            continue;
        chain[length] = k;
        const struct relax_access *first = &run->access[chain[0]];
        bool closed = length + 1 == c->length && first->thread != a->thread
                   && naive_before(l, a->event, first->event);
        if (closed || (length + 1 < c->length && naive_created(run, l, c, chain, length + 1)))
            return true;
    }
    return false;
}

/* ---- what a model allows ----------------------------------------------------------------- */

static uint32_t final_word(const struct event_list *l, uint32_t address)
{
    uint32_t value = 0;
    for (uint32_t byte = 0; byte < 4; byte++) {
        struct history h;
        history_of(l, address + byte, &h);
        if (!h.count)
            continue;
        const struct program_event *s = &l->event[h.event[h.count - 1]];
        value |= (uint32_t)(uint8_t)(s->written >> 8 * (address + byte - s->address)) << 8 * byte;
    }
    return value;
}

static bool is_allowed(const struct tiny_outcomes *all, const struct event_list *l)
{
    uint32_t address[TINY_COLUMNS], row[TINY_COLUMNS];
    tiny_columns(address);
    for (unsigned i = 0; i < TINY_COLUMNS; i++)
        row[i] = final_word(l, address[i]);
    for (size_t i = 0; i < all->rows; i++)
        if (!memcmp(all->row[i], row, sizeof row))
            return true;
    return false;
}

/* ---- all of it --------------------------------------------------------------------------- */

struct counts {
    size_t created, not_created, numbered;
};

static void certify(const struct subject *s, const struct event_list *events,
                    enum explore_model model, struct counts *n)
{
    struct relax_trace t;
    struct ordeal_error why = { 0 };
    TEST_ASSERT_TRUE(relax_trace_make(&t, s->image, events, model));
    if (t.numbered) {
        TEST_ASSERT_EQUAL_INT_MESSAGE(ACCOUNT_CONFIRMED, relax_trace_judge(&t, 20, &why),
                                      why.reason);
        n->numbered++;
    }
    relax_trace_free(&t);
}

/* Where sizes meet, a load may see several stores at once, and not all is claimed that could be. */
static bool is_uniform(const struct relax_run *run)
{
    for (size_t i = 0; i < run->accesses; i++)
        for (size_t k = 0; k < i; k++) {
            const struct relax_access *a = &run->access[i], *b = &run->access[k];
            if (a->address / 4 == b->address / 4 && a->size != b->size)
                return false;
        }
    return true;
}

static void one_run(const struct subject *s, struct relax_runner *r, const struct relax_cycle *c,
                    enum explore_model model, uint64_t seed, const struct tiny_outcomes *all,
                    struct counts *n)
{
    uint32_t access[RELAX_LONGEST], chain[RELAX_LONGEST];
    struct event_list events;
    const struct relax_run *run;
    TEST_ASSERT_TRUE(relax_execute(r, c, seed, &run));
    bool created, again;
    TEST_ASSERT_TRUE(relax_created(run, c, access, &created));
    TEST_ASSERT_TRUE(relax_events(r, c, seed, &events, &run));
    TEST_ASSERT_TRUE(relax_created(run, c, access, &again));
    TEST_ASSERT_EQUAL_INT(created, again);
    bool should = naive_created(run, &events, c, chain, 0);
    if (is_uniform(run))
        TEST_ASSERT_EQUAL_INT(should, created);
    else
        TEST_ASSERT_TRUE(model == EXPLORE_PSLO || should || !created);
    TEST_ASSERT_TRUE(run->ended && !run->error);
    TEST_ASSERT_TRUE(!all->row || is_allowed(all, &events));
    if (created)
        certify(s, &events, model, n);
    n->created += created;
    n->not_created += !created;
    explore_events_free(&events);
}

static void one_program(uint64_t seed, enum explore_model model, struct counts *n)
{
    static const enum tiny_model machine[EXPLORE_MODELS] = { TINY_SC, TINY_TSO, TINY_PSO,
                                                             TINY_PSLO };
    struct subject s;
    struct relax_cycles c = { 0 };
    struct tiny_outcomes all = { 0 };
    const struct relax_run *run;
    open_subject(&s, seed);
    struct relax_runner *sc = runner(&s, EXPLORE_SC), *r = runner(&s, model);
    for (uint64_t i = 0; i < 5; i++) {
        TEST_ASSERT_TRUE(relax_execute(sc, NULL, i, &run));
        TEST_ASSERT_TRUE(relax_predict(run, 4, &c));
    }
    relax_cycles_sort(&c);
    if (!tiny_outcomes(&s.program, machine[model], (struct tiny_limits){ .most_states = 60000 },
                       &all))
        tiny_outcomes_free(&all);
    for (size_t i = 0; i < c.count; i += 1 + c.count / 12)
        for (uint64_t k = 0; k < SEEDS && relax_worth_trying(&c.cycle[i], model); k++)
            one_run(&s, r, &c.cycle[i], model, seed * 1000 + k, &all, n);
    tiny_outcomes_free(&all);
    relax_runner_free(sc);
    relax_runner_free(r);
    relax_cycles_free(&c);
    close_subject(&s);
}

static void under(enum explore_model model)
{
    struct counts n = { 0 };
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
        one_program(seed, model, &n);
    printf("%s: %zu executions with the cycle, %zu certified, %zu without\n",
           explore_model_names[model], n.created, n.numbered, n.not_created);
    TEST_ASSERT_GREATER_THAN_size_t(20, n.created);
    TEST_ASSERT_GREATER_THAN_size_t(n.created / 4, n.numbered);
    TEST_ASSERT_GREATER_THAN_size_t(100, n.not_created);
}

static void executions_are_what_they_should_be_under_tso(void) { under(EXPLORE_TSO); }
static void executions_are_what_they_should_be_under_pso(void) { under(EXPLORE_PSO); }
static void executions_are_what_they_should_be_under_pslo(void) { under(EXPLORE_PSLO); }

/* ---- exploring --------------------------------------------------------------------------- */

struct answers {
    size_t feasible, infeasible, open;
};

/* The run that a path leads to, from its events. */
static void run_of_events(const struct subject *s, const struct event_list *l,
                          struct relax_run *run)
{
    uint32_t live = 1;
    run->access = calloc(l->count + 1, sizeof *run->access);
    run->accesses = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct program_event *e = &l->event[i];
        live += e->kind == EVENT_CREATE;
        live -= e->kind == EVENT_EXIT;
        bool access = event_is(e, true) || event_is(e, false);
        const struct instruction *at = image_instruction(s->image, e->pc);
        if (!access || e->private_access || live < 2 || (at && at->operation == OPERATION_ECALL))
            continue;
        run->access[run->accesses++] = (struct relax_access){
            .thread = e->thread, .label = relax_label(&s->labels, e->pc), .event = i
        };
    }
}

static void path_has_cycle(const struct subject *s, const struct relax_graph *g,
                           const struct relax_cycle *c, const struct explore_path *path)
{
    struct event_list events;
    struct ordeal_error error = { 0 };
    struct relax_run run;
    uint32_t chain[RELAX_LONGEST];
    TEST_ASSERT_EQUAL_INT_MESSAGE(ORDEAL_OK,
                                  explore_follow(s->image, &g->how, path, &events, NULL, NULL,
                                                 &error),
                                  error.reason);
    run_of_events(s, &events, &run);
    TEST_ASSERT_TRUE(naive_created(&run, &events, c, chain, 0));
    free(run.access);
    explore_events_free(&events);
}

/* What trials make is feasible; what is infeasible no trial makes. */
static void one_cycle(const struct subject *s, const struct relax_graph *g, struct relax_runner *r,
                      const struct relax_cycle *c, struct answers *n)
{
    enum relax_answer answer;
    struct explore_path path;
    uint32_t access[RELAX_LONGEST];
    const struct relax_run *run;
    bool made = false, uniform = true, created;
    TEST_ASSERT_TRUE(relax_graph_search(g, c, 1000000, &answer, &path));
    for (uint64_t k = 0; k < 60 && answer != RELAX_OPEN; k++) {
        TEST_ASSERT_TRUE(relax_execute(r, c, k, &run));
        uniform &= is_uniform(run);
        TEST_ASSERT_TRUE(relax_created(run, c, access, &created));
        made |= created;
    }
    if (answer == RELAX_FEASIBLE && uniform)
        path_has_cycle(s, g, c, &path);
    TEST_ASSERT_TRUE(answer == RELAX_OPEN || answer == RELAX_FEASIBLE || !made);
    n->feasible += answer == RELAX_FEASIBLE;
    n->infeasible += answer == RELAX_INFEASIBLE;
    n->open += answer == RELAX_OPEN;
    free(path.step);
    free(path.choice);
}

static void explore_all(uint64_t seed, enum explore_model model, struct answers *n)
{
    struct subject s;
    struct relax_graph g;
    struct relax_cycles c = { 0 };
    const struct relax_run *run;
    open_subject(&s, seed);
    struct relax_options o = { .model = model, .labels = &s.labels, .most_steps = 5000 };
    struct relax_runner *sc = runner(&s, EXPLORE_SC), *r = runner(&s, model);
    for (uint64_t i = 0; i < 5; i++) {
        TEST_ASSERT_TRUE(relax_execute(sc, NULL, i, &run));
        TEST_ASSERT_TRUE(relax_predict(run, 4, &c));
    }
    relax_cycles_sort(&c);
    TEST_ASSERT_TRUE(relax_graph_make(&g, s.image, &o, 12, 20000, NULL, NULL));
    for (size_t i = 0; i < c.count && !g.why[0]; i += 1 + c.count / 8)
        one_cycle(&s, &g, r, &c.cycle[i], n);
    relax_graph_free(&g);
    relax_cycles_free(&c);
    relax_runner_free(sc);
    relax_runner_free(r);
    close_subject(&s);
}

static void exploring_agrees_with_trials(void)
{
    for (int model = EXPLORE_TSO; model <= EXPLORE_PSO; model++) {
        struct answers n = { 0 };
        for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
            explore_all(seed, (enum explore_model)model, &n);
        printf("%s: %zu cycles feasible, %zu infeasible, %zu open\n", explore_model_names[model],
               n.feasible, n.infeasible, n.open);
        TEST_ASSERT_GREATER_THAN_size_t(3, n.feasible);
        TEST_ASSERT_GREATER_THAN_size_t(20, n.infeasible);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(prediction_is_algorithm_1_on_runs_of_programs);
    RUN_TEST(prediction_is_algorithm_1_on_any_run);
    RUN_TEST(executions_are_what_they_should_be_under_tso);
    RUN_TEST(executions_are_what_they_should_be_under_pso);
    RUN_TEST(executions_are_what_they_should_be_under_pslo);
    RUN_TEST(exploring_agrees_with_trials);
    return UNITY_END();
}
