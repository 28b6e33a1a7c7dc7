/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX threads but for what is one call of the engine (calls.S). As those, each function is a full
 * barrier at both ends. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "calls.h"

#define RECURSIVE 0x80000000u
#define barrier() __atomic_thread_fence(__ATOMIC_SEQ_CST)

int __ordeal_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                           void *argument);

WEAK int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                        void *argument)
{
    int error = __ordeal_thread_create(thread, attr, start, argument);
    if (!error && attr && attr->__detached == PTHREAD_CREATE_DETACHED)
        pthread_detach(*thread);
    return error;
}

WEAK int pthread_equal(pthread_t a, pthread_t b) { return a == b; }

WEAK int pthread_attr_init(pthread_attr_t *attr)
{
    attr->__detached = PTHREAD_CREATE_JOINABLE;
    return 0;
}
WEAK int pthread_attr_destroy(pthread_attr_t *attr) { return (void)attr, 0; }
WEAK int pthread_attr_setdetachstate(pthread_attr_t *attr, int state)
{
    attr->__detached = state;
    return 0;
}
WEAK int pthread_attr_getdetachstate(const pthread_attr_t *attr, int *state)
{
    *state = attr->__detached;
    return 0;
}

/* ---- mutexes and conditions ----------------------------------------------------------------- */

static int set_word(unsigned *word, unsigned value)
{
    barrier();
    *word = value;
    barrier();
    return 0;
}

WEAK int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    bool recursive = attr && attr->__type == PTHREAD_MUTEX_RECURSIVE;
    if (recursive)
        mutex->__count = 0;
    return set_word(&mutex->__state, recursive ? RECURSIVE : 0);
}
WEAK int pthread_mutexattr_init(pthread_mutexattr_t *attr)
{
    attr->__type = PTHREAD_MUTEX_DEFAULT;
    return 0;
}
WEAK int pthread_mutexattr_destroy(pthread_mutexattr_t *attr) { return (void)attr, 0; }
WEAK int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type)
{
    attr->__type = type;
    return 0;
}
WEAK int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *type)
{
    *type = attr->__type;
    return 0;
}

WEAK int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    (void)attr;
    return set_word(&cond->__state, 0);
}
WEAK int pthread_cond_destroy(pthread_cond_t *cond) { return (void)cond, 0; }
WEAK int pthread_condattr_init(pthread_condattr_t *attr) { return (void)attr, 0; }
WEAK int pthread_condattr_destroy(pthread_condattr_t *attr) { return (void)attr, 0; }

WEAK int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    (void)shared;
    return set_word((unsigned *)lock, 0);
}

/* ---- what is made of them ------------------------------------------------------------------- */

static void lock(unsigned *mutex) { ordeal_call1(ORDEAL_MUTEX_LOCK, (long)mutex); }
static void unlock(unsigned *mutex) { ordeal_call1(ORDEAL_MUTEX_UNLOCK, (long)mutex); }
static void wait(unsigned *cond, unsigned *mutex)
{
    ordeal_call2(ORDEAL_COND_WAIT, (long)cond, (long)mutex);
}
static void wake(unsigned *cond) { ordeal_call1(ORDEAL_COND_BROADCAST, (long)cond); }

static unsigned once_mutex, once_wait;
enum { ONCE_RUNS = 1, ONCE_DONE = 2 };

WEAK int pthread_once(pthread_once_t *once, void (*function)(void))
{
    lock(&once_mutex);
    while (*once == ONCE_RUNS)
        wait(&once_wait, &once_mutex);
    if (*once != ONCE_DONE) {
        *once = ONCE_RUNS;
        unlock(&once_mutex);
        function();
        lock(&once_mutex);
        *once = ONCE_DONE;
        wake(&once_wait);
    }
    unlock(&once_mutex);
    return 0;
}

