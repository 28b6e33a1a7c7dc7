/* SPDX-License-Identifier: Apache-2.0 */
#include "draft.h"

#include <assert.h>
#include <string.h>

#include "test/kinds.h"

static bool writes(const struct draft_op *op)
{
    return kind_writes(op->op.kind);
}

bool op_has_location(const struct draft_op *op)
{
    return kind_has_location(op->op.kind);
}

enum block_role { NO_BLOCK, BEGINS, SPLITS, ENDS };

static enum block_role role_of(const struct draft_op *op)
{
    static const uint8_t roles[ORDEAL_OP_KINDS] = {
        [ORDEAL_TX_BEGIN] = BEGINS,     [ORDEAL_TX_END] = ENDS,     [ORDEAL_TX_ABORT] = ENDS,
        [ORDEAL_LOOP_BEGIN] = BEGINS,   [ORDEAL_LOOP_END] = ENDS,   [ORDEAL_BRANCH_BEGIN] = BEGINS,
        [ORDEAL_BRANCH_ELSE] = SPLITS,  [ORDEAL_BRANCH_END] = ENDS,
    };
    return roles[op->op.kind];
}

bool op_is_bracket(const struct draft_op *op) { return role_of(op) != NO_BLOCK; }

static uint64_t value_of(const uint8_t *bytes, uint8_t size_log2)
{
    uint64_t value = 0;
    for (unsigned b = 0; b < 1u << size_log2 && b < 8; b++)
        value |= (uint64_t)bytes[b] << 8 * b;
    return value;
}

static void set_value(uint8_t *bytes, uint64_t value, uint8_t size_log2)
{
    for (unsigned b = 0; b < 1u << size_log2 && b < 8; b++)
        bytes[b] = (uint8_t)(value >> 8 * b);
}

/* ---- from a test ------------------------------------------------------------------------- */

struct registers { uint8_t count; uint32_t number[MOST_REGISTERS]; };
struct source_line { uint32_t base; uint64_t address; };

struct reading {
    const struct ordeal_trace *test;
    struct draft *d;
    uint64_t lowest;                           /* line of those that have an address, no name */
    LIST(struct source_line) sources;          /* of the draft's lines */
    struct registers *registers;               /* by thread */
};

static uint64_t lowest_address(const struct ordeal_trace *test)
{
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < ordeal_trace_length(test); i++) {
        struct draft_op op = { .op = *ordeal_trace_op(test, i) };
        if (op_has_location(&op) && op.op.base == 0 && op.op.address < lowest)
            lowest = op.op.address;
    }
    return lowest - lowest % LINE_BYTES;
}

/* Lines by addresses keep their distances, as named ones keep their places. */
static bool line_index(struct reading *r, uint32_t base, uint64_t address, uint32_t *line)
{
    address -= address % LINE_BYTES;
    for (size_t i = r->sources.count; i-- > 0;)
        if (r->sources.data[i].base == base && r->sources.data[i].address == address) {
            *line = (uint32_t)i;
            return true;
        }
    struct draft_line fresh = { .marks = base ? ordeal_trace_memory_of(r->test, base) : 0 };
    fresh.placed = !base || ordeal_trace_place_of(r->test, base, &fresh.place);
    if (fresh.placed)
        fresh.place += base ? address : address - r->lowest;
    assert(r->sources.count == r->d->lines.count);
    *line = (uint32_t)r->d->lines.count;
    return LIST_PUSH(&r->sources, ((struct source_line){ base, address }))
        && LIST_PUSH(&r->d->lines, fresh);
}

/* Registers by dense numbers; program_compile() allows no more than there is room for. */
static bool register_index(struct reading *r, uint32_t thread, uint32_t number, uint8_t *index)
{
    struct registers *known = &r->registers[thread];
    for (*index = 0; *index < known->count; ++*index)
        if (known->number[*index] == number)
            return true;
    if (known->count == MOST_REGISTERS)
        return false;
    known->number[known->count++] = number;
    return true;
}

