/* SPDX-License-Identifier: Apache-2.0 */
/* All clocks lie in one array of words, `stride` apart. In the order of the relaxed model a position is a
 * chain: accesses of which each is before the next. The reads of a thread are one (position p); its
 * stores are another under TSO (threads + p), under PSO those to one location (threads * (1 + a) +
 * p), so that there the clocks grow with the locations. Happens-before has a position a thread.
 *
 * What a step changes is logged as words with their old values. */
#include "monitor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

/* Of a thread: reads and fences (lc of Figure 3), stores, too (sc), what a store must follow (PSO: what
 * came before the last fence between stores), and happens-before. */
enum { CLOCK_READS, CLOCK_ALL, CLOCK_BARRIER, CLOCK_HAPPENS, CLOCKS_OF_THREAD };
/* Of a location: what its reads and writes follow (mc2), and happens-before of its writes and of all its
 * accesses; then for each thread what its loads follow (mc1). */
enum { CLOCK_ACCESSES, CLOCK_WRITES, CLOCK_TOUCHES, CLOCKS_OF_LOCATION };

/* A write; those of a location are linked, the newest first. */
struct write {
    uint32_t thread, access;
    uint32_t position, count; /* in the relaxed order */
    uint32_t happens;         /* of its thread */
    uint32_t older;           /* plus one; 0: none */
};
struct old_word {
    uint32_t *at, value;
};
/* An access, by which others are found to be after it. */
struct place {
    uint32_t thread, position, count, happens;
};
/* What there was before an access. */
struct mark {
    size_t undone, writes;
};

struct monitor {
    enum monitor_model model;
    uint32_t threads, locations, stride;
    uint32_t *word;              /* the clocks */
    uint32_t *relaxed, *happens; /* of the access that was fed last */
    uint32_t *newest;            /* write by location, plus one */
    ROW(struct write) writes;
    ROW(struct old_word) undo;
    ROW(struct mark) marks;
    ROW(struct place) places;
    bool failed;
};

enum { MOST_WORDS = 1 << 29 };

struct monitor *monitor_new(enum monitor_model model, uint32_t threads, uint32_t locations)
{
    struct monitor *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    *m = (struct monitor){ .model = model, .threads = threads, .locations = locations };
    m->stride = threads * (model == MONITOR_TSO ? 2 : 2 + locations);
    size_t clocks = (size_t)CLOCKS_OF_THREAD * threads
                  + (size_t)(CLOCKS_OF_LOCATION + threads) * locations + 2;
    bool too_large = clocks > MOST_WORDS / (m->stride + 1);
    m->word = too_large ? NULL : calloc(clocks * m->stride, sizeof *m->word);
    m->newest = calloc(locations + 1, sizeof *m->newest);
    if (!m->word || !m->newest) {
        monitor_free(m);
        return NULL;
    }
    m->relaxed = m->word + (clocks - 2) * m->stride;
    m->happens = m->word + (clocks - 1) * m->stride;
    return m;
}

void monitor_free(struct monitor *m)
{
    if (!m)
        return;
    ROW_FREE(&m->writes);
    ROW_FREE(&m->undo);
    ROW_FREE(&m->marks);
    ROW_FREE(&m->places);
    free(m->word);
    free(m->newest);
    free(m);
}

bool monitor_failed(const struct monitor *m) { return m->failed; }

/* ---- clocks ------------------------------------------------------------------------------- */

static uint32_t *of_thread(const struct monitor *m, uint32_t thread, uint32_t which)
{
    return m->word + (size_t)(thread * CLOCKS_OF_THREAD + which) * m->stride;
}

static uint32_t *of_location(const struct monitor *m, uint32_t location, uint32_t which)
{
    size_t first = (size_t)m->threads * CLOCKS_OF_THREAD;
    return m->word + (first + location * (CLOCKS_OF_LOCATION + m->threads) + which) * m->stride;
}

/* What the loads of a thread from there follow. */
static uint32_t *for_loads(const struct monitor *m, uint32_t location, uint32_t thread)
{
    return of_location(m, location, CLOCKS_OF_LOCATION + thread);
}

static void set(struct monitor *m, uint32_t *at, uint32_t value)
{
    m->failed |= !ROW_ADD(&m->undo, ((struct old_word){ at, *at }));
    *at = value;
}

/* Into one of the clocks that are kept. */
static void merge(struct monitor *m, uint32_t *into, const uint32_t *from, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (into[i] < from[i])
            set(m, &into[i], from[i]);
}

