/* SPDX-License-Identifier: Apache-2.0 */
/* PC: each thread has a copy of memory, a store lands in one after the other (thesis Fig. 2.5).
 *
 * Stores leave the buffer in order, the next when the one before has landed everywhere. A store
 * is opened when its turn comes; the stores to a word land in every copy in the order in which they
 * were opened, which is coherence. A swap opens its store as it loads, when no other store to the
 * word is on its way: none can then land between (Atomicity). */
#include "oracle_machine.h"

static bool in(atom_set set, unsigned atom) { return set >> atom & 1; }

static atom_set landed_everywhere(const struct program *p, const uint64_t *state)
{
    atom_set landed = p->stores;
    for (unsigned v = 0; v < p->views; v++)
        landed &= state[LANDED + v];
    return landed;
}

static bool load_ready(const struct program *p, const uint64_t *state, unsigned atom)
{
    atom_set complete = landed_everywhere(p, state);
    atom_set waiting = p->older[atom] & p->stores & ~complete;
    if (!in(p->loads, atom) || in(state[DONE], atom))
        return false;
    if (p->older[atom] & p->loads & ~state[DONE] || waiting & p->barred[STORE_LOAD][atom])
        return false;
    if (in(p->stores, atom))
        return (p->overlap[atom] & (waiting | (state[OPEN] & ~complete))) == 0;
    return true;
}

/* The store is at the head of its buffer. */
static bool has_its_turn(const struct program *p, const uint64_t *state, unsigned atom)
{
    atom_set loads_first = (p->older[atom] | only(atom)) & p->loads;
    return in(p->stores, atom) && (loads_first & ~state[DONE]) == 0
        && (p->older[atom] & p->stores & ~landed_everywhere(p, state)) == 0;
}

static bool pc_ready(const struct program *p, const uint64_t *state, struct move m)
{
    switch (m.part) {
    case LOADING:
        return load_ready(p, state, m.atom);
    case OPENING:
        return has_its_turn(p, state, m.atom) && !in(state[OPEN], m.atom);
    default: {
        atom_set landed = state[LANDED + m.part - LANDING];
        return has_its_turn(p, state, m.atom) && in(state[OPEN], m.atom) && !in(landed, m.atom)
            && (state[ahead_at(p, m.atom)] & ~landed) == 0;
    }
    }
}

/* Could the thread of the view still read what is in its copy of the granule now? Only its next
 * load of the granule matters, and that only if it wants this value and takes it from the copy. */
static bool copy_is_wanted(const struct program *p, const uint64_t *state, unsigned view,
                           unsigned granule)
{
    bool own_store_waits = false;
    for (unsigned a = 0; a < p->atoms; a++) {
        const struct atom *atom = &p->atom[a];
        for (unsigned i = 0; atom->thread == view && i < atom->access_count; i++) {
            const struct access *access = &p->access[atom->access_first + i];
            if (access->granule != granule)
                continue;
            if (access->store)
                own_store_waits |= !in(state[LANDED + view], a);
            else if (!in(state[DONE], a))
                return !own_store_waits
                    && access->value == state[p->memory_at + view * p->granules + granule];
        }
    }
    return false;
}

/* A landing is free when it destroys nothing that is wanted, an opening when it has no rivals. */
static bool pc_free(const struct program *p, const uint64_t *state, struct move m)
{
    const struct atom *store = &p->atom[m.atom];
    if (m.part == LOADING)
        return oracle_only_loads(p, m.atom);
    if (m.part == OPENING)
        return (p->overlap[m.atom] & p->stores & ~state[OPEN]) == 0;
    for (unsigned i = 0; i < store->access_count; i++) {
        const struct access *access = &p->access[store->access_first + i];
        if (access->store && copy_is_wanted(p, state, m.part - LANDING, access->granule))
            return false;
    }
    return true;
}

static uint64_t *copy_of(const struct program *p, uint64_t *state, unsigned view)
{
    return state + p->memory_at + view * p->granules;
}

static void open_store(const struct program *p, uint64_t *state, unsigned atom)
{
    atom_set on_their_way = state[OPEN] & ~landed_everywhere(p, state);
    state[ahead_at(p, atom)] = p->overlap[atom] & on_their_way;
    state[OPEN] |= only(atom);
}

static bool perform_load(struct program *p, uint64_t *state, unsigned atom)
{
    const struct atom *load = &p->atom[atom];
    atom_set buffered = p->older[atom] & p->stores & ~state[LANDED + load->thread];
    for (unsigned i = 0; i < load->access_count; i++) {
        const struct access *a = &p->access[load->access_first + i];
        if (!a->store && !oracle_load(p, a, buffered, copy_of(p, state, load->thread)))
            return false;
    }
    state[DONE] |= only(atom);
    if (in(p->stores, atom))
        open_store(p, state, atom);
    return true;
}

static void perform_landing(struct program *p, uint64_t *state, unsigned atom, unsigned view)
{
    const struct atom *store = &p->atom[atom];
    for (unsigned i = 0; i < store->access_count; i++) {
        const struct access *a = &p->access[store->access_first + i];
        if (a->store && oracle_takes_place(p, a))
            copy_of(p, state, view)[a->granule] = oracle_stored(p, a);
    }
    state[LANDED + view] |= only(atom);
    if (in(landed_everywhere(p, state), atom)) /* nobody waits for it any more */
        for (unsigned a = 0; a < p->atoms; a++)
            state[ahead_at(p, a)] &= ~only(atom);
}

static bool pc_perform(struct program *p, uint64_t *state, struct move m)
{
    if (m.part == LOADING)
        return perform_load(p, state, m.atom);
    if (m.part == OPENING)
        open_store(p, state, m.atom);
    else
        perform_landing(p, state, m.atom, m.part - LANDING);
    return true;
}

static bool pc_finished(const struct program *p, const uint64_t *state)
{
    return state[DONE] == p->loads && landed_everywhere(p, state) == p->stores;
}

const struct machine oracle_pc = { .views = true, .ready = pc_ready, .free = pc_free,
                                   .perform = pc_perform, .finished = pc_finished };
