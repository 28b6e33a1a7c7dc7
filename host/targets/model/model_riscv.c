/* SPDX-License-Identifier: Apache-2.0 */
/* RVWMO and RVTSO: harts that perform a window of operations in any order that RISC-V's preserved
 * program order (PPO) leaves them. The order in which they are performed is the global memory order.
 *
 * What an operation waits for is decided when it is fetched, but for rule 2: a load may pass an
 * earlier one of the same bytes, if that then reads what it read. Until it has, others' stores to
 * these bytes wait. So harts may come to wait for each other in a circle; the machine then starts
 * again and is careful: loads pass only those that will be performed whatever other harts do.
 *
 * An SC may fail at once, and is then no access; else it waits for its turn, and fails if another
 * hart stored to what its LR read. A CAS is taken for one that stores until it is performed. */
#include "model_parts.h"

enum { FAILS_AT_ONCE = 24 /* of 256 */ };

static bool is_marked(const struct instruction *i)
{
    return i->flags & (ORDEAL_ACQUIRES | ORDEAL_RELEASES);
}
/* A broken machine forgets that it keeps stores in order, too. */
static uint8_t flavours_of(const struct model_machine *m, const struct instruction *i)
{
    enum { TSO = ORDEAL_LL | ORDEAL_LS | ORDEAL_SS };
    bool weak = m->setup.bug == BUG_FENCE_TSO_WEAK && i->barrier == TSO;
    return weak ? ORDEAL_LL | ORDEAL_LS : i->barrier;
}
static bool is_plain(uint8_t kind) { return kind == ORDEAL_LOAD || kind == ORDEAL_STORE; }

/* ---- fetching ------------------------------------------------------------------------------- */

/* Rules 4 to 7, and with Ztso that loads acquire and stores release. */
static uint32_t waits_by_rank(const struct model_machine *m, const struct hart *h,
                              const struct instruction *i, bool reads, bool writes)
{
    const struct window *w = &h->window;
    uint32_t waits = reads ? w->before_loads : 0;
    if (writes)
        waits |= w->before_stores;
    if (m->setup.model == ORDEAL_RVTSO)
        waits |= writes ? in_flight(w) : w->loads;
    if (i->flags & ORDEAL_RELEASES)
        waits |= in_flight(w);
    if (is_marked(i) && !is_plain(i->kind))
        waits |= h->riscv.marked;
    return waits;
}

/* All that what is in these sets waits for, whatever other harts do. */
static uint32_t closure(const struct window *w, uint32_t set)
{
    uint32_t all = set;
    while (set) {
        uint32_t more = w->flying[__builtin_ctz(set)].waits & ~all;
        all |= more;
        set = (set & (set - 1)) | more;
    }
    return all;
}

/* Rules 1, 3 and 12: earlier accesses to its bytes, from the youngest. */
static void wait_for_same_bytes(const struct model_machine *m, const struct window *w,
                                struct flying *f, bool reads, bool writes)
{
    uint64_t left = f->mask; /* what no store between wrote */
    for (uint32_t number = w->next - 1; number-- != w->oldest;) {
        uint32_t bit = bit_of(number);
        const struct flying *earlier = &w->flying[place_of(number)];
        if (!(in_flight(w) & bit) || earlier->cell != f->cell || !(earlier->mask & f->mask))
            continue;
        bool stores = w->stores & bit, plain = is_plain(earlier->kind);
        if (writes && !(m->setup.bug == BUG_SAME_WORD_REORDERED && stores && plain))
            f->waits |= bit;
        if (reads && stores && earlier->mask & left)
            f->waits |= plain ? earlier->issue : bit;
        if (m->careful && reads && !stores && earlier->mask & left && closure(w, bit) & w->stores)
            f->waits |= bit;
        if (stores)
            left &= ~earlier->mask;
    }
}

/* Rules 9 to 11 and 13. */
static void wait_for_registers(const struct model_machine *m, struct hart *h, struct flying *f,
                               const struct instruction *i, bool writes)
{
    const struct window *w = &h->window;
    uint32_t compared = i->compare_register;
    uint32_t data = i->data | (compared == NO_REGISTER ? 0 : UINT32_C(1) << compared);
    uint32_t addresses = window_writers(w, i->needs);
    if (m->setup.bug == BUG_DEPENDENCE_IGNORED) {
        f->compare_from = NOBODY;
        return;
    }
    if (m->setup.bug == BUG_DATA_IGNORED)
        data &= ~i->data;
    f->issue = addresses | window_writers(w, data);
    if (writes)
        f->waits |= h->riscv.branches | h->riscv.addresses;
    h->riscv.addresses |= addresses;
}

/* What it orders behind itself. */
static void order_behind(const struct model_machine *m, struct hart *h, const struct instruction *i,
                         uint32_t bit)
{
    struct window *w = &h->window;
    if (i->flags & ORDEAL_ACQUIRES && m->setup.bug != BUG_ACQUIRE_IGNORED) {
        w->before_loads |= bit;
        w->before_stores |= bit;
    }
    if (is_marked(i) && !is_plain(i->kind))
        h->riscv.marked |= bit;
}

