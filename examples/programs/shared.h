/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder share. Memory that several threads use is of atomic type, and is
 * read and written by LOAD and STORE, which are plain instructions without any order: what order
 * there is comes from the memory model, and with -DFENCED from FENCE and the order of ATOMIC.
 *
 * Each program says in its lines "expect:" what `ordeal explore` must find, by model, and in
 * "expect NAME:" what with -DNAME. Its sizes are defined unless the command line does. */
#ifndef SHARED_H
#define SHARED_H

#include <assert.h>
#include <ordeal_program.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic int shared;

#define LOAD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define STORE(x, value) atomic_store_explicit(&(x), value, memory_order_relaxed)

/* Looks again and again. */
#define WAIT_WHILE(condition) \
    do { \
    } while (condition)

#ifdef FENCED
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#define ORDER memory_order_acq_rel
#define ORDER_FAILED memory_order_acquire
#else
#define FENCE() ((void)0)
#define ORDER memory_order_relaxed
#define ORDER_FAILED memory_order_relaxed
#endif

/* A store that later loads must not go past if every execution is to be one of sequential consistency:
 * the algorithm is right without. A fence with -DROBUST. */
#ifdef ROBUST
#define SETTLE(x, value) (STORE(x, value), atomic_thread_fence(memory_order_seq_cst))
#else
#define SETTLE(x, value) STORE(x, value)
#endif

#define EXCHANGE(x, value) atomic_exchange_explicit(&(x), value, ORDER)
#define ADD(x, value) atomic_fetch_add_explicit(&(x), value, ORDER)
/* `expected` is a variable, and gets what was found. */
#define CAS(x, expected, value) \
    atomic_compare_exchange_strong_explicit(&(x), &(expected), value, ORDER, ORDER_FAILED)

/* `threads` threads that do the same, each with its number, until all are done. */
static inline void all_do(int threads, void *(*what)(void *))
{
    pthread_t thread[8];
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, what, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

/* Two threads that do different things. */
static inline void both_do(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t thread[2];
    pthread_create(&thread[0], NULL, one, NULL);
    pthread_create(&thread[1], NULL, other, NULL);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
}

#endif