/* A load that sees a store of its own thread may do so in the buffer, before others' stores that this
 * one comes after are in memory. Figure 3 has it follow those, which is stricter than the machine. */
static void forget(struct monitor *m, uint32_t *clock, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (clock[i])
            set(m, &clock[i], 0);
}

/* Into that of the access which is being fed. */
static void take(uint32_t *now, const uint32_t *from, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (now[i] < from[i])
            now[i] = from[i];
}

/* ---- what an access is --------------------------------------------------------------------- */

enum {
    READS = 1,    /* is in the chain of reads */
    WRITES = 2,   /* is in a chain of stores */
    ORDERED = 4,  /* comes after all stores of its thread */
    BARRIER = 8,  /* comes between stores */
    DELAYED = 16, /* the own loads of its locations need not follow it */
};

static uint32_t traits_of(const struct monitor *m, uint8_t kind)
{
    static const uint32_t traits[] = {
        [MONITOR_LOAD] = READS,
        [MONITOR_STORE] = WRITES | DELAYED,
        [MONITOR_LOCKED] = READS | WRITES | ORDERED,
        [MONITOR_ATOMIC] = READS | WRITES,
        [MONITOR_FENCE] = READS | ORDERED,
        [MONITOR_STORE_FENCE] = ORDERED | BARRIER,
    };
    bool all_stores = m->model == MONITOR_TSO && traits[kind] & WRITES;
    return traits[kind] | (all_stores ? ORDERED : 0);
}

static uint32_t store_position(const struct monitor *m, uint32_t thread, uint32_t location)
{
    return m->threads * (m->model == MONITOR_TSO ? 1 : 1 + location) + thread;
}

/* ---- Figure 2 ------------------------------------------------------------------------------ */

/* Line 10: is the write before all that this access must follow of its own thread? */
static bool must_follow(const struct monitor *m, const struct monitor_access *a,
                        const struct write *w)
{
    uint32_t seen = of_thread(m, a->thread, CLOCK_READS)[w->position];
    if (a->kind != MONITOR_LOAD && of_thread(m, a->thread, CLOCK_BARRIER)[w->position] > seen)
        seen = of_thread(m, a->thread, CLOCK_BARRIER)[w->position];
    return w->count <= seen;
}

/* Lines 6 to 15, of one location. */
static bool could_miss(const struct monitor *m, const struct monitor_access *a, uint32_t location,
                       struct monitor_finding *f)
{
    for (uint32_t i = m->newest[location]; i; i = m->writes.data[i - 1].older) {
        const struct write *w = &m->writes.data[i - 1];
        if (w->thread == a->thread || must_follow(m, a, w))
            return false;
        if (w->happens <= of_thread(m, a->thread, CLOCK_HAPPENS)[w->thread]) {
            *f = (struct monitor_finding){ (uint32_t)m->marks.count, w->access, location };
            return true;
        }
    }
    return false;
}

static bool is_borderline(const struct monitor *m, const struct monitor_access *a,
                          struct monitor_finding *f)
{
    bool may = a->kind == MONITOR_LOAD
            || (m->model == MONITOR_PSO && (a->kind == MONITOR_STORE || a->kind == MONITOR_ATOMIC));
    for (uint32_t k = 0; may && k < a->locations; k++)
        if (could_miss(m, a, a->location[k], f))
            return true;
    return false;
}

/* ---- Figure 3 ------------------------------------------------------------------------------ */

/* in(e): lines 13, 18 and 25. */
static void gather(struct monitor *m, const struct monitor_access *a, uint32_t traits)
{
    uint32_t p = a->thread, stride = m->stride;
    memcpy(m->relaxed, of_thread(m, p, CLOCK_READS), stride * sizeof *m->relaxed);
    memcpy(m->happens, of_thread(m, p, CLOCK_HAPPENS), m->threads * sizeof *m->happens);
    if (traits & ORDERED)
        take(m->relaxed, of_thread(m, p, CLOCK_ALL), stride);
    if (m->model == MONITOR_PSO && traits & (WRITES | BARRIER))
        take(m->relaxed, of_thread(m, p, CLOCK_BARRIER), stride);
    for (uint32_t k = 0; k < a->locations; k++) {
        uint32_t at = a->location[k];
        bool writes = traits & WRITES;
        take(m->relaxed, writes ? of_location(m, at, CLOCK_ACCESSES) : for_loads(m, at, p), stride);
        take(m->happens, of_location(m, at, writes ? CLOCK_TOUCHES : CLOCK_WRITES), m->threads);
    }
}

