/* SPDX-License-Identifier: Apache-2.0 */
/* Those who run: tests from the maker to a machine, outcomes from it to the sifter. With one
 * machine it is the caller's thread, which settles tests in between. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "pipeline_parts.h"

enum { PERIOD = 64 };                        /* outcomes between looks at the clock */
static const double hand_over_every = 0.01;  /* seconds: a slow target's are checked soon, too */

/* ---- outcomes ------------------------------------------------------------------ */

/* On several machines outcomes of later tests may have to wait until they are told: those of the
 * first one must not wait for them. */
static bool must_wait(struct runner *r, const struct test *t, size_t most)
{
    struct pipeline *s = r->s;
    if (s->stop)
        return false;
    if (r->lives && s->plan->outcome && t == s->flight.first)
        return t->untold_bytes > most / 2;
    return s->unchecked > most;
}

static void hand_over(struct runner *r)
{
    struct pipeline *s = r->s;
    struct chunk *c = r->filling;
    r->filling = NULL;
    if (!c)
        return;
    struct test *t = c->test;
    bool untold = r->lives && s->plan->outcome;
    pthread_mutex_lock(&s->lock);
    chunks_push(untold ? &t->untold : &s->fresh, c);
    t->untold_bytes += untold ? c->bytes : 0;
    t->chunks++;
    s->unchecked += c->bytes;
    if (untold)
        pthread_cond_broadcast(&s->for_runners);
    else
        pthread_cond_signal(&s->for_sifter);
    /* Once it is full it is emptied well: the cores then have one thing to do at a time. */
    if (must_wait(r, t, QUEUE_BYTES)) {
        double begin = now_seconds();
        while (must_wait(r, t, QUEUE_BYTES / 2))
            pipeline_wait(r);
        r->waited += now_seconds() - begin;
    }
    pthread_mutex_unlock(&s->lock);
}

static bool could_not_run(struct runner *r, enum pipeline_end end, enum ordeal_status status,
                          const char *reason)
{
    struct test *t = r->running;
    t->end = end;
    t->error = (struct ordeal_error){ .status = status };
    if (end == PIPELINE_TARGET)
        snprintf(t->error.file, sizeof t->error.file, "%.255s", t->source.name);
    snprintf(t->error.reason, sizeof t->error.reason, "%.511s", reason);
    return false;
}

static bool start_chunk(struct runner *r)
{
    size_t stride = program_words(&r->running->program, &r->s->claims) + 1;
    size_t room = CHUNK_BYTES / sizeof(uint64_t) / stride;
    room = room < r->s->plan->iterations ? room : r->s->plan->iterations;
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
    struct pipeline *s = r->s;
    const struct pipeline_plan *plan = s->plan;
    struct pipeline_test *told = &r->running->told;
    told->iterations++;
    if (!r->lives && plan->outcome && !plan->outcome(plan->user, told, iteration, values)) {
        s->end = PIPELINE_STOPPED;
        s->told_all = true;
        s->stop = true;
        return false;
    }
    return !(plan->check || (r->lives && plan->outcome)) || keep(r, iteration, values);
}

/* Every PERIOD calls it looks around, and the next call is timed for all that are like it. */
static bool sink(void *user, uint64_t iteration, const uint64_t *values)
{
    struct runner *r = user;
    struct pipeline *s = r->s;
    uint64_t phase = r->calls++ % PERIOD;
    if (phase > 1)
        return take_outcome(r, iteration, values) && !s->stop;
    double begin = now_seconds() - r->waited;
    bool good = take_outcome(r, iteration, values);
    if (phase == 1) {
        double spent = now_seconds() - r->waited - begin - s->clock_seconds;
        r->sink_seconds += spent > 0 ? spent * (PERIOD - 1) : 0;
        return good && !s->stop;
    }
    if (begin - r->handed_over > hand_over_every) {
        hand_over(r);
        r->handed_over = now_seconds() - r->waited;
    }
    if (!r->lives)
        pipeline_tick(s);
    r->sink_seconds += now_seconds() - r->waited - begin;
    return good && !s->stop && !r->running->failed;
}

/* ---- tests --------------------------------------------------------------------- */

