/* SPDX-License-Identifier: Apache-2.0 */
/* All executions of a tiny program by a plain machine of its model: every thread's next operation
 * and every buffered store that may be written is tried in every state. */
#include "tiny.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 40, VERSIONS = 48, PACKED = 4096 };

/* A store that waits, or (size 0) the mark of a store-store fence between such. */
struct entry {
    uint16_t address, size;
    uint32_t value;
};

/* PSLO: the values that a word has held since this thread's last look at it, each once, that which
 * was written last at the end. */
struct history {
    uint8_t count;
    uint32_t version[VERSIONS];
};

struct thread {
    uint8_t pc, rounds, entries;
    uint32_t reg[TINY_REGISTERS];
    struct entry entry[ENTRIES];
    struct history seen[TINY_WORDS];
};

struct state {
    uint8_t memory[TINY_BYTES];
    struct thread thread[TINY_THREADS];
};

struct run {
    const struct tiny_program *program;
    enum tiny_model model;
    struct tiny_limits limits;
    struct tiny_outcomes *out;
    size_t room;    /* of rows */
    uint8_t **slot; /* states seen, each with its length before it */
    size_t slots;
    bool late;
};

/* ---- states seen ------------------------------------------------------------------------ */

static uint8_t *put(uint8_t *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

static size_t pack(const struct run *r, const struct state *s, uint8_t *bytes)
{
    uint8_t *end = put(bytes, s->memory, sizeof s->memory);
    for (unsigned t = 0; t < r->program->threads; t++) {
        const struct thread *h = &s->thread[t];
        *end++ = h->pc;
        *end++ = h->rounds;
        *end++ = h->entries;
        end = put(end, h->reg, sizeof h->reg);
        end = put(end, h->entry, h->entries * sizeof *h->entry);
        for (unsigned w = 0; r->model == TINY_PSLO && w < TINY_WORDS; w++) {
            *end++ = h->seen[w].count;
            end = put(end, h->seen[w].version, h->seen[w].count * sizeof *h->seen[w].version);
        }
    }
    return (size_t)(end - bytes);
}

static size_t hash(const uint8_t *bytes, size_t length)
{
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ bytes[i]) * 1099511628211u;
    return (size_t)(h ^ h >> 29);
}

static size_t length_of(const uint8_t *kept)
{
    uint16_t length;
    memcpy(&length, kept, sizeof length);
    return length;
}

static uint8_t **place(struct run *r, const uint8_t *bytes, size_t length)
{
    size_t i = hash(bytes, length) & (r->slots - 1);
    while (r->slot[i] && (length_of(r->slot[i]) != length || memcmp(r->slot[i] + 2, bytes, length)))
        i = (i + 1) & (r->slots - 1);
    return &r->slot[i];
}

static void grow(struct run *r)
{
    struct run old = *r;
    r->slots = old.slots ? old.slots * 2 : 1024;
    r->slot = calloc(r->slots, sizeof *r->slot);
    assert(r->slot);
    for (size_t i = 0; i < old.slots; i++)
        if (old.slot[i])
            *place(r, old.slot[i] + 2, length_of(old.slot[i])) = old.slot[i];
    free(old.slot);
}

/* False: it was seen before. */
static bool is_new(struct run *r, const struct state *s)
{
    uint8_t bytes[PACKED];
    uint16_t length = (uint16_t)pack(r, s, bytes);
    if (r->out->states * 2 >= r->slots)
        grow(r);
    uint8_t **slot = place(r, bytes, length);
    if (*slot)
        return false;
    *slot = malloc(2u + length);
    assert(*slot);
    put(put(*slot, &length, sizeof length), bytes, length);
    r->out->states++;
    return true;
}

/* ---- memory and buffers ------------------------------------------------------------------ */

static uint32_t get(const uint8_t *bytes, unsigned size)
{
    uint32_t value = 0;
    memcpy(&value, bytes, size);
    return value;
}

static bool overlap(const struct entry *a, unsigned address, unsigned size)
{
    return a->address < address + size && address < a->address + a->size;
}