/* gps(e): lines 14, 19, 26 and 27. Where it is found again. */
static struct place count(struct monitor *m, const struct monitor_access *a, uint32_t traits)
{
    struct place place = { .thread = a->thread, .position = a->thread };
    if (traits & READS)
        m->relaxed[a->thread]++;
    for (uint32_t k = 0; traits & WRITES && k < a->locations; k++) {
        place.position = store_position(m, a->thread, a->location[k]);
        if (k == 0 || m->model == MONITOR_PSO)
            m->relaxed[place.position]++;
    }
    if (traits & BARRIER && m->model == MONITOR_PSO) {
        place.position = store_position(m, a->thread, m->locations);
        m->relaxed[place.position]++;
    }
    place.count = m->relaxed[place.position];
    place.happens = ++m->happens[a->thread];
    return place;
}

static void tell_location(struct monitor *m, const struct monitor_access *a, uint32_t at,
                          uint32_t traits)
{
    uint32_t stride = m->stride;
    merge(m, of_location(m, at, CLOCK_ACCESSES), m->relaxed, stride);
    merge(m, of_location(m, at, CLOCK_TOUCHES), m->happens, m->threads);
    if (!(traits & WRITES))
        return;
    merge(m, of_location(m, at, CLOCK_WRITES), m->happens, m->threads);
    for (uint32_t q = 0; q < m->threads; q++)
        if (q != a->thread || !(traits & DELAYED))
            merge(m, for_loads(m, at, q), m->relaxed, stride);
        else
            forget(m, for_loads(m, at, q), stride);
}

/* out(e): lines 15, 20 to 23, and 28 to 32. */
static void tell(struct monitor *m, const struct monitor_access *a, uint32_t traits)
{
    uint32_t p = a->thread, stride = m->stride;
    if (traits & READS)
        merge(m, of_thread(m, p, CLOCK_READS), m->relaxed, stride);
    if (traits & (WRITES | ORDERED))
        merge(m, of_thread(m, p, CLOCK_ALL), m->relaxed, stride);
    if (traits & BARRIER)
        merge(m, of_thread(m, p, CLOCK_BARRIER), m->relaxed, stride);
    merge(m, of_thread(m, p, CLOCK_HAPPENS), m->happens, m->threads);
    for (uint32_t k = 0; k < a->locations; k++)
        tell_location(m, a, a->location[k], traits);
}

static void add_write(struct monitor *m, const struct monitor_access *a, struct place place,
                      uint32_t location)
{
    uint32_t position = store_position(m, a->thread, location);
    struct write w = { .thread = a->thread,
                       .access = (uint32_t)m->marks.count - 1,
                       .position = position,
                       .count = m->relaxed[position],
                       .happens = place.happens,
                       .older = m->newest[location] };
    m->failed |= !ROW_ADD(&m->writes, w);
    set(m, &m->newest[location], (uint32_t)m->writes.count);
}

bool monitor_add(struct monitor *m, const struct monitor_access *a, struct monitor_finding *f)
{
    uint32_t traits = traits_of(m, a->kind);
    struct mark mark = { m->undo.count, m->writes.count };
    assert(a->thread < m->threads);
    bool borderline = is_borderline(m, a, f);
    if (m->model == MONITOR_TSO && a->kind == MONITOR_STORE_FENCE)
        traits = 0; /* its stores are in order anyway */
    gather(m, a, traits);
    struct place place = count(m, a, traits);
    m->failed |= !ROW_ADD(&m->marks, mark) || !ROW_ADD(&m->places, place);
    tell(m, a, traits);
    for (uint32_t k = 0; traits & WRITES && k < a->locations; k++)
        add_write(m, a, place, a->location[k]);
    return borderline;
}

void monitor_back(struct monitor *m, uint32_t count)
{
    if (count >= m->marks.count)
        return;
    struct mark mark = m->marks.data[count];
    while (m->undo.count > mark.undone) {
        struct old_word *old = &m->undo.data[--m->undo.count];
        *old->at = old->value;
    }
    m->writes.count = mark.writes;
    m->marks.count = m->places.count = count;
}

bool monitor_before(const struct monitor *m, uint32_t access, bool relaxed)
{
    const struct place *p = &m->places.data[access];
    return relaxed ? p->count <= m->relaxed[p->position] : p->happens <= m->happens[p->thread];
}
