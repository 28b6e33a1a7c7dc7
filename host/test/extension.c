/* SPDX-License-Identifier: Apache-2.0 */
#include "extension.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "kinds.h"
#include "program_walk.h"

/* Of a slot: the bits of its value, and whether signs are above them; 0: nothing is. */
enum { SIGNED = 0x80, VALUE_BITS = 0x7f };

static bool is_compared(const struct program_thread *t, uint8_t reg)
{
    for (const struct instruction *i = t->code; i < t->code + t->length; i++)
        if (i->compare_register == reg)
            return true;
    return false;
}

bool extension_is_signed(const struct program *p, const struct program_thread *t,
                         const struct instruction *load)
{
    uint64_t state = p->seed ^ (uint64_t)(t->number + 1) << 32 ^ (uint64_t)(load - t->code)
                   ^ (uint64_t)load->offset << 48;
    return random_mix(&state) >> 32 & 1
        && !(load->sets != NO_REGISTER && is_compared(t, load->sets));
}

/* ---- which slot has what --------------------------------------------------------------------- */

static uint8_t kind_of(const struct extension *x, const struct program_thread *t,
                       const struct instruction *i)
{
    if (!kind_reads(i->kind) || i->size_log2 > 2 || 8u << i->size_log2 >= x->bits)
        return 0;
    bool is_signed = i->kind == ORDEAL_LOAD ? extension_is_signed(x->p, t, i) : x->atomics_signed;
    return (uint8_t)((8u << i->size_log2) | (is_signed ? SIGNED : 0));
}

static void look(struct extension *x, uint64_t iteration)
{
    memset(x->slot, 0, x->p->slots);
    for (uint32_t n = 0; n < x->p->threads; n++) {
        struct walker w = program_walk(x->p, n, iteration);
        uint8_t *slot = x->slot + w.thread->first_slot, *end = slot + w.thread->slots;
        /* Not to the end of the thread: a loop behind its last load may be long. */
        for (const struct instruction *i; slot < end && (i = program_step(&w));
             slot += instruction_slots(i))
            if (instruction_slots(i))
                *slot = kind_of(x, w.thread, i);
    }
}

static bool has_narrow(const struct program *p, unsigned bits)
{
    for (uint32_t n = 0; n < p->threads; n++)
        for (const struct instruction *i = p->thread[n].code;
             i < p->thread[n].code + p->thread[n].length; i++)
            if (kind_reads(i->kind) && 8u << i->size_log2 < bits)
                return true;
    return false;
}

bool extension_open(struct extension *x, const struct program *p, unsigned bits,
                    bool atomics_signed)
{
    *x = (struct extension){ .p = p,
                             .bits = bits,
                             .atomics_signed = atomics_signed,
                             .narrow = has_narrow(p, bits),
                             .slot = calloc((size_t)p->slots + 1, 1) };
    if (x->slot && x->narrow && !p->branches)
        look(x, 0);
    return x->slot;
}

void extension_close(struct extension *x)
{
    free(x->slot);
    x->slot = NULL;
}

/* ---- what they hold -------------------------------------------------------------------------- */

/* The instruction that filled the slot. */
static void say_whose(const struct extension *x, uint64_t iteration, uint32_t slot, struct why *why)
{
    uint32_t n = 0;
    while (n + 1 < x->p->threads && x->p->thread[n + 1].first_slot <= slot)
        n++;
    struct walker w = program_walk(x->p, n, iteration);
    uint32_t at = w.thread->first_slot;
    const struct instruction *i = program_step(&w);
    while (i && at + instruction_slots(i) <= slot) {
        at += instruction_slots(i);
        i = program_step(&w);
    }
    char text[128] = "?";
    if (i)
        ordeal_trace_format(x->p->test, i->op, text, sizeof text);
    why_say(why, "%s", text);
    const struct ordeal_op *op = i ? ordeal_trace_op(x->p->test, i->op) : NULL;
    if (op && op->line)
        why_add(why, " (line %" PRIu32 " of the test)", op->line);
}

static bool wrong(const struct extension *x, uint64_t iteration, uint32_t slot, uint64_t read,
                  uint64_t expected, uint64_t value, struct why *why)
{
    say_whose(x, iteration, slot, why);
    why_add(why,
            " left 0x%" PRIx64 " in its register: with %s above the 0x%" PRIx64
            " that it read that would be 0x%" PRIx64,
            value, x->slot[slot] & SIGNED ? "signs" : "zeros", read, expected);
    return false;
}

bool extension_take_off(struct extension *x, uint64_t iteration, uint64_t *values, struct why *why)
{
    if (!x->narrow)
        return true;
    if (x->p->branches)
        look(x, iteration);
    const uint64_t in_register = UINT64_MAX >> (64 - x->bits);
    for (uint32_t slot = 0, slots = x->p->slots; slot < slots; slot++) {
        uint8_t kind = x->slot[slot];
        if (!kind)
            continue;
        unsigned unused = 64 - (kind & VALUE_BITS);
        uint64_t value = values[slot], high = value << unused, low = high >> unused;
        uint64_t expected = kind & SIGNED ? (uint64_t)((int64_t)high >> unused) & in_register : low;
        if (value != expected)
            return wrong(x, iteration, slot, low, expected, value, why);
        values[slot] = low;
    }
    return true;
}
