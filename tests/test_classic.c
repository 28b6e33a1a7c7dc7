/* SPDX-License-Identifier: Apache-2.0 */
/* The thesis's algorithms on the analysis graph: its figures, the rules against a naive closure on
 * random executions, the searches against each other, and every order against the graph. */
#include "classic.h"
#include "clocks.h"
#include "traces.h"
#include "unity.h"

#include <stdlib.h>

static struct ordeal *o;
static struct failing failing;
static struct ordeal_trace *t;
static struct execution *x;
static struct graph *g;

void setUp(void)
{
    failing = (struct failing){ 0 };
    struct ordeal_memory memory = failing_memory(&failing);
    o = ordeal_new(&memory);
    t = NULL;
    x = NULL;
    g = NULL;
}

static void close_graph(void)
{
    graph_free(g);
    g = NULL;
}

static void close_execution(void)
{
    close_graph();
    execution_free(x);
    ordeal_trace_free(t);
    x = NULL;
    t = NULL;
}

void tearDown(void)
{
    close_execution();
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(o));
    ordeal_free(o);
    TEST_ASSERT_EQUAL_size_t(0, failing.blocks);
}

static void open_execution(const char *lines)
{
    char text[4096];
    int length = snprintf(text, sizeof text, "ordeal 1\n%s", lines);
    TEST_ASSERT_LESS_THAN(sizeof text, length);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK,
                              trace_from(o, text, (size_t)length, ORDEAL_FORMAT_TEXT, &t),
                              ordeal_last_error(o)->reason);
    TEST_ASSERT_EQUAL(ORDEAL_OK, execution_build(t, &x));
}

static void open_graph(enum ordeal_model m)
{
    close_graph();
    TEST_ASSERT_EQUAL(ORDEAL_OK, graph_build(x, m, false, &g));
}

/* ---- is the order legal? ------------------------------------------------------------- */

static bool in_graph_order(const uint32_t *rank)
{
    for (uint32_t n = 1; n < g->nodes; n++)
        for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++) {
            uint32_t to = g->succ[i];
            bool both_real = g->kind.data[n] == NODE_REAL && g->kind.data[to] == NODE_REAL;
            if (both_real && rank[n] >= rank[to])
                return false;
        }
    return true;
}

/* Run the order: what every read sees is what it saw, and the stores of a word come in one
 * sequence in all its cells. */
static bool sees_what_it_saw(const struct classic_result *r)
{
    uint32_t cells = g->cell_first[x->locations];
    uint32_t *memory = calloc(cells + 1, sizeof *memory), *turn = calloc(cells + 1, sizeof *turn);
    uint32_t *sequence = calloc(x->events, sizeof *sequence);
    bool *performed = calloc(g->stores + 1, sizeof *performed), ok = true;
    for (uint32_t l = 0; l < x->locations; l++)
        for (uint32_t s = 0; s < cells_of(g, l); s++)
            memory[g->cell_first[l] + s] = l;
    for (size_t i = 0; i < r->order.count; i++) {
        uint32_t n = r->order.data[i];
        for (uint32_t j = g->access_first[n]; j < g->access_first[n + 1]; j++) {
            struct access a = g->access[j];
            uint32_t cell = cell_of(g, a);
            if (x->is_store[a.event]) {
                memory[cell] = a.event;
                performed[g->store_first[a.event] + a.slot] = true;
                uint32_t place = ++turn[cell];
                ok = ok && (sequence[a.event] == 0 || sequence[a.event] == place);
                sequence[a.event] = place;
                continue;
            }
            uint32_t source = source_of(x, a.event);
            bool buffered = program_order(x, source, a.event)
                         && !performed[g->store_first[source] + a.slot];
            ok = ok && (buffered || memory[cell] == source);
        }
    }
    free(memory);
    free(turn);
    free(sequence);
    free(performed);
    return ok;
}

static void assert_legal(const struct classic_result *r)
{
    uint32_t *rank = calloc(g->nodes, sizeof *rank), real = 0;
    for (uint32_t n = 1; n < g->nodes; n++)
        real += g->kind.data[n] == NODE_REAL;
    TEST_ASSERT_EQUAL(real, r->order.count);
    for (size_t i = 0; i < r->order.count; i++) {
        TEST_ASSERT_NOT_EQUAL(0, r->order.data[i]);
        TEST_ASSERT_EQUAL_MESSAGE(0, rank[r->order.data[i]], "a node is there twice");
        rank[r->order.data[i]] = (uint32_t)i + 1;
    }
    bool ordered = in_graph_order(rank), sees = sees_what_it_saw(r);
    free(rank);
    TEST_ASSERT_TRUE(ordered);
    TEST_ASSERT_TRUE(sees);
}

