/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to the whole of a draft: where its words lie, how its values, threads and registers are
 * numbered. */
#include "draft.h"

#include <assert.h>
#include <string.h>

#include "test/kinds.h"

/* ---- locations --------------------------------------------------------------------------- */

static bool lies_in(const struct draft_op *op, struct location at)
{
    return op_has_location(op) && op->op.base == at.line
        && op->op.address >> at.size_log2 == (uint64_t)at.offset >> at.size_log2;
}

void draft_move_location(struct draft *d, struct location from, struct location to)
{
    uint8_t bytes[LINE_BYTES];
    size_t size = (size_t)1 << from.size_log2;
    assert(from.offset + size <= LINE_BYTES && to.offset + size <= LINE_BYTES);
    assert(from.line < d->lines.count && to.line < d->lines.count);
    memcpy(bytes, d->lines.data[from.line].initial + from.offset, size);
    memcpy(d->lines.data[to.line].initial + to.offset, bytes, size);
    for (size_t i = 0; i < d->ops.count; i++) {
        struct draft_op *op = &d->ops.data[i];
        if (lies_in(op, from)) {
            op->op.base = to.line;
            op->op.address = op->op.address - from.offset + to.offset;
        }
    }
}

/* A shift that keeps every access aligned, and words that shared 8 bytes together. */
static uint8_t shift_of_line(const struct draft *d, uint32_t line)
{
    uint8_t lowest = LINE_BYTES, size_log2 = 3;
    for (size_t i = 0; i < d->locations.count; i++) {
        struct location at = d->locations.data[i];
        if (at.line == line && at.offset < lowest)
            lowest = at.offset;
        if (at.line == line && at.size_log2 > size_log2)
            size_log2 = at.size_log2;
    }
    return lowest == LINE_BYTES ? 0 : (uint8_t)(lowest >> size_log2 << size_log2);
}

void draft_shift_lines(struct draft *d)
{
    for (uint32_t line = 0; line < d->lines.count; line++) {
        uint8_t shift = shift_of_line(d, line), *initial = d->lines.data[line].initial;
        memmove(initial, initial + shift, (size_t)LINE_BYTES - shift);
        memset(initial + LINE_BYTES - shift, 0, shift);
        for (size_t i = 0; i < d->ops.count; i++)
            if (op_has_location(&d->ops.data[i]) && d->ops.data[i].op.base == line)
                d->ops.data[i].op.address -= shift;
    }
}

/* ---- values ------------------------------------------------------------------------------ */

/* The parts of a location: as large as the smallest access to it. */
struct parts { uint8_t size_log2; uint64_t next[LINE_BYTES]; };

struct numbering {
    struct draft *d;
    const struct draft_op *old;      /* the operations with the values they had */
    struct parts *parts;             /* by location */
    uint64_t *rounds;                /* by operation: how often it is done, if its value steps */
};

static bool is_access(const struct draft_op *op) { return kind_is_access(op->op.kind); }
/* What it writes is a number of its own; an operand of an AMO is none. */
static bool is_numbered(const struct draft_op *op)
{
    return kind_writes(op->op.kind) && op->op.kind != ORDEAL_AMO;
}

static uint64_t get(const uint8_t *bytes, uint8_t size_log2)
{
    uint64_t value = 0;
    for (unsigned b = 0; b < 1u << size_log2; b++)
        value |= (uint64_t)bytes[b] << 8 * b;
    return value;
}

static void put(uint8_t *bytes, uint64_t value, uint8_t size_log2)
{
    for (unsigned b = 0; b < 1u << size_log2; b++)
        bytes[b] = (uint8_t)(value >> 8 * b);
}

static void find_parts(struct numbering *n)
{
    for (size_t i = 0; i < n->d->locations.count; i++)
        n->parts[i].size_log2 = 3;
    for (size_t i = 0; i < n->d->ops.count; i++) {
        const struct draft_op *op = &n->d->ops.data[i];
        if (!is_access(op))
            continue;
        struct parts *p = &n->parts[draft_location_of(n->d, op)];
        if (op->op.size_log2 < p->size_log2)
            p->size_log2 = op->op.size_log2;
    }
}

