/* SPDX-License-Identifier: Apache-2.0 */
/* Double-checked locking: something is made when it is first wanted, under a lock that later users do
 * not take.
 *
 * expect: sc tso PASS; pso pslo FAIL assertion
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

#ifndef THREADS
#define THREADS 3
#endif

static shared made, thing, times;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void make(void)
{
    pthread_mutex_lock(&lock);
    if (!LOAD(made)) {
        STORE(times, LOAD(times) + 1);
        STORE(thing, 42);
        FENCE();
        STORE(made, 1);
    }
    pthread_mutex_unlock(&lock);
}

static void *use(void *unused)
{
    (void)unused;
    if (!LOAD(made))
        make();
    FENCE();
    assert(LOAD(thing) == 42);
    return NULL;
}

int main(void)
{
    all_do(THREADS, use);
    assert(LOAD(times) == 1);
}
