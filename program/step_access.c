/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions do to memory. */
#include <assert.h>

#include "contention.h"
#include "record.h"
#include "step.h"

/* Nobody else can reach it, or change it. */
static bool is_private(const struct run *r, uint8_t flags, uint32_t address)
{
    const struct explore_options *o = r->s->options;
    if ((flags & INSTRUCTION_PRIVATE) && (o->local & EXPLORE_LOCAL_STATIC))
        return true;
    if (!(o->local & EXPLORE_LOCAL_DYNAMIC))
        return false;
    if (state_is_strange(r->s, r->number, address))
        state_strange(r->s);
    return state_private(r->s, r->number, address);
}

/* A step that finds no end is about to be given up: perhaps another thread would end it, or there are
 * many states and no long step. What it goes on to access is no longer taken to be at peace. */
enum { LAST_CHANCE = 100 * 1000 };

/* An access that others could notice, were they interested; true: they are not. */
static bool is_at_peace(const struct run *r, uint32_t address, bool write)
{
    struct contention *c = r->s->contention;
    if (!c || r->alone)
        return false;
    if (r->count > STATE_LONGEST - LAST_CHANCE)
        contention_expect(c, &address, 1);
    return contention_access(c, r->number, address, write);
}

/* Such accesses need no buffer. In a small one, which is given to see what comes of its size, they
 * take their room all the same. */
static bool peace_bypasses(const struct state *s)
{
    enum { LARGE = 32 };
    const struct explore_options *o = s->options;
    return o->local && (!o->buffers || o->buffers >= LARGE);
}

static bool is_constant(const struct state *s, uint32_t address)
{
    const struct program_code *c = s->code;
    return address - c->base < c->end - c->base && !(c->access[(address - c->base) / 4] & 2);
}

static struct access access_of(const struct run *r, enum access_kind kind, uint32_t address,
                               uint8_t size, uint8_t order)
{
    return (struct access){ kind, r->number, r->t->pc, address, size, order };
}

static void load_register(struct run *r, const struct instruction *i, uint32_t value)
{
    if (i->operation == OPERATION_LB)
        value = (uint32_t)(int8_t)value;
    if (i->operation == OPERATION_LH)
        value = (uint32_t)(int16_t)value;
    uint32_t old = r->t->x[i->rd];
    if (i->rd)
        r->t->x[i->rd] = value;
    if (i->rd == 2 && old != value)
        state_move_stack(r->s, r->number, old, value);
}

bool run_load(struct run *r, const struct instruction *i)
{
    struct state *s = r->s;
    uint32_t address = r->t->x[i->rs1] + (uint32_t)i->immediate, value;
    const uint8_t *place = state_place(s, address, i->size, false);
    if (!place)
        return false;
    struct access a = access_of(r, ACCESS_LOAD, address, i->size, 0);
    bool private = is_private(r, i->flags, address) || is_constant(s, address);
    bool peace = !private && is_at_peace(r, address, false);
    if (private || r->alone || (peace && peace_bypasses(s)))
        value = state_get(place, i->size);
    else if (!peace && !run_may(r, s->model->look(s, &a)))
        return false;
    else
        value = r->atomic ? s->model->atomic_read(s, &a) : s->model->load(s, &a);
    struct program_event *e = record_access(s, EVENT_LOAD, &a, value, 0);
    if (e)
        e->private_access = private;
    r->reserved = 0;
    load_register(r, i, value);
    r->t->pc += 4;
    return true;
}

/* All four bytes with some of those that were stored: pointers are written byte by byte, too. */
static void publish_around(struct run *r, uint32_t address, uint32_t size)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < 8; k++)
        bytes |= (uint64_t)r->s->model->peek(r->s, r->number, address - 3 + k) << 8 * k;
    for (uint32_t k = 0; k < 3 + size; k++)
        state_publish(r->s, r->number, (uint32_t)(bytes >> 8 * k));
}

/* What is stored where others can read it is known to them, and what it points to. */
static void publish_store(struct run *r, uint32_t address, uint32_t size, uint32_t value)
{
    if (!(r->s->options->local & EXPLORE_LOCAL_DYNAMIC))
        return;
    if (size < 4)
        publish_around(r, address, size);
    else
        state_publish(r->s, r->number, value);
}