static enum ordeal_result check(enum ordeal_algorithm a)
{
    struct classic_result r;
    enum ordeal_status status = classic_check(g, a, &r);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
    if (r.result == ORDEAL_PASS)
        assert_legal(&r);
    else
        TEST_ASSERT_EQUAL(0, r.order.count);
    TEST_ASSERT_EQUAL(r.result == ORDEAL_UNDECIDED, r.note[0] != '\0');
    VEC_FREE(o, &r.order);
    return r.result;
}

static void expect(const char *lines, enum ordeal_model m, enum ordeal_result baseline,
                   enum ordeal_result complete)
{
    open_execution(lines);
    open_graph(m);
    TEST_ASSERT_EQUAL(baseline, check(ORDEAL_BASELINE));
    TEST_ASSERT_EQUAL(complete, check(ORDEAL_HEU_BACK));
    TEST_ASSERT_EQUAL(complete, check(ORDEAL_DERIV_BACK));
    close_execution();
}

/* ---- figures ------------------------------------------------------------------------- */

static const char figure_4_3[] = "P1 S[B]#91\nP1 S[A]#1\nP1 L[A]=2\n"
    "P2 S[A]#2\n"
    "P3 S[B]#92\nP3 L[A]=2\nP3 L[B]=92\n"
    "P4 L[B]=92\nP4 L[B]=91\n";

static void test_figure_4_3_is_seen_by_the_rules(void)
{
    expect(figure_4_3, ORDEAL_TSO, ORDEAL_FAIL, ORDEAL_FAIL);
    expect(figure_4_3, ORDEAL_PSO, ORDEAL_UNDECIDED, ORDEAL_PASS);
}

/* Both stores to B before S[A]#2, both loads of B after S[A]#1; the mirror image does it to D. */
#define FIGURE_4_6_A "P1 S[B]#11\nP1 L[C]=5\nP1 S[A]#2\nP2 S[B]#12\nP2 S[C]#5\n" \
    "P3 S[A]#1\nP3 L[B]=11\nP4 L[A]=1\nP4 L[B]=12\n"
#define MIRROR_4_6_A "P1 S[B]#11\nP1 L[C]=5\nP1 S[A]#2\nP1 L[D]=31\nP2 S[B]#12\nP2 S[C]#5\n" \
    "P3 S[D]#31\nP3 L[E]=6\nP3 S[A]#1\nP3 L[B]=11\nP4 L[A]=1\nP4 L[B]=12\n" \
    "P5 S[D]#32\nP5 S[E]#6\nP6 L[A]=2\nP6 L[D]=32\n"
#define FIGURE_4_6_C "P1 S[B]#11\nP1 L[A]=2\nP2 S[B]#12\nP2 L[A]=2\nP3 S[A]#1\nP3 L[B]=11\n" \
    "P4 S[A]#2\nP5 L[A]=1\nP5 L[B]=12\n"
#define MIRROR_4_6_C FIGURE_4_6_C "P4 L[D]=31\nP6 S[D]#31\nP6 L[A]=1\nP7 S[D]#32\nP7 L[A]=1\n" \
    "P8 L[A]=2\nP8 L[D]=32\n"
#define FIGURE_4_6_D "P1 S[B]#11\nP1 L[A]=2\nP2 S[B]#12\nP2 L[A]=2\nP3 S[A]#1\nP3 L[B]=11\n" \
    "P4 S[A]#2\nP5 S[A]#3\nP5 L[B]=12\n"
#define MIRROR_4_6_D FIGURE_4_6_D "P3 L[E]=41\nP4 L[D]=31\nP4 L[E]=42\nP5 L[D]=32\n" \
    "P6 S[D]#31\nP6 L[A]=1\nP7 S[D]#32\nP7 L[A]=1\nP8 S[E]#41\nP8 L[A]=3\nP9 S[E]#42\nP9 L[A]=3\n"

