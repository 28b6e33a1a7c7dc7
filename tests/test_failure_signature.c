/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of failures: they do not depend on names, values, numbers of threads or what stands
 * beside the core; cores have one form exactly if they are the same but for names, which trying all
 * renamings tells independently. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "checking.h"
#include "tell/core_form.h"
#include "tell/failure_signature.h"
#include "unity.h"

enum { THREADS = 3, LINES = 2, WORDS = 2, VALUES = 8, MOST = 12 };

static struct ordeal *o;
static uint64_t chance;

void setUp(void)
{
    o = ordeal_new(NULL);
    chance = 1;
}

void tearDown(void)
{
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(o));
    ordeal_free(o);
}

static unsigned draw(unsigned below)
{
    chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(chance >> 33) % below;
}

/* ---- small executions, and renamings of them --------------------------------------------------- */

struct small_op {
    char kind;
    unsigned thread, line, word, read, write;
}; /* L, S, X a swap, M */
struct small {
    struct small_op op[MOST];
    unsigned ops;
};
struct renaming {
    unsigned thread[THREADS], line[LINES], word[LINES][WORDS], value[VALUES];
};

/* Stores of a word write 1, 2, …; loads see any of them or 0. */
static void draw_small(struct small *s)
{
    unsigned written[LINES][WORDS] = { 0 };
    s->ops = 5 + draw(MOST - 5);
    for (unsigned i = 0; i < s->ops; i++) {
        s->op[i] = (struct small_op){
            "LLLSSSXM"[draw(8)], draw(THREADS), draw(LINES), draw(WORDS), 0, 0
        };
        if (s->op[i].kind == 'S' || s->op[i].kind == 'X')
            s->op[i].write = ++written[s->op[i].line][s->op[i].word] % VALUES;
    }
    for (unsigned i = 0; i < s->ops; i++)
        s->op[i].read = draw(written[s->op[i].line][s->op[i].word] % VALUES + 1);
}

static void shuffle(unsigned *numbers, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        numbers[i] = i;
    for (unsigned i = count; i > first + 1; i--) {
        unsigned k = first + draw(i - first), was = numbers[k];
        numbers[k] = numbers[i - 1];
        numbers[i - 1] = was;
    }
}

static struct renaming draw_renaming(void)
{
    struct renaming r;
    shuffle(r.thread, 0, THREADS);
    shuffle(r.line, 0, LINES);
    for (unsigned l = 0; l < LINES; l++)
        shuffle(r.word[l], 0, WORDS);
    shuffle(r.value, 1, VALUES); /* 0 is what words begin with */
    return r;
}

static const struct renaming as_it_is = {
    { 0, 1, 2 }, { 0, 1 }, { { 0, 1 }, { 0, 1 } }, { 0, 1, 2, 3, 4, 5, 6, 7 }
};

static void put_op(const struct small_op *p, const struct renaming *r, FILE *out)
{
    unsigned line = r->line[p->line], offset = 4 * r->word[p->line][p->word];
    fprintf(out, "P%u ", 3 * r->thread[p->thread] + 1);
    if (p->kind == 'M')
        fputs("MEMBAR\n", out);
    else if (p->kind == 'L')
        fprintf(out, "L[%c+%u]=%u\n", 'K' + (int)line, offset, 5 * r->value[p->read]);
    else if (p->kind == 'S')
        fprintf(out, "S[%c+%u]#%u\n", 'K' + (int)line, offset, 5 * r->value[p->write]);
    else
        fprintf(out, "SWAP[%c+%u]=%u#%u\n", 'K' + (int)line, offset, 5 * r->value[p->read],
                5 * r->value[p->write]);
}

/* `noise`: between all operations stand others, which nothing of it depends on. */
static struct ordeal_trace *trace_of(const struct small *s, const struct renaming *r, bool noise)
{
    char text[4096];
    FILE *out = fmemopen(text, sizeof text, "w");
    for (unsigned i = 0; i < s->ops; i++) {
        put_op(&s->op[i], r, out);
        if (noise)
            fprintf(out, "P%u S[Z%u]#7\nP90 L[Z%u]=0\nP%u FLUSH[K]\n",
                    3 * r->thread[s->op[i].thread] + 1, i, i, draw(100));
    }
    fclose(out);
    return trace_of_lines(o, text);
}

