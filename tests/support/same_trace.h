/* SPDX-License-Identifier: Apache-2.0 */
/* Are two traces the same, in all but the lines they came from? The numbers of names and threads
 * may differ, what they stand for may not. Returns NULL or what differs. For tests and fuzzers. */
#ifndef SAME_TRACE_H
#define SAME_TRACE_H

#include <string.h>
#include "trace.h"

static inline bool same_base(const struct ordeal_trace *a, uint32_t m, const struct ordeal_trace *b,
                             uint32_t n)
{
    return !m == !n
        && (!m || strcmp(ordeal_trace_name_text(a, m), ordeal_trace_name_text(b, n)) == 0);
}

static inline bool same_value(const struct ordeal_trace *a, uint64_t v,
                              const struct ordeal_trace *b, uint64_t w, uint8_t size_log2)
{
    if (size_log2 <= 3)
        return v == w;
    return memcmp(a->bytes.data + v, b->bytes.data + w, (size_t)1 << size_log2) == 0;
}

static inline bool same_word(const struct ordeal_trace *a, const struct trace_word *v,
                             const struct ordeal_trace *b, const struct trace_word *w)
{
    return same_base(a, v->base, b, w->base) && v->address == w->address
        && v->size_log2 == w->size_log2;
}

static inline const char *same_op(const struct ordeal_trace *a, const struct ordeal_trace *b,
                                  size_t i)
{
    const struct ordeal_op *p = &a->ops.data[i], *q = &b->ops.data[i];
    uint8_t traits = trace_op_traits[p->kind];
    if (p->kind != q->kind || p->flags != q->flags || p->barrier != q->barrier
        || p->function != q->function || p->size_log2 != q->size_log2)
        return "kind, flags, barrier, function or size of an operation";
    if (a->threads.data[p->thread] != b->threads.data[q->thread])
        return "thread of an operation";
    if (!same_base(a, p->base, b, q->base) || p->address != q->address)
        return "location of an operation";
    if ((p->flags & ORDEAL_HAS_VALUE && !same_value(a, p->read, b, q->read, p->size_log2))
        || (trace_has_count(p) && p->write != q->write)
        || (traits & OP_WRITES && !same_value(a, p->write, b, q->write, p->size_log2)))
        return "value of an operation";
    uint8_t compared = p->flags & ORDEAL_COMPARE_REGISTER ? 3 : p->size_log2;
    if (traits & OP_COMPARES && !same_value(a, ordeal_trace_compare_of(a, i), b,
                                            ordeal_trace_compare_of(b, i), compared))
        return "compared value";
    if (ordeal_trace_step_of(a, i) != ordeal_trace_step_of(b, i))
        return "step of an operation";
    return NULL;
}

/* What one says of lines of memory, the other says too. */
static inline bool lines_known(const struct ordeal_trace *a, const struct ordeal_trace *b)
{
    for (size_t i = 0; i < a->told.count; i++) {
        uint32_t m = a->told.data[i].base, n = 0;
        for (size_t k = 0; k < b->told.count && !n; k++)
            n = same_base(a, m, b, b->told.data[k].base) ? b->told.data[k].base : 0;
        uint64_t p = 0, q = 0;
        if (ordeal_trace_place_of(a, m, &p) != ordeal_trace_place_of(b, n, &q) || p != q
            || ordeal_trace_memory_of(a, m) != ordeal_trace_memory_of(b, n))
            return false;
    }
    return true;
}

static inline const char *same_facts(const struct ordeal_trace *a, const struct ordeal_trace *b)
{
    if (a->claimed != b->claimed || (a->claimed && a->claim != b->claim))
        return "model";
    if (a->atomic != b->atomic)
        return "atomic";
    if (a->seed != b->seed)
        return "seed";
    if (!lines_known(a, b) || !lines_known(b, a))
        return "places or kinds of memory";
    if (a->inits.count != b->inits.count || a->finals.count != b->finals.count
        || a->orders.count != b->orders.count)
        return "number of inits, finals or orders";
    for (size_t i = 0; i < a->inits.count; i++)
        if (!same_word(a, &a->inits.data[i].word, b, &b->inits.data[i].word)
            || a->inits.data[i].value != b->inits.data[i].value)
            return "init";
    for (size_t i = 0; i < a->finals.count; i++)
        if (!same_word(a, &a->finals.data[i].word, b, &b->finals.data[i].word)
            || a->finals.data[i].value != b->finals.data[i].value)
            return "final";
    for (size_t i = 0; i < a->orders.count; i++) {
        const struct trace_order *p = &a->orders.data[i], *q = &b->orders.data[i];
        if (!same_word(a, &p->word, b, &q->word) || p->count != q->count)
            return "order";
        for (size_t k = 0; k < p->count; k++)
            if (a->order_values.data[p->first + k] != b->order_values.data[q->first + k])
                return "value of an order";
    }
    return NULL;
}

static inline const char *same_trace(const struct ordeal_trace *a, const struct ordeal_trace *b)
{
    if (a->ops.count != b->ops.count || a->times.count != b->times.count
        || a->registers.count != b->registers.count || a->compares.count != b->compares.count)
        return "number of operations, cycles, registers or compared values";
    for (size_t i = 0; i < a->ops.count; i++) {
        const char *difference = same_op(a, b, i);
        if (difference)
            return difference;
    }
    for (size_t i = 0; i < a->times.count; i++) {
        const struct trace_time *p = &a->times.data[i], *q = &b->times.data[i];
        if (p->op != q->op || p->begin != q->begin || p->end != q->end)
            return "cycles";
    }
    for (size_t i = 0; i < a->registers.count; i++) {
        const struct trace_register *p = &a->registers.data[i], *q = &b->registers.data[i];
        if (p->op != q->op || p->reg != q->reg || p->use != q->use)
            return "register";
    }
    return same_facts(a, b);
}

#endif