static bool is_crowded(const struct pipeline *s)
{
    return s->flight.count > FLIGHT_TESTS || s->flight.weight > MOST_OPERATIONS;
}

static bool is_patient(const struct pipeline *s) { return s->plan->patient && !s->begun; }

static bool nothing_to_take(const struct pipeline *s)
{
    if (is_crowded(s))
        return true;
    return !s->made && (is_patient(s) ? !is_full(&s->ready, AHEAD_TESTS) : !s->ready.first);
}

static struct test *take_test(struct runner *r)
{
    struct pipeline *s = r->s;
    pthread_mutex_lock(&s->lock);
    while (!s->stop && !s->no_more && nothing_to_take(s))
        pipeline_wait(r);
    struct test *t = NULL;
    if (!s->stop && !s->no_more
        && !(is_patient(s) && s->made && s->made_end != PIPELINE_DONE))
        t = tests_pop(&s->ready);
    if (t) {
        s->begun = true;
        tests_push(&s->flight, t);
    }
    if (is_half_empty(&s->ready, AHEAD_TESTS))
        pthread_cond_signal(&s->for_maker);
    pthread_mutex_unlock(&s->lock);
    return t;
}

/* A finding, like an execution that violates the model; of the two the earlier is told. */
static void note_broke(struct runner *r, struct test *t, const char *text)
{
    struct pipeline *s = r->s;
    uint64_t iteration = s->plan->first_iteration + t->told.iterations;
    char *kept = strdup(text);
    pthread_mutex_lock(&s->lock);
    if (t->told.result != ORDEAL_FAIL || iteration < t->told.iteration) {
        t->told.result = ORDEAL_FAIL;
        t->told.iteration = iteration;
        t->told.values = NULL;
        t->told.broke = kept ? kept : "out of memory";
        t->failed = true;
    }
    t->broke = kept;
    pthread_mutex_unlock(&s->lock);
}

static enum target_result run_machine(struct runner *r, struct test *t, struct why *why)
{
    const struct pipeline_plan *plan = r->s->plan;
    const struct target *target = plan->target;
    struct target_sink to = { .outcome = sink, .user = r };
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
    struct pipeline *s = r->s;
    pthread_mutex_lock(&s->lock);
    r->leaves = s->plan->target->present && s->machines_left > 1;
    s->runners_left -= r->leaves;
    s->machines_left -= r->leaves;
    pthread_mutex_unlock(&s->lock);
    return r->leaves;
}

static void run_test(struct runner *r, struct test *t)
{
    struct pipeline *s = r->s;
    struct why why = { "" };
    r->running = t;
    enum target_result result = run_machine(r, t, &why);
    if (t->end == PIPELINE_DONE && result == TARGET_FAILED && can_leave(r))
        result = TARGET_LOST;
    if (t->end == PIPELINE_DONE && (result == TARGET_HUNG || result == TARGET_FAILED))
        could_not_run(r, PIPELINE_TARGET, ORDEAL_IO, why.text);
    if (result == TARGET_LOST && !(t->lost = strdup(why.text)))
        could_not_run(r, PIPELINE_BAD, ORDEAL_NO_MEMORY, "out of memory");
    s->operations += t->told.iterations * t->program.operations;
    r->running = NULL;
    hand_over(r);
    if (result == TARGET_BROKE)
        note_broke(r, t, why.text);
    pthread_mutex_lock(&s->lock);
    t->ran = true;
    t->whole = result == TARGET_DONE || t->failed;
    s->no_more |= t->end != PIPELINE_DONE;
    pthread_cond_broadcast(&s->for_runners);
    pthread_mutex_unlock(&s->lock);
}

void runner_work(struct runner *r)
{
    struct pipeline *s = r->s;
    struct test *t;
    while (!s->stop && !r->leaves && (t = take_test(r))) {
        run_test(r, t);
        if (!r->lives) {
            pipeline_tick(s);
            pipeline_settle(s);
        }
    }
}

void *runner_main(void *user)
{
    struct runner *r = user;
    struct pipeline *s = r->s;
    pthread_setname_np(pthread_self(), "runner");
    runner_work(r);
    pthread_mutex_lock(&s->lock);
    s->runners_left -= !r->leaves;
    pthread_cond_broadcast(&s->for_runners);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}
