/* SPDX-License-Identifier: Apache-2.0 */
#include "contention.h"

#include <pthread.h>
#include <stdlib.h>

#include "reserve.h"
#include "state.h"

/* What was seen of a word: nothing; one thread, 2 * thread + 2, and 1 more if it wrote; several that
 * read; or several of which one writes. */
enum { SEEN_READERS = 128, SEEN_CONTENDED = 255 };
enum { STACK_UNTOUCHED = 0xffffffff };

struct contention {
    _Atomic uint8_t *seen; /* by place_of(), as what follows */
    uint8_t *thought;      /* 1: not at peace */
    uint32_t *word;        /* those that are contended for */
    size_t words, capacity, accepted;
    pthread_mutex_t lock; /* of the list */
    _Atomic bool surprised;
    bool no_memory;
    _Atomic uint32_t left[EXPLORE_THREADS]; /* of a stack: frames below were left */
    _Atomic uint32_t low[EXPLORE_THREADS];  /* the lowest word of it that another accessed */
};

enum {
    LINKED_WORDS = STATE_LINKED_END / 4,
    PART_WORDS = EXPLORE_THREADS * (STATE_PART / 4),
    ALL_WORDS = LINKED_WORDS + 2 * PART_WORDS
};

static uint32_t place_of(uint32_t address)
{
    if (address < STATE_LINKED_END)
        return address / 4;
    if (address >= (uint32_t)STATE_STACKS)
        return LINKED_WORDS + PART_WORDS + (address - (uint32_t)STATE_STACKS) / 4;
    return LINKED_WORDS + (address - STATE_HEAPS) / 4;
}

static uint32_t address_of(uint32_t place)
{
    if (place < LINKED_WORDS)
        return place * 4;
    if (place < LINKED_WORDS + PART_WORDS)
        return STATE_HEAPS + (place - LINKED_WORDS) * 4;
    return (uint32_t)STATE_STACKS + (place - LINKED_WORDS - PART_WORDS) * 4;
}

struct contention *contention_new(void)
{
    struct contention *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    c->seen = reserve(ALL_WORDS);
    c->thought = reserve(ALL_WORDS);
    for (uint32_t t = 0; t < EXPLORE_THREADS; t++)
        c->low[t] = STACK_UNTOUCHED;
    if (c->seen && c->thought)
        return c;
    contention_free(c);
    return NULL;
}

void contention_free(struct contention *c)
{
    if (!c)
        return;
    reserve_free((void *)c->seen, ALL_WORDS);
    reserve_free(c->thought, ALL_WORDS);
    pthread_mutex_destroy(&c->lock);
    free(c->word);
    free(c);
}

static void learn(struct contention *c, uint32_t address)
{
    pthread_mutex_lock(&c->lock);
    if (c->words == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 64;
        uint32_t *more = realloc(c->word, capacity * sizeof *more);
        if (more) {
            c->word = more;
            c->capacity = capacity;
        }
        c->no_memory = c->no_memory || !more;
    }
    if (c->words < c->capacity)
        c->word[c->words++] = address & ~3u;
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->surprised, true);
}

static uint8_t seen_after(uint8_t seen, uint32_t thread, bool write)
{
    if (seen == SEEN_CONTENDED)
        return seen;
    if (seen == SEEN_READERS)
        return write ? SEEN_CONTENDED : SEEN_READERS;
    if (!seen)
        return (uint8_t)(2 * thread + 2 + write);
    if (seen / 2u == thread + 1)
        return seen | write;
    return write || seen & 1 ? SEEN_CONTENDED : SEEN_READERS;
}

static void see(struct contention *c, uint32_t thread, uint32_t address, bool write)
{
    _Atomic uint8_t *at = &c->seen[place_of(address)];
    uint8_t old = atomic_load_explicit(at, memory_order_relaxed), new;
    do {
        new = seen_after(old, thread, write);
        if (new == old)
            return;
    } while (!atomic_compare_exchange_weak(at, &old, new));
    if (new == SEEN_CONTENDED)
        learn(c, address);
}

/* Another's stack: its owner leaves frames without a word. */
static void see_stack(struct contention *c, uint32_t owner, uint32_t address)
{
    uint32_t low = atomic_load(&c->low[owner]);
    while (address < low && !atomic_compare_exchange_weak(&c->low[owner], &low, address))
        ;
    if (address < atomic_load(&c->left[owner]))
        see(c, owner, address, true);
}

bool contention_access(struct contention *c, uint32_t thread, uint32_t address, bool write)
{
    see(c, thread, address, write);
    uint32_t owner = (address - (uint32_t)STATE_STACKS) / STATE_PART;
    if (address >= (uint32_t)STATE_STACKS && owner != thread)
        see_stack(c, owner, address);
    return !c->thought[place_of(address)];
}

