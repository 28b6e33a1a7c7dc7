/* SPDX-License-Identifier: Apache-2.0 */
/* Private places: accesses to the own frame that no other thread can make.
 *
 * For each function that a symbol bounds, the distances of sp and s0 from where sp was at its
 * beginning are followed through its instructions. An access relative to one of them whose distance
 * is known is direct. An address that goes anywhere else, into another register or into memory, has
 * escaped, and what it may point to is not private:
 *
 * - of a program that ordeal compiled without optimisation, the object there, which ends where debug
 *   information says, or before the next object that it names; also the one that ends just there,
 *   because C has pointers past the end. Without optimisation, addresses are those of the source.
 * - of anything else the whole frame: optimisers also make addresses beside an object.
 *
 * What is at the distance 0 or above is the caller's. Functions that are entered in the middle from
 * outside, or whose frame is too large for one immediate, have no private places once an address
 * escapes, or none at all. It is assumed that who is called leaves sp and s0 as they were and does
 * not take either for an argument; and that pointers stay in their objects, as C has it. One that
 * does not may see a store to a private place at once, which is what a buffer allows, too. */
#include <stdlib.h>
#include <string.h>

#include "image_frame.h"

enum { RA = 1 };
enum { FARTHEST = 2032 }; /* what one immediate reaches, in multiples of the stack's alignment */

struct interval {
    int32_t begin, end;
};

/* ---- following sp and s0 --------------------------------------------------------------------- */

static struct frame_value join_values(struct frame_value a, struct frame_value b)
{
    if (a.what == FRAME_UNSEEN || b.what == FRAME_UNSEEN)
        return a.what == FRAME_UNSEEN ? b : a;
    if (a.what == b.what && a.distance == b.distance)
        return a;
    return (struct frame_value){ a.what == FRAME_OTHER && b.what == FRAME_OTHER ? FRAME_OTHER
                                                                                : FRAME_UNKNOWN,
                                 0 };
}

static void enter(struct frame *f, uint32_t k, struct frame_state s)
{
    struct frame_state *to = &f->state[k];
    struct frame_state joined = { join_values(to->sp, s.sp), join_values(to->fp, s.fp) };
    if (joined.sp.what == to->sp.what && joined.sp.distance == to->sp.distance
        && joined.fp.what == to->fp.what && joined.fp.distance == to->fp.distance)
        return;
    *to = joined;
    if (!f->queued[k]) {
        f->queued[k] = true;
        f->work[f->waiting++] = k;
    }
}

static void enter_pc(struct frame *f, uint32_t pc, struct frame_state s)
{
    if (pc >= f->begin && pc < f->end && pc % 4 == 0)
        enter(f, (pc - f->begin) / 4, s);
}

struct frame_value frame_value_of(const struct frame_state *s, uint8_t reg)
{
    if (reg == FRAME_SP)
        return s->sp;
    return reg == FRAME_FP ? s->fp : (struct frame_value){ FRAME_OTHER, 0 };
}

static bool of_frame(struct frame_value v)
{
    return v.what == FRAME_DISTANCE || v.what == FRAME_UNKNOWN;
}

/* What is in sp or s0 after an instruction that writes it. */
static struct frame_value result_of(const struct instruction *in, const struct frame_state *s)
{
    struct frame_value a = frame_value_of(s, in->rs1), b = frame_value_of(s, in->rs2);
    if (in->operation == OPERATION_ADDI && a.what == FRAME_DISTANCE)
        return (struct frame_value){ FRAME_DISTANCE, a.distance + in->immediate };
    bool loads = in->operation >= OPERATION_LB && in->operation <= OPERATION_LHU;
    if (in->rd == FRAME_SP || (!loads && (of_frame(a) || of_frame(b))))
        return (struct frame_value){ FRAME_UNKNOWN, 0 };
    return (struct frame_value){ FRAME_OTHER, 0 };
}

static struct frame_state after(const struct instruction *in, struct frame_state s)
{
    struct frame_value v = result_of(in, &s);
    bool links = in->operation == OPERATION_JAL || in->operation == OPERATION_JALR;
    if (in->rd == FRAME_SP)
        s.sp = v;
    if (in->rd == FRAME_FP)
        s.fp = v;
    if (links && in->rd != 0 && in->rd != RA) /* helpers that make and leave frames */
        s.sp = s.fp = (struct frame_value){ FRAME_UNKNOWN, 0 };
    return s;
}