static void store_shared(struct run *r, const struct access *a, uint32_t value)
{
    struct state *s = r->s;
    struct program_event *e = record_access(s, EVENT_STORE, a, 0, value);
    if (r->alone) {
        state_put(s, state_peek(s, a->address, a->size, true), a->size, value);
    } else if (r->atomic) {
        s->model->atomic_write(s, a, value);
        r->drawn++;
    } else {
        if (e)
            e->buffered = s->options->model != EXPLORE_SC;
        s->model->store(s, a, value);
        r->drawn++;
        r->acted = true; /* what others may see now must not wait for this thread's next action */
    }
    publish_store(r, a->address, a->size, value);
}

bool run_store(struct run *r, const struct instruction *i)
{
    struct state *s = r->s;
    uint32_t address = r->t->x[i->rs1] + (uint32_t)i->immediate, value = r->t->x[i->rs2];
    uint8_t *place = state_place(s, address, i->size, true);
    if (!place)
        return false;
    if (i->size < 4)
        value &= (1u << i->size * 8) - 1;
    struct access a = access_of(r, ACCESS_STORE, address, i->size, 0);
    if (is_private(r, i->flags, address)) {
        state_put(s, place, i->size, value);
        struct program_event *e = record_access(s, EVENT_STORE, &a, 0, value);
        if (e)
            e->private_access = true;
    } else if (is_at_peace(r, address, true) && peace_bypasses(s)) {
        state_put(s, place, i->size, value);
        record_access(s, EVENT_STORE, &a, 0, value);
        publish_store(r, address, i->size, value);
    } else {
        if (!run_may(r, s->model->look(s, &a)))
            return false;
        store_shared(r, &a, value);
    }
    r->reserved = 0;
    r->t->pc += 4;
    return true;
}

bool run_fence(struct run *r, const struct instruction *i)
{
    struct state *s = r->s;
    struct access a = access_of(r, ACCESS_FENCE, 0, 0, i->fence);
    enum readiness ready = s->model->look(s, &a);
    if (!run_may(r, ready))
        return false;
    struct program_event *e = record_access(s, EVENT_FENCE, &a, 0, 0);
    if (e)
        e->fence = i->fence;
    if (!r->alone && !r->atomic)
        s->model->fence(s, &a);
    r->reserved = 0;
    r->t->pc += 4;
    return true;
}

/* ---- atomics ------------------------------------------------------------------------------ */

static uint8_t order_of(const struct run *r, const struct instruction *i)
{
    return r->s->options->locked_atomics ? ORDER_ACQUIRE | ORDER_RELEASE : i->aq_rl;
}

/* The read of an atomic at x[rs1]; false: it is not done. */
static bool read_atomic(struct run *r, const struct instruction *i, bool write, struct access *a,
                        uint32_t *value)
{
    struct state *s = r->s;
    uint32_t address = r->t->x[i->rs1];
    const uint8_t *place = state_place(s, address, 4, write);
    if (!place)
        return false;
    *a = access_of(r, ACCESS_ATOMIC, address, 4, order_of(r, i));
    bool private = is_private(r, i->flags, address);
    if (private || r->alone) {
        *value = state_get(place, 4);
    } else {
        is_at_peace(r, address, write);
        if (!run_may(r, s->model->look(s, a)))
            return false;
        *value = s->model->atomic_read(s, a);
    }
    struct program_event *e = record_access(s, EVENT_ATOMIC, a, *value, 0);
    if (e)
        e->private_access = private;
    return s->end == STEP_DONE;
}

static void write_atomic(struct run *r, const struct instruction *i, const struct access *a,
                         uint32_t value)
{
    struct state *s = r->s;
    bool private = is_private(r, i->flags, a->address);
    if (private || r->alone) {
        state_put(s, state_peek(s, a->address, 4, true), 4, value);
    } else {
        is_at_peace(r, a->address, true);
        s->model->atomic_write(s, a, value);
        r->drawn++;
    }
    if (!private)
        publish_store(r, a->address, 4, value);
}

static void record_written(struct state *s, uint32_t event, uint32_t value)
{
    if (!s->recorder || event >= s->recorder->list.count)
        return;
    struct program_event *e = &s->recorder->list.event[event];
    e->written = value;
    e->wrote = true;
}

