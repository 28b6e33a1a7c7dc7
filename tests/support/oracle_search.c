/* SPDX-License-Identifier: Apache-2.0 */
/* Running a machine: through all its states for a verdict, along one random path for values. */
#include "oracle_machine.h"

#include <stdlib.h>
#include <string.h>

const struct machine *const oracle_machines[ORACLE_MODELS] = {
    [ORACLE_SC] = &oracle_sc, [ORACLE_TSO] = &oracle_tso, [ORACLE_PSO] = &oracle_pso,
    [ORACLE_PC] = &oracle_pc, [ORACLE_RMO] = &oracle_rmo,
};

uint64_t oracle_random(uint64_t *state, uint64_t bound)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % bound;
}

/* ---- states seen before ----------------------------------------------------------------- */

struct seen {
    unsigned words;                       /* of one state */
    size_t count, capacity, slots;
    uint64_t *states;
    uint32_t *slot;                       /* index + 1, 0 is empty */
};

static void *resized(void *block, size_t bytes)
{
    void *p = realloc(block, bytes);
    if (p == NULL)
        abort();
    return p;
}

static size_t slot_of(const struct seen *seen, const uint64_t *state)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < seen->words; i++) {
        hash = (hash ^ state[i]) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    }
    size_t s = hash & (seen->slots - 1);
    while (seen->slot[s] != 0
           && memcmp(seen->states + (size_t)(seen->slot[s] - 1) * seen->words, state,
                     seen->words * sizeof *state) != 0)
        s = (s + 1) & (seen->slots - 1);
    return s;
}

static void grow(struct seen *seen)
{
    seen->capacity = seen->capacity ? 2 * seen->capacity : 64;
    seen->slots = 2 * seen->capacity;
    seen->states = resized(seen->states, seen->capacity * seen->words * sizeof *seen->states);
    seen->slot = resized(seen->slot, seen->slots * sizeof *seen->slot);
    memset(seen->slot, 0, seen->slots * sizeof *seen->slot);
    for (size_t i = 0; i < seen->count; i++)
        seen->slot[slot_of(seen, seen->states + i * seen->words)] = (uint32_t)i + 1;
}

/* True when it was there already. */
static bool seen_before(struct seen *seen, const uint64_t *state)
{
    if (seen->count == seen->capacity)
        grow(seen);
    size_t s = slot_of(seen, state);
    if (seen->slot[s] != 0)
        return true;
    memcpy(seen->states + seen->count * seen->words, state, seen->words * sizeof *state);
    seen->slot[s] = (uint32_t)++seen->count;
    return false;
}

/* ---- all states ------------------------------------------------------------------------- */

struct search {
    const struct machine *machine;
    struct program program;
    struct seen seen;
};

/* Does the move give the atom's stores their place in the order of stores? With views that is the
 * opening, which a swap does when it loads. */
static bool gives_place(const struct program *p, struct move m)
{
    return !p->views || m.part == OPENING
        || (m.part == LOADING && (p->stores & only(m.atom)) != 0);
}

/* Ready, and no store of a known order overtakes one before it. */
static bool may_move(const struct search *s, const uint64_t *state, struct move m)
{
    const struct program *p = &s->program;
    atom_set before = gives_place(p, m) ? p->ranked_before[m.atom] : 0;
    return (before & ~state[p->views ? OPEN : DONE]) == 0 && s->machine->ready(p, state, m);
}

/* Make every move that loses nothing. */
static void settle(struct search *s, uint64_t *state)
{
    struct program *p = &s->program;
    for (bool moved = true; moved;) {
        moved = false;
        for (unsigned a = 0; a < p->atoms; a++)
            for (unsigned part = 0; part < p->parts; part++) {
                struct move m = { a, part };
                if (may_move(s, state, m) && s->machine->free(p, state, m))
                    moved |= s->machine->perform(p, state, m);
            }
    }
}

/* At the end all copies of memory are equal, the first speaks for all. */
static void read_memory(const struct program *p, const uint64_t *state, uint8_t *bytes)
{
    memcpy(bytes, p->x->initial, ORACLE_MEMORY);
    for (unsigned g = 0; g < p->granules; g++)
        for (unsigned i = 0; i < p->granule[g].size; i++)
            bytes[p->granule[g].address + i] = (uint8_t)(state[p->memory_at + g] >> 8 * i);
}