static bool read_registers(struct reading *r, size_t i, struct draft_op *op)
{
    uint32_t number, thread = ordeal_trace_op(r->test, i)->thread;
    enum ordeal_register_use use;
    uint8_t index;
    for (size_t k = 0; ordeal_trace_register_use(r->test, i, k, &number, &use); k++) {
        if (!register_index(r, thread, number, &index))
            return false;
        uint32_t bit = UINT32_C(1) << index;
        if (use == ORDEAL_REGISTER_WRITTEN)
            op->sets = index;
        else
            *(use == ORDEAL_REGISTER_DATA      ? &op->data
              : use == ORDEAL_REGISTER_CONTROL ? &op->control
                                               : &op->needs) |= bit;
    }
    if (op->op.flags & ORDEAL_COMPARE_REGISTER) {
        if (!register_index(r, thread, (uint32_t)op->compare, &index))
            return false;
        op->compare = index;
    }
    return true;
}

static bool thread_index(const struct reading *r, uint64_t number, uint64_t *index)
{
    for (*index = 0; *index < ordeal_trace_threads(r->test); ++*index)
        if (ordeal_trace_thread_number(r->test, (uint32_t)*index) == number)
            return true;
    return false;
}

static bool read_op(struct reading *r, size_t i)
{
    struct draft_op op = { .op = *ordeal_trace_op(r->test, i), .sets = NO_REGISTER,
                           .unit = (uint32_t)i };
    op.op.line = 0;
    op.op.read = 0;
    op.op.flags &= ORDEAL_NONFAULTING | ORDEAL_COMPARE_REGISTER | ORDEAL_HAS_LIMIT | ORDEAL_ACQUIRES
                 | ORDEAL_RELEASES;
    if (op.op.kind == ORDEAL_INTERRUPT && !thread_index(r, op.op.write, &op.op.write))
        return true; /* to a thread that was never there */
    if (op_has_location(&op)) {
        uint32_t line;
        if (!line_index(r, op.op.base, op.op.address, &line))
            return false;
        op.op.base = line;
        op.op.address %= LINE_BYTES;
    }
    if (writes(&op)) {
        op.step = ordeal_trace_step_of(r->test, i);
        if (op.op.size_log2 <= 3)
            set_value(op.written, op.op.write, op.op.size_log2);
        else
            memcpy(op.written, ordeal_trace_bytes_at(r->test, op.op.write),
                   (size_t)1 << op.op.size_log2);
        op.op.write = 0;
    }
    if (op.op.kind == ORDEAL_CAS)
        op.compare = ordeal_trace_compare_of(r->test, i);
    return read_registers(r, i, &op) && LIST_PUSH(&r->d->ops, op);
}

static bool read_initial_values(struct reading *r)
{
    uint32_t base, line;
    uint64_t address, value;
    uint8_t size;
    for (size_t k = 0; ordeal_trace_init_at(r->test, k, &base, &address, &size, &value); k++) {
        if (!line_index(r, base, address, &line))
            return false;
        set_value(r->d->lines.data[line].initial + address % LINE_BYTES, value, size);
    }
    return true;
}

bool draft_of_test(struct draft *d, const struct ordeal_trace *test)
{
    struct reading r = { .test = test, .d = d, .lowest = lowest_address(test) };
    *d = (struct draft){ .seed = ordeal_trace_seed_of(test),
                         .atomic = ordeal_trace_atomic_of(test) };
    d->claimed = ordeal_trace_claimed(test, &d->claim);
    r.registers = calloc(ordeal_trace_threads(test) + 1, sizeof *r.registers);
    bool whole = r.registers != NULL;
    for (uint32_t i = 0; i < ordeal_trace_threads(test) && whole; i++)
        whole = LIST_PUSH(&d->numbers, ordeal_trace_thread_number(test, i));
    for (size_t i = 0; i < ordeal_trace_length(test) && whole; i++)
        whole = read_op(&r, i);
    whole = whole && read_initial_values(&r) && draft_repair(d);
    LIST_FREE(&r.sources);
    free(r.registers);
    return whole;
}

