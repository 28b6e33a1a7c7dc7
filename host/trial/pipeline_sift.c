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

void pipeline_return_chunk(struct pipeline *s, struct chunk *c)
{
    pthread_mutex_lock(&s->lock);
    s->unchecked -= c->bytes;
    bool last = --c->test->chunks == 0;
    if (last || s->unchecked <= QUEUE_BYTES / 2)
        pthread_cond_broadcast(&s->for_runners);
    c->test->skipped |= s->stop; /* what nobody looked at is no pass */
    pthread_mutex_unlock(&s->lock);
    free(c);
}

static void pass_on(struct pipeline *s, struct chunk *c)
{
    if (c->count == 0) {
        pipeline_return_chunk(s, c);
        return;
    }
    pthread_mutex_lock(&s->lock);
    c->test->told.outcomes += c->count;
    chunks_push(&s->queue, c);
    pthread_cond_signal(&s->for_checkers);
    pthread_mutex_unlock(&s->lock);
}

/* Of each machine the outcomes of one test at a time. */
struct sieve {
    struct outcomes *seen;       /* NULL: then all are new */
    uint64_t begun;              /* serial of the test: an address may come again */
};

static void look_at(struct pipeline *s, struct sieve *sieve, struct chunk *c)
{
    if (!sieve->seen)
        sieve->seen = outcomes_new(SEEN_BYTES, &s->claims);
    if (sieve->seen && sieve->begun != c->test->serial)
        outcomes_begin(sieve->seen, &c->test->program);
    sieve->begun = c->test->serial;
    if (sieve->seen && !s->stop)
        c->count = sift(sieve->seen, c);
}

void *sifter_main(void *user)
{
    struct pipeline *s = user;
    struct sieve sieves[MOST_MACHINES] = { { NULL, 0 } };
    pthread_setname_np(pthread_self(), "sifter");
    for (;;) {
        pthread_mutex_lock(&s->lock);
        struct chunk *c = chunks_pop(&s->fresh, &s->for_sifter, &s->lock);
        pthread_mutex_unlock(&s->lock);
        if (!c)
            break;
        look_at(s, &sieves[c->machine], c);
        pass_on(s, c);
    }
    for (int i = 0; i < MOST_MACHINES; i++)
        outcomes_free(sieves[i].seen);
    return NULL;
}
