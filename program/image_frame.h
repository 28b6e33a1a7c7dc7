/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of one function while its accesses are looked at: between image_frame.c, which finds what is
 * private, and image_slots.c, which finds what of that is dead. */
#ifndef PROGRAM_IMAGE_FRAME_H
#define PROGRAM_IMAGE_FRAME_H

#include "image_parts.h"

enum { FRAME_SP = 2, FRAME_FP = 8 };

/* What sp or s0 holds: unknown is of the frame, but nobody knows where. */
enum { FRAME_UNSEEN, FRAME_OTHER, FRAME_DISTANCE, FRAME_UNKNOWN };
struct frame_value {
    uint8_t what;
    int32_t distance; /* from where sp was at the beginning */
};
struct frame_state {
    struct frame_value sp, fp;
};

struct interval;
struct frame {
    struct image *i;
    uint32_t begin, end;       /* addresses */
    struct frame_state *state; /* before each instruction */
    uint32_t *work;            /* instructions to be looked at again */
    size_t waiting;
    bool *queued;
    struct interval *escaped;
    size_t escapes;
    bool whole;       /* everything has escaped */
    bool has_pointer; /* s0 was set from sp, to ... */
    int32_t pointer, deepest;
};

static inline uint32_t frame_count(const struct frame *f) { return (f->end - f->begin) / 4; }
static inline struct instruction *frame_at(const struct frame *f, uint32_t k)
{
    return &f->i->code[(f->begin - f->i->code_begin) / 4 + k];
}
struct frame_value frame_value_of(const struct frame_state *s, uint8_t reg);
bool frame_is_access(const struct instruction *in); /* a load or a store */

/* Once accesses are marked; false: out of memory. */
bool frame_find_dead(struct frame *f);

#endif
