/* SPDX-License-Identifier: Apache-2.0 */
#include "fence_machine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "image_parts.h"

static struct fence_machine *machine_of(const struct state *s) { return s->options->symbolic; }
static struct fence_buffers *all_of(const struct state *s) { return s->buffers; }
static struct fence_buffer *buffer_of(const struct state *s, uint32_t thread)
{
    return &all_of(s)->of[thread];
}
static bool reorders(const struct state *s) { return s->options->model == EXPLORE_PSO; }

/* ---- the machine -------------------------------------------------------------------------- */

static void empty_buffer(struct fence_buffer *b)
{
    b->count = 0;
    b->rest = LANGUAGE_EMPTY_WORD;
    b->drains = false;
}

static void *fence_make(const struct state *s)
{
    (void)s;
    struct fence_buffers *b = calloc(1, sizeof *b);
    for (uint32_t t = 0; b && t < EXPLORE_THREADS; t++)
        empty_buffer(&b->of[t]);
    return b;
}

bool fence_machine_new(struct fence_machine *m, const struct program_code *code)
{
    *m = (struct fence_machine){ .code = code, .automata = automata_new() };
    m->fence = calloc((code->end - code->base) / 4 + 1, 1);
    m->scratch[0] = fence_make(NULL);
    m->scratch[1] = fence_make(NULL);
    m->attacks = fence_attack_model();
    word_table_new(&m->stores);
    word_table_new(&m->vectors);
    word_table_add(&m->stores, NULL, 0);
    return m->automata && m->fence && m->scratch[0] && m->scratch[1];
}

void fence_machine_free(struct fence_machine *m)
{
    automata_free(m->automata);
    word_table_free(&m->stores);
    word_table_free(&m->vectors);
    free(m->scratch[0]);
    free(m->scratch[1]);
    free(m->fence);
    free(m->event);
}

size_t fence_machine_bytes(const struct fence_machine *m)
{
    return m->vectors.bytes + m->stores.bytes + automata_bytes(m->automata);
}

struct fence_store fence_store_of(const struct fence_machine *m, uint32_t symbol)
{
    uint32_t count;
    struct fence_store s = { 0 };
    const uint32_t *w = word_table_get(&m->stores, symbol, &count);
    if (symbol != FENCE_MARK)
        s = (struct fence_store){ w[0], w[1], w[2], w[3] };
    return s;
}

static uint32_t symbol_of(struct fence_machine *m, const struct access *a, uint32_t value)
{
    uint32_t mask = a->size == 4 ? UINT32_MAX : (1u << a->size * 8) - 1;
    return word_table_add(&m->stores, (uint32_t[]){ a->address, a->size, value & mask, a->pc }, 4);
}

static uint8_t fence_at(const struct fence_machine *m, uint32_t pc)
{
    return m->fence[(pc - m->code->base) / 4];
}

bool fence_same_place(const struct program_code *c, uint32_t pc, uint32_t other)
{
    struct source_place one, two;
    if (pc == other || c->image->unoptimised || !image_place(c->image, pc, &one)
        || !image_place(c->image, other, &two))
        return pc == other;
    return one.line == two.line && one.column == two.column && !strcmp(one.file, two.file);
}

static bool is_write(const struct instruction *i)
{
    return (i->operation >= OPERATION_SB && i->operation <= OPERATION_SW)
        || (i->operation >= OPERATION_LR && i->operation < OPERATIONS);
}

void fence_machine_set(struct fence_machine *m, uint32_t pc, uint8_t fence, bool there)
{
    const struct program_code *c = m->code;
    for (uint32_t at = c->base; at < c->end; at += 4) {
        uint8_t *f = &m->fence[(at - c->base) / 4];
        if (!is_write(&c->at[(at - c->base) / 4]) || !fence_same_place(c, pc, at))
            continue;
        *f = (uint8_t)(there ? *f | fence : *f & ~fence);
    }
}

static void tell(struct state *s, enum fence_event_kind kind, uint32_t thread, uint32_t pc,
                 uint32_t symbol)
{
    struct fence_machine *m = machine_of(s);
    if (!m->watching)
        return;
    m->event = words_room(m->event, m->events, &m->event_capacity, sizeof *m->event);
    m->event[m->events++] = (struct fence_event){ kind, thread, pc, symbol };
}

