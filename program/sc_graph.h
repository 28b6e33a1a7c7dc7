/* SPDX-License-Identifier: Apache-2.0 */
/* What a program can do under sequential consistency, access by access: states that were met, and of
 * each what every thread does next. A stateless search walks it again and again; each step is executed
 * once. States here are stored, not merged: who walks keeps the history. */
#ifndef PROGRAM_SC_GRAPH_H
#define PROGRAM_SC_GRAPH_H

#include "explore.h"
#include "monitor.h"

struct sc_graph;

enum { TOUCH_READ = 1, TOUCH_WRITE = 2, TOUCH_CHANGE = 4 }; /* a change is of the value, too */
struct sc_touch {
    uint32_t location;
    uint8_t how;
};

/* One access of a step, as the monitor takes it. */
struct sc_access {
    uint8_t kind; /* enum monitor_kind */
    uint32_t thread, pc;
    uint32_t first, locations; /* in sc_locations() */
};

enum sc_end {
    SC_GOES_ON,
    SC_WAITS,   /* nothing was done */
    SC_STOPS,   /* an assumption failed, or the program was left: the thread goes no further */
    SC_ERROR,   /* of the program */
    SC_UNKNOWN, /* more than the engine can do: sc_graph_note() says what */
};
enum sc_role {
    SC_PLAIN,
    SC_TAKES, /* a lock, ... */
    SC_GIVES, /* ... for which others wait */
    SC_JOINS, /* a thread, which has ended before */
};

struct sc_step {
    uint8_t end, role;
    bool access;      /* one that an interleaving counts if its memory is shared */
    bool always;      /* ... and if it is not: an atomic, a fence */
    bool resets;      /* changes memory that is not compared: no loop that comes back */
    uint32_t next;    /* state */
    uint32_t local;   /* the thread's own state after it, by number */
    uint32_t created; /* thread that begins, plus one */
    uint32_t touch, touches;
    uint32_t access_first, accesses;
    enum explore_error error;
    uint32_t pc;
    char *text; /* of an error */
};

/* NULL: no memory. Shared memory is words, or bytes if `bytes`. */
struct sc_graph *sc_graph_new(const struct image *image, const struct explore_options *options,
                              bool bytes, struct ordeal_error *error);
void sc_graph_free(struct sc_graph *g);

enum { SC_START = 1 };
/* Of a thread in a state, one for each choice; NULL: it does not run. */
const struct sc_step *sc_steps(struct sc_graph *g, uint32_t state, uint32_t thread,
                               uint32_t *count);
uint32_t sc_threads(struct sc_graph *g, uint32_t state); /* those from here on are free */
bool sc_ended(struct sc_graph *g, uint32_t state,
              uint32_t thread); /* or stands in a loop for ever */
const struct sc_touch *sc_touches(const struct sc_graph *g);
const struct sc_access *sc_accesses(const struct sc_graph *g);
const uint32_t *sc_locations(const struct sc_graph *g);
uint32_t sc_location_count(const struct sc_graph *g);
/* The choices of one step, for a path. */
uint32_t sc_choices(struct sc_graph *g, uint32_t state, uint32_t thread, uint32_t which,
                    uint32_t *drawn, uint32_t most);

/* Why it cannot go on: it must be made anew with bytes, without dynamic locality, or not at all. */
enum sc_trouble { SC_FINE, SC_WANTS_BYTES, SC_STRANGE, SC_NO_MEMORY };
enum sc_trouble sc_trouble(const struct sc_graph *g);
const char *sc_graph_note(const struct sc_graph *g);
uint64_t sc_graph_states(const struct sc_graph *g);
bool sc_graph_mixed(const struct sc_graph *g); /* bytes and wider accesses of the same memory */
size_t sc_graph_bytes(const struct sc_graph *g);

#endif
