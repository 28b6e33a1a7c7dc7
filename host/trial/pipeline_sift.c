/* SPDX-License-Identifier: Apache-2.0 */
/* The thread between running and checking: of outcomes that came before only the first goes on. */
#include <stdlib.h>
#include <string.h>

#include "test/outcomes.h"
#include "pipeline_parts.h"

enum { SEEN_BYTES = 32 << 20 };  /* outcomes remembered of a test */

/* Moves those that are new to the front; how many there are. */
static size_t sift(struct outcomes *seen, struct chunk *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        const uint64_t *outcome = c->words + i * c->stride;
        if (!outcomes_add(seen, outcome[0], outcome + 1))
            continue;
        if (kept != i)
            memcpy(c->words + kept * c->stride, outcome, c->stride * sizeof *outcome);
        kept++;
    }
    return kept;
}

void pipeline_return_chunk(struct pipeline *p, struct chunk *c)
{
    struct test *t = c->test;
    pthread_mutex_lock(&p->lock);
    assert(p->unchecked >= c->bytes && t->chunks > 0);
    p->unchecked -= c->bytes;
    if (p->unchecked <= QUEUE_BYTES / 2)
        pthread_cond_broadcast(&p->for_room);
    t->skipped |= p->stop; /* what nobody looked at is no pass */
    t->chunks--;
    pipeline_count(p, t);
    pthread_mutex_unlock(&p->lock);
    free(c);
}

static void pass_on(struct pipeline *p, struct chunk *c)
{
    if (c->count == 0) {
        pipeline_return_chunk(p, c);
        return;
    }
    pthread_mutex_lock(&p->lock);
    c->before = c->test->told.outcomes;
    c->test->told.outcomes += c->count;
    chunks_push(&p->to_check, c);
    pthread_cond_signal(&p->for_checkers);
    pthread_mutex_unlock(&p->lock);
}

/* Of each machine the outcomes of one test at a time. */
struct sieve {
    struct outcomes *seen;       /* NULL: then all are new */
    uint64_t begun;              /* serial of the test: an address may come again */
};

static void look_at(struct pipeline *p, struct sieve *sieve, struct chunk *c)
{
    if (!sieve->seen)
        sieve->seen = outcomes_new(SEEN_BYTES, &p->claims);
    if (sieve->seen && sieve->begun != c->test->serial)
        outcomes_begin(sieve->seen, &c->test->program);
    sieve->begun = c->test->serial;
    if (sieve->seen && !p->stop)
        c->count = sift(sieve->seen, c);
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
        look_at(p, &sieves[c->machine], c);
        pass_on(p, c);
    }
    for (int i = 0; i < MOST_MACHINES; i++)
        outcomes_free(sieves[i].seen);
    return NULL;
}
