/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions: private stores, marks on the lines touched, and who loses a conflict.
 *
 * Lazy: a commit dooms the others that read one of the lines it writes. Eager: an access dooms at
 * once whoever has the line in a way that does not go with it, or gives way itself. Plain accesses
 * doom too, so that transactions are isolated from everything. A doomed one notices before its
 * next step, goes back and tries again; one that may do so without end runs alone after some. */
#include "model_parts.h"

#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 6 };                   /* attempts before it runs alone, */
enum { FEW_RETRIES = 16 };               /* unless it has few and is then done plainly */
enum { SPURIOUS = 4 };                   /* of 256 commits fail without reason */

/* ---- room ----------------------------------------------------------------------------------- */

/* A transaction cannot touch more lines than there are, nor than its thread has instructions. */
static bool fit_hart(struct model_machine *m, const struct program_thread *thread,
                     struct transaction *x)
{
    size_t lines = thread->length < m->program->lines ? thread->length : m->program->lines;
    x->line = calloc(lines + 1, sizeof *x->line);
    x->store = calloc(lines * LINE_CELLS + 1, sizeof *x->store);
    return x->line && x->store;
}

bool transaction_fit(struct model_machine *m)
{
    m->marks = calloc((size_t)m->program->lines * 2 * m->words + 1, sizeof *m->marks);
    for (uint32_t i = 0; m->marks && i < m->harts; i++)
        if (!fit_hart(m, &m->program->thread[i], &m->hart[i].transaction))
            return false;
    return m->marks != NULL;
}

void transaction_start(struct model_machine *m)
{
    if (m->marks)
        memset(m->marks, 0, (size_t)m->program->lines * 2 * m->words * sizeof *m->marks);
}

/* ---- marks and conflicts -------------------------------------------------------------------- */

static uint64_t *readers_of(const struct model_machine *m, uint32_t line)
{
    return m->marks + (size_t)line * 2 * m->words;
}
static uint64_t *writers_of(const struct model_machine *m, uint32_t line)
{
    return readers_of(m, line) + m->words;
}

/* Those of the set other than the hart; true: there are some. */
static bool doom(struct model_machine *m, const struct hart *h, const uint64_t *set)
{
    bool others = false;
    for (uint32_t w = 0; w < m->words; w++)
        for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
            uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(rest);
            if (i == h->index)
                continue;
            m->hart[i].transaction.doomed = true;
            others = true;
        }
    return others;
}

static bool others_in(const struct model_machine *m, const struct hart *h, const uint64_t *set)
{
    for (uint32_t w = 0; w < m->words; w++) {
        uint64_t self = h->index / 64 == w ? UINT64_C(1) << h->index % 64 : 0;
        if (set[w] & ~self)
            return true;
    }
    return false;
}

void transaction_disturb(struct model_machine *m, const struct hart *h, uint32_t line, bool stores)
{
    if (m->setup.bug == BUG_TX_PLAIN_MISSED && !h->transaction.committing)
        return;
    if (stores)
        doom(m, h, readers_of(m, line));
    if (m->setup.eager)
        doom(m, h, writers_of(m, line));
}

/* Eager: who has the line in another way must go, or this one does. */
static void claim(struct model_machine *m, struct hart *h, uint32_t line, bool stores)
{
    const uint64_t *readers = readers_of(m, line), *writers = writers_of(m, line);
    bool rivals = others_in(m, h, writers) || (stores && others_in(m, h, readers));
    if (rivals && m->favoured != h->index && chance_of(m, 96)) {
        h->transaction.doomed = true;
        return;
    }
    doom(m, h, writers);
    if (stores)
        doom(m, h, readers);
}

static void mark(struct model_machine *m, struct hart *h, uint32_t line, bool stores)
{
    struct transaction *x = &h->transaction;
    uint64_t *readers = readers_of(m, line), *writers = writers_of(m, line);
    if (m->setup.eager)
        claim(m, h, line, stores);
    if (!in_set(readers, h->index) && !in_set(writers, h->index)) {
        assert(x->lines < m->program->lines && x->lines < h->thread->length); /* see fit_hart() */
        x->line[x->lines++] = line;
    }
    put_in(stores ? writers : readers, h->index);
}

static void leave(struct model_machine *m, struct hart *h)
{
    struct transaction *x = &h->transaction;
    for (uint32_t k = 0; k < x->lines; k++) {
        take_out(readers_of(m, x->line[k]), h->index);
        take_out(writers_of(m, x->line[k]), h->index);
    }
    x->lines = x->stores = 0;
    x->running = x->doomed = x->committing = false;
    if (m->favoured == h->index)
        m->favoured = NOBODY;
}

/* ---- accesses ------------------------------------------------------------------------------- */

static struct store *own_store(struct transaction *x, uint32_t cell)
{
    for (uint32_t k = x->stores; k-- > 0;)
        if (x->store[k].cell == cell)
            return &x->store[k];
    return NULL;
}

static uint64_t tx_load(struct model_machine *m, struct hart *h, struct reach r)
{
    const struct store *own = own_store(&h->transaction, r.cell);
    uint64_t value = m->memory[r.cell];
    if (own)
        value = merged(value, own->value, own->mask);
    if ((!own || r.mask & ~own->mask) && m->setup.bug != BUG_TX_READS_UNTRACKED)
        mark(m, h, line_of(r.cell), false);
    return (value & r.mask) >> r.shift;
}

