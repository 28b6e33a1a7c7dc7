/* SPDX-License-Identifier: Apache-2.0 */
/* Witness files: what is written is read back and proved; what is damaged is refused, or still
 * says the same. */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "unity.h"

#define MESSAGE "P0 S[A]#1\nP0 S[B]#1\nP1 L[B]=1\nP1 L[A]=0\n"
#define SWAPS "P0 SWAP[A]=0#1\nP1 SWAP[A]=0#2\n"

void setUp(void) {}
void tearDown(void) {}

struct file { char *text; size_t size; };

static struct file witness_of(struct fixture *f)
{
    struct file w = { NULL, 0 };
    FILE *stream = open_memstream(&w.text, &w.size);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, ordeal_witness_write(f->v, stream), f->o->error.reason);
    fclose(stream);
    return w;
}

static enum ordeal_status verify(struct fixture *f, const char *text, size_t size,
                                 struct ordeal_verdict **v)
{
    FILE *stream = size ? fmemopen((char *)text, size, "r") : fopen("/dev/null", "r");
    enum ordeal_status status = ordeal_witness_verify(f->t, stream, "w", v);
    fclose(stream);
    return status;
}

/* ---- verdicts to be written ----------------------------------------------------------- */

static void legal_tso(struct fixture *f)
{
    fixture_open(f, "P0 S[A]#1\nP0 L[B]=0\nP1 S[B]#1\nP1 L[A]=0\n", ORDEAL_TSO, ORDEAL_PASS);
    fixture_place(f, fixture_load(f, 1), 0);
    fixture_place(f, fixture_load(f, 3), 0);
    fixture_place(f, fixture_store(f, 0), 0);
    fixture_place(f, fixture_store(f, 2), 0);
}

static void legal_pc(struct fixture *f)
{
    fixture_open(f, "P0 S[A]#1\nP1 L[A]=1\nP2 L[A]=0\n", ORDEAL_PC, ORDEAL_PASS);
    fixture_place(f, fixture_store(f, 0), 1);
    fixture_place(f, fixture_load(f, 1), 1);
    fixture_place(f, fixture_load(f, 2), 2);
    fixture_place(f, fixture_store(f, 0), 2);
}

static void legal_in_time(struct fixture *f)
{
    fixture_open(f, "P0 S[A]#1 @1:2\nP1 L[A]=1 @3:4\nfinal A=1\norder A 1\n", ORDEAL_RMO,
                 ORDEAL_PASS);
    f->v->time_order = true;
    fixture_place(f, fixture_store(f, 0), 0);
    fixture_place(f, fixture_load(f, 1), 0);
}

static void illegal_message(struct fixture *f)
{
    fixture_open(f, MESSAGE, ORDEAL_TSO, ORDEAL_FAIL);
    uint32_t a = fixture_store(f, 0), b = fixture_store(f, 1);
    uint32_t l = fixture_load(f, 2), m = fixture_load(f, 3);
    fixture_whole_core(f);
    fixture_step(f);
    fixture_edge(f, ORDEAL_RULE_R2, a, b, NONE);
    fixture_edge(f, ORDEAL_RULE_R4, b, l, NONE);
    fixture_edge(f, ORDEAL_RULE_R1, l, m, NONE);
    fixture_edge(f, ORDEAL_RULE_R7, m, a, fixture_initial(f, 0));
}

/* A proof over a part of the trace: operation 1 is not in it. */
static void illegal_core(struct fixture *f)
{
    fixture_open(f, "P0 S[A]#1\nP1 S[C]#1\nP0 L[A]=0\n", ORDEAL_RMO, ORDEAL_FAIL);
    const bool keep[] = { true, false, true };
    execution_free(f->v->x);
    TEST_ASSERT_EQUAL(ORDEAL_OK, execution_build_subset(f->t, keep, NULL, &f->v->x));
    fixture_whole_core(f);
    f->v->core.data[1] = 2;
    f->v->core.count = 2;
    fixture_step(f);
    fixture_edge(f, ORDEAL_RULE_R5, fixture_store(f, 0), fixture_initial(f, 0), fixture_load(f, 2));
    fixture_edge(f, ORDEAL_RULE_INIT, fixture_initial(f, 0), fixture_store(f, 0), NONE);
}

