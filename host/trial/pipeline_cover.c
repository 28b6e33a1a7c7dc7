/* SPDX-License-Identifier: Apache-2.0 */
/* What tests reach: of their executions on the checkers' threads, of the events that machines
 * counted on the runners'. It counts when a test is settled. */
#include <stdlib.h>
#include <string.h>

#include "cover/cover_event.h"
#include "cover/cover_exec.h"
#include "pipeline_parts.h"

struct look {
    struct ordeal *o;
    struct cover_exec *exec;
};

struct look *look_new(void)
{
    struct look *l = calloc(1, sizeof *l);
    if (l && (l->o = ordeal_new(NULL)) && (l->exec = cover_exec_new()))
        return l;
    look_free(l);
    return NULL;
}

void look_free(struct look *l)
{
    if (!l)
        return;
    cover_exec_free(l->exec);
    ordeal_free(l->o);
    free(l);
}

/* Values that the test cannot have are complained of by whoever judges or writes them. */
static bool look_at(struct look *l, const struct pipeline *p, const struct test *t,
                    uint64_t iteration, const uint64_t *values, struct cover_hits *hits)
{
    struct ordeal_trace *trace;
    enum ordeal_status status = program_trace(&t->program, iteration, values, &p->claims, l->o,
                                              &trace);
    bool good = status == ORDEAL_BAD_INPUT
             || (status == ORDEAL_OK && cover_exec_look(l->exec, trace, hits));
    ordeal_trace_free(trace);
    return good;
}

static void add_hits(struct pipeline *p, struct test *t, const struct cover_hits *hits)
{
    pthread_mutex_lock(&p->lock);
    cover_hits_add(t->hits, hits);
    pthread_mutex_unlock(&p->lock);
}

bool look_at_chunk(struct look *l, struct pipeline *p, const struct chunk *c)
{
    struct cover_hits hits = { { 0 } };
    bool good = true;
    for (size_t i = 0; good && i < c->count && !p->stop; i++) {
        const struct outcome *o = outcome_at(c, i);
        if (o->nth > COVERED_OUTCOMES)
            break;
        good = !o->nth || look_at(l, p, c->test, o->iteration, o->values, &hits);
    }
    add_hits(p, c->test, &hits);
    return good;
}

void gather_events(struct runner *r, const struct test *t)
{
    const struct target *target = r->pipeline->plan->target;
    if (!t->hits || !target->events)
        return;
    const struct event_counts *events = target->events(r->machine);
    for (int i = 0; i < MOST_EVENTS; i++) {
        r->events.sum[i] += events->sum[i];
        if (r->events.most[i] < events->most[i])
            r->events.most[i] = events->most[i];
    }
}

void look_at_events(struct runner *r, struct test *t)
{
    struct cover_hits hits = { { 0 } };
    if (!t->hits || !r->pipeline->plan->target->events)
        return;
    static_assert((int)COVER_AXIS_EVENT <= (int)MOST_EVENTS, "there is a count of each");
    cover_event_look(r->events.sum, r->events.most, &hits);
    add_hits(r->pipeline, t, &hits);
}

/* How much of a test that fails was run and looked at is a matter of time: what counts is the
 * execution that violates the model. */
bool look_at_failure(struct pipeline *p, struct test *t)
{
    memset(t->hits, 0, sizeof *t->hits);
    if (!t->told.values)
        return true;
    struct look *l = look_new();
    bool good = l && look_at(l, p, t, t->told.iteration, t->told.values, t->hits);
    look_free(l);
    return good;
}
