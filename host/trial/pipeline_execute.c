/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that run, one a machine: tests from the maker to the machine, outcomes from it to the
 * sifter, or first to whoever is told of them. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "pipeline_parts.h"

enum { PERIOD = 64 };                        /* outcomes between looks at the clock */
static const double hand_over_every = 0.01;  /* seconds: a slow target's are checked soon, too */

/* ---- outcomes ------------------------------------------------------------------ */

/* Is there too much that is not told or not checked? The test that is told of now, the first, does
 * not wait for those behind it, which wait for it. */
static bool must_wait(const struct pipeline *p, const struct test *t, size_t most)
{
    if (p->stop)
        return false;
    bool untold = t == p->in_flight.first ? t->untold_bytes > most / 2 : p->untold > most;
    return untold || p->unchecked > most;
}

/* With the lock. What is full is emptied well: the cores then have one thing to do at a time. Whoever
 * is to get the machine makes no room before that. */
static void wait_for_room(struct runner *r, const struct test *t)
{
    struct pipeline *p = r->pipeline;
    if (!must_wait(p, t, p->limits.queue_bytes))
        return;
    double begin = now_seconds();
    while (!r->lent && must_wait(p, t, p->limits.queue_bytes / 2)) {
        pipeline_call(p);
        pthread_cond_wait(&p->for_room, &p->lock);
    }
    r->pausing = r->lent && must_wait(p, t, p->limits.queue_bytes / 2);
    r->waited += now_seconds() - begin;
}

static void hand_over(struct runner *r)
{
    struct pipeline *p = r->pipeline;
    struct chunk *c = r->filling;
    r->filling = NULL;
    if (!c)
        return;
    struct test *t = c->test;
    pthread_mutex_lock(&p->lock);
    t->chunks++;
    t->untold_bytes += p->plan->outcome ? c->bytes : 0;
    p->untold += p->plan->outcome ? c->bytes : 0;
    if (pipeline_looks(p)) {
        chunks_push(&p->to_sift, c);
        p->unchecked += c->bytes;
        pthread_cond_signal(&p->for_sifter);
    } else {
        pipeline_tell_chunk(p, c);
    }
    wait_for_room(r, t);
    pthread_mutex_unlock(&p->lock);
}

static uint64_t cycles_so_far(const struct runner *r)
{
    const struct target *target = r->pipeline->plan->target;
    return target->cycles ? r->cycles + target->cycles(r->machine) - r->cycles_before : 0;
}

/* Of the machine: after the iterations that it brought back, and before the next came to its end. */
static struct finding finding_now(const struct runner *r, enum finding_kind kind)
{
    return (struct finding){ .kind = kind,
                             .iteration = r->pipeline->plan->first_iteration + r->iterations,
                             .iterations = r->iterations,
                             .outcomes = UINT64_MAX, /* all that came */
                             .cycles = r->cycles };
}

static void could_not_run(struct runner *r, enum pipeline_end end, enum ordeal_status status,
                          const char *reason)
{
    struct test *t = r->running;
    struct finding f = finding_now(r, FOUND_END);
    f.end = end;
    error_set(&f.error, status, end == PIPELINE_TARGET ? t->source.name : "", reason);
    note_finding(r->pipeline, t, &f);
}

/* Of the test that is running. */
static uint64_t iterations_of(const struct runner *r)
{
    const struct pipeline_plan *plan = r->pipeline->plan;
    return r->running->told.number < plan->early_tests ? plan->early_iterations : plan->iterations;
}

static bool start_chunk(struct runner *r)
{
    size_t stride = program_words(&r->running->program, &r->pipeline->claims)
                  + sizeof(struct outcome) / sizeof(uint64_t);
    size_t room = r->pipeline->limits.chunk_bytes / sizeof(uint64_t) / stride;
    room = room < iterations_of(r) ? room : iterations_of(r);
    room = room ? room : 1;
    size_t bytes = sizeof *r->filling + room * stride * sizeof(uint64_t);
    if (!(r->filling = malloc(bytes))) {
        could_not_run(r, PIPELINE_BAD, ORDEAL_NO_MEMORY, "out of memory");
        return false;
    }
    *r->filling = (struct chunk){ .test = r->running, .machine = r->number, .bytes = bytes,
                                  .stride = stride, .room = room };
    return true;
}

