/* SPDX-License-Identifier: Apache-2.0 */
#include "requirement.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "test/kinds.h"

enum { MOST_OPS = 4096 };          /* of a trace that is judged again as a whole */
static const double PATIENCE = 20; /* seconds for one judgement; nobody has needed one */

/* Where accesses meet: the bytes from `address` on, as many as the widest access of the trace has. */
struct word {
    uint32_t base;
    uint64_t address;
};

struct weakening {
    enum ordeal_model model;
    const struct word *word;             /* only accesses of this; NULL: all */
    bool atomic, barriers, transactions; /* what of them is kept */
};

struct judging {
    const struct ordeal_trace *trace;
    struct ordeal *o;
    LIST(uint32_t) ops; /* that are judged, ascending */
    bool part;          /* they are not all that had an effect */
    uint64_t unit;
    bool out_of_memory;
};

/* ---- what is judged ---------------------------------------------------------------------------- */

/* Marks what is of transactions that abort. */
static void mark_aborted(const struct ordeal_trace *t, bool *aborted)
{
    size_t length = ordeal_trace_length(t);
    for (size_t end = 0; end < length; end++) {
        const struct ordeal_op *abort = ordeal_trace_op(t, end);
        if (abort->kind != ORDEAL_TX_ABORT)
            continue;
        for (size_t i = end + 1; i-- > 0;) {
            const struct ordeal_op *op = ordeal_trace_op(t, i);
            if (op->thread != abort->thread)
                continue;
            aborted[i] = true;
            if (op->kind == ORDEAL_TX_BEGIN)
                break;
        }
    }
}

static bool take_whole(struct judging *j)
{
    size_t length = ordeal_trace_length(j->trace);
    bool *aborted = calloc(length + 1, sizeof *aborted), good = aborted;
    if (good)
        mark_aborted(j->trace, aborted);
    for (size_t i = 0; good && i < length; i++)
        good = aborted[i] || LIST_PUSH(&j->ops, (uint32_t)i);
    free(aborted);
    return good;
}

static bool take_part(struct judging *j, const uint32_t *ops, size_t count)
{
    bool good = true;
    j->part = true;
    for (size_t i = 0; good && i < count; i++)
        good = LIST_PUSH(&j->ops, ops[i]);
    return good;
}

static uint64_t widest(const struct ordeal_trace *t)
{
    uint64_t unit = 4;
    for (size_t i = 0; i < ordeal_trace_length(t); i++) {
        const struct ordeal_op *op = ordeal_trace_op(t, i);
        if (kind_is_access(op->kind) && UINT64_C(1) << op->size_log2 > unit)
            unit = UINT64_C(1) << op->size_log2;
    }
    return unit;
}

static struct word word_of(const struct judging *j, uint32_t base, uint64_t address)
{
    return (struct word){ base, address & ~(j->unit - 1) };
}

static bool is_in(const struct judging *j, const struct word *w, uint32_t base, uint64_t address)
{
    struct word other = word_of(j, base, address);
    return !w || (w->base == other.base && w->address == other.address);
}

/* ---- the trace with less in it ----------------------------------------------------------------- */

/* Where the same is in the copy: names that nothing goes to are not in it. */
static enum ordeal_status copy_base(const struct judging *j, struct ordeal_trace *copy,
                                    uint32_t *base)
{
    if (*base == 0)
        return ORDEAL_OK;
    const char *name = ordeal_trace_name_text(j->trace, *base);
    return ordeal_trace_name(copy, name, strlen(name), base);
}

static enum ordeal_status copy_threads(const struct ordeal_trace *t, struct ordeal_trace *copy)
{
    enum ordeal_status s = ordeal_trace_atomic(copy, ordeal_trace_atomic_of(t));
    uint32_t number;
    for (uint32_t i = 0; s == ORDEAL_OK && i < ordeal_trace_threads(t); i++)
        s = ordeal_trace_thread(copy, ordeal_trace_thread_number(t, i), &number);
    return s;
}

/* A trace of which operations are left out says of its words at the end what it cannot know, but
 * where the store is there. */
static bool is_met(const struct judging *j, uint32_t base, uint64_t address, uint64_t value)
{
    for (size_t i = 0; j->part && i < j->ops.count; i++) {
        const struct ordeal_op *op = ordeal_trace_op(j->trace, j->ops.data[i]);
        if (kind_writes(op->kind) && op->size_log2 <= 3 && op->base == base
            && op->address == address && ordeal_op_written(op) == value)
            return true;
    }
    return !j->part;
}

static bool goes_to(const struct judging *j, uint32_t base)
{
    for (size_t i = 0; j->part && i < j->ops.count; i++)
        if (ordeal_trace_op(j->trace, j->ops.data[i])->base == base)
            return true;
    return !j->part;
}

