/* SPDX-License-Identifier: Apache-2.0 */
/* TSO with delayed flushing (PROGRAM.md). There are no flushers: entries stay in their buffers
 * until somebody looks.
 *
 * What a state of this machine means. It has memory m, live entries E, a strict partial order R
 * over them that is closed and has each buffer's own order, and a set F of them, closed under
 * predecessors, that are flushed. It stands for all states of the plain machine that come from it
 * by writing, onto m and in an order that extends R, some set P with F <= P <= E that is closed
 * under predecessors, and leaving the rest in the buffers. Each operation turns the set of plain
 * states that it stands for into exactly those that the plain operation gives:
 *
 * - Store. The new entry is written later than now, so after all that is written now in any of the
 *   plain states; of those F is in all, and an entry that is in some and not in others is as well
 *   written later than the new one: only F and the own entries have to precede it.
 * - Load of bytes of which no other thread has an entry. Own entries are written in their order, so
 *   every plain state gives the same value, and nothing is learnt.
 * - Load. The plain states differ in which own entries are still in the buffer and which entries
 *   are written; both are chosen (`committed`). Those chosen as written join F with their
 *   predecessors; of those that cover a byte which is read from memory one was last, which is
 *   chosen, too, and the others precede it. Those not chosen are written later than now, so after
 *   F. The choices split the plain states into disjoint sets, and what is added to R is what holds
 *   in each.
 * - Fence. Own entries are written now: they join F with their predecessors.
 * - A flushed entry that precedes all other live entries with some of its bytes is the first of
 *   them to be written in all plain states: it can be in m as well. One that precedes another
 *   flushed one that covers it is never seen again. Both leave, and since R is closed nothing about
 *   others is lost.
 *
 * No choice gives a cycle: a set that is closed under predecessors is put before what is not in it,
 * or one maximal element after others. A bound counts entries that are not flushed. A store into a
 * full buffer flushes the oldest first, which the plain machine must have done by now.
 *
 * A store may be done early, together with the action before it: each plain state of the later
 * store is one of the earlier one, in which nobody happened to write it before. A fence may be done
 * late, with the load after it, for the same reason; but not past a store, which then would be
 * late. */
#include <assert.h>
#include <stdlib.h>

#include "buffers.h"
#include "order.h"
#include "record.h"

struct delayed {
    struct buffers buffers; /* first: what all models with buffers share looks there */
    struct order order;
    struct slot_set flushed;
    uint32_t section; /* slot that stands for the beginning of a section; ORDER_NONE */
};

static struct delayed *delayed_of(const struct state *s) { return s->buffers; }

static void *delayed_make(const struct state *s)
{
    (void)s;
    struct delayed *d = calloc(1, sizeof *d);
    if (d && buffers_make(&d->buffers, ORDER_SLOTS))
        return d;
    free(d);
    return NULL;
}

static void delayed_copy(const struct state *s, void *to, const void *from)
{
    (void)s;
    struct delayed *t = to;
    const struct delayed *f = from;
    buffers_copy(&t->buffers, &f->buffers);
    order_copy(&t->order, &f->order);
    t->flushed = f->flushed;
    t->section = f->section;
}

static void delayed_reset(struct state *s)
{
    struct delayed *d = delayed_of(s);
    buffers_reset(&d->buffers);
    order_reset(&d->order);
    d->flushed = order_empty();
    d->section = ORDER_NONE;
}

static uint32_t unflushed(const struct state *s, uint32_t thread)
{
    const struct buffer *b = &buffers_of(s)->of[thread];
    uint32_t n = 0;
    while (n < b->count && !b->entry[b->count - 1 - n].mark)
        n++;
    return n;
}

/* ---- all entries -------------------------------------------------------------------------- */

/* Goes through the entries of all threads; next() is NULL after the last. */
struct walk {
    const struct state *s;
    uint32_t thread, k;
};

static struct buffer_entry *next(struct walk *w)
{
    struct buffers *all = buffers_of(w->s);
    for (; w->thread < all->threads; w->thread++, w->k = 0)
        if (w->k < all->of[w->thread].count)
            return &all->of[w->thread].entry[w->k++];
    return NULL;
}

