/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"

enum { MOST_TASKS = 160, MOST_LOCKS = 64, MOST_STEPS = 3000000 };

enum state { READY, WANTS_LOCK, WAITS_SIGNAL, WAITS_END, SLEEPS, ENDED };

struct task {
    enum state state;
    const void *on;    /* what it waits for */
    const void *where; /* in the program */
    bool timed, expired;
    double until;
    uint32_t priority;
    char name[16];
    sem_t go;
    pthread_t thread;
    void *(*main)(void *);
    void *user;
};

/* How the next is drawn; each finds other mistakes. */
enum policy { ANY, LONG_TURNS, BY_PRIORITY, POLICIES };

static struct {
    bool on;
    const char *again;
    struct random chance;
    enum policy policy;
    uint32_t rude; /* one in so many draws ends a wait that nobody ended; 0: none */
    double now;
    uint64_t steps, press_at, sum;
    bool pressed;
    int cores;
    struct task tasks[MOST_TASKS];
    int count;
    struct {
        const void *lock;
        const struct task *owner;
    } locks[MOST_LOCKS];
} all;

static _Thread_local struct task *self;
static int standard_error = -1;

/* ---- telling --------------------------------------------------------------------------------- */

/* The place in the source, by addr2line if it is there. */
static void tell_place(const void *where)
{
    Dl_info info;
    char command[512];
    if (!where || !dladdr(where, &info))
        return;
    snprintf(command, sizeof command, "addr2line -s -e /proc/%d/exe 0x%" PRIxPTR " >&2", getpid(),
             (uintptr_t)where - (uintptr_t)info.dli_fbase - 1);
    if (system(command) != 0)
        fprintf(stderr, "%p\n", where);
}

static void tell_tasks(void)
{
    static const char *const words[] = { [READY] = "can run",
                                         [WANTS_LOCK] = "wants a lock",
                                         [WAITS_SIGNAL] = "waits for a signal",
                                         [WAITS_END] = "waits for an end",
                                         [SLEEPS] = "sleeps",
                                         [ENDED] = "has ended" };
    for (int i = 0; i < all.count; i++) {
        const struct task *t = &all.tasks[i];
        if (t->state == ENDED)
            continue;
        fprintf(stderr, "  %-9s %s%s, at ", t->name, words[t->state],
                t->timed ? " for a while" : "");
        fflush(stderr);
        tell_place(t->where);
    }
}

void schedule_fail(const char *format, ...)
{
    va_list args;
    dup2(standard_error, STDERR_FILENO); /* somebody may have caught what is written there */
    fprintf(stderr, "\nFAIL after %" PRIu64 " steps: ", all.steps);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    if (all.on)
        tell_tasks();
    fprintf(stderr, "again: %s\n", all.again ? all.again : "?");
    fflush(stderr);
    _exit(1);
}

/* An assertion, or worse. */
static void on_crash(int number)
{
    signal(number, SIG_DFL);
    schedule_fail("signal %d in thread %s", number, self ? self->name : "?");
}

/* ---- who runs -------------------------------------------------------------------------------- */

uint32_t schedule_draw(uint32_t n) { return random_below(&all.chance, n); }

static void wake(struct task *t, bool expired)
{
    t->expired = expired;
    t->state = READY;
    if (expired && all.now < t->until)
        all.now = t->until;
}

static bool can_be_roused(const struct task *t)
{
    return t->state == SLEEPS || t->state == WAITS_SIGNAL;
}

/* Now and then somebody wakes for whom nobody called, or whose time is over sooner than that of
 * others: both may happen. */
static void rouse(void)
{
    struct task *t = &all.tasks[schedule_draw((uint32_t)all.count)];
    if (can_be_roused(t))
        wake(t, t->timed);
}

static struct task *first_to_expire(void)
{
    struct task *first = NULL;
    for (int i = 0; i < all.count; i++) {
        struct task *t = &all.tasks[i];
        if (t->state != READY && t->state != ENDED && t->timed
            && (!first || t->until < first->until))
            first = t;
    }
    return first;
}

