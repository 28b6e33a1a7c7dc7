/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_parts.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"

static const double LOOK_SECONDS = 1; /* between looks for machines that came */

static const struct pipeline_limits usual_limits = { .ahead_tests = 64,
                                                     .made_tests = 16,
                                                     .flight_tests = FLIGHT_TESTS,
                                                     .settle_tests = 64,
                                                     .tell_bytes = 256 << 10,
                                                     .operations = 1 << 17,
                                                     .chunk_bytes = CHUNK_BYTES,
                                                     .queue_bytes = QUEUE_BYTES };

/* ---- waiting ------------------------------------------------------------------------------- */

static struct timespec later(struct timespec t, double seconds) /* less than one */
{
    t.tv_nsec += (long)(seconds * 1e9);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

void pipeline_wait(struct pipeline *p, pthread_cond_t *come, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until = later(until, seconds);
    pthread_cond_timedwait(come, &p->lock, &until);
}

/* ---- machines ------------------------------------------------------------------------------ */

/* The threads leave ^C to the caller's. */
static void hide_signals(sigset_t *before)
{
    sigset_t ours;
    sigfillset(&ours);
    sigdelset(&ours, SIGUSR1); /* ends the maker's wait for standard input */
    pthread_sigmask(SIG_SETMASK, &ours, before);
}

static bool start_runner(struct pipeline *p, void *machine)
{
    assert(p->runner_count < MOST_MACHINES);
    struct runner *r = &p->runners[p->runner_count];
    sigset_t before;
    *r = (struct runner){ .pipeline = p, .number = p->runner_count, .machine = machine };
    hide_signals(&before);
    bool started = pthread_create(&r->thread, NULL, runner_main, r) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    p->runner_count += started;
    return started;
}

/* So many are about to start: all are counted before the first may go. */
static void expect_runners(struct pipeline *p, int count)
{
    pthread_mutex_lock(&p->lock);
    p->runners_left += count;
    p->machines_left += count;
    pthread_mutex_unlock(&p->lock);
}

static bool start_runners(struct pipeline *p)
{
    bool good = true;
    expect_runners(p, p->plan->machine_count);
    for (int i = 0; good && i < p->plan->machine_count; i++)
        good = start_runner(p, p->plan->machines[i]);
    return good;
}

/* A machine that has come takes part from now on. */
static void look_for_machines(struct pipeline *p)
{
    double now = now_seconds();
    if (!p->plan->another || p->runner_count == MOST_MACHINES || now - p->looked < LOOK_SECONDS)
        return;
    pthread_mutex_lock(&p->lock);
    int at_work = p->machines_left;
    bool idle = p->no_more || (p->made && !p->ready.first);
    pthread_mutex_unlock(&p->lock);
    void *machine = idle ? NULL : p->plan->another(p->plan->user, at_work);
    p->looked = now_seconds();
    if (!machine)
        return;
    expect_runners(p, 1);
    if (!start_runner(p, machine))
        expect_runners(p, -1);
}

/* ---- start and end ------------------------------------------------------------------------- */

static int cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < MOST_CHECKERS ? n : MOST_CHECKERS;
}

static void on_wake(int signal) { (void)signal; }

static bool start_threads(struct pipeline *p)
{
    sigset_t before;
    sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_wake }, NULL);
    hide_signals(&before);
    p->maker_lives = pthread_create(&p->maker, NULL, maker_main, p) == 0;
    p->sifter_lives = pipeline_looks(p) && pthread_create(&p->sifter, NULL, sifter_main, p) == 0;
    for (int n = pipeline_looks(p) ? cores() : 0; p->maker_lives && p->checker_count < n;)
        if (pthread_create(&p->checkers[p->checker_count], NULL, checker_main, p) == 0)
            p->checker_count++;
        else
            n = p->checker_count;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return p->maker_lives && (!pipeline_looks(p) || (p->checker_count && p->sifter_lives))
        && start_runners(p);
}

