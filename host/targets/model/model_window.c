/* SPDX-License-Identifier: Apache-2.0 */
/* RMO: harts that perform a window of operations in any order that is not forbidden.
 *
 * What an operation waits for is decided when it is fetched, as sets of others in flight: barriers,
 * the loads it depends on through registers, and earlier accesses to its bytes: a store waits for
 * all of them, a load for none but swaps; it takes its bytes from the youngest earlier stores in
 * flight. One that depends on a store depends on what the store depends on: `issue`. */
#include "model_parts.h"

bool window_busy(const struct hart *h) { return in_flight(&h->window) != 0; }

/* ---- fetching ------------------------------------------------------------------------------- */

void window_fence(const struct model_machine *m, struct window *w, uint8_t barrier)
{
    uint32_t loads = w->loads, stores = w->stores;
    if (m->setup.bug == BUG_MEMBAR_IGNORED)
        return;
    if (m->setup.bug == BUG_MEMBAR_HALF) {
        loads &= UINT32_C(0x5555);
        stores &= UINT32_C(0x5555);
    }
    if (barrier & ORDEAL_LL)
        w->before_loads |= loads;
    if (barrier & ORDEAL_SL)
        w->before_loads |= stores;
    if (barrier & ORDEAL_LS)
        w->before_stores |= loads;
    if (barrier & ORDEAL_SS)
        w->before_stores |= stores;
}

uint32_t window_writers(const struct window *w, uint32_t registers)
{
    uint32_t writers = 0;
    for (; registers; registers &= registers - 1)
        writers |= w->writer[__builtin_ctz(registers)];
    return writers;
}

static uint32_t writers_of(const struct window *w, const struct instruction *i)
{
    uint32_t compared = i->compare_register;
    return window_writers(w, i->needs | (compared == NO_REGISTER ? 0 : UINT32_C(1) << compared));
}

/* Earlier operations in flight on the same bytes. */
static void wait_for_same_bytes(const struct model_machine *m, const struct window *w,
                                struct flying *f, bool writes)
{
    for (uint32_t rest = in_flight(w); rest; rest &= rest - 1) {
        uint32_t place = (uint32_t)__builtin_ctz(rest), bit = UINT32_C(1) << place;
        const struct flying *earlier = &w->flying[place];
        if (earlier->cell != f->cell || !(earlier->mask & f->mask))
            continue;
        if (w->stores & bit)
            f->issue |= earlier->issue;
        if (w->loads & bit && (writes || w->stores & bit))
            f->issue |= bit;
        if (writes && m->setup.bug != BUG_SAME_WORD_REORDERED)
            f->waits |= w->stores & bit;
    }
}

void window_take_off(struct window *w, struct flying *f, bool reads, bool writes)
{
    uint32_t number = w->next - 1, bit = bit_of(number);
    f->waits |= f->issue;
    assert(!(in_flight(w) & bit) && !(f->waits & ~in_flight(w))); /* for those that will land */
    for (uint32_t rest = f->waits; rest; rest &= rest - 1)
        w->flying[__builtin_ctz(rest)].followers |= bit;
    if (reads)
        w->loads |= bit;
    if (writes)
        w->stores |= bit;
    if (!f->waits)
        w->ready |= bit;
    if (f->sets != NO_REGISTER) {
        w->writer[f->sets] = bit;
        w->writer_number[f->sets] = number;
    }
}

struct flying *window_fetch(struct hart *h, const struct instruction *i)
{
    struct window *w = &h->window;
    assert(window_has_room(h) && h->depth <= DEEPEST);
    struct reach r = reach_of(i, h->part);
    struct flying *f = &w->flying[place_of(w->next++)];
    *f = (struct flying){ .cell = r.cell, .mask = r.mask, .shift = (uint8_t)r.shift,
                          .kind = i->kind, .sets = i->sets, .output = NOBODY,
                          .compare_from = NOBODY };
    assert(!i->observed || h->slot < h->thread->first_slot + h->thread->slots);
    if (i->observed)
        f->output = h->slot++;
    if (i->kind != ORDEAL_LOAD && i->kind != ORDEAL_LOAD_RESERVED)
        f->value = hart_writes(h, i, r.shift);
    if (i->kind == ORDEAL_AMO) {
        f->function = i->function;
        f->size_log2 = i->size_log2;
    }
    if (i->kind != ORDEAL_CAS)
        return f;
    f->compare = hart_compares(h, i);
    if (i->compare_register != NO_REGISTER && w->writer[i->compare_register])
        f->compare_from = w->writer_number[i->compare_register];
    return f;
}

static bool window_issue(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    struct window *w = &h->window;
    bool reads = i->kind != ORDEAL_STORE, writes = i->kind != ORDEAL_LOAD;
    if (i->kind == ORDEAL_MEMBAR) {
        window_fence(m, w, i->barrier);
        return true;
    }
    if (!window_has_room(h))
        return false;
    uint32_t writers = writers_of(w, i);
    struct flying *f = window_fetch(h, i);
    f->waits |= reads ? w->before_loads : 0;
    f->waits |= writes ? w->before_stores : 0;
    if (m->setup.bug == BUG_DEPENDENCE_IGNORED)
        f->compare_from = NOBODY;
    else
        f->issue = writers;
    wait_for_same_bytes(m, w, f, writes);
    window_take_off(w, f, reads, writes);
    return true;
}

