/* SPDX-License-Identifier: Apache-2.0 */
/* Private places of a frame that are dead, as registers can be. Without optimisation every value goes
 * through such a place, and what is left there would tell states apart that are the same.
 *
 * Only functions with a frame pointer are looked at, and what they access relative to it, always with the
 * same size; arguments that they pass on the stack are relative to sp. Whoever is called does not access
 * them. */
#include <stdlib.h>

#include "image_frame.h"

enum { RA = 1, MOST_SLOTS = 64 };

struct slots {
    struct frame_slot slot[MOST_SLOTS];
    bool bad[MOST_SLOTS]; /* accessed otherwise, too */
    uint32_t count;
};

/* ---- which there are -------------------------------------------------------------------------- */

static bool through_pointer(const struct instruction *in)
{
    return frame_is_access(in) && in->rs1 == FRAME_FP && (in->flags & INSTRUCTION_PRIVATE);
}

static int find_slot(const struct slots *s, const struct instruction *in)
{
    for (uint32_t k = 0; k < s->count; k++)
        if (s->slot[k].offset == in->immediate && s->slot[k].size == in->size)
            return (int)k;
    return -1;
}

static void collect(const struct frame *f, struct slots *s)
{
    for (uint32_t k = 0; k < frame_count(f); k++) {
        const struct instruction *in = frame_at(f, k);
        if (through_pointer(in) && find_slot(s, in) < 0 && s->count < MOST_SLOTS)
            s->slot[s->count++] = (struct frame_slot){ (int16_t)in->immediate, in->size };
    }
}

/* Any other access that overlaps it makes a slot bad. */
static void compare(const struct frame *f, struct slots *s)
{
    for (uint32_t k = 0; k < frame_count(f); k++) {
        const struct instruction *in = frame_at(f, k);
        struct frame_value base = frame_value_of(&f->state[k], in->rs1);
        int own = through_pointer(in) ? find_slot(s, in) : -1;
        int32_t at = base.distance - f->pointer + in->immediate;
        for (uint32_t n = 0; n < s->count && frame_is_access(in) && base.what == FRAME_DISTANCE;
             n++)
            s->bad[n] |= (int)n != own && at < s->slot[n].offset + s->slot[n].size
                      && at + in->size > s->slot[n].offset;
    }
}

/* ---- which are alive --------------------------------------------------------------------------- */

static uint64_t live_at(const struct frame *f, const uint64_t *live, uint32_t pc)
{
    return pc >= f->begin && pc < f->end && pc % 4 == 0 ? live[(pc - f->begin) / 4] : 0;
}

static uint64_t live_at_landings(const struct frame *f, const uint64_t *live)
{
    uint64_t all = 0;
    for (uint32_t k = 1; k < frame_count(f); k++)
        if (frame_at(f, k)->flags & IMAGE_LANDING)
            all |= live[k];
    return all;
}

static uint64_t live_after(const struct frame *f, const uint64_t *live, uint32_t k)
{
    const struct instruction *in = frame_at(f, k);
    uint32_t pc = f->begin + k * 4;
    uint64_t next = live_at(f, live, pc + 4);
    if (image_is_branch(in))
        return next | live_at(f, live, (uint32_t)in->immediate);
    if ((in->operation != OPERATION_JAL && in->operation != OPERATION_JALR) || in->rd != 0)
        return next;
    if (in->flags & IMAGE_TABLE)
        return live_at_landings(f, live);
    return image_is_return(in) ? 0 : live_at(f, live, image_call_target(f->i, pc));
}

static bool go_backwards(const struct frame *f, const struct slots *s, uint64_t *live)
{
    bool changed = false;
    for (uint32_t k = frame_count(f); k-- > 0;) {
        const struct instruction *in = frame_at(f, k);
        uint64_t now = live_after(f, live, k);
        int n = through_pointer(in) ? find_slot(s, in) : -1;
        if (n >= 0 && in->operation >= OPERATION_SB)
            now &= ~(UINT64_C(1) << n);
        else if (n >= 0)
            now |= UINT64_C(1) << n;
        changed |= now != live[k];
        live[k] = now;
    }
    return changed;
}

/* ---- what is kept ------------------------------------------------------------------------------- */

static bool keep_slots(struct frame *f, const struct slots *s, const uint64_t *live)
{
    struct image *i = f->i;
    struct frame_slot *more = realloc(i->slot, (i->slots + s->count) * sizeof *more);
    uint64_t good = 0;
    if (!more)
        return false;
    i->slot = more;
    for (uint32_t n = 0; n < s->count; n++) {
        i->slot[i->slots + n] = s->slot[n];
        good |= (uint64_t)!s->bad[n] << n;
    }
    for (uint32_t k = 0; k < frame_count(f); k++) {
        uint32_t at = (f->begin - i->code_begin) / 4 + k;
        i->first_slot[at] = (uint32_t)i->slots;
        i->dead[at] = frame_at(f, k)->flags & IMAGE_POINTER ? good & ~live[k] : 0;
    }
    i->slots += s->count;
    return true;
}

static void mark_frames(struct frame *f)
{
    for (uint32_t k = 0; k < frame_count(f); k++) {
        struct frame_value sp = f->state[k].sp, fp = f->state[k].fp;
        if (fp.what == FRAME_DISTANCE && f->has_pointer && fp.distance == f->pointer)
            frame_at(f, k)->flags |= IMAGE_POINTER;
        if (fp.what == FRAME_OTHER && sp.what == FRAME_DISTANCE && sp.distance == 0)
            frame_at(f, k)->flags |= IMAGE_CALLERS;
    }
}

bool frame_find_dead(struct frame *f)
{
    struct slots s = { .count = 0 };
    size_t variables;
    mark_frames(f);
    if (!f->i->unoptimised || !f->has_pointer || !image_variables(f->i, f->begin, &variables))
        return true;
    collect(f, &s);
    compare(f, &s);
    uint64_t *live = s.count ? calloc(frame_count(f), sizeof *live) : NULL;
    if (!s.count)
        return true;
    while (live && go_backwards(f, &s, live))
        continue;
    bool good = live && keep_slots(f, &s, live);
    free(live);
    return good;
}

bool image_dead_slots(const struct image *i, uint32_t pc, uint32_t ra,
                      const struct frame_slot **slot, uint64_t *dead)
{
    const struct instruction *in = image_instruction(i, pc);
    if (!in || !(in->live & 1u << FRAME_FP))
        return false;
    if (in->flags & IMAGE_CALLERS)
        in = in->live & 1u << RA ? image_instruction(i, ra) : NULL;
    if (!in || !(in->flags & IMAGE_POINTER))
        return false;
    size_t at = (size_t)(in - i->code);
    *slot = i->slot + i->first_slot[at];
    *dead = i->dead[at];
    return *dead != 0;
}