static uint32_t word(const struct state *s, unsigned w)
{
    return get(s->memory + (size_t)4 * w, 4);
}

static void remember(struct history *h, uint32_t value)
{
    unsigned kept = 0;
    for (unsigned v = 0; v < h->count; v++)
        if (h->version[v] != value)
            h->version[kept++] = h->version[v];
    assert(kept < VERSIONS);
    h->version[kept++] = value;
    h->count = (uint8_t)kept;
}

/* store^c: in memory for all; the writer has no older value to see. */
static void write_memory(const struct run *r, struct state *s, unsigned writer,
                         const struct entry *e)
{
    memcpy(s->memory + e->address, &e->value, e->size);
    unsigned w = e->address / 4;
    if (r->model != TINY_PSLO)
        return;
    s->thread[writer].seen[w].count = 0;
    for (unsigned t = 0; t < r->program->threads; t++)
        remember(&s->thread[t].seen[w], word(s, w));
}

static void forget_all(struct state *s, struct thread *h)
{
    for (unsigned w = 0; w < TINY_WORDS; w++) {
        h->seen[w].count = 0;
        remember(&h->seen[w], word(s, w));
    }
}

static void take(struct thread *h, unsigned k)
{
    h->entries--;
    memmove(h->entry + k, h->entry + k + 1, (h->entries - k) * sizeof *h->entry);
    while (h->entries && h->entry[0].size == 0) { /* a mark that nothing is before */
        h->entries--;
        memmove(h->entry, h->entry + 1, h->entries * sizeof *h->entry);
    }
}

static unsigned stores_of(const struct thread *h)
{
    unsigned n = 0;
    for (unsigned k = 0; k < h->entries; k++)
        n += h->entry[k].size != 0;
    return n;
}

static bool may_commit(const struct run *r, const struct thread *h, unsigned k)
{
    const struct entry *e = &h->entry[k];
    if (e->size == 0)
        return false;
    if (r->model == TINY_TSO)
        return k == 0;
    for (unsigned i = 0; i < k; i++)
        if (h->entry[i].size == 0 || overlap(&h->entry[i], e->address, e->size))
            return false;
    return true;
}

static bool waits_for(const struct thread *h, unsigned address, unsigned size)
{
    for (unsigned k = 0; k < h->entries; k++)
        if (h->entry[k].size && overlap(&h->entry[k], address, size))
            return true;
    return false;
}

static bool has_mark(const struct thread *h)
{
    for (unsigned k = 0; k < h->entries; k++)
        if (h->entry[k].size == 0)
            return true;
    return false;
}

/* Bytes of an access: the newest own entry's, else those of `base`, the word as it is seen. */
static uint32_t forwarded(const struct thread *h, const struct tiny_op *o, uint32_t base, bool *all)
{
    uint8_t bytes[4];
    memcpy(bytes, &base, 4);
    unsigned first = o->address % 4, found = 0;
    for (unsigned i = 0; i < o->size; i++)
        for (unsigned k = h->entries; k-- > 0;)
            if (h->entry[k].size && overlap(&h->entry[k], o->address + i, 1)) {
                bytes[first + i] = (uint8_t)(h->entry[k].value
                                             >> 8 * (o->address + i - h->entry[k].address));
                found++;
                break;
            }
    *all = found == o->size;
    return get(bytes + first, o->size);
}

/* ---- operations --------------------------------------------------------------------------- */

static void search(struct run *r, const struct state *s);

static void load(struct run *r, struct state *s, unsigned t)
{
    struct thread *h = &s->thread[t];
    const struct tiny_op *o = &r->program->op[t][h->pc++];
    bool all;
    unsigned w = o->address / 4;
    h->reg[o->target] = forwarded(h, o, word(s, w), &all);
    if (r->model != TINY_PSLO || all) {
        search(r, s);
        return;
    }
    const struct history seen = h->seen[w];
    for (unsigned v = 0; v < seen.count; v++) {
        h->reg[o->target] = forwarded(h, o, seen.version[v], &all);
        h->seen[w].count = (uint8_t)(seen.count - v);
        memmove(h->seen[w].version, seen.version + v, h->seen[w].count * sizeof *seen.version);
        search(r, s);
    }
}

