/* SPDX-License-Identifier: Apache-2.0 */
/* The process that runs tests on the host's CPU: its workers, their meetings, its signals. */
#include "native.h"

#if NATIVE_HERE

#include <cpuid.h>
#include <emmintrin.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#include "test/lfsr.h"
#include "native_code.h"
#include "base/random.h"

enum { STACK_BYTES = 256 << 10, SIGNAL_STACK_BYTES = 64 << 10 };

static const struct native_child *child;
static struct native_control *control;
static uint8_t *memory;
static _Thread_local uint32_t self;

static void *shared(uint64_t offset) { return (uint8_t *)control + offset; }

/* ---- sleeping and waking, between processes too ------------------------------------------- */

long native_sleep(_Atomic uint32_t *word, uint32_t unless_not, double seconds)
{
    struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    return syscall(SYS_futex, word, FUTEX_WAIT, unless_not, seconds > 0 ? &t : NULL, NULL, 0);
}

void native_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void tell_parent(void)
{
    atomic_fetch_add(&control->event, 1);
    native_wake(&control->event);
}

static void not_started(const char *doing)
{
    control->trouble_code = errno;
    control->trouble_doing = doing;
    atomic_store(&control->trouble, NATIVE_NOT_STARTED);
    tell_parent();
}

/* ---- signals ------------------------------------------------------------------------------ */

/* A load where there is no memory goes on behind it. */
static bool fix_up(greg_t *ip)
{
    const struct native_fixup *table = shared(control->job.fixup_table);
    uint64_t offset = (uint64_t)*ip - control->code;
    uint32_t low = 0, high = control->job.fixups;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table[middle].fault < offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == control->job.fixups || table[low].fault != offset)
        return false;
    *ip = (greg_t)(control->code + table[low].resume);
    return true;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    greg_t *ip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    (void)info;
    if (signal == SIGSEGV && fix_up(ip))
        return;
    uint32_t none = NATIVE_FINE;
    static _Atomic uint32_t first = NATIVE_FINE;
    if (atomic_compare_exchange_strong(&first, &none, NATIVE_CRASHED)) {
        control->trouble_code = signal;
        control->trouble_thread = self;
        control->trouble_at = (uint64_t)*ip;
        atomic_store(&control->trouble, NATIVE_CRASHED);
        tell_parent();
    }
    for (;;)
        pause(); /* the parent makes an end */
}

static void on_question(int signal, siginfo_t *info, void *context)
{
    struct native_worker *w = &control->worker[self];
    (void)signal;
    (void)info;
    atomic_store(&w->instruction_pointer,
                 (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]);
    atomic_store(&w->answered, atomic_load(&w->asked));
}

/* What a test's interrupt does to the thread is all in its coming. */
static void on_interrupt(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    (void)context;
}

static void set_signals(void)
{
    static const struct { int signal; void (*handler)(int, siginfo_t *, void *); } handlers[] = {
        { SIGSEGV, on_fault }, { SIGBUS, on_fault },  { SIGILL, on_fault }, { SIGFPE, on_fault },
        { SIGTRAP, on_fault }, { SIGUSR1, on_interrupt }, { SIGUSR2, on_question },
    };
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
        action.sa_sigaction = handlers[i].handler;
        sigaction(handlers[i].signal, &action, NULL);
    }
    /* ^C is the parent's to act on. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- meetings ------------------------------------------------------------------------------ */

/* All threads of the job come here. Whoever is last names a time a little ahead, and all go on at
 * it: nobody has the advantage of having been last. A thread that has waited long is waiting for
 * one that has no core: it sleeps, which gives cores to others and gets it its own back at once
 * when it is woken. Waking takes longer than most waits; so the time is then further ahead, or
 * those that slept would come late, and make the others sleep next. */
static void meet(const struct native_job *job)
{
    enum { PATIENCE = 100000, AHEAD = 300, WAKING = 30000 }; /* the latter two: cycles */
    uint32_t meeting = atomic_load_explicit(&control->meeting, memory_order_relaxed);
    if (job->threads == 1)
        return;
    if (atomic_fetch_add(&control->arrived, 1) + 1 == job->threads) {
        atomic_store_explicit(&control->arrived, 0, memory_order_relaxed);
        uint64_t ahead = atomic_load(&control->asleep) ? WAKING : AHEAD;
        atomic_store_explicit(&control->start, __rdtsc() + ahead, memory_order_relaxed);
        atomic_store(&control->meeting, meeting + 1);
        if (atomic_load(&control->asleep))
            native_wake(&control->meeting);
        return;
    }
    for (int patience = job->crowded ? 0 : PATIENCE; patience > 0; patience--)
        if (atomic_load_explicit(&control->meeting, memory_order_acquire) != meeting)
            return;
    atomic_fetch_add(&control->asleep, 1);
    while (atomic_load(&control->meeting) == meeting)
        native_sleep(&control->meeting, meeting, 0);
    atomic_fetch_sub(&control->asleep, 1);
}

