/* SPDX-License-Identifier: Apache-2.0 */
/* Programs against the checker: of a straight program, whose every load keeps what it saw, each
 * outcome is a trace that passes, and each other assignment of values that somebody stored there is
 * one that fails. First of the plain machines of tests/support, then of the engine. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checking.h"
#include "explore.h"
#include "oracle.h"
#include "tiny_explore.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

enum { PROGRAMS = 400, MOST_READS = 4, CANDIDATES = 24, ASSIGNMENTS = 1500, TEXT = 4096 };

/* ---- straight programs ------------------------------------------------------------------------ */

static bool reads(const struct tiny_op *o)
{
    return o->kind == TINY_LOAD || (o->kind >= TINY_SWAP && o->kind <= TINY_CAS);
}

/* Without jumps, without CAS (one that fails is a load to the checker, and waits for less), values
 * that do not depend on others, and a register of its own for each load. False: too many loads. */
static bool straighten(struct tiny_program *p)
{
    unsigned all = 0;
    for (unsigned t = 0; t < p->threads; t++) {
        unsigned own = 0;
        for (unsigned i = p->ops[t]; i-- > 0;)
            if (p->op[t][i].kind >= TINY_CAS)
                tiny_without(p, t, i);
        for (unsigned i = 0; i < p->ops[t]; i++) {
            struct tiny_op *o = &p->op[t][i];
            o->source = TINY_REGISTERS;
            o->kind = o->kind > TINY_SWAP ? TINY_SWAP : o->kind;
            if (reads(o))
                o->target = (uint8_t)own++;
        }
        if (own > TINY_REGISTERS)
            return false;
        all += own;
    }
    return all > 0 && all <= MOST_READS;
}

/* ---- assignments ------------------------------------------------------------------------------ */

/* What a read may have seen: the initial value, and by bytes what was stored there. */
struct read {
    unsigned thread, op, candidates;
    uint32_t candidate[CANDIDATES];
};

struct question {
    struct tiny_program p;
    unsigned reads;
    struct read read[MOST_READS];
    unsigned choice[MOST_READS];
};

static bool add(struct read *r, uint32_t value)
{
    for (unsigned i = 0; i < r->candidates; i++)
        if (r->candidate[i] == value)
            return false;
    if (r->candidates == CANDIDATES)
        return false;
    r->candidate[r->candidates++] = value;
    return true;
}

static uint32_t mix(const struct tiny_op *load, uint32_t base, const struct tiny_op *store)
{
    uint8_t bytes[4];
    memcpy(bytes, &base, 4);
    for (unsigned i = 0; i < load->size; i++) {
        unsigned at = load->address + i;
        if (at >= store->address && at < store->address + store->size)
            bytes[i] = (uint8_t)(store->value >> 8 * (at - store->address));
    }
    memcpy(&base, bytes, 4);
    return base;
}

static bool add_mixes(const struct tiny_program *p, struct read *r, const struct tiny_op *store)
{
    bool added = false;
    for (unsigned k = r->candidates; k-- > 0;)
        added = add(r, mix(&p->op[r->thread][r->op], r->candidate[k], store)) || added;
    return added;
}

static void candidates(const struct tiny_program *p, struct read *r)
{
    add(r, 0);
    for (bool more = true; more;) {
        more = false;
        for (unsigned t = 0; t < p->threads; t++)
            for (unsigned i = 0; i < p->ops[t]; i++) {
                const struct tiny_op *o = &p->op[t][i];
                if (o->kind == TINY_STORE || o->kind == TINY_SWAP)
                    more = add_mixes(p, r, o) || more;
            }
    }
}

/* False: too many assignments. */
static bool ask(struct question *q)
{
    size_t assignments = 1;
    for (unsigned t = 0; t < q->p.threads; t++)
        for (unsigned i = 0; i < q->p.ops[t]; i++)
            if (reads(&q->p.op[t][i])) {
                struct read *r = &q->read[q->reads++];
                *r = (struct read){ .thread = t, .op = i };
                candidates(&q->p, r);
                assignments *= r->candidates < CANDIDATES ? r->candidates : ASSIGNMENTS + 1;
            }
    return assignments <= ASSIGNMENTS;
}

static bool next(struct question *q)
{
    for (unsigned k = 0; k < q->reads; k++) {
        if (++q->choice[k] < q->read[k].candidates)
            return true;
        q->choice[k] = 0;
    }
    return false;
}

/* ---- as a trace ------------------------------------------------------------------------------- */

static void barrier(FILE *s, unsigned t, unsigned order)
{
    fprintf(s, "P%u MEMBAR", t);
    fprintf(s, "%s%s%s%s\n", order & TINY_RR ? ".LL" : "", order & TINY_RW ? ".LS" : "",
            order & TINY_WR ? ".SL" : "", order & TINY_WW ? ".SS" : "");
}