/* ---- contents of a thread's buffers ------------------------------------------------------- */

static bool is_empty(const struct fence_buffer *b)
{
    return !b->count && b->rest == LANGUAGE_EMPTY_WORD;
}

static bool may_be_empty(const struct fence_machine *m, const struct fence_buffer *b)
{
    bool may = automata_has_empty_word(m->automata, b->rest);
    for (uint32_t k = 0; k < b->count; k++)
        may = may && automata_has_empty_word(m->automata, b->of[k].language);
    return may;
}

static bool is_mark(const void *user, uint32_t symbol)
{
    (void)user;
    return symbol == FENCE_MARK;
}

static bool overlaps(const struct fence_variable *v, uint32_t address, uint32_t size)
{
    return entries_overlap(v->address, v->size, address, size);
}

/* What is left of a variable's buffer must go with what is left of the others': a fence stands in all
 * of a thread's buffers, or in none (section 3). False: nothing is left. */
static bool agree_on_marks(struct fence_machine *m, struct fence_buffer *b)
{
    struct automata *a = m->automata;
    uint32_t marks = b->rest;
    for (uint32_t k = 0; k < b->count; k++)
        marks = automata_intersect(a, marks, automata_project(a, b->of[k].language, is_mark, NULL));
    for (uint32_t k = 0; k < b->count; k++)
        b->of[k].language = automata_lift(a, b->of[k].language, marks, is_mark, NULL);
    b->rest = marks;
    return marks != LANGUAGE_NONE;
}

static bool begins_with_mark(const struct fence_machine *m, uint32_t language, bool always)
{
    struct automaton a = automata_get(m->automata, language);
    bool can = a.states && a.begin[1] && a.edge[0].symbol == FENCE_MARK;
    return can && (!always || (!a.final[0] && a.begin[1] == 1));
}

static bool all_begin_with_mark(const struct fence_machine *m, const struct fence_buffer *b,
                                bool always)
{
    bool all = begins_with_mark(m, b->rest, always);
    for (uint32_t k = 0; k < b->count; k++)
        all = all && begins_with_mark(m, b->of[k].language, always);
    return all;
}

static void take_marks(struct fence_machine *m, struct fence_buffer *b)
{
    b->rest = automata_quotient(m->automata, b->rest, FENCE_MARK);
    for (uint32_t k = 0; k < b->count; k++)
        b->of[k].language = automata_quotient(m->automata, b->of[k].language, FENCE_MARK);
}

/* One form for the same contents: no fence that nothing is before, no variable that is as the rest. */
static bool tidy(struct fence_machine *m, struct fence_buffer *b)
{
    bool marks = b->rest != LANGUAGE_EMPTY_WORD;
    for (uint32_t k = 0; k < b->count; k++)
        marks = marks || automata_any_symbol(m->automata, b->of[k].language, is_mark, NULL);
    if (marks && !agree_on_marks(m, b))
        return false;
    while (marks && all_begin_with_mark(m, b, true))
        take_marks(m, b);
    uint32_t kept = 0;
    for (uint32_t k = 0; k < b->count; k++) {
        if (b->of[k].language == LANGUAGE_NONE)
            return false;
        if (b->of[k].language != b->rest)
            b->of[kept++] = b->of[k];
    }
    b->count = kept;
    b->drains = b->drains && !is_empty(b);
    return true;
}

static void tidy_state(struct state *s, uint32_t thread)
{
    struct fence_buffers *all = all_of(s);
    if (!tidy(machine_of(s), buffer_of(s, thread)))
        state_discard(s);
    while (all->threads && is_empty(&all->of[all->threads - 1]))
        all->threads--;
    if (is_empty(buffer_of(s, thread)))
        tell(s, FENCE_EMPTY, thread, 0, 0);
}