static void illegal_swaps(struct fixture *f)
{
    fixture_open(f, SWAPS, ORDEAL_PC, ORDEAL_FAIL);
    fixture_whole_core(f);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t l = fixture_load(f, i), s = fixture_store(f, i), other = fixture_store(f, !i);
        fixture_step(f);
        fixture_literal(f, false, false, s, other);
        fixture_edge(f, ORDEAL_RULE_R7, l, other, fixture_initial(f, i));
        fixture_views(f, NONE, i);
        fixture_edge(f, ORDEAL_RULE_ATOMIC, other, l, s);
        fixture_views(f, i, NONE);
    }
    fixture_step(f);
}

static void illegal_candidates(struct fixture *f)
{
    fixture_open(f, "P0 L[A]=1\nP0 S[A]#1\nP0 S[A]#1\n", ORDEAL_PSO, ORDEAL_FAIL);
    fixture_whole_core(f);
    for (uint32_t i = 1; i <= 2; i++) {
        fixture_step(f);
        fixture_literal(f, true, true, fixture_load(f, 0), fixture_store(f, i));
        fixture_edge(f, ORDEAL_RULE_R4, fixture_store(f, i), fixture_load(f, 0), NONE);
        fixture_edge(f, ORDEAL_RULE_R1, fixture_load(f, 0), fixture_store(f, i), NONE);
    }
    fixture_step(f);
}

static void illegal_value(struct fixture *f)
{
    fixture_open(f, "P0 S[A]#1\nP1 L[A]=5\n", ORDEAL_SC, ORDEAL_FAIL);
    fixture_whole_core(f);
    f->v->unwritten = fixture_load(f, 1);
}

static void (*const verdicts[])(struct fixture *f) = {
    legal_tso, legal_pc, legal_in_time, illegal_message, illegal_core, illegal_swaps,
    illegal_candidates, illegal_value,
};
enum { VERDICTS = sizeof verdicts / sizeof *verdicts };

/* ---- there and back ------------------------------------------------------------------ */

static void assert_same_proof(const struct ordeal_verdict *a, const struct ordeal_verdict *b)
{
    TEST_ASSERT_EQUAL(a->unwritten, ordeal_verdict_unwritten(b));
    TEST_ASSERT_EQUAL(a->core.count, b->core.count);
    for (size_t i = 0; i < a->core.count; i++)
        TEST_ASSERT_EQUAL(a->core.data[i], b->core.data[i]);
    TEST_ASSERT_EQUAL(ordeal_verdict_steps(a), ordeal_verdict_steps(b));
    for (size_t i = 0; i < ordeal_verdict_steps(a); i++) {
        struct ordeal_step s, t;
        ordeal_verdict_step(a, i, &s);
        ordeal_verdict_step(b, i, &t);
        TEST_ASSERT_EQUAL(s.literal_count, t.literal_count);
        TEST_ASSERT_EQUAL(s.edge_count, t.edge_count);
        for (size_t k = 0; k < s.literal_count; k++)
            TEST_ASSERT_TRUE(s.literals[k].reads == t.literals[k].reads
                             && s.literals[k].negated == t.literals[k].negated
                             && s.literals[k].a == t.literals[k].a
                             && s.literals[k].b == t.literals[k].b);
        for (size_t k = 0; k < s.edge_count; k++)
            TEST_ASSERT_TRUE(s.edges[k].rule == t.edges[k].rule
                             && s.edges[k].from == t.edges[k].from
                             && s.edges[k].to == t.edges[k].to
                             && s.edges[k].via == t.edges[k].via);
    }
}

