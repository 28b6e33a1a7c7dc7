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

/* Is there too much that is not told or not checked? The test that is told of now does not wait for
 * those behind it, which wait for it. */
static bool must_wait(const struct pipeline *p, const struct test *t, size_t most)
{
    if (p->stop)
        return false;
    bool untold = t == p->telling ? t->untold_bytes > most / 2 : p->untold > most;
    return untold || p->unchecked > most;
}

/* With the lock. What is full is emptied well: the cores then have one thing to do at a time. */
static void wait_for_room(struct runner *r, const struct test *t)
{
    struct pipeline *p = r->pipeline;
    if (!must_wait(p, t, QUEUE_BYTES))
        return;
    double begin = now_seconds();
    while (must_wait(p, t, QUEUE_BYTES / 2)) {
        pipeline_call(p);
        pthread_cond_wait(&p->for_room, &p->lock);
    }
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
    if (p->plan->outcome) {
        chunks_push(&t->untold, c);
        t->untold_bytes += c->bytes;
        p->untold += c->bytes;
        pipeline_call_if_worth(p);
    } else {
        chunks_push(&p->to_sift, c);
        p->unchecked += c->bytes;
        pthread_cond_signal(&p->for_sifter);
    }
    wait_for_room(r, t);
    pthread_mutex_unlock(&p->lock);
}

static bool could_not_run(struct runner *r, enum pipeline_end end, enum ordeal_status status,
                          const char *reason)
{
    struct test *t = r->running;
    t->end = end;
    error_set(&t->error, status, end == PIPELINE_TARGET ? t->source.name : "", reason);
    return false;
}

static bool start_chunk(struct runner *r)
{
    size_t stride = program_words(&r->running->program, &r->pipeline->claims) + 1;
    size_t room = CHUNK_BYTES / sizeof(uint64_t) / stride;
    room = room < r->pipeline->plan->iterations ? room : r->pipeline->plan->iterations;
    room = room ? room : 1;
    size_t bytes = sizeof *r->filling + room * stride * sizeof(uint64_t);
    if (!(r->filling = malloc(bytes)))
        return could_not_run(r, PIPELINE_BAD, ORDEAL_NO_MEMORY, "out of memory");
    *r->filling = (struct chunk){ .test = r->running, .machine = r->number, .bytes = bytes,
                                  .stride = stride, .room = room };
    return true;
}

static bool keep(struct runner *r, uint64_t iteration, const uint64_t *values)
{
    if (!r->filling && !start_chunk(r))
        return false;
    struct chunk *c = r->filling;
    uint64_t *to = c->words + c->count++ * c->stride;
    to[0] = iteration;
    for (size_t i = 1; i < c->stride; i++)
        to[i] = values[i - 1];
    if (c->count == c->room)
        hand_over(r);
    return true;
}

static bool take_outcome(struct runner *r, uint64_t iteration, const uint64_t *values)
{
    const struct pipeline_plan *plan = r->pipeline->plan;
    r->iterations++;
    return !(pipeline_looks(r->pipeline) || plan->outcome) || keep(r, iteration, values);
}

/* Every PERIOD calls it looks around, and the next call is timed for all that are like it. */
static bool sink(void *user, uint64_t iteration, const uint64_t *values)
{
    struct runner *r = user;
    struct pipeline *p = r->pipeline;
    uint64_t phase = r->calls++ % PERIOD;
    if (phase > 1)
        return take_outcome(r, iteration, values) && !p->stop;
    double begin = now_seconds() - r->waited;
    bool good = take_outcome(r, iteration, values);
    if (phase == 1) {
        double spent = now_seconds() - r->waited - begin - p->clock_seconds;
        r->sink_seconds += spent > 0 ? spent * (PERIOD - 1) : 0;
        return good && !p->stop;
    }
    if (begin - r->handed_over > hand_over_every) {
        hand_over(r);
        r->handed_over = now_seconds() - r->waited;
    }
    p->operations += (r->iterations - r->counted) * r->running->program.operations;
    r->counted = r->iterations;
    r->sink_seconds += now_seconds() - r->waited - begin;
    return good && !p->stop && !r->running->failed;
}

/* ---- tests --------------------------------------------------------------------- */