static struct reservation *last_reservation(struct hart *h)
{
    return &h->riscv.reservation[(h->riscv.reservations - 1) % RESERVATIONS];
}

static void forget(struct model_machine *m, struct reservation *r)
{
    m->watches -= r->read;
    r->read = false;
    r->over = true;
}

/* The SC of the LR before can no longer come. */
static void reserve(struct model_machine *m, struct hart *h, const struct flying *f,
                    uint32_t number)
{
    if (h->riscv.reservations && !last_reservation(h)->used)
        forget(m, last_reservation(h));
    h->riscv.reservations++;
    *last_reservation(h) = (struct reservation){ .mask = f->mask,
                                                 .cell = f->cell,
                                                 .number = number };
}

/* It stores nothing: what depends on it does so on nothing, and nobody waits for it. */
static void fail_at_once(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    if (i->sets != NO_REGISTER) {
        h->window.writer[i->sets] = 0;
        h->window.writer_number[i->sets] = NOBODY;
    }
    last_reservation(h)->used = true;
    forget(m, last_reservation(h));
    deliver(m, h, i, 1);
}

static bool riscv_issue(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    struct window *w = &h->window;
    bool conditional = i->kind == ORDEAL_STORE_CONDITIONAL;
    bool reads = i->kind != ORDEAL_STORE && !conditional;
    bool writes = i->kind != ORDEAL_LOAD && i->kind != ORDEAL_LOAD_RESERVED;
    if (i->kind == ORDEAL_MEMBAR) {
        window_fence(m, w, flavours_of(m, i));
        return true;
    }
    if (!window_has_room(h))
        return false;
    if (m->setup.bug != BUG_DEPENDENCE_IGNORED)
        h->riscv.branches |= window_writers(w, i->control);
    if (conditional && chance_of(m, FAILS_AT_ONCE)) {
        fail_at_once(m, h, i);
        return true;
    }
    struct flying *f = window_fetch(h, i);
    uint32_t number = w->next - 1;
    f->waits = waits_by_rank(m, h, i, reads, writes);
    wait_for_registers(m, h, f, i, writes);
    wait_for_same_bytes(m, w, f, reads, writes);
    if (i->kind == ORDEAL_LOAD_RESERVED)
        reserve(m, h, f, number);
    f->reservation = h->riscv.reservations - 1;
    if (conditional)
        last_reservation(h)->used = true;
    window_take_off(w, f, reads, writes);
    order_behind(m, h, i, bit_of(number));
    return true;
}

/* ---- what other harts' stores meet ---------------------------------------------------------- */

/* Those of the bytes that come from memory, as no store of the hart before `number` will write
 * them. */
static uint64_t from_memory(const struct hart *h, uint32_t number, uint32_t cell, uint64_t mask)
{
    const struct window *w = &h->window;
    uint32_t earlier = number - w->oldest < DEEPEST ? number - w->oldest : 0; /* it may be gone */
    for (uint32_t k = w->oldest; mask && k != w->oldest + earlier; k++) {
        const struct flying *f = &w->flying[place_of(k)];
        if (w->stores & bit_of(k) && f->cell == cell)
            mask &= ~f->mask;
    }
    return mask;
}

static uint32_t number_at(const struct window *w, uint32_t place)
{
    return w->oldest + (place + DEEPEST - place_of(w->oldest)) % DEEPEST;
}

/* Would it change what a load is bound to read? */
static bool is_bound(const struct hart *h, uint32_t cell, uint64_t mask)
{
    for (uint32_t rest = h->riscv.bound; rest; rest &= rest - 1) {
        uint32_t place = (uint32_t)__builtin_ctz(rest);
        const struct flying *f = &h->window.flying[place];
        if (f->cell == cell && f->bound & mask
            && from_memory(h, number_at(&h->window, place), cell, f->bound & mask))
            return true;
    }
    return false;
}

static bool must_wait(const struct model_machine *m, const struct hart *from, uint32_t cell,
                      uint64_t mask)
{
    for (uint32_t k = 0; m->watches && k < m->harts; k++)
        if (&m->hart[k] != from && is_bound(&m->hart[k], cell, mask))
            return true;
    return false;
}

static void lose_reservations(struct model_machine *m, const struct hart *from, uint32_t cell,
                              uint64_t mask)
{
    for (uint32_t k = 0; m->watches && k < m->harts; k++) {
        struct hart *h = &m->hart[k];
        for (uint32_t n = 0; h != from && n < RESERVATIONS; n++) {
            struct reservation *r = &h->riscv.reservation[n];
            if (r->read && r->cell == cell && r->mask & mask
                && from_memory(h, r->number, cell, r->mask & mask))
                r->lost = true;
        }
    }
}

/* ---- performing ----------------------------------------------------------------------------- */

