#include "stream_parts.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "progress.h"

enum { PERIOD = 64 };                        /* outcomes between looks at the clock */
static const double hand_over_every = 0.01;  /* seconds: a slow target's are checked soon, too */

/* ---- waiting ------------------------------------------------------------------- */

static void tick(struct stream *s)
{
    struct stream_totals so_far = s->report->totals;
    so_far.seconds = now_seconds() - s->started;
    so_far.running = s->run_seconds;
    so_far.operations = s->operations;
    if (s->running)
        so_far.operations += s->running->told.iterations * s->running->program.operations;
    if (s->plan->tick)
        s->plan->tick(s->plan->user, &so_far);
    if (interrupted() && s->end == STREAM_DONE) {
        s->end = STREAM_INTERRUPTED;
        s->stop = true;
    }
}

/* With the lock; a tenth of a second at most, for the sake of the progress line and of ^C. */
static void runner_waits(struct stream *s)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += 100000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&s->for_runner, &s->lock, &t);
    pthread_mutex_unlock(&s->lock);
    tick(s);
    pthread_mutex_lock(&s->lock);
}

/* ---- outcomes ------------------------------------------------------------------ */

static void hand_over(struct stream *s)
{
    struct chunk *c = s->filling;
    s->filling = NULL;
    if (!c)
        return;
    pthread_mutex_lock(&s->lock);
    chunks_push(&s->fresh, c);
    s->unchecked += c->bytes;
    c->test->chunks++;
    pthread_cond_signal(&s->for_sifter);
    /* Once it is full it is emptied well: the cores then have one thing to do at a time. */
    if (s->unchecked > QUEUE_BYTES) {
        double begin = now_seconds();
        while (s->unchecked > QUEUE_BYTES / 2 && !s->stop)
            runner_waits(s);
        s->waited += now_seconds() - begin;
    }
    pthread_mutex_unlock(&s->lock);
}

static bool out_of_memory(struct stream *s)
{
    s->end = STREAM_BAD;
    s->stop = true;
    s->report->error = (struct ordeal_error){ .status = ORDEAL_NO_MEMORY,
                                              .reason = "out of memory" };
    return false;
}

static bool start_chunk(struct stream *s)
{
    size_t stride = (size_t)s->running->program.slots + 1;
    size_t room = CHUNK_BYTES / sizeof(uint64_t) / stride;
    room = room < s->plan->iterations ? room : s->plan->iterations;
    room = room ? room : 1;
    size_t bytes = sizeof *s->filling + room * stride * sizeof(uint64_t);
    if (!(s->filling = malloc(bytes)))
        return out_of_memory(s);
    *s->filling = (struct chunk){ .test = s->running, .bytes = bytes, .stride = stride,
                                  .room = room };
    return true;
}

static bool keep(struct stream *s, uint64_t iteration, const uint64_t *values)
{
    if (!s->filling && !start_chunk(s))
        return false;
    struct chunk *c = s->filling;
    uint64_t *to = c->words + c->count++ * c->stride;
    to[0] = iteration;
    for (size_t i = 1; i < c->stride; i++)
        to[i] = values[i - 1];
    if (c->count == c->room)
        hand_over(s);
    return true;
}

static bool take_outcome(struct stream *s, uint64_t iteration, const uint64_t *values)
{
    struct stream_test *told = &s->running->told;
    told->iterations++;
    if (s->plan->outcome && !s->plan->outcome(s->plan->user, told, iteration, values)) {
        s->end = STREAM_STOPPED;
        s->stop = true;
        return false;
    }
    return !s->plan->check || keep(s, iteration, values);
}

