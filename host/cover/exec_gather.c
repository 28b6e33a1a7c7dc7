/* SPDX-License-Identifier: Apache-2.0 */
/* From a trace to accesses, and from their ends to cells of memory. */
#include <string.h>

#include "exec_parts.h"
#include "test/kinds.h"

/* ---- accesses -------------------------------------------------------------------------------- */

/* Of one thread, on its way through the trace. */
struct gathering {
    struct cover_exec *x;
    uint32_t thread, position, tx;
    uint8_t fence;
    uint32_t last; /* its access before; NOBODY */
};

static uint8_t word_of(const struct ordeal_op *op)
{
    static const uint8_t kinds[ORDEAL_OP_KINDS] = { [ORDEAL_LOAD] = 0,
                                                    [ORDEAL_STORE] = 1,
                                                    [ORDEAL_SWAP] = 2,
                                                    [ORDEAL_CAS] = 3,
                                                    [ORDEAL_AMO] = 4,
                                                    [ORDEAL_LOAD_RESERVED] = 0,
                                                    [ORDEAL_STORE_CONDITIONAL] = 1 };
    return (uint8_t)(kinds[op->kind] * 5 + (op->size_log2 < 4 ? op->size_log2 : 4));
}

static bool did_write(const struct ordeal_trace *t, uint32_t i, const struct ordeal_op *op)
{
    if (op->kind == ORDEAL_STORE_CONDITIONAL)
        return op->read == 0;
    return op->kind != ORDEAL_CAS || op->read == ordeal_trace_compare_of(t, i);
}

static void note_registers(const struct ordeal_trace *t, struct access *a)
{
    uint32_t reg;
    bool written;
    for (size_t k = 0; ordeal_trace_register_of(t, a->op, k, &reg, &written); k++)
        *(written ? &a->sets : &a->needs) |= UINT64_C(1) << reg % 64;
}

static bool add_place(struct cover_exec *x, uint32_t base, uint64_t address)
{
    struct place place = { base, address };
    return LIST_PUSH(&x->places, place);
}

static bool add_access(struct gathering *g, uint32_t i, const struct ordeal_op *op)
{
    struct cover_exec *x = g->x;
    struct access a = {
        .op = i,
        .thread = g->thread,
        .position = g->position++,
        .tx = g->tx,
        .word = word_of(op),
        .fence = g->fence,
        .reads = kind_reads(op->kind) && op->flags & ORDEAL_HAS_VALUE,
        .writes = kind_writes(op->kind) && did_write(x->trace, i, op),
        .uncached = op->base && ordeal_trace_memory_of(x->trace, op->base) & ORDEAL_UNCACHED,
    };
    a.at_once = exec_is_rmw(&a) || a.tx || 1u << op->size_log2 <= ordeal_trace_atomic_of(x->trace);
    note_registers(x->trace, &a);
    if (g->last != NOBODY)
        x->accesses.data[g->last].fence_after = g->fence;
    g->fence = 0;
    g->last = (uint32_t)x->accesses.count;
    if (g->tx)
        x->transactions.data[g->tx - 1].accesses++;
    return LIST_PUSH(&x->accesses, a) && add_place(x, op->base, op->address)
        && add_place(x, op->base, op->address + (UINT64_C(1) << op->size_log2));
}

/* Of a transaction that aborted nothing took place but that it aborted. */
static void end_transaction(struct gathering *g, bool aborted)
{
    struct cover_exec *x = g->x;
    if (!g->tx)
        return;
    x->transactions.data[g->tx - 1].aborted = aborted;
    for (size_t i = x->accesses.count; aborted && i-- > 0 && x->accesses.data[i].tx == g->tx;)
        x->accesses.data[i].reads = x->accesses.data[i].writes = false;
    g->tx = 0;
}

/* One that is left out may have written what others read. */
static bool note_beyond(struct cover_exec *x, const struct ordeal_op *op)
{
    struct place place = { op->base, op->address };
    bool good = true;
    for (uint32_t i = 0; good && kind_writes(op->kind) && i < 1u << op->size_log2; i++) {
        good = LIST_PUSH(&x->beyond, place);
        place.address++;
    }
    return good;
}

static bool take_operation(struct gathering *g, uint32_t i)
{
    struct cover_exec *x = g->x;
    const struct ordeal_op *op = ordeal_trace_op(x->trace, i);
    struct transaction fresh = { .thread = g->thread };
    if (kind_is_access(op->kind))
        return g->position < MOST_ACCESSES / x->threads ? add_access(g, i, op) : note_beyond(x, op);
    if (op->kind == ORDEAL_MEMBAR)
        g->fence |= op->barrier;
    if (op->kind == ORDEAL_TX_END || op->kind == ORDEAL_TX_ABORT)
        end_transaction(g, op->kind == ORDEAL_TX_ABORT);
    if (op->kind != ORDEAL_TX_BEGIN)
        return true;
    g->tx = (uint32_t)x->transactions.count + 1;
    return LIST_PUSH(&x->transactions, fresh);
}

