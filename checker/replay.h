/* SPDX-License-Identifier: Apache-2.0 */
/* A test made ready to be replayed: what is the same in all its executions (replay_shape.c), where
 * the values of one came from (replay_table.c, replay_resolve.c), and the machine that does it again (replay.c).
 *
 * The machine is TSO's: each thread does its loads in program order, and its stores wait in a queue
 * until they are performed, first in, first out. SC's has the queue empty before every load. What
 * these two do, weaker models' machines can do too.
 *
 * Words, stores and loads (of a word each) are numbered. The first stores are the initial ones, one
 * a word; those of a thread are neighbours and in program order, and so are its loads. */
#ifndef ORDEAL_REPLAY_H
#define ORDEAL_REPLAY_H

#include "execution.h"

/* The stores of a word by value: open addressing in table[first .. first + last]. Values that
 * several stores write are not there. */
struct replay_word {
    uint32_t first, last;
    uint8_t shift;             /* of the hash */
    bool computed;             /* an AMO writes it: its part of the table is made anew each time */
};

struct replay_load {
    uint32_t slot;             /* the value is in this one of those given… */
    uint8_t above, shift;      /* … moved up by so many bits, which are other words', then down */
    bool special;              /* the first of a group that is not this load alone */
    uint8_t joined;            /* the last of so many loads done at once; 0: it is not, or alone */
    uint32_t word;
    uint32_t own;              /* the youngest own store to the word before it, or NONE */
    uint32_t younger;          /* the first own store that is not before it in program order */
    uint32_t drain;            /* own stores below this are performed before it */
};

struct replay_store {
    uint32_t word;
    uint32_t issue;            /* performed after loads below this; NONE: together with a load */
    uint32_t end;              /* of the stores performed at once, this being the first */
    uint32_t own;              /* the own store to the word before it, or NONE */
    uint32_t swapped;          /* of a swap, CAS or AMO: its load of the word, or NONE */
    uint32_t group;
};

/* What is done at once: loads, and then stores. */
struct replay_group { uint32_t load, load_end, store, store_end; };

/* The stores happen if the value in `slot` is the one compared with. */
struct replay_cas {
    uint32_t slot, store, store_end;
    uint32_t compare_slot;     /* which was loaded into this one; NONE: it is `compare` */
    uint64_t compare, mask;
};

/* A word that an AMO writes: of its function of the value in `slot` what is left under the mask
 * after the shift. */
struct replay_amo {
    uint32_t slot, store;
    uint8_t function, size_log2, shift;
    uint64_t operand, mask;
};

/* What a word holds when all is done is in `slot`, cut out as a load's value is. */
struct replay_final {
    uint32_t slot, word;
    uint8_t above, shift;
    bool still; /* nobody stores to the word */
};

/* A load of this execution: done when the cell (a word of memory, or one that holds NONE) holds
 * `expect` and own stores below `drain` are performed. SPECIAL in `drain`: see its group. */
struct replay_act { uint32_t cell, expect, source, drain; };
#define SPECIAL (UINT32_C(1) << 31)

struct replay_state {
    uint32_t pending;          /* loads that see this store and are not yet done */
    uint32_t position;         /* on the trail, once it is performed */
    uint32_t earlier, more;    /* a store of another thread that is before it; a list of others;
                                  0: none */
};
struct replay_more { uint32_t earlier, next; };

/* What was done: a store, and what its word held before; or loads of a thread, which is given with
 * SPECIAL added, from `before` on. */
struct replay_done { uint32_t what, before; };

struct replay_thread {
    uint32_t load_first, load_end, store_first, store_end;
    uint32_t load, store;      /* the next ones to be done */
    uint32_t wanted;           /* stores below this are wanted */
    uint32_t drained;          /* stores below this were reckoned with */
};

struct ordeal_replay {
    struct ordeal *o;
    uint32_t words, stores, loads, threads, groups, finals, cas_count, swap_count, amo_count;
    uint32_t cas_most, table_size, more_most;
    uint32_t table_fixed, tabled_fixed; /* below these they are the same in all executions */
    size_t latest_size, last_size, known_size;
    struct replay_word *word;
    struct replay_load *load;
    uint32_t *group_of;        /* by load */
    struct replay_store *store;
    uint32_t *thread_of;       /* by store; of initial ones it is `threads` */
    uint64_t *value;           /* by store; of AMOs as in the execution at hand */
    struct replay_group *group; /* as numbered in the execution */
    struct replay_cas *cas;
    struct replay_amo *amo;
    uint32_t *swap;           /* stores of swaps, CAS and AMOs */
    uint32_t *table, *tabled; /* … and all stores, those to words that AMOs write at the end */
    struct replay_final *final;
    uint32_t *ending; /* by final and thread: the thread's last store to the word, or NONE */