static void test_figure_4_6_needs_the_search(void)
{
    expect(FIGURE_4_6_A, ORDEAL_SC, ORDEAL_UNDECIDED, ORDEAL_PASS);
    expect(FIGURE_4_6_C, ORDEAL_SC, ORDEAL_UNDECIDED, ORDEAL_PASS);
    expect(FIGURE_4_6_D, ORDEAL_SC, ORDEAL_UNDECIDED, ORDEAL_PASS);
    expect(MIRROR_4_6_A, ORDEAL_SC, ORDEAL_UNDECIDED, ORDEAL_FAIL);
    expect(MIRROR_4_6_C, ORDEAL_SC, ORDEAL_UNDECIDED, ORDEAL_FAIL);
    expect(MIRROR_4_6_D, ORDEAL_SC, ORDEAL_UNDECIDED, ORDEAL_FAIL);
}

static void test_transactions_are_single_nodes(void)
{
    /* Another thread sees a value that the transaction itself overwrites. */
    expect("P0 TX.BEGIN\nP0 S[A]#1\nP0 S[A]#2\nP0 TX.END\nP1 L[A]=1\n", ORDEAL_TSO, ORDEAL_FAIL,
           ORDEAL_FAIL);
    expect("P0 TX.BEGIN\nP0 S[A]#1\nP0 L[A]=1\nP0 S[A]#2\nP0 TX.END\nP1 L[A]=2\n", ORDEAL_TSO,
           ORDEAL_UNDECIDED, ORDEAL_PASS);
}

/* Both stores to B are ready at once and each has a rival, until its own thread has read it. */
static void test_a_store_is_looked_at_again_after_its_readers(void)
{
    expect("P2 S[C]#1\nP2 S[D]#1\nP0 S[B]#5\nP0 L[C]=1\nP0 L[B]=5\n"
           "P1 S[B]#6\nP1 L[D]=1\nP1 L[B]=6\n", ORDEAL_TSO, ORDEAL_UNDECIDED, ORDEAL_PASS);
}

static void test_nothing_at_all(void)
{
    expect("P0 MEMBAR\n", ORDEAL_TSO, ORDEAL_UNDECIDED, ORDEAL_PASS);
    expect("P0 L[A]=0\n", ORDEAL_RMO, ORDEAL_UNDECIDED, ORDEAL_PASS);
}

/* ---- conflict ------------------------------------------------------------------------ */

static enum ordeal_result conflict(const char *lines)
{
    open_execution(lines);
    open_graph(ORDEAL_TSO);
    enum ordeal_result result = check(ORDEAL_CONFLICT);
    close_execution();
    return result;
}

#define TWO_STORES "P0 S[A]#1\nP0 L[B]=0\nP1 S[A]#2\nP2 L[A]=1\nP2 L[A]=2\nP2 S[B]#7\n"

static void test_conflict_follows_the_given_order(void)
{
    TEST_ASSERT_EQUAL(ORDEAL_PASS, conflict("order A 1 2\n" TWO_STORES));
    TEST_ASSERT_EQUAL(ORDEAL_FAIL, conflict("order A 2 1\n" TWO_STORES));
    TEST_ASSERT_EQUAL(ORDEAL_PASS, conflict("order A 1 2\n" TWO_STORES "P1 L[A]=2\n"));
    TEST_ASSERT_EQUAL(ORDEAL_FAIL, conflict("order A 1 2\n" TWO_STORES "P1 L[A]=1\n"));
    TEST_ASSERT_EQUAL(ORDEAL_FAIL, conflict("P0 S[A]#1\nP0 L[A]=0\n"));
}

static void test_conflict_names_the_word_without_order(void)
{
    open_execution("order B 3 4\nP0 S[B]#3\nP0 S[B]#4\nP0 S[AA]#1\nP1 S[AA]#2\n");
    open_graph(ORDEAL_TSO);
    struct classic_result r;
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, classic_check(g, ORDEAL_CONFLICT, &r));
    TEST_ASSERT_NOT_NULL(strstr(ordeal_last_error(o)->reason, "order AA"));
}

/* ---- random executions --------------------------------------------------------------- */

static uint32_t below(uint64_t *seed, uint32_t bound)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)((z ^ z >> 31) % bound);
}

struct random_plan { uint32_t threads, words, ops, spoilt; bool transactions; };
enum { MOST_WORDS = 4, MOST_OPS = 20000 };

