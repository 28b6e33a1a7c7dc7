/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a program with delays at some of its loads and stores, chosen by hart: harts have code of
 * their own. The instruction goes to a place behind the code, where a pause of the hart, a wait of the
 * store in its buffer, or a fence is before or behind it. None of this is an access, so that what the
 * capture unit sees are the program's own, and fences of ours, which are told by STEER_FENCE. */
#ifndef HOST_CHIP_STEER_H
#define HOST_CHIP_STEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STEER_HARTS = 16,
    STEER_MOST_HOLD = 4095,  /* cycles */
    STEER_MOST_PAUSE = 2047, /* rounds of a loop, of some three cycles */
    STEER_FENCE = 0x100      /* set in the immediate of a fence that was put in: no compiler does */
};

struct steer_point {
    uint32_t hart, pc; /* of a load, a store or an AMO */
    uint16_t pause;    /* of the hart before it */
    uint16_t
        hold; /* of a store: it stays in its buffer so long, and others behind it (rtl/soc.def) */
    bool mfence; /* behind it */
    bool sfence; /* before it */
};

struct steered {
    uint32_t *code[STEER_HARTS]; /* of each hart; all of `words` */
    uint32_t words;
    uint64_t identity;
};

/* The code with these; several may be of one place. False: out of memory, or it takes more than
 * `most_words`; to be freed in either case. */
bool steer_code(struct steered *s, const uint32_t *code, uint32_t words, uint32_t most_words,
                uint32_t harts, const struct steer_point *point, size_t points);
void steered_free(struct steered *s);

#endif
