/* SPDX-License-Identifier: Apache-2.0 */
#include "program_order.h"

#include <assert.h>
#include <string.h>

#include "kinds.h"

bool program_order_add(struct program_order *o, const struct instruction *i,
                       const struct ordeal_op *op, uint64_t rank)
{
    if (1u << i->size_log2 != o->atomic || i->size_log2 > 3)
        return true;
    return LIST_PUSH(&o->stores, ((struct visible_store){ .line = i->line,
                                                          .word = i->offset / o->atomic,
                                                          .rank = rank,
                                                          .value = ordeal_op_written(op),
                                                          .base = op->base,
                                                          .address = op->address }));
}

/* Words of each line, a bit each, that are accessed in parts or stored to with others. */
static void find_divided(const struct program_order *o, uint64_t *divided)
{
    const struct program *p = o->p;
    for (uint32_t t = 0; t < p->threads; t++)
        for (uint32_t k = 0; k < p->thread[t].length; k++) {
            const struct instruction *i = &p->thread[t].code[k];
            uint32_t bytes = 1u << i->size_log2, first = i->offset / o->atomic;
            if (!kind_is_access(i->kind)
                || (bytes >= o->atomic && !(bytes > o->atomic && kind_writes(i->kind))))
                continue;
            assert((i->offset + bytes - 1) / o->atomic < 64); /* a bit each */
            for (uint32_t w = first; w <= (i->offset + bytes - 1) / o->atomic; w++)
                divided[i->line] |= UINT64_C(1) << w;
        }
}

static int compare(const void *a, const void *b)
{
    const struct visible_store *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static uint64_t initial_value(const struct program_order *o, const struct visible_store *s)
{
    uint64_t value = 0;
    memcpy(&value, o->p->line[s->line].initial + s->word * o->atomic, o->atomic);
    return value;
}

static int compare_values(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Can the stores be told apart by their values? `sorted` is room for all of them and one more. */
static bool differ(const struct program_order *o, const struct visible_store *s, size_t count,
                   uint64_t *sorted)
{
    sorted[0] = initial_value(o, s);
    for (size_t i = 0; i < count; i++)
        sorted[i + 1] = s[i].value;
    qsort(sorted, count + 1, sizeof *sorted, compare_values);
    for (size_t i = 0; i < count; i++)
        if (sorted[i] == sorted[i + 1])
            return false;
    return true;
}

static enum ordeal_status tell_words(const struct program_order *o, const uint64_t *divided,
                                     uint64_t *values, struct ordeal_trace *t)
{
    const struct visible_store *s = o->stores.data;
    uint8_t size_log2 = (uint8_t)__builtin_ctz(o->atomic);
    enum ordeal_status status = ORDEAL_OK;
    for (size_t i = 0, end; status == ORDEAL_OK && i < o->stores.count; i = end) {
        for (end = i + 1; end < o->stores.count && s[end].line == s[i].line
                          && s[end].word == s[i].word; end++)
            ;
        if (divided[s[i].line] >> s[i].word & 1 || !differ(o, s + i, end - i, values))
            continue;
        for (size_t k = i; k < end; k++)
            values[k - i] = s[k].value;
        status = ordeal_trace_order(t, s[i].base, s[i].address, size_log2, values, end - i);
    }
    return status;
}

enum ordeal_status program_order_tell(struct program_order *o, struct ordeal_trace *t)
{
    if (o->stores.count == 0)
        return ORDEAL_OK;
    enum ordeal_status status = ORDEAL_NO_MEMORY;
    uint64_t *divided = calloc((size_t)o->p->lines + 1, sizeof *divided);
    uint64_t *values = calloc(o->stores.count + 1, sizeof *values);
    if (divided && values) {
        qsort(o->stores.data, o->stores.count, sizeof *o->stores.data, compare);
        find_divided(o, divided);
        status = tell_words(o, divided, values, t);
    }
    free(divided);
    free(values);
    return status;
}

void program_order_free(struct program_order *o) { LIST_FREE(&o->stores); }