static struct task *draw_ready(void)
{
    struct task *ready[MOST_TASKS], *best = NULL;
    uint32_t count = 0;
    for (int i = 0; i < all.count; i++)
        if (all.tasks[i].state == READY) {
            ready[count++] = &all.tasks[i];
            if (!best || all.tasks[i].priority > best->priority)
                best = &all.tasks[i];
        }
    if (count == 0)
        return NULL;
    if (all.policy == BY_PRIORITY)
        return best;
    if (all.policy == LONG_TURNS && self->state == READY && schedule_draw(32))
        return self;
    return ready[schedule_draw(count)];
}

static struct task *next_task(void)
{
    if (all.rude && schedule_draw(all.rude) == 0)
        rouse();
    if (all.policy == BY_PRIORITY && schedule_draw(40) == 0)
        self->priority = schedule_draw(1U << 30);
    struct task *t = draw_ready();
    if (t)
        return t;
    if (!(t = first_to_expire()))
        schedule_fail("nobody can run");
    wake(t, true);
    return t;
}

/* Whoever is drawn goes on; returns when it is this one's turn, at once if it has ended. */
static void pass_on(void)
{
    struct task *me = self, *next = next_task();
    all.now += 1e-7;
    all.sum = (all.sum ^ (uint64_t)(next - all.tasks)) * UINT64_C(0x100000001B3);
    if (++all.steps > MOST_STEPS)
        schedule_fail("it does not come to an end");
    all.pressed |= all.press_at && all.steps >= all.press_at;
    if (next == me)
        return;
    bool ended = me->state == ENDED;
    sem_post(&next->go);
    while (!ended && sem_wait(&me->go) != 0)
        continue;
}

static void wait_as(enum state state, const void *on, const void *where, double until)
{
    self->state = state;
    self->on = on;
    self->where = where;
    self->timed = until > 0;
    self->until = until;
    self->expired = false;
    pass_on();
    self->timed = false;
}

static void point_at(const void *where)
{
    self->where = where;
    pass_on();
}

void schedule_point(void)
{
    if (all.on && self)
        point_at(__builtin_return_address(0));
}

void schedule_sleep(double seconds)
{
    if (all.on && self)
        wait_as(SLEEPS, NULL, __builtin_return_address(0), all.now + seconds);
}

void schedule_press(uint64_t step) { all.press_at = all.steps + step; }
void schedule_cores(int count) { all.cores = count; }

static struct task *new_task(const char *name)
{
    if (all.count == MOST_TASKS)
        schedule_fail("too many threads");
    struct task *t = &all.tasks[all.count++];
    *t = (struct task){ .state = READY, .priority = schedule_draw(1U << 30) };
    snprintf(t->name, sizeof t->name, "%s", name);
    sem_init(&t->go, 0, 0);
    return t;
}

void schedule_begin(uint64_t seed, const char *again)
{
    static const int crashes[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE };
    if (standard_error < 0)
        standard_error = dup(STDERR_FILENO);
    memset(&all, 0, sizeof all);
    random_seed(&all.chance, seed, 77);
    all.again = again;
    all.policy = (enum policy)schedule_draw(POLICIES);
    all.rude = schedule_draw(4) ? 0 : 16 << schedule_draw(4);
    all.now = 1000;
    all.cores = 1;
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        signal(crashes[i], on_crash);
    self = new_task("caller");
    all.on = true;
}

