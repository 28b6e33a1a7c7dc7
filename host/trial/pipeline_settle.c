/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's thread: outcomes are told and tests settled in order; the progress line, ^C.
 *
 * It is woken when there is enough to do. For every test it would cost 10 to 15 % where one takes
 * 80 us of a core in all (`run --check` on `model`; on `native` with one iteration); as it is, a run
 * takes no more of the processor than when this thread itself ran the tests of a machine that was
 * the only one. */
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
        && (p->findings || !p->runners_left || p->settleable >= SETTLE_TESTS
            || (p->crowded && p->settleable >= p->in_flight.count / 4));
}

static bool is_worth_telling(const struct pipeline *p)
{
    return p->untold >= TELL_BYTES || (p->untold && p->crowded);
}

void pipeline_call_if_worth(struct pipeline *p)
{
    if (!p->called && (is_worth_settling(p) || is_worth_telling(p)))
        pipeline_call(p);
}

static bool is_finding(const struct test *t)
{
    return t->told.result != ORDEAL_PASS || t->lost || t->end != PIPELINE_DONE;
}

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

/* With the lock: the next in order, which now counts as unchecked; NULL: it has not come yet. */
static struct chunk *take_untold(struct pipeline *p)
{
    for (; p->telling; p->telling = p->telling->next) {
        struct test *t = p->telling;
        struct chunk *c = chunks_take(&t->untold);
        if (c) {
            assert(p->untold >= c->bytes && t->untold_bytes >= c->bytes);
            t->untold_bytes -= c->bytes;
            p->untold -= c->bytes;
            p->unchecked += c->bytes;
            pthread_cond_broadcast(&p->for_room);
            return c;
        }
        if (!t->ran)
            return NULL;
    }
    return NULL;
}

static void tell_chunk(struct pipeline *p, struct chunk *c)
{
    for (size_t i = 0; i < c->count && !p->stop; i++) {
        const uint64_t *outcome = c->words + i * c->stride;
        if (!p->plan->outcome(p->plan->user, &c->test->told, outcome[0], outcome + 1))
            stop_here(p, PIPELINE_STOPPED);
    }
    if (!pipeline_looks(p)) {
        pipeline_return_chunk(p, c);
        return;
    }
    pthread_mutex_lock(&p->lock);
    chunks_push(&p->to_sift, c);
    pthread_cond_signal(&p->for_sifter);
    pthread_mutex_unlock(&p->lock);
}

/* False: there is none to be told. */
static bool tell_outcomes(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    struct chunk *c = p->stop ? NULL : take_untold(p);
    pthread_mutex_unlock(&p->lock);
    if (!c)
        return false;
    tell_chunk(p, c);
    tick(p);
    return true;
}

/* ---- tests are settled --------------------------------------------------------------------- */

/* Whoever is told of a violation may run that test again, and many more, on the first machine: its
 * runner gets no other one meanwhile. While it still has one, the outcomes of that are told, or it
 * might wait for room for them without an end. */
static void borrow_machine(struct pipeline *p)
{
    struct runner *r = &p->runners[0];
    pthread_mutex_lock(&p->lock);
    r->lent = true;
    while (r->running) {
        wait_for_call(p);
        pthread_mutex_unlock(&p->lock);
        tick(p);
        while (tell_outcomes(p))
            continue;
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

static void give_back_machine(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    p->runners[0].lent = false;
    pthread_cond_broadcast(&p->for_runners);
    pthread_mutex_unlock(&p->lock);
}

static bool tell_settled(struct pipeline *p, const struct pipeline_test *told)
{
    bool borrowed = told->result != ORDEAL_PASS;
    if (borrowed)
        borrow_machine(p);
    bool good = p->plan->settled(p->plan->user, told);
    if (borrowed)
        give_back_machine(p);
    return good;
}

void pipeline_settle(struct pipeline *p, struct test *t)
{
    struct pipeline_totals *totals = &p->report->totals;
    t->told.operations = t->told.iterations * t->program.operations;
    if (t->lost && t->told.result != ORDEAL_FAIL) {
        t->told.lost = t->lost;
        t->told.iteration = p->plan->first_iteration + t->told.iterations;
    }
    bool counts = (t->whole && !t->skipped && !t->chunks) || t->told.result == ORDEAL_FAIL
               || t->told.lost;
    p->gap |= !counts;
    if (counts || t->end != PIPELINE_DONE) { /* not what ^C cut off */
        totals->iterations += t->told.iterations;
        totals->outcomes += t->told.outcomes;
        totals->operations += t->told.operations;
        totals->cycles += t->told.cycles;
    }
    t->told.hits = t->hits;
    if (counts && t->hits && t->told.result == ORDEAL_FAIL && !look_at_failure(p, t)) {
        t->end = PIPELINE_BAD;
        error_set(&t->error, ORDEAL_NO_MEMORY, t->source.name, "out of memory");
    }
    if (counts) {
        totals->tests++;
        ++*(t->told.lost ? &totals->lost : &totals->results[t->told.result]);
        if (!p->gap)
            totals->next = t->source.number + 1;
        if (!tell_settled(p, &t->told))
            stop_here(p, PIPELINE_STOPPED);
    }
    if (t->end != PIPELINE_DONE) {
        if (p->end == PIPELINE_DONE)
            p->report->error = t->error;
        stop_here(p, t->end);
    }
}

/* With the lock: the next in order of which all is known. */
static struct test *take_settleable(struct pipeline *p)
{
    struct test *t = p->in_flight.first;
    if (!t || !is_settleable(t))
        return NULL;
    assert(p->settleable > 0 && p->findings >= is_finding(t));
    if (p->telling == t) /* all of it is */
        p->telling = t->next;
    p->settleable--;
    p->findings -= is_finding(t);
    tests_pop(&p->in_flight);
    if (p->crowded && p->in_flight.count <= FLIGHT_TESTS / 2
        && p->in_flight.weight <= MOST_OPERATIONS) {
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
