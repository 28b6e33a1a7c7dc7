/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that check: chunks of outcomes from the queue, verdicts into their tests. */
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "pipeline_parts.h"

static bool stop_check(void *user, const char *phase, double share)
{
    (void)phase, (void)share;
    return pipeline_is_stopped(user);
}

static struct chunk *next_chunk(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    struct chunk *c = chunks_pop(&p->to_check, &p->for_checkers, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return c;
}

static void note_result(struct pipeline *p, const struct chunk *c, enum ordeal_result result,
                        const struct outcome *o)
{
    size_t bytes = c->stride * sizeof *o->values - sizeof *o;
    struct finding f = { .kind = result == ORDEAL_FAIL ? FOUND_VIOLATION : FOUND_UNDECIDED,
                         .iteration = o->iteration,
                         .iterations = o->iteration - p->plan->first_iteration + 1,
                         .outcomes = o->nth,
                         .cycles = o->cycles,
                         .values = malloc(bytes) };
    if (f.values)
        memcpy(f.values, o->values, bytes);
    note_finding(p, c->test, &f);
}

/* Is there an earlier one that decides already? Then this one tells nothing new. */
static bool is_moot(struct pipeline *p, const struct test *t, uint64_t iteration)
{
    if (!t->decided)
        return false;
    pthread_mutex_lock(&p->lock);
    bool moot = t->finding.iteration < iteration;
    pthread_mutex_unlock(&p->lock);
    return moot;
}

/* This iteration does not count, nor does anything after it. */
static void note_error(struct pipeline *p, const struct chunk *c, const struct outcome *o,
                       const struct ordeal_error *e)
{
    struct finding f = { .kind = FOUND_END,
                         .iteration = o->iteration,
                         .iterations = o->iteration - p->plan->first_iteration,
                         .outcomes = o->nth - 1,
                         .cycles = o->cycles,
                         .error.status = e->status };
    if (p->stop)
        return;
    f.end = e->status == ORDEAL_BAD_INPUT ? PIPELINE_TARGET
          : e->status == ORDEAL_INTERNAL  ? PIPELINE_INTERNAL
                                          : PIPELINE_BAD;
    snprintf(f.error.file, sizeof f.error.file, "%.255s", c->test->source.name);
    snprintf(f.error.reason, sizeof f.error.reason, "%s%.400s",
             f.end == PIPELINE_TARGET ? "the target brought back " : "", e->reason);
    note_finding(p, c->test, &f);
}

static void check_outcome(struct pipeline *p, struct judge *judge, const struct chunk *c,
                          const struct outcome *o)
{
    enum ordeal_result result;
    if (!o->nth || is_moot(p, c->test, o->iteration))
        return;
    if (judge_outcome(judge, o->iteration, o->values, &result) != ORDEAL_OK)
        note_error(p, c, o, judge_error(judge));
    else if (result != ORDEAL_PASS && !p->stop)
        note_result(p, c, result, o);
}

static void check_chunk(struct pipeline *p, struct judge *judge, const struct chunk *c)
{
    for (size_t i = 0; i < c->count && !p->stop; i++)
        check_outcome(p, judge, c, outcome_at(c, i));
}

static void note_out_of_memory(struct pipeline *p, const struct chunk *c)
{
    size_t i = 0;
    while (!outcome_at(c, i)->nth) /* there is one, or it would not be here */
        i++;
    note_error(p, c, outcome_at(c, i),
               &(struct ordeal_error){ .status = ORDEAL_NO_MEMORY, .reason = "out of memory" });
}

/* What a checker has; parts that the plan asks for are there, or memory is out. */
struct checker {
    struct judge *judge;
    struct look *look;
    uint64_t begun; /* serial of the test: an address may come again */
};

static void work_on(struct pipeline *p, struct checker *k, const struct chunk *c)
{
    if ((p->plan->check && !k->judge) || (p->plan->cover && !k->look)) {
        note_out_of_memory(p, c);
        return;
    }
    if (k->judge && k->begun != c->test->serial)
        judge_begin(k->judge, &c->test->program);
    k->begun = c->test->serial;
    if (k->judge)
        check_chunk(p, k->judge, c);
    if (k->look && !look_at_chunk(k->look, p, c))
        note_out_of_memory(p, c);
}

void *checker_main(void *user)
{
    struct pipeline *p = user;
    struct ordeal_limits limits = { .seconds = p->plan->limit, .progress = stop_check, .user = p };
    struct checker k = { .judge = p->plan->check ? judge_new(p->plan->model, &p->claims, &limits)
                                                 : NULL,
                         .look = p->plan->cover ? look_new() : NULL };
    struct chunk *c;
    pthread_setname_np(pthread_self(), "checker");
    while ((c = next_chunk(p))) {
        work_on(p, &k, c);
        pipeline_return_chunk(p, c);
    }
    judge_free(k.judge);
    look_free(k.look);
    return NULL;
}
