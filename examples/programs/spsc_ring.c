/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of SIZE places between one producer and one consumer (Lamport, Specifying concurrent program
 * modules, 1983).
 *
 * expect: sc tso PASS; pso pslo FAIL assertion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#ifndef SIZE
#define SIZE 2
#endif
#ifndef ITEMS
#define ITEMS 4
#endif

static shared place[SIZE], written, taken;

static void *produce(void *unused)
{
    (void)unused;
    for (int i = 0; i < ITEMS; i++) {
        WAIT_WHILE(i - LOAD(taken) == SIZE);
        FENCE();
        STORE(place[i % SIZE], i + 1);
        FENCE();
        STORE(written, i + 1);
    }
    return NULL;
}

static void *consume(void *unused)
{
    (void)unused;
    for (int i = 0; i < ITEMS; i++) {
        WAIT_WHILE(LOAD(written) == i);
        FENCE();
        assert(LOAD(place[i % SIZE]) == i + 1);
        STORE(taken, i + 1);
    }
    return NULL;
}

int main(void) { both_do(produce, consume); }