/* The variable's buffer, which is there from now on; NULL: what that means is noted. */
static struct fence_variable *variable_at(struct state *s, uint32_t thread, uint32_t address,
                                          uint32_t size)
{
    struct fence_buffer *b = buffer_of(s, thread);
    uint32_t k = 0;
    if (!reorders(s))
        address = size = 0;
    while (k < b->count && b->of[k].address < address)
        k++;
    for (uint32_t i = 0; reorders(s) && i < b->count; i++)
        if (overlaps(&b->of[i], address, size)
            && (b->of[i].address != address || b->of[i].size != size)) {
            state_too_long(s,
                           "stores of different sizes to the same bytes wait at a time, of which "
                           "PSO without a bound on buffers knows nothing");
            return NULL;
        }
    if (k < b->count && b->of[k].address == address)
        return &b->of[k];
    if (b->count == FENCE_VARIABLES) {
        state_too_long(s, "a thread's stores to more than 64 variables wait at a time");
        return NULL;
    }
    memmove(&b->of[k + 1], &b->of[k], (b->count++ - k) * sizeof *b->of);
    b->of[k] = (struct fence_variable){ address, size, b->rest };
    return &b->of[k];
}

static struct fence_buffer *touch(struct state *s, uint32_t thread)
{
    state_touch_buffers(s);
    if (all_of(s)->threads <= thread)
        all_of(s)->threads = thread + 1;
    return buffer_of(s, thread);
}

/* ---- accesses ----------------------------------------------------------------------------- */

struct seen_by {
    const struct fence_machine *machine;
    uint32_t address, size, pc;
};

static bool is_of_pc(const void *user, uint32_t symbol)
{
    const struct seen_by *by = user;
    return symbol != FENCE_MARK && fence_store_of(by->machine, symbol).pc == by->pc;
}

static bool is_of_bytes(const void *user, uint32_t symbol)
{
    const struct seen_by *by = user;
    struct fence_store e = fence_store_of(by->machine, symbol);
    return symbol != FENCE_MARK && entries_overlap(e.address, e.size, by->address, by->size);
}

/* Which bytes were stored, from bit 32 on, and what the newest stores to them are. */
static uint64_t see(const void *user, uint64_t seen, uint32_t symbol)
{
    const struct seen_by *by = user;
    if (!is_of_bytes(user, symbol))
        return seen;
    struct fence_store e = fence_store_of(by->machine, symbol);
    for (uint32_t i = 0; i < by->size; i++) {
        uint32_t from = by->address + i - e.address;
        if (from >= e.size)
            continue;
        seen &= ~(0xffull << i * 8);
        seen |= (uint64_t)(e.value >> from * 8 & 0xff) << i * 8 | 1ull << (32 + i);
    }
    return seen;
}

/* A store that a loop does again ends a step, so that loops of stores alone do end. */
static bool waits_already(const struct state *s, const struct access *a)
{
    const struct fence_buffer *b = buffer_of(s, a->thread);
    struct seen_by by = { machine_of(s), a->address, a->size, a->pc };
    for (uint32_t k = 0; k < b->count; k++)
        if (automata_any_symbol(by.machine->automata, b->of[k].language, is_of_pc, &by))
            return true;
    return false;
}

static enum readiness look_drained(const struct state *s, uint32_t thread, enum readiness ready)
{
    const struct fence_buffer *b = buffer_of(s, thread);
    if (is_empty(b))
        return ready;
    return may_be_empty(machine_of(s), b) ? READY : READY_NOT;
}

static bool atomic_drains(const struct state *s, const struct access *a)
{
    return !reorders(s) || a->order & ORDER_RELEASE
        || fence_at(machine_of(s), a->pc) & FENCE_BEFORE_STORE;
}

/* No store to these bytes waits, whatever fences do. */
static uint32_t without_stores(struct fence_machine *m, uint32_t language)
{
    uint32_t mark = FENCE_MARK;
    uint32_t marks = automata_repeat(m->automata, LANGUAGE_EMPTY_WORD, &mark, 1);
    return automata_intersect(m->automata, language, marks);
}

