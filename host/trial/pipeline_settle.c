/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's thread: outcomes are told and tests settled in order; the progress line, ^C.
 *
 * Outcomes are told of the first test in flight alone, when they are checked and all before them are
 * told: then it is known whether one of them decides the test, for those that follow it are not told,
 * and no test before it can be the last one.
 *
 * It is woken when there is enough to do. For every test it would cost 10 to 15 % where one takes
 * 80 us of a core in all (`run --check` on `model`; on `native` with one iteration); as it is, a run
 * takes no more of the processor than when this thread itself ran the tests of a machine that was
 * the only one. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "pipeline_parts.h"

/* ---- who wakes it --------------------------------------------------------------------------- */

void pipeline_call(struct pipeline *p)
{
    p->called = true;
    pthread_cond_signal(&p->for_caller);
}

void pipeline_stop(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pipeline_call(p);
    pthread_cond_broadcast(&p->for_runners);
    pthread_cond_broadcast(&p->for_room);
    pthread_cond_broadcast(&p->for_maker);
    pthread_mutex_unlock(&p->lock);
}

/* A violation at once; else many together, and when others wait for it or the end is near, those
 * that there are. */
static bool is_worth_settling(const struct pipeline *p)
{
    const struct test *first = p->in_flight.first;
    return first && is_settleable(first)
        && (p->findings || !p->runners_left || p->settleable >= p->limits.settle_tests
            || (p->crowded && p->settleable >= p->in_flight.count / 4));
}

static bool is_tellable(const struct test *t)
{
    return t && t->to_tell && outcome_at(t->to_tell, 0)->iteration == t->next_to_tell;
}

static bool is_worth_telling(const struct pipeline *p)
{
    return is_tellable(p->in_flight.first)
        && (p->untold >= p->limits.tell_bytes || p->crowded || !p->runners_left);
}

void pipeline_call_if_worth(struct pipeline *p)
{
    if (!p->called && (is_worth_settling(p) || is_worth_telling(p)))
        pipeline_call(p);
}

static bool is_finding(const struct test *t) { return t->finding.kind != FOUND_NOTHING; }

void pipeline_count(struct pipeline *p, const struct test *t)
{
    p->settleable += is_settleable(t);
    p->findings += is_settleable(t) && is_finding(t);
    pipeline_call_if_worth(p);
}

static void wait_for_call(struct pipeline *p)
{
    if (!p->called)
        pipeline_wait(p, &p->for_caller, 0.1);
    p->called = false;
}

static void tick(struct pipeline *p)
{
    struct pipeline_totals so_far = p->report->totals;
    so_far.seconds = now_seconds() - p->started;
    so_far.operations = p->operations;
    if (p->plan->tick)
        p->plan->tick(p->plan->user, &so_far);
    if (interrupted() && p->end == PIPELINE_DONE) {
        p->end = PIPELINE_INTERRUPTED;
        pipeline_stop(p);
    }
}

/* ---- outcomes are told --------------------------------------------------------------------- */

static void stop_here(struct pipeline *p, enum pipeline_end end)
{
    if (p->end == PIPELINE_DONE)
        p->end = end;
    p->silent = true;
    pipeline_stop(p);
}

void pipeline_tell_chunk(struct pipeline *p, struct chunk *c)
{
    struct chunk **at = &c->test->to_tell;
    while (*at && outcome_at(*at, 0)->iteration < outcome_at(c, 0)->iteration)
        at = &(*at)->next;
    assert(!c->next && outcome_at(c, 0)->iteration >= c->test->next_to_tell);
    c->next = *at;
    *at = c;
    pipeline_call_if_worth(p);
}

/* With the lock: the next in order; NULL: it has not come yet. */
static struct chunk *take_tellable(struct pipeline *p)
{
    struct test *t = p->in_flight.first;
    if (!is_tellable(t))
        return NULL;
    struct chunk *c = t->to_tell;
    t->to_tell = c->next;
    t->next_to_tell += c->count;
    return c;
}

/* With the lock. Of a test that is decided, which it now is for these, up to what counts. */
static uint64_t end_of_telling(const struct pipeline *p, const struct test *t)
{
    return t->decided ? p->plan->first_iteration + t->finding.iterations : UINT64_MAX;
}

static void tell_chunk(struct pipeline *p, const struct chunk *c, uint64_t end)
{
    for (size_t i = 0; i < c->count && !p->stop; i++) {
        const struct outcome *o = outcome_at(c, i);
        if (o->iteration < end
            && !p->plan->outcome(p->plan->user, &c->test->told, o->iteration, o->values))
            stop_here(p, interrupted() ? PIPELINE_INTERRUPTED : PIPELINE_STOPPED);
    }
}

/* With the lock. */
static void drop_told(struct pipeline *p, struct chunk *c)
{
    struct test *t = c->test;
    assert(p->untold >= c->bytes && t->untold_bytes >= c->bytes && t->chunks > 0);
    t->untold_bytes -= c->bytes;
    p->untold -= c->bytes;
    t->skipped |= p->stop;
    t->chunks--;
    pthread_cond_broadcast(&p->for_room);
    pipeline_count(p, t);
    free(c);
}

/* False: there is none to be told. */
static bool tell_outcomes(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    struct chunk *c = p->stop ? NULL : take_tellable(p);
    uint64_t end = c ? end_of_telling(p, c->test) : 0;
    pthread_mutex_unlock(&p->lock);
    if (!c)
        return false;
    tell_chunk(p, c, end);
    pthread_mutex_lock(&p->lock);
    drop_told(p, c);
    pthread_mutex_unlock(&p->lock);
    tick(p);
    return true;
}

/* ---- tests are settled --------------------------------------------------------------------- */

