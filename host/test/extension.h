/* SPDX-License-Identifier: Apache-2.0 */
/* Values of less than a register, as a machine's software sees them: with signs or zeros above.
 *
 * Which of the two a load asks for is chance, from the seed of the test. Its code leaves the whole
 * register in the slot, which costs nothing; here what is above the value is looked at and taken
 * off before anybody else sees it. So a register that was extended in the wrong way is found, and
 * is a finding about the machine, not about its memory. */
#ifndef HOST_EXTENSION_H
#define HOST_EXTENSION_H

#include "base/why.h"
#include "program.h"

struct extension {
    const struct program *p;
    unsigned bits;       /* of a register; slots are 0 above it */
    bool atomics_signed; /* swaps, CAS and AMOs leave signs, too, else zeros */
    bool narrow;         /* there are such values at all */
    uint8_t *slot;       /* of the values of an iteration: what is to do, see extension.c */
};

/* May the register that the load fills hold signs above its value? Not if a CAS compares with it.
 * The same for the one who makes the code and the one who reads what came of it. */
bool extension_is_signed(const struct program *p, const struct program_thread *t,
                         const struct instruction *load);

/* False: out of memory. */
bool extension_open(struct extension *x, const struct program *p, unsigned bits,
                    bool atomics_signed);
/* False: a register of this iteration was not extended as it should have been, and why. */
bool extension_take_off(struct extension *x, uint64_t iteration, uint64_t *values, struct why *why);
void extension_close(struct extension *x);

#endif
