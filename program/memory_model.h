/* SPDX-License-Identifier: Apache-2.0 */
/* What a memory model is to the engine: it says of each access to shared memory whether it can be
 * done now and whether others can notice, and does it. A model is one file and one of these. */
#ifndef PROGRAM_MEMORY_MODEL_H
#define PROGRAM_MEMORY_MODEL_H

#include "state.h"

enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_FENCE, ACCESS_ATOMIC };
enum { ORDER_ACQUIRE = 2, ORDER_RELEASE = 1, FENCE_FULL = 0x33 };

struct access {
    enum access_kind kind;
    uint32_t thread, pc;
    uint32_t address; /* checked: there is memory, and it is aligned */
    uint8_t size;
    uint8_t order; /* of a fence as in struct instruction; of an atomic ORDER_... */
};

enum readiness {
    READY_QUIET, /* nobody can notice: it is joined to the step before it */
    READY_FIRST, /* as READY, or with the action after it if nothing is stored between */
    READY,
    READY_NOT, /* it waits for a move of a buffer */
};

static inline bool fence_orders(uint8_t fence, uint8_t before, uint8_t after)
{
    bool not_this = (fence & FENCE_TSO) && before == 1 && after == 2;
    return (fence >> 4 & before & 3) && (fence & after & 3) && !not_this;
}
static inline bool fence_drains(uint8_t fence) { return fence_orders(fence, 1, 2); }

struct memory_model {
    /* Its part of a state; NULL: no memory. copy() copies as much as is used. */
    void *(*make)(const struct state *s);
    void (*drop_made)(void *buffers);
    void (*copy)(const struct state *s, void *to, const void *from);
    void (*reset)(struct state *s);

    enum readiness (*look)(const struct state *s, const struct access *a);
    uint32_t (*load)(struct state *s, const struct access *a);
    void (*store)(struct state *s, const struct access *a, uint32_t value);
    void (*fence)(struct state *s, const struct access *a);
    /* An atomic is a read, and then perhaps a write in the same step. With both, `order` has what
     * either asks for. The write may find that it cannot be done yet, and blocks. */
    uint32_t (*atomic_read)(struct state *s, const struct access *a);
    void (*atomic_write)(struct state *s, const struct access *a, uint32_t value);
    /* Between these all accesses are atomic ones, and nothing else moves. */
    void (*section)(struct state *s, uint32_t thread, bool begins);

    /* What a thread's buffer may do by itself. */
    uint32_t (*moves)(const struct state *s, uint32_t thread);
    void (*move)(struct state *s, uint32_t thread, uint32_t k);

    /* Memory in [from, to) is no more. Another's store that waits there is an error, which is set.
     */
    void (*drop)(struct state *s, uint32_t thread, uint32_t from, uint32_t to);
    /* No other thread runs: empties the buffers if that leaves no choice. False: it does. */
    bool (*alone)(struct state *s, uint32_t thread);
    /* The program has ended: everything is written, in an order that is chosen. */
    void (*drain)(struct state *s);
    void (*start)(struct state *s, uint32_t thread); /* a thread begins */

    /* As words and back; `part` is a thread, or EXPLORE_THREADS for what is no thread's. */
    uint32_t (*most_words)(const struct state *s);
    uint32_t (*pack)(const struct state *s, uint32_t part, uint32_t *words);
    void (*unpack)(struct state *s, uint32_t part, const uint32_t *words, uint32_t count);

    /* A byte as the thread sees it now, for strings and people. */
    uint8_t (*peek)(const struct state *s, uint32_t thread, uint32_t address);
    bool (*entry)(const struct state *s, uint32_t thread, size_t k, struct explore_entry *entry);
};

extern const struct memory_model sc_model, tso_model, tso_delayed_model, pso_model, pslo_model,
    fence_model;
const struct memory_model *memory_model_of(const struct explore_options *o);

#endif
