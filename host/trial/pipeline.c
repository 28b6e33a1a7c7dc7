/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_parts.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"

static const double LOOK_SECONDS = 1; /* between looks for machines that came */

/* ---- waiting ------------------------------------------------------------------- */

void pipeline_tick(struct pipeline *s)
{
    const struct runner *r = &s->runners[0];
    struct pipeline_totals so_far = s->report->totals;
    so_far.seconds = now_seconds() - s->started;
    so_far.operations = s->operations;
    if (!r->lives && r->running)
        so_far.operations += r->running->told.iterations * r->running->program.operations;
    if (s->plan->tick)
        s->plan->tick(s->plan->user, &so_far);
    if (interrupted() && s->end == PIPELINE_DONE) {
        s->end = PIPELINE_INTERRUPTED;
        s->stop = true;
    }
}

static void wait_a_while(struct pipeline *s)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += 100000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&s->for_runners, &s->lock, &t);
}

/* The caller's thread also looks after the progress line and ^C, and between tests after those
 * that are checked. */
void pipeline_wait(struct runner *r)
{
    struct pipeline *s = r->s;
    wait_a_while(s);
    if (r->lives)
        return;
    pthread_mutex_unlock(&s->lock);
    pipeline_tick(s);
    if (!r->running)
        pipeline_settle(s);
    pthread_mutex_lock(&s->lock);
}

/* ---- settling ------------------------------------------------------------------ */

static void stop_here(struct pipeline *s, enum pipeline_end end)
{
    if (s->end == PIPELINE_DONE)
        s->end = end;
    s->told_all = true;
    s->stop = true;
}

/* Of several machines: what was run is told when it is its turn, and only then checked. */
static void tell_chunk(struct pipeline *s, struct chunk *c)
{
    for (size_t i = 0; i < c->count && !s->stop; i++) {
        const uint64_t *outcome = c->words + i * c->stride;
        if (!s->plan->outcome(s->plan->user, &c->test->told, outcome[0], outcome + 1))
            stop_here(s, PIPELINE_STOPPED);
    }
    if (!s->plan->check) {
        pipeline_return_chunk(s, c);
        return;
    }
    pthread_mutex_lock(&s->lock);
    chunks_push(&s->fresh, c);
    pthread_cond_signal(&s->for_sifter);
    pthread_mutex_unlock(&s->lock);
}

static void settle_one(struct pipeline *s, struct test *t)
{
    struct pipeline_totals *totals = &s->report->totals;
    t->told.operations = t->told.iterations * t->program.operations;
    totals->iterations += t->told.iterations;
    totals->outcomes += t->told.outcomes;
    totals->operations += t->told.operations;
    totals->cycles += t->told.cycles;
    if (t->lost && t->told.result != ORDEAL_FAIL) {
        t->told.lost = t->lost;
        t->told.iteration = s->plan->first_iteration + t->told.iterations;
    }
    if ((t->whole && !t->skipped) || t->told.result == ORDEAL_FAIL || t->told.lost) {
        totals->tests++;
        ++*(t->told.lost ? &totals->lost : &totals->results[t->told.result]);
        totals->next = t->source.number + 1;
        if (!s->plan->settled(s->plan->user, &t->told))
            stop_here(s, PIPELINE_STOPPED);
    }
    if (t->end != PIPELINE_DONE) {
        if (s->end == PIPELINE_DONE)
            s->report->error = t->error;
        stop_here(s, t->end);
    }
}

/* Those at the head of the line whose outcomes are all checked. */
void pipeline_settle(struct pipeline *s)
{
    pthread_mutex_lock(&s->lock);
    for (struct test *t; !s->stop && (t = s->flight.first); ) {
        struct chunk *c = chunks_take(&t->untold);
        if (!c && (!t->ran || t->chunks))
            break;
        if (c)
            t->untold_bytes -= c->bytes;
        else
            tests_pop(&s->flight);
        pthread_mutex_unlock(&s->lock);
        if (c)
            tell_chunk(s, c);
        else
            settle_one(s, t);
        pthread_mutex_lock(&s->lock);
        if (!c)
            tests_push(&s->retired, t);
    }
    pthread_cond_broadcast(&s->for_runners);
    pthread_mutex_unlock(&s->lock);
}