static void find_rounds(struct numbering *n)
{
    for (size_t i = 0; i < n->d->ops.count; i++) {
        const struct draft_op *ops = n->d->ops.data;
        if (n->rounds[i] == 0)
            n->rounds[i] = 1;
        if (ops[i].op.kind != ORDEAL_LOOP_BEGIN)
            continue;
        size_t end = draft_block_at(n->d, i).end;
        for (size_t k = i; k < end; k++)
            if (ops[k].op.thread == ops[i].op.thread && ops[k].step)
                n->rounds[k] = ops[i].op.write;
    }
}

/* `rounds` values in a row that are neither given yet nor the initial one. */
static bool take_values(uint64_t *next, uint64_t initial, uint64_t rounds, uint8_t size_log2,
                        uint64_t *first)
{
    uint64_t most = size_log2 == 3 ? UINT64_MAX : (UINT64_C(1) << (8u << size_log2)) - 1;
    *first = *next ? *next : 1;
    if (initial >= *first && initial - *first < rounds)
        *first = initial + 1;
    if (*first == 0 || rounds > most - *first)
        return false;
    *next = *first + rounds;
    return true;
}

static bool number_write(struct numbering *n, size_t i)
{
    struct draft_op *op = &n->d->ops.data[i];
    size_t at = draft_location_of(n->d, op);
    assert(at < n->d->locations.count);
    struct parts *p = &n->parts[at];
    const uint8_t *initial = n->d->lines.data[op->op.base].initial;
    unsigned begin = (unsigned)op->op.address, end = begin + (1u << op->op.size_log2);
    uint64_t step = 0;
    for (unsigned o = begin; o < end; o += 1u << p->size_log2) {
        uint64_t value;
        if (!take_values(&p->next[o - n->d->locations.data[at].offset],
                         get(initial + o, p->size_log2), n->rounds[i], p->size_log2, &value))
            return false;
        put(op->written + (o - begin), value, p->size_log2);
        if (op->step)
            step |= UINT64_C(1) << 8 * (o - begin);
    }
    op->step = step;
    return true;
}

static bool same_place(const struct draft_op *a, const struct draft_op *b)
{
    return a->op.base == b->op.base && a->op.address == b->op.address
        && a->op.size_log2 == b->op.size_log2;
}

/* A CAS that compares with a constant waits for a certain store; it still should. */
static void follow_compare(struct numbering *n, struct draft_op *cas)
{
    for (size_t i = 0; i < n->d->ops.count; i++) {
        const struct draft_op *old = &n->old[i], *fresh = &n->d->ops.data[i];
        if (!is_numbered(old) || !same_place(old, cas))
            continue;
        uint64_t above = cas->compare - get(old->written, old->op.size_log2);
        uint64_t round = old->step ? above / old->step : 0;
        if (above != round * old->step || round >= n->rounds[i])
            continue;
        cas->compare = get(fresh->written, fresh->op.size_log2) + round * fresh->step;
        return;
    }
}

static bool number_values(struct numbering *n)
{
    struct draft *d = n->d;
    find_parts(n);
    find_rounds(n);
    for (size_t i = 0; i < d->ops.count; i++)
        if (is_numbered(&d->ops.data[i]) && !number_write(n, i))
            return false;
    for (size_t i = 0; i < d->ops.count; i++)
        if (d->ops.data[i].op.kind == ORDEAL_CAS
            && !(d->ops.data[i].op.flags & ORDEAL_COMPARE_REGISTER))
            follow_compare(n, &d->ops.data[i]);
    return true;
}

bool draft_number_values(struct draft *d)
{
    struct draft_op *old = malloc(d->ops.count * sizeof *old + 1);
    struct numbering n = { .d = d, .old = old,
                           .parts = calloc(d->locations.count + 1, sizeof *n.parts),
                           .rounds = calloc(d->ops.count + 1, sizeof *n.rounds) };
    bool done = old && n.parts && n.rounds;
    if (done) {
        memcpy(old, d->ops.data, d->ops.count * sizeof *old);
        done = number_values(&n);
    }
    free(old);
    free(n.parts);
    free(n.rounds);
    return done;
}

/* ---- threads and registers --------------------------------------------------------------- */

/* The operations of each thread together, the threads in the given order; stable. */
static bool arrange(struct draft *d, const uint32_t *order, size_t threads)
{
    struct draft_op *sorted = malloc(d->ops.count * sizeof *sorted + 1);
    size_t count = 0;
    if (!sorted)
        return false;
    for (size_t t = 0; t < threads; t++)
        for (size_t i = 0; i < d->ops.count; i++)
            if (d->ops.data[i].op.thread == order[t])
                sorted[count++] = d->ops.data[i];
    assert(count == d->ops.count); /* every thread with operations is in the order */
    free(d->ops.data);
    d->ops.data = sorted;
    d->ops.count = d->ops.capacity = count;
    return true;
}