/* Threads one after the other in another order than they were in, each as it was. */
static void reorder(struct small *s, const struct renaming *r)
{
    struct small old = *s;
    s->ops = 0;
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned i = 0; i < old.ops; i++)
            if (r->thread[old.op[i].thread] == t)
                s->op[s->ops++] = old.op[i];
}

static struct ordeal_verdict *check_sc(const struct ordeal_trace *t)
{
    return check_trace(o, t, &(struct ordeal_options){ .model = ORDEAL_SC });
}

/* The core of a random execution that violates SC; every other one is not of the smallest. */
static struct small draw_core(void)
{
    for (unsigned least = draw(2) ? 4 : 1;;) {
        struct small s, core = { .ops = 0 };
        const uint32_t *ops;
        draw_small(&s);
        struct ordeal_trace *t = trace_of(&s, &as_it_is, false);
        struct ordeal_verdict *v = check_sc(t);
        bool fails = ordeal_verdict_result(v) == ORDEAL_FAIL
                  && ordeal_verdict_unwritten(v) == ORDEAL_NONE;
        size_t count = fails ? ordeal_verdict_core(v, &ops) : 0;
        for (size_t i = 0; i < count; i++)
            core.op[core.ops++] = s.op[ops[i]];
        ordeal_verdict_free(v);
        ordeal_trace_free(t);
        if (count >= least)
            return core;
    }
}

/* Told by its trace, which is the core and perhaps noise. */
static void tell(const struct small *core, const struct renaming *r, bool noise,
                 struct failure_signature *out)
{
    struct small s = *core;
    reorder(&s, r);
    struct ordeal_trace *t = trace_of(&s, r, noise);
    struct ordeal_verdict *v = check_sc(t);
    TEST_ASSERT_EQUAL(ORDEAL_FAIL, ordeal_verdict_result(v));
    TEST_ASSERT_TRUE(failure_signature_of_verdict(out, t, v));
    ordeal_verdict_free(v);
    ordeal_trace_free(t);
}

static void expect_same(const struct failure_signature *a, struct failure_signature *b)
{
    TEST_ASSERT_EQUAL_STRING(a->form, b->form);
    TEST_ASSERT_EQUAL_STRING(a->shape, b->shape);
    TEST_ASSERT_EQUAL_STRING(a->text, b->text);
    TEST_ASSERT_EQUAL_STRING(a->title, b->title);
    TEST_ASSERT_EQUAL(a->kind, b->kind);
    failure_signature_free(b);
}

static void test_names_do_not_matter(void)
{
    for (int i = 0; i < 200; i++) {
        struct small core = draw_core();
        struct failure_signature first, other;
        tell(&core, &as_it_is, false, &first);
        for (int k = 0; k < 5; k++) {
            struct renaming r = draw_renaming();
            tell(&core, &r, false, &other);
            expect_same(&first, &other);
        }
        failure_signature_free(&first);
    }
}

/* An execution may have several cores, and beside others another one may be found; not where all
 * else has nothing to do with it. */
static void test_what_stands_beside_does_not_matter(void)
{
    for (int i = 0; i < 100; i++) {
        struct small core = draw_core();
        struct failure_signature first, other;
        struct renaming r = draw_renaming();
        tell(&core, &as_it_is, false, &first);
        tell(&core, &r, true, &other);
        expect_same(&first, &other);
        failure_signature_free(&first);
    }
}

/* ---- all renamings, tried one after the other -------------------------------------------------- */

/* The operations of a thread, in order. */
static unsigned list_thread(const struct small *s, unsigned thread, const struct small_op **list)
{
    unsigned count = 0;
    for (unsigned i = 0; i < s->ops; i++)
        if (s->op[i].thread == thread)
            list[count++] = &s->op[i];
    return count;
}

/* Values of a word that were paired so far; 0 is paired with 0. */
struct pairs {
    unsigned to[LINES][WORDS][VALUES], from[LINES][WORDS][VALUES];
};

static bool pair(struct pairs *p, const struct small_op *a, unsigned x, const struct small_op *b,
                 unsigned y)
{
    unsigned *to = &p->to[a->line][a->word][x], *from = &p->from[b->line][b->word][y];
    if (x == 0 || y == 0)
        return x == y;
    if (*to == 0 && *from == 0) {
        *to = y;
        *from = x;
    }
    return *to == y && *from == x;
}

