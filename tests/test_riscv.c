/* SPDX-License-Identifier: Apache-2.0 */
/* RVWMO and RVTSO against the axioms of RISC-V's specification, on random small executions with
 * every kind of access, mark, fence and dependence.
 *
 * test_riscv [--count N] [--seed S]: N executions from seed S on; a single one is always printed. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ordeal.h"
#include "rvwmo.h"
#include "unity.h"
#include "bench/workload.h"

static uint64_t first_seed = 1, count = 20000;

void setUp(void) {}
void tearDown(void) {}

static uint64_t draw(void *user)
{
    uint64_t *state = user, z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static unsigned below(uint64_t *state, unsigned bound) { return (unsigned)(draw(state) % bound); }
static bool percent(uint64_t *state, unsigned chance) { return below(state, 100) < chance; }

/* ---- random executions -------------------------------------------------------------------- */

struct shape {
    unsigned harts, ops, words;
    bool mixed, repeated, marks, registers, reserving, fences;
};

static struct shape any_shape(uint64_t *r)
{
    return (struct shape){ .harts = 2 + percent(r, 30),
                           .ops = 4 + below(r, 4),
                           .words = percent(r, 80) ? 2 : 1 + 2 * below(r, 2),
                           .mixed = percent(r, 20),
                           .repeated = percent(r, 25),
                           .marks = percent(r, 30),
                           .registers = percent(r, 50),
                           .reserving = percent(r, 30),
                           .fences = percent(r, 40) };
}

static void choose_place(const struct shape *s, uint64_t *r, struct rvwmo_op *op)
{
    bool atomic = op->kind >= RVWMO_AMO;
    op->size = !s->mixed ? 4 : atomic ? 4u << below(r, 2) : 1u << below(r, 4);
    if (!s->mixed)
        op->address = 4 * below(r, s->words);
    else
        op->address = below(r, 8 / op->size) * op->size;
}

static void choose_value(const struct shape *s, uint64_t *r, struct rvwmo_op *op, unsigned number)
{
    if (s->repeated)
        number = 1 + below(r, 2);
    for (unsigned n = 0; n < op->size; n++)
        op->written[n] = (uint8_t)(s->mixed || n == 0 ? number : 0);
}

static void choose_registers(const struct shape *s, uint64_t *r, struct rvwmo_op *op)
{
    bool loads = op->kind != RVWMO_STORE, stores = op->kind != RVWMO_LOAD && op->kind != RVWMO_LR;
    if (!s->registers)
        return;
    if (loads && percent(r, 70))
        op->writes = 1u << below(r, 2);
    if (percent(r, 35))
        op->address_of = 1u << below(r, 2);
    if (stores && percent(r, 30))
        op->data_of = 1u << below(r, 2);
    if (percent(r, 25))
        op->control_of = 1u << below(r, 2);
}

static struct rvwmo_op *add(struct rvwmo_execution *x, enum rvwmo_kind kind, unsigned hart)
{
    struct rvwmo_op *op = &x->op[x->ops++];
    *op = (struct rvwmo_op){ .kind = kind, .hart = hart };
    return op;
}

static void add_fence(struct rvwmo_execution *x, uint64_t *r, unsigned hart)
{
    struct rvwmo_op *op = add(x, RVWMO_FENCE, hart);
    op->tso = percent(r, 20);
    op->before = 1 + below(r, 3);
    op->after = 1 + below(r, 3);
}

/* An SC needs its LR, to the same place, and no store of its own between. */
static struct rvwmo_op *reservation(struct rvwmo_execution *x, unsigned hart)
{
    struct rvwmo_op *lr = NULL;
    for (unsigned i = 0; i < x->ops; i++) {
        struct rvwmo_op *op = &x->op[i];
        bool writes = op->kind == RVWMO_STORE || op->kind == RVWMO_AMO;
        if (op->hart != hart)
            continue;
        if (op->kind == RVWMO_LR)
            lr = op;
        else if (op->kind == RVWMO_SC
                 || (lr && writes && op->address < lr->address + lr->size
                     && lr->address < op->address + op->size))
            lr = NULL;
    }
    return lr;
}