static void tx_store(struct model_machine *m, struct hart *h, struct reach r, uint64_t value)
{
    struct transaction *x = &h->transaction;
    struct store *own = own_store(x, r.cell);
    mark(m, h, line_of(r.cell), true);
    if (!own) {
        assert(x->stores < x->lines * LINE_CELLS);
        own = &x->store[x->stores++];
        *own = (struct store){ .cell = r.cell };
    }
    own->value = merged(own->value, value, r.mask);
    own->mask |= r.mask;
    if (m->setup.bug == BUG_TX_NOT_ISOLATED)
        m->memory[r.cell] = merged(m->memory[r.cell], value, r.mask);
}

/* In a transaction that will abort nothing is observed, and registers are put back at its end. */
void transaction_access(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    struct reach r = reach_of(i, h->part);
    uint64_t value = 0;
    if (i->kind != ORDEAL_STORE) {
        value = tx_load(m, h, r);
        deliver(m, h, i, value);
    }
    if (i->kind == ORDEAL_STORE
        || (i->kind != ORDEAL_LOAD
            && swap_writes(m, i->kind, value, hart_compares(h, i))))
        tx_store(m, h, r, hart_swaps(m, h, i, value, r.shift));
}

/* ---- from beginning to end ------------------------------------------------------------------ */

static void copy_registers(const struct hart *h, uint64_t *to, const uint64_t *from)
{
    memcpy(to, from, h->thread->registers * sizeof *to);
}

bool transaction_begin(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    struct transaction *x = &h->transaction;
    if (x->attempts > i->count && i->count != RETRY_FOREVER) {
        x->plainly = true;
        h->pc++;
        return true;
    }
    if (m->discipline->busy(h) && m->setup.bug != BUG_TX_NO_DRAIN)
        return false;
    x->running = true;
    x->doomed = false;
    x->pc = h->pc;
    x->round = h->round;
    x->slot = h->slot;
    x->lfsr = h->lfsr;
    copy_registers(h, x->registers, h->registers);
    if (x->attempts >= PATIENCE && i->count > FEW_RETRIES)
        m->favoured = h->index;
    h->pc++;
    return true;
}

static bool ends_in_abort(const struct hart *h)
{
    const struct instruction *code = h->thread->code;
    return code[code[h->transaction.pc].match].kind == ORDEAL_TX_ABORT;
}

static void leak(struct model_machine *m, struct hart *h)
{
    struct transaction *x = &h->transaction;
    if (x->stores)
        cell_write(m, h, x->store[0].cell, x->store[0].value, x->store[0].mask);
}

/* A transaction that will abort goes on to its end even when doomed: the branches in it must be
 * taken all the same. */
bool transaction_failed(struct model_machine *m, struct hart *h)
{
    struct transaction *x = &h->transaction;
    if (!x->running || !x->doomed || x->committing || ends_in_abort(h))
        return false;
    if (m->setup.bug == BUG_TX_ABORT_LEAKS)
        leak(m, h);
    h->pc = x->pc;
    h->round = x->round;
    h->slot = x->slot;
    h->lfsr = x->lfsr;
    h->part = 0;
    copy_registers(h, h->registers, x->registers);
    leave(m, h);
    if (++x->attempts < PATIENCE)
        sleep_for(m, h, random_below(&m->random, 1u << x->attempts));
    return true;
}

/* All stores at once; the conflicts they make are found on the way (cell_write). */
static void commit(struct model_machine *m, struct hart *h)
{
    struct transaction *x = &h->transaction;
    x->committing = true;
    for (uint32_t k = 0; k < x->stores; k++)
        cell_write(m, h, x->store[k].cell, x->store[k].value, x->store[k].mask);
}

/* One store a step: not as it should be. False: there are more. */
static bool commit_torn(struct model_machine *m, struct hart *h)
{
    struct transaction *x = &h->transaction;
    x->committing = true;
    if (x->stores == 0)
        return true;
    struct store *last = &x->store[--x->stores];
    cell_write(m, h, last->cell, last->value, last->mask);
    sleep_for(m, h, 1);
    return x->stores == 0;
}

bool transaction_end(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    struct transaction *x = &h->transaction;
    bool committed = !x->plainly;
    if (i->kind == ORDEAL_TX_ABORT) {
        if (m->setup.bug == BUG_TX_ABORT_LEAKS)
            leak(m, h);
        copy_registers(h, h->registers, x->registers);
    } else if (committed) {
        if (m->favoured != h->index && !x->committing && chance_of(m, SPURIOUS)) {
            x->doomed = true;
            return true;
        }
        if (m->setup.bug == BUG_TX_COMMIT_TORN && !commit_torn(m, h))
            return true;
        commit(m, h);
    }
    assert(!i->observed || h->slot < h->thread->first_slot + h->thread->slots);
    if (i->observed)
        m->values[h->slot++] = committed;
    leave(m, h);
    x->attempts = 0;
    x->plainly = false;
    h->pc++;
    return true;
}