static enum readiness look_atomic(const struct state *s, const struct access *a)
{
    const struct fence_buffer *b = buffer_of(s, a->thread);
    if (atomic_drains(s, a))
        return look_drained(s, a->thread, READY);
    for (uint32_t k = 0; k < b->count; k++)
        if (overlaps(&b->of[k], a->address, a->size)
            && without_stores(machine_of(s), b->of[k].language) == LANGUAGE_NONE)
            return READY_NOT;
    return READY;
}

static bool stores_at_once(const struct state *s, const struct access *a)
{
    return !reorders(s) && fence_at(machine_of(s), a->pc) & FENCE_AFTER_STORE;
}

static enum readiness fence_look(const struct state *s, const struct access *a)
{
    if (buffer_of(s, a->thread)->drains)
        return look_drained(s, a->thread, READY);
    switch (a->kind) {
    case ACCESS_LOAD: return READY;
    case ACCESS_FENCE:
        return fence_drains(a->order) ? look_drained(s, a->thread, READY_QUIET) : READY_QUIET;
    case ACCESS_STORE:
        if (stores_at_once(s, a))
            return look_drained(s, a->thread, READY);
        return waits_already(s, a) ? READY : READY_QUIET;
    default: return look_atomic(s, a);
    }
}

static void drain_thread(struct state *s, uint32_t thread)
{
    if (is_empty(buffer_of(s, thread)))
        return;
    empty_buffer(touch(s, thread));
    tidy_state(s, thread);
}

/* At an mfence that is done now. */
static void pass_fence(struct state *s, uint32_t thread)
{
    if (buffer_of(s, thread)->drains)
        drain_thread(s, thread);
}

/* Which of the values that it may see a load sees, and what is left of the buffer then. */
static uint64_t see_newest(struct state *s, uint32_t thread, uint32_t k, const struct seen_by *by)
{
    struct automaton_part part[FENCE_VALUES];
    struct automata *a = machine_of(s)->automata;
    uint32_t language = buffer_of(s, thread)->of[k].language;
    if (!automata_any_symbol(a, language, is_of_bytes, by))
        return 0;
    int parts = automata_split(a, language, see, by, part, FENCE_VALUES);
    if (parts < 0) {
        state_too_long(s, "a load may see more than 64 values of its own buffer");
        return 0;
    }
    int chosen = (int)state_choose(s, (uint32_t)parts);
    if (part[chosen].language != language)
        touch(s, thread)->of[k].language = part[chosen].language;
    return part[chosen].seen;
}

static bool is_of_others(const void *user, uint32_t symbol)
{
    return symbol != FENCE_MARK && !is_of_bytes(user, symbol);
}

/* A store to other bytes waits. Where it does not, a load of what waits might as well have come when
 * that was written. */
static bool waits_elsewhere(const struct state *s, uint32_t thread, const struct seen_by *by)
{
    const struct fence_buffer *b = buffer_of(s, thread);
    for (uint32_t k = 0; k < b->count; k++)
        if (automata_any_symbol(by->machine->automata, b->of[k].language, is_of_others, by))
            return true;
    return false;
}

uint32_t fence_load_seen(struct state *s, const struct access *a, bool *forwarded)
{
    struct seen_by by = { machine_of(s), a->address, a->size, a->pc };
    pass_fence(s, a->thread);
    uint32_t value = state_get(state_peek(s, a->address, a->size, false), a->size), mask = 0;
    for (uint32_t k = 0; k < buffer_of(s, a->thread)->count && s->end == STEP_DONE; k++) {
        if (reorders(s) && !overlaps(&buffer_of(s, a->thread)->of[k], a->address, a->size))
            continue;
        uint64_t seen = see_newest(s, a->thread, k, &by);
        mask |= (uint32_t)(seen >> 32);
        for (uint32_t i = 0; i < a->size; i++)
            if (seen >> (32 + i) & 1)
                value = (value & ~(0xffu << i * 8)) | ((uint32_t)seen & 0xffu << i * 8);
    }
    if (!is_empty(buffer_of(s, a->thread)) && s->end == STEP_DONE) {
        tidy_state(s, a->thread);
        if (waits_elsewhere(s, a->thread, &by) || mask != (1u << a->size) - 1)
            tell(s, FENCE_LOADED, a->thread, a->pc, 0);
    }
    *forwarded = mask;
    return value;
}

