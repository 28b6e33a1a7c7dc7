/* SPDX-License-Identifier: Apache-2.0 */
/* SC, TSO, PSO and PC: harts that execute in order, their stores waiting in a buffer.
 *
 * A load takes what the youngest stores of the buffer have of its bytes, the rest from memory. SC
 * has no buffer. TSO's is a queue; PSO's lets stores to different cells pass each other, though not
 * a store barrier. Under PC a store that leaves the queue is first opened, which decides its place
 * in the order of its cell, and then lands in one hart's copy of memory after the other; the
 * next one is opened when it has landed everywhere. */
#include "model_parts.h"

#include <string.h>

static bool views(const struct model_machine *m) { return m->first_opened != NULL; }

static uint32_t count_of(const struct store_buffer *b) { return b->end - b->first; }

static bool buffered_busy(const struct hart *h) { return h->buffer.end != h->buffer.first; }

static void push(struct store_buffer *b, struct reach r, uint64_t value)
{
    if (b->end == 2 * DEEPEST) {
        memmove(b->store, b->store + b->first, count_of(b) * sizeof *b->store);
        b->end -= b->first;
        b->first = 0;
    }
    assert(b->first <= b->end && b->end < 2 * DEEPEST);
    b->store[b->end++] = (struct store){ value, r.mask, r.cell, b->epoch };
}