/* Operations of a thread need not lie together in a trace: `scratch` has them thread by thread, and
 * before them where each thread's begin. */
static bool sort_operations(struct cover_exec *x)
{
    size_t length = ordeal_trace_length(x->trace);
    if (!LIST_CLEAR_TO(&x->scratch, x->threads + 1 + length))
        return false;
    uint32_t *begin = x->scratch.data, *sorted = begin + x->threads + 1;
    for (size_t i = 0; i < length; i++)
        begin[ordeal_trace_op(x->trace, i)->thread + 1]++;
    for (uint32_t t = 0; t < x->threads; t++)
        begin[t + 1] += begin[t];
    for (uint32_t i = 0; i < length; i++)
        sorted[begin[ordeal_trace_op(x->trace, i)->thread]++] = i;
    memmove(begin + 1, begin, x->threads * sizeof *begin);
    begin[0] = 0;
    return true;
}

static bool take_thread(struct cover_exec *x, uint32_t thread)
{
    struct gathering g = { .x = x, .thread = thread, .last = NOBODY };
    const uint32_t *begin = x->scratch.data, *sorted = begin + x->threads + 1;
    bool good = LIST_PUSH(&x->first, (uint32_t)x->accesses.count);
    for (uint32_t i = begin[thread]; good && i < begin[thread + 1]; i++)
        good = take_operation(&g, sorted[i]);
    if (good && g.last != NOBODY) /* else it may not be there */
        x->accesses.data[g.last].fence_after = g.fence;
    return good;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    if (p->base != q->base)
        return p->base < q->base ? -1 : 1;
    return p->address < q->address ? -1 : p->address > q->address;
}

/* A cell from each place to the next; what lies behind the last of a base has no bytes. */
static bool make_cells(struct cover_exec *x)
{
    LIST_SORT(&x->places, compare_places);
    x->cells.count = 0;
    for (size_t i = 0; i < x->places.count; i++) {
        const struct place *p = &x->places.data[i];
        struct cell fresh = { .base = p->base, .address = p->address };
        struct cell *last = x->cells.count ? &x->cells.data[x->cells.count - 1] : NULL;
        if (last && last->base == p->base && last->address == p->address)
            continue;
        if (last && last->base == p->base)
            last->bytes = p->address - last->address;
        if (!LIST_PUSH(&x->cells, fresh))
            return false;
    }
    return true;
}

/* The last cell that begins there or before; the first, if none does. */
static uint32_t cell_at(const struct cover_exec *x, uint32_t base, uint64_t address)
{
    size_t low = 0, high = x->cells.count;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        struct place wanted = { base, address },
                     there = { x->cells.data[middle].base, x->cells.data[middle].address };
        *(compare_places(&there, &wanted) <= 0 ? &low : &high) = middle;
    }
    return (uint32_t)low;
}

static uint64_t print_of(const uint8_t *bytes, uint64_t count)
{
    uint64_t print = count > 8 ? UINT64_C(0xcbf29ce484222325) : 0; /* FNV-1a */
    for (uint64_t i = 0; i < count; i++)
        print = count > 8 ? (print ^ bytes[i]) * UINT64_C(0x100000001b3)
                          : print | (uint64_t)bytes[i] << 8 * i;
    return print;
}

static void put_value(uint8_t bytes[8], uint64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

/* ---- what is told of cells ------------------------------------------------------------------- */

/* The cell of these bytes; NULL: there is none. */
static struct cell *cell_of(const struct cover_exec *x, uint32_t base, uint64_t address)
{
    uint32_t at = cell_at(x, base, address);
    struct cell *c = x->cells.data + at;
    return at < x->cells.count && c->base == base && address >= c->address
                && address - c->address < c->bytes && c->bytes <= MOST_CELL
             ? c
             : NULL;
}

static void hold(struct cover_exec *x, uint32_t base, uint64_t address, uint64_t value,
                 uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++, address++, value >>= 8) {
        struct cell *c = cell_of(x, base, address);
        if (!c)
            continue;
        x->held.data[c - x->cells.data].bytes[address - c->address] = (uint8_t)value;
        c->final_bytes |= UINT64_C(1) << (address - c->address);
    }
}

static uint64_t print_held(const struct cover_exec *x, const struct cell *c)
{
    return c->bytes <= MOST_CELL ? print_of(x->held.data[c - x->cells.data].bytes, c->bytes) : 0;
}

