/* SPDX-License-Identifier: Apache-2.0 */
/* A search while it goes on: workers that expand stored states, what they share, what they found.
 */
#ifndef PROGRAM_EXPLORATION_H
#define PROGRAM_EXPLORATION_H

#include <pthread.h>

#include "contention.h"
#include "pack.h"
#include "ranks.h"
#include "step.h"

/* Where an error is: the state before it, and the how-manieth of its steps leads there. */
struct found {
    enum explore_error error;
    uint32_t thread, pc;
    char text[256];
    uint32_t state, step;
    uint64_t rank; /* of the state among those of its level, the same with any number of workers */
    uint32_t depth;
};

struct depth_item {
    uint32_t state, depth;
};

struct exploration {
    const struct explore_options *options;
    struct program_code code;
    struct pieces pieces;
    uint32_t *parent;          /* by state */
    struct ranks ranks;        /* where there are several workers */
    struct explorer *explorer; /* options->jobs of them */

    _Atomic uint32_t next; /* of the level: who takes it expands it */
    uint32_t low, high;    /* the level */
    _Atomic uint32_t depth;
    uint64_t skipped;        /* numbers of states that are nobody's */
    _Atomic bool stop, grow; /* as soon as possible */
    _Atomic uint64_t transitions;
    _Atomic bool ends;             /* some execution does */
    _Atomic bool strange;          /* local memory was not local: all is to be done again */
    uint8_t not_local;             /* of the options given, what is left out */
    struct contention *contention; /* NULL: nothing is learned of it */
    _Atomic uint32_t surprised_at; /* states when it was first wrong; 0: it was not yet */
    _Atomic bool limited;          /* stopped from outside, not because all is said */
    uint64_t transitions_before;   /* of the level */
    _Atomic bool save;             /* a checkpoint, when tables would grow */

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    _Atomic uint32_t active;
    uint32_t parked,
        finished;             /* workers that expand; that wait for tables to grow; that are done */
    uint32_t levels, growths; /* counted, so that one can wait for the next */
    bool complete;
    _Atomic bool over;
    char save_failed[256]; /* why the last checkpoint could not be written */
    char note[256];        /* why it is undecided */
    uint32_t unjoined;     /* most threads that were not joined at an exit */
    struct found *found;
    size_t founds;
    struct {
        struct depth_item *item;
        _Atomic size_t count;
        size_t capacity;
    } pool; /* depth first: for who has none */
    struct intern outcomes;
    struct intern_cursor outcome_cursor;
    bool no_memory;
};

struct explorer {
    struct exploration *x;
    struct state *s;
    struct packer *k;
    pthread_t thread;
    uint64_t transitions;
    uint32_t state; /* which is expanded */
    uint32_t step;  /* of it, counted over all choices */
    uint32_t depth; /* of it */
    struct {
        struct depth_item *item;
        size_t count, capacity;
    } stack; /* depth first: what it has to do */
};

struct explorer *explorer_at(struct exploration *x, uint32_t i);
bool explorer_init(struct explorer *e, struct exploration *x);
void explorer_finish(struct explorer *e);

/* All steps of a stored state, in an order that depends on nothing else, each with all its choices.
 * `visit` sees the state after one and how it ended; false: stop. */
struct step_taken {
    uint32_t thread, flush;
};
typedef bool (*step_visitor)(struct explorer *e, struct step_taken taken, void *user);
bool expand(struct explorer *e, uint32_t state, step_visitor visit, void *user);

/* Expands and stores. False: tables have to grow first, and the state is to be expanded again. */
bool explorer_store(struct explorer *e, uint32_t state);
/* An ended program, all ways in which what is buffered may be written. */
void explorer_outcomes(struct explorer *e);
bool state_has_ended(const struct state *s);
bool state_is_deadlocked(const struct state *s);

void exploration_note(struct exploration *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void exploration_found(struct explorer *e, enum explore_error error, uint32_t thread, uint32_t pc,
                       const char *text);
void *explorer_main(void *explorer);
void explorer_depth_first(struct explorer *e);
void explorer_push(struct explorer *e, uint32_t state); /* which is new, and below e->state */
/* Expands it, when tables have room; false: the search stops. */
bool explorer_store_one(struct explorer *e, uint32_t state);
/* No worker expands any more: does what they wait for. The lock is held. */
void exploration_rest(struct exploration *x);
void exploration_next_level(struct exploration *x);
/* What words are contended for was not wrong yet: it can be kept. */
static inline bool exploration_is_worth(const struct exploration *x)
{
    return !x->contention || !contention_surprised(x->contention);
}
/* It was wrong, and since then has learned enough. */
bool exploration_has_learned(struct exploration *x);

/* The path to where an error was found. */
bool exploration_path(struct exploration *x, const struct found *f, struct explore_path *path);
/* Follows it, by which more is known than of a stored state: which memory was ever allocated. */
void follow_finding(const struct program_code *code, const struct explore_options *options,
                    struct explore_finding *f);

#endif