static void line(FILE *s, unsigned t, const struct tiny_op *o, uint32_t seen)
{
    char place[32];
    snprintf(place, sizeof place, "0x%x/%u", 0x1000 + o->address, o->size);
    if (o->kind == TINY_FENCE) {
        barrier(s, t, o->order);
    } else if (o->kind == TINY_LOAD) {
        fprintf(s, "P%u L[%s]=0x%" PRIx32 "\n", t, place, seen);
    } else if (o->kind == TINY_STORE) {
        fprintf(s, "P%u S[%s]#0x%" PRIx32 "\n", t, place, o->value);
    } else {
        if (o->order & TINY_RL)
            barrier(s, t, TINY_WR | TINY_WW);
        fprintf(s, "P%u SWAP[%s]=0x%" PRIx32 "#0x%" PRIx32 "\n", t, place, seen, o->value);
    }
}

static void lines(const struct question *q, char *text)
{
    FILE *s = fmemopen(text, TEXT, "w");
    TEST_ASSERT_NOT_NULL(s);
    for (unsigned t = 0, k = 0; t < q->p.threads; t++)
        for (unsigned i = 0; i < q->p.ops[t]; i++) {
            const struct tiny_op *o = &q->p.op[t][i];
            line(s, t, o, reads(o) ? q->read[k].candidate[q->choice[k]] : 0);
            k += reads(o);
        }
    fclose(s);
}

static bool passes(const struct question *q, enum tiny_model m)
{
    static const enum ordeal_model model[] = { ORDEAL_SC, ORDEAL_TSO, ORDEAL_PSO };
    char text[TEXT];
    lines(q, text);
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *t = trace_of_lines(o, text);
    enum ordeal_result result = result_of(o, t, model[m], ORDEAL_AUTO);
    ordeal_trace_free(t);
    ordeal_free(o);
    return result == ORDEAL_PASS;
}

/* ---- the question ------------------------------------------------------------------------------ */

static bool is_outcome(const struct question *q, const struct tiny_outcomes *out)
{
    uint32_t value[TINY_THREADS][TINY_REGISTERS] = { 0 }, row[TINY_THREADS] = { 0 };
    for (unsigned k = 0; k < q->reads; k++)
        value[q->read[k].thread][q->p.op[q->read[k].thread][q->read[k].op].target] =
            q->read[k].candidate[q->choice[k]];
    for (unsigned t = 0; t < TINY_THREADS; t++)
        for (unsigned r = TINY_REGISTERS; r-- > 0;)
            row[t] = row[t] * 251 + value[t][r];
    for (size_t i = 0; i < out->rows; i++)
        if (memcmp(out->row[i], row, sizeof row) == 0)
            return true;
    return false;
}

static size_t all_assignments(struct question *q, enum tiny_model m,
                              const struct tiny_outcomes *out, uint64_t seed)
{
    size_t outcomes = 0;
    do {
        bool outcome = is_outcome(q, out);
        outcomes += outcome;
        if (passes(q, m) != outcome) {
            char text[TEXT];
            lines(q, text);
            fprintf(stderr, "seed %" PRIu64 " under %s, %s an outcome:\n%s", seed,
                    explore_model_names[m], outcome ? "" : "not", text);
            TEST_FAIL_MESSAGE("the checker says otherwise");
        }
    } while (next(q));
    return outcomes;
}

static size_t different_registers(const struct tiny_outcomes *out)
{
    size_t n = 0;
    for (size_t i = 0; i < out->rows; i++)
        n += i == 0 || memcmp(out->row[i], out->row[i - 1], TINY_THREADS * sizeof **out->row) != 0;
    return n;
}

static void question(uint64_t seed, bool engine)
{
    struct question q = { 0 };
    tiny_random(&q.p, seed);
    if (!straighten(&q.p) || !ask(&q))
        return;
    for (unsigned m = TINY_SC; m <= TINY_PSO; m++) {
        struct tiny_outcomes out;
        struct tiny_setting s = { .model = (enum tiny_model)m, .jobs = 1 };
        if (engine)
            tiny_explore(&q.p, &s, &out);
        else
            tiny_outcomes(&q.p, s.model, (struct tiny_limits){ 0 }, &out);
        /* Every row was one of the assignments. */
        TEST_ASSERT_EQUAL_size_t(different_registers(&out),
                                 all_assignments(&q, s.model, &out, seed));
        tiny_outcomes_free(&out);
    }
}

static void test_machines(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
        question(seed, false);
}

static void test_engine(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
        question(PROGRAMS + seed, true);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_machines);
    RUN_TEST(test_engine);
    return UNITY_END();
}