static void there_and_back(void)
{
    for (int i = 0; i < VERDICTS; i++) {
        struct fixture f;
        struct ordeal_verdict *v;
        const struct ordeal_place *places;
        verdicts[i](&f);
        struct file w = witness_of(&f);
        enum ordeal_status status = verify(&f, w.text, w.size, &v);
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, f.o->error.reason);
        TEST_ASSERT_EQUAL(f.v->result, ordeal_verdict_result(v));
        TEST_ASSERT_EQUAL(f.v->model, v->model);
        TEST_ASSERT_EQUAL(f.v->time_order, v->time_order);
        TEST_ASSERT_EQUAL(f.v->order.count, ordeal_verdict_order(v, &places));
        for (size_t k = 0; k < f.v->order.count; k++)
            TEST_ASSERT_EQUAL(f.v->order.data[k].event, places[k].event);
        assert_same_proof(f.v, v);
        ordeal_verdict_free(v);
        free(w.text);
        fixture_close(&f);
    }
}

static void undecided_has_no_witness(void)
{
    struct fixture f;
    fixture_open(&f, "P0 S[A]#1\n", ORDEAL_TSO, ORDEAL_UNDECIDED);
    TEST_ASSERT_EQUAL(ORDEAL_BAD_USAGE, ordeal_witness_write(f.v, stdout));
    fixture_close(&f);
}

static void a_full_disk_is_an_error(void)
{
    struct fixture f;
    legal_tso(&f);
    FILE *full = fopen("/dev/full", "w");
    TEST_ASSERT_EQUAL(ORDEAL_IO, ordeal_witness_write(f.v, full));
    fclose(full);
    fixture_close(&f);
}

/* ---- damage -------------------------------------------------------------------------- */

/* The truth about an execution under one model does not depend on the file. */
static void refused_or_equal(struct fixture *f, const char *text, size_t size)
{
    struct ordeal_verdict *v;
    enum ordeal_status status = verify(f, text, size, &v);
    if (status == ORDEAL_OK) {
        if (v->model == f->v->model && v->time_order == f->v->time_order)
            TEST_ASSERT_EQUAL(f->v->result, v->result);
        ordeal_verdict_free(v);
    } else {
        TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, status);
        TEST_ASSERT_NULL(v);
        TEST_ASSERT_EQUAL_STRING("w", f->o->error.file);
    }
}

static void truncated_at_every_byte(void)
{
    for (int i = 0; i < VERDICTS; i++) {
        struct fixture f;
        struct ordeal_verdict *v;
        verdicts[i](&f);
        struct file w = witness_of(&f);
        for (size_t size = 0; size < w.size - 1; size++) { /* the last newline may go */
            TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, verify(&f, w.text, size, &v));
            TEST_ASSERT_TRUE(f.o->error.line > 0);
        }
        free(w.text);
        fixture_close(&f);
    }
}

static void every_bit_flipped(void)
{
    for (int i = 0; i < VERDICTS; i++) {
        struct fixture f;
        verdicts[i](&f);
        struct file w = witness_of(&f);
        for (size_t bit = 0; bit < 8 * w.size; bit++) {
            w.text[bit / 8] ^= (char)(1 << bit % 8);
            refused_or_equal(&f, w.text, w.size);
            w.text[bit / 8] ^= (char)(1 << bit % 8);
        }
        free(w.text);
        fixture_close(&f);
    }
}

static void every_byte_gone_or_doubled(void)
{
    for (int i = 0; i < VERDICTS; i++) {
        struct fixture f;
        verdicts[i](&f);
        struct file w = witness_of(&f);
        char *copy = malloc(w.size + 1);
        for (size_t k = 0; k < w.size; k++) {
            memcpy(copy, w.text, k);
            memcpy(copy + k, w.text + k + 1, w.size - k - 1);
            refused_or_equal(&f, copy, w.size - 1);
            memcpy(copy, w.text, k + 1);
            memcpy(copy + k + 1, w.text + k, w.size - k);
            refused_or_equal(&f, copy, w.size + 1);
        }
        free(copy);
        free(w.text);
        fixture_close(&f);
    }
}