static void store(struct run *r, struct state *s, unsigned t)
{
    struct thread *h = &s->thread[t];
    const struct tiny_op *o = &r->program->op[t][h->pc++];
    struct entry e = { o->address, o->size, 0 };
    uint32_t value = o->value + (o->source < TINY_REGISTERS ? h->reg[o->source] : 0);
    memcpy(&e.value, &value, o->size);
    if (r->model == TINY_SC) {
        write_memory(r, s, t, &e);
    } else if (r->limits.buffers && stores_of(h) >= r->limits.buffers) {
        return;
    } else {
        assert(h->entries < ENTRIES);
        h->entry[h->entries++] = e;
    }
    search(r, s);
}

static void fence(struct run *r, struct state *s, unsigned t)
{
    struct thread *h = &s->thread[t];
    unsigned order = r->program->op[t][h->pc++].order;
    if (r->model != TINY_SC && order & TINY_WR && h->entries)
        return;
    if (r->model >= TINY_PSO && order & TINY_WW && h->entries && h->entry[h->entries - 1].size)
        h->entry[h->entries++] = (struct entry){ 0, 0, 0 };
    if (r->model == TINY_PSLO && order & (TINY_RR | TINY_WR))
        forget_all(s, h);
    search(r, s);
}

static uint32_t function(const struct tiny_op *o, uint32_t old)
{
    switch (o->kind) {
    case TINY_ADD: return old + o->value;
    case TINY_OR: return old | o->value;
    case TINY_MAX: return (int32_t)old > (int32_t)o->value ? old : o->value;
    default: return o->value;
    }
}

static bool writes(const struct state *s, const struct tiny_op *o)
{
    return o->kind != TINY_CAS || word(s, o->address / 4) == o->compare;
}

static void swap(const struct run *r, struct state *s, unsigned t, const struct tiny_op *o)
{
    struct thread *h = &s->thread[t];
    uint32_t old = word(s, o->address / 4);
    struct entry e = { o->address, 4, writes(s, o) ? function(o, old) : old };
    h->reg[o->target] = old;
    write_memory(r, s, t, &e);
    if (o->order & TINY_AQ || r->limits.locked)
        forget_all(s, h);
}

static void atomic(struct run *r, struct state *s, unsigned t)
{
    struct thread *h = &s->thread[t];
    const struct tiny_op *o = &r->program->op[t][h->pc++];
    bool wrote = writes(s, o);
    bool empty = r->model == TINY_TSO || r->limits.locked || (o->order & TINY_RL && wrote);
    if ((empty && h->entries) || waits_for(h, o->address, 4) || (wrote && has_mark(h)))
        return;
    swap(r, s, t, o);
    search(r, s);
}

/* Within a section, where the own buffer is empty. */
static void at_once(const struct run *r, struct state *s, unsigned t, const struct tiny_op *o)
{
    struct thread *h = &s->thread[t];
    struct entry e = { o->address, o->size, 0 };
    uint32_t value = o->value + (o->source < TINY_REGISTERS ? h->reg[o->source] : 0);
    bool all;
    memcpy(&e.value, &value, o->size);
    if (o->kind == TINY_LOAD)
        h->reg[o->target] = forwarded(h, o, word(s, o->address / 4), &all);
    else if (o->kind == TINY_STORE)
        write_memory(r, s, t, &e);
    else
        swap(r, s, t, o);
}

static void section(struct run *r, struct state *s, unsigned t)
{
    struct thread *h = &s->thread[t];
    const struct tiny_op *o = &r->program->op[t][h->pc + 1];
    if (h->entries)
        return;
    forget_all(s, h);
    for (; o->kind != TINY_LEAVE; o++)
        at_once(r, s, t, o);
    h->pc = (uint8_t)(o + 1 - r->program->op[t]);
    search(r, s);
}

