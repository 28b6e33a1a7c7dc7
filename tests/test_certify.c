/* SPDX-License-Identifier: Apache-2.0 */
/* The certifier against the axioms: every order of small executions, every kind of proof, and both
 * with faults put in. A certifier that says yes too often is worthless, so most of this looks for
 * an accepted lie: `support/axioms.c` decides what is one. */
#include <stdlib.h>
#include <string.h>

#include "axioms.h"
#include "fixture.h"
#include "oracle.h"
#include "rup.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static uint64_t seed;

static uint32_t chance(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

static void accepted(const struct fixture *f)
{
    enum ordeal_status status = certify(f->v);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, f->o->error.reason);
}

static void refused(const struct fixture *f, const char *reason)
{
    TEST_ASSERT_EQUAL(ORDEAL_INTERNAL, certify(f->v));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(f->o->error.reason, reason), f->o->error.reason);
}

/* ---- random executions --------------------------------------------------------------- */

struct flavour {
    bool transactions, wide, registers, times, facts, riscv;
    uint32_t ops;
};

/* An LR, and its SC right behind it. */
static void random_reservation(FILE *out, uint32_t thread, const char *word)
{
    static const char *const marks[] = { "", "", ".aq", ".rl" };
    fprintf(out, "P%u LR%s[%s]=%u\n", thread, marks[chance(4)], word, chance(3));
    fprintf(out, "P%u SC%s[%s]=%d#%u\n", thread, marks[chance(4)], word, chance(4) == 0,
            1 + chance(2));
}

static void random_access(FILE *out, uint32_t thread, const struct flavour *k)
{
    static const char *const words[] = { "A", "B", "A", "A+4" };
    static const char *const amos[] = { "AMOADD", "AMOAND", "AMOOR",   "AMOXOR",
                                        "AMOMIN", "AMOMAX", "AMOMINU", "AMOMAXU" };
    const char *word = words[chance(k->wide ? 4 : 2)];
    static const char *const uses[] = { "", "addr:", "ctrl:", "data:" };
    static const char *const marks[] = { "", "", "", ".aq", ".rl", ".aqrl" };
    const char *mark = k->riscv ? marks[chance(6)] : "";
    bool load = false;
    if (k->riscv && chance(6) == 0) {
        random_reservation(out, thread, word);
        return;
    }
    switch (chance(k->wide ? 11 : k->facts ? 7 : 8)) {
    case 0: case 1: case 2:
        fprintf(out, "P%u L%s[%s]=%u", thread, mark, word, chance(3));
        load = true;
        break;
    case 3:
    case 4:
    case 5: fprintf(out, "P%u S%s[%s]#%u", thread, mark, word, 1 + chance(2)); break;
    case 6:
        fprintf(out, "P%u SWAP%s[%s]=%u#%u", thread, mark, word, chance(3), 1 + chance(2));
        load = true;
        break;
    case 7:
        fprintf(out, "P%u %s%s[%s]=%u#%u", thread, amos[chance(8)], mark, word, chance(3),
                1 + chance(2));
        load = true;
        break;
    case 8:
        fprintf(out, "P%u AMOADD[A/8]=0x%xffffffff#%u", thread, chance(2), 1 + chance(2));
        load = true;
        break;
    case 9:
        fprintf(out, "P%u L[A/8]=0x%x0000000%x", thread, chance(3), chance(3));
        load = true;
        break;
    default:
        fprintf(out, "P%u S[A/8]#0x%x0000000%x", thread, 1 + chance(2), 1 + chance(2));
    }
    if (k->registers && chance(2))
        fprintf(out, " <%sr1", !k->riscv ? "" : uses[chance(load ? 3 : 4)]);
    if (k->registers && load && chance(2))
        fprintf(out, " >r1");
    if (k->times && chance(2)) {
        uint32_t begin = chance(9);
        fprintf(out, " @%u:%u", begin, begin + chance(4));
    }
    fputc('\n', out);
}

static void random_text(char *text, size_t size, const struct flavour *k)
{
    static const char *const membars[] = { "", "", ".SL", ".SS", ".LL", ".LS", ".SL.SS" };
    FILE *out = fmemopen(text, size, "w");
    uint32_t threads = 2 + (chance(4) == 0), open = 0, ops[3] = { 0 };
    for (uint32_t t = 0; t < threads; t++)
        fprintf(out, "P%u PREFETCH[A]\n", t); /* so that every thread is there */
    for (uint32_t i = 0; i < k->ops; i++) {
        uint32_t t = chance(threads);
        if (chance(5) == 0)
            fprintf(out, "P%u MEMBAR%s\n", t, membars[chance(7)]);
        if (k->transactions && !(open & 1u << t) && chance(4) == 0) {
            fprintf(out, "P%u TX.BEGIN\n", t);
            open |= 1u << t;
        }
        random_access(out, t, k);
        if (open & 1u << t && ++ops[t] % 2 == 0) {
            fprintf(out, "P%u TX.END\n", t);
            open &= ~(1u << t);
        }
    }
    for (uint32_t t = 0; t < threads; t++)
        if (open & 1u << t)
            fprintf(out, "P%u TX.END\n", t);
    fputc('\0', out);
    fclose(out);
}

/* Facts about A, where the text has what they speak of. */
static void add_facts(char *text)
{
    const char *one = strstr(text, "[A]#1"), *two = strstr(text, "[A]#2");
    bool wide = strstr(text, "A/8") || strstr(text, "A+4") || strstr(text, "SWAP")
             || strstr(text, "AMO") || strstr(text, "SC") || strstr(text, ".rl[A]")
             || strstr(text, ".aq[A]") || strstr(text, ".aqrl[A]");
    if (one && two && !wide && !strstr(one + 1, "[A]#1") && !strstr(two + 1, "[A]#2"))
        strcat(text, chance(2) ? "order A 1 2\n" : "order A 2 1\n");
    if ((one || two) && !wide && chance(2))
        strcat(text, chance(2) ? "final A=1\n" : "final A=2\n");
}

static struct flavour random_flavour(enum ordeal_model m, uint32_t ops)
{
    return (struct flavour){
        .transactions = m != ORDEAL_PC && chance(3) == 0,
        .wide = chance(3) == 0,
        .registers = m == ORDEAL_RMO || m >= ORDEAL_RVWMO || chance(8) == 0,
        .riscv = m >= ORDEAL_RVWMO && chance(3) != 0,
        .times = chance(4) == 0,
        .facts = chance(2) == 0,
        .ops = ops,
    };
}

static void random_fixture(struct fixture *f, enum ordeal_model m, uint32_t ops)
{
    char text[1024];
    struct flavour k = random_flavour(m, ops);
    random_text(text, sizeof text - 64, &k);
    if (k.facts)
        add_facts(text);
    fixture_open(f, text, m, ORDEAL_PASS);
    f->v->time_order = k.times;
}

/* ---- every order --------------------------------------------------------------------- */

enum { MAX_PLACES = 7 };

