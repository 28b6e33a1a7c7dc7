/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder share: those of Table 1 of Linden and Wolper (A verification-based
 * approach to memory fence insertion in PSO memory systems, 2013), with code of its own for each
 * thread, so that fences are counted as there. They enter again and again unless they say otherwise.
 *
 * Each says in its line "expect:" how many mfences and sfences `ordeal fence` must find. */
#ifndef TABLE_H
#define TABLE_H

#include <ordeal_program.h>
#include <pthread.h>
#include <stdatomic.h>

typedef _Atomic int shared;

#define LOAD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define STORE(x, value) atomic_store_explicit(&(x), value, memory_order_relaxed)
#define EXCHANGE(x, value) atomic_exchange_explicit(&(x), value, memory_order_acq_rel)
#define WAIT_WHILE(condition) \
    do { \
    } while (condition)

#define CRITICAL() (__ordeal_critical_begin(), __ordeal_critical_end())

/* main is one of the threads, so that nothing is explored of who waits for them. */
#define RUN(one, other) \
    int main(void) \
    { \
        pthread_t thread; \
        pthread_create(&thread, 0, other, 0); \
        one(0); \
    }

#endif