static void branch(struct run *r, struct state *s, unsigned t)
{
    struct thread *h = &s->thread[t];
    const struct tiny_op *o = &r->program->op[t][h->pc++];
    bool equal = h->reg[o->source] == o->value;
    if (o->kind == TINY_SKIP && equal != o->negated) {
        h->pc = (uint8_t)(h->pc + o->distance);
    } else if (o->kind == TINY_LOOP && !equal && h->rounds < o->times) {
        h->rounds++;
        h->pc = (uint8_t)(h->pc - 1 - o->distance);
    }
    search(r, s);
}

static void operate(struct run *r, const struct state *s, unsigned t)
{
    struct state next = *s;
    switch (r->program->op[t][s->thread[t].pc].kind) {
    case TINY_LOAD: load(r, &next, t); break;
    case TINY_STORE: store(r, &next, t); break;
    case TINY_FENCE: fence(r, &next, t); break;
    case TINY_SKIP:
    case TINY_LOOP: branch(r, &next, t); break;
    case TINY_ENTER: section(r, &next, t); break;
    default: atomic(r, &next, t);
    }
}

static void commit(struct run *r, const struct state *s, unsigned t, unsigned k)
{
    struct state next = *s;
    struct entry e = s->thread[t].entry[k];
    take(&next.thread[t], k);
    write_memory(r, &next, t, &e);
    search(r, &next);
}

/* ---- the search ---------------------------------------------------------------------------- */

static void note(struct run *r, const struct state *s)
{
    struct tiny_outcomes *out = r->out;
    if (out->rows == r->room) {
        r->room = r->room * 2 + 16;
        out->row = realloc(out->row, r->room * sizeof *out->row);
        assert(out->row);
    }
    uint32_t *row = out->row[out->rows++];
    memset(row, 0, sizeof *out->row);
    for (unsigned t = 0; t < r->program->threads; t++)
        for (unsigned k = TINY_REGISTERS; k-- > 0;)
            row[t] = row[t] * 251 + s->thread[t].reg[k];
    for (unsigned w = 0; w < TINY_WORDS; w++)
        row[TINY_THREADS + w] = word(s, w);
}

static void search(struct run *r, const struct state *s)
{
    r->late = r->late || (r->limits.most_states && r->out->states >= r->limits.most_states);
    if (r->late || !is_new(r, s))
        return;
    bool done = true;
    for (unsigned t = 0; t < r->program->threads; t++) {
        const struct thread *h = &s->thread[t];
        done = done && h->pc == r->program->ops[t] && h->entries == 0;
        if (h->pc < r->program->ops[t])
            operate(r, s, t);
        for (unsigned k = 0; k < h->entries; k++)
            if (may_commit(r, h, k))
                commit(r, s, t, k);
    }
    if (done)
        note(r, s);
}

static int by_values(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    for (unsigned k = 0; k < TINY_COLUMNS; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return 0;
}

static void sort(struct tiny_outcomes *out)
{
    size_t kept = 0;
    if (out->rows)
        qsort(out->row, out->rows, sizeof *out->row, by_values);
    for (size_t i = 0; i < out->rows; i++)
        if (kept == 0 || by_values(out->row[kept - 1], out->row[i]) != 0)
            memmove(out->row[kept++], out->row[i], sizeof *out->row);
    out->rows = kept;
}

bool tiny_outcomes(const struct tiny_program *p, enum tiny_model model, struct tiny_limits limits,
                   struct tiny_outcomes *outcomes)
{
    *outcomes = (struct tiny_outcomes){ 0 };
    struct run r = { .program = p, .model = model, .limits = limits, .out = outcomes };
    struct state first;
    memset(&first, 0, sizeof first);
    for (unsigned t = 0; t < p->threads; t++)
        forget_all(&first, &first.thread[t]);
    search(&r, &first);
    for (size_t i = 0; i < r.slots; i++)
        free(r.slot[i]);
    free(r.slot);
    sort(outcomes);
    return !r.late;
}

void tiny_outcomes_free(struct tiny_outcomes *outcomes)
{
    free(outcomes->row);
    *outcomes = (struct tiny_outcomes){ 0 };
}