/* Every PERIOD calls it looks around, and the next call is timed for all that are like it. */
static bool sink(void *user, uint64_t iteration, const uint64_t *values)
{
    struct stream *s = user;
    uint64_t phase = s->calls++ % PERIOD;
    if (phase > 1)
        return take_outcome(s, iteration, values) && !s->stop;
    double begin = now_seconds() - s->waited;
    bool good = take_outcome(s, iteration, values);
    if (phase == 1) {
        double spent = now_seconds() - s->waited - begin - s->clock_seconds;
        s->sink_seconds += spent > 0 ? spent * (PERIOD - 1) : 0;
        return good && !s->stop;
    }
    if (begin - s->handed_over > hand_over_every) {
        hand_over(s);
        s->handed_over = now_seconds() - s->waited;
    }
    tick(s);
    s->sink_seconds += now_seconds() - s->waited - begin;
    return good && !s->stop && !s->running->failed;
}

/* ---- tests --------------------------------------------------------------------- */

static void settle_one(struct stream *s, struct test *t)
{
    struct stream_totals *totals = &s->report->totals;
    t->told.operations = t->told.iterations * t->program.operations;
    totals->iterations += t->told.iterations;
    totals->outcomes += t->told.outcomes;
    totals->operations += t->told.operations;
    if (!t->whole && t->told.result != ORDEAL_FAIL)
        return;
    totals->tests++;
    totals->results[t->told.result]++;
    totals->next = t->source.number + 1;
    if (!s->plan->settled(s->plan->user, &t->told) && s->end == STREAM_DONE) {
        s->end = STREAM_STOPPED;
        s->stop = true;
    }
}

/* Those at the head of the line whose outcomes are all checked. */
static void settle(struct stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (!s->stop && s->flight.first && s->flight.first->ran && !s->flight.first->chunks) {
        struct test *t = tests_pop(&s->flight);
        pthread_mutex_unlock(&s->lock);
        settle_one(s, t);
        pthread_mutex_lock(&s->lock);
        tests_push(&s->retired, t);
    }
    pthread_mutex_unlock(&s->lock);
}

static struct test *take_test(struct stream *s)
{
    pthread_mutex_lock(&s->lock);
    bool patient = s->plan->patient && !s->begun;
    while (!s->stop && !s->made && (patient ? !is_full(&s->ready, AHEAD_TESTS) : !s->ready.first))
        runner_waits(s);
    struct test *t = NULL;
    if (!s->stop && !(patient && s->made && s->made_end != STREAM_DONE))
        t = tests_pop(&s->ready);
    if (t)
        tests_push(&s->flight, t);
    else if (s->end == STREAM_DONE && s->made) {
        s->end = s->made_end;
        s->report->error = s->made_error;
    }
    if (is_half_empty(&s->ready, AHEAD_TESTS))
        pthread_cond_signal(&s->for_maker);
    pthread_mutex_unlock(&s->lock);
    return t;
}

static void run_test(struct stream *s, struct test *t)
{
    const struct stream_plan *plan = s->plan;
    struct target_sink to = { .outcome = sink, .user = s };
    struct why why = { "" };
    s->running = t;
    s->begun = true;
    double begin = now_seconds(), elsewhere = s->sink_seconds + s->waited;
    enum target_result result = plan->target->run(plan->machine, &t->program, plan->first_iteration,
                                                  plan->iterations, &to, &why);
    double spent = now_seconds() - begin - (s->sink_seconds + s->waited - elsewhere);
    s->run_seconds += spent > 0 ? spent : 0;
    s->operations += t->told.iterations * t->program.operations;
    s->running = NULL;
    hand_over(s);
    if (s->end == STREAM_DONE && (result == TARGET_HUNG || result == TARGET_FAILED)) {
        s->end = STREAM_TARGET;
        s->report->error = (struct ordeal_error){ .status = ORDEAL_IO };
        snprintf(s->report->error.file, sizeof s->report->error.file, "%.255s", t->source.name);
        snprintf(s->report->error.reason, sizeof s->report->error.reason, "%.511s", why.text);
    }
    pthread_mutex_lock(&s->lock);
    t->ran = true;
    t->whole = result == TARGET_DONE || t->failed;
    pthread_mutex_unlock(&s->lock);
    tick(s);
}

