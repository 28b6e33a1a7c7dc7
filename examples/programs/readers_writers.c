/* SPDX-License-Identifier: Apache-2.0 */
/* A lock for several readers or one writer, in one word: the number of readers, or -1.
 *
 * expect: sc tso PASS; pso pslo FAIL assertion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#ifndef READERS
#define READERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

static shared state, one, other;

static void enter_to_read(void)
{
    for (int readers = LOAD(state); readers < 0 || !CAS(state, readers, readers + 1);)
        readers = LOAD(state);
    FENCE();
}

static void leave_from_reading(void)
{
    FENCE();
    ADD(state, -1);
}

static void enter_to_write(void)
{
    for (int nobody = 0; !CAS(state, nobody, -1);)
        nobody = 0;
    FENCE();
}

static void leave_from_writing(void)
{
    FENCE();
    STORE(state, 0);
}

static void *read(void *unused)
{
    (void)unused;
    enter_to_read();
    int a = LOAD(one), b = LOAD(other);
    leave_from_reading();
    assert(a == b);
    return NULL;
}

static void *write(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        enter_to_write();
        STORE(one, LOAD(one) + 1);
        STORE(other, LOAD(other) + 1);
        leave_from_writing();
    }
    return NULL;
}

static void *work(void *number)
{
    return (intptr_t)number < READERS ? read(number) : write(number);
}

int main(void)
{
    all_do(READERS + 1, work);
    assert(LOAD(one) == ROUNDS && LOAD(other) == ROUNDS);
}