bool run_amo(struct run *r, const struct instruction *i)
{
    struct access a;
    uint32_t old;
    if (!read_atomic(r, i, true, &a, &old))
        return false;
    uint32_t value = alu_amo(i->operation, old, r->t->x[i->rs2]);
    record_written(r->s, record_next(r->s) - 1, value); /* commits may have come before it */
    write_atomic(r, i, &a, value);
    r->reserved = 0;
    load_register(r, i, old);
    r->t->pc += 4;
    return true;
}

enum { LR_TO_SC = 16 }; /* instructions */

bool run_reserve(struct run *r, const struct instruction *i)
{
    struct access a;
    uint32_t value;
    if (!read_atomic(r, i, false, &a, &value))
        return false;
    r->reserved_event = record_next(r->s) - 1;
    r->reserved = a.address;
    r->reserved_until = r->count + LR_TO_SC;
    load_register(r, i, value);
    r->t->pc += 4;
    return true;
}

bool run_conditional(struct run *r, const struct instruction *i)
{
    uint32_t address = r->t->x[i->rs1], value = r->t->x[i->rs2];
    bool succeeds = r->reserved && r->reserved == address && r->count <= r->reserved_until;
    r->reserved = 0;
    if (!state_place(r->s, address, 4, true))
        return false;
    if (succeeds) {
        struct access a = access_of(r, ACCESS_ATOMIC, address, 4, order_of(r, i));
        record_written(r->s, r->reserved_event, value);
        write_atomic(r, i, &a, value);
    }
    if (i->rd)
        r->t->x[i->rd] = !succeeds;
    r->t->pc += 4;
    return r->s->end == STEP_DONE;
}

/* ---- on behalf of calls ------------------------------------------------------------------- */

bool run_read(struct run *r, uint32_t address, uint32_t size, uint32_t *value)
{
    const uint8_t *place = state_place(r->s, address, size, false);
    if (!place)
        return false;
    struct access a = access_of(r, ACCESS_ATOMIC, address, (uint8_t)size,
                                ORDER_ACQUIRE | ORDER_RELEASE);
    bool direct = r->alone || is_private(r, 0, address) || is_constant(r->s, address);
    if (!direct)
        is_at_peace(r, address, false);
    *value = direct ? state_get(place, size) : r->s->model->atomic_read(r->s, &a);
    return r->s->end == STEP_DONE;
}

void run_write(struct run *r, uint32_t address, uint32_t size, uint32_t value)
{
    uint8_t *place = state_place(r->s, address, size, true);
    if (!place)
        return;
    struct access a = access_of(r, ACCESS_ATOMIC, address, (uint8_t)size,
                                ORDER_ACQUIRE | ORDER_RELEASE);
    bool private = is_private(r, 0, address);
    if (private || r->alone) {
        state_put(r->s, place, size, value);
    } else {
        is_at_peace(r, address, true);
        r->s->model->atomic_write(r->s, &a, value);
    }
    if (!private)
        publish_store(r, address, size, value);
}

uint8_t run_read_byte(struct run *r, uint32_t address)
{
    uint32_t value;
    return run_read(r, address, 1, &value) ? (uint8_t)value : 0;
}

uint8_t run_peek(struct run *r, uint32_t address)
{
    is_at_peace(r, address, false);
    return r->s->model->peek(r->s, r->number, address);
}

/* ---- sections ----------------------------------------------------------------------------- */

bool run_section_begin(struct run *r)
{
    struct state *s = r->s;
    struct access a = access_of(r, ACCESS_FENCE, 0, 0, FENCE_FULL);
    enum readiness ready = s->model->look(s, &a);
    if (!run_may(r, ready == READY_NOT ? READY_NOT : READY))
        return false;
    if (!r->alone) {
        s->model->fence(s, &a);
        s->model->section(s, r->number, true);
    }
    r->atomic++;
    r->section_return = r->t->x[1];
    r->section_stack = r->t->x[2];
    return true;
}

void run_section_end(struct run *r)
{
    if (--r->atomic)
        return;
    if (!r->alone)
        r->s->model->section(r->s, r->number, false);
    for (uint32_t t = 0; r->made && r->s->end == STEP_DONE; t++) {
        if (!(r->made >> t & 1))
            continue;
        r->made &= ~(1u << t);
        r->s->model->start(r->s, t);
        run_begin(r->s, t);
    }
}
