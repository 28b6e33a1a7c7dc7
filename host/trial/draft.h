/* SPDX-License-Identifier: Apache-2.0 */
/* A test that can be changed: what shrinking works on.
 *
 * Every line has one name and all its words lie in it; names are given when the test is made, in
 * order of appearance. Whatever is changed, draft_repair() makes sense of the rest again: no block
 * is empty, no register is read that nobody wrote, nobody interrupts a thread that is gone. */
#ifndef HOST_DRAFT_H
#define HOST_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "ordeal.h"
#include "test/program.h"

struct draft_op {
    struct ordeal_op op;         /* base: index of the line; address: in it; an interrupt's `write`:
                                    index of the thread */
    uint8_t written[LINE_BYTES]; /* in place of op.write where the kind writes memory */
    uint64_t compare, step;
    uint32_t needs;              /* registers its address depends on, a bit each */
    uint32_t data, control;      /* the same of its data, and of a branch right before it */
    uint8_t sets;                /* NO_REGISTER: none */
    bool cut;                    /* gone at the next repair */
    uint32_t unit;               /* what it is cut with: the shrinker's */
};

struct draft_line {
    bool placed;
    uint64_t place;
    uint8_t marks;               /* ORDEAL_UNCACHED, ORDEAL_FAULTING */
    uint8_t initial[LINE_BYTES];
};

/* A widest access and all that lies inside it. Accesses are aligned: they nest or are apart. */
struct location { uint32_t line; uint8_t offset, size_log2; };

struct draft {
    LIST(struct draft_op) ops;
    LIST(struct draft_line) lines;
    LIST(uint32_t) numbers;          /* by thread: the n of Pn */
    LIST(struct location) locations; /* in order of appearance; good after a repair, as is */
    uint32_t threads;                /* how many still have operations */
    uint64_t seed;
    uint32_t atomic;
    bool claimed;
    enum ordeal_model claim;
};

/* Where a block begins, splits (the end where it does not) and ends. */
struct draft_block { size_t begin, otherwise, end; };

/* All that return bool: false is out of memory, if nothing else is said. */
bool draft_of_test(struct draft *d, const struct ordeal_trace *test);
bool draft_copy(struct draft *to, const struct draft *from);
void draft_free(struct draft *d);
bool draft_repair(struct draft *d);
enum ordeal_status draft_test(const struct draft *d, struct ordeal *o, struct ordeal_trace **test);
/* Drafts that make the same test have the same number; others hardly ever. */
uint64_t draft_identity(const struct draft *d);

bool op_is_bracket(const struct draft_op *op);
bool op_has_location(const struct draft_op *op);
struct draft_block draft_block_at(const struct draft *d, size_t begin);
size_t draft_location_of(const struct draft *d, const struct draft_op *op);

/* All accesses of a location go elsewhere: there must be room for its size. */
void draft_move_location(struct draft *d, struct location from, struct location to);
/* Values written become small: 1, 2, … at each location, all different, in order of appearance; so
 * they do in each part of it that is accessed alone. False: there are too many for its size. */
bool draft_number_values(struct draft *d);
/* The words of each line move to its start, as far as 8 bytes stay 8 bytes. */
void draft_shift_lines(struct draft *d);
/* Threads become P0, P1, …, the lines of each together; registers r0, r1, … in each. */
bool draft_number_threads(struct draft *d);
void draft_number_registers(struct draft *d);
/* What `second` does is done by `first`, after its own. False: also when one of them has no
 * operations, or registers are too few. */
bool draft_join_threads(struct draft *d, uint32_t first, uint32_t second);

#endif