void draft_free(struct draft *d)
{
    LIST_FREE(&d->ops);
    LIST_FREE(&d->lines);
    LIST_FREE(&d->numbers);
    LIST_FREE(&d->locations);
}

static bool copy_list(void *list_data, size_t *capacity, const void *from, size_t count,
                      size_t item)
{
    void **data = list_data;
    *data = malloc(count * item + 1);
    *capacity = *data ? count : 0;
    if (*data && count)
        memcpy(*data, from, count * item);
    return *data != NULL;
}
#define COPY_LIST(to, from) \
    copy_list(&(to)->data, &(to)->capacity, (from)->data, (from)->count, sizeof *(from)->data)

bool draft_copy(struct draft *to, const struct draft *from)
{
    *to = *from;
    to->ops.data = NULL;
    to->lines.data = NULL;
    to->numbers.data = NULL;
    to->locations.data = NULL;
    bool whole = COPY_LIST(&to->ops, &from->ops) && COPY_LIST(&to->lines, &from->lines)
              && COPY_LIST(&to->numbers, &from->numbers)
              && COPY_LIST(&to->locations, &from->locations);
    if (!whole)
        draft_free(to);
    return whole;
}

/* ---- making sense of what is left -------------------------------------------------------- */

static bool drop_cut(struct draft *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->ops.count; i++)
        if (!d->ops.data[i].cut)
            d->ops.data[kept++] = d->ops.data[i];
    bool dropped = kept < d->ops.count;
    d->ops.count = kept;
    return dropped;
}

struct draft_block draft_block_at(const struct draft *d, size_t begin)
{
    struct draft_block b = { .begin = begin, .otherwise = 0 };
    unsigned depth = 0;
    for (size_t i = begin; i < d->ops.count; i++) {
        const struct draft_op *op = &d->ops.data[i];
        if (op->op.thread != d->ops.data[begin].op.thread)
            continue;
        enum block_role role = role_of(op);
        depth += role == BEGINS;
        if (role == SPLITS && depth == 1)
            b.otherwise = i;
        if (role == ENDS && --depth == 0) {
            b.end = i;
            break;
        }
    }
    assert(b.end > begin); /* whatever is cut, brackets come in pairs */
    if (!b.otherwise)
        b.otherwise = b.end;
    return b;
}

static bool nothing_between(const struct draft *d, size_t from, size_t to)
{
    for (size_t i = from + 1; i < to; i++)
        if (d->ops.data[i].op.thread == d->ops.data[from].op.thread && !d->ops.data[i].cut)
            return false;
    return true;
}

/* Inner blocks are emptied in an earlier round than those around them. */
static void cut_empty_blocks(struct draft *d)
{
    for (size_t i = d->ops.count; i-- > 0;) {
        if (role_of(&d->ops.data[i]) != BEGINS)
            continue;
        struct draft_block b = draft_block_at(d, i);
        if (b.otherwise != b.end && nothing_between(d, b.otherwise, b.end)) {
            d->ops.data[b.otherwise].cut = true;
            b.otherwise = b.end;
        }
        if (nothing_between(d, b.begin, b.end))
            d->ops.data[b.begin].cut = d->ops.data[b.end].cut = true;
    }
}

/* An SC may use the LR `reserved` - 1; 0: there is none. */
struct thread_state {
    bool there, loop;
    uint32_t known;
    size_t reserved;
};

static void cut_lost_interrupts(struct draft *d, struct thread_state *threads)
{
    for (size_t i = 0; i < d->numbers.count; i++)
        threads[i] = (struct thread_state){ 0 };
    for (size_t i = 0; i < d->ops.count; i++)
        threads[d->ops.data[i].op.thread].there |= !d->ops.data[i].cut;
    for (size_t i = 0; i < d->ops.count; i++) {
        struct draft_op *op = &d->ops.data[i];
        op->cut |= op->op.kind == ORDEAL_INTERRUPT && !threads[op->op.write].there;
    }
}