static void add_access(struct rvwmo_execution *x, const struct shape *s, uint64_t *r, unsigned hart)
{
    enum rvwmo_kind kind = percent(r, 50) ? RVWMO_LOAD : percent(r, 80) ? RVWMO_STORE : RVWMO_AMO;
    const struct rvwmo_op *lr = reservation(x, hart);
    if (s->reserving && percent(r, 50))
        kind = lr ? RVWMO_SC : RVWMO_LR;
    struct rvwmo_op *op = add(x, kind, hart);
    choose_place(s, r, op);
    if (kind == RVWMO_SC) {
        op->address = lr->address;
        op->size = lr->size;
        op->failed = percent(r, 15);
    }
    op->aq = s->marks && percent(r, 30);
    op->rl = s->marks && percent(r, 30);
    choose_value(s, r, op, x->ops);
    choose_registers(s, r, op);
}

/* What a load may have read: its bytes as somebody wrote them, or as they were. */
static void spoil(struct rvwmo_execution *x, uint64_t *r, struct rvwmo_op *load)
{
    const struct rvwmo_op *store = &x->op[below(r, x->ops)];
    bool loads = load->kind == RVWMO_LOAD || load->kind == RVWMO_AMO || load->kind == RVWMO_LR;
    bool stores = store->kind != RVWMO_LOAD && store->kind != RVWMO_LR
               && store->kind != RVWMO_FENCE;
    for (unsigned n = 0; loads && n < load->size; n++) {
        unsigned byte = load->address + n;
        if (stores && !store->failed && byte >= store->address
            && byte < store->address + store->size)
            load->read[n] = store->written[byte - store->address];
        else if (!stores)
            load->read[n] = x->initial[byte];
    }
}

static void any_execution(struct rvwmo_execution *x, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0xd1b54a32d192ed03), *r = &state;
    struct shape s = any_shape(r);
    *x = (struct rvwmo_execution){ 0 };
    for (unsigned i = 0; i < s.ops; i++) {
        unsigned hart = s.harts == 2 && s.words == 2 ? i % 2 : below(r, s.harts);
        if (s.fences && percent(r, 25))
            add_fence(x, r, hart);
        add_access(x, &s, r, hart);
    }
    rvwmo_run(x, false, draw, r);
    unsigned chance = percent(r, 30) ? 0 : percent(r, 50) ? 30 : 80;
    for (unsigned i = 0; i < 3 * x->ops; i++)
        if (percent(r, chance))
            spoil(x, r, &x->op[i % x->ops]);
}

/* ---- as a trace --------------------------------------------------------------------------- */

static void registers_text(FILE *f, const char *mark, unsigned set)
{
    for (unsigned k = 0; k < RVWMO_REGISTERS; k++)
        if (set >> k & 1)
            fprintf(f, " %sr%u", mark, k);
}

static uint64_t number(const uint8_t *bytes, unsigned size)
{
    uint64_t v = 0;
    for (unsigned n = size; n-- > 0;)
        v = v << 8 | bytes[n];
    return v;
}

static void fence_text(FILE *f, const struct rvwmo_op *op)
{
    static const char *const sets[] = { "", "r", "w", "rw" };
    if (op->tso)
        fprintf(f, "P%u MEMBAR.tso\n", op->hart);
    else
        fprintf(f, "P%u MEMBAR %s,%s\n", op->hart, sets[op->before], sets[op->after]);
}

static void op_text(FILE *f, const struct rvwmo_op *op)
{
    static const char *const names[] = { "L", "S", "SWAP", "LR", "SC" };
    bool loads = op->kind == RVWMO_LOAD || op->kind == RVWMO_AMO || op->kind == RVWMO_LR;
    fprintf(f, "P%u %s%s%s%s[0x%x/%u]", op->hart, names[op->kind], op->aq || op->rl ? "." : "",
            op->aq ? "aq" : "", op->rl ? "rl" : "", op->address, op->size);
    if (loads)
        fprintf(f, "=%" PRIu64, number(op->read, op->size));
    if (op->kind == RVWMO_SC)
        fprintf(f, "=%d", op->failed);
    if (op->kind != RVWMO_LOAD && op->kind != RVWMO_LR)
        fprintf(f, "#%" PRIu64, number(op->written, op->size));
    registers_text(f, ">", op->writes);
    registers_text(f, "<addr:", op->address_of);
    registers_text(f, "<data:", op->data_of);
    registers_text(f, "<ctrl:", op->control_of);
    fputc('\n', f);
}

