/* SPDX-License-Identifier: Apache-2.0 */
/* From an execution to the program of atoms that the machines run. */
#include "oracle_machine.h"

#include <stdlib.h>
#include <string.h>

static bool is_access(const struct oracle_op *op) { return op->kind <= ORACLE_AMO; }

static bool reads(const struct oracle_op *op) { return is_access(op) && op->kind != ORACLE_STORE; }

static bool matches(const struct oracle_op *op)
{
    return memcmp(op->read, op->compare, op->size) == 0;
}

/* Operations without effect: prefetches and the like, and everything in aborted transactions. */
static void find_dropped(const struct oracle_execution *x, bool dropped[ORACLE_OPS])
{
    unsigned depth[ORACLE_THREADS] = { 0 }, begin[ORACLE_THREADS][ORACLE_OPS];
    for (unsigned i = 0; i < x->ops; i++) {
        const struct oracle_op *op = &x->op[i];
        unsigned t = op->thread;
        dropped[i] = op->kind == ORACLE_NOTHING;
        if (op->kind == ORACLE_TX_BEGIN)
            begin[t][depth[t]++] = i;
        if (op->kind == ORACLE_TX_END)
            depth[t]--;
        if (op->kind == ORACLE_TX_ABORT)
            for (unsigned k = begin[t][--depth[t]]; k <= i; k++)
                dropped[k] = dropped[k] || x->op[k].thread == t;
    }
}

static bool disjoint_or_inside(unsigned block, unsigned size, const struct oracle_op *op)
{
    bool disjoint = block + size <= op->address || op->address + op->size <= block;
    bool inside = op->address <= block && block + size <= op->address + op->size;
    return disjoint || inside;
}

/* Granules: aligned blocks that no access cuts, no larger than a value or what happens at once. */
static bool find_granules(struct program *p, const bool dropped[ORACLE_OPS])
{
    const struct oracle_execution *x = p->x;
    for (unsigned address = 0; address < ORACLE_MEMORY;) {
        unsigned size = x->atomic < 8 ? x->atomic : 8;
        bool touched = false;
        while (address % size != 0)
            size /= 2;
        for (unsigned i = 0; i < x->ops; i++)
            if (is_access(&x->op[i]) && !dropped[i])
                while (!disjoint_or_inside(address, size, &x->op[i]))
                    size /= 2;
        for (unsigned i = 0; i < x->ops; i++)
            touched |= is_access(&x->op[i]) && !dropped[i] && x->op[i].address <= address
                && address < x->op[i].address + x->op[i].size;
        if (touched) {
            if (p->granules == MAX_GRANULES)
                return false;
            p->granule[p->granules++] = (struct granule){ address, size };
        }
        address += size;
    }
    return true;
}

