/* SPDX-License-Identifier: Apache-2.0 */
/* SC, TSO and PSO: threads execute in order, stores wait in buffers (thesis Figures 2.1 and 2.4,
 * Linden and Wolper Fig. 1).
 *
 * A load, a swap and a transaction block the thread until they are performed; a store goes into
 * the buffer and is performed when it leaves it. SC has no buffer, TSO one FIFO for a thread, PSO
 * one for each of its words. So the thread has reached what has no unperformed blocking atom before
 * it, and its buffer holds the stores on the way there that are not performed. */
#include "oracle_machine.h"

/* What is still in the buffer when the thread reaches the atom. */
static atom_set buffer(const struct program *p, const uint64_t *state, unsigned atom)
{
    return p->older[atom] & p->stores & ~state[DONE];
}

static bool reached(const struct program *p, const uint64_t *state, unsigned atom,
                    atom_set blocking)
{
    return (state[DONE] & only(atom)) == 0 && (p->older[atom] & blocking & ~state[DONE]) == 0;
}

static bool sc_ready(const struct program *p, const uint64_t *state, struct move m)
{
    return reached(p, state, m.atom, p->loads | p->stores);
}

/* Common to both kinds of buffer; `in_front` are the buffered stores that a store leaving the
 * buffer (or performing in a swap) must not overtake. */
static bool buffered_ready(const struct program *p, const uint64_t *state, unsigned atom,
                           atom_set in_front)
{
    atom_set waiting = buffer(p, state, atom), self = only(atom);
    if (!reached(p, state, atom, p->loads | p->transactions))
        return false;
    if (p->transactions & self)
        return waiting == 0;
    if (p->loads & self && waiting & p->barred[STORE_LOAD][atom])
        return false;
    return !(p->stores & self) || (waiting & in_front) == 0;
}

static bool tso_ready(const struct program *p, const uint64_t *state, struct move m)
{
    return buffered_ready(p, state, m.atom, p->stores);
}

/* A membar between stores puts a marker in all the buffers of the thread (the star of Fig. 1). */
static bool pso_ready(const struct program *p, const uint64_t *state, struct move m)
{
    return buffered_ready(p, state, m.atom,
                          p->overlap[m.atom] | p->barred[STORE_STORE][m.atom]);
}

const struct machine oracle_sc = { .ready = sc_ready, .free = oracle_whole_is_free,
                                   .perform = oracle_perform_whole,
                                   .finished = oracle_all_done };
const struct machine oracle_tso = { .ready = tso_ready, .free = oracle_whole_is_free,
                                    .perform = oracle_perform_whole,
                                    .finished = oracle_all_done };
const struct machine oracle_pso = { .ready = pso_ready, .free = oracle_whole_is_free,
                                    .perform = oracle_perform_whole,
                                    .finished = oracle_all_done };
