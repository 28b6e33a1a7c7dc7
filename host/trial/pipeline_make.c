/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that makes tests ahead: made or read, compiled, held against what the target can. */
#include <stdlib.h>

#include "pipeline_parts.h"

void free_test(struct pipeline *s, struct test *t)
{
    if (!t)
        return;
    program_free(&t->program);
    test_source_take_back(s->source, &t->source);
    for (struct chunk *c; (c = chunks_take(&t->untold)); )
        free(c);
    free(t->values);
    free(t->broke);
    free(t->lost);
    free(t);
}

static void take_back(struct pipeline *s)
{
    struct test *t;
    do {
        pthread_mutex_lock(&s->lock);
        t = tests_pop(&s->retired);
        pthread_mutex_unlock(&s->lock);
        free_test(s, t);
    } while (t);
}

/* Reads or makes, compiles and looks whether the target can do it; NULL: the end, or an error. */
static struct test *make_test(struct pipeline *s, enum pipeline_end *end, struct ordeal_error *e)
{
    struct test *t = calloc(1, sizeof *t);
    *end = PIPELINE_BAD;
    *e = (struct ordeal_error){ .status = ORDEAL_NO_MEMORY, .reason = "out of memory" };
    if (!t)
        return NULL;
    enum ordeal_status status = test_source_next(s->source, &t->source);
    if (status == ORDEAL_OK && program_compile(&t->program, t->source.trace, t->source.name, e)) {
        *e = (struct ordeal_error){ .status = ORDEAL_BAD_INPUT };
        snprintf(e->file, sizeof e->file, "%.255s", t->source.name);
        if (target_refusal(&s->can, &t->program, e->reason, sizeof e->reason) == 0) {
            t->serial = ++s->serials;
            chunks_init(&t->untold);
            t->weight = ordeal_trace_length(t->source.trace);
            t->told = (struct pipeline_test){ .number = t->source.number, .name = t->source.name,
                                            .test = t->source.trace, .program = &t->program };
            return t;
        }
        char reason[sizeof e->reason];
        snprintf(reason, sizeof reason, "%s", e->reason);
        snprintf(e->reason, sizeof e->reason, "the target '%s' cannot run it: %.400s",
                 s->plan->target->name, reason);
    } else if (status == ORDEAL_END) {
        *end = PIPELINE_DONE;
    } else if (status != ORDEAL_OK) {
        *e = *test_source_error(s->source);
    }
    free_test(s, t);
    return NULL;
}

void *maker_main(void *user)
{
    struct pipeline *s = user;
    enum pipeline_end end = PIPELINE_DONE;
    struct ordeal_error e = { 0 };
    struct test *t;
    pthread_setname_np(pthread_self(), "maker");
    while (!s->stop && (t = make_test(s, &end, &e))) {
        pthread_mutex_lock(&s->lock);
        tests_push(&s->ready, t);
        if (s->ready.count == 1 || is_full(&s->ready, AHEAD_TESTS))
            pthread_cond_broadcast(&s->for_runners);
        if (is_full(&s->ready, AHEAD_TESTS))
            while (!s->stop && !is_half_empty(&s->ready, AHEAD_TESTS))
                pthread_cond_wait(&s->for_maker, &s->lock);
        pthread_mutex_unlock(&s->lock);
        take_back(s);
    }
    pthread_mutex_lock(&s->lock);
    s->made = true;
    s->made_end = end;
    s->made_error = e;
    pthread_cond_broadcast(&s->for_runners);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}
