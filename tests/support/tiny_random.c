/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny programs by chance, and smaller ones of them. */
#include "tiny.h"

#include <string.h>

#include "oracle.h"

struct draft {
    struct tiny_program *p;
    uint64_t random;
    unsigned words, values;
    unsigned fences, atomics, branches; /* of a hundred */
    bool mixed, loops;
};

static unsigned draw(struct draft *d, unsigned bound)
{
    return (unsigned)oracle_random(&d->random, bound);
}

static bool chance(struct draft *d, unsigned of_hundred) { return draw(d, 100) < of_hundred; }

/* Each store has a number, and each of its bytes tells which it is. */
static uint32_t new_value(struct draft *d, unsigned size)
{
    uint32_t n = ++d->values, bytes = n | (n + 0x10) << 8 | (n + 0x20) << 16 | (n + 0x30) << 24;
    return !d->mixed ? n : size == 4 ? bytes : bytes & ((1u << 8 * size) - 1);
}

static void place(struct draft *d, struct tiny_op *o)
{
    o->size = d->mixed && o->kind <= TINY_STORE ? (uint8_t)(1u << draw(d, 3)) : 4;
    o->address = (uint8_t)(4 * draw(d, d->words) + o->size * draw(d, 4 / o->size));
}

static unsigned fence_of(struct draft *d)
{
    static const uint8_t fences[] = {
        TINY_RR,
        TINY_RW,
        TINY_WR,
        TINY_WW,
        TINY_FULL,
        TINY_FULL,
        TINY_RR | TINY_RW,
        TINY_RW | TINY_WW,
        TINY_WR | TINY_WW,
        TINY_RR | TINY_WR,
        TINY_RR | TINY_RW | TINY_WW,
    };
    return fences[draw(d, sizeof fences)];
}

/* A value that a register may well have. */
static uint32_t guess(struct draft *d)
{
    struct draft other = *d;
    other.values = draw(d, d->values + 1);
    return other.values ? (other.values--, new_value(&other, 4)) : 0;
}

static void memory_op(struct draft *d, struct tiny_op *o)
{
    o->kind = chance(d, d->atomics) ? (enum tiny_kind)(TINY_SWAP + draw(d, 5))
                                    : (enum tiny_kind)draw(d, 2);
    o->target = (uint8_t)draw(d, TINY_REGISTERS);
    o->source = chance(d, 15) ? (uint8_t)draw(d, TINY_REGISTERS) : TINY_REGISTERS;
    place(d, o);
    if (o->kind > TINY_STORE)
        o->order = (uint8_t)draw(d, 4);
    if (o->kind == TINY_CAS)
        o->compare = guess(d);
    if (o->kind != TINY_LOAD)
        o->value = new_value(d, o->size);
}

static void control_op(struct draft *d, struct tiny_op *o, unsigned at, unsigned count, bool loop)
{
    o->kind = loop ? TINY_LOOP : TINY_SKIP;
    o->source = (uint8_t)draw(d, TINY_REGISTERS);
    o->value = guess(d);
    o->negated = chance(d, 50);
    o->distance = (uint8_t)(1 + draw(d, loop ? at : count - at - 1));
    o->times = (uint8_t)(1 + draw(d, 2));
}

static void fill(struct draft *d, unsigned t, unsigned count)
{
    bool loop = d->loops;
    d->p->ops[t] = count;
    for (unsigned i = 0; i < count; i++) {
        struct tiny_op *o = &d->p->op[t][i];
        if (loop && i && chance(d, 30)) {
            control_op(d, o, i, count, true);
            loop = false;
        } else if (i + 1 < count && i && chance(d, d->branches)) {
            control_op(d, o, i, count, false);
        } else if (i && i + 1 < count && chance(d, d->fences)) {
            o->kind = TINY_FENCE;
            o->order = (uint8_t)fence_of(d);
        } else {
            memory_op(d, o);
        }
    }
}

void tiny_random(struct tiny_program *p, uint64_t seed)
{
    static const uint8_t least[] = { 3, 2, 1 }, most[] = { 6, 4, 2 };
    memset(p, 0, sizeof *p);
    struct draft d = { .p = p, .random = seed * 0xd1342543de82ef95u + 1 };
    draw(&d, 2);
    unsigned shape = draw(&d, 10);
    shape = shape < 6 ? 0 : shape < 9 ? 1 : 2;
    p->threads = shape + 2;
    d.words = 1 + (chance(&d, 85) ? 1 + chance(&d, 40) : 0);
    d.mixed = chance(&d, 35);
    d.fences = chance(&d, 50) ? 25 : 0;
    d.atomics = chance(&d, 50) ? 20 : 0;
    d.branches = chance(&d, 30) ? 15 : 0;
    d.loops = chance(&d, 10);
    for (unsigned t = 0; t < p->threads; t++)
        fill(&d, t, least[shape] + draw(&d, most[shape] - least[shape] + 1u));
}

static void insert(struct tiny_program *p, unsigned t, unsigned at, enum tiny_kind kind)
{
    struct tiny_op *o = p->op[t];
    memmove(o + at + 1, o + at, (p->ops[t]++ - at) * sizeof *o);
    o[at] = (struct tiny_op){ .kind = kind };
}

/* From `first` on, to before a fence or the end; how many ops later it may go on. */
static unsigned add_section(struct draft *d, unsigned t, unsigned first)
{
    const struct tiny_op *o = d->p->op[t];
    unsigned end = first, most = 1 + draw(d, 3);
    while (end < d->p->ops[t] && end - first < most && o[end].kind != TINY_FENCE)
        end++;
    if (end == first || d->p->ops[t] + 2 > TINY_OPS)
        return 1;
    insert(d->p, t, end, TINY_LEAVE);
    insert(d->p, t, first, TINY_ENTER);
    return end + 2 - first;
}

void tiny_add_sections(struct tiny_program *p, uint64_t seed)
{
    struct draft d = { .p = p, .random = seed * 0xd1342543de82ef95u + 2 };
    for (unsigned t = 0; t < p->threads; t++) {
        for (unsigned i = p->ops[t]; i-- > 0;)
            if (p->op[t][i].kind > TINY_CAS)
                tiny_without(p, t, i);
        for (unsigned i = draw(&d, 2); i < p->ops[t]; i += draw(&d, 3))
            i += add_section(&d, t, i);
    }
}

static void take_out(struct tiny_program *p, unsigned thread, unsigned op)
{
    struct tiny_op *o = p->op[thread];
    for (unsigned i = 0; i < p->ops[thread]; i++) {
        bool over = (o[i].kind == TINY_SKIP && i < op && i + o[i].distance >= op)
                 || (o[i].kind == TINY_LOOP && i > op && i <= op + o[i].distance);
        o[i].distance = (uint8_t)(o[i].distance - over);
    }
    p->ops[thread]--;
    memmove(o + op, o + op + 1, (p->ops[thread] - op) * sizeof *o);
}

/* A section goes with both its ends. */
bool tiny_without(struct tiny_program *p, unsigned thread, unsigned op)
{
    if (thread >= p->threads || op >= p->ops[thread] || p->op[thread][op].kind == TINY_LEAVE)
        return false;
    unsigned end = op;
    while (p->op[thread][op].kind == TINY_ENTER && p->op[thread][end].kind != TINY_LEAVE)
        end++;
    if (end > op)
        take_out(p, thread, end);
    take_out(p, thread, op);
    return true;
}