static uint32_t fence_load(struct state *s, const struct access *a)
{
    bool forwarded;
    return fence_load_seen(s, a, &forwarded);
}

bool fence_is_behind(const struct state *s, uint32_t pc)
{
    return fence_at(machine_of(s), pc) & FENCE_AFTER_STORE;
}

static void append_mark(struct state *s, uint32_t thread)
{
    struct fence_machine *m = machine_of(s);
    struct fence_buffer *b = buffer_of(s, thread);
    uint32_t mark = FENCE_MARK;
    bool there = automata_ends_with(m->automata, b->rest, &mark, 1);
    for (uint32_t k = 0; k < b->count; k++)
        there = there && automata_ends_with(m->automata, b->of[k].language, &mark, 1);
    if (is_empty(b) || there || !reorders(s))
        return;
    touch(s, thread);
    b->rest = automata_append(m->automata, b->rest, FENCE_MARK);
    for (uint32_t k = 0; k < b->count; k++)
        b->of[k].language = automata_append(m->automata, b->of[k].language, FENCE_MARK);
    tidy_state(s, thread);
}

static void fence_store(struct state *s, const struct access *a, uint32_t value)
{
    struct fence_machine *m = machine_of(s);
    uint8_t fence = fence_at(m, a->pc);
    pass_fence(s, a->thread);
    if (stores_at_once(s, a)) {
        drain_thread(s, a->thread);
        state_put(s, state_peek(s, a->address, a->size, true), a->size, value);
        return;
    }
    if (fence & FENCE_BEFORE_STORE)
        append_mark(s, a->thread);
    uint32_t symbol = symbol_of(m, a, value);
    touch(s, a->thread);
    struct fence_variable *v = variable_at(s, a->thread, a->address, a->size);
    if (!v)
        return;
    v->language = automata_append(m->automata, v->language, symbol);
    buffer_of(s, a->thread)->drains = fence & FENCE_AFTER_STORE;
    tell(s, FENCE_STORED, a->thread, a->pc, symbol);
}

static void fence_fence(struct state *s, const struct access *a)
{
    pass_fence(s, a->thread);
    if (fence_drains(a->order))
        drain_thread(s, a->thread);
    else if (fence_orders(a->order, 1, 1))
        append_mark(s, a->thread);
}

/* Words of the buffers of these bytes; false: nothing is left. */
static bool restrict_to(struct state *s, const struct access *a, bool marks_may_wait)
{
    struct fence_machine *m = machine_of(s);
    struct fence_buffer *b = buffer_of(s, a->thread);
    bool any = false;
    for (uint32_t k = 0; k < b->count; k++) {
        struct fence_variable *v = &b->of[k];
        if (!overlaps(v, a->address, a->size))
            continue;
        touch(s, a->thread);
        v->language = marks_may_wait ? without_stores(m, v->language)
                    : automata_has_empty_word(m->automata, v->language) ? LANGUAGE_EMPTY_WORD
                                                                        : LANGUAGE_NONE;
        any = true;
    }
    if (!any && !marks_may_wait && b->rest != LANGUAGE_EMPTY_WORD) {
        touch(s, a->thread);
        b->rest = automata_has_empty_word(m->automata, b->rest) ? LANGUAGE_EMPTY_WORD
                                                                : LANGUAGE_NONE;
    }
    return tidy(m, b);
}

static uint32_t fence_atomic_read(struct state *s, const struct access *a)
{
    pass_fence(s, a->thread);
    if (a->kind == ACCESS_ATOMIC && atomic_drains(s, a))
        drain_thread(s, a->thread);
    else if (!restrict_to(s, a, true))
        state_block(s);
    return plain_atomic_read(s, a);
}

static void fence_atomic_write(struct state *s, const struct access *a, uint32_t value)
{
    if (!is_empty(buffer_of(s, a->thread))
        && atomic_drains(s, a)) { /* an SC may ask for more than its LR */
        if (!may_be_empty(machine_of(s), buffer_of(s, a->thread))) {
            state_block(s);
            return;
        }
        drain_thread(s, a->thread);
    } else if (!is_empty(buffer_of(s, a->thread))) {
        if (!restrict_to(s, a, false)) {
            state_block(s);
            return;
        }
        if (!is_empty(buffer_of(s, a->thread)))
            tell(s, FENCE_WRITTEN, a->thread, a->pc, 0);
    }
    plain_atomic_write(s, a, value);
}