/* Memory as the machine has it; the values are 1, 2, ... and tell their words. */
struct machine { uint32_t memory[MOST_WORDS], stored; uint8_t word_of[MOST_OPS + 1]; };

static void add_op(uint64_t *seed, const struct random_plan *plan, uint32_t thread,
                   struct machine *machine)
{
    static const uint8_t kinds[] = { ORDEAL_LOAD, ORDEAL_LOAD, ORDEAL_LOAD, ORDEAL_STORE,
                                     ORDEAL_STORE, ORDEAL_STORE, ORDEAL_SWAP, ORDEAL_MEMBAR };
    struct ordeal_op op = { .kind = kinds[below(seed, sizeof kinds)], .size_log2 = 2,
                            .flags = ORDEAL_HAS_VALUE, .barrier = ORDEAL_FULL };
    uint32_t word = below(seed, plan->words), other = below(seed, machine->stored + 1);
    bool spoil = below(seed, 100) < plan->spoilt
              && (other == 0 || machine->word_of[other] == word);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, thread, &op.thread));
    op.address = word * 4;
    op.read = spoil ? other : machine->memory[word];
    if (op.kind == ORDEAL_STORE || op.kind == ORDEAL_SWAP) {
        op.write = ++machine->stored;
        machine->word_of[op.write] = (uint8_t)word;
        machine->memory[word] = (uint32_t)op.write;
    }
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &op, 0));
}

static void add_bracket(uint32_t thread, enum ordeal_op_kind kind)
{
    struct ordeal_op op = { .kind = (uint8_t)kind };
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_thread(t, thread, &op.thread));
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(t, &op, 0));
}

/* Run at random as under SC; some loads then see another store of their word. */
static void open_random(uint64_t seed, struct random_plan plan)
{
    static struct machine machine;
    machine = (struct machine){ 0 };
    t = ordeal_trace_new(o);
    TEST_ASSERT_NOT_NULL(t);
    for (uint32_t i = 0; i < plan.ops; i++) {
        uint32_t thread = below(&seed, plan.threads);
        bool grouped = plan.transactions && below(&seed, 4) == 0;
        if (grouped)
            add_bracket(thread, ORDEAL_TX_BEGIN);
        add_op(&seed, &plan, thread, &machine);
        for (; grouped && below(&seed, 2) && i + 1 < plan.ops; i++)
            add_op(&seed, &plan, thread, &machine);
        if (grouped)
            add_bracket(thread, ORDEAL_TX_END);
    }
    TEST_ASSERT_EQUAL(ORDEAL_OK, execution_build(t, &x));
}

enum { MOST_NODES = 256 };
struct closure { bool before[MOST_NODES][MOST_NODES], more; };

static void make_transitive(struct closure *c)
{
    for (uint32_t k = 0; k < g->nodes; k++)
        for (uint32_t i = 0; i < g->nodes; i++)
            for (uint32_t j = 0; c->before[i][k] && j < g->nodes; j++)
                c->before[i][j] |= c->before[k][j];
}

static void close_edge(struct closure *c, uint32_t from, uint32_t to)
{
    c->more |= !c->before[from][to];
    c->before[from][to] = true;
}

static void close_stores(struct closure *c, uint32_t a, uint32_t b)
{
    bool in_transaction = x->group[a] == x->group[b] && program_order(x, a, b);
    for (uint32_t s = 0; !in_transaction && s < cells_of(g, x->loc[a]); s++)
        close_edge(c, node_of_store(g, a, s), node_of_store(g, b, s));
}

/* R6, R7 and, for views, coherence, at every pair of accesses: n writes i, m has j. */
static void close_pair(struct closure *c, struct access i, uint32_t m, struct access j)
{
    if (!x->is_store[j.event]) {
        if (source_of(x, j.event) != i.event)
            close_stores(c, i.event, source_of(x, j.event)); /* R6 */
        return;
    }
    if (j.event == i.event)
        return;
    close_stores(c, i.event, j.event);
    for (uint32_t n = 1; n < g->nodes; n++)
        for (uint32_t k = g->access_first[n]; n != m && k < g->access_first[n + 1]; k++) {
            struct access a = g->access[k];
            if (!x->is_store[a.event] && source_of(x, a.event) == i.event && a.slot == i.slot)
                close_edge(c, n, m); /* R7 */
        }
}