/* Calls `visit` for each sequence of the places in v->order. */
static void each_order(struct fixture *f, size_t from, void (*visit)(struct fixture *, void *),
                       void *user)
{
    struct ordeal_place *p = f->v->order.data;
    if (from == f->v->order.count) {
        visit(f, user);
        return;
    }
    for (size_t i = from; i < f->v->order.count; i++) {
        struct ordeal_place here = p[from];
        p[from] = p[i], p[i] = here;
        each_order(f, from + 1, visit, user);
        p[i] = p[from], p[from] = here;
    }
}

static bool set_places(struct fixture *f)
{
    struct ordeal_place places[MAX_PLACES];
    size_t count = axioms_places(f->v->x, f->v->model, places, MAX_PLACES);
    for (size_t i = 0; i < count && count <= MAX_PLACES; i++)
        fixture_place(f, places[i].event, places[i].view);
    return count <= MAX_PLACES;
}

struct tally { uint32_t legal, illegal; };

static void compare_with_axioms(struct fixture *f, void *user)
{
    struct tally *tally = user;
    const struct ordeal_verdict *v = f->v;
    bool legal = axioms_hold(v->x, v->model, v->time_order, v->order.data, v->order.count);
    enum ordeal_status status = certify(v);
    if (status != (legal ? ORDEAL_OK : ORDEAL_INTERNAL)) {
        ordeal_write_text(f->t, stdout);
        printf("%s:", ordeal_model_name(v->model));
        for (size_t i = 0; i < v->order.count; i++)
            printf(" %u:%u", v->order.data[i].event, v->order.data[i].view);
        printf("\n");
        TEST_FAIL_MESSAGE(legal ? f->o->error.reason : "an illegal order was certified");
    }
    legal ? tally->legal++ : tally->illegal++;
}

static void every_order_of_random_executions(void)
{
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        struct tally tally = { 0, 0 };
        seed = 1000 + (uint64_t)m;
        for (int round = 0; round < 1600; round++) {
            struct fixture f;
            random_fixture(&f, (enum ordeal_model)m, 2 + chance(round % 20 ? 4 : 5));
            if (set_places(&f))
                each_order(&f, 0, compare_with_axioms, &tally);
            fixture_close(&f);
        }
        TEST_ASSERT_GREATER_THAN(500, tally.legal);
        TEST_ASSERT_GREATER_THAN(500, tally.illegal);
    }
}

/* ---- orders that are none ------------------------------------------------------------ */

static void places_must_be_a_permutation(void)
{
    struct fixture f;
    fixture_open(&f, "P0 S[A]#1\nP1 SWAP[A]=1#2\n", ORDEAL_TSO, ORDEAL_PASS);
    uint32_t s = fixture_store(&f, 0), l = fixture_load(&f, 1), initial = fixture_initial(&f, 0);
    const struct { uint32_t events[3]; size_t count; const char *reason; } cases[] = {
        { { s, l, 0 }, 1, "1 places for 2" },
        { { s, s, l }, 2, "it has a place already" },
        { { s, l, l }, 3, "it has a place already" },
        { { s, initial, 0 }, 2, "not the first of a group" },
        { { s, l + 1, 0 }, 2, "not the first of a group" },
        { { s, 99, 0 }, 2, "not the first of a group" },
        { { NONE, l, 0 }, 2, "place 1: event 4294967295" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_clear(&f);
        for (size_t k = 0; k < cases[i].count; k++)
            fixture_place(&f, cases[i].events[k], 0);
        refused(&f, cases[i].reason);
    }
    fixture_clear(&f);
    fixture_place(&f, s, 0);
    fixture_place(&f, l, 0);
    accepted(&f);
    f.v->model = ORDEAL_MODELS;
    refused(&f, "no memory model");
    fixture_close(&f);
}

/* Whatever an AMO made of these values, the certifier knows; and what is a bit off. */
static void amo_of(uint32_t function, uint8_t size_log2, uint64_t read, uint64_t operand)
{
    static const char *const lines[] = { "P0 S[A/1]#0", "P0 S[A/2]#0", "P0 S[A]#0", "P0 S[A/8]#0" };
    struct fixture f;
    struct ordeal_op amo = { .kind = ORDEAL_AMO, .size_log2 = size_log2, .base = 1 };
    uint64_t mask = size_log2 < 3 ? (UINT64_C(1) << (8u << size_log2)) - 1 : UINT64_MAX;
    amo.function = (uint8_t)function;
    amo.flags = ORDEAL_HAS_VALUE;
    amo.read = read & mask;
    amo.write = operand & mask;
    fixture_open(&f, lines[chance(size_log2 + 1u)], ORDEAL_TSO, ORDEAL_UNDECIDED); /* its words */
    execution_free(f.v->x);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_trace_add(f.t, &amo, 0));
    TEST_ASSERT_EQUAL(ORDEAL_OK, execution_build(f.t, &f.v->x));
    struct execution *x = f.v->x;
    uint64_t memory = amo.read, whole = 0;
    oracle_amo((enum oracle_function)function, 1u << size_log2, (uint8_t *)&memory,
               (const uint8_t *)&amo.write);
    accepted(&f);
    for (uint32_t e = x->locations; e < x->events; e++) {
        if (!x->is_store[e] || x->op[e] != 1)
            continue;
        whole |= x->value[e] << 8 * x->location[x->loc[e]].address;
        uint64_t bit = UINT64_C(1) << chance(8u << x->location[x->loc[e]].size_log2);
        x->value[e] ^= bit;
        refused(&f, "it does not write");
        x->value[e] ^= bit;
    }
    TEST_ASSERT_EQUAL_HEX64(memory, whole);
    fixture_close(&f);
}

static void amos_write_what_their_functions_say(void)
{
    /* clang-format off */
    static const uint64_t edges[] = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff,
                                      0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX,
                                      UINT64_C(1) << 63, UINT64_C(0x0123456789abcdef) };
    /* clang-format on */
    enum { EDGES = sizeof edges / sizeof *edges };
    seed = 9;
    for (uint32_t function = 0; function < ORDEAL_AMO_FUNCTIONS; function++)
        for (uint8_t size_log2 = 0; size_log2 <= 3; size_log2++)
            for (size_t i = 0; i < EDGES * EDGES; i++)
                amo_of(function, size_log2, edges[i / EDGES], edges[i % EDGES]);
}

