/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says about the whole: initial values, known orders, final values, what the machine
 * promises, and of tests the seed and the memory. And taking back what was added last. */
#include "trace.h"

#include <string.h>

/* ---- words --------------------------------------------------------------------------- */

static enum ordeal_status check_word(struct ordeal_trace *t, uint32_t base, uint64_t address,
                                     uint8_t size_log2, const uint64_t *values, size_t count)
{
    const char *fault = trace_location_fault(t, base, address, size_log2);
    if (!fault && size_log2 > 3)
        fault = "init, order and final speak of 1, 2, 4 or 8 bytes";
    for (size_t i = 0; i < count && !fault; i++)
        if (!trace_value_fits(values[i], size_log2))
            fault = "a value does not fit the size of its location";
    return fault ? fail(t->o, ORDEAL_BAD_USAGE, "%s", fault) : ORDEAL_OK;
}

enum ordeal_status ordeal_trace_init(struct ordeal_trace *t, uint32_t base, uint64_t address,
                                     uint8_t size_log2, uint64_t value)
{
    enum ordeal_status status = check_word(t, base, address, size_log2, &value, 1);
    if (status != ORDEAL_OK)
        return status;
    struct trace_init init = { { base, size_log2, 0, address }, value };
    return VEC_PUSH(t->o, &t->inits, init) ? ORDEAL_OK : t->o->error.status;
}

enum ordeal_status ordeal_trace_final(struct ordeal_trace *t, uint32_t base, uint64_t address,
                                      uint8_t size_log2, uint64_t value)
{
    enum ordeal_status status = check_word(t, base, address, size_log2, &value, 1);
    if (status != ORDEAL_OK)
        return status;
    struct trace_final final = { { base, size_log2, 0, address }, value };
    return VEC_PUSH(t->o, &t->finals, final) ? ORDEAL_OK : t->o->error.status;
}

static bool push_order_values(struct ordeal_trace *t, const uint64_t *values, size_t count)
{
    if (!VEC_RESERVE(t->o, &t->order_values, t->order_values.count + count))
        return false;
    if (count)
        memcpy(t->order_values.data + t->order_values.count, values, count * sizeof *values);
    t->order_values.count += count;
    return true;
}

enum ordeal_status ordeal_trace_order(struct ordeal_trace *t, uint32_t base, uint64_t address,
                                      uint8_t size_log2, const uint64_t *values, size_t count)
{
    enum ordeal_status status = check_word(t, base, address, size_log2, values, count);
    if (status != ORDEAL_OK)
        return status;
    struct trace_order order = { { base, size_log2, 0, address }, t->order_values.count, count };
    if (!VEC_RESERVE(t->o, &t->orders, t->orders.count + 1) || !push_order_values(t, values, count))
        return t->o->error.status;
    t->orders.data[t->orders.count++] = order;
    return ORDEAL_OK;
}

enum ordeal_status trace_order_more(struct ordeal_trace *t, const uint64_t *values, size_t count)
{
    assert(t->orders.count > 0);
    struct trace_order *last = &t->orders.data[t->orders.count - 1];
    const struct trace_word *w = &last->word;
    enum ordeal_status status = check_word(t, w->base, w->address, w->size_log2, values, count);
    if (status != ORDEAL_OK)
        return status;
    if (!push_order_values(t, values, count))
        return t->o->error.status;
    last->count += count;
    return ORDEAL_OK;
}

void ordeal_trace_claim(struct ordeal_trace *t, enum ordeal_model m)
{
    t->claimed = true;
    t->claim = m;
}

enum ordeal_status ordeal_trace_atomic(struct ordeal_trace *t, uint32_t bytes)
{
    if (bytes == 0 || bytes > 64 || bytes & (bytes - 1))
        return fail(t->o, ORDEAL_BAD_USAGE, "atomic takes 1, 2, 4, 8, 16, 32 or 64 bytes");
    t->atomic = bytes;
    return ORDEAL_OK;
}

/* ---- the memory of a test ------------------------------------------------------------ */

void ordeal_trace_seed(struct ordeal_trace *t, uint64_t seed) { t->seed = seed; }

/* The line of the name, and room to note that something was told of it. */
static enum ordeal_status find_line(struct ordeal_trace *t, uint32_t base, struct trace_line **line)
{
    if (base == 0 || base > t->names.count)
        return fail(t->o, ORDEAL_BAD_USAGE, "place, uncached and fault speak of names");
    size_t known = t->lines.count;
    if (!VEC_RESERVE(t->o, &t->lines, base) || !VEC_RESERVE(t->o, &t->told, t->told.count + 1))
        return t->o->error.status;
    if (known < base) {
        memset(t->lines.data + known, 0, (base - known) * sizeof *t->lines.data);
        t->lines.count = base;
    }
    assert(t->lines.count <= t->names.count);
    *line = &t->lines.data[base - 1];
    return ORDEAL_OK;
}

enum ordeal_status ordeal_trace_place(struct ordeal_trace *t, uint32_t base, uint64_t address)
{
    struct trace_line *line;
    enum ordeal_status status = find_line(t, base, &line);
    if (status != ORDEAL_OK)
        return status;
    if (line->placed)
        return fail(t->o, ORDEAL_BAD_USAGE, "the name has its place already");
    if (address % TRACE_LINE_BYTES)
        return fail(t->o, ORDEAL_BAD_USAGE, "a place is a multiple of %d", TRACE_LINE_BYTES);
    line->placed = true;
    line->address = address;
    t->told.data[t->told.count++] = (struct trace_told){ base, 0 };
    return ORDEAL_OK;
}

