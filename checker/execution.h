/* SPDX-License-Identifier: Apache-2.0 */
/* The execution: a trace made ready for analysis (thesis 3.2.3).
 *
 * Loads and stores of single words ("events"), gathered in atomic groups: a plain access is a group
 * of its own, a swap is a load and a store, a committed transaction is all of its accesses. Aborted
 * transactions, prefetches, flushes and evictions are gone; CAS has become a swap or a load.
 * A group is one node of the analysis graph, which is the whole of atomicity enforcement.
 * Everything below is fixed once built; the search, the certifier and the explanation share it. */
#ifndef ORDEAL_EXECUTION_H
#define ORDEAL_EXECUTION_H

#include "trace.h"

#define NONE ORDEAL_NONE

/* GROUP_RCSC: an atomic with either mark; such keep their order among themselves. */
enum {
    GROUP_LOADS = 1,
    GROUP_STORES = 2,
    GROUP_TX = 4,
    GROUP_ACQUIRE = 8,
    GROUP_RELEASE = 16,
    GROUP_RCSC = 32,
    GROUP_CONDITIONAL = 64 /* an SC */
};

/* Stands in program order immediately before `group` (and after the group before that). */
struct barrier { uint32_t group, op; uint8_t mask; };

/* `to` depends on `from`: it reads a register that `from` wrote, or stands behind a branch that
 * does. Both are groups of one thread, from < to. `op` is the operation that says so: one of `to`, or
 * an SC before it that did not store, whose branch is there all the same. */
struct dependence {
    uint32_t from, to, op;
    uint8_t use; /* enum ordeal_register_use */
};

/* An SC that stored, and its LR: the loads [first, end), which saw stores that no other thread
 * overwrites before `group` is performed. */
struct reservation {
    uint32_t first, end, group;
};

struct final {
    uint32_t loc, first, count, source, next;
};

struct location { uint32_t base; uint8_t size_log2; uint64_t address; };

struct execution {
    struct ordeal *o;
    const struct ordeal_trace *trace;

    /* Words. Two events touch the same memory exactly when their locations are equal. */
    uint32_t locations;
    struct location *location;

    /* Events. The first `locations` are the initial stores, event i of location i, all in group
     * 0. The others follow thread by thread, in program order. */
    uint32_t events;
    bool *is_store;
    uint32_t *loc, *op, *group;        /* op: NONE for initial stores */
    uint64_t *value;

    /* Stores that each load may have seen: those of its word with its value. */
    uint32_t *candidate_first;         /* events + 1 offsets; empty ranges for stores */
    uint32_t *candidate;
    uint32_t candidates;
    bool unique;                       /* no load has several */
    uint32_t duplicate[2];             /* two stores of one word and value, or NONE */
    uint32_t unwritten;                /* a load with no candidate, or NONE */

    /* Groups: group 0 is the root; thread t owns groups [thread_first[t], thread_first[t+1]).
     * Consecutive groups with equal `instruction` are the parts of one plain access wider than
     * what is atomic, not ordered among themselves. */
    uint32_t groups;
    uint32_t *group_first;             /* groups + 1 offsets into events */
    uint8_t *group_flags;
    uint32_t *instruction;             /* running number of the instruction, per execution */
    uint32_t threads;
    uint32_t *thread_first;            /* threads + 1 */
    uint32_t *thread_of;               /* by group; NONE for the root */

    uint32_t barriers;                 /* ascending by group; group may equal thread's end */
    struct barrier *barrier;
    uint32_t dependences;              /* ascending by to */
    struct dependence *dependence;
    uint32_t reservations; /* ascending by group */
    struct reservation *reservation;

    /* Known store orders: order_first[k] .. order_first[k+1] are store events, earliest first. */
    uint32_t orders, order_stores;
    uint32_t *order_first, *order;
    bool *order_complete;              /* by location: it has < 2 stores, or a list has all */

    /* Final values, one for each word they cover: the last store of `loc` is one of those that
     * wrote the value there, final_store[first .. first + count). `source`: in trace->finals;
     * `next`: of the same word, or NONE. */
    uint32_t finals, final_stores;
    struct final *final;
    uint32_t *final_of; /* by location: the first of its finals, or NONE */
    uint32_t *final_store;
    uint32_t unwritten_final;          /* a final whose value nobody wrote there, or NONE */

    /* Cycles, by group; begin is 0 and end UINT64_MAX where unknown. NULL: no cycles at all. */
    uint64_t *begin, *end;
};

