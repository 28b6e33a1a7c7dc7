/* SPDX-License-Identifier: Apache-2.0 */
/* The operational TSO machine behind the workloads; see workload.h. */
#include "workload.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16,  /* store buffers hold up to this many, each thread's own share of it */
       BURST = 8 };  /* a scheduled thread runs up to this many operations */

const char *const workload_mix_names[WORKLOAD_MIXES] = { "equal", "load", "store" };

/* Per mille. Prefetch stands for the thesis's "others". */
static const struct { uint16_t load, store, swap, membar; } shares[WORKLOAD_MIXES] = {
    [WORKLOAD_EQUAL] = { 333, 333, 300, 17 },
    [WORKLOAD_LOAD]  = { 502, 164, 300, 17 },
    [WORKLOAD_STORE] = { 164, 502, 300, 17 },
};

struct hart {
    uint32_t next, end;              /* operations still to issue */
    uint32_t buffer[DEPTH];          /* stores issued and not performed: a ring */
    uint32_t oldest, waiting, depth;
};

struct machine {
    struct workload *w;
    uint32_t *memory;
    struct hart *hart;
    uint32_t *runnable, runnable_count;
    uint32_t issued, performed;
    uint64_t chance;
};

uint64_t workload_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- the program ------------------------------------------------------------------------ */

static uint8_t random_kind(const struct workload_spec *spec, enum workload_mix mix,
                           uint64_t *chance)
{
    /* Transactions-only systems have neither swaps nor membars (thesis 5.3). */
    if (spec->transaction)
        return workload_below(chance, 2) ? ORDEAL_LOAD : ORDEAL_STORE;
    uint32_t x = workload_below(chance, 1000);
    if (x < shares[mix].load)
        return ORDEAL_LOAD;
    x -= shares[mix].load;
    if (x < shares[mix].store)
        return ORDEAL_STORE;
    x -= shares[mix].store;
    if (x < shares[mix].swap)
        return spec->cas && workload_below(chance, 2) ? ORDEAL_CAS : ORDEAL_SWAP;
    x -= shares[mix].swap;
    if (x < shares[mix].membar)
        return ORDEAL_MEMBAR;
    return spec->no_prefetch ? ORDEAL_LOAD : ORDEAL_PREFETCH;
}

static bool writes(uint8_t kind)
{
    return kind == ORDEAL_STORE || kind == ORDEAL_SWAP || kind == ORDEAL_CAS;
}

static enum workload_mix mix_of(const struct workload_spec *spec, uint32_t thread)
{
    static const enum workload_mix roles[] = { WORKLOAD_STORE, WORKLOAD_LOAD };
    return spec->roles && thread % 3 < 2 ? roles[thread % 3] : spec->mix;
}

/* `last_value` is cleared, by word. */
static void make_program(struct workload *w, uint32_t *last_value, uint64_t *chance)
{
    const struct workload_spec *spec = &w->spec;
    for (uint32_t t = 0; t <= spec->threads; t++)
        w->first[t] = (uint32_t)((uint64_t)spec->ops * t / spec->threads);
    for (uint32_t t = 0; t < spec->threads; t++) {
        for (uint32_t i = w->first[t]; i < w->first[t + 1]; i++) {
            uint8_t kind = random_kind(spec, mix_of(spec, t), chance);
            uint32_t word = workload_below(chance, spec->words);
            struct workload_op *op = &w->op[i];
            *op = (struct workload_op){ .kind = kind, .thread = t, .word = word };
            if (writes(kind))
                op->write = spec->values ? workload_below(chance, spec->values)
                                         : ++last_value[word];
            if (kind == ORDEAL_CAS)
                op->compare = spec->values ? workload_below(chance, spec->values)
                                           : workload_below(chance, op->write);
        }
    }
}

/* ---- the machine ------------------------------------------------------------------------ */

static void perform(struct machine *m, uint32_t i)
{
    m->w->performed[m->performed++] = i;
}

/* By words the k-th store of the buffer may come first, if it is the oldest of its word. */
static void hurry_one(struct machine *m, struct hart *h)
{
    uint32_t k = workload_below(&m->chance, h->waiting), i = h->buffer[(h->oldest + k) % DEPTH];
    for (uint32_t j = 0; j < k; j++)
        if (m->w->op[h->buffer[(h->oldest + j) % DEPTH]].word == m->w->op[i].word)
            return;
    for (; k > 0; k--)
        h->buffer[(h->oldest + k) % DEPTH] = h->buffer[(h->oldest + k - 1) % DEPTH];
    h->buffer[h->oldest] = i;
}