static bool overlaps(const struct buffer_entry *e, const struct buffer_entry *f)
{
    return entries_overlap(e->address, e->size, f->address, f->size);
}

static bool covers_all(const struct buffer_entry *e, const struct buffer_entry *f)
{
    return f->address >= e->address && f->address + f->size <= e->address + e->size;
}

static void remove_entry(struct state *s, uint32_t thread, uint32_t k)
{
    struct delayed *d = delayed_of(s);
    uint32_t slot = d->buffers.of[thread].entry[k].slot;
    order_release(&d->order, slot);
    set_take(&d->flushed, slot);
    buffer_remove(&d->buffers.of[thread], k);
}

enum fate { STAYS, COVERED, SETTLES };

static enum fate fate_of(const struct state *s, const struct buffer_entry *e)
{
    const struct delayed *d = delayed_of(s);
    enum fate fate = SETTLES;
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *f; (f = next(&w));) {
        if (f == e || !overlaps(e, f))
            continue;
        if (!order_precedes(&d->order, e->slot, f->slot))
            fate = STAYS;
        else if (f->mark && covers_all(f, e))
            return COVERED;
    }
    return fate;
}

/* Entries that make no difference any more leave. */
static void settle(struct state *s)
{
    struct delayed *d = delayed_of(s);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t t = 0; t < d->buffers.threads; t++)
            for (uint32_t k = 0; k < d->buffers.of[t].count && d->buffers.of[t].entry[k].mark;
                 k++) {
                const struct buffer_entry *e = &d->buffers.of[t].entry[k];
                enum fate fate = fate_of(s, e);
                if (fate == STAYS)
                    continue;
                if (e->cause != UINT32_MAX)
                    record_commit(s, t, e);
                if (fate == SETTLES)
                    state_put(s, state_peek(s, e->address, e->size, true), e->size, e->value);
                remove_entry(s, t, k--);
                again = true;
            }
    }
}

/* A set that is closed under predecessors is flushed. */
static void flush(struct state *s, const struct slot_set *set)
{
    struct delayed *d = delayed_of(s);
    struct walk w = { s, 0, 0 };
    for (struct buffer_entry *e; (e = next(&w));)
        if (set_has(set, e->slot)) {
            e->mark = true;
            set_put(&d->flushed, e->slot);
        }
}

/* The first `count` own entries, and what precedes them. */
static void flush_own(struct state *s, uint32_t thread, uint32_t count)
{
    struct delayed *d = delayed_of(s);
    struct slot_set set = d->flushed;
    state_touch_buffers(s);
    if (count)
        order_close(&d->order, &set, d->buffers.of[thread].entry[count - 1].slot);
    flush(s, &set);
    settle(s);
}

/* ---- stores and fences -------------------------------------------------------------------- */

static enum readiness delayed_look(const struct state *s, const struct access *a)
{
    switch (a->kind) {
    case ACCESS_STORE:
        return unflushed(s, a->thread) < buffers_capacity(s->options) ? READY_QUIET : READY;
    case ACCESS_FENCE:
        return fence_drains(a->order) && unflushed(s, a->thread) ? READY_FIRST : READY_QUIET;
    default: return READY;
    }
}

static struct buffer_entry *push(struct state *s, const struct access *a, uint32_t value)
{
    struct delayed *d = delayed_of(s);
    const struct buffer *b = &d->buffers.of[a->thread];
    state_touch_buffers(s);
    uint32_t slot = order_take(&d->order);
    if (slot == ORDER_NONE) {
        state_too_long(s,
                       "more than 1024 stores wait in buffers; give a smaller bound (--buffers)");
        return NULL;
    }
    struct slot_set before = d->flushed;
    if (b->count)
        order_close(&d->order, &before, b->entry[b->count - 1].slot);
    order_set_before(&d->order, &before, slot);
    struct buffer_entry *e = buffer_push(s, a, value);
    e->slot = (uint16_t)slot;
    return e;
}