/* ---- machines ------------------------------------------------------------------------------ */

/* The threads leave ^C to the caller's. */
static void hide_signals(sigset_t *before)
{
    sigset_t ours;
    sigfillset(&ours);
    sigdelset(&ours, SIGUSR1);   /* ends the maker's wait for standard input */
    pthread_sigmask(SIG_SETMASK, &ours, before);
}

/* With a thread of its own, or else it is the caller's. */
static bool start_runner(struct pipeline *s, void *machine, bool lives)
{
    struct runner *r = &s->runners[s->runner_count];
    sigset_t before;
    *r = (struct runner){ .s = s, .number = s->runner_count++, .machine = machine, .lives = lives };
    if (!lives)
        return true;
    hide_signals(&before);
    bool started = pthread_create(&r->thread, NULL, runner_main, r) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        return true;
    r->lives = false;
    return false;
}

/* So many are about to start: all are counted before the first may go. */
static void expect_runners(struct pipeline *s, int count)
{
    pthread_mutex_lock(&s->lock);
    s->runners_left += count;
    s->machines_left += count;
    pthread_mutex_unlock(&s->lock);
}

static bool start_runners(struct pipeline *s)
{
    bool alone = s->plan->machine_count == 1 && !s->plan->another, good = true;
    if (!alone)
        expect_runners(s, s->plan->machine_count);
    for (int i = 0; good && i < s->plan->machine_count; i++)
        good = start_runner(s, s->plan->machines[i], !alone);
    return good;
}

/* A machine that has come takes part from now on. */
static void look_for_machines(struct pipeline *s)
{
    double now = now_seconds();
    if (!s->plan->another || s->runner_count == MOST_MACHINES || now - s->looked < LOOK_SECONDS)
        return;
    pthread_mutex_lock(&s->lock);
    int at_work = s->machines_left;
    bool idle = s->no_more || (s->made && !s->ready.first);
    pthread_mutex_unlock(&s->lock);
    void *machine = idle ? NULL : s->plan->another(s->plan->user, at_work);
    s->looked = now_seconds();
    if (!machine)
        return;
    expect_runners(s, 1);
    if (!start_runner(s, machine, true))
        expect_runners(s, -1);
}

/* Until all tests are, those to come included. */
static void settle_all(struct pipeline *s)
{
    pipeline_settle(s);
    pthread_mutex_lock(&s->lock);
    while (!s->stop && (s->runners_left || s->flight.count)) {
        const struct test *first = s->flight.first;
        if (!first || !(first->untold.first || (first->ran && !first->chunks)))
            wait_a_while(s);
        pthread_mutex_unlock(&s->lock);
        pipeline_tick(s);
        look_for_machines(s);
        pipeline_settle(s);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- start and end ------------------------------------------------------------------------- */

static int cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < MOST_CHECKERS ? n : MOST_CHECKERS;
}

static void on_wake(int signal) { (void)signal; }

static bool start_threads(struct pipeline *s)
{
    sigset_t before;
    sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_wake }, NULL);
    hide_signals(&before);
    s->maker_lives = pthread_create(&s->maker, NULL, maker_main, s) == 0;
    s->sifter_lives = s->plan->check && pthread_create(&s->sifter, NULL, sifter_main, s) == 0;
    for (int n = s->plan->check ? cores() : 0; s->maker_lives && s->checker_count < n;)
        if (pthread_create(&s->checkers[s->checker_count], NULL, checker_main, s) == 0)
            s->checker_count++;
        else
            n = s->checker_count;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->maker_lives && (!s->plan->check || (s->checker_count && s->sifter_lives))
        && start_runners(s);
}

