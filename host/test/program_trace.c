/* SPDX-License-Identifier: Apache-2.0 */
/* From the values that a run brought back to the trace: walks the program as the threads did. */
#include "program_order.h"

#include <assert.h>
#include <string.h>

#include "kinds.h"
#include "program_walk.h"

uint32_t program_slots_used(const struct program *p, uint32_t thread, uint64_t iteration)
{
    uint32_t slots = 0;
    struct walker w = program_walk(p, thread, iteration);
    for (const struct instruction *i; (i = program_step(&w)); )
        slots += instruction_slots(i);
    return slots;
}

/* ---- the trace --------------------------------------------------------------------------- */

struct telling {
    const struct program *p;
    struct ordeal_trace *trace;
    uint32_t thread;                     /* of the trace */
    const uint64_t *values;              /* those to come of the thread; NULL: there are none */
    const uint64_t *visible, *cycles;    /* of its operations to come; NULL: not known */
    uint64_t registers[MOST_REGISTERS];
    bool plainly;                        /* in a transaction that was done without being one */
    bool idly;                           /* in one that aborts */
    bool uses;                           /* the model is one of RISC-V's */
    struct program_order *order;
};

static enum ordeal_status tell_facts(struct telling *x, const struct machine_claims *claims)
{
    const struct ordeal_trace *test = x->p->test;
    enum ordeal_status s = ordeal_trace_atomic(x->trace, claims->atomic);
    uint32_t base, names = ordeal_trace_names(test);
    uint64_t address, value;
    uint8_t size_log2;
    ordeal_trace_claim(x->trace, claims->model);
    ordeal_trace_seed(x->trace, ordeal_trace_seed_of(test));
    for (uint32_t b = 1; s == ORDEAL_OK && b <= names; b++) {
        const char *name = ordeal_trace_name_text(test, b);
        s = ordeal_trace_name(x->trace, name, strlen(name), &base);
        if (s == ORDEAL_OK && ordeal_trace_place_of(test, b, &address))
            s = ordeal_trace_place(x->trace, base, address);
        if (s == ORDEAL_OK && ordeal_trace_memory_of(test, b))
            s = ordeal_trace_memory(x->trace, base, ordeal_trace_memory_of(test, b));
    }
    for (size_t k = 0; s == ORDEAL_OK
                       && ordeal_trace_init_at(test, k, &base, &address, &size_log2, &value); k++)
        s = ordeal_trace_init(x->trace, base, address, size_log2, value);
    return s;
}

static enum ordeal_status copy_bytes(struct telling *x, const void *bytes, uint8_t size_log2,
                                     uint64_t *offset)
{
    return ordeal_trace_bytes(x->trace, bytes, (size_t)1 << size_log2, offset);
}

/* Fills in what was read. */
static enum ordeal_status tell_read(struct telling *x, const struct instruction *i,
                                    struct ordeal_op *op)
{
    op->flags |= ORDEAL_HAS_VALUE;
    if (i->size_log2 > 3) {
        enum ordeal_status s = copy_bytes(x, x->values, i->size_log2, &op->read);
        x->values += instruction_slots(i);
        return s;
    }
    op->read = *x->values++;
    if (i->size_log2 < 3 && op->read >> (8u << i->size_log2))
        return ORDEAL_BAD_INPUT;
    if (i->kind == ORDEAL_STORE_CONDITIONAL && op->read > 1)
        return ORDEAL_BAD_INPUT;
    if (i->sets != NO_REGISTER)
        x->registers[i->sets] = op->read;
    return ORDEAL_OK;
}

/* RISC-V's models ask what a register is needed for: a plain '<r1' is the address (program.h). */
static enum ordeal_status tell_registers(struct telling *x, const struct instruction *i)
{
    enum ordeal_status s = ORDEAL_OK;
    enum ordeal_register_use use;
    uint32_t reg;
    for (size_t k = 0;
         s == ORDEAL_OK && ordeal_trace_register_use(x->p->test, i->op, k, &reg, &use); k++)
        s = ordeal_trace_uses_register(x->trace, reg,
                                       use == ORDEAL_REGISTER_READ && x->uses
                                           ? ORDEAL_REGISTER_ADDRESS
                                           : use);
    if (s == ORDEAL_OK && i->flags & ORDEAL_COMPARE_REGISTER && x->values)
        s = ordeal_trace_uses_register(x->trace,
                                       (uint32_t)ordeal_trace_compare_of(x->p->test, i->op),
                                       x->uses ? ORDEAL_REGISTER_DATA : ORDEAL_REGISTER_READ);
    return s;
}

