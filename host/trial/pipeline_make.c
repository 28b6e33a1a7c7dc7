/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that makes tests ahead: made or read, compiled, held against what the target can. */
#include <stdlib.h>

#include "pipeline_parts.h"

void free_test(struct pipeline *p, struct test *t)
{
    if (!t)
        return;
    program_free(&t->program);
    test_source_take_back(p->source, &t->source);
    for (struct chunk *c; (c = t->to_tell);) {
        t->to_tell = c->next;
        free(c);
    }
    finding_free(&t->finding);
    free(t->hits);
    free(t);
}

static void take_back(struct pipeline *p)
{
    struct test *t;
    do {
        pthread_mutex_lock(&p->lock);
        t = tests_pop(&p->retired);
        pthread_mutex_unlock(&p->lock);
        free_test(p, t);
    } while (t);
}

/* Reads or makes, compiles and looks whether the target can do it; NULL: the end, or an error. */
static struct test *make_test(struct pipeline *p, enum pipeline_end *end, struct ordeal_error *e)
{
    struct test *t = calloc(1, sizeof *t);
    *end = PIPELINE_BAD;
    *e = (struct ordeal_error){ .status = ORDEAL_NO_MEMORY, .reason = "out of memory" };
    if (t && p->plan->cover)
        t->hits = calloc(1, sizeof *t->hits);
    if (!t || (p->plan->cover && !t->hits)) {
        free_test(p, t);
        return NULL;
    }
    enum ordeal_status status = test_source_next(p->source, &t->source);
    if (status == ORDEAL_OK && program_compile(&t->program, t->source.trace, t->source.name, e)) {
        *e = (struct ordeal_error){ .status = ORDEAL_BAD_INPUT };
        snprintf(e->file, sizeof e->file, "%.255s", t->source.name);
        if (target_refusal(&p->can, &t->program, e->reason, sizeof e->reason) == 0) {
            t->serial = ++p->serials;
            t->next_to_tell = p->plan->first_iteration;
            t->weight = ordeal_trace_length(t->source.trace);
            t->told = (struct pipeline_test){ .number = t->source.number,
                                              .name = t->source.name,
                                              .profile = t->source.profile,
                                              .test = t->source.trace,
                                              .program = &t->program };
            return t;
        }
        struct why why;
        why_say(&why, "the target '%s' cannot run it: %s", p->plan->target->name, e->reason);
        target_advise(p->plan->target, &p->can, &t->program, p->plan->source.bias,
                      t->source.profile, &why);
        snprintf(e->reason, sizeof e->reason, "%.511s", why.text);
    } else if (status == ORDEAL_END) {
        *end = PIPELINE_DONE;
    } else if (status != ORDEAL_OK) {
        *e = *test_source_error(p->source);
    }
    free_test(p, t);
    return NULL;
}

void *maker_main(void *user)
{
    struct pipeline *p = user;
    enum pipeline_end end = PIPELINE_DONE;
    struct ordeal_error e = { 0 };
    struct test *t;
    pthread_setname_np(pthread_self(), "maker");
    while (!p->stop && (t = make_test(p, &end, &e))) {
        pthread_mutex_lock(&p->lock);
        tests_push(&p->ready, t);
        if (p->ready.count == p->limits.made_tests || is_full(p))
            pthread_cond_broadcast(&p->for_runners);
        if (is_full(p))
            while (!p->stop && !is_half_empty(p))
                pthread_cond_wait(&p->for_maker, &p->lock);
        pthread_mutex_unlock(&p->lock);
        take_back(p);
    }
    pthread_mutex_lock(&p->lock);
    p->made = true;
    p->made_end = end;
    p->made_error = e;
    pthread_cond_broadcast(&p->for_runners);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}