static bool leaves_final_values(const struct program *p, const uint64_t *state)
{
    uint8_t bytes[ORACLE_MEMORY];
    read_memory(p, state, bytes);
    for (unsigned i = 0; i < ORACLE_MEMORY; i++)
        if (p->x->final_known[i] && p->x->final[i] != bytes[i])
            return false;
    return true;
}

static bool reaches_end(struct search *s, uint64_t *state)
{
    struct program *p = &s->program;
    settle(s, state);
    if (s->machine->finished(p, state))
        return leaves_final_values(p, state);
    if (seen_before(&s->seen, state))
        return false;
    for (unsigned a = 0; a < p->atoms; a++)
        for (unsigned part = 0; part < p->parts; part++) {
            struct move m = { a, part };
            uint64_t next[MAX_STATE];
            if (!may_move(s, state, m))
                continue;
            memcpy(next, state, p->state_words * sizeof *state);
            if (s->machine->perform(p, next, m) && reaches_end(s, next))
                return true;
        }
    return false;
}

static bool prepare(struct program *p, const struct machine *machine, struct oracle_execution *x,
                    bool recording)
{
    if (!oracle_program(p, x, recording, machine->views))
        return false;
    if (machine->prepare)
        machine->prepare(p);
    return true;
}

bool oracle_legal(enum oracle_model model, const struct oracle_execution *x)
{
    struct search s = { .machine = oracle_machines[model] };
    struct oracle_execution copy = *x;
    uint64_t state[MAX_STATE];
    if (!prepare(&s.program, s.machine, &copy, false))
        abort();
    s.seen.words = s.program.state_words;
    oracle_initial_state(&s.program, state);
    bool legal = reaches_end(&s, state);
    free(s.seen.states);
    free(s.seen.slot);
    return legal;
}

bool oracle_fits(const struct oracle_execution *x)
{
    struct program p;
    struct oracle_execution copy = *x;
    return oracle_program(&p, &copy, true, false) && oracle_program(&p, &copy, false, false);
}

/* ---- one path --------------------------------------------------------------------------- */

enum { PRIORITIES = 1 << 20 };

static void note_ranks(struct program *p, struct move m, unsigned *rank)
{
    const struct atom *atom = &p->atom[m.atom];
    for (unsigned i = 0; gives_place(p, m) && i < atom->access_count; i++) {
        const struct access *a = &p->access[atom->access_first + i];
        struct oracle_op *op = &p->x->op[a->op];
        if (a->store && oracle_takes_place(p, a) && op->size <= p->x->atomic)
            op->rank = ++*rank;
    }
}

/* Every move has a priority, and mostly the highest goes first: some are then delayed for long,
 * which is where the models differ. */
static bool next_move(const struct machine *machine, const struct program *p,
                      const uint64_t *state, const uint64_t *priority, uint64_t *random_state,
                      struct move *next)
{
    bool by_priority = oracle_random(random_state, 8) != 0, found = false;
    uint64_t highest = 0;
    for (unsigned i = 0; i < p->atoms * p->parts; i++) {
        struct move m = { i / p->parts, i % p->parts };
        if (!machine->ready(p, state, m))
            continue;
        uint64_t value = by_priority ? priority[i] : oracle_random(random_state, PRIORITIES);
        if (!found || value > highest) {
            *next = m;
            highest = value;
        }
        found = true;
    }
    return found;
}

/* False: stuck, with moves left. */
static bool run_to_end(const struct machine *machine, struct program *p, uint64_t *random_state)
{
    uint64_t state[MAX_STATE], priority[MAX_ATOMS * (LANDING + ORACLE_THREADS)];
    unsigned rank = 0;
    struct move m;
    for (unsigned i = 0; i < p->atoms * p->parts; i++)
        priority[i] = oracle_random(random_state, PRIORITIES);
    for (unsigned i = 0; i < p->x->ops; i++)
        p->x->op[i].rank = 0;
    oracle_initial_state(p, state);
    while (!machine->finished(p, state)) {
        if (!next_move(machine, p, state, priority, random_state, &m))
            return false;
        machine->perform(p, state, m);
        note_ranks(p, m, &rank);
    }
    read_memory(p, state, p->x->final);
    return true;
}

void oracle_run(enum oracle_model model, struct oracle_execution *x, uint64_t *random_state)
{
    struct program p;
    if (!prepare(&p, oracle_machines[model], x, true))
        abort();
    /* Two swaps of PC may wait for each other for ever: then another schedule. */
    while (!run_to_end(oracle_machines[model], &p, random_state))
        ;
}
