/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler, and how a hart walks its code: loops, branches, delays, interrupts. */
#include "model_parts.h"

#include <stdlib.h>
#include <string.h>

#include "test/lfsr.h"

enum { INTERRUPT_CYCLES = 12 };

/* ---- making and loading --------------------------------------------------------------------- */

_Static_assert(ORDEAL_MODELS == 7, "a new model is to be told here, too");
static const struct discipline *const disciplines[ORDEAL_MODELS] = {
    [ORDEAL_SC] = &buffered_discipline,  [ORDEAL_TSO] = &buffered_discipline,
    [ORDEAL_PSO] = &buffered_discipline, [ORDEAL_PC] = &buffered_discipline,
    [ORDEAL_RMO] = &window_discipline,   [ORDEAL_RVWMO] = &riscv_discipline,
    [ORDEAL_RVTSO] = &riscv_discipline,
};

struct model_machine *model_machine_new(const struct model_machine_setup *setup)
{
    struct model_machine *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->setup = *setup;
    m->discipline = disciplines[setup->model];
    return m;
}

static void unload(struct model_machine *m)
{
    for (uint32_t i = 0; m->hart && i < m->harts; i++) {
        free(m->hart[i].transaction.store);
        free(m->hart[i].transaction.line);
    }
    free(m->hart);
    free(m->live);
    free(m->memory);
    free(m->marks);
    free(m->first_opened);
    free(m->last_opened);
    free(m->before);
    free(m->writer);
    *m = (struct model_machine){ .setup = m->setup, .discipline = m->discipline };
}

void model_machine_free(struct model_machine *m)
{
    if (!m)
        return;
    unload(m);
    free(m);
}

/* A cell more than there is, as nothing has no size. */
static void *cells_of(const struct model_machine *m, size_t item)
{
    return calloc((size_t)m->cells + 1, item);
}

static bool make_room(struct model_machine *m)
{
    bool views = m->setup.model == ORDEAL_PC;
    m->hart = calloc((size_t)m->harts + 1, sizeof *m->hart);
    m->live = calloc((size_t)m->harts + 1, sizeof *m->live);
    m->memory = cells_of(m, sizeof *m->memory);
    if (!m->hart || !m->live || !m->memory)
        return false;
    if (views) {
        m->first_opened = cells_of(m, sizeof *m->first_opened);
        m->last_opened = cells_of(m, sizeof *m->last_opened);
    }
    if (m->setup.bug == BUG_EVICT_LOSES_DIRTY) {
        m->before = cells_of(m, sizeof *m->before);
        m->writer = cells_of(m, sizeof *m->writer);
    }
    return (!views || (m->first_opened && m->last_opened))
        && (m->setup.bug != BUG_EVICT_LOSES_DIRTY || (m->before && m->writer))
        && (!m->program->asks.transactions || transaction_fit(m));
}

bool model_machine_load(struct model_machine *m, const struct program *p)
{
    unload(m);
    m->program = p;
    m->identity = program_identity(p);
    m->harts = p->threads;
    m->words = (p->threads + 63) / 64;
    m->cells = p->lines * LINE_CELLS;
    return make_room(m);
}

/* ---- an iteration --------------------------------------------------------------------------- */

/* How the hart behaves this time: some buffers are deep and slow, some hardly there. */
static void start_hart(struct model_machine *m, uint32_t index, uint64_t iteration)
{
    static const uint16_t hastes[] = { 4, 16, 40, 80, 128, 200 };
    struct hart *h = &m->hart[index];
    struct transaction kept = { .store = h->transaction.store, .line = h->transaction.line };
    *h = (struct hart){ .thread = &m->program->thread[index], .index = index,
                        .slot = m->program->thread[index].first_slot, .transaction = kept };
    h->lfsr = lfsr_start(m->program->seed, h->thread->number, iteration);
    h->depth = 1 + random_below(&m->random, DEEPEST);
    h->haste = hastes[random_below(&m->random, sizeof hastes / sizeof *hastes)];
    h->stale.line = h->recent.line = NOBODY;
}

static void start(struct model_machine *m, uint64_t iteration, uint64_t *values, bool careful)
{
    static const uint8_t bursts[] = { 0, 0, 1, 3, 7, 31 };
    random_seed(&m->random, m->setup.seed ^ m->identity, iteration);
    m->iteration = iteration;
    m->careful = careful;
    m->watches = 0;
    m->values = values;
    memset(values, 0, m->program->slots * sizeof *values); /* branches may leave some unused */
    m->now = 0;
    m->idle = 0;
    m->favoured = NOBODY;
    m->burst = bursts[random_below(&m->random, sizeof bursts / sizeof *bursts)];
    m->alive = m->harts;
    for (uint32_t i = 0; i < m->harts; i++) {
        m->live[i] = i;
        start_hart(m, i, iteration);
    }
    cells_start(m);
    transaction_start(m);
}

void model_machine_start(struct model_machine *m, uint64_t iteration, uint64_t *values)
{
    start(m, iteration, values, false);
}

/* ---- a step of a hart ----------------------------------------------------------------------- */

static bool memory_operation(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    if (h->transaction.running && i->kind != ORDEAL_MEMBAR)
        transaction_access(m, h, i);
    else if (!h->transaction.running && !m->discipline->issue(m, h, i))
        return false;
    if (++h->part < (i->kind == ORDEAL_MEMBAR ? 1 : parts_of(i)))
        return true;
    h->part = 0;
    h->pc++;
    return true;
}