/* ---- moves of buffers --------------------------------------------------------------------- */

static uint32_t first_edges(const struct automaton *a) { return a->states ? a->begin[1] : 0; }

/* Stores that may be the oldest in some buffer, and the fence before all of them. */
static uint32_t fence_moves(const struct state *s, uint32_t thread)
{
    const struct fence_machine *m = machine_of(s);
    const struct fence_buffer *b = buffer_of(s, thread);
    uint32_t n = !is_empty(b) && all_begin_with_mark(m, b, false);
    for (uint32_t k = 0; k < b->count; k++) {
        struct automaton a = automata_get(m->automata, b->of[k].language);
        n += first_edges(&a) - begins_with_mark(m, b->of[k].language, false);
    }
    return n;
}

static void commit(struct state *s, uint32_t thread, uint32_t k, uint32_t symbol)
{
    struct fence_machine *m = machine_of(s);
    struct fence_variable *v = &touch(s, thread)->of[k];
    struct fence_store e = fence_store_of(m, symbol);
    uint8_t *place = state_peek(s, e.address, e.size, true);
    assert(place);
    v->language = automata_quotient(m->automata, v->language, symbol);
    state_put(s, place, e.size, e.value);
    tell(s, FENCE_COMMITTED, thread, e.pc, symbol);
    tidy_state(s, thread);
}

static void fence_move(struct state *s, uint32_t thread, uint32_t n)
{
    const struct fence_machine *m = machine_of(s);
    struct fence_buffer *b = buffer_of(s, thread);
    for (uint32_t k = 0; k < b->count; k++) {
        struct automaton a = automata_get(m->automata, b->of[k].language);
        uint32_t skip = begins_with_mark(m, b->of[k].language, false), edges = first_edges(&a);
        if (n < edges - skip) {
            commit(s, thread, k, a.edge[n + skip].symbol);
            return;
        }
        n -= edges - skip;
    }
    take_marks(machine_of(s), touch(s, thread));
    tidy_state(s, thread);
}

/* ---- the rest of a model ------------------------------------------------------------------ */

static void copy_buffers(struct fence_buffers *to, const struct fence_buffers *from)
{
    uint32_t threads = to->threads > from->threads ? to->threads : from->threads;
    to->threads = from->threads;
    to->attack = from->attack;
    for (uint32_t t = 0; t < threads; t++) {
        to->of[t].count = from->of[t].count;
        to->of[t].rest = from->of[t].rest;
        to->of[t].drains = from->of[t].drains;
        memcpy(to->of[t].of, from->of[t].of, from->of[t].count * sizeof *from->of[t].of);
    }
}

static void fence_copy(const struct state *s, void *to, const void *from)
{
    (void)s;
    copy_buffers(to, from);
}

static void fence_reset(struct state *s)
{
    all_of(s)->threads = 0;
    all_of(s)->attack.phase = 0;
    for (uint32_t t = 0; t < EXPLORE_THREADS; t++)
        empty_buffer(buffer_of(s, t));
}

static bool stays(const void *user, uint32_t symbol) { return !is_of_bytes(user, symbol); }

/* Seed 001, 3.2. */
static void fence_drop(struct state *s, uint32_t thread, uint32_t from, uint32_t to)
{
    struct fence_buffers *all = all_of(s);
    struct seen_by by = { machine_of(s), from, to - from, 0 };
    for (uint32_t t = 0; t < all->threads; t++)
        for (uint32_t k = 0; k < all->of[t].count; k++) {
            uint32_t language = all->of[t].of[k].language;
            if (!automata_any_symbol(by.machine->automata, language, is_of_bytes, &by))
                continue;
            if (t != thread) {
                state_fail(s, EXPLORE_LATE_STORE,
                           "a store of thread %u to what lies there still waits in its buffer", t);
                return;
            }
            touch(s, t)->of[k].language = automata_project(machine_of(s)->automata, language, stays,
                                                           &by);
        }
    if (all->threads > thread)
        tidy_state(s, thread);
}