/* Fig. 4.2, lines 18 to 30, with no shortcut. Is there a cycle? */
static bool close_naively(struct closure *c)
{
    memset(c, 0, sizeof *c);
    for (uint32_t n = 1; n < g->nodes; n++)
        c->before[0][n] = true;
    for (uint32_t n = 0; n < g->nodes; n++)
        for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++)
            c->before[n][g->succ[i]] = true;
    do {
        make_transitive(c);
        for (uint32_t n = 0; n < g->nodes; n++)
            if (c->before[n][n])
                return true;
        c->more = false;
        for (uint32_t n = 0; n < g->nodes; n++)
            for (uint32_t i = g->access_first[n]; i < g->access_first[n + 1]; i++)
                for (uint32_t m = 1; x->is_store[g->access[i].event] && m < g->nodes; m++)
                    for (uint32_t j = g->access_first[m]; j < g->access_first[m + 1]; j++)
                        if ((c->before[n][m] || (n == m && i < j))
                            && cell_of(g, g->access[i]) == cell_of(g, g->access[j]))
                            close_pair(c, g->access[i], m, g->access[j]);
    } while (c->more);
    return false;
}

static void assert_clocks_are(const struct closure *closure)
{
    struct clocks *c;
    TEST_ASSERT_EQUAL(ORDEAL_OK, clocks_build(g, &c));
    TEST_ASSERT_EQUAL(ORDEAL_OK, clocks_baseline(c));
    bool same = !c->cyclic;
    for (uint32_t n = 1; same && n < g->nodes; n++)
        for (uint32_t m = 1; same && m < g->nodes; m++)
            if (g->kind.data[m] == NODE_REAL)
                same = clocks_before(c, n, m) == closure->before[n][m];
    clocks_free(c);
    TEST_ASSERT_TRUE(same);
}

struct tally { unsigned passes, failures, hidden, turned; };

static bool turned_back(enum ordeal_algorithm a)
{
    struct classic_result r;
    TEST_ASSERT_EQUAL(ORDEAL_OK, classic_check(g, a, &r));
    VEC_FREE(o, &r.order);
    return r.backtracks > 0;
}

static void compare(struct tally *tally)
{
    static struct closure closure;
    TEST_ASSERT_LESS_OR_EQUAL(MOST_NODES, g->nodes);
    bool cycle = close_naively(&closure);
    TEST_ASSERT_EQUAL(cycle ? ORDEAL_FAIL : ORDEAL_UNDECIDED, check(ORDEAL_BASELINE));
    if (!cycle)
        assert_clocks_are(&closure);
    enum ordeal_result complete = check(ORDEAL_DERIV_BACK);
    TEST_ASSERT_NOT_EQUAL(ORDEAL_UNDECIDED, complete);
    TEST_ASSERT_EQUAL(complete, check(ORDEAL_HEU_BACK));
    enum ordeal_result heu = check(ORDEAL_HEU), deriv = check(ORDEAL_DERIV);
    TEST_ASSERT_TRUE(heu == complete || heu == ORDEAL_UNDECIDED);
    TEST_ASSERT_TRUE(deriv == complete || deriv == ORDEAL_UNDECIDED);
    TEST_ASSERT_TRUE(!cycle || complete == ORDEAL_FAIL);
    tally->passes += complete == ORDEAL_PASS;
    tally->failures += complete == ORDEAL_FAIL;
    tally->hidden += complete == ORDEAL_FAIL && !cycle;
    tally->turned += complete == ORDEAL_PASS && turned_back(ORDEAL_DERIV_BACK);
}

static void compare_random(struct random_plan plan, unsigned count)
{
    struct tally tally = { 0 };
    for (uint64_t seed = 1; seed <= count; seed++) {
        open_random(seed, plan);
        for (int m = 0; m < ORDEAL_MODELS; m++) {
            if (plan.transactions && !models[m].transactions)
                continue;
            open_graph((enum ordeal_model)m);
            compare(&tally);
        }
        close_execution();
    }
    TEST_ASSERT_GREATER_THAN(count, tally.passes);
    TEST_ASSERT_GREATER_THAN(count, tally.failures);
}

static void test_rules_and_searches_on_random_executions(void)
{
    compare_random((struct random_plan){ .threads = 3, .words = 2, .ops = 10, .spoilt = 50 }, 1500);
    compare_random((struct random_plan){ .threads = 4, .words = 3, .ops = 20, .spoilt = 25 }, 300);
}