static void views_must_be_those_of_the_loaders(void)
{
    struct fixture f;
    fixture_open(&f, "P0 S[A]#1\nP1 L[A]=1\nP2 S[B]#1\n", ORDEAL_PC, ORDEAL_PASS);
    uint32_t s = fixture_store(&f, 0), l = fixture_load(&f, 1), unread = fixture_store(&f, 2);
    const struct { struct ordeal_place p[3]; const char *reason; } cases[] = {
        { { { s, 0 }, { l, 1 }, { unread, 0 } }, "no such view" },
        { { { s, 1 }, { l, 0 }, { unread, 0 } }, "no such view" },
        { { { s, 1 }, { l, 1 }, { unread, 1 } }, "no such view" },
        { { { s, 1 }, { l, 1 }, { l, 1 } }, "it has a place already" },
        { { { s, 1 }, { l, 1 }, { 77, 1 } }, "there is no event 77" },
        { { { s, NONE }, { l, 1 }, { unread, 0 } }, "no such view" },
        { { { l, 1 }, { s, 1 }, { unread, 0 } }, "the latest store it can see" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_clear(&f);
        for (size_t k = 0; k < 3; k++)
            fixture_place(&f, cases[i].p[k].event, cases[i].p[k].view);
        refused(&f, cases[i].reason);
    }
    fixture_clear(&f);
    fixture_place(&f, s, 1);
    fixture_place(&f, unread, 0);
    fixture_place(&f, l, 1);
    accepted(&f);
    fixture_close(&f);
    fixture_open(&f, "P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\n", ORDEAL_PC, ORDEAL_PASS);
    fixture_place(&f, fixture_store(&f, 1), 0);
    refused(&f, "PC has no transactions");
    fixture_close(&f);
}

/* Two words read at once under PC: the store between them would be seen by half. */
static void atomic_words_stay_together_in_views(void)
{
    struct fixture f;
    fixture_open(&f, "atomic 8\nP0 S[A/8]#0x100000001\nP1 L[A/8]=0x0\nP1 L[A+4]=1\nP1 L[A]=1\n",
                 ORDEAL_PC, ORDEAL_PASS);
    const struct execution *x = f.v->x;
    uint32_t s = fixture_store(&f, 0), l = fixture_load(&f, 1);
    TEST_ASSERT_EQUAL(x->group[s], x->group[s + 1]);
    TEST_ASSERT_EQUAL(x->group[l], x->group[l + 1]);
    const uint32_t good[] = { l, l + 1, s, s + 1, fixture_load(&f, 2), fixture_load(&f, 3) };
    const uint32_t torn[] = { l, s, l + 1, s + 1, fixture_load(&f, 2), fixture_load(&f, 3) };
    for (int i = 0; i < 6; i++)
        fixture_place(&f, good[i], 1);
    accepted(&f);
    fixture_clear(&f);
    for (int i = 0; i < 6; i++)
        fixture_place(&f, torn[i], 1);
    refused(&f, "not together");
    fixture_close(&f);
}

static void undecided_has_nothing_to_prove(void)
{
    struct fixture f;
    fixture_open(&f, "P0 S[A]#1\n", ORDEAL_TSO, ORDEAL_UNDECIDED);
    accepted(&f);
    fixture_close(&f);
}

/* ---- proofs, one for each rule ------------------------------------------------------------ */

#define LOAD(n) fixture_load(f, n)
#define STORE(n) fixture_store(f, n)
#define INITIAL(n) fixture_initial(f, n)
#define EDGE(rule, from, to) fixture_edge(f, ORDEAL_RULE_##rule, from, to, NONE)
#define EDGE_VIA(rule, from, to, via) fixture_edge(f, ORDEAL_RULE_##rule, from, to, via)
#define IN_VIEW(n) fixture_views(f, n, n)

static void store_buffering(struct fixture *f, enum ordeal_rule rule)
{
    uint32_t stores[] = { STORE(0), STORE(2) }, loads[] = { LOAD(1), LOAD(3) };
    fixture_step(f);
    for (int i = 0; i < 2; i++) {
        fixture_edge(f, rule, stores[i], loads[i], NONE);
        EDGE_VIA(R7, loads[i], stores[!i], f->v->x->loc[loads[i]]);
    }
}

static void prove_op_op(struct fixture *f) { store_buffering(f, ORDEAL_RULE_PO); }

static void prove_membar(struct fixture *f)
{
    uint32_t stores[] = { STORE(0), STORE(3) }, loads[] = { LOAD(2), LOAD(5) };
    fixture_step(f);
    for (int i = 0; i < 2; i++) {
        EDGE(R3, stores[i], loads[i]);
        IN_VIEW(!i);
        EDGE_VIA(R7, loads[i], stores[!i], f->v->x->loc[loads[i]]);
        IN_VIEW(i);
    }
}

static void prove_message(struct fixture *f) /* views: P1's, where there are any */
{
    fixture_step(f);
    EDGE(R2, STORE(0), STORE(1));
    IN_VIEW(1);
    EDGE(R4, STORE(1), LOAD(2));
    IN_VIEW(1);
    EDGE(R1, LOAD(2), LOAD(3));
    IN_VIEW(1);
    EDGE_VIA(R7, LOAD(3), STORE(0), INITIAL(0));
    IN_VIEW(1);
}

static void prove_own_store(struct fixture *f)
{
    fixture_step(f);
    EDGE_VIA(R5, STORE(0), INITIAL(0), LOAD(1));
    EDGE(INIT, INITIAL(0), STORE(0));
}

static void prove_same_word(struct fixture *f)
{
    fixture_step(f);
    fixture_literal(f, false, false, STORE(0), STORE(1));
    EDGE(SAME, STORE(0), STORE(1));
    EDGE(CO, STORE(1), STORE(0));
    fixture_step(f);
    EDGE(R4, STORE(1), LOAD(2));
    EDGE(R1, LOAD(2), LOAD(3));
    EDGE_VIA(R7, LOAD(3), STORE(1), STORE(0));
}

static void prove_dependence(struct fixture *f)
{
    fixture_step(f);
    EDGE(DEP, LOAD(0), STORE(1));
    EDGE(R4, STORE(1), LOAD(2));
    EDGE(DEP, LOAD(2), STORE(3));
    EDGE(R4, STORE(3), LOAD(0));
}

/* L1 <d S2 <d L3 <d S4: each by the other means, and S2 is not kept before L3. */
static void prove_long_dependence(struct fixture *f)
{
    fixture_step(f);
    EDGE(DEP, LOAD(0), STORE(3));
    EDGE(R4, STORE(3), LOAD(4));
    EDGE(DEP, LOAD(4), STORE(5));
    EDGE(R4, STORE(5), LOAD(0));
}

static void prove_transactions(struct fixture *f)
{
    fixture_step(f);
    EDGE(T3, STORE(1), LOAD(3));
    EDGE_VIA(R7, LOAD(3), STORE(4), INITIAL(3));
    EDGE(T2, STORE(4), LOAD(6));
    EDGE_VIA(R7, LOAD(6), STORE(1), INITIAL(6));
}

static void prove_future(struct fixture *f)
{
    fixture_step(f);
    EDGE(R4, STORE(1), LOAD(0));
    EDGE(SAME, LOAD(0), STORE(1));
}

static void prove_own_future(struct fixture *f) /* one edge inside of a group is a circle */
{
    fixture_step(f);
    EDGE(R4, STORE(0), LOAD(0));
}

static void prove_known_order(struct fixture *f)
{
    fixture_step(f);
    fixture_literal(f, false, true, STORE(1), STORE(0));
    EDGE(ORDER, STORE(0), STORE(1));
    EDGE(CO, STORE(1), STORE(0));
    fixture_step(f);
    EDGE(R4, STORE(1), LOAD(2));
    EDGE(R1, LOAD(2), LOAD(3));
    EDGE_VIA(R7, LOAD(3), STORE(1), STORE(0));
}

static void prove_time(struct fixture *f)
{
    fixture_step(f);
    EDGE(TIME, STORE(0), LOAD(1));
    EDGE_VIA(R7, LOAD(1), STORE(0), INITIAL(0));
}

static void prove_final(struct fixture *f)
{
    fixture_step(f);
    EDGE(FINAL, STORE(1), STORE(0));
    EDGE(R2, STORE(0), STORE(1));
}

/* Either of the two candidates is impossible; that one was seen is known without saying. */
static void prove_candidates(struct fixture *f)
{
    for (uint32_t i = 1; i <= 2; i++) {
        fixture_step(f);
        fixture_literal(f, true, true, LOAD(0), STORE(i));
        EDGE(R4, STORE(i), LOAD(0));
        EDGE(R1, LOAD(0), STORE(i));
    }
    fixture_step(f);
}

/* Each swap saw the initial value: whichever is second had a store between its halves. */
static void prove_swaps(struct fixture *f)
{
    for (uint32_t i = 0; i < 2; i++) {
        fixture_step(f);
        fixture_literal(f, false, false, STORE(i), STORE(!i));
        EDGE_VIA(R7, LOAD(i), STORE(!i), INITIAL(i));
        IN_VIEW(!i);
        EDGE_VIA(ATOMIC, STORE(!i), LOAD(i), STORE(i));
        IN_VIEW(!i);
    }
    fixture_step(f);
}

static void prove_swaps_in_one_circle(struct fixture *f)
{
    fixture_step(f);
    for (uint32_t i = 0; i < 2; i++) {
        EDGE_VIA(ATOMIC, STORE(i), STORE(!i), INITIAL(i));
        IN_VIEW(1);
    }
}

#define STORE_BUFFERING "P0 S[A]#1\nP0 L[B]=0\nP1 S[B]#1\nP1 L[A]=0\n"
#define MESSAGE "P0 S[A]#1\nP0 S[B]#1\nP1 L[B]=1\nP1 L[A]=0\n"
#define FENCED(M) "P0 S[A]#1\nP0 MEMBAR" M "\nP0 L[B]=0\nP1 S[B]#1\nP1 MEMBAR" M "\nP1 L[A]=0\n"
#define NEW_THEN_OLD "P0 S[A]#1\nP0 S[A]#2\nP1 L[A]=2\nP1 L[A]=1\n"
#define SWAPS "P0 SWAP[A]=0#1\nP1 SWAP[A]=0#2\n"
enum {
    SC = 1 << ORDEAL_SC,
    TSO = 1 << ORDEAL_TSO,
    PSO = 1 << ORDEAL_PSO,
    PC = 1 << ORDEAL_PC,
    RMO = 1 << ORDEAL_RMO,
    RVWMO = 1 << ORDEAL_RVWMO,
    RVTSO = 1 << ORDEAL_RVTSO
};
#define EVERY (SC | TSO | PSO | PC | RMO | RVWMO | RVTSO)

static const struct example {
    const char *text;
    void (*prove)(struct fixture *f);
    unsigned models;               /* under which the proof holds; under the others it does not */
    bool time_order;
} examples[] = {
    { STORE_BUFFERING, prove_op_op, SC, false },
    { FENCED(""), prove_membar, EVERY, false },
    { FENCED(".SL"), prove_membar, EVERY, false },
    { FENCED(".LL.LS.SS"), prove_membar, 0, false },
    { MESSAGE, prove_message, SC | TSO | PC | RVTSO, false },
    { "P0 S[A]#1\nP0 L[A]=0\n", prove_own_store, EVERY, false },
    { NEW_THEN_OLD, prove_same_word, SC | TSO | PSO | RVTSO, false }, /* PC: in P1's view, below */
    { "P0 L[A]=1 >r1\nP0 S[B]#1 <r1\nP1 L[B]=1 >r1\nP1 S[A]#1 <r1\n", prove_dependence,
      RMO | RVWMO | RVTSO, false },
    { "P0 L[A]=1 >r1\nP0 S[B]#1 <r1\nP1 L[B]=1 >r1\nP1 S[A]#1\n", prove_dependence, 0, false },
    { "P0 L[A]=1 >r1\nP0 S[C]#7 <r1\nP0 L[C]=7 >r2\nP0 S[B]#1 <r2\nP1 L[B]=1 >r1\nP1 S[A]#1 <r1\n",
      prove_long_dependence, RMO, false },
    { "P0 L[A]=1 >r1\nP0 S[C]#7 <r1\nP0 L[D]=0 >r2\nP0 S[B]#1 <r2\nP1 L[B]=1 >r1\nP1 S[A]#1 <r1\n",
      prove_long_dependence, 0, false },
    { "P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\nP0 L[B]=0\n"
      "P1 S[B]#1\nP1 TX.BEGIN\nP1 L[A]=0\nP1 TX.END\n",
      prove_transactions, EVERY & ~PC, false },
    { "P0 L[A]=1\nP0 S[A]#1\n", prove_future, EVERY, false },
    { "P0 SWAP[A]=1#1\n", prove_own_future, EVERY & ~PC, false },
    { "P0 S[A]#1\nP1 S[A]#2\nP2 L[A]=2\nP2 L[A]=1\norder A 1 2\n", prove_known_order,
      SC | TSO | PSO | RVTSO, false },
    { "P0 S[A]#1\nP1 S[A]#2\nP2 L[A]=2\nP2 L[A]=1\norder A 2 1\n", prove_known_order, 0, false },
    { "P0 S[A]#1 @1:2\nP1 L[A]=0 @3:4\n", prove_time, EVERY & ~PC, true },
    { "P0 S[A]#1 @1:3\nP1 L[A]=0 @3:4\n", prove_time, 0, true },
    { "P0 S[A]#1 @1:2\nP1 L[A]=0 @3:4\n", prove_time, 0, false },
    { "P0 S[A]#1\nP0 S[A]#2\nfinal A=1\n", prove_final, SC | TSO | PC | RVTSO, false },
    { "P0 S[A]#1\nP0 S[A]#2\nfinal A=2\n", prove_final, 0, false },
    { "P0 L[A]=1\nP0 S[A]#1\nP0 S[A]#1\n", prove_candidates, SC | TSO | PSO | PC | RVTSO, false },
    { "P0 L[A]=1\nP0 S[A]#1\nP0 S[A]#1\nP1 S[A]#1\n", prove_candidates, 0, false },
    { SWAPS, prove_swaps, PC, false },
    { SWAPS, prove_swaps_in_one_circle, PC, false },
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static bool open_example(struct fixture *f, const struct example *e, enum ordeal_model m)
{
    fixture_open(f, e->text, m, ORDEAL_FAIL);
    f->v->time_order = e->time_order;
    e->prove(f);
    fixture_whole_core(f);
    return e->models & 1u << m;
}

static void each_rule_under_each_model(void)
{
    for (size_t i = 0; i < EXAMPLES; i++)
        for (int m = 0; m < ORDEAL_MODELS; m++) {
            struct fixture f;
            char message[128];
            bool good = open_example(&f, &examples[i], (enum ordeal_model)m);
            enum ordeal_status status = certify(f.v);
            snprintf(message, sizeof message, "example %zu, %s: %.80s", i,
                     ordeal_model_name((enum ordeal_model)m), f.o->error.reason);
            TEST_ASSERT_EQUAL_MESSAGE(good ? ORDEAL_OK : ORDEAL_INTERNAL, status, message);
            fixture_close(&f);
        }
}

static void views_matter_in_a_circle(void)
{
    struct fixture fixture, *f = &fixture;
    fixture_open(f, MESSAGE, ORDEAL_PC, ORDEAL_FAIL);
    fixture_whole_core(f);
    prove_message(f);
    accepted(f);
    struct ordeal_edge *edges = f->v->proof.edges.data;
    edges[0].from_view = 0;
    refused(f, "step 1, edge 4");
    edges[3].to_view = 0;
    refused(f, "looks at another view");
    edges[0].from_view = edges[3].to_view = 1;
    edges[0].to_view = edges[1].from_view = 0;
    refused(f, "looks at another view");
    edges[0].to_view = edges[1].from_view = 2;
    refused(f, "no such view");
    fixture_close(f);
    /* Coherence stays in a view. */
    fixture_open(f, NEW_THEN_OLD, ORDEAL_PC, ORDEAL_FAIL);
    fixture_whole_core(f);
    prove_same_word(f);
    for (size_t i = 0; i < f->v->proof.edges.count; i++)
        f->v->proof.edges.data[i].from_view = f->v->proof.edges.data[i].to_view = 1;
    accepted(f);
    f->v->proof.edges.data[0].from_view = f->v->proof.edges.data[1].to_view = 0;
    refused(f, "it leaves its view");
    fixture_close(f);
}

static void atomicity_stays_in_a_view(void)
{
    struct fixture fixture, *f = &fixture;
    fixture_open(f, SWAPS, ORDEAL_PC, ORDEAL_FAIL);
    fixture_whole_core(f);
    prove_swaps_in_one_circle(f);
    accepted(f);
    f->v->proof.edges.data[0].from_view = f->v->proof.edges.data[1].to_view = 0;
    refused(f, "it leaves its view");
    fixture_close(f);
}

static void assumptions_end_with_their_step(void)
{
    struct fixture fixture, *f = &fixture;
    fixture_open(f, "P0 S[A]#1\nP1 S[A]#2\nP2 L[A]=2\nP2 L[A]=1\n", ORDEAL_TSO, ORDEAL_FAIL);
    fixture_whole_core(f);
    for (int i = 0; i < 2; i++) {
        fixture_step(f);
        if (i == 0)
            fixture_literal(f, false, true, STORE(0), STORE(1));
        EDGE(R4, STORE(1), LOAD(2));
        EDGE(R1, LOAD(2), LOAD(3));
        EDGE_VIA(R7, LOAD(3), STORE(1), STORE(0));
    }
    refused(f, "step 2, edge 3");
    fixture_close(f);
}

/* What happens at once cannot be in a circle with itself, except against its own program order. */
static void a_group_is_no_circle(void)
{
    struct fixture fixture, *f = &fixture;
    fixture_open(f, "P0 TX.BEGIN\nP0 L[A]=0\nP0 S[A]#1\nP0 S[A]#2\nP0 L[A]=2\nP0 TX.END\n",
                 ORDEAL_TSO, ORDEAL_FAIL);
    fixture_whole_core(f);
    fixture_step(f);
    EDGE_VIA(R5, STORE(2), STORE(3), LOAD(4));
    refused(f, "it stays where it is");
    fixture_clear(f);
    fixture_step(f);
    EDGE_VIA(R7, LOAD(1), STORE(2), INITIAL(1));
    refused(f, "it stays where it is");
    fixture_close(f);
    fixture_open(f, "P0 TX.BEGIN\nP0 S[A]#1\nP0 S[A]#2\nP0 L[A]=1\nP0 TX.END\n", ORDEAL_TSO,
                 ORDEAL_FAIL);
    fixture_whole_core(f);
    fixture_step(f);
    EDGE_VIA(R5, STORE(2), STORE(1), LOAD(3));
    accepted(f);
    fixture_close(f);
}

/* ---- proofs with faults -------------------------------------------------------------- */

static void a_proof_needs_its_parts(void)
{
    struct fixture fixture, *f = &fixture;
    fixture_open(f, MESSAGE, ORDEAL_TSO, ORDEAL_FAIL);
    fixture_whole_core(f);
    refused(f, "does not end in a contradiction");
    fixture_step(f);
    refused(f, "step 1: it does not follow");
    fixture_clear(f);
    prove_message(f);
    accepted(f);
    fixture_literal(f, false, false, STORE(0), STORE(1));
    refused(f, "does not end in a contradiction");
    f->v->proof.steps.data[0].literal_count = 0;
    f->v->proof.steps.data[0].edge_count = 99;
    refused(f, "step 1: it lies outside");
    f->v->proof.steps.data[0].edge_count = 3;
    refused(f, "step 1, edge 3");
    f->v->proof.steps.data[0].edge_count = 4;
    f->v->core.count--;
    refused(f, "not in the core");
    fixture_whole_core(f);
    f->v->core.data[1] = 0;
    refused(f, "no ascending list");
    f->v->core.data[1] = 1;
    f->v->core.data[3] = 4;
    refused(f, "no ascending list");
    fixture_close(f);
}

static void literals_must_make_sense(void)
{
    struct fixture fixture, *f = &fixture;
    fixture_open(f, "P0 S[A]#1\nP0 S[B]#1\nP1 L[A]=1\nP1 S[A]#2\n", ORDEAL_TSO, ORDEAL_FAIL);
    const struct ordeal_literal wrong[] = {
        { false, false, STORE(0), STORE(1) }, { false, false, STORE(0), STORE(0) },
        { false, false, LOAD(2), STORE(0) },  { false, true, STORE(0), 99 },
        { true, false, STORE(0), LOAD(2) },   { true, false, LOAD(2), STORE(3) },
        { true, false, LOAD(2), STORE(1) },   { true, true, NONE, STORE(0) },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fixture_clear(f);
        fixture_step(f);
        fixture_literal(f, wrong[i].reads, wrong[i].negated, wrong[i].a, wrong[i].b);
        fixture_step(f);
        refused(f, "step 1: a literal");
    }
    /* What is known without proof: an initial store is first, an only candidate was seen. */
    fixture_clear(f);
    fixture_step(f);
    fixture_literal(f, false, false, INITIAL(0), STORE(0));
    fixture_step(f);
    fixture_literal(f, true, false, LOAD(2), STORE(0));
    fixture_step(f);
    fixture_literal(f, false, false, STORE(0), STORE(3));
    fixture_step(f);
    refused(f, "step 3: it does not follow");
    fixture_close(f);
}

static void a_value_nobody_wrote(void)
{
    struct fixture fixture, *f = &fixture;
    fixture_open(f, "P0 S[A]#1\nP1 L[A]=5\nP1 L[B]=1\nP1 L[A]=1\n", ORDEAL_RMO, ORDEAL_FAIL);
    const uint32_t right[] = { LOAD(1), LOAD(2) }, wrong[] = { LOAD(3), STORE(0), 99, INITIAL(0) };
    fixture_whole_core(f);
    for (int i = 0; i < 2; i++) {
        f->v->unwritten = right[i];
        accepted(f);
    }
    f->v->core.data[1] = 3; /* 0 3, without the load itself */
    f->v->core.count = 2;
    refused(f, "not in the core");
    for (int i = 0; i < 4; i++) {
        f->v->unwritten = wrong[i];
        refused(f, "nobody wrote");
    }
    fixture_close(f);
    fixture_open(f, "P0 S[A]#1\nfinal A=2\n", ORDEAL_TSO, ORDEAL_FAIL);
    accepted(f);
    fixture_close(f);
    fixture_open(f, "P0 S[A]#1\nfinal A=1\n", ORDEAL_TSO, ORDEAL_FAIL);
    refused(f, "does not end in a contradiction");
    fixture_close(f);
}

/* Every field of every edge and literal to every small value: no crash, and no proof of the
 * contrary (the sanitizers watch); nearly all are refused. */
static void every_field_changed(void)
{
    uint32_t refusals = 0, trials = 0;
    for (size_t i = 0; i < EXAMPLES; i++) {
        struct fixture f;
        enum ordeal_model m = ORDEAL_SC;
        while (m < ORDEAL_MODELS && !(examples[i].models & 1u << m))
            m++;
        if (m == ORDEAL_MODELS)
            continue;
        open_example(&f, &examples[i], m);
        for (size_t e = 0; e < f.v->proof.edges.count; e++)
            for (int field = 0; field < 6; field++)
                for (uint32_t value = 0; value <= f.v->x->events + 1; value++) {
                    struct ordeal_edge *edge = &f.v->proof.edges.data[e], saved = *edge;
                    uint32_t *const fields[] = { &edge->from, &edge->to, &edge->via,
                                                 &edge->from_view, &edge->to_view };
                    if (field == 5)
                        edge->rule = (uint8_t)value;
                    else
                        *fields[field] = value == f.v->x->events + 1 ? NONE : value;
                    enum ordeal_status status = certify(f.v);
                    TEST_ASSERT_TRUE(status == ORDEAL_OK || status == ORDEAL_INTERNAL);
                    if (field < 3) {
                        trials++;
                        refusals += status != ORDEAL_OK;
                    }
                    *edge = saved;
                }
        for (size_t l = 0; l < f.v->proof.literals.count; l++)
            for (uint32_t value = 0; value <= f.v->x->events + 1; value++) {
                struct ordeal_literal *literal = &f.v->proof.literals.data[l], saved = *literal;
                literal->a = value;
                certify(f.v);
                *literal = saved;
                literal->b = value;
                certify(f.v);
                *literal = saved;
                literal->reads = value & 1;
                literal->negated = value >> 1 & 1;
                certify(f.v);
                *literal = saved;
            }
        accepted(&f);
        fixture_close(&f);
    }
    TEST_ASSERT_GREATER_THAN(trials * 2 / 3, refusals);
}

/* ---- accepted edges hold in every legal order ------------------------------------------------ */

/* All legal orders of an execution. */
enum { MAX_LEGAL = 256 };
struct legal { struct ordeal_place order[MAX_LEGAL][MAX_PLACES]; size_t count; };

static void keep_if_legal(struct fixture *f, void *user)
{
    struct legal *legal = user;
    const struct ordeal_verdict *v = f->v;
    if (axioms_hold(v->x, v->model, v->time_order, v->order.data, v->order.count)) {
        if (legal->count < MAX_LEGAL)
            memcpy(legal->order[legal->count], v->order.data,
                   v->order.count * sizeof *v->order.data);
        legal->count++;
    }
}

static struct ordeal_literal random_literal(const struct execution *x)
{
    for (;;) {
        struct ordeal_literal l = { .reads = chance(3) == 0, .negated = chance(2),
                                    .a = chance(x->events), .b = chance(x->events) };
        if (l.a != l.b && x->loc[l.a] == x->loc[l.b] && x->is_store[l.b]
            && x->is_store[l.a] != l.reads && (!l.reads || x->value[l.a] == x->value[l.b]))
            return l;
    }
}

static bool has_two_stores_of_a_word(const struct execution *x)
{
    return x->events > x->locations && x->is_store[x->locations]; /* it, and the initial one */
}

/* The edge stands first in a step whose second edge never holds: which of them is refused? */
static bool edge_accepted(struct fixture *f, const struct ordeal_literal *clause, size_t literals,
                          const struct ordeal_edge *e)
{
    fixture_clear(f);
    fixture_step(f);
    for (size_t i = 0; i < literals; i++)
        fixture_literal(f, clause[i].reads, clause[i].negated, clause[i].a, clause[i].b);
    fixture_edge(f, e->rule, e->from, e->to, e->via);
    fixture_views(f, e->from_view, e->to_view);
    fixture_edge(f, ORDEAL_RULE_R6, e->to, e->from, NONE);
    fixture_views(f, e->to_view, e->from_view);
    fixture_step(f);
    TEST_ASSERT_EQUAL(ORDEAL_INTERNAL, certify(f->v));
    return strncmp(f->o->error.reason, "step 1, edge 2", 14) == 0;
}

struct edge_test {
    struct fixture f;
    struct legal legal;
    struct ordeal_literal clause[2];
    size_t literals;
    uint32_t accepted[ORDEAL_RULE_COUNT];
};

/* In each legal order in which the assumptions hold, so must the edge. */
static void edge_holds(struct edge_test *t, const struct ordeal_edge *e, size_t places)
{
    const struct ordeal_verdict *v = t->f.v;
    if (!axioms_lands(v->x, v->model, e->from, e->from_view)
        || !axioms_lands(v->x, v->model, e->to, e->to_view))
        return;
    t->accepted[e->rule]++;
    for (size_t i = 0; i < t->legal.count; i++) {
        const struct ordeal_place *order = t->legal.order[i];
        bool assumed = true;
        for (size_t l = 0; l < t->literals; l++)
            assumed &= !axioms_literal(v->x, v->model, order, places, &t->clause[l]);
        if (assumed && !axioms_before(v->x, v->model, order, places, e->from, e->from_view, e->to,
                                      e->to_view)) {
            ordeal_write_text(t->f.t, stdout);
            printf("%s: %s %u:%u -> %u:%u via %d\n", ordeal_model_name(v->model),
                   ordeal_rule_name(e->rule), e->from, e->from_view, e->to, e->to_view,
                   (int)e->via);
            TEST_FAIL_MESSAGE("an edge was accepted that does not hold");
        }
    }
}

/* Every edge from an event to another, by every rule, with everything it could rest on. */
static void try_edges(struct edge_test *t, size_t places, uint32_t from, uint32_t to)
{
    const struct execution *x = t->f.v->x;
    bool ordered = false;
    for (uint8_t rule = 0; rule < ORDEAL_RULE_COUNT; rule++) {
        bool rests = rule == ORDEAL_RULE_R5 || rule == ORDEAL_RULE_R7 || rule == ORDEAL_RULE_ATOMIC;
        for (uint32_t via = 0; via < (rests ? x->events : 1); via++) {
            struct ordeal_edge e = { .rule = rule, .from = from, .to = to,
                                     .via = rests ? via : NONE,
                                     .from_view = x->is_store[from] ? chance(x->threads)
                                                                    : event_thread(x, from) };
            e.to_view = !x->is_store[to] ? event_thread(x, to)
                      : chance(2) ? chance(x->threads) : e.from_view;
            if (!edge_accepted(&t->f, t->clause, t->literals, &e))
                continue;
            ordered |= rule <= ORDEAL_RULE_T3 || rule >= ORDEAL_RULE_ACQUIRE;
            edge_holds(t, &e, places);
        }
    }
    /* The other way round: what an axiom keeps, some rule of program order says. */
    if (axioms_keep(x, t->f.v->model, from, to) && !ordered) {
        ordeal_write_text(t->f.t, stdout);
        printf("%s: %u -> %u\n", ordeal_model_name(t->f.v->model), from, to);
        TEST_FAIL_MESSAGE("no rule of program order speaks for an edge that is kept");
    }
}

static void try_all_edges(struct edge_test *t)
{
    struct fixture *f = &t->f;
    size_t places = f->v->order.count;
    const struct execution *x = f->v->x;
    f->v->result = ORDEAL_FAIL;
    t->literals = has_two_stores_of_a_word(x) ? chance(3) : 0;
    for (size_t i = 0; i < t->literals; i++)
        t->clause[i] = random_literal(x);
    for (uint32_t from = 0; from < x->events; from++)
        for (uint32_t to = 0; to < x->events; to++)
            try_edges(t, places, from, to);
}

static void accepted_edges_hold(void)
{
    enum { ALL = EVERY, RISCV = RVWMO | RVTSO };
    static const unsigned used[ORDEAL_RULE_COUNT] = {
        /* the models that know the rule */
        [ORDEAL_RULE_R1] = ALL & ~(RMO | RVWMO),
        [ORDEAL_RULE_R2] = SC | TSO | PC | RVTSO,
        [ORDEAL_RULE_R3] = ALL,
        [ORDEAL_RULE_PO] = SC,
        [ORDEAL_RULE_SAME] = ALL,
        [ORDEAL_RULE_DEP] = RMO | RISCV,
        [ORDEAL_RULE_T2] = ALL & ~PC,
        [ORDEAL_RULE_T3] = ALL & ~PC,
        [ORDEAL_RULE_R4] = ALL,
        [ORDEAL_RULE_R5] = ALL,
        [ORDEAL_RULE_R7] = ALL,
        [ORDEAL_RULE_INIT] = ALL,
        [ORDEAL_RULE_ORDER] = ALL,
        [ORDEAL_RULE_TIME] = ALL,
        [ORDEAL_RULE_CO] = ALL,
        [ORDEAL_RULE_FINAL] = ALL,
        [ORDEAL_RULE_ATOMIC] = PC | RISCV,
        [ORDEAL_RULE_ACQUIRE] = RISCV,
        [ORDEAL_RULE_RELEASE] = RISCV,
        [ORDEAL_RULE_MARKED] = RISCV,
        [ORDEAL_RULE_PAIR] = RISCV,
        [ORDEAL_RULE_MEMORY] = ALL & ~PC,
        [ORDEAL_RULE_APART] = RVWMO,
    };
    struct edge_test *t = calloc(1, sizeof *t);
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        seed = 77 + (uint64_t)m;
        memset(t->accepted, 0, sizeof t->accepted);
        for (int round = 0; round < 1600; round++) {
            t->legal.count = 0;
            random_fixture(&t->f, (enum ordeal_model)m, 2 + chance(4));
            if (set_places(&t->f))
                each_order(&t->f, 0, keep_if_legal, &t->legal);
            if (t->legal.count && t->legal.count <= MAX_LEGAL)
                try_all_edges(t);
            fixture_close(&t->f);
        }
        for (int r = 0; r < ORDEAL_RULE_COUNT; r++)
            TEST_ASSERT_EQUAL_MESSAGE((used[r] & 1u << m) != 0, t->accepted[r] != 0,
                                      ordeal_rule_name((enum ordeal_rule)r));
    }
    free(t);
}

/* ---- the core stands for the whole --------------------------------------------------------- */

/* The core as a string of operations' digits; "" is the reason when it stands. */
static void core_stands(const char *text, enum ordeal_model m, const char *core, const char *reason)
{
    struct fixture f;
    bool keep[10] = { false };
    fixture_open(&f, text, m, ORDEAL_FAIL);
    f.v->time_order = true;
    struct execution *whole = f.v->x;
    for (; *core; core++) {
        keep[*core - '0'] = true;
        TEST_ASSERT_TRUE(VEC_PUSH(f.o, &f.v->core, (uint32_t)(*core - '0')));
    }
    TEST_ASSERT_EQUAL(ORDEAL_OK, execution_build_subset(f.t, keep, NULL, &f.v->x));
    f.o->error.reason[0] = '\0';
    enum ordeal_status status = certify_core(f.v, whole);
    TEST_ASSERT_EQUAL_MESSAGE(*reason ? ORDEAL_INTERNAL : ORDEAL_OK, status, f.o->error.reason);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(f.o->error.reason, reason), f.o->error.reason);
    execution_free(whole);
    fixture_close(&f);
}

