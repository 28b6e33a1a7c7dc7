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

/* The gravest is told of a test, and of those the first execution. */
static bool is_worse(const struct pipeline_test *t, enum ordeal_result result, uint64_t iteration)
{
    static const int gravity[] = { [ORDEAL_PASS] = 0, [ORDEAL_UNDECIDED] = 1, [ORDEAL_FAIL] = 2 };
    return gravity[result] > gravity[t->result]
           || (result != ORDEAL_PASS && result == t->result && iteration < t->iteration);
}

static void note_result(struct pipeline *p, const struct chunk *c, enum ordeal_result result,
                        const uint64_t *outcome)
{
    struct test *t = c->test;
    size_t bytes = c->stride * sizeof *outcome;
    pthread_mutex_lock(&p->lock);
    if (is_worse(&t->told, result, outcome[0])) {
        if (!t->values)
            t->values = malloc(bytes);
        if (t->values)
            memcpy(t->values, outcome + 1, bytes - sizeof *outcome);
        t->told.values = t->values;
        t->told.broke = NULL;
        t->told.result = result;
        t->told.iteration = outcome[0];
        t->failed |= result == ORDEAL_FAIL;
    }
    pthread_mutex_unlock(&p->lock);
}

/* Is there an earlier execution that fails already? Then this one tells nothing new. */
static bool is_settled(struct pipeline *p, const struct test *t, uint64_t iteration)
{
    if (!t->failed)
        return false;
    pthread_mutex_lock(&p->lock);
    bool settled = t->told.iteration < iteration;
    pthread_mutex_unlock(&p->lock);
    return settled;
}

static void note_error(struct pipeline *p, const struct test *t, const struct ordeal_error *e)
{
    pthread_mutex_lock(&p->lock);
    if (p->check_end == PIPELINE_DONE && !p->stop) {
        struct ordeal_error *kept = &p->check_error;
        p->check_end = e->status == ORDEAL_BAD_INPUT ? PIPELINE_TARGET
                     : e->status == ORDEAL_INTERNAL  ? PIPELINE_INTERNAL
                                                     : PIPELINE_BAD;
        *kept = (struct ordeal_error){ .status = e->status };
        snprintf(kept->file, sizeof kept->file, "%.255s", t->source.name);
        snprintf(kept->reason, sizeof kept->reason, "%s%.400s",
                 p->check_end == PIPELINE_TARGET ? "the target brought back " : "", e->reason);
    }
    pthread_mutex_unlock(&p->lock);
    pipeline_stop(p);
}

static void check_chunk(struct pipeline *p, struct judge *judge, const struct chunk *c)
{
    for (size_t i = 0; i < c->count && !p->stop; i++) {
        const uint64_t *outcome = c->words + i * c->stride;
        enum ordeal_result result;
        if (is_settled(p, c->test, outcome[0]))
            continue;
        if (judge_outcome(judge, outcome[0], outcome + 1, &result) != ORDEAL_OK)
            note_error(p, c->test, judge_error(judge));
        else if (result != ORDEAL_PASS && !p->stop)
            note_result(p, c, result, outcome);
    }
}

static void note_out_of_memory(struct pipeline *p, const struct test *t)
{
    note_error(p, t,
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
        note_out_of_memory(p, c->test);
        return;
    }
    if (k->judge && k->begun != c->test->serial)
        judge_begin(k->judge, &c->test->program);
    k->begun = c->test->serial;
    if (k->judge)
        check_chunk(p, k->judge, c);
    if (k->look && !look_at_chunk(k->look, p, c))
        note_out_of_memory(p, c->test);
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