static void test_rules_and_searches_on_random_transactions(void)
{
    compare_random((struct random_plan){ .threads = 3, .words = 2, .ops = 10, .spoilt = 50,
                                         .transactions = true }, 1000);
}

/* What a sequential machine did is legal under every model. */
static void test_legal_executions_pass(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        open_random(seed, (struct random_plan){ .threads = 4, .words = 3, .ops = 60,
                                                .transactions = seed % 2 == 0 });
        for (int m = 0; m < ORDEAL_MODELS; m++) {
            if (seed % 2 == 0 && !models[m].transactions)
                continue;
            open_graph((enum ordeal_model)m);
            TEST_ASSERT_EQUAL(ORDEAL_UNDECIDED, check(ORDEAL_BASELINE));
            TEST_ASSERT_EQUAL(ORDEAL_PASS, check(ORDEAL_DERIV_BACK));
        }
        close_execution();
    }
}

/* A figure, its threads in a random order, and stores of other threads to its words. */
static void open_disturbed(const char *figure, uint64_t seed)
{
    char text[4096] = "";
    size_t length = 0;
    uint32_t turn = below(&seed, 9);
    for (uint32_t i = 0; i < 9; i++) {
        char thread[] = { 'P', (char)('1' + (i * 2 + turn) % 9), ' ', '\0' };
        for (const char *line = strstr(figure, thread); line; line = strstr(line + 1, thread)) {
            size_t end = strcspn(line, "\n") + 1;
            memcpy(text + length, line, end);
            length += end;
        }
    }
    for (uint32_t i = 0; i < 4; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "P%u S[%c]#%u\n",
                                   10 + below(&seed, 2), "ABD"[below(&seed, 3)], 100 + i);
    text[length] = '\0';
    open_execution(text);
    open_graph(ORDEAL_SC);
}

static void test_searches_agree_where_the_rules_are_blind(void)
{
    static const char *const legal[] = { FIGURE_4_6_A, FIGURE_4_6_C, FIGURE_4_6_D };
    static const char *const mirrored[] = { MIRROR_4_6_A, MIRROR_4_6_C, MIRROR_4_6_D };
    struct tally tally = { 0 };
    for (uint64_t seed = 1; seed <= 100; seed++) {
        open_disturbed(legal[seed % 3], seed);
        compare(&tally);
        close_execution();
        open_disturbed(mirrored[seed % 3], seed);
        compare(&tally);
        close_execution();
    }
    TEST_ASSERT_EQUAL(100, tally.passes);
    TEST_ASSERT_EQUAL(100, tally.hidden);
    TEST_ASSERT_GREATER_THAN_MESSAGE(3, tally.turned, "too few passes needed a step back");
}

/* ---- chains, limits, memory ---------------------------------------------------------- */

static uint32_t chains_under(enum ordeal_model m)
{
    struct clocks *c;
    open_graph(m);
    TEST_ASSERT_EQUAL(ORDEAL_OK, clocks_build(g, &c));
    uint32_t chains = c->chains;
    clocks_free(c);
    return chains;
}

static void test_virtual_sc_processors_are_few(void)
{
    open_random(7, (struct random_plan){ .threads = 3, .words = 3, .ops = 150, .spoilt = 0 });
    TEST_ASSERT_EQUAL(3, chains_under(ORDEAL_SC));
    TEST_ASSERT_EQUAL(3 * 2, chains_under(ORDEAL_TSO));
    TEST_ASSERT_LESS_OR_EQUAL(3 * (1 + 3), chains_under(ORDEAL_PSO));
}