static bool ops_agree(const struct small_op *a, const struct small_op *b, const struct renaming *r,
                      struct pairs *p)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == 'M')
        return true;
    if (r->line[a->line] != b->line || r->word[a->line][a->word] != b->word)
        return false;
    return (a->kind == 'S' || pair(p, a, a->read, b, b->read))
        && (a->kind == 'L' || pair(p, a, a->write, b, b->write));
}

static bool is_renamed(const struct small *a, const struct small *b, const struct renaming *r)
{
    struct pairs p = { 0 };
    for (unsigned t = 0; t < THREADS; t++) {
        const struct small_op *x[MOST], *y[MOST];
        unsigned count = list_thread(a, t, x);
        if (count != list_thread(b, r->thread[t], y))
            return false;
        for (unsigned i = 0; i < count; i++)
            if (!ops_agree(x[i], y[i], r, &p))
                return false;
    }
    return true;
}

static bool is_isomorphic(const struct small *a, const struct small *b)
{
    static const unsigned threads[6][THREADS] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                                  { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    for (unsigned way = 0; way < 6 * 8; way++) {
        struct renaming r;
        memcpy(r.thread, threads[way / 8], sizeof r.thread);
        r.line[0] = way & 1;
        r.line[1] = !r.line[0];
        for (unsigned l = 0; l < LINES; l++) {
            r.word[l][0] = way >> (l + 1) & 1;
            r.word[l][1] = !r.word[l][0];
        }
        if (is_renamed(a, b, &r))
            return true;
    }
    return false;
}

static void test_cores_have_one_form_exactly_if_they_are_isomorphic(void)
{
    enum { CORES = 300 };
    static struct small core[CORES];
    static char *form[CORES];
    unsigned same = 0;
    for (int i = 0; i < CORES; i++) {
        struct failure_signature s;
        core[i] = draw_core();
        tell(&core[i], &as_it_is, false, &s);
        form[i] = strdup(s.form);
        failure_signature_free(&s);
    }
    for (int i = 0; i < CORES; i++)
        for (int k = 0; k < i; k++) {
            bool alike = is_isomorphic(&core[i], &core[k]);
            char message[512];
            snprintf(message, sizeof message, "%s and %s", form[i], form[k]);
            TEST_ASSERT_EQUAL_MESSAGE(alike, strcmp(form[i], form[k]) == 0, message);
            same += alike;
        }
    TEST_ASSERT_GREATER_THAN(50, same);
    TEST_ASSERT_LESS_THAN(CORES * (CORES - 1) / 2 - 50, same);
    for (int i = 0; i < CORES; i++)
        free(form[i]);
}

/* One thing of one operation is another one; or what was one line is now two, or the other way. */
static struct small change(struct small s)
{
    struct small_op *p = &s.op[draw(s.ops)];
    unsigned what = draw(6), line = p->line, word = p->word;
    if (what == 0)
        p->kind = "LSXM"[draw(4)];
    else if (what == 1)
        p->thread = draw(THREADS);
    else if (what == 2)
        p->read = draw(VALUES);
    else if (what == 3)
        p->write = 1 + draw(VALUES - 1);
    else if (what == 4)
        p->line = !p->line;
    for (unsigned i = 0; what == 5 && i < s.ops; i++)
        if (s.op[i].line == line && s.op[i].word == word)
            s.op[i].line = !line;
    return s;
}

/* Whether the small execution is a core as it stands, with its form. */
static bool form_of_core(const struct small *s, char *form, size_t size)
{
    const uint32_t *ops;
    struct failure_signature told;
    struct ordeal_trace *t = trace_of(s, &as_it_is, false);
    struct ordeal_verdict *v = check_sc(t);
    bool is_core = ordeal_verdict_result(v) == ORDEAL_FAIL
                && ordeal_verdict_core(v, &ops) == s->ops;
    if (is_core) {
        TEST_ASSERT_TRUE(failure_signature_of_verdict(&told, t, v));
        snprintf(form, size, "%s", told.form);
        failure_signature_free(&told);
    }
    ordeal_verdict_free(v);
    ordeal_trace_free(t);
    return is_core;
}

static void test_cores_that_differ_in_one_thing(void)
{
    unsigned same = 0, others = 0;
    for (int i = 0; i < 300; i++) {
        struct small core = draw_core();
        for (int k = 0; k < 10; k++) {
            char a[512], b[512], message[1200];
            struct small changed = change(core);
            if (!form_of_core(&core, a, sizeof a) || !form_of_core(&changed, b, sizeof b))
                continue;
            bool alike = is_isomorphic(&core, &changed);
            snprintf(message, sizeof message, "%s and %s", a, b);
            TEST_ASSERT_EQUAL_MESSAGE(alike, strcmp(a, b) == 0, message);
            same += alike;
            others += !alike;
        }
    }
    TEST_ASSERT_GREATER_THAN(100, same);
    TEST_ASSERT_GREATER_THAN(100, others);
}

/* ---- many threads that are alike --------------------------------------------------------------- */

/* Each stores to a location of its own and does not see the next one's store. */
static void make_ring(unsigned threads, unsigned first, unsigned stride, struct core_form *form)
{
    char text[4096];
    FILE *out = fmemopen(text, sizeof text, "w");
    for (unsigned i = 0; i < threads; i++) {
        unsigned t = (first + i * stride) % threads;
        fprintf(out, "P%u S[A%u]#%u\nP%u L[A%u]=0\n", i, t, t + 1, i, (t + 1) % threads);
    }
    fclose(out);
    struct ordeal_trace *t = trace_of_lines(o, text);
    struct ordeal_verdict *v = check_sc(t);
    TEST_ASSERT_TRUE(core_form_make(form, t, v));
    ordeal_verdict_free(v);
    ordeal_trace_free(t);
}

static void expect_ring(unsigned threads, bool exact)
{
    struct core_form first, other;
    make_ring(threads, 0, 1, &first);
    make_ring(threads, 2, threads - 1, &other);
    TEST_ASSERT_EQUAL(exact, first.exact);
    TEST_ASSERT_EQUAL_STRING(first.text, other.text);
    TEST_ASSERT_EQUAL_UINT64(first.hash, other.hash);
    core_form_free(&first);
    core_form_free(&other);
}

static void test_work_is_bounded_where_threads_are_alike(void)
{
    expect_ring(2, true);
    expect_ring(5, true);
    expect_ring(7, true);
    expect_ring(8, false);
    expect_ring(20, false);
}

/* ---- what is violated -------------------------------------------------------------------------- */

static void expect_of_lines(enum ordeal_model model, const char *lines, const char *signature,
                            const char *title)
{
    struct failure_signature s;
    struct ordeal_trace *t = trace_of_lines(o, lines);
    struct ordeal_verdict *v = check_trace(o, t, &(struct ordeal_options){ .model = model });
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_FAIL, ordeal_verdict_result(v), lines);
    TEST_ASSERT_TRUE(failure_signature_of_verdict(&s, t, v));
    TEST_ASSERT_EQUAL_STRING_MESSAGE(signature, s.text, lines);
    if (title)
        TEST_ASSERT_EQUAL_STRING(title, s.title);
    failure_signature_free(&s);
    ordeal_verdict_free(v);
    ordeal_trace_free(t);
}