WEAK int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *attr)
{
    (void)attr;
    l->__mutex = l->__wait = 0;
    return set_word((unsigned *)&l->__holders, 0);
}
WEAK int pthread_rwlock_destroy(pthread_rwlock_t *l) { return l->__holders ? EBUSY : 0; }

/* Readers are counted up, a writer is -1. */
WEAK int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
    lock(&l->__mutex);
    while (l->__holders < 0)
        wait(&l->__wait, &l->__mutex);
    l->__holders++;
    unlock(&l->__mutex);
    return 0;
}
WEAK int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
    lock(&l->__mutex);
    while (l->__holders != 0)
        wait(&l->__wait, &l->__mutex);
    l->__holders = -1;
    unlock(&l->__mutex);
    return 0;
}
WEAK int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
    lock(&l->__mutex);
    bool free = l->__holders >= 0;
    l->__holders += free;
    unlock(&l->__mutex);
    return free ? 0 : EBUSY;
}
WEAK int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
    lock(&l->__mutex);
    bool free = l->__holders == 0;
    if (free)
        l->__holders = -1;
    unlock(&l->__mutex);
    return free ? 0 : EBUSY;
}
WEAK int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    lock(&l->__mutex);
    l->__holders -= l->__holders > 0 ? 1 : -1;
    if (l->__holders == 0)
        wake(&l->__wait);
    unlock(&l->__mutex);
    return 0;
}

WEAK int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr,
                              unsigned count)
{
    (void)attr;
    if (!count)
        return EINVAL;
    b->__mutex = b->__wait = b->__here = b->__round = 0;
    return set_word(&b->__needed, count);
}
WEAK int pthread_barrier_destroy(pthread_barrier_t *b) { return b->__here ? EBUSY : 0; }
WEAK int pthread_barrier_wait(pthread_barrier_t *b)
{
    lock(&b->__mutex);
    unsigned round = b->__round;
    bool last = ++b->__here == b->__needed;
    if (last) {
        b->__here = 0;
        b->__round = !round; /* two rounds suffice to tell one from the next, and states stay few */
        wake(&b->__wait);
    }
    while (b->__round == round)
        wait(&b->__wait, &b->__mutex);
    unlock(&b->__mutex);
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

/* ---- semaphores ------------------------------------------------------------------------------ */

WEAK int sem_init(sem_t *s, int shared, unsigned value)
{
    (void)shared;
    s->__mutex = s->__wait = 0;
    return set_word(&s->__value, value);
}
WEAK int sem_destroy(sem_t *s) { return (void)s, 0; }
WEAK int sem_wait(sem_t *s)
{
    lock(&s->__mutex);
    while (s->__value == 0)
        wait(&s->__wait, &s->__mutex);
    s->__value--;
    unlock(&s->__mutex);
    return 0;
}
WEAK int sem_trywait(sem_t *s)
{
    lock(&s->__mutex);
    bool free = s->__value > 0;
    s->__value -= free;
    unlock(&s->__mutex);
    if (!free)
        errno = EAGAIN;
    return free ? 0 : -1;
}
WEAK int sem_post(sem_t *s)
{
    lock(&s->__mutex);
    s->__value++;
    ordeal_call1(ORDEAL_COND_SIGNAL, (long)&s->__wait);
    unlock(&s->__mutex);
    return 0;
}
WEAK int sem_getvalue(sem_t *s, int *value)
{
    lock(&s->__mutex);
    *value = (int)s->__value;
    unlock(&s->__mutex);
    return 0;
}

/* ---- time, which does not pass --------------------------------------------------------------- */

static int yield(void) { return ordeal_call0(ORDEAL_THREAD_YIELD), 0; }

WEAK int nanosleep(const struct timespec *time, struct timespec *rest)
{
    (void)time, (void)rest;
    return yield();
}
WEAK unsigned sleep(unsigned seconds) { return (void)seconds, yield(); }
WEAK int usleep(unsigned microseconds) { return (void)microseconds, yield(); }
