/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>
#include "unity.h"

void fixture_open(struct fixture *f, const char *text, enum ordeal_model m,
                  enum ordeal_result result)
{
    char *file = NULL;
    TEST_ASSERT_TRUE(asprintf(&file, "ordeal 1\n%s", text) > 0);
    FILE *stream = fmemopen(file, strlen(file), "r");
    f->o = ordeal_new(NULL);
    struct ordeal_reader *r = ordeal_reader_new(f->o, stream, "fixture", ORDEAL_FORMAT_TEXT);
    enum ordeal_status status = ordeal_reader_next(r, &f->t);
    ordeal_reader_free(r);
    fclose(stream);
    free(file);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, f->o->error.reason);
    f->v = mem_zero(f->o, 1, sizeof *f->v);
    *f->v = (struct ordeal_verdict){ .o = f->o, .model = m, .result = result, .unwritten = NONE };
    status = execution_build(f->t, &f->v->x);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, f->o->error.reason);
}

void fixture_close(struct fixture *f)
{
    ordeal_verdict_free(f->v);
    ordeal_trace_free(f->t);
    TEST_ASSERT_EQUAL(0, ordeal_memory_used(f->o));
    ordeal_free(f->o);
}

static uint32_t find(const struct fixture *f, uint32_t op, bool store)
{
    const struct execution *x = f->v->x;
    for (uint32_t e = x->locations; e < x->events; e++)
        if (x->op[e] == op && x->is_store[e] == store)
            return e;
    TEST_FAIL_MESSAGE("the fixture has no such event");
    return NONE;
}

uint32_t fixture_load(const struct fixture *f, uint32_t op) { return find(f, op, false); }
uint32_t fixture_store(const struct fixture *f, uint32_t op) { return find(f, op, true); }

uint32_t fixture_initial(const struct fixture *f, uint32_t op)
{
    const struct execution *x = f->v->x;
    for (uint32_t e = x->locations; e < x->events; e++)
        if (x->op[e] == op)
            return x->loc[e];
    return NONE;
}

void fixture_place(struct fixture *f, uint32_t event, uint32_t view)
{
    struct ordeal_place place = { event, view };
    TEST_ASSERT_TRUE(VEC_PUSH(f->o, &f->v->order, place));
}

void fixture_step(struct fixture *f)
{
    struct proof *p = &f->v->proof;
    struct proof_step step = { .literal_first = (uint32_t)p->literals.count,
                               .edge_first = (uint32_t)p->edges.count };
    TEST_ASSERT_TRUE(VEC_PUSH(f->o, &p->steps, step));
}

void fixture_literal(struct fixture *f, bool reads, bool negated, uint32_t a, uint32_t b)
{
    struct proof *p = &f->v->proof;
    struct ordeal_literal l = { reads, negated, a, b };
    TEST_ASSERT_TRUE(VEC_PUSH(f->o, &p->literals, l));
    p->steps.data[p->steps.count - 1].literal_count++;
}

void fixture_edge(struct fixture *f, enum ordeal_rule rule, uint32_t from, uint32_t to,
                  uint32_t via)
{
    struct proof *p = &f->v->proof;
    struct ordeal_edge e = { .rule = (uint8_t)rule, .from = from, .to = to, .via = via };
    TEST_ASSERT_TRUE(VEC_PUSH(f->o, &p->edges, e));
    p->steps.data[p->steps.count - 1].edge_count++;
}

void fixture_views(struct fixture *f, uint32_t from_view, uint32_t to_view)
{
    struct proof *p = &f->v->proof;
    p->edges.data[p->edges.count - 1].from_view = from_view;
    p->edges.data[p->edges.count - 1].to_view = to_view;
}

void fixture_clear(struct fixture *f)
{
    struct proof *p = &f->v->proof;
    p->steps.count = p->literals.count = p->edges.count = f->v->order.count = 0;
}

void fixture_whole_core(struct fixture *f)
{
    f->v->core.count = 0;
    for (uint32_t op = 0; op < ordeal_trace_length(f->t); op++)
        TEST_ASSERT_TRUE(VEC_PUSH(f->o, &f->v->core, op));
}