static char *text_of(const struct rvwmo_execution *x, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    TEST_ASSERT_NOT_NULL(f);
    fputs("ordeal 1\natomic 8\n", f);
    for (unsigned i = 0; i < x->ops; i++)
        if (x->op[i].kind == RVWMO_FENCE)
            fence_text(f, &x->op[i]);
        else
            op_text(f, &x->op[i]);
    fclose(f);
    return text;
}

/* ---- both verdicts ------------------------------------------------------------------------ */

static struct ordeal_trace *read_trace(struct ordeal *o, char *text, size_t size,
                                       enum ordeal_format format)
{
    struct ordeal_trace *t = NULL;
    FILE *f = fmemopen(text, size, "r");
    struct ordeal_reader *reader = ordeal_reader_new(o, f, "random", format);
    TEST_ASSERT_NOT_NULL(reader);
    if (ordeal_reader_next(reader, &t) != ORDEAL_OK) {
        puts(text);
        TEST_FAIL_MESSAGE(ordeal_last_error(o)->reason);
    }
    ordeal_reader_free(reader);
    fclose(f);
    return t;
}

static enum ordeal_result verdict(struct ordeal *o, const struct ordeal_trace *t,
                                  enum ordeal_model model, const char *text)
{
    struct ordeal_options options = { .model = model };
    struct ordeal_verdict *v = NULL;
    if (ordeal_check(t, &options, &v) != ORDEAL_OK) {
        printf("%s:\n%s", ordeal_model_name(model), text);
        TEST_FAIL_MESSAGE(ordeal_last_error(o)->reason);
    }
    enum ordeal_result result = ordeal_verdict_result(v);
    ordeal_verdict_free(v);
    return result;
}

/* The thesis's algorithms decide the same, those without backtracking perhaps nothing; they refuse
 * values that are not unique. */
static void check_algorithms(struct ordeal *o, const struct ordeal_trace *t,
                             enum ordeal_model model, bool allowed, const char *text)
{
    for (int a = ORDEAL_AUTO + 1; a < ORDEAL_ALGORITHMS; a++) {
        struct ordeal_options options = { .model = model, .algorithm = (enum ordeal_algorithm)a };
        bool complete = a == ORDEAL_HEU_BACK || a == ORDEAL_DERIV_BACK;
        struct ordeal_verdict *v = NULL;
        enum ordeal_status status = ordeal_check(t, &options, &v);
        if (status == ORDEAL_BAD_USAGE || status == ORDEAL_BAD_INPUT)
            continue;
        if (status != ORDEAL_OK) {
            puts(text);
            TEST_FAIL_MESSAGE(ordeal_last_error(o)->reason);
        }
        enum ordeal_result result = ordeal_verdict_result(v);
        ordeal_verdict_free(v);
        if (result != (allowed ? ORDEAL_PASS : ORDEAL_FAIL)
            && (complete || result != ORDEAL_UNDECIDED)) {
            printf("%s %s:\n%s", ordeal_model_name(model), ordeal_algorithm_name(options.algorithm),
                   text);
            TEST_FAIL_MESSAGE("an algorithm of the thesis decides otherwise");
        }
    }
}

static char *written_text(const struct ordeal_trace *t, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_write_text(t, f));
    fclose(f);
    return text;
}

/* In both formats, and what was read is written the same again. */
static void check_formats(struct ordeal *o, const struct ordeal_trace *t, bool compress)
{
    char *packed = NULL;
    size_t packed_size, first_size, size;
    FILE *f = open_memstream(&packed, &packed_size);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_write_binary(t, f, compress));
    fclose(f);
    char *first = written_text(t, &first_size);
    struct ordeal_trace *back[] = {
        read_trace(o, first, first_size, ORDEAL_FORMAT_TEXT),
        read_trace(o, packed, packed_size, ORDEAL_FORMAT_BINARY),
    };
    for (int i = 0; i < 2; i++) {
        char *text = written_text(back[i], &size);
        TEST_ASSERT_EQUAL_STRING(first, text);
        free(text);
        ordeal_trace_free(back[i]);
    }
    free(first);
    free(packed);
}

