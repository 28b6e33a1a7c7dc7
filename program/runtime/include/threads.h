/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of C11, which are those of POSIX under other names. */
#ifndef ORDEAL_THREADS_H
#define ORDEAL_THREADS_H

#include <pthread.h>

typedef pthread_t thrd_t;
typedef pthread_mutex_t mtx_t;
typedef pthread_cond_t cnd_t;
typedef pthread_once_t once_flag;
typedef int (*thrd_start_t)(void *);
#define ONCE_FLAG_INIT PTHREAD_ONCE_INIT

enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 2 };

static inline int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    return pthread_create(thread, 0, (void *(*)(void *))function, argument) ? thrd_error
                                                                            : thrd_success;
}
static inline int thrd_join(thrd_t thread, int *value)
{
    return pthread_join(thread, (void **)value) ? thrd_error : thrd_success;
}
static inline int thrd_detach(thrd_t thread)
{
    return pthread_detach(thread) ? thrd_error : thrd_success;
}
static inline thrd_t thrd_current(void) { return pthread_self(); }
static inline int thrd_equal(thrd_t a, thrd_t b) { return a == b; }
static inline void thrd_yield(void) { sched_yield(); }
static inline void thrd_exit(int value) { pthread_exit((void *)value); }
static inline int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
    return nanosleep(time, rest);
}

static inline int mtx_init(mtx_t *mutex, int type)
{
    pthread_mutexattr_t attr = { type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE
                                                      : PTHREAD_MUTEX_NORMAL };
    return pthread_mutex_init(mutex, &attr);
}
static inline void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy(mutex); }
static inline int mtx_lock(mtx_t *mutex)
{
    return pthread_mutex_lock(mutex) ? thrd_error : thrd_success;
}
static inline int mtx_unlock(mtx_t *mutex)
{
    return pthread_mutex_unlock(mutex) ? thrd_error : thrd_success;
}
static inline int mtx_trylock(mtx_t *mutex)
{
    return pthread_mutex_trylock(mutex) ? thrd_busy : thrd_success;
}

static inline int cnd_init(cnd_t *cond) { return pthread_cond_init(cond, 0); }
static inline void cnd_destroy(cnd_t *cond) { pthread_cond_destroy(cond); }
static inline int cnd_wait(cnd_t *cond, mtx_t *mutex) { return pthread_cond_wait(cond, mutex); }
static inline int cnd_signal(cnd_t *cond) { return pthread_cond_signal(cond); }
static inline int cnd_broadcast(cnd_t *cond) { return pthread_cond_broadcast(cond); }
static inline void call_once(once_flag *once, void (*function)(void))
{
    pthread_once(once, function);
}

#endif
