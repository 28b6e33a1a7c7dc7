/* SPDX-License-Identifier: Apache-2.0 */
/* TSO and PSO with buffers of any size: what waits in a buffer is a regular language (automaton.h).
 * Under TSO a thread has one buffer, under PSO one for each variable, of which only those are told
 * that differ from all others: `rest` is what the others hold, marks of fences alone.
 *
 * What is symbolic is only what waits: a load draws which of the values it can see it sees, and words
 * with which it would have seen another are left out. Fences can be put at stores without new code:
 * an mfence behind one, and an sfence before one. Under TSO a store with an mfence behind it waits until
 * the buffer is empty and writes memory at once, which is the same; under PSO it may still overtake
 * others, and it is the thread that waits. */
#ifndef PROGRAM_FENCE_MACHINE_H
#define PROGRAM_FENCE_MACHINE_H

#include "automaton.h"
#include "memory_model.h"
#include "word_table.h"

enum { FENCE_MARK = 0 }; /* the symbol of an sfence; others are stores */
enum { FENCE_AFTER_STORE = 1, FENCE_BEFORE_STORE = 2 }; /* mfence, sfence */
enum { FENCE_VARIABLES = 64, FENCE_VALUES = 64 }; /* of a thread's buffers; that a load may see */

/* A store as it waits: what a symbol stands for. */
struct fence_store {
    uint32_t address, size, value, pc;
};

struct fence_variable {
    uint32_t address, size; /* 0, 0 under TSO */
    uint32_t language;
};
struct fence_buffer {
    uint32_t count, rest;
    bool drains; /* PSO: the thread is at an mfence */
    struct fence_variable of[FENCE_VARIABLES];
};
/* fence_attack.c: who delays which store, who has been reached by the chain, and what was accessed. */
enum { FENCE_CHAIN = 64 };
struct fence_attack {
    uint32_t phase, thread, address, size, chain, words;
    struct {
        uint32_t address, how;
    } word[FENCE_CHAIN];
};
struct fence_buffers {
    uint32_t threads; /* those from here on have nothing waiting */
    struct fence_attack attack;
    struct fence_buffer of[EXPLORE_THREADS];
};

/* What happens to buffers while a path is looked at. */
enum fence_event_kind {
    FENCE_STORED,
    FENCE_COMMITTED,
    FENCE_LOADED,  /* from memory, while something waits */
    FENCE_WRITTEN, /* at once, while something waits: an atomic */
    FENCE_EMPTY,
};
struct fence_event {
    enum fence_event_kind kind;
    uint32_t thread, pc, symbol;
};

struct fence_machine {
    const struct program_code *code;
    struct automata *automata;
    struct word_table stores;  /* by symbol; number 0 is FENCE_MARK */
    struct word_table vectors; /* contents of all buffers */
    uint8_t *fence;            /* FENCE_..., by instruction */
    struct fence_buffers *scratch[2];
    bool robust; /* attacks are looked for: fence_attack.c */
    struct memory_model attacks;
    /* Final values (options->outcomes) that are an error; NULL: none are. */
    bool (*wrong)(void *user, const uint32_t *row);
    void *user;
    bool watching;
    struct fence_event *event;
    size_t events, event_capacity;
};

bool fence_machine_new(struct fence_machine *m, const struct program_code *code);
void fence_machine_free(struct fence_machine *m);
size_t fence_machine_bytes(const struct fence_machine *m);
struct fence_store fence_store_of(const struct fence_machine *m, uint32_t symbol);

/* A fence at all stores that come from the same place of the source as the one at `pc`, or none. Where
 * no function was put into another every store is a place of its own. */
void fence_machine_set(struct fence_machine *m, uint32_t pc, uint8_t fence, bool there);
bool fence_same_place(const struct program_code *c, uint32_t pc, uint32_t other);

/* Contents of all buffers as a number, and back into a state. */
uint32_t fence_buffers_number(struct fence_machine *m, const struct fence_buffers *b);
void fence_buffers_read(const struct fence_machine *m, uint32_t number, struct fence_buffers *b);
bool fence_buffers_include(struct fence_machine *m, uint32_t big, uint32_t small);

/* A thread alone moved from `before` to `now` and has come back to where it was: if all its buffers grew
 * by a word with which they ended before, the way can be gone again and again (Theorem 1: of each
 * variable by itself). False: that is not so. */
bool fence_accelerate(struct fence_machine *m, uint32_t thread, const struct fence_buffers *before,
                      struct fence_buffers *now);

/* For fence_attack.c: a load, and whether some of it was in the own buffer; an mfence behind a store. */
uint32_t fence_load_seen(struct state *s, const struct access *a, bool *forwarded);
bool fence_is_behind(const struct state *s, uint32_t pc);
struct memory_model fence_attack_model(void);
extern const char fence_not_sc[]; /* the text of its error */

#endif