/* With Ztso a store is kept before a load only by what is said of both, or by the result of an SC. */
static bool is_tso(const struct rvwmo_execution *x)
{
    for (unsigned i = 0; i < x->ops; i++)
        if (x->op[i].kind == RVWMO_SC && !x->op[i].failed && x->op[i].writes)
            return false;
    return true;
}

static void compare(struct ordeal *o, uint64_t seed, unsigned legal[2])
{
    static const enum ordeal_model models[] = { ORDEAL_RVWMO, ORDEAL_RVTSO };
    struct rvwmo_execution x;
    size_t size;
    any_execution(&x, seed);
    char *text = text_of(&x, &size), message[100];
    struct ordeal_trace *t = read_trace(o, text, size, ORDEAL_FORMAT_TEXT);
    enum ordeal_result result[2];
    check_formats(o, t, seed % 2);
    for (int m = 0; m < 2; m++) {
        bool allowed = rvwmo_legal(&x, models[m] == ORDEAL_RVTSO);
        result[m] = verdict(o, t, models[m], text);
        legal[m] += allowed;
        snprintf(message, sizeof message, "%s: --seed %" PRIu64 " --count 1",
                 ordeal_model_name(models[m]), seed);
        if (count == 1 || result[m] != (allowed ? ORDEAL_PASS : ORDEAL_FAIL))
            printf("%s, %s\n%s", ordeal_model_name(models[m]), allowed ? "legal" : "illegal", text);
        TEST_ASSERT_EQUAL_MESSAGE(allowed ? ORDEAL_PASS : ORDEAL_FAIL, result[m], message);
        check_algorithms(o, t, models[m], allowed, text);
    }
    if (is_tso(&x))
        TEST_ASSERT_EQUAL_MESSAGE(result[1], verdict(o, t, ORDEAL_TSO, text), text);
    /* A stricter model allows no more. */
    TEST_ASSERT_TRUE_MESSAGE(result[1] == ORDEAL_FAIL || result[0] == ORDEAL_PASS, text);
    TEST_ASSERT_TRUE_MESSAGE(result[1] == ORDEAL_PASS
                                 || verdict(o, t, ORDEAL_SC, text) == ORDEAL_FAIL,
                             text);
    ordeal_trace_free(t);
    free(text);
}

static void test_random_executions(void)
{
    struct ordeal *o = ordeal_new(NULL);
    unsigned legal[2] = { 0 };
    for (uint64_t seed = first_seed; seed < first_seed + count; seed++)
        compare(o, seed, legal);
    printf("%" PRIu64 " executions, legal under RVWMO %u, under RVTSO %u\n", count, legal[0],
           legal[1]);
    if (count >= 1000) { /* both verdicts have been put to the test */
        TEST_ASSERT_GREATER_THAN_UINT64(count / 4, legal[1]);
        TEST_ASSERT_GREATER_THAN_UINT64(legal[1] + count / 200, legal[0]);
        TEST_ASSERT_LESS_THAN_UINT64(count - count / 10, legal[0]);
    }
    TEST_ASSERT_EQUAL_UINT(0, ordeal_memory_used(o));
    ordeal_free(o);
}

/* ---- what the specification says beside its list ------------------------------------------- */

static const struct {
    const char *what, *text;
    bool allowed;
} special[] = {
    { "a branch before an SC that does not store is there all the same",
      "P0 L[x]=1 >r1\nP0 LR[z]=0\nP0 SC[z]=1#5 <ctrl:r1\nP0 S[y]#1\n"
      "P1 L[y]=1 >r1\nP1 S[x]#1 <data:r1\n",
      false },
    { "but what it is to store, and where, matters to nobody",
      "P0 L[x]=1 >r1\nP0 LR[z]=0\nP0 SC[z]=1#5 <addr:r1 <data:r1\nP0 S[y]#1\n"
      "P1 L[y]=1 >r1\nP1 S[x]#1 <data:r1\n",
      true },
    { "nobody depends on one that did not store",
      "P0 L[x]=1 >r1\nP0 LR[z]=0\nP0 SC[z]=1#5 <data:r1 >r1\nP0 S[y]#1 <data:r1\n"
      "P1 L[y]=1 >r1\nP1 S[x]#1 <data:r1\n",
      true },
    { "a CAS that stores releases",
      "P0 S[x]#1\nP0 CAS.rl[y]=0?0#1\nP1 L[y]=1 >r1\nP1 L[x]=0 <addr:r1\n", false },
    { "one that does not releases nothing",
      "P0 S[x]#1\nP0 CAS.rl[y]=0?3#1\nP1 SWAP[y]=0#3\nP1 MEMBAR\nP1 L[x]=0\n", true },
    { "but acquires", "P0 S[x]#1\nP0 MEMBAR w,w\nP0 S[y]#1\nP1 CAS.aq[y]=1?3#2\nP1 L[x]=0\n",
      false },
};