static void of_another_trace(void)
{
    static const char *const others[] = {
        "P0 S[A]#1\nP0 S[B]#2\nP1 L[B]=2\nP1 L[A]=0\n",
        "P0 S[A]#1\nP0 S[B]#1\nP1 L[B]=1\nP1 L[A]=0 @1:2\n",
        "P0 S[A]#1\nP1 L[B]=1\nP0 S[B]#1\nP1 L[A]=0\n",
        "P0 S[A]#1\nP0 S[B]#1\nP1 L[B]=1\nP1 L[A]=0\norder B 1\n",
        "P0 S[A]#1\nP0 S[B]#1\nP1 L[B]=1\nP1 L[A]=0\nfinal B=1\n",
        "init B=7\nP0 S[A]#1\nP0 S[B]#1\nP1 L[B]=1\nP1 L[A]=0\n",
        "P0 S[A]#1\n",
    };
    struct fixture f, g;
    struct ordeal_verdict *v;
    illegal_message(&f);
    struct file w = witness_of(&f);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        fixture_open(&g, others[i], ORDEAL_TSO, ORDEAL_FAIL);
        TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, verify(&g, w.text, w.size, &v));
        TEST_ASSERT_EQUAL(2, g.o->error.line);
        TEST_ASSERT_NOT_NULL(strstr(g.o->error.reason, "of another trace"));
        fixture_close(&g);
    }
    /* Names do not count. */
    fixture_open(&g, "P0 S[X]#1\nP0 S[Y]#1\nP1 L[Y]=1\nP1 L[X]=0\n", ORDEAL_TSO, ORDEAL_FAIL);
    TEST_ASSERT_EQUAL(ORDEAL_OK, verify(&g, w.text, w.size, &v));
    ordeal_verdict_free(v);
    fixture_close(&g);
    free(w.text);
    fixture_close(&f);
}

/* ---- messages ------------------------------------------------------------------------ */

/* Replace the first `old` by `new` and look at the complaint. */
static void complains(void (*make)(struct fixture *), const char *old, const char *new,
                      uint64_t line, uint64_t column, const char *reason)
{
    struct fixture f;
    struct ordeal_verdict *v;
    char *text = NULL;
    make(&f);
    struct file w = witness_of(&f);
    char *place = strstr(w.text, old);
    TEST_ASSERT_NOT_NULL_MESSAGE(place, old);
    *place = '\0';
    TEST_ASSERT_TRUE(asprintf(&text, "%s%s%s", w.text, new, place + strlen(old)) > 0);
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, verify(&f, text, strlen(text), &v));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(f.o->error.reason, reason), f.o->error.reason);
    TEST_ASSERT_EQUAL_MESSAGE(line, f.o->error.line, f.o->error.reason);
    TEST_ASSERT_EQUAL_MESSAGE(column, f.o->error.column, f.o->error.reason);
    free(text);
    free(w.text);
    fixture_close(&f);
}

static void complaints_name_the_place(void)
{
    complains(legal_tso, "ordeal-witness", "ordeal", 1, 1, "expected 'ordeal-witness'");
    complains(legal_tso, "witness 1", "witness 2", 1, 16, "expected version 1, not '2'");
    complains(legal_tso, "trace", "race", 2, 1, "expected trace, not 'race'");
    complains(legal_tso, "TSO", "LRC", 3, 7, "expected a memory model, not 'LRC'");
    complains(legal_tso, "TSO", "TSO 7", 3, 11, "expected the end of the line, not '7'");
    complains(legal_tso, "order no", "order perhaps", 4, 12, "expected no or yes");
    complains(legal_tso, "PASS", "", 5, 9, "expected PASS or FAIL, not the end of the line");
    complains(legal_tso, "order\n", "order\nx", 7, 1, "expected an event");
    complains(legal_tso, "order\n", "order\n4294967295 ", 7, 1, "expected an event");
    complains(legal_tso, "order\n", "order\n99999999999999999999 ", 7, 1, "expected an event");
    complains(legal_tso, "end\n", "", 8, 1, "expected an event, not the end of the file");
    complains(legal_tso, "end\n", "end\nend\n", 9, 1, "expected nothing more");
    complains(legal_tso, "order\n", "order\n1: ", 7, 1, "expected an event");
    complains(illegal_message, "R7", "R9", 11, 6, "expected the name of a rule, not 'R9'");
    complains(illegal_message, "via", "viz", 11, 13, "expected via");
    complains(illegal_message, "core", "cure", 6, 1, "expected core, unwritten, step");
    complains(illegal_message, "step", "#", 8, 1, "expected step, not 'edge'");
    complains(illegal_swaps, "before", "after", 8, 4, "expected saw or before");
    complains(illegal_message, "edge R4", "edge R1", 0, 0,
              "the witness does not hold: step 1, edge 2");
    complains(illegal_message, "TSO", "PSO", 0, 0, "the witness does not hold: step 1, edge 1");
    complains(legal_tso, "TSO", "SC", 0, 0, "the witness does not hold: place 1 (P0 L[B]=0)");
}