static bool keep(struct runner *r, uint64_t iteration, const uint64_t *values)
{
    if (!r->filling && !start_chunk(r))
        return false;
    struct chunk *c = r->filling;
    struct outcome *to = outcome_at(c, c->count++);
    *to = (struct outcome){ .iteration = iteration, .cycles = cycles_so_far(r) };
    memcpy(to->values, values, c->stride * sizeof *values - sizeof *to);
    if (c->count == c->room)
        hand_over(r);
    return true;
}

static bool take_outcome(struct runner *r, uint64_t iteration, const uint64_t *values)
{
    const struct pipeline_plan *plan = r->pipeline->plan;
    bool good = !(pipeline_looks(r->pipeline) || plan->outcome) || keep(r, iteration, values);
    r->iterations += good;
    return good;
}

/* Every PERIOD calls it looks around, and the next call is timed for all that are like it. */
static bool sink(void *user, uint64_t iteration, const uint64_t *values)
{
    struct runner *r = user;
    struct pipeline *p = r->pipeline;
    uint64_t phase = r->calls++ % PERIOD;
    if (phase > 1)
        return take_outcome(r, iteration, values) && !p->stop && !r->pausing;
    double begin = now_seconds() - r->waited;
    bool good = take_outcome(r, iteration, values);
    if (phase == 1) {
        double spent = now_seconds() - r->waited - begin - p->clock_seconds;
        r->sink_seconds += spent > 0 ? spent * (PERIOD - 1) : 0;
        return good && !p->stop && !r->pausing;
    }
    if (begin - r->handed_over > hand_over_every) {
        hand_over(r);
        r->handed_over = now_seconds() - r->waited;
    }
    p->operations += (r->iterations - r->counted) * r->running->program.operations;
    r->counted = r->iterations;
    r->sink_seconds += now_seconds() - r->waited - begin;
    return good && !p->stop && !r->pausing && !r->running->decided;
}

/* ---- tests --------------------------------------------------------------------- */

static bool is_crowded(const struct pipeline *p)
{
    return p->in_flight.count > p->limits.flight_tests
        || p->in_flight.weight > p->limits.operations;
}

static bool is_patient(const struct pipeline *p) { return p->plan->patient && !p->begun; }

static bool nothing_to_take(const struct pipeline *p)
{
    if (p->crowded)
        return true;
    return !p->made && (is_patient(p) ? !is_full(p) : !p->ready.first);
}

/* With the lock. It is woken for several tests at once; those of a slow maker it finds itself. */
static void wait_for_test(struct runner *r)
{
    struct pipeline *p = r->pipeline;
    while (!p->stop && !p->no_more && (r->lent || p->ends || nothing_to_take(p))) {
        pipeline_call_if_worth(p);
        pipeline_wait(p, &p->for_runners, 0.01);
    }
}

static struct test *take_test(struct runner *r)
{
    struct pipeline *p = r->pipeline;
    struct test *t = NULL;
    pthread_mutex_lock(&p->lock);
    p->crowded |= is_crowded(p);
    wait_for_test(r);
    if (!p->stop && !p->no_more && !(is_patient(p) && p->made && p->made_end != PIPELINE_DONE))
        t = tests_pop(&p->ready);
    if (t) {
        p->begun = true;
        tests_push(&p->in_flight, t);
    }
    r->running = t;
    if (is_half_empty(p))
        pthread_cond_signal(&p->for_maker);
    pthread_mutex_unlock(&p->lock);
    return t;
}

static void turn_knobs(const struct target *target, void *machine, const struct test_knobs *k)
{
    if (target->hold)
        target->hold(machine, k->size);
    if (target->delay)
        target->delay(machine, (int)k->delay - 1);
}

/* The iterations that are left. */
static enum target_result run_machine(struct runner *r, struct test *t, struct why *why)
{
    const struct pipeline_plan *plan = r->pipeline->plan;
    const struct target *target = plan->target;
    struct target_sink to = { .outcome = sink, .user = r };
    turn_knobs(target, r->machine, &t->source.knobs);
    r->cycles_before = target->cycles ? target->cycles(r->machine) : 0;
    double inside = target->seconds ? target->seconds(r->machine) : 0;
    double begin = now_seconds(), elsewhere = r->sink_seconds + r->waited;
    enum target_result result = target->run(r->machine, &t->program,
                                            plan->first_iteration + r->iterations,
                                            iterations_of(r) - r->iterations, &to, why);
    double spent = now_seconds() - begin - (r->sink_seconds + r->waited - elsewhere);
    if (target->seconds)
        spent = target->seconds(r->machine) - inside;
    r->run_seconds += spent > 0 ? spent : 0;
    r->cycles = cycles_so_far(r);
    gather_events(r, t);
    return result;
}