static enum ordeal_status copy_facts(const struct judging *j, const struct word *w,
                                     struct ordeal_trace *copy)
{
    uint32_t base;
    uint64_t address, value;
    uint8_t size;
    enum ordeal_status s = copy_threads(j->trace, copy);
    for (size_t k = 0;
         s == ORDEAL_OK && ordeal_trace_init_at(j->trace, k, &base, &address, &size, &value); k++)
        if (goes_to(j, base) && (s = copy_base(j, copy, &base)) == ORDEAL_OK)
            s = ordeal_trace_init(copy, base, address, size, value);
    for (size_t k = 0;
         s == ORDEAL_OK && ordeal_trace_final_at(j->trace, k, &base, &address, &size, &value); k++)
        if (is_in(j, w, base, address) && is_met(j, base, address, value)
            && (s = copy_base(j, copy, &base)) == ORDEAL_OK)
            s = ordeal_trace_final(copy, base, address, size, value);
    return s;
}

static enum ordeal_status copy_value(const struct ordeal_trace *t, struct ordeal_trace *copy,
                                     uint8_t size_log2, uint64_t *value)
{
    if (size_log2 <= 3)
        return ORDEAL_OK;
    return ordeal_trace_bytes(copy, ordeal_trace_bytes_at(t, *value), (size_t)1 << size_log2,
                              value);
}

static bool cas_wrote(const struct ordeal_trace *t, size_t i)
{
    const struct ordeal_op *op = ordeal_trace_op(t, i);
    uint64_t compare = ordeal_trace_compare_of(t, i);
    if (op->size_log2 <= 3)
        return op->read == compare;
    return memcmp(ordeal_trace_bytes_at(t, op->read), ordeal_trace_bytes_at(t, compare),
                  (size_t)1 << op->size_log2)
        == 0;
}

/* An atomic operation as a load and a store, of which others may come between. */
static enum ordeal_status copy_halves(const struct ordeal_trace *t, struct ordeal_trace *copy,
                                      size_t i, struct ordeal_op op)
{
    bool stores = op.kind != ORDEAL_CAS || cas_wrote(t, i);
    uint64_t written = op.size_log2 <= 3 ? ordeal_op_written(&op) : op.write;
    enum ordeal_status s = copy_value(t, copy, op.size_log2, &op.read);
    op.kind = ORDEAL_LOAD;
    op.function = 0;
    op.write = 0;
    if (s == ORDEAL_OK)
        s = ordeal_trace_add(copy, &op, 0);
    if (s != ORDEAL_OK || !stores)
        return s;
    op.kind = ORDEAL_STORE;
    op.flags = 0;
    op.read = 0;
    op.write = written;
    s = copy_value(t, copy, op.size_log2, &op.write);
    return s == ORDEAL_OK ? ordeal_trace_add(copy, &op, 0) : s;
}

static enum ordeal_status copy_access(const struct judging *j, struct ordeal_trace *copy, size_t i,
                                      bool atomic)
{
    const struct ordeal_trace *t = j->trace;
    struct ordeal_op op = *ordeal_trace_op(t, i);
    uint64_t compare = op.kind == ORDEAL_CAS ? ordeal_trace_compare_of(t, i) : 0;
    op.flags &= ORDEAL_HAS_VALUE;
    enum ordeal_status s = copy_base(j, copy, &op.base);
    if (s == ORDEAL_OK && !atomic && op.kind != ORDEAL_LOAD && op.kind != ORDEAL_STORE)
        return copy_halves(t, copy, i, op);
    if (s == ORDEAL_OK && kind_reads(op.kind))
        s = copy_value(t, copy, op.size_log2, &op.read);
    if (s == ORDEAL_OK && kind_writes(op.kind))
        s = copy_value(t, copy, op.size_log2, &op.write);
    if (s == ORDEAL_OK && op.kind == ORDEAL_CAS)
        s = copy_value(t, copy, op.size_log2, &compare);
    return s == ORDEAL_OK ? ordeal_trace_add(copy, &op, compare) : s;
}

static enum ordeal_status copy_op(const struct judging *j, const struct weakening *w, size_t i,
                                  struct ordeal_trace *copy)
{
    const struct ordeal_op *op = ordeal_trace_op(j->trace, i);
    bool bracket = op->kind == ORDEAL_TX_BEGIN || op->kind == ORDEAL_TX_END;
    if ((op->kind == ORDEAL_MEMBAR && w->barriers) || (bracket && w->transactions)) {
        struct ordeal_op plain = *op;
        plain.flags = 0;
        return ordeal_trace_add(copy, &plain, 0);
    }
    if (!kind_is_access(op->kind) || !is_in(j, w->word, op->base, op->address))
        return ORDEAL_OK;
    return copy_access(j, copy, i, w->atomic);
}

/* ---- judging ----------------------------------------------------------------------------------- */

