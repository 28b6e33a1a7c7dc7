/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the generator: a bias, its generator and the test at hand, one of each for the whole
 * program; walking a test as it would be executed; and what holds of every test. */
#ifndef TESTS_MAKING_H
#define TESTS_MAKING_H

#include <stdlib.h>

#include "test/generate.h"
#include "test/program.h"
#include "same_trace.h"
#include "unity.h"

static struct bias *b;
static struct generator *g;
static struct ordeal *o;
static struct ordeal_trace *t;
static struct ordeal_error e;

static inline void making_open(void)
{
    b = bias_new();
    g = NULL;
    t = NULL;
    o = ordeal_new(NULL);
}

static inline void making_close(void)
{
    ordeal_trace_free(t);
    generator_free(g);
    bias_free(b);
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(o));
    ordeal_free(o);
}

/* "key=value key=value …" */
static inline void set(const char *assignments)
{
    char text[1024], *rest = text;
    snprintf(text, sizeof text, "%s", assignments);
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        TEST_ASSERT_TRUE_MESSAGE(bias_set(b, word, &e), e.reason);
}

#define NOTHING "operations.load=0 operations.store=0 operations.swap=0 operations.cas=0 " \
                "membar.full=0"

static inline void start(uint64_t seed)
{
    TEST_ASSERT_TRUE_MESSAGE(bias_check(b, &e), e.reason);
    generator_free(g);
    g = generator_new(b, seed);
    TEST_ASSERT_NOT_NULL(g);
}

static inline void make(uint64_t number)
{
    ordeal_trace_free(t);
    TEST_ASSERT_EQUAL(ORDEAL_OK, generator_make(g, number, o, &t));
}

static inline void make_only(const char *assignments)
{
    set(assignments);
    start(1);
    make(0);
}

static inline size_t length(void) { return ordeal_trace_length(t); }
static inline const struct ordeal_op *op(size_t i) { return ordeal_trace_op(t, i); }

static inline bool is_access(const struct ordeal_op *p)
{
    return p->kind <= ORDEAL_CAS || p->kind == ORDEAL_AMO;
}
/* What is left in memory is a fresh value; of an AMO it depends. */
static inline bool is_write(const struct ordeal_op *p)
{
    return p->kind == ORDEAL_STORE || p->kind == ORDEAL_SWAP || p->kind == ORDEAL_CAS;
}
static inline bool has_location(const struct ordeal_op *p)
{
    return trace_op_traits[p->kind] & OP_LOCATION;
}
static inline bool is_bracket(const struct ordeal_op *p)
{
    return (p->kind >= ORDEAL_LOOP_BEGIN && p->kind <= ORDEAL_BRANCH_END)
        || (p->kind >= ORDEAL_TX_BEGIN && p->kind <= ORDEAL_TX_ABORT);
}

/* Line and word of an access, from its name and offset. */
static inline uint32_t line_of(const struct ordeal_op *p)
{
    uint32_t line = 0;
    for (const char *c = ordeal_trace_name_text(t, p->base); *c; c++)
        line = line * 26 + (uint32_t)(*c - 'A') + 1;
    return line - 1;
}

/* Within `slack` thousandths of all. */
static inline void about(double asked, double seen, double all, double slack, const char *what)
{
    char text[128];
    snprintf(text, sizeof text, "%s: %.1f of 1000, asked %.1f", what, 1000 * seen / all,
             1000 * asked / all);
    TEST_ASSERT_TRUE_MESSAGE(seen > asked - slack * all / 1000
                             && seen < asked + slack * all / 1000, text);
}

/* ---- walking a test as it would be executed ----------------------------------------------- */

/* Where an operation stands in its thread: open blocks, and how often it is executed. */
struct place { bool loop, branch, other_side, transaction; uint32_t rounds; };

