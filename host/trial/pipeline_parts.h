/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the pipeline, shared by the files that are its threads: pipeline_make.c makes,
 * pipeline_execute.c runs, pipeline_sift.c drops what was seen before, pipeline_check.c checks and,
 * with pipeline_cover.c, looks what was reached, pipeline_settle.c settles, on the caller's;
 * pipeline.c starts and ends them. Where several of them learn of one test, pipeline_finding.c keeps
 * what counts. One lock guards what they share. */
#ifndef HOST_PIPELINE_PARTS_H
#define HOST_PIPELINE_PARTS_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "pipeline.h"

enum {
    FLIGHT_TESTS = 256, /* the usual limits, as far as somebody asks */
    CHUNK_BYTES = 64 << 10,
    QUEUE_BYTES = 16 << 20,
    COVERED_OUTCOMES = 64, /* of a test: more tell little that is new of what it reaches */
    MOST_CHECKERS = 64,
    MOST_MACHINES = 64,
};

/* What one iteration brought. */
struct outcome {
    uint64_t iteration;
    uint64_t cycles; /* of the machine since the test began */
    uint64_t nth;    /* of the test's that differ, from 1; 0: it came before */
    uint64_t values[];
};

/* Outcomes of one test that follow each other. */
struct chunk {
    struct test *test;
    struct chunk *next;
    int machine;                 /* that brought them */
    size_t bytes, stride, room, count;
    uint64_t words[];
};

static inline struct outcome *outcome_at(const struct chunk *c, size_t i)
{
    return (struct outcome *)(c->words + i * c->stride);
}

struct chunks { struct chunk *first, **end; bool closed; /* nothing more comes */ };

/* What there is to say of a test but that it passes. The last four decide: nothing that comes after
 * them counts, and if there are several, the first does. */
enum finding_kind {
    FOUND_NOTHING,
    FOUND_UNDECIDED,
    FOUND_VIOLATION,
    FOUND_BROKE,
    FOUND_LOST,
    FOUND_END
};

struct finding {
    enum finding_kind kind;
    uint64_t iteration;
    uint64_t iterations, outcomes, cycles; /* of the test up to then: those that count */
    uint64_t *values;                      /* UNDECIDED, VIOLATION: its own, and NULL else */
    char *text;                            /* BROKE, LOST: its own, and NULL else */
    enum pipeline_end end;                 /* END: why nothing after it counts */
    struct ordeal_error error;
};

struct test {
    struct test_source_test source;
    struct program program;
    struct pipeline_test told;   /* what the callbacks get of it */
    struct cover_hits *hits;     /* told.hits */
    struct finding finding;
    atomic_bool decided;                   /* it is one that decides */
    uint64_t iterations, outcomes, cycles; /* all that were run; that differ, so far */
    double seconds;                        /* that the machine ran it */
    uint64_t serial;             /* 1, 2, … as they are made */
    size_t weight;
    uint32_t chunks;             /* handed over, and not done with */
    size_t untold_bytes;         /* of these, what plan->outcome was not told of */
    struct chunk *to_tell;       /* those of them that are checked, by iteration */
    uint64_t next_to_tell;       /* iteration */
    bool ran, whole;             /* nothing more comes of it; all that was to come did */
    bool skipped;                /* not all that came was checked */
    struct test *next;
};

struct tests { struct test *first, **end; size_t count, weight; };

/* A machine and the thread that runs tests on it. */
struct runner {
    struct pipeline *pipeline;
    int number;
    void *machine;
    pthread_t thread;
    struct test *running;        /* NULL: between tests */
    bool lent;   /* between tests, or while it pauses, the machine is the caller's */
    bool paused; /* in the middle of a test, between two iterations */
    /* The thread's own: */
    bool gone; /* the machine is out of reach: it takes no more */
    bool pausing; /* there is no room, nor will there be before the machine is lent */
    struct chunk *filling;
    uint64_t iterations, counted; /* of the test; of these, in `operations` of all */
    uint64_t cycles_before,
        cycles;                  /* of the machine when it began to run; of the test before that */
    struct event_counts events;  /* of the test */
    uint64_t calls;              /* of the sink */
    double handed_over, sink_seconds, waited, run_seconds;
};

struct pipeline {
    const struct pipeline_plan *plan;
    struct pipeline_report *report;
    struct pipeline_limits limits;
    struct abilities can;
    struct machine_claims claims;
    pthread_mutex_t lock;
    pthread_cond_t for_caller, for_maker, for_sifter, for_checkers;
    pthread_cond_t for_runners, for_room; /* who waits for a test; in a test, for other threads */
    pthread_t maker, sifter, checkers[MOST_CHECKERS];
    int checker_count;
    bool maker_lives, sifter_lives;
    atomic_bool stop;            /* all of it, and at once */

    struct test_source *source; /* the maker's, and how many it made */
    uint64_t serials;
    struct tests ready, in_flight, retired; /* made; taken and not settled; to be freed */
    bool made;                   /* the maker is done */
    enum pipeline_end made_end;
    struct ordeal_error made_error;

