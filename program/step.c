/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

#include <assert.h>
#include <string.h>

#include "record.h"

struct run run_of(struct state *s, uint32_t thread)
{
    struct run r = { .s = s, .t = state_touch(s, thread), .number = thread };
    r.alone = !s->options->no_reduction && !state_others(s, thread) && s->model->alone(s, thread);
    r.mark.power = 1;
    return r;
}

bool run_may(struct run *r, enum readiness ready)
{
    if (r->alone || r->atomic)
        return true;
    if (ready == READY_QUIET && !r->s->options->no_reduction)
        return true;
    if (ready == READY_NOT || r->acted) {
        if (!r->acted)
            state_block(r->s);
        return false;
    }
    if (ready != READY_FIRST)
        r->acted = true;
    return true;
}

/* ---- loops that never end ----------------------------------------------------------------- */

/* Whether all words that were written since the mark hold again what they held there. */
static bool memory_is_back(const struct state *s, uint32_t from)
{
    if (s->undone - from > 2000)
        return false;
    for (size_t k = from; k < s->undone; k++) {
        size_t first = from;
        while (s->undo[first].where != s->undo[k].where)
            first++;
        if (*s->undo[k].where != s->undo[first].old)
            return false;
    }
    return true;
}

/* Brent's cycle detection over what the thread can see: true: it is where it was. */
static bool comes_back(struct run *r)
{
    struct state *s = r->s;
    if (r->mark.pc == r->t->pc && r->mark.drawn == r->drawn
        && !memcmp(r->mark.x, r->t->x, sizeof r->mark.x) && memory_is_back(s, r->mark.undone))
        return true;
    if (r->mark.length++ < r->mark.power)
        return false;
    r->mark.power *= 2;
    r->mark.length = 0;
    r->mark.pc = r->t->pc;
    r->mark.drawn = r->drawn;
    r->mark.undone = (uint32_t)s->undone;
    memcpy(r->mark.x, r->t->x, sizeof r->mark.x);
    return false;
}

enum { LOOPS_FROM = 200 }; /* instructions before loops are looked for */

static bool runs_forever(struct run *r, const struct instruction *i)
{
    if (r->count < LOOPS_FROM || !(i->flags & INSTRUCTION_BACK))
        return false;
    if (r->count > STATE_LONGEST) {
        state_too_long(r->s, "a thread runs 10 million instructions without an action that others "
                             "can notice");
        return true;
    }
    if (!comes_back(r))
        return false;
    if (r->atomic)
        state_discard(r->s); /* a section without an end: nobody goes on */
    else
        r->t->status = THREAD_LOOPS;
    return true;
}

/* ---- the interpreter ---------------------------------------------------------------------- */

static const struct instruction *fetch(struct run *r)
{
    const struct program_code *c = r->s->code;
    uint32_t offset = r->t->pc - c->base;
    const struct instruction *i = &c->at[offset / 4];
    if (offset < c->end - c->base && !(offset & 3) && i->operation != OPERATION_NONE)
        return i;
    if (offset < c->end - c->base && !(offset & 3) && image_instruction(c->image, r->t->pc))
        state_fail(r->s, EXPLORE_INSTRUCTION, "0x%08x is no instruction of RV32IMA",
                   (uint32_t)i->immediate);
    else
        state_fail(r->s, EXPLORE_INSTRUCTION, "a jump to 0x%08x, where there is no code", r->t->pc);
    return NULL;
}

static void write_register(struct run *r, uint8_t rd, uint32_t value)
{
    uint32_t old = r->t->x[rd];
    if (!rd)
        return;
    r->t->x[rd] = value;
    if (rd == 2 && old != value)
        state_move_stack(r->s, r->number, old, value);
}

static void jump(struct run *r, const struct instruction *i)
{
    uint32_t from = r->t->pc;
    r->t->pc = i->operation == OPERATION_JAL ? (uint32_t)i->immediate
                                             : (r->t->x[i->rs1] + (uint32_t)i->immediate) & ~1u;
    write_register(r, i->rd, from + 4);
    if (i->operation == OPERATION_JALR && !image_may_jump(r->s->code->image, from, r->t->pc))
        state_fail(r->s, EXPLORE_INSTRUCTION, "a jump to 0x%08x, where no function begins",
                   r->t->pc);
}

static void branch(struct run *r, const struct instruction *i)
{
    bool taken = alu_branches(i->operation, r->t->x[i->rs1], r->t->x[i->rs2]);
    r->t->pc = taken ? (uint32_t)i->immediate : r->t->pc + 4;
}

