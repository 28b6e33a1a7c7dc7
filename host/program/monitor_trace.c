/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words by name. */
struct word_name {
    char text[64];
};

/* What an operation is to the monitor. */
struct operation {
    uint32_t places; /* in the order */
    bool writes;
    LIST(uint32_t) words;
};

struct feeding {
    const struct ordeal_trace *t;
    const struct ordeal_verdict *v;
    enum monitor_model model;
    struct operation *op;
    uint32_t *word; /* of each event */
    LIST(struct word_name) names;
    uint32_t *table; /* of names, by hash; plus one */
    size_t room;
    uint32_t *next;  /* of each thread: the first operation that was not fed */
    uint32_t *after; /* of each operation: the next of its thread; the number of operations: none */
    LIST(struct monitor_access) fed;
    LIST(uint32_t) fed_op;
    struct monitor *monitor;
    struct monitor_run *run;
    bool all, no_memory;
};

static bool same_word(const struct feeding *f, size_t at, const char *name)
{
    return strcmp(f->names.data[f->table[at] - 1].text, name) == 0;
}

static uint32_t number_of(struct feeding *f, const char *name)
{
    size_t hash = 5381;
    for (const char *s = name; *s; s++)
        hash = hash * 33 + (unsigned char)*s;
    size_t at = hash % f->room;
    while (f->table[at] && !same_word(f, at, name))
        at = (at + 1) % f->room;
    if (!f->table[at]) {
        struct word_name fresh;
        snprintf(fresh.text, sizeof fresh.text, "%s", name);
        f->no_memory |= !LIST_PUSH(&f->names, fresh);
        f->table[at] = (uint32_t)f->names.count;
    }
    return f->table[at] - 1;
}

static void add_word(struct feeding *f, struct operation *op, uint32_t word)
{
    for (size_t i = 0; i < op->words.count; i++)
        if (op->words.data[i] == word)
            return;
    f->no_memory |= !LIST_PUSH(&op->words, word);
}

static void see_events(struct feeding *f)
{
    uint32_t events = ordeal_verdict_events(f->v);
    for (uint32_t i = 0; i < events && !f->no_memory; i++) {
        struct ordeal_event e;
        ordeal_verdict_event(f->v, i, &e);
        f->word[i] = number_of(f, e.location);
        if (e.op == ORDEAL_NONE)
            continue;
        f->op[e.op].writes |= e.store;
        add_word(f, &f->op[e.op], f->word[i]);
    }
}

static bool is_known(uint8_t kind)
{
    return kind <= ORDEAL_MEMBAR || kind == ORDEAL_AMO
        || (kind >= ORDEAL_PREFETCH && kind <= ORDEAL_INTERRUPT);
}

static bool link_threads(struct feeding *f, const char **reason)
{
    uint32_t ops = (uint32_t)ordeal_trace_length(f->t);
    for (uint32_t t = 0; t < ordeal_trace_threads(f->t); t++)
        f->next[t] = ops;
    for (uint32_t i = ops; i--;) {
        const struct ordeal_op *op = ordeal_trace_op(f->t, i);
        f->after[i] = f->next[op->thread];
        f->next[op->thread] = i;
        if (!is_known(op->kind)) {
            *reason = "it has transactions, branches or loops, which the monitor does not know";
            return false;
        }
    }
    return true;
}

static void note(struct feeding *f, const struct monitor_finding *found)
{
    enum { MOST = 8 };
    struct monitor_near near = { f->fed_op.data[found->access], f->fed_op.data[found->missed],
                                 .pairs = 0 };
    struct monitor_pair pair[MOST];
    near.pairs = monitor_pairs(f->model, f->fed.data, found, pair, MOST);
    for (uint32_t i = 0; i < near.pairs; i++) {
        near.pair[i].first = f->fed_op.data[pair[i].first];
        near.pair[i].second = f->fed_op.data[pair[i].second];
    }
    f->no_memory |= !LIST_PUSH(&f->run->near, near);
}

static void feed(struct feeding *f, uint8_t kind, uint32_t op, const uint32_t *word, size_t words)
{
    struct monitor_access a = { kind, ordeal_trace_op(f->t, op)->thread, (uint32_t)words, word };
    struct monitor_finding found;
    if (!LIST_PUSH(&f->fed, a) || !LIST_PUSH(&f->fed_op, op)) {
        f->no_memory = true;
        return;
    }
    if (!monitor_add(f->monitor, &a, &found))
        return;
    f->run->borderline++;
    if (f->all || !f->run->near.count)
        note(f, &found);
}