/* What the machine told of the operation beside its values. */
struct sight { uint64_t visible, cycles; };

static struct sight look(struct telling *x, const struct instruction *i)
{
    struct sight seen = { 0, 0 };
    if (kind_is_access(i->kind) && x->visible)
        seen.visible = *x->visible++;
    if (kind_is_access(i->kind) && x->cycles)
        seen.cycles = *x->cycles++;
    if (x->idly)
        seen.visible = 0;
    return seen;
}

static enum ordeal_status add_operation(struct telling *x, const struct instruction *i,
                                        struct ordeal_op *op, uint64_t compare, struct sight seen)
{
    uint64_t begin = seen.cycles & UINT32_MAX, end = seen.cycles >> 32;
    if (end < begin)
        end = 0;             /* the counter went round */
    op->flags |= begin ? ORDEAL_HAS_BEGIN : 0;
    op->flags |= end ? ORDEAL_HAS_END : 0;
    enum ordeal_status s = ordeal_trace_add(x->trace, op, compare);
    if (s == ORDEAL_OK && seen.cycles)
        s = ordeal_trace_times(x->trace, begin, end);
    if (s == ORDEAL_OK && seen.visible
        && !program_order_add(x->order, i, op, seen.visible))
        s = ORDEAL_NO_MEMORY;
    return s;
}

static enum ordeal_status tell(struct telling *x, const struct walker *w,
                               const struct instruction *i)
{
    struct sight seen = look(x, i);
    const struct ordeal_op *asked = ordeal_trace_op(x->p->test, i->op);
    struct ordeal_op op = *asked;
    uint64_t compare = i->compare;
    enum ordeal_status s = ORDEAL_OK;
    bool blind = kind_answers(i->kind) && !i->observed;
    op.thread = x->thread;
    if (!op.line)
        op.line = i->op + 1;
    op.flags &= (uint8_t)~(ORDEAL_HAS_VALUE | ORDEAL_HAS_BEGIN | ORDEAL_HAS_END
                           | ORDEAL_COMPARE_REGISTER | ORDEAL_HAS_LIMIT);
    if (i->kind == ORDEAL_TX_BEGIN)
        op.write = 0;
    if (blind && i->kind != ORDEAL_LOAD)
        return ORDEAL_OK; /* nobody knows what it read and so, what it did */
    if (i->bytes)
        s = copy_bytes(x, i->bytes, i->size_log2, &op.write);
    else if (kind_writes(i->kind))
        op.write = i->write + w->round * i->step;
    if (i->compare_register != NO_REGISTER && !x->values) {
        op.flags |= ORDEAL_COMPARE_REGISTER; /* what the register holds comes with the values */
        compare = ordeal_trace_compare_of(x->p->test, i->op);
    } else if (i->compare_register != NO_REGISTER) {
        compare = x->registers[i->compare_register];
        if (i->size_log2 < 3)
            compare &= (UINT64_C(1) << (8u << i->size_log2)) - 1;
    }
    if (s == ORDEAL_OK && x->values && i->observed && kind_answers(i->kind))
        s = tell_read(x, i, &op);
    if (s == ORDEAL_OK)
        s = add_operation(x, i, &op, compare, seen);
    return s == ORDEAL_OK && !blind ? tell_registers(x, i) : s;
}

/* Did the transaction that begins here commit? Its fate is told behind the values inside it. */
static enum ordeal_status foresee(struct telling *x, struct walker ahead)
{
    uint64_t slots = 0;
    const struct instruction *i;
    while ((i = program_step(&ahead)) && i->kind != ORDEAL_TX_END)
        slots += instruction_slots(i);
    uint64_t fate = x->values ? x->values[slots] : 1;
    x->plainly = fate == 0;
    return fate > 1 ? ORDEAL_BAD_INPUT : ORDEAL_OK;
}