uint64_t schedule_end(void)
{
    for (int i = 1; i < all.count; i++)
        if (all.tasks[i].state != ENDED)
            schedule_fail("thread %s is left", all.tasks[i].name);
    all.on = false;
    for (int i = 0; i < all.count; i++)
        sem_destroy(&all.tasks[i].go);
    self = NULL;
    return all.sum;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static const struct task **owner_of(const void *lock)
{
    int empty = -1;
    for (int i = 0; i < MOST_LOCKS; i++) {
        if (all.locks[i].lock == lock)
            return &all.locks[i].owner;
        if (!all.locks[i].lock && empty < 0)
            empty = i;
    }
    if (empty < 0)
        schedule_fail("too many locks");
    all.locks[empty].lock = lock;
    all.locks[empty].owner = NULL;
    return &all.locks[empty].owner;
}

static void take_lock(const void *lock, const void *where)
{
    while (*owner_of(lock))
        wait_as(WANTS_LOCK, lock, where, 0);
    *owner_of(lock) = self;
}

static void give_lock(const void *lock)
{
    if (*owner_of(lock) != self)
        schedule_fail("%s gives a lock that it does not have", self->name);
    *owner_of(lock) = NULL;
    for (int i = 0; i < all.count; i++)
        if (all.tasks[i].state == WANTS_LOCK && all.tasks[i].on == lock)
            all.tasks[i].state = READY;
}

#define REAL(type, name, ...) extern type __real_##name(__VA_ARGS__)
REAL(int, pthread_mutex_lock, pthread_mutex_t *lock);
REAL(int, pthread_mutex_unlock, pthread_mutex_t *lock);
REAL(int, pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *lock);
REAL(int, pthread_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *lock,
     const struct timespec *until);
REAL(int, pthread_cond_signal, pthread_cond_t *c);
REAL(int, pthread_cond_broadcast, pthread_cond_t *c);
REAL(int, pthread_create, pthread_t *thread, const pthread_attr_t *how, void *(*main)(void *),
     void *user);
REAL(int, pthread_join, pthread_t thread, void **result);
REAL(int, pthread_timedjoin_np, pthread_t thread, void **result, const struct timespec *until);
REAL(int, pthread_kill, pthread_t thread, int number);
REAL(int, pthread_setname_np, pthread_t thread, const char *name);
REAL(int, clock_gettime, clockid_t clock, struct timespec *t);
REAL(int, sched_getaffinity, pid_t pid, size_t size, cpu_set_t *set);
REAL(bool, interrupted, void);
REAL(void, interrupt_watch, void);

#define WRAP(type, name, ...) \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)
#define HERE __builtin_return_address(0)

WRAP(int, pthread_mutex_lock, pthread_mutex_t *lock)
{
    if (!all.on || !self)
        return __real_pthread_mutex_lock(lock);
    point_at(HERE);
    take_lock(lock, HERE);
    return 0;
}

WRAP(int, pthread_mutex_unlock, pthread_mutex_t *lock)
{
    if (!all.on || !self)
        return __real_pthread_mutex_unlock(lock);
    give_lock(lock);
    point_at(HERE);
    return 0;
}

static int wait_for_signal(const void *c, const void *lock, double until, const void *where)
{
    give_lock(lock);
    wait_as(WAITS_SIGNAL, c, where, until);
    bool expired = self->expired;
    take_lock(lock, where);
    return expired ? ETIMEDOUT : 0;
}

static double seconds_of(const struct timespec *t)
{
    return (double)t->tv_sec + (double)t->tv_nsec * 1e-9;
}

WRAP(int, pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *lock)
{
    if (!all.on || !self)
        return __real_pthread_cond_wait(c, lock);
    return wait_for_signal(c, lock, 0, HERE);
}

WRAP(int, pthread_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *lock,
     const struct timespec *until)
{
    if (!all.on || !self)
        return __real_pthread_cond_timedwait(c, lock, until);
    return wait_for_signal(c, lock, seconds_of(until), HERE);
}

/* Any of those who wait. */
WRAP(int, pthread_cond_signal, pthread_cond_t *c)
{
    if (!all.on || !self)
        return __real_pthread_cond_signal(c);
    struct task *waiting[MOST_TASKS];
    uint32_t count = 0;
    for (int i = 0; i < all.count; i++)
        if (all.tasks[i].state == WAITS_SIGNAL && all.tasks[i].on == c)
            waiting[count++] = &all.tasks[i];
    if (count)
        wake(waiting[schedule_draw(count)], false);
    return 0;
}

WRAP(int, pthread_cond_broadcast, pthread_cond_t *c)
{
    if (!all.on || !self)
        return __real_pthread_cond_broadcast(c);
    for (int i = 0; i < all.count; i++)
        if (all.tasks[i].state == WAITS_SIGNAL && all.tasks[i].on == c)
            wake(&all.tasks[i], false);
    return 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *task_main(void *user)
{
    self = user;
    while (sem_wait(&self->go) != 0)
        continue;
    void *result = self->main(self->user);
    self->state = ENDED;
    for (int i = 0; i < all.count; i++)
        if (all.tasks[i].state == WAITS_END && all.tasks[i].on == self)
            wake(&all.tasks[i], false);
    pass_on();
    return result;
}

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *how, void *(*main)(void *),
     void *user)
{
    if (!all.on || !self)
        return __real_pthread_create(thread, how, main, user);
    struct task *t = new_task("new");
    t->main = main;
    t->user = user;
    int error = __real_pthread_create(&t->thread, how, task_main, t);
    *thread = t->thread;
    if (error)
        t->state = ENDED;
    point_at(HERE);
    return error;
}

static struct task *task_of(pthread_t thread)
{
    for (int i = all.count; i-- > 1;)
        if (pthread_equal(all.tasks[i].thread, thread))
            return &all.tasks[i];
    schedule_fail("no such thread");
}

WRAP(int, pthread_join, pthread_t thread, void **result)
{
    if (!all.on || !self)
        return __real_pthread_join(thread, result);
    struct task *t = task_of(thread);
    while (t->state != ENDED)
        wait_as(WAITS_END, t, HERE, 0);
    t->thread = 0;
    return __real_pthread_join(thread, result);
}

WRAP(int, pthread_timedjoin_np, pthread_t thread, void **result, const struct timespec *until)
{
    if (!all.on || !self)
        return __real_pthread_timedjoin_np(thread, result, until);
    struct task *t = task_of(thread);
    if (t->state != ENDED)
        wait_as(WAITS_END, t, HERE, seconds_of(until));
    if (t->state != ENDED)
        return ETIMEDOUT;
    t->thread = 0;
    return __real_pthread_join(thread, result);
}

/* It only ever ends a wait for standard input. */
WRAP(int, pthread_kill, pthread_t thread, int number)
{
    return all.on && self ? 0 : __real_pthread_kill(thread, number);
}

WRAP(int, pthread_setname_np, pthread_t thread, const char *name)
{
    if (!all.on || !self)
        return __real_pthread_setname_np(thread, name);
    snprintf(self->name, sizeof self->name, "%s", name);
    return 0;
}

pthread_t schedule_beside(void *(*main)(void *), void *user)
{
    pthread_t thread;
    if (__real_pthread_create(&thread, NULL, main, user) != 0)
        schedule_fail("no thread");
    return thread;
}

void schedule_beside_end(pthread_t thread) { __real_pthread_join(thread, NULL); }

/* ---- the rest of the world ------------------------------------------------------------------- */

WRAP(int, clock_gettime, clockid_t clock, struct timespec *t)
{
    if (!all.on || !self)
        return __real_clock_gettime(clock, t);
    all.now += 1e-7 * schedule_draw(20);
    t->tv_sec = (time_t)all.now;
    t->tv_nsec = (long)((all.now - (double)t->tv_sec) * 1e9);
    return 0;
}

WRAP(int, sched_getaffinity, pid_t pid, size_t size, cpu_set_t *set)
{
    if (!all.on || !self)
        return __real_sched_getaffinity(pid, size, set);
    CPU_ZERO_S(size, set);
    for (int i = 0; i < all.cores; i++)
        CPU_SET_S((size_t)i, size, set);
    return 0;
}

/* No signals come. */
WRAP(void, interrupt_watch, void)
{
    if (!all.on || !self)
        __real_interrupt_watch();
}

WRAP(bool, interrupted, void)
{
    if (!all.on || !self)
        return __real_interrupted();
    return all.pressed;
}