static void repair_op(struct draft_op *op, struct thread_state *t)
{
    if (op->op.kind == ORDEAL_LOOP_BEGIN || op->op.kind == ORDEAL_LOOP_END)
        t->loop = op->op.kind == ORDEAL_LOOP_BEGIN;
    if (!t->loop)
        op->step = 0;
    op->needs &= t->known;
    op->data &= t->known;
    op->control &= t->known;
    if (op->op.flags & ORDEAL_COMPARE_REGISTER && !(t->known >> op->compare & 1)) {
        op->op.flags &= (uint8_t)~ORDEAL_COMPARE_REGISTER;
        op->compare = 0; /* what a register holds that nobody wrote */
    }
    if (op->sets != NO_REGISTER)
        t->known |= UINT32_C(1) << op->sets;
}

static bool overlap(const struct ordeal_op *a, const struct ordeal_op *b)
{
    return a->base == b->base && a->address < b->address + (UINT64_C(1) << b->size_log2)
        && b->address < a->address + (UINT64_C(1) << a->size_log2);
}

/* An SC without its LR goes, too (program_compile()). */
static void repair_reservation(struct draft *d, size_t i, struct thread_state *t)
{
    struct draft_op *op = &d->ops.data[i];
    const struct ordeal_op *lr = t->reserved ? &d->ops.data[t->reserved - 1].op : NULL;
    bool sc = op->op.kind == ORDEAL_STORE_CONDITIONAL;
    if (op->cut)
        return;
    op->cut = sc
           && (!lr || lr->base != op->op.base || lr->address != op->op.address
               || lr->size_log2 != op->op.size_log2);
    if (op->op.kind == ORDEAL_LOAD_RESERVED)
        t->reserved = i + 1;
    else if (sc || op_is_bracket(op) || (lr && writes(op) && overlap(&op->op, lr)))
        t->reserved = 0;
}

static bool inside(struct location inner, struct location outer)
{
    return inner.line == outer.line && inner.size_log2 <= outer.size_log2
        && inner.offset >> outer.size_log2 == outer.offset >> outer.size_log2;
}

static struct location extent_of(const struct draft_op *op)
{
    return (struct location){ op->op.base, (uint8_t)op->op.address, op->op.size_log2 };
}

size_t draft_location_of(const struct draft *d, const struct draft_op *op)
{
    size_t i = 0;
    while (i < d->locations.count && !inside(extent_of(op), d->locations.data[i]))
        i++;
    return i;
}

static bool find_locations(struct draft *d)
{
    d->locations.count = 0;
    for (size_t i = 0; i < d->ops.count; i++) {
        if (!op_has_location(&d->ops.data[i]))
            continue;
        struct location mine = extent_of(&d->ops.data[i]);
        bool known = false;
        size_t kept = 0;
        for (size_t k = 0; k < d->locations.count; k++) {
            struct location other = d->locations.data[k];
            if (inside(mine, other))
                known = true;
            else if (inside(other, mine) && known)
                continue; /* a second one that the wider access joins */
            else if (inside(other, mine))
                other = mine, known = true;
            d->locations.data[kept++] = other;
        }
        d->locations.count = kept;
        if (!known && !LIST_PUSH(&d->locations, mine))
            return false;
    }
    return true;
}

static void check_op(const struct draft *d, const struct draft_op *op)
{
    assert(!op->cut && op->op.thread < d->numbers.count);
    assert(op->sets == NO_REGISTER || op->sets < MOST_REGISTERS);
    assert(op->op.kind != ORDEAL_INTERRUPT || op->op.write < d->numbers.count);
    if (op_has_location(op))
        assert(op->op.base < d->lines.count
               && op->op.address + (UINT64_C(1) << op->op.size_log2) <= LINE_BYTES);
}