/* Waits for the start named at the meeting and `skew` cycles more. Time stamps of cores that do not
 * agree cannot hold it for long. */
static void start_together(uint32_t skew)
{
    uint64_t start = atomic_load_explicit(&control->start, memory_order_relaxed) + skew;
    for (int bound = 2000; bound > 0 && (int64_t)(__rdtsc() - start) < 0; bound--)
        ;
}

/* ---- a job --------------------------------------------------------------------------------- */

struct runner {
    const struct native_job *job;
    const struct native_part *part;
    native_entry *entry;
    struct random common, own;     /* the same in all threads; of this one */
    uint32_t thread;
};

static uint8_t *instance(const struct native_job *job, uint64_t which)
{
    return memory + job->memory + which * job->instance_stride;
}

/* Initial values for this thread's share of the copies; whose cache they are left in changes from
 * round to round, and sometimes it is nobody's. */
static void reset_memory(struct runner *r, uint32_t instances, uint32_t turn)
{
    const struct native_job *job = r->job;
    const struct native_line *lines = shared(job->line_table);
    bool flush = random_below(&r->common, 8) == 0;
    for (uint32_t k = (r->thread + turn) % job->threads; k < instances; k += job->threads)
        for (uint32_t l = 0; l < job->lines; l++) {
            uint8_t *at = instance(job, k) + lines[l].place;
            memcpy(at, lines[l].initial, NATIVE_LINE);
            if (flush)
                _mm_clflush(at);
        }
}

/* What the share holds that this thread resets next: so nobody else does meanwhile. */
static void take_finals(const struct runner *r, uint64_t done, uint32_t instances, uint32_t turn)
{
    const struct native_job *job = r->job;
    const struct native_final *finals = shared(job->final_table);
    for (uint32_t k = (r->thread + turn) % job->threads; k < instances; k += job->threads) {
        const uint8_t *from = instance(job, k);
        uint64_t *to = shared(job->final_values + (done + k) * job->final_stride);
        for (uint32_t f = 0; f < job->finals; f++)
            memcpy(&to[f], from + finals[f].place, sizeof *to);
    }
}

static void run_instance(struct runner *r, uint64_t iteration, uint32_t k)
{
    const struct native_job *job = r->job;
    const struct native_part *part = r->part;
    uint64_t *slots = shared(part->values + (iteration - job->first) * part->stride);
    uint32_t lfsr = job->branches ? lfsr_start(job->test_seed, part->number, iteration) : 1;
    uint64_t *end = r->entry(instance(job, k), slots, lfsr, &control->context);
    for (; end < slots + part->slots; end++)
        *end = 0;
}

/* Threads go through the copies of a group in the same order, but may begin at different ones.
 * Which outcomes are frequent depends on spread, skew and size; so none of them is fixed. */
static void run_group(struct runner *r, uint64_t first, uint32_t from, uint32_t size)
{
    static const uint16_t spreads[] = { 1, 1, 1, 2, 4, UINT16_MAX };
    static const uint16_t skews[] = { 1, 16, 64, 256, 1024 };
    uint32_t spread = spreads[random_below(&r->common, sizeof spreads / sizeof *spreads)];
    uint32_t skew = skews[random_below(&r->common, sizeof skews / sizeof *skews)];
    uint32_t k = random_below(&r->own, spread < size ? spread : size);
    if (!r->job->crowded)
        start_together(random_below(&r->own, skew));
    for (uint32_t i = 0; i < size; i++) {
        run_instance(r, first + from + k, from + k);
        k = k + 1 < size ? k + 1 : 0;
    }
}

static void run_job(struct runner *r)
{
    const struct native_job *job = r->job;
    uint32_t turn = random_below(&r->common, job->threads);
    for (uint64_t done = 0; done < job->count; done += job->instances) {
        uint64_t left = job->count - done;
        uint32_t instances = left < job->instances ? (uint32_t)left : job->instances;
        bool closely = !job->crowded && random_below(&r->common, 32) == 0;
        uint32_t group = closely ? 1 : job->group;
        reset_memory(r, instances, turn);
        meet(job);
        for (uint32_t from = 0; from < instances; from += group) {
            uint32_t size = instances - from < group ? instances - from : group;
            run_group(r, job->first + done, from, size);
            meet(job);
        }
        turn = random_below(&r->common, job->threads);
        take_finals(r, done, instances, turn);
    }
}

/* ---- workers ------------------------------------------------------------------------------- */

/* Code that another process wrote: execution must begin behind a serializing instruction, and the
 * pages must be there, for a page fault would abort a transaction. So must those of the results. */