static bool fails(struct judging *j, const struct weakening *w)
{
    struct ordeal_options how = { .model = w->model, .no_certify = true, .no_core = true };
    struct ordeal_trace *copy = ordeal_trace_new(j->o);
    struct ordeal_verdict *v = NULL;
    enum ordeal_status s = copy ? copy_facts(j, w->word, copy) : ORDEAL_NO_MEMORY;
    for (size_t i = 0; s == ORDEAL_OK && i < j->ops.count; i++)
        s = copy_op(j, w, j->ops.data[i], copy);
    if (s == ORDEAL_OK)
        s = ordeal_check(copy, &how, &v);
    j->out_of_memory |= s == ORDEAL_NO_MEMORY;
    bool failed = s == ORDEAL_OK && ordeal_verdict_result(v) == ORDEAL_FAIL;
    ordeal_verdict_free(v);
    ordeal_trace_free(copy);
    return failed;
}

/* Under SC a word by itself has exactly the orders that coherence allows. */
static bool some_word_fails(struct judging *j, bool atomic)
{
    LIST(struct word) seen = { 0 };
    bool failed = false;
    for (size_t i = 0; i < j->ops.count && !failed && !j->out_of_memory; i++) {
        const struct ordeal_op *op = ordeal_trace_op(j->trace, j->ops.data[i]);
        struct word w = word_of(j, op->base, op->address);
        size_t k = 0;
        if (!kind_is_access(op->kind))
            continue;
        while (k < seen.count && (seen.data[k].base != w.base || seen.data[k].address != w.address))
            k++;
        if (k < seen.count)
            continue;
        j->out_of_memory |= !LIST_PUSH(&seen, w);
        failed = fails(j, &(struct weakening){ .model = ORDEAL_SC, .word = &w, .atomic = atomic });
    }
    LIST_FREE(&seen);
    return failed;
}

/* Of one model, what fails first when one thing after the other is asked for; REQUIREMENTS: none. */
static enum requirement fails_under(struct judging *j, enum ordeal_model model)
{
    static const struct {
        bool barriers, transactions;
        enum requirement broken;
    } asked[] = {
        { false, false, REQUIRES_ORDER },
        { true, false, REQUIRES_BARRIERS },
        { false, true, REQUIRES_TRANSACTIONS },
        { true, true, REQUIRES_TRANSACTIONS },
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (fails(j, &(struct weakening){ .model = model,
                                          .atomic = true,
                                          .barriers = asked[i].barriers,
                                          .transactions = asked[i].transactions }))
            return asked[i].broken;
    return REQUIREMENTS;
}

/* Models from the weakest to the one that is violated. PC is between none of the others. */
static enum requirement climb(struct judging *j, enum ordeal_model model)
{
    static const enum ordeal_model models[] = { ORDEAL_RMO, ORDEAL_PSO, ORDEAL_TSO, ORDEAL_SC };
    enum requirement broken = REQUIREMENTS;
    for (size_t i = 0; i < sizeof models / sizeof *models && broken == REQUIREMENTS; i++) {
        enum ordeal_model m = model == ORDEAL_PC && i ? ORDEAL_PC : models[i];
        broken = fails_under(j, m);
        if (m == model)
            break;
    }
    return broken == REQUIREMENTS ? REQUIRES_ORDER
                                  : broken; /* dependence, or what the trace adds */
}

/* RMO leaves two loads of one word in any order: a word that is wrong only by that has its stores
 * right, and what failed is the order of loads. */
static enum requirement judge_again(struct judging *j, enum ordeal_model model)
{
    if (some_word_fails(j, false))
        return fails(j, &(struct weakening){ .model = ORDEAL_RMO }) ? REQUIRES_COHERENCE
                                                                    : REQUIRES_ORDER;
    return some_word_fails(j, true) ? REQUIRES_ATOMICITY : climb(j, model);
}

bool requirement_violated(const struct ordeal_trace *t, const struct ordeal_verdict *v,
                          enum requirement *out)
{
    uint64_t value;
    const uint32_t *core;
    size_t count = ordeal_verdict_core(v, &core), length = ordeal_trace_length(t);
    *out = REQUIRES_VALUES;
    if (ordeal_verdict_unwritten(v) != ORDEAL_NONE
        || ordeal_verdict_unwritten_final(v, &value) != ORDEAL_NONE)
        return true;
    struct judging j = { .trace = t, .o = ordeal_new(NULL), .unit = widest(t) };
    bool taken = length > MOST_OPS ? take_part(&j, core, count) : take_whole(&j);
    j.out_of_memory = !j.o || !taken;
    if (!j.out_of_memory) {
        struct ordeal_limits limits = { .seconds = PATIENCE };
        ordeal_set_limits(j.o, &limits);
        *out = judge_again(&j, ordeal_verdict_model(v));
    }
    LIST_FREE(&j.ops);
    ordeal_free(j.o);
    return !j.out_of_memory;
}