static void end_threads(struct pipeline *s)
{
    pthread_mutex_lock(&s->lock);
    s->stop = true;              /* of a whole run nothing is left that it could stop */
    pthread_cond_broadcast(&s->for_runners);
    pthread_cond_broadcast(&s->for_maker);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < s->runner_count; i++)
        if (s->runners[i].lives)
            pthread_join(s->runners[i].thread, NULL);
    pthread_mutex_lock(&s->lock);
    s->fresh.closed = true;
    pthread_cond_broadcast(&s->for_sifter);
    pthread_mutex_unlock(&s->lock);
    if (s->sifter_lives)
        pthread_join(s->sifter, NULL);
    pthread_mutex_lock(&s->lock);
    s->queue.closed = true;
    pthread_cond_broadcast(&s->for_checkers);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < s->checker_count; i++)
        pthread_join(s->checkers[i], NULL);
    while (s->maker_lives) {
        struct timespec t;
        pthread_kill(s->maker, SIGUSR1);
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += 20000000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        s->maker_lives = pthread_timedjoin_np(s->maker, NULL, &t) != 0;
    }
}

static bool open_stream(struct pipeline *s)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->for_runners, &monotonic);
    pthread_cond_init(&s->for_maker, NULL);
    pthread_cond_init(&s->for_sifter, NULL);
    pthread_cond_init(&s->for_checkers, NULL);
    pthread_condattr_destroy(&monotonic);
    tests_init(&s->ready);
    tests_init(&s->flight);
    tests_init(&s->retired);
    chunks_init(&s->fresh);
    chunks_init(&s->queue);
    struct test_source_plan source = s->plan->source;
    source.stop = pipeline_is_stopped;
    source.user = s;
    s->source = test_source_new(&source);
    if (s->source && start_threads(s))
        return true;
    s->report->error = (struct ordeal_error){ .status = ORDEAL_NO_MEMORY,
                                              .reason = "out of memory" };
    stop_here(s, PIPELINE_BAD);
    return false;
}

/* What is left of an end before the end: violations known by then are told. */
static void close_stream(struct pipeline *s)
{
    struct test *t;
    end_threads(s);
    for (int i = 0; i < s->runner_count; i++)
        free(s->runners[i].filling);
    while ((t = tests_pop(&s->flight))) {
        if (!s->told_all)
            settle_one(s, t);
        free_test(s, t);
    }
    while ((t = tests_pop(&s->ready)) || (t = tests_pop(&s->retired)))
        free_test(s, t);
    test_source_free(s->source);
    pthread_cond_destroy(&s->for_runners);
    pthread_cond_destroy(&s->for_maker);
    pthread_cond_destroy(&s->for_sifter);
    pthread_cond_destroy(&s->for_checkers);
    pthread_mutex_destroy(&s->lock);
}

/* What looking at the clock takes: as much as most calls of the sink. */
static double cost_of_clock(void)
{
    enum { LOOKS = 200 };
    double begin = now_seconds();
    for (int i = 1; i < LOOKS; i++)
        now_seconds();
    return (now_seconds() - begin) / LOOKS;
}

enum pipeline_end pipeline_run(const struct pipeline_plan *plan, struct pipeline_report *report)
{
    void *machine = plan->machines[0];
    struct pipeline s = { .plan = plan, .report = report, .started = now_seconds(),
                        .clock_seconds = cost_of_clock(), .can = plan->target->can(machine),
                        .claims = plan->target->claims(machine) };
    *report = (struct pipeline_report){ .totals.next = plan->source.first };
    if (open_stream(&s)) {
        if (!s.runners[0].lives)
            runner_work(&s.runners[0]);
        settle_all(&s);
        report->totals.seconds = now_seconds() - s.started;
    }
    close_stream(&s);
    for (int i = 0; i < s.runner_count; i++)
        report->totals.running += s.runners[i].run_seconds / s.runner_count;
    if (s.end == PIPELINE_DONE && s.check_end != PIPELINE_DONE) {
        s.end = s.check_end;
        report->error = s.check_error;
    } else if (s.end == PIPELINE_DONE && s.made) {
        s.end = s.made_end;
        report->error = s.made_error;
    }
    return s.end;
}