static void feed_barrier(struct feeding *f, uint32_t op)
{
    uint8_t flavours = ordeal_trace_op(f->t, op)->barrier;
    if (flavours & ORDEAL_SL)
        feed(f, MONITOR_FENCE, op, NULL, 0);
    else if (flavours & ORDEAL_SS)
        feed(f, MONITOR_STORE_FENCE, op, NULL, 0);
}

/* The barriers of the thread before its next access. */
static void feed_barriers(struct feeding *f, uint32_t op)
{
    uint32_t *next = &f->next[ordeal_trace_op(f->t, op)->thread];
    while (*next < op) {
        if (ordeal_trace_op(f->t, *next)->kind == ORDEAL_MEMBAR)
            feed_barrier(f, *next);
        *next = f->after[*next];
    }
}

static void feed_access(struct feeding *f, uint32_t op, const uint32_t *word, size_t words)
{
    uint8_t kind = ordeal_trace_op(f->t, op)->kind;
    bool writes = f->op[op].writes;
    if (kind == ORDEAL_LOAD || kind == ORDEAL_STORE) {
        feed(f, kind == ORDEAL_LOAD ? MONITOR_LOAD : MONITOR_STORE, op, word, words);
        return;
    }
    if (!writes && f->model == MONITOR_TSO)
        feed(f, MONITOR_FENCE, op, NULL, 0);
    feed(f, writes ? MONITOR_ATOMIC : MONITOR_LOAD, op, word, words);
}

static void feed_all(struct feeding *f)
{
    const struct ordeal_place *place;
    size_t places = ordeal_verdict_order(f->v, &place);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < places && !f->no_memory; i++) {
            struct ordeal_event e;
            ordeal_verdict_event(f->v, place[i].event, &e);
            if (e.op == ORDEAL_NONE)
                continue;
            struct operation *op = &f->op[e.op];
            if (pass == 0) {
                op->places++;
                continue;
            }
            feed_barriers(f, e.op);
            if (op->places == 1)
                feed_access(f, e.op, op->words.data, op->words.count);
            else
                feed_access(f, e.op, &f->word[place[i].event], 1);
            f->no_memory |= monitor_failed(f->monitor);
        }
    f->run->accesses = f->fed.count;
}

static bool make(struct feeding *f)
{
    size_t ops = ordeal_trace_length(f->t), events = ordeal_verdict_events(f->v);
    f->room = 2 * events + 16;
    f->op = calloc(ops + 1, sizeof *f->op);
    f->word = calloc(events + 1, sizeof *f->word);
    f->table = calloc(f->room, sizeof *f->table);
    f->next = calloc(ordeal_trace_threads(f->t) + 1, sizeof *f->next);
    f->after = calloc(ops + 1, sizeof *f->after);
    return f->op && f->word && f->table && f->next && f->after;
}

static void unmake(struct feeding *f)
{
    for (size_t i = 0; f->op && i < ordeal_trace_length(f->t); i++)
        LIST_FREE(&f->op[i].words);
    free(f->op);
    free(f->word);
    free(f->table);
    free(f->next);
    free(f->after);
    LIST_FREE(&f->names);
    LIST_FREE(&f->fed);
    LIST_FREE(&f->fed_op);
    monitor_free(f->monitor);
}

bool monitor_run(const struct ordeal_trace *t, const struct ordeal_verdict *v,
                 enum monitor_model model, bool all, struct monitor_run *r, const char **reason)
{
    struct feeding f = { .t = t, .v = v, .model = model, .run = r, .all = all };
    *r = (struct monitor_run){ .accesses = 0 };
    *reason = "out of memory";
    bool fine = make(&f) && link_threads(&f, reason);
    if (fine) {
        see_events(&f);
        f.monitor = monitor_new(model, ordeal_trace_threads(t), (uint32_t)f.names.count);
        fine = f.monitor && !f.no_memory;
    }
    if (fine)
        feed_all(&f);
    fine = fine && !f.no_memory;
    unmake(&f);
    return fine;
}

void monitor_run_free(struct monitor_run *r) { LIST_FREE(&r->near); }