static void the_core_must_stand_for_the_whole(void)
{
    core_stands("P0 S[A]#1\nP0 S[B]#1\nP1 L[B]=1\nP1 L[A]=0\nP1 L[C]=0\n", ORDEAL_TSO, "0123", "");
    core_stands("P0 S[A]#1\nP0 S[A]#1\nP1 L[A]=1\n", ORDEAL_TSO, "02", "P1 L[A]=1 in the core");
    core_stands("P0 S[A]#1\nP0 S[A]#1\nP1 L[A]=1\n", ORDEAL_TSO, "012", "");
    core_stands("P0 S[A]#1\nP1 S[A]#1\nP0 S[A]#2\nfinal A=1\n", ORDEAL_TSO, "02", "final value");
    core_stands("P0 S[A]#1\nP1 S[A]#1\nP0 S[A]#2\nfinal A=1\n", ORDEAL_TSO, "2", "final value");
    core_stands("P0 S[A]#1\nP1 S[A]#1\nP0 S[B]#2\nfinal A=1\n", ORDEAL_TSO, "2", "");
    core_stands("P0 L[A]=0 >r1\nP0 L[C]=0 >r1\nP0 S[B]#1 <r1\n", ORDEAL_RMO, "12", "");
    core_stands("P0 L[A]=0 >r1\nP0 L[C]=0 >r1\nP0 S[B]#1 <r1\n", ORDEAL_RMO, "02", "");
    core_stands("P0 L[A]=0 >r1\nP0 L[C]=0 >r1\nP0 S[B]#1 <r1\n", ORDEAL_TSO, "02", "");
    core_stands("P0 TX.BEGIN\nP0 L[A]=0 @1:9\nP0 L[B]=0 @4:5\nP0 TX.END\nP1 L[B]=0 @6:7\n",
                ORDEAL_TSO, "0234", "takes longer");
}

