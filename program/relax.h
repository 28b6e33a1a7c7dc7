/* SPDX-License-Identifier: Apache-2.0 */
/* Relaxer: violations of sequential consistency that a program may have are predicted from
 * runs under SC, and made to happen under a weaker model by delays at the right places. A run here is one
 * execution by a random schedule, which a seed gives again. */
#ifndef PROGRAM_RELAX_H
#define PROGRAM_RELAX_H

#include "explore.h"

/* What a statement does; a set of them where it is of a position of a cycle. */
enum relax_kind { RELAX_LOAD = 1, RELAX_STORE = 2, RELAX_ATOMIC = 4, RELAX_KINDS = 7 };

/* The label of each instruction, from 1; 0: it is of a library, and its caller's counts. */
struct relax_labels {
    uint32_t base, count; /* instructions, 4 bytes each */
    const uint32_t *of;
};
static inline uint32_t relax_label(const struct relax_labels *l, uint32_t pc)
{
    uint32_t k = (pc - l->base) / 4;
    return k < l->count ? l->of[k] : 0;
}

/* A happens-before cycle by labels: the events at 0 and 1, at 2 and 3, ... are of one thread each, and that
 * at 1 is before the one at 2 in the order of their place, ..., the last one before that at 0. */
enum { RELAX_LONGEST = 8 };
struct relax_cycle {
    uint32_t length;
    uint32_t label[RELAX_LONGEST];
    uint8_t kind[RELAX_LONGEST]; /* what there was at such a label */
    bool stores_first; /* some such events had plain stores at 0, 2, ...: TSO may have it */
};

/* An access while several threads ran, to memory that others may reach. `seen` and `done` are times of
 * one clock, which counts stores that reach memory: that of the store whose value it saw, or a time
 * between that and the next one there; and its own. A load that only in part came from the own buffer has
 * seen what was there at `seen`, and nothing that was after `seen_last`. */
struct relax_access {
    uint32_t thread, label, address, event;
    uint8_t size, kind;
    bool reads, writes;
    uint64_t seen, seen_last, done;
};

struct relax_run {
    struct relax_access *access;
    size_t accesses, capacity;
    uint64_t steps;
    enum explore_error error; /* of the program; its place and text are those of its EVENT_ERROR */
    uint32_t thread, pc;
    char text[256];
    bool ended;        /* else it was left after so many steps, or stands still */
    const char *broke; /* what the engine could not do; NULL: nothing */
};

struct relax_options {
    enum explore_model model;
    const struct relax_labels *labels;
    bool locked_atomics;
    int32_t nondet_low, nondet_high;
    uint64_t most_steps;
};

/* One at a time runs on it. NULL: `error` says why. */
struct relax_runner;
struct relax_runner *relax_runner_new(const struct image *image,
                                      const struct relax_options *options,
                                      struct ordeal_error *error);
void relax_runner_free(struct relax_runner *r);
/* One execution; a cycle other than NULL is aimed at (Figures 7 to 9). The result is the runner's, until
 * the next. False: no memory. */
bool relax_execute(struct relax_runner *r, const struct relax_cycle *aim, uint64_t seed,
                   const struct relax_run **run);
/* The same again with all that is known of its events, to be freed by explore_events_free(). */
bool relax_events(struct relax_runner *r, const struct relax_cycle *aim, uint64_t seed,
                  struct event_list *events, const struct relax_run **run);

/* ---- cycles ------------------------------------------------------------------------------- */

struct relax_cycles {
    struct relax_cycle *cycle;
    size_t count, capacity;
    uint32_t *slot; /* by hash: number + 1, or 0 */
    size_t slots;
};
/* Adds what Algorithm 1 predicts from a run, cycles of up to `length` labels; those that are there, or are
 * rotations of them, are not added again. False: no memory. */
bool relax_predict(const struct relax_run *run, uint32_t length, struct relax_cycles *cycles);
/* By their labels, ascending. */
void relax_cycles_sort(struct relax_cycles *cycles);
void relax_cycles_free(struct relax_cycles *cycles);
/* Under TSO cycles whose odd labels are no stores are discarded (4.3). */
bool relax_worth_trying(const struct relax_cycle *c, enum explore_model model);

/* Did it come about? `access` gets the numbers of its events. False: no memory, nobody knows. */
bool relax_created(const struct relax_run *run, const struct relax_cycle *c,
                   uint32_t access[RELAX_LONGEST], bool *created);
/* a ->c b: the place had a first. */
bool relax_before(const struct relax_access *a, const struct relax_access *b);

static inline bool relax_overlap(const struct relax_access *a, const struct relax_access *b)
{
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

#endif
