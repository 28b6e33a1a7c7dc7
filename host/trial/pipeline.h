/* SPDX-License-Identifier: Apache-2.0 */
/* Tests made, run and checked at the same time, in bounded memory.
 *
 * One thread makes and compiles tests ahead; one for each machine runs them, and machines may come
 * and go; another drops the outcomes that came before; as many as there are cores check the rest.
 * Between them are queues that a faster one waits at. Of machines that are things one that fails
 * leaves the run, and loses its test, as long as there are others. No test is run that the target
 * refuses.
 *
 * What is told, and every sum but the seconds, is a function of the plan if the target is exact: it
 * depends neither on who was faster, nor on how many machines or cores there are. Tests are settled
 * in order, on the caller's thread, and only what is settled counts. A test is decided by its first
 * iteration that violates the model, cannot be checked, or is not brought back since the machine
 * broke, failed or was lost. Machines run ahead of verdicts, but of what they run after that
 * iteration nothing counts and no outcome is told. The iteration that violates counts itself, one
 * that was not brought back or makes no sense does not, though its cycles do. Where a test ends the
 * run, by an error or since the caller stops there, no outcome of a later one is told. ^C comes when it
 * comes: what is whole by then counts, and violations that are known are told.
 *
 * The caller's thread runs none, not even of one machine: it tells outcomes and settles while the
 * machine runs. It is woken for many tests at a time; so that costs nothing (pipeline_settle.c).
 * Only while a violation is told the first machine stands still, for whoever is told may use it; a
 * test that is made small is then alone on the CPU that runs it. */
#ifndef HOST_PIPELINE_H
#define HOST_PIPELINE_H

#include "cover/cover.h"
#include "test/test_source.h"
#include "targets/target.h"

struct pipeline_test {
    uint64_t number;
    const char *name;
    const char *profile; /* of the bias; NULL: none, or it comes from a file */
    const struct ordeal_trace *test;
    const struct program *program;
    uint64_t iterations, outcomes, operations; /* that count; of these, distinct ones; their memory
                                    operations: these, and `cycles`, when it is settled */
    uint64_t cycles;             /* of the machine on trial, if it counts them */
    double seconds;              /* that the machine ran it */
    enum ordeal_result result;
    uint64_t iteration;          /* FAIL, UNDECIDED: the first execution that is, and its values */
    const uint64_t *values;
    const char *broke;           /* FAIL: no values, the machine came to this end; else NULL */
    const char *lost;            /* no result: the machine got out of reach at `iteration` */
    bool behind; /* a test before it is not settled: the run goes on with that one */
    const struct cover_hits *hits; /* what it reached, when it is settled; NULL: nobody asked. Of a
                                    test that failed: what the execution did that violates */
};

struct pipeline_totals {
    uint64_t tests, iterations, outcomes, operations, cycles;
    uint64_t results[3];         /* tests by enum ordeal_result */
    uint64_t lost;               /* the others: nobody knows what they did */
    uint64_t next;               /* number of the first test that is not settled */
    double seconds;              /* since the start */
    double running;              /* of these the machines ran, on average; known at the end */
};

/* What is between the threads at most, and how much of it somebody is woken for. */
struct pipeline_limits {
    size_t ahead_tests;              /* made and not run */
    size_t made_tests;               /* that are worth waking a runner for */
    size_t flight_tests;             /* run and not settled */
    size_t settle_tests, tell_bytes; /* that are worth waking the caller's thread for */
    size_t operations;  /* made and not run, or in flight: as written, 120 bytes each */
    size_t chunk_bytes; /* handed to a checker at a time, or one outcome */
    size_t queue_bytes; /* not yet told; not yet checked */
};

struct pipeline_plan {
    const struct target *target;
    void *const *machines; /* one; or several alike, of a target that allows it */
    int machine_count;
    struct test_source_plan source;
    bool patient;                /* look at what is there of the first tests before any is run */
    uint64_t first_iteration, iterations;
    uint64_t early_tests, early_iterations; /* of tests with numbers below this: so many */
    bool check;
    enum ordeal_model model;     /* to check */
    double limit;                /* seconds of one check */
    bool cover;                  /* look what tests reach; events, if the machines count them */
    const struct pipeline_limits *limits; /* NULL: the usual */
    /* All on the caller's thread; outcome and settled return false to stop. */
    bool (*outcome)(void *user, const struct pipeline_test *t, uint64_t iteration,
                    const uint64_t *values); /* NULL, or every execution in order */
    bool (*settled)(void *user, const struct pipeline_test *t); /* of a test that did not pass it
                                                             may run others on machines[0] */
    /* NULL, or now and then: a machine more that has come, alike; NULL: none. */
    void *(*another)(void *user, int at_work);
    void (*tick)(void *user, const struct pipeline_totals *so_far); /* now and then */
    void *user;
};

enum pipeline_end {
    PIPELINE_DONE,
    PIPELINE_STOPPED,     /* by a callback */
    PIPELINE_INTERRUPTED, /* ^C */
    PIPELINE_BAD,         /* error: a test that is wrong, refused, or cannot be checked */
    PIPELINE_TARGET,      /* error: the target failed or hung */
    PIPELINE_INTERNAL,    /* error: a verdict that could not be proved */
};

struct pipeline_report {
    struct pipeline_totals totals;
    struct ordeal_error error;   /* file: the name of the test */
};

enum pipeline_end pipeline_run(const struct pipeline_plan *plan, struct pipeline_report *report);

#endif