/* ---- unit propagation ---------------------------------------------------------------- */

enum { VARIABLES = 8, CLAUSES = 30 };
struct formula { uint32_t clause[CLAUSES][4], length[CLAUSES], count; };

/* Propagation without any cleverness. */
static bool naive_follows(const struct formula *f, const uint32_t *clause, size_t length)
{
    int value[2 * VARIABLES] = { 0 };
    for (size_t i = 0; i < length; i++) {
        if (value[clause[i]] > 0)
            return true;
        value[clause[i]] = -1, value[clause[i] ^ 1] = 1;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t c = 0; c < f->count; c++) {
            uint32_t open = 0, last = 0, satisfied = 0;
            for (uint32_t i = 0; i < f->length[c]; i++) {
                satisfied |= value[f->clause[c][i]] > 0;
                if (value[f->clause[c][i]] == 0 && (!open || last != f->clause[c][i]))
                    open++, last = f->clause[c][i];
            }
            if (satisfied || open > 1)
                continue;
            if (!open)
                return true;
            value[last] = 1, value[last ^ 1] = -1;
            changed = true;
        }
        /* Variables 0, 1 and 2 exclude each other. */
        for (uint32_t a = 0; a < 3; a++)
            for (uint32_t b = 0; b < 3; b++)
                if (a != b && value[2 * a] > 0) {
                    if (value[2 * b] > 0)
                        return true;
                    changed |= value[2 * b] == 0;
                    value[2 * b] = -1, value[2 * b + 1] = 1;
                }
    }
    return false;
}