static bool note_initial(struct cover_exec *x)
{
    uint32_t base;
    uint64_t address, value;
    uint8_t size_log2;
    if (!LIST_CLEAR_TO(&x->held, x->cells.count))
        return false;
    for (size_t k = 0; ordeal_trace_init_at(x->trace, k, &base, &address, &size_log2, &value); k++)
        hold(x, base, address, value, UINT64_C(1) << size_log2);
    for (size_t i = 0; i < x->cells.count; i++) {
        x->cells.data[i].initial = print_held(x, &x->cells.data[i]);
        x->cells.data[i].final_bytes = 0;
    }
    return true;
}

static void note_final(struct cover_exec *x)
{
    uint32_t base;
    uint64_t address, value;
    uint8_t size_log2;
    for (size_t k = 0; ordeal_trace_final_at(x->trace, k, &base, &address, &size_log2, &value); k++)
        hold(x, base, address, value, UINT64_C(1) << size_log2);
    for (size_t i = 0; i < x->cells.count; i++)
        x->cells.data[i].final = print_held(x, &x->cells.data[i]);
}

/* Of words that are a cell each. */
static void note_orders(struct cover_exec *x)
{
    uint32_t base;
    uint64_t address;
    uint8_t size_log2;
    const uint64_t *values;
    size_t count;
    for (uint32_t k = 0;
         ordeal_trace_order_at(x->trace, k, &base, &address, &size_log2, &values, &count); k++) {
        struct cell *c = cell_of(x, base, address);
        if (c && c->address == address && c->bytes == UINT64_C(1) << size_log2)
            c->order = k + 1;
    }
}

static void note_open(struct cover_exec *x)
{
    for (size_t i = 0; i < x->beyond.count; i++) {
        struct cell *c = cell_of(x, x->beyond.data[i].base, x->beyond.data[i].address);
        if (c)
            c->open = true;
    }
}

/* ---- visits ---------------------------------------------------------------------------------- */

static bool add_visits(struct cover_exec *x, uint32_t number)
{
    struct access *a = &x->accesses.data[number];
    const struct ordeal_op *op = ordeal_trace_op(x->trace, a->op);
    bool wide = op->size_log2 > 3;
    uint8_t read[8], written[8];
    put_value(read, op->read);
    put_value(written, a->writes ? ordeal_op_written(op) : 0);
    const uint8_t *r = wide && a->reads ? ordeal_trace_bytes_at(x->trace, op->read) : read;
    const uint8_t *w = wide && a->writes ? ordeal_trace_bytes_at(x->trace, op->write) : written;
    uint64_t end = op->address + (UINT64_C(1) << op->size_log2);
    a->cell = cell_at(x, op->base, op->address);
    a->visit = (uint32_t)x->visits.count;
    for (a->cells = 0; a->reads || a->writes; a->cells++) {
        struct cell *c = &x->cells.data[a->cell + a->cells];
        if (c->base != op->base || c->address >= end)
            break;
        struct visit v = { .access = number, .cell = a->cell + a->cells, .source = NOBODY };
        v.read = a->reads ? print_of(r + (c->address - op->address), c->bytes) : 0;
        v.written = a->writes ? print_of(w + (c->address - op->address), c->bytes) : 0;
        c->count++;
        if (!LIST_PUSH(&x->visits, v))
            return false;
    }
    return true;
}

static bool sort_visits(struct cover_exec *x)
{
    uint32_t sum = 0;
    if (!LIST_CLEAR_TO(&x->by_cell, x->visits.count))
        return false;
    for (size_t i = 0; i < x->cells.count; i++) {
        x->cells.data[i].first = sum;
        sum += x->cells.data[i].count;
        x->cells.data[i].count = 0;
    }
    for (uint32_t v = 0; v < x->visits.count; v++) {
        struct cell *c = &x->cells.data[x->visits.data[v].cell];
        x->by_cell.data[c->first + c->count++] = v;
    }
    return true;
}

bool exec_gather(struct cover_exec *x)
{
    x->threads = ordeal_trace_threads(x->trace);
    x->accesses.count = x->first.count = x->transactions.count = 0;
    x->places.count = x->beyond.count = x->visits.count = 0;
    bool good = sort_operations(x);
    for (uint32_t t = 0; good && t < x->threads; t++)
        good = take_thread(x, t);
    good = good && LIST_PUSH(&x->first, (uint32_t)x->accesses.count) && make_cells(x)
        && note_initial(x);
    if (good) {
        note_final(x);
        note_orders(x);
        note_open(x);
    }
    for (uint32_t a = 0; good && a < x->accesses.count; a++)
        good = add_visits(x, a);
    return good && sort_visits(x);
}