static bool fence_alone(struct state *s, uint32_t thread)
{
    (void)thread;
    return !all_of(s)->threads;
}

static void fence_drain(struct state *s) { (void)s; }

/* What waits is no part of a state's number: a search keeps it beside. */
static uint32_t fence_most_words(const struct state *s) { return (void)s, 1; }
static uint32_t fence_pack(const struct state *s, uint32_t part, uint32_t *words)
{
    return (void)s, (void)part, (void)words, 0;
}
static void fence_unpack(struct state *s, uint32_t part, const uint32_t *words, uint32_t count)
{
    (void)s, (void)part, (void)words, (void)count;
}

/* One of the values that it may be. */
static uint8_t fence_peek(const struct state *s, uint32_t thread, uint32_t address)
{
    struct seen_by by = { machine_of(s), address, 1, 0 };
    const struct fence_buffer *b = buffer_of(s, thread);
    struct automaton_part part[FENCE_VALUES];
    const uint8_t *place = state_peek(s, address, 1, false);
    uint8_t value = place ? *place : 0;
    for (uint32_t k = 0; k < b->count; k++) {
        uint32_t language = b->of[k].language;
        if (!automata_any_symbol(by.machine->automata, language, is_of_bytes, &by))
            continue;
        int parts = automata_split(by.machine->automata, language, see, &by, part, FENCE_VALUES);
        if (parts > 0 && part[parts - 1].seen >> 32)
            value = (uint8_t)part[parts - 1].seen;
    }
    return value;
}

static bool fence_entry(const struct state *s, uint32_t thread, size_t k,
                        struct explore_entry *entry)
{
    return (void)s, (void)thread, (void)k, (void)entry, false;
}

/* clang-format off */
const struct memory_model fence_model = {
    .make = fence_make, .drop_made = free, .copy = fence_copy, .reset = fence_reset,
    .look = fence_look, .load = fence_load, .store = fence_store, .fence = fence_fence,
    .atomic_read = fence_atomic_read, .atomic_write = fence_atomic_write, .section = plain_section,
    .moves = fence_moves, .move = fence_move, .drop = fence_drop, .alone = fence_alone,
    .drain = fence_drain, .start = plain_start,
    .most_words = fence_most_words, .pack = fence_pack, .unpack = fence_unpack,
    .peek = fence_peek, .entry = fence_entry,
};
/* clang-format on */

/* ---- contents as numbers ------------------------------------------------------------------ */

uint32_t fence_buffers_number(struct fence_machine *m, const struct fence_buffers *b)
{
    uint32_t words[EXPLORE_THREADS * (3 + 3 * FENCE_VARIABLES) + 8 + 2 * FENCE_CHAIN], *w = words;
    for (uint32_t t = 0; t < b->threads; t++) {
        if (is_empty(&b->of[t]))
            continue;
        *w++ = t;
        *w++ = b->of[t].count | (uint32_t)b->of[t].drains << 16;
        *w++ = b->of[t].rest;
        for (uint32_t k = 0; k < b->of[t].count; k++) {
            *w++ = b->of[t].of[k].address;
            *w++ = b->of[t].of[k].size;
            *w++ = b->of[t].of[k].language;
        }
    }
    if (b->attack.phase) {
        uint32_t bytes = (uint32_t)offsetof(struct fence_attack, word)
                       + b->attack.words * (uint32_t)sizeof *b->attack.word;
        *w++ = EXPLORE_THREADS;
        memcpy(w, &b->attack, bytes);
        w += bytes / 4;
    }
    return word_table_add(&m->vectors, words, (uint32_t)(w - words));
}