bool draft_repair(struct draft *d)
{
    struct thread_state *threads = calloc(d->numbers.count + 1, sizeof *threads);
    if (!threads)
        return false;
    do {
        drop_cut(d);
        cut_empty_blocks(d);
        cut_lost_interrupts(d, threads);
        for (size_t i = 0; i < d->ops.count; i++)
            repair_reservation(d, i, &threads[d->ops.data[i].op.thread]);
    } while (drop_cut(d));
    bool branches = false;
    for (size_t i = 0; i < d->ops.count; i++) {
        check_op(d, &d->ops.data[i]);
        repair_op(&d->ops.data[i], &threads[d->ops.data[i].op.thread]);
        branches |= d->ops.data[i].op.kind == ORDEAL_BRANCH_BEGIN;
    }
    if (!branches)
        d->seed = 0;
    d->threads = 0;
    for (size_t i = 0; i < d->numbers.count; i++)
        d->threads += threads[i].there;
    free(threads);
    return find_locations(d);
}

/* ---- to a test --------------------------------------------------------------------------- */

struct writing {
    const struct draft *d;
    struct ordeal_trace *test;
    uint32_t *base;                  /* by line: its name in the test; 0: not yet there */
    uint32_t names;
};

/* A, B, … Z, AA, AB, … */
static enum ordeal_status name_line(struct writing *w, uint32_t line)
{
    char name[8], *start = name + sizeof name;
    const struct draft_line *l = &w->d->lines.data[line];
    if (w->base[line])
        return ORDEAL_OK;
    assert(w->names < w->d->lines.count);
    for (uint32_t n = ++w->names; n; n = (n - 1) / 26)
        *--start = (char)('A' + (n - 1) % 26);
    enum ordeal_status status = ordeal_trace_name(w->test, start, (size_t)(name + sizeof name
                                                  - start), &w->base[line]);
    if (status == ORDEAL_OK && l->placed)
        status = ordeal_trace_place(w->test, w->base[line], l->place);
    if (status == ORDEAL_OK && l->marks)
        status = ordeal_trace_memory(w->test, w->base[line], l->marks);
    return status;
}

/* A word whose initial value is 0 needs no line. */
static enum ordeal_status write_initial(const struct writing *w, const struct location *at)
{
    enum ordeal_status status = ORDEAL_OK;
    uint8_t size = at->size_log2 < 3 ? at->size_log2 : 3;
    const uint8_t *initial = w->d->lines.data[at->line].initial;
    for (unsigned o = at->offset; o < at->offset + (1u << at->size_log2); o += 1u << size) {
        uint64_t value = value_of(initial + o, size);
        if (value && status == ORDEAL_OK)
            status = ordeal_trace_init(w->test, w->base[at->line], o, size, value);
    }
    return status;
}

static enum ordeal_status write_uses(const struct writing *w, uint32_t registers,
                                     enum ordeal_register_use use, enum ordeal_status status)
{
    for (uint32_t r = 0; r < MOST_REGISTERS && status == ORDEAL_OK; r++)
        if (registers >> r & 1)
            status = ordeal_trace_uses_register(w->test, r, use);
    return status;
}