static void enter_landings(struct frame *f, struct frame_state s)
{
    for (uint32_t k = 1; k < frame_count(f); k++)
        if (frame_at(f, k)->flags & IMAGE_LANDING)
            enter(f, k, s);
}

static void follow(struct frame *f, uint32_t k)
{
    const struct instruction *in = frame_at(f, k);
    struct frame_state s = after(in, f->state[k]);
    uint32_t pc = f->begin + k * 4;
    bool jumps = in->operation == OPERATION_JAL || in->operation == OPERATION_JALR;
    if (image_is_branch(in) || (in->operation == OPERATION_JAL && in->rd == 0))
        enter_pc(f, (uint32_t)in->immediate, s);
    if (in->operation == OPERATION_JALR && in->rd == 0 && !image_is_return(in)) {
        if (image_far_target(f->i, pc))
            enter_pc(f, image_far_target(f->i, pc), s);
        else
            enter_landings(f, s);
    }
    if (!jumps || in->rd != 0)
        enter_pc(f, pc + 4, s);
}

static void follow_all(struct frame *f)
{
    enter(f, 0, (struct frame_state){ { FRAME_DISTANCE, 0 }, { FRAME_OTHER, 0 } });
    while (f->waiting) {
        uint32_t k = f->work[--f->waiting];
        f->queued[k] = false;
        follow(f, k);
    }
}

/* ---- escapes --------------------------------------------------------------------------------- */

static void note_escape(struct frame *f, struct frame_value v, int32_t immediate)
{
    if (v.what == FRAME_UNKNOWN)
        f->whole = true;
    if (v.what != FRAME_DISTANCE)
        return;
    int32_t distance = v.distance + immediate;
    f->escaped[f->escapes++] = (struct interval){ distance, distance };
}

bool frame_is_access(const struct instruction *in)
{
    return in->operation >= OPERATION_LB && in->operation <= OPERATION_SW;
}

static void note_instruction(struct frame *f, uint32_t k)
{
    const struct instruction *in = frame_at(f, k);
    const struct frame_state *s = &f->state[k];
    struct frame_value a = frame_value_of(s, in->rs1), b = frame_value_of(s, in->rs2);
    if (s->sp.what == FRAME_DISTANCE && s->sp.distance < f->deepest)
        f->deepest = s->sp.distance;
    if (in->operation == OPERATION_ADDI && in->rd == FRAME_FP && a.what == FRAME_DISTANCE) {
        int32_t pointer = a.distance + in->immediate;
        f->whole |= f->has_pointer && f->pointer != pointer;
        f->pointer = pointer;
        f->has_pointer = true;
    } else if (frame_is_access(in)) {
        note_escape(f, b, 0);
    } else if (in->operation == OPERATION_ADDI) {
        if (in->rd != FRAME_SP)
            note_escape(f, a, in->immediate);
    } else if (!image_is_branch(in) && in->rd != FRAME_SP) {
        f->whole |= of_frame(a) || of_frame(b);
    }
}

/* ---- extents --------------------------------------------------------------------------------- */

/* The object or the gap between objects that has this byte. */
static struct interval cell_at(const struct frame *f, const struct frame_variable *v, size_t count,
                               int32_t distance)
{
    struct interval cell = { INT32_MIN, INT32_MAX };
    for (size_t k = 0; k < count; k++) {
        int32_t begin = f->pointer + v[k].offset, end = begin + (int32_t)v[k].size;
        if (distance >= begin && distance < end)
            return (struct interval){ begin, end };
        if (end <= distance && end > cell.begin)
            cell.begin = end;
        if (begin > distance && begin < cell.end)
            cell.end = begin;
    }
    return cell;
}

static void widen(struct frame *f)
{
    size_t count = 0, given = f->escapes;
    const struct frame_variable *v = image_variables(f->i, f->begin, &count);
    f->whole |= given && (!f->i->unoptimised || !v || !f->has_pointer || f->deepest < -FARTHEST);
    for (size_t k = 0; !f->whole && k < given; k++) {
        int32_t distance = f->escaped[k].begin;
        f->escaped[k] = cell_at(f, v, count, distance);
        f->escaped[f->escapes++] = cell_at(f, v, count, distance - 1);
    }
}

