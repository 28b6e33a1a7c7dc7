/* SPDX-License-Identifier: Apache-2.0 */
/* What the oracle's machines have in common: the program they run, and what a machine is.
 *
 * A program is a list of atoms: what a machine performs in one moment. A load, a store, a swap, a
 * committed transaction is one atom; an access too wide to be atomic is one atom per granule.
 * Sets of atoms are bit sets. */
#ifndef ORACLE_MACHINE_H
#define ORACLE_MACHINE_H

#include "oracle.h"

enum { MAX_ATOMS = 64, MAX_ACCESSES = 256, MAX_GRANULES = 32 };
enum { MAX_STATE = 2 + ORACLE_THREADS + MAX_ATOMS + ORACLE_THREADS * MAX_GRANULES };

typedef uint64_t atom_set;
static inline atom_set only(unsigned atom) { return (atom_set)1 << atom; }
static inline unsigned first_of(atom_set set) { return (unsigned)__builtin_ctzll(set); }
static inline unsigned last_of(atom_set set) { return 63 - (unsigned)__builtin_clzll(set); }

struct granule { unsigned address, size; };
struct access { bool store; unsigned op, granule; uint64_t value; };
struct atom { unsigned thread, access_first, access_count; };

enum flavour { LOAD_LOAD, LOAD_STORE, STORE_LOAD, STORE_STORE, FLAVOURS };

struct program {
    struct oracle_execution *x;
    bool recording;                       /* loads take what they find, and note it in x */
    unsigned threads, granules, atoms, accesses;
    struct granule granule[MAX_GRANULES];
    struct access access[MAX_ACCESSES];
    struct atom atom[MAX_ATOMS];          /* thread by thread, in program order */

    atom_set loads, stores, transactions; /* a swap is both a load and a store */
    atom_set older[MAX_ATOMS];            /* earlier in program order */
    atom_set overlap[MAX_ATOMS];          /* others that touch a granule of it */
    atom_set barred[FLAVOURS][MAX_ATOMS]; /* earlier than a membar of the flavour before it */
    atom_set reads_from_register[MAX_ATOMS]; /* earlier ones that wrote a register it reads */
    atom_set ranked_before[MAX_ATOMS];    /* the execution knows that their stores were before */
    atom_set held[MAX_ATOMS];             /* RMO: those that must be performed before it */

    /* The state of a machine is an array of words: which atoms are done, then for machines with
     * views (copies of memory) what has landed where, then the contents of memory. */
    unsigned views;                       /* 0: one memory for all */
    unsigned parts;                       /* moves of an atom, see below */
    unsigned memory_at, state_words;
};

enum { DONE, OPEN, LANDED };              /* places in the state; LANDED + view */
static inline unsigned ahead_at(const struct program *p, unsigned atom)
{
    return LANDED + p->views + atom;
}

/* A move performs an atom: all at once in part 0. With views part 0 is the load, part 1 opens the
 * store (decides its place in the order of its words), part 2 + v lands it in view v. */
enum { WHOLE = 0, LOADING = 0, OPENING = 1, LANDING = 2 };
struct move { unsigned atom, part; };

struct machine {
    bool views;
    void (*prepare)(struct program *p);   /* may be NULL */
    bool (*ready)(const struct program *p, const uint64_t *state, struct move m);
    /* Of a move that is ready: nothing is lost by making it at once. */
    bool (*free)(const struct program *p, const uint64_t *state, struct move m);
    /* False: the values read are others than the execution has. The state is then spoilt, unless
     * the atom only loads. */
    bool (*perform)(struct program *p, uint64_t *state, struct move m);
    bool (*finished)(const struct program *p, const uint64_t *state);
};
extern const struct machine *const oracle_machines[ORACLE_MODELS];
extern const struct machine oracle_sc, oracle_tso, oracle_pso, oracle_pc, oracle_rmo;

/* False: too large. */
bool oracle_program(struct program *p, struct oracle_execution *x, bool recording, bool views);
void oracle_initial_state(const struct program *p, uint64_t *state);

/* Of a CAS whose result is not known before it runs, the store takes place only after a match. */
bool oracle_takes_place(const struct program *p, const struct access *a);
/* What a store writes; of an AMO it depends on what that read. */
uint64_t oracle_stored(const struct program *p, const struct access *a);
/* A load's access: its value is that of the youngest of the `buffered` stores to the granule, else
 * what is in memory. */
bool oracle_load(struct program *p, const struct access *a, atom_set buffered,
                 const uint64_t *memory);
/* A load changes nothing for others, and what follows it is free the sooner. */
static inline bool oracle_only_loads(const struct program *p, unsigned atom)
{
    return (p->loads & ~p->stores & only(atom)) != 0;
}

/* All of an atom at once on the one memory. */
bool oracle_whole_is_free(const struct program *p, const uint64_t *state, struct move m);
bool oracle_perform_whole(struct program *p, uint64_t *state, struct move m);
bool oracle_all_done(const struct program *p, const uint64_t *state);

#endif