static void remove_store(struct store_buffer *b, uint32_t at)
{
    assert(at >= b->first && at < b->end);
    memmove(b->store + b->first + 1, b->store + b->first, (at - b->first) * sizeof *b->store);
    b->first++;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* PC: memory as the hart sees it. */
static uint64_t view_of(const struct model_machine *m, const struct hart *h, uint32_t cell)
{
    uint64_t value = m->memory[cell];
    bool split = m->setup.bug == BUG_COHERENCE_SPLIT && h->index % 2;
    for (uint32_t k = m->first_opened[cell]; k != NOBODY; k = m->hart[k].opened.next) {
        const struct hart *from = &m->hart[k];
        const struct store *s = &from->buffer.store[from->buffer.first];
        if (in_set(from->opened.landed, h->index)) {
            value = merged(value, s->value, s->mask);
            if (split)
                break;
        } else if (m->setup.bug != BUG_COHERENCE_SPLIT) {
            break;
        }
    }
    return value;
}

/* The stores that the hart does not see in memory yet. */
static uint32_t first_unseen(const struct hart *h)
{
    return h->buffer.first + (h->opened.is && in_set(h->opened.landed, h->index));
}

static uint64_t forward(const struct model_machine *m, const struct hart *h, struct reach r,
                        uint64_t value)
{
    const struct store_buffer *b = &h->buffer;
    if (m->setup.bug == BUG_NO_FORWARD)
        return value;
    for (uint32_t k = first_unseen(h); k < b->end; k++) {
        const struct store *s = &b->store[k];
        if (s->cell != r.cell)
            continue;
        if (m->setup.bug == BUG_FORWARD_BYTES)
            value = s->value;
        else
            value = merged(value, s->value, s->mask);
        if (m->setup.bug == BUG_FORWARD_OLDEST && s->mask & r.mask)
            break;
    }
    return value;
}

/* The whole cell. */
static uint64_t see(struct model_machine *m, struct hart *h, struct reach r)
{
    uint64_t value;
    if (!views(m))
        value = cell_read(m, h, r.cell);
    else if (m->guarded)
        value = cell_read_guarded(m, h, r.cell, view_of(m, h, r.cell));
    else
        value = view_of(m, h, r.cell);
    return forward(m, h, r, value);
}

static bool issue_load(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    struct reach r = reach_of(i, h->part);
    uint64_t value = see(m, h, r);
    if (m->setup.bug == BUG_TORN_LOAD && torn_load(m, &h->half, &h->held, &value, i->size_log2))
        return false;
    deliver(m, h, i, (value & r.mask) >> r.shift);
    return true;
}

/* ---- PC: opening and landing ---------------------------------------------------------------- */

static void open_oldest(struct model_machine *m, struct hart *h)
{
    assert(!h->opened.is && buffered_busy(h));
    uint32_t cell = h->buffer.store[h->buffer.first].cell, last = m->last_opened[cell];
    h->opened = (struct opened){ .is = true, .next = NOBODY, .previous = last };
    if (last == NOBODY)
        m->first_opened[cell] = h->index;
    else
        m->hart[last].opened.next = h->index;
    m->last_opened[cell] = h->index;
}

/* It has landed everywhere: memory itself has it. */
static void close_opened(struct model_machine *m, struct hart *h)
{
    assert(h->opened.is && buffered_busy(h));
    const struct store *s = &h->buffer.store[h->buffer.first];
    uint32_t next = h->opened.next, previous = h->opened.previous;
    cell_write(m, h, s->cell, s->value, s->mask);
    *(previous == NOBODY ? &m->first_opened[s->cell] : &m->hart[previous].opened.next) = next;
    *(next == NOBODY ? &m->last_opened[s->cell] : &m->hart[next].opened.previous) = previous;
    h->opened.is = false;
    if (!bug_strikes(m, BUG_STORE_TWICE, 64))
        h->buffer.first++;
}

/* Land in some more copies of memory: never before the one opened before it. */
static void land_in_some(struct model_machine *m, struct hart *h)
{
    uint32_t previous = m->setup.bug == BUG_COHERENCE_SPLIT ? NOBODY : h->opened.previous;
    const uint64_t *before = previous == NOBODY ? NULL : m->hart[previous].opened.landed;
    bool everywhere = true;
    for (uint32_t w = 0; w < m->words; w++) {
        uint32_t rest = m->harts - w * 64;
        uint64_t harts = rest >= 64 ? UINT64_MAX : (UINT64_C(1) << rest) - 1;
        h->opened.landed[w] |= random_next(&m->random) & harts & (before ? before[w] : UINT64_MAX);
        everywhere &= h->opened.landed[w] == harts;
    }
    if (everywhere)
        close_opened(m, h);
}

/* Land everywhere, and let those in front do so first. */
static void land_everywhere(struct model_machine *m, struct hart *h)
{
    uint32_t cell = h->buffer.store[h->buffer.first].cell;
    while (h->opened.is) {
        assert(m->first_opened[cell] != NOBODY);
        close_opened(m, &m->hart[m->first_opened[cell]]);
    }
}

static void land(struct model_machine *m, struct hart *h, uint64_t chance)
{
    if (chance % 4 == 0)
        land_everywhere(m, h);
    else
        land_in_some(m, h);
}

static void advance_views(struct model_machine *m, struct hart *h, uint64_t chance)
{
    struct store_buffer *b = &h->buffer;
    if (h->opened.is) {
        land(m, h, chance);
        return;
    }
    if (m->setup.bug == BUG_BUFFER_NOT_FIFO) {
        uint32_t at = b->first + (uint32_t)(chance % count_of(b));
        struct store s = b->store[at];
        remove_store(b, at);
        b->store[--b->first] = s;
    }
    open_oldest(m, h);
    land(m, h, chance >> 16);
}

/* ---- leaving the buffer --------------------------------------------------------------------- */

/* PSO: may the store pass those in front of it? */
static bool may_leave(const struct model_machine *m, const struct store_buffer *b, uint32_t at)
{
    if (b->store[at].epoch != b->store[b->first].epoch)
        return false;
    if (m->setup.bug == BUG_SAME_WORD_REORDERED)
        return true;
    for (uint32_t k = b->first; k < at; k++)
        if (b->store[k].cell == b->store[at].cell)
            return false;
    return true;
}

static uint32_t next_to_leave(const struct model_machine *m, const struct store_buffer *b,
                              uint64_t chance)
{
    uint32_t at = b->first + (uint32_t)((chance & 0xffff) * count_of(b) >> 16);
    if (m->setup.bug == BUG_BUFFER_NOT_FIFO)
        return at;
    return m->setup.model == ORDEAL_PSO && may_leave(m, b, at) ? at : b->first;
}

static bool buffered_advance(struct model_machine *m, struct hart *h, uint64_t chance)
{
    struct store_buffer *b = &h->buffer;
    if (views(m)) {
        advance_views(m, h, chance);
        return true;
    }
    uint32_t at = next_to_leave(m, b, chance);
    struct store s = b->store[at];
    if (!bug_strikes(m, BUG_STORE_TWICE, 64))
        remove_store(b, at);
    cell_write(m, h, s.cell, s.value, s.mask);
    return true;
}

/* ---- issuing -------------------------------------------------------------------------------- */

static bool issue_store(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    struct store_buffer *b = &h->buffer;
    struct reach r = reach_of(i, h->part);
    uint64_t value = hart_writes(h, i, r.shift);
    if (m->setup.model == ORDEAL_SC) {
        cell_write(m, h, r.cell, value, r.mask);
        return true;
    }
    if (count_of(b) >= h->depth) {
        if (m->setup.bug != BUG_BUFFER_OVERFLOWS || (count_of(b) == 1 && h->opened.is))
            return false;
        b->end--;
    }
    push(b, r, value);
    return true;
}

/* Must stores of the buffer, or under PC others' on their way, reach memory before a swap may? */
static bool swap_waits(const struct model_machine *m, const struct hart *h, uint32_t cell)
{
    const struct store_buffer *b = &h->buffer;
    if (views(m) && m->first_opened[cell] != NOBODY)
        return true;
    if (m->setup.bug == BUG_SWAP_NO_DRAIN)
        return h->opened.is;
    if (m->setup.model != ORDEAL_PSO)
        return buffered_busy(h);
    if (buffered_busy(h) && b->store[b->first].epoch != b->epoch)
        return true;
    for (uint32_t k = b->first; k < b->end; k++)
        if (b->store[k].cell == cell)
            return true;
    return false;
}

/* Under PC the store of a swap has its place in the order at once, and lands like others. */
static void store_of_swap(struct model_machine *m, struct hart *h, struct reach r, uint64_t value)
{
    if (!views(m)) {
        cell_write(m, h, r.cell, value, r.mask);
        return;
    }
    push(&h->buffer, r, value);
    if (count_of(&h->buffer) > 1) { /* it did not wait for the others */
        struct store s = h->buffer.store[h->buffer.end - 1];
        remove_store(&h->buffer, h->buffer.end - 1);
        h->buffer.store[--h->buffer.first] = s;
    }
    open_oldest(m, h);
}

static bool issue_swap(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    struct reach r = reach_of(i, 0);
    if (swap_waits(m, h, r.cell))
        return false;
    uint64_t value = (cell_read(m, h, r.cell) & r.mask) >> r.shift;
    if (h->half) {
        value = h->held;
        h->half = false;
    } else if (bug_strikes(m, BUG_SWAP_NOT_ATOMIC, 128)) {
        h->half = true;
        h->held = value;
        sleep_for(m, h, 1);
        return false;
    }
    if (swap_writes(m, i->kind, value, hart_compares(h, i)))
        store_of_swap(m, h, r, hart_swaps(m, h, i, value, r.shift));
    deliver(m, h, i, value);
    return true;
}

static bool issue_membar(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    struct store_buffer *b = &h->buffer;
    uint32_t left = 0;
    if (m->setup.bug == BUG_MEMBAR_IGNORED)
        return true;
    if (m->setup.bug == BUG_MEMBAR_HALF)
        left = h->depth / 2;
    if (i->barrier & ORDEAL_SL && count_of(b) > left)
        return false;
    if (i->barrier & ORDEAL_SS && m->setup.bug != BUG_MEMBAR_HALF)
        b->epoch++;
    return true;
}

static bool buffered_issue(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    switch (i->kind) {
    case ORDEAL_LOAD:   return issue_load(m, h, i);
    case ORDEAL_STORE:  return issue_store(m, h, i);
    case ORDEAL_MEMBAR: return issue_membar(m, h, i);
    default:            return issue_swap(m, h, i);
    }
}

const struct discipline buffered_discipline = { buffered_issue, buffered_advance, buffered_busy };
