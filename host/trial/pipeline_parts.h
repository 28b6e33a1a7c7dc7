/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the pipeline, shared by the files that are its threads: pipeline_make.c makes,
 * pipeline_execute.c runs, pipeline_sift.c drops what was seen before, pipeline_check.c checks, pipeline.c
 * settles. One lock guards what they share. */
#ifndef HOST_PIPELINE_PARTS_H
#define HOST_PIPELINE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "pipeline.h"

enum {
    AHEAD_TESTS = 64,            /* made and not run */
    FLIGHT_TESTS = 256,          /* run and not settled */
    MOST_OPERATIONS = 1 << 17,   /* of either, as written, about 120 bytes each */
    CHUNK_BYTES = 64 << 10,      /* handed to a checker at a time, or one outcome */
    QUEUE_BYTES = 16 << 20,      /* not yet checked */
    MOST_CHECKERS = 64,
    MOST_MACHINES = 64,
};

/* Outcomes of one test: each its iteration, then its values. */
struct chunk {
    struct test *test;
    struct chunk *next;
    int machine;                 /* that brought them */
    size_t bytes, stride, room, count;
    uint64_t words[];
};

struct chunks { struct chunk *first, **end; bool closed; /* nothing more comes */ };

struct test {
    struct test_source_test source;
    struct program program;
    struct pipeline_test told;
    uint64_t *values;            /* told.values */
    char *broke;                 /* told.broke, unless an earlier execution failed */
    char *lost;                  /* told.lost, unless one that came before failed */
    enum pipeline_end end;         /* not DONE: it could not be run, nothing after it counts; why: */
    struct ordeal_error error;
    uint64_t serial;             /* 1, 2, … as they are made */
    size_t weight;
    uint32_t chunks;             /* handed out and not checked yet */
    struct chunks untold;        /* of these, what plan->outcome is still to be told of */
    size_t untold_bytes;
    bool ran, whole;             /* nothing more comes of it; all that was to come did */
    bool skipped;                /* not all that came was checked */
    atomic_bool failed;
    struct test *next;
};

struct tests { struct test *first, **end; size_t count, weight; };

/* Who runs tests: the caller's thread, or one of several that do nothing else. */
struct runner {
    struct pipeline *s;
    int number;
    void *machine;
    pthread_t thread;
    bool lives;                  /* it has a thread of its own */
    bool leaves;                 /* its machine is out of reach: it takes no more */
    struct chunk *filling;
    struct test *running;        /* NULL: between tests */
    uint64_t calls;              /* of the sink */
    double handed_over, sink_seconds, waited, run_seconds;
};

struct pipeline {
    const struct pipeline_plan *plan;
    struct pipeline_report *report;
    struct abilities can;
    struct machine_claims claims;
    pthread_mutex_t lock;
    pthread_cond_t for_runners, for_maker, for_sifter, for_checkers;
    pthread_t maker, sifter, checkers[MOST_CHECKERS];
    int checker_count;
    bool maker_lives, sifter_lives;
    atomic_bool stop;            /* all of it, and at once */

    struct test_source *source;       /* the maker's, and how many it made */
    uint64_t serials;
    struct tests ready, flight, retired;
    bool made;                   /* the maker is done */
    enum pipeline_end made_end;
    struct ordeal_error made_error;

    struct chunks fresh, queue;  /* as they were run; to be checked */
    size_t unchecked;            /* bytes in both and with who works on them */

    enum pipeline_end check_end;   /* a checker could not go on */
    struct ordeal_error check_error;

    struct runner runners[MOST_MACHINES];
    int runner_count;
    int runners_left;            /* that may still take a test, of those with threads */
    int machines_left;           /* that have not gone */
    bool begun;                  /* the first test was taken */
    bool no_more;                /* none is to be taken: one could not be run */
    atomic_uint_fast64_t operations; /* of tests that ran */

    enum pipeline_end end;         /* from here on it is the caller's */
    bool told_all;               /* what is left in flight is not to be told */
    double started, clock_seconds;
    double looked;               /* for machines that came */
};

/* ---- lists of tests ------------------------------------------------------------------------ */

static inline void tests_init(struct tests *l) { *l = (struct tests){ .end = &l->first }; }

static inline void tests_push(struct tests *l, struct test *t)
{
    t->next = NULL;
    *l->end = t;
    l->end = &t->next;
    l->count++;
    l->weight += t->weight;
}

static inline struct test *tests_pop(struct tests *l)
{
    struct test *t = l->first;
    if (!t)
        return NULL;
    l->first = t->next;
    if (!l->first)
        l->end = &l->first;
    l->count--;
    l->weight -= t->weight;
    return t;
}

static inline bool is_full(const struct tests *l, size_t most)
{
    return l->count >= most || l->weight >= MOST_OPERATIONS;
}

static inline bool is_half_empty(const struct tests *l, size_t most)
{
    return l->count <= most / 2 && l->weight <= MOST_OPERATIONS / 2;
}

/* ---- lists of chunks ----------------------------------------------------------------------- */

static inline void chunks_init(struct chunks *l) { *l = (struct chunks){ .end = &l->first }; }

static inline void chunks_push(struct chunks *l, struct chunk *c)
{
    c->next = NULL;
    *l->end = c;
    l->end = &c->next;
}

static inline struct chunk *chunks_take(struct chunks *l) /* NULL: it is empty */
{
    struct chunk *c = l->first;
    if (c && !(l->first = c->next))
        l->end = &l->first;
    return c;
}

/* Waits for one; NULL: no more will come. With the lock. */
static inline struct chunk *chunks_pop(struct chunks *l, pthread_cond_t *come, pthread_mutex_t *lock)
{
    while (!l->first && !l->closed)
        pthread_cond_wait(come, lock);
    return chunks_take(l);
}

/* ---- the threads, and what they need of each other ----------------------------------------- */

void *maker_main(void *pipeline);
void *runner_main(void *runner);
void *sifter_main(void *pipeline);
void *checker_main(void *pipeline);
void runner_work(struct runner *r);          /* tests, until there are no more or all is to stop */
void pipeline_return_chunk(struct pipeline *s, struct chunk *c); /* nothing is left to do of it */
/* With the lock: until something changes, a tenth of a second at most. */
void pipeline_wait(struct runner *r);
/* On the caller's thread: all that can be told is; a look at the clock and for ^C. */
void pipeline_settle(struct pipeline *s);
void pipeline_tick(struct pipeline *s);
void free_test(struct pipeline *s, struct test *t);

static inline bool pipeline_is_stopped(void *pipeline) { return ((struct pipeline *)pipeline)->stop; }

#endif
