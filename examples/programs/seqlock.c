/* SPDX-License-Identifier: Apache-2.0 */
/* A sequence lock: the writer makes a number odd while it writes, a reader that saw it odd, or another
 * one afterwards, reads again.
 *
 * expect: sc tso PASS; pso pslo FAIL assertion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#ifndef ROUNDS
#define ROUNDS 2
#endif

static shared sequence, one, other;

static void *write(void *unused)
{
    (void)unused;
    for (int round = 1; round <= ROUNDS; round++) {
        STORE(sequence, 2 * round - 1);
        FENCE();
        STORE(one, round);
        STORE(other, round);
        FENCE();
        STORE(sequence, 2 * round);
    }
    return NULL;
}

static void *read(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        int before, a, b;
        do {
            before = LOAD(sequence);
            FENCE();
            a = LOAD(one);
            b = LOAD(other);
            FENCE();
        } while (before % 2 || LOAD(sequence) != before);
        assert(a == b);
    }
    return NULL;
}

int main(void) { both_do(write, read); }