    /* Of the execution at hand. */
    struct replay_act *act;    /* by load */
    struct replay_state *state; /* by store */
    struct replay_more *more;
    uint32_t more_count;
    uint32_t *standing;        /* by store: itself; of a CAS that failed, or an AMO that changed
                                  nothing, the own one before it */
    uint32_t *taken;           /* by store: the store of the swap that saw it, or 0 */
    uint32_t *target; /* by store: its word; of one that does not stand none, that is `words` */

    uint64_t *ends; /* by final: its value */

    /* What threads know to be performed while their values are traced; each has its part of these.
     * `many` are three threads or more. */
    uint32_t *seen;            /* by thread: its stores below this are */
    uint32_t *latest;          /* by word: the last such store to it, or 0; of many, by thread too */
    uint64_t *fresh;           /* of many, by word: whose latest is new, a bit a thread, … */
    uint32_t *last;            /* … since the thread's last access, which saw or made this store */
    uint32_t *known;           /* of many, by store and thread: stores below this are before it */

    struct replay_thread *thread;
    uint32_t *memory;          /* by word: the store it holds; one more cell holds NONE */
    uint32_t *need, *asked;    /* by thread, for a while: stores below this are needed; have been
                                  asked what they need */
    struct replay_done *trail;
    uint32_t trail_count;
};

/* clang-format off */
#define REPLAY_ARRAYS(r) \
    ARRAY(word, (r)->words) ARRAY(load, (r)->loads) ARRAY(group_of, (r)->loads) \
    ARRAY(store, (r)->stores) ARRAY(thread_of, (r)->stores) ARRAY(value, (r)->stores) \
    ARRAY(group, (r)->groups) ARRAY(cas, (r)->cas_most) ARRAY(swap, (r)->stores) \
    ARRAY(amo, (r)->stores) ARRAY(tabled, (r)->stores) \
    ARRAY(final, (r)->finals) ARRAY(ending, (size_t)(r)->finals * (r)->threads) \
    ARRAY(ends, (r)->finals) \
    ARRAY(act, (r)->loads) ARRAY(state, (r)->stores) ARRAY(more, (r)->more_most) \
    ARRAY(standing, (r)->stores) ARRAY(target, (r)->stores) ARRAY(taken, (r)->stores) \
    ARRAY(seen, (size_t)(r)->threads * ((r)->threads + 1)) ARRAY(latest, (r)->latest_size) \
    ARRAY(fresh, (r)->last_size) ARRAY(last, (r)->last_size) ARRAY(known, (r)->known_size) \
    ARRAY(thread, (r)->threads + 1) ARRAY(memory, (r)->words + 1) ARRAY(need, (r)->threads) \
    ARRAY(asked, (r)->threads) \
    ARRAY(trail, (r)->stores + (r)->loads)
/* clang-format on */

static inline uint32_t replay_hash(const struct replay_word *w, uint64_t value)
{
    return (uint32_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> w->shift);
}

/* It is the store of a swap or AMO, or of a CAS that did; and the store that it saw. */
static inline bool replay_is_swap(const struct ordeal_replay *r, uint32_t s)
{
    return r->store[s].swapped != NONE && r->standing[s] == s;
}
static inline uint32_t replay_swapped(const struct ordeal_replay *r, uint32_t s)
{
    return r->act[r->store[s].swapped].source;
}

/* Store `from`, of thread `thread`, is before store `to`. False: that cannot be. */
static inline bool replay_before(struct ordeal_replay *r, uint32_t from, uint32_t thread,
                                 uint32_t to)
{
    struct replay_state *state = &r->state[to];
    uint32_t i;
    assert_hot(from < r->stores && to < r->stores && r->thread_of[from] == thread);
    if (to < r->words)
        return false;
    if (r->thread_of[to] == thread)
        return from < to;
    if (state->earlier == 0 || r->thread_of[state->earlier] == thread) {
        state->earlier = from > state->earlier ? from : state->earlier;
        return true;
    }
    for (i = state->more; i && r->thread_of[r->more[i].earlier] != thread; i = r->more[i].next)
        ;
    if (i) {
        r->more[i].earlier = from > r->more[i].earlier ? from : r->more[i].earlier;
    } else if (r->more_count < r->more_most) { /* if there is no room, it is one hint less */
        r->more[r->more_count] = (struct replay_more){ from, state->more };
        state->more = r->more_count++;
    }
    return true;
}

enum ordeal_status replay_shape(struct ordeal_replay *r, const struct ordeal_trace *t,
                                enum ordeal_model model);

/* The table: made once, when all stores are there and stand; and made anew where AMOs write, when
 * their values are known and which of the stores stand. */
enum ordeal_status replay_table_make(struct ordeal_replay *r);
void replay_table_renew(struct ordeal_replay *r);

/* Fill in act, state, standing and target; `thorough`: more about the order of stores, in twice the
 * time. False: it cannot have been, or a value does not tell its store. */
bool replay_resolve(struct ordeal_replay *r, const uint64_t *values, bool thorough);

/* After ordeal_replay_passes was true: all groups but the root, as the machine performed them. */
void replay_order(const struct ordeal_replay *r, uint32_t *order);

#endif
