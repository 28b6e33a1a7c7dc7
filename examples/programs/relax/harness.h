/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder share: the algorithms and test harnesses of Burnim, Sen and
 * Stergiou (Testing concurrent programs on relaxed memory models, 2011). Memory that several threads
 * use is read and written without any order, and a compare-and-swap is atomic and no fence. A lock is
 * taken by one, with a load-load barrier after it, and given back behind a store-store barrier. These are macros,
 * because a cycle is told by the lines of the algorithm. */
#ifndef HARNESS_H
#define HARNESS_H

#include <assert.h>
#include <ordeal_program.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef _Atomic int shared;

#define LOAD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define STORE(x, value) atomic_store_explicit(&(x), value, memory_order_relaxed)
#define CAS(x, old, new) \
    ({ \
        __typeof__(old) expected_ = (old); \
        atomic_compare_exchange_strong_explicit(&(x), &expected_, new, memory_order_relaxed, \
                                                memory_order_relaxed); \
    })
#define LOCK(x) \
    do { \
        while (!CAS(x, 0, 1)) { \
        } \
        atomic_thread_fence(memory_order_acquire); \
    } while (0)
#define UNLOCK(x) \
    do { \
        atomic_thread_fence(memory_order_release); \
        STORE(x, 0); \
    } while (0)

/* It takes a while, in which others are noticed. */
static inline void critical_section(void)
{
    __ordeal_critical_begin();
    for (int i = 0; i < 10; i++)
        sched_yield();
    __ordeal_critical_end();
}

static inline void run_threads(int count, void *(*const work[])(void *))
{
    pthread_t thread[4];
    for (int i = 0; i < count; i++)
        pthread_create(&thread[i], NULL, work[i], NULL);
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
}

#endif
