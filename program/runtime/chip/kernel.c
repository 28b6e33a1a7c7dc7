/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of calls.def on the multiprocessor of rtl/: a thread is a hart. One lock guards all that is
 * here, and start.S has full barriers around it. CHIP_POINT is marked while the lock is held, so that the
 * order of these marks is that of the calls. What goes to the program's own memory (a mutex, the number
 * of a thread) is seen by the capture unit as the program's. */
#include <stdbool.h>
#include <stddef.h>

#include "../../chip.h"
#include "../calls.h"

#define HIDDEN __attribute__((visibility("hidden")))

enum { FREE, RUNS, ENDED };
enum { SEARCH = 3, BUSY = 16, DEADLOCK = 35 }; /* errno.h */
enum { PAUSE = 24, UNIT = 16 };
#define RECURSIVE 0x80000000u
#define INTERRUPTS 0x02000000u

static struct chip *const chip = (struct chip *)CHIP_MEMORY;

HIDDEN void __ordeal_chip_first(void);
HIDDEN uint64_t __ordeal_chip_wait(void);
HIDDEN uint32_t __ordeal_chip_call(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e,
                                   uint32_t f, uint32_t g, uint32_t number);
HIDDEN _Noreturn void __ordeal_chip_idle(void);
HIDDEN _Noreturn void __ordeal_chip_halt(uint32_t mark);

static void mark(uint32_t value) { __asm__ volatile("csrw 0x7c1, %0" : : "r"(value) : "memory"); }
static void fence(void) { __asm__ volatile("fence rw, rw" : : : "memory"); }
static uint32_t self(void)
{
    uint32_t hart;
    __asm__ volatile("csrr %0, mhartid" : "=r"(hart));
    return hart;
}

/* Leaves the bus to others. */
static void pause(void)
{
    for (int k = 0; k < PAUSE; k++)
        __asm__ volatile("" : : : "memory");
}

static uint32_t swap(uint32_t *at, uint32_t value)
{
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}

static void lock(void)
{
    while (swap(&chip->lock, 1))
        pause();
    fence();
}
static void unlock(void)
{
    fence();
    swap(&chip->lock, 0);
}

/* ---- threads --------------------------------------------------------------------------------- */

void __ordeal_chip_first(void) { chip->thread[0].state = RUNS; }

/* Threads that nobody holds back run one after the other: to make one takes longer than what many of them
 * do. So in three of four runs a new one waits until somebody waits for others, and then all begin at about
 * the same time, how close together depends on the run. To begin late is always allowed. */
static uint32_t cycle(void)
{
    uint32_t now;
    __asm__ volatile("csrr %0, mcycle" : "=r"(now));
    return now;
}

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16, x ^= x << 11;
    x ^= x >> 9, x ^= x << 5;
    return x ^ x >> 13;
}

static void open_gate(void) { *(volatile uint32_t *)&chip->gate = 1; }

static void wait_at_gate(void)
{
    enum { MOST_WAIT = 8192, WAYS = 4 };
    uint32_t seed = mix(chip->seed), begin = cycle(), own = mix(seed + (self() + 1) * 0x10000);
    uint32_t mask = (uint32_t[WAYS]){ 0, 15, 127, 1023 }[seed >> 2 & (WAYS - 1)];
    while (seed & 3 && !*(volatile uint32_t *)&chip->gate && cycle() - begin < MOST_WAIT)
        pause();
    begin = cycle();
    while (cycle() - begin < (own & mask))
        ;
}

/* The function in the low half, its argument in the high one. */
uint64_t __ordeal_chip_wait(void)
{
    const volatile struct chip_thread *t = &chip->thread[self()];
    do
        __asm__ volatile("wfi\n csrw mip, zero" : : : "memory");
    while (t->state != RUNS);
    fence();
    wait_at_gate();
    return (uint64_t)t->argument << 32 | t->function;
}

static uint32_t create(uint32_t *word, uint32_t function, uint32_t argument)
{
    uint32_t n = 0;
    lock();
    while (n < chip->harts && chip->thread[n].state != FREE)
        n++;
    if (n == chip->harts)
        __ordeal_chip_halt(CHIP_FULL);
    struct chip_thread *t = &chip->thread[n];
    t->function = function;
    t->argument = argument;
    t->detached = 0;
    chip->gate = 0;
    *(volatile uint32_t *)word = n;
    fence();
    mark(CHIP_POINT);
    t->state = RUNS;
    fence();
    *(volatile uint32_t *)(INTERRUPTS + 4 * n) = 1;
    unlock();
    return 0;
}