/* ---- performing ----------------------------------------------------------------------------- */

uint64_t window_sees(struct model_machine *m, struct hart *h, uint32_t number)
{
    const struct window *w = &h->window;
    const struct flying *f = &w->flying[place_of(number)];
    uint64_t value = cell_read(m, h, f->cell);
    if (m->setup.bug == BUG_NO_FORWARD)
        return value;
    for (uint32_t k = w->oldest; k != number; k++) {
        const struct flying *earlier = &w->flying[place_of(k)];
        if (!(w->stores & bit_of(k)) || earlier->cell != f->cell)
            continue;
        if (m->setup.bug == BUG_FORWARD_BYTES)
            value = earlier->value;
        else
            value = merged(value, earlier->value, earlier->mask);
        if (m->setup.bug == BUG_FORWARD_OLDEST && earlier->mask & f->mask)
            break;
    }
    return value;
}

/* Those that wait for it go on; those that compare with what it read learn it. */
static void let_followers_go(struct window *w, uint32_t number, uint64_t value)
{
    uint32_t bit = bit_of(number);
    for (uint32_t rest = w->flying[place_of(number)].followers; rest; rest &= rest - 1) {
        struct flying *follower = &w->flying[__builtin_ctz(rest)];
        follower->waits &= ~bit;
        follower->issue &= ~bit;
        if (!follower->waits)
            w->ready |= rest & -rest;
        if (follower->compare_from == number) {
            follower->compare = value & follower->mask >> follower->shift;
            follower->compare_from = NOBODY;
        }
    }
}

void window_land(struct hart *h, uint32_t number, uint64_t value)
{
    struct window *w = &h->window;
    const struct flying *f = &w->flying[place_of(number)];
    uint32_t gone = ~bit_of(number);
    assert(in_flight(w) & ~gone && !f->waits);
    w->loads &= gone;
    w->stores &= gone;
    w->ready &= gone;
    w->before_loads &= gone;
    w->before_stores &= gone;
    h->riscv.branches &= gone;
    h->riscv.addresses &= gone;
    h->riscv.marked &= gone;
    if (f->sets != NO_REGISTER) {
        if (w->writer_number[f->sets] == number)
            h->registers[f->sets] = value;
        w->writer[f->sets] &= gone;
    }
    let_followers_go(w, number, value);
    while (w->oldest != w->next && !(in_flight(w) & bit_of(w->oldest)))
        w->oldest++;
}

bool window_first_half(struct model_machine *m, struct flying *f, uint64_t *value)
{
    if (f->kind == ORDEAL_LOAD)
        return m->setup.bug == BUG_TORN_LOAD
            && torn_load(m, &f->half, &f->held, value, f->mask == UINT64_MAX ? 3 : 0);
    if (f->half) {
        *value = f->held;
        return false;
    }
    if (!bug_strikes(m, BUG_SWAP_NOT_ATOMIC, 128))
        return false;
    f->half = true;
    f->held = *value;
    return true;
}

static void perform(struct model_machine *m, struct hart *h, uint32_t number)
{
    struct flying *f = &h->window.flying[place_of(number)];
    uint64_t cell = f->kind == ORDEAL_STORE ? 0 : window_sees(m, h, number);
    if (f->kind != ORDEAL_STORE && window_first_half(m, f, &cell))
        return;
    uint64_t value = (cell & f->mask) >> f->shift;
    if (f->kind == ORDEAL_AMO)
        f->value = amo_leaves(m, f->function, f->size_log2, value, f->value >> f->shift)
                << f->shift;
    if (f->kind == ORDEAL_STORE || (f->kind != ORDEAL_LOAD
                                    && swap_writes(m, f->kind, value, f->compare)))
        cell_write(m, h, f->cell, f->value, f->mask);
    if (f->kind == ORDEAL_STORE && bug_strikes(m, BUG_STORE_TWICE, 64))
        return;
    if (f->output != NOBODY)
        m->values[f->output] = value;
    window_land(h, number, value);
}

/* Any that is ready. */
static bool window_advance(struct model_machine *m, struct hart *h, uint64_t chance)
{
    struct window *w = &h->window;
    uint32_t ready = w->ready;
    assert(ready && !(ready & ~in_flight(w))); /* the oldest waits for nobody */
    uint32_t skip = (uint32_t)((chance & 0xffff) * (uint32_t)__builtin_popcount(ready) >> 16);
    while (skip-- > 0)
        ready &= ready - 1;
    uint32_t place = (uint32_t)__builtin_ctz(ready), oldest = place_of(w->oldest);
    perform(m, h, w->oldest + (place + DEEPEST - oldest) % DEEPEST);
    return true;
}

const struct discipline window_discipline = { window_issue, window_advance, window_busy };