void fence_buffers_read(const struct fence_machine *m, uint32_t number, struct fence_buffers *b)
{
    uint32_t count;
    const uint32_t *w = word_table_get(&m->vectors, number, &count), *end = w + count;
    for (uint32_t t = 0; t < b->threads; t++)
        empty_buffer(&b->of[t]);
    b->threads = 0;
    b->attack.phase = 0;
    while (w < end) {
        if (*w == EXPLORE_THREADS) {
            memcpy(&b->attack, w + 1, (size_t)(end - w - 1) * sizeof *w);
            return;
        }
        struct fence_buffer *to = &b->of[*w];
        b->threads = *w++ + 1;
        to->count = *w & 0xffff;
        to->drains = *w++ >> 16;
        to->rest = *w++;
        for (uint32_t k = 0; k < to->count; k++, w += 3)
            to->of[k] = (struct fence_variable){ w[0], w[1], w[2] };
    }
}

static uint32_t language_at(const struct fence_buffer *b, uint32_t address)
{
    for (uint32_t k = 0; k < b->count; k++)
        if (b->of[k].address == address)
            return b->of[k].language;
    return b->rest;
}

static bool buffer_includes(struct fence_machine *m, const struct fence_buffer *big,
                            const struct fence_buffer *small)
{
    bool in = big->drains == small->drains
           && automata_includes(m->automata, big->rest, small->rest);
    for (uint32_t k = 0; in && k < big->count; k++)
        in = automata_includes(m->automata, big->of[k].language,
                               language_at(small, big->of[k].address));
    for (uint32_t k = 0; in && k < small->count; k++)
        in = automata_includes(m->automata, language_at(big, small->of[k].address),
                               small->of[k].language);
    return in;
}

static bool same_attack(const struct fence_attack *a, const struct fence_attack *b)
{
    return a->phase == b->phase
        && (!a->phase
            || (!memcmp(a, b, offsetof(struct fence_attack, word))
                && !memcmp(a->word, b->word, a->words * sizeof *a->word)));
}

bool fence_buffers_include(struct fence_machine *m, uint32_t big, uint32_t small)
{
    static const struct fence_buffer nothing = { .rest = LANGUAGE_EMPTY_WORD };
    struct fence_buffers *one = m->scratch[0], *other = m->scratch[1];
    if (big == small)
        return true;
    fence_buffers_read(m, big, one);
    fence_buffers_read(m, small, other);
    bool in = same_attack(&one->attack, &other->attack);
    for (uint32_t t = 0; in && (t < one->threads || t < other->threads); t++)
        in = buffer_includes(m, t < one->threads ? &one->of[t] : &nothing,
                             t < other->threads ? &other->of[t] : &nothing);
    return in;
}

/* ---- loops -------------------------------------------------------------------------------- */

enum { LONGEST_ROUND = 64 };

/* What a variable's buffer is after any number of rounds, if this was one; LANGUAGE_NONE: it was not. */
static uint32_t after_rounds(struct automata *a, uint32_t before, uint32_t now, bool *grew)
{
    uint32_t word[LONGEST_ROUND];
    int n = automata_growth(a, before, now, word, LONGEST_ROUND);
    if (n == 0)
        return now;
    if (n < 0 || !automata_ends_with(a, before, word, (size_t)n))
        return LANGUAGE_NONE;
    *grew = true;
    return automata_repeat(a, now, word, (size_t)n);
}

bool fence_accelerate(struct fence_machine *m, uint32_t thread, const struct fence_buffers *before,
                      struct fence_buffers *now)
{
    const struct fence_buffer *from = &before->of[thread];
    struct fence_buffer *b = &now->of[thread], after = *b;
    bool grew = false, fine = from->count == b->count && from->drains == b->drains;
    after.rest = after_rounds(m->automata, from->rest, b->rest, &grew);
    fine = fine && after.rest != LANGUAGE_NONE;
    for (uint32_t k = 0; fine && k < b->count; k++) {
        fine = from->of[k].address == b->of[k].address && from->of[k].size == b->of[k].size;
        after.of[k].language = fine ? after_rounds(m->automata, from->of[k].language,
                                                   b->of[k].language, &grew)
                                    : LANGUAGE_NONE;
        fine = after.of[k].language != LANGUAGE_NONE;
    }
    if (!fine || !grew || !tidy(m, &after))
        return false;
    *b = after;
    return true;
}