/* Try every edge between unordered nodes, and take it back. */
static void test_undo_restores_the_clocks(void)
{
    struct clocks *c;
    open_execution(MIRROR_4_6_D);
    open_graph(ORDEAL_TSO);
    TEST_ASSERT_EQUAL(ORDEAL_OK, clocks_build(g, &c));
    TEST_ASSERT_EQUAL(ORDEAL_OK, clocks_baseline(c));
    size_t bytes = (size_t)g->nodes * c->stride * sizeof *c->clock;
    size_t heads = g->nodes * sizeof *c->out;
    int32_t *clock = malloc(bytes);
    uint32_t *out = malloc(heads);
    memcpy(clock, c->clock, bytes);
    memcpy(out, c->out, heads);
    c->recording = true;
    struct clocks_mark mark = clocks_mark(c);
    bool same = true, changed = false;
    for (uint32_t n = 1; n < g->nodes; n++)
        for (uint32_t m = 1; m < g->nodes; m++) {
            if (n == m || clocks_before(c, n, m) || clocks_before(c, m, n))
                continue;
            TEST_ASSERT_TRUE(clocks_add(c, n, m));
            TEST_ASSERT_EQUAL(ORDEAL_OK, clocks_fixpoint(c));
            changed |= memcmp(clock, c->clock, bytes) != 0;
            clocks_undo(c, mark);
            same = same && !c->cyclic && memcmp(clock, c->clock, bytes) == 0
                && memcmp(out, c->out, heads) == 0;
        }
    free(clock);
    free(out);
    clocks_free(c);
    TEST_ASSERT_TRUE(changed);
    TEST_ASSERT_TRUE(same);
}

static bool stop(void *user, const char *phase, double share)
{
    (void)user, (void)phase, (void)share;
    return true;
}

static void test_limits_are_kept(void)
{
    open_random(7, (struct random_plan){ .threads = 2, .words = 3, .ops = MOST_OPS, .spoilt = 0 });
    open_graph(ORDEAL_TSO);
    for (int a = ORDEAL_CONFLICT + 1; a < ORDEAL_ALGORITHMS; a++) {
        struct classic_result r;
        ordeal_set_limits(o, &(struct ordeal_limits){ .progress = stop });
        TEST_ASSERT_EQUAL(ORDEAL_LIMIT, classic_check(g, (enum ordeal_algorithm)a, &r));
        VEC_FREE(o, &r.order);
        ordeal_set_limits(o, &(struct ordeal_limits){ .bytes = ordeal_memory_used(o) + 100000 });
        TEST_ASSERT_EQUAL(ORDEAL_LIMIT, classic_check(g, (enum ordeal_algorithm)a, &r));
        VEC_FREE(o, &r.order);
    }
    ordeal_set_limits(o, &(struct ordeal_limits){ 0 });
}

static void starve(enum ordeal_algorithm a)
{
    for (size_t granted = 0;; granted++) {
        struct classic_result r;
        size_t used = ordeal_memory_used(o);
        failing.fail_at = failing.calls + granted + 1;
        enum ordeal_status status = classic_check(g, a, &r);
        failing.fail_at = 0;
        VEC_FREE(o, &r.order);
        TEST_ASSERT_EQUAL_size_t(used, ordeal_memory_used(o));
        if (status == ORDEAL_OK)
            return;
        TEST_ASSERT_EQUAL(ORDEAL_NO_MEMORY, status);
    }
}

static void test_every_allocation_may_fail(void)
{
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        open_execution("order A 1 2\norder B 11 12\norder D 31 32\n" MIRROR_4_6_A);
        open_graph((enum ordeal_model)m);
        for (int a = ORDEAL_CONFLICT; a < ORDEAL_ALGORITHMS; a++)
            starve((enum ordeal_algorithm)a);
        close_execution();
        open_execution(MIRROR_4_6_C);
        open_graph((enum ordeal_model)m);
        starve(ORDEAL_HEU_BACK);
        starve(ORDEAL_DERIV_BACK);
        close_execution();
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_figure_4_3_is_seen_by_the_rules);
    RUN_TEST(test_figure_4_6_needs_the_search);
    RUN_TEST(test_transactions_are_single_nodes);
    RUN_TEST(test_a_store_is_looked_at_again_after_its_readers);
    RUN_TEST(test_nothing_at_all);
    RUN_TEST(test_conflict_follows_the_given_order);
    RUN_TEST(test_conflict_names_the_word_without_order);
    RUN_TEST(test_rules_and_searches_on_random_executions);
    RUN_TEST(test_rules_and_searches_on_random_transactions);
    RUN_TEST(test_legal_executions_pass);
    RUN_TEST(test_searches_agree_where_the_rules_are_blind);
    RUN_TEST(test_virtual_sc_processors_are_few);
    RUN_TEST(test_undo_restores_the_clocks);
    RUN_TEST(test_limits_are_kept);
    RUN_TEST(test_every_allocation_may_fail);
    return UNITY_END();
}