static void drain_one(struct machine *m, struct hart *h)
{
    if (m->w->spec.by_word)
        hurry_one(m, h);
    uint32_t i = h->buffer[h->oldest];
    h->oldest = (h->oldest + 1) % DEPTH;
    h->waiting--;
    m->memory[m->w->op[i].word] = m->w->op[i].write;
    perform(m, i);
}

static void drain_all(struct machine *m, struct hart *h)
{
    while (h->waiting)
        drain_one(m, h);
}

static void drain_some(struct machine *m, struct hart *h)
{
    while (h->waiting && workload_below(&m->chance, 2 + m->w->spec.slow) >= 1 + m->w->spec.slow)
        drain_one(m, h);
}

/* The youngest store to the word in the thread's own buffer, or memory. */
static uint32_t load(const struct machine *m, const struct hart *h, uint32_t word)
{
    for (uint32_t k = h->waiting; k-- > 0;) {
        const struct workload_op *s = &m->w->op[h->buffer[(h->oldest + k) % DEPTH]];
        if (s->word == word)
            return s->write;
    }
    return m->memory[word];
}

static void issue_one(struct machine *m, struct hart *h)
{
    uint32_t i = h->next++;
    struct workload_op *op = &m->w->op[i];
    m->w->issued[m->issued++] = i;
    switch (op->kind) {
    case ORDEAL_STORE:
        if (h->waiting == h->depth)
            drain_one(m, h);
        h->buffer[(h->oldest + h->waiting++) % DEPTH] = i;
        return;
    case ORDEAL_LOAD:
        op->read = load(m, h, op->word);
        break;
    case ORDEAL_SWAP:
    case ORDEAL_CAS:
        drain_all(m, h);
        op->read = m->memory[op->word];
        if (op->kind == ORDEAL_CAS && op->read != op->compare)
            break;
        m->memory[op->word] = op->write;
        break;
    case ORDEAL_MEMBAR:
        drain_all(m, h);
        break;
    }
    perform(m, i);
}

/* A transaction happens all at once: its stores leave before anybody else moves. */
static void issue_transaction(struct machine *m, struct hart *h)
{
    for (uint32_t k = 0; k < m->w->spec.transaction && h->next < h->end; k++) {
        issue_one(m, h);
        drain_all(m, h);
    }
}

static void run_burst(struct machine *m, uint32_t slot)
{
    struct hart *h = &m->hart[m->runnable[slot]];
    if (m->w->spec.transaction) {
        issue_transaction(m, h);
    } else {
        for (uint32_t k = 1 + workload_below(&m->chance, BURST); k > 0 && h->next < h->end; k--) {
            drain_some(m, h);
            issue_one(m, h);
        }
    }
    if (h->next == h->end)
        m->runnable[slot] = m->runnable[--m->runnable_count];
}

static void run(struct machine *m)
{
    uint32_t threads = m->w->spec.threads;
    for (uint32_t t = 0; t < threads; t++) {
        m->hart[t] = (struct hart){ .next = m->w->first[t],
                                    .end = m->w->first[t + 1],
                                    .depth = m->w->spec.slow
                                               ? DEPTH
                                               : 1 + workload_below(&m->chance, DEPTH) };
        if (m->hart[t].next < m->hart[t].end)
            m->runnable[m->runnable_count++] = t;
    }
    while (m->runnable_count) {
        drain_some(m, &m->hart[workload_below(&m->chance, threads)]);
        run_burst(m, workload_below(&m->chance, m->runnable_count));
    }
    for (uint32_t t = 0; t < threads; t++)
        drain_all(m, &m->hart[t]);
}

