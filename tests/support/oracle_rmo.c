/* SPDX-License-Identifier: Apache-2.0 */
/* RMO: anything not held back may be performed next (thesis 2.4.3).
 *
 * Loads and stores are non-blocking, the buffer is split by words; what holds an operation back
 * is the dependence order, membars and transactions. */
#include "oracle_machine.h"

static bool in(atom_set set, unsigned atom) { return set >> atom & 1; }

/* X <_d Y: the conditions 2, 3 and 4 of the definition. */
static void find_dependences(const struct program *p, atom_set dependence[MAX_ATOMS])
{
    for (unsigned y = 0; y < p->atoms; y++) {
        atom_set same_word = p->older[y] & p->overlap[y];
        atom_set direct = p->reads_from_register[y]
            | (in(p->stores, y) ? same_word : same_word & p->stores);
        dependence[y] = direct;
        for (; direct != 0; direct &= direct - 1)
            dependence[y] |= dependence[first_of(direct)];
    }
}

static atom_set held_by_membars(const struct program *p, unsigned atom)
{
    atom_set held = 0;
    if (in(p->loads, atom))
        held |= (p->barred[LOAD_LOAD][atom] & p->loads)
            | (p->barred[STORE_LOAD][atom] & p->stores);
    if (in(p->stores, atom))
        held |= (p->barred[LOAD_STORE][atom] & p->loads)
            | (p->barred[STORE_STORE][atom] & p->stores);
    return held;
}

static void rmo_prepare(struct program *p)
{
    atom_set dependence[MAX_ATOMS];
    find_dependences(p, dependence);
    for (unsigned a = 0; a < p->atoms; a++) {
        p->held[a] = (dependence[a] & p->loads)                           /* DepLoadOp */
            | (in(p->stores, a) ? dependence[a] & p->overlap[a] : 0)      /* DepOpStoreSameAddr */
            | held_by_membars(p, a)
            | (in(p->transactions, a) ? p->older[a] : p->older[a] & p->transactions);
    }
}

static bool rmo_ready(const struct program *p, const uint64_t *state, struct move m)
{
    return !in(state[DONE], m.atom) && (p->held[m.atom] & ~state[DONE]) == 0;
}

const struct machine oracle_rmo = { .prepare = rmo_prepare, .ready = rmo_ready,
                                    .free = oracle_whole_is_free,
                                    .perform = oracle_perform_whole,
                                    .finished = oracle_all_done };