/* ORDEAL_BAD_INPUT when the trace makes no sense (a load without a value, a thread that ends inside
 * a transaction, two initial values for one byte, an order that names no store, …). */
enum ordeal_status execution_build(const struct ordeal_trace *t, struct execution **out);
/* The same over a subset of the trace's operations: keep[i] says whether op i stays. Used for
 * cores; line numbers, ops and locations' names stay those of the trace. What orders say of
 * stores no longer there vanishes with them, and so do final values of words no longer accessed;
 * finals[k] says whether the trace's k-th goes on being asked for where it is accessed, NULL: all.
 * Brackets stay with what they enclose; a transaction with nothing in it is a barrier if its TX.END
 * stays. */
enum ordeal_status execution_build_subset(const struct ordeal_trace *t, const bool *keep,
                                          const bool *finals, struct execution **out);
/* The part of `whole` that stands for it: with those final values that hold for the part, too,
 * because all that may have left them stay. */
enum ordeal_status execution_build_part(const struct execution *whole, const bool *keep,
                                        struct execution **out);
void execution_free(struct execution *x);

/* The word's name, "A", "A+4", "0x80001040"; as snprintf. */
int execution_location_name(const struct execution *x, uint32_t loc, char *buffer, size_t size);

/* The store a load saw, when there is exactly one candidate; else NONE. */
static inline uint32_t source_of(const struct execution *x, uint32_t load)
{
    assert_hot(load < x->events);
    uint32_t c = x->candidate_first[load];
    return x->candidate_first[load + 1] == c + 1 ? x->candidate[c] : NONE;
}
static inline bool is_initial(const struct execution *x, uint32_t event)
{
    return event < x->locations;
}
/* The store that a final value must come from; NONE when several may have written it. The initial
 * store is last only where there is no other. */
static inline uint32_t last_store(const struct execution *x, uint32_t final)
{
    assert(final < x->finals);
    const struct final *f = &x->final[final];
    uint32_t only = NONE;
    for (uint32_t i = f->first; i < f->first + f->count; i++)
        if (only == NONE || is_initial(x, only))
            only = x->final_store[i];
        else if (!is_initial(x, x->final_store[i]))
            return NONE;
    return only;
}
/* What of the trace's final value lies in the word. */
uint64_t execution_final_value(const struct execution *x, const struct final *f);
/* A final value that several stores, this one among them, may have left. */
static inline const struct final *open_final_of(const struct execution *x, uint32_t store)
{
    uint32_t k = x->final_of[x->loc[store]];
    while (last_store(x, k) != NONE)
        k = x->final[k].next;
    return &x->final[k];
}
static inline bool open_finals(const struct execution *x)
{
    for (uint32_t k = 0; k < x->finals; k++)
        if (x->final[k].count > 1 && last_store(x, k) == NONE)
            return true;
    return false;
}
/* The reservation that an SC used; NULL: the group is no SC, or its LR is not among those kept. */
static inline const struct reservation *reservation_of(const struct execution *x, uint32_t group)
{
    uint32_t low = 0, high = x->reservations;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->reservation[middle].group < group)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < x->reservations && x->reservation[low].group == group;
    return found ? &x->reservation[low] : NULL;
}
/* The load is an LR's whose SC stored. Reservations ascend by that, too. */
static inline bool is_reserving(const struct execution *x, uint32_t load)
{
    uint32_t low = 0, high = x->reservations;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->reservation[middle].end <= load)
            low = middle + 1;
        else
            high = middle;
    }
    return low < x->reservations && x->reservation[low].first <= load;
}
/* Something was seen that nobody wrote: no order can mend that. */
static inline bool refuted_by_value(const struct execution *x)
{
    return x->unwritten != NONE || x->unwritten_final != NONE;
}
/* Its store is not forwarded to loads of its thread: they see it in memory, or what came after. */
static inline bool is_atomic(const struct execution *x, uint32_t group)
{
    uint8_t flags = x->group_flags[group], both = GROUP_LOADS | GROUP_STORES;
    return flags & GROUP_CONDITIONAL || (flags & both) == both;
}
static inline uint32_t event_thread(const struct execution *x, uint32_t event)
{
    return x->thread_of[x->group[event]];
}
/* `a; b`: a earlier than b in the program order of one thread (not words of one access). */
static inline bool program_order(const struct execution *x, uint32_t a, uint32_t b)
{
    uint32_t g = x->group[a], h = x->group[b];
    if (g == h)
        return a < b;
    return x->thread_of[g] != NONE && x->thread_of[g] == x->thread_of[h] && g < h
        && x->instruction[g] != x->instruction[h];
}

#endif