/* Whoever is told of a violation may run that test again, and many more, on the first machine: its
 * runner gets no other one meanwhile. One that it still has it ends, unless there is no room for the
 * outcomes; then it pauses. */
static void borrow_machine(struct pipeline *p)
{
    struct runner *r = &p->runners[0];
    pthread_mutex_lock(&p->lock);
    r->lent = true;
    pthread_cond_broadcast(&p->for_room);
    while (r->running && !r->paused) {
        wait_for_call(p);
        pthread_mutex_unlock(&p->lock);
        tick(p);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

static void give_back_machine(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    p->runners[0].lent = false;
    pthread_cond_broadcast(&p->for_runners);
    pthread_cond_broadcast(&p->for_room);
    pthread_mutex_unlock(&p->lock);
}

static void tell_settled(struct pipeline *p, const struct pipeline_test *told)
{
    bool borrowed = told->result != ORDEAL_PASS;
    if (borrowed)
        borrow_machine(p);
    if (!p->plan->settled(p->plan->user, told))
        stop_here(p, interrupted() ? PIPELINE_INTERRUPTED : PIPELINE_STOPPED);
    if (borrowed)
        give_back_machine(p);
}

/* What the callbacks get: of a test that is decided what was up to then, whatever else was run. */
static void fill_in(struct test *t)
{
    static const enum ordeal_result results[] = {
        [FOUND_NOTHING] = ORDEAL_PASS,   [FOUND_UNDECIDED] = ORDEAL_UNDECIDED,
        [FOUND_VIOLATION] = ORDEAL_FAIL, [FOUND_BROKE] = ORDEAL_FAIL,
        [FOUND_LOST] = ORDEAL_PASS,      [FOUND_END] = ORDEAL_PASS
    };
    const struct finding *f = &t->finding;
    bool all = !t->decided;
    t->told.result = results[f->kind];
    t->told.iteration = f->iteration;
    t->told.values = f->values;
    t->told.broke = f->kind == FOUND_BROKE ? f->text : NULL;
    t->told.lost = f->kind == FOUND_LOST ? f->text : NULL;
    t->told.iterations = all ? t->iterations : f->iterations;
    t->told.outcomes = all || f->outcomes > t->outcomes ? t->outcomes : f->outcomes;
    t->told.operations = t->told.iterations * t->program.operations;
    t->told.cycles = all ? t->cycles : f->cycles;
    t->told.seconds = t->seconds;
    t->told.hits = t->hits;
}

static void add_up(struct pipeline_totals *totals, const struct pipeline_test *told)
{
    totals->iterations += told->iterations;
    totals->outcomes += told->outcomes;
    totals->operations += told->operations;
    totals->cycles += told->cycles;
}

static void settle_counted(struct pipeline *p, struct test *t)
{
    struct pipeline_totals *totals = &p->report->totals;
    if (t->hits && t->told.result == ORDEAL_FAIL && !look_at_failure(p, t)) {
        t->finding.end = PIPELINE_BAD;
        error_set(&t->finding.error, ORDEAL_NO_MEMORY, t->source.name, "out of memory");
    }
    totals->tests++;
    ++*(t->told.lost ? &totals->lost : &totals->results[t->told.result]);
    t->told.behind = p->gap;
    if (!p->gap)
        totals->next = t->source.number + 1;
    tell_settled(p, &t->told);
}

/* Behind a test that ^C cut off, and with which a run goes on, violations alone count: nobody wants
 * to lose one, and all else is done again. */
void pipeline_settle(struct pipeline *p, struct test *t)
{
    fill_in(t);
    bool end = t->finding.kind == FOUND_END;
    bool known = !end && (t->decided || (t->whole && !t->skipped && !t->chunks));
    bool counts = known && (!p->gap || t->told.result == ORDEAL_FAIL);
    p->gap |= !known;
    if (counts || end) /* not what ^C cut off */
        add_up(&p->report->totals, &t->told);
    if (counts)
        settle_counted(p, t);
    if (t->finding.end != PIPELINE_DONE) {
        if (p->end == PIPELINE_DONE)
            p->report->error = t->finding.error;
        stop_here(p, t->finding.end);
    }
}

/* With the lock: the next in order of which all is known. */
static struct test *take_settleable(struct pipeline *p)
{
    struct test *t = p->in_flight.first;
    if (!t || !is_settleable(t))
        return NULL;
    assert(p->settleable > 0 && p->findings >= is_finding(t));
    p->settleable--;
    p->findings -= is_finding(t);
    tests_pop(&p->in_flight);
    if (p->plan->outcome) /* who runs the next may have waited for its turn */
        pthread_cond_broadcast(&p->for_room);
    if (p->crowded && p->in_flight.count <= p->limits.flight_tests / 2
        && p->in_flight.weight <= p->limits.operations) {
        p->crowded = false;
        pthread_cond_broadcast(&p->for_runners);
    }
    return t;
}

static void settle_those_known(struct pipeline *p)
{
    struct test *t;
    pthread_mutex_lock(&p->lock);
    while (!p->stop && (t = take_settleable(p))) {
        pthread_mutex_unlock(&p->lock);
        pipeline_settle(p, t);
        tick(p);
        pthread_mutex_lock(&p->lock);
        tests_push(&p->retired, t);
    }
    pthread_mutex_unlock(&p->lock);
}

void pipeline_settle_all(struct pipeline *p, void (*now_and_then)(struct pipeline *p))
{
    pthread_mutex_lock(&p->lock);
    while (!p->stop && (p->runners_left || p->in_flight.first)) {
        wait_for_call(p);
        pthread_mutex_unlock(&p->lock);
        tick(p);
        now_and_then(p);
        do
            settle_those_known(p); /* in between: where telling ends, those told before count */
        while (tell_outcomes(p));
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}