static uint64_t bytes_at(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static uint64_t value_of(const struct program *p, unsigned op, unsigned granule, bool store)
{
    const struct oracle_op *o = &p->x->op[op];
    const struct granule *g = &p->granule[granule];
    uint8_t written[ORACLE_WIDEST];
    oracle_written(o, written);
    return bytes_at((store ? written : o->read) + (g->address - o->address), g->size);
}

uint64_t oracle_stored(const struct program *p, const struct access *a)
{
    return value_of(p, a->op, a->granule, true);
}

static bool add_access(struct program *p, unsigned op, unsigned granule, bool store)
{
    struct atom *atom = &p->atom[p->atoms - 1];
    if (p->accesses == MAX_ACCESSES)
        return false;
    p->access[p->accesses++] = (struct access){ store, op, granule,
                                                value_of(p, op, granule, store) };
    atom->access_count++;
    *(store ? &p->stores : &p->loads) |= only(p->atoms - 1);
    return true;
}

static bool add_atom(struct program *p, unsigned thread)
{
    if (p->atoms == MAX_ATOMS)
        return false;
    p->atom[p->atoms++] = (struct atom){ thread, p->accesses, 0 };
    return true;
}

/* The accesses of an operation to the granules in [from, to), its loads before its stores. */
static bool add_accesses(struct program *p, unsigned op, unsigned from, unsigned to)
{
    const struct oracle_op *o = &p->x->op[op];
    bool stores = o->kind == ORACLE_STORE || o->kind == ORACLE_SWAP || o->kind == ORACLE_AMO
               || (o->kind == ORACLE_CAS && (p->recording || matches(o)));
    for (int store = 0; store <= 1; store++) {
        if (!(store ? stores : reads(o)))
            continue;
        for (unsigned g = 0; g < p->granules; g++)
            if (from <= p->granule[g].address && p->granule[g].address < to
                && !add_access(p, op, g, store))
                return false;
    }
    return true;
}

static atom_set atoms_from(const struct program *p, unsigned first)
{
    atom_set set = 0;
    for (unsigned a = first; a < p->atoms; a++)
        set |= only(a);
    return set;
}

struct thread_state {
    atom_set before[FLAVOURS];            /* what stood before the latest membar of the flavour */
    atom_set writer[ORACLE_REGISTERS];
    unsigned first, depth;
    unsigned transaction;                 /* the atom of the one that is open, or NOTHING_YET */
};
enum { NOTHING_YET = MAX_ATOMS };

/* One instruction's atoms, outside of transactions: several where it is a plain access wider than
 * what is single-copy atomic. */
static bool add_instruction(struct program *p, unsigned op)
{
    const struct oracle_op *o = &p->x->op[op];
    bool plain = o->kind == ORACLE_LOAD || o->kind == ORACLE_STORE;
    unsigned part = plain && o->size > p->x->atomic ? p->x->atomic : o->size;
    for (unsigned at = o->address; at < o->address + o->size; at += part)
        if (!(add_atom(p, o->thread) && add_accesses(p, op, at, at + part)))
            return false;
    return true;
}

static void note_order(struct program *p, struct thread_state *t, unsigned first)
{
    for (unsigned a = first; a < p->atoms; a++) {
        p->older[a] = atoms_from(p, t->first) & ~atoms_from(p, first);
        for (int f = 0; f < FLAVOURS; f++)
            p->barred[f][a] = t->before[f];
    }
}

static void note_registers(struct program *p, struct thread_state *t, const struct oracle_op *op,
                           unsigned first)
{
    atom_set atoms = atoms_from(p, first);
    for (unsigned r = 0; r < ORACLE_REGISTERS; r++)
        if (op->registers_read >> r & 1)
            for (unsigned a = first; a < p->atoms; a++)
                p->reads_from_register[a] |= t->writer[r] & ~atoms;
    for (unsigned r = 0; r < ORACLE_REGISTERS; r++)
        if (op->registers_written >> r & 1)
            t->writer[r] = atoms;
}

static void pass_barrier(const struct program *p, struct thread_state *t, unsigned barrier)
{
    static const unsigned bit[FLAVOURS] = { ORACLE_LL, ORACLE_LS, ORACLE_SL, ORACLE_SS };
    for (int f = 0; f < FLAVOURS; f++)
        if (barrier & bit[f])
            t->before[f] = atoms_from(p, t->first);
}

static bool add_to_transaction(struct program *p, struct thread_state *t, unsigned op)
{
    const struct oracle_op *o = &p->x->op[op];
    if (t->transaction == NOTHING_YET) {
        t->transaction = p->atoms;
        if (!add_atom(p, o->thread))
            return false;
        p->transactions |= only(t->transaction);
        note_order(p, t, t->transaction);
    }
    if (!add_accesses(p, op, o->address, o->address + o->size))
        return false;
    note_registers(p, t, o, t->transaction);
    return true;
}

static bool add_access_op(struct program *p, struct thread_state *t, unsigned op)
{
    unsigned first = p->atoms;
    if (t->depth > 0)
        return add_to_transaction(p, t, op);
    if (!add_instruction(p, op))
        return false;
    note_order(p, t, first);
    note_registers(p, t, &p->x->op[op], first);
    return true;
}

static bool add_op(struct program *p, struct thread_state *t, unsigned op)
{
    const struct oracle_op *o = &p->x->op[op];
    switch (o->kind) {
    case ORACLE_TX_BEGIN:
        if (t->depth++ == 0)
            t->transaction = NOTHING_YET;
        return true;
    case ORACLE_TX_END: /* TransMembar: of an empty one the implicit membars remain */
        if (--t->depth == 0 && t->transaction == NOTHING_YET)
            pass_barrier(p, t, ORACLE_LL | ORACLE_LS | ORACLE_SL | ORACLE_SS);
        return true;
    case ORACLE_MEMBAR:
        pass_barrier(p, t, o->barrier);
        return true;
    default:
        return add_access_op(p, t, op);
    }
}

static bool add_thread(struct program *p, unsigned thread, const bool dropped[ORACLE_OPS])
{
    struct thread_state t = { .first = p->atoms };
    for (unsigned i = 0; i < p->x->ops; i++)
        if (p->x->op[i].thread == thread && !dropped[i] && !add_op(p, &t, i))
            return false;
    return true;
}

static bool touch_same(const struct program *p, const struct atom *a, const struct atom *b)
{
    for (unsigned i = 0; i < a->access_count; i++)
        for (unsigned k = 0; k < b->access_count; k++)
            if (p->access[a->access_first + i].granule == p->access[b->access_first + k].granule)
                return true;
    return false;
}

static bool ranked_before(const struct program *p, const struct atom *a, const struct atom *b)
{
    for (unsigned i = a->access_first; i < a->access_first + a->access_count; i++)
        for (unsigned k = b->access_first; k < b->access_first + b->access_count; k++) {
            const struct oracle_op *x = &p->x->op[p->access[i].op];
            const struct oracle_op *y = &p->x->op[p->access[k].op];
            bool undecided = a != b || i > k; /* inside an atom the earlier access comes first */
            if (p->access[i].store && p->access[k].store && x->address == y->address && undecided
                && 0 < x->rank && x->rank < y->rank)
                return true;
        }
    return false;
}

bool oracle_program(struct program *p, struct oracle_execution *x, bool recording, bool views)
{
    bool dropped[ORACLE_OPS];
    memset(p, 0, sizeof *p);
    p->x = x;
    p->recording = recording;
    p->threads = x->threads;
    find_dropped(x, dropped);
    if (!find_granules(p, dropped))
        return false;
    for (unsigned t = 0; t < x->threads; t++)
        if (!add_thread(p, t, dropped))
            return false;
    for (unsigned a = 0; a < p->atoms; a++)
        for (unsigned b = 0; b < p->atoms; b++)
            if (a != b && touch_same(p, &p->atom[a], &p->atom[b]))
                p->overlap[a] |= only(b);
    for (unsigned a = 0; a < p->atoms; a++)
        for (unsigned b = 0; b < p->atoms; b++)
            if (ranked_before(p, &p->atom[b], &p->atom[a]))
                p->ranked_before[a] |= only(b);
    p->views = views ? p->threads : 0;
    p->parts = views ? LANDING + p->views : 1;
    p->memory_at = views ? ahead_at(p, p->atoms) : OPEN;
    p->state_words = p->memory_at + p->granules * (views ? p->views : 1);
    return true;
}

void oracle_initial_state(const struct program *p, uint64_t *state)
{
    memset(state, 0, p->state_words * sizeof *state);
    for (unsigned i = p->memory_at; i < p->state_words; i++) {
        const struct granule *g = &p->granule[(i - p->memory_at) % p->granules];
        state[i] = bytes_at(p->x->initial + g->address, g->size);
    }
}

bool oracle_takes_place(const struct program *p, const struct access *a)
{
    const struct oracle_op *op = &p->x->op[a->op];
    return op->kind != ORACLE_CAS || matches(op);
}

static uint64_t value_seen(const struct program *p, const struct access *a, atom_set buffered,
                           const uint64_t *memory)
{
    while (buffered != 0) {
        const struct atom *youngest = &p->atom[last_of(buffered)];
        buffered &= ~only(last_of(buffered));
        for (unsigned i = 0; i < youngest->access_count; i++) {
            const struct access *s = &p->access[youngest->access_first + i];
            if (s->store && s->granule == a->granule && oracle_takes_place(p, s))
                return oracle_stored(p, s);
        }
    }
    return memory[a->granule];
}

bool oracle_load(struct program *p, const struct access *a, atom_set buffered,
                 const uint64_t *memory)
{
    uint64_t value = value_seen(p, a, buffered, memory);
    if (!p->recording)
        return value == a->value;
    const struct granule *g = &p->granule[a->granule];
    struct oracle_op *op = &p->x->op[a->op];
    for (unsigned i = 0; i < g->size; i++)
        op->read[g->address - op->address + i] = (uint8_t)(value >> 8 * i);
    return true;
}

bool oracle_whole_is_free(const struct program *p, const uint64_t *state, struct move m)
{
    (void)state;
    return oracle_only_loads(p, m.atom);
}

bool oracle_perform_whole(struct program *p, uint64_t *state, struct move m)
{
    const struct atom *atom = &p->atom[m.atom];
    atom_set buffered = p->older[m.atom] & p->stores & ~state[DONE];
    uint64_t *memory = state + p->memory_at;
    for (unsigned i = 0; i < atom->access_count; i++) {
        const struct access *a = &p->access[atom->access_first + i];
        if (!a->store && !oracle_load(p, a, buffered, memory))
            return false;
        if (a->store && oracle_takes_place(p, a))
            memory[a->granule] = oracle_stored(p, a);
    }
    state[DONE] |= only(m.atom);
    return true;
}

bool oracle_all_done(const struct program *p, const uint64_t *state)
{
    return state[DONE] == (p->loads | p->stores);
}

bool oracle_has_transactions(const struct oracle_execution *x)
{
    for (unsigned i = 0; i < x->ops; i++)
        if (x->op[i].kind == ORACLE_TX_BEGIN)
            return true;
    return false;
}

struct oracle_sources oracle_sources(const struct oracle_execution *x)
{
    struct program p;
    struct oracle_execution copy = *x;
    struct oracle_sources found = { false, false };
    if (!oracle_program(&p, &copy, false, false))
        abort();
    for (unsigned i = 0; i < p.accesses; i++) {
        const struct access *load = &p.access[i];
        const struct granule *g = &p.granule[load->granule];
        unsigned sources = bytes_at(x->initial + g->address, g->size) == load->value;
        if (load->store)
            continue;
        for (unsigned k = 0; k < p.accesses; k++)
            sources += p.access[k].store && p.access[k].granule == load->granule
                && p.access[k].value == load->value;
        found.several |= sources > 1;
        found.none |= sources == 0;
    }
    return found;
}

bool oracle_all_ranked(const struct oracle_execution *x)
{
    struct program p;
    struct oracle_execution copy = *x;
    if (!oracle_program(&p, &copy, false, false))
        abort();
    for (unsigned i = 0; i < p.accesses; i++)
        for (unsigned k = 0; k < p.accesses; k++)
            if (i != k && p.access[i].store && p.access[k].store
                && p.access[i].granule == p.access[k].granule && x->op[p.access[i].op].rank == 0)
                return false;
    return true;
}