static void test_the_weakest_requirement_that_is_violated(void)
{
    static const struct {
        enum ordeal_model model;
        const char *lines, *signature, *title;
    } cases[] = {
        { ORDEAL_SC, "P1 S[X]#4\nP1 L[Y]=0\nP7 S[Y]#9\nP7 L[X]=0\n", "order.program",
          "program order was not kept: S a#1; L b=0 | S b#1; L a=0" },
        { ORDEAL_TSO, "P1 S[X]#4\nP1 MEMBAR\nP1 L[Y]=0\nP7 S[Y]#9\nP7 MEMBAR\nP7 L[X]=0\n",
          "order.barrier",
          "order was not kept despite MEMBAR: S a#1; MEMBAR; L b=0 | S b#1; MEMBAR; L a=0" },
        { ORDEAL_TSO, "P0 S[X]#4\nP0 S[Y]#9\nP1 L[Y]=9\nP1 L[X]=0\n", "order.program", NULL },
        { ORDEAL_TSO, "P0 S[X]#4\nP1 L[X]=4\nP1 L[X]=0\n", "order.program", NULL },
        { ORDEAL_TSO, "P0 S[X]#4\nP0 S[X]#5\nP0 L[X]=4\n", "coherence.word",
          "accesses of one word contradict each other: S a#1; S a#2; L a=1" },
        { ORDEAL_TSO, "final X=0\nP0 S[X]#4\n", "coherence.word", NULL },
        { ORDEAL_TSO, "P0 S[X]#4\nP1 L[X]=5\n", "coherence.value",
          "a value that nobody wrote: L a=1" },
        { ORDEAL_TSO, "final X=5\nP0 S[X]#4\n", "coherence.value", "a value that nobody wrote" },
        { ORDEAL_TSO, "P0 SWAP[X]=0#4\nP1 SWAP[X]=0#5\n", "atomicity.operation", NULL },
        { ORDEAL_TSO, "P0 AMOADD[X]=0#4\nP1 AMOADD[X]=0#5\n", "atomicity.operation", NULL },
        { ORDEAL_TSO, "P0 CAS[X]=0?0#4\nP1 CAS[X]=0?0#5\n", "atomicity.operation", NULL },
        { ORDEAL_PSO,
          "P0 TX.BEGIN\nP0 L[X]=0\nP0 L[Y]=9\nP0 TX.END\nP1 TX.BEGIN\nP1 S[X]#4\nP1 S[Y]#9\nP1 TX.END\n",
          "atomicity.transaction", NULL },
        /* noticed by a fence, by a transaction, in a swap: one word is wrong by itself */
        { ORDEAL_TSO, "P0 S[X]#4\nP0 MEMBAR\nP0 L[X]=0\n", "coherence.word", NULL },
        { ORDEAL_TSO, "P0 S[X]#4\nP0 TX.BEGIN\nP0 L[X]=0\nP0 TX.END\n", "coherence.word", NULL },
        { ORDEAL_TSO, "P0 S[X]#4\nP0 SWAP[X]=0#5\n", "coherence.word", NULL },
        /* what an aborted transaction or a CAS that found another value would have stored is not there */
        { ORDEAL_SC,
          "P0 S[X]#4\nP0 TX.BEGIN\nP0 S[X]#5\nP0 TX.ABORT\nP0 L[X]=4\nP0 L[Y]=0\nP1 S[Y]#9\nP1 L[X]=0\n",
          "order.program", NULL },
        { ORDEAL_SC, "P0 S[X]#4\nP0 CAS[X]=4?7#5\nP0 L[X]=4\nP0 L[Y]=0\nP1 S[Y]#9\nP1 L[X]=0\n",
          "order.program", NULL },
        { ORDEAL_SC, "P0 S[X/16]#0x1122334455667788aabbccddeeff0011\nP0 SWAP[X/16]=0#0x1\n",
          "coherence.word", NULL },
        { ORDEAL_PC, "P0 S[X]#4\nP0 S[Y]#9\nP1 L[Y]=9\nP1 L[X]=0\n", "order.program", NULL },
        { ORDEAL_RMO, "P0 L[X]=1 >r1\nP0 S[Y]#1 <r1\nP1 L[Y]=1 >r1\nP1 S[X]#1 <r1\n",
          "order.program", NULL },
        { ORDEAL_TSO, "uncached X\nP0 S[X]#4\nP0 S[X+4]#9\nP1 L[X+4]=9\nP1 L[X]=0\n",
          "order.program", "program order was not kept: L a~=1; L a.1~=0 | S a.1~#1; S a~#1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_of_lines(cases[i].model, cases[i].lines, cases[i].signature, cases[i].title);
}

/* A trace that is too long is looked at by its core: what others left in memory is not asked for. */
static void expect_of_long(const char *lines, const char *signature)
{
    size_t size = 5000 * 32;
    char *text = malloc(size);
    int length = snprintf(text, size, "%s", lines);
    for (int i = 0; i < 4999; i++)
        length += snprintf(text + length, size - (size_t)length, "P2 S[Z]#%d\n", i + 1);
    TEST_ASSERT_LESS_THAN_size_t(size, length);
    expect_of_lines(ORDEAL_TSO, text, signature, NULL);
    free(text);
}

static void test_long_traces(void)
{
    expect_of_long("P0 S[X]#4\nP0 MEMBAR\nP0 L[Y]=2\nP1 S[Y]#9\nP1 MEMBAR\nP1 L[X]=0\n"
                   "init Y=2 U=3\nfinal X=77 Z=4999\nP3 S[X]#77\n",
                   "order.barrier");
    expect_of_long("final X=4\nP0 S[X]#4\nP0 S[X]#5\n", "coherence.word");
}

/* ---- machines that broke ----------------------------------------------------------------------- */

static void expect_break(const char *broke, enum failure_kind kind, const char *title, char *text)
{
    struct failure_signature s;
    TEST_ASSERT_TRUE(failure_signature_of_break(&s, broke));
    TEST_ASSERT_EQUAL(kind, s.kind);
    TEST_ASSERT_EQUAL_STRING(title, s.title);
    TEST_ASSERT_EQUAL_STRING("", s.shape);
    strcpy(text, s.text);
    failure_signature_free(&s);
}

static void test_machines_that_broke(void)
{
    static const struct {
        const char *broke, *title;
    } same[][2] = {
        { { "hart 1 made two SC succeed with one reservation, at 0x1f40, cycle 77, in P3 SWAP[A+4]#7",
            "hart N made two SC succeed with one reservation" },
          { "hart 3 made two SC succeed with one reservation, at 0x40, cycle 1, in P0 CAS[B]?r1#7",
            "hart N made two SC succeed with one reservation" } },
        { { "hart 3 took 2 interrupts, but 1 were sent to it; the last at cycle 2851",
            "hart N took N interrupts" },
          { "hart 0 took 12 interrupts, but 9 were sent to it; the last at cycle 51",
            "hart N took N interrupts" } },
        { { "hart 0 came to its end before P0 L[A+4]", "hart N came to its end" },
          { "hart 3 came to its end before P3 SWAP[B]#1", "hart N came to its end" } },
        { { "hart 2 did what is not in the test: a load at 0x80000050, cycle 595, in place of P2 L[A]",
            "hart N did what is not in the test" },
          { "hart 0 did what is not in the test: an SC at 0x80000004, cycle 1, in place of P0 TX.BEGIN",
            "hart N did what is not in the test" } },
        { { "assertion one_owner (cache.v:7), cycle 8", "assertion one_owner (cache.v:7)" },
          { "assertion one_owner (cache.v:7), cycle 18", "assertion one_owner (cache.v:7)" } },
        { { "assertion one_owner (cache.v:9), cycle 8", "assertion one_owner (cache.v:9)" },
          { "assertion one_owner (cache.v:9), cycle 8", "assertion one_owner (cache.v:9)" } },
    };
    enum { CASES = sizeof same / sizeof *same };
    char text[CASES][2][64];
    for (size_t i = 0; i < CASES; i++) {
        for (int k = 0; k < 2; k++)
            expect_break(same[i][k].broke, FAILURE_ASSERTION, same[i][k].title, text[i][k]);
        TEST_ASSERT_EQUAL_STRING(text[i][0], text[i][1]);
        for (size_t j = 0; j < i; j++)
            TEST_ASSERT_TRUE(strcmp(text[i][0], text[j][0]) != 0);
    }
}

static void test_machines_that_stand_still(void)
{
    char text[64];
    const char *all = "all harts hang, cycle 24576; hart 1 is at P1 S[E+4]#3 and waits for a load";
    expect_break(all, FAILURE_STANDSTILL, all, text);
    TEST_ASSERT_EQUAL_STRING("standstill", text);
    expect_break("a hart hangs, cycle 9", FAILURE_STANDSTILL, "a hart hangs, cycle 9", text);
    TEST_ASSERT_EQUAL_STRING("standstill", text);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_names_do_not_matter);
    RUN_TEST(test_what_stands_beside_does_not_matter);
    RUN_TEST(test_cores_have_one_form_exactly_if_they_are_isomorphic);
    RUN_TEST(test_cores_that_differ_in_one_thing);
    RUN_TEST(test_work_is_bounded_where_threads_are_alike);
    RUN_TEST(test_the_weakest_requirement_that_is_violated);
    RUN_TEST(test_long_traces);
    RUN_TEST(test_machines_that_broke);
    RUN_TEST(test_machines_that_stand_still);
    return UNITY_END();
}
