/* SPDX-License-Identifier: Apache-2.0 */
/* The coordinator: hands out units of the runs of a plan to the workers of an engine and merges what
 * they bring into the database.
 *
 * It is one loop of one thread. Units of a run are merged in the order of their tests, so what is in the
 * database does not depend on who was faster, nor on how many workers there are. Nothing is told before
 * it is safe. A worker that dies, hangs or brings nonsense is an incident; its unit is tried once more,
 * then skipped. */
#ifndef HOST_REGRESSION_H
#define HOST_REGRESSION_H

#include "engine.h"
#include "plan.h"
#include "store.h"

struct regression_progress {
    uint64_t tests, of, failed, incidents; /* of: 0: nobody knows */
    double share, left;                    /* of the budget; seconds, below 0: nobody knows */
    int workers, shrinking;
};

struct regression_plan {
    const struct plan *plan;
    struct store *store;
    const struct engine *engine;
    int jobs;                 /* 0: as the engine likes */
    const char *const *words; /* for the engine: see struct engine_setup */
    double queue;
    const char *program; /* this one, as a path */
    /* A failure that is in the database now, or something that went wrong. */
    void (*failed)(void *user, const struct plan_run *run, const struct record_test *t);
    void (*incident)(void *user, const struct plan_run *run, enum incident_kind kind,
                     const char *text);
    void (*tick)(void *user, const struct regression_progress *p); /* now and then */
    void *user;
};

enum regression_end {
    REGRESSION_DONE,
    REGRESSION_BUDGET,      /* the time is used up */
    REGRESSION_INTERRUPTED, /* ^C */
    REGRESSION_REFUSED,     /* something is wrong with the plan: nothing was run */
    REGRESSION_ERROR        /* the database or the engine failed */
};
extern const char *const regression_ends[];

/* `why`: of the last two. */
enum regression_end regression_run(const struct regression_plan *plan, struct why *why);

#endif