static bool access_memory(struct run *r, const struct instruction *i)
{
    switch (i->operation) {
    case OPERATION_LB:
    case OPERATION_LH:
    case OPERATION_LW:
    case OPERATION_LBU:
    case OPERATION_LHU: return run_load(r, i);
    case OPERATION_SB:
    case OPERATION_SH:
    case OPERATION_SW: return run_store(r, i);
    case OPERATION_FENCE: return run_fence(r, i);
    case OPERATION_LR: return run_reserve(r, i);
    case OPERATION_SC: return run_conditional(r, i);
    case OPERATION_ECALL: return run_call(r);
    case OPERATION_EBREAK: state_fail(r->s, EXPLORE_ABORT, "ebreak"); return false;
    default: return run_amo(r, i);
    }
}

/* image_ops.def has them in this order. */
static bool is_arithmetic(uint8_t operation)
{
    return (operation >= OPERATION_ADDI && operation <= OPERATION_AND)
        || operation <= OPERATION_AUIPC
        || (operation >= OPERATION_MUL && operation <= OPERATION_REMU);
}

static bool execute(struct run *r, const struct instruction *i)
{
    if (is_arithmetic(i->operation)) {
        write_register(r, i->rd, alu(i, r->t->x[i->rs1], r->t->x[i->rs2]));
        r->t->pc += 4;
        return true;
    }
    if (i->operation >= OPERATION_LB)
        return access_memory(r, i);
    if (i->operation >= OPERATION_BEQ)
        branch(r, i);
    else
        jump(r, i);
    return true;
}

static void zero_dead_registers(struct run *r)
{
    uint32_t offset = r->t->pc - r->s->code->base;
    if (r->t->status == THREAD_ENDED || r->t->status == THREAD_FREE
        || offset >= r->s->code->end - r->s->code->base)
        return;
    uint32_t live = r->s->code->at[offset / 4].live | 1u << 2;
    if (r->t->status == THREAD_LOOPS)
        live = 1u << 2;
    for (uint32_t k = 0; k < 32; k++)
        if (!(live >> k & 1))
            r->t->x[k] = 0;
}

/* What nobody reads any more of the frame, where that bypasses buffers. */
static void zero_dead_slots(struct run *r)
{
    const struct frame_slot *slot;
    struct state *s = r->s;
    uint64_t dead;
    if (r->t->status == THREAD_ENDED || r->t->status == THREAD_FREE || r->t->status == THREAD_LOOPS)
        return;
    if (!(s->options->local & EXPLORE_LOCAL_STATIC)
        || (s->follows && s->recorder && s->recorder->brief))
        return; /* or nobody compares states */
    if (!image_dead_slots(s->code->image, r->t->pc, r->t->x[1], &slot, &dead))
        return;
    for (; dead; dead &= dead - 1) {
        const struct frame_slot *at = &slot[__builtin_ctzll(dead)];
        uint8_t *place = state_peek(s, r->t->x[8] + (uint32_t)at->offset, at->size, true);
        if (place && state_get(place, at->size))
            state_put(s, place, at->size, 0);
    }
}

/* Where an error is; of a call, where the function of the run-time was called. */
static void note_place(struct run *r, uint32_t pc, const struct instruction *i)
{
    uint32_t caller;
    r->s->error_thread = r->number;
    r->s->error_pc = pc;
    if (r->s->end == STEP_ERROR && i && i->operation == OPERATION_ECALL
        && thread_callers(r->s, r->number, &caller, 1))
        r->s->error_pc = caller - 4;
}

void run_on(struct run *r)
{
    for (;;) {
        if (r->atomic && r->section_return && r->t->pc == r->section_return
            && r->t->x[2] == r->section_stack) {
            r->section_return = 0;
            run_section_end(r);
            if (r->s->end != STEP_DONE)
                return;
        }
        uint32_t pc = r->t->pc;
        const struct instruction *i = fetch(r);
        bool goes_on = i && (!(i->flags & INSTRUCTION_ATOMIC) || r->atomic || run_section_begin(r));
        goes_on = goes_on && execute(r, i);
        if (r->s->end != STEP_DONE) {
            if (!r->s->error_pc)
                note_place(r, pc, i); /* else it is of a thread that this one made */
            return;
        }
        r->count++;
        if (!goes_on || runs_forever(r, i))
            break;
    }
    zero_dead_registers(r);
    zero_dead_slots(r);
}

void run_begin(struct state *s, uint32_t thread)
{
    struct run r = run_of(s, thread);
    r.acted = true;
    run_on(&r);
}

void step_thread(struct state *s, uint32_t thread)
{
    struct thread *t = &s->thread[thread];
    s->choices.used = 0;
    if (s->exited || (t->status != THREAD_RUNS && t->status != THREAD_WOKEN)) {
        s->end = STEP_BLOCKED;
        return;
    }
    struct run r = run_of(s, thread);
    run_on(&r);
}

void step_flush(struct state *s, uint32_t thread, uint32_t k)
{
    s->choices.used = 0;
    s->model->move(s, thread, k);
}