/* The program ends with its last thread. */
static void end_of_thread(uint32_t value)
{
    struct chip_thread *t = &chip->thread[self()];
    bool last = true;
    open_gate();
    lock();
    mark(CHIP_END);
    mark(value);
    t->value = value;
    t->state = t->detached ? FREE : ENDED;
    for (uint32_t n = 0; n < chip->harts; n++)
        last &= chip->thread[n].state != RUNS;
    if (last)
        __ordeal_chip_halt(CHIP_STOP);
    unlock();
    __ordeal_chip_idle();
}

static uint32_t join(uint32_t n, uint32_t *word)
{
    if (n == self())
        return DEADLOCK;
    for (;;) {
        lock();
        bool known = n < chip->harts && chip->thread[n].state != FREE && !chip->thread[n].detached;
        bool ended = known && chip->thread[n].state == ENDED;
        if (ended) {
            if (word)
                *(volatile uint32_t *)word = chip->thread[n].value;
            chip->thread[n].state = FREE;
            mark(CHIP_POINT);
        }
        unlock();
        if (!known || ended)
            return known ? 0 : SEARCH;
        open_gate();
        pause();
    }
}

static uint32_t detach(uint32_t n)
{
    lock();
    bool known = n < chip->harts && chip->thread[n].state != FREE;
    if (known && chip->thread[n].state == ENDED)
        chip->thread[n].state = FREE;
    else if (known)
        chip->thread[n].detached = 1;
    unlock();
    return known ? 0 : SEARCH;
}

/* ---- mutexes and conditions ------------------------------------------------------------------ */

/* With the lock held. */
static bool take(volatile uint32_t *mutex)
{
    uint32_t word = *mutex, own = self() + 1, holder = word & ~RECURSIVE;
    if (holder && !(word & RECURSIVE && holder == own))
        return false;
    if (word & RECURSIVE)
        mutex[1]++;
    if (!holder)
        swap((uint32_t *)mutex, word | own);
    mark(CHIP_POINT);
    return true;
}

static void give(volatile uint32_t *mutex)
{
    uint32_t word = *mutex;
    if ((word & ~RECURSIVE) != self() + 1)
        __ordeal_chip_halt(CHIP_BAD_UNLOCK);
    if (!(word & RECURSIVE) || --mutex[1] == 0)
        swap((uint32_t *)mutex, word & RECURSIVE);
    mark(CHIP_POINT);
}

static void mutex_lock(uint32_t *mutex)
{
    for (bool taken = false; !taken;) {
        lock();
        taken = take(mutex);
        unlock();
        if (!taken) {
            open_gate();
            pause();
        }
    }
}

static uint32_t mutex_trylock(uint32_t *mutex)
{
    lock();
    bool taken = take(mutex);
    if (!taken)
        mark(CHIP_POINT);
    unlock();
    return taken ? 0 : BUSY;
}

static void mutex_unlock(uint32_t *mutex)
{
    lock();
    give(mutex);
    unlock();
}

static void mutex_destroy(const volatile uint32_t *mutex)
{
    lock();
    if (*mutex & ~RECURSIVE)
        __ordeal_chip_halt(CHIP_BAD_UNLOCK);
    mark(CHIP_POINT);
    unlock();
}

static void condition_wait(uint32_t condition, uint32_t *mutex)
{
    volatile uint32_t *waits = &chip->thread[self()].condition;
    lock();
    *waits = condition;
    give(mutex);
    unlock();
    open_gate();
    while (*waits)
        pause();
    mutex_lock(mutex);
}

static uint32_t chance(void)
{
    uint32_t x = chip->random ? chip->random : chip->seed | 1;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return chip->random = x;
}