static bool is_crowded(const struct pipeline *p)
{
    return p->in_flight.count > FLIGHT_TESTS || p->in_flight.weight > MOST_OPERATIONS;
}

static bool is_patient(const struct pipeline *p) { return p->plan->patient && !p->begun; }

static bool nothing_to_take(const struct pipeline *p)
{
    if (p->crowded)
        return true;
    return !p->made && (is_patient(p) ? !is_full(&p->ready, AHEAD_TESTS) : !p->ready.first);
}

/* With the lock. It is woken for several tests at once; those of a slow maker it finds itself. */
static void wait_for_test(struct runner *r)
{
    struct pipeline *p = r->pipeline;
    while (!p->stop && !p->no_more && (r->lent || nothing_to_take(p))) {
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
        if (p->plan->outcome && !p->telling)
            p->telling = t;
    }
    r->running = t;
    if (is_half_empty(&p->ready, AHEAD_TESTS))
        pthread_cond_signal(&p->for_maker);
    pthread_mutex_unlock(&p->lock);
    return t;
}

/* A finding, like an execution that violates the model; of the two the earlier is told. */
static void note_broke(struct runner *r, struct test *t, const char *text)
{
    struct pipeline *p = r->pipeline;
    uint64_t iteration = p->plan->first_iteration + r->iterations;
    char *kept = strdup(text);
    pthread_mutex_lock(&p->lock);
    if (t->told.result != ORDEAL_FAIL || iteration < t->told.iteration) {
        t->told.result = ORDEAL_FAIL;
        t->told.iteration = iteration;
        t->told.values = NULL;
        t->told.broke = kept ? kept : "out of memory";
        t->failed = true;
    }
    t->broke = kept;
    pthread_mutex_unlock(&p->lock);
}

static void turn_knobs(const struct target *target, void *machine, const struct test_knobs *k)
{
    if (target->hold)
        target->hold(machine, k->size);
    if (target->delay)
        target->delay(machine, (int)k->delay - 1);
}

static enum target_result run_machine(struct runner *r, struct test *t, struct why *why)
{
    const struct pipeline_plan *plan = r->pipeline->plan;
    const struct target *target = plan->target;
    struct target_sink to = { .outcome = sink, .user = r };
    turn_knobs(target, r->machine, &t->source.knobs);
    uint64_t cycles = target->cycles ? target->cycles(r->machine) : 0;
    double inside = target->seconds ? target->seconds(r->machine) : 0;
    double begin = now_seconds(), elsewhere = r->sink_seconds + r->waited;
    enum target_result result = target->run(r->machine, &t->program, plan->first_iteration,
                                            plan->iterations, &to, why);
    double spent = now_seconds() - begin - (r->sink_seconds + r->waited - elsewhere);
    if (target->seconds)
        spent = target->seconds(r->machine) - inside;
    r->run_seconds += spent > 0 ? spent : 0;
    t->told.cycles = target->cycles ? target->cycles(r->machine) - cycles : 0;
    return result;
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

/* Nothing more comes of it. */
static void end_test(struct runner *r, struct test *t, enum target_result result)
{
    struct pipeline *p = r->pipeline;
    pthread_mutex_lock(&p->lock);
    t->told.iterations = r->iterations;
    t->ran = true;
    t->whole = result == TARGET_DONE || t->failed;
    if (t->end != PIPELINE_DONE || (result == TARGET_STOPPED && !t->failed)) {
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
    r->iterations = r->counted = 0;
    enum target_result result = run_machine(r, t, &why);
    if (t->end == PIPELINE_DONE && result == TARGET_FAILED && can_leave(r))
        result = TARGET_LOST;
    if (t->end == PIPELINE_DONE && (result == TARGET_HUNG || result == TARGET_FAILED))
        could_not_run(r, PIPELINE_TARGET, ORDEAL_IO, why.text);
    if (result == TARGET_LOST && !(t->lost = strdup(why.text)))
        could_not_run(r, PIPELINE_BAD, ORDEAL_NO_MEMORY, "out of memory");
    r->pipeline->operations += (r->iterations - r->counted) * t->program.operations;
    hand_over(r);
    look_at_events(r, t);
    if (result == TARGET_BROKE)
        note_broke(r, t, why.text);
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
