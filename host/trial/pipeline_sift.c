/* SPDX-License-Identifier: Apache-2.0 */
/* The thread between running and checking: of outcomes that came before only the first goes on. */
#include <stdlib.h>

#include "test/outcomes.h"
#include "pipeline_parts.h"

enum { SEEN_BYTES = 32 << 20 };  /* outcomes remembered of a test */

/* Numbers those that are new; how many of the test there are now. Without a memory all are. */
static uint64_t sift(struct outcomes *seen, struct chunk *c, uint64_t known)
{
    for (size_t i = 0; i < c->count; i++) {
        struct outcome *o = outcome_at(c, i);
        if (!seen || outcomes_add(seen, o->iteration, o->values))
            o->nth = ++known;
    }
    return known;
}

void pipeline_return_chunk(struct pipeline *p, struct chunk *c)
{
    struct test *t = c->test;
    pthread_mutex_lock(&p->lock);
    assert(p->unchecked >= c->bytes && t->chunks > 0);
    p->unchecked -= c->bytes;
    if (p->unchecked <= p->limits.queue_bytes / 2)
        pthread_cond_broadcast(&p->for_room);
    t->skipped |= p->stop; /* what nobody looked at is no pass */
    if (p->plan->outcome) {
        pipeline_tell_chunk(p, c);
    } else {
        t->chunks--;
        pipeline_count(p, t);
        free(c);
    }
    pthread_mutex_unlock(&p->lock);
}

static void pass_on(struct pipeline *p, struct chunk *c, bool some_are_new)
{
    if (!some_are_new) {
        pipeline_return_chunk(p, c);
        return;
    }
    pthread_mutex_lock(&p->lock);
    chunks_push(&p->to_check, c);
    pthread_cond_signal(&p->for_checkers);
    pthread_mutex_unlock(&p->lock);
}

/* Of each machine the outcomes of one test at a time. */
struct sieve {
    struct outcomes *seen;       /* NULL: then all are new */
    uint64_t begun;              /* serial of the test: an address may come again */
};

/* True: some are new. The test's count is this thread's until all of it is sifted. */
static bool look_at(struct pipeline *p, struct sieve *sieve, struct chunk *c)
{
    uint64_t before = c->test->outcomes;
    if (!sieve->seen)
        sieve->seen = outcomes_new(SEEN_BYTES, &p->claims);
    if (sieve->seen && sieve->begun != c->test->serial)
        outcomes_begin(sieve->seen, &c->test->program);
    sieve->begun = c->test->serial;
    if (!p->stop)
        c->test->outcomes = sift(sieve->seen, c, before);
    return c->test->outcomes > before;
}

void *sifter_main(void *user)
{
    struct pipeline *p = user;
    struct sieve sieves[MOST_MACHINES] = { { NULL, 0 } };
    pthread_setname_np(pthread_self(), "sifter");
    for (;;) {
        pthread_mutex_lock(&p->lock);
        struct chunk *c = chunks_pop(&p->to_sift, &p->for_sifter, &p->lock);
        pthread_mutex_unlock(&p->lock);
        if (!c)
            break;
        pass_on(p, c, look_at(p, &sieves[c->machine], c));
    }
    for (int i = 0; i < MOST_MACHINES; i++)
        outcomes_free(sieves[i].seen);
    return NULL;
}