/* Calls back for every operation that is no bracket. Checks that blocks nest. */
static inline void walk(void (*visit)(size_t i, const struct place *at, void *user), void *user)
{
    struct { uint8_t kind[4]; int depth; struct place at; } nest[256] = { 0 };
    for (int i = 0; i < 256; i++)
        nest[i].at.rounds = 1;
    for (size_t i = 0; i < length(); i++) {
        const struct ordeal_op *p = op(i);
        TEST_ASSERT_LESS_THAN_UINT32(256, p->thread);
        struct place *at = &nest[p->thread].at;
        int *depth = &nest[p->thread].depth;
        uint8_t *top = &nest[p->thread].kind[*depth ? *depth - 1 : 0];
        switch (p->kind) {
        case ORDEAL_LOOP_BEGIN: case ORDEAL_BRANCH_BEGIN: case ORDEAL_TX_BEGIN:
            TEST_ASSERT_FALSE(p->kind == ORDEAL_LOOP_BEGIN ? at->loop
                              : p->kind == ORDEAL_BRANCH_BEGIN ? at->branch : at->transaction);
            nest[p->thread].kind[(*depth)++] = p->kind;
            break;
        case ORDEAL_BRANCH_ELSE:
            TEST_ASSERT_TRUE(*depth && *top == ORDEAL_BRANCH_BEGIN && !at->other_side);
            at->other_side = true;
            continue;
        case ORDEAL_LOOP_END: case ORDEAL_BRANCH_END:
            TEST_ASSERT_TRUE(*depth && *top == (p->kind == ORDEAL_LOOP_END ? ORDEAL_LOOP_BEGIN
                                                                          : ORDEAL_BRANCH_BEGIN));
            (*depth)--;
            break;
        case ORDEAL_TX_END: case ORDEAL_TX_ABORT:
            TEST_ASSERT_TRUE(*depth && *top == ORDEAL_TX_BEGIN);
            (*depth)--;
            break;
        default:
            visit(i, at, user);
            continue;
        }
        struct place fresh = { .rounds = 1, .other_side = at->other_side };
        for (int d = 0; d < *depth; d++) {
            fresh.loop |= nest[p->thread].kind[d] == ORDEAL_LOOP_BEGIN;
            fresh.branch |= nest[p->thread].kind[d] == ORDEAL_BRANCH_BEGIN;
            fresh.transaction |= nest[p->thread].kind[d] == ORDEAL_TX_BEGIN;
        }
        fresh.other_side = fresh.branch && at->other_side;
        fresh.rounds = p->kind == ORDEAL_LOOP_BEGIN ? (uint32_t)p->write
                       : fresh.loop ? at->rounds : 1;
        *at = fresh;
    }
    for (int i = 0; i < 256; i++)
        TEST_ASSERT_EQUAL_INT(0, nest[i].depth);
}

struct tally {
    uint64_t executed[256], all, in_loops, in_branches, in_transactions;
};

static inline void tally_one(size_t i, const struct place *at, void *user)
{
    struct tally *c = user;
    if (at->other_side)
        return; /* as many as on the first side */
    c->executed[op(i)->thread] += at->rounds;
    c->all += at->rounds;
    c->in_loops += at->loop ? at->rounds : 0;
    c->in_branches += at->branch ? at->rounds : 0;
    c->in_transactions += at->transaction ? at->rounds : 0;
}

static inline void tally(struct tally *c)
{
    walk(tally_one, c);
}

/* ---- values -------------------------------------------------------------------------------- */

struct written { uint32_t base; uint64_t address, value; };
struct writes { struct written *data; size_t count, capacity; uint32_t grain; };

static inline int by_value(const void *p, const void *q)
{
    const struct written *a = p, *c = q;
    if (a->base != c->base)
        return a->base < c->base ? -1 : 1;
    if (a->address != c->address)
        return a->address < c->address ? -1 : 1;
    return a->value < c->value ? -1 : a->value > c->value;
}