static void delayed_store(struct state *s, const struct access *a, uint32_t value)
{
    const struct buffer *b = &buffers_of(s)->of[a->thread];
    uint32_t waiting = unflushed(s, a->thread);
    if (waiting >= buffers_capacity(s->options))
        flush_own(s, a->thread, b->count - waiting + 1);
    push(s, a, value);
}

static void delayed_fence(struct state *s, const struct access *a)
{
    if (fence_drains(a->order) && unflushed(s, a->thread))
        flush_own(s, a->thread, buffers_of(s)->of[a->thread].count);
}

/* ---- loads -------------------------------------------------------------------------------- */

struct loading {
    const struct access *a;
    uint32_t value;
    uint8_t from_memory;              /* bytes of the access that are not forwarded */
    struct slot_set committed;        /* what is written now */
    struct slot_set later;            /* what is not */
    const struct buffer_entry *waits; /* the oldest own entry that is forwarded */
};

static bool others_have(const struct state *s, const struct access *a)
{
    const struct buffers *all = buffers_of(s);
    for (uint32_t t = 0; t < all->threads; t++) {
        if (t == a->thread)
            continue;
        for (uint32_t k = 0; k < all->of[t].count; k++)
            if (entries_overlap(a->address, a->size, all->of[t].entry[k].address,
                                all->of[t].entry[k].size))
                return true;
    }
    return false;
}

static void put_byte(struct loading *l, uint32_t i, uint8_t byte)
{
    l->value = (l->value & ~(0xffu << i * 8)) | (uint32_t)byte << i * 8;
}

static const struct buffer_entry *newest_own(const struct state *s, const struct access *a,
                                             uint32_t byte)
{
    const struct buffer *b = &buffers_of(s)->of[a->thread];
    for (uint32_t k = b->count; k--;)
        if (entry_covers(&b->entry[k], byte))
            return &b->entry[k];
    return NULL;
}

/* Which of the own entries that would be forwarded still are in the buffer: those from a chosen one
 * on. */
static void choose_forwarded(struct state *s, struct loading *l)
{
    const struct access *a = l->a;
    const struct buffer_entry *newest[4], *in_question[4];
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->size; i++)
        newest[i] = newest_own(s, a, a->address + i);
    const struct buffer *b = &buffers_of(s)->of[a->thread];
    for (uint32_t k = 0; k < b->count; k++)
        for (uint32_t i = 0; i < a->size; i++)
            if (newest[i] == &b->entry[k] && !b->entry[k].mark) {
                in_question[n++] = newest[i];
                break;
            }
    uint32_t written = state_choose(s, n + 1);
    l->waits = written < n ? in_question[written] : NULL;
    l->from_memory = 0;
    for (uint32_t i = 0; i < a->size; i++) {
        if (l->waits && newest[i] && newest[i] >= l->waits)
            put_byte(l, i, entry_byte(newest[i], a->address + i));
        else
            l->from_memory |= (uint8_t)(1u << i);
    }
}

static bool reads_from(const struct loading *l, const struct buffer_entry *e)
{
    for (uint32_t i = 0; i < l->a->size; i++)
        if (l->from_memory >> i & 1 && entry_covers(e, l->a->address + i))
            return true;
    return false;
}

/* Which entries of what is read are written by now: all flushed and own ones, of others those that
 * are chosen, and always what precedes one. */
static void choose_committed(struct state *s, struct loading *l)
{
    struct delayed *d = delayed_of(s);
    const struct order *o = &d->order;
    l->committed = d->flushed;
    l->later = order_empty();
    const struct buffer *own = &d->buffers.of[l->a->thread];
    for (uint32_t k = 0; k < own->count; k++)
        if (reads_from(l, &own->entry[k]))
            order_close(o, &l->committed, own->entry[k].slot);
    if (l->waits)
        set_put(&l->later, l->waits->slot);
    if (d->section != ORDER_NONE)
        set_put(&l->later, d->section);
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *e; (e = next(&w));) {
        if (set_has(&l->committed, e->slot) || !reads_from(l, e))
            continue;
        bool chosen = !order_meets(o, &o->before[e->slot], &l->later) && state_choose(s, 2);
        if (chosen)
            order_close(o, &l->committed, e->slot);
        else
            set_put(&l->later, e->slot);
    }
}