enum ordeal_status ordeal_trace_memory(struct ordeal_trace *t, uint32_t base, uint8_t marks)
{
    struct trace_line *line;
    enum ordeal_status status = find_line(t, base, &line);
    if (status != ORDEAL_OK)
        return status;
    if (marks & ~(ORDEAL_UNCACHED | ORDEAL_FAULTING))
        return fail(t->o, ORDEAL_BAD_USAGE, "memory is uncached or faulting");
    uint8_t fresh = marks & (uint8_t)~line->marks;
    line->marks |= fresh;
    if (fresh)
        t->told.data[t->told.count++] = (struct trace_told){ base, fresh };
    return ORDEAL_OK;
}

/* ---- taking back --------------------------------------------------------------------- */

struct trace_mark trace_mark(const struct ordeal_trace *t)
{
    size_t orders = t->orders.count;
    return (struct trace_mark){
        .ops = t->ops.count, .bytes = t->bytes.count, .times = t->times.count,
        .registers = t->registers.count, .compares = t->compares.count, .steps = t->steps.count,
        .inits = t->inits.count, .orders = orders, .order_values = t->order_values.count,
        .finals = t->finals.count, .told = t->told.count,
        .last_order = orders ? t->orders.data[orders - 1].count : 0,
        .claimed = t->claimed, .claim = t->claim, .atomic = t->atomic, .seed = t->seed,
    };
}

void trace_rewind(struct ordeal_trace *t, const struct trace_mark *mark)
{
    assert(mark->ops <= t->ops.count && mark->bytes <= t->bytes.count);
    assert(mark->times <= t->times.count && mark->registers <= t->registers.count);
    assert(mark->orders <= t->orders.count && mark->order_values <= t->order_values.count);
    t->ops.count = mark->ops;
    t->bytes.count = mark->bytes;
    t->times.count = mark->times;
    t->registers.count = mark->registers;
    t->compares.count = mark->compares;
    t->steps.count = mark->steps;
    t->inits.count = mark->inits;
    t->orders.count = mark->orders;
    t->order_values.count = mark->order_values;
    t->finals.count = mark->finals;
    t->claimed = mark->claimed;
    t->claim = mark->claim;
    t->atomic = mark->atomic;
    t->seed = mark->seed;
    if (mark->orders)
        t->orders.data[mark->orders - 1].count = mark->last_order;
    while (t->told.count > mark->told) {
        const struct trace_told *told = &t->told.data[--t->told.count];
        assert(told->base >= 1 && told->base <= t->lines.count);
        struct trace_line *line = &t->lines.data[told->base - 1];
        line->placed &= told->marks != 0;
        line->marks &= (uint8_t)~told->marks;
    }
}

/* ---- looking ------------------------------------------------------------------------- */

bool ordeal_trace_claimed(const struct ordeal_trace *t, enum ordeal_model *m)
{
    if (t->claimed)
        *m = t->claim;
    return t->claimed;
}

static void tell_word(const struct trace_word *w, uint32_t *base, uint64_t *address,
                      uint8_t *size_log2)
{
    *base = w->base;
    *address = w->address;
    *size_log2 = w->size_log2;
}

bool ordeal_trace_init_at(const struct ordeal_trace *t, size_t k, uint32_t *base,
                          uint64_t *address, uint8_t *size_log2, uint64_t *value)
{
    if (k >= t->inits.count)
        return false;
    tell_word(&t->inits.data[k].word, base, address, size_log2);
    *value = t->inits.data[k].value;
    return true;
}

bool ordeal_trace_final_at(const struct ordeal_trace *t, size_t k, uint32_t *base,
                           uint64_t *address, uint8_t *size_log2, uint64_t *value)
{
    if (k >= t->finals.count)
        return false;
    tell_word(&t->finals.data[k].word, base, address, size_log2);
    *value = t->finals.data[k].value;
    return true;
}

bool ordeal_trace_order_at(const struct ordeal_trace *t, size_t k, uint32_t *base,
                           uint64_t *address, uint8_t *size_log2, const uint64_t **values,
                           size_t *count)
{
    if (k >= t->orders.count)
        return false;
    const struct trace_order *order = &t->orders.data[k];
    tell_word(&order->word, base, address, size_log2);
    *values = t->order_values.data + order->first;
    *count = order->count;
    return true;
}

uint32_t ordeal_trace_atomic_of(const struct ordeal_trace *t) { return t->atomic; }

uint64_t ordeal_trace_seed_of(const struct ordeal_trace *t) { return t->seed; }

static const struct trace_line *known_line(const struct ordeal_trace *t, uint32_t base)
{
    return base >= 1 && base <= t->lines.count ? &t->lines.data[base - 1] : NULL;
}

bool ordeal_trace_place_of(const struct ordeal_trace *t, uint32_t base, uint64_t *address)
{
    const struct trace_line *line = known_line(t, base);
    if (!line || !line->placed)
        return false;
    *address = line->address;
    return true;
}

uint8_t ordeal_trace_memory_of(const struct ordeal_trace *t, uint32_t base)
{
    const struct trace_line *line = known_line(t, base);
    return line ? line->marks : 0;
}
