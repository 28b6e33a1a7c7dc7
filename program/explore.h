/* SPDX-License-Identifier: Apache-2.0 */
/* All executions of a program under a memory model: the search, its options, what it found. One
 * call explores; the result has the shortest path to an error as choices that explore_follow() can
 * do again, event by event. Reentrant; no output, no files but through the streams given. */
#ifndef PROGRAM_EXPLORE_H
#define PROGRAM_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "events.h"
#include "image.h"

enum explore_model { EXPLORE_SC, EXPLORE_TSO, EXPLORE_PSO, EXPLORE_PSLO, EXPLORE_MODELS };
extern const char *const explore_model_names[EXPLORE_MODELS]; /* "sc", ... */

struct fence_machine;
enum { EXPLORE_LOCAL_STATIC = 1, EXPLORE_LOCAL_DYNAMIC = 2 };
enum { EXPLORE_THREADS = 32 }; /* at most, at a time */

struct explore_progress {
    uint64_t states, transitions, frontier;
    uint32_t depth;
    double seconds;
    size_t bytes;
};

struct explore_options {
    enum explore_model model;
    bool plain_flush; /* TSO: a flusher of its own for each buffer instead of delayed flushing */
    uint32_t buffers; /* entries of a thread's buffer; 0: unbounded */
    uint8_t local;    /* EXPLORE_LOCAL_...: what bypasses buffers; dynamic: SC and TSO alone */
    struct fence_machine
        *symbolic;       /* buffers of any size (fence_machine.h): `ordeal fence` alone */
    bool locked_atomics; /* --atomics x86: every atomic is a full barrier, whatever its aq and rl */
    bool no_reduction;
    bool depth_first;     /* else breadth first: the shortest counterexample */
    bool all_errors;      /* goes on after the first: one for each kind and place */
    uint32_t jobs;        /* threads of the search */
    uint64_t most_states; /* 0: no limit, as of those that follow */
    double most_seconds;
    size_t most_bytes;
    int32_t nondet_low, nondet_high; /* what __VERIFIER_nondet_* draws where its type has room */
    const char *checkpoint; /* NULL: none. Begins there if it is one of this program and options */
    const uint32_t *outcome_address; /* words whose values at the end are wanted */
    const uint8_t *outcome_size;     /* 1, 2 or 4 */
    size_t outcomes;
    /* Called about ten times a second from the caller's thread; true: stop. */
    bool (*progress)(void *user, const struct explore_progress *p);
    void *user;
};

enum explore_error {
    EXPLORE_NO_ERROR,
    EXPLORE_ASSERTION,
    EXPLORE_REACHED,
    EXPLORE_ABORT,
    EXPLORE_EXCLUSION, /* two between critical marks */
    EXPLORE_UNMAPPED,
    EXPLORE_READ_ONLY,
    EXPLORE_FREED,
    EXPLORE_MISALIGNED,
    EXPLORE_DOUBLE_FREE,
    EXPLORE_LATE_STORE, /* another's store was still buffered when its memory was freed (3.2) */
    EXPLORE_DEADLOCK,
    EXPLORE_UNLOCK,
    /* of a mutex not held */ EXPLORE_INSTRUCTION, /* undefined */
    EXPLORE_STACK,
    /* ran out of it */ EXPLORE_NOT_THERE, /* a function that the run-time has not */
    EXPLORE_ERRORS
};
const char *explore_error_text(enum explore_error e); /* "assertion", ... stable, for scripts */

/* One step of a path: a thread's, or of a buffer, with what was chosen on the way. */
struct explore_step {
    uint16_t thread;
    uint16_t flush;        /* 0: the thread's own; else the background move of its buffer, from 1 */
    uint32_t choices;      /* offset and ... */
    uint32_t choice_count; /* ... number in `choice` of the path */
};
struct explore_path {
    struct explore_step *step;
    size_t steps;
    uint32_t *choice;
    uint8_t not_local; /* EXPLORE_LOCAL_... of the options that had to be left out on the way */
    bool learned;      /* accesses to words that are at peace are no steps: all words but these */
    uint32_t *contended;
    size_t contendeds;
};

struct explore_finding {
    enum explore_error error;
    uint32_t thread, pc; /* pc 0: of no place, as of a deadlock */
    char text[256];      /* "x == 1" and the like */
    struct explore_path path;
};

enum explore_verdict { EXPLORE_PASS, EXPLORE_FAIL, EXPLORE_UNDECIDED };

struct explore_result {
    enum explore_verdict verdict;
    char note[256]; /* why UNDECIDED; notes on a PASS: threads not joined at the exit */
    struct explore_progress at_end;
    uint64_t stored_bytes; /* of the tables, for bytes a state */
    struct explore_finding *finding;
    size_t findings;
    uint32_t *outcome; /* rows of `outcomes` values, sorted, each once */
    size_t outcome_rows;
};

/* ORDEAL_OK with a result, or an error: bad options, no memory, a bad checkpoint. */
enum ordeal_status explore(const struct image *image, const struct explore_options *options,
                           struct explore_result **result, struct ordeal_error *error);
void explore_result_free(struct explore_result *r);

/* Follows a path and tells its events, and after each step what the threads' registers, buffers and
 * memory hold, to who asks. */
struct explore_view; /* of the state between two steps */
uint32_t explore_view_threads(const struct explore_view *v);
bool explore_view_thread(const struct explore_view *v, uint32_t thread, uint32_t *pc,
                         const uint32_t **registers, const char **status);
uint32_t explore_view_read(const struct explore_view *v, uint32_t address, uint32_t size);
/* The k-th entry of a thread's buffer, oldest first; false: there is none. */
struct explore_entry {
    uint32_t address, size, value, pc;
    bool flushed;
};
bool explore_view_entry(const struct explore_view *v, uint32_t thread, size_t k,
                        struct explore_entry *entry);

enum ordeal_status explore_follow(const struct image *image, const struct explore_options *options,
                                  const struct explore_path *path, struct event_list *events,
                                  void (*after)(void *user, size_t step,
                                                const struct explore_view *v),
                                  void *user, struct ordeal_error *error);
void explore_events_free(struct event_list *events);

#endif