static bool is_last(const struct state *s, const struct buffer_entry *e, uint32_t byte)
{
    const struct delayed *d = delayed_of(s);
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *f; (f = next(&w));)
        if (f->mark && entry_covers(f, byte) && order_precedes(&d->order, e->slot, f->slot))
            return false;
    return true;
}

/* Of the flushed entries with this byte that may be the last, the one that was, which all precede
 * from now on; NULL: there are none. */
static const struct buffer_entry *choose_last(struct state *s, uint32_t byte)
{
    struct delayed *d = delayed_of(s);
    const struct buffer_entry *last[EXPLORE_THREADS];
    uint32_t n = 0;
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *e; (e = next(&w));)
        if (e->mark && entry_covers(e, byte) && is_last(s, e, byte))
            last[n++] = e;
    if (!n)
        return NULL;
    const struct buffer_entry *chosen = last[state_choose(s, n)];
    struct slot_set others = order_empty();
    for (uint32_t i = 0; i < n; i++)
        if (last[i] != chosen)
            order_close(&d->order, &others, last[i]->slot);
    if (n > 1)
        order_set_before(&d->order, &others, chosen->slot);
    return chosen;
}

/* What is not written yet comes after all that is. */
static void put_later(struct state *s, const struct loading *l)
{
    struct delayed *d = delayed_of(s);
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *e; (e = next(&w));)
        if (set_has(&l->later, e->slot))
            order_set_before(&d->order, &d->flushed, e->slot);
}

/* All entries that are read are of the bytes of the access, no more and no less: the usual case. */
static bool is_uniform(const struct state *s, const struct loading *l)
{
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *e; (e = next(&w));)
        if (reads_from(l, e) && (e->address != l->a->address || e->size != l->a->size))
            return false;
    return l->from_memory == (1u << l->a->size) - 1;
}

static void read_bytes(struct state *s, struct loading *l)
{
    const struct access *a = l->a;
    if (is_uniform(s, l)) {
        const struct buffer_entry *last = choose_last(s, a->address);
        l->value = last ? last->value
                        : state_get(state_peek(s, a->address, a->size, false), a->size);
        return;
    }
    for (uint32_t i = 0; i < a->size; i++) {
        if (!(l->from_memory >> i & 1))
            continue;
        const struct buffer_entry *last = choose_last(s, a->address + i);
        put_byte(l, i,
                 last ? entry_byte(last, a->address + i)
                      : *state_peek(s, a->address + i, 1, false));
    }
}

/* What is flushed was written before the section began, but for what is written in the section. */
static void put_before_section(struct state *s)
{
    struct delayed *d = delayed_of(s);
    struct slot_set before = d->flushed;
    set_take(&before, d->section);
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *e; (e = next(&w));)
        if (order_precedes(&d->order, d->section, e->slot))
            set_take(&before, e->slot);
    order_set_before(&d->order, &before, d->section);
}

/* Which entries of these bytes are written by now is decided. */
static void decide(struct state *s, struct loading *l)
{
    choose_committed(s, l);
    flush(s, &l->committed);
    if (delayed_of(s)->section != ORDER_NONE)
        put_before_section(s);
}

static void read_memory(struct state *s, struct loading *l)
{
    decide(s, l);
    read_bytes(s, l);
    put_later(s, l);
    settle(s);
}

static uint32_t delayed_load(struct state *s, const struct access *a)
{
    struct loading l = { .a = a };
    if (!others_have(s, a))
        return plain_load(s, a);
    state_touch_buffers(s);
    choose_forwarded(s, &l);
    if (l.waits)
        record_forwarded(s);
    if (l.from_memory)
        read_memory(s, &l);
    else
        order_set_before(&delayed_of(s)->order, &delayed_of(s)->flushed, l.waits->slot);
    return l.value;
}