static bool has_operations(const struct draft *d, uint32_t thread)
{
    for (size_t i = 0; i < d->ops.count; i++)
        if (d->ops.data[i].op.thread == thread)
            return true;
    return false;
}

bool draft_number_threads(struct draft *d)
{
    uint32_t *order = calloc(d->numbers.count + 1, sizeof *order), used = 0;
    if (!order)
        return false;
    for (uint32_t t = 0; t < d->numbers.count; t++) {
        uint32_t place = used;
        if (!has_operations(d, t))
            continue;
        for (; place && d->numbers.data[order[place - 1]] > d->numbers.data[t]; place--)
            order[place] = order[place - 1];
        order[place] = t;
        used++;
    }
    bool whole = arrange(d, order, used);
    for (uint32_t k = 0; k < used; k++)
        d->numbers.data[order[k]] = k;
    free(order);
    return whole;
}

/* Registers of the thread that an operation uses get numbers from `next` on, as they come. */
static void number_register(uint8_t *map, uint8_t *next, uint32_t reg)
{
    if (map[reg] == NO_REGISTER)
        map[reg] = (*next)++;
}

static uint32_t mapped(const uint8_t *map, uint32_t needs)
{
    uint32_t result = 0;
    for (uint32_t r = 0; r < MOST_REGISTERS; r++)
        if (needs >> r & 1)
            result |= UINT32_C(1) << map[r];
    return result;
}

static void number_registers_of(struct draft *d, uint32_t thread)
{
    uint8_t map[MOST_REGISTERS], next = 0;
    memset(map, NO_REGISTER, sizeof map);
    for (size_t i = 0; i < d->ops.count; i++) {
        struct draft_op *op = &d->ops.data[i];
        if (op->op.thread != thread)
            continue;
        /* What is read was written before, so its number is known. */
        op->needs = mapped(map, op->needs);
        op->data = mapped(map, op->data);
        op->control = mapped(map, op->control);
        if (op->op.flags & ORDEAL_COMPARE_REGISTER)
            op->compare = map[op->compare];
        if (op->sets != NO_REGISTER) {
            number_register(map, &next, op->sets);
            op->sets = map[op->sets];
        }
    }
}

void draft_number_registers(struct draft *d)
{
    for (uint32_t t = 0; t < d->numbers.count; t++)
        number_registers_of(d, t);
}

/* Which registers a thread uses, a bit each. */
static uint32_t registers_of(const struct draft *d, uint32_t thread)
{
    uint32_t used = 0;
    for (size_t i = 0; i < d->ops.count; i++)
        if (d->ops.data[i].op.thread == thread && d->ops.data[i].sets != NO_REGISTER)
            used |= UINT32_C(1) << d->ops.data[i].sets;
    return used;
}

bool draft_join_threads(struct draft *d, uint32_t first, uint32_t second)
{
    if (!has_operations(d, first) || !has_operations(d, second))
        return false;
    draft_number_registers(d);
    unsigned shift = (unsigned)__builtin_popcount(registers_of(d, first));
    if (shift + (unsigned)__builtin_popcount(registers_of(d, second)) > MOST_REGISTERS)
        return false;
    uint32_t *order = calloc(d->numbers.count + 1, sizeof *order), used = 0;
    if (!order)
        return false;
    for (uint32_t t = 0; t < d->numbers.count; t++) {
        if (t == second)
            continue;
        order[used++] = t;
        if (t == first)
            order[used++] = second;
    }
    bool whole = arrange(d, order, used);
    free(order);
    for (size_t i = 0; i < d->ops.count; i++) {
        struct draft_op *op = &d->ops.data[i];
        if (op->op.thread == second) {
            op->op.thread = first;
            op->needs <<= shift % MOST_REGISTERS;
            op->data <<= shift % MOST_REGISTERS;
            op->control <<= shift % MOST_REGISTERS;
            op->compare += op->op.flags & ORDEAL_COMPARE_REGISTER ? shift : 0;
            op->sets = op->sets == NO_REGISTER ? NO_REGISTER : (uint8_t)(op->sets + shift);
        }
        op->cut |= op->op.kind == ORDEAL_INTERRUPT
                && (op->op.write == second || op->op.write == op->op.thread);
    }
    return whole;
}
