/* SPDX-License-Identifier: Apache-2.0 */
/* Read-copy-update in small: the writer publishes a new version, waits until the reader is in none, and
 * frees the old one.
 *
 * The reader must be seen to read before it takes the pointer, the new pointer before the writer looks
 * for readers, and what it points to before the pointer.
 *
 * expect: sc PASS; tso FAIL freed; pso pslo FAIL freed assertion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#include <stdlib.h>

#ifndef ROUNDS
#define ROUNDS 2
#endif

struct version {
    shared one, other;
};
static struct version *_Atomic current;
static shared reading;

static struct version *make(int number)
{
    struct version *v = malloc(sizeof *v);
    STORE(v->one, number);
    STORE(v->other, number);
    return v;
}

static void *write(void *unused)
{
    (void)unused;
    for (int round = 1; round <= ROUNDS; round++) {
        struct version *old = LOAD(current), *new = make(round);
        FENCE();
        STORE(current, new);
        FENCE();
        WAIT_WHILE(LOAD(reading));
        free(old);
    }
    return NULL;
}

static void *read(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        STORE(reading, 1);
        FENCE();
        struct version *v = LOAD(current);
        FENCE();
        int one = LOAD(v->one);
        assert(one == LOAD(v->other));
        FENCE();
        STORE(reading, 0);
    }
    return NULL;
}

int main(void)
{
    STORE(current, make(0));
    both_do(write, read);
}