/* Waits until no more than so many tests wait for their verdict. */
static void settle_down_to(struct stream *s, size_t tests, size_t weight)
{
    settle(s);
    pthread_mutex_lock(&s->lock);
    while (!s->stop && (s->flight.count > tests || s->flight.weight > weight)) {
        if (!s->flight.first->ran || s->flight.first->chunks)
            runner_waits(s);
        pthread_mutex_unlock(&s->lock);
        settle(s);
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

/* The threads leave ^C to the caller's; SIGUSR1 ends the maker's wait for standard input. */
static bool start_threads(struct stream *s)
{
    sigset_t ours, before;
    sigfillset(&ours);
    sigdelset(&ours, SIGUSR1);
    sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_wake }, NULL);
    pthread_sigmask(SIG_SETMASK, &ours, &before);
    s->maker_lives = pthread_create(&s->maker, NULL, maker_main, s) == 0;
    s->sifter_lives = s->plan->check && pthread_create(&s->sifter, NULL, sifter_main, s) == 0;
    for (int n = s->plan->check ? cores() : 0; s->maker_lives && s->checker_count < n;)
        if (pthread_create(&s->checkers[s->checker_count], NULL, checker_main, s) == 0)
            s->checker_count++;
        else
            n = s->checker_count;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->maker_lives && (!s->plan->check || (s->checker_count && s->sifter_lives));
}

static void end_threads(struct stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->stop = true;              /* of a whole run nothing is left that it could stop */
    s->fresh.closed = true;
    pthread_cond_broadcast(&s->for_maker);
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

static bool open_stream(struct stream *s)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->for_runner, &monotonic);
    pthread_cond_init(&s->for_maker, NULL);
    pthread_cond_init(&s->for_sifter, NULL);
    pthread_cond_init(&s->for_checkers, NULL);
    pthread_condattr_destroy(&monotonic);
    tests_init(&s->ready);
    tests_init(&s->flight);
    tests_init(&s->retired);
    chunks_init(&s->fresh);
    chunks_init(&s->queue);
    struct source_plan source = s->plan->source;
    source.stop = stream_is_stopped;
    source.user = s;
    s->source = source_new(&source);
    return (s->source && start_threads(s)) || out_of_memory(s);
}

/* What is left of an end before the end: violations known by then are told. */
static void close_stream(struct stream *s)
{
    struct test *t;
    end_threads(s);
    free(s->filling);
    while ((t = tests_pop(&s->flight))) {
        if (s->end != STREAM_STOPPED)
            settle_one(s, t);
        free_test(s, t);
    }
    while ((t = tests_pop(&s->ready)) || (t = tests_pop(&s->retired)))
        free_test(s, t);
    source_free(s->source);
    pthread_cond_destroy(&s->for_runner);
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

enum stream_end stream_run(const struct stream_plan *plan, struct stream_report *report)
{
    struct stream s = { .plan = plan, .report = report, .started = now_seconds(),
                        .clock_seconds = cost_of_clock(),
                        .can = plan->target->can(plan->machine),
                        .claims = plan->target->claims(plan->machine) };
    *report = (struct stream_report){ .totals.next = plan->source.first };
    if (open_stream(&s)) {
        struct test *t;
        while (!s.stop && s.end == STREAM_DONE && (t = take_test(&s))) {
            run_test(&s, t);
            settle_down_to(&s, FLIGHT_TESTS, MOST_OPERATIONS);
        }
        settle_down_to(&s, 0, 0);
        report->totals.seconds = now_seconds() - s.started;
    }
    close_stream(&s);
    report->totals.running = s.run_seconds;
    if (s.end == STREAM_DONE && s.check_end != STREAM_DONE) {
        s.end = s.check_end;
        report->error = s.check_error;
    }
    return s.end;
}