/* A transaction does not survive it, but for one's own: that would come again at every retry. */
static void interrupt(struct model_machine *m, const struct hart *from, struct hart *to)
{
    if (from != to)
        to->transaction.doomed = true;
    sleep_for(m, to, INTERRUPT_CYCLES);
    cells_interrupt(m, to);
}

/* False: it cannot go on now. */
static bool execute(struct model_machine *m, struct hart *h)
{
    assert(h->pc < h->thread->length);
    const struct instruction *code = h->thread->code, *i = &code[h->pc];
    switch (i->kind) {
    case ORDEAL_LOAD:
    case ORDEAL_STORE:
    case ORDEAL_SWAP:
    case ORDEAL_CAS:
    case ORDEAL_AMO:
    case ORDEAL_LOAD_RESERVED:
    case ORDEAL_STORE_CONDITIONAL:
    case ORDEAL_MEMBAR: return memory_operation(m, h, i);
    case ORDEAL_TX_BEGIN:
        return transaction_begin(m, h, i);
    case ORDEAL_TX_END: case ORDEAL_TX_ABORT:
        return transaction_end(m, h, i);
    case ORDEAL_PREFETCH: case ORDEAL_FLUSH: case ORDEAL_EVICT:
        cells_hint(m, h, i);
        break;
    case ORDEAL_DELAY:
        sleep_for(m, h, i->count);
        break;
    case ORDEAL_INTERRUPT:
        interrupt(m, h, &m->hart[i->count]);
        break;
    case ORDEAL_LOOP_BEGIN:
        h->round = 0;
        break;
    case ORDEAL_LOOP_END:
        if (++h->round < code[i->match].count)
            h->pc = i->match;
        break;
    case ORDEAL_BRANCH_BEGIN:
        if (!lfsr_step(&h->lfsr))
            h->pc = i->match;
        break;
    case ORDEAL_BRANCH_ELSE:
        h->pc = i->match;
        break;
    default: /* BRANCH.END */
        break;
    }
    h->pc++;
    return true;
}

enum step { MOVED, STUCK, FINISHED };

/* Stores leave the buffer also while the hart sleeps. */
static enum step step(struct model_machine *m, struct hart *h)
{
    uint64_t chance = random_next(&m->random);
    bool busy = m->discipline->busy(h), asleep = h->wake > m->now;
    bool ended = h->pc == h->thread->length;
    if (busy && (asleep || ended || (chance & 255) < h->haste)
        && m->discipline->advance(m, h, chance >> 8))
        return MOVED;
    if (asleep)
        return STUCK;
    if (ended)
        return busy ? STUCK : FINISHED;
    if (transaction_failed(m, h) || execute(m, h))
        return MOVED;
    /* What it waits for. */
    return busy && m->discipline->advance(m, h, chance >> 8) ? MOVED : STUCK;
}

/* ---- turns ---------------------------------------------------------------------------------- */

/* When all that may run sleep, the time till the first wakes passes at once. When none sleeps, RVWMO's
 * harts wait for each other in a circle: the iteration starts again, with more care. */
static void pass_time(struct model_machine *m)
{
    uint64_t first = m->favoured == NOBODY ? UINT64_MAX : m->hart[m->favoured].wake;
    for (uint32_t k = 0; m->favoured == NOBODY && k < m->alive; k++)
        if (m->hart[m->live[k]].wake < first)
            first = m->hart[m->live[k]].wake;
    if (first > m->now)
        m->now = first;
    else if (m->discipline == &riscv_discipline && !m->careful)
        start(m, m->iteration, m->values, true);
    m->idle = 0;
}

/* The more harts there are, the longer one stays that is in a transaction: else the others would do
 * so much between two of its steps that none ever commits. */
static bool stays(struct model_machine *m, const struct hart *h)
{
    return h->transaction.running && random_below(&m->random, m->alive) >= 2;
}

static void turn(struct model_machine *m)
{
    uint64_t chance = random_next(&m->random);
    uint32_t k = (uint32_t)((chance >> 32) * m->alive >> 32);
    struct hart *h = &m->hart[m->favoured == NOBODY ? m->live[k] : m->favoured];
    m->now++;
    for (uint64_t steps = chance & m->burst; ; steps -= steps > 0) {
        enum step done = step(m, h);
        if (done == FINISHED) {
            assert(m->alive > 0 && m->favoured == NOBODY && &m->hart[m->live[k]] == h);
            m->live[k] = m->live[--m->alive];
            return;
        }
        m->idle = done == MOVED ? 0 : m->idle + 1;
        if (done == STUCK || (steps == 0 && !stays(m, h)))
            break;
    }
    __builtin_prefetch(&h->thread->code[h->pc]); /* by its next turn it is here */
    if (m->idle > 2 * m->alive + 8)
        pass_time(m);
}

bool model_machine_go(struct model_machine *m, uint64_t turns)
{
    while (m->alive && turns-- > 0)
        turn(m);
    return m->alive == 0;
}

struct model_machine_place model_machine_unfinished(const struct model_machine *m)
{
    const struct hart *h = &m->hart[m->alive ? m->live[0] : 0];
    uint32_t pc = h->pc < h->thread->length ? h->pc : h->thread->length - 1;
    return (struct model_machine_place){ h->thread->number, h->thread->code[pc].op };
}
