/* SPDX-License-Identifier: Apache-2.0 */
/* Axe traces (FORMAT.md). Refuses a trace that says what Axe cannot say, naming the operation.
 *
 * Locations named v0, v1, … keep their numbers; if there are others, all are numbered in order of
 * appearance and comments tell which is which. */
#include "write.h"
#include "read.h"

#include <inttypes.h>

struct numbering {
    const struct ordeal_trace *t;
    bool own;                 /* every location is a v<n> already */
    struct known { uint32_t base; uint64_t address; } *known; /* else in order of appearance */
    uint32_t *table;          /* open-addressed: index in known + 1 */
    size_t count, capacity;   /* of known; the table has twice as many slots */
};

/* ---- what Axe cannot say ----------------------------------------------------------------- */

static const char *op_fault(const struct ordeal_op *op)
{
    uint8_t traits = trace_op_traits[op->kind];
    if (op->kind == ORDEAL_MEMBAR)
        return op->barrier == ORDEAL_FULL ? NULL : "Axe has full barriers only";
    if (!(traits & (OP_READS | OP_WRITES)) || traits & OP_COMPARES
        || op->flags & ORDEAL_NONFAULTING)
        return "Axe has no such operation";
    if (op->size_log2 != 2)
        return "Axe has accesses of one word only";
    if (traits & OP_READS && !(op->flags & ORDEAL_HAS_VALUE))
        return "Axe needs the value of every load";
    if (op->kind == ORDEAL_STORE && op->flags & ORDEAL_HAS_END)
        return "Axe has no cycle of completion for stores";
    return NULL;
}

static const char *facts_fault(const struct ordeal_trace *t)
{
    for (size_t i = 0; i < t->inits.count; i++)
        if (t->inits.data[i].value != 0)
            return "Axe has no initial values but 0";
    for (size_t i = 0; i < t->finals.count; i++)
        if (t->finals.data[i].word.size_log2 != 2)
            return "Axe has final values of one word only";
    if (t->orders.count)
        return "Axe has no known store orders";
    if (t->registers.count)
        return "Axe has no registers";
    if (t->seed || t->told.count || t->steps.count)
        return "Axe has traces only, no tests: no seed, no places, no loops";
    return t->atomic < 4 ? "Axe takes a word as atomic" : NULL;
}

static enum ordeal_status refuse(const struct ordeal_trace *t)
{
    const char *fault = facts_fault(t);
    if (fault)
        return fail(t->o, ORDEAL_BAD_USAGE, "%s", fault);
    for (size_t i = 0; i < t->ops.count; i++) {
        fault = op_fault(&t->ops.data[i]);
        if (fault) {
            char text[256];
            ordeal_trace_format(t, i, text, sizeof text);
            return fail(t->o, ORDEAL_BAD_USAGE, "%s: %s", fault, text);
        }
    }
    return ORDEAL_OK;
}

/* ---- numbers for locations ------------------------------------------------------------------ */

/* Is the location called v<n>, as Axe would call it? */
static bool own_number(const struct ordeal_trace *t, uint32_t base, uint64_t address, uint64_t *n)
{
    const char *name = base ? ordeal_trace_name_text(t, base) : "", *fault;
    if (address != 0 || name[0] != 'v' || !is_digit(name[1]) || (name[1] == '0' && name[2]))
        return false;
    name++;
    return scan_number(&name, n, &fault) && *name == '\0';
}

static bool all_own(const struct ordeal_trace *t)
{
    uint64_t n;
    for (size_t i = 0; i < t->ops.count; i++) {
        const struct ordeal_op *op = &t->ops.data[i];
        if (trace_op_traits[op->kind] & OP_LOCATION && !own_number(t, op->base, op->address, &n))
            return false;
    }
    for (size_t i = 0; i < t->finals.count; i++)
        if (!own_number(t, t->finals.data[i].word.base, t->finals.data[i].word.address, &n))
            return false;
    return true;
}

static size_t slot_of(const struct numbering *n, uint32_t base, uint64_t address)
{
    assert(n->count <= n->capacity && n->capacity);
    size_t mask = n->capacity * 2 - 1;
    uint64_t h = (address ^ (uint64_t)base << 40) * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (h >> 32) & mask;
    for (; n->table[slot]; slot = (slot + 1) & mask) {
        const struct known *k = &n->known[n->table[slot] - 1];
        if (k->base == base && k->address == address)
            break;
    }
    return slot;
}

static void numbering_free(struct numbering *n)
{
    mem_free(n->t->o, n->known, n->capacity * sizeof *n->known);
    mem_free(n->t->o, n->table, n->capacity * 2 * sizeof *n->table);
    n->known = NULL;
    n->table = NULL;
}