/* ---- atomics and sections ----------------------------------------------------------------- */

static uint32_t delayed_atomic_read(struct state *s, const struct access *a)
{
    if (unflushed(s, a->thread))
        flush_own(s, a->thread, buffers_of(s)->of[a->thread].count);
    return delayed_load(s, a);
}

/* An entry that is flushed at once: what is not is later. The read before it has decided which that
 * is; in a section there may be none. */
static void delayed_atomic_write(struct state *s, const struct access *a, uint32_t value)
{
    struct delayed *d = delayed_of(s);
    assert(!unflushed(s, a->thread));
    if (d->section != ORDER_NONE && others_have(s, a)) {
        struct loading l = { .a = a, .from_memory = (uint8_t)((1u << a->size) - 1) };
        state_touch_buffers(s);
        decide(s, &l);
        put_later(s, &l);
    }
    struct buffer_entry *e = push(s, a, value);
    if (!e)
        return;
    e->cause = UINT32_MAX; /* no commit of its own */
    e->mark = true;
    set_put(&d->flushed, e->slot);
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *f; (f = next(&w));)
        if (!f->mark && overlaps(e, f))
            order_set_before(&d->order, &d->flushed, f->slot);
    settle(s);
}

/* Within a section nothing is written by others: what is found to be written was so before it
 * began, and what is not comes after its beginning, for which a slot stands that is flushed and has
 * no bytes. */
static void delayed_section(struct state *s, uint32_t thread, bool begins)
{
    struct delayed *d = delayed_of(s);
    (void)thread;
    state_touch_buffers(s);
    if (begins) {
        d->section = order_take(&d->order);
        if (d->section == ORDER_NONE) {
            state_too_long(
                s, "more than 1024 stores wait in buffers; give a smaller bound (--buffers)");
            return;
        }
        order_set_before(&d->order, &d->flushed, d->section);
        set_put(&d->flushed, d->section);
    } else if (d->section != ORDER_NONE) {
        order_release(&d->order, d->section);
        set_take(&d->flushed, d->section);
        d->section = ORDER_NONE;
    }
}

/* ---- the rest ----------------------------------------------------------------------------- */

static uint32_t delayed_moves(const struct state *s, uint32_t thread)
{
    (void)s, (void)thread;
    return 0;
}

static void delayed_move(struct state *s, uint32_t thread, uint32_t k)
{
    (void)s, (void)thread, (void)k;
}

static void delayed_drop(struct state *s, uint32_t thread, uint32_t from, uint32_t to)
{
    struct buffers *all = buffers_of(s);
    bool dropped = false;
    for (uint32_t t = 0; t < all->threads; t++)
        for (uint32_t k = all->of[t].count; k--;) {
            const struct buffer_entry *e = &all->of[t].entry[k];
            if (!entries_overlap(from, to - from, e->address, e->size))
                continue;
            if (t != thread && !e->mark) {
                state_fail(s, EXPLORE_LATE_STORE,
                           "thread %u's store to 0x%08x still waits in its buffer", t, e->address);
                return;
            }
            state_touch_buffers(s);
            record_drop(s, t, e);
            remove_entry(s, t, k);
            dropped = true;
        }
    if (dropped)
        settle(s);
}

static bool delayed_alone(struct state *s, uint32_t thread)
{
    if (buffers_empty(s->buffers))
        return true;
    if (unflushed(s, thread))
        flush_own(s, thread, buffers_of(s)->of[thread].count);
    return buffers_empty(s->buffers);
}

/* Chooses the last of each byte. True: some were in no order. */
static bool choose_all_last(struct state *s)
{
    uint32_t drawn = s->choices.used;
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *e; (e = next(&w));)
        for (uint32_t i = 0; i < e->size; i++)
            choose_last(s, e->address + i);
    return s->choices.used != drawn;
}

