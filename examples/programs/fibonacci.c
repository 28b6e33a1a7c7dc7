/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads add each other's number to their own, ROUNDS times. What they come to is at most the
 * Fibonacci number that taking turns gives. It is at least 2 * ROUNDS + 2 in sum if nobody ever sees
 * what the other stored, which from two rounds on is impossible under SC: a thread's second load comes
 * after its first store.
 *
 * expect: sc PASS; tso pso pslo FAIL assertion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#ifndef ROUNDS
#define ROUNDS 2
#endif

static shared number[2] = { 1, 1 };

static void *work(void *argument)
{
    int me = (int)(intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        STORE(number[me], LOAD(number[me]) + LOAD(number[1 - me]));
        FENCE();
    }
    return NULL;
}

static int fibonacci(int n)
{
    int before = 0, now = 1;
    for (; n > 1; n--) {
        now += before;
        before = now - before;
    }
    return now;
}

int main(void)
{
    all_do(2, work);
    int one = LOAD(number[0]), other = LOAD(number[1]), most = fibonacci(2 * ROUNDS + 2);
    assert(one <= most && other <= most);
    assert(one + other > 2 * ROUNDS + 2);
}
