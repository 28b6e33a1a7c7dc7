/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that loads of a thread set while its test is made, for later operations to depend
 * on: a few, taken in turn, since machines have few. Register 1 is the one that a CAS compares with
 * the load just before it. */
#ifndef HOST_REGISTERS_H
#define HOST_REGISTERS_H

#include <assert.h>

#include "base/random.h"

enum { REGISTER_COMPARED = 1, REGISTER_FIRST = 2, REGISTERS = 4 };

struct registers {
    uint32_t now; /* accesses of the thread so far */
    uint32_t next;
    struct {
        uint32_t at;
        uint8_t size_log2;
    } set[REGISTERS]; /* at: by which of them; 0: by none */
};

/* The register that the access at hand sets. */
static inline uint32_t registers_set(struct registers *r, uint32_t size_log2)
{
    uint32_t i = r->next++ % REGISTERS;
    assert(r->now > 0 && size_log2 <= 3);
    r->set[i].at = r->now;
    r->set[i].size_log2 = (uint8_t)size_log2;
    return REGISTER_FIRST + i;
}

/* One set up to `distance` accesses ago, by a load of at most that size; 0: there is none. */
static inline uint32_t registers_choose(const struct registers *r, struct random *random,
                                        uint32_t distance, uint32_t size_log2)
{
    uint32_t fit[REGISTERS], count = 0;
    for (uint32_t i = 0; i < REGISTERS; i++)
        if (r->set[i].at && r->now - r->set[i].at <= distance && r->set[i].size_log2 <= size_log2)
            fit[count++] = REGISTER_FIRST + i;
    return count ? fit[random_below(random, count)] : 0;
}

#endif
