/* SPDX-License-Identifier: Apache-2.0 */
#include "puzzle.h"

#include <stdlib.h>
#include <string.h>
#include "bench/workload.h"
#include "unity.h"

void puzzle_free(struct puzzle *p)
{
    free(p->arc);
    *p = (struct puzzle){ 0 };
}

/* Not all of the literals may be active. */
static void add_circle(struct puzzle *p, const uint32_t *literal, uint32_t count)
{
    p->arc = realloc(p->arc, (p->arcs + count) * sizeof *p->arc);
    for (uint32_t i = 0; i < count; i++) {
        p->arc[p->arcs].from = literal[i];
        p->arc[p->arcs++].to = literal[(i + 1) % count];
    }
}

/* With a plan, no arc goes up in rank between literals active in it: no circle can be all active. */
struct plan { bool *value; uint32_t *rank; };

static bool fits(const struct plan *plan, const uint32_t *literal)
{
    bool active[3];
    for (int i = 0; i < 3; i++)
        active[i] = plan->value[literal[i] / 2] == (literal[i] % 2 == 0);
    for (int i = 0; i < 3; i++) {
        uint32_t from = literal[i], to = literal[(i + 1) % 3];
        if (active[i] && active[(i + 1) % 3] && plan->rank[from / 2] >= plan->rank[to / 2])
            return false;
    }
    return true;
}

struct puzzle puzzle_random(uint32_t variables, uint32_t circles, bool solvable, uint64_t seed)
{
    struct puzzle p = { .variables = variables };
    struct plan plan = { malloc(variables * sizeof *plan.value),
                         malloc(variables * sizeof *plan.rank) };
    for (uint32_t i = 0; i < variables; i++) {
        plan.value[i] = workload_below(&seed, 2);
        plan.rank[i] = (uint32_t)workload_random(&seed);
    }
    while (circles > 0) {
        uint32_t x[3], literal[3];
        for (int i = 0; i < 3; i++) {
            x[i] = workload_below(&seed, variables);
            literal[i] = 2 * x[i] + workload_below(&seed, 2);
        }
        if (x[0] == x[1] || x[1] == x[2] || x[2] == x[0] || (solvable && !fits(&plan, literal)))
            continue;
        add_circle(&p, literal, 3);
        circles--;
    }
    free(plan.value);
    free(plan.rank);
    return p;
}

struct puzzle puzzle_pigeons(uint32_t holes)
{
    struct puzzle p = { .variables = (holes + 1) * holes };
    uint32_t literal[32];
    TEST_ASSERT_LESS_OR_EQUAL(32, holes);
    for (uint32_t a = 0; a <= holes; a++) { /* a sits somewhere: not all of its false ones active */
        for (uint32_t h = 0; h < holes; h++)
            literal[h] = 2 * (a * holes + h) + 1;
        add_circle(&p, literal, holes);
    }
    for (uint32_t a = 0; a <= holes; a++)
        for (uint32_t b = 0; b < a; b++)
            for (uint32_t h = 0; h < holes; h++) {
                literal[0] = 2 * (a * holes + h);
                literal[1] = 2 * (b * holes + h);
                add_circle(&p, literal, 2);
            }
    return p;
}

/* Take away arcs that lead to nothing active until none is left, or all lead on. */
static bool runs_in_a_circle(const struct puzzle *p, uint32_t values)
{
    uint64_t alive = 0, leads_on;
    for (uint32_t x = 0; x < p->variables; x++)
        alive |= UINT64_C(1) << (2 * x + !(values >> x & 1));
    do {
        leads_on = 0;
        for (uint32_t i = 0; i < p->arcs; i++)
            if (alive >> p->arc[i].from & 1 && alive >> p->arc[i].to & 1)
                leads_on |= UINT64_C(1) << p->arc[i].from;
    } while (alive != leads_on && (alive = leads_on));
    return alive != 0;
}

bool puzzle_solvable(const struct puzzle *p)
{
    TEST_ASSERT_LESS_OR_EQUAL(20, p->variables);
    for (uint32_t values = 0; values < UINT32_C(1) << p->variables; values++)
        if (!runs_in_a_circle(p, values))
            return true;
    return false;
}

/* Literal l is active when the store of `early` is before that of `late`. Coming in over an arc is
 * having loaded `late`; an arc ends in a load of `early`, which then is before all of those. */
static uint32_t early(uint32_t literal) { return 1 + literal % 2; }
static uint32_t late(uint32_t literal) { return 2 - literal % 2; }

struct ordeal_trace *puzzle_trace(struct ordeal *o, const struct puzzle *p)
{
    char *lines = NULL;
    size_t length;
    FILE *f = open_memstream(&lines, &length);
    fprintf(f, "ordeal 1\n");
    uint32_t thread = 0;
    for (uint32_t x = 0; x < p->variables; x++) {
        fprintf(f, "P%u S[x%u]#1\n", thread++, x);
        fprintf(f, "P%u S[x%u]#2\n", thread++, x);
    }
    for (uint32_t i = 0; i < p->arcs; i++, thread++) {
        uint32_t from = p->arc[i].from, to = p->arc[i].to;
        fprintf(f, "P%u L[x%u]=%u\nP%u MEMBAR\n", thread, from / 2, late(from), thread);
        fprintf(f, "P%u L[x%u]=%u\n", thread, to / 2, early(to));
    }
    fclose(f);
    f = fmemopen(lines, length, "r");
    struct ordeal_reader *r = ordeal_reader_new(o, f, "puzzle", ORDEAL_FORMAT_TEXT);
    struct ordeal_trace *t = NULL;
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_reader_next(r, &t));
    ordeal_reader_free(r);
    fclose(f);
    free(lines);
    return t;
}