/* Puts two entries with bytes in common that are in no order, and that others hide, into one. */
static void order_hidden(struct state *s)
{
    struct delayed *d = delayed_of(s);
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *e; (e = next(&w));)
        for (struct walk v = w;;) {
            const struct buffer_entry *f = next(&v);
            if (!f)
                break;
            if (!overlaps(e, f) || order_precedes(&d->order, e->slot, f->slot)
                || order_precedes(&d->order, f->slot, e->slot))
                continue;
            struct slot_set before = order_empty();
            order_close(&d->order, &before, e->slot);
            order_set_before(&d->order, &before, f->slot);
            return;
        }
}

static void delayed_drain(struct state *s)
{
    struct delayed *d = delayed_of(s);
    state_touch_buffers(s);
    flush(s, &d->order.used);
    for (settle(s); !buffers_empty(&d->buffers); settle(s))
        if (!choose_all_last(s))
            order_hidden(s);
}

/* ---- as words ----------------------------------------------------------------------------- */

static uint32_t delayed_most_words(const struct state *s)
{
    (void)s;
    return ORDER_SLOTS * ORDER_WORDS * 2 + 2 * ORDER_SLOTS + 1;
}

static uint32_t slots_in_order(const struct state *s, uint16_t *slots, bool *several)
{
    uint32_t n = 0, owners = 0;
    struct walk w = { s, 0, 0 };
    for (const struct buffer_entry *e; (e = next(&w));) {
        slots[n++] = e->slot;
        owners += w.k == 1;
    }
    *several = owners > 1;
    return n;
}

/* The order as bits, entries by thread and age. Within one buffer it is known. */
static uint32_t delayed_pack(const struct state *s, uint32_t part, uint32_t *words)
{
    if (part != EXPLORE_THREADS)
        return buffer_pack(s, part, words);
    const struct delayed *d = delayed_of(s);
    uint16_t slots[ORDER_SLOTS];
    bool several;
    uint32_t n = slots_in_order(s, slots, &several), bit = 0;
    if (!several)
        return 0;
    uint32_t count = (n * n + 31) / 32;
    for (uint32_t i = 0; i < count; i++)
        words[i] = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++, bit++)
            if (order_precedes(&d->order, slots[j], slots[i]))
                words[bit / 32] |= 1u << bit % 32;
    return count;
}

static void unpack_order(struct state *s, const uint32_t *words, uint32_t count)
{
    struct delayed *d = delayed_of(s);
    uint16_t slots[ORDER_SLOTS];
    bool several;
    order_reset(&d->order);
    d->flushed = order_empty();
    struct walk w = { s, 0, 0 };
    for (struct buffer_entry *e; (e = next(&w));) {
        struct slot_set before = order_empty();
        e->slot = (uint16_t)order_take(&d->order);
        if (w.k > 1)
            order_close(&d->order, &before, e[-1].slot);
        order_set_before(&d->order, &before, e->slot);
        if (e->mark)
            set_put(&d->flushed, e->slot);
    }
    uint32_t n = slots_in_order(s, slots, &several), bit = 0;
    if (!several || !count)
        return;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++, bit++)
            if (words[bit / 32] >> bit % 32 & 1)
                set_put(&d->order.before[slots[i]], slots[j]);
}

/* The packer gives the threads first, and then what is no thread's. */
static void delayed_unpack(struct state *s, uint32_t part, const uint32_t *words, uint32_t count)
{
    if (part != EXPLORE_THREADS)
        buffer_unpack(s, part, words, count);
    else
        unpack_order(s, words, count);
}

/* clang-format off */
const struct memory_model tso_delayed_model = {
    .make = delayed_make, .drop_made = plain_drop_made, .copy = delayed_copy,
    .reset = delayed_reset,
    .look = delayed_look, .load = delayed_load, .store = delayed_store, .fence = delayed_fence,
    .atomic_read = delayed_atomic_read, .atomic_write = delayed_atomic_write,
    .section = delayed_section, .moves = delayed_moves, .move = delayed_move, .drop = delayed_drop,
    .alone = delayed_alone, .drain = delayed_drain, .start = plain_start,
    .most_words = delayed_most_words, .pack = delayed_pack, .unpack = delayed_unpack,
    .peek = buffer_peek, .entry = buffer_view,
};
/* clang-format on */
