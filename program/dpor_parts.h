/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of dpor*.c share: the execution that is being walked, as a stack of steps. */
#ifndef PROGRAM_DPOR_PARTS_H
#define PROGRAM_DPOR_PARTS_H

#include "dpor.h"
#include "grow.h"
#include "sc_graph.h"

#define DPOR_NONE UINT32_MAX

/* A step touches a location; what there was before. Numbers of these are plus one; 0: none. */
struct record {
    uint32_t location, event;
    uint8_t how;
    uint32_t write, reads, change; /* of the location, before this one */
    uint32_t next;                 /* the read before this one, since the last write */
};
struct place_now {
    uint32_t write, reads, change;
};

struct frame {
    uint32_t state;
    uint32_t enabled, sleep, backtrack; /* sets of threads */
    uint32_t stopped;                   /* go no further, by a step that has no state after it */
    uint32_t current;                   /* who did the step before */
    uint32_t preemptions;
    bool discarded; /* an assumption failed */
    /* The step that is taken now. */
    uint32_t thread, which, choices;
    struct sc_step step;
    uint32_t before; /* the thread's step before, plus one; its creation */
    uint32_t created_before;
    uint32_t
        spins_from; /* steps of the thread from there on (plus one) come back to where they began */
    uint32_t records, accesses, borderline;
    uint64_t signature[2]; /* of the steps before, as a trace */
    uint32_t ordinal;      /* of the thread */
    uint32_t clock[EXPLORE_THREADS];
};

struct walk {
    const struct dpor_options *o;
    struct sc_graph *g;
    struct monitor *monitor;
    uint32_t monitor_threads, monitor_locations;
    ROW(struct frame) stack;
    ROW(struct record) records;
    ROW(struct place_now) places;
    ROW(uint32_t) access_step;      /* of what the monitor was fed */
    uint32_t last[EXPLORE_THREADS]; /* step of each thread, plus one */
    uint32_t borderline;            /* accesses of this execution that are */
    uint32_t bound;
    uint32_t judged;        /* findings that were shown to options->prefer */
    bool preferred;         /* the first finding is one that it wants */
    bool cut, over, beyond; /* an execution was too long; stop; some needs a higher bound */
    const char *why;
    struct {
        uint64_t (*trace)[2];
        size_t count, room;
    } seen;
    double started;
    struct dpor_result *r;
    bool no_memory;
};

static inline bool knows(const uint32_t *clock, const struct frame *f, uint32_t event)
{
    return clock[f->thread] > event;
}

/* Does the thread wait in a loop for others? */
bool dpor_spins(const struct walk *w, uint32_t thread);
/* The races of a step with those before it: what must be tried instead, where that is new. */
void dpor_races(struct walk *w, uint32_t thread, const struct sc_step *step, uint32_t *clock,
                bool happens);
/* The access that was fed last is borderline; the step on top is an error of the program (`step` is NULL
 * where all wait). */
void dpor_found(struct walk *w, uint32_t event, const struct monitor_finding *finding);
void dpor_failed(struct walk *w, enum explore_error error, const struct sc_step *step);
/* Orders of the counted steps of the execution on the stack. False: too many to count. */
bool dpor_count_orders(struct walk *w, struct dpor_number *orders);
void dpor_number_add(struct dpor_number *to, const struct dpor_number *n);

#endif