/* ---- allocation ---------------------------------------------------------------------- */

static void *short_resize(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    int *left = user;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(pointer);
        return NULL;
    }
    return (*left)-- > 0 ? realloc(pointer, new_bytes) : NULL;
}

static void memory_may_run_out(void)
{
    for (int i = 0; i < VERDICTS; i++) {
        struct fixture f;
        struct ordeal_verdict *v = NULL;
        int left;
        verdicts[i](&f);
        struct file w = witness_of(&f);
        struct ordeal_memory usual = f.o->memory;
        f.o->memory = (struct ordeal_memory){ short_resize, &left };
        size_t used = f.o->used;
        enum ordeal_status status = ORDEAL_NO_MEMORY;
        for (int n = 0; status != ORDEAL_OK; n++) {
            left = n;
            status = verify(&f, w.text, w.size, &v);
            TEST_ASSERT_TRUE(status == ORDEAL_NO_MEMORY || (n && status == ORDEAL_OK));
            if (status != ORDEAL_OK)
                TEST_ASSERT_EQUAL(used, f.o->used);
        }
        ordeal_verdict_free(v);
        TEST_ASSERT_EQUAL(used, f.o->used);
        f.o->memory = usual;
        free(w.text);
        fixture_close(&f);
    }
}

/* ---- walking ------------------------------------------------------------------------- */

static void a_verdict_can_be_walked(void)
{
    struct fixture f;
    struct ordeal_event e;
    const char *name;
    uint64_t value;
    size_t counters = 0;
    illegal_message(&f);
    f.v->counters.core = 4;
    ordeal_verdict_event(f.v, fixture_load(&f, 2), &e);
    TEST_ASSERT_FALSE(e.store);
    TEST_ASSERT_EQUAL(2, e.op);
    TEST_ASSERT_EQUAL(1, e.thread);
    TEST_ASSERT_EQUAL(1, e.value);
    TEST_ASSERT_EQUAL_STRING("B", e.location);
    ordeal_verdict_event(f.v, fixture_initial(&f, 0), &e);
    TEST_ASSERT_TRUE(e.store);
    TEST_ASSERT_EQUAL(ORDEAL_NONE, e.op);
    TEST_ASSERT_EQUAL(ORDEAL_NONE, e.thread);
    TEST_ASSERT_EQUAL_STRING("A", e.location);
    while (ordeal_verdict_counter(f.v, counters, &name, &value))
        counters++;
    TEST_ASSERT_EQUAL(sizeof(struct counters) / sizeof(uint64_t), counters);
    TEST_ASSERT_EQUAL_STRING("core", name);
    TEST_ASSERT_EQUAL(4, value);
    TEST_ASSERT_EQUAL_STRING("", ordeal_verdict_note(f.v));
    for (int r = 0; r < ORDEAL_RULE_COUNT; r++)
        TEST_ASSERT_TRUE(ordeal_rule_name(r)[0] && ordeal_rule_text(r)[0]);
    TEST_ASSERT_EQUAL_STRING("R4", ordeal_rule_name(ORDEAL_RULE_R4));
    TEST_ASSERT_EQUAL_STRING("saw its value", ordeal_rule_text(ORDEAL_RULE_R4));
    fixture_close(&f);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(there_and_back);
    RUN_TEST(undecided_has_no_witness);
    RUN_TEST(a_full_disk_is_an_error);
    RUN_TEST(truncated_at_every_byte);
    RUN_TEST(every_bit_flipped);
    RUN_TEST(every_byte_gone_or_doubled);
    RUN_TEST(of_another_trace);
    RUN_TEST(complaints_name_the_place);
    RUN_TEST(memory_may_run_out);
    RUN_TEST(a_verdict_can_be_walked);
    return UNITY_END();
}