static enum ordeal_status write_op(const struct writing *w, const struct draft_op *from)
{
    struct ordeal_op op = from->op;
    enum ordeal_status status = ordeal_trace_thread(w->test, w->d->numbers.data[op.thread],
                                                    &op.thread);
    assert(!op_has_location(from) || w->base[op.base]); /* its location was named */
    if (op_has_location(from))
        op.base = w->base[op.base];
    if (op.kind == ORDEAL_INTERRUPT)
        op.write = w->d->numbers.data[op.write];
    if (writes(from) && op.size_log2 <= 3)
        op.write = value_of(from->written, op.size_log2);
    else if (writes(from) && status == ORDEAL_OK)
        status = ordeal_trace_bytes(w->test, from->written, (size_t)1 << op.size_log2, &op.write);
    if (status == ORDEAL_OK)
        status = ordeal_trace_add(w->test, &op, from->compare);
    if (status == ORDEAL_OK && from->step)
        status = ordeal_trace_step(w->test, from->step);
    status = write_uses(w, from->needs, ORDEAL_REGISTER_READ, status);
    status = write_uses(w, from->data, ORDEAL_REGISTER_DATA, status);
    status = write_uses(w, from->control, ORDEAL_REGISTER_CONTROL, status);
    if (status == ORDEAL_OK && from->sets != NO_REGISTER)
        status = ordeal_trace_writes_register(w->test, from->sets);
    return status;
}

static enum ordeal_status write_test(struct writing *w)
{
    const struct draft *d = w->d;
    enum ordeal_status status = ordeal_trace_atomic(w->test, d->atomic);
    ordeal_trace_seed(w->test, d->seed);
    if (d->claimed)
        ordeal_trace_claim(w->test, d->claim);
    for (size_t i = 0; i < d->locations.count && status == ORDEAL_OK; i++) {
        status = name_line(w, d->locations.data[i].line);
        if (status == ORDEAL_OK)
            status = write_initial(w, &d->locations.data[i]);
    }
    for (size_t i = 0; i < d->ops.count && status == ORDEAL_OK; i++)
        status = write_op(w, &d->ops.data[i]);
    return status;
}

enum ordeal_status draft_test(const struct draft *d, struct ordeal *o, struct ordeal_trace **test)
{
    struct writing w = { .d = d, .test = ordeal_trace_new(o),
                         .base = calloc(d->lines.count + 1, sizeof *w.base) };
    enum ordeal_status status = w.test && w.base ? write_test(&w) : ORDEAL_NO_MEMORY;
    free(w.base);
    if (status != ORDEAL_OK) {
        ordeal_trace_free(w.test);
        w.test = NULL;
    }
    *test = w.test;
    return status;
}

/* ---- which test it is -------------------------------------------------------------------- */

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t mixed_bytes(uint64_t hash, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = mixed(hash, bytes[i]);
    return hash;
}

static uint64_t mixed_op(uint64_t h, const struct draft *d, const struct draft_op *op)
{
    h = mixed(h, op->op.kind | op->op.size_log2 << 8 | op->op.flags << 16
                 | (uint64_t)op->op.barrier << 24 | (uint64_t)op->sets << 32);
    h = mixed(h, d->numbers.data[op->op.thread] | (uint64_t)op->needs << 32);
    if (op->data | op->control)
        h = mixed(h, op->data | (uint64_t)op->control << 32);
    h = mixed(mixed(h, op->compare), op->step);
    if (op_has_location(op))
        h = mixed(h, op->op.address | draft_location_of(d, op) << 8);
    if (writes(op))
        return mixed_bytes(h, op->written, (size_t)1 << op->op.size_log2);
    return mixed(h, op->op.kind == ORDEAL_INTERRUPT ? d->numbers.data[op->op.write]
                                                    : op->op.write);
}

uint64_t draft_identity(const struct draft *d)
{
    uint64_t h = d->seed;
    for (size_t i = 0; i < d->ops.count; i++)
        h = mixed_op(h, d, &d->ops.data[i]);
    for (size_t i = 0; i < d->locations.count; i++) {
        const struct location *at = &d->locations.data[i];
        const struct draft_line *l = &d->lines.data[at->line];
        size_t same = 0;
        while (d->locations.data[same].line != at->line)
            same++;
        h = mixed(mixed(h, same), l->marks | l->placed << 8);
        h = mixed(h, l->placed ? l->place : 0);
        h = mixed_bytes(h, l->initial + at->offset, (size_t)1 << at->size_log2);
    }
    return h;
}
