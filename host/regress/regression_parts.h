/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the coordinator: regression.c is its loop, regression_unit.c chooses units and merges
 * them, regression_probe.c looks at the machines before anything runs, regression_shrink.c has failing
 * tests made small afterwards. */
#ifndef HOST_REGRESSION_PARTS_H
#define HOST_REGRESSION_PARTS_H

#include "regression.h"

/* Of a run: tests that are to be done (again), and how often they were tried in vain. */
struct piece {
    uint64_t first, count;
    int attempt;
};

/* A run at work. */
struct work {
    const struct plan_run *plan;
    struct store_run store;
    struct machine_identity machine;
    char identity[HASH_TEXT];
    int probe;       /* of the run whose machine is the same: its number */
    bool known;      /* what its machine is */
    bool out;        /* it is given up for this session */
    uint64_t handed; /* the first test that nobody got yet */
    uint64_t end;    /* the first that is not to be run; UINT64_MAX: nobody knows */
    LIST(struct piece) again;
    uint64_t flying, flying_tests; /* units that somebody works on, or that wait for their turn */
    double per_test, cycles_per_test; /* of the last unit; 0: not known */
    uint64_t last_count;
    int misfortunes; /* in a row */
};

enum task_kind { TASK_PROBE, TASK_UNIT, TASK_SHRINK };

/* A job that the engine has, or whose record waits for its turn. */
struct task {
    uint64_t id;
    enum task_kind kind;
    size_t run;
    struct piece piece;
    bool ended;
    struct engine_end end;
    struct store_bucket bucket; /* of a SHRINK */
    double started;
};

struct regression {
    const struct regression_plan *plan;
    void *engine; /* its state */
    LIST(struct work) works;
    LIST(struct task) tasks;
    int running; /* jobs that the engine has */
    bool alone;  /* one of them wants to be the only one */
    uint64_t ids;
    bool stopping; /* ^C: nothing more is handed out */
    double began, elapsed_before;
    uint64_t failed, incidents;
    int64_t shrunk;    /* the last bucket that was looked at */
    bool failed_badly; /* `why` says it */
    struct why *why;
};

/* Takes it the whole computer? `native` needs its cores, and a board is all the boards there are; others
 * are one machine a worker. */
bool regression_is_alone(const struct plan_run *run);
/* A worker's words: those of the run, and more; NULL ends `more`. False: `why`. */
bool regression_start(struct regression *r, struct task *t, const char *const *more);
void regression_folder(const struct regression *r, const struct task *t, const char *name,
                       char *path, size_t size);
/* Nothing is needed of it any more. */
void regression_forget(struct regression *r, struct task *t);
/* What the worker said last, without how it begins. */
const char *regression_complaint(const struct engine_end *end);
bool regression_incident(struct regression *r, const struct work *w, uint64_t first,
                         enum incident_kind kind, const char *text);
double regression_elapsed(const struct regression *r);
bool regression_is_late(const struct regression *r); /* the time of the whole is used up */

/* All machines, one after the other or several at a time. False: `why`. */
bool regression_probe(struct regression *r, bool *refused);
/* A unit more, if there is one to be handed out and somebody who takes it: `started`. */
bool regression_hand_out(struct regression *r, bool *started);
/* What ended, in its turn. */
bool regression_settle(struct regression *r);
bool regression_shrink(struct regression *r, bool *started);
bool regression_take_small(struct regression *r, struct task *t);

/* Waits for the engine: marks tasks as ended. */
bool regression_poll(struct regression *r);

#endif