/* Which waiter wakes is chosen at random. */
static void condition_wake(uint32_t condition, bool all)
{
    lock();
    mark(CHIP_POINT);
    for (uint32_t k = 0, first = chance() % CHIP_HARTS; k < CHIP_HARTS; k++) {
        struct chip_thread *t = &chip->thread[(first + k) % CHIP_HARTS];
        if (t->condition != condition)
            continue;
        t->condition = 0;
        if (!all)
            break;
    }
    unlock();
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Before each block. Blocks lie side by side up to one of no length. */
struct block {
    uint32_t units; /* of this and what follows it */
    uint32_t bytes; /* allocated; 0: free */
    uint32_t magic, unused;
};
enum { MAGIC = 0x0a110c8d };

static struct block *behind(struct block *b) { return b + b->units; }

static void join_free(struct block *b)
{
    while (!b->bytes && behind(b)->units && !behind(b)->bytes)
        b->units += behind(b)->units;
}

static void begin_heap(const struct chip_thread *t)
{
    struct block *first = (struct block *)t->heap;
    if (first->units)
        return;
    first->units = (t->heap_end - t->heap) / UNIT - 1;
    behind(first)->units = 0;
}

/* Units from the block on, so that what follows its head is aligned. */
static uint32_t gap(const struct block *b, uint32_t alignment)
{
    uint32_t at = (uint32_t)(b + 1), aligned = (at + alignment - 1) & -alignment;
    return (aligned - at) / UNIT;
}

static void split(struct block *b, uint32_t units)
{
    if (b->units == units)
        return;
    b[units].units = b->units - units;
    b[units].bytes = 0;
    b->units = units;
}

static void clear(uint32_t *at, uint32_t bytes)
{
    for (uint32_t k = 0; k < (bytes + 3) / 4; k++)
        ((volatile uint32_t *)at)[k] = 0;
}

static uint32_t allocate(uint32_t bytes, uint32_t alignment)
{
    uint32_t units = bytes / UNIT + (bytes % UNIT != 0) + 1;
    lock();
    const struct chip_thread *t = &chip->thread[self()];
    begin_heap(t);
    for (struct block *b = (struct block *)t->heap; b->units; b = behind(b)) {
        join_free(b);
        uint32_t before = gap(b, alignment < UNIT ? UNIT : alignment);
        if (b->bytes || b->units < before || b->units - before < units)
            continue;
        if (before)
            split(b, before), b = behind(b);
        split(b, units);
        b->bytes = bytes;
        b->magic = MAGIC;
        clear((uint32_t *)(b + 1), bytes);
        fence();
        mark(CHIP_POINT);
        unlock();
        return (uint32_t)(b + 1);
    }
    __ordeal_chip_halt(CHIP_NO_MEMORY);
}

static bool in_heap(uint32_t address)
{
    for (uint32_t n = 0; n < chip->harts; n++)
        if (address > chip->thread[n].heap && address < chip->thread[n].heap_end)
            return address % UNIT == 0;
    return false;
}

static void release(uint32_t address)
{
    struct block *b = (struct block *)address - 1;
    if (!address)
        return;
    lock();
    if (!in_heap(address) || b->magic != MAGIC || !b->bytes)
        __ordeal_chip_halt(CHIP_BAD_FREE);
    mark(CHIP_POINT);
    b->bytes = 0;
    unlock();
}

static uint32_t size_of(uint32_t address)
{
    return in_heap(address) ? ((struct block *)address)[-1].bytes : 0;
}

/* ---- chance ---------------------------------------------------------------------------------- */

static uint32_t below(uint32_t n)
{
    uint32_t mask = n - 1, value;
    for (uint32_t k = 1; k < 32; k *= 2)
        mask |= mask >> k;
    do
        value = chance() >> 3 & mask;
    while (value >= n);
    return value;
}

/* As the engine of `ordeal explore` draws, but one value. */
static uint32_t nondeterministic(int32_t low, int32_t high)
{
    if (chip->low > low && chip->low <= high)
        low = chip->low;
    if (chip->high < high)
        high = chip->high >= low ? chip->high : low;
    uint32_t n = (uint32_t)high - (uint32_t)low + 1;
    lock();
    uint32_t value = (uint32_t)low + (n ? below(n) : chance());
    mark(CHIP_POINT);
    unlock();
    return value;
}

/* ---- all of them ----------------------------------------------------------------------------- */

uint32_t __ordeal_chip_call(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f,
                            uint32_t g, uint32_t number)
{
    (void)d, (void)e, (void)f, (void)g;
    switch (number) {
    case ORDEAL_THREAD_CREATE: return create((uint32_t *)a, b, c);
    case ORDEAL_THREAD_EXIT: end_of_thread(a); return 0;
    case ORDEAL_THREAD_JOIN: return join(a, (uint32_t *)b);
    case ORDEAL_THREAD_DETACH: return detach(a);
    case ORDEAL_MUTEX_LOCK: mutex_lock((uint32_t *)a); return 0;
    case ORDEAL_MUTEX_TRYLOCK: return mutex_trylock((uint32_t *)a);
    case ORDEAL_MUTEX_UNLOCK: mutex_unlock((uint32_t *)a); return 0;
    case ORDEAL_MUTEX_DESTROY: mutex_destroy((uint32_t *)a); return 0;
    case ORDEAL_COND_WAIT: condition_wait(a, (uint32_t *)b); return 0;
    case ORDEAL_COND_SIGNAL: condition_wake(a, false); return 0;
    case ORDEAL_COND_BROADCAST: condition_wake(a, true); return 0;
    case ORDEAL_ALLOCATE: return allocate(a, b);
    case ORDEAL_FREE: release(a); return 0;
    case ORDEAL_SIZE_OF: return size_of(a);
    case ORDEAL_NONDET: return nondeterministic((int32_t)a, (int32_t)b);
    default: __ordeal_chip_halt(CHIP_UNKNOWN);
    }
}