static void close_chunks(struct pipeline *p, struct chunks *l, pthread_cond_t *who_waits)
{
    pthread_mutex_lock(&p->lock);
    l->closed = true;
    pthread_cond_broadcast(who_waits);
    pthread_mutex_unlock(&p->lock);
}

/* It may be waiting for standard input. */
static void end_maker(struct pipeline *p)
{
    while (p->maker_lives) {
        struct timespec until;
        pthread_kill(p->maker, SIGUSR1);
        clock_gettime(CLOCK_REALTIME, &until);
        until = later(until, 0.02);
        p->maker_lives = pthread_timedjoin_np(p->maker, NULL, &until) != 0;
    }
}

static void end_threads(struct pipeline *p)
{
    pipeline_stop(p); /* of a whole run nothing is left that it could stop */
    for (int i = 0; i < p->runner_count; i++)
        pthread_join(p->runners[i].thread, NULL);
    close_chunks(p, &p->to_sift, &p->for_sifter);
    if (p->sifter_lives)
        pthread_join(p->sifter, NULL);
    close_chunks(p, &p->to_check, &p->for_checkers);
    for (int i = 0; i < p->checker_count; i++)
        pthread_join(p->checkers[i], NULL);
    end_maker(p);
}

static bool open_pipeline(struct pipeline *p)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->for_caller, &monotonic);
    pthread_cond_init(&p->for_runners, &monotonic);
    pthread_cond_init(&p->for_room, NULL);
    pthread_cond_init(&p->for_maker, NULL);
    pthread_cond_init(&p->for_sifter, NULL);
    pthread_cond_init(&p->for_checkers, NULL);
    pthread_condattr_destroy(&monotonic);
    tests_init(&p->ready);
    tests_init(&p->in_flight);
    tests_init(&p->retired);
    chunks_init(&p->to_sift);
    chunks_init(&p->to_check);
    struct test_source_plan source = p->plan->source;
    source.stop = pipeline_is_stopped;
    source.user = p;
    p->source = test_source_new(&source);
    if (p->source && start_threads(p))
        return true;
    p->report->error = (struct ordeal_error){ .status = ORDEAL_NO_MEMORY,
                                              .reason = "out of memory" };
    p->end = PIPELINE_BAD;
    p->silent = true;
    return false;
}

/* What is left of an end before the end: violations known by then are told. */
static void close_pipeline(struct pipeline *p)
{
    struct test *t;
    end_threads(p);
    for (int i = 0; i < p->runner_count; i++)
        free(p->runners[i].filling);
    while ((t = tests_pop(&p->in_flight))) {
        if (!p->silent)
            pipeline_settle(p, t);
        free_test(p, t);
    }
    while ((t = tests_pop(&p->ready)) || (t = tests_pop(&p->retired)))
        free_test(p, t);
    test_source_free(p->source);
    pthread_cond_destroy(&p->for_caller);
    pthread_cond_destroy(&p->for_runners);
    pthread_cond_destroy(&p->for_room);
    pthread_cond_destroy(&p->for_maker);
    pthread_cond_destroy(&p->for_sifter);
    pthread_cond_destroy(&p->for_checkers);
    pthread_mutex_destroy(&p->lock);
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
    struct pipeline p = { .plan = plan,
                          .report = report,
                          .limits = plan->limits ? *plan->limits : usual_limits,
                          .started = now_seconds(),
                          .clock_seconds = cost_of_clock(),
                          .can = plan->target->can(machine),
                          .claims = plan->target->claims(machine) };
    *report = (struct pipeline_report){ .totals.next = plan->source.first };
    if (open_pipeline(&p)) {
        pipeline_settle_all(&p, look_for_machines);
        report->totals.seconds = now_seconds() - p.started;
    }
    close_pipeline(&p);
    for (int i = 0; i < p.runner_count; i++)
        report->totals.running += p.runners[i].run_seconds / p.runner_count;
    if (p.end == PIPELINE_DONE && p.made) {
        p.end = p.made_end;
        report->error = p.made_error;
    }
    return p.end;
}
