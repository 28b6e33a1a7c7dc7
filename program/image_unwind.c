/* SPDX-License-Identifier: Apache-2.0 */
/* Who called a function, told by its own instructions: how far they have moved the stack pointer, and
 * where they have put the return address and the frame pointer. What has no frame, such as a call in
 * assembly, still has its return address in ra. */
#include "image.h"

enum { RA = 1, SP = 2, FP = 8, MOST_PROLOGUE = 64 };

/* Seen from the end of the frame, which is where sp was before the call. */
struct frame {
    uint32_t moved;   /* by so much is sp below it */
    bool has_pointer; /* fp is the end of the frame */
    bool saved[2];    /* ra, fp ... */
    int32_t at[2];    /* ... at this distance */
};

static void note_instruction(struct frame *f, const struct instruction *i)
{
    if (i->operation == OPERATION_ADDI && i->rd == SP && i->rs1 == SP && i->immediate < 0)
        f->moved += (uint32_t)-i->immediate;
    if (i->operation == OPERATION_ADDI && i->rd == FP && i->rs1 == SP
        && (uint32_t)i->immediate == f->moved)
        f->has_pointer = f->saved[1];
    for (int k = 0; k < 2; k++)
        if (i->operation == OPERATION_SW && i->rs1 == SP && i->rs2 == (k ? FP : RA)
            && !f->saved[k]) {
            f->saved[k] = true;
            f->at[k] = i->immediate - (int32_t)f->moved;
        }
}

static struct frame frame_at(const struct image *i, uint32_t begin, uint32_t pc)
{
    struct frame f = { 0 };
    for (uint32_t at = begin; at < pc && at - begin < 4 * MOST_PROLOGUE; at += 4) {
        const struct instruction *instruction = image_instruction(i, at);
        if (!instruction)
            break;
        note_instruction(&f, instruction);
    }
    return f;
}

bool image_unwind(const struct image *i, uint32_t *pc, uint32_t *registers,
                  uint32_t (*read)(void *user, uint32_t address), void *user)
{
    const struct symbol *function = image_symbol_at(i, *pc);
    if (!function || !function->function)
        return false;
    struct frame f = frame_at(i, function->address, *pc);
    uint32_t end = f.has_pointer ? registers[FP] : registers[SP] + f.moved;
    uint32_t back = f.saved[0] ? read(user, end + (uint32_t)f.at[0]) : registers[RA];
    if (f.saved[1])
        registers[FP] = read(user, end + (uint32_t)f.at[1]);
    /* A function that saves nothing calls nobody: this cannot go on for ever. */
    if (!back || (back == *pc && end == registers[SP]) || !image_instruction(i, back))
        return false;
    registers[SP] = end;
    registers[RA] = back;
    *pc = back;
    return true;
}