struct workload *workload_run(const struct workload_spec *spec)
{
    struct workload *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->spec = *spec;
    w->op = malloc(((size_t)spec->ops + 1) * sizeof *w->op);
    w->first = malloc(((size_t)spec->threads + 1) * sizeof *w->first);
    w->issued = malloc(((size_t)spec->ops + 1) * sizeof *w->issued);
    w->performed = malloc(((size_t)spec->ops + 1) * sizeof *w->performed);
    struct machine m = { .w = w, .chance = spec->seed,
                         .memory = calloc(spec->words, sizeof *m.memory),
                         .hart = malloc(spec->threads * sizeof *m.hart),
                         .runnable = malloc(spec->threads * sizeof *m.runnable) };
    bool ready = w->op && w->first && w->issued && w->performed && m.memory && m.hart && m.runnable;
    if (ready) {
        make_program(w, m.memory, &m.chance);
        memset(m.memory, 0, spec->words * sizeof *m.memory);
        run(&m);
    }
    free(m.memory);
    free(m.hart);
    free(m.runnable);
    if (ready)
        return w;
    workload_free(w);
    return NULL;
}

void workload_free(struct workload *w)
{
    if (!w)
        return;
    free(w->op);
    free(w->first);
    free(w->issued);
    free(w->performed);
    free(w);
}

/* ---- as a trace ------------------------------------------------------------------------- */

struct writer {
    struct ordeal_trace *t;
    uint32_t *thread, *base;         /* the trace's numbers of our threads and words */
};

static enum ordeal_status number_threads(const struct workload *w, uint32_t first_thread,
                                         struct writer *out)
{
    enum ordeal_status s = ORDEAL_OK;
    for (uint32_t t = 0; s == ORDEAL_OK && t < w->spec.threads; t++)
        s = ordeal_trace_thread(out->t, first_thread + t, &out->thread[t]);
    return s;
}

static enum ordeal_status number_words(const struct workload *w, struct writer *out)
{
    enum ordeal_status s = ORDEAL_OK;
    for (uint32_t i = 0; s == ORDEAL_OK && !w->spec.addresses && i < w->spec.words; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "w%u", i);
        s = ordeal_trace_name(out->t, name, (size_t)length, &out->base[i]);
    }
    return s;
}

static enum ordeal_status add_bracket(const struct writer *out, uint32_t thread, uint8_t kind)
{
    struct ordeal_op op = { .kind = kind, .thread = out->thread[thread] };
    return ordeal_trace_add(out->t, &op, 0);
}

static enum ordeal_status add_op(const struct workload *w, const struct writer *out, uint32_t i)
{
    const struct workload_op *from = &w->op[i];
    uint32_t place = i - w->first[from->thread], length = w->spec.transaction;
    struct ordeal_op op = { .kind = from->kind, .thread = out->thread[from->thread],
                            .read = from->read, .write = from->write };
    if (from->kind == ORDEAL_MEMBAR) {
        op.barrier = ORDEAL_FULL;
    } else {
        op.size_log2 = 2;
        op.base = out->base[from->word];
        op.address = w->spec.addresses ? 0x80000000u + UINT64_C(4) * from->word : 0;
    }
    if (from->kind == ORDEAL_LOAD || from->kind == ORDEAL_SWAP || from->kind == ORDEAL_CAS)
        op.flags = ORDEAL_HAS_VALUE;

    enum ordeal_status s = ORDEAL_OK;
    if (length && place % length == 0)
        s = add_bracket(out, from->thread, ORDEAL_TX_BEGIN);
    if (s == ORDEAL_OK)
        s = ordeal_trace_add(out->t, &op, from->compare);
    if (s == ORDEAL_OK && length
        && (place % length == length - 1 || i + 1 == w->first[from->thread + 1]))
        s = add_bracket(out, from->thread, ORDEAL_TX_END);
    return s;
}

enum ordeal_status workload_trace(const struct workload *w, enum workload_shape shape,
                                  uint32_t first_thread, struct ordeal_trace *t)
{
    struct writer out = { .t = t, .thread = calloc(w->spec.threads, sizeof *out.thread),
                          .base = calloc(w->spec.words, sizeof *out.base) };
    enum ordeal_status s = out.thread && out.base ? ORDEAL_OK : ORDEAL_NO_MEMORY;
    if (s == ORDEAL_OK)
        s = number_threads(w, first_thread, &out);
    if (s == ORDEAL_OK)
        s = number_words(w, &out);
    for (uint32_t i = 0; s == ORDEAL_OK && i < w->spec.ops; i++)
        s = add_op(w, &out, shape == WORKLOAD_AS_RUN ? w->issued[i] : i);
    free(out.thread);
    free(out.base);
    return s;
}