/* The machine is somebody else's until there is room. False: nothing is left to be run. */
static bool pause_test(struct runner *r, const struct test *t)
{
    struct pipeline *p = r->pipeline;
    pthread_mutex_lock(&p->lock);
    r->paused = true;
    pipeline_call(p);
    while (!p->stop && (r->lent || must_wait(p, t, p->limits.queue_bytes / 2)))
        pthread_cond_wait(&p->for_room, &p->lock);
    r->paused = r->pausing = false;
    bool more = !p->stop && !t->decided && r->iterations < iterations_of(r);
    pthread_mutex_unlock(&p->lock);
    return more;
}

/* As if there were no pauses: an iteration does not depend on those before it. */
static enum target_result run_iterations(struct runner *r, struct test *t, struct why *why)
{
    enum target_result result;
    r->iterations = r->counted = r->cycles = 0;
    r->events = (struct event_counts){ { 0 }, { 0 } };
    r->pausing = false;
    do
        result = run_machine(r, t, why);
    while (result == TARGET_STOPPED && r->pausing && pause_test(r, t));
    return result == TARGET_STOPPED && r->iterations == iterations_of(r) ? TARGET_DONE : result;
}

/* A thing that is gone takes its test along, and leaves the others to those that are there. */
static bool can_leave(struct runner *r)
{
    struct pipeline *p = r->pipeline;
    pthread_mutex_lock(&p->lock);
    r->gone = p->plan->target->present && p->machines_left > 1;
    p->machines_left -= r->gone;
    pthread_mutex_unlock(&p->lock);
    return r->gone;
}

/* How it ended, unless well or because somebody said so. */
static void note_end(struct runner *r, struct test *t, enum target_result result, const char *why)
{
    if (result == TARGET_FAILED && can_leave(r))
        result = TARGET_LOST;
    if (result == TARGET_HUNG || result == TARGET_FAILED)
        could_not_run(r, PIPELINE_TARGET, ORDEAL_IO, why);
    if (result != TARGET_BROKE && result != TARGET_LOST)
        return;
    struct finding f = finding_now(r, result == TARGET_BROKE ? FOUND_BROKE : FOUND_LOST);
    if ((f.text = strdup(why)))
        note_finding(r->pipeline, t, &f);
    else
        could_not_run(r, PIPELINE_BAD, ORDEAL_NO_MEMORY, "out of memory");
}

/* Nothing more comes of it. */
static void end_test(struct runner *r, struct test *t, enum target_result result)
{
    struct pipeline *p = r->pipeline;
    pthread_mutex_lock(&p->lock);
    t->iterations = r->iterations;
    t->cycles = r->cycles;
    t->ran = true;
    t->whole = result == TARGET_DONE || t->decided;
    if (result == TARGET_STOPPED && !t->decided) {
        p->no_more = true;
        pthread_cond_broadcast(&p->for_runners);
    }
    r->running = NULL;
    if (r->lent)
        pipeline_call(p);
    pipeline_count(p, t);
    pthread_mutex_unlock(&p->lock);
}

static void run_test(struct runner *r, struct test *t)
{
    struct why why = { "" };
    double before = r->run_seconds;
    enum target_result result = run_iterations(r, t, &why);
    t->seconds = r->run_seconds - before;
    note_end(r, t, result, why.text);
    r->pipeline->operations += (r->iterations - r->counted) * t->program.operations;
    hand_over(r);
    look_at_events(r, t);
    end_test(r, t, result);
}

void *runner_main(void *user)
{
    struct runner *r = user;
    struct pipeline *p = r->pipeline;
    struct test *t;
    pthread_setname_np(pthread_self(), "runner");
    while (!r->gone && (t = take_test(r)))
        run_test(r, t);
    turn_knobs(p->plan->target, r->machine, &(struct test_knobs){ 0 });
    pthread_mutex_lock(&p->lock);
    assert(p->runners_left > 0);
    if (--p->runners_left == 0)
        pipeline_call(p);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}