    size_t untold; /* bytes of all in flight, if outcomes are told */
    struct chunks to_sift, to_check;
    size_t unchecked;            /* bytes in both and with who works on them */

    struct runner runners[MOST_MACHINES];
    int runner_count;            /* the caller's, who starts them */
    int runners_left;            /* that have not ended */
    int machines_left;           /* that have not gone */
    bool begun;                  /* the first test was taken */
    bool no_more;                /* none is to be taken: ^C */
    int ends; /* tests in flight with which all may end: none, until that is known */
    bool crowded;                /* none, until some of those in flight are settled */
    atomic_uint_fast64_t operations; /* run so far, about */

    size_t settleable; /* tests in flight of which all is known */
    size_t findings;   /* of these, others than passes: they are told without delay */
    bool called;       /* the caller's thread has something to do */

    enum pipeline_end end; /* from here on it is the caller's */
    bool silent;           /* what is left in flight is not to be told */
    bool gap;              /* a test was left out */
    double started, clock_seconds;
    double looked;               /* for machines that came */
};

/* ---- lists of tests ------------------------------------------------------------------------ */

static inline void tests_init(struct tests *l) { *l = (struct tests){ .end = &l->first }; }

static inline void tests_push(struct tests *l, struct test *t)
{
    assert(!*l->end && !t->next && l->end != &t->next); /* it is in no list */
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
    assert(l->count > 0 && l->weight >= t->weight);
    l->first = t->next;
    if (!l->first)
        l->end = &l->first;
    l->count--;
    l->weight -= t->weight;
    t->next = NULL;
    assert(l->first || (l->count == 0 && l->weight == 0));
    return t;
}

/* ---- lists of chunks ----------------------------------------------------------------------- */

static inline void chunks_init(struct chunks *l) { *l = (struct chunks){ .end = &l->first }; }

static inline void chunks_push(struct chunks *l, struct chunk *c)
{
    assert(!l->closed && !*l->end && !c->next && l->end != &c->next);
    *l->end = c;
    l->end = &c->next;
}

static inline struct chunk *chunks_take(struct chunks *l) /* NULL: it is empty */
{
    struct chunk *c = l->first;
    if (!c)
        return NULL;
    l->first = c->next;
    if (!l->first)
        l->end = &l->first;
    c->next = NULL;
    return c;
}

/* Waits for one; NULL: no more will come. With the lock. */
static inline struct chunk *chunks_pop(struct chunks *l, pthread_cond_t *come,
                                       pthread_mutex_t *lock)
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

/* Of the tests that are made and not run. */
static inline bool is_full(const struct pipeline *p)
{
    return p->ready.count >= p->limits.ahead_tests || p->ready.weight >= p->limits.operations;
}

static inline bool is_half_empty(const struct pipeline *p)
{
    return p->ready.count <= p->limits.ahead_tests / 2
        && p->ready.weight <= p->limits.operations / 2;
}

/* Is there anything to be done with outcomes but to tell them? */
static inline bool pipeline_looks(const struct pipeline *p)
{
    return p->plan->check || p->plan->cover;
}

/* What tests reach (pipeline_cover.c), with memory of a thread. False: out of memory. */
struct look;
struct look *look_new(void); /* NULL: out of memory */
void look_free(struct look *l);
bool look_at_chunk(struct look *l, struct pipeline *p, const struct chunk *c);
void gather_events(struct runner *r, const struct test *t); /* of the run that has just ended */
void look_at_events(struct runner *r, struct test *t);      /* of all that were gathered */
bool look_at_failure(struct pipeline *p, struct test *t);

/* With the lock: until somebody signals, or for so long. */
void pipeline_wait(struct pipeline *p, pthread_cond_t *come, double seconds);

static inline bool pipeline_is_stopped(void *user) { return ((struct pipeline *)user)->stop; }

static inline bool is_settleable(const struct test *t) { return t->ran && !t->chunks; }

static inline bool finding_decides(const struct finding *f) { return f->kind >= FOUND_VIOLATION; }

/* Of a test: kept if it is what counts, else freed with what it has. */
void note_finding(struct pipeline *p, struct test *t, struct finding *f);
void finding_free(struct finding *f);

void pipeline_stop(struct pipeline *p); /* whoever waits goes on, and sees it */
/* With the lock: the caller's thread is to look; or only if there is enough for it to do. */
void pipeline_call(struct pipeline *p);
void pipeline_call_if_worth(struct pipeline *p);
/* With the lock, when it ran or a chunk is done: one more to settle, if all is known of it. */
void pipeline_count(struct pipeline *p, const struct test *t);
void pipeline_return_chunk(struct pipeline *p,
                           struct chunk *c); /* nothing is to be checked of it */
void pipeline_tell_chunk(struct pipeline *p,
                         struct chunk *c); /* with the lock: when it is its turn */
void free_test(struct pipeline *p, struct test *t);

/* On the caller's thread: until all tests are settled, those to come included, or all is to stop;
 * one that is whole, or has failed, or is the reason for an end. */
void pipeline_settle_all(struct pipeline *p, void (*now_and_then)(struct pipeline *p));
void pipeline_settle(struct pipeline *p, struct test *t);

#endif