static void test_what_did_not_store(void)
{
    struct ordeal *o = ordeal_new(NULL);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        char text[512];
        int size = snprintf(text, sizeof text, "ordeal 1\n%s", special[i].text);
        struct ordeal_trace *t = read_trace(o, text, (size_t)size, ORDEAL_FORMAT_TEXT);
        TEST_ASSERT_EQUAL_MESSAGE(special[i].allowed ? ORDEAL_PASS : ORDEAL_FAIL,
                                  verdict(o, t, ORDEAL_RVWMO, text), special[i].what);
        ordeal_trace_free(t);
    }
    ordeal_free(o);
}

/* ---- large executions, which are tried under a stricter model first ------------------------- */

/* A run of a TSO machine, and two threads beside it. */
static struct ordeal_trace *large(struct ordeal *o, const char *beside)
{
    const struct workload_spec spec = {
        .ops = 9000, .threads = 6, .words = 32, .seed = 3, .no_prefetch = true
    };
    struct workload *w = workload_run(&spec);
    struct ordeal_trace *t = ordeal_trace_new(o);
    TEST_ASSERT_TRUE(w && t);
    TEST_ASSERT_EQUAL(ORDEAL_OK, workload_trace(w, WORKLOAD_BY_THREAD, 10, t));
    workload_free(w);
    size_t size;
    char *run = written_text(t, &size), *whole = NULL;
    ordeal_trace_free(t);
    TEST_ASSERT_TRUE(asprintf(&whole, "%s%s", run, beside) > 0);
    t = read_trace(o, whole, strlen(whole), ORDEAL_FORMAT_TEXT);
    free(run);
    free(whole);
    return t;
}

static void test_large_executions(void)
{
    static const struct {
        const char *beside;
        bool tso, rvwmo;
    } cases[] = {
        { "P0 S[x]#1\nP1 L[x]=1\n", true, true },
        { "P0 S[x]#1\nP0 S[y]#1\nP1 L[y]=1\nP1 L[x]=0\n", false, true },
        { "P0 S[x]#1\nP0 MEMBAR w,w\nP0 S[y]#1\nP1 L[y]=1 >r1\nP1 L[x]=0 <addr:r1\n", false,
          false },
    };
    struct ordeal *o = ordeal_new(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ordeal_trace *t = large(o, cases[i].beside);
        const char *text = cases[i].beside;
        TEST_ASSERT_EQUAL(cases[i].tso ? ORDEAL_PASS : ORDEAL_FAIL,
                          verdict(o, t, ORDEAL_TSO, text));
        TEST_ASSERT_EQUAL(cases[i].rvwmo ? ORDEAL_PASS : ORDEAL_FAIL,
                          verdict(o, t, ORDEAL_RVWMO, text));
        TEST_ASSERT_EQUAL(cases[i].rvwmo ? ORDEAL_PASS : ORDEAL_FAIL,
                          verdict(o, t, ORDEAL_RMO, text));
        ordeal_trace_free(t);
    }
    TEST_ASSERT_EQUAL_UINT(0, ordeal_memory_used(o));
    ordeal_free(o);
}

int main(int argc, char **argv)
{
    static const struct option options[] = { { "count", required_argument, NULL, 'c' },
                                             { "seed", required_argument, NULL, 's' },
                                             { 0 } };
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == '?')
            return 2;
        *(c == 'c' ? &count : &first_seed) = strtoull(optarg, NULL, 0);
    }
    UNITY_BEGIN();
    RUN_TEST(test_random_executions);
    RUN_TEST(test_what_did_not_store);
    RUN_TEST(test_large_executions);
    return UNITY_END();
}
