/* SPDX-License-Identifier: Apache-2.0 */
/* What of the registers anybody may still read, backwards over all that control may do. */
#include <stdlib.h>

#include "calls.h"
#include "image_flow.h"

enum { SP = 2, A0 = 10, A7 = 17, ARGUMENTS = 6 };

static const uint8_t arguments[PROGRAM_CALLS] = {
#define CALL(number, name, barrier, arguments) [number] = arguments,
#include "calls.def"
#undef CALL
};

/* What is live where several ways lead. */
struct meeting {
    uint32_t *behind; /* calls, by the number of returns */
    uint32_t entries; /* at whatever may be called by its address */
};

static uint32_t bit(uint8_t reg) { return 1u << reg & ~1u; }

static uint32_t call_reads(uint32_t number)
{
    uint32_t count = number > 0 && number < PROGRAM_CALLS ? arguments[number] : ARGUMENTS;
    return bit(A7) | ((1u << count) - 1) << A0;
}

static uint32_t live_in_table(const struct flow *f, uint32_t k)
{
    const struct image *i = f->i;
    uint32_t live = 0;
    for (uint32_t to = i->function_of[k] + 1;
         to < f->count && i->function_of[to] == i->function_of[k]; to++)
        if (i->code[to].flags & IMAGE_LANDING)
            live |= i->code[to].live;
    return live;
}

static uint32_t live_after(const struct flow *f, const struct meeting *m, uint32_t k)
{
    const struct instruction *code = f->i->code;
    uint32_t next = k + 1 < f->count ? code[k + 1].live : 0;
    uint32_t there = f->target[k] != FLOW_NOWHERE ? code[f->target[k]].live : 0;
    switch ((enum flow_kind)f->kind[k]) {
    case FLOW_NEXT: return next;
    case FLOW_BRANCH: return next | there;
    case FLOW_JUMP:
    case FLOW_CALL: return there;
    case FLOW_RETURN: return m->behind[f->i->returns[k]];
    case FLOW_INDIRECT: return code[k].flags & IMAGE_TABLE ? live_in_table(f, k) : m->entries;
    case FLOW_INDIRECT_CALL: return m->entries;
    case FLOW_STOP: break;
    }
    return 0;
}

/* The stack pointer says what of the stack there is, and so is always alive. */
static uint32_t live_before(const struct flow *f, const struct meeting *m, uint32_t k)
{
    const struct instruction *in = &f->i->code[k];
    uint32_t after = live_after(f, m, k);
    if (in->operation == OPERATION_ECALL)
        return (after & ~bit(A0)) | call_reads(flow_call_number(f, k)) | bit(SP);
    return (after & ~bit(in->rd)) | bit(in->rs1) | bit(in->rs2) | bit(SP);
}

static bool go_backwards(const struct flow *f, struct meeting *m)
{
    bool changed = false;
    for (uint32_t k = f->count; k-- > 0;) {
        struct instruction *in = &f->i->code[k];
        uint32_t live = live_before(f, m, k);
        changed |= live != in->live;
        in->live = live;
        if (f->i->behind[k] != FLOW_NOWHERE)
            m->behind[f->i->behind[k]] |= live;
        if (flow_is_entry(f->i, k))
            m->entries |= live;
    }
    return changed;
}

bool flow_find_live(struct flow *f)
{
    struct meeting m = { .behind = calloc(f->count + 1, sizeof *m.behind) };
    bool good = m.behind != NULL;
    while (good && go_backwards(f, &m))
        continue;
    free(m.behind);
    return good;
}