static void propagation_is_complete(void)
{
    uint32_t yes = 0, no = 0;
    struct ordeal *o = ordeal_new(NULL);
    seed = 5;
    for (int round = 0; round < 8000; round++) {
        struct rup r;
        struct formula f = { .count = 0 };
        TEST_ASSERT_TRUE(rup_init(&r, o, VARIABLES));
        rup_rivals(&r, 0, 1);
        rup_rivals(&r, 0, 2);
        for (int i = 0; i < CLAUSES; i++) {
            uint32_t clause[4], length = 0, wanted = 1 + chance(4) / (1 + (chance(3) == 0));
            while (length < wanted) {
                uint32_t literal = chance(2 * VARIABLES);
                bool taken = false;
                for (uint32_t k = 0; k < length; k++)
                    taken |= clause[k] / 2 == literal / 2;
                if (!taken)
                    clause[length++] = literal;
            }
            bool follows = naive_follows(&f, clause, length);
            TEST_ASSERT_EQUAL(follows, rup_follows(&r, clause, length));
            follows ? yes++ : no++;
            if (length == 1 && chance(4))
                continue; /* units end it all too soon */
            TEST_ASSERT_TRUE(rup_add(&r, clause, length));
            memcpy(f.clause[f.count], clause, sizeof clause);
            f.length[f.count++] = length;
        }
        rup_free(&r);
    }
    TEST_ASSERT_GREATER_THAN(5000, yes);
    TEST_ASSERT_GREATER_THAN(5000, no);
    TEST_ASSERT_EQUAL(0, ordeal_memory_used(o));
    ordeal_free(o);
}