static void prepare(const struct runner *r)
{
    const struct native_job *job = r->job;
    const volatile uint8_t *code = (const volatile uint8_t *)control->code;
    unsigned a, b, c, d;
    for (uint64_t at = 0; at < job->code_length; at += 4096)
        (void)code[at];
    __cpuid(0, a, b, c, d);
    (void)a, (void)b, (void)c, (void)d;
    for (uint64_t k = 0; job->transactions && k < job->count; k++)
        memset(shared(r->part->values + k * r->part->stride), 0, 8 * (size_t)r->part->slots);
}

static void do_job(uint32_t *version)
{
    const struct native_job *job = &control->job;
    const struct native_part *part = &control->worker[self].part;
    struct runner r = { .job = job, .part = part, .thread = self,
                        .entry = (native_entry *)(control->code + part->entry) };
    random_seed(&r.common, job->seed, 0);
    random_seed(&r.own, job->seed, 1 + self);
    /* All have finished the job before: whoever sets `go` has seen that. He is another process, into
     * which ThreadSanitizer does not look. */
    atomic_load(&control->finished);
    if (*version != job->code_version || job->transactions)
        prepare(&r);
    *version = job->code_version;
    run_job(&r);
    if (atomic_fetch_add(&control->finished, 1) + 1 == job->threads)
        tell_parent();
}

static void *work(void *argument)
{
    self = (uint32_t)(uintptr_t)argument;
    struct native_worker *w = &control->worker[self];
    void *stack = mmap(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED
        || sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = SIGNAL_STACK_BYTES }, NULL) != 0) {
        not_started("give a thread a stack for signals");
        return NULL;
    }
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(child->cores[self % child->core_count], &core);
    sched_setaffinity(0, sizeof core, &core); /* a core gone meanwhile: anywhere, then */
    control->context.thread[self] = (uint32_t)syscall(SYS_gettid);
    atomic_fetch_add(&control->ready, 1);
    tell_parent();
    for (uint32_t seen = 0, version = 0;;) {
        uint32_t go = atomic_load(&w->go);
        if (go == seen) {
            native_sleep(&w->go, seen, 0);
            continue;
        }
        seen = go;
        do_job(&version);
    }
}

static void start_workers(uint32_t have, uint32_t wanted)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (uint32_t i = have; i < wanted; i++) {
        pthread_t thread;
        errno = pthread_create(&thread, &attributes, work, (void *)(uintptr_t)i);
        if (errno) {
            not_started("start a thread");
            break;
        }
    }
    pthread_attr_destroy(&attributes);
}

/* ---- the process --------------------------------------------------------------------------- */

/* The test's memory, behind it the hole, behind that the scratch; huge pages where it pays. */
static bool map_memory(void)
{
    enum { HUGE = 2 << 20, HUGE_PART = 2 * HUGE };
    size_t size = 2 * (size_t)NATIVE_MEMORY + NATIVE_SCRATCH + HUGE;
    uint8_t *whole = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                          -1, 0);
    if (whole == MAP_FAILED)
        return false;
    memory = (uint8_t *)(((uintptr_t)whole + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
    uint8_t *scratch = memory + 2 * (size_t)NATIVE_MEMORY;
    if (mprotect(memory, NATIVE_MEMORY, PROT_READ | PROT_WRITE) != 0
        || mprotect(scratch, NATIVE_SCRATCH, PROT_READ | PROT_WRITE) != 0)
        return false;
    madvise(memory, HUGE_PART, MADV_HUGEPAGE);
    madvise(scratch, NATIVE_SCRATCH, MADV_HUGEPAGE);
    memset(scratch, 1, NATIVE_SCRATCH); /* pages of zeros would all be one */
    control->context.scratch = (uint64_t)(uintptr_t)scratch;
    return true;
}

static bool set_up(void)
{
    void *code = mmap(NULL, NATIVE_CODE, PROT_READ | PROT_EXEC, MAP_SHARED, child->code_file, 0);
    if (code == MAP_FAILED || !map_memory())
        return false;
    control->code = (uint64_t)(uintptr_t)code;
    control->context.process = (uint32_t)getpid();
    return true;
}

_Noreturn void native_child_main(const struct native_child *c)
{
    child = c;
    control = c->control;
    set_signals();
    if (!set_up())
        not_started("map memory");
    uint32_t workers = 0, wanted;
    for (;;) {
        struct pollfd wishes = { .fd = c->wishes, .events = POLLIN };
        poll(&wishes, 1, 1000);
        if (getppid() != c->parent)
            break;
        if (!(wishes.revents & (POLLIN | POLLHUP)))
            continue;
        if (read(c->wishes, &wanted, sizeof wanted) != sizeof wanted)
            break;
        if (wanted > workers) {
            start_workers(workers, wanted);
            workers = wanted;
        }
    }
    _exit(0);
}

#endif
