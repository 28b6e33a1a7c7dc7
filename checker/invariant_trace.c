/* SPDX-License-Identifier: Apache-2.0 */
/* Checker of a trace: what trace.c promises to whoever reads one. */
#undef NDEBUG
#include "trace.h"

static void check_value(const struct ordeal_trace *t, uint8_t size_log2, uint64_t value)
{
    if (size_log2 <= 3)
        assert(trace_value_fits(value, size_log2));
    else
        assert(value + (UINT64_C(1) << size_log2) <= t->bytes.count);
}

static void check_op(const struct ordeal_trace *t, const struct ordeal_op *op)
{
    assert(op->kind < ORDEAL_OP_KINDS && op->thread < t->threads.count);
    uint8_t traits = trace_op_traits[op->kind];
    assert(!trace_location_fault(t, op->base, op->address, op->size_log2));
    assert(op->kind != ORDEAL_MEMBAR || (op->barrier && op->barrier <= ORDEAL_FULL));
    assert(op->kind != ORDEAL_AMO || (op->function < ORDEAL_AMO_FUNCTIONS && op->size_log2 <= 3));
    assert(!(op->flags & ORDEAL_HAS_VALUE) || traits & (OP_READS | OP_RESULT));
    if (op->flags & ORDEAL_HAS_VALUE)
        check_value(t, op->size_log2, op->read);
    if (traits & OP_WRITES)
        check_value(t, op->size_log2, op->write);
}

/* Operations, and the side tables that have one entry for each of some kind. */
static void check_ops(const struct ordeal_trace *t)
{
    size_t time = 0, compare = 0;
    for (size_t i = 0; i < t->ops.count; i++) {
        const struct ordeal_op *op = &t->ops.data[i];
        check_op(t, op);
        if (op->flags & (ORDEAL_HAS_BEGIN | ORDEAL_HAS_END)) {
            assert(time < t->times.count && t->times.data[time].op == i);
            time++;
        }
        if (op->kind == ORDEAL_CAS) {
            assert(compare < t->compares.count && t->compares.data[compare].op == i);
            compare++;
        }
    }
    assert(time == t->times.count && compare == t->compares.count);
}

static void check_side_tables(const struct ordeal_trace *t)
{
    for (size_t i = 0; i < t->registers.count; i++) {
        uint32_t op = t->registers.data[i].op;
        assert(op < t->ops.count && (i == 0 || t->registers.data[i - 1].op <= op));
    }
    for (size_t i = 0; i < t->steps.count; i++) {
        uint32_t op = t->steps.data[i].op;
        assert(op < t->ops.count && (i == 0 || t->steps.data[i - 1].op < op));
        assert(t->steps.data[i].step);
    }
}

static void check_facts(const struct ordeal_trace *t)
{
    size_t values = 0;
    for (size_t i = 0; i < t->orders.count; i++) { /* one behind the other */
        assert(t->orders.data[i].first == values);
        values += t->orders.data[i].count;
    }
    assert(values == t->order_values.count);
    assert(t->lines.count <= t->names.count);
    for (size_t i = 0; i < t->told.count; i++)
        assert(t->told.data[i].base >= 1 && t->told.data[i].base <= t->lines.count);
    assert(t->atomic && !(t->atomic & (t->atomic - 1)) && t->atomic <= TRACE_LINE_BYTES);
}

void trace_check(const struct ordeal_trace *t)
{
    check_ops(t);
    check_side_tables(t);
    check_facts(t);
}