static enum ordeal_status tell_thread(struct telling *x, uint32_t thread, uint64_t iteration)
{
    struct walker w = program_walk(x->p, thread, iteration);
    const uint64_t *end = x->values ? x->values + w.thread->slots : NULL;
    enum ordeal_status s = ordeal_trace_thread(x->trace, w.thread->number, &x->thread);
    for (const struct instruction *i; s == ORDEAL_OK && (i = program_step(&w)); ) {
        if (i->kind == ORDEAL_TX_BEGIN) {
            x->plainly = false;
            x->idly = w.thread->code[i->match].kind == ORDEAL_TX_ABORT;
            if (!x->idly)
                s = foresee(x, w);
        }
        if (i->kind == ORDEAL_TX_ABORT)
            x->idly = false;
        if (i->kind == ORDEAL_TX_END && x->values)
            x->values++;
        bool bracket = i->kind == ORDEAL_TX_BEGIN || i->kind == ORDEAL_TX_END;
        if (s == ORDEAL_OK && !(bracket && x->plainly))
            s = tell(x, &w, i);
    }
    assert(!x->values || x->values <= end);
    return s;
}

/* ---- memory at the end ------------------------------------------------------------------- */

static enum ordeal_status tell_final(struct telling *x, const struct program_final *f, uint32_t at,
                                     uint8_t size_log2, uint64_t value)
{
    const struct program_line *l = &x->p->line[f->line];
    return ordeal_trace_final(x->trace, l->base, l->address + f->offset + at, size_log2, value);
}

/* In pieces as small as they are written. One that nobody writes is worth a word only when it
 * changed all the same. */
static enum ordeal_status tell_pieces(struct telling *x, const struct program_final *f, uint32_t at,
                                      uint8_t size_log2, uint64_t value)
{
    uint32_t bytes = 1u << size_log2;
    uint64_t before = 0, piece = 0;
    if (size_log2 && f->divided & program_final_part(size_log2, at)) {
        enum ordeal_status s = tell_pieces(x, f, at, size_log2 - 1, value);
        return s ? s : tell_pieces(x, f, at + bytes / 2, size_log2 - 1, value);
    }
    memcpy(&before, x->p->line[f->line].initial + f->offset + at, bytes);
    memcpy(&piece, (const uint8_t *)&value + at, bytes);
    bool written = f->written >> at & ((1u << bytes) - 1);
    return written || piece != before ? tell_final(x, f, at, size_log2, piece) : ORDEAL_OK;
}

/* `values`: of the finals; NULL: there are none. */
static enum ordeal_status tell_finals(struct telling *x, const uint64_t *values)
{
    enum ordeal_status s = ORDEAL_OK;
    for (uint32_t k = 0; s == ORDEAL_OK && k < x->p->finals; k++)
        s = values ? tell_pieces(x, &x->p->final[k], 0, 3, values[k])
                   : tell_final(x, &x->p->final[k], 0, 3, 0);
    return s;
}

/* ------------------------------------------------------------------------------------------ */

enum ordeal_status program_trace(const struct program *p, uint64_t iteration,
                                 const uint64_t *values, const struct machine_claims *claims,
                                 struct ordeal *o, struct ordeal_trace **trace)
{
    struct program_order order = { .p = p, .atomic = claims->atomic };
    struct telling x = { .p = p,
                         .trace = ordeal_trace_new(o),
                         .order = &order,
                         .uses = claims->model == ORDEAL_RVWMO || claims->model == ORDEAL_RVTSO };
    *trace = NULL;
    if (!x.trace)
        return ORDEAL_NO_MEMORY;
    enum ordeal_status s = tell_facts(&x, claims);
    for (uint32_t t = 0; s == ORDEAL_OK && t < p->threads; t++) {
        const struct program_thread *thread = &p->thread[t];
        for (int r = 0; r < MOST_REGISTERS; r++)
            x.registers[r] = 0;
        x.values = values ? values + thread->first_slot : NULL;
        x.visible = values && claims->visible
                      ? values + program_first_visible(p, claims) + thread->first_operation
                      : NULL;
        x.cycles = values && claims->cycles
                 ? values + program_telling_words(p, claims) + thread->first_operation : NULL;
        s = tell_thread(&x, t, iteration);
    }
    if (s == ORDEAL_OK && claims->final)
        s = tell_finals(&x, values ? values + p->slots : NULL);
    if (s == ORDEAL_OK)
        s = program_order_tell(&order, x.trace);
    program_order_free(&order);
    if (s == ORDEAL_OK)
        *trace = x.trace;
    else
        ordeal_trace_free(x.trace);
    return s;
}