static bool numbering_grow(struct numbering *n)
{
    struct numbering fresh = { .t = n->t, .count = n->count,
                               .capacity = n->capacity ? n->capacity * 2 : 64 };
    fresh.known = mem_array(n->t->o, fresh.capacity, sizeof *fresh.known);
    fresh.table = mem_zero(n->t->o, fresh.capacity * 2, sizeof *fresh.table);
    if (!fresh.known || !fresh.table) {
        numbering_free(&fresh);
        return false;
    }
    for (size_t i = 0; i < n->count; i++) {
        fresh.known[i] = n->known[i];
        fresh.table[slot_of(&fresh, n->known[i].base, n->known[i].address)] = (uint32_t)i + 1;
    }
    numbering_free(n);
    *n = fresh;
    return true;
}

static enum ordeal_status learn(struct numbering *n, FILE *stream, uint32_t base, uint64_t address)
{
    if (n->count == n->capacity && !numbering_grow(n))
        return n->t->o->error.status;
    size_t slot = slot_of(n, base, address);
    if (n->table[slot])
        return ORDEAL_OK;
    char name[TRACE_FORMAT_MAX];
    trace_format_location(n->t, base, address, 2, name, sizeof name);
    fprintf(stream, "# &M[%zu] == %s\n", n->count, name);
    n->known[n->count++] = (struct known){ base, address };
    n->table[slot] = (uint32_t)n->count;
    return ORDEAL_OK;
}

static enum ordeal_status learn_all(struct numbering *n, FILE *stream)
{
    const struct ordeal_trace *t = n->t;
    enum ordeal_status status = ORDEAL_OK;
    for (size_t i = 0; i < t->ops.count && status == ORDEAL_OK; i++)
        if (trace_op_traits[t->ops.data[i].kind] & OP_LOCATION)
            status = learn(n, stream, t->ops.data[i].base, t->ops.data[i].address);
    for (size_t i = 0; i < t->finals.count && status == ORDEAL_OK; i++)
        status = learn(n, stream, t->finals.data[i].word.base, t->finals.data[i].word.address);
    return status;
}

static uint64_t number_of(const struct numbering *n, uint32_t base, uint64_t address)
{
    uint64_t number = 0;
    if (n->own)
        own_number(n->t, base, address, &number);
    else
        number = (uint64_t)n->table[slot_of(n, base, address)] - 1;
    assert(n->own || number < n->count); /* learn_all() has seen it */
    return number;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_op(const struct numbering *n, const struct ordeal_op *op, FILE *stream)
{
    fprintf(stream, "%" PRIu32 ": ", n->t->threads.data[op->thread]);
    if (op->kind == ORDEAL_MEMBAR) {
        fputs("sync", stream);
        return;
    }
    uint64_t m = number_of(n, op->base, op->address);
    switch (op->kind) {
    case ORDEAL_LOAD:
        fprintf(stream, "M[%" PRIu64 "] == %" PRIu64, m, op->read);
        break;
    case ORDEAL_STORE:
        fprintf(stream, "M[%" PRIu64 "] := %" PRIu64, m, op->write);
        break;
    default: /* a read-modify-write, told by what it wrote */
        fprintf(stream, "{ M[%" PRIu64 "] == %" PRIu64 "; M[%" PRIu64 "] := %" PRIu64 " }", m,
                op->read, m, ordeal_op_written(op));
    }
}

static void write_trace(const struct numbering *n, FILE *stream)
{
    const struct ordeal_trace *t = n->t;
    size_t time = 0;
    for (size_t i = 0; i < t->ops.count; i++) {
        uint8_t flags = t->ops.data[i].flags;
        write_op(n, &t->ops.data[i], stream);
        if (flags & (ORDEAL_HAS_BEGIN | ORDEAL_HAS_END)) {
            assert(time < t->times.count && t->times.data[time].op == i);
            fputs(" @ ", stream);
            if (flags & ORDEAL_HAS_BEGIN)
                fprintf(stream, "%" PRIu64, t->times.data[time].begin);
            fputc(':', stream);
            if (flags & ORDEAL_HAS_END)
                fprintf(stream, "%" PRIu64, t->times.data[time].end);
            time++;
        }
        fputc('\n', stream);
    }
    for (size_t i = 0; i < t->finals.count; i++) {
        const struct trace_final *f = &t->finals.data[i];
        fprintf(stream, "final M[%" PRIu64 "] == %" PRIu64 "\n",
                number_of(n, f->word.base, f->word.address), f->value);
    }
    if (t->ops.count + t->finals.count == 0)
        fputs("check\n", stream); /* else the file would hold no trace at all */
}

enum ordeal_status ordeal_write_axe(const struct ordeal_trace *t, FILE *stream)
{
    enum ordeal_status status = refuse(t);
    if (status != ORDEAL_OK)
        return status;
    struct numbering n = { .t = t, .own = all_own(t) };
    if (t->claimed)
        fprintf(stream, "# model %s\n", ordeal_model_name(t->claim));
    if (!n.own)
        status = learn_all(&n, stream);
    if (status == ORDEAL_OK) {
        write_trace(&n, stream);
        status = written(t->o, stream);
    }
    numbering_free(&n);
    return status;
}