/* Every part of the smallest size of what a write writes, each time round. */
static inline void note_writes(size_t i, const struct place *at, void *user)
{
    struct writes *w = user;
    const struct ordeal_op *p = op(i);
    if (!is_write(p))
        return;
    uint64_t step = ordeal_trace_step_of(t, i);
    TEST_ASSERT_TRUE((at->rounds > 1) == (step > 0));
    for (uint32_t round = 0; round < at->rounds; round++) {
        uint8_t bytes[64];
        uint64_t value = p->write + round * step;
        if (p->size_log2 > 3)
            memcpy(bytes, ordeal_trace_bytes_at(t, p->write), 64);
        else
            for (uint32_t k = 0; k < 1u << p->size_log2; k++)
                bytes[k] = (uint8_t)(value >> 8 * k);
        if (p->size_log2 < 3)
            TEST_ASSERT_EQUAL_UINT64(0, value >> (8u << p->size_log2));
        for (uint32_t k = 0; k < 1u << p->size_log2; k += w->grain) {
            struct written one = { p->base, p->address + k, 0 };
            memcpy(&one.value, bytes + k, w->grain);
            if (w->count == w->capacity) {
                w->capacity = w->capacity ? 2 * w->capacity : 1024;
                w->data = realloc(w->data, w->capacity * sizeof *w->data);
            }
            w->data[w->count++] = one;
        }
    }
}

static inline void values_are_unique(void)
{
    struct writes w = { .grain = 8 };
    for (size_t i = 0; i < length(); i++)
        if (is_access(op(i)) && 1u << op(i)->size_log2 < w.grain)
            w.grain = 1u << op(i)->size_log2;
    walk(note_writes, &w);
    if (w.count)
        qsort(w.data, w.count, sizeof *w.data, by_value);
    for (size_t i = 0; i < w.count; i++) {
        TEST_ASSERT_TRUE(w.data[i].value != 0);
        TEST_ASSERT_TRUE_MESSAGE(i == 0 || by_value(&w.data[i - 1], &w.data[i]) != 0,
                                 "a value is written twice");
    }
    free(w.data);
}

/* ---- all of a test ------------------------------------------------------------------------- */

static inline char *text_of(const struct ordeal_trace *trace, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_write_text(trace, f));
    fclose(f);
    return text;
}

static inline void reads_back(enum ordeal_format format)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&bytes, &size);
    TEST_ASSERT_EQUAL(ORDEAL_OK, format == ORDEAL_FORMAT_TEXT ? ordeal_write_text(t, f)
                                                             : ordeal_write_binary(t, f, false));
    fclose(f);
    f = fmemopen(bytes, size, "r");
    struct ordeal_reader *r = ordeal_reader_new(o, f, "back", format);
    struct ordeal_trace *back = NULL;
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, ordeal_reader_next(r, &back),
                              ordeal_last_error(o)->reason);
    const char *difference = same_trace(t, back);
    TEST_ASSERT_NULL_MESSAGE(difference, difference);
    TEST_ASSERT_EQUAL_UINT64(ordeal_trace_seed_of(t), ordeal_trace_seed_of(back));
    ordeal_trace_free(back);
    ordeal_reader_free(r);
    fclose(f);
    free(bytes);
}

static inline void can_be_run(void)
{
    struct program p;
    TEST_ASSERT_TRUE_MESSAGE(program_compile(&p, t, "test", &e), e.reason);
    TEST_ASSERT_LESS_OR_EQUAL_UINT32(b->test_threads, p.threads);
    program_free(&p);
}

/* What holds of every test. `exact`: threads have all the operations asked for. */
static inline void is_sound(bool exact)
{
    struct tally c = { 0 };
    tally(&c);
    for (uint32_t i = 0; i < b->test_threads; i++)
        if (exact)
            TEST_ASSERT_EQUAL_UINT64(b->test_operations, c.executed[i]);
        else
            TEST_ASSERT_TRUE(c.executed[i] <= b->test_operations);
    TEST_ASSERT_EQUAL_UINT32(b->test_threads, ordeal_trace_threads(t));
    values_are_unique();
    reads_back(ORDEAL_FORMAT_TEXT);
    reads_back(ORDEAL_FORMAT_BINARY);
    can_be_run();
}

static inline uint64_t hash_of_test(void)
{
    size_t size;
    char *text = text_of(t, &size);
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(1099511628211);
    free(text);
    return hash;
}

#endif