/* ---- allocation ---------------------------------------------------------------------- */

struct shortage { int left; };

static void *short_resize(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    struct shortage *s = user;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(pointer);
        return NULL;
    }
    return s->left-- > 0 ? realloc(pointer, new_bytes) : NULL;
}

static void fails_at_each_allocation(struct fixture *f)
{
    struct ordeal_memory usual = f->o->memory;
    struct shortage s;
    f->o->memory = (struct ordeal_memory){ short_resize, &s };
    size_t used = f->o->used;
    enum ordeal_status status = ORDEAL_NO_MEMORY;
    for (int n = 0; status != ORDEAL_OK; n++) {
        s.left = n;
        status = certify(f->v);
        TEST_ASSERT_TRUE(status == ORDEAL_NO_MEMORY || (n && status == ORDEAL_OK));
        TEST_ASSERT_EQUAL(used, f->o->used);
    }
    f->o->memory = usual;
}

static void memory_may_run_out(void)
{
    struct fixture f;
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        fixture_open(&f, "P0 S[A]#1\nP1 L[A]=1\n", (enum ordeal_model)m, ORDEAL_PASS);
        fixture_place(&f, fixture_store(&f, 0), 1);
        fixture_place(&f, fixture_load(&f, 1), 1);
        fails_at_each_allocation(&f);
        fixture_close(&f);
    }
    for (size_t i = 0; i < EXAMPLES; i++)
        for (int m = 0; m < ORDEAL_MODELS; m++) {
            if (open_example(&f, &examples[i], (enum ordeal_model)m))
                fails_at_each_allocation(&f);
            fixture_close(&f);
        }
}