static bool overlaps_escaped(const struct frame *f, int32_t begin, int32_t end)
{
    for (size_t k = 0; k < f->escapes; k++)
        if (begin < f->escaped[k].end && end > f->escaped[k].begin)
            return true;
    return f->whole;
}

static void mark_private(struct frame *f)
{
    for (uint32_t k = 0; k < frame_count(f); k++) {
        const struct instruction *in = frame_at(f, k);
        struct frame_value base = frame_value_of(&f->state[k], in->rs1);
        int32_t begin = base.distance + in->immediate, end = begin + in->size;
        if (frame_is_access(in) && base.what == FRAME_DISTANCE && end <= 0
            && !overlaps_escaped(f, begin, end))
            f->i->code[(f->begin - f->i->code_begin) / 4 + k].flags |= INSTRUCTION_PRIVATE;
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool reserve(struct frame *f)
{
    size_t count = frame_count(f);
    f->state = calloc(count, sizeof *f->state);
    f->work = calloc(count, sizeof *f->work);
    f->queued = calloc(count, sizeof *f->queued);
    f->escaped = calloc(count * 2, sizeof *f->escaped); /* one an instruction, and its neighbour */
    return f->state && f->work && f->queued && f->escaped;
}

static bool analyse_function(struct image *i, uint32_t begin, uint32_t end)
{
    struct frame f = { .i = i, .begin = begin, .end = end };
    bool good = reserve(&f);
    if (good) {
        follow_all(&f);
        for (uint32_t k = 0; k < frame_count(&f); k++)
            note_instruction(&f, k);
        widen(&f);
        mark_private(&f);
        good = frame_find_dead(&f);
    }
    free(f.state);
    free(f.work);
    free(f.queued);
    free(f.escaped);
    return good;
}

/* The next function that a symbol bounds, and that does not overlap the one before. */
static const struct symbol *next_function(const struct image *i, size_t *k, uint32_t *done)
{
    for (; *k < i->symbols; ++*k) {
        const struct symbol *s = &i->symbol[*k];
        if (!s->function || !s->size || s->size % 4 != 0 || s->address < *done
            || !image_instruction(i, s->address)
            || s->size > i->code_begin + i->code_bytes - s->address)
            continue;
        *done = s->address + s->size;
        ++*k;
        return s;
    }
    return NULL;
}

/* Where the function begins that each instruction is of, and which are entered elsewhere by others:
 * their first instruction is then of none. */
static void bound_functions(const struct image *i, uint32_t *function)
{
    size_t k = 0;
    uint32_t done = i->code_begin;
    for (const struct symbol *s; (s = next_function(i, &k, &done));)
        for (uint32_t pc = s->address; pc < done; pc += 4)
            function[(pc - i->code_begin) / 4] = s->address;
    for (uint32_t pc = i->code_begin; image_instruction(i, pc); pc += 4) {
        const struct instruction *in = image_instruction(i, pc);
        bool direct = image_is_branch(in) || in->operation == OPERATION_JAL;
        uint32_t to = direct ? (uint32_t)in->immediate : image_far_target(i, pc);
        uint32_t there = image_instruction(i, to) ? function[(to - i->code_begin) / 4] : 0;
        if (there && there != to && there != function[(pc - i->code_begin) / 4])
            function[(there - i->code_begin) / 4] = 0;
    }
}

bool image_analyse_frames(struct image *i)
{
    uint32_t *function = calloc(i->code_bytes / 4 + 1, sizeof *function), done = i->code_begin;
    i->dead = calloc(i->code_bytes / 4 + 1, sizeof *i->dead);
    i->first_slot = calloc(i->code_bytes / 4 + 1, sizeof *i->first_slot);
    bool good = function && i->dead && i->first_slot;
    size_t k = 0;
    if (good)
        bound_functions(i, function);
    for (const struct symbol *s; good && (s = next_function(i, &k, &done));)
        if (function[(s->address - i->code_begin) / 4])
            good = analyse_function(i, s->address, done);
    free(function);
    return good;
}