/* Rule 2: what earlier loads of its bytes in flight, with no store between, are to read, too. */
static void bind_earlier(struct model_machine *m, struct hart *h, uint32_t number)
{
    const struct window *w = &h->window;
    const struct flying *f = &w->flying[place_of(number)];
    uint64_t left = f->mask;
    if (m->setup.bug == BUG_LOADS_GO_BACK)
        return;
    for (uint32_t k = number; left && k-- != w->oldest;) {
        struct flying *earlier = &h->window.flying[place_of(k)];
        if (!(in_flight(w) & bit_of(k)) || earlier->cell != f->cell)
            continue;
        if (w->stores & bit_of(k)) {
            left &= ~earlier->mask;
        } else if (earlier->mask & left) {
            m->watches += !earlier->bound;
            earlier->bound |= earlier->mask & left;
            h->riscv.bound |= bit_of(k);
        }
    }
}

static void release_bound(struct model_machine *m, struct hart *h, uint32_t number)
{
    m->watches -= h->window.flying[place_of(number)].bound != 0;
    h->riscv.bound &= ~bit_of(number);
}

static void land(struct model_machine *m, struct hart *h, uint32_t number, uint64_t value)
{
    const struct flying *f = &h->window.flying[place_of(number)];
    if (f->output != NOBODY)
        m->values[f->output] = value;
    release_bound(m, h, number);
    window_land(h, number, value);
}

static void perform_load(struct model_machine *m, struct hart *h, uint32_t number)
{
    struct flying *f = &h->window.flying[place_of(number)];
    uint64_t cell = window_sees(m, h, number);
    if (f->kind == ORDEAL_LOAD && window_first_half(m, f, &cell))
        return;
    bind_earlier(m, h, number);
    struct reservation *r = &h->riscv.reservation[f->reservation % RESERVATIONS];
    if (f->kind == ORDEAL_LOAD_RESERVED && !r->over) {
        r->read = true;
        m->watches++;
    }
    land(m, h, number, (cell & f->mask) >> f->shift);
}

/* False: not now. */
static bool write(struct model_machine *m, struct hart *h, const struct flying *f, uint64_t value)
{
    if (must_wait(m, h, f->cell, f->mask))
        return false;
    lose_reservations(m, h, f->cell, f->mask);
    cell_write(m, h, f->cell, value, f->mask);
    return true;
}

static bool perform_store(struct model_machine *m, struct hart *h, uint32_t number)
{
    const struct flying *f = &h->window.flying[place_of(number)];
    if (!write(m, h, f, f->value))
        return false;
    if (!bug_strikes(m, BUG_STORE_TWICE, 64))
        land(m, h, number, 0);
    return true;
}

static bool perform_conditional(struct model_machine *m, struct hart *h, uint32_t number)
{
    const struct flying *f = &h->window.flying[place_of(number)];
    struct reservation *r = &h->riscv.reservation[f->reservation % RESERVATIONS];
    bool fails = r->lost && m->setup.bug != BUG_SC_LATE;
    if (!fails && !write(m, h, f, f->value))
        return false;
    forget(m, r);
    land(m, h, number, fails);
    return true;
}

static bool perform_swap(struct model_machine *m, struct hart *h, uint32_t number)
{
    struct flying *f = &h->window.flying[place_of(number)];
    uint64_t cell = window_sees(m, h, number);
    if (window_first_half(m, f, &cell))
        return true;
    uint64_t value = (cell & f->mask) >> f->shift, left = f->value;
    if (f->kind == ORDEAL_AMO)
        left = amo_leaves(m, f->function, f->size_log2, value, left >> f->shift) << f->shift;
    if (swap_writes(m, f->kind, value, f->compare) && !write(m, h, f, left))
        return false;
    land(m, h, number, value);
    return true;
}

static bool perform(struct model_machine *m, struct hart *h, uint32_t number)
{
    switch (h->window.flying[place_of(number)].kind) {
    case ORDEAL_LOAD:
    case ORDEAL_LOAD_RESERVED: perform_load(m, h, number); return true;
    case ORDEAL_STORE: return perform_store(m, h, number);
    case ORDEAL_STORE_CONDITIONAL: return perform_conditional(m, h, number);
    default: return perform_swap(m, h, number);
    }
}

/* Any that is ready, and waits for nobody else. */
static bool riscv_advance(struct model_machine *m, struct hart *h, uint64_t chance)
{
    const struct window *w = &h->window;
    uint32_t ready = w->ready, count = (uint32_t)__builtin_popcount(ready);
    assert(ready && !(ready & ~in_flight(w))); /* the oldest waits for nobody of its hart */
    uint32_t skip = (uint32_t)((chance & 0xffff) * count >> 16);
    for (uint32_t tried = 0; tried < count; tried++) {
        uint32_t rest = ready;
        for (uint32_t n = (skip + tried) % count; n > 0; n--)
            rest &= rest - 1;
        if (perform(m, h, number_at(w, (uint32_t)__builtin_ctz(rest))))
            return true;
    }
    return false;
}

const struct discipline riscv_discipline = { riscv_issue, riscv_advance, window_busy };