static bool stop(void *user, const char *phase, double share)
{
    (void)user, (void)phase, (void)share;
    return true;
}

static void a_limit_ends_it(void)
{
    char text[6000 * 16], *end = text;
    struct fixture f;
    for (int i = 1; i <= 5000; i++)
        end += sprintf(end, "P0 S[A]#%d\n", i);
    fixture_open(&f, text, ORDEAL_TSO, ORDEAL_PASS);
    for (uint32_t i = 0; i < 5000; i++)
        fixture_place(&f, fixture_store(&f, 0) + i, 0);
    accepted(&f);
    ordeal_set_limits(f.o, &(struct ordeal_limits){ .progress = stop });
    TEST_ASSERT_EQUAL(ORDEAL_LIMIT, certify(f.v));
    fixture_close(&f);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(every_order_of_random_executions);
    RUN_TEST(places_must_be_a_permutation);
    RUN_TEST(amos_write_what_their_functions_say);
    RUN_TEST(views_must_be_those_of_the_loaders);
    RUN_TEST(atomic_words_stay_together_in_views);
    RUN_TEST(undecided_has_nothing_to_prove);
    RUN_TEST(each_rule_under_each_model);
    RUN_TEST(views_matter_in_a_circle);
    RUN_TEST(atomicity_stays_in_a_view);
    RUN_TEST(assumptions_end_with_their_step);
    RUN_TEST(a_group_is_no_circle);
    RUN_TEST(a_proof_needs_its_parts);
    RUN_TEST(literals_must_make_sense);
    RUN_TEST(a_value_nobody_wrote);
    RUN_TEST(every_field_changed);
    RUN_TEST(accepted_edges_hold);
    RUN_TEST(the_core_must_stand_for_the_whole);
    RUN_TEST(propagation_is_complete);
    RUN_TEST(memory_may_run_out);
    RUN_TEST(a_limit_ends_it);
    return UNITY_END();
}