void contention_frees(struct contention *c, uint32_t thread, uint32_t address, uint32_t size)
{
    for (uint32_t k = 0; k < size; k += 4)
        see(c, thread, address + k, true);
}

void contention_leaves(struct contention *c, uint32_t thread, uint32_t to)
{
    uint32_t left = atomic_load_explicit(&c->left[thread], memory_order_relaxed);
    do
        if (to <= left)
            return;
    while (!atomic_compare_exchange_weak(&c->left[thread], &left, to));
    uint32_t low = atomic_load(&c->low[thread]);
    for (uint32_t a = (low > left ? low : left) & ~3u; a < to; a += 4)
        if (atomic_load(&c->seen[place_of(a)]))
            see(c, thread, a, true);
}

void contention_expect(struct contention *c, const uint32_t *address, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (atomic_exchange(&c->seen[place_of(address[i])], SEEN_CONTENDED) != SEEN_CONTENDED)
            learn(c, address[i]);
}

bool contention_surprised(const struct contention *c) { return atomic_load(&c->surprised); }

bool contention_accept(struct contention *c)
{
    for (; c->accepted < c->words; c->accepted++)
        c->thought[place_of(c->word[c->accepted])] = 1;
    atomic_store(&c->surprised, false);
    return !c->no_memory;
}

const uint32_t *contention_words(const struct contention *c, size_t *count)
{
    *count = c->accepted;
    return c->word;
}

/* ---- kept and had back -------------------------------------------------------------------- */

enum {
    KEPT_LEFT = 0x100,
    KEPT_LOW = 0x200
}; /* plus a thread, instead of what was seen of a word */

struct pairs {
    uint32_t *pair;
    size_t count, capacity;
};

static bool add_pair(struct pairs *p, uint32_t address, uint32_t what)
{
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 256;
        uint32_t *more = realloc(p->pair, 2 * capacity * sizeof *more);
        if (!more)
            return false;
        p->pair = more;
        p->capacity = capacity;
    }
    p->pair[2 * p->count] = address;
    p->pair[2 * p->count++ + 1] = what;
    return true;
}

uint32_t *contention_keep(const struct contention *c, size_t *pairs)
{
    struct pairs p = { NULL, 0, 0 };
    bool kept = true;
    for (uint32_t t = 0; kept && t < EXPLORE_THREADS; t++)
        kept = add_pair(&p, atomic_load(&c->left[t]), KEPT_LEFT + t)
            && add_pair(&p, atomic_load(&c->low[t]), KEPT_LOW + t);
    for (uint32_t n = 0; kept && n < ALL_WORDS; n++)
        if (c->seen[n])
            kept = add_pair(&p, address_of(n), c->seen[n]);
    *pairs = p.count;
    if (kept)
        return p.pair;
    free(p.pair);
    return NULL;
}

bool contention_knows_more(const struct contention *c, const uint32_t *pair, size_t pairs)
{
    for (size_t n = 0; n < c->accepted; n++) {
        size_t i = 0;
        while (i < pairs && (pair[2 * i] != c->word[n] || pair[2 * i + 1] != SEEN_CONTENDED))
            i++;
        if (i == pairs)
            return true;
    }
    return false;
}

static bool restore_word(struct contention *c, uint32_t address, uint32_t seen)
{
    if (address & 3 || place_of(address) >= ALL_WORDS || address_of(place_of(address)) != address)
        return false;
    if (seen == SEEN_CONTENDED)
        contention_expect(c, &address, 1);
    else if (seen == SEEN_READERS) {
        see(c, 0, address, false);
        see(c, 1, address, false);
    } else if (seen >= 2 && seen / 2 <= EXPLORE_THREADS)
        see(c, seen / 2 - 1, address, seen & 1);
    else
        return false;
    return true;
}

bool contention_restore(struct contention *c, const uint32_t *pair, size_t pairs)
{
    size_t contended = 0;
    for (size_t i = 0; i < pairs; i++) {
        uint32_t address = pair[2 * i], what = pair[2 * i + 1];
        contended += what == SEEN_CONTENDED;
        if (what - KEPT_LEFT < EXPLORE_THREADS)
            atomic_store(&c->left[what - KEPT_LEFT], address);
        else if (what - KEPT_LOW < EXPLORE_THREADS)
            atomic_store(&c->low[what - KEPT_LOW], address);
        else if (!restore_word(c, address, what))
            return false;
    }
    return contention_accept(c) && c->accepted == contended;
}
